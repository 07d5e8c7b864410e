// SPDX-License-Identifier: Apache-2.0
// halite compat: does this model suit a GPU of this machine? In: a model. Out: for each device what speaks against it,
// how much of the model it takes, and the options that are best, by rule or, with --measure, by running it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "commands.h"
#include "compat/measure.h"
#include "json.h"
#include "message.h"
#include "placement.h"
#include "table.h"

struct options {
    const char *device;
    double bound;
    int runs;
    bool measure, json;
};

static const struct options defaults = {.bound = 0.02, .runs = 10};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "device", .letter = 'D', .kind = HL_FLAG_STRING, .value = "NAME", .offset = offsetof(struct options, device),
     .help = "only this one, by its name in halite devices; default: all"},
    {.name = "measure", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, measure),
     .help = "run the model on the CPU and on each device in each\n"
             "precision, with 1, 2 and all parts of the graph there,\nand choose by time"},
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 1000000,
     .offset = offsetof(struct options, runs), .help = "timed runs of each; default 10"},
    {.name = "bound", .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1e300, .offset = offsetof(struct options, bound),
     .help = "largest difference from the CPU that is taken, as a part of\n"
             "an output's largest value, of integers of their range;\n"
             "default 0.02"},
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json), .help = "as JSON"},
};
// clang-format on

// What the model needs.
struct need {
    size_t constants, activations, largest; // bytes; largest: of one tensor
    int operators, on_gpu, partitions;
};

// ---- rules --------------------------------------------------------------------------------------

static bool holds(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static const char *known_problem(const HaliteDevice *device, const char **source)
{
    static const struct {
        const char *api, *device, *driver, *problem, *source;
    } known[] = {
#define DRIVER(api, device, driver, problem, source) {api, device, driver, problem, source},
#include "compat/drivers.def"
#undef DRIVER
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!holds(device->api, known[i].api) || !holds(device->description, known[i].device) ||
            !holds(device->driver, known[i].driver))
            continue;
        *source = known[i].source;
        return known[i].problem;
    }
    return NULL;
}

// Adds a line for each thing that speaks against the device. True where none does.
static bool check(const HaliteDevice *device, const struct need *need, struct hl_text *against)
{
    enum { FEWEST_ITEMS = 64, LEAST_SHARED = 16384 }; // what the kernels' smallest blocks take
    const char *source, *problem = known_problem(device, &source);
    size_t before = against->length, bytes = need->constants + need->activations;
    if (device->is_software) hl_text_add(against, "it is made of software, on the CPU\n");
    if (problem != NULL) hl_text_add(against, "%s (%s)\n", problem, source);
    if (device->max_group_size < FEWEST_ITEMS)
        hl_text_add(against, "its work-groups have %d work-items, the kernels want %d\n", device->max_group_size,
                    FEWEST_ITEMS);
    if (device->shared_memory < LEAST_SHARED)
        hl_text_add(against, "its work-groups share %d bytes, the kernels want %d\n", device->shared_memory,
                    LEAST_SHARED);
    if (device->memory > 0 && bytes > device->memory / 2)
        hl_text_add(against, "the model takes %zu MiB of its %zu\n", bytes >> 20, (size_t)(device->memory >> 20));
    if (device->max_buffer > 0 && need->largest > device->max_buffer)
        hl_text_add(against, "the largest tensor has %zu MiB, a buffer at most %zu\n", need->largest >> 20,
                    (size_t)(device->max_buffer >> 20));
    return against->length == before;
}

// Half floats in storage halve what is read and written, and sums stay in 32 bits.
static const char *rule_precision(const HaliteDevice *device, const char **why)
{
    *why = device->half_storage ? "half the memory traffic, 32-bit arithmetic" : "the device has no half floats";
    return device->half_storage ? "f16s" : "f32";
}

// ---- the model ----------------------------------------------------------------------------------

enum { ALL_PARTITIONS = 1000000 };

static bool read_need(const char *path, struct need *need)
{
    struct hl_node_placement placement;
    struct hl_model_options options = {.threads = -1, .gpu = true, .device = "null", .partitions = ALL_PARTITIONS};
    bool ok = hl_node_placement_open(&placement, "compat", path, &options);
    if (ok) {
        cJSON *json = cJSON_CreateObject();
        hl_node_placement_json(&placement, json);
        const cJSON *part = cJSON_GetObjectItem(json, "placement");
        need->operators =
            cJSON_GetObjectItem(part, "operators")->valueint - cJSON_GetObjectItem(part, "folded")->valueint;
        need->on_gpu = cJSON_GetObjectItem(part, "on_gpu")->valueint;
        need->partitions = cJSON_GetObjectItem(part, "partitions")->valueint;
        cJSON_Delete(json);
    }
    hl_node_placement_close(&placement);
    return ok;
}

// Sizes as on the CPU: what lies in memory at once is much the same on a GPU.
static bool read_sizes(const char *path, struct need *need)
{
    struct hl_model_file file;
    struct hl_model_options plain = {.threads = -1, .stand_ins = true};
    HaliteMemoryReport memory;
    bool ok = hl_model_file_open(&file, "compat", path) && hl_model_file_start(&file, &plain);
    if (ok && TfLiteInterpreterAllocateTensors(file.interpreter) != kTfLiteOk) {
        hl_model_file_failed(&file, "no memory can be planned for it");
        ok = false;
    }
    if (ok && HaliteInterpreterGetMemoryReport(file.interpreter, &memory) == kTfLiteOk) {
        need->constants = memory.constants;
        need->activations = memory.arena;
        for (int i = 0; i < HaliteInterpreterGetTensorCount(file.interpreter); i++) {
            HaliteTensorReport tensor;
            if (HaliteInterpreterGetTensorReport(file.interpreter, i, &tensor) == kTfLiteOk &&
                tensor.bytes > need->largest)
                need->largest = tensor.bytes;
        }
    }
    hl_model_file_close(&file);
    return ok;
}

// ---- answers ------------------------------------------------------------------------------------

struct answer {
    const HaliteDevice *device;
    struct hl_text against;
    bool suits;
    const char *precision, *why;
};

static void print_text(const struct options *options, const struct need *need, const struct answer *answers, int count,
                       const struct hl_compat_times *times)
{
    printf("%d of %d operators have a GPU kernel, in %d part%s\n", need->on_gpu, need->operators, need->partitions,
           need->partitions == 1 ? "" : "s");
    if (count == 0) printf("there is no device; halite devices says what was looked for\n");
    for (int i = 0; i < count; i++) {
        const struct answer *answer = &answers[i];
        printf("\n%s, %s: %s\n", answer->device->name, answer->device->description,
               answer->suits ? "suits" : "does not suit");
        struct hl_text lines = {0};
        hl_text_add(&lines, "%s", hl_text_string(&answer->against));
        for (char *line = strtok(lines.data, "\n"); line != NULL; line = strtok(NULL, "\n")) printf("  %s\n", line);
        hl_text_free(&lines);
        printf("  precision %s: %s\n", answer->precision, answer->why);
    }
    if (times->count > 0) hl_compat_print(times, options->bound);
    int best = hl_compat_best(times, options->bound);
    if (best >= 0)
        printf("\nbest, by measurement: %s\n", hl_text_string(&times->items[best].flags));
    else
        for (int i = 0; i < count; i++) {
            if (!answers[i].suits) continue;
            printf("\nbest, by rule: --gpu --device %s --precision %s (--measure measures)\n", answers[i].device->name,
                   answers[i].precision);
            return;
        }
    if (best < 0) printf("\nbest: the CPU\n");
}

static void print_json(const struct options *options, const char *path, const struct need *need,
                       const struct answer *answers, int count, const struct hl_compat_times *times)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "file", path);
    cJSON_AddNumberToObject(json, "operators", need->operators);
    cJSON_AddNumberToObject(json, "on_gpu", need->on_gpu);
    cJSON_AddNumberToObject(json, "partitions", need->partitions);
    cJSON *devices = cJSON_AddArrayToObject(json, "devices");
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", answers[i].device->name);
        hl_json_add_string(item, "description", answers[i].device->description);
        cJSON_AddBoolToObject(item, "suits", answers[i].suits);
        hl_json_add_string(item, "against", hl_text_string(&answers[i].against));
        cJSON_AddStringToObject(item, "precision", answers[i].precision);
        cJSON_AddItemToArray(devices, item);
    }
    if (times->count > 0) {
        cJSON *rows = cJSON_AddArrayToObject(json, "measured");
        for (int i = 0; i < times->count; i++) {
            cJSON *item = cJSON_CreateObject();
            hl_json_add_string(item, "setting", times->items[i].name);
            if (times->items[i].partitions > 0) cJSON_AddNumberToObject(item, "partitions", times->items[i].partitions);
            cJSON_AddNumberToObject(item, "seconds", times->items[i].seconds);
            cJSON_AddNumberToObject(item, "difference", times->items[i].difference);
            cJSON_AddItemToArray(rows, item);
        }
        int best = hl_compat_best(times, options->bound);
        if (best >= 0) hl_json_add_string(json, "best", times->items[best].name);
        if (best > 0) hl_json_add_string(json, "flags", hl_text_string(&times->items[best].flags));
    }
    hl_json_print(json);
    cJSON_Delete(json);
}

static bool answer_all(const struct options *options, const char *path, const struct hl_gpu_library *gpu,
                       const HaliteDeviceList *list)
{
    struct need need = {0};
    if (!read_need(path, &need) || !read_sizes(path, &need)) return false;
    int all = gpu->HaliteDeviceListGetCount(list), count = 0;
    struct answer *answers = hl_alloc((size_t)all, sizeof *answers);
    for (int i = 0; i < all; i++) {
        const HaliteDevice *device = gpu->HaliteDeviceListGetDevice(list, i);
        if (options->device != NULL && strcmp(options->device, device->name) != 0) continue;
        struct answer *answer = &answers[count++];
        *answer = (struct answer){.device = device};
        answer->suits = check(device, &need, &answer->against);
        if (need.on_gpu == 0) hl_text_add(&answer->against, "no operator of the model has a GPU kernel\n");
        answer->suits = answer->suits && need.on_gpu > 0;
        answer->precision = rule_precision(device, &answer->why);
    }
    bool ok = count > 0 || options->device == NULL;
    if (!ok) hl_error("compat", NULL, "there is no device '%s'; halite devices lists them", options->device);
    struct hl_compat_times times = {0};
    if (ok && options->measure) {
        const char **names = hl_alloc((size_t)count, sizeof *names);
        for (int i = 0; i < count; i++) names[i] = answers[i].device->name;
        struct hl_compat_plan plan = {
            .model = path, .devices = names, .count = count, .partitions = need.partitions, .runs = options->runs};
        ok = hl_compat_measure(&times, &plan);
        free(names);
    }
    if (ok && options->json) print_json(options, path, &need, answers, count, &times);
    if (ok && !options->json) print_text(options, &need, answers, count, &times);
    hl_compat_times_free(&times);
    for (int i = 0; i < count; i++) hl_text_free(&answers[i].against);
    free(answers);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    struct hl_gpu_library gpu;
    struct hl_text problem = {0};
    bool ok = hl_gpu_library_open(&gpu, &problem);
    if (ok) {
        HaliteDeviceList *list = hl_alloc_check(gpu.HaliteDeviceListCreate());
        ok = answer_all(given, operands[0], &gpu, list);
        gpu.HaliteDeviceListDelete(list);
    } else {
        hl_error("compat", NULL, "%s", problem.data);
    }
    hl_text_free(&problem);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite compat model.tflite", "by rule, at once"},
    {"halite compat model.tflite --measure", "by running it on everything that is here"},
    {NULL, NULL},
};

const struct hl_command hl_command_compat = {
    .name = "compat",
    .summary = "Say whether a model and the GPUs here suit each other, and the best options.",
    .operands = "MODEL",
    .details = "Known problems of drivers come from a list with sources, tools/compat/drivers.def.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = 1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_GPU,
    .run = run,
};
