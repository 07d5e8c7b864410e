// SPDX-License-Identifier: Apache-2.0
// String tensors: int32 count, count + 1 int32 offsets from the start of the buffer, then the
// characters (no terminators). A tensor's bytes vary with its strings, so outputs are dynamic:
// hl_make_dynamic in prepare, hl_strings_resize and hl_strings_write in invoke.
#ifndef HALITE_OPS_COMMON_STRINGS_H
#define HALITE_OPS_COMMON_STRINGS_H

#include "ops/common/copy.h"
#include "ops/op.h"

// The strings of a tensor, all offsets checked.
struct hl_strings {
    int64_t count; // at least the tensor's elements
    const char *bytes;
};
TfLiteStatus hl_strings_open(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                             struct hl_strings *strings);
// Lends string `index` in [0, count); it is not terminated.
const char *hl_string_at(const struct hl_strings *strings, int64_t index, size_t *length);

// hl_resize for outputs of any type: of string tensors, whose size does not follow from the shape,
// the number of elements is checked here.
TfLiteStatus hl_strings_resize(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *tensor, int rank,
                               const int *dims);

// Collects strings for an output. Starts as {.limit = hl_memory_left(ctx)}; the first failure is kept
// and reported by hl_strings_write.
struct hl_string_list {
    size_t limit; // of the bytes that the strings take in a tensor
    int64_t count, capacity;
    int32_t *ends; // of each string, in text
    char *text;
    size_t length, text_capacity;
    bool failed;
};
void hl_strings_append(struct hl_string_list *list, const char *text, size_t length);
void hl_strings_free(struct hl_string_list *list); // where hl_strings_write is not reached
// Writes the list into a dynamic tensor of as many elements, and frees the list (on failure too).
TfLiteStatus hl_strings_write(TfLiteContext *ctx, const TfLiteNode *node, struct hl_string_list *list,
                              TfLiteTensor *tensor);

// hl_copy for strings: the output (row-major, of shape dims) takes the input's strings in the order
// of the layout.
TfLiteStatus hl_strings_copy(TfLiteContext *ctx, const TfLiteNode *node, int rank, const int *dims, TfLiteTensor *to,
                             const TfLiteTensor *from, const struct hl_layout *from_layout);

#endif
