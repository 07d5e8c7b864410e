// SPDX-License-Identifier: Apache-2.0
// halite transform: pictures from pictures. In: a model whose input and output are pictures (less noise, more light,
// more pixels, another style), pictures or folders of them. Out: PNG files, and how far they are from a reference.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "message.h"
#include "metadata.h"
#include "task.h"
#include "transform/style.h"

struct options {
    struct hl_task_options task;
    const char *style, *style_model, *reference;
    int range; // index into ranges
    bool side_by_side;
};

enum { RANGE_AUTO, RANGE_UNIT, RANGE_SIGNED, RANGE_PIXELS };
static const char *const ranges[] = {"auto", "unit", "signed", "pixels", NULL};

static const struct options defaults = {.task.model = HL_MODEL_DEFAULTS};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    HL_TASK_OUTPUT_FLAG(options, "what the model makes"),
    HL_TASK_FRAMES_FLAG(options),
    {.name = "side-by-side", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, side_by_side),
     .help = "the given picture on the left of it"},
    {.name = "style", .kind = HL_FLAG_STRING, .value = "PHOTO", .offset = offsetof(struct options, style),
     .help = "for models with a second input: the picture whose style is taken"},
    {.name = "style-model", .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, style_model),
     .help = "the model that makes that input of the picture with the style"},
    {.name = "reference", .kind = HL_FLAG_STRING, .value = "PHOTO", .offset = offsetof(struct options, reference),
     .help = "tell how far from this the picture is before and after (PSNR)"},
    {.name = "range", .kind = HL_FLAG_CHOICE, .choices = ranges, .offset = offsetof(struct options, range),
     .help = "of float values: unit (0..1), signed (-1..1), pixels (0..255);\n"
             "default auto: see below"},
    HL_TASK_FORMAT_FLAG(options, "picture, width, height, PSNR before, after"),
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

static const char details[] = HL_TASK_PICTURES
    "The model's first input and its first output are [1,height,width,3] or [1,height,width,1]. Where\n"
    "the signature of the input's shape leaves height and width open, the input takes on the picture's\n"
    "size. Else the whole picture fills it, and the result gets the picture's proportions again: it is\n"
    "as many times as large as the output is larger than the input.\n"
    "Float values are what the model's metadata says; else from -1 to 1 where a TANH makes the output,\n"
    "and from 0 to 1 in other models. 8-bit values are pixels.\n"
    "PSNR is in decibels: 10 log10(255 * 255 / mean squared difference of the pixels).\n";

struct transformation {
    const struct options *options;
    int inputs;            // of the model
    bool any_size;         // the input takes the picture's
    struct hl_style style; // the second input's values
    struct hl_image made;  // of the picture at hand
    double before, after;  // PSNR; NAN: no reference, or one of another size
    struct hl_image reference;
};

static const struct transformation *transformation_of(const struct hl_task *task)
{
    return task->state;
}

// ---- the model ----------------------------------------------------------------------------------

static void choose_range(struct hl_task *task, int range)
{
    static const double means[] = {0, 0, 127.5, 0}, deviations[] = {255, 255, 127.5, 1};
    struct hl_normalization *normalization = &task->input.normalization;
    if (task->input.shape.type != kTfLiteFloat32) return;
    if (range == RANGE_AUTO && hl_metadata_normalization(task->file.model, 0, normalization)) return;
    if (range == RANGE_AUTO && hl_model_output_operator(task->file.model, 0) == kTfLiteBuiltinTanh)
        range = RANGE_SIGNED;
    normalization->given = true;
    for (int i = 0; i < 3; i++) {
        normalization->mean[i] = means[range];
        normalization->std[i] = deviations[range];
    }
}

static bool prepare_style(struct hl_task *task)
{
    struct transformation *transformation = task->state;
    const struct options *options = transformation->options;
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(task->file.interpreter, 1);
    if (TfLiteTensorType(input) != kTfLiteFloat32)
        return hl_task_misfit(task, "the second input", input, "float32 is wanted");
    if (options->style == NULL || options->style_model == NULL)
        return hl_task_misfit(task, "the second input", input,
                              "give the model that makes it with --style-model, and its picture with --style");
    return hl_style_read(&transformation->style, &options->task.model, options->style_model, options->style, input);
}

static bool is_picture(const TfLiteTensor *tensor)
{
    int rank = TfLiteTensorNumDims(tensor), channels = rank == 4 ? TfLiteTensorDim(tensor, 3) : 0;
    TfLiteType type = TfLiteTensorType(tensor);
    return rank == 4 && TfLiteTensorDim(tensor, 0) == 1 && (channels == 1 || channels == 3) &&
           TfLiteTensorDim(tensor, 1) > 0 && TfLiteTensorDim(tensor, 2) > 0 &&
           (type == kTfLiteFloat32 || type == kTfLiteUInt8 || type == kTfLiteInt8);
}

static bool prepare(struct hl_task *task)
{
    struct transformation *transformation = task->state;
    const TfLiteInterpreter *interpreter = task->file.interpreter;
    transformation->inputs = TfLiteInterpreterGetInputTensorCount(interpreter);
    if (!hl_task_look(task, transformation->inputs == 2 ? 2 : 1, false)) return false;
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const TfLiteIntArray *signature = input->dims_signature;
    transformation->any_size =
        signature != NULL && signature->size == 4 && signature->data[1] == -1 && signature->data[2] == -1;
    if (transformation->inputs == 1 && transformation->options->style != NULL) {
        hl_error("transform", task->file.path, "has one input, so that it takes no --style");
        return false;
    }
    choose_range(task, transformation->options->range);
    return transformation->inputs == 1 || prepare_style(task);
}

// ---- one picture --------------------------------------------------------------------------------

static bool take_size(struct hl_task *task, const struct hl_image *image)
{
    int dims[] = {1, image->height, image->width, task->input.shape.channels};
    task->input.shape.width = image->width;
    task->input.shape.height = image->height;
    if (TfLiteInterpreterResizeInputTensor(task->file.interpreter, 0, dims, 4) == kTfLiteOk)
        return hl_model_file_allocate(&task->file);
    hl_model_file_failed(&task->file, "the input does not take the picture's size");
    return false;
}

static bool fill(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    (void)picture;
    struct transformation *transformation = task->state;
    bool same = task->input.shape.width == image->width && task->input.shape.height == image->height;
    if (transformation->any_size && !same && !take_size(task, image)) return false;
    TfLiteInterpreter *interpreter = task->file.interpreter;
    hl_picture_input_fill(&task->input, image, TfLiteInterpreterGetInputTensor(interpreter, 0));
    if (transformation->inputs == 2)
        memcpy(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 1)), transformation->style.values,
               (size_t)transformation->style.count * sizeof *transformation->style.values);
    return true;
}

static unsigned char to_byte(double pixel)
{
    return (unsigned char)(pixel <= 0 ? 0 : pixel >= 255 ? 255 : floor(pixel + 0.5)); // NaN is 0 after the check below
}

// The pixel that an element stands for: the way of the input back.
static double pixel_of(const struct hl_task *task, const TfLiteTensor *output, int64_t i, int channel)
{
    const struct hl_normalization *normalization = &task->input.normalization;
    double real = (double)hl_model_real(output, i);
    if (normalization->given) return real * normalization->std[channel] + normalization->mean[channel];
    switch (TfLiteTensorType(output)) {
    case kTfLiteUInt8: return ((const unsigned char *)TfLiteTensorData(output))[i];
    case kTfLiteInt8: return ((const signed char *)TfLiteTensorData(output))[i] + 128;
    default: return task->input.shape.type == kTfLiteFloat32 ? real * 127.5 + 127.5 : real * 255;
    }
}

// The output's pixels, of its own size.
static bool read_pixels(const struct hl_task *task, const TfLiteTensor *output, struct hl_image *made)
{
    int channels = TfLiteTensorDim(output, 3);
    *made = (struct hl_image){.width = TfLiteTensorDim(output, 2), .height = TfLiteTensorDim(output, 1)};
    size_t count = (size_t)made->width * (size_t)made->height;
    made->rgb = hl_alloc(count * 3, 1);
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            int channel = channels == 3 ? c : 0;
            double pixel = pixel_of(task, output, (int64_t)i * channels + channel, channel);
            if (isnan(pixel)) return false;
            made->rgb[3 * i + (size_t)c] = to_byte(pixel);
        }
    }
    return true;
}

static void scale_to(struct hl_image *image, int width, int height)
{
    if (image->width == width && image->height == height) return;
    size_t count = (size_t)width * (size_t)height * 3;
    float *pixels = hl_alloc(count, sizeof *pixels);
    unsigned char *rgb = hl_alloc(count, 1);
    hl_preprocess_scale(image, HL_PREPROCESS_WHOLE, width, height, 3, pixels);
    for (size_t i = 0; i < count; i++) rgb[i] = to_byte((double)pixels[i]);
    free(pixels);
    free(image->rgb);
    *image = (struct hl_image){.width = width, .height = height, .rgb = rgb};
}

// In decibels; NAN where sizes differ.
static double signal_to_noise(const struct hl_image *image, const struct hl_image *reference)
{
    if (reference->rgb == NULL || image->width != reference->width || image->height != reference->height)
        return (double)NAN;
    double sum = 0;
    size_t count = (size_t)image->width * (size_t)image->height * 3;
    for (size_t i = 0; i < count; i++) {
        double difference = image->rgb[i] - reference->rgb[i];
        sum += difference * difference;
    }
    return 10 * log10(255.0 * 255.0 * (double)count / sum);
}

static bool read_picture(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    enum { MAX_SIDE = 65500 };
    struct transformation *transformation = task->state;
    const TfLiteTensor *output = hl_task_output(task);
    if (output == NULL) return false;
    if (!is_picture(output))
        return hl_task_misfit(task, "the first output", output, "a picture, [1,height,width,3], is wanted");
    hl_image_free(&transformation->made);
    if (!read_pixels(task, output, &transformation->made)) {
        hl_error("transform", picture, "the model's output holds no numbers (NaN); %s may want another --range",
                 task->file.path);
        return false;
    }
    double width = floor((double)image->width * transformation->made.width / task->input.shape.width + 0.5);
    double height = floor((double)image->height * transformation->made.height / task->input.shape.height + 0.5);
    if (width > MAX_SIDE || height > MAX_SIDE || width * height > 1e8) {
        hl_error("transform", picture, "would become %.0f x %.0f pixels; 100 million are the most", width, height);
        return false;
    }
    scale_to(&transformation->made, width < 1 ? 1 : (int)width, height < 1 ? 1 : (int)height);
    transformation->before = signal_to_noise(image, &transformation->reference);
    transformation->after = signal_to_noise(&transformation->made, &transformation->reference);
    return true;
}

// ---- what comes of it ---------------------------------------------------------------------------

static void add_summary(const struct hl_task *task, struct hl_text *text)
{
    const struct hl_image *made = &transformation_of(task)->made;
    hl_text_add(text, " -> %d x %d", made->width, made->height);
}

static void print_distance(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct transformation *transformation = transformation_of(task);
    if (transformation->reference.rgb == NULL) return;
    if (isnan(transformation->after))
        printf("  the reference has another size: %d x %d\n", transformation->reference.width,
               transformation->reference.height);
    else if (isnan(transformation->before))
        printf("  PSNR to the reference: %.1f dB\n", transformation->after);
    else
        printf("  PSNR to the reference: %.1f dB before, %.1f dB after\n", transformation->before,
               transformation->after);
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct transformation *transformation = transformation_of(task);
    hl_text_add(lines, "%s\t%d\t%d\t", picture, transformation->made.width, transformation->made.height);
    if (!isnan(transformation->before)) hl_text_add(lines, "%.6g", transformation->before);
    hl_text_add(lines, "\t");
    if (!isnan(transformation->after)) hl_text_add(lines, "%.6g", transformation->after);
    hl_text_add(lines, "\n");
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct transformation *transformation = transformation_of(task);
    cJSON_AddNumberToObject(picture, "made_width", transformation->made.width);
    cJSON_AddNumberToObject(picture, "made_height", transformation->made.height);
    if (isfinite(transformation->before)) cJSON_AddNumberToObject(picture, "psnr_before", transformation->before);
    if (isfinite(transformation->after)) cJSON_AddNumberToObject(picture, "psnr_after", transformation->after);
}

// Copies a picture to these columns of a wider one.
static void put(const struct hl_image *from, struct hl_image *to, int left)
{
    for (int y = 0; y < from->height; y++)
        memcpy(to->rgb + 3 * ((size_t)y * (size_t)to->width + (size_t)left),
               from->rgb + 3 * (size_t)y * (size_t)from->width, 3 * (size_t)from->width);
}

static void draw(const struct hl_task *task, struct hl_image *image)
{
    const struct hl_image *made = &transformation_of(task)->made;
    int left = 0;
    if (transformation_of(task)->options->side_by_side) {
        scale_to(image, made->width, made->height);
        left = made->width;
    }
    struct hl_image both = {.width = left + made->width, .height = made->height};
    both.rgb = hl_alloc((size_t)both.width * (size_t)both.height * 3, 1);
    if (left > 0) put(image, &both, 0);
    put(made, &both, left);
    hl_image_free(image);
    *image = both;
}

static bool load_reference(const char *path, struct hl_image *reference)
{
    struct hl_text error = {0};
    bool ok = path == NULL || hl_image_load_upright(path, reference, &error);
    if (!ok) hl_error("transform", path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    static const struct hl_task_kind kind = {
        .command = "transform",
        .medium = &hl_task_pictures,
        .prepare = prepare,
        .fill = fill,
        .read = read_picture,
        .summary = add_summary,
        .print = print_distance,
        .lines = add_lines,
        .members = add_members,
        .draw = draw,
    };
    struct transformation transformation = {.options = given};
    const struct options *options = given;
    if (options->task.output == NULL && options->reference == NULL) {
        hl_error("transform", NULL, "where does the picture go? Name a PNG file with --output FILE");
        return HL_EXIT_USAGE;
    }
    int code = HL_EXIT_FAILED;
    if (load_reference(options->reference, &transformation.reference))
        code = hl_task_run(&kind, &options->task, &transformation, operand_count, operands);
    hl_style_free(&transformation.style);
    hl_image_free(&transformation.made);
    hl_image_free(&transformation.reference);
    return code;
}

static const struct hl_example examples[] = {
    {"halite transform denoise.tflite photo.jpg -o clean.png", "a picture without noise"},
    {"halite transform zero_dce.tflite dark.jpg --side-by-side -o light.png", "before and after"},
    {"halite transform style_transfer.tflite photo.jpg --style painting.jpg\n"
     "    --style-model style_predict.tflite -o painted.png",
     "a photo as another picture is painted"},
    {NULL, NULL},
};

const struct hl_command hl_command_transform = {
    .name = "transform",
    .summary = "Make pictures from pictures: less noise, more light, another style.",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND("PHOTO...", run),
};
