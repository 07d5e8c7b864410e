// SPDX-License-Identifier: Apache-2.0
// Pools, line by line, and their kernels. In: the lines of an image that the windows of one line of the output cover.
// Out: that line, of one value for each channel of a window. The plain kernels say what the values are; the CPU levels
// have those that are used most (hl_row_kernels.pool).
#ifndef HALITE_OPS_COMMON_POOL_ROWS_H
#define HALITE_OPS_COMMON_POOL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/common/window.h"

// Those of CPU levels come first.
enum hl_pool_kind {
    HL_POOL_AVERAGE_F32,
    HL_POOL_AVERAGE_U8,
    HL_POOL_AVERAGE_I8,
    HL_POOL_MAX_F32,
    HL_POOL_MAX_U8,
    HL_POOL_MAX_I8,
    HL_POOL_LEVEL_KINDS,
    HL_POOL_AVERAGE_I16 = HL_POOL_LEVEL_KINDS,
    HL_POOL_MAX_I16,
    HL_POOL_L2_F32,
    HL_POOL_KINDS,
};

// y[p][c] = what becomes of x[p * step + k * down + l * right + c], k < rows, l < columns; distances in elements.
struct hl_pool_run {
    const void *x;
    int rows, columns; // at least 1
    ptrdiff_t down, right, step;
    int64_t positions, count; // of windows, and of values that lie side by side in each
    void *y;
    // Memory up to here may be read, and be written with any values: those of y that follow are computed later.
    const void *x_end;
    void *y_end;
    bool is_signed;    // bytes: they are int8
    int32_t low, high; // the range of y
    float low_f32, high_f32;
};

typedef void hl_pool_kernel(const struct hl_pool_run *run);
extern hl_pool_kernel *const hl_pool_plain[HL_POOL_KINDS];

// The state of a pool's node.
struct hl_pool {
    hl_pool_kernel *kernel;
    int height, width, channels, size; // of an image, and of a value
    struct hl_window y, x;
    int filter_h, filter_w, stride_h, stride_w;
    int first_inside, end_inside; // windows of a line that lie inside the image
    bool is_signed;
    int32_t low, high;
    float low_f32, high_f32;
};

// For some lines of the output, whose images lie in memory up to x_end and which themselves end at y_end.
struct hl_pool_run hl_pool_begin(const struct hl_pool *pool, const void *x_end, void *y_end);
// Writes line `row` of an image's output to y. x: the image from line `first` on.
void hl_pool_line(const struct hl_pool *pool, const char *x, int first, int row, char *y, struct hl_pool_run *run);

#endif
