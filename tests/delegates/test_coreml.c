// SPDX-License-Identifier: Apache-2.0
// The Core ML delegate before the fake of Core ML: what it takes, what it says of the rest, its options, and what is
// left of a graph where a call of Core ML fails. The libraries are opened as programs open them.
//
//   the graph:   r = relu(a)   s = a + r   c = ceil(s)   p = c * c   q = p + p       (CEIL has no layer)
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/process.h"
#include "delegates/session.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"

// ---- the libraries ------------------------------------------------------------------------------

// X(result, name, arguments)
#define DELEGATE_FUNCTIONS(X)                                                              \
    PLUGIN_FUNCTIONS(X)                                                                    \
    X(TfLiteDelegate *, TfLiteCoreMlDelegateCreate, (const TfLiteCoreMlDelegateOptions *)) \
    X(void, TfLiteCoreMlDelegateDelete, (TfLiteDelegate *))
#define FAKE_FUNCTIONS(X)                              \
    X(void, fakeCoreml_reset, (void))                  \
    X(void, fakeCoreml_set, (const char *, long long)) \
    X(long long, fakeCoreml_get, (const char *))

static struct {
#define X(result, name, arguments) result(*name) arguments;
    DELEGATE_FUNCTIONS(X) FAKE_FUNCTIONS(X)
#undef X
} lib;

static int open_libraries(void **state)
{
    (void)state;
#define X(result, name, arguments) find_function(COREML_DELEGATE, #name, &lib.name, sizeof lib.name);
    DELEGATE_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) find_function(FAKE_COREML, #name, &lib.name, sizeof lib.name);
    FAKE_FUNCTIONS(X)
#undef X
    return 0;
}

static void use_runner(const char *path)
{
    assert_true(hl_process_set_variable("HALITE_COREML_RUNNER", path));
}

// Before each test: the fake as it is at first, in Core ML's place.
static int reset(void **state)
{
    (void)state;
    lib.fakeCoreml_reset();
    use_runner(FAKE_COREML);
    return 0;
}

// Behind each test.
static int nothing_is_left(void **state)
{
    (void)state;
    return lib.fakeCoreml_get("live") != 0 || lib.fakeCoreml_get("complaints") != 0;
}

// ---- the graph ----------------------------------------------------------------------------------

enum { A, R, S, C, P, Q, TENSORS };
#define FLOATS(label)                                                          \
    {                                                                          \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, 2, 3, 5 } \
    }
static const struct test_tensor tensors[TENSORS] = {FLOATS("a"), FLOATS("r"), FLOATS("s"),
                                                    FLOATS("c"), FLOATS("p"), FLOATS("q")};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(A), TEST_OUTPUTS(R)},
    {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(A, R), TEST_OUTPUTS(S)},
    {.builtin = kTfLiteBuiltinCeil, TEST_INPUTS(S), TEST_OUTPUTS(C)},
    {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(C, C), TEST_OUTPUTS(P)},
    {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(P, P), TEST_OUTPUTS(Q)},
};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(Q)};

// ---- a delegate ---------------------------------------------------------------------------------

// With options as texts: key, value, ... NULL.
static TfLiteDelegate *make(const char *const *texts)
{
    return plugin_make(lib.tflite_plugin_create_delegate, NULL, texts);
}
#define MAKE(...) make((const char *const[]){__VA_ARGS__, NULL})

// Applies a delegate and runs; the rest is for the test to look at. Ends both.
static void apply_and_run(TfLiteDelegate *delegate, int expected_nodes)
{
    struct session session;
    assert_non_null(delegate);
    session_begin(&session, &graph);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), expected_nodes);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(session_run(&session), kTfLiteOk);
        session_check(&session, 2);
    }
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeCoreml_get("live"), 0);
}

// ---- what it takes ------------------------------------------------------------------------------

static void nodes_go_there_and_reasons_stay(void **state)
{
    (void)state;
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 2);
    assert_int_equal(lib.fakeCoreml_get("runs"), 2);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    static const int parts[] = {0, 0, -1, 1, 1};
    for (int i = 0; i < 5; i++) {
        const HaliteDelegateNode *node = lib.HaliteDelegateReportGetNode(report, i);
        assert_int_equal(node->on_gpu, i != 2);
        assert_int_equal(node->partition, parts[i]);
    }
    const HaliteDelegateNode *ceil = lib.HaliteDelegateReportGetNode(report, 2);
    assert_int_equal(ceil->reason, kHaliteDelegateReasonNoKernel);
    assert_string_equal(ceil->text, "no layer of Core ML is used for it");
    assert_string_equal(lib.HaliteDelegateReportGetDevice(report)->name, "Core ML 3");
    lib.HaliteDelegateReportDelete(report);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

static void partitions_are_limited(void **state)
{
    (void)state;
    apply_and_run(make(NULL), 4);
    apply_and_run(MAKE("max_delegated_partitions", "1"), 2);
    apply_and_run(MAKE("max_delegated_partitions", "-1", "min_nodes_per_partition", "0"), 4);
    apply_and_run(MAKE("min_nodes_per_partition", "3"), 0);
}

// An 8-bit model stays on the CPU, and says why.
static void quantized_nodes_stay(void **state)
{
    (void)state;
#define BYTES(label)                                                                              \
    {                                                                                             \
        .name = label, .type = TEST_INT8, .rank = 2, .dims = {1, SESSION_ELEMENTS}, .scale = 0.5f \
    }
    static const struct test_tensor bytes[] = {BYTES("x"), BYTES("y"), BYTES("z")};
    static const struct test_node two[] = {
        {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(0), TEST_OUTPUTS(1)},
        {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(1), TEST_OUTPUTS(2)},
    };
    static const struct test_model model = {TEST_TENSORS(bytes), TEST_NODES(two), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    struct session session;
    session_begin(&session, &model);
    TfLiteDelegate *delegate = make(NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), 0);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    const HaliteDelegateNode *node = lib.HaliteDelegateReportGetNode(report, 1);
    assert_int_equal(node->reason, kHaliteDelegateReasonType);
    assert_string_equal(node->text, "type int8; Core ML's models compute with float32");
    assert_int_equal(node->tensor, 1);
    lib.HaliteDelegateReportDelete(report);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

// Weights that a DEQUANTIZE widens go there as they are in the file. Here they are 1, -2, 0.5 and 2.
static void halves_stay_halves(void **state)
{
    (void)state;
    enum { X, HALF, WIDE, Y, Z };
    static const uint16_t weights[4] = {0x3c00, 0xc000, 0x3800, 0x4000};
    static const struct test_tensor own[] = {
        [X] = {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
        [HALF] = {.name = "half", .type = TEST_FLOAT16, .rank = 2, .dims = {2, 2}, .data = weights, .bytes = 8},
        [WIDE] = {.name = "wide", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 2}},
        [Y] = {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
        [Z] = {.name = "z", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
    };
    static const struct test_node three[] = {
        {.builtin = kTfLiteBuiltinDequantize, .version = 3, TEST_INPUTS(HALF), TEST_OUTPUTS(WIDE)},
        {.builtin = kTfLiteBuiltinFullyConnected, TEST_INPUTS(X, WIDE, -1), TEST_OUTPUTS(Y)},
        {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(Y), TEST_OUTPUTS(Z)},
    };
    // The widened weights are an output of the graph, too: the delegate has to write them.
    static const struct test_model model = {TEST_TENSORS(own), TEST_NODES(three), TEST_INPUTS(X),
                                            TEST_OUTPUTS(Z, WIDE)};
    struct session session;
    session_begin(&session, &model);
    TfLiteDelegate *delegate = make(NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(lib.fakeCoreml_get("halves"), 1);
    const float x[] = {3, 4};
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(session.interpreter, 0), x, sizeof x);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    const float *z = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
    const float *wide = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 1));
    assert_float_equal(z[0], 0, 0);
    assert_float_equal(z[1], 9.5f, 0);
    assert_float_equal(wide[1], -2, 0);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

// ---- options ------------------------------------------------------------------------------------

static void versions_are_chosen(void **state)
{
    (void)state;
    static const struct {
        long long here;
        const char *wanted, *message;
        long long specification;
    } rows[] = {
        {3, "0", "", 4},
        {3, "2", "", 3},
        {3, "3", "", 4},
        {3, "7", "TfLiteCoreMlDelegate: coreml_version is 7, and must be 2 or 3: 3 is used", 4},
        {2, "0", "", 3},
        {2, "3", "TfLiteCoreMlDelegate: coreml_version is 3, and this system has Core ML 2, which is used", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lib.fakeCoreml_reset();
        lib.fakeCoreml_set("version", rows[i].here);
        TfLiteDelegate *delegate = MAKE("coreml_version", rows[i].wanted);
        assert_string_equal(plugin_message(), rows[i].message);
        apply_and_run(delegate, 4);
        assert_int_equal(lib.fakeCoreml_get("specification"), rows[i].specification);
    }
    lib.fakeCoreml_set("version", 0);
    assert_null(make(NULL));
    assert_string_equal(plugin_message(), "TfLiteCoreMlDelegate: this system is too old; run on the CPU, or with the "
                                          "GPU delegate");
}

static void devices_are_enabled(void **state)
{
    (void)state;
    TfLiteCoreMlDelegateOptions options = {.enabled_devices = TfLiteCoreMlDelegateDevicesWithNeuralEngine};
    apply_and_run(lib.TfLiteCoreMlDelegateCreate(&options), 4);
    lib.fakeCoreml_set("neural_engine", 0);
    assert_null(lib.TfLiteCoreMlDelegateCreate(&options));
    assert_null(make(NULL));
    assert_string_equal(plugin_message(), "TfLiteCoreMlDelegate: this device has no Neural Engine; run on the CPU, or "
                                          "with the GPU delegate");
    options = (TfLiteCoreMlDelegateOptions){TfLiteCoreMlDelegateAllDevices, 2, 1, 1};
    apply_and_run(lib.TfLiteCoreMlDelegateCreate(&options), 2);
    assert_int_equal(lib.fakeCoreml_get("specification"), 3);
    apply_and_run(MAKE("enabled_devices", "all"), 4);
    lib.TfLiteCoreMlDelegateDelete(NULL);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    assert_null(MAKE("corml_version", "3"));
    assert_non_null(strstr(plugin_message(), "Core ML delegate: unknown option corml_version; known are "));
    assert_null(MAKE("enabled_devices", "some"));
    assert_string_equal(plugin_message(),
                        "Core ML delegate: option enabled_devices is \"some\", expected neural_engine, all");
    assert_null(MAKE("coreml_version", "new"));
    assert_string_equal(plugin_message(), "Core ML delegate: option coreml_version is \"new\", expected an integer");
}

// ---- runners ------------------------------------------------------------------------------------

static void there_is_none_without_core_ml(void **state)
{
    (void)state;
    use_runner(COREML_DELEGATE); // which is none
    assert_null(make(NULL));
    assert_non_null(strstr(plugin_message(), " has no halite_coreml_runner"));
    use_runner("/nowhere/runner.so");
    assert_null(make(NULL));
    assert_non_null(strstr(plugin_message(), "TfLiteCoreMlDelegate: HALITE_COREML_RUNNER: /nowhere/runner.so"));
#ifndef __APPLE__
    use_runner("");
    TfLiteCoreMlDelegateOptions options = {.enabled_devices = TfLiteCoreMlDelegateAllDevices};
    assert_null(lib.TfLiteCoreMlDelegateCreate(&options));
    assert_null(make(NULL));
    assert_string_equal(plugin_message(), "TfLiteCoreMlDelegate: this system has no Core ML, which is Apple's; run on "
                                          "the CPU, or with the GPU delegate");
#endif
}

// The runner none shows where nodes would run, on every system, and runs none.
static void placement_needs_no_core_ml(void **state)
{
    (void)state;
    struct session session;
    use_runner("");
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = MAKE("runner", "none");
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), 4);
    assert_int_equal(session_run(&session), kTfLiteError);
    assert_int_equal(HaliteInterpreterRemoveDelegates(session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 2);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

// ---- failures -----------------------------------------------------------------------------------

// Lets call `fail_at` of the runner fail. Wherever that is, the graph can be run on the CPU afterwards, and no model is
// left. False where there are not so many calls.
static bool fail_once(long long fail_at)
{
    lib.fakeCoreml_reset();
    lib.fakeCoreml_set("fail_at", fail_at);
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(NULL);
    TfLiteStatus status = kTfLiteError;
    if (delegate) {
        status = TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate);
        assert_true(status == kTfLiteOk || status == kTfLiteDelegateError);
        if (status != kTfLiteOk) assert_int_equal(lib.fakeCoreml_get("live"), 0);
        if (status == kTfLiteOk) status = session_run(&session);
    }
    bool failed = lib.fakeCoreml_get("calls") >= fail_at;
    assert_int_equal(status != kTfLiteOk, failed);
    if (delegate) assert_int_equal(HaliteInterpreterRemoveDelegates(session.interpreter), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), 0);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 2);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeCoreml_get("live"), 0);
    return failed;
}

static void each_failing_call_leaves_the_graph(void **state)
{
    (void)state;
    int failures = 0;
    while (fail_once(failures + 1)) failures++;
    assert_int_equal(failures, 5); // opened once; two models compiled, and run
}

// A run that fails is no end: the next one may succeed.
static void a_run_may_follow_one_that_failed(void **state)
{
    (void)state;
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    lib.fakeCoreml_set("fail_at", lib.fakeCoreml_get("calls") + 1);
    assert_int_equal(session_run(&session), kTfLiteError);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 2);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, nothing_is_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nodes_go_there_and_reasons_stay),
        TEST(partitions_are_limited),
        TEST(quantized_nodes_stay),
        TEST(halves_stay_halves),
        TEST(versions_are_chosen),
        TEST(devices_are_enabled),
        TEST(wrong_options_are_refused),
        TEST(there_is_none_without_core_ml),
        TEST(placement_needs_no_core_ml),
        TEST(each_failing_call_leaves_the_graph),
        TEST(a_run_may_follow_one_that_failed),
    };
    return cmocka_run_group_tests(tests, open_libraries, NULL);
}
