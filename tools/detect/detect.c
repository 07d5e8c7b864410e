// SPDX-License-Identifier: Apache-2.0
// halite detect: where is what on these pictures? In: an object detector of a known family, pictures or folders of
// them. Out: classes, scores and boxes in pixels, for people or for programs; and pictures with the boxes drawn.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "base/clock.h"
#include "commands.h"
#include "detect/detector.h"
#include "draw.h"
#include "files.h"
#include "json.h"
#include "labels.h"
#include "message.h"
#include "metadata.h"
#include "model_file.h"
#include "output_file.h"
#include "table.h"

struct options {
    struct hl_model_options model;
    const char *labels, *output;
    double score;
    int top, format;
};

enum { TABLE, TSV, JSON };
static const char *const formats[] = {"table", "tsv", "json", NULL};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .score = 0.5, .top = 100};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    HL_LABELS_FLAG(options, labels),
    {.name = "score", .letter = 's', .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1,
     .offset = offsetof(struct options, score), .help = "leave out what has a lower one; default 0.5"},
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 5000,
     .offset = offsetof(struct options, top), .help = "most boxes of a picture, the best; default 100"},
    {.name = "format", .letter = 'f', .kind = HL_FLAG_CHOICE, .choices = formats,
     .offset = offsetof(struct options, format),
     .help = "default table; tsv: a line for each box: picture, rank, class,\n"
             "label, score, left, top, right, bottom"},
    {.name = "output", .letter = 'o', .kind = HL_FLAG_STRING, .value = "FILE",
     .offset = offsetof(struct options, output),
     .help = "a PNG file of the picture with its boxes; of several pictures a\n"
             "folder, which is there, for files of their names with .png"},
    HL_MODEL_RUN_FLAGS(options, model),
};
// clang-format on

struct detection {
    const struct options *options;
    struct hl_model_file file;
    struct hl_detector detector;
    struct hl_labels labels;
    float *pixels; // of an input
    struct hl_finds finds;
    cJSON *json;    // of all pictures; NULL: another format
    bool to_folder; // the output
    int pictures, failed;
};

// ---- the model ----------------------------------------------------------------------------------

static bool load_labels(struct detection *detection)
{
    const char *path = detection->options->labels;
    if (path == NULL) {
        hl_labels_load_packed(detection->file.model, &detection->labels);
        return true;
    }
    struct hl_text error = {0};
    bool ok = hl_labels_load(path, &detection->labels, &error);
    if (!ok) hl_error("detect", path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}

// Labels of the post-processing's classes may begin with the background, which is no class: "???", "background".
static const char *class_name(const struct detection *detection, int class)
{
    const struct hl_labels *labels = &detection->labels;
    if (detection->detector.only_class != NULL) return detection->detector.only_class;
    if (labels->count == 0) return "";
    bool background = strcmp(labels->names[0], "???") == 0 || strcmp(labels->names[0], "background") == 0;
    int line = class + (background ? detection->detector.class_offset : 0);
    return line < labels->count ? labels->names[line] : "";
}

static bool prepare(struct detection *detection)
{
    const struct options *options = detection->options;
    struct hl_text why = {0};
    if (!hl_model_file_open(&detection->file, "detect", options->model.model) ||
        !hl_model_file_start(&detection->file, &options->model) || !hl_model_file_allocate(&detection->file))
        return false;
    bool known = hl_detector_look(detection->file.interpreter, &detection->detector, &why);
    if (!known) hl_error("detect", detection->file.path, "%s", why.data);
    hl_text_free(&why);
    if (!known || !load_labels(detection)) return false;
    struct hl_detector *detector = &detection->detector;
    bool floats = detector->shape.type == kTfLiteFloat32;
    if (!detector->normalization.given && floats)
        hl_metadata_normalization(detection->file.model, 0, &detector->normalization);
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(detection->file.interpreter, 0);
    detection->pixels = hl_alloc((size_t)hl_model_elements(input), sizeof *detection->pixels);
    if (options->format == JSON) detection->json = hl_alloc_check(cJSON_CreateArray());
    return true;
}

// ---- what was found -----------------------------------------------------------------------------

static void print_table(const struct detection *detection, const char *picture, const struct hl_image *image,
                        double seconds)
{
    struct hl_text name = {0};
    char time[32];
    hl_text_add_escaped(&name, picture, strlen(picture));
    hl_format_seconds(time, sizeof time, seconds);
    int count = detection->finds.count;
    printf("%s (%d x %d), %d box%s, %s in %s\n", name.data, image->width, image->height, count, count == 1 ? "" : "es",
           detection->pictures == 0 ? "first inference" : "one inference", time);
    hl_text_free(&name);
    struct hl_table table;
    hl_table_start(&table, "rlrrrr");
    for (int i = 0; i < count; i++) {
        const struct hl_found *found = &detection->finds.items[i];
        const char *label = class_name(detection, found->class);
        hl_table_add(&table, "%.1f %%", 100 * (double)found->box.score);
        if (*label != '\0')
            hl_table_add_name(&table, label);
        else
            hl_table_add(&table, "class %d", found->class);
        hl_table_add(&table, "%.0f", (double)found->box.left);
        hl_table_add(&table, "%.0f", (double)found->box.top);
        hl_table_add(&table, "%.0f", (double)found->box.right);
        hl_table_add(&table, "%.0f", (double)found->box.bottom);
    }
    hl_table_print(&table, 2, stdout);
    printf("\n");
}

static void print_tsv(const struct detection *detection, const char *picture)
{
    for (int i = 0; i < detection->finds.count; i++) {
        const struct hl_found *found = &detection->finds.items[i];
        const struct hl_box *box = &found->box;
        const char *label = class_name(detection, found->class);
        struct hl_text line = {0};
        hl_text_add_escaped(&line, picture, strlen(picture));
        hl_text_add(&line, "\t%d\t%d\t", i + 1, found->class);
        hl_text_add_escaped(&line, label, strlen(label));
        hl_text_add(&line, "\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\n", (double)box->score, (double)box->left, (double)box->top,
                    (double)box->right, (double)box->bottom);
        fputs(line.data, stdout);
        hl_text_free(&line);
    }
}

static void add_json(struct detection *detection, const char *picture, const struct hl_image *image)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "picture", picture);
    cJSON_AddNumberToObject(json, "width", image->width);
    cJSON_AddNumberToObject(json, "height", image->height);
    cJSON *boxes = cJSON_AddArrayToObject(json, "boxes");
    for (int i = 0; i < detection->finds.count; i++) {
        const struct hl_found *found = &detection->finds.items[i];
        cJSON *box = cJSON_CreateObject();
        cJSON_AddNumberToObject(box, "class", found->class);
        hl_json_add_string(box, "label", class_name(detection, found->class));
        cJSON_AddNumberToObject(box, "score", (double)found->box.score);
        cJSON_AddNumberToObject(box, "left", (double)found->box.left);
        cJSON_AddNumberToObject(box, "top", (double)found->box.top);
        cJSON_AddNumberToObject(box, "right", (double)found->box.right);
        cJSON_AddNumberToObject(box, "bottom", (double)found->box.bottom);
        cJSON_AddItemToArray(boxes, box);
    }
    cJSON_AddItemToArray(detection->json, json);
}

static bool draw(const struct detection *detection, const char *picture, struct hl_image *image)
{
    struct hl_text path = {0}, text = {0};
    for (int i = detection->finds.count; i-- > 0;) { // the best one is drawn last, over the others
        const struct hl_found *found = &detection->finds.items[i];
        const char *label = class_name(detection, found->class);
        hl_text_clear(&text);
        hl_text_add(&text, "%s%s", label, *label != 0 ? " " : "");
        if (*label == '\0') hl_text_add(&text, "class %d ", found->class);
        hl_text_add(&text, "%.0f %%", 100 * (double)found->box.score);
        hl_draw_box(image, (double)found->box.left, (double)found->box.top, (double)found->box.right,
                    (double)found->box.bottom, found->class, text.data);
    }
    const char *slash = strrchr(picture, '/'), *name = slash != NULL ? slash + 1 : picture;
    hl_text_add(&path, "%s", detection->options->output);
    if (detection->to_folder) hl_text_add(&path, "/%s.png", hl_files_is_stdin(picture) ? "stdin" : name);
    bool ok = hl_draw_write("detect", path.data, image);
    hl_text_free(&path);
    hl_text_free(&text);
    return ok;
}

// ---- pictures -----------------------------------------------------------------------------------

static bool detect(struct detection *detection, const char *picture)
{
    const struct options *options = detection->options;
    struct hl_image image;
    struct hl_text error = {0};
    bool ok = hl_image_load_upright(picture, &image, &error);
    if (!ok) hl_error("detect", picture, "%s", error.data);
    hl_text_free(&error);
    if (!ok) return false;
    hl_detector_fill(&detection->detector, &image, detection->pixels, detection->file.interpreter);
    double start = hl_seconds();
    ok = TfLiteInterpreterInvoke(detection->file.interpreter) == kTfLiteOk;
    double seconds = hl_seconds() - start;
    if (!ok) hl_model_file_failed(&detection->file, "the inference failed");
    if (ok) {
        hl_detector_read(&detection->detector, &image, detection->file.interpreter, options->score, &detection->finds);
        if (detection->finds.count > options->top) detection->finds.count = options->top;
        switch (options->format) {
        case TABLE: print_table(detection, picture, &image, seconds); break;
        case TSV: print_tsv(detection, picture); break;
        default: add_json(detection, picture, &image);
        }
        if (options->output != NULL) ok = draw(detection, picture, &image);
    }
    hl_image_free(&image);
    return ok;
}

// Of a folder, files with other endings are no pictures.
static void visit(void *user_data, const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".bmp", ".pgm", ".ppm"};
    struct detection *detection = user_data;
    bool is_picture = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is_picture = is_picture || hl_files_ends_with_any_case(path, endings[i]);
    if (!is_picture) return;
    if (!detect(detection, path)) detection->failed++;
    detection->pictures++;
}

static void detect_all(struct detection *detection, const char *operand)
{
    struct hl_text failed = {0};
    if (!hl_path_is_folder(operand)) {
        if (!detect(detection, operand)) detection->failed++;
        detection->pictures++;
    } else if (!hl_files_each(operand, "", visit, detection, &failed)) {
        hl_error("detect", failed.data, "cannot be read: %s", strerror(errno));
        detection->failed++;
    }
    hl_text_free(&failed);
}

// One file for several pictures would keep the last one alone.
static bool check_output(struct detection *detection, int operand_count, char **operands)
{
    const char *output = detection->options->output;
    bool several = operand_count > 1 || hl_path_is_folder(operands[0]);
    if (output == NULL) return true;
    detection->to_folder = hl_path_is_folder(output);
    if (several && !detection->to_folder) {
        hl_error("detect", output, "is no folder, which several pictures need; make it first");
        return false;
    }
    return detection->to_folder || hl_output_check("detect", output);
}

static int run(const void *given, int operand_count, char **operands)
{
    struct detection detection = {.options = given};
    bool ok = check_output(&detection, operand_count, operands) && prepare(&detection);
    for (int i = 0; ok && i < operand_count; i++) detect_all(&detection, operands[i]);
    if (ok && detection.json != NULL) hl_json_print(detection.json);
    if (ok && detection.options->format == TABLE && detection.failed < detection.pictures) {
        struct hl_text placement = {0};
        printf("%s, ", detection.detector.name);
        hl_model_file_placement(&detection.file, &placement);
        fputs(placement.data, stdout);
        hl_text_free(&placement);
    }
    cJSON_Delete(detection.json);
    hl_model_file_close(&detection.file);
    hl_labels_free(&detection.labels);
    free(detection.finds.items);
    free(detection.pixels);
    return ok && detection.failed == 0 ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite detect ssd.tflite photo.jpg -o boxes.png", "what is where, and a picture of it"},
    {"halite detect face_detection.tflite photos --format tsv", "all pictures below a folder, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_detect = {
    .name = "detect",
    .summary = "Find objects on pictures, with an object detector.",
    .operands = "PHOTO...",
    .details =
        "Pictures are JPEG, PNG, BMP, PGM or PPM files, - (standard input), or folders of them; a JPEG file is turned\n"
        "as its Exif orientation says. What the detector is, is seen from its tensors:\n"
        "  SSD        four outputs: boxes [1,n,4], classes [1,n], scores [1,n], number [1]\n"
        "  YOLOX      [1,cells,5+classes] for an input of blue, green, red from 0 to 255\n"
        "  YOLOv5     [1,3*cells,5+classes], YOLOv8 and later [1,4+classes,cells]\n"
        "  MediaPipe  [1,anchors,16, 18 or 12] and [1,anchors,1]: faces (input 128, 192 or 256\n"
        "             a side), palms (192), persons (224)\n"
        "An SSD's input is filled with the whole picture, and a float one normalized as the model's metadata says,\n"
        "else to -1..1; the others keep a picture's proportions and have bars beside it.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = -1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
