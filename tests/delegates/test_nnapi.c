// SPDX-License-Identifier: Apache-2.0
// The NNAPI delegate before the fake of the system: what it takes, what it says of the rest, its options, and what is
// left of a graph where a call of the system fails. The libraries are opened as programs open them.
//
//   the graph:   r = relu(a)   s = a + r   c = ceil(s)   p = c * c       (CEIL is no operation of NNAPI)
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "delegates/nnapi/support_library.h"
#include "delegates/nnapi_fixture.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// ---- the graph ----------------------------------------------------------------------------------

enum { A, R, S, C, P, TENSORS };
#define FLOATS(label)                                                          \
    {                                                                          \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, 2, 3, 5 } \
    }
static const struct test_tensor tensors[TENSORS] = {FLOATS("a"), FLOATS("r"), FLOATS("s"), FLOATS("c"), FLOATS("p")};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(A), TEST_OUTPUTS(R)},
    {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(A, R), TEST_OUTPUTS(S)},
    {.builtin = kTfLiteBuiltinCeil, TEST_INPUTS(S), TEST_OUTPUTS(C)},
    {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(C, C), TEST_OUTPUTS(P)},
};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(P)};

// Applies a delegate and runs; the rest is for the test to look at. Ends both.
static void apply_and_run(TfLiteDelegate *delegate, int expected_nodes, const char *message)
{
    struct session session;
    session_begin(&session, &graph);
    assert_non_null(delegate);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), expected_nodes);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(session_run(&session), kTfLiteOk);
        session_check(&session, 1);
    }
    if (message && !strstr(session.messages, message)) fail_msg("\"%s\" is not in: %s", message, session.messages);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeNnapi_get("live"), 0);
    assert_int_equal(lib.fakeNnapi_get("complaints"), 0);
}

// ---- what it takes ------------------------------------------------------------------------------

static void nodes_go_there_and_reasons_stay(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 1);
    assert_int_equal(lib.fakeNnapi_get("runs"), 2);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    assert_int_equal(lib.HaliteDelegateReportGetNodeCount(report), 4);
    static const int parts[] = {0, 0, -1, 1};
    for (int i = 0; i < 4; i++) {
        const HaliteDelegateNode *node = lib.HaliteDelegateReportGetNode(report, i);
        assert_int_equal(node->on_gpu, i != 2);
        assert_int_equal(node->partition, parts[i]);
    }
    const HaliteDelegateNode *ceil = lib.HaliteDelegateReportGetNode(report, 2);
    assert_string_equal(ceil->op, "CEIL");
    assert_int_equal(ceil->reason, kHaliteDelegateReasonNoKernel);
    assert_string_equal(ceil->text, "Unsupported operation type.");
    assert_string_equal(lib.HaliteDelegateReportGetDevice(report)->name, "google-edgetpu");
    lib.HaliteDelegateReportDelete(report);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeNnapi_get("live"), 0);
}

static void partitions_are_limited(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    apply_and_run(MAKE("max_delegated_partitions", "1"), 2, NULL);
    apply_and_run(MAKE("min_nodes_per_partition", "2"), 2, NULL);
    apply_and_run(MAKE("min_nodes_per_partition", "3"), 0, NULL);
}

static void each_feature_level_runs(void **state)
{
    (void)state;
    static const long long levels[] = {27, 28, 29, 30, 31, 1000006, 1000007};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        lib.fakeNnapi_reset();
        lib.fakeNnapi_set("level", levels[i]);
        apply_and_run(make(NULL), 3, NULL);
        assert_int_equal(lib.fakeNnapi_get("runs"), 6);
    }
    lib.fakeNnapi_reset();
    lib.fakeNnapi_set("device_level", 27); // the system is newer than its devices
    apply_and_run(make(NULL), 3, NULL);
}

static void devices_may_refuse_operations(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    lib.fakeNnapi_set("refuse", 0); // ADD
    TfLiteDelegate *delegate = make(NULL);
    struct session session;
    session_begin(&session, &graph);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(session.interpreter), 2);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    assert_string_equal(lib.HaliteDelegateReportGetNode(report, 1)->text,
                        "the device google-edgetpu does not support it");
    lib.HaliteDelegateReportDelete(report);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    apply_and_run(MAKE("accelerator_name", "nnapi-reference"), 3, NULL); // which takes all
}

// ---- devices ------------------------------------------------------------------------------------

static void absent_systems_are_no_error(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    apply_and_run(MAKE("library_path", "/nowhere/libneuralnetworks.so"), 0,
                  "no NNAPI here: /nowhere/libneuralnetworks.so");
    lib.fakeNnapi_set("devices", 1);
    apply_and_run(make(NULL), 0, "NNAPI has no accelerator here, only its reference on the CPU");
    apply_and_run(MAKE("disallow_nnapi_cpu", "false"), 0, "only its reference on the CPU");
}

static void devices_are_chosen_by_name(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    apply_and_run(MAKE("accelerator_name", "slow-gpu"), 3, NULL);
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = MAKE("accelerator_name", "toaster");
    assert_int_not_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    assert_non_null(strstr(session.messages, "Could not find the specified NNAPI accelerator: toaster. Must be one of: "
                                             "{nnapi-reference,google-edgetpu,slow-gpu}."));
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

// ---- support libraries --------------------------------------------------------------------------

// Some members of the struct, as headers of the interface place them.
#define STANDS_AT(member, offset) \
    _Static_assert(sizeof(void *) != 8 || offsetof(struct nnapi_support_library, member) == (offset), #member)
STANDS_AT(ANeuralNetworksBurst_create, 8);
STANDS_AT(ANeuralNetworksCompilation_setCaching, 80);
STANDS_AT(ANeuralNetworksDevice_getExtensionSupport, 112);
STANDS_AT(ANeuralNetworksExecution_burstCompute, 192);
STANDS_AT(ANeuralNetworksExecution_setOutput, 288);
STANDS_AT(ANeuralNetworksMemoryDesc_addInputRole, 328);
STANDS_AT(ANeuralNetworksMemory_free, 408);
STANDS_AT(ANeuralNetworksModel_setOperandValue, 512);
STANDS_AT(ANeuralNetworks_getRuntimeFeatureLevel, 568);
STANDS_AT(SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId, 632);
STANDS_AT(SL_ANeuralNetworksDiagnostic_registerCallbacks, 832);

static TfLiteDelegate *make_with_support_library(bool disallow_cpu)
{
    TfLiteNnapiDelegateOptions options = lib.TfLiteNnapiDelegateOptionsDefault();
    options.nnapi_support_library_handle = lib.ANeuralNetworks_getSLDriverImpl();
    options.disallow_nnapi_cpu = disallow_cpu;
    return lib.TfLiteNnapiDelegateCreate(&options);
}

static void support_libraries_stand_for_the_system(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    apply_and_run(make_with_support_library(true), 3, NULL);
    assert_true(lib.fakeNnapi_get("burst_runs") > 0);
    apply_and_run(MAKE("support_library_path", FAKE_NNAPI, "accelerator_name", "google-edgetpu"), 3, NULL);
    lib.fakeNnapi_set("support_level", 30);
    apply_and_run(make_with_support_library(true), 0, "Unsupported NnApiSLDriverImpl->implFeatureLevel: 30");
    lib.fakeNnapi_set("support_level", 0);
    apply_and_run(MAKE("support_library_path", FAKE_NNAPI), 0, "returned nullptr");
    apply_and_run(MAKE("support_library_path", NNAPI_DELEGATE), 0, "Failed to find ANeuralNetworks_getSLDriverImpl");
    apply_and_run(MAKE("support_library_path", "/nowhere/sl.so"), 0, "unable to open library /nowhere/sl.so");
}

// It has no function that leaves the choice of devices to the system.
static void support_libraries_want_devices(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make_with_support_library(false);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteDelegateError);
    assert_non_null(strstr(session.messages, "Attempted to call ANeuralNetworksCompilation_create from NNAPI delegate "
                                             "that is constructed from a support library"));
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 1);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeNnapi_get("live"), 0);
}

// ---- options ------------------------------------------------------------------------------------

// What an option changes of that which the system sees.
struct effect {
    const char *texts[8]; // keys and values; the first key is the option
    const char *knob;
    long long without, with;
    long long level; // of the system; 0: the newest
};

static const struct effect effects[] = {
    {{"execution_preference", "low_power"}, "preference", -1, 0, 0},
    {{"execution_priority", "high"}, "priority", 100, 110, 0},
    {{"accelerator_name", "slow-gpu"}, "devices_named", 2, 1, 0},
    {{"device", "slow-gpu"}, "devices_named", 2, 1, 0},
    {{"disallow_nnapi_cpu", "false"}, "devices_named", 2, 0, 0},
    {{"cache_dir", ".", "model_token", "ours"}, "cached", 0, 2, 0},
    {{"serialization_dir", ".", "model_token", "ours"}, "cached", 0, 2, 0},
    {{"model_token", "ours", "cache_dir", "."}, "cached", 0, 2, 0},
    {{"allow_fp16", "true"}, "relaxed", 0, 1, 0},
    {{"use_burst_computation", "true"}, "burst_runs", 0, 6, 30},
    {{"max_number_delegated_partitions", "1"}, "runs", 6, 3, 0},
    {{"max_delegated_partitions", "1"}, "runs", 6, 3, 0},
    {{"min_nodes_per_partition", "2"}, "runs", 6, 3, 0},
    {{"max_compilation_timeout_duration_ns", "7000000", "device", "slow-gpu"}, "timeout", 0, 7000000, 0},
    {{"max_execution_timeout_duration_ns", "9000000", "device", "slow-gpu"}, "run_timeout", 0, 9000000, 0},
    {{"max_execution_loop_timeout_duration_ns", "9"}, "loop_timeout", 0, 9, 0},
    {{"library_path", "/nowhere/libneuralnetworks.so"}, "runs", 6, 0, 0},
    // A library that says so much of itself and no more.
    {{"support_library_path", NNAPI_DELEGATE}, "runs", 6, 0, 0},
};
enum { EFFECTS = sizeof effects / sizeof *effects };

static long long knob_with(TfLiteDelegate *delegate, const char *knob)
{
    struct session session;
    session_begin(&session, &graph);
    assert_non_null(delegate);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(session_run(&session), kTfLiteOk);
        session_check(&session, 1);
    }
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    return lib.fakeNnapi_get(knob);
}

static void each_option_reaches_the_system(void **state)
{
    (void)state;
    for (int i = 0; i < EFFECTS; i++)
        for (int with = 0; with < 2; with++) {
            const struct effect *effect = &effects[i];
            lib.fakeNnapi_reset();
            if (effect->level > 0) lib.fakeNnapi_set("level", effect->level);
            const long long value = knob_with(make(with ? effect->texts : NULL), effect->knob);
            if (value != (with ? effect->with : effect->without))
                fail_msg("%s%s: %s is %lld", with ? "" : "without ", effect->texts[0], effect->knob, value);
            assert_int_equal(lib.fakeNnapi_get("complaints"), 0);
        }
}

// Every option that the delegate knows has an effect above; two have none, as the documents say.
static void no_option_is_left_out(void **state)
{
    (void)state;
    char message[2048];
    assert_null(MAKE("?", ""));
    snprintf(message, sizeof message, "%s", plugin_message());
    char *list = strstr(message, "known are ");
    assert_non_null(list);
    for (char *key = strtok(list + strlen("known are "), ", "); key; key = strtok(NULL, ", ")) {
        bool found = strcmp(key, "allow_dynamic_dimensions") == 0 || strcmp(key, "max_execution_cache_size") == 0;
        for (int i = 0; i < EFFECTS; i++) found = found || strcmp(effects[i].texts[0], key) == 0;
        if (!found) fail_msg("option %s has no test", key);
    }
}

enum { TOKEN_WORDS = 4 };
struct token {
    long long words[TOKEN_WORDS];
};

static struct token last_token(void)
{
    static const char *const knobs[TOKEN_WORDS] = {"token_0", "token_1", "token_2", "token_3"};
    struct token token;
    for (int i = 0; i < TOKEN_WORDS; i++) token.words[i] = lib.fakeNnapi_get(knobs[i]);
    return token;
}

static struct token token_with(const char *const *texts)
{
    lib.fakeNnapi_reset();
    knob_with(make(texts), "runs");
    return last_token();
}

// The token's 32 bytes are the same for the same compilation, and differ where it does.
static void tokens_tell_compilations_apart(void **state)
{
    (void)state;
#define KEPT "cache_dir", "."
    static const char *const texts[][10] = {
        {KEPT, "model_token", "ours"},
        {KEPT, "model_token", "ourt"},
        {KEPT, "model_token", "ours", "accelerator_name", "slow-gpu"},
        {KEPT, "model_token", "ours", "accelerator_name", "google-edgetpu"},
        {KEPT, "model_token", "ours", "allow_fp16", "true"},
        {KEPT, "model_token", "ours", "execution_preference", "sustained_speed"},
        {KEPT, "model_token", "ours", "execution_priority", "low"},
        {KEPT, "model_token", "ours", "max_delegated_partitions", "1"}, // the last compilation is of another part
    };
    enum { TOKENS = sizeof texts / sizeof *texts };
    struct token tokens[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        tokens[i] = token_with(texts[i]);
        const struct token again = token_with(texts[i]);
        assert_memory_equal(&again, &tokens[i], sizeof again);
        for (int word = 0; word < TOKEN_WORDS; word++) assert_int_not_equal(tokens[i].words[word], 0);
        for (int other = 0; other < i; other++) assert_memory_not_equal(&tokens[other], &tokens[i], sizeof again);
    }
    // The same for another shape of the input.
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(texts[0]);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    struct token token = last_token();
    assert_memory_equal(&token, &tokens[0], sizeof token);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(session.interpreter, 0, (const int[]){1, 2, 4, 5}, 4),
                     kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    token = last_token();
    assert_memory_not_equal(&token, &tokens[0], sizeof token);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
}

static void options_of_the_struct_reach_the_system(void **state)
{
    (void)state;
    lib.fakeNnapi_reset();
    assert_int_equal(setenv("HALITE_NNAPI_LIBRARY", FAKE_NNAPI, 1), 0);
    TfLiteNnapiDelegateOptions options = lib.TfLiteNnapiDelegateOptionsDefault();
    assert_int_equal(options.execution_preference, kUndefined);
    assert_int_equal(options.disallow_nnapi_cpu, 1);
    assert_int_equal(options.max_number_delegated_partitions, 3);
    options.execution_preference = kFastSingleAnswer;
    options.accelerator_name = "google-edgetpu";
    options.max_number_delegated_partitions = 1;
    apply_and_run(lib.TfLiteNnapiDelegateCreate(&options), 2, NULL);
    assert_int_equal(lib.fakeNnapi_get("preference"), 1);
    assert_int_equal(lib.fakeNnapi_get("devices_named"), 1);
    assert_int_equal(lib.fakeNnapi_get("relaxed"), 0);
    options = lib.TfLiteNnapiDelegateOptionsDefault();
    options.allow_fp16 = 1;
    options.disallow_nnapi_cpu = 0;
    options.cache_dir = ".";
    options.model_token = "ours";
    apply_and_run(lib.TfLiteNnapiDelegateCreate(&options), 3, NULL);
    assert_int_equal(lib.fakeNnapi_get("relaxed"), 1);
    assert_int_equal(lib.fakeNnapi_get("devices_named"), 0);
    assert_int_equal(lib.fakeNnapi_get("cached"), 2);
    apply_and_run(lib.TfLiteNnapiDelegatePluginCApi()->create(NULL), 3, NULL);
    unsetenv("HALITE_NNAPI_LIBRARY");
    lib.TfLiteNnapiDelegateDelete(NULL);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    assert_null(MAKE("acclerator_name", "x"));
    assert_non_null(strstr(plugin_message(), "NNAPI delegate: unknown option acclerator_name; known are "));
    assert_null(MAKE("execution_priority", "urgent"));
    assert_string_equal(plugin_message(), "NNAPI delegate: option execution_priority is \"urgent\", expected default, "
                                          "low, medium, high");
    assert_null(MAKE("allow_fp16", "perhaps"));
    assert_string_equal(plugin_message(), "NNAPI delegate: option allow_fp16 is \"perhaps\", expected true or false");
    assert_null(MAKE("max_execution_timeout_duration_ns", "-1"));
    TfLiteDelegate *delegate = MAKE("cache_dir", ".");
    assert_string_equal(plugin_message(), "NNAPI delegate: no compiled models are kept: option model_token is missing");
    lib.tflite_plugin_destroy_delegate(delegate);
}

// ---- failures -----------------------------------------------------------------------------------

// Lets call `fail_at` of the system fail. Wherever that is, the graph can be run on the CPU afterwards, and nothing of
// the system's is left. False where there are not so many calls.
static bool fail_once(long long level, long long fail_at)
{
    lib.fakeNnapi_reset();
    lib.fakeNnapi_set("level", level);
    lib.fakeNnapi_set("fail_at", fail_at);
    struct session session;
    session_begin(&session, &graph);
    TfLiteDelegate *delegate = make(NULL);
    TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate);
    bool applied = status == kTfLiteOk;
    assert_true(applied || status == kTfLiteDelegateError);
    if (!applied) {
        assert_int_equal(delegated_nodes(session.interpreter), 0);
        assert_int_equal(lib.fakeNnapi_get("live"), 0);
    } else {
        status = session_run(&session);
        if (status != kTfLiteOk) {
            assert_int_equal(session_run(&session), kTfLiteOk); // the next call of the system succeeds
            session_check(&session, 1);
        }
        assert_int_equal(HaliteInterpreterRemoveDelegates(session.interpreter), kTfLiteOk);
    }
    bool failed = lib.fakeNnapi_get("calls") >= fail_at;
    assert_int_equal(status != kTfLiteOk, failed);
    assert_int_equal(lib.TfLiteNnapiDelegatePluginCApi()->get_delegate_errno(delegate), failed ? 5 : 0);
    if (failed) assert_non_null(strstr(session.messages, "NN API returned error ANEURALNETWORKS_OP_FAILED at line "));
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(session_run(&session), kTfLiteOk);
    session_check(&session, 1);
    session_end(&session);
    lib.tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(lib.fakeNnapi_get("live"), 0);
    assert_int_equal(lib.fakeNnapi_get("complaints"), 0);
    return failed;
}

static void each_failing_call_leaves_the_graph(void **state)
{
    (void)state;
    static const struct {
        long long level;
        int calls; // at least
    } rows[] = {{27, 30}, {29, 60}, {1000007, 60}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int failures = 0;
        while (fail_once(rows[i].level, failures + 1)) failures++;
        assert_true(failures > rows[i].calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_go_there_and_reasons_stay),
        cmocka_unit_test(partitions_are_limited),
        cmocka_unit_test(each_feature_level_runs),
        cmocka_unit_test(devices_may_refuse_operations),
        cmocka_unit_test(absent_systems_are_no_error),
        cmocka_unit_test(devices_are_chosen_by_name),
        cmocka_unit_test(support_libraries_stand_for_the_system),
        cmocka_unit_test(support_libraries_want_devices),
        cmocka_unit_test(each_option_reaches_the_system),
        cmocka_unit_test(no_option_is_left_out),
        cmocka_unit_test(tokens_tell_compilations_apart),
        cmocka_unit_test(options_of_the_struct_reach_the_system),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(each_failing_call_leaves_the_graph),
    };
    return cmocka_run_group_tests(tests, open_libraries, NULL);
}
