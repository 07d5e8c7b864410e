// SPDX-License-Identifier: Apache-2.0
// Removes transpositions. Models converted from channels-first frameworks transpose every image to channels-last and
// back around each convolution:
//   move_transposes   transpose -> f -> transpose back   =>   f
// where f computes each element by itself, or along axes that its options and constants name. A transposition moves
// past such nodes, whose axes are renamed, until it meets another one. The two become one, or none if they cancel out.
// This turns the 515 dispatches of YOLOX nano into 170.
#include <string.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

static enum gpu_axes axes_of(const struct gpu_node *node)
{
    const TfLiteReducerParams *reducer = node->params;
    bool loses_axes = node->op->axes == GPU_AXES_REDUCED && !(reducer && reducer->keep_dims);
    return loses_axes ? GPU_AXES_FIXED : node->op->axes;
}

// ---- transpositions ------------------------------------------------------------------------------

// Output axis i is input axis from[i].
struct order {
    int rank, from[4];
};

static bool is_plain_transpose(const struct gpu_node *node)
{
    return node && !node->dead && !node->op->integers && node->builtin == kTfLiteBuiltinTranspose &&
           node->epilogue.count == 0 && node->inputs[0]->rank <= 4 && !node->inputs[0]->data;
}

static struct order order_of(const struct gpu_node *transpose)
{
    struct order order = {.rank = transpose->inputs[0]->rank};
    for (int i = 0; i < order.rank; i++) {
        int axis = gpu_constant_int(transpose->inputs[1], i);
        order.from[i] = axis < 0 ? axis + order.rank : axis;
    }
    return order;
}

static struct gpu_value *add_order(struct gpu_graph *graph, const struct order *order)
{
    struct gpu_value *value = gpu_graph_add_constant(graph, "order", (struct gpu_shape){1, 1, 1, order->rank});
    for (int i = 0; value && i < order->rank; i++) value->data[i] = (float)order->from[i];
    return value;
}

static void set_dims(struct gpu_value *value, int rank, const int *dims)
{
    memcpy(value->dims, dims, (size_t)rank * sizeof *dims);
    value->rank = rank;
    value->shape = gpu_shape_from(rank, dims);
}

static void replace_input(struct gpu_node *node, int input, struct gpu_value *value)
{
    node->inputs[input]->consumers--;
    node->inputs[input] = value;
    value->consumers++;
}

static void remove_unread(struct gpu_graph *graph, struct gpu_node *node)
{
    if (!node->dead && node->outputs[0]->consumers == 0 && !node->outputs[0]->is_output)
        gpu_graph_remove_node(graph, node);
}

// Makes one transposition of two that follow each other.
static bool join(struct gpu_graph *graph, struct gpu_node *node)
{
    struct gpu_node *before = node->inputs[0]->producer;
    if (!is_plain_transpose(node) || !is_plain_transpose(before)) return false;
    struct order first = order_of(before), second = order_of(node), both = first;
    for (int i = 0; i < both.rank; i++) both.from[i] = first.from[second.from[i]];
    struct gpu_value *order = add_order(graph, &both);
    if (!order) return false;
    replace_input(node, 1, order);
    replace_input(node, 0, before->inputs[0]);
    remove_unread(graph, before);
    return true;
}

// ---- moving past a node --------------------------------------------------------------------------

// Returns whether a transposition can move past every reader of the value, so that the value is no longer needed.
static bool only_moving_readers(const struct gpu_graph *graph, const struct gpu_value *value)
{
    if (value->is_output) return false;
    int readers = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_node *node = graph->nodes[n];
        for (int i = 0; i < node->input_count && !node->dead; i++)
            if (node->inputs[i] == value) {
                if (axes_of(node) == GPU_AXES_FIXED && !is_plain_transpose(node)) return false;
                readers++;
            }
    }
    return readers == value->consumers; // otherwise a stage reads it
}

// Finds the one order in which all inputs of the node that are not constant were transposed.
static bool common_order(const struct gpu_graph *graph, const struct gpu_node *node, struct order *order)
{
    bool found = false;
    for (int i = 0; i < node->input_count; i++) {
        const struct gpu_value *input = node->inputs[i];
        if (!input) return false;
        if (input->data) continue;
        if (!is_plain_transpose(input->producer) || !only_moving_readers(graph, input)) return false;
        struct order own = order_of(input->producer);
        if (found && memcmp(&own, order, sizeof own) != 0) return false;
        *order = own;
        found = true;
    }
    return found && node->outputs[0]->rank == order->rank;
}

// Returns a constant operand for values before the transposition: the constant itself if it has one element, NULL if
// more than one of its axes is longer than 1.
static struct gpu_value *untranspose_operand(struct gpu_graph *graph, struct gpu_value *value,
                                             const struct order *order)
{
    if (gpu_elements(value->shape) == 1) return value;
    int dims[4] = {1, 1, 1, 1}, skipped = order->rank - value->rank, longer = 0;
    for (int i = 0; i < value->rank; i++) {
        if (skipped < 0) return NULL;
        dims[order->from[skipped + i]] = value->dims[i];
        longer += value->dims[i] > 1;
    }
    if (longer != 1) return NULL;
    struct gpu_value *renamed = gpu_graph_add_constant(graph, value->name, value->shape);
    if (!renamed) return NULL;
    memcpy(renamed->data, value->data, (size_t)gpu_elements(value->shape) * sizeof *value->data);
    set_dims(renamed, order->rank, dims);
    renamed->type = value->type;
    renamed->quantization = value->quantization;
    return renamed;
}

static struct gpu_value *untranspose_padding(struct gpu_graph *graph, const struct gpu_value *pairs,
                                             const struct order *order)
{
    if (gpu_elements(pairs->shape) != 2 * order->rank) return NULL;
    struct gpu_value *renamed = gpu_graph_add_constant(graph, pairs->name, pairs->shape);
    for (int i = 0; renamed && i < 2 * order->rank; i++) renamed->data[2 * order->from[i / 2] + i % 2] = pairs->data[i];
    if (renamed) set_dims(renamed, pairs->rank, pairs->dims);
    return renamed;
}

static struct gpu_value *untranspose_axes(struct gpu_graph *graph, const struct gpu_value *axes,
                                          const struct order *order)
{
    struct gpu_value *renamed = gpu_graph_add_constant(graph, axes->name, axes->shape);
    for (int i = 0; renamed && i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        renamed->data[i] = (float)order->from[axis < 0 ? axis + order->rank : axis];
    }
    if (renamed) set_dims(renamed, axes->rank, axes->dims);
    return renamed;
}

// Returns a constant input of the node with its axes renamed, or NULL if that is not possible.
static struct gpu_value *untranspose_constant(struct gpu_graph *graph, const struct gpu_node *node, int input,
                                              const struct order *order)
{
    struct gpu_value *value = node->inputs[input];
    switch (axes_of(node)) {
    case GPU_AXES_PADDED:
        return input == 1 ? untranspose_padding(graph, value, order) : value; // input 2 is the value of the padding
    case GPU_AXES_REDUCED: return untranspose_axes(graph, value, order);
    case GPU_AXES_JOINED: return NULL;
    default: return untranspose_operand(graph, value, order);
    }
}

static bool move_past(struct gpu_graph *graph, int position)
{
    struct gpu_node *node = graph->nodes[position];
    struct order order;
    if (!common_order(graph, node, &order)) return false;
    struct gpu_value *constants[GPU_NODE_INPUTS] = {NULL}, *after = node->outputs[0];
    int dims[4] = {1, 1, 1, 1};
    for (int i = 0; i < order.rank; i++) dims[order.from[i]] = after->dims[i];
    if (!gpu_extent_fits(gpu_shape_from(order.rank, dims))) return false;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]->data && !(constants[i] = untranspose_constant(graph, node, i, &order))) return false;
    struct gpu_value *from = add_order(graph, &order), *between = gpu_graph_add_value(graph, after->name, after->shape);
    struct gpu_node *transpose =
        from && between ? gpu_graph_add_node(graph, kTfLiteBuiltinTranspose, position + 1) : NULL;
    if (!transpose) return false;

    set_dims(between, order.rank, dims);
    between->type = after->type;
    between->quantization = after->quantization;
    if (axes_of(node) == GPU_AXES_JOINED) {
        TfLiteConcatenationParams *params = node->params;
        params->axis = order.from[params->axis < 0 ? params->axis + order.rank : params->axis];
    }
    for (int i = 0; i < node->input_count; i++) {
        struct gpu_node *before = node->inputs[i]->producer;
        if (constants[i]) {
            replace_input(node, i, constants[i]);
        } else {
            replace_input(node, i, before->inputs[0]);
            remove_unread(graph, before);
        }
    }
    node->outputs[0] = between;
    between->producer = node;
    transpose->op = gpu_op_find(kTfLiteBuiltinTranspose, NULL);
    transpose->index = node->index;
    gpu_graph_connect_input(transpose, between);
    gpu_graph_connect_input(transpose, from);
    gpu_graph_connect_output(transpose, after);
    return true;
}

bool gpu_pass_move_transposes(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead || node->output_count != 1 || !node->inputs[0]) continue;
        if (node->builtin == kTfLiteBuiltinTranspose)
            changed = join(graph, node) || changed;
        else if (axes_of(node) != GPU_AXES_FIXED && !node->epilogue.residual && !gpu_reads_channels(&node->epilogue))
            changed = move_past(graph, n) || changed;
    }
    return changed;
}
