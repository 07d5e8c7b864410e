// SPDX-License-Identifier: Apache-2.0
// SOFTMAX over the last axis: exp(beta * (x - max)) / sum. In float whatever the precision.
// Few channels: one work-item for each place. Many: one group for each place, which shares the maximum and the sum.
#include "gpu/ops/op.h"

enum { MANY_SLICES = 16 };

// clang-format off: kernel bodies are formatted by hand, a statement a line
// Only channels below x_c count; `left` of them are in this slice or beyond it.
#define TAKE_MAX(v)                                  \
    m = max(m, v.x);                                 \
    if (left > 1) m = max(m, v.y);                   \
    if (left > 2) m = max(m, v.z);                   \
    if (left > 3) m = max(m, v.w);
#define TAKE_SUM(v)                                  \
    sum += v.x;                                      \
    if (left > 1) sum += v.y;                        \
    if (left > 2) sum += v.z;                        \
    if (left > 3) sum += v.w;
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

static const struct gpu_kernel by_item = {
    .name = "softmax",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"beta"},
    .epilogue = true,
    .body = TEXT_OF(
        if (GID0 >= x_w || GID1 >= x_h || GID2 >= x_b) return;
        float beta = bits_to_float(P_beta.x);
        float m = -3.4e38f;
        float sum = 0.0f;
        for (int s = 0; s < x_s; s += 1) {
            int left = x_c - s * 4;
            acc4 v = to_acc4(read_x(mki4(GID0, GID1, s, GID2))) * beta;
            TAKE_MAX(v)
        }
        for (int s = 0; s < x_s; s += 1) {
            int left = x_c - s * 4;
            acc4 v = exp(to_acc4(read_x(mki4(GID0, GID1, s, GID2))) * beta - splatf4(m));
            TAKE_SUM(v)
        }
        for (int s = 0; s < x_s; s += 1) {
            int4 p = mki4(GID0, GID1, s, GID2);
            acc4 v = exp(to_acc4(read_x(p)) * beta - splatf4(m)) * (1.0f / sum);
            write_y(p, finish(to_real4(v), p));
        }
    ),
};

static const struct gpu_kernel by_group = {
    .name = "softmax_group",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"beta"},
    .shared = {"float shares[GROUP_X]"},
    .epilogue = true,
    .body = TEXT_OF(
        int place = GROUP0;
        int px = place % x_w;
        int py = (place / x_w) % x_h;
        int pb = place / x_w / x_h;
        float beta = bits_to_float(P_beta.x);
        float m = -3.4e38f;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int left = x_c - s * 4;
            acc4 v = to_acc4(read_x(mki4(px, py, s, pb))) * beta;
            TAKE_MAX(v)
        }
        shares[LID0] = m;
        BARRIER;
        for (int half_way = GROUP_X / 2; half_way > 0; half_way /= 2) {
            if (LID0 < half_way) shares[LID0] = max(shares[LID0], shares[LID0 + half_way]);
            BARRIER;
        }
        m = shares[0];
        BARRIER;
        float sum = 0.0f;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int left = x_c - s * 4;
            acc4 v = exp(to_acc4(read_x(mki4(px, py, s, pb))) * beta - splatf4(m));
            TAKE_SUM(v)
        }
        shares[LID0] = sum;
        BARRIER;
        for (int half_way = GROUP_X / 2; half_way > 0; half_way /= 2) {
            if (LID0 < half_way) shares[LID0] += shares[LID0 + half_way];
            BARRIER;
        }
        float scale = 1.0f / shares[0];
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int4 p = mki4(px, py, s, pb);
            acc4 v = exp(to_acc4(read_x(p)) * beta - splatf4(m)) * scale;
            write_y(p, finish(to_real4(v), p));
        }
    ),
};
// clang-format on
static const struct gpu_kernel *const kernels[] = {&by_item, &by_group, NULL};

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_common(view, 1, 1, 1, 0)) return false;
    if (gpu_view_input(view, 0)->dims->size < 1)
        return gpu_refuse(view, GPU_REASON_RANK, 0, "a scalar has no axis to sum over");
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteSoftmaxParams *params = node->params;
    struct gpu_shape shape = node->inputs[0]->shape;
    bool many = gpu_slices(shape) >= MANY_SLICES;
    struct gpu_dispatch_desc desc = {
        .kernel = many ? &by_group : &by_item,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(params->beta)}},
        .grid = {shape.w, shape.h, shape.b},
        .epilogue = &node->epilogue,
    };
    if (many) {
        desc.grid[0] = by_group.group[0] * shape.w * shape.h * shape.b;
        desc.grid[1] = desc.grid[2] = 1;
    }
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_softmax = {.name = "SOFTMAX",
                                      .max_version = 4,
                                      .supported = supported,
                                      .plan = plan,
                                      .epilogue = true,
                                      .params_size = sizeof(TfLiteSoftmaxParams),
                                      .kernels = kernels};
