// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs of a subgraph of which one delegate took everything. The delegate's kernel does the work; here is
// what the runtime knows about it: the registered buffers, the tasks, and whether the kernel is prepared.
//
//   async_kernel.c   the delegate's callbacks             async_task.c     a run: its buffers, start, wait and end
//   async.c          what a subgraph's runners share      async_graph.c    how a subgraph gets and loses it
//   async_runner.c   the functions that applications call
//
// async.c knows nothing of the others, and async_task.c only async.c.
#ifndef HALITE_RUNTIME_ASYNC_H
#define HALITE_RUNTIME_ASYNC_H

#include "base/mutex.h"
#include "runtime/async_kernel.h"
#include "runtime/signature.h"
#include "tensorflow/lite/core/async/c/async_signature_runner.h"

struct hl_async_buffer {
    TfLiteBufferHandle handle;
    TfLiteBufferHandle pool; // of a slice, the buffer that it is a part of; else kTfLiteNullBufferHandle
    TfLiteIoType io_type;    // buffers for outputs may be inputs as well
};

struct hl_async_types {
    const char *const *names; // the kernel's own
    size_t count;
};

struct hl_async {
    // The kernel is configured by one call at a time, which holds `setup`. `mutex` guards the fields below and the
    // tasks; it is never held while the kernel is called, since kernels read tasks from within their own locks.
    struct hl_mutex setup, mutex;
    int references;               // of the subgraph and of the runners
    struct hl_reporter reporter;  // of the interpreter, standard error once that is gone
    struct hl_subgraph *subgraph; // NULL once the graph has changed: then kernel and node are gone
    TfLiteAsyncKernel *kernel;    // the delegate's
    TfLiteNode *node;
    bool prepared;                                        // since the last change of attributes
    struct hl_async_types buffer_types[2], sync_types[2]; // of inputs, of outputs
    TfLiteBufferHandle next_handle;
    struct hl_async_buffer *buffers;
    int buffer_count, buffer_capacity;
    TfLiteExecutionTask *tasks; // of all runners
};

struct TfLiteAsyncSignatureRunner {
    TfLiteSignatureRunner *signature; // the names; owned
    struct hl_async *async;           // a reference
};

struct TfLiteExecutionTask {
    TfLiteExecutionTask *next;
    const TfLiteAsyncSignatureRunner *runner;
    bool scheduled; // started, and nobody has waited for it yet
    bool ended;     // the kernel's finish was called
    TfLiteStatus status;
    void *kernel_data; // what the kernel keeps with the task
    int slot_count;
    struct hl_async_slot { // an input or output of the subgraph
        int tensor;
        bool is_output;
        TfLiteBufferHandle handle;
        TfLiteSynchronization *sync; // the application's
    } slots[];
};

// ---- async.c

void hl_async_error(const struct hl_async *async, const char *format, ...) HL_PRINTF(2, 3);
static inline TfLiteOpaqueContext *hl_async_context(const struct hl_async *async)
{
    return (TfLiteOpaqueContext *)&async->subgraph->context;
}
// Returns whether the graph is still the one that the kernel was made for, false after a message.
bool hl_async_is_attached(const struct hl_async *async);
// Returns a registered buffer, NULL after a message. The caller holds the mutex.
const struct hl_async_buffer *hl_async_find_buffer(const struct hl_async *async, TfLiteBufferHandle handle);
// For these the caller holds `setup`.
TfLiteStatus hl_async_register(struct hl_async *async, TfLiteIoType io_type, const TfLiteBackendBuffer *buffer,
                               const TfLiteAttributeMap *attrs, TfLiteBufferHandle *handle);
TfLiteStatus hl_async_register_slice(struct hl_async *async, TfLiteBufferHandle pool, const TfLiteAttributeMap *attrs,
                                     TfLiteBufferHandle *handle);
TfLiteStatus hl_async_unregister(struct hl_async *async, TfLiteBufferHandle handle);
TfLiteStatus hl_async_set_attributes(struct hl_async *async, int tensor, const TfLiteAttributeMap *attrs);
TfLiteStatus hl_async_prepare(struct hl_async *async);

// ---- async_task.c

TfLiteExecutionTask *hl_task_create(TfLiteAsyncSignatureRunner *runner);
TfLiteStatus hl_task_invoke(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task);
TfLiteStatus hl_task_wait(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task);
TfLiteStatus hl_task_finish(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task);
// Waits for the task's run, if there is one, and lets the kernel free what it keeps for the task. Once is enough.
TfLiteStatus hl_task_end(struct hl_async *async, TfLiteExecutionTask *task);
// Ends and frees all tasks of a runner. Returns how many there were.
int hl_task_finish_all(const TfLiteAsyncSignatureRunner *runner);

// ---- async_graph.c

// Returns a reference to what the subgraph's runners share, and makes it where this is the first. NULL after a message:
// the graph is not one delegate's, or that delegate offers no kernel for asynchronous runs.
struct hl_async *hl_async_acquire(struct hl_subgraph *subgraph);
void hl_async_release(struct hl_async *async); // takes NULL

#endif
