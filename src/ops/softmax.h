// SPDX-License-Identifier: Apache-2.0
// What SOFTMAX and its fast kernel share: the tables of 8-bit and 16-bit inputs, which prepare fills.
#ifndef HALITE_OPS_SOFTMAX_H
#define HALITE_OPS_SOFTMAX_H

#include "ops/common/quant.h"

enum { HL_SOFTMAX_DIFFERENCES = 256 };

struct hl_softmax {
    int32_t exp_of[HL_SOFTMAX_DIFFERENCES];  // Q0, by max - x; 0 below diff_min
    int32_t term_of[HL_SOFTMAX_DIFFERENCES]; // the same as Q12, as they are summed
    int32_t scaled[HL_SOFTMAX_DIFFERENCES];  // Q5, x - max by max - x; LOG_SOFTMAX only
    int diff_min;                            // of stored values
    struct hl_rescale back;                  // LOG_SOFTMAX: Q5 to differences of stored values
    struct hl_rescale to_table;              // int16 differences to 1/65535 of [-10, 0]
    int16_t exp_table[513];                  // [-10, 0] to [0, 1] in 1/32768
    int16_t inverse_table[513];              // 1 / (1 + x) of [0, 1], in 1/32768
};

#endif
