// SPDX-License-Identifier: Apache-2.0
// Sparse constants (weights of pruned models) as dense ones.
#ifndef HALITE_GPU_GRAPH_SPARSE_H
#define HALITE_GPU_GRAPH_SPARSE_H

#include "tensorflow/lite/c/common.h"

// All elements of a tensor with sparsity, those that are not stored 0; malloc'ed. NULL: its description contradicts
// itself or its size, or there is no memory. element: bytes of one.
void *gpu_dense_from(const TfLiteTensor *tensor, size_t element);

#endif
