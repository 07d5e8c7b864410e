// SPDX-License-Identifier: Apache-2.0
// Small helpers around arrays, types and operators.
#ifndef TENSORFLOW_LITE_UTIL_H_
#define TENSORFLOW_LITE_UTIL_H_

#include "halite/cxx.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "halite/halite.h"
#include "tensorflow/lite/array.h"
#include "tensorflow/lite/schema/builtin_operator.h"

namespace tflite
{

// What memory of the program for a tensor is aligned to, in bytes.
constexpr int kDefaultTensorAlignment = 64;

constexpr char kFlexCustomCodePrefix[] = "Flex";
constexpr char kValidationSubgraphNamePrefix[] = "VALIDATION:";

// An operator of TensorFlow itself, which this library does not run.
inline bool IsFlexOp(const char *custom_name)
{
    return custom_name && std::strncmp(custom_name, kFlexCustomCodePrefix, sizeof kFlexCustomCodePrefix - 1) == 0;
}
inline bool IsValidationSubgraph(const char *name)
{
    return name && std::strncmp(name, kValidationSubgraphNamePrefix, sizeof kValidationSubgraphNamePrefix - 1) == 0;
}

// The caller frees these with TfLiteIntArrayFree.
inline TfLiteIntArray *ConvertArrayToTfLiteIntArray(int size, const int *values)
{
    return BuildTfLiteArray<int>(size, values).release();
}
inline TfLiteIntArray *ConvertVectorToTfLiteIntArray(const std::vector<int> &values)
{
    return BuildTfLiteArray(values).release();
}
inline bool EqualArrayAndTfLiteIntArray(const TfLiteIntArray *a, int size, const int *b)
{
    return a && TfLiteIntArrayEqualsArray(a, size, b);
}

using TfLiteIntArrayDeleter = TfLiteArrayDeleter;
using ScopedTfLiteIntArray = IntArrayUniquePtr;

// a * b, or kTfLiteError where that is more than a size_t holds.
inline TfLiteStatus MultiplyAndCheckOverflow(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return a != 0 && *product / a != b ? kTfLiteError : kTfLiteOk;
}

// Bytes of one element. kTfLiteError for types without a fixed size.
inline TfLiteStatus GetSizeOfType(TfLiteContext *context, TfLiteType type, size_t *bytes)
{
    switch (type) {
    case kTfLiteInt4:
    case kTfLiteUInt4:
    case kTfLiteInt2:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2:
    case kTfLiteBool: *bytes = 1; return kTfLiteOk;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16: *bytes = 2; return kTfLiteOk;
    case kTfLiteInt32:
    case kTfLiteUInt32:
    case kTfLiteResource:
    case kTfLiteFloat32: *bytes = 4; return kTfLiteOk;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64: *bytes = 8; return kTfLiteOk;
    case kTfLiteComplex128: *bytes = 16; return kTfLiteOk;
    default:
        if (context) TF_LITE_KERNEL_LOG(context, "Type %d is unsupported: it has no fixed size.", type);
        return kTfLiteError;
    }
}
// Bytes of a tensor of this shape; kTfLiteError after a message where a size_t does not hold them.
inline TfLiteStatus BytesRequired(TfLiteType type, const int *dims, size_t rank, size_t *bytes, TfLiteContext *context)
{
    size_t count = 1, size = 0;
    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 0 || MultiplyAndCheckOverflow(count, static_cast<size_t>(dims[i]), &count) != kTfLiteOk) {
            if (context) TF_LITE_KERNEL_LOG(context, "BytesRequired number of elements overflowed.\n");
            return kTfLiteError;
        }
    if (GetSizeOfType(context, type, &size) != kTfLiteOk) return kTfLiteError;
    if (type == kTfLiteInt4 || type == kTfLiteUInt4) count = count / 2 + count % 2; // two to a byte
    if (type == kTfLiteInt2) count = count / 4 + (count % 4 != 0);
    TfLiteStatus status = MultiplyAndCheckOverflow(size, count, bytes);
    if (status != kTfLiteOk && context) TF_LITE_KERNEL_LOG(context, "BytesRequired number of bytes overflowed.\n");
    return status;
}

// The operator's name as the schema has it; a custom one's own name after "CUSTOM ".
inline std::string GetOpNameByRegistration(const TfLiteRegistration &registration)
{
    std::string name = EnumNameBuiltinOperator(static_cast<BuiltinOperator>(registration.builtin_code));
    bool custom =
        registration.builtin_code == kTfLiteBuiltinCustom || registration.builtin_code == kTfLiteBuiltinDelegate;
    return custom && registration.custom_name ? name + " " + registration.custom_name : name;
}

// A custom operator whose kernel nobody knows has none of a kernel's functions.
inline bool IsUnresolvedCustomOp(const TfLiteRegistration &registration)
{
    return registration.builtin_code == kTfLiteBuiltinCustom && !registration.invoke &&
           !registration.registration_external;
}

} // namespace tflite

#endif
