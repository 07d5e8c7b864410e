// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs. In: tasks of the runtime, each with a buffer and perhaps a fence for every input and output. Out:
// work in the device's queue. A task whose fences are all the device's own is submitted by the thread that starts it.
// The others have a thread: it waits for descriptors, submits, copies memory of the host, and signals descriptors.
//
// A task keeps the commands that were recorded for its buffers, so that it costs one submission from its second run on,
// and no task waits for another's commands.
#include <stdlib.h>

#include "base/event.h"
#include "gpu/delegate/async.h"

enum state { STATE_IDLE, STATE_STARTED, STATE_DONE, STATE_ENDS };

struct slot {
    struct gpu_async_buffer wanted;
    TfLiteBufferHandle bound; // what the recording uses
    struct gpu_buffer *imported;
    HaliteGpuFence *fence; // the application's; NULL: none
};

struct task {
    struct gpu_async *async;
    struct gpu_recording *recording; // NULL: not yet
    struct gpu_fence *fence;         // of the last run; NULL: there is none, or the backend has none
    bool is_deferred;                // the thread submits it
    bool has_host;                   // memory of the host
    // The thread, and what guards the state. Everything else of the task is the thread's while it is STARTED.
    bool has_thread;
    struct hl_thread thread;
    struct hl_mutex mutex;
    struct hl_condition changed;
    enum state state;
    bool ok; // how the thread's last run went
    struct slot slots[];
};

static enum gpu_fence_kind kind_of(const struct task *task, int slot)
{
    return task->slots[slot].fence ? task->async->fences[slot] : GPU_FENCE_NONE;
}

static const struct gpu_backend *backend_of(const struct task *task)
{
    return task->async->part->engine->info.backend;
}

static void enter(const struct task *task)
{
    gpu_engine_enter(task->async->part->engine, task->async->context, "InvokeAsync");
}

static void leave(const struct task *task)
{
    gpu_engine_leave(task->async->part->engine);
}

// ---- buffers: between enter and leave -----------------------------------------------------------

static void drop_recording(struct task *task)
{
    const struct gpu_part *part = task->async->part;
    gpu_recording_destroy(part->runner, task->recording);
    task->recording = NULL;
    for (int i = 0; i < gpu_async_slot_count(task->async); i++) {
        backend_of(task)->buffer_destroy(part->engine->device, task->slots[i].imported);
        task->slots[i].imported = NULL;
        task->slots[i].bound = kTfLiteNullBufferHandle;
    }
}

// Lets runs with memory of the host use another buffer than Invoke where that one's bytes may be the tensor's: theirs
// are not the tensor's. False after a message.
static bool step_aside(const struct gpu_part *part, struct gpu_port *port)
{
    const struct gpu_backend *backend = part->engine->info.backend;
    struct gpu_device *device = part->engine->device;
    const size_t bytes = gpu_plan_raw_bytes(part->plan, port->value);
    if (!port->lent) return true;
    if (!port->aside)
        port->aside = backend->buffer_create_for_host
                          ? backend->buffer_create_for_host(device, bytes, port->value->is_input)
                          : backend->buffer_create(device, bytes);
    return port->aside && gpu_runner_bind(part->runner, port->value, port->aside, 0);
}

static bool import_slot(struct task *task, int number)
{
    struct slot *slot = &task->slots[number];
    struct gpu_part *part = task->async->part;
    struct gpu_port *port = gpu_async_port(task->async, number);
    HaliteGpuBuffer buffer = slot->wanted.buffer, planned = {.struct_size = sizeof planned};
    slot->bound = slot->wanted.handle;
    if (slot->wanted.is_host) return step_aside(part, port);
    gpu_buffers_describe(port->value, &planned);
    if (!slot->wanted.has_element) buffer.element = planned.element;
    if (!slot->wanted.has_layout) buffer.layout = planned.layout;
    slot->imported = gpu_buffers_import(part, port, &buffer);
    return slot->imported && gpu_runner_bind(part->runner, port->value, slot->imported, (size_t)buffer.offset);
}

// Makes the recording for the task's buffers, where it has another or none. False after a message.
static bool bind_buffers(struct task *task)
{
    struct gpu_runner *runner = task->async->part->runner;
    int count = gpu_async_slot_count(task->async);
    bool same = task->recording != NULL;
    for (int i = 0; i < count && same; i++) same = task->slots[i].bound == task->slots[i].wanted.handle;
    if (same) return true;
    drop_recording(task);
    if (!(task->recording = gpu_recording_create(runner))) return false;
    bool ok = true;
    gpu_runner_exchange(runner, task->recording);
    for (int i = 0; i < count && ok; i++) ok = import_slot(task, i);
    gpu_runner_exchange(runner, task->recording);
    if (!ok) drop_recording(task);
    return ok;
}

// ---- memory of the host -------------------------------------------------------------------------

// Copies it to the device, or outputs from there, by way of a tensor that stands for it. False after a message.
static bool copy_host(struct task *task, bool outputs)
{
    struct gpu_async *async = task->async;
    struct gpu_part *part = async->part;
    bool ok = true;
    for (int i = 0; i < gpu_async_slot_count(async) && ok; i++) {
        const struct gpu_async_buffer *buffer = &task->slots[i].wanted;
        if (!buffer->is_host || gpu_async_is_output(async, i) != outputs) continue;
        const struct gpu_port *port = gpu_async_port(async, i);
        TfLiteTensor tensor = async->context->tensors[port->tensor];
        if (buffer->buffer.size < tensor.bytes)
            return gpu_part_complain(part, &tensor, "is larger than the host memory that stands for it");
        tensor.data.raw = (char *)buffer->memory + buffer->buffer.offset;
        ok = outputs ? gpu_port_fetch(part, port, &tensor) : gpu_port_store(part, port, &tensor);
    }
    return ok;
}

// ---- submission ---------------------------------------------------------------------------------

// A descriptor that the device itself waits for, or makes: not in a thread, which waits for descriptors anyway.
static bool is_sync_file(const struct task *task, int slot)
{
    return kind_of(task, slot) == GPU_FENCE_DESCRIPTOR && task->async->sync_files && !task->is_deferred;
}

static bool pass_sync_file(const struct task *task, HaliteGpuFence *fence, bool is_output)
{
    struct gpu_device *device = task->async->part->engine->device;
    int descriptor = -1;
    if (!is_output)
        return fence->handle == HALITE_FENCE_FD_DONE || backend_of(task)->sync_file_await(device, (int)fence->handle);
    if (!backend_of(task)->sync_file_create(device, &descriptor)) return false;
    fence->handle = descriptor < 0 ? HALITE_FENCE_FD_DONE : (uint64_t)descriptor;
    return true;
}

// The device waits for the fences of inputs, or signals those of outputs.
static bool pass_fences(struct task *task, bool outputs)
{
    struct gpu_async *async = task->async;
    struct gpu_device *device = async->part->engine->device;
    bool ok = true;
    for (int i = 0; i < gpu_async_slot_count(async) && ok; i++) {
        HaliteGpuFence *fence = task->slots[i].fence;
        if (gpu_async_is_output(async, i) != outputs) continue;
        if (is_sync_file(task, i)) ok = pass_sync_file(task, fence, outputs);
        if (kind_of(task, i) != GPU_FENCE_DEVICE) continue;
        ok = outputs ? backend_of(task)->fence_signal(device, fence) : backend_of(task)->fence_await(device, fence);
    }
    return ok;
}

static bool run(struct task *task)
{
    struct gpu_part *part = task->async->part;
    for (int i = 0; i < part->input_count; i++) part->from[i] = NULL;
    for (int i = 0; i < part->output_count; i++) part->to[i] = NULL;
    gpu_runner_exchange(part->runner, task->recording);
    bool ok = copy_host(task, false) && gpu_runner_run(part->runner, part->from, part->to, NULL);
    gpu_runner_exchange(part->runner, task->recording);
    return ok;
}

static bool submit(struct task *task)
{
    const struct gpu_backend *backend = backend_of(task);
    struct gpu_device *device = task->async->part->engine->device;
    enter(task);
    bool ok = bind_buffers(task) && pass_fences(task, false) && run(task);
    if (ok && task->async->has_fences) ok = (task->fence = backend->fence_create(device)) && pass_fences(task, true);
    leave(task);
    if (!ok && task->fence) backend->fence_wait(task->fence); // nobody will be able to
    return ok;
}

// Waits until the device has done the run.
static bool await_device(struct task *task)
{
    if (!task->fence || backend_of(task)->fence_wait(task->fence)) return true;
    enter(task);
    hl_report(&task->async->part->engine->reporter, "the run did not end: its device is lost");
    leave(task);
    return false;
}

// ---- the thread ---------------------------------------------------------------------------------

// All are waited for before the first is cleared, since several inputs may have the same eventfd.
static bool await_descriptors(const struct task *task)
{
    int count = task->async->part->input_count;
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        if ((kind_of(task, i) == GPU_FENCE_EVENT || kind_of(task, i) == GPU_FENCE_DESCRIPTOR) &&
            task->slots[i].fence->handle != HALITE_FENCE_FD_DONE)
            ok = hl_descriptor_wait((int)task->slots[i].fence->handle) ||
                 gpu_async_fail(task->async, "InvokeAsync", "descriptor %d of input tensor %d cannot be waited for",
                                (int)task->slots[i].fence->handle, gpu_async_port(task->async, i)->tensor);
    for (int i = 0; i < count && ok; i++)
        if (kind_of(task, i) == GPU_FENCE_EVENT) hl_event_clear((int)task->slots[i].fence->handle);
    return ok;
}

static bool fetch_outputs(struct task *task)
{
    struct gpu_runner *runner = task->async->part->runner;
    enter(task);
    gpu_runner_exchange(runner, task->recording);
    bool ok = copy_host(task, true);
    gpu_runner_exchange(runner, task->recording);
    leave(task);
    return ok;
}

static bool run_deferred(struct task *task)
{
    if (!await_descriptors(task)) return false;
    if (!task->has_host) return submit(task) && await_device(task);
    hl_mutex_lock(&task->async->host);
    bool ok = submit(task) && await_device(task) && fetch_outputs(task);
    hl_mutex_unlock(&task->async->host);
    return ok;
}

static bool serve(struct task *task)
{
    bool ok = task->is_deferred ? run_deferred(task) : await_device(task);
    // Also where the run failed: whoever waits for them is to learn of it.
    for (int i = task->async->part->input_count; i < gpu_async_slot_count(task->async); i++)
        if (kind_of(task, i) == GPU_FENCE_EVENT) hl_event_set((int)task->slots[i].fence->handle);
    return ok;
}

static void work(void *arg)
{
    struct task *task = arg;
    hl_mutex_lock(&task->mutex);
    while (task->state != STATE_ENDS) {
        if (task->state != STATE_STARTED) {
            hl_condition_wait(&task->changed, &task->mutex);
            continue;
        }
        hl_mutex_unlock(&task->mutex);
        bool ok = serve(task);
        hl_mutex_lock(&task->mutex);
        task->ok = ok;
        task->state = STATE_DONE;
        hl_condition_broadcast(&task->changed);
    }
    hl_mutex_unlock(&task->mutex);
}

static void set_state(struct task *task, enum state state)
{
    hl_mutex_lock(&task->mutex);
    task->state = state;
    hl_condition_broadcast(&task->changed);
    hl_mutex_unlock(&task->mutex);
}

static bool start_thread(struct task *task)
{
    if (!task->has_thread) task->has_thread = hl_thread_start(&task->thread, work, task);
    return task->has_thread || gpu_async_fail(task->async, "InvokeAsync", "the system has no thread left");
}

// ---- tasks --------------------------------------------------------------------------------------

static struct task *create(struct gpu_async *async)
{
    struct task *task = calloc(1, sizeof *task + (size_t)gpu_async_slot_count(async) * sizeof task->slots[0]);
    if (!task) return NULL;
    task->async = async;
    for (int i = 0; i < gpu_async_slot_count(async); i++) task->slots[i].bound = kTfLiteNullBufferHandle;
    if (!hl_mutex_init(&task->mutex)) {
        free(task);
        return NULL;
    }
    if (hl_condition_init(&task->changed)) return task;
    hl_mutex_destroy(&task->mutex);
    free(task);
    return NULL;
}

static struct task *find_task(struct gpu_async *async, const TfLiteExecutionTask *execution)
{
    return async->runtime.ExecutionTaskGetDelegateExecutionData(execution, async->kernel);
}

// What is wrong with the fence of a slot; NULL: nothing.
static const char *fence_problem(const struct task *task, int number, bool is_given)
{
    const HaliteGpuFence *fence = task->slots[number].fence;
    enum gpu_fence_kind kind = task->async->fences[number];
    bool is_output = gpu_async_is_output(task->async, number), is_made = is_output && backend_of(task)->makes_fences;
    if (kind == GPU_FENCE_NONE) return is_given ? "has a fence: SetAttributes has to say of which kind" : NULL;
    if (!fence) return "has no fence, or an empty one, though SetAttributes gave it a kind";
    if (fence->struct_size < sizeof *fence) return "has a fence with a struct_size below sizeof(HaliteGpuFence)";
    if (kind == GPU_FENCE_DESCRIPTOR && (is_output || fence->handle == HALITE_FENCE_FD_DONE)) return NULL;
    if (kind != GPU_FENCE_DEVICE) return fence->handle > INT32_MAX ? "has a fence that is no descriptor" : NULL;
    return fence->handle || is_made ? NULL : "has a fence whose handle is 0";
}

// Reads the task's buffers and fences. False after a message.
static bool read_slots(struct task *task, const TfLiteExecutionTask *execution)
{
    struct gpu_async *async = task->async;
    const struct gpu_async_runtime *runtime = &async->runtime;
    task->has_host = task->is_deferred = false;
    for (int i = 0; i < gpu_async_slot_count(async); i++) {
        struct slot *slot = &task->slots[i];
        int tensor = gpu_async_port(async, i)->tensor;
        const TfLiteSynchronization *sync = runtime->ExecutionTaskGetSyncByIndex(execution, tensor);
        TfLiteBufferHandle handle = runtime->ExecutionTaskGetBufferByIndex(execution, tensor);
        if (!gpu_async_get_buffer(async, handle, &slot->wanted)) return false;
        slot->fence = sync ? runtime->SynchronizationGetPtr(sync) : NULL;
        const char *problem = fence_problem(task, i, sync != NULL);
        if (problem) return gpu_async_fail(async, "InvokeAsync", "tensor %d %s", tensor, problem);
        enum gpu_fence_kind kind = kind_of(task, i);
        task->has_host = task->has_host || slot->wanted.is_host;
        if (!gpu_async_is_output(async, i) &&
            (kind == GPU_FENCE_EVENT || (kind == GPU_FENCE_DESCRIPTOR && !async->sync_files)))
            task->is_deferred = true;
    }
    task->is_deferred = task->is_deferred || task->has_host;
    return true;
}

// Whether all is as its fences need it. *watched: a thread has to signal one of them. False after a message.
static bool check_outputs(const struct task *task, bool *watched)
{
    *watched = task->is_deferred;
    for (int i = task->async->part->input_count; i < gpu_async_slot_count(task->async); i++) {
        enum gpu_fence_kind kind = kind_of(task, i);
        *watched = *watched || kind == GPU_FENCE_EVENT;
        if ((kind == GPU_FENCE_DEVICE || kind == GPU_FENCE_DESCRIPTOR) && task->is_deferred)
            return gpu_async_fail(task->async, "InvokeAsync",
                                  "the fence of output tensor %d has to be an eventfd, since a thread submits a task "
                                  "with memory of the host or with a descriptor as a fence",
                                  gpu_async_port(task->async, i)->tensor);
    }
    return true;
}

static bool start(struct task *task, const TfLiteExecutionTask *execution)
{
    bool watched;
    if (task->fence) backend_of(task)->fence_destroy(task->fence);
    task->fence = NULL;
    set_state(task, STATE_IDLE);
    if (!read_slots(task, execution) || !check_outputs(task, &watched)) return false;
    if (watched && !start_thread(task)) return false;
    if (!task->is_deferred && !submit(task)) return false;
    if (watched) set_state(task, STATE_STARTED);
    return true;
}

TfLiteStatus gpu_task_start(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node,
                            TfLiteExecutionTask *execution)
{
    struct gpu_async *async = gpu_async_of(kernel);
    struct task *task = find_task(async, execution);
    (void)context, (void)node;
    if (!task) {
        task = create(async);
        if (!task) gpu_async_fail(async, "InvokeAsync", "out of memory");
        async->runtime.ExecutionTaskSetDelegateExecutionData(execution, async->kernel, task);
    }
    return task && start(task, execution) ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus gpu_task_wait(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteExecutionTask *execution)
{
    struct task *task = find_task(gpu_async_of(kernel), execution);
    (void)context;
    if (!task) return kTfLiteError;
    hl_mutex_lock(&task->mutex);
    bool by_thread = task->state != STATE_IDLE;
    while (task->state == STATE_STARTED) hl_condition_wait(&task->changed, &task->mutex);
    bool ok = task->ok;
    hl_mutex_unlock(&task->mutex);
    if (!by_thread) ok = await_device(task);
    return ok ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus gpu_task_finish(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteExecutionTask *execution)
{
    struct gpu_async *async = gpu_async_of(kernel);
    struct task *task = find_task(async, execution);
    (void)context;
    if (!task) return kTfLiteOk; // it was never started
    if (task->has_thread) {
        set_state(task, STATE_ENDS);
        hl_thread_join(&task->thread);
    }
    if (task->fence) backend_of(task)->fence_destroy(task->fence);
    enter(task);
    drop_recording(task);
    leave(task);
    hl_condition_destroy(&task->changed);
    hl_mutex_destroy(&task->mutex);
    free(task);
    async->runtime.ExecutionTaskSetDelegateExecutionData(execution, async->kernel, NULL);
    return kTfLiteOk;
}
