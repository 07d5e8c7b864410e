// SPDX-License-Identifier: Apache-2.0
// Row sources (fast/rows.h) on every CPU level: what a tile finds in its rows against the windows of the input, value
// by value, for random convolutions, and that each source is chosen at all; that of a matrix unit on CPUs without
// one, too.
#include "fast/rows.h"

#include "fast_parts.h"

enum { CASES = 600 };

void __wrap_hl_parallel(const TfLiteContext *ctx, int64_t items, void (*work)(void *, int64_t, int), void *arg);

// One thread, and no interpreter.
void __wrap_hl_parallel(const TfLiteContext *ctx, int64_t items, void (*work)(void *, int64_t, int), void *arg)
{
    (void)ctx;
    for (int64_t i = 0; i < items; i++) work(arg, i, 0);
}

static int outputs_of(int in, int filter, int stride, int dilation, int before, int after)
{
    int reach = (filter - 1) * dilation + 1;
    return in + before + after < reach ? 0 : (in + before + after - reach) / stride + 1;
}

static struct hl_conv_shape random_shape(int *pads)
{
    int groups = pick(3) ? 1 : 1 + pick(16), one = pick(4) == 0;
    struct hl_conv_shape s = {
        .batches = 1 + pick(2),
        .height = 1 + pick(9),
        .width = pick(3) ? 1 + pick(12) : 60 + pick(40),
        .outputs = groups * (1 + pick(4)),
        .kh = one ? 1 : 1 + pick(4),
        .kw = one ? 1 : 1 + pick(4),
        .filter_channels = 1 + pick(pick(2) ? 20 : 3),
        .stride_h = one ? 1 : 1 + pick(3),
        .stride_w = one ? 1 : 1 + pick(3),
        .dilation_h = 1 + pick(2),
        .dilation_w = 1 + (pick(3) == 0),
    };
    // Rows that share a set of the first-level cache.
    if (one && groups == 1 && pick(8) == 0) s.filter_channels = 1024, s.outputs = 40, s.width = 1 + pick(12);
    s.channels = groups * s.filter_channels;
    if (!one) s.pad_top = pick(s.kh), s.pad_left = pick(s.kw);
    *pads = one ? 0 : pick(2);
    s.out_height = outputs_of(s.height, s.kh, s.stride_h, s.dilation_h, s.pad_top, *pads * s.pad_top);
    s.out_width = outputs_of(s.width, s.kw, s.stride_w, s.dilation_w, s.pad_left, *pads * s.pad_left);
    return s;
}

// The value of element k of a window: floats as they are, integers less the zero point of their batch.
static float expected_value(const struct hl_rows *rows, const void *x, int64_t position, int group, int64_t k)
{
    const struct hl_conv_shape *s = &rows->shape;
    int64_t row = position / s->out_width, batch = row / s->out_height, tap = k / s->filter_channels;
    int64_t in_y = row % s->out_height * s->stride_h - s->pad_top + tap / s->kw * s->dilation_h;
    int64_t in_x = position % s->out_width * s->stride_w - s->pad_left + tap % s->kw * s->dilation_w;
    if (in_y < 0 || in_y >= s->height || in_x < 0 || in_x >= s->width) return 0;
    int64_t at = ((batch * s->height + in_y) * s->width + in_x) * s->channels + (int64_t)group * s->filter_channels +
                 k % s->filter_channels;
    if (rows->dot_width == 1) return ((const float *)x)[at];
    if (rows->words) return ((const int16_t *)x)[at];
    int stored = rows->is_unsigned ? ((const uint8_t *)x)[at] : ((const int8_t *)x)[at];
    return (float)(stored - hl_rows_zero(rows, batch));
}

// The same, as the tile finds it for the columns of a group.
static float tile_value(const struct hl_rows *rows, const struct hl_tile *tile, int r, int group, int64_t k,
                        int64_t position)
{
    const int32_t behind = rows->spread[group % rows->together * (rows->shape.outputs / hl_conv_groups(&rows->shape))];
    int64_t in_piece = rows->depth / (tile->segments + 1) / (tile->lines + 1);
    int64_t segment = k / in_piece, rest = k % in_piece;
    const int64_t line = segment / (tile->segments + 1);
    const int64_t from = r * tile->x_stride + segment * tile->x_segment + line * tile->x_line;
    if (rows->dot_width == 1) return ((const float *)tile->x)[from + behind + rest];
    const char *row = (const char *)tile->x + from + behind * (ptrdiff_t)4;
    if (rows->dot_width == 2) {
        int16_t value;
        memcpy(&value, row + rest * 2, sizeof value);
        return value;
    }
    uint8_t stored = (uint8_t)row[rest] ^ rows->sign_offset;
    int value = rows->is_unsigned ? stored : (int8_t)stored;
    return (float)(value - hl_rows_zero(rows, position / (rows->shape.out_height * rows->shape.out_width)));
}

// The correction of row r is the sum of what is multiplied, times the zero point that the weights keep.
static void check_correction(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r)
{
    const int64_t position = block->first + r;
    const int32_t zero = hl_rows_zero(rows, position / (rows->shape.out_height * rows->shape.out_width));
    uint32_t sum = 0;
    for (int64_t k = 0; k < rows->depth; k++) {
        const int stored = (int)expected_value(rows, x, position, block->group, k) + zero;
        sum += hl_simd_value(rows->simd, (uint8_t)stored ^ rows->sign_offset);
    }
    if ((uint32_t)block->corrections[r] != sum * (uint32_t)rows->w_zero)
        fail_msg("%s, %s: the correction of position %d is %d, not %d", rows->source->name, rows->simd->name,
                 (int)position, (int)block->corrections[r], (int)(sum * (uint32_t)rows->w_zero));
}

static void check_block(const struct hl_rows *rows, const struct hl_row_block *block, const void *x)
{
    struct hl_tile tile = {.steps = rows->steps};
    if (rows->source->load) rows->source->load(rows, block, x);
    for (int r = 0; r < block->count && rows->w_zero != 0; r++) check_correction(rows, block, x, r);
    for (int r = 0; r < block->count; r += tile.rows) {
        tile.rows = block->count - r < rows->simd->rows ? block->count - r : rows->simd->rows;
        rows->source->locate(rows, block, x, r, &tile);
        assert_in_range(tile.rows, 1, rows->simd->rows);
        for (int t = 0; t < tile.rows; t++)
            for (int64_t k = 0; k < rows->depth * rows->together; k++) {
                const int64_t position = block->first + r + t, element = k % rows->depth;
                const int group = block->group * rows->together + (int)(k / rows->depth);
                if (group >= hl_conv_groups(&rows->shape)) break;
                float expected = expected_value(rows, x, position, group, element);
                float got = tile_value(rows, &tile, t, group, element, position);
                if (expected != got)
                    fail_msg("%s, %s: position %d, element %d of group %d is %g, not %g", rows->source->name,
                             rows->simd->name, (int)position, (int)element, group, (double)got, (double)expected);
            }
    }
}

static int known_taps; // rows that were gathered from a list of taps

static const struct hl_row_source *check(const struct hl_conv_shape *shape, const struct hl_simd *simd, int dot_width)
{
    struct hl_rows rows;
    struct hl_parts parts = {0};
    const TfLiteType type = dot_width == 2 && pick(2) ? kTfLiteInt16 : pick(2) ? kTfLiteUInt8 : kTfLiteInt8;
    const size_t element = dot_width == 1 ? 4 : type == kTfLiteInt16 ? 2 : 1;
    static const struct hl_matrix_unit unit = {.rows = 32, .register_rows = 16, .steps = 16};
    hl_rows_init(&rows, simd, shape, dot_width, dot_width == 4 ? pick(3) * 7 : 0, type);
    hl_rows_limit_tile(&rows, simd->rows);
    const bool few = rows.source == &hl_rows_direct && dot_width == 1 && shape->channels == 1024;
    assert_int_equal(rows.tile_rows, few && simd->rows > 8 ? 8 : simd->rows);
    if (dot_width == 4 && rows.source == &hl_rows_copy && pick(2)) hl_rows_use(&rows, &unit, true);
    rows.zero_step = pick(2);
    hl_rows_parts(&rows, 1 + pick(3), &parts);
    make_parts(&parts);
    hl_rows_fill(&rows);
    known_taps += rows.taps != NULL;
    for (int b = 0; dot_width > 1 && b < (rows.zero_step ? shape->batches : 1); b++)
        rows.zeros[b] = rows.words ? 0 : rows.is_unsigned ? pick(256) : pick(256) - 128;
    int64_t count = (int64_t)shape->batches * shape->height * shape->width * shape->channels;
    int64_t positions = (int64_t)shape->batches * shape->out_height * shape->out_width, size = 1 + pick(50);
    char *x = zeroed((size_t)count, element);
    for (int64_t i = 0; i < count; i++)
        if (dot_width == 1)
            ((float *)x)[i] = (float)(1 + pick(1000));
        else if (rows.words)
            ((int16_t *)x)[i] = (int16_t)(pick(1 << 16) - (1 << 15));
        else
            x[i] = (char)pick(256);
    if (rows.source->start) rows.source->start(NULL, &rows, x);
    struct hl_row_block block = {
        .packed = zeroed((size_t)(size * hl_rows_room(&rows)), 1),
        .window = zeroed((size_t)rows.depth, rows.words ? 2 : 1),
        .corrections = zeroed((size_t)size, sizeof(int32_t)),
    };
    for (block.group = 0; block.group < rows.groups; block.group++)
        for (block.first = 0; block.first < positions; block.first += block.count) {
            block.count = (int)(positions - block.first < size ? positions - block.first : size);
            check_block(&rows, &block, x);
        }
    free(block.packed);
    free(block.window);
    free(block.corrections);
    free(x);
    free_parts(&parts);
    return rows.source;
}

static void sources(void **state)
{
    (void)state;
    const struct hl_row_source *const all[] = {&hl_rows_grouped,       &hl_rows_direct, &hl_rows_windows,
                                               &hl_rows_gather,        &hl_rows_packed, &hl_rows_copy,
                                               &hl_rows_gather_packed, &hl_rows_regroup};
    enum { SOURCES = sizeof all / sizeof *all };
    int seen[SOURCES] = {0};
    bool has_quads = false; // which matrix units multiply
    for (int i = 0; i < CASES; i++) {
        int pads;
        const struct hl_conv_shape shape = random_shape(&pads);
        if (shape.out_height == 0 || shape.out_width == 0) continue;
        const struct hl_simd *simd;
        for (int level = 0; (simd = hl_simd_level(level)); level++)
            for (int integers = 0; integers < 2; integers++) {
                has_quads |= simd->dot_width == 4;
                const struct hl_row_source *source = check(&shape, simd, integers ? simd->dot_width : 1);
                for (int k = 0; k < SOURCES; k++) seen[k] += source == all[k];
            }
    }
    for (int k = 0; k < SOURCES; k++)
        if (seen[k] == 0 && (has_quads || all[k] != &hl_rows_regroup)) fail_msg("%s was never chosen", all[k]->name);
    assert_in_range(known_taps, 1, seen[3] - 1); // and rows that were gathered without one
}

// The sum of a row of bytes, times the zero point that the weights keep.
static void corrections(void **state)
{
    (void)state;
    const struct hl_simd *simd;
    const struct hl_conv_shape shape = {1, 1, 3, 5, 1, 1, 1, 5, 1, 3, 1, 1, 1, 1, 0, 0};
    const int8_t x[3 * 5] = {1, -2, 3, -4, 5, -128, 127, -128, 127, 0, 9, 9, 9, 9, 9};
    for (int level = 0; (simd = hl_simd_level(level)); level++) {
        if (simd->dot_width != 4) continue;
        struct hl_rows rows;
        struct hl_parts parts = {0};
        hl_rows_init(&rows, simd, &shape, 4, 7, kTfLiteInt8);
        hl_rows_parts(&rows, 1, &parts);
        make_parts(&parts);
        char packed[3 * 8] = {0};
        int32_t got[3];
        const struct hl_row_block block = {.count = 3, .packed = packed, .corrections = got};
        rows.source->load(&rows, &block, x);
        for (int r = 0; r < 3; r++) {
            uint32_t sum = 0;
            for (int k = 0; k < 5; k++) sum += hl_simd_value(simd, (uint8_t)((uint8_t)x[r * 5 + k] ^ rows.sign_offset));
            assert_int_equal((uint32_t)got[r], 7 * sum);
        }
        free_parts(&parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sources), cmocka_unit_test(corrections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
