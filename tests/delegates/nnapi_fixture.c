// SPDX-License-Identifier: Apache-2.0
// See nnapi_fixture.h.
#include "delegates/nnapi_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct nnapi_functions lib;

int open_libraries(void **state)
{
    (void)state;
#define X(result, name, arguments) find_function(NNAPI_DELEGATE, #name, &lib.name, sizeof lib.name);
    DELEGATE_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) find_function(FAKE_NNAPI, #name, &lib.name, sizeof lib.name);
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
