// SPDX-License-Identifier: Apache-2.0
// Fast kernels that work element by element, on every level of instructions that this CPU has: against the reference
// kernels on random nodes, bit for bit, with one thread and with three, in place and not; functions against double
// precision.
#include "both_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fast/byte_sum.h"
#include "fast/elements.h"
#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { NODES = 120, MOST = 1 << 17 };

static float real(void)
{
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-40f};
    return pick(50) ? (float)(pick(2001) - 1000) / 100 : special[pick(8)];
}

// ---- nodes --------------------------------------------------------------------------------------

// Units of the last place between two floats of which neither is NaN.
static double distance(float a, double b)
{
    double unit = fmax(ldexp(1, -149), fabs(b) > 0 ? ldexp(1, ilogb(b) - 23) : 0);
    return fabs((double)a - b) / unit;
}

struct expectation {
    const struct test_model *model;
    double units; // of the last place, that floats may differ by
    bool (*taken)(const struct hl_simd *level);
};

static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    const struct test_model *model = ((const struct expectation *)arg)->model;
    double units = ((const struct expectation *)arg)->units;
    // GELU's reference kernel rounds the argument of erfc, or adds 1 to a tanh: its tail has no more precision.
    const float nearly = model->nodes->builtin == kTfLiteBuiltinGelu ? 0x1p-20f : 0x1p-125f;
    const struct hl_simd *best = hl_simd_best(count_of(&model->tensors[model->tensor_count - 1]));
    assert_int_equal(taken, ((const struct expectation *)arg)->taken(best));
    if (model->tensors[model->tensor_count - 1].type != TEST_FLOAT32) {
        if (memcmp(expected, got, bytes) != 0) fail_msg("%s: integers differ", level);
        return;
    }
    const float *a = expected, *b = got;
    for (size_t i = 0; i < bytes / 4; i++) {
        bool same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        bool near = isfinite(a[i]) && isfinite(b[i]) &&
                    (distance(b[i], (double)a[i]) <= units || (units > 0 && fabsf(a[i] - b[i]) <= nearly));
        if (!same && !near) fail_msg("%s: element %zu is %g, not %g", level, i, (double)b[i], (double)a[i]);
    }
}

// `taken`: the level has a loop for the nodes.
static void check_values(const struct test_model *model, int threads, double units,
                         bool (*taken)(const struct hl_simd *level), void *const *values)
{
    size_t size, bytes;
    unsigned char *file = test_model_write(model, &size);
    TfLiteModel *loaded = TfLiteModelCreate(file, size);
    assert_non_null(loaded);
    const struct expectation what = {model, units, taken};
    void *expected = on_every_level(model, loaded, threads, values, compare, &what, &bytes);
    free(expected);
    TfLiteModelDelete(loaded);
    free(file);
}

// Random values; the graph's inputs are its first tensors, its output the last.
static void check(const struct test_model *model, int threads, double units, bool (*taken)(const struct hl_simd *level))
{
    void *values[2] = {NULL};
    for (int i = 0; i < model->input_count; i++) {
        const struct test_tensor *tensor = &model->tensors[i];
        int count = count_of(tensor);
        float *floats = values[i] = malloc((size_t)count * sizeof *floats);
        for (int k = 0; k < count; k++)
            if (tensor->type == TEST_FLOAT32)
                floats[k] = real();
            else if (tensor->type == TEST_INT16)
                ((int16_t *)values[i])[k] = (int16_t)(pick(9) ? pick(65536) : pick(2) ? INT16_MIN : INT16_MAX);
            else
                ((uint8_t *)values[i])[k] = (uint8_t)pick(256);
    }
    check_values(model, threads, units, taken, values);
    for (int i = 0; i < model->input_count; i++) free(values[i]);
}

static bool always(const struct hl_simd *level)
{
    return level != NULL;
}

// What the level must have, not what its table says.
static bool with_tables(const struct hl_simd *level)
{
    return strcmp(level->name, "baseline") != 0;
}

static bool with_bytes(const struct hl_simd *level)
{
#if defined __aarch64__
    return level != NULL;
#else
    return with_tables(level);
#endif
}

static int random_rank(struct test_tensor *tensor)
{
    tensor->rank = pick(5);
    int count = 1;
    for (int i = 0; i < tensor->rank; i++) {
        int most = MOST / count;
        tensor->dims[i] = 1 + pick(pick(3) ? 9 : pick(3) ? 100 : 5000);
        if (tensor->dims[i] > most) tensor->dims[i] = most;
        count *= tensor->dims[i];
    }
    return count;
}

// Some lengths become 1, some at the front go.
static void shrink(struct test_tensor *tensor)
{
    for (int i = 0; i < tensor->rank; i++)
        if (pick(2)) tensor->dims[i] = 1;
    while (tensor->rank > 0 && tensor->dims[0] == 1 && pick(2))
        memmove(tensor->dims, tensor->dims + 1, (size_t)--tensor->rank * sizeof(int));
}

// `depth`: nodes before the tensor. An int16 output has a larger scale than the product of any two inputs before it,
// for no level has a loop for products that are shifted left.
static void set_quantization(struct test_tensor *tensor, enum test_type type, int depth)
{
    tensor->type = type;
    if (type == TEST_FLOAT32) return;
    tensor->scale = 0.001f * (float)(1 + pick(1000));
    if (type == TEST_INT16) tensor->scale += 1.1f * (float)depth;
    if (type == TEST_INT16) return;
    tensor->zero_point = pick(256) - (type == TEST_INT8 ? 128 : 0);
}

// t = f(a, b), y = f(t, b): the second may work in place. with_integers: the levels that have loops for the integers.
enum { FLOATS = 1, INT8_TOO = 2, BYTES_TOO = 3, ALL_TYPES = 4 };
static void check_pairs(int builtin, int activation_field, int type_count,
                        bool (*with_integers)(const struct hl_simd *level), bool stretches_a)
{
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8, TEST_INT16};
    for (int i = 0; i < NODES; i++) {
        struct test_tensor tensors[4] = {{.name = "a"}, {.name = "b"}, {.name = "t"}, {.name = "y"}};
        enum test_type type = types[pick(type_count)];
        random_rank(&tensors[0]);
        for (int k = 1; k < 4; k++) {
            tensors[k].rank = tensors[0].rank;
            memcpy(tensors[k].dims, tensors[0].dims, sizeof tensors[0].dims);
        }
        for (int k = 0; k < 4; k++) set_quantization(&tensors[k], type, k < 2 ? 0 : k - 1);
        int stretched = pick(3);
        if (stretched == 1 || (stretched == 2 && !stretches_a))
            shrink(&tensors[1]);
        else if (stretched == 2)
            shrink(&tensors[0]);
        struct test_node nodes[2] = {
            {.builtin = builtin, .version = type == TEST_FLOAT32 ? 1 : 2, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)}};
        if (builtin == kTfLiteBuiltinPrelu) nodes[0].version = 1;
        if (activation_field) nodes[0].settings[0] = (struct test_setting){.field = activation_field, .value = pick(4)};
        nodes[1] = nodes[0];
        nodes[1].inputs[0] = 2;
        nodes[1].outputs[0] = 3;
        const struct test_model model = {
            TEST_TENSORS(tensors),
            TEST_NODES(nodes),
            TEST_INPUTS(0, 1),
            TEST_OUTPUTS(3),
        };
        check(&model, i % 2 ? 3 : 1, 0, type == TEST_FLOAT32 ? always : with_integers);
    }
}

// Rows of floats, each with one value of the other operand.
static void one_value_of_a_row(void **state)
{
    (void)state;
    static const struct {
        int builtin, activation_field;
    } operators[] = {{kTfLiteBuiltinAdd, HL_AddOptions_fused_activation_function},
                     {kTfLiteBuiltinSub, HL_SubOptions_fused_activation_function},
                     {kTfLiteBuiltinMul, HL_MulOptions_fused_activation_function},
                     {kTfLiteBuiltinDiv, HL_DivOptions_fused_activation_function}};
    static const int columns[] = {15, 16, 17, 33, 64, 300};
    for (int i = 0; i < 4 * 6 * 4; i++) {
        const int length = columns[i / 4 % 6], planes = 1 + pick(3), rows = 1 + pick(40), one = i / 24 % 2;
        struct test_tensor tensors[3] = {{.name = "a"}, {.name = "b"}, {.name = "y"}};
        for (int k = 0; k < 3; k++) {
            tensors[k].type = TEST_FLOAT32;
            tensors[k].rank = 3;
            memcpy(tensors[k].dims, (const int[]){planes, rows, length}, 3 * sizeof(int));
        }
        tensors[one].dims[2] = 1;
        if (i >= 48) tensors[1 - one].dims[pick(2)] = 1;
        struct test_node node = {.builtin = operators[i % 4].builtin, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
        node.settings[0] = (struct test_setting){.field = operators[i % 4].activation_field, .value = pick(4)};
        const struct test_model model = {
            TEST_TENSORS(tensors), .node_count = 1, .nodes = &node, TEST_INPUTS(0, 1), TEST_OUTPUTS(2),
        };
        check(&model, i % 2 ? 3 : 1, 0, always);
    }
}

static void add(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinAdd, HL_AddOptions_fused_activation_function, ALL_TYPES, with_bytes, true);
}

static void sub(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinSub, HL_SubOptions_fused_activation_function, ALL_TYPES, with_bytes, true);
}

// Scales and zero points as calibration finds them: the output's step is about that of the larger operand.
static void set_scales(struct test_tensor *a, struct test_tensor *b, struct test_tensor *y)
{
    a->scale = 0.01f + 0.0001f * (float)pick(1000);
    b->scale = a->scale * (0.2f + 0.001f * (float)pick(1000));
    y->scale = a->scale * (0.6f + 0.001f * (float)pick(1000));
    a->zero_point = pick(256) - (a->type == TEST_INT8 ? 128 : 0);
    b->zero_point = pick(256) - (a->type == TEST_INT8 ? 128 : 0);
    y->zero_point = pick(256) - (a->type == TEST_INT8 ? 128 : 0);
}

// Operators of two operands, with the field of their activation; the last has none.
static const struct {
    int builtin, field;
} of_two[] = {
    {kTfLiteBuiltinAdd, HL_AddOptions_fused_activation_function},
    {kTfLiteBuiltinSub, HL_SubOptions_fused_activation_function},
    {kTfLiteBuiltinMul, HL_MulOptions_fused_activation_function},
    {kTfLiteBuiltinMaximum, 0},
};

// One operand is a constant byte, the first or the second one. The second node works in place.
static void one_constant_byte(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++) {
        const enum test_type type = i % 2 ? TEST_INT8 : TEST_UINT8;
        const int which = i / 2 % 4, constant = i / 8 % 2;
        const uint8_t byte = (uint8_t)pick(256);
        struct test_tensor tensors[4] = {{.name = "a"}, {.name = "b"}, {.name = "t"}, {.name = "y"}};
        for (int k = 0; k < 4; k++) tensors[k].type = type, tensors[k].rank = 1;
        tensors[0].dims[0] = tensors[2].dims[0] = tensors[3].dims[0] = 4090 + pick(pick(2) ? 20 : 20000);
        tensors[1].dims[0] = 1, tensors[1].data = &byte, tensors[1].bytes = 1;
        set_scales(&tensors[0], &tensors[1], &tensors[2]);
        tensors[3].scale = tensors[2].scale, tensors[3].zero_point = tensors[2].zero_point;
        struct test_node nodes[2] = {{.builtin = of_two[which].builtin, .version = 2, TEST_OUTPUTS(2)}};
        if (of_two[which].field)
            nodes[0].settings[0] = (struct test_setting){.field = of_two[which].field, .value = pick(4)};
        nodes[0].input_count = 2;
        nodes[0].inputs[constant] = 1;
        nodes[1] = nodes[0];
        nodes[0].inputs[1 - constant] = 0;
        nodes[1].inputs[1 - constant] = 2;
        nodes[1].outputs[0] = 3;
        const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(3)};
        check(&model, 1 + i % 3, 0, which == 3 ? always : with_bytes);
    }
}

// Every pair of bytes.
static void all_bytes(void **state)
{
    (void)state;
    enum { BYTES = 256, SCALES = 90 };
    static uint8_t a[BYTES * BYTES], b[BYTES * BYTES];
    for (int i = 0; i < BYTES * BYTES; i++) a[i] = (uint8_t)(i / BYTES), b[i] = (uint8_t)i;
    for (int i = 0; i < SCALES; i++) {
        struct test_tensor tensors[3] = {{.name = "a"}, {.name = "b"}, {.name = "y"}};
        for (int k = 0; k < 3; k++) {
            tensors[k].type = i % 2 ? TEST_INT8 : TEST_UINT8;
            tensors[k].rank = 2;
            tensors[k].dims[0] = tensors[k].dims[1] = BYTES;
        }
        set_scales(&tensors[i / 4 % 2], &tensors[1 - i / 4 % 2], &tensors[2]);
        const int which = i / 2 % 3;
        if (which == 2) tensors[2].scale *= tensors[0].scale * 30; // so that few products are cut off
        struct test_node node = {.builtin = of_two[which].builtin, .version = 2, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
        node.settings[0] = (struct test_setting){.field = of_two[which].field, .value = pick(4)};
        const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
        check_values(&model, 1, 0, with_bytes, (void *const[]){a, b});
    }
}

// With one rounding most sums are what they are with three; else the faster loop would be there for nothing.
static void sums_with_one_rounding(void **state)
{
    (void)state;
    enum { SCALES = 100, LEAST = 70 };
    const struct hl_simd *level;
    for (int l = 0; (level = hl_simd_level(l)); l++) {
        const struct hl_element_kernels *kernels = level->kernels->elements;
        if (!kernels->sum_pairs) continue;
        int made = 0;
        for (int i = 0; i < SCALES; i++) {
            struct test_tensor a = {.type = TEST_INT8}, b = a, y = a;
            set_scales(&a, &b, &y);
            const double common = 2 * fmax((double)a.scale, (double)b.scale);
            struct hl_arithmetic op = {.low = -128, .high = 127, .bits = 20};
            op.a = (struct hl_operand){a.zero_point, hl_rescale_from((double)a.scale / common)};
            op.b = (struct hl_operand){b.zero_point, hl_rescale_from((double)b.scale / common)};
            op.y = (struct hl_operand){y.zero_point, hl_rescale_from(ldexp(common / (double)y.scale, -op.bits))};
            struct hl_byte_sum sum;
            made += hl_byte_sum_make(&sum, kernels->sum_pairs, kernels->add_i8, &op, false, false);
        }
        print_message("%s: %d of %d scales\n", level->name, made, SCALES);
        assert_true(made >= LEAST);
    }
}

static void mul(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinMul, HL_MulOptions_fused_activation_function, ALL_TYPES, with_bytes, true);
}

static void divisions(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinDiv, HL_DivOptions_fused_activation_function, FLOATS, NULL, true);
}

static void picks(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinMaximum, 0, ALL_TYPES, always, true);
    check_pairs(kTfLiteBuiltinMinimum, 0, ALL_TYPES, always, true);
}

static void squared_difference(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinSquaredDifference, 0, INT8_TOO, with_bytes, true);
}

static void prelu(void **state)
{
    (void)state;
    check_pairs(kTfLiteBuiltinPrelu, 0, BYTES_TOO, always, false);
}

// y = f(x), of some lengths.
static void check_map(int builtin, int field, enum test_type from, enum test_type to, double units)
{
    for (int i = 0; i < NODES / 8; i++) {
        struct test_tensor tensors[2] = {{.name = "x"}, {.name = "y"}};
        random_rank(&tensors[0]);
        tensors[1].rank = tensors[0].rank;
        memcpy(tensors[1].dims, tensors[0].dims, sizeof tensors[0].dims);
        set_quantization(&tensors[0], from, 0);
        set_quantization(&tensors[1], to, 1);
        if (to != TEST_FLOAT32 && builtin == kTfLiteBuiltinLogistic) tensors[1].scale = 1.0f / 256;
        if (to != TEST_FLOAT32 && builtin == kTfLiteBuiltinHardSwish) tensors[1].scale = tensors[0].scale;
        struct test_node node = {.builtin = builtin, TEST_INPUTS(0), TEST_OUTPUTS(1)};
        if (field)
            node.settings[0] = (struct test_setting){.field = field, .value = builtin == kTfLiteBuiltinGelu ? 1 : 0.3};
        const struct test_model model = {
            .tensor_count = 2,
            .tensors = tensors,
            TEST_NODE(node),
            TEST_INPUTS(0),
            TEST_OUTPUTS(1),
        };
        bool tables = from != TEST_FLOAT32 && to != TEST_FLOAT32;
        check(&model, i % 2 ? 3 : 1, units, tables ? with_tables : always);
    }
}

static void maps(void **state)
{
    static const struct {
        int builtin, field;
        enum { NO_BYTES, INT8, BYTES } bytes; // that the operator takes
        double units;
    } operators[] = {
        {kTfLiteBuiltinLogistic, 0, BYTES, 8},
        {kTfLiteBuiltinTanh, 0, BYTES, 8},
        {kTfLiteBuiltinExp, 0, NO_BYTES, 8},
        {kTfLiteBuiltinLog, 0, INT8, 8},
        {kTfLiteBuiltinSin, 0, NO_BYTES, 8},
        {kTfLiteBuiltinCos, 0, NO_BYTES, 8},
        {kTfLiteBuiltinElu, 0, INT8, 8},
        {kTfLiteBuiltinGelu, 0, BYTES, 8},
        {kTfLiteBuiltinGelu, HL_GeluOptions_approximate, BYTES, 8},
        {kTfLiteBuiltinRsqrt, 0, NO_BYTES, 8},
        {kTfLiteBuiltinHardSwish, 0, BYTES, 8},
        {kTfLiteBuiltinSqrt, 0, NO_BYTES, 0},
        {kTfLiteBuiltinNeg, 0, NO_BYTES, 0},
        {kTfLiteBuiltinAbs, 0, INT8, 0},
        {kTfLiteBuiltinSquare, 0, NO_BYTES, 0},
        {kTfLiteBuiltinFloor, 0, NO_BYTES, 0},
        {kTfLiteBuiltinCeil, 0, NO_BYTES, 0},
        {kTfLiteBuiltinRound, 0, NO_BYTES, 0},
        {kTfLiteBuiltinLeakyRelu, HL_LeakyReluOptions_alpha, BYTES, 0},
        {kTfLiteBuiltinRelu, 0, BYTES, 0},
        {kTfLiteBuiltinRelu6, 0, BYTES, 0},
        {kTfLiteBuiltinReluN1To1, 0, NO_BYTES, 0},
        {kTfLiteBuiltinRelu0To1, 0, NO_BYTES, 0},
    };
    (void)state;
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++) {
        int builtin = operators[o].builtin, field = operators[o].field;
        check_map(builtin, field, TEST_FLOAT32, TEST_FLOAT32, operators[o].units);
        if (operators[o].bytes >= INT8) check_map(builtin, field, TEST_INT8, TEST_INT8, 0);
        if (operators[o].bytes == BYTES) check_map(builtin, field, TEST_UINT8, TEST_UINT8, 0);
    }
}

static void quantizations(void **state)
{
    (void)state;
    check_map(kTfLiteBuiltinQuantize, 0, TEST_FLOAT32, TEST_INT8, 0);
    check_map(kTfLiteBuiltinQuantize, 0, TEST_FLOAT32, TEST_UINT8, 0);
    check_map(kTfLiteBuiltinQuantize, 0, TEST_INT8, TEST_INT8, 0);
    check_map(kTfLiteBuiltinQuantize, 0, TEST_INT8, TEST_UINT8, 0);
    check_map(kTfLiteBuiltinQuantize, 0, TEST_UINT8, TEST_INT8, 0);
    check_map(kTfLiteBuiltinDequantize, 0, TEST_INT8, TEST_FLOAT32, 0);
    check_map(kTfLiteBuiltinDequantize, 0, TEST_UINT8, TEST_FLOAT32, 0);
}

// ---- functions ----------------------------------------------------------------------------------

static double logistic_value(double x)
{
    return 1 / (1 + exp(-x));
}

static double elu_value(double x)
{
    return x < 0 ? expm1(x) : x;
}

static double rsqrt_value(double x)
{
    return 1 / sqrt(x);
}

static double gelu_value(double x)
{
    return x / 2 * erfc(-x * sqrt(0.5));
}

static double gelu_tanh_value(double x)
{
    return x / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

struct function {
    const char *name;
    size_t kernel; // offset in struct hl_element_kernels
    double (*value)(double);
    double units;      // of the last place, that results may be off
    double share_of_x; // or this share of |x|
};

// Returns how many units of the last place y is off. Where it is no normal number, its distance from the truth is at
// most the smallest one.
static double error_of(const struct function *function, const char *level, float x, float y)
{
    const double exact = function->value((double)x);
    if (isnan(exact) && isnan(y)) return 0;
    if ((double)y == exact || (float)exact == y) return 0; // infinities, too
    const double off = fabs((double)y - exact);
    if (isfinite(y) && (off <= 0x1p-126 || off <= function->share_of_x * fabs((double)x))) return 0;
    const double units = isfinite(y) ? distance(y, exact) : (double)INFINITY;
    if (!(units <= function->units))
        fail_msg("%s, %s(%a) is %a, not %a", level, function->name, (double)x, (double)y, exact);
    return units;
}

static hl_map_kernel *kernel_of(const struct function *function, const struct hl_simd *level)
{
    hl_map_kernel *kernel;
    memcpy(&kernel, (const char *)level->kernels->elements + function->kernel, sizeof kernel);
    return kernel;
}

// Floats of all exponents, every 4001st; tails and the middle of loops in turn.
static void check_function(const struct function *function)
{
    enum { COUNT = 77 };
    const struct hl_simd *level;
    for (int l = 0; (level = hl_simd_level(l)); l++) {
        double worst = 0;
        for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += (uint64_t)4001 * COUNT) {
            float x[COUNT], y[COUNT];
            for (int i = 0; i < COUNT; i++) {
                uint32_t pattern = (uint32_t)(bits + (uint64_t)4001 * (uint64_t)i);
                memcpy(&x[i], &pattern, sizeof x[i]);
                y[i] = x[i];
            }
            kernel_of(function, level)(y, y, COUNT, NULL);
            for (int i = 0; i < COUNT; i++) worst = fmax(worst, error_of(function, level->name, x[i], y[i]));
        }
        print_message("%s %s: %.2f units of the last place\n", level->name, function->name, worst);
    }
}

#define FUNCTION(name, value, ...)                                           \
    {                                                                        \
#name, offsetof(struct hl_element_kernels, name), value, __VA_ARGS__ \
    }

static void functions(void **state)
{
    static const struct function list[] = {
        FUNCTION(logistic, logistic_value, 4, 0),
        FUNCTION(tanh, tanh, 4, 0),
        FUNCTION(exp, exp, 4, 0),
        FUNCTION(log, log, 4, 0),
        FUNCTION(sin, sin, 4, 0),
        FUNCTION(cos, cos, 4, 0),
        FUNCTION(elu, elu_value, 4, 0),
        FUNCTION(rsqrt, rsqrt_value, 4, 0),
        FUNCTION(gelu, gelu_value, 7, 0),
        FUNCTION(gelu_tanh, gelu_tanh_value, 0, 0x1p-22),
        FUNCTION(floor, floor, 0, 0),
        FUNCTION(ceil, ceil, 0, 0),
        FUNCTION(round, rint, 0, 0),
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) check_function(&list[i]);
}

// The floats that are nearest to multiples of pi / 2, where one of the two is smallest.
static void sines_near_0(void **state)
{
    static const struct function both[] = {FUNCTION(sin, sin, 4, 0), FUNCTION(cos, cos, 4, 0)};
    enum { COUNT = 21000 };
    static float x[COUNT], y[COUNT];
    const struct hl_simd *level;
    (void)state;
    for (int i = 0; i < COUNT; i++) x[i] = (float)((i - COUNT / 2) * acos(-1) / (i % 2 ? 2 : 1));
    for (int l = 0; (level = hl_simd_level(l)); l++)
        for (int f = 0; f < 2; f++) {
            kernel_of(&both[f], level)(x, y, COUNT, NULL);
            for (int i = 0; i < COUNT; i++) error_of(&both[f], level->name, x[i], y[i]);
        }
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_of_a_row),
        cmocka_unit_test(add),
        cmocka_unit_test(sub),
        cmocka_unit_test(mul),
        cmocka_unit_test(divisions),
        cmocka_unit_test(picks),
        cmocka_unit_test(squared_difference),
        cmocka_unit_test(prelu),
        cmocka_unit_test(maps),
        cmocka_unit_test(quantizations),
        cmocka_unit_test(functions),
        cmocka_unit_test(sines_near_0),
        cmocka_unit_test(one_constant_byte),
        cmocka_unit_test(all_bytes),
        cmocka_unit_test(sums_with_one_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
