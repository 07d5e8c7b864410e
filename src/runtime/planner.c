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

static TfLiteStatus grow_placements(struct hl_subgraph *subgraph)
{
    struct hl_planner *planner = &subgraph->planner;
    int count = subgraph->tensor_count;
    if (count <= planner->count) return kTfLiteOk;
    struct hl_placement *placements = realloc(planner->placements, (size_t)count * sizeof *placements);
    if (!placements) {
        hl_subgraph_error(subgraph, "subgraph %d: out of memory for the memory plan", subgraph->index);
        return kTfLiteError;
    }
    planner->placements = placements;
    for (int i = planner->count; i < count; i++) placements[i] = (struct hl_placement){.shares = -1};
    planner->count = count;
    return kTfLiteOk;
}

// ---- lives --------------------------------------------------------------------------------------

static void used_at(struct hl_placement *placement, int position)
{
    if (position < placement->first) placement->first = position;
    if (position > placement->last) placement->last = position;
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
    for (int position = 0; position < subgraph->plan->size; position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[position]]->node;
        const TfLiteIntArray *lists[] = {node->inputs, node->outputs, node->intermediates, node->temporaries};
        for (int l = 0; l < 4; l++)
            for (int i = 0; i < lists[l]->size; i++)
                if (lists[l]->data[i] >= 0) used_at(&placements[lists[l]->data[i]], position);
    }
    for (int i = 0; i < subgraph->outputs->size; i++) {
        if (subgraph->outputs->data[i] < 0) continue;
        struct hl_placement *placement = &placements[subgraph->outputs->data[i]];
        used_at(placement, INT_MAX);
        if (placement->first == INT_MAX) placement->first = 0;
    }
    if (!subgraph->interpreter->options->preserve_tensors) return;
    for (int i = 0; i < subgraph->tensor_count; i++) {
        if (placements[i].first == INT_MAX) continue; // nobody uses it
        used_at(&placements[i], 0);
        used_at(&placements[i], INT_MAX);
    }
}

// ---- in place -----------------------------------------------------------------------------------

static int memory_owner(const struct hl_placement *placements, int tensor)
{
    while (placements[tensor].shares >= 0) tensor = placements[tensor].shares;
    return tensor;
}

// The input must die with this node, and nothing else may look at it afterwards.
static bool can_take_over(struct hl_subgraph *subgraph, int input, int output, int position)
{
    const struct hl_placement *placements = subgraph->planner.placements;
    if (input < 0 || input == output || !in_arena(subgraph, input) || !in_arena(subgraph, output)) return false;
    if (tensor_at(subgraph, input)->bytes != tensor_at(subgraph, output)->bytes) return false;
    if (tensor_at(subgraph, input)->bytes == 0) return false;
    return placements[memory_owner(placements, input)].held == position && placements[input].last == position &&
           placements[input].first < position;
}

static void share_in_place(struct hl_subgraph *subgraph, int position)
{
    struct hl_placement *placements = subgraph->planner.placements;
    const struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
    uint64_t flags = node->registration.inplace_operator;
    if (!flags || node->node.delegate || node->node.outputs->size == 0) return;
    int output = node->node.outputs->data[0];
    if (output < 0 || placements[output].placed || placements[output].shares >= 0) return;
    // A tensor that is written twice or written though the caller provides it keeps memory of its own.
    if (placements[output].first != position || hl_is_listed(subgraph->inputs, output)) return;
    static const uint64_t shared[] = {kTfLiteInplaceOpInput0Shared, kTfLiteInplaceOpInput1Shared,
                                      kTfLiteInplaceOpInput2Shared};
    for (int i = 0; i < 3 && i < node->node.inputs->size; i++) {
        int input = node->node.inputs->data[i];
        if (!(flags & shared[i]) || !can_take_over(subgraph, input, output, position)) continue;
        placements[output].shares = input;
        placements[memory_owner(placements, input)].held = placements[output].last;
        return;
    }
}

// ---- offsets ------------------------------------------------------------------------------------

// What qsort compares: its callback has no room for a context.
struct sized {
    size_t key;
    int tensor;
};

static int larger_first(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
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
static size_t find_gap(const struct hl_placement *placements, const struct sized *placed, int count,
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

static void insert_by_offset(struct sized *placed, int count, struct sized entry)
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

static TfLiteStatus choose_offsets(struct hl_subgraph *subgraph, int prepared, size_t *size)
{
    struct hl_planner *planner = &subgraph->planner;
    struct hl_placement *placements = planner->placements;
    size_t room = (size_t)(planner->count ? planner->count : 1) * sizeof(struct sized);
    struct sized *placed = malloc(room), *wanted = malloc(room);
    if (!placed || !wanted) {
        free(placed);
        free(wanted);
        hl_subgraph_error(subgraph, "subgraph %d: out of memory for the memory plan", subgraph->index);
        return kTfLiteError;
    }
    int placed_count = 0, wanted_count = 0;
    for (int i = 0; i < planner->count; i++) {
        if (placements[i].placed && placements[i].shares < 0)
            placed[placed_count++] = (struct sized){placements[i].offset, i};
        else if (wants_place(subgraph, i, prepared))
            wanted[wanted_count++] = (struct sized){tensor_at(subgraph, i)->bytes, i};
    }
    qsort(placed, (size_t)placed_count, sizeof *placed, lower_first);
    qsort(wanted, (size_t)wanted_count, sizeof *wanted, larger_first);

    TfLiteStatus status = kTfLiteOk;
    size_t limit = planner->arena_size + hl_interpreter_memory_left(subgraph->interpreter);
    for (int i = 0; i < wanted_count && status == kTfLiteOk; i++) {
        struct hl_placement *placement = &placements[wanted[i].tensor];
        size_t bytes = wanted[i].key, end;
        size_t offset = find_gap(placements, placed, placed_count, placement, aligned(bytes));
        if (bytes > limit || !hl_add_size(offset, aligned(bytes), &end) || end > limit) {
            hl_subgraph_error(
                subgraph, "tensor %s takes %zu bytes, which brings the tensors' memory above the limit of %zu bytes",
                hl_tensor_label(tensor_at(subgraph, wanted[i].tensor)), bytes, subgraph->interpreter->memory_limit);
            status = kTfLiteError;
            break;
        }
        placement->placed = true;
        placement->offset = offset;
        placement->bytes = bytes;
        if (end > *size) *size = end;
        insert_by_offset(placed, placed_count++, (struct sized){offset, wanted[i].tensor});
    }
    free(placed);
    free(wanted);
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

static TfLiteStatus place_persistent(struct hl_subgraph *subgraph)
{
    size_t left = hl_interpreter_memory_left(subgraph->interpreter);
    for (int i = 0; i < subgraph->tensor_count; i++) {
        TfLiteTensor *tensor = tensor_at(subgraph, i);
        struct hl_placement *placement = &subgraph->planner.placements[i];
        if (tensor->allocation_type != kTfLiteArenaRwPersistent) continue;
        if (tensor->bytes == 0) {
            tensor->data.raw = NULL;
            continue;
        }
        if (!placement->block || placement->bytes != tensor->bytes) {
            if (placement->block) left += placement->bytes;
            hl_aligned_free(placement->block);
            placement->block = NULL;
            if (tensor->bytes <= left) placement->block = hl_aligned_alloc(HL_TENSOR_ALIGNMENT, tensor->bytes);
            if (!placement->block) {
                hl_subgraph_error(subgraph, "no memory for %zu bytes of tensor %s, or above the limit of %zu bytes",
                                  tensor->bytes, hl_tensor_label(tensor), subgraph->interpreter->memory_limit);
                return kTfLiteError;
            }
            placement->bytes = tensor->bytes;
            left -= tensor->bytes;
            memset(placement->block, 0, tensor->bytes);
        }
        tensor->data.data = placement->block;
    }
    return kTfLiteOk;
}

// ---- interface ----------------------------------------------------------------------------------

static void set_pointers(struct hl_subgraph *subgraph)
{
    struct hl_planner *planner = &subgraph->planner;
    for (int i = 0; i < planner->count; i++) {
        if (!in_arena(subgraph, i)) continue;
        const struct hl_placement *owner = &planner->placements[memory_owner(planner->placements, i)];
        TfLiteTensor *tensor = tensor_at(subgraph, i);
        bool has_memory = owner->placed && tensor->bytes > 0 && planner->arena;
        tensor->data.raw = has_memory ? (char *)planner->arena + owner->offset : NULL;
    }
}

TfLiteStatus hl_planner_place(struct hl_subgraph *subgraph, int prepared)
{
    if (grow_placements(subgraph) != kTfLiteOk) return kTfLiteError;
    find_lives(subgraph);
    struct hl_planner *planner = &subgraph->planner;
    for (int i = 0; i < planner->count; i++) {
        struct hl_placement *owner = &planner->placements[memory_owner(planner->placements, i)];
        if (owner->held < planner->placements[i].last) owner->held = planner->placements[i].last;
    }
    for (int position = 0; position < prepared; position++) share_in_place(subgraph, position);
    size_t size = planner->arena_size;
    if (choose_offsets(subgraph, prepared, &size) != kTfLiteOk || grow_arena(subgraph, size) != kTfLiteOk) {
        forget_outside(planner);
        return kTfLiteError;
    }
    if (place_persistent(subgraph) != kTfLiteOk) return kTfLiteError;
    set_pointers(subgraph);
    return kTfLiteOk;
}

void hl_planner_forget_from(struct hl_subgraph *subgraph, int position)
{
    struct hl_planner *planner = &subgraph->planner;
    for (int i = 0; i < planner->count; i++) {
        struct hl_placement *placement = &planner->placements[i];
        if (placement->first < position || !in_arena(subgraph, i)) continue;
        placement->placed = false;
        placement->shares = -1;
    }
}

void hl_planner_reset(struct hl_subgraph *subgraph)
{
    struct hl_planner *planner = &subgraph->planner;
    for (int i = 0; i < planner->count; i++) {
        planner->placements[i].placed = false;
        planner->placements[i].shares = -1;
        if (in_arena(subgraph, i)) tensor_at(subgraph, i)->data.raw = NULL;
    }
    free(planner->arena_block);
    planner->arena_block = NULL;
    planner->arena = NULL;
    planner->arena_size = 0;
}

void hl_planner_free(struct hl_planner *planner)
{
    for (int i = 0; i < planner->count; i++) hl_aligned_free(planner->placements[i].block);
    free(planner->placements);
    free(planner->arena_block);
    *planner = (struct hl_planner){0};
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
        int owner = memory_owner(planner->placements, i);
        if (planner->placements[owner].placed) bytes += aligned(planner->placements[owner].bytes);
    }
    return bytes;
}
