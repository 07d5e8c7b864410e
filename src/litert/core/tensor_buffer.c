// SPDX-License-Identifier: Apache-2.0
// Tensor buffers in host memory: the caller's, or a block of the library's.
#include "litert/c/litert_tensor_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "litert/c/litert_tensor_buffer_requirements.h"
#include "litert/core/core.h"

// Bits of an element; 0: a type without a size of its own, or none.
static unsigned element_bits(LiteRtElementType type)
{
    switch (type) {
    case kLiteRtElementTypeInt2: return 2;
    case kLiteRtElementTypeInt4: return 4;
    case kLiteRtElementTypeBool:
    case kLiteRtElementTypeInt8:
    case kLiteRtElementTypeUInt8: return 8;
    case kLiteRtElementTypeInt16:
    case kLiteRtElementTypeUInt16:
    case kLiteRtElementTypeFloat16:
    case kLiteRtElementTypeBFloat16: return 16;
    case kLiteRtElementTypeInt32:
    case kLiteRtElementTypeUInt32:
    case kLiteRtElementTypeFloat32: return 32;
    case kLiteRtElementTypeInt64:
    case kLiteRtElementTypeUInt64:
    case kLiteRtElementTypeFloat64:
    case kLiteRtElementTypeComplex64: return 64;
    case kLiteRtElementTypeComplex128: return 128;
    default: return 0;
    }
}

static LiteRtStatus packed_bytes(const LiteRtRankedTensorType *type, size_t *bytes)
{
    unsigned bits = element_bits(type->element_type);
    if (bits == 0)
        return litert_fail(kLiteRtStatusErrorUnsupported, "a tensor buffer for elements of type %d",
                           (int)type->element_type);
    if (type->layout.rank > LITERT_TENSOR_MAX_RANK)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "a tensor with %d dimensions, the most are %d",
                           (int)type->layout.rank, LITERT_TENSOR_MAX_RANK);
    size_t count = 1, total;
    for (unsigned i = 0; i < type->layout.rank; i++) {
        int32_t length = type->layout.dimensions[i];
        if (length < 0 || !hl_mul_size(count, (size_t)length, &count))
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "dimension %u of a tensor is %d", i, (int)length);
    }
    if (!hl_mul_size(count, bits, &total) || !hl_add_size(total, 7, &total))
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "a tensor of %zu elements is too large", count);
    *bytes = total / 8;
    return kLiteRtStatusOk;
}

static LiteRtStatus create(const LiteRtRankedTensorType *type, void *memory, size_t bytes, size_t packed,
                           LiteRtHostMemoryDeallocator deallocator, LiteRtTensorBuffer *buffer)
{
    LiteRtTensorBuffer made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    *made = (struct LiteRtTensorBufferT){
        .references = 1,
        .type = *type,
        .bytes = bytes,
        .packed_bytes = packed,
        .memory = memory,
        .deallocator = deallocator,
    };
    *buffer = made;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateTensorBufferFromHostMemory(const LiteRtRankedTensorType *tensor_type, void *memory,
                                                    size_t bytes, LiteRtHostMemoryDeallocator deallocator,
                                                    LiteRtTensorBuffer *buffer)
{
    LITERT_NEED(tensor_type && memory && buffer);
    size_t packed = 0;
    LiteRtStatus status = packed_bytes(tensor_type, &packed);
    if (status != kLiteRtStatusOk) return status;
    if ((uintptr_t)memory % LITERT_HOST_MEMORY_BUFFER_ALIGNMENT)
        return litert_fail(kLiteRtStatusErrorRuntimeFailure, "host memory at %p is not at a multiple of %d", memory,
                           LITERT_HOST_MEMORY_BUFFER_ALIGNMENT);
    if (bytes < packed)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "host memory has %zu bytes, its tensor takes %zu", bytes,
                           packed);
    return create(tensor_type, memory, bytes, packed, deallocator, buffer);
}

static LiteRtStatus create_managed(const LiteRtRankedTensorType *type, size_t bytes, size_t alignment,
                                   LiteRtTensorBuffer *buffer)
{
    size_t packed = 0;
    LiteRtStatus status = packed_bytes(type, &packed);
    if (status != kLiteRtStatusOk) return status;
    if (bytes < packed) bytes = packed;
    if (alignment < LITERT_HOST_MEMORY_BUFFER_ALIGNMENT) alignment = LITERT_HOST_MEMORY_BUFFER_ALIGNMENT;
    void *memory = hl_aligned_alloc(alignment, bytes ? bytes : 1);
    LITERT_MEMORY(memory);
    memset(memory, 0, bytes);
    status = create(type, memory, bytes, packed, hl_aligned_free, buffer);
    if (status != kLiteRtStatusOk) hl_aligned_free(memory);
    return status;
}

static LiteRtStatus refuse_type(LiteRtTensorBufferType type)
{
    return litert_fail(kLiteRtStatusErrorUnsupported, "tensor buffers of type %d cannot be made; host memory (1) can",
                       (int)type);
}

LiteRtStatus LiteRtCreateManagedTensorBuffer(LiteRtEnvironment environment, LiteRtTensorBufferType buffer_type,
                                             const LiteRtRankedTensorType *tensor_type, size_t bytes,
                                             LiteRtTensorBuffer *buffer)
{
    (void)environment;
    LITERT_NEED(tensor_type && buffer);
    if (buffer_type != kLiteRtTensorBufferTypeHostMemory) return refuse_type(buffer_type);
    return create_managed(tensor_type, bytes, LITERT_HOST_MEMORY_BUFFER_ALIGNMENT, buffer);
}

LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(LiteRtEnvironment environment,
                                                             const LiteRtRankedTensorType *tensor_type,
                                                             LiteRtTensorBufferRequirements requirements,
                                                             LiteRtTensorBuffer *buffer)
{
    (void)environment;
    LITERT_NEED(tensor_type && requirements && buffer);
    if (requirements->types[0] != kLiteRtTensorBufferTypeHostMemory) return refuse_type(requirements->types[0]);
    return create_managed(tensor_type, requirements->bytes, requirements->alignment, buffer);
}

// ---- users of a buffer --------------------------------------------------------------------------

// One lock for the counts of all buffers: they change seldom.
static struct hl_once once = HL_ONCE_INIT;
static struct hl_mutex references_mutex;

static void make_mutex(void)
{
    hl_mutex_init(&references_mutex);
}

static int add_reference(LiteRtTensorBuffer buffer, int difference)
{
    hl_once(&once, make_mutex);
    hl_mutex_lock(&references_mutex);
    int references = buffer->references += difference;
    hl_mutex_unlock(&references_mutex);
    return references;
}

LiteRtStatus LiteRtDuplicateTensorBuffer(LiteRtTensorBuffer buffer)
{
    LITERT_NEED(buffer);
    add_reference(buffer, 1);
    return kLiteRtStatusOk;
}

void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer)
{
    if (!buffer || add_reference(buffer, -1) > 0) return;
    LiteRtDestroyEvent(buffer->event);
    if (buffer->deallocator) buffer->deallocator(buffer->memory);
    free(buffer);
}

// ---- what it is ---------------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetTensorBufferType, LiteRtTensorBuffer, LiteRtTensorBufferType, kLiteRtTensorBufferTypeHostMemory)
LITERT_GETTER(LiteRtGetTensorBufferTensorType, LiteRtTensorBuffer, LiteRtRankedTensorType, object->type)
LITERT_GETTER(LiteRtGetTensorBufferSize, LiteRtTensorBuffer, size_t, object->bytes)
LITERT_GETTER(LiteRtGetTensorBufferPackedSize, LiteRtTensorBuffer, size_t, object->packed_bytes)
LITERT_GETTER(LiteRtGetTensorBufferOffset, LiteRtTensorBuffer, size_t, 0)
LITERT_GETTER(LiteRtGetTensorBufferHostMemory, LiteRtTensorBuffer, void *, object->memory)

// ---- reading and writing ------------------------------------------------------------------------

LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer buffer, void **memory, LiteRtTensorBufferLockMode mode)
{
    LITERT_NEED(buffer && memory);
    if ((int)mode < kLiteRtTensorBufferLockModeRead || (int)mode > kLiteRtTensorBufferLockModeReadWrite)
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "lock mode %d, expected 0 to 2", (int)mode);
    if (buffer->is_locked)
        return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the tensor buffer is locked already: unlock it first");
    LiteRtStatus status = buffer->event ? LiteRtWaitEvent(buffer->event, -1) : kLiteRtStatusOk;
    if (status != kLiteRtStatusOk) return status;
    buffer->is_locked = true;
    *memory = buffer->memory;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer)
{
    LITERT_NEED(buffer);
    if (!buffer->is_locked) return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the tensor buffer is not locked");
    buffer->is_locked = false;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtClearTensorBuffer(LiteRtTensorBuffer buffer)
{
    LITERT_NEED(buffer);
    memset(buffer->memory, 0, buffer->bytes);
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtHasTensorBufferEvent, LiteRtTensorBuffer, bool, object->event != NULL)

LiteRtStatus LiteRtGetTensorBufferEvent(LiteRtTensorBuffer buffer, LiteRtEvent *event)
{
    LITERT_NEED(buffer && event);
    if (!buffer->event) return kLiteRtStatusErrorNotFound;
    *event = buffer->event;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetTensorBufferEvent(LiteRtTensorBuffer buffer, LiteRtEvent event)
{
    LITERT_NEED(buffer && event);
    if (event != buffer->event) LiteRtDestroyEvent(buffer->event);
    buffer->event = event;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtClearTensorBufferEvent(LiteRtTensorBuffer buffer)
{
    LITERT_NEED(buffer);
    LiteRtDestroyEvent(buffer->event);
    buffer->event = NULL;
    return kLiteRtStatusOk;
}
