// SPDX-License-Identifier: Apache-2.0
// PAD, PADV2: x with a border of one value.
//     in 0: x [at most 5 dimensions]
//     in 1: paddings [rank, 2] int8 int16 int32 int64: positions before and after
//     in 2 (PADV2): the value, of x's type, quantized as the output
//     out 0: y. float32 float16 bfloat16 int8 uint8 int16 int32 int64 bool
// PAD writes 0; in int8, uint8 and int16 the output's zero point. Values of x are never rescaled.
#include "ops/common/copy.h"

enum { MAX_DIMENSIONS = 5 };

static const uint32_t types = HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) | HL_TYPE(UInt8) |
                              HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool);

static TfLiteStatus find_borders(TfLiteContext *ctx, const TfLiteNode *node, int *before, int *dims)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *paddings = hl_input(ctx, node, 1);

    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int64_t left = hl_integer_at(paddings, 2 * axis);
        const int64_t right = hl_integer_at(paddings, 2 * axis + 1);
        HL_REQUIRE(ctx, node, left >= 0 && left <= INT32_MAX && right >= 0 && right <= INT32_MAX,
                   "paddings %lld and %lld of axis %d are not possible", (long long)left, (long long)right, axis);
        HL_REQUIRE(ctx, node, hl_to_int(left + hl_dim(x, axis) + right, &dims[axis]),
                   "%d along axis %d becomes too long with paddings %lld and %lld", hl_dim(x, axis), axis,
                   (long long)left, (long long)right);
        before[axis] = (int)left;
    }
    return kTfLiteOk;
}

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    int before[MAX_DIMENSIONS], dims[MAX_DIMENSIONS];
    HL_TRY(find_borders(ctx, node, before, dims));
    return hl_resize(ctx, hl_output(ctx, node, 0), hl_rank(hl_input(ctx, node, 0)), dims);
}

static TfLiteStatus check_value(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *value = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_REQUIRE(ctx, node, hl_same_type(value, x), "the value is %s, the input %s", hl_type_name(value->type),
               hl_type_name(x->type));
    HL_REQUIRE(ctx, node, hl_elements(value) == 1, "the value must be one element, not %lld",
               (long long)hl_elements(value));
    HL_REQUIRE(ctx, node, !hl_has_zero_point(x->type) || hl_same_quantization(value, y),
               "the value is quantized unlike the output");
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 3, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *paddings = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_REQUIRE(ctx, node, hl_rank(x) <= MAX_DIMENSIONS, "the input has %d dimensions, more than %d", hl_rank(x),
               MAX_DIMENSIONS);
    HL_REQUIRE(ctx, node, hl_is_integer(paddings->type) && paddings->type != kTfLiteUInt8,
               "the paddings must be int8, int16, int32 or int64, not %s", hl_type_name(paddings->type));
    HL_REQUIRE(ctx, node, hl_rank(paddings) == 2 && hl_dim(paddings, 0) == hl_rank(x) && hl_dim(paddings, 1) == 2,
               "the paddings must have shape [%d, 2]", hl_rank(x));
    if (hl_input_count(node) == 3 && hl_input(ctx, node, 2)) HL_TRY(check_value(ctx, node));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(paddings), resize);
}

// y by axis; a scalar has one axis of one position.
struct padding {
    int bits, last; // the last axis with a border, or 0
    int before[MAX_DIMENSIONS], x_dims[MAX_DIMENSIONS], dims[MAX_DIMENSIONS];
    int64_t x_inner[MAX_DIMENSIONS], inner[MAX_DIMENSIONS]; // elements of one position
    const void *value, *x;
    char *y;
};

static void fill(const struct padding *p, int64_t count, int64_t at)
{
    hl_fill(p->bits, count, p->y + at * (p->bits / 8), p->value);
}

// Writes each element of y once: the border in front along this axis, what lies between, the border behind.
static void pad_axis(const struct padding *p, int axis, int64_t y_at, int64_t x_at)
{
    const int64_t inner = p->inner[axis], before = p->before[axis] * inner;
    const int64_t middle = p->x_dims[axis] * inner, start = y_at + before;
    fill(p, before, y_at);
    if (axis == p->last) {
        hl_copy_run(p->bits, middle, p->y, start, p->x, x_at);
    } else {
        for (int i = 0; i < p->x_dims[axis]; i++) pad_axis(p, axis + 1, start + i * inner, x_at + i * p->x_inner[axis]);
    }
    fill(p, p->dims[axis] * inner - before - middle, start + middle);
}

// Positions of y along the first axis of more than one, in pieces.
struct pad_run {
    struct padding padding;
    int axis;
    int64_t piece;
};

static void pad_piece(void *arg, int64_t item, int worker)
{
    const struct pad_run *run = arg;
    const struct padding *p = &run->padding;
    const int axis = run->axis, x_dim = p->x_dims[axis];
    const int64_t inner = p->inner[axis], first = item * run->piece;
    const int64_t end = first + run->piece < p->dims[axis] ? first + run->piece : p->dims[axis];
    (void)worker;
    for (int64_t at = first; at < end; at++) {
        const int64_t x_at = at - p->before[axis];
        if (x_at < 0 || x_at >= x_dim)
            fill(p, inner, at * inner);
        else if (axis >= p->last)
            hl_copy_run(p->bits, inner, p->y, at * inner, p->x, x_at * p->x_inner[axis]);
        else
            pad_axis(p, axis + 1, at * inner, x_at * p->x_inner[axis]);
    }
}

// Shares the work among threads, where there is enough of it.
static void pad(const TfLiteContext *ctx, struct pad_run *run, int rank)
{
    const struct padding *p = &run->padding;
    while (run->axis < rank - 1 && p->dims[run->axis] == 1 && p->x_dims[run->axis] == 1) run->axis++;
    const int64_t length = p->dims[run->axis];
    run->piece = hl_piece(ctx, length, length * p->inner[run->axis] * p->bits / 8 >= HL_MIN_SHARED_BYTES);
    if (run->piece == length)
        pad_axis(p, 0, 0, 0);
    else
        hl_parallel(ctx, (length - 1) / run->piece + 1, pad_piece, run);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteTensor *value = hl_input_count(node) == 3 ? hl_input(ctx, node, 2) : NULL;
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(x);
    struct pad_run run = {
        .padding = {.bits = hl_type_bits(x->type), .x_dims = {1}, .dims = {1}, .x_inner = {1}, .inner = {1}},
    };
    struct padding *p = &run.padding;

    HL_TRY(find_borders(ctx, node, p->before, p->dims));
    if (hl_is_dynamic(y)) HL_TRY(hl_resize(ctx, y, rank, p->dims));
    if (hl_elements(y) == 0) return kTfLiteOk;
    // Zeros of any size but where there is a zero point.
    const int64_t zeros = 0;
    const int16_t zero_16 = (int16_t)hl_zero(y);
    const uint8_t zero_8 = (uint8_t)hl_zero(y);
    p->value = &zeros;
    if (value)
        p->value = hl_data(value);
    else if (hl_has_zero_point(y->type))
        p->value = y->type == kTfLiteInt16 ? (const void *)&zero_16 : &zero_8;
    p->x = hl_data(x);
    p->y = y->data.raw;
    for (int axis = 0; axis < rank; axis++) {
        p->x_dims[axis] = hl_dim(x, axis);
        p->inner[axis] = hl_product(y->dims, axis + 1, rank);
        p->x_inner[axis] = hl_product(x->dims, axis + 1, rank);
        if (p->dims[axis] != p->x_dims[axis]) p->last = axis;
    }
    pad(ctx, &run, rank);
    return kTfLiteOk;
}

const struct hl_op hl_op_pad = {
    .prepare = prepare,
    .invoke = invoke,
    .order = HL_PADS,
};

const struct hl_op hl_op_padv2 = {
    .prepare = prepare,
    .invoke = invoke,
    .order = HL_PADS,
};
