// SPDX-License-Identifier: Apache-2.0
// Constants for sums of bytes with one rounding, where these are the same as the reference's for all bytes.
#ifndef HALITE_FAST_BYTE_SUM_H
#define HALITE_FAST_BYTE_SUM_H

#include <stdbool.h>

#include "fast/elements.h"
#include "ops/arithmetic.h"

// Finds the constants for `fast`, a level's sum_pairs, and compares it with `slow`, the same level's kernel of two
// roundings, for all pairs of bytes. False: they differ, and the node stays with `slow`.
bool hl_byte_sum_make(struct hl_byte_sum *sum, hl_pair_kernel *fast, hl_pair_kernel *slow,
                      const struct hl_arithmetic *op, bool is_unsigned, bool subtracts);

#endif
