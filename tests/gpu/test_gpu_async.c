// SPDX-License-Identifier: Apache-2.0
// The asynchronous functions on the GPU delegate: buffers and fences of an application, whose kernels write the input
// and read the output, and nobody waits but the device; descriptors and memory of the host; what is refused; a device
// that is lost. Each test runs with every API that is here, the last ones without any. It runs a second time before a
// fake driver of Vulkan that takes sync files (tests/fakes/android).
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/event.h"
#include "gpu/application/shared_session.h"
#include "gpu/backend/null.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"
#include "tensorflow/lite/core/async/interop/c/constants.h"

// ---- a session of asynchronous runs ---------------------------------------------------------------------------------

static struct TfLiteAsyncSignatureRunner *runner;

static void start_runner(void)
{
    runner = TfLiteInterpreterGetAsyncSignatureRunner(one.session.interpreter, NULL);
    if (!runner) print_error("%s\n", one.session.messages.text);
    assert_non_null(runner);
}

static void start_async(const struct application *app)
{
    start(app, &whole);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    start_runner();
}

static void stop_async(void)
{
    TfLiteAsyncSignatureRunnerDelete(runner);
    stop();
}

// Runs a test with every application that has fences.
static void with_fences(void (*test)(const struct application *app))
{
    for (int i = 0; applications[i]; i++) {
        HaliteGpuContext context;
        if (!applications[i]->fence_type || !applications[i]->begin(&context)) continue;
        applications[i]->end();
        print_message("             %s\n", applications[i]->name);
        test(applications[i]);
    }
}

static bool is_listed(const char *const *types, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i], type) == 0) return true;
    return false;
}

// Whether the device itself waits for sync files, and makes them.
static bool takes_sync_files(void)
{
    const char *const *types;
    size_t count;
    assert_int_equal(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(runner, kTfLiteIoTypeOutput, &types,
                                                                                &count),
                     kTfLiteOk);
    return is_listed(types, count, HALITE_FENCE_FD);
}

static void expect_message(const char *words)
{
    if (!strstr(one.session.messages.text, words)) print_error("%s\nis not in\n%s", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
    one.session.messages.length = 0;
    one.session.messages.text[0] = '\0';
}

static TfLiteAttributeMap *range(const char *type, size_t offset, size_t size)
{
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    if (type) TfLiteAttributeMapSetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, type);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, offset);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, size);
    return attrs;
}

static TfLiteStatus add(TfLiteIoType side, const char *type, void *pointer, size_t offset, size_t size,
                        TfLiteBufferHandle *handle)
{
    TfLiteBackendBuffer *buffer = TfLiteBackendBufferCreate();
    TfLiteAttributeMap *attrs = range(type, offset, size);
    TfLiteBackendBufferSetPtr(buffer, pointer);
    TfLiteStatus status = TfLiteAsyncSignatureRunnerRegisterBuffer(runner, side, buffer, attrs, handle);
    TfLiteAttributeMapDelete(attrs);
    TfLiteBackendBufferDelete(buffer);
    return status;
}

static TfLiteBufferHandle add_well(TfLiteIoType side, const char *type, void *pointer, size_t offset, size_t size)
{
    TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
    assert_int_equal(add(side, type, pointer, offset, size, &handle), kTfLiteOk);
    return handle;
}

// Registers a part of one of the application's buffers.
static TfLiteBufferHandle share(TfLiteIoType side, const uint64_t *buffer, size_t offset)
{
    return add_well(side, one.app->buffer_type, one.app->pointer(buffer), offset, ROOM - offset);
}

static TfLiteBufferHandle lend(TfLiteIoType side, float *values)
{
    return add_well(side, HALITE_BUFFER_HOST, values, 0, BYTES);
}

static TfLiteStatus set_fence_type(int tensor, const char *type)
{
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    TfLiteAttributeMapSetStringSyncAttr(attrs, kTfLiteSynchronizationAttrKeyObjectTypeName, type);
    TfLiteStatus status = TfLiteAsyncSignatureRunnerSetAttributesByIndex(runner, tensor, attrs);
    TfLiteAttributeMapDelete(attrs);
    return status;
}

static void prepare(const char *input_fence, const char *output_fence)
{
    assert_int_equal(set_fence_type(A, input_fence), kTfLiteOk);
    assert_int_equal(set_fence_type(P, output_fence), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerPrepareBackends(runner), kTfLiteOk);
}

// A run, with the objects that its fences are shown through.
struct flight {
    TfLiteExecutionTask *task;
    TfLiteSynchronization *syncs[2]; // of the input, of the output
    HaliteGpuFence fences[2];
};

static void use(struct flight *flight, TfLiteBufferHandle input, TfLiteBufferHandle output)
{
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight->task, A, input), kTfLiteOk);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight->task, P, output), kTfLiteOk);
}

static void begin_flight(struct flight *flight, TfLiteBufferHandle input, TfLiteBufferHandle output)
{
    memset(flight, 0, sizeof *flight);
    flight->task = TfLiteAsyncSignatureRunnerCreateTask(runner);
    assert_non_null(flight->task);
    use(flight, input, output);
    for (int i = 0; i < 2; i++) flight->syncs[i] = TfLiteSynchronizationCreate();
}

static void set_fence(struct flight *flight, int tensor, HaliteGpuFence fence)
{
    int i = tensor == P;
    flight->fences[i] = fence;
    TfLiteSynchronizationSetPtr(flight->syncs[i], &flight->fences[i]);
    assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight->task, tensor, flight->syncs[i]), kTfLiteOk);
}

static HaliteGpuFence descriptor(int fd)
{
    return (HaliteGpuFence){.struct_size = sizeof(HaliteGpuFence), .handle = (uint64_t)fd};
}

static TfLiteStatus fly(struct flight *flight)
{
    return TfLiteAsyncSignatureRunnerInvokeAsync(runner, flight->task);
}

static TfLiteStatus land(struct flight *flight)
{
    return TfLiteAsyncSignatureRunnerWait(runner, flight->task);
}

static void fly_well(struct flight *flight)
{
    TfLiteStatus status = fly(flight);
    if (status != kTfLiteOk) print_error("%s\n", one.session.messages.text);
    assert_int_equal(status, kTfLiteOk);
}

static TfLiteStatus end_flight(struct flight *flight)
{
    TfLiteStatus status = TfLiteAsyncSignatureRunnerFinish(runner, flight->task);
    for (int i = 0; i < 2; i++) TfLiteSynchronizationDelete(flight->syncs[i]);
    return status;
}

static void check_sums(void)
{
    float sums[ELEMENTS];
    one.app->read_sums(ELEMENTS, sums);
    check_against_cpu(sums);
}

static void clear_output(void)
{
    char zeros[ROOM] = {0};
    one.app->write(one.y, 0, zeros, sizeof zeros);
}

// ---- nobody waits ---------------------------------------------------------------------------------------------------

static void *fly_in_thread(void *flight)
{
    return fly(flight) == kTfLiteOk ? flight : NULL;
}

// In a thread without the application's context, where only the fence can say that the input is ready.
static void fly_elsewhere(struct flight *flight)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, fly_in_thread, flight), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    if (!result) print_error("%s\n", one.session.messages.text);
    assert_non_null(result);
}

// Two tasks under way before the input is even begun. The application's second kernel waits for the output on the
// device; the CPU opens the gate, and looks at the end.
static void check_device_fences(const struct application *app)
{
    struct flight flights[2];
    start_async(app);
    prepare(app->fence_type, app->fence_type);
    TfLiteBufferHandle x = share(kTfLiteIoTypeInput, &one.x, FRONT);
    for (int i = 0; i < 2; i++) begin_flight(&flights[i], x, share(kTfLiteIoTypeOutput, &one.y, i == 0 ? 0 : FRONT));
    for (int round = 0; round < 3; round++) {
        HaliteGpuFence filled, seen;
        clear_output();
        app->fill_later(one.x, FRONT, ELEMENTS, &filled);
        for (int i = 0; i < 2; i++) {
            set_fence(&flights[i], A, filled);
            app->make_fence(&seen);
            set_fence(&flights[i], P, seen);
            fly_elsewhere(&flights[i]);
        }
        app->inspect_after(&flights[1].fences[1], one.y, FRONT, ELEMENTS);
        assert_int_equal(fly(&flights[0]), kTfLiteError); // it is under way
        app->open_gate();
        check_sums();
        app->inspect_after(&flights[0].fences[1], one.y, 0, ELEMENTS);
        check_sums();
        for (int i = 0; i < 2; i++) {
            assert_int_equal(land(&flights[i]), kTfLiteOk);
            assert_int_equal(land(&flights[i]), kTfLiteOk); // again, for nothing
            app->release_fence(&flights[i].fences[1]);
        }
        app->release_fence(&filled);
    }
    assert_int_equal(copied(), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(end_flight(&flights[i]), kTfLiteOk);
    stop_async();
}
static void test_device_fences(void **state)
{
    (void)state;
    with_fences(check_device_fences);
}

// The example of docs/gpu_async.md, which the build takes from there.
#include "doc_gpu_async.h"

static void check_example(const struct application *app)
{
    struct stage stage;
    start(app, &whole);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    void *const pointers[2] = {app->pointer(&one.x), app->pointer(&one.y)};
    assert_true(open_stage(&stage, one.session.interpreter, app->buffer_type, app->fence_type, pointers, BYTES));
    for (int i = 0; i < 2; i++) {
        HaliteGpuFence filled, labeled;
        clear_output();
        app->fill_later(one.x, 0, ELEMENTS, &filled);
        app->make_fence(&labeled);
        assert_int_equal(start_stage(&stage, &filled, &labeled), kTfLiteOk);
        app->inspect_after(&labeled, one.y, 0, ELEMENTS);
        app->open_gate();
        check_sums();
        app->release_fence(&filled);
        app->release_fence(&labeled);
    }
    assert_int_equal(copied(), 0);
    close_stage(&stage);
    assert_false(open_stage(&stage, one.session.interpreter, app->buffer_type, "egl_fence", pointers, BYTES));
    stop();
}
static void test_example(void **state)
{
    (void)state;
    with_fences(check_example);
}

static TfLiteStatus add_slice(TfLiteBufferHandle pool, size_t offset, size_t size, TfLiteBufferHandle *part)
{
    TfLiteAttributeMap *attrs = range(NULL, offset, size);
    TfLiteStatus status = TfLiteAsyncSignatureRunnerRegisterBufferSlice(runner, pool, attrs, part);
    TfLiteAttributeMapDelete(attrs);
    return status;
}

// Other buffers for the same task, and the same handles for another; slices of one buffer.
static void check_buffers_change(const struct application *app)
{
    struct flight flight;
    TfLiteBufferHandle parts[4];
    start_async(app);
    prepare(kTfLiteSyncTypeNoSyncObj, kTfLiteSyncTypeNoSyncObj);
    TfLiteBufferHandle pool = share(kTfLiteIoTypeOutput, &one.y, 0); // may be an input as well
    for (int i = 0; i < 3; i++) assert_int_equal(add_slice(pool, (size_t)i * FRONT, BYTES + 4, &parts[i]), kTfLiteOk);
    // Up to the end, of which the device knows where it is, but with Vulkan.
    bool knows = one.context.api != kHaliteGpuApiVulkan;
    if (knows) pool = add_well(kTfLiteIoTypeOutput, app->buffer_type, app->pointer(&one.y), 0, 0);
    assert_int_equal(add_slice(pool, 3 * FRONT, 0, &parts[3]), kTfLiteOk);
    if (knows) pool = share(kTfLiteIoTypeOutput, &one.y, 0);
    begin_flight(&flight, parts[0], parts[1]);
    for (int i = 0; i < 3; i++) {
        float sums[ELEMENTS], nothing;
        clear_output();
        app->fill(one.y, (size_t)i * FRONT, ELEMENTS);
        app->read(one.y, 0, &nothing, sizeof nothing); // waits for it
        use(&flight, parts[i], parts[i + 1]);
        fly_well(&flight);
        assert_int_equal(land(&flight), kTfLiteOk);
        app->inspect(one.y, (size_t)(i + 1) * FRONT, ELEMENTS, sums);
        check_against_cpu(sums);
    }
    assert_int_equal(copied(), 0);
    assert_int_equal(add_slice(pool, 4096, 1024, &parts[0]), kTfLiteError); // ends behind it
    assert_int_equal(add_slice(pool, ROOM, 0, &parts[0]), kTfLiteError);
    expect_message("it ends behind the buffer, which has 4608 bytes");
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    stop_async();
}
static void test_buffers_change(void **state)
{
    (void)state;
    with_fences(check_buffers_change);
}

// ---- descriptors ----------------------------------------------------------------------------------------------------

static bool is_set(int event)
{
    struct pollfd wanted = {.fd = event, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

static void await_event(int event)
{
    assert_true(hl_descriptor_wait(event));
    hl_event_clear(event);
}

// The run is submitted by a thread of the delegate once the eventfd is set; and the way back.
static void check_events(const struct application *app)
{
    int filled = hl_event_create(), seen = hl_event_create();
    struct flight flight;
    float nothing, sums[ELEMENTS];
    start_async(app);
    prepare(HALITE_FENCE_EVENT, HALITE_FENCE_EVENT);
    begin_flight(&flight, share(kTfLiteIoTypeInput, &one.x, 0), share(kTfLiteIoTypeOutput, &one.y, 0));
    set_fence(&flight, A, descriptor(filled));
    set_fence(&flight, P, descriptor(seen));
    for (int i = 0; i < 3; i++) {
        clear_output();
        fly_well(&flight);
        assert_false(is_set(seen));
        app->fill(one.x, 0, ELEMENTS);
        app->read(one.x, 0, &nothing, sizeof nothing); // waits for it
        hl_event_set(filled);
        await_event(seen);
        app->inspect(one.y, 0, ELEMENTS, sums);
        check_against_cpu(sums);
        assert_int_equal(land(&flight), kTfLiteOk);
        assert_false(is_set(filled)); // it was read
    }
    assert_int_equal(copied(), 0);
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    hl_event_destroy(filled);
    hl_event_destroy(seen);
    stop_async();
}
static void test_events(void **state)
{
    (void)state;
    if (!hl_event_exists()) skip();
    with_fences(check_events);
}

// The device waits for the input, a thread for the output; and the task is finished without a wait.
static void check_mixed(const struct application *app)
{
    int seen = hl_event_create();
    struct flight flight;
    HaliteGpuFence filled;
    start_async(app);
    prepare(app->fence_type, HALITE_FENCE_EVENT);
    begin_flight(&flight, share(kTfLiteIoTypeInput, &one.x, 0), share(kTfLiteIoTypeOutput, &one.y, 0));
    app->fill_later(one.x, 0, ELEMENTS, &filled);
    set_fence(&flight, A, filled);
    set_fence(&flight, P, descriptor(seen));
    fly_well(&flight);
    app->open_gate();
    await_event(seen);
    float sums[ELEMENTS];
    app->inspect(one.y, 0, ELEMENTS, sums);
    check_against_cpu(sums);
    assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight.task, P, NULL), kTfLiteError); // nobody has waited
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    app->release_fence(&filled);
    hl_event_destroy(seen);
    stop_async();
}
static void test_mixed(void **state)
{
    (void)state;
    if (!hl_event_exists()) skip();
    with_fences(check_mixed);
}

// ---- sync files -----------------------------------------------------------------------------------------------------

static HaliteGpuFence no_descriptor(void)
{
    return (HaliteGpuFence){.struct_size = sizeof(HaliteGpuFence)};
}

static int made_descriptor(const struct flight *flight)
{
    uint64_t made = flight->fences[1].handle;
    return made == HALITE_FENCE_FD_DONE ? -1 : (int)made;
}

// What the first run waits for: an event where the driver is the fake, which takes any descriptor. Others know their
// own sync files only.
static int make_gate(const struct application *app)
{
    bool faked = getenv("HALITE_VULKAN_LIBRARY") && strcmp(app->name, "vulkan") == 0;
    return faked ? hl_event_create() : -1;
}

static void check_twice(const float *sums)
{
    for (int i = 0; i < ELEMENTS; i++) {
        float doubled = 2 * expected_value(i); // which is not below 0
        assert_float_equal(sums[i], doubled * doubled + 1, 1e-4f * (1 + doubled * doubled));
    }
}

// The graph twice, one run behind the other: the first one's sync file holds the second one back, and that one's the
// application, which only then looks. Both are submitted before the first may begin.
static void fly_twice(const struct application *app, struct flight *first, struct flight *second)
{
    float sums[ELEMENTS];
    int gate = make_gate(app);
    set_fence(first, A, descriptor(gate));
    set_fence(first, P, no_descriptor());
    fly_well(first);
    int between = made_descriptor(first);
    set_fence(second, A, descriptor(between));
    set_fence(second, P, no_descriptor());
    fly_well(second);
    int last = made_descriptor(second);
    if (gate >= 0) assert_false(is_set(between) || is_set(last));
    hl_event_set(gate);
    if (last >= 0) assert_true(hl_descriptor_wait(last));
    app->inspect(one.y, FRONT, ELEMENTS, sums);
    check_twice(sums);
    assert_int_equal(land(first), kTfLiteOk);
    assert_int_equal(land(second), kTfLiteOk);
    hl_event_destroy(gate);
    hl_event_destroy(between);
    hl_event_destroy(last);
}

// From a sync file to a fence of the device, which no thread of the delegate could signal.
static void fly_to_device(const struct application *app, struct flight *flight)
{
    HaliteGpuFence seen;
    int gate = make_gate(app);
    prepare(HALITE_FENCE_FD, app->fence_type);
    clear_output();
    app->make_fence(&seen);
    set_fence(flight, A, descriptor(gate));
    set_fence(flight, P, seen);
    fly_well(flight);
    app->inspect_after(&flight->fences[1], one.y, 0, ELEMENTS);
    hl_event_set(gate);
    check_sums();
    assert_int_equal(land(flight), kTfLiteOk);
    app->release_fence(&flight->fences[1]);
    hl_event_destroy(gate);
}

static void check_sync_files(const struct application *app)
{
    enum { ROUNDS = 20 }; // so that what the delegate keeps for them is used again
    struct flight first, second;
    float output[ELEMENTS], nothing;
    start_async(app);
    print_message("             %s: %s\n", app->name, takes_sync_files() ? "has sync files" : "no sync files");
    if (!takes_sync_files()) {
        stop_async();
        return;
    }
    prepare(HALITE_FENCE_FD, HALITE_FENCE_FD);
    begin_flight(&first, share(kTfLiteIoTypeInput, &one.x, 0), share(kTfLiteIoTypeOutput, &one.y, 0));
    begin_flight(&second, share(kTfLiteIoTypeOutput, &one.y, 0), share(kTfLiteIoTypeOutput, &one.y, FRONT));
    app->fill(one.x, 0, ELEMENTS);
    app->read(one.x, 0, &nothing, sizeof nothing); // waits for it
    for (int i = 0; i < ROUNDS; i++) {
        clear_output();
        fly_twice(app, &first, &second);
    }
    fly_to_device(app, &first);
    assert_int_equal(copied(), 0);
    prepare(HALITE_FENCE_FD, HALITE_FENCE_FD);
    use(&first, share(kTfLiteIoTypeInput, &one.x, 0), lend(kTfLiteIoTypeOutput, output)); // a thread submits that
    assert_int_equal(fly(&first), kTfLiteError);
    expect_message("the fence of output tensor 4 has to be an eventfd");
    assert_int_equal(end_flight(&first), kTfLiteOk);
    assert_int_equal(end_flight(&second), kTfLiteOk);
    stop_async();
}
static void test_sync_files(void **state)
{
    (void)state;
    with_fences(check_sync_files);
}

// ---- memory of the host ---------------------------------------------------------------------------------------------

// Several tasks on memory of the application, started at once; their inputs are written afterwards.
static void fly_on_host(void)
{
    enum { FLIGHTS = 3 };
    struct flight flights[FLIGHTS];
    float inputs[FLIGHTS][ELEMENTS], outputs[FLIGHTS][ELEMENTS];
    int written[FLIGHTS];
    prepare(HALITE_FENCE_EVENT, kTfLiteSyncTypeNoSyncObj);
    for (int i = 0; i < FLIGHTS; i++) {
        written[i] = hl_event_create();
        begin_flight(&flights[i], lend(kTfLiteIoTypeInput, inputs[i]), lend(kTfLiteIoTypeOutput, outputs[i]));
        set_fence(&flights[i], A, descriptor(written[i]));
        fly_well(&flights[i]);
    }
    for (int i = FLIGHTS; i-- > 0;) { // not in the order of the submissions
        for (int k = 0; k < ELEMENTS; k++) inputs[i][k] = input_value(k + i);
        hl_event_set(written[i]);
    }
    for (int i = 0; i < FLIGHTS; i++) {
        assert_int_equal(land(&flights[i]), kTfLiteOk);
        for (int k = 0; k < ELEMENTS; k++) assert_float_equal(outputs[i][k], expected_value(k + i), 1e-5f);
        assert_int_equal(end_flight(&flights[i]), kTfLiteOk);
        hl_event_destroy(written[i]);
    }
    assert_int_equal(copied(), FLIGHTS * 2 * BYTES);
}

static void check_host(const struct application *app)
{
    start_async(app);
    fly_on_host();
    stop_async();
}
static void test_host(void **state)
{
    (void)state;
    if (!hl_event_exists()) skip();
    with_each(check_host); // no fence of an API is needed
}

// One side on the device, with the device's fence, the other in memory of the host.
static void check_half(const struct application *app)
{
    struct flight flight;
    HaliteGpuFence filled;
    float output[ELEMENTS];
    start_async(app);
    prepare(app->fence_type, kTfLiteSyncTypeNoSyncObj);
    begin_flight(&flight, share(kTfLiteIoTypeInput, &one.x, 0), lend(kTfLiteIoTypeOutput, output));
    app->fill_later(one.x, 0, ELEMENTS, &filled);
    app->open_gate();
    set_fence(&flight, A, filled);
    fly_well(&flight);
    assert_int_equal(land(&flight), kTfLiteOk);
    for (int k = 0; k < ELEMENTS; k++) assert_float_equal(output[k], expected_value(k), 1e-5f);
    assert_int_equal(copied(), BYTES);
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    app->release_fence(&filled);
    stop_async();
}
static void test_half(void **state)
{
    (void)state;
    with_fences(check_half);
}

// ---- what can be used, and what not ---------------------------------------------------------------------------------

static void check_types(const struct application *app)
{
    const char *const *types;
    size_t count;
    for (TfLiteIoType side = kTfLiteIoTypeInput; side <= kTfLiteIoTypeOutput; side++) {
        assert_int_equal(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(runner, side, &types, &count), kTfLiteOk);
        assert_int_equal(count, 2);
        assert_true(is_listed(types, count, app->buffer_type) && is_listed(types, count, HALITE_BUFFER_HOST));
        assert_int_equal(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(runner, side, &types, &count),
                         kTfLiteOk);
        assert_true(is_listed(types, count, app->fence_type) && is_listed(types, count, kTfLiteSyncTypeNoSyncObj));
        assert_int_equal(is_listed(types, count, HALITE_FENCE_EVENT), hl_event_exists());
        if (side == kTfLiteIoTypeInput) assert_int_equal(is_listed(types, count, HALITE_FENCE_FD), hl_event_exists());
    }
}

static bool reconciles(TfLiteAttributeMap *wishes, TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    bool agreed = TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(runner, A, wishes, merged, conflict);
    TfLiteAttributeMapDelete(wishes);
    return agreed;
}

static void check_attributes(const struct application *app)
{
    TfLiteAttributeMap *merged = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *conflict = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    const char *type;
    size_t number;
    start_async(app);
    check_types(app);
    assert_true(reconciles(range(NULL, 0, 0), merged, conflict));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(merged, kTfLiteBufferAttrKeyResourceTypeName, &type));
    assert_string_equal(type, app->buffer_type);
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyAlignment, &number));
    assert_int_equal(number, 256);
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(merged, kTfLiteBufferAttrKeySize, &number));
    assert_int_equal(number, BYTES);
    assert_true(reconciles(range(HALITE_BUFFER_HOST, 3, 1 << 20), merged, NULL));
    TfLiteAttributeMapGetSizeTBufferAttr(merged, kTfLiteBufferAttrKeySize, &number);
    assert_int_equal(number, 1 << 20);
    assert_false(reconciles(range("ahardware_buffer", 0, 0), merged, conflict));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(conflict, kTfLiteBufferAttrKeyResourceTypeName, &type));
    assert_string_equal(type, "ahardware_buffer");
    assert_false(reconciles(range(app->buffer_type, 4, 0), merged, conflict));
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(conflict, kTfLiteBufferAttrKeyOffset, &number));
    TfLiteAttributeMapDelete(merged);
    TfLiteAttributeMapDelete(conflict);

    merged = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    assert_true(reconciles(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync), merged, NULL));
    assert_true(TfLiteAttributeMapGetStringSyncAttr(merged, kTfLiteSynchronizationAttrKeyObjectTypeName, &type));
    assert_string_equal(type, kTfLiteSyncTypeNoSyncObj);
    TfLiteAttributeMapDelete(merged);
    stop_async();
}
static void test_attributes(void **state)
{
    (void)state;
    with_fences(check_attributes);
}

static void expect_no_flight(struct flight *flight, const char *words)
{
    assert_int_equal(fly(flight), kTfLiteError);
    expect_message(words);
}

static void check_refused_fences(struct flight *flight)
{
    const struct application *app = one.app;
    if (!hl_event_exists()) return;
    const HaliteGpuFence none = {.struct_size = sizeof none}, old = {.struct_size = 8, .handle = 1};
    set_fence(flight, A, none);
    expect_no_flight(flight, "tensor 0 has a fence: SetAttributes has to say of which kind");
    assert_int_equal(set_fence_type(A, "egl_fence"), kTfLiteError);
    expect_message("cannot have a fence of kind egl_fence");
    if (!takes_sync_files()) {
        assert_int_equal(set_fence_type(P, HALITE_FENCE_FD), kTfLiteError);
        expect_message("cannot have a fence of kind sync_fence_fd");
    }
    prepare(app->fence_type, kTfLiteSyncTypeNoSyncObj);
    expect_no_flight(flight, "has a fence whose handle is 0");
    set_fence(flight, A, old);
    expect_no_flight(flight, "struct_size below sizeof(HaliteGpuFence)");
    assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight->task, A, NULL), kTfLiteOk);
    expect_no_flight(flight, "tensor 0 has no fence");
    prepare(HALITE_FENCE_EVENT, app->fence_type);
    HaliteGpuFence seen;
    int event = hl_event_create();
    app->make_fence(&seen);
    set_fence(flight, A, descriptor(event));
    set_fence(flight, P, seen);
    expect_no_flight(flight, "the fence of output tensor 4 has to be an eventfd");
    prepare(HALITE_FENCE_FD, kTfLiteSyncTypeNoSyncObj); // a closed one
    assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight->task, P, NULL), kTfLiteOk);
    hl_event_destroy(event);
    if (takes_sync_files()) {
        expect_no_flight(flight, "is no open descriptor of a sync file");
    } else {
        fly_well(flight);
        assert_int_equal(land(flight), kTfLiteError);
        expect_message("cannot be waited for");
    }
    prepare(kTfLiteSyncTypeNoSyncObj, kTfLiteSyncTypeNoSyncObj);
    assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight->task, A, NULL), kTfLiteOk);
}

static void check_refusals(const struct application *app)
{
    struct flight flight;
    TfLiteBufferHandle handle;
    start_async(app);
    prepare(kTfLiteSyncTypeNoSyncObj, kTfLiteSyncTypeNoSyncObj);
    void *pointer = app->pointer(&one.x);
    assert_int_equal(add(kTfLiteIoTypeInput, "ahardware_buffer", pointer, 0, ROOM, &handle), kTfLiteError);
    expect_message("takes no buffer of kind ahardware_buffer");
    assert_int_equal(add(kTfLiteIoTypeInput, app->buffer_type, NULL, 0, ROOM, &handle), kTfLiteError);
    expect_message("the buffer's pointer is NULL");
    assert_int_equal(add(kTfLiteIoTypeInput, app->buffer_type, pointer, 4, ROOM - 4, &handle), kTfLiteError);
    expect_message("offset 4 is no multiple of 256");
    assert_int_equal(add(kTfLiteIoTypeInput, HALITE_BUFFER_HOST, &flight, 0, 0, &handle), kTfLiteError);
    expect_message("memory of the host has no size of its own");

    TfLiteBufferHandle small = add_well(kTfLiteIoTypeInput, app->buffer_type, pointer, 0, BYTES - 4);
    TfLiteBufferHandle x = share(kTfLiteIoTypeInput, &one.x, 0), y = share(kTfLiteIoTypeOutput, &one.y, 0);
    begin_flight(&flight, small, y);
    expect_no_flight(&flight, "it needs 120 bytes from byte 0 on");
    use(&flight, x, y);
    check_refused_fences(&flight);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, A, 77), kTfLiteError);
    expect_message("77 is not registered");

    // After all of this the task works.
    app->fill(one.x, 0, ELEMENTS);
    float nothing, sums[ELEMENTS];
    app->read(one.x, 0, &nothing, sizeof nothing);
    fly_well(&flight);
    assert_int_equal(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner, x), kTfLiteError); // under way
    assert_int_equal(land(&flight), kTfLiteOk);
    app->inspect(one.y, 0, ELEMENTS, sums);
    check_against_cpu(sums);
    assert_int_equal(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner, x), kTfLiteOk);
    expect_no_flight(&flight, "is not registered");
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    stop_async();
}
static void test_refusals(void **state)
{
    (void)state;
    with_fences(check_refusals);
}

// The runner, and then the interpreter, go away while a task is under way, which they wait for.
static void check_early_end(const struct application *app)
{
    for (int i = 0; i < 2; i++) {
        struct flight flight;
        HaliteGpuFence filled;
        start_async(app);
        prepare(app->fence_type, kTfLiteSyncTypeNoSyncObj);
        begin_flight(&flight, share(kTfLiteIoTypeInput, &one.x, 0), share(kTfLiteIoTypeOutput, &one.y, 0));
        app->fill_later(one.x, 0, ELEMENTS, &filled);
        set_fence(&flight, A, filled);
        fly_well(&flight);
        app->open_gate();
        if (i == 0) {
            TfLiteAsyncSignatureRunnerDelete(runner);
        } else {
            end(&one.session);
            begin(&one.session, &whole);
            TfLiteAsyncSignatureRunnerFinish(runner, flight.task);
            TfLiteAsyncSignatureRunnerDelete(runner);
        }
        float sums[ELEMENTS];
        app->inspect(one.y, 0, ELEMENTS, sums);
        check_against_cpu(sums);
        for (int k = 0; k < 2; k++) TfLiteSynchronizationDelete(flight.syncs[k]);
        app->release_fence(&filled);
        stop();
    }
}
static void test_early_end(void **state)
{
    (void)state;
    with_fences(check_early_end);
}

// ---- devices that fail ----------------------------------------------------------------------------------------------

static void start_null(void)
{
    static const char *const texts[] = {"device", "null", NULL};
    one.delegate = make(texts);
    begin(&one.session, &whole);
}

static void stop_null(void)
{
    end(&one.session);
    TfLiteGpuDelegateV2Delete(one.delegate);
    assert_int_equal(gpu_null_live(), 0);
}

static void test_lost_device(void **state)
{
    struct flight flight;
    float input[ELEMENTS] = {0}, output[ELEMENTS];
    (void)state;
    if (!hl_event_exists()) skip();
    start_null();
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    start_runner();
    prepare(kTfLiteSyncTypeNoSyncObj, HALITE_FENCE_EVENT);
    int seen = hl_event_create();
    begin_flight(&flight, lend(kTfLiteIoTypeInput, input), lend(kTfLiteIoTypeOutput, output));
    set_fence(&flight, P, descriptor(seen));
    fly_well(&flight);
    assert_int_equal(land(&flight), kTfLiteOk);
    await_event(seen);
    gpu_null_lose(gpu_delegate_of(one.delegate)->engine->device);
    fly_well(&flight);
    await_event(seen); // also of a run that failed
    assert_int_equal(land(&flight), kTfLiteError);
    expect_message("lost");
    assert_int_equal(fly(&flight), kTfLiteOk);
    assert_int_equal(end_flight(&flight), kTfLiteError);
    TfLiteAsyncSignatureRunnerDelete(runner);
    stop_null();
    hl_event_destroy(seen);
}

// Every call of the device fails once. What failed can be tried again, and all of it be deleted.
static void test_each_failure(void **state)
{
    (void)state;
    bool failed = true;
    for (int n = 1; failed; n++) {
        struct flight flight;
        float input[ELEMENTS] = {0}, output[ELEMENTS];
        start_null();
        assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
        start_runner();
        prepare(kTfLiteSyncTypeNoSyncObj, kTfLiteSyncTypeNoSyncObj);
        begin_flight(&flight, lend(kTfLiteIoTypeInput, input), lend(kTfLiteIoTypeOutput, output));
        gpu_null_fail_at(gpu_delegate_of(one.delegate)->engine->device, n);
        fly_well(&flight);
        failed = land(&flight) != kTfLiteOk;
        gpu_null_fail_at(gpu_delegate_of(one.delegate)->engine->device, 0);
        fly_well(&flight);
        assert_int_equal(end_flight(&flight), kTfLiteOk);
        assert_true(n < 100);
        assert_true(failed || n > 3);
        TfLiteAsyncSignatureRunnerDelete(runner);
        stop_null();
    }
}

// ---- binding while a run is under way -------------------------------------------------------------------------------

enum { INVOCATIONS = 40 };

static void *invoke_often(void *interpreter)
{
    int done = 0;
    while (done < INVOCATIONS && TfLiteInterpreterInvoke(interpreter) == kTfLiteOk) done++;
    return done == INVOCATIONS ? interpreter : NULL;
}

// HaliteDelegateBindBuffer waits for the Invoke of another thread, so that each run has one buffer or the other.
static void check_binding(const struct application *app)
{
    float nothing, sums[ELEMENTS];
    pthread_t thread;
    void *result;
    start(app, &whole);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    TfLiteSetAllowBufferHandleOutput(one.session.interpreter, true);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    clear_output();
    app->fill(one.x, 0, ELEMENTS);
    app->read(one.x, 0, &nothing, sizeof nothing);
    assert_int_equal(pthread_create(&thread, NULL, invoke_often, one.session.interpreter), 0);
    for (int i = 0; i < INVOCATIONS; i++) assert_int_equal(bind(P, one.y, i % 2 * FRONT), kTfLiteOk);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk); // with the last one, surely
    app->inspect(one.y, FRONT, ELEMENTS, sums);
    check_against_cpu(sums);
    assert_int_equal(copied(), 0);
    stop();
}
static void test_binding(void **state)
{
    (void)state;
    with_fences(check_binding);
}

// A task keeps its own buffers, whatever is bound meanwhile; the next Invoke has what was bound.
static void check_binding_beside_task(const struct application *app)
{
    struct flight flight;
    HaliteGpuFence filled, seen;
    float sums[ELEMENTS], bound[ELEMENTS];
    start_async(app);
    prepare(app->fence_type, app->fence_type);
    begin_flight(&flight, share(kTfLiteIoTypeInput, &one.x, 0), share(kTfLiteIoTypeOutput, &one.y, 0));
    clear_output();
    app->fill_later(one.x, 0, ELEMENTS, &filled);
    app->make_fence(&seen);
    set_fence(&flight, A, filled);
    set_fence(&flight, P, seen);
    fly_well(&flight);
    app->open_gate(); // binding may wait for the device
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, FRONT), kTfLiteOk);
    assert_int_equal(land(&flight), kTfLiteOk);
    app->read(one.y, FRONT, bound, sizeof bound);
    for (int i = 0; i < ELEMENTS; i++) assert_true(bound[i] == 0);
    app->inspect(one.y, 0, ELEMENTS, sums);
    check_against_cpu(sums);
    assert_int_equal(end_flight(&flight), kTfLiteOk);
    TfLiteSetAllowBufferHandleOutput(one.session.interpreter, true);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    app->inspect(one.y, FRONT, ELEMENTS, sums);
    check_against_cpu(sums);
    app->release_fence(&filled);
    app->release_fence(&flight.fences[1]);
    stop_async();
}
static void test_binding_beside_task(void **state)
{
    (void)state;
    with_fences(check_binding_beside_task);
}

int main(void)
{
    choose_libraries();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_fences),  cmocka_unit_test(test_example),
        cmocka_unit_test(test_buffers_change), cmocka_unit_test(test_events),
        cmocka_unit_test(test_mixed),          cmocka_unit_test(test_host),
        cmocka_unit_test(test_half),           cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_early_end),
        cmocka_unit_test(test_lost_device),    cmocka_unit_test(test_each_failure),
        cmocka_unit_test(test_binding),        cmocka_unit_test(test_binding_beside_task),
        cmocka_unit_test(test_sync_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
