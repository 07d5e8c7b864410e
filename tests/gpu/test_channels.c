// SPDX-License-Identifier: Apache-2.0
// Sums, products and slopes of one number for each channel, behind every kind of node that can have stages. They are no
// dispatches of their own, alone and beside a value that is added, and each device that is here gives the CPU's
// elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum maker {
    POINTS,
    WINDOWS,
    DEPTHWISE,
    UPSAMPLED,
    DENSE,
    BY_VALUE,
    POOLED,
    ADDED,
    JOINED,
    RESIZED,
    MEAN,
    ROWS,
    MAKERS
};
static const char *const spoilers[] = {"right"};

static int random_like(struct sketch *sketch, int rank, const int *dims)
{
    return sketch_constant(sketch, rank, dims, -0.5f, 0.5f);
}

static void set(struct sketch *sketch, struct test_setting first, struct test_setting second, struct test_setting third)
{
    struct test_node *node = &sketch->nodes[sketch->node_count - 1];
    node->settings[0] = first, node->settings[1] = second, node->settings[2] = third;
}

// A node of the kind, from an input [b, h, w, c]; returns its output.
static int make_node(struct sketch *sketch, enum maker maker, const int dims[4], int outputs)
{
    const int b = dims[0], h = dims[1], w = dims[2], c = dims[3], taps = maker == WINDOWS ? 3 : 1;
    int x = sketch_input(sketch, maker == DENSE || maker == BY_VALUE ? 2 : 4,
                         maker == DENSE || maker == BY_VALUE ? (int[]){b * h, c} : dims);
    int y;
    switch (maker) {
    case POINTS:
    case WINDOWS:
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){b, h, w, outputs});
        sketch_node(sketch, kTfLiteBuiltinConv2d, 3,
                    (int[]){x, random_like(sketch, 4, (int[]){outputs, taps, taps, c}),
                            random_like(sketch, 1, &outputs)},
                    y);
        set(sketch, (struct test_setting)TEST_SET(Conv2DOptions, stride_w, 1),
            (struct test_setting)TEST_SET(Conv2DOptions, stride_h, 1),
            (struct test_setting)TEST_SET(Conv2DOptions, padding, 0));
        return y;
    case DEPTHWISE:
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, dims);
        sketch_node(sketch, kTfLiteBuiltinDepthwiseConv2d, 3,
                    (int[]){x, random_like(sketch, 4, (int[]){1, 3, 3, c}), random_like(sketch, 1, &c)}, y);
        set(sketch, (struct test_setting)TEST_SET(DepthwiseConv2DOptions, stride_w, 1),
            (struct test_setting)TEST_SET(DepthwiseConv2DOptions, stride_h, 1),
            (struct test_setting)TEST_SET(DepthwiseConv2DOptions, depth_multiplier, 1));
        return y;
    case UPSAMPLED: {
        const int size[] = {b, 2 * h, 2 * w, outputs};
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, size);
        sketch_node(sketch, kTfLiteBuiltinTransposeConv, 3,
                    (int[]){sketch_ints(sketch, 4, size), random_like(sketch, 4, (int[]){outputs, 2, 2, c}), x}, y);
        set(sketch, (struct test_setting)TEST_SET(TransposeConvOptions, stride_w, 2),
            (struct test_setting)TEST_SET(TransposeConvOptions, stride_h, 2),
            (struct test_setting)TEST_SET(TransposeConvOptions, padding, 1));
        return y;
    }
    case DENSE:
    case BY_VALUE:
        y = sketch_tensor(sketch, TEST_FLOAT32, 2, (int[]){b * h, outputs});
        sketch_node(sketch, kTfLiteBuiltinFullyConnected, 2,
                    (int[]){x, maker == DENSE ? random_like(sketch, 2, (int[]){outputs, c})
                                              : sketch_input(sketch, 2, (int[]){outputs, c})},
                    y);
        return y;
    case POOLED:
        y = sketch_one(sketch, kTfLiteBuiltinMaxPool2d, x);
        struct test_node *pool = &sketch->nodes[sketch->node_count - 1];
        const struct test_setting settings[] = {TEST_SET(Pool2DOptions, stride_w, 1),
                                                TEST_SET(Pool2DOptions, stride_h, 1),
                                                TEST_SET(Pool2DOptions, filter_width, 2),
                                                TEST_SET(Pool2DOptions, filter_height, 2)};
        memcpy(pool->settings, settings, sizeof settings);
        return y;
    case ADDED: return sketch_two(sketch, kTfLiteBuiltinAdd, x, sketch_input(sketch, 4, dims));
    case JOINED:
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){b, h, w, c + outputs});
        sketch_node(sketch, kTfLiteBuiltinConcatenation, 2,
                    (int[]){x, sketch_input(sketch, 4, (int[]){b, h, w, outputs})}, y);
        sketch->nodes[sketch->node_count - 1].settings[0] =
            (struct test_setting)TEST_SET(ConcatenationOptions, axis, 3);
        return y;
    case RESIZED:
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){b, h + 3, 2 * w, c});
        sketch_node(sketch, kTfLiteBuiltinResizeBilinear, 2, (int[]){x, sketch_ints(sketch, 2, (int[]){h + 3, 2 * w})},
                    y);
        return y;
    case MEAN:
        y = sketch_tensor(sketch, TEST_FLOAT32, 4, (int[]){b, 1, 1, c});
        sketch_node(sketch, kTfLiteBuiltinMean, 2, (int[]){x, sketch_ints(sketch, 2, (int[]){1, 2})}, y)->settings[0] =
            (struct test_setting)TEST_SET(ReducerOptions, keep_dims, 1);
        return y;
    default: return sketch_softmax(sketch, x, 1);
    }
}

static bool is_weighted(enum maker maker)
{
    return maker <= DENSE;
}

// A node and up to three others behind it, which one dispatch can do. The last number says what the first node is.
static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int builtins[] = {kTfLiteBuiltinPrelu, kTfLiteBuiltinPrelu, kTfLiteBuiltinAdd, kTfLiteBuiltinMul,
                                   kTfLiteBuiltinSub};
    const enum maker maker = (enum maker)(number % MAKERS);
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 577 + (uint32_t)spoiler + 11;
    for (int i = 0; i < 8; i++) pick(2);
    const int dims[4] = {1 + pick(2), 2 + pick(5), 2 + pick(6), 1 + pick(number % 5 == 0 ? 70 : 13)};
    int y = make_node(sketch, maker, dims, 1 + pick(number % 7 == 0 ? 66 : 9));
    bool added = false, by_channel = false;
    for (int n = 1 + pick(3); n > 0; n--) {
        const struct test_tensor *tensor = &sketch->tensors[y];
        int own[4], builtin = builtins[pick(5)], c = tensor->dims[tensor->rank - 1];
        memcpy(own, tensor->dims, sizeof own);
        const int rank = tensor->rank, ones[] = {1, 1, c};
        const bool may_add = !added && (is_weighted(maker) || !by_channel);
        if (may_add && pick(3) == 0) {
            added = true;
            y = sketch_in_any_order(sketch, pick(2) ? kTfLiteBuiltinAdd : kTfLiteBuiltinMul, y,
                                    sketch_input(sketch, rank, own));
        } else if (pick(4) == 0 || (added && !is_weighted(maker))) {
            y = sketch_one(sketch, pick(2) ? kTfLiteBuiltinRelu : kTfLiteBuiltinTanh, y);
        } else {
            by_channel = true;
            const bool slope = builtin == kTfLiteBuiltinPrelu;
            const int numbers = slope && rank == 4 ? random_like(sketch, 3, ones) : random_like(sketch, 1, &c);
            y = sketch_two(sketch, builtin, y, pick(5) ? numbers : sketch_number(sketch, 0.25f));
        }
    }
    sketch_output(sketch, y);
}

static void no_dispatches(void **state)
{
    (void)state;
    int asked = 0;
    for (int number = 0; number < 40 * MAKERS; number++) {
        struct sketch sketch;
        random_graph(&sketch, number, 0);
        const int first = number % MAKERS == ADDED;
        const int found = sketch_count(&sketch, "binary", NULL) + sketch_count(&sketch, "stages", NULL);
        if (found != first)
            fail_msg("graph %d: %d of its %d nodes are dispatches of their own", number, found - first,
                     sketch.node_count - 1);
        asked += sketch.node_count - 1;
        sketch_free(&sketch);
    }
    assert_true(asked > 600);
}

static const struct sketch_graphs graphs = {random_graph, spoilers,       1,
                                            .scale = 1,   .bound = 1e-5f, .bound_in_halves = 8e-3f};
static struct sketch_place places[] = SKETCH_PLACES(graphs, 2 * MAKERS, 8 * MAKERS, 0);

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_dispatches),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
