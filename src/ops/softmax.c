// SPDX-License-Identifier: Apache-2.0
// Along the last dimension. SOFTMAX: y = exp(beta * (x - max)) / sum of these.
// LOG_SOFTMAX: y = x - max - log(sum of exp(x - max)).
// in 0: x of rank 1 or more, out 0: the same shape.
// float32, SOFTMAX also float16, bfloat16; quantized int8 and uint8 in fixed point. SOFTMAX to the
// same type (scale 1/256, the smallest value stands for 0) or to int16 (scale 1/65536, zero point
// -32768); int16 to int16 (scale 1/32768) from two tables. LOG_SOFTMAX: output scale 16/256, zero
// point the largest value.
#include <float.h>
#include <math.h>

#include "abi/built_types.h"
#include "fast/fast.h"
#include "ops/common/fixed_point.h"
#include "ops/common/map.h"
#include "ops/softmax.h"

// Differences from the row's maximum are Q5 in fixed point; those below diff_min count as minus
// infinity.
enum { DIFFERENCES = HL_SOFTMAX_DIFFERENCES, Q5_FRACTION = 26, OUTPUT_Q4_SHIFT = 22 };

static int row_length(const TfLiteTensor *x)
{
    return hl_dim(x, hl_rank(x) - 1);
}
static int64_t row_count(const TfLiteTensor *x)
{
    return hl_product(x->dims, 0, hl_rank(x) - 1);
}

static inline int32_t stored_8bit(const void *row, bool is_signed, int i)
{
    return is_signed ? ((const int8_t *)row)[i] : ((const uint8_t *)row)[i];
}

static inline int32_t largest_8bit(const void *row, bool is_signed, int length)
{
    int32_t largest = INT32_MIN;
    for (int i = 0; i < length; i++) {
        int32_t x = stored_8bit(row, is_signed, i);
        if (x > largest) largest = x;
    }
    return largest;
}

// Sum of the exponentials as Q12.
static inline uint32_t sum_8bit(const struct hl_softmax *op, const void *row, bool is_signed, int length,
                                int32_t largest)
{
    uint64_t sum = 0;
    for (int i = 0; i < length; i++) sum += (uint32_t)op->term_of[largest - stored_8bit(row, is_signed, i)];
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

// Fills the tables by difference; beta * scale becomes the rescale of differences to Q5.
static struct hl_rescale prepare_8bit(struct hl_softmax *op, double beta, double scale)
{
    double real = beta * scale * (1 << Q5_FRACTION);
    struct hl_rescale rescale = hl_rescale_from(real < INT32_MAX ? real : INT32_MAX);
    double lowest = floor(ldexp(31, Q5_FRACTION - rescale.shift));
    op->diff_min = lowest < DIFFERENCES ? -(int)lowest : -DIFFERENCES;
    for (int i = 0; i < DIFFERENCES; i++) {
        op->scaled[i] = -i >= op->diff_min ? hl_rescale_apply(-i, rescale) : INT32_MIN;
        op->exp_of[i] = -i >= op->diff_min ? hl_fixed_exp(op->scaled[i]) : 0;
        op->term_of[i] = hl_shift_right_round(op->exp_of[i], 12);
    }
    return rescale;
}

// ---- SOFTMAX ------------------------------------------------------------------------------------

static double inverse_of_one_plus(double x)
{
    return 1 / (1 + x);
}

static TfLiteStatus softmax_prepare_int16(TfLiteContext *ctx, const TfLiteNode *node, float beta)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    struct hl_softmax *op = node->user_data;
    HL_REQUIRE(ctx, node, y->type == kTfLiteInt16, "an int16 input wants an int16 output, not %s",
               hl_type_name(y->type));
    HL_TRY(hl_require_quantized(ctx, node, x));
    HL_TRY(hl_require_symmetric(ctx, node, y));
    HL_REQUIRE(ctx, node, fabsf(y->params.scale - 1.0f / 32768) <= 0.001f / 32768, "output scale %g must be 1/32768",
               hl_scale(y));
    op->to_table = hl_rescale_from((double)(x->params.scale * beta) / (10.0 / 65535));
    hl_table_16bit(10.0 / 65535, INT16_MAX, 2.0 / 65535, 0, exp, op->exp_table);
    hl_table_16bit(1.0 / 65535, INT16_MIN, 2.0 / 65535, 0, inverse_of_one_plus, op->inverse_table);
    return kTfLiteOk;
}

static TfLiteStatus softmax_prepare_8bit(TfLiteContext *ctx, const TfLiteNode *node, double beta)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, y->type == x->type || y->type == kTfLiteInt16,
               "a %s input wants an output of its type or int16, not %s", hl_type_name(x->type), hl_type_name(y->type));
    HL_TRY(hl_require_quantized(ctx, node, x));
    if (x->type == kTfLiteInt8) {
        HL_TRY(hl_require_quantized(ctx, node, y));
        int lowest = y->type == kTfLiteInt16 ? INT16_MIN : INT8_MIN;
        float scale = y->type == kTfLiteInt16 ? 1.0f / 65536 : 1.0f / 256;
        HL_REQUIRE(ctx, node, hl_zero(y) == lowest, "the output's zero point %d must be %d", hl_zero(y), lowest);
        HL_REQUIRE(ctx, node, fabsf(y->params.scale - scale) <= 0.001f * scale, "output scale %g must be 1/%d",
                   hl_scale(y), y->type == kTfLiteInt16 ? 65536 : 256);
    }
    prepare_8bit(node->user_data, beta, hl_scale(x));
    return kTfLiteOk;
}

static TfLiteStatus softmax_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const TfLiteSoftmaxParams *params = node->builtin_data;
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input has no dimension");
    switch (x->type) {
    case kTfLiteFloat32:
    case kTfLiteFloat16:
    case kTfLiteBFloat16: HL_TRY(hl_require_same_type(ctx, node, x, y)); break;
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt16:
        if (!HL_HAS_INTEGERS) break; // refused before
        HL_REQUIRE(ctx, node, params->beta >= 0 && isfinite(params->beta), "beta %g must be finite and not negative",
                   (double)params->beta);
        HL_TRY(x->type == kTfLiteInt16 ? softmax_prepare_int16(ctx, node, params->beta)
                                       : softmax_prepare_8bit(ctx, node, (double)params->beta));
        break;
    default: return hl_unsupported_type(ctx, node, x);
    }
    return hl_resize_like(ctx, y, x);
}

static void softmax_row_f32(const float *x, float *y, int length, float beta)
{
    float largest = -FLT_MAX, sum = 0;
    for (int i = 0; i < length; i++)
        if (x[i] > largest) largest = x[i];
    for (int i = 0; i < length; i++) {
        y[i] = expf((x[i] - largest) * beta);
        sum += y[i];
    }
    for (int i = 0; i < length; i++) y[i] /= sum;
}

// The exponentials lie in the output, rounded; their sum is that of the unrounded ones, as in the original.
#define SOFTMAX_ROW_HALF(name, load, store)                                  \
    static void name(const uint16_t *x, uint16_t *y, int length, float beta) \
    {                                                                        \
        float largest = -FLT_MAX, sum = 0;                                   \
        for (int i = 0; i < length; i++) {                                   \
            float value = load(x[i]);                                        \
            if (value > largest) largest = value;                            \
        }                                                                    \
        for (int i = 0; i < length; i++) {                                   \
            float exponential = expf((load(x[i]) - largest) * beta);         \
            sum += exponential;                                              \
            y[i] = store(exponential);                                       \
        }                                                                    \
        for (int i = 0; i < length; i++) y[i] = store(load(y[i]) / sum);     \
    }
SOFTMAX_ROW_HALF(softmax_row_f16, hl_half_to_float, hl_half_from_float)
SOFTMAX_ROW_HALF(softmax_row_bf16, hl_bfloat16_to_float, hl_bfloat16_from_float)

// hl_high_mul and hl_shift_right_round of what is not negative: each adds a half and shifts. The largest element alone
// makes the sum 1, so that the shift is at least 15; one beyond the product's 31 bits leaves 0.
#define SOFTMAX_ROW_8BIT(name, type, low, high)                                                               \
    static void name(const struct hl_softmax *op, const void *x, bool is_signed, type *y, int length)         \
    {                                                                                                         \
        const int32_t largest = largest_8bit(x, is_signed, length);                                           \
        int bits_over_unit;                                                                                   \
        const uint32_t sum = sum_8bit(op, x, is_signed, length, largest);                                     \
        const uint64_t inverse = (uint64_t)hl_fixed_reciprocal(sum, &bits_over_unit), product_half = 1 << 30; \
        const int shift = bits_over_unit + 31 - (int)sizeof(type) * 8;                                        \
        const uint64_t half = UINT64_C(1) << (shift - 1);                                                     \
        for (int i = 0; i < length; i++) {                                                                    \
            const uint64_t exponential = (uint64_t)op->exp_of[largest - stored_8bit(x, is_signed, i)];        \
            const int64_t part = (int64_t)((((inverse * exponential + product_half) >> 31) + half) >> shift); \
            y[i] = (type)(part + (low) < (high) ? part + (low) : (high));                                     \
        }                                                                                                     \
    }
SOFTMAX_ROW_8BIT(softmax_row_u8, uint8_t, 0, UINT8_MAX)
SOFTMAX_ROW_8BIT(softmax_row_i8, int8_t, INT8_MIN, INT8_MAX)
SOFTMAX_ROW_8BIT(softmax_row_8bit_i16, int16_t, INT16_MIN, INT16_MAX)

static void softmax_row_i16(const struct hl_softmax *op, const int16_t *x, int16_t *y, int length)
{
    int32_t largest = INT16_MIN;
    for (int i = 0; i < length; i++)
        if (x[i] > largest) largest = x[i];

    uint64_t exact_sum = 0; // Q16.15
    for (int i = 0; i < length; i++) {
        int64_t from_top = hl_rescale_apply(x[i] - largest, op->to_table);
        int16_t place = (int16_t)hl_clamp_stored(from_top + INT16_MAX, INT16_MIN, INT16_MAX);
        y[i] = hl_table_lookup_i16(place, op->exp_table);
        exact_sum += (uint64_t)y[i];
    }
    uint32_t sum = exact_sum < UINT32_MAX ? (uint32_t)exact_sum : UINT32_MAX;

    // The sum without its leading bit is x of 1 / (1 + x), in 1/65536.
    int zeros = hl_leading_zeros(sum);
    uint64_t normal = (((uint64_t)sum << zeros >> 1) + (1 << 13)) >> 14;
    int16_t place = (int16_t)hl_clamp_stored((int64_t)normal - (1 << 15) - (1 << 16), INT16_MIN, INT16_MAX);
    int32_t inverse = hl_table_lookup_i16(place, op->inverse_table);
    int shift = 31 - zeros;
    int64_t half = INT64_C(1) << (shift - 1);
    for (int i = 0; i < length; i++)
        y[i] = (int16_t)hl_clamp_stored(((int64_t)y[i] * inverse + half) >> shift, 0, INT16_MAX);
}

struct softmax_run {
    const struct hl_softmax *op;
    const TfLiteTensor *x;
    TfLiteTensor *y;
    float beta;
    int length;
    int64_t rows, piece;
};

static void softmax_row(const struct softmax_run *run, int64_t at)
{
    const TfLiteTensor *x = run->x;
    TfLiteTensor *y = run->y;
    const uint8_t *bytes = HL_IN(uint8_t, x) + at;
    const uint16_t *halves = HL_IN(uint16_t, x) + at;
    const bool is_signed = x->type == kTfLiteInt8;
    switch (x->type) {
    case kTfLiteFloat16: softmax_row_f16(halves, HL_OUT(uint16_t, y) + at, run->length, run->beta); break;
    case kTfLiteBFloat16: softmax_row_bf16(halves, HL_OUT(uint16_t, y) + at, run->length, run->beta); break;
    case kTfLiteInt8:
    case kTfLiteUInt8:
        if (y->type == kTfLiteInt16)
            softmax_row_8bit_i16(run->op, bytes, is_signed, HL_OUT(int16_t, y) + at, run->length);
        else if (is_signed)
            softmax_row_i8(run->op, bytes, true, HL_OUT(int8_t, y) + at, run->length);
        else
            softmax_row_u8(run->op, bytes, false, HL_OUT(uint8_t, y) + at, run->length);
        break;
    case kTfLiteInt16: softmax_row_i16(run->op, HL_IN(int16_t, x) + at, HL_OUT(int16_t, y) + at, run->length); break;
    default: softmax_row_f32(HL_IN(float, x) + at, HL_OUT(float, y) + at, run->length, run->beta); break;
    }
}

static void softmax_piece(void *arg, int64_t item, int worker)
{
    const struct softmax_run *run = arg;
    const int64_t first = item * run->piece, end = first + run->piece;
    (void)worker;
    for (int64_t row = first; row < end && row < run->rows; row++) softmax_row(run, row * run->length);
}

static TfLiteStatus softmax_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    enum { MIN_SHARED_VALUES = 4096 };
    const TfLiteSoftmaxParams *params = node->builtin_data;
    struct softmax_run run = {node->user_data, hl_input(ctx, node, 0), hl_output(ctx, node, 0), params->beta, 0, 0, 0};
    run.length = row_length(run.x);
    run.rows = run.length == 0 ? 0 : row_count(run.x);
    if (run.rows == 0) return kTfLiteOk;
    run.piece = hl_piece(ctx, run.rows, run.rows * run.length >= MIN_SHARED_VALUES);
    hl_parallel(ctx, (run.rows - 1) / run.piece + 1, softmax_piece, &run);
    return kTfLiteOk;
}

const struct hl_op hl_op_softmax = {
    .state_size = sizeof(struct hl_softmax),
    .prepare = softmax_prepare,
    .invoke = softmax_invoke,
    .fast = &hl_fast_softmax,
    .inplace = kTfLiteInplaceOpInput0Shared,
};

// ---- LOG_SOFTMAX --------------------------------------------------------------------------------

static TfLiteStatus log_softmax_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    struct hl_softmax *op = node->user_data;
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input has no dimension");
    if (x->type == kTfLiteFloat32) return kTfLiteOk;
    if (x->type != kTfLiteInt8 && x->type != kTfLiteUInt8) return hl_unsupported_type(ctx, node, x);

    HL_TRY(hl_require_quantized(ctx, node, x));
    HL_TRY(hl_require_quantized(ctx, node, y));
    int highest = x->type == kTfLiteInt8 ? INT8_MAX : UINT8_MAX;
    HL_REQUIRE(ctx, node, y->params.scale == 16.0f / 256, "output scale %g must be 16/256", hl_scale(y));
    HL_REQUIRE(ctx, node, hl_zero(y) == highest, "the output's zero point %d must be %d", hl_zero(y), highest);
    struct hl_rescale rescale = prepare_8bit(op, 1, hl_scale(x));
    op->back = hl_rescale_from(ldexp(1, 31 - rescale.shift) / rescale.multiplier);
    return kTfLiteOk;
}

static void log_softmax_row_f32(const float *x, float *y, int length)
{
    float largest = -FLT_MAX, sum = 0;
    for (int i = 0; i < length; i++)
        if (x[i] > largest) largest = x[i];
    for (int i = 0; i < length; i++) sum += expf(x[i] - largest);
    float log_of_sum = logf(sum);
    for (int i = 0; i < length; i++) y[i] = x[i] - largest - log_of_sum;
}

#define LOG_SOFTMAX_ROW(name, type, is_signed, low, high)                                                 \
    static void name(const struct hl_softmax *op, const type *x, type *y, int length)                     \
    {                                                                                                     \
        int32_t largest = largest_8bit(x, is_signed, length);                                             \
        uint32_t sum = sum_8bit(op, x, is_signed, length, largest);                                       \
        int32_t log_of_sum = hl_fixed_log(sum < INT32_MAX ? (int32_t)sum : INT32_MAX);                    \
        /* Below this difference the result does not fit Q5. */                                           \
        int32_t threshold = hl_rescale_apply(hl_saturate_i32((int64_t)INT32_MIN + log_of_sum), op->back); \
        if (threshold < op->diff_min - 1) threshold = op->diff_min - 1;                                   \
        for (int i = 0; i < length; i++) {                                                                \
            int32_t difference = x[i] - largest;                                                          \
            if (difference > threshold) {                                                                 \
                int64_t exact = (int64_t)op->scaled[-difference] - log_of_sum;                            \
                int32_t result = hl_shift_right_round(hl_saturate_i32(exact), OUTPUT_Q4_SHIFT);           \
                y[i] = (type)hl_clamp_stored(result + (high), low, high);                                 \
            } else {                                                                                      \
                y[i] = (low);                                                                             \
            }                                                                                             \
        }                                                                                                 \
    }
LOG_SOFTMAX_ROW(log_softmax_row_u8, uint8_t, false, 0, UINT8_MAX)
LOG_SOFTMAX_ROW(log_softmax_row_i8, int8_t, true, INT8_MIN, INT8_MAX)

static TfLiteStatus log_softmax_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct hl_softmax *op = node->user_data;
    int length = row_length(x);
    int64_t end = length == 0 ? 0 : row_count(x) * length;
    for (int64_t at = 0; at < end; at += length) {
        if (x->type == kTfLiteFloat32)
            log_softmax_row_f32(HL_IN(float, x) + at, HL_OUT(float, y) + at, length);
        else if (x->type == kTfLiteUInt8)
            log_softmax_row_u8(op, HL_IN(uint8_t, x) + at, HL_OUT(uint8_t, y) + at, length);
        else
            log_softmax_row_i8(op, HL_IN(int8_t, x) + at, HL_OUT(int8_t, y) + at, length);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_log_softmax = {
    .state_size = sizeof(struct hl_softmax),
    .prepare = log_softmax_prepare,
    .invoke = log_softmax_invoke,
    .fast = &hl_fast_log_softmax,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
