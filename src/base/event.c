// SPDX-License-Identifier: Apache-2.0
// See event.h. The descriptors do not block: setting one that is set and clearing one that is clear change nothing.
#include "base/event.h"

#if defined(__linux__)
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int hl_event_create(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void hl_event_set(int event)
{
    const uint64_t one = 1;
    if (event < 0) return;
    // It fails only beyond 2^64 - 2 settings without a clearing, when the descriptor is readable all the same.
    if (write(event, &one, sizeof one) < 0) return;
}

void hl_event_clear(int event)
{
    uint64_t count;
    if (event < 0) return;
    if (read(event, &count, sizeof count) < 0) return; // it was clear
}

void hl_event_destroy(int event)
{
    if (event >= 0) close(event);
}

bool hl_event_exists(void)
{
    return true;
}

bool hl_descriptor_wait(int descriptor)
{
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    int ready;
    if (descriptor < 0) return false; // poll would ignore it
    do ready = poll(&wanted, 1, -1);
    while (ready < 0 && errno == EINTR);
    return ready == 1 && (wanted.revents & POLLIN);
}

#else

int hl_event_create(void)
{
    return -1;
}

void hl_event_set(int event)
{
    (void)event;
}

void hl_event_clear(int event)
{
    (void)event;
}

void hl_event_destroy(int event)
{
    (void)event;
}

bool hl_event_exists(void)
{
    return false;
}

bool hl_descriptor_wait(int descriptor)
{
    (void)descriptor;
    return false;
}

#endif
