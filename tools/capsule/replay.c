// SPDX-License-Identifier: Apache-2.0
// A capsule's run once more, here: how far are its outputs from what was recorded, and from which node on?
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "capsule/capsule.h"
#include "diff/rows.h"
#include "halite/halite.h"
#include "json.h"
#include "message.h"

struct replay {
    const struct hl_capsule *capsule;
    const struct hl_capsule_model *model;
    const struct hl_model_options *options;
    const struct hl_capsule_bounds *bounds;
    struct hl_diff_inputs inputs;
    struct hl_model_file file;
    struct hl_capsule_run run;
    int count;
    struct hl_diff_row *rows;
    const char *a_name, *b_name;
};

// The recorded inputs have to be those of the model: types here, shapes when it is resized. False after a message.
static bool take_inputs(struct replay *replay)
{
    const struct hl_capsule_tensors *recorded = &replay->capsule->inputs;
    struct hl_model_file file;
    bool ok = hl_capsule_open(&file, replay->model);
    const struct hl_model_subgraph *graph = ok ? &file.model->subgraphs[0] : NULL;
    bool fits = ok && graph->input_count == recorded->count;
    for (int i = 0; fits && i < recorded->count; i++)
        fits = graph->tensors[graph->inputs[i]].type == recorded->items[i].value.type;
    if (ok && !fits)
        hl_error("capsule", replay->model->path, "is a damaged capsule: its inputs are not those of the model");
    hl_model_file_close(&file);
    if (!fits) return false;
    replay->inputs.items = hl_alloc((size_t)recorded->count, sizeof *replay->inputs.items);
    for (; replay->inputs.count < recorded->count; replay->inputs.count++) {
        const struct hl_diff_tensor *value = &recorded->items[replay->inputs.count].value;
        struct hl_diff_input *input = &replay->inputs.items[replay->inputs.count];
        input->rank = value->rank;
        memcpy(input->dims, value->dims, sizeof input->dims);
        if (value->bytes.length > 0) hl_text_add_bytes(&input->bytes, value->bytes.data, value->bytes.length);
    }
    return true;
}

// The node that makes a tensor of the main graph, -1: none.
static int maker_of(const struct hl_model_subgraph *graph, int tensor)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n].output_count; i++)
            if (graph->nodes[n].outputs[i] == tensor) return n;
    return -1;
}

static void compare(struct replay *replay, int i, int node, int tensor, const struct hl_diff_tensor *a,
                    const struct hl_diff_tensor *b)
{
    const TfLiteModel *model = replay->file.model;
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    struct hl_diff_row *row = &replay->rows[i];
    *row = (struct hl_diff_row){.node = node, .tensor = tensor, .name = graph->tensors[tensor].name};
    row->op = node >= 0 ? hl_model_code_name(&model->codes[graph->nodes[node].code]) : "input";
    hl_diff_row_compare(row, a, b, replay->bounds->bound, replay->bounds->steps);
}

// False after a message.
static bool compare_outputs(struct replay *replay)
{
    const struct hl_capsule_tensors *recorded = &replay->capsule->outputs, *here = &replay->run.outputs;
    const struct hl_model_subgraph *graph = &replay->file.model->subgraphs[0];
    if (recorded->count != here->count) {
        hl_error("capsule", replay->model->path, "is a damaged capsule: it has %d outputs, and its model %d",
                 recorded->count, here->count);
        return false;
    }
    replay->count = here->count;
    replay->rows = hl_alloc((size_t)replay->count, sizeof *replay->rows);
    for (int i = 0; i < replay->count; i++) {
        compare(replay, i, maker_of(graph, graph->outputs[i]), graph->outputs[i], &recorded->items[i].value,
                &here->items[i].value);
        replay->rows[i].shown = true;
    }
    return true;
}

// Nodes that are named by the capsule have to be the model's. False after a message.
static bool check_nodes(const struct replay *replay)
{
    const struct hl_capsule_tensors *recorded = &replay->capsule->nodes;
    int count, next = 0;
    struct hl_diff_output *outputs = hl_diff_list_outputs(replay->file.model, &count);
    // Both are in order.
    for (int i = 0; i < count && next < recorded->count; i++)
        if (outputs[i].node == recorded->items[next].node && outputs[i].tensor == recorded->items[next].tensor) next++;
    free(outputs);
    if (next == recorded->count) return true;
    hl_error("capsule", replay->model->path, "is a damaged capsule: its nodes are not those of the model");
    return false;
}

// What nodes made then against here, or the reference kernels here against this run. False after a message.
static bool compare_nodes(struct replay *replay)
{
    const struct hl_capsule_tensors *recorded = &replay->capsule->nodes, *a = recorded;
    struct hl_capsule_tensors reference = {0}, here = {0};
    const struct hl_model_options plain = {.threads = -1,
                                           .kernels = 1,
                                           .custom_ops = replay->options->custom_ops}; // hl_model_kernels: reference
    bool ok = check_nodes(replay);
    if (ok && recorded->count == 0) {
        ok = hl_capsule_run_nodes(&reference, replay->model, &plain, &replay->inputs, NULL);
        a = &reference;
        replay->a_name = "reference";
    }
    ok = ok && hl_capsule_run_nodes(&here, replay->model, replay->options, &replay->inputs, a);
    replay->count = ok ? here.count : 0;
    replay->rows = hl_alloc((size_t)replay->count, sizeof *replay->rows);
    for (int i = 0; i < replay->count; i++) {
        compare(replay, i, here.items[i].node, here.items[i].tensor, &a->items[i].value, &here.items[i].value);
        replay->rows[i].shown = replay->rows[i].beyond || i == replay->count - 1;
    }
    hl_capsule_tensors_free(&reference);
    hl_capsule_tensors_free(&here);
    return ok;
}

// ---- showing ------------------------------------------------------------------------------------

static void print_run(const char *what, const char *version, const char *cpu, const cJSON *device)
{
    struct hl_text line = {0}, shown = {0};
    hl_text_add(&line, "halite %s", version);
    if (cpu != NULL) hl_text_add(&line, ", %s", cpu);
    if (device != NULL)
        hl_text_add(&line, ", %s, %s, driver %s", hl_capsule_string(device, "name"),
                    hl_capsule_string(device, "description"), hl_capsule_string(device, "driver"));
    hl_text_add_escaped(&shown, line.data, line.length);
    printf("%s: %s\n", what, shown.data);
    hl_text_free(&line);
    hl_text_free(&shown);
}

static void print_places(const struct replay *replay)
{
    const cJSON *manifest = replay->capsule->manifest;
    print_run("recorded", hl_capsule_string(manifest, "version"),
              hl_capsule_string(cJSON_GetObjectItemCaseSensitive(manifest, "system"), "cpu"),
              cJSON_GetObjectItemCaseSensitive(manifest, "device"));
    print_run("here", HaliteVersion(), NULL, replay->run.device);
    fputs(hl_text_string(&replay->run.place), stdout);
}

static void print_text(const struct replay *replay)
{
    print_places(replay);
    hl_diff_rows_print(replay->rows, replay->count, replay->a_name, replay->b_name);
    hl_diff_rows_conclude(replay->rows, replay->count, replay->bounds->bound, replay->bounds->steps);
}

static void print_json(const struct replay *replay, const char *failed_there)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "from", replay->a_name);
    hl_json_add_string(json, "to", replay->b_name);
    if (*failed_there != '\0') hl_json_add_string(json, "failed_then", failed_there);
    if (!replay->run.ran) hl_json_add_string(json, "failed_here", replay->run.failure.data);
    if (replay->run.device != NULL) cJSON_AddItemToObject(json, "device", cJSON_Duplicate(replay->run.device, true));
    cJSON *rows = cJSON_AddArrayToObject(json, "tensors");
    for (int i = 0; i < replay->count; i++) cJSON_AddItemToArray(rows, hl_diff_row_json(&replay->rows[i]));
    hl_json_print(json);
    cJSON_Delete(json);
}

// One of both runs failed, or both: there are no outputs to compare.
static void print_failures(const struct replay *replay, const char *failed_there)
{
    struct hl_text text = {0};
    hl_text_add_escaped(&text, failed_there, strlen(failed_there));
    print_places(replay);
    printf("then: %s\n", text.length > 0 ? text.data : "it ran");
    printf("here: %s\n", replay->run.ran ? "it runs" : replay->run.failure.data);
    hl_text_free(&text);
}

bool hl_capsule_replay(const struct hl_capsule *capsule, const struct hl_capsule_model *model,
                       const struct hl_model_options *options, const struct hl_capsule_bounds *bounds, bool nodes,
                       bool json, bool *differs)
{
    struct replay replay = {capsule, model, options, bounds, .a_name = "recorded", .b_name = "here"};
    const char *failed_there = hl_capsule_string(capsule->manifest, "failure");
    bool ok = take_inputs(&replay) && hl_capsule_run(&replay.run, &replay.file, model, options, &replay.inputs);
    bool both_ran = ok && replay.run.ran && *failed_there == '\0';
    if (both_ran) ok = nodes ? compare_nodes(&replay) : compare_outputs(&replay);
    if (ok && !json && both_ran) print_text(&replay);
    if (ok && !json && !both_ran) print_failures(&replay, failed_there);
    if (ok && json) print_json(&replay, failed_there);
    *differs = ok && replay.run.ran != (*failed_there == '\0');
    for (int i = 0; i < replay.count; i++) *differs = *differs || replay.rows[i].beyond;
    free(replay.rows);
    hl_capsule_run_free(&replay.run);
    hl_diff_inputs_free(&replay.inputs);
    hl_model_file_close(&replay.file);
    return ok;
}
