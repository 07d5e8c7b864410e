// SPDX-License-Identifier: Apache-2.0
// GATHER: y[b, o, i, n] = x[b, o, indices[b, i], n]: rows of x along an axis, as the indices say.
//     in 0: x [batch.., outer.., axis, inner..]
//     in 1: indices [batch.., any..] int16 int32 int64, all of them within the axis
//     out 0: y [batch.., outer.., any.., inner..]
// The options say the axis, and how many batch dimensions there are.
// float32 float16 bfloat16 int8 uint8 int16 int32 int64 bool int4; string where x has one
// dimension.
#include <string.h>

#include "ops/common/copy.h"
#include "ops/common/strings.h"

static const uint32_t types = HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) | HL_TYPE(UInt8) |
                              HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool) | HL_TYPE(String) |
                              HL_TYPE(Int4);
static const uint32_t index_types = HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64);

static TfLiteStatus find_axes(TfLiteContext *ctx, const TfLiteNode *node, int *axis, int *batch_dims)
{
    const TfLiteGatherParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    const int rank = hl_rank(x), index_rank = hl_rank(indices);

    HL_REQUIRE(ctx, node, hl_normalize_axis(params->axis, rank, axis), "axis %d is outside %d dimensions", params->axis,
               rank);
    HL_REQUIRE(ctx, node, params->batch_dims >= -index_rank && params->batch_dims <= index_rank,
               "%d batch dimensions are outside the indices' %d", params->batch_dims, index_rank);
    *batch_dims = params->batch_dims < 0 ? params->batch_dims + index_rank : params->batch_dims;
    HL_REQUIRE(ctx, node, *batch_dims <= *axis, "%d batch dimensions do not lie before axis %d", *batch_dims, *axis);
    for (int i = 0; i < *batch_dims; i++)
        HL_REQUIRE(ctx, node, hl_dim(x, i) == hl_dim(indices, i),
                   "batch dimension %d is %d in the input and %d in the indices", i, hl_dim(x, i), hl_dim(indices, i));
    return kTfLiteOk;
}

static TfLiteStatus find_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    int axis, batch_dims;

    HL_TRY(find_axes(ctx, node, &axis, &batch_dims));
    HL_REQUIRE(ctx, node, hl_rank(x) - 1 + hl_rank(indices) - batch_dims <= HL_MAX_RANK,
               "the output has more than %d dimensions", HL_MAX_RANK);
    *rank = 0;
    for (int i = 0; i < axis; i++) dims[(*rank)++] = hl_dim(x, i);
    for (int i = batch_dims; i < hl_rank(indices); i++) dims[(*rank)++] = hl_dim(indices, i);
    for (int i = axis + 1; i < hl_rank(x); i++) dims[(*rank)++] = hl_dim(x, i);
    return kTfLiteOk;
}

// An element of the indices, which are of one of three types.
static inline int64_t index_at(const TfLiteTensor *indices, int64_t i)
{
    return indices->type == kTfLiteInt32   ? HL_IN(int32_t, indices)[i]
           : indices->type == kTfLiteInt64 ? HL_IN(int64_t, indices)[i]
                                           : HL_IN(int16_t, indices)[i];
}

static TfLiteStatus check_indices(TfLiteContext *ctx, const TfLiteNode *node, int length)
{
    const TfLiteTensor *indices = hl_input(ctx, node, 1);
    const int64_t count = hl_elements(indices);
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = index_at(indices, i);
        HL_REQUIRE(ctx, node, index >= 0 && index < length, "index %lld is outside 0 to %d", (long long)index,
                   length - 1);
    }
    return kTfLiteOk;
}

// Copies `picks` rows of `size` bytes. The compiler sees the size of short ones, which a call of memcpy would delay.
static inline void pick_rows_of(char *restrict to, const char *restrict from, size_t size, const TfLiteTensor *indices,
                                int64_t first, int64_t picks)
{
    for (int64_t i = 0; i < picks; i++)
        memcpy(to + i * (int64_t)size, from + index_at(indices, first + i) * (int64_t)size, size);
}

static void pick_rows(char *restrict to, const char *restrict from, size_t size, const TfLiteTensor *indices,
                      int64_t first, int64_t picks)
{
    switch (size) {
    case 16: pick_rows_of(to, from, 16, indices, first, picks); break;
    case 32: pick_rows_of(to, from, 32, indices, first, picks); break;
    case 64: pick_rows_of(to, from, 64, indices, first, picks); break;
    default: pick_rows_of(to, from, size, indices, first, picks);
    }
}

static TfLiteStatus gather_strings(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *indices = hl_input(ctx, node, 1);
    const int64_t count = hl_elements(indices);
    struct hl_strings strings;
    struct hl_string_list list = {.limit = hl_memory_left(ctx)};

    HL_TRY(hl_strings_open(ctx, node, hl_input(ctx, node, 0), &strings));
    for (int64_t i = 0; i < count && !list.failed; i++) {
        size_t length;
        const char *text = hl_string_at(&strings, hl_integer_at(indices, i), &length);
        hl_strings_append(&list, text, length);
    }
    return hl_strings_write(ctx, node, &list, hl_output(ctx, node, 0));
}

static TfLiteStatus gather(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int axis, batch_dims;

    HL_TRY(find_axes(ctx, node, &axis, &batch_dims));
    const int length = hl_dim(x, axis), bits = hl_type_bits(x->type);
    HL_TRY(check_indices(ctx, node, length));
    if (x->type == kTfLiteString) return gather_strings(ctx, node);

    const int64_t batches = hl_product(x->dims, 0, batch_dims);
    const int64_t outer = hl_product(x->dims, batch_dims, axis);
    const int64_t inner = hl_product(x->dims, axis + 1, hl_rank(x));
    const int64_t picks = hl_product(indices->dims, batch_dims, hl_rank(indices));
    const int64_t size = inner * (bits / 8);
    int64_t to = 0;
    if (hl_elements(y) == 0) return kTfLiteOk;
    hl_clear_packed(y);
    for (int64_t b = 0; b < batches; b++) {
        for (int64_t o = 0; o < outer; o++) {
            const int64_t from = (b * outer + o) * length;
            if (size > 0) {
                pick_rows(HL_OUT(char, y) + to * size, HL_IN(char, x) + from * size, (size_t)size, indices, b * picks,
                          picks);
                to += picks;
                continue;
            }
            for (int64_t i = 0; i < picks; i++, to++)
                hl_copy_run(bits, inner, y->data.data, to * inner, hl_data(x),
                            (from + index_at(indices, b * picks + i)) * inner);
        }
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int rank, dims[HL_MAX_RANK];

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_REQUIRE(ctx, node, hl_type_in(indices->type, index_types), "the indices must be int16, int32 or int64, not %s",
               hl_type_name(indices->type));
    HL_REQUIRE(ctx, node, x->type != kTfLiteString || hl_rank(x) == 1,
               "strings are gathered from one dimension, not %d", hl_rank(x));
    HL_TRY(find_shape(ctx, node, &rank, dims));
    if (x->type == kTfLiteString) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    return hl_resize_and_fold(ctx, node, y, rank, dims, gather);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int rank, dims[HL_MAX_RANK];

    if (hl_is_constant(y)) return kTfLiteOk;
    if (y->type == kTfLiteString) {
        HL_TRY(find_shape(ctx, node, &rank, dims));
        HL_TRY(hl_strings_resize(ctx, node, y, rank, dims));
    }
    return gather(ctx, node);
}

const struct hl_op hl_op_gather = {
    .prepare = prepare,
    .invoke = invoke,
};
