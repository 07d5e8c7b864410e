// SPDX-License-Identifier: Apache-2.0
// See backend_bench.h.
#include "gpu/backend_bench.h"

#include <string.h>

#include "gpu/backend/null.h"

void said(struct messages *messages, const char *word, const char *other)
{
    if (messages->count != 1 || !strstr(messages->last, word) || !strstr(messages->last, other))
        print_error("%d messages, the last: %s\n", messages->count, messages->count ? messages->last : "");
    assert_int_equal(messages->count, 1);
    assert_non_null(strstr(messages->last, word));
    assert_non_null(strstr(messages->last, other));
    messages->count = 0;
}

// clang-format off
const struct gpu_kernel bench_add = {
    .name = "add",
    .group = {8, 4, 1},
    .args = {{GPU_IN, "u"}, {GPU_IN, "v"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, read_u(p) + read_v(p));
    ),
};

const struct gpu_kernel bench_copy = {
    .name = "copy_value",
    .group = {16, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, read_x(p));
    ),
};
// clang-format on

int groups_for(int items, int group)
{
    return (items + group - 1) / group;
}

struct gpu_dispatch over_places(struct gpu_buffer *arena, struct gpu_program *program, const struct gpu_kernel *kernel,
                                int values, const int positions[])
{
    struct gpu_dispatch dispatch = {
        .program = program,
        .buffer_count = values,
        .param_count = gpu_kernel_param_count(kernel),
        .groups = {groups_for(W, kernel->group[0]), groups_for(H, kernel->group[1]), SLICES},
        .label = kernel->name,
    };
    for (int i = 0; i < values; i++) {
        dispatch.buffers[i] = arena;
        dispatch.offsets[i] = (size_t)positions[i] * PLACE;
        dispatch.sizes[i] = FLOATS * sizeof(float);
        dispatch.writes[i] = i == values - 1;
        memcpy(dispatch.params[i], (int32_t[4]){W, H, C, 1}, sizeof dispatch.params[i]);
    }
    return dispatch;
}

struct gpu_program *make_program(const struct bench *bench, const struct gpu_kernel *kernel,
                                 enum gpu_precision precision, unsigned floats, const int *constants)
{
    struct gpu_program_desc desc = {
        .kernel = kernel,
        .precision = precision,
        .floats = floats,
        .constants = constants,
    };
    memcpy(desc.group, kernel->group, sizeof desc.group);
    struct gpu_program *program;
    return bench->backend->programs_create(bench->device, &desc, 1, &program) ? program : NULL;
}

void write_place(struct bench *bench, int position, const void *from, size_t bytes)
{
    assert_true(bench->backend->buffer_write(bench->device, bench->arena, (size_t)position * PLACE, from, bytes));
}

void read_place(struct bench *bench, int position, void *to, size_t bytes)
{
    assert_true(bench->backend->buffer_read(bench->device, bench->arena, (size_t)position * PLACE, to, bytes));
}

bool whole_life(const struct gpu_backend *backend, const struct hl_reporter *reporter, char **text)
{
    float values[FLOATS] = {1};
    uint64_t times[2];
    struct bench bench = {.backend = backend, .device = backend->open(0, reporter)};
    if (!bench.device) return false;
    struct gpu_program *adder = NULL, *copier = NULL;
    struct gpu_list *list = NULL;
    bool ok = (bench.arena = backend->buffer_create(bench.device, ARENA)) &&
              (adder = make_program(&bench, &bench_add, GPU_F32, 0, NULL)) &&
              (copier = make_program(&bench, &bench_copy, GPU_F16S, 0, NULL)) &&
              (list = backend->list_create(bench.device));
    if (ok) {
        struct gpu_dispatch sum = over_places(bench.arena, adder, &bench_add, 3, (int[]){0, 1, 2});
        struct gpu_dispatch back = over_places(bench.arena, copier, &bench_copy, 2, (int[]){2, 0});
        back.label = NULL;
        ok = backend->list_dispatch(list, &sum) && backend->list_barrier(list) && backend->list_dispatch(list, &back) &&
             backend->list_finish(list) &&
             backend->buffer_write(bench.device, bench.arena, PLACE, values, sizeof values) &&
             backend->list_run(list) && backend->list_wait(list) && backend->list_profile(list, times, 2) &&
             backend->buffer_read(bench.device, bench.arena, PLACE, values, sizeof values);
    }
    if (ok && text) *text = gpu_null_text(bench.device);
    backend->list_destroy(list);
    backend->program_destroy(bench.device, adder);
    backend->program_destroy(bench.device, copier);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    return ok;
}
