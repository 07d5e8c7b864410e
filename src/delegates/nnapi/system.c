// SPDX-License-Identifier: Apache-2.0
// See system.h. The level of a library that does not tell it follows from the functions that it has.
#include "delegates/nnapi/system.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "delegates/nnapi/support_library.h"

static const char system_name[] = "libneuralnetworks.so";

static int64_t level_of(const struct nnapi *nnapi)
{
    if (nnapi->get_runtime_feature_level) return nnapi->get_runtime_feature_level();
    if (nnapi->compilation_set_timeout) return NNAPI_LEVEL_4;
    if (nnapi->get_device_count) return NNAPI_LEVEL_3;
    if (nnapi->model_relax_float32) return NNAPI_LEVEL_2;
    return NNAPI_LEVEL_1;
}

// Whether each function of the library's level is there. A support library lacks those that its kind never has.
static bool is_complete(const struct nnapi *found, bool support, const char *name, char *why, size_t size)
{
    const char *missing = found->level < NNAPI_LEVEL_1 ? "a feature level of at least 27" : NULL;
#define X(since, result, symbol, member, arguments)               \
    if (!missing && found->level >= (since) && !found->member &&  \
        !(support && nnapi_support_library_offset(#symbol) == 0)) \
        missing = #symbol;
    NNAPI_FUNCTIONS(X)
#undef X
    if (missing) snprintf(why, size, "%s, of feature level %lld, lacks %s", name, (long long)found->level, missing);
    return !missing;
}

static bool open_system(struct nnapi *found, const char *path, char *why, size_t size)
{
    if (!path || !*path) path = hl_library_named("HALITE_NNAPI_LIBRARY");
    if (!path) path = system_name;
    found->library = hl_library_open(path);
    if (!found->library) {
        snprintf(why, size, "no NNAPI here: %s", hl_library_error());
        return false;
    }
#define X(level, result, symbol, name, arguments) \
    hl_library_find(found->library, #symbol, &found->name, sizeof found->name);
    NNAPI_FUNCTIONS(X)
#undef X
    found->level = level_of(found);
    if (is_complete(found, false, path, why, size)) return true;
    hl_library_close(found->library);
    return false;
}

// ---- support libraries --------------------------------------------------------------------------

static void find_member(const struct nnapi_support_library *library, const char *symbol, void *pointer, size_t size)
{
    size_t at = nnapi_support_library_offset(symbol);
    if (at > 0) memcpy(pointer, (const char *)library + at, size);
}

static bool use_support_library(struct nnapi *found, const struct nnapi_support_library *library, char *why,
                                size_t size)
{
    if (library->level < NNAPI_LEVEL_5 || library->level > NNAPI_LEVEL_7) {
        snprintf(why, size, "Unsupported NnApiSLDriverImpl->implFeatureLevel: %lld", (long long)library->level);
        return false;
    }
#define X(since, result, symbol, name, arguments) find_member(library, #symbol, &found->name, sizeof found->name);
    NNAPI_FUNCTIONS(X)
#undef X
    found->level = level_of(found);
    return is_complete(found, true, "the support library", why, size);
}

static bool open_support_library(struct nnapi *found, const char *path, char *why, size_t size)
{
    const struct nnapi_support_library *(*door)(void);
    found->library = hl_library_open(path);
    if (!found->library) {
        snprintf(why, size, "unable to open library %s: %s", path, hl_library_error());
        return false;
    }
    const struct nnapi_support_library *library = NULL;
    if (!hl_library_find(found->library, NNAPI_SUPPORT_LIBRARY_DOOR, &door, sizeof door))
        snprintf(why, size, "Failed to find " NNAPI_SUPPORT_LIBRARY_DOOR " symbol in %s", path);
    else if (library = door(), !library)
        snprintf(why, size, NNAPI_SUPPORT_LIBRARY_DOOR " of %s returned nullptr", path);
    if (library && use_support_library(found, library, why, size)) return true;
    hl_library_close(found->library);
    return false;
}

bool nnapi_open(struct nnapi *nnapi, const struct nnapi_source *source, char *why, size_t size)
{
    if (nnapi->level > 0) return true;
    struct nnapi found = {0};
    const char *support_path = source->support_library_path;
    bool ok = source->support_library         ? use_support_library(&found, source->support_library, why, size)
              : support_path && *support_path ? open_support_library(&found, support_path, why, size)
                                              : open_system(&found, source->library_path, why, size);
    if (ok) *nnapi = found;
    return ok;
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
