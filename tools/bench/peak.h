// SPDX-License-Identifier: Apache-2.0
// What the processor can multiply and add at most. In: a number of threads. Out: multiply-adds a second of a loop that
// does nothing else and reads no memory, in the widest vectors or the matrix unit that there are. No layer reaches
// more, but convolutions by Winograd's algorithm, which count as the multiply-adds that they do without.
#ifndef HALITE_TOOLS_BENCH_PEAK_H
#define HALITE_TOOLS_BENCH_PEAK_H

// Products of float32, and of 8-bit integers with sums of 32 bits.
enum hl_peak_type { HL_PEAK_FLOATS, HL_PEAK_BYTES, HL_PEAK_TYPES };

// Takes about 30 ms for each type. most: 0 where no loop is known for this architecture.
void hl_peak_measure(int threads, double most[HL_PEAK_TYPES]);

#endif
