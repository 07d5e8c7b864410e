// SPDX-License-Identifier: Apache-2.0
// A convolution or a sum that computes the element-wise nodes behind it gives the same bytes as all nodes apart, which
// the option to preserve all tensors asks for; and it leaves them alone where somebody else sees a tensor between them.
//
//   the graph:   t0 = convolution(x, w, b) or x + r   t1 = f(t0 or r, c, s, v ...)   ...   the last one is the output
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

// Beside x, weights and bias: another input of the output's shape, one value for each channel, one value, both
// constant, an input of one value for each channel or of a line of the output, and conditions of either shape.
enum { X, W, B, R, C, S, V, N, FIRST, MAX_STEPS = 8, TENSORS = FIRST + 1 + MAX_STEPS };
enum { CHAINS = 160, MAX_WEIGHTS = 1 << 14, MAX_CHANNELS = 50 };

struct chain {
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[1 + MAX_STEPS];
    struct test_model model;
    int steps;
    union {
        float f32[MAX_WEIGHTS];
        int8_t bytes[MAX_WEIGHTS];
    } w, c, s;
    int32_t bias[MAX_CHANNELS]; // zeros of either type
    float scales[MAX_CHANNELS]; // of a hybrid depthwise convolution's weights
};

enum layer { CONV, DEPTHWISE, DENSE, SUM, LAYERS };
enum values { FLOATS, INT8, UINT8, HYBRID, VALUES };

static void set_tensor(struct chain *c, int number, enum test_type type, int rank, const int *dims)
{
    static const char *const names[TENSORS] = {"x",  "w",  "b",  "r",  "c",  "s",  "v",  "n", "t0",
                                               "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"};
    struct test_tensor *tensor = &c->tensors[number];
    *tensor = (struct test_tensor){.name = names[number], .type = type, .rank = rank};
    memcpy(tensor->dims, dims, (size_t)rank * sizeof(int));
    if (type == TEST_FLOAT32) return;
    tensor->scale = 0.01f * (float)(1 + pick(5));
    tensor->zero_point = (type == TEST_UINT8 ? 128 : 0) + pick(21) - 10;
}

// Appends a node that reads the last value of the chain, and perhaps an earlier one or another tensor.
static void add_step(struct chain *c, enum test_type type)
{
    static const int maps[] = {kTfLiteBuiltinLogistic, kTfLiteBuiltinTanh,      kTfLiteBuiltinHardSwish,
                               kTfLiteBuiltinRelu,     kTfLiteBuiltinLeakyRelu, kTfLiteBuiltinRelu6,
                               kTfLiteBuiltinQuantize, kTfLiteBuiltinPrelu};
    static const int pairs[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinSub, kTfLiteBuiltinMul};
    const int last = FIRST + c->steps, to = last + 1, others[] = {R, C, S, V, last, FIRST + pick(c->steps + 1)};
    struct test_node *node = &c->nodes[1 + c->steps++];
    set_tensor(c, to, type, c->tensors[FIRST].rank, c->tensors[FIRST].dims);
    if (pick(8) == 0) {
        const int swapped = pick(2);
        *node = (struct test_node){.builtin = kTfLiteBuiltinSelectV2,
                                   TEST_INPUTS(N, swapped ? S : last, swapped ? last : S),
                                   TEST_OUTPUTS(to)};
        return;
    }
    if (pick(2)) {
        const int other = others[pick(6)], swapped = pick(2);
        *node = (struct test_node){.builtin = pairs[pick(3)],
                                   TEST_INPUTS(swapped ? other : last, swapped ? last : other),
                                   TEST_OUTPUTS(to)};
        c->tensors[to].scale *= 2;
        return;
    }
    const int map = maps[pick(type == TEST_FLOAT32 ? 8 : 7)];
    const bool as_other = type == TEST_FLOAT32 && map == kTfLiteBuiltinQuantize; // floats have no such node
    *node = (struct test_node){.builtin = as_other ? kTfLiteBuiltinNeg : map, TEST_INPUTS(last), TEST_OUTPUTS(to)};
    if (map == kTfLiteBuiltinPrelu) node->inputs[node->input_count++] = C;
    if (map == kTfLiteBuiltinLeakyRelu) set_option(node, HL_LeakyReluOptions_alpha, 0.1);
    if (type == TEST_FLOAT32) return;
    if (map == kTfLiteBuiltinLogistic)
        c->tensors[to].scale = 1.0f / 256, c->tensors[to].zero_point = type == TEST_INT8 ? -128 : 0;
    if (map == kTfLiteBuiltinTanh)
        c->tensors[to].scale = 1.0f / 128, c->tensors[to].zero_point = type == TEST_INT8 ? 0 : 128;
}

static void make_layer(struct chain *c, enum layer layer, enum test_type type, bool hybrid, int kernel)
{
    const int size = type == TEST_FLOAT32 ? 1 << 16 : 1 << 18;
    const int channels = 8 * (1 + pick(4)), width = layer == DENSE ? 1 : 30 + pick(60);
    const int outputs = layer == DEPTHWISE || layer == SUM ? channels : 1 + pick(MAX_CHANNELS);
    const int height = size / width / outputs + kernel; // what is smaller is left alone
    const int x[] = {1, height, width, channels}, y[] = {1, height, width, outputs};
    const int one[] = {1, 1, height % 2 ? width : 1, outputs};
    const int w[] = {outputs, kernel, kernel, channels}, w_depthwise[] = {1, kernel, kernel, outputs};
    const int dense_x[] = {height, channels}, dense_w[] = {outputs, channels}, dense_y[] = {height, outputs};
    const int rank = layer == DENSE ? 2 : 4;
    const enum test_type w_type = hybrid ? TEST_INT8 : type;
    set_tensor(c, X, type, rank, layer == DENSE ? dense_x : x);
    set_tensor(c, W, w_type, rank, layer == DENSE ? dense_w : layer == DEPTHWISE ? w_depthwise : w);
    if (w_type == TEST_INT8) c->tensors[W].zero_point = 0;
    if (hybrid && layer == DEPTHWISE) {
        for (int i = 0; i < outputs; i++) c->scales[i] = 0.001f * (float)(1 + pick(9));
        c->tensors[W].scales = c->scales, c->tensors[W].scale_count = outputs, c->tensors[W].quantized_dimension = 3;
    }
    set_constant(&c->tensors[W], &c->w, MAX_WEIGHTS);
    set_tensor(c, R, type, rank, layer == DENSE ? dense_y : y);
    set_tensor(c, FIRST, type, rank, layer == DENSE ? dense_y : y);
    set_tensor(c, C, type, 1, (const int[]){outputs});
    set_constant(&c->tensors[C], &c->c, MAX_WEIGHTS);
    set_tensor(c, S, type, 1, (const int[]){1});
    set_constant(&c->tensors[S], &c->s, MAX_WEIGHTS);
    set_tensor(c, V, type, rank, layer == DENSE ? (const int[]){1, outputs} : one);
    set_tensor(c, N, TEST_BOOL, rank, c->tensors[pick(2) ? V : R].dims);
    c->tensors[B] = (struct test_tensor){.name = "b", .type = TEST_INT32, .rank = 1, .dims = {outputs}};
    c->tensors[B].data = c->bias;
    c->tensors[B].bytes = (size_t)outputs * sizeof *c->bias;
    if (type == TEST_FLOAT32)
        c->tensors[B].type = TEST_FLOAT32;
    else
        c->tensors[B].scale = c->tensors[X].scale * c->tensors[W].scale, c->tensors[FIRST].scale *= 10;
    if (layer == SUM) {
        c->nodes[0] = (struct test_node){.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(X, R), TEST_OUTPUTS(FIRST)};
        return;
    }
    static const int builtins[] = {kTfLiteBuiltinConv2d, kTfLiteBuiltinDepthwiseConv2d, kTfLiteBuiltinFullyConnected};
    c->nodes[0] = (struct test_node){.builtin = builtins[layer], TEST_INPUTS(X, W, B), TEST_OUTPUTS(FIRST)};
    c->nodes[0].version = layer == DENSE ? 4 : layer == DEPTHWISE ? 6 : 5;
    if (layer == DENSE) return;
    set_option(&c->nodes[0], layer == CONV ? HL_Conv2DOptions_stride_w : HL_DepthwiseConv2DOptions_stride_w, 1);
    set_option(&c->nodes[0], layer == CONV ? HL_Conv2DOptions_stride_h : HL_DepthwiseConv2DOptions_stride_h, 1);
    if (layer == DEPTHWISE) set_option(&c->nodes[0], HL_DepthwiseConv2DOptions_depth_multiplier, 1);
}

// `kernel`: of the windows, in both directions.
static void make_chain(struct chain *c, enum layer layer, enum values values, int kernel, int steps)
{
    const enum test_type type = values == INT8 ? TEST_INT8 : values == UINT8 ? TEST_UINT8 : TEST_FLOAT32;
    memset(c, 0, sizeof *c);
    make_layer(c, layer, type, values == HYBRID, kernel);
    for (int i = 0; i < steps; i++) add_step(c, type);
    c->model = (struct test_model){.tensor_count = FIRST + 1 + steps,
                                   .tensors = c->tensors,
                                   .node_count = 1 + steps,
                                   .nodes = c->nodes,
                                   TEST_INPUTS(X, R, V, N),
                                   TEST_OUTPUTS(FIRST + steps)};
}

static void same_bytes(void **state)
{
    (void)state;
    static struct chain c;
    int count = 0;
    for (int i = 0; i < CHAINS; i++) {
        const enum layer layer = i % LAYERS;
        make_chain(&c, layer, i / LAYERS % VALUES, layer == DENSE ? 1 : 1 + pick(3), 1 + pick(MAX_STEPS));
        struct two_ways both = begin_two_ways(&c.model, NULL);
        assert_false(is_left_out(both.other, FIRST));
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.one, 1), is_left_out(both.one, FIRST) ? 0 : 1);
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.other, 1), 1);
        count += is_left_out(both.one, FIRST);
        assert_same_output(&both);
        end_two_ways(&both);
    }
    assert_true(count > CHAINS / 4); // levels without instructions for bytes have no steps of them
}

// Two nodes behind a convolution of so few outputs that no level cuts it along channels, where nothing could follow.
static void make_narrow_chain(struct chain *c, enum values values)
{
    do make_chain(c, CONV, values, 2, 2);
    while (c->tensors[FIRST].dims[3] > 16);
}

// A chain of LOGISTIC and MUL, which other readers, or memory of the caller, part.
static void make_swish(struct chain *c, enum values values)
{
    make_narrow_chain(c, values);
    if (values == INT8) c->tensors[FIRST + 1].scale = 1.0f / 256, c->tensors[FIRST + 1].zero_point = -128;
    c->nodes[1] = (struct test_node){.builtin = kTfLiteBuiltinLogistic, TEST_INPUTS(FIRST), TEST_OUTPUTS(FIRST + 1)};
    c->nodes[2] =
        (struct test_node){.builtin = kTfLiteBuiltinMul, TEST_INPUTS(FIRST, FIRST + 1), TEST_OUTPUTS(FIRST + 2)};
}

// RELU(x) + c * -RELU(-x), as converters write PRELU; variant: bits that say how it is written.
static void make_parted_prelu(struct chain *c, enum layer layer, int variant)
{
    const bool negates = variant & 1, swaps_product = variant & 2, swaps_sum = variant & 4, mirrors_first = variant & 8;
    const int relu = FIRST + 1 + mirrors_first, mirrored = FIRST + 2 - mirrors_first, below = FIRST + 3;
    const int factor = negates ? below + 1 : below, product = factor + 1, sum = product + 1;
    make_chain(c, layer, FLOATS, layer == DENSE ? 1 : 2, negates ? 6 : 5);
    c->nodes[relu - FIRST] = (struct test_node){.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(FIRST), TEST_OUTPUTS(relu)};
    c->nodes[mirrored - FIRST] =
        (struct test_node){.builtin = kTfLiteBuiltinNeg, TEST_INPUTS(FIRST), TEST_OUTPUTS(mirrored)};
    c->nodes[below - FIRST] =
        (struct test_node){.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(mirrored), TEST_OUTPUTS(below)};
    if (negates)
        c->nodes[factor - FIRST] =
            (struct test_node){.builtin = kTfLiteBuiltinNeg, TEST_INPUTS(below), TEST_OUTPUTS(factor)};
    c->nodes[product - FIRST] = (struct test_node){.builtin = kTfLiteBuiltinMul,
                                                   TEST_INPUTS(swaps_product ? C : factor, swaps_product ? factor : C),
                                                   TEST_OUTPUTS(product)};
    c->nodes[sum - FIRST] = (struct test_node){.builtin = kTfLiteBuiltinAdd,
                                               TEST_INPUTS(swaps_sum ? product : relu, swaps_sum ? relu : product),
                                               TEST_OUTPUTS(sum)};
}

// The parts are one step of the chain, and still what the nodes make one after the other; a sum whose parts belong to
// different values, or have an activation, is none of a PRELU.
static void parted_prelu(void **state)
{
    (void)state;
    static struct chain c;
    enum { PLAIN, OTHER_VALUE, ACTIVATION, WAYS };
    int count = 0;
    for (int i = 0; i < 16 * WAYS; i++) {
        make_parted_prelu(&c, i % LAYERS, i / WAYS);
        if (i % WAYS == OTHER_VALUE) c.nodes[2].inputs[0] = c.nodes[1].outputs[0];
        if (i % WAYS == ACTIVATION)
            set_option(&c.nodes[c.steps - 1], HL_MulOptions_fused_activation_function, kTfLiteActRelu);
        struct two_ways both = begin_two_ways(&c.model, NULL);
        count += is_left_out(both.one, FIRST);
        assert_same_output(&both);
        end_two_ways(&both);
    }
    assert_true(count > 8 * WAYS); // not where the work is cut along channels
}

static void left_alone(void **state)
{
    (void)state;
    static struct chain c;
    for (int why = 0; why < 4; why++) {
        make_swish(&c, FLOATS);
        if (why == 1) c.model.outputs[c.model.output_count++] = FIRST;
        if (why == 2) c.model.outputs[c.model.output_count++] = FIRST + 1; // the logistic alone may follow
        if (why == 3) c.nodes[1].builtin = kTfLiteBuiltinSign;
        struct two_ways both = begin_two_ways(&c.model, NULL);
        assert_int_equal(is_left_out(both.one, FIRST), why == 0);
        assert_int_equal(is_left_out(both.one, FIRST + 1), why < 2); // the logistic can lead, too
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

// The other operand of the chain is written behind the convolution: it is not there yet.
static void late_operand(void **state)
{
    (void)state;
    static struct chain c;
    make_narrow_chain(&c, FLOATS);
    c.nodes[1] = (struct test_node){.builtin = kTfLiteBuiltinSign, TEST_INPUTS(R), TEST_OUTPUTS(FIRST + 1)};
    c.nodes[2] =
        (struct test_node){.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(FIRST, FIRST + 1), TEST_OUTPUTS(FIRST + 2)};
    for (int early = 0; early < 2; early++) {
        struct two_ways both = begin_two_ways(&c.model, NULL);
        assert_int_equal(is_left_out(both.one, FIRST), early);
        assert_same_output(&both);
        end_two_ways(&both);
        const struct test_node first = c.nodes[0];
        c.nodes[0] = c.nodes[1], c.nodes[1] = first;
    }
}

static void new_shapes(void **state)
{
    (void)state;
    static struct chain c;
    make_swish(&c, INT8);
    struct two_ways both = begin_two_ways(&c.model, NULL);
    for (int size = 3; size < 40; size += 9) {
        const int dims[4] = {2, size, 50 - size, c.tensors[X].dims[3]};
        resize_both(&both, dims);
        assert_same_output(&both);
    }
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct chain c;
    make_swish(&c, FLOATS);
    struct two_ways both = begin_two_ways(&c.model, NULL);
    assert_true(is_left_out(both.one, FIRST));
    check_memory_of_the_caller(&both, FIRST);
    check_memory_of_the_caller(&both, FIRST + 2); // the chain's output
    end_two_ways(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes), cmocka_unit_test(left_alone),           cmocka_unit_test(late_operand),
        cmocka_unit_test(new_shapes), cmocka_unit_test(memory_of_the_caller), cmocka_unit_test(parted_prelu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
