// SPDX-License-Identifier: Apache-2.0
// An interpreter of Halite that computes a model of the fake, while it is being built. Each operand of the model is a
// tensor of the same number, scalars are constants of rank 0; translate.c adds nodes and, where an operator wants them,
// constants of its own.
#ifndef HALITE_TESTS_FAKES_NEURALNETWORKS_BUILD_H
#define HALITE_TESTS_FAKES_NEURALNETWORKS_BUILD_H

#include "fake.h"
#include "halite/halite.h"

struct fake_block;

struct fake_program {
    TfLiteInterpreter *interpreter;
    struct fake_block *blocks; // constants that are none of the model's
    // By operand: the tensor that has its value. It is that of the same number, except for a new state: that is the
    // variable which had the old one.
    int *tensor_of;
    // uint8 tensors are int8 here, 128 lower, because a model has them beside weights with scales by channel: Halite's
    // kernels know such weights with int8 alone.
    bool lowers;
};
// Whether the interpreter's bytes of this operand are 128 lower.
bool fake_is_lower(const struct fake_program *program, const struct fake_operand *operand);

struct build {
    const ANeuralNetworksModel *model;
    struct fake_program *program;
    const struct fake_operation *operation; // that is being translated
    bool failed;
};

// Adds the nodes that compute an operation. False: there is no translation.
bool fake_translate(struct build *build);
// The same for layers with a state.
bool fake_translate_recurrent(struct build *build);

// ---- for translate.c: operands of the operation

static inline const struct fake_operand *fake_input(const struct build *build, uint32_t index)
{
    return &build->model->operands[build->operation->inputs[index]];
}
static inline int fake_in(const struct build *build, uint32_t index)
{
    return (int)build->operation->inputs[index];
}
static inline int fake_out(const struct build *build, uint32_t index)
{
    return (int)build->operation->outputs[index];
}
// Values of scalars; 0 where the operation does not have so many operands, or no scalar there.
int32_t fake_int(const struct build *build, uint32_t index);
float fake_float(const struct build *build, uint32_t index);
bool fake_bool(const struct build *build, uint32_t index);

// A constant of int32 of rank 1.
int fake_ints(struct build *build, const int32_t *values, int count);
// The same of pairs, of shape [count, 2].
int fake_pairs(struct build *build, const int32_t *values, int count);
// A constant of one byte, with the type and scale of this operand.
int fake_byte(struct build *build, int like, uint8_t value);
// A tensor without a value, of which nodes read the scale.
int fake_scaled(struct build *build, TfLiteType type, float scale, int zero_point);
// The input with this index, or -1 where it is left out.
int fake_optional(const struct build *build, uint32_t index);
// Makes the tensor of an input of the model a variable. This output of the operation, if it has so many, reads it.
void fake_state(struct build *build, uint32_t input, uint32_t output);
// The type that an operand's tensor has.
TfLiteType fake_type(const struct build *build, int operand);
// Adds a node; params is copied.
void fake_node(struct build *build, int builtin, const void *params, size_t params_size, const int *inputs,
               int input_count, const int *outputs, int output_count);
// The same with tensors between its parts.
void fake_node_with(struct build *build, int builtin, const void *params, size_t params_size, const int *inputs,
                    int input_count, const int *outputs, int output_count, const int *intermediates,
                    int intermediate_count);

#endif
