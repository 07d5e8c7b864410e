// SPDX-License-Identifier: Apache-2.0
// See name_list.h.
#include "gpu/backend/name_list.h"

#include <string.h>

bool gpu_name_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

enum gpu_vendor gpu_vendor_of_text(const char *text)
{
    static const struct {
        const char *text;
        enum gpu_vendor vendor;
    } rows[] = {
        {"NVIDIA", GPU_VENDOR_NVIDIA},     {"Advanced Micro Devices", GPU_VENDOR_AMD},
        {"AMD", GPU_VENDOR_AMD},           {"Intel", GPU_VENDOR_INTEL},
        {"ARM", GPU_VENDOR_ARM},           {"Arm", GPU_VENDOR_ARM},
        {"QUALCOMM", GPU_VENDOR_QUALCOMM}, {"Qualcomm", GPU_VENDOR_QUALCOMM},
        {"Apple", GPU_VENDOR_APPLE},
    };
    for (size_t i = 0; text && i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].text)) return rows[i].vendor;
    return GPU_VENDOR_OTHER;
}
