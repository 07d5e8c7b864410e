// SPDX-License-Identifier: Apache-2.0
// Rows beside the op table's (tests/gpu/op_case.h), of 8-bit operators that Hexagon has and the table does not.
#include "delegates/hexagon_cases.h"

#define IN_I8(...) IN_8(INT8, 0.125f, 5, __VA_ARGS__)
#define IN_U8(...) IN_8(UINT8, 0.125f, 120, __VA_ARGS__)
#define SAME_I8 .output = {TEST_INT8, 0.125f, 5}
#define SAME_U8 .output = {TEST_UINT8, 0.125f, 120}
#define FIRST(name_, suffix_, table_)                                                        \
    {                                                                                        \
        .name = name_, OP(suffix_), .version = 2, .settings = {SET(table_, output_type, 2)}, \
        .inputs = {IN_I8(B, 3, 4, C), INT(-1)}, .output = {                                  \
            TEST_INT32,                                                                      \
            0,                                                                               \
            0                                                                                \
        }                                                                                    \
    }
#define MIRROR(name_, mode_)                                                                                        \
    {                                                                                                               \
        .name = "MIRROR_PAD " name_, OP(MirrorPad), .version = 2, .settings = {SET(MirrorPadOptions, mode, mode_)}, \
        .inputs = {IN_I8(B, 3, 4, C), PAIRS(0, 0, 1, 2, 2, 1, 0, 0)}, SAME_I8                                       \
    }

static const struct op_case cases[] = {
    // Squares up to 16 * 16 in steps of 1, 1/2 and 1/4 of what the difference's own 8 bits could tell apart.
    {.name = "SQUARED_DIFFERENCE of a full range",
     OP(SquaredDifference),
     .version = 2,
     .inputs = {IN_I8(B, 3, 4, C), IN_I8(B, 3, 4, C)},
     .output = {TEST_INT8, 0.25f, -128}},
    {.name = "SQUARED_DIFFERENCE that saturates",
     OP(SquaredDifference),
     .version = 2,
     .inputs = {IN_I8(B, 3, 4, C), IN_8(INT8, 0.1f, -20, C)},
     .output = {TEST_INT8, 0.0625f, -128}},
    {.name = "SQUARED_DIFFERENCE of two signs",
     OP(SquaredDifference),
     .version = 2,
     .inputs = {IN_I8(B, 3, 4, C), IN_8(INT8, 0.05f, 9, B, 3, 4, C)},
     .output = {TEST_INT8, 0.3f, -40}},
    {.name = "MINIMUM", OP(Minimum), .version = 2, .inputs = {IN_U8(B, 3, 4, C), IN_U8(C)}, SAME_U8},
    {.name = "NEG", OP(Neg), .inputs = {IN_I8(B, 3, 4, C)}, .output = {TEST_INT8, 0.125f, -5}},
    {.name = "L2_NORMALIZATION",
     OP(L2Normalization),
     .version = 2,
     .settings = {SET(L2NormOptions, fused_activation_function, 0)},
     .inputs = {IN_8(INT8, 0.03125f, 0, B, 3, 4, C)},
     .output = {TEST_INT8, 1.0f / 128, 0}},
    {.name = "RSQRT",
     OP(Rsqrt),
     .version = 2,
     .inputs = {{.kind = TENSOR_INPUT,
                 .type = TEST_INT8,
                 .values = VALUES_POSITIVE,
                 .scale = 0.0125f,
                 .zero_point = -128,
                 SHAPED(B, 3, 4, C)}},
     .output = {TEST_INT8, 1.0f / 255, -128}},
    {.name = "PACK",
     OP(Pack),
     .version = 2,
     .settings = {SET(PackOptions, values_count, 2), SET(PackOptions, axis, 1)},
     .inputs = {IN_I8(B, 4, C), IN_I8(B, 4, C)},
     SAME_I8},
    {.name = "SPLIT",
     OP(Split),
     .version = 2,
     .settings = {SET(SplitOptions, num_splits, 2)},
     .inputs = {INT(2), IN_I8(B, 3, 4, C)},
     .output_count = 2,
     SAME_I8},
    {.name = "SLICE",
     OP(Slice),
     .version = 2,
     .inputs = {IN_I8(B, 3, 4, C), INTS(0, 1, 1, 1), INTS(B, 2, 2, -1)},
     SAME_I8},
    MIRROR("REFLECT", 0),
    MIRROR("SYMMETRIC", 1),
    {.name = "DEPTH_TO_SPACE",
     OP(DepthToSpace),
     .version = 2,
     .settings = {SET(DepthToSpaceOptions, block_size, 2)},
     .inputs = {IN_I8(B, 3, 4, 4 * C)},
     SAME_I8},
    FIRST("ARG_MAX", ArgMax, ArgMaxOptions),
    FIRST("ARG_MIN", ArgMin, ArgMinOptions),
    {0}};

const struct op_family hexagon_cases = {.name = "Hexagon's own", .cases = cases};
