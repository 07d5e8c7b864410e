// SPDX-License-Identifier: Apache-2.0
// Options that only their reader understands: a list of items, each an identifier and a payload. Halite reads
// "gpu_options", "halite_options", "xnnpack" and "runtime_options_string", whose payloads are texts (docs/litert.md).
#ifndef LITERT_C_LITERT_OPAQUE_OPTIONS_H_
#define LITERT_C_LITERT_OPAQUE_OPTIONS_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// A list of one item. The identifier is copied; destructor, if there is one, ends the payload with the item.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateOpaqueOptions(const char *identifier, void *payload,
                                                          void (*destructor)(void *payload),
                                                          LiteRtOpaqueOptions *options);
// The whole list from this item on. An item that another list or LiteRtOptions took is theirs.
LITERT_CAPI_EXPORT void LiteRtDestroyOpaqueOptions(LiteRtOpaqueOptions options);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptionsIdentifier(LiteRtOpaqueOptions options, const char **identifier);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptionsData(LiteRtOpaqueOptions options, void **payload);
// The payload of the first item with the identifier; kLiteRtStatusErrorNotFound where there is none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtFindOpaqueOptionsData(LiteRtOpaqueOptions options, const char *identifier,
                                                            void **payload);
// Steps to the next item, which is NULL after the last.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNextOpaqueOptions(LiteRtOpaqueOptions *options);
// Takes a list and puts it at the end of another, which may be NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAppendOpaqueOptions(LiteRtOpaqueOptions *options, LiteRtOpaqueOptions appended);
// Destroys the last item.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtPopOpaqueOptions(LiteRtOpaqueOptions *options);

#ifdef __cplusplus
}
#endif

#endif
