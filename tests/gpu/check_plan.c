// SPDX-License-Identifier: Apache-2.0
// See check_plan.h. Nothing here calls the code that made the plan.
#include "gpu/check_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- lives --------------------------------------------------------------------------------------

struct life {
    bool used;
    int first, last; // steps
    size_t bytes, begin, end;
    const char *name;
};

static enum gpu_arg_kind kind_of(const struct gpu_plan_step *step, int operand)
{
    int args = 0;
    while (args < GPU_KERNEL_ARGS && step->kernel->args[args].name) args++;
    return operand < args ? step->kernel->args[operand].kind : GPU_IN; // behind its own: what an epilogue adds
}

static size_t bytes_of(const struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape s = value->shape;
    int64_t elements = (int64_t)s.b * s.h * s.w * ((s.c + 3) / 4 * 4);
    if (value->codes) return (size_t)elements;
    size_t element = plan->precision == GPU_F32 || value->exact || elements <= plan->float_elements ? 4 : 2;
    return (size_t)s.b * (size_t)s.h * (size_t)s.w * (size_t)((s.c + 3) / 4 * 4) * element;
}

// An input or output without a position in the arena is what the caller gave or takes: its slices must lie as its
// channels do.
static bool has_own_buffer(const struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape s = value->shape;
    if (plan->allocations[value->id].used || !(value->is_input || value->is_output)) return false;
    assert_true(value->codes || value->exact || plan->precision == GPU_F32 || gpu_elements(s) <= plan->float_elements);
    assert_true(s.c == 4 || (s.w * s.h == 1 && (s.c % 4 == 0 || (s.b == 1 && !value->is_input))));
    return true;
}

// A step uses a value inside of this one, which is there as soon as one of these is written.
static void touch_whole(struct life *life, const struct gpu_plan *plan, const struct gpu_value *whole, int step,
                        bool writes)
{
    if (!life->used && writes)
        *life = (struct life){.used = true, .first = step, .bytes = bytes_of(plan, whole), .name = whole->name};
    if (life->used) life->last = step;
}

static struct life *find_lives(const struct gpu_plan *plan)
{
    struct life *lives = calloc((size_t)plan->graph->value_count + 1, sizeof *lives);
    assert_non_null(lives);
    for (int s = 0; s < plan->step_count; s++) {
        const struct gpu_plan_step *step = &plan->steps[s];
        for (int writes = 0; writes < 2; writes++) // what a step reads is there before it writes
            for (int i = 0; i < step->operand_count; i++) {
                const struct gpu_value *value = step->operands[i].value;
                enum gpu_arg_kind kind = kind_of(step, i);
                if (!value || step->operands[i].outside || gpu_arg_is_raw(kind)) continue;
                if (gpu_arg_is_written(kind) != writes) continue;
                if (has_own_buffer(plan, value)) continue;
                if (value->inside) touch_whole(&lives[value->inside->id], plan, value->inside, s, writes);
                struct life *life = &lives[value->id];
                if (!life->used && !writes)
                    fail_msg("step %d (%s) reads %s, value %d, which nothing has written", s, step->label, value->name,
                             value->id);
                if (!life->used)
                    *life = (struct life){
                        .used = true,
                        .first = s,
                        .bytes = bytes_of(plan, value),
                        .name = value->name,
                    };
                life->last = s;
            }
    }
    return lives;
}

// ---- positions -------------------------------------------------------------------------------------

static void check_places(const struct gpu_plan *plan, struct life *lives)
{
    size_t sum = 0;
    for (int v = 0; v < plan->graph->value_count; v++) {
        struct life *life = &lives[v];
        const struct gpu_allocation *position = &plan->allocations[v];
        if (!life->used) continue;
        assert_true(position->used);
        assert_int_equal(position->offset % 256, 0);
        assert_true(position->bytes >= life->bytes);
        assert_true(position->offset <= plan->arena_bytes && position->bytes <= plan->arena_bytes - position->offset);
        life->begin = position->offset;
        life->end = position->offset + position->bytes;
        const struct gpu_value *whole = plan->graph->values[v]->inside;
        if (whole) {
            const struct gpu_allocation *around = &plan->allocations[whole->id];
            assert_true(around->used && position->offset >= around->offset);
            assert_true(position->offset + position->bytes <= around->offset + around->bytes);
        } else {
            sum += position->bytes;
        }
    }
    assert_true(plan->arena_bytes <= sum);
    assert_int_equal(plan->arena_unshared, sum);
}

static void check_overlaps(const struct gpu_plan *plan, const struct life *lives)
{
    int values = plan->graph->value_count;
    for (int a = 0; a < values; a++)
        for (int b = a + 1; b < values && lives[a].used; b++) {
            if (!lives[b].used || lives[a].first > lives[b].last || lives[b].first > lives[a].last) continue;
            if (lives[a].begin >= lives[b].end || lives[b].begin >= lives[a].end) continue;
            if (plan->graph->values[a]->inside == plan->graph->values[b] ||
                plan->graph->values[b]->inside == plan->graph->values[a])
                continue;
            fail_msg("value %d, at %zu..%zu in steps %d to %d, and value %d, at %zu..%zu in steps %d to %d share bytes",
                     a, lives[a].begin, lives[a].end, lives[a].first, lives[a].last, b, lives[b].begin, lives[b].end,
                     lives[b].first, lives[b].last);
        }
}

static void check_total(const struct gpu_plan *plan, const struct life *lives)
{
    for (int s = 0; s < plan->step_count; s++) {
        size_t alive = 0;
        for (int v = 0; v < plan->graph->value_count; v++)
            if (lives[v].used && lives[v].first <= s && s <= lives[v].last && !plan->graph->values[v]->inside)
                alive += lives[v].bytes;
        if (alive > plan->arena_bytes)
            fail_msg("in step %d values of %zu bytes are alive, in an arena of %zu", s, alive, plan->arena_bytes);
    }
}

static void check_limits(const struct gpu_plan *plan)
{
    for (int s = 0; s < plan->step_count; s++) {
        const struct gpu_plan_step *step = &plan->steps[s];
        // A driver may take a kernel with many registers in smaller groups than it names: NVIDIA's OpenCL up to 256.
        if (step->kernel->integers && step->kernel->shared[0])
            assert_true(step->group[0] * step->group[1] * step->group[2] <= 256);
        int size = 1;
        assert_in_range(step->operand_count, 1, GPU_MAX_BUFFERS);
        for (int axis = 0; axis < 3; axis++) {
            assert_in_range(step->group[axis], 1, plan->caps->max_group[axis]);
            assert_in_range(step->groups[axis], 1, plan->caps->max_groups[axis]);
            size *= step->group[axis];
        }
        assert_in_range(size, 1, plan->caps->max_group_size);
    }
}

void check_plan(const struct gpu_plan *plan)
{
    struct life *lives = find_lives(plan);
    check_places(plan, lives);
    check_overlaps(plan, lives);
    check_total(plan, lives);
    check_limits(plan);
    free(lives);
}

// ---- each plan on its way to a device -----------------------------------------------------------

static int count;

int check_plan_count(void)
{
    return count;
}

enum { MAX_KERNELS = 1024 };
static const struct gpu_kernel *used[MAX_KERNELS];
static int used_count;

bool check_plan_used(const struct gpu_kernel *kernel)
{
    for (int i = 0; i < used_count; i++)
        if (used[i] == kernel) return true;
    return false;
}

static void note_kernels(const struct gpu_plan *plan)
{
    for (int s = 0; s < plan->step_count; s++) {
        if (check_plan_used(plan->steps[s].kernel)) continue;
        assert_true(used_count < MAX_KERNELS);
        used[used_count++] = plan->steps[s].kernel;
    }
}

struct gpu_runner *__real_gpu_runner_create(struct gpu_plan *plan, struct gpu_program_pool *pool);
struct gpu_runner *__wrap_gpu_runner_create(struct gpu_plan *plan, struct gpu_program_pool *pool);
struct gpu_runner *__wrap_gpu_runner_create(struct gpu_plan *plan, struct gpu_program_pool *pool)
{
    check_plan(plan);
    note_kernels(plan);
    count++;
    return __real_gpu_runner_create(plan, pool);
}

// ---- barriers -----------------------------------------------------------------------------------

struct touch {
    int buffer;
    size_t begin, end;
    bool writes, part;
};

struct touches {
    struct touch *list;
    int count, capacity;
};

static void add_touch(struct touches *touches, struct touch touch)
{
    if (touches->count == touches->capacity) {
        touches->capacity = touches->capacity * 2 + 64;
        touches->list = realloc(touches->list, (size_t)touches->capacity * sizeof touch);
        assert_non_null(touches->list);
    }
    touches->list[touches->count++] = touch;
}

// "… reads 0@0+1024 1@256+64 writes 2@512+2048 params …", or "writes part of 2@512+2048": in any order with others.
static void add_dispatch(struct touches *touches, const char *line, size_t length)
{
    const char *end = line + length;
    bool writes = false, part = false;
    for (const char *word = line; word < end; word += strcspn(word, " \n") + 1) {
        struct touch touch = {.writes = writes, .part = part};
        size_t bytes;
        if (strncmp(word, "params", 6) == 0 || *word == ';') return;
        if (strncmp(word, "writes", 6) == 0) writes = true;
        if (strncmp(word, "part", 4) == 0) part = true;
        if (sscanf(word, "%d@%zu+%zu", &touch.buffer, &touch.begin, &bytes) != 3) continue;
        touch.end = touch.begin + bytes;
        add_touch(touches, touch);
    }
}

static bool conflict(const struct touches *a, const struct touches *b)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            const struct touch *x = &a->list[i], *y = &b->list[k];
            bool parts = x->part && y->part && x->begin == y->begin && x->end == y->end;
            if (x->buffer == y->buffer && x->begin < y->end && y->begin < x->end && (x->writes || y->writes) && !parts)
                return true;
        }
    return false;
}

static void append(struct touches *to, const struct touches *from)
{
    for (int i = 0; i < from->count; i++) add_touch(to, from->list[i]);
}

void check_barriers(const char *text)
{
    struct touches before = {0}, since = {0}, now = {0}; // in front of the last barrier, behind it, in one dispatch
    int barriers = 0, dispatches = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        bool barrier = strncmp(line, "barrier", 7) == 0, over = strncmp(line, "finish", 6) == 0;
        if (barrier || over) {
            if (barriers > 0 && !conflict(&before, &since))
                fail_msg("barrier %d, before dispatch %d, is not needed", barriers, dispatches);
            struct touches spare = before;
            before = since;
            since = spare;
            since.count = 0;
            barriers++;
        } else if (strncmp(line, "dispatch", 8) == 0) {
            now.count = 0;
            add_dispatch(&now, line, length);
            assert_true(now.count > 0);
            if (conflict(&since, &now))
                fail_msg("a barrier is missing before dispatch %d: %.*s", dispatches, (int)length, line);
            append(&since, &now);
            dispatches++;
        }
        if (!line[length]) break;
    }
    assert_true(dispatches > 0);
    free(before.list);
    free(since.list);
    free(now.list);
}
