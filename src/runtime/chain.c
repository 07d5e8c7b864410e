// SPDX-License-Identifier: Apache-2.0
// Chains: a convolution or an element-wise node computes the element-wise nodes behind it, too, block by block, while
// its outputs are in a cache, and a convolution the pool behind those. In: the nodes that AllocateTensors has prepared.
// Out: marks. The nodes of a chain do not run, the tensors between them get no memory, and the node that leads the
// chain writes the last one's output. AllocateTensors removes all marks before it prepares the nodes again.
#include <stdlib.h>

#include "runtime/builtin_kernels.h"
#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"

// Nodes of a chain without the one that leads it, and how far behind that they may stand in the plan.
enum { MAX_STEPS = HL_MAX_STEPS, MAX_FOLLOWERS = HL_MAX_FOLLOWERS, WINDOW = 24 };

struct search {
    struct hl_subgraph *subgraph;
    const struct hl_use *uses;
    struct hl_node *nodes[1 + MAX_FOLLOWERS]; // the lead and its followers
    int count;                                // all of them
    int reads[1 + MAX_FOLLOWERS];             // how many inputs of followers each one's output is
};

static int output_of(const struct hl_node *node)
{
    return node->node.outputs->size == 1 ? node->node.outputs->data[0] : -1;
}

// Which node of the chain writes the tensor; -1: none.
static int writer_in(const struct search *search, int tensor)
{
    for (int i = 0; i < search->count; i++)
        if (output_of(search->nodes[i]) == tensor) return i;
    return -1;
}

// A node behind the chain that reads none of its tensors, or one that goes on with it, or a pool that ends it, or
// neither.
enum kind { STRANGER, FOLLOWER, END, OTHER_READER };

static enum kind kind_of(struct search *search, const struct hl_node *node, int position)
{
    const TfLiteTensor *tensors = search->subgraph->context.tensors;
    const int output = output_of(node);
    if (hl_subgraph_knows(search->subgraph, node)) return STRANGER;
    int reads[1 + MAX_FOLLOWERS] = {0};
    const bool ends = node->node.inputs->size == 1 &&
                      node->node.inputs->data[0] == output_of(search->nodes[search->count - 1]) &&
                      hl_builtin_kernels.is_end(&search->nodes[0]->node, &node->node);
    bool follows = output >= 0 && search->uses[output].writers == 1, reads_any = false;
    for (int i = 0; i < node->node.inputs->size; i++) {
        const int input = node->node.inputs->data[i], writer = input < 0 ? -1 : writer_in(search, input);
        if (writer >= 0) {
            reads_any = true;
            reads[writer]++;
            follows = follows && (ends || TfLiteIntArrayEqual(tensors[input].dims, tensors[output].dims));
        } else {
            follows = follows && input >= 0 && hl_subgraph_is_early(search->subgraph, search->uses, input, position);
        }
    }
    if (!reads_any) return STRANGER;
    follows = follows && !node->node.delegate && !node->is_taken && !node->follows && !node->leads &&
              (ends || hl_builtin_kernels.is_step(&search->subgraph->context, &node->node));
    for (int i = 0; i < search->count && follows; i++) search->reads[i] += reads[i];
    return !follows ? OTHER_READER : ends ? END : FOLLOWER;
}

// Nobody else may see a tensor that is not written.
static bool is_hidden(const struct search *search, int number)
{
    const struct hl_subgraph *subgraph = search->subgraph;
    const int tensor = output_of(search->nodes[number]);
    return subgraph->context.tensors[tensor].allocation_type == kTfLiteArenaRw &&
           search->uses[tensor].readers == search->reads[number] && search->uses[tensor].writers == 1 &&
           !hl_is_listed(subgraph->outputs, tensor) && !hl_is_listed(subgraph->inputs, tensor);
}

static bool may_end_with(const struct search *search, int last)
{
    const TfLiteAllocationType type = search->subgraph->context.tensors[output_of(search->nodes[last])].allocation_type;
    bool may = type == kTfLiteArenaRw || type == kTfLiteCustom;
    for (int i = 0; i < last && may; i++) may = is_hidden(search, i);
    return may;
}

// Lets the first node lead so many of the others, if it can, and marks them.
static TfLiteStatus lead(const struct search *search, int count)
{
    const TfLiteNode *nodes[MAX_FOLLOWERS];
    struct hl_node *first = search->nodes[0];
    for (int i = 0; i < count; i++) nodes[i] = &search->nodes[1 + i]->node;
    bool leads = false;
    const TfLiteStatus status =
        count > 0 ? hl_builtin_kernels.lead(&search->subgraph->context, &first->node, nodes, count, &leads) : kTfLiteOk;
    for (int i = 0; i < count && leads; i++) {
        first->followers[first->leads++] = search->nodes[1 + i];
        search->nodes[1 + i]->follows = true;
    }
    return status;
}

// Finds the longest chain that this node can lead, with a pool at its end or, where that may not be, without.
static TfLiteStatus lead_from(struct search *search, int position)
{
    struct hl_subgraph *subgraph = search->subgraph;
    struct hl_node *first = subgraph->nodes[subgraph->plan->data[position]];
    int longest = 0, pooled = 0;
    if (first->follows || first->leads || first->is_taken || first->node.delegate || output_of(first) < 0 ||
        !hl_builtin_kernels.is_lead(&first->node))
        return kTfLiteOk;
    *search = (struct search){.subgraph = subgraph, .uses = search->uses, .nodes = {first}, .count = 1};
    for (int next = position + 1; next < subgraph->prepared && next <= position + WINDOW; next++) {
        struct hl_node *node = subgraph->nodes[subgraph->plan->data[next]];
        const enum kind kind = kind_of(search, node, position);
        if (kind == OTHER_READER || (kind == FOLLOWER && search->count > MAX_STEPS)) break;
        if (kind == STRANGER) continue;
        search->nodes[search->count++] = node;
        const int last = search->count - 1;
        if (may_end_with(search, last)) *(kind == END ? &pooled : &longest) = last;
        if (kind == END) break;
    }
    const TfLiteStatus status = lead(search, pooled);
    return status == kTfLiteOk && first->leads == 0 ? lead(search, longest) : status;
}

TfLiteStatus hl_subgraph_make_chains(struct hl_subgraph *subgraph)
{
    if (subgraph->interpreter->options->preserve_tensors) return kTfLiteOk;
    TfLiteStatus status =
        hl_subgraph_count_planning(subgraph, (double)subgraph->tensor_count + (double)subgraph->plan->size * WINDOW);
    if (status != kTfLiteOk) return status;
    struct hl_use *uses = hl_subgraph_find_uses(subgraph);
    if (!uses) {
        hl_subgraph_error(subgraph, "subgraph %d: out of memory for the chains of %d nodes", subgraph->index,
                          subgraph->plan->size);
        return kTfLiteError;
    }
    struct search search = {.subgraph = subgraph, .uses = uses};
    status = hl_subgraph_join_attention(subgraph, uses);
    for (int position = 0; position < subgraph->prepared && status == kTfLiteOk; position++)
        status = lead_from(&search, position);
    free(uses);
    return status;
}

void hl_subgraph_end_chains(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->node_count; i++) {
        subgraph->nodes[i]->leads = 0;
        subgraph->nodes[i]->follows = subgraph->nodes[i]->joins = false;
    }
}

int hl_node_result(const struct hl_node *node)
{
    return (node->leads > 0 && !node->joins ? node->followers[node->leads - 1] : node)->node.outputs->data[0];
}

bool hl_node_passes_on(const struct hl_node *node, int tensor)
{
    if (node->leads > 0 && !node->joins && output_of(node) == tensor) return true;
    for (int i = 0; i + !node->joins < node->leads; i++)
        if (output_of(node->followers[i]) == tensor) return true;
    return false;
}

bool hl_subgraph_passes_on(const struct hl_subgraph *subgraph, int tensor)
{
    for (int i = 0; i < subgraph->node_count; i++)
        if (hl_node_passes_on(subgraph->nodes[i], tensor)) return true;
    return false;
}

TfLiteTensor *hl_result(TfLiteContext *ctx, const TfLiteNode *node)
{
    return &ctx->tensors[hl_node_result(hl_node_of(node))];
}
