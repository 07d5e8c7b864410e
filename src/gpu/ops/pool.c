// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D and MAX_POOL_2D: x [b, h, w, c]. The average counts the elements inside of x only. If there are few
// outputs with large windows (the global pool), the GROUP_Z work-items of a group share the rows of one window.
#include "gpu/ops/convolve.h"
#include "gpu/ops/dense_pair.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// The part of the window of output p that lies inside of x: [x0, x1) and [y0, y1).
#define CLIPPED_WINDOW                                                        \
    int x0 = p.x * P_window.z - P_pad.x;                                      \
    int y0 = p.y * P_window.w - P_pad.y;                                      \
    int x1 = min(x0 + P_window.x, x_w);                                       \
    int y1 = min(y0 + P_window.y, x_h);                                       \
    x0 = max(x0, 0);                                                          \
    y0 = max(y0, 0);

static const struct gpu_kernel kernel = {
    .name = "pool",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"window", "pad"}, // window: w, h, stride w, h; pad: left, top
    GPU_CONSTANTS({"MAXIMUM", 0}),
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        CLIPPED_WINDOW
        int from = (p.w * x_s + p.z) * x_h;
        acc4 v = splatf4(pick(MAXIMUM == 1, -3.402823466e38f, 0.0f));
        for (int py = y0; py < y1; py += 1) {
            for (int px = x0; px < x1; px += 1) {
                acc4 u = to_acc4(load_x((from + py) * x_w + px));
                if (MAXIMUM == 1) v = at_least(v, u);
                else v += u;
            }
        }
        if (MAXIMUM == 0) v = v * (1.0f / to_float(max((x1 - x0) * (y1 - y0), 1)));
        write_y(p, finish(to_real4(finite(v)), p));
    ),
};

// Element number n of the window: one after the other where it has whole rows of x.
#define ELEMENT(NAME, NUMBER)                                                                            \
    int at_##NAME = NUMBER;                                                                              \
    if (WHOLE_ROWS == 0) at_##NAME += at_##NAME / across * (x_w - across);                               \
    acc4 NAME = to_acc4(load_x(start + at_##NAME));
// A group computes one window. Its work-items take turns over the elements, four at once, since a unit is to wait for as
// many bytes as it can.
static const struct gpu_kernel shared_kernel = {
    .name = "pool_shared",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"window", "pad"},
    GPU_CONSTANTS({"MAXIMUM", 0}, {"WHOLE_ROWS", 0}),
    .shared = {"float4 parts[GROUP_X]"},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int row = GROUP0 / y_w;
        int batch = GROUP1 / y_s;
        int4 p = mki4(GROUP0 - row * y_w, row, GROUP1 - batch * y_s, batch);
        CLIPPED_WINDOW
        int across = max(x1 - x0, 1);
        int count = across * max(y1 - y0, 0);
        int start = ((p.w * x_s + p.z) * x_h + y0) * x_w + x0;
        acc4 v = splatf4(pick(MAXIMUM == 1, -3.402823466e38f, 0.0f));
        int n = LID0;
        while (n + 3 * GROUP_X < count) {
            ELEMENT(a, n)
            ELEMENT(b, n + GROUP_X)
            ELEMENT(c, n + 2 * GROUP_X)
            ELEMENT(d, n + 3 * GROUP_X)
            if (MAXIMUM == 1) v = at_least(at_least(v, a), at_least(at_least(b, c), d));
            else v += a + b + (c + d);
            n += 4 * GROUP_X;
        }
        while (n < count) {
            ELEMENT(u, n)
            if (MAXIMUM == 1) v = at_least(v, u);
            else v += u;
            n += GROUP_X;
        }
        parts[LID0] = v;
        BARRIER;
        UNROLL for (int half_way = GROUP_X / 2; half_way > 0; half_way /= 2) {
            if (LID0 < half_way) {
                if (MAXIMUM == 1) parts[LID0] = at_least(parts[LID0], parts[LID0 + half_way]);
                else parts[LID0] = parts[LID0] + parts[LID0 + half_way];
            }
            BARRIER;
        }
        if (LID0 == 0) {
            v = parts[0];
            if (MAXIMUM == 0) v = v * (1.0f / to_float(max(count, 1)));
            write_y(p, finish(to_real4(finite(v)), p));
        }
    ),
};
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    const TfLitePoolParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    struct gpu_window window = {
        .kernel_w = params->filter_width,
        .kernel_h = params->filter_height,
        .stride_w = params->stride_width,
        .stride_h = params->stride_height,
        .dilation_w = 1,
        .dilation_h = 1,
        .padding = params->padding,
    };
    if (!gpu_check_window(view, &window)) return false;
    const TfLiteTensor *x = gpu_view_input(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (x->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "the input has rank %d, expected 4", x->dims->size);
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (gpu_pair_takes(plan, node)) return true;
    const TfLitePoolParams *params = node->params;
    struct gpu_shape x = node->inputs[0]->shape, y = node->outputs[0]->shape;
    int w = params->filter_width, h = params->filter_height;
    int left = gpu_pad_before(params->padding, x.w, y.w, w, params->stride_width, 1) + node->pad_left;
    int top = gpu_pad_before(params->padding, x.h, y.h, h, params->stride_height, 1) + node->pad_top;
    int64_t outputs = gpu_in_first_batch(plan, (int64_t)y.w * y.h * gpu_slices(y) * y.b, y.b);
    int units = plan->caps->compute_units > 0 ? plan->caps->compute_units : 16;
    bool shared = (int64_t)w * h >= 32 && outputs < 64 * units;
    struct gpu_dispatch_desc desc = {
        .kernel = shared ? &shared_kernel : &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .params = {{w, h, params->stride_width, params->stride_height}, {left, top}},
        .constants = {{"MAXIMUM", node->builtin == kTfLiteBuiltinMaxPool2d}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y);
    if (shared) {
        // An H200 takes 19 us for planes of 128 x 128 by 64 work-items.
        desc.group[0] = 32;
        while (desc.group[0] * 8 <= w * h && 2 * desc.group[0] <= 256 &&
               2 * desc.group[0] <= plan->caps->max_group_size && 2 * desc.group[0] <= plan->caps->max_group[0])
            desc.group[0] *= 2;
        desc.constants[1] = (struct gpu_setting){"WHOLE_ROWS", left == 0 && y.w == 1 && w >= x.w};
        desc.group[1] = desc.group[2] = 1;
        desc.grid[0] = y.w * y.h * desc.group[0];
        desc.grid[1] = gpu_slices(y) * y.b;
        desc.grid[2] = 1;
    }
    return gpu_plan_dispatch(plan, &desc);
}

static const struct gpu_kernel *const kernels[] = {&kernel, &shared_kernel, NULL};
#define POOL(symbol, text, bytes_)                                                  \
    const struct gpu_op gpu_op_##symbol = {.name = text,                            \
                                           .max_version = 3,                        \
                                           .operands = {.inputs = {1}},             \
                                           .supported = supported,                  \
                                           .plan = plan,                            \
                                           GPU_PARAMS_ACTIVATION(TfLitePoolParams), \
                                           .epilogue = true,                        \
                                           .bytes = bytes_,                         \
                                           .rank_blind = true,                      \
                                           .kernels = kernels};
POOL(average_pool_2d, "AVERAGE_POOL_2D", GPU_BYTES_SAME)
POOL(max_pool_2d, "MAX_POOL_2D", GPU_BYTES_MOVED)
