// SPDX-License-Identifier: Apache-2.0
// Runs that do not block (HaliteInterpreterInvokeAsync). A run has inputs and outputs of its own; the interpreter's
// worker, a thread, takes runs from a queue: it copies the inputs to the interpreter, invokes it, copies the outputs
// back and calls the run's callback.
//
//   run.c   the queue, the worker, the functions of halite.h     run_tensors.c   a run's own tensors, copies to and fro
#ifndef HALITE_RUNTIME_RUN_H
#define HALITE_RUNTIME_RUN_H

#include <stdatomic.h>

#include "base/thread.h"
#include "runtime/interpreter.h"

struct HaliteRun {
    HaliteRun *next;        // of the interpreter's runs
    HaliteRun *next_queued; // in order of submission
    TfLiteInterpreter *interpreter;
    struct hl_run_tensors {
        TfLiteTensor *tensors; // owned, each with memory of its own; those that the model leaves out are all zeros
        int count;
    } inputs, outputs;

    // Set by a submission.
    void (*done)(void *data, HaliteRun *run, TfLiteStatus status);
    void *data;
    uint64_t deadline; // on the clock of hl_nanoseconds; 0: none
    atomic_bool cancelled;

    // The worker's mutex guards what follows.
    HaliteRunState state;
    TfLiteStatus status;          // of the last run that ended
    uint64_t submitted, answered; // how often; `answered` counts callbacks that have returned
    bool closed;                  // being deleted, so that it cannot be submitted
    bool is_workers;              // deleted by a callback: the worker frees it when the last submission is answered
    int event;                    // descriptor, -1: nobody asked for one
};

struct hl_run_worker {
    struct hl_mutex mutex;
    struct hl_condition changed; // a run was submitted, or answered
    struct hl_thread thread;
    HaliteRun *runs;  // all of the interpreter
    HaliteRun *queue; // submitted and not begun
    int in_flight;    // queued or running
    bool ends;
};

// ---- run.c

// Answers what is in flight and frees the worker and all runs. Returns false, after a message, where the worker itself
// calls, which cannot wait for its own end.
bool hl_runs_end(TfLiteInterpreter *interpreter);
// Returns whether the caller may use the interpreter itself. False after a message while runs are in flight.
bool hl_runs_are_idle(const TfLiteInterpreter *interpreter, const char *function);
// Returns whether a run was cancelled or is late. NULL: no run, false.
bool hl_run_is_stopped(const HaliteRun *run);

// ---- run_tensors.c

// Makes tensors like those of a list of the primary subgraph. False without memory; what was made is to be freed.
bool hl_run_tensors_create(struct hl_run_tensors *tensors, const struct hl_subgraph *subgraph,
                           const TfLiteIntArray *list);
void hl_run_tensors_free(struct hl_run_tensors *tensors);
// Copies a run's inputs to the interpreter, and the interpreter's outputs to the run. kTfLiteError after a message.
TfLiteStatus hl_run_load_inputs(const HaliteRun *run);
TfLiteStatus hl_run_store_outputs(HaliteRun *run);

#endif
