// SPDX-License-Identifier: Apache-2.0
// What SELECT and a chain that goes on with a select share: the loops over neighboring elements.
#ifndef HALITE_OPS_SELECT_H
#define HALITE_OPS_SELECT_H

#include "ops/op.h"

// Steps of condition, a and b along a run of `count` positions. Loops are vectors where the condition's is 1 and the
// others' are 1, or one of them 0.
struct hl_select_steps {
    int64_t condition, a, b;
    int count;
};

// y[i] = condition ? a : b. y may be a or b.
typedef void hl_select_run(const uint8_t *condition, const void *a, const void *b, void *y,
                           const struct hl_select_steps *steps);
// For elements of 1, 2, 4 or 8 bytes.
hl_select_run *hl_select_run_of(int64_t size);

extern const struct hl_op hl_op_select_v2;

#endif
