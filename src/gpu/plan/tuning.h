// SPDX-License-Identifier: Apache-2.0
// Blocks of kernels that were measured on a device. In: the candidates that an operator's cost model ranks, and times
// of steps. Out: which of them to take. A plan asks at one door, gpu_tuning_choose: without a measurement the answer
// is the model's first; with measurements it is the fastest; and while tuning it is the next one that has no time
// yet, so that each new plan measures another. As text the rows go to a file and come back
// (src/gpu/delegate/tuning_file.c).
#ifndef HALITE_GPU_PLAN_TUNING_H
#define HALITE_GPU_PLAN_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { GPU_TUNED_SIZES = 8, GPU_TUNED_NUMBERS = 6, GPU_TUNED_CANDIDATES = 12, GPU_TUNED_KERNEL = 32 };

// A way to compute: the numbers that an operator makes a dispatch of, zeros after them.
struct gpu_tuned_block {
    int32_t numbers[GPU_TUNED_NUMBERS];
};

// Candidates of a cost model, the fastest first.
struct gpu_ranking {
    int room; // 1 to GPU_TUNED_CANDIDATES
    int count;
    struct gpu_tuned_block blocks[GPU_TUNED_CANDIDATES];
    int64_t cycles[GPU_TUNED_CANDIDATES];
};
// Puts a block in its place, behind those that take as long, unless `room` others take less or as long.
void gpu_ranking_add(struct gpu_ranking *ranking, const struct gpu_tuned_block *block, int64_t cycles);
// What a further block must stay below.
static inline int64_t gpu_ranking_limit(const struct gpu_ranking *ranking)
{
    return ranking->count < ranking->room ? INT64_MAX : ranking->cycles[ranking->count - 1];
}

// What the choice depends on.
struct gpu_tuned_size {
    const char *kernel; // shorter than GPU_TUNED_KERNEL, without blanks
    int32_t sizes[GPU_TUNED_SIZES];
};

struct gpu_tuned_row {
    char kernel[GPU_TUNED_KERNEL];
    int32_t sizes[GPU_TUNED_SIZES];
    struct gpu_tuned_block block;
    int rank;    // of the block by the cost model, 0 the best
    uint64_t ns; // the shortest time; UINT64_MAX: none yet
};

// All zero: nothing is measured, and nothing is to be.
struct gpu_tuning {
    struct gpu_tuned_row *rows; // one for each size and block
    int count, capacity;
    bool tries;   // blocks without a time are to be tried
    bool changed; // since it was read
};

// Whether there is an answer for any size, for which candidates are worth being ranked. Accepts NULL.
static inline bool gpu_tuning_answers(const struct gpu_tuning *tuning)
{
    return tuning && (tuning->tries || tuning->count > 0);
}
// The block to take; NULL: nothing is known of this size, and the cost model decides. *row: while tuning, the number of
// the row that the time belongs to (gpu_tuning_note), counted from 1; else 0.
const struct gpu_tuned_block *gpu_tuning_choose(struct gpu_tuning *tuning, const struct gpu_tuned_size *size,
                                                const struct gpu_ranking *candidates, int *row);
// A step with this row took so long.
void gpu_tuning_note(struct gpu_tuning *tuning, int row, uint64_t ns);

// Appends the rows that have a time, a line each.
void gpu_tuning_print(const struct gpu_tuning *tuning, struct hl_text *text);
// Adds the rows of such lines, up to the end of the text. False: it is none, or there is no memory; the rows are then
// to be freed.
bool gpu_tuning_parse(struct gpu_tuning *tuning, const char *text);
void gpu_tuning_free(struct gpu_tuning *tuning);

#endif
