// SPDX-License-Identifier: Apache-2.0
// Places of values in one device buffer: each lives from the first level whose steps name it to the last; the largest
// are placed first, each into the smallest gap among those alive at the same time. All values are in the arena, inputs
// and outputs too (their raw forms are buffers of their own), but for those whose raw form is all there is.
#include <limits.h>
#include <stdlib.h>

#include "gpu/plan/plan.h"

enum { PLACE_ALIGNMENT = 256 }; // the coarsest offset that any API asks for

static size_t value_bytes(const struct gpu_plan *plan, const struct gpu_value *value)
{
    size_t bytes = gpu_value_vectors(value) * gpu_value_vector_bytes(plan, value);
    return (bytes + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

static bool is_raw(const struct gpu_plan_step *step, int operand)
{
    if (operand >= gpu_kernel_arg_count(step->kernel)) return false; // the residual
    return gpu_arg_is_raw(step->kernel->args[operand].kind);
}

static void find_lives(struct gpu_plan *plan)
{
    for (int s = 0; s < plan->step_count; s++)
        for (int i = 0; i < plan->steps[s].operand_count; i++) {
            const struct gpu_value *value = plan->steps[s].operands[i].value;
            if (!value || is_raw(&plan->steps[s], i) || gpu_plan_is_dense(plan, value)) continue;
            int level = plan->steps[s].level;
            struct gpu_place *place = &plan->places[value->id];
            if (!place->used)
                *place = (struct gpu_place){.used = true, .first = level, .bytes = value_bytes(plan, value)};
            place->last = level;
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

// placed: by rising offset.
static size_t find_gap(const struct gpu_place *places, const struct sized *placed, int count,
                       const struct gpu_place *wanted)
{
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (int i = 0; i < count; i++) {
        const struct gpu_place *other = &places[placed[i].value];
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
    plan->places = calloc((size_t)count + 1, sizeof *plan->places);
    struct sized *wanted = malloc(((size_t)count + 1) * sizeof *wanted);
    struct sized *placed = malloc(((size_t)count + 1) * sizeof *placed);
    if (!plan->places || !wanted || !placed) {
        free(wanted);
        free(placed);
        return gpu_plan_fail(plan, "out of memory");
    }
    find_lives(plan);
    for (int v = 0; v < count; v++) {
        if (!plan->places[v].used) continue;
        wanted[wanted_count++] = (struct sized){plan->places[v].bytes, v};
        plan->arena_unshared += plan->places[v].bytes;
    }
    qsort(wanted, (size_t)wanted_count, sizeof *wanted, larger_first);
    for (int i = 0; i < wanted_count; i++) {
        struct gpu_place *place = &plan->places[wanted[i].value];
        place->offset = find_gap(plan->places, placed, i, place);
        if (place->offset + place->bytes > plan->arena_bytes) plan->arena_bytes = place->offset + place->bytes;
        int at = i;
        for (; at > 0 && placed[at - 1].key > place->offset; at--) placed[at] = placed[at - 1];
        placed[at] = (struct sized){place->offset, wanted[i].value};
    }
    free(wanted);
    free(placed);
    if (plan->arena_bytes > plan->caps->max_buffer)
        return gpu_plan_fail(plan, "the values need %zu bytes, the device allows buffers of %zu", plan->arena_bytes,
                             plan->caps->max_buffer);
    return true;
}
