// SPDX-License-Identifier: Apache-2.0
// The interpreter: a model's subgraphs made runnable, and what they share: reporter, resolver, resources, options.
#ifndef HALITE_RUNTIME_INTERPRETER_H
#define HALITE_RUNTIME_INTERPRETER_H

#include <stdatomic.h>

#include "halite/halite.h"
#include "runtime/calls.h"
#include "runtime/options.h"
#include "runtime/resources.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/c_api.h"

#define HL_DEFAULT_WORK_LIMIT 1e15

struct TfLiteInterpreter {
    TfLiteModel *model;                       // a reference of its own
    struct TfLiteInterpreterOptions *options; // a copy of its own
    int subgraph_count;
    struct hl_subgraph **subgraphs;
    struct hl_resources resources;
    const struct hl_row_kernels *row_kernels; // of operators without fast kernels
    struct hl_threads *threads;               // that kernels share their work among; NULL: the caller's alone
    atomic_bool cancelled;
    bool (*is_cancelled)(void *data); // asked before each node; NULL: nobody asks
    void *cancellation_data;
    struct hl_run_worker *worker; // of runs that do not block; NULL: there are none
    const HaliteRun *run;         // that the worker has begun; NULL: none
    bool allow_buffer_handle_output;
    bool profiling;
    size_t memory_limit, tensor_bytes; // of all subgraphs' tensors but constants and custom allocations
    int64_t call_limit, calls; // of subgraphs by nodes; made since the outermost Invoke or AllocateTensors began
    double work_limit, work;   // steps of nodes; taken since then
    int call_depth;            // that are under way
    TfLiteExternalContext *external_contexts[kTfLiteMaxExternalContexts];
};

// Returns NULL after a message: an operator has no kernel, a delegate failed, or memory is out.
TfLiteInterpreter *hl_interpreter_create(const TfLiteModel *model, const TfLiteInterpreterOptions *options);
void hl_interpreter_destroy(TfLiteInterpreter *interpreter);
// For nodes that are prepared from now on.
void hl_interpreter_use_kernels(TfLiteInterpreter *interpreter, HaliteKernels kernels);
TfLiteStatus hl_interpreter_invoke(TfLiteInterpreter *interpreter, struct hl_subgraph *subgraph);
TfLiteStatus hl_interpreter_apply_delegate(TfLiteInterpreter *interpreter, TfLiteDelegate *delegate);
// The same for the subgraphs with these indices alone. NULL: all.
TfLiteStatus hl_interpreter_apply_delegate_to(TfLiteInterpreter *interpreter, TfLiteDelegate *delegate,
                                              const int *chosen, int count);
TfLiteStatus hl_interpreter_cancel(TfLiteInterpreter *interpreter);
// Returns how many bytes the tensors of all subgraphs may take beyond what they take now.
size_t hl_interpreter_memory_left(const TfLiteInterpreter *interpreter);

#endif
