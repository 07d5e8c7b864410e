// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: 8-bit models, whose float twins must give the CPU's integers within one step, those that only move
// elements exactly; and the two operators between floats and 8 bits.
#include "gpu/op_case.h"

#define IN_I8(...) IN_8(INT8, 0.125f, 5, __VA_ARGS__)
#define IN_U8(...) IN_8(UINT8, 0.125f, 120, __VA_ARGS__)
#define OUT_I8(scale_, zero_) .output = {TEST_INT8, scale_, zero_}
#define OUT_U8(scale_, zero_) .output = {TEST_UINT8, scale_, zero_}
#define SAME_I8 OUT_I8(0.125f, 5)
#define BIAS(scale_, ...) CONST_8(INT32, scale_, 0, __VA_ARGS__)
#define BIAS_BY_CHANNEL(scale_, ...) CONST_8_BY(0, INT32, scale_, __VA_ARGS__)
#define FUNCTION(name_, suffix_, scale_, zero_) \
    {.name = name_ " int8", OP(suffix_), .inputs = {IN_I8(B, 3, 4, C)}, OUT_I8(scale_, zero_), .steps = 1}
#define CONV_OPTIONS(options_, same_, stride_, activation_)                                                \
    SET(options_, padding, !(same_)), SET(options_, stride_h, stride_), SET(options_, stride_w, stride_),  \
        SET(options_, fused_activation_function, activation_)

static const struct op_case cases[] = {
    {.name = "QUANTIZE to int8", OP(Quantize), .inputs = {IN(B, 3, 4, C)}, OUT_I8(0.0625f, -3), .steps = 1},
    {.name = "QUANTIZE to uint8", OP(Quantize), .inputs = {IN(B, C)}, OUT_U8(0.0625f, 128), .steps = 1},
    {.name = "QUANTIZE to another scale", OP(Quantize), .inputs = {IN_I8(B, 3, 4, C)}, OUT_I8(0.1f, -7), .steps = 1},
    {.name = "QUANTIZE of uint8 to int8", OP(Quantize), .inputs = {IN_U8(B, 3, 4, C)}, OUT_I8(0.125f, -8), .steps = 1},
    {.name = "DEQUANTIZE of int8", OP(Dequantize), .inputs = {IN_I8(B, 3, 4, C)}, .tolerance = GPU_ROUNDS},
    {.name = "DEQUANTIZE of uint8", OP(Dequantize), .inputs = {IN_U8(B, 3, 4, C)}, .tolerance = GPU_ROUNDS},

    {.name = "CONV_2D int8", OP(Conv2d), .version = 3, .settings = {CONV_OPTIONS(Conv2DOptions, 1, 1, 0)},
     .inputs = {IN_I8(B, 6, 7, C), CONST_8(INT8, 0.0625f, 0, 9, 3, 3, C), BIAS(0.125f * 0.0625f, 9)}, OUT_I8(0.25f, 7),
     .steps = 1},
    {.name = "CONV_2D int8 per channel and RELU6", OP(Conv2d), .version = 3, .settings = {CONV_OPTIONS(Conv2DOptions, 0, 2, 3)},
     .inputs = {IN_I8(B, 7, 7, C), CONST_8_BY(0, INT8, 0.03125f, 9, 1, 1, C), BIAS_BY_CHANNEL(0.125f * 0.03125f, 9)},
     OUT_I8(6.0f / 255, -128), .steps = 1},
    {.name = "CONV_2D uint8 and RELU", OP(Conv2d), .settings = {CONV_OPTIONS(Conv2DOptions, 1, 1, 1)},
     .inputs = {IN_U8(B, 6, 7, C), CONST_8(UINT8, 0.0625f, 128, 10, 3, 3, C), BIAS(0.125f * 0.0625f, 10)}, OUT_U8(0.25f, 20),
     .steps = 1},
    {.name = "DEPTHWISE_CONV_2D int8 per channel", OP(DepthwiseConv2d), .version = 3,
     .settings = {CONV_OPTIONS(DepthwiseConv2DOptions, 1, 1, 1), SET(DepthwiseConv2DOptions, depth_multiplier, 1)},
     .inputs = {IN_I8(B, 6, 7, C), CONST_8_BY(3, INT8, 0.03125f, 1, 3, 3, C), BIAS_BY_CHANNEL(0.125f * 0.03125f, C)},
     OUT_I8(0.1f, -100), .steps = 1},
    {.name = "TRANSPOSE_CONV int8", OP(TransposeConv), .version = 3,
     .settings = {SET(TransposeConvOptions, padding, 0), SET(TransposeConvOptions, stride_h, 2),
     SET(TransposeConvOptions, stride_w, 2)},
     .inputs = {INTS(B, 8, 10, 5), CONST_8(INT8, 0.0625f, 0, 5, 3, 3, C), IN_I8(B, 4, 5, C), BIAS(0.125f * 0.0625f, 5)},
     OUT_I8(0.2f, 3), .steps = 1},
    {.name = "FULLY_CONNECTED int8", OP(FullyConnected), .version = 4,
     .settings = {SET(FullyConnectedOptions, fused_activation_function, 0)},
     .inputs = {IN_I8(B, 5 * C), CONST_8(INT8, 0.0625f, 0, 7, 5 * C), BIAS(0.125f * 0.0625f, 7)}, OUT_I8(0.25f, 0), .steps = 1},
    {.name = "FULLY_CONNECTED uint8", OP(FullyConnected),
     .settings = {SET(FullyConnectedOptions, fused_activation_function, 1)},
     .inputs = {IN_U8(B, 5 * C), CONST_8(UINT8, 0.0625f, 120, 7, 5 * C), BIAS(0.125f * 0.0625f, 7)}, OUT_U8(0.25f, 9),
     .steps = 1},
    {.name = "BATCH_MATMUL int8", OP(BatchMatmul), .version = 2, .settings = {SET(BatchMatMulOptions, adj_x, 0)},
     .inputs = {IN_I8(B, 4, C), IN_8(INT8, 0.0625f, 0, B, C, 6)}, OUT_I8(0.5f, 0), .steps = 1},

    {.name = "ADD int8", OP(Add), .version = 2, .settings = {SET(AddOptions, fused_activation_function, 0)},
     .inputs = {IN_I8(B, 3, 4, C), IN_8(INT8, 0.1f, -20, B, 3, 4, C)}, OUT_I8(0.2f, 4), .steps = 1},
    {.name = "SUB uint8 of channels", OP(Sub), .version = 2, .settings = {SET(SubOptions, fused_activation_function, 0)},
     .inputs = {IN_U8(B, 3, 4, C), CONST_8(UINT8, 0.1f, 100, C)}, OUT_U8(0.2f, 130), .steps = 1},
    {.name = "MUL int8 and RELU", OP(Mul), .version = 2, .settings = {SET(MulOptions, fused_activation_function, 1)},
     .inputs = {IN_I8(B, 3, 4, C), IN_8(INT8, 0.1f, -20, B, 3, 4, C)}, OUT_I8(0.3f, -90), .steps = 1},
    {.name = "MAXIMUM int8", OP(Maximum), .version = 2, .inputs = {IN_I8(B, 3, 4, C), IN_I8(B, 3, 4, C)}, SAME_I8},
    {.name = "PRELU int8", OP(Prelu), .inputs = {IN_I8(B, 3, 4, C), CONST_8(INT8, 0.05f, 3, 1, 1, C)}, OUT_I8(0.2f, -9),
     .steps = 1},
    FUNCTION("RELU", Relu, 0.0625f, -128),
    FUNCTION("RELU6", Relu6, 6.0f / 255, -128),
    FUNCTION("LOGISTIC", Logistic, 1.0f / 256, -128),
    FUNCTION("TANH", Tanh, 1.0f / 128, 0),
    FUNCTION("HARD_SWISH", HardSwish, 0.05f, -110),
    {.name = "LEAKY_RELU int8", OP(LeakyRelu), .version = 2, .settings = {SET(LeakyReluOptions, alpha, 0.25)},
     .inputs = {IN_I8(B, 3, 4, C)}, OUT_I8(0.1f, -30), .steps = 1},
    {.name = "SOFTMAX int8", OP(Softmax), .version = 2, .settings = {SET(SoftmaxOptions, beta, 1)}, .inputs = {IN_I8(B, C)},
     OUT_I8(1.0f / 256, -128), .steps = 1},
    {.name = "MEAN int8", OP(Mean), .version = 2, .settings = {SET(ReducerOptions, keep_dims, 1)},
     .inputs = {IN_I8(B, 3, 4, C), INTS(1, 2)}, OUT_I8(0.1f, 2), .steps = 1},
    {.name = "AVERAGE_POOL_2D int8", OP(AveragePool2d), .version = 2,
     .settings = {CONV_OPTIONS(Pool2DOptions, 1, 2, 0), SET(Pool2DOptions, filter_height, 3),
     SET(Pool2DOptions, filter_width, 3)},
     .inputs = {IN_I8(B, 6, 7, C)}, SAME_I8, .steps = 1},
    {.name = "MAX_POOL_2D int8", OP(MaxPool2d), .version = 2,
     .settings = {CONV_OPTIONS(Pool2DOptions, 1, 2, 0), SET(Pool2DOptions, filter_height, 2),
     SET(Pool2DOptions, filter_width, 2)},
     .inputs = {IN_I8(B, 6, 7, C)}, SAME_I8},
    {.name = "RESIZE_BILINEAR int8", OP(ResizeBilinear), .version = 2,
     .settings = {SET(ResizeBilinearOptions, half_pixel_centers, 1)},
     .inputs = {IN_I8(B, 3, 4, C), INTS(7, 8)}, SAME_I8, .steps = 1},

    {.name = "CONCATENATION int8 of channels", OP(Concatenation), .version = 2,
     .settings = {SET(ConcatenationOptions, axis, 3)},
     .inputs = {IN_I8(B, 3, 4, C), IN_I8(B, 3, 4, 3)}, SAME_I8},
    {.name = "PAD int8", OP(Pad), .version = 2, .inputs = {IN_I8(B, 3, 4, C), PAIRS(0, 0, 1, 2, 2, 1, 0, 0)}, SAME_I8},
    {.name = "RESHAPE int8", OP(Reshape), .inputs = {IN_I8(B, 3, 4, C), INTS(B, 12 * C)}, SAME_I8},
    {.name = "TRANSPOSE int8", OP(Transpose), .version = 2, .inputs = {IN_I8(B, 3, 4, C), INTS(0, 3, 1, 2)}, SAME_I8},
    {.name = "STRIDED_SLICE uint8", OP(StridedSlice), .version = 2, .settings = {SET(StridedSliceOptions, begin_mask, 1)},
     .inputs = {IN_U8(B, 7, 9, C), INTS(0, 1, 0, 0), INTS(B, 6, 9, C), INTS(1, 2, 3, 1)}, OUT_U8(0.125f, 120)},
    {.name = "SPACE_TO_DEPTH int8", OP(SpaceToDepth), .version = 2, .settings = {SET(SpaceToDepthOptions, block_size, 2)},
     .inputs = {IN_I8(B, 4, 6, C)}, SAME_I8},
    {.name = "RESIZE_NEAREST_NEIGHBOR int8", OP(ResizeNearestNeighbor), .version = 2,
     .settings = {SET(ResizeNearestNeighborOptions, half_pixel_centers, 1)},
     .inputs = {IN_I8(B, 3, 4, C), INTS(7, 8)}, SAME_I8},
    {0}};

const struct op_family op_family_quantised = {.name = "quantised", .cases = cases};
