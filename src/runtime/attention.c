// SPDX-License-Identifier: Apache-2.0
// Attention: a matrix product computes the nodes that make its first operand, too, block by block of rows: the product
// of queries and keys, element-wise nodes, SOFTMAX, and RESHAPE between them. In: the nodes that AllocateTensors has
// prepared. Out: marks, as those of a chain (chain.c), but that the node which runs is the last one. What the others
// read lives until then, and the tensors between them get no memory.
#include "abi/built_types.h"
#include "runtime/builtin_kernels.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"

// How far behind the first product the last node may stand in the plan: values are often made between them.
enum { WINDOW = 32 };

struct search {
    struct hl_subgraph *subgraph;
    const struct hl_use *uses;
    struct hl_node *nodes[HL_MAX_FOLLOWERS]; // each reads the output of the one before
    int count;
};

static struct hl_node *node_at(const struct hl_subgraph *subgraph, int position)
{
    return subgraph->nodes[subgraph->plan->data[position]];
}

static const TfLiteTensor *output_of(const struct search *search, const struct hl_node *node)
{
    return &search->subgraph->context.tensors[node->node.outputs->data[0]];
}

static bool is_free(const struct hl_node *node)
{
    return !node->node.delegate && !node->is_taken && !node->follows && node->leads == 0 && node->reads < 0 &&
           node->node.outputs->size == 1;
}

// Nobody else may see a tensor that is not written.
static bool is_hidden(const struct search *search, int tensor)
{
    const struct hl_subgraph *subgraph = search->subgraph;
    return subgraph->context.tensors[tensor].allocation_type == kTfLiteArenaRw && search->uses[tensor].readers == 1 &&
           search->uses[tensor].writers == 1 && !hl_is_listed(subgraph->outputs, tensor) &&
           !hl_is_listed(subgraph->inputs, tensor);
}

static bool have_equal_rows(const TfLiteIntArray *a, const TfLiteIntArray *b)
{
    return a->size >= 2 && b->size >= 2 && a->data[a->size - 1] == b->data[b->size - 1] &&
           a->data[a->size - 2] == b->data[b->size - 2];
}

// Whether the node goes on with the rows of x.
static bool goes_on(const struct search *search, const struct hl_node *node, enum hl_row_part part,
                    const TfLiteTensor *x, bool has_rows)
{
    const TfLiteTensor *y = output_of(search, node);
    if (part == HL_COPY_PART) return have_equal_rows(x->dims, y->dims) && x->bytes == y->bytes;
    return (part == HL_STEP_PART || part == HL_ROWS_PART) && !has_rows && TfLiteIntArrayEqual(x->dims, y->dims);
}

// Whether all that the nodes read beside each other's outputs is there when the node at this position runs.
static bool are_ready(const struct search *search, int position)
{
    for (int i = 0; i < search->count; i++) {
        const TfLiteIntArray *inputs = search->nodes[i]->node.inputs;
        const int before = i > 0 ? search->nodes[i - 1]->node.outputs->data[0] : -1;
        for (int n = 0; n < inputs->size; n++)
            if (inputs->data[n] != before &&
                (inputs->data[n] < 0 ||
                 !hl_subgraph_is_early(search->subgraph, search->uses, inputs->data[n], position)))
                return false;
    }
    return true;
}

static TfLiteStatus join(const struct search *search, struct hl_node *last, int position)
{
    const TfLiteNode *nodes[HL_MAX_FOLLOWERS];
    bool joins = false;
    if (!are_ready(search, position)) return kTfLiteOk;
    for (int i = 0; i < search->count; i++) nodes[i] = &search->nodes[i]->node;
    const TfLiteStatus status = hl_builtin_kernels.join(&search->subgraph->context, &last->node, nodes, &joins);
    for (int i = 0; i < search->count && joins; i++) {
        last->followers[last->leads++] = search->nodes[i];
        search->nodes[i]->follows = last->joins = true;
    }
    return status;
}

// From a first product to a last one that reads what is made of its output.
static TfLiteStatus join_from(struct search *search, int position)
{
    struct hl_subgraph *subgraph = search->subgraph;
    TfLiteContext *ctx = &subgraph->context;
    struct hl_node *node = node_at(subgraph, position);
    if (!is_free(node) || hl_builtin_kernels.row_part(ctx, &node->node) != HL_PRODUCT_PART) return kTfLiteOk;
    search->nodes[0] = node;
    search->count = 1;
    bool has_rows = false;
    for (int next = position + 1; next < subgraph->prepared && next <= position + WINDOW; next++) {
        const int tensor = search->nodes[search->count - 1]->node.outputs->data[0];
        node = node_at(subgraph, next);
        if (!hl_builtin_kernels.keeps_shapes(&node->node)) return kTfLiteOk;
        if (!hl_is_listed(node->node.inputs, tensor) || hl_subgraph_knows(subgraph, node)) continue;
        if (!is_free(node) || !is_hidden(search, tensor)) return kTfLiteOk;
        const enum hl_row_part part = hl_builtin_kernels.row_part(ctx, &node->node);
        if (part == HL_PRODUCT_PART && has_rows && node->node.inputs->data[0] == tensor)
            return join(search, node, next);
        if (search->count == HL_MAX_FOLLOWERS || !goes_on(search, node, part, &ctx->tensors[tensor], has_rows))
            return kTfLiteOk;
        has_rows = has_rows || part == HL_ROWS_PART;
        search->nodes[search->count++] = node;
    }
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_join_attention(struct hl_subgraph *subgraph, const struct hl_use *uses)
{
    struct search search = {.subgraph = subgraph, .uses = uses};
    TfLiteStatus status = kTfLiteOk;
    for (int position = 0; HL_HAS_OP(BATCH_MATMUL) && position < subgraph->prepared && status == kTfLiteOk; position++)
        status = join_from(&search, position);
    return status;
}
