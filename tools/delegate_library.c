// SPDX-License-Identifier: Apache-2.0
// See delegate_library.h.
#include "delegate_library.h"

#include <string.h>

#include "base/path.h"
#include "base/process.h"

static const struct {
    const char *name, *file, *device;
    const char *key, *value; // see hl_delegate_library
} known[] = {
    {"gpu", "libtensorflowlite_gpu_delegate.so", "GPU", NULL, NULL},
    {"nnapi", "libtensorflowlite_nnapi_delegate.so", "NNAPI", NULL, NULL},
    {"hexagon", "libtensorflowlite_hexagon_delegate.so", "Hexagon", NULL, NULL},
    {"coreml", "libtensorflowlite_coreml_delegate.so", "Core ML", "runner", "none"},
};
enum { KNOWN = sizeof known / sizeof *known };

static int find(const char *delegate)
{
    int i = 0;
    while (i < KNOWN && strcmp(known[i].name, delegate) != 0) i++;
    return i;
}

void hl_delegate_library_path(const char *delegate, struct hl_text *path)
{
    int which = find(delegate);
    if (which == KNOWN) {
        hl_text_add(path, "%s", delegate);
        return;
    }
    char program[4096];
    bool is_known = hl_process_path(program, sizeof program);
    if (is_known)
        hl_text_add(path, "%.*s../lib/%s", (int)(hl_path_name(program) - program), program, known[which].file);
    if (is_known && hl_path_may_read(path->data)) return;
    hl_text_clear(path);
    hl_text_add(path, "%s", known[which].file);
}

bool hl_delegate_library_open(struct hl_delegate_library *library, const char *delegate, struct hl_text *problem)
{
    *library = (struct hl_delegate_library){0};
    struct hl_text path = {0};
    hl_delegate_library_path(delegate, &path);
    library->handle = hl_library_open(path.data);
    hl_text_free(&path);
    if (library->handle == NULL) {
        hl_text_add(problem, "the delegate cannot be opened: %s", hl_library_error());
        return false;
    }
    library->device = "delegate";
    if (find(delegate) < KNOWN) {
        library->device = known[find(delegate)].device;
        library->assume_key = known[find(delegate)].key;
        library->assume_value = known[find(delegate)].value;
    }
#define X(result, name, arguments)                                                                   \
    if (!hl_library_find(library->handle, #name, &library->name, sizeof library->name)) {            \
        hl_text_add(problem, "%s has no " #name ": it is none of this version of Halite", delegate); \
        return false;                                                                                \
    }
    HL_REPORT_FUNCTIONS(X)
    HL_PLUGIN_FUNCTIONS(X)
#undef X
    return true;
}
