// SPDX-License-Identifier: Apache-2.0
// A Metal that computes: it stands for Apple's in tests on other systems, with an Objective-C runtime of its own
// (objc/objc.h). In: messages to devices, queues, command buffers, encoders. Out: what the kernels compute, since their
// texts are compiled by the host's C++ compiler (common/grid.h). Committed command buffers run when somebody waits for
// them or asks for their status the third time, and dispatches of a concurrent encoder run backwards between barriers,
// so that a missing wait and a missing barrier change results. The order of calls, their arguments and the lives of
// objects are checked. It proves what a delegate sends; what Apple's compiler and GPUs make of it, it cannot know.
//   control.c   knobs and complaints            foundation.c   strings, arrays, errors
//   device.c    devices, queues and buffers     library.c      texts, functions and pipelines
//   commands.c  command buffers and encoders    run.c          their execution
#ifndef HALITE_TESTS_FAKES_METAL_FAKE_H
#define HALITE_TESTS_FAKES_METAL_FAKE_H

#include <stdint.h>

#include "common/grid.h"
#include "common/knobs.h"
#include "objc/objc.h"

// X(name, at first, what it is)
#define FAKE_KNOBS(X)                                                            \
    X(devices, 1, "how many there are, 2 at most")                               \
    X(unified, 1, "whether devices share the memory of the processor")           \
    X(is_old, 0, "whether the system lacks methods that came late")              \
    X(fail_at, 0, "number of the call that fails, from 1 on; 0: none")           \
    X(fail_code, 1, "with which code a command buffer fails then")               \
    X(hangs, 0, "whether command buffers stay in flight for those who poll")     \
    X(calls, 0, "calls so far that can fail")                                    \
    X(commits, 0, "command buffers so far that were committed")                  \
    X(runs, 0, "command buffers so far that have run")                           \
    X(dispatches, 0, "kernels so far that have run")                             \
    X(waits, 0, "waitUntilCompleted so far")                                     \
    X(polls, 0, "questions so far for the status of a command buffer in flight") \
    X(fast_math, 0, "texts so far that were compiled with fast math")            \
    X(kept, 0, "objects that are for good: devices and their names")             \
    X(complaints, 0, "broken rules so far")

struct fake_knobs {
    FAKE_KNOBS(FAKE_KNOB_FIELD)
};
extern struct fake_knobs fake;

// Sets knobs as the variable FAKE_METAL says ("unified=0").
void fake_read_environment(void);
// Counts a call that can fail. False if this one has to.
bool fake_begin(void);
// Adds to a knob that counts.
void fake_count(long long *knob);
// The fake's one lock, for knobs and the queue of what runs.
void fake_lock(void);
void fake_unlock(void);

struct fake_size {
    unsigned long width, height, depth;
};

// ---- foundation.c

void *fake_string(const char *text); // the caller's
const char *fake_text(const void *string);
void *fake_error(long code, const char *text);     // a pool's
void *fake_array(void *const *objects, int count); // the caller's; retains them
bool fake_options_are_fast(const void *options);   // MTLCompileOptions, or nil

// ---- device.c

struct fake_device {
    struct objc_object object;
    void *name;
};

struct fake_queue {
    struct objc_object object;
    struct fake_device *device;
};

struct fake_buffer {
    struct objc_object object;
    struct fake_device *device;
    size_t bytes;
    unsigned char *data;
    bool is_private;
};

// ---- library.c

enum { FAKE_MAX_ARGUMENTS = 8, FAKE_MAX_INLINE = 4096, FAKE_MAX_GROUP = 1024 };

struct fake_function {
    struct objc_object object;
    struct grid_module *module;
    char name[128];
    int argument_count;
    bool is_constant[FAKE_MAX_ARGUMENTS]; // constant memory: bytes that the encoder holds
    bool is_written[FAKE_MAX_ARGUMENTS];
};

struct fake_pipeline {
    struct objc_object object;
    struct fake_function *function;
};

void *fake_library_create(const char *text, void **error); // the caller's; NULL with an error
void *fake_pipeline_create(struct fake_function *function);

// ---- commands.c

struct fake_command {
    enum { FAKE_DISPATCH, FAKE_COPY, FAKE_BARRIER, FAKE_END } kind;
    struct fake_pipeline *pipeline;
    struct fake_buffer *buffers[FAKE_MAX_ARGUMENTS]; // of a copy: from and to
    size_t offsets[FAKE_MAX_ARGUMENTS], bytes;
    unsigned char *inlined[FAKE_MAX_ARGUMENTS];
    struct fake_size groups, group;
};

struct fake_commands {
    struct objc_object object;
    struct fake_queue *queue;
    struct fake_command *list;
    int count, capacity;
    struct fake_encoder *open; // encoder that has not ended; not retained
    unsigned long status;
    bool has_to_fail;
    int polls;
    void *error; // retained
    double start, end;
    struct fake_commands *next; // among those that are committed and have not run
};

struct fake_encoder {
    struct objc_object object;
    struct fake_commands *commands;
    struct fake_command now; // what the next dispatch will use, not retained
    size_t inlined_bytes[FAKE_MAX_ARGUMENTS];
    bool copies, has_ended;
};

void *fake_commands_create(struct fake_queue *queue);

// ---- run.c

void fake_submit(struct fake_commands *commands);
// Runs everything that was committed up to this one; NULL: all.
void fake_run_until(const struct fake_commands *commands);

#endif
