// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: zeros of both signs, infinities, NaN and numbers at the ends of single precision, one by one
// and each with each. What the CPU makes of them, the device has to make of them, too: an infinity where it is one, the
// largest number where the CPU ends there, and NaN where it is NaN. Only denormal numbers are left out, which a device
// may take for zero.
#include "gpu/op_case.h"

enum { HALVES = 17, ALL = 32 };

#define ONE(name_, suffix_, tolerance_)                                                   \
    {.name = name_ " of special values",                                                  \
     OP(suffix_),                                                                         \
     .inputs = {IN_OF(SPECIAL, HALVES)},                                                  \
     .tolerance = GPU_##tolerance_},                                                      \
    {                                                                                     \
        .name = name_ " of extreme values", OP(suffix_), .inputs = {IN_OF(EXTREME, ALL)}, \
        .tolerance = GPU_##tolerance_, .singles = true                                    \
    }
#define TWO(name_, suffix_, tolerance_, type_)                                                    \
    {.name = name_ " of special values",                                                          \
     OP(suffix_),                                                                                 \
     .inputs = {IN_OF(SPECIAL, HALVES, 1), IN_OF(SPECIAL, 1, HALVES)},                            \
     .output = {.type = type_},                                                                   \
     .tolerance = GPU_##tolerance_},                                                              \
        {.name = name_ " of extreme values",                                                      \
         OP(suffix_),                                                                             \
         .inputs = {IN_OF(EXTREME, ALL, 1), IN_OF(EXTREME, 1, ALL)},                              \
         .output = {.type = type_},                                                               \
         .tolerance = GPU_##tolerance_,                                                           \
         .singles = true},                                                                        \
        {.name = name_ " of extreme constants",                                                   \
         OP(suffix_),                                                                             \
         .inputs = {IN_OF(EXTREME, ALL, 1), CONST_OF(EXTREME, 1, ALL)},                           \
         .output = {.type = type_},                                                               \
         .tolerance = GPU_##tolerance_,                                                           \
         .singles = true},                                                                        \
    {                                                                                             \
        .name = name_ " from extreme constants", OP(suffix_),                                     \
        .inputs = {CONST_OF(EXTREME, ALL, 1), IN_OF(EXTREME, 1, ALL)}, .output = {.type = type_}, \
        .tolerance = GPU_##tolerance_, .singles = true                                            \
    }
#define FLOATS(name_, suffix_, tolerance_) TWO(name_, suffix_, tolerance_, TEST_FLOAT32)
#define TRUTH(name_, suffix_) TWO(name_, suffix_, MOVES, TEST_BOOL)
// Windows and rows in which the special values come by one after another, with plain ones beside them.
#define ROWS(name_, suffix_, tolerance_, ...)                                                                 \
    {                                                                                                         \
        .name = name_ " of special values", OP(suffix_), .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), __VA_ARGS__}, \
        .tolerance = GPU_##tolerance_                                                                         \
    }
#define POOL(name_, suffix_, activation_)                                                      \
    {                                                                                          \
        .name = name_ " of special values",                                                    \
        OP(suffix_), .settings = {SET(Pool2DOptions, padding, 0),                              \
                                  SET(Pool2DOptions, stride_w, 1),                             \
                                  SET(Pool2DOptions, stride_h, 1),                             \
                                  SET(Pool2DOptions, filter_width, 2),                         \
                                  SET(Pool2DOptions, filter_height, 2),                        \
                                  SET(Pool2DOptions, fused_activation_function, activation_)}, \
        .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3)}, .tolerance = GPU_SUMS                          \
    }

static const struct op_case cases[] = {
    ONE("RELU", Relu, MOVES),
    ONE("RELU6", Relu6, MOVES),
    ONE("RELU_N1_TO_1", ReluN1To1, MOVES),
    ONE("RELU_0_TO_1", Relu0To1, MOVES),
    ONE("TANH", Tanh, FUNCTION),
    ONE("LOGISTIC", Logistic, FUNCTION),
    {.name = "HARD_SWISH of special values",
     OP(HardSwish),
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .tolerance = GPU_ROUNDS},
    {.name = "LEAKY_RELU of special values",
     OP(LeakyRelu),
     .settings = {SET(LeakyReluOptions, alpha, 0.25)},
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .tolerance = GPU_ROUNDS},
    {.name = "LEAKY_RELU of extreme values",
     OP(LeakyRelu),
     .settings = {SET(LeakyReluOptions, alpha, 0)},
     .inputs = {IN_OF(EXTREME, ALL)},
     .tolerance = GPU_ROUNDS,
     .singles = true},
    ONE("ELU", Elu, FUNCTION),
    ONE("EXP", Exp, FUNCTION),
    ONE("SQRT", Sqrt, FUNCTION),
    ONE("RSQRT", Rsqrt, FUNCTION),
    ONE("SQUARE", Square, ROUNDS),
    ONE("ABS", Abs, MOVES),
    ONE("NEG", Neg, MOVES),
    ONE("LOG", Log, FUNCTION),
    // Not of the extreme ones: some compilers are coarse for all four lanes where one is large (tolerances.md).
    {.name = "SIN of special values", OP(Sin), .inputs = {IN_OF(SPECIAL, HALVES)}, .tolerance = GPU_WAVES},
    {.name = "COS of special values", OP(Cos), .inputs = {IN_OF(SPECIAL, HALVES)}, .tolerance = GPU_WAVES},
    ONE("SIGN", Sign, MOVES),
    ONE("FLOOR", Floor, MOVES),
    ONE("CEIL", Ceil, MOVES),
    ONE("ROUND", Round, MOVES),
    {.name = "GELU of special values",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 0)},
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .tolerance = GPU_FUNCTION},
    {.name = "GELU of extreme values",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 0)},
     .inputs = {IN_OF(EXTREME, ALL)},
     .tolerance = GPU_FUNCTION,
     .singles = true},
    {.name = "GELU approximate of special values",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 1)},
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .tolerance = GPU_FUNCTION},
    {.name = "GELU approximate of extreme values",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 1)},
     .inputs = {IN_OF(EXTREME, ALL)},
     .tolerance = GPU_FUNCTION,
     .singles = true},

    FLOATS("ADD", Add, ROUNDS),
    FLOATS("SUB", Sub, ROUNDS),
    FLOATS("MUL", Mul, ROUNDS),
    FLOATS("DIV", Div, ROUNDS),
    FLOATS("MAXIMUM", Maximum, MOVES),
    FLOATS("MINIMUM", Minimum, MOVES),
    FLOATS("SQUARED_DIFFERENCE", SquaredDifference, ROUNDS),
    FLOATS("POW", Pow, FUNCTION),
    FLOATS("FLOOR_MOD", FloorMod, FUNCTION),
    {.name = "PRELU of special values",
     OP(Prelu),
     .inputs = {IN_OF(SPECIAL, HALVES, HALVES + 1), CONST_OF(SPECIAL, HALVES + 1)},
     .tolerance = GPU_ROUNDS},
    {.name = "ATAN2 of special values",
     OP(Atan2),
     .inputs = {IN_OF(SPECIAL, HALVES, HALVES), CONST_OF(SPECIAL_ROWS, HALVES, HALVES)},
     .tolerance = GPU_FUNCTION},
    TRUTH("EQUAL", Equal),
    TRUTH("NOT_EQUAL", NotEqual),
    TRUTH("LESS", Less),
    TRUTH("LESS_EQUAL", LessEqual),
    TRUTH("GREATER", Greater),
    TRUTH("GREATER_EQUAL", GreaterEqual),
    {.name = "ADD_N of extreme values",
     OP(AddN),
     .inputs = {IN_OF(EXTREME, ALL), IN_OF(EXTREME, ALL), IN_OF(EXTREME, ALL)},
     .tolerance = GPU_ROUNDS,
     .singles = true},
    {.name = "ADD and RELU of extreme values",
     OP(Add),
     .settings = {SET(AddOptions, fused_activation_function, 1)},
     .inputs = {IN_OF(EXTREME, ALL, 1), IN_OF(EXTREME, 1, ALL)},
     .tolerance = GPU_ROUNDS,
     .singles = true},
    {.name = "SUB and TANH, which the CPU ignores",
     OP(Sub),
     .settings = {SET(SubOptions, fused_activation_function, 4)},
     .inputs = {IN(2, 3, 5), IN(2, 3, 5)},
     .tolerance = GPU_ROUNDS},

    ROWS("SUM over rows", Sum, SUMS, INTS(2)),
    ROWS("SUM over channels", Sum, SUMS, INTS(3)),
    ROWS("MEAN", Mean, SUMS, INTS(1, 2)),
    ROWS("MEAN over channels", Mean, SUMS, INTS(3)),
    ROWS("REDUCE_MAX over rows", ReduceMax, MOVES, INTS(2)),
    ROWS("REDUCE_MAX over channels", ReduceMax, MOVES, INTS(3)),
    ROWS("REDUCE_MIN over rows", ReduceMin, MOVES, INTS(2)),
    ROWS("REDUCE_MIN over channels", ReduceMin, MOVES, INTS(3)),
    ROWS("REDUCE_PROD over rows", ReduceProd, SUMS, INTS(2)),
    ROWS("REDUCE_PROD over channels", ReduceProd, SUMS, INTS(3)),
    {.name = "ARG_MAX of special values",
     OP(ArgMax),
     .settings = {SET(ArgMaxOptions, output_type, 2)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), INT(2)},
     .output = {.type = TEST_INT32}},
    {.name = "ARG_MIN of special channels",
     OP(ArgMin),
     .settings = {SET(ArgMinOptions, output_type, 2)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), INT(3)},
     .output = {.type = TEST_INT32}},
    {.name = "ARG_MAX of special channels",
     OP(ArgMax),
     .settings = {SET(ArgMaxOptions, output_type, 2)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 9), INT(3)},
     .output = {.type = TEST_INT32}},
    {.name = "CUMSUM of special values",
     OP(Cumsum),
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), INT(2)},
     .settings = {SET(CumsumOptions, exclusive, 0)},
     .tolerance = GPU_SUMS},
    {.name = "SOFTMAX of special values",
     OP(Softmax),
     .settings = {SET(SoftmaxOptions, beta, 1)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3)},
     .tolerance = GPU_FUNCTION},
    {.name = "LOG_SOFTMAX of special values",
     OP(LogSoftmax),
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3)},
     .tolerance = GPU_FUNCTION},
    {.name = "L2_NORMALIZATION of special values",
     OP(L2Normalization),
     .settings = {SET(L2NormOptions, fused_activation_function, 0)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3)},
     .tolerance = GPU_FUNCTION},
    POOL("MAX_POOL_2D", MaxPool2d, 0),
    POOL("MAX_POOL_2D and RELU6", MaxPool2d, 3),
    POOL("AVERAGE_POOL_2D", AveragePool2d, 0),
    POOL("AVERAGE_POOL_2D and RELU", AveragePool2d, 1),
    {.name = "FULLY_CONNECTED of special values",
     OP(FullyConnected),
     .inputs = {IN_OF(SPECIAL, HALVES, 1), CONST_OF(POSITIVE, 5, 1)},
     .tolerance = GPU_SUMS},
    {.name = "CONV_2D of special values",
     OP(Conv2d),
     .settings = {SET(Conv2DOptions, stride_w, 1), SET(Conv2DOptions, stride_h, 1)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), CONST_OF(POSITIVE, 5, 1, 1, 3), CONST_OF(POSITIVE, 5)},
     .tolerance = GPU_SUMS},
    {.name = "DEPTHWISE_CONV_2D of special values",
     OP(DepthwiseConv2d),
     .settings = {SET(DepthwiseConv2DOptions, stride_w, 1), SET(DepthwiseConv2DOptions, stride_h, 1),
                  SET(DepthwiseConv2DOptions, depth_multiplier, 1)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), CONST_OF(POSITIVE, 1, 2, 2, 3), CONST_OF(POSITIVE, 3)},
     .tolerance = GPU_SUMS},
    {.name = "BATCH_MATMUL of special values",
     OP(BatchMatmul),
     .inputs = {IN_OF(SPECIAL, HALVES, 1), IN_OF(POSITIVE, 1, 6)},
     .tolerance = GPU_SUMS},
    {.name = "SELECT_V2 of special values",
     OP(SelectV2),
     .inputs = {IN_BOOL(3, HALVES), IN_OF(SPECIAL, 3, HALVES), IN_OF(SPECIAL, HALVES)}},
    {.name = "CAST of special values to bool",
     OP(Cast),
     .settings = {SET(CastOptions, out_data_type, 6)},
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .output = {.type = TEST_BOOL}},
    {.name = "CAST of extreme values to int32",
     OP(Cast),
     .settings = {SET(CastOptions, out_data_type, 2)},
     .inputs = {IN_OF(EXTREME, ALL)},
     .output = {.type = TEST_INT32},
     .singles = true},
    {.name = "PAD of special values", OP(Pad), .inputs = {IN_OF(SPECIAL, 3, HALVES), PAIRS(1, 0, 0, 2)}},
    {.name = "RESIZE_NEAREST_NEIGHBOR of special values",
     OP(ResizeNearestNeighbor),
     .settings = {SET(ResizeNearestNeighborOptions, align_corners, 0)},
     .inputs = {IN_OF(SPECIAL, 2, 5, 7, 3), INTS(10, 7)}},
    {.name = "QUANTIZE of special values",
     OP(Quantize),
     .inputs = {IN_OF(SPECIAL, HALVES)},
     .output = {TEST_INT8, 0.0625f, -3},
     .steps = 1},
    {.name = "QUANTIZE of extreme values",
     OP(Quantize),
     .inputs = {IN_OF(EXTREME, ALL)},
     .output = {TEST_UINT8, 0.25f, 100},
     .steps = 1,
     .singles = true},
    {0}};

const struct op_family op_family_special = {.name = "special", .cases = cases};
