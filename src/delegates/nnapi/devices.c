// SPDX-License-Identifier: Apache-2.0
// Which devices a delegate uses. In: the options and the system's list. Out: those that the model is compiled for, or
// none, where NNAPI is to choose; and the feature level for which nodes are checked. A device is named by the option
// accelerator_name; without it, disallow_nnapi_cpu leaves out the system's own "nnapi-reference".
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "delegates/nnapi/nnapi.h"

static const char reference_device[] = "nnapi-reference";

bool nnapi_succeeded(struct nnapi_delegate *delegate, TfLiteContext *context, int result, int line, const char *doing)
{
    if (result == ANEURALNETWORKS_NO_ERROR) return true;
    delegate->last_result = result;
    const char *name = nnapi_result_name(result);
    char number[48];
    snprintf(number, sizeof number, "Unknown NNAPI error code: %d", result);
    context->ReportError(context, "NN API returned error %s at line %d while %s.\n", name ? name : number, line, doing);
    return false;
}

struct listed {
    ANeuralNetworksDevice *device;
    const char *name;
};

// Fills in at most NNAPI_MAX_DEVICES; *count of them. False after a message.
static bool list_devices(struct nnapi_delegate *delegate, TfLiteContext *context, struct listed *list, int *count)
{
    const struct nnapi *system = &delegate->system;
    uint32_t all = 0;
    *count = 0;
    if (!NNAPI_TRY(delegate, context, system->get_device_count(&all), "getting number of NNAPI devices")) return false;
    for (uint32_t i = 0; i < all && *count < NNAPI_MAX_DEVICES; i++) {
        struct listed *listed = &list[*count];
        if (!NNAPI_TRY(delegate, context, system->get_device(i, &listed->device),
                       "Getting list of available devices") ||
            !NNAPI_TRY(delegate, context, system->device_get_name(listed->device, &listed->name),
                       "Getting list of available devices"))
            return false;
        (*count)++;
    }
    return true;
}

static enum delegate_state named_one_is_absent(TfLiteContext *context, const char *wanted, const struct listed *list,
                                               int count)
{
    struct hl_text names = {0};
    for (int i = 0; i < count; i++) hl_text_append(&names, "%s%s", i ? "," : "", list[i].name);
    context->ReportError(context, "Could not find the specified NNAPI accelerator: %s. Must be one of: {%s}.", wanted,
                         names.data ? names.data : "");
    hl_text_free(&names);
    return DELEGATE_WRONG;
}

// Nodes are checked for the best of the devices; others may refuse operations that are too new for them.
static bool lower_level(struct nnapi_delegate *delegate, TfLiteContext *context)
{
    int64_t highest = 0;
    for (int i = 0; i < delegate->device_count; i++) {
        int64_t level = 0;
        if (!NNAPI_TRY(delegate, context, delegate->system.device_get_feature_level(delegate->devices[i], &level),
                       "Searching for target device"))
            return false;
        if (level > highest) highest = level;
    }
    if (delegate->device_count > 0 && highest < delegate->level) delegate->level = highest;
    return true;
}

static enum delegate_state choose(struct nnapi_delegate *delegate, TfLiteContext *context, char *why, size_t size)
{
    const struct nnapi_options *options = &delegate->options;
    struct listed list[NNAPI_MAX_DEVICES];
    int count;
    if (!list_devices(delegate, context, list, &count)) return DELEGATE_FAILED;
    const char *wanted = options->accelerator_name;
    if (wanted && !*wanted) wanted = NULL;
    for (int i = 0; i < count; i++) {
        bool reference = strcmp(list[i].name, reference_device) == 0;
        if (wanted ? strcmp(list[i].name, wanted) != 0 : !options->disallow_nnapi_cpu || reference) continue;
        delegate->devices[delegate->device_count++] = list[i].device;
        hl_digest_add(&delegate->device_names, list[i].name, strlen(list[i].name));
        delegate->asks_devices = delegate->asks_devices || !reference;
        if (!delegate->base.device[0])
            snprintf(delegate->base.device, sizeof delegate->base.device, "%s", list[i].name);
    }
    if (wanted && delegate->device_count == 0) return named_one_is_absent(context, wanted, list, count);
    bool chooses = wanted || options->disallow_nnapi_cpu;
    if (chooses ? delegate->device_count == 0 : count <= 1) {
        snprintf(why, size, "NNAPI has no accelerator here, %s",
                 count == 0 ? "and no other device" : "only its reference on the CPU");
        return DELEGATE_ABSENT;
    }
    if (!lower_level(delegate, context)) return DELEGATE_FAILED;
    return DELEGATE_READY;
}

enum delegate_state nnapi_find_devices(struct nnapi_delegate *delegate, TfLiteContext *context, char *why, size_t size)
{
    delegate->device_count = 0;
    delegate->device_names = (struct hl_digest){{0}};
    delegate->asks_devices = false;
    delegate->base.device[0] = 0;
    delegate->level = NNAPI_LEVEL_7; // for the reasons of nodes, where there is no system
    const struct nnapi_options *options = &delegate->options;
    const struct nnapi_source source = {options->support_library, options->support_library_path, options->library_path};
    if (!nnapi_open(&delegate->system, &source, why, size)) return DELEGATE_ABSENT;
    delegate->level = delegate->system.level;
    enum delegate_state state = DELEGATE_READY;
    if (delegate->system.level >= NNAPI_LEVEL_3) state = choose(delegate, context, why, size);
    if (state == DELEGATE_READY && !delegate->base.device[0])
        snprintf(delegate->base.device, sizeof delegate->base.device, "nnapi");
    return state;
}
