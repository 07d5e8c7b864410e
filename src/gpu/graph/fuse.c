// SPDX-License-Identifier: Apache-2.0
// Turns elementwise nodes into stages of the node that produces their input:
//   fuse_stages     conv -> relu            =>  conv + relu
//   fuse_swish      conv -> x, x * sigmoid(x)   =>  conv + swish
//   fuse_residual   conv -> add(., other)   =>  conv + add other      (also mul, sub; other exists before conv runs)
// The value between the two nodes must have no other reader and must not be an output of the graph.
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

static bool can_take_stages(const struct gpu_node *node, int count)
{
    return node && !node->dead && node->op->epilogue && node->output_count == 1 &&
           node->epilogue.count + count <= GPU_EPILOGUE_STAGES;
}

bool gpu_is_private(const struct gpu_value *value)
{
    return !value->is_output && !value->is_input && !value->data && value->consumers == 1;
}

bool gpu_is_closed(const struct gpu_graph *graph, const bool *marked, const struct gpu_value *result)
{
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_value *value = marked[n] ? graph->nodes[n]->outputs[0] : NULL;
        if (!value || value == result) continue;
        int readers = 0;
        for (int r = 0; r < graph->node_count; r++)
            for (int i = 0; marked[r] && i < graph->nodes[r]->input_count; i++)
                readers += graph->nodes[r]->inputs[i] == value;
        if (value->is_output || readers != value->consumers) return false;
    }
    return true;
}

static int position_of(const struct gpu_graph *graph, const struct gpu_node *node)
{
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n] == node) return n;
    return -1;
}

bool gpu_can_take_residual(const struct gpu_graph *graph, const struct gpu_node *node, const struct gpu_value *residual)
{
    if (!residual) return true;
    return !node->epilogue.residual &&
           (!residual->producer || position_of(graph, residual->producer) < position_of(graph, node));
}

static void append_stages(struct gpu_node *node, const struct gpu_epilogue *stages)
{
    for (int s = 0; s < stages->count; s++) node->epilogue.stages[node->epilogue.count++] = stages->stages[s];
    if (stages->residual) node->epilogue.residual = stages->residual;
}

void gpu_take_over_output(struct gpu_graph *graph, struct gpu_node *node, struct gpu_node *next)
{
    struct gpu_value *output = next->outputs[0];
    struct gpu_value *between = node->outputs[0];
    struct gpu_value *residual = next->epilogue.residual;
    append_stages(node, &next->epilogue);
    next->epilogue.residual = NULL; // it moves to node, which now counts as its reader
    gpu_graph_remove_node(graph, next);
    if (residual) node->epilogue.residual = residual;
    between->producer = NULL;
    node->outputs[0] = output;
    output->producer = node;
}

bool gpu_pass_fuse_stages(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        struct gpu_epilogue stage = {0};
        if (node->dead || !node->op->as_stage || node->input_count < 1 || !node->inputs[0]) continue;
        struct gpu_node *before = node->inputs[0]->producer;
        if (!gpu_is_private(node->inputs[0]) ||
            node->inputs[0]->rank != node->outputs[0]->rank || // stages address axes by rank
            !gpu_same_shape(node->inputs[0]->shape, node->outputs[0]->shape))
            continue;
        if (!can_take_stages(before, 1 + node->epilogue.count) ||
            !gpu_can_take_residual(graph, before, node->epilogue.residual) || !node->op->as_stage(node, &stage))
            continue;
        append_stages(before, &stage);
        gpu_take_over_output(graph, before, node);
        changed = true;
    }
    return changed;
}

// Finds the node that multiplies the input and the output of a sigmoid, where nothing else reads these two.
static struct gpu_node *find_swish(const struct gpu_graph *graph, const struct gpu_node *sigmoid)
{
    struct gpu_value *x = sigmoid->inputs[0], *between = sigmoid->outputs[0];
    if (!gpu_is_private(between) || x->is_output || x->is_input || x->data || x->consumers != 2) return NULL;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead || node->builtin != kTfLiteBuiltinMul || node->input_count != 2) continue;
        if ((node->inputs[0] == x && node->inputs[1] == between) ||
            (node->inputs[0] == between && node->inputs[1] == x))
            return node;
    }
    return NULL;
}

bool gpu_pass_fuse_swish(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *sigmoid = graph->nodes[n];
        if (sigmoid->dead || sigmoid->builtin != kTfLiteBuiltinLogistic || sigmoid->epilogue.count) continue;
        struct gpu_node *before = sigmoid->inputs[0]->producer, *product = find_swish(graph, sigmoid);
        if (!product || !can_take_stages(before, 1 + product->epilogue.count)) continue;
        if (!gpu_can_take_residual(graph, before, product->epilogue.residual)) continue;
        if (sigmoid->inputs[0]->rank != product->outputs[0]->rank) continue; // stages address axes by rank
        append_stages(before, &(struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_SWISH}}});
        gpu_graph_remove_node(graph, sigmoid);
        gpu_take_over_output(graph, before, product);
        changed = true;
    }
    return changed;
}

// The stage of an operator of two values, behind the node that makes the first, or the second.
static const struct {
    int builtin;
    enum gpu_epilogue_op through_first, through_second;
} residual_ops[] = {
    {kTfLiteBuiltinAdd, GPU_EPI_ADD_VALUE, GPU_EPI_ADD_VALUE},
    {kTfLiteBuiltinMul, GPU_EPI_MUL_VALUE, GPU_EPI_MUL_VALUE},
    {kTfLiteBuiltinSub, GPU_EPI_SUB_VALUE, GPU_EPI_FROM_VALUE},
};

enum gpu_epilogue_op gpu_stage_of_two(const struct gpu_node *node, int through)
{
    // A float16 sum saturates at the largest half, a stage does not.
    if (node->input_count != 2 || node->op->integers || node->outputs[0]->type == kTfLiteFloat16) return GPU_EPI_NONE;
    for (size_t i = 0; i < sizeof residual_ops / sizeof *residual_ops; i++)
        if (residual_ops[i].builtin == node->builtin)
            return through == 0 ? residual_ops[i].through_first : residual_ops[i].through_second;
    return GPU_EPI_NONE;
}

static bool try_residual(struct gpu_graph *graph, struct gpu_node *node, int through)
{
    enum gpu_epilogue_op op = gpu_stage_of_two(node, through);
    struct gpu_value *between = node->inputs[through], *other = node->inputs[1 - through];
    struct gpu_node *before = between->producer;
    if (op == GPU_EPI_NONE || other == between || other->data || !gpu_is_private(between)) return false;
    if (between->rank != node->outputs[0]->rank) return false;
    if (!can_take_stages(before, 1 + node->epilogue.count) || node->epilogue.residual ||
        !gpu_can_take_residual(graph, before, other))
        return false;
    if (!gpu_same_shape(between->shape, other->shape) || !gpu_same_shape(other->shape, node->outputs[0]->shape))
        return false;
    before->epilogue.stages[before->epilogue.count].op = op;
    before->epilogue.count++;
    before->epilogue.residual = other;
    other->consumers++;
    gpu_take_over_output(graph, before, node);
    return true;
}

bool gpu_pass_fuse_residual(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead || node->input_count != 2) continue;
        changed = try_residual(graph, node, 0) || try_residual(graph, node, 1) || changed;
    }
    return changed;
}
