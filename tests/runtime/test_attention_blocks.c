// SPDX-License-Identifier: Apache-2.0
// A product that computes the nodes which make its first operand gives the same bytes as all nodes apart, which the
// option to preserve all tensors asks for; and it leaves them alone where somebody else sees a tensor between them.
//
//   s0 = q times k    s1 = reshape(s0)    s2 = s1 * c    s3 = m + s2    s4 = w ? s3 : l, or w ? l : s3
//   p = softmax(s4)    v = u + u    y = p times v
//
// Each of s1 to s4 may be missing, and the values are made anywhere between. Somebody may ask for the shape of s4.
#include "two_ways.h"

#include <limits.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { Q, K, U, M, W, C, L, SHAPE, ASKED, S0, S1, S2, S3, S4, P, V, Y, TENSORS };
enum { NODES = 9, GRAPHS = 640, MAX_VALUES = 1 << 14 };

struct graph {
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[NODES];
    struct test_model model;
    int32_t shape[4];
    union {
        float f32[MAX_VALUES];
        int8_t bytes[MAX_VALUES];
    } c, k, l;
};

struct sizes {
    int batches, heads, rows, length, depth, outputs;
};

// What may be in a graph, as bits.
enum { REGROUPS = 1, SCALES = 2, MASKS = 4, SELECTS = 8, PARTS = 4, ASKS = 1 << PARTS, ALL = 2 * ASKS };

static struct sizes pick_sizes(void)
{
    static const int lengths[] = {128, 129, 141, 200, 256, 512, 40};
    return (struct sizes){.batches = 1 + pick(2),
                          .heads = 1 + pick(4),
                          .rows = pick(8) ? 16 + pick(140) : 1 + pick(15),
                          .length = lengths[pick(7)],
                          .depth = 1 + pick(70),
                          .outputs = 1 + pick(70)};
}

static void set_tensor(struct graph *g, int number, enum test_type type, const int dims[4])
{
    static const char *const names[TENSORS] = {"q",  "k",  "u",  "m",  "w",  "c", "l", "shape", "asked",
                                               "s0", "s1", "s2", "s3", "s4", "p", "v", "y"};
    g->tensors[number] = stored_tensor(names[number], type, dims);
    if (type == TEST_FLOAT32) return;
    g->tensors[number].scale = 0.01f * (float)(1 + pick(5));
    g->tensors[number].zero_point = pick(3) ? pick(200) - 100 : 0;
}

static int add_node(struct graph *g, const struct test_node *node)
{
    g->nodes[g->model.node_count++] = *node;
    return node->outputs[0];
}

// A second operand, [k, n] or, where its product then finds it transposed, [n, k].
static void set_operand(struct graph *g, int number, enum test_type type, const int batches[2], int k, int n,
                        struct test_node *product)
{
    const bool turned = pick(2);
    set_tensor(g, number, type, (const int[]){batches[0], batches[1], turned ? n : k, turned ? k : n});
    if (turned) set_option(product, HL_BatchMatMulOptions_adj_y, 1);
}

// A mask for all rows, for those of a matrix, for those of all heads, or with a value for each score.
static void set_mask(struct graph *g, int number, enum test_type type, const int *scores)
{
    const int of = pick(4);
    set_tensor(g, number, type,
               (const int[]){of > 2 ? scores[0] : 1, of > 1 ? scores[1] : 1, of > 0 ? scores[2] : 1, scores[3]});
}

static void set_scales(struct graph *g)
{
    g->tensors[S0].scale *= 20;
    g->tensors[S1].scale = g->tensors[S0].scale, g->tensors[S1].zero_point = g->tensors[S0].zero_point;
    g->tensors[P].scale = 1.0f / 256, g->tensors[P].zero_point = -128;
}

static void make_graph(struct graph *g, enum test_type type, const struct sizes *s, int has)
{
    const int scores[4] = {s->batches, s->heads, s->rows, s->length}, version = type == TEST_FLOAT32 ? 1 : 2;
    *g = (struct graph){.shape = {1, s->batches * s->heads, s->rows, s->length}};
    const int *shown = has & REGROUPS ? g->shape : scores;
    const int some[2] = {pick(3) ? s->batches : 1, pick(3) ? s->heads : 1};
    const int values_of[2] = {pick(2) ? shown[0] : 1, pick(2) ? shown[1] : 1};
    struct test_node keys = {.builtin = kTfLiteBuiltinBatchMatmul, TEST_INPUTS(Q, K), TEST_OUTPUTS(S0)};
    struct test_node values = {.builtin = kTfLiteBuiltinBatchMatmul, TEST_INPUTS(P, V), TEST_OUTPUTS(Y)};
    struct test_node softmax = {.builtin = kTfLiteBuiltinSoftmax, TEST_OUTPUTS(P), .input_count = 1};
    const struct test_node sum = {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(U, U), TEST_OUTPUTS(V)};
    keys.version = values.version = softmax.version = version;
    set_option(&softmax, HL_SoftmaxOptions_beta, 1);
    set_tensor(g, Q, type, (const int[]){s->batches, s->heads, s->rows, s->depth});
    set_operand(g, K, type, some, s->depth, s->length, &keys);
    set_operand(g, U, type, values_of, s->length, s->outputs, &values);
    g->tensors[V] = g->tensors[U];
    g->tensors[V].name = "v", g->tensors[V].scale *= 2;
    set_tensor(g, S0, type, scores);
    for (int i = S1; i <= P; i++) set_tensor(g, i, type, shown);
    set_tensor(g, C, type, (const int[]){1, 1, 1, 1});
    set_constant(&g->tensors[C], &g->c, MAX_VALUES);
    set_mask(g, M, type, shown);
    set_mask(g, W, TEST_BOOL, shown);
    set_tensor(g, L, type, (const int[]){1, 1, 1, 1});
    set_constant(&g->tensors[L], &g->l, MAX_VALUES);
    set_tensor(g, Y, type, (const int[]){shown[0], shown[1], s->rows, s->outputs});
    if (type == TEST_INT8) set_scales(g);
    g->tensors[SHAPE] = (struct test_tensor){
        .name = "shape", .type = TEST_INT32, .rank = 1, .dims = {4}, .data = g->shape, .bytes = sizeof g->shape};
    g->tensors[ASKED] = (struct test_tensor){.name = "asked", .type = TEST_INT32, .rank = 1, .dims = {4}};
    const struct test_node others[] = {
        {.builtin = kTfLiteBuiltinReshape, TEST_INPUTS(S0, SHAPE), TEST_OUTPUTS(S1)},
        {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(S1, C), TEST_OUTPUTS(S2)},
        {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(M, S2), TEST_OUTPUTS(S3)},
        {.builtin = kTfLiteBuiltinSelectV2, TEST_INPUTS(W, L, L), TEST_OUTPUTS(S4)},
    };
    const int places[PARTS] = {0, 0, 1, 1 + pick(2)}; // which input goes on
    const int when = pick(3);
    if (when == 0) add_node(g, &sum);
    int last = add_node(g, &keys);
    if (when == 1) add_node(g, &sum);
    for (int i = 0; i < PARTS; i++) {
        if (!(has >> i & 1)) continue;
        struct test_node node = others[i];
        node.inputs[places[i]] = last;
        last = add_node(g, &node);
    }
    const struct test_node asks = {.builtin = kTfLiteBuiltinShape,
                                   .input_count = 1,
                                   .inputs = {last},
                                   TEST_OUTPUTS(ASKED)};
    if (has & ASKS) add_node(g, &asks);
    softmax.inputs[0] = last;
    add_node(g, &softmax);
    if (when == 2) add_node(g, &sum);
    add_node(g, &values);
    g->model.tensor_count = TENSORS, g->model.tensors = g->tensors, g->model.nodes = g->nodes;
    g->model.input_count = 5;
    memcpy(g->model.inputs, (const int[]){Q, K, U, M, W}, 5 * sizeof(int));
    g->model.output_count = 1, g->model.outputs[0] = Y;
}

static bool is_taken(const TfLiteInterpreter *interpreter)
{
    return is_left_out(interpreter, S0) && is_left_out(interpreter, P);
}

// Bytes need a level whose SOFTMAX is fast.
static bool is_possible(enum test_type type)
{
    return type == TEST_FLOAT32 || hl_simd_best(INT_MAX)->kernels->softmax_bytes;
}

static void same_bytes(void **state)
{
    (void)state;
    static struct graph g;
    for (int i = 0; i < GRAPHS; i++) {
        const enum test_type type = i % 2 ? TEST_INT8 : TEST_FLOAT32;
        const struct sizes sizes = pick_sizes();
        make_graph(&g, type, &sizes, i / 2 % ALL);
        if (count_of(&g.tensors[K]) < MAX_VALUES && pick(3) == 0) set_constant(&g.tensors[K], &g.k, MAX_VALUES);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        const bool is_large = sizes.rows >= 16 && sizes.length >= 128; // what is smaller is left alone
        assert_int_equal(is_taken(both.one), is_large && is_possible(type));
        assert_false(is_left_out(both.other, S0) || is_left_out(both.other, P));
        const int keys = g.nodes[0].outputs[0] == V ? 1 : 0, last = g.model.node_count - 1;
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.one, keys), is_taken(both.one) ? last : keys);
        assert_int_equal(HaliteInterpreterGetNodeRunBy(both.other, keys), keys);
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

static const struct sizes large = {2, 3, 100, 200, 40, 50};

static void not_taken(void **state)
{
    (void)state;
    static struct graph g;
    for (int why = 0; why < 4; why++) {
        make_graph(&g, TEST_FLOAT32, &large, SCALES);
        if (why == 1) g.model.outputs[g.model.output_count++] = S0;
        if (why == 2) g.model.outputs[g.model.output_count++] = P;
        if (why == 3) g.tensors[Q].dims[2] = 3; // few rows for what is packed
        if (why == 3)
            for (int i = S0; i <= Y; i++) g.tensors[i].dims[2] = i == V ? g.tensors[V].dims[2] : 3;
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_int_equal(is_taken(both.one), why == 0);
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

static void new_shapes(void **state)
{
    (void)state;
    static struct graph g;
    int taken = 0;
    make_graph(&g, TEST_FLOAT32, &large, SCALES);
    struct two_ways both = begin_two_ways(&g.model, NULL);
    for (int rows = 1; rows < 200; rows += 30) {
        resize_both(&both, (const int[]){2, 3, rows, 40});
        taken += is_taken(both.one);
        assert_same_output(&both);
    }
    assert_int_equal(taken, 6); // all but the first
    end_two_ways(&both);
}

static void memory_of_the_caller(void **state)
{
    (void)state;
    static struct graph g;
    const int tensors[] = {S0, S2, P};
    for (int i = 0; i < 3; i++) {
        make_graph(&g, TEST_FLOAT32, &large, SCALES);
        struct two_ways both = begin_two_ways(&g.model, NULL);
        assert_true(is_taken(both.one));
        check_memory_of_the_caller(&both, tensors[i]);
        end_two_ways(&both);
    }
}

// A delegate takes SOFTMAX, or makes the values.
static void delegates(void **state)
{
    (void)state;
    static struct graph g;
    for (int node = 0; node < 5; node++) {
        make_graph(&g, TEST_FLOAT32, &large, SCALES);
        const int builtin = g.nodes[node].builtin;
        if (builtin != kTfLiteBuiltinAdd && builtin != kTfLiteBuiltinSoftmax) continue; // not all of it is written
        TfLiteDelegate delegate;
        struct two_ways both = begin_both_with(&g.model, &delegate, &node, take_node);
        if (builtin == kTfLiteBuiltinSoftmax) assert_false(is_taken(both.one));
        assert_same_output(&both);
        end_two_ways(&both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),           cmocka_unit_test(not_taken), cmocka_unit_test(new_shapes),
        cmocka_unit_test(memory_of_the_caller), cmocka_unit_test(delegates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
