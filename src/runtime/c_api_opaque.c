// SPDX-License-Identifier: Apache-2.0
// The functions of tensorflow/lite/c/c_api_opaque.h: a tensor, node and context from the outside. An opaque pointer is
// the pointer to the real struct, so each function is a look inside.
#include "tensorflow/lite/c/c_api_opaque.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "runtime/interpreter.h"
#include "runtime/operator.h"
#include "tensorflow/lite/c/c_api.h"

static const TfLiteTensor *tensor_in(const TfLiteOpaqueTensor *opaque)
{
    return (const TfLiteTensor *)opaque;
}

static TfLiteTensor *tensor_of(TfLiteOpaqueTensor *opaque)
{
    return (TfLiteTensor *)opaque;
}

static const TfLiteNode *node_in(const TfLiteOpaqueNode *opaque)
{
    return (const TfLiteNode *)opaque;
}

static TfLiteContext *context_of(TfLiteOpaqueContext *opaque)
{
    return (TfLiteContext *)opaque;
}

static struct hl_subgraph *subgraph_in(const TfLiteOpaqueContext *opaque)
{
    return hl_subgraph_of((const TfLiteContext *)opaque);
}

// ---- tensors ------------------------------------------------------------------------------------

TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorType(tensor_in(opaque_tensor));
}

int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorNumDims(tensor_in(opaque_tensor));
}

int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor *opaque_tensor, int32_t dim_index)
{
    return TfLiteTensorDim(tensor_in(opaque_tensor), dim_index);
}

TfLiteStatus TfLiteOpaqueTensorGetNumDimsSignature(const TfLiteOpaqueTensor *opaque_tensor, int32_t *num_dims)
{
    const TfLiteIntArray *signature = tensor_in(opaque_tensor)->dims_signature;
    *num_dims = signature ? signature->size : -1;
    return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueTensorGetDimSignature(const TfLiteOpaqueTensor *opaque_tensor, int32_t dim_index,
                                               int32_t *dim_length)
{
    const TfLiteIntArray *signature = tensor_in(opaque_tensor)->dims_signature;
    bool known = signature && dim_index >= 0 && dim_index < signature->size;
    *dim_length = known ? signature->data[dim_index] : -1;
    return kTfLiteOk;
}

int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor *opaque_tensor)
{
    return tensor_in(opaque_tensor)->is_variable;
}

size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorByteSize(tensor_in(opaque_tensor));
}

void *TfLiteOpaqueTensorData(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorData(tensor_in(opaque_tensor));
}

TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor *opaque_tensor)
{
    return tensor_in(opaque_tensor)->allocation_type;
}

TfLiteAllocationStrategy TfLiteOpaqueTensorGetAllocationStrategy(const TfLiteOpaqueTensor *t)
{
    return TfLiteTensorGetAllocationStrategy(tensor_in(t));
}

TfLiteRunStability TfLiteOpaqueTensorGetBufferAddressStability(const TfLiteOpaqueTensor *t)
{
    return TfLiteTensorGetBufferAddressStability(tensor_in(t));
}

TfLiteRunStability TfLiteOpaqueTensorGetDataStability(const TfLiteOpaqueTensor *t)
{
    return TfLiteTensorGetDataStability(tensor_in(t));
}

TfLiteRunStep TfLiteOpaqueTensorGetDataKnownStep(const TfLiteOpaqueTensor *t)
{
    return TfLiteTensorGetDataKnownStep(tensor_in(t));
}

TfLiteRunStep TfLiteOpaqueTensorGetShapeKnownStep(const TfLiteOpaqueTensor *t)
{
    return TfLiteTensorGetShapeKnownStep(tensor_in(t));
}

const char *TfLiteOpaqueTensorName(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorName(tensor_in(opaque_tensor));
}

TfLiteQuantization TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor *opaque_tensor)
{
    return tensor_in(opaque_tensor)->quantization;
}

TfLiteQuantizationParams TfLiteOpaqueTensorGetQuantizationParams(const TfLiteOpaqueTensor *opaque_tensor)
{
    return TfLiteTensorQuantizationParams(tensor_in(opaque_tensor));
}

TfLiteStatus TfLiteOpaqueTensorCopyFromBuffer(TfLiteOpaqueTensor *opaque_tensor, const void *input_data,
                                              size_t input_data_size)
{
    return TfLiteTensorCopyFromBuffer(tensor_of(opaque_tensor), input_data, input_data_size);
}

TfLiteStatus TfLiteOpaqueTensorCopyToBuffer(const TfLiteOpaqueTensor *opaque_tensor, void *output_data,
                                            size_t output_data_size)
{
    return TfLiteTensorCopyToBuffer(tensor_in(opaque_tensor), output_data, output_data_size);
}

void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor *tensor)
{
    TfLiteTensor *t = tensor_of(tensor);
    if (t->allocation_type == kTfLiteDynamic) return;
    TfLiteTensorDataFree(t);
    t->allocation_type = kTfLiteDynamic;
    t->data.raw = NULL;
}

void TfLiteOpaqueTensorSetNonCpuAllocation(TfLiteOpaqueTensor *tensor)
{
    TfLiteTensor *t = tensor_of(tensor);
    TfLiteTensorDataFree(t);
    t->allocation_type = kTfLiteNonCpu;
    t->data.raw = NULL;
}

// ---- string tensors: int32 count, count + 1 int32 offsets from the start, characters ---------------

static int32_t string_word(const TfLiteTensor *tensor, size_t index)
{
    int32_t word;
    memcpy(&word, tensor->data.raw_const + index * sizeof word, sizeof word);
    return word;
}

int TfLiteOpaqueTensorGetStringCount(const TfLiteOpaqueTensor *tensor)
{
    const TfLiteTensor *t = tensor_in(tensor);
    if (t->type != kTfLiteString || !t->data.raw || t->bytes < sizeof(int32_t)) return -1;
    int32_t count = string_word(t, 0);
    bool fits = count >= 0 && ((size_t)count + 2) * sizeof(int32_t) <= t->bytes;
    return fits ? count : -1;
}

TfLiteStatus TfLiteOpaqueTensorGetString(const TfLiteOpaqueTensor *tensor, int index, const char **str, int *len)
{
    const TfLiteTensor *t = tensor_in(tensor);
    if (index < 0 || index >= TfLiteOpaqueTensorGetStringCount(tensor)) return kTfLiteError;
    int32_t begin = string_word(t, (size_t)index + 1), end = string_word(t, (size_t)index + 2);
    if (begin < 0 || end < begin || (size_t)end > t->bytes) return kTfLiteError;
    *str = t->data.raw_const + begin;
    *len = end - begin;
    return kTfLiteOk;
}

static char *pack_strings(const char *const *strings, int count, const int *lengths, size_t *size)
{
    size_t bytes = ((size_t)count + 2) * sizeof(int32_t);
    for (int i = 0; i < count; i++)
        if (lengths[i] < 0 || !hl_add_size(bytes, (size_t)lengths[i], &bytes)) return NULL;
    if (bytes > INT32_MAX) return NULL;
    char *packed = malloc(bytes);
    if (!packed) return NULL;
    int32_t word = count, offset = (int32_t)(((size_t)count + 2) * sizeof(int32_t));
    memcpy(packed, &word, sizeof word);
    for (int i = 0; i <= count; i++) {
        memcpy(packed + ((size_t)i + 1) * sizeof offset, &offset, sizeof offset);
        if (i == count) break;
        if (lengths[i]) memcpy(packed + offset, strings[i], (size_t)lengths[i]);
        offset += lengths[i];
    }
    *size = bytes;
    return packed;
}

TfLiteStatus TfLiteOpaqueTensorWriteStrings(TfLiteOpaqueTensor *tensor, const char *const *str_array, int str_array_len,
                                            const int *str_n_len)
{
    TfLiteTensor *t = tensor_of(tensor);
    if (t->type != kTfLiteString || str_array_len < 0) return kTfLiteError;
    size_t size = 0;
    char *packed = pack_strings(str_array, str_array_len, str_n_len, &size);
    TfLiteIntArray *dims = TfLiteIntArrayCreate(1);
    if (!packed || !dims) {
        free(packed);
        TfLiteIntArrayFree(dims);
        return kTfLiteError;
    }
    dims->data[0] = str_array_len;
    TfLiteTensorDataFree(t);
    TfLiteIntArrayFree(t->dims);
    t->dims = dims;
    t->data.raw = packed;
    t->bytes = size;
    t->allocation_type = kTfLiteDynamic;
    return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueTensorWriteString(TfLiteOpaqueTensor *tensor, const char *str, int len)
{
    return TfLiteOpaqueTensorWriteStrings(tensor, &str, 1, &len);
}

// ---- builder of a tensor to add -----------------------------------------------------------------

struct TfLiteOpaqueTensorBuilder {
    TfLiteType type;
    void *data;
    TfLiteAllocationType allocation_type;
    TfLiteQuantizationParams params;
    TfLiteQuantization quantization;
};

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderCreate(void)
{
    return calloc(1, sizeof(TfLiteOpaqueTensorBuilder));
}

void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder *builder)
{
    free(builder);
}

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderSetType(TfLiteOpaqueTensorBuilder *builder, TfLiteType type)
{
    builder->type = type;
    return builder;
}

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderSetData(TfLiteOpaqueTensorBuilder *builder, void *data)
{
    builder->data = data;
    return builder;
}

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderSetAllocationType(TfLiteOpaqueTensorBuilder *builder,
                                                                      TfLiteAllocationType allocation_type)
{
    builder->allocation_type = allocation_type;
    return builder;
}

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderSetQuantizationParams(TfLiteOpaqueTensorBuilder *builder,
                                                                          TfLiteQuantizationParams params)
{
    builder->params = params;
    return builder;
}

TfLiteOpaqueTensorBuilder *TfLiteOpaqueTensorBuilderSetQuantization(TfLiteOpaqueTensorBuilder *builder,
                                                                    TfLiteQuantization quantization)
{
    builder->quantization = quantization;
    return builder;
}

TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext *context, TfLiteOpaqueTensorBuilder *builder,
                                          int *new_tensor_index)
{
    bool on_heap = builder->allocation_type == kTfLiteDynamic || builder->allocation_type == kTfLitePersistentRo;
    bool in_arena = builder->allocation_type == kTfLiteArenaRw || builder->allocation_type == kTfLiteArenaRwPersistent;
    if (!on_heap && !in_arena && builder->allocation_type != kTfLiteNonCpu) {
        TfLiteOpaqueContextReportError(context, "a tensor cannot be added with allocation type %d",
                                       (int)builder->allocation_type);
        return kTfLiteError;
    }
    if (builder->data && !on_heap) {
        TfLiteOpaqueContextReportError(context, "a tensor can be added with data only if it is to own it");
        return kTfLiteError;
    }
    int index;
    if (hl_subgraph_add_tensors(subgraph_in(context), 1, &index) != kTfLiteOk) return kTfLiteError;
    TfLiteTensor *tensor = &subgraph_in(context)->context.tensors[index];
    tensor->type = builder->type;
    tensor->data.data = builder->data;
    tensor->allocation_type = builder->allocation_type;
    tensor->params = builder->params;
    tensor->quantization = builder->quantization;
    if (new_tensor_index) *new_tensor_index = index;
    return kTfLiteOk;
}

// ---- nodes --------------------------------------------------------------------------------------

static TfLiteTensor *node_tensor(const TfLiteOpaqueContext *context, const TfLiteIntArray *list, int index)
{
    if (index < 0 || index >= list->size || list->data[index] < 0) return NULL;
    return &subgraph_in(context)->context.tensors[list->data[index]];
}

const TfLiteOpaqueTensor *TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext *opaque_context,
                                                   const TfLiteOpaqueNode *opaque_node, int index)
{
    return (const TfLiteOpaqueTensor *)node_tensor(opaque_context, node_in(opaque_node)->inputs, index);
}

TfLiteOpaqueTensor *TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext *opaque_context, const TfLiteOpaqueNode *opaque_node,
                                              int index)
{
    return (TfLiteOpaqueTensor *)node_tensor(opaque_context, node_in(opaque_node)->outputs, index);
}

int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode *opaque_node)
{
    return node_in(opaque_node)->inputs->size;
}

int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode *opaque_node)
{
    return node_in(opaque_node)->outputs->size;
}

void *TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode *opaque_node)
{
    return node_in(opaque_node)->user_data;
}

void *TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode *opaque_node)
{
    return node_in(opaque_node)->builtin_data;
}

TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(const TfLiteOpaqueNode *opaque_node, const void **init_data,
                                                  int *size)
{
    *init_data = node_in(opaque_node)->custom_initial_data;
    *size = node_in(opaque_node)->custom_initial_data_size;
    return kTfLiteOk;
}

static TfLiteStatus give_list(const TfLiteIntArray *list, const int **values, int *count)
{
    *values = list->data;
    *count = list->size;
    return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode *opaque_node, const int **inputs, int *num_inputs)
{
    return give_list(node_in(opaque_node)->inputs, inputs, num_inputs);
}

TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode *opaque_node, const int **outputs, int *num_outputs)
{
    return give_list(node_in(opaque_node)->outputs, outputs, num_outputs);
}

TfLiteStatus TfLiteOpaqueNodeTemporaries(const TfLiteOpaqueNode *opaque_node, const int **temporaries,
                                         int *num_temporaries)
{
    return give_list(node_in(opaque_node)->temporaries, temporaries, num_temporaries);
}

TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode *opaque_node, const int *temporaries, int num_temporaries)
{
    if (num_temporaries < 0) return kTfLiteError;
    TfLiteNode *node = (TfLiteNode *)opaque_node;
    TfLiteIntArray *list = TfLiteIntArrayCreate(num_temporaries);
    if (!list) return kTfLiteError;
    if (num_temporaries) memcpy(list->data, temporaries, (size_t)num_temporaries * sizeof *temporaries);
    TfLiteIntArrayFree(node->temporaries);
    node->temporaries = list;
    return kTfLiteOk;
}

static int list_entry(const TfLiteIntArray *list, int index)
{
    return index >= 0 && index < list->size ? list->data[index] : -1;
}

int TfLiteOpaqueNodeGetInputTensorIndex(const TfLiteOpaqueNode *opaque_node, int index_of_input)
{
    return list_entry(node_in(opaque_node)->inputs, index_of_input);
}

int TfLiteOpaqueNodeGetOutputTensorIndex(const TfLiteOpaqueNode *opaque_node, int index_of_output)
{
    return list_entry(node_in(opaque_node)->outputs, index_of_output);
}

// ---- context ------------------------------------------------------------------------------------

TfLiteStatus TfLiteOpaqueContextGetExecutionPlan(TfLiteOpaqueContext *opaque_context, TfLiteIntArray **execution_plan)
{
    return context_of(opaque_context)->GetExecutionPlan(context_of(opaque_context), execution_plan);
}

TfLiteStatus TfLiteOpaqueContextGetExternalContext(TfLiteOpaqueContext *opaque_context, void **external_context,
                                                   TfLiteExternalContextType type)
{
    *external_context = context_of(opaque_context)->GetExternalContext(context_of(opaque_context), type);
    return kTfLiteOk;
}

// A delegate asks for nodes of the model, whose kernels are plain registrations: it gets an operator that says what
// they are.
TfLiteStatus TfLiteOpaqueContextGetNodeAndRegistration(struct TfLiteOpaqueContext *opaque_context, int node_index,
                                                       TfLiteOpaqueNode **node, TfLiteOperator **registration_external)
{
    TfLiteNode *found;
    TfLiteRegistration *registration;
    TfLiteContext *context = context_of(opaque_context);
    TfLiteStatus status = context->GetNodeAndRegistration(context, node_index, &found, &registration);
    if (status != kTfLiteOk) return status;
    *node = (TfLiteOpaqueNode *)found;
    if (registration->registration_external) {
        *registration_external = registration->registration_external;
        return kTfLiteOk;
    }
    *registration_external = hl_subgraph_describe_node(subgraph_in(opaque_context), node_index);
    return *registration_external ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(struct TfLiteOpaqueContext *opaque_context,
                                                                      TfLiteOperator *registration_external,
                                                                      const TfLiteIntArray *nodes_to_replace,
                                                                      TfLiteOpaqueDelegate *opaque_delegate)
{
    if (!hl_subgraph_own_operator(subgraph_in(opaque_context), registration_external)) {
        TfLiteOperatorDelete(registration_external);
        return kTfLiteError;
    }
    TfLiteRegistration registration = {
        .builtin_code = kTfLiteBuiltinDelegate,
        .custom_name = registration_external->custom_name,
        .version = registration_external->version,
        .registration_external = registration_external,
    };
    TfLiteContext *context = context_of(opaque_context);
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes_to_replace, opaque_delegate);
}

TfLiteOpaqueTensor *TfLiteOpaqueContextGetOpaqueTensor(const TfLiteOpaqueContext *opaque_context, int index)
{
    const struct hl_subgraph *subgraph = subgraph_in(opaque_context);
    return hl_subgraph_has_tensor(subgraph, index) ? (TfLiteOpaqueTensor *)&subgraph->context.tensors[index] : NULL;
}

TfLiteStatus TfLiteOpaqueContextGetInputs(const struct TfLiteOpaqueContext *opaque_context, const int **inputs,
                                          int *num_inputs)
{
    return give_list(subgraph_in(opaque_context)->inputs, inputs, num_inputs);
}

TfLiteStatus TfLiteOpaqueContextGetOutputs(const struct TfLiteOpaqueContext *opaque_context, const int **outputs,
                                           int *num_outputs)
{
    return give_list(subgraph_in(opaque_context)->outputs, outputs, num_outputs);
}

TfLiteStatus TfLiteOpaqueContextGetVariables(const struct TfLiteOpaqueContext *opaque_context, const int **variables,
                                             int *num_variables)
{
    return give_list(subgraph_in(opaque_context)->variables, variables, num_variables);
}

size_t TfLiteOpaqueContextGetNumNodes(const struct TfLiteOpaqueContext *opaque_context)
{
    return (size_t)subgraph_in(opaque_context)->node_count;
}

size_t TfLiteOpaqueContextGetNumTensors(const struct TfLiteOpaqueContext *opaque_context)
{
    return (size_t)subgraph_in(opaque_context)->tensor_count;
}

const char *TfLiteOpaqueContextGetName(const struct TfLiteOpaqueContext *opaque_context)
{
    return subgraph_in(opaque_context)->model->name;
}

TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext *context, TfLiteOpaqueTensor *tensor,
                                             TfLiteIntArray *new_size)
{
    return hl_subgraph_resize_tensor(subgraph_in(context), tensor_of(tensor), new_size);
}

TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(struct TfLiteOpaqueContext *opaque_context, int subgraph_index,
                                                       TfLiteOpaqueContext **acquired_opaque_context)
{
    return context_of(opaque_context)
        ->AcquireSubgraphContext(context_of(opaque_context), subgraph_index, (TfLiteContext **)acquired_opaque_context);
}

TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(struct TfLiteOpaqueContext *opaque_context, int subgraph_index)
{
    return context_of(opaque_context)->ReleaseSubgraphContext(context_of(opaque_context), subgraph_index);
}

TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(TfLiteOpaqueContext *opaque_context,
                                                                  int subgraph_index)
{
    struct TfLiteInterpreter *interpreter = subgraph_in(opaque_context)->interpreter;
    if (subgraph_index <= 0 || subgraph_index >= interpreter->subgraph_count) return kTfLiteError;
    interpreter->subgraphs[subgraph_index]->delegation_skippable = true;
    return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextGetNodeInitDataMmapInfo(const TfLiteOpaqueContext *context,
                                                        const TfLiteOpaqueNode *node, int *fd,
                                                        int64_t *custom_initial_data_offset_in_file,
                                                        int64_t *custom_initial_data_size)
{
    const struct hl_subgraph *subgraph = subgraph_in(context);
    int index = hl_node_of(node_in(node))->index;
    *fd = hl_model_file_descriptor(subgraph->interpreter->model);
    *custom_initial_data_offset_in_file = -1;
    *custom_initial_data_size = -1;
    if (*fd < 0) return kTfLiteError;
    const struct hl_model_node *model = index < subgraph->model->node_count ? &subgraph->model->nodes[index] : NULL;
    if (!model || model->custom_options_offset <= 0) return kTfLiteOk; // a node without such data
    *custom_initial_data_offset_in_file = model->custom_options_offset;
    *custom_initial_data_size = (int64_t)model->custom_options_size;
    return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueContextGetSizeOfType(TfLiteOpaqueContext *context, TfLiteType type, size_t *bytes)
{
    *bytes = hl_type_size(type);
    if (type == kTfLiteInt4 || type == kTfLiteUInt4 || type == kTfLiteInt2) *bytes = 1;
    if (type == kTfLiteResource) *bytes = sizeof(int32_t);
    if (*bytes > 0) return kTfLiteOk;
    if (context) TfLiteOpaqueContextReportError(context, "type %s has no fixed size", TfLiteTypeGetName(type));
    return kTfLiteError;
}

TfLiteStatus TfLiteOpaqueContextGetMetadata(TfLiteOpaqueContext *context, const char *name, const char **ptr,
                                            size_t *bytes)
{
    return context_of(context)->GetModelMetadata(context_of(context), name, ptr, bytes);
}

void TfLiteOpaqueContextReportErrorVa(struct TfLiteOpaqueContext *opaque_context, const char *format, va_list vlist)
{
    hl_report_va(&subgraph_in(opaque_context)->interpreter->options->reporter, format, vlist);
}

void TfLiteOpaqueContextReportError(struct TfLiteOpaqueContext *opaque_context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    TfLiteOpaqueContextReportErrorVa(opaque_context, format, args);
    va_end(args);
}
