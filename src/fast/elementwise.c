// SPDX-License-Identifier: Apache-2.0
// Operators that work element by element, by the loops of elements.h, which know contiguous arrays only: what is
// stretched to the other operand's shape is written out, a block at a time.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fast/elements.h"
#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/arithmetic.h"

enum {
    BLOCK = 4096,          // bytes that are written out at a time: they stay in the first cache
    LEAST_ELEMENTS = 32768 // fewer take about as long as it takes to share them
};

static const struct hl_element_loops *loops_for(const TfLiteTensor *y)
{
    int64_t count = hl_elements(y);
    return hl_simd_best(count < INT_MAX ? (int)count : INT_MAX)->kernels->elements;
}

// Elements in each of the pieces that threads share; a multiple of 64.
static int64_t piece_size(const TfLiteContext *ctx, int64_t count)
{
    int64_t threads = hl_thread_count(ctx);
    if (count < LEAST_ELEMENTS || threads == 1) return count;
    return (count / (2 * threads) + 63) / 64 * 64;
}

// ---- two inputs ---------------------------------------------------------------------------------

struct pairs {
    hl_pair_loop *loop;
    int size; // of an element
    struct hl_walk walk;
};

// Where an operand lies in some rows of the output, and room for what is written out.
struct side {
    _Alignas(64) char block[BLOCK];
    const char *from;
    int64_t down, right; // steps in elements
    bool is_written;     // a block that all rows share
};

static void repeat(char *to, const char *element, int size, int64_t count)
{
    if (size == 1) {
        memset(to, *element, (size_t)count);
        return;
    }
    uint32_t value, *words = (uint32_t *)(void *)to;
    memcpy(&value, element, sizeof value);
    for (int64_t i = 0; i < count; i++) words[i] = value;
}

// The operand's elements for `rows` rows of `columns` columns, from a row and a column on; whole rows if there are
// several.
static const char *elements_of(struct side *side, int size, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    const char *from = side->from + (row * side->down + column * side->right) * size;
    if (side->right == 1 && (rows == 1 || side->down == columns)) return from;
    if (side->is_written) return side->block;
    for (int64_t r = 0; r < rows; r++, from += side->down * size) {
        char *to = side->block + r * columns * size;
        if (side->right == 1)
            memcpy(to, from, (size_t)(columns * size));
        else
            repeat(to, from, size, columns);
    }
    side->is_written = side->down == 0;
    return side->block;
}

// The first block is the largest, so that one that is written stays good.
static void run_rows(const struct pairs *pairs, struct side *a, struct side *b, char *y, int64_t rows, int64_t columns,
                     const void *state)
{
    const int64_t most = BLOCK / pairs->size;
    const int64_t high = columns < most ? most / columns : 1, wide = columns < most ? columns : most;
    for (int64_t row = 0; row < rows; row += high) {
        const int64_t now = rows - row < high ? rows - row : high;
        for (int64_t column = 0; column < columns; column += wide) {
            const int64_t width = columns - column < wide ? columns - column : wide;
            pairs->loop(elements_of(a, pairs->size, row, column, now, width),
                        elements_of(b, pairs->size, row, column, now, width),
                        y + (row * columns + column) * pairs->size, now * width, state);
        }
    }
}

struct pairs_run {
    const struct pairs *pairs;
    const char *a, *b;
    char *y;
    const void *state;
    int64_t piece;
};

// An operand before the output's row `row`, counted over all planes (planes are the last two dimensions).
static int64_t offset_of(const struct hl_walk *walk, int operand, int64_t row)
{
    int64_t at = 0;
    for (int axis = walk->rank - 2; axis >= 0; row /= walk->dims[axis], axis--)
        at += row % walk->dims[axis] * walk->stride[operand][axis];
    return at;
}

static void start_side(struct side *side, const struct pairs *pairs, int operand, const char *data, int64_t row,
                       int64_t column)
{
    const struct hl_walk *walk = &pairs->walk;
    side->down = walk->rank < 2 ? 0 : walk->stride[operand][walk->rank - 2];
    side->right = walk->rank < 1 ? 0 : walk->stride[operand][walk->rank - 1];
    side->from = data + (offset_of(walk, operand, row) + column * side->right) * pairs->size;
    side->is_written = false;
}

static void run_piece(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct pairs_run *run = arg;
    const struct pairs *pairs = run->pairs;
    const struct hl_walk *walk = &pairs->walk;
    const int64_t columns = hl_walk_run(walk);
    const int64_t height = walk->rank < 2 ? 1 : walk->dims[walk->rank - 2];
    int64_t at = item * run->piece, end = at + run->piece;
    if (end > walk->count) end = walk->count;
    struct side a, b;
    while (at < end) {
        const int64_t row = at / columns, column = at % columns;
        int64_t rows = (end - at) / columns, width = columns;
        if (column != 0 || rows == 0) { // a part of a row
            rows = 1;
            width = columns - column < end - at ? columns - column : end - at;
        } else if (rows > height - row % height) { // not beyond the plane
            rows = height - row % height;
        }
        start_side(&a, pairs, 0, run->a, row, column);
        start_side(&b, pairs, 1, run->b, row, column);
        run_rows(pairs, &a, &b, run->y + at * pairs->size, rows, width, run->state);
        at += rows * width;
    }
}

static TfLiteStatus pairs_prepare(TfLiteContext *ctx, TfLiteNode *node, hl_pair_loop *loop, void **state, size_t *bytes)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (!loop || hl_elements(y) == 0) return kTfLiteOk;
    *bytes = sizeof(struct pairs);
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    if (!*state) return kTfLiteOk;
    struct pairs *made = *state;
    made->loop = loop;
    made->size = (int)hl_type_size(y->type);
    hl_walk_start(&made->walk, hl_rank(y), y->dims->data, 2,
                  (const TfLiteIntArray *[]){hl_input(ctx, node, 0)->dims, hl_input(ctx, node, 1)->dims});
    return kTfLiteOk;
}

static TfLiteStatus pairs_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct pairs *pairs = state;
    struct pairs_run run = {
        .pairs = pairs,
        .a = hl_data(hl_input(ctx, node, 0)),
        .b = hl_data(hl_input(ctx, node, 1)),
        .y = hl_output(ctx, node, 0)->data.data,
        .state = node->user_data,
        .piece = piece_size(ctx, pairs->walk.count),
    };
    hl_parallel(ctx, (pairs->walk.count + run.piece - 1) / run.piece, run_piece, &run);
    return kTfLiteOk;
}

// Floats, or bytes whose products are shifted by less than their bits.
static TfLiteStatus arithmetic_prepare(TfLiteContext *ctx, TfLiteNode *node, hl_pair_loop *f32, hl_pair_loop *i8,
                                       hl_pair_loop *u8, void **state, size_t *bytes)
{
    const struct hl_arithmetic *op = node->user_data;
    const TfLiteType type = hl_input(ctx, node, 0)->type;
    hl_pair_loop *loop = type == kTfLiteFloat32 ? f32 : type == kTfLiteInt8 ? i8 : type == kTfLiteUInt8 ? u8 : NULL;
    if (op->binary.folded || (type != kTfLiteFloat32 && op->y.by.shift > 14)) return kTfLiteOk;
    return pairs_prepare(ctx, node, loop, state, bytes);
}

#define ARITHMETIC(symbol, f32, i8, u8)                                                                     \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes) \
    {                                                                                                       \
        const struct hl_element_loops *loops = loops_for(hl_output(ctx, node, 0));                          \
        return arithmetic_prepare(ctx, node, f32, i8, u8, state, bytes);                                    \
    }                                                                                                       \
    const struct hl_fast hl_fast_##symbol = {symbol##_prepare, pairs_invoke, free};

ARITHMETIC(add, loops->add_f32, loops->add_i8, loops->add_u8)
ARITHMETIC(sub, loops->sub_f32, loops->sub_i8, loops->sub_u8)
ARITHMETIC(mul, loops->mul_f32, loops->mul_i8, loops->mul_u8)
ARITHMETIC(squared_difference, loops->square_f32, NULL, NULL)

static TfLiteStatus prelu_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    hl_pair_loop *loop = y->type == kTfLiteFloat32 ? loops_for(y)->prelu_f32 : NULL;
    return pairs_prepare(ctx, node, loop, state, bytes);
}

const struct hl_fast hl_fast_prelu = {prelu_prepare, pairs_invoke, free};

// ---- one input ----------------------------------------------------------------------------------

// One of the loops, and what it takes.
struct map {
    hl_map_loop *floats;
    float by[2];
    hl_byte_map_loop *bytes;
    const uint8_t *table;
    hl_quantize_loop *quantize;
    hl_dequantize_loop *dequantize;
    struct hl_byte_scale scale;
};

struct map_run {
    const struct map *map;
    const void *x;
    void *y;
    int64_t count, piece;
};

static void map_piece(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct map_run *run = arg;
    const struct map *map = run->map;
    const int64_t at = item * run->piece, left = run->count - at;
    const int64_t count = left < run->piece ? left : run->piece;
    const float *x_f32 = run->x;
    const uint8_t *x_u8 = run->x;
    float *y_f32 = run->y;
    uint8_t *y_u8 = run->y;
    if (map->floats)
        map->floats(x_f32 + at, y_f32 + at, count, map->by);
    else if (map->bytes)
        map->bytes(x_u8 + at, y_u8 + at, count, map->table);
    else if (map->quantize)
        map->quantize(x_f32 + at, y_u8 + at, count, &map->scale);
    else
        map->dequantize(x_u8 + at, y_f32 + at, count, &map->scale);
}

static TfLiteStatus map_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t count = hl_elements(x);
    struct map_run run = {state, hl_data(x), hl_output(ctx, node, 0)->data.data, count, piece_size(ctx, count)};
    hl_parallel(ctx, (count + run.piece - 1) / run.piece, map_piece, &run);
    return kTfLiteOk;
}

static TfLiteStatus make_map(TfLiteContext *ctx, TfLiteNode *node, const struct map *map, void **state, size_t *bytes)
{
    const bool has_loop = map->floats || map->bytes || map->quantize || map->dequantize;
    if (!has_loop || hl_elements(hl_output(ctx, node, 0)) == 0) return kTfLiteOk;
    *bytes = sizeof *map;
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    if (*state) *(struct map *)*state = *map;
    return kTfLiteOk;
}

static bool is_8bit(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 || tensor->type == kTfLiteUInt8;
}

// has_table: the state begins with a table of 8-bit values that says all (map.h).
static TfLiteStatus map_prepare(TfLiteContext *ctx, TfLiteNode *node, hl_map_loop *floats, float by0, float by1,
                                bool has_table, void **state, size_t *bytes)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    struct map map = {.by = {by0, by1}};
    if (y->type == kTfLiteFloat32) map.floats = floats;
    if (is_8bit(y) && has_table) map.bytes = loops_for(y)->bytes;
    map.table = node->user_data;
    return make_map(ctx, node, &map, state, bytes);
}

#define MAP(symbol, loop, by0, by1, has_table)                                                                      \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)         \
    {                                                                                                               \
        return map_prepare(ctx, node, loops_for(hl_output(ctx, node, 0))->loop, by0, by1, has_table, state, bytes); \
    }                                                                                                               \
    const struct hl_fast hl_fast_##symbol = {symbol##_prepare, map_invoke, free};

// SQRT and RSQRT look at 8-bit values before they map them.
MAP(logistic, logistic, 0, 0, true)
MAP(tanh, tanh, 0, 0, true)
MAP(exp, exp, 0, 0, true)
MAP(sqrt, sqrt, 0, 0, false)
MAP(rsqrt, rsqrt, 0, 0, false)
MAP(hard_swish, hard_swish, 0, 0, true)
MAP(leaky_relu, leaky_relu, ((const TfLiteLeakyReluParams *)node->builtin_data)->alpha, 0, true)
// The ranges of ops/rectifiers.c.
MAP(relu, clamp, 0, INFINITY, true)
MAP(relu6, clamp, 0, 6, true)
MAP(relu_n1_to_1, clamp, -1, 1, true)
MAP(relu_0_to_1, clamp, 0, 1, true)

// ---- QUANTIZE, DEQUANTIZE -----------------------------------------------------------------------

// Of a tensor of 8 bits with one scale. False: the zero point is none of the type's values.
static bool byte_scale_of(const TfLiteTensor *tensor, struct hl_byte_scale *scale)
{
    const int low = tensor->type == kTfLiteInt8 ? INT8_MIN : 0, zero = hl_zero(tensor);
    *scale = (struct hl_byte_scale){tensor->params.scale, (float)(low - zero), (float)(low + UINT8_MAX - zero), zero};
    return zero >= low && zero <= low + UINT8_MAX;
}

static bool has_one_scale(const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = hl_affine(tensor);
    return affine && affine->scale && affine->scale->size == 1;
}

static TfLiteStatus quantize_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    struct map map = {.table = node->user_data};
    if (!is_8bit(y)) return kTfLiteOk;
    if (is_8bit(x))
        map.bytes = loops_for(y)->bytes;
    else if (x->type == kTfLiteFloat32 && has_one_scale(y) && byte_scale_of(y, &map.scale))
        map.quantize = loops_for(y)->quantize;
    return make_map(ctx, node, &map, state, bytes);
}

const struct hl_fast hl_fast_quantize = {quantize_prepare, map_invoke, free};

static TfLiteStatus dequantize_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    struct map map = {0};
    // A constant has been converted in prepare.
    if (is_8bit(x) && !hl_is_constant(x) && has_one_scale(x) && byte_scale_of(x, &map.scale))
        map.dequantize = x->type == kTfLiteInt8 ? loops_for(x)->dequantize_i8 : loops_for(x)->dequantize_u8;
    return make_map(ctx, node, &map, state, bytes);
}

const struct hl_fast hl_fast_dequantize = {dequantize_prepare, map_invoke, free};
