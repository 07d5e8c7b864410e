// SPDX-License-Identifier: Apache-2.0
// A task is one run: a buffer, and perhaps a synchronization object, for each input and output of the graph. The
// application fills it and starts it; the delegate's kernel reads it through the same functions (core/async/c/task.h),
// from any of its threads. A task may run again once somebody has waited for it.
#include <stdlib.h>

#include "runtime/async.h"

// ---- life ---------------------------------------------------------------------------------------

static struct hl_async_slot *find_slot(TfLiteExecutionTask *task, int tensor)
{
    for (int i = 0; i < task->slot_count; i++)
        if (task->slots[i].tensor == tensor) return &task->slots[i];
    return NULL;
}

// A tensor that is input and output has one slot, an output's.
static void add_slots(TfLiteExecutionTask *task, const TfLiteIntArray *tensors, bool is_output)
{
    for (int i = 0; i < tensors->size; i++) {
        if (tensors->data[i] < 0) continue; // optional, and absent
        struct hl_async_slot *slot = find_slot(task, tensors->data[i]);
        if (!slot) slot = &task->slots[task->slot_count++];
        *slot = (struct hl_async_slot){tensors->data[i], is_output, kTfLiteNullBufferHandle, NULL};
    }
}

TfLiteExecutionTask *hl_task_create(TfLiteAsyncSignatureRunner *runner)
{
    struct hl_async *async = runner->async;
    const TfLiteIntArray *inputs = async->subgraph->inputs, *outputs = async->subgraph->outputs;
    size_t count = (size_t)inputs->size + (size_t)outputs->size;
    TfLiteExecutionTask *task = calloc(1, sizeof *task + count * sizeof task->slots[0]);
    if (!task) {
        hl_async_error(async, "out of memory while creating a task");
        return NULL;
    }
    task->runner = runner;
    task->status = kTfLiteOk;
    add_slots(task, inputs, false);
    add_slots(task, outputs, true);
    hl_mutex_lock(&async->mutex);
    task->next = async->tasks;
    async->tasks = task;
    hl_mutex_unlock(&async->mutex);
    return task;
}

// Finds a task in the list by its address alone, so that one that was freed before is refused and not read.
static TfLiteExecutionTask **find_link(const TfLiteAsyncSignatureRunner *runner, const TfLiteExecutionTask *task)
{
    TfLiteExecutionTask **link = &runner->async->tasks;
    while (*link && *link != task) link = &(*link)->next;
    if (*link && (*link)->runner == runner) return link;
    hl_async_error(runner->async, *link ? "the task belongs to another runner"
                                        : "there is no such task: it was finished before, or is another model's");
    return NULL;
}

TfLiteStatus hl_task_end(struct hl_async *async, TfLiteExecutionTask *task)
{
    if (task->ended) return kTfLiteOk;
    TfLiteStatus status = kTfLiteOk;
    if (task->scheduled) status = async->kernel->wait(async->kernel, hl_async_context(async), task);
    TfLiteStatus finished = async->kernel->finish(async->kernel, hl_async_context(async), task);
    hl_mutex_lock(&async->mutex);
    if (task->scheduled) task->status = status;
    task->scheduled = false;
    task->ended = true;
    hl_mutex_unlock(&async->mutex);
    if (finished == kTfLiteOk) return status;
    hl_async_error(async, "Failed to finish task.");
    return finished;
}

TfLiteStatus hl_task_finish(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task)
{
    hl_mutex_lock(&runner->async->mutex);
    TfLiteExecutionTask **link = find_link(runner, task);
    if (link) *link = task->next;
    hl_mutex_unlock(&runner->async->mutex);
    if (!link) return kTfLiteError;
    TfLiteStatus status = hl_task_end(runner->async, task);
    free(task);
    return status;
}

// Takes one task of a runner from the list, NULL where there is none left.
static TfLiteExecutionTask *take_any(const TfLiteAsyncSignatureRunner *runner)
{
    hl_mutex_lock(&runner->async->mutex);
    TfLiteExecutionTask **link = &runner->async->tasks;
    while (*link && (*link)->runner != runner) link = &(*link)->next;
    TfLiteExecutionTask *task = *link;
    if (task) *link = task->next;
    hl_mutex_unlock(&runner->async->mutex);
    return task;
}

int hl_task_finish_all(const TfLiteAsyncSignatureRunner *runner)
{
    int count = 0;
    for (TfLiteExecutionTask *task; (task = take_any(runner)); count++) {
        hl_task_end(runner->async, task);
        free(task);
    }
    return count;
}

// ---- a run --------------------------------------------------------------------------------------

// Inputs and outputs that the delegate's node neither reads nor writes need no buffer.
static bool has_buffers(const struct hl_async *async, const TfLiteExecutionTask *task)
{
    for (int i = 0; i < task->slot_count; i++) {
        const struct hl_async_slot *slot = &task->slots[i];
        if (!hl_is_listed(async->node->inputs, slot->tensor) && !hl_is_listed(async->node->outputs, slot->tensor))
            continue;
        if (slot->handle == kTfLiteNullBufferHandle) {
            hl_async_error(async, "InvokeAsync: the task has no buffer for %s %d (%s)",
                           slot->is_output ? "output tensor" : "input tensor", slot->tensor,
                           hl_tensor_label(&async->subgraph->context.tensors[slot->tensor]));
            return false;
        }
        if (!hl_async_find_buffer(async, slot->handle)) return false;
    }
    return true;
}

static bool may_start(const TfLiteAsyncSignatureRunner *runner, const TfLiteExecutionTask *task)
{
    const struct hl_async *async = runner->async;
    if (!find_link(runner, task) || !hl_async_is_attached(async)) return false;
    if (task->scheduled) {
        hl_async_error(async, "The task has already been scheduled for execution.");
        return false;
    }
    if (!async->prepared || async->subgraph->state == HL_NOT_READY) {
        hl_async_error(async, "InvokeAsync: call PrepareBackends first, and again after each change of attributes or "
                              "of an input's shape");
        return false;
    }
    return has_buffers(async, task);
}

TfLiteStatus hl_task_invoke(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task)
{
    struct hl_async *async = runner->async;
    hl_mutex_lock(&async->mutex);
    bool starts = may_start(runner, task);
    if (starts) {
        task->scheduled = true;
        task->status = kTfLiteOk;
    }
    hl_mutex_unlock(&async->mutex);
    if (!starts) return kTfLiteError;

    TfLiteStatus status =
        async->kernel->eval(async->kernel, hl_async_context(async), (TfLiteOpaqueNode *)async->node, task);
    if (status == kTfLiteOk) return kTfLiteOk;
    hl_mutex_lock(&async->mutex);
    task->scheduled = false; // there is nothing to wait for
    task->status = status;
    hl_mutex_unlock(&async->mutex);
    hl_async_error(async, "InvokeAsync: the delegate could not start the run");
    return status;
}

TfLiteStatus hl_task_wait(TfLiteAsyncSignatureRunner *runner, TfLiteExecutionTask *task)
{
    struct hl_async *async = runner->async;
    hl_mutex_lock(&async->mutex);
    bool found = find_link(runner, task) != NULL;
    bool scheduled = found && task->scheduled;
    TfLiteStatus status = found ? task->status : kTfLiteError;
    hl_mutex_unlock(&async->mutex);
    if (!scheduled) return status;

    status = async->kernel->wait(async->kernel, hl_async_context(async), task);
    hl_mutex_lock(&async->mutex);
    task->scheduled = false;
    task->status = status;
    hl_mutex_unlock(&async->mutex);
    return status;
}

// ---- what a task holds --------------------------------------------------------------------------

static void lock(const TfLiteExecutionTask *task)
{
    hl_mutex_lock(&task->runner->async->mutex);
}

static void unlock(const TfLiteExecutionTask *task)
{
    hl_mutex_unlock(&task->runner->async->mutex);
}

// Returns the tensor of a name, -1 after a message.
static int find_tensor(const TfLiteExecutionTask *task, TfLiteIoType io_type, const char *name)
{
    if (!task) return -1;
    const TfLiteAsyncSignatureRunner *runner = task->runner;
    int tensor = -1;
    lock(task);
    bool attached = hl_async_is_attached(runner->async);
    if (attached && io_type == kTfLiteIoTypeInput) tensor = hl_signature_input(runner->signature, name);
    if (attached && io_type == kTfLiteIoTypeOutput) tensor = hl_signature_output(runner->signature, name);
    unlock(task);
    if (attached && tensor < 0)
        hl_async_error(runner->async, "Signature tensor name %s was not found among the %s", name ? name : "(NULL)",
                       io_type == kTfLiteIoTypeInput    ? "inputs"
                       : io_type == kTfLiteIoTypeOutput ? "outputs"
                                                        : "tensors: say whether it is an input or an output");
    return tensor;
}

// Returns the slot of a tensor in a task that does not run, NULL after a message.
static struct hl_async_slot *find_idle_slot(TfLiteExecutionTask *task, int tensor)
{
    const struct hl_async *async = task->runner->async;
    if (!hl_async_is_attached(async)) return NULL;
    if (task->scheduled) {
        hl_async_error(async, "the task is under way: wait for it before changing its tensor %d", tensor);
        return NULL;
    }
    struct hl_async_slot *slot = find_slot(task, tensor);
    if (!slot) hl_async_error(async, "tensor %d is neither input nor output of the graph", tensor);
    return slot;
}

static bool suits(const struct hl_async *async, const struct hl_async_slot *slot, TfLiteBufferHandle handle)
{
    if (handle == kTfLiteNullBufferHandle) return true;
    const struct hl_async_buffer *buffer = hl_async_find_buffer(async, handle);
    if (!buffer) return false;
    if (!slot->is_output || buffer->io_type == kTfLiteIoTypeOutput) return true;
    hl_async_error(async, "buffer %d was registered for inputs, tensor %d is an output: register it for outputs",
                   handle, slot->tensor);
    return false;
}

TfLiteStatus TfLiteExecutionTaskSetBufferByIndex(TfLiteExecutionTask *task, int tensor_index, TfLiteBufferHandle handle)
{
    if (!task) return kTfLiteError;
    lock(task);
    struct hl_async_slot *slot = find_idle_slot(task, tensor_index);
    bool done = slot && suits(task->runner->async, slot, handle);
    if (done) slot->handle = handle;
    unlock(task);
    return done ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteExecutionTaskSetBuffer(TfLiteExecutionTask *task, TfLiteIoType io_type,
                                          const char *tensor_signature_name, TfLiteBufferHandle handle)
{
    int tensor = find_tensor(task, io_type, tensor_signature_name);
    return tensor >= 0 ? TfLiteExecutionTaskSetBufferByIndex(task, tensor, handle) : kTfLiteError;
}

TfLiteBufferHandle TfLiteExecutionTaskGetBufferByIndex(const TfLiteExecutionTask *task, int tensor_index)
{
    if (!task) return kTfLiteNullBufferHandle;
    lock(task);
    const struct hl_async_slot *slot = find_slot((TfLiteExecutionTask *)task, tensor_index);
    TfLiteBufferHandle handle = slot ? slot->handle : kTfLiteNullBufferHandle;
    unlock(task);
    return handle;
}

TfLiteBufferHandle TfLiteExecutionTaskGetBufferByName(const TfLiteExecutionTask *task, TfLiteIoType io_type,
                                                      const char *tensor_signature_name)
{
    return TfLiteExecutionTaskGetBufferByIndex(task, find_tensor(task, io_type, tensor_signature_name));
}

TfLiteStatus TfLiteExecutionTaskSetSyncByIndex(TfLiteExecutionTask *task, int tensor_index, TfLiteSynchronization *sync)
{
    if (!task) return kTfLiteError;
    lock(task);
    struct hl_async_slot *slot = find_idle_slot(task, tensor_index);
    if (slot) slot->sync = sync;
    unlock(task);
    return slot ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteExecutionTaskSetSync(TfLiteExecutionTask *task, TfLiteIoType io_type,
                                        const char *tensor_signature_name, TfLiteSynchronization *sync)
{
    int tensor = find_tensor(task, io_type, tensor_signature_name);
    return tensor >= 0 ? TfLiteExecutionTaskSetSyncByIndex(task, tensor, sync) : kTfLiteError;
}

TfLiteSynchronization *TfLiteExecutionTaskGetSyncByIndex(const TfLiteExecutionTask *task, int tensor_index)
{
    if (!task) return NULL;
    lock(task);
    const struct hl_async_slot *slot = find_slot((TfLiteExecutionTask *)task, tensor_index);
    TfLiteSynchronization *sync = slot ? slot->sync : NULL;
    unlock(task);
    return sync;
}

TfLiteSynchronization *TfLiteExecutionTaskGetSyncByName(const TfLiteExecutionTask *task, TfLiteIoType io_type,
                                                        const char *tensor_signature_name)
{
    return TfLiteExecutionTaskGetSyncByIndex(task, find_tensor(task, io_type, tensor_signature_name));
}

void *TfLiteExecutionTaskGetDelegateExecutionData(const TfLiteExecutionTask *task, TfLiteAsyncKernel *kernel)
{
    if (!task) return NULL;
    lock(task);
    void *data = kernel == task->runner->async->kernel ? task->kernel_data : NULL;
    unlock(task);
    return data;
}

void TfLiteExecutionTaskSetDelegateExecutionData(TfLiteExecutionTask *task, TfLiteAsyncKernel *kernel, void *data)
{
    if (!task) return;
    lock(task);
    bool own = kernel == task->runner->async->kernel;
    if (own) task->kernel_data = data;
    unlock(task);
    if (!own) hl_async_error(task->runner->async, "a task keeps data for its own kernel, this is another one");
}

TfLiteStatus TfLiteExecutionTaskGetStatus(const TfLiteExecutionTask *task)
{
    if (!task) return kTfLiteError;
    lock(task);
    TfLiteStatus status = task->status;
    unlock(task);
    return status;
}

void TfLiteExecutionTaskSetStatus(TfLiteExecutionTask *task, TfLiteStatus status)
{
    if (!task) return;
    lock(task);
    task->status = status;
    unlock(task);
}
