// SPDX-License-Identifier: Apache-2.0
// QUANTIZE and DEQUANTIZE of 8-bit tensors. From one quantization to another is a table. From floats to codes the CPU
// divides, which languages of GPUs do not promise to round as C does: the plan finds the smallest float of each code
// with the CPU's division, and the kernel guesses a code and corrects it by these.
#include <math.h>

#include "gpu/graph/convert.h"
#include "gpu/integer/integer.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define CODE(NUMBER, LANE) \
    float f##NUMBER = to_float(v.LANE); \
    int q##NUMBER = -128; \
    if (!is_nan(f##NUMBER)) { \
        float guess##NUMBER = f##NUMBER * bits_to_float(P_guess.x) + to_float(P_guess.y); \
        q##NUMBER = to_int(floor(min(max(guess##NUMBER, -128.0f), 127.0f) + 0.5f)); \
        if (q##NUMBER > -128 && f##NUMBER < FIRST(q##NUMBER)) q##NUMBER -= 1; \
        else if (q##NUMBER < 127 && f##NUMBER >= FIRST(q##NUMBER + 1)) q##NUMBER += 1; \
    }
#define FIRST(Q) to_float(lane(first((Q + 128) / 4), (Q + 128) % 4))

static const struct gpu_kernel to_codes = {
    .name = "floats_to_codes",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "first"}, {GPU_CODES_OUT, "y"}},
    .params = {"guess"}, // one over the scale, zero point
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        real4 v = read_x(p);
        CODE(0, x) CODE(1, y) CODE(2, z) CODE(3, w)
        write_y(p, pack_bytes(q0, q1, q2, q3));
    ),
};

static const struct gpu_kernel to_floats = {
    .name = "codes_to_floats",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"real"}, // scale, zero point
    .integers = true,
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        int v = read_x(p);
        int4 steps = mki4(byte_of(v, 0), byte_of(v, 1), byte_of(v, 2), byte_of(v, 3)) - splati4(P_real.y);
        write_y(p, to_real4(to_float4(steps) * bits_to_float(P_real.x)));
    ),
};
// clang-format on

// ---- QUANTIZE -----------------------------------------------------------------------------------

static bool supported_quantize(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view) || !gpu_check_codes(view, -1)) return false;
    if (gpu_view_input(view, 0)->type != kTfLiteFloat32) return gpu_check_codes(view, 0);
    return isfinite(1 / gpu_affine_of(gpu_view_output(view, 0))->scale->data[0]) ||
           gpu_refuse(view, DELEGATE_QUANTIZATION, -1, "exact integers: the scale is too small");
}

// The code of a float that is not NaN.
static int code_of(float value, const struct gpu_quantization *q)
{
    float steps = roundf(value / q->scale) + (float)gpu_code_zero(q);
    return steps < -128 ? -128 : steps > 127 ? 127 : (int)steps;
}

// Floats in order: -infinity is -0x7f800000, infinity 0x7f800000.
static float in_order(int32_t number)
{
    union {
        uint32_t bits;
        float value;
    } both = {number < 0 ? 0x80000000u | (uint32_t)-number : (uint32_t)number};
    return both.value;
}

static float first_of(int code, const struct gpu_quantization *q)
{
    int32_t below = -0x7f800000, above = 0x7f800000;
    while (above - 1 > below) {
        int32_t middle = below + (int32_t)(((int64_t)above - below) / 2);
        if (code_of(in_order(middle), q) >= code)
            above = middle;
        else
            below = middle;
    }
    return in_order(above);
}

static bool plan_from_floats(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y)
{
    const struct gpu_quantization *q = &y->quantization;
    struct gpu_weights *first = gpu_plan_weights(plan, 64);
    if (!first) return false;
    first->exact = true;
    for (int code = -127; code < 128; code++) first->data[code + 128] = first_of(code, q);
    struct gpu_dispatch_desc desc = {
        .kernel = &to_codes,
        .operands = {{.value = x}, {.weights = first}, {.value = y}},
        .params = {{gpu_float_bits(1 / q->scale), gpu_code_zero(q)}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan_quantize(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    if (!x->codes) return plan_from_floats(plan, x, y);
    struct hl_rescale rescale = hl_rescale_from((double)x->quantization.scale / (double)y->quantization.scale);
    int zero_x = gpu_code_zero(&x->quantization), zero_y = gpu_code_zero(&y->quantization);
    int8_t table[256];
    for (int code = -128; code < 128; code++) {
        int64_t moved = (int64_t)hl_rescale_apply(code - zero_x, rescale) + zero_y;
        table[(uint8_t)code] = (int8_t)(moved < -128 ? -128 : moved > 127 ? 127 : moved);
    }
    return gpu_plan_lookup(plan, x, y, table);
}

const struct gpu_op gpu_integer_quantize = {
    GPU_INTEGER_OP("QUANTIZE", 6), .operands = {.inputs = {1}, .any_rank = true}, .supported = supported_quantize,
    .plan = plan_quantize,         GPU_KERNELS(&to_codes, &gpu_kernel_lookup),
};

// ---- DEQUANTIZE ---------------------------------------------------------------------------------

static bool supported_dequantize(const struct gpu_node_view *view)
{
    return gpu_check_like_floats(view) && gpu_check_codes(view, 0);
}

static bool plan_dequantize(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_dispatch_desc desc = {
        .kernel = &to_floats,
        .operands = {{.value = x}, {.value = y}},
        .params = {{gpu_float_bits(x->quantization.scale), gpu_code_zero(&x->quantization)}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_integer_dequantize = {
    GPU_INTEGER_OP("DEQUANTIZE", 9),   .operands = {.inputs = {1}, .any_rank = true},
    .supported = supported_dequantize, .plan = plan_dequantize,
    GPU_KERNELS(&to_floats),
};
