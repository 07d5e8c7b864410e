// SPDX-License-Identifier: Apache-2.0
// EMBEDDING_LOOKUP_SPARSE: rows of a table, gathered in buckets: y[bucket] = sum of weight * table[id] over its
// lookups; combiner mean divides by the sum of weights, sqrtn by the root of the sum of their squares.
// in 0: ids int32 [n], in 1: indices int32 [n, k], whose first k - 1 numbers are the bucket, in 2: shape int32 [k] of
// all buckets, in 3: weights float32 [n], in 4: table float32 [rows, ..]; out 0: y float32 [shape[0 .. k - 2], ..].
// The lookups of a bucket should stand together: where one comes back later it is divided twice, as in the original.
#include <math.h>
#include <string.h>

#include "ops/op.h"

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 5, 5, 1));
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1),
                       *shape = hl_input(ctx, node, 2);
    const TfLiteTensor *weights = hl_input(ctx, node, 3), *table = hl_input(ctx, node, 4);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, ids->type == kTfLiteInt32 && indices->type == kTfLiteInt32 && shape->type == kTfLiteInt32,
               "ids, indices and shape must be int32");
    if (weights->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, weights);
    if (table->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, table);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, hl_rank(ids) == 1 && hl_rank(indices) == 2 && hl_rank(shape) == 1 && hl_rank(weights) == 1,
               "ids, shape and weights must have 1 dimension, indices 2");
    HL_REQUIRE(ctx, node, hl_dim(indices, 0) == hl_dim(ids, 0) && hl_dim(weights, 0) == hl_dim(ids, 0),
               "%d ids, but %d indices and %d weights", hl_dim(ids, 0), hl_dim(indices, 0), hl_dim(weights, 0));
    HL_REQUIRE(ctx, node, hl_dim(shape, 0) >= 1 && hl_dim(indices, 1) == hl_dim(shape, 0),
               "indices of %d numbers do not fit a shape of %d", hl_dim(indices, 1), hl_dim(shape, 0));
    HL_REQUIRE(ctx, node, hl_rank(table) >= 2, "the table has %d dimensions, it must have 2 or more", hl_rank(table));
    HL_REQUIRE(ctx, node, hl_dim(shape, 0) + hl_rank(table) - 2 <= HL_MAX_RANK, "the output has too many dimensions");
    hl_make_dynamic(y);
    return kTfLiteOk;
}

static TfLiteStatus shape_output(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *shape = hl_input(ctx, node, 2), *table = hl_input(ctx, node, 4);
    int dims[HL_MAX_RANK], rank = 0;
    for (int k = 0; k + 1 < hl_dim(shape, 0); k++) dims[rank++] = HL_IN(int32_t, shape)[k];
    for (int axis = 1; axis < hl_rank(table); axis++) dims[rank++] = hl_dim(table, axis);
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

// The bucket of lookup i, -1 outside of the shape.
static int64_t bucket_of(const TfLiteTensor *indices, const TfLiteTensor *shape, int i)
{
    const int32_t *index = HL_IN(int32_t, indices) + (int64_t)i * hl_dim(indices, 1);
    int64_t bucket = 0;
    for (int k = 0; k + 1 < hl_dim(shape, 0); k++) {
        int32_t length = HL_IN(int32_t, shape)[k];
        if (index[k] < 0 || index[k] >= length) return -1;
        bucket = bucket * length + index[k];
    }
    return bucket;
}

struct bucket {
    int64_t number;
    int lookups;
    float weights, squares;
};

static void divide(TfLiteCombinerType combiner, const struct bucket *bucket, float *y, int64_t width)
{
    if (combiner == kTfLiteCombinerTypeSum || bucket->lookups == 0) return;
    float by = combiner == kTfLiteCombinerTypeMean ? bucket->weights : sqrtf(bucket->squares);
    for (int64_t i = 0; i < width; i++) y[bucket->number * width + i] /= by;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteEmbeddingLookupSparseParams *params = node->builtin_data;
    HL_TRY(shape_output(ctx, node));
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *indices = hl_input(ctx, node, 1),
                       *shape = hl_input(ctx, node, 2);
    const TfLiteTensor *table = hl_input(ctx, node, 4), *output = hl_output(ctx, node, 0);
    const float *weights = HL_IN(float, hl_input(ctx, node, 3));
    float *y = HL_OUT(float, output);
    int64_t width = hl_product(table->dims, 1, hl_rank(table));
    struct bucket bucket = {0};
    if (output->bytes) memset(y, 0, output->bytes);
    for (int i = 0; i < hl_dim(ids, 0); i++) {
        int32_t id = HL_IN(int32_t, ids)[i];
        HL_REQUIRE(ctx, node, id >= 0 && id < hl_dim(table, 0), "id %d is not a row of the table, which has %d",
                   (int)id, hl_dim(table, 0));
        int64_t number = bucket_of(indices, shape, i);
        HL_REQUIRE(ctx, node, number >= 0, "the indices of lookup %d lie outside of the shape", i);
        if (number != bucket.number) {
            divide(params->combiner, &bucket, y, width);
            bucket = (struct bucket){.number = number};
        }
        bucket.lookups++;
        bucket.weights += weights[i];
        bucket.squares += weights[i] * weights[i];
        const float *row = HL_IN(float, table) + id * width;
        for (int64_t k = 0; k < width; k++) y[number * width + k] += row[k] * weights[i];
    }
    divide(params->combiner, &bucket, y, width);
    return kTfLiteOk;
}

// A row of the table for each lookup.
static double work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *table = hl_input(ctx, node, 4);
    return (double)hl_elements(hl_input(ctx, node, 0)) * (double)hl_product(table->dims, 1, hl_rank(table));
}

const struct hl_op hl_op_embedding_lookup_sparse = {
    .prepare = prepare,
    .invoke = invoke,
    .work = work,
};
