// SPDX-License-Identifier: Apache-2.0
// Packing, copying or gathering, and the order of tiles.
// Weights of a group of channels lie in panels of as many output channels as a tile has columns, padded with zeros. A
// block of output positions, small enough for the second-level cache, meets one panel after the other.
// Integers: the rows of x are packed as the level multiplies them. Pairs of int16 have lost their zero points; bytes
// keep them, which the start of the sums (weights) and the sum of each row (where the weights have a zero point) put
// right: sum (x - zx)(w - zw) = sum x w - zx sum (w - zw) - zw sum x, modulo 2^32.
// Hybrid nodes are such integers, too: x is made int8 first, each batch with its own zero point, and sums leave as
// floats.
#include "fast/convolve.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/common/dot.h"

struct hl_convolve {
    const struct hl_simd *simd;
    struct hl_conv_shape shape;
    bool floats; // throughout
    bool hybrid, asymmetric, two_steps;
    bool x_unsigned;
    bool in_place; // rows of x are not gathered
    bool direct;   // nor packed
    bool little;   // floats, and so few products that they may be as the reference kernel's
    bool windowed; // floats: windows inside of the image are read where they lie, from neighbor to neighbor
    int first_i, end_i, first_j, end_j; // the positions of these
    bool copied; // integers: the input is packed once, with its padding, and windows are read in the copy
    int64_t copy_height, copy_width;
    int copy_items;      // rows of it are shared among threads in so many parts
    int groups, outputs; // output channels of one group
    int panels;          // of one group
    int64_t depth;       // products of one sum
    int64_t segment;     // products of one piece of x, and steps of it
    int64_t segment_steps;
    int64_t steps;     // of a tile, in all segments
    int64_t positions; // rows of y
    int64_t block;     // rows gathered at once
    uint8_t x_zero;    // as stored
    uint8_t flip;      // makes stored bytes those that are multiplied
    int32_t w_zero;    // of the bytes that are multiplied
    float low, high;
    struct hl_requantize by;
    // In one piece of memory behind the struct.
    char *weights;                      // [groups][panels][steps][columns][4 bytes]
    char *starts;                       // [groups][panels][columns][4 bytes]
    int32_t *multiplier, *left, *right; // [groups][panels][columns]
    double *scales;                     // [groups][panels][columns], NULL: rescaled
    // Hybrid: [groups][panels][columns], of weights; [batches], of what x has become; and that itself.
    float *w_scales, *bias;
    uint32_t *w_sums;
    float *x_scales;
    int32_t *x_zeros;
    int8_t *x_stored;
    char *copy; // [batches][copy_height][copy_width][channels], bytes or int16
    // Scratch of each worker: bytes of it, and where its parts lie.
    char *scratch;
    size_t scratch_bytes, gathered, sums, row_sums;
    // The work is cut into items: blocks of rows, of which there are so many, times groups, times parts of the panels.
    int64_t blocks;
    int parts;
};

// What one worker has: of one block and group.
struct scratch {
    char *rows;               // [block][steps][4 bytes]
    uint8_t *gathered;        // [depth] bytes
    int32_t *sums, *row_sums; // [rows of a tile][columns], [block]
};

// A block of gathered rows takes so much, or one tile.
enum { BLOCK_BYTES = 128 << 10 };

// So few products gain nothing by being fused, and small networks are looked at to the last digits. (27 terms of
// hundreds that cancel, litert_testdata/quantization/single_conv_weights_min_minus_127_max_plus_127: 7e-5 off when
// fused.)
enum { FEW_PRODUCTS = 4096 };

// ---- packing ------------------------------------------------------------------------------------

static void pack_floats(const struct hl_convolve *c, const struct hl_convolve_node *node)
{
    int columns = c->simd->columns;
    const float *bias = node->bias ? HL_IN(float, node->bias) : NULL;
    for (int64_t p = 0; p < (int64_t)c->groups * c->panels; p++) {
        int64_t group = p / c->panels, first = p % c->panels * columns;
        float *panel = (float *)c->weights + p * c->steps * columns, *start = (float *)c->starts + p * columns;
        for (int64_t n = 0; n < columns && first + n < c->outputs; n++) {
            int64_t output = group * c->outputs + first + n;
            const float *w = HL_IN(float, node->filter) + (node->outputs_last ? output : output * c->depth);
            int64_t step = node->outputs_last ? c->outputs : 1;
            for (int64_t k = 0; k < c->depth; k++) panel[k * columns + n] = w[k * step];
            start[n] = bias ? bias[output] : 0;
        }
    }
}

// The weights of one output channel, column n of a panel. Their sum, less their zero points.
static uint32_t pack_column(const struct hl_convolve *c, const struct hl_convolve_node *node, int64_t output,
                            char *panel, int64_t n)
{
    enum { PIECE = 256 };
    int columns = c->simd->columns, group = c->simd->dot_width;
    int16_t wide[PIECE];
    uint32_t sum = 0;
    int64_t piece = node->outputs_last ? 1 : PIECE;
    for (int64_t k = 0; k < c->depth; k++) {
        int64_t first = node->outputs_last ? k * c->outputs + output : output * c->depth + k;
        if (k % piece == 0)
            hl_widen(node->filter->type, hl_data(node->filter), first, c->depth - k < piece ? c->depth - k : piece,
                     node->filter_zero, wide);
        int16_t value = wide[k % piece];
        int64_t step = k / c->segment * c->segment_steps + k % c->segment / group;
        int64_t place = (step * columns + n) * group + k % c->segment % group;
        if (group == 4)
            ((int8_t *)panel)[place] = (int8_t)(value + c->w_zero);
        else
            ((int16_t *)panel)[place] = value;
        sum += (uint32_t)value;
    }
    return sum;
}

static void pack_integers(const struct hl_convolve *c, const struct hl_convolve_node *node)
{
    int columns = c->simd->columns;
    const int32_t *bias = node->bias && !c->hybrid ? HL_IN(int32_t, node->bias) : NULL;
    uint32_t x_zero = c->simd->dot_width == 4 ? hl_simd_value(c->simd, c->x_zero ^ c->flip) : 0;
    for (int64_t p = 0; p < (int64_t)c->groups * c->panels; p++) {
        int64_t group = p / c->panels, first = p % c->panels * columns;
        char *panel = c->weights + p * c->steps * columns * 4;
        for (int64_t n = 0; n < columns && first + n < c->outputs; n++) {
            int64_t output = group * c->outputs + first + n, at = p * columns + n;
            uint32_t start = bias ? (uint32_t)bias[output] : 0, sum = pack_column(c, node, output, panel, n);
            ((uint32_t *)c->starts)[at] = start - x_zero * sum;
            if (c->hybrid) {
                c->w_scales[at] = node->filter_scales[output * node->filter_scale_step];
                c->bias[at] = node->bias ? HL_IN(float, node->bias)[output] : 0;
                c->w_sums[at] = sum;
                continue;
            }
            if (c->scales) {
                c->scales[at] = node->scales[output];
                continue;
            }
            hl_requantize_set(node->rescales[output], &c->multiplier[at], &c->left[at], &c->right[at]);
        }
    }
}

// Bytes of a packed value.
static size_t copied_element(const struct hl_convolve *c)
{
    return c->simd->dot_width == 4 ? 1 : sizeof(int16_t);
}

// ---- making -------------------------------------------------------------------------------------

// Blocks of rows as the cache wants them, or fewer rows so that all threads have work, and parts of panels where that
// is not enough. Little work stays in one item.
static void cut_work(struct hl_convolve *c, int threads)
{
    int rows = c->simd->rows;
    double products = (double)c->positions * (double)c->depth * c->shape.outputs / c->groups;
    if (products < HL_LEAST_PRODUCTS) threads = 1;
    int64_t row_bytes = c->copied ? 4 * c->segment_steps / c->shape.kw : 4 * c->steps; // that the others do not have
    int64_t tiles = BLOCK_BYTES / (row_bytes > 0 ? row_bytes : 1) / rows, all = (c->positions + rows - 1) / rows;
    int64_t each = threads > 1 ? all / (2 * threads) : all;
    if (tiles > each) tiles = each;
    c->block = (tiles > 0 ? tiles : 1) * rows;
    int width = c->shape.out_width;
    if (c->copied && c->block >= width) c->block = (c->block + width / 2) / width * width; // tiles end where rows do
    if (c->block > c->positions) c->block = c->positions;
    c->blocks = (c->positions + c->block - 1) / c->block;
    int64_t wanted = c->blocks * c->groups < threads ? threads : 1;
    c->parts = wanted < c->panels ? (int)wanted : c->panels;
    int64_t copied_rows = c->shape.batches * c->copy_height;
    c->copy_items = copied_rows < threads ? (int)copied_rows : threads;
}

// Windows that overlap, and whose columns are next to each other: each value is packed once, not once a window. (A
// ResNet of 9 layers of int8, mlperf_tiny/pretrainedResnet_quant: 0.159 ms with all gathered, 0.094 ms.)
static void find_copy(struct hl_convolve *c)
{
    // Of output rows, which tiles must not leave; and of the input with its padding: dilation reaches as far as a file
    // says.
    enum { LEAST_WIDTH = 4, MOST_PADDED = 4 };
    const struct hl_conv_shape *s = &c->shape;
    c->segment = c->depth;
    c->copied = !c->floats && c->groups == 1 && s->dilation_w == 1 && c->w_zero == 0 && s->out_width >= LEAST_WIDTH &&
                (int64_t)s->kh * s->kw > (int64_t)s->stride_h * s->stride_w;
    if (!c->copied) return;
    c->segment = (int64_t)s->kw * s->channels;
    int64_t reach_h = (int64_t)(s->out_height - 1) * s->stride_h + (int64_t)(s->kh - 1) * s->dilation_h + 1;
    int64_t reach_w = (int64_t)(s->out_width - 1) * s->stride_w + s->kw;
    int64_t height = (int64_t)s->height + s->pad_top, width = (int64_t)s->width + s->pad_left;
    c->copy_height = reach_h > height ? reach_h : height;
    c->copy_width = reach_w > width ? reach_w : width;
    if ((double)c->copy_height * (double)c->copy_width <= MOST_PADDED * (double)s->height * s->width) return;
    c->copied = false;
    c->segment = c->depth;
}

// Rows of the output must be longer than tiles, for their ends make small ones.
static void find_inside(struct hl_convolve *c)
{
    const struct hl_conv_shape *s = &c->shape;
    int64_t reach_h = (int64_t)(s->kh - 1) * s->dilation_h, reach_w = s->kw - 1;
    c->windowed = c->floats && !c->in_place && s->dilation_w == 1 && c->groups == 1 &&
                  s->out_width >= 4 * c->simd->rows && s->height > reach_h && s->width > reach_w;
    if (!c->windowed) return;
    int64_t end_i = (s->height - 1 - reach_h + s->pad_top) / s->stride_h + 1;
    int64_t end_j = (s->width - 1 - reach_w + s->pad_left) / s->stride_w + 1;
    c->first_i = (s->pad_top + s->stride_h - 1) / s->stride_h;
    c->first_j = (s->pad_left + s->stride_w - 1) / s->stride_w;
    c->end_i = end_i < s->out_height ? (int)end_i : s->out_height;
    c->end_j = end_j < s->out_width ? (int)end_j : s->out_width;
}

TfLiteStatus hl_convolve_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                const struct hl_convolve_node *what, void **state, size_t *bytes)
{
    // A panel of half as many columns as a vector has lanes is still faster than lower levels.
    int each = shape->outputs / (shape->channels / shape->filter_channels);
    const struct hl_simd *simd = hl_simd_best(each < INT_MAX / 2 ? 2 * each : INT_MAX);
    struct hl_convolve made = {
        .simd = simd,
        .shape = *shape,
        .floats = what->input->type == kTfLiteFloat32 && !what->filter_scales,
        .hybrid = what->filter_scales != NULL,
        .asymmetric = what->asymmetric,
        .two_steps = what->two_steps,
        .x_unsigned = what->input->type == kTfLiteUInt8,
        .groups = shape->channels / shape->filter_channels,
        .depth = (int64_t)shape->kh * shape->kw * shape->filter_channels,
        .positions = (int64_t)shape->batches * shape->out_height * shape->out_width,
        .low = what->low_f32,
        .high = what->high_f32,
    };
    struct hl_convolve *c = &made;
    bool quads = !c->floats && simd->dot_width == 4;
    c->outputs = shape->outputs / c->groups;
    c->panels = (c->outputs - 1) / simd->columns + 1;
    c->in_place = shape->kh == 1 && shape->kw == 1 && shape->stride_h == 1 && shape->stride_w == 1;
    c->direct = c->floats && c->in_place;
    find_inside(c);
    c->little = c->floats && !c->windowed &&
                (double)c->positions * (double)c->depth * shape->outputs / c->groups <= FEW_PRODUCTS;
    if (!c->floats) {
        c->x_zero = c->hybrid ? 0 : (uint8_t)hl_zero(what->input);
        c->flip = quads ? hl_simd_sign_offset(simd, c->x_unsigned) : 0;
        c->w_zero = quads ? what->filter_zero - (what->filter->type == kTfLiteUInt8 ? 128 : 0) : 0;
    }
    find_copy(c);
    c->segment_steps = c->floats ? c->segment : (c->segment + simd->dot_width - 1) / simd->dot_width;
    c->steps = c->depth / c->segment * c->segment_steps;
    cut_work(c, hl_thread_count(ctx));

    int64_t channels = (int64_t)c->groups * c->panels * simd->columns;
    int64_t integers = c->floats ? 0 : 1, rescaled = what->rescales ? channels : 0;
    size_t total = 0;
    hl_fast_part(&total, 1, 1, sizeof *c);
    size_t weights = hl_fast_part(&total, c->steps, channels, 4);
    size_t starts = hl_fast_part(&total, channels, 1, 4);
    size_t multiplier = hl_fast_part(&total, rescaled, 1, 4), left = hl_fast_part(&total, rescaled, 1, 4);
    size_t right = hl_fast_part(&total, rescaled, 1, 4);
    size_t scales = hl_fast_part(&total, what->scales ? channels : 0, 1, sizeof(double));
    int64_t hybrid = c->hybrid ? channels : 0, batches = c->hybrid ? shape->batches : 0;
    size_t w_scales = hl_fast_part(&total, hybrid, 1, 4), bias = hl_fast_part(&total, hybrid, 1, 4);
    size_t w_sums = hl_fast_part(&total, hybrid, 1, 4), x_scales = hl_fast_part(&total, batches, 1, 4);
    size_t x_zeros = hl_fast_part(&total, batches, 1, 4);
    size_t x_stored = hl_fast_part(&total, c->hybrid ? hl_elements(what->input) : 0, 1, 1);
    // What a copy is read in groups of may end behind it.
    int64_t copied_rows = c->copied ? shape->batches * c->copy_height + 1 : 0;
    size_t copy = hl_fast_part(&total, copied_rows, c->copy_width * shape->channels, copied_element(c));
    bool gathers = !c->direct && !c->copied;
    hl_fast_part(&c->scratch_bytes, gathers ? c->block : 0, c->steps, 4);
    c->gathered = hl_fast_part(&c->scratch_bytes, gathers ? integers * c->depth : 0, 1, 1);
    c->sums = hl_fast_part(&c->scratch_bytes, integers * simd->rows, simd->columns, 4);
    c->row_sums = hl_fast_part(&c->scratch_bytes, integers * c->block, 1, 4);
    size_t scratch = hl_fast_part(&total, hl_thread_count(ctx), 1, c->scratch_bytes);
    hl_fast_part(&total, 1, 1, HL_LINE);
    HL_TRY(hl_fast_make(ctx, node, total, state));
    char *memory = *state;
    if (!memory) return kTfLiteOk;
    char *base = hl_fast_base(memory);
    c->weights = base + weights;
    c->starts = base + starts;
    c->multiplier = (int32_t *)(base + multiplier);
    c->left = (int32_t *)(base + left);
    c->right = (int32_t *)(base + right);
    c->scales = what->scales ? (double *)(base + scales) : NULL;
    c->w_scales = (float *)(base + w_scales);
    c->bias = (float *)(base + bias);
    c->w_sums = (uint32_t *)(base + w_sums);
    c->x_scales = (float *)(base + x_scales);
    c->x_zeros = (int32_t *)(base + x_zeros);
    c->x_stored = (int8_t *)(base + x_stored);
    c->copy = base + copy;
    c->scratch = base + scratch;
    if (!c->floats && !c->hybrid)
        c->by = (struct hl_requantize){c->multiplier, c->left, c->right, hl_zero(what->output), what->low, what->high};
    if (c->floats)
        pack_floats(c, what);
    else
        pack_integers(c, what);
    memcpy(memory, c, sizeof *c);
    *bytes = total;
    return kTfLiteOk;
}

void hl_convolve_destroy(void *convolve)
{
    free(convolve);
}

// ---- gathering ----------------------------------------------------------------------------------

// memcpy of few bytes without a call, in pieces that may overlap.
static inline void copy(char *to, const char *from, size_t bytes)
{
    enum { PIECE = 16 };
    if (bytes >= PIECE) {
        for (size_t i = 0; i + PIECE < bytes; i += PIECE) memcpy(to + i, from + i, PIECE);
        memcpy(to + bytes - PIECE, from + bytes - PIECE, PIECE);
    } else if (bytes >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8), memcpy(&last, from + bytes - 8, 8);
        memcpy(to, &first, 8), memcpy(to + bytes - 8, &last, 8);
    } else if (bytes >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4), memcpy(&last, from + bytes - 4, 4);
        memcpy(to, &first, 4), memcpy(to + bytes - 4, &last, 4);
    } else {
        for (size_t i = 0; i < bytes; i++) to[i] = from[i];
    }
}

// An output position.
struct place {
    int64_t batch;
    int i, j;
};

static struct place place_of(const struct hl_conv_shape *s, int64_t position)
{
    int64_t row = position / s->out_width;
    return (struct place){row / s->out_height, (int)(row % s->out_height), (int)(position % s->out_width)};
}

static void advance(const struct hl_conv_shape *s, struct place *place)
{
    if (++place->j < s->out_width) return;
    place->j = 0;
    if (++place->i < s->out_height) return;
    place->i = 0;
    place->batch++;
}

static bool is_inside(const struct hl_convolve *c, struct place place)
{
    return place.i >= c->first_i && place.i < c->end_i && place.j >= c->first_j && place.j < c->end_j;
}

// Positions from this one on, in its row, that are inside, or are not, like it.
static int alike(const struct hl_convolve *c, struct place place)
{
    bool row = place.i >= c->first_i && place.i < c->end_i && c->first_j < c->end_j;
    int end = row && place.j < c->first_j ? c->first_j : row && place.j < c->end_j ? c->end_j : c->shape.out_width;
    return end - place.j;
}

// The window of one output position, tap by tap, for the channels of one group; `pad` where there is no input.
static void gather(const struct hl_convolve *c, const char *x, struct place place, int group, size_t size, uint8_t pad,
                   char *row)
{
    const struct hl_conv_shape *s = &c->shape;
    int64_t plane = place.batch * s->height;
    int64_t top = (int64_t)place.i * s->stride_h - s->pad_top, left = (int64_t)place.j * s->stride_w - s->pad_left;
    size_t tap = (size_t)s->filter_channels * size;
    bool together = s->dilation_w == 1 && c->groups == 1; // neighbors are neighbors in memory too
    bool inside =
        top >= 0 && left >= 0 && top + (int64_t)(s->kh - 1) * s->dilation_h < s->height && left + s->kw <= s->width;
    if (together && inside) {
        size_t bytes = (size_t)s->kw * tap;
        const char *from = x + ((plane + top) * s->width + left) * (int64_t)tap;
        int64_t down = (int64_t)s->dilation_h * s->width * (int64_t)tap;
        for (int k = 0; k < s->kh; k++, row += bytes, from += down) copy(row, from, bytes);
        return;
    }
    for (int k = 0; k < s->kh; k++) {
        int64_t in_y = top + (int64_t)k * s->dilation_h;
        bool outside = in_y < 0 || in_y >= s->height;
        for (int l = 0, run; l < s->kw; l += run, row += (size_t)run * tap) {
            int64_t in_x = left + (int64_t)l * s->dilation_w;
            bool out = outside || in_x < 0 || in_x >= s->width;
            run = 1;
            if (outside)
                run = s->kw - l;
            else if (together && in_x < 0)
                run = -in_x < s->kw - l ? (int)-in_x : s->kw - l;
            else if (together)
                run = in_x >= s->width || s->width - in_x > s->kw - l ? s->kw - l : (int)(s->width - in_x);
            if (out) {
                memset(row, pad, (size_t)run * tap);
                continue;
            }
            int64_t at = ((plane + in_y) * s->width + in_x) * s->channels + (int64_t)group * s->filter_channels;
            copy(row, x + at * (int64_t)size, (size_t)run * tap);
        }
    }
}

// Bytes as the level multiplies them.
static void pack(const struct hl_convolve *c, const uint8_t *bytes, int64_t count, uint8_t x_zero, void *packed)
{
    if (c->simd->dot_width == 4)
        c->simd->kernels->xor_bytes(bytes, c->flip, count, packed);
    else
        c->simd->kernels->widen(bytes, c->x_unsigned, c->x_unsigned ? x_zero : (int8_t)x_zero, count, packed);
}

static void gather_block(const struct hl_convolve *c, const struct scratch *scratch, const void *x, int64_t first,
                         int count, int group)
{
    const struct hl_conv_shape *s = &c->shape;
    struct place place = place_of(s, first);
    for (int r = 0; r < count; r++, advance(s, &place)) {
        char *row = scratch->rows + r * c->steps * 4;
        if (c->floats) {
            if (!c->windowed || !is_inside(c, place)) gather(c, x, place, group, sizeof(float), 0, row);
            continue;
        }
        const uint8_t *bytes = (const uint8_t *)x + (first + r) * s->channels + (int64_t)group * s->filter_channels;
        uint8_t x_zero = c->hybrid ? (uint8_t)c->x_zeros[place.batch] : c->x_zero;
        if (!c->in_place) {
            gather(c, x, place, group, 1, x_zero, (char *)scratch->gathered);
            bytes = scratch->gathered;
        }
        pack(c, bytes, c->depth, x_zero, row);
        if (c->w_zero == 0) continue;
        scratch->row_sums[r] = (int32_t)(c->simd->sum_bytes((uint8_t *)row, c->depth) * (uint32_t)c->w_zero);
    }
}

// Rows [first, end) of the copy.
static void copy_rows(const struct hl_convolve *c, const uint8_t *x, int64_t first, int64_t end)
{
    const struct hl_conv_shape *s = &c->shape;
    const size_t size = copied_element(c), pixel = (size_t)s->channels * size, bytes = (size_t)c->copy_width * pixel;
    const size_t before = (size_t)s->pad_left * pixel, inside = (size_t)s->width * pixel;
    for (int64_t row = first; row < end; row++) {
        int64_t batch = row / c->copy_height, i = row % c->copy_height - s->pad_top;
        uint8_t x_zero = c->hybrid ? (uint8_t)c->x_zeros[batch] : c->x_zero;
        int pad = c->simd->dot_width == 4 ? x_zero ^ c->flip : 0;
        char *to = c->copy + (size_t)row * bytes;
        if (i < 0 || i >= s->height) {
            memset(to, pad, bytes);
            continue;
        }
        int64_t count = (int64_t)s->width * s->channels;
        memset(to, pad, before);
        pack(c, x + (batch * s->height + i) * count, count, x_zero, to + before);
        memset(to + before + inside, pad, bytes - before - inside);
    }
}

// ---- running ------------------------------------------------------------------------------------

// Integer sums of a tile as stored values; channel: padded, of the arrays by column.
static void store_bytes(const struct hl_convolve *c, const struct scratch *scratch, int first_row, int rows,
                        int columns, int64_t channel, uint8_t *y)
{
    const struct hl_byte_tile tile = {
        .by = &c->by,
        .scales = c->scales,
        .first = channel,
        .rows = rows,
        .columns = columns,
        .sums = scratch->sums,
        .sums_stride = c->simd->columns,
        .less = c->w_zero != 0 ? scratch->row_sums + first_row : NULL,
        .y = y,
        .y_stride = c->shape.outputs,
    };
    c->simd->kernels->requantize_tile(&tile);
}

// Integer sums of a tile as floats, as ops/common/conv.c makes them. Quads know only at run time what zero point x has.
static void store_floats(const struct hl_convolve *c, const struct scratch *scratch, int64_t first, int rows,
                         int columns, int64_t channel, float *y)
{
    int64_t in_batch = (int64_t)c->shape.out_height * c->shape.out_width;
    struct hl_unquantize by = {
        .scales = c->w_scales + channel,
        .bias = c->bias + channel,
        .w_sums = c->w_sums + channel,
        .two_steps = c->two_steps,
        .low = c->low,
        .high = c->high,
    };
    struct hl_float_tile tile = {.by = &by,
                                 .columns = columns,
                                 .sums_stride = c->simd->columns,
                                 .y_stride = c->shape.outputs};
    for (int r = 0; r < rows; r += tile.rows) {
        int64_t batch = (first + r) / in_batch, left = (batch + 1) * in_batch - (first + r);
        by.zero = c->simd->dot_width == 4 ? (uint32_t)c->x_zeros[batch] : 0;
        by.x_scale = c->x_scales[batch];
        tile.rows = left < rows - r ? (int)left : rows - r;
        tile.sums = scratch->sums + r * tile.sums_stride;
        tile.y = y + r * tile.y_stride;
        c->simd->kernels->unquantize_tile(&tile);
    }
}

// Where the rows of a tile of floats lie. Fewer rows where not all are alike.
static void find_rows(const struct hl_convolve *c, const struct scratch *scratch, const float *x, int64_t first, int r,
                      int group, struct hl_tile *tile)
{
    const struct hl_conv_shape *s = &c->shape;
    tile->x = scratch->rows + r * c->steps * 4;
    tile->x_stride = c->steps;
    tile->segments = 0;
    tile->steps = c->steps;
    if (c->direct) {
        tile->x = x + (first + r) * s->channels + (int64_t)group * s->filter_channels;
        tile->x_stride = s->channels;
    }
    if (!c->windowed) return;
    struct place place = place_of(s, first + r);
    int most = alike(c, place);
    if (tile->rows > most) tile->rows = most;
    if (!is_inside(c, place)) return;
    int64_t top = place.batch * s->height + (int64_t)place.i * s->stride_h - s->pad_top;
    tile->x = x + (top * s->width + (int64_t)place.j * s->stride_w - s->pad_left) * s->channels;
    tile->x_stride = (ptrdiff_t)s->stride_w * s->channels;
    tile->segments = s->kh - 1;
    tile->x_segment = (ptrdiff_t)s->dilation_h * s->width * s->channels;
    tile->steps = (int64_t)s->kw * s->channels;
}

// The same of integers.
static void find_integer_rows(const struct hl_convolve *c, const struct scratch *scratch, int64_t first, int r,
                              struct hl_tile *tile)
{
    const struct hl_conv_shape *s = &c->shape;
    tile->x = scratch->rows + r * c->steps * 4;
    tile->x_stride = c->steps * 4;
    if (!c->copied) return;
    const struct place place = place_of(s, first + r);
    const int left = s->out_width - place.j, tiles = (left - 1) / c->simd->rows + 1, share = (left - 1) / tiles + 1;
    if (tile->rows > share) tile->rows = share;
    const ptrdiff_t pixel = s->channels * (ptrdiff_t)copied_element(c);
    int64_t row = place.batch * c->copy_height + (int64_t)place.i * s->stride_h;
    tile->x = c->copy + (row * c->copy_width + (int64_t)place.j * s->stride_w) * pixel;
    tile->x_stride = s->stride_w * pixel;
    tile->steps = c->segment_steps;
    tile->segments = s->kh - 1;
    tile->x_segment = s->dilation_h * c->copy_width * pixel;
}

static void run_panel(const struct hl_convolve *c, const struct scratch *scratch, const float *x, int64_t first,
                      int count, int group, int panel, char *y)
{
    const struct hl_simd *simd = c->simd;
    int64_t index = (int64_t)group * c->panels + panel;
    int64_t output = (int64_t)group * c->outputs + (int64_t)panel * simd->columns;
    int left = c->outputs - panel * simd->columns;
    struct hl_tile tile = {
        .w = c->weights + index * c->steps * simd->columns * 4,
        .steps = c->steps,
        .start = c->starts + index * simd->columns * 4,
        .columns = left < simd->columns ? left : simd->columns,
        .rounded = c->little,
        .low = c->low,
        .high = c->high,
    };
    for (int r = 0; r < count; r += tile.rows) {
        int64_t at = (first + r) * c->shape.outputs + output;
        tile.rows = count - r < simd->rows ? count - r : simd->rows;
        tile.ahead = r > 0 && r <= simd->rows && panel + 1 < c->panels ? c->steps * simd->columns * 4 : 0;
        if (c->floats) {
            find_rows(c, scratch, x, first, r, group, &tile);
            tile.y = (float *)y + at;
            tile.y_stride = c->shape.outputs;
            simd->kernels->multiply_f32(&tile);
        } else {
            find_integer_rows(c, scratch, first, r, &tile);
            tile.y = scratch->sums;
            tile.y_stride = simd->columns;
            simd->multiply_integer(&tile);
            if (c->hybrid) {
                store_floats(c, scratch, first + r, tile.rows, tile.columns, index * simd->columns, (float *)y + at);
                continue;
            }
            store_bytes(c, scratch, r, tile.rows, tile.columns, index * simd->columns, (uint8_t *)y + at);
        }
    }
}

struct run {
    const struct hl_convolve *c;
    const void *x;
    void *y;
};

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct hl_convolve *c = run->c;
    char *memory = c->scratch + (size_t)worker * c->scratch_bytes;
    const struct scratch scratch = {memory, (uint8_t *)memory + c->gathered, (int32_t *)(memory + c->sums),
                                    (int32_t *)(memory + c->row_sums)};
    int part = (int)(item % c->parts), group = (int)(item / c->parts % c->groups);
    int64_t first = item / c->parts / c->groups * c->block;
    int count = (int)(c->positions - first < c->block ? c->positions - first : c->block);
    int panel = (int)((int64_t)c->panels * part / c->parts), end = (int)((int64_t)c->panels * (part + 1) / c->parts);
    if (!c->direct && !c->copied) gather_block(c, &scratch, run->x, first, count, group);
    for (; panel < end; panel++) run_panel(c, &scratch, run->x, first, count, group, panel, run->y);
}

static void copy_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct hl_convolve *c = run->c;
    (void)worker;
    int64_t rows = c->shape.batches * c->copy_height;
    copy_rows(c, run->x, rows * item / c->copy_items, rows * (item + 1) / c->copy_items);
}

static void quantize_batches(const struct hl_convolve *c, const float *x)
{
    int64_t size = (int64_t)c->shape.height * c->shape.width * c->shape.channels;
    for (int b = 0; b < c->shape.batches; b++)
        hl_quantize_row(&c->simd->kernels->row_loops, c->asymmetric, x + b * size, size, c->x_stored + b * size,
                        &c->x_scales[b], &c->x_zeros[b]);
}

void hl_convolve_run(TfLiteContext *ctx, const void *convolve, const void *x, void *y)
{
    struct run run = {convolve, x, y};
    if (run.c->hybrid) {
        quantize_batches(run.c, x);
        run.x = run.c->x_stored;
    }
    if (run.c->copied) hl_parallel(ctx, run.c->copy_items, copy_item, &run);
    hl_parallel(ctx, run.c->blocks * run.c->groups * run.c->parts, run_item, &run);
}
