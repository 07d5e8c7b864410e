// SPDX-License-Identifier: Apache-2.0
// The custom operators MaxPoolingWithArgmax2D and MaxUnpooling2D. The first gives the largest element of each window
// and the position of the first such element in the window, row * window width + column. The position is a float with
// 0.1 added, so that truncation gives the number after any rounding. The second operator puts elements back to these
// positions; all others are zero.
#include <stddef.h>

#include "gpu/ops/convolve.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define TAKE(NAME) at.NAME = pick(u.NAME > v.NAME, number, at.NAME);
#define PUT(NAME) v.NAME = pick(at.NAME == number, u.NAME, v.NAME);

static const struct gpu_kernel pool_kernel = {
    .name = "pool_argmax",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}, {GPU_OUT, "positions"}},
    .params = {"window", "pad"}, // window: w, h, stride w, h; pad: left, top
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int x0 = p.x * P_window.z - P_pad.x;
        int y0 = p.y * P_window.w - P_pad.y;
        int x1 = min(P_window.x, x_w - x0);
        int y1 = min(P_window.y, x_h - y0);
        acc4 v = splatf4(-3.402823466e38f);
        acc4 at = splatf4(0.1f);
        for (int j = max(0 - y0, 0); j < y1; j += 1) {
            for (int i = max(0 - x0, 0); i < x1; i += 1) {
                acc4 u = to_acc4(read_x(mki4(x0 + i, y0 + j, p.z, p.w)));
                float number = to_float(j * P_window.x + i) + 0.1f;
                TAKE(x)
                TAKE(y)
                TAKE(z)
                TAKE(w)
                v = max(v, u);
            }
        }
        write_y(p, to_real4(v));
        write_positions(p, to_real4(at));
    ),
};

// Where windows overlap, the last one wins.
static const struct gpu_kernel unpool_kernel = {
    .name = "unpool",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_IN, "positions"}, {GPU_OUT, "y"}},
    .params = {"window", "pad"},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int left = p.x + P_pad.x;
        int top = p.y + P_pad.y;
        int i0 = max(left - P_window.x + P_window.z, 0) / P_window.z;
        int j0 = max(top - P_window.y + P_window.w, 0) / P_window.w;
        int i1 = min(left / P_window.z, x_w - 1);
        int j1 = min(top / P_window.w, x_h - 1);
        acc4 v = splatf4(0.0f);
        for (int j = j0; j <= j1; j += 1) {
            for (int i = i0; i <= i1; i += 1) {
                int4 q = mki4(i, j, p.z, p.w);
                int4 at = to_int4(to_acc4(read_positions(q)));
                acc4 u = to_acc4(read_x(q));
                int number = (top - j * P_window.w) * P_window.x + left - i * P_window.z;
                PUT(x)
                PUT(y)
                PUT(z)
                PUT(w)
            }
        }
        write_y(p, finish(to_real4(v), p));
    ),
};
// clang-format on
enum { MAX_POSITIONS = 2048 }; // of a window; halves represent all integers up to there

static bool is_float(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteFloat32 || tensor->type == kTfLiteFloat16;
}

// large: the tensor that windows move over; small: the tensor with an element for each window.
static bool check(const struct gpu_node_view *view, const TfLiteTensor *large, const TfLiteTensor *small,
                  const TfLiteTensor *positions)
{
    TfLitePoolParams params;
    gpu_custom_options(view, &params, sizeof params);
    if (params.stride_width < 1 || params.stride_height < 1 || params.filter_width < 1 || params.filter_height < 1 ||
        (int64_t)params.filter_width * params.filter_height > MAX_POSITIONS)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1,
                          "window %d x %d with strides %d x %d, expected 1 or more and at most %d positions",
                          params.filter_width, params.filter_height, params.stride_width, params.stride_height,
                          (int)MAX_POSITIONS);
    if (params.padding != kTfLitePaddingSame && params.padding != kTfLitePaddingValid)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "padding is %d, expected SAME or VALID", (int)params.padding);
    if (params.activation != kTfLiteActNone)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "it has a fused activation");
    if (hl_is_constant(gpu_view_input(view, 0)))
        return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (!is_float(large) || !is_float(small) || !is_float(positions))
        return gpu_refuse(view, DELEGATE_TYPE, 0, "elements and positions must be floats");
    if (large->dims->size != 4 || small->dims->size != 4 || positions->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "inputs and outputs must have rank 4");
    const int *l = large->dims->data, *s = small->dims->data, *p = positions->dims->data;
    bool fit = l[0] == s[0] && l[3] == s[3];
    for (int i = 0; i < 4; i++) fit = fit && p[i] == s[i];
    return fit || gpu_refuse(view, DELEGATE_SHAPE, 0, "elements, positions and windows have different shapes");
}

static bool pool_supported(const struct gpu_node_view *view)
{
    return check(view, gpu_view_input(view, 0), gpu_view_output(view, 0), gpu_view_output(view, 1));
}

static bool unpool_supported(const struct gpu_node_view *view)
{
    return check(view, gpu_view_output(view, 0), gpu_view_input(view, 0), gpu_view_input(view, 1));
}

static void set_window(struct gpu_dispatch_desc *desc, const TfLitePoolParams *params, int left, int top)
{
    const int32_t window[4] = {params->filter_width, params->filter_height, params->stride_width,
                               params->stride_height};
    for (int i = 0; i < 4; i++) desc->params[0][i] = window[i];
    desc->params[1][0] = left;
    desc->params[1][1] = top;
}

static bool pool_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLitePoolParams *params = node->params;
    struct gpu_shape x = node->inputs[0]->shape, y = node->outputs[0]->shape;
    struct gpu_dispatch_desc desc = {
        .kernel = &pool_kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}, {.value = node->outputs[1]}},
    };
    set_window(&desc, params, gpu_pad_before(params->padding, x.w, y.w, params->filter_width, params->stride_width, 1),
               gpu_pad_before(params->padding, x.h, y.h, params->filter_height, params->stride_height, 1));
    gpu_grid_over(&desc, y);
    return gpu_plan_dispatch(plan, &desc);
}

// The padding is that of the pool that made the positions. It follows from the sizes of the output and the windows,
// whatever the options say.
static bool unpool_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLitePoolParams *params = node->params;
    struct gpu_shape x = node->inputs[0]->shape, y = node->outputs[0]->shape;
    struct gpu_dispatch_desc desc = {
        .kernel = &unpool_kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->inputs[1]}, {.value = node->outputs[0]}},
        .epilogue = &node->epilogue,
    };
    set_window(&desc, params,
               gpu_pad_before(kTfLitePaddingSame, y.w, x.w, params->filter_width, params->stride_width, 1),
               gpu_pad_before(kTfLitePaddingSame, y.h, x.h, params->filter_height, params->stride_height, 1));
    gpu_grid_over(&desc, y);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_max_pooling_with_argmax_2d = {
    .name = "MaxPoolingWithArgmax2D",
    .max_version = 1,
    .operands = {.inputs = {1}, .outputs = 2},
    .supported = pool_supported,
    .plan = pool_plan,
    GPU_PARAMS(TfLitePoolParams),
    .min_params_size = offsetof(TfLitePoolParams, computed),
    GPU_KERNELS(&pool_kernel),
};
const struct gpu_op gpu_op_max_unpooling_2d = {
    .name = "MaxUnpooling2D",
    .max_version = 1,
    .operands = {.inputs = {2}},
    .supported = unpool_supported,
    .plan = unpool_plan,
    .epilogue = true,
    GPU_PARAMS(TfLitePoolParams),
    .min_params_size = offsetof(TfLitePoolParams, computed),
    GPU_KERNELS(&unpool_kernel),
};
