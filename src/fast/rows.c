// SPDX-License-Identifier: Apache-2.0
// The row sources. Groups: grouped. Floats: direct, windows, copy, gather. Integers: direct, packed, copy,
// gather_packed; of a matrix unit regroup in place of copy. Each kind ends with one that always serves.
#include "fast/rows.h"

#include <string.h>

// ---- positions ----------------------------------------------------------------------------------

// Divisions of 64 bits take three times as long as those of 32 on many CPUs, and a small tile no longer than two of
// them. (3x3 with stride 2 of 128 x 128 positions, 3 channels to 8, int8: 76.6 us, and 71.7 so.)
static struct hl_position position_of(const struct hl_conv_shape *s, int64_t index)
{
    if (index <= UINT32_MAX) {
        const uint32_t row = (uint32_t)index / (uint32_t)s->out_width, batch = row / (uint32_t)s->out_height;
        return (struct hl_position){batch, (int)(row - batch * (uint32_t)s->out_height),
                                    (int)((uint32_t)index - row * (uint32_t)s->out_width)};
    }
    int64_t row = index / s->out_width;
    return (struct hl_position){row / s->out_height, (int)(row % s->out_height), (int)(index % s->out_width)};
}

static void advance(const struct hl_conv_shape *s, struct hl_position *position)
{
    if (++position->j < s->out_width) return;
    position->j = 0;
    if (++position->i < s->out_height) return;
    position->i = 0;
    position->batch++;
}

// Output rows must not be shorter where tiles end with them.
enum { MIN_LINE = 4 };

// The last two tiles of an output row share evenly what is left of it.
static void take_share(const struct hl_rows *rows, int left, struct hl_tile *tile)
{
    const int share = left <= rows->tile_rows ? left : left < 2 * rows->tile_rows ? (left + 1) / 2 : rows->tile_rows;
    if (tile->rows > share) tile->rows = share;
}

// A window is the input's own memory, without a stride or padding.
static bool is_pointwise(const struct hl_conv_shape *s)
{
    return s->kh == 1 && s->kw == 1 && s->stride_h == 1 && s->stride_w == 1;
}

static const void *block_row(const struct hl_rows *rows, const struct hl_row_block *block, int r)
{
    return block->packed + r * rows->row_bytes;
}

// Bytes of an element of the input.
static int64_t stored_size(const struct hl_rows *rows)
{
    return rows->dot_width == 1 ? (int64_t)sizeof(float) : rows->words ? (int64_t)sizeof(int16_t) : 1;
}

// Rows of floats so many bytes apart share one set of the first-level cache, which holds no more than WAYS lines of
// them: a tile that has more rows reads each value from the second-level cache.
enum { ALIAS = 4096, WAYS = 8 };
static bool rows_share_set(const struct hl_rows *rows, int64_t values)
{
    return rows->dot_width == 1 && rows->tile_rows > WAYS && values * (int64_t)sizeof(float) % ALIAS == 0;
}

// Rows that are read where they lie have smaller tiles then. (us on a Zen 4, tiles of 14 rows gathered with a cache
// line between them, and of 8: 384 rows of 1024 floats to 256 1820, 1753; 40 of 2048 to 64 102, 93; 100 of 1024 to 200
// 383, 385. Tiles of 6 rows took as long as gathered ones.)
void hl_rows_limit_tile(struct hl_rows *rows, int most)
{
    rows->tile_rows = most;
    if (rows->source == &hl_rows_direct && rows_share_set(rows, rows->shape.channels)) rows->tile_rows = WAYS;
}

// ---- 1x1 windows, where they lie ------------------------------------------------------------------

// A row that ended within a step, which is read whole, might be the tensor's last one. Bytes must have the sign that
// the level multiplies; they keep their zero points.
static bool direct_fits(struct hl_rows *rows)
{
    const bool in_steps = rows->depth % rows->dot_width == 0;
    const bool bytes = rows->dot_width == 4 && rows->sign_offset == 0;
    return (rows->dot_width == 1 || (rows->words && in_steps) || (bytes && in_steps)) && is_pointwise(&rows->shape);
}

static const char *direct_row(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r)
{
    const struct hl_conv_shape *s = &rows->shape;
    const int64_t at = (block->first + r) * s->channels + (int64_t)block->group * s->filter_channels;
    return (const char *)x + at * stored_size(rows);
}

static void direct_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    if (rows->w_zero != 0)
        rows->simd->sum_rows((const uint8_t *)direct_row(rows, block, x, 0), rows->shape.channels, block->count,
                             rows->depth, rows->w_zero, block->corrections);
}

static void direct_locate(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                          struct hl_tile *tile)
{
    tile->x = direct_row(rows, block, x, r);
    tile->x_stride = rows->shape.channels * (rows->words ? (ptrdiff_t)sizeof(int16_t) : 1);
}

const struct hl_row_source hl_rows_direct = {
    .name = "direct",
    .fits = direct_fits,
    .load = direct_load,
    .locate = direct_locate,
};

// ---- gathering (im2col) -------------------------------------------------------------------------

// memcpy of few bytes without a call, in pieces that may overlap.
static inline void copy_few(char *to, const char *from, size_t bytes)
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

// The window of one output position, tap by tap, for the channels of one group; `pad` where there is no input.
static void gather_window(const struct hl_rows *rows, const char *x, struct hl_position position, int group,
                          size_t size, uint8_t pad, char *row)
{
    const struct hl_conv_shape *s = &rows->shape;
    int64_t plane = position.batch * s->height;
    int64_t top = (int64_t)position.i * s->stride_h - s->pad_top;
    int64_t left = (int64_t)position.j * s->stride_w - s->pad_left;
    size_t tap = (size_t)s->filter_channels * size;
    bool together = s->dilation_w == 1 && rows->groups == 1; // neighbors are neighbors in memory too
    bool inside =
        top >= 0 && left >= 0 && top + (int64_t)(s->kh - 1) * s->dilation_h < s->height && left + s->kw <= s->width;
    if (together && inside) {
        size_t bytes = (size_t)s->kw * tap;
        const char *from = x + ((plane + top) * s->width + left) * (int64_t)tap;
        int64_t down = (int64_t)s->dilation_h * s->width * (int64_t)tap;
        for (int k = 0; k < s->kh; k++, row += bytes, from += down) copy_few(row, from, bytes);
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
            copy_few(row, x + at * (int64_t)size, (size_t)run * tap);
        }
    }
}

static bool gather_fits(struct hl_rows *rows)
{
    return rows->dot_width == 1;
}

// Floats of few products, of which the windows' bounds would take most of the time: where their taps lie is known from
// prepare. (2x2 of 5x5, 1 channel to 3: 388 ns, and 159 so.)
static bool keeps_taps(const struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    return rows->source == &hl_rows_gather && hl_rows_products(rows) <= HL_FEW_PRODUCTS &&
           (double)s->batches * s->height * s->width * s->channels <= INT32_MAX;
}

static void fill_taps(const struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    struct hl_position position = {0};
    for (int32_t *to = rows->taps; position.batch < s->batches; advance(s, &position))
        for (int k = 0; k < s->kh; k++)
            for (int l = 0; l < s->kw; l++) {
                const int64_t i = (int64_t)position.i * s->stride_h - s->pad_top + (int64_t)k * s->dilation_h,
                              j = (int64_t)position.j * s->stride_w - s->pad_left + (int64_t)l * s->dilation_w;
                const bool inside = i >= 0 && i < s->height && j >= 0 && j < s->width;
                *to++ = inside ? (int32_t)(((position.batch * s->height + i) * s->width + j) * s->channels) : -1;
            }
}

// What is outside becomes the bits of 0.0 without a branch, which would often go the other way than expected.
static inline float tap_value(const float *x, int32_t tap, int64_t channel)
{
    const uint32_t inside = tap < 0 ? 0 : UINT32_MAX;
    uint32_t bits;
    float value;
    memcpy(&bits, x + (tap < 0 ? 0 : tap) + channel, sizeof bits);
    bits &= inside;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void gather_taps(const struct hl_rows *rows, const struct hl_row_block *block, const float *x)
{
    const int64_t taps = (int64_t)rows->shape.kh * rows->shape.kw, channels = rows->shape.filter_channels;
    const int32_t *from = rows->taps + block->first * taps;
    float *to = (float *)(void *)block->packed;
    x += block->group * channels;
    if (channels == 1)
        for (int64_t t = 0; t < block->count * taps; t++) to[t] = tap_value(x, from[t], 0);
    else
        for (int64_t t = 0; t < block->count * taps; t++, to += channels)
            for (int64_t c = 0; c < channels; c++) to[c] = tap_value(x, from[t], c);
}

static void gather_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    if (rows->taps) {
        gather_taps(rows, block, x);
        return;
    }
    struct hl_position position = position_of(&rows->shape, block->first);
    for (int r = 0; r < block->count; r++, advance(&rows->shape, &position))
        gather_window(rows, x, position, block->group, sizeof(float), 0, block->packed + r * rows->row_bytes);
}

static void gather_locate(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                          struct hl_tile *tile)
{
    (void)x;
    tile->x = block_row(rows, block, r);
    tile->x_stride = rows->row_bytes / (ptrdiff_t)sizeof(float);
    tile->segments = 0;
    tile->steps = rows->steps;
}

const struct hl_row_source hl_rows_gather = {
    .name = "gather",
    .fits = gather_fits,
    .loads = true,
    .load = gather_load,
    .locate = gather_locate,
};

// ---- floats of windows inside the image, where they lie -----------------------------------------

// Neighboring windows are read from neighbor to neighbor; those that reach into the padding are gathered, in tiles of
// their own at both ends of an output row. Whether that is faster than to copy the input, with its padding or window by
// window: cycles of a Zen 5. A tile of one row waits for its additions at each step. (3x3, 64x64, 64 to 64: 1270 us
// with windows, 1130 with the copy; 9x9, 96x96, 3 to 32: 610, 520; 4x4 with stride 4 of 224x224: 116, 137.)
static bool windows_pay(const struct hl_rows *rows, int64_t end_j)
{
    enum { BYTES_OF_CYCLE = 24, CYCLES_OF_STEP = 3, CYCLES_OF_TILE = 80 };
    const struct hl_conv_shape *s = &rows->shape;
    // Rows so far apart have one set of the first-level cache, which holds fewer than a tile has. (1x1 with stride 2,
    // 28x28, 512 to 1024: 884 us, 773 gathered.)
    if ((int64_t)s->stride_w * s->channels * (int64_t)sizeof(float) % ALIAS == 0) return false;
    const double lines = (double)s->batches * s->out_height, panels = (s->outputs - 1) / rows->simd->columns + 1;
    const int ends = (rows->windows.first_j > 0) + (end_j < s->out_width);
    const double copied = (int64_t)s->kh * s->kw <= (int64_t)s->stride_h * s->stride_w
                              ? lines * s->out_width * (double)rows->depth
                              : (double)s->batches * (s->height + s->kh - 1) * (s->width + s->kw - 1) * s->channels;
    return lines * panels * ends * ((double)rows->depth * CYCLES_OF_STEP + CYCLES_OF_TILE) <=
           copied * sizeof(float) / BYTES_OF_CYCLE;
}

static bool windows_fit(struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    int64_t reach_h = (int64_t)(s->kh - 1) * s->dilation_h, reach_w = s->kw - 1;
    if (rows->dot_width != 1 || s->dilation_w != 1 || rows->groups != 1 || s->out_width < MIN_LINE ||
        s->height <= reach_h || s->width <= reach_w || hl_rows_products(rows) <= HL_FEW_PRODUCTS)
        return false;
    int64_t end_i = (s->height - 1 - reach_h + s->pad_top) / s->stride_h + 1;
    int64_t end_j = (s->width - 1 - reach_w + s->pad_left) / s->stride_w + 1;
    rows->windows.first_i = (s->pad_top + s->stride_h - 1) / s->stride_h;
    rows->windows.first_j = (s->pad_left + s->stride_w - 1) / s->stride_w;
    rows->windows.end_i = end_i < s->out_height ? (int)end_i : s->out_height;
    rows->windows.end_j = end_j < s->out_width ? (int)end_j : s->out_width;
    return windows_pay(rows, end_j);
}

static bool is_inside(const struct hl_rows *rows, struct hl_position position)
{
    return position.i >= rows->windows.first_i && position.i < rows->windows.end_i &&
           position.j >= rows->windows.first_j && position.j < rows->windows.end_j;
}

// Positions from this one on, in its output row, that are all inside or all outside like it.
static int alike(const struct hl_rows *rows, struct hl_position position)
{
    int first_j = rows->windows.first_j, end_j = rows->windows.end_j;
    bool row = position.i >= rows->windows.first_i && position.i < rows->windows.end_i && first_j < end_j;
    int end = row && position.j < first_j ? first_j : row && position.j < end_j ? end_j : rows->shape.out_width;
    return end - position.j;
}

static void windows_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    struct hl_position position = position_of(&rows->shape, block->first);
    for (int r = 0; r < block->count; r++, advance(&rows->shape, &position))
        if (!is_inside(rows, position))
            gather_window(rows, x, position, block->group, sizeof(float), 0, block->packed + r * rows->row_bytes);
}

static void windows_locate(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                           struct hl_tile *tile)
{
    const struct hl_conv_shape *s = &rows->shape;
    struct hl_position position = position_of(s, block->first + r);
    take_share(rows, alike(rows, position), tile);
    if (!is_inside(rows, position)) {
        gather_locate(rows, block, x, r, tile);
        return;
    }
    int64_t top = position.batch * s->height + (int64_t)position.i * s->stride_h - s->pad_top;
    tile->x = (const float *)x + (top * s->width + (int64_t)position.j * s->stride_w - s->pad_left) * s->channels;
    tile->x_stride = (ptrdiff_t)s->stride_w * s->channels;
    tile->segments = s->kh - 1;
    tile->x_segment = (ptrdiff_t)s->dilation_h * s->width * s->channels;
    tile->steps = (int64_t)s->kw * s->channels;
}

const struct hl_row_source hl_rows_windows = {
    .name = "windows",
    .fits = windows_fit,
    .loads = true,
    .segments = true,
    .load = windows_load,
    .locate = windows_locate,
};

// ---- integers, packed block by block ------------------------------------------------------------

void hl_rows_pack(const struct hl_rows *rows, const uint8_t *bytes, int64_t count, int32_t zero, void *packed)
{
    if (rows->words)
        memcpy(packed, bytes, (size_t)count * sizeof(int16_t));
    else if (rows->dot_width == 4)
        rows->simd->kernels->xor_bytes(bytes, rows->sign_offset, count, packed);
    else
        rows->simd->kernels->widen(bytes, rows->is_unsigned, zero, count, packed);
}

// The corrections of packed rows [first, first + count) of a block.
static void sum_rows(const struct hl_rows *rows, const struct hl_row_block *block, int first, int count)
{
    if (rows->w_zero == 0) return;
    rows->simd->sum_rows(block_row(rows, block, first), rows->row_bytes, count, rows->depth, rows->w_zero,
                         block->corrections + first);
}

// Packs the values of one window as row r of a block.
static void pack_row(const struct hl_rows *rows, const struct hl_row_block *block, int r, const uint8_t *bytes,
                     int32_t zero)
{
    hl_rows_pack(rows, bytes, rows->depth, zero, block->packed + r * rows->row_bytes);
    sum_rows(rows, block, r, 1);
}

static bool packed_fits(struct hl_rows *rows)
{
    return rows->dot_width > 1 && !rows->words && is_pointwise(&rows->shape);
}

// Rows that lie one after the other stay so, and are packed at once. (112 x 112 positions of 32 channels, 12,544 rows:
// 125 us row by row, 25 us so.) A row may end within a step: it is multiplied with the beginning of the next row and
// with weights of 0.
static void packed_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    const struct hl_conv_shape *s = &rows->shape;
    const int64_t positions = (int64_t)s->out_height * s->out_width;
    const uint8_t *bytes = (const uint8_t *)x + block->first * s->channels + (int64_t)block->group * s->filter_channels;
    const bool one_zero = rows->dot_width == 4 || rows->zero_step == 0 || s->batches == 1; // bytes keep it as it is
    if (rows->depth == s->channels && one_zero) {
        hl_rows_pack(rows, bytes, block->count * rows->depth, rows->zeros[0], block->packed);
        sum_rows(rows, block, 0, block->count);
        return;
    }
    for (int r = 0; r < block->count; r++, bytes += s->channels) {
        // The batch is a division, which layers of few products feel.
        int64_t batch = rows->zero_step > 0 ? (block->first + r) / positions : 0;
        pack_row(rows, block, r, bytes, hl_rows_zero(rows, batch));
    }
}

static void packed_locate(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                          struct hl_tile *tile)
{
    (void)x;
    tile->x = block_row(rows, block, r);
    tile->x_stride = rows->row_bytes;
}

const struct hl_row_source hl_rows_packed = {
    .name = "packed",
    .fits = packed_fits,
    .loads = true,
    .load = packed_load,
    .locate = packed_locate,
};

static bool gather_packed_fits(struct hl_rows *rows)
{
    return rows->dot_width > 1;
}

// A 1x1 window is packed where it lies.
static void gather_packed_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    const struct hl_conv_shape *s = &rows->shape;
    struct hl_position position = position_of(s, block->first);
    const bool in_place = s->kh == 1 && s->kw == 1 && s->pad_top == 0 && s->pad_left == 0;
    for (int r = 0; r < block->count; r++, advance(s, &position)) {
        int32_t zero = hl_rows_zero(rows, position.batch);
        const int64_t i = (int64_t)position.i * s->stride_h, j = (int64_t)position.j * s->stride_w;
        if (in_place && i < s->height && j < s->width) {
            const int64_t pixel = (position.batch * s->height + i) * s->width + j;
            const int64_t at = pixel * s->channels + (int64_t)block->group * s->filter_channels;
            pack_row(rows, block, r, (const uint8_t *)x + at * stored_size(rows), zero);
            continue;
        }
        gather_window(rows, x, position, block->group, (size_t)stored_size(rows), (uint8_t)zero, (char *)block->window);
        pack_row(rows, block, r, block->window, zero);
    }
}

const struct hl_row_source hl_rows_gather_packed = {
    .name = "gather_packed",
    .fits = gather_packed_fits,
    .loads = true,
    .load = gather_packed_load,
    .locate = packed_locate,
};

// ---- the padded input, packed once --------------------------------------------------------------

static size_t copied_element(const struct hl_rows *rows)
{
    return rows->dot_width == 4 ? 1 : rows->dot_width == 2 ? sizeof(int16_t) : sizeof(float);
}

// Whether the padded input may be copied: it must not be much larger than the input, for the dilation that a file names
// may reach far. Few products of floats stay in rows of one segment.
static bool fit_copy(struct hl_rows *rows, int64_t segment)
{
    enum { MAX_PADDED = 4 };
    const struct hl_conv_shape *s = &rows->shape;
    if (rows->dot_width == 1 && hl_rows_products(rows) <= HL_FEW_PRODUCTS) return false;
    int64_t reach_h = (int64_t)(s->out_height - 1) * s->stride_h + (int64_t)(s->kh - 1) * s->dilation_h + 1;
    int64_t reach_w = (int64_t)(s->out_width - 1) * s->stride_w + (int64_t)(s->kw - 1) * s->dilation_w + 1;
    int64_t height = (int64_t)s->height + s->pad_top, width = (int64_t)s->width + s->pad_left;
    if (reach_h > height) height = reach_h;
    if (reach_w > width) width = reach_w;
    if ((double)height * (double)width > MAX_PADDED * (double)s->height * s->width) return false;
    rows->copy.height = height;
    rows->copy.width = width;
    rows->segment = segment;
    return true;
}

// How many lines of the input there are for each line of windows. Where windows are one line, its stride leads nowhere.
// (Int8, 1x3 with stride 2 of 1,000 positions, 32 channels to 64: 24.2 us gathered, 18.4 us copied.)
static int lines_apart(const struct hl_conv_shape *s)
{
    if (s->out_height > 1) return s->stride_h;
    return s->height > s->kh ? s->height / s->kh : 1;
}

// For windows that overlap: each value is packed once, not once for each window. Integers are packed faster in whole
// lines, so that their windows may lie side by side, too. A segment is a row of a window, or one tap of a dilated
// window. (A ResNet of 9 layers of int8, mlperf_tiny/pretrainedResnet_quant: 0.159 ms with all gathered, 0.094 ms. 16
// channels of floats at 30 x 40 with dilation 3: 155 us gathered, 61 us. Int8, 4x4 with stride 4 of 224 x 224, 3
// channels to 96: 75.6 us gathered, 50.0 us.)
static bool copy_fits(struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    const int64_t taps = (int64_t)s->kh * s->kw, strides = (int64_t)lines_apart(s) * s->stride_w;
    if (rows->groups != 1 || s->out_width < MIN_LINE || taps < strides || (taps == strides && rows->dot_width == 1))
        return false;
    return fit_copy(rows, s->dilation_w == 1 ? (int64_t)s->kw * s->channels : s->channels);
}

struct copy_run {
    const struct hl_rows *rows;
    const uint8_t *x;
};

static void sum_pixels(const struct hl_rows *rows, int64_t row)
{
    if (rows->w_zero == 0) return;
    const int64_t first = row * rows->copy.width;
    const int channels = rows->shape.channels;
    rows->simd->sum_rows((const uint8_t *)rows->copy.data + first * channels, channels, rows->copy.width, channels,
                         rows->w_zero, rows->copy.sums + first);
}

// One thread's share of the rows of the copy. (Hybrid super_resolution on a Zen 4: 59.8 ms where all of the input is
// quantized before, 57.2 so, and a byte less of memory for each value.)
static void copy_item(void *arg, int64_t item, int worker)
{
    const struct copy_run *run = arg;
    const struct hl_rows *rows = run->rows;
    const struct hl_conv_shape *s = &rows->shape;
    const size_t size = copied_element(rows), pixel = (size_t)s->channels * size;
    const size_t bytes = (size_t)rows->copy.width * pixel, before = (size_t)s->pad_left * pixel;
    const size_t inside = (size_t)s->width * pixel;
    const int64_t count = (int64_t)s->width * s->channels, all = s->batches * rows->copy.height;
    (void)worker;
    const int64_t first = all * item / rows->copy.items, end = all * (item + 1) / rows->copy.items;
    for (int64_t row = first; row < end; row++) {
        int64_t batch = row / rows->copy.height, i = row % rows->copy.height - s->pad_top;
        int32_t zero = rows->zeros ? hl_rows_zero(rows, batch) : 0;
        int pad = rows->dot_width == 4 ? (uint8_t)zero ^ rows->sign_offset : 0;
        char *to = rows->copy.data + (size_t)row * bytes;
        if (i < 0 || i >= s->height) {
            memset(to, pad, bytes);
            sum_pixels(rows, row);
            continue;
        }
        memset(to, pad, before);
        const int64_t at = (batch * s->height + i) * count;
        const uint8_t *from = run->x + at * stored_size(rows);
        if (rows->byte_scales)
            hl_quantize_values(&rows->simd->kernels->row_kernels, &rows->byte_scales[batch],
                               (const float *)(const void *)run->x + at, count, rows->flip, (int8_t *)to + before);
        else if (rows->dot_width == 1)
            memcpy(to + before, from, inside);
        else
            hl_rows_pack(rows, from, count, zero, to + before);
        memset(to + before + inside, pad, bytes - before - inside);
        sum_pixels(rows, row);
    }
}

static void copy_start(TfLiteContext *ctx, const struct hl_rows *rows, const void *x)
{
    struct copy_run run = {rows, x};
    hl_parallel(ctx, rows->copy.items, copy_item, &run);
}

// sums[n] += pixels[n * stride], modulo 2^32.
static void add_pixels(const int32_t *restrict pixels, int stride, int count, int32_t *restrict sums)
{
    if (stride == 1)
        for (int n = 0; n < count; n++) sums[n] = (int32_t)((uint32_t)sums[n] + (uint32_t)pixels[n]);
    else
        for (int n = 0; n < count; n++)
            sums[n] = (int32_t)((uint32_t)sums[n] + (uint32_t)pixels[(ptrdiff_t)n * stride]);
}

// The corrections of windows are sums of those of their pixels. (uint8, 3x3 of 32x32, 3 channels to 16: 18.5 us
// with windows that are gathered, 6.2 us so.)
static void copy_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    const struct hl_conv_shape *s = &rows->shape;
    (void)x;
    if (rows->w_zero == 0) return;
    memset(block->corrections, 0, (size_t)block->count * sizeof *block->corrections);
    for (int r = 0, count; r < block->count; r += count) {
        const struct hl_position position = position_of(s, block->first + r);
        const int64_t row = position.batch * rows->copy.height + (int64_t)position.i * s->stride_h;
        const int left = s->out_width - position.j;
        count = left < block->count - r ? left : block->count - r;
        for (int k = 0; k < s->kh; k++)
            for (int l = 0; l < s->kw; l++)
                add_pixels(rows->copy.sums + (row + (int64_t)k * s->dilation_h) * rows->copy.width +
                               (int64_t)position.j * s->stride_w + (int64_t)l * s->dilation_w,
                           s->stride_w, count, block->corrections + r);
    }
}

static void copy_locate(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                        struct hl_tile *tile)
{
    (void)x;
    const struct hl_conv_shape *s = &rows->shape;
    const struct hl_position position = position_of(s, block->first + r);
    take_share(rows, s->out_width - position.j, tile);
    // Distances are bytes, or floats. (A division here takes as long as the products of small tiles.)
    const ptrdiff_t size = (ptrdiff_t)copied_element(rows), unit = rows->dot_width == 1 ? 1 : size;
    const ptrdiff_t pixel = s->channels * unit, line = rows->copy.width * pixel;
    const int64_t row = position.batch * rows->copy.height + (int64_t)position.i * s->stride_h;
    const int64_t channel = (int64_t)block->group * rows->together * s->filter_channels;
    tile->x =
        rows->copy.data + ((row * rows->copy.width + (int64_t)position.j * s->stride_w) * s->channels + channel) * size;
    tile->x_stride = s->stride_w * pixel;
    tile->steps = rows->segment_steps;
    tile->segments = s->kh - 1;
    tile->x_segment = s->dilation_h * line;
    if (rows->segment == (int64_t)s->kw * s->channels) return;
    tile->lines = s->kh - 1;
    tile->segments = s->kw - 1;
    tile->x_line = tile->x_segment - (ptrdiff_t)s->kw * s->dilation_w * pixel;
    tile->x_segment = s->dilation_w * pixel;
}

const struct hl_row_source hl_rows_copy = {
    .name = "copy",
    .fits = copy_fits,
    .segments = true,
    .by_lines = true,
    .start = copy_start,
    .load = copy_load,
    .locate = copy_locate,
};

// ---- windows gathered from the copy ---------------------------------------------------------------

// Windows of several output lines lie behind each other, each in one piece that begins with a cache line.
static void regroup_load(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    enum { MANY = 128 };
    const struct hl_conv_shape *s = &rows->shape;
    const size_t pixel = (size_t)s->channels * copied_element(rows), line = (size_t)rows->copy.width * pixel;
    const bool together = s->dilation_w == 1;
    const size_t run = together ? (size_t)s->kw * pixel : pixel;
    const int runs = together ? 1 : s->kw;
    struct hl_position position = position_of(s, block->first);
    copy_load(rows, block, x);
    for (int r = 0; r < block->count; r++, advance(s, &position)) {
        const int64_t row = position.batch * rows->copy.height + (int64_t)position.i * s->stride_h;
        const char *from = rows->copy.data + (size_t)row * line + (size_t)position.j * s->stride_w * pixel;
        char *to = block->packed + r * rows->row_bytes;
        for (int k = 0; k < s->kh; k++, from += s->dilation_h * line)
            for (int l = 0; l < runs; l++, to += run) {
                const char *values = from + (size_t)l * s->dilation_w * pixel;
                if (run < MANY)
                    copy_few(to, values, run);
                else
                    memcpy(to, values, run);
            }
    }
}

const struct hl_row_source hl_rows_regroup = {
    .name = "regroup",
    .loads = true,
    .start = copy_start,
    .load = regroup_load,
    .locate = packed_locate,
};

// ---- groups ---------------------------------------------------------------------------------------

// How many neighboring groups one panel can hold: their columns fit one vector, and so does what a step of them reads.
static int groups_together(const struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    const int columns = s->outputs / rows->groups, steps = s->filter_channels / rows->dot_width;
    int together = rows->simd->spread_columns / columns;
    if (together <= 1 || s->filter_channels % rows->dot_width != 0) return 1;
    const int reached = (rows->simd->spread_columns - 1) / steps + 1;
    if (together > reached) together = reached;
    return together < rows->groups ? together : rows->groups;
}

// A group's part of a window is read tap by tap in the copy: to gather it, for each group anew, takes longer than its
// few products. Floats of 1x1 windows can be read where they lie, unless several groups come together.
static bool grouped_fits(struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    if (rows->groups == 1 || rows->w_zero != 0) return false; // corrections are those of all channels
    const int together = groups_together(rows);
    if ((rows->dot_width == 1 && together == 1 && is_pointwise(s)) || !fit_copy(rows, s->filter_channels)) return false;
    const int columns = s->outputs / rows->groups;
    rows->together = together;
    rows->groups = (rows->groups - 1) / together + 1;
    for (int c = 0; c < together * columns && together > 1; c++)
        rows->spread[c] = c / columns * (s->filter_channels / rows->dot_width);
    return true;
}

const struct hl_row_source hl_rows_grouped = {
    .name = "grouped",
    .fits = grouped_fits,
    .segments = true,
    .by_lines = true,
    .start = copy_start,
    .locate = copy_locate,
};

// ---- choice -------------------------------------------------------------------------------------

static void set_steps(struct hl_rows *rows, int64_t segment_steps)
{
    const bool in_one_piece = rows->source == &hl_rows_packed && rows->depth == rows->shape.channels;
    rows->segment_steps = segment_steps;
    rows->steps = rows->depth / rows->segment * segment_steps;
    rows->row_bytes = in_one_piece ? rows->depth * (4 / rows->dot_width) : rows->steps * 4;
    if (rows_share_set(rows, rows->steps) && !keeps_taps(rows)) rows->row_bytes += HL_LINE;
}

void hl_rows_init(struct hl_rows *rows, const struct hl_simd *simd, const struct hl_conv_shape *shape, int dot_width,
                  int w_zero, TfLiteType type)
{
    static const struct hl_row_source *const sources[] = {
        &hl_rows_grouped, &hl_rows_direct, &hl_rows_windows,       &hl_rows_packed,
        &hl_rows_copy,    &hl_rows_gather, &hl_rows_gather_packed,
    };
    *rows = (struct hl_rows){
        .simd = simd,
        .shape = *shape,
        .groups = hl_conv_groups(shape),
        .together = 1,
        .tile_rows = simd->rows,
        .dot_width = dot_width,
        .depth = (int64_t)shape->kh * shape->kw * shape->filter_channels,
        .is_unsigned = type == kTfLiteUInt8,
        .words = type == kTfLiteInt16,
        .sign_offset = dot_width == 4 ? hl_simd_sign_offset(simd, type == kTfLiteUInt8) : 0,
        .w_zero = w_zero,
    };
    rows->segment = rows->depth;
    int i = 0;
    while (!sources[i]->fits(rows)) i++;
    rows->source = sources[i];
    set_steps(rows, (rows->segment + dot_width - 1) / dot_width);
}

void hl_rows_use(struct hl_rows *rows, const struct hl_matrix_unit *unit, bool regroups)
{
    if (rows->source == &hl_rows_direct) rows->source = &hl_rows_packed; // registers are read beyond the last row
    if (regroups) {
        rows->source = &hl_rows_regroup;
        rows->segment = rows->depth;
        rows->segment_steps = (rows->depth + rows->dot_width - 1) / rows->dot_width;
    }
    rows->tile_rows = unit->rows;
    rows->spare_rows = unit->register_rows - 1;
    set_steps(rows, (rows->segment_steps + unit->steps - 1) / unit->steps * unit->steps);
}

void hl_rows_parts(struct hl_rows *rows, int threads, struct hl_parts *parts)
{
    int64_t zeros = rows->zero_step > 0 ? rows->shape.batches : 1;
    hl_parts_add(parts, &rows->zeros, rows->dot_width > 1 ? zeros : 0, 1, sizeof *rows->zeros);
    const struct hl_conv_shape *s = &rows->shape;
    if (keeps_taps(rows))
        hl_parts_add(parts, &rows->taps, (int64_t)s->batches * s->out_height * s->out_width, (int64_t)s->kh * s->kw,
                     sizeof *rows->taps);
    if (!rows->source->start) return;
    int64_t all = rows->shape.batches * rows->copy.height;
    rows->copy.items = all < threads ? (int)all : threads;
    // Packed pixels are read in whole steps or, by groups, in whole vectors: the last one may end behind the copy.
    const int64_t values = rows->copy.width * rows->shape.channels,
                  beyond = (int64_t)rows->spare_rows * rows->shape.stride_w * rows->shape.channels + rows->simd->bytes,
                  spare = beyond / values + 1;
    hl_parts_add(parts, &rows->copy.data, all + spare, values, copied_element(rows));
    hl_parts_add(parts, &rows->copy.sums, rows->w_zero != 0 ? all : 0, rows->copy.width, sizeof *rows->copy.sums);
}

void hl_rows_fill(const struct hl_rows *rows)
{
    if (keeps_taps(rows)) fill_taps(rows);
}

uint32_t hl_rows_set_zero(const struct hl_rows *rows, int32_t zero)
{
    rows->zeros[0] = zero;
    return rows->dot_width == 4 ? hl_simd_value(rows->simd, (uint8_t)zero ^ rows->sign_offset) : 0;
}
