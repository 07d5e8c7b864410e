// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: what is computed along axes: reductions, sums so far, extremes, softmax, norms, pools.
#include "gpu/op_case.h"

#define REDUCE(name_, suffix_, tolerance_, values_, keep_, ...)                                  \
    {                                                                                            \
        .name = name_, OP(suffix_), .settings = {SET(ReducerOptions, keep_dims, keep_)},         \
        .inputs = {IN_OF(values_, B, 5, 3, C), INTS(__VA_ARGS__)}, .tolerance = GPU_##tolerance_ \
    }
// Every axis, and those that kernels treat in ways of their own.
#define REDUCTION(name_, suffix_, tolerance_, values_)                                    \
    REDUCE(name_ " of batches", suffix_, tolerance_, values_, 1, 0),                      \
        REDUCE(name_ " of rows", suffix_, tolerance_, values_, 0, 1),                     \
        REDUCE(name_ " of columns", suffix_, tolerance_, values_, 1, -2),                 \
        REDUCE(name_ " of channels", suffix_, tolerance_, values_, 1, 3),                 \
        REDUCE(name_ " of channels, taken away", suffix_, tolerance_, values_, 0, -1),    \
        REDUCE(name_ " of the image", suffix_, tolerance_, values_, 1, 1, 2),             \
        REDUCE(name_ " of the image, taken away", suffix_, tolerance_, values_, 0, 2, 1), \
        REDUCE(name_ " of columns and channels", suffix_, tolerance_, values_, 0, 2, 3),  \
        REDUCE(name_ " of all", suffix_, tolerance_, values_, 0, 0, 1, 2, 3)
#define REDUCE_WIDE(name_, suffix_, tolerance_, values_)                                                \
    {                                                                                                   \
        .name = name_ " of a wide image", OP(suffix_), .settings = {SET(ReducerOptions, keep_dims, 0)}, \
        .inputs = {IN_OF(values_, B, 40, 60, C), INTS(1, 2)}, .tolerance = GPU_##tolerance_             \
    }
#define CUMSUM(name_, axis_, exclusive_, reverse_)                                                      \
    {                                                                                                   \
        .name = "CUMSUM " name_, OP(Cumsum),                                                            \
        .settings = {SET(CumsumOptions, exclusive, exclusive_), SET(CumsumOptions, reverse, reverse_)}, \
        .inputs = {IN(B, 3, 4, C), INT(axis_)}, .tolerance = GPU_ROUNDS                                 \
    }
#define EXTREME(name_, suffix_, options_, axis_)                                          \
    {                                                                                     \
        .name = name_, OP(suffix_), .settings = {SET(options_, output_type, TEST_INT32)}, \
        .inputs = {IN_OF(EQUAL, B, 3, 4, C), INT(axis_)}, .output = {                     \
            .type = TEST_INT32                                                            \
        }                                                                                 \
    }
#define SOFTMAX(name_, beta_, ...)                                                                           \
    {                                                                                                        \
        .name = name_, OP(Softmax), .settings = {SET(SoftmaxOptions, beta, beta_)}, .inputs = {__VA_ARGS__}, \
        .tolerance = GPU_FUNCTION                                                                            \
    }
#define LOCAL_RESPONSE(name_, radius_, alpha_, beta_, ...)                    \
    {                                                                         \
        .name = name_, OP(LocalResponseNormalization),                        \
        .settings = {SET(LocalResponseNormalizationOptions, radius, radius_), \
                     SET(LocalResponseNormalizationOptions, bias, 1),         \
                     SET(LocalResponseNormalizationOptions, alpha, alpha_),   \
                     SET(LocalResponseNormalizationOptions, beta, beta_)},    \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_FUNCTION                    \
    }
#define POOL(name_, suffix_, tolerance_, same_, kernel_h_, kernel_w_, stride_h_, stride_w_, activation_, ...) \
    {                                                                                                         \
        .name = name_, OP(suffix_), .settings = {SET(Pool2DOptions, padding, !(same_)),                       \
                                                 SET(Pool2DOptions, filter_height, kernel_h_),                \
                                                 SET(Pool2DOptions, filter_width, kernel_w_),                 \
                                                 SET(Pool2DOptions, stride_h, stride_h_),                     \
                                                 SET(Pool2DOptions, stride_w, stride_w_),                     \
                                                 SET(Pool2DOptions, fused_activation_function, activation_)}, \
        .inputs = {IN(__VA_ARGS__)}, .tolerance = GPU_##tolerance_                                            \
    }
#define POOLS(name_, suffix_, tolerance_)                                                        \
    POOL(name_ " of all", suffix_, tolerance_, 0, 7, 7, 1, 1, 0, B, 7, 7, C),                    \
        POOL(name_ " with padding", suffix_, tolerance_, 1, 3, 3, 2, 2, 1, B, 9, 8, C),          \
        POOL(name_ " wider than its stride", suffix_, tolerance_, 1, 6, 7, 2, 1, 0, B, 9, 8, C), \
        POOL(name_ " narrower than its stride", suffix_, tolerance_, 0, 2, 1, 3, 2, 3, B, 11, 10, C)

static const struct op_case cases[] = {
    REDUCTION("MEAN", Mean, SUMS, EIGHTHS),
    REDUCTION("SUM", Sum, SUMS, EIGHTHS),
    REDUCTION("REDUCE_MAX", ReduceMax, MOVES, EIGHTHS),
    REDUCTION("REDUCE_MIN", ReduceMin, MOVES, EIGHTHS),
    {.name = "REDUCE_PROD of rows",
     OP(ReduceProd),
     .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN_OF(NEAR_ONE, B, 5, 3, C), INTS(1)},
     .tolerance = GPU_SUMS},
    {.name = "REDUCE_PROD of channels",
     OP(ReduceProd),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN_OF(NEAR_ONE, B, 5, 3, C), INTS(-1)},
     .tolerance = GPU_SUMS},
    {.name = "REDUCE_PROD of the image",
     OP(ReduceProd),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN_OF(NEAR_ONE, B, 5, 3, C), INTS(1, 2)},
     .tolerance = GPU_SUMS},
    {.name = "REDUCE_ANY of the image",
     OP(ReduceAny),
     .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN_BOOL(B, 1, 3, C), INTS(1, 2)},
     .output = {.type = TEST_BOOL}},
    {.name = "REDUCE_ANY of channels",
     OP(ReduceAny),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN_BOOL(B, 5, 3, 2), INTS(-1)},
     .output = {.type = TEST_BOOL}},
    {.name = "REDUCE_ALL of rows",
     OP(ReduceAll),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN_BOOL(B, 2, 3, C), INTS(1)},
     .output = {.type = TEST_BOOL}},
    {.name = "MEAN of a large image",
     OP(Mean),
     .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN(1, 7, 7, 320), INTS(1, 2)},
     .tolerance = GPU_SUMS},
    // So large that columns and rows are reduced one after the other.
    REDUCE_WIDE("MEAN", Mean, SUMS, EIGHTHS),
    REDUCE_WIDE("SUM", Sum, SUMS, EIGHTHS),
    REDUCE_WIDE("REDUCE_MAX", ReduceMax, MOVES, EIGHTHS),
    {.name = "MEAN of rank 3",
     OP(Mean),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN(B, 5, C), INTS(1)},
     .tolerance = GPU_SUMS},
    {.name = "SUM of rank 2",
     OP(Sum),
     .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN(B, C), INTS(-1)},
     .tolerance = GPU_SUMS},
    {.name = "REDUCE_MAX of a long column",
     OP(ReduceMax),
     .settings = {SET(ReducerOptions, keep_dims, 0)},
     .inputs = {IN(1, 40, 3, 5), INTS(0, 1, 2, 3)}},

    CUMSUM("of batches", 0, 0, 0),
    CUMSUM("of rows, exclusive", 1, 1, 0),
    CUMSUM("of columns, reverse", -2, 0, 1),
    CUMSUM("of channels", 3, 0, 0),
    CUMSUM("of channels, exclusive and reverse", 3, 1, 1),
    EXTREME("ARG_MAX of batches", ArgMax, ArgMaxOptions, 0),
    EXTREME("ARG_MAX of rows", ArgMax, ArgMaxOptions, 1),
    EXTREME("ARG_MAX of channels", ArgMax, ArgMaxOptions, -1),
    {.name = "ARG_MAX to int64",
     OP(ArgMax),
     .settings = {SET(ArgMaxOptions, output_type, TEST_INT64)},
     .inputs = {IN_OF(EQUAL, B, 3, 4, C), INT(-1)},
     .output = {.type = TEST_INT64}},
    EXTREME("ARG_MIN of columns", ArgMin, ArgMinOptions, 2),
    EXTREME("ARG_MIN of channels", ArgMin, ArgMinOptions, 3),

    SOFTMAX("SOFTMAX", 1, IN(B, 3, 4, C)),
    SOFTMAX("SOFTMAX that is flat", 0.5, IN_OF(WIDE, B, 5, C)),
    SOFTMAX("SOFTMAX of a long row", 1, IN(1, 1001)),
    SOFTMAX("SOFTMAX of rank 2", 2, IN_OF(SMALL, B, C)),
    SOFTMAX("SOFTMAX that decides", 1, IN_OF(WIDE, B, 3, 5, 2)),
    {.name = "LOG_SOFTMAX", OP(LogSoftmax), .inputs = {IN(B, 3, C)}, .tolerance = GPU_FUNCTION},
    {.name = "LOG_SOFTMAX of a long row", OP(LogSoftmax), .inputs = {IN(B, C + 60)}, .tolerance = GPU_FUNCTION},
    {.name = "L2_NORMALIZATION",
     OP(L2Normalization),
     .settings = {SET(L2NormOptions, fused_activation_function, 0)},
     .inputs = {IN(B, 3, 4, C + 20)},
     .tolerance = GPU_FUNCTION},
    {.name = "L2_NORMALIZATION of rank 2",
     OP(L2Normalization),
     .settings = {SET(L2NormOptions, fused_activation_function, 0)},
     .inputs = {IN(B, C)},
     .tolerance = GPU_FUNCTION},
    LOCAL_RESPONSE("LOCAL_RESPONSE_NORMALIZATION", 2, 0.5, 0.75, IN(B, 3, 4, C + 20)),
    LOCAL_RESPONSE("LOCAL_RESPONSE_NORMALIZATION of single channels", 0, 0.25, 0.5, IN(B, 2, 3, C)),
    LOCAL_RESPONSE("LOCAL_RESPONSE_NORMALIZATION over all channels", 1000, 0.125, 1, IN(B, 2, 3, C)),

    POOLS("AVERAGE_POOL_2D", AveragePool2d, SUMS),
    POOLS("MAX_POOL_2D", MaxPool2d, MOVES),
    {0}};

const struct op_family op_family_reduce = {.name = "reduce", .cases = cases};
