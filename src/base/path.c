// SPDX-License-Identifier: Apache-2.0
// What path.h has beside the calls of each system.
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path_system.h"

bool hl_path_is_folder(const char *path)
{
    struct hl_path_facts facts;
    return hl_path_look(path, &facts) && facts.kind == HL_PATH_FOLDER;
}

char *hl_path_join(const char *first, const char *second, const char *third)
{
    char *text = malloc(strlen(first) + strlen(second) + strlen(third) + 1);
    if (text) strcat(strcat(strcpy(text, first), second), third);
    return text;
}

bool hl_names_add(struct hl_names *names, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, "..")) return true;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 16;
        char **larger = realloc(names->items, capacity * sizeof *larger);
        if (!larger) return false;
        names->items = larger;
        names->capacity = capacity;
    }
    names->items[names->count] = hl_path_join(name, "", "");
    return names->items[names->count++];
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void hl_folder_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

char **hl_names_finish(struct hl_names *names, bool ok, size_t *count)
{
    if (ok && !names->items) names->items = calloc(1, sizeof *names->items);
    if (!ok || !names->items) {
        int code = errno;
        hl_folder_free(names->items, names->count);
        errno = code ? code : ENOMEM;
        return NULL;
    }
    qsort(names->items, names->count, sizeof *names->items, compare_names);
    *count = names->count;
    return names->items;
}

const char *hl_first_set(const char *const *variables, const char *otherwise)
{
    for (; *variables; variables++) {
        const char *value = getenv(*variables);
        if (value && *value) return value;
    }
    return otherwise;
}

static bool move_to_file(FILE *from, FILE *to)
{
    char block[65536];
    for (size_t count; (count = fread(block, 1, sizeof block, from)) > 0;)
        if (fwrite(block, 1, count, to) != count) return false;
    return !ferror(from) && fflush(to) == 0;
}

bool hl_stdin_rewind(void)
{
    clearerr(stdin);
    if (hl_stdin_is_file() && fseek(stdin, 0, SEEK_SET) == 0) return true;
    FILE *file = hl_file_temporary();
    bool ok = file && move_to_file(stdin, file);
    ok = ok && hl_stdin_take(file);
    int code = errno;
    if (file) fclose(file);
    errno = code;
    clearerr(stdin);
    return ok && fseek(stdin, 0, SEEK_SET) == 0;
}
