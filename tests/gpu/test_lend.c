// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory the GPU delegate lends: which are given it and which are not, what a run copies, that all comes
// back when the delegate is taken off or an application sets memory of its own, and in any order of deletion. On the
// null device, which lends to every tensor and computes nothing, and on those that compute, CUDA before its fake.
#include "gpu/backend/null.h"
#include "gpu/delegate_session.h"
#include "halite/gpu_async.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"
#include "tensorflow/lite/core/async/interop/c/constants.h"

// The graphs of delegate_session.h with tensors that are worth it on every backend.
enum { ROWS = 128, COUNT = ROWS * 128 * 16 };
static const size_t large_bytes = COUNT * sizeof(float);
#define LARGE(label)                                                                 \
    {                                                                                \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, ROWS, 128, 16 } \
    }
static const struct test_tensor large_tensors[TENSORS] = {
    [A] = LARGE("a"), [R] = LARGE("r"), [T] = LARGE("t"), [S] = LARGE("s"), [P] = LARGE("p")};
static const struct test_model large = {TEST_TENSORS(large_tensors), TEST_NODES(whole_nodes), TEST_INPUTS(A),
                                        TEST_OUTPUTS(P)};
static const struct test_model large_parts = {TEST_TENSORS(large_tensors), TEST_NODES(nodes), TEST_INPUTS(A),
                                              TEST_OUTPUTS(P)};

// ---- a session ----------------------------------------------------------------------------------

static TfLiteTensor *input_of(const struct session *session)
{
    return TfLiteInterpreterGetInputTensor(session->interpreter, 0);
}

static TfLiteTensor *output_of(const struct session *session)
{
    return (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(session->interpreter, 0);
}

static TfLiteTensor *tensor_of(const struct session *session, int index)
{
    return TfLiteInterpreterGetTensor(session->interpreter, index);
}

static bool is_lent(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteCustom;
}

static void write_values(float *to, int count, int shift)
{
    for (int i = 0; i < count; i++) to[i] = input_value(i + shift);
}

static void check_values(const float *values, int count, int shift)
{
    for (int i = 0; i < count; i++) assert_float_equal(values[i], expected_value(i + shift), 1e-5f);
}

// Runs on values that begin at `shift`. The tensors may have other sizes than at first.
static void run_shifted(struct session *session, int shift, bool computes)
{
    int count = (int)(input_of(session)->bytes / sizeof(float));
    write_values(input_of(session)->data.f, count, shift);
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
    if (computes) check_values(output_of(session)->data.f, count, shift);
}

static void start(struct session *session, const struct test_model *model, TfLiteDelegate *delegate)
{
    begin(session, model);
    assert_int_equal(apply(session, delegate), kTfLiteOk);
}

static void stop(struct session *session, TfLiteDelegate *delegate)
{
    end(session);
    tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(gpu_null_live(), 0);
}

static void resize(struct session *session, int batch)
{
    const int shape[] = {batch, ROWS, 128, 16};
    assert_int_equal(TfLiteInterpreterResizeInputTensor(session->interpreter, 0, shape, 4), kTfLiteOk);
}

static TfLiteDelegate *make_on(const char *device)
{
    const char *texts[] = {"device", device, "max_delegated_partitions", "2", "take_small_partitions", "true", NULL};
    return make(texts);
}

// OpenGL ES has no such memory, and the null device nothing to compute.
static void with_devices(void (*test)(const char *device, bool lends, bool computes))
{
    for (int b = 0; b < ALL_DEVICES; b++)
        if (has_device(all_devices[b])) test(all_devices[b], strcmp(all_devices[b], "gles") != 0, b > 0);
}

// ---- what is lent -------------------------------------------------------------------------------

static void lends_and_takes_back(const char *device, bool lends, bool computes)
{
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large, delegate);
    int alive = gpu_null_live();
    for (int batch = 1; batch <= 2; batch++) {
        uint64_t copied = HaliteDelegateGetCopiedBytes(delegate), carried = HaliteDelegateGetCarriedBytes(delegate);
        size_t both = 2 * large_bytes * (size_t)batch;
        assert_int_equal(is_lent(input_of(&session)), lends);
        assert_int_equal(is_lent(output_of(&session)), lends);
        run_shifted(&session, batch, computes);
        // Where kernels use the memory itself there is nothing to copy.
        copied = HaliteDelegateGetCopiedBytes(delegate) - copied;
        assert_true(copied == both || (lends && (copied == both / 2 || copied == 0)));
        assert_int_equal(HaliteDelegateGetCarriedBytes(delegate) - carried, lends ? 0 : both);
        const void *before = input_of(&session)->data.raw;
        assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
        assert_ptr_equal(input_of(&session)->data.raw, before);
        run_shifted(&session, 3, computes);
        if (batch > 1) break;
        resize(&session, 2);
        assert_int_equal(input_of(&session)->allocation_type, kTfLiteArenaRw);
        assert_int_equal(output_of(&session)->allocation_type, kTfLiteArenaRw);
        assert_null(input_of(&session)->data.raw);
        assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
        assert_int_equal(gpu_null_live(), alive);
    }
    stop(&session, delegate);
}

static void test_lends_and_takes_back(void **state)
{
    (void)state;
    with_devices(lends_and_takes_back);
}

static void keeps_memory(const char *device, bool lends, bool computes)
{
    (void)lends;
    const char *texts[] = {"device", device, "keep_tensor_memory", "true", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    start(&session, &large, delegate);
    assert_false(is_lent(input_of(&session)));
    assert_false(is_lent(output_of(&session)));
    run_shifted(&session, 1, computes);
    assert_int_equal(HaliteDelegateGetCarriedBytes(delegate), 2 * large_bytes);
    stop(&session, delegate);
}

static void test_keeps_memory(void **state)
{
    (void)state;
    with_devices(keeps_memory);
}

// What takes no time to copy is not worth memory of its own.
static void leaves_small(const char *device, bool lends, bool computes)
{
    (void)lends;
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &whole, delegate);
    assert_int_equal(is_lent(input_of(&session)), !computes);
    assert_int_equal(is_lent(output_of(&session)), !computes);
    run_shifted(&session, 1, computes);
    stop(&session, delegate);
}

static void test_leaves_small(void **state)
{
    (void)state;
    with_devices(leaves_small);
}

// `a` is an input of both partitions, `r` an output that the CPU reads, `t` an input that it writes.
static void lends_between_parts(const char *device, bool lends, bool computes)
{
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large_parts, delegate);
    static const int shared[] = {A, R, T, P};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        assert_int_equal(is_lent(tensor_of(&session, shared[i])), lends);
    for (int shift = 0; shift < 3; shift++) run_shifted(&session, shift, computes);
    resize(&session, 2);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(is_lent(tensor_of(&session, A)), lends);
    run_shifted(&session, 5, computes);
    stop(&session, delegate);
}

static void test_lends_between_parts(void **state)
{
    (void)state;
    with_devices(lends_between_parts);
}

// Both in the graph, the second delegate's nodes read what the first one's write; each lends to tensors of its own.
static void two_delegates(const char *device, bool lends, bool computes)
{
    const char *texts[] = {"device", device, "max_delegated_partitions", "1", NULL};
    TfLiteDelegate *first = make(texts), *second = make(texts);
    struct session session;
    start(&session, &large_parts, first);
    assert_int_equal(apply(&session, second), kTfLiteOk);
    (void)lends;
    for (int shift = 0; shift < 2; shift++) run_shifted(&session, shift, computes);
    resize(&session, 2);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    run_shifted(&session, 2, computes);
    tflite_plugin_destroy_delegate(first);
    tflite_plugin_destroy_delegate(second);
    end(&session);
    assert_int_equal(gpu_null_live(), 0);
}

static void test_two_delegates(void **state)
{
    (void)state;
    with_devices(two_delegates);
}

// ---- memory of the application ------------------------------------------------------------------

static TfLiteStatus set_allocation(const struct session *session, int tensor, void *memory)
{
    const TfLiteCustomAllocation allocation = {memory, large_bytes};
    return TfLiteInterpreterSetCustomAllocationForTensor(session->interpreter, tensor, &allocation, 0);
}

// The original refuses a graph in which some tensors have memory of the application and others of somebody else.
static void allocation_before(const char *device, bool lends, bool computes)
{
    (void)lends;
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    float *mine = aligned_alloc(64, large_bytes);
    assert_non_null(mine);
    begin(&session, &large);
    assert_int_equal(set_allocation(&session, A, mine), kTfLiteOk);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_ptr_equal(input_of(&session)->data.raw, mine);
    assert_int_equal(output_of(&session)->allocation_type, kTfLiteArenaRw);
    run_shifted(&session, 1, computes);
    assert_int_equal(HaliteDelegateGetCarriedBytes(delegate), 2 * large_bytes);
    stop(&session, delegate);
    free(mine);
}

static void test_allocation_before(void **state)
{
    (void)state;
    with_devices(allocation_before);
}

// It takes the place of lent memory, and stays when that comes back.
static void allocation_after(const char *device, bool lends, bool computes)
{
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    float *mine = aligned_alloc(64, large_bytes);
    assert_non_null(mine);
    start(&session, &large, delegate);
    assert_int_equal(set_allocation(&session, P, mine), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    run_shifted(&session, 1, computes);
    if (computes) check_values(mine, COUNT, 1);
    assert_int_equal(is_lent(input_of(&session)), lends);
    assert_int_equal(HaliteDelegateGetCarriedBytes(delegate), lends ? large_bytes : 2 * large_bytes);
    // Away and back: applied anew, the delegate finds an allocation of the application, and lends nothing.
    resize(&session, 2);
    resize(&session, 1);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_ptr_equal(output_of(&session)->data.raw, mine);
    assert_int_equal(input_of(&session)->allocation_type, kTfLiteArenaRw);
    run_shifted(&session, 2, computes);
    if (computes) check_values(mine, COUNT, 2);
    stop(&session, delegate);
    free(mine);
}

static void test_allocation_after(void **state)
{
    (void)state;
    with_devices(allocation_after);
}

// Memory of the application that is bound to a tensor leaves nothing to copy for it.
static void bound_memory(const char *device, bool lends, bool computes)
{
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    float *mine = aligned_alloc(4096, large_bytes);
    assert_non_null(mine);
    HaliteGpuBuffer buffer = {.struct_size = sizeof buffer,
                              .kind = kHaliteGpuKindHostMemory,
                              .handle = (uint64_t)(uintptr_t)mine,
                              .size = large_bytes};
    write_values(mine, COUNT, 4);
    assert_int_equal(HaliteDelegateBindBuffer(delegate, A, &buffer), kTfLiteOk);
    start(&session, &large, delegate);
    assert_int_equal(input_of(&session)->allocation_type, kTfLiteArenaRw);
    assert_int_equal(is_lent(output_of(&session)), lends);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    if (computes) check_values(output_of(&session)->data.f, COUNT, 4);
    // Bound later, and taken back: the output's lent memory is used as before.
    assert_int_equal(HaliteDelegateBindBuffer(delegate, A, NULL), kTfLiteOk);
    buffer.handle = (uint64_t)(uintptr_t)mine;
    assert_int_equal(HaliteDelegateBindBuffer(delegate, P, &buffer), kTfLiteOk);
    run_shifted(&session, 5, computes);
    if (computes) check_values(mine, COUNT, 5);
    assert_int_equal(HaliteDelegateBindBuffer(delegate, P, NULL), kTfLiteOk);
    run_shifted(&session, 6, computes);
    stop(&session, delegate);
    free(mine);
}

static void test_bound_memory(void **state)
{
    (void)state;
    with_devices(bound_memory);
}

// ---- when it is used ----------------------------------------------------------------------------

// The input may be changed as soon as Invoke has returned, also where the output stays on the device.
static void input_is_free_after_invoke(const char *device, bool lends, bool computes)
{
    (void)lends;
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large, delegate);
    TfLiteSetAllowBufferHandleOutput(session.interpreter, true);
    for (int i = 0; i < 8; i++) {
        write_values(input_of(&session)->data.f, COUNT, i);
        assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
        write_values(input_of(&session)->data.f, COUNT, i + 3);
        assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(session.interpreter, P), kTfLiteOk);
        if (computes) check_values(output_of(&session)->data.f, COUNT, i);
    }
    stop(&session, delegate);
}

static void test_input_is_free_after_invoke(void **state)
{
    (void)state;
    with_devices(input_is_free_after_invoke);
}

// Copies through the delegate's functions, which no run follows.
static void handles_copy(const char *device, bool lends, bool computes)
{
    (void)lends, (void)computes;
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large, delegate);
    TfLiteTensor *output = output_of(&session);
    TfLiteTensor other = *output;
    other.data.raw = malloc(large_bytes);
    assert_non_null(other.data.raw);
    for (int shift = 0; shift < 3; shift++) {
        write_values(output->data.f, COUNT, shift);
        assert_int_equal(delegate->CopyToBufferHandle(NULL, delegate, output->buffer_handle, output), kTfLiteOk);
        if (shift > 1) write_values(output->data.f, COUNT, shift + 1);
        assert_int_equal(delegate->CopyFromBufferHandle(NULL, delegate, output->buffer_handle, &other), kTfLiteOk);
        if (shift < 2)
            for (int i = 0; i < COUNT; i++) assert_float_equal(other.data.f[i], input_value(i + shift), 0);
    }
    free(other.data.raw);
    stop(&session, delegate);
}

static void test_handles_copy(void **state)
{
    (void)state;
    with_devices(handles_copy);
}

// ---- asynchronous runs --------------------------------------------------------------------------

static TfLiteBufferHandle register_memory(struct TfLiteAsyncSignatureRunner *runner, TfLiteIoType side, void *memory)
{
    TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
    TfLiteBackendBuffer *buffer = TfLiteBackendBufferCreate();
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMapSetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, HALITE_BUFFER_HOST);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, large_bytes);
    TfLiteBackendBufferSetPtr(buffer, memory);
    assert_int_equal(TfLiteAsyncSignatureRunnerRegisterBuffer(runner, side, buffer, attrs, &handle), kTfLiteOk);
    TfLiteAttributeMapDelete(attrs);
    TfLiteBackendBufferDelete(buffer);
    return handle;
}

static void run_asynchronously(struct TfLiteAsyncSignatureRunner *runner, float *input, float *output)
{
    TfLiteExecutionTask *task = TfLiteAsyncSignatureRunnerCreateTask(runner);
    assert_non_null(task);
    TfLiteBufferHandle from = register_memory(runner, kTfLiteIoTypeInput, input),
                       to = register_memory(runner, kTfLiteIoTypeOutput, output);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(task, A, from), kTfLiteOk);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(task, P, to), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(runner, task), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerWait(runner, task), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerFinish(runner, task), kTfLiteOk);
}

// Runs on memory of the application leave the interpreter's tensors as Invoke has left them.
static void tasks_leave_tensors(const char *device, bool lends, bool computes)
{
    (void)lends;
    if (!computes) return;
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large, delegate);
    float *input = malloc(large_bytes), *output = malloc(large_bytes);
    assert_true(input && output);
    run_shifted(&session, 1, true);
    struct TfLiteAsyncSignatureRunner *runner = TfLiteInterpreterGetAsyncSignatureRunner(session.interpreter, NULL);
    assert_non_null(runner);
    assert_int_equal(TfLiteAsyncSignatureRunnerPrepareBackends(runner), kTfLiteOk);
    for (int shift = 2; shift < 5; shift++) {
        write_values(input, COUNT, shift);
        run_asynchronously(runner, input, output);
        check_values(output, COUNT, shift);
        for (int i = 0; i < COUNT; i++) assert_float_equal(input_of(&session)->data.f[i], input_value(i + 1), 0);
        check_values(output_of(&session)->data.f, COUNT, 1);
        assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
        check_values(output_of(&session)->data.f, COUNT, 1);
    }
    TfLiteAsyncSignatureRunnerDelete(runner);
    free(input);
    free(output);
    stop(&session, delegate);
}

static void test_tasks_leave_tensors(void **state)
{
    (void)state;
    with_devices(tasks_leave_tensors);
}

// ---- ends ---------------------------------------------------------------------------------------

// The delegate before the interpreters, one of two interpreters before the other.
static void ends_in_any_order(const char *device, bool lends, bool computes)
{
    (void)lends;
    TfLiteDelegate *delegate = make_on(device);
    struct session first, second;
    start(&first, &large, delegate);
    start(&second, &large, delegate);
    assert_ptr_not_equal(input_of(&first)->data.raw, input_of(&second)->data.raw);
    run_shifted(&first, 1, computes);
    run_shifted(&second, 2, computes);
    end(&first);
    run_shifted(&second, 3, computes);
    tflite_plugin_destroy_delegate(delegate);
    end(&second);
    assert_int_equal(gpu_null_live(), 0);
}

static void test_ends_in_any_order(void **state)
{
    (void)state;
    with_devices(ends_in_any_order);
}

// The runtime's memory is released and comes again, and other threads take the delegate off and put it on again.
static void memory_is_released(const char *device, bool lends, bool computes)
{
    TfLiteDelegate *delegate = make_on(device);
    struct session session;
    start(&session, &large_parts, delegate);
    run_shifted(&session, 1, computes);
    assert_int_equal(HaliteInterpreterReleaseMemory(session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(is_lent(output_of(&session)), lends);
    run_shifted(&session, 2, computes);
    assert_int_equal(HaliteInterpreterSetNumThreads(session.interpreter, 2), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(is_lent(output_of(&session)), lends);
    run_shifted(&session, 3, computes);
    stop(&session, delegate);
}

static void test_memory_is_released(void **state)
{
    (void)state;
    with_devices(memory_is_released);
}

// An application that made a delegate run in vain falls back to the CPU with memory of the runtime's.
static void test_falls_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &large);
    TfLiteInterpreterDelete(session.interpreter);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, &session.messages);
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
    session.interpreter = TfLiteInterpreterCreate(session.model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(session.interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_true(is_lent(input_of(&session)));
    gpu_null_lose(gpu_delegate_of(delegate)->engine->device);
    write_values(input_of(&session)->data.f, COUNT, 1);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteDelegateError);
    assert_int_equal(output_of(&session)->allocation_type, kTfLiteArenaRw);
    check_values(output_of(&session)->data.f, COUNT, 1);
    run_shifted(&session, 2, true);
    stop(&session, delegate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lends_and_takes_back),
        cmocka_unit_test(test_keeps_memory),
        cmocka_unit_test(test_leaves_small),
        cmocka_unit_test(test_lends_between_parts),
        cmocka_unit_test(test_two_delegates),
        cmocka_unit_test(test_allocation_before),
        cmocka_unit_test(test_allocation_after),
        cmocka_unit_test(test_bound_memory),
        cmocka_unit_test(test_input_is_free_after_invoke),
        cmocka_unit_test(test_handles_copy),
        cmocka_unit_test(test_tasks_leave_tensors),
        cmocka_unit_test(test_ends_in_any_order),
        cmocka_unit_test(test_memory_is_released),
        cmocka_unit_test(test_falls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
