// SPDX-License-Identifier: Apache-2.0
// GELU as converters write it with TANH, in random spellings: the plan makes one stage of it, unless somebody else
// reads what lies between, or the numbers are others; and each device that is here computes what the CPU's operators
// do. So does GELU as an operator, behind nodes that take it as a stage and in front of nodes that do.
#include <math.h>

#include "gpu/backend/null.h"
#include "gpu/sketch.h"

// What is wrong with a graph, or nothing.
enum spoiler {
    NOTHING,
    TANH_IS_OUTPUT,
    CUBE_IS_READ,
    OTHER_CUBE,
    OTHER_SLOPE,
    OTHER_HALF,
    OTHER_X,
    FOURTH_POWER,
    SPOILERS
};
static const char *const spoilers[SPOILERS] = {
    "nothing",       "the tangent is an output", "the cube is read",         "another factor of the cube",
    "another slope", "a factor that is no half", "another x at the outside", "a fourth power"};

static int times(struct sketch *sketch, int x, float number)
{
    return sketch_in_any_order(sketch, kTfLiteBuiltinMul, x, sketch_number(sketch, number));
}

static int cube_of(struct sketch *sketch, int x)
{
    int kind = pick(3);
    if (kind == 0) return sketch_two(sketch, kTfLiteBuiltinPow, x, sketch_number(sketch, 3));
    int square = kind == 1 ? sketch_one(sketch, kTfLiteBuiltinSquare, x) : sketch_two(sketch, kTfLiteBuiltinMul, x, x);
    return sketch_in_any_order(sketch, kTfLiteBuiltinMul, square, x);
}

static int add_gelu(struct sketch *sketch, int x, int other, enum spoiler spoiler)
{
    float cubic = spoiler == OTHER_CUBE ? 0.045f : 0.044715f, slope = spoiler == OTHER_SLOPE ? 0.798f : 0.7978845608f;
    float half = spoiler == OTHER_HALF ? 0.5f + 0x1p-20f : 0.5f;
    int cube = cube_of(sketch, x), argument, outside = spoiler == OTHER_X ? other : x;
    if (pick(2)) {
        argument = times(sketch, sketch_in_any_order(sketch, kTfLiteBuiltinAdd, x, times(sketch, cube, cubic)), slope);
    } else {
        int linear = times(sketch, x, slope);
        argument = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, linear, times(sketch, cube, cubic * slope));
    }
    if (spoiler == FOURTH_POWER)
        argument = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, argument,
                                       times(sketch, sketch_two(sketch, kTfLiteBuiltinMul, cube, x), 0.01f));
    int tanh = sketch_one(sketch, kTfLiteBuiltinTanh, argument);
    if (spoiler == TANH_IS_OUTPUT) sketch_output(sketch, tanh);
    if (spoiler == CUBE_IS_READ) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinTanh, cube));
    int kind = pick(4);
    if (kind == 0) { // x t / 2 + x / 2
        int product = sketch_in_any_order(sketch, kTfLiteBuiltinMul, tanh, outside);
        return sketch_in_any_order(sketch, kTfLiteBuiltinAdd, times(sketch, product, half),
                                   times(sketch, outside, half));
    }
    int sum = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, tanh, sketch_number(sketch, 1));
    if (kind == 1) return times(sketch, sketch_in_any_order(sketch, kTfLiteBuiltinMul, outside, sum), half);
    if (kind == 2) return sketch_in_any_order(sketch, kTfLiteBuiltinMul, times(sketch, sum, half), outside);
    return sketch_in_any_order(sketch, kTfLiteBuiltinMul, times(sketch, outside, half), sum);
}

static int add_dense(struct sketch *sketch, int x, int outputs)
{
    int c = sketch->tensors[x].dims[1], weights[2] = {outputs, c}, y_dims[2] = {sketch->tensors[x].dims[0], outputs};
    int inputs[3] = {x, sketch_constant(sketch, 2, weights, -1, 1), sketch_constant(sketch, 1, &outputs, -1, 1)};
    int y = sketch_tensor(sketch, TEST_FLOAT32, 2, y_dims);
    sketch_node(sketch, kTfLiteBuiltinFullyConnected, 3, inputs, y);
    return y;
}

// A fully connected layer and what it feeds; spoiler -1: GELU as an operator, exact or not.
static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)(number * 64 + spoiler + 1);
    for (int i = 0; i < 8; i++) pick(2);
    int dims[2] = {1 + pick(5), 1 + pick(9)}, c = 1 + pick(12);
    int x = add_dense(sketch, sketch_input(sketch, 2, dims), c), y;
    int other = add_dense(sketch, sketch->inputs[0], c);
    if (spoiler == OTHER_X) sketch_output(sketch, other);
    if (spoiler >= 0) {
        y = add_gelu(sketch, x, other, (enum spoiler)spoiler);
    } else {
        y = sketch_one(sketch, kTfLiteBuiltinGelu, x);
        sketch->nodes[sketch->node_count - 1].settings[0] =
            (struct test_setting){.field = HL_GeluOptions_approximate, .value = pick(2)};
    }
    if (pick(2)) y = add_dense(sketch, y, 3);
    sketch_output(sketch, y);
}

enum { GRAPHS = 40 };

static void one_stage(void **state)
{
    (void)state;
    for (int number = 0; number < GRAPHS; number++)
        for (int spoiler = NOTHING; spoiler < SPOILERS; spoiler++) {
            struct sketch sketch;
            random_graph(&sketch, number, spoiler);
            int all, dense = sketch_count(&sketch, "convolve", &all), others = all - dense;
            others -= sketch_count(&sketch, "from_dense", NULL) + sketch_count(&sketch, "to_dense", NULL);
            others -= sketch_count(&sketch, "dense_pair", NULL); // with GELU between
            if ((others == 0) != (spoiler == NOTHING)) fail_msg("graph %d, %s: %d", number, spoilers[spoiler], others);
            sketch_free(&sketch);
        }
}

static void results_are_those_of_the_cpu(void **state)
{
    if (!has_device(*state)) skip();
    bool few = strcmp(*state, "gles") == 0 || strcmp(*state, "cuda") == 0; // their compilers take long
    for (int number = 0; number < (few ? 2 : 10); number++)
        for (int spoiler = -1; spoiler < (number == 0 && !few ? SPOILERS : 1); spoiler++) {
            struct sketch sketch;
            random_graph(&sketch, number, spoiler);
            sketch_compare(&sketch, *state, "f32", 4, 3e-5f, spoiler < 0 ? "GELU" : spoilers[spoiler]);
            sketch_free(&sketch);
        }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_stage),
        {"results_are_those_of_the_cpu opencl", results_are_those_of_the_cpu, NULL, NULL, "opencl"},
        {"results_are_those_of_the_cpu vulkan", results_are_those_of_the_cpu, NULL, NULL, "vulkan"},
        {"results_are_those_of_the_cpu gles", results_are_those_of_the_cpu, NULL, NULL, "gles"},
        {"results_are_those_of_the_cpu cuda", results_are_those_of_the_cpu, NULL, NULL, "cuda"},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
