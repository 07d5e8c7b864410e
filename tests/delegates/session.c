// SPDX-License-Identifier: Apache-2.0
// See session.h.
#include "delegates/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/library.h"

static void collect(void *user_data, const char *format, va_list args)
{
    struct session *session = user_data;
    size_t length = strlen(session->messages);
    vsnprintf(session->messages + length, sizeof session->messages - length, format, args);
}

void session_begin(struct session *session, const struct test_model *model)
{
    size_t size;
    memset(session, 0, sizeof *session);
    session->bytes = test_model_write(model, &size);
    session->model = TfLiteModelCreate(session->bytes, size);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, session);
    session->interpreter = TfLiteInterpreterCreate(session->model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(session->interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session->interpreter), kTfLiteOk);
}

void session_end(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteModelDelete(session->model);
    free(session->bytes);
}

float session_input(int i)
{
    return (float)(i % 7 - 3) * 0.75f;
}

// Without ceilf, which would be the kernel's own.
float session_ceiling(int i)
{
    float a = session_input(i), s = a + (a > 0 ? a : 0);
    int whole = (int)s;
    return (float)(whole + ((float)whole < s));
}

TfLiteStatus session_run(struct session *session)
{
    float values[SESSION_ELEMENTS];
    for (int i = 0; i < SESSION_ELEMENTS; i++) values[i] = session_input(i);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteOk);
    return TfLiteInterpreterInvoke(session->interpreter);
}

void session_check(const struct session *session, float factor)
{
    const float *output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session->interpreter, 0));
    for (int i = 0; i < SESSION_ELEMENTS; i++)
        assert_float_equal(output[i], factor * session_ceiling(i) * session_ceiling(i), 1e-6f);
}

int delegated_nodes(TfLiteInterpreter *interpreter)
{
    int count = 0;
    for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter); i++) {
        HaliteNodeReport report;
        assert_int_equal(HaliteInterpreterGetNodeReport(interpreter, i, &report), kTfLiteOk);
        count += report.replaced_nodes;
    }
    return count;
}

// ---- plug-ins -----------------------------------------------------------------------------------

enum { MESSAGE_BYTES = 2048 };

static char *message(void)
{
    static char text[MESSAGE_BYTES];
    return text;
}

const char *plugin_message(void)
{
    return message();
}

static void keep_message(const char *text)
{
    snprintf(message(), MESSAGE_BYTES, "%s", text);
}

TfLiteDelegate *plugin_make(plugin_create *create, const char *library_path, const char *const *texts)
{
    enum { OPTIONS = 8 };
    const char *keys[OPTIONS] = {"library_path"}, *values[OPTIONS] = {library_path};
    size_t count = library_path ? 1 : 0;
    for (; texts && *texts; texts += 2, count++) {
        assert_true(count < OPTIONS);
        keys[count] = texts[0];
        values[count] = texts[1];
    }
    message()[0] = '\0';
    return create(keys, values, count, keep_message);
}

void find_function(const char *path, const char *name, void *pointer, size_t size)
{
    struct hl_library *library = hl_library_open(path);
    if (!library) fail_msg("%s", hl_library_error());
    if (!hl_library_find(library, name, pointer, size)) fail_msg("%s has no %s", path, name);
}
