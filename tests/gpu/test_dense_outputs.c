// SPDX-License-Identifier: Apache-2.0
// Operators that write an output of the graph as the caller has it: a resize, and parts that follow each other in the
// caller's memory. Where nobody else reads the output no dispatch copies it, and each device that is here gives the
// CPU's elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler { RIGHT, READ, SPOILERS };
static const char *const spoilers[] = {"right", "the output is read"};

static void begin_graph(struct sketch *sketch, int number, int spoiler)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 771 + (uint32_t)spoiler + 3;
    for (int i = 0; i < 8; i++) pick(2);
}

static void end_graph(struct sketch *sketch, int y, int spoiler)
{
    if (spoiler == READ) sketch_output(sketch, sketch_softmax(sketch, y, 1));
    sketch_output(sketch, y);
}

// ---- a resize -------------------------------------------------------------------------------------------------------

static void resized(struct sketch *sketch, int number, int spoiler)
{
    begin_graph(sketch, number, spoiler);
    const int channels = number % 4 == 0 ? 1 + pick(3) : 5 + pick(18);
    const int dims[4] = {1 + pick(3), 1 + pick(9), 1 + pick(9), channels};
    const int sizes[4] = {dims[0], 2 + pick(40), 2 + pick(40), channels};
    const bool bilinear = pick(2);
    const int x = sketch_one(sketch, kTfLiteBuiltinAbs, sketch_input(sketch, 4, dims));
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, sizes);
    struct test_node *node =
        sketch_node(sketch, bilinear ? kTfLiteBuiltinResizeBilinear : kTfLiteBuiltinResizeNearestNeighbor, 2,
                    (int[]){x, sketch_ints(sketch, 2, sizes + 1)}, y);
    node->settings[0] = (struct test_setting){.field = bilinear ? HL_ResizeBilinearOptions_half_pixel_centers
                                                                : HL_ResizeNearestNeighborOptions_half_pixel_centers,
                                              .value = pick(2)};
    if (pick(3) == 0) y = sketch_one(sketch, kTfLiteBuiltinTanh, y);
    end_graph(sketch, y, spoiler);
}

static const struct sketch_graphs resizes = {resized,    spoilers,       SPOILERS,
                                             .scale = 2, .bound = 1e-5f, .bound_in_halves = 4e-3f};

static void a_resize_writes_the_output(void **state)
{
    (void)state;
    sketch_check_dispatches(&resizes, 40, "resize_dense", true);
}

// ---- parts ----------------------------------------------------------------------------------------------------------

// As the ends of a detector: convolved planes of several sizes, seen as rows of a few numbers, behind each other.
static void joined(struct sketch *sketch, int number, int spoiler)
{
    begin_graph(sketch, number, spoiler);
    const int parts = 2 + pick(4), some = 1 + pick(20), columns = some == 4 ? 3 : some; // four are a slice
    int inputs[8], rows = 0;
    for (int i = 0; i < parts; i++) {
        const int dims[4] = {1, 1 + pick(9), 1 + pick(9), columns * (1 + pick(3))};
        const int own = dims[1] * dims[2] * dims[3] / columns;
        const int x = sketch_one(sketch, kTfLiteBuiltinAbs, sketch_input(sketch, 4, dims));
        inputs[i] = sketch_reshape(sketch, x, 3, (int[]){1, own, columns});
        rows += own;
    }
    const int y = sketch_tensor(sketch, TEST_FLOAT32, 3, (int[]){1, rows, columns});
    sketch_node(sketch, kTfLiteBuiltinConcatenation, parts, inputs, y)->settings[0] =
        (struct test_setting){.field = HL_ConcatenationOptions_axis, .value = 1};
    end_graph(sketch, y, spoiler);
}

static const struct sketch_graphs joins = {joined,     spoilers,       SPOILERS,
                                           .scale = 2, .bound = 1e-6f, .bound_in_halves = 2e-3f};

static void parts_are_written_to_the_output(void **state)
{
    (void)state;
    for (int number = 0; number < 40; number++)
        for (int spoiler = 0; spoiler < SPOILERS; spoiler++) {
            struct sketch sketch;
            joined(&sketch, number, spoiler);
            int parts = sketch.nodes[sketch.node_count - 1 - (spoiler == READ)].input_count;
            int copies = sketch_count(&sketch, "insert", NULL) + sketch_count(&sketch, "concatenate", NULL);
            if (spoiler == RIGHT) assert_int_equal(sketch_count(&sketch, "to_dense", NULL), parts);
            if ((copies == 0) != (spoiler == RIGHT))
                fail_msg("graph %d, %s: %d copies", number, spoilers[spoiler], copies);
            sketch_free(&sketch);
        }
}

static struct sketch_place places[] = {
    {&resizes, "opencl", "f32", 8, 0}, {&resizes, "vulkan", "f32", 30, 2},  {&resizes, "gles", "f32", 8, 0},
    {&resizes, "cuda", "f32", 8, 0},   {&resizes, "vulkan", "f16s", 10, 0}, {&resizes, "vulkan", "f16", 10, 0},
};
static struct sketch_place places_of_parts[] = {
    {&joins, "opencl", "f32", 8, 0}, {&joins, "vulkan", "f32", 30, 2},  {&joins, "gles", "f32", 8, 0},
    {&joins, "cuda", "f32", 8, 0},   {&joins, "vulkan", "f16s", 10, 0}, {&joins, "vulkan", "f16", 10, 0},
};

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(a_resize_writes_the_output),
        cmocka_unit_test(parts_are_written_to_the_output),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
        SKETCH_ROWS(places_of_parts),
        SKETCH_ROWS_IN_HALVES(places_of_parts),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
