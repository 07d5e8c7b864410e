// SPDX-License-Identifier: Apache-2.0
// halite compat: is a GPU of this machine worth it? In: nothing, or a model. Out: for each device what speaks against
// it and the best options; with a model how much of it the GPU takes, by rule or, with --measure, by running it.
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
    bool measure, allow_software, json;
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
    {.name = "allow-software", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, allow_software),
     .help = "let devices made of software count as GPUs"},
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json), .help = "as JSON"},
};
// clang-format on

// What the model needs.
struct need {
    size_t constants, activations, largest; // bytes; largest: of one tensor
    int operators, on_gpu, partitions;
};

// ---- rules --------------------------------------------------------------------------------------

// Adds a line for each thing that speaks against running this model there.
static void check(const HaliteDevice *device, const struct need *need, struct hl_text *against)
{
    size_t bytes = need->constants + need->activations;
    if (device->memory > 0 && bytes > device->memory / 2)
        hl_text_add(against, "the model takes %zu MiB of its %zu\n", bytes >> 20, (size_t)(device->memory >> 20));
    if (device->max_buffer > 0 && need->largest > device->max_buffer)
        hl_text_add(against, "the largest tensor has %zu MiB, a buffer at most %zu\n", need->largest >> 20,
                    (size_t)(device->max_buffer >> 20));
    if (need->on_gpu == 0) hl_text_add(against, "no operator of the model has a GPU kernel\n");
}

// The reasons of the library, which "; " separates, a line each.
static void add_reasons(struct hl_text *against, const char *reason)
{
    for (const char *end; *reason != '\0'; reason = *end != '\0' ? end + 2 : end) {
        end = strstr(reason, "; ");
        if (end == NULL) end = reason + strlen(reason);
        hl_text_add(against, "%.*s\n", (int)(end - reason), reason);
    }
}

static const char *precision_name(HaliteGpuPrecision precision)
{
    return precision == kHaliteGpuPrecisionF16S ? "f16s" : "f32";
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
    ok = ok && hl_model_file_allocate(&file);
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

// What is known of the machine, and of the model where there is one.
struct question {
    const char *model; // NULL: none
    struct need need;
    bool worth_it;
    const char *reason;
    int threads;
    const HaliteGpuDelegateOptions *best; // NULL: the CPU
};

static void print_answers(const struct question *question, const struct answer *answers, int count)
{
    const char *yes = question->model != NULL ? "suits" : "worth it";
    const char *no = question->model != NULL ? "does not suit" : "not worth it";
    for (int i = 0; i < count; i++) {
        const struct answer *answer = &answers[i];
        printf("\n%s, %s: %s\n", answer->device->name, answer->device->description, answer->suits ? yes : no);
        struct hl_text lines = {0};
        hl_text_add(&lines, "%s", hl_text_string(&answer->against));
        for (char *line = strtok(lines.data, "\n"); line != NULL; line = strtok(NULL, "\n")) printf("  %s\n", line);
        hl_text_free(&lines);
        printf("  precision %s: %s\n", answer->precision, answer->why);
    }
}

static void print_machine(const struct question *question, const struct answer *answers, int count)
{
    printf("%s\n", question->reason);
    print_answers(question, answers, count);
    if (question->best != NULL)
        printf("\nbest: --gpu --device %s --precision %s\n", question->best->device,
               precision_name(question->best->precision));
    else
        printf("\nbest: the CPU, --threads %d\n", question->threads);
}

static void print_text(const struct options *options, const struct question *question, const struct answer *answers,
                       int count, const struct hl_compat_times *times)
{
    const struct need *need = &question->need;
    printf("%d of %d operators have a GPU kernel, in %d part%s\n", need->on_gpu, need->operators, need->partitions,
           need->partitions == 1 ? "" : "s");
    if (count == 0) printf("there is no device; halite devices says what was looked for\n");
    print_answers(question, answers, count);
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

static void add_model_json(cJSON *json, const struct question *question)
{
    const struct need *need = &question->need;
    hl_json_add_string(json, "file", question->model);
    cJSON_AddNumberToObject(json, "operators", need->operators);
    cJSON_AddNumberToObject(json, "on_gpu", need->on_gpu);
    cJSON_AddNumberToObject(json, "partitions", need->partitions);
}

static void add_machine_json(cJSON *json, const struct question *question)
{
    cJSON_AddBoolToObject(json, "gpu_is_worth_it", question->worth_it);
    hl_json_add_string(json, "reason", question->reason);
    cJSON_AddNumberToObject(json, "threads", question->threads);
    if (question->best == NULL) return;
    cJSON *best = cJSON_AddObjectToObject(json, "best_options");
    hl_json_add_string(best, "device", question->best->device);
    cJSON_AddStringToObject(best, "precision", precision_name(question->best->precision));
}

static void add_times_json(cJSON *json, const struct options *options, const struct hl_compat_times *times)
{
    if (times->count == 0) return;
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

static void print_json(const struct options *options, const struct question *question, const struct answer *answers,
                       int count, const struct hl_compat_times *times)
{
    cJSON *json = cJSON_CreateObject();
    if (question->model != NULL) add_model_json(json, question);
    add_machine_json(json, question);
    cJSON *devices = cJSON_AddArrayToObject(json, "devices");
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", answers[i].device->name);
        hl_json_add_string(item, "api", answers[i].device->api);
        hl_json_add_string(item, "description", answers[i].device->description);
        hl_json_add_string(item, "driver", answers[i].device->driver);
        cJSON_AddBoolToObject(item, question->model != NULL ? "suits" : "worth_it", answers[i].suits);
        hl_json_add_string(item, "against", hl_text_string(&answers[i].against));
        cJSON_AddStringToObject(item, "precision", answers[i].precision);
        cJSON_AddItemToArray(devices, item);
    }
    add_times_json(json, options, times);
    hl_json_print(json);
    cJSON_Delete(json);
}

static bool measure(struct hl_compat_times *times, const struct options *options, const struct question *question,
                    const struct answer *answers, int count)
{
    const char **names = hl_alloc((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) names[i] = answers[i].device->name;
    struct hl_compat_plan plan = {.model = question->model,
                                  .devices = names,
                                  .count = count,
                                  .partitions = question->need.partitions,
                                  .runs = options->runs};
    bool ok = hl_compat_measure(times, &plan);
    free(names);
    return ok;
}

static struct answer answer_for(const HaliteCompatibilityDevice *verdict, const struct question *question)
{
    struct answer answer = {.device = verdict->device,
                            .precision = precision_name(verdict->precision),
                            .why = verdict->precision_reason};
    add_reasons(&answer.against, verdict->reason);
    if (question->model != NULL) check(verdict->device, &question->need, &answer.against);
    answer.suits = answer.against.length == 0;
    return answer;
}

static bool answer_all(const struct options *options, struct question *question, const struct hl_gpu_library *gpu,
                       const HaliteCompatibility *compatibility)
{
    int count = gpu->HaliteCompatibilityGetDeviceCount(compatibility);
    question->worth_it = gpu->HaliteCompatibilityIsGpuWorthIt(compatibility);
    question->reason = gpu->HaliteCompatibilityGetReason(compatibility);
    question->threads = gpu->HaliteCompatibilityGetBestThreads(compatibility);
    question->best = gpu->HaliteCompatibilityGetBestOptions(compatibility);
    if (question->model != NULL &&
        (!read_need(question->model, &question->need) || !read_sizes(question->model, &question->need)))
        return false;
    if (count == 0 && options->device != NULL) {
        hl_error("compat", NULL, "there is no device '%s'; halite devices lists them", options->device);
        return false;
    }
    struct answer *answers = hl_alloc((size_t)count, sizeof *answers);
    for (int i = 0; i < count; i++)
        answers[i] = answer_for(gpu->HaliteCompatibilityGetDevice(compatibility, i), question);
    struct hl_compat_times times = {0};
    bool ok = !options->measure || measure(&times, options, question, answers, count);
    if (ok && options->json)
        print_json(options, question, answers, count, &times);
    else if (ok && question->model != NULL)
        print_text(options, question, answers, count, &times);
    else if (ok)
        print_machine(question, answers, count);
    hl_compat_times_free(&times);
    for (int i = 0; i < count; i++) hl_text_free(&answers[i].against);
    free(answers);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct options *options = given;
    struct question question = {.model = operand_count > 0 ? operands[0] : NULL};
    if (options->measure && question.model == NULL) {
        hl_error("compat", NULL, "--measure runs a model: name one");
        return HL_EXIT_USAGE;
    }
    struct hl_gpu_library gpu;
    struct hl_text problem = {0};
    bool ok = hl_gpu_library_open(&gpu, &problem);
    if (ok) {
        const HaliteCompatibilityOptions judged = {.struct_size = sizeof judged,
                                                   .device = options->device != NULL ? options->device : "auto",
                                                   .allow_software = options->allow_software};
        HaliteCompatibility *compatibility = hl_alloc_check(gpu.HaliteCompatibilityCreate(&judged));
        ok = answer_all(options, &question, &gpu, compatibility);
        gpu.HaliteCompatibilityDelete(compatibility);
    } else {
        hl_error("compat", NULL, "%s", problem.data);
    }
    hl_text_free(&problem);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite compat", "is a GPU of this machine worth it?"},
    {"halite compat model.tflite", "and for this model? By rule, at once"},
    {"halite compat model.tflite --measure", "by running it on everything that is here"},
    {NULL, NULL},
};

const struct hl_command hl_command_compat = {
    .name = "compat",
    .summary = "Say whether a GPU here is worth it, for a model or at all, and the best options.",
    .operands = "[MODEL]",
    .details = "What speaks against a device is what HaliteCompatibilityCreate (halite/gpu_delegate.h) finds;\n"
               "known problems of drivers come from a list with sources, src/gpu/delegate/known_problems.def.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .max_operands = 1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_GPU,
    .run = run,
};
