// SPDX-License-Identifier: Apache-2.0
// The interface for Metal (TFLGpuDelegate...) and the backend behind it, before the fake in tests/fakes/metal: the four
// ways to wait, buffers and a command buffer of the application, private memory, an old system, a lost device, and
// every call failing once. After each test no object may be left, and no rule of Metal broken. The fake's own eyes are
// tested as well: rules are broken, and it has to complain.
#include <stdlib.h>

#include "base/clock.h"
#include "base/half.h"
#include "base/library.h"
#include "gpu/application/application.h"
#include "gpu/backend/metal_api.h"
#include "gpu/delegate_session.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate_internal.h"

// ---- the fake -------------------------------------------------------------------------------------------------------

static struct {
    void (*reset)(void);
    void (*set)(const char *knob, long long value);
    long long (*get)(const char *knob);
    long long (*live)(void);
    const char *(*complaint)(void);
} fake;

static bool open_fake(const char *path)
{
    struct hl_library *library = path ? hl_library_open(path) : NULL;
    if (!library) return false;
#define FIND(name) hl_library_find(library, "fakeMetal_" #name, &fake.name, sizeof fake.name)
    return FIND(reset) && FIND(set) && FIND(get) && FIND(live) && FIND(complaint);
#undef FIND
}

static int start_anew(void **state)
{
    (void)state;
    fake.reset();
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    long long live = fake.live(), complaints = fake.get("complaints");
    if (live || complaints) print_error("%lld objects live; complaint: %s\n", live, fake.complaint());
    return live || complaints;
}

// ---- a session -----------------------------------------------------------------------------------------------------

struct bench {
    struct session session;
    TfLiteDelegate *delegate;
};

static TfLiteDelegate *make_delegate(TFLGpuDelegateWaitType wait, bool loses_precision)
{
    TFLGpuDelegateOptions options = TFLGpuDelegateOptionsDefault();
    options.wait_type = wait;
    options.allow_precision_loss = loses_precision;
    return TFLGpuDelegateCreate(&options);
}

static void start(struct bench *bench, TFLGpuDelegateWaitType wait, bool loses_precision)
{
    bench->delegate = make_delegate(wait, loses_precision);
    assert_non_null(bench->delegate);
    begin(&bench->session, &whole);
    TfLiteStatus status = apply(&bench->session, bench->delegate);
    if (status != kTfLiteOk) print_error("%s\n", bench->session.messages.text);
    assert_int_equal(status, kTfLiteOk);
    assert_int_equal(delegated_nodes(&bench->session), 3);
}

static void stop(struct bench *bench)
{
    end(&bench->session);
    TFLGpuDelegateDelete(bench->delegate);
}

static void run_from_host(struct bench *bench)
{
    set_input(&bench->session);
    assert_int_equal(TfLiteInterpreterInvoke(bench->session.interpreter), kTfLiteOk);
    check_output(&bench->session);
}

// ---- waiting -------------------------------------------------------------------------------------------------------

static void passive_sleeps(void **state)
{
    (void)state;
    struct bench bench;
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    run_from_host(&bench);
    run_from_host(&bench);
    assert_true(fake.get("waits") > 0);
    assert_int_equal(fake.get("polls"), 0);
    assert_int_equal(fake.get("fast_math"), 0);
    stop(&bench);
}

static void active_asks(void **state)
{
    (void)state;
    struct bench bench;
    start(&bench, TFLGpuDelegateWaitTypeActive, false);
    run_from_host(&bench);
    assert_int_equal(fake.get("waits"), 0);
    assert_true(fake.get("polls") > 0);
    stop(&bench);
}

// clang-format off
static const struct gpu_kernel add_one = {
    .name = "add_one",
    .group = {8, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, read_x(p) + splat4(to_real(1.0f)));
    ),
};
// clang-format on

enum { STEPS = 19, VALUE_BYTES = 256 };

// A list that adds one to four floats STEPS times, back and forth between the two halves of a buffer.
static struct gpu_list *make_chain(struct gpu_device *device, struct gpu_program *program, struct gpu_buffer *buffer)
{
    const struct gpu_backend *metal = &gpu_backend_metal;
    struct gpu_list *list = metal->list_create(device);
    assert_non_null(list);
    for (int i = 0; i < STEPS; i++) {
        struct gpu_dispatch dispatch = {
            .program = program,
            .buffer_count = 2,
            .buffers = {buffer, buffer},
            .offsets = {(size_t)(i % 2) * VALUE_BYTES, (size_t)(1 - i % 2) * VALUE_BYTES},
            .sizes = {16, 16},
            .writes = {false, true},
            .params = {{1, 1, 4, 1}, {1, 1, 4, 1}},
            .param_count = gpu_kernel_param_count(&add_one),
            .groups = {1, 1, 1},
        };
        assert_true(metal->list_dispatch(list, &dispatch) && metal->list_barrier(list));
    }
    assert_true(metal->list_finish(list));
    return list;
}

static void commits_of_a_run(enum gpu_wait wait, long long wanted)
{
    const struct gpu_backend *metal = &gpu_backend_metal;
    const struct gpu_program_desc desc = {.kernel = &add_one, .group = {8, 1, 1}};
    struct gpu_program *program;
    float values[4] = {1, 2, 3, 4}, later[4] = {50, 60, 70, 80};
    struct gpu_device *device = metal->open(0, NULL);
    assert_true(device && metal->set_wait(device, wait));
    assert_true(metal->programs_create(device, &desc, 1, &program));
    struct gpu_buffer *buffer = metal->buffer_create(device, 2 * VALUE_BYTES);
    struct gpu_list *list = make_chain(device, program, buffer);
    assert_true(metal->buffer_write(device, buffer, 0, values, sizeof values));
    long long before = fake.get("commits");
    assert_true(metal->list_run(list));
    assert_int_equal(fake.get("commits") - before, wanted);
    // What is written while the run is in flight is for the next one.
    assert_true(metal->buffer_write(device, buffer, 0, later, sizeof later));
    assert_true(metal->buffer_read(device, buffer, VALUE_BYTES, values, sizeof values));
    for (int i = 0; i < 4; i++) assert_true(values[i] == (float)(i + 1 + STEPS));
    assert_true(metal->buffer_read(device, buffer, 0, values, sizeof values));
    assert_memory_equal(values, later, sizeof values);
    metal->list_destroy(list);
    metal->buffer_destroy(device, buffer);
    metal->program_destroy(device, program);
    metal->close(device);
}

static void who_spins_commits_early(void **state)
{
    (void)state;
    commits_of_a_run(GPU_WAIT_SLEEP, 1);
    commits_of_a_run(GPU_WAIT_NONE, 1);
    commits_of_a_run(GPU_WAIT_SPIN, 3);
}

// Who polls gives up after a while, and everything can be deleted.
static void who_spins_gives_up(void **state)
{
    (void)state;
    const struct gpu_backend *metal = &gpu_backend_metal;
    const struct gpu_program_desc desc = {.kernel = &add_one, .group = {8, 1, 1}};
    struct gpu_program *program;
    struct gpu_device *device = metal->open(0, NULL);
    assert_true(device && metal->set_wait(device, GPU_WAIT_SPIN) && metal->programs_create(device, &desc, 1, &program));
    struct gpu_buffer *buffer = metal->buffer_create(device, 2 * VALUE_BYTES);
    struct gpu_list *list = make_chain(device, program, buffer);
    metal->set_wait_limit(device, 1000);
    assert_true(metal->list_run(list));
    fake.set("hangs", 1);
    assert_false(metal->list_wait(list));
    assert_false(metal->list_run(list));
    metal->list_destroy(list);
    metal->buffer_destroy(device, buffer);
    metal->program_destroy(device, program);
    metal->close(device);
}

static void aggressive_keeps_the_gpu_awake(void **state)
{
    (void)state;
    struct bench bench;
    start(&bench, TFLGpuDelegateWaitTypeAggressive, false);
    run_from_host(&bench);
    assert_int_equal(fake.get("waits"), 0);
    long long before = fake.get("commits");
    for (int i = 0; i < 1000 && fake.get("commits") < before + 3; i++) hl_sleep(0.01);
    assert_true(fake.get("commits") >= before + 3); // though nobody runs anything
    run_from_host(&bench);
    stop(&bench);
}

// ---- buffers of the application ------------------------------------------------------------------------------------

enum { VALUE_C = 5, VALUE_W = 3, VALUE_H = 2, SLICED = VALUE_H * VALUE_W * 8, PLACES = VALUE_H * VALUE_W };

// Where element i of the tensor lies in slices of four channels.
static int position_of(int i)
{
    int c = i % VALUE_C;
    return (c / 4 * PLACES + i / VALUE_C) * 4 + c % 4;
}

struct shared {
    HaliteGpuContext context;
    uint64_t x, y;
};

static void *object(uint64_t handle)
{
    return (void *)(uintptr_t)handle;
}

static void start_application(struct shared *shared)
{
    assert_true(application_metal.begin(&shared->context));
    shared->x = application_metal.create(SLICED * sizeof(float));
    shared->y = application_metal.create(SLICED * sizeof(float));
}

static void stop_application(const struct shared *shared)
{
    application_metal.destroy(shared->x);
    application_metal.destroy(shared->y);
    application_metal.end();
}

static void write_input(uint64_t buffer, bool halves)
{
    float values[SLICED] = {0};
    uint16_t small[SLICED];
    for (int i = 0; i < ELEMENTS; i++) values[position_of(i)] = input_value(i);
    for (int i = 0; i < SLICED; i++) small[i] = hl_half_from_float(values[i]);
    application_metal.write(buffer, 0, halves ? (const void *)small : values, halves ? sizeof small : sizeof values);
}

static void check_result(uint64_t buffer, bool halves)
{
    float values[SLICED];
    uint16_t small[SLICED];
    application_metal.read(buffer, 0, halves ? (void *)small : values, halves ? sizeof small : sizeof values);
    for (int i = 0; i < ELEMENTS; i++) {
        float value = halves ? hl_half_to_float(small[position_of(i)]) : values[position_of(i)];
        assert_float_equal(value, expected_value(i), halves ? 1e-2f : 1e-5f);
    }
}

static void bind_both(const struct bench *bench, const struct shared *shared)
{
    assert_true(TFLGpuDelegateBindMetalBufferToTensor(bench->delegate, A, object(shared->x)));
    assert_true(TFLGpuDelegateBindMetalBufferToTensor(bench->delegate, P, object(shared->y)));
}

static void check_bound(bool halves)
{
    struct bench bench;
    struct shared shared;
    start_application(&shared);
    start(&bench, TFLGpuDelegateWaitTypePassive, halves);
    if (!halves) run_from_host(&bench);
    uint64_t copied = HaliteDelegateGetCopiedBytes(bench.delegate);
    bind_both(&bench, &shared);
    write_input(shared.x, halves);
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteOk);
    check_result(shared.y, halves);
    assert_int_equal(HaliteDelegateGetCopiedBytes(bench.delegate), copied);
    stop(&bench);
    stop_application(&shared);
}

static void buffers_are_bound_after_the_delegate_is_applied(void **state)
{
    (void)state;
    check_bound(false);
    check_bound(true);
}

static void buffers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct shared shared;
    start_application(&shared);
    uint64_t small = application_metal.create(SLICED * sizeof(float) - 4);
    bench.delegate = make_delegate(TFLGpuDelegateWaitTypePassive, false);
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, A, object(shared.x))); // too early
    assert_false(TFLGpuDelegateSetCommandBuffer(bench.delegate, object(shared.x)));
    TFLGpuDelegateDelete(bench.delegate);
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, A, NULL));
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, A, object(small)));
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, S, object(shared.x)));
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, 77, object(shared.x)));
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(NULL, A, object(shared.x)));
    run_from_host(&bench);
    stop(&bench);
    // On a device of another API there is nothing to bind to.
    setenv("HALITE_DEVICE", "null", 1);
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    setenv("HALITE_DEVICE", "metal", 1);
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(bench.delegate, A, object(shared.x)));
    assert_false(TFLGpuDelegateSetCommandBuffer(bench.delegate, NULL));
    stop(&bench);
    application_metal.destroy(small);
    stop_application(&shared);
}

static void do_not_wait_returns_before_the_device_is_done(void **state)
{
    (void)state;
    struct bench bench;
    struct shared shared;
    start_application(&shared);
    start(&bench, TFLGpuDelegateWaitTypeDoNotWait, false);
    run_from_host(&bench); // outputs that go to the host are waited for all the same
    bind_both(&bench, &shared);
    write_input(shared.x, false);
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteOk);
    assert_true(fake.get("runs") < fake.get("commits"));
    check_result(shared.y, false);
    assert_int_equal(fake.get("runs"), fake.get("commits"));
    stop(&bench);
    stop_application(&shared);
}

// ---- a command buffer of the application ---------------------------------------------------------------------------

static void the_application_commits(void **state)
{
    (void)state;
    const struct metal_api *mtl = &gpu_metal_library()->api;
    struct bench bench;
    struct shared shared;
    start_application(&shared);
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    void *pool = mtl->objc.push();
    void *commands = METAL_TELL0(mtl, void *, shared.context.mtl_command_queue, commands);
    // Without bound outputs there is nobody who could copy them.
    set_input(&bench.session);
    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, commands));
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
    assert_non_null(strstr(bench.session.messages.text, "not all output buffers are bound"));
    run_from_host(&bench); // it counts for one Invoke

    bind_both(&bench, &shared);
    write_input(shared.x, false);
    float zeros[SLICED] = {0};
    application_metal.write(shared.y, 0, zeros, sizeof zeros);
    long long commits = fake.get("commits"), runs = fake.get("runs");
    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, commands));
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteOk);
    assert_int_equal(fake.get("commits"), commits);
    METAL_TELL0(mtl, void, commands, commit);
    METAL_TELL0(mtl, void, commands, wait);
    assert_int_equal(fake.get("runs"), runs + 1);
    check_result(shared.y, false);

    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, commands));
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
    assert_non_null(strstr(bench.session.messages.text, "has committed its command buffer already"));
    // One that is set and never used goes with the delegate, or when it is taken back.
    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, commands));
    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, NULL));
    assert_true(TFLGpuDelegateSetCommandBuffer(bench.delegate, commands));
    stop(&bench);
    mtl->objc.pop(pool);
    stop_application(&shared);
}

// ---- other machines ------------------------------------------------------------------------------------------------

static void private_memory_is_copied_by_the_device(void **state)
{
    (void)state;
    struct bench bench;
    fake.set("unified", 0);
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    run_from_host(&bench);
    run_from_host(&bench);
    stop(&bench);
    check_bound(false);
}

static void old_systems_lack_methods(void **state)
{
    (void)state;
    struct bench bench;
    fake.set("is_old", 1);
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    run_from_host(&bench);
    assert_int_equal(HaliteDelegateSetProfiling(bench.delegate, true, NULL), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
    assert_non_null(strstr(bench.session.messages.text, "no clock for kernels"));
    stop(&bench);
}

static void kernels_are_timed(void **state)
{
    (void)state;
    struct bench bench;
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    assert_int_equal(HaliteDelegateSetProfiling(bench.delegate, true, NULL), kTfLiteOk);
    run_from_host(&bench);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(bench.delegate);
    assert_true(HaliteDelegateReportGetKernelCount(report) > 0);
    assert_true(HaliteDelegateReportGetKernel(report, 0)->nanoseconds > 0);
    HaliteDelegateReportDelete(report);
    stop(&bench);
}

// ---- failures ------------------------------------------------------------------------------------------------------

static void a_lost_device_says_so(void **state)
{
    (void)state;
    struct bench bench;
    start(&bench, TFLGpuDelegateWaitTypePassive, false);
    run_from_host(&bench);
    fake.set("fail_code", METAL_ERROR_DEVICE_REMOVED);
    fake.set("fail_at", fake.get("calls") + 3); // the commit of the next run
    set_input(&bench.session);
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
    assert_non_null(strstr(bench.session.messages.text, "told to fail"));
    assert_non_null(strstr(bench.session.messages.text, "the device is lost"));
    assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
    assert_non_null(strstr(bench.session.messages.text, "lost earlier"));
    stop(&bench);
}

// A run that took too long is ended by the system, and the device goes on. The aggressive type waits as the active one
// does, but a thread of its own makes calls meanwhile, so that nobody could say which one is the commit.
static void a_run_that_is_ended_says_so(void **state)
{
    (void)state;
    static const TFLGpuDelegateWaitType waits[] = {TFLGpuDelegateWaitTypePassive, TFLGpuDelegateWaitTypeActive};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct bench bench;
        start(&bench, waits[i], false);
        run_from_host(&bench);
        fake.set("fail_code", METAL_ERROR_TIMEOUT);
        fake.set("fail_at", fake.get("calls") + 3); // the commit of the next run
        set_input(&bench.session);
        assert_int_equal(TfLiteInterpreterInvoke(bench.session.interpreter), kTfLiteError);
        assert_non_null(strstr(bench.session.messages.text, "took too long"));
        assert_null(strstr(bench.session.messages.text, "the device is lost"));
        run_from_host(&bench);
        stop(&bench);
        fake.reset();
    }
}

// All that a delegate does, with one call failing. False where something failed; leaves nothing behind either way.
static bool whole_life(TFLGpuDelegateWaitType wait, struct messages *messages)
{
    struct bench bench = {.delegate = make_delegate(wait, false)};
    begin(&bench.session, &whole);
    bool ok = apply(&bench.session, bench.delegate) == kTfLiteOk;
    set_input(&bench.session);
    TfLiteStatus status = TfLiteInterpreterInvoke(bench.session.interpreter);
    if (ok || status == kTfLiteOk) ok = ok && status == kTfLiteOk;
    if (status == kTfLiteOk) check_output(&bench.session); // on the CPU where the delegate could not be applied
    *messages = bench.session.messages;
    stop(&bench);
    return ok;
}

static void check_failures(TFLGpuDelegateWaitType wait)
{
    static struct messages messages;
    int n = 1;
    for (bool ok = false; !ok; n++) {
        fake.reset();
        fake.set("fail_at", n);
        ok = whole_life(wait, &messages);
        if (fake.live() || fake.get("complaints"))
            fail_msg("call %d: %lld objects live; complaint: %s", n, fake.live(), fake.complaint());
        if (ok == (messages.length > 0)) fail_msg("call %d: messages: %s", n, messages.text);
        if (!ok && !strstr(messages.text, "Metal")) fail_msg("call %d: %s", n, messages.text);
        assert_true(n < 200);
    }
    assert_true(n > 10);
}

static void every_call_fails_once(void **state)
{
    (void)state;
    check_failures(TFLGpuDelegateWaitTypePassive);
    check_failures(TFLGpuDelegateWaitTypeActive);
}

static void every_call_fails_once_with_private_memory(void **state)
{
    (void)state;
    setenv("FAKE_METAL", "unified=0", 1);
    check_failures(TFLGpuDelegateWaitTypePassive);
    unsetenv("FAKE_METAL");
}

// ---- the fake itself -----------------------------------------------------------------------------------------------

// Expects that it has complained of this, and forgives it.
static void complained(const char *words)
{
    if (fake.get("complaints") == 0 || !strstr(fake.complaint(), words))
        fail_msg("wanted: %s; complaint: %s", words, fake.complaint());
    fake.set("complaints", 0);
}

static void the_fake_sees_what_is_wrong(void **state)
{
    (void)state;
    const struct metal_api *mtl = &gpu_metal_library()->api;
    struct shared shared;
    start_application(&shared);
    void *queue = shared.context.mtl_command_queue, *pool = mtl->objc.push();
    void *commands = METAL_TELL0(mtl, void *, queue, commands);
    METAL_TELL0(mtl, void, commands, wait);
    complained("waitUntilCompleted before commit");
    void *encoder = METAL_TELL(mtl, void *, commands, encoder_of_type, (unsigned long), METAL_DISPATCH_CONCURRENT);
    METAL_TELL(mtl, void, encoder, dispatch, (struct metal_size, struct metal_size), ((struct metal_size){1, 1, 1}),
               ((struct metal_size){1, 1, 1}));
    complained("a dispatch without a pipeline");
    METAL_TELL0(mtl, void, commands, commit);
    complained("commit before endEncoding");
    METAL_TELL0(mtl, void, commands, commit);
    complained("committed twice");
    METAL_TELL0(mtl, void, encoder, end);
    complained("an encoder that has ended");
    METAL_TELL0(mtl, void *, commands, copier);
    complained("a command buffer that is committed");
    METAL_TELL0(mtl, void *, commands, contents);
    complained("MTLCommandBuffer does not know contents");
    METAL_TELL0(mtl, void, queue, retain);
    METAL_TELL0(mtl, void, queue, release);
    mtl->objc.pop(pool);
    complained("an encoder is gone before endEncoding");
    METAL_TELL0(mtl, void *, queue, commands);
    complained("has no pool");
    void *lost = METAL_TELL0(mtl, void *, shared.context.mtl_device, new_queue);
    METAL_TELL0(mtl, void, lost, release);
    METAL_TELL0(mtl, void, lost, release);
    complained("MTLCommandQueue is gone and was sent release");
    assert_int_equal(fake.live() > 0, true); // the command buffer without a pool, for one
    stop_application(&shared);
}

// The last test: what it leaks stays.
static int something_is_left(void **state)
{
    (void)state;
    return fake.live() == 0 || fake.get("complaints");
}

int main(void)
{
#if defined(FAKE_METAL)
    setenv("HALITE_METAL_LIBRARY", FAKE_METAL, 1);
#endif
    setenv("HALITE_DEVICE", "metal", 1);
    if (!open_fake(getenv("HALITE_METAL_LIBRARY"))) {
        print_message("no fake Metal: it needs a C++ compiler, and a processor whose objc_msgSend the fake has\n");
        return 77;
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_anew, nothing_is_left)
    const struct CMUnitTest tests[] = {
        TEST(passive_sleeps),
        TEST(active_asks),
        TEST(who_spins_commits_early),
        TEST(who_spins_gives_up),
        TEST(aggressive_keeps_the_gpu_awake),
        TEST(buffers_are_bound_after_the_delegate_is_applied),
        TEST(buffers_that_do_not_fit_are_refused),
        TEST(do_not_wait_returns_before_the_device_is_done),
        TEST(the_application_commits),
        TEST(private_memory_is_copied_by_the_device),
        TEST(old_systems_lack_methods),
        TEST(kernels_are_timed),
        TEST(a_lost_device_says_so),
        TEST(a_run_that_is_ended_says_so),
        TEST(every_call_fails_once),
        TEST(every_call_fails_once_with_private_memory),
        cmocka_unit_test_setup_teardown(the_fake_sees_what_is_wrong, start_anew, something_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
