// SPDX-License-Identifier: Apache-2.0
// Puts a plan on a device. It uploads the constants, holds a program for each step, and records a command list. A
// barrier comes before a step that uses what an earlier step since the last barrier has written, or that writes what
// one has read.
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/plan.h"

struct gpu_runner {
    struct gpu_plan *plan; // borrowed
    const struct gpu_backend *backend;
    struct gpu_device *device;
    const struct hl_reporter *reporter;
    struct gpu_buffer *arena, *weights;
    size_t weights_bytes;
    struct gpu_buffer **raw; // by value id: inputs and outputs as they are stored outside
    struct bound {
        struct gpu_buffer *buffer; // NULL: none
        size_t offset;
    } * bound;                     // by value id
    bool redone;                   // a binding has changed: the list is recorded again before the next run
    struct gpu_program_pool *pool; // borrowed
    struct gpu_program **programs; // held in the pool; those of the steps come first
    int program_count;
    struct gpu_list *list;
};

enum { WEIGHTS_ALIGNMENT = 256 };

// ---- constants ----------------------------------------------------------------------------------

static size_t weights_bytes(const struct gpu_plan *plan, const struct gpu_weights *weights)
{
    return weights->vectors * gpu_weights_vector_bytes(plan, weights);
}

static bool upload_weights(struct gpu_runner *runner)
{
    struct gpu_plan *plan = runner->plan;
    size_t total = 0;
    for (int i = 0; i < plan->weight_count; i++) {
        plan->weights[i]->offset = total;
        size_t bytes = weights_bytes(plan, plan->weights[i]);
        total += (bytes + WEIGHTS_ALIGNMENT - 1) / WEIGHTS_ALIGNMENT * WEIGHTS_ALIGNMENT;
    }
    runner->weights_bytes = total;
    if (total == 0) return true;
    runner->weights = runner->backend->buffer_create(runner->device, total);
    if (!runner->weights) return false;
    for (int i = 0; i < plan->weight_count; i++) {
        struct gpu_weights *weights = plan->weights[i];
        size_t count = weights->vectors * 4, bytes = weights_bytes(plan, weights);
        if (bytes < count * sizeof(float)) { // in place, because element k of the halves never overwrites a later float
            uint16_t *to = (uint16_t *)(void *)weights->data;
            for (size_t k = 0; k < count; k++) {
                float value;
                memcpy(&value, &weights->data[k], sizeof value);
                uint16_t bits = hl_half_from_float(value);
                memcpy(&to[k], &bits, sizeof bits);
            }
        }
        if (!runner->backend->buffer_write(runner->device, runner->weights, weights->offset, weights->data, bytes))
            return false;
        free(weights->data);
        weights->data = NULL;
    }
    return true;
}

// ---- buffers ------------------------------------------------------------------------------------

// Rounded up to whole vectors.
static bool create_raw(struct gpu_runner *runner, const struct gpu_value *value)
{
    size_t bytes = (gpu_caller_bytes(value) + 15) / 16 * 16;
    const struct gpu_backend *backend = runner->backend;
    runner->raw[value->id] = backend->buffer_create_for_host
                                 ? backend->buffer_create_for_host(runner->device, bytes, value->is_input)
                                 : backend->buffer_create(runner->device, bytes);
    return runner->raw[value->id] != NULL;
}

static bool create_buffers(struct gpu_runner *runner)
{
    const struct gpu_plan *plan = runner->plan;
    if (plan->arena_bytes && !(runner->arena = runner->backend->buffer_create(runner->device, plan->arena_bytes)))
        return false;
    runner->raw = calloc((size_t)plan->graph->value_count + 1, sizeof *runner->raw);
    runner->bound = calloc((size_t)plan->graph->value_count + 1, sizeof *runner->bound);
    if (!runner->raw || !runner->bound) {
        hl_report(runner->reporter, "TfLiteGpuDelegate Init: out of memory");
        return false;
    }
    for (int v = 0; v < plan->graph->value_count; v++) {
        const struct gpu_value *value = plan->graph->values[v];
        if ((value->is_input || value->is_output) && !create_raw(runner, value)) return false;
    }
    return true;
}

// ---- programs -----------------------------------------------------------------------------------

static size_t operand_vector_bytes(const struct gpu_plan *plan, const struct gpu_operand *operand)
{
    if (operand->weights) return gpu_weights_vector_bytes(plan, operand->weights);
    if (!operand->outside) return gpu_value_vector_bytes(plan, operand->value);
    enum gpu_format format = gpu_caller_format(operand->value);
    return format == GPU_FORMAT_VECTORS || format == GPU_FORMAT_FLOAT_PIXELS ? 16 : 8;
}

// A bit for each operand that is stored as floats. *halves: whether some operand is stored as halves.
static unsigned floats_of(const struct gpu_plan *plan, const struct gpu_plan_step *step, bool *halves)
{
    unsigned floats = 0;
    *halves = false;
    for (int i = 0; i < step->operand_count; i++) {
        const struct gpu_operand *operand = &step->operands[i];
        const bool is_residual = i >= gpu_kernel_arg_count(step->kernel);
        if (is_residual ? operand->outside : !gpu_arg_is_real(step->kernel->args[i].kind)) continue;
        if (operand_vector_bytes(plan, operand) == 16)
            floats |= 1u << i;
        else
            *halves = true;
    }
    return floats;
}

// No kernel declares half arithmetic, so GPU_F16 is made as GPU_F16S: docs/kernel_dialect.md, "What f16 means".
static struct gpu_program_desc describe(const struct gpu_plan *plan, const struct gpu_plan_step *step)
{
    bool halves;
    unsigned floats = floats_of(plan, step, &halves);
    struct gpu_program_desc desc = {
        .kernel = step->kernel,
        .precision = halves ? GPU_F16S : GPU_F32,
        .floats = halves ? floats : 0,
        .constants = step->constants,
    };
    memcpy(desc.group, step->group, sizeof desc.group);
    return desc;
}

static struct gpu_program_desc to_dense_desc(void)
{
    static const int no_constants[1];
    const struct gpu_kernel *kernel = &gpu_kernel_to_dense;
    return (struct gpu_program_desc){.kernel = kernel,
                                     .precision = GPU_F32,
                                     .constants = no_constants,
                                     .group = {kernel->group[0], kernel->group[1], kernel->group[2]}};
}

static bool hold_programs(struct gpu_runner *runner)
{
    const struct gpu_plan *plan = runner->plan;
    struct gpu_program_desc *descs = calloc((size_t)plan->step_count + 1, sizeof *descs);
    struct gpu_program **programs = calloc((size_t)plan->step_count + 1, sizeof *programs);
    bool ok = descs && programs;
    if (!ok) hl_report(runner->reporter, "TfLiteGpuDelegate Init: out of memory");
    for (int s = 0; s < plan->step_count && ok; s++) descs[s] = describe(plan, &plan->steps[s]);
    runner->program_count = plan->step_count;
    if (ok && plan->wants_to_dense) descs[runner->program_count++] = to_dense_desc();
    ok = ok && gpu_programs_hold(runner->pool, descs, runner->program_count, programs);
    free(descs);
    if (ok)
        runner->programs = programs;
    else
        free(programs);
    return ok;
}

// ---- the list -----------------------------------------------------------------------------------

// The ranges of bytes that steps since the last barrier have read or written.
struct range {
    const struct gpu_buffer *buffer;
    size_t begin, end;
    bool written, part;
};
struct hazards {
    struct range *ranges;
    int count;
};

static struct range range_of(const struct gpu_dispatch *dispatch, int i)
{
    return (struct range){dispatch->buffers[i], dispatch->offsets[i], dispatch->offsets[i] + dispatch->sizes[i],
                          dispatch->writes[i], dispatch->part && dispatch->writes[i]};
}

static bool conflicts(const struct hazards *hazards, const struct range *wanted)
{
    for (int i = 0; i < hazards->count; i++) {
        const struct range *range = &hazards->ranges[i];
        bool parts = wanted->part && range->part && wanted->begin == range->begin && wanted->end == range->end;
        if (wanted->buffer == range->buffer && wanted->begin < range->end && range->begin < wanted->end &&
            (wanted->written || range->written) && !parts)
            return true;
    }
    return false;
}

static bool operand_writes(const struct gpu_plan_step *step, int operand)
{
    if (operand >= gpu_kernel_arg_count(step->kernel)) return false;
    return gpu_arg_is_written(step->kernel->args[operand].kind);
}

// Fills in the buffer and the range of an operand.
static void locate(const struct gpu_runner *runner, const struct gpu_plan_step *step, int i,
                   struct gpu_dispatch *dispatch)
{
    const struct gpu_operand *operand = &step->operands[i];
    dispatch->writes[i] = operand_writes(step, i);
    if (operand->weights) {
        dispatch->buffers[i] = runner->weights;
        dispatch->offsets[i] = operand->weights->offset;
        dispatch->sizes[i] = weights_bytes(runner->plan, operand->weights);
    } else if (gpu_plan_is_outside(runner->plan, step, i)) {
        dispatch->buffers[i] = gpu_runner_buffer(runner, operand->value, &dispatch->offsets[i]);
        dispatch->sizes[i] = gpu_plan_raw_bytes(runner->plan, operand->value);
    } else {
        const struct gpu_allocation *allocation = &runner->plan->allocations[operand->value->id];
        dispatch->buffers[i] = runner->arena;
        dispatch->offsets[i] = allocation->offset;
        dispatch->sizes[i] = allocation->bytes;
    }
}

// Whether the host writes halves where the device takes this input from.
static bool is_narrowed(const struct gpu_runner *runner, const struct gpu_value *value)
{
    return !runner->bound[value->id].buffer && gpu_plan_narrows(runner->plan, value);
}

static bool record_step(struct gpu_runner *runner, int number, struct hazards *hazards)
{
    const struct gpu_plan_step *step = &runner->plan->steps[number];
    struct gpu_dispatch dispatch = {
        .program = runner->programs[number],
        .buffer_count = step->operand_count,
        .param_count = gpu_kernel_param_count(step->kernel),
        .groups = {step->groups[0], step->groups[1], step->groups[2]},
        .part = step->part,
        .label = step->label,
    };
    memcpy(dispatch.params, step->params, sizeof dispatch.params);
    if (step->kernel->narrows)
        dispatch.params[gpu_kernel_shape_count(step->kernel)][0] = is_narrowed(runner, step->operands[0].value);
    bool barrier = false;
    for (int i = 0; i < step->operand_count; i++) {
        locate(runner, step, i, &dispatch);
        struct range range = range_of(&dispatch, i);
        barrier = barrier || conflicts(hazards, &range);
    }
    if (barrier) {
        hazards->count = 0;
        if (!runner->backend->list_barrier(runner->list)) return false;
    }
    for (int i = 0; i < step->operand_count; i++) hazards->ranges[hazards->count++] = range_of(&dispatch, i);
    return runner->backend->list_dispatch(runner->list, &dispatch);
}

static bool record(struct gpu_runner *runner)
{
    const struct gpu_plan *plan = runner->plan;
    runner->redone = false;
    struct hazards hazards = {.ranges =
                                  malloc(((size_t)plan->step_count * GPU_MAX_BUFFERS + 1) * sizeof *hazards.ranges)};
    bool ok = hazards.ranges != NULL;
    if (!ok) hl_report(runner->reporter, "TfLiteGpuDelegate Init: out of memory");
    ok = ok && (runner->list = runner->backend->list_create(runner->device));
    for (int s = 0; s < plan->step_count && ok; s++) ok = record_step(runner, s, &hazards);
    free(hazards.ranges);
    return ok && runner->backend->list_finish(runner->list);
}

// ---- interface ----------------------------------------------------------------------------------

struct gpu_runner *gpu_runner_create(struct gpu_plan *plan, struct gpu_program_pool *pool)
{
    struct gpu_runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        hl_report(plan->reporter, "TfLiteGpuDelegate Init: out of memory");
        return NULL;
    }
    *runner = (struct gpu_runner){
        .plan = plan,
        .backend = pool->backend,
        .device = pool->device,
        .pool = pool,
        .reporter = plan->reporter,
    };
    if (upload_weights(runner) && create_buffers(runner) && hold_programs(runner) && record(runner)) return runner;
    gpu_runner_destroy(runner);
    return NULL;
}

void gpu_runner_destroy(struct gpu_runner *runner)
{
    if (!runner) return;
    const struct gpu_backend *backend = runner->backend;
    if (runner->list) backend->list_destroy(runner->list);
    if (runner->programs) gpu_programs_release(runner->pool, runner->programs, runner->program_count);
    for (int v = 0; runner->raw && v < runner->plan->graph->value_count; v++)
        backend->buffer_destroy(runner->device, runner->raw[v]);
    backend->buffer_destroy(runner->device, runner->arena);
    backend->buffer_destroy(runner->device, runner->weights);
    free(runner->raw);
    free(runner->bound);
    free(runner->programs);
    free(runner);
}

static bool run_list(struct gpu_runner *runner, uint64_t *nanoseconds)
{
    const struct gpu_backend *backend = runner->backend;
    if (!nanoseconds) return backend->list_run(runner->list); // reading waits for the run
    if (backend->list_profile) return backend->list_profile(runner->list, nanoseconds, runner->plan->step_count);
    hl_report(runner->reporter, "%s has no clock for kernels: do not profile on it", backend->name);
    return false;
}

// ---- runs ---------------------------------------------------------------------------------------

struct gpu_buffer *gpu_runner_buffer(const struct gpu_runner *runner, const struct gpu_value *value, size_t *offset)
{
    const struct bound *bound = &runner->bound[value->id];
    *offset = bound->buffer ? bound->offset : 0;
    return bound->buffer ? bound->buffer : runner->raw[value->id];
}

bool gpu_runner_bind(struct gpu_runner *runner, const struct gpu_value *value, struct gpu_buffer *buffer, size_t offset)
{
    struct bound *bound = &runner->bound[value->id];
    if (bound->buffer == buffer && (!buffer || bound->offset == offset)) return true;
    if (!gpu_runner_wait(runner)) return false; // the list may be running
    *bound = (struct bound){buffer, offset};
    runner->redone = true;
    return true;
}

static bool record_again(struct gpu_runner *runner)
{
    if (!runner->redone) return true;
    runner->backend->list_destroy(runner->list);
    runner->list = NULL;
    return record(runner);
}

// ---- recordings ---------------------------------------------------------------------------------

struct gpu_recording {
    struct bound *bound;
    struct gpu_list *list;
    bool redone;
};

struct gpu_recording *gpu_recording_create(const struct gpu_runner *runner)
{
    struct gpu_recording *recording = calloc(1, sizeof *recording);
    if (recording) recording->bound = calloc((size_t)runner->plan->graph->value_count, sizeof *recording->bound);
    if (recording && recording->bound) {
        recording->redone = true;
        return recording;
    }
    hl_report(runner->reporter, "out of memory");
    free(recording);
    return NULL;
}

void gpu_recording_destroy(const struct gpu_runner *runner, struct gpu_recording *recording)
{
    if (!recording) return;
    if (recording->list) runner->backend->list_destroy(recording->list);
    free(recording->bound);
    free(recording);
}

void gpu_runner_exchange(struct gpu_runner *runner, struct gpu_recording *recording)
{
    struct gpu_recording own = {runner->bound, runner->list, runner->redone};
    runner->bound = recording->bound;
    runner->list = recording->list;
    runner->redone = recording->redone;
    *recording = own;
}

// ---- copies -------------------------------------------------------------------------------------

static bool send(struct gpu_runner *runner, const struct gpu_value *value, const void *from)
{
    const struct gpu_backend *backend = runner->backend;
    size_t offset;
    struct gpu_buffer *buffer = gpu_runner_buffer(runner, value, &offset);
    if (is_narrowed(runner, value))
        return backend->buffer_write_halves(runner->device, buffer, offset, from, (size_t)gpu_elements(value->shape));
    return (backend->buffer_send ? backend->buffer_send : backend->buffer_write)(runner->device, buffer, offset, from,
                                                                                 gpu_caller_bytes(value));
}

// Makes the list ready and copies the inputs that come from the host.
static bool write_inputs(struct gpu_runner *runner, const void *const *inputs)
{
    const struct gpu_graph *graph = runner->plan->graph;
    int input = 0;
    if (!record_again(runner)) {
        runner->redone = true;
        return false;
    }
    for (int v = 0; v < graph->value_count; v++) {
        const struct gpu_value *value = graph->values[v];
        const void *from = value->is_input ? inputs[input++] : NULL;
        if (from && !send(runner, value, from)) return false;
    }
    return true;
}

bool gpu_runner_run(struct gpu_runner *runner, const void *const *inputs, void *const *outputs, uint64_t *nanoseconds)
{
    const struct gpu_graph *graph = runner->plan->graph;
    int output = 0;
    if (!write_inputs(runner, inputs) || !run_list(runner, nanoseconds)) return false;
    for (int v = 0; v < graph->value_count; v++) {
        const struct gpu_value *value = graph->values[v];
        void *to = value->is_output ? outputs[output++] : NULL;
        if (to && !gpu_runner_read(runner, value, to)) return false;
    }
    return true;
}

bool gpu_runner_encode(struct gpu_runner *runner, const void *const *inputs, void *commands)
{
    return write_inputs(runner, inputs) && runner->backend->list_encode(runner->list, commands);
}

bool gpu_runner_wait(struct gpu_runner *runner)
{
    return !runner->list || runner->backend->list_wait(runner->list);
}

bool gpu_runner_rehearse(struct gpu_runner *runner)
{
    const struct gpu_graph *graph = runner->plan->graph;
    size_t most = 0;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v]->is_input && gpu_caller_bytes(graph->values[v]) > most)
            most = gpu_caller_bytes(graph->values[v]);
    void *zeros = calloc(1, most + 1); // other bytes might be indices beyond what they index
    bool ok = zeros != NULL;
    if (!ok) hl_report(runner->reporter, "TfLiteGpuDelegate Init: out of memory");
    for (int v = 0; v < graph->value_count && ok; v++)
        if (graph->values[v]->is_input) ok = gpu_runner_write(runner, graph->values[v], zeros);
    free(zeros);
    return ok && runner->backend->list_run(runner->list) && gpu_runner_wait(runner);
}

bool gpu_runner_read(struct gpu_runner *runner, const struct gpu_value *value, void *to)
{
    size_t offset;
    struct gpu_buffer *buffer = gpu_runner_buffer(runner, value, &offset);
    return runner->backend->buffer_read(runner->device, buffer, offset, to, gpu_caller_bytes(value));
}

size_t gpu_runner_moved_bytes(const struct gpu_runner *runner, const struct gpu_value *value)
{
    return gpu_caller_bytes(value) / (is_narrowed(runner, value) ? 2 : 1);
}

bool gpu_runner_write(struct gpu_runner *runner, const struct gpu_value *value, const void *from)
{
    size_t offset;
    struct gpu_buffer *buffer = gpu_runner_buffer(runner, value, &offset);
    if (is_narrowed(runner, value)) return send(runner, value, from);
    return runner->backend->buffer_write(runner->device, buffer, offset, from, gpu_caller_bytes(value));
}
