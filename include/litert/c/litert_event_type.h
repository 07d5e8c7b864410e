// SPDX-License-Identifier: Apache-2.0
// Kinds of events.
#ifndef LITERT_C_LITERT_EVENT_TYPE_H_
#define LITERT_C_LITERT_EVENT_TYPE_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LiteRtEventType {
    LiteRtEventTypeUnknown = 0,
    LiteRtEventTypeSyncFenceFd = 1,
    LiteRtEventTypeOpenCl = 2,
    LiteRtEventTypeEglSyncFence = 3,
    LiteRtEventTypeEglNativeSyncFence = 4,
    LiteRtEventTypeCustom = 5 // functions of whoever made it
} LiteRtEventType;

#ifdef __cplusplus
}
#endif

#endif
