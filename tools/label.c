// SPDX-License-Identifier: Apache-2.0
// halite label: what is on these pictures? In: an image classification model, names of its classes, pictures. Out: the
// best classes of each picture, the time that took and where the operators ran; or a table for programs.
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "commands.h"
#include "image.h"
#include "labels.h"
#include "message.h"
#include "metadata.h"
#include "model_file.h"
#include "preprocess.h"
#include "table.h"

struct options {
    struct hl_model_options model;
    const char *labels;
    int top;
    bool tsv;
    double mean, std, crop; // NAN: not given
};

static const struct options defaults = {
    .model = HL_MODEL_DEFAULTS,
    .top = 5,
    .mean = (double)NAN,
    .std = (double)NAN,
    .crop = (double)NAN,
};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    HL_LABELS_FLAG(options, labels),
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 10000,
     .offset = offsetof(struct options, top), .help = "how many classes to show; default 5"},
    {.name = "tsv", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, tsv),
     .help = "lines for programs, separated by tabs:\npicture, rank, class index, label, score"},
    {.name = "mean", .kind = HL_FLAG_NUMBER, .value = "X", .min = -1e9, .max = 1e9,
     .offset = offsetof(struct options, mean), .help = "input = (pixel - mean) / std; see below"},
    {.name = "std", .kind = HL_FLAG_NUMBER, .value = "X", .min = 1e-9, .max = 1e9,
     .offset = offsetof(struct options, std), .help = "with --mean"},
    {.name = "crop", .kind = HL_FLAG_NUMBER, .value = "F", .min = 0.01, .max = 1,
     .offset = offsetof(struct options, crop),
     .help = "side of the central square, as a part of the shorter side;\n"
             "default 0.875, for models of gray pictures 1"},
    HL_MODEL_RUN_FLAGS(options, model),
};
// clang-format on

static const char details[] =
    "Pictures are JPEG, PNG, BMP, PGM or PPM files. The model has one input, [1,height,width,3] (RGB)\n"
    "or [1,height,width,1] or [1,height,width] (gray), of type float32, uint8 or int8, and its first\n"
    "output has one score for each class.\n"
    "\n"
    "A picture's central square is scaled to the input, as TensorFlow Lite's own evaluation does it.\n"
    "Pixels (0 to 255) become input values as the first of these that applies says:\n"
    "  --mean and --std    (pixel - mean) / std, quantized by the input's own scale if it is 8-bit\n"
    "  float32             the normalization in the model's metadata, if it has one,\n"
    "                      else (pixel - 127.5) / 127.5\n"
    "  uint8, int8         the pixel, the pixel minus 128\n"
    "A JPEG file is turned as its Exif orientation says; run_eval takes pictures as they are stored,\n"
    "as the original does.\n"
    "Scores between 0 and 1 are shown as probabilities, others as they are. Among equal scores the\n"
    "lower class comes first. A picture that cannot be used is reported, the others go on.\n";

struct labeller {
    const struct options *options;
    struct hl_model_file file;
    struct hl_labels labels;
    struct hl_preprocess_shape shape;
    int classes;
    double crop;
    struct hl_normalization normalization;
    float *pixels;  // of one picture
    double *scores; // of its classes
    int *ranking;   // classes, best first
    int inferences; // so far; the first one touches memory for the first time, and may compile kernels
};

// ---- does the model fit? ------------------------------------------------------------------------

static bool misfit(const struct labeller *labeller, const char *what, const TfLiteTensor *tensor, const char *wanted)
{
    struct hl_text shape = {0};
    hl_model_add_tensor_shape(&shape, tensor);
    hl_error("label", labeller->file.path, "%s is %s; %s", what, shape.data, wanted);
    hl_text_free(&shape);
    return false;
}

static bool check_input(struct labeller *labeller)
{
    const TfLiteInterpreter *interpreter = labeller->file.interpreter;
    int count = TfLiteInterpreterGetInputTensorCount(interpreter);
    if (count != 1) {
        hl_error("label", labeller->file.path, "has %d inputs; a model with one input, a picture, is wanted", count);
        return false;
    }
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const char *wanted = hl_preprocess_look(input, &labeller->shape);
    return wanted == NULL || misfit(labeller, "the input", input, wanted);
}

static bool check_output(struct labeller *labeller)
{
    const TfLiteInterpreter *interpreter = labeller->file.interpreter;
    if (TfLiteInterpreterGetOutputTensorCount(interpreter) < 1) {
        hl_error("label", labeller->file.path, "has no output");
        return false;
    }
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    int rank = TfLiteTensorNumDims(output);
    int64_t classes = hl_model_elements(output);
    bool list = rank >= 1 && classes > 0 && classes == TfLiteTensorDim(output, rank - 1);
    TfLiteType type = TfLiteTensorType(output);
    if (!list) return misfit(labeller, "the first output", output, "one score for each class, [1,classes], is wanted");
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8)
        return misfit(labeller, "the first output", output, "float32, uint8 or int8 is wanted");
    labeller->classes = (int)classes;
    return true;
}

static bool check_labels(struct labeller *labeller)
{
    const char *path = labeller->options->labels;
    if (path == NULL) { // packed ones that do not fit are those of another output
        bool packed = hl_labels_load_packed(labeller->file.model, &labeller->labels);
        if (packed && labeller->labels.count != labeller->classes) hl_labels_free(&labeller->labels);
        return true;
    }
    struct hl_text error = {0};
    bool ok = hl_labels_load(path, &labeller->labels, &error);
    if (!ok) {
        hl_error("label", path, "%s", error.data);
    } else if (labeller->labels.count != labeller->classes) {
        int names = labeller->labels.count, classes = labeller->classes;
        const char *hint = names == classes - 1   ? " (the model may count a background class first)"
                           : names == classes + 1 ? " (the file may name a background class first)"
                                                  : "";
        hl_error("label", path, "holds %d names, but %s has %d classes%s; give the labels of this model", names,
                 labeller->file.path, classes, hint);
        ok = false;
    }
    hl_text_free(&error);
    return ok;
}

static bool choose_normalization(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    struct hl_normalization *normalization = &labeller->normalization;
    if (!isnan(options->mean) || !isnan(options->std)) {
        normalization->given = true;
        for (int i = 0; i < 3; i++) {
            normalization->mean[i] = isnan(options->mean) ? 0 : options->mean;
            normalization->std[i] = isnan(options->std) ? 1 : options->std;
        }
        return true;
    }
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(labeller->file.interpreter, 0);
    if (TfLiteTensorType(input) != kTfLiteFloat32) return true;
    if (!hl_metadata_normalization(labeller->file.model, 0, normalization)) return true;
    // The same as the default, which rounds as the official evaluation does.
    bool same = true;
    for (int i = 0; i < labeller->shape.channels; i++)
        same = same && normalization->mean[i] == 127.5 && normalization->std[i] == 127.5;
    normalization->given = !same;
    return true;
}

static bool prepare(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    if (!hl_model_file_open(&labeller->file, "label", options->model.model)) return false;
    if (!hl_model_file_start(&labeller->file, &options->model)) return false;
    if (!hl_model_file_allocate(&labeller->file)) return false;
    if (!check_input(labeller) || !check_output(labeller) || !check_labels(labeller)) return false;
    if (!choose_normalization(labeller)) return false;
    labeller->crop = !isnan(options->crop) ? options->crop : labeller->shape.channels == 3 ? HL_PREPROCESS_CROP : 1;
    size_t pixels = (size_t)labeller->shape.width * (size_t)labeller->shape.height * (size_t)labeller->shape.channels;
    labeller->pixels = malloc(pixels * sizeof *labeller->pixels);
    if (labeller->pixels == NULL) {
        hl_error("label", labeller->file.path, "a picture of %d x %d pixels does not fit into memory",
                 labeller->shape.width, labeller->shape.height);
        return false;
    }
    labeller->scores = hl_alloc((size_t)labeller->classes, sizeof *labeller->scores);
    labeller->ranking = hl_alloc((size_t)labeller->classes, sizeof *labeller->ranking);
    return true;
}

// ---- one picture --------------------------------------------------------------------------------

// Real values of the output; false where one is no number.
static bool read_scores(struct labeller *labeller, const char *picture)
{
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(labeller->file.interpreter, 0);
    const void *data = TfLiteTensorData(output);
    TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(output);
    double scale = q.scale != 0 ? (double)q.scale : 1;
    for (int i = 0; i < labeller->classes; i++) {
        switch (TfLiteTensorType(output)) {
        case kTfLiteFloat32: labeller->scores[i] = (double)((const float *)data)[i]; break;
        case kTfLiteUInt8: labeller->scores[i] = scale * (((const uint8_t *)data)[i] - q.zero_point); break;
        default: labeller->scores[i] = scale * (((const int8_t *)data)[i] - q.zero_point);
        }
        if (!isnan(labeller->scores[i])) continue;
        hl_error("label", picture,
                 "the model's score of class %d is not a number (NaN); %s may want another "
                 "--mean and --std, or is damaged",
                 i, labeller->file.path);
        return false;
    }
    return true;
}

// Best `top` classes to the front of the ranking: insertion into a short list, lower class first among equals.
static int rank_classes(struct labeller *labeller)
{
    int top = labeller->options->top < labeller->classes ? labeller->options->top : labeller->classes, used = 0;
    const double *scores = labeller->scores;
    int *ranking = labeller->ranking;
    for (int i = 0; i < labeller->classes; i++) {
        if (used == top && scores[i] <= scores[ranking[used - 1]]) continue;
        int at = used < top ? used++ : used - 1;
        for (; at > 0 && scores[i] > scores[ranking[at - 1]]; at--) ranking[at] = ranking[at - 1];
        ranking[at] = i;
    }
    return top;
}

static const char *class_name(const struct labeller *labeller, int class)
{
    return labeller->labels.count > 0 ? labeller->labels.names[class] : "";
}

static void print_tsv(const struct labeller *labeller, const char *picture, int top)
{
    for (int rank = 0; rank < top; rank++) {
        int class = labeller->ranking[rank];
        const char *name = class_name(labeller, class);
        struct hl_text line = {0};
        hl_text_add_escaped(&line, picture, strlen(picture));
        hl_text_add(&line, "\t%d\t%d\t", rank + 1, class);
        hl_text_add_escaped(&line, name, strlen(name));
        hl_text_add(&line, "\t%.6g\n", labeller->scores[class]);
        fputs(line.data, stdout);
        hl_text_free(&line);
    }
}

static void print_table(const struct labeller *labeller, const char *picture, const struct hl_image *image, int top,
                        double seconds)
{
    struct hl_text name = {0};
    char time[32];
    hl_text_add_escaped(&name, picture, strlen(picture));
    hl_format_seconds(time, sizeof time, seconds);
    printf("%s (%d x %d), %s in %s\n", name.data, image->width, image->height,
           labeller->inferences == 1 ? "first inference" : "one inference", time);
    hl_text_free(&name);

    bool probabilities = true;
    for (int i = 0; i < labeller->classes; i++)
        probabilities = probabilities && labeller->scores[i] >= 0 && labeller->scores[i] <= 1 + 1e-6;
    struct hl_table table;
    hl_table_start(&table, "rll");
    for (int rank = 0; rank < top; rank++) {
        int class = labeller->ranking[rank];
        double score = labeller->scores[class];
        if (probabilities)
            hl_table_add(&table, "%.1f %%", 100 * score);
        else
            hl_table_add(&table, "%.3f", score);
        if (labeller->labels.count > 0) hl_table_add_name(&table, class_name(labeller, class));
        hl_table_add(&table, labeller->labels.count > 0 ? "(class %d)" : "class %d", class);
        if (labeller->labels.count == 0) hl_table_add(&table, "%s", "");
    }
    hl_table_print(&table, 2, stdout);
}

// The time of a warm inference. The first one touches memory for the first time, and may compile kernels: it is run
// twice, unless the model keeps a state that the second would find changed.
static bool infer(struct labeller *labeller, double *seconds)
{
    TfLiteInterpreter *interpreter = labeller->file.interpreter;
    const struct hl_model_subgraph *graph = &labeller->file.model->subgraphs[0];
    bool stateful = false;
    for (int i = 0; i < graph->tensor_count; i++) stateful = stateful || graph->tensors[i].is_variable;
    for (int left = labeller->inferences == 0 && !stateful ? 2 : 1; left > 0; left--) {
        double start = hl_seconds();
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return false;
        *seconds = hl_seconds() - start;
        labeller->inferences++;
    }
    return true;
}

static bool label_picture(struct labeller *labeller, const char *picture)
{
    struct hl_image image;
    struct hl_text error = {0};
    bool ok = hl_image_load_upright(picture, &image, &error);
    if (!ok) hl_error("label", picture, "%s", error.data);
    hl_text_free(&error);
    if (!ok) return false;

    TfLiteInterpreter *interpreter = labeller->file.interpreter;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    hl_preprocess_scale(&image, labeller->crop, labeller->shape.width, labeller->shape.height, labeller->shape.channels,
                        labeller->pixels);
    hl_preprocess_store(labeller->pixels, (size_t)hl_model_elements(input), labeller->shape.channels,
                        &labeller->normalization, TfLiteTensorType(input), TfLiteTensorQuantizationParams(input),
                        TfLiteTensorData(input));
    double seconds;
    ok = infer(labeller, &seconds);
    if (!ok) hl_model_file_failed(&labeller->file, "the inference failed");
    if (ok && (ok = read_scores(labeller, picture))) {
        int top = rank_classes(labeller);
        if (labeller->options->tsv)
            print_tsv(labeller, picture, top);
        else
            print_table(labeller, picture, &image, top, seconds);
    }
    hl_image_free(&image);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    struct labeller labeller = {.options = given};
    bool prepared = prepare(&labeller), tsv = labeller.options->tsv;
    int labeled = 0;
    for (int i = 0; prepared && i < operand_count; i++) {
        if (!label_picture(&labeller, operands[i])) continue;
        labeled++;
        if (!tsv) printf("\n");
    }
    if (labeled > 0 && !tsv) {
        struct hl_text placement = {0};
        hl_model_file_placement(&labeller.file, &placement);
        fputs(placement.data, stdout);
        hl_text_free(&placement);
    }
    hl_model_file_close(&labeller.file);
    hl_labels_free(&labeller.labels);
    free(labeller.pixels);
    free(labeller.scores);
    free(labeller.ranking);
    return prepared && labeled == operand_count ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite label mobilenet.tflite --labels labels.txt photo.jpg", "the five best classes"},
    {"halite label mobilenet.tflite --tsv *.jpg > classes.tsv", "many pictures, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_label = {
    .name = "label",
    .summary = "Name what pictures show, with an image classification model.",
    .operands = "PHOTO...",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = -1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
