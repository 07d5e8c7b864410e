// SPDX-License-Identifier: Apache-2.0
// What existing bindings (Go, Rust, C#, Dart, Swift, Objective-C) do with the C API, beyond what its headers promise,
// and rely on. Linked with the shared library and nothing of its inside. Runs in the repository's root, on the demo
// models.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

enum { PIXELS = 64, CLASSES = 10 };
static const char float_model[] = "demo/digits.tflite", int8_model[] = "demo/digits_int8.tflite";

// ---- helpers --------------------------------------------------------------------------------------------------------

// The model is deleted at once, as the Dart and Rust bindings do: the interpreter must hold on to it.
static TfLiteInterpreter *open_model(const char *path, const TfLiteInterpreterOptions *options)
{
    TfLiteModel *model = TfLiteModelCreateFromFile(path);
    assert_non_null(model);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteModelDelete(model);
    assert_non_null(interpreter);
    return interpreter;
}

static TfLiteInterpreter *allocate(TfLiteInterpreter *interpreter)
{
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
}

static TfLiteTensor *input_of(const TfLiteInterpreter *interpreter)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    assert_non_null(input);
    return input;
}

// An input that is no constant, and what the int8 model makes of it.
static void fill(int8_t *pixels)
{
    for (int i = 0; i < PIXELS; i++) pixels[i] = (int8_t)(i * 37 % 256 - 128);
}

static void run_int8(TfLiteInterpreter *interpreter, int8_t *scores)
{
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), scores, CLASSES),
                     kTfLiteOk);
}

static void expected_scores(int8_t *scores)
{
    int8_t pixels[PIXELS];
    fill(pixels);
    TfLiteInterpreter *interpreter = allocate(open_model(int8_model, NULL));
    assert_int_equal(TfLiteTensorCopyFromBuffer(input_of(interpreter), pixels, PIXELS), kTfLiteOk);
    run_int8(interpreter, scores);
    TfLiteInterpreterDelete(interpreter);
}

// ---- Go: replaces what a tensor points to --------------------------------------------------------------------------

// What go-tflite's DynamicBuffer does to a tensor: libc's free for all that hangs on it, malloc for what takes its
// place.
static void replace_tensor(TfLiteTensor *tensor, const void *bytes, size_t size, TfLiteAllocationType type)
{
    if (tensor->allocation_type == kTfLiteDynamic) free(tensor->data.raw);
    TfLiteIntArray *dims = malloc(sizeof(int) * 5);
    assert_non_null(dims);
    dims->size = 4;
    memcpy(dims->data, tensor->dims->data, sizeof(int) * 4);
    free(tensor->dims);
    tensor->dims = dims;
    if (tensor->quantization.type == kTfLiteAffineQuantization) {
        TfLiteAffineQuantization *affine = tensor->quantization.params;
        free(affine->scale);
        free(affine->zero_point);
        free(affine);
    }
    tensor->quantization.type = kTfLiteNoQuantization;
    tensor->quantization.params = NULL;
    tensor->data.raw = malloc(size);
    assert_non_null(tensor->data.raw);
    memcpy(tensor->data.raw, bytes, size);
    tensor->bytes = size;
    tensor->allocation_type = type;
    tensor->allocation = NULL;
}

static void test_go_replaces_a_tensor(void **state)
{
    (void)state;
    int8_t pixels[PIXELS], expected[CLASSES], scores[CLASSES];
    fill(pixels);
    expected_scores(expected);
    // As "constant" the memory stays the caller's, as "dynamic" it becomes the library's.
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        TfLiteInterpreter *interpreter = allocate(open_model(int8_model, NULL));
        TfLiteTensor *input = input_of(interpreter);
        assert_int_equal(input->quantization.type, kTfLiteAffineQuantization);
        replace_tensor(input, pixels, sizeof pixels, dynamic ? kTfLiteDynamic : kTfLiteMmapRo);
        char *mine = dynamic ? NULL : input->data.raw;
        run_int8(interpreter, scores);
        assert_memory_equal(scores, expected, sizeof expected);
        TfLiteInterpreterDelete(interpreter);
        free(mine);
    }
}

// ---- Go: a registration of which only the callbacks are set --------------------------------------------------------

static struct {
    int prepared, code, version;
    char name[32];
} seen;

// A delegate that takes nothing and looks at the registration, as every delegate does.
static TfLiteStatus look(TfLiteContext *context, TfLiteDelegate *delegate)
{
    (void)delegate;
    TfLiteNode *node;
    TfLiteRegistration *registration;
    TfLiteIntArray *plan;
    assert_int_equal(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    assert_int_equal(context->GetNodeAndRegistration(context, plan->data[0], &node, &registration), kTfLiteOk);
    seen.code = registration->builtin_code;
    seen.version = registration->version;
    snprintf(seen.name, sizeof seen.name, "%s", registration->custom_name ? registration->custom_name : "");
    return kTfLiteOk;
}

static TfLiteStatus custom_prepare(TfLiteContext *context, TfLiteNode *node)
{
    seen.prepared++;
    TfLiteIntArray *dims = TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims);
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], dims);
}

static TfLiteStatus custom_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < x->bytes / sizeof(float); i++) y->data.f[i] = 2 * x->data.f[i];
    return kTfLiteOk;
}

// y = op(x) with op of the given code, float32 [4], through a registration whose other fields are garbage.
static void run_garbage_registration(int code, const char *name)
{
    const struct test_model model = {
        .tensor_count = 2,
        .tensors = (struct test_tensor[]){{.name = "x", .type = TEST_FLOAT32, .rank = 1, .dims = {4}},
                                          {.name = "y", .type = TEST_FLOAT32, .rank = 1, .dims = {4}}},
        .node_count = 1,
        .nodes = (struct test_node[]){{.builtin = code, .custom = name, .version = 1, TEST_INPUTS(0), TEST_OUTPUTS(1)}},
        TEST_INPUTS(0),
        TEST_OUTPUTS(1),
    };
    size_t size;
    unsigned char *file = test_model_write(&model, &size);
    TfLiteRegistration *registration = malloc(sizeof *registration);
    assert_non_null(registration);
    memset(registration, 0xa5, sizeof *registration);
    registration->init = NULL;
    registration->free = NULL;
    registration->prepare = custom_prepare;
    registration->invoke = custom_invoke;
    registration->profiling_string = NULL;

    memset(&seen, 0, sizeof seen);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    if (name)
        TfLiteInterpreterOptionsAddCustomOp(options, name, registration, 1, 1);
    else
        TfLiteInterpreterOptionsAddBuiltinOp(options, (TfLiteBuiltinOperator)code, registration, 1, 1);
    TfLiteDelegate looker = {.Prepare = look};
    TfLiteInterpreterOptionsAddDelegate(options, &looker);
    TfLiteModel *parsed = TfLiteModelCreate(file, size);
    assert_non_null(parsed);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(parsed, options);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(parsed);
    assert_non_null(interpreter);
    allocate(interpreter);
    float values[4] = {1, -2, 0.5f, 8};
    assert_int_equal(TfLiteTensorCopyFromBuffer(input_of(interpreter), values, sizeof values), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    float doubled[4];
    assert_int_equal(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), doubled,
                                              sizeof doubled),
                     kTfLiteOk);
    for (int i = 0; i < 4; i++) assert_true(doubled[i] == 2 * values[i]);
    assert_true(seen.prepared > 0);
    assert_int_equal(seen.code, code);
    assert_int_equal(seen.version, 1);
    assert_string_equal(seen.name, name ? name : "");
    TfLiteInterpreterDelete(interpreter);
    free(registration);
    free(file);
}

static void test_go_registrations_with_a_garbage_tail(void **state)
{
    (void)state;
    run_garbage_registration(kTfLiteBuiltinCustom, "Twice");
    run_garbage_registration(kTfLiteBuiltinNeg, NULL);
}

// ---- Go, C#, Swift, Objective-C: error reporters -------------------------------------------------------------------

struct messages {
    int count;
    char last[512];
};

// Uses the arguments twice, as asprintf implementations do.
static void keep_message(void *user_data, const char *format, va_list arguments)
{
    struct messages *messages = user_data;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert_true(length > 0);
    vsnprintf(messages->last, sizeof messages->last, format, arguments);
    messages->count++;
}

static void test_error_reporters_get_valid_arguments(void **state)
{
    (void)state;
    struct messages messages = {0};
    static const char text[] = "this is no model";
    assert_null(TfLiteModelCreateWithErrorReporter(text, sizeof text, keep_message, &messages));
    assert_int_equal(messages.count, 1);
    assert_null(TfLiteModelCreateFromFileWithErrorReporter("no/such/file.tflite", keep_message, &messages));
    assert_int_equal(messages.count, 2);
    assert_non_null(strstr(messages.last, "no/such/file.tflite"));

    // The reporter is part of the options that the interpreter copies.
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, keep_message, &messages);
    TfLiteInterpreter *interpreter = open_model(float_model, options);
    TfLiteInterpreterOptionsDelete(options);
    messages.count = 0;
    const int negative[] = {1, -8, 8, 1};
    TfLiteStatus status = TfLiteInterpreterResizeInputTensor(interpreter, 0, negative, 4);
    if (status == kTfLiteOk) status = TfLiteInterpreterAllocateTensors(interpreter);
    assert_int_not_equal(status, kTfLiteOk);
    assert_true(messages.count > 0);
    TfLiteInterpreterDelete(interpreter);
}

// ---- C#, Dart, Rust: who lives how long ----------------------------------------------------------------------------

static void test_model_and_options_may_go_first(void **state)
{
    (void)state;
    FILE *file = fopen(float_model, "rb");
    assert_non_null(file);
    static char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);

    TfLiteModel *model = TfLiteModelCreate(bytes, size);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, 2);
    TfLiteInterpreter *first = TfLiteInterpreterCreate(model, options),
                      *second = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    assert_non_null(first);
    assert_non_null(second);
    allocate(first);
    TfLiteInterpreterDelete(first);
    allocate(second);
    assert_int_equal(TfLiteInterpreterInvoke(second), kTfLiteOk);
    TfLiteInterpreterDelete(second);
}

static void test_rust_input_has_no_data_before_allocation(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = open_model(float_model, NULL);
    TfLiteTensor *input = input_of(interpreter);
    assert_int_equal(TfLiteTensorNumDims(input), 4);
    assert_int_equal(TfLiteTensorByteSize(input), PIXELS * sizeof(float));
    assert_null(TfLiteTensorData(input));
    float pixels[PIXELS] = {0};
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, pixels, sizeof pixels - 1), kTfLiteError);
    assert_int_not_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    allocate(interpreter);
    input = input_of(interpreter);
    assert_non_null(TfLiteTensorData(input));
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, pixels, sizeof pixels), kTfLiteOk);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, pixels, sizeof pixels - 1), kTfLiteError);
    TfLiteInterpreterDelete(interpreter);
}

// ---- Swift, Dart: what stands for "none" ---------------------------------------------------------------------------

static void test_null_and_minus_one(void **state)
{
    (void)state;
    struct messages messages = {0};
    assert_null(TfLiteModelCreateWithErrorReporter("", 0, keep_message, &messages));
    TfLiteModelDelete(NULL);
    TfLiteInterpreterOptionsDelete(NULL);
    TfLiteInterpreterDelete(NULL);
    TfLiteSignatureRunnerDelete(NULL);

    const TfLiteTensor empty = {.type = kTfLiteFloat32};
    assert_int_equal(TfLiteTensorNumDims(&empty), -1);
    assert_null(TfLiteTensorData(&empty));
    assert_null(TfLiteTensorName(&empty));

    TfLiteInterpreter *interpreter = open_model(float_model, NULL);
    TfLiteQuantizationParams none = TfLiteTensorQuantizationParams(input_of(interpreter));
    assert_true(none.scale == 0 && none.zero_point == 0);
    assert_string_equal(TfLiteTensorName(input_of(interpreter)), "image");
    assert_int_equal(TfLiteInterpreterGetSignatureCount(interpreter), 1);
    assert_string_equal(TfLiteInterpreterGetSignatureKey(interpreter, 0), "serving_default");
    assert_null(TfLiteInterpreterGetSignatureKey(interpreter, 1));
    assert_null(TfLiteInterpreterGetSignatureKey(interpreter, -1));
    assert_null(TfLiteInterpreterGetSignatureRunner(interpreter, "training"));
    TfLiteInterpreterDelete(interpreter);

    interpreter = open_model(int8_model, NULL);
    TfLiteQuantizationParams params = TfLiteTensorQuantizationParams(input_of(interpreter));
    assert_true(params.scale > 0.0078f && params.scale < 0.0079f);
    assert_int_equal(params.zero_point, -1);
    TfLiteInterpreterDelete(interpreter);
}

// ---- C#: signature tensors are found by address --------------------------------------------------------------------

static void test_csharp_signature_tensors_are_the_interpreters(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = open_model(float_model, NULL);
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(interpreter, "serving_default");
    assert_non_null(runner);
    assert_int_equal(TfLiteSignatureRunnerGetInputCount(runner), 1);
    assert_string_equal(TfLiteSignatureRunnerGetInputName(runner, 0), "image");
    assert_null(TfLiteSignatureRunnerGetInputName(runner, 1));
    assert_null(TfLiteSignatureRunnerGetInputName(runner, -1));
    assert_string_equal(TfLiteSignatureRunnerGetOutputName(runner, 0), "probabilities");
    assert_null(TfLiteSignatureRunnerGetOutputName(runner, 7));
    assert_null(TfLiteSignatureRunnerGetInputTensor(runner, "picture"));
    assert_null(TfLiteSignatureRunnerGetOutputTensor(runner, "image"));
    assert_int_equal(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk);
    assert_ptr_equal(TfLiteSignatureRunnerGetInputTensor(runner, "image"), input_of(interpreter));
    assert_ptr_equal(TfLiteSignatureRunnerGetOutputTensor(runner, "probabilities"),
                     TfLiteInterpreterGetOutputTensor(interpreter, 0));
    float pixels[PIXELS] = {0};
    assert_int_equal(TfLiteTensorCopyFromBuffer(input_of(interpreter), pixels, sizeof pixels), kTfLiteOk);
    assert_int_equal(TfLiteSignatureRunnerInvoke(runner), kTfLiteOk);
    TfLiteSignatureRunnerDelete(runner);
    TfLiteInterpreterDelete(interpreter);
}

// ---- Go, Swift: dimensions
// -------------------------------------------------------------------------------------------

static void test_resized_batch(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = open_model(float_model, NULL);
    const int32_t dims[] = {3, 8, 8, 1}; // go-tflite passes int32_t for int
    assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreter, 0, (const int *)dims, 4), kTfLiteOk);
    allocate(interpreter);
    assert_int_equal(TfLiteTensorByteSize(input_of(interpreter)), 3 * PIXELS * sizeof(float));
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorNumDims(output), 2);
    assert_int_equal(TfLiteTensorDim(output, 0), 3);
    assert_int_equal(TfLiteTensorDim(output, 1), CLASSES);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
}

// ---- Swift, Objective-C, C#: a delegate that fails, and thread counts ----------------------------------------------

static TfLiteStatus refuse(TfLiteContext *context, TfLiteDelegate *delegate)
{
    return context && delegate ? kTfLiteError : kTfLiteOk;
}

static void test_failing_delegate_gives_no_interpreter(void **state)
{
    (void)state;
    struct messages messages = {0};
    TfLiteDelegate delegate = {.Prepare = refuse};
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, keep_message, &messages);
    TfLiteInterpreterOptionsAddDelegate(options, &delegate);
    TfLiteModel *model = TfLiteModelCreateFromFile(float_model);
    assert_null(TfLiteInterpreterCreate(model, options));
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
}

static void test_thread_counts(void **state)
{
    (void)state;
    const int32_t counts[] = {-1, 0, 1, 4};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
        TfLiteInterpreterOptionsSetNumThreads(options, counts[i]);
        TfLiteInterpreter *interpreter = allocate(open_model(int8_model, options));
        TfLiteInterpreterOptionsDelete(options);
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        TfLiteInterpreterDelete(interpreter);
    }
}

// Dart's mirror of the XNNPACK options ends behind the number of threads.
static void test_dart_short_xnnpack_options(void **state)
{
    (void)state;
    int32_t *threads = malloc(sizeof *threads);
    assert_non_null(threads);
    *threads = 2;
    TfLiteDelegate *delegate = (TfLiteXNNPackDelegateCreate)((const TfLiteXNNPackDelegateOptions *)(void *)threads);
    free(threads);
    assert_non_null(delegate);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsAddDelegate(options, delegate);
    TfLiteInterpreter *interpreter = allocate(open_model(float_model, options));
    TfLiteInterpreterOptionsDelete(options);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
    TfLiteXNNPackDelegateDelete(delegate);
}

// Go's cache of weights is filled once: whoever ends it again is told.
static void test_go_ends_a_weights_cache(void **state)
{
    (void)state;
    struct TfLiteXNNPackDelegateWeightsCache *cache = TfLiteXNNPackDelegateWeightsCacheCreate();
    assert_true(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(cache));
    assert_false(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(cache));
    assert_false(TfLiteXNNPackDelegateWeightsCacheFinalizeHard(cache));
    TfLiteXNNPackDelegateWeightsCacheDelete(cache);
    cache = TfLiteXNNPackDelegateWeightsCacheCreateWithSize(1000);
    assert_true(TfLiteXNNPackDelegateWeightsCacheFinalizeHard(cache));
    TfLiteXNNPackDelegateWeightsCacheDelete(cache);
    assert_false(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(NULL));
    TfLiteXNNPackDelegateWeightsCacheDelete(NULL);
}

// Bindings compare versions: "major.minor.patch", the schema by number.
static void test_versions(void **state)
{
    (void)state;
    int major, minor, patch;
    assert_int_equal(sscanf(TfLiteVersion(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(major, 2);
    assert_string_equal(TfLiteExtensionApisVersion(), TfLiteVersion());
    assert_int_equal(TfLiteSchemaVersion(), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_replaces_a_tensor),
        cmocka_unit_test(test_go_registrations_with_a_garbage_tail),
        cmocka_unit_test(test_error_reporters_get_valid_arguments),
        cmocka_unit_test(test_model_and_options_may_go_first),
        cmocka_unit_test(test_rust_input_has_no_data_before_allocation),
        cmocka_unit_test(test_null_and_minus_one),
        cmocka_unit_test(test_csharp_signature_tensors_are_the_interpreters),
        cmocka_unit_test(test_resized_batch),
        cmocka_unit_test(test_failing_delegate_gives_no_interpreter),
        cmocka_unit_test(test_thread_counts),
        cmocka_unit_test(test_dart_short_xnnpack_options),
        cmocka_unit_test(test_go_ends_a_weights_cache),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
