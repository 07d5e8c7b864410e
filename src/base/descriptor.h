// SPDX-License-Identifier: Apache-2.0
// File descriptors that stand for something else than a file, as memory that a driver has exported.
#ifndef HALITE_BASE_DESCRIPTOR_H
#define HALITE_BASE_DESCRIPTOR_H

// Another descriptor of the same thing, which the caller closes. -1: it is none, none is left, or this system has none.
int hl_descriptor_copy(int descriptor);
// Accepts -1.
void hl_descriptor_close(int descriptor);

#endif
