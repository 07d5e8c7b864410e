// SPDX-License-Identifier: Apache-2.0
// The state of TRANSPOSE_CONV and Convolution2DTransposeBias, for the reference kernel and the fast one.
#ifndef HALITE_OPS_TRANSPOSE_CONV_H
#define HALITE_OPS_TRANSPOSE_CONV_H

#include "ops/common/conv.h"

struct hl_transpose_conv {
    struct hl_conv conv; // first: hl_conv_release
    struct hl_conv_node desc;
    struct hl_conv_shape shape; // complete as soon as the output's shape is known: in prepare, or else in invoke
};

#endif
