// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED with weights of 4 bits in blocks that have scales, against the reference kernel on every CPU level:
// random floats but for the rounding of sums, and numbers that floats hold exactly, bit for bit. --bench prints the
// times (support/bench.h).
#include "both_kernels.h"

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, W, B, Y, S, TENSORS, LAYERS = 60, MAX_UNITS = 1024, MAX_COLUMNS = 1024, MAX_ROWS = 12, MIN_BLOCK = 8 };

struct layer {
    int rows, columns, units, block;
    bool asymmetric, has_bias, exact;
    int activation;
};

static uint8_t weights[MAX_UNITS * MAX_COLUMNS / 2];
static uint16_t scales[MAX_UNITS * MAX_COLUMNS / MIN_BLOCK];
static float bias[MAX_UNITS], x[MAX_ROWS * MAX_COLUMNS];

// The largest differences that the rounding of as many sums can make: scales are below 2^-5, weights at most 8, and x
// with its zero point at most 4.
static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    const struct layer *layer = arg;
    const float near = layer->exact ? 0 : 0x1p-22f * (float)layer->columns, *a = expected, *b = got;
    assert_true(taken);
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        if (!(fabsf(a[i] - b[i]) <= near))
            fail_msg("%s: %d x %d x %d in blocks of %d: element %zu is %.9g, not %.9g", level, layer->rows,
                     layer->columns, layer->units, layer->block, i, (double)b[i], (double)a[i]);
}

static void check(const struct layer *layer, int threads)
{
    const int blocks = layer->units * (layer->columns / layer->block);
    struct test_tensor tensors[TENSORS] = {
        [X] = {.name = "x", .rank = 2, .dims = {layer->rows, layer->columns}},
        [W] = {.name = "w",
               .type = TEST_INT4,
               .rank = 2,
               .dims = {layer->units, layer->columns},
               .data = weights,
               .bytes = (size_t)layer->units * (size_t)layer->columns / 2,
               .block_size = layer->block,
               .block_scales = S},
        [B] = {.name = "b",
               .rank = 1,
               .dims = {layer->units},
               .data = bias,
               .bytes = (size_t)layer->units * sizeof *bias},
        [Y] = {.name = "y", .rank = 2, .dims = {layer->rows, layer->units}},
        [S] = {.name = "s",
               .type = TEST_FLOAT16,
               .rank = 2,
               .dims = {layer->units, layer->columns / layer->block},
               .data = scales,
               .bytes = (size_t)blocks * sizeof *scales},
    };
    struct test_node node = {
        .builtin = kTfLiteBuiltinFullyConnected,
        .version = 9,
        TEST_INPUTS(X, W, layer->has_bias ? B : -1),
        TEST_OUTPUTS(Y),
    };
    set_option(&node, HL_FullyConnectedOptions_fused_activation_function, layer->activation);
    set_option(&node, HL_FullyConnectedOptions_asymmetric_quantize_inputs, layer->asymmetric);
    const struct test_model written = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(X), TEST_OUTPUTS(Y)};
    size_t size, bytes;
    unsigned char *file = test_model_write(&written, &size);
    TfLiteModel *model = TfLiteModelCreate(file, size);
    assert_non_null(model);
    void *values = x;
    free(on_every_level(&written, model, threads, &values, compare, layer, &bytes));
    TfLiteModelDelete(model);
    free(file);
}

static struct layer random_layer(void)
{
    static const int blocks[] = {8, 16, 24, 32, 64, 128};
    const int block = blocks[pick(6)];
    return (struct layer){
        .rows = 1 + pick(pick(2) ? MAX_ROWS : 2),
        .columns = block * (2 + pick(512 / block - 2)),
        .units = 1 + pick(100),
        .block = block,
        .asymmetric = pick(2),
        .has_bias = pick(2),
        .activation = (const int[]){0, 1, 3}[pick(3)], // none, RELU, RELU6
    };
}

static void fill_floats(float offset)
{
    for (size_t n = 0; n < sizeof x / sizeof *x; n++) x[n] = offset + (float)(pick(2001) - 1000) / 1000;
    for (size_t n = 0; n < sizeof weights; n++) weights[n] = (uint8_t)pick(256);
    for (size_t n = 0; n < sizeof scales / sizeof *scales; n++)
        scales[n] = hl_half_from_float((float)(1 + pick(1000)) / 32001);
    for (int n = 0; n < MAX_UNITS; n++) bias[n] = (float)(pick(2001) - 1000) / 1000;
}

static void floats(void **state)
{
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        const struct layer layer = random_layer();
        fill_floats((float)(pick(5) - 2) / 2); // some rows are positive or negative throughout
        check(&layer, i % 2 ? 3 : 1);
    }
}

// Rows whose largest magnitude is 127 are quantized as they are, and scales are powers of two: all sums are exact.
// Every third layer has the largest products: all weights -8.
static void exact_sums(void **state)
{
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        struct layer layer = random_layer();
        layer.exact = true, layer.asymmetric = false;
        for (int n = 0; n < layer.rows * layer.columns; n++)
            x[n] = n % layer.columns == 0 ? 127 : (float)(i % 3 == 0 ? -127 : pick(255) - 127);
        for (size_t n = 0; n < sizeof weights; n++) weights[n] = (uint8_t)(i % 3 == 0 ? 0x88 : pick(256));
        for (size_t n = 0; n < sizeof scales / sizeof *scales; n++)
            scales[n] = hl_half_from_float(1.0f / (float)(1 << pick(3)));
        for (int n = 0; n < layer.units; n++) bias[n] = (float)(pick(2001) - 1000);
        check(&layer, i % 2 ? 3 : 1);
    }
}

// The layer of a language model, and several rows of it.
static void large(void **state)
{
    (void)state;
    struct layer layer = {.rows = 1, .columns = MAX_COLUMNS, .units = MAX_UNITS, .block = 32, .asymmetric = true};
    fill_floats(0);
    check(&layer, 1);
    layer.rows = MAX_ROWS - 1;
    check(&layer, 3);
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),
        cmocka_unit_test(exact_sums),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
