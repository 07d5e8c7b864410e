// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs: wrappers around a platform's buffers and synchronization objects, and the
// keys that describe them (attribute_map.h).
#ifndef TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_TYPES_H_
#define TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_TYPES_H_

#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Side of a graph that a tensor is on.
typedef enum TfLiteIoType {
    kTfLiteIoTypeUnknown = 0,
    kTfLiteIoTypeInput = 1,
    kTfLiteIoTypeOutput = 2
} TfLiteIoType;

// A platform's buffer, such as an AHardwareBuffer. Its attributes say which kind.
typedef struct TfLiteBackendBuffer TfLiteBackendBuffer;

// Empty wrapper. The caller frees it with TfLiteBackendBufferDelete. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteBackendBuffer* TfLiteBackendBufferCreate(void);

// Frees the wrapper, not the platform's buffer. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteBackendBufferDelete(TfLiteBackendBuffer* buf);

// The platform's buffer. Not owned.
TFL_CAPI_EXPORT extern void TfLiteBackendBufferSetPtr(TfLiteBackendBuffer* buf, void* ptr);
TFL_CAPI_EXPORT extern void* TfLiteBackendBufferGetPtr(const TfLiteBackendBuffer* buf);

// A platform's synchronization object, such as a fence.
typedef struct TfLiteSynchronization TfLiteSynchronization;

// Empty wrapper. The caller frees it with TfLiteSynchronizationDelete. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteSynchronization* TfLiteSynchronizationCreate(void);

// Frees the wrapper, not the platform's object. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteSynchronizationDelete(TfLiteSynchronization* sync);

// The platform's object. Not owned.
TFL_CAPI_EXPORT extern void TfLiteSynchronizationSetPtr(TfLiteSynchronization* sync, void* ptr);
TFL_CAPI_EXPORT extern void* TfLiteSynchronizationGetPtr(const TfLiteSynchronization* sync);

// What an attribute map describes.
typedef enum TfLiteAttrMapType {
    kTfLiteAttrMapTypeUnknown = 0,
    kTfLiteAttrMapTypeBuffer = 1,  // keys are TfLiteBufferAttrKey
    kTfLiteAttrMapTypeSync = 2     // keys are TfLiteSynchronizationAttrKey
} TfLiteAttrMapType;

// Attributes of a buffer; the type of each value is at its right.
typedef enum TfLiteBufferAttrKey {
    kTfLiteBufferAttrKeyUnknown = 0,
    kTfLiteBufferAttrKeyResourceTypeName = 1,             // string: kind of platform buffer
    kTfLiteBufferAttrKeyAlignment = 2,                    // size_t, bytes
    kTfLiteBufferAttrKeyPadding = 3,                      // size_t: size is a multiple of it
    kTfLiteBufferAttrKeyOffset = 4,                       // size_t, bytes
    kTfLiteBufferAttrKeySize = 5,                         // size_t, bytes with padding
    kTfLiteBufferAttrKeyCurrentHostCoherencyState = 6,    // bool
    kTfLiteBufferAttrKeyPreferredHostCoherencyState = 7,  // bool
    kTfLiteBufferAttrKeyCurrentHostCacheState = 8,        // bool
    kTfLiteBufferAttrKeyPreferredHostCacheState = 9       // bool
} TfLiteBufferAttrKey;

// Attributes of a synchronization object.
typedef enum TfLiteSynchronizationAttrKey {
    kTfLiteSynchronizationAttrKeyUnknown = 0,
    kTfLiteSynchronizationAttrKeyObjectTypeName = 1  // string: kind of platform object
} TfLiteSynchronizationAttrKey;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_TYPES_H_
