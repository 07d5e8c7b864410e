// SPDX-License-Identifier: Apache-2.0
// Loops over elements, once for each kind of CPU: elements_tmpl.h holds their text. y may be the memory of an input.
#ifndef HALITE_FAST_ELEMENTS_H
#define HALITE_FAST_ELEMENTS_H

#include <stdint.h>

// y[i] = f(a[i], b[i]); state: the node's, as in ops/common/binary.h.
typedef void hl_pair_loop(const void *a, const void *b, void *y, int64_t count, const void *state);
// y[i] = f(x[i]); by: what f depends on.
typedef void hl_map_loop(const float *x, float *y, int64_t count, const float *by);
typedef void hl_byte_map_loop(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table);

// A stored value is (real value) / scale + zero; low, high: the stored range, less the zero point.
struct hl_byte_scale {
    float scale, low, high;
    int32_t zero;
};
typedef void hl_quantize_loop(const float *x, uint8_t *y, int64_t count, const struct hl_byte_scale *by);
typedef void hl_dequantize_loop(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *by);

// Loops of bytes to bytes are NULL where the level has no instructions for them.
struct hl_element_loops {
    // As ops/arithmetic.c and prelu.c; state of all but prelu: struct hl_arithmetic.
    hl_pair_loop *add_f32, *sub_f32, *mul_f32, *square_f32, *prelu_f32;
    hl_pair_loop *add_i8, *add_u8, *sub_i8, *sub_u8, *mul_i8, *mul_u8;
    // To within 4 units of the last place, or 2^-126 where a result is no normal number. NaN and infinities as libm's.
    hl_map_loop *logistic, *tanh, *exp;
    // Bit for bit, as all that follow.
    hl_map_loop *sqrt, *rsqrt, *hard_swish;
    hl_map_loop *leaky_relu; // by: alpha
    hl_map_loop *clamp;      // by: low, high
    hl_byte_map_loop *bytes; // y[i] = table[x[i]]
    hl_quantize_loop *quantize;
    hl_dequantize_loop *dequantize_i8, *dequantize_u8;
};

#endif
