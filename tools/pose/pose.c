// SPDX-License-Identifier: Apache-2.0
// halite pose: where are the joints, the fingers, the features of a face? In: a landmark model of a known family,
// pictures or folders of them, perhaps a detector that says where to look. Out: points in pixels, for people or for
// programs; and pictures with the points drawn.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "draw.h"
#include "json.h"
#include "message.h"
#include "pose/body.h"
#include "pose/region.h"
#include "task.h"

struct options {
    struct hl_task_options task;
    const char *box, *detector;
    double score;
    int top;
};

static const struct options defaults = {.task.model = HL_MODEL_DEFAULTS, .score = 0.3, .top = 10};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    {.name = "score", .letter = 's', .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1,
     .offset = offsetof(struct options, score),
     .help = "leave out poses that have a lower one, and do not draw such points;\ndefault 0.3"},
    {.name = "detector", .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, detector),
     .help = "a model that finds faces, palms or persons: look at each of them"},
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 100,
     .offset = offsetof(struct options, top), .help = "with --detector: most boxes to look at; default 10"},
    {.name = "box", .kind = HL_FLAG_STRING, .value = "L,T,R,B", .offset = offsetof(struct options, box),
     .help = "look at this part of the picture: left, top, right, bottom in pixels"},
    HL_TASK_FORMAT_FLAG(options, "a line for each point: picture, pose, point,\nname, score, x, y"),
    HL_TASK_OUTPUT_FLAG(options, "the picture with the points"),
    HL_TASK_FRAMES_FLAG(options),
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

enum { MAX_POSES = 100 };

struct posing {
    const struct options *options;
    struct hl_body_model model;
    struct hl_region_finder finder;
    struct hl_box box;    // given
    struct hl_box *boxes; // of the picture at hand; NULL: the whole
    int box_count;
    struct hl_body *bodies;
    int count;
};

static const struct posing *posing_of(const struct hl_task *task)
{
    return task->state;
}

static bool prepare(struct hl_task *task)
{
    struct posing *posing = task->state;
    const struct options *options = posing->options;
    struct hl_text why = {0};
    if (!hl_task_look(task, 1, false)) return false;
    bool known = hl_body_look(&task->file, &posing->model, &task->input, &why);
    if (!known) hl_error("pose", task->file.path, "%s", why.data);
    hl_text_free(&why);
    return known &&
           (options->detector == NULL || hl_region_open(&posing->finder, &options->task.model, options->detector));
}

// ---- one picture --------------------------------------------------------------------------------

// Fills the input with the part of the picture that box i says.
static bool fill_box(struct hl_task *task, const char *picture, const struct hl_image *image, int i)
{
    struct posing *posing = task->state;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(task->file.interpreter, 0);
    if (posing->box_count == 0) {
        hl_picture_input_fill(&task->input, image, input);
        return true;
    }
    struct hl_image cut;
    if (!hl_region_cut(image, &posing->boxes[i], &cut)) {
        hl_error("pose", picture, "the box is too large; 100 million pixels are the most");
        return false;
    }
    hl_picture_input_fill(&task->input, &cut, input);
    hl_image_free(&cut);
    return true;
}

// Chooses the boxes; where the detector finds none the whole picture stands in, and is no pose then.
static bool fill(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    struct posing *posing = task->state;
    const struct options *options = posing->options;
    posing->box_count = 0;
    if (options->box != NULL) posing->boxes[posing->box_count++] = posing->box;
    if (options->detector != NULL) {
        if (!hl_region_find(&posing->finder, image, 0.5)) return false;
        for (int i = 0; i < posing->finder.finds.count && i < options->top; i++)
            posing->boxes[posing->box_count++] = posing->finder.finds.items[i].box;
    }
    return fill_box(task, picture, image, 0);
}

// Points in parts of the input become pixels of the picture.
static void locate(const struct hl_task *task, const struct hl_image *image, int i, struct hl_body *body)
{
    const struct posing *posing = posing_of(task);
    struct hl_image part = *image;
    float left = 0, top = 0;
    if (posing->box_count > 0) {
        const struct hl_box *box = &posing->boxes[i];
        left = (float)(int)floor((double)box->left);
        top = (float)(int)floor((double)box->top);
        part.width = (int)ceil((double)box->right) - (int)left;
        part.height = (int)ceil((double)box->bottom) - (int)top;
    }
    for (int point = 0; point < body->count; point++) {
        hl_picture_input_locate(&task->input, &part, &body->points[point].x, &body->points[point].y);
        body->points[point].x += left;
        body->points[point].y += top;
    }
}

static bool read_bodies(struct hl_task *task, const char *picture, const struct hl_image *image)
{
    struct posing *posing = task->state;
    posing->count = 0;
    if (posing->options->detector != NULL && posing->box_count == 0) return true;
    for (int i = 0; i == 0 || i < posing->box_count; i++) {
        struct hl_body *body = &posing->bodies[posing->count];
        if (i > 0 && !fill_box(task, picture, image, i)) return false;
        if (i > 0 && TfLiteInterpreterInvoke(task->file.interpreter) != kTfLiteOk) {
            hl_model_file_failed(&task->file, "the inference failed");
            return false;
        }
        hl_body_read(&posing->model, &task->file, &task->input, body);
        locate(task, image, i, body);
        if ((double)body->score >= posing->options->score) posing->count++;
    }
    return true;
}

// ---- what comes of it ---------------------------------------------------------------------------

static const char *point_name(const struct hl_task *task, int point)
{
    const char *const *names = posing_of(task)->model.point_names;
    return names != NULL ? names[point] : "";
}

static void add_summary(const struct hl_task *task, struct hl_text *text)
{
    int count = posing_of(task)->count;
    hl_text_add(text, ", %d pose%s of %d points", count, count == 1 ? "" : "s", posing_of(task)->model.points);
}

// Points without names are too many to be read.
static void print_table(const struct hl_task *task, const struct hl_image *image)
{
    (void)image;
    const struct posing *posing = posing_of(task);
    for (int i = 0; i < posing->count; i++) {
        const struct hl_body *body = &posing->bodies[i];
        struct hl_table table;
        printf("  pose %d: %.1f %%\n", i + 1, 100 * (double)body->score);
        if (posing->model.point_names == NULL) continue;
        hl_table_start(&table, "rlrr");
        for (int point = 0; point < body->count; point++) {
            hl_table_add(&table, "%.1f %%", 100 * (double)body->points[point].score);
            hl_table_add_name(&table, point_name(task, point));
            hl_table_add(&table, "%.0f", (double)body->points[point].x);
            hl_table_add(&table, "%.0f", (double)body->points[point].y);
        }
        hl_table_print(&table, 4, stdout);
    }
}

static void add_lines(const struct hl_task *task, const char *picture, struct hl_text *lines)
{
    const struct posing *posing = posing_of(task);
    for (int i = 0; i < posing->count; i++)
        for (int point = 0; point < posing->bodies[i].count; point++) {
            const struct hl_body_point *at = &posing->bodies[i].points[point];
            hl_text_add(lines, "%s\t%d\t%d\t%s\t%.6g\t%.6g\t%.6g\n", picture, i + 1, point, point_name(task, point),
                        (double)at->score, (double)at->x, (double)at->y);
        }
}

static void add_members(const struct hl_task *task, cJSON *picture)
{
    const struct posing *posing = posing_of(task);
    cJSON *poses = cJSON_AddArrayToObject(picture, "poses");
    for (int i = 0; i < posing->count; i++) {
        const struct hl_body *body = &posing->bodies[i];
        cJSON *pose = cJSON_CreateObject();
        cJSON_AddNumberToObject(pose, "score", (double)body->score);
        cJSON *points = cJSON_AddArrayToObject(pose, "points");
        for (int point = 0; point < body->count; point++) {
            cJSON *json = cJSON_CreateObject();
            if (posing->model.point_names != NULL) hl_json_add_string(json, "name", point_name(task, point));
            cJSON_AddNumberToObject(json, "score", (double)body->points[point].score);
            cJSON_AddNumberToObject(json, "x", (double)body->points[point].x);
            cJSON_AddNumberToObject(json, "y", (double)body->points[point].y);
            cJSON_AddItemToArray(points, json);
        }
        cJSON_AddItemToArray(poses, pose);
    }
}

static void draw(const struct hl_task *task, struct hl_image *image)
{
    enum { BONES = 1, POINTS = 3 }; // colors that stand out from each other
    const struct posing *posing = posing_of(task);
    double score = posing->options->score;
    for (int i = 0; i < posing->count; i++) {
        const struct hl_body_point *points = posing->bodies[i].points;
        for (int bone = 0; bone < posing->model.bone_count; bone++) {
            const struct hl_body_point *a = &points[posing->model.bones[bone][0]];
            const struct hl_body_point *b = &points[posing->model.bones[bone][1]];
            if ((double)a->score >= score && (double)b->score >= score)
                hl_draw_line(image, (double)a->x, (double)a->y, (double)b->x, (double)b->y, BONES);
        }
        for (int point = 0; point < posing->bodies[i].count; point++)
            if ((double)points[point].score >= score)
                hl_draw_dot(image, (double)points[point].x, (double)points[point].y, posing->model.bone_count == 0,
                            POINTS);
    }
}

static const char *family_name(const struct hl_task *task)
{
    return posing_of(task)->model.name;
}

static int run(const void *given, int operand_count, char **operands)
{
    static const struct hl_task_kind kind = {
        .command = "pose",
        .medium = &hl_task_pictures,
        .prepare = prepare,
        .fill = fill,
        .read = read_bodies,
        .summary = add_summary,
        .print = print_table,
        .lines = add_lines,
        .members = add_members,
        .draw = draw,
        .name = family_name,
    };
    const struct options *options = given;
    struct posing posing = {.options = options};
    if (options->box != NULL && options->detector != NULL) {
        hl_error("pose", NULL, "--box and --detector both say where to look; leave one out");
        return HL_EXIT_USAGE;
    }
    if (options->box != NULL && !hl_region_parse(options->box, &posing.box)) {
        hl_error("pose", NULL, "--box %s: left,top,right,bottom in pixels are wanted, as 20,30,220,230", options->box);
        return HL_EXIT_USAGE;
    }
    posing.boxes = hl_alloc(MAX_POSES, sizeof *posing.boxes);
    posing.bodies = hl_alloc(MAX_POSES, sizeof *posing.bodies);
    int code = hl_task_run(&kind, &options->task, &posing, operand_count, operands);
    if (options->detector != NULL) hl_region_close(&posing.finder);
    free(posing.boxes);
    free(posing.bodies);
    return code;
}

static const struct hl_example examples[] = {
    {"halite pose movenet.tflite photo.jpg -o pose.png", "the joints of a person"},
    {"halite pose face_landmark.tflite photo.jpg --detector face_detection.tflite -o faces.png",
     "the features of each face"},
    {"halite pose hand_landmark.tflite photo.jpg --box 20,30,220,230 --format tsv", "a hand, for programs"},
    {NULL, NULL},
};

const struct hl_command hl_command_pose = {
    .name = "pose",
    .summary = "Find joints, fingers or features of faces, with a landmark model.",
    .details = HL_TASK_PICTURES
    "What the model is, is seen from its outputs:\n"
    "  PoseNet    heat maps [1,h,w,17] and offsets [1,h,w,34]: one person, 17 points\n"
    "  MoveNet    [1,1,17,3]: one person, 17 points\n"
    "  MediaPipe  195 numbers (a person, 33 points), 63 (a hand, 21), 1404 (a face, 468), 213 (an\n"
    "             eye, 71); the person, hand or face has to fill the picture: --detector or --box\n"
    "Pictures keep their proportions and have bars beside them. With --detector each box is looked at\n"
    "as a square with room around it, which stands upright: a head or hand that leans is met less well.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND("PHOTO...", run),
};
