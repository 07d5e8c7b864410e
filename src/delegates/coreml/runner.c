// SPDX-License-Identifier: Apache-2.0
// See runner.h: which runner serves this process.
#include "delegates/coreml/runner.h"

#include <stdio.h>

#include "base/library.h"

static bool open_none(bool neural_engine, int *version, char *why, size_t size)
{
    (void)neural_engine;
    (void)why;
    (void)size;
    *version = 3;
    return true;
}

// No model has this address: nothing reads what is there.
static void *compile_none(const uint8_t *bytes, size_t byte_count, char *why, size_t size)
{
    static char model;
    (void)bytes;
    (void)byte_count;
    (void)why;
    (void)size;
    return &model;
}

static bool run_none(void *model, const struct coreml_array *inputs, int input_count,
                     const struct coreml_array *outputs, int output_count, char *why, size_t size)
{
    (void)model;
    (void)inputs;
    (void)input_count;
    (void)outputs;
    (void)output_count;
    snprintf(why, size, "the delegate was made with runner none, to see the placement of nodes; it computes nothing");
    return false;
}

static void free_none(void *model)
{
    (void)model;
}

const struct coreml_runner coreml_runner_none = {
    .interface = COREML_RUNNER_INTERFACE,
    .open = open_none,
    .compile = compile_none,
    .run = run_none,
    .free = free_none,
};

const struct coreml_runner *coreml_runner_find(char *why, size_t size)
{
    const char *path = hl_library_named("HALITE_COREML_RUNNER");
    if (!path) return &coreml_runner_apple;
    struct hl_library *library = hl_library_open(path); // stays open, as its code may run at any time
    const struct coreml_runner *runner = NULL;
    if (!library)
        snprintf(why, size, "HALITE_COREML_RUNNER: %s", hl_library_error());
    else if (!hl_library_find(library, "halite_coreml_runner", &runner, sizeof runner))
        snprintf(why, size, "HALITE_COREML_RUNNER: %s has no halite_coreml_runner", path);
    else if (runner->interface != COREML_RUNNER_INTERFACE)
        snprintf(why, size, "HALITE_COREML_RUNNER: %s is for interface %d, and this is interface %d", path,
                 runner->interface, COREML_RUNNER_INTERFACE);
    else
        return runner;
    return NULL;
}
