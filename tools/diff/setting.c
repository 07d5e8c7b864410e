// SPDX-License-Identifier: Apache-2.0
// See setting.h.
#include "diff/setting.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "message.h"

bool hl_diff_setting_parse(struct hl_diff_setting *setting, const char *name)
{
    *setting = (struct hl_diff_setting){.name = name};
    for (int i = 0; hl_model_kernels[i] != NULL; i++) {
        if (strcmp(name, hl_model_kernels[i]) != 0) continue;
        setting->kernels = i;
        return true;
    }
    if (strcmp(name, "official") == 0) {
        setting->kind = HL_DIFF_OFFICIAL;
        return true;
    }
    setting->kind = HL_DIFF_GPU;
    size_t length = strcspn(name, "/");
    const char *precision = name[length] == '/' ? name + length + 1 : hl_model_precisions[0];
    const bool cpu = length == 3 && strncmp(name, "cpu", 3) == 0; // as --device of other commands has it
    for (int i = 0; hl_model_precisions[i] != NULL && !cpu && length > 0 && length < sizeof setting->device; i++) {
        if (strcmp(precision, hl_model_precisions[i]) != 0) continue;
        memcpy(setting->device, name, length);
        setting->precision = i;
        return true;
    }
    hl_error("diff", NULL,
             "'%s' is no way to run a model: reference, fast, official, or a GPU like auto, opencl/f16 or vulkan:0/f32",
             name);
    return false;
}

// ---- inputs -------------------------------------------------------------------------------------

bool hl_diff_inputs_take(struct hl_diff_inputs *inputs, const struct hl_graph *graph)
{
    inputs->count = graph->input_count;
    inputs->items = hl_alloc((size_t)inputs->count, sizeof *inputs->items);
    for (int i = 0; i < inputs->count; i++) {
        const TfLiteTensor *tensor = hl_graph_input(graph, i);
        struct hl_diff_input *item = &inputs->items[i];
        item->rank = TfLiteTensorNumDims(tensor);
        if (item->rank > HL_DIFF_MAX_RANK) {
            hl_error(graph->file->command, graph->file->path, "input %d has %d dimensions", i, item->rank);
            return false;
        }
        for (int d = 0; d < item->rank; d++) item->dims[d] = TfLiteTensorDim(tensor, d);
        if (TfLiteTensorByteSize(tensor) > 0)
            hl_text_add_bytes(&item->bytes, TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor));
    }
    return true;
}

void hl_diff_inputs_free(struct hl_diff_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++) hl_text_free(&inputs->items[i].bytes);
    free(inputs->items);
    *inputs = (struct hl_diff_inputs){0};
}

static bool write_inputs(struct hl_graph *graph, const struct hl_diff_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++) {
        TfLiteTensor *tensor = hl_graph_input(graph, i);
        const struct hl_text *bytes = &inputs->items[i].bytes;
        if (TfLiteTensorType(tensor) == kTfLiteString && TfLiteTensorRealloc(bytes->length, tensor) != kTfLiteOk)
            return false;
        if (bytes->length > 0 && TfLiteTensorCopyFromBuffer(tensor, bytes->data, bytes->length) != kTfLiteOk)
            return false;
    }
    return true;
}

// ---- running ------------------------------------------------------------------------------------

bool hl_diff_run_graph(struct hl_graph *graph, const struct hl_diff_inputs *inputs)
{
    if (!hl_graph_open(graph, NULL)) return false;
    for (int i = 0; i < inputs->count; i++) {
        const struct hl_diff_input *item = &inputs->items[i];
        if (hl_graph_resize_input(graph, i, item->rank, item->dims) == kTfLiteOk) continue;
        hl_model_file_failed(graph->file, "an input cannot be resized");
        return false;
    }
    if (!hl_graph_allocate(graph)) return false;
    if (write_inputs(graph, inputs) && hl_graph_invoke(graph) == kTfLiteOk) return true;
    hl_model_file_failed(graph->file, "the run failed");
    return false;
}

void hl_diff_take_outputs(const struct hl_graph *graph, struct hl_diff_tensor *values)
{
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *tensor = hl_graph_output(graph, i);
        values[i].type = TfLiteTensorType(tensor);
        values[i].count = hl_model_elements(tensor);
        values[i].rank = TfLiteTensorNumDims(tensor) <= HL_DIFF_MAX_RANK ? TfLiteTensorNumDims(tensor) : -1;
        for (int d = 0; d < values[i].rank; d++) values[i].dims[d] = TfLiteTensorDim(tensor, d);
        if (TfLiteTensorByteSize(tensor) > 0)
            hl_text_add_bytes(&values[i].bytes, TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor));
    }
}

struct hl_diff_output *hl_diff_list_outputs(const TfLiteModel *model, int *count)
{
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    struct hl_diff_output *list = hl_alloc((size_t)graph->tensor_count, sizeof *list);
    bool *seen = hl_alloc((size_t)graph->tensor_count, sizeof *seen);
    *count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const struct hl_model_node *node = &graph->nodes[n];
        for (int i = 0; i < node->output_count; i++) {
            int tensor = node->outputs[i];
            if (tensor < 0 || seen[tensor] || graph->tensors[tensor].data != NULL || graph->tensors[tensor].is_variable)
                continue;
            if (hl_element_type(graph->tensors[tensor].type).view == HL_ELEMENT_NONE) continue;
            seen[tensor] = true;
            list[(*count)++] = (struct hl_diff_output){.node = n, .tensor = tensor};
        }
    }
    free(seen);
    return list;
}

bool hl_diff_run_file(struct hl_model_file *file, const struct hl_model_options *options,
                      const struct hl_diff_inputs *inputs, int count, const int *tensors, struct hl_diff_tensor *values)
{
    memset(values, 0, (size_t)count * sizeof *values);
    struct hl_graph graph = {.file = file};
    // The model of this run, with other outputs: the interpreter has to see them before it plans anything.
    const struct hl_model_subgraph *own = file->model->subgraphs;
    size_t subgraphs = (size_t)file->model->subgraph_count;
    struct hl_model_subgraph *changed = hl_alloc(subgraphs, sizeof *changed);
    memcpy(changed, own, subgraphs * sizeof *changed);
    changed[0].outputs = tensors;
    changed[0].output_count = count;
    file->model->subgraphs = changed;
    bool ok = hl_model_file_start(file, options) && hl_diff_run_graph(&graph, inputs);
    if (ok) hl_diff_take_outputs(&graph, values);
    hl_graph_close(&graph);
    TfLiteInterpreterDelete(file->interpreter);
    file->interpreter = NULL;
    file->model->subgraphs = own;
    free(changed);
    return ok;
}

bool hl_diff_run_options(const char *command, const struct hl_model_options *options,
                         const struct hl_diff_inputs *inputs, int count, const int *tensors,
                         struct hl_diff_tensor *values)
{
    memset(values, 0, (size_t)count * sizeof *values);
    struct hl_model_file file;
    bool ok = hl_model_file_open(&file, command, options->model) &&
              hl_diff_run_file(&file, options, inputs, count, tensors, values);
    hl_model_file_close(&file);
    return ok;
}

bool hl_diff_run(const char *command, const char *model, const struct hl_diff_setting *setting,
                 const struct hl_diff_inputs *inputs, int count, const int *tensors, struct hl_diff_tensor *values)
{
    if (setting->kind == HL_DIFF_OFFICIAL) {
        memset(values, 0, (size_t)count * sizeof *values);
        return hl_diff_run_official(model, inputs, count, tensors, values);
    }
    const struct hl_model_options options = {
        .model = model,
        .kernels = setting->kernels,
        .threads = -1,
        .gpu = setting->kind == HL_DIFF_GPU,
        .device = setting->kind == HL_DIFF_GPU ? setting->device : NULL,
        .precision = setting->precision,
    };
    return hl_diff_run_options(command, &options, inputs, count, tensors, values);
}

void hl_diff_values_free(struct hl_diff_tensor *values, int count)
{
    for (int i = 0; i < count; i++) hl_text_free(&values[i].bytes);
}
