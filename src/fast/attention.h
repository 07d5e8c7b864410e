// SPDX-License-Identifier: Apache-2.0
// Attention: queries times keys, a chain of element-wise nodes, SOFTMAX, and the product with the values, in blocks of
// rows, by the kernel of the last node. In: the states of these nodes. Out: the last one's output; the scores lie in
// the memory of the workers.
#ifndef HALITE_FAST_ATTENTION_H
#define HALITE_FAST_ATTENTION_H

#include "fast/batch_matmul.h"
#include "fast/fast.h"

// *attention: NULL where the nodes do not fit each other, or are faster apart, or the memory limit leaves too little.
TfLiteStatus hl_attention_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_matmul *values,
                                 const struct hl_joined *joined, void **attention, size_t *bytes);
void hl_attention_destroy(void *attention);
void hl_attention_run(TfLiteContext *ctx, const TfLiteNode *node, const void *attention);

#endif
