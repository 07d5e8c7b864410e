// SPDX-License-Identifier: Apache-2.0
// See partition.h. A tensor belongs to the piece whose node writes it; tensors that no node of the plan writes are
// ready from the start.
#include "runtime/partition.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { READY = -1, NOT_YET = -2 };

struct cutter {
    const struct hl_subgraph *subgraph;
    const bool *delegated; // by node
    int *node_piece;       // by plan position: NOT_YET or the piece
    int *tensor_piece;     // by tensor: READY, NOT_YET or the piece that writes it
    struct control {       // dependencies of the model; NULL arrays without any
        int *waits_for;    // by plan position: nodes that must come first and have not joined a piece
        int *first;        // by plan position, and one more: where its followers begin
        int *followers;    // plan positions
    } control;
    struct hl_piece *pieces;
    int count;
};

// Arrays grow by one; sorting and removing repeats comes at the end.
static bool append(TfLiteIntArray **list, int value)
{
    int size = *list ? (*list)->size : 0;
    // Grown at powers of two only: the header knows the size, not the capacity.
    if (size == 0 || (size >= 4 && (size & (size - 1)) == 0)) {
        int capacity = size < 4 ? 4 : size * 2;
        TfLiteIntArray *grown = realloc(*list, TfLiteIntArrayGetSizeInBytes(capacity));
        if (!grown) return false;
        *list = grown;
    }
    (*list)->data[size] = value;
    (*list)->size = size + 1;
    return true;
}

static const TfLiteNode *node_at(const struct cutter *cutter, int position)
{
    return &cutter->subgraph->nodes[cutter->subgraph->plan->data[position]]->node;
}

static bool is_ready(const struct cutter *cutter, int position)
{
    const TfLiteNode *node = node_at(cutter, position);
    if (cutter->control.waits_for && cutter->control.waits_for[position] > 0) return false;
    for (int i = 0; i < node->inputs->size; i++)
        if (node->inputs->data[i] >= 0 && cutter->tensor_piece[node->inputs->data[i]] == NOT_YET) return false;
    return true;
}

static bool join_piece(struct cutter *cutter, int position)
{
    int current = cutter->count - 1;
    struct hl_piece *piece = &cutter->pieces[current];
    const TfLiteNode *node = node_at(cutter, position);
    if (!append(&piece->nodes, cutter->subgraph->plan->data[position])) return false;
    cutter->node_piece[position] = current;
    const struct control *control = &cutter->control;
    for (int i = 0; control->first && i < control->first[position + 1] - control->first[position]; i++)
        control->waits_for[control->followers[control->first[position] + i]]--;
    for (int i = 0; i < node->outputs->size; i++)
        if (node->outputs->data[i] >= 0) cutter->tensor_piece[node->outputs->data[i]] = current;
    for (int i = 0; i < node->inputs->size; i++) {
        int tensor = node->inputs->data[i];
        if (tensor < 0 || cutter->tensor_piece[tensor] == current) continue;
        if (!append(&piece->inputs, tensor)) return false;
        int writer = cutter->tensor_piece[tensor];
        if (writer >= 0 && !append(&cutter->pieces[writer].outputs, tensor)) return false;
    }
    return true;
}

// One sweep over the plan. Where the model does not say what depends on what, a node with side effects waits for all
// such nodes before it.
static bool sweep(struct cutter *cutter, bool *any)
{
    struct hl_piece *piece = &cutter->pieces[cutter->count - 1];
    bool effects_wait = false;
    *any = false;
    for (int position = 0; position < cutter->subgraph->plan->size; position++) {
        if (cutter->node_piece[position] != NOT_YET) continue;
        bool effects = !cutter->control.first && node_at(cutter, position)->might_have_side_effect;
        bool taken = false;
        if (!(effects && effects_wait) && is_ready(cutter, position)) {
            bool delegated = cutter->delegated[cutter->subgraph->plan->data[position]];
            if (!piece->nodes) piece->delegated = delegated;
            if (piece->delegated == delegated) {
                if (!join_piece(cutter, position)) return false;
                taken = *any = true;
            }
        }
        effects_wait = effects_wait || (effects && !taken);
    }
    return true;
}

// ---- control dependencies of the model ------------------------------------------------------------------------------

// By node, the plan position at which it runs, by itself or in a delegate's node.
static int *find_positions(const struct hl_subgraph *subgraph)
{
    int *positions = malloc(((size_t)subgraph->node_count + 1) * sizeof *positions);
    if (!positions) return NULL;
    for (int n = 0; n < subgraph->node_count; n++) positions[n] = -1;
    for (int p = 0; p < subgraph->plan->size; p++) positions[subgraph->plan->data[p]] = p;
    for (int n = subgraph->node_count - 1; n >= subgraph->model_node_count; n--) { // the newest stand for older ones
        if (positions[n] < 0) continue; // left over from a replacement that failed
        const TfLiteIntArray *replaced = hl_delegate_replaced_nodes(subgraph->nodes[n]);
        for (int i = 0; i < replaced->size; i++) positions[replaced->data[i]] = positions[n];
    }
    return positions;
}

static bool find_followers(const struct hl_subgraph *subgraph, const int *positions, struct control *control)
{
    const struct hl_model_subgraph *model = subgraph->model;
    size_t size = (size_t)subgraph->plan->size;
    control->waits_for = calloc(size + 1, sizeof(int));
    control->first = calloc(size + 2, sizeof(int)); // one more: while filling, each entry begins as its predecessor
    control->followers = malloc(((size_t)model->control_edge_count + 1) * sizeof(int));
    if (!control->waits_for || !control->first || !control->followers) return false;
    for (int e = 0; e < model->control_edge_count; e++) {
        int from = positions[model->control_edges[e].from], to = positions[model->control_edges[e].to];
        if (from == to) continue; // both in one delegate's node
        control->first[from + 2]++;
        control->waits_for[to]++;
    }
    for (size_t p = 2; p < size + 2; p++) control->first[p] += control->first[p - 1];
    for (int e = 0; e < model->control_edge_count; e++) {
        int from = positions[model->control_edges[e].from], to = positions[model->control_edges[e].to];
        if (from != to) control->followers[control->first[from + 1]++] = to;
    }
    return true;
}

static bool find_control(const struct hl_subgraph *subgraph, struct control *control)
{
    if (!subgraph->model->control_edges) return true;
    int *positions = find_positions(subgraph);
    bool ok = positions && find_followers(subgraph, positions, control);
    free(positions);
    return ok;
}

// ---- pieces ---------------------------------------------------------------------------------------------------------

static bool begin_piece(struct cutter *cutter)
{
    struct hl_piece *pieces = realloc(cutter->pieces, (size_t)(cutter->count + 1) * sizeof *pieces);
    if (!pieces) return false;
    cutter->pieces = pieces;
    pieces[cutter->count++] = (struct hl_piece){0};
    return true;
}

static bool cut(struct cutter *cutter)
{
    for (;;) {
        if (!begin_piece(cutter)) return false;
        bool any;
        do {
            if (!sweep(cutter, &any)) return false;
        } while (any);
        if (!cutter->pieces[cutter->count - 1].nodes) {
            cutter->count--; // nothing was left
            for (int p = 0; p < cutter->subgraph->plan->size; p++) assert(cutter->node_piece[p] != NOT_YET);
            return true;
        }
    }
}

static int rising(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool tidy(TfLiteIntArray **list)
{
    if (!*list) return (*list = TfLiteIntArrayCreate(0)) != NULL;
    qsort((*list)->data, (size_t)(*list)->size, sizeof(int), rising);
    int kept = 0;
    for (int i = 0; i < (*list)->size; i++)
        if (i == 0 || (*list)->data[i] != (*list)->data[kept - 1]) (*list)->data[kept++] = (*list)->data[i];
    (*list)->size = kept;
    return true;
}

static bool finish(struct cutter *cutter)
{
    const TfLiteIntArray *outputs = cutter->subgraph->outputs;
    for (int i = 0; i < outputs->size; i++) {
        int writer = outputs->data[i] >= 0 ? cutter->tensor_piece[outputs->data[i]] : READY;
        if (writer >= 0 && !append(&cutter->pieces[writer].outputs, outputs->data[i])) return false;
    }
    for (int p = 0; p < cutter->count; p++)
        if (!tidy(&cutter->pieces[p].inputs) || !tidy(&cutter->pieces[p].outputs)) return false;
    return true;
}

bool hl_partition(const struct hl_subgraph *subgraph, const TfLiteIntArray *nodes, struct hl_piece **pieces, int *count)
{
    size_t positions = (size_t)subgraph->plan->size + 1, tensors = (size_t)subgraph->tensor_count + 1;
    bool *delegated = calloc((size_t)subgraph->node_count + 1, sizeof *delegated);
    struct cutter cutter = {
        .subgraph = subgraph,
        .delegated = delegated,
        .node_piece = malloc(positions * sizeof(int)),
        .tensor_piece = malloc(tensors * sizeof(int)),
    };
    bool ok = delegated && cutter.node_piece && cutter.tensor_piece && find_control(subgraph, &cutter.control);
    if (ok) {
        for (int i = 0; i < nodes->size; i++)
            if (nodes->data[i] >= 0 && nodes->data[i] < subgraph->node_count) delegated[nodes->data[i]] = true;
        for (int i = 0; i < subgraph->tensor_count; i++) cutter.tensor_piece[i] = READY;
        for (int p = 0; p < subgraph->plan->size; p++) {
            cutter.node_piece[p] = NOT_YET;
            const TfLiteIntArray *outputs = node_at(&cutter, p)->outputs;
            for (int i = 0; i < outputs->size; i++)
                if (outputs->data[i] >= 0) cutter.tensor_piece[outputs->data[i]] = NOT_YET;
        }
        ok = cut(&cutter) && finish(&cutter);
    }
    free(delegated);
    free(cutter.node_piece);
    free(cutter.tensor_piece);
    free(cutter.control.waits_for);
    free(cutter.control.first);
    free(cutter.control.followers);
    if (!ok) {
        hl_pieces_free(cutter.pieces, cutter.count);
        return false;
    }
    *pieces = cutter.pieces;
    *count = cutter.count;
    return true;
}

void hl_pieces_free(struct hl_piece *pieces, int count)
{
    for (int i = 0; i < count; i++) {
        TfLiteIntArrayFree(pieces[i].nodes);
        TfLiteIntArrayFree(pieces[i].inputs);
        TfLiteIntArrayFree(pieces[i].outputs);
    }
    free(pieces);
}
