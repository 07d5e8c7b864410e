// SPDX-License-Identifier: Apache-2.0
// The state of TRANSPOSE_CONV and Convolution2DTransposeBias, for the reference kernel and the fast one.
#ifndef HALITE_OPS_TRANSPOSE_CONV_H
#define HALITE_OPS_TRANSPOSE_CONV_H

#include "ops/common/conv.h"

struct hl_transpose_conv {
    struct hl_conv conv; // first: hl_conv_release
    struct hl_conv_node what;
    TfLitePadding padding;
    int stride_height, stride_width;
};

// The windows that slide over an output of `height` and `width`.
TfLiteStatus hl_transpose_conv_windows(TfLiteContext *ctx, const TfLiteNode *node, int height, int width,
                                       struct hl_window *y, struct hl_window *x);

#endif
