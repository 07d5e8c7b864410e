// SPDX-License-Identifier: Apache-2.0
// The GPU delegate on OpenGL ES: when OpenGL ES fails, and among threads that have contexts of their own. Between the
// backend and the driver stand functions that count what is alive and what is compiled, that fail when told to, and
// that deny extensions. Whatever call fails, in whatever way: an error and a message, the graph on the CPU where the
// delegate could not be applied, nothing left alive, and the thread's own context current as before.
#include <pthread.h>

#include "gpu/backend/gles_api.h"
#include "gpu/driver_session.h"

// ---- standing between the backend and OpenGL ES -------------------------------------------------

static struct {
    struct gles_api real, own;
    struct gles_library library;
    int fail_after;   // calls from now, 0: never
    bool lost;        // a call that fails loses the device, else memory is short
    bool plain;       // a driver without extensions
    bool card;        // a driver that does not say that it is software
    bool hangs;       // commands never end
    char failed[48];  // the call's name
    unsigned pending; // what glGetError has to say
    bool egl;         // the call was one of EGL
    void *caller;     // a context of this test: it can always be made current
} shared;

static bool fails(const char *function)
{
    if (shared.fail_after == 0 || --shared.fail_after > 0) return false;
    snprintf(shared.failed, sizeof shared.failed, "%s", function);
    shared.egl = function[0] == 'e';
    if (!shared.egl) shared.pending = shared.lost ? GL_CONTEXT_LOST : GL_OUT_OF_MEMORY;
    return true;
}

static unsigned try_glGetError(void)
{
    unsigned code = shared.pending;
    shared.pending = 0;
    return code ? code : shared.real.glGetError();
}

static int32_t try_eglGetError(void)
{
    bool own = shared.egl;
    shared.egl = false;
    return own ? (shared.lost ? EGL_CONTEXT_LOST : EGL_BAD_ALLOC) : shared.real.eglGetError();
}

// X(name, parameters, arguments): functions that return nothing, and are said to have failed by glGetError.
// clang-format off
#define RETURNING_NOTHING(X) \
    X(glBufferData, (unsigned t, intptr_t n, const void *p, unsigned u), (t, n, p, u)) \
    X(glBufferSubData, (unsigned t, intptr_t o, intptr_t n, const void *p), (t, o, n, p)) \
    X(glDispatchCompute, (unsigned x, unsigned y, unsigned z), (x, y, z))

// X(result, name, parameters, arguments): functions that return 0 where they fail, and else create.
#define CREATING(X) \
    X(void *, eglCreateContext, (void *d, void *c, void *s, const int32_t *w), (d, c, s, w)) \
    X(unsigned, glCreateProgram, (void), ()) \
    X(unsigned, glCreateShader, (unsigned k), (k))

// X(name)
#define RELEASING(X) X(glDeleteProgram) X(glDeleteShader)
// clang-format on

#define X(name, parameters, arguments)                 \
    static void try_##name parameters                  \
    {                                                  \
        if (!fails(#name)) shared.real.name arguments; \
    }
RETURNING_NOTHING(X)
#undef X

#define X(result, name, parameters, arguments)      \
    static result try_##name parameters             \
    {                                               \
        if (fails(#name)) return 0;                 \
        result object = shared.real.name arguments; \
        driver.alive += object != 0;                \
        return object;                              \
    }
CREATING(X)
#undef X

#define X(name)                             \
    static void try_##name(unsigned object) \
    {                                       \
        driver.alive -= object != 0;        \
        shared.real.name(object);           \
    }
RELEASING(X)
#undef X

static unsigned try_eglDestroyContext(void *display, void *context)
{
    driver.alive--;
    return shared.real.eglDestroyContext(display, context);
}

static void try_glGenBuffers(int32_t count, unsigned *buffers)
{
    driver.alive += count;
    shared.real.glGenBuffers(count, buffers);
}

static void try_glDeleteBuffers(int32_t count, const unsigned *buffers)
{
    driver.alive -= count;
    shared.real.glDeleteBuffers(count, buffers);
}

static unsigned try_eglMakeCurrent(void *display, void *draw, void *read, void *context)
{
    if (context && context != shared.caller && fails("eglMakeCurrent")) return 0;
    return shared.real.eglMakeCurrent(display, draw, read, context);
}

static void *try_glFenceSync(unsigned condition, unsigned flags)
{
    return fails("glFenceSync") ? NULL : shared.real.glFenceSync(condition, flags);
}

static unsigned try_glClientWaitSync(void *sync, unsigned flags, uint64_t nanoseconds)
{
    enum { WAIT_FAILED = 0x911D };
    if (shared.hangs) return GL_TIMEOUT_EXPIRED;
    return fails("glClientWaitSync") ? WAIT_FAILED : shared.real.glClientWaitSync(sync, flags, nanoseconds);
}

static void *try_glMapBufferRange(unsigned target, intptr_t offset, intptr_t bytes, unsigned access)
{
    return fails("glMapBufferRange") ? NULL : shared.real.glMapBufferRange(target, offset, bytes, access);
}

static void try_glCompileShader(unsigned shader)
{
    driver.compiled++;
    if (!fails("glCompileShader")) shared.real.glCompileShader(shader);
}

static void try_glLinkProgram(unsigned program)
{
    if (!fails("glLinkProgram")) shared.real.glLinkProgram(program);
}

static void try_glProgramBinary(unsigned program, unsigned format, const void *bytes, int32_t size)
{
    if (driver.refuses_binaries) format = 0; // which no driver knows
    if (fails("glProgramBinary")) return;
    shared.real.glProgramBinary(program, format, bytes, size);
    driver.revived += !driver.refuses_binaries;
}

static const unsigned char *try_glGetString(unsigned name)
{
    if (name == GL_EXTENSIONS && shared.plain) return (const unsigned char *)"GL_OES_nothing";
    if (name == GL_RENDERER && shared.card) return (const unsigned char *)"A card";
    return shared.real.glGetString(name);
}

const struct gles_library *__real_gpu_gles_library(void);
const struct gles_library *__wrap_gpu_gles_library(void);
const struct gles_library *__wrap_gpu_gles_library(void)
{
    if (shared.library.count > 0 || shared.library.why) return &shared.library;
    shared.library = *__real_gpu_gles_library();
    if (shared.library.count == 0) return &shared.library;
    shared.real = shared.own = *shared.library.devices[0].gl;
#define NAME(name) shared.own.name = try_##name;
#define X(name, parameters, arguments) NAME(name)
    RETURNING_NOTHING(X)
#undef X
#define X(name) NAME(name)
    RELEASING(X)
#undef X
#define X(result, name, parameters, arguments) NAME(name)
    CREATING(X)
#undef X
    NAME(eglGetError)
    NAME(eglDestroyContext)
    NAME(eglMakeCurrent)
    NAME(glGetError)
    NAME(glGetString)
    NAME(glGenBuffers)
    NAME(glDeleteBuffers)
    NAME(glFenceSync)
    NAME(glClientWaitSync)
    NAME(glMapBufferRange)
    NAME(glCompileShader)
    NAME(glLinkProgram)
    NAME(glProgramBinary)
    shared.library.count = 1;
    shared.library.devices[0].gl = &shared.own;
    return &shared.library;
}

// ---- a whole life -------------------------------------------------------------------------------

static int begin_well(void **state)
{
    shared.fail_after = 0;
    shared.pending = 0;
    shared.lost = shared.plain = shared.card = shared.egl = shared.hangs = false;
    return make_folder(state);
}

// One call fails, which is the n-th; false where there are fewer.
static bool live_with_failure(const char *folder, int n)
{
    TfLiteDelegate *delegate = make_on("gles", folder);
    struct session session;
    begin(&session, &whole);
    shared.failed[0] = '\0';
    shared.fail_after = n;
    TfLiteStatus applied = apply(&session, delegate), invoked = run(&session);
    bool failed = shared.failed[0] != '\0';
    shared.fail_after = 0;
    const char *said = session.messages.text;
    if (applied != kTfLiteOk || invoked != kTfLiteOk) {
        assert_true(failed);
    }
    // While devices are looked for, one that fails is passed over.
    if (strstr(said, "its device does not say what it is")) {
        assert_int_not_equal(applied, kTfLiteOk);
    } else if (applied != kTfLiteOk || invoked != kTfLiteOk) {
        if (!strstr(said, shared.failed)) print_error("%s: %s\n", shared.failed, said);
        assert_non_null(strstr(said, shared.failed));
        assert_non_null(strstr(said, shared.lost               ? "the device is lost: delete the delegate"
                                     : shared.failed[0] == 'e' ? "EGL_BAD_ALLOC"
                                                               : "GL_OUT_OF_MEMORY"));
    } else {
        check_output(&session); // a failure that can be done without: of a binary, or in clearing away
    }
    if (applied != kTfLiteOk) {
        check_on_cpu(&session, applied, invoked);
    } else if (invoked != kTfLiteOk) {
        assert_non_null(strstr(said, "TfLiteGpuDelegate Invoke: "));
        assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), shared.lost ? kTfLiteError : kTfLiteOk);
        if (shared.lost)
            assert_non_null(strstr(said, "the device was lost earlier"));
        else
            check_output(&session);
    }
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    return failed;
}

static void fail_every_call(const char *folder, bool lost)
{
    int n = 1;
    live_well("gles", "OpenGL ES", folder);
    for (shared.lost = lost; live_with_failure(folder, n); n++) {
        assert_in_range(n, 1, 1000);
        if (!lost) assert_int_equal(driver.alive, 0);
        driver.alive = 0; // what a lost context had is gone with it
    }
    print_message("%d calls\n", n - 1);
    assert_true(n > 28);
    live_well("gles", "OpenGL ES", folder); // the process, and what is kept, are as good as before
}

static void test_every_call_loses_the_device(void **state)
{
    (void)state;
    fail_every_call(NULL, true);
}

static void test_every_call_is_out_of_memory(void **state)
{
    fail_every_call(*state, false);
}

// No reset status, no words about errors, no clock.
static void test_every_call_fails_on_a_plain_driver(void **state)
{
    (void)state;
    shared.plain = true;
    fail_every_call(NULL, false);
}

static void test_commands_that_never_end(void **state)
{
    (void)state;
    live_with_hang("gles", "OpenGL ES", &shared.hangs);
}

// ---- kept kernels -------------------------------------------------------------------------------

static void test_second_start_compiles_nothing(void **state)
{
    start_twice("gles", "OpenGL ES", *state, false);
}

// ---- contexts of the application ----------------------------------------------------------------

// A thread with a context of its own keeps it through every call, wherever a call fails.
static void test_own_context_stays(void **state)
{
    const struct gles_found *found = &gpu_gles_library()->devices[0];
    struct gles_context own;
    unsigned buffer = 0;
    assert_null(gpu_gles_context_create(found, &own));
    assert_true(shared.real.eglMakeCurrent(found->display, own.surface, own.surface, own.context));
    shared.caller = own.context;
    shared.real.glGenBuffers(1, &buffer);
    shared.real.glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
    shared.real.glBufferData(GL_COPY_WRITE_BUFFER, 4, "own", GL_STATIC_DRAW);
    int alive = driver.alive;
    driver.alive = 0;
    live_well("gles", "OpenGL ES", *state);
    int n = 1;
    while (live_with_failure(*state, n)) {
        assert_ptr_equal(shared.real.eglGetCurrentContext(), own.context);
        assert_in_range(n++, 1, 1000);
    }
    const char *bytes = shared.real.glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, 4, GL_MAP_READ_BIT);
    assert_non_null(bytes);
    assert_string_equal(bytes, "own");
    assert_true(shared.real.glUnmapBuffer(GL_COPY_WRITE_BUFFER));
    assert_true(shared.real.eglMakeCurrent(found->display, NULL, NULL, NULL));
    shared.caller = NULL;
    driver.alive = alive;
    gpu_gles_context_destroy(found, &own);
    assert_int_equal(driver.alive, 0);
}

static void *invoke(void *data)
{
    struct session *session = data;
    return run(session) == kTfLiteOk && !shared.real.eglGetCurrentContext() ? session : NULL;
}

// A thread that ends leaves nothing current that the next would miss.
static void test_interpreters_move(void **state)
{
    (void)state;
    TfLiteDelegate *delegate = make_on("gles", NULL);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, invoke, &session), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, &session);
        check_output(&session);
    }
    end_with(&session, delegate);
}

// ---- what a driver says of itself ---------------------------------------------------------------

// A driver that says it is no software is taken by auto, where nothing else is, and by GL_ONLY; else neither takes it.
static void test_software_is_named(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        shared.card = card;
        TfLiteGpuDelegateOptionsV2 options = TfLiteGpuDelegateOptionsV2Default();
        options.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY;
        TfLiteDelegate *delegate = TfLiteGpuDelegateV2Create(&options);
        struct session session;
        begin(&session, &whole);
        assert_int_equal(apply(&session, delegate), card ? kTfLiteOk : kTfLiteDelegateError);
        if (!card) assert_non_null(strstr(session.messages.text, "the options demand the backend gles"));
        assert_int_equal(run(&session), kTfLiteOk);
        assert_int_equal(delegated_nodes(&session), card ? 3 : 0);
        check_output(&session);
        end(&session);
        TfLiteGpuDelegateV2Delete(delegate);
    }
    assert_int_equal(driver.alive, 0);
}

// With the device's clock and without: a driver that is no software has one here.
static void test_clocks(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        shared.card = card;
        TfLiteDelegate *delegate = make_on("gles", NULL);
        assert_int_equal(HaliteDelegateSetProfiling(delegate, true, NULL), kTfLiteOk);
        struct session session;
        begin(&session, &whole);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        assert_int_equal(run(&session), kTfLiteOk);
        check_output(&session);
        assert_null(strstr(session.messages.text, "OpenGL ES on"));
        end_with(&session, delegate);
    }
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    const char *why = NULL;
    if (gpu_backend_gles.count(&why) == 0) {
        printf("skipped: no OpenGL ES device: %s\n", why);
        return 77;
    }
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_well, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_every_call_loses_the_device),
        TEST(test_every_call_is_out_of_memory),
        TEST(test_every_call_fails_on_a_plain_driver),
        TEST(test_commands_that_never_end),
        TEST(test_second_start_compiles_nothing),
        TEST(test_own_context_stays),
        TEST(test_interpreters_move),
        TEST(test_software_is_named),
        TEST(test_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
