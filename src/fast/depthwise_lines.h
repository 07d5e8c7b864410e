// SPDX-License-Identifier: Apache-2.0
// A DEPTHWISE_CONV_2D whose outputs the 1x1 convolution behind it wants a few lines at a time, while they are in a
// cache. In: the state of its fast kernel, and its input. Out: lines of its output, in the memory of one worker.
#ifndef HALITE_FAST_DEPTHWISE_LINES_H
#define HALITE_FAST_DEPTHWISE_LINES_H

#include <stdint.h>

// How many lines are best computed at once; 0: they cannot be had so.
int hl_depthwise_lines_at_once(const void *depthwise);
// Writes lines [line, line + count) of the output, counted over all batches, to y. worker: of hl_parallel.
void hl_depthwise_lines(const void *depthwise, const void *x, int64_t line, int64_t count, void *y, int worker);

#endif
