// SPDX-License-Identifier: Apache-2.0
// halite devices: which GPUs are there? In: nothing but the machine. Out: every device of every API with its limits and
// the name that chooses it, and which one is taken when none is named. No device is an answer as well: exit code 0.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "commands.h"
#include "devices.h"
#include "gpu_library.h"
#include "json.h"
#include "table.h"

struct options {
    bool json, names;
};

static const struct options defaults = {.json = false};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json),
     .help = "as JSON"},
    {.name = "names", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, names),
     .help = "only what --device takes here, one a line"},
};
// clang-format on

// ---- text ---------------------------------------------------------------------------------------

static const char *kind_of(const HaliteDevice *device)
{
    if (device->is_software) return "software, taken only when named";
    return device->is_integrated ? "integrated GPU" : "discrete GPU";
}

static void add_line(struct hl_table *table, const char *device, const char *what)
{
    hl_table_add(table, "%s", device);
    hl_table_add(table, "%s", what);
}

static void add_number(struct hl_text *text, int number, const char *what)
{
    if (number > 0) hl_text_add(text, ", %s%d", what, number);
}

static void add_device(struct hl_table *table, const HaliteDevice *device)
{
    char memory[32], buffer[32], shared[32];
    hl_format_bytes(memory, sizeof memory, device->memory);
    hl_format_bytes(buffer, sizeof buffer, device->max_buffer);
    hl_format_bytes(shared, sizeof shared, (uint64_t)device->shared_memory);
    struct hl_text groups = {0};
    hl_text_add(&groups, "up to %d work-items (%d x %d x %d), %s shared", device->max_group_size, device->max_group[0],
                device->max_group[1], device->max_group[2], shared);
    add_number(&groups, device->subgroup_size, "subgroups of ");
    add_number(&groups, device->compute_units, "compute units: ");

    add_line(table, device->name, "device");
    hl_table_add_name(table, device->description);
    add_line(table, "", "kind");
    hl_table_add(table, "%s", kind_of(device));
    add_line(table, "", "driver");
    hl_table_add_name(table, device->driver);
    add_line(table, "", "memory");
    hl_table_add(table, "%s, a buffer up to %s", device->memory > 0 ? memory : "not known", buffer);
    add_line(table, "", "work-groups");
    hl_table_add(table, "%s", groups.data);
    add_line(table, "", "half floats");
    hl_table_add(table, "%s",
                 device->half_arithmetic ? "stored and computed with"
                 : device->half_storage  ? "stored"
                                         : "none");
    hl_text_free(&groups);
}

static void print_text(const struct hl_gpu_library *gpu, const HaliteDeviceList *list)
{
    struct hl_table table;
    hl_table_start(&table, "lll");
    int count = gpu->HaliteDeviceListGetCount(list), best = gpu->HaliteDeviceListGetAuto(list);
    for (int i = 0; i < count; i++) add_device(&table, gpu->HaliteDeviceListGetDevice(list, i));
    hl_table_print(&table, 0, stdout);
    if (count > 0) printf("\n");
    if (best >= 0)
        printf("auto takes %s: %s\n", gpu->HaliteDeviceListGetDevice(list, best)->name,
               gpu->HaliteDeviceListGetAutoReason(list));
    else
        printf("auto takes none: %s\n", count > 0 ? "there is no GPU" : "there is no device");
    const char *named = getenv("HALITE_DEVICE");
    if (named != NULL && *named != '\0') printf("HALITE_DEVICE is set and comes before auto: %s\n", named);
    for (int i = 0; i < gpu->HaliteDeviceListGetApiCount(list); i++) {
        const HaliteDeviceApi *api = gpu->HaliteDeviceListGetApi(list, i);
        if (api->problem != NULL) printf("%s: %s\n", api->name, api->problem);
    }
}

// ---- names --------------------------------------------------------------------------------------

// auto, and for each API its name and those of its devices.
static void print_names(const struct hl_gpu_library *gpu, const HaliteDeviceList *list)
{
    const char *api = "";
    printf("auto\n");
    for (int i = 0; i < gpu->HaliteDeviceListGetCount(list); i++) {
        const HaliteDevice *device = gpu->HaliteDeviceListGetDevice(list, i);
        int length = (int)strcspn(device->name, ":");
        if (strncmp(api, device->name, (size_t)length) != 0) printf("%.*s\n", length, device->name);
        printf("%s\n", device->name);
        api = device->name;
    }
}

// ---- JSON ---------------------------------------------------------------------------------------

cJSON *hl_device_json(const HaliteDevice *device)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "name", device->name);
    hl_json_add_string(json, "api", device->api);
    hl_json_add_string(json, "description", device->description);
    hl_json_add_string(json, "driver", device->driver);
    cJSON_AddBoolToObject(json, "software", device->is_software);
    cJSON_AddBoolToObject(json, "integrated", device->is_integrated);
    cJSON_AddBoolToObject(json, "half_storage", device->half_storage);
    cJSON_AddBoolToObject(json, "half_arithmetic", device->half_arithmetic);
    cJSON_AddNumberToObject(json, "memory", (double)device->memory);
    cJSON_AddNumberToObject(json, "max_buffer", (double)device->max_buffer);
    cJSON_AddNumberToObject(json, "max_group_size", device->max_group_size);
    cJSON *group = cJSON_AddArrayToObject(json, "max_group");
    for (int i = 0; i < 3; i++) cJSON_AddItemToArray(group, cJSON_CreateNumber(device->max_group[i]));
    cJSON_AddNumberToObject(json, "shared_memory", device->shared_memory);
    cJSON_AddNumberToObject(json, "compute_units", device->compute_units);
    cJSON_AddNumberToObject(json, "subgroup_size", device->subgroup_size);
    return json;
}

static void print_json(const struct hl_gpu_library *gpu, const HaliteDeviceList *list, const char *problem)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *devices = cJSON_AddArrayToObject(json, "devices"), *apis = cJSON_AddArrayToObject(json, "apis");
    int best = list != NULL ? gpu->HaliteDeviceListGetAuto(list) : -1;
    for (int i = 0; list != NULL && i < gpu->HaliteDeviceListGetCount(list); i++)
        cJSON_AddItemToArray(devices, hl_device_json(gpu->HaliteDeviceListGetDevice(list, i)));
    for (int i = 0; list != NULL && i < gpu->HaliteDeviceListGetApiCount(list); i++) {
        const HaliteDeviceApi *api = gpu->HaliteDeviceListGetApi(list, i);
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", api->name);
        if (api->problem != NULL) hl_json_add_string(item, "problem", api->problem);
        cJSON_AddItemToArray(apis, item);
    }
    if (best >= 0)
        hl_json_add_string(json, "auto", gpu->HaliteDeviceListGetDevice(list, best)->name);
    else
        cJSON_AddNullToObject(json, "auto");
    hl_json_add_string(json, "reason", list != NULL ? gpu->HaliteDeviceListGetAutoReason(list) : problem);
    hl_json_print(json);
    cJSON_Delete(json);
}

// ---- the subcommand -----------------------------------------------------------------------------

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    struct hl_gpu_library gpu;
    struct hl_text problem = {0};
    HaliteDeviceList *list = NULL;
    if (hl_gpu_library_open(&gpu, &problem)) list = hl_alloc_check(gpu.HaliteDeviceListCreate());
    if (options->names && list != NULL)
        print_names(&gpu, list);
    else if (options->json)
        print_json(&gpu, list, hl_text_string(&problem));
    else if (list != NULL)
        print_text(&gpu, list);
    else if (!options->names)
        printf("%s\n", problem.data);
    if (list != NULL) gpu.HaliteDeviceListDelete(list);
    hl_text_free(&problem);
    return HL_EXIT_OK;
}

static const struct hl_example examples[] = {
    {"halite devices --json", "for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_devices = {
    .name = "devices",
    .summary = "List the GPUs of this machine, and which one is taken.",
    .details = "The first column is what --device, HALITE_DEVICE and the delegate's option device take.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    .environment = HL_ENVIRONMENT_GPU,
    .run = run,
};
