// SPDX-License-Identifier: Apache-2.0
// Kernels over rows of numbers: dot products, sigmoids, quantization to int8. Recurrent and other small operators are
// made of them. The plain set is the one that reference kernels use; each CPU level (fast/simd/simd.h) has a set of its
// own. hl_row_kernels of runtime/op_context.h returns the set that an operator's interpreter has chosen. All sets
// compute the same integers; floats differ by rounding.
#ifndef HALITE_OPS_COMMON_ROW_KERNELS_H
#define HALITE_OPS_COMMON_ROW_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"
#include "ops/common/pool_rows.h"

enum { HL_DOTS_I8_MAX_COLUMNS = 65535, HL_LARGEST_MAX_COLUMNS = 65536, HL_REDUCED_MIN_COLUMNS = 16 };

struct hl_row_kernels {
    // The smallest and the largest of 0 and the values. NaN counts for nothing.
    void (*range)(const float *values, int64_t count, float *low, float *high);
    // stored[i] = values[i] * inverse, rounded half away from zero, plus `zero`, clamped to [low, 127], where low is
    // -128 or -127, then xored with `flip`, 0 or 0x80. NaN becomes low. A finite inverse is one of the values' range:
    // products with it fit int32.
    void (*quantize)(const float *values, int64_t count, float inverse, int zero, int low, uint8_t flip,
                     int8_t *stored);
    // sums[r] = sum over i < count of w[r * stride + i] * x[r * x_stride + i]. With x_stride 0 all rows of w are
    // multiplied by the same x.
    void (*dots_f32)(const float *w, int64_t stride, int rows, const float *x, int64_t x_stride, int count,
                     float *sums);
    // The same with count up to HL_DOTS_I8_MAX_COLUMNS and x in [-256, 255], so that no sum overflows.
    void (*dots_i8)(const int8_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                    int32_t *sums);
    void (*dots_i16)(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                     int64_t *sums);
    // best[r] = the first k < count with the largest (int8_t)(x[r * count + k] ^ flip), with count up to
    // HL_LARGEST_MAX_COLUMNS.
    void (*largest_bytes)(const uint8_t *x, uint8_t flip, int rows, int count, int32_t *best);
    // The same of floats, whose largest x * sign is wanted, sign 1 or -1; -1 for rows that have a NaN.
    void (*largest_floats)(const float *x, float sign, int rows, int count, int32_t *best);
    // y[r] += the sum of the `count` values of row r of x, count at least HL_REDUCED_MIN_COLUMNS; or y[r] becomes the
    // largest of itself and those values (sign 1), or the smallest (sign -1), where a NaN counts for nothing.
    void (*add_rows)(const float *x, int64_t stride, int64_t rows, int count, float *y);
    void (*largest_of_rows)(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y);
    // The same of columns: y[i] and value i of each row.
    void (*add_columns)(const float *x, int64_t stride, int64_t rows, int count, float *y);
    void (*largest_of_columns)(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y);
    // The same of bytes, rows of any length: sums of (x ^ flip) - flip, flip 0 for uint8 and 0x80 for int8; and bytes
    // whose x ^ flip is the largest. For the smallest byte, flip the other seven or all bits.
    void (*add_byte_rows)(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, int64_t *y);
    void (*add_byte_columns)(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, int64_t *y);
    void (*largest_byte_of_rows)(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, uint8_t *y);
    void (*largest_byte_of_columns)(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count,
                                    uint8_t *y);
    // In place: 1 / (1 + e^-x), and tanh(x). fast/elements.h says how exact the CPU levels are.
    void (*logistic)(float *values, int64_t count);
    void (*tanh)(float *values, int64_t count);
    // The same for fixed-point numbers: from format Qm to Q0 (fixed_point_i16.h), m from 0 to 6.
    void (*logistic_i16)(int16_t *values, int m, int64_t count);
    void (*tanh_i16)(int16_t *values, int m, int64_t count);
    // y[i] = table[x[i]], a table of 256 bytes.
    void (*map_bytes)(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table);
    hl_pool_kernel *const *pool; // [HL_POOL_LEVEL_KINDS]
};

extern const struct hl_row_kernels hl_plain_row_kernels;
// Returns the set of the best CPU level, or the plain one where `fast` is false. hl_builtin_kernels has it as a member.
const struct hl_row_kernels *hl_row_kernels_choose(bool fast, const struct hl_reporter *reporter);

// The largest float below 0.5. To round x half away from zero, add this number with x's sign and truncate. That is
// exact for |x| up to 2^22.
#define HL_NEARLY_HALF 0x1.fffffep-2f

#endif
