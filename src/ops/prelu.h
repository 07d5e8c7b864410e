// SPDX-License-Identifier: Apache-2.0
// The state of a quantized PRELU. Its prepare fills it; the reference kernel of prelu.c and the fast one of
// fast/elementwise.c read it.
#ifndef HALITE_OPS_PRELU_H
#define HALITE_OPS_PRELU_H

#include "ops/common/map.h"

struct hl_prelu {
    struct hl_rescale positive, negative; // of values from 0 on, and of products
    int32_t low, high;                    // the output type's range
};

// value, slope: without their zero points
static inline int32_t hl_prelu_apply(const struct hl_prelu *op, int32_t value, int32_t slope, int32_t y_zero)
{
    const int64_t result =
        value >= 0 ? hl_rescale_apply(value, op->positive) : hl_rescale_apply(value * slope, op->negative);
    return (int32_t)hl_clamp_stored(result + y_zero, op->low, op->high);
}

#endif
