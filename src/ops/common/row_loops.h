// SPDX-License-Identifier: Apache-2.0
// Loops over rows of numbers that small operators are made of: dot products, sigmoids, int8 forms of floats. There is a
// plain set, which the reference kernels are held to, and one for each level of instructions (fast/simd/simd.h); op.h's
// hl_row_loops gives an operator the one that its interpreter has chosen. All sets give the same integers; floats
// differ by rounding.
#ifndef HALITE_OPS_COMMON_ROW_LOOPS_H
#define HALITE_OPS_COMMON_ROW_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"

enum { HL_DOTS_I8_MAX_COLUMNS = 65535 };

struct hl_row_loops {
    // The least and the greatest value, 0 among them, NaN not.
    void (*range)(const float *values, int64_t count, float *low, float *high);
    // values times inverse rounded half away from zero, plus zero, in [low, 127] (NaN: low).
    void (*quantize)(const float *values, int64_t count, float inverse, int zero, int low, int8_t *stored);
    // sums[r] = sum over i < count of w[r * stride + i] * x[r * x_stride + i]; x_stride 0: all rows of w times the same
    // x.
    void (*dots_f32)(const float *w, int64_t stride, int rows, const float *x, int64_t x_stride, int count,
                     float *sums);
    // Up to HL_DOTS_I8_MAX_COLUMNS columns, x in [-256, 255].
    void (*dots_i8)(const int8_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                    int32_t *sums);
    void (*dots_i16)(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                     int64_t *sums);
    // In place: 1 / (1 + e^-x), and tanh(x). (fast/elements.h says how near the levels come.)
    void (*logistic)(float *values, int64_t count);
    void (*tanh)(float *values, int64_t count);
    // The same from fixed-point numbers of format Qm to Q0 (fixed_point_i16.h), m in 0..6.
    void (*logistic_i16)(int16_t *values, int m, int64_t count);
    void (*tanh_i16)(int16_t *values, int m, int64_t count);
};

extern const struct hl_row_loops hl_plain_row_loops;
// For hl_builtin_kernels: the set of the best CPU level, or the plain one.
const struct hl_row_loops *hl_row_loops_choose(bool fast, const struct hl_reporter *reporter);

// Added with x's sign, and the rest cut off, it rounds x half away from zero, up to 2^22: the float below 0.5.
#define HL_NEARLY_HALF 0x1.fffffep-2f

#endif
