// SPDX-License-Identifier: Apache-2.0
// Requirements on tensor buffers: values that are stored, asked for and joined.
#include "litert/c/litert_tensor_buffer_requirements.h"

#include <stdlib.h>
#include <string.h>

#include "litert/core/core.h"

LiteRtStatus LiteRtCreateTensorBufferRequirements(int num_types, const LiteRtTensorBufferType *types, size_t bytes,
                                                  int num_strides, const uint32_t *strides,
                                                  LiteRtTensorBufferRequirements *requirements)
{
    return LiteRtCreateTensorBufferRequirementsWithAlignment(num_types, types, bytes, num_strides, strides,
                                                             LITERT_HOST_MEMORY_BUFFER_ALIGNMENT, requirements);
}

LiteRtStatus LiteRtCreateTensorBufferRequirementsWithAlignment(int num_types, const LiteRtTensorBufferType *types,
                                                               size_t bytes, int num_strides, const uint32_t *strides,
                                                               size_t alignment,
                                                               LiteRtTensorBufferRequirements *requirements)
{
    LITERT_NEED(requirements && types && (strides || num_strides == 0));
    if (num_types < 1 || num_types > LITERT_MAX_BUFFER_TYPES || num_strides < 0 || num_strides > LITERT_TENSOR_MAX_RANK)
        return litert_fail(kLiteRtStatusErrorInvalidArgument,
                           "requirements with %d types and %d strides: 1 to %d and 0 to %d were expected", num_types,
                           num_strides, LITERT_MAX_BUFFER_TYPES, LITERT_TENSOR_MAX_RANK);
    if (alignment == 0 || (alignment & (alignment - 1)))
        return litert_fail(kLiteRtStatusErrorInvalidArgument, "alignment %zu is no power of two", alignment);
    LiteRtTensorBufferRequirements made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    made->type_count = num_types;
    memcpy(made->types, types, (size_t)num_types * sizeof *types);
    made->stride_count = num_strides;
    if (num_strides) memcpy(made->strides, strides, (size_t)num_strides * sizeof *strides);
    made->bytes = bytes;
    made->alignment = alignment;
    *requirements = made;
    return kLiteRtStatusOk;
}

void LiteRtDestroyTensorBufferRequirements(LiteRtTensorBufferRequirements requirements)
{
    free(requirements);
}

LiteRtStatus LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(LiteRtTensorBufferRequirements requirements,
                                                                      int *num_types)
{
    LITERT_NEED(requirements && num_types);
    *num_types = requirements->type_count;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(LiteRtTensorBufferRequirements requirements,
                                                                        int index, LiteRtTensorBufferType *type)
{
    LITERT_NEED(requirements && type);
    LITERT_INDEX(index, requirements->type_count);
    *type = requirements->types[index];
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtGetTensorBufferRequirementsBufferSize, LiteRtTensorBufferRequirements, size_t, object->bytes)

LiteRtStatus LiteRtGetTensorBufferRequirementsStrides(LiteRtTensorBufferRequirements requirements, int *num_strides,
                                                      const uint32_t **strides)
{
    LITERT_NEED(requirements && num_strides && strides);
    *num_strides = requirements->stride_count;
    *strides = requirements->stride_count ? requirements->strides : NULL;
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtGetTensorBufferRequirementsAlignment, LiteRtTensorBufferRequirements, size_t, object->alignment)

static bool has_type(LiteRtTensorBufferRequirements requirements, LiteRtTensorBufferType type)
{
    for (int i = 0; i < requirements->type_count; i++)
        if (requirements->types[i] == type) return true;
    return false;
}

LiteRtStatus LiteRtJoinTensorBufferRequirements(LiteRtTensorBufferRequirements first,
                                                LiteRtTensorBufferRequirements second,
                                                LiteRtTensorBufferRequirements *joined)
{
    LITERT_NEED(first && second && joined);
    LiteRtTensorBufferType types[LITERT_MAX_BUFFER_TYPES];
    int count = 0;
    for (int i = 0; i < first->type_count; i++)
        if (has_type(second, first->types[i])) types[count++] = first->types[i];
    bool same_strides = first->stride_count == second->stride_count &&
                        memcmp(first->strides, second->strides, sizeof first->strides) == 0;
    if (count == 0 || !same_strides)
        return litert_fail(kLiteRtStatusErrorUnsupported, "requirements cannot be joined: %s",
                           count == 0 ? "no kind of memory is in both" : "their strides differ");
    return LiteRtCreateTensorBufferRequirementsWithAlignment(
        count, types, first->bytes > second->bytes ? first->bytes : second->bytes, first->stride_count, first->strides,
        first->alignment > second->alignment ? first->alignment : second->alignment, joined);
}
