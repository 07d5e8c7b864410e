// SPDX-License-Identifier: Apache-2.0
// Says whether this machine has a GPU that is worth it, which one, and with which options. In: the list of devices of
// gpu/backend/devices.h. Out: the functions HaliteCompatibility... of halite/gpu_delegate.h.
#include "gpu/delegate/compatibility.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "gpu/delegate/report.h"

enum {
    MIN_GROUP_SIZE = 64,       // work-items in the kernels' smallest work-groups
    MIN_SHARED_MEMORY = 16384, // bytes of their smallest blocks
    MAX_THREADS = 4,
    VERDICT_BYTES = 512,
};

struct HaliteCompatibility {
    struct gpu_device_list found; // those that were judged
    HaliteDevice devices[GPU_MAX_DEVICES];
    HaliteCompatibilityDevice verdicts[GPU_MAX_DEVICES];
    char verdict_texts[GPU_MAX_DEVICES][VERDICT_BYTES];
    char reason[GPU_REASON_BYTES + VERDICT_BYTES];
    bool is_worth_it;
    char device_name[sizeof((struct gpu_device_info *)NULL)->text];
    HaliteGpuDelegateOptions best;
};

// ---- rules --------------------------------------------------------------------------------------

struct parts {
    char *text;
    size_t size, length;
};

static void HL_PRINTF(2, 3) add_part(struct parts *parts, const char *format, ...)
{
    if (parts->length > 0 && parts->length + 2 < parts->size) {
        memcpy(parts->text + parts->length, "; ", 3);
        parts->length += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(parts->text + parts->length, parts->size - parts->length, format, arguments);
    va_end(arguments);
    if (wanted > 0) parts->length += (size_t)wanted;
    if (parts->length >= parts->size) parts->length = parts->size - 1;
}

static void add_known_problems(struct parts *parts, const HaliteDevice *device)
{
    static const struct {
        const char *api, *device, *driver, *problem, *source;
    } known[] = {
#define DRIVER(api, device, driver, problem, source) {api, device, driver, problem, source},
#include "gpu/delegate/known_problems.def"
#undef DRIVER
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(device->api, known[i].api) == NULL || strstr(device->description, known[i].device) == NULL ||
            strstr(device->driver, known[i].driver) == NULL)
            continue;
        add_part(parts, "%s (%s)", known[i].problem, known[i].source);
        return;
    }
}

HaliteCompatibilityDevice gpu_compatibility_judge(const HaliteDevice *device, bool allow_software, char *text,
                                                  size_t size)
{
    struct parts parts = {.text = text, .size = size};
    text[0] = '\0';
    if (device->is_software && !allow_software) add_part(&parts, "it is made of software and runs on the CPU");
    add_known_problems(&parts, device);
    if (device->max_group_size < MIN_GROUP_SIZE)
        add_part(&parts, "its work-groups have at most %d work-items, and the kernels need %d", device->max_group_size,
                 MIN_GROUP_SIZE);
    if (device->shared_memory < MIN_SHARED_MEMORY)
        add_part(&parts, "its work-groups share %d bytes, and the kernels need %d", device->shared_memory,
                 MIN_SHARED_MEMORY);
    // Half floats in storage halve what is read and written, and sums stay in 32 bits.
    bool half = device->half_storage;
    return (HaliteCompatibilityDevice){.device = device,
                                       .is_worth_it = parts.length == 0,
                                       .reason = text,
                                       .precision = half ? kHaliteGpuPrecisionF16S : kHaliteGpuPrecisionF32,
                                       .precision_reason = half ? "half the memory traffic, 32-bit arithmetic"
                                                                : "the device has no half floats"};
}

// ---- the judgment -------------------------------------------------------------------------------

static bool is_set(const char *variable, const char *value)
{
    const char *found = getenv(variable);
    return found != NULL && strcmp(found, value) == 0;
}

static void keep_reason(void *data, const char *format, va_list arguments)
{
    HaliteCompatibility *compatibility = data;
    vsnprintf(compatibility->reason, sizeof compatibility->reason, format, arguments);
}

// Leaves the devices to be judged in `found`; none, and a reason, where the text names one that is not there.
static void find(HaliteCompatibility *compatibility, const char *device)
{
    struct gpu_device_list *found = &compatibility->found;
    if (device == NULL || *device == '\0') device = getenv("HALITE_DEVICE");
    if (device == NULL || *device == '\0' || strcmp(device, "auto") == 0) {
        gpu_devices_find(found);
        gpu_devices_auto(found, compatibility->reason); // the reason stays where there is no device at all
        return;
    }
    const struct hl_reporter reporter = {keep_reason, compatibility};
    found->count = gpu_device_choose(device, "", false, &reporter, &found->devices[0]) ? 1 : 0;
}

static void judge_all(HaliteCompatibility *compatibility, bool allow_software)
{
    const struct gpu_device_list *found = &compatibility->found;
    for (int i = 0; i < found->count; i++) {
        compatibility->devices[i] = gpu_public_device(&found->devices[i]);
        compatibility->verdicts[i] = gpu_compatibility_judge(&compatibility->devices[i], allow_software,
                                                             compatibility->verdict_texts[i], VERDICT_BYTES);
    }
}

static void explain_refusals(HaliteCompatibility *compatibility)
{
    struct parts parts = {.text = compatibility->reason, .size = sizeof compatibility->reason};
    for (int i = 0; i < compatibility->found.count; i++) {
        const HaliteCompatibilityDevice *verdict = &compatibility->verdicts[i];
        add_part(&parts, "%s (%s) is not worth it: %s", verdict->device->name, verdict->device->description,
                 verdict->reason);
    }
}

// Takes the fastest device that is worth it, as "auto" compares them.
static void choose(HaliteCompatibility *compatibility)
{
    struct gpu_device_list *worthy = calloc(1, sizeof *worthy);
    const struct gpu_device_info *best = NULL;
    for (int i = 0; worthy != NULL && i < compatibility->found.count; i++)
        if (compatibility->verdicts[i].is_worth_it) worthy->devices[worthy->count++] = compatibility->found.devices[i];
    if (worthy != NULL) best = gpu_devices_fastest(worthy, true, NULL);
    for (int i = 0; best != NULL && i < compatibility->found.count; i++) {
        const HaliteCompatibilityDevice *verdict = &compatibility->verdicts[i];
        if (strcmp(verdict->device->name, best->text) != 0) continue;
        compatibility->is_worth_it = true;
        memcpy(compatibility->device_name, best->text, sizeof compatibility->device_name);
        compatibility->best = (HaliteGpuDelegateOptions){.struct_size = sizeof compatibility->best,
                                                         .device = compatibility->device_name,
                                                         .precision = verdict->precision};
        snprintf(compatibility->reason, sizeof compatibility->reason, "%s (%s) is worth it: %s", best->text,
                 verdict->device->description,
                 worthy->count > 1 ? "the fastest of several" : "the only one, and nothing speaks against it");
    }
    if (!compatibility->is_worth_it && compatibility->found.count > 0) explain_refusals(compatibility);
    free(worthy);
}

// ---- the interface ------------------------------------------------------------------------------

HaliteCompatibility *HaliteCompatibilityCreate(const HaliteCompatibilityOptions *options)
{
    HaliteCompatibilityOptions known = {.struct_size = sizeof known};
    if (options != NULL && options->struct_size < sizeof known) return NULL; // the first version had all fields
    if (options != NULL) known = *options;
    HaliteCompatibility *compatibility = calloc(1, sizeof *compatibility);
    if (compatibility == NULL) return NULL;
    find(compatibility, known.device);
    judge_all(compatibility, known.allow_software || is_set("HALITE_COMPATIBILITY", "software"));
    if (is_set("HALITE_COMPATIBILITY", "none"))
        snprintf(compatibility->reason, sizeof compatibility->reason, "HALITE_COMPATIBILITY is none");
    else
        choose(compatibility);
    return compatibility;
}

void HaliteCompatibilityDelete(HaliteCompatibility *compatibility)
{
    free(compatibility);
}

bool HaliteCompatibilityIsGpuWorthIt(const HaliteCompatibility *compatibility)
{
    return compatibility != NULL && compatibility->is_worth_it;
}

const char *HaliteCompatibilityGetReason(const HaliteCompatibility *compatibility)
{
    return compatibility != NULL ? compatibility->reason : "";
}

const HaliteGpuDelegateOptions *HaliteCompatibilityGetBestOptions(const HaliteCompatibility *compatibility)
{
    return HaliteCompatibilityIsGpuWorthIt(compatibility) ? &compatibility->best : NULL;
}

int32_t HaliteCompatibilityGetBestThreads(const HaliteCompatibility *compatibility)
{
    if (compatibility == NULL) return 1;
    int processors = hl_processors();
    return processors < MAX_THREADS ? processors : MAX_THREADS;
}

int32_t HaliteCompatibilityGetDeviceCount(const HaliteCompatibility *compatibility)
{
    return compatibility != NULL ? compatibility->found.count : 0;
}

const HaliteCompatibilityDevice *HaliteCompatibilityGetDevice(const HaliteCompatibility *compatibility, int32_t index)
{
    return compatibility != NULL && index >= 0 && index < compatibility->found.count ? &compatibility->verdicts[index]
                                                                                     : NULL;
}
