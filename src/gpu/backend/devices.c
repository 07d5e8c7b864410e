// SPDX-License-Identifier: Apache-2.0
// The table of backends, and the choice among their devices. In: texts of users, counts and capabilities of backends.
// Out: a device's backend and number, or a message. A new backend is a row here.
#include "gpu/backend/devices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Only what this library was built with: others are answered by name.
static const struct row {
    const struct gpu_backend *backend; // NULL: not in this build
    const char *name, *title;
    int rank; // among equal devices: a list of 30 dispatches takes 75-90 us by Vulkan, 120-150 us by OpenCL (H200)
    bool hidden; // only when asked for by name
} rows[] = {
    {&gpu_backend_opencl, "opencl", "OpenCL", 1, false},
#if defined(HALITE_GPU_VULKAN)
    {&gpu_backend_vulkan, "vulkan", "Vulkan", 2, false},
#else
    {NULL, "vulkan", "Vulkan", 2, false},
#endif
    {&gpu_backend_null, "null", "Null", 0, true},
};
enum { ROWS = sizeof rows / sizeof *rows };

// ---- a text of limited length ---------------------------------------------------------------------------------------

struct text {
    char data[1500];
    size_t length;
};

static void HL_PRINTF(2, 3) put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(text->data + text->length, sizeof text->data - text->length, format, args);
    va_end(args);
    if (wanted < 0) return;
    text->length += (size_t)wanted;
    if (text->length >= sizeof text->data) text->length = sizeof text->data - 1;
}

// ---- searching ------------------------------------------------------------------------------------------------------

static void find_row(const struct row *row, struct gpu_device_list *list)
{
    const char *why = "not in this build of the library";
    int count = row->backend ? row->backend->count(&why) : 0, described = 0;
    for (int i = 0; i < count && list->count < GPU_MAX_DEVICES; i++) {
        struct gpu_device_info *info = &list->devices[list->count];
        *info = (struct gpu_device_info){.backend = row->backend, .index = i, .rank = row->rank};
        if (!row->backend->describe(i, &info->caps)) continue;
        snprintf(info->text, sizeof info->text, "%s:%d", row->name, i);
        list->count++;
        described++;
    }
    if (described == 0 && list->missing_count < GPU_MAX_BACKENDS) {
        if (count > 0) why = "its device does not say what it is: check the driver";
        list->missing[list->missing_count].name = row->title;
        list->missing[list->missing_count++].why = why ? why : "no device";
    }
}

void gpu_devices_find(struct gpu_device_list *list)
{
    list->count = list->missing_count = 0;
    for (int i = 0; i < ROWS; i++)
        if (!rows[i].hidden) find_row(&rows[i], list);
}

// ---- comparing ------------------------------------------------------------------------------------------------------

// Vendors whose devices are cards of their own come before those that share a chip with the CPU.
static int vendor_score(enum gpu_vendor vendor)
{
    switch (vendor) {
    case GPU_VENDOR_NVIDIA: return 6;
    case GPU_VENDOR_AMD: return 5;
    case GPU_VENDOR_APPLE: return 4;
    case GPU_VENDOR_INTEL: return 3;
    case GPU_VENDOR_QUALCOMM:
    case GPU_VENDOR_ARM: return 2;
    case GPU_VENDOR_OTHER: return 1;
    case GPU_VENDOR_SOFTWARE: break;
    }
    return 0;
}

static bool is_faster(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
    if (a->caps.software != b->caps.software) return b->caps.software;
    int x = vendor_score(a->caps.vendor), y = vendor_score(b->caps.vendor);
    if (x != y) return x > y;
    if (a->rank != b->rank) return a->rank > b->rank;
    return a->caps.compute_units > b->caps.compute_units;
}

// The fastest, software devices included where wanted; the first of equals.
static const struct gpu_device_info *fastest(const struct gpu_device_list *list, bool software)
{
    const struct gpu_device_info *best = NULL;
    for (int i = 0; i < list->count; i++) {
        const struct gpu_device_info *info = &list->devices[i];
        if ((software || !info->caps.software) && (!best || is_faster(info, best))) best = info;
    }
    return best;
}

const struct gpu_device_info *gpu_devices_fastest(const struct gpu_device_list *list)
{
    return fastest(list, false);
}

// ---- choosing -------------------------------------------------------------------------------------------------------

// "OpenCL: no libOpenCL.so.1: install …; Vulkan: only a software device, llvmpipe: name it with HALITE_DEVICE=vulkan"
static void put_findings(struct text *text, const struct gpu_device_list *list)
{
    const char *between = "";
    for (int i = 0; i < list->count; i++) {
        const struct gpu_device_info *info = &list->devices[i];
        const char *colon = strchr(info->text, ':');
        const char *title = info->backend->name;
        for (int k = 0; k < ROWS; k++)
            if (rows[k].backend == info->backend) title = rows[k].title;
        put(text, "%s%s: only a software device, %s: name it with HALITE_DEVICE=%.*s", between, title, info->caps.name,
            info->index == 0 ? (int)(colon - info->text) : (int)sizeof info->text, info->text);
        between = "; ";
    }
    for (int i = 0; i < list->missing_count; i++) {
        put(text, "%s%s: %s", between, list->missing[i].name, list->missing[i].why);
        between = "; ";
    }
}

static bool choose_any(const struct hl_reporter *reporter, struct gpu_device_info *chosen)
{
    struct gpu_device_list list;
    gpu_devices_find(&list);
    const struct gpu_device_info *best = fastest(&list, false);
    if (best) {
        *chosen = *best;
        return true;
    }
    struct text text = {.length = 0};
    put(&text, "No GPU found. ");
    put_findings(&text, &list);
    hl_report(reporter, "%s", text.data);
    return false;
}

// number: -1: the backend's fastest.
static bool choose_of(const struct row *row, int number, const char *asked, const struct hl_reporter *reporter,
                      struct gpu_device_info *chosen)
{
    struct gpu_device_list list = {.count = 0};
    find_row(row, &list);
    const struct gpu_device_info *best = number < 0 ? fastest(&list, true) : NULL;
    for (int i = 0; i < list.count && !best; i++)
        if (list.devices[i].index == number) best = &list.devices[i];
    if (best) {
        *chosen = *best;
        return true;
    }
    if (list.count == 0) {
        hl_report(reporter, "%s: no %s device: %s", asked, row->title, list.missing[0].why);
        return false;
    }
    struct text text = {.length = 0};
    for (int i = 0; i < list.count; i++)
        put(&text, "%s %s (%s)", i ? "," : "", list.devices[i].text, list.devices[i].caps.name);
    hl_report(reporter, "%s: there is no such device, only%s", asked, text.data);
    return false;
}

// Digits to the end, 0 to 9999; -1: something else.
static int parse_number(const char *text)
{
    int number = 0;
    if (!*text || strlen(text) > 4) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

bool gpu_device_choose(const char *text, const struct hl_reporter *reporter, struct gpu_device_info *chosen)
{
    const char *source = "device ";
    if (!text || !*text) {
        text = getenv("HALITE_DEVICE");
        source = "HALITE_DEVICE=";
    }
    if (!text || !*text || strcmp(text, "auto") == 0) return choose_any(reporter, chosen);

    char asked[64];
    snprintf(asked, sizeof asked, "%s%s", source, text);
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    int number = colon ? parse_number(colon + 1) : -1;
    struct text names = {.length = 0};
    for (int i = 0; i < ROWS; i++) {
        put(&names, ", %s", rows[i].name);
        if (strlen(rows[i].name) != length || strncmp(rows[i].name, text, length) != 0) continue;
        if (!colon || number >= 0) return choose_of(&rows[i], number, asked, reporter, chosen);
        hl_report(reporter, "%s: what follows the colon is no number of a device", asked);
        return false;
    }
    hl_report(reporter, "%s: unknown; known are auto%s, each but auto also with a number (opencl:0)", asked,
              names.data);
    return false;
}

struct gpu_device *gpu_device_open(const char *text, const struct hl_reporter *reporter,
                                   const struct gpu_backend **backend)
{
    struct gpu_device_info info;
    if (!gpu_device_choose(text, reporter, &info)) return NULL;
    *backend = info.backend;
    return info.backend->open(info.index, reporter);
}
