// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is readable from hl_event_set to hl_event_clear, for programs that wait for several things
// with poll, select or epoll. Linux has such descriptors (eventfd).
#ifndef HALITE_BASE_EVENT_H
#define HALITE_BASE_EVENT_H

#include <stdbool.h>

// Returns a descriptor that is not readable, -1 where the system has none (left).
int hl_event_create(void);
// These take -1, and then do nothing.
void hl_event_set(int event);
void hl_event_clear(int event);
void hl_event_destroy(int event);
// Whether the system has such descriptors, which hl_descriptor_wait can wait for.
bool hl_event_exists(void);
// Lets the thread wait until a descriptor, any that poll takes, is readable. False where it is none.
bool hl_descriptor_wait(int descriptor);

#endif
