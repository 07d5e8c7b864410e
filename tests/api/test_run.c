// SPDX-License-Identifier: Apache-2.0
// Runs that do not block: their results, what may be called while they are in flight and what is refused, cancellation,
// time limits, deletion at any moment, and many submissions from several threads, each of which is answered once.
#include "client.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "halite/halite.h"

// ---- helpers ------------------------------------------------------------------------------------

// Before its first node a run waits here while the gate is shut. The interpreter asks it whether it is cancelled.
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut;
    int arrivals;
};

static bool pass(void *data)
{
    struct gate *gate = data;
    pthread_mutex_lock(&gate->mutex);
    gate->arrivals++;
    pthread_cond_broadcast(&gate->changed);
    while (gate->shut) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return false;
}

static void set_gate(struct gate *gate, bool shut)
{
    pthread_mutex_lock(&gate->mutex);
    gate->shut = shut;
    gate->arrivals = 0;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static void await_arrival(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    while (gate->arrivals == 0) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

struct fixture {
    struct client c;
    struct gate gate;
};

static void begin(struct fixture *f)
{
    client_begin(&f->c, &triple);
    assert_ok(TfLiteInterpreterAllocateTensors(f->c.interpreter));
    assert_int_equal(pthread_mutex_init(&f->gate.mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&f->gate.changed, NULL), 0);
    HaliteInterpreterSetCancellation(f->c.interpreter, pass, &f->gate);
}

static void end(struct fixture *f)
{
    client_end(&f->c);
    pthread_cond_destroy(&f->gate.changed);
    pthread_mutex_destroy(&f->gate.mutex);
}

static HaliteRun *create_run(struct fixture *f, float first)
{
    HaliteRun *run = HaliteRunCreate(f->c.interpreter);
    if (!run) fail_msg("%s", f->c.log.text);
    float *x = TfLiteTensorData(HaliteRunGetInputTensor(run, 0));
    for (int i = 0; i < TRIPLE_LENGTH; i++) x[i] = first + (float)i;
    return run;
}

static bool is_tripled(const HaliteRun *run)
{
    const float *x = TfLiteTensorData(HaliteRunGetInputTensor(run, 0));
    const float *y = TfLiteTensorData(HaliteRunGetOutputTensor(run, 0));
    for (int i = 0; i < TRIPLE_LENGTH; i++)
        if (y[i] != 3 * x[i]) return false;
    return true;
}

static TfLiteStatus submit(struct fixture *f, HaliteRun *run)
{
    return HaliteInterpreterInvokeAsync(f->c.interpreter, run, 0, NULL, NULL);
}

// Counts answers. The thread that waited for the run, or deleted it, reads it afterwards.
struct answers {
    int count[kTfLiteCancelled + 1]; // by status
};

static void count_answer(void *data, HaliteRun *run, TfLiteStatus status)
{
    struct answers *answers = data;
    (void)run;
    answers->count[status]++;
}

// ---- in the right order -------------------------------------------------------------------------

static void two_runs_and_an_invoke(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    HaliteRun *first = create_run(&f, 1), *second = create_run(&f, -7);
    assert_int_equal(HaliteRunGetState(first), kHaliteRunIdle);
    set_gate(&f.gate, true);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, first, 0, count_answer, &answers));
    await_arrival(&f.gate);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, second, 0, count_answer, &answers));
    assert_int_equal(HaliteRunGetState(first), kHaliteRunRunning);
    assert_int_equal(HaliteRunGetState(second), kHaliteRunQueued);
    set_gate(&f.gate, false);
    assert_ok(HaliteRunWait(second));
    assert_ok(HaliteRunWait(first));
    assert_ok(HaliteRunWait(first)); // again, at once
    assert_int_equal(HaliteRunGetState(first), kHaliteRunDone);
    assert_true(is_tripled(first) && is_tripled(second));
    assert_int_equal(answers.count[kTfLiteOk], 2);
    run_triple(&f.c);
    assert_int_equal(f.c.log.count, 0);
    HaliteRunDelete(first);
    end(&f); // with the second
}

static void the_tensors_of_a_run(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    HaliteRun *run = HaliteRunCreate(f.c.interpreter);
    const TfLiteTensor *own = TfLiteInterpreterGetInputTensor(f.c.interpreter, 0);
    TfLiteTensor *input = HaliteRunGetInputTensor(run, 0);
    const float x[TRIPLE_LENGTH] = {1, 2, 3, 4}, zeros[TRIPLE_LENGTH] = {0};
    float y[TRIPLE_LENGTH];
    assert_string_equal(TfLiteTensorName(input), "input");
    assert_int_equal(TfLiteTensorByteSize(input), TfLiteTensorByteSize(own));
    assert_int_equal(TfLiteTensorDim(input, 0), TRIPLE_LENGTH);
    assert_ptr_not_equal(TfLiteTensorData(input), TfLiteTensorData(own));
    assert_memory_equal(TfLiteTensorData(input), zeros, sizeof zeros);
    assert_null(HaliteRunGetInputTensor(run, 1));
    assert_null(HaliteRunGetInputTensor(run, -1));
    assert_null(HaliteRunGetOutputTensor(run, 1));
    assert_ok(TfLiteTensorCopyFromBuffer(input, x, sizeof x));
    assert_ok(submit(&f, run));
    assert_ok(HaliteRunWait(run));
    assert_ok(TfLiteTensorCopyToBuffer(HaliteRunGetOutputTensor(run, 0), y, sizeof y));
    assert_true(y[0] == 3 && y[3] == 12);
    end(&f);
}

// 0, 1, 2 ... below the limit, whose number the interpreter learns while it runs.
static void outputs_that_grow(void **state)
{
    (void)state;
    enum { START, LIMIT, DELTA, RANGE };
    static const struct test_tensor tensors[] = {
        [START] = {.name = "start", .type = TEST_INT32},
        [LIMIT] = {.name = "limit", .type = TEST_INT32},
        [DELTA] = {.name = "delta", .type = TEST_INT32},
        [RANGE] = {.name = "range", .type = TEST_INT32, .rank = 1},
    };
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(START, LIMIT, DELTA), TEST_OUTPUTS(RANGE)}};
    static const struct test_model range = {.name = "main",
                                            TEST_TENSORS(tensors),
                                            TEST_NODES(nodes),
                                            TEST_INPUTS(START, LIMIT, DELTA),
                                            TEST_OUTPUTS(RANGE)};
    struct client c;
    client_begin(&c, &range);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    HaliteRun *run = HaliteRunCreate(c.interpreter);
    assert_non_null(run);
    *(int32_t *)TfLiteTensorData(HaliteRunGetInputTensor(run, DELTA)) = 1;
    for (int length = 1; length < 2000; length = 3 * length + 1) {
        *(int32_t *)TfLiteTensorData(HaliteRunGetInputTensor(run, LIMIT)) = length;
        assert_ok(HaliteInterpreterInvokeAsync(c.interpreter, run, 0, NULL, NULL));
        assert_ok(HaliteRunWait(run));
        const TfLiteTensor *output = HaliteRunGetOutputTensor(run, 0);
        assert_int_equal(TfLiteTensorDim(output, 0), length);
        assert_int_equal(TfLiteTensorByteSize(output), 4 * (size_t)length);
        for (int i = 0; i < length; i++) assert_int_equal(((const int32_t *)TfLiteTensorData(output))[i], i);
    }
    client_end(&c);
}

struct chain {
    TfLiteInterpreter *interpreter;
    atomic_int left;
    int right;
};

static void submit_again(void *data, HaliteRun *run, TfLiteStatus status)
{
    struct chain *chain = data;
    if (status == kTfLiteOk && is_tripled(run)) chain->right++;
    *(float *)TfLiteTensorData(HaliteRunGetInputTensor(run, 0)) = (float)chain->right;
    if (atomic_fetch_sub(&chain->left, 1) > 1)
        HaliteInterpreterInvokeAsync(chain->interpreter, run, 0, submit_again, chain);
}

static void callbacks_submit_the_next_run(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    HaliteRun *run = create_run(&f, 0);
    struct chain chain = {f.c.interpreter, 100, 0};
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, run, 0, submit_again, &chain));
    // A wait ends with the submission that it finds.
    while (HaliteRunWait(run) == kTfLiteOk && atomic_load(&chain.left) > 0) continue;
    HaliteRunDelete(run);
    assert_int_equal(chain.right, 100);
    end(&f);
}

static bool is_readable(int event)
{
    struct pollfd entry = {.fd = event, .events = POLLIN};
    return poll(&entry, 1, 0) == 1;
}

static void events_become_readable(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    HaliteRun *run = create_run(&f, 1), *other = create_run(&f, 2);
    int event = HaliteRunGetEvent(run);
    if (event < 0) {
        end(&f);
        skip(); // this system has no such descriptors
    }
    assert_int_equal(HaliteRunGetEvent(run), event);
    for (int i = 0; i < 3; i++) {
        set_gate(&f.gate, true);
        assert_ok(submit(&f, run));
        assert_false(is_readable(event));
        set_gate(&f.gate, false);
        struct pollfd entry = {.fd = event, .events = POLLIN};
        assert_int_equal(poll(&entry, 1, -1), 1);
        assert_ok(HaliteRunWait(run));
        assert_true(is_readable(event) && is_tripled(run));
    }
    assert_ok(submit(&f, other));
    assert_ok(HaliteRunWait(other));
    assert_true(is_readable(HaliteRunGetEvent(other))); // also where it is asked for afterwards
    end(&f);
}

// ---- what is refused ----------------------------------------------------------------------------

static void calls_in_the_wrong_order(void **state)
{
    (void)state;
    struct fixture f = {0}, g = {0};
    const int dims = 8;
    client_begin(&f.c, &triple);
    assert_null(HaliteRunCreate(f.c.interpreter));
    assert_message(&f.c, "call AllocateTensors first");
    client_end(&f.c);
    begin(&f);
    begin(&g);
    HaliteRun *run = create_run(&f, 1), *foreign = create_run(&g, 1);
    assert_refused(&f.c, HaliteRunWait(run), "was not submitted");
    assert_int_equal(HaliteRunCancel(run), kTfLiteError);
    assert_refused(&f.c, submit(&f, foreign), "belongs to another interpreter");
    assert_refused(&f.c, HaliteInterpreterInvokeAsync(f.c.interpreter, run, -1, NULL, NULL), "negative");
    set_gate(&f.gate, true);
    assert_ok(submit(&f, run));
    assert_refused(&f.c, submit(&f, run), "the run is in flight");
    assert_refused(&f.c, TfLiteInterpreterInvoke(f.c.interpreter), "Invoke: 1 runs are in flight");
    assert_refused(&f.c, TfLiteInterpreterAllocateTensors(f.c.interpreter), "AllocateTensors: 1 runs");
    assert_refused(&f.c, TfLiteInterpreterResizeInputTensor(f.c.interpreter, 0, &dims, 1), "in flight");
    assert_null(HaliteRunCreate(f.c.interpreter));
    assert_message(&f.c, "HaliteRunCreate: 1 runs are in flight");
    set_gate(&f.gate, false);
    assert_ok(HaliteRunWait(run));
    assert_int_equal(HaliteRunCancel(run), kTfLiteError);
    assert_int_equal(f.c.log.count, 0);
    assert_int_equal(HaliteInterpreterInvokeAsync(NULL, run, 0, NULL, NULL), kTfLiteError);
    assert_int_equal(HaliteInterpreterInvokeAsync(f.c.interpreter, NULL, 0, NULL, NULL), kTfLiteError);
    assert_int_equal(HaliteRunWait(NULL), kTfLiteError);
    assert_int_equal(HaliteRunCancel(NULL), kTfLiteError);
    assert_int_equal(HaliteRunGetEvent(NULL), -1);
    HaliteRunDelete(NULL);
    end(&f);
    end(&g);
}

static void a_run_that_fails(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    HaliteRun *run = create_run(&f, 1);
    client_resize(&f.c, 0, 8);
    assert_ok(TfLiteInterpreterAllocateTensors(f.c.interpreter));
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, run, 0, count_answer, &answers));
    assert_refused(&f.c, HaliteRunWait(run), "was resized after this run was created");
    assert_int_equal(HaliteRunGetState(run), kHaliteRunFailed);
    assert_int_equal(answers.count[kTfLiteError], 1);
    client_resize(&f.c, 0, TRIPLE_LENGTH);
    assert_ok(TfLiteInterpreterAllocateTensors(f.c.interpreter));
    assert_ok(submit(&f, run));
    assert_ok(HaliteRunWait(run)); // the failure left nothing behind
    assert_true(is_tripled(run));
    end(&f);
}

// ---- runs that are stopped ----------------------------------------------------------------------

static void cancelled_runs(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    HaliteRun *running = create_run(&f, 1), *queued = create_run(&f, 2), *last = create_run(&f, 3);
    set_gate(&f.gate, true);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, running, 0, count_answer, &answers));
    await_arrival(&f.gate);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, queued, 0, count_answer, &answers));
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, last, 0, count_answer, &answers));
    assert_ok(HaliteRunCancel(running)); // before its second node
    assert_ok(HaliteRunCancel(queued));
    set_gate(&f.gate, false);
    assert_int_equal(HaliteRunWait(running), kTfLiteCancelled);
    assert_int_equal(HaliteRunWait(queued), kTfLiteCancelled);
    assert_ok(HaliteRunWait(last));
    assert_int_equal(HaliteRunGetState(running), kHaliteRunCancelled);
    assert_int_equal(HaliteRunGetState(queued), kHaliteRunCancelled);
    assert_true(is_tripled(last));
    assert_int_equal(answers.count[kTfLiteCancelled], 2);
    assert_int_equal(answers.count[kTfLiteOk], 1);
    assert_int_equal(f.c.log.count, 0); // nothing failed
    assert_ok(submit(&f, running));
    assert_ok(HaliteRunWait(running));
    assert_true(is_tripled(running));
    end(&f);
}

static void late_runs(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    HaliteRun *first = create_run(&f, 1), *second = create_run(&f, 2);
    const int64_t limit = 1000000; // of the first, which waits for longer before its first node
    const struct timespec longer = {.tv_nsec = 2 * limit};
    set_gate(&f.gate, true);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, first, limit, NULL, NULL));
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, second, 1, NULL, NULL)); // late at once
    nanosleep(&longer, NULL);
    set_gate(&f.gate, false);
    assert_int_equal(HaliteRunWait(first), kTfLiteCancelled);
    assert_int_equal(HaliteRunWait(second), kTfLiteCancelled);
    assert_int_equal(HaliteRunGetState(first), kHaliteRunLate);
    assert_int_equal(HaliteRunGetState(second), kHaliteRunLate);
    assert_int_equal(f.c.log.count, 0);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, first, INT64_MAX, NULL, NULL));
    assert_ok(HaliteRunWait(first));
    assert_true(is_tripled(first));
    end(&f);
}

// ---- deletion -----------------------------------------------------------------------------------

static void deleting_runs_in_flight(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    for (int i = 0; i < 50; i++) {
        HaliteRun *first = create_run(&f, 1), *second = create_run(&f, 1);
        assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, first, 0, count_answer, &answers));
        assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, second, 0, count_answer, &answers));
        HaliteRunDelete(second);
        HaliteRunDelete(first);
        assert_int_equal(answers.count[kTfLiteOk] + answers.count[kTfLiteCancelled], 2 * (i + 1));
    }
    end(&f);
}

static void deleting_an_interpreter_with_runs_in_flight(void **state)
{
    (void)state;
    enum { RUNS = 8 };
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    HaliteRun *runs[RUNS];
    for (int i = 0; i < RUNS; i++) runs[i] = create_run(&f, (float)i);
    for (int i = 0; i < RUNS; i++)
        assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, runs[i], 0, count_answer, &answers));
    TfLiteInterpreterDelete(f.c.interpreter);
    f.c.interpreter = NULL;
    assert_int_equal(answers.count[kTfLiteOk] + answers.count[kTfLiteCancelled], RUNS);
    end(&f);
}

static void delete_both(void *data, HaliteRun *run, TfLiteStatus status)
{
    HaliteRun **other = data;
    (void)status;
    HaliteRunDelete(run);
    HaliteRunDelete(*other); // queued
}

static void callbacks_delete_runs(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct answers answers = {0};
    begin(&f);
    HaliteRun *run = create_run(&f, 1), *other = create_run(&f, 2), *last = create_run(&f, 3);
    set_gate(&f.gate, true);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, run, 0, delete_both, &other));
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, other, 0, count_answer, &answers));
    assert_ok(submit(&f, last));
    set_gate(&f.gate, false);
    assert_ok(HaliteRunWait(last));
    assert_int_equal(answers.count[kTfLiteCancelled], 1);
    end(&f);
}

static void do_what_is_forbidden(void *data, HaliteRun *run, TfLiteStatus status)
{
    TfLiteInterpreter *interpreter = data;
    (void)status;
    HaliteRunWait(run);
    TfLiteInterpreterDelete(interpreter);
}

static void callbacks_may_not_wait(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f);
    HaliteRun *run = create_run(&f, 1);
    assert_ok(HaliteInterpreterInvokeAsync(f.c.interpreter, run, 0, do_what_is_forbidden, f.c.interpreter));
    assert_ok(HaliteRunWait(run));
    assert_int_equal(f.c.log.count, 2);
    assert_non_null(strstr(f.c.log.text, "cannot wait"));
    assert_non_null(strstr(f.c.log.text, "cannot delete the interpreter"));
    end(&f);
}

// ---- threads ------------------------------------------------------------------------------------

enum { THREADS = 4, RUNS_EACH = 3, SUBMISSIONS = 500 };

struct user {
    pthread_t thread;
    struct fixture *f;
    unsigned seed;
    struct user_run {
        HaliteRun *run;
        atomic_int answered;
        int accepted;
    } runs[RUNS_EACH];
    int done, cancelled, wrong;
};

static unsigned draw(struct user *user, unsigned below)
{
    user->seed = user->seed * 1103515245u + 12345u;
    return (user->seed >> 16) % below;
}

static void count_for_run(void *data, HaliteRun *run, TfLiteStatus status)
{
    struct user_run *entry = data;
    (void)status;
    if (run == entry->run) atomic_fetch_add(&entry->answered, 1);
}

static void check_answer(struct user *user, struct user_run *entry)
{
    TfLiteStatus status = HaliteRunWait(entry->run);
    bool right = status == kTfLiteOk ? is_tripled(entry->run) : status == kTfLiteCancelled;
    if (atomic_load(&entry->answered) != entry->accepted || !right) user->wrong++;
    if (status == kTfLiteOk) user->done++;
    if (status == kTfLiteCancelled) user->cancelled++;
}

// Asserts nothing: cmocka's assertions are for the thread that runs the test.
static void *use_runs(void *arg)
{
    struct user *user = arg;
    for (int i = 0; i < SUBMISSIONS; i++) {
        struct user_run *entry = &user->runs[draw(user, RUNS_EACH)];
        if (entry->accepted > 0) check_answer(user, entry);
        *(float *)TfLiteTensorData(HaliteRunGetInputTensor(entry->run, 0)) = (float)i;
        int64_t limit = draw(user, 4) == 0 ? (int64_t)draw(user, 50000) : 0;
        if (HaliteInterpreterInvokeAsync(user->f->c.interpreter, entry->run, limit, count_for_run, entry) != kTfLiteOk)
            user->wrong++;
        entry->accepted++;
        if (draw(user, 4) == 0) HaliteRunCancel(user->runs[draw(user, RUNS_EACH)].run);
    }
    for (int i = 0; i < RUNS_EACH; i++)
        if (user->runs[i].accepted > 0) check_answer(user, &user->runs[i]);
    return NULL;
}

static void submissions_of_several_threads(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct user users[THREADS] = {{0}};
    begin(&f);
    for (int i = 0; i < THREADS; i++) {
        users[i].f = &f;
        users[i].seed = (unsigned)i + 1;
        for (int r = 0; r < RUNS_EACH; r++) users[i].runs[r].run = create_run(&f, (float)r);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&users[i].thread, NULL, use_runs, &users[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(users[i].thread, NULL);
    int done = 0, cancelled = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(users[i].wrong, 0);
        done += users[i].done;
        cancelled += users[i].cancelled;
    }
    print_message("%d of %d runs done, %d stopped\n", done, done + cancelled, cancelled);
    assert_int_equal(done + cancelled, THREADS * SUBMISSIONS);
    assert_int_equal(f.c.log.count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_and_an_invoke),
        cmocka_unit_test(the_tensors_of_a_run),
        cmocka_unit_test(outputs_that_grow),
        cmocka_unit_test(callbacks_submit_the_next_run),
        cmocka_unit_test(events_become_readable),
        cmocka_unit_test(calls_in_the_wrong_order),
        cmocka_unit_test(a_run_that_fails),
        cmocka_unit_test(cancelled_runs),
        cmocka_unit_test(late_runs),
        cmocka_unit_test(deleting_runs_in_flight),
        cmocka_unit_test(deleting_an_interpreter_with_runs_in_flight),
        cmocka_unit_test(callbacks_delete_runs),
        cmocka_unit_test(callbacks_may_not_wait),
        cmocka_unit_test(submissions_of_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
