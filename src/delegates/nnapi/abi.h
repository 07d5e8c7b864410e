// SPDX-License-Identifier: Apache-2.0
// Types and numbers of the system's neural network library, as its binary interface has them. Their names are the
// system's. The delegate includes this header, and so does the library that stands for the system in tests.
#ifndef HALITE_DELEGATES_NNAPI_ABI_H
#define HALITE_DELEGATES_NNAPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ANeuralNetworksMemory ANeuralNetworksMemory;
typedef struct ANeuralNetworksModel ANeuralNetworksModel;
typedef struct ANeuralNetworksCompilation ANeuralNetworksCompilation;
typedef struct ANeuralNetworksExecution ANeuralNetworksExecution;
typedef struct ANeuralNetworksEvent ANeuralNetworksEvent;
typedef struct ANeuralNetworksBurst ANeuralNetworksBurst;
typedef struct ANeuralNetworksDevice ANeuralNetworksDevice;

typedef struct ANeuralNetworksOperandType {
    int32_t type;
    uint32_t dimensionCount;
    const uint32_t *dimensions; // 0: known only when it runs
    float scale;
    int32_t zeroPoint;
} ANeuralNetworksOperandType;

typedef struct ANeuralNetworksSymmPerChannelQuantParams {
    uint32_t channelDim;
    uint32_t scaleCount;
    const float *scales;
} ANeuralNetworksSymmPerChannelQuantParams;

// X(name, number)
#define NNAPI_RESULTS(X)                 \
    X(NO_ERROR, 0)                       \
    X(OUT_OF_MEMORY, 1)                  \
    X(INCOMPLETE, 2)                     \
    X(UNEXPECTED_NULL, 3)                \
    X(BAD_DATA, 4)                       \
    X(OP_FAILED, 5)                      \
    X(BAD_STATE, 6)                      \
    X(UNMAPPABLE, 7)                     \
    X(OUTPUT_INSUFFICIENT_SIZE, 8)       \
    X(UNAVAILABLE_DEVICE, 9)             \
    X(MISSED_DEADLINE_TRANSIENT, 10)     \
    X(MISSED_DEADLINE_PERSISTENT, 11)    \
    X(RESOURCE_EXHAUSTED_TRANSIENT, 12)  \
    X(RESOURCE_EXHAUSTED_PERSISTENT, 13) \
    X(DEAD_OBJECT, 14)

#define NNAPI_OPERAND_TYPES(X)            \
    X(FLOAT32, 0)                         \
    X(INT32, 1)                           \
    X(UINT32, 2)                          \
    X(TENSOR_FLOAT32, 3)                  \
    X(TENSOR_INT32, 4)                    \
    X(TENSOR_QUANT8_ASYMM, 5)             \
    X(BOOL, 6)                            \
    X(TENSOR_QUANT16_SYMM, 7)             \
    X(TENSOR_FLOAT16, 8)                  \
    X(TENSOR_BOOL8, 9)                    \
    X(FLOAT16, 10)                        \
    X(TENSOR_QUANT8_SYMM_PER_CHANNEL, 11) \
    X(TENSOR_QUANT16_ASYMM, 12)           \
    X(TENSOR_QUANT8_SYMM, 13)             \
    X(TENSOR_QUANT8_ASYMM_SIGNED, 14)

#define NNAPI_PREFERENCES(X) \
    X(LOW_POWER, 0)          \
    X(FAST_SINGLE_ANSWER, 1) \
    X(SUSTAINED_SPEED, 2)

#define NNAPI_PRIORITIES(X) \
    X(LOW, 90)              \
    X(MEDIUM, 100)          \
    X(HIGH, 110)

enum {
#define X(name, number) ANEURALNETWORKS_##name = number,
    NNAPI_RESULTS(X) NNAPI_OPERAND_TYPES(X)
#undef X
#define X(name, number) ANEURALNETWORKS_PREFER_##name = number,
        NNAPI_PREFERENCES(X)
#undef X
#define X(name, number) ANEURALNETWORKS_PRIORITY_##name = number,
            NNAPI_PRIORITIES(X)
#undef X
                ANEURALNETWORKS_PADDING_SAME = 1,
    ANEURALNETWORKS_PADDING_VALID = 2,
    ANEURALNETWORKS_CACHING_TOKEN_BYTES = 32,
    // Values of up to so many bytes are copied by setOperandValue, larger ones must live as long as the model.
    ANEURALNETWORKS_COPIED_VALUE_BYTES = 128,
};

// Feature levels.
enum {
    NNAPI_LEVEL_1 = 27,
    NNAPI_LEVEL_2 = 28,
    NNAPI_LEVEL_3 = 29,
    NNAPI_LEVEL_4 = 30,
    NNAPI_LEVEL_5 = 31,
    NNAPI_LEVEL_6 = 1000006,
    NNAPI_LEVEL_7 = 1000007,
};

// X(name, number): the operations that the delegate sends.
#define NNAPI_OPERATIONS(X)             \
    X(ADD, 0)                           \
    X(AVERAGE_POOL_2D, 1)               \
    X(CONCATENATION, 2)                 \
    X(CONV_2D, 3)                       \
    X(DEPTHWISE_CONV_2D, 4)             \
    X(DEPTH_TO_SPACE, 5)                \
    X(DEQUANTIZE, 6)                    \
    X(EMBEDDING_LOOKUP, 7)              \
    X(FLOOR, 8)                         \
    X(FULLY_CONNECTED, 9)               \
    X(HASHTABLE_LOOKUP, 10)             \
    X(L2_NORMALIZATION, 11)             \
    X(L2_POOL_2D, 12)                   \
    X(LOCAL_RESPONSE_NORMALIZATION, 13) \
    X(LOGISTIC, 14)                     \
    X(LSH_PROJECTION, 15)               \
    X(LSTM, 16)                         \
    X(MAX_POOL_2D, 17)                  \
    X(MUL, 18)                          \
    X(RELU, 19)                         \
    X(RELU1, 20)                        \
    X(RELU6, 21)                        \
    X(RESHAPE, 22)                      \
    X(RESIZE_BILINEAR, 23)              \
    X(RNN, 24)                          \
    X(SOFTMAX, 25)                      \
    X(SPACE_TO_DEPTH, 26)               \
    X(SVDF, 27)                         \
    X(TANH, 28)                         \
    X(BATCH_TO_SPACE_ND, 29)            \
    X(DIV, 30)                          \
    X(MEAN, 31)                         \
    X(PAD, 32)                          \
    X(SPACE_TO_BATCH_ND, 33)            \
    X(SQUEEZE, 34)                      \
    X(STRIDED_SLICE, 35)                \
    X(SUB, 36)                          \
    X(TRANSPOSE, 37)                    \
    X(ABS, 38)                          \
    X(ARGMAX, 39)                       \
    X(ARGMIN, 40)                       \
    X(BIDIRECTIONAL_SEQUENCE_LSTM, 42)  \
    X(CAST, 45)                         \
    X(EQUAL, 48)                        \
    X(EXP, 49)                          \
    X(EXPAND_DIMS, 50)                  \
    X(GATHER, 51)                       \
    X(GREATER, 53)                      \
    X(GREATER_EQUAL, 54)                \
    X(GROUPED_CONV_2D, 55)              \
    X(LESS, 58)                         \
    X(LESS_EQUAL, 59)                   \
    X(LOG, 60)                          \
    X(LOGICAL_AND, 61)                  \
    X(LOGICAL_NOT, 62)                  \
    X(LOGICAL_OR, 63)                   \
    X(LOG_SOFTMAX, 64)                  \
    X(MAXIMUM, 65)                      \
    X(MINIMUM, 66)                      \
    X(NEG, 67)                          \
    X(NOT_EQUAL, 68)                    \
    X(PAD_V2, 69)                       \
    X(POW, 70)                          \
    X(PRELU, 71)                        \
    X(QUANTIZE, 72)                     \
    X(QUANTIZED_16BIT_LSTM, 73)         \
    X(REDUCE_ANY, 76)                   \
    X(REDUCE_MAX, 77)                   \
    X(REDUCE_MIN, 78)                   \
    X(REDUCE_PROD, 79)                  \
    X(REDUCE_SUM, 80)                   \
    X(RSQRT, 83)                        \
    X(SELECT, 84)                       \
    X(SIN, 85)                          \
    X(SLICE, 86)                        \
    X(SPLIT, 87)                        \
    X(SQRT, 88)                         \
    X(TILE, 89)                         \
    X(TOPK_V2, 90)                      \
    X(TRANSPOSE_CONV_2D, 91)            \
    X(UNIDIRECTIONAL_SEQUENCE_LSTM, 92) \
    X(UNIDIRECTIONAL_SEQUENCE_RNN, 93)  \
    X(RESIZE_NEAREST_NEIGHBOR, 94)      \
    X(QUANTIZED_LSTM, 95)               \
    X(ELU, 98)                          \
    X(HARD_SWISH, 99)                   \
    X(FILL, 100)                        \
    X(BATCH_MATMUL, 102)                \
    X(PACK, 103)                        \
    X(MIRROR_PAD, 104)                  \
    X(REVERSE, 105)

enum {
#define X(name, number) NNAPI_##name = number,
    NNAPI_OPERATIONS(X)
#undef X
};

#endif
