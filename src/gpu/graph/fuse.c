// SPDX-License-Identifier: Apache-2.0
// Turns elementwise nodes into stages of the node that produces their input, or several into one:
//   fuse_prelu      relu(x) + k * -relu(-x)   =>  prelu(x, k)    (also without the outer sign, as Keras writes it)
//   fuse_stages     conv -> relu            =>  conv + relu          (also prelu, add, mul, sub by a number a channel)
//   fuse_swish      conv -> x, x * sigmoid(x)   =>  conv + swish
//   fuse_residual   conv -> add(., other)   =>  conv + add other      (also mul, sub; other exists before conv runs;
//                                               of a PAD of channels the value that it widens)
// The value between the two nodes must have no other reader and must not be an output of the graph.
#include <string.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

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

static bool has_constant_weights(const struct gpu_node *node)
{
    const int weights = node->op->weighted.weights;
    return weights && weights < node->input_count && node->inputs[weights] && node->inputs[weights]->data;
}

bool gpu_can_take_stages(const struct gpu_graph *graph, const struct gpu_node *node, const struct gpu_epilogue *stages)
{
    if (!node || node->dead || !node->op->epilogue || node->output_count != 1) return false;
    const struct gpu_epilogue *own = &node->epilogue;
    const struct gpu_value *residual = stages->residual;
    if (own->count + stages->count > GPU_EPILOGUE_STAGES || (own->residual && residual)) return false;
    if (residual && residual->producer && position_of(graph, residual->producer) >= position_of(graph, node))
        return false;
    const bool channels = gpu_reads_channels(own) || gpu_reads_channels(stages);
    return !channels || !(own->residual || residual) || has_constant_weights(node);
}

static void append_stages(struct gpu_epilogue *to, const struct gpu_epilogue *more)
{
    for (int s = 0; s < more->count; s++) to->stages[to->count++] = more->stages[s];
    if (!more->residual) return;
    to->residual = more->residual;
    to->residual_slices = more->residual_slices;
}

void gpu_take_over_output(struct gpu_graph *graph, struct gpu_node *node, struct gpu_node *next)
{
    struct gpu_value *output = next->outputs[0];
    struct gpu_value *between = node->outputs[0];
    append_stages(&node->epilogue, &next->epilogue);
    next->epilogue.residual = NULL; // it moves to node, which now counts as its reader
    gpu_graph_remove_node(graph, next);
    between->producer = NULL;
    node->outputs[0] = output;
    output->producer = node;
}

bool gpu_pass_fuse_stages(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        struct gpu_epilogue stages = {0};
        if (node->dead || !node->op->as_stage || node->input_count < 1 || !node->inputs[0]) continue;
        struct gpu_node *before = node->inputs[0]->producer;
        if (!gpu_is_private(node->inputs[0]) ||
            node->inputs[0]->rank != node->outputs[0]->rank || // stages address axes by rank
            !gpu_same_shape(node->inputs[0]->shape, node->outputs[0]->shape))
            continue;
        if (node->epilogue.count == GPU_EPILOGUE_STAGES || !node->op->as_stage(node, &stages)) continue;
        append_stages(&stages, &node->epilogue);
        if (!gpu_can_take_stages(graph, before, &stages)) continue;
        node->epilogue = stages;
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
        struct gpu_epilogue stages = {.count = 1, .stages = {{.op = GPU_EPI_SWISH}}};
        if (!product || product->epilogue.count == GPU_EPILOGUE_STAGES) continue;
        if (sigmoid->inputs[0]->rank != product->outputs[0]->rank) continue; // stages address axes by rank
        append_stages(&stages, &product->epilogue);
        if (!gpu_can_take_stages(graph, before, &stages)) continue;
        product->epilogue = stages;
        gpu_graph_remove_node(graph, sigmoid);
        gpu_take_over_output(graph, before, product);
        changed = true;
    }
    return changed;
}

// Returns the node that makes a value that only one node reads, if that is its operator, without stages.
static struct gpu_node *private_maker(const struct gpu_value *value, int builtin)
{
    struct gpu_node *node = value && gpu_is_private(value) ? value->producer : NULL;
    bool plain = node && node->builtin == builtin && !node->op->integers && node->epilogue.count == 0;
    return plain && node->output_count == 1 ? node : NULL;
}

// The nodes of a PRELU in pieces, and what they read.
struct slopes {
    struct gpu_node *positive, *product, *outer, *rectified, *inner; // outer: a NEG, or NULL
    struct gpu_value *x, *k;
};

static bool find_slopes(const struct gpu_node *sum, int side, struct slopes *found)
{
    struct gpu_node *positive = private_maker(sum->inputs[side], kTfLiteBuiltinRelu);
    struct gpu_node *product = private_maker(sum->inputs[1 - side], kTfLiteBuiltinMul);
    if (!positive || !product || product->input_count != 2) return false;
    const int constant = product->inputs[0]->data ? 0 : 1;
    struct gpu_value *k = product->inputs[constant], *factor = product->inputs[1 - constant];
    struct gpu_node *outer = private_maker(factor, kTfLiteBuiltinNeg);
    struct gpu_node *rectified = private_maker(outer ? outer->inputs[0] : factor, kTfLiteBuiltinRelu);
    struct gpu_node *inner = rectified ? private_maker(rectified->inputs[0], kTfLiteBuiltinNeg) : NULL;
    struct gpu_value *x = positive->inputs[0];
    *found = (struct slopes){positive, product, outer, rectified, inner, x, k};
    return k->data && !k->codes && inner && inner->inputs[0] == x && sum->outputs[0]->type != kTfLiteFloat16 &&
           x->rank == sum->outputs[0]->rank && gpu_same_shape(x->shape, sum->outputs[0]->shape);
}

static struct gpu_value *negated(struct gpu_graph *graph, const struct gpu_value *k)
{
    struct gpu_value *slopes = gpu_graph_add_constant(graph, k->name, k->shape);
    if (!slopes) return NULL;
    slopes->rank = k->rank;
    memcpy(slopes->dims, k->dims, sizeof slopes->dims);
    for (int64_t i = 0; i < gpu_elements(k->shape); i++) slopes->data[i] = -k->data[i];
    return slopes;
}

static bool try_prelu(struct gpu_graph *graph, struct gpu_node *sum, int side)
{
    struct slopes found;
    if (!find_slopes(sum, side, &found)) return false;
    struct gpu_value *slopes = found.outer ? found.k : negated(graph, found.k);
    if (!slopes) return false;
    struct gpu_node *const pieces[] = {found.positive, found.product, found.outer, found.rectified, found.inner};
    for (int i = 0; i < 2; i++) sum->inputs[i]->consumers--;
    sum->builtin = kTfLiteBuiltinPrelu;
    sum->op = gpu_op_find(kTfLiteBuiltinPrelu, NULL);
    sum->input_count = 0;
    gpu_graph_connect_input(sum, found.x);
    gpu_graph_connect_input(sum, slopes);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (pieces[i]) gpu_graph_remove_node(graph, pieces[i]);
    return true;
}

bool gpu_pass_fuse_prelu(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *sum = graph->nodes[n];
        if (sum->dead || sum->builtin != kTfLiteBuiltinAdd || sum->input_count != 2 || sum->op->integers) continue;
        changed = try_prelu(graph, sum, 0) || try_prelu(graph, sum, 1) || changed;
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

// The value that a PAD widens by channels of zeros behind its own; NULL: the node is another.
static struct gpu_value *widened_by(const struct gpu_node *pad)
{
    const bool is_pad = pad && pad->builtin == kTfLiteBuiltinPad && !pad->op->integers && pad->epilogue.count == 0;
    if (!is_pad || gpu_fill_of(pad) || !pad->inputs[1]->data) return NULL;
    struct gpu_value *x = pad->inputs[0];
    struct gpu_shape same = pad->outputs[0]->shape;
    const int rank = x->rank, last = 2 * rank - 1;
    same.c = x->shape.c;
    if (!gpu_same_shape(x->shape, same)) return NULL;
    for (int i = 0; i < last; i++) // the last of all is behind the channels
        if (gpu_constant_int(pad->inputs[1], i) != 0) return NULL;
    return x;
}

// fewer: the other value is that which a PAD widens, and the PAD is not needed.
static bool try_residual(struct gpu_graph *graph, struct gpu_node *node, int through, bool fewer)
{
    enum gpu_epilogue_op op = gpu_stage_of_two(node, through);
    struct gpu_value *between = node->inputs[through], *other = node->inputs[1 - through];
    struct gpu_node *before = between->producer, *pad = fewer ? other->producer : NULL;
    struct gpu_value *residual = fewer ? widened_by(pad) : other;
    if (!residual || (fewer && !gpu_is_private(other))) return false;
    if (fewer && (!before || !before->op->weighted.weights)) return false; // others may see y in other slices
    if (op == GPU_EPI_NONE || other == between || other->data || !gpu_is_private(between)) return false;
    if (between->rank != node->outputs[0]->rank) return false;
    if (node->epilogue.count == GPU_EPILOGUE_STAGES || node->epilogue.residual) return false;
    if (!gpu_same_shape(between->shape, other->shape) || !gpu_same_shape(other->shape, node->outputs[0]->shape))
        return false;
    struct gpu_epilogue stages = {.count = 1, .stages = {{.op = op}}, .residual = residual};
    if (fewer) stages.residual_slices = gpu_slices(residual->shape);
    append_stages(&stages, &node->epilogue);
    if (!gpu_can_take_stages(graph, before, &stages)) return false;
    node->epilogue = stages;
    residual->consumers++;
    gpu_take_over_output(graph, before, node);
    if (pad) gpu_graph_remove_node(graph, pad);
    return true;
}

bool gpu_pass_fuse_residual(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead || node->input_count != 2) continue;
        changed = try_residual(graph, node, 0, true) || try_residual(graph, node, 1, true) ||
                  try_residual(graph, node, 0, false) || try_residual(graph, node, 1, false) || changed;
    }
    return changed;
}
