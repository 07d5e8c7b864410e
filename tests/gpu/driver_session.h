// SPDX-License-Identifier: Apache-2.0
// What the tests of backends before a failing driver share: counts of what the driver's functions did, a folder for
// compiled kernels, and the life of a delegate in which nothing fails.
#ifndef HALITE_TESTS_GPU_DRIVER_SESSION_H
#define HALITE_TESTS_GPU_DRIVER_SESSION_H

#include <stdatomic.h>
#include <unistd.h>

#include "gpu/delegate_session.h"

static struct {
    // atomic: programs are compiled by several threads
    atomic_int alive; // objects
    atomic_int compiled, revived;
    bool refuses_binaries;
} driver;

// ---- a folder for compiled kernels --------------------------------------------------------------

static inline int make_folder(void **state)
{
    char *folder = strdup("/tmp/halite_test_driver.XXXXXX");
    *state = folder;
    driver.compiled = driver.revived = 0;
    driver.refuses_binaries = false;
    return folder && mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", (const char *)*state);
    free(*state);
    return system(command) == 0 ? 0 : -1;
}

// ---- a whole life -------------------------------------------------------------------------------

// folder: NULL, or where compiled kernels are kept.
static inline TfLiteDelegate *make_on(const char *device, const char *folder)
{
    const char *texts[] = {"device", device, folder ? "serialization_dir" : NULL, folder, "model_token", "graph", NULL};
    return make(texts);
}

static inline TfLiteStatus run(struct session *session)
{
    set_input(session);
    return TfLiteInterpreterInvoke(session->interpreter);
}

static inline void end_with(struct session *session, TfLiteDelegate *delegate)
{
    end(session);
    tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(driver.alive, 0);
}

// Nothing fails, no message names the API, and the results are right.
static inline void live_well(const char *device, const char *api, const char *folder)
{
    TfLiteDelegate *delegate = make_on(device, folder);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&session), 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&session), kTfLiteOk);
        check_output(&session);
    }
    assert_null(strstr(session.messages.text, api));
    end_with(&session, delegate);
}

// After a failure that kept the delegate from being applied: the graph is on the CPU.
static inline void check_on_cpu(const struct session *session, TfLiteStatus applied, TfLiteStatus invoked)
{
    assert_int_equal(applied, kTfLiteDelegateError);
    assert_int_equal(invoked, kTfLiteOk);
    check_output(session);
    assert_int_equal(delegated_nodes(session), 0);
}

// A device that never comes to an end: when the limit is over the call fails with a message, the next one at once, and
// all can be deleted. What the driver had then stays, on purpose. The option's millisecond is for runs that hang only:
// others take longer on a busy machine.
static inline void live_with_hang(const char *device, const char *api, bool *hangs)
{
    const char *texts[] = {"device", device, "wait_limit_ms", "1", NULL};
    for (int runs = 0; runs < 3; runs++) {
        TfLiteDelegate *delegate = runs == 0 ? make(texts) : make_on(device, NULL);
        const struct gpu_engine *engine = gpu_delegate_of(delegate)->engine;
        struct session session;
        begin(&session, &whole);
        *hangs = runs == 0;
        TfLiteStatus applied = apply(&session, delegate);
        for (int i = 0; i < runs; i++) assert_int_equal(run(&session), kTfLiteOk);
        *hangs = true;
        if (runs > 0) engine->info.backend->set_wait_limit(engine->device, 1000000);
        if (applied == kTfLiteOk) assert_int_equal(run(&session), kTfLiteError);
        assert_non_null(strstr(session.messages.text, "a run has not ended in 0.001 s"));
        if (applied == kTfLiteOk) assert_int_equal(run(&session), kTfLiteError);
        if (applied == kTfLiteOk) assert_non_null(strstr(session.messages.text, "the device was lost earlier"));
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        *hangs = false;
        driver.alive = 0;
    }
    live_well(device, api, NULL);
}

// A second start with the same folder compiles nothing, unless the driver refuses its own binaries. builds_binaries:
// the backend hands them to the compiler's function, too, which takes no compiler.
static inline void start_twice(const char *device, const char *api, const char *folder, bool builds_binaries)
{
    live_well(device, api, folder);
    int texts = driver.compiled, again = builds_binaries ? texts : 0;
    assert_true(texts >= 3);
    assert_int_equal(driver.revived, 0);
    live_well(device, api, folder);
    assert_int_equal(driver.revived, texts);
    assert_int_equal(driver.compiled, texts + again);

    // A driver that takes its own binaries no longer: text again.
    driver.refuses_binaries = true;
    live_well(device, api, folder);
    assert_int_equal(driver.revived, texts);
    assert_int_equal(driver.compiled, 2 * texts + again);
    driver.refuses_binaries = false;
    live_well(device, api, folder);
    assert_int_equal(driver.revived, 2 * texts);
    assert_int_equal(driver.compiled, 2 * texts + 2 * again);
}

#endif
