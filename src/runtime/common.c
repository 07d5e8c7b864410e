// SPDX-License-Identifier: Apache-2.0
// The helpers of tensorflow/lite/c/common.h: counted arrays, and what a TfLiteTensor owns. All memory is the C
// library's malloc: callers free dims, data and quantization themselves and put their own in place.
#include "tensorflow/lite/c/common.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"
#include "runtime/operator.h"

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
#define TYPE(suffix, public_name, name, bits) [kTfLite##suffix] = #public_name,
    static const char *const names[] = {
        [kTfLiteNoType] = "NOTYPE",
#include "model/types.def"
    };
#undef TYPE
    bool known = (int)type >= 0 && (size_t)type < sizeof names / sizeof *names;
    return known ? names[type] : "Unknown type";
}

// ---- what a tensor owns -------------------------------------------------------------------------

static bool owns_data(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
}

void TfLiteTensorDataFree(TfLiteTensor *t)
{
    if (!t || !owns_data(t)) return;
    free(t->data.raw);
    t->data.raw = NULL;
}

void TfLiteQuantizationFree(TfLiteQuantization *quantization)
{
    if (quantization->params && quantization->type == kTfLiteAffineQuantization) {
        TfLiteAffineQuantization *affine = quantization->params;
        TfLiteFloatArrayFree(affine->scale);
        TfLiteIntArrayFree(affine->zero_point);
    } else if (quantization->params && quantization->type == kTfLiteMultiAxisQuantization) {
        TfLiteMultiAxisQuantization *multi = quantization->params;
        TfLiteIntArrayFree(multi->quantized_dimensions);
    }
    free(quantization->params);
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

TfLiteStatus TfLiteTensorCopy(const TfLiteTensor *src, TfLiteTensor *dst)
{
    if (!src || !dst || src == dst) return kTfLiteOk;
    if (src->bytes != dst->bytes) return kTfLiteError;
    TfLiteIntArray *dims = TfLiteIntArrayCopy(src->dims);
    if (src->dims && !dims) return kTfLiteError;
    TfLiteIntArrayFree(dst->dims);
    dst->dims = dims;
    dst->type = src->type;
    if (src->bytes) memmove(dst->data.raw, src->data.raw_const, src->bytes);
    dst->buffer_handle = src->buffer_handle;
    dst->data_is_stale = src->data_is_stale;
    dst->delegate = src->delegate;
    return kTfLiteOk;
}

TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes, TfLiteTensor *tensor, bool preserve_data)
{
    if (!tensor) return kTfLiteError;
    if (!owns_data(tensor)) return kTfLiteOk;
    if (num_bytes > PTRDIFF_MAX) { // as in the original, callers who ask for the impossible get their memory back
        tensor->data.raw = NULL;
        tensor->bytes = 0;
        return kTfLiteError;
    }
    if (tensor->data.raw && num_bytes == tensor->bytes) return kTfLiteOk;
    size_t least =
        num_bytes ? num_bytes : 1; // an empty tensor has an address too: clients take NULL for "no memory yet"
    void *memory;
    if (preserve_data) {
        memory = realloc(tensor->data.raw, least);
        if (!memory) TfLiteTensorDataFree(tensor);
    } else {
        TfLiteTensorDataFree(tensor);
        memory = malloc(least);
    }
    tensor->data.data = memory;
    tensor->bytes = memory ? num_bytes : 0;
    return memory ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor *tensor)
{
    return TfLiteTensorResizeMaybeCopy(num_bytes, tensor, true);
}

// ---- copies with memory of their own ------------------------------------------------------------

static void *copy_bytes(const void *from, size_t bytes)
{
    void *copy = from ? malloc(bytes ? bytes : 1) : NULL;
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
    if (owns_data(&src)) copy.data.data = copy_bytes(src.data.data, src.bytes);
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
