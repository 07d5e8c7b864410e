// SPDX-License-Identifier: Apache-2.0
// The checks and loops of map.h. Half-precision tensors go through a block of floats, so that a map
// is called once for many elements and needs no type but float.
#include "ops/common/map.h"

#include <math.h>

enum { BLOCK = 256 }; // floats that are converted at a time

TfLiteStatus hl_map_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    HL_TRY(hl_require_same_type(ctx, node, input, output));
    return hl_resize_like(ctx, output, input);
}

#define MAP_HALVES(format)                                                                      \
    static void map_##format(const uint16_t *x, uint16_t *y, int64_t count, hl_real_map *map)   \
    {                                                                                           \
        float block[BLOCK];                                                                     \
        for (int64_t start = 0; start < count; start += BLOCK) {                                \
            int length = count - start < BLOCK ? (int)(count - start) : BLOCK;                  \
            for (int i = 0; i < length; i++) block[i] = hl_##format##_to_float(x[start + i]);   \
            map(block, block, length);                                                          \
            for (int i = 0; i < length; i++) y[start + i] = hl_##format##_from_float(block[i]); \
        }                                                                                       \
    }
MAP_HALVES(half)
MAP_HALVES(bfloat16)

void hl_map_real(const TfLiteTensor *input, TfLiteTensor *output, hl_real_map *map)
{
    int64_t count = hl_elements(input);
    switch (input->type) {
    case kTfLiteFloat32: map(HL_IN(float, input), HL_OUT(float, output), count); break;
    case kTfLiteFloat16: map_half(HL_IN(uint16_t, input), HL_OUT(uint16_t, output), count, map); break;
    default: map_bfloat16(HL_IN(uint16_t, input), HL_OUT(uint16_t, output), count, map); break;
    }
}

// ---- quantized ----------------------------------------------------------------------------------

TfLiteStatus hl_map_prepare_table(TfLiteContext *ctx, const TfLiteNode *node, double (*function)(double),
                                  struct hl_table *table)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    if (input->type != kTfLiteInt16) {
        HL_TRY(hl_require_quantized(ctx, node, input));
        HL_TRY(hl_require_quantized(ctx, node, output));
        hl_table_8bit(input, output, function, table->bytes);
        return kTfLiteOk;
    }
    HL_TRY(hl_require_symmetric(ctx, node, input));
    HL_TRY(hl_require_symmetric(ctx, node, output));
    hl_map_words(input->params.scale, 0, output->params.scale, 0, function, table->words);
    return kTfLiteOk;
}

void hl_map_table(const TfLiteTensor *input, TfLiteTensor *output, const struct hl_table *table)
{
    if (input->type != kTfLiteInt16) {
        hl_map_bytes(input, output, table->bytes);
        return;
    }
    const int16_t *x = HL_IN(int16_t, input);
    int16_t *y = HL_OUT(int16_t, output);
    int64_t count = hl_elements(input);
    for (int64_t i = 0; i < count; i++) y[i] = hl_table_lookup_i16(x[i], table->words);
}

TfLiteStatus hl_map_invoke(TfLiteContext *ctx, const TfLiteNode *node, hl_real_map *map)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    if (hl_is_real(input->type))
        hl_map_real(input, hl_output(ctx, node, 0), map);
    else
        hl_map_table(input, hl_output(ctx, node, 0), node->user_data);
    return kTfLiteOk;
}

void hl_map_bytes(const TfLiteTensor *input, TfLiteTensor *output, const uint8_t table[256])
{
    const uint8_t *x = HL_IN(uint8_t, input);
    uint8_t *y = HL_OUT(uint8_t, output);
    int64_t count = hl_elements(input);
    for (int64_t i = 0; i < count; i++) y[i] = table[x[i]];
}

// A value of the function in output steps from 0, not rounded yet.
static float steps(double (*function)(double), float x, float output_low, float output_high, float steps_per_unit)
{
    float value = (float)function((double)x);
    if (!isfinite(value)) value = value > 0 ? output_high : output_low;
    return value * steps_per_unit;
}

static int16_t to_word(float value)
{
    if (!(value > INT16_MIN)) return INT16_MIN;
    return value < INT16_MAX ? (int16_t)value : INT16_MAX;
}

// An entry is moved by half the error that interpolating makes in the middle of its segment.
void hl_map_words(float input_scale, int input_zero, float output_scale, int output_zero, double (*function)(double),
                  int16_t table[513])
{
    enum { SEGMENTS = 512 };
    float low = input_scale * (float)((int64_t)INT16_MIN - input_zero);
    float high = input_scale * (float)((int64_t)INT16_MAX - input_zero);
    float output_low = output_scale * (float)((int64_t)INT16_MIN - output_zero);
    float output_high = output_scale * (float)((int64_t)INT16_MAX - output_zero);
    float step = (high - low) / SEGMENTS, half_step = step / 2;
    float per_unit = 65536 / (output_high - output_low);
    for (int i = 0; i < SEGMENTS; i++) {
        float x = low + (float)i * step, next_x = low + (float)(i + 1) * step;
        float here = roundf(steps(function, x, output_low, output_high, per_unit));
        float middle = roundf(steps(function, x + half_step, output_low, output_high, per_unit));
        float next = steps(function, next_x, output_low, output_high, per_unit);
        float error = roundf((next + here) / 2) - middle;
        table[i] = to_word(here - roundf(error / 2));
    }
    table[SEGMENTS] = to_word(roundf(steps(function, high, output_low, output_high, per_unit)));
}
