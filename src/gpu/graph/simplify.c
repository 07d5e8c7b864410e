// SPDX-License-Identifier: Apache-2.0
// Removes nodes that need no kernel:
//   remove_identity   a node whose output equals its input as [b, h, w, c]: RESHAPE, SQUEEZE, EXPAND_DIMS, DEQUANTIZE,
//                     a slice of everything, a padding of size 0, a resize to the same size, a transposition of axes
//                     of size 1
//   drop_reshapes     a RESHAPE, SQUEEZE or EXPAND_DIMS in front of an operator that reads any shape, as CONCATENATION
//                     does. The last of all passes, since shapes of inputs then say nothing about the operator.
//   merge_padding     PAD of zeros on h and w before a convolution or depthwise convolution without padding, MIRROR_PAD
//                     that does not repeat the border before a convolution
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

static bool readers_are_rank_blind(const struct gpu_graph *graph, const struct gpu_value *value)
{
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_node *node = graph->nodes[n];
        for (int i = 0; i < node->input_count && !node->dead; i++)
            if (node->inputs[i] == value && !node->op->rank_blind) return false;
    }
    return true;
}

// Compares the axes as the file has them, because above rank 4 several of them share one axis of [b, h, w, c].
static bool same_dims(const struct gpu_value *a, const struct gpu_value *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++) same = a->dims[i] == b->dims[i];
    return same;
}

bool gpu_pass_remove_identity(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead || node->epilogue.count || node->output_count != 1) continue;
        struct gpu_value *from = node->inputs[0], *to = node->outputs[0];
        if (!from || !gpu_same_shape(from->shape, to->shape) || !node->op->copies || !node->op->copies(node)) continue;
        if (!to->is_output) {
            if (!same_dims(from, to) && !readers_are_rank_blind(graph, to)) continue;
            gpu_graph_replace_value(graph, to, from);
        } else if (from->producer && !from->is_output && from->consumers == 1 && from->producer->output_count == 1 &&
                   (same_dims(from, to) || from->producer->op->rank_blind)) {
            from->producer->outputs[0] = to; // the producer writes the output itself
            to->producer = from->producer;
            from->producer = NULL;
            node->outputs[0] = from; // so that removing the node does not clear the producer of `to`
        } else {
            continue; // the output needs a copy of its own
        }
        gpu_graph_remove_node(graph, node);
        changed = true;
    }
    return changed;
}

static bool is_reshape(const struct gpu_node *node)
{
    return node->builtin == kTfLiteBuiltinReshape || node->builtin == kTfLiteBuiltinSqueeze ||
           node->builtin == kTfLiteBuiltinExpandDims;
}

bool gpu_pass_drop_reshapes(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        for (int i = 0; i < node->input_count && !node->dead; i++) {
            if (node->op->any_shape != GPU_ALL_INPUTS && !(node->op->any_shape >> i & 1)) continue;
            struct gpu_value *value = node->inputs[i];
            struct gpu_node *from = value ? value->producer : NULL;
            if (!from || !is_reshape(from) || from->epilogue.count || !gpu_is_private(value)) continue;
            node->inputs[i] = from->inputs[0];
            node->inputs[i]->consumers++;
            value->consumers--;
            gpu_graph_remove_node(graph, from);
            changed = true;
        }
    }
    return changed;
}

static bool mirrors(const struct gpu_node *node)
{
    const TfLiteMirrorPaddingParams *params = node->params;
    return node->builtin == kTfLiteBuiltinMirrorPad && params && params->mode == kTfLiteMirrorPaddingReflect;
}

// Returns whether the node pads h and w of a rank 4 value, or w of one of rank 3, by constants, with zeros or mirrored.
// before: the rows and columns added at the top and on the left.
static bool is_spatial_pad(const struct gpu_node *node, int before[2])
{
    if (node->dead || (node->builtin != kTfLiteBuiltinPad && !mirrors(node)) || node->epilogue.count ||
        gpu_fill_of(node) || !node->inputs[1] || !node->inputs[1]->data)
        return false;
    const int rank = node->inputs[0]->rank, count = 2 * rank;
    if ((rank != 3 && rank != 4) || gpu_elements(node->inputs[1]->shape) != count) return false;
    for (int i = 0; i < count; i++) {
        bool spatial = i >= 2 && i < count - 2;
        if (!spatial && gpu_constant_int(node->inputs[1], i) != 0) return false;
    }
    before[0] = rank == 4 ? gpu_constant_int(node->inputs[1], 2) : 0;
    before[1] = gpu_constant_int(node->inputs[1], count - 4);
    return true;
}

static bool has_no_padding(const struct gpu_node *node)
{
    if (!node->params) return false;
    if (node->builtin == kTfLiteBuiltinConv2d)
        return ((const TfLiteConvParams *)node->params)->padding == kTfLitePaddingValid;
    if (node->builtin == kTfLiteBuiltinDepthwiseConv2d)
        return ((const TfLiteDepthwiseConvParams *)node->params)->padding == kTfLitePaddingValid;
    return false;
}

// Returns whether so many positions of a window, `step` apart, are inside of what x is when it is padded, and whether x
// has what is mirrored.
static bool mirrors_inside(int x, int before, int padded, int positions, int step, int window)
{
    return (int64_t)(positions - 1) * step + window <= padded && before < x && padded - x - before < x;
}

// Of the kernels, those of convolutions in floats mirror. Other padding that was merged before would have to be zeros.
static bool can_mirror(const struct gpu_node *node, const struct gpu_node *pad, const int before[2])
{
    if (node->builtin != kTfLiteBuiltinConv2d || node->op->integers || node->pad_top || node->pad_left) return false;
    const TfLiteConvParams *params = node->params;
    const struct gpu_shape x = pad->inputs[0]->shape, padded = pad->outputs[0]->shape, y = node->outputs[0]->shape,
                           k = node->inputs[1]->shape;
    return mirrors_inside(x.h, before[0], padded.h, y.h, params->stride_height,
                          (k.h - 1) * params->dilation_height_factor + 1) &&
           mirrors_inside(x.w, before[1], padded.w, y.w, params->stride_width,
                          (k.w - 1) * params->dilation_width_factor + 1);
}

static bool takes_padding(const struct gpu_node *node, const struct gpu_node *pad, const int before[2])
{
    return !node->dead && has_no_padding(node) && node->inputs[0] == pad->outputs[0] && !node->pad_mirrors &&
           (!mirrors(pad) || can_mirror(node, pad, before));
}

static bool all_take_padding(const struct gpu_graph *graph, const struct gpu_node *pad, const int before[2])
{
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) count += takes_padding(graph->nodes[n], pad, before);
    return count == pad->outputs[0]->consumers && !pad->outputs[0]->is_output;
}

bool gpu_pass_merge_padding(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n], *pad = node->inputs[0] ? node->inputs[0]->producer : NULL;
        int before[2];
        if (!pad || !is_spatial_pad(pad, before) || !takes_padding(node, pad, before) ||
            !all_take_padding(graph, pad, before))
            continue;
        node->pad_top += before[0];
        node->pad_left += before[1];
        node->pad_mirrors = mirrors(pad);
        pad->outputs[0]->consumers--;
        node->inputs[0] = pad->inputs[0];
        node->inputs[0]->consumers++;
        if (pad->outputs[0]->consumers == 0) gpu_graph_remove_node(graph, pad);
        changed = true;
    }
    return changed;
}
