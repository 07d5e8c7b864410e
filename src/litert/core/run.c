// SPDX-License-Identifier: Apache-2.0
// What a compiled model is for: buffers and shapes that it wants, runs, metrics and messages. Tensors live in the
// interpreter; a run copies inputs there and outputs from there.
#include <stdlib.h>
#include <string.h>

#include "litert/c/litert_compiled_model.h"
#include "litert/core/compiled_model.h"

static TfLiteTensor *tensor_of(LiteRtCompiledModel compiled, const struct litert_entry *entry, size_t position)
{
    return HaliteInterpreterGetSubgraphTensor(compiled->interpreter, entry->signature->subgraph,
                                              entry->signature->tensors[position]);
}

// Finds the entry of a signature; checks come before it.
#define LITERT_ENTRY(compiled, index)                        \
    LITERT_NEED(compiled);                                   \
    LITERT_INDEX(index, (compiled)->model->signature_count); \
    struct litert_entry *entry = &(compiled)->entries[index]

static LiteRtStatus allocate(LiteRtCompiledModel compiled, struct litert_entry *entry)
{
    if (entry->is_allocated) return kLiteRtStatusOk;
    TfLiteStatus status = entry->runner ? TfLiteSignatureRunnerAllocateTensors(entry->runner)
                                        : TfLiteInterpreterAllocateTensors(compiled->interpreter);
    if (status != kTfLiteOk)
        return litert_fail(kLiteRtStatusErrorRuntimeFailure, "signature %s: tensors could not be allocated",
                           entry->signature->key);
    entry->is_allocated = true;
    return kLiteRtStatusOk;
}

// ---- what it wants ------------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetCompiledModelEnvironment, LiteRtCompiledModel, LiteRtEnvironment, object->environment)

static LiteRtStatus get_requirements(LiteRtCompiledModel compiled, struct litert_entry *entry, size_t position,
                                     LiteRtTensorBufferRequirements *requirements)
{
    LiteRtStatus status = allocate(compiled, entry);
    if (status != kLiteRtStatusOk) return status;
    entry->requirements[position] = (struct LiteRtTensorBufferRequirementsT){
        .type_count = 1,
        .types = {kLiteRtTensorBufferTypeHostMemory},
        .bytes = tensor_of(compiled, entry, position)->bytes,
        .alignment = LITERT_HOST_MEMORY_BUFFER_ALIGNMENT,
    };
    *requirements = &entry->requirements[position];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledModelInputBufferRequirements(LiteRtCompiledModel compiled_model,
                                                           LiteRtParamIndex signature, LiteRtParamIndex input,
                                                           LiteRtTensorBufferRequirements *requirements)
{
    LITERT_ENTRY(compiled_model, signature);
    LITERT_NEED(requirements);
    LITERT_INDEX(input, entry->signature->input_count);
    return get_requirements(compiled_model, entry, input, requirements);
}

LiteRtStatus LiteRtGetCompiledModelOutputBufferRequirements(LiteRtCompiledModel compiled_model,
                                                            LiteRtParamIndex signature, LiteRtParamIndex output,
                                                            LiteRtTensorBufferRequirements *requirements)
{
    LITERT_ENTRY(compiled_model, signature);
    LITERT_NEED(requirements);
    LITERT_INDEX(output, entry->signature->output_count);
    return get_requirements(compiled_model, entry, entry->signature->input_count + output, requirements);
}

LiteRtStatus LiteRtGetCompiledModelInputTensorLayout(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                                     LiteRtParamIndex input, LiteRtLayout *layout)
{
    LITERT_ENTRY(compiled_model, signature);
    LITERT_NEED(layout);
    LITERT_INDEX(input, entry->signature->input_count);
    return litert_present_layout(tensor_of(compiled_model, entry, input), layout);
}

LiteRtStatus LiteRtGetCompiledModelOutputTensorLayouts(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                                       size_t num_layouts, LiteRtLayout *layouts,
                                                       bool update_allocation)
{
    LITERT_ENTRY(compiled_model, signature);
    LITERT_NEED(layouts || num_layouts == 0);
    size_t count = entry->signature->output_count;
    if (num_layouts != count)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "%zu layouts for %zu outputs of signature %s",
                           num_layouts, count, entry->signature->key);
    LiteRtStatus status = update_allocation ? allocate(compiled_model, entry) : kLiteRtStatusOk;
    for (size_t i = 0; status == kLiteRtStatusOk && i < count; i++)
        status =
            litert_present_layout(tensor_of(compiled_model, entry, entry->signature->input_count + i), &layouts[i]);
    return status;
}

static LiteRtStatus resize(LiteRtCompiledModel compiled, LiteRtParamIndex signature, LiteRtParamIndex input,
                           const int *dims, size_t rank, bool strict)
{
    LITERT_ENTRY(compiled, signature);
    LITERT_NEED(dims || rank == 0);
    LITERT_INDEX(input, entry->signature->input_count);
    const char *name = entry->signature->names[input];
    if (rank > LITERT_TENSOR_MAX_RANK)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "input %s: %zu dimensions, the most are %d", name, rank,
                           LITERT_TENSOR_MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 1)
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "input %s: dimension %zu is %d", name, i, dims[i]);
    if (HaliteInterpreterResizeTensor(compiled->interpreter, entry->signature->subgraph,
                                      entry->signature->tensors[input], dims, (int32_t)rank, strict) != kTfLiteOk)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "input %s cannot take this shape", name);
    // Signatures may share a subgraph, and subgraphs call each other.
    for (size_t i = 0; i < compiled->model->signature_count; i++) compiled->entries[i].is_allocated = false;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelResizeInputTensor(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                                  LiteRtParamIndex input, const int *dims, size_t rank)
{
    return resize(compiled_model, signature, input, dims, rank, true);
}

LiteRtStatus LiteRtCompiledModelResizeInputTensorNonStrict(LiteRtCompiledModel compiled_model,
                                                           LiteRtParamIndex signature, LiteRtParamIndex input,
                                                           const int *dims, size_t rank)
{
    return resize(compiled_model, signature, input, dims, rank, false);
}

// ---- running ------------------------------------------------------------------------------------

static LiteRtStatus check_buffer(LiteRtTensorBuffer buffer, const TfLiteTensor *tensor, const char *name)
{
    if (tensor->type == kTfLiteString)
        return litert_fail(kLiteRtStatusErrorUnsupported, "%s is a tensor of texts, which no buffer holds", name);
    if ((int)buffer->type.element_type != (int)tensor->type)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "%s has elements of type %d, its buffer of type %d", name,
                           (int)tensor->type, (int)buffer->type.element_type);
    if (buffer->bytes < tensor->bytes)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "%s takes %zu bytes, its buffer has %zu", name,
                           tensor->bytes, buffer->bytes);
    if (buffer->is_locked)
        return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the buffer of %s is locked: unlock it first", name);
    return kLiteRtStatusOk;
}

static LiteRtStatus write_inputs(LiteRtCompiledModel compiled, const struct litert_entry *entry,
                                 LiteRtTensorBuffer *inputs)
{
    for (size_t i = 0; i < entry->signature->input_count; i++) {
        TfLiteTensor *tensor = tensor_of(compiled, entry, i);
        LiteRtStatus status = check_buffer(inputs[i], tensor, entry->signature->names[i]);
        if (status == kLiteRtStatusOk && inputs[i]->event) status = LiteRtWaitEvent(inputs[i]->event, -1);
        if (status != kLiteRtStatusOk) return status;
        if (tensor->bytes) memcpy(tensor->data.raw, inputs[i]->memory, tensor->bytes);
    }
    return kLiteRtStatusOk;
}

static LiteRtStatus read_outputs(LiteRtCompiledModel compiled, const struct litert_entry *entry,
                                 LiteRtTensorBuffer *outputs)
{
    const struct LiteRtSignatureT *signature = entry->signature;
    for (size_t i = 0; i < signature->output_count; i++) {
        const TfLiteTensor *tensor = tensor_of(compiled, entry, signature->input_count + i);
        LiteRtStatus status = check_buffer(outputs[i], tensor, signature->names[signature->input_count + i]);
        if (status != kLiteRtStatusOk) return status;
        if (tensor->bytes) memcpy(outputs[i]->memory, tensor->data.raw, tensor->bytes);
    }
    return kLiteRtStatusOk;
}

static LiteRtStatus invoke(LiteRtCompiledModel compiled, const struct litert_entry *entry)
{
    if (compiled->is_cancelled && compiled->is_cancelled(compiled->cancel_data)) return kLiteRtStatusCancelled;
    compiled->running = entry;
    TfLiteStatus status =
        entry->runner ? TfLiteSignatureRunnerInvoke(entry->runner) : TfLiteInterpreterInvoke(compiled->interpreter);
    compiled->running = NULL;
    if (status == kTfLiteOk) return kLiteRtStatusOk;
    if (status == kTfLiteCancelled) return kLiteRtStatusCancelled;
    return litert_fail(kLiteRtStatusErrorRuntimeFailure, "signature %s failed: status %d", entry->signature->key,
                       (int)status);
}

LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature, size_t num_inputs,
                                    LiteRtTensorBuffer *inputs, size_t num_outputs, LiteRtTensorBuffer *outputs)
{
    LITERT_ENTRY(compiled_model, signature);
    LITERT_NEED((inputs || num_inputs == 0) && (outputs || num_outputs == 0));
    if (num_inputs < entry->signature->input_count)
        return litert_fail(kLiteRtStatusErrorMissingInputTensor, "signature %s has %zu inputs, %zu were given",
                           entry->signature->key, entry->signature->input_count, num_inputs);
    if (num_inputs > entry->signature->input_count || num_outputs != entry->signature->output_count)
        return litert_fail(kLiteRtStatusErrorInvalidArgument,
                           "signature %s has %zu inputs and %zu outputs, %zu and %zu were given", entry->signature->key,
                           entry->signature->input_count, entry->signature->output_count, num_inputs, num_outputs);
    for (size_t i = 0; i < num_inputs; i++) LITERT_NEED(inputs[i]);
    for (size_t i = 0; i < num_outputs; i++) {
        LITERT_NEED(outputs[i]);
        if (outputs[i]->event)
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "output %zu still has an event: clear it first", i);
    }
    LiteRtStatus status = allocate(compiled_model, entry);
    if (status == kLiteRtStatusOk) status = write_inputs(compiled_model, entry, inputs);
    if (status == kLiteRtStatusOk) status = invoke(compiled_model, entry);
    return status == kLiteRtStatusOk ? read_outputs(compiled_model, entry, outputs) : status;
}

LiteRtStatus LiteRtRunCompiledModelAsync(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                         size_t num_inputs, LiteRtTensorBuffer *inputs, size_t num_outputs,
                                         LiteRtTensorBuffer *outputs, bool *async)
{
    if (async) *async = false;
    return LiteRtRunCompiledModel(compiled_model, signature, num_inputs, inputs, num_outputs, outputs);
}

LiteRtStatus LiteRtSetCompiledModelCancellationFunction(LiteRtCompiledModel compiled_model, void *user_data,
                                                        bool (*check)(void *user_data))
{
    LITERT_NEED(compiled_model);
    compiled_model->is_cancelled = check;
    compiled_model->cancel_data = user_data;
    return kLiteRtStatusOk;
}

// ---- what it tells ------------------------------------------------------------------------------

LITERT_GETTER(LiteRtCompiledModelIsFullyAccelerated, LiteRtCompiledModel, bool, object->is_fully_accelerated)

LiteRtStatus LiteRtCompiledModelStartMetricsCollection(LiteRtCompiledModel compiled_model, int level)
{
    LITERT_NEED(compiled_model);
    if (level < 0) return litert_fail(kLiteRtStatusErrorInvalidArgument, "metrics of level %d", level);
    if (!compiled_model->wrapper || !compiled_model->accelerator->start_metrics_collection) return kLiteRtStatusOk;
    return compiled_model->accelerator->start_metrics_collection(litert_runtime_context(), compiled_model->wrapper,
                                                                 level);
}

LiteRtStatus LiteRtCompiledModelStopMetricsCollection(LiteRtCompiledModel compiled_model, LiteRtMetrics metrics)
{
    LITERT_NEED(compiled_model && metrics);
    if (!compiled_model->wrapper || !compiled_model->accelerator->stop_metrics_collection) return kLiteRtStatusOk;
    return compiled_model->accelerator->stop_metrics_collection(litert_runtime_context(), compiled_model->wrapper,
                                                                metrics);
}

LiteRtStatus LiteRtCompiledModelGetErrorMessages(LiteRtCompiledModel compiled_model, char **messages)
{
    LITERT_NEED(compiled_model && messages);
    if (compiled_model->error_mode != kLiteRtErrorReporterModeBuffer)
        return litert_fail(kLiteRtStatusErrorUnsupported, "messages are kept with error_reporter_mode = 2 alone");
    char *copy = litert_copy_text(compiled_model->errors.data ? compiled_model->errors.data : "");
    LITERT_MEMORY(copy);
    *messages = copy;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelClearErrors(LiteRtCompiledModel compiled_model)
{
    LITERT_NEED(compiled_model);
    hl_text_clear(&compiled_model->errors);
    return kLiteRtStatusOk;
}
