// SPDX-License-Identifier: Apache-2.0
// y = f(a, b) with broadcasting: ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE POW FLOOR_DIV FLOOR_MOD PRELU
// ATAN2, and ADD_N as a chain of sums. Comparisons, LOGICAL_AND and LOGICAL_OR give 0 or 1. One kernel takes two
// values. The other takes a value and a constant, which is stored among the weights in its own smaller shape. A sum or
// product with one number becomes a stage of the node that computes the other operand.
#include <math.h>
#include <stdlib.h>

#include "gpu/graph/convert.h"
#include "gpu/ops/reshape.h"
#include "gpu/ops/stages.h"
#include "tensorflow/lite/builtin_ops.h"

// LOGICAL_AND and LOGICAL_OR are MUL and MAXIMUM of zeros and ones.
// clang-format off
#define FUNCTIONS(X)                                                                      \
    X(ADD) X(SUB) X(MUL) X(DIV) X(MAXIMUM) X(MINIMUM) X(SQUARED_DIFFERENCE) X(POW)        \
    X(FLOOR_DIV) X(FLOOR_MOD) X(PRELU) X(EQUAL) X(NOT_EQUAL) X(LESS) X(LESS_EQUAL)        \
    X(GREATER) X(GREATER_EQUAL) X(ATAN2)
// clang-format on
enum function { FUNCTIONS(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define LANES(ONE) ONE(x) ONE(y) ONE(z) ONE(w)
#define PER_LANE(OP)                                                                   \
    u = mkf4(pick(u.x OP v.x, 1.0f, 0.0f), pick(u.y OP v.y, 1.0f, 0.0f),                \
             pick(u.z OP v.z, 1.0f, 0.0f), pick(u.w OP v.w, 1.0f, 0.0f));
// The angle of (v, u), with the results of atan2 in C for zeros of either sign, infinities and NaN. A polynomial with
// an error of 2^-23 gives the angle of the shorter over the longer side, reduced to at most pi / 8, which is then
// turned into the octant of the point. The functions of the languages may be off by 4096 units in the last place
// (Vulkan).
#define ANGLE(NAME) {                                                                  \
    float up = abs(u.NAME);                                                            \
    float across = abs(v.NAME);                                                        \
    float longer = max(up, across);                                                    \
    float t = pick(longer > 0.0f, min(up, across) / longer, 0.0f);                     \
    t = pick(min(up, across) > 3.4028234e38f, 1.0f, t);                                \
    float from = pick(t > 0.41421356f, 0.78539816f, 0.0f);                             \
    t = pick(t > 0.41421356f, (t - 1.0f) / (t + 1.0f), t);                             \
    float z = t * t;                                                                   \
    float r = ((0.0805374450f * z - 0.138776856f) * z + 0.199777106f) * z - 0.333329492f; \
    r = r * z * t + t + from;                                                          \
    r = pick(up > across, 1.57079633f - r, r);                                         \
    r = pick(float_to_bits(v.NAME) < 0, 3.14159265f - r, r);                           \
    r = pick(float_to_bits(u.NAME) < 0, -r, r);                                        \
    r = pick(is_nan(u.NAME), u.NAME, r);                                              \
    u.NAME = pick(is_nan(v.NAME), v.NAME, r);                                         \
}
// The floor of a / b, found from the remainder of a. A division may be off by 2.5 units in the last place, and gives
// zero if the inverse of b is below 2^-126, which is the case for b above 2^126.
#define WHOLE(NAME) {                                                                  \
    float turned = pick(v.NAME < 0.0f, -1.0f, 1.0f);                                   \
    float a = u.NAME * turned;                                                         \
    float b = v.NAME * turned;                                                         \
    float by = pick(abs(v.NAME) > 1.0e30f, 1.0e-10f, 1.0f);                            \
    float q = floor(u.NAME * by / (v.NAME * by));                                      \
    float below = pick(q * b > a, q - 1.0f, q);                                        \
    q = pick((q + 1.0f) * b <= a, q + 1.0f, below);                                    \
    w.NAME = q;                                                                        \
}
// The remainder of u by v, with the sign of v. Each difference here is exact, whatever the quotient.
#define REST(NAME) {                                                                   \
    float rest = abs(u.NAME);                                                          \
    float by = abs(v.NAME);                                                            \
    int doubled = 0;                                                                   \
    while (by <= rest - by && doubled < 300) {                                         \
        by = by + by;                                                                  \
        doubled += 1;                                                                  \
    }                                                                                  \
    for (int i = 0; i <= doubled; i += 1) {                                            \
        if (rest >= by) rest = rest - by;                                              \
        by = by * 0.5f;                                                                \
    }                                                                                  \
    float signed_rest = pick(u.NAME < 0.0f, -rest, rest);                              \
    if (rest > 0.0f && (u.NAME < 0.0f) != (v.NAME < 0.0f)) signed_rest = signed_rest + v.NAME; \
    w.NAME = pick(v.NAME == 0.0f || is_nan(u.NAME) || is_nan(v.NAME), bits_to_float(0x7fc00000), signed_rest); \
    w.NAME = pick((float_to_bits(u.NAME) & 0x7fffffff) == 0x7f800000, bits_to_float(0x7fc00000), w.NAME); \
}
// A device may multiply by the inverse, which becomes zero if the divisor is above 2^126. Both operands are therefore
// scaled by a power of two, which is exact.
#define QUOTIENT(NAME) {                                                               \
    float by = pick(abs(v.NAME) > 1.0e30f, 1.16415322e-10f, 1.0f);                     \
    u.NAME = u.NAME * by / (v.NAME * by);                                              \
}
#define SLOPED(NAME) u.NAME = pick(u.NAME >= 0.0f, u.NAME, u.NAME * v.NAME);
// Applies the function to the operands u and v, in both kernels.
#define APPLY                                                                          \
    if (FUNCTION == ADD) u = u + v;                                                    \
    if (FUNCTION == SUB) u = u - v;                                                    \
    if (FUNCTION == MUL) u = u * v;                                                    \
    if (FUNCTION == DIV) {                                                             \
        LANES(QUOTIENT)                                                                \
    }                                                                                  \
    if (FUNCTION == MAXIMUM) u = at_least(v, u);                                       \
    if (FUNCTION == MINIMUM) u = at_most(v, u);                                        \
    if (FUNCTION == SQUARED_DIFFERENCE) u = (u - v) * (u - v);                         \
    if (FUNCTION == POW) u = pow_safe(u, v);                                           \
    if (FUNCTION == FLOOR_DIV) {                                                       \
        acc4 w = u;                                                                    \
        LANES(WHOLE)                                                                   \
        u = w;                                                                         \
    }                                                                                  \
    if (FUNCTION == FLOOR_MOD) {                                                       \
        acc4 w = u;                                                                    \
        LANES(REST)                                                                    \
        u = w;                                                                         \
    }                                                                                  \
    if (FUNCTION == PRELU) {                                                           \
        LANES(SLOPED)                                                                  \
    }                                                                                  \
    if (FUNCTION == EQUAL) PER_LANE(==)                                                \
    if (FUNCTION == NOT_EQUAL) PER_LANE(!=)                                            \
    if (FUNCTION == LESS) PER_LANE(<)                                                  \
    if (FUNCTION == LESS_EQUAL) PER_LANE(<=)                                           \
    if (FUNCTION == GREATER) PER_LANE(>)                                               \
    if (FUNCTION == GREATER_EQUAL) PER_LANE(>=)                                        \
    if (FUNCTION == ATAN2) {                                                           \
        LANES(ANGLE)                                                                   \
    }                                                                                  \
    if (LARGEST == 1) u = finite(u);                                                   \
    if (LARGEST == 2) u = at_most(at_least(u, splatf4(-65504.0f)), splatf4(65504.0f)); \
    write_y(p, finish(to_real4(u), p));

// u: the left operand's element for output p, which is the nearest one where it is broadcast.
#define READ_LEFT                                                                                                    \
    int4 p = position();                                                                                             \
    if (outside_y(p)) return;                                                                                        \
    acc4 u = to_acc4(read_left(mki4(min(p.x, left_w - 1), min(p.y, left_h - 1), min(p.z, left_s - 1),                \
                                    min(p.w, left_b - 1))));
#define STRETCH                                                                                                      \
    if (STRETCH_A == 1) u = splatf4(u.x);                                                                            \
    if (STRETCH_B == 1) v = splatf4(v.x);

static const struct gpu_kernel two_values = {
    .name = "binary",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "left"}, {GPU_IN, "right"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"FUNCTION", ADD}, {"STRETCH_A", 0}, {"STRETCH_B", 0}, {"LARGEST", 0}),
    .value_names = {FUNCTIONS(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        READ_LEFT
        acc4 v = to_acc4(read_right(mki4(min(p.x, right_w - 1), min(p.y, right_h - 1), min(p.z, right_s - 1),
                                        min(p.w, right_b - 1))));
        STRETCH
        APPLY
    ),
};

// P_size: w, h, slices and b of the constant.
static const struct gpu_kernel with_constant = {
    .name = "binary_constant",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "left"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .params = {"size"},
    GPU_CONSTANTS({"FUNCTION", ADD}, {"STRETCH_A", 0}, {"STRETCH_B", 0}, {"CONSTANT_FIRST", 0}, {"LARGEST", 0}),
    .value_names = {FUNCTIONS(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        READ_LEFT
        int x = min(p.x, P_size.x - 1);
        int y = min(p.y, P_size.y - 1);
        int s = min(p.z, P_size.z - 1);
        int n = min(p.w, P_size.w - 1);
        acc4 v = to_acc4(k(((n * P_size.z + s) * P_size.y + y) * P_size.x + x));
        STRETCH
        if (CONSTANT_FIRST == 1) {
            acc4 w = u;
            u = v;
            v = w;
        }
        APPLY
    ),
};
// clang-format on
// ---- shapes -------------------------------------------------------------------------------------

// Aligns the axes of an operand to the right of those of the output, and returns them as [b, h, w, c].
static struct gpu_shape aligned(int rank, const int *dims, int output_rank)
{
    int sizes[GPU_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < rank; i++) sizes[output_rank - rank + i] = dims[i];
    return gpu_shape_from(output_rank, sizes);
}

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *output = gpu_view_output(view, 0);
    bool constant = true;
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *input = gpu_view_input(view, i);
        constant = constant && hl_is_constant(input);
        if (input->dims->size > output->dims->size)
            return gpu_refuse(view, DELEGATE_RANK, i, "its rank is above the output's");
        if (!gpu_check_folds(view, i)) return false;
    }
    if (constant) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "all operands are constants");
    return true;
}

// Comparisons of integers stay on the CPU, because floats represent them only up to 2^24. So do those of 8-bit tensors,
// where rounding decides whether two real numbers are equal. The CPU refuses divisors of zero for all operators but
// float DIV and float FLOOR_MOD.
static bool refuses_zero(int builtin, bool quantized)
{
    return builtin == kTfLiteBuiltinFloorDiv || (builtin == kTfLiteBuiltinDiv && quantized);
}

static bool check_divisors(const struct gpu_node *node, struct gpu_value_check *check)
{
    const struct gpu_value *divisors = node->inputs[1];
    *check = (struct gpu_value_check){.rule = GPU_CHECK_NOT_ZERO, .input = 1, .value = divisors};
    return refuses_zero(node->builtin, divisors->quantization.scale != 0);
}

static bool supported_division(const struct gpu_node_view *view)
{
    int builtin = view->registration->builtin_code;
    const TfLiteTensor *divisors = gpu_view_input(view, 1);
    bool bytes = divisors->type != kTfLiteFloat32 && divisors->type != kTfLiteFloat16;
    if (builtin != kTfLiteBuiltinDiv && !gpu_check_no_codes(view, 0)) return false;
    if (!supported(view)) return false;
    if (!hl_is_constant(divisors) || !refuses_zero(builtin, bytes)) return true;
    int64_t count = hl_elements(divisors), i = 0;
    float *reals = malloc((size_t)count * sizeof *reals);
    bool read = reals && gpu_floats_from(divisors, reals);
    while (read && i < count && reals[i] != 0) i++;
    free(reals);
    return (read && i == count) || gpu_refuse(view, DELEGATE_PARAMETER, 1, "a divisor is zero");
}

static bool supported_comparison(const struct gpu_node_view *view)
{
    if (!supported(view)) return false;
    for (int i = 0; i < 2; i++) {
        TfLiteType type = gpu_view_input(view, i)->type;
        if (type != kTfLiteFloat32 && type != kTfLiteFloat16 && type != kTfLiteBool)
            return gpu_refuse(view, DELEGATE_TYPE, i, "integers are not compared on the GPU");
    }
    return true;
}

// ---- plan ---------------------------------------------------------------------------------------

static int function_of(const struct gpu_node *node)
{
    switch (node->builtin) {
    case kTfLiteBuiltinSub: return SUB;
    case kTfLiteBuiltinMul: return MUL;
    case kTfLiteBuiltinDiv: return DIV;
    case kTfLiteBuiltinMaximum: return MAXIMUM;
    case kTfLiteBuiltinMinimum: return MINIMUM;
    case kTfLiteBuiltinSquaredDifference: return SQUARED_DIFFERENCE;
    case kTfLiteBuiltinPow: return POW;
    case kTfLiteBuiltinFloorDiv: return FLOOR_DIV;
    case kTfLiteBuiltinFloorMod: return FLOOR_MOD;
    case kTfLiteBuiltinPrelu: return PRELU;
    case kTfLiteBuiltinAtan2: return ATAN2;
    case kTfLiteBuiltinEqual: return EQUAL;
    case kTfLiteBuiltinNotEqual: return NOT_EQUAL;
    case kTfLiteBuiltinLess: return LESS;
    case kTfLiteBuiltinLessEqual: return LESS_EQUAL;
    case kTfLiteBuiltinGreater: return GREATER;
    case kTfLiteBuiltinGreaterEqual: return GREATER_EQUAL;
    case kTfLiteBuiltinLogicalAnd: return MUL;
    case kTfLiteBuiltinLogicalOr: return MAXIMUM;
    default: return ADD;
    }
}

// The CPU limits sums, differences, products and quotients to the finite numbers of their type, even without an
// activation. Returns the limit.
static int largest_of(const struct gpu_node *node)
{
    enum { INFINITE, FLOAT, HALF };
    switch (node->builtin) {
    case kTfLiteBuiltinAdd:
    case kTfLiteBuiltinSub:
    case kTfLiteBuiltinMul:
    case kTfLiteBuiltinDiv:
    case kTfLiteBuiltinAddN: return node->outputs[0]->type == kTfLiteFloat16 ? HALF : FLOAT;
    default: return INFINITE;
    }
}

// Stores [b, h, w, c] floats in slices of four channels, in the layout of values.
static void lay_out(float *to, const float *from, struct gpu_shape shape)
{
    int slices = gpu_slices(shape);
    for (int b = 0; b < shape.b; b++)
        for (int y = 0; y < shape.h; y++)
            for (int x = 0; x < shape.w; x++)
                for (int c = 0; c < shape.c; c++) {
                    int64_t vector = (((int64_t)b * slices + c / 4) * shape.h + y) * shape.w + x;
                    to[4 * vector + c % 4] = *from++;
                }
}

// Sets the stage for a second operand that is one number. An infinite slope is none: LEAKY_RELU multiplies zero by it,
// which PRELU leaves alone.
static bool stage_of_number(int builtin, float number, struct gpu_epilogue *stage)
{
    stage->stages[0].op = builtin == kTfLiteBuiltinPrelu ? GPU_EPI_LEAKY_RELU : GPU_EPI_SCALE_SHIFT;
    switch (builtin) {
    case kTfLiteBuiltinAdd: stage->stages[0].a = 1, stage->stages[0].b = number; return true;
    case kTfLiteBuiltinSub: stage->stages[0].a = 1, stage->stages[0].b = -number; return true;
    case kTfLiteBuiltinMul: stage->stages[0].a = number; return true;
    case kTfLiteBuiltinPrelu: stage->stages[0].a = number; return isfinite(number);
    default: return false;
    }
}

static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    const struct gpu_value *k = node->inputs[1], *y = node->outputs[0];
    if (!k || !k->data || y->type == kTfLiteFloat16) return false;
    stage->count = 1;
    if (gpu_elements(k->shape) == 1) return stage_of_number(node->builtin, k->data[0], stage);
    if (k->shape.c != y->shape.c || gpu_elements(k->shape) != k->shape.c) return false;
    stage->stages[0].channels = k;
    switch (node->builtin) {
    case kTfLiteBuiltinAdd: stage->stages[0].op = GPU_EPI_ADD_VALUE; return true;
    case kTfLiteBuiltinSub: stage->stages[0].op = GPU_EPI_SUB_VALUE; return true;
    case kTfLiteBuiltinMul: stage->stages[0].op = GPU_EPI_MUL_VALUE; return true;
    case kTfLiteBuiltinPrelu: stage->stages[0].op = GPU_EPI_PRELU; return true;
    default: return false;
    }
}

static bool plan_constant(struct gpu_plan *plan, const struct gpu_node *node, int constant)
{
    const struct gpu_value *a = node->inputs[1 - constant], *k = node->inputs[constant], *y = node->outputs[0];
    struct gpu_shape shape = aligned(k->rank, k->dims, y->rank), view = aligned(a->rank, a->dims, y->rank);
    int slices = gpu_slices(shape);
    struct gpu_weights *weights =
        gpu_plan_weights(plan, (size_t)shape.b * (size_t)shape.h * (size_t)shape.w * (size_t)slices);
    if (!weights || !(a = gpu_plan_seen_as(plan, a, view))) return false;
    lay_out(weights->data, k->data, shape);
    struct gpu_dispatch_desc desc = {
        .kernel = &with_constant,
        .operands = {{.value = a}, {.weights = weights}, {.value = y}},
        .views = {view},
        .params = {{shape.w, shape.h, slices, shape.b}},
        .constants = {{"FUNCTION", function_of(node)},
                      {"STRETCH_A", view.c == 1 && y->shape.c > 1},
                      {"STRETCH_B", shape.c == 1 && y->shape.c > 1},
                      {"CONSTANT_FIRST", constant == 0},
                      {"LARGEST", largest_of(node)}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

// Whether what the operator does could be a stage of the copy of an input.
static bool is_dense_stage(const struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    return gpu_plan_may_read_dense(plan, x) && gpu_same_shape(x->shape, y->shape) && x->rank == y->rank &&
           node->epilogue.count < GPU_EPILOGUE_STAGES && !node->epilogue.residual;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
    struct gpu_epilogue own = {0};
    if (is_dense_stage(plan, node) && as_stage(node, &own)) return gpu_plan_stage(plan, node, &own);
    if (a->data || b->data) return plan_constant(plan, node, b->data ? 1 : 0);
    struct gpu_shape first = aligned(a->rank, a->dims, y->rank), second = aligned(b->rank, b->dims, y->rank);
    if (!(a = gpu_plan_seen_as(plan, a, first)) || !(b = gpu_plan_seen_as(plan, b, second))) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = &two_values,
        .operands = {{.value = a}, {.value = b}, {.value = y}},
        .views = {first, second},
        .constants = {{"FUNCTION", function_of(node)},
                      {"STRETCH_A", first.c == 1 && y->shape.c > 1},
                      {"STRETCH_B", second.c == 1 && y->shape.c > 1},
                      {"LARGEST", largest_of(node)}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan_sum(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *y = node->outputs[0], *sum = node->inputs[0];
    if (node->input_count == 1) return gpu_plan_reshape(plan, sum, y, &node->epilogue);
    for (int i = 1; i < node->input_count; i++) {
        bool last = i + 1 == node->input_count;
        const struct gpu_value *to = last ? y : gpu_plan_scratch(plan, y->shape);
        if (!to) return false;
        struct gpu_dispatch_desc desc = {
            .kernel = &two_values,
            .operands = {{.value = sum}, {.value = node->inputs[i]}, {.value = to}},
            .constants = {{"LARGEST", largest_of(node)}},
            .epilogue = last ? &node->epilogue : NULL,
        };
        gpu_grid_over(&desc, y->shape);
        if (!gpu_plan_dispatch(plan, &desc)) return false;
        sum = to;
    }
    return true;
}

static const struct gpu_kernel *const kernels[] = {&two_values, &with_constant, &gpu_kernel_reshape, GPU_STAGES_KERNELS,
                                                   NULL};
#define BINARY(symbol, text, version, ...)                         \
    const struct gpu_op gpu_op_##symbol = {.name = text,           \
                                           .max_version = version, \
                                           .plan = plan,           \
                                           .epilogue = true,       \
                                           .as_stage = as_stage,   \
                                           .kernels = kernels,     \
                                           __VA_ARGS__};
#define ELEMENTWISE                                                                                     \
    .operands = {.inputs = {2}, .any_rank = true}, .supported = supported, .bytes = GPU_BYTES_COMPUTED, \
    .axes = GPU_AXES_NONE
#define DIVISION                                                                                                 \
    .operands = {.inputs = {2}, .any_rank = true}, .supported = supported_division, .bytes = GPU_BYTES_COMPUTED, \
    .axes = GPU_AXES_NONE, .check = check_divisors
BINARY(add, "ADD", 6, ELEMENTWISE, GPU_PARAMS_ACTIVATION(TfLiteAddParams))
BINARY(sub, "SUB", 5, ELEMENTWISE, GPU_PARAMS_ACTIVATION(TfLiteSubParams))
BINARY(mul, "MUL", 8, ELEMENTWISE, GPU_PARAMS_ACTIVATION(TfLiteMulParams))
BINARY(div, "DIV", 2, DIVISION, GPU_PARAMS_ACTIVATION(TfLiteDivParams))
BINARY(squared_difference, "SQUARED_DIFFERENCE", 2, ELEMENTWISE)
BINARY(pow, "POW", 1, ELEMENTWISE)
BINARY(floor_div, "FLOOR_DIV", 3, DIVISION)
BINARY(floor_mod, "FLOOR_MOD", 2, DIVISION)
BINARY(atan2, "ATAN2", 1, ELEMENTWISE)
BINARY(prelu, "PRELU", 1, ELEMENTWISE)

#define CHOICE                                                                                       \
    .operands = {.inputs = {2}, .any_rank = true}, .supported = supported, .bytes = GPU_BYTES_MOVED, \
    .moved_inputs = GPU_ALL_INPUTS, .axes = GPU_AXES_NONE
BINARY(maximum, "MAXIMUM", 4, CHOICE)
BINARY(minimum, "MINIMUM", 4, CHOICE)

#define COMPARISON                                                                                            \
    .operands = {.inputs = {2}, .integer_inputs = GPU_ALL_INPUTS, .integer_outputs = true, .any_rank = true}, \
    .supported = supported_comparison
BINARY(equal, "EQUAL", 5, COMPARISON)
BINARY(not_equal, "NOT_EQUAL", 4, COMPARISON)
BINARY(less, "LESS", 3, COMPARISON)
BINARY(less_equal, "LESS_EQUAL", 2, COMPARISON)
BINARY(greater, "GREATER", 2, COMPARISON)
BINARY(greater_equal, "GREATER_EQUAL", 3, COMPARISON)
BINARY(logical_and, "LOGICAL_AND", 1, COMPARISON)
BINARY(logical_or, "LOGICAL_OR", 1, COMPARISON)

const struct gpu_op gpu_op_add_n = {
    .name = "ADD_N",
    .max_version = 1,
    .operands = {.inputs = {1, GPU_NODE_INPUTS}, .any_rank = true},
    .supported = supported,
    .plan = plan_sum,
    .epilogue = true,
    .bytes = GPU_BYTES_COMPUTED,
    GPU_KERNELS(&two_values, &gpu_kernel_reshape),
};
