// SPDX-License-Identifier: Apache-2.0
// Types of tensors and their quantization.
#ifndef LITERT_C_LITERT_MODEL_TYPES_H_
#define LITERT_C_LITERT_MODEL_TYPES_H_

#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// The values are those of TfLiteType.
typedef enum LiteRtElementType {
    kLiteRtElementTypeNone = 0,
    kLiteRtElementTypeFloat32 = 1,
    kLiteRtElementTypeInt32 = 2,
    kLiteRtElementTypeUInt8 = 3,
    kLiteRtElementTypeInt64 = 4,
    kLiteRtElementTypeTfString = 5,
    kLiteRtElementTypeBool = 6,
    kLiteRtElementTypeInt16 = 7,
    kLiteRtElementTypeComplex64 = 8,
    kLiteRtElementTypeInt8 = 9,
    kLiteRtElementTypeFloat16 = 10,
    kLiteRtElementTypeFloat64 = 11,
    kLiteRtElementTypeComplex128 = 12,
    kLiteRtElementTypeUInt64 = 13,
    kLiteRtElementTypeTfResource = 14,
    kLiteRtElementTypeTfVariant = 15,
    kLiteRtElementTypeUInt32 = 16,
    kLiteRtElementTypeUInt16 = 17,
    kLiteRtElementTypeInt4 = 18, // two in a byte
    kLiteRtElementTypeBFloat16 = 19,
    kLiteRtElementTypeInt2 = 20 // four in a byte
} LiteRtElementType;

typedef enum LiteRtTensorTypeId {
    kLiteRtRankedTensorType = 0,  // LiteRtRankedTensorType says it
    kLiteRtUnrankedTensorType = 1 // the number of dimensions is not known before the model runs
} LiteRtTensorTypeId;

typedef struct LiteRtUnrankedTensorType {
    LiteRtElementType element_type;
} LiteRtUnrankedTensorType;

typedef struct LiteRtRankedTensorType {
    LiteRtElementType element_type;
    LiteRtLayout layout;
} LiteRtRankedTensorType;

typedef enum LiteRtQuantizationTypeId {
    kLiteRtQuantizationNone = 0,
    kLiteRtQuantizationPerTensor = 1,
    kLiteRtQuantizationPerChannel = 2,
    kLiteRtQuantizationBlockWise = 3
} LiteRtQuantizationTypeId;

// value = scale * (stored - zero_point)
typedef struct LiteRtQuantizationPerTensor {
    float scale;
    int64_t zero_point;
} LiteRtQuantizationPerTensor;

// The same with numbers of its own for each index of one dimension. The arrays belong to the model.
typedef struct LiteRtQuantizationPerChannel {
    int32_t quantized_dimension;
    uint64_t num_channels; // of both arrays
    float *scales;
    int64_t *zero_points;
} LiteRtQuantizationPerChannel;

#ifdef __cplusplus
}
#endif

#endif
