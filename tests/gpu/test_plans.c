// SPDX-License-Identifier: Apache-2.0
// Plans of whole models on the null backend: what every plan must have (check_plan.h), for many models; and for a few
// the plan as text beside one that a person has read, tests/gpu/plans/NAME.txt. A change that is meant is taken over by
// ./dev plans (HALITE_RENEW=1 build/release/bin/test_plans) and read in the diff before it is committed. Needs
// models (../shared, or HALITE_SHARED); ends with 77 without them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/null.h"
#include "gpu/check_plan.h"
#include "gpu/delegate/delegate.h"
#include "support/text_file.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

static const struct model {
    const char *golden; // NULL: only the properties
    const char *path;
} models[] = {
    {"mobilenet_v1", "classification/mobilenet_v1_1.0_224_float.tflite"},
    {"mobilenet_v2", "classification/tf2_mobilenet_v2_1.0_224_ptq.tflite"},
    {"deeplab", "segmentation/deeplabv3_257_mv_gpu.tflite"},
    {"ssd", "detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite"},
    {"posenet", "pose/posenet_mobilenet_v1_075_353_481_quant.tflite"},
    {NULL, "classification/mobilenet_v1_1.0_224_quant.tflite"},
    {NULL, "classification/mobilenet_v3_small_1.0_224_uint8.tflite"},
    {NULL, "detection/yolox_nano_float16.tflite"},
    {NULL, "detection/ultraface_rfb_320_float.tflite"},
    {NULL, "mediapipe/face_landmark_float16.tflite"},
    {NULL, "mediapipe/hand_landmark_lite_float16.tflite"},
    {NULL, "mediapipe/iris_landmark_float.tflite"},
    {NULL, "mediapipe/pose_detection_float16.tflite"},
    {NULL, "segmentation/selfie_segmentation.tflite"},
    {NULL, "segmentation/hair_segmentation.tflite"},
    {NULL, "style/style_transfer_f16_384.tflite"},
    {NULL, "text/text_classification.tflite"},
};
enum { MODELS = sizeof models / sizeof *models };

// ---- text ---------------------------------------------------------------------------------------

// Without the epilogue's stages that are none.
static void write_program(FILE *to, const char *line, int length)
{
    int word = 0;
    for (int at = 0; at < length; at += word + 1) {
        word = (int)strcspn(line + at, " \n");
        bool none = strncmp(line + at, "EPI_", 4) == 0 && line[at + word - 1] == '0' && line[at + word - 2] == '=';
        if (!none) fprintf(to, "%s%.*s", at ? " " : "", word, line + at);
    }
    fprintf(to, "\n");
}

// Where it reads and writes, and what for; not the parameters, which follow from the model's shapes and numbers.
static void write_dispatch(FILE *to, const char *line, int length)
{
    static const char list[] = "dispatch list 0: ";
    const char *end = line + length, *from = line + sizeof list - 1;
    const char *params = strstr(from, " params "), *label = strstr(from, " ; ");
    assert_memory_equal(line, list, sizeof list - 1);
    assert_true(params && params < end && label && label < end);
    fprintf(to, "    %.*s%.*s\n", (int)(params - from), from, (int)(end - label), label);
}

// Of the backend's text what a plan is: buffers, programs, dispatches, barriers.
static void write_plan(FILE *to, const char *golden, const char *text)
{
    int dispatches = 0, barriers = 0;
    size_t bytes = 0, own;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        dispatches += strncmp(line, "dispatch", 8) == 0;
        barriers += strncmp(line, "barrier", 7) == 0;
        if (sscanf(line, "buffer %*d: %zu bytes", &own) == 1) bytes += own;
    }
    fprintf(to,
            "# The plan of %s in f32, from the null backend; ./dev plans writes it anew (tests/gpu/test_plans.c).\n",
            golden);
    fprintf(to, "# Buffers: constants, values, inputs and outputs. A dispatch: kernel [work-groups]x[work-items of "
                "one], what it\n");
    fprintf(to, "# reads and writes as buffer@offset+bytes, and for which operator and node.\n");
    fprintf(to, "%d dispatches, %d barriers, %zu bytes in buffers\n", dispatches, barriers, bytes);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        int length = (int)strcspn(line, "\n");
        if (strncmp(line, "dispatch", 8) == 0)
            write_dispatch(to, line, length);
        else if (strncmp(line, "program", 7) == 0)
            write_program(to, line, length);
        else if (strncmp(line, "barrier", 7) == 0)
            fprintf(to, "    barrier\n");
        else if (strncmp(line, "buffer", 6) == 0)
            fprintf(to, "%.*s\n", length, line);
    }
}

static void compare(const char *golden, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "tests/gpu/plans/%s.txt", golden);
    if (getenv("HALITE_RENEW")) {
        FILE *file = fopen(path, "wb");
        if (!file) fail_msg("cannot write %s", path);
        write_plan(file, golden, text);
        assert_int_equal(fclose(file), 0);
        return;
    }
    char *expected = text_file_read(path);
    FILE *scratch = tmpfile();
    assert_non_null(scratch);
    write_plan(scratch, golden, text);
    rewind(scratch);
    char line[1024];
    const char *at = expected;
    for (int n = 1; fgets(line, sizeof line, scratch); n++) {
        size_t length = strcspn(at, "\n");
        if (length != strcspn(line, "\n") || memcmp(at, line, length) != 0)
            fail_msg("%s:%d: %.*s\nthe plan is now: %sif this is meant: ./dev plans", path, n, (int)length, at, line);
        at += length + (at[length] != '\0');
    }
    if (*at) fail_msg("%s: the plan ends before: %.60s", path, at);
    fclose(scratch);
    free(expected);
}

// ---- a model ------------------------------------------------------------------------------------

static const char *shared_folder(void)
{
    const char *folder = getenv("HALITE_SHARED");
    return folder ? folder : "../shared";
}

static void complain(const char *text)
{
    print_error("%s\n", text);
}

static void test_model(void **state)
{
    const struct model *model = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s", shared_folder(), model->path);
    TfLiteModel *file = TfLiteModelCreateFromFile(path);
    if (!file) {
        print_message("no %s\n", path);
        skip();
    }
    const char *keys[] = {"device", "precision"}, *values[] = {"null", "f32"};
    TfLiteDelegate *delegate = tflite_plugin_create_delegate(keys, values, 2, complain);
    assert_non_null(delegate);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsAddDelegate(options, delegate);
    int before = check_plan_count();
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(file, options);
    assert_non_null(interpreter);
    assert_true(check_plan_count() > before);
    char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
    assert_non_null(text);
    check_barriers(text);
    if (model->golden) compare(model->golden, text);
    free(text);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    tflite_plugin_destroy_delegate(delegate);
    TfLiteModelDelete(file);
}

int main(void)
{
    static struct CMUnitTest tests[MODELS];
    int there = 0;
    for (int i = 0; i < MODELS; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s", shared_folder(), models[i].path);
        FILE *file = fopen(path, "rb");
        there += file != NULL;
        if (file) fclose(file);
        tests[i] = (struct CMUnitTest){
            .name = models[i].path,
            .test_func = test_model,
            .initial_state = (void *)(uintptr_t)&models[i],
        };
    }
    if (there == 0) {
        print_message("skipped: no models in %s\n", shared_folder());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
