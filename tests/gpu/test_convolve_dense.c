// SPDX-License-Identifier: Apache-2.0
// Convolutions that read an input of the graph as the caller has it (ops/convolve_dense.c), with up to two stages of
// operators in front of them: one dispatch and no copy where they alone read it, and each device that is here gives the
// CPU's elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler { RIGHT, SHARED, CHANNELS, DILATED, WIDE, ONE_TAP, FAR, INSIDE, STAGES, NUMBERS, SEEN, SPOILERS };
static const char *const spoilers[] = {"right",
                                       "the input has two readers",
                                       "the input has five channels",
                                       "the taps are apart",
                                       "taps are nine wide",
                                       "the window has one position",
                                       "positions are far apart",
                                       "the input is no input of the graph",
                                       "three stages are in front",
                                       "a stage in front has a number for each channel",
                                       "the value between is an output"};

static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 353 + (uint32_t)spoiler + 5;
    for (int i = 0; i < 8; i++) pick(2);
    const int channels = spoiler == CHANNELS  ? 5
                         : spoiler == NUMBERS ? 3
                                              : 1 + pick(3),
              outputs = 1 + pick(number % 3 ? 20 : 80);
    const int step = spoiler == DILATED ? 2 : 1, stride_h = 1 + pick(3), few = 1 + pick(3);
    const int stride_w = spoiler == FAR ? 1 << 30 : spoiler == DILATED ? 1 : few;
    int kernel_w = 1 + pick(7), kernel_h = 1 + pick(7);
    if (kernel_w * kernel_h == 1 || spoiler == DILATED) kernel_w = 3;
    if (spoiler == WIDE) kernel_w = 9;
    if (spoiler == ONE_TAP) kernel_w = kernel_h = 1;
    const bool same = pick(2), wide = pick(3) == 0;
    const int dims[4] = {1 + pick(3), kernel_h + pick(30), step * kernel_w + pick(wide ? 150 : 30), channels};
    const int covered_w = same ? 1 : (kernel_w - 1) * step + 1, covered_h = same ? 1 : kernel_h;
    const int sizes[4] = {dims[0], (dims[1] - covered_h) / stride_h + 1, (dims[2] - covered_w) / stride_w + 1, outputs};

    const int x = sketch_input(sketch, 4, dims);
    int from = spoiler == INSIDE ? sketch_one(sketch, kTfLiteBuiltinSin, x) : x;
    const int in_front = spoiler == STAGES ? 3 : spoiler == SEEN ? 1 + pick(2) : spoiler == RIGHT ? pick(3) : 0;
    if (in_front == 3) from = sketch_one(sketch, kTfLiteBuiltinRelu, from);
    if (in_front > 0) from = sketch_two(sketch, kTfLiteBuiltinMul, from, sketch_number(sketch, 0.75f));
    if (in_front > 1) from = sketch_two(sketch, kTfLiteBuiltinAdd, from, sketch_number(sketch, -0.25f));
    if (spoiler == NUMBERS)
        from = sketch_two(sketch, kTfLiteBuiltinAdd, from, sketch_constant(sketch, 1, &channels, -1, 1));
    if (spoiler == SEEN) sketch_output(sketch, from);
    const int weights = sketch_constant(sketch, 4, (int[]){outputs, kernel_h, kernel_w, channels}, -0.3f, 0.3f);
    const int bias = sketch_constant(sketch, 1, &outputs, -0.5f, 0.5f);
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, sizes);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinConv2d, 3, (int[]){from, weights, bias}, y);
    const struct test_setting settings[] = {TEST_SET(Conv2DOptions, stride_w, stride_w),
                                            TEST_SET(Conv2DOptions, stride_h, stride_h),
                                            TEST_SET(Conv2DOptions, padding, !same),
                                            TEST_SET(Conv2DOptions, dilation_w_factor, step)};
    memcpy(node->settings, settings, sizeof settings);
    if (pick(2)) y = sketch_one(sketch, kTfLiteBuiltinRelu6, y);
    if (pick(3) == 0) y = sketch_two(sketch, kTfLiteBuiltinAdd, y, sketch_input(sketch, 4, sizes));
    if (spoiler == SHARED) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinAbs, x));
    sketch_output(sketch, y);
}

static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 2,   .bound = 2e-5f, .bound_in_halves = 8e-3f};

static void one_dispatch_where_it_can_be(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, 60, "convolve_dense", true);
}

static void stages_in_front_need_no_dispatch(void **state)
{
    (void)state;
    for (int number = 0; number < 60; number++) {
        struct sketch sketch;
        random_graph(&sketch, number, RIGHT);
        int all, copies = sketch_count(&sketch, "from_dense", &all), others = sketch.input_count - 1;
        if (copies > others || all > 2 + copies)
            fail_msg("graph %d: %d dispatches, %d of them copies of inputs", number, all, copies);
        sketch_free(&sketch);
    }
}

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 12, 0}, {&graphs, "vulkan", "f32", 40, 1},  {&graphs, "gles", "f32", 10, 0},
    {&graphs, "cuda", "f32", 12, 0},   {&graphs, "vulkan", "f16s", 10, 0}, {&graphs, "vulkan", "f16", 10, 0},
};

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_dispatch_where_it_can_be),
        cmocka_unit_test(stages_in_front_need_no_dispatch),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
