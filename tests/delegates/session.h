// SPDX-License-Identifier: Apache-2.0
// What tests of delegates before a fake have in common: a model opened in an interpreter, the values of their small
// graphs, and functions of libraries that are opened as programs open them. A failure fails the test.
#ifndef HALITE_TESTS_DELEGATES_SESSION_H
#define HALITE_TESTS_DELEGATES_SESSION_H

#include "halite/halite.h"
#include "support/model_writer.h"
#include "tensorflow/lite/c/c_api.h"

struct session {
    char messages[8192]; // all that the interpreter has reported
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
};

// Opens the model and allocates its tensors.
void session_begin(struct session *session, const struct test_model *model);
void session_end(struct session *session);

// Input and output of the graphs: float32 [1, 2, 3, 5].
enum { SESSION_ELEMENTS = 2 * 3 * 5 };
float session_input(int i);
// ceil(a + relu(a)) of input i.
float session_ceiling(int i);
// Sets input 0 and runs.
TfLiteStatus session_run(struct session *session);
// Checks that output 0 is factor * ceiling * ceiling.
void session_check(const struct session *session, float factor);

// Nodes that delegates have replaced.
int delegated_nodes(TfLiteInterpreter *interpreter);

// Finds a function of the library at a path. pointer: to a function pointer of `size` bytes.
void find_function(const char *path, const char *name, void *pointer, size_t size);

#endif
