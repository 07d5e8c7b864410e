// SPDX-License-Identifier: Apache-2.0
// Series, [batch, time, 1, channels] and [batch, 1, time, channels]. Pools: each value is the largest, the mean or the
// root of the mean of squares of its window, as plain loops over it find it, with one thread and with several.
// RESIZE_NEAREST_NEIGHBOR: each value is that of the time it stands for.
#include "both_kernels.h"

#include <math.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { MOST = 1 << 14, SERIES = 400, SAME = 0, VALID = 1 };

static struct series {
    int batches, time, channels, filter, stride, padding, out, before;
    int32_t builtin;
    bool is_column, is_stored; // stored: int8
    union {
        float f32[MOST];
        int8_t i8[MOST];
    } x;
} s;

static void make_series(void)
{
    static const int32_t builtins[] = {kTfLiteBuiltinMaxPool2d, kTfLiteBuiltinAveragePool2d, kTfLiteBuiltinL2Pool2d};
    s.batches = 1 + pick(2), s.channels = 1 + pick(pick(2) ? 70 : 6), s.time = 1 + pick(pick(3) ? 60 : 110);
    s.padding = pick(2), s.filter = 1 + pick(5), s.stride = 1 + pick(4);
    if (s.padding == VALID && s.filter > s.time) s.filter = s.time;
    s.builtin = builtins[pick(3)], s.is_column = pick(3) > 0;
    s.is_stored = s.builtin != kTfLiteBuiltinL2Pool2d && pick(2);
    const int last = s.padding == SAME ? (s.time + s.stride - 1) / s.stride : (s.time - s.filter) / s.stride + 1;
    const int around = (last - 1) * s.stride + s.filter - s.time;
    s.out = last, s.before = s.padding == SAME && around > 0 ? around / 2 : 0;
    for (int i = 0; i < s.batches * s.time * s.channels; i++)
        if (s.is_stored)
            s.x.i8[i] = (int8_t)(pick(256) - 128);
        else
            s.x.f32[i] = (float)(pick(2001) - 1000) / 250;
}

// What the pool makes of window number `at`.
static double value_of(int batch, int at, int channel)
{
    int count = 0;
    double most = -INFINITY, sum = 0, squares = 0;
    for (int k = 0; k < s.filter; k++) {
        const int time = at * s.stride - s.before + k;
        if (time < 0 || time >= s.time) continue;
        const int i = (batch * s.time + time) * s.channels + channel;
        const double x = s.is_stored ? s.x.i8[i] : s.x.f32[i];
        most = fmax(most, x), sum += x, squares += x * x, count++;
    }
    if (s.builtin == kTfLiteBuiltinMaxPool2d) return most;
    if (s.builtin == kTfLiteBuiltinL2Pool2d) return sqrt(squares / count);
    return s.is_stored ? round(sum / count) : sum / count; // half away from zero
}

static void check(const void *y)
{
    for (int b = 0, i = 0; b < s.batches; b++)
        for (int at = 0; at < s.out; at++)
            for (int c = 0; c < s.channels; c++, i++) {
                const double expected = value_of(b, at, c);
                const double got = s.is_stored ? ((const int8_t *)y)[i] : ((const float *)y)[i];
                if (!(fabs(got - expected) <= (s.is_stored ? 0 : 1e-5)))
                    fail_msg("operator %d, %s, time %d, filter %d, stride %d: value %d is %g, not %g", s.builtin,
                             s.is_column ? "column" : "row", s.time, s.filter, s.stride, i, got, expected);
            }
}

// *file: the model's bytes, to be freed after it.
static TfLiteModel *load(const struct test_model *written, unsigned char **file)
{
    size_t size;
    *file = test_model_write(written, &size);
    TfLiteModel *model = TfLiteModelCreate(*file, size);
    assert_non_null(model);
    return model;
}

static void check_with(const TfLiteModel *model, int threads)
{
    size_t bytes, kept;
    void *const values[] = {&s.x};
    void *y = run(model, kHaliteKernelsFast, threads, 0, values, &bytes, &kept);
    assert_int_equal(bytes, (size_t)(s.batches * s.out * s.channels) * (s.is_stored ? 1 : sizeof(float)));
    check(y);
    free(y);
}

static void pools_of_series(void **state)
{
    (void)state;
    for (int i = 0; i < SERIES; i++) {
        make_series();
        struct test_tensor tensors[2] = {{.name = "x", .rank = 4}, {.name = "y", .rank = 4}};
        for (int t = 0; t < 2; t++) {
            const int time = t == 0 ? s.time : s.out;
            const int dims[4] = {s.batches, s.is_column ? time : 1, s.is_column ? 1 : time, s.channels};
            memcpy(tensors[t].dims, dims, sizeof dims);
            tensors[t].type = s.is_stored ? TEST_INT8 : TEST_FLOAT32;
            if (s.is_stored) tensors[t].scale = 0.05f, tensors[t].zero_point = -7;
        }
        struct test_node node = {.builtin = s.builtin,
                                 .version = s.is_stored ? 2 : 1,
                                 TEST_INPUTS(0),
                                 TEST_OUTPUTS(1),
                                 .settings = {TEST_SET(Pool2DOptions, padding, s.padding)}};
        set_option(&node, HL_Pool2DOptions_stride_h, s.is_column ? s.stride : 1);
        set_option(&node, HL_Pool2DOptions_stride_w, s.is_column ? 1 : s.stride);
        set_option(&node, HL_Pool2DOptions_filter_height, s.is_column ? s.filter : 1);
        set_option(&node, HL_Pool2DOptions_filter_width, s.is_column ? 1 : s.filter);
        const struct test_model written = {TEST_TENSORS(tensors), .node_count = 1, .nodes = &node, TEST_INPUTS(0),
                                           TEST_OUTPUTS(1)};
        unsigned char *file;
        TfLiteModel *model = load(&written, &file);
        check_with(model, 1);
        check_with(model, 3);
        TfLiteModelDelete(model);
        free(file);
    }
}

static void neighbors_in_series(void **state)
{
    (void)state;
    for (int i = 0; i < SERIES; i++) {
        make_series();
        const int32_t out = 1 + pick(200), sizes[2] = {s.is_column ? out : 1, s.is_column ? 1 : out};
        const int before[4] = {s.batches, s.is_column ? s.time : 1, s.is_column ? 1 : s.time, s.channels};
        struct test_tensor tensors[3] = {
            {.name = "x", .rank = 4},
            {.name = "size", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = sizes, .bytes = sizeof sizes},
            {.name = "y", .rank = 4, .dims = {s.batches, sizes[0], sizes[1], s.channels}}};
        memcpy(tensors[0].dims, before, sizeof before);
        struct test_node node = {.builtin = kTfLiteBuiltinResizeNearestNeighbor,
                                 .version = 2,
                                 TEST_INPUTS(0, 1),
                                 TEST_OUTPUTS(2)};
        set_option(&node, HL_ResizeNearestNeighborOptions_align_corners, 0);
        const struct test_model written = {TEST_TENSORS(tensors), .node_count = 1, .nodes = &node, TEST_INPUTS(0),
                                           TEST_OUTPUTS(2)};
        size_t bytes, kept;
        unsigned char *file;
        TfLiteModel *model = load(&written, &file);
        void *const values[] = {&s.x};
        float *y = run(model, kHaliteKernelsFast, 1, 0, values, &bytes, &kept);
        assert_int_equal(bytes, (size_t)(s.batches * out * s.channels) * sizeof *y);
        for (int b = 0; b < s.batches; b++)
            for (int at = 0; at < out; at++) {
                const int floor_of = (int)((float)at * ((float)s.time / (float)out));
                const int from = floor_of < s.time ? floor_of : s.time - 1;
                assert_memory_equal(y + (ptrdiff_t)(b * out + at) * s.channels,
                                    s.x.f32 + (ptrdiff_t)(b * s.time + from) * s.channels,
                                    (size_t)s.channels * sizeof *y);
            }
        free(y);
        TfLiteModelDelete(model);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pools_of_series), cmocka_unit_test(neighbors_in_series)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
