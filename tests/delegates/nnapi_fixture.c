// SPDX-License-Identifier: Apache-2.0
// See nnapi_fixture.h.
#include "delegates/nnapi_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

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

TfLiteDelegate *make(const char *const *texts)
{
    return plugin_make(lib.tflite_plugin_create_delegate, FAKE_NNAPI, texts);
}
