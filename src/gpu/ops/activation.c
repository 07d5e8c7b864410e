// SPDX-License-Identifier: Apache-2.0
// Functions of one element: activations, roots, logarithms, rounding. One kernel for all of them, the function a
// constant of the program; those that the epilogue knows can become a stage of their producer instead.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// What the kernel's constant FUNCTION stands for; the text below has the numbers.
enum function {
    RELU,
    RELU6,
    RELU_N1_TO_1,
    RELU_0_TO_1,
    TANH,
    LOGISTIC,
    HARD_SWISH,
    LEAKY_RELU,
    ELU,
    EXP,
    SQRT,
    RSQRT,
    SQUARE,
    ABS,
    NEG,
    LOG,
    SIN,
    COS,
    GELU,
    GELU_TANH,
    SIGN,
    FLOOR,
    CEIL,
    ROUND,
};

// GELU of minus infinity is the product of an infinity and zero, as on the CPU: NaN.
#define GELU_LANE(NAME) v.NAME = pick(float_to_bits(v.NAME) == -8388608, bits_to_float(2143289344), z.NAME);
#define GELU_LANES GELU_LANE(x) GELU_LANE(y) GELU_LANE(z) GELU_LANE(w)
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

// Always in float: the values are loaded and stored once, so that half arithmetic would save next to nothing.
// GELU's erf is the rational approximation 7.1.26 of Abramowitz and Stegun, off by at most 1.5e-7.
static const struct gpu_kernel kernel = {
    .name = "unary",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"slope"},
    .constants = {{"FUNCTION", RELU}},
    .epilogue = true,
    .body = TEXT_OF(
        int4 p = position(); if (outside_y(p)) return; float4 v = to_acc4(read_x(p)); float4 zero = splatf4(0.0f);
        float4 one = splatf4(1.0f); if (FUNCTION == 0) v = at_least(v, zero);
        if (FUNCTION == 1) v = at_most(at_least(v, zero), splatf4(6.0f));
        if (FUNCTION == 2) v = at_most(at_least(v, splatf4(-1.0f)), one);
        if (FUNCTION == 3) v = at_most(at_least(v, zero), one); if (FUNCTION == 4) v = tanh(v);
        if (FUNCTION == 5) v = one / (exp(at_most(-v, splatf4(80.0f))) + one);
        if (FUNCTION == 6) v = v * min(max(v + splatf4(3.0f), zero), splatf4(6.0f)) * (1.0f / 6.0f);
        if (FUNCTION == 7) v = at_least(v, zero) + at_most(v, zero) * bits_to_float(P_slope.x);
        if (FUNCTION == 8) v = at_least(v, zero) + (exp(at_most(v, zero)) - one); if (FUNCTION == 9) v = exp(v);
        if (FUNCTION == 10) v = sqrt(v); if (FUNCTION == 11) v = rsqrt(v); if (FUNCTION == 12) v = v * v;
        if (FUNCTION == 13) v = abs(v); if (FUNCTION == 14) v = -v; if (FUNCTION == 15) v = log(v);
        if (FUNCTION == 16) v = sin(v); if (FUNCTION == 17) v = cos(v); if (FUNCTION == 18) {
            float4 z = abs(v) * 0.70710678f;
            float4 t = one / (one + z * 0.3275911f);
            float4 sum = t * 1.061405429f + splatf4(-1.453152027f);
            sum = sum * t + splatf4(1.421413741f);
            sum = sum * t + splatf4(-0.284496736f);
            sum = sum * t + splatf4(0.254829592f);
            float4 tail = sum * t * exp(max(-(z * z), splatf4(-80.0f)));
            z = at_least(v, zero) - at_most(abs(v), splatf4(80.0f)) * tail * 0.5f;
            GELU_LANES
        } if (FUNCTION == 19) {
            float4 z = (v + v * v * v * 0.044715f) * 0.79788456f;
            z = at_least(v, splatf4(-80.0f)) / (exp(at_most(z * -2.0f, splatf4(80.0f))) + one); // (1 + tanh(z)) / 2
            GELU_LANES
        } if (FUNCTION == 20) {
            v.x = pick(v.x > 0.0f, 1.0f, pick(v.x < 0.0f, -1.0f, v.x));
            v.y = pick(v.y > 0.0f, 1.0f, pick(v.y < 0.0f, -1.0f, v.y));
            v.z = pick(v.z > 0.0f, 1.0f, pick(v.z < 0.0f, -1.0f, v.z));
            v.w = pick(v.w > 0.0f, 1.0f, pick(v.w < 0.0f, -1.0f, v.w));
        } if (FUNCTION == 21) v = floor(v);
        if (FUNCTION == 22) v = ceil(v); if (FUNCTION == 23) v = round_even(v); write_y(p, finish(to_real4(v), p));),
};
// ---- nodes --------------------------------------------------------------------------------------

static bool supported(const struct gpu_node_view *view)
{
    bool by_codes = view->registration->builtin_code == kTfLiteBuiltinNeg;
    return (!by_codes || gpu_check_no_codes(view, 0)) && gpu_check_same_dims(view);
}

static enum function function_of(const struct gpu_node *node)
{
    switch (node->builtin) {
    case kTfLiteBuiltinRelu6: return RELU6;
    case kTfLiteBuiltinReluN1To1: return RELU_N1_TO_1;
    case kTfLiteBuiltinRelu0To1: return RELU_0_TO_1;
    case kTfLiteBuiltinTanh: return TANH;
    case kTfLiteBuiltinLogistic: return LOGISTIC;
    case kTfLiteBuiltinHardSwish: return HARD_SWISH;
    case kTfLiteBuiltinLeakyRelu: return LEAKY_RELU;
    case kTfLiteBuiltinElu: return ELU;
    case kTfLiteBuiltinExp: return EXP;
    case kTfLiteBuiltinSqrt: return SQRT;
    case kTfLiteBuiltinRsqrt: return RSQRT;
    case kTfLiteBuiltinSquare: return SQUARE;
    case kTfLiteBuiltinAbs: return ABS;
    case kTfLiteBuiltinNeg: return NEG;
    case kTfLiteBuiltinLog: return LOG;
    case kTfLiteBuiltinSin: return SIN;
    case kTfLiteBuiltinCos: return COS;
    case kTfLiteBuiltinGelu:
        return node->params && ((const TfLiteGeluParams *)node->params)->approximate ? GELU_TANH : GELU;
    case kTfLiteBuiltinSign: return SIGN;
    case kTfLiteBuiltinFloor: return FLOOR;
    case kTfLiteBuiltinCeil: return CEIL;
    case kTfLiteBuiltinRound: return ROUND;
    default: return RELU;
    }
}

static float slope_of(const struct gpu_node *node)
{
    return node->builtin == kTfLiteBuiltinLeakyRelu && node->params
               ? ((const TfLiteLeakyReluParams *)node->params)->alpha
               : 0;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(slope_of(node))}},
        .constants = {{"FUNCTION", (int)function_of(node)}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    static const enum gpu_epilogue_op stages[ROUND + 1] = {
        [RELU] = GPU_EPI_RELU,
        [RELU6] = GPU_EPI_RELU6,
        [RELU_N1_TO_1] = GPU_EPI_RELU_N1_TO_1,
        [RELU_0_TO_1] = GPU_EPI_CLAMP,
        [TANH] = GPU_EPI_TANH,
        [LOGISTIC] = GPU_EPI_SIGMOID,
        [HARD_SWISH] = GPU_EPI_HARD_SWISH,
        [LEAKY_RELU] = GPU_EPI_LEAKY_RELU,
        [ELU] = GPU_EPI_ELU,
        [EXP] = GPU_EPI_EXP,
        [SQRT] = GPU_EPI_SQRT,
        [RSQRT] = GPU_EPI_RSQRT,
        [SQUARE] = GPU_EPI_SQUARE,
        [ABS] = GPU_EPI_ABS,
        [NEG] = GPU_EPI_NEG,
    };
    enum function function = function_of(node);
    if (stages[function] == GPU_EPI_NONE) return false;
    stage->stages[0].op = stages[function];
    stage->stages[0].a = slope_of(node);
    if (function == RELU_0_TO_1) stage->stages[0].b = 1; // CLAMP from a = 0
    stage->count = 1;
    return true;
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
#define UNARY(symbol, text, version, size)                                                \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                  \
                                           .max_version = version,                        \
                                           .operands = {.inputs = {1}, .any_rank = true}, \
                                           .supported = supported,                        \
                                           .plan = plan,                                  \
                                           .params_size = size,                           \
                                           .epilogue = true,                              \
                                           .as_stage = as_stage,                          \
                                           .bytes = GPU_BYTES_COMPUTED,                   \
                                           .rank_blind = true,                            \
                                           .axes = GPU_AXES_NONE,                         \
                                           .kernels = kernels};
UNARY(relu, "RELU", 3, 0)
UNARY(relu6, "RELU6", 3, 0)
UNARY(relu_n1_to_1, "RELU_N1_TO_1", 2, 0)
UNARY(relu_0_to_1, "RELU_0_TO_1", 2, 0)
UNARY(tanh, "TANH", 3, 0)
UNARY(logistic, "LOGISTIC", 3, 0)
UNARY(hard_swish, "HARD_SWISH", 2, 0)
UNARY(leaky_relu, "LEAKY_RELU", 2, sizeof(TfLiteLeakyReluParams))
UNARY(elu, "ELU", 2, 0)
UNARY(exp, "EXP", 2, 0)
UNARY(sqrt, "SQRT", 2, 0)
UNARY(rsqrt, "RSQRT", 3, 0)
UNARY(square, "SQUARE", 2, 0)
UNARY(abs, "ABS", 5, 0)
UNARY(neg, "NEG", 2, 0)
UNARY(log, "LOG", 2, 0)
UNARY(sin, "SIN", 2, 0)
UNARY(cos, "COS", 2, 0)
UNARY(gelu, "GELU", 3, sizeof(TfLiteGeluParams))
UNARY(sign, "SIGN", 2, 0)
UNARY(floor, "FLOOR", 2, 0)
UNARY(ceil, "CEIL", 2, 0)
UNARY(round, "ROUND", 2, 0)
