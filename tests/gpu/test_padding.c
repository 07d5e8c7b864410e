// SPDX-License-Identifier: Apache-2.0
// PAD in front of convolutions (graph/simplify.c): where it becomes the convolution's own padding, and where it stays.
#include "gpu/small_graphs.h"

static const struct gpu_shape padded = {1, 7, 6, 8}, inside = {1, 5, 4, 8};
static const float around[] = {0, 0, 2, 1, 1, 1, 0, 0};

static void test_padding(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin();
    struct gpu_value *y =
        add_conv(graph, kTfLitePaddingValid, inside, add_pad(graph, around, padded, add_input(graph, image)));
    struct gpu_node *conv = y->producer;
    ends(y);
    assert_true(gpu_pass_merge_padding(graph));
    assert_int_equal(conv->pad_top, 2);
    assert_int_equal(conv->pad_left, 1);
    expect(graph, gpu_pass_merge_padding, false,
           "CONV_2D in0[1,4,4,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,5,4,8]\n");

    graph = begin(); // of a series, whose rank is 3
    const struct gpu_shape series = {1, 3, 9, 8}, longer = {1, 3, 14, 8};
    const float behind[] = {0, 0, 2, 3, 0, 0};
    struct gpu_value *x = ranked(add_input(graph, series), 3);
    x = ranked(NODE(graph, Pad, longer, x, add_constant(graph, (struct gpu_shape){3, 1, 1, 2}, behind)), 3);
    y = add_conv(graph, kTfLitePaddingValid, (struct gpu_shape){1, 1, 12, 8}, x);
    conv = y->producer;
    ends(y);
    assert_true(gpu_pass_merge_padding(graph));
    assert_int_equal(conv->pad_top, 0);
    assert_int_equal(conv->pad_left, 2);
    expect(graph, gpu_pass_merge_padding, false,
           "CONV_2D in0[1,3,9,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,1,12,8]\n");
}

static void test_padding_of_two(void **state)
{
    (void)state;
    struct gpu_graph *graph = begin();
    struct gpu_value *x = add_pad(graph, around, padded, add_input(graph, image));
    struct gpu_value *y[] = {add_conv(graph, kTfLitePaddingValid, inside, x),
                             add_conv(graph, kTfLitePaddingValid, inside, x)};
    const struct gpu_node *convs[] = {y[0]->producer, y[1]->producer};
    ends(y[0]);
    ends(y[1]);
    assert_true(gpu_pass_merge_padding(graph));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(convs[i]->pad_top, 2);
        assert_int_equal(convs[i]->pad_left, 1);
    }
    expect(graph, gpu_pass_merge_padding, false,
           "CONV_2D in0[1,4,4,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,5,4,8]\n"
           "CONV_2D in0[1,4,4,8] const6[8,3,3,8] const7[1,1,1,8] -> out8[1,5,4,8]\n");
}

static void test_padding_that_stays(void **state)
{
    (void)state;
    static const char pad[] = "PAD in0[1,4,4,8] const1[4,1,1,2] -> v2[1,7,6,8]\n";
    char expected[400];
    struct gpu_graph *graph = begin(); // the convolution pads, too
    ends(add_conv(graph, kTfLitePaddingSame, padded, add_pad(graph, around, padded, add_input(graph, image))));
    strcat(strcpy(expected, pad), "CONV_2D v2[1,7,6,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,7,6,8]\n");
    expect(graph, gpu_pass_merge_padding, false, expected);

    graph = begin(); // somebody else reads it
    struct gpu_value *x = add_pad(graph, around, padded, add_input(graph, image));
    ends(add_conv(graph, kTfLitePaddingValid, inside, x));
    ends(NODE(graph, Exp, padded, x));
    strcat(strcpy(expected, pad), "CONV_2D v2[1,7,6,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,5,4,8]\n"
                                  "EXP v2[1,7,6,8] -> out6[1,7,6,8]\n");
    expect(graph, gpu_pass_merge_padding, false, expected);

    graph = begin(); // somebody outside wants it
    x = add_pad(graph, around, padded, add_input(graph, image));
    ends(x);
    ends(add_conv(graph, kTfLitePaddingValid, inside, x));
    expect(graph, gpu_pass_merge_padding, false,
           "PAD in0[1,4,4,8] const1[4,1,1,2] -> out2[1,7,6,8]\n"
           "CONV_2D out2[1,7,6,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,5,4,8]\n");

    graph = begin(); // channels are padded
    x = add_pad(graph, (const float[]){0, 0, 2, 1, 1, 1, 3, 0}, padded,
                add_input(graph, (struct gpu_shape){1, 4, 4, 5}));
    ends(add_conv(graph, kTfLitePaddingValid, inside, x));
    expect(graph, gpu_pass_merge_padding, false,
           "PAD in0[1,4,4,5] const1[4,1,1,2] -> v2[1,7,6,8]\n"
           "CONV_2D v2[1,7,6,8] const3[8,3,3,8] const4[1,1,1,8] -> out5[1,5,4,8]\n");

    graph = begin(); // with another number than zero
    struct gpu_value *by = add_constant(graph, (struct gpu_shape){4, 1, 1, 2}, around);
    x = NODE(graph, Pad, padded, add_input(graph, image), by,
             add_constant(graph, (struct gpu_shape){1, 1, 1, 1}, NULL));
    ends(add_conv(graph, kTfLitePaddingValid, inside, x));
    expect(graph, gpu_pass_merge_padding, false,
           "PAD in1[1,4,4,8] const0[4,1,1,2] const2[1,1,1,1] -> v3[1,7,6,8]\n"
           "CONV_2D v3[1,7,6,8] const4[8,3,3,8] const5[1,1,1,8] -> out6[1,5,4,8]\n");

    graph = begin(); // a pool does not count what lies outside
    TfLitePoolParams pool = {
        .padding = kTfLitePaddingValid,
        .stride_width = 1,
        .stride_height = 1,
        .filter_width = 3,
        .filter_height = 3,
    };
    ends(NODE_OF(graph, MaxPool2d, pool, inside, add_pad(graph, around, padded, add_input(graph, image))));
    strcat(strcpy(expected, pad), "MAX_POOL_2D v2[1,7,6,8] -> out3[1,5,4,8]\n");
    expect(graph, gpu_pass_merge_padding, false, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_padding_of_two),
        cmocka_unit_test(test_padding_that_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
