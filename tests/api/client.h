// SPDX-License-Identifier: Apache-2.0
// What the tests of the C API share: a model as a client holds it, its messages, and the model most of them use.
#ifndef HALITE_TESTS_API_CLIENT_H
#define HALITE_TESTS_API_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

#define assert_ok(call) assert_int_equal((call), kTfLiteOk)

// ---- messages -----------------------------------------------------------------------------------

struct client_log {
    int count;
    char text[8192]; // one line for each
};

static inline void client_report(void *user_data, const char *format, va_list args)
{
    struct client_log *log = user_data;
    size_t used = strlen(log->text);
    vsnprintf(log->text + used, sizeof log->text - used, format, args);
    used = strlen(log->text);
    if (used + 1 < sizeof log->text) memcpy(log->text + used, "\n", 2);
    log->count++;
}

static inline void client_forget(struct client_log *log)
{
    *log = (struct client_log){0};
}

// There was one message, which has this part; it is forgotten.
#define assert_message(c, part)                                                                     \
    do {                                                                                            \
        if ((c)->log.count != 1 || !strstr((c)->log.text, (part))) fail_msg("'%s'", (c)->log.text); \
        client_forget(&(c)->log);                                                                   \
    } while (0)
// The call fails and says so.
#define assert_refused(c, call, part)           \
    do {                                        \
        assert_int_equal((call), kTfLiteError); \
        assert_message((c), (part));            \
    } while (0)

// ---- a model and what hangs on it ---------------------------------------------------------------

struct client {
    unsigned char *file;
    TfLiteModel *model;
    TfLiteInterpreterOptions *options;
    TfLiteInterpreter *interpreter;
    struct client_log log; // the client must stay where it is
};

static inline void client_load(struct client *client, const struct test_model *model)
{
    size_t size;
    memset(client, 0, sizeof *client);
    client->file = test_model_write(model, &size);
    client->model = TfLiteModelCreateWithErrorReporter(client->file, size, client_report, &client->log);
    if (!client->model) fail_msg("%s", client->log.text);
    client->options = TfLiteInterpreterOptionsCreate();
    assert_non_null(client->options);
    TfLiteInterpreterOptionsSetErrorReporter(client->options, client_report, &client->log);
}

static inline void client_create(struct client *client)
{
    client->interpreter = TfLiteInterpreterCreate(client->model, client->options);
    if (!client->interpreter) fail_msg("%s", client->log.text);
}

static inline void client_begin(struct client *client, const struct test_model *model)
{
    client_load(client, model);
    client_create(client);
}

static inline void client_end(struct client *client)
{
    TfLiteInterpreterDelete(client->interpreter);
    TfLiteInterpreterOptionsDelete(client->options);
    TfLiteModelDelete(client->model);
    free(client->file);
}

static inline void client_resize(struct client *client, int input, int length)
{
    assert_ok(TfLiteInterpreterResizeInputTensor(client->interpreter, input, &length, 1));
}

static inline void client_set(struct client *client, int input, const void *values, size_t bytes)
{
    assert_ok(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(client->interpreter, input), values, bytes));
}

static inline void client_get(struct client *client, int output, void *values, size_t bytes)
{
    assert_ok(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(client->interpreter, output), values, bytes));
}

// ---- y = (x + x) + x, the model that clients begin with -----------------------------------------

#define FLOATS(label, length)                                                 \
    {                                                                         \
        .name = (label), .type = TEST_FLOAT32, .rank = 1, .dims = {(length) } \
    }
#define NODE_1_1(code, x, y)                               \
    {                                                      \
        .builtin = (code), TEST_INPUTS(x), TEST_OUTPUTS(y) \
    }
#define NODE_2_1(code, x1, x2, y)                               \
    {                                                           \
        .builtin = (code), TEST_INPUTS(x1, x2), TEST_OUTPUTS(y) \
    }

enum { TRIPLE_SUM, TRIPLE_INPUT, TRIPLE_OUTPUT, TRIPLE_LENGTH = 4 };

static const struct test_tensor triple_tensors[] = {FLOATS("sum", TRIPLE_LENGTH), FLOATS("input", TRIPLE_LENGTH),
                                                    FLOATS("output", TRIPLE_LENGTH)};
static const struct test_node triple_nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, TRIPLE_INPUT, TRIPLE_INPUT, TRIPLE_SUM),
                                                NODE_2_1(kTfLiteBuiltinAdd, TRIPLE_SUM, TRIPLE_INPUT, TRIPLE_OUTPUT)};
static const struct test_model triple = {.name = "main",
                                         TEST_TENSORS(triple_tensors),
                                         TEST_NODES(triple_nodes),
                                         TEST_INPUTS(TRIPLE_INPUT),
                                         TEST_OUTPUTS(TRIPLE_OUTPUT)};

// Gives the tensors memory, and checks that the model computes what it should for inputs of any length up to 8.
static inline void run_triple(struct client *client)
{
    assert_ok(TfLiteInterpreterAllocateTensors(client->interpreter));
    size_t bytes = TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(client->interpreter, 0));
    float x[8] = {1, 3, -2, 0.5f, 8, -16, 32, 64}, y[8];
    assert_true(bytes <= sizeof x);
    client_set(client, 0, x, bytes);
    assert_ok(TfLiteInterpreterInvoke(client->interpreter));
    client_get(client, 0, y, bytes);
    for (size_t i = 0; i < bytes / sizeof *x; i++) assert_true(y[i] == 3 * x[i]);
}

#endif
