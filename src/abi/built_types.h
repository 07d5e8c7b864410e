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

// HL_HAS_OP(ADD): whether an operator is built, 1 or 0, for #if and for expressions. Where HL_WITHOUT_ADD is 1, the
// second of three arguments is 0; otherwise the first argument takes it in, and the second is 1.
#define HL_HAS_OP(name) HL_IS_BUILT(HL_WITHOUT_##name)
#define HL_IS_BUILT(without) HL_IS_BUILT_OF(without)
#define HL_IS_BUILT_OF(without) HL_SECOND_OF(HL_ARGUMENT_##without 0, 1, 0)
#define HL_ARGUMENT_1 0,
#define HL_SECOND_OF(...) HL_SECOND(__VA_ARGS__)
#define HL_SECOND(first, second, ...) second

// Weights of 4 bits with a scale for each block of columns, in hybrid FULLY_CONNECTED.
#define HL_HAS_BLOCKS (HL_HAS_OP(FULLY_CONNECTED) && HL_HAS_TYPE(kTfLiteInt4) && HL_HAS_FLOATS)

// Microkernels stand in one table for all operators; these have few uses.
#define HL_HAS_LARGEST (HL_HAS_OP(ARG_MAX) || HL_HAS_OP(ARG_MIN))
#define HL_HAS_SUMS (HL_HAS_OP(SUM) || HL_HAS_OP(MEAN))
#define HL_HAS_EXTREMES \
    (HL_HAS_OP(REDUCE_MAX) || HL_HAS_OP(REDUCE_MIN) || HL_HAS_OP(REDUCE_ANY) || HL_HAS_OP(REDUCE_ALL))
#define HL_HAS_RECURRENT                                                                               \
    (HL_HAS_OP(LSTM) || HL_HAS_OP(RNN) || HL_HAS_OP(SVDF) || HL_HAS_OP(UNIDIRECTIONAL_SEQUENCE_RNN) || \
     HL_HAS_OP(UNIDIRECTIONAL_SEQUENCE_LSTM) || HL_HAS_OP(BIDIRECTIONAL_SEQUENCE_RNN) ||               \
     HL_HAS_OP(BIDIRECTIONAL_SEQUENCE_LSTM))
#define HL_HAS_FLOAT_DOTS \
    ((HL_HAS_RECURRENT || HL_HAS_SUMS || HL_HAS_OP(L2_NORMALIZATION)) && HL_HAS_FLOATS) // sums of squares, too
#define HL_HAS_PARTED_PRELU (HL_HAS_OP(ADD) && HL_HAS_OP(MUL) && HL_HAS_OP(RELU) && HL_HAS_OP(NEG) && HL_HAS_FLOATS)
#define HL_HAS_RESIZE HL_HAS_OP(RESIZE_BILINEAR)
#define HL_HAS_AVERAGE_POOL HL_HAS_OP(AVERAGE_POOL_2D)
#define HL_HAS_MAX_POOL HL_HAS_OP(MAX_POOL_2D)
#define HL_HAS_L2_POOL HL_HAS_OP(L2_POOL_2D)
// Where size counts most, a second way to convolve is too much.
#ifdef HALITE_SMALL
#define HL_HAS_WINOGRAD 0
#else
#define HL_HAS_WINOGRAD HL_HAS_FLOATS
#endif

#define HL_WHERE(has, function) ((has) ? (function) : NULL)

#endif
