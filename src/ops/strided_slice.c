// SPDX-License-Identifier: Apache-2.0
// STRIDED_SLICE: y[i] = x[begin + i * stride], as Python's x[begin:end:stride, ..].
//     in 0: x, in 1: begin, in 2: end, in 3: strides: int32 [entries of the index]; out 0: y
//     any type up to 8 bytes, string
// The options' masks have a bit for each entry: begin left out, end left out, ellipsis, new
// dimension of 1, dimension taken at begin and dropped. `offset`: end counts from begin. Dimensions
// without an entry are taken whole.
//
// An ellipsis always takes at least one dimension; entries that are then left without a dimension
// are ignored. With `offset` an end before 0 is no position from the end, and the output's shape
// follows from end even where a mask leaves it out: it holds the first of the elements taken. (All
// as the official runtime does it.)
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <string.h>

static const uint32_t types = HL_PLAIN_TYPES | HL_TYPE(String);

// What is taken: dims positions of x from layout.offset on, by layout.stride. It is the node's state where the index is
// constant.
struct selection {
    bool known; // in prepare
    int rank, dims[HL_MAX_RANK];
    struct hl_layout layout;
    struct hl_layout to;    // where it goes: dims in row-major order
    int shape[HL_MAX_RANK]; // of the output: dims, or less of it
    bool in_runs;           // the whole selection is these runs
    struct hl_byte_runs runs;
};

static bool has(int mask, int entry)
{
    return entry < 32 && ((unsigned)mask >> entry & 1);
}

static TfLiteStatus add_dimension(TfLiteContext *ctx, const TfLiteNode *node, struct selection *s, int length,
                                  int64_t stride)
{
    HL_REQUIRE(ctx, node, s->rank < HL_MAX_RANK, "the output has more than %d dimensions", HL_MAX_RANK);
    s->dims[s->rank] = s->shape[s->rank] = length;
    s->layout.stride[s->rank++] = stride;
    return kTfLiteOk;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int steps(int64_t begin, int64_t end, int64_t stride)
{
    const int64_t count = (end - begin + stride + (stride > 0 ? -1 : 1)) / stride;
    return count > 0 ? (int)count : 0;
}

// Applies an entry of the index to a dimension of x of `length` elements that are `step` apart.
static TfLiteStatus apply_entry(TfLiteContext *ctx, const TfLiteNode *node, int entry, int length, int64_t step,
                                struct selection *s)
{
    const TfLiteStridedSliceParams *params = node->builtin_data;
    const int64_t stride = HL_IN(int32_t, hl_input(ctx, node, 3))[entry];
    int64_t begin = HL_IN(int32_t, hl_input(ctx, node, 1))[entry];
    int64_t end = HL_IN(int32_t, hl_input(ctx, node, 2))[entry];

    HL_REQUIRE(ctx, node, stride != 0 && stride != INT32_MIN, "stride %lld of entry %d is not possible",
               (long long)stride, entry);
    // Going forward, begin and end lie in [0, length]; backward in [-1, length - 1].
    const int64_t low = stride > 0 ? 0 : -1, high = low + length;
    if (begin < 0) begin += length;
    if (has(params->begin_mask, entry)) begin = stride > 0 ? low : high;
    if (has(params->shrink_axis_mask, entry)) {
        HL_REQUIRE(ctx, node, begin >= 0 && begin < length, "index %lld is outside a dimension of %d", (long long)begin,
                   length);
        s->layout.offset += begin * step;
        return kTfLiteOk;
    }
    begin = clamp(begin, low, high);

    if (params->offset)
        end += begin;
    else if (end < 0)
        end += length;
    end = clamp(end, low, high);
    const int64_t last = has(params->end_mask, entry) ? (stride > 0 ? high : low) : end;
    const int count = steps(begin, last, stride);
    if (count > 0) s->layout.offset += begin * step;
    HL_TRY(add_dimension(ctx, node, s, count, stride * step));
    if (params->offset) s->shape[s->rank - 1] = steps(begin, end, stride);
    return kTfLiteOk;
}

static TfLiteStatus find_selection(TfLiteContext *ctx, const TfLiteNode *node, struct selection *s)
{
    const TfLiteStridedSliceParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int entries = hl_dim(hl_input(ctx, node, 1), 0), rank = hl_rank(x);
    const struct hl_layout whole = hl_row_major(rank, x->dims->data);

    int new_axes = 0;
    for (int entry = 0; entry < entries; entry++)
        if (has(params->new_axis_mask, entry) && !has(params->ellipsis_mask, entry)) new_axes++;
    const int open = rank + new_axes + 1 - entries, ellipsis_length = open > 1 ? open : 1;

    s->rank = 0;
    s->layout.offset = 0;
    int axis = 0;
    for (int entry = 0; entry < entries; entry++) {
        if (has(params->ellipsis_mask, entry)) {
            for (int i = 0; i < ellipsis_length && axis < rank; i++, axis++)
                HL_TRY(add_dimension(ctx, node, s, hl_dim(x, axis), whole.stride[axis]));
        } else if (has(params->new_axis_mask, entry)) {
            HL_TRY(add_dimension(ctx, node, s, 1, 0));
        } else if (axis < rank) {
            HL_TRY(apply_entry(ctx, node, entry, hl_dim(x, axis), whole.stride[axis], s));
            axis++;
        } else {
            HL_REQUIRE(ctx, node, params->ellipsis_mask, "an index of %d entries for %d dimensions", entries, rank);
        }
    }
    for (; axis < rank; axis++) HL_TRY(add_dimension(ctx, node, s, hl_dim(x, axis), whole.stride[axis]));
    s->to = hl_row_major(s->rank, s->dims);
    return kTfLiteOk;
}

static void copy_first(int bits, const struct selection *s, int64_t count, void *to, const void *from)
{
    struct hl_walk walk;
    hl_walk_start_strided(&walk, s->rank, s->dims, 1, &s->layout.stride);
    for (int64_t i = 0; i < count; i++, hl_walk_next(&walk))
        hl_copy_run(bits, 1, to, i, from, s->layout.offset + walk.at[0]);
}

// Whether the output holds all elements of the selection.
static bool is_whole(const struct selection *s)
{
    return memcmp(s->dims, s->shape, (size_t)s->rank * sizeof *s->dims) == 0;
}

static TfLiteStatus copy_selection(TfLiteContext *ctx, const TfLiteNode *node, const struct selection *s)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int bits = hl_type_bits(x->type);

    if (x->type == kTfLiteString) return hl_strings_copy(ctx, node, s->rank, s->dims, y, x, &s->layout);
    if (is_whole(s))
        hl_copy_shared(ctx, bits, s->rank, s->dims, y->data.data, &s->to, hl_data(x), &s->layout);
    else
        copy_first(bits, s, hl_elements(y), y->data.data, hl_data(x));
    return kTfLiteOk;
}

// Three int32 vectors of one length.
static TfLiteStatus check_index(TfLiteContext *ctx, const TfLiteNode *node)
{
    static const char *const names[] = {"x", "begin", "end", "strides"};
    const int entries = (int)hl_elements(hl_input(ctx, node, 1));
    for (int i = 1; i <= 3; i++) {
        const TfLiteTensor *tensor = hl_input(ctx, node, i);
        HL_REQUIRE(ctx, node, tensor->type == kTfLiteInt32, "%s must be int32, not %s", names[i],
                   hl_type_name(tensor->type));
        HL_REQUIRE(ctx, node, hl_rank(tensor) == 1, "%s must have one dimension, not %d", names[i], hl_rank(tensor));
        HL_REQUIRE(ctx, node, hl_dim(tensor, 0) == entries, "begin has %d values, %s has %d", entries, names[i],
                   hl_dim(tensor, 0));
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 4, 4, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct selection *selection = node->user_data;

    selection->known = selection->in_runs = false;
    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_TRY(check_index(ctx, node));
    bool known = y->type != kTfLiteString;
    for (int i = 1; i <= 3; i++) known = known && hl_is_constant(hl_input(ctx, node, i));
    if (!known) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    HL_TRY(find_selection(ctx, node, selection));
    selection->known = true;
    const bool folds = hl_fold(ctx, node, y);
    HL_TRY(hl_resize(ctx, y, selection->rank, selection->shape));
    selection->in_runs = is_whole(selection) && x->type != kTfLiteString && hl_is_copied_alone(ctx, (double)y->bytes) &&
                         hl_find_byte_runs(hl_type_bits(x->type), selection->rank, selection->dims, &selection->to,
                                           &selection->layout, &selection->runs);
    return folds ? copy_selection(ctx, node, selection) : kTfLiteOk;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct selection *selection = node->user_data;

    if (hl_is_constant(y)) return kTfLiteOk;
    if (selection->in_runs) {
        hl_copy_byte_runs(&selection->runs, y->data.data, hl_data(hl_input(ctx, node, 0)));
        return kTfLiteOk;
    }
    if (!selection->known) HL_TRY(find_selection(ctx, node, selection));
    if (hl_is_dynamic(y)) HL_TRY(hl_strings_resize(ctx, node, y, selection->rank, selection->shape));
    return copy_selection(ctx, node, selection);
}

const struct hl_op hl_op_strided_slice = {
    .state_size = sizeof(struct selection),
    .prepare = prepare,
    .invoke = invoke,
};
