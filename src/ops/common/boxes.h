// SPDX-License-Identifier: Apache-2.0
// Boxes of detections, and how much two of them are the same.
#ifndef HALITE_OPS_COMMON_BOXES_H
#define HALITE_OPS_COMMON_BOXES_H

#include <math.h>

struct hl_box {
    float top, left, bottom, right;
};

// Area of the intersection over area of the union.
static inline float hl_box_overlap(const struct hl_box *a, const struct hl_box *b)
{
    float area_a = (a->bottom - a->top) * (a->right - a->left);
    float area_b = (b->bottom - b->top) * (b->right - b->left);
    if (area_a <= 0 || area_b <= 0) return 0;
    float height = fminf(a->bottom, b->bottom) - fmaxf(a->top, b->top);
    float width = fminf(a->right, b->right) - fmaxf(a->left, b->left);
    float both = fmaxf(height, 0) * fmaxf(width, 0);
    return both / (area_a + area_b - both);
}

#endif
