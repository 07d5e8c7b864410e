// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: tensors of rank above 4, of which all axes but the last three are one to the kernels.
#include "gpu/op_case.h"

#define CONCATENATION(name_, axis_, ...)                                                                                 \
    {.name = "CONCATENATION " name_, OP(Concatenation), .settings = {SET(ConcatenationOptions, axis, axis_)},            \
     .inputs = {__VA_ARGS__}}
#define GATHER(name_, ...) \
    {.name = "GATHER " name_, OP(Gather), .settings = {SET(GatherOptions, axis, 1)}, .inputs = {__VA_ARGS__}}
#define PACK(name_, axis_, ...)                                                                                          \
    {.name = "PACK " name_, OP(Pack), .settings = {SET(PackOptions, values_count, 3), SET(PackOptions, axis, axis_)},    \
     .inputs = {IN(__VA_ARGS__), IN(__VA_ARGS__), IN(__VA_ARGS__)}}
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
    {.name = "MAXIMUM of rank 6 and a constant", OP(Maximum), .inputs = {IN(B, 1, 2, 3, 4, C), CONST(1, 1, 1, 3, 1, 1)}},
    {.name = "LESS of rank 5", OP(Less), .inputs = {ANY, ANY}, .output = {.type = TEST_BOOL}},
    {.name = "SELECT_V2 of rank 5", OP(SelectV2), .inputs = {IN_BOOL(3, 4, 1), ANY, CONST_SCALAR}},
    {.name = "RELU of rank 5", OP(Relu), .inputs = {ANY}},
    {.name = "CAST of rank 5", OP(Cast), .settings = {SET(CastOptions, out_data_type, TEST_BOOL)}, .inputs = {ANY},
     .output = {.type = TEST_BOOL}},
    {.name = "SOFTMAX of rank 5", OP(Softmax), .settings = {SET(SoftmaxOptions, beta, 1)}, .inputs = {ANY},
     .tolerance = GPU_FUNCTION},
    {.name = "LOG_SOFTMAX of rank 5", OP(LogSoftmax), .inputs = {ANY}, .tolerance = GPU_FUNCTION},
    {.name = "MEAN of rank 5, the image", OP(Mean), .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {ANY, INTS(2, 3)}, .tolerance = GPU_SUMS},
    {.name = "REDUCE_MAX of rank 6, all in front", OP(ReduceMax), .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN(B, 1, 2, 3, 4, C), INTS(0, 1, 2)}},
    {.name = "SUM of rank 5, channels", OP(Sum), .settings = {SET(ReducerOptions, keep_dims, 0)}, .inputs = {ANY, INTS(-1)},
     .tolerance = GPU_SUMS},
    GATHER("of rank 5", IN(B, 3, 2, 4, C), IN_INT(3)),
    GATHER("to rank 5", IN(B, 3, 4, C), IN_INT(2, 2)),
    {0}};

const struct op_family op_family_ranks = {.name = "ranks", .cases = cases};
