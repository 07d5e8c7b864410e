// SPDX-License-Identifier: Apache-2.0
// Reading and writing string tensors (strings.h). Nothing in a string tensor's bytes is believed:
// count and offsets are checked against the tensor's size before the first string is lent.
#include "ops/common/strings.h"

#include <stdlib.h>
#include <string.h>

static int32_t word_at(const char *bytes, int64_t index)
{
    int32_t word;
    memcpy(&word, bytes + 4 * index, sizeof word);
    return word;
}

// ---- reading ------------------------------------------------------------------------------------

TfLiteStatus hl_strings_open(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                             struct hl_strings *strings)
{
    const int64_t elements = hl_elements(tensor);
    const char *bytes = hl_data(tensor);
    if (bytes == NULL || tensor->bytes == 0) {
        HL_REQUIRE(ctx, node, elements == 0, "a string tensor of %lld elements has no data", (long long)elements);
        *strings = (struct hl_strings){0};
        return kTfLiteOk;
    }

    HL_REQUIRE(ctx, node, tensor->bytes >= 4, "a string tensor of %zu bytes has no count", tensor->bytes);
    const int64_t count = word_at(bytes, 0), size = (int64_t)tensor->bytes;
    HL_REQUIRE(ctx, node, count >= elements, "a string tensor of %lld elements holds %lld strings", (long long)elements,
               (long long)count);
    const int64_t header = 4 * (count + 2);
    HL_REQUIRE(ctx, node, size >= header, "the offsets of %lld strings do not fit into %lld bytes", (long long)count,
               (long long)size);
    int64_t before = header;
    for (int64_t i = 0; i <= count; i++) {
        int64_t offset = word_at(bytes, i + 1);
        HL_REQUIRE(ctx, node, offset >= before && offset <= size,
                   "string offset %lld at %lld lies outside %lld to %lld", (long long)offset, (long long)i,
                   (long long)before, (long long)size);
        before = offset;
    }
    *strings = (struct hl_strings){.count = count, .bytes = bytes};
    return kTfLiteOk;
}

const char *hl_string_at(const struct hl_strings *strings, int64_t index, size_t *length)
{
    int32_t begin = word_at(strings->bytes, index + 1), end = word_at(strings->bytes, index + 2);
    *length = (size_t)(end - begin);
    return strings->bytes + begin;
}

// ---- writing ------------------------------------------------------------------------------------

// Far below what int32 offsets allow, and far above what anybody has.
static const int64_t most_strings = (int64_t)1 << 27;

TfLiteStatus hl_strings_resize(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *tensor, int rank,
                               const int *dims)
{
    int64_t count = 1; // zeros count as ones, so that parts of the product are small too
    for (int axis = 0; axis < rank && tensor->type == kTfLiteString; axis++)
        HL_REQUIRE(ctx, node,
                   dims[axis] >= 0 && hl_mul_i64(count, dims[axis] > 0 ? dims[axis] : 1, &count) &&
                       count <= most_strings,
                   "the output would have more than %lld strings", (long long)most_strings);
    return hl_resize(ctx, tensor, rank, dims);
}

// Room for one more string of this length. Offsets are int32, so the whole tensor stays below 2
// GiB.
static bool reserve(struct hl_string_list *list, size_t length)
{
    if (list->failed || length > INT32_MAX) return false;
    const size_t bytes = 4 * ((size_t)list->count + 3) + list->length + length;
    if (bytes > INT32_MAX || bytes > list->limit) return false;
    if (list->count == list->capacity) {
        int64_t capacity = list->capacity ? 2 * list->capacity : 16;
        int32_t *ends = realloc(list->ends, (size_t)capacity * sizeof *ends);
        if (!ends) return false;
        list->ends = ends;
        list->capacity = capacity;
    }
    if (list->length + length > list->text_capacity) {
        size_t capacity = 2 * (list->length + length) + 64;
        char *text = realloc(list->text, capacity);
        if (!text) return false;
        list->text = text;
        list->text_capacity = capacity;
    }
    return true;
}

void hl_strings_append(struct hl_string_list *list, const char *text, size_t length)
{
    if (!reserve(list, length)) {
        list->failed = true;
        return;
    }
    if (length > 0) memcpy(list->text + list->length, text, length);
    list->length += length;
    list->ends[list->count++] = (int32_t)list->length;
}

void hl_strings_free(struct hl_string_list *list)
{
    free(list->ends);
    free(list->text);
    *list = (struct hl_string_list){0};
}

TfLiteStatus hl_strings_write(TfLiteContext *ctx, const TfLiteNode *node, struct hl_string_list *list,
                              TfLiteTensor *tensor)
{
    const size_t header = 4 * ((size_t)list->count + 2);
    TfLiteStatus status = kTfLiteError;
    if (list->failed)
        hl_op_error(ctx, node, "the output's strings take more than 2 GiB or the %zu bytes left", list->limit);
    else if (list->count != hl_elements(tensor))
        hl_op_error(ctx, node, "the output has %lld elements for %lld strings", (long long)hl_elements(tensor),
                    (long long)list->count);
    else
        status = hl_resize_bytes(ctx, tensor, header + list->length);

    if (status == kTfLiteOk) {
        int32_t *words = (int32_t *)(void *)tensor->data.raw;
        words[0] = (int32_t)list->count;
        words[1] = (int32_t)header;
        for (int64_t i = 0; i < list->count; i++) words[i + 2] = (int32_t)header + list->ends[i];
        if (list->length > 0) memcpy(tensor->data.raw + header, list->text, list->length);
    }
    hl_strings_free(list);
    return status;
}

TfLiteStatus hl_strings_copy(TfLiteContext *ctx, const TfLiteNode *node, int rank, const int *dims, TfLiteTensor *to,
                             const TfLiteTensor *from, const struct hl_layout *from_layout)
{
    struct hl_strings strings;
    HL_TRY(hl_strings_open(ctx, node, from, &strings));

    struct hl_string_list list = {.limit = hl_memory_left(ctx)};
    struct hl_walk walk;
    hl_walk_start_strided(&walk, rank, dims, 1, &from_layout->stride);
    for (int64_t i = 0; i < walk.count && !list.failed; i++, hl_walk_next(&walk)) {
        size_t length;
        const char *text = hl_string_at(&strings, from_layout->offset + walk.at[0], &length);
        hl_strings_append(&list, text, length);
    }
    return hl_strings_write(ctx, node, &list, to);
}
