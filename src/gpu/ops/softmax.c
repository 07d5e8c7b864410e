// SPDX-License-Identifier: Apache-2.0
// SOFTMAX: exp(beta * x) / sum over the last axis, the channels. GROUP_X work-items share the channels of a position
// and read them three times, for the maximum, the sum and the results. The second and third time they come from a near
// cache.
#include "gpu/ops/op.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "softmax",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"beta"}, // as float bits
    .shared = {"float parts[GROUP_X * GROUP_Y]"},
    .epilogue = true,
    .body = GPU_TEXT(
        int positions = x_b * x_h * x_w;
        int plane = x_h * x_w;
        int position = min(GROUP1 * GROUP_Y + LID1, positions - 1);
        int batch = position / plane;
        int from = batch * x_s * plane + position - batch * plane;
        float beta = bits_to_float(P_beta.x);
        int lid = LID1 * GROUP_X + LID0;
        float none = -3.402823466e38f;

        float most = none;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            acc4 v = to_acc4(load_x(from + s * plane)) * beta;
            int left = x_c - s * 4;
            most = max(most, v.x);
            if (left > 1) most = max(most, v.y);
            if (left > 2) most = max(most, v.z);
            if (left > 3) most = max(most, v.w);
        }
        if (GROUP_X > 1) {
            parts[lid] = most;
            BARRIER;
            UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2) {
                if (LID0 < apart) parts[lid] = max(parts[lid], parts[lid + apart]);
                BARRIER;
            }
            most = parts[LID1 * GROUP_X];
            BARRIER;
        }

        float sum = 0.0f;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            acc4 e = exp(to_acc4(load_x(from + s * plane)) * beta - splatf4(most));
            int left = x_c - s * 4;
            sum += e.x;
            if (left > 1) sum += e.y;
            if (left > 2) sum += e.z;
            if (left > 3) sum += e.w;
        }
        if (GROUP_X > 1) {
            parts[lid] = sum;
            BARRIER;
            UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2) {
                if (LID0 < apart) parts[lid] += parts[lid + apart];
                BARRIER;
            }
            sum = parts[LID1 * GROUP_X];
        }

        if (GROUP1 * GROUP_Y + LID1 < positions) {
            float part = 1.0f / sum;
            int row = (position - batch * plane) / x_w;
            int4 p = mki4(position - batch * plane - row * x_w, row, 0, batch);
            for (int s = LID0; s < x_s; s += GROUP_X) {
                acc4 e = exp(to_acc4(load_x(from + s * plane)) * beta - splatf4(most)) * part;
                p.z = s;
                write_y(p, finish(to_real4(e), p));
            }
        }
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    if (!view->node->builtin_data) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    const TfLiteTensor *x = gpu_view_input(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (x->dims->size < 1) return gpu_refuse(view, DELEGATE_RANK, 0, "the input is a scalar");
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    int slices = gpu_slices(x->shape), share = 1;
    int64_t positions = (int64_t)x->shape.b * x->shape.h * x->shape.w;
    int64_t enough = 256 * (int64_t)(plan->caps->compute_units > 0 ? plan->caps->compute_units : 16);
    int64_t first = gpu_in_first_batch(plan, positions, x->shape.b);
    while (share < 128 && 2 * share <= slices && first * share < enough) share *= 2;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(((const TfLiteSoftmaxParams *)node->params)->beta)}},
        .group = {share, gpu_rows_per_group(plan->caps, share, positions), 1},
        .grid = {share, (int)positions, 1},
        .epilogue = &node->epilogue,
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_softmax = {
    .name = "SOFTMAX",
    .max_version = 4,
    .operands = {.inputs = {1}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteSoftmaxParams),
    .epilogue = true,
    .bytes = GPU_BYTES_COMPUTED,
    .rank_blind = true,
    GPU_KERNELS(&kernel),
};
