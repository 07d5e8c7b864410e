// SPDX-License-Identifier: Apache-2.0
// What FULLY_CONNECTED's prepare finds out about a node: its state, for the reference kernel and the fast one.
#ifndef HALITE_OPS_FULLY_CONNECTED_H
#define HALITE_OPS_FULLY_CONNECTED_H

#include <stdint.h>

enum hl_fc_mode { HL_FC_FLOAT, HL_FC_INTEGER, HL_FC_FIXED_POINT, HL_FC_HYBRID, HL_FC_SHUFFLED };

struct hl_fully_connected {
    enum hl_fc_mode mode;
    int rows, columns, units;
    int32_t low, high;
    float low_f32, high_f32;
    int filter_zero;
    int block; // columns that share a scale (hybrid), columns otherwise
    // Owned. INTEGER: double per unit; FIXED_POINT and SHUFFLED: struct hl_rescale per unit; HYBRID: float per unit and
    // block.
    void *scales;
};

#endif
