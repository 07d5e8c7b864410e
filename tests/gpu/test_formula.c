// SPDX-License-Identifier: Apache-2.0
// Random graphs of functions of single elements (graph/formula.c, ops/formula.c), with parts of channels, several
// readers and outputs in between: they take far fewer dispatches than nodes, and each device that is here gives the
// CPU's elements. Which nodes are joined is in test_passes.c.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

// Nodes of one shape, each of the last values or a part of the channels of a wide one.
static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 577 + (uint32_t)spoiler + 11;
    for (int i = 0; i < 8; i++) pick(2);
    const int rank = 1 + pick(4), c = 1 + pick(9), parts = 1 + pick(4);
    int dims[4] = {1 + pick(2), 1 + pick(4), 1 + pick(5), c}, made[32], count = 0;
    const int *own = dims + 4 - rank;
    for (int i = 0; i < 2; i++) made[count++] = sketch_input(sketch, rank, own);
    dims[3] = c * parts + pick(3);
    const int all = dims[3];
    int source = sketch_one(sketch, kTfLiteBuiltinTanh, sketch_input(sketch, rank, own));
    dims[3] = c;
    for (int n = 4 + pick(12); n > 0; n--) {
        static const int ones[] = {kTfLiteBuiltinTanh, kTfLiteBuiltinAbs, kTfLiteBuiltinNeg, kTfLiteBuiltinLogistic};
        static const int twos[] = {kTfLiteBuiltinAdd, kTfLiteBuiltinSub, kTfLiteBuiltinMul};
        const int last = made[count - 1], other = made[count - 1 - pick(count < 4 ? count : 4)];
        int begin[4] = {0}, size[4];
        memcpy(size, own, (size_t)rank * sizeof *size);
        begin[rank - 1] = pick(all - c + 1);
        int y;
        switch (pick(4)) {
        case 0: y = sketch_one(sketch, ones[pick(4)], last); break;
        case 1:
            y = sketch_tensor(sketch, TEST_FLOAT32, rank, own);
            sketch_node(sketch, kTfLiteBuiltinSlice, 3,
                        (int[]){source, sketch_ints(sketch, rank, begin), sketch_ints(sketch, rank, size)}, y);
            y = sketch_in_any_order(sketch, twos[pick(3)], last, y);
            break;
        default: y = sketch_in_any_order(sketch, twos[pick(3)], last, other);
        }
        made[count++] = pick(3) ? y : sketch_one(sketch, kTfLiteBuiltinTanh, y); // numbers stay small
    }
    if (pick(3) == 0) sketch_output(sketch, made[count / 2]);
    sketch_output(sketch, made[count - 1]);
}

static void fewer_dispatches(void **state)
{
    (void)state;
    int formulas = 0, dispatches = 0, asked = 0;
    for (int number = 0; number < 200; number++) {
        struct sketch sketch;
        int all;
        random_graph(&sketch, number, 0);
        formulas += sketch_count(&sketch, "formula", &all);
        dispatches += all - sketch.input_count - sketch.output_count; // which are brought in and out
        asked += sketch.node_count;
        sketch_free(&sketch);
    }
    print_message("%d nodes, %d dispatches, %d of them formulas\n", asked, dispatches, formulas);
    assert_true(formulas > 300 && 3 * dispatches < asked);
}

static const char *const spoilers[] = {"right"};
static const struct sketch_graphs graphs = {random_graph, spoilers,       1,
                                            .scale = 1,   .bound = 1e-5f, .bound_in_halves = 8e-3f};
static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 8, 0}, {&graphs, "vulkan", "f32", 60, 0},  {&graphs, "gles", "f32", 8, 0},
    {&graphs, "cuda", "f32", 4, 0},   {&graphs, "vulkan", "f16s", 10, 0}, {&graphs, "vulkan", "f16", 10, 0},
};

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(fewer_dispatches),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
