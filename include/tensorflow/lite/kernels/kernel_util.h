// SPDX-License-Identifier: Apache-2.0
// What kernels ask about their node and its tensors. Functions without "Safe" in their name give nullptr where there is
// no such tensor; those with it return kTfLiteError after a message.
#ifndef TENSORFLOW_LITE_KERNELS_KERNEL_UTIL_H_
#define TENSORFLOW_LITE_KERNELS_KERNEL_UTIL_H_

#include "halite/cxx.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include <algorithm>
#include <cmath>
#include <string>

#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

// ---- counts and lengths

inline int NumInputs(const TfLiteNode *node)
{
    return node->inputs ? node->inputs->size : 0;
}
inline int NumOutputs(const TfLiteNode *node)
{
    return node->outputs ? node->outputs->size : 0;
}
inline int NumIntermediates(const TfLiteNode *node)
{
    return node->intermediates ? node->intermediates->size : 0;
}
inline int NumDimensions(const TfLiteTensor *tensor)
{
    return tensor->dims->size;
}
inline int SizeOfDimension(const TfLiteTensor *tensor, int axis)
{
    return tensor->dims->data[axis];
}
inline int64_t NumElements(const int *dims, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= dims[i];
    return count;
}
inline int64_t NumElements(const TfLiteIntArray *dims)
{
    return NumElements(dims->data, dims->size);
}
inline int64_t NumElements(const TfLiteTensor *tensor)
{
    return NumElements(tensor->dims);
}

// ---- a node's tensors

namespace kernel_util_internal
{
inline TfLiteTensor *listed(const TfLiteContext *context, const TfLiteIntArray *list, int index)
{
    if (!list || index < 0 || index >= list->size) return nullptr;
    int tensor = list->data[index];
    if (tensor < 0 || static_cast<size_t>(tensor) >= context->tensors_size) return nullptr;
    return context->tensors ? &context->tensors[tensor] : context->GetTensor(context, tensor);
}
inline TfLiteStatus found(TfLiteContext *context, const TfLiteTensor *tensor, const char *what, int index)
{
    if (tensor) return kTfLiteOk;
    TF_LITE_KERNEL_LOG(context, "the node has no %s %d", what, index);
    return kTfLiteError;
}
} // namespace kernel_util_internal

inline const TfLiteTensor *GetInput(const TfLiteContext *context, const TfLiteNode *node, int index)
{
    return kernel_util_internal::listed(context, node->inputs, index);
}
inline TfLiteStatus GetInputSafe(TfLiteContext *context, const TfLiteNode *node, int index, const TfLiteTensor **tensor)
{
    *tensor = GetInput(context, node, index);
    return kernel_util_internal::found(context, *tensor, "input", index);
}
// nullptr where the model leaves the input out.
inline const TfLiteTensor *GetOptionalInputTensor(const TfLiteContext *context, const TfLiteNode *node, int index)
{
    return GetInput(context, node, index);
}
// An input that keeps its value from run to run; nullptr where it is none.
inline TfLiteTensor *GetVariableInput(TfLiteContext *context, const TfLiteNode *node, int index)
{
    TfLiteTensor *tensor = kernel_util_internal::listed(context, node->inputs, index);
    return tensor && tensor->is_variable ? tensor : nullptr;
}
inline TfLiteTensor *GetOutput(TfLiteContext *context, const TfLiteNode *node, int index)
{
    return kernel_util_internal::listed(context, node->outputs, index);
}
inline TfLiteStatus GetOutputSafe(TfLiteContext *context, const TfLiteNode *node, int index, TfLiteTensor **tensor)
{
    *tensor = GetOutput(context, node, index);
    return kernel_util_internal::found(context, *tensor, "output", index);
}
inline TfLiteTensor *GetTemporary(TfLiteContext *context, const TfLiteNode *node, int index)
{
    return kernel_util_internal::listed(context, node->temporaries, index);
}
inline TfLiteStatus GetTemporarySafe(TfLiteContext *context, const TfLiteNode *node, int index, TfLiteTensor **tensor)
{
    *tensor = GetTemporary(context, node, index);
    return kernel_util_internal::found(context, *tensor, "temporary", index);
}
inline const TfLiteTensor *GetIntermediates(TfLiteContext *context, const TfLiteNode *node, int index)
{
    return kernel_util_internal::listed(context, node->intermediates, index);
}
inline TfLiteStatus GetIntermediatesSafe(TfLiteContext *context, const TfLiteNode *node, int index,
                                         TfLiteTensor **tensor)
{
    *tensor = kernel_util_internal::listed(context, node->intermediates, index);
    return kernel_util_internal::found(context, *tensor, "intermediate", index);
}

// ---- what a tensor is

// Its value is known before anything runs.
inline bool IsConstantTensor(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteMmapRo;
}
inline bool IsConstantOrPersistentTensor(const TfLiteTensor *tensor)
{
    return IsConstantTensor(tensor) || tensor->allocation_type == kTfLitePersistentRo;
}
inline bool IsDynamicTensor(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic;
}
// Its shape is known only while running; the kernel resizes it in invoke.
inline void SetTensorToDynamic(TfLiteTensor *tensor)
{
    if (tensor->allocation_type == kTfLiteDynamic) return;
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = kTfLiteDynamic;
    tensor->data.raw = nullptr;
}
inline void SetTensorToPersistentRo(TfLiteTensor *tensor)
{
    if (tensor->allocation_type == kTfLitePersistentRo) return;
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = kTfLitePersistentRo;
    tensor->data.raw = nullptr;
}
// Float weights that were stored in 8 bits, with float activations.
inline bool IsHybridOp(const TfLiteTensor *input, const TfLiteTensor *weight)
{
    return (weight->type == kTfLiteUInt8 || weight->type == kTfLiteInt8) && input->type == kTfLiteFloat32;
}
inline bool IsQuantized(const TfLiteTensor *tensor)
{
    return tensor->quantization.type != kTfLiteNoQuantization;
}

// ---- shapes

inline bool HaveSameShapes(const TfLiteTensor *a, const TfLiteTensor *b)
{
    return TfLiteIntArrayEqual(a->dims, b->dims);
}
// Whether the model leaves a length open.
inline bool HasUnspecifiedDimension(const TfLiteTensor *tensor)
{
    const TfLiteIntArray *signature = tensor->dims_signature;
    return signature &&
           std::find(signature->data, signature->data + signature->size, -1) != signature->data + signature->size;
}
inline std::string GetShapeDebugString(const TfLiteIntArray *shape)
{
    std::string text = "[";
    for (int i = 0; i < shape->size; i++) text += (i ? ", " : "") + std::to_string(shape->data[i]);
    return text + "]";
}
inline std::string GetTensorDebugString(const TfLiteTensor *tensor)
{
    return std::string("{type: ") + TfLiteTypeGetName(tensor->type) +
           ", shape: " + (tensor->dims ? GetShapeDebugString(tensor->dims) : std::string("none")) + "}";
}
// The caller frees *shape. kTfLiteError, after a message, where the shapes do not go together.
inline TfLiteStatus CalculateShapeForBroadcast(TfLiteContext *context, const TfLiteTensor *a, const TfLiteTensor *b,
                                               TfLiteIntArray **shape)
{
    int rank = std::max(NumDimensions(a), NumDimensions(b));
    *shape = TfLiteIntArrayCreate(rank);
    if (!*shape) return kTfLiteError;
    for (int i = 1; i <= rank; i++) { // from the last axis on
        int x = i <= NumDimensions(a) ? SizeOfDimension(a, NumDimensions(a) - i) : 1;
        int y = i <= NumDimensions(b) ? SizeOfDimension(b, NumDimensions(b) - i) : 1;
        if (x != y && x != 1 && y != 1) {
            TF_LITE_KERNEL_LOG(context, "Given shapes, %s and %s, are not broadcastable.",
                               GetShapeDebugString(a->dims).c_str(), GetShapeDebugString(b->dims).c_str());
            TfLiteIntArrayFree(*shape);
            *shape = nullptr;
            return kTfLiteError;
        }
        (*shape)->data[rank - i] = x == 1 ? y : x;
    }
    return kTfLiteOk;
}

// ---- activations

// The least and the greatest value that a fused activation lets through.
template <typename T>
void CalculateActivationRange(TfLiteFusedActivation activation, T *activation_min, T *activation_max)
{
    *activation_min = std::numeric_limits<T>::lowest();
    *activation_max = std::numeric_limits<T>::max();
    if (activation == kTfLiteActRelu || activation == kTfLiteActRelu6) *activation_min = 0;
    if (activation == kTfLiteActRelu6) *activation_max = 6;
    if (activation == kTfLiteActReluN1To1) {
        *activation_min = -1;
        *activation_max = 1;
    }
}
// The same in the integers of a quantized output: int8, uint8 or int16 with one scale.
inline TfLiteStatus CalculateActivationRangeQuantized(TfLiteContext *context, TfLiteFusedActivation activation,
                                                      TfLiteTensor *output, int32_t *act_min, int32_t *act_max)
{
    int32_t lowest = 0, greatest = 0;
    switch (output->type) {
    case kTfLiteUInt8: greatest = 255; break;
    case kTfLiteInt8:
        lowest = -128;
        greatest = 127;
        break;
    case kTfLiteInt16:
        lowest = -32768;
        greatest = 32767;
        break;
    default:
        TF_LITE_KERNEL_LOG(context, "type %s is not quantized", TfLiteTypeGetName(output->type));
        return kTfLiteError;
    }
    float least, most;
    CalculateActivationRange(activation, &least, &most);
    auto quantize = [&](float real) {
        double steps = std::round(static_cast<double>(real) / static_cast<double>(output->params.scale));
        double step = static_cast<double>(output->params.zero_point) + steps;
        return static_cast<int32_t>(
            std::min(std::max(step, static_cast<double>(lowest)), static_cast<double>(greatest)));
    };
    bool bounded_below = least > std::numeric_limits<float>::lowest(),
         bounded = most < std::numeric_limits<float>::max();
    *act_min = bounded_below ? quantize(least) : lowest;
    *act_max = bounded ? quantize(most) : greatest;
    return kTfLiteOk;
}

} // namespace tflite

#endif
