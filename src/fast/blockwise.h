// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of floats with weights of 4 bits that have a scale for each block of columns. In: a prepared node.
// Out: a state that is made of packed weights, and a run that quantizes rows to int8 and multiplies them.
#ifndef HALITE_FAST_BLOCKWISE_H
#define HALITE_FAST_BLOCKWISE_H

#include "fast/fast.h"
#include "ops/fully_connected.h"

// Whether weights are such.
bool hl_blockwise_fits(const struct hl_fully_connected *op, const TfLiteTensor *w);
// *state: of *bytes bytes, or NULL (fast.h). w and bias are constant and dense, and the activation is the range
// [low, high]. There is at least one row, and one unit.
TfLiteStatus hl_blockwise_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_fully_connected *op,
                                 float low, float high, void **state, size_t *bytes);
void hl_blockwise_destroy(void *blockwise);
void hl_blockwise_run(TfLiteContext *ctx, const void *blockwise, const float *x, float *y);

#endif
