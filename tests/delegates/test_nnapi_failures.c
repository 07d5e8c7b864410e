// SPDX-License-Identifier: Apache-2.0
// Each call of NNAPI that MobileNet v1 leads to fails in turn. Wherever that is, the graph runs on the CPU afterwards
// with the same bits as before, and nothing of the system's is left. The models are ../shared's, or HALITE_SHARED's;
// ends with 77 without them. test_nnapi.c does the same with a small graph.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "delegates/nnapi_fixture.h"
#include "tensorflow/lite/c/c_api_experimental.h"

static TfLiteModel *open_model(const char *name)
{
    const char *folder = getenv("HALITE_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/models/classification/%s", folder ? folder : "../shared", name);
    return TfLiteModelCreateFromFile(path);
}

static void drop(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    (void)format;
    (void)args;
}

static TfLiteInterpreter *open_interpreter(const TfLiteModel *model)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, drop, NULL);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
}

static TfLiteStatus run(TfLiteInterpreter *interpreter)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    unsigned char *bytes = TfLiteTensorData(input);
    float *floats = TfLiteTensorData(input);
    for (size_t i = 0; TfLiteTensorType(input) == kTfLiteUInt8 && i < TfLiteTensorByteSize(input); i++)
        bytes[i] = (unsigned char)(i * 7);
    for (size_t i = 0; TfLiteTensorType(input) == kTfLiteFloat32 && i < TfLiteTensorByteSize(input) / sizeof(float);
         i++)
        floats[i] = (float)(i % 17) / 8 - 1;
    return TfLiteInterpreterInvoke(interpreter);
}

static void check_bits(TfLiteInterpreter *interpreter, const TfLiteTensor *wanted)
{
    assert_int_equal(run(interpreter), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorByteSize(output), TfLiteTensorByteSize(wanted));
    assert_memory_equal(TfLiteTensorData(output), TfLiteTensorData(wanted), TfLiteTensorByteSize(wanted));
}

// An inference takes longer than all else, and what it could show does not depend on the single call.
enum { EACH = 8 };

// Lets call `fail_at` fail. False where there are not so many calls.
static bool fail_once(const TfLiteModel *model, const TfLiteTensor *wanted, long long level, long long fail_at)
{
    lib.fakeNnapi_reset();
    lib.fakeNnapi_set("level", level);
    lib.fakeNnapi_set("fail_at", fail_at);
    TfLiteInterpreter *interpreter = open_interpreter(model);
    TfLiteDelegate *delegate = make(NULL);
    TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate);
    if (status == kTfLiteOk) {
        assert_int_equal(delegated_nodes(interpreter), 31);
        status = run(interpreter);
        assert_true(status == kTfLiteOk || run(interpreter) == kTfLiteOk); // the next call of the system succeeds
        assert_int_equal(HaliteInterpreterRemoveDelegates(interpreter), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    } else {
        assert_int_equal(status, kTfLiteDelegateError);
    }
    bool failed = lib.fakeNnapi_get("calls") >= fail_at;
    assert_int_equal(status != kTfLiteOk, failed);
    assert_int_equal(delegated_nodes(interpreter), 0);
    assert_int_equal(lib.fakeNnapi_get("live"), 0);
    if (status == kTfLiteOk || fail_at % EACH == 1) check_bits(interpreter, wanted);
    TfLiteInterpreterDelete(interpreter);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeNnapi_get("complaints"), 0);
    return failed;
}

static void each_failing_call_leaves_the_model(void **state)
{
    TfLiteModel *model = open_model(*state);
    TfLiteInterpreter *cpu = open_interpreter(model);
    assert_int_equal(run(cpu), kTfLiteOk);
    const TfLiteTensor *wanted = TfLiteInterpreterGetOutputTensor(cpu, 0);
    int failures = 0;
    while (fail_once(model, wanted, 1000007, failures + 1)) failures++;
    print_message("%s: %d calls\n", (const char *)*state, failures);
    assert_true(failures > 500);
    TfLiteInterpreterDelete(cpu);
    TfLiteModelDelete(model);
}

int main(void)
{
    static char floats[] = "mobilenet_v1_0.25_128_float.tflite", bytes[] = "mobilenet_v1_0.25_128_quant.tflite";
    TfLiteModel *model = open_model(floats);
    if (!model) return 77;
    TfLiteModelDelete(model);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_failing_call_leaves_the_model, floats),
        cmocka_unit_test_prestate(each_failing_call_leaves_the_model, bytes),
    };
    return cmocka_run_group_tests(tests, open_libraries, NULL);
}
