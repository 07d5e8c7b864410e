// SPDX-License-Identifier: Apache-2.0
// The Hexagon delegate before the fake of the interface library: what it takes, what it says of the rest, its options
// and its life, and what is left of a graph where a call of the library fails. Results lie within a step of the CPU's.
//
//   the graph:   r = relu(a)   s = a + r   l = leaky_relu(s)   p = l * l   n = quantize(p)
//
// LEAKY_RELU is none of Hexagon's.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "delegates/session.h"
#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/hexagon/hexagon_delegate.h"

// ---- the libraries ------------------------------------------------------------------------------

// X(result, name, arguments)
#define DELEGATE_FUNCTIONS(X)                                                                \
    PLUGIN_FUNCTIONS(X)                                                                      \
    X(TfLiteHexagonDelegateOptions, TfLiteHexagonDelegateOptionsDefault, (void))             \
    X(TfLiteDelegate *, TfLiteHexagonDelegateCreate, (const TfLiteHexagonDelegateOptions *)) \
    X(void, TfLiteHexagonDelegateDelete, (TfLiteDelegate *))                                 \
    X(void, TfLiteHexagonInit, (void))                                                       \
    X(void, TfLiteHexagonInitWithPath, (const char *))                                       \
    X(void, TfLiteHexagonTearDown, (void))
#define FAKE_FUNCTIONS(X)                               \
    X(void, fakeHexagon_reset, (void))                  \
    X(void, fakeHexagon_set, (const char *, long long)) \
    X(long long, fakeHexagon_get, (const char *))

static struct {
#define X(result, name, arguments) result(*name) arguments;
    DELEGATE_FUNCTIONS(X) FAKE_FUNCTIONS(X)
#undef X
} lib;

static int open_libraries(void **state)
{
    (void)state;
#define X(result, name, arguments) find_function(HEXAGON_DELEGATE, #name, &lib.name, sizeof lib.name);
    DELEGATE_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) find_function(FAKE_HEXAGON, #name, &lib.name, sizeof lib.name);
    FAKE_FUNCTIONS(X)
#undef X
    return setenv("HALITE_HEXAGON_LIBRARY", FAKE_HEXAGON, 1);
}

static int begin_test(void **state)
{
    (void)state;
    lib.fakeHexagon_reset();
    return 0;
}

// ---- graphs -------------------------------------------------------------------------------------

enum { A, R, S, L, P, N, TENSORS };
#define BYTES(label, scale_, zero)                                                                             \
    {                                                                                                          \
        .name = label, .type = TEST_INT8, .rank = 4, .dims = {1, 2, 3, 5}, .scale = scale_, .zero_point = zero \
    }
static const struct test_tensor tensors[TENSORS] = {BYTES("a", 0.05f, 3),   BYTES("r", 0.04f, -128),
                                                    BYTES("s", 0.1f, -40),  BYTES("l", 0.1f, -100),
                                                    BYTES("p", 0.5f, -128), BYTES("n", 0.6f, -120)};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinRelu, .version = 2, TEST_INPUTS(A), TEST_OUTPUTS(R)},
    {.builtin = kTfLiteBuiltinAdd, .version = 2, TEST_INPUTS(A, R), TEST_OUTPUTS(S)},
    {.builtin = kTfLiteBuiltinLeakyRelu,
     .version = 2,
     TEST_INPUTS(S),
     TEST_OUTPUTS(L),
     .settings = {{.field = HL_LeakyReluOptions_alpha, .value = 0.25}}},
    {.builtin = kTfLiteBuiltinMul, .version = 2, TEST_INPUTS(L, L), TEST_OUTPUTS(P)},
    {.builtin = kTfLiteBuiltinQuantize, .version = 2, TEST_INPUTS(P), TEST_OUTPUTS(N)},
};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(N)};
enum { NODES = TEST_LENGTH(nodes), TAKEN = NODES - 1 };

// A session and what the CPU makes of its model.
struct compared {
    struct session session;
    size_t output_bytes;
    signed char expected[4096];
};

static TfLiteStatus run(struct session *session)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    signed char *to = TfLiteTensorData(input);
    for (size_t i = 0; i < TfLiteTensorByteSize(input); i++) to[i] = (signed char)(i * 37 % 251 - 125);
    return TfLiteInterpreterInvoke(session->interpreter);
}

static const signed char *output_of(const struct session *session)
{
    return TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session->interpreter, 0));
}

// Runs it on the CPU.
static void begin(struct compared *compared, const struct test_model *model)
{
    struct session *session = &compared->session;
    session_begin(session, model);
    assert_int_equal(run(session), kTfLiteOk);
    compared->output_bytes = TfLiteTensorByteSize(TfLiteInterpreterGetOutputTensor(session->interpreter, 0));
    assert_true(compared->output_bytes <= sizeof compared->expected);
    memcpy(compared->expected, output_of(session), compared->output_bytes);
}

static void check_output(const struct compared *compared, int steps)
{
    const signed char *output = output_of(&compared->session);
    bool varies = false;
    for (size_t i = 0; i < compared->output_bytes; i++) {
        assert_in_range(abs(output[i] - compared->expected[i]), 0, steps);
        varies = varies || output[i] != output[0];
    }
    assert_true(varies); // else anything would be right
}

// ---- a delegate ---------------------------------------------------------------------------------

// With options as texts: key, value, ... NULL.
static TfLiteDelegate *make(const char *const *texts)
{
    return plugin_make(lib.tflite_plugin_create_delegate, NULL, texts);
}
#define MAKE(...) make((const char *const[]){__VA_ARGS__, NULL})
#define EVERY_NODE "min_nodes_per_partition", "1"

static void check_nothing_is_left(void)
{
    assert_int_equal(lib.fakeHexagon_get("live"), 0);
    assert_int_equal(lib.fakeHexagon_get("connected"), 0);
    assert_int_equal(lib.fakeHexagon_get("complaints"), 0);
}

// Applies a plug-in's delegate and runs, then ends it.
static void apply_and_run(const struct test_model *model, TfLiteDelegate *delegate, int expected_nodes,
                          const char *message)
{
    struct compared compared;
    begin(&compared, model);
    assert_non_null(delegate);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(compared.session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(compared.session.interpreter), expected_nodes);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(&compared.session), kTfLiteOk);
        check_output(&compared, 1);
    }
    if (message && !strstr(compared.session.messages, message))
        fail_msg("\"%s\" is not in: %s", message, compared.session.messages);
    session_end(&compared.session);
    lib.tflite_plugin_destroy_delegate(delegate);
    check_nothing_is_left();
}

// ---- what it takes ------------------------------------------------------------------------------

static void nodes_go_there_and_reasons_stay(void **state)
{
    (void)state;
    struct compared compared;
    begin(&compared, &graph);
    TfLiteDelegate *delegate = MAKE(EVERY_NODE);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(compared.session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(run(&compared.session), kTfLiteOk);
    check_output(&compared, 1);
    assert_int_equal(lib.fakeHexagon_get("runs"), 2);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    assert_int_equal(lib.HaliteDelegateReportGetNodeCount(report), NODES);
    for (int i = 0; i < NODES; i++)
        assert_int_equal(lib.HaliteDelegateReportGetNode(report, i)->on_gpu,
                         nodes[i].builtin != kTfLiteBuiltinLeakyRelu);
    const HaliteDelegateNode *leaky = lib.HaliteDelegateReportGetNode(report, 2);
    assert_int_equal(leaky->reason, kHaliteDelegateReasonNoKernel);
    assert_string_equal(leaky->text, "Hexagon does not have the operator");
    lib.HaliteDelegateReportDelete(report);
    session_end(&compared.session);
    lib.tflite_plugin_destroy_delegate(delegate);
    check_nothing_is_left();
}

static void partitions_are_limited(void **state)
{
    (void)state;
    apply_and_run(&graph, MAKE(EVERY_NODE, "max_delegated_partitions", "1"), 2, NULL);
    apply_and_run(&graph, MAKE("min_nodes_per_partition", "2"), TAKEN, NULL);
    apply_and_run(&graph, MAKE("min_nodes_per_partition", "3"), 0, NULL);
    TfLiteDelegate *delegate = MAKE("max_delegated_partitions", "17");
    assert_string_equal(plugin_message(), "Hexagon delegate: cannot have this many 17 partitions, and will cap to at "
                                          "most 16 partitions.");
    apply_and_run(&graph, delegate, TAKEN, NULL);
}

static void float_models_stay(void **state)
{
    (void)state;
    static const struct test_tensor floats[] = {
        {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 8}},
        {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 8}},
    };
    static const struct test_node relu[] = {{.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(0), TEST_OUTPUTS(1)}};
    static const struct test_model model = {TEST_TENSORS(floats), TEST_NODES(relu), TEST_INPUTS(0), TEST_OUTPUTS(1)};
    struct compared compared;
    begin(&compared, &model);
    TfLiteDelegate *delegate = MAKE(EVERY_NODE);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(compared.session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(compared.session.interpreter), 0);
    HaliteDelegateReport *report = lib.HaliteDelegateReportCreate(delegate);
    assert_string_equal(lib.HaliteDelegateReportGetNode(report, 0)->text,
                        "Hexagon computes with 8 bits, this is float32");
    lib.HaliteDelegateReportDelete(report);
    session_end(&compared.session);
    lib.tflite_plugin_destroy_delegate(delegate);
    check_nothing_is_left();
}

// ---- layers that become several operations ------------------------------------------------------

enum { SLICED = 64 };

static const struct test_model *depthwise(int filter, int channels, int stride, int dilation)
{
    static signed char weights[5 * 5 * SLICED];
    static int32_t bias[SLICED];
    static float scales[SLICED], bias_scales[SLICED];
    static struct test_tensor layer[4];
    static struct test_node node;
    static struct test_model model;
    for (int i = 0; i < channels; i++) {
        scales[i] = 0.01f + 0.0005f * (float)i;
        bias_scales[i] = 0.05f * scales[i];
        bias[i] = 40 * i - 1000;
    }
    for (int i = 0; i < filter * filter * channels; i++) weights[i] = (signed char)(i * 29 % 255 - 127);
    int side = stride > 1 ? (7 + stride - 1) / stride : 7;
    layer[0] = (struct test_tensor){
        .name = "x", .type = TEST_INT8, .rank = 4, .dims = {1, 7, 7, channels}, .scale = 0.05f, .zero_point = 3};
    layer[1] = (struct test_tensor){.name = "w",
                                    .type = TEST_INT8,
                                    .rank = 4,
                                    .dims = {1, filter, filter, channels},
                                    .data = weights,
                                    .bytes = (size_t)(filter * filter * channels),
                                    .scale_count = channels,
                                    .scales = scales,
                                    .quantized_dimension = 3};
    layer[2] = (struct test_tensor){.name = "b",
                                    .type = TEST_INT32,
                                    .rank = 1,
                                    .dims = {channels},
                                    .data = bias,
                                    .bytes = (size_t)channels * 4,
                                    .scale_count = channels,
                                    .scales = bias_scales};
    layer[3] = (struct test_tensor){
        .name = "y", .type = TEST_INT8, .rank = 4, .dims = {1, side, side, channels}, .scale = 0.2f, .zero_point = -5};
    node = (struct test_node){.builtin = kTfLiteBuiltinDepthwiseConv2d,
                              .version = 3,
                              TEST_INPUTS(0, 1, 2),
                              TEST_OUTPUTS(3),
                              .settings = {{.field = HL_DepthwiseConv2DOptions_stride_w, .value = stride},
                                           {.field = HL_DepthwiseConv2DOptions_stride_h, .value = stride},
                                           {.field = HL_DepthwiseConv2DOptions_depth_multiplier, .value = 1},
                                           {.field = HL_DepthwiseConv2DOptions_dilation_w_factor, .value = dilation},
                                           {.field = HL_DepthwiseConv2DOptions_dilation_h_factor, .value = dilation}}};
    model = (struct test_model){TEST_TENSORS(layer), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(3)};
    return &model;
}

// Each case: the input, a cast, the operations, a cast and the output.
static void depthwise_layers_become_what_the_processor_has(void **state)
{
    (void)state;
    static const struct {
        int filter, channels, stride, dilation, operations;
    } rows[] = {
        {3, 8, 1, 1, 1}, {3, 8, 2, 1, 1}, {3, 8, 1, 2, 3}, {2, 8, 1, 3, 3}, {5, 32, 2, 1, 1}, {5, 64, 2, 1, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lib.fakeHexagon_reset();
        apply_and_run(depthwise(rows[i].filter, rows[i].channels, rows[i].stride, rows[i].dilation), MAKE(EVERY_NODE),
                      1, NULL);
        assert_int_equal(lib.fakeHexagon_get("nodes"), rows[i].operations + 4);
    }
}

// ---- the library --------------------------------------------------------------------------------

static void absent_processors_are_no_error(void **state)
{
    (void)state;
    apply_and_run(&graph, MAKE("library_path", "/nowhere/libhexagon_interface.so"), 0,
                  "no Hexagon here: /nowhere/libhexagon_interface.so");
    apply_and_run(&graph, MAKE("library_path", HEXAGON_DELEGATE), 0, "lacks the function hexagon_nn_");
    lib.fakeHexagon_set("supported", 0);
    apply_and_run(&graph, make((const char *const[]){NULL}), 0, "does not know this system's Hexagon processor");
    lib.fakeHexagon_reset();
    lib.fakeHexagon_set("skeleton", 137728);
    apply_and_run(&graph, make((const char *const[]){NULL}), 0,
                  "libhexagon_interface.so has version 137729, the processor's libhexagon_nn_skel.so 137728");
    lib.fakeHexagon_reset();
    lib.fakeHexagon_set("fail_at", 1); // the version
    apply_and_run(&graph, make((const char *const[]){NULL}), 0, "libhexagon_nn_skel.so is not where ADSP_LIBRARY_PATH");
}

// What connects the process changes nothing but that, with and without a folder, and does nothing without a library.
static void processes_connect_and_part(void **state)
{
    (void)state;
    assert_int_equal(setenv("ADSP_LIBRARY_PATH", "/of/the/application", 1), 0);
    lib.TfLiteHexagonInit();
    lib.TfLiteHexagonInitWithPath(NULL);
    assert_string_equal(getenv("ADSP_LIBRARY_PATH"), "/of/the/application");
    assert_int_equal(lib.fakeHexagon_get("connected"), 2);
    lib.TfLiteHexagonTearDown();
    lib.TfLiteHexagonTearDown();
    check_nothing_is_left();
    assert_int_equal(setenv("HALITE_HEXAGON_LIBRARY", "/nowhere/libhexagon_interface.so", 1), 0);
    lib.TfLiteHexagonInit();
    lib.TfLiteHexagonInitWithPath("/data/local/tmp");
    lib.TfLiteHexagonTearDown();
    assert_null(lib.TfLiteHexagonDelegateCreate(NULL));
    assert_int_equal(setenv("HALITE_HEXAGON_LIBRARY", FAKE_HEXAGON, 1), 0);
    check_nothing_is_left();
}

static void documented_functions_make_it_or_return_null(void **state)
{
    (void)state;
    lib.TfLiteHexagonInitWithPath("/data/local/tmp");
    assert_string_equal(getenv("ADSP_LIBRARY_PATH"),
                        "/data/local/tmp;/system/lib/rfsa/adsp;/system/vendor/lib/rfsa/adsp;/dsp");
    assert_int_equal(lib.fakeHexagon_get("connected"), 1);
    TfLiteHexagonDelegateOptions options = lib.TfLiteHexagonDelegateOptionsDefault();
    static const TfLiteHexagonDelegateOptions zeros;
    assert_memory_equal(&options, &zeros, sizeof options);
    options.debug_level = 3;
    options.powersave_level = 2;
    options.print_graph_profile = options.print_graph_debug = true;
    TfLiteDelegate *delegate = lib.TfLiteHexagonDelegateCreate(&options);
    assert_non_null(delegate);
    struct compared compared;
    begin(&compared, &graph);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(compared.session.interpreter, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(compared.session.interpreter), TAKEN);
    assert_int_equal(run(&compared.session), kTfLiteOk);
    check_output(&compared, 1);
    assert_int_equal(lib.fakeHexagon_get("debug_level"), 3);
    assert_int_equal(lib.fakeHexagon_get("powersave_level"), 2);
    assert_int_equal(lib.fakeHexagon_get("profiles"), 2);
    session_end(&compared.session);
    lib.TfLiteHexagonDelegateDelete(delegate);
    lib.TfLiteHexagonDelegateDelete(NULL);
    lib.fakeHexagon_set("version", 1);
    assert_null(lib.TfLiteHexagonDelegateCreate(NULL));
    lib.fakeHexagon_set("version", 137729);
    lib.fakeHexagon_set("supported", 0);
    assert_null(lib.TfLiteHexagonDelegateCreate(NULL));
    lib.TfLiteHexagonTearDown();
    check_nothing_is_left();
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    assert_null(MAKE("graph", "yes"));
    assert_non_null(strstr(plugin_message(), "Hexagon delegate: unknown option graph; known are debug_level, "));
    assert_null(MAKE("print_graph_debug", "perhaps"));
    assert_string_equal(plugin_message(),
                        "Hexagon delegate: option print_graph_debug is \"perhaps\", expected true or false");
}

// ---- failures -----------------------------------------------------------------------------------

// Lets call `fail_at` of the library fail. Wherever that is, the graph gives the CPU's results afterwards, and nothing
// of the library's is left. False where there are not so many calls; 0: none fails.
static bool fail_once(const struct test_model *model, long long fail_at)
{
    lib.fakeHexagon_reset();
    lib.fakeHexagon_set("fail_at", fail_at);
    struct compared compared;
    begin(&compared, model);
    TfLiteDelegate *delegate = MAKE(EVERY_NODE);
    TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(compared.session.interpreter, delegate);
    bool applied = status == kTfLiteOk;
    assert_true(applied || status == kTfLiteDelegateError);
    if (!applied) {
        assert_int_equal(delegated_nodes(compared.session.interpreter), 0);
        assert_int_equal(lib.fakeHexagon_get("live"), 0);
    } else {
        status = run(&compared.session);
        if (status != kTfLiteOk) assert_int_equal(run(&compared.session), kTfLiteOk); // the next call succeeds
        check_output(&compared, 1);
        assert_int_equal(HaliteInterpreterRemoveDelegates(compared.session.interpreter), kTfLiteOk);
    }
    bool failed = lib.fakeHexagon_get("calls") >= fail_at;
    if (status != kTfLiteOk)
        assert_non_null(strstr(compared.session.messages, "TfLiteHexagonDelegate: error -1 while "));
    assert_int_equal(TfLiteInterpreterAllocateTensors(compared.session.interpreter), kTfLiteOk);
    assert_int_equal(run(&compared.session), kTfLiteOk);
    check_output(&compared, 0);
    session_end(&compared.session);
    lib.tflite_plugin_destroy_delegate(delegate);
    check_nothing_is_left();
    return failed;
}

static void fail_each_call(const struct test_model *model)
{
    fail_once(model, 0); // none
    long long calls = lib.fakeHexagon_get("calls");
    print_message("%lld calls\n", calls);
    for (long long i = 1; i <= calls; i++)
        if (!fail_once(model, i)) fail_msg("there was no call %lld", i);
    assert_false(fail_once(model, calls + 1));
}

// Of two partitions, and of a layer that becomes five operations.
static void each_failing_call_leaves_the_graph(void **state)
{
    (void)state;
    fail_each_call(&graph);
    fail_each_call(depthwise(5, SLICED, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nodes_go_there_and_reasons_stay, begin_test),
        cmocka_unit_test_setup(partitions_are_limited, begin_test),
        cmocka_unit_test_setup(float_models_stay, begin_test),
        cmocka_unit_test_setup(depthwise_layers_become_what_the_processor_has, begin_test),
        cmocka_unit_test_setup(absent_processors_are_no_error, begin_test),
        cmocka_unit_test_setup(processes_connect_and_part, begin_test),
        cmocka_unit_test_setup(documented_functions_make_it_or_return_null, begin_test),
        cmocka_unit_test_setup(wrong_options_are_refused, begin_test),
        cmocka_unit_test_setup(each_failing_call_leaves_the_graph, begin_test),
    };
    return cmocka_run_group_tests(tests, open_libraries, NULL);
}
