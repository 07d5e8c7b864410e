// SPDX-License-Identifier: Apache-2.0
// Values to which a PAD adds channels of zeros before they are added to others (graph/fuse.c): no dispatch where the
// sum alone reads them, and each device that is here gives the CPU's elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler { RIGHT, SHARED, BEFORE, OUTPUT, OTHER, SPOILERS };
static const char *const spoilers[] = {"right", "two nodes read what is padded", "zeros come before the channels",
                                       "what is padded is an output", "no convolution makes the other value"};

static int add_pad(struct sketch *sketch, int x, int channels, bool before)
{
    int dims[4];
    memcpy(dims, sketch->tensors[x].dims, sizeof dims);
    const int more = channels - dims[3];
    dims[3] = channels;
    const int y = sketch_tensor(sketch, TEST_FLOAT32, 4, dims),
              paddings = sketch_tensor(sketch, TEST_INT32, 2, (int[]){4, 2});
    int32_t *data = calloc(8, sizeof *data);
    assert_non_null(data);
    data[before ? 6 : 7] = more;
    sketch->owned[paddings] = data;
    sketch->tensors[paddings].data = data;
    sketch->tensors[paddings].bytes = 8 * sizeof *data;
    sketch_node(sketch, kTfLiteBuiltinPad, 2, (int[]){x, paddings}, y);
    return y;
}

static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int sums[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinAdd, kTfLiteBuiltinMul, kTfLiteBuiltinSub};
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 193 + (uint32_t)spoiler + 7;
    for (int i = 0; i < 8; i++) pick(2);
    const int few = 1 + pick(25), channels = few + 1 + pick(25), taps = pick(3) ? 1 : 3;
    const int dims[4] = {1 + pick(3), taps + pick(12), taps + pick(12), few};
    const int sizes[4] = {dims[0], dims[1], dims[2], channels};
    const int x = sketch_one(sketch, kTfLiteBuiltinRelu, sketch_input(sketch, 4, dims));
    const int weights = sketch_constant(sketch, 4, (int[]){channels, taps, taps, few}, -0.3f, 0.3f);
    const int bias = sketch_constant(sketch, 1, &channels, -0.5f, 0.5f);
    const bool first = pick(2);
    int padded = first ? add_pad(sketch, x, channels, spoiler == BEFORE) : 0;
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, sizes);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinConv2d, 3, (int[]){x, weights, bias}, y);
    node->settings[0] = (struct test_setting){.field = HL_Conv2DOptions_stride_w, .value = 1};
    node->settings[1] = (struct test_setting){.field = HL_Conv2DOptions_stride_h, .value = 1};
    if (spoiler == OTHER) y = sketch_softmax(sketch, y, 1);
    if (pick(3) == 0) y = sketch_one(sketch, kTfLiteBuiltinTanh, y);
    if (!first) padded = add_pad(sketch, x, channels, spoiler == BEFORE);
    y = sketch_in_any_order(sketch, sums[pick(4)], y, padded);
    if (pick(2)) y = sketch_one(sketch, kTfLiteBuiltinRelu, y);
    if (spoiler == SHARED) sketch_output(sketch, sketch_softmax(sketch, padded, 1));
    if (spoiler == OUTPUT) sketch_output(sketch, padded);
    sketch_output(sketch, y);
}

static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 2,   .bound = 2e-5f, .bound_in_halves = 8e-3f};

static void no_dispatch_where_none_is_needed(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, 40, "affine", false);
}

static struct sketch_place places[] = SKETCH_PLACES(graphs, 6, 30, 1);

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_dispatch_where_none_is_needed),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
