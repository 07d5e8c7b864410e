// SPDX-License-Identifier: Apache-2.0
// The plain set of row_kernels.h. Floats are added in the order of the columns, as the original's reference kernels do.
#include "ops/common/row_kernels.h"

#include <math.h>

#include "abi/built_types.h"
#include "fast/fast.h"
#include "ops/common/sigmoids_i16.h"

static void range(const float *values, int64_t count, float *low, float *high)
{
    *low = 0, *high = 0;
    for (int64_t i = 0; i < count; i++) {
        if (values[i] < *low) *low = values[i];
        if (values[i] > *high) *high = values[i];
    }
}

static void quantize(const float *restrict values, int64_t count, float inverse, int zero, int low, uint8_t flip,
                     int8_t *restrict stored)
{
    float least = (float)(low - zero), most = (float)(INT8_MAX - zero);
    for (int64_t i = 0; i < count; i++) {
        float steps = values[i] * inverse;
        steps = steps > least ? steps : least;
        steps = steps < most ? steps : most;
        stored[i] = (int8_t)(((int)(steps + copysignf(HL_NEARLY_HALF, steps)) + zero) ^ flip);
    }
}

// Four rows at a time: their sums do not wait for each other, each keeps its order. For int8, compilers turn it into
// the products of pairs that CPUs have.
#define DOTS(name, type, x_type, product_type, sum_type)                                                           \
    static void name(const type *restrict w, int64_t stride, int rows, const x_type *restrict x, int64_t x_stride, \
                     int count, sum_type *restrict sums)                                                           \
    {                                                                                                              \
        int r = 0;                                                                                                 \
        for (; r + 4 <= rows; r += 4, w += 4 * stride, x += 4 * x_stride) {                                        \
            const type *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;                                     \
            const x_type *x1 = x + x_stride, *x2 = x1 + x_stride, *x3 = x2 + x_stride;                             \
            sum_type sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;                                                       \
            for (int i = 0; i < count; i++) {                                                                      \
                sum0 += (product_type)w[i] * x[i];                                                                 \
                sum1 += (product_type)w1[i] * x1[i];                                                               \
                sum2 += (product_type)w2[i] * x2[i];                                                               \
                sum3 += (product_type)w3[i] * x3[i];                                                               \
            }                                                                                                      \
            sums[r] = sum0, sums[r + 1] = sum1, sums[r + 2] = sum2, sums[r + 3] = sum3;                            \
        }                                                                                                          \
        for (; r < rows; r++, w += stride, x += x_stride) {                                                        \
            sum_type sum = 0;                                                                                      \
            for (int i = 0; i < count; i++) sum += (product_type)w[i] * x[i];                                      \
            sums[r] = sum;                                                                                         \
        }                                                                                                          \
    }
DOTS(dots_f32, float, float, float, float)
DOTS(dots_i8, int8_t, int16_t, int16_t, int32_t)
DOTS(dots_i16, int16_t, int16_t, int32_t, int64_t)

static void largest_bytes(const uint8_t *x, uint8_t flip, int rows, int count, int32_t *best)
{
    for (int r = 0; r < rows; r++, x += count) {
        int32_t largest = INT32_MIN;
        for (int k = 0; k < count; k++) {
            const int32_t key = (int8_t)(x[k] ^ flip) * HL_LARGEST_MAX_COLUMNS - k;
            largest = key > largest ? key : largest;
        }
        best[r] = (int32_t)(-(uint32_t)largest & (HL_LARGEST_MAX_COLUMNS - 1));
    }
}

static void largest_floats(const float *x, float sign, int rows, int count, int32_t *best)
{
    for (int r = 0; r < rows; r++, x += count) {
        best[r] = isnan(x[0]) ? -1 : 0;
        for (int k = 1; k < count && best[r] >= 0; k++)
            if (isnan(x[k]))
                best[r] = -1;
            else if (x[k] * sign > x[best[r]] * sign)
                best[r] = k;
    }
}

#define REDUCE(name, parameters, at, expression)                  \
    static void name parameters                                   \
    {                                                             \
        for (int64_t r = 0; r < rows; r++, x += stride)           \
            for (int i = 0; i < count; i++) y[at] = (expression); \
    }
#define ADD_PARAMETERS (const float *x, int64_t stride, int64_t rows, int count, float *y)
#define LARGEST_PARAMETERS (const float *x, float sign, int64_t stride, int64_t rows, int count, float *y)
REDUCE(add_rows, ADD_PARAMETERS, r, y[r] + x[i])
REDUCE(add_columns, ADD_PARAMETERS, i, y[i] + x[i])
REDUCE(largest_of_rows, LARGEST_PARAMETERS, r, x[i] * sign > y[r] * sign ? x[i] : y[r])
REDUCE(largest_of_columns, LARGEST_PARAMETERS, i, x[i] * sign > y[i] * sign ? x[i] : y[i])

#define REDUCE_BYTES(name, type, at, expression)                                                       \
    static void name(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, type *y) \
    {                                                                                                  \
        for (int64_t r = 0; r < rows; r++, x += stride)                                                \
            for (int i = 0; i < count; i++) y[at] = (type)(expression);                                \
    }
REDUCE_BYTES(add_byte_rows, int64_t, r, y[r] + (x[i] ^ flip) - flip)
REDUCE_BYTES(add_byte_columns, int64_t, i, y[i] + (x[i] ^ flip) - flip)
REDUCE_BYTES(largest_byte_of_rows, uint8_t, r, (x[i] ^ flip) > (y[r] ^ flip) ? x[i] : y[r])
REDUCE_BYTES(largest_byte_of_columns, uint8_t, i, (x[i] ^ flip) > (y[i] ^ flip) ? x[i] : y[i])

static void logistic(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) values[i] = 1 / (1 + expf(-values[i]));
}

static void tanh_of(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) values[i] = tanhf(values[i]);
}

static void map_bytes(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table)
{
    for (int64_t i = 0; i < count; i++) y[i] = table[x[i]];
}

const struct hl_row_kernels hl_plain_row_kernels = {
    .range = HL_WHERE(HL_HAS_BYTES, range),
    .quantize = HL_WHERE(HL_HAS_BYTES, quantize),
    .dots_f32 = HL_WHERE(HL_HAS_FLOAT_DOTS, dots_f32),
    .dots_i8 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_BYTES, dots_i8),
    .dots_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, dots_i16),
    .logistic = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_FLOATS, logistic),
    .tanh = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_FLOATS, tanh_of),
    .logistic_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, logistic_i16),
    .tanh_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, tanh_i16),
    .largest_bytes = HL_WHERE(HL_HAS_LARGEST, largest_bytes), // of bool, too
    .largest_floats = HL_WHERE(HL_HAS_LARGEST && HL_HAS_FLOATS, largest_floats),
    .add_rows = HL_WHERE(HL_HAS_SUMS && HL_HAS_FLOATS, add_rows),
    .largest_of_rows = HL_WHERE(HL_HAS_EXTREMES && HL_HAS_FLOATS, largest_of_rows),
    .add_byte_rows = HL_WHERE(HL_HAS_SUMS && HL_HAS_BYTES, add_byte_rows),
    .add_byte_columns = HL_WHERE(HL_HAS_SUMS && HL_HAS_BYTES, add_byte_columns),
    .largest_byte_of_rows = HL_WHERE(HL_HAS_EXTREMES, largest_byte_of_rows),
    .largest_byte_of_columns = HL_WHERE(HL_HAS_EXTREMES, largest_byte_of_columns),
    .add_columns = HL_WHERE(HL_HAS_SUMS && HL_HAS_FLOATS, add_columns),
    .largest_of_columns = HL_WHERE(HL_HAS_EXTREMES && HL_HAS_FLOATS, largest_of_columns),
    .map_bytes = HL_WHERE(HL_HAS_OP(CONCATENATION) && HL_HAS_BYTES, map_bytes),
    .pool = hl_pool_plain,
};

const struct hl_row_kernels *hl_row_kernels_choose(bool fast, const struct hl_reporter *reporter)
{
    return fast ? hl_fast_row_kernels(reporter) : &hl_plain_row_kernels;
}
