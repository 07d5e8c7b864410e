// SPDX-License-Identifier: Apache-2.0
// A model as JSON, complete: one object with the members that the text form shows, and all tensors, nodes and scales.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "element.h"
#include "inspect.h"
#include "json.h"
#include "node_options.h"
#include "opset.h"

static cJSON *add_ints(cJSON *object, const char *name, int count, const int *values)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (int i = 0; i < count; i++) cJSON_AddItemToArray(array, cJSON_CreateNumber(values[i]));
    return array;
}

static void add_quantization(cJSON *object, const struct hl_model_quantization *q)
{
    if (q->type == kTfLiteNoQuantization) return;
    cJSON *json = cJSON_AddObjectToObject(object, "quantization");
    if (q->type != kTfLiteAffineQuantization) {
        cJSON_AddNumberToObject(json, "block_size", q->block_size);
        cJSON_AddNumberToObject(json, "scales_tensor", q->scales_tensor);
        cJSON_AddNumberToObject(json, "zero_points_tensor", q->zero_points_tensor);
        return;
    }
    cJSON *scales = cJSON_AddArrayToObject(json, "scales");
    for (int i = 0; i < q->scale_count; i++) cJSON_AddItemToArray(scales, cJSON_CreateNumber((double)q->scales[i]));
    add_ints(json, "zero_points", q->scale_count, q->zero_points);
    if (q->scale_count > 1) cJSON_AddNumberToObject(json, "dimension", q->dimension);
}

static cJSON *tensor_json(const struct hl_model_tensor *tensor)
{
    cJSON *json = cJSON_CreateObject();
    size_t bytes = tensor->bytes;
    hl_json_add_string(json, "name", tensor->name);
    cJSON_AddStringToObject(json, "type", hl_element_name(tensor->type));
    add_ints(json, "shape", tensor->rank, tensor->dims);
    if (tensor->signature_rank >= 0) add_ints(json, "shape_signature", tensor->signature_rank, tensor->signature);
    if (tensor->data != NULL || hl_tensor_bytes(tensor->type, tensor->rank, tensor->dims, &bytes))
        cJSON_AddNumberToObject(json, "bytes", (double)bytes);
    cJSON_AddBoolToObject(json, "constant", tensor->data != NULL);
    cJSON_AddBoolToObject(json, "variable", tensor->is_variable);
    if (tensor->sparsity != NULL) cJSON_AddBoolToObject(json, "sparse", true);
    if (tensor->external_data) cJSON_AddBoolToObject(json, "external", true);
    add_quantization(json, &tensor->quantization);
    return json;
}

static cJSON *node_json(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                        const struct hl_model_node *node)
{
    cJSON *item = cJSON_CreateObject(), *options = hl_node_options_json(model, subgraph, node);
    hl_json_add_string(item, "operator", hl_model_code_name(&model->codes[node->code]));
    cJSON_AddNumberToObject(item, "version", model->codes[node->code].version);
    add_ints(item, "inputs", node->input_count, node->inputs);
    add_ints(item, "outputs", node->output_count, node->outputs);
    if (node->intermediate_count > 0) add_ints(item, "intermediates", node->intermediate_count, node->intermediates);
    struct hl_node_work work = hl_node_work(model, subgraph, node);
    hl_node_work_add_json(item, &work);
    struct hl_text summary = {0};
    hl_node_options_text(&summary, options, subgraph, node);
    cJSON_AddStringToObject(item, "summary", hl_text_string(&summary));
    cJSON_AddItemToObject(item, "options", options);
    hl_text_free(&summary);
    return item;
}

static cJSON *subgraph_json(const TfLiteModel *model, const struct hl_model_subgraph *subgraph)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "name", subgraph->name != NULL ? subgraph->name : "");
    cJSON_AddNumberToObject(json, "constant_bytes", (double)hl_inspect_constant_bytes(subgraph));
    add_ints(json, "inputs", subgraph->input_count, subgraph->inputs);
    add_ints(json, "outputs", subgraph->output_count, subgraph->outputs);
    cJSON *tensors = cJSON_AddArrayToObject(json, "tensors");
    for (int i = 0; i < subgraph->tensor_count; i++) cJSON_AddItemToArray(tensors, tensor_json(&subgraph->tensors[i]));
    cJSON *nodes = cJSON_AddArrayToObject(json, "nodes");
    for (int i = 0; i < subgraph->node_count; i++)
        cJSON_AddItemToArray(nodes, node_json(model, subgraph, &subgraph->nodes[i]));
    return json;
}

static void add_operators(cJSON *json, const TfLiteModel *model)
{
    int count;
    struct hl_inspect_count *counts = hl_inspect_count_operators(model, &count);
    cJSON *operators = cJSON_AddArrayToObject(json, "operators");
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "operator", hl_model_code_name(counts[i].code));
        cJSON_AddBoolToObject(item, "custom", counts[i].code->custom_name != NULL);
        cJSON_AddNumberToObject(item, "version", counts[i].code->version);
        cJSON_AddNumberToObject(item, "nodes", counts[i].nodes);
        cJSON_AddBoolToObject(item, "kernel", hl_opset_has(counts[i].code));
        hl_node_work_add_json(item, &counts[i].work);
        cJSON_AddItemToArray(operators, item);
    }
    free(counts);
}

static void add_entries(cJSON *json, const char *name, int count, const struct hl_model_signature_entry *entries)
{
    cJSON *array = cJSON_AddArrayToObject(json, name);
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", entries[i].name);
        cJSON_AddNumberToObject(item, "tensor", entries[i].tensor);
        cJSON_AddItemToArray(array, item);
    }
}

static void add_signatures(cJSON *json, const TfLiteModel *model)
{
    cJSON *signatures = cJSON_AddArrayToObject(json, "signatures");
    for (int i = 0; i < model->signature_count; i++) {
        const struct hl_model_signature *signature = &model->signatures[i];
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "key", signature->key);
        cJSON_AddNumberToObject(item, "subgraph", signature->subgraph);
        add_entries(item, "inputs", signature->input_count, signature->inputs);
        add_entries(item, "outputs", signature->output_count, signature->outputs);
        cJSON_AddItemToArray(signatures, item);
    }
}

static void add_metadata(cJSON *json, const TfLiteModel *model)
{
    cJSON *metadata = cJSON_AddArrayToObject(json, "metadata");
    for (int i = 0; i < model->metadata_count; i++) {
        const struct hl_model_metadata *entry = &model->metadata[i];
        int length = hl_inspect_metadata_text(entry);
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", entry->name != NULL ? entry->name : "");
        cJSON_AddNumberToObject(item, "bytes", (double)entry->bytes);
        if (length > 0) {
            struct hl_text text = {0};
            hl_text_add(&text, "%.*s", length, entry->data);
            cJSON_AddStringToObject(item, "text", text.data);
            hl_text_free(&text);
        }
        cJSON_AddItemToArray(metadata, item);
    }
}

static void add_memory(cJSON *json, const TfLiteInterpreter *interpreter)
{
    HaliteMemoryReport report;
    if (interpreter == NULL || HaliteInterpreterGetMemoryReport(interpreter, &report) != kTfLiteOk) return;
    cJSON *memory = cJSON_AddObjectToObject(json, "memory");
    cJSON_AddNumberToObject(memory, "arena", (double)report.arena);
    cJSON_AddNumberToObject(memory, "arena_unshared", (double)report.arena_unshared);
    cJSON_AddNumberToObject(memory, "persistent", (double)report.persistent);
    cJSON_AddNumberToObject(memory, "dynamic", (double)report.dynamic);
    cJSON_AddNumberToObject(memory, "constants", (double)report.constants);
    cJSON_AddNumberToObject(memory, "total", (double)hl_inspect_memory_total(&report));
    cJSON *tensors = cJSON_AddArrayToObject(memory, "tensors");
    for (int i = 0; i < HaliteInterpreterGetTensorCount(interpreter); i++) {
        HaliteTensorReport tensor;
        if (HaliteInterpreterGetTensorReport(interpreter, i, &tensor) != kTfLiteOk) continue;
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "name", tensor.name != NULL ? tensor.name : "");
        cJSON_AddStringToObject(item, "where", hl_inspect_place_name(tensor.where));
        cJSON_AddNumberToObject(item, "bytes", (double)tensor.bytes);
        if (tensor.where == kTfLiteArenaRw) {
            cJSON_AddNumberToObject(item, "offset", (double)tensor.offset);
            cJSON_AddNumberToObject(item, "first_node", tensor.first_node);
            cJSON_AddNumberToObject(item, "last_node", tensor.last_node);
            if (tensor.shares_with >= 0) cJSON_AddNumberToObject(item, "shares_with", tensor.shares_with);
        }
        cJSON_AddItemToArray(tensors, item);
    }
}

struct cJSON *hl_inspect_to_json(const struct hl_model_file *file)
{
    const TfLiteModel *model = file->model;
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "file", file->path);
    cJSON_AddNumberToObject(json, "bytes", (double)model->file_size);
    cJSON_AddNumberToObject(json, "schema_version", model->schema_version);
    hl_json_add_string(json, "description", model->description != NULL ? model->description : "");
    cJSON_AddBoolToObject(json, "runs_here", file->interpreter != NULL);
    if (file->interpreter == NULL) {
        const char *said = hl_text_string(&file->messages);
        struct hl_text reason = {0};
        hl_text_add(&reason, "%.*s", (int)strcspn(said, "\n"), said);
        hl_json_add_string(json, "reason", hl_text_string(&reason));
        hl_text_free(&reason);
    }
    struct hl_node_work work = hl_model_work(model);
    hl_node_work_add_json(cJSON_AddObjectToObject(json, "work"), &work);
    add_operators(json, model);
    add_signatures(json, model);
    add_metadata(json, model);
    cJSON *subgraphs = cJSON_AddArrayToObject(json, "subgraphs");
    for (int i = 0; i < model->subgraph_count; i++)
        cJSON_AddItemToArray(subgraphs, subgraph_json(model, &model->subgraphs[i]));
    add_memory(json, file->interpreter);
    return json;
}

void hl_inspect_json(const struct hl_model_file *file, const struct hl_node_placement *placement)
{
    cJSON *json = hl_inspect_to_json(file);
    if (placement != NULL) hl_node_placement_json(placement, json);
    hl_json_print(json);
    cJSON_Delete(json);
}
