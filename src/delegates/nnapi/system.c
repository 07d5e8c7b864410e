// SPDX-License-Identifier: Apache-2.0
// See system.h. The level of a library that does not tell it follows from the functions that it has.
#include "delegates/nnapi/system.h"

#include <stdio.h>

#include "base/library.h"

static const char system_name[] = "libneuralnetworks.so";

static int64_t level_of(const struct nnapi *nnapi)
{
    if (nnapi->get_runtime_feature_level) return nnapi->get_runtime_feature_level();
    if (nnapi->compilation_set_timeout) return NNAPI_LEVEL_4;
    if (nnapi->get_device_count) return NNAPI_LEVEL_3;
    if (nnapi->model_relax_float32) return NNAPI_LEVEL_2;
    return NNAPI_LEVEL_1;
}

bool nnapi_open(struct nnapi *nnapi, const char *path, char *why, size_t size)
{
    if (nnapi->library) return true;
    struct nnapi found = {0};
    if (!path || !*path) path = hl_library_named("HALITE_NNAPI_LIBRARY");
    if (!path) path = system_name;
    found.library = hl_library_open(path);
    if (!found.library) {
        snprintf(why, size, "no NNAPI here: %s", hl_library_error());
        return false;
    }
#define X(level, result, symbol, name, arguments) \
    hl_library_find(found.library, #symbol, &found.name, sizeof found.name);
    NNAPI_FUNCTIONS(X)
#undef X
    found.level = level_of(&found);
    const char *missing = found.level < NNAPI_LEVEL_1 ? "a feature level of at least 27" : NULL;
#define X(since, result, symbol, name, arguments) \
    if (!missing && found.level >= (since) && !found.name) missing = #symbol;
    NNAPI_FUNCTIONS(X)
#undef X
    if (missing) {
        snprintf(why, size, "%s, of feature level %lld, lacks %s", path, (long long)found.level, missing);
        hl_library_close(found.library);
        return false;
    }
    *nnapi = found;
    return true;
}

const char *nnapi_result_name(int code)
{
    switch (code) {
#define X(name, number) \
    case number: return "ANEURALNETWORKS_" #name;
        NNAPI_RESULTS(X)
#undef X
    default: return NULL;
    }
}
