// SPDX-License-Identifier: Apache-2.0
// The memory plan: lives, in-place sharing, offsets by size, data pointers. See planner.h for the picture.
#include "runtime/planner.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "runtime/interpreter.h"
#include "runtime/subgraph.h"

static TfLiteTensor *tensor_at(struct hl_subgraph *subgraph, int index)
{
    return &subgraph->context.tensors[index];
}

static bool in_arena(struct hl_subgraph *subgraph, int tensor)
{
    return tensor_at(subgraph, tensor)->allocation_type == kTfLiteArenaRw;
}

static TfLiteStatus out_of_memory(struct hl_subgraph *subgraph)
{
    hl_subgraph_error(subgraph, "subgraph %d: out of memory for the memory plan", subgraph->index);
    return kTfLiteError;
}

TfLiteStatus hl_planner_grow(struct hl_subgraph *subgraph)
{
    struct hl_planner *planner = &subgraph->planner;
    int count = subgraph->tensor_count;
    if (count > planner->capacity) {
        int capacity = count < INT_MAX / 2 ? count + count / 2 : count;
        struct hl_placement *placements = realloc(planner->placements, (size_t)capacity * sizeof *placements);
        if (!placements) return out_of_memory(subgraph);
        planner->placements = placements;
        planner->capacity = capacity;
    }
    for (int i = planner->count; i < count; i++)
        planner->placements[i] =
            (struct hl_placement){.first = INT_MAX, .last = INT_MIN, .held = INT_MIN, .shares = -1, .owner = i};
    if (count > planner->count) planner->count = count;
    return kTfLiteOk;
}

// ---- lives --------------------------------------------------------------------------------------

static void used_at(struct hl_placement *placement, int position)
{
    if (position < placement->first) placement->first = position;
    if (position > placement->last) placement->last = position;
}

// Those of one node, at a position. What a node that was taken over would write is no such tensor, and nothing that
// lies inside the chain of the node that computes this one. A node whose output is known reads nothing.
static void visit_node(struct hl_subgraph *subgraph, const struct hl_node *node, const struct hl_node *lead,
                       int position, void (*visit)(struct hl_subgraph *subgraph, int tensor, int position))
{
    const TfLiteIntArray *lists[] = {node->node.inputs, node->node.intermediates, node->node.temporaries,
                                     node->node.outputs};
    for (int l = hl_subgraph_knows(subgraph, node); l < 4 - node->is_taken; l++)
        for (int i = 0; i < lists[l]->size; i++) {
            const int tensor = l == 0 && i == 0 && node->reads >= 0 ? node->reads : lists[l]->data[i];
            if (tensor >= 0 && !hl_node_passes_on(lead, tensor)) visit(subgraph, tensor, position);
        }
}

// Calls visit for each tensor of the nodes at positions [from, prepared), with the position. Followers are computed
// where their lead stands.
static void visit_tensors(struct hl_subgraph *subgraph, int from, int prepared,
                          void (*visit)(struct hl_subgraph *subgraph, int tensor, int position))
{
    for (int position = from; position < prepared; position++) {
        const struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
        if (!node->follows) visit_node(subgraph, node, node, position, visit);
        for (int i = 0; i < node->leads; i++) visit_node(subgraph, node->followers[i], node, position, visit);
    }
}

static void lives_at(struct hl_subgraph *subgraph, int tensor, int position)
{
    used_at(&subgraph->planner.placements[tensor], position);
}

// What has others inside is written from the first of these on, and its memory is theirs.
static void begin_with_parts(struct hl_planner *planner)
{
    struct hl_placement *placements = planner->placements;
    for (int i = 0; i < planner->count; i++)
        for (int part = i; placements[part].inside; part = placements[part].shares) {
            placements[i].owner = placements[part].shares;
            used_at(&placements[placements[part].shares], placements[i].first);
        }
}

// Inputs may be read by the caller at any time, outputs after the last node.
static void find_lives(struct hl_subgraph *subgraph)
{
    struct hl_placement *placements = subgraph->planner.placements;
    for (int i = 0; i < subgraph->tensor_count; i++) {
        placements[i].first = INT_MAX;
        placements[i].last = placements[i].held = INT_MIN;
    }
    for (int i = 0; i < subgraph->inputs->size; i++) {
        if (subgraph->inputs->data[i] < 0) continue;
        used_at(&placements[subgraph->inputs->data[i]], 0);
        used_at(&placements[subgraph->inputs->data[i]], INT_MAX);
    }
    visit_tensors(subgraph, 0, subgraph->plan->size, lives_at);
    begin_with_parts(&subgraph->planner);
    for (int i = 0; i < subgraph->outputs->size; i++) {
        if (subgraph->outputs->data[i] < 0) continue;
        struct hl_placement *placement = &placements[subgraph->outputs->data[i]];
        used_at(placement, INT_MAX);
        if (placement->first == INT_MAX) placement->first = 0;
    }
    if (!subgraph->interpreter->options->preserve_tensors) return;
    // All live to the end, so each overlaps those after it. They begin where they are written: a tensor that is placed
    // before its node is prepared would keep memory of the wrong size.
    for (int i = 0; i < subgraph->tensor_count; i++)
        if (placements[i].first != INT_MAX) used_at(&placements[i], INT_MAX);
}

// The memory's owner lives as long as who took it over.
static void hold_owner(struct hl_subgraph *subgraph, int tensor, int position)
{
    (void)position;
    struct hl_planner *planner = &subgraph->planner;
    const struct hl_placement *placement = &planner->placements[tensor];
    struct hl_placement *owner = &planner->placements[placement->owner];
    if (owner->held >= placement->last) return;
    if (owner->placed && owner->held < planner->live_from) planner->live_from = INT_MAX; // it was taken for dead
    owner->held = placement->last;
}

// Tensors that a kernel asked for while it was prepared just now: the others' lives are known.
static void lives_on(struct hl_subgraph *subgraph, int tensor, int position)
{
    lives_at(subgraph, tensor, position);
    if (subgraph->interpreter->options->preserve_tensors) lives_at(subgraph, tensor, INT_MAX);
    hold_owner(subgraph, tensor, position);
}

// ---- in place -----------------------------------------------------------------------------------

static bool have_one_size(struct hl_subgraph *subgraph, int input, int output)
{
    if (input < 0 || input == output || !in_arena(subgraph, input) || !in_arena(subgraph, output)) return false;
    const size_t bytes = tensor_at(subgraph, input)->bytes;
    return bytes > 0 && bytes == tensor_at(subgraph, output)->bytes;
}

// The input must die with this node, and nothing else may look at it afterwards.
static bool can_take_over(struct hl_subgraph *subgraph, int input, int position)
{
    const struct hl_placement *placements = subgraph->planner.placements;
    return placements[placements[input].owner].held == position && placements[input].last == position &&
           placements[input].first < position;
}

// An output with the input's values may lie in its memory while both live: who writes there in place must be the last
// that looks at any of them. A graph's output is never its input, which the caller fills for the next invoke.
static bool can_look_at(struct hl_subgraph *subgraph, int input, int output, int position)
{
    const struct hl_placement *placements = subgraph->planner.placements, *from = &placements[input];
    const bool is_there = from->first < position || hl_is_listed(subgraph->inputs, input);
    return is_there && from->last >= position &&
           (placements[from->owner].held < INT_MAX || placements[output].last < INT_MAX);
}

static void share_in_place(struct hl_subgraph *subgraph, int position)
{
    struct hl_placement *placements = subgraph->planner.placements;
    const struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
    uint64_t flags = node->registration.inplace_operator;
    if (!flags || node->node.delegate || node->node.outputs->size == 0) return;
    int output = node->node.outputs->data[0];
    if (output < 0 || placements[output].placed || placements[output].shares >= 0) return;
    // A tensor that is written twice or written though the caller provides it, from position 0 on, keeps memory of its
    // own.
    if (placements[output].first != position || (position == 0 && hl_is_listed(subgraph->inputs, output))) return;
    static const uint64_t shared[] = {kTfLiteInplaceOpInput0Shared, kTfLiteInplaceOpInput1Shared,
                                      kTfLiteInplaceOpInput2Shared};
    for (int i = 0; i < 3 && i < node->node.inputs->size; i++) {
        int input = node->node.inputs->data[i];
        if (!(flags & shared[i]) || !have_one_size(subgraph, input, output)) continue;
        const bool looks = !can_take_over(subgraph, input, position);
        if (looks && (!(flags & kTfLiteInplaceOpDataUnmodified) || node->reads >= 0 ||
                      !can_look_at(subgraph, input, output, position)))
            continue;
        struct hl_placement *owner = &placements[placements[input].owner];
        placements[output].shares = input;
        placements[output].looks = looks;
        placements[output].owner = placements[input].owner;
        if (owner->held < placements[output].last) owner->held = placements[output].last;
        return;
    }
}

// ---- offsets ------------------------------------------------------------------------------------

static int larger_first(const void *a, const void *b)
{
    const struct hl_sized *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return x->tensor - y->tensor;
}

static int lower_first(const void *a, const void *b)
{
    return larger_first(b, a);
}

static size_t aligned(size_t bytes)
{
    return (bytes + HL_TENSOR_ALIGNMENT - 1) / HL_TENSOR_ALIGNMENT * HL_TENSOR_ALIGNMENT;
}

// Lowest offset of the smallest gap that holds `bytes` among the placed tensors, given by rising offset, that live at
// the same time.
static size_t find_gap(const struct hl_placement *placements, const struct hl_sized *placed, int count,
                       const struct hl_placement *wanted, size_t bytes)
{
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (int i = 0; i < count; i++) {
        const struct hl_placement *other = &placements[placed[i].tensor];
        if (other->held < wanted->first || other->first > wanted->held) continue;
        if (other->offset > end) {
            size_t gap = other->offset - end;
            if (gap >= bytes && gap < best_gap) {
                best = end;
                best_gap = gap;
            }
        }
        size_t other_end = other->offset + aligned(other->bytes);
        if (other_end > end) end = other_end;
    }
    return best != SIZE_MAX ? best : end;
}

static void insert_by_offset(struct hl_sized *placed, int count, struct hl_sized entry)
{
    int at = count;
    while (at > 0 && lower_first(&entry, &placed[at - 1]) < 0) {
        placed[at] = placed[at - 1];
        at--;
    }
    placed[at] = entry;
}

// Owners of memory that live at a prepared position and have no place yet.
static bool wants_place(struct hl_subgraph *subgraph, int tensor, int prepared)
{
    const struct hl_placement *placement = &subgraph->planner.placements[tensor];
    return in_arena(subgraph, tensor) && !placement->placed && placement->shares < 0 &&
           placement->first <= placement->last && (placement->first < prepared || prepared == 0) &&
           tensor_at(subgraph, tensor)->bytes > 0;
}

// Tensors to be placed.
struct wanted {
    struct hl_sized *list;
    int count;
};

static void want(struct hl_subgraph *subgraph, struct wanted *wanted, int tensor)
{
    wanted->list[wanted->count++] = (struct hl_sized){tensor_at(subgraph, tensor)->bytes, tensor};
}

static bool find_wanted(struct hl_subgraph *subgraph, int from, int prepared, struct wanted *wanted)
{
    int64_t room = from == 0 ? subgraph->planner.count : 0;
    for (int position = from; position < prepared && from > 0; position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[position]]->node;
        room += (int64_t)node->inputs->size + node->outputs->size + node->intermediates->size + node->temporaries->size;
    }
    *wanted = (struct wanted){.list = malloc((size_t)(room + 1) * sizeof *wanted->list)};
    if (!wanted->list) return false;
    for (int i = 0; i < subgraph->planner.count && from == 0; i++)
        if (wants_place(subgraph, i, prepared)) want(subgraph, wanted, i);
    for (int position = from; position < prepared && from > 0; position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[position]]->node;
        const TfLiteIntArray *lists[] = {node->inputs, node->outputs, node->intermediates, node->temporaries};
        for (int l = 0; l < 4; l++)
            for (int i = 0; i < lists[l]->size; i++)
                if (lists[l]->data[i] >= 0 && wants_place(subgraph, lists[l]->data[i], prepared))
                    want(subgraph, wanted, lists[l]->data[i]);
    }
    return true;
}

// Makes planner->live what it is from this position on, with room for `more`.
static bool find_live(struct hl_planner *planner, int from, int more)
{
    int64_t most = (int64_t)planner->count + more;
    if (planner->live_capacity < most) {
        struct hl_sized *live =
            most < INT_MAX / 2 ? realloc(planner->live, (size_t)(most + most / 2) * sizeof *live) : NULL;
        if (!live) return false;
        planner->live = live;
        planner->live_capacity = (int)(most + most / 2);
    }
    const struct hl_placement *placements = planner->placements;
    int count = 0;
    if (from == 0) {
        // The arena was reset.
    } else if (from < planner->live_from) {
        for (int i = 0; i < planner->count; i++)
            if (placements[i].placed && placements[i].shares < 0 && placements[i].held >= from)
                planner->live[count++] = (struct hl_sized){placements[i].offset, i};
        qsort(planner->live, (size_t)count, sizeof *planner->live, lower_first);
    } else {
        for (int i = 0; i < planner->live_count; i++) {
            const struct hl_placement *placement = &placements[planner->live[i].tensor];
            if (placement->placed && placement->held >= from) planner->live[count++] = planner->live[i];
        }
    }
    planner->live_count = count;
    planner->live_from = from;
    return true;
}

static TfLiteStatus above_limit(struct hl_subgraph *subgraph, int tensor)
{
    const TfLiteTensor *what = tensor_at(subgraph, tensor);
    hl_subgraph_error(subgraph,
                      "tensor %s takes %zu bytes, which brings the tensors' memory above the limit of %zu bytes",
                      hl_tensor_label(what), what->bytes, subgraph->interpreter->memory_limit);
    return kTfLiteError;
}

static void set_place(struct hl_planner *planner, int tensor, size_t offset, size_t bytes)
{
    struct hl_placement *placement = &planner->placements[tensor];
    placement->placed = true;
    placement->offset = offset;
    placement->bytes = bytes;
}

// What a search for gaps may look at before a plan takes the simpler way, which may need more memory. It is
// reached by about 8000 tensors that are placed at once.
static const double gap_looks = 1 << 26;

// Places whose tensors are dead, in lists by size: four sizes for each power of two.
struct free_places {
    struct free_place {
        size_t offset;
        int next; // in its list, -1: none
    } * places;
    int count, first[4 * 64];
};

// The next of the four sizes, and its number.
static size_t round_size(size_t bytes, int *number)
{
    int exponent = 6; // aligned sizes have no bit below
    while (exponent < 62 && bytes >> (exponent + 1)) exponent++;
    size_t step = (size_t)1 << (exponent - 2), rounded = (bytes + step - 1) / step * step;
    *number = 4 * exponent + (int)(rounded / step - 4); // 4 to 8 steps: the last is the next power's first
    return rounded;
}

// Of tensors in the order of their lives each takes a free place of its size, or a new one above all others.
static TfLiteStatus place_by_lives(struct hl_subgraph *subgraph, const struct wanted *wanted, size_t limit,
                                   size_t *size)
{
    struct hl_planner *planner = &subgraph->planner;
    struct hl_placement *placements = planner->placements;
    size_t count = (size_t)wanted->count, end = 0;
    struct hl_sized *deaths = malloc((count + 1) * sizeof *deaths);
    struct free_places unused = {.places = malloc((count + 1) * sizeof *unused.places)};
    TfLiteStatus status = deaths && unused.places ? kTfLiteOk : out_of_memory(subgraph);
    for (int i = 0; i < 4 * 64; i++) unused.first[i] = -1;
    for (size_t i = 0; i < count && deaths; i++) {
        int tensor = wanted->list[i].tensor;
        wanted->list[i].key = (size_t)placements[tensor].first;
        deaths[i] = (struct hl_sized){(size_t)placements[tensor].held, tensor};
    }
    for (int i = 0; i < planner->live_count; i++) {
        const struct hl_placement *other = &placements[planner->live[i].tensor];
        if (other->offset + aligned(other->bytes) > end) end = other->offset + aligned(other->bytes);
    }
    qsort(wanted->list, count, sizeof *wanted->list, lower_first);
    if (deaths) qsort(deaths, count, sizeof *deaths, lower_first);

    size_t dead = 0;
    for (size_t i = 0; i < count && status == kTfLiteOk; i++) {
        if (placements[wanted->list[i].tensor].placed) continue; // listed twice
        int number = 0;
        for (; deaths[dead].key < wanted->list[i].key; dead++) {
            if (dead > 0 && deaths[dead].tensor == deaths[dead - 1].tensor) continue; // listed twice
            const struct hl_placement *left = &placements[deaths[dead].tensor];
            round_size(aligned(left->bytes), &number);
            unused.places[unused.count] = (struct free_place){left->offset, unused.first[number]};
            unused.first[number] = unused.count++;
        }
        size_t bytes = tensor_at(subgraph, wanted->list[i].tensor)->bytes, offset = end;
        size_t rounded = bytes <= limit ? round_size(aligned(bytes), &number) : 0;
        if (rounded && unused.first[number] >= 0) {
            offset = unused.places[unused.first[number]].offset;
            unused.first[number] = unused.places[unused.first[number]].next;
        } else if (!rounded || !hl_add_size(end, rounded, &end) || end > limit) {
            status = above_limit(subgraph, wanted->list[i].tensor);
            break;
        }
        set_place(planner, wanted->list[i].tensor, offset, bytes);
        if (end > *size) *size = end;
    }
    planner->live_from = INT_MAX; // to be found anew
    free(deaths);
    free(unused.places);
    return status;
}

// Moves those that live all the time, inputs above all, to the front, in their order. Returns how many. No other tensor
// can use their memory, so that each at the arena's lower end leaves one whole stretch to the rest; and callers that go
// through inputs in order go through memory in order.
static int lead_with_inputs(const struct hl_placement *placements, const struct wanted *wanted)
{
    int always = 0;
    for (int i = 0; i < wanted->count; i++) {
        const struct hl_sized entry = wanted->list[i];
        if (placements[entry.tensor].first > 0 || placements[entry.tensor].held < INT_MAX) continue;
        memmove(wanted->list + always + 1, wanted->list + always, (size_t)(i - always) * sizeof entry);
        wanted->list[always++] = entry;
    }
    return always;
}

// The largest first, each into the smallest gap among those that live at the same time.
static TfLiteStatus place_by_size(struct hl_subgraph *subgraph, const struct wanted *wanted, size_t limit, size_t *size)
{
    struct hl_planner *planner = &subgraph->planner;
    int always = lead_with_inputs(planner->placements, wanted);
    qsort(wanted->list + always, (size_t)(wanted->count - always), sizeof *wanted->list, larger_first);
    for (int i = 0; i < wanted->count; i++) {
        int tensor = wanted->list[i].tensor;
        size_t bytes = wanted->list[i].key, end;
        if (i > 0 && planner->placements[tensor].placed) continue; // listed twice
        size_t offset = find_gap(planner->placements, planner->live, planner->live_count, &planner->placements[tensor],
                                 aligned(bytes));
        if (bytes > limit || !hl_add_size(offset, aligned(bytes), &end) || end > limit)
            return above_limit(subgraph, tensor);
        set_place(planner, tensor, offset, bytes);
        if (end > *size) *size = end;
        insert_by_offset(planner->live, planner->live_count++, (struct hl_sized){offset, tensor});
    }
    return kTfLiteOk;
}

static TfLiteStatus choose_offsets(struct hl_subgraph *subgraph, int from, int prepared, size_t *size)
{
    struct hl_planner *planner = &subgraph->planner;
    struct wanted wanted;
    if (!find_wanted(subgraph, from, prepared, &wanted) || !find_live(planner, from, wanted.count)) {
        free(wanted.list);
        return out_of_memory(subgraph);
    }
    size_t limit = planner->arena_size + hl_interpreter_memory_left(subgraph->interpreter);
    double looks = (double)wanted.count * ((double)planner->live_count + wanted.count);
    bool simple = looks > gap_looks;
    TfLiteStatus status = hl_subgraph_count_planning(subgraph, simple ? wanted.count : planner->live_count + looks);
    if (status == kTfLiteOk) status = (simple ? place_by_lives : place_by_size)(subgraph, &wanted, limit, size);
    if (status != kTfLiteOk) planner->live_from = INT_MAX;
    free(wanted.list);
    return status;
}

static TfLiteStatus grow_arena(struct hl_subgraph *subgraph, size_t size)
{
    struct hl_planner *planner = &subgraph->planner;
    if (size <= planner->arena_size) return kTfLiteOk;
    // calloc: what no node writes reads as zero, and pages that nobody touches cost nothing.
    void *block = size < SIZE_MAX - HL_TENSOR_ALIGNMENT ? calloc(1, size + HL_TENSOR_ALIGNMENT) : NULL;
    if (!block) {
        hl_subgraph_error(subgraph, "out of memory: the tensors of subgraph %d need %zu bytes", subgraph->index, size);
        return kTfLiteError;
    }
    unsigned char *arena = (unsigned char *)block + HL_TENSOR_ALIGNMENT - (uintptr_t)block % HL_TENSOR_ALIGNMENT;
    // Values of inputs and of nodes that have run survive.
    if (planner->arena) memcpy(arena, planner->arena, planner->arena_size);
    free(planner->arena_block);
    hl_subgraph_count_bytes(subgraph, (ptrdiff_t)(size - planner->arena_size));
    planner->arena_block = block;
    planner->arena = arena;
    planner->arena_size = size;
    return kTfLiteOk;
}

// Offsets that were chosen for an arena that did not grow.
static void forget_outside(struct hl_planner *planner)
{
    for (int i = 0; i < planner->count; i++) {
        struct hl_placement *placement = &planner->placements[i];
        if (placement->placed && placement->offset + aligned(placement->bytes) > planner->arena_size)
            placement->placed = false;
    }
}

// ---- persistent tensors -------------------------------------------------------------------------

static TfLiteStatus place_persistent_tensor(struct hl_subgraph *subgraph, int index)
{
    TfLiteTensor *tensor = tensor_at(subgraph, index);
    struct hl_placement *placement = &subgraph->planner.placements[index];
    if (tensor->allocation_type != kTfLiteArenaRwPersistent) return kTfLiteOk;
    if (tensor->bytes == 0) {
        tensor->data.raw = NULL;
        return kTfLiteOk;
    }
    if (!placement->block || placement->bytes != tensor->bytes) {
        if (placement->block) hl_subgraph_count_bytes(subgraph, -(ptrdiff_t)placement->bytes);
        hl_aligned_free(placement->block);
        placement->block = NULL;
        if (tensor->bytes <= hl_interpreter_memory_left(subgraph->interpreter))
            placement->block = hl_aligned_alloc(HL_TENSOR_ALIGNMENT, tensor->bytes);
        if (!placement->block) {
            hl_subgraph_error(subgraph, "no memory for %zu bytes of tensor %s, or above the limit of %zu bytes",
                              tensor->bytes, hl_tensor_label(tensor), subgraph->interpreter->memory_limit);
            return kTfLiteError;
        }
        placement->bytes = tensor->bytes;
        hl_subgraph_count_bytes(subgraph, (ptrdiff_t)tensor->bytes);
        memset(placement->block, 0, tensor->bytes);
    }
    tensor->data.data = placement->block;
    return kTfLiteOk;
}

// ---- interface ----------------------------------------------------------------------------------

static void set_pointer(struct hl_subgraph *subgraph, int index, int position)
{
    (void)position;
    if (!in_arena(subgraph, index)) return;
    const struct hl_planner *planner = &subgraph->planner;
    const struct hl_placement *owner = &planner->placements[planner->placements[index].owner];
    TfLiteTensor *tensor = tensor_at(subgraph, index);
    bool has_memory = owner->placed && tensor->bytes > 0 && planner->arena && !planner->placements[index].in_rows;
    tensor->data.raw = has_memory ? (char *)planner->arena + hl_planner_offset(planner, index) : NULL;
}

// Persistent tensors of the nodes at positions [from, prepared), from 0 all.
static TfLiteStatus place_persistent(struct hl_subgraph *subgraph, int from, int prepared)
{
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < subgraph->tensor_count && from == 0 && status == kTfLiteOk; i++)
        status = place_persistent_tensor(subgraph, i);
    for (int position = from; position < prepared && from > 0; position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[position]]->node;
        const TfLiteIntArray *lists[] = {node->inputs, node->outputs, node->intermediates, node->temporaries};
        for (int l = 0; l < 4; l++)
            for (int i = 0; i < lists[l]->size && status == kTfLiteOk; i++)
                if (lists[l]->data[i] >= 0) status = place_persistent_tensor(subgraph, lists[l]->data[i]);
    }
    return status;
}

static TfLiteStatus place_tensors(struct hl_subgraph *subgraph, int from, int prepared)
{
    struct hl_planner *planner = &subgraph->planner;
    if (from == 0) {
        find_lives(subgraph);
        for (int i = 0; i < planner->count; i++) hold_owner(subgraph, i, 0);
    } else {
        visit_tensors(subgraph, from, prepared, lives_on);
    }
    for (int position = from; position < prepared; position++) share_in_place(subgraph, position);
    size_t size = planner->arena_size, before = size;
    TfLiteStatus status = choose_offsets(subgraph, from, prepared, &size);
    if (status == kTfLiteOk) status = grow_arena(subgraph, size);
    if (status != kTfLiteOk) {
        forget_outside(planner);
        return status;
    }
    status = place_persistent(subgraph, from, prepared);
    if (status != kTfLiteOk) return status;
    if (from > 0 && size == before) {
        visit_tensors(subgraph, from, prepared, set_pointer);
        return kTfLiteOk;
    }
    for (int i = 0; i < planner->count; i++) set_pointer(subgraph, i, 0);
    return from == 0 ? kTfLiteOk : hl_subgraph_count_planning(subgraph, (double)size + planner->count);
}

TfLiteStatus hl_planner_place(struct hl_subgraph *subgraph, int from, int prepared)
{
    if (hl_planner_grow(subgraph) != kTfLiteOk) return kTfLiteError;
    TfLiteStatus status = place_tensors(subgraph, from, prepared);
    // The caller prepares these nodes again, then perhaps for other shapes.
    if (status != kTfLiteOk && from > 0) hl_planner_forget(subgraph, from, prepared);
    return status;
}

static void forget(struct hl_subgraph *subgraph, int tensor, int position)
{
    (void)position;
    struct hl_placement *placements = subgraph->planner.placements, *placement = &placements[tensor];
    if (!in_arena(subgraph, tensor)) return;
    // Others may hold memory that this tensor only looked at.
    if (placement->shares >= 0 && !placement->looks)
        placements[placement->owner].held = placements[placement->shares].last;
    placement->placed = placement->inside = placement->in_rows = false;
    placement->shares = -1;
    placement->owner = tensor;
}

void hl_planner_forget(struct hl_subgraph *subgraph, int position, int prepared)
{
    // Backward, a node's outputs before its inputs, so that an owner is held by the last that keeps its memory.
    for (int p = prepared - 1; p >= position; p--) {
        const TfLiteIntArray *plan = subgraph->plan;
        const TfLiteNode *node = &subgraph->nodes[plan->data[p]]->node;
        const TfLiteIntArray *lists[] = {node->outputs, node->intermediates, node->temporaries, node->inputs};
        for (int l = 0; l < 4; l++)
            for (int i = 0; i < lists[l]->size; i++)
                if (lists[l]->data[i] >= 0 && subgraph->planner.placements[lists[l]->data[i]].first >= position)
                    forget(subgraph, lists[l]->data[i], p);
    }
}

void hl_planner_reset(struct hl_subgraph *subgraph)
{
    struct hl_planner *planner = &subgraph->planner;
    for (int i = 0; i < planner->count; i++) {
        planner->placements[i].placed = false;
        planner->placements[i].shares = -1;
        planner->placements[i].owner = i;
        planner->placements[i].inside = planner->placements[i].in_rows = false;
        if (in_arena(subgraph, i)) tensor_at(subgraph, i)->data.raw = NULL;
    }
    hl_subgraph_count_bytes(subgraph, -(ptrdiff_t)planner->arena_size);
    free(planner->arena_block);
    planner->arena_block = NULL;
    planner->arena = NULL;
    planner->arena_size = 0;
    planner->live_count = 0;
    planner->live_from = INT_MAX;
}

void hl_planner_free(struct hl_planner *planner)
{
    for (int i = 0; i < planner->count; i++) hl_aligned_free(planner->placements[i].block);
    free(planner->placements);
    free(planner->live);
    free(planner->arena_block);
    *planner = (struct hl_planner){0};
}

void hl_planner_put_inside(struct hl_subgraph *subgraph, int tensor, int other, size_t within, bool in_rows)
{
    struct hl_placement *placement = &subgraph->planner.placements[tensor];
    placement->inside = true;
    placement->in_rows = in_rows;
    placement->within = within;
    placement->shares = other;
    placement->bytes = tensor_at(subgraph, tensor)->bytes;
}

size_t hl_planner_offset(const struct hl_planner *planner, int tensor)
{
    const struct hl_placement *placements = planner->placements;
    size_t offset = placements[placements[tensor].owner].offset;
    for (; placements[tensor].inside; tensor = placements[tensor].shares) offset += placements[tensor].within;
    return offset;
}

size_t hl_planner_persistent_bytes(const struct hl_planner *planner)
{
    size_t bytes = 0;
    for (int i = 0; i < planner->count; i++)
        if (planner->placements[i].block) bytes += planner->placements[i].bytes;
    return bytes;
}

size_t hl_planner_unshared_bytes(const struct hl_planner *planner)
{
    size_t bytes = 0;
    for (int i = 0; i < planner->count; i++) {
        int owner = planner->placements[i].owner;
        const struct hl_placement *sized = &planner->placements[planner->placements[i].inside ? i : owner];
        if (planner->placements[owner].placed) bytes += aligned(sized->bytes);
    }
    return bytes;
}
