// SPDX-License-Identifier: Apache-2.0
//
// What operators and delegates with opaque types can ask of tensors, nodes and the context.
// Here "lent" means: the runtime's own, valid until the callback that asked returns. Pointer
// arguments must not be NULL unless said. TfLiteStatus is kTfLiteError when an index is out of
// range.
#ifndef TENSORFLOW_LITE_CORE_C_C_API_OPAQUE_H_
#define TENSORFLOW_LITE_CORE_C_C_API_OPAQUE_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Tensors

TFL_CAPI_EXPORT extern TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* opaque_tensor);

// Number of dimensions; 0 for a scalar, -1 when the tensor has no shape yet.
TFL_CAPI_EXPORT extern int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* opaque_tensor);

// Length of dimension dim_index (0 <= dim_index < number of dimensions).
TFL_CAPI_EXPORT extern int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* opaque_tensor,
                                                     int32_t dim_index);

// Number of dimensions of the shape signature, where -1 marks lengths that may change. -1 when
// the tensor has no signature.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorGetNumDimsSignature(
    const TfLiteOpaqueTensor* opaque_tensor, int32_t* num_dims);

// Length dim_index of the shape signature; -1 also when the tensor has no signature.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorGetDimSignature(
    const TfLiteOpaqueTensor* opaque_tensor, int32_t dim_index, int32_t* dim_length);

// 1 for a variable, else 0.
TFL_CAPI_EXPORT extern int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor* opaque_tensor);

// Size of the data in bytes.
TFL_CAPI_EXPORT extern size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* opaque_tensor);

// The elements, row-major, or NULL when they have no memory yet. Lent. NULL for a NULL tensor.
TFL_CAPI_EXPORT extern void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* opaque_tensor);

// Where the bytes come from, how they were obtained, and what stays as it is for how long.
TFL_CAPI_EXPORT extern TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(
    const TfLiteOpaqueTensor* opaque_tensor);
TFL_CAPI_EXPORT extern TfLiteAllocationStrategy TfLiteOpaqueTensorGetAllocationStrategy(
    const TfLiteOpaqueTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStability TfLiteOpaqueTensorGetBufferAddressStability(
    const TfLiteOpaqueTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStability TfLiteOpaqueTensorGetDataStability(
    const TfLiteOpaqueTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStep TfLiteOpaqueTensorGetDataKnownStep(
    const TfLiteOpaqueTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStep TfLiteOpaqueTensorGetShapeKnownStep(
    const TfLiteOpaqueTensor* t);

// Name from the model, or NULL. The model's own.
TFL_CAPI_EXPORT extern const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* opaque_tensor);

// All quantization parameters. What params points to stays the tensor's.
TFL_CAPI_EXPORT extern TfLiteQuantization TfLiteOpaqueTensorGetQuantization(
    const TfLiteOpaqueTensor* opaque_tensor);

// Scale and zero point for the whole tensor; scale is 0 when there is no such pair.
TFL_CAPI_EXPORT extern TfLiteQuantizationParams TfLiteOpaqueTensorGetQuantizationParams(
    const TfLiteOpaqueTensor* opaque_tensor);

// Copies input_data into the tensor. kTfLiteError unless input_data_size is the tensor's size.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorCopyFromBuffer(
    TfLiteOpaqueTensor* opaque_tensor, const void* input_data, size_t input_data_size);

// Copies the tensor to output_data. kTfLiteError unless output_data_size is the tensor's size.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorCopyToBuffer(
    const TfLiteOpaqueTensor* opaque_tensor, void* output_data, size_t output_data_size);

// Number of strings of a string tensor; -1 when it holds none validly.
TFL_CAPI_EXPORT extern int TfLiteOpaqueTensorGetStringCount(const TfLiteOpaqueTensor* tensor);

// Stores address and length in bytes of string number `index`. Lent; no zero at its end.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorGetString(const TfLiteOpaqueTensor* tensor,
                                                                int index, const char** str,
                                                                int* len);

// Makes a string tensor hold copies of str_array_len strings, str_n_len being their lengths in
// bytes. The tensor becomes dynamic, with shape [str_array_len].
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorWriteStrings(TfLiteOpaqueTensor* tensor,
                                                                   const char* const* str_array,
                                                                   int str_array_len,
                                                                   const int* str_n_len);

// The same for one string of len bytes.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueTensorWriteString(TfLiteOpaqueTensor* tensor,
                                                                  const char* str, int len);

// Makes the tensor's memory come from malloc, sized by TfLiteOpaqueContextResizeTensor while the
// kernel runs. Call it in prepare.
TFL_CAPI_EXPORT extern void TfLiteOpaqueTensorSetAllocationTypeToDynamic(
    TfLiteOpaqueTensor* tensor);

// Says that the tensor needs no CPU memory, because a delegate keeps it on a device.
TFL_CAPI_EXPORT extern void TfLiteOpaqueTensorSetNonCpuAllocation(TfLiteOpaqueTensor* tensor);

// ---------------------------------------------------------------------------------------------
// Tensors to add to a graph

// Recipe for a tensor; give it to TfLiteOpaqueContextAddTensor. Setters return their argument.
typedef struct TfLiteOpaqueTensorBuilder TfLiteOpaqueTensorBuilder;

// The caller frees it with TfLiteOpaqueTensorBuilderDelete. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderCreate(void);

// Frees a builder, not the tensors made with it. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder* builder);

TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteType type);

// Memory for the elements; borrowed, and must outlive the interpreter.
TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetData(
    TfLiteOpaqueTensorBuilder* builder, void* data);

TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetAllocationType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteAllocationType allocation_type);

TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantizationParams(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantizationParams params);

// What params points to, from malloc, belongs to the tensor once it is added.
TFL_CAPI_EXPORT extern TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantization(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantization quantization);

// ---------------------------------------------------------------------------------------------
// Nodes

// Input number `index`. NULL out of range or for an optional input left out. Lent.
TFL_CAPI_EXPORT extern const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(
    const TfLiteOpaqueContext* opaque_context, const TfLiteOpaqueNode* opaque_node, int index);

// Output number `index`. NULL out of range. Lent.
TFL_CAPI_EXPORT extern TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(
    TfLiteOpaqueContext* opaque_context, const TfLiteOpaqueNode* opaque_node, int index);

TFL_CAPI_EXPORT extern int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* opaque_node);
TFL_CAPI_EXPORT extern int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* opaque_node);

// What the operator's init returned.
TFL_CAPI_EXPORT extern void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* opaque_node);

// Parameter struct of a built-in op (builtin_op_data.h), else NULL. Lent.
TFL_CAPI_EXPORT extern void* TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode* opaque_node);

// Option bytes of a custom op; NULL and 0 when it has none. The model's own, not aligned.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(
    const TfLiteOpaqueNode* opaque_node, const void** init_data, int* size);

// Tensor indices of the inputs, outputs or temporaries, and their number. Lent.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode* opaque_node,
                                                           const int** inputs, int* num_inputs);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode* opaque_node,
                                                            const int** outputs,
                                                            int* num_outputs);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueNodeTemporaries(
    const TfLiteOpaqueNode* opaque_node, const int** temporaries, int* num_temporaries);

// Sets the node's scratch tensors to a copy of the list. In prepare.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode* opaque_node,
                                                                   const int* temporaries,
                                                                   int num_temporaries);

// Tensor index of an input or output; -1 out of range.
TFL_CAPI_EXPORT extern int TfLiteOpaqueNodeGetInputTensorIndex(
    const TfLiteOpaqueNode* opaque_node, int index_of_input);
TFL_CAPI_EXPORT extern int TfLiteOpaqueNodeGetOutputTensorIndex(
    const TfLiteOpaqueNode* opaque_node, int index_of_output);

// ---------------------------------------------------------------------------------------------
// Context

// Node indices in the order they run. Lent. For delegates, in Prepare.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetExecutionPlan(
    TfLiteOpaqueContext* opaque_context, TfLiteIntArray** execution_plan);

// An external context, or NULL when none was set.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetExternalContext(
    TfLiteOpaqueContext* opaque_context, void** external_context, TfLiteExternalContextType type);

// Node number node_index and its operator. Lent. For delegates, in Prepare and a kernel's init.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetNodeAndRegistration(
    struct TfLiteOpaqueContext* opaque_context, int node_index, TfLiteOpaqueNode** node,
    TfLiteOperator** registration_external);

// Splits the nodes into pieces that can run as one and puts a node of the given operator in place
// of each. From then on the runtime owns the operator, also on failure. For delegates, in Prepare.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
    struct TfLiteOpaqueContext* opaque_context, TfLiteOperator* registration_external,
    const TfLiteIntArray* nodes_to_replace, TfLiteOpaqueDelegate* opaque_delegate);

// The tensor at an index. NULL out of range. Lent.
TFL_CAPI_EXPORT extern TfLiteOpaqueTensor* TfLiteOpaqueContextGetOpaqueTensor(
    const TfLiteOpaqueContext* opaque_context, int index);

// Tensor indices of the subgraph's inputs, outputs or variables, and their number. Lent.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetInputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** inputs, int* num_inputs);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetOutputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** outputs, int* num_outputs);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetVariables(
    const struct TfLiteOpaqueContext* opaque_context, const int** variables, int* num_variables);

TFL_CAPI_EXPORT extern size_t TfLiteOpaqueContextGetNumNodes(
    const struct TfLiteOpaqueContext* opaque_context);
TFL_CAPI_EXPORT extern size_t TfLiteOpaqueContextGetNumTensors(
    const struct TfLiteOpaqueContext* opaque_context);

// Name of the subgraph; may be empty. The model's own.
TFL_CAPI_EXPORT extern const char* TfLiteOpaqueContextGetName(
    const struct TfLiteOpaqueContext* opaque_context);

// Sets a tensor's shape. Takes ownership of new_size also on failure.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                                                    TfLiteOpaqueTensor* tensor,
                                                                    TfLiteIntArray* new_size);

// Lends the context of another subgraph until TfLiteOpaqueContextReleaseSubgraphContext. For
// delegates, in Prepare.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index,
    TfLiteOpaqueContext** acquired_opaque_context);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Says that the caller handles a subgraph (a branch of a control op it took over), so that no
// delegate is applied to it by itself. kTfLiteError for subgraph 0.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
    TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Where a custom op's option bytes lie in the model file: descriptor, offset and size in bytes.
// The descriptor stays the model's. fd is -1 when the model is not a mapped file.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetNodeInitDataMmapInfo(
    const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node, int* fd,
    int64_t* custom_initial_data_offset_in_file, int64_t* custom_initial_data_size);

// Adds a tensor and stores its index, unless that pointer is NULL. Tensor pointers asked for
// before are invalid afterwards. The builder stays the caller's.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                                                 TfLiteOpaqueTensorBuilder* builder,
                                                                 int* new_tensor_index);

// Bytes of one element. kTfLiteError for types without a fixed size, with a message unless context is NULL.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetSizeOfType(TfLiteOpaqueContext* context,
                                                                     TfLiteType type,
                                                                     size_t* bytes);

// The model's metadata of that name. The model's own. kTfLiteError when there is none.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOpaqueContextGetMetadata(TfLiteOpaqueContext* context,
                                                                   const char* name,
                                                                   const char** ptr,
                                                                   size_t* bytes);

// Reports an error; formats like printf.
TFL_CAPI_EXPORT extern void TfLiteOpaqueContextReportError(
    struct TfLiteOpaqueContext* opaque_context, const char* format, ...);

// As above, with the arguments as a va_list.
TFL_CAPI_EXPORT extern void TfLiteOpaqueContextReportErrorVa(
    struct TfLiteOpaqueContext* opaque_context, const char* format, va_list vlist);

// TfLiteOpaqueDelegateCreate, TfLiteOpaqueDelegateDelete and TfLiteOpaqueDelegateGetData are in
// common.h.

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_C_C_API_OPAQUE_H_
