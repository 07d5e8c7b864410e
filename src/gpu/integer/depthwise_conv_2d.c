// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D with 8-bit tensors and integer sums: a work-item computes one output slice at one position.
#include "gpu/integer/convolve.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define TIMES_LANE(NUMBER, LANE) \
    int c##NUMBER = min((p.z * 4 + NUMBER) / P_space.z, x_c - 1); \
    v.LANE = byte_of(read_x(mki4(px, py, c##NUMBER / 4, p.w)), c##NUMBER % 4);
#define SCALED(LANE) \
    sum.LANE = stored(rescale(sum.LANE, by.LANE, shift.LANE), P_out.x, P_out.y, P_out.z);

static const struct gpu_kernel kernel = {
    .name = "depthwise_codes",
    .group = {16, 4, 2},
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "weights"}, {GPU_CODES_OUT, "y"}},
    // kernel: w, h; step: strides, padding; space: dilations, outputs for each input channel, zero point; out: zero
    // point, range
    .params = {"kernel", "step", "space", "out"},
    GPU_CONSTANTS({"TIMES", 0}), // outputs for each input channel, if more than one: 1
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int k = p.z * (P_kernel.x * P_kernel.y + 3);
        int4 sum = weights(k);
        int4 by = weights(k + 1);
        int4 shift = weights(k + 2);
        k += 3;
        int from = (p.w * x_s + p.z) * x_h;
        for (int ty = 0; ty < P_kernel.y; ty += 1) {
            int py = p.y * P_step.y - P_step.w + ty * P_space.y;
            for (int tx = 0; tx < P_kernel.x; tx += 1) {
                int px = p.x * P_step.x - P_step.z + tx * P_space.x;
                if (px >= 0 && px < x_w && py >= 0 && py < x_h) {
                    int4 v = splati4(0);
                    if (TIMES == 0) {
                        int four = load_x((from + py) * x_w + px);
                        v = mki4(byte_of(four, 0), byte_of(four, 1), byte_of(four, 2), four >> 24);
                    } else {
                        TIMES_LANE(0, x) TIMES_LANE(1, y) TIMES_LANE(2, z) TIMES_LANE(3, w)
                    }
                    sum = sum + (v - splati4(P_space.w)) * weights(k);
                }
                k += 1;
            }
        }
        SCALED(x) SCALED(y) SCALED(z) SCALED(w)
        write_y(p, pack_bytes(sum.x, sum.y, sum.z, sum.w));
    ),
};
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view)) return false;
    return gpu_check_integer_weights(view, gpu_view_output(view, 0)->dims->data[3], false);
}

// For each output slice the bias, multipliers and shifts, and then a vector for each tap.
static struct gpu_weights *pack(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    const struct gpu_value *bias = node->input_count > 2 ? node->inputs[2] : NULL;
    size_t taps = (size_t)weights->shape.h * (size_t)weights->shape.w, stride = 4 * (taps + 3);
    struct gpu_weights *packed = gpu_plan_integers(plan, (size_t)gpu_slices(y->shape) * (taps + 3));
    int zero = weights->codes ? gpu_code_zero(&weights->quantization) : 0;
    for (int c = 0; packed && c < y->shape.c; c++) {
        int32_t *to = packed->integers + (size_t)(c / 4) * stride + (size_t)(c % 4);
        struct hl_rescale rescale = hl_rescale_from(gpu_integer_scale(x, weights, y, c, false));
        to[0] = bias ? bias->integers[c] : 0;
        to[4] = rescale.multiplier;
        to[8] = rescale.shift;
        for (size_t t = 0; t < taps; t++)
            to[4 * (t + 3)] = weights->integers[t * (size_t)y->shape.c + (size_t)c] - zero;
    }
    return packed;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteDepthwiseConvParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_shape k = node->inputs[1]->shape;
    int stride_w = params->stride_width, stride_h = params->stride_height;
    int dilation_w = params->dilation_width_factor, dilation_h = params->dilation_height_factor;
    int left = gpu_pad_before(params->padding, x->shape.w, y->shape.w, k.w, stride_w, dilation_w) + node->pad_left;
    int top = gpu_pad_before(params->padding, x->shape.h, y->shape.h, k.h, stride_h, dilation_h) + node->pad_top;
    struct gpu_weights *weights = pack(plan, node);
    if (!weights) return false;
    struct gpu_code_range range = gpu_code_range(params->activation, &y->quantization);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.weights = weights}, {.value = y}},
        .params = {{k.w, k.h},
                   {stride_w, stride_h, left, top},
                   {dilation_w, dilation_h, y->shape.c / x->shape.c, gpu_code_zero(&x->quantization)},
                   {gpu_code_zero(&y->quantization), range.low, range.high}},
        .constants = {{"TIMES", x->shape.c != y->shape.c}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_integer_depthwise_conv_2d = {
    GPU_INTEGER_OP("DEPTHWISE_CONV_2D", 7),
    GPU_PARAMS_ACTIVATION(TfLiteDepthwiseConvParams),
    .operands = {.inputs = {2, 3}},
    .supported = supported,
    .plan = plan,
    .weighted = {.x = 0, .weights = 1, .bias = 2, .depthwise = true},
    GPU_KERNELS(&kernel),
};
