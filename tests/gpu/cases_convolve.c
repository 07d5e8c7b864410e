// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: sums of products: convolutions, matrix products. Shapes are such that each choice of blocks,
// tiles and transforms is met: few positions and many channels, many positions and few, sums that end inside a tile.
#include "gpu/op_case.h"

#define CONV_OPTIONS(options_, same_, stride_h_, stride_w_, dilation_h_, dilation_w_, activation_)            \
    SET(options_, padding, !(same_)), SET(options_, stride_h, stride_h_), SET(options_, stride_w, stride_w_), \
        SET(options_, dilation_h_factor, dilation_h_), SET(options_, dilation_w_factor, dilation_w_),         \
        SET(options_, fused_activation_function, activation_)
#define CONV(name_, same_, stride_h_, stride_w_, dilation_h_, dilation_w_, activation_, ...)                           \
    {                                                                                                                  \
        .name = "CONV_2D " name_, OP(Conv2d),                                                                          \
        .settings = {CONV_OPTIONS(Conv2DOptions, same_, stride_h_, stride_w_, dilation_h_, dilation_w_, activation_)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                                                 \
    }
#define WIDE_CONV(name_, same_, activation_, ...)                                                           \
    {                                                                                                       \
        .name = "CONV_2D " name_, OP(Conv2d),                                                               \
        .settings = {CONV_OPTIONS(Conv2DOptions, same_, 1, 1, 1, 1, activation_)}, .inputs = {__VA_ARGS__}, \
        .tolerance = GPU_WINOGRAD                                                                           \
    }
#define PADDED_CONV(name_, top_, left_, stride_, ...)                                                                  \
    {                                                                                                                  \
        .name = "CONV_2D " name_, OP(Conv2d), .settings = {CONV_OPTIONS(Conv2DOptions, 0, stride_, stride_, 1, 1, 1)}, \
        .inputs = {__VA_ARGS__}, .pad = {top_, 1, left_, 1}, .tolerance = GPU_SUMS                                     \
    }
#define DEPTHWISE(name_, times_, same_, stride_h_, stride_w_, dilation_h_, dilation_w_, activation_, ...)        \
    {                                                                                                            \
        .name = "DEPTHWISE_CONV_2D " name_, OP(DepthwiseConv2d),                                                 \
        .settings = {CONV_OPTIONS(DepthwiseConv2DOptions, same_, stride_h_, stride_w_, dilation_h_, dilation_w_, \
                                  activation_),                                                                  \
                     SET(DepthwiseConv2DOptions, depth_multiplier, times_)},                                     \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                                           \
    }
#define TRANSPOSED(name_, same_, stride_h_, stride_w_, ...)                                                        \
    {                                                                                                              \
        .name = "TRANSPOSE_CONV " name_, OP(TransposeConv), .version = 3,                                          \
        .settings = {SET(TransposeConvOptions, padding, !(same_)), SET(TransposeConvOptions, stride_h, stride_h_), \
                     SET(TransposeConvOptions, stride_w, stride_w_)},                                              \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                                             \
    }
#define CONNECTED(name_, keep_, activation_, ...)                                         \
    {                                                                                     \
        .name = "FULLY_CONNECTED " name_, OP(FullyConnected),                             \
        .settings = {SET(FullyConnectedOptions, keep_num_dims, keep_),                    \
                     SET(FullyConnectedOptions, fused_activation_function, activation_)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                    \
    }
#define MATMUL(name_, adj_x_, adj_y_, ...)                                                            \
    {                                                                                                 \
        .name = "BATCH_MATMUL " name_, OP(BatchMatmul),                                               \
        .settings = {SET(BatchMatMulOptions, adj_x, adj_x_), SET(BatchMatMulOptions, adj_y, adj_y_)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_SUMS                                                \
    }
#define FRONT(suffix_, ...) .front = {kTfLiteBuiltin##suffix_, __VA_ARGS__}
#define TAIL(suffix_, ...) .tail = {kTfLiteBuiltin##suffix_, __VA_ARGS__}
#define WEIGHTS(...) CONST_OF(SMALL, __VA_ARGS__)
#define COMING(...) IN_OF(SMALL, __VA_ARGS__)

static const struct op_case cases[] = {
    CONV("1x1", 1, 1, 1, 1, 1, 1, IN(B, 5, 7, C), WEIGHTS(21, 1, 1, C), CONST(21)),
    CONV("1x1 of many channels", 1, 1, 1, 1, 1, 0, IN(B, 7, 7, 10 * C), WEIGHTS(33, 1, 1, 10 * C), CONST(33)),
    CONV("1x1 of 1 position", 1, 1, 1, 1, 1, 3, IN(B, 1, 1, 16 * C), WEIGHTS(101, 1, 1, 16 * C), CONST(101)),
    CONV("1x1 with strides", 1, 2, 2, 1, 1, 1, IN(B, 9, 9, C), WEIGHTS(12, 1, 1, C), CONST(12)),
    CONV("1x1 of full tiles", 1, 1, 1, 1, 1, 1, IN(1, 14, 14, 64), WEIGHTS(96, 1, 1, 64), CONST(96)),
    CONV("1x1 of one channel", 1, 1, 1, 1, 1, 0, IN(1, 1, 1, 1), WEIGHTS(1, 1, 1, 1), CONST(1)),
    CONV("3x3 with strides", 1, 2, 2, 1, 1, 3, IN(B, 33, 31, C), WEIGHTS(32, 3, 3, C), CONST(32)),
    CONV("3x3", 1, 1, 1, 1, 1, 1, IN(B, 12, 13, C), WEIGHTS(16, 3, 3, C), CONST(16)),
    CONV("3x3 of many channels", 1, 1, 1, 1, 1, 0, IN(1, 7, 7, 67), WEIGHTS(40, 3, 3, 67), CONST(40)),
    WIDE_CONV("3x3 of a large image", 1, 1, IN(1, 30, 29, 64), WEIGHTS(64, 3, 3, 64), CONST(64)),
    WIDE_CONV("3x3 of a larger image", 1, 3, IN(B, 62, 61, 66), WEIGHTS(67, 3, 3, 66), CONST(67)),
    WIDE_CONV("3x3 without padding of a larger image", 0, 0, IN(1, 62, 60, 64), WEIGHTS(64, 3, 3, 64), CONST(64)),
    CONV("3x3 without padding", 0, 1, 1, 1, 1, 0, IN(B, 11, 10, C), WEIGHTS(9, 3, 3, C), CONST(9)),
    CONV("2x5 with strides", 0, 2, 1, 1, 1, 1, IN(B, 8, 9, C), WEIGHTS(6, 2, 5, C), CONST(6)),
    CONV("3x3 dilated", 1, 1, 1, 3, 2, 1, IN(B, 16, 15, C), WEIGHTS(9, 3, 3, C), CONST(9)),
    CONV("4x4 to one position", 0, 1, 1, 1, 1, 0, IN(B, 4, 4, 4 * C), WEIGHTS(10, 4, 4, 4 * C), CONST(10)),
    CONV("of 2 groups", 1, 1, 1, 1, 1, 1, IN(B, 6, 7, 2 * C), WEIGHTS(24, 3, 3, C), CONST(24)),
    CONV("1x1 of 3 groups", 1, 1, 1, 1, 1, 0, IN(B, 6, 7, 3 * C), WEIGHTS(18, 1, 1, C), CONST(18)),
    CONV("of full groups", 1, 1, 1, 1, 1, 0, IN(1, 6, 7, 32), WEIGHTS(48, 3, 3, 8), CONST(48)),
    CONV("of groups of many slices", 1, 1, 1, 1, 1, 1, IN(B, 9, 8, 48), WEIGHTS(64, 3, 3, 24), CONST(64)),
    CONV("of as many groups as channels", 1, 1, 1, 1, 1, 0, IN(B, 5, 5, C), WEIGHTS(2 * C, 3, 3, 1), CONST(2 * C)),
    PADDED_CONV("behind PAD", 1, 2, 2, IN(B, 10, 10, C), WEIGHTS(8, 3, 3, C), CONST(8)),
    PADDED_CONV("behind PAD, without strides", 2, 1, 1, IN(B, 9, 10, 4 * C), WEIGHTS(16, 3, 3, 4 * C), CONST(16)),

    DEPTHWISE("3x3", 1, 1, 1, 1, 1, 1, 1, IN(B, 7, 9, C), WEIGHTS(1, 3, 3, C), CONST(C)),
    DEPTHWISE("3x3 without bias", 1, 1, 1, 1, 1, 1, 0, IN(B, 7, 7, 11 * C), WEIGHTS(1, 3, 3, 11 * C)),
    DEPTHWISE("3x3 of a large image", 1, 1, 1, 1, 1, 1, 3, IN(1, 112, 112, 32), WEIGHTS(1, 3, 3, 32), CONST(32)),
    DEPTHWISE("3x3 with strides", 1, 1, 2, 2, 1, 1, 3, IN(B, 15, 14, C), WEIGHTS(1, 3, 3, C), CONST(C)),
    DEPTHWISE("3x3 with strides of a large image", 1, 1, 2, 2, 1, 1, 3, IN(1, 113, 111, 24), WEIGHTS(1, 3, 3, 24),
              CONST(24)),
    DEPTHWISE("5x5", 1, 1, 1, 1, 1, 1, 1, IN(B, 9, 11, C), WEIGHTS(1, 5, 5, C), CONST(C)),
    DEPTHWISE("3x5 with strides", 1, 0, 1, 2, 1, 1, 1, IN(B, 9, 11, C), WEIGHTS(1, 3, 5, C), CONST(C)),
    DEPTHWISE("3x3 dilated", 1, 1, 1, 1, 2, 2, 1, IN(B, 12, 12, C), WEIGHTS(1, 3, 3, C), CONST(C)),
    DEPTHWISE("7x7", 1, 1, 1, 1, 1, 1, 1, IN(B, 12, 12, C), WEIGHTS(1, 7, 7, C), CONST(C)),
    DEPTHWISE("of one channel to 8", 8, 1, 1, 1, 1, 1, 1, IN(B, 6, 6, 1), WEIGHTS(1, 3, 3, 8), CONST(8)),
    DEPTHWISE("to three times the channels", 3, 1, 2, 2, 1, 1, 1, IN(B, 6, 6, C), WEIGHTS(1, 3, 3, 3 * C),
              CONST(3 * C)),
    {.name = "DEPTHWISE_CONV_2D behind PAD",
     OP(DepthwiseConv2d),
     .settings = {CONV_OPTIONS(DepthwiseConv2DOptions, 0, 2, 2, 1, 1, 3),
                  SET(DepthwiseConv2DOptions, depth_multiplier, 1)},
     .inputs = {IN(B, 9, 11, C), WEIGHTS(1, 3, 3, C), CONST(C)},
     .pad = {0, 1, 0, 1},
     .tolerance = GPU_SUMS},
    DEPTHWISE("of one position", 1, 1, 1, 1, 1, 1, 1, IN(B, 1, 1, C), WEIGHTS(1, 3, 3, C), CONST(C)),

    TRANSPOSED("3x3", 1, 2, 2, INTS(B, 10, 12, 12), WEIGHTS(12, 3, 3, C), IN(B, 5, 6, C), CONST(12)),
    TRANSPOSED("4x4", 1, 2, 2, INTS(B, 10, 12, C), WEIGHTS(C, 4, 4, 7), IN(B, 5, 6, 7), CONST(C)),
    TRANSPOSED("2x2 without bias", 0, 2, 2, INTS(B, 8, 10, 3), WEIGHTS(3, 2, 2, 2 * C), IN(B, 4, 5, 2 * C)),
    TRANSPOSED("3x2 with strides of 1 and 3", 0, 1, 3, INTS(B, 6, 14, 9), WEIGHTS(9, 3, 2, C), IN(B, 4, 5, C),
               CONST(9)),
    TRANSPOSED("1x1 with gaps", 1, 2, 3, INTS(B, 8, 14, 4), WEIGHTS(4, 1, 1, C), IN(B, 4, 5, C), CONST(4)),
    TRANSPOSED("5x5 with strides of 3 and 2", 1, 3, 2, INTS(B, 11, 9, 4), WEIGHTS(4, 5, 5, C), IN(B, 4, 5, C),
               CONST(4)),
    TRANSPOSED("3x3 without strides", 1, 1, 1, INTS(B, 7, 7, 4), WEIGHTS(4, 3, 3, C), IN(B, 7, 7, C), CONST(4)),

    CONNECTED("", 0, 1, IN(B, 11 * C), WEIGHTS(7, 11 * C), CONST(7)),
    CONNECTED("of a long row", 0, 0, IN(1, 1024), WEIGHTS(1001, 1024), CONST(1001)),
    CONNECTED("of an image", 0, 3, IN(B, 3, 4, C), WEIGHTS(10, 12 * C), CONST(10)),
    CONNECTED("of every position", 1, 1, IN(B, 3, 4, C), WEIGHTS(10, C), CONST(10)),
    CONNECTED("of every position, as rows", 0, 0, IN(B, 3, 4, C), WEIGHTS(10, C)),
    CONNECTED("of rank 3", 1, 0, IN(B, 5, C), WEIGHTS(10, C), CONST(10)),
    CONNECTED("of one number", 0, 0, IN(1, 1), WEIGHTS(1, 1), CONST(1)),

    MATMUL("", 0, 0, IN(B, 3, 9, C), IN_OF(SMALL, B, 3, C, 6)),
    MATMUL("adj_x", 1, 0, IN(B, 3, C, 9), IN_OF(SMALL, B, 3, C, 6)),
    MATMUL("adj_y", 0, 1, IN(B, 3, 9, C), IN_OF(SMALL, B, 3, 6, C)),
    MATMUL("adj_x and adj_y", 1, 1, IN(B, 3, C, 9), IN_OF(SMALL, B, 3, 6, C)),
    MATMUL("that stretches", 0, 0, IN(B, 3, 5, C), IN_OF(SMALL, 1, 1, C, 5)),
    MATMUL("of rank 3", 0, 0, IN(B, 6, C), IN_OF(SMALL, B, C, 13)),
    MATMUL("of rank 2", 0, 0, IN(6, C), IN_OF(SMALL, C, 7)),
    MATMUL("by a constant", 0, 0, IN(B, 6, C), WEIGHTS(C, 13)),
    MATMUL("by a constant, adj_y", 0, 1, IN(B, 6, C), WEIGHTS(13, C)),
    MATMUL("of more batches than work-groups", 0, 0, IN(300, 300, 1, 2), IN_OF(SMALL, 300, 300, 2, 1)),

    // Weights and biases that come while running.
    CONV("by weights of the model's input", 1, 1, 1, 1, 1, 1, IN(B, 6, 7, C), COMING(9, 3, 3, C), CONST(9)),
    CONV("by weights and bias of the model's input", 0, 2, 1, 1, 2, 3, IN(B, 9, 8, C), COMING(21, 2, 3, C), IN(21)),
    CONV("by constants and a bias of the model's input", 1, 1, 1, 1, 1, 0, IN(B, 5, 5, C), WEIGHTS(6, 1, 1, C), IN(6)),
    CONV("1x1 by weights of the model's input", 1, 1, 1, 1, 1, 0, IN(1, 14, 14, 64), COMING(96, 1, 1, 64), IN(96)),
    CONV("3x3 of a large image by weights of the model's input", 1, 1, 1, 1, 1, 1, IN(1, 30, 29, 64),
         COMING(64, 3, 3, 64), CONST(64)),
    PADDED_CONV("behind PAD by weights of the model's input", 1, 2, 1, IN(B, 9, 10, C), COMING(8, 3, 3, C), CONST(8)),
    DEPTHWISE("3x3 by weights of the model's input", 1, 1, 1, 1, 1, 1, 1, IN(B, 7, 9, C), COMING(1, 3, 3, C), CONST(C)),
    DEPTHWISE("7x5 by weights and bias of the model's input", 1, 0, 1, 2, 1, 1, 0, IN(B, 9, 11, C), COMING(1, 7, 5, C),
              IN(C)),
    DEPTHWISE("by weights of the model's input to twice the channels", 2, 1, 2, 2, 1, 1, 1, IN(B, 6, 6, C),
              COMING(1, 3, 3, 2 * C)),
    TRANSPOSED("by weights of the model's input", 1, 2, 2, INTS(B, 10, 12, 5), COMING(5, 3, 3, C), IN(B, 5, 6, C),
               CONST(5)),
    TRANSPOSED("by weights and bias of the model's input", 0, 1, 3, INTS(B, 6, 14, 9), COMING(9, 3, 2, C),
               IN(B, 4, 5, C), IN(9)),
    TRANSPOSED("1x1 with gaps by weights of the model's input", 1, 2, 3, INTS(B, 8, 14, 4), COMING(4, 1, 1, C),
               IN(B, 4, 5, C), IN(4)),
    CONNECTED("by weights of the model's input", 0, 1, IN(B, 11 * C), COMING(7, 11 * C), CONST(7)),
    CONNECTED("of a long row by weights and bias of the model's input", 0, 0, IN(1, 1024), COMING(1001, 1024),
              IN(1001)),
    CONNECTED("of an image by weights of the model's input", 0, 3, IN(B, 3, 4, C), COMING(10, 12 * C)),
    CONNECTED("of every position by weights of the model's input", 1, 1, IN(B, 3, 4, C), COMING(10, C), CONST(10)),
    CONNECTED("by constants and a bias of the model's input", 0, 0, IN(B, 3, 4, C), WEIGHTS(10, C), IN(10)),

    // Constants in front and behind, which go into the weights.
    {.name = "CONV_2D between MUL and ADD",
     OP(Conv2d),
     .settings = {CONV_OPTIONS(Conv2DOptions, 1, 1, 1, 1, 1, 0)},
     .inputs = {IN(B, 6, 7, C), WEIGHTS(9, 3, 3, C), CONST(9)},
     FRONT(Mul, CONST_OF(SMALL, C)),
     TAIL(Add, CONST(9)),
     .tolerance = GPU_SUMS},
    {.name = "CONV_2D of groups between DIV and MUL",
     OP(Conv2d),
     .settings = {CONV_OPTIONS(Conv2DOptions, 0, 2, 1, 1, 1, 0)},
     .inputs = {IN(B, 7, 7, 2 * C), WEIGHTS(10, 3, 3, C), CONST(10)},
     FRONT(Div, CONST_OF(DIVISORS, 2 * C)),
     TAIL(Mul, CONST_OF(SMALL, 10)),
     .tolerance = GPU_SUMS},
    {.name = "CONV_2D behind ADD",
     OP(Conv2d),
     .settings = {CONV_OPTIONS(Conv2DOptions, 1, 1, 1, 1, 1, 0)},
     .inputs = {IN(B, 6, 7, C), WEIGHTS(9, 3, 3, C), CONST(9)},
     FRONT(Add, CONST(C)),
     .tolerance = GPU_SUMS},
    {.name = "DEPTHWISE_CONV_2D between MUL and DIV",
     OP(DepthwiseConv2d),
     .settings = {CONV_OPTIONS(DepthwiseConv2DOptions, 0, 1, 1, 2, 1, 0),
                  SET(DepthwiseConv2DOptions, depth_multiplier, 2)},
     .inputs = {IN(B, 9, 7, C), WEIGHTS(1, 3, 3, 2 * C), CONST(2 * C)},
     FRONT(Mul, CONST_OF(SMALL, C)),
     TAIL(Div, CONST_OF(DIVISORS, 2 * C)),
     .tolerance = GPU_SUMS},
    {.name = "TRANSPOSE_CONV between MUL and SUB",
     OP(TransposeConv),
     .version = 1,
     .settings = {SET(TransposeConvOptions, padding, 0), SET(TransposeConvOptions, stride_h, 2),
                  SET(TransposeConvOptions, stride_w, 2)},
     .inputs = {INTS(B, 10, 12, 5), WEIGHTS(5, 3, 3, C), IN(B, 5, 6, C)},
     FRONT(Mul, CONST_OF(SMALL, C)),
     TAIL(Sub, CONST(5)),
     .tolerance = GPU_SUMS},
    {.name = "FULLY_CONNECTED of an image between MUL and MUL",
     OP(FullyConnected),
     .settings = {SET(FullyConnectedOptions, fused_activation_function, 0)},
     .inputs = {IN(B, 3, 4, C), WEIGHTS(10, 12 * C)},
     FRONT(Mul, CONST_OF(SMALL, C)),
     TAIL(Mul, CONST_OF(SMALL, 10)),
     .tolerance = GPU_SUMS},
    {.name = "FULLY_CONNECTED of half the channels at a time, behind MUL",
     OP(FullyConnected),
     .settings = {SET(FullyConnectedOptions, fused_activation_function, 0)},
     .inputs = {IN(B, 2 * C), WEIGHTS(10, C)},
     FRONT(Mul, CONST_OF(SMALL, 2 * C)),
     .tolerance = GPU_SUMS},
    {.name = "FULLY_CONNECTED between two numbers",
     OP(FullyConnected),
     .settings = {SET(FullyConnectedOptions, fused_activation_function, 0)},
     .inputs = {IN(B, 5 * C), WEIGHTS(10, 5 * C), CONST(10)},
     FRONT(Div, CONST_OF(DIVISORS, 1)),
     TAIL(Add, CONST(1)),
     .tolerance = GPU_SUMS},
    {0}};

const struct op_family op_family_convolve = {.name = "convolve", .cases = cases, .by_device = true};
