// SPDX-License-Identifier: Apache-2.0
// What can be known of a tensor, an element type or an operator from the interface's own structs and numbers. The
// runtime and the delegates both use it, because neither may include the other; it needs no runtime and no model.
#ifndef HALITE_ABI_TENSOR_H
#define HALITE_ABI_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/c/common.h"

// ---- element types ------------------------------------------------------------------------------

// Bits of one element: 2 or 4 for packed types, 0 for strings, resources and variants.
int hl_type_bits(TfLiteType type);
// Bytes of one element: 0 for strings, resources, variants and packed types.
size_t hl_type_size(TfLiteType type);
// "float32", as messages say it. Never NULL.
const char *hl_type_name(TfLiteType type);
// "FLOAT32", as TfLiteTypeGetName says it. Never NULL.
const char *hl_type_public_name(TfLiteType type);

static inline bool hl_is_integer(TfLiteType type)
{
    return type == kTfLiteInt32 || type == kTfLiteInt64 || type == kTfLiteInt16 || type == kTfLiteInt8 ||
           type == kTfLiteUInt8;
}

// ---- shapes -------------------------------------------------------------------------------------

// Models and hl_resize refuse tensors of more dimensions.
enum { HL_MAX_RANK = 32 };

static inline int hl_rank(const TfLiteTensor *tensor)
{
    return tensor->dims->size;
}
static inline int hl_dim(const TfLiteTensor *tensor, int axis)
{
    return tensor->dims->data[axis];
}

// Product of the dimensions [from, to) of a shape. The runtime refuses shapes whose product could overflow.
int64_t hl_product(const TfLiteIntArray *dims, int from, int to);
// Elements of a tensor, 1 where it has no shape yet.
int64_t hl_elements(const TfLiteTensor *tensor);
bool hl_same_shape(const TfLiteTensor *a, const TfLiteTensor *b);

// Bytes of a dense tensor of this shape. False where a dimension is negative, where the shape is too large for this
// machine (no partial product of the dimensions, zeros counted as ones, may exceed 2^48), or where the type has no
// size.
bool hl_tensor_bytes(TfLiteType type, int rank, const int *dims, size_t *bytes);

// ---- values -------------------------------------------------------------------------------------

// The value is known before anything runs: it is of the model, or of a node whose inputs are constant.
static inline bool hl_is_constant(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}
static inline bool hl_is_dynamic(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic;
}
// One element of an int8, uint8, int16, int32 or int64 tensor; 0 for other types.
int64_t hl_integer_at(const TfLiteTensor *tensor, int64_t index);

// ---- operators ----------------------------------------------------------------------------------

// Schema name of a builtin operator ("CONV_2D"); NULL where the format has no such operator.
const char *hl_builtin_name(int builtin);

#endif
