// SPDX-License-Identifier: Apache-2.0
// What selection.h means for kernels: those that no selected type or operator can reach are named by HL_WHERE, which is
// NULL then, so that the compiler drops them. A node with another one is refused before (src/ops/registry.c).
#ifndef HALITE_ABI_BUILT_TYPES_H
#define HALITE_ABI_BUILT_TYPES_H

#include <stddef.h>

#include "abi/selection.h"
#include "tensorflow/lite/c/common.h"

#define HL_ALL_TYPES (HL_SELECTED_TYPES == 0xffffffffu)
#define HL_HAS_TYPE(type) ((HL_SELECTED_TYPES >> (type)) & 1u)
#define HL_HAS_FLOATS (HL_HAS_TYPE(kTfLiteFloat32) || HL_HAS_TYPE(kTfLiteFloat16) || HL_HAS_TYPE(kTfLiteBFloat16))
// Of tensors or, in hybrid nodes, of weights.
#define HL_HAS_BYTES                                                                                                  \
    (HL_HAS_TYPE(kTfLiteInt8) || HL_HAS_TYPE(kTfLiteUInt8) || HL_HAS_TYPE(kTfLiteInt4) || HL_HAS_TYPE(kTfLiteInt2) || \
     HL_HAS_TYPE(kTfLiteUInt4))
#define HL_HAS_INTEGERS (HL_HAS_BYTES || HL_HAS_TYPE(kTfLiteInt16))
#define HL_HAS_WORDS (HL_HAS_BYTES && HL_HAS_TYPE(kTfLiteInt16))

// Weights of 4 bits with a scale for each block of columns, in hybrid FULLY_CONNECTED.
#ifdef HL_WITHOUT_FULLY_CONNECTED
#define HL_HAS_BLOCKS 0
#else
#define HL_HAS_BLOCKS (HL_HAS_TYPE(kTfLiteInt4) && HL_HAS_FLOATS)
#endif

// Microkernels stand in one table for all operators; these have a single use.
#if defined(HL_WITHOUT_ARG_MAX) && defined(HL_WITHOUT_ARG_MIN)
#define HL_HAS_LARGEST 0
#else
#define HL_HAS_LARGEST 1
#endif
#ifdef HL_WITHOUT_RESIZE_BILINEAR
#define HL_HAS_RESIZE 0
#else
#define HL_HAS_RESIZE 1
#endif
#ifdef HL_WITHOUT_AVERAGE_POOL_2D
#define HL_HAS_AVERAGE_POOL 0
#else
#define HL_HAS_AVERAGE_POOL 1
#endif
#ifdef HL_WITHOUT_MAX_POOL_2D
#define HL_HAS_MAX_POOL 0
#else
#define HL_HAS_MAX_POOL 1
#endif
#ifdef HL_WITHOUT_L2_POOL_2D
#define HL_HAS_L2_POOL 0
#else
#define HL_HAS_L2_POOL 1
#endif
// Where size counts most, a second way to convolve is too much.
#ifdef HALITE_SMALL
#define HL_HAS_WINOGRAD 0
#else
#define HL_HAS_WINOGRAD HL_HAS_FLOATS
#endif

#define HL_WHERE(has, function) ((has) ? (function) : NULL)

#endif
