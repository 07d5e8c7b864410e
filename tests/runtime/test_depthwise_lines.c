// SPDX-License-Identifier: Apache-2.0
// A 1x1 convolution that has the lines it reads made by the depthwise convolution before it gives the same bytes as
// both nodes apart, which the option to preserve all tensors asks for; and it leaves that node alone where somebody
// else sees the tensor between them.
//
//   t = pad(x, p), if wanted      d = depthwise(t or x, v, b)      y = convolution(d, w, c)      z = y + r
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, P, T, V, B, D, W, C, Y, R, Z, TENSORS, PAIRS = 48, MAX_WEIGHTS = 1 << 13, MAX_CHANNELS = 72 };

struct pair {
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[4];
    struct test_model model;
    int32_t paddings[8];
    union {
        float f32[MAX_WEIGHTS];
        int8_t bytes[MAX_WEIGHTS];
    } v, w;
    int32_t bias[MAX_CHANNELS]; // zeros of either type
};

static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};

// Tensors between both of 1 MB and more, as many lines as that takes. `stride`, `kernel`: of the depthwise one.
static void make_pair(struct pair *p, enum test_type type, int kernel, int stride, bool pads, bool has_sum)
{
    const int channels = 5 + pick(MAX_CHANNELS - 5), outputs = 1 + pick(MAX_CHANNELS), batches = 1 + pick(2);
    const int width = 20 + pick(120), size = type == TEST_FLOAT32 ? 4 : 1;
    const int height = (1 << 20) / (width * channels * size * batches) + 1 + pick(3), shrinks = kernel - stride;
    const int input[4] = {batches, height * stride + (shrinks > 0 ? shrinks : 0),
                          width * stride + (shrinks > 0 ? shrinks : 0), channels};
    *p = (struct pair){.paddings = {0, 0, pick(3), pick(3), pick(3), pick(3), 0, 0}};
    const int *around = p->paddings;
    const int padded[4] = {batches, input[1] + around[2] + around[3], input[2] + around[4] + around[5], channels};
    const int *t = pads ? padded : input, out_h = (t[1] - kernel) / stride + 1, out_w = (t[2] - kernel) / stride + 1;
    p->tensors[X] = stored_tensor("x", type, input);
    p->tensors[T] = stored_tensor("t", type, padded);
    p->tensors[P] = (struct test_tensor){
        .name = "p", .type = TEST_INT32, .rank = 2, .dims = {4, 2}, .data = p->paddings, .bytes = sizeof p->paddings};
    p->tensors[V] = stored_tensor("v", type, (const int[]){1, kernel, kernel, channels});
    set_weights(&p->tensors[V], &p->v, MAX_WEIGHTS);
    p->tensors[B] = zero_bias("b", type, p->bias, channels);
    p->tensors[D] = stored_tensor("d", type, (const int[]){batches, out_h, out_w, channels});
    p->tensors[W] = stored_tensor("w", type, (const int[]){outputs, 1, 1, channels});
    set_weights(&p->tensors[W], &p->w, MAX_WEIGHTS);
    p->tensors[C] = zero_bias("c", type, p->bias, outputs);
    p->tensors[Y] = stored_tensor("y", type, (const int[]){batches, out_h, out_w, outputs});
    p->tensors[R] = stored_tensor("r", type, p->tensors[Y].dims);
    p->tensors[Z] = stored_tensor("z", type, p->tensors[Y].dims);
    const int version = type == TEST_INT8 ? 3 : 1;
    int count = 0;
    if (pads) p->nodes[count++] = (struct test_node){.builtin = kTfLiteBuiltinPad, TEST_INPUTS(X, P), TEST_OUTPUTS(T)};
    struct test_node *depthwise = &p->nodes[count++], *pointwise = &p->nodes[count++];
    *depthwise = (struct test_node){.builtin = kTfLiteBuiltinDepthwiseConv2d,
                                    .version = version,
                                    TEST_INPUTS(pads ? T : X, V, B),
                                    TEST_OUTPUTS(D)};
    set_option(depthwise, HL_DepthwiseConv2DOptions_padding, 1); // VALID
    set_option(depthwise, HL_DepthwiseConv2DOptions_stride_w, stride);
    set_option(depthwise, HL_DepthwiseConv2DOptions_stride_h, stride);
    set_option(depthwise, HL_DepthwiseConv2DOptions_depth_multiplier, 1);
    *pointwise =
        (struct test_node){.builtin = kTfLiteBuiltinConv2d, .version = version, TEST_INPUTS(D, W, C), TEST_OUTPUTS(Y)};
    set_option(pointwise, HL_Conv2DOptions_stride_w, 1);
    set_option(pointwise, HL_Conv2DOptions_stride_h, 1);
    if (has_sum)
        p->nodes[count++] = (struct test_node){.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(Y, R), TEST_OUTPUTS(Z)};
    p->model = (struct test_model){TEST_TENSORS(p->tensors), .node_count = count, .nodes = p->nodes, TEST_INPUTS(X, R),
                                   TEST_OUTPUTS(has_sum ? Z : Y)};
}

static void same_bytes(void **state)
{
    (void)state;
    static struct pair p;
    for (int i = 0; i < PAIRS; i++) {
        const int kernels[] = {2, 3, 3, 5};
        make_pair(&p, types[i % 3], kernels[pick(4)], 1 + pick(2), i / 3 % 2, i / 6 % 2);
        struct two_ways both = begin_two_ways(&p.model, NULL);
        assert_true(is_left_out(both.one, D));
        assert_false(is_left_out(both.other, D));
        assert_same_output(&both);
        if (p.model.node_count == 2) assert_true(both.one->work >= both.other->work); // no products are forgotten
        end_two_ways(&both);
    }
}

static void not_taken(void **state)
{
    (void)state;
    static struct pair p;
    for (int why = 0; why < 4; why++) {
        make_pair(&p, TEST_INT8, 3, 1, false, false);
        struct test_node *pointwise = &p.nodes[1];
        if (why == 1) p.model.outputs[p.model.output_count++] = D;
        if (why == 2)
            set_option(pointwise, HL_Conv2DOptions_stride_w, 2), p.tensors[Y].dims[2] = (p.tensors[D].dims[2] + 1) / 2;
        if (why == 3) p.tensors[X].dims[1] = 5, p.tensors[D].dims[1] = p.tensors[Y].dims[1] = 3; // a small tensor
        struct two_ways both = begin_two_ways(&p.model, NULL);
        assert_int_equal(is_left_out(both.one, D), why == 0);
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

static void new_shapes(void **state)
{
    (void)state;
    static struct pair p;
    make_pair(&p, TEST_FLOAT32, 3, 1, true, false);
    struct two_ways both = begin_two_ways(&p.model, NULL);
    int left_out = 0;
    for (int size = 40; size < 480; size += 98) {
        const int dims[4] = {2, size, 500 - size, p.tensors[X].dims[3]};
        resize_both(&both, dims);
        left_out += is_left_out(both.one, D);
        assert_same_output(&both);
    }
    assert_true(left_out > 0);
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct pair p;
    make_pair(&p, TEST_UINT8, 3, 2, false, false);
    struct two_ways both = begin_two_ways(&p.model, NULL);
    assert_true(is_left_out(both.one, D));
    check_memory_of_the_caller(&both, D);
    end_two_ways(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(not_taken),
        cmocka_unit_test(new_shapes),
        cmocka_unit_test(memory_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
