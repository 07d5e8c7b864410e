// SPDX-License-Identifier: Apache-2.0
// What the interface library of Hexagon's neural network processor agrees on with its callers: structs, numbers of
// operations and kinds of padding. The names of types are the library's own. Each data value is a tensor of four
// dimensions: batches, height, width, depth.
#ifndef HALITE_DELEGATES_HEXAGON_ABI_H
#define HALITE_DELEGATES_HEXAGON_ABI_H

#include <stdbool.h>
#include <stdint.h>

// One output of a node, as another node reads it.
typedef struct {
    unsigned src_id;
    unsigned output_idx;
} hexagon_nn_input;

// What a node declares of one of its outputs.
typedef struct {
    unsigned rank;
    unsigned max_sizes[8];
    unsigned elementsize; // bytes
    int32_t zero_offset;
    float stepsize;
} hexagon_nn_output;

typedef struct {
    unsigned node_id;
    unsigned executions;
    unsigned counter_lo, counter_hi; // cycles
} hexagon_nn_perfinfo;

typedef struct {
    unsigned batches, height, width, depth;
    unsigned char *data;
    int dataLen;             // room
    unsigned data_valid_len; // written
    unsigned unused;
} hexagon_nn_tensordef;

typedef enum {
    HEXAGON_PAD_NA = 0,
    HEXAGON_PAD_SAME = 1,
    HEXAGON_PAD_VALID = 2,
    HEXAGON_PAD_MIRROR_REFLECT = 3,
    HEXAGON_PAD_MIRROR_SYMMETRIC = 4
} hexagon_nn_padding_type;

// Of the interface library and of the processor's: node numbers differ between versions.
enum { HEXAGON_VERSION = 137729 };

// Node ids: 0 and those above this one are the library's.
enum { HEXAGON_MAX_NODE_ID = 0x70000000 };

// X(name, number)
#define HEXAGON_OPERATIONS(X)            \
    X(INPUT, 0)                          \
    X(OUTPUT, 1)                         \
    X(QuantizedMatMul_8x8to32, 17)       \
    X(QuantizedRelu_8, 21)               \
    X(QuantizedReluX_8, 23)              \
    X(QuantizedMaxPool_8, 25)            \
    X(QuantizedAvgPool_8, 27)            \
    X(QuantizedConcat_8, 31)             \
    X(Reshape, 59)                       \
    X(QuantizedSlice_8, 65)              \
    X(Requantize_32to8, 70)              \
    X(MirrorPad_8, 101)                  \
    X(QuantizedSplit_8, 109)             \
    X(QuantizedMul_8x8to32, 113)         \
    X(QuantizedSigmoid_8, 117)           \
    X(QuantizedTanh_8, 119)              \
    X(QuantizedSoftmax_8, 121)           \
    X(QuantizedMaximum_8, 129)           \
    X(QuantizedMinimum_8, 131)           \
    X(QuantizedPad_8, 136)               \
    X(QuantizedAdd_8p8to8, 142)          \
    X(QuantizedResizeBilinear_8, 143)    \
    X(QuantizedTransposeConv2d, 160)     \
    X(QuantizedBiasAdd_32p32to32, 179)   \
    X(Supernode_8x8p32to8, 183)          \
    X(DepthwiseSupernode_8x8p32to8, 184) \
    X(SpaceToBatchND_8, 211)             \
    X(BatchToSpaceND_8, 212)             \
    X(SpaceToDepth_8, 215)               \
    X(DepthToSpace_8, 216)               \
    X(QuantizedStridedSlice_8, 272)      \
    X(QuantizedSqrt_8, 279)              \
    X(Transpose_8, 283)                  \
    X(BatchSeqConfig, 292)               \
    X(QuantizedDiv_8, 293)               \
    X(QuantizedNeg_8, 295)               \
    X(QuantizedSub_8p8to8, 300)          \
    X(ArgMax_8toInt32, 318)              \
    X(ResizeNearestNeighbor_8, 331)      \
    X(ArgMin_8toInt32, 335)              \
    X(QuantizedMean_8, 356)              \
    X(L2Normalize_8, 409)                \
    X(Requantize_8to8, 421)              \
    X(QuantizedPack_8, 432)              \
    X(QuantizedHardSwish_8, 434)         \
    X(Quantized_CastUInt8ToInt8, 443)    \
    X(Quantized_CastInt8ToUInt8, 445)

enum hexagon_operation {
#define X(name, number) HEXAGON_##name = (number),
    HEXAGON_OPERATIONS(X)
#undef X
};

#endif
