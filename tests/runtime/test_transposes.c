// SPDX-License-Identifier: Apache-2.0
// What lies between transposes that undo each other gives the same bytes without them as with them, which the option to
// preserve all tensors asks for; callers see the nodes and shapes of the model; and what others see stays.
//
//   the graphs:   s_i = relu(x_i)    t_i = transpose(s_i, p)    steps of them    z_k = transpose(a step, p undone)
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

enum { MAX_TENSORS = 40, MAX_NODES = 32, GRAPHS = 150, NOWHERE = -1 };

// The first tensors of each graph: two inputs, permutations there and back, paddings, one value, one for each position
// of the last dimension, and what comes of the inputs.
enum { X, X2, P, BACK, PADDINGS, ONE, ROW, S, S2, T, T2, FIRST };

struct graph {
    struct test_tensor tensors[MAX_TENSORS];
    char names[MAX_TENSORS][4];
    struct test_node nodes[MAX_NODES];
    struct test_model model;
    int32_t perm[4], back[4], paddings[8];
    union {
        float f32[64];
        int8_t bytes[64];
    } one, row;
};

static int add_tensor(struct graph *g, enum test_type type, int rank, const int *dims)
{
    const int number = g->model.tensor_count++;
    assert_true(number < MAX_TENSORS);
    snprintf(g->names[number], sizeof g->names[number], "%d", number);
    struct test_tensor *tensor = &g->tensors[number];
    *tensor = (struct test_tensor){.name = g->names[number], .type = type, .rank = rank};
    memcpy(tensor->dims, dims, (size_t)rank * sizeof(int));
    if (type == TEST_INT8 || type == TEST_UINT8) tensor->scale = 0.02f, tensor->zero_point = type == TEST_INT8 ? 3 : 99;
    return number;
}

static void add_constant(struct graph *g, enum test_type type, int rank, const int *dims, const void *data)
{
    struct test_tensor *tensor = &g->tensors[add_tensor(g, type, rank, dims)];
    tensor->data = data;
    tensor->bytes = (size_t)count_of(tensor) * (type == TEST_FLOAT32 || type == TEST_INT32 ? 4 : 1);
}

// A node of one or two inputs whose output is like the first one.
static struct test_node *add_node(struct graph *g, int builtin, int a, int b)
{
    struct test_node *node = &g->nodes[g->model.node_count++];
    assert_true(g->model.node_count <= MAX_NODES);
    *node = (struct test_node){.builtin = builtin, TEST_INPUTS(a, b)};
    if (b == NOWHERE) node->input_count = 1;
    node->outputs[node->output_count++] = add_tensor(g, g->tensors[a].type, g->tensors[a].rank, g->tensors[a].dims);
    return node;
}

static int output_of(const struct test_node *node)
{
    return node->outputs[0];
}

static int transpose(struct graph *g, int x, int perm)
{
    const struct test_node *node = add_node(g, kTfLiteBuiltinTranspose, x, perm);
    struct test_tensor *y = &g->tensors[output_of(node)];
    for (int i = 0; i < y->rank; i++) y->dims[i] = g->tensors[x].dims[(perm == P ? g->perm : g->back)[i]];
    y->scale = g->tensors[x].scale, y->zero_point = g->tensors[x].zero_point;
    return output_of(node);
}

static int add_output(struct graph *g, int tensor)
{
    g->model.outputs[g->model.output_count++] = tensor;
    return tensor;
}

// Up to the tensors that are transposed.
static void begin_graph(struct graph *g, enum test_type type, int number)
{
    static const int perms[][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}, {1, 0, 3, 2}, {3, 2, 1, 0}, {0, 1, 3, 2}, {0, 2, 1}};
    const int *perm = perms[number], rank = perm == perms[5] ? 3 : 4;
    int dims[4];
    memset(g, 0, sizeof *g);
    for (int i = 0; i < 4; i++) dims[i] = i == 0 ? 1 + pick(2) : 1 + pick(20);
    for (int i = 0; i < rank; i++) g->perm[i] = perm[i], g->back[perm[i]] = i;
    for (int i = 0; i < 2 * rank; i++) g->paddings[i] = pick(3);
    for (int i = 0; i < 64; i++)
        if (type == TEST_FLOAT32)
            g->one.f32[i] = g->row.f32[i] = (float)(pick(201) - 100) / 50;
        else
            g->one.bytes[i] = g->row.bytes[i] = (int8_t)pick(256);
    add_tensor(g, type, rank, dims);
    add_tensor(g, type, rank, dims);
    add_constant(g, TEST_INT32, 1, (const int[]){rank}, g->perm);
    add_constant(g, TEST_INT32, 1, (const int[]){rank}, g->back);
    add_constant(g, TEST_INT32, 2, (const int[]){rank, 2}, g->paddings);
    add_constant(g, type, pick(2), (const int[]){1}, &g->one);
    add_constant(g, type, 1, (const int[]){dims[perm[rank - 1]]}, &g->row);
    g->model = (struct test_model){.tensor_count = g->model.tensor_count,
                                   .tensors = g->tensors,
                                   .nodes = g->nodes,
                                   TEST_INPUTS(X, X2)};
    add_node(g, kTfLiteBuiltinRelu, X, NOWHERE);
    add_node(g, kTfLiteBuiltinRelu6, X2, NOWHERE);
    transpose(g, S, P);
    transpose(g, S2, P);
}

static bool is_like(const struct graph *g, int a, int b)
{
    const struct test_tensor *x = &g->tensors[a], *y = &g->tensors[b];
    return memcmp(x->dims, y->dims, sizeof x->dims) == 0 && x->scale == y->scale && x->zero_point == y->zero_point;
}

// One more of what works in any order, from what is there since FIRST, or the transposed inputs.
static int add_step(struct graph *g)
{
    static const int maps[] = {kTfLiteBuiltinLogistic, kTfLiteBuiltinTanh,  kTfLiteBuiltinHardSwish,
                               kTfLiteBuiltinRelu,     kTfLiteBuiltinRelu6, kTfLiteBuiltinLeakyRelu,
                               kTfLiteBuiltinSqrt}; // the last one makes NaN, of floats alone
    static const int pairs[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinSub, kTfLiteBuiltinMul};
    const int from = T + pick(g->model.tensor_count - T), kind = pick(5);
    int other = T + pick(g->model.tensor_count - T);
    const enum test_type type = g->tensors[from].type;
    if (!is_like(g, from, other)) other = from;
    if (kind == 0) {
        struct test_node *node = add_node(g, kTfLiteBuiltinPad, from, PADDINGS);
        struct test_tensor *y = &g->tensors[output_of(node)];
        for (int i = 0; i < y->rank; i++) y->dims[i] += g->paddings[2 * i] + g->paddings[2 * i + 1];
        y->scale = g->tensors[from].scale, y->zero_point = g->tensors[from].zero_point;
        return output_of(node);
    }
    if (kind == 1) {
        struct test_node *node = add_node(g, kTfLiteBuiltinConcatenation, from, other);
        struct test_tensor *y = &g->tensors[output_of(node)];
        const int axis = pick(2 * y->rank) - y->rank;
        set_option(node, HL_ConcatenationOptions_axis, axis);
        y->dims[(axis + y->rank) % y->rank] *= 2;
        y->scale = g->tensors[from].scale, y->zero_point = g->tensors[from].zero_point;
        return output_of(node);
    }
    if (kind < 4) return output_of(add_node(g, pairs[pick(3)], from, pick(2) ? other : ONE));
    struct test_node *node = add_node(g, maps[pick(type == TEST_FLOAT32 ? 7 : 6)], from, NOWHERE);
    struct test_tensor *y = &g->tensors[output_of(node)];
    if (node->builtin == kTfLiteBuiltinLeakyRelu) set_option(node, HL_LeakyReluOptions_alpha, 0.1);
    if (type != TEST_FLOAT32 && node->builtin == kTfLiteBuiltinLogistic)
        y->scale = 1.0f / 256, y->zero_point = type == TEST_INT8 ? -128 : 0;
    if (type != TEST_FLOAT32 && node->builtin == kTfLiteBuiltinTanh)
        y->scale = 1.0f / 128, y->zero_point = type == TEST_INT8 ? 0 : 128;
    return output_of(node);
}

// Whatever no step reads is transposed back, and some others; what comes of it is an output, or a node's input.
static void end_graph(struct graph *g)
{
    const int nodes = g->model.node_count, tensors = g->model.tensor_count;
    for (int t = T; t < tensors; t++) {
        bool is_read = false;
        for (int n = 0; n < nodes; n++)
            for (int i = 0; i < g->nodes[n].input_count; i++) is_read = is_read || g->nodes[n].inputs[i] == t;
        if (is_read && pick(4) > 0) continue;
        for (int again = pick(4) == 0; again >= 0; again--) {
            const int z = transpose(g, t, BACK);
            add_output(g, pick(2) ? z : output_of(add_node(g, kTfLiteBuiltinRelu, z, NOWHERE)));
        }
    }
}

static void make_graph(struct graph *g, enum test_type type)
{
    begin_graph(g, type, pick(6));
    for (int steps = pick(8); steps > 0; steps--) add_step(g);
    end_graph(g);
}

// A swish between two transposes: nodes LOGISTIC and MUL, and their outputs.
enum { LOGISTIC = 4, MUL, UNDO, SWISH = FIRST + 1, Z };

static int make_swish(struct graph *g, enum test_type type)
{
    begin_graph(g, type, 0);
    struct test_tensor *y = &g->tensors[output_of(add_node(g, kTfLiteBuiltinLogistic, T, NOWHERE))];
    if (type == TEST_INT8) y->scale = 1.0f / 256, y->zero_point = -128;
    return add_output(g, transpose(g, output_of(add_node(g, kTfLiteBuiltinMul, T, FIRST)), BACK));
}

// ---- comparing ----------------------------------------------------------------------------------

static void assert_same(const struct two_ways *both)
{
    const unsigned start = (unsigned)pick(1 << 20);
    for (int again = 0; again < 2; again++) {
        run_with(both->one, start);
        run_with(both->other, start);
        const TfLiteIntArray *outputs = both->one->subgraphs[0]->outputs;
        for (int i = 0; i < outputs->size; i++) {
            const TfLiteTensor *y = tensor_of(both->one, outputs->data[i]);
            assert_int_equal(y->bytes, tensor_of(both->other, outputs->data[i])->bytes);
            assert_memory_equal(y->data.raw, tensor_of(both->other, outputs->data[i])->data.raw, y->bytes);
        }
    }
}

// Nodes and shapes are the model's, whatever runs.
static void assert_shown(const struct graph *g, const struct two_ways *both)
{
    for (int t = 0; t < g->model.tensor_count; t++)
        assert_true(TfLiteIntArrayEqual(tensor_of(both->one, t)->dims, tensor_of(both->other, t)->dims));
    for (int n = 0; n < g->model.node_count; n++) {
        HaliteNode node, other;
        assert_int_equal(HaliteInterpreterGetSubgraphNode(both->one, 0, n, &node), kTfLiteOk);
        assert_int_equal(HaliteInterpreterGetSubgraphNode(both->other, 0, n, &other), kTfLiteOk);
        assert_true(TfLiteIntArrayEqual(node.node->inputs, other.node->inputs));
        assert_true(TfLiteIntArrayEqual(node.node->outputs, other.node->outputs));
        if (node.builtin_code == kTfLiteBuiltinConcatenation)
            assert_int_equal(((const TfLiteConcatenationParams *)node.node->builtin_data)->axis,
                             ((const TfLiteConcatenationParams *)other.node->builtin_data)->axis);
    }
}

static void compare_and_end(const struct graph *g, struct two_ways *both)
{
    assert_same(both);
    assert_shown(g, both);
    end_two_ways(both);
}

static void same_bytes(void **state)
{
    (void)state;
    static struct graph g;
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    int count = 0;
    for (int i = 0; i < GRAPHS; i++) {
        make_graph(&g, types[i % 3]);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_false(is_left_out(both.other, T));
        count += is_left_out(both.one, T) + is_left_out(both.one, T2);
        compare_and_end(&g, &both);
    }
    assert_true(count > GRAPHS); // of twice as many
}

// ---- what stays ---------------------------------------------------------------------------------

enum why { NOTHING, AN_OUTPUT, A_READER, AN_EARLY_READER, OTHER_ORDER, A_ROW, OTHER_SCALE, BACK_TWICE, WHYS };

// A node to which the order of dimensions matters.
static struct test_node add_softmax(struct graph *g, int x)
{
    struct test_node *node = add_node(g, kTfLiteBuiltinSoftmax, x, NOWHERE);
    set_option(node, HL_SoftmaxOptions_beta, 1);
    struct test_tensor *y = &g->tensors[add_output(g, output_of(node))];
    if (y->type == TEST_INT8) y->scale = 1.0f / 256, y->zero_point = -128;
    return *node;
}

static void change_swish(struct graph *g, enum why why)
{
    struct test_node early;
    switch (why) {
    case AN_OUTPUT: add_output(g, FIRST); break;
    case A_READER: add_softmax(g, FIRST); break;
    case AN_EARLY_READER:
        early = add_softmax(g, T);
        memmove(&g->nodes[LOGISTIC + 1], &g->nodes[LOGISTIC], 3 * sizeof early);
        g->nodes[LOGISTIC] = early;
        break;
    case OTHER_ORDER: memcpy(g->back, g->perm, sizeof g->back); break;
    case A_ROW: g->nodes[MUL].inputs[1] = ROW; break;
    case OTHER_SCALE: g->tensors[Z].scale = 0.5f; break;
    case BACK_TWICE: add_output(g, transpose(g, SWISH, BACK)); break;
    default: break;
    }
}

static void left_alone(void **state)
{
    (void)state;
    static struct graph g;
    for (int i = 0; i < 2 * WHYS; i++) {
        assert_int_equal(make_swish(&g, i < WHYS ? TEST_FLOAT32 : TEST_INT8), Z);
        change_swish(&g, i % WHYS);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_int_equal(is_left_out(both.one, T), i % WHYS == NOTHING);
        compare_and_end(&g, &both);
    }
}

// A value that is transposed and back at once, or back twice, is read where it lies.
static void pairs(void **state)
{
    (void)state;
    static struct graph g;
    for (int swish = 0; swish < 2; swish++) {
        make_swish(&g, TEST_FLOAT32);
        const int z = transpose(&g, swish ? SWISH : T2, BACK);
        add_softmax(&g, z);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_true(is_left_out(both.one, z) && is_left_out(both.one, T) && is_left_out(both.one, T2));
        compare_and_end(&g, &both);
    }
}

// A PAD that works in the order of the convolution behind it is taken over by it, though constants are made between.
static void convolution(void **state)
{
    (void)state;
    enum { CHANNELS = 16, KERNEL = 3, OUTPUTS = 24 };
    static struct graph g;
    static uint16_t weights[OUTPUTS * KERNEL * KERNEL * CHANNELS];
    static float bias[OUTPUTS];
    for (int i = 0; i < TEST_LENGTH(weights); i++) weights[i] = (uint16_t)(0x3000 + pick(0x800) + 0x8000 * pick(2));
    begin_graph(&g, TEST_FLOAT32, 0);
    const int x[4] = {1, 20, 30, CHANNELS}, y[4] = {1, 19, 29, OUTPUTS}, w[4] = {OUTPUTS, KERNEL, KERNEL, CHANNELS};
    for (int t = X; t <= X2; t++) memcpy(g.tensors[t].dims, x, sizeof x), memcpy(g.tensors[S + t].dims, x, sizeof x);
    memcpy(g.paddings, (const int[]){0, 0, 0, 0, 1, 0, 0, 1}, sizeof g.paddings);
    g.model.tensor_count = T, g.model.node_count = 2;
    transpose(&g, S, P), transpose(&g, S2, P);
    struct test_tensor *padded = &g.tensors[output_of(add_node(&g, kTfLiteBuiltinPad, T, PADDINGS))];
    for (int i = 2; i < 4; i++) padded->dims[i]++;
    const int z = transpose(&g, FIRST, BACK), bias_tensor = g.model.tensor_count;
    add_constant(&g, TEST_FLOAT32, 1, (const int[]){OUTPUTS}, bias);
    const int half = add_tensor(&g, TEST_FLOAT16, 4, w);
    g.tensors[half].data = weights, g.tensors[half].bytes = sizeof weights;
    const int whole = output_of(add_node(&g, kTfLiteBuiltinDequantize, half, NOWHERE));
    g.tensors[whole].type = TEST_FLOAT32;
    g.nodes[g.model.node_count - 1].version = 3;
    struct test_node *node = add_node(&g, kTfLiteBuiltinConv2d, z, whole);
    node->inputs[node->input_count++] = bias_tensor;
    set_option(node, HL_Conv2DOptions_padding, 1); // VALID
    set_option(node, HL_Conv2DOptions_stride_w, 1);
    set_option(node, HL_Conv2DOptions_stride_h, 1);
    memcpy(g.tensors[add_output(&g, output_of(node))].dims, y, sizeof y);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    assert_true(is_left_out(both.one, FIRST) && is_left_out(both.one, z));
    compare_and_end(&g, &both);
}

static void reference_kernels(void **state)
{
    (void)state;
    static struct graph g;
    make_swish(&g, TEST_FLOAT32);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    TfLiteInterpreterDelete(both.one);
    both.one = TfLiteInterpreterCreate(both.loaded, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_int_equal(TfLiteInterpreterAllocateTensors(both.one), kTfLiteOk);
    assert_false(is_left_out(both.one, T));
    end_two_ways(&both);
}

// ---- changes ------------------------------------------------------------------------------------

static void new_shapes(void **state)
{
    (void)state;
    static struct graph g;
    for (int i = 0; i < 20; i++) {
        do make_graph(&g, i % 2 ? TEST_INT8 : TEST_FLOAT32);
        while (g.tensors[X].rank != 4);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        for (int size = 3; size < 20; size += 8) {
            const int dims[4] = {1 + pick(2), size, 21 - size, 1 + pick(9)};
            TfLiteInterpreter *const interpreters[] = {both.one, both.other};
            for (int k = 0; k < 2; k++)
                assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreters[k], 1, dims, 4), kTfLiteOk);
            resize_both(&both, dims);
            assert_same(&both);
            assert_shown(&g, &both);
        }
        // A permutation does not fit another number of dimensions, whether TRANSPOSE runs or not.
        const int flat[2] = {6, 7};
        assert_int_equal(TfLiteInterpreterResizeInputTensor(both.one, 0, flat, 2), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(both.one), kTfLiteError);
        end_two_ways(&both);
    }
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct graph g;
    make_swish(&g, TEST_INT8);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    for (int tensor = S; tensor <= Z; tensor++) check_memory_of_the_caller(&both, tensor);
    end_two_ways(&both);
}

// A delegate that takes the LOGISTIC, which it sees as the model has it.
static TfLiteStatus take_logistic(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteRegistration *own;
    TfLiteNode *node;
    assert_int_equal(context->GetNodeAndRegistration(context, LOGISTIC, &node, &own), kTfLiteOk);
    assert_int_equal(node->inputs->data[0], T);
    assert_int_equal(node->outputs->data[0], FIRST);
    return take_node(context, delegate);
}

static void delegates(void **state)
{
    (void)state;
    static struct graph g;
    const int subgraph = 0;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        make_swish(&g, TEST_FLOAT32);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_true(is_left_out(both.one, T));
        TfLiteDelegate delegate = TfLiteDelegateCreate();
        int taken = LOGISTIC;
        delegate.data_ = &taken;
        delegate.Prepare = take_logistic;
        if (dynamic) delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
        assert_int_equal(HaliteInterpreterModifySubgraphsWithDelegate(both.one, &delegate, &subgraph, 1), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(both.one), kTfLiteOk);
        assert_false(is_left_out(both.one, T));
        run_with(both.one, 9);
        run_with(both.other, 9);
        const TfLiteTensor *z = tensor_of(both.one, Z), *s = tensor_of(both.other, S);
        for (size_t i = 0; i < z->bytes / sizeof(float); i++) assert_true(z->data.f[i] == s->data.f[i] * s->data.f[i]);
        assert_int_equal(HaliteInterpreterRemoveDelegates(both.one), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(both.one), kTfLiteOk);
        assert_true(is_left_out(both.one, T));
        compare_and_end(&g, &both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),  cmocka_unit_test(left_alone),           cmocka_unit_test(pairs),
        cmocka_unit_test(convolution), cmocka_unit_test(reference_kernels),    cmocka_unit_test(new_shapes),
        cmocka_unit_test(delegates),   cmocka_unit_test(memory_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
