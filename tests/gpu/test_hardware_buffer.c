// SPDX-License-Identifier: Apache-2.0
// AHardwareBuffers as inputs and outputs, before a fake of Android's library and of a driver that takes them
// (tests/fakes/android): the device computes in their memory, holds a reference as long as it does, and what does not
// fit is refused with one message. The same in asynchronous runs between sync files, by the original's names; and
// dma-bufs before the same driver. Skipped without a device of Vulkan.
#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "android/fake.h"
#include "base/descriptor.h"
#include "base/event.h"
#include "gpu/delegate_session.h"
#include "halite/gpu_async.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"
#include "tensorflow/lite/core/async/interop/c/constants.h"

enum { CPU_OFTEN = 0x33, FOR_KERNELS = 1 << 24, BLOB = 0x21, RGBA8 = 1, BYTES = ELEMENTS * (int)sizeof(float) };

static struct {
    void (*reset)(void);
    void (*set)(const char *knob, long long value);
    long long (*get)(const char *knob);
    int (*allocate)(const AHardwareBuffer_Desc *desc, AHardwareBuffer **buffer);
    void (*release)(AHardwareBuffer *buffer);
    int (*lock)(AHardwareBuffer *buffer, uint64_t usage, int32_t fence, const void *part, void **address);
    int (*unlock)(AHardwareBuffer *buffer, int32_t *fence);
} android;

static int find_functions(void **state)
{
    void *library = dlopen(FAKE_ANDROID, RTLD_NOW | RTLD_LOCAL);
    (void)state;
    if (!library) return -1;
#define FIND(field, name) *(void **)&android.field = dlsym(library, name)
    FIND(reset, "fakeAndroid_reset");
    FIND(set, "fakeAndroid_set");
    FIND(get, "fakeAndroid_get");
    FIND(allocate, "AHardwareBuffer_allocate");
    FIND(release, "AHardwareBuffer_release");
    FIND(lock, "AHardwareBuffer_lock");
    FIND(unlock, "AHardwareBuffer_unlock");
#undef FIND
    return 0;
}

// ---- a session ----------------------------------------------------------------------------------

static struct {
    TfLiteDelegate *delegate;
    struct session session;
} one;

static void start_on(const char *device)
{
    if (!has_device(device)) skip();
    android.reset();
    one.delegate = delegate_on(device);
    begin(&one.session, &whole);
}

static void stop_own(void)
{
    end_without_complaint(&one.session);
    TfLiteGpuDelegateV2Delete(one.delegate);
    assert_int_equal(android.get("live_imports"), 0);
    assert_int_equal(android.get("buffers"), 0);
}

static AHardwareBuffer *new_buffer(uint32_t width, uint32_t format, uint64_t usage)
{
    AHardwareBuffer *buffer = NULL;
    AHardwareBuffer_Desc desc = {.width = width, .height = 1, .layers = 1, .format = format, .usage = usage};
    assert_int_equal(android.allocate(&desc, &buffer), 0);
    return buffer;
}

static HaliteGpuBuffer whole_buffer(AHardwareBuffer *buffer, size_t offset)
{
    return (HaliteGpuBuffer){.struct_size = sizeof(HaliteGpuBuffer),
                             .kind = kHaliteGpuKindHardwareBuffer,
                             .handle = (uint64_t)(uintptr_t)buffer,
                             .offset = offset};
}

static float *lock(AHardwareBuffer *buffer)
{
    void *address = NULL;
    assert_int_equal(android.lock(buffer, CPU_OFTEN, -1, NULL, &address), 0);
    return address;
}

static void fill(AHardwareBuffer *buffer, size_t offset, int shift)
{
    float *values = lock(buffer) + offset / sizeof(float);
    for (int i = 0; i < ELEMENTS; i++) values[i] = input_value(i + shift);
    assert_int_equal(android.unlock(buffer, NULL), 0);
}

static void check(AHardwareBuffer *buffer, size_t offset, int shift)
{
    const float *values = lock(buffer) + offset / sizeof(float);
    for (int i = 0; i < ELEMENTS; i++) assert_float_equal(values[i], expected_value(i + shift), 1e-5f);
    assert_int_equal(android.unlock(buffer, NULL), 0);
}

// ---- what works ---------------------------------------------------------------------------------

// Bound before the delegate is applied or after it; released by the application before the first run, which the
// device's reference outlives.
static void check_runs(bool before)
{
    start_on("vulkan");
    AHardwareBuffer *x = new_buffer(8192, BLOB, CPU_OFTEN | FOR_KERNELS);
    AHardwareBuffer *y = new_buffer(256 + BYTES, BLOB, CPU_OFTEN | FOR_KERNELS), *other;
    HaliteGpuBuffer from = whole_buffer(x, 512), to = whole_buffer(y, 256);
    TfLiteSetAllowBufferHandleOutput(one.session.interpreter, true);
    for (int i = 0; i < 2; i++) {
        if (before == (i == 0)) {
            assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &from), kTfLiteOk);
            assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteOk);
        }
        if (i == 0) assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    }
    android.release(x);
    android.release(y);
    assert_int_equal(android.get("imports"), 2);
    assert_int_equal(android.get("buffers"), 2);
    for (int run = 0; run < 3; run++) {
        fill(x, 512, run);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        check(y, 256, run);
    }
    assert_int_equal(HaliteDelegateGetCopiedBytes(one.delegate), 0);
    // Another one takes its place, and the first is gone.
    other = new_buffer(4096, BLOB, CPU_OFTEN | FOR_KERNELS);
    to = whole_buffer(other, 0);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteOk);
    assert_int_equal(android.get("live_imports"), 2);
    assert_int_equal(android.get("buffers"), 2);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    check(other, 0, 2);
    android.release(other);
    stop_own();
}
static void test_runs(void **state)
{
    (void)state;
    check_runs(true);
    check_runs(false);
}

// ---- what is refused ----------------------------------------------------------------------------

static void expect_refusal(const char *device, const char *knob, const AHardwareBuffer_Desc *desc, size_t size,
                           const char *words)
{
    AHardwareBuffer *buffer = NULL;
    start_on(device);
    if (knob) android.set(knob, 1);
    assert_int_equal(android.allocate(desc, &buffer), 0);
    HaliteGpuBuffer bound = whole_buffer(buffer, 0);
    bound.size = size;
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &bound), kTfLiteOk);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
    android.release(buffer);
    stop_own();
}

static void test_refusals(void **state)
{
    AHardwareBuffer_Desc good = {
        .width = 4096, .height = 1, .layers = 1, .format = BLOB, .usage = CPU_OFTEN | FOR_KERNELS};
    AHardwareBuffer_Desc small = good, useless = good, picture = good;
    (void)state;
    small.width = BYTES - 4;
    useless.usage = CPU_OFTEN;
    picture.format = RGBA8;
    expect_refusal("vulkan", NULL, &small, 0, "it needs 120 bytes from byte 0 on");
    expect_refusal("vulkan", NULL, &good, 8192, "has 4096 bytes: offset and size reach to byte 8192");
    expect_refusal("vulkan", NULL, &useless, 0, "AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER");
    expect_refusal("vulkan", NULL, &picture, 0, "has the format 0x1: allocate it as AHARDWAREBUFFER_FORMAT_BLOB");
    expect_refusal("vulkan", "lacks_extension", &good, 0, "VK_ANDROID_external_memory_android_hardware_buffer");
    expect_refusal("vulkan", "fails_import", &good, 0, "vkAllocateMemory of the application's memory");
    if (has_device("opencl"))
        expect_refusal("opencl", NULL, &good, 0, "AHardwareBuffers of memory are taken by Vulkan");
}

// ---- asynchronous -------------------------------------------------------------------------------

// A runner of a delegate on a device of its own, with a task between sync files.
static struct {
    struct TfLiteAsyncSignatureRunner *runner;
    TfLiteExecutionTask *task;
    TfLiteSynchronization *syncs[2];
    HaliteGpuFence fences[2];
} flight;

static void expect_message(const char *words)
{
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
}

static void start_async(void)
{
    if (!has_device("vulkan")) skip();
    android.reset();
    setenv("HALITE_DEVICE", "vulkan", 1); // software, which is taken only when it is named
    one.delegate = TfLiteGpuDelegateV2CreateAsync(NULL);
    assert_non_null(one.delegate);
    begin(&one.session, &whole);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    unsetenv("HALITE_DEVICE");
    flight.runner = TfLiteInterpreterGetAsyncSignatureRunner(one.session.interpreter, NULL);
    if (!flight.runner) expect_message("");
    assert_non_null(flight.runner);
}

static void stop_async(void)
{
    TfLiteAsyncSignatureRunnerDelete(flight.runner);
    stop_own();
}

static TfLiteStatus add(TfLiteIoType side, AHardwareBuffer *buffer, size_t offset, TfLiteBufferHandle *handle)
{
    TfLiteBackendBuffer *backend_buffer = TfLiteBackendBufferCreate();
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteBackendBufferSetPtr(backend_buffer, buffer);
    TfLiteAttributeMapSetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, "ahardware_buffer_blob");
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, offset);
    TfLiteStatus status = TfLiteAsyncSignatureRunnerRegisterBuffer(flight.runner, side, backend_buffer, attrs, handle);
    TfLiteAttributeMapDelete(attrs);
    TfLiteBackendBufferDelete(backend_buffer);
    return status;
}

// The kind that the original's delegate has comes first, so that a program without a wish gets it.
static void check_kinds(void)
{
    const char *const *types;
    const char *type;
    size_t count;
    TfLiteAttributeMap *wishes = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *merged = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    assert_int_equal(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(flight.runner, kTfLiteIoTypeInput, &types,
                                                                       &count),
                     kTfLiteOk);
    assert_int_equal(count, 2);
    assert_string_equal(types[0], "ahardware_buffer_blob");
    assert_true(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(flight.runner, A, wishes, merged, NULL));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(merged, kTfLiteBufferAttrKeyResourceTypeName, &type));
    assert_string_equal(type, "ahardware_buffer_blob");
    TfLiteAttributeMapDelete(wishes);
    TfLiteAttributeMapDelete(merged);
}

static void prepare_flight(TfLiteBufferHandle x, TfLiteBufferHandle y)
{
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    TfLiteAttributeMapSetStringSyncAttr(attrs, kTfLiteSynchronizationAttrKeyObjectTypeName, "sync_fence_fd");
    assert_int_equal(TfLiteAsyncSignatureRunnerSetAttributesByIndex(flight.runner, A, attrs), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerSetAttributesByIndex(flight.runner, P, attrs), kTfLiteOk);
    TfLiteAttributeMapDelete(attrs);
    assert_int_equal(TfLiteAsyncSignatureRunnerPrepareBackends(flight.runner), kTfLiteOk);
    flight.task = TfLiteAsyncSignatureRunnerCreateTask(flight.runner);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, A, x), kTfLiteOk);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, P, y), kTfLiteOk);
    for (int i = 0; i < 2; i++) {
        flight.syncs[i] = TfLiteSynchronizationCreate();
        flight.fences[i] = (HaliteGpuFence){.struct_size = sizeof flight.fences[i]};
        TfLiteSynchronizationSetPtr(flight.syncs[i], &flight.fences[i]);
        assert_int_equal(TfLiteExecutionTaskSetSyncByIndex(flight.task, i == 0 ? A : P, flight.syncs[i]), kTfLiteOk);
    }
}

static void end_flight(void)
{
    assert_int_equal(TfLiteAsyncSignatureRunnerFinish(flight.runner, flight.task), kTfLiteOk);
    for (int i = 0; i < 2; i++) TfLiteSynchronizationDelete(flight.syncs[i]);
}

static bool is_set(int descriptor)
{
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

// Submitted before the input is there, whose sync file holds the device back.
static void test_sync_files(void **state)
{
    TfLiteBufferHandle handles[2];
    (void)state;
    start_async();
    check_kinds();
    AHardwareBuffer *x = new_buffer(4096, BLOB, CPU_OFTEN | FOR_KERNELS);
    AHardwareBuffer *y = new_buffer(256 + BYTES, BLOB, CPU_OFTEN | FOR_KERNELS);
    assert_int_equal(add(kTfLiteIoTypeInput, x, 0, &handles[0]), kTfLiteOk);
    assert_int_equal(add(kTfLiteIoTypeOutput, y, 256, &handles[1]), kTfLiteOk);
    prepare_flight(handles[0], handles[1]);
    for (int run = 0; run < 3; run++) {
        int filled = hl_event_create();
        flight.fences[0].handle = (uint64_t)filled;
        assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(flight.runner, flight.task), kTfLiteOk);
        int seen = (int)flight.fences[1].handle;
        assert_false(is_set(seen));
        fill(x, 0, run);
        hl_event_set(filled);
        assert_true(hl_descriptor_wait(seen));
        check(y, 256, run);
        assert_int_equal(TfLiteAsyncSignatureRunnerWait(flight.runner, flight.task), kTfLiteOk);
        hl_event_destroy(filled);
        hl_descriptor_close(seen);
    }
    assert_int_equal(android.get("live_imports"), 2); // once for all runs
    assert_int_equal(android.get("imports"), 2);
    assert_int_equal(HaliteDelegateGetCopiedBytes(one.delegate), 0);
    end_flight();
    assert_int_equal(android.get("live_imports"), 0);
    android.release(x);
    android.release(y);
    stop_async();
}

// Without fences Wait waits for the device, and a buffer that is not fit fails the run, but not the next.
static void test_wait(void **state)
{
    TfLiteBufferHandle x_handle, y_handle, picture_handle;
    (void)state;
    start_async();
    AHardwareBuffer *x = new_buffer(4096, BLOB, CPU_OFTEN | FOR_KERNELS), *picture = new_buffer(64, RGBA8, CPU_OFTEN);
    AHardwareBuffer *y = new_buffer(4096, BLOB, CPU_OFTEN | FOR_KERNELS);
    assert_int_equal(add(kTfLiteIoTypeInput, x, 4, &x_handle), kTfLiteError);
    expect_message("offset 4 is no multiple of 256");
    assert_int_equal(add(kTfLiteIoTypeInput, x, 512, &x_handle), kTfLiteOk);
    assert_int_equal(add(kTfLiteIoTypeOutput, y, 0, &y_handle), kTfLiteOk);
    assert_int_equal(add(kTfLiteIoTypeOutput, picture, 0, &picture_handle), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerPrepareBackends(flight.runner), kTfLiteOk);
    flight.task = TfLiteAsyncSignatureRunnerCreateTask(flight.runner);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, A, x_handle), kTfLiteOk);
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, P, picture_handle), kTfLiteOk);
    assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(flight.runner, flight.task), kTfLiteError);
    expect_message("has the format 0x1: allocate it as AHARDWAREBUFFER_FORMAT_BLOB");
    assert_int_equal(TfLiteExecutionTaskSetBufferByIndex(flight.task, P, y_handle), kTfLiteOk);
    for (int run = 0; run < 20; run++) {
        fill(x, 512, run);
        assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(flight.runner, flight.task), kTfLiteOk);
        assert_int_equal(TfLiteAsyncSignatureRunnerWait(flight.runner, flight.task), kTfLiteOk);
        check(y, 0, run);
    }
    assert_int_equal(TfLiteAsyncSignatureRunnerFinish(flight.runner, flight.task), kTfLiteOk);
    android.release(x);
    android.release(y);
    android.release(picture);
    stop_async();
}

// ---- dma-bufs -----------------------------------------------------------------------------------

// A file that nobody else sees, which passes for one.
static int new_dma_buf(size_t bytes)
{
    char path[] = "/tmp/halite_dma_buf_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ftruncate(descriptor, (off_t)bytes), 0);
    return descriptor;
}

static float *map_dma_buf(int descriptor, size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_true(mapped != MAP_FAILED);
    return mapped;
}

static HaliteGpuBuffer dma_buffer(int descriptor, size_t offset, size_t size)
{
    return (HaliteGpuBuffer){.struct_size = sizeof(HaliteGpuBuffer),
                             .kind = kHaliteGpuKindDmaBuf,
                             .handle = (uint64_t)descriptor,
                             .offset = offset,
                             .size = size};
}

// The application closes its descriptors once the delegate is applied.
static void test_dma_bufs(void **state)
{
    enum { ROOM = 8192 };
    (void)state;
    start_on("vulkan");
    int x = new_dma_buf(ROOM), y = new_dma_buf(ROOM);
    float *in = map_dma_buf(x, ROOM), *out = map_dma_buf(y, ROOM);
    HaliteGpuBuffer from = dma_buffer(x, 512, ROOM - 512), to = dma_buffer(y, 256, 512);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &from), kTfLiteOk);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteOk);
    TfLiteSetAllowBufferHandleOutput(one.session.interpreter, true);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteOk);
    close(x);
    close(y);
    assert_int_equal(android.get("live_imports"), 2);
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < ELEMENTS; i++) in[512 / sizeof *in + (size_t)i] = input_value(i + run);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        for (int i = 0; i < ELEMENTS; i++)
            assert_float_equal(out[256 / sizeof *out + (size_t)i], expected_value(i + run), 1e-5f);
    }
    assert_int_equal(HaliteDelegateGetCopiedBytes(one.delegate), 0);
    stop_own();
    munmap(in, ROOM);
    munmap(out, ROOM);
}

static void expect_no_dma_buf(const char *knob, int descriptor, size_t size, const char *words)
{
    start_on("vulkan");
    if (knob) android.set(knob, 1);
    HaliteGpuBuffer from = dma_buffer(descriptor, 0, size);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &from), kTfLiteOk);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    expect_message(words);
    stop_own();
}

static void test_no_dma_bufs(void **state)
{
    int good = new_dma_buf(4096);
    (void)state;
    expect_no_dma_buf(NULL, 9999, 4096, "vkGetMemoryFdPropertiesKHR");
    expect_no_dma_buf(NULL, good, 8192, "vkAllocateMemory of the application's memory");
    expect_no_dma_buf("fails_import", good, 4096, "vkAllocateMemory of the application's memory");
    expect_no_dma_buf(NULL, good, BYTES - 4, "it needs 120 bytes from byte 0 on");
    expect_no_dma_buf("lacks_extension", good, 4096, "it has no VK_EXT_external_memory_dma_buf");
    close(good);
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    setenv("HALITE_VULKAN_VALIDATION", "1", 0); // where the layer is
    setenv("HALITE_ANDROID_LIBRARY", FAKE_ANDROID, 1);
    setenv("HALITE_VULKAN_LIBRARY", FAKE_ANDROID, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs),       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_sync_files), cmocka_unit_test(test_wait),
                                       cmocka_unit_test(test_dma_bufs),   cmocka_unit_test(test_no_dma_bufs)};
    return cmocka_run_group_tests(tests, find_functions, NULL);
}
