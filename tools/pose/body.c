// SPDX-License-Identifier: Apache-2.0
// The families of landmark models, each a row: how it is recognized, and how its outputs are read.
#include "pose/body.h"

#include <math.h>
#include <string.h>

struct hl_body_family {
    bool (*look)(const struct hl_model_file *file, struct hl_body_model *model, struct hl_picture_input *input);
    void (*read)(const struct hl_body_model *model, const struct hl_model_file *file,
                 const struct hl_picture_input *input, struct hl_body *body);
};

static const TfLiteTensor *output_of(const struct hl_model_file *file, int i)
{
    return TfLiteInterpreterGetOutputTensor(file->interpreter, i);
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static float mean_score(const struct hl_body *body)
{
    float sum = 0;
    for (int i = 0; i < body->count; i++) sum += body->points[i].score;
    return sum / (float)body->count;
}

// ---- what points are called ---------------------------------------------------------------------

static const char *const person_17[] = {
    "nose",           "left eye",   "right eye",   "left ear",   "right ear",   "left shoulder",
    "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip",
    "right hip",      "left knee",  "right knee",  "left ankle", "right ankle",
};
static const signed char person_17_bones[][2] = {
    {0, 1},  {0, 2},  {1, 3},  {2, 4},   {5, 6},   {5, 7},   {7, 9},   {6, 8},
    {8, 10}, {5, 11}, {6, 12}, {11, 12}, {11, 13}, {13, 15}, {12, 14}, {14, 16},
};

static const char *const person_33[] = {
    "nose",        "left eye inner",  "left eye",         "left eye outer", "right eye inner",
    "right eye",   "right eye outer", "left ear",         "right ear",      "mouth left",
    "mouth right", "left shoulder",   "right shoulder",   "left elbow",     "right elbow",
    "left wrist",  "right wrist",     "left pinky",       "right pinky",    "left index",
    "right index", "left thumb",      "right thumb",      "left hip",       "right hip",
    "left knee",   "right knee",      "left ankle",       "right ankle",    "left heel",
    "right heel",  "left foot index", "right foot index",
};
static const signed char person_33_bones[][2] = {
    {0, 2},   {2, 7},   {0, 5},   {5, 8},   {9, 10},  {11, 12}, {11, 13}, {13, 15}, {15, 17}, {15, 19},
    {15, 21}, {12, 14}, {14, 16}, {16, 18}, {16, 20}, {16, 22}, {11, 23}, {12, 24}, {23, 24}, {23, 25},
    {25, 27}, {27, 29}, {29, 31}, {27, 31}, {24, 26}, {26, 28}, {28, 30}, {30, 32}, {28, 32},
};

static const char *const hand_21[] = {
    "wrist",     "thumb cmc", "thumb mcp",  "thumb ip",   "thumb tip",  "index mcp",  "index pip",
    "index dip", "index tip", "middle mcp", "middle pip", "middle dip", "middle tip", "ring mcp",
    "ring pip",  "ring dip",  "ring tip",   "pinky mcp",  "pinky pip",  "pinky dip",  "pinky tip",
};
static const signed char hand_21_bones[][2] = {
    {0, 1},   {1, 2},  {2, 3},   {3, 4},   {0, 5},   {5, 6},   {6, 7},   {7, 8},   {5, 9},   {9, 10}, {10, 11},
    {11, 12}, {9, 13}, {13, 14}, {14, 15}, {15, 16}, {13, 17}, {17, 18}, {18, 19}, {19, 20}, {0, 17},
};

#define BONES(of) .bones = of, .bone_count = sizeof(of) / sizeof *(of)

// ---- PoseNet: heat maps and offsets -------------------------------------------------------------

// Heat maps [1,h,w,17] and offsets [1,h,w,34], the 17 rows' before the 17 columns'; other outputs, in any order, tell
// persons apart.
static bool look_heat_maps(const struct hl_model_file *file, struct hl_body_model *model,
                           struct hl_picture_input *input)
{
    enum { POINTS = 17 };
    int maps = -1, offsets = -1, count = TfLiteInterpreterGetOutputTensorCount(file->interpreter);
    for (int i = 0; i < count; i++) {
        if (hl_model_has_shape(output_of(file, i), 4, (const int[]){1, -1, -1, POINTS})) maps = i;
        if (hl_model_has_shape(output_of(file, i), 4, (const int[]){1, -1, -1, 2 * POINTS})) offsets = i;
    }
    if (maps < 0 || offsets < 0) return false;
    for (int dim = 1; dim < 3; dim++) {
        int size = TfLiteTensorDim(output_of(file, maps), dim);
        if (size < 2 || size != TfLiteTensorDim(output_of(file, offsets), dim)) return false;
    }
    *model = (struct hl_body_model){.name = "PoseNet",
                                    .points = POINTS,
                                    .point_names = person_17,
                                    BONES(person_17_bones),
                                    .outputs = {maps, offsets}};
    input->fit = HL_FIT_CENTER;
    return true;
}

static void read_heat_maps(const struct hl_body_model *model, const struct hl_model_file *file,
                           const struct hl_picture_input *input, struct hl_body *body)
{
    const TfLiteTensor *maps = output_of(file, model->outputs[0]), *offsets = output_of(file, model->outputs[1]);
    int rows = TfLiteTensorDim(maps, 1), columns = TfLiteTensorDim(maps, 2), points = model->points;
    float width = (float)input->shape.width, height = (float)input->shape.height;
    float x_stride = (width - 1) / (float)(columns - 1), y_stride = (height - 1) / (float)(rows - 1);
    for (int point = 0; point < points; point++) {
        int best = 0;
        for (int cell = 1; cell < rows * columns; cell++)
            if (hl_model_real(maps, (int64_t)cell * points + point) >
                hl_model_real(maps, (int64_t)best * points + point))
                best = cell;
        float y = hl_model_real(offsets, (int64_t)best * 2 * points + point);
        float x = hl_model_real(offsets, (int64_t)best * 2 * points + points + point);
        body->points[point] = (struct hl_body_point){
            .x = ((float)(best % columns) * x_stride + x) / width,
            .y = ((float)(best / columns) * y_stride + y) / height,
            .score = sigmoid(hl_model_real(maps, (int64_t)best * points + point)),
        };
    }
    body->count = points;
    body->score = mean_score(body);
}

// ---- MoveNet: the points themselves -------------------------------------------------------------

// [1,1,17,3]: y, x, score.
static bool look_points(const struct hl_model_file *file, struct hl_body_model *model, struct hl_picture_input *input)
{
    enum { POINTS = 17 };
    if (!hl_model_has_shape(output_of(file, 0), 4, (const int[]){1, 1, POINTS, 3})) return false;
    *model =
        (struct hl_body_model){.name = "MoveNet", .points = POINTS, .point_names = person_17, BONES(person_17_bones)};
    input->fit = HL_FIT_CENTER;
    input->normalization = (struct hl_normalization){.given = input->shape.type == kTfLiteFloat32, .std = {1, 1, 1}};
    return true;
}

static void read_points(const struct hl_body_model *model, const struct hl_model_file *file,
                        const struct hl_picture_input *input, struct hl_body *body)
{
    (void)input;
    const TfLiteTensor *output = output_of(file, 0);
    for (int i = 0; i < model->points; i++)
        body->points[i] = (struct hl_body_point){.x = hl_model_real(output, 3 * i + 1),
                                                 .y = hl_model_real(output, 3 * i),
                                                 .score = hl_model_real(output, 3 * i + 2)};
    body->count = model->points;
    body->score = mean_score(body);
}

// ---- MediaPipe: rows of x, y, z in pixels of the input, and whether there is anything -----------

static const struct {
    int elements, columns; // of the output, of a row
    struct hl_body_model model;
    bool flag; // another output, of one element, says whether it is there
} landmarks[] = {
    {63, 3, {.name = "MediaPipe hand", .points = 21, .point_names = hand_21, BONES(hand_21_bones)}, true},
    {195, 5, {.name = "MediaPipe pose", .points = 33, .point_names = person_33, BONES(person_33_bones)}, true},
    {1404, 3, {.name = "MediaPipe face", .points = 468}, true},
    {213, 3, {.name = "MediaPipe eye", .points = 71}, false},
};

// The first output of so many elements; -1: none.
static int output_with(const struct hl_model_file *file, int64_t elements)
{
    int count = TfLiteInterpreterGetOutputTensorCount(file->interpreter);
    for (int i = 0; i < count; i++)
        if (TfLiteTensorType(output_of(file, i)) == kTfLiteFloat32 && hl_model_elements(output_of(file, i)) == elements)
            return i;
    return -1;
}

static bool look_landmarks(const struct hl_model_file *file, struct hl_body_model *model,
                           struct hl_picture_input *input)
{
    for (size_t i = 0; i < sizeof landmarks / sizeof *landmarks; i++) {
        int points = output_with(file, landmarks[i].elements), flag = landmarks[i].flag ? output_with(file, 1) : -1;
        if (points < 0 || (landmarks[i].flag && flag < 0)) continue;
        *model = landmarks[i].model;
        model->outputs[0] = points;
        model->outputs[1] = flag;
        input->fit = HL_FIT_CENTER;
        input->normalization = (struct hl_normalization){.given = true, .std = {255, 255, 255}};
        return true;
    }
    return false;
}

static void read_landmarks(const struct hl_body_model *model, const struct hl_model_file *file,
                           const struct hl_picture_input *input, struct hl_body *body)
{
    enum { VISIBILITY = 3, PRESENCE = 4 };
    const TfLiteTensor *output = output_of(file, model->outputs[0]);
    int columns = 3;
    for (size_t i = 0; i < sizeof landmarks / sizeof *landmarks; i++)
        if (landmarks[i].model.points == model->points) columns = landmarks[i].columns;
    body->score = 1;
    if (model->outputs[1] >= 0) {
        body->score = hl_model_real(output_of(file, model->outputs[1]), 0);
        bool logit = hl_model_output_operator(file->model, model->outputs[1]) != kTfLiteBuiltinLogistic;
        if (logit) body->score = sigmoid(body->score);
    }
    for (int i = 0; i < model->points; i++) {
        const int64_t row = (int64_t)i * columns;
        float score = columns > PRESENCE ? fminf(sigmoid(hl_model_real(output, row + VISIBILITY)),
                                                 sigmoid(hl_model_real(output, row + PRESENCE)))
                                         : body->score;
        body->points[i] = (struct hl_body_point){.x = hl_model_real(output, row) / (float)input->shape.width,
                                                 .y = hl_model_real(output, row + 1) / (float)input->shape.height,
                                                 .score = score};
    }
    body->count = model->points;
}

// ---- what they have in common -------------------------------------------------------------------

static const struct hl_body_family families[] = {
    {look_heat_maps, read_heat_maps},
    {look_points, read_points},
    {look_landmarks, read_landmarks},
};

bool hl_body_look(const struct hl_model_file *file, struct hl_body_model *model, struct hl_picture_input *input,
                  struct hl_text *why)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (TfLiteInterpreterGetOutputTensorCount(file->interpreter) < 1 || !families[i].look(file, model, input))
            continue;
        model->family = &families[i];
        return true;
    }
    hl_text_add(why,
                "has outputs of no landmark model known here: PoseNet (heat maps and offsets), MoveNet, MediaPipe's "
                "for hands, faces, eyes and persons");
    return false;
}

void hl_body_read(const struct hl_body_model *model, const struct hl_model_file *file,
                  const struct hl_picture_input *input, struct hl_body *body)
{
    model->family->read(model, file, input, body);
    for (int i = 0; i < body->count; i++) // no numbers are nowhere
        if (!isfinite(body->points[i].x) || !isfinite(body->points[i].y) || !isfinite(body->points[i].score))
            body->points[i] = (struct hl_body_point){0};
    if (!isfinite(body->score)) body->score = 0;
}
