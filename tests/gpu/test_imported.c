// SPDX-License-Identifier: Apache-2.0
// Memory of the application as inputs and outputs of a delegate on a device of its own: that of the host, which is used
// where it is or copied once, and that of file descriptors. Each test runs with every device that is here.
#include <unistd.h>

#include "gpu/application/shared_session.h"

enum { PAGES = 3 };

static void start_on(const char *device)
{
    one.delegate = delegate_on(device);
    begin(&one.session, &whole);
    note_cpu();
}

static void stop_own(void)
{
    end_without_complaint(&one.session);
    TfLiteGpuDelegateV2Delete(one.delegate);
}

static HaliteGpuBuffer memory_buffer(HaliteGpuKind kind, uint64_t handle, size_t offset, size_t size)
{
    return (HaliteGpuBuffer){
        .struct_size = sizeof(HaliteGpuBuffer), .kind = kind, .handle = handle, .offset = offset, .size = size};
}

static void bind_well(int tensor, const HaliteGpuBuffer *buffer)
{
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, tensor, buffer), kTfLiteOk);
}

// ---- memory of the host -------------------------------------------------------------------------

static unsigned char *new_pages(size_t *page)
{
    *page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, *page, PAGES * *page), 0);
    memset(memory, 0, PAGES * *page);
    return memory;
}

static void fill(void *at)
{
    float values[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) values[i] = input_value(i);
    memcpy(at, values, sizeof values);
}

static void check(const void *at)
{
    float values[ELEMENTS];
    memcpy(values, at, sizeof values);
    for (int i = 0; i < ELEMENTS; i++) assert_float_equal(values[i], expected_value(i), 1e-5f);
}

// Whether the delegate's device can compute in memory of the host: OpenCL does where the CPU and the GPU share it.
static bool uses_host(const char *device)
{
    HaliteDelegateReport *report = HaliteDelegateReportCreate(one.delegate);
    const HaliteDevice *opened = HaliteDelegateReportGetDevice(report);
    assert_non_null(opened);
    bool shares = opened->is_software || opened->is_integrated;
    HaliteDelegateReportDelete(report);
    return strcmp(device, "gles") != 0 && (shares || strcmp(device, "opencl") != 0);
}

// Whole pages are used where they are, by the devices that can; parts of pages, which need no more bytes than the
// tensor has, and other devices cost a copy each way.
static void check_host(const char *device, bool before, bool whole_pages)
{
    size_t page;
    unsigned char *x = new_pages(&page), *y = new_pages(&page);
    size_t beside = whole_pages ? 0 : 4, size = whole_pages ? 2 * page - 256 : BYTES;
    start_on(device);
    HaliteGpuBuffer from = memory_buffer(kHaliteGpuKindHostMemory, (uintptr_t)(x + beside), 256, size);
    HaliteGpuBuffer to = memory_buffer(kHaliteGpuKindHostMemory, (uintptr_t)(y + beside), 256, size);
    if (before) bind_well(A, &from);
    if (before) bind_well(P, &to);
    apply_well();
    if (!before) bind_well(A, &from);
    if (!before) bind_well(P, &to);
    bool used = whole_pages && uses_host(device);
    for (uint64_t run = 1; run <= 2; run++) {
        fill(x + beside + 256);
        memset(y, 0, PAGES * page);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        check(y + beside + 256);
        uint64_t expected = used ? 0 : run * 2 * BYTES;
        if (copied() != expected) print_error("%s copied %d bytes\n", device, (int)copied());
        assert_int_equal(copied(), expected);
    }
    for (size_t i = 256 + beside + BYTES; i < PAGES * page; i++) assert_int_equal(y[i], 0); // and nothing else
    assert_null(strstr(one.session.messages.text, "cannot bind"));                          // a copy is no failure
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    check_output(&one.session);
    // Taken back, tensors are what they were.
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, NULL), kTfLiteOk);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, NULL), kTfLiteOk);
    memset(x, 0, PAGES * page);
    memset(y, 0, PAGES * page);
    set_input(&one.session);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    check_output(&one.session);
    for (size_t i = 0; i < PAGES * page; i++) assert_int_equal(y[i], 0);
    stop_own();
    free(x);
    free(y);
}

static void test_host(void **state)
{
    (void)state;
    for (int d = 1; d < ALL_DEVICES; d++) {
        if (!has_device(all_devices[d])) continue;
        check_host(all_devices[d], true, true);
        check_host(all_devices[d], false, false);
    }
}

// Two tensors do not share memory, whatever addresses name it.
static void test_overlap(void **state)
{
    static unsigned char memory[1024];
    (void)state;
    start_on("null");
    HaliteGpuBuffer from = memory_buffer(kHaliteGpuKindHostMemory, (uintptr_t)memory, 256, 256);
    HaliteGpuBuffer to = memory_buffer(kHaliteGpuKindHostMemory, (uintptr_t)(memory + 384), 0, 256);
    to.api = kHaliteGpuApiOpenCl; // does not count
    bind_well(A, &from);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteError);
    to.handle = (uintptr_t)(memory + 512);
    bind_well(P, &to);
    stop_own();
}

// Host memory in the application's own context, for an input only.
static void check_host_shared(const struct application *app)
{
    size_t page;
    float sums[ELEMENTS];
    start(app, &whole);
    unsigned char *x = new_pages(&page);
    HaliteGpuBuffer from = memory_buffer(kHaliteGpuKindHostMemory, (uintptr_t)x, 0, page), to = floats_at(one.y, 0);
    bind_well(A, &from);
    bind_well(P, &to);
    apply_well();
    fill(x);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    app->inspect(one.y, 0, ELEMENTS, sums);
    check_against_cpu(sums);
    stop();
    free(x);
}
static void test_host_shared(void **state)
{
    (void)state;
    with_each(check_host_shared);
}

// ---- file descriptors ---------------------------------------------------------------------------

// Buffers of another device of Vulkan, which its application fills and inspects with kernels.
static void check_exported(const struct application *app)
{
    size_t x_bytes = 4096, y_bytes = 4096;
    uint64_t x, y;
    int32_t x_type, y_type;
    float sums[ELEMENTS], nothing;
    int from_fd = -1, to_fd = -1;
    assert_true(app->begin(&one.context));
    if (app->create_exported) from_fd = app->create_exported(&x_bytes, &x, &x_type);
    if (from_fd < 0) {
        app->end();
        return;
    }
    to_fd = app->create_exported(&y_bytes, &y, &y_type);
    start_on("vulkan");
    HaliteGpuBuffer from = memory_buffer(kHaliteGpuKindOpaqueFd, (uint64_t)from_fd, 256, x_bytes - 256);
    HaliteGpuBuffer to = memory_buffer(kHaliteGpuKindOpaqueFd, (uint64_t)to_fd, 0, y_bytes);
    from.vk_memory_type = x_type;
    to.vk_memory_type = y_type;
    bind_well(A, &from);
    bind_well(P, &to);
    apply_well();
    close(from_fd);
    close(to_fd);
    for (int run = 0; run < 2; run++) {
        app->fill(x, 256, ELEMENTS);
        app->read(x, 0, &nothing, sizeof nothing); // waits for it
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        app->inspect(y, 0, ELEMENTS, sums);
        check_against_cpu(sums);
    }
    assert_int_equal(copied(), 0);
    // Too large for what is there, of no type that there is, and no descriptor at all.
    to.vk_memory_type = 31;
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteError);
    to.vk_memory_type = y_type;
    to.handle = 9999;
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &to), kTfLiteError);
    stop_own();
    app->destroy(x);
    app->destroy(y);
    app->end();
}
static void test_exported(void **state)
{
    (void)state;
    with_each(check_exported);
}

// ---- refusals -----------------------------------------------------------------------------------

static void expect_late_refusal(const char *device, HaliteGpuKind kind, size_t size, const char *words)
{
    size_t page;
    if (!has_device(device)) return;
    unsigned char *pages = new_pages(&page);
    start_on(device);
    bool is_host = kind == kHaliteGpuKindHostMemory;
    HaliteGpuBuffer buffer = memory_buffer(kind, is_host ? (uintptr_t)pages : 9999, 0, size);
    bind_well(A, &buffer);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
    stop_own();
    free(pages);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_late_refusal("opencl", kHaliteGpuKindOpaqueFd, 4096, "the delegate's device is one of OpenCL");
    expect_late_refusal("gles", kHaliteGpuKindDmaBuf, 4096, "the delegate's device is one of OpenGL ES");
    expect_late_refusal("gles", kHaliteGpuKindHostMemory, BYTES - 4, "the buffer ends at byte 116");
    expect_late_refusal("vulkan", kHaliteGpuKindOpaqueFd, 4096, "9999 is no open file descriptor of memory");
    expect_late_refusal("vulkan", kHaliteGpuKindHardwareBuffer, 0, "this system has no AHardwareBuffer");
    start_on("null");
    HaliteGpuBuffer buffer = memory_buffer(kHaliteGpuKindHostMemory, 4096, 0, 0);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &buffer), kTfLiteError); // no size
    stop_own();
}

// An application's device has what the application has enabled: nothing for dma-bufs here.
static void check_not_enabled(const struct application *app)
{
    if (strcmp(app->name, "vulkan") != 0) return;
    start(app, &whole);
    HaliteGpuBuffer buffer = memory_buffer(kHaliteGpuKindDmaBuf, 1, 0, 4096);
    bind_well(A, &buffer);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    bool told = strstr(one.session.messages.text, "VK_EXT_external_memory_dma_buf") ||
                strstr(one.session.messages.text, "vkGetMemoryFdPropertiesKHR"); // descriptor 1 is no dma-buf
    if (!told) print_error("%s\n", one.session.messages.text);
    assert_true(told);
    stop();
}
static void test_not_enabled(void **state)
{
    (void)state;
    with_each(check_not_enabled);
}

int main(void)
{
    choose_libraries();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),     cmocka_unit_test(test_overlap),  cmocka_unit_test(test_host_shared),
        cmocka_unit_test(test_exported), cmocka_unit_test(test_refusals), cmocka_unit_test(test_not_enabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
