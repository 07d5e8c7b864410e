// SPDX-License-Identifier: Apache-2.0
// Uses of tensors: which nodes of the plan read and write each, and what of it is known before they run. In: the nodes
// that AllocateTensors has prepared. Out: counts and answers, which the planner, execution and what looks for chains,
// attention and parts of CONCATENATIONs ask for.
#include <stdlib.h>

#include "abi/tensor.h"
#include "runtime/builtin_kernels.h"
#include "runtime/subgraph.h"

bool hl_subgraph_knows(const struct hl_subgraph *subgraph, const struct hl_node *node)
{
    bool knows = node->node.outputs->size > 0 && hl_builtin_kernels.keeps_shapes(&node->node);
    for (int i = 0; i < node->node.outputs->size && knows; i++) {
        const int output = node->node.outputs->data[i];
        knows = output >= 0 && hl_is_constant(&subgraph->context.tensors[output]);
    }
    return knows;
}

struct hl_use *hl_subgraph_find_uses(const struct hl_subgraph *subgraph)
{
    struct hl_use *uses = calloc((size_t)subgraph->tensor_count + 1, sizeof *uses);
    for (int position = 0; uses && position < subgraph->plan->size; position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[position]]->node;
        const bool reads = position >= subgraph->prepared ||
                           !hl_subgraph_knows(subgraph, subgraph->nodes[subgraph->plan->data[position]]);
        for (int i = 0; i < node->inputs->size && reads; i++)
            if (node->inputs->data[i] >= 0) uses[node->inputs->data[i]].readers++;
        for (int i = 0; i < node->outputs->size; i++) {
            if (node->outputs->data[i] < 0) continue;
            uses[node->outputs->data[i]].writers++;
            uses[node->outputs->data[i]].last_writer = position;
        }
    }
    return uses;
}

bool hl_subgraph_is_early(const struct hl_subgraph *subgraph, const struct hl_use *uses, int tensor, int position)
{
    const TfLiteTensor *it = &subgraph->context.tensors[tensor];
    if (hl_is_constant(it)) return it->data.raw_const != NULL;
    if (it->allocation_type != kTfLiteArenaRw && it->allocation_type != kTfLiteCustom) return false;
    return uses[tensor].writers == 0 || uses[tensor].last_writer < position;
}
