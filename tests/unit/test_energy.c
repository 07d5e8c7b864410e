// SPDX-License-Identifier: Apache-2.0
// The meter of energy (tools/energy) over a folder of counters that the tests write, and before a library that stands
// for NVIDIA's. Time is what the tests say it is, so figures are exact.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/path.h"
#include "energy/energy.h"

static char root[64];

// Writes a file below the folder that stands for /sys, and makes its folders.
static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(full, 0755);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_number(const char *path, long long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld\n", number);
    put(path, text);
}

static void remove_below(const char *folder)
{
    size_t count;
    char **names = hl_folder_list(folder, &count);
    for (size_t i = 0; i < count; i++) {
        struct hl_text path = {0};
        hl_text_add(&path, "%s/%s", folder, names[i]);
        if (hl_path_is_folder(path.data))
            remove_below(path.data);
        else
            unlink(path.data);
        hl_text_free(&path);
    }
    hl_folder_free(names, count);
    rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/halite_energy_XXXXXX");
    assert_non_null(mkdtemp(root));
    setenv("HALITE_SYSFS", root, 1);
    setenv("HALITE_NVML_LIBRARY", "/no/such/library.so", 1);
    unsetenv("FAKE_NVML");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_below(root);
    return 0;
}

// A zone of RAPL with its range; 0: none.
static void put_zone(const char *zone, const char *name, long long microjoules, long long range)
{
    char path[128];
    snprintf(path, sizeof path, "class/powercap/%s/name", zone);
    put(path, name);
    snprintf(path, sizeof path, "class/powercap/%s/max_energy_range_uj", zone);
    if (range > 0) put_number(path, range);
    snprintf(path, sizeof path, "class/powercap/%s/energy_uj", zone);
    put_number(path, microjoules);
}

static const struct hl_energy_figure *figure_of(const struct hl_energy *energy, const char *device)
{
    int count;
    const struct hl_energy_figure *figures = hl_energy_figures(energy, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(figures[i].device, device) == 0) return &figures[i];
    return NULL;
}

static void assert_figure(const struct hl_energy *energy, const char *device, double joules, double watts)
{
    const struct hl_energy_figure *figure = figure_of(energy, device);
    assert_non_null(figure);
    assert_true(figure->joules > joules * (1 - 1e-9) && figure->joules < joules * (1 + 1e-9));
    assert_true(figure->watts > watts * (1 - 1e-9) && figure->watts < watts * (1 + 1e-9));
}

static void assert_reason(const struct hl_energy *energy, const char *part)
{
    struct hl_text text = {0};
    hl_energy_add_reasons(energy, &text);
    if (strstr(hl_text_string(&text), part) == NULL) fail_msg("no '%s' in: %s", part, hl_text_string(&text));
    assert_null(strchr(hl_text_string(&text), '\n'));
    hl_text_free(&text);
}

static int figure_count(const struct hl_energy *energy)
{
    int count;
    hl_energy_figures(energy, &count);
    return count;
}

// ---- RAPL ---------------------------------------------------------------------------------------

// Two packages are added; their cores, a second view of the first, and the platform are not added to them.
static void test_packages_once(void **state)
{
    (void)state;
    put_zone("intel-rapl", "", 0, 0); // the control type itself, which has no name
    put_zone("intel-rapl:0", "package-0\n", 1000000, 1 << 30);
    put_zone("intel-rapl:0:0", "core\n", 500000, 1 << 30);
    put_zone("intel-rapl:0:1", "dram\n", 100000, 1 << 30);
    put_zone("intel-rapl:1", "package-1\n", 7000000, 1 << 30);
    put_zone("intel-rapl:2", "psys\n", 9000000, 1 << 30);
    put_zone("intel-rapl-mmio:0", "package-0\n", 1000000, 1 << 30);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 10);
    put_number("class/powercap/intel-rapl:0/energy_uj", 4000000);   // 3 J
    put_number("class/powercap/intel-rapl:0:0/energy_uj", 3000000); // of which 2.5 J
    put_number("class/powercap/intel-rapl:0:1/energy_uj", 350000);  // 0.25 J
    put_number("class/powercap/intel-rapl:1/energy_uj", 8000000);   // 1 J
    put_number("class/powercap/intel-rapl:2/energy_uj", 15000000);  // 6 J
    put_number("class/powercap/intel-rapl-mmio:0/energy_uj", 4000000);
    hl_energy_end(energy, 12);
    assert_int_equal(figure_count(energy), 3);
    assert_figure(energy, "CPU packages", 4, 2);
    assert_figure(energy, "memory", 0.25, 0.125);
    assert_figure(energy, "whole platform", 6, 3);
    hl_energy_close(energy);
}

// Some machines show their package by its memory-mapped registers alone.
static void test_other_view(void **state)
{
    (void)state;
    put_zone("intel-rapl-mmio:0", "package-0\n", 1000000, 1 << 30);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/powercap/intel-rapl-mmio:0/energy_uj", 3000000);
    hl_energy_end(energy, 1);
    assert_figure(energy, "CPU packages", 2, 2);
    hl_energy_close(energy);
}

// A counter begins anew at zero past its range, and that more than once during a measurement.
static void test_wraparound(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", 90000000, 100000000);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/powercap/intel-rapl:0/energy_uj", 50000000); // 60 J
    hl_energy_sample(energy, 1);
    put_number("class/powercap/intel-rapl:0/energy_uj", 20000000); // 70 J
    hl_energy_end(energy, 2);
    assert_figure(energy, "CPU packages", 130, 65);
    // The next measurement begins where this one has ended.
    hl_energy_begin(energy, 3);
    put_number("class/powercap/intel-rapl:0/energy_uj", 21000000);
    hl_energy_end(energy, 4);
    assert_figure(energy, "CPU packages", 1, 1);
    hl_energy_close(energy);
}

// Without a range, smaller than before is backwards; with one it may be that somebody has set the counter to zero.
static void test_backwards(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", 5000000, 0);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/powercap/intel-rapl:0/energy_uj", 4000000);
    hl_energy_end(energy, 1);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "intel-rapl:0/energy_uj: it went backwards");
    hl_energy_close(energy);

    put_zone("intel-rapl:0", "package-0\n", 5000000, 262143328850);
    energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/powercap/intel-rapl:0/energy_uj", 4000000); // else 262 kJ in a second
    hl_energy_end(energy, 1);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "intel-rapl:0/energy_uj: it was set back");
    hl_energy_close(energy);
}

// A sum without one of its packages would be too small, so there is none.
static void test_one_of_two_lost(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", 1000000, 1 << 30);
    put_zone("intel-rapl:1", "package-1\n", 1000000, 1 << 30);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/powercap/intel-rapl:0/energy_uj", 2000000);
    put("class/powercap/intel-rapl:1/energy_uj", "");
    hl_energy_end(energy, 1);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "intel-rapl:1/energy_uj: it is empty");
    hl_energy_close(energy);
}

static void test_garbage(void **state)
{
    (void)state;
    static const char *const texts[] = {"",      "\n",   "abc\n", "12abc\n", "0x10\n",
                                        "1.5\n", "-\n",  "1e9\n", "12 13\n", "99999999999999999999999999\n",
                                        "nan\n", "inf\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_zone("intel-rapl:0", "package-0\n", 0, 1 << 30);
        put("class/powercap/intel-rapl:0/energy_uj", texts[i]);
        struct hl_energy *energy = hl_energy_open();
        hl_energy_begin(energy, 0);
        hl_energy_end(energy, 1);
        assert_int_equal(figure_count(energy), 0);
        assert_reason(energy, *texts[i] ? "energy_uj: it holds no whole number" : "energy_uj: it is empty");
        hl_energy_close(energy);
    }
    // More than anything takes.
    put_zone("intel-rapl:0", "package-0\n", 0, 0);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put("class/powercap/intel-rapl:0/energy_uj", "99999999999999999999\n");
    hl_energy_end(energy, 1);
    assert_reason(energy, "energy_uj: it shows more than is possible");
    hl_energy_close(energy);
}

static void test_permission(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", 0, 1 << 30);
    char path[128];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, 0), 0);
    bool is_root = geteuid() == 0;
    if (is_root && (chmod(root, 0755) != 0 || seteuid(65534) != 0)) skip();
    struct hl_energy *energy = hl_energy_open();
    if (is_root) assert_int_equal(seteuid(0), 0);
    assert_reason(energy, "energy_uj: this user may not read it (as root: chmod a+r)");
    hl_energy_close(energy);
}

// A short run may end before the counter's next step: that is no energy of zero.
static void test_unchanged(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", 5000000, 1 << 30);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    hl_energy_end(energy, 1e-4);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "energy_uj: it did not change meanwhile: time more runs");
    hl_energy_close(energy);
}

// ---- hwmon --------------------------------------------------------------------------------------

// Power is summed over time; a chip that counts energy is not asked for its power as well.
static void test_sensors(void **state)
{
    (void)state;
    put("class/hwmon/hwmon0/name", "amdgpu\n");
    put("class/hwmon/hwmon0/power1_label", "PPT\n");
    put_number("class/hwmon/hwmon0/power1_average", 20000000);
    put_number("class/hwmon/hwmon0/power1_input", 90000000);
    put_number("class/hwmon/hwmon0/power1_cap", 300000000);
    put("class/hwmon/hwmon1/name", "amd_energy\n");
    put("class/hwmon/hwmon1/energy1_label", "Ecore000\n");
    put_number("class/hwmon/hwmon1/energy1_input", 100);
    put("class/hwmon/hwmon1/energy2_label", "Esocket0\n");
    put_number("class/hwmon/hwmon1/energy2_input", 1000000);
    put_number("class/hwmon/hwmon1/power1_input", 90000000);
    put("class/hwmon/hwmon2/name", "nvme\n");
    put_number("class/hwmon/hwmon2/temp1_input", 30000);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/hwmon/hwmon0/power1_average", 40000000); // 30 W on average for a second
    hl_energy_sample(energy, 1);
    put_number("class/hwmon/hwmon1/energy2_input", 4000000);
    hl_energy_end(energy, 3); // 40 W for two more
    assert_int_equal(figure_count(energy), 2);
    assert_figure(energy, "amdgpu power1 PPT (hwmon0)", 110, 110.0 / 3);
    assert_figure(energy, "amd_energy energy2 Esocket0 (hwmon1)", 3, 1);
    hl_energy_close(energy);
}

// ---- batteries ----------------------------------------------------------------------------------

static void put_battery(const char *status)
{
    put("class/power_supply/BAT0/type", "Battery\n");
    put("class/power_supply/BAT0/status", status);
    put("class/power_supply/AC/type", "Mains\n");
    put_number("class/power_supply/AC/power_now", 65000000);
    // The same once more, as a sensor.
    put("class/hwmon/hwmon0/name", "BAT0\n");
    put_number("class/hwmon/hwmon0/power1_input", 1);
}

static void test_battery_power(void **state)
{
    (void)state;
    put_battery("Discharging\n");
    put_number("class/power_supply/BAT0/current_now", -2000000); // 2 A
    put_number("class/power_supply/BAT0/voltage_now", 4000000);  // 4 V
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    hl_energy_end(energy, 2);
    assert_int_equal(figure_count(energy), 1);
    assert_figure(energy, "whole device (BAT0)", 16, 8);
    hl_energy_close(energy);
    // The power itself counts before what it is the product of.
    put_number("class/power_supply/BAT0/power_now", 5000000);
    energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    hl_energy_sample(energy, 2);
    assert_int_equal(figure_count(energy), 0);
    hl_energy_end(energy, 2);
    assert_figure(energy, "whole device (BAT0)", 10, 5);
    // Somebody plugs it in.
    hl_energy_begin(energy, 0);
    put("class/power_supply/BAT0/status", "Charging\n");
    hl_energy_end(energy, 2);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "BAT0/power_now: it is no longer discharging");
    hl_energy_close(energy);
}

static void test_battery_charge(void **state)
{
    (void)state;
    put_battery("Discharging\n");
    put_number("class/power_supply/BAT0/energy_now", 50000000);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    put_number("class/power_supply/BAT0/energy_now", 49990000); // 0.01 Wh
    hl_energy_end(energy, 6);
    assert_figure(energy, "whole device (BAT0)", 36, 6);
    hl_energy_close(energy);
}

static void test_battery_plugged_in(void **state)
{
    (void)state;
    put_battery("Full\n");
    put_number("class/power_supply/BAT0/power_now", 5000000);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    hl_energy_end(energy, 1);
    assert_int_equal(figure_count(energy), 0);
    assert_reason(energy, "BAT0 is not discharging but 'Full' (unplug the charger)");
    hl_energy_close(energy);
}

// ---- NVML ---------------------------------------------------------------------------------------

static void test_cards(void **state)
{
    (void)state;
    setenv("HALITE_NVML_LIBRARY", FAKE_NVML, 1);
    struct hl_energy *energy = hl_energy_open();
    hl_energy_begin(energy, 0);
    hl_energy_sample(energy, 1);
    hl_energy_end(energy, 2);
    assert_int_equal(figure_count(energy), 2);
    assert_figure(energy, "GPU 0: Fake Card A", 1, 0.5);
    assert_figure(energy, "GPU 1: Fake Card B", 80, 40);
    hl_energy_close(energy);
}

static void test_cards_that_fail(void **state)
{
    (void)state;
    setenv("HALITE_NVML_LIBRARY", FAKE_NVML, 1);
    static const struct {
        const char *fail, *reason;
        int figures;
    } cases[] = {
        {"init", "nvml: Insufficient Permissions", 0},
        {"count", "nvml: Insufficient Permissions", 0},
        {"handle", "nvml: GPU 1: Insufficient Permissions", 1},
        {"read", "nvml: GPU 0: Fake Card A: GPU is lost", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("FAKE_NVML", cases[i].fail, 1);
        struct hl_energy *energy = hl_energy_open();
        hl_energy_begin(energy, 0);
        hl_energy_sample(energy, 1);
        hl_energy_end(energy, 2);
        assert_reason(energy, cases[i].reason);
        assert_int_equal(figure_count(energy), cases[i].figures);
        hl_energy_close(energy);
    }
}

// ---- nothing ------------------------------------------------------------------------------------

static void test_nothing(void **state)
{
    (void)state;
    struct hl_energy *energy = hl_energy_open();
    hl_energy_start(energy);
    hl_energy_stop(energy);
    assert_int_equal(figure_count(energy), 0);
    static const char *const reasons[] = {"rapl: no counters in ", "modprobe intel_rapl_msr",
                                          "; hwmon: no sensors of energy or power in ",
                                          "; nvml: /no/such/library.so, of NVIDIA's driver, does not open",
                                          "; battery: no battery in "};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) assert_reason(energy, reasons[i]);
    hl_energy_close(energy);
    hl_energy_close(NULL);
}

// The thread looks, too: a constant power times the time that has gone.
static void test_thread(void **state)
{
    (void)state;
    put("class/hwmon/hwmon0/name", "power_meter\n");
    put_number("class/hwmon/hwmon0/power1_average", 25000000);
    struct hl_energy *energy = hl_energy_open();
    for (int i = 0; i < 3; i++) {
        hl_energy_start(energy);
        hl_sleep(1e-3);
        hl_energy_stop(energy);
        const struct hl_energy_figure *figure = figure_of(energy, "power_meter power1 (hwmon0)");
        assert_non_null(figure);
        assert_true(figure->watts > 25 * (1 - 1e-9) && figure->watts < 25 * (1 + 1e-9));
    }
    hl_energy_close(energy);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(packages_once),   TEST(other_view),      TEST(wraparound),     TEST(backwards),
        TEST(one_of_two_lost), TEST(garbage),         TEST(permission),     TEST(unchanged),
        TEST(sensors),         TEST(battery_power),   TEST(battery_charge), TEST(battery_plugged_in),
        TEST(cards),           TEST(cards_that_fail), TEST(nothing),        TEST(thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
