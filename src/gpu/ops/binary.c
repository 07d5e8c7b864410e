// SPDX-License-Identifier: Apache-2.0
// y = f(a, b), numpy broadcasting: ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE POW FLOOR_DIV FLOOR_MOD PRELU.
// Two kernels: both operands values; one of them a constant, which then lies among the weights in its own small shape.
// A sum or product with one number becomes a stage of whoever computes the other operand.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

enum function { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, POW, FLOOR_DIV, FLOOR_MOD, PRELU };

// clang-format off: kernel bodies are formatted by hand, a statement a line
// What both kernels do with their operands u and v.
#define APPLY                                                                          \
    if (FUNCTION == 0) u = u + v;                                                      \
    if (FUNCTION == 1) u = u - v;                                                      \
    if (FUNCTION == 2) u = u * v;                                                      \
    if (FUNCTION == 3) u = u / v;                                                      \
    if (FUNCTION == 4) u = max(u, v);                                                  \
    if (FUNCTION == 5) u = min(u, v);                                                  \
    if (FUNCTION == 6) u = (u - v) * (u - v);                                          \
    if (FUNCTION == 7) u = pow_safe(u, v);                                             \
    if (FUNCTION == 8) u = floor(u / v);                                               \
    if (FUNCTION == 9) u = u - floor(u / v) * v;                                       \
    if (FUNCTION == 10) u = max(u, splatf4(0.0f)) + min(u, splatf4(0.0f)) * v;          \
    write_y(p, finish(to_real4(u), p));
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

static const struct gpu_kernel two_values = {
    .name = "binary",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "left"}, {GPU_IN, "right"}, {GPU_OUT, "y"}},
    .constants = {{"FUNCTION", 0}, {"STRETCH_A", 0}, {"STRETCH_B", 0}},
    .epilogue = true,
    .body = TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        acc4 u = to_acc4(read_left(mki4(min(p.x, left_w - 1), min(p.y, left_h - 1), min(p.z, left_s - 1), min(p.w, left_b - 1))));
        acc4 v = to_acc4(read_right(mki4(min(p.x, right_w - 1), min(p.y, right_h - 1), min(p.z, right_s - 1), min(p.w, right_b - 1))));
        if (STRETCH_A == 1) u = splatf4(u.x);
        if (STRETCH_B == 1) v = splatf4(v.x);
        APPLY
    ),
};

// P_size: w, h, slices, b of the constant.
static const struct gpu_kernel with_constant = {
    .name = "binary_constant",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "left"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .params = {"size"},
    .constants = {{"FUNCTION", 0}, {"STRETCH_A", 0}, {"STRETCH_B", 0}, {"CONSTANT_FIRST", 0}},
    .epilogue = true,
    .body = TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        acc4 u = to_acc4(read_left(mki4(min(p.x, left_w - 1), min(p.y, left_h - 1), min(p.z, left_s - 1), min(p.w, left_b - 1))));
        int x = min(p.x, P_size.x - 1);
        int y = min(p.y, P_size.y - 1);
        int s = min(p.z, P_size.z - 1);
        int n = min(p.w, P_size.w - 1);
        acc4 v = to_acc4(k(((n * P_size.z + s) * P_size.y + y) * P_size.x + x));
        if (STRETCH_A == 1) u = splatf4(u.x);
        if (STRETCH_B == 1) v = splatf4(v.x);
        if (CONSTANT_FIRST == 1) {
            acc4 w = u;
            u = v;
            v = w;
        }
        APPLY
    ),
};
// clang-format on
static const struct gpu_kernel *const kernels[] = {&two_values, &with_constant, NULL};

// ---- shapes -------------------------------------------------------------------------------------

// The operand's axes set right-aligned into the output's, as [b, h, w, c].
static struct gpu_shape aligned(int rank, const int *dims, int output_rank)
{
    int sizes[4] = {1, 1, 1, 1};
    for (int i = 0; i < rank; i++) sizes[gpu_axis_of(output_rank, output_rank - rank + i)] = dims[i];
    return (struct gpu_shape){sizes[0], sizes[1], sizes[2], sizes[3]};
}

// Whether memory of a value in its own shape reads right in the other: slices lie apart only where c goes beyond four.
static bool can_view(struct gpu_shape own, struct gpu_shape other)
{
    return gpu_same_shape(own, other) || gpu_slices(own) == 1 || (int64_t)own.b * own.h * own.w == 1;
}

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_common(view, 2, 2, 1, 0)) return false;
    const TfLiteTensor *output = gpu_view_output(view, 0);
    for (int i = 0; i < 2; i++) {
        const TfLiteTensor *input = gpu_view_input(view, i);
        struct gpu_shape own;
        if (!gpu_shape_of(input->dims, &own) || input->dims->size > output->dims->size)
            return gpu_refuse(view, GPU_REASON_RANK, i, "its rank is above the output's");
        struct gpu_shape other = aligned(input->dims->size, input->dims->data, output->dims->size);
        if (!gpu_is_constant(input) && !can_view(own, other))
            return gpu_refuse(view, GPU_REASON_SHAPE, i, "rank %d broadcasts into rank %d across slices", input->dims->size,
                              output->dims->size);
    }
    if (gpu_is_constant(gpu_view_input(view, 0)) && gpu_is_constant(gpu_view_input(view, 1)))
        return gpu_refuse(view, GPU_REASON_CONSTANT, 0, "both operands are constants");
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
    default: return ADD;
    }
}

// [b, h, w, c] floats in slices of four, as values lie.
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

static bool plan_constant(struct gpu_plan *plan, const struct gpu_node *node, int constant)
{
    const struct gpu_value *a = node->inputs[1 - constant], *k = node->inputs[constant], *y = node->outputs[0];
    struct gpu_shape shape = aligned(k->rank, k->dims, y->rank), view = aligned(a->rank, a->dims, y->rank);
    int slices = gpu_slices(shape);
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)shape.b * (size_t)shape.h * (size_t)shape.w * (size_t)slices);
    if (!weights) return false;
    lay_out(weights->data, k->data, shape);
    struct gpu_dispatch_desc desc = {
        .kernel = &with_constant,
        .operands = {{.value = a}, {.weights = weights}, {.value = y}},
        .views = {view},
        .params = {{shape.w, shape.h, slices, shape.b}},
        .constants = {{"FUNCTION", function_of(node)},
                      {"STRETCH_A", view.c == 1 && y->shape.c > 1},
                      {"STRETCH_B", shape.c == 1 && y->shape.c > 1},
                      {"CONSTANT_FIRST", constant == 0}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
    if (a->data || b->data) return plan_constant(plan, node, b->data ? 1 : 0);
    struct gpu_shape first = aligned(a->rank, a->dims, y->rank), second = aligned(b->rank, b->dims, y->rank);
    struct gpu_dispatch_desc desc = {
        .kernel = &two_values,
        .operands = {{.value = a}, {.value = b}, {.value = y}},
        .views = {first, second},
        .constants = {{"FUNCTION", function_of(node)},
                      {"STRETCH_A", first.c == 1 && y->shape.c > 1},
                      {"STRETCH_B", second.c == 1 && y->shape.c > 1}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    const struct gpu_value *k = node->inputs[1];
    if (!k || !k->data || gpu_elements(k->shape) != 1) return false;
    float number = k->data[0];
    stage->count = 1;
    stage->stages[0].op = GPU_EPI_SCALE_SHIFT;
    switch (node->builtin) {
    case kTfLiteBuiltinAdd: stage->stages[0].a = 1, stage->stages[0].b = number; return true;
    case kTfLiteBuiltinSub: stage->stages[0].a = 1, stage->stages[0].b = -number; return true;
    case kTfLiteBuiltinMul: stage->stages[0].a = number; return true;
    default: return false;
    }
}

#define BINARY(symbol, text, version, size)                                                                \
    const struct gpu_op gpu_op_##symbol = {.name = text, .max_version = version, .supported = supported,   \
                                           .plan = plan, .epilogue = true, .as_stage = as_stage,            \
                                           .params_size = size, .kernels = kernels};
BINARY(add, "ADD", 6, sizeof(TfLiteAddParams))
BINARY(sub, "SUB", 5, sizeof(TfLiteSubParams))
BINARY(mul, "MUL", 8, sizeof(TfLiteMulParams))
BINARY(div, "DIV", 2, sizeof(TfLiteDivParams))
BINARY(maximum, "MAXIMUM", 4, 0)
BINARY(minimum, "MINIMUM", 4, 0)
BINARY(squared_difference, "SQUARED_DIFFERENCE", 2, 0)
BINARY(pow, "POW", 1, 0)
BINARY(floor_div, "FLOOR_DIV", 3, 0)
BINARY(floor_mod, "FLOOR_MOD", 2, 0)
BINARY(prelu, "PRELU", 1, 0)
