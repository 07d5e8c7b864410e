// SPDX-License-Identifier: Apache-2.0
// TOPK_V2: the k largest values of each row, falling, and where they are; of equal ones the first
// one first.
//     in 0: x [any.., n], in 1: k int16 or int32, one value, at most n
//     out 0: values [any.., k], as x, out 1: positions [any.., k] int16 or int32
//     float32 int8 uint8 int16 int32 int64
//
// A heap of k positions with the least wanted at the root: n log k steps for a row.
#include "ops/common/copy.h"

static const uint32_t types =
    HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64);

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int last = hl_rank(x) - 1, n = hl_dim(x, last);
    const int64_t k = hl_integer_at(hl_input(ctx, node, 1), 0);
    int dims[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, k >= 0 && k <= n, "k is %lld, outside 0 to %d", (long long)k, n);
    for (int axis = 0; axis < last; axis++) dims[axis] = hl_dim(x, axis);
    dims[last] = (int)k;
    for (int i = 0; i < 2; i++) HL_TRY(hl_resize(ctx, hl_output(ctx, node, i), hl_rank(x), dims));
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 2));
    HL_TRY(hl_make_temporaries(ctx, node, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *k = hl_input(ctx, node, 1);
    TfLiteTensor *values = hl_output(ctx, node, 0), *positions = hl_output(ctx, node, 1);

    HL_TRY(hl_require_type_of_both(ctx, node, x, values, types));
    HL_REQUIRE(ctx, node, positions->type == kTfLiteInt32 || positions->type == kTfLiteInt16,
               "positions must be int16 or int32, not %s", hl_type_name(positions->type));
    HL_REQUIRE(ctx, node, values != positions, "values and positions are one tensor");
    HL_REQUIRE(ctx, node, k->type == kTfLiteInt32 || k->type == kTfLiteInt16, "k must be int16 or int32, not %s",
               hl_type_name(k->type));
    HL_REQUIRE(ctx, node, hl_elements(k) == 1, "k must be one value, not %lld", (long long)hl_elements(k));
    HL_REQUIRE(ctx, node, hl_rank(x) > 0, "the input must not be a scalar");
    const int n = hl_dim(x, hl_rank(x) - 1);
    HL_REQUIRE(ctx, node, positions->type == kTfLiteInt32 || n <= INT16_MAX + 1, "%d positions do not fit into int16",
               n);
    HL_TRY(hl_set_temporary(ctx, node, 0, kTfLiteInt32, false, 1, &n));
    if (hl_is_constant(k)) return resize(ctx, node);
    hl_make_dynamic(values);
    hl_make_dynamic(positions);
    return kTfLiteOk;
}

enum { BLOCK = 32 };

// For one type: comes_after says which of two positions is less wanted; sink restores the heap
// below a position; next_above finds the first value above the least one, from i on, or n: whole
// blocks at a time, which compilers make vectors of (10 of 50000 floats: 52 us without, 9 with).
#define DEFINE_TOP(name, type)                                                                    \
    static bool comes_after_##name(const type *x, int32_t a, int32_t b)                           \
    {                                                                                             \
        return x[a] < x[b] || (!(x[b] < x[a]) && a > b);                                          \
    }                                                                                             \
    static void sink_##name(const type *x, int32_t *heap, int size, int at)                       \
    {                                                                                             \
        const int32_t position = heap[at];                                                        \
        for (int64_t child; (child = INT64_C(2) * at + 1) < size;) {                              \
            if (child + 1 < size && comes_after_##name(x, heap[child + 1], heap[child])) child++; \
            if (!comes_after_##name(x, heap[child], position)) break;                             \
            heap[at] = heap[child];                                                               \
            at = (int)child;                                                                      \
        }                                                                                         \
        heap[at] = position;                                                                      \
    }                                                                                             \
    static int next_above_##name(const type *x, int i, int n, type least)                         \
    {                                                                                             \
        for (int some = 0; n - i >= BLOCK; i += BLOCK) {                                          \
            for (int j = 0; j < BLOCK; j++) some |= least < x[i + j];                             \
            if (some) break;                                                                      \
        }                                                                                         \
        while (i < n && !(least < x[i])) i++;                                                     \
        return i;                                                                                 \
    }                                                                                             \
    static void top_##name(const void *row, int n, int k, int32_t *heap)                          \
    {                                                                                             \
        const type *x = row;                                                                      \
        for (int i = 0; i < k; i++) heap[i] = i;                                                  \
        for (int i = k / 2 - 1; i >= 0; i--) sink_##name(x, heap, k, i);                          \
        for (int i = k; (i = next_above_##name(x, i, n, x[heap[0]])) < n; i++) {                  \
            heap[0] = i;                                                                          \
            sink_##name(x, heap, k, 0);                                                           \
        }                                                                                         \
        for (int size = k - 1; size > 0; size--) {                                                \
            const int32_t least = heap[0];                                                        \
            heap[0] = heap[size];                                                                 \
            heap[size] = least;                                                                   \
            sink_##name(x, heap, size, 0);                                                        \
        }                                                                                         \
    }
DEFINE_TOP(f32, float)
DEFINE_TOP(i8, int8_t)
DEFINE_TOP(u8, uint8_t)
DEFINE_TOP(i16, int16_t)
DEFINE_TOP(i32, int32_t)
DEFINE_TOP(i64, int64_t)

static void top(TfLiteType type, const void *row, int n, int k, int32_t *heap)
{
    switch (type) {
    case kTfLiteFloat32: top_f32(row, n, k, heap); break;
    case kTfLiteInt8: top_i8(row, n, k, heap); break;
    case kTfLiteUInt8: top_u8(row, n, k, heap); break;
    case kTfLiteInt16: top_i16(row, n, k, heap); break;
    case kTfLiteInt32: top_i32(row, n, k, heap); break;
    default: top_i64(row, n, k, heap); break;
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *values = hl_output(ctx, node, 0), *positions = hl_output(ctx, node, 1);

    if (hl_is_dynamic(values)) HL_TRY(resize(ctx, node));
    const int last = hl_rank(x) - 1, n = hl_dim(x, last), k = hl_dim(values, last);
    const int64_t rows = hl_product(x->dims, 0, last);
    const int bits = hl_type_bits(x->type);
    int32_t *heap = HL_OUT(int32_t, hl_temporary(ctx, node, 0));

    if (k == 0) return kTfLiteOk;
    for (int64_t row = 0; row < rows; row++) {
        top(x->type, HL_IN(char, x) + row * n * (bits / 8), n, k, heap);
        for (int i = 0; i < k; i++) {
            hl_copy_run(bits, 1, values->data.data, row * k + i, hl_data(x), row * n + heap[i]);
            if (positions->type == kTfLiteInt32)
                HL_OUT(int32_t, positions)[row * k + i] = heap[i];
            else
                HL_OUT(int16_t, positions)[row * k + i] = (int16_t)heap[i];
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_topk_v2 = {
    .prepare = prepare,
    .invoke = invoke,
};
