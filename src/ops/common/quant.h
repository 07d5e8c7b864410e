// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of quantized operators, bit for bit that of the official reference kernels: multipliers,
// activation ranges, tables. kernels.md section 3 of the fact sheets gives the rules; each function here is one row of
// it.
#ifndef HALITE_OPS_COMMON_QUANT_H
#define HALITE_OPS_COMMON_QUANT_H

#include "base/rescale.h"
#include "ops/common/row_kernels.h"
#include "ops/op.h"

static inline int32_t hl_clamp_i32(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}
static inline int32_t hl_saturate_i32(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static inline int16_t hl_saturate_i16(int64_t value)
{
    return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

static inline int8_t hl_saturate_i8(int64_t value)
{
    return (int8_t)(value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value);
}

// value * rescale for 64-bit sums (int16 activations).
int32_t hl_rescale_apply_i64(int64_t value, struct hl_rescale rescale);

// The tensor must have one scale, positive and finite, and a zero point that its type can hold.
// hl_require_symmetric: the zero point must be 0 as well.
TfLiteStatus hl_require_quantized(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor);
TfLiteStatus hl_require_symmetric(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor);

// The type's range of stored values: int8, uint8, int16 (false for other types).
bool hl_type_range(TfLiteType type, int32_t *low, int32_t *high);
// Range of stored output values after a fused activation (NONE, RELU, RELU_N1_TO_1, RELU6; others do not restrict).
void hl_activation_range(TfLiteFusedActivation activation, const TfLiteTensor *output, int32_t *low, int32_t *high);
// The same for float; without an activation -FLT_MAX and FLT_MAX, as the original clamps.
void hl_activation_range_f32(TfLiteFusedActivation activation, float *low, float *high);
void hl_activation_range_i64(TfLiteFusedActivation activation, TfLiteType type, int64_t *low, int64_t *high);

// Quantized convolutions and matrix products: checks input, filter, bias and output parameters (bias may be NULL), and
// computes one rescale per output channel (all alike for per-tensor weights), from
// double(S_in)*double(S_w)/double(S_out); uint8 multiplies S_in * S_w in float first, as the original. rescales has
// `channels` elements.
TfLiteStatus hl_channel_rescales(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                 const TfLiteTensor *filter, const TfLiteTensor *bias, const TfLiteTensor *output,
                                 int channels, struct hl_rescale *rescales);

// Tables of a function on stored values. int8/uint8: 256 entries indexed by the stored value's byte. int16: 513 entries
// and hl_table_lookup_i16 (interpolates).
void hl_table_8bit(const TfLiteTensor *input, const TfLiteTensor *output, double (*function)(double), uint8_t *table);
void hl_table_16bit(double input_scale, int input_zero, double output_scale, int output_zero,
                    double (*function)(double), int16_t *table);
static inline int16_t hl_table_lookup_i16(int16_t value, const int16_t *table)
{
    int index = 256 + (value >> 7), offset = value & 127;
    // A slope over more than half of the range wraps around, as the original's: LOG has one between 0 and the first
    // step.
    int16_t base = table[index], slope = (int16_t)(table[index + 1] - table[index]);
    return (int16_t)(base + ((slope * offset + 64) >> 7));
}

// Hybrid (float activations, integer weights): how a row of floats becomes int8, value = scale * (stored - zero).
struct hl_row_scale {
    float scale, inverse;
    int32_t zero;
    int low; // the smallest stored value; 0: all are stored as 0
};
// From the range that holds 0 and the row's values. Symmetric gives zero 0, and scale 1 for a row of zeros; asymmetric
// widens the range to hold 0 (kernels.md 4.1).
struct hl_row_scale hl_row_scale_of(bool asymmetric, float low, float high);
// flip: what the int8 are xored with, 0 or 0x80.
void hl_quantize_values(const struct hl_row_kernels *kernels, const struct hl_row_scale *to, const float *values,
                        int64_t count, uint8_t flip, int8_t *stored);
// Both, of a whole row, with flip 0.
void hl_quantize_row(const struct hl_row_kernels *kernels, bool asymmetric, const float *values, int64_t count,
                     int8_t *stored, float *scale, int32_t *zero_point);

// 4-bit and 2-bit values packed low bits first, to one int8 each (sign-extended; uint4 is not).
void hl_unpack_int4(const void *packed, int64_t count, int8_t *values);
void hl_unpack_uint4(const void *packed, int64_t count, int8_t *values);
void hl_unpack_int2(const void *packed, int64_t count, int8_t *values);
void hl_pack_int4(const int8_t *values, int64_t count, void *packed);

#endif
