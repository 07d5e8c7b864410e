// SPDX-License-Identifier: Apache-2.0
// halite label: what is on these pictures? In: an image classification model, names of its classes, pictures. Out: the
// best classes of each picture, the time that took and where the operators ran; or a table for programs.
#include <math.h>

#include "class_scores.h"
#include "commands.h"
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
    HL_TASK_FRAMES_FLAG(options),
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
    struct hl_class_scores scores; // of the picture at hand
};

static const struct hl_class_scores *scores_of(const struct hl_task *task)
{
    return &((const struct labeller *)task->state)->scores;
}

// ---- does the model fit? ------------------------------------------------------------------------

static bool prepare(struct hl_task *task)
{
    struct labeller *labeller = task->state;
    const struct options *options = labeller->options;
    if (!hl_task_look(task, 1, false) || !hl_class_scores_prepare(&labeller->scores, task, options->top)) return false;
    if (!isnan(options->mean) || !isnan(options->std)) {
        task->input.normalization.given = true;
        for (int i = 0; i < 3; i++) {
            task->input.normalization.mean[i] = isnan(options->mean) ? 0 : options->mean;
            task->input.normalization.std[i] = isnan(options->std) ? 1 : options->std;
        }
    }
    task->input.crop = !isnan(options->crop) ? options->crop : task->input.shape.channels == 3 ? HL_PREPROCESS_CROP : 1;
    return true;
}

// ---- one picture --------------------------------------------------------------------------------

static bool read_scores(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    (void)image;
    struct labeller *labeller = task->state;
    return hl_class_scores_read(&labeller->scores, task, picture, "may want another --mean and --std, or is damaged");
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct hl_class_scores *scores = scores_of(task);
    for (int rank = 0; rank < scores->ranked; rank++) {
        int class = scores->ranking[rank];
        hl_text_add(lines, "%s\t%d", picture, rank + 1);
        hl_task_add_class_cells(lines, hl_task_class_name(task, class), class, (double)scores->scores[class]);
        hl_text_add(lines, "\n");
    }
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct hl_class_scores *scores = scores_of(task);
    cJSON *classes = cJSON_AddArrayToObject(picture, "classes");
    for (int rank = 0; rank < scores->ranked; rank++) {
        int class = scores->ranking[rank];
        cJSON *json = cJSON_CreateObject();
        hl_task_add_class_members(json, hl_task_class_name(task, class), class, (double)scores->scores[class]);
        cJSON_AddItemToArray(classes, json);
    }
}

static void print_table(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct hl_class_scores *scores = scores_of(task);
    bool probabilities = hl_class_scores_are_probabilities(scores);
    struct hl_table table;
    hl_table_start(&table, "rll");
    for (int rank = 0; rank < scores->ranked; rank++) {
        int class = scores->ranking[rank];
        hl_table_add(&table, probabilities ? "%.1f %%" : "%.3f",
                     (probabilities ? 100 : 1) * (double)scores->scores[class]);
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
        .medium = &hl_task_pictures,
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
    hl_class_scores_free(&labeller.scores);
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
    HL_TASK_COMMAND("PHOTO...", run),
};
