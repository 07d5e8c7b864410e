// SPDX-License-Identifier: Apache-2.0
// ADD and SUB of bytes with fewer roundings. The reference rounds three times: each operand to a common scale, and the
// sum twice. Here the sum of two products has one rounding, with 2^-21 of a step of the output or less lost before it.
// That gives the same bytes but for a few pairs close to the middle between two bytes. Which they are is not argued but
// tried, for there are only 65,536 pairs, and the loop knows them.
// (AVX-512: 15 us for one try with all pairs. 200,704 sums: 77 us with all roundings, 25 with one.)
#include "fast/byte_sum.h"

#include <math.h>
#include <string.h>

enum { LOW_BITS = 15, MAX_BYTE = 255 };

static double real(struct hl_rescale rescale)
{
    return ldexp(rescale.multiplier, rescale.shift - 31);
}

static uint32_t pair(int64_t first, int64_t second)
{
    return ((uint32_t)first & UINT16_MAX) | (uint32_t)second << 16;
}

// Two factors as whole numbers of LOW_BITS + 15 bits and a sign, and how their products become fractions of a step.
static void set_factors(struct hl_byte_sum *sum, double first, double second, int first_zero, int second_zero)
{
    int exponent, range;
    frexp(fmax(fabs(first), fabs(second)), &exponent);
    frexp((fabs(first) + fabs(second)) * MAX_BYTE + 1, &range);
    sum->fraction = 31 - range;
    int bits = 2 * LOW_BITS - 1 - exponent; // of the factors' fractions
    if (bits > sum->fraction + LOW_BITS) bits = sum->fraction + LOW_BITS;
    const int64_t u = (int64_t)round(ldexp(first, bits)), v = (int64_t)round(ldexp(second, bits));
    sum->upper = pair(u >> LOW_BITS, v >> LOW_BITS);
    sum->lower = pair(u & INT16_MAX, v & INT16_MAX);
    sum->left = sum->fraction + LOW_BITS - bits;
    sum->right = bits - sum->fraction;
    // The products with `lower` are rounded down, so half of what that loses is added, and half a step.
    const int64_t zeros = -(u * first_zero + v * second_zero) + (INT64_C(1) << sum->right);
    sum->add = (int32_t)(zeros >> sum->right) + (1 << (sum->fraction - 1));
}

// Tries all pairs, and notes those that differ. False: these are too many.
static bool find_exceptions(struct hl_byte_sum *sum, hl_pair_kernel *fast, hl_pair_kernel *slow,
                            const struct hl_arithmetic *op)
{
    sum->exceptions = 0;
    memset(sum->exception, 0, sizeof sum->exception);
    const struct hl_byte_sum plain = *sum;
    uint8_t u[MAX_BYTE + 1], v[MAX_BYTE + 1], found[MAX_BYTE + 1], right[MAX_BYTE + 1];
    for (int i = 0; i <= MAX_BYTE; i++) v[i] = (uint8_t)i;
    for (int i = 0; i <= MAX_BYTE; i++) {
        memset(u, i, sizeof u);
        fast(u, v, found, sizeof u, &plain);
        slow(u, v, right, sizeof u, op);
        if (memcmp(found, right, sizeof u) == 0) continue;
        for (int k = 0; k <= MAX_BYTE; k++) {
            if (found[k] == right[k]) continue;
            if (sum->exceptions == HL_SUM_EXCEPTIONS) return false;
            sum->exception[sum->exceptions++] =
                (struct hl_byte_sum_exception){(uint8_t)i, (uint8_t)k, (uint8_t)(right[k] - found[k])};
        }
    }
    return true;
}

bool hl_byte_sum_make(struct hl_byte_sum *sum, hl_pair_kernel *fast, hl_pair_kernel *slow,
                      const struct hl_arithmetic *op, bool is_unsigned, bool subtracts)
{
    const double y = ldexp(real(op->y.rescale), op->bits), second = real(op->b.rescale) * y;
    const int up = is_unsigned ? 0 : 128;
    sum->flip = (uint8_t)up;
    sum->zero = op->y.zero;
    sum->low = (int32_t)op->low, sum->high = (int32_t)op->high;
    set_factors(sum, real(op->a.rescale) * y, subtracts ? -second : second, op->a.zero + up, op->b.zero + up);
    // Where all scales are small multiples of one, many pairs are in the middle between two bytes, and all of them go
    // to one side by what the reference's multipliers are rounded by. (Two operands of one scale: 243 pairs, none
    // with 2.)
    static const int32_t offsets[] = {0, 2, -2, 4, -4};
    const int32_t add = sum->add;
    bool found = false;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets && !found; i++) {
        sum->add = add + offsets[i];
        found = find_exceptions(sum, fast, slow, op);
    }
    return found;
}
