// SPDX-License-Identifier: Apache-2.0
// The state of BATCH_MATMUL's fast kernel, and what attention wants of it: some rows of x, as they are multiplied, and
// their products with the packed panels of one matrix of w. Attention is two such nodes with SOFTMAX between them.
#ifndef HALITE_FAST_BATCH_MATMUL_H
#define HALITE_FAST_BATCH_MATMUL_H

#include "fast/epilogue.h"
#include "fast/gemm.h"

struct hl_matmul {
    struct hl_packed packed;     // without weights where w is not constant
    struct hl_weights *shared;   // the memory of constant weights; NULL: the state's
    struct hl_matrix w;          // without data
    bool words, bytes;           // int16, int8
    struct hl_initial initial;   // of int8: the zero point of x
    int x_zero;                  // the same, as it is stored
    struct hl_epilogue epilogue; // of these
    bool x_transposed;           // stored as [k, m]
    bool x_copied;
    int64_t m, batches;
    ptrdiff_t x_stride; // from row to row, as they are multiplied: floats, or bytes of integers
    // What each worker has: a panel where w is not constant, rows of x where they are copied, their corrections, and
    // pieces of int16 sums.
    struct hl_scratch panel, rows, corrections, sums;
    // Each batch is cut into so many parts by its rows, and by its panels.
    int64_t row_parts, panel_parts;
    void *attention; // makes x, block by block (attention.h); NULL: it is there
};

// Bytes of an element of x.
int64_t hl_matmul_size(const struct hl_matmul *op);
// Rows [first, end) of one matrix of x, as they are multiplied: themselves, or in `rows`. Bytes may have corrections.
const void *hl_matmul_rows(const struct hl_matmul *op, const char *x, int64_t first, int64_t end, void *rows,
                           int32_t *corrections);
// `count` such rows times a panel, which the tile is set to, with x_stride and, of floats, y_stride. They become rows
// of output->y from `position` on.
void hl_matmul_panel(const struct hl_matmul *op, struct hl_tile *tile, int64_t panel, const void *x, int64_t count,
                     int64_t position, const struct hl_output *output);

#endif
