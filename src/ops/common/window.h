// SPDX-License-Identifier: Apache-2.0
// Sliding windows (convolutions, pools): output size and padding of one spatial axis.
#ifndef HALITE_OPS_COMMON_WINDOW_H
#define HALITE_OPS_COMMON_WINDOW_H

#include "ops/op.h"

struct hl_window {
    int out;    // output positions
    int before; // padded positions in front of the first input
    int after;
};

// filter, stride, dilation: at least 1, which this checks (with a message naming `axis`, "height" or "width"), as it
// does that the output is not negative and nothing overflows.
TfLiteStatus hl_window_size(TfLiteContext *ctx, const TfLiteNode *node, const char *axis, TfLitePadding padding, int in,
                            int filter, int stride, int dilation, struct hl_window *window);

// Whether a node whose threads share rows takes a column of `out` single positions as the row that it is in memory. A
// row alone is not shared, but takes a third of the time or less; and of a short one no thread has enough.
static inline bool hl_column_turns(int out, int threads)
{
    enum { MAX_SHORT = 64, FEW_THREADS = 2 };
    return out <= MAX_SHORT || threads <= FEW_THREADS;
}

#endif
