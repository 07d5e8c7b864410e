// SPDX-License-Identifier: Apache-2.0
// The families of detectors, each a row: how it is recognized, and how its outputs are read.
#include "detect/detector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "detect/ssd.h"
#include "model_file.h"

struct hl_detector_family {
    bool (*look)(const TfLiteInterpreter *interpreter, struct hl_detector *detector);
    void (*read)(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, float score,
                 struct hl_finds *finds); // boxes in parts of the input's sides, 0 to 1
    float overlap;                        // from this on, two boxes of one class are one object; 0: the model chose
};

static const TfLiteTensor *output_of(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, int i)
{
    return TfLiteInterpreterGetOutputTensor(interpreter, detector->outputs[i]);
}

static void add(struct hl_finds *finds, float left, float top, float right, float bottom, int class, float score)
{
    bool is_box =
        right > left && bottom > top && isfinite(left) && isfinite(top) && isfinite(right) && isfinite(bottom);
    if (!is_box) return;
    if (finds->count == finds->capacity) {
        finds->capacity = finds->capacity ? 2 * finds->capacity : 64;
        finds->items = hl_alloc_grow(finds->items, (size_t)finds->capacity, sizeof *finds->items);
    }
    finds->items[finds->count++] =
        (struct hl_found){.box = {.left = left, .top = top, .right = right, .bottom = bottom, .score = score},
                          .class = class};
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

// ---- SSD: four outputs of its post-processing ---------------------------------------------------

static bool look_ssd(const TfLiteInterpreter *interpreter, struct hl_detector *detector)
{
    if (!hl_ssd_find(interpreter, detector->outputs)) return false;
    detector->name = "SSD";
    detector->class_offset = 1;
    return true;
}

static void read_ssd(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, float least,
                     struct hl_finds *finds)
{
    const TfLiteTensor *boxes = output_of(detector, interpreter, HL_SSD_BOXES);
    const TfLiteTensor *classes = output_of(detector, interpreter, HL_SSD_CLASSES);
    const TfLiteTensor *scores = output_of(detector, interpreter, HL_SSD_SCORES);
    int rows = TfLiteTensorDim(boxes, 1);
    float given = hl_model_real(output_of(detector, interpreter, HL_SSD_COUNT), 0);
    int count = given >= 0 && given < (float)rows ? (int)given : rows;
    if (hl_ssd_are_swapped(classes, scores, count)) {
        const TfLiteTensor *swapped = classes;
        classes = scores;
        scores = swapped;
    }
    for (int i = 0; i < count; i++) {
        float score = hl_model_real(scores, i), class = hl_model_real(classes, i);
        if (!(score >= least) || !(class >= 0 && class < 1e6f)) continue;
        add(finds, hl_model_real(boxes, 4 * i + 1), hl_model_real(boxes, 4 * i), hl_model_real(boxes, 4 * i + 3),
            hl_model_real(boxes, 4 * i + 2), (int)class, score);
    }
}

// ---- YOLO: a row, or a column, for each cell ----------------------------------------------------

static const int yolo_strides[] = {8, 16, 32, 0};

// Cells of the three grids; 0 where the input is no multiple of the largest.
static int count_cells(const struct hl_detector *detector, const int *strides, const int *per)
{
    int count = 0, width = detector->input.shape.width, height = detector->input.shape.height;
    for (int i = 0; strides[i] > 0; i++) {
        if (width % strides[i] != 0 || height % strides[i] != 0) return 0;
        count += (width / strides[i]) * (height / strides[i]) * (per != NULL ? per[i] : 1);
    }
    return count;
}

static bool is_single(const TfLiteInterpreter *interpreter, const struct hl_detector *detector, int *rows, int *columns)
{
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    if (TfLiteInterpreterGetOutputTensorCount(interpreter) != 1 || detector->input.shape.channels != 3) return false;
    if (!hl_model_has_shape(output, 3, (const int[]){1, -1, -1})) return false;
    *rows = TfLiteTensorDim(output, 1);
    *columns = TfLiteTensorDim(output, 2);
    return true;
}

// YOLOX: [1, cells, 5 + classes]. Center and size in units of the cell, the size as a logarithm.
static bool look_yolox(const TfLiteInterpreter *interpreter, struct hl_detector *detector)
{
    enum { FIRST_CLASS = 5, GRAY = 114 };
    int rows, columns;
    if (!is_single(interpreter, detector, &rows, &columns) || columns <= FIRST_CLASS) return false;
    if (rows != count_cells(detector, yolo_strides, NULL)) return false;
    detector->name = "YOLOX";
    detector->class_count = columns - FIRST_CLASS;
    detector->input.fit = HL_FIT_CORNER;
    detector->input.bars = GRAY;
    detector->input.normalization = (struct hl_normalization){.given = true, .std = {1, 1, 1}};
    return true;
}

// Of a row: the class with the highest score.
static int best_class(const TfLiteTensor *output, int64_t first, int64_t step, int count, float *score)
{
    int best = 0;
    *score = -INFINITY;
    for (int i = 0; i < count; i++) {
        float value = hl_model_real(output, first + i * step);
        if (value > *score) *score = value, best = i;
    }
    return best;
}

static void read_yolox(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, float least,
                       struct hl_finds *finds)
{
    const TfLiteTensor *output = output_of(detector, interpreter, 0);
    float width = (float)detector->input.shape.width, height = (float)detector->input.shape.height;
    int64_t row = 0, columns = 5 + detector->class_count;
    for (const int *stride = yolo_strides; *stride > 0; stride++) {
        int across = detector->input.shape.width / *stride, down = detector->input.shape.height / *stride;
        for (int cell = 0; cell < across * down; cell++, row += columns) {
            float score, object = hl_model_real(output, row + 4), unit = (float)*stride;
            if (!(object >= least)) continue;
            int class = best_class(output, row + 5, 1, detector->class_count, &score);
            if (!(score * object >= least)) continue;
            float x = (hl_model_real(output, row) + (float)(cell % across)) * unit / width;
            float y = (hl_model_real(output, row + 1) + (float)(cell / across)) * unit / height;
            float half_width = expf(hl_model_real(output, row + 2)) * unit / width / 2;
            float half_height = expf(hl_model_real(output, row + 3)) * unit / height / 2;
            add(finds, x - half_width, y - half_height, x + half_width, y + half_height, class, score * object);
        }
    }
}

// YOLOv5: [1, 3 * cells, 5 + classes]; YOLOv8 and later: [1, 4 + classes, cells], without a score of the object. Center
// and size in parts of the input's sides, as the exporter for TensorFlow Lite writes them, or in pixels.
static bool look_yolo(const TfLiteInterpreter *interpreter, struct hl_detector *detector)
{
    enum { GRAY = 114, PER_CELL = 3 };
    int rows, columns, cells = count_cells(detector, yolo_strides, NULL);
    if (cells == 0 || !is_single(interpreter, detector, &rows, &columns)) return false;
    bool v5 = rows == PER_CELL * cells && columns > 5, v8 = columns == cells && rows > 4;
    if (!v5 && !v8) return false;
    detector->name = v5 ? "YOLOv5" : "YOLOv8";
    detector->class_count = v5 ? columns - 5 : rows - 4;
    detector->input.fit = HL_FIT_CENTER;
    detector->input.bars = GRAY;
    detector->input.normalization = (struct hl_normalization){.given = true, .std = {255, 255, 255}};
    return true;
}

static void read_yolo(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, float least,
                      struct hl_finds *finds)
{
    const TfLiteTensor *output = output_of(detector, interpreter, 0);
    bool v8 = strcmp(detector->name, "YOLOv8") == 0;
    int rows = TfLiteTensorDim(output, v8 ? 2 : 1), columns = TfLiteTensorDim(output, v8 ? 1 : 2);
    int64_t down = v8 ? 1 : columns, across = v8 ? rows : 1;
    int first = columns - detector->class_count;
    float largest = 0;
    for (int row = 0; row < rows; row++) largest = fmaxf(largest, hl_model_real(output, row * down + 2 * across));
    bool pixels = largest > 4; // no object is four times as wide as the picture
    float x_unit = pixels ? (float)detector->input.shape.width : 1,
          y_unit = pixels ? (float)detector->input.shape.height : 1;
    for (int row = 0; row < rows; row++) {
        int64_t at = row * down;
        float score, object = v8 ? 1 : hl_model_real(output, at + 4 * across);
        if (!(object >= least)) continue;
        int class = best_class(output, at + first * across, across, detector->class_count, &score);
        if (!(score * object >= least)) continue;
        float x = hl_model_real(output, at) / x_unit, y = hl_model_real(output, at + across) / y_unit;
        float half_width = hl_model_real(output, at + 2 * across) / x_unit / 2;
        float half_height = hl_model_real(output, at + 3 * across) / y_unit / 2;
        add(finds, x - half_width, y - half_height, x + half_width, y + half_height, class, score * object);
    }
}

// ---- MediaPipe: boxes around anchors ------------------------------------------------------------

// Where a detector of this input has its anchors: in the middle of the cells of grids, so many in each.
static const struct {
    int input, columns; // columns of a box: center, size, points
    int strides[4], per[4];
    const char *found;
    bool from_zero; // input values from 0 to 1, not from -1
} anchored[] = {
    {128, 16, {8, 16}, {2, 6}, "face", false},
    {256, 16, {16, 32}, {2, 6}, "face", false},
    {192, 16, {4}, {1}, "face", false},
    {192, 18, {8, 16}, {2, 6}, "palm", true},
    {224, 12, {8, 16, 32}, {2, 2, 6}, "person", false},
};

// Boxes [1,n,columns] and scores [1,n,1], in either order.
static bool look_anchored(const TfLiteInterpreter *interpreter, struct hl_detector *detector)
{
    if (TfLiteInterpreterGetOutputTensorCount(interpreter) != 2 || detector->input.planar) return false;
    for (int first = 0; first < 2; first++) {
        const TfLiteTensor *boxes = TfLiteInterpreterGetOutputTensor(interpreter, first);
        const TfLiteTensor *scores = TfLiteInterpreterGetOutputTensor(interpreter, 1 - first);
        for (size_t i = 0; i < sizeof anchored / sizeof *anchored; i++) {
            int side = anchored[i].input, count;
            if (detector->input.shape.width != side || detector->input.shape.height != side) continue;
            count = count_cells(detector, anchored[i].strides, anchored[i].per);
            if (!hl_model_has_shape(boxes, 3, (const int[]){1, count, anchored[i].columns}) ||
                !hl_model_has_shape(scores, 3, (const int[]){1, count, 1}))
                continue;
            double mean = anchored[i].from_zero ? 0 : 127.5, std = anchored[i].from_zero ? 255 : 127.5;
            detector->input.normalization =
                (struct hl_normalization){.given = true, .mean = {mean, mean, mean}, .std = {std, std, std}};
            detector->name = "MediaPipe";
            detector->only_class = anchored[i].found;
            detector->input.fit = HL_FIT_CENTER;
            detector->strides = anchored[i].strides;
            detector->per = anchored[i].per;
            detector->outputs[0] = first;
            detector->outputs[1] = 1 - first;
            return true;
        }
    }
    return false;
}

// A box around an anchor: center and size. A person's box in the file is that of the face; the first two of the points
// behind it are the middle of the hips and one on a circle around the whole body.
static void add_anchored(struct hl_finds *finds, const TfLiteTensor *boxes, int64_t row, bool person, float x, float y,
                         float side, float score)
{
    float at[8];
    for (int i = 0; i < 8; i++) at[i] = hl_model_real(boxes, row + i) / side;
    float half_width = at[2] / 2, half_height = at[3] / 2;
    if (person) {
        half_width = half_height = hypotf(at[6] - at[4], at[7] - at[5]);
        at[0] = at[4];
        at[1] = at[5];
    }
    add(finds, x + at[0] - half_width, y + at[1] - half_height, x + at[0] + half_width, y + at[1] + half_height, 0,
        score);
}

static void read_anchored(const struct hl_detector *detector, const TfLiteInterpreter *interpreter, float least,
                          struct hl_finds *finds)
{
    enum { PERSON = 12 };
    const TfLiteTensor *boxes = output_of(detector, interpreter, 0), *scores = output_of(detector, interpreter, 1);
    int columns = TfLiteTensorDim(boxes, 2);
    int64_t anchor = 0;
    for (int grid = 0; detector->strides[grid] > 0; grid++) {
        int across = detector->input.shape.width / detector->strides[grid];
        for (int i = 0; i < across * across * detector->per[grid]; i++, anchor++) {
            float score = sigmoid(hl_model_real(scores, anchor));
            if (!(score >= least)) continue;
            int cell = i / detector->per[grid];
            float x = ((float)(cell % across) + 0.5f) / (float)across;
            float y = ((float)(cell / across) + 0.5f) / (float)across;
            add_anchored(finds, boxes, anchor * columns, columns == PERSON, x, y, (float)detector->input.shape.width,
                         score);
        }
    }
}

// ---- what they have in common -------------------------------------------------------------------

static const struct hl_detector_family families[] = {
    {look_ssd, read_ssd, 0},
    {look_yolox, read_yolox, 0.45f},
    {look_yolo, read_yolo, 0.45f},
    {look_anchored, read_anchored, 0.3f},
};

bool hl_detector_look(const TfLiteInterpreter *interpreter, struct hl_detector *detector, struct hl_text *why)
{
    *detector = (struct hl_detector){0};
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    if (TfLiteInterpreterGetInputTensorCount(interpreter) != 1 ||
        hl_picture_input_look(input, true, &detector->input) != NULL) {
        hl_text_add(why, "has no single input for a picture, [1,height,width,3] or [1,3,height,width]");
        return false;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct hl_detector tried = *detector;
        if (!families[i].look(interpreter, &tried)) continue;
        *detector = tried;
        detector->family = &families[i];
        return true;
    }
    hl_text_add(
        why, "has outputs of no detector known here: SSD with its post-processing, YOLOv5, YOLOv8, YOLOX, MediaPipe's "
             "for faces, palms and persons");
    return false;
}

static int by_score(const void *a, const void *b)
{
    const struct hl_found *x = a, *y = b;
    if (x->box.score != y->box.score) return x->box.score < y->box.score ? 1 : -1;
    if (x->box.left != y->box.left) return x->box.left > y->box.left ? 1 : -1;
    return x->box.top != y->box.top ? (x->box.top > y->box.top ? 1 : -1) : x->class - y->class;
}

// Of boxes that mean the same object the best one stays.
static void drop_same(struct hl_finds *finds, float overlap)
{
    int kept = 0;
    for (int i = 0; i < finds->count; i++) {
        bool same = false;
        for (int j = 0; j < kept && !same; j++)
            same = finds->items[j].class == finds->items[i].class &&
                   hl_box_overlap(&finds->items[j].box, &finds->items[i].box) >= overlap;
        if (!same) finds->items[kept++] = finds->items[i];
    }
    finds->count = kept;
}

void hl_detector_read(const struct hl_detector *detector, const struct hl_image *image,
                      const TfLiteInterpreter *interpreter, double score, struct hl_finds *finds)
{
    enum { MOST = 5000 }; // that are compared with each other
    finds->count = 0;
    detector->family->read(detector, interpreter, (float)score, finds);
    if (finds->count > 0) qsort(finds->items, (size_t)finds->count, sizeof *finds->items, by_score);
    if (finds->count > MOST) finds->count = MOST;
    if (detector->family->overlap > 0) drop_same(finds, detector->family->overlap);
    for (int i = 0; i < finds->count; i++) {
        struct hl_box *box = &finds->items[i].box;
        hl_picture_input_locate(&detector->input, image, &box->left, &box->top);
        hl_picture_input_locate(&detector->input, image, &box->right, &box->bottom);
    }
}
