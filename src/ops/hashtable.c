// SPDX-License-Identifier: Apache-2.0
// Tables that outlive an invoke, shared by all subgraphs of an interpreter under a number:
//   HASHTABLE         out 0: resource [1], the table's handle.
//   HASHTABLE_IMPORT  in 0: handle, in 1: keys, in 2: values of the same shape. Fills the table; a filled one stays as
//   it
//                     is, and of a repeated key the first value counts.
//   HASHTABLE_FIND    in 0: handle, in 1: keys, in 2: what a missing key gives (first element), out 0: values, shaped
//   as keys.
//                     Refused where the table was never filled.
//   HASHTABLE_SIZE    in 0: handle, out 0: int64 [1], the number of different keys.
// Keys and values: string and int64, or int64 and string. A table is a sorted list: no choice of keys makes it slow.
#include <stdlib.h>
#include <string.h>

#include "ops/common/strings.h"
#include "runtime/resources.h"

static TfLiteStatus require_types(TfLiteContext *ctx, const TfLiteNode *node, TfLiteType key, TfLiteType value)
{
    HL_REQUIRE(ctx, node,
               (key == kTfLiteInt64 && value == kTfLiteString) || (key == kTfLiteString && value == kTfLiteInt64),
               "a table from %s to %s: only int64 to string and string to int64 are supported", hl_type_name(key),
               hl_type_name(value));
    return kTfLiteOk;
}

static TfLiteStatus require_handle(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *handle = hl_input(ctx, node, 0);
    HL_REQUIRE(ctx, node, handle->type == kTfLiteResource, "the handle is %s instead of resource",
               hl_type_name(handle->type));
    HL_REQUIRE(ctx, node, hl_elements(handle) == 1, "the handle has %lld elements instead of one",
               (long long)hl_elements(handle));
    return kTfLiteOk;
}

static TfLiteStatus find_table(TfLiteContext *ctx, const TfLiteNode *node, struct hl_resource_table **table)
{
    *table = hl_context_table(ctx, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, *table, "the handle stands for no table");
    return kTfLiteOk;
}

// ---- HASHTABLE ----------------------------------------------------------------------------------

struct hashtable {
    int32_t id;
};

static TfLiteStatus table_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hashtable *op = node->user_data;
    const TfLiteHashtableParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 0, 0, 1));
    TfLiteTensor *handle = hl_output(ctx, node, 0);
    HL_TRY(require_types(ctx, node, params->key_dtype, params->value_dtype));
    HL_REQUIRE(ctx, node, handle->type == kTfLiteResource, "the output is %s instead of resource",
               hl_type_name(handle->type));
    op->id = hl_resource_table_id(hl_context_resources(ctx), params->table_id, params->key_dtype, params->value_dtype);
    HL_REQUIRE(ctx, node, op->id >= 0, "no memory for a table");
    return hl_resize(ctx, handle, 1, (const int[]){1});
}

static TfLiteStatus table_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hashtable *op = node->user_data;
    memcpy(hl_output(ctx, node, 0)->data.raw, &op->id, sizeof op->id);
    return kTfLiteOk;
}

const struct hl_op hl_op_hashtable = {
    .state_size = sizeof(struct hashtable),
    .prepare = table_prepare,
    .invoke = table_invoke,
};

// ---- keys in order ------------------------------------------------------------------------------

// Keys of a table, or of a query.
struct keys {
    const int64_t *numbers; // NULL: strings
    struct hl_strings strings;
};

static TfLiteStatus open_keys(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, struct keys *keys)
{
    *keys = (struct keys){.numbers = NULL};
    if (tensor->type == kTfLiteString) return hl_strings_open(ctx, node, tensor, &keys->strings);
    keys->numbers = HL_IN(int64_t, tensor);
    return kTfLiteOk;
}

// The keys of a filled table, which were checked when it was filled.
static struct keys table_keys(const struct hl_resource_table *table)
{
    bool numbers = table->key_type == kTfLiteInt64;
    return (struct keys){.numbers = numbers ? HL_IN(int64_t, &table->keys) : NULL,
                         .strings = {.bytes = hl_data(&table->keys)}};
}

static int compare(const struct keys *a, int64_t i, const struct keys *b, int64_t j)
{
    if (a->numbers) return (a->numbers[i] > b->numbers[j]) - (a->numbers[i] < b->numbers[j]);
    size_t a_length, b_length;
    const char *a_text = hl_string_at(&a->strings, i, &a_length), *b_text = hl_string_at(&b->strings, j, &b_length);
    int order = memcmp(a_text, b_text, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

// Merge sort, stable: equal keys stay in their order. spare has room for count too; the result is in one of the two.
static int32_t *sort(const struct keys *keys, int64_t count, int32_t *order, int32_t *spare)
{
    for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t start = 0; start < count; start += 2 * run) {
            int64_t middle = start + run < count ? start + run : count;
            int64_t end = start + 2 * run < count ? start + 2 * run : count;
            for (int64_t at = start, a = start, b = middle; at < end; at++) {
                bool left = b == end || (a < middle && compare(keys, order[a], keys, order[b]) <= 0);
                spare[at] = left ? order[a++] : order[b++];
            }
        }
        int32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

// Position in the table of a key, -1 where it has none.
static int64_t find(const struct hl_resource_table *table, const struct keys *keys, int64_t index)
{
    struct keys known = table_keys(table);
    int64_t low = 0, high = table->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare(&known, table->order[middle], keys, index) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && compare(&known, table->order[low], keys, index) == 0 ? table->order[low] : -1;
}

// ---- HASHTABLE_IMPORT ---------------------------------------------------------------------------

static TfLiteStatus import_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 0));
    HL_TRY(require_handle(ctx, node));
    const TfLiteTensor *keys = hl_input(ctx, node, 1), *values = hl_input(ctx, node, 2);
    return require_types(ctx, node, keys->type, values->type);
}

static TfLiteStatus keep(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *copy, const TfLiteTensor *from)
{
    if (hl_resize_bytes(ctx, copy, from->bytes) != kTfLiteOk)
        return hl_op_error(ctx, node, "no memory for %zu bytes of a table", from->bytes);
    copy->bytes = from->bytes;
    if (from->bytes) memcpy(copy->data.raw, hl_data(from), from->bytes);
    return kTfLiteOk;
}

static TfLiteStatus import_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *keys = hl_input(ctx, node, 1), *values = hl_input(ctx, node, 2);
    struct hl_resource_table *table;
    struct hl_strings strings;
    HL_TRY(find_table(ctx, node, &table));
    if (table->filled) return kTfLiteOk;
    HL_REQUIRE(ctx, node, keys->type == table->key_type && values->type == table->value_type,
               "the table is from %s to %s, it cannot take %s and %s", hl_type_name(table->key_type),
               hl_type_name(table->value_type), hl_type_name(keys->type), hl_type_name(values->type));
    HL_REQUIRE(ctx, node, hl_same_shape(keys, values), "%lld keys but %lld values", (long long)hl_elements(keys),
               (long long)hl_elements(values));
    HL_REQUIRE(ctx, node, hl_elements(keys) <= INT32_MAX, "%lld keys are too many", (long long)hl_elements(keys));
    HL_TRY(hl_strings_open(ctx, node, keys->type == kTfLiteString ? keys : values, &strings));
    HL_TRY(keep(ctx, node, &table->keys, keys));
    HL_TRY(keep(ctx, node, &table->values, values));

    int64_t count = hl_elements(keys), different = 0;
    int32_t *room = hl_make_table(ctx, (size_t)count, 2 * sizeof *room), *order = NULL;
    if (room) order = malloc(count ? (size_t)count * sizeof *order : 1);
    if (!order) {
        free(room);
        return hl_op_error(ctx, node, "no memory for a table of %lld keys", (long long)count);
    }
    struct keys sorting = table_keys(table);
    const int32_t *sorted = sort(&sorting, count, room, room + count);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || compare(&sorting, sorted[i - 1], &sorting, sorted[i]) != 0) order[different++] = sorted[i];
    free(room);
    table->order = order;
    table->count = different;
    hl_context_resources(ctx)->bytes += (size_t)different * sizeof *order;
    table->filled = true;
    return kTfLiteOk;
}

const struct hl_op hl_op_hashtable_import = {
    .prepare = import_prepare,
    .invoke = import_invoke,
};

// ---- HASHTABLE_FIND -----------------------------------------------------------------------------

static TfLiteStatus find_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    HL_TRY(require_handle(ctx, node));
    const TfLiteTensor *keys = hl_input(ctx, node, 1), *fallback = hl_input(ctx, node, 2);
    TfLiteTensor *values = hl_output(ctx, node, 0);
    HL_TRY(require_types(ctx, node, keys->type, values->type));
    HL_REQUIRE(ctx, node, hl_same_type(fallback, values), "the default is %s, the values %s",
               hl_type_name(fallback->type), hl_type_name(values->type));
    HL_REQUIRE(ctx, node, hl_elements(fallback) >= 1, "the default value has no element");
    if (values->type != kTfLiteString) return hl_resize_like(ctx, values, keys);
    hl_make_dynamic(values);
    return kTfLiteOk;
}

static void find_numbers(const struct hl_resource_table *table, const struct keys *keys, const TfLiteTensor *fallback,
                         TfLiteTensor *values)
{
    for (int64_t i = 0; i < hl_elements(values); i++) {
        int64_t at = find(table, keys, i);
        HL_OUT(int64_t, values)[i] = at < 0 ? HL_IN(int64_t, fallback)[0] : HL_IN(int64_t, &table->values)[at];
    }
}

static TfLiteStatus find_strings(TfLiteContext *ctx, TfLiteNode *node, const struct hl_resource_table *table,
                                 const struct keys *keys, int64_t count)
{
    struct hl_strings fallback, known = {.bytes = hl_data(&table->values)};
    HL_TRY(hl_strings_open(ctx, node, hl_input(ctx, node, 2), &fallback));
    struct hl_string_list list = {.limit = hl_memory_left(ctx)};
    for (int64_t i = 0; i < count; i++) {
        int64_t at = find(table, keys, i);
        size_t length;
        const char *text = at < 0 ? hl_string_at(&fallback, 0, &length) : hl_string_at(&known, at, &length);
        hl_strings_append(&list, text, length);
    }
    return hl_strings_write(ctx, node, &list, hl_output(ctx, node, 0));
}

static TfLiteStatus find_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *queried = hl_input(ctx, node, 1);
    TfLiteTensor *values = hl_output(ctx, node, 0);
    struct hl_resource_table *table;
    struct keys keys;
    HL_TRY(find_table(ctx, node, &table));
    HL_REQUIRE(ctx, node, table->filled, "the table is read before it was filled");
    HL_REQUIRE(ctx, node, queried->type == table->key_type && values->type == table->value_type,
               "the table is from %s to %s, not from %s to %s", hl_type_name(table->key_type),
               hl_type_name(table->value_type), hl_type_name(queried->type), hl_type_name(values->type));
    HL_TRY(open_keys(ctx, node, queried, &keys));
    if (values->type != kTfLiteString) {
        find_numbers(table, &keys, hl_input(ctx, node, 2), values);
        return kTfLiteOk;
    }
    HL_TRY(hl_strings_resize(ctx, node, values, hl_rank(queried), queried->dims->data));
    return find_strings(ctx, node, table, &keys, hl_elements(queried));
}

const struct hl_op hl_op_hashtable_find = {
    .prepare = find_prepare,
    .invoke = find_invoke,
};

// ---- HASHTABLE_SIZE -----------------------------------------------------------------------------

static TfLiteStatus size_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    HL_TRY(require_handle(ctx, node));
    TfLiteTensor *size = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, size->type == kTfLiteInt64, "the size is %s, it must be int64", hl_type_name(size->type));
    return hl_resize(ctx, size, 1, (const int[]){1});
}

static TfLiteStatus size_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_resource_table *table;
    HL_TRY(find_table(ctx, node, &table));
    HL_OUT(int64_t, hl_output(ctx, node, 0))[0] = table->count;
    return kTfLiteOk;
}

const struct hl_op hl_op_hashtable_size = {
    .prepare = size_prepare,
    .invoke = size_invoke,
};
