// SPDX-License-Identifier: Apache-2.0
// Reductions: y[kept axes] = f over all positions of the reduced axes of x, in memory order.
// in 0: x [any rank]; in 1: axes (int32, scalar or list; negative: from the end; repeated: once);
// out 0: x's shape without the reduced axes, or with ones there (keep_dims).
// SUM, MEAN: float32, int32, int64, and int8, uint8, int16 with scales. REDUCE_PROD: those, and 8
// and 16 bits without scales. REDUCE_MAX, REDUCE_MIN: those and bool, stored values compared.
// REDUCE_ANY, REDUCE_ALL: bool.
// Reducing no element gives the neutral element (MEAN: NaN, integers 0; quantized SUM and MEAN: the
// stored value 0).
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/common/copy.h"
#include "ops/common/quant.h"
#include "ops/op.h"

enum kind { SUM, MEAN, PRODUCT, LARGEST, SMALLEST, ANY, ALL };

static const char *const kind_name[] = {"sum", "mean", "product", "maximum", "minimum", "any", "all"};

// ---- runs: count neighbors of x into one sum, or each into its own, in row after row -----------

struct rows {
    int64_t count, step; // elements from row to row
    int length;
    bool one;
    int64_t sums, apart; // then: so many neighboring sums, and the elements from the rows of one to those of the next
};

typedef void (*run_function)(void *sums, const void *values, const struct rows *rows);

// So many neighboring sums stay in registers while rows pass; SUM and MEAN have a second, smaller number.
// (MEAN of 128 x 128 x 32 floats: 52 us with the sums in memory.)
enum { COLUMNS = 32, FEW_COLUMNS = 16 };

#define RUN_COLUMNS(name, type, sum_type, expression, columns)            \
    static void name(sum_type *y, const type *x, const struct rows *rows) \
    {                                                                     \
        sum_type sums[columns], a, b;                                     \
        memcpy(sums, y, sizeof sums);                                     \
        for (int64_t row = 0; row < rows->count; row++, x += rows->step)  \
            for (int i = 0; i < (columns); i++) {                         \
                a = sums[i];                                              \
                b = (sum_type)x[i];                                       \
                sums[i] = (sum_type)(expression);                         \
            }                                                             \
        memcpy(y, sums, sizeof sums);                                     \
    }

#define RUN(name, type, sum_type, expression, few)                                                            \
    RUN_COLUMNS(name##_columns, type, sum_type, expression, COLUMNS)                                          \
    RUN_COLUMNS(name##_few_columns, type, sum_type, expression, FEW_COLUMNS)                                  \
    static void name(void *sums, const void *values, const struct rows *rows)                                 \
    {                                                                                                         \
        const type *restrict x = values;                                                                      \
        sum_type *restrict y = sums, a, b;                                                                    \
        const int length = rows->length;                                                                      \
        int first = 0;                                                                                        \
        for (; !rows->one && first + COLUMNS <= length && rows->count > 1; first += COLUMNS)                  \
            name##_columns(y + first, x + first, rows);                                                       \
        for (; (few) && !rows->one && first + FEW_COLUMNS <= length && rows->count > 1; first += FEW_COLUMNS) \
            name##_few_columns(y + first, x + first, rows);                                                   \
        for (int64_t s = 0; rows->one && s < rows->sums; s++) {                                               \
            const type *from = x + s * rows->apart;                                                           \
            a = y[s];                                                                                         \
            for (int64_t row = 0; row < rows->count; row++, from += rows->step)                               \
                for (int i = 0; i < length; i++) {                                                            \
                    b = (sum_type)from[i];                                                                    \
                    a = (sum_type)(expression);                                                               \
                }                                                                                             \
            y[s] = a;                                                                                         \
        }                                                                                                     \
        for (int64_t row = 0; !rows->one && row < rows->count; row++, x += rows->step)                        \
            for (int i = first; i < length; i++) {                                                            \
                a = y[i];                                                                                     \
                b = (sum_type)x[i];                                                                           \
                y[i] = (sum_type)(expression);                                                                \
            }                                                                                                 \
    }

#define WRAPPED(type, operator) (type)((uint64_t)a operator(uint64_t) b)

RUN(sum_f32, float, float, a + b, true)
RUN(sum_i32, int32_t, int32_t, WRAPPED(int32_t, +), false)
RUN(sum_i64, int64_t, int64_t, WRAPPED(int64_t, +), false)
RUN(total_i8, int8_t, int64_t, a + b, true)
RUN(total_u8, uint8_t, int64_t, a + b, true)
RUN(total_i16, int16_t, int64_t, a + b, false)
RUN(total_i32, int32_t, int64_t, a + b, false)

RUN(product_f32, float, float, (a * b), false)
RUN(product_i8, int8_t, int8_t, WRAPPED(int8_t, *), false)
RUN(product_u8, uint8_t, uint8_t, WRAPPED(uint8_t, *), false)
RUN(product_i16, int16_t, int16_t, WRAPPED(int16_t, *), false)
RUN(product_i32, int32_t, int32_t, WRAPPED(int32_t, *), false)
RUN(product_i64, int64_t, int64_t, WRAPPED(int64_t, *), false)

RUN(largest_f32, float, float, b > a ? b : a, false)
RUN(largest_i8, int8_t, int8_t, b > a ? b : a, false)
RUN(largest_u8, uint8_t, uint8_t, b > a ? b : a, false)
RUN(largest_i16, int16_t, int16_t, b > a ? b : a, false)
RUN(largest_i32, int32_t, int32_t, b > a ? b : a, false)
RUN(largest_i64, int64_t, int64_t, b > a ? b : a, false)

RUN(smallest_f32, float, float, b < a ? b : a, false)
RUN(smallest_i8, int8_t, int8_t, b < a ? b : a, false)
RUN(smallest_u8, uint8_t, uint8_t, b < a ? b : a, false)
RUN(smallest_i16, int16_t, int16_t, b < a ? b : a, false)
RUN(smallest_i32, int32_t, int32_t, b < a ? b : a, false)
RUN(smallest_i64, int64_t, int64_t, b < a ? b : a, false)

RUN(any_bool, uint8_t, uint8_t, (b != 0) | a, false)
RUN(all_bool, uint8_t, uint8_t, (b != 0) & a, false)

// A kind of reduction for a type: what sums are made of, what they start from and how they grow.
struct reducer {
    enum kind kind;
    TfLiteType type, sum_type;
    run_function run;
    const void *start;
};

#define START(type, value) (&(const type){value})

static const struct reducer reducers[] = {
    {SUM, kTfLiteFloat32, kTfLiteFloat32, sum_f32, START(float, 0)},
    {SUM, kTfLiteInt8, kTfLiteInt64, total_i8, START(int64_t, 0)},
    {SUM, kTfLiteUInt8, kTfLiteInt64, total_u8, START(int64_t, 0)},
    {SUM, kTfLiteInt16, kTfLiteInt64, total_i16, START(int64_t, 0)},
    {SUM, kTfLiteInt32, kTfLiteInt32, sum_i32, START(int32_t, 0)},
    {SUM, kTfLiteInt64, kTfLiteInt64, sum_i64, START(int64_t, 0)},

    {MEAN, kTfLiteFloat32, kTfLiteFloat32, sum_f32, START(float, 0)},
    {MEAN, kTfLiteInt8, kTfLiteInt64, total_i8, START(int64_t, 0)},
    {MEAN, kTfLiteUInt8, kTfLiteInt64, total_u8, START(int64_t, 0)},
    {MEAN, kTfLiteInt16, kTfLiteInt64, total_i16, START(int64_t, 0)},
    {MEAN, kTfLiteInt32, kTfLiteInt64, total_i32, START(int64_t, 0)},
    {MEAN, kTfLiteInt64, kTfLiteInt64, sum_i64, START(int64_t, 0)},

    {PRODUCT, kTfLiteFloat32, kTfLiteFloat32, product_f32, START(float, 1)},
    {PRODUCT, kTfLiteInt8, kTfLiteInt8, product_i8, START(int8_t, 1)},
    {PRODUCT, kTfLiteUInt8, kTfLiteUInt8, product_u8, START(uint8_t, 1)},
    {PRODUCT, kTfLiteInt16, kTfLiteInt16, product_i16, START(int16_t, 1)},
    {PRODUCT, kTfLiteInt32, kTfLiteInt32, product_i32, START(int32_t, 1)},
    {PRODUCT, kTfLiteInt64, kTfLiteInt64, product_i64, START(int64_t, 1)},

    {LARGEST, kTfLiteFloat32, kTfLiteFloat32, largest_f32, START(float, -FLT_MAX)},
    {LARGEST, kTfLiteInt8, kTfLiteInt8, largest_i8, START(int8_t, INT8_MIN)},
    {LARGEST, kTfLiteUInt8, kTfLiteUInt8, largest_u8, START(uint8_t, 0)},
    {LARGEST, kTfLiteInt16, kTfLiteInt16, largest_i16, START(int16_t, INT16_MIN)},
    {LARGEST, kTfLiteInt32, kTfLiteInt32, largest_i32, START(int32_t, INT32_MIN)},
    {LARGEST, kTfLiteInt64, kTfLiteInt64, largest_i64, START(int64_t, INT64_MIN)},
    {LARGEST, kTfLiteBool, kTfLiteBool, any_bool, START(uint8_t, 0)},

    {SMALLEST, kTfLiteFloat32, kTfLiteFloat32, smallest_f32, START(float, FLT_MAX)},
    {SMALLEST, kTfLiteInt8, kTfLiteInt8, smallest_i8, START(int8_t, INT8_MAX)},
    {SMALLEST, kTfLiteUInt8, kTfLiteUInt8, smallest_u8, START(uint8_t, UINT8_MAX)},
    {SMALLEST, kTfLiteInt16, kTfLiteInt16, smallest_i16, START(int16_t, INT16_MAX)},
    {SMALLEST, kTfLiteInt32, kTfLiteInt32, smallest_i32, START(int32_t, INT32_MAX)},
    {SMALLEST, kTfLiteInt64, kTfLiteInt64, smallest_i64, START(int64_t, INT64_MAX)},
    {SMALLEST, kTfLiteBool, kTfLiteBool, all_bool, START(uint8_t, 1)},

    {ANY, kTfLiteBool, kTfLiteBool, any_bool, START(uint8_t, 0)},
    {ALL, kTfLiteBool, kTfLiteBool, all_bool, START(uint8_t, 1)},
};

static const struct reducer *find_reducer(enum kind kind, TfLiteType type)
{
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++)
        if (reducers[i].kind == kind && reducers[i].type == type) return &reducers[i];
    return NULL;
}

// ---- axes and shapes ----------------------------------------------------------------------------

// What the values of `axes` ask for.
struct reduction {
    const struct reducer *reducer;
    bool reduced[HL_MAX_RANK];
    int64_t count; // elements behind each output
    bool squares;  // of the values, whose MUL was taken over, are added up
};

static TfLiteStatus read_axes(TfLiteContext *ctx, TfLiteNode *node, struct reduction *r)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axes = hl_input(ctx, node, 1);
    memset(r->reduced, 0, sizeof r->reduced);
    r->count = 1;
    if (hl_rank(x) == 0) return kTfLiteOk; // whatever the axes say
    for (int64_t i = 0, n = hl_elements(axes); i < n; i++) {
        int axis = 0;
        HL_REQUIRE(ctx, node, hl_normalize_axis(HL_IN(int32_t, axes)[i], hl_rank(x), &axis),
                   "axis %d is outside the input's %d dimensions", (int)HL_IN(int32_t, axes)[i], hl_rank(x));
        if (!r->reduced[axis]) r->count *= hl_dim(x, axis);
        r->reduced[axis] = true;
    }
    return kTfLiteOk;
}

static bool sums_in_output(const struct reduction *r)
{
    return r->reducer->sum_type == r->reducer->type;
}

// Sizes the output, and the sums where they are not the output's elements.
static TfLiteStatus resize(TfLiteContext *ctx, TfLiteNode *node, const struct reduction *r, bool now)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteReducerParams *params = node->builtin_data;
    int rank = 0, dims[HL_MAX_RANK];
    for (int axis = 0; axis < hl_rank(x); axis++) {
        if (!r->reduced[axis])
            dims[rank++] = hl_dim(x, axis);
        else if (params->keep_dims)
            dims[rank++] = 1;
    }
    HL_TRY(hl_resize(ctx, hl_output(ctx, node, 0), rank, dims));
    if (sums_in_output(r)) return kTfLiteOk;
    if (now) return hl_resize(ctx, hl_temporary(ctx, node, 0), rank, dims);
    return hl_set_temporary(ctx, node, 0, r->reducer->sum_type, false, rank, dims);
}

static TfLiteStatus check_quantization(TfLiteContext *ctx, TfLiteNode *node, enum kind kind)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    int32_t low, high;
    if (!hl_type_range(x->type, &low, &high)) return kTfLiteOk;
    if (kind == LARGEST || kind == SMALLEST) {
        HL_REQUIRE(ctx, node, hl_same_quantization(x, y),
                   "output scale %g and zero point %d must equal the input's, %g and %d", hl_scale(y), hl_zero(y),
                   hl_scale(x), hl_zero(x));
        return kTfLiteOk;
    }
    if (kind == PRODUCT && !hl_is_quantized(x)) return kTfLiteOk;
    HL_REQUIRE(ctx, node, kind != PRODUCT || x->type != kTfLiteUInt8,
               "the product of quantized uint8 values is not supported");
    HL_REQUIRE(ctx, node, hl_scale(x) > 0 && isfinite(hl_scale(x)), "input scale %g must be positive and finite",
               hl_scale(x));
    HL_REQUIRE(ctx, node, hl_scale(y) > 0 && isfinite(hl_scale(y)), "output scale %g must be positive and finite",
               hl_scale(y));
    HL_REQUIRE(ctx, node, hl_zero(x) >= low && hl_zero(x) <= high && hl_zero(y) >= low && hl_zero(y) <= high,
               "zero points %d and %d must lie in %d..%d", hl_zero(x), hl_zero(y), (int)low, (int)high);
    HL_REQUIRE(ctx, node, x->type != kTfLiteInt16 || (hl_zero(x) == 0 && hl_zero(y) == 0),
               "int16 zero points %d and %d must be 0", hl_zero(x), hl_zero(y));
    return kTfLiteOk;
}

// Squares of rows that are added up, as in norms, need no memory: the sums are dot products. (262,144 floats in rows of
// 2, 4, 8, 16, 64 and 1,024, us: MUL and SUM 246, 119, 90, 68, 39, 36; so 243, 119, 59, 27, 14, 17.)
static void take_squares(TfLiteContext *ctx, TfLiteNode *node, struct reduction *r)
{
    const int last = hl_rank(hl_input(ctx, node, 0)) - 1;
    r->squares = r->reducer->type == kTfLiteFloat32 && (r->reducer->kind == SUM || r->reducer->kind == MEAN) &&
                 last >= 0 && r->reduced[last] && hl_row_kernels(ctx) != &hl_plain_row_kernels &&
                 hl_find_squares(ctx, node);
    if (r->squares) hl_take_over(ctx, node);
}

static TfLiteStatus compute(TfLiteContext *ctx, const TfLiteNode *node);

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, enum kind kind)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axes = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct reduction *r = node->user_data;

    r->reducer = find_reducer(kind, x->type);
    HL_REQUIRE(ctx, node, r->reducer, "the %s of %s values is not supported", kind_name[kind], hl_type_name(x->type));
    HL_TRY(hl_require_same_type(ctx, node, x, y));
    HL_REQUIRE(ctx, node, axes->type == kTfLiteInt32, "the axes are %s, not int32", hl_type_name(axes->type));
    HL_REQUIRE(ctx, node, hl_rank(x) <= HL_MAX_RANK, "%d dimensions are too many", hl_rank(x));
    HL_TRY(check_quantization(ctx, node, kind));

    HL_TRY(hl_set_temporary(ctx, node, 0, r->reducer->sum_type, false, 1, (const int[]){0}));
    r->squares = false;
    if (hl_is_constant(axes)) {
        HL_TRY(read_axes(ctx, node, r));
        take_squares(ctx, node, r);
        const bool folds = sums_in_output(r) && hl_fold(ctx, node, y); // the batch of a model, of its SHAPE
        HL_TRY(resize(ctx, node, r, false));
        return folds ? compute(ctx, node) : kTfLiteOk;
    }
    hl_make_dynamic(hl_output(ctx, node, 0));
    hl_make_dynamic(hl_temporary(ctx, node, 0));
    return kTfLiteOk;
}

// ---- values -------------------------------------------------------------------------------------

// Strides of x, and of the outputs as seen from x: 0 along reduced axes.
static void fill_strides(const TfLiteTensor *x, const struct reduction *r, int64_t strides[2][HL_MAX_RANK])
{
    int64_t in = 1, out = 1;
    for (int axis = hl_rank(x) - 1; axis >= 0; axis--) {
        strides[0][axis] = in;
        strides[1][axis] = r->reduced[axis] ? 0 : out;
        in *= hl_dim(x, axis);
        if (!r->reduced[axis]) out *= hl_dim(x, axis);
    }
}

// The axis before the last one becomes part of a run.
static void absorb_axis(struct hl_walk *walk)
{
    const int axis = walk->rank - 2;
    walk->count /= walk->dims[axis];
    for (int o = 0; o < 2; o++) walk->stride[o][axis] = walk->stride[o][axis + 1];
    walk->dims[axis] = walk->dims[axis + 1];
    walk->rank--;
}

// Reduces floats or bytes with kernels for the CPU. False: there is none.
static bool reduce_in_vectors(const struct hl_row_kernels *k, const struct reducer *reducer, const void *values,
                              const struct rows *rows, void *sums)
{
    const bool one = rows->one, takes_floats = reducer->type == kTfLiteFloat32, adds = reducer->kind <= MEAN;
    const bool takes_bools = reducer->type == kTfLiteBool;
    const bool takes_bytes = reducer->type == kTfLiteInt8 || reducer->type == kTfLiteUInt8 || takes_bools;
    const bool is_least = reducer->kind == SMALLEST || reducer->kind == ALL;
    const bool is_extreme = reducer->kind == LARGEST || reducer->kind == ANY || is_least;
    const uint8_t flip = (reducer->type == kTfLiteInt8 ? 0x80 : 0) ^ (is_least ? 0xff : 0);
    const float sign = is_least ? -1 : 1;
    if (rows->length < HL_REDUCED_MIN_COLUMNS || (!takes_floats && !takes_bytes) || (!adds && !is_extreme))
        return false;

    // Rows of one sum go one after the other, those of neighboring sums together.
    const int64_t stride = one ? rows->apart : rows->step, times = one ? rows->count : 1;
    const int64_t together = one ? rows->sums : rows->count;
    for (int64_t t = 0; t < times; t++) {
        const float *floats = (const float *)values + t * rows->step;
        const uint8_t *bytes = (const uint8_t *)values + t * rows->step;
        if (takes_floats && adds)
            (one ? k->add_rows : k->add_columns)(floats, stride, together, rows->length, sums);
        else if (takes_floats)
            (one ? k->largest_of_rows : k->largest_of_columns)(floats, sign, stride, together, rows->length, sums);
        else if (adds)
            (one ? k->add_byte_rows : k->add_byte_columns)(bytes, flip, stride, together, rows->length, sums);
        else
            (one ? k->largest_byte_of_rows : k->largest_byte_of_columns)(bytes, flip, stride, together, rows->length,
                                                                         sums);
    }
    return true;
}

// Adds up the squares of floats, in rows of one sum each.
static void add_squares(const struct hl_row_kernels *k, const float *values, const struct rows *rows, float *sums)
{
    enum { TOGETHER = 64 };
    float some[TOGETHER];
    for (int64_t t = 0; t < rows->count; t++)
        for (int64_t s = 0; s < rows->sums; s += TOGETHER) {
            const int now = rows->sums - s < TOGETHER ? (int)(rows->sums - s) : TOGETHER;
            const float *x = values + t * rows->step + s * rows->apart;
            k->dots_f32(x, rows->apart, now, x, rows->apart, rows->length, some);
            for (int i = 0; i < now; i++) sums[s + i] += some[i];
        }
}

// The sums of a walk over x.
static void reduce_walk(const struct hl_row_kernels *kernels, const TfLiteTensor *x, const struct reduction *r,
                        struct hl_walk *walk, void *sums)
{
    const struct reducer *reducer = r->reducer;
    const size_t size = hl_type_size(reducer->type), sum_size = hl_type_size(reducer->sum_type);
    struct rows rows = {
        .count = 1,
        .length = hl_walk_run(walk),
        .one = walk->rank == 0 || walk->stride[1][walk->rank - 1] == 0,
        .sums = 1,
    };
    // Rows that meet the same sums, as those of an image do, go together.
    if (walk->rank > 1 && walk->stride[1][walk->rank - 2] == 0) {
        rows.count = walk->dims[walk->rank - 2];
        rows.step = walk->stride[0][walk->rank - 2];
        absorb_axis(walk);
    }
    // Short rows of neighboring sums, too. (REDUCE_MAX and SUM of 635 x 475 rows of 2 floats: 6 ms with a call for each
    // row, 3.6 so.)
    if (walk->rank > 1 && rows.one && walk->stride[1][walk->rank - 2] == 1) {
        rows.sums = walk->dims[walk->rank - 2];
        rows.apart = walk->stride[0][walk->rank - 2];
        absorb_axis(walk);
    }
    for (int64_t done = 0; done < walk->count; done += rows.length, hl_walk_skip_run(walk)) {
        void *to = (char *)sums + (size_t)walk->at[1] * sum_size;
        const void *from = HL_IN(char, x) + (size_t)walk->at[0] * size;
        if (r->squares)
            add_squares(kernels, from, &rows, to);
        else if (!reduce_in_vectors(kernels, reducer, from, &rows, to))
            reducer->run(to, from, &rows);
    }
}

// Sums in pieces along the walk's first axis, each of which has sums of its own.
struct pieces {
    const struct hl_row_kernels *kernels;
    const struct reduction *reduction;
    const struct hl_walk *walk;
    const TfLiteTensor *x;
    void *sums;
    int64_t piece;
};

static void reduce_piece(void *arg, int64_t item, int worker)
{
    const struct pieces *p = arg;
    const int64_t first = item * p->piece, left = p->walk->dims[0] - first;
    struct hl_walk walk = *p->walk;
    (void)worker;
    hl_walk_take(&walk, first, left < p->piece ? left : p->piece);
    reduce_walk(p->kernels, p->x, p->reduction, &walk, p->sums);
}

static void reduce(const TfLiteContext *ctx, const TfLiteTensor *x, const struct reduction *r, void *sums,
                   int64_t outputs)
{
    enum { MIN_SHARED_VALUES = 8192, LINE = 64 }; // fewer take about as long as it takes to share them
    hl_fill(hl_type_bits(r->reducer->sum_type), outputs, sums, r->reducer->start);

    int64_t strides[2][HL_MAX_RANK];
    fill_strides(x, r, strides);
    struct hl_walk walk;
    hl_walk_start_strided(&walk, hl_rank(x), x->dims->data, 2, (const int64_t(*)[HL_MAX_RANK])strides);
    if (walk.rank == 0 || walk.stride[1][0] == 0 || walk.count < MIN_SHARED_VALUES || hl_thread_count(ctx) == 1) {
        reduce_walk(hl_row_kernels(ctx), x, r, &walk, sums);
        return;
    }
    struct pieces pieces = {hl_row_kernels(ctx), r, &walk, x, sums, hl_piece(ctx, walk.dims[0], true)};
    if (walk.stride[1][0] == 1)
        pieces.piece = (pieces.piece + LINE - 1) / LINE * LINE; // no two threads in a cache line
    hl_parallel(ctx, (walk.dims[0] - 1) / pieces.piece + 1, reduce_piece, &pieces);
}

static void store(TfLiteTensor *y, int64_t index, int64_t value)
{
    int32_t low = 0, high = 0;
    hl_type_range(y->type, &low, &high);
    value = value < low ? low : value > high ? high : value;
    if (y->type == kTfLiteInt16)
        HL_OUT(int16_t, y)[index] = (int16_t)value;
    else if (y->type == kTfLiteInt8)
        HL_OUT(int8_t, y)[index] = (int8_t)value;
    else
        HL_OUT(uint8_t, y)[index] = (uint8_t)value;
}

static int32_t rescale_total(int64_t total, struct hl_rescale rescale)
{
    if (total < INT32_MIN || total > INT32_MAX) return hl_rescale_apply_i64(total, rescale);
    return hl_rescale_apply((int32_t)total, rescale);
}

static void finish_quantized(const TfLiteTensor *x, TfLiteTensor *y, const struct reduction *r, const int64_t *totals,
                             int64_t outputs)
{
    struct hl_rescale rescale = {0, 0};
    double real = hl_scale(x) / hl_scale(y);
    bool mean = r->reducer->kind == MEAN;
    // The original sums uint8 in fixed point, int8 and int16 in float.
    bool fixed = mean || x->type == kTfLiteUInt8;
    float scale = x->params.scale / y->params.scale;
    float bias = (float)-hl_zero(x) * scale * (float)r->count;
    if (fixed && r->count > 0) rescale = mean ? hl_rescale_of_mean(real, r->count) : hl_rescale_from(real);

    for (int64_t i = 0; i < outputs; i++) {
        if (r->count == 0) {
            store(y, i, 0);
        } else if (fixed) {
            int64_t total = totals[i] - hl_zero(x) * r->count;
            store(y, i, (int64_t)rescale_total(total, rescale) + hl_zero(y));
        } else {
            float value = roundf((float)totals[i] * scale + bias);
            value = fminf(fmaxf(value, -1e9f), 1e9f);
            store(y, i, (int64_t)value + hl_zero(y));
        }
    }
}

static void finish_mean(TfLiteTensor *y, const struct reduction *r, const int64_t *totals, int64_t outputs)
{
    for (int64_t i = 0; i < outputs; i++) {
        if (y->type == kTfLiteFloat32) {
            HL_OUT(float, y)[i] /= (float)r->count;
        } else {
            int64_t mean = r->count > 0 ? totals[i] / r->count : 0;
            if (y->type == kTfLiteInt32)
                HL_OUT(int32_t, y)[i] = (int32_t)mean;
            else
                HL_OUT(int64_t, y)[i] = mean;
        }
    }
}

// Each factor after the first, and the product, is rescaled by the input's scale over the count-th
// root of the output's.
static void multiply_quantized(const TfLiteTensor *x, TfLiteTensor *y, const struct reduction *r)
{
    double root = r->count > 0 ? pow(hl_scale(y), 1.0 / (double)r->count) : hl_scale(y);
    struct hl_rescale rescale = hl_rescale_from(r->count > 0 ? hl_scale(x) / root : 1 / root);
    int64_t strides[2][HL_MAX_RANK];
    fill_strides(x, r, strides);
    int kept[HL_MAX_RANK], reduced[HL_MAX_RANK];
    for (int axis = 0; axis < hl_rank(x); axis++) {
        kept[axis] = r->reduced[axis] ? 1 : hl_dim(x, axis);
        reduced[axis] = r->reduced[axis] ? hl_dim(x, axis) : 1;
    }

    struct hl_walk outer, inner;
    hl_walk_start_strided(&outer, hl_rank(x), kept, 1, (const int64_t(*)[HL_MAX_RANK])strides);
    for (int64_t o = 0; o < outer.count; o++, hl_walk_next(&outer)) {
        int32_t product = 1;
        hl_walk_start_strided(&inner, hl_rank(x), reduced, 1, (const int64_t(*)[HL_MAX_RANK])strides);
        for (int64_t i = 0; i < inner.count; i++, hl_walk_next(&inner)) {
            int64_t at = outer.at[0] + inner.at[0];
            int64_t factor = x->type == kTfLiteInt16 ? HL_IN(int16_t, x)[at] : HL_IN(int8_t, x)[at];
            factor -= hl_zero(x);
            product = i == 0 ? (int32_t)factor : hl_rescale_apply_i64(product * factor, rescale);
        }
        store(y, o, (int64_t)hl_rescale_apply_i64(product, rescale) + hl_zero(y));
    }
}

static TfLiteStatus compute(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_read_input(ctx, node);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct reduction *r = node->user_data;
    enum kind kind = r->reducer->kind;
    int32_t low, high;
    bool narrow = hl_type_range(x->type, &low, &high);
    int64_t outputs = hl_elements(y);
    if (kind == PRODUCT && narrow && hl_is_quantized(x)) {
        multiply_quantized(x, y, r);
        return kTfLiteOk;
    }
    void *sums = sums_in_output(r) ? y->data.data : hl_temporary(ctx, node, 0)->data.data;
    reduce(ctx, x, r, sums, outputs);
    if (narrow && (kind == SUM || kind == MEAN))
        finish_quantized(x, y, r, sums, outputs);
    else if (kind == MEAN)
        finish_mean(y, r, sums, outputs);
    // The largest byte of an application's bools may be more than 1.
    for (int64_t i = 0; x->type == kTfLiteBool && i < outputs; i++) HL_OUT(uint8_t, y)[i] = HL_OUT(uint8_t, y)[i] != 0;
    return kTfLiteOk;
}

static TfLiteStatus reduce_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    if (hl_is_dynamic(hl_output(ctx, node, 0))) {
        HL_TRY(read_axes(ctx, node, node->user_data));
        HL_TRY(resize(ctx, node, node->user_data, true));
    }
    return hl_invoke_unless_folded(ctx, node, compute);
}

#define REDUCTION(symbol, kind)                                                \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                          \
        return prepare(ctx, node, kind);                                       \
    }                                                                          \
    const struct hl_op hl_op_##symbol = {                                      \
        .state_size = sizeof(struct reduction),                                \
        .prepare = symbol##_prepare,                                           \
        .invoke = reduce_invoke,                                               \
    };

REDUCTION(sum, SUM)
REDUCTION(mean, MEAN)
REDUCTION(reduce_prod, PRODUCT)
REDUCTION(reduce_max, LARGEST)
REDUCTION(reduce_min, SMALLEST)
REDUCTION(reduce_any, ANY)
REDUCTION(reduce_all, ALL)
