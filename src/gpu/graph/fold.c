// SPDX-License-Identifier: Apache-2.0
// Folds arithmetic with one constant per channel into weights and bias:
//   fold_after    conv -> mul, add, sub, div by constants  =>  conv
//   fold_before   mul, div by constants -> conv            =>  conv
// where conv is a convolution, a depthwise or transposed one, or a fully connected layer, with constant weights. The
// value between the two nodes must have no other reader, must not be an output of the graph, and must have no stages.
// A sum before a convolution is not folded: it does not apply to the padding, and the bias that replaces it is large,
// which half precision cannot represent well.
#include <string.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

// Returns NULL for a node that does not sum products.
static const struct gpu_weighted *weighted_of(const struct gpu_node *node)
{
    return node->op->weighted.weights ? &node->op->weighted : NULL;
}

static struct gpu_value *bias_of(const struct gpu_node *node)
{
    const int bias = node->op->weighted.bias;
    return bias < node->input_count ? node->inputs[bias] : NULL;
}

bool gpu_has_constant_weights(const struct gpu_node *node)
{
    const struct gpu_weighted *in = &node->op->weighted;
    const struct gpu_value *weights = node->inputs[in->weights], *bias = bias_of(node);
    int outputs = node->outputs[0]->shape.c;
    if (!weights->data || (in->depthwise ? weights->shape.c : weights->shape.b) != outputs) return false;
    return !bias || (bias->data && gpu_elements(bias->shape) == outputs);
}

// ---- what an elementwise node does to a channel: x * scale + shift ------------------------------

struct affine {
    float scale, shift;
};

// Returns the input that is not constant if the other one has one number for all channels or one for each; else -1.
static int through_of(const struct gpu_node *node)
{
    if (node->op->integers) return -1;
    switch (node->builtin) {
    case kTfLiteBuiltinAdd:
    case kTfLiteBuiltinSub:
    case kTfLiteBuiltinMul:
    case kTfLiteBuiltinDiv: break;
    default: return -1;
    }
    for (int through = 0; through < 2; through++) {
        const struct gpu_value *x = node->inputs[through], *k = node->inputs[1 - through], *y = node->outputs[0];
        if (x->data || !k->data || !gpu_same_shape(x->shape, y->shape) || x->rank != y->rank) continue;
        int64_t count = gpu_elements(k->shape);
        if (count != k->shape.c || (count != 1 && count != y->shape.c)) continue;
        if (node->builtin == kTfLiteBuiltinDiv && through == 1) continue;
        return through;
    }
    return -1;
}

static struct affine affine_of(const struct gpu_node *node, int through, int channel)
{
    const struct gpu_value *k = node->inputs[1 - through];
    float number = k->data[gpu_elements(k->shape) == 1 ? 0 : channel];
    switch (node->builtin) {
    case kTfLiteBuiltinAdd: return (struct affine){1, number};
    case kTfLiteBuiltinSub: return through == 0 ? (struct affine){1, -number} : (struct affine){-1, number};
    case kTfLiteBuiltinMul: return (struct affine){number, 0};
    default: return (struct affine){1 / number, 0};
    }
}

static bool divides_by_zero(const struct gpu_node *node, int through)
{
    const struct gpu_value *k = node->inputs[1 - through];
    if (node->builtin != kTfLiteBuiltinDiv) return false;
    for (int64_t i = 0; i < gpu_elements(k->shape); i++)
        if (k->data[i] == 0) return true;
    return false;
}

// ---- new constants ------------------------------------------------------------------------------

static int64_t output_of(const struct gpu_node *node, const struct gpu_value *weights, int64_t i)
{
    if (node->op->weighted.depthwise) return i % weights->shape.c;
    return i / (gpu_elements(weights->shape) / weights->shape.b);
}

// Returns the channel of x that weight i multiplies.
static int64_t input_of(const struct gpu_node *node, const struct gpu_value *x, const struct gpu_value *weights,
                        int64_t i)
{
    int64_t output = output_of(node, weights, i), outputs = node->outputs[0]->shape.c, own = i % weights->shape.c;
    if (node->op->weighted.depthwise) return output / (outputs / x->shape.c);
    if (node->builtin != kTfLiteBuiltinConv2d) return own % x->shape.c;
    return output / (outputs / (x->shape.c / weights->shape.c)) * weights->shape.c + own;
}

struct gpu_value *gpu_copy_weights(struct gpu_graph *graph, const struct gpu_value *from)
{
    struct gpu_value *copy = gpu_graph_add_constant(graph, from->name, from->shape);
    if (!copy) return NULL;
    memcpy(copy->data, from->data, (size_t)gpu_elements(from->shape) * sizeof *copy->data);
    copy->rank = from->rank;
    memcpy(copy->dims, from->dims, sizeof copy->dims);
    copy->type = from->type;
    return copy;
}

struct gpu_value *gpu_copy_bias(struct gpu_graph *graph, const struct gpu_node *node)
{
    const struct gpu_value *from = bias_of(node);
    if (from) return gpu_copy_weights(graph, from);
    struct gpu_value *bias =
        gpu_graph_add_constant(graph, "bias", (struct gpu_shape){1, 1, 1, node->outputs[0]->shape.c});
    if (bias) bias->rank = 1;
    return bias;
}

void gpu_replace_input(struct gpu_node *node, int input, struct gpu_value *value)
{
    while (node->input_count <= input) gpu_graph_connect_input(node, NULL);
    if (node->inputs[input]) node->inputs[input]->consumers--;
    node->inputs[input] = value;
    value->consumers++;
}

// ---- folding what follows a convolution ----------------------------------------------------------

static bool try_fold_after(struct gpu_graph *graph, struct gpu_node *node)
{
    int through = node->dead ? -1 : through_of(node);
    if (through < 0 || !gpu_is_private(node->inputs[through]) || divides_by_zero(node, through)) return false;
    struct gpu_node *conv = node->inputs[through]->producer;
    const struct gpu_weighted *in = conv ? weighted_of(conv) : NULL;
    if (!in || conv->epilogue.count || !gpu_has_constant_weights(conv) ||
        !gpu_can_take_stages(graph, conv, &node->epilogue))
        return false;
    struct gpu_value *weights = gpu_copy_weights(graph, conv->inputs[in->weights]);
    struct gpu_value *bias = weights ? gpu_copy_bias(graph, conv) : NULL;
    if (!bias) return false;
    for (int64_t i = 0; i < gpu_elements(weights->shape); i++)
        weights->data[i] *= affine_of(node, through, (int)output_of(conv, weights, i)).scale;
    for (int o = 0; o < conv->outputs[0]->shape.c; o++) {
        struct affine affine = affine_of(node, through, o);
        bias->data[o] = bias->data[o] * affine.scale + affine.shift;
    }
    gpu_replace_input(conv, in->weights, weights);
    gpu_replace_input(conv, in->bias, bias);
    gpu_take_over_output(graph, conv, node);
    return true;
}

bool gpu_pass_fold_after(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) changed = try_fold_after(graph, graph->nodes[n]) || changed;
    return changed;
}

// ---- folding what precedes a convolution ---------------------------------------------------------

// Returns whether each weight multiplies one channel of x only. A row of FULLY_CONNECTED may be shorter than a
// position.
static bool knows_channels(const struct gpu_node *conv, const struct gpu_weighted *in)
{
    const struct gpu_value *x = conv->inputs[in->x], *weights = conv->inputs[in->weights];
    return conv->builtin != kTfLiteBuiltinFullyConnected || weights->shape.c % x->shape.c == 0;
}

static bool shifts(const struct gpu_node *node)
{
    return node->builtin == kTfLiteBuiltinAdd || node->builtin == kTfLiteBuiltinSub;
}

static bool try_fold_before(struct gpu_graph *graph, struct gpu_node *conv)
{
    const struct gpu_weighted *in = conv->dead ? NULL : weighted_of(conv);
    if (!in || !gpu_is_private(conv->inputs[in->x]) || !gpu_has_constant_weights(conv) || !knows_channels(conv, in))
        return false;
    struct gpu_value *x = conv->inputs[in->x];
    struct gpu_node *node = x->producer;
    int through = node ? through_of(node) : -1;
    if (through < 0 || shifts(node) || node->epilogue.count || divides_by_zero(node, through)) return false;
    struct gpu_value *weights = gpu_copy_weights(graph, conv->inputs[in->weights]);
    if (!weights) return false;
    for (int64_t i = 0; i < gpu_elements(weights->shape); i++)
        weights->data[i] *= affine_of(node, through, (int)input_of(conv, x, weights, i)).scale;
    gpu_replace_input(conv, in->weights, weights);
    gpu_replace_input(conv, in->x, node->inputs[through]);
    gpu_graph_remove_node(graph, node);
    return true;
}

bool gpu_pass_fold_before(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) changed = try_fold_before(graph, graph->nodes[n]) || changed;
    return changed;
}
