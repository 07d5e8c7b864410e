// SPDX-License-Identifier: Apache-2.0
// See source.h. Counters that are files with a number in them, as the kernel of Linux shows them below /sys.
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "energy/source.h"

const char *hl_energy_root(void)
{
    const char *root = getenv("HALITE_SYSFS");
    return root != NULL && *root != '\0' ? root : "/sys";
}

char *hl_energy_path(const char *format, ...)
{
    struct hl_text path = {0};
    va_list args;
    va_start(args, format);
    hl_text_add_va(&path, format, args);
    va_end(args);
    return hl_alloc_check(hl_text_take(&path));
}

int hl_energy_each(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder,
                   int (*visit)(struct hl_energy *energy, const struct hl_energy_source *source, const char *path))
{
    char *root = hl_energy_path("%s/%s", hl_energy_root(), folder);
    size_t count = 0;
    char **names = hl_folder_list(root, &count);
    int found = 0;
    for (size_t i = 0; names != NULL && i < count; i++) {
        char *path = hl_energy_path("%s/%s", root, names[i]);
        found += visit(energy, source, path);
        free(path);
    }
    if (names != NULL) hl_folder_free(names, count);
    free(root);
    return found;
}

// The first line of a file, without its end. False with *lost set where there is none.
static bool read_line(const char *path, char *line, int size, const char **lost)
{
    FILE *file = fopen(path, "r");
    bool opened = file != NULL, ok = opened && fgets(line, size, file) != NULL;
    if (!ok) {
        bool refused = errno == EACCES || errno == EPERM;
        *lost = refused                      ? "this user may not read it (as root: chmod a+r)"
                : !opened && errno == ENOENT ? "there is no such file"
                : opened && feof(file)       ? "it is empty"
                                             : "it cannot be read";
    }
    if (opened) fclose(file);
    if (ok) line[strcspn(line, "\n")] = '\0';
    return ok;
}

char *hl_energy_line(const char *path)
{
    char line[128], *start = line;
    const char *lost;
    if (!read_line(path, line, sizeof line, &lost)) return hl_alloc_string("");
    start += strspn(start, " \t");
    size_t length = strlen(start);
    while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t')) start[--length] = '\0';
    return hl_alloc_string(start);
}

bool hl_energy_number(const char *path, double *number, const char **lost)
{
    char line[64], *end;
    if (!read_line(path, line, sizeof line, lost)) return false;
    size_t digits = strspn(line + (line[0] == '-'), "0123456789");
    *number =
        strtod(line, &end); // whole numbers of more bits than 53 lose their last ones, a millionth of a microjoule
    if (digits > 0 && digits <= 20 && line[digits + (line[0] == '-')] == '\0') return true;
    *lost = "it holds no whole number";
    return false;
}

bool hl_energy_read_file(const struct hl_energy_counter *counter, double *value, const char **lost)
{
    double factor = 1;
    if (!hl_energy_number(counter->path, value, lost)) return false;
    if (counter->factor != NULL && !hl_energy_number(counter->factor, &factor, lost)) return false;
    *value *= counter->scale * factor;
    // Batteries of some makers show the current that leaves them as negative.
    if (counter->unit == HL_ENERGY_WATTS && *value < 0) *value = -*value;
    return true;
}
