// SPDX-License-Identifier: Apache-2.0
// Between the meter (energy.c) and the sources of figures, one file each: a source finds its counters and reads them.
// A new source is a file and a row in HL_ENERGY_SOURCES.
#ifndef HALITE_TOOLS_ENERGY_SOURCE_H
#define HALITE_TOOLS_ENERGY_SOURCE_H

#include <stdbool.h>

#include "text.h"

// X(name)
#define HL_ENERGY_SOURCES(X) X(rapl) X(hwmon) X(nvml) X(battery)

struct hl_energy;
struct hl_energy_source;

enum hl_energy_unit {
    HL_ENERGY_JOULES, // a sum that grows
    HL_ENERGY_WATTS,  // as it is at the moment
};

struct hl_energy_counter {
    char *device;             // counters of one source with the same name are added
    enum hl_energy_unit unit; // of what `read` gives
    double range;             // joules after which a sum begins anew at zero; 0: never
    double scale;             // of one step of the file, in that unit; negative: the file counts down
    char *path;               // a file; NULL: another kind of counter
    char *factor;             // a second file that the first is to be multiplied with; NULL: none
    void *handle;             // what the source keeps for a counter that is no file
    // The meter's own:
    const struct hl_energy_source *source;
    double last, joules; // the value last seen; joules since the start
    const char *lost;    // why it counts no longer; NULL: it does
};

struct hl_energy_source {
    const char *name;
    // Adds its counters with hl_energy_add, and what keeps it from that with hl_energy_say.
    void (*find)(struct hl_energy *energy, const struct hl_energy_source *source);
    // False with *lost set where the counter cannot be read.
    bool (*read)(const struct hl_energy_counter *counter, double *value, const char **lost);
    void (*close)(struct hl_energy *energy); // NULL: nothing to close
};

// What a source keeps while the meter is open, by `find` for `close`: an opened library.
void **hl_energy_kept(struct hl_energy *energy);
// The folder that stands for /sys: HALITE_SYSFS where that is set.
const char *hl_energy_root(void);
// Takes what the counter points to. One that cannot be read, or shows nothing sensible, is not added: why is said.
void hl_energy_add(struct hl_energy *energy, const struct hl_energy_source *source, struct hl_energy_counter counter);
// Says why a source does not count something; may be called several times.
void hl_energy_say(struct hl_energy *energy, const struct hl_energy_source *source, const char *format, ...)
    HL_PRINTF(3, 4);

// Calls visit for each folder in `folder`, which lies below hl_energy_root(). The sum of what it returns.
int hl_energy_each(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder,
                   int (*visit)(struct hl_energy *energy, const struct hl_energy_source *source, const char *path));
// The path of a file, which the caller frees: a printf format and what it wants.
char *hl_energy_path(const char *format, ...) HL_PRINTF(1, 2);
// The word or line in a file without white space around it, which the caller frees; "" where there is none to read.
char *hl_energy_line(const char *path);
// The whole number in a file, and nothing else. False with *lost set where there is none.
bool hl_energy_number(const char *path, double *number, const char **lost);
// hl_energy_source.read of counters that are files: scale * number * factor.
bool hl_energy_read_file(const struct hl_energy_counter *counter, double *value, const char **lost);

#define HL_ENERGY_DECLARE(name) extern const struct hl_energy_source hl_energy_##name;
HL_ENERGY_SOURCES(HL_ENERGY_DECLARE)
#undef HL_ENERGY_DECLARE

#endif
