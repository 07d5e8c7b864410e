// SPDX-License-Identifier: Apache-2.0
// The GPU delegate on OpenCL when OpenCL fails: between the backend and the driver stand functions that count what is
// alive and what is compiled, and that fail when told to. Whatever call fails, in whatever way: an error and a message,
// the graph on the CPU where the delegate could not be applied, and nothing left alive.
#include "gpu/backend/opencl_api.h"
#include "gpu/driver_session.h"

// ---- standing between the backend and OpenCL ----------------------------------------------------

static struct {
    struct opencl_api real, own;
    struct opencl_library library;
    atomic_int fail_after; // calls from now, 0: never
    cl_int failure;        // what the call says then
    char failed[48];       // its name
    bool card;             // the device says that it is no CPU: then writes are staged
    bool hangs;            // events are never reached
} shared;

static bool fails(const char *function)
{
    int left = shared.fail_after;
    while (left > 0 && !atomic_compare_exchange_weak(&shared.fail_after, &left, left - 1)) continue;
    if (left != 1) return false;
    snprintf(shared.failed, sizeof shared.failed, "%s", function);
    return true;
}

// X(result, name, parameters, arguments): functions whose last parameter takes the error, and which create.
// clang-format off
#define CREATING(X) \
    X(cl_context, clCreateContext, (const cl_context_properties *p, cl_uint n, const cl_device_id *d, \
        void (CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *e), (p, n, d, f, u, e)) \
    X(cl_command_queue, clCreateCommandQueue, (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e), \
        (c, d, p, e)) \
    X(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t s, void *p, cl_int *e), (c, f, s, p, e)) \
    X(cl_mem, clCreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *e), \
        (m, f, t, i, e)) \
    X(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *e), \
        (c, n, t, l, e)) \
    X(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *e), (p, n, e))

// X(name, parameters, arguments): functions that return the error.
#define RETURNING(X) \
    X(clGetProgramInfo, (cl_program p, cl_program_info w, size_t s, void *v, size_t *r), (p, w, s, v, r)) \
    X(clGetKernelWorkGroupInfo, (cl_kernel k, cl_device_id d, cl_kernel_work_group_info w, size_t s, void *v, size_t *r), \
        (k, d, w, s, v, r)) \
    X(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v)) \
    X(clFlush, (cl_command_queue q), (q)) \
    X(clWaitForEvents, (cl_uint n, const cl_event *l), (n, l)) \
    X(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *l, cl_event *e), (q, n, l, e)) \
    X(clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool w, size_t o, size_t s, const void *p, cl_uint n, \
        const cl_event *l, cl_event *e), (q, m, w, o, s, p, n, l, e)) \
    X(clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool w, size_t o, size_t s, void *p, cl_uint n, \
        const cl_event *l, cl_event *e), (q, m, w, o, s, p, n, l, e)) \
    X(clEnqueueNDRangeKernel, (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, \
        const size_t *l, cl_uint n, const cl_event *w, cl_event *e), (q, k, d, o, g, l, n, w, e))

// X(name, type)
#define RELEASING(X) \
    X(clReleaseContext, cl_context) X(clReleaseCommandQueue, cl_command_queue) X(clReleaseMemObject, cl_mem) \
    X(clReleaseProgram, cl_program) X(clReleaseKernel, cl_kernel)
// clang-format on

#define X(result, name, parameters, arguments)              \
    static result CL_API_CALL try_##name parameters         \
    {                                                       \
        if (fails(#name)) return *e = shared.failure, NULL; \
        result object = shared.real.name arguments;         \
        driver.alive += object != NULL;                     \
        return object;                                      \
    }
CREATING(X)
#undef X

#define X(name, parameters, arguments)                                     \
    static cl_int CL_API_CALL try_##name parameters                        \
    {                                                                      \
        return fails(#name) ? shared.failure : shared.real.name arguments; \
    }
RETURNING(X)
#undef X

#define X(name, type)                                 \
    static cl_int CL_API_CALL try_##name(type object) \
    {                                                 \
        driver.alive--;                               \
        return shared.real.name(object);              \
    }
RELEASING(X)
#undef X

static cl_program CL_API_CALL try_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                            const cl_device_id *devices, const size_t *sizes,
                                                            const unsigned char **binaries, cl_int *status,
                                                            cl_int *code)
{
    *code = *status = CL_INVALID_BINARY;
    if (driver.refuses_binaries || fails("clCreateProgramWithBinary")) return NULL;
    cl_program program = shared.real.clCreateProgramWithBinary(context, count, devices, sizes, binaries, status, code);
    driver.alive += program != NULL;
    driver.revived += program != NULL;
    return program;
}

static cl_int CL_API_CALL try_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                             void *data)
{
    driver.compiled++;
    return fails("clBuildProgram") ? shared.failure
                                   : shared.real.clBuildProgram(program, count, devices, options, notify, data);
}

static void *CL_API_CALL try_clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags,
                                                size_t offset, size_t size, cl_uint count, const cl_event *list,
                                                cl_event *event, cl_int *code)
{
    if (fails("clEnqueueMapBuffer")) return *code = shared.failure, NULL;
    return shared.real.clEnqueueMapBuffer(queue, memory, wait, flags, offset, size, count, list, event, code);
}

static cl_int CL_API_CALL try_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *value,
                                              size_t *needed)
{
    cl_int code = shared.real.clGetDeviceInfo(id, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && shared.card && value) *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return code;
}

static cl_int CL_API_CALL try_clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value,
                                             size_t *needed)
{
    cl_int code = shared.real.clGetEventInfo(event, what, size, value, needed);
    if (shared.hangs) *(cl_int *)value = CL_RUNNING;
    return code;
}

const struct opencl_library *__real_gpu_opencl_library(void);
const struct opencl_library *__wrap_gpu_opencl_library(void);
const struct opencl_library *__wrap_gpu_opencl_library(void)
{
    if (shared.library.count > 0 || shared.library.why) return &shared.library;
    shared.library = *__real_gpu_opencl_library();
    if (shared.library.count == 0) return &shared.library;
    shared.real = shared.own = *shared.library.devices[0].cl;
#define NAME(name) shared.own.name = try_##name;
#define X(result, name, parameters, arguments) NAME(name)
    CREATING(X)
#undef X
#define X(name, parameters, arguments) NAME(name)
    RETURNING(X)
#undef X
#define X(name, type) NAME(name)
    RELEASING(X)
#undef X
    NAME(clCreateProgramWithBinary)
    NAME(clBuildProgram)
    NAME(clEnqueueMapBuffer)
    NAME(clGetDeviceInfo)
    NAME(clGetEventInfo)
    shared.library.count = 1;
    shared.library.devices[0].cl = &shared.own;
    return &shared.library;
}

// ---- a whole life -------------------------------------------------------------------------------

static int begin_well(void **state)
{
    shared.fail_after = 0;
    shared.card = shared.hangs = false;
    return make_folder(state);
}

// One call fails, which is the n-th; false where there are fewer.
static bool live_with_failure(const char *folder, int n, bool lost)
{
    TfLiteDelegate *delegate = make_on("opencl", folder);
    struct session session;
    begin(&session, &whole);
    shared.failed[0] = 0;
    shared.fail_after = n;
    TfLiteStatus applied = apply(&session, delegate), invoked = run(&session);
    bool failed = shared.failed[0] != 0;
    shared.fail_after = 0;
    if (applied != kTfLiteOk || invoked != kTfLiteOk) {
        assert_true(failed);
        if (!strstr(session.messages.text, shared.failed))
            print_error("%s: %s\n", shared.failed, session.messages.text);
        assert_non_null(strstr(session.messages.text, shared.failed));
    } else {
        check_output(&session); // a failure that can be done without: staging, binaries
    }
    if (applied != kTfLiteOk) {
        check_on_cpu(&session, applied, invoked);
    } else if (invoked != kTfLiteOk) {
        assert_non_null(strstr(session.messages.text, "TfLiteGpuDelegate Invoke: "));
        TfLiteStatus again = TfLiteInterpreterInvoke(session.interpreter);
        if (lost) assert_non_null(strstr(session.messages.text, "the device is lost: delete the delegate"));
        if (lost) assert_non_null(strstr(session.messages.text, "the device was lost earlier"));
        assert_int_equal(again, lost ? kTfLiteError : kTfLiteOk);
        if (!lost) check_output(&session);
    }
    end_with(&session, delegate);
    return failed;
}

static void fail_every_call(const char *folder, cl_int failure)
{
    int n = 1;
    live_well("opencl", "OpenCL", folder);
    shared.failure = failure;
    while (live_with_failure(folder, n, failure == CL_DEVICE_NOT_AVAILABLE)) assert_in_range(n++, 1, 1000);
    print_message("%d calls\n", n - 1);
    assert_true(n > 30);
    live_well("opencl", "OpenCL", folder); // the process, and what is kept, are as good as before
}

static void test_every_call_loses_a_card(void **state)
{
    (void)state;
    shared.card = true;
    fail_every_call(NULL, CL_DEVICE_NOT_AVAILABLE);
}

static void test_every_call_is_out_of_memory(void **state)
{
    fail_every_call(*state, CL_OUT_OF_RESOURCES);
}

static void test_commands_that_never_end(void **state)
{
    (void)state;
    live_with_hang("opencl", "OpenCL", &shared.hangs);
    shared.card = true; // writes are staged
    live_with_hang("opencl", "OpenCL", &shared.hangs);
}

// Any thread may wait for a fence of the device, which has no messages.
static void test_fences_that_are_never_reached(void **state)
{
    (void)state;
    const struct gpu_backend *backend = &gpu_backend_opencl;
    struct gpu_device *device = backend->open(0, NULL);
    assert_non_null(device);
    backend->set_wait_limit(device, 1000);
    struct gpu_fence *fence = backend->fence_create(device);
    assert_non_null(fence);
    shared.hangs = true;
    assert_false(backend->fence_wait(fence));
    shared.hangs = false;
    while (!backend->fence_wait(fence)) continue;
    backend->fence_destroy(fence);
    backend->close(device);
    assert_int_equal(driver.alive, 0);
}

// ---- kept kernels -------------------------------------------------------------------------------

static void test_second_start_compiles_nothing(void **state)
{
    start_twice("opencl", "OpenCL", *state, true);
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    const char *why = NULL;
    if (gpu_backend_opencl.count(&why) == 0) {
        printf("skipped: no OpenCL device: %s\n", why);
        return 77;
    }
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_well, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_every_call_loses_a_card),       TEST(test_every_call_is_out_of_memory),
        TEST(test_commands_that_never_end),       TEST(test_fences_that_are_never_reached),
        TEST(test_second_start_compiles_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
