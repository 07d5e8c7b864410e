// SPDX-License-Identifier: Apache-2.0
// LOGISTIC: 1 / (1 + e^-x). TANH.
// in 0: x of any shape, out 0: the same shape and type.
// float32, float16, bfloat16; quantized int8 and uint8 (a table; LOGISTIC's output scale is 1/256);
// int16 with zero points 0 and output scale 1/32768: both from one table of the sigmoid, 24
// segments to the unit, as tanh(x) = 2 sigmoid(2x) - 1.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/map.h"

enum { SEGMENTS = 256 };

struct sigmoid {
    uint8_t bytes[256];       // the function on stored 8-bit values
    uint16_t table[SEGMENTS]; // sigmoid(i / 24) in 1/65536, to be interpolated
    int64_t multiplier;       // int16 to position: x * multiplier / 2^shift, rounded half up
    int shift;
};
HL_TABLE_FIRST(struct sigmoid, bytes);

// The position of LOGISTIC counts 512ths of a segment, that of TANH 256ths: then both are
// x * scale * 4096 * 3. A scale of 2^-12 (TANH also 2^-11) is exact without a shift.
static void set_position(struct sigmoid *op, float scale, int exact_shifts)
{
    float exponent = log2f(scale);
    float nearest = roundf(exponent);
    int left = (int)nearest + 12;
    if (fabsf(exponent - nearest) < 1e-3f && left >= 0 && left <= exact_shifts) {
        op->multiplier = 3 << left;
        op->shift = 0;
        return;
    }
    double multiplier = (double)scale * 4096 * 3;
    op->shift = 0;
    while (multiplier <= 32767 / 2.0 && op->shift <= 30) {
        op->shift++;
        multiplier *= 2;
    }
    op->multiplier = multiplier < INT32_MAX ? (int64_t)multiplier : INT32_MAX;
}

// Entries are moved by half the error that interpolating makes in the middle of a segment, h^2/8
// times the second derivative. The last one meets the constant beyond the table.
static void prepare_words(struct sigmoid *op, float scale, int exact_shifts)
{
    for (int i = 0; i < SEGMENTS - 1; i++) {
        double y = 1 / (1 + exp(-i / 24.0)), curvature = y * (1 - y) * (1 - 2 * y);
        op->table[i] = (uint16_t)round(65536 * (y - curvature / (24 * 24) / 16));
    }
    op->table[SEGMENTS - 1] = UINT16_MAX;
    set_position(op, scale, exact_shifts);
}

static int64_t position_of(const struct sigmoid *op, int16_t x)
{
    int64_t half = op->shift > 0 ? INT64_C(1) << (op->shift - 1) : 0;
    return (x * op->multiplier + half) >> op->shift;
}

// sigmoid(position >= 0), where a segment has 2^bits positions, in 1 / 2^(16 + bits).
static int32_t interpolate(const struct sigmoid *op, int64_t position, int bits, int32_t limit)
{
    int64_t segment = position >> bits;
    if (segment >= SEGMENTS - 1) return limit;
    int32_t rest = (int32_t)(position & ((1 << bits) - 1));
    int32_t here = op->table[segment], next = op->table[segment + 1];
    return (here << bits) + rest * (next - here);
}

static int16_t logistic_word(const struct sigmoid *op, int16_t x)
{
    int64_t position = position_of(op, x);
    int32_t value = interpolate(op, position < 0 ? -position : position, 9, 0x7fff << 10);
    return (int16_t)((position >= 0 ? value + (1 << 9) : (1 << 25) - value + (1 << 9) - 1) >> 10);
}

static int16_t tanh_word(const struct sigmoid *op, int16_t x)
{
    int64_t position = position_of(op, x);
    int32_t value = interpolate(op, position < 0 ? -position : position, 8, 0xffff << 8);
    value -= 1 << 23; // sigmoid - 1/2
    return (int16_t)((position >= 0 ? value + (1 << 7) : -value + (1 << 7) - 1) >> 8);
}

// ---- both operators -----------------------------------------------------------------------------

static TfLiteStatus sigmoid_prepare(TfLiteContext *ctx, TfLiteNode *node, bool is_tanh, double (*function)(double))
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct sigmoid *op = node->user_data;
    switch (input->type) {
    case kTfLiteFloat32:
    case kTfLiteFloat16:
    case kTfLiteBFloat16: return kTfLiteOk;
    case kTfLiteInt8:
    case kTfLiteUInt8:
        HL_TRY(hl_require_quantized(ctx, node, input));
        HL_TRY(hl_require_quantized(ctx, node, output));
        HL_REQUIRE(ctx, node, is_tanh || output->params.scale == 1.0f / 256, "output scale %g must be 1/256",
                   hl_scale(output));
        hl_table_8bit(input, output, function, op->bytes);
        return kTfLiteOk;
    case kTfLiteInt16:
        HL_TRY(hl_require_symmetric(ctx, node, input));
        HL_TRY(hl_require_symmetric(ctx, node, output));
        HL_REQUIRE(ctx, node, output->params.scale == 1.0f / 32768, "output scale %g must be 1/32768",
                   hl_scale(output));
        prepare_words(op, input->params.scale, is_tanh ? 1 : 0);
        return kTfLiteOk;
    default: return hl_unsupported_type(ctx, node, input);
    }
}

#define SIGMOID(symbol, is_tanh, function)                                                                \
    HL_REAL_FUNCTION(symbol, function)                                                                    \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node)                            \
    {                                                                                                     \
        return sigmoid_prepare(ctx, node, is_tanh, symbol##_value);                                       \
    }                                                                                                     \
    static void symbol##_words(const struct sigmoid *op, const TfLiteTensor *input, TfLiteTensor *output) \
    {                                                                                                     \
        const int16_t *x = HL_IN(int16_t, input);                                                         \
        int16_t *y = HL_OUT(int16_t, output);                                                             \
        int64_t count = hl_elements(input);                                                               \
        for (int64_t i = 0; i < count; i++) y[i] = symbol##_word(op, x[i]);                               \
    }                                                                                                     \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)                             \
    {                                                                                                     \
        const TfLiteTensor *input = hl_input(ctx, node, 0);                                               \
        TfLiteTensor *output = hl_output(ctx, node, 0);                                                   \
        const struct sigmoid *op = node->user_data;                                                       \
        if (hl_is_real(input->type))                                                                      \
            hl_map_real(input, output, symbol##_real);                                                    \
        else if (input->type == kTfLiteInt16)                                                             \
            symbol##_words(op, input, output);                                                            \
        else                                                                                              \
            hl_map_bytes(input, output, op->bytes);                                                       \
        return kTfLiteOk;                                                                                 \
    }                                                                                                     \
    HL_MAP_OPERATOR(symbol, struct sigmoid, &hl_fast_##symbol)

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

SIGMOID(logistic, false, sigmoid)
SIGMOID(tanh, true, tanhf)
