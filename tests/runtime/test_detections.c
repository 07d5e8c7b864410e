// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess finds the best class of a box as one comparison after the other finds it, whatever the
// number of classes, with equal scores and with scores that are no numbers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/flex_map.h"
#include "support/model_writer.h"
#include "support/random.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

enum { ENCODINGS, SCORES, ANCHORS, FOUND_BOXES, FOUND_CLASSES, FOUND_SCORES, FOUND_COUNT, TENSORS };
enum { BOXES = 20, MAX_CLASSES = 40, MODELS = 60 };

struct detector {
    float anchors[BOXES][4]; // apart from each other, so that no box is suppressed
    unsigned char map[FLEX_MAP_BYTES];
    struct test_tensor tensors[TENSORS];
    struct test_node node;
    struct test_model model;
    unsigned char *file;
    TfLiteModel *loaded;
    TfLiteInterpreter *interpreter;
};

static void make_detector(struct detector *d, int classes)
{
    char options[256];
    *d = (struct detector){0};
    for (int b = 0; b < BOXES; b++) memcpy(d->anchors[b], (const float[]){(float)b, 0, 0.5f, 0.5f}, sizeof *d->anchors);
    d->tensors[ENCODINGS] =
        (struct test_tensor){.name = "encodings", .type = TEST_FLOAT32, .rank = 3, .dims = {1, BOXES, 4}};
    d->tensors[SCORES] =
        (struct test_tensor){.name = "scores", .type = TEST_FLOAT32, .rank = 3, .dims = {1, BOXES, classes}};
    d->tensors[ANCHORS] = (struct test_tensor){.name = "anchors", .type = TEST_FLOAT32, .rank = 2, .dims = {BOXES, 4}};
    d->tensors[ANCHORS].data = d->anchors;
    d->tensors[ANCHORS].bytes = sizeof d->anchors;
    for (int i = FOUND_BOXES; i < TENSORS; i++) d->tensors[i] = (struct test_tensor){.name = "found"};
    snprintf(options, sizeof options,
             "max_detections=%d max_classes_per_detection=1 num_classes=%d nms_iou_threshold=0.5 "
             "nms_score_threshold=0.25 use_regular_nms=0 y_scale=1.0 x_scale=1.0 h_scale=1.0 w_scale=1.0",
             BOXES, classes);
    d->node = (struct test_node){.builtin = kTfLiteBuiltinCustom,
                                 .custom = "TFLite_Detection_PostProcess",
                                 .options = d->map,
                                 .option_bytes = flex_map_write(options, d->map),
                                 TEST_INPUTS(ENCODINGS, SCORES, ANCHORS),
                                 TEST_OUTPUTS(FOUND_BOXES, FOUND_CLASSES, FOUND_SCORES, FOUND_COUNT)};
    d->model = (struct test_model){TEST_TENSORS(d->tensors), TEST_NODE(d->node), TEST_INPUTS(ENCODINGS, SCORES),
                                   TEST_OUTPUTS(FOUND_BOXES, FOUND_CLASSES, FOUND_SCORES, FOUND_COUNT)};
}

static void open_detector(struct detector *d)
{
    size_t size;
    d->file = test_model_write(&d->model, &size);
    d->loaded = TfLiteModelCreate(d->file, size);
    assert_non_null(d->loaded);
    d->interpreter = TfLiteInterpreterCreate(d->loaded, NULL);
    assert_non_null(d->interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(d->interpreter), kTfLiteOk);
}

static void close_detector(struct detector *d)
{
    TfLiteInterpreterDelete(d->interpreter);
    TfLiteModelDelete(d->loaded);
    free(d->file);
}

struct found {
    int class_index;
    float score;
};

// The class of a box, by one comparison after the other. A first score that is no number is the box's.
static struct found best_of(const float *scores, int classes)
{
    struct found best = {0, scores[0]};
    for (int c = 1; c < classes; c++)
        if (scores[c] > best.score) best = (struct found){c, scores[c]};
    return best;
}

// Those at or above the threshold, the best first; of equal ones the first box.
static int find_all(const float *scores, int classes, struct found *all)
{
    int count = 0;
    for (int b = 0; b < BOXES; b++) {
        const struct found found = best_of(scores + b * classes, classes);
        if (!(found.score >= 0.25f)) continue;
        int at = count++;
        for (; at > 0 && all[at - 1].score < found.score; at--) all[at] = all[at - 1];
        all[at] = found;
    }
    return count;
}

static void best_classes(void **state)
{
    (void)state;
    static struct detector d;
    int dropped = 0;
    for (int i = 0; i < MODELS; i++) {
        const int classes = 1 + pick(MAX_CLASSES);
        float scores[BOXES * MAX_CLASSES];
        struct found expected[BOXES];
        make_detector(&d, classes);
        open_detector(&d);
        memset(TfLiteTensorData(TfLiteInterpreterGetInputTensor(d.interpreter, 0)), 0, BOXES * 4 * sizeof(float));
        for (int s = 0; s < BOXES * classes; s++)
            scores[s] = pick(5) == 0 ? NAN : (float)pick(17) / 16; // many are equal
        memcpy(TfLiteTensorData(TfLiteInterpreterGetInputTensor(d.interpreter, 1)), scores,
               (size_t)(BOXES * classes) * sizeof *scores);
        assert_int_equal(TfLiteInterpreterInvoke(d.interpreter), kTfLiteOk);
        const int count = find_all(scores, classes, expected);
        const float *found_classes = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(d.interpreter, 1));
        const float *found_scores = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(d.interpreter, 2));
        assert_int_equal(*(const float *)TfLiteTensorData(TfLiteInterpreterGetOutputTensor(d.interpreter, 3)), count);
        for (int k = 0; k < count; k++) {
            assert_int_equal((int)found_classes[k], expected[k].class_index);
            assert_true(found_scores[k] == expected[k].score);
        }
        dropped += BOXES - count;
        close_detector(&d);
    }
    assert_true(dropped > MODELS); // by the threshold, or since a first score is no number
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
