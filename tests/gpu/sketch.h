// SPDX-License-Identifier: Apache-2.0
// Models that a test writes a node at a time: each function adds one and returns the number of its output tensor. Sizes
// follow by the rules of broadcasting. Everything lives in the sketch until sketch_free.
#ifndef HALITE_TESTS_GPU_SKETCH_H
#define HALITE_TESTS_GPU_SKETCH_H

#include "gpu/delegate_session.h"
#include "model/schema.h"
#include "support/random.h"
#include "tensorflow/lite/builtin_ops.h"

enum { SKETCH_TENSORS = 96, SKETCH_NODES = 64 };
struct sketch {
    struct test_tensor tensors[SKETCH_TENSORS];
    struct test_node nodes[SKETCH_NODES];
    void *owned[SKETCH_TENSORS];
    int tensor_count, node_count, input_count, inputs[TEST_LIST], output_count, outputs[TEST_LIST];
};

static inline int sketch_tensor(struct sketch *sketch, enum test_type type, int rank, const int *dims)
{
    assert_true(sketch->tensor_count < SKETCH_TENSORS);
    struct test_tensor *tensor = &sketch->tensors[sketch->tensor_count];
    *tensor = (struct test_tensor){.name = "t", .type = type, .rank = rank};
    for (int i = 0; i < rank; i++) tensor->dims[i] = dims[i];
    return sketch->tensor_count++;
}

static inline int sketch_elements(const struct sketch *sketch, int tensor)
{
    int count = 1;
    for (int i = 0; i < sketch->tensors[tensor].rank; i++) count *= sketch->tensors[tensor].dims[i];
    return count;
}

static inline int sketch_input(struct sketch *sketch, int rank, const int *dims)
{
    sketch->inputs[sketch->input_count++] = sketch->tensor_count;
    return sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
}

// Random numbers between `low` and `high`, the same bytes in every run.
static inline int sketch_constant(struct sketch *sketch, int rank, const int *dims, float low, float high)
{
    int tensor = sketch_tensor(sketch, TEST_FLOAT32, rank, dims), count = sketch_elements(sketch, tensor);
    float *data = malloc((size_t)count * sizeof *data);
    assert_non_null(data);
    for (int i = 0; i < count; i++) data[i] = low + (high - low) * (float)pick(1001) / 1000;
    sketch->owned[tensor] = data;
    sketch->tensors[tensor].data = data;
    sketch->tensors[tensor].bytes = (size_t)count * sizeof *data;
    return tensor;
}

static inline int sketch_number(struct sketch *sketch, float number)
{
    return sketch_constant(sketch, 0, NULL, number, number);
}

static inline int sketch_ints(struct sketch *sketch, int count, const int *ints)
{
    int tensor = sketch_tensor(sketch, TEST_INT32, 1, &count);
    int32_t *data = malloc((size_t)count * sizeof *data);
    assert_non_null(data);
    for (int i = 0; i < count; i++) data[i] = ints[i];
    sketch->owned[tensor] = data;
    sketch->tensors[tensor].data = data;
    sketch->tensors[tensor].bytes = (size_t)count * sizeof *data;
    return tensor;
}

static inline struct test_node *sketch_node(struct sketch *sketch, int builtin, int input_count, const int *inputs,
                                            int output)
{
    assert_true(sketch->node_count < SKETCH_NODES);
    struct test_node *node = &sketch->nodes[sketch->node_count++];
    *node = (struct test_node){.builtin = builtin, .input_count = input_count, TEST_OUTPUTS(output)};
    for (int i = 0; i < input_count; i++) node->inputs[i] = inputs[i];
    return node;
}

static inline int sketch_one(struct sketch *sketch, int builtin, int x)
{
    int y = sketch_tensor(sketch, TEST_FLOAT32, sketch->tensors[x].rank, sketch->tensors[x].dims);
    sketch_node(sketch, builtin, 1, &x, y);
    return y;
}

static inline int sketch_two(struct sketch *sketch, int builtin, int a, int b)
{
    const struct test_tensor *left = &sketch->tensors[a], *right = &sketch->tensors[b];
    int rank = left->rank > right->rank ? left->rank : right->rank, dims[8];
    for (int i = 0; i < rank; i++) {
        int own = i - (rank - left->rank), other = i - (rank - right->rank);
        dims[i] = own >= 0 ? left->dims[own] : 1;
        if (other >= 0 && right->dims[other] > dims[i]) dims[i] = right->dims[other];
    }
    int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    sketch_node(sketch, builtin, 2, (int[]){a, b}, y);
    return y;
}

static inline int sketch_in_any_order(struct sketch *sketch, int builtin, int a, int b)
{
    return pick(2) ? sketch_two(sketch, builtin, a, b) : sketch_two(sketch, builtin, b, a);
}

// (a - b)^2, in one of its spellings.
static inline int sketch_squared_difference(struct sketch *sketch, int a, int b)
{
    int kind = pick(3);
    if (kind == 0) return sketch_two(sketch, kTfLiteBuiltinSquaredDifference, a, b);
    int difference = sketch_two(sketch, kTfLiteBuiltinSub, a, b);
    if (kind == 1) return sketch_one(sketch, kTfLiteBuiltinSquare, difference);
    return sketch_two(sketch, kTfLiteBuiltinMul, difference, difference);
}

static inline int sketch_reshape(struct sketch *sketch, int x, int rank, const int *dims)
{
    int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    sketch_node(sketch, kTfLiteBuiltinReshape, 2, (int[]){x, sketch_ints(sketch, rank, dims)}, y);
    return y;
}

static inline int sketch_transpose(struct sketch *sketch, int x, const int *order)
{
    int rank = sketch->tensors[x].rank, dims[8];
    for (int i = 0; i < rank; i++) dims[i] = sketch->tensors[x].dims[order[i]];
    int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    sketch_node(sketch, kTfLiteBuiltinTranspose, 2, (int[]){x, sketch_ints(sketch, rank, order)}, y);
    return y;
}

// Over the last axis.
static inline int sketch_mean(struct sketch *sketch, int x, bool keep)
{
    int rank = sketch->tensors[x].rank, dims[8];
    for (int i = 0; i < rank; i++) dims[i] = i == rank - 1 ? 1 : sketch->tensors[x].dims[i];
    int axis = pick(2) ? rank - 1 : -1;
    int y = sketch_tensor(sketch, TEST_FLOAT32, keep ? rank : rank - 1, dims);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinMean, 2, (int[]){x, sketch_ints(sketch, 1, &axis)}, y);
    node->settings[0] = (struct test_setting){.field = HL_ReducerOptions_keep_dims, .value = keep};
    return y;
}

static inline int sketch_softmax(struct sketch *sketch, int x, float beta)
{
    int y = sketch_one(sketch, kTfLiteBuiltinSoftmax, x);
    sketch->nodes[sketch->node_count - 1].settings[0] =
        (struct test_setting){.field = HL_SoftmaxOptions_beta, .value = (double)beta};
    return y;
}

// a times b, or times b with its last two axes swapped.
static inline int sketch_matmul(struct sketch *sketch, int a, int b, bool swapped)
{
    int dims[8], rank = sketch->tensors[a].rank;
    memcpy(dims, sketch->tensors[a].dims, sizeof dims);
    dims[rank - 1] = sketch->tensors[b].dims[sketch->tensors[b].rank - (swapped ? 2 : 1)];
    int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinBatchMatmul, 2, (int[]){a, b}, y);
    node->settings[0] = (struct test_setting){.field = HL_BatchMatMulOptions_adj_x, .value = 0};
    node->settings[1] = (struct test_setting){.field = HL_BatchMatMulOptions_adj_y, .value = swapped};
    return y;
}

static inline void sketch_output(struct sketch *sketch, int tensor)
{
    sketch->outputs[sketch->output_count++] = tensor;
}

static inline void sketch_begin(const struct sketch *sketch, struct session *session)
{
    struct test_model model = {
        .tensor_count = sketch->tensor_count,
        .tensors = (struct test_tensor *)sketch->tensors,
        .node_count = sketch->node_count,
        .nodes = (struct test_node *)sketch->nodes,
        .input_count = sketch->input_count,
        .output_count = sketch->output_count,
    };
    memcpy(model.inputs, sketch->inputs, sizeof sketch->inputs);
    memcpy(model.outputs, sketch->outputs, sizeof sketch->outputs);
    begin(session, &model);
}

static inline void sketch_free(struct sketch *sketch)
{
    for (int i = 0; i < sketch->tensor_count; i++) free(sketch->owned[i]);
}

// Runs with numbers between -scale / 2 and scale / 2, the same in every run, in all inputs.
static inline void sketch_run(struct session *session, float scale)
{
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(session->interpreter); i++) {
        TfLiteTensor *x = TfLiteInterpreterGetInputTensor(session->interpreter, i);
        size_t count = TfLiteTensorByteSize(x) / sizeof(float);
        float *input = numbers((int)count, 5 + i);
        for (size_t k = 0; k < count; k++) input[k] *= scale;
        assert_int_equal(TfLiteTensorCopyFromBuffer(x, input, count * sizeof *input), kTfLiteOk);
        free(input);
    }
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
}

// The dispatches of kernels whose names begin so, in a plan's text (gpu/backend/null.h).
static inline int sketch_dispatches(const char *text, const char *kernel)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "dispatch list ")); at++) {
        at = strchr(at, ':') + 2;
        count += strncmp(at, kernel, strlen(kernel)) == 0;
    }
    return count;
}

// Applies the delegate on the null device and counts dispatches of a kernel. all: receives the number of all.
static inline int sketch_count(const struct sketch *sketch, const char *kernel, int *all)
{
    struct session session;
    sketch_begin(sketch, &session);
    TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    sketch_run(&session, 1);
    char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
    assert_non_null(text);
    int count = sketch_dispatches(text, kernel);
    if (all) *all = sketch_dispatches(text, "");
    free(text);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    return count;
}

// Compares what a device computes with the reference kernels.
static inline void sketch_compare(const struct sketch *sketch, const char *device, const char *precision, float scale,
                                  float bound, const char *name)
{
    struct session cpu, gpu;
    sketch_begin(sketch, &cpu);
    sketch_begin(sketch, &gpu);
    TfLiteDelegate *delegate = make((const char *[]){"device", device, "precision", precision, NULL});
    assert_non_null(delegate);
    if (apply(&gpu, delegate) != kTfLiteOk) fail_msg("%s, %s: %s", device, name, gpu.messages.text);
    sketch_run(&cpu, scale);
    sketch_run(&gpu, scale);
    check_same_outputs(&cpu, &gpu, bound, name);
    end(&cpu);
    end(&gpu);
    tflite_plugin_destroy_delegate(delegate);
}

// ---- random graphs --------------------------------------------------------------------------------------------------

// Graphs by number, each right or with something wrong, by number as well: 0 is nothing.
struct sketch_graphs {
    void (*make)(struct sketch *sketch, int number, int spoiler);
    const char *const *spoilers;
    int spoiler_count;
    float scale, bound, bound_in_halves; // of sketch_compare
};

// The plans of so many graphs, in all ways, have one dispatch of this kernel where they are right, and none elsewhere;
// or the other way round.
static inline void sketch_check_dispatches(const struct sketch_graphs *graphs, int count, const char *kernel,
                                           bool where_right)
{
    for (int number = 0; number < count; number++)
        for (int spoiler = 0; spoiler < graphs->spoiler_count; spoiler++) {
            struct sketch sketch;
            graphs->make(&sketch, number, spoiler);
            int all, found = sketch_count(&sketch, kernel, &all);
            if (found != ((spoiler == 0) == where_right))
                fail_msg("graph %d, %s: %d of %d dispatches are %s", number, graphs->spoilers[spoiler], found, all,
                         kernel);
            sketch_free(&sketch);
        }
}

// How many graphs a device computes, and how many of them in all ways to be wrong: compilers take long.
struct sketch_place {
    const struct sketch_graphs *of;
    const char *device, *precision;
    int graphs, spoiled;
};

// The places of SKETCH_ROWS and SKETCH_ROWS_IN_HALVES: `few` graphs on each, but `many` on Vulkan in floats.
#define SKETCH_PLACES(graphs, few, many, spoiled)                                          \
    {                                                                                      \
        {&(graphs), "opencl", "f32", few, 0}, {&(graphs), "vulkan", "f32", many, spoiled}, \
            {&(graphs), "gles", "f32", few, 0}, {&(graphs), "cuda", "f32", few, 0},        \
            {&(graphs), "vulkan", "f16s", few, 0}, {&(graphs), "vulkan", "f16", few, 0},   \
    }

// A test of cmocka, whose state is a place.
static inline void sketch_compare_graphs(void **state)
{
    const struct sketch_place *place = *state;
    const struct sketch_graphs *graphs = place->of;
    const float bound = strcmp(place->precision, "f32") == 0 ? graphs->bound : graphs->bound_in_halves;
    if (!has_device(place->device)) skip();
    for (int number = 0; number < place->graphs; number++)
        for (int spoiler = 0; spoiler < (number < place->spoiled ? graphs->spoiler_count : 1); spoiler++) {
            struct sketch sketch;
            char name[64];
            snprintf(name, sizeof name, "graph %d, %s", number, graphs->spoilers[spoiler]);
            graphs->make(&sketch, number, spoiler);
            sketch_compare(&sketch, place->device, place->precision, graphs->scale, bound, name);
            sketch_free(&sketch);
        }
}

// Rows of a table of tests: for one place, for the first four of `places`, which are on each of the APIs in this order,
// and for the two after them, which are in halves.
#define SKETCH_ROW(name, place)                                                        \
    {                                                                                  \
        "results_are_those_of_the_cpu " name, sketch_compare_graphs, NULL, NULL, place \
    }
#define SKETCH_ROWS(places)                                                                                   \
    SKETCH_ROW("opencl", &(places)[0]), SKETCH_ROW("vulkan", &(places)[1]), SKETCH_ROW("gles", &(places)[2]), \
        SKETCH_ROW("cuda", &(places)[3])
#define SKETCH_ROWS_IN_HALVES(places) SKETCH_ROW("f16s", &(places)[4]), SKETCH_ROW("f16", &(places)[5])

#endif
