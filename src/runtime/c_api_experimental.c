// SPDX-License-Identifier: Apache-2.0
// The functions of tensorflow/lite/c/c_api_experimental.h.
#include "tensorflow/lite/c/c_api_experimental.h"

#include "runtime/interpreter.h"
#include "runtime/operator.h"
#include "runtime/signature.h"

static struct hl_subgraph *primary(const TfLiteInterpreter *interpreter)
{
    return interpreter->subgraphs[0];
}

// ---- variables ----------------------------------------------------------------------------------

TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter *interpreter)
{
    if (!interpreter) return kTfLiteError;
    const struct hl_subgraph *subgraph = primary(interpreter);
    for (int i = 0; i < subgraph->variables->size; i++) {
        const TfLiteTensor *tensor = &subgraph->context.tensors[subgraph->variables->data[i]];
        if (tensor->data.raw || tensor->bytes == 0 || tensor->allocation_type != kTfLiteArenaRwPersistent) continue;
        hl_report(&interpreter->options->reporter, "variable %s has no memory yet: allocate tensors first",
                  hl_tensor_label(tensor));
        return kTfLiteError;
    }
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < interpreter->subgraph_count && status == kTfLiteOk; i++)
        status = hl_subgraph_reset_variables(interpreter->subgraphs[i]);
    return status;
}

int32_t TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->variables->size : 0;
}

TfLiteTensor *TfLiteInterpreterGetVariableTensor(const TfLiteInterpreter *interpreter, int32_t variable_index)
{
    if (!interpreter || variable_index < 0 || variable_index >= primary(interpreter)->variables->size) return NULL;
    return &primary(interpreter)->context.tensors[primary(interpreter)->variables->data[variable_index]];
}

// ---- options ------------------------------------------------------------------------------------

void TfLiteInterpreterOptionsAddBuiltinOp(TfLiteInterpreterOptions *options, TfLiteBuiltinOperator op,
                                          const TfLiteRegistration *registration, int32_t min_version,
                                          int32_t max_version)
{
    if (!options || !registration) return;
    if (!hl_resolver_add(&options->resolver, op, NULL, registration, min_version, max_version))
        options->incomplete = true;
}

void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions *options, const char *name,
                                         const TfLiteRegistration *registration, int32_t min_version,
                                         int32_t max_version)
{
    if (!options || !name || !registration) return;
    if (!hl_resolver_add(&options->resolver, kTfLiteBuiltinCustom, name, registration, min_version, max_version))
        options->incomplete = true;
}

// Each setter replaces all lookups set before it.
static void set_callbacks(TfLiteInterpreterOptions *options, struct hl_resolver_callbacks callbacks)
{
    if (options) options->resolver.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolverExternal(TfLiteInterpreterOptions *options,
                                                   const TfLiteOperator *(*find_builtin_op)(void *, int, int),
                                                   const TfLiteOperator *(*find_custom_op)(void *, const char *, int),
                                                   void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .operator_builtin = find_builtin_op,
                                                          .operator_custom = find_custom_op});
}

void TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(
    TfLiteInterpreterOptions *options, const TfLiteOperator *(*find_builtin_op_external)(void *, int, int),
    const TfLiteOperator *(*find_custom_op_external)(void *, const char *, int),
    const TfLiteRegistration *(*find_builtin_op)(void *, TfLiteBuiltinOperator, int),
    const TfLiteRegistration *(*find_custom_op)(void *, const char *, int), void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .operator_builtin = find_builtin_op_external,
                                                          .operator_custom = find_custom_op_external,
                                                          .builtin = find_builtin_op,
                                                          .custom = find_custom_op});
}

void TfLiteInterpreterOptionsSetOpResolver(
    TfLiteInterpreterOptions *options, const TfLiteRegistration *(*find_builtin_op)(void *, TfLiteBuiltinOperator, int),
    const TfLiteRegistration *(*find_custom_op)(void *, const char *, int), void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .builtin = find_builtin_op,
                                                          .custom = find_custom_op});
}

void TfLiteInterpreterOptionsSetOpResolverV3(
    TfLiteInterpreterOptions *options,
    const TfLiteRegistration_V3 *(*find_builtin_op_v3)(void *, TfLiteBuiltinOperator, int),
    const TfLiteRegistration_V3 *(*find_custom_op_v3)(void *, const char *, int), void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .builtin_v3 = find_builtin_op_v3,
                                                          .custom_v3 = find_custom_op_v3});
}

void TfLiteInterpreterOptionsSetOpResolverV2(
    TfLiteInterpreterOptions *options,
    const TfLiteRegistration_V2 *(*find_builtin_op_v2)(void *, TfLiteBuiltinOperator, int),
    const TfLiteRegistration_V2 *(*find_custom_op_v2)(void *, const char *, int), void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .builtin_v2 = find_builtin_op_v2,
                                                          .custom_v2 = find_custom_op_v2});
}

void TfLiteInterpreterOptionsSetOpResolverV1(
    TfLiteInterpreterOptions *options,
    const TfLiteRegistration_V1 *(*find_builtin_op_v1)(void *, TfLiteBuiltinOperator, int),
    const TfLiteRegistration_V1 *(*find_custom_op_v1)(void *, const char *, int), void *op_resolver_user_data)
{
    set_callbacks(options, (struct hl_resolver_callbacks){.user_data = op_resolver_user_data,
                                                          .builtin_v1 = find_builtin_op_v1,
                                                          .custom_v1 = find_custom_op_v1});
}

TfLiteInterpreter *TfLiteInterpreterCreateWithSelectedOps(const TfLiteModel *model,
                                                          const TfLiteInterpreterOptions *options)
{
    TfLiteInterpreterOptions *selected = options ? hl_options_copy(options) : hl_options_create();
    if (!selected) return NULL;
    selected->resolver.without_builtins = true;
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, selected);
    hl_options_destroy(selected);
    return interpreter;
}

void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions *options, bool enable)
{
    if (options && enable)
        hl_report(&options->reporter,
                  "NNAPI is not available in this build: models run on the CPU and added delegates");
}

void TfLiteInterpreterOptionsSetEnableDelegateFallback(TfLiteInterpreterOptions *options, bool enable)
{
    if (options) options->delegate_fallback = enable;
}

void TfLiteInterpreterOptionsSetTelemetryProfiler(TfLiteInterpreterOptions *options,
                                                  struct TfLiteTelemetryProfilerStruct *profiler)
{
    if (options) options->telemetry = profiler;
}

// ---- interpreter --------------------------------------------------------------------------------

TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(const TfLiteInterpreter *interpreter, TfLiteDelegate *delegate)
{
    if (!interpreter) return kTfLiteError;
    return hl_interpreter_apply_delegate((TfLiteInterpreter *)interpreter, delegate);
}

int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter *interpreter, int32_t input_index)
{
    if (!interpreter || input_index < 0 || input_index >= primary(interpreter)->inputs->size) return -1;
    return primary(interpreter)->inputs->data[input_index];
}

int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter *interpreter, int32_t output_index)
{
    if (!interpreter || output_index < 0 || output_index >= primary(interpreter)->outputs->size) return -1;
    return primary(interpreter)->outputs->data[output_index];
}

TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(TfLiteInterpreter *interpreter, int tensor_index,
                                                           const TfLiteCustomAllocation *allocation, int64_t flags)
{
    if (!interpreter) return kTfLiteError;
    return hl_subgraph_set_custom_allocation(primary(interpreter), tensor_index, allocation, flags);
}

TfLiteStatus TfLiteInterpreterSetBufferHandle(TfLiteInterpreter *interpreter, TfLiteTensor *tensor,
                                              TfLiteBufferHandle buffer_handle, TfLiteOpaqueDelegate *delegate)
{
    if (!interpreter || !tensor) return kTfLiteError;
    if (tensor->delegate && tensor->delegate != delegate) {
        hl_subgraph_error(primary(interpreter), "tensor %s belongs to another delegate already",
                          hl_tensor_label(tensor));
        return kTfLiteError;
    }
    tensor->delegate = delegate;
    hl_subgraph_unsettle(primary(interpreter));
    hl_delegate_free_handle(&primary(interpreter)->context, tensor);
    tensor->buffer_handle = buffer_handle;
    return kTfLiteOk;
}

TfLiteStatus TfLiteInterpreterGetBufferHandle(TfLiteInterpreter *interpreter, int tensor_index,
                                              TfLiteBufferHandle *buffer_handle, TfLiteOpaqueDelegate **delegate)
{
    if (!interpreter || !buffer_handle || !delegate || !hl_subgraph_has_tensor(primary(interpreter), tensor_index))
        return kTfLiteError;
    const TfLiteTensor *tensor = &primary(interpreter)->context.tensors[tensor_index];
    *delegate = tensor->delegate;
    *buffer_handle = tensor->buffer_handle;
    return kTfLiteOk;
}

void TfLiteSetAllowBufferHandleOutput(const TfLiteInterpreter *interpreter, bool allow_buffer_handle_output)
{
    if (interpreter) ((TfLiteInterpreter *)interpreter)->allow_buffer_handle_output = allow_buffer_handle_output;
}

TfLiteStatus TfLiteInterpreterEnsureTensorDataIsReadable(TfLiteInterpreter *interpreter, int tensor_index)
{
    return interpreter ? hl_subgraph_make_readable(primary(interpreter), tensor_index) : kTfLiteError;
}

TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner *signature_runner)
{
    return signature_runner ? hl_interpreter_cancel(signature_runner->interpreter) : kTfLiteError;
}
