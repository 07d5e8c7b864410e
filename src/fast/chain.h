// SPDX-License-Identifier: Apache-2.0
// A chain of element-wise steps behind the output of a node. In: some of that output, which lies where the chain's last
// value will. Out: the last value, in its place. Steps run over pieces that stay in the first-level cache. Bytes
// that depend on nothing but that output become one table. Behind the steps may stand a pool: then the output is made
// in the memory of a worker, the lines of some windows at a time, and what the pool makes of them is written.
#ifndef HALITE_FAST_CHAIN_H
#define HALITE_FAST_CHAIN_H

#include "fast/elements.h"
#include "fast/fast.h"
#include "ops/common/pool_rows.h"

// Elements of a piece.
enum { HL_CHAIN_PIECE = 1024 };

// What a step reads: the lead's output (0), the value of the step before step n (n), or another tensor.
struct hl_chain_operand {
    int value;      // -1: another tensor
    int tensor;     // that one's number; -1: there is none
    int size;       // bytes of one of its elements
    bool constant;  // it is known in prepare
    int64_t period; // its values begin again after so many elements; 0: it is as large as the output
    char *repeated; // then, where there is one for each channel at most: HL_CHAIN_PIECE + period elements of it
};

struct hl_chain {
    int size; // bytes of an element
    int64_t channels;
    int64_t wrap; // the shortest period of more elements, over whose end no piece goes; 0: there is none
    bool pays;    // hl_chain_pays
    int count;
    struct hl_step steps[HL_MAX_STEPS];
    struct hl_chain_operand operands[HL_MAX_STEPS][2];
    hl_byte_map_kernel *map; // of the table that bytes become
    uint8_t table[256];
    const struct hl_pool *pool; // at the end; NULL: none, and the rest is not set
    int64_t batches;
    int most_rows;           // of the pool in an item
    struct hl_scratch lines; // of the workers: the lines of the node's output that so many rows read
};

// What an item of work makes for the pool.
struct hl_chain_lines {
    int64_t first, count; // positions of the node's output
    int64_t batch;
    int top;      // its line that they begin with
    int row, end; // rows of the pool
};

// The tensors of one run.
struct hl_chain_run {
    const struct hl_chain *chain; // NULL: none, and the rest is not set
    char *y;                      // the last node's output
    const char *others[HL_MAX_STEPS][2];
};

// y: the output tensor's memory. chain NULL: the following two do nothing.
void hl_chain_begin(const TfLiteContext *ctx, const struct hl_chain *chain, void *y, struct hl_chain_run *run);
// Goes on with elements of the output, or with `rows` positions of it, with all their channels.
void hl_chain_elements(const struct hl_chain_run *run, int64_t first, int64_t count);
// The same where that element lies at y.
void hl_chain_elements_at(const struct hl_chain_run *run, char *y, int64_t first, int64_t count);
void hl_chain_rows(const struct hl_chain_run *run, int64_t row, int64_t rows);

// With a pool: the positions that are made for one of its rows; the number of items of so many rows, and what is one's.
// Some of those positions were made: goes on with them; all were: writes the pool's rows. `made`: the worker's memory.
int64_t hl_chain_positions_of_row(const struct hl_chain *chain);
int64_t hl_chain_items(const struct hl_chain *chain, int rows);
struct hl_chain_lines hl_chain_lines_of(const struct hl_chain *chain, int rows, int64_t item);
void hl_chain_made(const struct hl_chain_run *run, const struct hl_chain_lines *lines, char *made, int64_t first,
                   int64_t count);
void hl_chain_pool(const struct hl_chain_run *run, const struct hl_chain_lines *lines, const char *made);

#endif
