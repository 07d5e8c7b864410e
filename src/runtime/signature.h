// SPDX-License-Identifier: Apache-2.0
// A runner runs a signature of a model by the names of its inputs and outputs. The tensors are the subgraph's own.
#ifndef HALITE_RUNTIME_SIGNATURE_H
#define HALITE_RUNTIME_SIGNATURE_H

#include "runtime/interpreter.h"

struct TfLiteSignatureRunner {
    TfLiteInterpreter *interpreter;
    struct hl_subgraph *subgraph;
    int input_count, output_count;
    const struct hl_model_signature_entry *inputs; // by rising name
    const struct hl_model_signature_entry *outputs;
    struct hl_model_signature_entry *placeholder; // of a model without signatures: tensor names; owned
};

// Where key is NULL, it gives the first signature of the primary subgraph, or, where the model has no signatures, a
// runner over that subgraph with the tensors' names. Returns NULL where there is no such signature or no memory.
TfLiteSignatureRunner *hl_signature_runner_create(TfLiteInterpreter *interpreter, const char *key);
void hl_signature_runner_destroy(TfLiteSignatureRunner *runner);
// These return the index of the tensor of that name, or -1 where there is none.
int hl_signature_input(const TfLiteSignatureRunner *runner, const char *name);
int hl_signature_output(const TfLiteSignatureRunner *runner, const char *name);

#endif
