// SPDX-License-Identifier: Apache-2.0
// The five epilogues.
#include "fast/epilogue.h"

#include "abi/built_types.h"

// ---- floats: the product writes and bounds them itself ------------------------------------------

static bool f32_fits(const struct hl_epilogue_params *params)
{
    return !params->filter_scales && !params->scales && !params->rescales && !params->words;
}

static void f32_parts(struct hl_epilogue *e, int64_t columns, struct hl_parts *parts)
{
    (void)e, (void)columns, (void)parts;
}

static void f32_set(const struct hl_epilogue *e, const struct hl_epilogue_params *params, int64_t channel,
                    int64_t column)
{
    (void)e, (void)params, (void)channel, (void)column;
}

static void f32_begin(const struct hl_epilogue *e, const struct hl_output *output, struct hl_tile *tile)
{
    (void)output;
    tile->y_stride = e->row_stride;
    tile->low = e->low;
    tile->high = e->high;
}

const struct hl_epilogue_form hl_epilogue_f32 = {"f32", f32_fits, f32_parts, f32_set, f32_begin, NULL};

// ---- integers: sums first -----------------------------------------------------------------------

static void integer_begin(const struct hl_epilogue *e, const struct hl_output *output, struct hl_tile *tile)
{
    tile->y = output->sums;
    tile->y_stride = e->simd->columns;
}

struct hl_byte_tile hl_epilogue_bytes(const struct hl_epilogue *e, const struct hl_output *output,
                                      const struct hl_output_tile *at, int columns)
{
    return (struct hl_byte_tile){
        .params = &e->requant,
        .scales = e->scales,
        .first = at->column,
        .rows = at->rows,
        .columns = columns,
        .sums = output->sums,
        .sums_stride = at->sums_stride,
        .corrections = output->corrections ? output->corrections + at->row : NULL,
        .y = hl_epilogue_y(e, output, at, sizeof(uint8_t)),
        .y_stride = e->row_stride,
    };
}

static void bytes_finish(const struct hl_epilogue *e, const struct hl_output *output, const struct hl_output_tile *at,
                         int columns)
{
    const struct hl_byte_tile bytes = hl_epilogue_bytes(e, output, at, columns);
    e->simd->kernels->requantize_tile(&bytes);
}

static bool requantized_fits(const struct hl_epilogue_params *params)
{
    return params->rescales != NULL;
}

static void requantized_parts(struct hl_epilogue *e, int64_t columns, struct hl_parts *parts)
{
    hl_parts_add_constant(parts, &e->requant.multiplier, columns, 1, sizeof *e->requant.multiplier);
    hl_parts_add_constant(parts, &e->requant.left, columns, 1, sizeof *e->requant.left);
    hl_parts_add_constant(parts, &e->requant.right, columns, 1, sizeof *e->requant.right);
}

static void requantized_set(const struct hl_epilogue *e, const struct hl_epilogue_params *params, int64_t channel,
                            int64_t column)
{
    hl_requantize_set(params->rescales[channel], &e->requant.multiplier[column], &e->requant.left[column],
                      &e->requant.right[column]);
}

const struct hl_epilogue_form hl_epilogue_requantized = {
    "requantized", requantized_fits, requantized_parts, requantized_set, integer_begin, bytes_finish,
};

static bool scaled_fits(const struct hl_epilogue_params *params)
{
    return params->scales != NULL;
}

static void scaled_parts(struct hl_epilogue *e, int64_t columns, struct hl_parts *parts)
{
    hl_parts_add_constant(parts, &e->scales, columns, 1, sizeof *e->scales);
}

static void scaled_set(const struct hl_epilogue *e, const struct hl_epilogue_params *params, int64_t channel,
                       int64_t column)
{
    e->scales[column] = params->scales[channel];
}

const struct hl_epilogue_form hl_epilogue_scaled = {
    "scaled", scaled_fits, scaled_parts, scaled_set, integer_begin, bytes_finish,
};

// ---- words: pieces of sums to int16 -------------------------------------------------------------

static bool words_fits(const struct hl_epilogue_params *params)
{
    return params->words;
}

static void words_parts(struct hl_epilogue *e, int64_t columns, struct hl_parts *parts)
{
    hl_parts_add_constant(parts, &e->multiplier, columns, 1, sizeof *e->multiplier);
    hl_parts_add_constant(parts, &e->rounding, columns, 1, sizeof *e->rounding);
    hl_parts_add_constant(parts, &e->right, columns, 1, sizeof *e->right);
    hl_parts_add_constant(parts, &e->bias, columns, 1, sizeof *e->bias);
}

// hl_rescale_apply_i64; a shift to the left becomes part of the multiplier.
static void words_set(const struct hl_epilogue *e, const struct hl_epilogue_params *params, int64_t channel,
                      int64_t column)
{
    const struct hl_rescale rescale = params->rescales[channel];
    const int right = 15 - rescale.shift;
    const int64_t multiplier = rescale.multiplier < 0x7fff0000 ? (rescale.multiplier + (1 << 15)) >> 16 : 0x7fff;
    e->multiplier[column] = right < 0 ? (int64_t)((uint64_t)multiplier << -right) : multiplier;
    e->rounding[column] = right > 0 ? INT64_C(1) << (right - 1) : 0;
    e->right[column] = right > 0 ? right : 0;
    e->bias[column] = params->bias_i64 ? params->bias_i64[channel] : 0;
}

static void words_finish(const struct hl_epilogue *e, const struct hl_output *output, const struct hl_output_tile *at,
                         int columns)
{
    const struct hl_word_tile words = {
        .multiplier = e->multiplier + at->column,
        .rounding = e->rounding + at->column,
        .right = e->right + at->column,
        .bias = e->bias + at->column,
        .pieces = e->pieces,
        .upper = e->upper,
        .piece_stride = hl_piece_size(e->simd),
        .rows = at->rows,
        .columns = columns,
        .sums = output->sums,
        .sums_stride = at->sums_stride,
        .y = hl_epilogue_y(e, output, at, sizeof *words.y),
        .y_stride = e->row_stride,
        .low = e->requant.low,
        .high = e->requant.high,
    };
    e->simd->kernels->word_tile(&words);
}

const struct hl_epilogue_form hl_epilogue_words = {
    "words", words_fits, words_parts, words_set, integer_begin, words_finish,
};

// ---- hybrid: integer sums to floats -------------------------------------------------------------

static bool hybrid_fits(const struct hl_epilogue_params *params)
{
    return params->filter_scales != NULL;
}

static void hybrid_parts(struct hl_epilogue *e, int64_t columns, struct hl_parts *parts)
{
    hl_parts_add_constant(parts, &e->unquant.scales, columns, 1, sizeof *e->unquant.scales);
    hl_parts_add_constant(parts, &e->unquant.bias, columns, 1, sizeof *e->unquant.bias);
}

static void hybrid_set(const struct hl_epilogue *e, const struct hl_epilogue_params *params, int64_t channel,
                       int64_t column)
{
    e->unquant.scales[column] = params->filter_scales[channel * params->filter_scale_step];
    e->unquant.bias[column] = params->bias ? params->bias[channel] : 0;
}

// The batches of a tile differ in their scale and zero point. Bytes (dot width 4) keep the zero point, which is not
// known before the input is quantized; here it is taken away. Batches of one position, as FULLY_CONNECTED has them, are
// finished together. (The 25 layers of a transformer of 128 rows on a Zen 4: 1014 us row by row, 690 us so.)
static void hybrid_finish(const struct hl_epilogue *e, const struct hl_output *output, const struct hl_output_tile *at,
                          int columns)
{
    const bool has_zeros = e->simd->dot_width == 4;
    struct hl_unquantize unquant = e->unquant;
    unquant.scales += at->column, unquant.bias += at->column, unquant.w_sums += at->column;
    struct hl_float_tile floats = {
        .params = &unquant,
        .rows = at->rows,
        .columns = columns,
        .sums = output->sums,
        .sums_stride = at->sums_stride,
        .y = hl_epilogue_y(e, output, at, sizeof *floats.y),
        .y_stride = e->row_stride,
    };
    if (e->positions == 1 && !unquant.two_steps) {
        floats.x_scales = output->x_scales + at->position;
        floats.x_zeros = has_zeros ? output->x_zeros + at->position : NULL;
        e->simd->kernels->unquantize_tile(&floats);
        return;
    }
    for (int left = at->rows; left > 0; left -= floats.rows) {
        const int64_t position = at->position + at->rows - left, batch = position / e->positions;
        const int64_t left_of_batch = (batch + 1) * e->positions - position;
        unquant.zero = has_zeros ? (uint32_t)output->x_zeros[batch] : 0;
        unquant.x_scale = output->x_scales[batch];
        floats.rows = left_of_batch < left ? (int)left_of_batch : left;
        e->simd->kernels->unquantize_tile(&floats);
        floats.sums += floats.rows * floats.sums_stride, floats.y += floats.rows * floats.y_stride;
    }
}

const struct hl_epilogue_form hl_epilogue_hybrid = {
    "hybrid", hybrid_fits, hybrid_parts, hybrid_set, integer_begin, hybrid_finish,
};

// ---- choice -------------------------------------------------------------------------------------

void hl_epilogue_init(struct hl_epilogue *epilogue, const struct hl_simd *simd, int channels, int64_t positions,
                      const struct hl_epilogue_params *params)
{
    static const struct hl_epilogue_form *const forms[] = {
        &hl_epilogue_f32, &hl_epilogue_words, &hl_epilogue_requantized, &hl_epilogue_scaled, &hl_epilogue_hybrid,
    };
    int i = 0; // without 8-bit types only floats come here
    while (HL_HAS_BYTES && !forms[i]->fits(params)) i++;
    *epilogue = (struct hl_epilogue){
        .form = forms[i],
        .simd = simd,
        .row_stride = channels,
        .positions = positions,
        .low = params->low_f32,
        .high = params->high_f32,
        .requant = {.zero = params->zero,
                    .low = params->low,
                    .high = params->high,
                    .right_only =
                        params->rescales && !params->words && hl_requantize_right_only(params->rescales, channels)},
        .pieces = params->pieces,
        .upper = params->upper,
        .unquant = {.two_steps = params->two_steps, .low = params->low_f32, .high = params->high_f32},
    };
}
