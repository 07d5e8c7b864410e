// SPDX-License-Identifier: Apache-2.0
// halite report: a model as one page of HTML that needs no network. In: a model, or two, and where to run it. Out: the
// page (the graph, each node with its place, reason, shapes and time; memory over time), two of them side by side, and
// if asked for a trace of one run and the nodes' times for Model Explorer.
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "commands.h"
#include "diff/pairs.h"
#include "inspect.h"
#include "message.h"
#include "output_file.h"
#include "placement.h"

struct options {
    struct hl_model_options model;
    const char *output, *trace, *node_data;
    int runs;
};

static const struct options defaults = {
    .model = HL_MODEL_DEFAULTS,
    .output = "report.html",
    .runs = 10,
};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "output", .letter = 'o', .kind = HL_FLAG_STRING, .value = "FILE",
     .offset = offsetof(struct options, output), .help = "the page; default report.html"},
    {.name = "trace", .letter = 'T', .kind = HL_FLAG_STRING, .value = "FILE",
     .offset = offsetof(struct options, trace),
     .help = "one average run as JSON for chrome://tracing or Perfetto"},
    {.name = "node-data", .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, node_data),
     .help = "the time of each node as JSON for Model Explorer; with --gpu --runs 0 its place"},
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 0, .max = 1000000,
     .offset = offsetof(struct options, runs), .help = "timed runs; 0: do not run it; default 10"},
    HL_MODEL_RUN_FLAGS(options, model),
};
// clang-format on

// JSON inside of a script element: a '<' of a name could end it.
static void add_guarded(struct hl_text *text, const char *json)
{
    for (const char *end; (end = strchr(json, '<')) != NULL; json = end + 1) {
        hl_text_add_bytes(text, json, (size_t)(end - json));
        hl_text_add(text, "\\u003c");
    }
    hl_text_add(text, "%s", json);
}

// `page` is a page with a mark where its data belong.
static bool write_page(const char *path, const char *page, const cJSON *json)
{
    static const char mark[] = "/*data*/";
    const char *before = strstr(page, mark), *after = before + strlen(mark);
    char *plain = hl_alloc_check(cJSON_PrintUnformatted(json));
    struct hl_text text = {0};
    hl_text_add_bytes(&text, page, (size_t)(before - page));
    add_guarded(&text, plain);
    hl_text_add(&text, "%s", after);
    bool ok = hl_output_write("report", path, text.data, text.length);
    hl_text_free(&text);
    cJSON_free(plain);
    return ok;
}

// Takes the JSON. Nothing is written where path is NULL.
static bool write_json(const char *path, cJSON *json)
{
    char *printed = path != NULL ? hl_alloc_check(cJSON_Print(json)) : NULL;
    struct hl_text text = {0};
    if (path != NULL) hl_text_add(&text, "%s\n", printed);
    bool ok = path == NULL || hl_output_write("report", path, text.data, text.length);
    hl_text_free(&text);
    cJSON_free(printed);
    cJSON_Delete(json);
    return ok;
}

// The model as it is, with the CPU's memory plan where it runs there.
static cJSON *describe(const char *path, const struct hl_model_options *model)
{
    struct hl_model_file file;
    struct hl_model_options cpu = {.kernels = model->kernels, .threads = model->threads};
    cJSON *json = NULL;
    if (hl_model_file_open(&file, "report", path)) {
        if (hl_model_file_try(&file, &cpu) && TfLiteInterpreterAllocateTensors(file.interpreter) != kTfLiteOk) {
            TfLiteInterpreterDelete(file.interpreter);
            file.interpreter = NULL;
        }
        json = hl_inspect_to_json(&file);
    }
    hl_model_file_close(&file);
    return json;
}

// What the page is without a GPU: the places are those on any GPU, the times those of the CPU.
static void warn_of_no_gpu(const struct hl_gpu_library *gpu)
{
    HaliteDeviceList *list = hl_alloc_check(gpu->HaliteDeviceListCreate());
    hl_warn("report", NULL, "the times are those of the CPU. %s", gpu->HaliteDeviceListGetAutoReason(list));
    gpu->HaliteDeviceListDelete(list);
}

static bool add_times(cJSON *json, const char *path, const struct hl_model_options *model, int runs)
{
    struct hl_model_file file;
    bool ok = hl_model_file_open(&file, "report", path) && hl_model_file_start(&file, model) &&
              hl_report_measure(json, &file, runs);
    hl_model_file_close(&file);
    return ok;
}

static bool add_gpu(cJSON *json, const char *path, const struct options *options, bool runs_here)
{
    struct hl_node_placement placement;
    bool ok = hl_node_placement_open(&placement, "report", path, &options->model), assumed = placement.assumed;
    if (ok) hl_node_placement_json(&placement, json);
    if (ok && assumed) warn_of_no_gpu(&placement.file.gpu);
    // The null device stands for a GPU where there is none, and computes nothing.
    const HaliteDevice *device = ok ? placement.file.gpu.HaliteDelegateReportGetDevice(placement.report) : NULL;
    bool computes = device == NULL || strncmp(device->name, "null", 4) != 0;
    if (ok && computes && !placement.refused && options->runs > 0)
        ok = hl_report_measure(json, &placement.file, options->runs);
    hl_node_placement_close(&placement);
    struct hl_model_options cpu = {.kernels = options->model.kernels, .threads = options->model.threads};
    return ok && (!assumed || !runs_here || options->runs == 0 || add_times(json, path, &cpu, options->runs));
}

// All of one model; NULL after a message.
static cJSON *look(const char *path, const struct options *options)
{
    cJSON *json = describe(path, &options->model);
    if (json == NULL) return NULL;
    bool runs = cJSON_IsTrue(cJSON_GetObjectItem(json, "runs_here")) || options->model.delegate != NULL, ok = true;
    if (hl_model_options_gpu(&options->model))
        ok = add_gpu(json, path, options, runs);
    else if (runs && options->runs > 0)
        ok = add_times(json, path, &options->model, options->runs);
    if (ok) return json;
    cJSON_Delete(json);
    return NULL;
}

static bool report(const char *path, const struct options *options)
{
    cJSON *json = look(path, options);
    bool ok = json != NULL && write_page(options->output, hl_report_page, json) &&
              write_json(options->trace, hl_report_trace(json)) &&
              write_json(options->node_data, hl_report_node_data(json));
    cJSON_Delete(json);
    return ok;
}

// Which node of the first model is which of the second: pairs of numbers, null for none. NULL after a message.
static cJSON *pair_nodes(char *const *paths)
{
    struct hl_model_file a = {0}, b = {0};
    cJSON *json = NULL;
    if (hl_model_file_open(&a, "report", paths[0]) && hl_model_file_open(&b, "report", paths[1])) {
        int count;
        struct hl_diff_pair *pairs = hl_diff_pair_nodes(a.model, b.model, &count);
        json = cJSON_CreateArray();
        for (int i = 0; i < count; i++) {
            cJSON *both = cJSON_CreateArray();
            cJSON_AddItemToArray(both, pairs[i].a < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(pairs[i].a));
            cJSON_AddItemToArray(both, pairs[i].b < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(pairs[i].b));
            cJSON_AddItemToArray(json, both);
        }
        free(pairs);
    }
    hl_model_file_close(&a);
    hl_model_file_close(&b);
    return json;
}

static bool report_two(char *const *paths, const struct options *options)
{
    cJSON *json = cJSON_CreateObject(), *reports = cJSON_AddArrayToObject(json, "reports"), *made;
    bool ok = true;
    cJSON_AddStringToObject(json, "page", hl_report_page);
    for (int i = 0; ok && i < 2; i++) {
        ok = (made = look(paths[i], options)) != NULL;
        if (ok) cJSON_AddItemToArray(reports, made);
    }
    ok = ok && (made = pair_nodes(paths)) != NULL;
    if (ok) cJSON_AddItemToObject(json, "pairs", made);
    ok = ok && write_page(options->output, hl_report_pair, json);
    cJSON_Delete(json);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct options *options = given;
    const char *files[] = {options->output, options->trace, options->node_data};
    if (operand_count == 2 && (options->trace != NULL || options->node_data != NULL)) {
        hl_error("report", NULL, "--trace and --node-data are of one model; give them with each of the two alone");
        return HL_EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] != NULL && !hl_output_check("report", files[i])) return HL_EXIT_FAILED;
    if (!(operand_count == 2 ? report_two(operands, options) : report(operands[0], options))) return HL_EXIT_FAILED;
    if (!hl_output_is_standard(options->output)) printf("%s\n", options->output);
    return HL_EXIT_OK;
}

static const struct hl_example examples[] = {
    {"halite report model.tflite --gpu -o report.html", "the graph with the place, reason and time of each node"},
    {"halite report model.tflite --trace trace.json", "a trace for Perfetto as well"},
    {"halite report model.tflite --node-data times.json", "the times of its nodes for Model Explorer as well"},
    {"halite report float.tflite int8.tflite", "two models side by side"},
    {NULL, NULL},
};

const struct hl_command hl_command_report = {
    .name = "report",
    .summary = "Write a page that shows a model, or two, where each node runs, and why.",
    .operands = "MODEL [MODEL]",
    .details = "With two models the page has both reports side by side: a node that is chosen in one is shown in the\n"
               "other, and a table has the times and shapes of each pair.\n"
               "The page is one file and needs no network. A model that does not run here is shown without times.\n"
               "With --gpu where there is no GPU: places are those on any GPU, times those of the CPU.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = 2,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
