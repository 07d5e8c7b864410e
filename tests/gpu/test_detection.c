// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess on each device that is here, with random options, boxes and scores: count, classes and
// scores are the CPU's bit for bit, in its order; corners are its own to rounding. A draw is taken only where no two
// boxes overlap by nearly the threshold, since rounding would then decide.
#include <math.h>

#include "abi/detection_options.h"
#include "gpu/backend/null.h"
#include "gpu/sketch.h"
#include "support/flex_map.h"

enum { ENCODINGS, SCORES, ANCHORS, FOUND_BOXES, FOUND_CLASSES, FOUND_SCORES, FOUND_COUNT, DETECTION_TENSORS };
enum scores { SCORES_PLAIN, SCORES_EQUAL, SCORES_SPECIAL, SCORES_LOW };

struct detector {
    int boxes, columns, channels;
    bool bytes, constant_anchors;
    enum scores scores;
    char options[400];
    unsigned char map[FLEX_MAP_BYTES];
    struct test_tensor tensors[DETECTION_TENSORS];
    struct test_node node;
    struct test_model model;
    void *data[3];
};

static float between(float low, float high)
{
    return low + (high - low) * (float)pick(100001) / 100000;
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes);
    assert_non_null(data);
    return data;
}

static size_t count_of(const struct detector *d, int input)
{
    return (size_t)d->boxes * (size_t)(input == ENCODINGS ? d->columns : input == SCORES ? d->channels : 4);
}

// ---- a model ------------------------------------------------------------------------------------

static void finish_detector(struct detector *d)
{
    enum test_type type = d->bytes ? TEST_UINT8 : TEST_FLOAT32;
    const int n = d->boxes;
    d->tensors[ENCODINGS] = (struct test_tensor){
        .name = "encodings", .type = type, .rank = 3, .dims = {1, n, d->columns}, .is_input = true};
    d->tensors[SCORES] =
        (struct test_tensor){.name = "scores", .type = type, .rank = 3, .dims = {1, n, d->channels}, .is_input = true};
    d->tensors[ANCHORS] = (struct test_tensor){
        .name = "anchors", .type = type, .rank = 2, .dims = {n, 4}, .is_input = !d->constant_anchors};
    for (int i = FOUND_BOXES; i < DETECTION_TENSORS; i++)
        d->tensors[i] = (struct test_tensor){.name = "found", .is_output = true};
    const float scales[] = {0.0625f, 0.00390625f, 0.00390625f};
    for (int i = 0; i < 3; i++) {
        if (d->bytes) d->tensors[i].scale = scales[i];
        if (d->bytes && i == ENCODINGS) d->tensors[i].zero_point = 128;
        d->data[i] = room(count_of(d, i) * (d->bytes ? 1 : 4));
    }
    d->node = (struct test_node){.builtin = kTfLiteBuiltinCustom,
                                 .custom = "TFLite_Detection_PostProcess",
                                 .options = d->map,
                                 .option_bytes = flex_map_write(d->options, d->map),
                                 TEST_INPUTS(ENCODINGS, SCORES, ANCHORS),
                                 TEST_OUTPUTS(FOUND_BOXES, FOUND_CLASSES, FOUND_SCORES, FOUND_COUNT)};
    d->model = (struct test_model){TEST_TENSORS(d->tensors), TEST_NODE(d->node)};
}

static void free_detector(struct detector *d)
{
    for (int i = 0; i < 3; i++) free(d->data[i]);
}

static struct detector *random_detector(int number)
{
    static const int sizes[] = {1, 7, 40, 130, 300, 1000};
    struct detector *d = calloc(1, sizeof *d);
    assert_non_null(d);
    seed = (uint32_t)number * 977 + 5;
    for (int i = 0; i < 8; i++) pick(2);
    int classes = 1 + pick(pick(4) == 0 ? 90 : 9), each = pick(2) ? 1 : 1 + pick(4);
    d->boxes = sizes[pick(6)];
    d->columns = 4 + (pick(3) == 0) * 2;
    d->channels = classes + pick(2);
    d->bytes = pick(3) == 0;
    d->constant_anchors = pick(4) != 0;
    d->scores = (enum scores)pick(d->bytes ? 2 : 4);
    snprintf(
        d->options, sizeof d->options,
        "max_detections=%d max_classes_per_detection=%d num_classes=%d detections_per_class=%d nms_iou_threshold=%.9f "
        "nms_score_threshold=%.9f use_regular_nms=%d y_scale=%d.0 x_scale=10 h_scale=5 w_scale=%d.0",
        1 + pick(40), each, classes, 1 + pick(12), (double)between(0.2f, 0.9f),
        pick(2) ? 1e-8 : (double)between(0.1f, 0.9f), pick(3) == 0, 5 + pick(10), 4 + pick(3));
    finish_detector(d);
    return d;
}

// ---- numbers ------------------------------------------------------------------------------------

static float random_score(enum scores scores)
{
    static const float special[] = {INFINITY, -INFINITY, NAN, -0.0f, 0, 0.5f, 0.75f, -2};
    switch (scores) {
    case SCORES_EQUAL: return (float)pick(6) / 5;
    case SCORES_SPECIAL: return pick(3) ? between(-1, 1) : special[pick(8)];
    case SCORES_LOW: return between(-3, -1);
    default: return between(0, 1);
    }
}

static void put(const struct detector *d, int input, size_t at, float value)
{
    const struct test_tensor *tensor = &d->tensors[input];
    if (!d->bytes) {
        ((float *)d->data[input])[at] = value;
        return;
    }
    float stored = roundf(value / tensor->scale) + (float)tensor->zero_point;
    ((uint8_t *)d->data[input])[at] = (uint8_t)(stored < 0 ? 0 : stored > 255 ? 255 : stored);
}

static double get(const struct detector *d, int input, size_t at)
{
    const struct test_tensor *tensor = &d->tensors[input];
    if (!d->bytes) return (double)((const float *)d->data[input])[at];
    return (double)tensor->scale * (((const uint8_t *)d->data[input])[at] - tensor->zero_point);
}

static void draw(const struct detector *d, int input)
{
    for (size_t i = 0, n = count_of(d, input); i < n; i++) {
        float value = input == ENCODINGS ? between(-7, 7)
                      : input == SCORES  ? random_score(d->scores)
                      : i % 4 < 2        ? between(0.05f, 0.95f)
                                         : between(0.05f, 0.4f);
        put(d, input, i, value);
    }
}

struct corners {
    double top, left, bottom, right;
};

static struct corners corners_of(const struct detector *d, const struct hl_detection_options *options, size_t i)
{
    size_t e = i * (size_t)d->columns;
    double h = get(d, ANCHORS, i * 4 + 2), w = get(d, ANCHORS, i * 4 + 3);
    double y = get(d, ENCODINGS, e) / (double)options->y_scale * h + get(d, ANCHORS, i * 4);
    double x = get(d, ENCODINGS, e + 1) / (double)options->x_scale * w + get(d, ANCHORS, i * 4 + 1);
    h *= 0.5 * exp(get(d, ENCODINGS, e + 2) / (double)options->h_scale);
    w *= 0.5 * exp(get(d, ENCODINGS, e + 3) / (double)options->w_scale);
    return (struct corners){y - h, x - w, y + h, x + w};
}

static double overlap_of(struct corners a, struct corners b)
{
    double h = fmax(fmin(a.bottom, b.bottom) - fmax(a.top, b.top), 0);
    double both = h * fmax(fmin(a.right, b.right) - fmax(a.left, b.left), 0);
    return both / ((a.bottom - a.top) * (a.right - a.left) + (b.bottom - b.top) * (b.right - b.left) - both);
}

// Whether rounding may decide about two boxes.
static bool is_close(const struct detector *d)
{
    const struct hl_detection_options options = hl_detection_options_of(d->map, d->node.option_bytes);
    size_t n = (size_t)d->boxes;
    struct corners *all = room(n * sizeof *all);
    bool close = false;
    for (size_t i = 0; i < n; i++) {
        all[i] = corners_of(d, &options, i);
        for (size_t j = 0; j < i && !close; j++)
            close = fabs(overlap_of(all[i], all[j]) - (double)options.overlap_threshold) < 2e-6;
    }
    free(all);
    return close;
}

// ---- running ------------------------------------------------------------------------------------

static TfLiteStatus run(struct session *session, const struct detector *d)
{
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(session->interpreter); i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(session->interpreter, i);
        assert_int_equal(TfLiteTensorCopyFromBuffer(tensor, d->data[i], TfLiteTensorByteSize(tensor)), kTfLiteOk);
    }
    return TfLiteInterpreterInvoke(session->interpreter);
}

static void begin_on(struct session *session, const struct detector *d, TfLiteDelegate *delegate)
{
    begin(session, &d->model);
    if (!delegate) return;
    assert_int_equal(apply(session, delegate), kTfLiteOk);
    if (delegated_nodes(session) != 1) fail_msg("the node stays on the CPU: %s", d->options);
}

static const float *found(const struct session *session, int output, size_t *count)
{
    const TfLiteTensor *tensor = TfLiteInterpreterGetOutputTensor(session->interpreter, output - FOUND_BOXES);
    if (count) *count = TfLiteTensorByteSize(tensor) / sizeof(float);
    return TfLiteTensorData(tensor);
}

static void compare(const struct session *cpu, const struct session *gpu, const char *name)
{
    for (int output = DETECTION_TENSORS - 1; output >= FOUND_BOXES; output--) {
        size_t count;
        const float *expected = found(cpu, output, &count), *result = found(gpu, output, NULL);
        for (size_t i = 0; i < count; i++) {
            // A center is up to 2 here, half a side 0.9: rounded a few times, and exp by (3 + 2 |x|) units.
            double bound = output == FOUND_BOXES ? 2e-6 * fmax(1, fabs((double)expected[i])) : 0;
            double off = fabs((double)result[i] - (double)expected[i]);
            bool same = result[i] == expected[i] || (isnan(result[i]) && isnan(expected[i])) || off <= bound;
            if (!same)
                fail_msg("%s, output %d, element %zu: %.9g, expected %.9g", name, output - FOUND_BOXES, i,
                         (double)result[i], (double)expected[i]);
        }
    }
}

// How many detectors a device gets: compilers take long.
static struct place {
    const char *device, *quantized;
    int detectors;
} places[] = {{"opencl", "float", 8}, {"vulkan", "float", 40}, {"gles", "float", 6},
              {"cuda", "float", 6},   {"vulkan", "exact", 16}, {"opencl", "exact", 3}};

static void detections_are_those_of_the_cpu(void **state)
{
    const struct place *place = *state;
    if (!has_device(place->device)) skip();
    for (int number = 0; number < place->detectors; number++) {
        struct detector *d = random_detector(number);
        if (d->constant_anchors) {
            draw(d, ANCHORS);
            d->tensors[ANCHORS].data = d->data[ANCHORS];
            d->tensors[ANCHORS].bytes = count_of(d, ANCHORS) * (d->bytes ? 1 : 4);
        }
        TfLiteDelegate *delegate = make((const char *[]){"device", place->device, "quantized",
                                                         d->constant_anchors ? place->quantized : "float", NULL});
        assert_non_null(delegate);
        struct session cpu, gpu;
        begin_on(&cpu, d, NULL);
        begin_on(&gpu, d, delegate);
        for (int round = 0; round < 4; round++) {
            int tries = 0;
            do {
                for (int i = 0; i < (d->constant_anchors ? ANCHORS : FOUND_BOXES); i++) draw(d, i);
                assert_true(++tries < 200);
            } while (is_close(d));
            assert_int_equal(run(&cpu, d), kTfLiteOk);
            assert_int_equal(run(&gpu, d), kTfLiteOk);
            char name[64];
            snprintf(name, sizeof name, "detector %d, round %d", number, round);
            compare(&cpu, &gpu, name);
        }
        end(&cpu);
        end(&gpu);
        tflite_plugin_destroy_delegate(delegate);
        free_detector(d);
        free(d);
    }
}

// ---- what is known without the CPU --------------------------------------------------------------

static struct detector *small_detector(bool bytes, const char *options)
{
    struct detector *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->boxes = d->columns = d->channels = 4;
    d->bytes = bytes;
    d->constant_anchors = true;
    snprintf(d->options, sizeof d->options, "y_scale=10 x_scale=10 h_scale=5 w_scale=5 num_classes=4 %s", options);
    finish_detector(d);
    for (size_t i = 0; i < 16; i++) {
        put(d, ENCODINGS, i, 0);
        put(d, SCORES, i, 0);
        put(d, ANCHORS, i, i % 4 == 0 ? (float)(i / 4) * 0.25f : i % 4 == 1 ? 0.5f : 0.25f);
    }
    d->tensors[ANCHORS].data = d->data[ANCHORS];
    d->tensors[ANCHORS].bytes = 16 * (bytes ? 1 : sizeof(float));
    return d;
}

// Four boxes side by side. The first has NaN as its first score and is left out; NaN elsewhere is no score.
static void numbers_that_are_none(void **state)
{
    const char *device = *state;
    if (device && !has_device(device)) skip();
    struct detector *d = small_detector(false, "max_detections=4 max_classes_per_detection=2 nms_iou_threshold=0.5 "
                                               "nms_score_threshold=0.25");
    static const float scores[16] = {NAN,  0.9f, 0.5f, 0.5f,     0.125f, 0.0625f, NAN, 0.75f,
                                     0.5f, NAN,  0.5f, INFINITY, 0.25f,  NAN,     NAN, -INFINITY};
    memcpy(d->data[SCORES], scores, sizeof scores);
    TfLiteDelegate *delegate = device ? make((const char *[]){"device", device, NULL}) : NULL;
    struct session session;
    begin_on(&session, d, delegate);
    assert_int_equal(run(&session, d), kTfLiteOk);
    static const float classes[8] = {3, 0, 3, 0, 0, 3}, best[8] = {INFINITY, 0.5f, 0.75f, 0.125f, 0.25f, -INFINITY};
    static const float tops[8] = {0.375f, 0.375f, 0.125f, 0.125f, 0.625f, 0.625f};
    assert_float_equal(found(&session, FOUND_COUNT, NULL)[0], 3, 0);
    for (int i = 0; i < 8; i++) {
        assert_float_equal(found(&session, FOUND_CLASSES, NULL)[i], classes[i], 0);
        assert_true(found(&session, FOUND_SCORES, NULL)[i] == best[i]);
        assert_float_equal(found(&session, FOUND_BOXES, NULL)[4 * i], tops[i], 0);
    }
    end(&session);
    if (delegate) tflite_plugin_destroy_delegate(delegate);
    free_detector(d);
    free(d);
}

// A plan has three steps, and one more where classes are merged; the outputs need none to leave the device.
static void few_dispatches(void **state)
{
    (void)state;
    for (int regular = 0; regular < 2; regular++) {
        struct detector *d = small_detector(false, regular ? "max_detections=4 max_classes_per_detection=1 "
                                                             "nms_iou_threshold=0.5 use_regular_nms=1"
                                                           : "max_detections=4 max_classes_per_detection=1 "
                                                             "nms_iou_threshold=0.5 use_regular_nms=0");
        TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
        struct session session;
        begin_on(&session, d, delegate);
        char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
        assert_non_null(text);
        assert_int_equal(sketch_dispatches(text, ""), 3 + regular);
        free(text);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        free_detector(d);
        free(d);
    }
}

// The host reads the count of floats, since a box may have no area, and leaves that of bytes on the device, unless an
// anchor is so small that bytes can make such a box.
static void boxes_without_an_area(void **state)
{
    const char *device = *state;
    if (!has_device(device)) skip();
    static const struct {
        bool bytes, flat, waits, fails;
    } rows[] = {{false, false, true, false},
                {false, true, true, true},
                {true, false, false, false},
                {true, true, true, true}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct detector *d = small_detector(rows[r].bytes, "max_detections=4 max_classes_per_detection=1 "
                                                           "nms_iou_threshold=0.5 nms_score_threshold=0.25");
        if (rows[r].flat) put(d, ANCHORS, 14, 0);
        TfLiteDelegate *delegate = make((const char *[]){"device", device, NULL});
        struct session session;
        begin_on(&session, d, delegate);
        TfLiteSetAllowBufferHandleOutput(session.interpreter, true);
        assert_int_equal(run(&session, d), rows[r].fails ? kTfLiteError : kTfLiteOk);
        assert_int_equal(strstr(session.messages.text, "box 3 has no area") != NULL, rows[r].fails);
        const TfLiteTensor *count = TfLiteInterpreterGetOutputTensor(session.interpreter, FOUND_COUNT - FOUND_BOXES);
        if (!rows[r].fails) assert_int_equal(count->data_is_stale, !rows[r].waits);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        free_detector(d);
        free(d);
    }
}

// What the kernels do not take stays on the CPU, with a reason.
static void beyond_the_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *options, *reason;
    } rows[] = {
        {"max_detections=501 max_classes_per_detection=1 nms_iou_threshold=0.5", "max_detections is 501"},
        {"max_detections=4 max_classes_per_detection=1 nms_iou_threshold=0.5 y_scale=0", NULL},
        {"max_detections=500 max_classes_per_detection=3 nms_iou_threshold=0.5", NULL},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct detector *d = small_detector(false, rows[r].options);
        struct session session;
        begin(&session, &d->model);
        TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
        const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, 0);
        assert_int_equal(node->on_gpu, rows[r].reason == NULL);
        if (rows[r].reason) assert_non_null(strstr(node->text, rows[r].reason));
        HaliteDelegateReportDelete(report);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        free_detector(d);
        free(d);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        {"detections_are_those_of_the_cpu opencl", detections_are_those_of_the_cpu, NULL, NULL, &places[0]},
        {"detections_are_those_of_the_cpu vulkan", detections_are_those_of_the_cpu, NULL, NULL, &places[1]},
        {"detections_are_those_of_the_cpu gles", detections_are_those_of_the_cpu, NULL, NULL, &places[2]},
        {"detections_are_those_of_the_cpu cuda", detections_are_those_of_the_cpu, NULL, NULL, &places[3]},
        {"detections_are_those_of_the_cpu vulkan, exact", detections_are_those_of_the_cpu, NULL, NULL, &places[4]},
        {"detections_are_those_of_the_cpu opencl, exact", detections_are_those_of_the_cpu, NULL, NULL, &places[5]},
        {"numbers_that_are_none cpu", numbers_that_are_none, NULL, NULL, NULL},
        {"numbers_that_are_none opencl", numbers_that_are_none, NULL, NULL, "opencl"},
        {"numbers_that_are_none vulkan", numbers_that_are_none, NULL, NULL, "vulkan"},
        {"numbers_that_are_none gles", numbers_that_are_none, NULL, NULL, "gles"},
        {"numbers_that_are_none cuda", numbers_that_are_none, NULL, NULL, "cuda"},
        cmocka_unit_test(few_dispatches),
        {"boxes_without_an_area opencl", boxes_without_an_area, NULL, NULL, "opencl"},
        {"boxes_without_an_area vulkan", boxes_without_an_area, NULL, NULL, "vulkan"},
        cmocka_unit_test(beyond_the_kernels),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
