// SPDX-License-Identifier: Apache-2.0
// See sparse.h. A sparse tensor is stored as a tree. Each level of the tree is one dimension, in traversal order, and
// the block dimensions come last. A node of a dense level has a child for every index, a node of a compressed level for
// the indices in its list. The leaves are the stored elements, in order.
#include "gpu/graph/sparse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 16 };

struct walk {
    const TfLiteTensor *tensor;
    const TfLiteSparsity *sparsity;
    size_t element, stored; // bytes of an element; number of stored elements
    int rank;
    int block[MAX_LEVELS]; // by dimension: the level of its blocks, or -1 without blocks
    int at[MAX_LEVELS];    // the coordinates of the leaf: of the dimensions, then of the blocks
    char *dense;
};

static int dense_size_of(const struct walk *walk, int dimension)
{
    const TfLiteSparsity *sparsity = walk->sparsity;
    for (int level = 0; level < sparsity->dim_metadata_size; level++)
        if (sparsity->traversal_order->data[level] == dimension) return sparsity->dim_metadata[level].dense_size;
    return 0;
}

static bool put_leaf(const struct walk *walk, size_t leaf)
{
    const int *dims = walk->tensor->dims->data;
    size_t index = 0;
    for (int d = 0; d < walk->rank; d++) {
        int64_t c = walk->at[d];
        if (walk->block[d] >= 0) c = c * dense_size_of(walk, walk->block[d]) + walk->at[walk->block[d]];
        if (c < 0 || c >= dims[d]) return false;
        index = index * (size_t)dims[d] + (size_t)c;
    }
    if (leaf >= walk->stored) return false;
    memcpy(walk->dense + index * walk->element, (const char *)walk->tensor->data.raw_const + leaf * walk->element,
           walk->element);
    return true;
}

static bool walk_level(struct walk *walk, int level, size_t position)
{
    if (level == walk->sparsity->dim_metadata_size) return put_leaf(walk, position);
    const TfLiteDimensionMetadata *metadata = &walk->sparsity->dim_metadata[level];
    int *at = &walk->at[walk->sparsity->traversal_order->data[level]];
    if (metadata->format == kTfLiteDimDense) {
        for (int i = 0; i < metadata->dense_size; i++) {
            *at = i;
            if (!walk_level(walk, level + 1, position * (size_t)metadata->dense_size + (size_t)i)) return false;
        }
        return true;
    }
    const TfLiteIntArray *segments = metadata->array_segments, *indices = metadata->array_indices;
    if (!segments || !indices || position + 1 >= (size_t)segments->size) return false;
    int first = segments->data[position], end = segments->data[position + 1];
    if (first < 0 || end > indices->size) return false;
    for (int i = first; i < end; i++) {
        *at = indices->data[i];
        if (!walk_level(walk, level + 1, (size_t)i)) return false;
    }
    return true;
}

// Checks that the traversal order names every dimension and block once, and that each block belongs to one dimension.
static bool is_well_formed(struct walk *walk)
{
    const TfLiteSparsity *sparsity = walk->sparsity;
    int levels = sparsity->dim_metadata_size, blocks = levels - walk->rank;
    bool seen[MAX_LEVELS] = {false};
    if (walk->rank < 1 || blocks < 0 || levels > MAX_LEVELS || !sparsity->dim_metadata) return false;
    if (!sparsity->traversal_order || sparsity->traversal_order->size != levels) return false;
    if (blocks > 0 && (!sparsity->block_map || sparsity->block_map->size != blocks)) return false;
    for (int i = 0; i < levels; i++) {
        int dimension = sparsity->traversal_order->data[i];
        if (dimension < 0 || dimension >= levels || seen[dimension]) return false;
        seen[dimension] = true;
        if (sparsity->dim_metadata[i].format == kTfLiteDimDense && sparsity->dim_metadata[i].dense_size < 0)
            return false;
        if (dimension >= walk->rank && sparsity->dim_metadata[i].format != kTfLiteDimDense) return false;
    }
    for (int d = 0; d < walk->rank; d++) walk->block[d] = -1;
    for (int b = 0; b < blocks; b++) {
        int dimension = sparsity->block_map->data[b];
        if (dimension < 0 || dimension >= walk->rank || walk->block[dimension] >= 0) return false;
        walk->block[dimension] = walk->rank + b;
    }
    return true;
}

void *gpu_dense_from(const TfLiteTensor *tensor, size_t element)
{
    struct walk walk = {.tensor = tensor, .sparsity = tensor->sparsity, .element = element, .rank = tensor->dims->size};
    if (!tensor->data.raw_const || !is_well_formed(&walk)) return NULL;
    walk.stored = tensor->bytes / element;
    size_t count = 1;
    for (int d = 0; d < walk.rank; d++) {
        if (tensor->dims->data[d] < 0) return NULL;
        count *= (size_t)tensor->dims->data[d];
    }
    walk.dense = calloc(count ? count : 1, element);
    if (walk.dense && walk_level(&walk, 0, 0)) return walk.dense;
    free(walk.dense);
    return NULL;
}
