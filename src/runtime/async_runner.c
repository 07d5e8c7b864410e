// SPDX-License-Identifier: Apache-2.0
// The functions of core/async/c/async_signature_runner.h: arguments are checked here, and the calls that configure the
// kernel come one at a time. Runs are started and awaited in async_task.c, from as many threads as the kernel allows.
#include <stdlib.h>

#include "runtime/async.h"

// ---- life ---------------------------------------------------------------------------------------

TfLiteAsyncSignatureRunner *TfLiteInterpreterGetAsyncSignatureRunner(const TfLiteInterpreter *interpreter,
                                                                     const char *signature_key)
{
    if (!interpreter) return NULL;
    TfLiteAsyncSignatureRunner *runner = calloc(1, sizeof *runner);
    if (runner) runner->signature = hl_signature_runner_create((TfLiteInterpreter *)interpreter, signature_key);
    if (!runner || !runner->signature)
        hl_subgraph_error(interpreter->subgraphs[0], "the model has no signature '%s', or memory is short",
                          signature_key ? signature_key : "(NULL)");
    else
        runner->async = hl_async_acquire(runner->signature->subgraph);
    if (runner && runner->async) return runner;
    if (runner) hl_signature_runner_destroy(runner->signature);
    free(runner);
    return NULL;
}

void TfLiteAsyncSignatureRunnerDelete(TfLiteAsyncSignatureRunner *signature_runner)
{
    if (!signature_runner) return;
    int left = hl_task_finish_all(signature_runner);
    if (left > 0)
        hl_async_error(signature_runner->async,
                       "an asynchronous runner was deleted before its tasks: %d were awaited and finished", left);
    hl_async_release(signature_runner->async);
    hl_signature_runner_destroy(signature_runner->signature);
    free(signature_runner);
}

// ---- checks -------------------------------------------------------------------------------------

// Begins a call that configures the kernel; false after a message where the graph has changed.
static bool enter(const TfLiteAsyncSignatureRunner *runner)
{
    if (!runner) return false;
    hl_mutex_lock(&runner->async->setup);
    if (hl_async_is_attached(runner->async)) return true;
    hl_mutex_unlock(&runner->async->setup);
    return false;
}

static void leave(const TfLiteAsyncSignatureRunner *runner)
{
    hl_mutex_unlock(&runner->async->setup);
}

// Of what follows, the caller is inside. Both return true, or false after a message.
static bool is_given(const TfLiteAsyncSignatureRunner *runner, const char *function, bool all)
{
    if (!all) hl_async_error(runner->async, "%s: an argument is NULL", function);
    return all;
}

static bool has_side(const TfLiteAsyncSignatureRunner *runner, const char *function, TfLiteIoType io_type)
{
    if (io_type == kTfLiteIoTypeInput || io_type == kTfLiteIoTypeOutput) return true;
    hl_async_error(runner->async, "%s: %d is neither kTfLiteIoTypeInput nor kTfLiteIoTypeOutput", function,
                   (int)io_type);
    return false;
}

// Returns the tensor of a name, -1 after a message.
static int find_tensor(const TfLiteAsyncSignatureRunner *runner, TfLiteIoType io_type, const char *name)
{
    bool is_input = io_type == kTfLiteIoTypeInput;
    int tensor = is_input ? hl_signature_input(runner->signature, name) : hl_signature_output(runner->signature, name);
    if (tensor < 0)
        hl_async_error(runner->async, "%s name %s was not found", is_input ? "Input" : "Output",
                       name ? name : "(NULL)");
    return tensor;
}

static bool is_input_or_output(const TfLiteAsyncSignatureRunner *runner, const char *function, int tensor)
{
    const struct hl_subgraph *subgraph = runner->async->subgraph;
    if (tensor >= 0 && (hl_is_listed(subgraph->inputs, tensor) || hl_is_listed(subgraph->outputs, tensor))) return true;
    hl_async_error(runner->async, "%s: tensor %d is neither input nor output of the graph", function, tensor);
    return false;
}

// ---- buffers ------------------------------------------------------------------------------------

TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBuffer(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                      TfLiteIoType io_type, const TfLiteBackendBuffer *buffer,
                                                      const TfLiteAttributeMap *attrs, TfLiteBufferHandle *handle)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    TfLiteStatus status = kTfLiteError;
    if (is_given(async_signature_runner, "RegisterBuffer", buffer && attrs && handle) &&
        has_side(async_signature_runner, "RegisterBuffer", io_type))
        status = hl_async_register(async_signature_runner->async, io_type, buffer, attrs, handle);
    leave(async_signature_runner);
    return status;
}

TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBufferSlice(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                           TfLiteBufferHandle buffer_pool,
                                                           const TfLiteAttributeMap *attrs, TfLiteBufferHandle *handle)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    TfLiteStatus status = kTfLiteError;
    if (is_given(async_signature_runner, "RegisterBufferSlice", attrs && handle))
        status = hl_async_register_slice(async_signature_runner->async, buffer_pool, attrs, handle);
    leave(async_signature_runner);
    return status;
}

TfLiteStatus TfLiteAsyncSignatureRunnerUnregisterBuffer(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                        TfLiteBufferHandle handle)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    TfLiteStatus status = hl_async_unregister(async_signature_runner->async, handle);
    leave(async_signature_runner);
    return status;
}

// ---- kinds and attributes -----------------------------------------------------------------------

static TfLiteStatus get_types(const TfLiteAsyncSignatureRunner *runner, const char *function, bool of_syncs,
                              TfLiteIoType io_type, const char *const **types, size_t *num_types)
{
    if (!enter(runner)) return kTfLiteError;
    bool valid = is_given(runner, function, types && num_types) && has_side(runner, function, io_type);
    if (valid) {
        const struct hl_async *async = runner->async;
        int side = io_type == kTfLiteIoTypeOutput;
        const struct hl_async_types *found = of_syncs ? &async->sync_types[side] : &async->buffer_types[side];
        *types = found->names;
        *num_types = found->count;
    }
    leave(runner);
    return valid ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                               TfLiteIoType io_type, const char *const **types,
                                                               size_t *num_types)
{
    return get_types(async_signature_runner, "GetSupportedBufferTypes", false, io_type, types, num_types);
}

TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(
    const TfLiteAsyncSignatureRunner *async_signature_runner, TfLiteIoType io_type, const char *const **types,
    size_t *num_types)
{
    return get_types(async_signature_runner, "GetSupportedSynchronizationTypes", true, io_type, types, num_types);
}

static bool reconcile(const TfLiteAsyncSignatureRunner *runner, int tensor, const TfLiteAttributeMap *user_attrs,
                      TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    const struct hl_async *async = runner->async;
    return is_given(runner, "ReconcileRestrictions", user_attrs && merged) &&
           is_input_or_output(runner, "ReconcileRestrictions", tensor) &&
           async->kernel->reconcile_restrictions(async->kernel, hl_async_context(async),
                                                 (const TfLiteOpaqueNode *)async->node, tensor, user_attrs, merged,
                                                 conflict);
}

bool TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                            int tensor_index,
                                                            const TfLiteAttributeMap *user_provided_attributes,
                                                            TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    if (!enter(async_signature_runner)) return false;
    bool agreed = reconcile(async_signature_runner, tensor_index, user_provided_attributes, merged, conflict);
    leave(async_signature_runner);
    return agreed;
}

bool TfLiteAsyncSignatureRunnerReconcileRestrictions(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                     TfLiteIoType io_type, const char *name,
                                                     const TfLiteAttributeMap *user_provided_attributes,
                                                     TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    if (!enter(async_signature_runner)) return false;
    int tensor = has_side(async_signature_runner, "ReconcileRestrictions", io_type)
                     ? find_tensor(async_signature_runner, io_type, name)
                     : -1;
    bool agreed = tensor >= 0 && reconcile(async_signature_runner, tensor, user_provided_attributes, merged, conflict);
    leave(async_signature_runner);
    return agreed;
}

static TfLiteStatus set_attributes(TfLiteAsyncSignatureRunner *runner, int tensor, const TfLiteAttributeMap *attrs)
{
    if (!is_given(runner, "SetAttributes", attrs) || !is_input_or_output(runner, "SetAttributes", tensor))
        return kTfLiteError;
    return hl_async_set_attributes(runner->async, tensor, attrs);
}

TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributesByIndex(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                            int tensor_index, const TfLiteAttributeMap *attrs)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    TfLiteStatus status = set_attributes(async_signature_runner, tensor_index, attrs);
    leave(async_signature_runner);
    return status;
}

TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributes(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                     TfLiteIoType io_type, const char *name,
                                                     const TfLiteAttributeMap *attrs)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    int tensor = has_side(async_signature_runner, "SetAttributes", io_type)
                     ? find_tensor(async_signature_runner, io_type, name)
                     : -1;
    TfLiteStatus status = tensor >= 0 ? set_attributes(async_signature_runner, tensor, attrs) : kTfLiteError;
    leave(async_signature_runner);
    return status;
}

TfLiteStatus TfLiteAsyncSignatureRunnerPrepareBackends(TfLiteAsyncSignatureRunner *async_signature_runner)
{
    if (!enter(async_signature_runner)) return kTfLiteError;
    TfLiteStatus status = hl_async_prepare(async_signature_runner->async);
    leave(async_signature_runner);
    return status;
}

// ---- runs ---------------------------------------------------------------------------------------

TfLiteExecutionTask *TfLiteAsyncSignatureRunnerCreateTask(TfLiteAsyncSignatureRunner *async_signature_runner)
{
    if (!enter(async_signature_runner)) return NULL;
    TfLiteExecutionTask *task = hl_task_create(async_signature_runner);
    leave(async_signature_runner);
    return task;
}

TfLiteStatus TfLiteAsyncSignatureRunnerInvokeAsync(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                   TfLiteExecutionTask *task)
{
    return async_signature_runner && task ? hl_task_invoke(async_signature_runner, task) : kTfLiteError;
}

TfLiteStatus TfLiteAsyncSignatureRunnerWait(TfLiteAsyncSignatureRunner *async_signature_runner,
                                            TfLiteExecutionTask *task)
{
    return async_signature_runner && task ? hl_task_wait(async_signature_runner, task) : kTfLiteError;
}

TfLiteStatus TfLiteAsyncSignatureRunnerFinish(TfLiteAsyncSignatureRunner *async_signature_runner,
                                              TfLiteExecutionTask *task)
{
    return async_signature_runner && task ? hl_task_finish(async_signature_runner, task) : kTfLiteError;
}

// ---- names and tensors; nothing of them is left once the graph is gone ----------------------------

static const struct hl_subgraph *graph_of(const TfLiteAsyncSignatureRunner *runner)
{
    return runner ? runner->async->subgraph : NULL;
}

static const TfLiteOpaqueTensor *tensor_at(const TfLiteAsyncSignatureRunner *runner, int tensor)
{
    const struct hl_subgraph *subgraph = graph_of(runner);
    if (!subgraph || !hl_subgraph_has_tensor(subgraph, tensor)) return NULL;
    return (const TfLiteOpaqueTensor *)&subgraph->context.tensors[tensor];
}

static const TfLiteOpaqueTensor *tensor_of_name(const TfLiteAsyncSignatureRunner *runner, TfLiteIoType io_type,
                                                const char *name)
{
    if (!enter(runner)) return NULL;
    const TfLiteOpaqueTensor *tensor = tensor_at(runner, find_tensor(runner, io_type, name));
    leave(runner);
    return tensor;
}

size_t TfLiteAsyncSignatureRunnerGetInputCount(const TfLiteAsyncSignatureRunner *async_signature_runner)
{
    return graph_of(async_signature_runner) ? (size_t)async_signature_runner->signature->input_count : 0;
}

const char *TfLiteAsyncSignatureRunnerGetInputName(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                   int32_t input_index)
{
    if (!graph_of(async_signature_runner)) return NULL;
    return TfLiteSignatureRunnerGetInputName(async_signature_runner->signature, input_index);
}

size_t TfLiteAsyncSignatureRunnerGetOutputCount(const TfLiteAsyncSignatureRunner *async_signature_runner)
{
    return graph_of(async_signature_runner) ? (size_t)async_signature_runner->signature->output_count : 0;
}

const char *TfLiteAsyncSignatureRunnerGetOutputName(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                    int32_t output_index)
{
    if (!graph_of(async_signature_runner)) return NULL;
    return TfLiteSignatureRunnerGetOutputName(async_signature_runner->signature, output_index);
}

const TfLiteOpaqueTensor *TfLiteAsyncSignatureRunnerGetInputTensor(TfLiteAsyncSignatureRunner *async_signature_runner,
                                                                   const char *input_name)
{
    return tensor_of_name(async_signature_runner, kTfLiteIoTypeInput, input_name);
}

const TfLiteOpaqueTensor *TfLiteAsyncSignatureRunnerGetOutputTensor(
    const TfLiteAsyncSignatureRunner *async_signature_runner, const char *output_name)
{
    return tensor_of_name(async_signature_runner, kTfLiteIoTypeOutput, output_name);
}

const int *TfLiteAsyncSignatureRunnerInputTensorIndices(const TfLiteAsyncSignatureRunner *async_signature_runner)
{
    const struct hl_subgraph *subgraph = graph_of(async_signature_runner);
    return subgraph ? subgraph->inputs->data : NULL;
}

const int *TfLiteAsyncSignatureRunnerOutputTensorIndices(const TfLiteAsyncSignatureRunner *async_signature_runner)
{
    const struct hl_subgraph *subgraph = graph_of(async_signature_runner);
    return subgraph ? subgraph->outputs->data : NULL;
}

const TfLiteOpaqueTensor *TfLiteAsyncSignatureRunnerGetTensor(const TfLiteAsyncSignatureRunner *async_signature_runner,
                                                              int index)
{
    return tensor_at(async_signature_runner, index);
}
