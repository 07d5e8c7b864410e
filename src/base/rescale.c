// SPDX-License-Identifier: Apache-2.0
// See rescale.h. The rounding is that of the official reference kernels, in doubles.
#include "base/rescale.h"

#include <math.h>

struct hl_rescale hl_rescale_from(double real)
{
    if (!(real > 0)) return (struct hl_rescale){0, 0};
    int shift;
    double fraction = frexp(real, &shift);
    // Infinity, and multipliers under which every value but 0 leaves the 32 bits.
    if (isinf(real) || shift > 30) return (struct hl_rescale){INT32_MAX, 30};
    int64_t multiplier = (int64_t)round(fraction * (double)(INT64_C(1) << 31));
    if (multiplier == INT64_C(1) << 31) {
        multiplier /= 2;
        shift++;
    }
    if (shift < -31) return (struct hl_rescale){0, 0};
    if (shift > 30) return (struct hl_rescale){INT32_MAX, 30};
    return (struct hl_rescale){(int32_t)multiplier, shift};
}

struct hl_rescale hl_rescale_of_mean(double real, int64_t count)
{
    struct hl_rescale rescale = hl_rescale_from(real);
    int shift = 0;
    while (shift < 32 && shift < 31 + rescale.shift && count >> (shift + 1) != 0) shift++;
    rescale.multiplier = (int32_t)(((int64_t)rescale.multiplier << shift) / count);
    rescale.shift -= shift;
    return rescale;
}
