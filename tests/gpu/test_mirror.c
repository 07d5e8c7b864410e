// SPDX-License-Identifier: Apache-2.0
// MIRROR_PAD in front of a convolution, with random windows and sizes: the convolution reads the mirrored rows and
// columns itself, unless it cannot, and then the plan has a dispatch for them. Each device that is here computes what
// the CPU does. (Products on matrix units: test_matrix.)
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler {
    NOTHING,
    REPEATS_BORDER,
    IS_OUTPUT,
    IS_READ,
    PADS_CHANNELS,
    CONVOLUTION_PADS,
    DEPTHWISE,
    ZEROS_ABOVE,
    ZEROS_BELOW,
    SPOILERS
};
static const char *const spoilers[SPOILERS] = {
    "nothing",
    "the border is repeated",
    "the padded value is an output",
    "the padded value is read by others",
    "channels are padded",
    "the convolution pads, too",
    "the convolution is depthwise",
    "zeros above what is padded",
    "zeros below it",
};

enum { REFLECT, SYMMETRIC }; // of the schema's MirrorPadMode
enum { SAME, VALID };        // of its Padding

// A window along one axis, and what it makes of x.
struct window {
    int taps, step, dilation, before, after, padded, outputs;
};

static struct window random_window(int x, bool same)
{
    struct window w = {.taps = 1 + pick(5), .step = 1 + pick(2), .dilation = 1 + pick(2)};
    if (pick(5) == 0) w.taps = 9;
    const int most = x - 1 < 5 ? x - 1 : 5, span = (w.taps - 1) * w.dilation + 1;
    w.before = pick(most + 1);
    w.after = w.before > 0 ? pick(most + 1) : most;
    if (x + w.before + w.after < span) w = (struct window){1, 1, 1, most, most, 0, 0};
    w.padded = x + w.before + w.after;
    w.outputs = same ? (w.padded + w.step - 1) / w.step : (w.padded - ((w.taps - 1) * w.dilation + 1)) / w.step + 1;
    return w;
}

static int add_pairs(struct sketch *sketch, const int around[8])
{
    int pairs = sketch_ints(sketch, 8, around);
    sketch->tensors[pairs].rank = 2;
    sketch->tensors[pairs].dims[0] = 4;
    sketch->tensors[pairs].dims[1] = 2;
    return pairs;
}

static int add_zeros(struct sketch *sketch, int x, bool above)
{
    int dims[4], pairs = add_pairs(sketch, (int[]){0, 0, above, !above, 0, 0, 0, 0});
    memcpy(dims, sketch->tensors[x].dims, sizeof dims);
    dims[1]++;
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, dims);
    sketch_node(sketch, kTfLiteBuiltinPad, 2, (int[]){x, pairs}, y);
    return y;
}

static int add_pad(struct sketch *sketch, int x, const struct window *h, const struct window *w, enum spoiler spoiler)
{
    const int *own = sketch->tensors[x].dims;
    int around[] = {0, 0, h->before, h->after, w->before, w->after, 0, spoiler == PADS_CHANNELS};
    int dims[] = {own[0], h->padded, w->padded, own[3] + around[7]};
    int pairs = add_pairs(sketch, around);
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, dims);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinMirrorPad, 2, (int[]){x, pairs}, y);
    node->settings[0] = (struct test_setting){.field = HL_MirrorPadOptions_mode,
                                              .value = spoiler == REPEATS_BORDER ? SYMMETRIC : REFLECT};
    return y;
}

#define SET(i, options_, field_, value_)                     \
    node->settings[i] = (struct test_setting)                \
    {                                                        \
        .field = HL_##options_##_##field_, .value = (value_) \
    }

static int add_convolution(struct sketch *sketch, int x, const struct window *h, const struct window *w, int outputs,
                           enum spoiler spoiler)
{
    const int batch = sketch->tensors[x].dims[0], inputs = sketch->tensors[x].dims[3];
    const bool depthwise = spoiler == DEPTHWISE;
    const int padding = spoiler == CONVOLUTION_PADS ? SAME : VALID;
    if (depthwise) outputs = inputs;
    int weights = sketch_constant(sketch, 4, (int[]){depthwise ? 1 : outputs, h->taps, w->taps, inputs}, -0.5f, 0.5f);
    int bias = sketch_constant(sketch, 1, &outputs, -0.5f, 0.5f);
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){batch, h->outputs, w->outputs, outputs});
    struct test_node *node = sketch_node(sketch, depthwise ? kTfLiteBuiltinDepthwiseConv2d : kTfLiteBuiltinConv2d, 3,
                                         (int[]){x, weights, bias}, y);
    if (depthwise) {
        SET(0, DepthwiseConv2DOptions, padding, padding);
        SET(1, DepthwiseConv2DOptions, stride_h, h->step);
        SET(2, DepthwiseConv2DOptions, stride_w, w->step);
        SET(3, DepthwiseConv2DOptions, dilation_h_factor, h->dilation);
        SET(4, DepthwiseConv2DOptions, dilation_w_factor, w->dilation);
        SET(5, DepthwiseConv2DOptions, depth_multiplier, 1);
    } else {
        SET(0, Conv2DOptions, padding, padding);
        SET(1, Conv2DOptions, stride_h, h->step);
        SET(2, Conv2DOptions, stride_w, w->step);
        SET(3, Conv2DOptions, dilation_h_factor, h->dilation);
        SET(4, Conv2DOptions, dilation_w_factor, w->dilation);
    }
    return y;
}

// x, perhaps computed, its padding, and the convolution.
static void make_graph(struct sketch *sketch, const int *dims, int outputs, const struct window *h,
                       const struct window *w, enum spoiler spoiler)
{
    int x = sketch_input(sketch, 4, dims);
    if (pick(2)) x = sketch_one(sketch, kTfLiteBuiltinTanh, x);
    int padded = add_pad(sketch, x, h, w, spoiler);
    if (spoiler == IS_OUTPUT) sketch_output(sketch, padded);
    if (spoiler == IS_READ) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinExp, padded));
    struct window own = *h;
    if (spoiler == ZEROS_ABOVE || spoiler == ZEROS_BELOW) {
        padded = add_zeros(sketch, padded, spoiler == ZEROS_ABOVE);
        own.step = 1; // so that the last position reads the last row
        own.outputs = own.padded + 1 - (own.taps - 1) * own.dilation;
    }
    sketch_output(sketch, add_convolution(sketch, padded, &own, w, outputs, spoiler));
}

static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int channels[] = {1, 3, 3, 4, 5, 8, 13, 32};
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)(number * 64 + spoiler);
    for (int i = 0; i < 8; i++) pick(2);
    int dims[4] = {1 + pick(2), 2 + pick(12), 2 + pick(14), channels[pick(8)]};
    if (spoiler == PADS_CHANNELS) dims[3]++; // one channel mirrors nothing
    struct window h = random_window(dims[1], spoiler == CONVOLUTION_PADS);
    struct window w = random_window(dims[2], spoiler == CONVOLUTION_PADS);
    make_graph(sketch, dims, 1 + pick(20), &h, &w, (enum spoiler)spoiler);
}

enum { GRAPHS = 60 };

// Sums of up to 81 taps of 33 channels, of numbers up to 1 and 0.5.
static const struct sketch_graphs graphs = {random_graph, spoilers, SPOILERS, .scale = 2, .bound = 1e-4f};

static void no_dispatch_of_its_own(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, GRAPHS, "affine", false);
}

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 16, 1},
    {&graphs, "vulkan", "f32", 24, 1},
    {&graphs, "gles", "f32", 4, 0},
    {&graphs, "cuda", "f32", 4, 0},
};

// One of Winograd's convolutions, whose last tiles are over the edge.
static void in_tiles(void **state)
{
    const struct window window = {
        .taps = 3, .step = 1, .dilation = 1, .before = 1, .after = 1, .padded = 93, .outputs = 91};
    struct sketch sketch;
    memset(&sketch, 0, sizeof sketch);
    seed = 3;
    make_graph(&sketch, (int[]){1, 91, 91, 64}, 64, &window, &window, NOTHING);
    assert_int_equal(sketch_count(&sketch, "affine", NULL), 0);
    assert_int_equal(sketch_count(&sketch, "winograd_in", NULL), 1);
    if (has_device(*state)) sketch_compare(&sketch, *state, "f32", 2, 2e-4f, "in tiles");
    sketch_free(&sketch);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_dispatch_of_its_own),
        SKETCH_ROWS(places),
        {"in_tiles vulkan", in_tiles, NULL, NULL, "vulkan"},
        {"in_tiles cuda", in_tiles, NULL, NULL, "cuda"},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
