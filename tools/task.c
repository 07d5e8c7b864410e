// SPDX-License-Identifier: Apache-2.0
// The frame of the commands for tasks on pictures.
#include "task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "draw.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "output_file.h"

const char *const hl_task_formats[] = {"table", "tsv", "json", NULL};

// From this on an inference is not repeated for the sake of its time.
static const double long_seconds = 2;

bool hl_task_misfit(const struct hl_task *task, const char *what, const TfLiteTensor *tensor, const char *wanted)
{
    struct hl_text shape = {0};
    hl_model_add_tensor_shape(&shape, tensor);
    hl_error(task->kind->command, task->file.path, "%s is %s; %s", what, shape.data, wanted);
    hl_text_free(&shape);
    return false;
}

bool hl_task_look(struct hl_task *task, int inputs, bool planar)
{
    int count = TfLiteInterpreterGetInputTensorCount(task->file.interpreter);
    if (count != inputs) {
        hl_error(task->kind->command, task->file.path, "has %d inputs; a model with one input, a picture, is wanted",
                 count);
        return false;
    }
    const TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(task->file.interpreter, 0);
    const char *wanted = hl_picture_input_look(tensor, planar, &task->input);
    return wanted == NULL || hl_task_misfit(task, "the input", tensor, wanted);
}

const char *hl_task_class_name(const struct hl_task *task, int class)
{
    return class >= 0 && class < task->labels.count ? task->labels.names[class] : "";
}

void hl_task_add_class(const struct hl_task *task, struct hl_table *table, int class)
{
    const char *name = hl_task_class_name(task, class);
    if (*name != '\0')
        hl_table_add_name(table, name);
    else
        hl_table_add(table, "class %d", class);
}

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

static bool prepare(struct hl_task *task)
{
    const struct hl_model_options *options = &task->options->model;
    bool ok = hl_model_file_open(&task->file, task->kind->command, options->model) &&
              hl_model_file_start(&task->file, options) && hl_model_file_allocate(&task->file) && load_labels(task) &&
              task->kind->prepare(task);
    if (ok) hl_picture_input_normalize(&task->input, task->file.model, 0);
    return ok;
}

// ---- one picture --------------------------------------------------------------------------------

// The time of a warm inference. The first one is run twice, unless the model keeps a state that the second would find
// changed, or takes long.
static bool infer(struct hl_task *task, double *seconds)
{
    const struct hl_model_subgraph *graph = &task->file.model->subgraphs[0];
    bool again = task->inferences == 0;
    for (int i = 0; i < graph->tensor_count; i++) again = again && !graph->tensors[i].is_variable;
    for (bool done = false; !done;) {
        double start = hl_seconds();
        if (TfLiteInterpreterInvoke(task->file.interpreter) != kTfLiteOk) {
            hl_model_file_failed(&task->file, "the inference failed");
            return false;
        }
        *seconds = hl_seconds() - start;
        done = !again || task->inferences > 0 || *seconds > long_seconds;
        task->inferences++;
    }
    return true;
}

static void print_table(const struct hl_task *task, const char *picture, const struct hl_image *image, double seconds)
{
    struct hl_text line = {0};
    char time[32];
    hl_text_add_escaped(&line, picture, strlen(picture));
    hl_text_add(&line, " (%d x %d)", image->width, image->height);
    if (task->kind->summary != NULL) task->kind->summary(task, &line);
    hl_format_seconds(time, sizeof time, seconds);
    printf("%s, %s in %s\n", line.data, task->inferences == 1 ? "first inference" : "one inference", time);
    hl_text_free(&line);
    if (task->kind->print != NULL) task->kind->print(task, image);
    printf("\n");
}

static void print_lines(const struct hl_task *task, const char *picture)
{
    struct hl_text name = {0}, lines = {0};
    hl_text_add_escaped(&name, picture, strlen(picture));
    task->kind->lines(task, name.data, &lines);
    fputs(hl_text_string(&lines), stdout);
    hl_text_free(&name);
    hl_text_free(&lines);
}

static void add_json(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "picture", picture);
    cJSON_AddNumberToObject(json, "width", image->width);
    cJSON_AddNumberToObject(json, "height", image->height);
    task->kind->members(task, json);
    cJSON_AddItemToArray(task->json, json);
}

static bool draw(const struct hl_task *task, const char *picture, struct hl_image *image)
{
    struct hl_text path = {0};
    const char *slash = strrchr(picture, '/'), *name = slash != NULL ? slash + 1 : picture;
    task->kind->draw(task, image);
    hl_text_add(&path, "%s", task->options->output);
    if (task->to_folder) hl_text_add(&path, "/%s.png", hl_files_is_stdin(picture) ? "stdin" : name);
    bool ok = hl_draw_write(task->kind->command, path.data, image);
    hl_text_free(&path);
    return ok;
}

// Does the picture go to standard output, where then nothing else is written?
static bool streams(const struct hl_task *task)
{
    return task->options->output != NULL && hl_output_is_standard(task->options->output);
}

static bool show(struct hl_task *task, const char *picture, struct hl_image *image, double seconds)
{
    if (!streams(task)) {
        switch (task->options->format) {
        case HL_TASK_TABLE: print_table(task, picture, image, seconds); break;
        case HL_TASK_TSV: print_lines(task, picture); break;
        default: add_json(task, picture, image);
        }
    }
    return task->options->output == NULL || draw(task, picture, image);
}

static bool run_picture(struct hl_task *task, const char *picture)
{
    struct hl_image image;
    struct hl_text error = {0};
    bool ok = hl_image_load_upright(picture, &image, &error);
    if (!ok) hl_error(task->kind->command, picture, "%s", error.data);
    hl_text_free(&error);
    if (!ok) return false;
    double seconds;
    if (task->kind->fill != NULL)
        ok = task->kind->fill(task, picture, &image);
    else
        hl_picture_input_fill(&task->input, &image, TfLiteInterpreterGetInputTensor(task->file.interpreter, 0));
    ok = ok && infer(task, &seconds) && task->kind->read(task, picture, &image) && show(task, picture, &image, seconds);
    hl_image_free(&image);
    return ok;
}

// ---- all of them --------------------------------------------------------------------------------

static void count_picture(struct hl_task *task, const char *picture)
{
    if (!run_picture(task, picture)) task->failed++;
    task->pictures++;
}

// Of a folder, files with other endings are no pictures.
static void visit(void *user_data, const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".bmp", ".pgm", ".ppm"};
    bool is_picture = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is_picture = is_picture || hl_files_ends_with_any_case(path, endings[i]);
    if (is_picture) count_picture(user_data, path);
}

static void run_operand(struct hl_task *task, const char *operand)
{
    struct hl_text failed = {0};
    const int before = task->pictures;
    if (!hl_path_is_folder(operand)) {
        count_picture(task, operand);
    } else if (!hl_files_each(operand, "", visit, task, &failed)) {
        hl_error(task->kind->command, failed.data, "cannot be read: %s", strerror(errno));
        task->failed++;
    } else if (task->pictures == before) {
        hl_error(task->kind->command, operand, "is a folder without pictures (.jpg, .jpeg, .png, .bmp, .pgm, .ppm)");
        task->failed++;
    }
    hl_text_free(&failed);
}

// One file for several pictures would keep the last one alone.
static bool check_output(struct hl_task *task, int operand_count, char **operands)
{
    const char *output = task->options->output, *command = task->kind->command;
    bool several = operand_count > 1 || hl_path_is_folder(operands[0]);
    if (output == NULL) return true;
    task->to_folder = hl_path_is_folder(output);
    if (several && !task->to_folder) {
        hl_error(command, output, "is no folder, which several pictures need; make it first");
        return false;
    }
    return task->to_folder || hl_output_check(command, output);
}

int hl_task_run(const struct hl_task_kind *kind, const struct hl_task_options *options, void *state, int operand_count,
                char **operands)
{
    struct hl_task task = {.kind = kind, .options = options, .state = state};
    bool ok = check_output(&task, operand_count, operands) && prepare(&task);
    if (options->format == HL_TASK_JSON) task.json = hl_alloc_check(cJSON_CreateArray());
    for (int i = 0; ok && i < operand_count; i++) run_operand(&task, operands[i]);
    if (ok && task.json != NULL && !streams(&task)) hl_json_print(task.json);
    if (ok && options->format == HL_TASK_TABLE && task.failed < task.pictures && !streams(&task)) {
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
