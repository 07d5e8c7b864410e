// SPDX-License-Identifier: Apache-2.0
// The state of a quantized PRELU. Its prepare fills it; the reference kernel of prelu.c and the fast one of
// fast/elementwise.c read it.
#ifndef HALITE_OPS_PRELU_H
#define HALITE_OPS_PRELU_H

#include "ops/common/quant.h"

struct hl_prelu {
    struct hl_rescale positive, negative; // of values from 0 on, and of products
    int32_t low, high;                    // the output type's range
};

#endif
