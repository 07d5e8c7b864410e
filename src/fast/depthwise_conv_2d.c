// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D with constant weights: float32, 8-bit (weights of 4 bits, too) or hybrid. The microkernels compute
// runs of neighboring output positions. They find the input through a table of pointers, in which padding is a position
// of zero points. Where an input channel has several outputs, the input is first written out with each channel so many
// times; hybrid input is first quantized. A node of one input channel that is not hybrid is left to convolve.h: 10x8
// taps of 8 outputs (audio/micro_speech_int8) take 33 us here and 9 us as a convolution. So are few channels of bytes,
// whose filter is given zeros for all other channels.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "fast/chain.h"
#include "fast/convolve.h"
#include "fast/depthwise.h"
#include "fast/fast.h"
#include "fast/quantize.h"
#include "fast/simd/simd.h"
#include "ops/common/conv.h"

// Fewer outputs than this take about as long as it takes to share them among threads.
enum { MIN_OUTPUTS = 1500 };
// A chain goes on with about so many bytes of outputs at once, which are still in the first-level cache.
enum { CHAIN_BYTES = 1 << 14 };
// Positions of a run, and the most pointers that a run may need.
enum { RUN = 64, MAX_POINTERS = 1 << 17 };
// Of a vector of any CPU level.
enum { MAX_BYTES = 64 };

struct depthwise {
    void *convolution;         // not NULL: it does everything, and nothing else is set
    struct hl_weights *shared; // the memory of taps, weights, initial and the numbers of rescaling; NULL: the state's
    const struct hl_simd *simd;
    struct hl_conv_shape shape;
    bool hybrid;
    int multiplier; // outputs of an input channel
    int reach;      // integers: bytes that vectors read from a position on
    int columns;    // of the table of pointers: input columns that a run reaches
    int size;       // bytes of a value of x, as it is multiplied
    bool in_pairs;  // floats: two output rows are computed at once
    bool turned;    // a column of the node is a row here
    uint8_t x_zero;
    int excess;                  // what weights have beyond their first layer
    struct hl_depthwise_run run; // all but count, x and y
    struct hl_requantize to_bytes;
    struct hl_unquantize to_floats;
    int32_t *taps;    // [run.taps]
    char *weights;    // integers: [blocks][run.taps][layers][bytes], 4 bytes for each dot product
    char *initial;    // integers: [blocks][bytes] int32; floats: [channels]
    char *padding;    // a position outside the input
    int8_t *x_stored; // hybrid: a batch
    char *x_many;     // a batch with each channel `multiplier` times
    // Of each worker: the input that they are of, where that is known, and pointers [columns][kh].
    struct hl_scratch pointers;
    // Copies of input positions, of each worker: the end of x, where vectors read beyond a position, [2][reach] bytes,
    // or all, [kh][stride_w][line] bytes: those that one tap reads for neighboring outputs lie side by side.
    struct hl_scratch copies;
    int64_t line;
    const struct hl_chain *chain; // that goes on with the outputs; NULL: none
};

// ---- packing ------------------------------------------------------------------------------------

// `count` weights from element `first` on, less their zero point.
static void widen_weights(const TfLiteTensor *w, int64_t first, int64_t count, int16_t *wide)
{
    hl_widen(w->type, hl_data(w), first, count, w->type == kTfLiteUInt8 ? hl_zero(w) : 0, wide);
}

// Weights that do not all fit int8, but lie within 256 neighbors, are stored in layers: a weight is the sum of an int8
// of its own and `excess`, which all share.
static void find_layers(struct depthwise *d, const TfLiteTensor *w)
{
    enum { PIECE = 256 };
    int16_t wide[PIECE];
    const int64_t all = hl_elements(w);
    int low = 0, high = 0;
    if (d->simd->dot_width == 2 || w->type != kTfLiteUInt8) return;
    for (int64_t first = 0, count; first < all; first += count) {
        count = all - first < PIECE ? all - first : PIECE;
        widen_weights(w, first, count, wide);
        for (int64_t i = 0; i < count; i++) {
            low = wide[i] < low ? wide[i] : low;
            high = wide[i] > high ? wide[i] : high;
        }
    }
    d->excess = high > INT8_MAX ? high - INT8_MAX : low < INT8_MIN ? low - INT8_MIN : 0;
    d->run.layers = d->excess == 0 ? 1 : d->excess <= INT8_MAX ? 2 : 3;
}

// Which tap of the window, row by row, is number t in the order of the weights; -1: none. The columns of 3x3 windows
// have a dot product of 4 bytes each.
static int tap_at(const struct depthwise *d, int t)
{
    if (d->run.stride_3x3 && d->simd->dot_width == 4) return t % 4 == 3 ? -1 : t % 4 * 3 + t / 4;
    return t < d->shape.kh * d->shape.kw ? t : -1;
}

// Which channel, from the first one of a block on, is in element i of the block's arrays; -1: none.
struct block_order {
    int count; // elements
    int channel[MAX_BYTES];
};

// The weights of tap t for the channels of a block, which `wide` holds.
static void pack_tap(const struct depthwise *d, const struct block_order *order, int t, const int16_t *wide,
                     char *block)
{
    const int width = d->simd->dot_width, bytes = d->simd->bytes, layers = d->run.layers;
    const int shared = hl_clamp_i32(d->excess, INT8_MIN, INT8_MAX);
    const int64_t first = (int64_t)(t / width) * layers * bytes * width + t % width, layer = (int64_t)bytes * width;
    for (int i = 0; i < order->count; i++) {
        if (order->channel[i] < 0) continue;
        const int64_t at = first + (int64_t)i * width;
        const int16_t value = wide[order->channel[i]];
        if (width == 2) {
            ((int16_t *)block)[at] = value;
            continue;
        }
        ((int8_t *)block)[at] = (int8_t)(value - d->excess);
        if (layers > 1) ((int8_t *)block)[at + layer] = (int8_t)shared;
        if (layers > 2) ((int8_t *)block)[at + 2 * layer] = 1;
    }
}

// All taps of `count` channels from `first` on, and the sums of their weights.
static void pack_block(const struct depthwise *d, const struct block_order *order, const TfLiteTensor *w, int first,
                       int count, char *block, uint32_t *sums)
{
    int16_t wide[MAX_BYTES];
    memset(sums, 0, (size_t)count * sizeof *sums);
    for (int t = 0; t < d->run.taps; t++) {
        const int tap = tap_at(d, t);
        if (tap < 0) continue;
        widen_weights(w, (int64_t)tap * d->run.channels + first, count, wide);
        for (int c = 0; c < count; c++) sums[c] += (uint32_t)wide[c];
        pack_tap(d, order, t, wide, block);
    }
}

// Both are constants in a build without 8-bit types, so that compilers leave the paths for these out.
static bool has_bytes(const struct depthwise *d)
{
    return HL_HAS_BYTES && d->size == 1;
}

static bool is_hybrid(const struct depthwise *d)
{
    return HL_HAS_BYTES && d->hybrid;
}

static int blocks_of(const struct depthwise *d)
{
    return (d->run.channels + d->simd->bytes - 1) / d->simd->bytes;
}

// Element `at` of the arrays, which is of channel c, whose weights have this sum.
static void set_channel(const struct depthwise *d, const struct hl_conv *conv, const TfLiteTensor *w,
                        const TfLiteTensor *bias, int64_t at, int c, uint32_t sum)
{
    if (d->hybrid) {
        const TfLiteFloatArray *w_scales = hl_affine(w)->scale;
        d->to_floats.scales[c] = w_scales->data[w_scales->size > 1 ? c : 0];
        d->to_floats.bias[c] = bias ? HL_IN(float, bias)[c] : 0;
        d->to_floats.w_sums[c] = sum;
        return;
    }
    const uint32_t zero = hl_simd_value(d->simd, d->x_zero ^ d->run.sign_offset);
    ((uint32_t *)d->initial)[at] = (bias ? (uint32_t)HL_IN(int32_t, bias)[c] : 0) - zero * sum;
    hl_requantize_set(conv->rescales[c], &d->to_bytes.multiplier[at], &d->to_bytes.left[at], &d->to_bytes.right[at]);
}

static void pack_integers(const struct depthwise *d, const struct hl_conv *conv, const TfLiteTensor *w,
                          const TfLiteTensor *bias)
{
    const int bytes = d->simd->bytes, channels = d->run.channels;
    const int64_t block_bytes = (int64_t)d->run.taps / d->simd->dot_width * d->run.layers * bytes * 4;
    for (int block = 0; block < blocks_of(d); block++) {
        const int first = block > 0 && (block + 1) * bytes > channels ? channels - bytes : block * bytes;
        const int count = channels - first < bytes ? channels - first : bytes;
        struct block_order order = {.count = bytes};
        uint32_t sums[MAX_BYTES];
        for (int i = 0; i < bytes; i++) {
            const int c = hl_depthwise_channel(i, bytes, d->run.parts);
            order.channel[i] = c < count ? c : -1;
        }
        pack_block(d, &order, w, first, count, d->weights + block * block_bytes, sums);
        for (int i = 0; i < bytes; i++) {
            const int c = order.channel[i] < 0 ? 0 : order.channel[i]; // what is no channel is like the first one
            set_channel(d, conv, w, bias, (int64_t)block * bytes + i, first + c, sums[c]);
        }
    }
}

// Fills the constant arrays.
static void pack(const struct depthwise *d, const struct hl_conv *conv, const TfLiteTensor *w, const TfLiteTensor *bias)
{
    const bool floats = !has_bytes(d);
    for (int t = 0; t < d->run.taps; t++) {
        int tap = floats ? t : tap_at(d, t);
        if (tap < 0) tap = 0;
        d->taps[t] = tap % d->shape.kw * d->shape.dilation_w * d->shape.kh + tap / d->shape.kw;
    }
    if (!floats)
        pack_integers(d, conv, w, bias);
    else if (bias)
        memcpy(d->initial, hl_data(bias), (size_t)d->run.channels * 4);
}

// ---- making -------------------------------------------------------------------------------------

// Padding is multiplied, too: with weights that are not finite, its zeros would not stay zeros.
static bool all_finite(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

// Integers of few channels fill vectors with several positions.
static void describe_integers(struct depthwise *d, const struct hl_conv *conv, const TfLiteTensor *x,
                              const TfLiteTensor *w, const TfLiteTensor *y)
{
    const struct hl_simd *simd = d->simd;
    const int channels = d->run.channels;
    // 32 channels gain nothing. (MobileNet v1 0.25 quantized, all of it: 1.49 ms, 1.56 ms without.)
    d->run.side_by_side = channels < simd->bytes && (channels == 8 || channels == 16);
    int least = d->run.side_by_side ? channels : 16;
    while (simd->bytes / d->run.parts > least && channels <= simd->bytes / d->run.parts / 2) d->run.parts *= 2;
    d->reach = simd->bytes / d->run.parts;
    d->x_zero = d->hybrid ? 0 : (uint8_t)hl_zero(x);
    d->run.sign_offset = hl_simd_sign_offset(simd, x->type == kTfLiteUInt8);
    find_layers(d, w);
    if (d->shape.kh == 3 && d->shape.kw == 3 && d->shape.dilation_w == 1 && d->shape.stride_w <= 2)
        d->run.stride_3x3 = d->shape.stride_w;
    d->to_bytes.zero = d->hybrid ? 0 : hl_zero(y);
    d->to_bytes.low = conv->low, d->to_bytes.high = conv->high;
    d->to_bytes.right_only = !d->hybrid && hl_requantize_right_only(conv->rescales, channels);
    d->to_floats.two_steps = conv->two_steps;
    d->to_floats.low = conv->low_f32, d->to_floats.high = conv->high_f32;
}

// Everything but the memory; run.taps is 0 where the table of pointers would be too large.
static void describe(struct depthwise *d, const struct hl_conv_2d *op, const struct hl_conv_shape *s,
                     const TfLiteTensor *x, const TfLiteTensor *w, const TfLiteTensor *y)
{
    const bool floats = hl_conv_is_f32(&op->conv);
    *d = (struct depthwise){
        .simd = hl_simd_best(floats ? s->outputs : INT_MAX),
        .shape = *s,
        .hybrid = op->conv.mode == HL_CONV_HYBRID,
        .multiplier = s->outputs / s->channels,
        .size = floats ? sizeof(float) : 1,
        .run = {.channels = s->outputs, .low = op->conv.low_f32, .high = op->conv.high_f32, .layers = 1, .parts = 1},
    };
    const int width = floats ? 1 : d->simd->dot_width;
    if (floats && s->dilation_w == 1) d->run.kw = s->kw, d->run.stride = s->stride_w;
    if (!floats) describe_integers(d, &op->conv, x, w, y);
    d->in_pairs = floats && s->kh == s->kw && s->dilation_h == 1 && s->dilation_w == 1 && s->stride_h == s->stride_w &&
                  d->simd->kernels->depthwise_takes_pair(s->outputs, (s->out_width - 1) % RUN + 1, s->kw, s->stride_w);
    int64_t taps = ((int64_t)s->kh * s->kw + width - 1) / width * width;
    int64_t columns = (int64_t)(RUN - 1) * s->stride_w + (int64_t)(s->kw - 1) * s->dilation_w + 1;
    bool fits = taps <= MAX_POINTERS && columns * s->kh <= MAX_POINTERS;
    d->run.taps = fits ? (int)taps : 0;
    d->columns = fits ? (int)columns : 0;
    d->run.x_step = (ptrdiff_t)s->stride_w * s->kh;
}

// Up to so many channels of bytes are faster so. (Int8, 3x3 of 64x64, 2 channels: 38.5 us, and 19.2 so; 3x3 with stride
// 2 of 96x96, 4 channels: 24.4, 12.8.)
enum { MAX_DENSE_CHANNELS = 4 };

// The filter [outputs][taps][channels] of the convolution that a depthwise one is.
static void fill_dense(const struct hl_conv_shape *s, const TfLiteTensor *w, int zero, uint8_t *dense)
{
    const int64_t taps = (int64_t)s->kh * s->kw;
    memset(dense, zero, (size_t)(taps * s->outputs * s->channels));
    for (int o = 0; o < s->outputs; o++)
        for (int64_t t = 0; t < taps; t++, dense += s->channels)
            dense[o / (s->outputs / s->channels)] = HL_IN(uint8_t, w)[t * s->outputs + o];
}

static TfLiteStatus create_convolution(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                       void **convolution, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    struct hl_convolve_params params = hl_convolve_conv_params(ctx, node, &op->conv);
    params.outputs_last = shape->channels == 1;
    if (params.outputs_last) return hl_convolve_create(ctx, node, shape, &params, convolution, bytes);
    const size_t size = (size_t)hl_elements(params.filter) * (size_t)shape->channels;
    uint8_t *dense = malloc(size);
    HL_REQUIRE(ctx, node, dense, "no memory for the %zu bytes of a filter", size);
    fill_dense(shape, params.filter, params.filter_zero, dense);
    TfLiteTensor filter = *params.filter;
    filter.data.raw = (char *)dense;
    params.filter = &filter;
    struct hl_conv_shape whole = *shape;
    whole.filter_channels = shape->channels;
    TfLiteStatus status = hl_convolve_create(ctx, node, &whole, &params, convolution, bytes);
    free(dense);
    return status;
}

static TfLiteStatus prepare_convolution(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                        void **state, size_t *bytes)
{
    struct depthwise made = {0};
    HL_TRY(create_convolution(ctx, node, shape, &made.convolution, bytes));
    if (!made.convolution) return kTfLiteOk;
    TfLiteStatus status = hl_fast_make(ctx, node, sizeof made, state);
    *bytes += sizeof made;
    if (*state)
        *(struct depthwise *)*state = made;
    else
        hl_convolve_destroy(made.convolution);
    return status;
}

static void list_parts(struct depthwise *d, int threads, struct hl_parts *parts)
{
    const struct hl_conv_shape *s = &d->shape;
    const bool floats = !has_bytes(d);
    const int width = d->simd->bytes, channels = d->run.channels;
    const int64_t columns = floats ? 0 : (int64_t)blocks_of(d) * width,
                  batch = (int64_t)s->height * s->width * channels;
    hl_parts_add_constant(parts, &d->taps, d->run.taps, 1, sizeof *d->taps);
    hl_parts_add_constant(parts, &d->weights, columns * d->run.layers, d->run.taps / (floats ? 1 : d->simd->dot_width),
                          4);
    hl_parts_add_constant(parts, &d->initial, floats ? channels : columns, 1, 4);
    hl_parts_add_constant(parts, &d->to_bytes.multiplier, d->hybrid ? 0 : columns, 1, sizeof(int32_t));
    hl_parts_add_constant(parts, &d->to_bytes.left, d->hybrid ? 0 : columns, 1, sizeof(int32_t));
    hl_parts_add_constant(parts, &d->to_bytes.right, d->hybrid ? 0 : columns, 1, sizeof(int32_t));
    hl_parts_add_constant(parts, &d->to_floats.scales, d->hybrid ? columns : 0, 1, sizeof(float));
    hl_parts_add_constant(parts, &d->to_floats.bias, d->hybrid ? columns : 0, 1, sizeof(float));
    hl_parts_add_constant(parts, &d->to_floats.w_sums, d->hybrid ? columns : 0, 1, sizeof(uint32_t));
    hl_parts_add(parts, &d->padding, channels + width, 1, (size_t)d->size);
    hl_parts_add(parts, &d->x_stored, d->hybrid ? batch / d->multiplier : 0, 1, 1);
    hl_parts_add(parts, &d->x_many, d->multiplier > 1 ? batch : 0, 1, (size_t)d->size);
    const int64_t height = s->kh + (d->in_pairs ? s->stride_h : 0);
    hl_parts_add_scratch(parts, &d->pointers, threads, 1 + d->columns * height, 1, sizeof(void *));
    d->line = (int64_t)(d->columns / s->stride_w + 1) * channels + width;
    if (d->run.side_by_side)
        hl_parts_add_scratch(parts, &d->copies, threads, (int64_t)s->kh * s->stride_w, d->line, 1);
    else if (!floats && channels < width)
        hl_parts_add_scratch(parts, &d->copies, threads, 2, d->reach, 1);
}

// w: the node's filter, as DEPTHWISE_CONV_2D has it. (Columns, and as rows: int8, 128 channels, 5x1 of 28 rows 2.7 us,
// 1.2; 10x1 of 24 rows 2.8, 1.2; 64 channels, 9x1 of 1,000 rows 68, 17.)
static TfLiteStatus prepare_shape(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                  const TfLiteTensor *w, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    const bool floats = hl_conv_is_f32(&op->conv);
    if (op->conv.mode == HL_CONV_INT16 || !hl_is_packable(w) || (bias && !hl_is_packable(bias)) || hl_elements(y) == 0)
        return kTfLiteOk;
    if (floats && !all_finite(HL_IN(float, w), hl_elements(w))) return kTfLiteOk;
    const bool dense = HL_HAS_BYTES && op->conv.mode == HL_CONV_8BIT && w->type != kTfLiteInt4 &&
                       shape->channels <= MAX_DENSE_CHANNELS;
    if (dense || (shape->channels == 1 && op->conv.mode != HL_CONV_HYBRID))
        return prepare_convolution(ctx, node, shape, state, bytes);
    struct depthwise made, *d = &made;
    struct hl_parts parts = {.weights = &made.shared};
    const bool turns = hl_conv_turns(shape, hl_thread_count(ctx));
    const struct hl_conv_shape runs = turns ? hl_conv_as_row(shape) : *shape;
    hl_digest_add(&parts.how, &runs, sizeof runs); // with the padding of a PAD that was taken over
    describe(d, op, &runs, x, w, y);
    d->turned = turns;
    if (d->run.taps == 0) return kTfLiteOk;
    list_parts(d, hl_thread_count(ctx), &parts);
    HL_TRY(hl_fast_build(ctx, node, &parts, d, sizeof *d, state, bytes));
    d = *state;
    if (!d) return kTfLiteOk;
    if (!floats) memset(d->padding, d->x_zero, (size_t)d->run.channels + (size_t)d->simd->bytes);
    if (!parts.filled) pack(d, &op->conv, w, bias);
    hl_fast_share(&parts, &made, d, bytes);
    d->run.tap = d->taps;
    d->run.w = floats ? hl_data(w) : d->weights;
    d->run.initial = d->initial;
    return kTfLiteOk;
}

static TfLiteStatus depthwise_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    struct hl_conv_shape shape = op->shape;
    const bool pads = hl_fast_pads(ctx, node, &op->conv, shape.channels == 1, &shape);
    HL_TRY(prepare_shape(ctx, node, &shape, hl_input(ctx, node, 1), state, bytes));
    if (pads && *state) hl_take_over(ctx, node);
    return kTfLiteOk;
}

// The filter of CONV_2D, [outputs][taps], is turned round. (ConvNeXt's 18 such nodes of 7x7, and four others, take one
// thread of a Zen 4 45.4 ms as groups, and 3.6 so.)
TfLiteStatus hl_depthwise_of_groups(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                    void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1);
    const int64_t taps = (int64_t)shape->kh * shape->kw, outputs = shape->outputs;
    if (!HL_HAS_BYTES || op->conv.mode != HL_CONV_8BIT || (w->type != kTfLiteInt8 && w->type != kTfLiteUInt8))
        return kTfLiteOk;
    if (shape->filter_channels != 1 || shape->channels <= MAX_DENSE_CHANNELS) return kTfLiteOk;
    uint8_t *turned = malloc((size_t)(taps * outputs));
    HL_REQUIRE(ctx, node, turned, "no memory for the %lld bytes of a filter", (long long)(taps * outputs));
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t t = 0; t < taps; t++) turned[t * outputs + o] = HL_IN(uint8_t, w)[o * taps + t];
    TfLiteTensor filter = *w;
    filter.data.raw = (char *)turned;
    TfLiteStatus status = prepare_shape(ctx, node, shape, &filter, state, bytes);
    free(turned);
    return status;
}

// ---- running ------------------------------------------------------------------------------------

// Rows of output that are computed from one input: of all batches, or of the batch that has been written out.
struct pass {
    const struct depthwise *d;
    const char *x, *x_end; // as it is multiplied
    char *y;               // begins with row y_row of the output
    int64_t y_row, first_row, end_row, item_rows, first_batch;
    struct hl_unquantize to_floats; // with what the batch has
    struct hl_chain_run chain;
};

// The windows of an output row. (To find them for each line again takes as long as the products: it divides.)
struct window {
    const char *image;
    int64_t top; // its first line, above the image where it is negative
};

static struct window window_of(const struct pass *pass, int64_t row)
{
    const struct hl_conv_shape *s = &pass->d->shape;
    const int64_t image = row < s->out_height ? 0 : row / s->out_height; // small layers feel the division
    return (struct window){
        .image = pass->x + (image - pass->first_batch) * s->height * s->width * pass->d->run.channels * pass->d->size,
        .top = (row - image * s->out_height) * s->stride_h - s->pad_top,
    };
}

// Where the input row lies that line k of the windows reads; NULL: outside of the input.
static const char *input_line(const struct depthwise *d, const struct window *window, int k)
{
    const int64_t in_y = window->top + (int64_t)k * d->shape.dilation_h;
    if (in_y < 0 || in_y >= d->shape.height) return NULL;
    return window->image + in_y * d->shape.width * d->run.channels * d->size;
}

// Positions that lie side by side are always the same copies, which copy_lines fills for each run.
static void point_to_copies(const struct depthwise *d, const void **pointers, char *copies)
{
    const int stride = d->shape.stride_w;
    for (int c = 0; c < d->columns; c++)
        for (int k = 0; k < d->shape.kh; k++)
            *pointers++ = copies + (k * stride + c % stride) * d->line + (int64_t)(c / stride) * d->run.channels;
}

// Copies `count` positions of 8 or 16 bytes that lie `step` bytes apart.
static void copy_positions(const char *from, ptrdiff_t step, int64_t count, int channels, char *to)
{
    if (step == channels)
        memcpy(to, from, (size_t)(count * channels));
    else if (channels == 8)
        for (int64_t i = 0; i < count; i++) memcpy(to + i * 8, from + i * step, 8);
    else
        for (int64_t i = 0; i < count; i++) memcpy(to + i * 16, from + i * step, 16);
}

// How many of the columns first, first + stride ... are below `end`.
static int64_t columns_below(int64_t end, int first, int stride)
{
    return end <= first ? 0 : (end - first - 1) / stride + 1;
}

// Copies the input positions of a run: of each row of windows, those that one tap reads for neighboring outputs. (Int8,
// 3x3 with stride 2 of 112x112, 16 channels: 25.7 us with pointers that are set for each row, 17.5 so.)
static void copy_lines(const struct pass *pass, int64_t row, int64_t left, int columns, char *lines)
{
    const struct depthwise *d = pass->d;
    const int stride = d->shape.stride_w, channels = d->run.channels;
    const struct window window = window_of(pass, row);
    for (int phase = 0; phase < stride; phase++) {
        const int64_t all = columns_below(columns, phase, stride);
        const int64_t below = columns_below(-left, phase, stride);
        const int64_t inside = columns_below(d->shape.width - left, phase, stride);
        for (int k = 0; k < d->shape.kh; k++) {
            const char *from = input_line(d, &window, k);
            char *line = lines + (k * stride + phase) * d->line;
            const int64_t before = below > all || !from ? all : below;
            int64_t end = inside > all ? all : inside;
            if (end < before) end = before;
            memset(line, d->padding[0], (size_t)(before * channels));
            if (end > before)
                copy_positions(from + (left + phase + before * stride) * channels, (ptrdiff_t)stride * channels,
                               end - before, channels, line + before * channels);
            memset(line + end * channels, d->padding[0], (size_t)((all - end) * channels));
        }
    }
}

// Copies the last bytes of x, beyond which vectors may read, so that they end `reach` bytes after `copies`.
static void copy_end(const struct pass *pass, char *copies)
{
    const size_t reach = (size_t)pass->d->reach, all = (size_t)(pass->x_end - pass->x);
    const size_t count = all < reach ? all : reach;
    memcpy(copies + reach - count, pass->x_end - count, count);
}

// Lets pointers to the positions of a line that lie so close to the end of x point to its copy: those below column
// `after` whose pointers are `height` apart.
static void point_to_end(const struct pass *pass, const void **pointers, int before, int after, int height,
                         const char *copies)
{
    for (int c = after - 1; c >= before; c--) {
        const char *from = pointers[(ptrdiff_t)c * height];
        const ptrdiff_t there = pass->x_end - from;
        if (there >= pass->d->reach) break;
        pointers[(ptrdiff_t)c * height] = copies + pass->d->reach - there;
    }
}

// Sets the pointers to a run's input positions, columns from `left` on: [columns][height]. Vectors reach beyond a
// position of few channels: those at the end of x are read in a copy.
static void point(const struct pass *pass, int64_t row, int64_t left, int columns, int height, const void **pointers,
                  const char *copies)
{
    const struct depthwise *d = pass->d;
    const int64_t position = (int64_t)d->run.channels * d->size;
    const int before = left >= 0 ? 0 : left < -columns ? columns : (int)-left; // columns left of the input
    const int64_t inside = left < d->shape.width ? d->shape.width - left : 0;
    const int after = inside < columns ? (int)inside : columns; // the first column right of it
    const void *const padding = d->padding;
    const struct window window = window_of(pass, row);
    const int64_t line = d->shape.width * position, lines = d->shape.height;
    int64_t in_y = window.top, at = in_y * line + left * position; // bytes from the image on
    for (int k = 0; k < height; k++, pointers++, in_y += d->shape.dilation_h, at += d->shape.dilation_h * line) {
        const bool outside = in_y < 0 || in_y >= lines;
        const void **to = pointers;
        int c = 0;
        for (; c < (outside ? columns : before); c++, to += height) *to = padding;
        if (outside) continue;
        for (; c < after; c++, to += height) *to = window.image + (at + c * position);
        for (; c < columns; c++, to += height) *to = padding;
        if (copies) point_to_end(pass, pointers, before, after, height, copies);
    }
}

static void make_rows(const struct pass *pass, int64_t row, int64_t last, int worker)
{
    const struct depthwise *d = pass->d;
    const struct hl_conv_shape *s = &d->shape;
    const void **known = hl_scratch_of(&d->pointers, worker), **pointers = known + 1;
    char *copies = hl_scratch_of(&d->copies, worker);
    // The pointers of a node that is one run stay right while its input stays where it is. (A wake word with six such
    // nodes of 5 to 23 taps, all of it on a Zen 4: 2.77 us, 2.45 so.)
    const bool one_run = s->batches == 1 && s->out_height == 1 && s->out_width <= RUN;
    if (copies && !d->run.side_by_side) copy_end(pass, copies);
    struct hl_depthwise_run run = d->run;
    size_t y_size = has_bytes(d) && !d->hybrid ? 1 : sizeof(float);
    if (d->hybrid)
        run.to_floats = &pass->to_floats;
    else
        run.to_bytes = &d->to_bytes;
    run.x = pointers;
    run.y_row = (ptrdiff_t)s->out_width * run.channels;
    if (run.side_by_side) point_to_copies(d, pointers, copies);
    const int64_t row_bytes = (int64_t)s->out_width * run.channels * (int64_t)y_size;
    const int64_t together = pass->chain.chain && row_bytes < CHAIN_BYTES ? CHAIN_BYTES / row_bytes : 1;
    int64_t done = row;
    for (int rows; row < last; row += rows) {
        rows = d->in_pairs && row + 1 < last && (row + 1) % s->out_height > 0 ? 2 : 1;
        run.height = s->kh + (rows - 1) * s->stride_h;
        for (int j = 0; j < s->out_width; j += RUN) {
            run.count = s->out_width - j < RUN ? s->out_width - j : RUN;
            run.y = pass->y + (size_t)((row - pass->y_row) * s->out_width + j) * (size_t)run.channels * y_size;
            int count = (run.count + run.parts - 1) / run.parts * run.parts;
            int columns = (count - 1) * s->stride_w + (s->kw - 1) * s->dilation_w + 1;
            const int64_t left = (int64_t)j * s->stride_w - s->pad_left;
            if (run.side_by_side)
                copy_lines(pass, row, left, columns, copies);
            else if (*known != pass->x)
                point(pass, row, left, columns, run.height, pointers, copies);
            if (has_bytes(d))
                d->simd->depthwise_integer(&run);
            else if (rows == 2)
                d->simd->kernels->depthwise_pair_f32(&run);
            else
                d->simd->kernels->depthwise_f32(&run);
        }
        if (row + rows - done < together && row + rows < last) continue;
        hl_chain_rows(&pass->chain, done * s->out_width, (row + rows - done) * s->out_width);
        done = row + rows;
    }
    if (one_run) *known = pass->x;
}

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct pass *pass = arg;
    const int64_t row = pass->first_row + item * pass->item_rows, last = row + pass->item_rows;
    make_rows(pass, row, last < pass->end_row ? last : pass->end_row, worker);
}

// Shares rows [first, end) of the output, counted through all batches, among threads.
static void share_rows(TfLiteContext *ctx, struct pass *pass, int64_t first, int64_t end)
{
    const struct depthwise *d = pass->d;
    const int64_t rows = end - first;
    pass->first_row = first, pass->end_row = end;
    pass->first_batch = first / d->shape.out_height;
    pass->item_rows = hl_piece(ctx, rows, rows * d->shape.out_width * d->run.channels >= MIN_OUTPUTS);
    hl_parallel(ctx, (rows + pass->item_rows - 1) / pass->item_rows, run_rows, pass);
}

static void repeat_channels(const struct depthwise *d, const char *x)
{
    int64_t count = (int64_t)d->shape.height * d->shape.width * (d->run.channels / d->multiplier);
    int multiplier = d->multiplier;
    if (has_bytes(d)) {
        for (int64_t i = 0; i < count; i++) memset(d->x_many + i * multiplier, x[i], (size_t)multiplier);
        return;
    }
    const float *values = (const float *)(const void *)x;
    float *many = (float *)(void *)d->x_many;
    for (int64_t i = 0; i < count; i++)
        for (int m = 0; m < multiplier; m++) *many++ = values[i];
}

// Makes one batch what is multiplied: int8 of hybrid input, and all of the outputs' channels.
static void write_out(const TfLiteContext *ctx, struct pass *pass, bool asymmetric, const char *x)
{
    const struct depthwise *d = pass->d;
    const int64_t batch = (int64_t)d->shape.height * d->shape.width * d->shape.channels;
    pass->x = x;
    if (is_hybrid(d)) {
        int32_t zero = 0;
        hl_quantize_rows(ctx, &d->simd->kernels->row_kernels, asymmetric, (const float *)(const void *)x, 1, batch, 0,
                         d->x_stored, &pass->to_floats.x_scale, &zero);
        pass->to_floats.zero = (uint32_t)zero + d->run.sign_offset;
        memset(d->padding, zero, (size_t)d->run.channels + (size_t)d->simd->bytes);
        pass->x = (const char *)d->x_stored;
    }
    if (d->multiplier > 1) {
        repeat_channels(d, pass->x);
        pass->x = d->x_many;
    }
    pass->x_end = pass->x + batch * d->multiplier * d->size;
}

static TfLiteStatus depthwise_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct depthwise *d = state;
    const struct hl_conv_2d *op = node->user_data;
    const char *x = hl_data(hl_read_input(ctx, node));
    char *const y = hl_result(ctx, node)->data.raw;
    if (d->convolution) {
        hl_convolve_run(ctx, d->convolution, x, y);
        return kTfLiteOk;
    }
    struct pass pass;
    pass.d = d, pass.x = x, pass.y = y, pass.y_row = 0, pass.to_floats = d->to_floats;
    hl_chain_begin(ctx, d->chain, y, &pass.chain);
    const struct hl_conv_shape *s = &d->shape;
    const int64_t batch = (int64_t)s->height * s->width * s->channels * (d->hybrid ? (int)sizeof(float) : d->size);
    if (!d->hybrid && d->multiplier == 1) {
        pass.x_end = x + s->batches * batch;
        share_rows(ctx, &pass, 0, (int64_t)s->batches * s->out_height);
        return kTfLiteOk;
    }
    for (int b = 0; b < s->batches; b++) {
        write_out(ctx, &pass, op->conv.asymmetric, x + b * batch);
        share_rows(ctx, &pass, (int64_t)b * s->out_height, (int64_t)(b + 1) * s->out_height);
    }
    return kTfLiteOk;
}

// Hybrid input is quantized first, and channels that have several outputs are written out: both for all lines.
int hl_depthwise_lines_at_once(const void *depthwise)
{
    const struct depthwise *d = depthwise;
    return d->convolution || d->hybrid || d->multiplier > 1 || d->turned ? 0 : d->in_pairs ? 2 : 1;
}

void hl_depthwise_lines(const void *depthwise, const void *x, int64_t line, int64_t count, void *y, int worker)
{
    const struct depthwise *d = depthwise;
    const struct hl_conv_shape *s = &d->shape;
    struct pass pass;
    pass.d = d, pass.x = x, pass.y = y, pass.y_row = line, pass.first_batch = 0, pass.chain.chain = NULL;
    pass.x_end = pass.x + (int64_t)s->batches * s->height * s->width * s->channels * d->size;
    make_rows(&pass, line, line + count, worker);
}

static void depthwise_release(void *state)
{
    struct depthwise *d = state;
    if (!d) return;
    hl_convolve_destroy(d->convolution);
    hl_weights_release(d->shared);
    free(d);
}

static bool depthwise_lead(void *state, const struct hl_chain *chain)
{
    struct depthwise *d = state;
    if (d->convolution) return hl_convolve_lead(d->convolution, chain);
    d->chain = chain;
    return true;
}

const struct hl_fast hl_fast_depthwise_conv_2d = {
    .prepare = depthwise_prepare,
    .invoke = depthwise_invoke,
    .release = depthwise_release,
    .lead = depthwise_lead,
};
