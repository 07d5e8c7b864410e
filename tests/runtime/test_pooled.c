// SPDX-License-Identifier: Apache-2.0
// A convolution that computes the pool behind it, and the element-wise nodes between both, gives the same bytes as all
// nodes apart, which the option to preserve all tensors asks for; and it leaves the pool alone where somebody else sees
// the tensor that it reads, where its windows overlap, and where the tensor is small.
//
//   t0 = convolution(x or depthwise(x, v, z), w, b)   t1 = f(t0, c or r)   ...   y = pool(the last t)
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, V, Z, D, W, B, R, C, Y, FIRST, MAX_STEPS = 6, TENSORS = FIRST + 1 + MAX_STEPS, MODELS = 120 };
enum { MAX_WEIGHTS = 1 << 13, MAX_CHANNELS = 50, MEGABYTE = 1 << 20, DIMS = 4 };

struct pooled {
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[3 + MAX_STEPS];
    struct test_model model;
    struct test_node *pool;
    int last; // the tensor that the pool reads
    union {
        float f32[MAX_WEIGHTS];
        int8_t bytes[MAX_WEIGHTS];
    } v, w, c;
    int32_t bias[MAX_CHANNELS]; // zeros of either type
};

struct form {
    enum test_type type;
    bool hybrid, has_depthwise, is_average, is_valid;
    int batches, kernel, steps;
    int filter[2], stride[2]; // of the pool: height, width
    int activation;           // its
    int bytes, width;         // of the tensor that it reads: about, and 0: any
};

static struct form random_form(int number)
{
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    struct form form = {.type = types[number % 3],
                        .is_average = pick(3) == 0,
                        .is_valid = pick(2),
                        .batches = 1 + pick(3),
                        .kernel = 1 + pick(3),
                        .steps = pick(MAX_STEPS + 1),
                        .activation = pick(2) ? kTfLiteActNone : kTfLiteActRelu,
                        .bytes = MEGABYTE};
    form.hybrid = form.type == TEST_FLOAT32 && pick(8) == 0;
    form.has_depthwise = form.kernel == 1 && !form.hybrid && pick(2);
    for (int axis = 0; axis < 2; axis++) {
        form.stride[axis] = 1 + pick(3);
        form.filter[axis] = pick(3) == 0 ? 1 + pick(3) : form.stride[axis];
    }
    return form;
}

static void set_tensor(struct pooled *p, int number, enum test_type type, const int dims[DIMS])
{
    static const char *const names[TENSORS] = {"x", "v",  "z",  "d",  "w",  "b",  "r",  "c",
                                               "y", "t0", "t1", "t2", "t3", "t4", "t5", "t6"};
    p->tensors[number] = stored_tensor(names[number], type, dims);
}

// A node that goes on with the last tensor, and perhaps another one.
static void add_step(struct pooled *p, enum test_type type, struct test_node *node)
{
    static const int builtins[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinMul, kTfLiteBuiltinRelu, kTfLiteBuiltinTanh};
    const int builtin = builtins[pick(4)], from = p->last, to = ++p->last;
    set_tensor(p, to, type, p->tensors[FIRST].dims);
    *node = (struct test_node){.builtin = builtin, TEST_INPUTS(from), TEST_OUTPUTS(to)};
    if (builtin == kTfLiteBuiltinAdd || builtin == kTfLiteBuiltinMul)
        node->inputs[node->input_count++] = pick(2) ? R : C;
    if (type == TEST_FLOAT32 || builtin != kTfLiteBuiltinTanh) return;
    p->tensors[to].scale = 1.0f / 128;
    p->tensors[to].zero_point = type == TEST_INT8 ? 0 : 128;
}

static void add_pool(struct pooled *p, const struct form *form, struct test_node *node)
{
    int dims[DIMS];
    memcpy(dims, p->tensors[p->last].dims, sizeof dims);
    for (int axis = 0; axis < 2; axis++) {
        const int in = dims[1 + axis], stride = form->stride[axis];
        dims[1 + axis] = form->is_valid ? (in - form->filter[axis]) / stride + 1 : (in + stride - 1) / stride;
    }
    set_tensor(p, Y, form->type, dims);
    p->tensors[Y].scale = p->tensors[p->last].scale;
    p->tensors[Y].zero_point = p->tensors[p->last].zero_point;
    *node = (struct test_node){.builtin = form->is_average ? kTfLiteBuiltinAveragePool2d : kTfLiteBuiltinMaxPool2d,
                               .version = form->type == TEST_INT8 ? 2 : 1,
                               TEST_INPUTS(p->last),
                               TEST_OUTPUTS(Y)};
    set_option(node, HL_Pool2DOptions_padding, form->is_valid);
    set_option(node, HL_Pool2DOptions_filter_height, form->filter[0]);
    set_option(node, HL_Pool2DOptions_filter_width, form->filter[1]);
    set_option(node, HL_Pool2DOptions_stride_h, form->stride[0]);
    set_option(node, HL_Pool2DOptions_stride_w, form->stride[1]);
    set_option(node, HL_Pool2DOptions_fused_activation_function, form->activation);
    p->pool = node;
}

// Few channels, with which Winograd's algorithm does not pay.
static void make_pooled(struct pooled *p, const struct form *form)
{
    const int channels = 1 + pick(3), outputs = 1 + pick(MAX_CHANNELS), kernel = form->kernel;
    const int width = form->width > 0 ? form->width : 20 + pick(120);
    const int size = form->type == TEST_FLOAT32 ? 4 : 1;
    const int height = form->bytes / (width * outputs * size * form->batches) + 2 + pick(5);
    const int x[DIMS] = {form->batches, height, width, channels}, y[DIMS] = {form->batches, height, width, outputs};
    const enum test_type w_type = form->hybrid ? TEST_INT8 : form->type;
    *p = (struct pooled){.last = FIRST};
    set_tensor(p, X, form->type, x);
    set_tensor(p, V, form->type, (const int[]){1, 3, 3, channels});
    set_tensor(p, D, form->type, x);
    set_tensor(p, W, w_type, (const int[]){outputs, kernel, kernel, channels});
    set_tensor(p, R, form->type, y);
    set_tensor(p, C, form->type, (const int[]){1, 1, 1, outputs});
    set_tensor(p, FIRST, form->type, y);
    set_weights(&p->tensors[V], &p->v, MAX_WEIGHTS);
    set_weights(&p->tensors[W], &p->w, MAX_WEIGHTS);
    set_weights(&p->tensors[C], &p->c, MAX_WEIGHTS);
    p->tensors[Z] = zero_bias("z", form->type, p->bias, channels);
    p->tensors[B] = zero_bias("b", form->type, p->bias, outputs);
    const int version = form->hybrid ? 5 : form->type == TEST_INT8 ? 3 : 1;
    struct test_node *node = p->nodes;
    if (form->has_depthwise) {
        *node = (struct test_node){.builtin = kTfLiteBuiltinDepthwiseConv2d,
                                   .version = version,
                                   TEST_INPUTS(X, V, Z),
                                   TEST_OUTPUTS(D)};
        set_option(node, HL_DepthwiseConv2DOptions_stride_w, 1);
        set_option(node, HL_DepthwiseConv2DOptions_stride_h, 1);
        set_option(node++, HL_DepthwiseConv2DOptions_depth_multiplier, 1);
    }
    *node = (struct test_node){.builtin = kTfLiteBuiltinConv2d,
                               .version = version,
                               TEST_INPUTS(form->has_depthwise ? D : X, W, B),
                               TEST_OUTPUTS(FIRST)};
    set_option(node, HL_Conv2DOptions_stride_w, 1);
    set_option(node++, HL_Conv2DOptions_stride_h, 1);
    for (int i = 0; i < form->steps; i++) add_step(p, form->type, node++);
    add_pool(p, form, node++);
    p->model = (struct test_model){.tensor_count = p->last + 1,
                                   .tensors = p->tensors,
                                   .node_count = (int)(node - p->nodes),
                                   .nodes = p->nodes,
                                   TEST_INPUTS(X, R),
                                   TEST_OUTPUTS(Y)};
}

static void same_bytes(void **state)
{
    (void)state;
    static struct pooled p;
    int count = 0, could = 0;
    for (int i = 0; i < MODELS; i++) {
        const struct form form = random_form(i);
        make_pooled(&p, &form);
        struct two_ways both = begin_two_ways(&p.model, NULL);
        const bool may = form.filter[0] <= form.stride[0] && !form.hybrid;
        if (!may) assert_false(is_left_out(both.one, p.last));
        could += may;
        assert_false(is_left_out(both.other, p.last));
        count += is_left_out(both.one, p.last);
        assert_same_output(&both);
        // No window is forgotten; a tensor that nobody writes is not counted as input.
        const double unread = is_left_out(both.one, p.last) ? (double)tensor_of(both.one, p.last)->bytes : 0;
        if (form.steps == 0) assert_true(both.one->work + 2 * unread >= both.other->work);
        end_two_ways(&both);
    }
    assert_true(could > MODELS / 2 &&
                count > could * 3 / 4); // not where threads have few rows, or parts of the channels
}

// A PRELU as converters write it between both: the longest chain there is.
static void parted_prelu(void **state)
{
    (void)state;
    static struct pooled p;
    static const int from[] = {0, 0, 2, 3, 4, 5}, other[] = {-1, -1, -1, -1, C, FIRST + 1};
    static const int builtins[] = {kTfLiteBuiltinRelu, kTfLiteBuiltinNeg, kTfLiteBuiltinRelu,
                                   kTfLiteBuiltinNeg,  kTfLiteBuiltinMul, kTfLiteBuiltinAdd};
    int count = 0;
    for (int i = 0; i < 8; i++) {
        struct form form = random_form(0);
        form.bytes = 3 * MEGABYTE;
        form.hybrid = false, form.steps = MAX_STEPS, form.filter[0] = form.stride[0];
        make_pooled(&p, &form);
        for (int s = 0; s < MAX_STEPS; s++) {
            struct test_node *node = &p.nodes[1 + form.has_depthwise + s];
            *node =
                (struct test_node){.builtin = builtins[s], TEST_INPUTS(FIRST + from[s]), TEST_OUTPUTS(FIRST + 1 + s)};
            if (other[s] >= 0) node->inputs[node->input_count++] = other[s];
        }
        struct two_ways both = begin_two_ways(&p.model, NULL);
        assert_true(is_left_out(both.one, FIRST) || !is_left_out(both.one, p.last));
        count += is_left_out(both.one, p.last);
        assert_same_output(&both);
        end_two_ways(&both);
    }
    assert_true(count > 4);
}

static void left_alone(void **state)
{
    (void)state;
    static struct pooled p;
    enum { TAKEN, OUTPUT, FIRST_IS_OUTPUT, OTHER_READER, EARLIER_VALUE, SMALL, WIDE, OVERLAPS, WAYS };
    for (int why = 0; why < WAYS; why++) {
        struct form form = {.type = TEST_FLOAT32, .batches = 1, .kernel = 1, .steps = 2, .is_valid = true};
        form.filter[0] = why == OVERLAPS ? 3 : 2, form.filter[1] = form.stride[0] = form.stride[1] = 2;
        form.bytes = why == SMALL ? MEGABYTE / 2 : 2 * MEGABYTE;
        form.width = why == WIDE ? MEGABYTE / 14 : 0; // two lines are too long for a cache
        make_pooled(&p, &form);
        if (why == OUTPUT) p.model.outputs[p.model.output_count++] = p.last;
        if (why == FIRST_IS_OUTPUT) p.model.outputs[p.model.output_count++] = FIRST;
        if (why == EARLIER_VALUE) p.pool->inputs[0] = FIRST + 1;
        if (why == OTHER_READER) {
            set_tensor(&p, D, form.type, p.tensors[FIRST].dims);
            p.nodes[p.model.node_count++] =
                (struct test_node){.builtin = kTfLiteBuiltinNeg, TEST_INPUTS(p.last), TEST_OUTPUTS(D)};
            p.model.outputs[p.model.output_count++] = D;
        }
        struct two_ways both = begin_two_ways(&p.model, NULL);
        assert_int_equal(is_left_out(both.one, p.pool->inputs[0]), why == TAKEN);
        assert_int_equal(is_left_out(both.one, FIRST), why != FIRST_IS_OUTPUT); // the steps may still follow
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

static void new_shapes(void **state)
{
    (void)state;
    static struct pooled p;
    struct form form = {.type = TEST_INT8, .batches = 1, .kernel = 2, .filter = {3, 2}, .stride = {3, 2}};
    form.bytes = MEGABYTE;
    make_pooled(&p, &form);
    struct two_ways both = begin_two_ways(&p.model, NULL);
    int left_out = 0, sizes = 0;
    for (int size = 5; size < 900; size += 149, sizes++) {
        const int dims[DIMS] = {2, size, 904 - size, p.tensors[X].dims[3]};
        resize_both(&both, dims);
        left_out += is_left_out(both.one, FIRST);
        assert_same_output(&both);
    }
    assert_true(left_out > 0 && left_out < sizes);
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct pooled p;
    struct form form = {.type = TEST_UINT8, .batches = 2, .kernel = 3, .filter = {2, 2}, .stride = {2, 2}};
    form.bytes = MEGABYTE;
    make_pooled(&p, &form);
    struct two_ways both = begin_two_ways(&p.model, NULL);
    assert_true(is_left_out(both.one, FIRST));
    check_memory_of_the_caller(&both, FIRST);
    check_memory_of_the_caller(&both, Y);
    end_two_ways(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes), cmocka_unit_test(parted_prelu),         cmocka_unit_test(left_alone),
        cmocka_unit_test(new_shapes), cmocka_unit_test(memory_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
