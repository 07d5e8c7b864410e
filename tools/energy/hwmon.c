// SPDX-License-Identifier: Apache-2.0
// Sensors of boards, graphics cards and power supplies as Linux shows them: class/hwmon/hwmon*/energy*_input
// (microjoules), and where a chip has none power*_average or power*_input (microwatts). Rails of a board may feed each
// other, so each is a figure of its own.
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "energy/source.h"

static const struct form {
    const char *prefix, *suffix; // around the sensor's number
    enum hl_energy_unit unit;
} forms[] = {
    // The first that a chip has counts.
    {"energy", "_input", HL_ENERGY_JOULES},
    {"power", "_average", HL_ENERGY_WATTS},
    {"power", "_input", HL_ENERGY_WATTS},
};

// The length of "energy1" in "energy1_input"; 0 where the name has another form.
static size_t sensor_length(const char *name, const struct form *form)
{
    size_t prefix = strlen(form->prefix), digits;
    if (strncmp(name, form->prefix, prefix) != 0) return 0;
    digits = strspn(name + prefix, "0123456789");
    return digits > 0 && strcmp(name + prefix + digits, form->suffix) == 0 ? prefix + digits : 0;
}

static void add_sensor(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder,
                       const char *chip, const char *file, size_t length, enum hl_energy_unit unit)
{
    char *label_path = hl_energy_path("%s/%.*s_label", folder, (int)length, file);
    char *label = hl_energy_line(label_path);
    free(label_path);
    // AMD's processors count their cores beside the sockets that contain them.
    if (strncmp(label, "Ecore", strlen("Ecore")) != 0)
        hl_energy_add(energy, source,
                      (struct hl_energy_counter){
                          .device = hl_energy_path("%s %.*s%s%s (%s)", chip, (int)length, file, *label ? " " : "",
                                                   label, hl_path_name(folder)),
                          .unit = unit,
                          .scale = 1e-6,
                          .path = hl_energy_path("%s/%s", folder, file),
                      });
    free(label);
}

static int add_chip(struct hl_energy *energy, const struct hl_energy_source *source, const char *folder)
{
    char *name_path = hl_energy_path("%s/name", folder), *chip = hl_energy_line(name_path);
    char *supply = hl_energy_path("%s/class/power_supply/%s", hl_energy_root(), chip);
    size_t count = 0;
    char **names = hl_folder_list(folder, &count);
    int found = 0;
    // A battery shows itself here, too, without a word on whether it is being charged.
    bool battery = *chip != '\0' && hl_path_is_folder(supply);
    for (size_t f = 0; names != NULL && !battery && found == 0 && f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; i < count; i++) {
            size_t length = sensor_length(names[i], &forms[f]);
            if (length == 0) continue;
            add_sensor(energy, source, folder, chip, names[i], length, forms[f].unit);
            found++;
        }
    if (names != NULL) hl_folder_free(names, count);
    free(supply);
    free(chip);
    free(name_path);
    return found;
}

static void find(struct hl_energy *energy, const struct hl_energy_source *source)
{
    if (hl_energy_each(energy, source, "class/hwmon", add_chip) == 0)
        hl_energy_say(energy, source, "no sensors of energy or power in %s/class/hwmon", hl_energy_root());
}

const struct hl_energy_source hl_energy_hwmon = {.name = "hwmon", .find = find, .read = hl_energy_read_file};
