// SPDX-License-Identifier: Apache-2.0
// A node takes over the one in front of it: a convolution a PAD, for which it pads in its own windows, a convolution of
// 1x1 windows a depthwise one, whose outputs it has made block by block, and a sum the squares that it adds up. In: a
// node that is being prepared, and the one before it in the plan. Out: two marks. A node that is taken does not run,
// and its output gets no memory; the node that took it reads another tensor, which lives until then. AllocateTensors
// removes all marks before it prepares the nodes again, with other shapes or delegates perhaps.
#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/builtin_op_data.h"

enum { RANK = 4 }; // of images: batch, height, width, channels

// Returns whether the node made a constant when it was prepared, or is a TRANSPOSE that is skipped.
static bool has_nothing_to_run(const struct hl_subgraph *subgraph, const struct hl_node *node)
{
    const int output = node->node.outputs->size == 1 ? node->node.outputs->data[0] : -1;
    return hl_node_is_skipped(node) || (output >= 0 && hl_is_constant(&subgraph->context.tensors[output]));
}

// The node that runs before this one in the plan, where AllocateTensors prepares both; NULL elsewhere. While nodes run,
// the one before has run, and its input may be gone.
static struct hl_node *node_before(struct hl_subgraph *subgraph, const struct hl_node *node)
{
    const TfLiteIntArray *plan = subgraph->plan;
    int position = subgraph->prepared;
    if (subgraph->state != HL_NOT_READY || subgraph->interpreter->options->preserve_tensors) return NULL;
    if (position < 1 || position >= plan->size || plan->data[position] != node->index) return NULL;
    do position--;
    while (position > 0 && has_nothing_to_run(subgraph, subgraph->nodes[plan->data[position]]));
    return subgraph->nodes[plan->data[position]];
}

// Nobody may see a tensor that is not written: it is no output, and no other input is it.
static bool has_other_readers(struct hl_subgraph *subgraph, const struct hl_node *node, int tensor)
{
    if (hl_is_listed(subgraph->outputs, tensor) || hl_is_listed(subgraph->inputs, tensor)) return true;
    for (int i = 1; i < node->node.inputs->size; i++)
        if (node->node.inputs->data[i] == tensor) return true;
    for (int position = 0; position < subgraph->plan->size; position++) {
        const struct hl_node *other = subgraph->nodes[subgraph->plan->data[position]];
        if (other != node && hl_is_listed(other->node.inputs, tensor)) return true;
    }
    return false;
}

// The node that writes input 0, of the same kernels as this one, whose output has memory of the arena or none yet, and
// is seen by nobody else; NULL: there is none.
static struct hl_node *writer_before(struct hl_subgraph *subgraph, const struct hl_node *node)
{
    struct hl_node *before = node_before(subgraph, node);
    const int tensor = node->node.inputs->data[0];
    if (!before || before->registration.invoke != node->registration.invoke || before->node.outputs->size != 1 ||
        before->node.outputs->data[0] != tensor || subgraph->context.tensors[tensor].allocation_type != kTfLiteArenaRw)
        return NULL;
    if (hl_subgraph_count_planning(subgraph, subgraph->plan->size) != kTfLiteOk) return NULL;
    return has_other_readers(subgraph, node, tensor) ? NULL : before;
}

bool hl_find_pad(TfLiteContext *ctx, const TfLiteNode *node, struct hl_border *border)
{
    const struct hl_node *pad = writer_before(hl_subgraph_of(ctx), hl_node_of(node));
    if (!pad || pad->registration.builtin_code != kTfLiteBuiltinPad) return false;
    const TfLiteTensor *x = hl_input(ctx, &pad->node, 0), *paddings = hl_input(ctx, &pad->node, 1);
    if (hl_rank(x) != RANK || hl_is_dynamic(x) || !hl_is_constant(paddings)) return false;
    const bool inside = hl_integer_at(paddings, 0) == 0 && hl_integer_at(paddings, 1) == 0 &&
                        hl_integer_at(paddings, 6) == 0 && hl_integer_at(paddings, 7) == 0;
    *border = (struct hl_border){
        .height = hl_dim(x, 1),
        .width = hl_dim(x, 2),
        .top = (int)hl_integer_at(paddings, 2),
        .left = (int)hl_integer_at(paddings, 4),
    };
    return inside && x->bytes > 0;
}

bool hl_find_squares(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_node *product = writer_before(hl_subgraph_of(ctx), hl_node_of(node));
    if (!product || product->registration.builtin_code != kTfLiteBuiltinMul) return false;
    const TfLiteIntArray *factors = product->node.inputs;
    const TfLiteMulParams *params = product->node.builtin_data;
    if (factors->size != 2 || factors->data[0] != factors->data[1] || params->activation != kTfLiteActNone)
        return false;
    const TfLiteTensor *x = &ctx->tensors[factors->data[0]];
    return x->type == kTfLiteFloat32 && !hl_is_dynamic(x) && hl_same_shape(x, hl_input(ctx, node, 0));
}

const TfLiteNode *hl_find_depthwise(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_node *before = writer_before(hl_subgraph_of(ctx), hl_node_of(node));
    return before && before->registration.builtin_code == kTfLiteBuiltinDepthwiseConv2d ? &before->node : NULL;
}

// What the node before reads may be what it took over itself.
void hl_take_over(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_subgraph *subgraph = hl_subgraph_of(ctx);
    struct hl_node *taker = (struct hl_node *)node, *before = node_before(subgraph, taker);
    before->is_taken = true;
    taker->reads = before->reads >= 0 ? before->reads : before->node.inputs->data[0];
}

const TfLiteTensor *hl_read_input(const TfLiteContext *ctx, const TfLiteNode *node)
{
    const int reads = hl_node_of(node)->reads;
    return reads >= 0 ? &ctx->tensors[reads] : hl_input(ctx, node, 0);
}

void hl_subgraph_return_taken(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->node_count; i++) {
        subgraph->nodes[i]->is_taken = false;
        subgraph->nodes[i]->reads = -1;
    }
}

bool hl_subgraph_has_taken(const struct hl_subgraph *subgraph, int tensor)
{
    for (int i = 0; i < subgraph->node_count; i++)
        if ((subgraph->nodes[i]->is_taken && hl_is_listed(subgraph->nodes[i]->node.outputs, tensor)) ||
            hl_node_leaves_out(subgraph->nodes[i], tensor))
            return true;
    return false;
}

static bool is_led_by(const struct hl_node *node, const struct hl_node *leader)
{
    for (int i = 0; i < leader->leads; i++)
        if (leader->followers[i] == node) return true;
    return false;
}

int hl_subgraph_runs_at(const struct hl_subgraph *subgraph, int position)
{
    const TfLiteIntArray *plan = subgraph->plan;
    const struct hl_node *node = subgraph->nodes[plan->data[position]];
    for (int i = 0; node->follows && i < plan->size; i++)
        if (is_led_by(node, subgraph->nodes[plan->data[i]])) return i;
    if (!node->is_taken || hl_node_is_skipped(node)) return position;
    // Before the node that took it stand others that it took, and such as have nothing to run.
    for (int i = position + 1; i < plan->size; i++) {
        const struct hl_node *other = subgraph->nodes[plan->data[i]];
        if (!other->is_taken && other->reads >= 0) return i;
    }
    return position;
}
