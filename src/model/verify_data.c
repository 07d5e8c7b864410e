// SPDX-License-Identifier: Apache-2.0
// Checks of one tensor: shape, quantization, and whether its constant bytes are what type and shape
// promise, strings and sparse tensors included. In: a decoded tensor. Out: true, or one message
// that names the value at fault.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/loader.h"

static bool refuse_size(const struct hl_loader *l, const struct hl_model_tensor *tensor)
{
    char shape[HL_MAX_RANK * 12 + 1] = "";
    size_t used = 0;
    for (int i = 0; i < tensor->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%d", i ? "," : "", tensor->dims[i]);
    return hl_load_fail(l, "its shape [%s] is too large", shape);
}

static bool verify_shape(const struct hl_loader *l, const struct hl_model_tensor *tensor, size_t *elements)
{
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0) return hl_load_fail(l, "dimension %d is %d", i, tensor->dims[i]);
    size_t bytes;
    if (!hl_tensor_bytes(kTfLiteInt8, tensor->rank, tensor->dims, elements) ||
        (hl_type_size(tensor->type) != 0 && !hl_tensor_bytes(tensor->type, tensor->rank, tensor->dims, &bytes)))
        return refuse_size(l, tensor);
    return true;
}

// ---- Quantization

// Range of the zero points that a type can hold; types that are not quantized have no limit.
static void zero_point_range(TfLiteType type, int *low, int *high)
{
    *low = INT32_MIN;
    *high = INT32_MAX;
    switch (type) {
    case kTfLiteInt2: *low = -2, *high = 1; break;
    case kTfLiteInt4: *low = -8, *high = 7; break;
    case kTfLiteUInt4: *low = 0, *high = 15; break;
    case kTfLiteInt8: *low = -128, *high = 127; break;
    case kTfLiteUInt8: *low = 0, *high = 255; break;
    case kTfLiteInt16: *low = -32768, *high = 32767; break;
    case kTfLiteUInt16: *low = 0, *high = 65535; break;
    default: break;
    }
}

static bool verify_affine(const struct hl_loader *l, const struct hl_model_tensor *tensor)
{
    const struct hl_model_quantization *q = &tensor->quantization;
    if (q->dimension < 0 || (tensor->rank > 0 && q->dimension >= tensor->rank))
        return hl_load_fail(l, "its quantized dimension is %d, but it has %d dimension%s", q->dimension, tensor->rank,
                            HL_PLURAL(tensor->rank));
    if (q->scale_count != 1 && (tensor->rank == 0 || q->scale_count != tensor->dims[q->dimension]))
        return hl_load_fail(l, "it has %d scales; there must be 1, or %d for its quantized dimension %d",
                            q->scale_count, tensor->rank == 0 ? 1 : tensor->dims[q->dimension], q->dimension);
    int low, high;
    zero_point_range(tensor->type, &low, &high);
    for (int i = 0; i < q->scale_count; i++) {
        if (!isfinite(q->scales[i]) || q->scales[i] < 0)
            return hl_load_fail(l, "scale %d is %g", i, (double)q->scales[i]);
        if (q->zero_points[i] < low || q->zero_points[i] > high)
            return hl_load_fail(l, "zero point %d is %d; its type allows %d to %d", i, q->zero_points[i], low, high);
    }
    return true;
}

static bool verify_tensor_index(const struct hl_loader *l, const struct hl_model_subgraph *subgraph, const char *what,
                                int index, int lowest)
{
    if (index >= lowest && index < subgraph->tensor_count) return true;
    return hl_load_fail(l, "its %s are tensor %d, but the subgraph has %d tensor%s", what, index,
                        subgraph->tensor_count, HL_PLURAL(subgraph->tensor_count));
}

static bool verify_quantization(const struct hl_loader *l, const struct hl_model_subgraph *subgraph,
                                const struct hl_model_tensor *tensor)
{
    const struct hl_model_quantization *q = &tensor->quantization;
    switch (q->type) {
    case kTfLiteNoQuantization: return true;
    case kTfLiteAffineQuantization: return verify_affine(l, tensor);
    default: break;
    }
    if (!verify_tensor_index(l, subgraph, "scales", q->scales_tensor, 0) ||
        !verify_tensor_index(l, subgraph, "zero points", q->zero_points_tensor, -1))
        return false;
    if (q->block_size < 0) return hl_load_fail(l, "its block size is %d", q->block_size);
    if (q->type == kTfLiteBlockwiseQuantization) {
        if (q->dimension < 0 || q->dimension >= tensor->rank)
            return hl_load_fail(l, "its quantized dimension is %d, but it has %d dimension%s", q->dimension,
                                tensor->rank, HL_PLURAL(tensor->rank));
        return true;
    }
    for (int i = 0; i < q->dimension_count; i++)
        if (q->dimensions[i] < 0 || q->dimensions[i] >= tensor->rank)
            return hl_load_fail(l, "its quantized dimension is %d, but it has %d dimension%s", q->dimensions[i],
                                tensor->rank, HL_PLURAL(tensor->rank));
    return true;
}

// ---- Strings: i32 count, count + 1 i32 offsets from the start, the characters

static int32_t load_i32(const void *data, size_t index)
{
    int32_t value;
    memcpy(&value, (const char *)data + index * sizeof value, sizeof value);
    return value;
}

static bool verify_strings(struct hl_loader *l, const struct hl_model_tensor *tensor, size_t elements)
{
    if (tensor->bytes < 4) return hl_load_fail(l, "its strings take %zu bytes, too few for their count", tensor->bytes);
    int32_t count = load_i32(tensor->data, 0);
    if (count < 0 || (size_t)count != elements)
        return hl_load_fail(l, "it holds %d string%s, but its shape has %zu element%s", count, HL_PLURAL(count),
                            elements, HL_PLURAL(elements));
    size_t header = ((size_t)count + 2) * 4;
    if ((size_t)count > tensor->bytes / 4 || header > tensor->bytes)
        return hl_load_fail(l, "it holds %d string%s, but only %zu bytes", count, HL_PLURAL(count), tensor->bytes);
    if (!hl_load_work(l, header)) return false;
    int64_t previous = (int64_t)header;
    for (int32_t i = 0; i <= count; i++) {
        int32_t offset = load_i32(tensor->data, (size_t)i + 1);
        if (offset < previous || (size_t)offset > tensor->bytes)
            return hl_load_fail(l, "string offset %d is %d; it must lie between %lld and %zu", i, offset,
                                (long long)previous, tensor->bytes);
        previous = offset;
    }
    return true;
}

// ---- Sparse tensors
//
// Level i of the storage runs over dimension order[i]: of the tensor where that is below its rank,
// else over block dimension order[i] - rank, which splits the tensor's dimension block_map[order[i]
// - rank]. A dense level stores all its positions, a compressed one lists them: segments[p] to
// segments[p + 1] are the entries of indices that belong to position p above.

static bool verify_order(const struct hl_loader *l, const struct hl_model_tensor *tensor)
{
    const struct hl_model_sparsity *s = tensor->sparsity;
    int rank = tensor->rank, blocks = s->block_map_count;
    bool seen[2 * HL_MAX_RANK] = {false};
    if (blocks > rank)
        return hl_load_fail(l, "its sparsity has %d block dimension%s, but it has %d dimension%s", blocks,
                            HL_PLURAL(blocks), rank, HL_PLURAL(rank));
    if (s->order_count != rank + blocks || s->dimension_count != s->order_count)
        return hl_load_fail(l, "its sparsity must describe %d dimensions; the order has %d and the metadata %d",
                            rank + blocks, s->order_count, s->dimension_count);
    for (int i = 0; i < s->order_count; i++) {
        int d = s->order[i];
        if (d < (i < rank ? 0 : rank) || d >= (i < rank ? rank : rank + blocks) || seen[d])
            return hl_load_fail(l, "entry %d of its traversal order is %d", i, d);
        seen[d] = true;
    }
    for (int i = 0; i < blocks; i++)
        if (s->block_map[i] < (i ? s->block_map[i - 1] + 1 : 0) || s->block_map[i] >= rank)
            return hl_load_fail(l, "entry %d of its block map is %d", i, s->block_map[i]);
    return true;
}

// Positions in each level that follow from the shape and the block sizes.
static bool size_levels(const struct hl_loader *l, const struct hl_model_tensor *tensor, int *sizes)
{
    const struct hl_model_sparsity *s = tensor->sparsity;
    int rank = tensor->rank, block_size[HL_MAX_RANK];
    for (int i = 0; i < rank; i++) block_size[i] = 1;
    for (int i = rank; i < s->order_count; i++) {
        const struct hl_model_sparse_dimension *dimension = &s->dimensions[i];
        int target = s->block_map[s->order[i] - rank];
        if (dimension->format != kTfLiteDimDense)
            return hl_load_fail(l, "sparse dimension %d is a block dimension, which cannot be compressed", i);
        if (dimension->dense_size <= 0 || tensor->dims[target] % dimension->dense_size != 0)
            return hl_load_fail(l, "sparse dimension %d has blocks of %d, which do not divide dimension %d of %d", i,
                                dimension->dense_size, target, tensor->dims[target]);
        block_size[target] = dimension->dense_size;
        sizes[i] = dimension->dense_size;
    }
    for (int i = 0; i < rank; i++) sizes[i] = tensor->dims[s->order[i]] / block_size[s->order[i]];
    return true;
}

// One compressed level below `above` positions, each of them running over `size`.
static bool verify_compressed(const struct hl_loader *l, const struct hl_model_sparse_dimension *dimension, int level,
                              int64_t above, int size)
{
    if (dimension->segment_count != above + 1)
        return hl_load_fail(l, "sparse dimension %d has %d segments; there must be %lld", level,
                            dimension->segment_count, (long long)above + 1);
    const int *segments = dimension->segments, *indices = dimension->indices;
    if (segments[0] != 0) return hl_load_fail(l, "sparse dimension %d starts at segment %d", level, segments[0]);
    for (int64_t p = 0; p < above; p++)
        if (segments[p + 1] < segments[p] || segments[p + 1] > dimension->index_count)
            return hl_load_fail(l, "sparse dimension %d: segment %lld is %d after %d, and there are %d indices", level,
                                (long long)p + 1, segments[p + 1], segments[p], dimension->index_count);
    for (int64_t p = 0; p < above; p++)
        for (int i = segments[p]; i < segments[p + 1]; i++)
            if (indices[i] < (i > segments[p] ? indices[i - 1] + 1 : 0) || indices[i] >= size)
                return hl_load_fail(l, "sparse dimension %d: index %d is %d; it must rise and stay below %d", level, i,
                                    indices[i], size);
    if (segments[above] != dimension->index_count)
        return hl_load_fail(l, "sparse dimension %d has %d indices, but the segments name %d", level,
                            dimension->index_count, segments[above]);
    return true;
}

// *stored becomes the number of values that the tensor's bytes must hold.
static bool verify_sparsity(const struct hl_loader *l, const struct hl_model_tensor *tensor, int64_t *stored)
{
    const struct hl_model_sparsity *s = tensor->sparsity;
    int sizes[2 * HL_MAX_RANK] = {0};
    if (!verify_order(l, tensor) || !size_levels(l, tensor, sizes)) return false;
    int64_t positions = 1;
    for (int i = 0; i < s->order_count; i++) {
        const struct hl_model_sparse_dimension *dimension = &s->dimensions[i];
        if (dimension->format == kTfLiteDimDense) {
            if (dimension->dense_size != sizes[i])
                return hl_load_fail(l, "sparse dimension %d has the size %d; the shape needs %d", i,
                                    dimension->dense_size, sizes[i]);
            if (!hl_mul_i64(positions, sizes[i], &positions)) return hl_load_fail(l, "its sparsity is too large");
        } else {
            if (!verify_compressed(l, dimension, i, positions, sizes[i])) return false;
            positions = dimension->index_count;
        }
    }
    *stored = positions;
    return true;
}

// ---- Constants

static bool verify_constant(struct hl_loader *l, const struct hl_model_tensor *tensor, size_t elements)
{
    int64_t stored = (int64_t)elements;
    if (tensor->is_variable) return hl_load_fail(l, "it is a variable, but has a buffer; variables start as zeros");
    if (tensor->type == kTfLiteString && !tensor->sparsity) return verify_strings(l, tensor, elements);
    if (tensor->sparsity && !verify_sparsity(l, tensor, &stored)) return false;

    size_t needed;
    int flat = (int)stored;
    if (tensor->sparsity ? flat != stored || !hl_tensor_bytes(tensor->type, 1, &flat, &needed)
                         : !hl_tensor_bytes(tensor->type, tensor->rank, tensor->dims, &needed))
        return hl_load_fail(l, "it is constant, but its type cannot be");
    if (tensor->bytes < needed)
        return hl_load_fail(l, "its buffer has %zu bytes; its type and shape need %zu", tensor->bytes, needed);
    return true;
}

bool hl_load_verify_tensor(struct hl_loader *l, const struct hl_model_subgraph *subgraph,
                           const struct hl_model_tensor *tensor)
{
    size_t elements = 0;
    if (!verify_shape(l, tensor, &elements) || !verify_quantization(l, subgraph, tensor)) return false;
    if (tensor->data) return verify_constant(l, tensor, elements);
    int64_t stored;
    if (!tensor->sparsity) return true;
    if (!tensor->external_data) return hl_load_fail(l, "it is sparse, but not constant");
    return verify_sparsity(l, tensor, &stored);
}
