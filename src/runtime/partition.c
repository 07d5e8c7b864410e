// SPDX-License-Identifier: Apache-2.0
// See partition.h. A tensor belongs to the piece whose node writes it; tensors that no node of the plan writes are
// ready from the start.
#include "runtime/partition.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { READY = -1, NOT_YET = -2 };

// Positions of the plan that are ready to join a piece, the lowest at the top.
struct heap {
    int *positions;
    int count;
};

struct cutter {
    const struct hl_subgraph *subgraph;
    const bool *delegated; // by node
    int *node_piece;       // by plan position: NOT_YET or the piece
    int *tensor_piece;     // by tensor: READY, NOT_YET or the piece that writes it
    int *waits_for;        // by plan position: inputs that are not there yet, and nodes that must come first
    struct lists {         // who waits
        int *first;        // by what is waited for, and one more: where its followers begin
        int *followers;    // plan positions
    } readers, control;    // of a tensor; of a plan position: the model's control dependencies, NULL without any
    int *next_effect;      // by plan position: the next node with side effects, 0: none
    struct heap ready[2];  // those that stay, those that are delegated
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

// ---- what is ready --------------------------------------------------------------------------------------------------

static void push(struct heap *heap, int position)
{
    int at = heap->count++;
    for (; at > 0 && heap->positions[(at - 1) / 2] > position; at = (at - 1) / 2)
        heap->positions[at] = heap->positions[(at - 1) / 2];
    heap->positions[at] = position;
}

static int pop(struct heap *heap)
{
    int lowest = heap->positions[0], last = heap->positions[--heap->count], at = 0;
    for (int64_t child; (child = INT64_C(2) * at + 1) < heap->count; at = (int)child) {
        if (child + 1 < heap->count && heap->positions[child + 1] < heap->positions[child]) child++;
        if (heap->positions[child] >= last) break;
        heap->positions[at] = heap->positions[child];
    }
    heap->positions[at] = last;
    return lowest;
}

static bool is_delegated(const struct cutter *cutter, int position)
{
    return cutter->delegated[cutter->subgraph->plan->data[position]];
}

static void release(struct cutter *cutter, int position)
{
    if (--cutter->waits_for[position] == 0) push(&cutter->ready[is_delegated(cutter, position)], position);
}

static void release_all(struct cutter *cutter, const struct lists *lists, int of)
{
    for (int i = lists->first[of]; i < lists->first[of + 1]; i++) release(cutter, lists->followers[i]);
}

static bool join_piece(struct cutter *cutter, int position)
{
    int current = cutter->count - 1;
    struct hl_piece *piece = &cutter->pieces[current];
    const TfLiteNode *node = node_at(cutter, position);
    if (!append(&piece->nodes, cutter->subgraph->plan->data[position])) return false;
    cutter->node_piece[position] = current;
    if (cutter->control.first) release_all(cutter, &cutter->control, position);
    if (cutter->next_effect[position]) release(cutter, cutter->next_effect[position]);
    for (int i = 0; i < node->outputs->size; i++) {
        int tensor = node->outputs->data[i];
        if (tensor < 0) continue;
        bool waited_for = cutter->tensor_piece[tensor] == NOT_YET;
        cutter->tensor_piece[tensor] = current;
        if (waited_for) release_all(cutter, &cutter->readers, tensor);
    }
    for (int i = 0; i < node->inputs->size; i++) {
        int tensor = node->inputs->data[i];
        if (tensor < 0 || cutter->tensor_piece[tensor] == current) continue;
        if (!append(&piece->inputs, tensor)) return false;
        int writer = cutter->tensor_piece[tensor];
        if (writer >= 0 && !append(&cutter->pieces[writer].outputs, tensor)) return false;
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

static bool find_followers(const struct hl_subgraph *subgraph, const int *positions, struct lists *control,
                           int *waits_for)
{
    const struct hl_model_subgraph *model = subgraph->model;
    size_t size = (size_t)subgraph->plan->size;
    control->first = calloc(size + 2, sizeof(int)); // one more: while filling, each entry begins as its predecessor
    control->followers = malloc(((size_t)model->control_edge_count + 1) * sizeof(int));
    if (!control->first || !control->followers) return false;
    for (int e = 0; e < model->control_edge_count; e++) {
        int from = positions[model->control_edges[e].from], to = positions[model->control_edges[e].to];
        if (from == to) continue; // both in one delegate's node
        control->first[from + 2]++;
        waits_for[to]++;
    }
    for (size_t p = 2; p < size + 2; p++) control->first[p] += control->first[p - 1];
    for (int e = 0; e < model->control_edge_count; e++) {
        int from = positions[model->control_edges[e].from], to = positions[model->control_edges[e].to];
        if (from != to) control->followers[control->first[from + 1]++] = to;
    }
    return true;
}

static bool find_control(struct cutter *cutter)
{
    if (!cutter->subgraph->model->control_edges) return true;
    int *positions = find_positions(cutter->subgraph);
    bool ok = positions && find_followers(cutter->subgraph, positions, &cutter->control, cutter->waits_for);
    free(positions);
    return ok;
}

// ---- other dependencies ---------------------------------------------------------------------------------------------

static bool is_waited_for(const struct cutter *cutter, int tensor)
{
    return tensor >= 0 && cutter->tensor_piece[tensor] == NOT_YET;
}

// Nodes wait for each of their inputs that a node of the plan writes.
static bool find_readers(struct cutter *cutter)
{
    struct lists *readers = &cutter->readers;
    int64_t reads = 0;
    readers->first = calloc((size_t)cutter->subgraph->tensor_count + 2, sizeof(int));
    if (!readers->first) return false;
    for (int p = 0; p < cutter->subgraph->plan->size; p++) {
        const TfLiteIntArray *inputs = node_at(cutter, p)->inputs;
        for (int i = 0; i < inputs->size; i++) {
            if (!is_waited_for(cutter, inputs->data[i])) continue;
            readers->first[inputs->data[i] + 2]++;
            cutter->waits_for[p]++;
            reads++;
        }
    }
    readers->followers = reads <= INT32_MAX ? malloc((size_t)(reads + 1) * sizeof(int)) : NULL;
    if (!readers->followers) return false;
    for (int t = 2; t < cutter->subgraph->tensor_count + 2; t++) readers->first[t] += readers->first[t - 1];
    for (int p = 0; p < cutter->subgraph->plan->size; p++) {
        const TfLiteIntArray *inputs = node_at(cutter, p)->inputs;
        for (int i = 0; i < inputs->size; i++)
            if (is_waited_for(cutter, inputs->data[i])) readers->followers[readers->first[inputs->data[i] + 1]++] = p;
    }
    return true;
}

// Where the model does not say what depends on what, a node with side effects waits for the one before it.
static void find_effects(struct cutter *cutter)
{
    int last = -1;
    for (int p = 0; p < cutter->subgraph->plan->size && !cutter->control.first; p++) {
        if (!node_at(cutter, p)->might_have_side_effect) continue;
        if (last >= 0) {
            cutter->next_effect[last] = p;
            cutter->waits_for[p]++;
        }
        last = p;
    }
}

// ---- pieces ---------------------------------------------------------------------------------------------------------

static bool begin_piece(struct cutter *cutter)
{
    if ((cutter->count & (cutter->count - 1)) == 0) { // the room is a power of two
        size_t room = cutter->count ? 2 * (size_t)cutter->count : 1;
        struct hl_piece *pieces = realloc(cutter->pieces, room * sizeof *pieces);
        if (!pieces) return false;
        cutter->pieces = pieces;
    }
    cutter->pieces[cutter->count++] = (struct hl_piece){0};
    return true;
}

// A piece takes, in the plan's order, all nodes of one kind that are ready or become so. The first node decides the
// kind.
static bool cut(struct cutter *cutter)
{
    struct heap *ready = cutter->ready;
    for (int p = 0; p < cutter->subgraph->plan->size; p++)
        if (cutter->waits_for[p] == 0) push(&ready[is_delegated(cutter, p)], p);
    while (ready[0].count || ready[1].count) {
        bool delegated = !ready[0].count || (ready[1].count && ready[1].positions[0] < ready[0].positions[0]);
        if (!begin_piece(cutter)) return false;
        cutter->pieces[cutter->count - 1].delegated = delegated;
        while (ready[delegated].count)
            if (!join_piece(cutter, pop(&ready[delegated]))) return false;
    }
    for (int p = 0; p < cutter->subgraph->plan->size; p++) assert(cutter->node_piece[p] != NOT_YET);
    return true;
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
        .waits_for = calloc(positions, sizeof(int)),
        .next_effect = calloc(positions, sizeof(int)),
        .ready = {{malloc(positions * sizeof(int)), 0}, {malloc(positions * sizeof(int)), 0}},
    };
    bool ok = delegated && cutter.node_piece && cutter.tensor_piece && cutter.waits_for && cutter.next_effect &&
              cutter.ready[0].positions && cutter.ready[1].positions && find_control(&cutter);
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
        ok = find_readers(&cutter);
        if (ok) find_effects(&cutter);
        ok = ok && cut(&cutter) && finish(&cutter);
    }
    free(delegated);
    free(cutter.node_piece);
    free(cutter.tensor_piece);
    free(cutter.waits_for);
    free(cutter.next_effect);
    for (int i = 0; i < 2; i++) free(cutter.ready[i].positions);
    free(cutter.readers.first);
    free(cutter.readers.followers);
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
