// SPDX-License-Identifier: Apache-2.0
// The helpers of tensorflow/lite/c/common.h: counted arrays, and what a TfLiteTensor owns. All memory is the C
// library's malloc: callers free dims, data and quantization themselves and put their own in place.
#include "tensorflow/lite/c/common.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/tensor.h"
#include "runtime/operator.h"
#include "runtime/subgraph.h"
#include "runtime/variant.h"

// ---- counted arrays -----------------------------------------------------------------------------

size_t TfLiteIntArrayGetSizeInBytes(int size)
{
    return sizeof(TfLiteIntArray) + (size > 0 ? (size_t)size : 0) * sizeof(int);
}

TfLiteIntArray *TfLiteIntArrayCreate(int size)
{
    if (size < 0) return NULL;
    TfLiteIntArray *array = malloc(TfLiteIntArrayGetSizeInBytes(size));
    if (array) array->size = size;
    return array;
}

int TfLiteIntArrayEqualsArray(const TfLiteIntArray *a, int b_size, const int b_data[])
{
    if (!a) return b_size == 0;
    return a->size == b_size && (b_size == 0 || memcmp(a->data, b_data, (size_t)b_size * sizeof(int)) == 0);
}

int TfLiteIntArrayEqual(const TfLiteIntArray *a, const TfLiteIntArray *b)
{
    if (a == b) return 1;
    if (!a || !b) return 0;
    return TfLiteIntArrayEqualsArray(a, b->size, b->data);
}

TfLiteIntArray *TfLiteIntArrayCopy(const TfLiteIntArray *src)
{
    TfLiteIntArray *copy = src ? TfLiteIntArrayCreate(src->size) : NULL;
    if (copy && src->size > 0) memcpy(copy->data, src->data, (size_t)src->size * sizeof(int));
    return copy;
}

void TfLiteIntArrayFree(TfLiteIntArray *a)
{
    free(a);
}

int TfLiteFloatArrayGetSizeInBytes(int size)
{
    return (int)(sizeof(TfLiteFloatArray) + (size > 0 ? (size_t)size : 0) * sizeof(float));
}

TfLiteFloatArray *TfLiteFloatArrayCreate(int size)
{
    if (size < 0) return NULL;
    TfLiteFloatArray *array = malloc(sizeof *array + (size_t)size * sizeof(float));
    if (array) array->size = size;
    return array;
}

TfLiteFloatArray *TfLiteFloatArrayCopy(const TfLiteFloatArray *src)
{
    TfLiteFloatArray *copy = src ? TfLiteFloatArrayCreate(src->size) : NULL;
    if (copy && src->size > 0) memcpy(copy->data, src->data, (size_t)src->size * sizeof(float));
    return copy;
}

void TfLiteFloatArrayFree(TfLiteFloatArray *a)
{
    free(a);
}

// ---- types --------------------------------------------------------------------------------------

const char *TfLiteTypeGetName(TfLiteType type)
{
    return hl_type_public_name(type);
}

// ---- what a tensor owns -------------------------------------------------------------------------

static bool owns_data(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
}

static bool is_variant(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteVariantObject;
}

// Blocks from the caller's allocator, or from the C library where that is NULL. Their size is what `bytes` of the
// tensor says, one at least, and the tail.
static size_t block_size(size_t bytes)
{
    return (bytes ? bytes : 1) + HL_TENSOR_TAIL;
}

static void *allocate_block(TfLiteAllocator *allocator, size_t bytes)
{
    if (!allocator) return malloc(block_size(bytes));
    return allocator->allocate(allocator->data, block_size(bytes), HL_TENSOR_ALIGNMENT);
}

static void *grow_block(TfLiteAllocator *allocator, void *block, size_t old_bytes, size_t bytes)
{
    if (!allocator) return realloc(block, block_size(bytes));
    return allocator->reallocate(allocator->data, block, block_size(old_bytes), block_size(bytes), HL_TENSOR_ALIGNMENT);
}

static void free_block(TfLiteAllocator *allocator, void *block, size_t bytes)
{
    if (!allocator)
        free(block);
    else if (block)
        allocator->deallocate(allocator->data, block, block_size(bytes), HL_TENSOR_ALIGNMENT);
}

void TfLiteTensorDataFreeWithAllocator(TfLiteTensor *t, TfLiteAllocator *allocator)
{
    if (!t || !(owns_data(t) || is_variant(t))) return;
    if (is_variant(t))
        hl_variant_delete(t->data.data);
    else
        free_block(allocator, t->data.raw, t->bytes);
    t->data.raw = NULL;
}

void TfLiteTensorDataFree(TfLiteTensor *t)
{
    TfLiteTensorDataFreeWithAllocator(t, NULL);
}

void TfLiteQuantizationFree(TfLiteQuantization *quantization)
{
    if (!quantization) return;
    switch (quantization->type) {
    case kTfLiteAffineQuantization: {
        TfLiteAffineQuantization *affine = quantization->params;
        if (!affine) break;
        TfLiteFloatArrayFree(affine->scale);
        TfLiteIntArrayFree(affine->zero_point);
        free(affine);
        break;
    }
    case kTfLiteBlockwiseQuantization: free(quantization->params); break;
    case kTfLiteMultiAxisQuantization: {
        TfLiteMultiAxisQuantization *multi = quantization->params;
        if (!multi) break;
        TfLiteIntArrayFree(multi->quantized_dimensions);
        free(multi);
        break;
    }
    default: break; // callers set nothing but the type then: params is whatever malloc gave
    }
    quantization->params = NULL;
    quantization->type = kTfLiteNoQuantization;
}

void TfLiteSparsityFree(TfLiteSparsity *sparsity)
{
    if (!sparsity) return;
    TfLiteIntArrayFree(sparsity->traversal_order);
    TfLiteIntArrayFree(sparsity->block_map);
    for (int i = 0; sparsity->dim_metadata && i < sparsity->dim_metadata_size; i++) {
        if (sparsity->dim_metadata[i].format != kTfLiteDimSparseCSR) continue; // callers leave these arrays unset then
        TfLiteIntArrayFree(sparsity->dim_metadata[i].array_segments);
        TfLiteIntArrayFree(sparsity->dim_metadata[i].array_indices);
    }
    free(sparsity->dim_metadata);
    free(sparsity);
}

void TfLiteTensorFree(TfLiteTensor *t)
{
    if (!t) return;
    TfLiteTensorDataFree(t);
    TfLiteIntArrayFree(t->dims);
    t->dims = NULL;
    TfLiteIntArrayFree((TfLiteIntArray *)t->dims_signature);
    t->dims_signature = NULL;
    TfLiteQuantizationFree(&t->quantization);
    TfLiteSparsityFree(t->sparsity);
    t->sparsity = NULL;
}

void TfLiteTensorReset(TfLiteType type, const char *name, TfLiteIntArray *dims, TfLiteQuantizationParams quantization,
                       char *buffer, size_t size, TfLiteAllocationType allocation_type, const void *allocation,
                       bool is_variable, TfLiteTensor *tensor)
{
    TfLiteTensorFree(tensor);
    *tensor = (TfLiteTensor){
        .type = type,
        .name = name,
        .dims = dims,
        .params = quantization,
        .data.raw = buffer,
        .bytes = size,
        .allocation_type = allocation_type,
        .allocation = allocation,
        .is_variable = is_variable,
        .buffer_handle = kTfLiteNullBufferHandle,
    };
}

// What the tensor holds is of use for the copy only where it is an object of the same class.
static TfLiteStatus copy_variant(const TfLiteTensor *src, TfLiteTensor *dst)
{
    if (!src->data.data) return kTfLiteError;
    if (!is_variant(dst)) {
        TfLiteTensorDataFree(dst);
        dst->allocation_type = kTfLiteVariantObject;
        dst->data.data = NULL;
    }
    dst->data.data = hl_variant_copy(src->data.data, dst->data.data);
    return dst->data.data ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus copy_elements(const TfLiteTensor *src, TfLiteTensor *dst)
{
    if (is_variant(dst)) {
        TfLiteTensorDataFree(dst);
        dst->allocation_type = src->allocation_type;
    }
    if (src->bytes == 0) return kTfLiteOk;
    if (!src->data.raw || !dst->data.raw) return kTfLiteError;
    memmove(dst->data.raw, src->data.raw_const, src->bytes);
    return kTfLiteOk;
}

TfLiteStatus TfLiteTensorCopy(const TfLiteTensor *src, TfLiteTensor *dst)
{
    if (!src || !dst || src == dst) return kTfLiteOk;
    if (src->bytes != dst->bytes) return kTfLiteError;
    TfLiteIntArray *dims = TfLiteIntArrayCopy(src->dims);
    if (src->dims && !dims) return kTfLiteError;
    TfLiteIntArrayFree(dst->dims);
    dst->dims = dims;
    dst->type = src->type;
    TfLiteStatus status = is_variant(src) ? copy_variant(src, dst) : copy_elements(src, dst);
    if (status != kTfLiteOk) return status;
    dst->buffer_handle = src->buffer_handle;
    dst->data_is_stale = src->data_is_stale;
    dst->delegate = src->delegate;
    return kTfLiteOk;
}

// A block that is large enough stays where it is: callers hold its address.
TfLiteStatus TfLiteTensorResizeMaybeCopyWithAllocator(size_t num_bytes, TfLiteTensor *tensor, bool preserve_data,
                                                      TfLiteAllocator *allocator)
{
    if (!tensor) return kTfLiteError;
    if (!owns_data(tensor)) return kTfLiteOk;
    if (num_bytes > PTRDIFF_MAX - HL_TENSOR_TAIL) return kTfLiteError;
    bool same_block = tensor->data.raw && (allocator ? num_bytes == tensor->bytes : num_bytes <= tensor->bytes);
    if (same_block) {
        tensor->bytes = num_bytes;
        return kTfLiteOk;
    }
    if (tensor->data.raw && preserve_data) { // on failure the old block is still valid, and the tensor's
        void *grown = grow_block(allocator, tensor->data.raw, tensor->bytes, num_bytes);
        if (!grown) return kTfLiteError;
        tensor->data.data = grown;
    } else { // first the old block, so that both need not fit
        TfLiteTensorDataFreeWithAllocator(tensor, allocator);
        tensor->data.data = allocate_block(allocator, num_bytes);
    }
    tensor->bytes = tensor->data.data ? num_bytes : 0;
    return tensor->data.data ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes, TfLiteTensor *tensor, bool preserve_data)
{
    return TfLiteTensorResizeMaybeCopyWithAllocator(num_bytes, tensor, preserve_data, NULL);
}

TfLiteStatus TfLiteTensorReallocWithAllocator(size_t num_bytes, TfLiteTensor *tensor, TfLiteAllocator *allocator)
{
    return TfLiteTensorResizeMaybeCopyWithAllocator(num_bytes, tensor, true, allocator);
}

TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor *tensor)
{
    return TfLiteTensorReallocWithAllocator(num_bytes, tensor, NULL);
}

// ---- copies with memory of their own ------------------------------------------------------------

static void *copy_bytes(const void *from, size_t bytes)
{
    void *copy = from ? malloc(block_size(bytes)) : NULL;
    if (copy && bytes) memcpy(copy, from, bytes);
    return copy;
}

TfLiteQuantization TfLiteQuantizationClone(TfLiteQuantization src)
{
    static const size_t sizes[] = {
        [kTfLiteAffineQuantization] = sizeof(TfLiteAffineQuantization),
        [kTfLiteBlockwiseQuantization] = sizeof(TfLiteBlockwiseQuantization),
        [kTfLiteMultiAxisQuantization] = sizeof(TfLiteMultiAxisQuantization),
    };
    bool known = src.params && (size_t)src.type < sizeof sizes / sizeof *sizes;
    TfLiteQuantization copy = {src.type, known ? copy_bytes(src.params, sizes[src.type]) : NULL};
    if (!copy.params) return (TfLiteQuantization){kTfLiteNoQuantization, NULL};
    if (src.type == kTfLiteAffineQuantization) {
        TfLiteAffineQuantization *affine = copy.params;
        affine->scale = TfLiteFloatArrayCopy(affine->scale);
        affine->zero_point = TfLiteIntArrayCopy(affine->zero_point);
    } else if (src.type == kTfLiteMultiAxisQuantization) {
        TfLiteMultiAxisQuantization *multi = copy.params;
        multi->quantized_dimensions = TfLiteIntArrayCopy(multi->quantized_dimensions);
    }
    return copy;
}

static TfLiteSparsity *clone_sparsity(const TfLiteSparsity *src)
{
    TfLiteSparsity *copy = copy_bytes(src, sizeof *src);
    if (!copy) return NULL;
    copy->traversal_order = TfLiteIntArrayCopy(src->traversal_order);
    copy->block_map = TfLiteIntArrayCopy(src->block_map);
    copy->dim_metadata = copy_bytes(src->dim_metadata, (size_t)src->dim_metadata_size * sizeof *src->dim_metadata);
    for (int i = 0; copy->dim_metadata && i < copy->dim_metadata_size; i++) {
        TfLiteDimensionMetadata *metadata = &copy->dim_metadata[i];
        if (metadata->format != kTfLiteDimSparseCSR) continue;
        metadata->array_segments = TfLiteIntArrayCopy(metadata->array_segments);
        metadata->array_indices = TfLiteIntArrayCopy(metadata->array_indices);
    }
    return copy;
}

TfLiteTensor TfLiteTensorClone(TfLiteTensor src)
{
    TfLiteTensor copy = src;
    if (is_variant(&src) && src.data.data)
        copy.data.data = hl_variant_copy(src.data.data, NULL);
    else if (owns_data(&src))
        copy.data.data = copy_bytes(src.data.data, src.bytes);
    copy.dims = TfLiteIntArrayCopy(src.dims);
    copy.dims_signature = TfLiteIntArrayCopy(src.dims_signature);
    copy.quantization = TfLiteQuantizationClone(src.quantization);
    copy.sparsity = clone_sparsity(src.sparsity);
    return copy;
}

const TfLiteIntArray *TfLiteTensorGetDimsSignature(const TfLiteTensor *t)
{
    return t->dims_signature && t->dims_signature->size > 0 ? t->dims_signature : t->dims;
}

void *TfLiteKernelInitFailed(void)
{
    return HL_KERNEL_INIT_FAILED;
}

// ---- what is known of a tensor ------------------------------------------------------------------

TfLiteAllocationStrategy TfLiteTensorGetAllocationStrategy(const TfLiteTensor *t)
{
    switch (t->allocation_type) {
    case kTfLiteMemNone: return kTfLiteAllocationStrategyNone;
    case kTfLiteMmapRo: return kTfLiteAllocationStrategyMMap;
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent: return kTfLiteAllocationStrategyArena;
    case kTfLiteDynamic:
    case kTfLitePersistentRo: return kTfLiteAllocationStrategyMalloc;
    case kTfLiteVariantObject: return kTfLiteAllocationStrategyNew;
    default: return kTfLiteAllocationStrategyUnknown;
    }
}

TfLiteRunStability TfLiteTensorGetBufferAddressStability(const TfLiteTensor *t)
{
    switch (t->allocation_type) {
    case kTfLiteMemNone: // no bytes: no address that could change
    case kTfLiteMmapRo:
    case kTfLiteVariantObject: return kTfLiteRunStabilityAcrossRuns;
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent: return kTfLiteRunStabilityUnstable;
    case kTfLiteDynamic:
    case kTfLitePersistentRo: return kTfLiteRunStabilitySingleRun;
    default: return kTfLiteRunStabilityUnknown;
    }
}

TfLiteRunStability TfLiteTensorGetDataStability(const TfLiteTensor *t)
{
    switch (t->allocation_type) {
    case kTfLiteMemNone:
    case kTfLiteMmapRo:
    case kTfLiteArenaRwPersistent: return kTfLiteRunStabilityAcrossRuns;
    case kTfLiteArenaRw:
    case kTfLiteDynamic:
    case kTfLitePersistentRo:
    case kTfLiteVariantObject: return kTfLiteRunStabilitySingleRun;
    default: return kTfLiteRunStabilityUnknown;
    }
}

TfLiteRunStep TfLiteTensorGetDataKnownStep(const TfLiteTensor *t)
{
    switch (t->allocation_type) {
    case kTfLiteMemNone:
    case kTfLiteMmapRo: return kTfLiteRunStepInit;
    case kTfLitePersistentRo: return kTfLiteRunStepPrepare;
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteDynamic:
    case kTfLiteVariantObject: return kTfLiteRunStepEval;
    default: return kTfLiteRunStepUnknown;
    }
}

TfLiteRunStep TfLiteTensorGetShapeKnownStep(const TfLiteTensor *t)
{
    switch (t->allocation_type) {
    case kTfLiteMemNone:
    case kTfLiteMmapRo: return kTfLiteRunStepInit;
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLitePersistentRo: return kTfLiteRunStepPrepare;
    case kTfLiteDynamic:
    case kTfLiteVariantObject: return kTfLiteRunStepEval;
    default: return kTfLiteRunStepUnknown;
    }
}

// ---- delegates ----------------------------------------------------------------------------------

TfLiteDelegate TfLiteDelegateCreate(void)
{
    return (TfLiteDelegate){0};
}

// One block: the delegate, and behind it the copy of its builder.
struct built_delegate {
    TfLiteDelegate delegate;
    TfLiteOpaqueDelegateBuilder builder;
};

TfLiteOpaqueDelegate *TfLiteOpaqueDelegateCreate(const TfLiteOpaqueDelegateBuilder *opaque_delegate_builder)
{
    struct built_delegate *built = opaque_delegate_builder ? calloc(1, sizeof *built) : NULL;
    if (!built) return NULL;
    built->builder = *opaque_delegate_builder;
    built->delegate.opaque_delegate_builder = &built->builder;
    built->delegate.flags = opaque_delegate_builder->flags;
    return &built->delegate;
}

void TfLiteOpaqueDelegateDelete(TfLiteOpaqueDelegate *delegate)
{
    free(delegate);
}

void *TfLiteOpaqueDelegateGetData(const TfLiteOpaqueDelegate *delegate)
{
    if (!delegate) return NULL;
    // A builder counts only where the delegate has no callbacks of its own.
    const TfLiteOpaqueDelegateBuilder *builder = delegate->Prepare ? NULL : delegate->opaque_delegate_builder;
    return builder ? builder->data : delegate->data_;
}
