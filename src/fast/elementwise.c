// SPDX-License-Identifier: Apache-2.0
// Elementwise operators by the microkernels of elements.h. Those read contiguous arrays only, so an operand that is
// broadcast to the other's shape is first written out, a block at a time.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "fast/byte_sum.h"
#include "fast/chain.h"
#include "fast/elements.h"
#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/arithmetic.h"
#include "ops/common/map.h"
#include "ops/prelu.h"

enum {
    BLOCK = 4096,              // bytes of an operand that are written out at a time: they stay in the first-level cache
    PART = 256,                // elements of a row's one value that are written out
    MIN_SHIFTED = 16,          // elements of a row whose one value is not
    MIN_SHARED_ELEMENTS = 2048 // fewer elements take about as long as waking the other threads
};

static const struct hl_simd *simd_for(const TfLiteTensor *y)
{
    int64_t count = hl_elements(y);
    return hl_simd_best(count < INT_MAX ? (int)count : INT_MAX);
}

static const struct hl_element_kernels *kernels_for(const TfLiteTensor *y)
{
    return simd_for(y)->kernels->elements;
}

// How many elements one work item has: a multiple of 64, so that no two threads write to one cache line.
static int64_t piece_size(const TfLiteContext *ctx, int64_t count)
{
    const int64_t piece = hl_piece(ctx, count, count >= MIN_SHARED_ELEMENTS);
    return piece < count ? (piece + HL_LINE - 1) / HL_LINE * HL_LINE : count;
}

// ---- two inputs ---------------------------------------------------------------------------------

struct pairs {
    hl_pair_kernel *kernel;
    hl_repeat_kernel *repeat;
    void (*shift_rows)(const struct hl_shifted_rows *rows); // of sums and products of floats; NULL: of others
    float signs[2];                                         // of a sum's operands; 0: a product
    int size;                                               // bytes of an element
    bool direct;                                            // no operand is broadcast
    struct hl_walk walk;
    const struct hl_chain *chain; // that goes on with the output; NULL: none
    bool has_sum, has_table;      // the kernel's state is `sum` or `table`, not the node's
    hl_byte_map_kernel *map;      // one operand is one constant byte: the kernel's state is this struct
    struct hl_byte_sum sum;
    uint8_t table[];
};

static const void *state_of(const struct pairs *pairs, const TfLiteNode *node)
{
    if (pairs->map) return pairs;
    if (pairs->has_table) return pairs->table;
    return pairs->has_sum ? (const void *)&pairs->sum : node->user_data;
}

// One operand of some rows of the output.
struct side {
    _Alignas(64) char block[BLOCK]; // elements that have been written out
    const char *from;               // the operand's element for the first output
    int64_t down, right;            // strides in elements; 0 where the operand is broadcast
    bool is_written;                // `block` holds a row that all following rows share
};

// Each of `rows` elements, `step` apart, `count` times. (SUB of 635 x 475 rows of 2 floats and 1: 732 us with a call
// for each row, 500 so. 4,687 rows of 64 floats and 1 on a Zen 4: 50 us with SSE2 here, 38 by the level's kernel.)
#define REPEAT(type)                                                           \
    for (int64_t r = 0; r < rows; r++) {                                       \
        type value, *values = (type *)(void *)to + r * count;                  \
        memcpy(&value, from + r * step * (int64_t)sizeof value, sizeof value); \
        for (int64_t i = 0; i < count; i++) values[i] = value;                 \
    }
static void repeat_rows(const struct pairs *pairs, char *to, const char *from, int64_t step, int64_t rows,
                        int64_t count)
{
    if (pairs->size == 1)
        REPEAT(uint8_t)
    else if (pairs->size == 2)
        REPEAT(uint16_t)
    else
        pairs->repeat(from, step, rows, count, to);
}

// Returns the operand's elements for a block of the output: `rows` rows of `columns` columns from (row, column) on.
// More than one row only with whole rows.
static const char *elements_of(const struct pairs *pairs, struct side *side, int64_t row, int64_t column, int64_t rows,
                               int64_t columns)
{
    const int size = pairs->size;
    const char *from = side->from + (row * side->down + column * side->right) * size;
    if (side->right == 1 && (rows == 1 || side->down == columns)) return from;
    if (side->is_written || (side->right == 0 && column > 0)) return side->block;
    if (side->right == 0) repeat_rows(pairs, side->block, from, side->down, rows, columns);
    for (int64_t r = 0; r < rows && side->right == 1; r++, from += side->down * size)
        memcpy(side->block + r * columns * size, from, (size_t)(columns * size));
    side->is_written = side->down == 0;
    return side->block;
}

// Whether each row has one value of its own.
static bool repeats(const struct side *side)
{
    return side->right == 0 && side->down != 0;
}

// Rows of x, each with one value of the other operand, which is not written out. (RMS norm of 1,024 x 1,024 floats on a
// Zen 4: 162 us with values written out for parts of rows, 141 so.)
static void shift_side(const struct pairs *pairs, const struct side *x, const struct side *values, int operand, char *y,
                       int64_t rows, int64_t columns, const struct hl_arithmetic *op)
{
    pairs->shift_rows(&(struct hl_shifted_rows){
        .x = (const float *)(const void *)x->from,
        .values = (const float *)(const void *)values->from,
        .y = (float *)(void *)y,
        .x_step = x->down,
        .step = values->down,
        .rows = rows,
        .count = columns,
        .sign = pairs->signs[1 - operand],
        .sign_of_value = pairs->signs[operand],
        .low = op->low_f32,
        .high = op->high_f32,
    });
}

// The first block is the largest, so a block that is_written, or has the value of a row, is long enough for all that
// follow. A value is written out for a part of its row only, which the row's other parts read again. (MUL of an RMS
// norm of 1,024 x 1,024 floats on a Zen 4 before it had shift_rows, us of the norm: 214 with whole rows, 176 so, 193
// with parts of 128.)
static void run_rows(const struct pairs *pairs, struct side *a, struct side *b, char *y, int64_t rows, int64_t columns,
                     const void *state)
{
    if (pairs->shift_rows && columns >= MIN_SHIFTED && a->right + b->right == 1) {
        const bool second = b->right == 0;
        shift_side(pairs, second ? a : b, second ? b : a, second, y, rows, columns, state);
        return;
    }
    const bool few = columns > PART && (repeats(a) || repeats(b));
    const int64_t most = few ? PART : BLOCK / pairs->size;
    const int64_t high = columns < most ? most / columns : 1, wide = columns < most ? columns : most;
    for (int64_t row = 0; row < rows; row += high) {
        const int64_t now = rows - row < high ? rows - row : high;
        for (int64_t column = 0; column < columns; column += wide) {
            const int64_t width = columns - column < wide ? columns - column : wide;
            pairs->kernel(elements_of(pairs, a, row, column, now, width),
                          elements_of(pairs, b, row, column, now, width), y + (row * columns + column) * pairs->size,
                          now * width, state);
        }
    }
}

struct pairs_run {
    const struct pairs *pairs;
    const char *a, *b;
    char *y;
    const void *state;
    int64_t piece;
    struct hl_chain_run chain;
};

// The offset of an operand's element for the first column of an output row. Rows are counted over all planes, which are
// the last two dimensions.
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

// Outputs from `at` to `end`.
static void run_span(const struct pairs_run *run, int64_t at, int64_t end)
{
    const struct pairs *pairs = run->pairs;
    const struct hl_walk *walk = &pairs->walk;
    if (pairs->direct) {
        const int64_t first = at * pairs->size;
        pairs->kernel(run->a + first, run->b + first, run->y + first, end - at, run->state);
        return;
    }
    const int64_t columns = hl_walk_run(walk);
    const int64_t height = walk->rank < 2 ? 1 : walk->dims[walk->rank - 2];
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

static void run_piece(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct pairs_run *run = arg;
    const int64_t first = item * run->piece, left = run->pairs->walk.count - first;
    const int64_t count = left < run->piece ? left : run->piece, span = run->chain.chain ? HL_CHAIN_PIECE : count;
    for (int64_t at = 0; at < count; at += span) {
        const int64_t now = count - at < span ? count - at : span;
        run_span(run, first + at, first + at + now);
        hl_chain_elements(&run->chain, first + at, now);
    }
}

enum { STORED = 256 }; // values of a byte

static void map_first(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const struct pairs *pairs = state;
    (void)b;
    pairs->map(a, y, count, pairs->table);
}

static void map_second(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    map_first(b, a, y, count, state);
}

// The operand that is one constant byte beside many others, so that a table of 256 results takes less time; -1: none.
static int single_byte(const TfLiteTensor *a, const TfLiteTensor *b, const TfLiteTensor *y)
{
    enum { MIN_MAPPED = 4096 };
    if (hl_type_size(y->type) != 1 || hl_elements(y) < MIN_MAPPED || !hl_simd_byte_map(simd_for(y))) return -1;
    if (hl_elements(b) == 1 && hl_is_constant(b)) return 1;
    return hl_elements(a) == 1 && hl_is_constant(a) ? 0 : -1;
}

// The table is what the kernel makes of all values. (MUL of 8,388,608 int8 and one on a Zen 4: 1.43 ms, 0.25 so.)
static void make_table(struct pairs *made, const TfLiteNode *node, int single, uint8_t byte, hl_byte_map_kernel *map)
{
    uint8_t values[2][STORED];
    memset(values[single], byte, STORED);
    for (int i = 0; i < STORED; i++) values[1 - single][i] = (uint8_t)i;
    made->kernel(values[0], values[1], made->table, STORED, node->user_data);
    made->kernel = single == 1 ? map_first : map_second;
    made->map = map;
}

static void set_shift(struct pairs *made, const struct hl_element_kernels *kernels)
{
    const bool adds = made->kernel == kernels->add_f32, subtracts = made->kernel == kernels->sub_f32;
    made->shift_rows = adds || subtracts || made->kernel == kernels->mul_f32 ? kernels->shift_rows : NULL;
    made->signs[0] = adds || subtracts ? 1 : 0;
    made->signs[1] = adds ? 1 : subtracts ? -1 : 0;
}

// table_bytes: of a table that the kernel gets in place of the node's state; 0: none.
static TfLiteStatus pairs_prepare(TfLiteContext *ctx, TfLiteNode *node, hl_pair_kernel *kernel, size_t table_bytes,
                                  void **state, size_t *bytes)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (!kernel || hl_elements(y) == 0) return kTfLiteOk;
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    const int single = table_bytes > 0 ? -1 : single_byte(a, b, y);
    *bytes = sizeof(struct pairs) + (single >= 0 ? STORED : table_bytes);
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    if (!*state) return kTfLiteOk;
    struct pairs *made = *state;
    made->kernel = kernel;
    made->repeat = kernels_for(y)->repeat;
    set_shift(made, kernels_for(y));
    made->has_table = table_bytes > 0;
    made->has_sum = false;
    made->map = NULL;
    made->size = (int)hl_type_size(y->type);
    made->direct = hl_elements(a) == hl_elements(y) && hl_elements(b) == hl_elements(y);
    hl_walk_start(&made->walk, hl_rank(y), y->dims->data, 2, (const TfLiteIntArray *[]){a->dims, b->dims});
    if (single >= 0)
        make_table(made, node, single, *(const uint8_t *)hl_data(single ? b : a), hl_simd_byte_map(simd_for(y)));
    return kTfLiteOk;
}

static TfLiteStatus pairs_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct pairs *pairs = state;
    struct pairs_run run = {
        .pairs = pairs,
        .a = hl_data(hl_input(ctx, node, 0)),
        .b = hl_data(hl_input(ctx, node, 1)),
        .y = hl_result(ctx, node)->data.data,
        .state = state_of(pairs, node),
        .piece = piece_size(ctx, pairs->walk.count),
    };
    hl_chain_begin(ctx, pairs->chain, run.y, &run.chain);
    hl_parallel(ctx, (pairs->walk.count + run.piece - 1) / run.piece, run_piece, &run);
    return kTfLiteOk;
}

static bool lead_pairs(void *state, const struct hl_chain *chain)
{
    ((struct pairs *)state)->chain = chain;
    return true;
}

static void run_pairs(const struct hl_step *step, const void *a, const void *b, void *y, int64_t count)
{
    const struct pairs *pairs = step->state;
    pairs->kernel(a, b, y, count, step->params);
}

static void describe_pairs(const TfLiteNode *node, const void *state, struct hl_step *step)
{
    *step = (struct hl_step){.run = run_pairs, .state = state, .params = state_of(state, node), .inputs = {0, 1}};
}

// The kernels of an operator, by type.
struct kernels_of_types {
    hl_pair_kernel *f32, *i8, *u8, *i16;
};

static hl_pair_kernel *kernel_of(const struct kernels_of_types *kernels, TfLiteType type)
{
    switch (type) {
    case kTfLiteFloat32: return kernels->f32;
    case kTfLiteInt8: return kernels->i8;
    case kTfLiteUInt8: return kernels->u8;
    case kTfLiteInt16: return kernels->i16;
    default: return NULL;
    }
}

// Chooses the kernel for the type. Bytes whose sum or product is shifted left by more than 14 bits, and int16 that are
// shifted left at all, stay with the reference kernel, because 32 bits would not hold it.
static TfLiteStatus arithmetic_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct kernels_of_types *kernels,
                                       void **state, size_t *bytes)
{
    const struct hl_arithmetic *op = node->user_data;
    const TfLiteType type = hl_input(ctx, node, 0)->type;
    const int most_left = type == kTfLiteInt16 ? 0 : 14;
    if (op->binary.folded || (type != kTfLiteFloat32 && (!op->rescales || op->y.rescale.shift > most_left)))
        return kTfLiteOk;
    return pairs_prepare(ctx, node, kernel_of(kernels, type), 0, state, bytes);
}

// Sums of bytes with one rounding, where there are so many that finding out whether they are right pays: each try
// takes as long as 30 runs save at most, and mostly one does.
static TfLiteStatus sum_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct kernels_of_types *kernels,
                                bool subtracts, void **state, size_t *bytes)
{
    enum { MIN_PROVEN = 4096 };
    HL_TRY(arithmetic_prepare(ctx, node, kernels, state, bytes));
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    hl_pair_kernel *fast = kernels_for(y)->sum_pairs;
    struct pairs *pairs = *state;
    if (!pairs || pairs->size > 1 || pairs->map || !fast || hl_elements(y) < MIN_PROVEN) return kTfLiteOk;
    pairs->has_sum =
        hl_byte_sum_make(&pairs->sum, fast, pairs->kernel, node->user_data, y->type == kTfLiteUInt8, subtracts);
    if (pairs->has_sum) pairs->kernel = fast;
    return kTfLiteOk;
}

#define KERNELS(name)                                            \
    &(struct kernels_of_types)                                   \
    {                                                            \
        k->name##_f32, k->name##_i8, k->name##_u8, k->name##_i16 \
    }
#define PAIRS(symbol, prepare_any)                                                                          \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes) \
    {                                                                                                       \
        const struct hl_element_kernels *k = kernels_for(hl_output(ctx, node, 0));                          \
        return prepare_any;                                                                                 \
    }                                                                                                       \
    const struct hl_fast hl_fast_##symbol = {.prepare = symbol##_prepare,                                   \
                                             .invoke = pairs_invoke,                                        \
                                             .release = free,                                               \
                                             .describe = describe_pairs,                                    \
                                             .lead = lead_pairs};

PAIRS(add, sum_prepare(ctx, node, KERNELS(add), false, state, bytes))
PAIRS(sub, sum_prepare(ctx, node, KERNELS(sub), true, state, bytes))
PAIRS(mul, arithmetic_prepare(ctx, node, KERNELS(mul), state, bytes))
PAIRS(div, arithmetic_prepare(ctx, node, &(struct kernels_of_types){.f32 = k->div_f32}, state, bytes))
PAIRS(squared_difference,
      arithmetic_prepare(ctx, node, &(struct kernels_of_types){.f32 = k->square_f32, .i8 = k->square_i8}, state, bytes))

static TfLiteStatus pick_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct kernels_of_types *kernels,
                                 void **state, size_t *bytes)
{
    const struct hl_binary *op = node->user_data;
    if (op->folded) return kTfLiteOk;
    return pairs_prepare(ctx, node, kernel_of(kernels, hl_input(ctx, node, 0)->type), 0, state, bytes);
}
PAIRS(maximum, pick_prepare(ctx, node, KERNELS(larger), state, bytes))
PAIRS(minimum, pick_prepare(ctx, node, KERNELS(smaller), state, bytes))

// PRELU of bytes by a table where the CPU level has no kernel: a row for each slope, with an entry for each value. (256
// x 256 x 64 int8 on one thread of a Zen 4: 19.7 ms by the reference kernel, 2.3 so, 1.4 by the level's.)

static void prelu_by_table(const void *a, const void *b, void *y, int64_t count, const void *table)
{
    const uint8_t *values = a, *slopes = b, *entries = table;
    uint8_t *to = y;
    for (int64_t i = 0; i < count; i++) to[i] = entries[slopes[i] * STORED + values[i]];
}

static void fill_row(const struct hl_prelu *op, uint8_t *row, int slope, int x_zero, int y_zero, bool is_signed)
{
    for (int i = 0; i < STORED; i++)
        row[i] = (uint8_t)hl_prelu_apply(op, (is_signed ? (int8_t)i : i) - x_zero, slope, y_zero);
}

// Rows of slopes that a constant has not are left out.
static void fill_table(const struct hl_prelu *op, const TfLiteTensor *x, const TfLiteTensor *alpha,
                       const TfLiteTensor *y, uint8_t *table)
{
    const bool is_signed = x->type == kTfLiteInt8, constant = hl_is_constant(alpha);
    bool used[STORED];
    memset(used, !constant, sizeof used);
    for (int64_t i = 0; constant && i < hl_elements(alpha); i++) used[HL_IN(uint8_t, alpha)[i]] = true;
    for (int i = 0; i < STORED; i++)
        if (used[i])
            fill_row(op, table + i * STORED, (is_signed ? (int8_t)i : i) - hl_zero(alpha), hl_zero(x), hl_zero(y),
                     is_signed);
}

static void set_byte_prelu(const struct hl_prelu *op, const TfLiteTensor *x, const TfLiteTensor *alpha,
                           const TfLiteTensor *y, uint8_t *state)
{
    const struct hl_byte_prelu prelu = {
        .positive = op->positive,
        .negative = op->negative,
        .low = op->low,
        .high = op->high,
        .x_zero = hl_zero(x),
        .slope_zero = hl_zero(alpha),
        .y_zero = hl_zero(y),
        .is_unsigned = x->type == kTfLiteUInt8,
    };
    memcpy(state, &prelu, sizeof prelu);
}

static TfLiteStatus prelu_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    const bool in_bytes = HL_HAS_BYTES && hl_type_size(y->type) == 1;
    if (!in_bytes && y->type != kTfLiteFloat32) return kTfLiteOk;
    const struct hl_prelu *op = node->user_data;
    hl_pair_kernel *by_level = in_bytes ? kernels_for(y)->prelu_bytes : NULL;
    if (in_bytes && (op->positive.shift > HL_PRELU_LEFT || op->negative.shift > HL_PRELU_LEFT)) by_level = NULL;
    hl_pair_kernel *kernel = !in_bytes ? kernels_for(y)->prelu_f32 : by_level ? by_level : prelu_by_table;
    const size_t table_bytes = !in_bytes ? 0 : by_level ? sizeof(struct hl_byte_prelu) : STORED * STORED;
    HL_TRY(pairs_prepare(ctx, node, kernel, table_bytes, state, bytes));
    struct pairs *made = *state;
    if (made && by_level) set_byte_prelu(op, x, hl_input(ctx, node, 1), y, made->table);
    if (made && in_bytes && !by_level) fill_table(op, x, hl_input(ctx, node, 1), y, made->table);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_prelu = {
    .prepare = prelu_prepare, .invoke = pairs_invoke, .release = free, .describe = describe_pairs, .lead = lead_pairs};

// ---- one input ----------------------------------------------------------------------------------

// One kernel, and its parameters; the other kernels are NULL.
struct map {
    hl_map_kernel *floats;
    float params[2];
    hl_byte_map_kernel *bytes;
    const uint8_t *table;
    hl_quantize_kernel *quantize;
    hl_dequantize_kernel *dequantize;
    struct hl_byte_scale scale;
    hl_rescale_kernel *rescale_words;
    struct hl_rescale rescale;
    const struct hl_chain *chain; // that goes on with the output; NULL: none
};

struct map_run {
    const struct map *map;
    const void *x;
    void *y;
    int64_t x_size, y_size; // bytes of an element
    int64_t count, piece;
    struct hl_chain_run chain;
};

static void map_elements(const struct map *map, const void *x, void *y, int64_t count)
{
    if (map->floats)
        map->floats(x, y, count, map->params);
    else if (map->bytes)
        map->bytes(x, y, count, map->table);
    else if (map->quantize)
        map->quantize(x, y, count, &map->scale);
    else if (map->rescale_words)
        map->rescale_words(x, y, count, &map->rescale);
    else
        map->dequantize(x, y, count, &map->scale);
}

static void map_piece(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct map_run *run = arg;
    const int64_t first = item * run->piece, left = run->count - first, count = left < run->piece ? left : run->piece;
    const int64_t end = first + count, span = run->chain.chain ? HL_CHAIN_PIECE : count;
    for (int64_t at = first; at < end; at += span) {
        const int64_t now = end - at < span ? end - at : span;
        map_elements(run->map, (const char *)run->x + at * run->x_size, (char *)run->y + at * run->y_size, now);
        hl_chain_elements(&run->chain, at, now);
    }
}

static bool lead_map(void *state, const struct hl_chain *chain)
{
    ((struct map *)state)->chain = chain;
    return true;
}

static void run_map(const struct hl_step *step, const void *a, const void *b, void *y, int64_t count)
{
    (void)b;
    map_elements(step->state, a, y, count);
}

static void describe_map(const TfLiteNode *node, const void *state, struct hl_step *step)
{
    (void)node;
    *step = (struct hl_step){.run = run_map, .state = state, .inputs = {0, 1}};
}

static TfLiteStatus map_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t count = hl_elements(x);
    const struct map *map = state;
    TfLiteTensor *y = hl_result(ctx, node);
    struct map_run run = {
        .map = map,
        .x = hl_data(x),
        .y = y->data.data,
        .x_size = (int64_t)hl_type_size(x->type),
        .y_size = (int64_t)hl_type_size(y->type),
        .count = count,
        .piece = piece_size(ctx, count),
    };
    hl_chain_begin(ctx, map->chain, y->data.data, &run.chain);
    hl_parallel(ctx, (count + run.piece - 1) / run.piece, map_piece, &run);
    return kTfLiteOk;
}

static TfLiteStatus make_map(TfLiteContext *ctx, TfLiteNode *node, const struct map *map, void **state, size_t *bytes)
{
    const bool has_kernel = map->floats || map->bytes || map->quantize || map->dequantize || map->rescale_words;
    if (!has_kernel || hl_elements(hl_output(ctx, node, 0)) == 0) return kTfLiteOk;
    *bytes = sizeof *map;
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    if (*state) *(struct map *)*state = *map;
    return kTfLiteOk;
}

static bool is_8bit(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 || tensor->type == kTfLiteUInt8;
}

// With has_table the node's user_data begins with a table of all 256 results (ops/common/map.h).
static TfLiteStatus map_prepare(TfLiteContext *ctx, TfLiteNode *node, hl_map_kernel *floats, float param0, float param1,
                                bool has_table, void **state, size_t *bytes)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    struct map map = {.params = {param0, param1}};
    if (y->type == kTfLiteFloat32) map.floats = floats;
    if (is_8bit(y) && has_table) map.bytes = hl_simd_byte_map(simd_for(y));
    map.table = node->user_data;
    return make_map(ctx, node, &map, state, bytes);
}

#define MAP_BY(symbol, map_kernel, param0, param1, has_table)                                               \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes) \
    {                                                                                                       \
        const struct hl_element_kernels *k = kernels_for(hl_output(ctx, node, 0));                          \
        return map_prepare(ctx, node, map_kernel, param0, param1, has_table, state, bytes);                 \
    }                                                                                                       \
    const struct hl_fast hl_fast_##symbol = {.prepare = symbol##_prepare,                                   \
                                             .invoke = map_invoke,                                          \
                                             .release = free,                                               \
                                             .describe = describe_map,                                      \
                                             .lead = lead_map};
#define MAP(symbol, kernel, param0, param1, has_table) MAP_BY(symbol, k->kernel, param0, param1, has_table)

// SQRT and RSQRT refuse some 8-bit values, so the reference kernel has to look at each.
MAP(logistic, logistic, 0, 0, true)
MAP(tanh, tanh, 0, 0, true)
MAP(exp, exp, 0, 0, true)
MAP(log, log, 0, 0, true)
MAP(sin, sin, 0, 0, false)
MAP(cos, cos, 0, 0, false)
MAP(sqrt, sqrt, 0, 0, false)
MAP(rsqrt, rsqrt, 0, 0, false)
MAP(hard_swish, hard_swish, 0, 0, true)
MAP(neg, negative, 0, 0, false)
MAP(abs, magnitude, 0, 0, true)
MAP(square, square, 0, 0, false)
MAP(floor, floor, 0, 0, false)
MAP(ceil, ceil, 0, 0, false)
MAP(round, round, 0, 0, false)
MAP(elu, elu, 0, 0, true)
MAP_BY(gelu, ((const TfLiteGeluParams *)node->builtin_data)->approximate ? k->gelu_tanh : k->gelu, 0, 0, true)
MAP(leaky_relu, leaky_relu, ((const TfLiteLeakyReluParams *)node->builtin_data)->alpha, 0, true)
// The ranges are those of ops/rectifiers.c.
MAP(relu, clamp, 0, INFINITY, true)
MAP(relu6, clamp, 0, 6, true)
MAP(relu_n1_to_1, clamp, -1, 1, true)
MAP(relu_0_to_1, clamp, 0, 1, true)

// ---- QUANTIZE, DEQUANTIZE -----------------------------------------------------------------------

// Fills `scale` from an 8-bit tensor with one scale. Returns false if the zero point is no value of the type.
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
    if (x->type == kTfLiteInt16 && y->type == kTfLiteInt16) {
        map.rescale_words = kernels_for(y)->rescale_words;
        map.rescale = hl_rescale_from(hl_scale(x) / hl_scale(y)); // zero points are 0
        return make_map(ctx, node, &map, state, bytes);
    }
    if (!is_8bit(y)) return kTfLiteOk;
    if (is_8bit(x))
        map.bytes = hl_simd_byte_map(simd_for(y));
    else if (x->type == kTfLiteFloat32 && has_one_scale(y) && byte_scale_of(y, &map.scale))
        map.quantize = kernels_for(y)->quantize;
    return make_map(ctx, node, &map, state, bytes);
}

const struct hl_fast hl_fast_quantize = {
    .prepare = quantize_prepare, .invoke = map_invoke, .release = free, .describe = describe_map, .lead = lead_map};

static TfLiteStatus dequantize_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    struct map map = {0};
    // Constants were converted in the operator's prepare.
    if (is_8bit(x) && !hl_is_constant(x) && has_one_scale(x) && byte_scale_of(x, &map.scale))
        map.dequantize = x->type == kTfLiteInt8 ? kernels_for(x)->dequantize_i8 : kernels_for(x)->dequantize_u8;
    return make_map(ctx, node, &map, state, bytes);
}

const struct hl_fast hl_fast_dequantize = {.prepare = dequantize_prepare,
                                           .invoke = map_invoke,
                                           .release = free,
                                           .lead = lead_map};
