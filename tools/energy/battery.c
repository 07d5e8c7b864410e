// SPDX-License-Identifier: Apache-2.0
// What a battery gives, on phones, tablets and laptops: class/power_supply/*/power_now (microwatts), else current_now
// and voltage_now (microamperes, microvolts), else energy_now (microwatt-hours, in steps that take minutes). It feeds
// the whole device, screen and radio included, and counts only while it is not charged.
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "energy/source.h"

static const struct form {
    const char *file, *factor; // factor: a file to multiply with, or NULL
    enum hl_energy_unit unit;
    double scale;
} forms[] = {
    {"power_now", NULL, HL_ENERGY_WATTS, 1e-6},
    {"current_now", "voltage_now", HL_ENERGY_WATTS, 1e-12},
    {"energy_now", NULL, HL_ENERGY_JOULES, -3600e-6},
};

static bool has(const char *folder, const char *file)
{
    struct hl_path_facts facts;
    char *path = hl_energy_path("%s/%s", folder, file);
    bool found = hl_path_look(path, &facts);
    free(path);
    return found;
}

static void add_supply(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder)
{
    size_t i = 0, count = sizeof forms / sizeof *forms;
    while (i < count && (!has(folder, forms[i].file) || (forms[i].factor != NULL && !has(folder, forms[i].factor))))
        i++;
    if (i == count) {
        hl_energy_say(energy, source, "%s has neither power_now nor current_now and voltage_now nor energy_now",
                      folder);
        return;
    }
    hl_energy_add(energy, source,
                  (struct hl_energy_counter){
                      .device = hl_energy_path("whole device (%s)", hl_path_name(folder)),
                      .unit = forms[i].unit,
                      .scale = forms[i].scale,
                      .path = hl_energy_path("%s/%s", folder, forms[i].file),
                      .factor = forms[i].factor ? hl_energy_path("%s/%s", folder, forms[i].factor) : NULL,
                  });
}

// As its files say; and it must go on discharging, for a current has no direction that all makers agree on.
static bool read_battery(const struct hl_energy_counter *counter, double *value, const char **lost)
{
    int folder = (int)(hl_path_name(counter->path) - counter->path);
    char *path = hl_energy_path("%.*sstatus", folder, counter->path), *status = hl_energy_line(path);
    bool discharging = strcmp(status, "Discharging") == 0;
    free(status);
    free(path);
    if (!discharging) *lost = "it is no longer discharging";
    return discharging && hl_energy_read_file(counter, value, lost);
}

// Looks at one supply; 1: it is a battery.
static int find_battery(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder)
{
    char *type_path = hl_energy_path("%s/type", folder), *type = hl_energy_line(type_path);
    char *status_path = hl_energy_path("%s/status", folder), *status = hl_energy_line(status_path);
    bool battery = strcmp(type, "Battery") == 0;
    if (battery && strcmp(status, "Discharging") == 0)
        add_supply(energy, source, folder);
    else if (battery)
        hl_energy_say(energy, source, "%s is not discharging but '%s' (unplug the charger)", folder, status);
    free(status);
    free(status_path);
    free(type);
    free(type_path);
    return battery;
}

static void find(struct hl_energy *energy, const struct hl_energy_source *source)
{
    if (hl_energy_each(energy, source, "class/power_supply", find_battery) == 0)
        hl_energy_say(energy, source, "no battery in %s/class/power_supply", hl_energy_root());
}

const struct hl_energy_source hl_energy_battery = {.name = "battery", .find = find, .read = read_battery};
