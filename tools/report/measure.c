// SPDX-License-Identifier: Apache-2.0
// See report.h. The runtime times what it runs: nodes, and delegated parts as a whole. The GPU delegate times its
// kernels, in runs of their own, since that makes runs slower.
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "json.h"
#include "progress.h"
#include "report/report.h"
#include "run_graph.h"

static cJSON *add_row(cJSON *rows, int node, const char *op, const char *where, uint64_t nanoseconds, uint64_t runs)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddNumberToObject(row, "node", node);
    hl_json_add_string(row, "op", op);
    hl_json_add_string(row, "where", where);
    cJSON_AddNumberToObject(row, "ns", (double)nanoseconds / (double)runs);
    cJSON_AddItemToArray(rows, row);
    return row;
}

static bool add_nodes(cJSON *rows, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    HaliteInterpreterSetProfiling(interpreter, true);
    bool ok = hl_graph_repeat(graph, runs, NULL, progress);
    HaliteInterpreterSetProfiling(interpreter, false);
    for (int i = 0; ok && i < HaliteInterpreterGetNodeCount(interpreter); i++) {
        HaliteNodeReport node, by;
        const int at = HaliteInterpreterGetNodeRunBy(interpreter, i);
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk || node.runs == 0) continue;
        cJSON *row = add_row(rows, node.node, node.op, node.where, node.nanoseconds, node.runs);
        if (at != i && HaliteInterpreterGetNodeReport(interpreter, at, &by) == kTfLiteOk)
            cJSON_AddNumberToObject(row, "run_by", by.node);
    }
    return ok;
}

static bool add_kernels(cJSON *rows, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    const struct hl_gpu_library *gpu = &graph->file->gpu;
    TfLiteDelegate *delegate = graph->file->delegate;
    if (gpu->handle == NULL || delegate == NULL) return true;
    gpu->HaliteDelegateSetProfiling(delegate, true, NULL);
    bool ok = hl_graph_repeat(graph, runs, NULL, progress);
    gpu->HaliteDelegateSetProfiling(delegate, false, NULL);
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(delegate));
    for (int i = 0; ok && i < gpu->HaliteDelegateReportGetKernelCount(report); i++) {
        const HaliteDelegateKernel *kernel = gpu->HaliteDelegateReportGetKernel(report, i);
        if (kernel->runs > 0)
            add_row(rows, kernel->node, *kernel->op != '\0' ? kernel->op : kernel->kernel, "GPU", kernel->nanoseconds,
                    kernel->runs);
    }
    gpu->HaliteDelegateReportDelete(report);
    return ok;
}

bool hl_report_measure(cJSON *json, struct hl_model_file *file, int runs)
{
    struct hl_graph graph = {.file = file};
    bool ok = hl_graph_open(&graph, NULL) && hl_graph_allocate(&graph);
    for (int i = 0; ok && i < graph.input_count; i++) ok = hl_graph_fill_random(&graph, i, 1 + (uint64_t)i);
    struct hl_progress progress;
    int rounds = file->gpu.handle != NULL && file->delegate != NULL ? 3 : 2;
    hl_progress_start(&progress, "timing", 0, 1 + rounds * runs);
    double median = ok ? hl_graph_time(&graph, runs, &progress) : -1;
    if (ok && median < 0) hl_model_file_failed(file, "the run failed");
    cJSON *times = cJSON_AddObjectToObject(json, "times");
    cJSON_AddNumberToObject(times, "runs", runs);
    cJSON_AddNumberToObject(times, "total_ns", 1e9 * median);
    cJSON *rows = cJSON_AddArrayToObject(times, "nodes");
    ok = median >= 0 && add_nodes(rows, &graph, runs, &progress) && add_kernels(rows, &graph, runs, &progress);
    hl_progress_end(&progress);
    hl_graph_close(&graph);
    return ok;
}

// ---- trace --------------------------------------------------------------------------------------

// One row as an event on the line of its place; microseconds there.
static void add_event(cJSON *events, const cJSON *row, double start)
{
    const char *where = cJSON_GetObjectItem(row, "where")->valuestring;
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "name", cJSON_GetObjectItem(row, "op")->valuestring);
    cJSON_AddStringToObject(event, "cat", where);
    cJSON_AddStringToObject(event, "ph", "X");
    cJSON_AddNumberToObject(event, "ts", start);
    cJSON_AddNumberToObject(event, "dur", cJSON_GetObjectItem(row, "ns")->valuedouble / 1000);
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddStringToObject(event, "tid", strcmp(where, "GPU") == 0 ? "GPU" : "CPU");
    cJSON *arguments = cJSON_AddObjectToObject(event, "args");
    cJSON_AddNumberToObject(arguments, "node", cJSON_GetObjectItem(row, "node")->valueint);
    cJSON_AddItemToArray(events, event);
}

cJSON *hl_report_trace(const cJSON *json)
{
    cJSON *trace = cJSON_CreateObject(), *events = cJSON_AddArrayToObject(trace, "traceEvents");
    const cJSON *times = cJSON_GetObjectItem(json, "times"), *row;
    double cpu = 0,
           gpu = -1; // where each line goes on; kernels begin with the first delegated part
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(times, "nodes"))
    {
        const char *where = cJSON_GetObjectItem(row, "where")->valuestring;
        bool kernel = strcmp(where, "GPU") == 0;
        double *line = kernel ? &gpu : &cpu;
        if (!kernel && gpu < 0 && strcmp(where, "CPU") != 0) gpu = cpu;
        if (*line < 0) *line = 0;
        add_event(events, row, *line);
        *line += cJSON_GetObjectItem(row, "ns")->valuedouble / 1000;
    }
    return trace;
}
