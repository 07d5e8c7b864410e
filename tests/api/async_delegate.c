// SPDX-License-Identifier: Apache-2.0
// See async_delegate.h. The order of this file is that of a delegate's life: fences, buffers, attributes, runs, kernel.
#include "async_delegate.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/core/async/c/async_kernel.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/interop/c/constants.h"

// Assertions of cmocka are for the thread that runs the test.
#define CHECK(condition) ((condition) ? (void)0 : abort())

enum { MAX_BUFFERS = 16 };

struct job {
    struct job *next;
    const float *input;
    float *output;
    int count;     // of elements
    int wait_fd;   // -1: the input is ready
    int signal_fd; // -1: nobody asked for a fence
    bool done;
};

struct kernel {
    struct async_delegate *owner;
    TfLiteAsyncKernel *async;
    int input, output; // tensors
    struct buffer {
        char *memory; // NULL: the row is free
        size_t size;
        TfLiteBufferHandle handle;
    } buffers[MAX_BUFFERS];
    bool prepared, gives_fence;
    struct job *jobs; // not begun, in order
    bool ends;
    pthread_t worker;
};

// ---- fences -------------------------------------------------------------------------------------

int fence_create(int *signal_fd)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    *signal_fd = ends[1];
    return ends[0];
}

void fence_signal(int signal_fd)
{
    CHECK(write(signal_fd, "", 1) == 1);
    close(signal_fd);
}

bool fence_is_reached(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

void fence_wait(int fd)
{
    char byte;
    CHECK(read(fd, &byte, 1) == 1); // which ThreadSanitizer takes for an order of events, and poll not
    close(fd);
}

// ---- buffers ------------------------------------------------------------------------------------

static struct kernel *kernel_of(const TfLiteAsyncKernel *async)
{
    return TfLiteAsyncKernelGetKernelData(async);
}

static struct buffer *find_buffer(struct kernel *kernel, TfLiteBufferHandle handle)
{
    for (int i = 0; i < MAX_BUFFERS; i++)
        if (kernel->buffers[i].memory && kernel->buffers[i].handle == handle) return &kernel->buffers[i];
    return NULL;
}

static TfLiteStatus add_buffer(struct kernel *kernel, char *memory, size_t size, TfLiteBufferHandle handle)
{
    TfLiteStatus status = kTfLiteError;
    pthread_mutex_lock(&kernel->owner->mutex);
    CHECK(!find_buffer(kernel, handle)); // the runtime numbers them, none twice
    for (int i = 0; i < MAX_BUFFERS && status != kTfLiteOk && memory; i++) {
        if (kernel->buffers[i].memory) continue;
        kernel->buffers[i] = (struct buffer){memory, size, handle};
        kernel->owner->buffers++;
        status = kTfLiteOk;
    }
    pthread_mutex_unlock(&kernel->owner->mutex);
    return status;
}

static TfLiteStatus register_buffer(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteIoType io_type,
                                    const TfLiteBackendBuffer *buffer, const TfLiteAttributeMap *attrs,
                                    TfLiteBufferHandle handle)
{
    const char *type;
    size_t size;
    CHECK(context && io_type != kTfLiteIoTypeUnknown);
    CHECK(TfLiteAttributeMapGetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, &type));
    if (kernel_of(async)->owner->fails_register || strcmp(type, TEST_MEMORY) != 0 ||
        !TfLiteAttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, &size))
        return kTfLiteError;
    return add_buffer(kernel_of(async), TfLiteBackendBufferGetPtr(buffer), size, handle);
}

static TfLiteStatus register_slice(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context,
                                   TfLiteBufferHandle buffer_pool, const TfLiteAttributeMap *attrs,
                                   TfLiteBufferHandle handle)
{
    size_t offset = 0, size = 0;
    const struct buffer *pool = find_buffer(kernel_of(async), buffer_pool);
    CHECK(context && pool); // the runtime has checked it
    TfLiteAttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, &offset);
    TfLiteAttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, &size);
    if (size == 0 || offset > pool->size || size > pool->size - offset) return kTfLiteError;
    return add_buffer(kernel_of(async), pool->memory + offset, size, handle);
}

static TfLiteStatus unregister_buffer(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteBufferHandle handle)
{
    struct kernel *kernel = kernel_of(async);
    if (kernel->owner->fails_unregister) return kTfLiteError;
    pthread_mutex_lock(&kernel->owner->mutex);
    struct buffer *buffer = find_buffer(kernel, handle);
    CHECK(context && buffer);
    buffer->memory = NULL;
    kernel->owner->buffers--;
    pthread_mutex_unlock(&kernel->owner->mutex);
    return kTfLiteOk;
}

// ---- attributes ---------------------------------------------------------------------------------

static void buffer_types(const TfLiteAsyncKernel *async, TfLiteIoType io_type, const char *const **types,
                         size_t *n_types)
{
    static const char *const names[] = {TEST_MEMORY};
    kernel_of(async)->owner->type_questions++;
    *types = names;
    *n_types = io_type == kTfLiteIoTypeUnknown ? 0 : 1;
}

static void sync_types(const TfLiteAsyncKernel *async, TfLiteIoType io_type, const char *const **types, size_t *n_types)
{
    static const char *const names[] = {kTfLiteSyncTypeNoSyncObj, TEST_FENCE};
    kernel_of(async)->owner->type_questions++;
    *types = names;
    *n_types = io_type == kTfLiteIoTypeUnknown ? 0 : 2;
}

static bool is_known_sync(const char *type)
{
    return strcmp(type, kTfLiteSyncTypeNoSyncObj) == 0 || strcmp(type, TEST_FENCE) == 0;
}

static bool reconcile_syncs(const TfLiteAttributeMap *user, TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    const char *type = kTfLiteSyncTypeNoSyncObj;
    TfLiteAttributeMapGetStringSyncAttr(user, kTfLiteSynchronizationAttrKeyObjectTypeName, &type);
    if (is_known_sync(type))
        return TfLiteAttributeMapSetStringSyncAttr(merged, kTfLiteSynchronizationAttrKeyObjectTypeName, type);
    if (conflict) TfLiteAttributeMapSetStringSyncAttr(conflict, kTfLiteSynchronizationAttrKeyObjectTypeName, type);
    return false;
}

static bool reconcile(const TfLiteAsyncKernel *async, const TfLiteOpaqueContext *context, const TfLiteOpaqueNode *node,
                      int tensor_index, const TfLiteAttributeMap *user, TfLiteAttributeMap *merged,
                      TfLiteAttributeMap *conflict)
{
    const struct kernel *kernel = kernel_of(async);
    CHECK(context && node && (tensor_index == kernel->input || tensor_index == kernel->output));
    if (TfLiteAttributeMapIsSyncAttributeMap(user)) return reconcile_syncs(user, merged, conflict);
    size_t size = 0, alignment = 1;
    const char *type = TEST_MEMORY;
    TfLiteAttributeMapGetStringBufferAttr(user, kTfLiteBufferAttrKeyResourceTypeName, &type);
    TfLiteAttributeMapGetSizeTBufferAttr(user, kTfLiteBufferAttrKeySize, &size);
    TfLiteAttributeMapGetSizeTBufferAttr(user, kTfLiteBufferAttrKeyAlignment, &alignment);
    if (strcmp(type, TEST_MEMORY) != 0) {
        if (conflict) TfLiteAttributeMapSetStringBufferAttr(conflict, kTfLiteBufferAttrKeyResourceTypeName, type);
        return false;
    }
    while (alignment % TEST_ALIGNMENT != 0) alignment *= 2; // the least common multiple with a power of two
    return TfLiteAttributeMapSetStringBufferAttr(merged, kTfLiteBufferAttrKeyResourceTypeName, TEST_MEMORY) &&
           TfLiteAttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyAlignment, alignment) &&
           TfLiteAttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeySize, size > TEST_SIZE ? size : TEST_SIZE);
}

static TfLiteStatus set_attributes(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node,
                                   int tensor_index, const TfLiteAttributeMap *attrs)
{
    struct kernel *kernel = kernel_of(async);
    CHECK(context && node);
    if (kernel->owner->fails_set) return kTfLiteError;
    const char *type;
    if (TfLiteAttributeMapGetStringSyncAttr(attrs, kTfLiteSynchronizationAttrKeyObjectTypeName, &type) &&
        tensor_index == kernel->output)
        kernel->gives_fence = strcmp(type, TEST_FENCE) == 0;
    kernel->prepared = false;
    return kTfLiteOk;
}

// ---- runs ---------------------------------------------------------------------------------------

static TfLiteStatus prepare(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    struct kernel *kernel = kernel_of(async);
    CHECK(TfLiteOpaqueTensorByteSize(TfLiteOpaqueNodeGetInput(context, node, 0)) > 0);
    kernel->prepared = !kernel->owner->fails_prepare;
    return kernel->prepared ? kTfLiteOk : kTfLiteError;
}

static void compute(struct job *job)
{
    if (job->wait_fd >= 0) fence_wait(job->wait_fd);
    for (int i = 0; i < job->count; i++) job->output[i] = 3 * job->input[i];
    if (job->signal_fd >= 0) fence_signal(job->signal_fd);
}

static void *work(void *arg)
{
    struct kernel *kernel = arg;
    struct async_delegate *owner = kernel->owner;
    pthread_mutex_lock(&owner->mutex);
    while (!kernel->ends) {
        struct job *job = owner->held ? NULL : kernel->jobs;
        if (!job) {
            pthread_cond_wait(&owner->changed, &owner->mutex);
            continue;
        }
        kernel->jobs = job->next;
        pthread_mutex_unlock(&owner->mutex);
        compute(job);
        pthread_mutex_lock(&owner->mutex);
        job->done = true;
        pthread_cond_broadcast(&owner->changed);
    }
    pthread_mutex_unlock(&owner->mutex);
    return NULL;
}

static int input_fence(const TfLiteExecutionTask *task, int tensor)
{
    const int *fence = TfLiteSynchronizationGetPtr(TfLiteExecutionTaskGetSyncByIndex(task, tensor));
    return fence ? *fence : -1;
}

// Gives the application a fence for the output, where it wants one: a number on the heap, which is the application's
// from then on.
static int output_fence(const struct kernel *kernel, const TfLiteExecutionTask *task)
{
    TfLiteSynchronization *sync = TfLiteExecutionTaskGetSyncByIndex(task, kernel->output);
    if (!sync || !kernel->gives_fence) return -1;
    int signal_fd, *fence = malloc(sizeof *fence);
    CHECK(fence);
    *fence = fence_create(&signal_fd);
    TfLiteSynchronizationSetPtr(sync, fence);
    return signal_fd;
}

static TfLiteStatus eval(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node,
                         TfLiteExecutionTask *task)
{
    struct kernel *kernel = kernel_of(async);
    CHECK(kernel->prepared);
    if (kernel->owner->fails_eval) return kTfLiteDelegateError;
    size_t bytes = TfLiteOpaqueTensorByteSize(TfLiteOpaqueNodeGetInput(context, node, 0));
    pthread_mutex_lock(&kernel->owner->mutex);
    const struct buffer *input = find_buffer(kernel, TfLiteExecutionTaskGetBufferByIndex(task, kernel->input));
    const struct buffer *output = find_buffer(kernel, TfLiteExecutionTaskGetBufferByIndex(task, kernel->output));
    CHECK(input && output); // the runtime has checked it
    struct job *job = TfLiteExecutionTaskGetDelegateExecutionData(task, async);
    bool fits = bytes <= input->size && bytes <= output->size;
    if (fits && !job) {
        job = calloc(1, sizeof *job);
        CHECK(job);
        kernel->owner->jobs++;
        TfLiteExecutionTaskSetDelegateExecutionData(task, async, job);
    }
    if (fits) {
        *job = (struct job){NULL,
                            (const float *)(const void *)input->memory,
                            (float *)(void *)output->memory,
                            (int)(bytes / sizeof(float)),
                            input_fence(task, kernel->input),
                            output_fence(kernel, task),
                            false};
        struct job **last = &kernel->jobs;
        while (*last) last = &(*last)->next;
        *last = job;
        pthread_cond_broadcast(&kernel->owner->changed);
    }
    pthread_mutex_unlock(&kernel->owner->mutex);
    return fits ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus wait_for(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteExecutionTask *task)
{
    struct async_delegate *owner = kernel_of(async)->owner;
    const struct job *job = TfLiteExecutionTaskGetDelegateExecutionData(task, async);
    CHECK(context && job);
    pthread_mutex_lock(&owner->mutex);
    while (!job->done) pthread_cond_wait(&owner->changed, &owner->mutex);
    pthread_mutex_unlock(&owner->mutex);
    return owner->fails_wait ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus finish(TfLiteAsyncKernel *async, TfLiteOpaqueContext *context, TfLiteExecutionTask *task)
{
    struct async_delegate *owner = kernel_of(async)->owner;
    struct job *job = TfLiteExecutionTaskGetDelegateExecutionData(task, async);
    CHECK(context && (!job || job->done));
    TfLiteExecutionTaskSetDelegateExecutionData(task, async, NULL);
    pthread_mutex_lock(&owner->mutex);
    if (job) owner->jobs--;
    pthread_mutex_unlock(&owner->mutex);
    free(job);
    return owner->fails_finish ? kTfLiteError : kTfLiteOk;
}

// ---- the kernel of the graph --------------------------------------------------------------------

static void set_callbacks(TfLiteAsyncKernel *async, const struct async_delegate *owner)
{
    TfLiteAsyncKernelSetRegisterBuffer(async, register_buffer);
    if (!owner->lacks_slices) TfLiteAsyncKernelSetRegisterBufferSlice(async, register_slice);
    TfLiteAsyncKernelSetUnregisterBuffer(async, unregister_buffer);
    TfLiteAsyncKernelSetSupportedBufferTypes(async, buffer_types);
    TfLiteAsyncKernelSetSupportedSynchronizations(async, sync_types);
    TfLiteAsyncKernelSetReconcileRestrictions(async, reconcile);
    TfLiteAsyncKernelSetSetAttributes(async, set_attributes);
    TfLiteAsyncKernelSetPrepare(async, prepare);
    TfLiteAsyncKernelSetEval(async, eval);
    if (!owner->lacks_wait) TfLiteAsyncKernelSetWait(async, wait_for);
    TfLiteAsyncKernelSetFinish(async, finish);
}

static struct kernel *create_kernel(struct async_delegate *owner, const TfLiteIntArray *inputs,
                                    const TfLiteIntArray *outputs)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    CHECK(kernel && inputs->size == 1 && outputs->size == 1);
    kernel->owner = owner;
    kernel->input = inputs->data[0];
    kernel->output = outputs->data[0];
    kernel->async = TfLiteAsyncKernelCreate(kernel);
    CHECK(kernel->async);
    set_callbacks(kernel->async, owner);
    owner->kernels++;
    CHECK(pthread_create(&kernel->worker, NULL, work, kernel) == 0);
    return kernel;
}

static void destroy_kernel(struct kernel *kernel)
{
    pthread_mutex_lock(&kernel->owner->mutex);
    kernel->ends = true;
    for (int i = 0; i < MAX_BUFFERS; i++) // what the application did not unregister
        if (kernel->buffers[i].memory) kernel->owner->buffers--;
    pthread_cond_broadcast(&kernel->owner->changed);
    pthread_mutex_unlock(&kernel->owner->mutex);
    pthread_join(kernel->worker, NULL);
    CHECK(!kernel->jobs);
    kernel->owner->kernels--;
    TfLiteAsyncKernelDelete(kernel->async);
    free(kernel);
}

static void *plain_init(TfLiteContext *context, const char *buffer, size_t length)
{
    const TfLiteDelegateParams *params = (const void *)buffer;
    (void)context;
    (void)length;
    return create_kernel(params->delegate->data_, params->input_tensors, params->output_tensors);
}

static void plain_free(TfLiteContext *context, void *state)
{
    (void)context;
    destroy_kernel(state);
}

static TfLiteStatus plain_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const struct kernel *kernel = node->user_data;
    return context->ResizeTensor(context, &context->tensors[kernel->output],
                                 TfLiteIntArrayCopy(context->tensors[kernel->input].dims));
}

static TfLiteStatus plain_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const struct kernel *kernel = node->user_data;
    const TfLiteTensor *input = &context->tensors[kernel->input];
    for (size_t i = 0; i < input->bytes / sizeof(float); i++)
        context->tensors[kernel->output].data.f[i] = 3 * input->data.f[i];
    return kTfLiteOk;
}

static TfLiteAsyncKernel *plain_async(TfLiteContext *context, TfLiteNode *node)
{
    CHECK(context);
    return ((struct kernel *)node->user_data)->async;
}

// The same through a TfLiteOperator. Its prepare is missing: shapes are those that the runtime found.
static void *opaque_init(TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    const TfLiteOpaqueDelegateParams *params = (const void *)buffer;
    (void)context;
    (void)length;
    return create_kernel(((TfLiteDelegate *)params->delegate)->data_, params->input_tensors, params->output_tensors);
}

static void opaque_free(TfLiteOpaqueContext *context, void *state)
{
    (void)context;
    destroy_kernel(state);
}

static TfLiteStatus opaque_invoke(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    return plain_invoke((TfLiteContext *)context, (TfLiteNode *)node);
}

static TfLiteAsyncKernel *opaque_async(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    CHECK(context);
    return ((struct kernel *)TfLiteOpaqueNodeGetUserData(node))->async;
}

// ---- the delegate -------------------------------------------------------------------------------

static TfLiteAsyncKernel *opaque_async_with_data(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    struct kernel *kernel = TfLiteOpaqueNodeGetUserData(node);
    CHECK(user_data == kernel->owner && context);
    return kernel->async;
}

static TfLiteOperator *make_operator(struct async_delegate *owner)
{
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "AsyncTest", 1, owner);
    CHECK(op);
    TfLiteOperatorSetInit(op, opaque_init);
    TfLiteOperatorSetFree(op, opaque_free);
    TfLiteOperatorSetInvoke(op, opaque_invoke);
    if (owner->offers_nothing) return op;
    if (owner->with_data)
        CHECK(TfLiteOperatorSetAsyncKernelWithData(op, opaque_async_with_data) == kTfLiteOk);
    else
        TfLiteOperatorSetAsyncKernel(op, opaque_async);
    return op;
}

static TfLiteRegistration make_registration(struct async_delegate *owner)
{
    TfLiteRegistration registration = {
        .init = plain_init,
        .free = plain_free,
        .prepare = plain_prepare,
        .invoke = plain_invoke,
        .custom_name = "AsyncTest",
        .async_kernel = owner->offers_nothing ? NULL : plain_async,
    };
    if (owner->passes_noise) { // as a stack might have it
        registration.registration_external = (TfLiteOperator *)(uintptr_t)0x10;
        registration.inplace_operator = (uint64_t)0x7ffe1234;
    }
    return registration;
}

static TfLiteStatus prepare_delegate(TfLiteContext *context, TfLiteDelegate *delegate)
{
    struct async_delegate *owner = delegate->data_;
    TfLiteIntArray *plan, *nodes;
    CHECK(context->GetExecutionPlan(context, &plan) == kTfLiteOk);
    CHECK((nodes = TfLiteIntArrayCopy(plan)));
    if (owner->leaves_a_node) nodes->size--;
    TfLiteStatus status =
        owner->gives_operator
            ? TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels((TfLiteOpaqueContext *)context,
                                                                       make_operator(owner), nodes,
                                                                       (TfLiteOpaqueDelegate *)delegate)
            : context->ReplaceNodeSubsetsWithDelegateKernels(context, make_registration(owner), nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return status;
}

TfLiteDelegate *async_delegate_begin(struct async_delegate *delegate)
{
    CHECK(pthread_mutex_init(&delegate->mutex, NULL) == 0 && pthread_cond_init(&delegate->changed, NULL) == 0);
    int64_t flags = delegate->delegate.flags;
    delegate->delegate = (TfLiteDelegate){.data_ = delegate, .Prepare = prepare_delegate, .flags = flags};
    return &delegate->delegate;
}

void async_delegate_end(struct async_delegate *delegate)
{
    CHECK(delegate->kernels == 0 && delegate->buffers == 0 && delegate->jobs == 0);
    pthread_cond_destroy(&delegate->changed);
    pthread_mutex_destroy(&delegate->mutex);
}

void async_delegate_hold(struct async_delegate *delegate, bool held)
{
    pthread_mutex_lock(&delegate->mutex);
    delegate->held = held;
    pthread_cond_broadcast(&delegate->changed);
    pthread_mutex_unlock(&delegate->mutex);
}
