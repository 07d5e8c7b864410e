// SPDX-License-Identifier: Apache-2.0
// See delegate_library.h.
#include "delegate_library.h"

#include <string.h>

#include "base/path.h"
#include "base/process.h"

static const struct {
    const char *name, *library, *device;
    const char *key, *value; // see hl_delegate_library
} known[] = {
    {"gpu", "tensorflowlite_gpu_delegate", "GPU", NULL, NULL},
    {"nnapi", "tensorflowlite_nnapi_delegate", "NNAPI", NULL, NULL},
    {"hexagon", "tensorflowlite_hexagon_delegate", "Hexagon", NULL, NULL},
    {"coreml", "tensorflowlite_coreml_delegate", "Core ML", "runner", "none"},
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
    const struct hl_library_files *files = &hl_library_files;
    char program[4096];
    bool is_known = hl_process_path(program, sizeof program);
    if (is_known)
        hl_text_add(path, "%.*s%s%s%s%s", (int)(hl_path_name(program) - program), program, files->folder, files->prefix,
                    known[which].library, files->ending);
    if (is_known && hl_path_may_read(path->data)) return;
    hl_text_clear(path);
    hl_text_add(path, "%s%s%s", files->prefix, known[which].library, files->ending);
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
