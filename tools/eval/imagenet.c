// SPDX-License-Identifier: Apache-2.0
// run_eval, imagenet_image_classification_run_eval: how often is the right class among the model's best ten? In:
// pictures and, line by line, the label of each; the labels of the model's classes. Out: the share of right answers
// among the best 1 to 10.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "eval/evaluation.h"
#include "message.h"

enum { TOP = 10 };

struct options {
    struct hl_pictures_setting setting;
    const char *ground_truth_labels, *denylist_file_path, *blacklist_file_path;
    int num_images;
};

static const struct options defaults = {
    .setting = HL_PICTURES_DEFAULTS,
    .ground_truth_labels = "",
    .denylist_file_path = "",
    .blacklist_file_path = "",
};

// clang-format off
static const struct hl_flag flags[] = {
    HL_TFLITE_FLAG(STRING, options, ground_truth_labels, "labels of the pictures, one a line, in the order of their names"),
    HL_TFLITE_FLAG(STRING, options, denylist_file_path, "numbers of pictures to leave out, one a line, the first is 1"),
    HL_TFLITE_FLAG(STRING, options, blacklist_file_path, "older name of --denylist_file_path"),
    HL_TFLITE_FLAG(INT, options, num_images, "only so many pictures; 0: all"),
    HL_PICTURES_FLAGS(options, setting)
};
// clang-format on

struct imagenet {
    struct hl_evaluation evaluation;
    struct hl_labels truth; // of the pictures
    const char **labels;    // of the pictures that are left
    int right[TOP];         // pictures whose label is among the best i + 1 classes
};

// ---- labels of pictures -------------------------------------------------------------------------

// Marks the pictures that a list of numbers names.
static bool apply_denylist(struct imagenet *imagenet, const char *path)
{
    struct hl_labels lines;
    struct hl_text error = {0};
    bool ok = hl_labels_load(path, &lines, &error);
    if (!ok) hl_error(HL_TFLITE, NULL, "Could not read: '%s' %s", path, error.data);
    hl_text_free(&error);
    for (int i = 0; ok && i < lines.count; i++) {
        char *end;
        errno = 0;
        long number = strtol(lines.names[i], &end, 10);
        ok = end != lines.names[i] && errno == 0 && number >= 1 && number <= imagenet->evaluation.path_count;
        if (!ok) {
            hl_error(HL_TFLITE, path, "line %d is '%s'; a number from 1 to %d is wanted", i + 1, lines.names[i],
                     imagenet->evaluation.path_count);
            break;
        }
        char **picture = &imagenet->evaluation.paths[number - 1];
        free(*picture);
        *picture = NULL;
    }
    hl_labels_free(&lines);
    return ok;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A line that is no label of the model makes its picture wrong whatever the model says. One or a few may be meant so,
// none that fits is the wrong file. False after a message.
static bool check_truth(const struct imagenet *imagenet, const struct options *options)
{
    const struct hl_labels *labels = &imagenet->evaluation.labels, *truth = &imagenet->truth;
    char **sorted = hl_alloc((size_t)labels->count, sizeof *sorted);
    for (int i = 0; i < labels->count; i++) sorted[i] = labels->names[i];
    qsort(sorted, (size_t)labels->count, sizeof *sorted, compare_strings);
    const char *first = NULL; // that is no label
    int fitting = 0;
    for (int i = 0; i < truth->count; i++) {
        if (bsearch(&truth->names[i], sorted, (size_t)labels->count, sizeof *sorted, compare_strings) != NULL)
            fitting++;
        else if (first == NULL)
            first = truth->names[i];
    }
    free(sorted);
    if (first == NULL) return true;
    if (fitting == 0)
        hl_error(HL_TFLITE, NULL, "none of the %d lines of %s is a label of %s, word for word; the first is '%s'",
                 truth->count, options->ground_truth_labels, options->setting.model_output_labels, first);
    else
        hl_warn(HL_TFLITE, NULL, "%d of %d lines of %s are labels of %s; the first that is none: '%s'", fitting,
                truth->count, options->ground_truth_labels, options->setting.model_output_labels, first);
    return fitting > 0;
}

// Every picture's label; then those that are not wanted go.
static bool match_labels(struct imagenet *imagenet, const struct options *options)
{
    struct hl_evaluation *evaluation = &imagenet->evaluation;
    const char *path = options->ground_truth_labels;
    struct hl_text error = {0};
    bool ok = hl_labels_load(path, &imagenet->truth, &error);
    if (!ok) hl_error(HL_TFLITE, NULL, "Could not read ground truth labels file: '%s' %s", path, error.data);
    hl_text_free(&error);
    if (!ok) return false;
    if (evaluation->path_count != imagenet->truth.count) {
        hl_error(HL_TFLITE, NULL, "Number of images and ground truth labels is not same: %d in %s, %d in %s",
                 evaluation->path_count, options->setting.ground_truth_images_path, imagenet->truth.count, path);
        return false;
    }
    if (!check_truth(imagenet, options)) return false;
    if (*options->denylist_file_path != '\0' && !apply_denylist(imagenet, options->denylist_file_path)) return false;
    if (*options->blacklist_file_path != '\0' && !apply_denylist(imagenet, options->blacklist_file_path)) return false;
    imagenet->labels = hl_alloc((size_t)evaluation->path_count, sizeof *imagenet->labels);
    int kept = 0;
    for (int i = 0; i < evaluation->path_count; i++) {
        bool beyond = options->num_images > 0 && kept == options->num_images;
        if (beyond) free(evaluation->paths[i]);
        if (beyond) evaluation->paths[i] = NULL;
        if (evaluation->paths[i] == NULL) continue;
        imagenet->labels[kept++] = imagenet->truth.names[i];
        evaluation->fingerprint = hl_fingerprint_add(evaluation->fingerprint, imagenet->truth.names[i]);
    }
    hl_evaluation_compact(evaluation);
    if (kept == 0) hl_error(HL_TFLITE, NULL, "no picture is left to evaluate");
    return kept > 0;
}

// ---- the model's answer -------------------------------------------------------------------------

static bool check_output(const struct imagenet *imagenet)
{
    const struct hl_model_file *file = &imagenet->evaluation.model.file;
    int classes = imagenet->evaluation.labels.count, outputs = TfLiteInterpreterGetOutputTensorCount(file->interpreter);
    if (outputs != 1) {
        hl_error(HL_TFLITE, file->path, "Model must have 1 output, not %d", outputs);
        return false;
    }
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(file->interpreter, 0);
    TfLiteType type = TfLiteTensorType(output);
    bool fits =
        TfLiteTensorNumDims(output) == 2 && TfLiteTensorDim(output, 0) == 1 && TfLiteTensorDim(output, 1) == classes;
    bool known = type == kTfLiteFloat32 || type == kTfLiteUInt8 || type == kTfLiteInt8;
    if (fits && known && classes >= TOP) return true;
    struct hl_text shape = {0};
    hl_model_add_tensor_shape(&shape, output);
    if (fits && known)
        hl_error(HL_TFLITE, file->path, "k is too large: %d classes, but the best %d are wanted", classes, TOP);
    else
        hl_error(HL_TFLITE, file->path,
                 "Invalid model_output_shape_: it is %s; [1,%d] for the %d lines of %s is wanted%s", shape.data,
                 classes, classes, imagenet->evaluation.setting->model_output_labels,
                 known ? "" : ", float32, uint8 or int8");
    hl_text_free(&shape);
    return false;
}

static float score(TfLiteType type, const void *data, int i)
{
    return type == kTfLiteFloat32 ? ((const float *)data)[i]
           : type == kTfLiteUInt8 ? ((const uint8_t *)data)[i]
                                  : ((const int8_t *)data)[i];
}

// The outcome is the place of the right label among the best classes, 0 for the best, TOP where it is not among them.
// Among equal scores the lower class comes first.
static bool look(void *user_data, int picture, struct hl_text *outcome)
{
    struct imagenet *imagenet = user_data;
    const struct hl_evaluation *evaluation = &imagenet->evaluation;
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(evaluation->model.file.interpreter, 0);
    TfLiteType type = TfLiteTensorType(output);
    const void *data = TfLiteTensorData(output);
    int best[TOP], used = 0, place = 0;
    for (int i = 0; i < evaluation->labels.count; i++) {
        float value = score(type, data, i);
        if (used == TOP && !(value > score(type, data, best[used - 1]))) continue;
        int at = used < TOP ? used++ : used - 1;
        for (; at > 0 && value > score(type, data, best[at - 1]); at--) best[at] = best[at - 1];
        best[at] = i;
    }
    while (place < used && strcmp(evaluation->labels.names[best[place]], imagenet->labels[picture]) != 0) place++;
    hl_text_add(outcome, "%d", place);
    return true;
}

static bool count(void *user_data, int picture, const char *outcome)
{
    (void)picture;
    struct imagenet *imagenet = user_data;
    char *end;
    long place = strtol(outcome, &end, 10);
    if (end == outcome || *end != '\0' || place < 0 || place > TOP) return false;
    for (long i = place; i < TOP; i++) imagenet->right[i]++;
    return true;
}

// ---- the tool -----------------------------------------------------------------------------------

static bool report(struct imagenet *imagenet)
{
    struct hl_evaluation *evaluation = &imagenet->evaluation;
    int runs = evaluation->done - evaluation->broken;
    cJSON *metrics = hl_alloc_check(cJSON_CreateObject());
    cJSON *topk = hl_alloc_check(cJSON_AddObjectToObject(metrics, "topk_accuracy_metrics"));
    cJSON *accuracies = hl_alloc_check(cJSON_AddArrayToObject(topk, "topk_accuracies"));
    hl_evaluation_print(evaluation);
    for (int i = 0; runs > 0 && i < TOP; i++) {
        float accuracy = (float)imagenet->right[i] / (float)runs;
        printf("Top-%d Accuracy: %g\n", i + 1, (double)accuracy);
        cJSON_AddItemToArray(accuracies, hl_alloc_check(cJSON_CreateNumber((double)accuracy)));
    }
    return hl_evaluation_write(evaluation, "image_classification_metrics", metrics);
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    static const struct hl_evaluation_task task = {
        .word = "Evaluated",
        .crop = HL_PREPROCESS_CROP,
        .look = look,
        .count = count,
    };
    const struct options *options = given;
    const struct hl_eval_missing truth = {"ground_truth_labels", "FILE, the label of each picture, one a line",
                                          options->ground_truth_labels};
    struct imagenet imagenet = {0};
    struct hl_evaluation *evaluation = &imagenet.evaluation;
    bool ok = hl_evaluation_open(evaluation, &hl_command_run_eval, options, &options->setting, &truth) &&
              match_labels(&imagenet, options) && check_output(&imagenet) &&
              hl_evaluation_run(evaluation, &task, &imagenet) &&
              (hl_evaluation_is_shard(evaluation) || report(&imagenet));
    int code = hl_evaluation_finish(evaluation, ok);
    hl_evaluation_close(evaluation);
    hl_labels_free(&imagenet.truth);
    free(imagenet.labels);
    return code;
}

#define COMMAND(program)                                                                            \
    const struct hl_command hl_command_##program = {                                                \
        .name = #program,                                                                           \
        .summary = "How often is the right class among an image classifier's best ten (ImageNet)?", \
        HL_TFLITE_TABLES(flags, defaults, struct options, setting.base.positions),                  \
        .environment = HL_ENVIRONMENT_RUNS,                                                         \
        .run = run,                                                                                 \
    }
COMMAND(run_eval);
COMMAND(imagenet_image_classification_run_eval);
