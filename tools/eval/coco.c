// SPDX-License-Identifier: Apache-2.0
// coco_object_detection_run_eval: how well does a model find objects? In: pictures, and the objects in them as the
// message ObjectDetectionGroundTruth (coco_ground_truth.py makes it of COCO's annotations). Out: average precision, by
// how far a box must overlap a true one, and overall.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/path.h"
#include "commands.h"
#include "detect/ssd.h"
#include "eval/average_precision.h"
#include "eval/evaluation.h"
#include "eval/result.h"
#include "message.h"
#include "wire.h"

enum {
    THRESHOLDS = 10,  // 0.5, 0.55 ... 0.95
    CLASS_OFFSET = 1, // the model's first class is the labels' second: theirs begin with the background
};

struct options {
    struct hl_pictures_setting setting;
    const char *ground_truth_proto;
    bool debug_mode;
};

static const struct options defaults = {.setting = HL_PICTURES_DEFAULTS, .ground_truth_proto = ""};

// clang-format off
static const struct hl_flag flags[] = {
    HL_TFLITE_FLAG(STRING, options, ground_truth_proto,
                   "true objects: JSON where it ends in .json, else the message ObjectDetectionGroundTruth"),
    HL_TFLITE_FLAG(BOOL, options, debug_mode, "print the objects found on each picture"),
    HL_PICTURES_FLAGS(options, setting)
};
// clang-format on

struct boxes {
    int count, capacity;
    struct hl_box *items;
};

struct coco {
    struct hl_evaluation evaluation;
    const struct options *options;
    struct boxes *truth, *found; // per class
    int class_count;
};

static void add_box(struct boxes *boxes, const struct hl_box *box)
{
    if (boxes->count == boxes->capacity) {
        boxes->capacity = boxes->capacity ? 2 * boxes->capacity : 16;
        boxes->items = hl_alloc_grow(boxes->items, (size_t)boxes->capacity, sizeof *boxes->items);
    }
    boxes->items[boxes->count++] = *box;
}

// ---- true objects -------------------------------------------------------------------------------

static const char *name_of(const char *path)
{
    return hl_path_name(path);
}

static float number_in(const cJSON *tree, const char *name, bool *ok)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(tree, name);
    if (!cJSON_IsNumber(item)) *ok = false;
    return cJSON_IsNumber(item) ? (float)item->valuedouble : 0;
}

static bool read_object(struct coco *coco, int picture, const cJSON *object)
{
    bool ok = true;
    const char *path = coco->options->ground_truth_proto, *name = name_of(coco->evaluation.paths[picture]);
    const cJSON *corners = cJSON_GetObjectItemCaseSensitive(object, "bounding_box");
    float class_id = number_in(object, "class_id", &ok);
    struct hl_box box = {
        .picture = picture,
        .top = number_in(corners, "normalized_top", &ok),
        .left = number_in(corners, "normalized_left", &ok),
        .bottom = number_in(corners, "normalized_bottom", &ok),
        .right = number_in(corners, "normalized_right", &ok),
    };
    if (!ok) {
        hl_error(HL_TFLITE, path, "an object of %s lacks its class or a side of its box", name);
        return false;
    }
    if (!(class_id >= 0 && class_id < (float)coco->class_count)) {
        hl_error(HL_TFLITE, path,
                 "Encountered invalid class ID: %g for an object of %s; there are %d labels: give the file of labels "
                 "that these class IDs count, with the background in its first line (three question marks in COCO's)",
                 (double)class_id, name, coco->class_count);
        return false;
    }
    add_box(&coco->truth[(int)class_id], &box);
    return true;
}

struct named {
    const char *name;
    const cJSON *objects;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

// Pictures come in the order of their names, so the boxes of a class come in that of the pictures.
static bool read_objects(struct coco *coco, const cJSON *tree)
{
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(tree, "detection_results"), *result;
    int count = 0;
    bool ok = true;
    struct named *all = hl_alloc((size_t)cJSON_GetArraySize(results), sizeof *all);
    cJSON_ArrayForEach(result, results)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(result, "image_name");
        if (cJSON_IsString(name))
            all[count++] = (struct named){name->valuestring, cJSON_GetObjectItemCaseSensitive(result, "objects")};
    }
    qsort(all, (size_t)count, sizeof *all, by_name);
    int known = 0;
    for (int i = 0; ok && i < coco->evaluation.path_count; i++) {
        struct named key = {.name = name_of(coco->evaluation.paths[i])}, *found;
        found = bsearch(&key, all, (size_t)count, sizeof *all, by_name);
        if (found == NULL) continue;
        known++;
        const cJSON *object;
        cJSON_ArrayForEach(object, found->objects) ok = ok && read_object(coco, i, object);
    }
    free(all);
    if (ok && known == 0)
        hl_error(HL_TFLITE, coco->options->ground_truth_proto, "knows none of the pictures in %s",
                 coco->options->setting.ground_truth_images_path);
    return ok && known > 0;
}

static bool read_truth(struct coco *coco)
{
    const char *path = coco->options->ground_truth_proto;
    coco->class_count = coco->evaluation.labels.count;
    coco->truth = hl_alloc((size_t)coco->class_count, sizeof *coco->truth);
    coco->found = hl_alloc((size_t)coco->class_count, sizeof *coco->found);
    if (*path == '\0') {
        hl_warn(HL_TFLITE, NULL, "mAP metrics are meaningless w/o ground truth.");
        return true;
    }
    struct hl_text error = {0};
    cJSON *tree = hl_wire_read(path, HL_WIRE_GROUND_TRUTH, &error);
    if (tree == NULL) hl_error(HL_TFLITE, path, "%s", error.data);
    hl_text_free(&error);
    bool ok = tree != NULL && read_objects(coco, tree);
    cJSON_Delete(tree);
    return ok;
}

// ---- found objects ------------------------------------------------------------------------------

// [1,N,4], [1,N], [1,N] and one number.
static bool are_detections(const TfLiteTensor *const outputs[HL_SSD_OUTPUTS])
{
    int64_t rows = hl_model_elements(outputs[HL_SSD_CLASSES]);
    bool fits = hl_model_elements(outputs[HL_SSD_BOXES]) == 4 * rows &&
                hl_model_elements(outputs[HL_SSD_SCORES]) == rows && hl_model_elements(outputs[HL_SSD_COUNT]) == 1;
    for (int i = 0; i < HL_SSD_OUTPUTS; i++) fits = fits && TfLiteTensorType(outputs[i]) == kTfLiteFloat32;
    return fits;
}

static void take_outputs(const struct hl_model_file *file, const int *numbers, const TfLiteTensor **outputs)
{
    for (int i = 0; i < HL_SSD_OUTPUTS; i++)
        outputs[i] = TfLiteInterpreterGetOutputTensor(file->interpreter, numbers[i]);
}

// The values of the outputs and the number of objects, in whatever order the model has them. It may know its shapes
// only when it runs, so this is asked each time. False after a message.
static bool read_outputs(const struct hl_model_file *file, const float *data[HL_SSD_OUTPUTS], int *count)
{
    const TfLiteTensor *outputs[HL_SSD_OUTPUTS];
    int numbers[HL_SSD_OUTPUTS] = {HL_SSD_BOXES, HL_SSD_CLASSES, HL_SSD_SCORES, HL_SSD_COUNT};
    take_outputs(file, numbers, outputs);
    if (!are_detections(outputs) && hl_ssd_find(file->interpreter, numbers)) take_outputs(file, numbers, outputs);
    if (!are_detections(outputs)) {
        hl_error(
            HL_TFLITE, file->path,
            "its outputs are no detections: float32 boxes [1,N,4], classes [1,N], scores [1,N] and a count are wanted");
        return false;
    }
    for (int i = 0; i < HL_SSD_OUTPUTS; i++) data[i] = TfLiteTensorData(outputs[i]);
    int rows = (int)hl_model_elements(outputs[HL_SSD_CLASSES]);
    float said = data[HL_SSD_COUNT][0];
    *count = !(said > 0) ? 0 : said < (float)rows ? (int)said : rows;
    if (hl_ssd_are_swapped(outputs[HL_SSD_CLASSES], outputs[HL_SSD_SCORES], *count)) {
        data[HL_SSD_CLASSES] = TfLiteTensorData(outputs[HL_SSD_SCORES]);
        data[HL_SSD_SCORES] = TfLiteTensorData(outputs[HL_SSD_CLASSES]);
    }
    return true;
}

static void debug_object(int index, int class_id, float score, const float *box)
{
    hl_info(HL_TFLITE, NULL, "Object [%d]", index);
    hl_info(HL_TFLITE, NULL, "  Score: %g", (double)score);
    hl_info(HL_TFLITE, NULL, "  Class-ID: %d", class_id);
    hl_info(HL_TFLITE, NULL, "  Bounding Box:");
    hl_info(HL_TFLITE, NULL, "    Normalized Top: %g", (double)box[0]);
    hl_info(HL_TFLITE, NULL, "    Normalized Bottom: %g", (double)box[2]);
    hl_info(HL_TFLITE, NULL, "    Normalized Left: %g", (double)box[1]);
    hl_info(HL_TFLITE, NULL, "    Normalized Right: %g", (double)box[3]);
}

// The outcome is, for each object, class, score, top, left, bottom, right; nine digits keep a float.
static bool look(void *user_data, int picture, struct hl_text *outcome)
{
    struct coco *coco = user_data;
    const struct hl_model_file *file = &coco->evaluation.model.file;
    const float *data[HL_SSD_OUTPUTS];
    int count;
    if (!read_outputs(file, data, &count)) return false;
    const float *classes = data[HL_SSD_CLASSES];
    bool debug = coco->options->debug_mode;
    if (debug) hl_info(HL_TFLITE, NULL, "Image: %s", name_of(coco->evaluation.paths[picture]));
    for (int i = 0; i < count; i++) {
        const float *box = data[HL_SSD_BOXES] + 4 * i;
        if (!(classes[i] >= -CLASS_OFFSET && classes[i] < (float)(coco->class_count - CLASS_OFFSET))) {
            hl_error(
                HL_TFLITE, file->path,
                "Encountered invalid class ID: %g + %d on %s; there are %d labels: the first line of the labels has "
                "to be the background (three question marks in COCO's)",
                (double)classes[i], CLASS_OFFSET, coco->evaluation.paths[picture], coco->class_count);
            return false;
        }
        int class_id = (int)classes[i] + CLASS_OFFSET;
        hl_text_add(outcome, "%d %.9g %.9g %.9g %.9g %.9g ", class_id, (double)data[HL_SSD_SCORES][i], (double)box[0],
                    (double)box[1], (double)box[2], (double)box[3]);
        if (debug) debug_object(i, class_id, data[HL_SSD_SCORES][i], box);
    }
    if (debug) hl_info(HL_TFLITE, NULL, "======================================================");
    return true;
}

static bool count(void *user_data, int picture, const char *outcome)
{
    struct coco *coco = user_data;
    while (*outcome != '\0') {
        char *end;
        long class_id = strtol(outcome, &end, 10);
        float values[5];
        for (int i = 0; i < 5; i++) {
            if (*end != ' ') return false;
            outcome = end;
            values[i] = strtof(outcome, &end);
            if (end == outcome) return false;
        }
        if (*end != ' ' || class_id < 0 || class_id >= coco->class_count) return false;
        outcome = end + 1;
        add_box(&coco->found[class_id], &(struct hl_box){.picture = picture,
                                                         .score = values[0],
                                                         .top = values[1],
                                                         .left = values[2],
                                                         .bottom = values[3],
                                                         .right = values[4]});
    }
    return true;
}

// ---- the tool -----------------------------------------------------------------------------------

// The mean over all classes that are in the pictures or were found, in float as the original has it.
static cJSON *report_precisions(const struct coco *coco)
{
    cJSON *metrics = hl_alloc_check(cJSON_CreateObject());
    cJSON *list = hl_alloc_check(cJSON_AddArrayToObject(metrics, "individual_average_precisions"));
    float total = 0;
    int total_count = 0;
    for (int t = 0; t < THRESHOLDS; t++) {
        float threshold = (float)(0.5 + t * 0.05), sum = 0;
        int classes = 0;
        for (int c = 0; c < coco->class_count; c++) {
            const struct boxes *truth = &coco->truth[c], *found = &coco->found[c];
            if (truth->count == 0 && found->count == 0) continue;
            float precision = hl_average_precision(truth->items, truth->count, found->items, found->count, threshold);
            sum += precision;
            total += precision;
            classes++;
            total_count++;
        }
        if (classes == 0) continue;
        cJSON *item = hl_alloc_check(cJSON_CreateObject());
        cJSON_AddNumberToObject(item, "iou_threshold", (double)threshold);
        cJSON_AddNumberToObject(item, "average_precision", (double)(sum / (float)classes));
        cJSON_AddItemToArray(list, item);
        printf("Average Precision [IOU Threshold=%g]: %g\n", (double)threshold, (double)(sum / (float)classes));
    }
    float overall = total_count > 0 ? total / (float)total_count : 0;
    if (total_count > 0) cJSON_AddNumberToObject(metrics, "overall_mean_average_precision", (double)overall);
    printf("Overall mAP: %g\n", (double)overall);
    return metrics;
}

static bool report(struct coco *coco)
{
    cJSON *metrics = hl_alloc_check(cJSON_CreateObject());
    hl_evaluation_print(&coco->evaluation);
    if (*coco->options->ground_truth_proto != '\0')
        cJSON_AddItemToObject(metrics, "average_precision_metrics", report_precisions(coco));
    else
        printf("Overall mAP: 0\n"); // the original's
    return hl_evaluation_write(&coco->evaluation, "object_detection_metrics", metrics);
}

static bool check_model(const struct coco *coco)
{
    const struct hl_model_file *file = &coco->evaluation.model.file;
    int outputs = TfLiteInterpreterGetOutputTensorCount(file->interpreter);
    if (outputs != 4)
        hl_error(HL_TFLITE, file->path, "Object detection model must have 1 input & 4 outputs, not %d", outputs);
    return outputs == 4;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    struct coco coco = {.options = given};
    const struct hl_evaluation_task task = {
        .word = "Finished",
        .talks = coco.options->debug_mode,
        .crop = HL_PREPROCESS_WHOLE,
        .look = look,
        .count = count,
    };
    struct hl_evaluation *evaluation = &coco.evaluation;
    bool ok = hl_evaluation_open(evaluation, &hl_command_coco_object_detection_run_eval, given, &coco.options->setting,
                                 NULL) &&
              check_model(&coco) && read_truth(&coco) && hl_evaluation_run(evaluation, &task, &coco) &&
              (hl_evaluation_is_shard(evaluation) || report(&coco));
    int code = hl_evaluation_finish(evaluation, ok);
    for (int i = 0; i < coco.class_count; i++) {
        free(coco.truth[i].items);
        free(coco.found[i].items);
    }
    free(coco.truth);
    free(coco.found);
    hl_evaluation_close(evaluation);
    return code;
}

const struct hl_command hl_command_coco_object_detection_run_eval = {
    .name = "coco_object_detection_run_eval",
    .summary = "How well does a model find the objects on pictures (COCO, mean average precision)?",
    HL_TFLITE_TABLES(flags, defaults, struct options, setting.base.positions),
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
