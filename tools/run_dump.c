// SPDX-License-Identifier: Apache-2.0
// See run_dump.h.
#include "run_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/path.h"
#include "element.h"
#include "json.h"
#include "message.h"
#include "npy.h"
#include "output_file.h"

// Number of a tensor among its node's outputs.
static int output_number(const struct hl_model_node *node, int tensor)
{
    int i = 0;
    while (node->outputs[i] != tensor) i++;
    return i;
}

static void add_entry(cJSON *list, const TfLiteModel *model, const struct hl_diff_output *output,
                      const struct hl_diff_tensor *value, const char *file)
{
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    const struct hl_model_tensor *tensor = &graph->tensors[output->tensor];
    cJSON *item = cJSON_CreateObject(), *shape = cJSON_CreateIntArray(value->dims, value->rank > 0 ? value->rank : 0);
    if (file != NULL) cJSON_AddStringToObject(item, "file", file);
    cJSON_AddNumberToObject(item, "node", output->node);
    hl_json_add_string(item, "operator", hl_model_code_name(&model->codes[graph->nodes[output->node].code]));
    cJSON_AddNumberToObject(item, "tensor", output->tensor);
    hl_json_add_string(item, "name", tensor->name);
    cJSON_AddStringToObject(item, "type", hl_element_name(value->type));
    cJSON_AddItemToObject(item, "shape", shape);
    const struct hl_model_quantization *scale = &tensor->quantization;
    if (scale->type == kTfLiteAffineQuantization && scale->scale_count == 1) {
        cJSON_AddNumberToObject(item, "scale", (double)scale->scales[0]);
        cJSON_AddNumberToObject(item, "zero_point", scale->zero_points[0]);
    }
    cJSON_AddItemToArray(list, item);
}

// One tensor to its file. Strings have no place in such a file: the index lists them without one.
static bool write_tensor(cJSON *list, const struct hl_model_file *file, const struct hl_diff_output *output,
                         const struct hl_diff_tensor *value, const char *folder)
{
    char name[64];
    const struct hl_model_node *node = &file->model->subgraphs[0].nodes[output->node];
    snprintf(name, sizeof name, "node%04d_%d.npy", output->node, output_number(node, output->tensor));
    bool strings = value->type == kTfLiteString, ok = true;
    if (!strings) {
        struct hl_text path = {0}, error = {0};
        // More dimensions than are known here: a plain row of elements.
        int flat = value->count <= INT32_MAX ? (int)value->count : INT32_MAX;
        hl_text_add(&path, "%s/%s", folder, name);
        ok = hl_npy_write(path.data, value->type, value->rank < 0 ? 1 : value->rank,
                          value->rank < 0 ? &flat : value->dims, hl_text_string(&value->bytes), &error);
        if (!ok) hl_error(file->command, path.data, "%s", error.data);
        hl_text_free(&path);
        hl_text_free(&error);
    }
    add_entry(list, file->model, output, value, strings ? NULL : name);
    return ok;
}

static bool write_index(const char *command, const char *folder, const cJSON *list)
{
    char *printed = hl_alloc_check(cJSON_Print(list));
    struct hl_text path = {0}, text = {0};
    hl_text_add(&path, "%s/index.json", folder);
    hl_text_add(&text, "%s\n", printed);
    bool ok = hl_output_write(command, path.data, text.data, text.length);
    hl_text_free(&path);
    hl_text_free(&text);
    cJSON_free(printed);
    return ok;
}

bool hl_run_dump(const struct hl_model_file *file, const struct hl_model_options *options,
                 const struct hl_diff_inputs *inputs, const char *folder)
{
    if (!hl_folder_make(folder)) {
        hl_error(file->command, folder, "cannot be made: %s", strerror(errno));
        return false;
    }
    int count;
    struct hl_diff_output *outputs = hl_diff_list_outputs(file->model, &count);
    struct hl_diff_tensor *values = hl_alloc((size_t)count, sizeof *values);
    int *tensors = hl_alloc((size_t)count, sizeof *tensors);
    for (int i = 0; i < count; i++) tensors[i] = outputs[i].tensor;
    cJSON *list = cJSON_CreateArray();
    bool ok = hl_diff_run_options(file->command, options, inputs, count, tensors, values);
    for (int i = 0; ok && i < count; i++) ok = write_tensor(list, file, &outputs[i], &values[i], folder);
    ok = ok && write_index(file->command, folder, list);
    cJSON_Delete(list);
    hl_diff_values_free(values, count);
    free(values);
    free(tensors);
    free(outputs);
    return ok;
}
