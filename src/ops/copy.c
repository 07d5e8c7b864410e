// SPDX-License-Identifier: Apache-2.0
// Strided copies and fills by element size: neighbouring axes are merged (hl_walk), the innermost
// run is a memcpy where it is contiguous on both sides. Packed elements (4 and 2 bits, low bits
// first) go one by one.
#include "ops/copy.h"

#include <string.h>

struct hl_layout hl_row_major(int rank, const int *dims)
{
    struct hl_layout layout = {0};
    int64_t step = 1;
    for (int axis = rank - 1; axis >= 0; axis--) {
        layout.stride[axis] = step;
        step *= dims[axis];
    }
    return layout;
}

struct hl_layout hl_without_axis(const struct hl_layout *layout, int rank, int axis, int index)
{
    struct hl_layout rest = {.offset = layout->offset + index * layout->stride[axis]};
    for (int i = 0; i < rank - 1; i++) rest.stride[i] = layout->stride[i < axis ? i : i + 1];
    return rest;
}

// ---- runs ---------------------------------------------------------------------------------------

// Elements of a run: `count` of them, from and to every step-th.
struct run {
    int64_t count, to_at, to_step, from_at, from_step;
};

#define DEFINE_COPY_BYTES(SIZE)                                                                    \
    static void copy_bytes_##SIZE(char *to, const char *from, const struct run *run)               \
    {                                                                                              \
        const int64_t to_step = run->to_step * (SIZE), from_step = run->from_step * (SIZE);        \
        to += run->to_at * (SIZE);                                                                 \
        from += run->from_at * (SIZE);                                                             \
        for (int64_t i = 0; i < run->count; i++)                                                   \
            memcpy(to + i * to_step, from + i * from_step, (SIZE));                                \
    }
DEFINE_COPY_BYTES(1)
DEFINE_COPY_BYTES(2)
DEFINE_COPY_BYTES(4)
DEFINE_COPY_BYTES(8)
DEFINE_COPY_BYTES(16)

static void copy_packed(int bits, uint8_t *to, const uint8_t *from, const struct run *run)
{
    const int per_byte = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t i = 0; i < run->count; i++) {
        int64_t source = run->from_at + i * run->from_step, target = run->to_at + i * run->to_step;
        int shift = (int)(target % per_byte) * bits;
        unsigned value = from[source / per_byte] >> (source % per_byte) * bits & mask;
        uint8_t *byte = &to[target / per_byte];
        *byte = (uint8_t)((*byte & ~(mask << shift)) | value << shift);
    }
}

static void copy_run(int bits, void *to, const void *from, const struct run *run)
{
    if (bits >= 8 && run->to_step == 1 && run->from_step == 1) {
        size_t size = (size_t)bits / 8;
        memcpy((char *)to + (size_t)run->to_at * size,
               (const char *)from + (size_t)run->from_at * size, (size_t)run->count * size);
        return;
    }
    switch (bits) {
    case 8: copy_bytes_1(to, from, run); break;
    case 16: copy_bytes_2(to, from, run); break;
    case 32: copy_bytes_4(to, from, run); break;
    case 64: copy_bytes_8(to, from, run); break;
    case 128: copy_bytes_16(to, from, run); break;
    default: copy_packed(bits, to, from, run); break;
    }
}

// ---- copies and fills ---------------------------------------------------------------------------

void hl_copy(int bits, int rank, const int *dims, void *to, const struct hl_layout *to_layout,
             const void *from, const struct hl_layout *from_layout)
{
    int64_t strides[2][HL_MAX_RANK];
    memcpy(strides[0], to_layout->stride, sizeof strides[0]);
    memcpy(strides[1], from_layout->stride, sizeof strides[1]);

    struct hl_walk walk;
    hl_walk_start_strided(&walk, rank, dims, 2, (const int64_t(*)[HL_MAX_RANK])strides);
    if (walk.count == 0) return;
    struct run run = {.count = hl_walk_run(&walk), .to_step = 1, .from_step = 1};
    if (walk.rank > 0) {
        run.to_step = walk.stride[0][walk.rank - 1];
        run.from_step = walk.stride[1][walk.rank - 1];
    }
    for (int64_t done = 0; done < walk.count; done += run.count, hl_walk_skip_run(&walk)) {
        run.to_at = to_layout->offset + walk.at[0];
        run.from_at = from_layout->offset + walk.at[1];
        copy_run(bits, to, from, &run);
    }
}

void hl_copy_run(int bits, int64_t count, void *to, int64_t to_at, const void *from,
                 int64_t from_at)
{
    if (count == 0) return;
    copy_run(bits, to, from,
             &(struct run){
                 .count = count, .to_at = to_at, .to_step = 1, .from_at = from_at, .from_step = 1});
}

void hl_fill(int bits, int64_t count, void *to, const void *value)
{
    if (count == 0) return;
    if (bits == 8) {
        memset(to, *(const unsigned char *)value, (size_t)count);
        return;
    }
    copy_run(bits, to, value, &(struct run){.count = count, .to_step = 1});
}

void hl_fill_zero(TfLiteTensor *tensor)
{
    const int zero = hl_has_zero_point(tensor->type) ? hl_zero(tensor) : 0;
    if (tensor->type == kTfLiteInt16)
        hl_fill(16, hl_elements(tensor), tensor->data.data, &(int16_t){(int16_t)zero});
    else if (tensor->bytes > 0) memset(tensor->data.data, (uint8_t)zero, tensor->bytes);
}

void hl_clear_packed(TfLiteTensor *tensor)
{
    int bits = hl_element_bits(tensor->type);
    if (bits > 0 && bits < 8 && tensor->bytes > 0) memset(tensor->data.data, 0, tensor->bytes);
}

// ---- small inputs -------------------------------------------------------------------------------

TfLiteStatus hl_read_shape(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                           int lowest, int *rank, int *dims)
{
    HL_REQUIRE(ctx, node, tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64,
               "a shape must be int32 or int64, not %s", hl_type_name(tensor->type));
    HL_REQUIRE(ctx, node, hl_rank(tensor) == 1, "a shape must have one dimension, not %d",
               hl_rank(tensor));
    HL_REQUIRE(ctx, node, hl_dim(tensor, 0) <= HL_MAX_RANK, "a shape of %d dimensions is above %d",
               hl_dim(tensor, 0), HL_MAX_RANK);
    for (int axis = 0; axis < hl_dim(tensor, 0); axis++) {
        int64_t dim = hl_integer_at(tensor, axis);
        HL_REQUIRE(ctx, node, dim >= lowest && dim <= INT32_MAX,
                   "dimension %d of the shape is %lld, which is not possible", axis,
                   (long long)dim);
        dims[axis] = (int)dim;
    }
    *rank = hl_dim(tensor, 0);
    return kTfLiteOk;
}

TfLiteStatus hl_require_scalar(TfLiteContext *ctx, const TfLiteNode *node,
                               const TfLiteTensor *tensor, const char *name)
{
    HL_REQUIRE(ctx, node, tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64,
               "the %s must be int32 or int64, not %s", name, hl_type_name(tensor->type));
    HL_REQUIRE(ctx, node, hl_elements(tensor) == 1, "the %s must be one value, not %lld", name,
               (long long)hl_elements(tensor));
    return kTfLiteOk;
}

bool hl_fold(const TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output)
{
    if (output->type != kTfLiteInt32 && output->type != kTfLiteInt64) return false;
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i);
        if (input && !hl_is_constant(input)) return false;
    }
    hl_make_constant(output);
    return true;
}
