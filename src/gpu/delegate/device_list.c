// SPDX-License-Identifier: Apache-2.0
// Shows users the devices of this machine: the list of gpu/backend/devices.h in the structs of halite/gpu_delegate.h.
#include <stdlib.h>

#include "gpu/delegate/report.h"

struct HaliteDeviceList {
    struct gpu_device_list found;
    HaliteDevice devices[GPU_MAX_DEVICES];
    HaliteDeviceApi apis[GPU_MAX_BACKENDS];
    int automatic;
    char why[GPU_REASON_BYTES];
};

HaliteDevice gpu_public_device(const struct gpu_device_info *info)
{
    const struct gpu_caps *caps = &info->caps;
    return (HaliteDevice){
        .name = info->text,
        .api = info->api,
        .description = caps->name,
        .driver = caps->driver,
        .is_software = caps->software,
        .is_integrated = caps->integrated,
        .half_storage = caps->half_storage,
        .half_arithmetic = gpu_caps_take_f16(caps),
        .memory = caps->memory,
        .max_buffer = caps->max_buffer,
        .max_group_size = caps->max_group_size,
        .max_group = {caps->max_group[0], caps->max_group[1], caps->max_group[2]},
        .shared_memory = caps->shared_bytes,
        .compute_units = caps->compute_units,
        .subgroup_size = caps->subgroup_size,
    };
}

HaliteDeviceList *HaliteDeviceListCreate(void)
{
    HaliteDeviceList *list = calloc(1, sizeof *list);
    if (!list) return NULL;
    gpu_devices_find(&list->found);
    for (int i = 0; i < list->found.count; i++) list->devices[i] = gpu_public_device(&list->found.devices[i]);
    for (int i = 0; i < list->found.api_count; i++)
        list->apis[i] = (HaliteDeviceApi){list->found.apis[i].name, list->found.apis[i].why};
    const struct gpu_device_info *best = gpu_devices_auto(&list->found, list->why);
    list->automatic = best ? (int)(best - list->found.devices) : -1;
    return list;
}

void HaliteDeviceListDelete(HaliteDeviceList *list)
{
    free(list);
}

int32_t HaliteDeviceListGetCount(const HaliteDeviceList *list)
{
    return list ? list->found.count : 0;
}

const HaliteDevice *HaliteDeviceListGetDevice(const HaliteDeviceList *list, int32_t index)
{
    return list && index >= 0 && index < list->found.count ? &list->devices[index] : NULL;
}

int32_t HaliteDeviceListGetApiCount(const HaliteDeviceList *list)
{
    return list ? list->found.api_count : 0;
}

const HaliteDeviceApi *HaliteDeviceListGetApi(const HaliteDeviceList *list, int32_t index)
{
    return list && index >= 0 && index < list->found.api_count ? &list->apis[index] : NULL;
}

int32_t HaliteDeviceListGetAuto(const HaliteDeviceList *list)
{
    return list ? list->automatic : -1;
}

const char *HaliteDeviceListGetAutoReason(const HaliteDeviceList *list)
{
    return list ? list->why : "";
}
