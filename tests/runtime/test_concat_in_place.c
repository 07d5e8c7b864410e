// SPDX-License-Identifier: Apache-2.0
// Inputs of CONCATENATION that their nodes write into its output give the same bytes as those that it copies, which the
// option to preserve all tensors asks for; and what somebody else sees, or another node may change, is copied.
//
//   the graphs:   producers of x and z, some with steps behind them, and of each other's joins   joins of two to four
#include "two_ways.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { RESOURCE = 13 }; // a type of the schema
enum { MAX_TENSORS = 64, MAX_NODES = 48, GRAPHS = 400, ROOM = 1 << 17, NOWHERE = -1, DIMS = 4 };

struct graph {
    struct test_tensor tensors[MAX_TENSORS];
    char names[MAX_TENSORS][4];
    struct test_node nodes[MAX_NODES];
    struct test_model model;
    enum test_type type;
    float room[ROOM]; // of constants
    int used;
    int x, z, size, paddings; // the inputs, of one size and of another; that size; those of PAD
    bool is_read[MAX_TENSORS];
};

static int add_tensor(struct graph *g, enum test_type type, const int dims[DIMS])
{
    const int number = g->model.tensor_count++;
    assert_true(number < MAX_TENSORS);
    snprintf(g->names[number], sizeof g->names[number], "%d", number);
    g->tensors[number] = stored_tensor(g->names[number], type, dims);
    return number;
}

static int add_weights(struct graph *g, const int dims[DIMS])
{
    const int number = add_tensor(g, g->type, dims);
    set_weights(&g->tensors[number], g->room + g->used, ROOM - g->used);
    g->used += count_of(&g->tensors[number]);
    return number;
}

static int add_values(struct graph *g, const int dims[DIMS])
{
    const int number = add_weights(g, dims);
    g->tensors[number].zero_point = g->tensors[g->x].zero_point;
    return number;
}

static int add_bias(struct graph *g, int count)
{
    const int number = add_tensor(g, g->type, (const int[DIMS]){1, 1, 1, 1});
    assert_true(g->used + count <= ROOM);
    g->tensors[number] = zero_bias(g->names[number], g->type, (int32_t *)(void *)(g->room + g->used), count);
    g->used += count;
    return number;
}

// Shape vectors and paddings.
static int add_integers(struct graph *g, int rank, const int *dims, const int32_t *values)
{
    const int number = add_tensor(g, TEST_INT32, (const int[DIMS]){dims[0], rank > 1 ? dims[1] : 1, 1, 1});
    struct test_tensor *tensor = &g->tensors[number];
    tensor->rank = rank, tensor->scale = 0, tensor->zero_point = 0;
    tensor->data = g->room + g->used;
    tensor->bytes = (size_t)count_of(tensor) * sizeof *values;
    memcpy(g->room + g->used, values, tensor->bytes);
    g->used += count_of(tensor);
    return number;
}

static struct test_node *add_node(struct graph *g, int builtin, const int dims[DIMS])
{
    struct test_node *node = &g->nodes[g->model.node_count++];
    assert_true(g->model.node_count <= MAX_NODES);
    *node = (struct test_node){.builtin = builtin, .output_count = 1};
    node->outputs[0] = add_tensor(g, g->type, dims);
    return node;
}

static void add_input(struct graph *g, struct test_node *node, int tensor)
{
    node->inputs[node->input_count++] = tensor;
    g->is_read[tensor] = true;
}

static int last_output(const struct graph *g)
{
    return g->nodes[g->model.node_count - 1].outputs[0];
}

static int convolve(struct graph *g, int from, int outputs, int kernel)
{
    const int *in = g->tensors[from].dims, dims[DIMS] = {in[0], in[1], in[2], outputs};
    const int w = add_weights(g, (const int[DIMS]){outputs, kernel, kernel, in[3]}), b = add_bias(g, outputs);
    struct test_node *node = add_node(g, kTfLiteBuiltinConv2d, dims);
    node->version = g->type == TEST_INT8 ? 3 : 1;
    add_input(g, node, from), add_input(g, node, w), add_input(g, node, b);
    set_option(node, HL_Conv2DOptions_stride_w, 1);
    set_option(node, HL_Conv2DOptions_stride_h, 1);
    return node->outputs[0];
}

static int resize(struct graph *g, int from)
{
    const int *in = g->tensors[from].dims, dims[DIMS] = {in[0], g->size, g->size, in[3]};
    const int size = add_integers(g, 1, (const int[]){2}, (const int32_t[]){g->size, g->size});
    struct test_node *node = add_node(g, kTfLiteBuiltinResizeBilinear, dims);
    node->version = 3;
    add_input(g, node, from), add_input(g, node, size);
    return node->outputs[0];
}

// A node of one or two inputs like its output.
static int add_step(struct graph *g, int builtin, int a, int b)
{
    struct test_node *node = add_node(g, builtin, g->tensors[a].dims);
    add_input(g, node, a);
    if (b != NOWHERE) add_input(g, node, b);
    return node->outputs[0];
}

static int reshape(struct graph *g, int from)
{
    const int shape = add_integers(g, 1, (const int[]){DIMS}, g->tensors[from].dims);
    struct test_node *node = add_node(g, kTfLiteBuiltinReshape, g->tensors[from].dims);
    add_input(g, node, from), add_input(g, node, shape);
    return node->outputs[0];
}

static int max_pool(struct graph *g, int from)
{
    struct test_node *node = add_node(g, kTfLiteBuiltinMaxPool2d, g->tensors[from].dims);
    node->version = g->type == TEST_INT8 ? 2 : 1;
    add_input(g, node, from);
    set_option(node, HL_Pool2DOptions_filter_width, 3);
    set_option(node, HL_Pool2DOptions_filter_height, 3);
    set_option(node, HL_Pool2DOptions_stride_w, 1);
    set_option(node, HL_Pool2DOptions_stride_h, 1);
    return node->outputs[0];
}

static int join(struct graph *g, int axis, int count, const int *inputs)
{
    int dims[DIMS];
    memcpy(dims, g->tensors[inputs[0]].dims, sizeof dims);
    dims[axis] = 0;
    for (int i = 0; i < count; i++) dims[axis] += g->tensors[inputs[i]].dims[axis];
    struct test_node *node = add_node(g, kTfLiteBuiltinConcatenation, dims);
    node->version = 2;
    for (int i = 0; i < count; i++) add_input(g, node, inputs[i]);
    set_option(node, HL_ConcatenationOptions_axis, pick(2) ? axis : axis - DIMS);
    return node->outputs[0];
}

static void begin_graph(struct graph *g, enum test_type type, int batches, int size, int channels)
{
    *g = (struct graph){.type = type, .size = size};
    g->model = (struct test_model){.tensors = g->tensors, .nodes = g->nodes};
    g->x = add_tensor(g, type, (const int[DIMS]){batches, size, size, channels});
    g->z = add_tensor(g, type, (const int[DIMS]){batches, 1 + size / 2, 1 + size / 3, channels});
    g->model.input_count = 2;
    g->model.inputs[0] = g->x, g->model.inputs[1] = g->z;
}

// What nobody reads is an output of the model, the last node's first.
static void end_graph(struct graph *g)
{
    for (int n = g->model.node_count - 1; n >= 0; n--)
        if (g->nodes[n].output_count > 0 && !g->is_read[g->nodes[n].outputs[0]])
            g->model.outputs[g->model.output_count++] = g->nodes[n].outputs[0];
}

// A new tensor of the first input's size: `outputs` channels, or that input's.
static int produce(struct graph *g, int outputs)
{
    int y = 0;
    switch (pick(6)) {
    case 0: y = resize(g, g->z); break;
    case 1: y = max_pool(g, g->x); break;
    case 2: y = resize(g, convolve(g, g->z, outputs, 1)); break;
    default: y = convolve(g, g->x, outputs, pick(3) ? 1 : 3);
    }
    const int steps = pick(2) * pick(4);
    for (int i = 0; i < steps; i++) {
        static const int builtins[] = {kTfLiteBuiltinRelu, kTfLiteBuiltinMul, kTfLiteBuiltinAdd, kTfLiteBuiltinAbs};
        const int builtin = builtins[pick(g->type == TEST_FLOAT32 ? 4 : 3)];
        y = add_step(g, builtin, y, builtin == kTfLiteBuiltinMul || builtin == kTfLiteBuiltinAdd ? y : NOWHERE);
    }
    return pick(6) ? y : reshape(g, y);
}

static const struct hl_placement *placement_of(const TfLiteInterpreter *interpreter, int tensor)
{
    return &interpreter->subgraphs[0]->planner.placements[tensor];
}

static bool is_inside(const TfLiteInterpreter *interpreter, int tensor)
{
    return placement_of(interpreter, tensor)->inside;
}

static int count_inside(const TfLiteInterpreter *interpreter, bool in_rows)
{
    int count = 0;
    for (int i = 0; i < interpreter->subgraphs[0]->planner.count; i++)
        count += is_inside(interpreter, i) && placement_of(interpreter, i)->in_rows == in_rows;
    return count;
}

static void same_bytes(void **state)
{
    (void)state;
    static struct graph g;
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    int in_rows = 0, whole = 0, nested = 0;
    for (int i = 0; i < GRAPHS; i++) {
        const int axis = pick(2) ? 3 : pick(3), batches = pick(4) ? 1 : 2;
        const bool large = pick(8) == 0; // chains of floats are made for 256 KB and more
        begin_graph(&g, types[i % 3], batches, large ? 50 + pick(20) : 1 + pick(12), 1 + pick(axis == 3 ? 20 : 9));
        int joined[2];
        for (int j = 0; j < 2; j++) {
            int inputs[4], count = 2 + pick(3);
            const int channels = g.tensors[g.x].dims[3];
            for (int n = 0; n < count; n++)
                inputs[n] = produce(&g, axis < 3 ? channels : large ? 16 * (1 + pick(4)) : 1 + pick(40));
            joined[j] = join(&g, axis, count, inputs);
        }
        const bool joins_both = axis < 3 || pick(2);
        if (joins_both) join(&g, axis, 2, joined);
        if (pick(2)) add_step(&g, kTfLiteBuiltinRelu, last_output(&g), NOWHERE);
        end_graph(&g);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        in_rows += count_inside(both.one, true);
        whole += count_inside(both.one, false);
        nested += is_inside(both.one, joined[0]) && placement_of(both.one, joined[0])->shares != g.model.outputs[0];
        for (int t = 0; t < g.model.tensor_count; t++)
            assert_true(!is_inside(both.one, t) ||
                        (tensor_of(both.one, t)->data.raw == NULL) == placement_of(both.one, t)->in_rows);
        assert_int_equal(count_inside(both.other, true) + count_inside(both.other, false), 0);
        assert_same_output(&both);
        end_two_ways(&both);
    }
    assert_true(in_rows > GRAPHS / 2 && whole > GRAPHS / 2 && nested > GRAPHS / 20);
}

// Why an input is copied; the last of them says that it is not, nor what it is a RESHAPE of.
enum why {
    TAKEN,
    OUTPUT,
    OTHER_READER,
    TWICE,
    OTHER_SCALE,
    OTHER_AXIS,
    INPUT,
    CONSTANT,
    RESHAPED_INPUT,
    NO_STRIDE,
    RESHAPED,
    WAYS
};

static int input_of(struct graph *g, enum why why)
{
    switch (why) {
    case INPUT: return g->x;
    case CONSTANT: return add_values(g, g->tensors[g->x].dims);
    case RESHAPED: return reshape(g, convolve(g, g->x, 8, 1));
    case RESHAPED_INPUT: return reshape(g, g->x);
    case NO_STRIDE: return max_pool(g, g->x);
    default: return convolve(g, g->x, 8, 1);
    }
}

// Two inputs with rows of their own, of which a convolution writes the second, and their join.
struct pair {
    int a, b, y;
};

static bool has_runs(enum why why)
{
    return why == OTHER_AXIS || why == RESHAPED || why == RESHAPED_INPUT;
}

static struct pair make_pair(struct graph *g, enum test_type type, enum why why)
{
    begin_graph(g, type, why == OTHER_AXIS ? 2 : 1, 9, 8);
    struct pair pair;
    pair.a = input_of(g, why);
    pair.b = convolve(g, g->x, 8, 3);
    if (why == OTHER_SCALE) g->tensors[pair.a].scale = 0.03f;
    pair.y = join(g, has_runs(why) ? 1 : 3, 2, (const int[]){pair.a, why == TWICE ? pair.a : pair.b});
    if (why == OTHER_READER) add_step(g, kTfLiteBuiltinRelu, pair.a, NOWHERE);
    end_graph(g);
    if (why == OUTPUT) g->model.outputs[g->model.output_count++] = pair.a;
    return pair;
}

static void left_alone(void **state)
{
    (void)state;
    static struct graph g;
    for (enum why why = TAKEN; why < WAYS; why++)
        for (int t = 0; t < 3; t++) {
            static const enum test_type types[] = {TEST_UINT8, TEST_INT8, TEST_FLOAT32};
            if (why == OTHER_SCALE && t > 0) continue; // int8 may not differ
            const struct pair pair = make_pair(&g, types[t], why);
            struct two_ways both = begin_two_ways(&g.model, NULL);
            assert_int_equal(is_inside(both.one, pair.a), why == TAKEN || why == RESHAPED);
            assert_int_equal(is_inside(both.one, pair.b), why != TWICE && why != OTHER_AXIS);
            assert_same_output(&both);
            end_two_ways(&both);
        }
}

static void reference_kernels(void **state)
{
    (void)state;
    static struct graph g;
    const struct pair pair = make_pair(&g, TEST_INT8, TAKEN);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    TfLiteInterpreterDelete(both.other);
    both.other = TfLiteInterpreterCreate(both.loaded, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_int_equal(TfLiteInterpreterAllocateTensors(both.other), kTfLiteOk);
    assert_true(is_inside(both.one, pair.a) && !is_inside(both.other, pair.a));
    assert_same_output(&both);
    end_two_ways(&both);
}

static void new_shapes(void **state)
{
    (void)state;
    static struct graph g;
    const struct pair pair = make_pair(&g, TEST_FLOAT32, TAKEN);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    for (int size = 1; size < 90; size += 11) {
        resize_both(&both, (const int[DIMS]){1 + pick(2), size, 90 - size, 8});
        assert_true(is_inside(both.one, pair.a));
        assert_same_output(&both);
    }
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct graph g;
    const struct pair pair = make_pair(&g, TEST_UINT8, TAKEN);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    assert_true(is_inside(both.one, pair.a));
    check_memory_of_the_caller(&both, pair.a);
    check_memory_of_the_caller(&both, pair.y);
    end_two_ways(&both);
}

// READ_VARIABLE may find another shape than the model says, and what comes after it is prepared again: what was written
// before is copied. (The variable has the second input's lines.)
static void variables(void **state)
{
    (void)state;
    static struct graph g;
    for (int early = 0; early < 2; early++) {
        begin_graph(&g, TEST_FLOAT32, 1, 9, 8);
        memcpy(g.tensors[g.z].dims, (const int[DIMS]){1, 4, 9, 8}, sizeof(int[DIMS]));
        struct test_node *node = add_node(&g, kTfLiteBuiltinVarHandle, (const int[DIMS]){1, 1, 1, 1});
        const int handle = node->outputs[0];
        g.tensors[handle].type = (enum test_type)RESOURCE;
        node = &g.nodes[g.model.node_count++];
        *node = (struct test_node){.builtin = kTfLiteBuiltinAssignVariable};
        add_input(&g, node, handle), add_input(&g, node, g.z);
        int a = early ? NOWHERE : convolve(&g, g.x, 8, 1);
        node = add_node(&g, kTfLiteBuiltinReadVariable, g.tensors[g.x].dims);
        add_input(&g, node, handle);
        const int read = node->outputs[0];
        if (early) a = convolve(&g, g.x, 8, 1);
        join(&g, 1, 2, (const int[]){a, read});
        end_graph(&g);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_int_equal(is_inside(both.one, a), early);
        assert_false(is_inside(both.one, read));
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

// ---- nodes of others ----------------------------------------------------------------------------

// A delegate writes an input of the join, or what one is made of, or reads the join's output.
static void delegates(void **state)
{
    (void)state;
    static struct graph g;
    enum { FIRST, A, B, JOIN, LAST };
    for (int node = FIRST; node <= LAST; node++) {
        begin_graph(&g, TEST_INT8, 1, 9, 8);
        const int a = convolve(&g, add_step(&g, kTfLiteBuiltinRelu, g.x, NOWHERE), 8, 1);
        const int b = add_step(&g, kTfLiteBuiltinRelu, g.x, NOWHERE);
        add_step(&g, kTfLiteBuiltinRelu, join(&g, 1, 2, (const int[]){a, b}), NOWHERE);
        end_graph(&g);
        TfLiteDelegate delegate;
        struct two_ways both = begin_both_with(&g.model, &delegate, &node, take_node);
        if (node == FIRST || node == LAST) assert_true(is_inside(both.one, a) && is_inside(both.one, b));
        if (node == A || node == JOIN) assert_false(is_inside(both.one, a));
        if (node == B || node == JOIN) assert_false(is_inside(both.one, b));
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes), cmocka_unit_test(left_alone),           cmocka_unit_test(reference_kernels),
        cmocka_unit_test(new_shapes), cmocka_unit_test(memory_of_the_caller), cmocka_unit_test(delegates),
        cmocka_unit_test(variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
