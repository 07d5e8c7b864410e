// SPDX-License-Identifier: Apache-2.0
// What BATCH_MATMUL's prepare finds, for its reference kernel and its fast one.
#ifndef HALITE_OPS_BATCH_MATMUL_H
#define HALITE_OPS_BATCH_MATMUL_H

#include "ops/common/quant.h"
#include "ops/op.h"

enum { HL_BATCH_DIMS = 3 };

enum hl_matmul_mode { HL_MATMUL_FLOAT, HL_MATMUL_INTEGER, HL_MATMUL_HYBRID };

struct hl_batch_matmul {
    enum hl_matmul_mode mode;
    int m, n, k;
    int x_batch[HL_BATCH_DIMS], w_batch[HL_BATCH_DIMS], y_batch[HL_BATCH_DIMS];
    int scales;                  // of w: 1 or n
    struct hl_rescale *rescales; // integers with a quantized output: one per scale, owned
    int32_t low, high;
};

// The numbers of the matrices in x and w that make matrix `batch` of y.
void hl_find_matrices(const struct hl_batch_matmul *op, int64_t batch, int64_t *x, int64_t *w);

#endif
