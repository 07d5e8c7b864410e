// SPDX-License-Identifier: Apache-2.0
// Constant weights [rows, columns] that store only some blocks of each row, as FULLY_CONNECTED and LSTM take them.
// In: a tensor with a sparsity block, whose indices the model's verifier has checked. Out: whole rows, or products with
// a vector.
#ifndef HALITE_OPS_COMMON_SPARSE_ROWS_H
#define HALITE_OPS_COMMON_SPARSE_ROWS_H

#include "ops/op.h"

// Refuses a sparsity block that does not list, row after row, the blocks of columns that are stored. A tensor without
// one passes.
TfLiteStatus hl_require_sparse_rows(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *weights);

// Writes rows [first, first + rows) with their zeros.
void hl_expand_sparse_rows(const TfLiteTensor *weights, int columns, int first, int rows, void *dense);

// The product of a row of int8 weights and x [columns].
int64_t hl_sparse_row_dot_i8(const TfLiteTensor *weights, int row, const int8_t *x);

#endif
