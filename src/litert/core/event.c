// SPDX-License-Identifier: Apache-2.0
// Events: a handle around functions that somebody else brings.
#include "litert/c/litert_event.h"

#include <stdlib.h>

#include "litert/core/core.h"

LiteRtStatus LiteRtCreateManagedEvent(LiteRtEnvironment environment, LiteRtEventType type, LiteRtEvent *event)
{
    (void)environment;
    LITERT_NEED(event);
    if (type != LiteRtEventTypeCustom)
        return litert_fail(kLiteRtStatusErrorUnsupported, "events of type %d cannot be made; custom ones (5) can",
                           (int)type);
    LiteRtEvent made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    *event = made;
    return kLiteRtStatusOk;
}

void LiteRtDestroyEvent(LiteRtEvent event)
{
    if (!event) return;
    if (event->custom) event->custom->release(event->custom);
    free(event);
}

LiteRtStatus LiteRtSetCustomEvent(LiteRtEvent event, LiteRtCustomEvent custom_event)
{
    LITERT_NEED(event && custom_event && custom_event->retain && custom_event->release && custom_event->wait &&
                custom_event->is_signaled);
    custom_event->retain(custom_event);
    if (event->custom) event->custom->release(event->custom);
    event->custom = custom_event;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCustomEvent(LiteRtEvent event, LiteRtCustomEvent *custom_event)
{
    LITERT_NEED(event && custom_event);
    if (!event->custom) return kLiteRtStatusErrorNotFound;
    *custom_event = event->custom;
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtGetEventEventType, LiteRtEvent, LiteRtEventType, LiteRtEventTypeCustom)

LiteRtStatus LiteRtIsEventSignaled(LiteRtEvent event, bool *is_signaled)
{
    LITERT_NEED(event && is_signaled);
    *is_signaled = true;
    return event->custom ? event->custom->is_signaled(event->custom, is_signaled) : kLiteRtStatusOk;
}

LiteRtStatus LiteRtWaitEvent(LiteRtEvent event, int64_t milliseconds)
{
    LITERT_NEED(event);
    return event->custom ? event->custom->wait(event->custom, milliseconds) : kLiteRtStatusOk;
}
