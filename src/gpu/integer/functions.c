// SPDX-License-Identifier: Apache-2.0
// Functions of single 8-bit elements as tables: LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU and the rectifiers. Each entry
// is computed as the CPU's reference kernel does it, in the same types and with the same functions of the C library.
#include <math.h>
#include <stdlib.h>

#include "gpu/integer/integer.h"
#include "tensorflow/lite/builtin_ops.h"

static int8_t clamped(int64_t code)
{
    return (int8_t)(code < -128 ? -128 : code > 127 ? 127 : code);
}

// ---- functions of real numbers ------------------------------------------------------------------

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static void fill_real(const struct gpu_node *node, int8_t table[256])
{
    const struct gpu_quantization *x = &node->inputs[0]->quantization, *y = &node->outputs[0]->quantization;
    float (*function)(float) = node->builtin == kTfLiteBuiltinTanh ? tanhf : sigmoid;
    float inverse_scale = 1 / y->scale;
    for (int code = -128; code < 128; code++) {
        float result = roundf(function(x->scale * (float)(code - gpu_code_zero(x))) * inverse_scale);
        double moved = (double)result + gpu_code_zero(y);
        table[(uint8_t)code] = (int8_t)(moved > -128 ? moved < 127 ? moved : 127 : -128);
    }
}

// ---- HARD_SWISH, in 16 bits ---------------------------------------------------------------------

enum { FINE_BITS = 7 };

// A real number as multiplier * 2^(shift - 15).
struct word_rescale {
    int32_t multiplier;
    int shift;
};

static struct word_rescale word_rescale_from(double real)
{
    struct hl_rescale wide = hl_rescale_from(real);
    bool largest = wide.multiplier >= INT32_MAX - (1 << 15);
    return (struct word_rescale){largest ? INT16_MAX : (wide.multiplier + (1 << 15)) >> 16, wide.shift};
}

static int32_t saturated(int64_t value)
{
    return (int32_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

// The high half of 2ab, rounded half up.
static int32_t word_product(int32_t a, int32_t b)
{
    return saturated((a * b + (1 << 14)) >> 15);
}

static struct word_rescale to_output_of(float x_scale, float y_scale)
{
    float fine_scale = 1.0f / (1 << FINE_BITS) * x_scale;
    return word_rescale_from((double)(fine_scale / y_scale));
}

static void fill_hard_swish(const struct gpu_node *node, int8_t table[256])
{
    const struct gpu_quantization *x = &node->inputs[0]->quantization, *y = &node->outputs[0]->quantization;
    float fine_scale = 1.0f / (1 << FINE_BITS) * x->scale, gate_scale = 3.0f / 32768;
    struct word_rescale output = to_output_of(x->scale, y->scale);
    struct word_rescale to_gate = word_rescale_from((double)(fine_scale / gate_scale));
    for (int code = -128; code < 128; code++) {
        int32_t fine = (code - gpu_code_zero(x)) * (1 << FINE_BITS), gate = fine;
        int32_t scaled = word_product(fine, output.multiplier);
        // A gate that grows saturates before the multiplication by all bits but one, and after it by the last.
        if (to_gate.shift > 0) gate = saturated((int64_t)gate * (INT64_C(1) << (to_gate.shift - 1)));
        gate = word_product(gate, to_gate.multiplier);
        if (to_gate.shift > 0) gate = saturated((int64_t)gate * 2);
        if (to_gate.shift < 0) gate = hl_shift_right_round(gate, -to_gate.shift);
        gate = (gate + (1 << 15)) >> 1; // from [-3, 3] to [0, 1]
        int32_t product = saturated((int64_t)scaled * gate / (1 << 15));
        table[(uint8_t)code] = clamped((int64_t)hl_shift_right_round(product, -output.shift) + gpu_code_zero(y));
    }
}

// ---- rectifiers ---------------------------------------------------------------------------------

static struct gpu_code_range range_of(int builtin, const struct gpu_quantization *q)
{
    switch (builtin) {
    case kTfLiteBuiltinRelu6: return gpu_code_range(kTfLiteActRelu6, q);
    case kTfLiteBuiltinReluN1To1: return gpu_code_range(kTfLiteActReluN1To1, q);
    case kTfLiteBuiltinRelu0To1:
        return (struct gpu_code_range){gpu_code_range(kTfLiteActRelu, q).low,
                                       gpu_code_range(kTfLiteActReluN1To1, q).high};
    default: return gpu_code_range(kTfLiteActRelu, q);
    }
}

static void fill_rectifier(const struct gpu_node *node, int8_t table[256])
{
    const struct gpu_quantization *x = &node->inputs[0]->quantization, *y = &node->outputs[0]->quantization;
    struct hl_rescale rescale = hl_rescale_from((double)(x->scale / y->scale));
    struct gpu_code_range range = range_of(node->builtin, y);
    for (int code = -128; code < 128; code++) {
        int64_t moved = (int64_t)hl_rescale_apply(code - gpu_code_zero(x), rescale) + gpu_code_zero(y);
        table[(uint8_t)code] = (int8_t)(moved < range.low ? range.low : moved > range.high ? range.high : moved);
    }
}

static void fill_leaky(const struct gpu_node *node, int8_t table[256])
{
    const struct gpu_quantization *x = &node->inputs[0]->quantization, *y = &node->outputs[0]->quantization;
    const TfLiteLeakyReluParams *params = node->params;
    float slope = x->scale * params->alpha / y->scale;
    struct hl_rescale positive = hl_rescale_from((double)(x->scale / y->scale));
    struct hl_rescale negative = hl_rescale_from((double)fabsf(slope));
    if (slope < 0) negative.multiplier = -negative.multiplier;
    for (int code = -128; code < 128; code++) {
        int value = code - gpu_code_zero(x);
        int64_t moved = hl_rescale_apply(value, value >= 0 ? positive : negative);
        table[(uint8_t)code] = clamped(moved + gpu_code_zero(y));
    }
}

// ---- the operators ------------------------------------------------------------------------------

static bool supported(const struct gpu_node_view *view)
{
    return gpu_check_like_floats(view) && gpu_check_unary_codes(view);
}

static bool supported_hard_swish(const struct gpu_node_view *view)
{
    if (!supported(view)) return false;
    float x = gpu_view_input(view, 0)->params.scale, y = gpu_view_output(view, 0)->params.scale;
    return to_output_of(x, y).shift <= 0 ||
           gpu_refuse(view, DELEGATE_QUANTIZATION, -1, "exact integers: the output's scale is too small");
}

#define FUNCTION(symbol, text, version, fill, supported_, ...)                                 \
    static bool plan_##symbol(struct gpu_plan *plan, const struct gpu_node *node)              \
    {                                                                                          \
        int8_t table[256];                                                                     \
        fill(node, table);                                                                     \
        return gpu_plan_lookup(plan, node->inputs[0], node->outputs[0], table);                \
    }                                                                                          \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, version),                 \
                                                .operands = {.inputs = {1}, .any_rank = true}, \
                                                .supported = supported_,                       \
                                                .plan = plan_##symbol,                         \
                                                GPU_KERNELS(&gpu_kernel_lookup),               \
                                                __VA_ARGS__};
FUNCTION(logistic, "LOGISTIC", 3, fill_real, supported, .params_size = 0)
FUNCTION(tanh, "TANH", 3, fill_real, supported, .params_size = 0)
FUNCTION(hard_swish, "HARD_SWISH", 2, fill_hard_swish, supported_hard_swish, .params_size = 0)
FUNCTION(relu, "RELU", 3, fill_rectifier, supported, .params_size = 0)
FUNCTION(relu6, "RELU6", 3, fill_rectifier, supported, .params_size = 0)
FUNCTION(relu_n1_to_1, "RELU_N1_TO_1", 2, fill_rectifier, supported, .params_size = 0)
FUNCTION(relu_0_to_1, "RELU_0_TO_1", 2, fill_rectifier, supported, .params_size = 0)
FUNCTION(leaky_relu, "LEAKY_RELU", 2, fill_leaky, supported, GPU_PARAMS(TfLiteLeakyReluParams))
