// SPDX-License-Identifier: Apache-2.0
// A model of one node for each operator of ops.def, in some shapes and types of inputs, whether the operator takes them or not:
// what fuzzing starts from, and what tests of hostile files change one value of.
#ifndef HALITE_TESTS_SUPPORT_OP_MODELS_H
#define HALITE_TESTS_SUPPORT_OP_MODELS_H

#include <stddef.h>

#include "support/model_file.h"

struct op_model {
    struct model_file file;
    size_t node, tensors[6]; // positions of the tables: inputs, then the output
    int input_count;
    size_t constants
        [5]; // positions of constant inputs' int32 numbers, 0 where an input is no constant
    int constant_counts[5];
    size_t options; // position of the options table, 0: none
    int table;      // its row in the schema
};

// Numbers below op_models_ops(), op_models_shapes(), op_models_types(). A second subgraph hands its input on, for operators
// that call one. The file's bytes are to be freed.
struct op_model op_model_make(int op, int shape, int type);

int op_models_ops(void);
int op_models_shapes(void);
int op_models_types(void);
// Name and code of an operator; code 32 for custom ones.
const char *op_models_op(int op, int *code);
// "CONV_2D_image_int8"
void op_models_name(int op, int shape, int type, char *name, size_t size);

#endif
