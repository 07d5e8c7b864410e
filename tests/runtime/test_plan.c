// SPDX-License-Identifier: Apache-2.0
// Random graphs: the memory plan never lets two living tensors overlap, what is computed in shared memory is right, and
// a partition keeps every node once, in an order in which each finds its inputs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "runtime/interpreter.h"
#include "runtime/partition.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"

enum { NODES = 24, INPUTS = 3, TENSORS = NODES + INPUTS, LENGTH = 6, GRAPHS = 300 };

static unsigned random_state;

static unsigned random_below(unsigned limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

struct graph {
    unsigned seed;
    struct test_tensor tensors[TENSORS];
    struct test_node nodes[NODES];
    struct test_model model;
    char names[TENSORS][8];
};

// What a node reads in place of the coordinates that WHERE writes: nobody reads those.
static int read_instead(const struct graph *graph, int tensor)
{
    while (tensor >= INPUTS && graph->nodes[tensor - INPUTS].builtin == kTfLiteBuiltinWhere)
        tensor = graph->nodes[tensor - INPUTS].inputs[0];
    return tensor;
}

// Tensor i + INPUTS is node i's output: a sum, product, maximum or negation of earlier ones, their positive part, or
// the same values once more. Outputs: the last tensor and a random one. A dynamic one has WHERE, too, whose
// output has another shape in each run: the nodes behind it are prepared then, and placed again.
static void make_graph(struct graph *graph, bool dynamic)
{
    for (int t = 0; t < TENSORS; t++) {
        snprintf(graph->names[t], sizeof graph->names[t], "t%d", t);
        graph->tensors[t] =
            (struct test_tensor){.name = graph->names[t], .type = TEST_FLOAT32, .rank = 1, .dims = {LENGTH}};
    }
    static const int ops[] = {kTfLiteBuiltinAdd,  kTfLiteBuiltinMul,     kTfLiteBuiltinMaximum, kTfLiteBuiltinNeg,
                              kTfLiteBuiltinRelu, kTfLiteBuiltinSqueeze, kTfLiteBuiltinWhere};
    for (int n = 0; n < NODES; n++) {
        int op = ops[random_below(dynamic && n < NODES - 1 ? 7 : 6)], known = INPUTS + n;
        bool binary = op == kTfLiteBuiltinAdd || op == kTfLiteBuiltinMul || op == kTfLiteBuiltinMaximum;
        // Mostly neighbors, so that lives are short and memory is shared.
        int recent = known - 1 - (int)random_below(random_below(3) ? 3 : (unsigned)known);
        int any = (int)random_below((unsigned)known);
        graph->nodes[n] = (struct test_node){.builtin = op,
                                             .input_count = binary ? 2 : 1,
                                             .inputs = {read_instead(graph, recent), read_instead(graph, any)},
                                             TEST_OUTPUTS(known)};
        if (op == kTfLiteBuiltinWhere) {
            graph->tensors[known].type = TEST_INT64;
            graph->tensors[known].rank = 0;
        }
    }
    graph->model =
        (struct test_model){.tensor_count = TENSORS,
                            .tensors = graph->tensors,
                            .node_count = NODES,
                            .nodes = graph->nodes,
                            .input_count = INPUTS,
                            .inputs = {0, 1, 2},
                            TEST_OUTPUTS(TENSORS - 1, read_instead(graph, INPUTS + (int)random_below(NODES - 1)))};
}

static float apply(int op, float x, float y)
{
    switch (op) {
    case kTfLiteBuiltinAdd: return x + y;
    case kTfLiteBuiltinMul: return x * y;
    case kTfLiteBuiltinMaximum: return x > y ? x : y;
    case kTfLiteBuiltinNeg: return -x;
    case kTfLiteBuiltinSqueeze: return x;
    default: return x > 0 ? x : 0;
    }
}

// The tensor that has the same values and was there first.
static int values_of(const struct graph *graph, int tensor)
{
    while (tensor >= INPUTS && graph->nodes[tensor - INPUTS].builtin == kTfLiteBuiltinSqueeze)
        tensor = graph->nodes[tensor - INPUTS].inputs[0];
    return tensor;
}

static bool is_output(const struct graph *graph, int tensor)
{
    return graph->model.outputs[0] == tensor || graph->model.outputs[1] == tensor;
}

static void check_no_overlap(const struct graph *graph, const TfLiteInterpreter *interpreter)
{
    int count = HaliteInterpreterGetTensorCount(interpreter);
    HaliteTensorReport reports[TENSORS];
    assert_true(count <= TENSORS);
    for (int i = 0; i < count; i++) {
        assert_int_equal(HaliteInterpreterGetTensorReport(interpreter, i, &reports[i]), kTfLiteOk);
        for (int j = 0; j < i; j++) {
            const HaliteTensorReport *a = &reports[i], *b = &reports[j];
            bool both_live = a->first_node <= b->last_node && b->first_node <= a->last_node;
            bool used = a->first_node >= 0 && b->first_node >= 0;
            bool overlap = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            if (!used || !both_live || !overlap) continue;
            // Only a tensor that takes over its input's memory at the node where those values are last read may lie on
            // it; or one with these values, which never is an output when they are an input's.
            const int values = values_of(graph, j);
            int owner = i;
            while (reports[owner].shares_with >= 0 && values_of(graph, owner) != values)
                owner = reports[owner].shares_with;
            const bool takes_over = values_of(graph, owner) == values && b->last_node == a->first_node;
            const bool looks = values_of(graph, i) == values && !(j < INPUTS && is_output(graph, i));
            if (!takes_over && !looks)
                fail_msg("tensors %d [%d,%d] and %d [%d,%d] overlap", i, a->first_node, a->last_node, j, b->first_node,
                         b->last_node);
        }
    }
}

static void check_partition(const struct hl_subgraph *subgraph)
{
    TfLiteIntArray *wanted = TfLiteIntArrayCreate(NODES);
    wanted->size = 0;
    bool is_wanted[NODES] = {false};
    for (int n = 0; n < NODES; n++)
        if ((is_wanted[n] = random_below(2))) wanted->data[wanted->size++] = n;
    struct hl_piece *pieces;
    int count, seen = 0;
    bool written[TENSORS] = {true, true, true};
    assert_true(hl_partition(subgraph, wanted, &pieces, &count));
    for (int p = 0; p < count; p++) {
        assert_true(p == 0 || pieces[p].delegated != pieces[p - 1].delegated); // else they would be one piece
        for (int i = 0; i < pieces[p].inputs->size; i++) assert_true(written[pieces[p].inputs->data[i]]);
        for (int i = 0; i < pieces[p].nodes->size; i++, seen++) {
            int n = pieces[p].nodes->data[i];
            assert_true(is_wanted[n] == pieces[p].delegated);
            const TfLiteNode *node = &subgraph->nodes[n]->node;
            for (int k = 0; k < node->inputs->size; k++) assert_true(written[node->inputs->data[k]]);
            assert_false(written[node->outputs->data[0]]);
            written[node->outputs->data[0]] = true;
        }
    }
    assert_int_equal(seen, NODES);
    hl_pieces_free(pieces, count);
    TfLiteIntArrayFree(wanted);
}

// Other inputs in each run, some of which are 0. The inputs are still there for the second.
static void check_values(const struct graph *graph, TfLiteInterpreter *interpreter)
{
    float values[TENSORS][LENGTH];
    for (int t = 0; t < INPUTS; t++) {
        for (int i = 0; i < LENGTH; i++) values[t][i] = (float)random_below(9) / 4 - 1;
        assert_int_equal(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, t), values[t],
                                                    sizeof values[t]),
                         kTfLiteOk);
    }
    for (int n = 0; n < NODES; n++)
        for (int i = 0; i < LENGTH; i++)
            values[INPUTS + n][i] = apply(graph->nodes[n].builtin, values[graph->nodes[n].inputs[0]][i],
                                          values[graph->nodes[n].inputs[1]][i]);
    for (int repeat = 0; repeat < 2; repeat++) {
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        for (int o = 0; o < 2; o++) {
            const float *expected = values[graph->model.outputs[o]],
                        *got = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, o));
            for (int i = 0; i < LENGTH; i++)
                if (!(got[i] == expected[i] || (got[i] != got[i] && expected[i] != expected[i])) &&
                    expected[i] - expected[i] == 0)
                    fail_msg("graph %u, output %d, element %d: %g instead of %g", graph->seed, o, i, (double)got[i],
                             (double)expected[i]);
        }
    }
}

// Of one graph. Adds what its arena has, and would have if no two tensors shared memory.
static void check_graph(unsigned seed, bool dynamic, size_t *shared, size_t *unshared)
{
    random_state = seed;
    struct graph graph = {.seed = seed};
    make_graph(&graph, dynamic);
    size_t size;
    unsigned char *file = test_model_write(&graph.model, &size);
    TfLiteModel *model = TfLiteModelCreate(file, size);
    assert_non_null(model);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    if (!dynamic) check_no_overlap(&graph, interpreter);
    check_partition(interpreter->subgraphs[0]);
    for (int run = 0; run < 3; run++) {
        check_values(&graph, interpreter);
        check_no_overlap(&graph, interpreter);
        assert_true(dynamic || interpreter->subgraphs[0]->call_count > 0); // all is settled after the first
    }
    HaliteMemoryReport memory;
    assert_int_equal(HaliteInterpreterGetMemoryReport(interpreter, &memory), kTfLiteOk);
    *shared += memory.arena;
    *unshared += memory.arena_unshared;
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    free(file);
}

static void random_graphs(void **state)
{
    (void)state;
    size_t shared = 0, unshared = 0;
    for (unsigned g = 0; g < GRAPHS; g++) check_graph(g, false, &shared, &unshared);
    print_message("arenas: %zu bytes, without sharing %zu\n", shared, unshared);
    assert_true(shared * 2 < unshared); // most of these tensors are short-lived
}

static void random_dynamic_graphs(void **state)
{
    (void)state;
    size_t shared = 0, unshared = 0;
    for (unsigned g = 0; g < GRAPHS; g++) check_graph(g, true, &shared, &unshared);
    assert_true(shared < unshared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs), cmocka_unit_test(random_dynamic_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
