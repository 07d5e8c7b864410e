// SPDX-License-Identifier: Apache-2.0
// DENSIFY: a constant stored sparsely, written out.
//     in 0: x, a constant with sparsity; out 0: the same shape, dense
//     float32 float16 int8
//
// The sparsity lists levels, outermost first. Level i walks dimension traversal_order[i]: one of
// the tensor's, or (from the rank on) the inside of the block that block_map names. A dense level
// has all of its positions, a compressed one those listed: the children of the parent's entry p are
// indices[segments[p]] to indices[segments[p + 1] - 1]. The entries of the last level are the
// stored values, in order.
//
// The output is written while preparing, so that operators behind it see a constant. Nothing in the
// sparsity is believed.
#include "ops/common/copy.h"

#include <string.h>

enum { MAX_LEVELS = 2 * HL_MAX_RANK };

struct level {
    const TfLiteDimensionMetadata *metadata;
    int length;     // of the dimension that it walks
    int64_t stride; // in the dense tensor, in elements
};

struct sparse {
    int levels;
    struct level level[MAX_LEVELS];
    int64_t stored; // values
    int bits;
    const void *from;
    void *to;
};

// ---- reading the sparsity -----------------------------------------------------------------------

static TfLiteStatus check_compressed(TfLiteContext *ctx, const TfLiteNode *node, const struct level *level,
                                     int64_t parents, int number)
{
    const TfLiteIntArray *segments = level->metadata->array_segments;
    const TfLiteIntArray *indices = level->metadata->array_indices;

    HL_REQUIRE(ctx, node, segments && indices, "level %d of the sparsity has no segments or indices", number);
    HL_REQUIRE(ctx, node,
               segments->size == parents + 1 && segments->data[0] == 0 && segments->data[parents] == indices->size,
               "level %d of the sparsity has %d segments for %lld parents", number, segments->size, (long long)parents);
    for (int64_t i = 0; i < parents; i++)
        HL_REQUIRE(ctx, node, segments->data[i] <= segments->data[i + 1],
                   "segment %lld of level %d of the sparsity ends before it begins", (long long)i, number);
    for (int i = 0; i < indices->size; i++)
        HL_REQUIRE(ctx, node, indices->data[i] >= 0 && indices->data[i] < level->length,
                   "index %d of level %d of the sparsity is %d, outside a dimension of %d", i, number, indices->data[i],
                   level->length);
    return kTfLiteOk;
}

// Dimension and block sizes: block[d] positions of dimension d lie inside a block, 1 where it has
// none.
static TfLiteStatus read_blocks(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x, int *block)
{
    const TfLiteSparsity *sparsity = x->sparsity;
    const int rank = hl_rank(x), blocks = sparsity->block_map ? sparsity->block_map->size : 0;

    HL_REQUIRE(ctx, node,
               sparsity->traversal_order && sparsity->dim_metadata &&
                   sparsity->dim_metadata_size == sparsity->traversal_order->size && blocks <= rank &&
                   sparsity->dim_metadata_size == rank + blocks,
               "%d levels of sparsity do not fit %d dimensions with %d blocks", sparsity->dim_metadata_size, rank,
               blocks);
    for (int axis = 0; axis < rank; axis++) block[axis] = 1;
    for (int i = 0; i < rank + blocks; i++) {
        const int walked = sparsity->traversal_order->data[i];
        HL_REQUIRE(ctx, node, walked >= 0 && walked < rank + blocks, "level %d walks dimension %d", i, walked);
        for (int j = 0; j < i; j++)
            HL_REQUIRE(ctx, node, sparsity->traversal_order->data[j] != walked,
                       "levels %d and %d both walk dimension %d", j, i, walked);
        if (walked < rank) continue;
        const TfLiteDimensionMetadata *metadata = &sparsity->dim_metadata[i];
        const int axis = sparsity->block_map->data[walked - rank];
        HL_REQUIRE(ctx, node, axis >= 0 && axis < rank && block[axis] == 1, "block %d divides dimension %d",
                   walked - rank, axis);
        HL_REQUIRE(ctx, node,
                   metadata->format == kTfLiteDimDense && metadata->dense_size > 0 &&
                       hl_dim(x, axis) % metadata->dense_size == 0,
                   "blocks of %d do not divide dimension %d, which is %d", metadata->dense_size, axis, hl_dim(x, axis));
        block[axis] = metadata->dense_size;
    }
    return kTfLiteOk;
}

static TfLiteStatus read_levels(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x,
                                struct sparse *sparse)
{
    const TfLiteSparsity *sparsity = x->sparsity;
    const int rank = hl_rank(x);
    const struct hl_layout layout = hl_row_major(rank, x->dims->data);
    int block[HL_MAX_RANK];
    int64_t entries = 1;

    HL_TRY(read_blocks(ctx, node, x, block));
    sparse->levels = sparsity->dim_metadata_size;
    for (int i = 0; i < sparse->levels; i++) {
        struct level *level = &sparse->level[i];
        const int walked = sparsity->traversal_order->data[i];
        const int axis = walked < rank ? walked : sparsity->block_map->data[walked - rank];
        level->metadata = &sparsity->dim_metadata[i];
        level->length = walked < rank ? hl_dim(x, axis) / block[axis] : block[axis];
        level->stride = layout.stride[axis] * (walked < rank ? block[axis] : 1);
        if (level->metadata->format == kTfLiteDimDense) {
            HL_REQUIRE(ctx, node, level->metadata->dense_size == level->length,
                       "level %d of the sparsity has %d positions, not %d", i, level->metadata->dense_size,
                       level->length);
            HL_REQUIRE(ctx, node, hl_mul_i64(entries, level->length, &entries),
                       "level %d of the sparsity has too many entries", i);
        } else {
            HL_TRY(check_compressed(ctx, node, level, entries, i));
            entries = level->metadata->array_indices->size;
        }
    }
    HL_REQUIRE(ctx, node, entries == sparse->stored, "the sparsity has %lld entries for %lld values",
               (long long)entries, (long long)sparse->stored);
    return kTfLiteOk;
}

// ---- writing the values -------------------------------------------------------------------------

// The children of entry `parent` of the level before, which lies at element `at`. No deeper than
// MAX_LEVELS.
static void expand(const struct sparse *sparse, int number, int64_t parent, int64_t at)
{
    if (number == sparse->levels) {
        hl_copy_run(sparse->bits, 1, sparse->to, at, sparse->from, parent);
        return;
    }
    const struct level *level = &sparse->level[number];
    if (level->metadata->format == kTfLiteDimDense) {
        for (int i = 0; i < level->length; i++)
            expand(sparse, number + 1, parent * level->length + i, at + i * level->stride);
        return;
    }
    const int *segments = level->metadata->array_segments->data;
    const int *indices = level->metadata->array_indices->data;
    for (int i = segments[parent]; i < segments[parent + 1]; i++)
        expand(sparse, number + 1, i, at + indices[i] * level->stride);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(Int8)));
    HL_REQUIRE(ctx, node, hl_is_constant(x), "the input must be a constant");
    HL_REQUIRE(ctx, node, x->sparsity, "the input is not sparse");
    struct sparse sparse = {.bits = hl_type_bits(x->type), .from = hl_data(x)};
    sparse.stored = (int64_t)(x->bytes / ((size_t)sparse.bits / 8));
    HL_TRY(read_levels(ctx, node, x, &sparse));

    bool known;
    HL_TRY(hl_make_shared_constant(ctx, node, x, &known));
    if (known || y->bytes == 0) return kTfLiteOk;
    memset(y->data.data, 0, y->bytes);
    sparse.to = y->data.data;
    expand(&sparse, 0, 0, 0);
    hl_share_constant(ctx, node);
    return kTfLiteOk;
}

const struct hl_op hl_op_densify = {
    .sparse_inputs = 1 << 0,
    .prepare = prepare,
    .invoke = hl_invoke_nothing,
};
