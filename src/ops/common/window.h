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

#endif
