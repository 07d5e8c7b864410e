// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: functions of one number, of two that broadcast, comparisons, choices, conversions.
#include "gpu/op_case.h"

#define ONE(name_, suffix_, tolerance_, input_)                                       \
    {                                                                                 \
        .name = name_, OP(suffix_), .inputs = {input_}, .tolerance = GPU_##tolerance_ \
    }
#define TWO(name_, suffix_, tolerance_, a_, b_)                                       \
    {                                                                                 \
        .name = name_, OP(suffix_), .inputs = {a_, b_}, .tolerance = GPU_##tolerance_ \
    }
#define ANY IN(B, 3, 4, C)
// Of the same shape, and a constant per channel; the divisors and exponents that the function is good for.
#define PAIR(name_, suffix_, tolerance_, a_values_, b_values_)                                                  \
    TWO(name_, suffix_, tolerance_, IN_OF(a_values_, B, 3, 4, C), IN_OF(b_values_, B, 3, 4, C)),                \
        TWO(name_ " by a constant", suffix_, tolerance_, IN_OF(a_values_, B, 3, 4, C), CONST_OF(b_values_, C)), \
        TWO(name_ " of a constant", suffix_, tolerance_, CONST_OF(a_values_, 3, 1, C), IN_OF(b_values_, B, 3, 4, C))
#define TRUTH(name_, suffix_, values_)                                                                                \
    {.name = name_,                                                                                                   \
     OP(suffix_),                                                                                                     \
     .inputs = {IN_OF(values_, B, 3, 4, C), IN_OF(values_, B, 3, 4, C)},                                              \
     .output = {.type = TEST_BOOL}},                                                                                  \
    {                                                                                                                 \
        .name = name_ " by a constant", OP(suffix_), .inputs = {IN_OF(values_, B, 3, 4, C), CONST_OF(values_, 4, 1)}, \
        .output = {                                                                                                   \
            .type = TEST_BOOL                                                                                         \
        }                                                                                                             \
    }
#define LOGIC(name_, suffix_)                                                                                          \
    {.name = name_, OP(suffix_), .inputs = {IN_BOOL(B, 3, 4, C), IN_BOOL(B, 3, 4, C)}, .output = {.type = TEST_BOOL}}, \
    {                                                                                                                  \
        .name = name_ " that stretches", OP(suffix_), .inputs = {IN_BOOL(B, 3, 1, C), IN_BOOL(4, 1)}, .output = {      \
            .type = TEST_BOOL                                                                                          \
        }                                                                                                              \
    }

static const struct op_case cases[] = {
    // ---- of one number
    ONE("RELU", Relu, MOVES, ANY),
    ONE("RELU6", Relu6, MOVES, IN_OF(WIDE, B, 3, 4, C)),
    ONE("RELU_N1_TO_1", ReluN1To1, MOVES, ANY),
    ONE("RELU_0_TO_1", Relu0To1, MOVES, ANY),
    ONE("TANH", Tanh, FUNCTION, ANY),
    ONE("LOGISTIC", Logistic, FUNCTION, ANY),
    ONE("HARD_SWISH", HardSwish, ROUNDS, ANY),
    {.name = "LEAKY_RELU",
     OP(LeakyRelu),
     .settings = {SET(LeakyReluOptions, alpha, 0.3)},
     .inputs = {ANY},
     .tolerance = GPU_ROUNDS},
    {.name = "LEAKY_RELU above 1",
     OP(LeakyRelu),
     .settings = {SET(LeakyReluOptions, alpha, 1.5)},
     .inputs = {ANY},
     .tolerance = GPU_ROUNDS},
    ONE("ELU", Elu, FUNCTION, ANY),
    ONE("EXP", Exp, FUNCTION, ANY),
    ONE("SQRT", Sqrt, FUNCTION, IN_OF(POSITIVE, B, 3, 4, C)),
    ONE("RSQRT", Rsqrt, FUNCTION, IN_OF(POSITIVE, B, 3, 4, C)),
    ONE("SQUARE", Square, ROUNDS, ANY),
    ONE("ABS", Abs, MOVES, ANY),
    ONE("NEG", Neg, MOVES, ANY),
    ONE("LOG", Log, FUNCTION, IN_OF(POSITIVE, B, 3, 4, C)),
    ONE("SIN", Sin, WAVES, IN_OF(SMALL, B, 3, 4, C)),
    ONE("COS", Cos, WAVES, IN_OF(SMALL, B, 3, 4, C)),
    {.name = "GELU",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 0)},
     .inputs = {ANY},
     .tolerance = GPU_FUNCTION},
    {.name = "GELU approximate",
     OP(Gelu),
     .settings = {SET(GeluOptions, approximate, 1)},
     .inputs = {ANY},
     .tolerance = GPU_FUNCTION},
    ONE("SIGN", Sign, MOVES, IN_OF(EQUAL, B, 3, 4, C)),
    ONE("FLOOR", Floor, MOVES, ANY),
    ONE("CEIL", Ceil, MOVES, ANY),
    ONE("ROUND", Round, MOVES, ANY),
    ONE("RELU of rank 2", Relu, MOVES, IN(B, C)),
    ONE("ABS of rank 1", Abs, MOVES, IN(C)),
    ONE("NEG of rank 3", Neg, MOVES, IN(B, 5, C)),

    // ---- of two
    PAIR("ADD", Add, ROUNDS, EIGHTHS, EIGHTHS),
    PAIR("SUB", Sub, ROUNDS, EIGHTHS, EIGHTHS),
    PAIR("MUL", Mul, ROUNDS, EIGHTHS, EIGHTHS),
    PAIR("DIV", Div, ROUNDS, EIGHTHS, POSITIVE),
    PAIR("MAXIMUM", Maximum, MOVES, EIGHTHS, EIGHTHS),
    PAIR("MINIMUM", Minimum, MOVES, EIGHTHS, EIGHTHS),
    PAIR("SQUARED_DIFFERENCE", SquaredDifference, ROUNDS, EIGHTHS, EIGHTHS),
    PAIR("POW", Pow, FUNCTION, POSITIVE, SMALL),
    PAIR("FLOOR_DIV", FloorDiv, MOVES, EIGHTHS, DIVISORS),
    PAIR("FLOOR_MOD", FloorMod, MOVES, EIGHTHS, DIVISORS),
    TWO("PRELU", Prelu, ROUNDS, ANY, CONST(1, 1, C)),
    TWO("PRELU of every position", Prelu, ROUNDS, ANY, CONST(3, 4, C)),
    TWO("PRELU of one slope", Prelu, ROUNDS, ANY, CONST(1, 1, 1)),
    {.name = "ADD and RELU",
     OP(Add),
     .settings = {SET(AddOptions, fused_activation_function, 1)},
     .inputs = {ANY, ANY},
     .tolerance = GPU_ROUNDS},
    {.name = "SUB and RELU_N1_TO_1",
     OP(Sub),
     .settings = {SET(SubOptions, fused_activation_function, 2)},
     .inputs = {ANY, ANY},
     .tolerance = GPU_ROUNDS},
    {.name = "MUL and RELU6",
     OP(Mul),
     .settings = {SET(MulOptions, fused_activation_function, 3)},
     .inputs = {ANY, ANY},
     .tolerance = GPU_ROUNDS},
    {.name = "DIV and RELU",
     OP(Div),
     .settings = {SET(DivOptions, fused_activation_function, 1)},
     .inputs = {ANY, IN_OF(POSITIVE, B, 3, 4, C)},
     .tolerance = GPU_ROUNDS},
    TWO("SUB of channels", Sub, ROUNDS, ANY, IN(C)),
    TWO("SUB from channels", Sub, ROUNDS, IN(C), ANY),
    TWO("SUB of a column", Sub, ROUNDS, ANY, IN(B, 1, 4, 1)),
    TWO("SUB from a column", Sub, ROUNDS, IN(B, 1, 4, 1), ANY),
    TWO("SUB of one number", Sub, ROUNDS, ANY, IN_SCALAR),
    TWO("SUB of a constant number", Sub, ROUNDS, ANY, CONST_SCALAR),
    TWO("SUB from a constant number", Sub, ROUNDS, CONST_SCALAR, ANY),
    TWO("SUB of rank 3", Sub, ROUNDS, ANY, IN(3, 1, C)),
    TWO("SUB of batches", Sub, ROUNDS, ANY, IN(B, 1, 1, 1)),
    TWO("SUB where both stretch", Sub, ROUNDS, IN(B, 1, C), IN(6, 1)),
    TWO("SUB of rank 2", Sub, ROUNDS, IN(B, C), CONST(C)),
    TWO("ATAN2", Atan2, FUNCTION, ANY, ANY),
    TWO("ATAN2 of a constant", Atan2, FUNCTION, CONST(B, 3, 4, C), ANY),
    {.name = "ADD_N", OP(AddN), .inputs = {ANY, ANY, ANY, CONST(B, 3, 4, C), ANY}, .tolerance = GPU_ROUNDS},
    {.name = "ADD_N of two", OP(AddN), .inputs = {ANY, ANY}, .tolerance = GPU_ROUNDS},

    // ---- that answer yes or no
    TRUTH("EQUAL", Equal, EQUAL),
    TRUTH("NOT_EQUAL", NotEqual, EQUAL),
    TRUTH("LESS", Less, EQUAL),
    TRUTH("LESS_EQUAL", LessEqual, EQUAL),
    TRUTH("GREATER", Greater, EQUAL),
    TRUTH("GREATER_EQUAL", GreaterEqual, EQUAL),
    LOGIC("LOGICAL_AND", LogicalAnd),
    LOGIC("LOGICAL_OR", LogicalOr),
    {.name = "LOGICAL_NOT", OP(LogicalNot), .inputs = {IN_BOOL(B, 3, 4, C)}, .output = {.type = TEST_BOOL}},

    // ---- that choose
    {.name = "SELECT", OP(Select), .inputs = {IN_BOOL(B, 3, 4, C), ANY, ANY}},
    {.name = "SELECT by the first index", OP(Select), .inputs = {IN_BOOL(B), ANY, ANY}},
    {.name = "SELECT_V2", OP(SelectV2), .inputs = {IN_BOOL(B, 3, 4, C), ANY, ANY}},
    {.name = "SELECT_V2 of a number", OP(SelectV2), .inputs = {IN_BOOL(3, 4, 1), ANY, CONST_SCALAR}},
    {.name = "SELECT_V2 that stretches", OP(SelectV2), .inputs = {IN_BOOL(B, 3, 4, C), IN(3, 4, C), IN(C)}},

    // ---- that convert
    {.name = "CAST to int32",
     OP(Cast),
     .settings = {SET(CastOptions, out_data_type, 2)},
     .inputs = {ANY},
     .output = {.type = TEST_INT32}},
    {.name = "CAST to bool",
     OP(Cast),
     .settings = {SET(CastOptions, out_data_type, 6)},
     .inputs = {IN_OF(EQUAL, B, 3, 4, C)},
     .output = {.type = TEST_BOOL}},
    {.name = "CAST from int32",
     OP(Cast),
     .settings = {SET(CastOptions, in_data_type, 2)},
     .inputs = {IN_INT(B, 3, 4, C)}},
    {.name = "CAST from bool",
     OP(Cast),
     .settings = {SET(CastOptions, in_data_type, 6)},
     .inputs = {IN_BOOL(B, 3, 4, C)}},
    {.name = "CAST to float", OP(Cast), .settings = {SET(CastOptions, out_data_type, 0)}, .inputs = {ANY}},
    {0}};

const struct op_family op_family_elementwise = {.name = "elementwise", .cases = cases};
