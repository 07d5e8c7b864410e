// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D with constant weights: float32, 8-bit (weights of 4 bits, too) or hybrid. Runs of output positions,
// which the inner loops take through a table of pointers to input positions; padding is a position of zero points
// there. Where an input channel has several outputs, the input is written out so often first, hybrid input as int8. One
// input channel, not hybrid, is a matter of convolve.h: 10x8 taps of 8 outputs (audio/micro_speech_int8) take 33 us as
// below, 9 as a convolution.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fast/convolve.h"
#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/common/conv.h"

// Fewer outputs than this take about as long as it takes to share them.
enum { LEAST_OUTPUTS = 16384 };
// Positions of a run, and the pointers that a run may need.
enum { RUN = 64, MOST_POINTERS = 1 << 17 };

struct depthwise {
    void *convolution; // or NULL, and all that follows
    const struct hl_simd *simd;
    bool hybrid;
    struct hl_conv_shape shape;
    int multiplier; // outputs of an input channel
    int columns;    // of the table
    int size;       // of an element of x, as it is multiplied
    uint8_t x_zero;
    int excess;                  // of weights
    struct hl_depthwise_run run; // but for count, x, y
    struct hl_requantize to_bytes;
    struct hl_unquantize to_floats;
    // In one piece of memory behind the struct.
    char *padding;         // a position outside the input
    int8_t *x_stored;      // hybrid: a batch
    char *x_many;          // a batch with each channel `multiplier` times
    const void **pointers; // [workers][columns][kh]
    // Copies of positions, so many bytes for each worker: those at the end of x, where a block has fewer channels, or
    // all, [kh][stride][lines]: side by side are those that one tap reads for neighboring outputs.
    char *copies;
    size_t copies_bytes;
    int64_t line;
    const char *x, *x_end; // what is multiplied: the tensor from the batch on, or a batch made of it
    char *y;
    int64_t first_row, end; // and the rows of output, of all batches, that are made from it
    int64_t item_rows;
};

// ---- packing ------------------------------------------------------------------------------------

// Value `tap` of output channel c, less its zero point.
static int weight_at(const TfLiteTensor *w, int64_t tap, int c, int channels)
{
    int16_t value;
    hl_widen(w->type, hl_data(w), tap * channels + c, 1, w->type == kTfLiteUInt8 ? hl_zero(w) : 0, &value);
    return value;
}

// Weights that do not all fit 8 bits with a sign, but lie within 256 neighbors, are sums of one that does and
// `excess`.
static void find_layers(struct depthwise *d, const TfLiteTensor *w)
{
    int low = 0, high = 0;
    if (d->simd->dot_width == 2) return;
    for (int64_t i = 0; i < hl_elements(w); i++) {
        int value = weight_at(w, i, 0, 1);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    d->excess = high > INT8_MAX ? high - INT8_MAX : low < INT8_MIN ? low - INT8_MIN : 0;
    d->run.layers = d->excess == 0 ? 1 : d->excess <= INT8_MAX ? 2 : 3;
}

// Which tap of the window comes at place t, down and then right; -1 for none. Groups of 4 are columns where the window
// is 3x3.
static int tap_at(const struct depthwise *d, int t)
{
    if (d->run.stride_3x3 && d->simd->dot_width == 4) return t % 4 == 3 ? -1 : t % 4 * 3 + t / 4;
    return t < d->shape.kh * d->shape.kw ? t : -1;
}

// The weights of one output channel, element i of a block; their sum.
static uint32_t pack_channel(const struct depthwise *d, const TfLiteTensor *w, int c, char *block, int i)
{
    int group = d->simd->dot_width, bytes = d->simd->bytes, layers = d->run.layers;
    uint32_t sum = 0;
    for (int t = 0; t < d->run.taps; t++) {
        int tap = tap_at(d, t);
        if (tap < 0) continue;
        int value = weight_at(w, tap, c, d->run.channels);
        sum += (uint32_t)value;
        for (int layer = 0; layer < layers; layer++) {
            int64_t place = (((int64_t)t / group * layers + layer) * bytes + i) * group + t % group;
            if (group == 2) {
                ((int16_t *)block)[place] = (int16_t)value;
                continue;
            }
            int part = layer == 0 ? value - d->excess : layer == 1 ? hl_clamp_i32(d->excess, INT8_MIN, INT8_MAX) : 1;
            ((int8_t *)block)[place] = (int8_t)part;
        }
    }
    return sum;
}

static void pack_integers(struct depthwise *d, const struct hl_conv *conv, const TfLiteTensor *w,
                          const TfLiteTensor *bias, char *weights, int32_t *arrays)
{
    int bytes = d->simd->bytes, channels = d->run.channels, blocks = (channels + bytes - 1) / bytes;
    int64_t each = (int64_t)blocks * bytes;
    int32_t *start = arrays, *multiplier = start + each, *left = multiplier + each, *right = left + each;
    uint32_t zero = hl_simd_value(d->simd, d->x_zero ^ d->run.flip);
    d->run.start = start;
    d->to_bytes.multiplier = multiplier, d->to_bytes.left = left, d->to_bytes.right = right;
    // The same memory, by channel.
    float *scales = (float *)multiplier, *biases = (float *)left;
    uint32_t *sums = (uint32_t *)right;
    d->to_floats.scales = scales, d->to_floats.bias = biases, d->to_floats.w_sums = sums;
    int64_t block_bytes = (int64_t)d->run.taps / d->simd->dot_width * d->run.layers * bytes * 4;
    for (int64_t at = 0; at < each; at++) {
        int block = (int)(at / bytes), i = (int)(at % bytes), first = block * bytes;
        if (block > 0 && first + bytes > channels) first = channels - bytes;
        int c = first + hl_depthwise_channel(i, bytes, d->run.parts);
        if (c >= channels) continue;
        uint32_t sum = pack_channel(d, w, c, weights + block * block_bytes, i);
        if (d->hybrid) {
            const TfLiteFloatArray *w_scales = hl_affine(w)->scale;
            scales[c] = w_scales->data[w_scales->size > 1 ? c : 0];
            biases[c] = bias ? HL_IN(float, bias)[c] : 0;
            sums[c] = sum;
            continue;
        }
        start[at] = (int32_t)((bias ? (uint32_t)HL_IN(int32_t, bias)[c] : 0) - zero * sum);
        hl_requantize_set(conv->rescales[c], &multiplier[at], &left[at], &right[at]);
    }
}

// ---- making -------------------------------------------------------------------------------------

// Padding is multiplied, too: its zeros must stay zeros.
static bool all_finite(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static void describe(struct depthwise *d, const struct hl_conv_2d *op, const TfLiteTensor *x, const TfLiteTensor *w,
                     const TfLiteTensor *y)
{
    bool floats = op->conv.mode == HL_CONV_F32;
    int channels = op->shape.outputs;
    *d = (struct depthwise){
        .hybrid = op->conv.mode == HL_CONV_HYBRID,
        .shape = op->shape,
        .multiplier = channels / op->shape.channels,
        .size = floats ? sizeof(float) : 1,
        .run = {.channels = channels, .low = op->conv.low_f32, .high = op->conv.high_f32, .layers = 1, .parts = 1},
    };
    // Integers of few channels fill vectors with several positions.
    const struct hl_simd *simd = d->simd = hl_simd_best(floats ? channels : INT_MAX);
    int64_t taps = (int64_t)d->shape.kh * d->shape.kw;
    if (!floats) {
        // 32 channels gain nothing. (MobileNet v1 0.25 quantized, all of it: 1.49 ms, 1.56 ms without.)
        d->run.side_by_side = channels < simd->bytes && (channels == 8 || channels == 16);
        int least = d->run.side_by_side ? channels : 16;
        while (simd->bytes / d->run.parts > least && channels <= simd->bytes / d->run.parts / 2) d->run.parts *= 2;
        taps = (taps + simd->dot_width - 1) / simd->dot_width * simd->dot_width;
        d->x_zero = d->hybrid ? 0 : (uint8_t)hl_zero(x);
        d->run.flip = hl_simd_sign_offset(simd, x->type == kTfLiteUInt8);
        find_layers(d, w);
        if (d->shape.kh == 3 && d->shape.kw == 3 && d->shape.dilation_w == 1 && d->shape.stride_w <= 2)
            d->run.stride_3x3 = d->shape.stride_w;
        d->to_bytes.zero = d->hybrid ? 0 : hl_zero(y);
        d->to_bytes.low = op->conv.low, d->to_bytes.high = op->conv.high;
        d->to_floats.two_steps = op->conv.two_steps;
        d->to_floats.low = op->conv.low_f32, d->to_floats.high = op->conv.high_f32;
    }
    int64_t columns = (int64_t)(RUN - 1) * d->shape.stride_w + (int64_t)(d->shape.kw - 1) * d->shape.dilation_w + 1;
    bool fits = taps <= MOST_POINTERS && columns * d->shape.kh <= MOST_POINTERS;
    d->run.taps = fits ? (int)taps : 0;
    d->columns = fits ? (int)columns : 0;
    d->run.x_step = (ptrdiff_t)d->shape.stride_w * d->shape.kh;
}

static TfLiteStatus prepare_convolution(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    const struct hl_convolve_node what = {
        .input = x,
        .filter = w,
        .bias = hl_input(ctx, node, 2),
        .output = hl_output(ctx, node, 0),
        .outputs_last = true,
        .filter_zero = w->type == kTfLiteUInt8 ? hl_zero(w) : 0,
        .low_f32 = op->conv.low_f32,
        .high_f32 = op->conv.high_f32,
        .low = op->conv.low,
        .high = op->conv.high,
        .rescales = op->conv.rescales,
    };
    struct depthwise made = {0};
    size_t own = 0;
    hl_fast_part(&own, 1, 1, sizeof made);
    HL_TRY(hl_convolve_create(ctx, node, &op->shape, &what, &made.convolution, bytes));
    if (!made.convolution) return kTfLiteOk;
    TfLiteStatus status = hl_fast_make(ctx, node, own, state);
    *bytes += own;
    if (*state)
        *(struct depthwise *)*state = made;
    else
        hl_convolve_destroy(made.convolution);
    return status;
}

static TfLiteStatus depthwise_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool floats = op->conv.mode == HL_CONV_F32;
    if (op->conv.mode == HL_CONV_INT16 || !hl_is_packable(w) || (bias && !hl_is_packable(bias)) || hl_elements(y) == 0)
        return kTfLiteOk;
    if (floats && !all_finite(HL_IN(float, w), hl_elements(w))) return kTfLiteOk;
    if (hl_dim(x, 3) == 1 && op->conv.mode != HL_CONV_HYBRID) return prepare_convolution(ctx, node, state, bytes);
    struct depthwise made, *d = &made;
    describe(d, op, x, w, y);
    if (d->run.taps == 0) return kTfLiteOk;

    int width = d->simd->bytes, channels = d->run.channels, workers = hl_thread_count(ctx);
    int64_t blocks = floats ? 0 : (channels + width - 1) / width,
            batch = (int64_t)d->shape.height * d->shape.width * channels;
    size_t total = 0;
    hl_fast_part(&total, 1, 1, sizeof *d);
    size_t taps = hl_fast_part(&total, d->run.taps, 1, sizeof(int32_t));
    size_t weights = hl_fast_part(&total, blocks * d->run.taps / d->simd->dot_width, d->run.layers * width, 4);
    size_t arrays = hl_fast_part(&total, floats ? channels : blocks * 4, 1, floats ? 4 : (size_t)width * 4);
    size_t padding = hl_fast_part(&total, channels + width, 1, (size_t)d->size);
    size_t x_stored = hl_fast_part(&total, d->hybrid ? batch / d->multiplier : 0, 1, 1);
    size_t x_many = hl_fast_part(&total, d->multiplier > 1 ? batch : 0, 1, (size_t)d->size);
    size_t pointers = hl_fast_part(&total, (int64_t)workers * d->columns * d->shape.kh, 1, sizeof(void *));
    d->line = (int64_t)(d->columns / d->shape.stride_w + 1) * channels + width;
    if (d->run.side_by_side)
        hl_fast_part(&d->copies_bytes, (int64_t)d->shape.kh * d->shape.stride_w, 1, d->line);
    else if (!floats && channels < width) // blocks reach so many columns beyond theirs at most
        hl_fast_part(&d->copies_bytes, (int64_t)d->shape.kh * (1 + (width - 1) / channels), 1, (size_t)width);
    size_t copies = hl_fast_part(&total, workers, 1, d->copies_bytes);
    hl_fast_part(&total, 1, 1, HL_LINE);
    HL_TRY(hl_fast_make(ctx, node, total, state));
    char *memory = *state;
    if (!memory) return kTfLiteOk;
    char *base = hl_fast_base(memory);
    d->padding = base + padding;
    d->x_stored = (int8_t *)base + x_stored;
    d->x_many = base + x_many;
    d->pointers = (const void **)(void *)(base + pointers);
    d->copies = base + copies;

    int32_t *tap = (int32_t *)(base + taps);
    for (int t = 0; t < d->run.taps; t++) {
        int real = floats ? t : tap_at(d, t);
        if (real < 0) real = 0;
        tap[t] = real % d->shape.kw * d->shape.dilation_w * d->shape.kh + real / d->shape.kw;
    }
    d->run.tap = tap;
    d->run.w = base + weights;
    if (!floats) {
        memset(d->padding, d->x_zero, (size_t)channels + (size_t)width);
        pack_integers(d, &op->conv, w, bias, base + weights, (int32_t *)(base + arrays));
    } else {
        d->run.w = hl_data(w);
        d->run.start = base + arrays;
        if (bias) memcpy(base + arrays, hl_data(bias), (size_t)channels * 4);
    }
    *(struct depthwise *)(void *)memory = made;
    *bytes = total;
    return kTfLiteOk;
}

// ---- running ------------------------------------------------------------------------------------

// Moves what a row of pointers points to.
static void copy_side_by_side(const struct depthwise *d, int columns, const void **pointers, char *line)
{
    for (int phase = 0; phase < d->shape.stride_w; phase++, line += d->line) {
        char *to = line;
        const void **at = pointers + (ptrdiff_t)phase * d->shape.kh;
        for (int c = phase; c < columns; c += d->shape.stride_w, at += d->run.x_step, to += d->run.channels) {
            if (d->run.channels == 8)
                memcpy(to, *at, 8);
            else
                memcpy(to, *at, 16);
            *at = to;
        }
    }
}

// The pointers of a run's input positions, columns from `left` on: [columns][kh]. A block of few channels reads beyond
// them: positions at the end of x come from a copy.
static void point(const struct depthwise *d, int64_t row, int64_t left, int columns, const void **pointers,
                  char *copies)
{
    size_t position = (size_t)d->run.channels * (size_t)d->size;
    int64_t batch =
        (row - d->first_row / d->shape.out_height * d->shape.out_height) / d->shape.out_height; // counted from d->x
    int64_t top = row % d->shape.out_height * d->shape.stride_h - d->shape.pad_top;
    for (int k = 0; k < d->shape.kh; k++) {
        int64_t in_y = top + (int64_t)k * d->shape.dilation_h;
        bool outside = in_y < 0 || in_y >= d->shape.height;
        const char *line = d->x + (outside ? 0 : (batch * d->shape.height + in_y) * d->shape.width) * (int64_t)position;
        int before = left < 0 ? (int)(left < -columns ? columns : -left) : 0;
        int64_t inside = outside || left >= d->shape.width ? 0 : d->shape.width - left;
        int after = inside < columns ? (int)inside : columns, c = 0;
        for (; c < before && c < columns; c++) pointers[c * d->shape.kh + k] = d->padding;
        for (; c < after; c++) pointers[c * d->shape.kh + k] = line + (left + c) * (int64_t)position;
        for (; c < columns; c++) pointers[c * d->shape.kh + k] = d->padding;
        if (d->run.side_by_side) {
            copy_side_by_side(d, columns, pointers + k, copies + (size_t)k * (size_t)d->shape.stride_w * d->line);
            continue;
        }
        if (d->copies_bytes == 0 || outside) continue;
        size_t reach = (size_t)(d->simd->bytes / d->run.parts);
        for (c = after - 1; c >= before; c--) {
            const char *from = pointers[c * d->shape.kh + k];
            size_t there = (size_t)(d->x_end - from);
            if (there >= reach) break;
            pointers[c * d->shape.kh + k] = memcpy(copies, from, there);
            copies += d->simd->bytes;
        }
    }
}

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct depthwise *d = arg;
    const void **pointers = d->pointers + (ptrdiff_t)worker * d->columns * d->shape.kh;
    char *copies = d->copies + (size_t)worker * d->copies_bytes;
    struct hl_depthwise_run run = d->run;
    size_t y_size = d->size == 1 && !d->hybrid ? 1 : sizeof(float);
    if (d->hybrid)
        run.to_floats = &d->to_floats;
    else
        run.to_bytes = &d->to_bytes;
    run.x = pointers;
    int64_t row = d->first_row + item * d->item_rows, last = row + d->item_rows;
    if (last > d->end) last = d->end;
    for (; row < last; row++)
        for (int j = 0; j < d->shape.out_width; j += RUN) {
            run.count = d->shape.out_width - j < RUN ? d->shape.out_width - j : RUN;
            run.y = d->y + (size_t)(row * d->shape.out_width + j) * (size_t)run.channels * y_size;
            int count = (run.count + run.parts - 1) / run.parts * run.parts;
            int columns = (count - 1) * d->shape.stride_w + (d->shape.kw - 1) * d->shape.dilation_w + 1;
            point(d, row, (int64_t)j * d->shape.stride_w - d->shape.pad_left, columns, pointers, copies);
            if (d->size == 1)
                d->simd->depthwise_integer(&run);
            else
                d->simd->kernels->depthwise_f32(&run);
        }
}

// Rows of output, of all batches, from `first` to `end`.
static void share_rows(TfLiteContext *ctx, struct depthwise *d, int64_t first, int64_t end)
{
    int64_t rows = end - first, threads = hl_thread_count(ctx), items = rows < 2 * threads ? rows : 2 * threads;
    if (rows * d->shape.out_width * d->run.channels < LEAST_OUTPUTS || threads == 1) items = 1;
    d->first_row = first, d->end = end;
    d->item_rows = (rows + items - 1) / items;
    hl_parallel(ctx, (rows + d->item_rows - 1) / d->item_rows, run_rows, d);
}

static void repeat_channels(struct depthwise *d, const char *x)
{
    int64_t count = (int64_t)d->shape.height * d->shape.width * (d->run.channels / d->multiplier);
    int multiplier = d->multiplier;
    if (d->size == 1) {
        for (int64_t i = 0; i < count; i++) memset(d->x_many + i * multiplier, x[i], (size_t)multiplier);
        return;
    }
    const float *values = (const float *)(const void *)x;
    float *many = (float *)(void *)d->x_many;
    for (int64_t i = 0; i < count; i++)
        for (int m = 0; m < multiplier; m++) *many++ = values[i];
}

static TfLiteStatus depthwise_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    struct depthwise *d = state;
    const struct hl_conv_2d *op = node->user_data;
    const char *x = hl_data(hl_input(ctx, node, 0));
    d->y = HL_OUT(char, hl_output(ctx, node, 0));
    if (d->convolution) {
        hl_convolve_run(ctx, d->convolution, x, d->y);
        return kTfLiteOk;
    }
    int64_t batch = (int64_t)d->shape.height * d->shape.width * (d->run.channels / d->multiplier);
    if (!d->hybrid && d->multiplier == 1) {
        d->x = x, d->x_end = x + d->shape.batches * batch * d->size;
        share_rows(ctx, d, 0, (int64_t)d->shape.batches * d->shape.out_height);
        return kTfLiteOk;
    }
    for (int b = 0; b < d->shape.batches; b++) {
        d->x = x + b * batch * d->size;
        if (d->hybrid) {
            const float *values = (const float *)(const void *)x + b * batch;
            int32_t zero = 0;
            hl_quantize_row(&d->simd->kernels->row_loops, op->conv.asymmetric, values, batch, d->x_stored,
                            &d->to_floats.x_scale, &zero);
            d->to_floats.zero = (uint32_t)zero + d->run.flip;
            memset(d->padding, zero, (size_t)d->run.channels + (size_t)d->simd->bytes);
            d->x = (const char *)d->x_stored;
        }
        d->x_end = d->x + batch * d->size;
        if (d->multiplier > 1) {
            repeat_channels(d, d->x);
            d->x = d->x_many, d->x_end = d->x + batch * d->multiplier * d->size;
        }
        share_rows(ctx, d, (int64_t)b * d->shape.out_height, (int64_t)(b + 1) * d->shape.out_height);
    }
    return kTfLiteOk;
}

static void depthwise_release(void *state)
{
    struct depthwise *d = state;
    if (d) hl_convolve_destroy(d->convolution);
    free(d);
}

const struct hl_fast hl_fast_depthwise_conv_2d = {depthwise_prepare, depthwise_invoke, depthwise_release};
