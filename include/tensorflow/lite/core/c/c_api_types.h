// SPDX-License-Identifier: Apache-2.0
//
// The small types that every other public header shares: export macro, status codes, and names of
// structs whose layout callers never see. Element types and per-tensor quantization come from a
// header of their own.
// All values are part of the binary interface of TensorFlow Lite and never change.
#ifndef TENSORFLOW_LITE_CORE_C_C_API_TYPES_H_
#define TENSORFLOW_LITE_CORE_C_C_API_TYPES_H_

#include "tensorflow/compiler/mlir/lite/core/c/tflite_types.h"

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

#endif  // TENSORFLOW_LITE_CORE_C_C_API_TYPES_H_
