// SPDX-License-Identifier: Apache-2.0
// Functions of one element: activations, roots, logarithms, rounding. Most of them are stages of an epilogue
// (gpu/lang/epilogue.def). The node that produces their input applies them, or a copy does where that node cannot. The
// others share one kernel, in which the function is a constant of the program.
#include "gpu/ops/stages.h"
#include "tensorflow/lite/builtin_ops.h"

#define FUNCTIONS(X) X(LOG) X(SIN) X(COS) X(SIGN) X(FLOOR) X(CEIL) X(ROUND)
enum function { FUNCTIONS(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// The kernel computes in floats in all precisions. Each value is loaded and stored once, so that half arithmetic would
// save next to nothing.
static const struct gpu_kernel kernel = {
    .name = "unary",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"FUNCTION", LOG}),
    .value_names = {FUNCTIONS(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        float4 v = to_acc4(read_x(p));
        if (FUNCTION == LOG) v = log(v);
        if (FUNCTION == SIN) v = sin(v);
        if (FUNCTION == COS) v = cos(v);
        if (FUNCTION == SIGN) {
            v.x = pick(v.x > 0.0f, 1.0f, pick(v.x < 0.0f, -1.0f, v.x));
            v.y = pick(v.y > 0.0f, 1.0f, pick(v.y < 0.0f, -1.0f, v.y));
            v.z = pick(v.z > 0.0f, 1.0f, pick(v.z < 0.0f, -1.0f, v.z));
            v.w = pick(v.w > 0.0f, 1.0f, pick(v.w < 0.0f, -1.0f, v.w));
        }
        if (FUNCTION == FLOOR) v = floor(v);
        if (FUNCTION == CEIL) v = ceil(v);
        if (FUNCTION == ROUND) v = round_even(v);
        write_y(p, finish(to_real4(v), p));
    ),
};
// clang-format on

// ---- those that are stages ----------------------------------------------------------------------

static void own_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    enum gpu_epilogue_op op;
    float a = 0, b = 0;
    switch (node->builtin) {
    case kTfLiteBuiltinRelu: op = GPU_EPI_RELU; break;
    case kTfLiteBuiltinRelu6: op = GPU_EPI_RELU6; break;
    case kTfLiteBuiltinReluN1To1: op = GPU_EPI_RELU_N1_TO_1; break;
    case kTfLiteBuiltinRelu0To1: op = GPU_EPI_CLAMP, b = 1; break;
    case kTfLiteBuiltinTanh: op = GPU_EPI_TANH; break;
    case kTfLiteBuiltinLogistic: op = GPU_EPI_SIGMOID; break;
    case kTfLiteBuiltinHardSwish: op = GPU_EPI_HARD_SWISH; break;
    case kTfLiteBuiltinLeakyRelu:
        op = GPU_EPI_LEAKY_RELU;
        a = node->params ? ((const TfLiteLeakyReluParams *)node->params)->alpha : 0;
        break;
    case kTfLiteBuiltinElu: op = GPU_EPI_ELU; break;
    case kTfLiteBuiltinExp: op = GPU_EPI_EXP; break;
    case kTfLiteBuiltinSqrt: op = GPU_EPI_SQRT; break;
    case kTfLiteBuiltinRsqrt: op = GPU_EPI_RSQRT; break;
    case kTfLiteBuiltinSquare: op = GPU_EPI_SQUARE; break;
    case kTfLiteBuiltinAbs: op = GPU_EPI_ABS; break;
    case kTfLiteBuiltinGelu: {
        const TfLiteGeluParams *params = node->params;
        op = params && params->approximate ? GPU_EPI_GELU_TANH : GPU_EPI_GELU;
        break;
    }
    default: op = GPU_EPI_NEG;
    }
    stage->count = 1;
    stage->stages[0].op = op;
    stage->stages[0].a = a;
    stage->stages[0].b = b;
}

// The CPU refuses roots of negative 8-bit numbers.
static bool check_roots(const struct gpu_node *node, struct gpu_value_check *check)
{
    const struct gpu_value *x = node->inputs[0];
    const struct gpu_quantization *q = &x->quantization;
    bool root = node->builtin == kTfLiteBuiltinSqrt || node->builtin == kTfLiteBuiltinRsqrt;
    *check = (struct gpu_value_check){.rule = GPU_CHECK_NOT_NEGATIVE, .input = 0, .value = x};
    return root && q->scale != 0 && q->zero_point > (q->type == kTfLiteInt8 ? -128 : 0);
}

static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    struct gpu_value_check check;
    if (check_roots(node, &check)) return false; // a stage has no input in memory that the host could check
    own_stage(node, stage);
    return true;
}

static bool stage_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_epilogue own = {0};
    own_stage(node, &own);
    return gpu_plan_stage(plan, node, &own);
}

// ---- those with the kernel above ----------------------------------------------------------------

static enum function function_of(const struct gpu_node *node)
{
    switch (node->builtin) {
    case kTfLiteBuiltinSin: return SIN;
    case kTfLiteBuiltinCos: return COS;
    case kTfLiteBuiltinSign: return SIGN;
    case kTfLiteBuiltinFloor: return FLOOR;
    case kTfLiteBuiltinCeil: return CEIL;
    case kTfLiteBuiltinRound: return ROUND;
    default: return LOG;
    }
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .constants = {{"FUNCTION", (int)function_of(node)}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

// ---- rows ---------------------------------------------------------------------------------------

static bool neg_supported(const struct gpu_node_view *view)
{
    return gpu_check_no_codes(view, 0) && gpu_check_same_dims(view);
}

static const struct gpu_kernel *const unary_kernels[] = {&kernel, NULL};
static const struct gpu_kernel *const stage_kernels[] = {GPU_STAGES_KERNELS, NULL};

#define UNARY(symbol, text, version, size, supports, planned, stage, listed)              \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                  \
                                           .max_version = version,                        \
                                           .operands = {.inputs = {1}, .any_rank = true}, \
                                           .supported = supports,                         \
                                           .plan = planned,                               \
                                           .epilogue = true,                              \
                                           .as_stage = stage,                             \
                                           .check = check_roots,                          \
                                           .bytes = GPU_BYTES_COMPUTED,                   \
                                           .rank_blind = true,                            \
                                           .axes = GPU_AXES_NONE,                         \
                                           .kernels = listed,                             \
                                           .params_size = size};
#define STAGE(symbol, text, version, size) \
    UNARY(symbol, text, version, size, gpu_check_same_dims, stage_plan, as_stage, stage_kernels)
STAGE(relu, "RELU", 3, 0)
STAGE(relu6, "RELU6", 3, 0)
STAGE(relu_n1_to_1, "RELU_N1_TO_1", 2, 0)
STAGE(relu_0_to_1, "RELU_0_TO_1", 2, 0)
STAGE(tanh, "TANH", 3, 0)
STAGE(logistic, "LOGISTIC", 3, 0)
STAGE(hard_swish, "HARD_SWISH", 2, 0)
STAGE(leaky_relu, "LEAKY_RELU", 2, sizeof(TfLiteLeakyReluParams))
STAGE(elu, "ELU", 2, 0)
STAGE(exp, "EXP", 2, 0)
STAGE(sqrt, "SQRT", 2, 0)
STAGE(rsqrt, "RSQRT", 3, 0)
STAGE(square, "SQUARE", 2, 0)
STAGE(abs, "ABS", 5, 0)
STAGE(gelu, "GELU", 3, sizeof(TfLiteGeluParams))
UNARY(neg, "NEG", 2, 0, neg_supported, stage_plan, as_stage, stage_kernels)

#define FUNCTION(symbol, text, version, size) \
    UNARY(symbol, text, version, size, gpu_check_same_dims, plan, NULL, unary_kernels)
FUNCTION(log, "LOG", 2, 0)
FUNCTION(sin, "SIN", 2, 0)
FUNCTION(cos, "COS", 2, 0)
FUNCTION(sign, "SIGN", 2, 0)
FUNCTION(floor, "FLOOR", 2, 0)
FUNCTION(ceil, "CEIL", 2, 0)
FUNCTION(round, "ROUND", 2, 0)
