// SPDX-License-Identifier: Apache-2.0
// Small graphs of the delegate for tests of its passes, a node at a time, and what they are as text behind a pass: a
// line for each node that is left.
#ifndef HALITE_TESTS_GPU_SMALL_GRAPHS_H
#define HALITE_TESTS_GPU_SMALL_GRAPHS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/graph/build.h"
#include "gpu/graph/passes.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

static const struct gpu_shape image = {1, 4, 4, 8};

static inline struct gpu_graph *begin(void)
{
    struct gpu_graph *graph = gpu_graph_create(NULL);
    assert_non_null(graph);
    return graph;
}

static inline struct gpu_value *add_input(struct gpu_graph *graph, struct gpu_shape shape)
{
    struct gpu_value *value = gpu_graph_add_value(graph, "input", shape);
    assert_non_null(value);
    value->is_input = true;
    return value;
}

static inline struct gpu_value *add_constant(struct gpu_graph *graph, struct gpu_shape shape, const float *data)
{
    struct gpu_value *value = gpu_graph_add_constant(graph, "constant", shape);
    assert_non_null(value);
    for (int64_t i = 0; i < gpu_elements(shape); i++) value->data[i] = data ? data[i] : 0.5f;
    return value;
}

// A node and its output.
static inline struct gpu_value *add_node(struct gpu_graph *graph, int builtin, const void *params, size_t size,
                                         struct gpu_shape output, int count, struct gpu_value *const *inputs)
{
    struct gpu_node *node = gpu_graph_add_node(graph, builtin, -1);
    struct gpu_value *value = gpu_graph_add_value(graph, "value", output);
    assert_true(node && value);
    node->op = gpu_op_find(builtin, NULL);
    assert_non_null(node->op);
    assert_true(gpu_graph_set_params(node, params, size));
    for (int i = 0; i < count; i++) gpu_graph_connect_input(node, inputs[i]);
    gpu_graph_connect_output(node, value);
    return value;
}
#define VALUES(...)                                                                             \
    (int)(sizeof((struct gpu_value *[]){__VA_ARGS__}) / sizeof(void *)), (struct gpu_value *[]) \
    {                                                                                           \
        __VA_ARGS__                                                                             \
    }
#define NODE(graph, suffix, output, ...) add_node(graph, kTfLiteBuiltin##suffix, NULL, 0, output, VALUES(__VA_ARGS__))
#define NODE_OF(graph, suffix, params, output, ...) \
    add_node(graph, kTfLiteBuiltin##suffix, &(params), sizeof(params), output, VALUES(__VA_ARGS__))

static inline struct gpu_value *ranked(struct gpu_value *value, int rank)
{
    value->rank = rank;
    return value;
}

static inline void ends(struct gpu_value *value)
{
    value->is_output = true;
}

// 3x3, from 8 channels to 8, as padded.
static inline struct gpu_value *add_conv(struct gpu_graph *graph, TfLitePadding padding, struct gpu_shape output,
                                         struct gpu_value *x)
{
    TfLiteConvParams params = {
        .padding = padding,
        .stride_width = 1,
        .stride_height = 1,
        .dilation_width_factor = 1,
        .dilation_height_factor = 1,
    };
    return NODE_OF(graph, Conv2d, params, output, x, add_constant(graph, (struct gpu_shape){8, 3, 3, 8}, NULL),
                   add_constant(graph, (struct gpu_shape){1, 1, 1, 8}, NULL));
}

// A PAD by constant pairs for each axis of rank 4.
static inline struct gpu_value *add_pad(struct gpu_graph *graph, const float *pairs, struct gpu_shape output,
                                        struct gpu_value *x)
{
    struct gpu_value *by = add_constant(graph, (struct gpu_shape){4, 1, 1, 2}, pairs);
    return NODE(graph, Pad, output, x, by);
}

// Runs the pass once, compares, and frees the graph.
static inline void expect(struct gpu_graph *graph, gpu_pass_function pass, bool changes, const char *expected)
{
    assert_int_equal(pass(graph), changes);
    char *text = gpu_graph_text(graph);
    assert_string_equal(text, expected);
    free(text);
    gpu_graph_destroy(graph);
}

#endif
