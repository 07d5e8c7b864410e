// SPDX-License-Identifier: Apache-2.0
// libLiteRt as a program uses it: compiled models, on the CPU and with the GPU's accelerator. Expected values are
// worked out by hand.
#include "core_fixture.h"

// ---- compiled models ----------------------------------------------------------------------------

static LiteRtOptions options_with(LiteRtHwAcceleratorSet hardware, const char *identifier, const char *payload)
{
    LiteRtOptions options = NULL;
    LiteRtOpaqueOptions opaque = NULL;
    assert_ok(LiteRtCreateOptions(&options));
    assert_ok(LiteRtSetOptionsHardwareAccelerators(options, hardware));
    if (identifier) {
        assert_ok(LiteRtCreateOpaqueOptions(identifier, (void *)payload, NULL, &opaque));
        assert_ok(LiteRtAddOpaqueOptions(options, opaque));
    }
    return options;
}

struct buffers {
    LiteRtTensorBuffer inputs[2], outputs[1];
};

static struct buffers create_buffers(LiteRtEnvironment environment, int rows, bool flat)
{
    struct buffers b;
    LiteRtRankedTensorType type = {kLiteRtElementTypeFloat32, {.rank = 2, .dimensions = {rows, 2}}};
    if (flat) type = pair;
    for (int i = 0; i < 3; i++) {
        LiteRtTensorBuffer *buffer = i < 2 ? &b.inputs[i] : &b.outputs[0];
        assert_ok(LiteRtCreateManagedTensorBuffer(environment, kLiteRtTensorBufferTypeHostMemory, &type, 0, buffer));
        void *memory;
        assert_ok(LiteRtGetTensorBufferHostMemory(*buffer, &memory));
        for (int k = 0; k < 2 * rows; k++) ((float *)memory)[k] = (float)(i == 2 ? -1 : i + k + 2);
    }
    return b;
}

static float output_at(struct buffers *b, int index)
{
    void *memory;
    assert_ok(LiteRtGetTensorBufferHostMemory(b->outputs[0], &memory));
    return ((float *)memory)[index];
}

static void destroy_buffers(struct buffers *b)
{
    for (int i = 0; i < 2; i++) LiteRtDestroyTensorBuffer(b->inputs[i]);
    LiteRtDestroyTensorBuffer(b->outputs[0]);
}

static void signatures_run(void **state)
{
    struct fixture *f = *state;
    LiteRtCompiledModel compiled = NULL;
    LiteRtEnvironment environment = NULL;
    bool yes = false, async = true;
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, NULL, &compiled));
    assert_ok(LiteRtGetCompiledModelEnvironment(compiled, &environment));
    assert_ptr_equal(environment, f->environment);
    assert_ok(LiteRtCompiledModelIsFullyAccelerated(compiled, &yes));
    assert_true(yes);
    struct buffers add = create_buffers(f->environment, 1, false), mul = create_buffers(f->environment, 1, true);
    assert_ok(LiteRtRunCompiledModel(compiled, 0, 2, add.inputs, 1, add.outputs)); // 2, 3 and 3, 4
    assert_true(output_at(&add, 0) == 5 && output_at(&add, 1) == 7);
    assert_ok(LiteRtRunCompiledModelAsync(compiled, 1, 2, mul.inputs, 1, mul.outputs, &async));
    assert_false(async);
    assert_true(output_at(&mul, 0) == 6 && output_at(&mul, 1) == 12);
    assert_ok(LiteRtRunCompiledModelAsync(compiled, 1, 2, mul.inputs, 1, mul.outputs, NULL));

    assert_int_equal(LiteRtRunCompiledModel(compiled, 2, 2, add.inputs, 1, add.outputs), OUTSIDE);
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 1, add.inputs, 1, add.outputs),
                     kLiteRtStatusErrorMissingInputTensor);
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, add.inputs, 0, add.outputs), INVALID);
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, NULL, 1, add.outputs), INVALID);
    LiteRtTensorBuffer nothing[2] = {add.inputs[0], NULL};
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, nothing, 1, add.outputs), INVALID);
    void *memory;
    assert_ok(LiteRtLockTensorBuffer(add.inputs[0], &memory, kLiteRtTensorBufferLockModeWrite));
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, add.inputs, 1, add.outputs),
                     kLiteRtStatusErrorRuntimeFailure);
    assert_ok(LiteRtUnlockTensorBuffer(add.inputs[0]));
    LiteRtEvent event;
    assert_ok(LiteRtCreateManagedEvent(f->environment, LiteRtEventTypeCustom, &event));
    assert_ok(LiteRtSetTensorBufferEvent(add.outputs[0], event));
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, add.inputs, 1, add.outputs), INVALID);
    LiteRtRankedTensorType other = pair;
    other.element_type = kLiteRtElementTypeInt32;
    LiteRtTensorBuffer integers = NULL;
    assert_ok(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &other, 8, &integers));
    LiteRtTensorBuffer wrong[2] = {mul.inputs[0], integers};
    assert_int_equal(LiteRtRunCompiledModel(compiled, 1, 2, wrong, 1, mul.outputs), INVALID);
    LiteRtDestroyTensorBuffer(integers);
    destroy_buffers(&add);
    destroy_buffers(&mul);
    LiteRtDestroyCompiledModel(compiled);
    LiteRtDestroyCompiledModel(NULL);
    assert_int_equal(LiteRtCreateCompiledModel(NULL, f->model, NULL, &compiled), INVALID);
    assert_int_equal(LiteRtCreateCompiledModel(f->environment, NULL, NULL, &compiled), INVALID);
}

static void inputs_are_resized(void **state)
{
    struct fixture *f = *state;
    LiteRtCompiledModel compiled = NULL;
    LiteRtLayout layout;
    LiteRtTensorBufferRequirements requirements = NULL;
    size_t bytes = 0;
    const int rows[] = {3, 2}, wide[] = {3, 4}, none[] = {0, 2};
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, NULL, &compiled));
    assert_ok(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 0, &requirements));
    assert_ok(LiteRtGetTensorBufferRequirementsBufferSize(requirements, &bytes));
    assert_int_equal(bytes, 8);
    for (LiteRtParamIndex i = 0; i < 2; i++) assert_ok(LiteRtCompiledModelResizeInputTensor(compiled, 0, i, rows, 2));
    assert_ok(LiteRtGetCompiledModelInputTensorLayout(compiled, 0, 0, &layout));
    assert_int_equal(layout.dimensions[0], 3);
    assert_ok(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, 1, &layout, true));
    assert_int_equal(layout.dimensions[0], 3);
    assert_ok(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 0, &requirements));
    assert_ok(LiteRtGetTensorBufferRequirementsBufferSize(requirements, &bytes));
    assert_int_equal(bytes, 24);
    struct buffers three = create_buffers(f->environment, 3, false), one = create_buffers(f->environment, 1, false);
    assert_ok(LiteRtRunCompiledModel(compiled, 0, 2, three.inputs, 1, three.outputs));
    assert_true(output_at(&three, 5) == 15);
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, one.inputs, 1, one.outputs), INVALID); // too small now
    assert_int_equal(LiteRtCompiledModelResizeInputTensor(compiled, 0, 0, wide, 2), INVALID);      // 2 is not left open
    for (LiteRtParamIndex i = 0; i < 2; i++)
        assert_ok(LiteRtCompiledModelResizeInputTensorNonStrict(compiled, 0, i, wide, 2));
    assert_ok(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, 1, &layout, true));
    assert_int_equal(layout.dimensions[1], 4);
    assert_int_equal(LiteRtCompiledModelResizeInputTensorNonStrict(compiled, 0, 0, none, 2), INVALID);
    assert_int_equal(LiteRtCompiledModelResizeInputTensorNonStrict(compiled, 0, 0, wide, 9), INVALID);
    assert_int_equal(LiteRtCompiledModelResizeInputTensor(compiled, 0, 2, rows, 2), OUTSIDE);
    assert_int_equal(LiteRtCompiledModelResizeInputTensor(compiled, 0, 0, NULL, 2), INVALID);
    assert_int_equal(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 2, &requirements), OUTSIDE);
    assert_int_equal(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 1, &requirements), OUTSIDE);
    assert_int_equal(LiteRtGetCompiledModelInputTensorLayout(compiled, 5, 0, &layout), OUTSIDE);
    assert_int_equal(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, 2, &layout, true), INVALID);
    destroy_buffers(&three);
    destroy_buffers(&one);
    LiteRtDestroyCompiledModel(compiled);
}

static bool cancel_at_third(void *calls)
{
    return ++*(int *)calls == 3;
}

static void runs_are_cancelled(void **state)
{
    struct fixture *f = *state;
    LiteRtCompiledModel compiled = NULL;
    int calls = 0;
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, NULL, &compiled));
    struct buffers b = create_buffers(f->environment, 1, false);
    assert_ok(LiteRtSetCompiledModelCancellationFunction(compiled, &calls, cancel_at_third));
    assert_ok(LiteRtRunCompiledModel(compiled, 0, 2, b.inputs, 1, b.outputs)); // asked before it and before its node
    assert_int_equal(calls, 2);
    assert_int_equal(LiteRtRunCompiledModel(compiled, 0, 2, b.inputs, 1, b.outputs), kLiteRtStatusCancelled);
    assert_ok(LiteRtSetCompiledModelCancellationFunction(compiled, NULL, NULL));
    assert_ok(LiteRtRunCompiledModel(compiled, 0, 2, b.inputs, 1, b.outputs));
    assert_int_equal(calls, 3);
    destroy_buffers(&b);
    LiteRtDestroyCompiledModel(compiled);
    assert_int_equal(LiteRtSetCompiledModelCancellationFunction(NULL, NULL, NULL), INVALID);
}

static void options_reach_the_interpreter(void **state)
{
    struct fixture *f = *state;
    static const char *const good[][2] = {
        {"xnnpack", "num_threads = 2\nkernel_mode = \"reference\"\nflags = 7\n"},
        {"runtime_options_string", "error_reporter_mode = 0\nenable_profiling = true\n"},
    };
    static const char *const bad[][2] = {
        {"xnnpack", "num_threads = \"two\""},
        {"xnnpack", "num_threads = -2"},
        {"xnnpack", "kernel_mode = 1"},
        {"xnnpack", "num_threads 2"},
        {"runtime_options_string", "error_reporter_mode = 3"},
        {"runtime_options_string", "= 3"},
    };
    LiteRtCompiledModel compiled = NULL;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        LiteRtOptions options = options_with(kLiteRtHwAcceleratorCpu, good[i][0], good[i][1]);
        assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled));
        LiteRtDestroyOptions(options); // before the run: nothing of them is kept
        struct buffers b = create_buffers(f->environment, 1, false);
        assert_ok(LiteRtRunCompiledModel(compiled, 0, 2, b.inputs, 1, b.outputs));
        assert_true(output_at(&b, 0) == 5);
        destroy_buffers(&b);
        LiteRtDestroyCompiledModel(compiled);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        LiteRtOptions options = options_with(kLiteRtHwAcceleratorCpu, bad[i][0], bad[i][1]);
        assert_int_equal(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled), INVALID);
        LiteRtDestroyOptions(options);
    }
}

static void messages_are_kept(void **state)
{
    struct fixture *f = *state;
    LiteRtCompiledModel compiled = NULL;
    char *messages = NULL;
    const int wide[] = {3, 4};
    LiteRtOptions options = options_with(kLiteRtHwAcceleratorCpu, "runtime_options_string", "error_reporter_mode = 2");
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled));
    assert_ok(LiteRtCompiledModelGetErrorMessages(compiled, &messages));
    assert_string_equal(messages, "");
    free(messages);
    assert_int_equal(LiteRtCompiledModelResizeInputTensor(compiled, 0, 0, wide, 2), INVALID);
    assert_ok(LiteRtCompiledModelGetErrorMessages(compiled, &messages));
    assert_non_null(strchr(messages, '\n'));
    free(messages);
    assert_ok(LiteRtCompiledModelClearErrors(compiled));
    assert_ok(LiteRtCompiledModelGetErrorMessages(compiled, &messages));
    assert_string_equal(messages, "");
    free(messages);
    LiteRtDestroyCompiledModel(compiled);
    LiteRtDestroyOptions(options);
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, NULL, &compiled));
    assert_int_equal(LiteRtCompiledModelGetErrorMessages(compiled, &messages), kLiteRtStatusErrorUnsupported);
    LiteRtDestroyCompiledModel(compiled);
    assert_int_equal(LiteRtCompiledModelClearErrors(NULL), INVALID);
}

// The null device computes nothing, and takes part in everything else.
static void the_gpu_takes_nodes(void **state)
{
    struct fixture *f = *state;
    LiteRtCompiledModel compiled = NULL;
    LiteRtMetrics metrics = NULL;
    LiteRtMetric metric;
    bool full = false;
    int count = 0;
    LiteRtOptions options = options_with(kLiteRtHwAcceleratorGpu, "halite_options", "device = \"null\"\n");
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled));
    LiteRtDestroyOptions(options);
    assert_ok(LiteRtCompiledModelIsFullyAccelerated(compiled, &full));
    assert_true(full);
    assert_int_equal(LiteRtCompiledModelStartMetricsCollection(compiled, -1), INVALID);
    assert_ok(LiteRtCompiledModelStartMetricsCollection(compiled, 0));
    assert_ok(LiteRtCreateMetrics(&metrics));
    assert_ok(LiteRtCompiledModelStopMetricsCollection(compiled, metrics));
    assert_ok(LiteRtGetNumMetrics(metrics, &count));
    assert_int_equal(count, 2);
    assert_ok(LiteRtGetMetric(metrics, 1, &metric));
    assert_string_equal(metric.name, "nodes on null:0");
    assert_int_equal(metric.value.int_value, 2); // one in each subgraph
    LiteRtDestroyMetrics(metrics);
    LiteRtDestroyCompiledModel(compiled);
    // Without such a device the CPU runs the model where it may.
    static const char missing[] = "device = \"vulkan:31\"\n";
    options = options_with(kLiteRtHwAcceleratorGpu, "halite_options", missing);
    assert_int_equal(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled),
                     kLiteRtStatusErrorCompilation);
    assert_ok(LiteRtSetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorCpu));
    assert_ok(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled));
    assert_ok(LiteRtCompiledModelIsFullyAccelerated(compiled, &full));
    assert_false(full);
    LiteRtDestroyCompiledModel(compiled);
    LiteRtDestroyOptions(options);
    options = options_with(kLiteRtHwAcceleratorGpu, "gpu_options", "precision = 9");
    assert_int_equal(LiteRtCreateCompiledModel(f->environment, f->model, options, &compiled), INVALID);
    LiteRtDestroyOptions(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(signatures_run),     TEST(inputs_are_resized),
        TEST(runs_are_cancelled), TEST(options_reach_the_interpreter),
        TEST(messages_are_kept),  TEST(the_gpu_takes_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
