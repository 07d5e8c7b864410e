// SPDX-License-Identifier: Apache-2.0
// Where the positions of a resized image lie in the image that it is made of.
#ifndef HALITE_OPS_RESIZE_H
#define HALITE_OPS_RESIZE_H

#include "ops/op.h"

// The two input positions around an output position, and how far it lies behind the first.
struct hl_resize_sample {
    int first, second;
    float part;
    int64_t part_1024; // in units of 2^-10
};

// How positions of one axis map to the input.
struct hl_resize_axis {
    int in;
    float scale;
    int64_t scale_1024;
    bool half_pixel;
};

struct hl_resize_axis hl_resize_axis(int in, int out, bool align_corners, bool half_pixel);
// The part as a float, or in units.
struct hl_resize_sample hl_resize_float(const struct hl_resize_axis *axis, int position);
struct hl_resize_sample hl_resize_fixed(const struct hl_resize_axis *axis, int position);

#endif
