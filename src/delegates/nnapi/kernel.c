// SPDX-License-Identifier: Apache-2.0
// A claimed partition as NNAPI runs it. create builds the model, compiles it and makes the memory that its inputs and
// outputs go through; all of that happens while the delegate is applied, so that a failure leaves the graph to the CPU.
// invoke copies inputs into that memory, runs the compiled model and copies outputs back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/shared_memory.h"
#include "delegates/common/widened.h"
#include "delegates/nnapi/op.h"

enum { POOL_ALIGNMENT = 64 };

// Shared memory for all inputs or all outputs, one after the other.
struct pool {
    struct hl_shared_memory shared;
    ANeuralNetworksMemory *memory;
    size_t *offsets;
};

struct kernel {
    struct nnapi_delegate *delegate;
    struct nnapi_model model;
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksBurst *burst;         // NULL: each run by itself
    ANeuralNetworksExecution *execution; // kept where the system lets it run again
    struct pool inputs, outputs;
    struct delegate_widened widened;
};

static bool try(struct kernel *kernel, TfLiteContext *context, int result, int line, const char *doing)
{
    return nnapi_succeeded(kernel->delegate, context, result, line, doing);
}
#define TRY(kernel, context, call, doing) try(kernel, context, call, __LINE__, doing)

// ---- compilation --------------------------------------------------------------------------------

// The token under which the driver keeps what it compiles: a fingerprint of the application's name for the model, of
// the partition and the shapes that its inputs have now, of the devices, and of the options that say how to compile.
// The values of constants are not read for it: a model that changes wants another name, as in the original.
static void fill_token(const struct nnapi_delegate *delegate, const TfLiteContext *context,
                       const TfLiteDelegateParams *params, uint8_t token[ANEURALNETWORKS_CACHING_TOKEN_BYTES])
{
    const struct nnapi_options *options = &delegate->options;
    const int64_t how[] = {delegate->level, options->allow_fp16, options->execution_preference,
                           options->execution_priority};
    struct hl_digest digest = delegate->device_names;
    _Static_assert(sizeof digest == ANEURALNETWORKS_CACHING_TOKEN_BYTES, "the fingerprint is the token");
    hl_digest_add(&digest, options->model_token, strlen(options->model_token));
    hl_digest_add(&digest, how, sizeof how);
    const TfLiteIntArray *lists[] = {params->nodes_to_replace, params->input_tensors, params->output_tensors};
    for (int i = 0; i < 3; i++) hl_digest_add(&digest, lists[i]->data, (size_t)lists[i]->size * sizeof(int));
    for (int i = 0; i < params->input_tensors->size; i++) {
        const int tensor = params->input_tensors->data[i];
        const TfLiteIntArray *dims = tensor < 0 ? NULL : context->tensors[tensor].dims;
        if (dims) hl_digest_add(&digest, dims->data, (size_t)dims->size * sizeof *dims->data);
    }
    memcpy(token, &digest, sizeof digest);
}

static bool configure(struct kernel *kernel, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    const struct nnapi *system = &kernel->delegate->system;
    const struct nnapi_options *options = &kernel->delegate->options;
    ANeuralNetworksCompilation *compilation = kernel->compilation;
    if (options->execution_preference >= 0 &&
        !TRY(kernel, context, system->compilation_set_preference(compilation, options->execution_preference),
             "setting compilation preferences"))
        return false;
    if (options->cache_dir && options->model_token && system->compilation_set_caching) {
        uint8_t token[ANEURALNETWORKS_CACHING_TOKEN_BYTES];
        fill_token(kernel->delegate, context, params, token);
        if (!TRY(kernel, context, system->compilation_set_caching(compilation, options->cache_dir, token),
                 "configuring NNAPI caching"))
            return false;
    }
    if (kernel->delegate->system.level < NNAPI_LEVEL_4) return true;
    uint64_t timeout = options->max_compilation_timeout_duration_ns;
    if (timeout > 0 &&
        !TRY(kernel, context, system->compilation_set_timeout(compilation, timeout), "setting compilation timeout"))
        return false;
    return TRY(kernel, context, system->compilation_set_priority(compilation, options->execution_priority),
               "setting compilation priority");
}

static bool wants_burst(const struct nnapi_delegate *delegate)
{
    if (delegate->system.level < NNAPI_LEVEL_3) return false;
    return delegate->options.use_burst_computation ||
           (delegate->device_count > 0 && delegate->level >= NNAPI_LEVEL_5 && delegate->level <= NNAPI_LEVEL_7);
}

static bool compile(struct kernel *kernel, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    struct nnapi_delegate *delegate = kernel->delegate;
    const struct nnapi *system = &delegate->system;
    ANeuralNetworksModel *model = kernel->model.handle;
    if (delegate->device_count == 0 && !system->compilation_create) {
        context->ReportError(context, "Attempted to call ANeuralNetworksCompilation_create from NNAPI delegate that is "
                                      "constructed from a support library");
        return false;
    }
    bool ok = delegate->device_count > 0
                  ? TRY(kernel, context,
                        system->compilation_create_for_devices(model, delegate->devices,
                                                               (uint32_t)delegate->device_count, &kernel->compilation),
                        "creating NNAPI model for given devices")
                  : TRY(kernel, context, system->compilation_create(model, &kernel->compilation),
                        "creating NNAPI compilation");
    if (!ok || !configure(kernel, context, params) ||
        !TRY(kernel, context, system->compilation_finish(kernel->compilation), "completing NNAPI compilation"))
        return false;
    return !wants_burst(delegate) ||
           TRY(kernel, context, system->burst_create(kernel->compilation, &kernel->burst), "creating NNAPI burst");
}

// ---- memory -------------------------------------------------------------------------------------

static bool open_pool(struct kernel *kernel, TfLiteContext *context, struct pool *pool, const int *tensors, int count,
                      const char *name)
{
    pool->offsets = calloc((size_t)count + 1, sizeof *pool->offsets);
    const char *why = "out of memory";
    size_t size = 0;
    for (int i = 0; i < count && pool->offsets; i++) {
        pool->offsets[i] = size;
        size += (context->tensors[tensors[i]].bytes + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
    }
    if (!pool->offsets || (size > 0 && !hl_shared_memory_open(&pool->shared, size, &why))) {
        context->ReportError(context, "Failed to create %s memory pool: %s", name, why);
        return false;
    }
    return size == 0 || TRY(kernel, context,
                            kernel->delegate->system.memory_create_from_fd(size, HL_SHARED_READ | HL_SHARED_WRITE,
                                                                           pool->shared.descriptor, 0, &pool->memory),
                            "creating NNAPI memory");
}

static void close_pool(struct kernel *kernel, struct pool *pool)
{
    if (pool->memory) kernel->delegate->system.memory_free(pool->memory);
    hl_shared_memory_close(&pool->shared);
    free(pool->offsets);
}

// ---- create -------------------------------------------------------------------------------------

static bool build(struct kernel *kernel, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    struct nnapi_model *model = &kernel->model;
    struct delegate_piece piece = {params->nodes_to_replace->data, params->nodes_to_replace->size,
                                   params->input_tensors, params->output_tensors};
    if (!delegate_widened_find(&kernel->widened, &kernel->delegate->base, params->output_tensors)) {
        context->ReportError(context, "TfLiteNnapiDelegate: out of memory");
        return false;
    }
    if (!nnapi_model_build(model, kernel->delegate, context, &piece)) return false;
    if (model->operation_count == 0) return true;
    return compile(kernel, context, params) &&
           open_pool(kernel, context, &kernel->inputs, model->inputs, model->input_count, "input") &&
           open_pool(kernel, context, &kernel->outputs, model->outputs, model->output_count, "output");
}

void *nnapi_kernel_create(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        context->ReportError(context, "TfLiteNnapiDelegate: out of memory");
        return NULL;
    }
    kernel->delegate = (struct nnapi_delegate *)delegate;
    kernel->inputs.shared.descriptor = kernel->outputs.shared.descriptor = -1;
    if (build(kernel, context, params)) return kernel;
    nnapi_kernel_destroy(kernel);
    return NULL;
}

void nnapi_kernel_destroy(void *data)
{
    struct kernel *kernel = data;
    const struct nnapi *system = &kernel->delegate->system;
    if (kernel->execution) system->execution_free(kernel->execution);
    if (kernel->burst) system->burst_free(kernel->burst);
    if (kernel->compilation) system->compilation_free(kernel->compilation);
    nnapi_model_free(&kernel->model);
    close_pool(kernel, &kernel->inputs);
    close_pool(kernel, &kernel->outputs);
    delegate_widened_free(&kernel->widened);
    free(kernel);
}

// The model has the shapes that the tensors had when the delegate was applied: the runtime applies it again when an
// input is resized.
TfLiteStatus nnapi_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node)
{
    (void)kernel;
    (void)context;
    (void)node;
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

// int8 goes to feature levels below 4 as uint8.
static void copy_bytes(const struct kernel *kernel, const TfLiteTensor *tensor, void *to, const void *from)
{
    memcpy(to, from, tensor->bytes);
    if (tensor->type != kTfLiteInt8 || kernel->delegate->level >= NNAPI_LEVEL_4) return;
    uint8_t *bytes = to;
    for (size_t i = 0; i < tensor->bytes; i++) bytes[i] ^= 0x80;
}

static bool bind(struct kernel *kernel, TfLiteContext *context, ANeuralNetworksExecution *execution)
{
    const struct nnapi *system = &kernel->delegate->system;
    const struct nnapi_model *model = &kernel->model;
    for (int i = 0; i < model->input_count; i++)
        if (!TRY(kernel, context,
                 system->execution_set_input_from_memory(execution, i, NULL, kernel->inputs.memory,
                                                         kernel->inputs.offsets[i],
                                                         context->tensors[model->inputs[i]].bytes),
                 "associating NNAPI execution input with a memory object"))
            return false;
    for (int i = 0; i < model->output_count; i++)
        if (!TRY(kernel, context,
                 system->execution_set_output_from_memory(execution, i, NULL, kernel->outputs.memory,
                                                          kernel->outputs.offsets[i],
                                                          context->tensors[model->outputs[i]].bytes),
                 "associating NNAPI execution output to a memory object"))
            return false;
    return true;
}

static bool set_limits(struct kernel *kernel, TfLiteContext *context, ANeuralNetworksExecution *execution)
{
    const struct nnapi *system = &kernel->delegate->system;
    const struct nnapi_options *options = &kernel->delegate->options;
    if (system->level < NNAPI_LEVEL_4) return true;
    uint64_t whole = options->max_execution_timeout_duration_ns, loop = options->max_execution_loop_timeout_duration_ns;
    return (whole == 0 ||
            TRY(kernel, context, system->execution_set_timeout(execution, whole), "setting execution timeout")) &&
           (loop == 0 || TRY(kernel, context, system->execution_set_loop_timeout(execution, loop),
                             "setting execution loop timeout"));
}

// A new execution, ready to run. NULL after a message.
static ANeuralNetworksExecution *new_execution(struct kernel *kernel, TfLiteContext *context, bool reusable)
{
    const struct nnapi *system = &kernel->delegate->system;
    ANeuralNetworksExecution *execution = NULL;
    if (!TRY(kernel, context, system->execution_create(kernel->compilation, &execution), "creating NNAPI execution"))
        return NULL;
    bool ok = !reusable ||
              (TRY(kernel, context, system->execution_set_reusable(execution, true), "making execution reusable") &&
               TRY(kernel, context, system->execution_enable_padding(execution, true), "making execution reusable"));
    if (ok && set_limits(kernel, context, execution) && bind(kernel, context, execution)) return execution;
    system->execution_free(execution);
    return NULL;
}

static bool compute(struct kernel *kernel, TfLiteContext *context, ANeuralNetworksExecution *execution)
{
    const struct nnapi *system = &kernel->delegate->system;
    if (kernel->burst)
        return TRY(kernel, context, system->execution_burst_compute(execution, kernel->burst),
                   "running burst computation");
    if (system->level >= NNAPI_LEVEL_3)
        return TRY(kernel, context, system->execution_compute(execution), "running computation");
    ANeuralNetworksEvent *event = NULL;
    if (!TRY(kernel, context, system->execution_start_compute(execution, &event), "starting async computation"))
        return false;
    bool ok = TRY(kernel, context, system->event_wait(event), "waiting for async computation completion");
    system->event_free(event);
    return ok;
}

static bool run(struct kernel *kernel, TfLiteContext *context)
{
    bool reusable = kernel->delegate->system.level > NNAPI_LEVEL_4;
    ANeuralNetworksExecution *execution = kernel->execution;
    if (!execution) execution = new_execution(kernel, context, reusable);
    if (!execution) return false;
    bool ok = compute(kernel, context, execution);
    kernel->execution = ok && reusable ? execution : NULL;
    if (!kernel->execution) kernel->delegate->system.execution_free(execution);
    return ok;
}

TfLiteStatus nnapi_kernel_invoke(void *data, TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    struct kernel *kernel = data;
    const struct nnapi_model *model = &kernel->model;
    delegate_widened_write(&kernel->widened, context);
    if (!kernel->compilation) return kTfLiteOk;
    for (int i = 0; i < model->input_count; i++) {
        const TfLiteTensor *tensor = &context->tensors[model->inputs[i]];
        copy_bytes(kernel, tensor, (char *)kernel->inputs.shared.data + kernel->inputs.offsets[i], tensor->data.raw);
    }
    if (!run(kernel, context)) return kTfLiteError;
    for (int i = 0; i < model->output_count; i++) {
        TfLiteTensor *tensor = &context->tensors[model->outputs[i]];
        copy_bytes(kernel, tensor, tensor->data.raw,
                   (const char *)kernel->outputs.shared.data + kernel->outputs.offsets[i]);
    }
    return kTfLiteOk;
}

// ---- what the devices say -----------------------------------------------------------------------

bool nnapi_confirm(struct delegate *base, TfLiteContext *context, const struct delegate_piece *piece, bool *refused)
{
    struct nnapi_delegate *delegate = (struct nnapi_delegate *)base;
    if (!delegate->asks_devices || delegate->system.level < NNAPI_LEVEL_3) return true;
    struct nnapi_model model;
    bool ok = nnapi_model_build(&model, delegate, context, piece);
    bool *takes = ok ? calloc((size_t)model.operation_count + 1, sizeof *takes) : NULL;
    if (ok && !takes) context->ReportError(context, "TfLiteNnapiDelegate: out of memory");
    ok = takes && (model.operation_count == 0 ||
                   NNAPI_TRY(delegate, context,
                             delegate->system.model_get_supported_operations(model.handle, delegate->devices,
                                                                             (uint32_t)delegate->device_count, takes),
                             "Checking supported operations for devices"));
    for (int i = 0; ok && i < model.operation_count; i++)
        if (!takes[i]) refused[model.node_of[i]] = true;
    free(takes);
    nnapi_model_free(&model);
    return ok;
}
