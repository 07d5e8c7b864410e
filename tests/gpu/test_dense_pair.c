// SPDX-License-Identifier: Apache-2.0
// Two dense layers of one position, with a mean in front or without (ops/dense_pair.c): one dispatch where the shapes
// allow it, none where anything else needs the values between, and each device that is here gives the CPU's elements.
#include <math.h>

#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler { RIGHT, SHARED, OUTPUT, WINDOWS, RESIDUAL, ROOT, SPOILERS };
static const char *const spoilers[] = {"right",
                                       "the value between has two readers",
                                       "the value between is an output",
                                       "the first layer has several positions",
                                       "a value is added between",
                                       "a root between, which of zero is no number"};

// A layer behind x, as a convolution of rank 4 or as FULLY_CONNECTED, with or without a bias.
static int add_layer(struct sketch *sketch, int x, int outputs, bool dense)
{
    const struct test_tensor *tensor = &sketch->tensors[x];
    int dims[4], rank = tensor->rank, inputs = tensor->dims[rank - 1];
    memcpy(dims, tensor->dims, sizeof dims);
    dims[rank - 1] = outputs;
    const float size = 2 / sqrtf((float)inputs);
    const int weights = dense ? sketch_constant(sketch, 2, (int[]){outputs, inputs}, -size, size)
                              : sketch_constant(sketch, 4, (int[]){outputs, 1, 1, inputs}, -size, size);
    const int bias = sketch_constant(sketch, 1, &outputs, -0.5f, 0.5f);
    const int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    struct test_node *node = sketch_node(sketch, dense ? kTfLiteBuiltinFullyConnected : kTfLiteBuiltinConv2d,
                                         dense ? 2 + pick(2) : 3, (int[]){x, weights, bias}, y);
    const struct test_setting strides[] = {TEST_SET(Conv2DOptions, stride_w, 1), TEST_SET(Conv2DOptions, stride_h, 1)};
    if (dense)
        node->settings[0] = (struct test_setting)TEST_SET(FullyConnectedOptions, keep_num_dims, rank == 4);
    else
        memcpy(node->settings, strides, sizeof strides);
    return y;
}

static int add_mean(struct sketch *sketch, int x, bool pool)
{
    const int *dims = sketch->tensors[x].dims;
    const int y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){dims[0], 1, 1, dims[3]});
    if (!pool) {
        sketch_node(sketch, kTfLiteBuiltinMean, 2, (int[]){x, sketch_ints(sketch, 2, (int[]){1, 2})}, y)->settings[0] =
            (struct test_setting)TEST_SET(ReducerOptions, keep_dims, 1);
        return y;
    }
    const struct test_setting window[] = {TEST_SET(Pool2DOptions, stride_w, 1), TEST_SET(Pool2DOptions, stride_h, 1),
                                          TEST_SET(Pool2DOptions, filter_width, dims[2]),
                                          TEST_SET(Pool2DOptions, filter_height, dims[1]),
                                          TEST_SET(Pool2DOptions, padding, 1)};
    memcpy(sketch_node(sketch, kTfLiteBuiltinAveragePool2d, 1, &x, y)->settings, window, sizeof window);
    return y;
}

static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int between[] = {kTfLiteBuiltinRelu, kTfLiteBuiltinTanh, kTfLiteBuiltinHardSwish,
                                  kTfLiteBuiltinLogistic};
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 577 + (uint32_t)spoiler + 11;
    for (int i = 0; i < 8; i++) pick(2);
    const int most = number % 4 == 0 ? 150 : 20, inputs = 1 + pick(most), hidden = 1 + pick(most),
              outputs = 1 + pick(most);
    const int side = number % 3 == 0 ? 2 + pick(20) : 2 + pick(5);
    const bool squeezes = pick(3) > 0, dense = pick(2);
    int dims[4] = {1 + pick(3), 1, 1, inputs};
    if (squeezes || spoiler == WINDOWS) dims[1] = 2 + pick(4), dims[2] = side;
    int x = sketch_input(sketch, 4, dims);
    if (spoiler != WINDOWS && squeezes) x = add_mean(sketch, x, pick(2));
    int y = add_layer(sketch, x, hidden, spoiler != WINDOWS && dense);
    if (spoiler == RESIDUAL)
        y = sketch_two(sketch, kTfLiteBuiltinAdd, y, sketch_input(sketch, 4, sketch->tensors[y].dims));
    if (spoiler == ROOT)
        y = sketch_one(sketch, kTfLiteBuiltinRsqrt, sketch_one(sketch, kTfLiteBuiltinExp, y));
    else if (pick(4))
        y = sketch_one(sketch, between[pick(4)], y);
    if (spoiler == OUTPUT) sketch_output(sketch, y);
    const int middle = y;
    y = add_layer(sketch, y, outputs, spoiler != WINDOWS && pick(2));
    if (spoiler == SHARED) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinAbs, middle));
    for (int n = pick(3); n > 0; n--) y = sketch_one(sketch, between[pick(4)], y);
    if (pick(3) == 0) y = sketch_two(sketch, kTfLiteBuiltinMul, y, sketch_input(sketch, 4, sketch->tensors[y].dims));
    sketch_output(sketch, y);
}

static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 1,   .bound = 1e-5f, .bound_in_halves = 8e-3f};

static void one_dispatch_where_it_can_be(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, 40, "dense_pair", true);
}

// Layers behind each other are pairs from the first on.
static void rows_of_layers(void **state)
{
    (void)state;
    for (int layers = 1; layers < 8; layers++) {
        struct sketch sketch = {.tensor_count = 0};
        int y = sketch_input(&sketch, 4, (int[]){2, 1, 1, 24});
        for (int n = 0; n < layers; n++)
            y = sketch_one(&sketch, kTfLiteBuiltinRelu, add_layer(&sketch, y, 10 + n, n % 3 == 0));
        sketch_output(&sketch, y);
        assert_int_equal(sketch_count(&sketch, "dense_pair", NULL), layers / 2);
        assert_int_equal(sketch_count(&sketch, "convolve", NULL), layers % 2);
        if (has_device("vulkan")) sketch_compare(&sketch, "vulkan", "f32", 1, 1e-5f, "a row of layers");
        sketch_free(&sketch);
    }
}

// One compute unit would take longer for all weights than a step of the list takes.
static void large_layers_stay(void **state)
{
    (void)state;
    struct sketch sketch = {.tensor_count = 0};
    int x = sketch_input(&sketch, 4, (int[]){1, 1, 1, 1024});
    sketch_output(&sketch, add_layer(&sketch, add_layer(&sketch, x, 512, false), 1024, false));
    assert_int_equal(sketch_count(&sketch, "dense_pair", NULL), 0);
    assert_int_equal(sketch_count(&sketch, "convolve", NULL), 2);
    sketch_free(&sketch);
}

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 12, 1}, {&graphs, "vulkan", "f32", 40, 2},  {&graphs, "gles", "f32", 8, 0},
    {&graphs, "cuda", "f32", 8, 0},    {&graphs, "vulkan", "f16s", 12, 0}, {&graphs, "vulkan", "f16", 12, 0},
};

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_dispatch_where_it_can_be),
        cmocka_unit_test(rows_of_layers),
        cmocka_unit_test(large_layers_stay),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
