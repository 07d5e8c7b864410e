// SPDX-License-Identifier: Apache-2.0
// What the tests of shared weights have in common: two models of a convolution and a fully connected layer, of floats
// and of int8, whose weights are larger than everything else that their kernels keep, and a client that runs one of
// them.
#ifndef HALITE_TESTS_API_WEIGHTS_CLIENT_H
#define HALITE_TESTS_API_WEIGHTS_CLIENT_H

#include "client.h"
#include "halite/halite.h"
#include "model/schema.h"

enum { X, CONV_W, CONV_B, C, FC_W, FC_B, Y, TENSORS };
enum { SIZE = 12, CHANNELS = 16, FILTERS = 64, UNITS = 96, LONG = SIZE * SIZE * FILTERS };

static float conv_f32[FILTERS * 9 * CHANNELS], fc_f32[UNITS * LONG], bias_f32[UNITS];
static int8_t conv_i8[sizeof conv_f32 / sizeof(float)], fc_i8[sizeof fc_f32 / sizeof(float)];
static int32_t bias_i32[UNITS];

static const struct test_tensor float_tensors[TENSORS] = {
    {.name = "x", .rank = 4, .dims = {1, SIZE, SIZE, CHANNELS}},
    {.name = "cw", .rank = 4, .dims = {FILTERS, 3, 3, CHANNELS}, .data = conv_f32, .bytes = sizeof conv_f32},
    {.name = "cb", .rank = 1, .dims = {FILTERS}, .data = bias_f32, .bytes = FILTERS * sizeof(float)},
    {.name = "c", .rank = 4, .dims = {1, SIZE, SIZE, FILTERS}},
    {.name = "fw", .rank = 2, .dims = {UNITS, LONG}, .data = fc_f32, .bytes = sizeof fc_f32},
    {.name = "fb", .rank = 1, .dims = {UNITS}, .data = bias_f32, .bytes = UNITS * sizeof(float)},
    {.name = "y", .rank = 2, .dims = {1, UNITS}},
};
#define INT8 .type = TEST_INT8
static const struct test_tensor int8_tensors[TENSORS] = {
    {.name = "x", INT8, .rank = 4, .dims = {1, SIZE, SIZE, CHANNELS}, .scale = 0.02f, .zero_point = 3},
    {.name = "cw",
     INT8,
     .rank = 4,
     .dims = {FILTERS, 3, 3, CHANNELS},
     .data = conv_i8,
     .bytes = sizeof conv_i8,
     .scale = 0.01f},
    {.name = "cb",
     .type = TEST_INT32,
     .rank = 1,
     .dims = {FILTERS},
     .data = bias_i32,
     .bytes = FILTERS * sizeof(int32_t),
     .scale = 0.0002f},
    {.name = "c", INT8, .rank = 4, .dims = {1, SIZE, SIZE, FILTERS}, .scale = 0.05f, .zero_point = -7},
    {.name = "fw", INT8, .rank = 2, .dims = {UNITS, LONG}, .data = fc_i8, .bytes = sizeof fc_i8, .scale = 0.01f},
    {.name = "fb",
     .type = TEST_INT32,
     .rank = 1,
     .dims = {UNITS},
     .data = bias_i32,
     .bytes = UNITS * sizeof(int32_t),
     .scale = 0.0005f},
    {.name = "y", INT8, .rank = 2, .dims = {1, UNITS}, .scale = 1, .zero_point = 2},
};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinConv2d,
     .version = 3,
     .input_count = 3,
     .inputs = {X, CONV_W, CONV_B},
     .output_count = 1,
     .outputs = {C},
     .settings = {{HL_Conv2DOptions_stride_w, 1, 0, NULL}, {HL_Conv2DOptions_stride_h, 1, 0, NULL}}},
    {.builtin = kTfLiteBuiltinFullyConnected,
     .version = 4,
     .input_count = 3,
     .inputs = {C, FC_W, FC_B},
     .output_count = 1,
     .outputs = {Y}},
};
static const struct test_model models[] = {
    {TEST_TENSORS(float_tensors), TEST_NODES(nodes), TEST_INPUTS(X), TEST_OUTPUTS(Y)},
    {TEST_TENSORS(int8_tensors), TEST_NODES(nodes), TEST_INPUTS(X), TEST_OUTPUTS(Y)},
};
enum { MODELS = sizeof models / sizeof *models };

static inline int fill_weights(void **state)
{
    (void)state;
    unsigned random = 1;
    for (size_t i = 0; i < sizeof fc_i8; i++) {
        random = random * 1664525 + 1013904223;
        fc_i8[i] = (int8_t)(random >> 24);
        fc_f32[i] = (float)fc_i8[i] / 128;
        if (i < sizeof conv_i8) conv_i8[i] = (int8_t)(random >> 16);
        if (i < sizeof conv_i8) conv_f32[i] = (float)conv_i8[i] / 128;
        if (i < UNITS) bias_i32[i] = (int32_t)(random >> 20) - 2048;
        if (i < UNITS) bias_f32[i] = (float)bias_i32[i] / 256;
    }
    return 0;
}

// Byte i of an image: small floats, or bytes of all values.
static inline unsigned char image_byte(bool floats, size_t i)
{
    return floats ? (unsigned char)(i % 4 == 3 ? 61 : 0) : (unsigned char)(i % 251);
}

// Runs an interpreter of the model that has its memory. Its output goes to y.
static inline void invoke(struct client *client, const struct test_model *model, unsigned char *y)
{
    unsigned char x[SIZE * SIZE * CHANNELS * sizeof(float)];
    assert_ok(TfLiteInterpreterAllocateTensors(client->interpreter));
    for (size_t i = 0; i < sizeof x; i++) x[i] = image_byte(model == &models[0], i);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(client->interpreter, 0);
    assert_ok(TfLiteTensorCopyFromBuffer(input, x, TfLiteTensorByteSize(input)));
    assert_ok(TfLiteInterpreterInvoke(client->interpreter));
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(client->interpreter, 0);
    assert_ok(TfLiteTensorCopyToBuffer(output, y, TfLiteTensorByteSize(output)));
}

// An interpreter of the model with this cache, run once.
static inline void run(struct client *client, const struct test_model *model, HaliteWeightsCache *cache,
                       unsigned char *y)
{
    client_load(client, model);
    HaliteInterpreterOptionsSetKernels(client->options, kHaliteKernelsFast);
    HaliteInterpreterOptionsSetWeightsCache(client->options, cache);
    client_create(client);
    invoke(client, model, y);
}

static inline size_t kept_by(const TfLiteInterpreter *interpreter)
{
    HaliteMemoryReport report;
    assert_ok(HaliteInterpreterGetMemoryReport(interpreter, &report));
    return report.persistent;
}

static inline size_t kept(const struct client *client)
{
    return kept_by(client->interpreter);
}

#endif
