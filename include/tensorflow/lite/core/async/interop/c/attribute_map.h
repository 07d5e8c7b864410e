// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs: a map from attribute keys to values, about a buffer or a synchronization
// object. Get functions return false when the key is absent, its value is of another type, or the map
// is about the other kind of object; set functions in the last case and when memory is short.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_ATTRIBUTE_MAP_H_
#define TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_ATTRIBUTE_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/async/interop/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TfLiteAttributeMap TfLiteAttributeMap;

// Empty map. The caller frees it with TfLiteAttributeMapDelete. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteAttributeMap* TfLiteAttributeMapCreate(TfLiteAttrMapType type);

// Frees a map. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteAttributeMapDelete(TfLiteAttributeMap* attrs);

TFL_CAPI_EXPORT extern bool TfLiteAttributeMapIsBufferAttributeMap(
    const TfLiteAttributeMap* attrs);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapIsSyncAttributeMap(const TfLiteAttributeMap* attrs);

// Makes dst hold what src holds, type included.
TFL_CAPI_EXPORT extern void TfLiteAttributeMapCopy(const TfLiteAttributeMap* src,
                                                   TfLiteAttributeMap* dst);

TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetSizeTBufferAttr(const TfLiteAttributeMap* attrs,
                                                                 TfLiteBufferAttrKey key,
                                                                 size_t* val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapSetSizeTBufferAttr(TfLiteAttributeMap* attrs,
                                                                 TfLiteBufferAttrKey key,
                                                                 size_t val);

// Strings are copied when set; one that was got is the map's, until that key is set again.
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetStringBufferAttr(const TfLiteAttributeMap* attrs,
                                                                  TfLiteBufferAttrKey key,
                                                                  const char** val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapSetStringBufferAttr(TfLiteAttributeMap* attrs,
                                                                  TfLiteBufferAttrKey key,
                                                                  const char* val);

TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetBoolBufferAttr(const TfLiteAttributeMap* attrs,
                                                                TfLiteBufferAttrKey key,
                                                                bool* val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapSetBoolBufferAttr(TfLiteAttributeMap* attrs,
                                                                TfLiteBufferAttrKey key, bool val);

TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetStringSyncAttr(const TfLiteAttributeMap* attrs,
                                                                TfLiteSynchronizationAttrKey key,
                                                                const char** val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapSetStringSyncAttr(TfLiteAttributeMap* attrs,
                                                                TfLiteSynchronizationAttrKey key,
                                                                const char* val);

// The same for any key, whatever the map is about; in the Custom forms keys are texts of the caller's
// own, which are copied. Setting does nothing when memory is short.
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetIntAttr(const TfLiteAttributeMap* attrs,
    uint32_t key, int* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetIntAttr(TfLiteAttributeMap* attrs, uint32_t key,
    int val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetCustomIntAttr(
    const TfLiteAttributeMap* attrs, const char* key, int* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetCustomIntAttr(TfLiteAttributeMap* attrs,
    const char* key, int val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetSizeTAttr(const TfLiteAttributeMap* attrs,
    uint32_t key, size_t* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetSizeTAttr(TfLiteAttributeMap* attrs, uint32_t key,
    size_t val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetCustomSizeTAttr(
    const TfLiteAttributeMap* attrs, const char* key, size_t* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetCustomSizeTAttr(TfLiteAttributeMap* attrs,
    const char* key, size_t val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetStringAttr(const TfLiteAttributeMap* attrs,
    uint32_t key, const char** val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetStringAttr(TfLiteAttributeMap* attrs, uint32_t key,
    const char* val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetCustomStringAttr(
    const TfLiteAttributeMap* attrs, const char* key, const char** val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetCustomStringAttr(TfLiteAttributeMap* attrs,
    const char* key, const char* val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetBoolAttr(const TfLiteAttributeMap* attrs,
    uint32_t key, bool* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetBoolAttr(TfLiteAttributeMap* attrs, uint32_t key,
    bool val);
TFL_CAPI_EXPORT extern bool TfLiteAttributeMapGetCustomBoolAttr(
    const TfLiteAttributeMap* attrs, const char* key, bool* val);
TFL_CAPI_EXPORT extern void TfLiteAttributeMapSetCustomBoolAttr(TfLiteAttributeMap* attrs,
    const char* key, bool val);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_ATTRIBUTE_MAP_H_
