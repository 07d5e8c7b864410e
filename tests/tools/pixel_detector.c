// SPDX-License-Identifier: Apache-2.0
// pixel_detector FILE [ORDER]: writes a model that finds in a picture what its pixels say, so that the evaluation of
// detections can be given any detections. A picture is 3 pixels wide and DETECTIONS high; the nine bytes of a row are
// top, left, bottom, right, class, score, and in the first row the number of detections; boxes and score are parts of
// 255. ORDER: of its outputs, default 0123: boxes, classes, scores, count.
#include <stdio.h>
#include <stdlib.h>

#include "support/model_writer.h"

enum { DETECTIONS = 8, MUL = 18, RESHAPE = 22, CAST = 53, SLICE = 65 };

enum tensor {
    IMAGE,
    BYTES,
    ROWS,
    ROWS_SHAPE,
    PART, // the picture, as floats, by row; 1 / 255
    BOX_BEGIN,
    BOX_SIZE,
    BOX,
    BOXES,
    CLASS_BEGIN,
    COLUMN_SIZE,
    CLASS,
    COLUMN_SHAPE,
    CLASSES,
    SCORE_BEGIN,
    SCORE,
    SCALED_SCORE,
    SCORES,
    COUNT_BEGIN,
    COUNT_SIZE,
    NUMBER,
    COUNT_SHAPE,
    COUNT,
    TENSORS
};

#define SHAPE(number, ...) \
    .type = number, .rank = sizeof((const int[]){__VA_ARGS__}) / sizeof(int), .dims = {__VA_ARGS__}
#define INTS(...)                                                                                                   \
    .type = TEST_INT32, .rank = 1, .data = (const int[]){__VA_ARGS__}, .bytes = sizeof((const int[]){__VA_ARGS__}), \
    .dims = {sizeof((const int[]){__VA_ARGS__}) / sizeof(int)}

int main(int argc, char **argv)
{
    static const float part = 1.0f / 255;
    const struct test_tensor tensors[TENSORS] = {
        [IMAGE] = {.name = "image", SHAPE(TEST_UINT8, 1, DETECTIONS, 3, 3)},
        [BYTES] = {.name = "bytes", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 3, 3)},
        [ROWS] = {.name = "rows", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 9)},
        [ROWS_SHAPE] = {.name = "rows_shape", INTS(1, DETECTIONS, 9)},
        [PART] = {.name = "part", .type = TEST_FLOAT32, .data = &part, .bytes = sizeof part},
        [BOX_BEGIN] = {.name = "box_begin", INTS(0, 0, 0)},
        [BOX_SIZE] = {.name = "box_size", INTS(1, DETECTIONS, 4)},
        [BOX] = {.name = "box", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 4)},
        [BOXES] = {.name = "boxes", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 4)},
        [CLASS_BEGIN] = {.name = "class_begin", INTS(0, 0, 4)},
        [COLUMN_SIZE] = {.name = "column_size", INTS(1, DETECTIONS, 1)},
        [CLASS] = {.name = "class", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 1)},
        [COLUMN_SHAPE] = {.name = "column_shape", INTS(1, DETECTIONS)},
        [CLASSES] = {.name = "classes", SHAPE(TEST_FLOAT32, 1, DETECTIONS)},
        [SCORE_BEGIN] = {.name = "score_begin", INTS(0, 0, 5)},
        [SCORE] = {.name = "score", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 1)},
        [SCALED_SCORE] = {.name = "scaled_score", SHAPE(TEST_FLOAT32, 1, DETECTIONS, 1)},
        [SCORES] = {.name = "scores", SHAPE(TEST_FLOAT32, 1, DETECTIONS)},
        [COUNT_BEGIN] = {.name = "count_begin", INTS(0, 0, 6)},
        [COUNT_SIZE] = {.name = "count_size", INTS(1, 1, 1)},
        [NUMBER] = {.name = "number", SHAPE(TEST_FLOAT32, 1, 1, 1)},
        [COUNT_SHAPE] = {.name = "count_shape", INTS(1)},
        [COUNT] = {.name = "count", SHAPE(TEST_FLOAT32, 1)},
    };
#define NODE(code, output, ...)                                                                                    \
    {                                                                                                              \
        .builtin = code, .input_count = sizeof((const int[]){__VA_ARGS__}) / sizeof(int), .inputs = {__VA_ARGS__}, \
        .output_count = 1, .outputs = {                                                                            \
            output                                                                                                 \
        }                                                                                                          \
    }
    const struct test_node nodes[] = {
        NODE(CAST, BYTES, IMAGE),
        NODE(RESHAPE, ROWS, BYTES, ROWS_SHAPE),
        NODE(SLICE, BOX, ROWS, BOX_BEGIN, BOX_SIZE),
        NODE(MUL, BOXES, BOX, PART),
        NODE(SLICE, CLASS, ROWS, CLASS_BEGIN, COLUMN_SIZE),
        NODE(RESHAPE, CLASSES, CLASS, COLUMN_SHAPE),
        NODE(SLICE, SCORE, ROWS, SCORE_BEGIN, COLUMN_SIZE),
        NODE(MUL, SCALED_SCORE, SCORE, PART),
        NODE(RESHAPE, SCORES, SCALED_SCORE, COLUMN_SHAPE),
        NODE(SLICE, NUMBER, ROWS, COUNT_BEGIN, COUNT_SIZE),
        NODE(RESHAPE, COUNT, NUMBER, COUNT_SHAPE),
    };
    struct test_model model = {
        .tensor_count = TENSORS,
        .tensors = tensors,
        .node_count = sizeof nodes / sizeof *nodes,
        .nodes = nodes,
        .input_count = 1,
        .inputs = {IMAGE},
        .output_count = 4,
    };
    static const int outputs[] = {BOXES, CLASSES, SCORES, COUNT};
    const char *order = argc > 2 ? argv[2] : "0123";
    for (int i = 0; i < 4; i++) model.outputs[i] = outputs[order[i] - '0'];
    size_t size;
    unsigned char *bytes = test_model_write(&model, &size);
    FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
    size_t written = file ? fwrite(bytes, 1, size, file) : 0;
    if (file && fclose(file) != 0) written = 0;
    free(bytes);
    return written == size ? 0 : 1;
}
