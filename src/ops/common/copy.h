// SPDX-License-Identifier: Apache-2.0
// What operators that move elements have in common: strided copies and fills that do not care what
// an element means, the reading of tensors that hold a shape, and the folding of shape arithmetic.
#ifndef HALITE_OPS_COMMON_COPY_H
#define HALITE_OPS_COMMON_COPY_H

#include "ops/op.h"

// Sets of types: HL_TYPE(Float32) | HL_TYPE(Int8).
#define HL_TYPE(name) (UINT32_C(1) << kTfLite##name)
// Those of 1, 2, 4 or 8 whole bytes.
#define HL_PLAIN_TYPES                                                                                             \
    (HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Float64) | HL_TYPE(Int8) | HL_TYPE(UInt8) | \
     HL_TYPE(Int16) | HL_TYPE(UInt16) | HL_TYPE(Int32) | HL_TYPE(UInt32) | HL_TYPE(Int64) | HL_TYPE(UInt64) |      \
     HL_TYPE(Bool) | HL_TYPE(Complex64) | HL_TYPE(Float8E4M3FN) | HL_TYPE(Float8E5M2))
static inline bool hl_type_in(TfLiteType type, uint32_t set)
{
    return (int)type >= 0 && (int)type < 32 && (set >> (int)type & 1);
}
// Input and output must have one type, of this set.
TfLiteStatus hl_require_type_of_both(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                     const TfLiteTensor *output, uint32_t types);
// For shapes, axes and indices, called `name` in messages.
TfLiteStatus hl_require_int32_or_int64(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                                       const char *name);

// Position (i0, i1, …) is the element at offset + i0*stride[0] + i1*stride[1] + …; strides may be 0
// or negative.
struct hl_layout {
    int64_t offset;
    int64_t stride[HL_MAX_RANK];
};
// Row-major order of an array of this shape, from its first element.
struct hl_layout hl_row_major(int rank, const int *dims);
// The layout of an array without one of its axes, at position `index` of it.
struct hl_layout hl_without_axis(const struct hl_layout *layout, int rank, int axis, int index);

// Fewer bytes than this take about as long to write as to share among threads, on the Xeon of HL_MIN_SHARED_PRODUCTS.
enum { HL_MIN_SHARED_BYTES = 12 << 10 };

// Copies one element for each position of dims. The memories must not overlap.
void hl_copy(int bits, int rank, const int *dims, void *to, const struct hl_layout *to_layout, const void *from,
             const struct hl_layout *from_layout);
// The same by all threads of the interpreter, where there is enough to copy. Not to be called by work of hl_parallel.
void hl_copy_shared(const TfLiteContext *ctx, int bits, int rank, const int *dims, void *to,
                    const struct hl_layout *to_layout, const void *from, const struct hl_layout *from_layout);
// Copies a part of a larger array: positions from `start` on along the axis, which has `length` of them; the other axes
// are the part's. `is_source`: the part is read and written into the array, else it is taken from there.
void hl_copy_part(const TfLiteContext *ctx, int bits, const TfLiteIntArray *part, int axis, int start, int length,
                  bool is_source, void *to, const void *from);
// Whether so many bytes are copied by one thread.
bool hl_is_copied_alone(const TfLiteContext *ctx, double bytes);
// Runs of bytes at even distances, all of `size` bytes. (To describe a copy
// of a few bytes by layouts takes longer than to make it: 27 % of the instructions of a streaming wake word.)
struct hl_byte_runs {
    int64_t count;
    size_t size;
    int64_t to_step, from_step, to, from; // bytes: from one run to the next, and before the first one
};
void hl_copy_byte_runs(const struct hl_byte_runs *runs, void *to, const void *from);
// Describes what hl_copy copies as such runs. False where it is none, or more than that.
bool hl_find_byte_runs(int bits, int rank, const int *dims, const struct hl_layout *to_layout,
                       const struct hl_layout *from_layout, struct hl_byte_runs *runs);
// count elements in a row, from element `from_at` to element `to_at`.
void hl_copy_run(int bits, int64_t count, void *to, int64_t to_at, const void *from, int64_t from_at);
// Writes count times the element at `value`; not for packed types.
void hl_fill(int bits, int64_t count, void *to, const void *value);
// Types whose stored zero is the tensor's zero point, and a whole tensor of that: 0 in other types.
static inline bool hl_has_zero_point(TfLiteType type)
{
    return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}
void hl_fill_zero(TfLiteTensor *tensor);
// Before a packed tensor is written piece by piece: its unused bits are zero in the end.
void hl_clear_packed(TfLiteTensor *tensor);

// Reads a 1-D int32 or int64 tensor that holds a shape. Its values must be dimensions, not below
// `lowest` (0 or -1).
TfLiteStatus hl_read_shape(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, int lowest,
                           int *rank, int *dims);
// Gives output 0 the shape that the input of this number holds.
TfLiteStatus hl_resize_to_input(TfLiteContext *ctx, const TfLiteNode *node, int input);
// The value of a tensor of one int32 or int64 element (axis, depth, …), called `name` in messages.
TfLiteStatus hl_require_scalar(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                               const char *name);

// Shape arithmetic: when all inputs are constant and the output holds integers, as shapes do, the
// operator computes it in prepare, so that shapes made of it are known before anything runs.
// Call it before the output gets its shape; true: the output is constant now, and prepare is to
// write it. (invoke then finds it constant and has nothing to do.)
bool hl_fold(const TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output);
// The end of a prepare that folds: gives the output its shape, and by `compute` its value where that is known already.
TfLiteStatus hl_resize_and_fold(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output, int rank,
                                const int *dims, TfLiteStatus (*compute)(TfLiteContext *ctx, const TfLiteNode *node));
// And the invoke of such an operator.
static inline TfLiteStatus hl_invoke_unless_folded(TfLiteContext *ctx, const TfLiteNode *node,
                                                   TfLiteStatus (*compute)(TfLiteContext *ctx, const TfLiteNode *node))
{
    return hl_is_constant(hl_output(ctx, node, 0)) ? kTfLiteOk : compute(ctx, node);
}
// The invoke of operators whose output is always known in prepare.
TfLiteStatus hl_invoke_nothing(TfLiteContext *ctx, TfLiteNode *node);

#endif
