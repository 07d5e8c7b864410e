// SPDX-License-Identifier: Apache-2.0
// Models of one node for every operator of operators.def, in shapes that it runs with and in all types, whether it
// takes them or not: what fuzzing starts from, what tests of hostile files change one value of, and where docs/ops.md
// has its types from.
#ifndef HALITE_TESTS_SUPPORT_OP_MODELS_H
#define HALITE_TESTS_SUPPORT_OP_MODELS_H

#include <stdbool.h>
#include <stddef.h>

#include "support/model_file.h"

enum { OP_MODEL_TENSORS = 56, OP_MODEL_NUMBERS = 8 };

// What model: numbers below op_models_ops(), op_models_forms() and op_models_types(). The second type is that of
// weights or of outputs, where the form has one, and -1 elsewhere.
struct op_choice {
    int op, form, type, second;
};

struct op_model {
    struct model_file file;
    size_t node;                        // position of the node's table
    int input_count;                    // of the node
    int inputs[OP_MODEL_TENSORS];       // numbers of the tensors, -1: absent
    int output;                         // number of the first output's tensor, -1: there is none
    int tensor_count;                   // of the subgraph
    size_t tensors[OP_MODEL_TENSORS];   // positions of their tables
    size_t constants[OP_MODEL_TENSORS]; // positions of constants' int32 numbers, 0 where a tensor is none
    int constant_counts[OP_MODEL_TENSORS];
    size_t options; // position of the options table, 0: none
    int table;      // its row in the schema, -1: none
};

// The file's bytes are to be freed.
struct op_model op_model_make(const struct op_choice *choice);
// Goes through the choices there are, {-1} first; all types, or (not all) some of the usual ones. False behind the
// last.
bool op_models_next(struct op_choice *choice, bool all);

int op_models_ops(void);
int op_models_types(void);
// Name and code of an operator; code 32 for custom ones.
const char *op_models_op(int op, int *code);
// Where a form has the operator's first tensor of type T ('T') or of the second one ('W', 'Y'): its place among the
// inputs, and behind them the outputs. -1: nowhere.
int op_models_place(int form, char letter, int input_count);
// Whether models of a form differ by their types.
bool op_models_tries_types(int form);
// Short name of a type ("f32"); types that differ in their quantization alone share it.
const char *op_models_type(int type);
int op_models_type_code(int type); // the schema's number
// "CONV_2D_0_f32_i8": operator, which of its forms, types
void op_models_name(const struct op_choice *choice, char *name, size_t size);

#endif
