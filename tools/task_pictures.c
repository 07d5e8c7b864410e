// SPDX-License-Identifier: Apache-2.0
// Tasks on pictures and the frames of a video: one is read, scaled into the model's input, inferred from, shown and
// drawn on.
#include "task.h"

#include <string.h>

#include "base/clock.h"
#include "draw.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "output_file.h"

// From this on an inference is not repeated for the sake of its time.
static const double long_seconds = 2;

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

// ---- one picture --------------------------------------------------------------------------------

// The time of a warm inference. The first one is run twice, unless the model keeps a state that the second would find
// changed, or takes long.
static bool infer(struct hl_task *task, double *seconds)
{
    bool again = task->inferences == 0 && !task->keeps_state;
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
    const char *name = hl_files_is_stdin(picture) ? "standard input" : picture;
    hl_text_add_escaped(&line, name, strlen(name));
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

// Into the list of all; a video has no end that is worth waiting for, and its frames are a line each.
static void give_json(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "picture", picture);
    cJSON_AddNumberToObject(json, "width", image->width);
    cJSON_AddNumberToObject(json, "height", image->height);
    task->kind->members(task, json);
    if (task->json != NULL) {
        cJSON_AddItemToArray(task->json, json);
        return;
    }
    hl_json_print_as(json, true);
    cJSON_Delete(json);
}

static bool draw(const struct hl_task *task, const char *picture, struct hl_image *image)
{
    struct hl_text path = {0};
    const char *name = hl_path_name(picture);
    task->kind->draw(task, image);
    hl_text_add(&path, "%s", task->options->output);
    if (task->to_folder) hl_text_add(&path, "/%s.png", hl_files_is_stdin(picture) ? "stdin" : name);
    bool ok = hl_draw_write(task->kind->command, path.data, image);
    hl_text_free(&path);
    return ok;
}

static bool show(struct hl_task *task, const char *picture, struct hl_image *image, double seconds)
{
    if (!hl_task_streams(task)) {
        switch (task->options->format) {
        case HL_TASK_TABLE: print_table(task, picture, image, seconds); break;
        case HL_TASK_TSV: print_lines(task, picture); break;
        default: give_json(task, picture, image);
        }
    }
    return task->options->output == NULL || draw(task, picture, image);
}

// Draws on the image, and frees it.
static bool run_image(struct hl_task *task, const char *picture, struct hl_image *image)
{
    double seconds;
    bool ok = true;
    if (task->kind->fill != NULL)
        ok = task->kind->fill(task, picture, image);
    else
        hl_picture_input_fill(&task->input, image, TfLiteInterpreterGetInputTensor(task->file.interpreter, 0));
    ok = ok && infer(task, &seconds) && task->kind->read(task, picture, image) && show(task, picture, image, seconds);
    hl_image_free(image);
    return ok;
}

// Each frame is answered when it is there, by a name that is that of its file as well.
static bool run_frames(struct hl_task *task)
{
    struct hl_frames frames;
    struct hl_text error = {0};
    bool ok = hl_frames_begin(&frames, task->options->frames, &error);
    for (enum hl_frames_step step = HL_FRAMES_NEXT; step < HL_FRAMES_BROKEN;) {
        struct hl_image image;
        char name[32];
        hl_text_clear(&error);
        step = hl_frames_next(&frames, stdin, &image, &error);
        snprintf(name, sizeof name, "frame-%06d", frames.count);
        if (step == HL_FRAMES_END) break;
        if (step != HL_FRAMES_NEXT) hl_error(task->kind->command, name, "%s", error.data);
        ok = step == HL_FRAMES_NEXT && run_image(task, name, &image) && ok;
        fflush(stdout);
    }
    if (frames.count == 0) hl_error(task->kind->command, "standard input", "has no frame");
    hl_text_free(&error);
    return ok && frames.count > 0;
}

static bool run_picture(struct hl_task *task, const char *picture)
{
    struct hl_image image;
    struct hl_text error = {0};
    if (task->options->frames != NULL) return run_frames(task);
    bool ok = hl_image_load_upright(picture, &image, &error);
    if (!ok) hl_error(task->kind->command, picture, "%s", error.data);
    hl_text_free(&error);
    return ok && run_image(task, picture, &image);
}

static bool check_frames(const struct hl_task *task, int count, char **operands)
{
    const char *format = task->options->frames, *command = task->kind->command;
    struct hl_frames frames;
    struct hl_text error = {0};
    bool ok = format == NULL || hl_frames_begin(&frames, format, &error);
    if (!ok) hl_error(command, format, "%s", error.data);
    hl_text_free(&error);
    if (format == NULL || !ok || (count == 1 && hl_files_is_stdin(operands[0]))) return ok;
    hl_error(command, operands[0], "is not -, the one picture that --frames reads");
    return false;
}

// Whoever names a file so believes that it becomes one.
static bool is_named_otherwise(const char *output)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (hl_files_ends_with_any_case(output, endings[i])) return true;
    return false;
}

// One file for several pictures would keep the last one alone; a pipe takes frames one behind the other.
static bool check(struct hl_task *task, int count, char **operands)
{
    const char *output = task->options->output, *command = task->kind->command;
    bool several =
        count > 1 || hl_path_is_folder(operands[0]) || (task->options->frames != NULL && !hl_task_streams(task));
    if (!check_frames(task, count, operands)) return false;
    if (output == NULL) return true;
    task->to_folder = hl_path_is_folder(output);
    if (several && !task->to_folder) {
        hl_error(command, output, "is no folder, which several pictures need; make it first");
        return false;
    }
    if (!task->to_folder && is_named_otherwise(output)) {
        hl_error(command, output, "would be a PNG file under a wrong name; give one that ends with .png");
        return false;
    }
    return task->to_folder || hl_output_check(command, output);
}

static void normalize(struct hl_task *task)
{
    hl_picture_input_normalize(&task->input, task->file.model, 0);
}

const struct hl_task_medium hl_task_pictures = {
    .name = "pictures",
    .endings = hl_image_endings,
    .run = run_picture,
    .check = check,
    .prepared = normalize,
};
