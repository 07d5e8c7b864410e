// SPDX-License-Identifier: Apache-2.0
// What a user learns of the delegate's work: the report of halite/gpu_delegate.h, the message about operators that stay
// on the CPU, and the time of kernels. All on the null device, the times also on those that are here.
#include "gpu/backend/null.h"
#include "gpu/delegate_session.h"

static void test_partitions(void **state)
{
    (void)state;
    static const struct {
        const char *partitions, *small;
        int delegated, parts;
        HaliteDelegateReason relu;
        const char *relu_name, *relu_text;
    } cases[] = {
        {"1", "false", 2, 1, kHaliteDelegateReasonPartition, "PARTITION",
         "partition 1 by size, 1 node; max_delegated_partitions is 1"},
        {"2", "false", 2, 1, kHaliteDelegateReasonCost, "COST",
         "partition 1 by size, 1 node: copies cost more than it saves"},
        {"2", "true", 3, 2, kHaliteDelegateReasonOk, "OK", "runs on the GPU"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *texts[] = {
            "device",       "null", "max_delegated_partitions", cases[i].partitions, "take_small_partitions",
            cases[i].small, NULL};
        TfLiteDelegate *delegate = make(texts);
        struct session session;
        begin(&session, &graph);
        HaliteDelegateReport *before = HaliteDelegateReportCreate(delegate);
        assert_int_equal(HaliteDelegateReportGetNodeCount(before), 0);
        assert_null(HaliteDelegateReportGetDevice(before));
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        assert_int_equal(delegated_nodes(&session), cases[i].delegated);
        char message[256];
        snprintf(message, sizeof message,
                 "Following operations are not supported by GPU delegate:\nToy: Operation is not supported.\n"
                 "%d operations will run on the GPU, and the remaining %d operations will run on the CPU.",
                 cases[i].delegated, 4 - cases[i].delegated);
        assert_string_equal(session.messages.text, message);
        HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
        end(&session);
        tflite_plugin_destroy_delegate(delegate); // a report outlives both
        assert_int_equal(HaliteDelegateReportGetNodeCount(before), 0);
        HaliteDelegateReportDelete(before);
        assert_int_equal(HaliteDelegateReportGetNodeCount(report), 4);
        assert_int_equal(HaliteDelegateReportGetGraphCount(report), 1);
        const HaliteDelegateGraph *only = HaliteDelegateReportGetGraph(report, 0);
        assert_int_equal(only->number, 0);
        assert_int_equal(only->first_node, 0);
        assert_int_equal(only->node_count, 4);
        assert_int_equal(only->gpu_node_count, cases[i].delegated);
        assert_int_equal(only->partition_count, cases[i].parts);
        static const char *const names[] = {"RELU", "Toy", "ADD", "MUL"};
        const HaliteDelegateReason reasons[] = {cases[i].relu, kHaliteDelegateReasonNoKernel, kHaliteDelegateReasonOk,
                                                kHaliteDelegateReasonOk};
        static const int partitions[] = {1, -1, 0, 0};
        for (int n = 0; n < 4; n++) {
            const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, n);
            assert_int_equal(node->graph, 0);
            assert_int_equal(node->node, n);
            assert_string_equal(node->op, names[n]);
            assert_int_equal(node->version, 1);
            assert_int_equal(node->reason, reasons[n]);
            assert_int_equal(node->on_gpu, reasons[n] == kHaliteDelegateReasonOk);
            assert_int_equal(node->partition, partitions[n]);
            assert_int_equal(node->tensor, -1);
            assert_int_equal(node->rank, 0);
        }
        assert_string_equal(HaliteDelegateReportGetNode(report, 0)->reason_name, cases[i].relu_name);
        assert_string_equal(HaliteDelegateReportGetNode(report, 0)->text, cases[i].relu_text);
        assert_string_equal(HaliteDelegateReportGetNode(report, 1)->text, "Operation is not supported.");
        assert_null(HaliteDelegateReportGetNode(report, 4));
        assert_null(HaliteDelegateReportGetNode(report, -1));
        assert_null(HaliteDelegateReportGetGraph(report, 1));
        assert_string_equal(HaliteDelegateReportGetDevice(report)->name, "null:0");
        assert_string_equal(HaliteDelegateReportGetDevice(report)->description, "Null");
        assert_int_equal(HaliteDelegateReportGetPrecision(report), kHaliteGpuPrecisionF32);
        HaliteDelegateReportDelete(report);
    }
    assert_int_equal(gpu_null_live(), 0);
}

// A graph's rows stay until the delegate is applied to it again; numbers go on.
static void test_many_graphs(void **state)
{
    (void)state;
    enum { SESSIONS = DELEGATE_REPORT_GRAPHS + 2 };
    static const char *const texts[] = {"device", "null", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session *sessions = calloc(SESSIONS, sizeof *sessions);
    assert_non_null(sessions);
    for (int i = 0; i < SESSIONS; i++) {
        begin(&sessions[i], i % 2 ? &graph : &whole);
        assert_int_equal(apply(&sessions[i], delegate), kTfLiteOk);
    }
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    assert_int_equal(HaliteDelegateReportGetGraphCount(report), DELEGATE_REPORT_GRAPHS);
    for (int i = 0, first = 0; i < DELEGATE_REPORT_GRAPHS; i++) {
        const HaliteDelegateGraph *one = HaliteDelegateReportGetGraph(report, i);
        assert_int_equal(one->number, i + 2);
        assert_int_equal(one->node_count, i % 2 ? 4 : 3);
        assert_int_equal(one->first_node, first);
        for (int n = 0; n < one->node_count; n++)
            assert_int_equal(HaliteDelegateReportGetNode(report, first + n)->graph, i + 2);
        first += one->node_count;
    }
    HaliteDelegateReportDelete(report);

    // Again to a graph that is there: its rows are new.
    const int shape[] = {2, 2, 3, 5};
    TfLiteInterpreter *fifth = sessions[5].interpreter;
    assert_int_equal(TfLiteInterpreterResizeInputTensor(fifth, 0, shape, 4), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(fifth), kTfLiteOk);
    report = HaliteDelegateReportCreate(delegate);
    assert_int_equal(HaliteDelegateReportGetGraphCount(report), DELEGATE_REPORT_GRAPHS);
    const HaliteDelegateGraph *last = HaliteDelegateReportGetGraph(report, DELEGATE_REPORT_GRAPHS - 1);
    assert_int_equal(last->number, SESSIONS);
    assert_int_equal(last->node_count, 4);
    for (int i = 0; i < DELEGATE_REPORT_GRAPHS; i++)
        assert_int_not_equal(HaliteDelegateReportGetGraph(report, i)->number, 5);
    HaliteDelegateReportDelete(report);
    for (int i = 0; i < SESSIONS; i++) end(&sessions[i]);
    free(sessions);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    static const struct test_node toy_nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Toy", TEST_INPUTS(A), TEST_OUTPUTS(P)}};
    static const struct test_model only_toy = {TEST_TENSORS(tensors), TEST_NODES(toy_nodes), TEST_INPUTS(A),
                                               TEST_OUTPUTS(P)};
    static const char *const texts[] = {"device", "opencl:99", NULL}; // never looked for
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &only_toy);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_string_equal(session.messages.text,
                        "Following operations are not supported by GPU delegate:\nToy: Operation is not supported.\n"
                        "No operations will run on the GPU, and all 1 operations will run on the CPU.");
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_full_delegation(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null", "require_full_delegation", "1", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session refused, taken;
    begin(&refused, &graph);
    assert_int_equal(apply(&refused, delegate), kTfLiteDelegateError);
    assert_non_null(strstr(refused.messages.text, "require_full_delegation is set, and 2 of 4 nodes stay on the CPU"));
    assert_int_equal(delegated_nodes(&refused), 0);
    check_withdrawn(delegate, kHaliteDelegateReasonRefused, "not all nodes are");
    begin(&taken, &whole);
    assert_int_equal(apply(&taken, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&taken), 3);
    assert_string_equal(taken.messages.text, "");
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    assert_int_equal(HaliteDelegateReportGetNodeCount(report), 4 + 3);
    assert_int_equal(HaliteDelegateReportGetGraph(report, 1)->gpu_node_count, 3);
    HaliteDelegateReportDelete(report);
    end(&taken);
    end(&refused);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_a_tensor_at_fault(void **state)
{
    (void)state;
    static const struct test_tensor wide[] = {{.name = "x", .type = TEST_INT32, .rank = 2, .dims = {2, 3}},
                                              {.name = "y", .type = TEST_INT32, .rank = 2, .dims = {2, 3}}};
    static const struct test_node wide_nodes[] = {ONE_IN(kTfLiteBuiltinAbs, 0, 1)};
    static const struct test_model model = {TEST_TENSORS(wide), TEST_NODES(wide_nodes), TEST_INPUTS(0),
                                            TEST_OUTPUTS(1)};
    TfLiteDelegate *delegate = make(NULL);
    struct session session;
    begin(&session, &model);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, 0);
    assert_string_equal(node->reason_name, "TYPE");
    assert_int_equal(node->reason, kHaliteDelegateReasonType);
    assert_string_equal(node->text, "input 0 has type INT32, which the GPU does not take here");
    assert_int_equal(node->tensor, 0);
    assert_string_equal(node->tensor_name, "x");
    assert_int_equal(node->tensor_type, kTfLiteInt32);
    assert_int_equal(node->rank, 2);
    assert_int_equal(node->dims[1], 3);
    assert_null(HaliteDelegateReportGetDevice(report)); // nothing to do there
    HaliteDelegateReportDelete(report);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// A device that auto took, which needs a GPU: the null device with a reason.
struct auto_reason {
    const char *why;
};
static struct auto_reason *auto_reason(void)
{
    static struct auto_reason reason;
    return &reason;
}

bool __real_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen);
bool __wrap_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen);
bool __wrap_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen)
{
    bool ok = __real_gpu_device_choose(text, only, sustained, reporter, chosen);
    if (ok && auto_reason()->why) snprintf(chosen->why, sizeof chosen->why, "%s", auto_reason()->why);
    return ok;
}

static void test_auto_is_said_once(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null", NULL};
    auto_reason()->why = "the only real GPU";
    TfLiteDelegate *delegate = make(texts);
    struct session first, second;
    begin(&first, &whole);
    begin(&second, &whole);
    assert_int_equal(apply(&first, delegate), kTfLiteOk);
    assert_int_equal(apply(&second, delegate), kTfLiteOk);
    assert_string_equal(first.messages.text,
                        "TfLiteGpuDelegate: runs on null:0 (Null): the only real GPU. HALITE_DEVICE or "
                        "the option device chooses another.");
    assert_string_equal(second.messages.text, "");
    end(&first);
    end(&second);
    tflite_plugin_destroy_delegate(delegate);
    auto_reason()->why = NULL;
}

// ---- time of kernels ----------------------------------------------------------------------------

struct events {
    int count, wrong;
    uint64_t microseconds;
};

static void take_event(TfLiteTelemetryProfilerStruct *telemetry, const char *name, uint64_t elapsed, int64_t node,
                       int64_t graph_number)
{
    struct events *events = telemetry->data;
    bool copies = strcmp(name, "from_dense") == 0 || strcmp(name, "to_dense") == 0;
    bool named = strncmp(name, "RELU 0 ", 7) == 0 || strncmp(name, "ADD 2 ", 6) == 0 || strncmp(name, "MUL 3 ", 6) == 0;
    events->count++;
    events->microseconds += elapsed;
    events->wrong += graph_number != 0 || (copies ? node != -1 : !named || node != strchr(name, ' ')[1] - '0');
}

static void invoke(struct session *session, int times)
{
    for (int i = 0; i < times; i++) {
        set_input(session);
        assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
    }
}

// Sum of all kernels' times; each has run so often.
static uint64_t check_kernels(TfLiteDelegate *delegate, int runs, int *count)
{
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    uint64_t sum = 0;
    *count = HaliteDelegateReportGetKernelCount(report);
    int of_node[4] = {0}, copies = 0;
    for (int i = 0; i < *count; i++) {
        const HaliteDelegateKernel *kernel = HaliteDelegateReportGetKernel(report, i);
        assert_int_equal(kernel->graph, 0);
        assert_int_equal(kernel->runs, runs);
        assert_true(kernel->kernel[0] != 0);
        sum += kernel->nanoseconds;
        if (kernel->node < 0) {
            assert_string_equal(kernel->op, "");
            copies++;
            continue;
        }
        const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, kernel->node);
        assert_int_equal(node->node, kernel->node);
        assert_string_equal(node->op, kernel->op);
        assert_int_equal(node->partition, kernel->partition);
        assert_true(node->on_gpu);
        of_node[kernel->node]++;
    }
    assert_int_equal(of_node[0], 1);           // relu, a partition of its own
    assert_int_equal(of_node[1], 0);           // toy, on the CPU
    assert_true(of_node[2] + of_node[3] >= 1); // may be one kernel
    assert_true(copies <= 2 + 3);              // a to r; a and t to p; some copy for themselves
    assert_null(HaliteDelegateReportGetKernel(report, *count));
    assert_null(HaliteDelegateReportGetKernel(report, -1));
    HaliteDelegateReportDelete(report);
    return sum;
}

static void profile_on(const char *device)
{
    const char *texts[] = {"device", device, "max_delegated_partitions", "2", "take_small_partitions", "1", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &graph);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    int count;
    invoke(&session, 2);
    assert_int_equal(check_kernels(delegate, 0, &count), 0); // nobody asked

    struct events events = {0};
    TfLiteTelemetryProfilerStruct telemetry = {.data = &events, .ReportOpInvokeEvent = take_event};
    assert_int_equal(HaliteDelegateSetProfiling(delegate, true, &telemetry), kTfLiteOk);
    invoke(&session, 3);
    if (strcmp(device, "null") != 0) check_output(&session); // a profiled run is a run
    uint64_t sum = check_kernels(delegate, 3, &count);
    assert_int_equal(events.count, 3 * count);
    assert_int_equal(events.wrong, 0);
    assert_true(events.microseconds <= sum / 1000 + 3 * (uint64_t)count); // rounded
    assert_int_equal(HaliteDelegateSetProfiling(delegate, false, NULL), kTfLiteOk);
    invoke(&session, 2);
    assert_int_equal(check_kernels(delegate, 3, &count), sum); // stays
    assert_int_equal(events.count, 3 * count);
    if (strcmp(device, "null") == 0) {
        char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
        int recorded = 0, n;
        for (const char *at = text; (at = strstr(at, "finish list ")); at++)
            if (sscanf(at, "finish list %*d: %d dispatches", &n) == 1) recorded += n;
        assert_int_equal(count, recorded);
        free(text);
    } else {
        assert_true(sum > 0);
    }
    assert_int_equal(HaliteDelegateSetProfiling(delegate, true, NULL), kTfLiteOk);
    assert_int_equal(check_kernels(delegate, 0, &count), 0); // starts anew
    end(&session);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    assert_int_equal(HaliteDelegateReportGetKernelCount(report), 0); // none lives
    HaliteDelegateReportDelete(report);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_profile(void **state)
{
    (void)state;
    TfLiteDelegate other = {.flags = 0};
    assert_int_equal(HaliteDelegateSetProfiling(&other, true, NULL), kTfLiteError);
    assert_int_equal(HaliteDelegateSetProfiling(NULL, true, NULL), kTfLiteError);
    for (int i = 0; i < ALL_DEVICES; i++) {
        struct gpu_device_info info;
        struct messages messages = {0};
        struct hl_reporter reporter = {collect, &messages};
        if (gpu_device_choose(all_devices[i], "", false, &reporter, &info))
            profile_on(all_devices[i]);
        else
            print_message("left out: %s\n", messages.text);
    }
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_GPU_NULL_FAIL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions),        cmocka_unit_test(test_many_graphs),
        cmocka_unit_test(test_nothing_to_do),     cmocka_unit_test(test_full_delegation),
        cmocka_unit_test(test_a_tensor_at_fault), cmocka_unit_test(test_auto_is_said_once),
        cmocka_unit_test(test_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
