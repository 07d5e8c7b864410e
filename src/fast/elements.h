// SPDX-License-Identifier: Apache-2.0
// The elementwise microkernels of a CPU level, which simd/elements_tmpl.h defines: contiguous elements in, contiguous
// elements out. y may be the memory of an input.
#ifndef HALITE_FAST_ELEMENTS_H
#define HALITE_FAST_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rescale.h"

// y[i] = f(a[i], b[i]). `state` is the node's user_data, as in ops/common/binary.h.
typedef void hl_pair_kernel(const void *a, const void *b, void *y, int64_t count, const void *state);
// y[i] = f(x[i], params).
typedef void hl_map_kernel(const float *x, float *y, int64_t count, const float *params);
typedef void hl_byte_map_kernel(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table);

// A sum of two bytes u and v, less 128 where they are signed (flip is 128 then, else 0), is
//     ((upper . (u, v) << left) + (lower . (u, v) >> right) + add) >> fraction
// plus the zero point, in the range. upper and lower are two int16 each, the first for u. Where the stored bytes are
// those of an exception, its difference is added.
enum { HL_SUM_EXCEPTIONS = 3 };
struct hl_byte_sum_exception {
    uint8_t u, v, difference;
};
struct hl_byte_sum {
    uint32_t upper, lower;
    int left, right, fraction;
    int32_t add, zero, low, high;
    uint8_t flip;
    int exceptions;
    struct hl_byte_sum_exception exception[HL_SUM_EXCEPTIONS];
};

struct hl_selected {
    float value; // its bits are copied
    bool turned;
};

enum { HL_PRELU_LEFT = 14 };
// PRELU of bytes, as ops/prelu.h, with the zero points of its tensors.
struct hl_byte_prelu {
    struct hl_rescale positive, negative;
    int32_t low, high, x_zero, slope_zero, y_zero;
    bool is_unsigned;
};

// stored = real / scale + zero, clamped to the type's range.
struct hl_byte_scale {
    float scale;
    float low, high; // the type's range minus the zero point
    int32_t zero;    // zero point
};
typedef void hl_quantize_kernel(const float *x, uint8_t *y, int64_t count, const struct hl_byte_scale *scale);
typedef void hl_dequantize_kernel(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *scale);

// y[i] = hl_rescale_apply of x[i], clamped to int16.
typedef void hl_rescale_kernel(const int16_t *x, int16_t *y, int64_t count, const struct hl_rescale *rescale);

// y[r][i] = x[r * step], of 32 bits, in rows of `count`.
typedef void hl_repeat_kernel(const void *x, int64_t step, int64_t rows, int64_t count, void *y);

// y[r][i] = x[r * x_step + i] * sign + values[r * step] * sign_of_value, or x[..] * values[..] where sign is 0, clamped
// as by add_f32, sub_f32 and mul_f32.
struct hl_shifted_rows {
    const float *x, *values;
    float *y;
    int64_t x_step, step, rows, count;
    float sign, sign_of_value, low, high;
};

// A kernel from integers to integers is NULL where the CPU level has no instructions for it.
struct hl_element_kernels {
    // The same results as ops/arithmetic.c, div.c and prelu.c. The state is a struct hl_arithmetic, except for PRELU.
    hl_pair_kernel *add_f32, *sub_f32, *mul_f32, *div_f32, *square_f32, *prelu_f32;
    // relu(a) + b * (sign * relu(-a)), each operation rounded as by a node of its own. The state is the sign, a float.
    hl_pair_kernel *parted_prelu;
    hl_pair_kernel *add_i8, *add_u8, *add_i16, *sub_i8, *sub_u8, *sub_i16, *mul_i8, *mul_u8, *mul_i16, *square_i8;
    // The same for bytes whose rescales shift to the left by HL_PRELU_LEFT or less. The state is a struct
    // hl_byte_prelu, at any address.
    hl_pair_kernel *prelu_bytes;
    // The same results as ops/maximum.c.
    hl_pair_kernel *larger_f32, *larger_i8, *larger_u8, *larger_i16;
    hl_pair_kernel *smaller_f32, *smaller_i8, *smaller_u8, *smaller_i16;
    // As add_i8 and its kin where byte_sum.c has found so. The state is a struct hl_byte_sum.
    hl_pair_kernel *sum_pairs;
    // y[i] = b[i] ? a[i] : value, or the other way round; a has 32 bits, b is bool. The state is a struct hl_selected.
    hl_pair_kernel *select_32;
    hl_repeat_kernel *repeat;
    void (*shift_rows)(const struct hl_shifted_rows *rows);
    // Within 4 units in the last place of libm's results, or within 2^-126 where a result is subnormal. NaN and
    // infinities are those of libm.
    hl_map_kernel *logistic, *tanh, *exp, *log, *sin, *cos, *elu, *rsqrt, *hard_swish;
    hl_map_kernel *gelu;      // the same within 7 units
    hl_map_kernel *gelu_tanh; // within 2^-22 |x| of the true value; reference kernels have no precision in the tail
    // These and all that follow are equal to the reference kernels bit for bit.
    hl_map_kernel *sqrt, *negative, *magnitude, *square, *floor, *ceil, *round;
    hl_map_kernel *leaky_relu;               // params: alpha
    hl_map_kernel *clamp;                    // params: low, high
    hl_byte_map_kernel *bytes;               // y[i] = table[x[i]]
    hl_byte_map_kernel *bytes_by_wide_table; // the same, where hl_simd_has_wide_tables
    hl_quantize_kernel *quantize;
    hl_dequantize_kernel *dequantize_i8, *dequantize_u8;
    hl_rescale_kernel *rescale_words;
};

#endif
