// SPDX-License-Identifier: Apache-2.0
// Which operators do these models use, with which types? One row for each operator, version and combination of types.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "element.h"
#include "files.h"
#include "inspect.h"
#include "json.h"
#include "message.h"
#include "opset.h"
#include "progress.h"
#include "table.h"

struct row {
    char *op, *types;
    int version;
    bool custom, kernel;
    int nodes, models, last_model; // last_model: number of the model that was counted last
};

struct survey {
    struct row *rows;
    int row_count, row_capacity;
    int model_count, failed_count;
    struct hl_progress progress; // models so far
};

static void add_type(struct hl_text *text, const struct hl_model_subgraph *subgraph, int tensor)
{
    if (tensor < 0) {
        hl_text_add(text, "-");
        return;
    }
    const struct hl_model_tensor *stored = &subgraph->tensors[tensor];
    const struct hl_model_quantization *q = &stored->quantization;
    hl_text_add(text, "%s", hl_element_name(stored->type));
    if (q->type == kTfLiteAffineQuantization && q->scale_count > 1) hl_text_add(text, "/ch");
    if (q->type == kTfLiteBlockwiseQuantization) hl_text_add(text, "/block");
    if (stored->sparsity != NULL) hl_text_add(text, "/sparse");
}

// Four or more of one type in a row become "type...": operators that take any number are then one row.
static void add_types(struct hl_text *text, const struct hl_model_subgraph *subgraph, int count, const int *tensors)
{
    enum { KEPT = 3 };
    struct hl_text previous = {0}, current = {0};
    int repeated = 0;
    for (int i = 0; i < count; i++) {
        hl_text_clear(&current);
        add_type(&current, subgraph, tensors[i]);
        repeated = i > 0 && strcmp(current.data, previous.data) == 0 ? repeated + 1 : 1;
        if (repeated <= KEPT)
            hl_text_add(text, "%s%s", i > 0 ? ", " : "", current.data);
        else if (repeated == KEPT + 1)
            hl_text_add(text, "...");
        hl_text_clear(&previous);
        hl_text_add(&previous, "%s", current.data);
    }
    hl_text_free(&previous);
    hl_text_free(&current);
}

static struct row *find_row(struct survey *survey, const struct hl_model_code *code, const char *types)
{
    const char *op = hl_model_code_name(code);
    for (int i = 0; i < survey->row_count; i++) {
        struct row *row = &survey->rows[i];
        if (row->version == code->version && strcmp(row->op, op) == 0 && strcmp(row->types, types) == 0) return row;
    }
    if (survey->row_count == survey->row_capacity) {
        survey->row_capacity = survey->row_capacity ? 2 * survey->row_capacity : 64;
        survey->rows = hl_alloc_grow(survey->rows, (size_t)survey->row_capacity, sizeof *survey->rows);
    }
    struct row *row = &survey->rows[survey->row_count++];
    *row = (struct row){
        .op = hl_alloc_string(op),
        .types = hl_alloc_string(types),
        .version = code->version,
        .custom = code->custom_name != NULL,
        .kernel = hl_opset_has(code),
    };
    return row;
}

static void count_model(struct survey *survey, const TfLiteModel *model)
{
    struct hl_text types = {0};
    for (int s = 0; s < model->subgraph_count; s++) {
        const struct hl_model_subgraph *subgraph = &model->subgraphs[s];
        for (int n = 0; n < subgraph->node_count; n++) {
            const struct hl_model_node *node = &subgraph->nodes[n];
            hl_text_clear(&types);
            add_types(&types, subgraph, node->input_count, node->inputs);
            hl_text_add(&types, "%s->", node->input_count > 0 ? " " : "");
            if (node->output_count > 0) hl_text_add(&types, " ");
            add_types(&types, subgraph, node->output_count, node->outputs);
            struct row *row = find_row(survey, &model->codes[node->code], types.data);
            row->nodes++;
            if (row->last_model != survey->model_count) row->models++;
            row->last_model = survey->model_count;
        }
    }
    hl_text_free(&types);
}

static void visit(void *user_data, const char *path)
{
    struct survey *survey = user_data;
    struct hl_model_file file;
    survey->model_count++;
    if (hl_model_file_open(&file, "inspect", path))
        count_model(survey, file.model);
    else
        survey->failed_count++;
    hl_model_file_close(&file);
    hl_progress_step(&survey->progress);
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->op, y->op);
    if (order == 0) order = x->version - y->version;
    if (order == 0) order = y->nodes - x->nodes;
    return order != 0 ? order : strcmp(x->types, y->types);
}

static void print_text(const struct survey *survey)
{
    struct hl_table table;
    hl_table_start(&table, "lrrrll");
    static const char *const titles[] = {"operator", "version", "nodes", "models", "kernel", "types"};
    for (int i = 0; i < 6; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < survey->row_count; i++) {
        const struct row *row = &survey->rows[i];
        hl_table_add_name(&table, row->op);
        hl_table_add(&table, "%d", row->version);
        hl_table_add(&table, "%d", row->nodes);
        hl_table_add(&table, "%d", row->models);
        hl_table_add(&table, row->kernel ? "yes" : "no");
        hl_table_add(&table, "%s", row->types);
    }
    hl_table_print(&table, 0, stdout);
}

static void print_json(const struct survey *survey)
{
    cJSON *json = cJSON_CreateArray();
    for (int i = 0; i < survey->row_count; i++) {
        const struct row *row = &survey->rows[i];
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "operator", row->op);
        cJSON_AddBoolToObject(item, "custom", row->custom);
        cJSON_AddNumberToObject(item, "version", row->version);
        cJSON_AddStringToObject(item, "types", row->types);
        cJSON_AddNumberToObject(item, "nodes", row->nodes);
        cJSON_AddNumberToObject(item, "models", row->models);
        cJSON_AddBoolToObject(item, "kernel", row->kernel);
        cJSON_AddItemToArray(json, item);
    }
    hl_json_print(json);
    cJSON_Delete(json);
}

bool hl_inspect_ops(int path_count, char **paths, bool json)
{
    struct survey survey = {0};
    bool ok = true;
    hl_progress_start(&survey.progress, "models read", 0, 0);
    for (int i = 0; i < path_count; i++) {
        struct hl_text failed = {0};
        if (!hl_path_is_folder(paths[i])) {
            visit(&survey, paths[i]);
        } else if (!hl_files_each(paths[i], ".tflite", visit, &survey, &failed)) {
            hl_error("inspect", failed.data, "cannot be read: %s", strerror(errno));
            ok = false;
        }
        hl_text_free(&failed);
    }
    hl_progress_end(&survey.progress);
    if (ok && survey.model_count == 0) {
        hl_error("inspect", paths[0], "holds no .tflite file");
        ok = false;
    }
    if (survey.row_count > 0) qsort(survey.rows, (size_t)survey.row_count, sizeof *survey.rows, compare_rows);
    if (json)
        print_json(&survey);
    else if (survey.row_count > 0)
        print_text(&survey);
    for (int i = 0; i < survey.row_count; i++) {
        free(survey.rows[i].op);
        free(survey.rows[i].types);
    }
    free(survey.rows);
    return ok && survey.failed_count == 0;
}
