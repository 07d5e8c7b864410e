// SPDX-License-Identifier: Apache-2.0
// ADD, SUB, MUL, MAXIMUM and MINIMUM of 8-bit tensors, with broadcasting. Sums bring both operands to one scale in
// fixed point, 20 bits finer, and their sum to the output's; products go there at once. The larger and the smaller of
// two codes need no scale.
#include <math.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "gpu/integer/integer.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define FUNCTIONS(X) X(ADD) X(SUB) X(MUL) X(MAXIMUM) X(MINIMUM)
enum function { FUNCTIONS(GPU_VALUE) };
#define EACH(NUMBER) \
    int u##NUMBER = byte_of(four_a, pick(STRETCH_A == 1, 0, NUMBER)); \
    int v##NUMBER = byte_of(four_b, pick(STRETCH_B == 1, 0, NUMBER)); \
    int r##NUMBER = max(u##NUMBER, v##NUMBER); \
    if (FUNCTION == MINIMUM) r##NUMBER = min(u##NUMBER, v##NUMBER); \
    if (FUNCTION <= MUL) { \
        int a##NUMBER = u##NUMBER - P_first.x; \
        int b##NUMBER = v##NUMBER - P_second.x; \
        if (FUNCTION == MUL) { \
            r##NUMBER = a##NUMBER * b##NUMBER; \
        } else { \
            a##NUMBER = rescale(a##NUMBER * 1048576, P_first.y, P_first.z); \
            b##NUMBER = rescale(b##NUMBER * 1048576, P_second.y, P_second.z); \
            r##NUMBER = pick(FUNCTION == ADD, a##NUMBER + b##NUMBER, a##NUMBER - b##NUMBER); \
        } \
        r##NUMBER = stored(rescale(r##NUMBER, P_result.y, P_result.z), P_result.x, P_range.x, P_range.y); \
    }

static const struct gpu_kernel kernel = {
    .name = "binary_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "left"}, {GPU_CODES_IN, "right"}, {GPU_CODES_OUT, "y"}},
    .params = {"first", "second", "result", "range"}, // zero point, multiplier, shift of each
    GPU_CONSTANTS({"FUNCTION", ADD}, {"STRETCH_A", 0}, {"STRETCH_B", 0}), // STRETCH: one channel for all
    .value_names = {FUNCTIONS(GPU_VALUE_NAME)},
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int four_a = read_left(mki4(min(p.x, left_w - 1), min(p.y, left_h - 1), min(p.z, left_s - 1),
                                   min(p.w, left_b - 1)));
        int four_b = read_right(mki4(min(p.x, right_w - 1), min(p.y, right_h - 1), min(p.z, right_s - 1),
                                    min(p.w, right_b - 1)));
        EACH(0) EACH(1) EACH(2) EACH(3)
        write_y(p, pack_bytes(r0, r1, r2, r3));
    ),
};
// clang-format on

static enum function function_of(int builtin)
{
    switch (builtin) {
    case kTfLiteBuiltinSub: return SUB;
    case kTfLiteBuiltinMul: return MUL;
    case kTfLiteBuiltinMaximum: return MAXIMUM;
    case kTfLiteBuiltinMinimum: return MINIMUM;
    default: return ADD;
    }
}

// The rescales of two operands and of the result, as the CPU computes them.
struct rescales {
    struct hl_rescale a, b, y;
    double result;
};

static struct rescales rescales_of(enum function function, float a, float b, float y)
{
    double common = 2 * fmax((double)a, (double)b);
    if (function == MUL) {
        float product = a * b; // in float, as the original
        double result = (double)(product / y);
        return (struct rescales){.y = hl_rescale_from(result), .result = 0};
    }
    double result = common / ldexp((double)y, 20);
    return (struct rescales){hl_rescale_from((double)a / common), hl_rescale_from((double)b / common),
                             hl_rescale_from(result), result};
}

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view)) return false;
    const TfLiteTensor *a = gpu_view_input(view, 0), *b = gpu_view_input(view, 1), *y = gpu_view_output(view, 0);
    for (int i = -1; i < 2; i++)
        if (!gpu_check_codes(view, i)) return false;
    if (a->type != b->type || a->type != y->type)
        return gpu_refuse(view, DELEGATE_TYPE, 1, "exact integers: operands of different types");
    enum function function = function_of(view->registration->builtin_code);
    if (function > MUL) return true;
    struct rescales rescales = rescales_of(function, gpu_affine_of(a)->scale->data[0], gpu_affine_of(b)->scale->data[0],
                                           gpu_affine_of(y)->scale->data[0]);
    return rescales.result < 1 ||
           gpu_refuse(view, DELEGATE_QUANTIZATION, -1, "exact integers: the output's scale is too small");
}

// The shape of an operand as it is broadcast to a rank.
static struct gpu_shape aligned(const struct gpu_value *value, int rank)
{
    int dims[GPU_MAX_RANK], skipped = rank - value->rank;
    for (int i = 0; i < rank; i++) dims[i] = i < skipped ? 1 : value->dims[i - skipped];
    return gpu_shape_from(rank, dims);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
    const struct gpu_quantization *qa = &a->quantization, *qb = &b->quantization, *qy = &y->quantization;
    struct gpu_shape first = aligned(a, y->rank), second = aligned(b, y->rank);
    enum function function = function_of(node->builtin);
    struct rescales rescales = rescales_of(function, qa->scale, qb->scale, qy->scale);
    struct gpu_code_range range = gpu_code_range(gpu_fused_activation(node->op, node->params), qy);
    if (!(a = gpu_plan_seen_as(plan, a, first)) || !(b = gpu_plan_seen_as(plan, b, second))) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = a}, {.value = b}, {.value = y}},
        .views = {first, second},
        .params = {{gpu_code_zero(qa), rescales.a.multiplier, rescales.a.shift},
                   {gpu_code_zero(qb), rescales.b.multiplier, rescales.b.shift},
                   {gpu_code_zero(qy), rescales.y.multiplier, rescales.y.shift},
                   {range.low, range.high}},
        .constants = {{"FUNCTION", function},
                      {"STRETCH_A", first.c == 1 && y->shape.c > 1},
                      {"STRETCH_B", second.c == 1 && y->shape.c > 1}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

#define BINARY(symbol, text, version, ...)                                                       \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, version),                   \
                                                .operands = {.inputs = {2}, .any_rank = true},   \
                                                .supported = supported,                          \
                                                .plan = plan,                                    \
                                                GPU_KERNELS(&kernel, &gpu_kernel_reshape_codes), \
                                                __VA_ARGS__};
BINARY(add, "ADD", 6, GPU_PARAMS_ACTIVATION(TfLiteAddParams))
BINARY(sub, "SUB", 5, GPU_PARAMS_ACTIVATION(TfLiteSubParams))
BINARY(mul, "MUL", 8, GPU_PARAMS_ACTIVATION(TfLiteMulParams))
BINARY(maximum, "MAXIMUM", 4, .params_size = 0)
BINARY(minimum, "MINIMUM", 4, .params_size = 0)
