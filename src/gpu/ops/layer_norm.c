// SPDX-License-Identifier: Apache-2.0
// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over the channels of each position.
// Models say this with eight to ten operators, which graph/norm.c makes one node of. GROUP_X work-items share the
// channels of a position and read them three times, the second and third time from a near cache. x and y have the same
// channels and as many positions in the same order; a RESHAPE between them needs no copy.
#include "gpu/ops/op.h"

// Adds the V of a group's row, in each of its work-items.
#define SUM_OF_ROW(V)                                               \
    if (GROUP_X > 1) {                                              \
        parts[lid] = V;                                             \
        BARRIER;                                                    \
        UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2) \
        {                                                           \
            if (LID0 < apart) parts[lid] += parts[lid + apart];     \
            BARRIER;                                                \
        }                                                           \
        V = parts[LID1 * GROUP_X];                                  \
        BARRIER;                                                    \
    }

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// k: gamma, then beta. P_of.x: epsilon, P_of.y: one over the number of channels, as bits.
static const struct gpu_kernel kernel = {
    .name = "layer_norm",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .params = {"of"},
    .shared = {"float parts[GROUP_X * GROUP_Y]"},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int plane = x_h * x_w;
        int positions = x_b * plane;
        int position = min(GROUP1 * GROUP_Y + LID1, positions - 1);
        int batch = position / plane;
        int from = batch * x_s * plane + position - batch * plane;
        int lid = LID1 * GROUP_X + LID0;

        float sum = 0.0f;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            acc4 v = to_acc4(load_x(from + s * plane));
            sum += v.x + v.y + v.z + v.w;
        }
        SUM_OF_ROW(sum)
        acc4 mean = splatf4(sum * bits_to_float(P_of.y));

        float squares = 0.0f;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            acc4 v = to_acc4(load_x(from + s * plane)) - mean;
            int left = x_c - s * 4;
            squares += v.x * v.x;
            if (left > 1) squares += v.y * v.y;
            if (left > 2) squares += v.z * v.z;
            if (left > 3) squares += v.w * v.w;
        }
        SUM_OF_ROW(squares)
        float scale = rsqrt(squares * bits_to_float(P_of.y) + bits_to_float(P_of.x));

        if (GROUP1 * GROUP_Y + LID1 < positions) {
            int layer = position / (y_h * y_w);
            int rest = position - layer * (y_h * y_w);
            int row = rest / y_w;
            int4 p = mki4(rest - row * y_w, row, 0, layer);
            for (int s = LID0; s < x_s; s += GROUP_X) {
                acc4 v = (to_acc4(load_x(from + s * plane)) - mean) * scale;
                v = v * to_acc4(k(s)) + to_acc4(k(x_s + s));
                p.z = s;
                write_y(p, finish(to_real4(v), p));
            }
        }
    ),
};
// clang-format on

static bool refused(const struct gpu_node_view *view)
{
    return gpu_refuse(view, DELEGATE_PARAMETER, -1, "only the graph's passes make this operator");
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    int channels = x->shape.c, slices = gpu_slices(x->shape), share = 1;
    struct gpu_weights *weights = gpu_plan_weights(plan, 2 * (size_t)slices);
    if (!weights) return false;
    for (int c = 0; c < channels; c++) {
        weights->data[c] = node->inputs[GPU_NORM_GAMMA]->data[c];
        weights->data[4 * slices + c] = node->inputs[GPU_NORM_BETA]->data[c];
    }
    int64_t positions = (int64_t)x->shape.b * x->shape.h * x->shape.w;
    int64_t enough = 256 * (int64_t)(plan->caps->compute_units > 0 ? plan->caps->compute_units : 16);
    int64_t first = gpu_in_first_batch(plan, positions, x->shape.b);
    while (share < 128 && 2 * share <= slices && first * share < enough) share *= 2;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.weights = weights}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(node->inputs[GPU_NORM_EPSILON]->data[0]), gpu_float_bits(1.0f / (float)channels)}},
        .group = {share, gpu_rows_per_group(plan->caps, share, positions), 1},
        .grid = {share, (int)positions, 1},
        .epilogue = &node->epilogue,
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_layer_norm = {
    .name = "LAYER_NORM",
    .max_version = 1,
    .operands = {.inputs = {4}, .any_rank = true},
    .supported = refused,
    .plan = plan,
    .epilogue = true,
    .rank_blind = true,
    GPU_KERNELS(&kernel),
};
