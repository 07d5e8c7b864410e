// SPDX-License-Identifier: Apache-2.0
// halite label: what is on these pictures? In: an image classification model, names of its classes, pictures. Out: the
// best classes of each picture, the time that took and where the operators ran; or a table for programs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "json.h"
#include "message.h"
#include "task.h"

struct options {
    struct hl_task_options task;
    int top;
    bool tsv;
    double mean, std, crop; // NAN: not given
};

static const struct options defaults = {
    .task.model = HL_MODEL_DEFAULTS,
    .top = 5,
    .mean = (double)NAN,
    .std = (double)NAN,
    .crop = (double)NAN,
};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    HL_LABELS_FLAG(options, task.labels),
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 10000,
     .offset = offsetof(struct options, top), .help = "how many classes to show; default 5"},
    HL_TASK_FORMAT_FLAG(options, "a line for each class: picture, rank,\nclass, label, score"),
    {.name = "tsv", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, tsv), .help = "as --format tsv"},
    {.name = "mean", .kind = HL_FLAG_NUMBER, .value = "X", .min = -1e9, .max = 1e9,
     .offset = offsetof(struct options, mean), .help = "input = (pixel - mean) / std; see below"},
    {.name = "std", .kind = HL_FLAG_NUMBER, .value = "X", .min = 1e-9, .max = 1e9,
     .offset = offsetof(struct options, std), .help = "with --mean"},
    {.name = "crop", .kind = HL_FLAG_NUMBER, .value = "F", .min = 0.01, .max = 1,
     .offset = offsetof(struct options, crop),
     .help = "side of the central square, as a part of the shorter side;\n"
             "default 0.875, for models of gray pictures 1"},
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

static const char details[] =
    HL_TASK_PICTURES "run_eval takes pictures as they are stored, as the original does. The model has one input,\n"
                     "[1,height,width,3] (RGB) or [1,height,width,1] or [1,height,width] (gray), of type float32,\n"
                     "uint8 or int8, and its first output has one score for each class.\n"
                     "\n"
                     "A picture's central square is scaled to the input, as TensorFlow Lite's own evaluation does it.\n"
                     "Pixels (0 to 255) become input values as the first of these that applies says:\n"
                     "  --mean and --std    (pixel - mean) / std, quantized by the input's own scale if it is 8-bit\n"
                     "  float32             the normalization in the model's metadata, if it has one,\n"
                     "                      else (pixel - 127.5) / 127.5\n"
                     "  uint8, int8         the pixel, the pixel minus 128\n"
                     "Scores between 0 and 1 are shown as probabilities, others as they are. Among equal scores the\n"
                     "lower class comes first.\n";

struct labeller {
    const struct options *options;
    int classes;
    float *scores; // of one picture's classes
    int *ranking;  // classes, best first
    int shown;
};

static const struct labeller *labeller_of(const struct hl_task *task)
{
    return task->state;
}

// ---- does the model fit? ------------------------------------------------------------------------

static bool check_output(struct hl_task *task, int *class_count)
{
    const TfLiteInterpreter *interpreter = task->file.interpreter;
    if (TfLiteInterpreterGetOutputTensorCount(interpreter) < 1) {
        hl_error("label", task->file.path, "has no output");
        return false;
    }
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    int rank = TfLiteTensorNumDims(output);
    int64_t classes = hl_model_elements(output);
    bool list = rank >= 1 && classes > 0 && classes == TfLiteTensorDim(output, rank - 1);
    TfLiteType type = TfLiteTensorType(output);
    if (!list)
        return hl_task_misfit(task, "the first output", output, "one score for each class, [1,classes], is wanted");
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8)
        return hl_task_misfit(task, "the first output", output, "float32, uint8 or int8 is wanted");
    *class_count = (int)classes;
    return true;
}

static bool check_labels(struct hl_task *task, int classes)
{
    const char *path = task->options->labels;
    int names = task->labels.count;
    if (names == classes) return true;
    if (path == NULL) { // packed ones that do not fit are those of another output
        hl_labels_free(&task->labels);
        return true;
    }
    const char *hint = names == classes - 1   ? " (the model may count a background class first)"
                       : names == classes + 1 ? " (the file may name a background class first)"
                                              : "";
    hl_error("label", path, "holds %d names, but %s has %d classes%s; give the labels of this model", names,
             task->file.path, classes, hint);
    return false;
}

static bool prepare(struct hl_task *task)
{
    struct labeller *labeller = task->state;
    const struct options *options = labeller->options;
    if (!hl_task_look(task, 1, false) || !check_output(task, &labeller->classes) ||
        !check_labels(task, labeller->classes))
        return false;
    if (!isnan(options->mean) || !isnan(options->std)) {
        task->input.normalization.given = true;
        for (int i = 0; i < 3; i++) {
            task->input.normalization.mean[i] = isnan(options->mean) ? 0 : options->mean;
            task->input.normalization.std[i] = isnan(options->std) ? 1 : options->std;
        }
    }
    task->input.crop = !isnan(options->crop) ? options->crop : task->input.shape.channels == 3 ? HL_PREPROCESS_CROP : 1;
    labeller->scores = hl_alloc((size_t)labeller->classes, sizeof *labeller->scores);
    labeller->ranking = hl_alloc((size_t)labeller->classes, sizeof *labeller->ranking);
    return true;
}

// ---- one picture --------------------------------------------------------------------------------

// Best `top` classes to the front of the ranking: insertion into a short list, lower class first among equals.
static int rank_classes(const struct labeller *labeller)
{
    int top = labeller->options->top < labeller->classes ? labeller->options->top : labeller->classes, used = 0;
    const float *scores = labeller->scores;
    int *ranking = labeller->ranking;
    for (int i = 0; i < labeller->classes; i++) {
        if (used == top && scores[i] <= scores[ranking[used - 1]]) continue;
        int at = used < top ? used++ : used - 1;
        for (; at > 0 && scores[i] > scores[ranking[at - 1]]; at--) ranking[at] = ranking[at - 1];
        ranking[at] = i;
    }
    return top;
}

// Real values of the output; false where one is no number.
static bool read_scores(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    (void)image;
    struct labeller *labeller = task->state;
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(task->file.interpreter, 0);
    for (int i = 0; i < labeller->classes; i++) {
        labeller->scores[i] = hl_model_real(output, i);
        if (!isnan(labeller->scores[i])) continue;
        hl_error(
            "label", picture,
            "the model's score of class %d is not a number (NaN); %s may want another --mean and --std, or is damaged",
            i, task->file.path);
        return false;
    }
    labeller->shown = rank_classes(labeller);
    return true;
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct labeller *labeller = labeller_of(task);
    for (int rank = 0; rank < labeller->shown; rank++) {
        int class = labeller->ranking[rank];
        const char *name = hl_task_class_name(task, class);
        hl_text_add(lines, "%s\t%d\t%d\t", picture, rank + 1, class);
        hl_text_add_escaped(lines, name, strlen(name));
        hl_text_add(lines, "\t%.6g\n", (double)labeller->scores[class]);
    }
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct labeller *labeller = labeller_of(task);
    cJSON *classes = cJSON_AddArrayToObject(picture, "classes");
    for (int rank = 0; rank < labeller->shown; rank++) {
        int class = labeller->ranking[rank];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "class", class);
        hl_json_add_string(json, "label", hl_task_class_name(task, class));
        cJSON_AddNumberToObject(json, "score", (double)labeller->scores[class]);
        cJSON_AddItemToArray(classes, json);
    }
}

static void print_table(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct labeller *labeller = labeller_of(task);
    bool probabilities = true;
    for (int i = 0; i < labeller->classes; i++)
        probabilities = probabilities && labeller->scores[i] >= 0 && labeller->scores[i] <= 1 + 1e-6f;
    struct hl_table table;
    hl_table_start(&table, "rll");
    for (int rank = 0; rank < labeller->shown; rank++) {
        int class = labeller->ranking[rank];
        double score = (double)labeller->scores[class];
        if (probabilities)
            hl_table_add(&table, "%.1f %%", 100 * score);
        else
            hl_table_add(&table, "%.3f", score);
        if (task->labels.count > 0) hl_table_add_name(&table, hl_task_class_name(task, class));
        hl_table_add(&table, task->labels.count > 0 ? "(class %d)" : "class %d", class);
        if (task->labels.count == 0) hl_table_add(&table, "%s", "");
    }
    hl_table_print(&table, 2, stdout);
}

static int run(const void *given, int operand_count, char **operands)
{
    static const struct hl_task_kind kind = {
        .command = "label",
        .prepare = prepare,
        .read = read_scores,
        .print = print_table,
        .lines = add_lines,
        .members = add_members,
    };
    const struct options *options = given;
    struct hl_task_options task = options->task;
    if (options->tsv) task.format = HL_TASK_TSV;
    struct labeller labeller = {.options = options};
    int code = hl_task_run(&kind, &task, &labeller, operand_count, operands);
    free(labeller.scores);
    free(labeller.ranking);
    return code;
}

static const struct hl_example examples[] = {
    {"halite label mobilenet.tflite --labels labels.txt photo.jpg", "the five best classes"},
    {"halite label mobilenet.tflite --tsv *.jpg > classes.tsv", "many pictures, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_label = {
    .name = "label",
    .summary = "Name what pictures show, with an image classification model.",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND(run),
};
