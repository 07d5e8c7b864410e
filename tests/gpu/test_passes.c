// SPDX-License-Identifier: Apache-2.0
// Passes over small graphs: what each takes away, and what it must leave: values that others read, outputs of the
// graph, other shapes, rounding of 8-bit models in between. Padding has tests of its own (test_padding.c).
#include <math.h>

#include "gpu/graph/quantize.h"
#include "gpu/small_graphs.h"

static const struct gpu_shape row = {1, 1, 1, 128};

// ---- remove_identity ----------------------------------------------------------------------------

static void test_identity(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin();
    struct gpu_value *x = NODE(graph, Tanh, image, add_input(graph, image));
    ends(NODE(graph, Exp, image, NODE(graph, Reshape, image, x)));
    expect(graph, gpu_pass_remove_identity, true,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nEXP v1[1,4,4,8] -> out3[1,4,4,8]\n");

    graph = begin(); // a resize to the same size, read twice
    x = NODE(graph, Tanh, image, add_input(graph, image));
    x = NODE(graph, ResizeBilinear, image, x, add_constant(graph, (struct gpu_shape){1, 1, 1, 2}, NULL));
    ends(NODE(graph, Exp, image, x));
    ends(NODE(graph, Neg, image, x));
    expect(graph, gpu_pass_remove_identity, true,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nEXP v1[1,4,4,8] -> out4[1,4,4,8]\nNEG v1[1,4,4,8] -> out5[1,4,4,8]\n");
}

static void test_identity_at_an_end(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin(); // the producer writes the output itself
    ends(NODE(graph, Reshape, image, NODE(graph, Tanh, image, add_input(graph, image))));
    expect(graph, gpu_pass_remove_identity, true, "TANH in0[1,4,4,8] -> out2[1,4,4,8]\n");

    graph = begin(); // from input to output: a copy is wanted
    ends(NODE(graph, Reshape, image, add_input(graph, image)));
    expect(graph, gpu_pass_remove_identity, false, "RESHAPE in0[1,4,4,8] -> out1[1,4,4,8]\n");

    graph = begin(); // both are outputs
    struct gpu_value *x = NODE(graph, Tanh, image, add_input(graph, image));
    ends(x);
    ends(NODE(graph, Reshape, image, x));
    expect(graph, gpu_pass_remove_identity, false,
           "TANH in0[1,4,4,8] -> out1[1,4,4,8]\nRESHAPE out1[1,4,4,8] -> out2[1,4,4,8]\n");

    graph = begin(); // somebody else reads what it copies to an output
    x = NODE(graph, Tanh, image, add_input(graph, image));
    ends(NODE(graph, Reshape, image, x));
    ends(NODE(graph, Exp, image, x));
    expect(
        graph, gpu_pass_remove_identity, false,
        "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nRESHAPE v1[1,4,4,8] -> out2[1,4,4,8]\nEXP v1[1,4,4,8] -> out3[1,4,4,8]\n");
}

static void test_identity_that_is_none(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin(); // elements move to other slices
    ends(NODE(graph, Exp, row, NODE(graph, Reshape, row, NODE(graph, Tanh, image, add_input(graph, image)))));
    expect(graph, gpu_pass_remove_identity, false,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nRESHAPE v1[1,4,4,8] -> v2[1,1,1,128]\nEXP v2[1,1,1,128] -> "
           "out3[1,1,1,128]\n");

    graph = begin(); // an activation that a simulator of 8 bits stands for
    struct gpu_value *x = NODE(graph, Reshape, image, NODE(graph, Tanh, image, add_input(graph, image)));
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_QUANTIZE, .a = 0.5f, .b = 0}}};
    ends(NODE(graph, Exp, image, x));
    expect(graph, gpu_pass_remove_identity, false,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nRESHAPE v1[1,4,4,8] -> v2[1,4,4,8] + quantize\nEXP v2[1,4,4,8] -> "
           "out3[1,4,4,8]\n");
}

// [1, 1, 4, 8] and [1, 4, 8] are the same to the device, but not to an operator that counts axes.
static void test_identity_of_another_rank(void **state)
{
    (void)state;
    const struct gpu_shape line = {1, 1, 4, 8}, turned = {8, 1, 1, 4};
    struct gpu_graph *graph = begin();
    struct gpu_value *x = ranked(NODE(graph, Reshape, line, NODE(graph, Tanh, line, add_input(graph, line))), 3);
    struct gpu_value *perm = add_constant(graph, (struct gpu_shape){1, 1, 1, 3}, (const float[]){2, 0, 1});
    ends(ranked(NODE(graph, Transpose, turned, x, perm), 3));
    expect(graph, gpu_pass_remove_identity, false,
           "TANH in0[1,1,4,8] -> v1[1,1,4,8]\nRESHAPE v1[1,1,4,8] -> v2[1,1,4,8]\n"
           "TRANSPOSE v2[1,1,4,8] const3[1,1,1,3] -> out4[8,1,1,4]\n");

    graph = begin();
    x = ranked(NODE(graph, Reshape, line, NODE(graph, Tanh, line, add_input(graph, line))), 3);
    ends(ranked(NODE(graph, Softmax, line, x), 3));
    expect(graph, gpu_pass_remove_identity, true,
           "TANH in0[1,1,4,8] -> v1[1,1,4,8]\nSOFTMAX v1[1,1,4,8] -> out3[1,1,4,8]\n");
}

// What else copies, by the operators' own constants.
static void test_identity_of_moves(void **state)
{
    (void)state;
    const struct gpu_shape four = {1, 1, 1, 4};
    const float strides[2][4] = {{1, 1, 1, 1}, {1, 1, -1, 1}};
    for (int reversed = 0; reversed < 2; reversed++) {
        struct gpu_graph *graph = begin();
        TfLiteStridedSliceParams all = {.begin_mask = 15, .end_mask = 15};
        struct gpu_value *x = NODE(graph, Tanh, image, add_input(graph, image)),
                         *zeros = add_constant(graph, four, NULL);
        ends(NODE(graph, Exp, image,
                  NODE_OF(graph, StridedSlice, all, image, x, zeros, zeros,
                          add_constant(graph, four, strides[reversed]))));
        assert_int_equal(gpu_pass_remove_identity(graph), !reversed);
        gpu_graph_destroy(graph);
    }
    const float orders[2][4] = {{0, 3, 1, 2}, {0, 2, 1, 3}}; // of [1, 4, 4, 8]; then of [1, 1, 1, 8]
    const struct gpu_shape pixel = {1, 1, 1, 8};
    for (int i = 0; i < 4; i++) {
        struct gpu_shape shape = i < 2 ? image : pixel;
        struct gpu_graph *graph = begin();
        struct gpu_value *x = NODE(graph, Tanh, shape, add_input(graph, shape));
        ends(NODE(graph, Exp, shape, NODE(graph, Transpose, shape, x, add_constant(graph, four, orders[i % 2]))));
        assert_int_equal(gpu_pass_remove_identity(graph), i >= 2);
        gpu_graph_destroy(graph);
    }
    struct gpu_graph *graph = begin();
    struct gpu_value *x = NODE(graph, Tanh, image, add_input(graph, image));
    TfLiteConcatenationParams last = {.axis = 3};
    ends(NODE(graph, Exp, image, NODE_OF(graph, Concatenation, last, image, x)));
    expect(graph, gpu_pass_remove_identity, true,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nEXP v1[1,4,4,8] -> out3[1,4,4,8]\n");
}

// ---- fuse_stages --------------------------------------------------------------------------------

#define CONV "CONV_2D in0[1,4,4,8] const1[8,3,3,8] const2[1,1,1,8] -> "
static struct gpu_value *begin_conv(struct gpu_graph **graph)
{
    *graph = begin();
    return add_conv(*graph, kTfLitePaddingSame, image, add_input(*graph, image));
}

static void test_stages(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *conv = begin_conv(&graph);
    ends(NODE(graph, Tanh, image, NODE(graph, Relu, image, conv)));
    expect(graph, gpu_pass_fuse_stages, true, CONV "out5[1,4,4,8] + relu + tanh\n");
}

static void test_stages_that_stay(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph); // the sum is wanted, too
    ends(NODE(graph, Relu, image, x));
    ends(NODE(graph, Tanh, image, x));
    expect(graph, gpu_pass_fuse_stages, false,
           CONV "v3[1,4,4,8]\nRELU v3[1,4,4,8] -> out4[1,4,4,8]\nTANH v3[1,4,4,8] -> out5[1,4,4,8]\n");

    x = begin_conv(&graph); // outside, too
    ends(x);
    ends(NODE(graph, Relu, image, x));
    expect(graph, gpu_pass_fuse_stages, false, CONV "out3[1,4,4,8]\nRELU out3[1,4,4,8] -> out4[1,4,4,8]\n");

    graph = begin(); // nothing makes its input here
    ends(NODE(graph, Relu, image, add_input(graph, image)));
    expect(graph, gpu_pass_fuse_stages, false, "RELU in0[1,4,4,8] -> out1[1,4,4,8]\n");

    graph = begin(); // a node with two outputs has no position for it
    TfLiteSplitParams two = {.num_splits = 2};
    const struct gpu_shape half = {1, 4, 4, 4};
    x = NODE_OF(graph, Split, two, half, add_constant(graph, (struct gpu_shape){1, 1, 1, 1}, (const float[]){3}),
                add_input(graph, image));
    struct gpu_value *other = gpu_graph_add_value(graph, "value", half);
    assert_non_null(other);
    gpu_graph_connect_output(x->producer, other);
    ends(NODE(graph, Relu, half, x));
    ends(NODE(graph, Relu, half, other));
    expect(graph, gpu_pass_fuse_stages, false,
           "SPLIT const0[1,1,1,1] in1[1,4,4,8] -> v2[1,4,4,4] v3[1,4,4,4]\nRELU v2[1,4,4,4] -> out4[1,4,4,4]\n"
           "RELU v3[1,4,4,4] -> out5[1,4,4,4]\n");
}

// As many as there is room for; the rest start a node of their own.
static void test_stages_that_do_not_fit(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph);
    for (int i = 0; i < GPU_EPILOGUE_STAGES + 2; i++) x = NODE(graph, Neg, image, x);
    ends(x);
    gpu_pass_fuse_stages(graph);
    int left = 0, stages = 0;
    for (int n = 0; n < graph->node_count; n++) {
        if (graph->nodes[n]->dead) continue;
        assert_true(graph->nodes[n]->epilogue.count <= GPU_EPILOGUE_STAGES);
        stages += graph->nodes[n]->epilogue.count;
        left++;
    }
    assert_int_equal(left, 2);
    assert_int_equal(stages, GPU_EPILOGUE_STAGES + 1);
    gpu_graph_destroy(graph);
}

// Simulators of 8 bits keep their position in the order.
static void test_stages_behind_a_simulator(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph);
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_QUANTIZE, .a = 0.5f, .b = 0}}};
    x = NODE(graph, Relu, image, x);
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_QUANTIZE, .a = 0.25f, .b = 0}}};
    ends(x);
    expect(graph, gpu_pass_fuse_stages, true, CONV "out4[1,4,4,8] + quantize + relu + quantize\n");
}

// ---- move_transposes ----------------------------------------------------------------------------

static const struct gpu_shape turned_image = {1, 8, 4, 4}, four_numbers = {1, 1, 1, 4};
static const float to_front[] = {0, 3, 1, 2}, to_back[] = {0, 2, 3, 1};

static struct gpu_value *add_transpose(struct gpu_graph *graph, const float *order, struct gpu_shape output,
                                       struct gpu_value *x)
{
    return NODE(graph, Transpose, output, x, add_constant(graph, four_numbers, order));
}

static void expect_numbers(const struct gpu_value *value, int count, const float *numbers)
{
    assert_int_equal(gpu_elements(value->shape), count);
    for (int i = 0; i < count; i++) assert_float_equal(value->data[i], numbers[i], 0);
}

static void test_transposes(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin(); // there and back
    struct gpu_value *x = NODE(graph, Tanh, image, add_input(graph, image));
    x = add_transpose(graph, to_front, turned_image, x);
    x = NODE(graph, Mul, turned_image, NODE(graph, Logistic, turned_image, x), x);
    ends(NODE(graph, Exp, image, add_transpose(graph, to_back, image, x)));
    assert_true(gpu_pass_move_transposes(graph));
    expect(graph, gpu_pass_remove_identity, true,
           "TANH in0[1,4,4,8] -> v1[1,4,4,8]\nLOGISTIC v1[1,4,4,8] -> v10[1,4,4,8]\n"
           "MUL v10[1,4,4,8] v1[1,4,4,8] -> v12[1,4,4,8]\nEXP v12[1,4,4,8] -> out8[1,4,4,8]\n");

    graph = begin(); // two that are not the reverse of each other, the first read by another node, too
    x = add_transpose(graph, (const float[]){0, 2, 1, 3}, image, add_input(graph, image));
    ends(NODE(graph, Softmax, image, x));
    ends(add_transpose(graph, to_front, turned_image, x));
    assert_true(gpu_pass_move_transposes(graph));
    expect_numbers(graph->nodes[2]->inputs[1], 4, (const float[]){0, 3, 2, 1});
    expect(graph, gpu_pass_move_transposes, false,
           "TRANSPOSE in0[1,4,4,8] const1[1,1,1,4] -> v2[1,4,4,8]\n"
           "SOFTMAX v2[1,4,4,8] -> out3[1,4,4,8]\nTRANSPOSE in0[1,4,4,8] const6[1,1,1,4] -> out5[1,8,4,4]\n");
}

// Axes in options and constants are those of the values in front.
static void test_transposes_and_axes(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin();
    const float pairs[] = {0, 0, 3, 4, 1, 2, 5, 6}; // of batches, channels, rows, columns
    struct gpu_value *x = add_transpose(graph, to_front, turned_image, add_input(graph, image));
    ends(add_pad(graph, pairs, (struct gpu_shape){1, 15, 7, 15}, x));
    assert_true(gpu_pass_move_transposes(graph));
    expect_numbers(graph->nodes[1]->inputs[1], 8, (const float[]){0, 0, 1, 2, 5, 6, 3, 4});
    expect(graph, gpu_pass_move_transposes, false,
           "PAD in0[1,4,4,8] const5[4,1,1,2] -> v7[1,7,15,15]\n"
           "TRANSPOSE v7[1,7,15,15] const6[1,1,1,4] -> out4[1,15,7,15]\n");

    graph = begin();
    TfLiteReducerParams keep = {.keep_dims = true}, drop = {.keep_dims = false};
    x = add_transpose(graph, to_front, turned_image, add_input(graph, image));
    ends(NODE_OF(graph, Mean, keep, ((struct gpu_shape){1, 8, 1, 1}), x,
                 add_constant(graph, (struct gpu_shape){1, 1, 1, 2}, (const float[]){2, -1})));
    assert_true(gpu_pass_move_transposes(graph));
    expect_numbers(graph->nodes[1]->inputs[1], 2, (const float[]){1, 2});
    expect(graph, gpu_pass_move_transposes, false,
           "MEAN in0[1,4,4,8] const5[1,1,1,2] -> v7[1,1,1,8]\n"
           "TRANSPOSE v7[1,1,1,8] const6[1,1,1,4] -> out4[1,8,1,1]\n");

    graph = begin(); // dimensions that go
    x = add_transpose(graph, to_front, turned_image, add_input(graph, image));
    ends(ranked(NODE_OF(graph, Mean, drop, ((struct gpu_shape){1, 1, 1, 8}), x,
                        add_constant(graph, (struct gpu_shape){1, 1, 1, 2}, (const float[]){2, 3})),
                2));
    assert_false(gpu_pass_move_transposes(graph));
    gpu_graph_destroy(graph);

    graph = begin();
    TfLiteConcatenationParams channel = {.axis = -3};
    x = add_input(graph, image);
    struct gpu_value *y = add_transpose(graph, to_front, turned_image, x);
    ends(NODE_OF(graph, Concatenation, channel, ((struct gpu_shape){1, 16, 4, 4}), y,
                 add_transpose(graph, to_front, turned_image, NODE(graph, Tanh, image, x))));
    struct gpu_node *joined = graph->nodes[graph->node_count - 1];
    assert_true(gpu_pass_move_transposes(graph));
    assert_int_equal(((const TfLiteConcatenationParams *)joined->params)->axis, 3);
    expect(graph, gpu_pass_move_transposes, false,
           "TANH in0[1,4,4,8] -> v3[1,4,4,8]\nCONCATENATION in0[1,4,4,8] v3[1,4,4,8] -> v8[1,4,4,16]\n"
           "TRANSPOSE v8[1,4,4,16] const7[1,1,1,4] -> out6[1,16,4,4]\n");

    graph = begin(); // a number for each channel
    x = add_transpose(graph, to_front, turned_image, add_input(graph, image));
    ends(NODE(graph, Add, turned_image, add_constant(graph, (struct gpu_shape){1, 8, 1, 1}, NULL), x));
    assert_true(gpu_pass_move_transposes(graph));
    expect(graph, gpu_pass_move_transposes, false,
           "ADD const5[1,1,1,8] in0[1,4,4,8] -> v7[1,4,4,8]\n"
           "TRANSPOSE v7[1,4,4,8] const6[1,1,1,4] -> out4[1,8,4,4]\n");
}

static void test_transposes_that_stay(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct gpu_graph *graph = begin();
        struct gpu_value *x = add_input(graph, image), *plain = add_input(graph, turned_image);
        struct gpu_value *turned = add_transpose(graph, to_front, turned_image, x);
        if (i == 0) ends(turned);                                     // wanted outside
        if (i == 1) ends(NODE(graph, Softmax, turned_image, turned)); // wanted by a node that has axes of its own
        struct gpu_value *other = plain;                              // never was transposed
        if (i == 2) other = add_transpose(graph, (const float[]){0, 3, 2, 1}, turned_image, x); // otherwise
        if (i == 3) other = add_constant(graph, (struct gpu_shape){1, 8, 4, 1}, NULL);          // of several axes
        if (i < 2) other = turned;
        ends(NODE(graph, Sub, turned_image, turned, other));
        assert_false(gpu_pass_move_transposes(graph));
        gpu_graph_destroy(graph);
    }
}

// ---- fuse_swish ---------------------------------------------------------------------------------

static void test_swish(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct gpu_graph *graph;
        struct gpu_value *x = begin_conv(&graph), *sigmoid = NODE(graph, Logistic, image, x);
        struct gpu_value *other = i == 1 ? add_input(graph, image) : x;
        if (i == 2) ends(x);       // wanted outside
        if (i == 3) ends(sigmoid); // wanted outside
        ends(i % 2 ? NODE(graph, Mul, image, other, sigmoid) : NODE(graph, Mul, image, sigmoid, other));
        if (i == 4) ends(NODE(graph, Exp, image, x)); // read by another
        if (i == 0)
            expect(graph, gpu_pass_fuse_swish, true, CONV "out5[1,4,4,8] + swish\n");
        else
            assert_false(gpu_pass_fuse_swish(graph));
        if (i != 0) gpu_graph_destroy(graph);
    }
}

// ---- fold_after, fold_before: the numbers are compared by the op table ------------------------

static const struct gpu_shape channels = {1, 1, 1, 8}, one = {1, 1, 1, 1};

static void test_folding(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph); // behind, with the activation of what is folded
    x = NODE(graph, Mul, image, x, add_constant(graph, channels, NULL));
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_RELU, .a = 0, .b = 0}}};
    ends(x);
    expect(graph, gpu_pass_fold_after, true,
           "CONV_2D in0[1,4,4,8] const6[8,3,3,8] const7[1,1,1,8] -> out5[1,4,4,8] + relu\n");

    graph = begin(); // in front; the weights are not the other node's
    x = NODE(graph, Mul, image, add_constant(graph, one, NULL), add_input(graph, image));
    ends(add_conv(graph, kTfLitePaddingSame, image, x));
    expect(graph, gpu_pass_fold_before, true,
           "CONV_2D in1[1,4,4,8] const6[8,3,3,8] const4[1,1,1,8] -> out5[1,4,4,8]\n");
}

static void test_folding_that_stays(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph); // rounding of 8 bits in between
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_QUANTIZE, .a = 0.5f, .b = 0}}};
    ends(NODE(graph, Mul, image, x, add_constant(graph, channels, NULL)));
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);

    x = begin_conv(&graph); // the sum is wanted, too
    ends(x);
    ends(NODE(graph, Mul, image, x, add_constant(graph, channels, NULL)));
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);

    x = begin_conv(&graph); // a number for each position
    ends(NODE(graph, Mul, image, x, add_constant(graph, image, NULL)));
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);

    x = begin_conv(&graph); // no number
    ends(NODE(graph, Mul, image, x, add_input(graph, channels)));
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);

    graph = begin(); // weights or a bias that come while running
    struct gpu_value *weights = add_constant(graph, (struct gpu_shape){8, 3, 3, 8}, NULL);
    x = NODE(graph, Mul, image, add_input(graph, image), add_constant(graph, one, NULL));
    x = NODE(graph, Conv2d, image, x, add_input(graph, weights->shape), add_constant(graph, channels, NULL));
    x = NODE(graph, Mul, image, x, add_constant(graph, one, NULL));
    x = NODE(graph, Conv2d, image, x, weights, add_input(graph, channels));
    ends(NODE(graph, Mul, image, x, add_constant(graph, one, NULL)));
    assert_false(gpu_pass_fold_after(graph));
    assert_false(gpu_pass_fold_before(graph));
    gpu_graph_destroy(graph);

    x = begin_conv(&graph); // by zero, and a constant by the sum
    x = NODE(graph, Div, image, x, add_constant(graph, one, (const float[]){0}));
    ends(x);
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);
    x = begin_conv(&graph);
    ends(NODE(graph, Div, image, add_constant(graph, one, NULL), x));
    assert_false(gpu_pass_fold_after(graph));
    gpu_graph_destroy(graph);

    graph = begin(); // a sum in front
    ends(add_conv(graph, kTfLitePaddingSame, image,
                  NODE(graph, Add, image, add_input(graph, image), add_constant(graph, one, NULL))));
    assert_false(gpu_pass_fold_before(graph));
    gpu_graph_destroy(graph);

    graph = begin(); // an activation in between
    x = NODE(graph, Mul, image, add_input(graph, image), add_constant(graph, one, NULL));
    x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_RELU, .a = 0, .b = 0}}};
    ends(add_conv(graph, kTfLitePaddingSame, image, x));
    assert_false(gpu_pass_fold_before(graph));
    gpu_graph_destroy(graph);
}

static void test_slopes_in_pieces(void **state)
{
    (void)state;
    for (int outer = 0; outer < 2; outer++)
        for (int turned = 0; turned < 2; turned++) {
            float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
            struct gpu_graph *graph = begin();
            struct gpu_value *x = add_input(graph, image), *k = add_constant(graph, channels, numbers);
            struct gpu_value *r = NODE(graph, Relu, image, NODE(graph, Neg, image, x));
            if (outer) r = NODE(graph, Neg, image, r);
            struct gpu_value *p = NODE(graph, Relu, image, x);
            r = turned ? NODE(graph, Mul, image, k, r) : NODE(graph, Mul, image, r, k);
            ends(turned ? NODE(graph, Add, image, r, p) : NODE(graph, Add, image, p, r));
            assert_true(gpu_pass_fuse_prelu(graph));
            const struct gpu_node *node = NULL;
            for (int n = 0; n < graph->node_count; n++)
                if (!graph->nodes[n]->dead) node = graph->nodes[n];
            assert_int_equal(node->builtin, kTfLiteBuiltinPrelu);
            assert_ptr_equal(node->inputs[0], x);
            assert_int_equal(x->consumers, 1);
            for (int c = 0; c < 8; c++)
                assert_float_equal(node->inputs[1]->data[c], outer ? numbers[c] : -numbers[c], 0);
            gpu_graph_destroy(graph);
        }
    struct gpu_graph *graph = begin(); // of two values
    struct gpu_value *x = add_input(graph, image), *y = add_input(graph, image);
    struct gpu_value *r = NODE(graph, Relu, image, NODE(graph, Neg, image, y));
    ends(NODE(graph, Add, image, NODE(graph, Relu, image, x),
              NODE(graph, Mul, image, r, add_constant(graph, channels, NULL))));
    assert_false(gpu_pass_fuse_prelu(graph));
    gpu_graph_destroy(graph);
}

static struct gpu_value *add_slopes(struct gpu_graph *graph)
{
    return add_constant(graph, channels, NULL);
}

static void test_stages_of_channels(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph); // a sum behind a slope, which weights do not take
    x = NODE(graph, Prelu, image, x, add_slopes(graph));
    ends(NODE(graph, Add, image, x, add_constant(graph, channels, NULL)));
    expect(graph, gpu_pass_fuse_stages, true, CONV "out7[1,4,4,8] + prelu by channel + add by channel\n");

    x = begin_conv(&graph); // behind constant weights there is room for them, beside a value
    x = NODE(graph, Prelu, image, NODE(graph, Add, image, x, graph->values[0]), add_slopes(graph));
    ends(x);
    assert_true(gpu_pass_fuse_stages(graph));
    expect(graph, gpu_pass_fuse_residual, true, CONV "out6[1,4,4,8] + add + prelu by channel in0[1,4,4,8]\n");

    graph = begin(); // elsewhere there is none
    x = add_input(graph, image);
    struct gpu_value *y = NODE(graph, Tanh, image, NODE(graph, Exp, image, x));
    ends(NODE(graph, Prelu, image, NODE(graph, Add, image, y, x), add_slopes(graph)));
    assert_true(gpu_pass_fuse_stages(graph));
    expect(graph, gpu_pass_fuse_residual, false,
           "EXP in0[1,4,4,8] -> v2[1,4,4,8] + tanh\n"
           "ADD v2[1,4,4,8] in0[1,4,4,8] -> out5[1,4,4,8] + prelu by channel\n");

    x = begin_conv(&graph); // one slope is a number, and one for each position stays
    ends(NODE(graph, Prelu, image, x, add_constant(graph, (struct gpu_shape){1, 1, 1, 1}, NULL)));
    expect(graph, gpu_pass_fuse_stages, true, CONV "out5[1,4,4,8] + leaky_relu\n");
    x = begin_conv(&graph);
    ends(NODE(graph, Prelu, image, x, add_constant(graph, (struct gpu_shape){1, 1, 4, 8}, NULL)));
    expect(graph, gpu_pass_fuse_stages, false,
           CONV "v3[1,4,4,8]\nPRELU v3[1,4,4,8] const4[1,1,4,8] -> out5[1,4,4,8]\n");
    x = begin_conv(&graph); // leaky_relu makes NaN of zero and an infinite slope
    ends(NODE(graph, Prelu, image, x, add_constant(graph, (struct gpu_shape){1, 1, 1, 1}, &(float){INFINITY})));
    expect(graph, gpu_pass_fuse_stages, false,
           CONV "v3[1,4,4,8]\nPRELU v3[1,4,4,8] const4[1,1,1,1] -> out5[1,4,4,8]\n");
}

// ---- fuse_residual ------------------------------------------------------------------------------

static void test_residual(void **state)
{
    (void)state;
    TfLiteAddParams none = {.activation = kTfLiteActNone};
    for (int swapped = 0; swapped < 2; swapped++) {
        struct gpu_graph *graph;
        struct gpu_value *x = begin_conv(&graph), *skip = graph->values[0];
        struct gpu_value *sum =
            swapped ? NODE_OF(graph, Add, none, image, skip, x) : NODE_OF(graph, Add, none, image, x, skip);
        sum->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_RELU, .a = 0, .b = 0}}};
        ends(sum);
        expect(graph, gpu_pass_fuse_residual, true, CONV "out4[1,4,4,8] + add + relu in0[1,4,4,8]\n");
    }
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph);
    ends(NODE(graph, Mul, image, x, graph->values[0]));
    expect(graph, gpu_pass_fuse_residual, true, CONV "out4[1,4,4,8] + mul in0[1,4,4,8]\n");
    x = begin_conv(&graph);
    ends(NODE(graph, Sub, image, x, graph->values[0]));
    expect(graph, gpu_pass_fuse_residual, true, CONV "out4[1,4,4,8] + sub in0[1,4,4,8]\n");
    x = begin_conv(&graph);
    ends(NODE(graph, Sub, image, graph->values[0], x));
    expect(graph, gpu_pass_fuse_residual, true, CONV "out4[1,4,4,8] + from in0[1,4,4,8]\n");
}

static void test_residual_that_stays(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph); // the other one is made later
    ends(NODE(graph, Add, image, x, NODE(graph, Tanh, image, graph->values[0])));
    assert_false(gpu_pass_fuse_residual(graph) && graph->nodes[0]->epilogue.count);
    gpu_graph_destroy(graph);

    x = begin_conv(&graph); // twice the same
    ends(NODE(graph, Add, image, x, x));
    expect(graph, gpu_pass_fuse_residual, false, CONV "v3[1,4,4,8]\nADD v3[1,4,4,8] v3[1,4,4,8] -> out4[1,4,4,8]\n");

    x = begin_conv(&graph); // the other one is stretched
    ends(NODE(graph, Add, image, x, add_input(graph, channels)));
    expect(graph, gpu_pass_fuse_residual, false, CONV "v3[1,4,4,8]\nADD v3[1,4,4,8] in4[1,1,1,8] -> out5[1,4,4,8]\n");

    x = begin_conv(&graph); // the sum is wanted, too
    ends(x);
    ends(NODE(graph, Add, image, x, graph->values[0]));
    expect(graph, gpu_pass_fuse_residual, false,
           CONV "out3[1,4,4,8]\nADD out3[1,4,4,8] in0[1,4,4,8] -> out4[1,4,4,8]\n");
}

// What a node adds must be there before the one that takes it over runs.
static void test_residual_made_later(void **state)
{
    (void)state;
    for (int multiplies = 0; multiplies < 2; multiplies++) {
        struct gpu_graph *graph;
        struct gpu_value *x = begin_conv(&graph), *later = NODE(graph, Tanh, image, graph->values[0]);
        struct gpu_value *y =
            multiplies ? NODE(graph, Mul, image, x, add_constant(graph, channels, NULL)) : NODE(graph, Relu, image, x);
        y->producer->epilogue =
            (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_ADD_VALUE, .a = 0, .b = 0}}, .residual = later};
        later->consumers++;
        ends(y);
        assert_false(multiplies ? gpu_pass_fold_after(graph) : gpu_pass_fuse_stages(graph));
        y->producer->epilogue.residual = graph->values[0]; // an input is always there
        later->consumers--;
        graph->values[0]->consumers++;
        assert_true(multiplies ? gpu_pass_fold_after(graph) : gpu_pass_fuse_stages(graph));
        assert_ptr_equal(graph->nodes[0]->epilogue.residual, graph->values[0]);
        gpu_graph_destroy(graph);
    }
}

// A node adds one value at most: the second addition stays.
static void test_residual_of_two(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_value *x = begin_conv(&graph);
    struct gpu_value *other = add_input(graph, image);
    ends(NODE(graph, Add, image, NODE(graph, Add, image, x, graph->values[0]), other));
    gpu_run_passes(graph);
    for (int n = 0; n < graph->node_count; n++) {
        int values = 0;
        for (int s = 0; s < graph->nodes[n]->epilogue.count; s++)
            values += graph->nodes[n]->epilogue.stages[s].op == GPU_EPI_ADD_VALUE;
        assert_true(values <= 1);
    }
    gpu_graph_destroy(graph);
}

// ---- join_formulas ------------------------------------------------------------------------------

static void test_formulas(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin();
    struct gpu_value *x = add_input(graph, image), *a = add_input(graph, image), *b = add_input(graph, image);
    ends(NODE(graph, Mul, image, NODE(graph, Add, image, x, a), b));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] in2[1,4,4,8] -> out4[1,4,4,8] + add of first + mul of second\n");

    graph = begin(); // on the right of a difference, which is turned round
    x = add_input(graph, image), a = add_input(graph, image), b = add_input(graph, image);
    ends(NODE(graph, Sub, image, b, NODE(graph, Add, image, x, a)));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] in2[1,4,4,8] -> out4[1,4,4,8] + add of first + from of second\n");

    graph = begin(); // what is read again is kept
    x = add_input(graph, image), a = add_input(graph, image);
    struct gpu_value *sum = NODE(graph, Add, image, x, a);
    ends(NODE(graph, Mul, image, sum, sum));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] -> out3[1,4,4,8] + add of first (kept) + mul of kept\n");

    graph = begin(); // with stages of the nodes
    x = add_input(graph, image), a = add_input(graph, image);
    struct gpu_value *y = NODE(graph, Add, image, x, a), *z = NODE(graph, Sub, image, NODE(graph, Tanh, image, y), x);
    ends(z);
    assert_true(gpu_pass_fuse_stages(graph) && gpu_pass_fuse_residual(graph));
    expect(graph, gpu_pass_join_formulas, false,
           "ADD in0[1,4,4,8] in1[1,4,4,8] -> out4[1,4,4,8] + tanh + sub in0[1,4,4,8]\n");
}

// Of a value of 12 channels.
static struct gpu_value *add_part(struct gpu_graph *graph, struct gpu_value *x, int channel)
{
    const struct gpu_shape list = {1, 1, 1, 4};
    const float begin_at[4] = {0, 0, 0, (float)channel};
    struct gpu_value *y =
        NODE(graph, Slice, image, x, add_constant(graph, list, begin_at), add_constant(graph, list, NULL));
    memcpy(x->dims, (int[]){1, 4, 4, 12}, 4 * sizeof *x->dims);
    memcpy(y->dims, (int[]){1, 4, 4, 8}, 4 * sizeof *y->dims);
    ranked(x, 4);
    return ranked(y, 4);
}

static void test_formulas_of_channels(void **state)
{
    (void)state;
    const struct gpu_shape wide = {1, 4, 4, 12};
    struct gpu_graph *graph = begin();
    struct gpu_value *x = add_input(graph, wide);
    ends(ranked(NODE(graph, Mul, image, add_part(graph, x, 0), add_part(graph, x, 3)), 4));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,12] in0[1,4,4,12] from 3 -> out7[1,4,4,8] + mul of first\n");

    graph = begin(); // channels of channels
    x = add_input(graph, (struct gpu_shape){1, 4, 4, 16});
    struct gpu_value *some =
        NODE(graph, Slice, wide, x, add_constant(graph, (struct gpu_shape){1, 1, 1, 4}, (float[]){0, 0, 0, 3}),
             add_constant(graph, (struct gpu_shape){1, 1, 1, 4}, NULL));
    memcpy(x->dims, (int[]){1, 4, 4, 16}, 4 * sizeof *x->dims);
    ranked(x, 4);
    ranked(some, 4);
    ends(ranked(NODE(graph, Mul, image, ranked(add_input(graph, image), 4), add_part(graph, some, 2)), 4));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in4[1,4,4,8] in0[1,4,4,16] from 5 -> out8[1,4,4,8] + mul of first\n");

    graph = begin(); // somebody else reads the part
    x = add_input(graph, wide);
    struct gpu_value *a = ranked(add_input(graph, image), 4), *part = add_part(graph, x, 4);
    ends(NODE(graph, Floor, image, part));
    ends(ranked(NODE(graph, Mul, image, a, part), 4));
    expect(graph, gpu_pass_join_formulas, false,
           "SLICE in0[1,4,4,12] const2[1,1,1,4] const3[1,1,1,4] -> v4[1,4,4,8]\n"
           "FLOOR v4[1,4,4,8] -> out5[1,4,4,8]\nMUL in1[1,4,4,8] v4[1,4,4,8] -> out6[1,4,4,8]\n");
}

static void test_formulas_that_stay(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin(); // somebody wants the value between
    struct gpu_value *x = add_input(graph, image), *a = add_input(graph, image), *sum = NODE(graph, Add, image, x, a);
    ends(sum);
    ends(NODE(graph, Mul, image, sum, a));
    expect(graph, gpu_pass_join_formulas, false,
           "ADD in0[1,4,4,8] in1[1,4,4,8] -> out2[1,4,4,8]\nMUL out2[1,4,4,8] in1[1,4,4,8] -> out3[1,4,4,8]\n");

    graph = begin(); // four values
    x = add_input(graph, image), a = add_input(graph, image);
    struct gpu_value *b = add_input(graph, image), *c = add_input(graph, image);
    ends(NODE(graph, Mul, image, NODE(graph, Add, image, NODE(graph, Add, image, x, a), b), c));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] in2[1,4,4,8] -> v5[1,4,4,8] + add of first + add of second\n"
           "MUL v5[1,4,4,8] in3[1,4,4,8] -> out6[1,4,4,8]\n");

    graph = begin(); // nine steps
    x = add_input(graph, image), a = add_input(graph, image);
    for (int i = 0; i < 9; i++) x = NODE(graph, Add, image, x, a);
    ends(x);
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] -> v9[1,4,4,8] + add of first + add of first + add of first"
           " + add of first + add of first + add of first + add of first + add of first\n"
           "ADD v9[1,4,4,8] in1[1,4,4,8] -> out10[1,4,4,8]\n");

    graph = begin(); // two values that are kept at a time
    x = add_input(graph, image), a = add_input(graph, image);
    sum = NODE(graph, Add, image, x, a);
    struct gpu_value *square = NODE(graph, Mul, image, sum, sum), *more = NODE(graph, Sub, image, square, a);
    ends(NODE(graph, Mul, image, more, NODE(graph, Mul, image, more, square)));
    expect(graph, gpu_pass_join_formulas, true,
           "FORMULA in0[1,4,4,8] in1[1,4,4,8] -> v3[1,4,4,8] + add of first (kept) + mul of kept\n"
           "FORMULA v3[1,4,4,8] in1[1,4,4,8] -> out6[1,4,4,8] + sub of first (kept) + mul of x + mul of kept\n");

    graph = begin(); // broadcast along channels
    x = add_input(graph, image), a = add_input(graph, (struct gpu_shape){1, 4, 4, 1});
    ends(NODE(graph, Mul, image, NODE(graph, Add, image, x, a), x));
    expect(graph, gpu_pass_join_formulas, false,
           "ADD in0[1,4,4,8] in1[1,4,4,1] -> v2[1,4,4,8]\nMUL v2[1,4,4,8] in0[1,4,4,8] -> out3[1,4,4,8]\n");
}

// ---- quantize -----------------------------------------------------------------------------------

static struct gpu_value *in_8_bits(struct gpu_value *value, float scale, int zero_point)
{
    value->quantization = (struct gpu_quantization){kTfLiteInt8, scale, zero_point};
    return value;
}

static void expect_quantized(struct gpu_graph *graph, const char *expected)
{
    assert_true(gpu_graph_quantize(graph, GPU_F32));
    char *text = gpu_graph_text(graph);
    assert_string_equal(text, expected);
    free(text);
    gpu_graph_destroy(graph);
}

static void test_simulators(void **state)
{
    (void)state;
    struct gpu_graph *graph; // behind what somebody reads, not in front of an end
    struct gpu_value *x = in_8_bits(begin_conv(&graph), 0.5f, 0);
    ends(in_8_bits(NODE(graph, Tanh, image, x), 0.25f, 0));
    expect_quantized(graph, CONV "v3[1,4,4,8] + quantize\nTANH v3[1,4,4,8] -> out4[1,4,4,8]\n");

    graph = begin(); // what only moves keeps the grid that it reads
    x = in_8_bits(add_input(graph, image), 0.5f, 3);
    x = in_8_bits(NODE(graph, Reshape, row, x), 0.5f, 3);
    ends(NODE(graph, Tanh, row, x));
    expect_quantized(graph, "RESHAPE in0[1,4,4,8] -> v1[1,1,1,128]\nTANH v1[1,1,1,128] -> out2[1,1,1,128]\n");

    graph = begin(); // unless it changes the scale
    x = in_8_bits(add_input(graph, image), 0.5f, 3);
    TfLiteConcatenationParams behind = {.axis = 3};
    const struct gpu_shape both = {1, 4, 4, 16};
    x = NODE_OF(graph, Concatenation, behind, both, x, in_8_bits(add_input(graph, image), 0.25f, 3));
    ends(NODE(graph, Tanh, both, in_8_bits(x, 0.5f, 3)));
    assert_true(gpu_graph_quantize(graph, GPU_F32));
    assert_int_equal(graph->nodes[0]->epilogue.count + (graph->node_count - 2), 1);
    gpu_graph_destroy(graph);
}

// The clamp to what 8 bits hold stands for RELU6 where it is no wider.
static void test_simulators_and_activations(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct gpu_graph *graph;
        struct gpu_value *x = in_8_bits(begin_conv(&graph), wide ? 8.0f / 255 : 6.0f / 255, -128);
        x->producer->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_RELU6, .a = 0, .b = 0}}};
        ends(NODE(graph, Tanh, image, x));
        expect_quantized(graph, wide ? CONV "v3[1,4,4,8] + relu6 + quantize\nTANH v3[1,4,4,8] -> out4[1,4,4,8]\n"
                                     : CONV "v3[1,4,4,8] + quantize\nTANH v3[1,4,4,8] -> out4[1,4,4,8]\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_identity_at_an_end),
        cmocka_unit_test(test_identity_that_is_none),
        cmocka_unit_test(test_identity_of_another_rank),
        cmocka_unit_test(test_identity_of_moves),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_stages_that_stay),
        cmocka_unit_test(test_stages_of_channels),
        cmocka_unit_test(test_slopes_in_pieces),
        cmocka_unit_test(test_stages_that_do_not_fit),
        cmocka_unit_test(test_stages_behind_a_simulator),
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_transposes_and_axes),
        cmocka_unit_test(test_transposes_that_stay),
        cmocka_unit_test(test_swish),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_folding_that_stays),
        cmocka_unit_test(test_residual),
        cmocka_unit_test(test_residual_that_stays),
        cmocka_unit_test(test_residual_made_later),
        cmocka_unit_test(test_residual_of_two),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_formulas_of_channels),
        cmocka_unit_test(test_formulas_that_stay),
        cmocka_unit_test(test_simulators),
        cmocka_unit_test(test_simulators_and_activations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
