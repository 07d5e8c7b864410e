// SPDX-License-Identifier: Apache-2.0
// Layer normalization as converters write it, in random spellings, sizes and orders: the plan makes one dispatch of it,
// unless somebody else reads what lies between, or it is no layer normalization after all; and each device that is here
// computes what the CPU's operators do, one after the other.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

// What is wrong with a graph, or nothing.
enum spoiler { NOTHING, MEAN_IS_OUTPUT, SCALE_IS_OUTPUT, SQUARES_ARE_READ, OTHER_FACTOR, OTHER_MEAN, SPOILERS };
static const char *const spoilers[SPOILERS] = {
    "nothing",
    "the mean is an output",
    "the scale is an output",
    "the squares are read",
    "another factor of the mean",
    "the variance around another mean",
};

// Gives a mean without the last axis the shape of one with it.
static int as_column(struct sketch *sketch, int mean, int x)
{
    int dims[8], rank = sketch->tensors[x].rank;
    if (sketch->tensors[mean].rank == rank) return mean;
    for (int i = 0; i < rank; i++) dims[i] = i == rank - 1 ? 1 : sketch->tensors[x].dims[i];
    return sketch_reshape(sketch, mean, rank, dims);
}

// A layer normalization of x, with factors for each channel or without.
static int add_norm(struct sketch *sketch, int x, enum spoiler spoiler)
{
    int c = sketch->tensors[x].dims[sketch->tensors[x].rank - 1];
    bool rows = pick(2), gamma = pick(2) || spoiler == OTHER_FACTOR, beta = pick(2);
    int row_mean = sketch_mean(sketch, x, rows), mean = as_column(sketch, row_mean, x);
    int center = spoiler == OTHER_MEAN ? sketch_number(sketch, 0.125f) : mean;
    int squares = sketch_squared_difference(sketch, x, center);
    int row_variance = sketch_mean(sketch, squares, rows);
    int sum = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, row_variance, sketch_number(sketch, 0.001f));
    int kind = pick(3), scale = -1, y, factor = sketch_constant(sketch, 1, &c, 0.5f, 1.5f);
    if (kind == 0) scale = sketch_one(sketch, kTfLiteBuiltinRsqrt, sum);
    if (kind == 1) scale = sketch_two(sketch, kTfLiteBuiltinPow, sum, sketch_number(sketch, -0.5f));
    int root = kind == 2 ? sketch_one(sketch, kTfLiteBuiltinSqrt, sum) : -1;
    if (kind == 2 && spoiler == OTHER_FACTOR)
        scale = sketch_two(sketch, kTfLiteBuiltinDiv, sketch_number(sketch, 1), root);
    if (scale < 0) { // (x - mean) / root, and the factors after it
        int difference = sketch_two(sketch, kTfLiteBuiltinSub, x, mean);
        y = sketch_two(sketch, kTfLiteBuiltinDiv, difference, as_column(sketch, root, x));
        if (gamma) y = sketch_in_any_order(sketch, kTfLiteBuiltinMul, y, factor);
    } else if (!gamma && pick(2)) { // the mean times the scale, in rows
        int product = sketch_in_any_order(sketch, kTfLiteBuiltinMul, row_mean, scale);
        int less = sketch_two(sketch, kTfLiteBuiltinSub, sketch_number(sketch, 0), product);
        y = sketch_in_any_order(sketch, kTfLiteBuiltinMul, x, as_column(sketch, scale, x));
        y = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, y, as_column(sketch, less, x));
    } else { // x times the factors, less the mean times them
        int column = as_column(sketch, scale, x);
        int both = gamma ? sketch_in_any_order(sketch, kTfLiteBuiltinMul, column, factor) : column;
        int less = sketch_one(sketch, kTfLiteBuiltinNeg, mean);
        less = sketch_in_any_order(sketch, kTfLiteBuiltinMul, less, spoiler == OTHER_FACTOR ? column : both);
        y = sketch_in_any_order(sketch, kTfLiteBuiltinMul, x, both);
        y = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, y, less);
    }
    if (beta) y = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, y, sketch_constant(sketch, 1, &c, -0.5f, 0.5f));
    if (spoiler == MEAN_IS_OUTPUT) sketch_output(sketch, row_mean);
    if (spoiler == SCALE_IS_OUTPUT) sketch_output(sketch, scale < 0 ? root : scale);
    if (spoiler == SQUARES_ARE_READ) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinExp, squares));
    return y;
}

// x, perhaps computed and reshaped, its normalization, perhaps reshaped, and what reads it.
static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int channels[] = {2, 3, 4, 5, 8, 13, 64, 70, 256};
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)(number * 64 + spoiler);
    for (int i = 0; i < 8; i++) pick(2);
    int b = 1 + pick(4), h = 1 + pick(3), w = 1 + pick(9), c = channels[pick(9)], rank = 2 + pick(3);
    int dims[4] = {b, h, w, c}, flat[2] = {b * h * w, c}, three[3] = {b, h * w, c};
    int x = sketch_input(sketch, 4, dims), given = x;
    if (pick(2)) x = sketch_one(sketch, kTfLiteBuiltinTanh, x);
    if (rank < 4) x = sketch_reshape(sketch, x, rank, rank == 2 ? flat : three);
    int y = add_norm(sketch, x, (enum spoiler)spoiler);
    if (pick(2)) y = sketch_one(sketch, kTfLiteBuiltinTanh, y);
    if (rank < 4 && pick(2)) {
        y = sketch_reshape(sketch, y, 4, dims);
        if (pick(2)) y = sketch_two(sketch, kTfLiteBuiltinAdd, y, given);
    }
    sketch_output(sketch, y);
}

enum { GRAPHS = 60 };

// Results are at most about 16 (256 channels, a factor of 1.5), and rounded a few dozen times.
// In half precision one kernel rounds less often than ten do.
static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 4,   .bound = 5e-5f, .bound_in_halves = 0.02f};

static void one_dispatch(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, GRAPHS, "layer_norm", true);
}

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 20, 2}, {&graphs, "vulkan", "f32", 20, 2}, {&graphs, "gles", "f32", 2, 0},
    {&graphs, "cuda", "f32", 3, 0},    {&graphs, "opencl", "f16", 6, 0},
};

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_dispatch),
        SKETCH_ROWS(places),
        SKETCH_ROW("opencl, f16", &places[4]),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
