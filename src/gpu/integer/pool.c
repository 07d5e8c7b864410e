// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D and MAX_POOL_2D of 8-bit tensors, which are not rescaled. The average is that of the stored integers
// inside of x, halves rounded away from zero: for uint8 the zero is 128 below that of the codes.
#include "gpu/ops/convolve.h"

#include "gpu/integer/integer.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define ADD(LANE, NUMBER) \
    if (MAXIMUM == 1) v.LANE = max(v.LANE, byte_of(four, NUMBER)); \
    else v.LANE += byte_of(four, NUMBER) + P_pad.z;
#define MEAN(LANE) \
    if (MAXIMUM == 0) { \
        int size = (pick(v.LANE < 0, -v.LANE, v.LANE) + count / 2) / count; \
        v.LANE = pick(v.LANE < 0, -size, size) - P_pad.z; \
    } \
    v.LANE = min(max(v.LANE, P_range.x), P_range.y);

static const struct gpu_kernel kernel = {
    .name = "pool_codes",
    .group = {8, 8, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    .params = {"window", "pad", "range"}, // window: w, h, strides; pad: left, top, what is added to codes
    GPU_CONSTANTS({"MAXIMUM", 0}),
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int x0 = p.x * P_window.z - P_pad.x;
        int y0 = p.y * P_window.w - P_pad.y;
        int x1 = min(x0 + P_window.x, x_w);
        int y1 = min(y0 + P_window.y, x_h);
        x0 = max(x0, 0);
        y0 = max(y0, 0);
        int count = max((x1 - x0) * (y1 - y0), 1);
        int from = (p.w * x_s + p.z) * x_h;
        int4 v = splati4(pick(MAXIMUM == 1, -128, 0));
        for (int py = y0; py < y1; py += 1) {
            for (int px = x0; px < x1; px += 1) {
                int four = load_x((from + py) * x_w + px);
                ADD(x, 0) ADD(y, 1) ADD(z, 2) ADD(w, 3)
            }
        }
        MEAN(x) MEAN(y) MEAN(z) MEAN(w)
        write_y(p, pack_bytes(v.x, v.y, v.z, v.w));
    ),
};
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    return gpu_check_like_floats(view) && gpu_check_unary_codes(view);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLitePoolParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    int w = params->filter_width, h = params->filter_height;
    int left = gpu_pad_before(params->padding, x->shape.w, y->shape.w, w, params->stride_width, 1);
    int top = gpu_pad_before(params->padding, x->shape.h, y->shape.h, h, params->stride_height, 1);
    struct gpu_code_range range = gpu_code_range(params->activation, &y->quantization);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = y}},
        .params = {{w, h, params->stride_width, params->stride_height},
                   {left, top, y->quantization.type == kTfLiteUInt8 ? 128 : 0},
                   {range.low, range.high}},
        .constants = {{"MAXIMUM", node->builtin == kTfLiteBuiltinMaxPool2d}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

#define POOL(symbol, text)                                                               \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, 3),                 \
                                                .operands = {.inputs = {1}},             \
                                                .supported = supported,                  \
                                                .plan = plan,                            \
                                                GPU_PARAMS_ACTIVATION(TfLitePoolParams), \
                                                GPU_KERNELS(&kernel)};
POOL(average_pool_2d, "AVERAGE_POOL_2D")
POOL(max_pool_2d, "MAX_POOL_2D")
