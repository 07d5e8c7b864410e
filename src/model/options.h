// SPDX-License-Identifier: Apache-2.0
// Options of builtin operators: from the tables of the file to the parameter structs that kernels
// and delegates read.
#ifndef HALITE_MODEL_OPTIONS_H
#define HALITE_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/loader.h"

// Reads the options of the operator table. *params is NULL and *size 0 where the operator takes
// none.
bool hl_options_read(struct hl_loader *loader, int builtin, size_t operator_table, const void **params, size_t *size);

// The subgraphs that a node calls: which = 0, 1, … until -1.
int hl_options_callee(int builtin, const void *params, int which);

// TfLiteType of a value of the schema's TensorType, -1 where it defines none.
int hl_options_tensor_type(int64_t value);

#endif
