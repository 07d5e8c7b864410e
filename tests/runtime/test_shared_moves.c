// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, look at windows, reduce axes, transform or broadcast, with tensors that are large
// enough to be shared among threads: three threads write what one thread does. (What one thread has to write, the
// golden cases say.)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/options.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

enum { THREADS = 3 };

static void fill(void *bytes, size_t size)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        ((uint8_t *)bytes)[i] = (uint8_t)(state >> 24);
    }
}

// The first output of a model for an input of fixed bytes, malloc'ed.
static void *run(const TfLiteModel *model, int threads, size_t *size)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, i);
        fill(TfLiteTensorData(input), TfLiteTensorByteSize(input));
        if (TfLiteTensorType(input) == kTfLiteFloat32) // no NaN, whose order no one promises
            for (size_t k = 3; k < TfLiteTensorByteSize(input); k += 4) ((uint8_t *)TfLiteTensorData(input))[k] &= 0xBF;
    }
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    *size = TfLiteTensorByteSize(output);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    memcpy(bytes, TfLiteTensorData(output), *size);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    return bytes;
}

#define WIDE_TENSOR(...)                                                      \
    {                                                                         \
        .name = "x", .type = TEST_FLOAT32, .rank = 4, .dims = { __VA_ARGS__ } \
    }
#define OUTPUT(...)                                                           \
    {                                                                         \
        .name = "y", .type = TEST_FLOAT32, .rank = 4, .dims = { __VA_ARGS__ } \
    }
#define CONSTANT(...)                                                                                    \
    {                                                                                                    \
        .name = "c", .type = TEST_INT32, .rank = 1, .dims = {TEST_LENGTH(((const int[]){__VA_ARGS__}))}, \
        .data = (const int[]){__VA_ARGS__}, .bytes = sizeof((const int[]){__VA_ARGS__})                  \
    }
#define WINDOW(size, step)                                                 \
    .settings = {{.field = HL_Pool2DOptions_stride_h, .value = step},      \
                 {.field = HL_Pool2DOptions_stride_w, .value = step},      \
                 {.field = HL_Pool2DOptions_filter_height, .value = size}, \
                 {.field = HL_Pool2DOptions_filter_width, .value = size}}

#define KEEP_DIMS .settings = {{.field = HL_ReducerOptions_keep_dims, .value = 1}}
#define DIVISORS                                                                                                \
    {                                                                                                           \
        .name = "c", .type = TEST_FLOAT32, .rank = 1, .dims = {5}, .data = (const float[]){1, 3, 7, 0.1f, -11}, \
        .bytes = 5 * sizeof(float)                                                                              \
    }

static const struct row {
    const char *name;
    struct test_tensor tensors[4]; // the output second
    struct test_node node;
} rows[] = {
    {"to channels first",
     {WIDE_TENSOR(1, 37, 41, 19), OUTPUT(1, 19, 37, 41), CONSTANT(0, 3, 1, 2)},
     {.builtin = kTfLiteBuiltinTranspose, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"to channels last",
     {WIDE_TENSOR(2, 19, 37, 41), OUTPUT(2, 37, 41, 19), CONSTANT(0, 2, 3, 1)},
     {.builtin = kTfLiteBuiltinTranspose, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"a matrix turned",
     {WIDE_TENSOR(1, 1, 515, 131), OUTPUT(1, 1, 131, 515), CONSTANT(0, 1, 3, 2)},
     {.builtin = kTfLiteBuiltinTranspose, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"a few long rows turned",
     {WIDE_TENSOR(1, 1, 3, 9001), OUTPUT(1, 1, 9001, 3), CONSTANT(0, 1, 3, 2)},
     {.builtin = kTfLiteBuiltinTranspose, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"backward",
     {WIDE_TENSOR(1, 37, 41, 19), OUTPUT(1, 37, 41, 19), CONSTANT(1, 2)},
     {.builtin = kTfLiteBuiltinReverseV2, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"a part",
     {WIDE_TENSOR(1, 57, 61, 19), OUTPUT(1, 50, 41, 11), CONSTANT(0, 3, 5, 2), CONSTANT(1, 50, 41, 11)},
     {.builtin = kTfLiteBuiltinSlice, TEST_INPUTS(0, 2, 3), TEST_OUTPUTS(1)}},
    {"one number many times",
     {WIDE_TENSOR(1, 1, 1, 1), OUTPUT(1, 99, 99, 9), CONSTANT(1, 99, 99, 9)},
     {.builtin = kTfLiteBuiltinTile, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"joined along the channels",
     {WIDE_TENSOR(1, 37, 41, 9), OUTPUT(1, 37, 41, 18)},
     {.builtin = kTfLiteBuiltinConcatenation,
      TEST_INPUTS(0, 0),
      TEST_OUTPUTS(1),
      .settings = {{.field = HL_ConcatenationOptions_axis, .value = 3}}}},
    {"a border of pixels",
     {WIDE_TENSOR(1, 37, 41, 19),
      OUTPUT(1, 42, 44, 19),
      {.name = "c",
       .type = TEST_INT32,
       .rank = 2,
       .dims = {4, 2},
       .data = (const int[]){0, 0, 2, 3, 1, 2, 0, 0},
       .bytes = 8 * sizeof(int)}},
     {.builtin = kTfLiteBuiltinPad, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"more channels and pictures",
     {WIDE_TENSOR(2, 37, 41, 9),
      OUTPUT(4, 37, 41, 16),
      {.name = "c",
       .type = TEST_INT32,
       .rank = 2,
       .dims = {4, 2},
       .data = (const int[]){1, 1, 0, 0, 0, 0, 3, 4},
       .bytes = 8 * sizeof(int)}},
     {.builtin = kTfLiteBuiltinPad, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"the largest in windows",
     {WIDE_TENSOR(2, 37, 41, 19), OUTPUT(2, 19, 21, 19)},
     {.builtin = kTfLiteBuiltinMaxPool2d, TEST_INPUTS(0), TEST_OUTPUTS(1), WINDOW(3, 2)}},
    {"the mean in windows",
     {WIDE_TENSOR(1, 37, 41, 19), OUTPUT(1, 37, 41, 19)},
     {.builtin = kTfLiteBuiltinAveragePool2d, TEST_INPUTS(0), TEST_OUTPUTS(1), WINDOW(5, 1)}},
    {"the sum of short rows",
     {WIDE_TENSOR(1, 135, 141, 2), OUTPUT(1, 135, 141, 1), CONSTANT(3)},
     {.builtin = kTfLiteBuiltinSum, TEST_INPUTS(0, 2), TEST_OUTPUTS(1), KEEP_DIMS}},
    {"the largest of columns",
     {WIDE_TENSOR(3, 37, 41, 19), OUTPUT(3, 1, 41, 19), CONSTANT(1)},
     {.builtin = kTfLiteBuiltinReduceMax, TEST_INPUTS(0, 2), TEST_OUTPUTS(1), KEEP_DIMS}},
    {"the means of pictures and channels",
     {WIDE_TENSOR(5, 37, 41, 3), OUTPUT(5, 1, 41, 1), CONSTANT(1, 3)},
     {.builtin = kTfLiteBuiltinMean, TEST_INPUTS(0, 2), TEST_OUTPUTS(1), KEEP_DIMS}},
    {"the sum of everything",
     {WIDE_TENSOR(2, 37, 41, 3), OUTPUT(1, 1, 1, 1), CONSTANT(0, 1, 2, 3)},
     {.builtin = kTfLiteBuiltinSum, TEST_INPUTS(0, 2), TEST_OUTPUTS(1), KEEP_DIMS}},
    {"pictures as waves",
     {WIDE_TENSOR(9, 5, 8, 64),
      {.name = "y", .type = TEST_COMPLEX64, .rank = 4, .dims = {9, 5, 8, 33}},
      CONSTANT(8, 64)},
     {.builtin = kTfLiteBuiltinRfft2d, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"quotients by channel",
     {WIDE_TENSOR(1, 37, 41, 5), OUTPUT(1, 37, 41, 5), DIVISORS},
     {.builtin = kTfLiteBuiltinDiv, TEST_INPUTS(0, 2), TEST_OUTPUTS(1)}},
    {"powers of whole tensors",
     {WIDE_TENSOR(1, 37, 41, 5), OUTPUT(1, 37, 41, 5)},
     {.builtin = kTfLiteBuiltinPow, TEST_INPUTS(0, 0), TEST_OUTPUTS(1)}},
};

static void three_threads_write_what_one_does(void **state)
{
    (void)state;
    for (int r = 0; r < TEST_LENGTH(rows); r++) {
        struct test_model graph = {
            .tensor_count = 4, .tensors = rows[r].tensors, TEST_NODE(rows[r].node), TEST_INPUTS(0), TEST_OUTPUTS(1)};
        while (graph.tensors[graph.tensor_count - 1].name == NULL) graph.tensor_count--;
        size_t size, alone_size, shared_size;
        unsigned char *file = test_model_write(&graph, &size);
        TfLiteModel *model = TfLiteModelCreate(file, size);
        assert_non_null(model);
        void *alone = run(model, 1, &alone_size), *shared = run(model, THREADS, &shared_size);
        assert_int_equal(alone_size, shared_size);
        if (memcmp(alone, shared, alone_size) != 0) fail_msg("%s: three threads write something else", rows[r].name);
        free(alone);
        free(shared);
        TfLiteModelDelete(model);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_threads_write_what_one_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
