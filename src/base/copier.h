// SPDX-License-Identifier: Apache-2.0
// Copies of memory. In: bytes, and a place that does not overlap with them. Out: the same bytes there, or floats as
// halves. Large copies, and smaller ones into a card, are shared among threads, as one processor alone moves memory at
// a fraction of what the machine can.
#ifndef HALITE_BASE_COPIER_H
#define HALITE_BASE_COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/threads.h"

// Copies from so many bytes on are shared among threads.
enum { HL_LARGE_COPY = 1 << 20, HL_LARGE_SEND = 128 << 10 };

// Zeroed at first. One thread uses it at a time.
struct hl_copier {
    struct hl_threads *threads; // NULL: there are none yet, or there is one processor too few for them
    bool is_ready;              // threads are there, or will never be
    uint64_t sent;              // when the last copy into a card began, in nanoseconds; 0: there was none
};

// Returns when all bytes are there, and every device that the caller then starts sees them, also in memory that
// processors write past their caches. The first large copy makes the threads.
void hl_copier_copy(struct hl_copier *copier, void *to, const void *from, size_t bytes);
// The same into memory of a card, behind a bus, which is shared from HL_LARGE_SEND on, if the last such copy was less
// than a millisecond ago.
void hl_copier_send(struct hl_copier *copier, void *to, const void *from, size_t bytes);
// The same of so many floats, which become halves, rounded to nearest even. to: a multiple of 2 bytes.
void hl_copier_send_halves(struct hl_copier *copier, void *to, const float *from, size_t count);
// Whether this processor does that about as fast as it copies.
bool hl_halves_are_fast(void);
// Chooses the number of threads, the caller among them, in place of the first copy.
void hl_copier_begin(struct hl_copier *copier, int threads);
// Wakes threads that sleep, for a large copy that comes within a tenth of a millisecond.
void hl_copier_wake(struct hl_copier *copier);
void hl_copier_end(struct hl_copier *copier);

#endif
