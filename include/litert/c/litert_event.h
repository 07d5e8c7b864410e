// SPDX-License-Identifier: Apache-2.0
// The end of work that is under way. Halite's own libLiteRt has custom events, whose functions their maker brings.
#ifndef LITERT_C_LITERT_EVENT_H_
#define LITERT_C_LITERT_EVENT_H_

#include <stdbool.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_event_type.h"

#ifdef __cplusplus
extern "C" {
#endif

// The head of a custom event; its maker keeps more after it.
typedef struct LiteRtCustomEventT {
    void (*retain)(struct LiteRtCustomEventT *event);
    void (*release)(struct LiteRtCustomEventT *event);
    // milliseconds below 0: as long as it takes. kLiteRtStatusErrorTimeoutExpired: not yet.
    LiteRtStatus (*wait)(struct LiteRtCustomEventT *event, int64_t milliseconds);
    LiteRtStatus (*is_signaled)(struct LiteRtCustomEventT *event, bool *is_signaled);
    LiteRtStatus (*get_native)(struct LiteRtCustomEventT *event, void **native);
} LiteRtCustomEventT;
typedef LiteRtCustomEventT *LiteRtCustomEvent;

// type: LiteRtEventTypeCustom; others are kLiteRtStatusErrorUnsupported.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedEvent(LiteRtEnvironment environment, LiteRtEventType type,
                                                         LiteRtEvent *event);
// Releases what it holds.
LITERT_CAPI_EXPORT void LiteRtDestroyEvent(LiteRtEvent event);
// Retains the custom event, and releases one that was set before.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetCustomEvent(LiteRtEvent event, LiteRtCustomEvent custom_event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCustomEvent(LiteRtEvent event, LiteRtCustomEvent *custom_event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEventEventType(LiteRtEvent event, LiteRtEventType *type);
// An event that holds nothing is over.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtIsEventSignaled(LiteRtEvent event, bool *is_signaled);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtWaitEvent(LiteRtEvent event, int64_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif
