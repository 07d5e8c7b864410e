// SPDX-License-Identifier: Apache-2.0
// The GPU delegate among threads, on every backend that has a device: one delegate of many interpreters in as many
// threads, many delegates at once, an interpreter that moves from thread to thread, and reports read meanwhile. Meant
// for the tsan preset.
#include <pthread.h>
#include <stdatomic.h>

#include "gpu/backend/null.h"
#include "gpu/delegate_session.h"

enum { THREADS = 4, RUNS = 10 };

static TfLiteDelegate *make_on(const char *backend)
{
    const char *keys[] = {"device"}, *values[] = {backend};
    return tflite_plugin_create_delegate(keys, values, 1, NULL);
}

// A thread's work: cmocka's assertions belong to the main thread, so it says what went well.
struct work {
    pthread_t thread;
    const char *backend;
    TfLiteDelegate *delegate;
    struct session session;
    atomic_bool *done;
    bool ok;
};

static bool invoke(struct work *work)
{
    float values[ELEMENTS], results[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) values[i] = input_value(i);
    TfLiteInterpreter *interpreter = work->session.interpreter;
    if (TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), values, sizeof values) !=
            kTfLiteOk ||
        TfLiteInterpreterInvoke(interpreter) != kTfLiteOk ||
        TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), results, sizeof results) !=
            kTfLiteOk)
        return false;
    bool right = true;
    for (int i = 0; i < ELEMENTS; i++) right = right && results[i] == expected_value(i);
    return right || strcmp(work->backend, "null") == 0; // which computes nothing
}

static void start(struct work *work, void *(*function)(void *))
{
    assert_int_equal(pthread_create(&work->thread, NULL, function, work), 0);
}

static void finish(struct work *work)
{
    assert_int_equal(pthread_join(work->thread, NULL), 0);
    if (!work->ok) print_error("%s: %s\n", work->backend, work->session.messages.text);
    assert_true(work->ok);
}

// ---- interpreters of their own ------------------------------------------------------------------------------

static void *live(void *data)
{
    struct work *work = data;
    work->ok = true;
    for (int life = 0; life < 2 && work->ok; life++) {
        begin(&work->session, &whole);
        work->ok = apply(&work->session, work->delegate) == kTfLiteOk;
        for (int run = 0; run < RUNS && work->ok; run++) work->ok = invoke(work);
        end(&work->session);
    }
    return NULL;
}

static void *read_reports(void *data)
{
    struct work *work = data;
    work->ok = true;
    while (!atomic_load(work->done)) {
        HaliteDelegateReport *report = HaliteDelegateReportCreate(work->delegate);
        for (int i = 0; i < HaliteDelegateReportGetNodeCount(report); i++)
            work->ok = work->ok && HaliteDelegateReportGetNode(report, i)->op[0] != 0;
        HaliteDelegateReportDelete(report);
    }
    return NULL;
}

static void test_one_delegate(void **state)
{
    (void)state;
    for (int b = 0; b < ALL_DEVICES; b++) {
        if (!has_device(all_devices[b])) continue;
        atomic_bool done = false;
        TfLiteDelegate *delegate = make_on(all_devices[b]);
        static struct work works[THREADS], reader;
        reader = (struct work){.backend = all_devices[b], .delegate = delegate, .done = &done};
        start(&reader, read_reports);
        for (int i = 0; i < THREADS; i++) {
            works[i] = (struct work){.backend = all_devices[b], .delegate = delegate};
            start(&works[i], live);
        }
        for (int i = 0; i < THREADS; i++) finish(&works[i]);
        atomic_store(&done, true);
        finish(&reader);
        HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
        int rows = HaliteDelegateReportGetNodeCount(report);
        // The address of a graph that is gone may be another's.
        assert_true(rows >= 3 && rows <= 3 * 2 * THREADS && rows % 3 == 0);
        HaliteDelegateReportDelete(report);
        tflite_plugin_destroy_delegate(delegate);
    }
    assert_int_equal(gpu_null_live(), 0);
}

// ---- delegates of their own ---------------------------------------------------------------------------------

static void *live_alone(void *data)
{
    struct work *work = data;
    work->delegate = make_on(work->backend);
    if (!work->delegate) return NULL;
    live(work);
    tflite_plugin_destroy_delegate(work->delegate);
    return NULL;
}

static void test_many_delegates(void **state)
{
    (void)state;
    static struct work works[ALL_DEVICES * THREADS];
    int count = 0;
    for (int b = 0; b < ALL_DEVICES; b++)
        for (int i = 0; i < THREADS && has_device(all_devices[b]); i++)
            works[count++] = (struct work){.backend = all_devices[b]};
    for (int i = 0; i < count; i++) start(&works[i], live_alone); // all backends at once
    for (int i = 0; i < count; i++) finish(&works[i]);
    assert_int_equal(gpu_null_live(), 0);
}

// ---- one that moves -----------------------------------------------------------------------------------------

static void *move_create(void *data)
{
    struct work *work = data;
    work->delegate = make_on(work->backend);
    begin(&work->session, &whole);
    work->ok = work->delegate != NULL;
    return NULL;
}

static void *move_apply(void *data)
{
    struct work *work = data;
    work->ok = apply(&work->session, work->delegate) == kTfLiteOk;
    return NULL;
}

static void *move_invoke(void *data)
{
    struct work *work = data;
    work->ok = invoke(work);
    return NULL;
}

static void *move_end(void *data)
{
    struct work *work = data;
    end(&work->session);
    return NULL;
}

static void *move_destroy(void *data)
{
    tflite_plugin_destroy_delegate(((struct work *)data)->delegate);
    return NULL;
}

static void test_an_interpreter_that_moves(void **state)
{
    (void)state;
    void *(*const steps[])(void *) = {move_create, move_apply, move_invoke, move_invoke,
                                      move_invoke, move_end,   move_destroy};
    for (int b = 0; b < ALL_DEVICES; b++) {
        if (!has_device(all_devices[b])) continue;
        static struct work work;
        work = (struct work){.backend = all_devices[b]};
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) { // each in a thread that ends before the next begins
            start(&work, steps[s]);
            finish(&work);
        }
    }
    assert_int_equal(gpu_null_live(), 0);
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_delegate),
        cmocka_unit_test(test_many_delegates),
        cmocka_unit_test(test_an_interpreter_that_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
