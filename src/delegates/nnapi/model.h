// SPDX-License-Identifier: Apache-2.0
// A partition as NNAPI's model. In: nodes of the runtime, one after the other, each turned into operations by the
// mapping of its operator (op.h). Out: a finished model, and which tensors are its inputs and outputs. A mapping builds
// an operation operand by operand; where a call fails, or memory is out, the model fails as a whole and says so once,
// so that a mapping need not ask after each call.
#ifndef HALITE_DELEGATES_NNAPI_MODEL_H
#define HALITE_DELEGATES_NNAPI_MODEL_H

#include "delegates/nnapi/nnapi.h"

enum { NNAPI_MAX_OPERANDS = 64 }; // of one operation
enum { NNAPI_MAX_INTS = 32 };     // of a list that nnapi_check_ints lets through

struct nnapi_block;

// A variable of the runtime that an operation reads and, by an output of its own, writes anew.
struct nnapi_state {
    int tensor;
    uint32_t operand; // of the output
};

struct nnapi_model {
    struct nnapi_delegate *delegate;
    TfLiteContext *context;
    ANeuralNetworksModel *handle;
    uint32_t operand_count;
    int *operand_of; // by tensor; -1: not there yet
    size_t tensor_count;
    int *inputs, *outputs; // tensors; outputs without those that are constants, then the states
    int input_count, output_count;
    struct nnapi_state *states;
    int state_count, state_room;
    struct nnapi_block *blocks; // what NNAPI reads until the model is freed
    int *node_of;               // by operation: the position in the partition of the node that made it
    int operation_count, operation_room;
    int position;                                              // of the node that is being mapped
    uint32_t from[NNAPI_MAX_OPERANDS], to[NNAPI_MAX_OPERANDS]; // operands of the operation that is being built
    uint32_t from_count, to_count;
    bool failed;
};

// Builds and finishes the model of these nodes. False after a message; nnapi_model_free is right in both cases.
bool nnapi_model_build(struct nnapi_model *model, struct nnapi_delegate *delegate, TfLiteContext *context,
                       const struct delegate_piece *piece);
void nnapi_model_free(struct nnapi_model *model);

// ---- for mappings: the operation that is being built

// A tensor of the runtime as next input.
void nnapi_add_tensor(struct nnapi_model *model, int tensor);
void nnapi_add_i32(struct nnapi_model *model, int32_t value);
void nnapi_add_f32(struct nnapi_model *model, float value);
void nnapi_add_bool(struct nnapi_model *model, bool value);
void nnapi_add_ints(struct nnapi_model *model, const int32_t *values, uint32_t count);
// A constant tensor of integers as a list of int32. axes: 0, or a rank, where the numbers are axes that count from the
// end where they are negative.
void nnapi_add_list(struct nnapi_model *model, const TfLiteTensor *tensor, int axes);
// The same for a tensor of pairs, of shape [n, 2].
void nnapi_add_pairs(struct nnapi_model *model, const TfLiteTensor *tensor);
void nnapi_add_operand(struct nnapi_model *model, uint32_t operand);
void nnapi_set_output(struct nnapi_model *model, int tensor);
void nnapi_set_output_operand(struct nnapi_model *model, uint32_t operand);
// An input that is left out, of the element type that it would have.
void nnapi_add_absent(struct nnapi_model *model, int32_t type);
// The next output replaces the value of this tensor, a variable that the operation has read.
void nnapi_set_state(struct nnapi_model *model, int tensor);
// Ends the operation and starts the next one.
void nnapi_end(struct nnapi_model *model, int operation);

// ---- for mappings: operands of their own

struct nnapi_type {
    int32_t type;
    uint32_t rank, dims[8];
    float scale;
    int32_t zero_point;
};
// The type that a tensor has in the model.
struct nnapi_type nnapi_type_of(struct nnapi_model *model, int tensor);
// A new operand without a value. 0 after a failure.
uint32_t nnapi_new_operand(struct nnapi_model *model, const struct nnapi_type *type);
// A new constant. bytes are copied.
uint32_t nnapi_new_constant(struct nnapi_model *model, const struct nnapi_type *type, const void *bytes, size_t size);
// The operand of a tensor, made where it is not there yet.
uint32_t nnapi_operand_of(struct nnapi_model *model, int tensor);
// A tensor with weights: as nnapi_add_tensor, but where floats meet 8-bit weights these are dequantized first.
void nnapi_add_weights(struct nnapi_model *model, int tensor, bool floats);
// A constant of int8 whose zero point is 0, as NNAPI's symmetric kind.
void nnapi_add_symmetric(struct nnapi_model *model, int tensor);
// Memory that lives as long as the model; NULL after a failure.
void *nnapi_model_memory(struct nnapi_model *model, size_t size);

#endif
