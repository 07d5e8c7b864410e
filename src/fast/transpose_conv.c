// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV and Convolution2DTransposeBias with constant weights, float32 or 8-bit. All products of an input
// position with the filter, [kh][kw][outputs], are one row of a matrix product; they are then added where they belong
// in the output. A strip of output rows is one item of work: floats are added in the output itself, integers beside it.
// Integers: zero points as in fast/convolve.c.
#include "ops/transpose_conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"

struct transpose_conv {
    const struct hl_simd *simd;
    bool floats, x_unsigned;
    struct hl_conv_shape shape;
    int taps;      // kh * kw * outputs, columns of the product
    int panels;    // of these
    int64_t steps; // of a tile
    int strip;     // output rows of one item
    int block;     // input positions of one product
    uint8_t x_zero, flip;
    int32_t w_zero; // of the bytes that are multiplied
    float low, high;
    struct hl_requantize by;
    // Behind the struct.
    char *weights; // [panels][steps][columns][4 bytes]
    int32_t *starts, *multiplier, *left, *right;
    char *scratch;
    size_t scratch_bytes, sums, rows, row_sums, strip_sums;
};

// What one worker has.
struct scratch {
    char *sums;           // [block][taps][4 bytes]
    char *rows;           // [block][steps][4 bytes]
    int32_t *row_sums;    // [block]
    uint32_t *strip_sums; // [strip][out_width][outputs]
};

// Strips and products have about so many bytes.
enum { STRIP_BYTES = 256 << 10, PRODUCT_BYTES = 64 << 10 };

// ---- prepare ------------------------------------------------------------------------------------

static void pack(const struct transpose_conv *t, const struct hl_conv *conv, const TfLiteTensor *filter)
{
    int columns = t->simd->columns, group = t->simd->dot_width;
    int filter_zero = filter->type == kTfLiteUInt8 ? hl_zero(filter) : 0;
    uint32_t x_zero = group == 4 ? hl_simd_value(t->simd, t->x_zero ^ t->flip) : 0;
    for (int64_t q = 0; q < t->taps; q++) {
        int64_t tap = q / t->shape.outputs, output = q % t->shape.outputs, n = q % columns;
        int64_t from = (output * t->shape.kh * t->shape.kw + tap) * t->shape.channels;
        char *panel = t->weights + q / columns * t->steps * columns * 4;
        uint32_t sum = 0;
        for (int64_t c = 0; c < t->shape.channels; c++) {
            if (t->floats) {
                ((float *)panel)[c * columns + n] = HL_IN(float, filter)[from + c];
                continue;
            }
            int16_t value;
            hl_widen(filter->type, hl_data(filter), from + c, 1, filter_zero, &value);
            int64_t place = (c / group * columns + n) * group + c % group;
            if (group == 4)
                ((int8_t *)panel)[place] = (int8_t)(value + t->w_zero);
            else
                ((int16_t *)panel)[place] = value;
            sum += (uint32_t)value;
        }
        if (!t->floats) t->starts[q] = (int32_t) - (x_zero * sum);
    }
    for (int o = 0; !t->floats && o < t->shape.outputs; o++)
        hl_requantize_set(conv->rescales[o], &t->multiplier[o], &t->left[o], &t->right[o]);
}

static int at_most(int64_t a, int b)
{
    return a < b ? (int)a : b;
}

// Strips that fit the cache, or lower ones that all threads have some; and blocks of input positions.
static void cut_work(struct transpose_conv *t, int threads)
{
    double products =
        (double)t->shape.batches * t->shape.height * t->shape.width * (double)t->taps * (double)t->shape.channels;
    int64_t strip = STRIP_BYTES / 4 / ((int64_t)t->shape.out_width * t->shape.outputs);
    int64_t least = 2 * (int64_t)(t->shape.kh > t->shape.stride_h ? t->shape.kh : t->shape.stride_h);
    int64_t each = ((int64_t)t->shape.out_height * t->shape.batches + 2 * threads - 1) / (2 * threads);
    if (threads > 1 && products >= HL_LEAST_PRODUCTS && strip > each) strip = each;
    t->strip = at_most(strip > least ? strip : least, t->shape.out_height);
    int64_t rows = t->simd->rows, tiles = PRODUCT_BYTES / 4 / (t->taps * rows);
    t->block = at_most(rows * (tiles > 0 ? tiles : 1), t->shape.width);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, op->desc.input), *w = hl_input(ctx, node, op->desc.filter);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (op->conv.mode != HL_CONV_F32 && op->conv.mode != HL_CONV_8BIT) return kTfLiteOk;
    if (hl_is_dynamic(y) || !hl_is_packable(w) || hl_elements(y) == 0 || hl_elements(x) == 0) return kTfLiteOk;
    int64_t taps = hl_product(w->dims, 0, 3);
    if (taps > INT32_MAX / 64) return kTfLiteOk;
    // Columns that stay empty cost nothing, few rows of a tile do.
    const struct hl_simd *simd = hl_simd_best(taps < 16 ? 16 : (int)taps);
    struct transpose_conv made = {
        .simd = simd,
        .floats = op->conv.mode == HL_CONV_F32,
        .x_unsigned = x->type == kTfLiteUInt8,
        .shape = op->shape,
        .taps = (int)taps,
        .panels = ((int)taps + simd->columns - 1) / simd->columns,
        .low = op->conv.low_f32,
        .high = op->conv.high_f32,
    };
    struct transpose_conv *t = &made;
    bool quads = !t->floats && simd->dot_width == 4;
    t->steps = t->floats ? t->shape.channels : (t->shape.channels + simd->dot_width - 1) / simd->dot_width;
    if (!t->floats) {
        t->x_zero = (uint8_t)hl_zero(x);
        t->flip = quads ? hl_simd_sign_offset(simd, t->x_unsigned) : 0;
        t->w_zero = quads && w->type == kTfLiteUInt8 ? hl_zero(w) - 128 : 0;
    }
    cut_work(t, hl_thread_count(ctx));

    int integers = t->floats ? 0 : 1;
    int64_t columns = (int64_t)t->panels * simd->columns;
    size_t total = 0;
    hl_fast_part(&total, 1, 1, sizeof *t);
    size_t weights = hl_fast_part(&total, columns, t->steps, 4);
    size_t starts = hl_fast_part(&total, columns, 1, 4);
    size_t multiplier = hl_fast_part(&total, integers * t->shape.outputs, 1, 4);
    size_t left = hl_fast_part(&total, integers * t->shape.outputs, 1, 4);
    size_t right_shift = hl_fast_part(&total, integers * t->shape.outputs, 1, 4);
    t->sums = hl_fast_part(&t->scratch_bytes, t->block, columns, 4);
    t->rows = hl_fast_part(&t->scratch_bytes, integers * t->block, t->steps, 4);
    t->row_sums = hl_fast_part(&t->scratch_bytes, t->block, 1, 4);
    t->strip_sums =
        hl_fast_part(&t->scratch_bytes, integers * (int64_t)t->strip * t->shape.out_width, t->shape.outputs, 4);
    size_t scratch = hl_fast_part(&total, hl_thread_count(ctx), 1, t->scratch_bytes);
    hl_fast_part(&total, 1, 1, HL_LINE);
    HL_TRY(hl_fast_make(ctx, node, total, state));
    char *memory = *state;
    if (!memory) return kTfLiteOk;
    char *base = hl_fast_base(memory);
    t->weights = base + weights;
    t->starts = (int32_t *)(base + starts);
    t->multiplier = (int32_t *)(base + multiplier);
    t->left = (int32_t *)(base + left);
    t->right = (int32_t *)(base + right_shift);
    t->scratch = base + scratch;
    if (!t->floats)
        t->by = (struct hl_requantize){t->multiplier, t->left, t->right, hl_zero(y), op->conv.low, op->conv.high};
    pack(t, &op->conv, w);
    memcpy(memory, t, sizeof *t);
    *bytes = total;
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

struct run {
    const struct transpose_conv *t;
    const char *x;
    const void *bias; // NULL: none
    char *y;
};

// Sums of `count` input positions from x on, of those panels that hold rows [k0, k1) of the filter.
static void multiply(const struct transpose_conv *t, const struct scratch *scratch, const char *x, int count, int k0,
                     int k1)
{
    const struct hl_simd *simd = t->simd;
    int row = t->shape.kw * t->shape.outputs, stride = t->panels * simd->columns;
    for (int r = 0; !t->floats && r < count; r++) {
        const uint8_t *from = (const uint8_t *)x + (int64_t)r * t->shape.channels;
        char *to = scratch->rows + r * t->steps * 4;
        if (simd->dot_width == 2) {
            int zero = t->x_unsigned ? t->x_zero : (int8_t)t->x_zero;
            simd->kernels->widen(from, t->x_unsigned, zero, t->shape.channels, (int16_t *)to);
        } else {
            simd->kernels->xor_bytes(from, t->flip, t->shape.channels, (uint8_t *)to);
            if (t->w_zero != 0)
                scratch->row_sums[r] =
                    (int32_t)(simd->sum_bytes((const uint8_t *)to, t->shape.channels) * (uint32_t)t->w_zero);
        }
    }
    int first = k0 * row / simd->columns, end = (k1 * row - 1) / simd->columns + 1;
    for (int panel = first; panel < end; panel++) {
        struct hl_tile tile = {
            .x_stride = t->floats ? t->shape.channels : t->steps * 4,
            .w = t->weights + (int64_t)panel * t->steps * simd->columns * 4,
            .steps = t->steps,
            .start = t->starts + (int64_t)panel * simd->columns,
            .y_stride = stride,
            .columns = simd->columns,
            .low = -INFINITY,
            .high = INFINITY,
        };
        for (int r = 0; r < count; r += tile.rows) {
            tile.rows = count - r < simd->rows ? count - r : simd->rows;
            tile.y = scratch->sums + ((int64_t)r * stride + panel * simd->columns) * 4;
            if (t->floats) {
                tile.x = x + (int64_t)r * t->shape.channels * 4;
                simd->kernels->multiply_f32(&tile);
            } else {
                tile.x = scratch->rows + r * t->steps * 4;
                simd->multiply_integer(&tile);
            }
        }
    }
}

// Adds taps [l, l + taps) of row k of the filter, of positions [first, first + count) of an input row, to a row of
// sums, where these taps lie inside it.
static void add_taps(const struct transpose_conv *t, const struct scratch *scratch, int k, int l, int taps, int first,
                     int count, char *row)
{
    int low, end;
    // Positions p with 0 <= p * stride + l - before and p * stride + l + taps <= out_width + before.
    int64_t from = (int64_t)t->shape.pad_left - l, to = (int64_t)t->shape.out_width + t->shape.pad_left - l - taps;
    low = from > 0 ? (int)((from + t->shape.stride_w - 1) / t->shape.stride_w) : 0;
    end = to < 0 ? 0 : at_most(to / t->shape.stride_w + 1, t->shape.width);
    if (low < first) low = first;
    if (end > first + count) end = first + count;
    if (low >= end) return;
    int stride = t->panels * t->simd->columns;
    int64_t place = ((int64_t)low * t->shape.stride_w + l - t->shape.pad_left) * t->shape.outputs;
    const struct hl_scatter_add spread = {
        .sums =
            scratch->sums + ((int64_t)(low - first) * stride + ((int64_t)k * t->shape.kw + l) * t->shape.outputs) * 4,
        .stride = stride,
        .y = row + place * 4,
        .y_stride = (ptrdiff_t)t->shape.stride_w * t->shape.outputs,
        .less = scratch->row_sums + (low - first),
        .rows = end - low,
        .columns = taps * t->shape.outputs,
    };
    (t->floats ? t->simd->kernels->scatter_add_f32 : t->simd->kernels->scatter_add_integer)(&spread);
}

// One input row's products, added to output rows [i0, i1), which begin at `to`.
static void add_row(const struct run *run, const struct scratch *scratch, int batch, int s, int i0, int i1, char *to)
{
    const struct transpose_conv *t = run->t;
    size_t out_row = (size_t)t->shape.out_width * (size_t)t->shape.outputs * 4;
    int top = s * t->shape.stride_h - t->shape.pad_top; // the output row of k = 0
    int k0 = i0 > top ? i0 - top : 0, k1 = i1 - top < t->shape.kh ? i1 - top : t->shape.kh;
    if (k0 >= k1) return;
    for (int first = 0, count; first < t->shape.width; first += count) {
        count = t->shape.width - first < t->block ? t->shape.width - first : t->block;
        int64_t at = (((int64_t)batch * t->shape.height + s) * t->shape.width + first) * t->shape.channels;
        multiply(t, scratch, run->x + at * (t->floats ? 4 : 1), count, k0, k1);
        for (int k = k0; k < k1; k++) {
            char *row = to + (size_t)(top + k - i0) * out_row;
            // Neighboring taps go together where they do not meet those of the next position, which would wait for
            // them.
            bool whole = t->shape.kw <= t->shape.stride_w && t->shape.pad_left == 0 &&
                         (int64_t)(t->shape.width - 1) * t->shape.stride_w + t->shape.kw <= t->shape.out_width;
            for (int l = 0, taps = whole ? t->shape.kw : 1; l < t->shape.kw; l += taps)
                add_taps(t, scratch, k, l, taps, first, count, row);
        }
    }
}

// bias: `outputs` floats or integers, alike in their bits. NULL: zeros.
static void start_sums(const struct transpose_conv *t, const void *bias, int64_t positions, uint32_t *sums)
{
    if (!bias) {
        memset(sums, 0, (size_t)positions * (size_t)t->shape.outputs * sizeof *sums);
        return;
    }
    size_t bytes = (size_t)t->shape.outputs * 4, done = bytes, all = bytes * (size_t)positions;
    memcpy(sums, bias, bytes);
    for (; done < all; done *= 2) // what is there, once more
        memcpy((char *)sums + done, sums, done < all - done ? done : all - done);
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct transpose_conv *t = run->t;
    char *memory = t->scratch + (size_t)worker * t->scratch_bytes;
    const struct scratch scratch = {memory + t->sums, memory + t->rows, (int32_t *)(memory + t->row_sums),
                                    (uint32_t *)(memory + t->strip_sums)};
    int strips = (t->shape.out_height - 1) / t->strip + 1;
    int batch = (int)(item / strips), i0 = (int)(item % strips) * t->strip;
    int i1 = t->shape.out_height - i0 < t->strip ? t->shape.out_height : i0 + t->strip;
    int64_t positions = (int64_t)(i1 - i0) * t->shape.out_width, count = positions * t->shape.outputs;
    int64_t at = ((int64_t)batch * t->shape.out_height + i0) * t->shape.out_width * t->shape.outputs;
    uint32_t *sums = t->floats ? (uint32_t *)run->y + at : scratch.strip_sums;

    start_sums(t, run->bias, positions, sums);
    int s0, s1, unused;
    hl_conv_sources((int64_t)i0 + t->shape.pad_top, t->shape.height, t->shape.kh, t->shape.stride_h, &s0, &unused);
    hl_conv_sources((int64_t)i1 - 1 + t->shape.pad_top, t->shape.height, t->shape.kh, t->shape.stride_h, &unused, &s1);
    for (int s = s0; s < s1; s++) add_row(run, &scratch, batch, s, i0, i1, (char *)sums);
    if (t->floats) {
        float *y = (float *)run->y + at;
        if (t->low > -INFINITY || t->high < INFINITY)
            for (int64_t i = 0; i < count; i++) y[i] = y[i] < t->low ? t->low : y[i] > t->high ? t->high : y[i];
        return;
    }
    for (int64_t p = 0; p < positions; p++)
        t->simd->kernels->requantize(&t->by, (const int32_t *)sums + p * t->shape.outputs, 0, 0, t->shape.outputs,
                                     (uint8_t *)run->y + at + p * t->shape.outputs);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct transpose_conv *t = state;
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *bias = hl_input(ctx, node, op->desc.bias);
    struct run run = {
        .t = t,
        .x = hl_data(hl_input(ctx, node, op->desc.input)),
        .bias = bias ? hl_data(bias) : NULL,
        .y = hl_output(ctx, node, 0)->data.raw,
    };
    int64_t strips = (t->shape.out_height - 1) / t->strip + 1;
    hl_parallel(ctx, strips * t->shape.batches, run_item, &run);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_transpose_conv = {prepare, invoke, free};
