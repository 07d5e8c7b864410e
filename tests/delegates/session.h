// SPDX-License-Identifier: Apache-2.0
// What tests of delegates before a fake have in common: a model opened in an interpreter, the values of their small
// graphs, and functions of libraries that are opened as programs open them. A failure fails the test.
#ifndef HALITE_TESTS_DELEGATES_SESSION_H
#define HALITE_TESTS_DELEGATES_SESSION_H

#include "halite/gpu_delegate.h"
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

// X(result, name, arguments): what each delegate's library has for plug-ins and for reports.
// clang-format off
#define PLUGIN_FUNCTIONS(X)                                                                \
    X(TfLiteDelegate *, tflite_plugin_create_delegate,                                     \
      (const char *const *, const char *const *, size_t, void (*)(const char *)))          \
    X(void, tflite_plugin_destroy_delegate, (TfLiteDelegate *))                            \
    X(HaliteDelegateReport *, HaliteDelegateReportCreate, (const TfLiteDelegate *))        \
    X(void, HaliteDelegateReportDelete, (HaliteDelegateReport *))                          \
    X(const HaliteDevice *, HaliteDelegateReportGetDevice, (const HaliteDelegateReport *)) \
    X(int32_t, HaliteDelegateReportGetNodeCount, (const HaliteDelegateReport *))           \
    X(const HaliteDelegateNode *, HaliteDelegateReportGetNode, (const HaliteDelegateReport *, int32_t))
// clang-format on

// Makes a plug-in's delegate with options as texts: key, value, ... NULL. library_path: the option of that name, unless
// it is NULL.
typedef TfLiteDelegate *plugin_create(const char *const *keys, const char *const *values, size_t count,
                                      void (*report_error)(const char *));
TfLiteDelegate *plugin_make(plugin_create *create, const char *library_path, const char *const *texts);
// The last that was said in it; "": nothing.
const char *plugin_message(void);

// Finds a function of the library at a path. pointer: to a function pointer of `size` bytes.
void find_function(const char *path, const char *name, void *pointer, size_t size);

#endif
