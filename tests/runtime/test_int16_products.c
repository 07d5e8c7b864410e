// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL, CONV_2D and QUANTIZE of int16 against the reference kernels, bit for bit, on random nodes and every CPU
// level that is here: random values, and the largest of all, whose sums leave int32 after 512 products. --bench prints
// their times (support/bench.h).
#include "both_kernels.h"

#include <math.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, W, B, Y, TENSORS, NODES = 120, MOST = 1 << 19, MAX_OUTPUTS = 128 };

// Values: any of the type, the smallest in all places, or small ones.
enum kind { ANY, SMALLEST, SMALL, KINDS };

static struct test_tensor tensors[TENSORS];
static float scales[MAX_OUTPUTS];
static union {
    int16_t words[MOST];
    int8_t bytes[MOST];
} x, w;
static int64_t bias[MAX_OUTPUTS];

static void set_tensor(int i, const char *name, enum test_type type, int rank, const int *dims, float scale)
{
    tensors[i] = (struct test_tensor){.name = name, .type = type, .rank = rank, .scale = scale};
    for (int d = 0; d < rank; d++) tensors[i].dims[d] = dims[d];
}

static void fill(const struct test_tensor *tensor, enum kind kind, int16_t *words, int8_t *bytes)
{
    const int count = count_of(tensor);
    assert_true(count <= MOST);
    for (int i = 0; i < count; i++)
        if (tensor->type == TEST_INT16)
            words[i] = (int16_t)(kind == ANY ? pick(1 << 16) - (1 << 15) : kind == SMALL ? pick(65) - 32 : INT16_MIN);
        else
            bytes[i] = (int8_t)(kind == ANY ? pick(256) - 128 : kind == SMALL ? pick(7) - 3 : INT8_MIN);
}

// Scales for w, one or one for each output, and for y. From sums to outputs: from factors that make 0 of all sums to
// one whose products the reference kernel wraps around at 32 bits.
static void set_scales(int outputs, int axis, bool large)
{
    static const double factors[] = {0x1p-30, 0x1.9p-22, 0x1p-15, 0x1.7p-8, 0.4, 3.4, 900};
    tensors[X].scale = 0.0001f;
    tensors[W].scale = 0.001f;
    tensors[Y].scale = (float)(1e-7 / factors[pick(large ? 7 : 5)]);
    if (!pick(3) || outputs > MAX_OUTPUTS) return;
    for (int i = 0; i < outputs; i++) scales[i] = 0.00001f * (float)(1 + pick(200));
    tensors[W].scales = scales, tensors[W].scale_count = outputs, tensors[W].quantized_dimension = axis;
}

// Levels may leave QUANTIZE to the reference kernel.
static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    const int16_t *a = expected, *b = got;
    const struct test_model *written = arg;
    assert_true(taken || written->nodes->builtin == kTfLiteBuiltinQuantize);
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        if (a[i] != b[i]) fail_msg("%s: %s: element %zu is %d, not %d", level, label_of(written), i, b[i], a[i]);
}

static void check_model(const struct test_model *written, int threads)
{
    size_t size, bytes;
    unsigned char *file = test_model_write(written, &size);
    TfLiteModel *model = TfLiteModelCreate(file, size);
    assert_non_null(model);
    void *values[2] = {&x, &w};
    free(on_every_level(written, model, threads, values, compare, written, &bytes));
    TfLiteModelDelete(model);
    free(file);
}

static void check(struct test_node *node, bool constant, int threads)
{
    const bool matmul = node->builtin == kTfLiteBuiltinBatchMatmul, alone = node->builtin == kTfLiteBuiltinQuantize;
    struct test_model written = {TEST_TENSORS(tensors), .node_count = 1, .nodes = node, TEST_INPUTS(X),
                                 TEST_OUTPUTS(Y)};
    if (constant)
        tensors[W].data = &w, tensors[W].bytes = (size_t)count_of(&tensors[W]) * (tensors[W].type == TEST_INT8 ? 1 : 2);
    else if (!alone)
        written.inputs[written.input_count++] = W;
    node->input_count = alone ? 1 : matmul ? 2 : 3;
    memcpy(node->inputs, (const int[]){X, W, B}, 3 * sizeof(int));
    node->output_count = 1, node->outputs[0] = Y;
    check_model(&written, threads);
}

static void check_matmul(int m, int n, int k, enum kind kind, int threads)
{
    struct test_node node = {.builtin = kTfLiteBuiltinBatchMatmul, .version = 3};
    const bool adj_x = pick(3) == 0, adj_y = pick(2), many = pick(2);
    const int batches = 1 + pick(3);
    set_tensor(X, "x", TEST_INT16, 3, (const int[]){batches, adj_x ? k : m, adj_x ? m : k}, 0);
    set_tensor(W, "w", pick(2) ? TEST_INT16 : TEST_INT8, 3,
               (const int[]){many ? batches : 1, adj_y ? n : k, adj_y ? k : n}, 0);
    set_tensor(B, "b", TEST_INT64, 1, (const int[]){1}, 0);
    tensors[B].data = bias, tensors[B].bytes = sizeof *bias;
    set_tensor(Y, "y", TEST_INT16, 0, NULL, 0);
    set_scales(n, adj_y ? 1 : 2, true);
    fill(&tensors[X], kind, x.words, x.bytes);
    fill(&tensors[W], kind, w.words, w.bytes);
    set_option(&node, HL_BatchMatMulOptions_adj_x, adj_x);
    set_option(&node, HL_BatchMatMulOptions_adj_y, adj_y);
    check(&node, pick(2), threads);
}

static void matrices(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++)
        check_matmul(1 + pick(pick(2) ? 40 : 4), 1 + pick(pick(2) ? 80 : 6), 1 + pick(pick(2) ? 90 : 5),
                     (enum kind)pick(KINDS), i % 2 ? 3 : 1);
}

// As many products as fit int32, one more, and several times as many.
static void long_rows(void **state)
{
    (void)state;
    static const int depths[] = {509, 510, 511, 512, 513, 1020, 1021, 2049};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        for (int kind = 0; kind < KINDS; kind++) check_matmul(1 + pick(17), 1 + pick(40), depths[i], kind, 1);
}

static void check_conv(int channels, int kernel, int outputs, enum kind kind, int threads)
{
    struct test_node node = {.builtin = kTfLiteBuiltinConv2d, .version = 3};
    const int width = pick(4) ? 7 + pick(20) : 1; // or a series
    const int kh = kernel, kw = width > 1 ? 1 + pick(kernel) : 1, dilation = 1 + pick(2);
    set_tensor(X, "x", TEST_INT16, 4, (const int[]){1 + pick(2), 7 + pick(6), width, channels}, 0);
    set_tensor(W, "w", TEST_INT8, 4, (const int[]){outputs, kh, kw, channels}, 0);
    set_tensor(B, "b", TEST_INT64, 1, (const int[]){outputs}, 0);
    set_tensor(Y, "y", TEST_INT16, 4, (const int[]){1, 1, 1, outputs}, 0);
    tensors[B].data = bias, tensors[B].bytes = (size_t)outputs * sizeof *bias;
    for (int i = 0; i < outputs; i++) bias[i] = ((int64_t)pick(2001) - 1000) * (INT64_C(1) << pick(24));
    set_scales(outputs, 0, false);
    fill(&tensors[X], kind, x.words, x.bytes);
    fill(&tensors[W], kind, w.words, w.bytes);
    set_option(&node, HL_Conv2DOptions_padding, pick(2));
    set_option(&node, HL_Conv2DOptions_stride_w, 1 + pick(2));
    set_option(&node, HL_Conv2DOptions_stride_h, 1 + pick(2));
    set_option(&node, HL_Conv2DOptions_dilation_w_factor, dilation);
    set_option(&node, HL_Conv2DOptions_dilation_h_factor, dilation);
    set_option(&node, HL_Conv2DOptions_fused_activation_function, pick(2));
    check(&node, true, threads);
}

static void convolutions(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++)
        check_conv(1 + pick(pick(2) ? 30 : 4), 1 + pick(4), 1 + pick(pick(2) ? 50 : 5), (enum kind)pick(KINDS),
                   i % 2 ? 3 : 1);
}

// Windows whose largest sums need one piece, or several: within a row of the window, or row by row.
static void large_windows(void **state)
{
    (void)state;
    static const int channels[] = {56, 57, 170, 171, 300, 513};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        for (int kind = 0; kind < KINDS; kind++) check_conv(channels[i], 1 + pick(3), 1 + pick(40), kind, 1);
}

// A convolution that pads itself in place of the PAD before it, and whose outputs a QUANTIZE goes on with.
static void among_others(void **state)
{
    (void)state;
    enum { P = TENSORS, PADDED, Q, ALL };
    for (int i = 0; i < NODES / 4; i++) {
        const int channels = 1 + pick(20), outputs = 1 + pick(40), height = 6 + pick(6), width = 6 + pick(30);
        const int32_t paddings[8] = {0, 0, pick(3), pick(3), pick(3), pick(3), 0, 0};
        const int padded[2] = {height + paddings[2] + paddings[3], width + paddings[4] + paddings[5]};
        struct test_tensor all[ALL];
        set_tensor(X, "x", TEST_INT16, 4, (const int[]){1, height, width, channels}, 0);
        set_tensor(W, "w", TEST_INT8, 4, (const int[]){outputs, 3, 3, channels}, 0);
        set_tensor(B, "b", TEST_INT64, 1, (const int[]){outputs}, 0);
        set_tensor(Y, "y", TEST_INT16, 4, (const int[]){1, padded[0] - 2, padded[1] - 2, outputs}, 0);
        tensors[B].data = bias, tensors[B].bytes = (size_t)outputs * sizeof *bias;
        set_scales(outputs, 0, false);
        fill(&tensors[X], (enum kind)pick(KINDS), x.words, x.bytes);
        fill(&tensors[W], ANY, w.words, w.bytes);
        tensors[W].data = &w, tensors[W].bytes = (size_t)count_of(&tensors[W]);
        memcpy(all, tensors, sizeof tensors);
        all[P] = (struct test_tensor){
            .name = "p", .type = TEST_INT32, .rank = 2, .dims = {4, 2}, .data = paddings, .bytes = sizeof paddings};
        all[PADDED] = tensors[X], all[PADDED].name = "padded";
        all[PADDED].dims[1] = padded[0], all[PADDED].dims[2] = padded[1];
        all[Q] = tensors[Y], all[Q].name = "q", all[Q].scale *= 1.7f;
        struct test_node nodes[] = {
            {.builtin = kTfLiteBuiltinPad, TEST_INPUTS(X, P), TEST_OUTPUTS(PADDED)},
            {.builtin = kTfLiteBuiltinConv2d, .version = 3, TEST_INPUTS(PADDED, W, B), TEST_OUTPUTS(Y)},
            {.builtin = kTfLiteBuiltinQuantize, .version = 2, TEST_INPUTS(Y), TEST_OUTPUTS(Q)},
        };
        set_option(&nodes[1], HL_Conv2DOptions_padding, 1); // VALID
        set_option(&nodes[1], HL_Conv2DOptions_stride_w, 1);
        set_option(&nodes[1], HL_Conv2DOptions_stride_h, 1);
        check_model(&(struct test_model){TEST_TENSORS(all), TEST_NODES(nodes), TEST_INPUTS(X), TEST_OUTPUTS(Q)},
                    i % 2 ? 3 : 1);
    }
}

// From factors that make 0 of all values to one that shifts them to the left.
static void rescaled(void **state)
{
    (void)state;
    static const float factors[] = {1e-6f, 0.003f, 0.4f, 0.5f, 1, 1.5f, 2, 77};
    for (int i = 0; i < NODES; i++) {
        struct test_node node = {.builtin = kTfLiteBuiltinQuantize, .version = 2};
        const int dims[2] = {1 + pick(4), 1 + pick(pick(3) ? 100 : 20000)};
        const float factor = factors[pick(8)];
        set_tensor(X, "x", TEST_INT16, 2, dims, 0.01f);
        set_tensor(W, "w", TEST_INT16, 1, dims, 0.01f);
        set_tensor(B, "b", TEST_INT64, 1, dims, 0);
        set_tensor(Y, "y", TEST_INT16, 2, dims, 0.01f / factor);
        fill(&tensors[X], (enum kind)pick(KINDS), x.words, x.bytes);
        x.words[0] = INT16_MAX;
        check(&node, false, i % 2 ? 3 : 1);
    }
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),      cmocka_unit_test(long_rows),    cmocka_unit_test(convolutions),
        cmocka_unit_test(large_windows), cmocka_unit_test(among_others), cmocka_unit_test(rescaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
