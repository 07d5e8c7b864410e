// SPDX-License-Identifier: Apache-2.0
// See nnapi_fixture.h.
#include "delegates/nnapi_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/library.h"

struct nnapi_functions lib;

static void find(const char *path, const char *name, void *pointer, size_t size)
{
    struct hl_library *library = hl_library_open(path);
    if (!library) fail_msg("%s", hl_library_error());
    if (!hl_library_find(library, name, pointer, size)) fail_msg("%s has no %s", path, name);
}

int open_libraries(void **state)
{
    (void)state;
#define X(result, name, arguments) find(NNAPI_DELEGATE, #name, &lib.name, sizeof lib.name);
    DELEGATE_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) find(FAKE_NNAPI, #name, &lib.name, sizeof lib.name);
    FAKE_FUNCTIONS(X)
#undef X
    return 0;
}

char *plugin_messages(void)
{
    static char text[2048];
    return text;
}

static void collect_plugin(const char *text)
{
    snprintf(plugin_messages(), 2048, "%s", text);
}

TfLiteDelegate *make(const char *const *texts)
{
    const char *keys[8] = {"library_path"}, *values[8] = {FAKE_NNAPI};
    size_t count = 1;
    for (; texts && texts[2 * (count - 1)]; count++) {
        keys[count] = texts[2 * (count - 1)];
        values[count] = texts[2 * (count - 1) + 1];
    }
    plugin_messages()[0] = 0;
    return lib.tflite_plugin_create_delegate(keys, values, count, collect_plugin);
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
