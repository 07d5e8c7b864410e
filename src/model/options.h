// SPDX-License-Identifier: Apache-2.0
// This turns the options of builtin operators from tables of the file into the parameter structs that kernels and
// delegates read.
#ifndef HALITE_MODEL_OPTIONS_H
#define HALITE_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/loader.h"

// Reads the options of the operator table. *params is NULL and *size is 0 where the operator takes none.
bool hl_options_read(struct hl_loader *loader, int builtin, size_t operator_table, const void **params, size_t *size);

// Returns the size of an operator's parameter struct, or 0 where it takes none.
size_t hl_options_size(int builtin);

// Returns a subgraph that a node calls, for which = 0, 1, … until it returns -1.
int hl_options_callee(int builtin, const void *params, int which);

// Returns the TfLiteType of a value of the schema's TensorType, or -1 where the schema defines none.
int hl_options_tensor_type(int64_t value);

#endif
