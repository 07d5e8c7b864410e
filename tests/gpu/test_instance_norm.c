// SPDX-License-Identifier: Apache-2.0
// Instance normalization as converters write it, in random spellings, sizes and orders, with constants and with values
// for gamma and beta: the plan makes two dispatches of it, unless somebody else reads what lies between, or it is none
// after all. Each device that is here computes what the CPU's operators do, one after the other; and where the mean is
// a thousand times the deviation, where those round too much, what the definition says in doubles.
#include <math.h>

#include "gpu/backend/null.h"
#include "gpu/sketch.h"

// What is wrong with a graph, or nothing.
enum spoiler {
    NOTHING,
    MEAN_IS_OUTPUT,
    SCALE_IS_OUTPUT,
    SQUARES_ARE_READ,
    OTHER_FACTOR,
    OTHER_GAMMA,
    OTHER_MEAN,
    ROWS,
    SPOILERS
};
static const char *const spoilers[SPOILERS] = {
    "nothing",
    "the mean is an output",
    "the scale is an output",
    "the squares are read",
    "another factor of the mean",
    "another gamma of the mean",
    "the variance around another mean",
    "means of rows",
};

// Gamma or beta: absent, constants, an input, one for each batch.
enum kind { ABSENT, CONSTANT, VALUE, BATCHES, KINDS };

// Over height and width, or height alone.
static int mean_of(struct sketch *sketch, int x, bool rows)
{
    const int *own = sketch->tensors[x].dims;
    int dims[4] = {own[0], 1, rows ? own[2] : 1, own[3]}, axes[2] = {pick(2) ? 1 : -3, pick(2) ? 2 : -2};
    int y = sketch_tensor(sketch, TEST_FLOAT32, 4, dims);
    struct test_node *node =
        sketch_node(sketch, kTfLiteBuiltinMean, 2, (int[]){x, sketch_ints(sketch, rows ? 1 : 2, axes)}, y);
    node->settings[0] = (struct test_setting){.field = HL_ReducerOptions_keep_dims, .value = 1};
    return y;
}

// Gamma or beta; -1: it is absent.
static int factor_of(struct sketch *sketch, int x, enum kind kind)
{
    const int *own = sketch->tensors[x].dims;
    int dims[4] = {kind == BATCHES ? own[0] : 1, 1, 1, own[3]};
    if (kind == ABSENT) return -1;
    if (kind == CONSTANT)
        return pick(2) ? sketch_constant(sketch, 1, own + 3, 0.5f, 1.5f) : sketch_constant(sketch, 4, dims, 0.5f, 1.5f);
    int value = sketch_input(sketch, 4, dims);
    return pick(2) ? sketch_one(sketch, kTfLiteBuiltinTanh, value) : value;
}

static int add_norm(struct sketch *sketch, int x, enum kind gamma_kind, enum kind beta_kind, enum spoiler spoiler)
{
    int gamma = factor_of(sketch, x, gamma_kind), beta = factor_of(sketch, x, beta_kind), y;
    int mean = mean_of(sketch, x, spoiler == ROWS);
    int squares = sketch_squared_difference(sketch, x, spoiler == OTHER_MEAN ? sketch_number(sketch, 0.125f) : mean);
    int variance = mean_of(sketch, squares, spoiler == ROWS);
    int sum = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, variance, sketch_number(sketch, 0.001f));
    int scale = pick(2) ? sketch_one(sketch, kTfLiteBuiltinRsqrt, sum)
                        : sketch_two(sketch, kTfLiteBuiltinPow, sum, sketch_number(sketch, -0.5f));
    if (pick(2) && spoiler != OTHER_FACTOR && spoiler != OTHER_GAMMA) { // (x - mean) scale, and the factors after it
        y = sketch_in_any_order(sketch, kTfLiteBuiltinMul, sketch_two(sketch, kTfLiteBuiltinSub, x, mean), scale);
        if (gamma >= 0) y = sketch_in_any_order(sketch, kTfLiteBuiltinMul, y, gamma);
        if (beta >= 0) y = sketch_in_any_order(sketch, kTfLiteBuiltinAdd, y, beta);
    } else { // x times the factors, and beta less the mean times them
        int both = gamma < 0 ? scale : sketch_in_any_order(sketch, kTfLiteBuiltinMul, scale, gamma);
        int other = both;
        if (spoiler == OTHER_FACTOR) other = sketch_two(sketch, kTfLiteBuiltinMul, both, sketch_number(sketch, 0.5f));
        if (spoiler == OTHER_GAMMA)
            other = sketch_in_any_order(sketch, kTfLiteBuiltinMul, scale, factor_of(sketch, x, VALUE));
        int less = sketch_in_any_order(sketch, kTfLiteBuiltinMul, mean, other);
        int scaled = sketch_in_any_order(sketch, kTfLiteBuiltinMul, x, both);
        y = beta < 0 ? sketch_two(sketch, kTfLiteBuiltinSub, scaled, less)
                     : sketch_in_any_order(sketch, kTfLiteBuiltinAdd, scaled,
                                           sketch_two(sketch, kTfLiteBuiltinSub, beta, less));
    }
    if (spoiler == MEAN_IS_OUTPUT) sketch_output(sketch, mean);
    if (spoiler == SCALE_IS_OUTPUT) sketch_output(sketch, scale);
    if (spoiler == SQUARES_ARE_READ) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinExp, squares));
    return y;
}

// x, perhaps computed, its normalization, and what reads it.
static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    static const int channels[] = {1, 2, 3, 4, 5, 8, 13, 32};
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)(number * 64 + spoiler);
    for (int i = 0; i < 8; i++) pick(2);
    bool large = pick(3) == 0; // several parts
    int dims[4] = {1 + pick(3), 1 + pick(5), 2 + pick(8), channels[pick(8)]};
    if (large) dims[1] += 40;
    if (large) dims[2] += 30;
    int x = sketch_input(sketch, 4, dims), given = x;
    if (pick(2)) x = sketch_one(sketch, kTfLiteBuiltinTanh, x);
    enum kind gamma = (enum kind)pick(KINDS), beta = (enum kind)pick(KINDS);
    int y = add_norm(sketch, x, gamma, beta, (enum spoiler)spoiler);
    if (pick(2)) y = sketch_one(sketch, kTfLiteBuiltinRelu, y);
    if (pick(2)) y = sketch_two(sketch, kTfLiteBuiltinAdd, y, given);
    sketch_output(sketch, y);
}

enum { GRAPHS = 80 };

// Results are at most about 16, and rounded a few dozen times.
// In half precision two kernels round less often than ten do.
static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 4,   .bound = 5e-5f, .bound_in_halves = 0.02f};

static void two_dispatches(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, GRAPHS, "instance_statistics", true);
    sketch_check_dispatches(&graphs, GRAPHS, "instance_norm", true);
}

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 14, 1}, {&graphs, "vulkan", "f32", 14, 1}, {&graphs, "gles", "f32", 2, 0},
    {&graphs, "cuda", "f32", 3, 0},    {&graphs, "opencl", "f16s", 6, 0}, {&graphs, "opencl", "f16", 6, 0},
    {&graphs, "vulkan", "f16s", 6, 0}, {&graphs, "vulkan", "f16", 6, 0},
};

// ---- a large mean ---------------------------------------------------------------------------------------------------

enum { BATCH = 2, PLANE_H = 61, PLANE_W = 67, DEPTH = 6, PLANE = PLANE_H * PLANE_W, NUMBERS = BATCH * PLANE * DEPTH };

// (x - mean) / sqrt(variance + 0.001) in doubles.
static void expect(const float *x, double *y)
{
    for (int b = 0; b < BATCH; b++)
        for (int c = 0; c < DEPTH; c++) {
            const float *from = x + b * PLANE * DEPTH + c;
            double mean = 0, variance = 0;
            for (int i = 0; i < PLANE; i++) mean += (double)from[i * DEPTH] / PLANE;
            for (int i = 0; i < PLANE; i++) {
                double off = (double)from[i * DEPTH] - mean;
                variance += off * off / PLANE;
            }
            for (int i = 0; i < PLANE; i++)
                y[b * PLANE * DEPTH + i * DEPTH + c] =
                    ((double)from[i * DEPTH] - mean) / sqrt(variance + (double)0.001f);
        }
}

// Numbers around 100 within 0.1, but for the first of each plane, which may be far from the others. A float at 100 is
// exact to 4e-6, and the deviation with epsilon is 0.04: a mean that is rounded once is off by 1e-4 of it.
static void nothing_cancels(void **state)
{
    if (!has_device(*state)) skip();
    for (int far = 0; far < 2; far++) {
        struct sketch sketch;
        struct session session;
        memset(&sketch, 0, sizeof sketch);
        seed = 7;
        int x = sketch_input(&sketch, 4, (int[]){BATCH, PLANE_H, PLANE_W, DEPTH});
        sketch_output(&sketch, add_norm(&sketch, x, ABSENT, ABSENT, NOTHING));
        sketch_begin(&sketch, &session);
        TfLiteDelegate *delegate = make((const char *[]){"device", *state, "precision", "f32", NULL});
        assert_non_null(delegate);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        float *input = malloc(NUMBERS * sizeof *input);
        double *expected = malloc(NUMBERS * sizeof *expected);
        assert_true(input && expected);
        for (int i = 0; i < NUMBERS; i++) input[i] = 99.9f + 0.2f * (float)pick(10001) / 10000;
        for (int i = 0; far && i < BATCH * DEPTH; i++) input[i / DEPTH * PLANE * DEPTH + i % DEPTH] = 101;
        TfLiteTensor *to = TfLiteInterpreterGetInputTensor(session.interpreter, 0);
        assert_int_equal(TfLiteTensorCopyFromBuffer(to, input, NUMBERS * sizeof *input), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
        expect(input, expected);
        const float *y = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
        for (int i = 0; i < NUMBERS; i++)
            if (!(fabs((double)y[i] - expected[i]) < 2e-4))
                fail_msg("far %d, element %d: %g, expected %g", far, i, (double)y[i], expected[i]);
        free(input);
        free(expected);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        sketch_free(&sketch);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(two_dispatches),
        SKETCH_ROWS(places),
        SKETCH_ROW("opencl, f16s", &places[4]),
        SKETCH_ROW("opencl, f16", &places[5]),
        SKETCH_ROW("vulkan, f16s", &places[6]),
        SKETCH_ROW("vulkan, f16", &places[7]),
        {"nothing_cancels opencl", nothing_cancels, NULL, NULL, "opencl"},
        {"nothing_cancels vulkan", nothing_cancels, NULL, NULL, "vulkan"},
        {"nothing_cancels cuda", nothing_cancels, NULL, NULL, "cuda"},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
