// SPDX-License-Identifier: Apache-2.0
// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over the plane of each batch and
// channel. Models say this with ten operators, which graph/norm.c makes one node of. There are few planes and they are
// large, so that a plane is cut into parts: the first dispatch finds the mean of each part and the sum of squares
// around it, and each group of the second puts those of its plane together before it normalizes some positions. No
// square is taken around anything but a mean, so that nothing cancels where the mean is far from zero.
//
// Gamma and beta may be values. A device binds four buffers, and the second dispatch needs x, y and one for a fused
// residual, so the first one copies gamma and beta behind the statistics.
#include "gpu/ops/op.h"

// Parts of a plane: the second dispatch has a work-item for each.
enum { GROUP = 128 };

// Adds the V of a group, in each of its work-items.
#define SUM_OF_GROUP(V)                                                       \
    shares[LID0] = V;                                                         \
    BARRIER;                                                                  \
    UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2)               \
    {                                                                         \
        if (LID0 < apart) shares[LID0] = shares[LID0] + shares[LID0 + apart]; \
        BARRIER;                                                              \
    }                                                                         \
    V = shares[0];                                                            \
    BARRIER;

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// t has for each plane of four channels the means of its parts, their sums of squares, gamma and beta. P_of.x: positions
// of a part, y: parts, z and w: vectors from the gamma and beta of a batch to the next.
static const struct gpu_kernel statistics = {
    .name = "instance_statistics",
    .group = {GROUP, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "gamma"}, {GPU_WEIGHTS, "beta"}, {GPU_OUT, "t"}},
    .params = {"of"},
    .shared = {"float4 shares[GROUP_X]"},
    .body = GPU_TEXT_OF(
        int plane = x_h * x_w;
        int begin = GROUP1 * P_of.x;
        int count = min(P_of.x, plane - begin);
        int from = GROUP2 * plane + begin;
        acc4 mean = splatf4(0.0f);
        for (int i = LID0; i < count; i += GROUP_X) mean += to_acc4(load_x(from + i));
        SUM_OF_GROUP(mean)
        mean = mean * (1.0f / to_float(count));

        acc4 squares = splatf4(0.0f);
        for (int i = LID0; i < count; i += GROUP_X) {
            acc4 v = to_acc4(load_x(from + i)) - mean;
            squares += v * v;
        }
        SUM_OF_GROUP(squares)
        if (LID0 == 0) {
            int to = GROUP2 * (2 * P_of.y + 2);
            store_t(to + GROUP1, to_real4(mean));
            store_t(to + P_of.y + GROUP1, to_real4(squares));
            if (GROUP1 == 0) {
                int batch = GROUP2 / x_s;
                int s = GROUP2 - batch * x_s;
                store_t(to + 2 * P_of.y, gamma(s + batch * P_of.z));
                store_t(to + 2 * P_of.y + 1, beta(s + batch * P_of.w));
            }
        }
    ),
};

// P_of.x: epsilon as bits, y: positions of a part, z: parts, w: positions of a group. The means of parts are summed as
// differences from the first: as they are, their sum would be rounded to twice the error (2.3e-4 in test_instance_norm).
static const struct gpu_kernel normalize = {
    .name = "instance_norm",
    .group = {GROUP, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "t"}, {GPU_OUT, "y"}},
    .params = {"of"},
    .shared = {"float4 shares[GROUP_X]"},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int plane = x_h * x_w;
        int from = GROUP2 * (2 * P_of.z + 2);
        acc4 first = to_acc4(t(from));
        acc4 apart_by = splatf4(0.0f);
        acc4 squares = splatf4(0.0f);
        float count = 0.0f;
        if (LID0 < P_of.z) {
            count = to_float(min(P_of.y, plane - LID0 * P_of.y));
            apart_by = to_acc4(t(from + LID0)) - first;
            squares = to_acc4(t(from + P_of.z + LID0));
        }
        float per_position = 1.0f / to_float(plane);
        acc4 offset = apart_by * count;
        SUM_OF_GROUP(offset)
        offset = offset * per_position;
        acc4 mean = first + offset;
        apart_by = apart_by - offset;
        squares += apart_by * apart_by * count;
        SUM_OF_GROUP(squares)
        acc4 scale = rsqrt(squares * per_position + splatf4(bits_to_float(P_of.x))) * to_acc4(t(from + 2 * P_of.z));
        acc4 beta = to_acc4(t(from + 2 * P_of.z + 1));

        int batch = GROUP2 / y_s;
        int4 p = mki4(0, 0, GROUP2 - batch * y_s, batch);
        int end = min((GROUP1 + 1) * P_of.w, plane);
        for (int i = GROUP1 * P_of.w + LID0; i < end; i += GROUP_X) {
            acc4 v = (to_acc4(load_x(GROUP2 * plane + i)) - mean) * scale + beta;
            p.y = i / y_w;
            p.x = i - p.y * y_w;
            write_y(p, finish(to_real4(v), p));
        }
    ),
};
// clang-format on

static bool refused(const struct gpu_node_view *view)
{
    return gpu_refuse(view, DELEGATE_PARAMETER, -1, "only the graph's passes make this operator");
}

// Makes an operand of gamma or beta. Returns the vectors from one batch to the next, or -1 after a message.
static int operand_of(struct gpu_plan *plan, const struct gpu_value *value, struct gpu_operand *operand)
{
    int slices = gpu_slices(value->shape);
    *operand = (struct gpu_operand){.value = value};
    if (!value->data) return value->shape.b > 1 ? slices : 0;
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)slices);
    if (!weights) return -1;
    for (int c = 0; c < value->shape.c; c++) weights->data[c] = value->data[c];
    *operand = (struct gpu_operand){.weights = weights};
    return 0;
}

// Returns how many positions of a plane a group takes: as few as fill the device, in at most `most` groups, but at
// least `least` of them.
static int positions_of_group(const struct gpu_plan *plan, struct gpu_shape shape, int most, int least)
{
    int64_t plane = (int64_t)shape.h * shape.w;
    int64_t layers = gpu_in_first_batch(plan, (int64_t)shape.b * gpu_slices(shape), shape.b);
    int64_t enough = 512 * (int64_t)(plan->caps->compute_units > 0 ? plan->caps->compute_units : 16);
    int64_t groups = (enough + layers * GROUP - 1) / (layers * GROUP);
    if (groups > most) groups = most;
    int64_t positions = (plane + groups - 1) / groups;
    if (positions < least) positions = least;
    return (int)(positions < plane ? positions : plane);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[GPU_NORM_X];
    int plane = x->shape.h * x->shape.w, layers = x->shape.b * gpu_slices(x->shape);
    int of_part = positions_of_group(plan, x->shape, GROUP, 2 * GROUP), parts = (plane + of_part - 1) / of_part;
    int of_group = positions_of_group(plan, x->shape, plane, GROUP);
    struct gpu_operand gamma, beta;
    int gamma_step = operand_of(plan, node->inputs[GPU_NORM_GAMMA], &gamma);
    int beta_step = gamma_step < 0 ? -1 : operand_of(plan, node->inputs[GPU_NORM_BETA], &beta);
    struct gpu_value *t =
        beta_step < 0 ? NULL : gpu_plan_scratch(plan, (struct gpu_shape){layers, 1, 2 * parts + 2, 4});
    if (!t) return false;
    t->exact = true;
    struct gpu_dispatch_desc first = {
        .kernel = &statistics,
        .operands = {{.value = x}, gamma, beta, {.value = t}},
        .params = {{of_part, parts, gamma_step, beta_step}},
        .grid = {GROUP, parts, layers},
    };
    struct gpu_dispatch_desc second = {
        .kernel = &normalize,
        .operands = {{.value = x}, {.value = t}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(node->inputs[GPU_NORM_EPSILON]->data[0]), of_part, parts, of_group}},
        .grid = {GROUP, (plane + of_group - 1) / of_group, layers},
        .epilogue = &node->epilogue,
    };
    return gpu_plan_dispatch(plan, &first) && gpu_plan_dispatch(plan, &second);
}

const struct gpu_op gpu_op_instance_norm = {
    .name = "INSTANCE_NORM",
    .max_version = 1,
    .operands = {.inputs = {4}},
    .supported = refused,
    .plan = plan,
    .epilogue = true,
    .rank_blind = true,
    GPU_KERNELS(&statistics, &normalize),
};
