// SPDX-License-Identifier: Apache-2.0
// The shape of a tensor.
#ifndef LITERT_C_LITERT_LAYOUT_H_
#define LITERT_C_LITERT_LAYOUT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LITERT_TENSOR_MAX_RANK 8

typedef struct LiteRtLayout {
    unsigned int rank : 7;                      // of dimensions and strides, at most LITERT_TENSOR_MAX_RANK
    unsigned int has_strides : 1;               // whether strides mean anything
    int32_t dimensions[LITERT_TENSOR_MAX_RANK]; // below 0: not known before the model runs
    uint32_t strides[LITERT_TENSOR_MAX_RANK];   // elements from one index to the next; without them rows are dense
} LiteRtLayout;

#ifdef __cplusplus
}
#endif

#endif
