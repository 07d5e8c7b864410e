// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED against the reference kernels, on random nodes and every CPU level
// that is here: integers bit for bit, hybrid nodes (float activations, integer weights) too, floats but for the
// rounding of sums; with one thread and with three. --bench prints their times (support/bench.h).
#include "both_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api_experimental.h"

enum { NODES = 150, MOST = 1 << 20 };

static int limited; // nodes that have met a memory limit

static float real(void)
{
    return (float)(pick(2001) - 1000) / 1000;
}

// A node with its constants: x, w, bias (perhaps absent), y.
struct node {
    struct test_tensor tensors[4];
    struct test_node op;
    float scales[256];
    bool has_bias;
    union {
        float f32[MOST];
        int8_t bytes[MOST];
    } w;
    union {
        float f32[256];
        int32_t i32[256];
    } bias;
};

// Of activations and of weights.
struct types {
    enum test_type x, w;
};
static const struct types types[] = {{TEST_FLOAT32, TEST_FLOAT32},
                                     {TEST_INT8, TEST_INT8},
                                     {TEST_UINT8, TEST_UINT8},
                                     {TEST_FLOAT32, TEST_INT8}};

// Types, scales, zero points and values for shapes that are there.
static void fill(struct node *node, int outputs, int channel_axis, struct types type)
{
    struct test_tensor *x = &node->tensors[0], *w = &node->tensors[1], *bias = &node->tensors[2],
                       *y = &node->tensors[3];
    bool floats = type.w == TEST_FLOAT32, hybrid = type.x != type.w;
    int weights = count_of(w);
    assert_true(weights <= MOST && outputs <= 256);
    x->name = "x", w->name = "w", bias->name = "bias", y->name = "y";
    x->type = y->type = type.x;
    w->type = type.w;
    bias->type = floats || hybrid ? TEST_FLOAT32 : TEST_INT32;
    bias->rank = 1;
    bias->dims[0] = outputs;
    w->data = &node->w;
    w->bytes = (size_t)weights * (floats ? 4 : 1);
    bias->data = &node->bias;
    bias->bytes = (size_t)outputs * 4;
    for (int i = 0; i < weights; i++)
        if (floats)
            node->w.f32[i] = real();
        else
            node->w.bytes[i] = (int8_t)(pick(8) ? pick(255) - 127 : pick(2) ? 127 : -127);
    // Sums of two of these and of the least x do not fit an int16 (struct hl_tile.narrow).
    for (int i = pick(2 * weights), end = i + pick(256); !floats && i < weights && i < end; i++)
        node->w.bytes[i] = INT8_MIN;
    for (int i = 0; i < outputs; i++)
        if (floats || hybrid)
            node->bias.f32[i] = real();
        else
            node->bias.i32[i] = pick(20001) - 10000;
    if (floats) return;
    bool is_unsigned = type.w == TEST_UINT8;
    if (!hybrid) x->scale = 0.02f;
    if (!hybrid) {
        y->scale = 0.02f * 0.01f * (float)(1 + pick(400)); // steps of sums: from all saturated to few
        x->zero_point = is_unsigned ? pick(256) : pick(256) - 128;
        y->zero_point = is_unsigned ? pick(256) : pick(256) - 128;
    }
    w->scale = 0.01f;
    if (is_unsigned) {
        w->zero_point = pick(3) ? pick(256) : 128;
        bias->scale = x->scale * w->scale;
    } else if (pick(3) || (hybrid && channel_axis == 3)) { // per channel, as a hybrid depthwise convolution must be
        w->scale_count = outputs;
        w->quantized_dimension = channel_axis;
        for (int i = 0; i < outputs; i++) node->scales[i] = 0.0001f * (float)(1 + pick(300));
        w->scales = node->scales;
        if (outputs == 1 && !hybrid) bias->scale = x->scale * node->scales[0]; // one channel is the whole tensor
    } else if (!hybrid) {
        bias->scale = x->scale * w->scale;
    }
    if (hybrid || pick(3)) return;
    // Small sums and multipliers around 1: shifts to the left, none, a few to the right.
    y->scale = 0.02f * 0.0025f * (float)(1 + pick(16));
    for (int i = 0; i < weights; i++) node->w.bytes[i] = (int8_t)(w->zero_point + pick(3) - 1);
    for (int i = 0; i < outputs; i++) node->bias.i32[i] = pick(101) - 50;
}

static void finish(struct node *node, int builtin)
{
    node->op.builtin = builtin;
    node->op.version = node->tensors[1].type == TEST_INT8 ? 3 : 1;
    node->op.input_count = node->has_bias ? 3 : 2;
    for (int i = 0; i < 3; i++) node->op.inputs[i] = i;
    node->op.output_count = 1;
    node->op.outputs[0] = 3;
}

static const int activations[] = {0, 1, 2, 3}; // none, RELU, RELU_N1_TO_1, RELU6

static void make_shape(struct test_tensor *tensor, int a, int b, int c, int d)
{
    tensor->rank = 4;
    memcpy(tensor->dims, (const int[]){a, b, c, d}, 4 * sizeof(int));
}

// One node of five has a series, whose time is the height or the width.
static void make_series(int *height, int *width, int *kh, int *kw)
{
    if (pick(5)) return;
    const bool is_column = pick(4) > 0;
    *height = is_column ? *width : 1, *width = is_column ? 1 : *width;
    if (is_column)
        *kw = 1;
    else
        *kh = 1;
}

static void make_conv_2d(struct node *node)
{
    int groups = pick(3) ? 1 : 1 + pick(pick(2) ? 4 : 16), kh = 1 + pick(4), kw = 1 + pick(4), one = !pick(3);
    if (one) kh = kw = 1;
    int filter_channels = groups > 1 && pick(3) == 0 ? 1 : 1 + pick(pick(2) && groups <= 4 ? 70 : 8),
        outputs = groups * (1 + pick(pick(2) && groups <= 4 ? 60 : 9));
    int stride_h = 1 + pick(2 + !one), stride_w = 1 + pick(2 + !one), dilation_h = 1 + pick(2),
        dilation_w = 1 + pick(2);
    if (!pick(3)) { // as in most networks: Winograd's algorithm
        kh = kw = 3;
        stride_h = stride_w = dilation_h = dilation_w = groups = 1;
        filter_channels = 16 + pick(40);
        outputs = 1 + pick(80);
    }
    int height = 8 + pick(9), width = pick(4) ? 8 + pick(9) : 60 + pick(80); // a dilated filter fits
    make_series(&height, &width, &kh, &kw);
    make_shape(&node->tensors[0], 1 + pick(2), height, width, groups * filter_channels);
    make_shape(&node->tensors[1], outputs, kh, kw, filter_channels);
    make_shape(&node->tensors[3], 1, 1, 1, outputs);
    set_option(&node->op, HL_Conv2DOptions_padding, pick(2));
    set_option(&node->op, HL_Conv2DOptions_stride_w, stride_w);
    set_option(&node->op, HL_Conv2DOptions_stride_h, stride_h);
    set_option(&node->op, HL_Conv2DOptions_dilation_w_factor, dilation_w);
    set_option(&node->op, HL_Conv2DOptions_dilation_h_factor, dilation_h);
    set_option(&node->op, HL_Conv2DOptions_fused_activation_function, activations[pick(4)]);
    node->has_bias = true; // the operator wants one
    fill(node, outputs, 0, types[pick(4)]);
    finish(node, kTfLiteBuiltinConv2d);
}

static void make_depthwise(struct node *node)
{
    int channels = pick(5) ? 1 + pick(pick(2) ? 150 : 20) : 1, kh = 1 + pick(4), kw = 1 + pick(4);
    int stride_h = 1 + pick(3), stride_w = 1 + pick(3), dilation_h = 1 + pick(2), dilation_w = 1 + pick(2);
    const bool usual = pick(2); // as in most networks
    if (usual) {
        kh = kw = 3 + 2 * pick(2);
        stride_h = stride_w = 1 + pick(2);
        dilation_h = dilation_w = 1;
    }
    int height = 8 + pick(9), width = pick(5) ? 8 + pick(9) : 60 + pick(90); // runs of positions, too
    make_series(&height, &width, &kh, &kw);
    make_shape(&node->tensors[0], 1 + pick(2), height, width, channels);
    int multiplier = channels > 1 && pick(4) ? 1 : 1 + pick(9), outputs = channels * multiplier;
    if (outputs > 256) multiplier = 1, outputs = channels;
    make_shape(&node->tensors[1], 1, kh, kw, outputs);
    make_shape(&node->tensors[3], 1, 1, 1, outputs);
    set_option(&node->op, HL_DepthwiseConv2DOptions_padding, pick(2));
    set_option(&node->op, HL_DepthwiseConv2DOptions_stride_w, stride_w);
    set_option(&node->op, HL_DepthwiseConv2DOptions_stride_h, stride_h);
    set_option(&node->op, HL_DepthwiseConv2DOptions_depth_multiplier, multiplier);
    set_option(&node->op, HL_DepthwiseConv2DOptions_dilation_w_factor, dilation_w);
    set_option(&node->op, HL_DepthwiseConv2DOptions_dilation_h_factor, dilation_h);
    set_option(&node->op, HL_DepthwiseConv2DOptions_fused_activation_function, activations[pick(4)]);
    node->has_bias = pick(2);
    fill(node, outputs, 3, types[pick(4)]);
    finish(node, kTfLiteBuiltinDepthwiseConv2d);
}

static void make_dense_shape(struct node *node, int rows, int columns, int units)
{
    node->tensors[0].rank = node->tensors[1].rank = node->tensors[3].rank = 2;
    memcpy(node->tensors[0].dims, (const int[]){rows, columns}, 2 * sizeof(int));
    memcpy(node->tensors[1].dims, (const int[]){units, columns}, 2 * sizeof(int));
    memcpy(node->tensors[3].dims, (const int[]){rows, units}, 2 * sizeof(int));
}

static void make_fully_connected(struct node *node)
{
    int rows = 1 + pick(40), columns = 1 + pick(200), units = 1 + pick(100);
    make_dense_shape(node, rows, columns, units);
    set_option(&node->op, HL_FullyConnectedOptions_fused_activation_function, activations[pick(4)]);
    set_option(&node->op, HL_FullyConnectedOptions_asymmetric_quantize_inputs, pick(2));
    node->has_bias = pick(2);
    fill(node, units, 0, types[pick(4)]);
    finish(node, kTfLiteBuiltinFullyConnected);
}

static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    const struct node *node = arg;
    assert_true(taken);
    if (node->tensors[0].type != TEST_FLOAT32) {
        if (memcmp(expected, got, bytes) != 0) fail_msg("%s: integers differ", level);
        return;
    }
    // Products are below 1: so many units of the last place, at the largest sum that is likely.
    int depth = count_of(&node->tensors[1]);
    float near = node->tensors[1].type == TEST_FLOAT32 ? 2e-6f * sqrtf((float)depth) : 0;
    const float *a = expected, *b = got;
    for (size_t i = 0; i < bytes / 4; i++)
        if (!(fabsf(a[i] - b[i]) <= near))
            fail_msg("%s: element %zu is %g, not %g", level, i, (double)b[i], (double)a[i]);
}

// What the tensors take is enough: a node whose packed weights find no room stays with the reference kernel.
static void check_limit(const struct node *node, const TfLiteModel *model, void *x, const void *expected,
                        size_t expected_bytes)
{
    if (node->op.builtin != kTfLiteBuiltinFullyConnected || node->tensors[1].type != TEST_FLOAT32)
        return; // others have scratch, or alignment, of more than their weights
    size_t tensors = 4 * (size_t)(count_of(&node->tensors[0]) + count_of(&node->tensors[3])) + 4096;
    size_t weights = 4 * (size_t)count_of(&node->tensors[1]), bytes, kept;
    if (weights <= tensors) return;
    void *got = run(model, kHaliteKernelsFast, 1, tensors, &x, &bytes, &kept);
    assert_int_equal(bytes, expected_bytes);
    assert_int_equal(kept, 0);
    assert_memory_equal(got, expected, bytes);
    free(got);
    limited++;
}

static struct test_model model_of(const struct node *node)
{
    return (struct test_model){
        .tensor_count = 4,
        .tensors = node->tensors,
        .node_count = 1,
        .nodes = &node->op,
        TEST_INPUTS(0),
        TEST_OUTPUTS(3),
    };
}

static void check(const struct node *node, int threads)
{
    const struct test_model model = model_of(node);
    size_t size, bytes;
    unsigned char *file = test_model_write(&model, &size);
    TfLiteModel *loaded = TfLiteModelCreate(file, size);
    assert_non_null(loaded);
    int count = count_of(&node->tensors[0]);
    float *x = malloc((size_t)count * sizeof *x);
    const int values_of_byte = pick(4) ? 256 : 1, least = pick(2) ? 0x80 : 0;
    for (int i = 0; i < count; i++)
        if (node->tensors[0].type == TEST_FLOAT32)
            x[i] = real();
        else
            ((uint8_t *)x)[i] = (uint8_t)(pick(values_of_byte) + least);
    void *values = x, *expected = on_every_level(&model, loaded, threads, &values, compare, node, &bytes);
    check_limit(node, loaded, x, expected, bytes);
    free(expected);
    free(x);
    TfLiteModelDelete(loaded);
    free(file);
}

struct maker {
    void (*make)(struct node *node);
};

static void check_many(void **state)
{
    const struct maker *maker = *state;
    struct node *node = malloc(sizeof *node);
    for (int i = 0; i < NODES; i++) {
        memset(node, 0, sizeof *node);
        maker->make(node);
        check(node, i % 2 ? 3 : 1);
    }
    free(node);
}

// What a kernel keeps follows from the tensors, not from how far a file says that a window reaches.
static void far_dilation(void **state)
{
    (void)state;
    struct node *node = calloc(1, sizeof *node);
    make_shape(&node->tensors[0], 1, 8, 8, 4);
    make_shape(&node->tensors[1], 4, 3, 3, 4);
    make_shape(&node->tensors[3], 1, 1, 1, 4);
    set_option(&node->op, HL_Conv2DOptions_stride_w, 1);
    set_option(&node->op, HL_Conv2DOptions_stride_h, 1);
    set_option(&node->op, HL_Conv2DOptions_dilation_w_factor, 1);
    set_option(&node->op, HL_Conv2DOptions_dilation_h_factor, 1 << 20);
    node->has_bias = true;
    fill(node, 4, 0, (struct types){TEST_INT8, TEST_INT8});
    finish(node, kTfLiteBuiltinConv2d);
    check(node, 1);

    size_t size, bytes, kept;
    const struct test_model written = model_of(node);
    void *file = test_model_write(&written, &size);
    TfLiteModel *model = TfLiteModelCreate(file, size);
    assert_non_null(model);
    int8_t x[8 * 8 * 4] = {0};
    void *values = x;
    free(run(model, kHaliteKernelsFast, 1, 0, &values, &bytes, &kept));
    assert_in_range(kept, 1, 1 << 20);
    TfLiteModelDelete(model);
    free(file);
    free(node);
}

// So many weights that Winograd's algorithm does its steps one after the other, for all patches.
static void many_channels(void **state)
{
    (void)state;
    struct node *node = calloc(1, sizeof *node);
    assert_non_null(node);
    make_shape(&node->tensors[0], 2, 7, 9, 256);
    make_shape(&node->tensors[1], 243, 3, 3, 256);
    make_shape(&node->tensors[3], 1, 1, 1, 243);
    set_option(&node->op, HL_Conv2DOptions_stride_w, 1);
    set_option(&node->op, HL_Conv2DOptions_stride_h, 1);
    set_option(&node->op, HL_Conv2DOptions_dilation_w_factor, 1);
    set_option(&node->op, HL_Conv2DOptions_dilation_h_factor, 1);
    node->has_bias = true;
    fill(node, 243, 0, (struct types){TEST_FLOAT32, TEST_FLOAT32});
    finish(node, kTfLiteBuiltinConv2d);
    check(node, 1);
    check(node, 3);
    free(node);
}

// So many weights that rows meet them in two parts, of which the second ends with a panel that is not whole, and
// outputs whose lines are fetched.
static void many_hybrid_rows(void **state)
{
    (void)state;
    enum { ROWS = 1060, COLUMNS = 1300, UNITS = 250 };
    struct node *node = malloc(sizeof *node);
    for (int asymmetric = 0; asymmetric < 2; asymmetric++) {
        memset(node, 0, sizeof *node);
        make_dense_shape(node, ROWS, COLUMNS, UNITS);
        set_option(&node->op, HL_FullyConnectedOptions_asymmetric_quantize_inputs, asymmetric);
        fill(node, UNITS, 0, (struct types){TEST_FLOAT32, TEST_INT8});
        finish(node, kTfLiteBuiltinFullyConnected);
        check(node, asymmetric ? 3 : 1);
    }
    free(node);
}

static void new_values(const struct node *node, void *x)
{
    for (int i = 0; i < count_of(&node->tensors[0]); i++)
        if (node->tensors[0].type == TEST_FLOAT32)
            ((float *)x)[i] = real();
        else
            ((uint8_t *)x)[i] = (uint8_t)pick(256);
}

// One interpreter is invoked again with other values, and with its input in the caller's memory, which ends with it.
static void check_again(const struct node *node, const TfLiteModel *model, const char *level)
{
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const size_t size = TfLiteTensorByteSize(input);
    void *memory = malloc(size);
    assert_non_null(memory);
    for (int i = 0; i < 4; i++) {
        if (i == 2) {
            const TfLiteCustomAllocation own = {memory, size};
            const int index = TfLiteInterpreterInputTensorIndices(interpreter)[0];
            assert_int_equal(TfLiteInterpreterSetCustomAllocationForTensor(interpreter, index, &own,
                                                                           kTfLiteCustomAllocationFlagsSkipAlignCheck),
                             kTfLiteOk);
            assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
        }
        void *x = TfLiteTensorData(input);
        new_values(node, x);
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        size_t bytes, kept;
        void *expected = run(model, kHaliteKernelsReference, 1, 0, &x, &bytes, &kept);
        compare(node, level, true, expected, TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)), bytes);
        free(expected);
    }
    TfLiteInterpreterDelete(interpreter);
    free(memory);
}

// Depthwise nodes of one output row, as streaming networks have them, keep what they know of where their input lies.
static void moved_input(void **state)
{
    (void)state;
    static const int channels[] = {3, 8, 20, 32, 48, 64, 100};
    struct node *node = malloc(sizeof *node);
    for (int i = 0; i < 4 * (int)(sizeof channels / sizeof *channels); i++) {
        const int count = channels[i / 4], kh = 1 + pick(9), width = 1 + pick(3), kw = 1 + pick(width);
        memset(node, 0, sizeof *node);
        make_shape(&node->tensors[0], 1, kh, width, count);
        make_shape(&node->tensors[1], 1, kh, kw, count);
        make_shape(&node->tensors[3], 1, 1, 1, count);
        set_option(&node->op, HL_DepthwiseConv2DOptions_padding, 1); // VALID
        set_option(&node->op, HL_DepthwiseConv2DOptions_stride_w, 1);
        set_option(&node->op, HL_DepthwiseConv2DOptions_stride_h, 1);
        set_option(&node->op, HL_DepthwiseConv2DOptions_depth_multiplier, 1);
        fill(node, count, 3, types[i % 4]);
        finish(node, kTfLiteBuiltinDepthwiseConv2d);
        const struct test_model written = model_of(node);
        size_t size;
        void *file = test_model_write(&written, &size);
        TfLiteModel *model = TfLiteModelCreate(file, size);
        assert_non_null(model);
        const struct hl_simd *level;
        for (int l = 0; (level = hl_simd_level(l)); l++) {
            setenv("HALITE_SIMD", level->name, 1);
            check_again(node, model, level->name);
        }
        unsetenv("HALITE_SIMD");
        TfLiteModelDelete(model);
        free(file);
    }
    free(node);
}

// The nodes before were checked against memory limits, too.
static void some_limit_was_tight(void **state)
{
    (void)state;
    assert_true(limited > 0);
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        RANDOM_NODES(make_conv_2d),    cmocka_unit_test(far_dilation),         cmocka_unit_test(many_channels),
        RANDOM_NODES(make_depthwise),  RANDOM_NODES(make_fully_connected),     cmocka_unit_test(many_hybrid_rows),
        cmocka_unit_test(moved_input), cmocka_unit_test(some_limit_was_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
