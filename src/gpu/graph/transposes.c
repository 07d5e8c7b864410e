// SPDX-License-Identifier: Apache-2.0
// Models that came from channels-first frameworks turn every image to channels-last and back around each convolution:
//   move_transposes   transpose -> f -> transpose back   =>   f
// where f computes each element for itself, or along axes that its options and constants name. Transpositions move
// behind such nodes, with their axes renamed, until they meet another one, with which they become one, or none. YOLOX
// nano: 515 dispatches become 170.
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

// ---- transpositions: output axis i is input axis from[i] ----------------------------------------

struct order {
    int rank, from[4];
};

static bool is_plain_transpose(const struct gpu_node *node)
{
    return node && !node->dead && node->builtin == kTfLiteBuiltinTranspose && node->epilogue.count == 0 &&
           node->inputs[0]->rank <= 4 && !node->inputs[0]->data;
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

// Two in a row are one.
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

// ---- moving behind a node -----------------------------------------------------------------------

// Whether nobody needs the value as it is, so that it goes once all its readers are moved in front of.
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
    return readers == value->consumers; // else somebody reads it in an epilogue
}

// The order in which all of the node's inputs that are no constants were transposed.
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

// A constant beside transposed values as it is beside the values before. The same one where all its elements are one;
// NULL: it has more than one axis.
static struct gpu_value *turn_operand(struct gpu_graph *graph, struct gpu_value *value, const struct order *order)
{
    if (gpu_elements(value->shape) == 1) return value;
    int dims[4] = {1, 1, 1, 1}, skipped = order->rank - value->rank, longer = 0;
    for (int i = 0; i < value->rank; i++) {
        if (skipped < 0) return NULL;
        dims[order->from[skipped + i]] = value->dims[i];
        longer += value->dims[i] > 1;
    }
    if (longer != 1) return NULL;
    struct gpu_value *turned = gpu_graph_add_constant(graph, value->name, value->shape);
    if (!turned) return NULL;
    memcpy(turned->data, value->data, (size_t)gpu_elements(value->shape) * sizeof *value->data);
    set_dims(turned, order->rank, dims);
    turned->type = value->type;
    turned->quantization = value->quantization;
    return turned;
}

static struct gpu_value *turn_padding(struct gpu_graph *graph, const struct gpu_value *pairs, const struct order *order)
{
    if (gpu_elements(pairs->shape) != 2 * order->rank) return NULL;
    struct gpu_value *turned = gpu_graph_add_constant(graph, pairs->name, pairs->shape);
    for (int i = 0; turned && i < 2 * order->rank; i++) turned->data[2 * order->from[i / 2] + i % 2] = pairs->data[i];
    if (turned) set_dims(turned, pairs->rank, pairs->dims);
    return turned;
}

static struct gpu_value *turn_axes(struct gpu_graph *graph, const struct gpu_value *axes, const struct order *order)
{
    struct gpu_value *turned = gpu_graph_add_constant(graph, axes->name, axes->shape);
    for (int i = 0; turned && i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        turned->data[i] = (float)order->from[axis < 0 ? axis + order->rank : axis];
    }
    if (turned) set_dims(turned, axes->rank, axes->dims);
    return turned;
}

// The node's constant input as it has to be; NULL: it cannot be.
static struct gpu_value *turn_constant(struct gpu_graph *graph, const struct gpu_node *node, int input,
                                       const struct order *order)
{
    struct gpu_value *value = node->inputs[input];
    switch (axes_of(node)) {
    case GPU_AXES_PADDED: return input == 1 ? turn_padding(graph, value, order) : value; // input 2: what to pad with
    case GPU_AXES_REDUCED: return turn_axes(graph, value, order);
    case GPU_AXES_JOINED: return NULL;
    default: return turn_operand(graph, value, order);
    }
}

static bool move_behind(struct gpu_graph *graph, int position)
{
    struct gpu_node *node = graph->nodes[position];
    struct order order;
    if (!common_order(graph, node, &order)) return false;
    struct gpu_value *constants[GPU_NODE_INPUTS] = {NULL}, *after = node->outputs[0];
    int dims[4] = {1, 1, 1, 1};
    for (int i = 0; i < order.rank; i++) dims[order.from[i]] = after->dims[i];
    if (!gpu_extent_fits(gpu_shape_from(order.rank, dims))) return false;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]->data && !(constants[i] = turn_constant(graph, node, i, &order))) return false;
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
        else if (axes_of(node) != GPU_AXES_FIXED && !node->epilogue.residual)
            changed = move_behind(graph, n) || changed;
    }
    return changed;
}
