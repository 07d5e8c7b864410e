// SPDX-License-Identifier: Apache-2.0
// HASHTABLE_LOOKUP: rows of a table by their keys.
//     in 0: what to look up, int32 [n], in 1: keys int32 [rows], rising, in 2: values [rows, any..]
//     out 0: y [n, any..], zeros or empty strings where a key is missing
//     out 1: hits uint8 [n], 1 where the key was found
// Any type of whole bytes, string.
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <string.h>

static TfLiteStatus resize_values(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *values = hl_input(ctx, node, 2);
    int dims[HL_MAX_RANK];
    dims[0] = hl_dim(hl_input(ctx, node, 0), 0);
    for (int axis = 1; axis < hl_rank(values); axis++) dims[axis] = hl_dim(values, axis);
    return hl_strings_resize(ctx, node, hl_output(ctx, node, 0), hl_rank(values), dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 2));
    const TfLiteTensor *lookup = hl_input(ctx, node, 0), *keys = hl_input(ctx, node, 1);
    const TfLiteTensor *values = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0), *hits = hl_output(ctx, node, 1);

    HL_REQUIRE(ctx, node, lookup->type == kTfLiteInt32 && hl_rank(lookup) == 1,
               "what is looked up must be a list of int32");
    HL_REQUIRE(ctx, node, keys->type == kTfLiteInt32 && hl_rank(keys) == 1, "the keys must be a list of int32");
    HL_REQUIRE(ctx, node, hl_rank(values) >= 1 && hl_dim(values, 0) == hl_dim(keys, 0),
               "there must be one row of values for each of %d keys", hl_dim(keys, 0));
    if (values->type != kTfLiteString && hl_type_bits(values->type) < 8) return hl_unsupported_type(ctx, node, values);
    HL_REQUIRE(ctx, node, hl_same_type(values, y), "the output is %s, the values %s", hl_type_name(y->type),
               hl_type_name(values->type));
    HL_REQUIRE(ctx, node, hits->type == kTfLiteUInt8, "hits must be uint8, not %s", hl_type_name(hits->type));
    HL_REQUIRE(ctx, node, y != hits, "values and hits are one tensor");
    HL_TRY(hl_resize(ctx, hits, 1, &(int){hl_dim(lookup, 0)}));
    if (y->type != kTfLiteString) return resize_values(ctx, node);
    hl_make_dynamic(y);
    return kTfLiteOk;
}

// The row of a key, -1 where there is none. Keys that are not sorted are found or not, but never
// outside.
static int find_row(const TfLiteTensor *keys, int32_t key)
{
    const int32_t *data = HL_IN(int32_t, keys);
    int low = 0, high = hl_dim(keys, 0);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (data[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < hl_dim(keys, 0) && data[low] == key ? low : -1;
}

static TfLiteStatus look_up_strings(TfLiteContext *ctx, const TfLiteNode *node, int64_t row_length)
{
    const TfLiteTensor *lookup = hl_input(ctx, node, 0);
    struct hl_strings strings;
    struct hl_string_list list = {.limit = hl_memory_left(ctx)};

    HL_TRY(hl_strings_open(ctx, node, hl_input(ctx, node, 2), &strings));
    for (int i = 0; i < hl_dim(lookup, 0); i++) {
        const int row = find_row(hl_input(ctx, node, 1), HL_IN(int32_t, lookup)[i]);
        for (int64_t j = 0; j < row_length && !list.failed; j++) {
            size_t length = 0;
            const char *text = row < 0 ? NULL : hl_string_at(&strings, row * row_length + j, &length);
            hl_strings_append(&list, text, length);
        }
    }
    return hl_strings_write(ctx, node, &list, hl_output(ctx, node, 0));
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *lookup = hl_input(ctx, node, 0), *keys = hl_input(ctx, node, 1);
    const TfLiteTensor *values = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    uint8_t *hits = HL_OUT(uint8_t, hl_output(ctx, node, 1));
    const int64_t row_length = hl_product(values->dims, 1, hl_rank(values));

    for (int i = 0; i < hl_dim(lookup, 0); i++) hits[i] = find_row(keys, HL_IN(int32_t, lookup)[i]) >= 0;
    if (y->type == kTfLiteString) {
        HL_TRY(resize_values(ctx, node));
        return look_up_strings(ctx, node, row_length);
    }
    if (y->bytes > 0) memset(y->data.data, 0, y->bytes);
    for (int i = 0; i < hl_dim(lookup, 0); i++) {
        const int row = find_row(keys, HL_IN(int32_t, lookup)[i]);
        if (row >= 0)
            hl_copy_run(hl_type_bits(y->type), row_length, y->data.data, i * row_length, hl_data(values),
                        row * row_length);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_hashtable_lookup = {
    .prepare = prepare,
    .invoke = invoke,
};
