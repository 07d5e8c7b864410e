// SPDX-License-Identifier: Apache-2.0
// The frame of the commands for tasks.
#include "task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "output_file.h"

const char *const hl_task_formats[] = {"table", "tsv", "json", NULL};

bool hl_task_misfit(const struct hl_task *task, const char *what, const TfLiteTensor *tensor, const char *wanted)
{
    struct hl_text shape = {0};
    hl_model_add_tensor_shape(&shape, tensor);
    hl_error(task->kind->command, task->file.path, "%s is %s; %s", what, shape.data, wanted);
    hl_text_free(&shape);
    return false;
}

// ---- outputs and classes ------------------------------------------------------------------------

const TfLiteTensor *hl_task_output(const struct hl_task *task)
{
    if (TfLiteInterpreterGetOutputTensorCount(task->file.interpreter) > 0)
        return TfLiteInterpreterGetOutputTensor(task->file.interpreter, 0);
    hl_error(task->kind->command, task->file.path, "has no output");
    return NULL;
}

bool hl_task_reals(const struct hl_task *task, const char *item, const TfLiteTensor *output, const char *hint,
                   float *reals)
{
    int64_t count = hl_model_elements(output);
    for (int64_t i = 0; i < count; i++) {
        reals[i] = hl_model_real(output, i);
        if (!isnan(reals[i])) continue;
        hl_error(task->kind->command, item, "the model's scores hold no numbers (NaN); %s %s", task->file.path, hint);
        return false;
    }
    return true;
}

const char *hl_task_class_name(const struct hl_task *task, int class)
{
    return class >= 0 && class < task->labels.count ? task->labels.names[class] : "";
}

void hl_task_add_class(struct hl_text *text, const char *name, int class)
{
    if (*name != '\0')
        hl_text_add_escaped(text, name, strlen(name));
    else
        hl_text_add(text, "class %d", class);
}

void hl_task_add_class_cells(struct hl_text *line, const char *name, int class, double score)
{
    hl_text_add(line, "\t%d\t", class);
    hl_text_add_escaped(line, name, strlen(name));
    hl_text_add(line, "\t%.6g", score);
}

void hl_task_add_class_members(cJSON *json, const char *name, int class, double score)
{
    cJSON_AddNumberToObject(json, "class", class);
    hl_json_add_string(json, "label", name);
    if (!isnan(score)) cJSON_AddNumberToObject(json, "score", score);
}

// ---- the model ----------------------------------------------------------------------------------

static bool load_labels(struct hl_task *task)
{
    const char *path = task->options->labels;
    if (path == NULL) {
        hl_labels_load_packed(task->file.model, &task->labels);
        return true;
    }
    struct hl_text error = {0};
    bool ok = hl_labels_load(path, &task->labels, &error);
    if (!ok) hl_error(task->kind->command, path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}

// Variables, as tensors of their own or behind handles.
static bool keeps_state(const TfLiteModel *model)
{
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    bool found = false;
    for (int i = 0; i < graph->tensor_count; i++) found = found || graph->tensors[i].is_variable;
    for (int i = 0; i < graph->node_count; i++)
        found = found || strcmp(hl_model_code_name(&model->codes[graph->nodes[i].code]), "VAR_HANDLE") == 0;
    return found;
}

static bool prepare(struct hl_task *task)
{
    const struct hl_model_options *options = &task->options->model;
    if (!hl_model_file_open(&task->file, task->kind->command, options->model)) return false;
    task->keeps_state = keeps_state(task->file.model);
    bool ok = hl_model_file_start(&task->file, options) && hl_model_file_allocate(&task->file) && load_labels(task) &&
              task->kind->prepare(task);
    if (ok && task->kind->medium->prepared != NULL) task->kind->medium->prepared(task);
    return ok;
}

// ---- what is given ------------------------------------------------------------------------------

static void count_item(struct hl_task *task, const char *path)
{
    if (!task->kind->medium->run(task, path)) task->failed++;
    task->items++;
}

// Of a folder, files with other endings do not count.
static void visit(void *user_data, const char *path)
{
    struct hl_task *task = user_data;
    bool counts = false;
    for (const char *const *ending = task->kind->medium->endings; *ending != NULL; ending++)
        counts = counts || hl_files_ends_with_any_case(path, *ending);
    if (counts) count_item(task, path);
}

static void report_empty_folder(const struct hl_task *task, const char *folder)
{
    const struct hl_task_medium *medium = task->kind->medium;
    struct hl_text endings = {0};
    for (const char *const *ending = medium->endings; *ending != NULL; ending++)
        hl_text_add(&endings, "%s%s", endings.length > 0 ? ", " : "", *ending);
    hl_error(task->kind->command, folder, "is a folder without %s (%s)", medium->name, endings.data);
    hl_text_free(&endings);
}

static void run_operand(struct hl_task *task, const char *operand)
{
    struct hl_text failed = {0};
    const int before = task->items;
    if (!hl_path_is_folder(operand)) {
        count_item(task, operand);
    } else if (!hl_files_each(operand, "", visit, task, &failed)) {
        hl_error(task->kind->command, failed.data, "cannot be read: %s", strerror(errno));
        task->failed++;
    } else if (task->items == before) {
        report_empty_folder(task, operand);
        task->failed++;
    }
    hl_text_free(&failed);
}

bool hl_task_streams(const struct hl_task *task)
{
    return task->options->output != NULL && hl_output_is_standard(task->options->output);
}

int hl_task_run(const struct hl_task_kind *kind, const struct hl_task_options *options, void *state, int operand_count,
                char **operands)
{
    struct hl_task task = {.kind = kind, .options = options, .state = state};
    bool ok = (kind->medium->check == NULL || kind->medium->check(&task, operand_count, operands)) && prepare(&task);
    if (options->format == HL_TASK_JSON && options->frames == NULL) task.json = hl_alloc_check(cJSON_CreateArray());
    for (int i = 0; ok && i < operand_count; i++) run_operand(&task, operands[i]);
    if (ok && task.json != NULL && !hl_task_streams(&task)) hl_json_print(task.json);
    if (ok && options->format == HL_TASK_TABLE && task.failed < task.items && !hl_task_streams(&task)) {
        struct hl_text placement = {0};
        if (kind->name != NULL) printf("%s, ", kind->name(&task));
        hl_model_file_placement(&task.file, &placement);
        fputs(placement.data, stdout);
        hl_text_free(&placement);
    }
    cJSON_Delete(task.json);
    hl_model_file_close(&task.file);
    hl_labels_free(&task.labels);
    return ok && task.failed == 0 ? HL_EXIT_OK : HL_EXIT_FAILED;
}
