// SPDX-License-Identifier: Apache-2.0
// See device.h.
#include "litert/accelerator/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

static bool take(const char *text, char name[LITERT_DEVICE_BYTES])
{
    if (strlen(text) >= LITERT_DEVICE_BYTES) return false;
    strcpy(name, text);
    return true;
}

static bool is_of_api(const HaliteDevice *device, const char *api)
{
    size_t length = strlen(api);
    return strncmp(device->name, api, length) == 0 && device->name[length] == ':';
}

// Whether the list has what a text of HaliteGpuDelegateOptions.device asks for.
static bool has(const HaliteDeviceList *list, const char *text)
{
    if (strcmp(text, "null") == 0) return true;
    if (strcmp(text, "auto") == 0) return HaliteDeviceListGetAuto(list) >= 0;
    for (int i = 0; i < HaliteDeviceListGetCount(list); i++) {
        const HaliteDevice *device = HaliteDeviceListGetDevice(list, i);
        if (strcmp(device->name, text) == 0 || is_of_api(device, text)) return true;
    }
    return false;
}

static void report_missing(const HaliteDeviceList *list, const char *text)
{
    if (strcmp(text, "auto") == 0) {
        hl_report(NULL, "Halite for LiteRT: no GPU: %s", HaliteDeviceListGetAutoReason(list));
        return;
    }
    static const char *const names[][2] = {{"opencl", "OpenCL"}, {"vulkan", "Vulkan"}, {"gles", "OpenGL ES"}};
    const char *why = "`halite devices` lists those that are there";
    for (int i = 0; i < HaliteDeviceListGetApiCount(list); i++) {
        const HaliteDeviceApi *api = HaliteDeviceListGetApi(list, i);
        for (int k = 0; k < 3; k++)
            if (strncmp(text, names[k][0], strlen(names[k][0])) == 0 && strcmp(api->name, names[k][1]) == 0)
                why = api->problem ? api->problem : why;
    }
    hl_report(NULL, "Halite for LiteRT: there is no device %s: %s", text, why);
}

// The first device whose driver's name has the wanted part in it; a real GPU before a software device.
static const HaliteDevice *find_described(const HaliteDeviceList *list, const struct litert_gpu_options *options)
{
    const HaliteDevice *software = NULL;
    for (int i = 0; i < HaliteDeviceListGetCount(list); i++) {
        const HaliteDevice *device = HaliteDeviceListGetDevice(list, i);
        if (options->api && !is_of_api(device, options->api)) continue;
        if (!strstr(device->description, options->description)) continue;
        if (!device->is_software) return device;
        if (!software) software = device;
    }
    return software;
}

static bool choose(const HaliteDeviceList *list, const struct litert_gpu_options *options,
                   char name[LITERT_DEVICE_BYTES])
{
    const char *environment = getenv("HALITE_DEVICE");
    const char *text = options->device;
    if (!*text && environment) text = environment;
    if (!*text && options->description[0]) {
        const HaliteDevice *device = find_described(list, options);
        if (device) return take(device->name, name);
        hl_report(NULL, "Halite for LiteRT: no device%s%s has \"%s\" in its name (preferred_device_substr)",
                  options->api ? " of " : "", options->api ? options->api : "", options->description);
        return false;
    }
    if (!*text) text = options->api ? options->api : "auto";
    if (has(list, text) && take(text, name)) return true;
    report_missing(list, text);
    return false;
}

bool litert_device_choose(const struct litert_gpu_options *options, char name[LITERT_DEVICE_BYTES])
{
    HaliteDeviceList *list = HaliteDeviceListCreate();
    if (!list) hl_report(NULL, "Halite for LiteRT: out of memory");
    bool found = list && choose(list, options, name);
    HaliteDeviceListDelete(list);
    return found;
}
