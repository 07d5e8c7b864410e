// SPDX-License-Identifier: Apache-2.0
// Makes, connects, replaces and frees the values and nodes of a GPU graph. See graph.h.
#include "gpu/graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

static void *out_of_memory(const struct gpu_graph *graph)
{
    hl_report(graph->reporter, "TfLiteGpuDelegate Init: out of memory while building the graph");
    return NULL;
}

struct gpu_graph *gpu_graph_create(const struct hl_reporter *reporter)
{
    struct gpu_graph *graph = calloc(1, sizeof *graph);
    if (graph)
        graph->reporter = reporter;
    else
        hl_report(reporter, "TfLiteGpuDelegate Init: out of memory while building the graph");
    return graph;
}

static void free_node(struct gpu_node *node)
{
    free(node->params);
    free(node);
}

void gpu_graph_destroy(struct gpu_graph *graph)
{
    if (!graph) return;
    for (int i = 0; i < graph->value_count; i++) {
        free(graph->values[i]->data);
        free(graph->values[i]);
    }
    for (int i = 0; i < graph->node_count; i++) free_node(graph->nodes[i]);
    free(graph->values);
    free(graph->nodes);
    free(graph);
}

struct gpu_value *gpu_graph_add_value(struct gpu_graph *graph, const char *name, struct gpu_shape shape)
{
    struct gpu_value *value = calloc(1, sizeof *value);
    struct gpu_value **values = hl_grow(graph->values, graph->value_count, &graph->value_capacity, sizeof *values);
    if (values) graph->values = values;
    if (!value || !values) {
        free(value);
        return out_of_memory(graph);
    }
    *value = (struct gpu_value){.id = graph->value_count,
                                .tensor = -1,
                                .name = name,
                                .shape = shape,
                                .rank = 4,
                                .dims = {shape.b, shape.h, shape.w, shape.c}};
    graph->values[graph->value_count++] = value;
    return value;
}

struct gpu_value *gpu_graph_add_constant(struct gpu_graph *graph, const char *name, struct gpu_shape shape)
{
    struct gpu_value *value = gpu_graph_add_value(graph, name, shape);
    if (!value) return NULL;
    int64_t count = gpu_elements(shape);
    value->data = calloc(count > 0 ? (size_t)count : 1, sizeof *value->data);
    return value->data ? value : out_of_memory(graph);
}

struct gpu_node *gpu_graph_add_node(struct gpu_graph *graph, int builtin, int position)
{
    struct gpu_node *node = calloc(1, sizeof *node);
    struct gpu_node **nodes = hl_grow(graph->nodes, graph->node_count, &graph->node_capacity, sizeof *nodes);
    if (nodes) graph->nodes = nodes;
    if (!node || !nodes) {
        free(node);
        return out_of_memory(graph);
    }
    *node = (struct gpu_node){.index = -1, .builtin = builtin};
    if (position < 0 || position > graph->node_count) position = graph->node_count;
    memmove(graph->nodes + position + 1, graph->nodes + position,
            (size_t)(graph->node_count - position) * sizeof *graph->nodes);
    graph->nodes[position] = node;
    graph->node_count++;
    return node;
}

bool gpu_graph_set_params(struct gpu_node *node, const void *params, size_t size)
{
    free(node->params);
    node->params = NULL;
    node->params_size = 0;
    if (size == 0) return true;
    node->params = calloc(1, size);
    if (!node->params) return false;
    if (params) memcpy(node->params, params, size);
    node->params_size = size;
    return true;
}

void gpu_graph_connect_input(struct gpu_node *node, struct gpu_value *value)
{
    node->inputs[node->input_count++] = value;
    if (value) value->consumers++;
}

void gpu_graph_connect_output(struct gpu_node *node, struct gpu_value *value)
{
    node->outputs[node->output_count++] = value;
    value->producer = node;
}

void gpu_graph_replace_value(struct gpu_graph *graph, struct gpu_value *from, struct gpu_value *to)
{
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead) continue;
        for (int i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != from) continue;
            node->inputs[i] = to;
            from->consumers--;
            to->consumers++;
        }
        if (node->epilogue.residual == from) {
            node->epilogue.residual = to;
            from->consumers--;
            to->consumers++;
        }
    }
}

void gpu_graph_remove_node(struct gpu_graph *graph, struct gpu_node *node)
{
    (void)graph;
    node->dead = true;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]) node->inputs[i]->consumers--;
    if (node->epilogue.residual) node->epilogue.residual->consumers--;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i]->producer == node) node->outputs[i]->producer = NULL;
}

bool gpu_is_private(const struct gpu_value *value)
{
    return !value->is_output && !value->is_input && !value->data && value->consumers == 1;
}

const struct gpu_node *gpu_graph_only_reader(const struct gpu_graph *graph, const struct gpu_value *value)
{
    if (!gpu_is_private(value)) return NULL;
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_node *reader = graph->nodes[n];
        if (!reader->dead && reader->input_count > 0 && reader->inputs[0] == value) return reader;
    }
    return NULL;
}

int gpu_graph_batch(const struct gpu_graph *graph)
{
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v]->is_input) return graph->values[v]->shape.b > 0 ? graph->values[v]->shape.b : 1;
    return 1;
}

uint64_t gpu_graph_hash(const struct gpu_graph *graph)
{
    uint64_t hash = 0;
    for (int v = 0; v < graph->value_count; v++) {
        const struct gpu_value *value = graph->values[v];
        struct gpu_shape shape = value->shape;
        if (!value->data) shape.b = 1;
        if (value->is_input || value->data) hash = hl_hash(hash, &shape, sizeof shape);
    }
    for (int n = 0; n < graph->node_count; n++)
        if (!graph->nodes[n]->dead) hash = hl_hash(hash, &graph->nodes[n]->builtin, sizeof graph->nodes[n]->builtin);
    return hash;
}

bool gpu_shape_of(const TfLiteIntArray *dims, struct gpu_shape *shape)
{
    const int *d = dims->data;
    switch (dims->size) {
    case 0: *shape = (struct gpu_shape){1, 1, 1, 1}; return true;
    case 1: *shape = (struct gpu_shape){1, 1, 1, d[0]}; return true;
    case 2: *shape = (struct gpu_shape){d[0], 1, 1, d[1]}; return true;
    case 3: *shape = (struct gpu_shape){d[0], 1, d[1], d[2]}; return true;
    case 4: *shape = (struct gpu_shape){d[0], d[1], d[2], d[3]}; return true;
    default: break;
    }
    int rank = dims->size;
    if (rank > GPU_MAX_RANK) return false;
    *shape = (struct gpu_shape){1, d[rank - 3], d[rank - 2], d[rank - 1]};
    for (int i = 0; i < rank - 3; i++) shape->b *= d[i];
    return true;
}

int gpu_axis_of(int rank, int axis)
{
    static const int axes[5][4] = {{3}, {3}, {0, 3}, {0, 2, 3}, {0, 1, 2, 3}};
    if (rank > 4) return axis < rank - 3 ? 0 : axis - rank + 4;
    return axes[rank][axis];
}

struct gpu_shape gpu_shape_from(int rank, const int *dims)
{
    struct gpu_shape shape = {1, 1, 1, 1};
    for (int i = 0; i < rank; i++) *gpu_along(&shape, gpu_axis_of(rank, i)) *= dims[i];
    return shape;
}

bool gpu_extent_fits(struct gpu_shape shape)
{
    int64_t positions = (int64_t)shape.b * shape.h * shape.w, layers = (int64_t)shape.b * gpu_slices(shape);
    return positions <= GPU_MAX_ROWS && layers <= GPU_MAX_LAYERS &&
           positions * gpu_slices(shape) <= GPU_MAX_ELEMENTS / 4;
}

// Constants are kept as floats, which represent integers up to 2^24 exactly. Every axis, size and padding of a tensor
// that fits on the device is smaller. Larger numbers, such as the end of a slice that means "to the end", are clamped.
int gpu_constant_int(const struct gpu_value *value, int index)
{
    float v = value->data[index];
    if (v >= 2147483648.0f) return INT32_MAX;
    if (v <= -2147483648.0f) return INT32_MIN;
    return (int)lrintf(v);
}
