// SPDX-License-Identifier: Apache-2.0
// Copies of memory. In: bytes, and a place that does not overlap with them. Out: the same bytes there, or floats as
// halves. Large copies are shared among threads, as one processor alone moves memory at a fraction of what the machine
// can.
#ifndef HALITE_BASE_COPIER_H
#define HALITE_BASE_COPIER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/threads.h"

// Copies from so many bytes on are shared among threads.
enum { HL_LARGE_COPY = 1 << 20 };

// Zeroed at first. One thread uses it at a time.
struct hl_copier {
    struct hl_threads *threads; // NULL: there are none yet, or there is one processor too few for them
    bool is_ready;              // threads are there, or will never be
};

// Returns when all bytes are there, and every device that the caller then starts sees them, also in memory that
// processors write past their caches. The first large copy makes the threads.
void hl_copier_copy(struct hl_copier *copier, void *to, const void *from, size_t bytes);
// Chooses the number of threads, the caller among them, in place of the first copy.
void hl_copier_begin(struct hl_copier *copier, int threads);
// Wakes threads that sleep, for a large copy that comes within a tenth of a millisecond.
void hl_copier_wake(struct hl_copier *copier);
void hl_copier_end(struct hl_copier *copier);

// Writes so many floats as halves, rounded to nearest even, which every device that the caller then starts sees. to: a
// multiple of 2 bytes.
void hl_copy_as_halves(void *to, const float *from, size_t count);
// Whether this processor does that about as fast as it copies.
bool hl_halves_are_fast(void);

#endif
