// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs through the C API, on a delegate that computes output = 3 * input on a thread of its own: the order
// of calls and what each wrong order says, tasks in flight, fences in and out, and graphs that change under a runner.
#include "client.h"

#include <pthread.h>
#include <unistd.h>

#include "async_delegate.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/interop/c/constants.h"

#define IN kTfLiteIoTypeInput
#define OUT kTfLiteIoTypeOutput

// ---- helpers ------------------------------------------------------------------------------------

struct fixture {
    struct client c;
    struct async_delegate delegate;
    struct TfLiteAsyncSignatureRunner *runner;
};

static void load(struct fixture *f)
{
    client_load(&f->c, &triple);
    TfLiteInterpreterOptionsAddDelegate(f->c.options, (TfLiteOpaqueDelegate *)async_delegate_begin(&f->delegate));
    client_create(&f->c);
}

static void begin(struct fixture *f)
{
    load(f);
    f->runner = TfLiteInterpreterGetAsyncSignatureRunner(f->c.interpreter, NULL);
    if (!f->runner) fail_msg("%s", f->c.log.text);
}

static void end(struct fixture *f)
{
    TfLiteAsyncSignatureRunnerDelete(f->runner);
    client_end(&f->c);
    async_delegate_end(&f->delegate);
}

// Runs of several threads use what follows, and cmocka's assertions are for the thread that runs the test: these
// functions return false where a call failed, and what the main thread alone calls asserts.

static TfLiteBufferHandle add_buffer(struct TfLiteAsyncSignatureRunner *runner, TfLiteIoType io_type, float *memory)
{
    TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
    TfLiteBackendBuffer *buffer = TfLiteBackendBufferCreate();
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteBackendBufferSetPtr(buffer, memory);
    TfLiteAttributeMapSetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, TEST_MEMORY);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, 8 * sizeof *memory);
    TfLiteAsyncSignatureRunnerRegisterBuffer(runner, io_type, buffer, attrs, &handle);
    TfLiteAttributeMapDelete(attrs); // lent for the call, both
    TfLiteBackendBufferDelete(buffer);
    return handle;
}

struct run {
    float x[8], y[8];
    TfLiteBufferHandle in, out;
    TfLiteExecutionTask *task;
};

static void fill(struct run *run, float first)
{
    for (int i = 0; i < 8; i++) {
        run->x[i] = first + (float)i;
        run->y[i] = 0;
    }
}

static bool is_tripled(const struct run *run, int length)
{
    for (int i = 0; i < length; i++)
        if (run->y[i] != 3 * run->x[i]) return false;
    return true;
}

static bool try_begin_run(struct run *run, struct TfLiteAsyncSignatureRunner *runner)
{
    run->in = add_buffer(runner, IN, run->x);
    run->out = add_buffer(runner, OUT, run->y);
    run->task = TfLiteAsyncSignatureRunnerCreateTask(runner);
    return run->task && TfLiteExecutionTaskSetBuffer(run->task, IN, "input", run->in) == kTfLiteOk &&
           TfLiteExecutionTaskSetBuffer(run->task, OUT, "output", run->out) == kTfLiteOk;
}

static bool try_end_run(const struct run *run, struct TfLiteAsyncSignatureRunner *runner)
{
    return TfLiteAsyncSignatureRunnerFinish(runner, run->task) == kTfLiteOk &&
           TfLiteAsyncSignatureRunnerUnregisterBuffer(runner, run->in) == kTfLiteOk &&
           TfLiteAsyncSignatureRunnerUnregisterBuffer(runner, run->out) == kTfLiteOk;
}

static void begin_run(struct run *run, struct TfLiteAsyncSignatureRunner *runner)
{
    assert_true(try_begin_run(run, runner));
}

static void end_run(const struct run *run, struct TfLiteAsyncSignatureRunner *runner)
{
    assert_true(try_end_run(run, runner));
}

static void check(const struct run *run, int length)
{
    assert_true(is_tripled(run, length));
}

// ---- the right order ----------------------------------------------------------------------------

static void run_once(struct fixture *f)
{
    struct run run;
    begin(f);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f->runner));
    begin_run(&run, f->runner);
    for (int i = 0; i < 3; i++) { // a task may run again
        fill(&run, (float)i);
        assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f->runner, run.task));
        assert_ok(TfLiteAsyncSignatureRunnerWait(f->runner, run.task));
        assert_ok(TfLiteAsyncSignatureRunnerWait(f->runner, run.task));
        check(&run, TRIPLE_LENGTH);
    }
    end_run(&run, f->runner);
    assert_int_equal(f->c.log.count, 0);
    run_triple(&f->c); // Invoke works beside it
    end(f);
}

static void each_form_of_kernel(void **state)
{
    (void)state;
    run_once(&(struct fixture){.delegate = {.gives_operator = false}});
    run_once(&(struct fixture){.delegate = {.gives_operator = true}});
    run_once(&(struct fixture){.delegate = {.gives_operator = true, .with_data = true}});
}

static void names_and_tensors(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    assert_int_equal(TfLiteAsyncSignatureRunnerGetInputCount(f.runner), 1);
    assert_int_equal(TfLiteAsyncSignatureRunnerGetOutputCount(f.runner), 1);
    assert_string_equal(TfLiteAsyncSignatureRunnerGetInputName(f.runner, 0), "input");
    assert_string_equal(TfLiteAsyncSignatureRunnerGetOutputName(f.runner, 0), "output");
    assert_null(TfLiteAsyncSignatureRunnerGetInputName(f.runner, 1));
    assert_null(TfLiteAsyncSignatureRunnerGetOutputName(f.runner, -1));
    assert_int_equal(TfLiteAsyncSignatureRunnerInputTensorIndices(f.runner)[0], TRIPLE_INPUT);
    assert_int_equal(TfLiteAsyncSignatureRunnerOutputTensorIndices(f.runner)[0], TRIPLE_OUTPUT);
    const TfLiteOpaqueTensor *input = TfLiteAsyncSignatureRunnerGetInputTensor(f.runner, "input");
    assert_ptr_equal(input, TfLiteInterpreterGetInputTensor(f.c.interpreter, 0));
    assert_ptr_equal(input, TfLiteAsyncSignatureRunnerGetTensor(f.runner, TRIPLE_INPUT));
    assert_ptr_equal(TfLiteAsyncSignatureRunnerGetOutputTensor(f.runner, "output"),
                     TfLiteAsyncSignatureRunnerGetTensor(f.runner, TRIPLE_OUTPUT));
    assert_null(TfLiteAsyncSignatureRunnerGetTensor(f.runner, 99));
    assert_null(TfLiteAsyncSignatureRunnerGetInputTensor(f.runner, "output"));
    assert_message(&f.c, "Input name output was not found");
    end(&f);
}

static void kinds_are_asked_once(void **state)
{
    (void)state;
    struct fixture f = {0};
    const char *const *types;
    size_t count;
    begin(&f);
    assert_int_equal(f.delegate.type_questions, 4);
    assert_ok(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(f.runner, IN, &types, &count));
    assert_true(count == 1 && strcmp(types[0], TEST_MEMORY) == 0);
    assert_ok(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(f.runner, OUT, &types, &count));
    assert_true(count == 2 && strcmp(types[0], kTfLiteSyncTypeNoSyncObj) == 0 && strcmp(types[1], TEST_FENCE) == 0);
    assert_int_equal(f.delegate.type_questions, 4);
    assert_refused(&f.c,
                   TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(f.runner, kTfLiteIoTypeUnknown, &types, &count),
                   "neither");
    end(&f);
}

static void attributes_are_reconciled(void **state)
{
    (void)state;
    struct fixture f = {0};
    TfLiteAttributeMap *user = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *merged = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMap *conflict = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    size_t alignment, size;
    const char *type;
    begin(&f);
    TfLiteAttributeMapSetSizeTBufferAttr(user, kTfLiteBufferAttrKeyAlignment, 12);
    TfLiteAttributeMapSetSizeTBufferAttr(user, kTfLiteBufferAttrKeySize, 100);
    assert_true(TfLiteAsyncSignatureRunnerReconcileRestrictions(f.runner, IN, "input", user, merged, conflict));
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyAlignment, &alignment));
    assert_true(TfLiteAttributeMapGetSizeTBufferAttr(merged, kTfLiteBufferAttrKeySize, &size));
    assert_true(alignment == 48 && size == 100);
    assert_ok(TfLiteAsyncSignatureRunnerSetAttributes(f.runner, IN, "input", merged));
    TfLiteAttributeMapSetStringBufferAttr(user, kTfLiteBufferAttrKeyResourceTypeName, "another");
    assert_false(
        TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(f.runner, TRIPLE_OUTPUT, user, merged, conflict));
    assert_true(TfLiteAttributeMapGetStringBufferAttr(conflict, kTfLiteBufferAttrKeyResourceTypeName, &type));
    assert_string_equal(type, "another");
    assert_false(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(f.runner, TRIPLE_SUM, user, merged, NULL));
    assert_message(&f.c, "tensor 0 is neither input nor output");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerSetAttributes(f.runner, IN, "none", merged), "Input name none");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerSetAttributesByIndex(f.runner, 1, NULL), "NULL");
    f.delegate.fails_set = true;
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerSetAttributesByIndex(f.runner, 1, merged), "refused");
    TfLiteAttributeMapDelete(user);
    TfLiteAttributeMapDelete(merged);
    TfLiteAttributeMapDelete(conflict);
    end(&f);
}

// ---- tasks in flight ----------------------------------------------------------------------------

static void two_tasks_and_fences(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run first, second;
    int signal_fd, wait_fd = fence_create(&signal_fd);
    begin(&f);
    TfLiteAttributeMap *wishes = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
    TfLiteAttributeMapSetStringSyncAttr(wishes, kTfLiteSynchronizationAttrKeyObjectTypeName, TEST_FENCE);
    assert_ok(TfLiteAsyncSignatureRunnerSetAttributes(f.runner, OUT, "output", wishes));
    TfLiteAttributeMapDelete(wishes);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    begin_run(&first, f.runner);
    begin_run(&second, f.runner);
    TfLiteSynchronization *in = TfLiteSynchronizationCreate(), *out = TfLiteSynchronizationCreate();
    TfLiteSynchronizationSetPtr(in, &wait_fd);
    assert_ok(TfLiteExecutionTaskSetSync(first.task, IN, "input", in));
    assert_ok(TfLiteExecutionTaskSetSyncByIndex(first.task, TRIPLE_OUTPUT, out));
    assert_ptr_equal(TfLiteExecutionTaskGetSyncByName(first.task, OUT, "output"), out);
    fill(&second, 7);
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, first.task));
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, second.task));
    int *done = TfLiteSynchronizationGetPtr(out);
    assert_non_null(done);
    assert_false(fence_is_reached(*done)); // nobody has filled the input
    fill(&first, -3);
    fence_signal(signal_fd);
    fence_wait(*done);
    check(&first, TRIPLE_LENGTH); // before any wait
    free(done);
    assert_ok(TfLiteAsyncSignatureRunnerWait(f.runner, second.task));
    check(&second, TRIPLE_LENGTH);
    end_run(&first, f.runner); // Finish waits
    end_run(&second, f.runner);
    TfLiteSynchronizationDelete(in);
    TfLiteSynchronizationDelete(out);
    end(&f);
}

// ---- wrong orders -------------------------------------------------------------------------------

static void calls_in_the_wrong_order(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run run;
    begin(&f);
    struct TfLiteAsyncSignatureRunner *other = TfLiteInterpreterGetAsyncSignatureRunner(f.c.interpreter, NULL);
    begin_run(&run, f.runner);
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task), "call PrepareBackends first");
    f.delegate.fails_prepare = true;
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerPrepareBackends(f.runner), "could not prepare");
    f.delegate.fails_prepare = false;
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerInvokeAsync(other, run.task), "another runner");
    assert_ok(TfLiteExecutionTaskSetBufferByIndex(run.task, TRIPLE_INPUT, kTfLiteNullBufferHandle));
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task), "no buffer for input tensor 1");
    assert_ok(TfLiteExecutionTaskSetBufferByIndex(run.task, TRIPLE_INPUT, run.in));

    async_delegate_hold(&f.delegate, true);
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task));
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task),
                   "The task has already been scheduled for execution.");
    assert_refused(&f.c, TfLiteExecutionTaskSetBufferByIndex(run.task, TRIPLE_INPUT, run.in), "under way");
    assert_refused(&f.c, TfLiteExecutionTaskSetSyncByIndex(run.task, TRIPLE_INPUT, NULL), "under way");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, run.in), "a run under way uses buffer");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerPrepareBackends(f.runner), "1 tasks are under way");
    async_delegate_hold(&f.delegate, false);
    TfLiteExecutionTask *gone = run.task;
    end_run(&run, f.runner);
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerFinish(f.runner, gone), "finished before");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerWait(f.runner, gone), "finished before");
    TfLiteAsyncSignatureRunnerDelete(other);
    end(&f);
}

static void wrong_arguments(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run run;
    begin(&f);
    begin_run(&run, f.runner);
    assert_refused(&f.c, TfLiteExecutionTaskSetBuffer(run.task, IN, "none", run.in),
                   "Signature tensor name none was not found");
    assert_refused(&f.c, TfLiteExecutionTaskSetBuffer(run.task, IN, "output", run.in), "among the inputs");
    assert_refused(&f.c, TfLiteExecutionTaskSetBuffer(run.task, kTfLiteIoTypeUnknown, "input", run.in),
                   "whether it is an input");
    assert_refused(&f.c, TfLiteExecutionTaskSetBufferByIndex(run.task, TRIPLE_SUM, run.in), "neither input nor output");
    assert_refused(&f.c, TfLiteExecutionTaskSetBuffer(run.task, IN, "input", 99), "handle 99 is not registered");
    assert_refused(&f.c, TfLiteExecutionTaskSetBuffer(run.task, OUT, "output", run.in), "registered for inputs");
    assert_ok(TfLiteExecutionTaskSetBuffer(run.task, IN, "input", run.out)); // both ways
    assert_int_equal(TfLiteExecutionTaskGetBufferByName(run.task, IN, "input"), run.out);
    assert_int_equal(TfLiteExecutionTaskGetBufferByName(run.task, IN, "none"), kTfLiteNullBufferHandle);
    assert_null(TfLiteExecutionTaskGetSyncByName(run.task, OUT, "none"));
    client_forget(&f.c.log);
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, 99), "handle 99 is not registered");
    f.delegate.fails_register = true;
    client_forget(&f.c.log);
    assert_int_equal(add_buffer(f.runner, IN, run.x), kTfLiteNullBufferHandle);
    assert_message(&f.c, "refused to register");
    f.delegate.fails_unregister = true;
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, run.in), "could not unregister");
    f.delegate.fails_unregister = false;
    assert_null(TfLiteInterpreterGetAsyncSignatureRunner(f.c.interpreter, "none"));
    assert_message(&f.c, "no signature 'none'");
    assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(NULL, run.task), kTfLiteError);
    assert_int_equal(TfLiteAsyncSignatureRunnerWait(f.runner, NULL), kTfLiteError);
    assert_int_equal(TfLiteExecutionTaskGetStatus(NULL), kTfLiteError);
    end_run(&run, f.runner);
    end(&f);
}

static void slices(void **state)
{
    (void)state;
    struct fixture f = {0};
    float memory[8] = {0, 0, 0, 0, 1, 2, 3, 4};
    TfLiteBufferHandle slice, none;
    TfLiteAttributeMap *attrs = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, 16);
    TfLiteAttributeMapSetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, 16);
    begin(&f);
    TfLiteBufferHandle pool = add_buffer(f.runner, OUT, memory);
    assert_ok(TfLiteAsyncSignatureRunnerRegisterBufferSlice(f.runner, pool, attrs, &slice));
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerRegisterBufferSlice(f.runner, slice, attrs, &none), "slice itself");
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, pool), "unregister slice");
    TfLiteExecutionTask *task = TfLiteAsyncSignatureRunnerCreateTask(f.runner);
    assert_ok(TfLiteExecutionTaskSetBuffer(task, IN, "input", slice));
    assert_ok(TfLiteExecutionTaskSetBuffer(task, OUT, "output", pool));
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, task));
    assert_ok(TfLiteAsyncSignatureRunnerFinish(f.runner, task));
    assert_true(memory[0] == 3 && memory[3] == 12);
    assert_ok(TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, slice));
    assert_ok(TfLiteAsyncSignatureRunnerUnregisterBuffer(f.runner, pool));
    TfLiteAttributeMapDelete(attrs);
    end(&f);
}

static void a_kernel_that_fails(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run run;
    begin(&f);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    begin_run(&run, f.runner);
    fill(&run, 1);
    f.delegate.fails_eval = true;
    assert_int_equal(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task), kTfLiteDelegateError);
    assert_message(&f.c, "could not start");
    assert_int_equal(TfLiteAsyncSignatureRunnerWait(f.runner, run.task), kTfLiteDelegateError);
    f.delegate.fails_eval = false;
    f.delegate.fails_wait = true;
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task));
    assert_int_equal(TfLiteAsyncSignatureRunnerWait(f.runner, run.task), kTfLiteError);
    assert_int_equal(TfLiteExecutionTaskGetStatus(run.task), kTfLiteError);
    f.delegate.fails_finish = true;
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerFinish(f.runner, run.task), "Failed to finish task.");
    end(&f);
}

// ---- graphs without a runner, and graphs that change --------------------------------------------

static void no_runner(struct fixture *f, const char *message)
{
    load(f);
    assert_null(TfLiteInterpreterGetAsyncSignatureRunner(f->c.interpreter, NULL));
    assert_message(&f->c, message);
    end(f);
}

static void graphs_without_a_runner(void **state)
{
    (void)state;
    no_runner(&(struct fixture){.delegate = {.offers_nothing = true}}, "does not support asynchronous execution");
    no_runner(&(struct fixture){.delegate = {.offers_nothing = true, .gives_operator = true}}, "does not support");
    no_runner(&(struct fixture){.delegate = {.passes_noise = true}}, "does not support");
    no_runner(&(struct fixture){.delegate = {.lacks_wait = true}}, "lacks 'wait'");
}

static void runners_outlive_their_graph(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run run;
    const int dims = 8;
    begin(&f);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    begin_run(&run, f.runner);
    fill(&run, 2);
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task)); // in flight while the graph changes
    assert_ok(TfLiteInterpreterResizeInputTensor(f.c.interpreter, 0, &dims, 1));
    check(&run, TRIPLE_LENGTH);
    assert_refused(&f.c, TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task), "get a new one");
    assert_ok(TfLiteAsyncSignatureRunnerFinish(f.runner, run.task));
    TfLiteAsyncSignatureRunnerDelete(f.runner);
    f.runner = TfLiteInterpreterGetAsyncSignatureRunner(f.c.interpreter, NULL); // applies the delegate again
    assert_non_null(f.runner);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    begin_run(&run, f.runner);
    fill(&run, 2);
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task));
    TfLiteInterpreterDelete(f.c.interpreter);
    f.c.interpreter = NULL;
    check(&run, 8);
    assert_int_equal(TfLiteAsyncSignatureRunnerGetInputCount(f.runner), 0);
    end(&f); // with the task
}

static void deleting_a_runner_with_tasks(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct run run;
    begin(&f);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    begin_run(&run, f.runner);
    fill(&run, 5);
    assert_ok(TfLiteAsyncSignatureRunnerInvokeAsync(f.runner, run.task));
    TfLiteAsyncSignatureRunnerDelete(f.runner);
    assert_message(&f.c, "1 were awaited and finished");
    check(&run, TRIPLE_LENGTH);
    f.runner = NULL;
    end(&f);
}

// ---- threads ------------------------------------------------------------------------------------

enum { THREADS = 4, ROUNDS = 100 };

// One thread's runs. Half of the threads share a runner, the others have one of their own.
struct caller {
    pthread_t thread;
    struct TfLiteAsyncSignatureRunner *runner;
    int right; // runs that went well
};

static bool run_in_thread(struct caller *caller, int round)
{
    struct run run;
    if (!try_begin_run(&run, caller->runner)) return false;
    fill(&run, (float)round);
    if (TfLiteAsyncSignatureRunnerInvokeAsync(caller->runner, run.task) != kTfLiteOk) return false;
    if (round % 2 && TfLiteAsyncSignatureRunnerWait(caller->runner, run.task) != kTfLiteOk) return false;
    return try_end_run(&run, caller->runner) && is_tripled(&run, TRIPLE_LENGTH);
}

static void *keep_running(void *arg)
{
    struct caller *caller = arg;
    while (caller->right < ROUNDS && run_in_thread(caller, caller->right)) caller->right++;
    return NULL;
}

static void tasks_of_several_threads(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct caller callers[THREADS] = {{0}};
    begin(&f);
    assert_ok(TfLiteAsyncSignatureRunnerPrepareBackends(f.runner));
    struct TfLiteAsyncSignatureRunner *other = TfLiteInterpreterGetAsyncSignatureRunner(f.c.interpreter, NULL);
    for (int i = 0; i < THREADS; i++) {
        callers[i].runner = i < THREADS / 2 ? f.runner : other;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, keep_running, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(callers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].right, ROUNDS);
    TfLiteAsyncSignatureRunnerDelete(other);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_of_kernel),
        cmocka_unit_test(names_and_tensors),
        cmocka_unit_test(kinds_are_asked_once),
        cmocka_unit_test(attributes_are_reconciled),
        cmocka_unit_test(two_tasks_and_fences),
        cmocka_unit_test(calls_in_the_wrong_order),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(slices),
        cmocka_unit_test(a_kernel_that_fails),
        cmocka_unit_test(graphs_without_a_runner),
        cmocka_unit_test(runners_outlive_their_graph),
        cmocka_unit_test(deleting_a_runner_with_tasks),
        cmocka_unit_test(tasks_of_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
