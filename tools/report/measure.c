// SPDX-License-Identifier: Apache-2.0
// See report.h. In: an interpreter. Out: where its nodes run, what a run takes, and what each node's share is, as JSON.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "json.h"
#include "report/report.h"
#include "run_graph.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool invoke(struct hl_graph *graph)
{
    if (hl_graph_invoke(graph) == kTfLiteOk) return true;
    hl_model_file_failed(graph->file, "the run failed");
    return false;
}

// Median of `runs`, in seconds; negative where one failed.
static double time_runs(struct hl_graph *graph, int runs)
{
    double *seconds = hl_alloc((size_t)runs, sizeof *seconds);
    bool ok = invoke(graph); // the first one warms up
    for (int i = 0; ok && i < runs; i++) {
        double start = hl_model_clock();
        ok = invoke(graph);
        seconds[i] = hl_model_clock() - start;
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, compare);
    double median = seconds[runs / 2];
    free(seconds);
    return ok ? median : -1;
}

static bool add_times(cJSON *json, struct hl_graph *graph, int runs)
{
    double median = time_runs(graph, runs);
    if (median < 0) return false;
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    HaliteInterpreterSetProfiling(interpreter, true);
    bool ok = true;
    for (int i = 0; ok && i < runs; i++) ok = invoke(graph);
    HaliteInterpreterSetProfiling(interpreter, false);
    if (!ok) return false;

    cJSON *times = cJSON_AddObjectToObject(json, "times");
    cJSON_AddNumberToObject(times, "runs", runs);
    cJSON_AddNumberToObject(times, "total_ns", 1e9 * median);
    cJSON *nodes = cJSON_AddArrayToObject(times, "nodes");
    for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter); i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk || node.runs == 0) continue;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "node", node.node);
        hl_json_add_string(item, "op", node.op);
        hl_json_add_string(item, "where", node.where);
        cJSON_AddNumberToObject(item, "ns", (double)node.nanoseconds / (double)node.runs);
        cJSON_AddItemToArray(nodes, item);
    }
    return true;
}

static void add_placement(cJSON *json, const struct hl_model_file *file)
{
    cJSON *placement = cJSON_AddObjectToObject(json, "placement");
    struct hl_text summary = {0};
    hl_model_file_placement(file, &summary);
    if (summary.length > 0) summary.data[strcspn(summary.data, "\n")] = '\0';
    hl_json_add_string(placement, "summary", hl_text_string(&summary));
    hl_text_free(&summary);
    cJSON *nodes = cJSON_AddArrayToObject(placement, "nodes");
    for (int i = 0; i < HaliteInterpreterGetNodeCount(file->interpreter); i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(file->interpreter, i, &node) != kTfLiteOk) continue;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "subgraph", 0);
        cJSON_AddNumberToObject(item, "node", node.node);
        hl_json_add_string(item, "device", node.where);
        cJSON_AddItemToArray(nodes, item);
    }
}

bool hl_report_measure(cJSON *json, struct hl_model_file *file, int runs)
{
    struct hl_graph graph = {.file = file};
    bool ok = hl_graph_open(&graph, NULL) && hl_graph_allocate(&graph);
    for (int i = 0; ok && i < graph.input_count; i++) ok = hl_graph_fill_random(&graph, i, 1 + (uint64_t)i);
    if (ok) add_placement(json, file);
    if (ok && runs > 0) ok = add_times(json, &graph, runs);
    hl_graph_close(&graph);
    return ok;
}

cJSON *hl_report_trace(const cJSON *json)
{
    cJSON *trace = cJSON_CreateObject(), *events = cJSON_AddArrayToObject(trace, "traceEvents");
    const cJSON *times = cJSON_GetObjectItem(json, "times"), *node;
    double start = 0;
    cJSON_ArrayForEach(node, cJSON_GetObjectItem(times, "nodes")) {
        double microseconds = cJSON_GetObjectItem(node, "ns")->valuedouble / 1000;
        cJSON *event = cJSON_CreateObject();
        cJSON_AddStringToObject(event, "name", cJSON_GetObjectItem(node, "op")->valuestring);
        cJSON_AddStringToObject(event, "cat", cJSON_GetObjectItem(node, "where")->valuestring);
        cJSON_AddStringToObject(event, "ph", "X");
        cJSON_AddNumberToObject(event, "ts", start);
        cJSON_AddNumberToObject(event, "dur", microseconds);
        cJSON_AddNumberToObject(event, "pid", 1);
        cJSON_AddStringToObject(event, "tid", cJSON_GetObjectItem(node, "where")->valuestring);
        cJSON *arguments = cJSON_AddObjectToObject(event, "args");
        cJSON_AddNumberToObject(arguments, "node", cJSON_GetObjectItem(node, "node")->valueint);
        cJSON_AddItemToArray(events, event);
        start += microseconds;
    }
    return trace;
}
