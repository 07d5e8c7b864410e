// SPDX-License-Identifier: Apache-2.0
// ARG_MAX, ARG_MIN: y[outer, inner] = the first k with the largest (smallest) x[outer, k, inner].
// in 0: x [rank 1 or more] float32, int32, int8, uint8 (stored values compared) or bool;
// in 1: axis (int32 or int64, one element, negative: from the end);
// out 0: x's shape without the axis, int32 or int64.
// Floats: a number is better than a NaN. Of neighboring values, four or more, every fourth is compared with the others
// first, and a NaN that then leads the first of two is not replaced, nor one that leads the first two. (As the official
// runtime does it, which takes four at once.)
#include <math.h>

#include "ops/common/copy.h"
#include "ops/common/row_kernels.h"

// Index of the value wanted among count values, stride elements apart.
typedef int64_t (*search_function)(const void *values, int64_t count, int64_t stride);

#define SEARCH(name, type, better)                                         \
    static int64_t name(const void *values, int64_t count, int64_t stride) \
    {                                                                      \
        const type *x = values;                                            \
        int64_t best = 0;                                                  \
        for (int64_t k = 1; k < count; k++)                                \
            if (x[k * stride] better x[best * stride]) best = k;           \
        return best;                                                       \
    }

// Bytes, without a branch that CPUs would guess wrong: the largest of value * 2^22 - k, in stretches whose k has 22
// bits.
#define SEARCH_BYTES(name, type, better, sign)                                       \
    static int64_t name(const void *values, int64_t count, int64_t stride)           \
    {                                                                                \
        enum { MOST = 1 << 22 };                                                     \
        const type *x = values;                                                      \
        int64_t best = 0;                                                            \
        for (int64_t start = 0; start < count; start += MOST) {                      \
            int32_t length = count - start < MOST ? (int32_t)(count - start) : MOST; \
            int32_t largest = INT32_MIN;                                             \
            for (int32_t k = 0; k < length; k++) {                                   \
                int32_t key = (sign)*x[(start + k) * stride] * MOST - k;             \
                largest = key > largest ? key : largest;                             \
            }                                                                        \
            int64_t leader = start + (-largest & (MOST - 1));                        \
            if (x[leader * stride] better x[best * stride]) best = leader;           \
        }                                                                            \
        return best;                                                                 \
    }

#define SEARCH_FLOATS(name, better)                                                                         \
    static int64_t name(const void *values, int64_t count, int64_t stride)                                  \
    {                                                                                                       \
        const float *x = values;                                                                            \
        int64_t best = 0, k = 1;                                                                            \
        if (stride == 1 && count >= 4) {                                                                    \
            int64_t lead[4] = {0, 1, 2, 3};                                                                 \
            for (k = 4; k < count - count % 4; k++)                                                         \
                if (x[k] better x[lead[k % 4]] || (isnan(x[lead[k % 4]]) && !isnan(x[k]))) lead[k % 4] = k; \
            int64_t first = x[lead[1]] better x[lead[0]] ? lead[1] : lead[0];                               \
            int64_t second = x[lead[3]] better x[lead[2]] ? lead[3] : lead[2];                              \
            best = x[second] better x[first] ? second : first;                                              \
            for (int i = 0; i < 4; i++)                                                                     \
                if (x[lead[i]] == x[best] && lead[i] < best) best = lead[i];                                \
        }                                                                                                   \
        for (; k < count; k++) {                                                                            \
            float value = x[k * stride], leader = x[best * stride];                                         \
            if (value better leader || (isnan(leader) && !isnan(value))) best = k;                          \
        }                                                                                                   \
        return best;                                                                                        \
    }

SEARCH_FLOATS(largest_f32, >)
SEARCH_FLOATS(smallest_f32, <)
SEARCH(largest_i32, int32_t, >)
SEARCH(smallest_i32, int32_t, <)
SEARCH_BYTES(largest_i8, int8_t, >, 1)
SEARCH_BYTES(largest_u8, uint8_t, >, 1)
SEARCH_BYTES(smallest_i8, int8_t, <, -1)
SEARCH_BYTES(smallest_u8, uint8_t, <, -1)

static search_function find_search(TfLiteType type, bool largest)
{
    switch (type) {
    case kTfLiteFloat32: return largest ? largest_f32 : smallest_f32;
    case kTfLiteInt32: return largest ? largest_i32 : smallest_i32;
    case kTfLiteInt8: return largest ? largest_i8 : smallest_i8;
    case kTfLiteUInt8:
    case kTfLiteBool: return largest ? largest_u8 : smallest_u8;
    default: return NULL;
    }
}

struct arg_min_max {
    search_function search;
    bool rows;    // bytes or floats: hl_row_kernels searches rows of neighbors
    uint8_t flip; // makes the byte that is searched for the largest int8
    float sign;   // and the float
    int axis;
};

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    struct arg_min_max *op = node->user_data;
    int64_t axis = hl_integer_at(hl_input(ctx, node, 1), 0);
    HL_REQUIRE(ctx, node, hl_normalize_axis(axis, hl_rank(x), &op->axis),
               "axis %lld is outside the input's %d dimensions", (long long)axis, hl_rank(x));
    HL_REQUIRE(ctx, node, hl_dim(x, op->axis) > 0, "axis %d is empty", op->axis);

    int rank = 0, dims[HL_MAX_RANK];
    for (int i = 0; i < hl_rank(x); i++)
        if (i != op->axis) dims[rank++] = hl_dim(x, i);
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, bool largest)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axis = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct arg_min_max *op = node->user_data;

    op->search = find_search(x->type, largest);
    if (!op->search) return hl_unsupported_type(ctx, node, x);
    op->rows = x->type != kTfLiteInt32;
    op->sign = largest ? 1 : -1;
    op->flip = (uint8_t)((x->type == kTfLiteInt8 ? 0 : 0x80) ^ (largest ? 0 : 0xff));
    if (y->type != kTfLiteInt32 && y->type != kTfLiteInt64) return hl_unsupported_type(ctx, node, y);
    HL_TRY(hl_require_int32_or_int64(ctx, node, axis, "axis"));
    HL_REQUIRE(ctx, node, hl_elements(axis) == 1, "the axis has %lld elements, not 1", (long long)hl_elements(axis));
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1 && hl_rank(x) <= HL_MAX_RANK, "an input of %d dimensions is not supported",
               hl_rank(x));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(axis), resize);
}

struct run {
    const struct hl_row_kernels *kernels;
    const struct arg_min_max *op;
    const TfLiteTensor *x;
    TfLiteTensor *y;
    int64_t count, outer, inner;
    int64_t piece; // of outer
};

static void store(TfLiteTensor *y, int64_t at, int64_t value)
{
    if (y->type == kTfLiteInt64)
        HL_OUT(int64_t, y)[at] = value;
    else
        HL_OUT(int32_t, y)[at] = (int32_t)value;
}

static void search_rows(const struct run *run, int64_t first, int64_t end)
{
    enum { BLOCK = 256 };
    int32_t best[BLOCK];
    const bool floats = run->x->type == kTfLiteFloat32;
    for (int64_t row = first, rows; row < end; row += rows) {
        const int64_t at = row * run->count;
        rows = end - row < BLOCK ? end - row : BLOCK;
        if (floats)
            run->kernels->largest_floats(HL_IN(float, run->x) + at, run->op->sign, (int)rows, (int)run->count, best);
        else
            run->kernels->largest_bytes(HL_IN(uint8_t, run->x) + at, run->op->flip, (int)rows, (int)run->count, best);
        for (int64_t i = 0; i < rows; i++)
            if (best[i] >= 0)
                store(run->y, row + i, best[i]);
            else // a NaN
                store(run->y, row + i, run->op->search(HL_IN(float, run->x) + at + i * run->count, run->count, 1));
    }
}

static void run_piece(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const int64_t first = item * run->piece, left = run->outer - first;
    const int64_t end = first + (left < run->piece ? left : run->piece);
    const size_t size = hl_type_size(run->x->type);
    (void)worker;
    if (run->op->rows && run->inner == 1 && run->count <= HL_LARGEST_MAX_COLUMNS) {
        search_rows(run, first, end);
        return;
    }
    for (int64_t o = first; o < end; o++) {
        const char *block = HL_IN(char, run->x) + (size_t)(o * run->count * run->inner) * size;
        for (int64_t i = 0; i < run->inner; i++)
            store(run->y, o * run->inner + i, run->op->search(block + (size_t)i * size, run->count, run->inner));
    }
}

static TfLiteStatus arg_min_max_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct arg_min_max *op = node->user_data;
    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node));
    if (hl_elements(y) == 0) return kTfLiteOk;

    struct run run = {
        .kernels = hl_row_kernels(ctx),
        .op = op,
        .x = x,
        .y = y,
        .count = hl_dim(x, op->axis),
        .outer = hl_product(x->dims, 0, op->axis),
        .inner = hl_product(x->dims, op->axis + 1, hl_rank(x)),
    };
    run.piece = hl_piece(ctx, run.outer, (int64_t)x->bytes >= HL_MIN_SHARED_BYTES);
    hl_parallel(ctx, (run.outer - 1) / run.piece + 1, run_piece, &run);
    return kTfLiteOk;
}

#define ARG(symbol, largest)                                                   \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                          \
        return prepare(ctx, node, largest);                                    \
    }                                                                          \
    const struct hl_op hl_op_##symbol = {                                      \
        .state_size = sizeof(struct arg_min_max),                              \
        .prepare = symbol##_prepare,                                           \
        .invoke = arg_min_max_invoke,                                          \
    };

ARG(arg_max, true)
ARG(arg_min, false)
