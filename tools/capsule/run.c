// SPDX-License-Identifier: Apache-2.0
// One run of a capsule's model, and what is to be known of it.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "capsule/capsule.h"
#include "devices.h"
#include "json.h"

bool hl_capsule_open(struct hl_model_file *file, const struct hl_capsule_model *model)
{
    void *copy = hl_alloc(model->size, 1);
    memcpy(copy, model->bytes, model->size);
    return hl_model_file_open_bytes(file, model->command, model->path, copy, model->size);
}

// Nodes of the last graph that the delegate was applied to, but those that it took.
static void take_report(struct hl_capsule_run *run, const struct hl_model_file *file)
{
    const struct hl_gpu_library *gpu = &file->gpu;
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(file->delegate));
    const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
    int last = gpu->HaliteDelegateReportGetGraphCount(report) - 1;
    if (device != NULL) run->device = hl_device_json(device);
    run->refused = cJSON_CreateArray();
    const HaliteDelegateGraph *graph = last >= 0 ? gpu->HaliteDelegateReportGetGraph(report, last) : NULL;
    for (int i = 0; graph != NULL && i < graph->node_count; i++) {
        const HaliteDelegateNode *node = gpu->HaliteDelegateReportGetNode(report, graph->first_node + i);
        if (node->on_gpu) continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "node", node->node);
        hl_json_add_string(json, "operator", node->op);
        hl_json_add_string(json, "reason", node->reason_name);
        hl_json_add_string(json, "text", node->text);
        cJSON_AddItemToArray(run->refused, json);
    }
    gpu->HaliteDelegateReportDelete(report);
}

static void take_outputs(struct hl_capsule_run *run, const struct hl_graph *graph)
{
    struct hl_diff_tensor *values = hl_alloc((size_t)graph->output_count, sizeof *values);
    hl_diff_take_outputs(graph, values);
    run->outputs.items = hl_alloc((size_t)graph->output_count, sizeof *run->outputs.items);
    run->outputs.count = graph->output_count;
    for (int i = 0; i < graph->output_count; i++)
        run->outputs.items[i] = (struct hl_capsule_tensor){.name = hl_graph_output_name(graph, i), .value = values[i]};
    free(values);
}

bool hl_capsule_run(struct hl_capsule_run *run, struct hl_model_file *file, const struct hl_capsule_model *model,
                    const struct hl_model_options *options, const struct hl_diff_inputs *inputs)
{
    struct hl_graph graph = {.file = file};
    *run = (struct hl_capsule_run){0};
    if (!hl_capsule_open(file, model)) return false;
    run->ran = hl_model_file_start(file, options) && hl_diff_run_graph(&graph, inputs);
    const char *said = hl_text_string(&file->messages);
    if (!run->ran) hl_text_add(&run->failure, "%.*s", (int)strcspn(said, "\n"), said);
    if (!run->ran && run->failure.length == 0) hl_text_add(&run->failure, "it did not run; the delegate said why");
    if (run->ran) {
        take_outputs(run, &graph);
        hl_model_file_placement(file, &run->place);
    }
    if (file->gpu.handle != NULL && file->delegate != NULL) take_report(run, file);
    hl_graph_close(&graph);
    return true;
}

void hl_capsule_run_free(struct hl_capsule_run *run)
{
    hl_text_free(&run->failure);
    hl_text_free(&run->place);
    cJSON_Delete(run->device);
    cJSON_Delete(run->refused);
    hl_capsule_tensors_free(&run->outputs);
}

bool hl_capsule_run_nodes(struct hl_capsule_tensors *nodes, const struct hl_capsule_model *model,
                          const struct hl_model_options *options, const struct hl_diff_inputs *inputs,
                          const struct hl_capsule_tensors *only)
{
    struct hl_model_file file;
    if (!hl_capsule_open(&file, model)) {
        hl_model_file_close(&file);
        return false;
    }
    int count;
    struct hl_diff_output *outputs = hl_diff_list_outputs(file.model, &count);
    if (only != NULL) count = only->count;
    struct hl_diff_tensor *values = hl_alloc((size_t)count, sizeof *values);
    int *tensors = hl_alloc((size_t)count, sizeof *tensors);
    nodes->items = hl_alloc((size_t)count, sizeof *nodes->items);
    for (int i = 0; i < count; i++) tensors[i] = only != NULL ? only->items[i].tensor : outputs[i].tensor;
    bool ok = hl_diff_run_file(&file, options, inputs, count, tensors, values);
    for (nodes->count = 0; ok && nodes->count < count; nodes->count++)
        nodes->items[nodes->count] = (struct hl_capsule_tensor){
            .name = "",
            .node = only != NULL ? only->items[nodes->count].node : outputs[nodes->count].node,
            .tensor = tensors[nodes->count],
            .value = values[nodes->count],
        };
    if (!ok) hl_diff_values_free(values, count);
    free(outputs);
    free(values);
    free(tensors);
    hl_model_file_close(&file);
    return ok;
}
