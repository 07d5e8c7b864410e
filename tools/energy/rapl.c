// SPDX-License-Identifier: Apache-2.0
// The counters of Intel's and AMD's processors (RAPL: running average power limit) as Linux shows them:
// class/powercap/intel-rapl:0/energy_uj, of AMD's under the same name. A package's cores and graphics (zones inside it)
// are parts of the package's own figure and are left out; its memory has power of its own and is a figure beside it.
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "energy/source.h"

// The figure that a zone belongs to; NULL: it is a part of another.
static const char *device_of(const char *zone)
{
    if (strncmp(zone, "package", strlen("package")) == 0) return "CPU packages";
    if (strcmp(zone, "dram") == 0) return "memory";
    if (strcmp(zone, "psys") == 0) return "whole platform";
    return NULL;
}

// 1: the folder is a zone of this control type, counted or a part of one that is.
static int add_zone(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder,
                    const char *type)
{
    if (strncmp(hl_path_name(folder), type, strlen(type)) != 0) return 0;
    char *name_path = hl_energy_path("%s/name", folder), *name = hl_energy_line(name_path);
    const char *device = device_of(name), *lost = NULL;
    if (device != NULL) {
        char *range_path = hl_energy_path("%s/max_energy_range_uj", folder);
        double range = 0;
        // Without its range a counter that begins anew is taken for one that went backwards.
        if (!hl_energy_number(range_path, &range, &lost) || range < 0) range = 0;
        hl_energy_add(energy, source,
                      (struct hl_energy_counter){.device = hl_alloc_string(device),
                                                 .unit = HL_ENERGY_JOULES,
                                                 .range = 1e-6 * range,
                                                 .scale = 1e-6,
                                                 .path = hl_energy_path("%s/energy_uj", folder)});
        free(range_path);
    }
    free(name);
    free(name_path);
    return 1;
}

static int visit_own(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder)
{
    return add_zone(energy, source, folder, "intel-rapl:");
}

static int visit_mapped(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder)
{
    return add_zone(energy, source, folder, "intel-rapl-mmio:");
}

static void find(struct hl_energy *energy, const struct hl_energy_source *source)
{
    // Some packages are shown a second time, by their memory-mapped registers.
    if (hl_energy_each(energy, source, "class/powercap", visit_own) == 0 &&
        hl_energy_each(energy, source, "class/powercap", visit_mapped) == 0)
        hl_energy_say(energy, source,
                      "no counters in %s/class/powercap (modprobe intel_rapl_msr brings those of x86 processors)",
                      hl_energy_root());
}

const struct hl_energy_source hl_energy_rapl = {.name = "rapl", .find = find, .read = hl_energy_read_file};
