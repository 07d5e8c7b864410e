// SPDX-License-Identifier: Apache-2.0
// GATHER_ND: y[i..] = x[indices[i.., :]]: slices of x at positions of its first `depth` dimensions.
//     in 0: x, in 1: indices [any.., depth] int16 int32 int64; out 0: y [any.., rest of x's shape]
//     float32 float16 bfloat16 int8 uint8 int16 int32 int64 bool string
// SCATTER_ND: zeros to which updates[i..] is added at indices[i.., :]; integers wrap, bool is or.
//     in 0: indices [any.., depth] int32, in 1: updates [any.., rest of y's shape]
//     in 2: y's shape int32; out 0: y. float32 int8 uint8 int32 int64 bool
// Every index is checked against its dimension before anything is written.
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <string.h>

// ---- common -------------------------------------------------------------------------------------

// The indices as rows of `depth` positions, for an array of the given shape.
struct rows {
    const TfLiteTensor *indices;
    const TfLiteIntArray *dims; // of the array
    int depth;
    int64_t count; // of rows
    int64_t slice; // elements behind each position
};

static struct rows make_rows(const TfLiteTensor *indices, const TfLiteTensor *array)
{
    const int last = hl_rank(indices) - 1, depth = hl_dim(indices, last);
    return (struct rows){
        .indices = indices,
        .dims = array->dims,
        .depth = depth,
        .count = hl_product(indices->dims, 0, last),
        .slice = hl_product(array->dims, depth, hl_rank(array)),
    };
}

static TfLiteStatus check_rows(TfLiteContext *ctx, const TfLiteNode *node, const struct rows *rows)
{
    if (rows->depth == 0) return kTfLiteOk;
    for (int64_t row = 0; row < rows->count; row++) {
        for (int axis = 0; axis < rows->depth; axis++) {
            const int64_t index = hl_integer_at(rows->indices, row * rows->depth + axis);
            HL_REQUIRE(ctx, node, index >= 0 && index < rows->dims->data[axis],
                       "index %lld of row %lld is outside dimension %d, which is %d", (long long)index, (long long)row,
                       axis, rows->dims->data[axis]);
        }
    }
    return kTfLiteOk;
}

// Number of the slice that a row names.
static int64_t slice_of(const struct rows *rows, int64_t row)
{
    int64_t number = 0;
    for (int axis = 0; axis < rows->depth; axis++)
        number = number * rows->dims->data[axis] + hl_integer_at(rows->indices, row * rows->depth + axis);
    return number;
}

// ---- GATHER_ND ----------------------------------------------------------------------------------

static const uint32_t gather_types = HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) |
                                     HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool) |
                                     HL_TYPE(String);
static const uint32_t index_types = HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64);

static TfLiteStatus gather_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    const int depth = hl_dim(indices, hl_rank(indices) - 1);
    int rank = 0, dims[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, hl_rank(indices) - 1 + hl_rank(x) - depth <= HL_MAX_RANK,
               "the output has more than %d dimensions", HL_MAX_RANK);
    for (int i = 0; i < hl_rank(indices) - 1; i++) dims[rank++] = hl_dim(indices, i);
    for (int i = depth; i < hl_rank(x); i++) dims[rank++] = hl_dim(x, i);
    return hl_strings_resize(ctx, node, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus gather_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, gather_types));
    HL_REQUIRE(ctx, node, hl_type_in(indices->type, index_types), "the indices must be int16, int32 or int64, not %s",
               hl_type_name(indices->type));
    HL_REQUIRE(ctx, node, hl_rank(x) > 0 && hl_rank(indices) > 0, "input and indices must not be scalars");
    const int depth = hl_dim(indices, hl_rank(indices) - 1);
    HL_REQUIRE(ctx, node, depth >= 1 && depth <= hl_rank(x), "indices of %d positions for %d dimensions", depth,
               hl_rank(x));
    if (y->type == kTfLiteString) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    return gather_resize(ctx, node);
}

static TfLiteStatus gather_strings(TfLiteContext *ctx, const TfLiteNode *node, const struct rows *rows)
{
    struct hl_strings strings;
    struct hl_string_list list = {.limit = hl_memory_left(ctx)};

    HL_TRY(hl_strings_open(ctx, node, hl_input(ctx, node, 0), &strings));
    for (int64_t row = 0; row < rows->count; row++) {
        for (int64_t i = 0; i < rows->slice && !list.failed; i++) {
            size_t length;
            const char *text = hl_string_at(&strings, slice_of(rows, row) * rows->slice + i, &length);
            hl_strings_append(&list, text, length);
        }
    }
    return hl_strings_write(ctx, node, &list, hl_output(ctx, node, 0));
}

static TfLiteStatus gather_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct rows rows = make_rows(hl_input(ctx, node, 1), x);

    HL_TRY(check_rows(ctx, node, &rows));
    if (hl_is_dynamic(y)) HL_TRY(gather_resize(ctx, node));
    if (x->type == kTfLiteString) return gather_strings(ctx, node, &rows);
    for (int64_t row = 0; row < rows.count; row++)
        hl_copy_run(hl_type_bits(x->type), rows.slice, y->data.data, row * rows.slice, hl_data(x),
                    slice_of(&rows, row) * rows.slice);
    return kTfLiteOk;
}

const struct hl_op hl_op_gather_nd = {
    .prepare = gather_prepare,
    .invoke = gather_invoke,
};

// ---- SCATTER_ND ---------------------------------------------------------------------------------

static const uint32_t scatter_types =
    HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool);

static TfLiteStatus scatter_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *updates = hl_input(ctx, node, 1);
    const int outer = hl_rank(indices) - 1, depth = hl_dim(indices, outer);
    int rank, dims[HL_MAX_RANK];

    HL_TRY(hl_read_shape(ctx, node, hl_input(ctx, node, 2), 0, &rank, dims));
    HL_REQUIRE(ctx, node, depth <= rank, "indices of %d positions for %d dimensions", depth, rank);
    HL_REQUIRE(ctx, node, hl_rank(updates) == outer + rank - depth, "the updates have %d dimensions, not %d",
               hl_rank(updates), outer + rank - depth);
    for (int i = 0; i < hl_rank(updates); i++) {
        const int wanted = i < outer ? hl_dim(indices, i) : dims[depth + i - outer];
        HL_REQUIRE(ctx, node, hl_dim(updates, i) == wanted, "dimension %d of the updates is %d, not %d", i,
                   hl_dim(updates, i), wanted);
    }
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus scatter_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *updates = hl_input(ctx, node, 1);
    const TfLiteTensor *shape = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (!hl_type_in(updates->type, scatter_types)) return hl_unsupported_type(ctx, node, updates);
    HL_REQUIRE(ctx, node, hl_same_type(updates, y), "the output is %s, the updates %s", hl_type_name(y->type),
               hl_type_name(updates->type));
    HL_REQUIRE(ctx, node, indices->type == kTfLiteInt32 && shape->type == kTfLiteInt32,
               "indices and shape must be int32, not %s and %s", hl_type_name(indices->type),
               hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(indices) > 0, "the indices must not be a scalar");
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1, "the shape must have one dimension, not %d", hl_rank(shape));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(shape), scatter_resize);
}

// Sums in an unsigned type of the same size wrap; for bool and float it is the type itself.
#define DEFINE_ADD(name, type, expression)                                                                      \
    static void add_##name(int64_t count, void *to_data, int64_t to_at, const void *from_data, int64_t from_at) \
    {                                                                                                           \
        type *to = (type *)to_data + to_at;                                                                     \
        const type *from = (const type *)from_data + from_at;                                                   \
        for (int64_t i = 0; i < count; i++) to[i] = (type)(expression);                                         \
    }
DEFINE_ADD(float, float, to[i] + from[i])
DEFINE_ADD(byte, uint8_t, to[i] + from[i])
DEFINE_ADD(word, uint32_t, to[i] + from[i])
DEFINE_ADD(long, uint64_t, to[i] + from[i])
DEFINE_ADD(bool, uint8_t, to[i] | from[i])

static TfLiteStatus scatter_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *updates = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_dynamic(y)) HL_TRY(scatter_resize(ctx, node));
    const struct rows rows = make_rows(hl_input(ctx, node, 0), y);
    HL_TRY(check_rows(ctx, node, &rows));
    if (y->bytes > 0) memset(y->data.data, 0, y->bytes);
    void (*add)(int64_t, void *, int64_t, const void *, int64_t) = y->type == kTfLiteFloat32 ? add_float
                                                                   : y->type == kTfLiteInt32 ? add_word
                                                                   : y->type == kTfLiteInt64 ? add_long
                                                                   : y->type == kTfLiteBool  ? add_bool
                                                                                             : add_byte;
    if (rows.slice == 0) return kTfLiteOk;
    for (int64_t row = 0; row < rows.count; row++)
        add(rows.slice, y->data.data, slice_of(&rows, row) * rows.slice, hl_data(updates), row * rows.slice);
    return kTfLiteOk;
}

const struct hl_op hl_op_scatter_nd = {
    .prepare = scatter_prepare,
    .invoke = scatter_invoke,
};
