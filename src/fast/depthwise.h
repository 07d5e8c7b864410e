// SPDX-License-Identifier: Apache-2.0
// What other kernels want of that of DEPTHWISE_CONV_2D. A CONV_2D whose groups have one channel each is computed by it.
// A 1x1 convolution wants its outputs a few lines at a time, while they are in a cache: from its state and its input
// come lines of its output, in the memory of one worker.
#ifndef HALITE_FAST_DEPTHWISE_H
#define HALITE_FAST_DEPTHWISE_H

#include "ops/common/conv.h"

// *state: of hl_fast_depthwise_conv_2d, for a CONV_2D of 8 bits with one input channel in each group; NULL: it does not
// take the node.
TfLiteStatus hl_depthwise_of_groups(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                    void **state, size_t *bytes);

// How many lines are best computed at once; 0: they cannot be had so.
int hl_depthwise_lines_at_once(const void *depthwise);
// Writes lines [line, line + count) of the output, counted over all batches, to y. worker: of hl_parallel.
void hl_depthwise_lines(const void *depthwise, const void *x, int64_t line, int64_t count, void *y, int worker);

#endif
