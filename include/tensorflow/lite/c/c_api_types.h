// SPDX-License-Identifier: Apache-2.0
//
// The small types that every other public header shares: export macro, status codes, element
// types, per-tensor quantization, and names of structs whose layout callers never see.
// All values are part of the binary interface of TensorFlow Lite and never change.
#ifndef TENSORFLOW_LITE_C_C_API_TYPES_H_
#define TENSORFLOW_LITE_C_C_API_TYPES_H_

#include <stdint.h>

// Marks a function or object as visible outside the shared library.
// Define TFL_STATIC_LIBRARY_BUILD to link statically on Windows, and TFL_COMPILE_LIBRARY while
// building the DLL itself.
#ifndef TFL_CAPI_EXPORT
#if defined(_WIN32)
#if defined(TFL_STATIC_LIBRARY_BUILD)
#define TFL_CAPI_EXPORT
#elif defined(TFL_COMPILE_LIBRARY)
#define TFL_CAPI_EXPORT __declspec(dllexport)
#else
#define TFL_CAPI_EXPORT __declspec(dllimport)
#endif
#elif defined(__GNUC__) || defined(__clang__)
#define TFL_CAPI_EXPORT __attribute__((visibility("default")))
#else
#define TFL_CAPI_EXPORT
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Result of nearly every call. Anything but kTfLiteOk is a failure that has already been
// reported once through the error reporter.
typedef enum TfLiteStatus {
    kTfLiteOk = 0,
    // The runtime or a kernel failed: bad argument, bad model, out of memory.
    kTfLiteError = 1,
    // A delegate failed; the graph was put back to what it was before the delegate.
    kTfLiteDelegateError = 2,
    // The request does not fit the state of the graph (for example, resizing an immutable one).
    kTfLiteApplicationError = 3,
    // A delegate found no serialized data under its key. Not an error for the user.
    kTfLiteDelegateDataNotFound = 4,
    // A delegate could not write its serialized data.
    kTfLiteDelegateDataWriteError = 5,
    // A delegate could not read its serialized data.
    kTfLiteDelegateDataReadError = 6,
    // The model has ops that nobody provides.
    kTfLiteUnresolvedOps = 7,
    // The caller cancelled the invocation.
    kTfLiteCancelled = 8,
    // An output's shape depends on data that is not there yet.
    kTfLiteOutputShapeNotKnown = 9
} TfLiteStatus;

// Element type of a tensor. The numbers differ from those of TensorType in the model file.
typedef enum {
    kTfLiteNoType = 0,
    kTfLiteFloat32 = 1,
    kTfLiteInt32 = 2,
    kTfLiteUInt8 = 3,
    kTfLiteInt64 = 4,
    // Packed: int32 count, count + 1 int32 offsets from the start of the buffer, then the bytes.
    kTfLiteString = 5,
    // One byte per element, 0 or 1.
    kTfLiteBool = 6,
    kTfLiteInt16 = 7,
    kTfLiteComplex64 = 8,
    kTfLiteInt8 = 9,
    kTfLiteFloat16 = 10,
    kTfLiteFloat64 = 11,
    kTfLiteComplex128 = 12,
    kTfLiteUInt64 = 13,
    // An int32 handle of a variable or hash table held by the interpreter.
    kTfLiteResource = 14,
    // A pointer to an object that an op owns.
    kTfLiteVariant = 15,
    kTfLiteUInt32 = 16,
    kTfLiteUInt16 = 17,
    // Two elements per byte, the first in the low half.
    kTfLiteInt4 = 18,
    kTfLiteBFloat16 = 19,
    // Four elements per byte, the first in the lowest bits.
    kTfLiteInt2 = 20,
    // As kTfLiteInt4, without sign.
    kTfLiteUInt4 = 21,
    // One byte: 4 exponent bits, 3 mantissa bits, no infinities.
    kTfLiteFloat8E4M3FN = 22,
    // One byte: 5 exponent bits, 2 mantissa bits.
    kTfLiteFloat8E5M2 = 23
} TfLiteType;

// One scale and zero point for a whole tensor: real = scale * (quantized - zero_point).
// Kept for old callers; TfLiteTensor.quantization also says per-channel parameters.
typedef struct TfLiteQuantizationParams {
    // Step between two neighbouring quantized values; 0 means "not quantized this way".
    float scale;
    // Quantized value that stands for real 0.
    int32_t zero_point;
} TfLiteQuantizationParams;

// Names for what TfLiteContext, TfLiteNode and TfLiteTensor look like to code that must not know
// their layout. Reach inside with the functions of c_api_opaque.h.
typedef struct TfLiteOpaqueContext TfLiteOpaqueContext;
typedef struct TfLiteOpaqueNode TfLiteOpaqueNode;
typedef struct TfLiteOpaqueTensor TfLiteOpaqueTensor;

// A multi-dimensional array. The layout is in common.h; c_api.h reads it through functions.
typedef struct TfLiteTensor TfLiteTensor;

// A delegate takes over part of a graph. The layout is in common.h.
typedef struct TfLiteDelegate TfLiteDelegate;

// Delegate behind the functions that take either kind. It is the same type as TfLiteDelegate,
// unless the including code asks for the layout to be hidden.
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegateStruct;
#if (defined(TFLITE_WITH_STABLE_ABI) && TFLITE_WITH_STABLE_ABI) || \
    (defined(TFLITE_USE_OPAQUE_DELEGATE) && TFLITE_USE_OPAQUE_DELEGATE)
typedef TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;
#else
typedef TfLiteDelegate TfLiteOpaqueDelegate;
#endif

// An operator made with TfLiteOperatorCreate (operator.h): callbacks that see opaque types only.
typedef struct TfLiteOperator TfLiteOperator;
// Former name of TfLiteOperator.
typedef TfLiteOperator TfLiteRegistrationExternal;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_C_C_API_TYPES_H_
