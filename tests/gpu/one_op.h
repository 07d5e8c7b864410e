// SPDX-License-Identifier: Apache-2.0
// A graph of one node through plan and runner, for tests of operators: tensors in (dimensions, values), a function that says
// what one element of an output is; the node runs on every backend that has a device, in every precision that the device
// has, with and without an epilogue, and a difference fails the test with the element's place. For what the CPU refuses or does
// otherwise, and the op table (op_case.h) cannot compare.
#ifndef HALITE_TEST_GPU_ONE_OP_H
#define HALITE_TEST_GPU_ONE_OP_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/ops/op.h"
#include "gpu/ops/stages.h"
#include "gpu/tolerance.h"
#include "tensorflow/lite/builtin_ops.h"

enum { MOST_TENSORS = 8, MOST_DEVICES = 8 };

struct tensor {
    int rank, dims[4];
    bool constant;
    bool computed; // an input that a node on the device makes
    TfLiteType type; // of outputs, where it matters
    float *data;
};

struct test;
// What element `at` of output `output` is, before the epilogue.
typedef float (*element_function)(const struct test *test, int output, const int *at);

struct test {
    char name[80];
    int builtin;
    const char *custom; // name of a custom operator
    const void *params;
    size_t params_size;
    int input_count, output_count;
    struct tensor inputs[MOST_TENSORS], outputs[MOST_TENSORS];
    element_function element;
    enum gpu_tolerance tolerance;
};

// ---- tensors ------------------------------------------------------------------------------------

static inline int elements_of(const struct tensor *tensor)
{
    int count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

// Multiples of 1/8 from -4 to 4: exact in half precision, and so are their sums.
static unsigned seed = 1;
static inline float random_float(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int)(seed >> 16 & 63) / 8.0f - 4.0f;
}

static inline struct tensor tensor_of(int rank, const int *dims)
{
    struct tensor tensor = {.rank = rank, .type = kTfLiteFloat32};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    tensor.data = malloc((size_t)elements_of(&tensor) * sizeof *tensor.data);
    assert_non_null(tensor.data);
    for (int i = 0; i < elements_of(&tensor); i++) tensor.data[i] = random_float();
    return tensor;
}
#define DIMS(...) (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__}

static inline struct test test_of(const char *name, int builtin, element_function element, enum gpu_tolerance tolerance)
{
    struct test test = {.builtin = builtin, .element = element, .tolerance = tolerance};
    snprintf(test.name, sizeof test.name, "%s", name);
    return test;
}

static inline void add_input(struct test *test, int rank, const int *dims)
{
    test->inputs[test->input_count++] = tensor_of(rank, dims);
}

static inline void add_constant(struct test *test, int rank, const int *dims)
{
    test->inputs[test->input_count] = tensor_of(rank, dims);
    test->inputs[test->input_count++].constant = true;
}

// A list of integers, as axes and sizes come.
static inline void add_integers(struct test *test, int count, const int *values)
{
    add_constant(test, 1, &count);
    for (int i = 0; i < count; i++) test->inputs[test->input_count - 1].data[i] = (float)values[i];
}

static inline void add_output(struct test *test, int rank, const int *dims)
{
    test->outputs[test->output_count++] = tensor_of(rank, dims);
}

static inline void set_params(struct test *test, const void *params, size_t size)
{
    test->params = params;
    test->params_size = size;
}

// The element at these indices.
static inline float get(const struct tensor *tensor, const int *at)
{
    int place = 0;
    for (int i = 0; i < tensor->rank; i++) {
        assert_in_range(at[i], 0, tensor->dims[i] - 1);
        place = place * tensor->dims[i] + at[i];
    }
    return tensor->data[place];
}

// The element that broadcasting puts at these indices of a tensor of this rank.
static inline float get_broadcast(const struct tensor *tensor, int rank, const int *at)
{
    int own[4] = {0};
    for (int i = 0; i < tensor->rank; i++) {
        int index = at[rank - tensor->rank + i];
        own[i] = tensor->dims[i] == 1 ? 0 : index;
    }
    return get(tensor, own);
}

static inline int integer(const struct test *test, int input, int index)
{
    return (int)test->inputs[input].data[index];
}

static inline void indices_of(const struct tensor *tensor, int place, int at[4])
{
    for (int i = tensor->rank; i-- > 0; place /= tensor->dims[i]) at[i] = place % tensor->dims[i];
}

// ---- running ------------------------------------------------------------------------------------

static struct {
    const struct gpu_backend *backend;
    struct gpu_device *device;
} devices[MOST_DEVICES];
static int device_count;

static inline int open_devices(void **state)
{
    (void)state;
    static struct gpu_device_list list;
    const char *only = getenv("HALITE_DEVICE");
    gpu_devices_find(&list);
    for (int d = 0; d < list.count && device_count < MOST_DEVICES; d++) {
        const struct gpu_device_info *info = &list.devices[d];
        bool seen = device_count > 0 && devices[device_count - 1].backend == info->backend;
        if (seen || (only && *only && strncmp(info->text, only, strlen(only)) != 0)) continue;
        devices[device_count].backend = info->backend;
        devices[device_count].device = info->backend->open(info->index, NULL);
        if (!devices[device_count].device) return -1;
        device_count++;
    }
    if (device_count == 0) print_message("no device: nothing was run\n");
    return 0;
}

static inline int close_devices(void **state)
{
    (void)state;
    for (int d = 0; d < device_count; d++) devices[d].backend->close(devices[d].device);
    return 0;
}

static inline struct gpu_value *add_value(struct gpu_graph *graph, const struct tensor *tensor)
{
    TfLiteIntArray *dims = TfLiteIntArrayCreate(tensor->rank);
    assert_non_null(dims);
    memcpy(dims->data, tensor->dims, (size_t)tensor->rank * sizeof(int));
    struct gpu_shape shape;
    assert_true(gpu_shape_of(dims, &shape));
    TfLiteIntArrayFree(dims);
    struct gpu_value *value = tensor->constant ? gpu_graph_add_constant(graph, "constant", shape)
                                               : gpu_graph_add_value(graph, "value", shape);
    assert_non_null(value);
    if (value->data) memcpy(value->data, tensor->data, (size_t)elements_of(tensor) * sizeof(float));
    value->rank = tensor->rank;
    value->type = tensor->type;
    memset(value->dims, 0, sizeof value->dims);
    memcpy(value->dims, tensor->dims, sizeof tensor->dims);
    return value;
}

// With residual: the output is leaky_relu(element + residual).
static inline struct gpu_graph *graph_of(const struct test *test, const struct tensor *residual)
{
    struct gpu_graph *graph = gpu_graph_create(NULL);
    struct gpu_node *node = graph ? gpu_graph_add_node(graph, test->builtin, -1) : NULL;
    assert_non_null(node);
    node->op = gpu_op_find(test->builtin, test->custom);
    assert_non_null(node->op);
    assert_true(gpu_graph_set_params(node, test->params, test->params_size));
    for (int i = 0; i < test->input_count; i++) {
        struct gpu_value *value = add_value(graph, &test->inputs[i]);
        value->is_input = !test->inputs[i].constant;
        if (test->inputs[i].computed) {
            struct gpu_node *copy = gpu_graph_add_node(graph, kTfLiteBuiltinCustom, 0);
            struct gpu_value *made = add_value(graph, &test->inputs[i]);
            copy->op = &gpu_op_stages;
            gpu_graph_connect_input(copy, value);
            gpu_graph_connect_output(copy, made);
            value = made;
        }
        gpu_graph_connect_input(node, value);
    }
    if (residual) {
        node->epilogue = (struct gpu_epilogue){
            .count = 2, .stages = {{.op = GPU_EPI_ADD_VALUE}, {.op = GPU_EPI_LEAKY_RELU, .a = 0.25f}}};
        node->epilogue.residual = add_value(graph, residual);
        node->epilogue.residual->is_input = true;
        node->epilogue.residual->consumers++;
    }
    for (int i = 0; i < test->output_count; i++) {
        struct gpu_value *value = add_value(graph, &test->outputs[i]);
        value->is_output = true;
        gpu_graph_connect_output(node, value);
    }
    return graph;
}

static inline void compare(const struct test *test, int output, const float *got, const struct tensor *residual,
                           double tolerance, const char *where)
{
    const struct tensor *tensor = &test->outputs[output];
    for (int i = 0; i < elements_of(tensor); i++) {
        int at[4];
        indices_of(tensor, i, at);
        double expected = (double)test->element(test, output, at);
        if (residual) {
            expected += (double)residual->data[i];
            if (expected < 0) expected *= 0.25;
        }
        if (fabs((double)got[i] - expected) <= tolerance * fmax(1.0, fabs(expected))) continue;
        fail_msg("%s on %s: output %d, element %d is %g, expected %g", test->name, where, output, i, (double)got[i], expected);
    }
}

static inline void run_once(const struct test *test, int device, enum gpu_precision precision, const struct tensor *residual)
{
    static const char *const names[] = {"f32", "f16s", "f16"};
    const struct gpu_backend *backend = devices[device].backend;
    char where[80];
    snprintf(where, sizeof where, "%s %s%s", backend->name, names[precision], residual ? " with an epilogue" : "");
    struct gpu_graph *graph = graph_of(test, residual);
    struct gpu_plan *plan = gpu_plan_create(graph, backend->caps(devices[device].device), precision);
    if (!plan) fail_msg("%s on %s: no plan", test->name, where);
    struct gpu_runner *runner = gpu_runner_create(plan, backend, devices[device].device);
    if (!runner) fail_msg("%s on %s: no runner", test->name, where);
    const void *inputs[MOST_TENSORS + 1];
    void *outputs[MOST_TENSORS];
    int count = 0;
    for (int i = 0; i < test->input_count; i++)
        if (!test->inputs[i].constant) inputs[count++] = test->inputs[i].data;
    if (residual) inputs[count] = residual->data;
    for (int i = 0; i < test->output_count; i++) outputs[i] = test->outputs[i].data;
    assert_true(gpu_runner_run(runner, inputs, outputs, NULL));
    // Behind an element that is exact, a sum and a product round.
    enum gpu_tolerance kind = residual && test->tolerance == GPU_MOVES ? GPU_ROUNDS : test->tolerance;
    for (int i = 0; i < test->output_count; i++)
        compare(test, i, outputs[i], residual, gpu_tolerance(kind, precision), where);
    gpu_runner_destroy(runner);
    gpu_plan_destroy(plan);
    gpu_graph_destroy(graph);
}

// Frees the test's tensors, too. The epilogue comes with two batches only: programs take their time to compile.
static inline void run(struct test *test)
{
    struct tensor residual = {0};
    bool epilogue = gpu_op_find(test->builtin, test->custom)->epilogue && test->outputs[0].dims[0] == 2;
    if (epilogue) residual = tensor_of(test->outputs[0].rank, test->outputs[0].dims);
    for (int d = 0; d < device_count; d++) {
        const struct gpu_caps *caps = devices[d].backend->caps(devices[d].device);
        for (int precision = GPU_F32; precision < GPU_PRECISIONS; precision++) {
            if ((precision == GPU_F16S && !caps->half_storage) || (precision == GPU_F16 && !caps->half_math)) continue;
            run_once(test, d, (enum gpu_precision)precision, NULL);
            if (epilogue) run_once(test, d, (enum gpu_precision)precision, &residual);
        }
    }
    free(residual.data);
    for (int i = 0; i < test->input_count; i++) free(test->inputs[i].data);
    for (int i = 0; i < test->output_count; i++) free(test->outputs[i].data);
}

// Each test for these batches and channels: slices that are full, and such that are not. Few, because every program that a
// test is the first to need takes a tenth of a second to compile.
static const struct {
    int b, c;
} sizes[] = {{1, 8}, {2, 5}};
#define EACH_SIZE(b, c)                                              \
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) \
        for (int b = sizes[size].b, c = sizes[size].c, once = 1; once; once = 0)

#endif
