// SPDX-License-Identifier: Apache-2.0
// Memory: a thousand interpreters leave nothing behind (seen by LeakSanitizer in the asan preset), every allocation
// made to fail in turn gives an error with a message and objects that can be deleted, and further interpreters of a
// model ask for no memory for packed weights. Linked with --wrap for the allocators.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

// ---- the allocators -----------------------------------------------------------------------------

static long countdown = -1; // fail the call that finds 0; below 0: never
static bool failed;
static size_t asked; // bytes, of all calls

static bool fails_now(size_t size)
{
    asked += size;
    if (countdown < 0 || countdown-- > 0) return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_now(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails_now(size) ? NULL : __real_realloc(block, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    return fails_now(size) ? 12 : __real_posix_memalign(block, alignment, size);
}

// ---- three models -------------------------------------------------------------------------------

static const float weights[8] = {1, 2, 3, 4, -1, -2, -3, -4}, bias[2] = {0.5f, -0.5f};
static const int8_t int8_weights[8] = {1, 2, 3, 4, -1, -2, -3, -4};
static const int32_t int8_bias[2] = {100, -100}, new_shape[2] = {2, 1};

// FULLY_CONNECTED, TANH, RESHAPE, MUL with itself, and a variable nobody uses.
static const struct test_tensor float_tensors[] = {
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 4}},
    {.name = "w", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 4}, .data = weights, .bytes = sizeof weights},
    {.name = "b", .type = TEST_FLOAT32, .rank = 1, .dims = {2}, .data = bias, .bytes = sizeof bias},
    {.name = "fc", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
    {.name = "tanh", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
    {.name = "shape", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = new_shape, .bytes = sizeof new_shape},
    {.name = "r", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 1}},
    {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 1}},
    {.name = "state", .type = TEST_FLOAT32, .rank = 1, .dims = {3}, .is_variable = true},
};
static const struct test_node float_nodes[] = {
    {.builtin = kTfLiteBuiltinFullyConnected, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)},
    {.builtin = kTfLiteBuiltinTanh, TEST_INPUTS(3), TEST_OUTPUTS(4)},
    {.builtin = kTfLiteBuiltinReshape, TEST_INPUTS(4, 5), TEST_OUTPUTS(6)},
    {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(6, 6), TEST_OUTPUTS(7)},
};

// FULLY_CONNECTED, RESHAPE to a shape that only the run knows, LOGISTIC behind it: dynamic tensors.
static const struct test_tensor int8_tensors[] = {
    {.name = "x", .type = TEST_INT8, .rank = 2, .dims = {1, 4}, .scale = 0.5f},
    {.name = "w", .type = TEST_INT8, .rank = 2, .dims = {2, 4}, .data = int8_weights, .bytes = 8, .scale = 0.25f},
    {.name = "b", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = int8_bias, .bytes = 8, .scale = 0.125f},
    {.name = "fc", .type = TEST_INT8, .rank = 2, .dims = {1, 2}, .scale = 0.5f, .zero_point = 3},
    {.name = "shape", .type = TEST_INT32, .rank = 1, .dims = {2}},
    {.name = "r", .type = TEST_INT8, .rank = 2, .dims = {2, 1}, .scale = 0.5f, .zero_point = 3},
    {.name = "y", .type = TEST_INT8, .rank = 2, .dims = {2, 1}, .scale = 1.0f / 256, .zero_point = -128},
};
static const struct test_node int8_nodes[] = {
    {.builtin = kTfLiteBuiltinFullyConnected, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)},
    {.builtin = kTfLiteBuiltinReshape, TEST_INPUTS(3, 4), TEST_OUTPUTS(5)},
    {.builtin = kTfLiteBuiltinLogistic, TEST_INPUTS(5), TEST_OUTPUTS(6)},
};

// FULLY_CONNECTED with float16 weights, enough for DEQUANTIZE to share what it makes of them.
enum { UNITS = 320 };
static const uint16_t half_weights[UNITS * 4];
static const struct test_tensor half_tensors[] = {
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 4}},
    {.name = "h",
     .type = TEST_FLOAT16,
     .rank = 2,
     .dims = {UNITS, 4},
     .data = half_weights,
     .bytes = sizeof half_weights},
    {.name = "w", .type = TEST_FLOAT32, .rank = 2, .dims = {UNITS, 4}},
    {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {1, UNITS}},
};
static const struct test_node half_nodes[] = {
    {.builtin = kTfLiteBuiltinDequantize, .version = 3, TEST_INPUTS(1), TEST_OUTPUTS(2)},
    {.builtin = kTfLiteBuiltinFullyConnected, TEST_INPUTS(0, 2, -1), TEST_OUTPUTS(3)},
};

static const struct test_model models[] = {
    {TEST_TENSORS(float_tensors), TEST_NODES(float_nodes), TEST_INPUTS(0), TEST_OUTPUTS(7)},
    {TEST_TENSORS(int8_tensors), TEST_NODES(int8_nodes), TEST_INPUTS(0, 4), TEST_OUTPUTS(6)},
    {TEST_TENSORS(half_tensors), TEST_NODES(half_nodes), TEST_INPUTS(0), TEST_OUTPUTS(3)},
};

// ---- one whole life -----------------------------------------------------------------------------

static int messages;

static void count_message(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    char text[1024];
    assert_true(vsnprintf(text, sizeof text, format, args) > 0);
    messages++;
}

static TfLiteStatus fill_and_invoke(TfLiteInterpreter *interpreter)
{
    static const float x_float[4] = {0.1f, 0.2f, -0.3f, 0.4f};
    static const int8_t x_int8[4] = {1, -2, 3, 4};
    static const int32_t shape[2] = {2, 1};
    if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return kTfLiteError;
    TfLiteTensor *x = TfLiteInterpreterGetInputTensor(interpreter, 0);
    bool is_float = TfLiteTensorType(x) == kTfLiteFloat32;
    assert_int_equal(TfLiteTensorCopyFromBuffer(x, is_float ? (const void *)x_float : (const void *)x_int8,
                                                TfLiteTensorByteSize(x)),
                     kTfLiteOk);
    if (!is_float)
        assert_int_equal(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 1), shape,
                                                    sizeof shape),
                         kTfLiteOk);
    return TfLiteInterpreterInvoke(interpreter);
}

// True when all went well.
static bool live(const unsigned char *file, size_t size)
{
    bool ok = false;
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(file, size, count_message, NULL);
    TfLiteInterpreterOptions *options = model ? TfLiteInterpreterOptionsCreate() : NULL;
    if (model && !options) messages++; // no reporter to speak to yet: NULL is the message
    if (options) TfLiteInterpreterOptionsSetErrorReporter(options, count_message, NULL);
    TfLiteInterpreter *interpreter = options ? TfLiteInterpreterCreate(model, options) : NULL;
    if (interpreter) ok = fill_and_invoke(interpreter) == kTfLiteOk;
    // The second one of the model shares what it can.
    TfLiteInterpreter *second = ok ? TfLiteInterpreterCreate(model, options) : NULL;
    ok = second && fill_and_invoke(second) == kTfLiteOk;
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    TfLiteInterpreterDelete(second);
    return ok;
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        size_t size;
        unsigned char *file = test_model_write(&models[m], &size);
        assert_true(live(file, size));
        bool reached = true;
        for (long n = 0; reached; n++) {
            countdown = n;
            failed = false;
            messages = 0;
            bool ok = live(file, size);
            countdown = -1;
            reached = failed;
            if (failed && (ok || messages == 0))
                fail_msg("model %d: allocation %ld failed: %s, %d messages", (int)m, n, ok ? "no error" : "an error",
                         messages);
            assert_true(failed || ok);
        }
        free(file);
    }
}

static void a_thousand_lives(void **state)
{
    (void)state;
    size_t size;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        unsigned char *file = test_model_write(&models[m], &size);
        for (int i = 0; i < 1000; i++) assert_true(live(file, size));
        free(file);
    }
}

// ---- interpreters of one model --------------------------------------------------------------------

static TfLiteInterpreter *create(const TfLiteModel *model, HaliteWeightsCache *cache, size_t *bytes)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsFast);
    HaliteInterpreterOptionsSetWeightsCache(options, cache);
    TfLiteInterpreterOptionsSetNumThreads(options, 1);
    asked = 0;
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    *bytes = asked;
    TfLiteInterpreterOptionsDelete(options);
    return interpreter;
}

// Bytes that an interpreter keeps of the model's weights beside the file: packed ones, and floats made of float16.
static int64_t bytes_of_weights(const char *path)
{
    TfLiteModel *model = TfLiteModelCreateFromFile(path);
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate(); // which can tell, unlike the model's own
    size_t bytes;
    TfLiteInterpreter *interpreter = create(model, cache, &bytes);
    bytes = HaliteWeightsCacheGetBytes(cache);
    const TfLiteTensor *tensor;
    for (int32_t i = 0; (tensor = HaliteInterpreterGetSubgraphTensor(interpreter, 0, i)) != NULL; i++)
        if (tensor->type == kTfLiteFloat16 && tensor->allocation_type == kTfLiteMmapRo) bytes += 2 * tensor->bytes;
    TfLiteInterpreterDelete(interpreter);
    HaliteWeightsCacheDelete(cache);
    TfLiteModelDelete(model);
    return (int64_t)bytes;
}

// What the second to the tenth interpreter of a model do not allocate, but the first did, is shared: at least 95 % of
// the weights.
static void further_interpreters(void **state)
{
    (void)state;
    enum { INTERPRETERS = 10 };
    static const char *const names[] = {"float", "fp16", "int8", "quant", "dynamic_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        struct stat facts;
        snprintf(path, sizeof path, "../shared/models/classification/mobilenet_v1_1.0_224_%s.tflite", names[i]);
        if (stat(path, &facts) != 0) {
            printf("left out: %s is not here\n", path);
            continue;
        }
        const int64_t weights_bytes = bytes_of_weights(path);
        assert_true(weights_bytes > facts.st_size / 2);
        TfLiteModel *model = TfLiteModelCreateFromFile(path);
        TfLiteInterpreter *interpreters[INTERPRETERS];
        size_t bytes[INTERPRETERS];
        for (int k = 0; k < INTERPRETERS; k++) {
            interpreters[k] = create(model, NULL, &bytes[k]);
            if (k == 0) continue;
            const int64_t more = weights_bytes - ((int64_t)bytes[0] - (int64_t)bytes[k]);
            if (more * 20 >= weights_bytes)
                fail_msg("%s: of %lld bytes of weights, interpreter %d has %lld of its own", names[i],
                         (long long)weights_bytes, k, (long long)more);
        }
        printf("%s: %lld bytes of weights; allocated by the first, second and tenth interpreter: %zu, %zu, %zu\n",
               names[i], (long long)weights_bytes, bytes[0], bytes[1], bytes[INTERPRETERS - 1]);
        TfLiteModelDelete(model);
        for (int k = 0; k < INTERPRETERS; k++) TfLiteInterpreterDelete(interpreters[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(a_thousand_lives),
        cmocka_unit_test(further_interpreters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
