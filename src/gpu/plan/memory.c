// SPDX-License-Identifier: Apache-2.0
// Allocates values in one device buffer, the arena. A value lives from the first level whose steps use it to the last.
// The largest values are placed first, each into the smallest sufficient gap between values that live at the same time.
// Inputs and outputs have an allocation besides their raw buffers, unless the raw buffer serves as the value. A value
// inside of another lives in its memory, and the other one as long as all that are inside.
#include <limits.h>
#include <stdlib.h>

#include "gpu/plan/plan.h"

static size_t value_bytes(const struct gpu_plan *plan, const struct gpu_value *value)
{
    size_t bytes = gpu_value_vectors(value) * gpu_value_vector_bytes(plan, value);
    return (bytes + GPU_ALIGNMENT - 1) / GPU_ALIGNMENT * GPU_ALIGNMENT;
}

static void extend(struct gpu_plan *plan, const struct gpu_value *value, int level)
{
    struct gpu_allocation *own = &plan->allocations[value->id];
    if (!own->used) *own = (struct gpu_allocation){.used = true, .first = level, .bytes = value_bytes(plan, value)};
    own->last = level;
}

static void find_lives(struct gpu_plan *plan)
{
    for (int s = 0; s < plan->step_count; s++)
        for (int i = 0; i < plan->steps[s].operand_count; i++) {
            const struct gpu_value *value = plan->steps[s].operands[i].value;
            if (!value || gpu_plan_is_outside(plan, &plan->steps[s], i)) continue;
            extend(plan, value, plan->steps[s].level);
            if (value->inside) extend(plan, value->inside, plan->steps[s].level);
        }
}

struct sized {
    size_t key;
    int value;
};

static int larger_first(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return x->value - y->value;
}

// The offset for `wanted`. placed: the values that already have one, sorted by offset.
static size_t find_gap(const struct gpu_allocation *all, const struct sized *placed, int count,
                       const struct gpu_allocation *wanted)
{
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (int i = 0; i < count; i++) {
        const struct gpu_allocation *other = &all[placed[i].value];
        if (other->last < wanted->first || other->first > wanted->last) continue;
        size_t gap = other->offset > end ? other->offset - end : 0;
        if (gap >= wanted->bytes && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        if (other->offset + other->bytes > end) end = other->offset + other->bytes;
    }
    return best != SIZE_MAX ? best : end;
}

bool gpu_plan_memory(struct gpu_plan *plan)
{
    int count = plan->graph->value_count, wanted_count = 0;
    plan->allocations = calloc((size_t)count + 1, sizeof *plan->allocations);
    struct sized *wanted = malloc(((size_t)count + 1) * sizeof *wanted);
    struct sized *placed = malloc(((size_t)count + 1) * sizeof *placed);
    if (!plan->allocations || !wanted || !placed) {
        free(wanted);
        free(placed);
        return gpu_plan_fail(plan, "out of memory");
    }
    find_lives(plan);
    for (int v = 0; v < count; v++) {
        if (!plan->allocations[v].used || plan->graph->values[v]->inside) continue;
        wanted[wanted_count++] = (struct sized){plan->allocations[v].bytes, v};
        plan->arena_unshared += plan->allocations[v].bytes;
    }
    qsort(wanted, (size_t)wanted_count, sizeof *wanted, larger_first);
    for (int i = 0; i < wanted_count; i++) {
        struct gpu_allocation *own = &plan->allocations[wanted[i].value];
        own->offset = find_gap(plan->allocations, placed, i, own);
        if (own->offset + own->bytes > plan->arena_bytes) plan->arena_bytes = own->offset + own->bytes;
        int at = i;
        for (; at > 0 && placed[at - 1].key > own->offset; at--) placed[at] = placed[at - 1];
        placed[at] = (struct sized){own->offset, wanted[i].value};
    }
    free(wanted);
    free(placed);
    for (int v = 0; v < count; v++) {
        const struct gpu_value *value = plan->graph->values[v];
        struct gpu_allocation *own = &plan->allocations[v];
        if (!own->used || !value->inside) continue;
        size_t vector = gpu_value_vector_bytes(plan, value);
        own->offset = plan->allocations[value->inside->id].offset + value->inside_at * vector;
        own->bytes = gpu_value_vectors(value) * vector;
    }
    if (plan->arena_bytes > plan->caps->max_buffer)
        return gpu_plan_fail(plan, "the values need %zu bytes, the device allows buffers of %zu", plan->arena_bytes,
                             plan->caps->max_buffer);
    return true;
}
