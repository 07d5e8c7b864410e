// SPDX-License-Identifier: Apache-2.0
// halite segment: which part of these pictures shows what? In: a semantic segmentation model, pictures or folders of
// them. Out: the share of each class, for people or for programs; and pictures with the classes in colors.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "draw.h"
#include "json.h"
#include "message.h"
#include "task.h"
#include "values.h"

struct options {
    struct hl_task_options task;
    bool mask;
};

static const struct options defaults = {.task.model = HL_MODEL_DEFAULTS};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    HL_LABELS_FLAG(options, task.labels),
    HL_TASK_FORMAT_FLAG(options, "a line for each class that is there:\n"
                                 "picture, class, label, share, pixels"),
    HL_TASK_OUTPUT_FLAG(options, "the picture with its classes in color"),
    HL_TASK_FRAMES_FLAG(options),
    {.name = "mask", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, mask),
     .help = "--output gets the classes alone: gray pixels of the class's number"},
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

static const char details[] = HL_TASK_PICTURES
    "The model has one input, [1,height,width,3] or [1,height,width,1], which the whole picture fills.\n"
    "Its first output is one of\n"
    "  [1,h,w,classes]       a score for each class, of which the highest counts\n"
    "  [1,h,w,1]             one score, of the foreground: from 0.5 on it is class 1; where there are\n"
    "                        values beyond 0 and 1, they are logits, and it is so from 0 on\n"
    "  [1,h,w] or [1,h,w,1]  of integers: the number of the class\n"
    "Scores are interpolated between their positions, numbers are not. A float input is normalized as\n"
    "the model's metadata says, else to 0..1 for one score and to -1..1 for others. Class 0 is the\n"
    "background, which keeps its colors.\n";

enum { MAX_CLASSES = 4096 };

enum form { SCORES, FOREGROUND, NUMBERS };

struct segmentation {
    const struct options *options;
    enum form form;
    int rows, columns, channels; // of the output
    float *scores;               // of its elements, but for NUMBERS
    uint16_t *classes;           // of the picture's pixels
    int64_t pixels[MAX_CLASSES]; // of each class
    int order[MAX_CLASSES];      // the classes that are there, most pixels first
    int present;
};

static const struct segmentation *segmentation_of(const struct hl_task *task)
{
    return task->state;
}

// ---- the model ----------------------------------------------------------------------------------

static bool is_whole(TfLiteType type)
{
    return type == kTfLiteInt64 || type == kTfLiteInt32;
}

static bool look_at_output(struct segmentation *segmentation, const TfLiteTensor *output)
{
    int rank = TfLiteTensorNumDims(output), channels = rank == 4 ? TfLiteTensorDim(output, 3) : 1;
    TfLiteType type = TfLiteTensorType(output);
    bool real = type == kTfLiteFloat32 || type == kTfLiteUInt8 || type == kTfLiteInt8;
    if ((rank != 3 && rank != 4) || TfLiteTensorDim(output, 0) != 1 || (!real && !is_whole(type))) return false;
    segmentation->rows = TfLiteTensorDim(output, 1);
    segmentation->columns = TfLiteTensorDim(output, 2);
    segmentation->channels = channels;
    segmentation->form = is_whole(type) ? NUMBERS : channels > 1 ? SCORES : FOREGROUND;
    if (segmentation->form == NUMBERS && channels != 1) return false;
    return segmentation->rows > 1 && segmentation->columns > 1 && channels >= 1 && channels <= MAX_CLASSES;
}

static bool prepare(struct hl_task *task)
{
    struct segmentation *segmentation = task->state;
    if (!hl_task_look(task, 1, false)) return false;
    const TfLiteTensor *output = hl_task_output(task);
    if (output == NULL) return false;
    if (!look_at_output(segmentation, output))
        return hl_task_misfit(task, "the first output", output,
                              "scores [1,height,width,classes] or numbers of classes [1,height,width] are wanted");
    if (segmentation->form == FOREGROUND && task->input.shape.type == kTfLiteFloat32) {
        hl_picture_input_normalize(&task->input, task->file.model, 0);
        if (!task->input.normalization.given)
            task->input.normalization = (struct hl_normalization){.given = true, .std = {255, 255, 255}};
    }
    if (segmentation->form != NUMBERS)
        segmentation->scores = hl_alloc((size_t)hl_model_elements(output), sizeof *segmentation->scores);
    return true;
}

// ---- classes of pixels --------------------------------------------------------------------------

// The two positions of an output between which a pixel's middle lies, and how far from the first.
struct between {
    int low, high;
    float part;
};

static struct between source(int pixel, int pixels, int positions)
{
    float at = ((float)pixel + 0.5f) / (float)pixels * (float)positions - 0.5f;
    at = at < 0 ? 0 : at > (float)(positions - 1) ? (float)(positions - 1) : at;
    int low = (int)at;
    return (struct between){low, low + 1 < positions ? low + 1 : low, at - (float)low};
}

static float between_scores(const struct segmentation *segmentation, struct between y, struct between x, int channel)
{
    const float *scores = segmentation->scores + channel;
    int64_t row = (int64_t)segmentation->columns * segmentation->channels, step = segmentation->channels;
    float top = scores[y.low * row + x.low * step] * (1 - x.part) + scores[y.low * row + x.high * step] * x.part;
    float bottom = scores[y.high * row + x.low * step] * (1 - x.part) + scores[y.high * row + x.high * step] * x.part;
    return top * (1 - y.part) + bottom * y.part;
}

// From here on a score means the foreground.
static float threshold_of(const struct segmentation *segmentation)
{
    int64_t count = (int64_t)segmentation->rows * segmentation->columns;
    for (int64_t i = 0; i < count; i++)
        if (segmentation->scores[i] < 0 || segmentation->scores[i] > 1) return 0;
    return 0.5f;
}

static int best_class(const struct segmentation *segmentation, struct between y, struct between x)
{
    int best = 0;
    float highest = between_scores(segmentation, y, x, 0);
    for (int class = 1; class < segmentation->channels; class ++) {
        float score = between_scores(segmentation, y, x, class);
        if (score > highest) highest = score, best = class;
    }
    return best;
}

// The class at the nearest position; -1 where its number is none.
static int numbered_class(const struct segmentation *segmentation, const TfLiteTensor *output, struct between y,
                          struct between x)
{
    int row = y.part < 0.5f ? y.low : y.high, column = x.part < 0.5f ? x.low : x.high;
    double number =
        hl_values_at(TfLiteTensorType(output), TfLiteTensorData(output), (int64_t)row * segmentation->columns + column);
    return number >= 0 && number < MAX_CLASSES ? (int)number : -1;
}

static int by_pixels(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? 1 : -1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

static void sort_classes(struct segmentation *segmentation)
{
    int64_t pairs[MAX_CLASSES][2];
    segmentation->present = 0;
    for (int class = 0; class < MAX_CLASSES; class ++) {
        if (segmentation->pixels[class] == 0) continue;
        pairs[segmentation->present][0] = segmentation->pixels[class];
        pairs[segmentation->present++][1] = class;
    }
    qsort(pairs, (size_t)segmentation->present, sizeof *pairs, by_pixels);
    for (int i = 0; i < segmentation->present; i++) segmentation->order[i] = (int)pairs[i][1];
}

static bool read_classes(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    struct segmentation *segmentation = task->state;
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(task->file.interpreter, 0);
    if (segmentation->form != NUMBERS && !hl_task_reals(task, picture, output, "may be damaged", segmentation->scores))
        return false;
    float threshold = segmentation->form == FOREGROUND ? threshold_of(segmentation) : 0;
    size_t pixel = 0;
    free(segmentation->classes);
    segmentation->classes = hl_alloc((size_t)image->width * (size_t)image->height, sizeof *segmentation->classes);
    memset(segmentation->pixels, 0, sizeof segmentation->pixels);
    for (int row = 0; row < image->height; row++) {
        struct between y = source(row, image->height, segmentation->rows);
        for (int column = 0; column < image->width; column++) {
            struct between x = source(column, image->width, segmentation->columns);
            int class = segmentation->form == SCORES       ? best_class(segmentation, y, x)
                        : segmentation->form == FOREGROUND ? between_scores(segmentation, y, x, 0) >= threshold
                                                           : numbered_class(segmentation, output, y, x);
            if (class < 0) {
                hl_error("segment", picture, "the model's number at row %d, column %d is no class; classes are 0 to %d",
                         y.low, x.low, MAX_CLASSES - 1);
                return false;
            }
            segmentation->classes[pixel++] = (uint16_t) class;
            segmentation->pixels[class]++;
        }
    }
    sort_classes(segmentation);
    return true;
}

// ---- what comes of it ---------------------------------------------------------------------------

// The name of a class. Of one score the two meanings are known.
static const char *class_name(const struct hl_task *task, int class)
{
    static const char *const two[] = {"background", "foreground"};
    if (segmentation_of(task)->form == FOREGROUND && task->labels.count == 0) return two[class];
    return hl_task_class_name(task, class);
}

static double share_of(const struct segmentation *segmentation, int class)
{
    int64_t all = 0;
    for (int i = 0; i < segmentation->present; i++) all += segmentation->pixels[segmentation->order[i]];
    return (double)segmentation->pixels[class] / (double)all;
}

static void add_summary(const struct hl_task *task, struct hl_text *text)
{
    int count = segmentation_of(task)->present;
    hl_text_add(text, ", %d class%s", count, count == 1 ? "" : "es");
}

static void print_table(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct segmentation *segmentation = segmentation_of(task);
    struct hl_table table;
    hl_table_start(&table, "rll");
    for (int i = 0; i < segmentation->present; i++) {
        int class = segmentation->order[i];
        hl_table_add(&table, "%.1f %%", 100 * share_of(segmentation, class));
        hl_table_add(&table, "class %d", class);
        hl_table_add_name(&table, class_name(task, class));
    }
    hl_table_print(&table, 2, stdout);
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct segmentation *segmentation = segmentation_of(task);
    for (int i = 0; i < segmentation->present; i++) {
        int class = segmentation->order[i];
        hl_text_add(lines, "%s", picture);
        hl_task_add_class_cells(lines, class_name(task, class), class, share_of(segmentation, class));
        hl_text_add(lines, "\t%lld\n", (long long)segmentation->pixels[class]);
    }
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct segmentation *segmentation = segmentation_of(task);
    cJSON *classes = cJSON_AddArrayToObject(picture, "classes");
    for (int i = 0; i < segmentation->present; i++) {
        int class = segmentation->order[i];
        cJSON *json = cJSON_CreateObject();
        hl_task_add_class_members(json, class_name(task, class), class, (double)NAN);
        cJSON_AddNumberToObject(json, "share", share_of(segmentation, class));
        cJSON_AddNumberToObject(json, "pixels", (double)segmentation->pixels[class]);
        cJSON_AddItemToArray(classes, json);
    }
}

// Names of the classes in their colors, one below the other.
static void draw_legend(const struct hl_task *task, struct hl_image *image)
{
    const struct segmentation *segmentation = segmentation_of(task);
    struct hl_text text = {0};
    double line = hl_draw_label_height(image), top = line / 2;
    for (int i = 0; i < segmentation->present; i++) {
        int class = segmentation->order[i];
        if (class == 0) continue;
        hl_text_clear(&text);
        hl_task_add_class(&text, class_name(task, class), class);
        hl_text_add(&text, " %.0f %%", 100 * share_of(segmentation, class));
        hl_draw_label(image, line / 2, top, class, text.data);
        top += line;
    }
    hl_text_free(&text);
}

static void draw(const struct hl_task *task, struct hl_image *image)
{
    const struct segmentation *segmentation = segmentation_of(task);
    size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) {
        int class = segmentation->classes[i];
        unsigned char *pixel = image->rgb + 3 * i;
        if (segmentation->options->mask) {
            memset(pixel, class < 255 ? class : 255, 3);
        } else if (class > 0) {
            const unsigned char *color = hl_draw_color(class);
            for (int c = 0; c < 3; c++) pixel[c] = (unsigned char)((2 * pixel[c] + 3 * color[c]) / 5);
        }
    }
    if (!segmentation->options->mask) draw_legend(task, image);
}

static int run(const void *given, int operand_count, char **operands)
{
    static const struct hl_task_kind kind = {
        .command = "segment",
        .medium = &hl_task_pictures,
        .prepare = prepare,
        .read = read_classes,
        .summary = add_summary,
        .print = print_table,
        .lines = add_lines,
        .members = add_members,
        .draw = draw,
    };
    struct segmentation *segmentation = hl_alloc(1, sizeof *segmentation);
    segmentation->options = given;
    int code = hl_task_run(&kind, &segmentation->options->task, segmentation, operand_count, operands);
    free(segmentation->scores);
    free(segmentation->classes);
    free(segmentation);
    return code;
}

static const struct hl_example examples[] = {
    {"halite segment deeplab.tflite photo.jpg -o classes.png", "what is where, in colors"},
    {"halite segment selfie.tflite photo.jpg --mask -o mask.png", "the mask alone, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_segment = {
    .name = "segment",
    .summary = "Tell which parts of pictures show what, with a segmentation model.",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND("PHOTO...", run),
};
