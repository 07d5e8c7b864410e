// SPDX-License-Identifier: Apache-2.0
// halite report: a model as one page of HTML that needs no network. In: a model, and where to run it. Out: the page
// (the graph, each node with its place, reason, shapes and time; memory over time), and a trace of one run if asked
// for.
#include "report/report.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "commands.h"
#include "inspect.h"
#include "message.h"
#include "output_file.h"
#include "placement.h"

struct options {
    struct hl_model_options model;
    const char *output, *trace;
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

static bool write_page(const char *path, const cJSON *json)
{
    static const char mark[] = "/*data*/";
    const char *before = strstr(hl_report_page, mark), *after = before + strlen(mark);
    char *plain = hl_alloc_check(cJSON_PrintUnformatted(json));
    struct hl_text page = {0};
    hl_text_add_bytes(&page, hl_report_page, (size_t)(before - hl_report_page));
    add_guarded(&page, plain);
    hl_text_add(&page, "%s", after);
    bool ok = hl_output_write("report", path, page.data, page.length);
    hl_text_free(&page);
    cJSON_free(plain);
    return ok;
}

static bool write_trace(const char *path, const cJSON *json)
{
    cJSON *trace = hl_report_trace(json);
    char *printed = hl_alloc_check(cJSON_Print(trace));
    struct hl_text text = {0};
    hl_text_add(&text, "%s\n", printed);
    bool ok = hl_output_write("report", path, text.data, text.length);
    hl_text_free(&text);
    cJSON_free(printed);
    cJSON_Delete(trace);
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

static bool report(const char *path, const struct options *options)
{
    if (!hl_output_check("report", options->output) ||
        (options->trace != NULL && !hl_output_check("report", options->trace)))
        return false;
    cJSON *json = describe(path, &options->model);
    if (json == NULL) return false;
    bool runs = cJSON_IsTrue(cJSON_GetObjectItem(json, "runs_here")) || options->model.delegate != NULL, ok = true;
    if (hl_model_options_gpu(&options->model))
        ok = add_gpu(json, path, options, runs);
    else if (runs && options->runs > 0)
        ok = add_times(json, path, &options->model, options->runs);
    ok = ok && write_page(options->output, json) && (options->trace == NULL || write_trace(options->trace, json));
    if (ok && !hl_output_is_standard(options->output)) printf("%s\n", options->output);
    cJSON_Delete(json);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    return report(operands[0], given) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite report model.tflite --gpu -o report.html", "the graph with the place, reason and time of each node"},
    {"halite report model.tflite --trace trace.json", "a trace for Perfetto as well"},
    {NULL, NULL},
};

const struct hl_command hl_command_report = {
    .name = "report",
    .summary = "Write a page that shows a model, where each node runs, and why.",
    .operands = "MODEL",
    .details = "The page is one file and needs no network. A model that does not run here is shown without times.\n"
               "With --gpu where there is no GPU: places are those on any GPU, times those of the CPU.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = 1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
