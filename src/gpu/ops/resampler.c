// SPDX-License-Identifier: Apache-2.0
// The custom operator Resampler: x [b, h, w, c] at the positions [b, oh, ow, 2 or more] of the second input (column,
// row), interpolated between the four nearest elements. Outside of x there are zeros.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "resampler",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_IN, "positions"}, {GPU_OUT, "y"}},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        acc4 at = to_acc4(read_positions(mki4(p.x, p.y, 0, p.w)));
        float u = min(max(at.x, -2.0f), to_float(x_w + 1));
        float v = min(max(at.y, -2.0f), to_float(x_h + 1));
        GPU_SPLIT_POSITION
        acc4 s = to_acc4(read_x_or_zero(mki4(i, j, p.z, p.w))) * ((1.0f - du) * (1.0f - dv));
        s += to_acc4(read_x_or_zero(mki4(i + 1, j, p.z, p.w))) * (du * (1.0f - dv));
        s += to_acc4(read_x_or_zero(mki4(i, j + 1, p.z, p.w))) * ((1.0f - du) * dv);
        s += to_acc4(read_x_or_zero(mki4(i + 1, j + 1, p.z, p.w))) * (du * dv);
        write_y(p, finish(to_real4(s), p));
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0), *positions = gpu_view_input(view, 1),
                       *y = gpu_view_output(view, 0);
    const TfLiteTensor *all[] = {x, positions, y};
    for (int i = 0; i < 3; i++) {
        if (all[i]->dims->size != 4) return gpu_refuse(view, DELEGATE_RANK, i, "inputs and output must have rank 4");
        if (all[i]->type != kTfLiteFloat32 && all[i]->type != kTfLiteFloat16)
            return gpu_refuse(view, DELEGATE_TYPE, i, "inputs and output must be floats");
    }
    if (hl_is_constant(x) && hl_is_constant(positions))
        return gpu_refuse(view, DELEGATE_CONSTANT, 0, "all inputs are constants");
    const int *from = x->dims->data, *at = positions->dims->data, *to = y->dims->data;
    bool fit = from[0] == at[0] && at[0] == to[0] && at[1] == to[1] && at[2] == to[2] && from[3] == to[3] && at[3] >= 2;
    return fit || gpu_refuse(view, DELEGATE_SHAPE, 1, "the shapes of elements, positions and output do not fit");
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->inputs[1]}, {.value = node->outputs[0]}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_resampler = {
    .name = "Resampler",
    .max_version = 1,
    .operands = {.inputs = {2}},
    .supported = supported,
    .plan = plan,
    .epilogue = true,
    GPU_KERNELS(&kernel),
};
