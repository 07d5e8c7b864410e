// SPDX-License-Identifier: Apache-2.0
// halite detect: where is what on these pictures? In: an object detector of a known family, pictures or folders of
// them. Out: classes, scores and boxes in pixels, for people or for programs; and pictures with the boxes drawn.
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "detect/detector.h"
#include "draw.h"
#include "json.h"
#include "message.h"
#include "task.h"

struct options {
    struct hl_task_options task;
    double score;
    int top;
};

static const struct options defaults = {.task.model = HL_MODEL_DEFAULTS, .score = 0.5, .top = 100};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    HL_LABELS_FLAG(options, task.labels),
    {.name = "score", .letter = 's', .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1,
     .offset = offsetof(struct options, score), .help = "leave out what has a lower one; default 0.5"},
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 5000,
     .offset = offsetof(struct options, top), .help = "most boxes of a picture, the best; default 100"},
    HL_TASK_FORMAT_FLAG(options, "a line for each box: picture, rank, class,\n"
                                 "label, score, left, top, right, bottom"),
    HL_TASK_OUTPUT_FLAG(options, "the picture with its boxes"),
    HL_TASK_FRAMES_FLAG(options),
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

struct detection {
    const struct options *options;
    struct hl_detector detector;
    struct hl_finds finds;
};

static const struct detection *detection_of(const struct hl_task *task)
{
    return task->state;
}

static bool prepare(struct hl_task *task)
{
    struct detection *detection = task->state;
    struct hl_text why = {0};
    bool known = hl_detector_look(task->file.interpreter, &detection->detector, &why);
    if (!known) hl_error("detect", task->file.path, "%s", why.data);
    hl_text_free(&why);
    task->input = detection->detector.input;
    return known;
}

static bool read_boxes(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    (void)picture;
    struct detection *detection = task->state;
    const struct options *options = detection->options;
    hl_detector_read(&detection->detector, image, task->file.interpreter, options->score, &detection->finds);
    if (detection->finds.count > options->top) detection->finds.count = options->top;
    return true;
}

// Labels of the post-processing's classes may begin with the background, which is no class: "???", "background".
static int label_of(const struct hl_task *task, int class)
{
    const struct hl_labels *labels = &task->labels;
    bool background =
        labels->count > 0 && (strcmp(labels->names[0], "???") == 0 || strcmp(labels->names[0], "background") == 0);
    return class + (background ? detection_of(task)->detector.class_offset : 0);
}

static const char *class_name(const struct hl_task *task, int class)
{
    const char *only = detection_of(task)->detector.only_class;
    return only != NULL ? only : hl_task_class_name(task, label_of(task, class));
}

static void add_summary(const struct hl_task *task, struct hl_text *text)
{
    int count = detection_of(task)->finds.count;
    hl_text_add(text, ", %d box%s", count, count == 1 ? "" : "es");
}

static void print_table(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct hl_finds *finds = &detection_of(task)->finds;
    struct hl_text name = {0};
    struct hl_table table;
    hl_table_start(&table, "rlrrrr");
    for (int i = 0; i < finds->count; i++) {
        const struct hl_found *found = &finds->items[i];
        hl_table_add(&table, "%.1f %%", 100 * (double)found->box.score);
        hl_text_clear(&name);
        hl_task_add_class(&name, class_name(task, found->class), found->class);
        hl_table_add(&table, "%s", name.data);
        hl_table_add(&table, "%.0f", (double)found->box.left);
        hl_table_add(&table, "%.0f", (double)found->box.top);
        hl_table_add(&table, "%.0f", (double)found->box.right);
        hl_table_add(&table, "%.0f", (double)found->box.bottom);
    }
    hl_table_print(&table, 2, stdout);
    hl_text_free(&name);
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct hl_finds *finds = &detection_of(task)->finds;
    for (int i = 0; i < finds->count; i++) {
        const struct hl_found *found = &finds->items[i];
        const struct hl_box *box = &found->box;
        hl_text_add(lines, "%s\t%d", picture, i + 1);
        hl_task_add_class_cells(lines, class_name(task, found->class), found->class, (double)box->score);
        hl_text_add(lines, "\t%.6g\t%.6g\t%.6g\t%.6g\n", (double)box->left, (double)box->top, (double)box->right,
                    (double)box->bottom);
    }
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct hl_finds *finds = &detection_of(task)->finds;
    cJSON *boxes = cJSON_AddArrayToObject(picture, "boxes");
    for (int i = 0; i < finds->count; i++) {
        const struct hl_found *found = &finds->items[i];
        cJSON *box = cJSON_CreateObject();
        hl_task_add_class_members(box, class_name(task, found->class), found->class, (double)found->box.score);
        cJSON_AddNumberToObject(box, "left", (double)found->box.left);
        cJSON_AddNumberToObject(box, "top", (double)found->box.top);
        cJSON_AddNumberToObject(box, "right", (double)found->box.right);
        cJSON_AddNumberToObject(box, "bottom", (double)found->box.bottom);
        cJSON_AddItemToArray(boxes, box);
    }
}

static void draw(const struct hl_task *task, struct hl_image *image)
{
    const struct hl_finds *finds = &detection_of(task)->finds;
    struct hl_text text = {0};
    for (int i = finds->count; i-- > 0;) { // the best one is drawn last, over the others
        const struct hl_found *found = &finds->items[i];
        hl_text_clear(&text);
        hl_task_add_class(&text, class_name(task, found->class), found->class);
        hl_text_add(&text, " %.0f %%", 100 * (double)found->box.score);
        hl_draw_box(image, (double)found->box.left, (double)found->box.top, (double)found->box.right,
                    (double)found->box.bottom, found->class, text.data);
    }
    hl_text_free(&text);
}

static const char *family_name(const struct hl_task *task)
{
    return detection_of(task)->detector.name;
}

static int run(const void *given, int operand_count, char **operands)
{
    static const struct hl_task_kind kind = {
        .command = "detect",
        .medium = &hl_task_pictures,
        .prepare = prepare,
        .read = read_boxes,
        .summary = add_summary,
        .print = print_table,
        .lines = add_lines,
        .members = add_members,
        .draw = draw,
        .name = family_name,
    };
    struct detection detection = {.options = given};
    int code = hl_task_run(&kind, &detection.options->task, &detection, operand_count, operands);
    free(detection.finds.items);
    return code;
}

static const struct hl_example examples[] = {
    {"halite detect ssd.tflite photo.jpg -o boxes.png", "what is where, and a picture of it"},
    {"halite detect face_detection.tflite photos --format tsv", "all pictures below a folder, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_detect = {
    .name = "detect",
    .summary = "Find objects on pictures, with an object detector.",
    .details = HL_TASK_PICTURES
    "What the detector is, is seen from its tensors:\n"
    "  SSD        four outputs: boxes [1,n,4], classes [1,n], scores [1,n], number [1]\n"
    "  YOLOX      [1,cells,5+classes] for an input of blue, green, red from 0 to 255\n"
    "  YOLOv5     [1,3*cells,5+classes], YOLOv8 and later [1,4+classes,cells]\n"
    "  MediaPipe  [1,anchors,16, 18 or 12] and [1,anchors,1]: faces (input 128, 192 or 256\n"
    "             a side), palms (192), persons (224)\n"
    "An SSD's input is filled with the whole picture, and a float one normalized as the model's\n"
    "metadata says, else to -1..1; the others keep a picture's proportions and have bars beside it.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND("PHOTO...", run),
};
