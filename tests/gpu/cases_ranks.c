// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: tensors of rank above 4, of which all axes but the last three are one to the kernels. Many of
// the CPU's kernels end at rank 5.
#include "gpu/op_case.h"

#define CONCATENATION(name_, axis_, ...)                                                                         \
    {                                                                                                            \
        .name = "CONCATENATION " name_, OP(Concatenation), .settings = {SET(ConcatenationOptions, axis, axis_)}, \
        .inputs = {                                                                                              \
            __VA_ARGS__                                                                                          \
        }                                                                                                        \
    }
#define GATHER(name_, ...)                                                                                        \
    {                                                                                                             \
        .name = "GATHER " name_, OP(Gather), .settings = {SET(GatherOptions, axis, 1)}, .inputs = { __VA_ARGS__ } \
    }
#define MASKS(begin_, end_, new_, shrink_)                                                                     \
    {                                                                                                          \
        SET(StridedSliceOptions, begin_mask, begin_), SET(StridedSliceOptions, end_mask, end_),                \
            SET(StridedSliceOptions, new_axis_mask, new_), SET(StridedSliceOptions, shrink_axis_mask, shrink_) \
    }
#define MIRROR(name_, mode_, paddings_)                                                                           \
    {                                                                                                             \
        .name = "MIRROR_PAD " name_, OP(MirrorPad), .settings = {SET(MirrorPadOptions, mode, mode_)}, .inputs = { \
            IN(B, 3, 4, 3, C),                                                                                    \
            paddings_                                                                                             \
        }                                                                                                         \
    }
#define MATMUL(name_, adj_x_, adj_y_, ...)                                                            \
    {                                                                                                 \
        .name = "BATCH_MATMUL " name_, OP(BatchMatmul),                                               \
        .settings = {SET(BatchMatMulOptions, adj_x, adj_x_), SET(BatchMatMulOptions, adj_y, adj_y_)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                                \
    }
#define ANY IN(B, 2, 3, 4, C)

static const struct op_case cases[] = {
    {.name = "RESHAPE to rank 5", OP(Reshape), .inputs = {IN(B, 6, C), INTS(B, 1, 2, 3, C)}},
    {.name = "RESHAPE from rank 6", OP(Reshape), .inputs = {IN(B, 1, 2, 3, 2, C), INTS(B, 6, 2 * C)}},
    {.name = "TRANSPOSE of rank 5, pairs", OP(Transpose), .inputs = {ANY, INTS(3, 4, 0, 1, 2)}},
    {.name = "TRANSPOSE of rank 5, channels stay", OP(Transpose), .inputs = {ANY, INTS(2, 0, 1, 3, 4)}},
    {.name = "TRANSPOSE of rank 5, four ways", OP(Transpose), .inputs = {ANY, INTS(2, 1, 0, 3, 4)}},
    {.name = "TRANSPOSE of rank 6 with ones", OP(Transpose), .inputs = {IN(B, 1, 3, 1, 4, C), INTS(5, 3, 2, 4, 1, 0)}},
    {.name = "TRANSPOSE of rank 5 to itself", OP(Transpose), .inputs = {ANY, INTS(0, 1, 2, 3, 4)}},
    CONCATENATION("of rank 5 in front", 0, ANY, IN(1, 2, 3, 4, C)),
    CONCATENATION("of rank 5 behind that", 1, ANY, IN(B, 1, 3, 4, C), IN(B, 3, 3, 4, C)),
    CONCATENATION("of rank 5, rows", 2, ANY, IN(B, 2, 1, 4, C)),
    CONCATENATION("of rank 6, channels", -1, IN(B, 1, 2, 3, 4, C), IN(B, 1, 2, 3, 4, 2)),
    PACK("to rank 5 in front", 0, B, 3, 4, C),
    PACK("to rank 5 behind that", 1, B, 3, 4, C),
    PACK("to rank 5, channels", -1, B, 3, 4, C),
    {.name = "ADD of rank 5", OP(Add), .inputs = {ANY, ANY}, .tolerance = GPU_ROUNDS},
    {.name = "MUL of rank 5 by channels", OP(Mul), .inputs = {ANY, IN(C)}, .tolerance = GPU_ROUNDS},
    {.name = "SUB of rank 5 from an image", OP(Sub), .inputs = {IN(3, 1, C), ANY}, .tolerance = GPU_ROUNDS},
    {.name = "MAXIMUM of rank 6 and a constant",
     OP(Maximum),
     .inputs = {IN(B, 1, 2, 3, 4, C), CONST(1, 1, 1, 3, 1, 1)}},
    {.name = "LESS of rank 5", OP(Less), .inputs = {ANY, ANY}, .output = {.type = TEST_BOOL}},
    {.name = "SELECT_V2 of rank 5", OP(SelectV2), .inputs = {IN_BOOL(3, 4, 1), ANY, CONST_SCALAR}},
    {.name = "RELU of rank 5", OP(Relu), .inputs = {ANY}},
    {.name = "CAST of rank 5",
     OP(Cast),
     .settings = {SET(CastOptions, out_data_type, TEST_BOOL)},
     .inputs = {ANY},
     .output = {.type = TEST_BOOL}},
    {.name = "SOFTMAX of rank 5",
     OP(Softmax),
     .settings = {SET(SoftmaxOptions, beta, 1)},
     .inputs = {ANY},
     .tolerance = GPU_FUNCTION},
    {.name = "LOG_SOFTMAX of rank 5", OP(LogSoftmax), .inputs = {ANY}, .tolerance = GPU_FUNCTION},
    {.name = "MEAN of rank 5, the image",
     OP(Mean),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {ANY, INTS(2, 3)},
     .tolerance = GPU_SUMS},
    {.name = "REDUCE_MAX of rank 6, all in front",
     OP(ReduceMax),
     .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN(B, 1, 2, 3, 4, C), INTS(0, 1, 2)}},
    {.name = "SUM of rank 5, channels",
     OP(Sum),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {ANY, INTS(-1)},
     .tolerance = GPU_SUMS},
    {.name = "SLICE of rank 5",
     OP(Slice),
     .inputs = {IN(B, 3, 4, 5, C + 4), INTS(0, 1, 1, 2, 3), INTS(-1, 2, 2, 3, C)}},
    {.name = "SLICE of rank 6 in front",
     OP(Slice),
     .inputs = {IN(B + 2, 1, 2, 3, 4, C), INTS(1, 0, 0, 0, 0, 0), INTS(B, 1, 2, 3, 4, C)}},
    {.name = "SLICE of rank 8, all axes",
     OP(Slice),
     .inputs = {IN(3, 2, B + 1, 3, 2, 3, 4, C), INTS(1, 1, 1, 0, 0, 1, 2, 1), INTS(2, 1, B, 2, 2, 2, 2, -1)}},
    {.name = "STRIDED_SLICE of rank 5",
     OP(StridedSlice),
     .settings = MASKS(0, 0, 0, 0),
     .inputs = {IN(B, 4, 5, 4, C), INTS(0, 3, 1, 0, 0), INTS(B, 0, 5, 4, C), INTS(1, -2, 2, 3, 1)}},
    {.name = "STRIDED_SLICE of rank 7, backwards in front",
     OP(StridedSlice),
     .settings = MASKS(127, 127, 0, 0),
     .inputs = {IN(3, B, 2, 3, 2, 2, C), INTS(0, 0, 0, 0, 0, 0, 0), INTS(3, B, 2, 3, 2, 2, C),
                INTS(-2, 1, 1, 2, 1, 1, 1)}},
    {.name = "STRIDED_SLICE of rank 6 that takes and adds axes",
     OP(StridedSlice),
     .settings = MASKS(25, 25, 32, 6),
     .inputs = {IN(B, 3, 4, 2, 3, C), INTS(0, 2, 1, 0, 0, 0), INTS(B, 3, 2, 2, 3, 1), INTS(1, 1, 1, 1, 1, 1)}},
    {.name = "REVERSE_V2 of rank 5", OP(ReverseV2), .inputs = {ANY, INTS(1, 2)}},
    {.name = "PAD of rank 5", OP(Pad), .inputs = {ANY, PAIRS(0, 1, 2, 0, 1, 1, 0, 2, 0, 0)}},
    {.name = "PAD of rank 5, channels", OP(Pad), .inputs = {ANY, PAIRS(0, 0, 0, 0, 1, 0, 0, 0, 1, 2)}},
    {.name = "PAD of rank 5 in front", OP(Pad), .inputs = {ANY, PAIRS(2, 1, 0, 0, 0, 0, 0, 0, 0, 0)}},
    {.name = "PADV2 of rank 5", OP(Padv2), .inputs = {ANY, PAIRS(1, 1, 0, 2, 0, 1, 2, 0, 1, 0), CONST_SCALAR}},
    MIRROR("reflecting, of rank 5", 0, PAIRS(0, 0, 1, 1, 2, 1, 1, 2, 0, 0)),
    MIRROR("symmetric, of rank 5", 1, PAIRS(1, 1, 1, 2, 2, 1, 0, 0, 2, 1)),
    {.name = "TILE of rank 5", OP(Tile), .inputs = {ANY, INTS(2, 3, 1, 1, 1)}},
    {.name = "TILE of rank 7", OP(Tile), .inputs = {IN(1, B, 2, 1, 2, 2, C), INTS(1, 2, 2, 3, 1, 2, 2)}},
    {.name = "BROADCAST_TO of rank 5", OP(BroadcastTo), .version = 2, .inputs = {IN(2, 1, 4, C), INTS(B, 2, 3, 4, C)}},
    {.name = "BROADCAST_TO of rank 6",
     OP(BroadcastTo),
     .version = 2,
     .inputs = {IN(B, 1, 2, 1, 1, C), INTS(B, 3, 2, 2, 3, C)}},
    SPLIT("of rank 5 in front", 0, 2 * B, 2, 3, 4, C),
    SPLIT("of rank 5 behind that", 1, B, 4, 3, 4, C),
    SPLIT("of rank 8, columns", -2, 1, B, 1, 2, 1, 3, 4, C),
    SPLIT("of rank 6, channels", 5, B, 1, 2, 2, 3, 2 * C),
    {.name = "SPLIT_V of rank 5",
     OP(SplitV),
     .settings = {SET(SplitVOptions, num_splits, 3)},
     .inputs = {IN(B, 6, 2, 3, C), INTS(1, 3, 2), INT(1)},
     .output_count = 3},
    UNPACK("of rank 5 in front", 0, 3, B, 2, 4, C),
    UNPACK("of rank 6 behind that", 1, B, 3, 2, 2, 4, C),
    UNPACK("of rank 6, channels", -1, B, 2, 2, 2, C, 3),
    MATMUL("of rank 5", 0, 0, IN(B, 2, 3, 5, C), IN_OF(SMALL, B, 2, 3, C, 6)),
    MATMUL("of rank 5, adj_y", 0, 1, IN(2, B, 3, 5, C), IN_OF(SMALL, 2, B, 1, 6, C)),
    MATMUL("of rank 5 by rank 3", 0, 0, IN(B, 2, 3, 5, C), IN_OF(SMALL, 3, C, 6)),
    MATMUL("of rank 5 by rank 4", 1, 0, IN(B, 2, 3, C, 5), IN_OF(SMALL, 2, 1, C, 6)),
    MATMUL("of rank 2 by rank 5", 0, 0, IN(5, C), IN_OF(SMALL, B, 2, 3, C, 6)),
    MATMUL("of rank 5, both stretch", 0, 0, IN(3, 1, 2, 4, C), IN_OF(SMALL, 1, B + 1, 2, C, 7)),
    MATMUL("of rank 5 by a constant that stretches", 1, 1, IN(B + 1, 2, 3, C, 4), CONST_OF(SMALL, 1, 2, 3, 7, C)),
    MATMUL("of rank 5 by a constant matrix", 0, 0, IN(B, 2, 3, 4, C), CONST_OF(SMALL, C, 13)),
    GATHER("of rank 5", IN(B, 3, 2, 4, C), IN_INT(3)),
    GATHER("to rank 5", IN(B, 3, 4, C), IN_INT(2, 2)),
    {0}};

const struct op_family op_family_ranks = {.name = "ranks", .cases = cases};
