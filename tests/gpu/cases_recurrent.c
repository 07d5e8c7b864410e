// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: layers with states, which last from one invocation to the next: every optional part by itself,
// and all of them together.
#include "gpu/op_case.h"

enum { TANH = 4, RELU = 1 }; // activations in the schema
#define CONSTANTS(...)                                                                        \
    CONST_OF(SMALL, __VA_ARGS__), CONST_OF(SMALL, __VA_ARGS__), CONST_OF(SMALL, __VA_ARGS__), \
        CONST_OF(SMALL, __VA_ARGS__)
#define NO_INPUT_GATE(...) \
    ABSENT, CONST_OF(SMALL, __VA_ARGS__), CONST_OF(SMALL, __VA_ARGS__), CONST_OF(SMALL, __VA_ARGS__)
#define NONE_OF_3 ABSENT, ABSENT, ABSENT
#define PEEPHOLES CONST_OF(SMALL, C), CONST_OF(SMALL, C), CONST_OF(SMALL, C)
#define PROJECTION(outputs_) CONST_OF(SMALL, outputs_, C), CONST_OF(SMALL, outputs_)
#define NO_PROJECTION ABSENT, ABSENT
#define STATES(outputs_) VARIABLE(B, outputs_), VARIABLE(B, C)
#define LAYER(name_, ...)                                                                                 \
    {                                                                                                     \
        .name = "LSTM " name_, OP(Lstm), .settings = {SET(LSTMOptions, fused_activation_function, TANH)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_RECURS                                                  \
    }
#define SEQUENCE(name_, activation_, ...)                                                             \
    {                                                                                                 \
        .name = "UNIDIRECTIONAL_SEQUENCE_LSTM " name_, OP(UnidirectionalSequenceLstm), .version = 4,  \
        .settings = {SET(UnidirectionalSequenceLSTMOptions, fused_activation_function, activation_)}, \
        .inputs = {__VA_ARGS__}, .tolerance = GPU_RECURS                                              \
    }

static const struct op_case cases[] = {
    {.name = "LSTM basic",
     OP(Lstm),
     .version = 2,
     .settings = {SET(LSTMOptions, fused_activation_function, TANH), SET(LSTMOptions, kernel_type, 1)},
     .inputs = {IN_OF(SMALL, B, 7), VARIABLE(B, C), CONST_OF(SMALL, 4 * C, C + 7), CONST_OF(SMALL, 4 * C),
                VARIABLE(B, C)},
     .output_count = 4,
     .tolerance = GPU_RECURS},
    {.name = "LSTM basic, given its states",
     OP(Lstm),
     .version = 2,
     .settings = {SET(LSTMOptions, fused_activation_function, TANH), SET(LSTMOptions, kernel_type, 1)},
     .inputs = {IN_OF(SMALL, B, 7), IN_OF(SMALL, B, C), CONST_OF(SMALL, 4 * C, C + 7), CONST_OF(SMALL, 4 * C),
                IN_OF(SMALL, B, C)},
     .output_count = 4,
     .tolerance = GPU_RECURS},
    LAYER("plain", IN_OF(SMALL, B, 7), CONSTANTS(C, 7), CONSTANTS(C, C), NONE_OF_3, CONSTANTS(C), NO_PROJECTION,
          STATES(C)),
    {.name = "LSTM with all",
     OP(Lstm),
     .settings = {SET(LSTMOptions, fused_activation_function, TANH), SET(LSTMOptions, cell_clip, 0.25),
                  SET(LSTMOptions, proj_clip, 0.125)},
     .inputs = {IN_OF(SMALL, B, 7), NO_INPUT_GATE(C, 7), NO_INPUT_GATE(C, 6), ABSENT, CONST_OF(SMALL, C),
                CONST_OF(SMALL, C), NO_INPUT_GATE(C), PROJECTION(6), STATES(6), NO_INPUT_GATE(C)},
     .tolerance = GPU_RECURS},
    SEQUENCE("plain", TANH, IN_OF(SMALL, B, 3, 7), CONSTANTS(C, 7), CONSTANTS(C, C), NONE_OF_3, CONSTANTS(C),
             NO_PROJECTION, STATES(C)),
    // More slices of cells than a work-group has work-items; few outputs, because rounding grows with what is fed back.
    {.name = "UNIDIRECTIONAL_SEQUENCE_LSTM wide",
     OP(UnidirectionalSequenceLstm),
     .version = 4,
     .settings = {SET(UnidirectionalSequenceLSTMOptions, fused_activation_function, TANH),
                  SET(UnidirectionalSequenceLSTMOptions, proj_clip, 0.25)},
     .inputs = {IN_OF(SMALL, 1, 2, 5), CONSTANTS(299, 5), CONSTANTS(299, 6), NONE_OF_3, CONSTANTS(299),
                CONST_OF(SMALL, 6, 299), CONST_OF(SMALL, 6), VARIABLE(1, 6), VARIABLE(1, 299), CONSTANTS(299)},
     .tolerance = GPU_RECURS},
    SEQUENCE("without input gate", RELU, IN_OF(SMALL, B, 3, 7), NO_INPUT_GATE(C, 7), NO_INPUT_GATE(C, C), NONE_OF_3,
             NO_INPUT_GATE(C), NO_PROJECTION, STATES(C)),
    SEQUENCE("with peepholes", TANH, IN_OF(SMALL, B, 3, 7), CONSTANTS(C, 7), CONSTANTS(C, C), PEEPHOLES, CONSTANTS(C),
             NO_PROJECTION, STATES(C)),
    SEQUENCE("with a projection", TANH, IN_OF(SMALL, B, 3, 7), CONSTANTS(C, 7), CONSTANTS(C, 6), NONE_OF_3,
             CONSTANTS(C), PROJECTION(6), STATES(6)),
    SEQUENCE("with norms", TANH, IN_OF(SMALL, B, 3, 7), CONSTANTS(C, 7), CONSTANTS(C, C), NONE_OF_3, CONSTANTS(C),
             NO_PROJECTION, STATES(C), CONSTANTS(C)),
    {.name = "UNIDIRECTIONAL_SEQUENCE_LSTM with diagonals",
     OP(UnidirectionalSequenceLstm),
     .version = 4,
     .settings = {SET(UnidirectionalSequenceLSTMOptions, fused_activation_function, TANH),
                  SET(UnidirectionalSequenceLSTMOptions, diagonal_recurrent_tensors, 1)},
     .inputs = {IN_OF(SMALL, B, 3, 7), CONSTANTS(C, 7), CONSTANTS(C), NONE_OF_3, CONSTANTS(C), NO_PROJECTION,
                STATES(C)},
     .tolerance = GPU_RECURS},
    {.name = "UNIDIRECTIONAL_SEQUENCE_LSTM with all, time first",
     OP(UnidirectionalSequenceLstm),
     .version = 4,
     .settings = {SET(UnidirectionalSequenceLSTMOptions, fused_activation_function, TANH),
                  SET(UnidirectionalSequenceLSTMOptions, cell_clip, 0.25),
                  SET(UnidirectionalSequenceLSTMOptions, proj_clip, 0.125),
                  SET(UnidirectionalSequenceLSTMOptions, time_major, 1)},
     .inputs = {IN_OF(SMALL, 3, B, 7), CONSTANTS(C, 7), CONSTANTS(C, 6), PEEPHOLES, CONSTANTS(C), PROJECTION(6),
                STATES(6), CONSTANTS(C)},
     .tolerance = GPU_RECURS},
    {0}};

const struct op_family op_family_recurrent = {.name = "recurrent", .cases = cases, .repeats = 2};
