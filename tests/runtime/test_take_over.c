// SPDX-License-Identifier: Apache-2.0
// A convolution that takes over the PAD before it gives the same bytes as both nodes apart, which the option to
// preserve all tensors asks for; and it leaves PAD alone where somebody else sees the padded tensor. A sum that takes
// over squares gives the same but for rounding.
//
//   with convolutions:   r = relu(x)      t = pad(r, p)      y = convolution(t, w, b)      z = relu(t), if wanted
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, R, P, T, W, B, Y, Z, TENSORS, NODES = 60, MAX_WEIGHTS = 1 << 14, MAX_OUTPUTS = 64 };

struct chain {
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[4];
    struct test_model model;
    int32_t paddings[8];
    union {
        float f32[MAX_WEIGHTS];
        int8_t bytes[MAX_WEIGHTS];
    } w;
    int32_t bias[MAX_OUTPUTS]; // zeros of either type
};

static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};

// `kernel`: of the windows, in both directions; channels also come in groups, and one by one.
static void make_chain(struct chain *c, enum test_type type, bool depthwise, int kernel)
{
    const int channels = depthwise ? 1 + pick(40) : 4 * (1 + pick(4)), stride = 1 + pick(2);
    const int groups = depthwise ? 1 : 1 << pick(3), outputs = depthwise ? channels : groups * (1 + pick(6));
    const int height = 9 + pick(20), width = 9 + pick(70);
    *c = (struct chain){.paddings = {0, 0, pick(3), pick(3), pick(3), pick(3), 0, 0}};
    const int padded[4] = {1, height + c->paddings[2] + c->paddings[3], width + c->paddings[4] + c->paddings[5],
                           channels};
    c->tensors[X] = stored_tensor("x", type, (const int[]){1, height, width, channels});
    c->tensors[R] = stored_tensor("r", type, (const int[]){1, height, width, channels});
    c->tensors[T] = stored_tensor("t", type, padded);
    c->tensors[Z] = stored_tensor("z", type, padded);
    c->tensors[W] = stored_tensor("w", type, (const int[]){outputs, kernel, kernel, channels / groups});
    if (depthwise) memcpy(c->tensors[W].dims, (const int[]){1, kernel, kernel, outputs}, 4 * sizeof(int));
    c->tensors[Y] =
        stored_tensor("y", type,
                      (const int[]){1, (padded[1] - kernel) / stride + 1, (padded[2] - kernel) / stride + 1, outputs});
    c->tensors[P] = (struct test_tensor){
        .name = "p", .type = TEST_INT32, .rank = 2, .dims = {4, 2}, .data = c->paddings, .bytes = sizeof c->paddings};
    c->tensors[B] = zero_bias("b", type, c->bias, outputs);
    if (type != TEST_FLOAT32) c->tensors[Y].scale = 0.3f;
    assert_true(outputs <= MAX_OUTPUTS);
    set_weights(&c->tensors[W], &c->w, MAX_WEIGHTS);
    c->nodes[0] = (struct test_node){.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(X), TEST_OUTPUTS(R)};
    c->nodes[1] = (struct test_node){.builtin = kTfLiteBuiltinPad, TEST_INPUTS(R, P), TEST_OUTPUTS(T)};
    c->nodes[2] = (struct test_node){.builtin = depthwise ? kTfLiteBuiltinDepthwiseConv2d : kTfLiteBuiltinConv2d,
                                     TEST_INPUTS(T, W, B),
                                     TEST_OUTPUTS(Y)};
    c->nodes[3] = (struct test_node){.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(T), TEST_OUTPUTS(Z)};
    c->nodes[2].version = type == TEST_INT8 ? 3 : 1;
    set_option(&c->nodes[2], depthwise ? HL_DepthwiseConv2DOptions_padding : HL_Conv2DOptions_padding, 1); // VALID
    set_option(&c->nodes[2], depthwise ? HL_DepthwiseConv2DOptions_stride_w : HL_Conv2DOptions_stride_w, stride);
    set_option(&c->nodes[2], depthwise ? HL_DepthwiseConv2DOptions_stride_h : HL_Conv2DOptions_stride_h, stride);
    if (depthwise) set_option(&c->nodes[2], HL_DepthwiseConv2DOptions_depth_multiplier, 1);
    c->model = (struct test_model){TEST_TENSORS(c->tensors), .node_count = 3, .nodes = c->nodes, TEST_INPUTS(X),
                                   TEST_OUTPUTS(Y)};
}

// A padded tensor that is not written has no memory.
static bool is_taken(const TfLiteInterpreter *interpreter)
{
    return is_left_out(interpreter, T);
}

static void same_bytes(void **state)
{
    (void)state;
    static struct chain c;
    int count = 0;
    for (int i = 0; i < NODES; i++) {
        make_chain(&c, types[i % 3], i / 3 % 2, 2 + pick(3));
        struct two_ways both = begin_two_ways(&c.model, NULL);
        assert_true(is_taken(both.one) || c.tensors[X].type == TEST_FLOAT32); // few floats may be left
        assert_false(is_taken(both.other));
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.one, 1), is_taken(both.one) ? 2 : 1);
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.other, 1), 1);
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.other, c.model.node_count), -1);
        count += is_taken(both.one);
        assert_same_output(&both);
        end_two_ways(&both);
    }
    assert_true(count > NODES * 3 / 4);
}

static void not_taken(void **state)
{
    (void)state;
    static struct chain c;
    for (int why = 0; why < 4; why++) {
        make_chain(&c, TEST_INT8, false, why == 0 ? 1 : 3);
        if (why == 1) c.model.outputs[c.model.output_count++] = T;
        if (why == 2) c.model.node_count = 4, c.model.outputs[c.model.output_count++] = Z;
        if (why == 3) { // a border of channels
            c.paddings[7] = c.tensors[T].dims[3] - 1;
            c.tensors[X].dims[3] = c.tensors[R].dims[3] = 1;
        }
        struct two_ways both = begin_two_ways(&c.model, NULL);
        assert_false(is_taken(both.one));
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

static void new_shapes(void **state)
{
    (void)state;
    static struct chain c;
    make_chain(&c, TEST_FLOAT32, true, 3);
    struct two_ways both = begin_two_ways(&c.model, NULL);
    for (int size = 12; size < 40; size += 9) {
        const int dims[4] = {2, size, 50 - size, c.tensors[X].dims[3]};
        resize_both(&both, dims);
        assert_true(is_taken(both.one));
        assert_same_output(&both);
    }
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct chain c;
    make_chain(&c, TEST_UINT8, true, 3);
    struct two_ways both = begin_two_ways(&c.model, NULL);
    assert_true(is_taken(both.one));
    check_memory_of_the_caller(&both, T);
    end_two_ways(&both);
}

// ---- delegates that take one of both ------------------------------------------------------------

static void delegates(void **state)
{
    (void)state;
    static struct chain c;
    for (int node = 1; node <= 2; node++) {
        make_chain(&c, TEST_INT8, false, 3);
        TfLiteDelegate delegate = TfLiteDelegateCreate();
        delegate.data_ = &node;
        delegate.Prepare = take_node;
        struct two_ways both = begin_two_ways(&c.model, &delegate);
        assert_false(is_taken(both.one));
        run_with(both.one, 7);
        run_with(both.other, 7);
        const TfLiteTensor *t = tensor_of(both.other, T), *y = tensor_of(both.one, Y);
        if (node == 1) // the padded tensor is what the delegate wrote, and the convolution reads it
            assert_memory_equal(tensor_of(both.one, T)->data.raw, tensor_of(both.other, R)->data.raw,
                                tensor_of(both.other, R)->bytes);
        else
            assert_memory_equal(y->data.raw, t->data.raw, t->bytes < y->bytes ? t->bytes : y->bytes);
        end_two_ways(&both);
    }
}

// ---- sums of squares ----------------------------------------------------------------------------

static const struct squares {
    int dims[3];
    int axis_count, axes[2];
    int op;
    enum { NOTHING, ACTIVATION, OTHER_FACTOR, SEEN } but; // why the sum may not take them
    bool taken;
} sums_of_squares[] = {
    {{3, 5, 512}, 1, {2}, kTfLiteBuiltinSum, NOTHING, true},
    {{3, 5, 512}, 1, {-1}, kTfLiteBuiltinMean, NOTHING, true},
    {{1, 30, 77}, 2, {1, 2}, kTfLiteBuiltinSum, NOTHING, true},
    {{40, 1, 80}, 2, {0, 2}, kTfLiteBuiltinMean, NOTHING, true},
    {{200, 1, 80}, 2, {0, 2}, kTfLiteBuiltinMean, NOTHING, true},
    {{40, 3, 80}, 2, {0, 2}, kTfLiteBuiltinSum, NOTHING, true},
    {{40, 3, 80}, 1, {0}, kTfLiteBuiltinSum, NOTHING, false},
    {{30, 50, 9}, 1, {2}, kTfLiteBuiltinSum, NOTHING, true},
    {{3, 5, 512}, 1, {2}, kTfLiteBuiltinReduceMax, NOTHING, false},
    {{3, 5, 512}, 1, {2}, kTfLiteBuiltinSum, ACTIVATION, false},
    {{3, 5, 512}, 1, {2}, kTfLiteBuiltinSum, OTHER_FACTOR, false},
    {{3, 5, 512}, 1, {2}, kTfLiteBuiltinSum, SEEN, false},
};

static void squares(void **state)
{
    (void)state;
    enum { FIRST, SECOND, PRODUCT, AXES, SUM };
    for (size_t i = 0; i < TEST_LENGTH(sums_of_squares); i++) {
        const struct squares *s = &sums_of_squares[i];
        struct test_tensor tensors[SUM + 1] = {[AXES] = {.name = "axes",
                                                         .type = TEST_INT32,
                                                         .rank = 1,
                                                         .dims = {s->axis_count},
                                                         .data = s->axes,
                                                         .bytes = (size_t)s->axis_count * sizeof(int)}};
        for (int t = 0; t <= SUM; t++) {
            if (t == AXES) continue;
            tensors[t] = (struct test_tensor){.name = "t", .type = TEST_FLOAT32, .rank = t == SUM ? 0 : 3};
            memcpy(tensors[t].dims, s->dims, sizeof s->dims);
        }
        struct test_node nodes[] = {
            {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(FIRST, s->but == OTHER_FACTOR), TEST_OUTPUTS(PRODUCT)},
            {.builtin = s->op, TEST_INPUTS(PRODUCT, AXES), TEST_OUTPUTS(SUM)},
        };
        set_option(&nodes[0], HL_MulOptions_fused_activation_function, s->but == ACTIVATION);
        struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(FIRST, SECOND),
                                   TEST_OUTPUTS(SUM, PRODUCT)};
        if (s->but != SEEN) model.output_count = 1;
        struct two_ways both = begin_two_ways(&model, NULL);
        run_with(both.one, 5);
        run_with(both.other, 5);
        const TfLiteTensor *y = tensor_of(both.one, SUM), *expected = tensor_of(both.other, SUM);
        assert_int_equal(is_left_out(both.one, PRODUCT), s->taken);
        assert_int_equal(y->bytes, expected->bytes);
        if (!s->taken) assert_memory_equal(y->data.raw, expected->data.raw, y->bytes);
        // Squares are not rounded before they are added, and up to 16,000 are added in another order.
        for (size_t k = 0; s->taken && k < y->bytes / sizeof(float); k++)
            assert_float_equal(y->data.f[k], expected->data.f[k], 1e-5f * expected->data.f[k]);
        end_two_ways(&both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),           cmocka_unit_test(not_taken), cmocka_unit_test(new_shapes),
        cmocka_unit_test(memory_of_the_caller), cmocka_unit_test(delegates), cmocka_unit_test(squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
