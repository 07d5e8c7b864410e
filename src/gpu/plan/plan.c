// SPDX-License-Identifier: Apache-2.0
// What operators add to a plan: dispatches, weights, scratch values. Each dispatch is checked against the kernel's
// table and the device's limits and becomes a step. See plan.h.
#include "gpu/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/copier.h"
#include "base/grow.h"
#include "gpu/graph/op.h"

// ---- sizes of a kernel's tables, without what the emitter adds -----------------------

static int own_constant_count(const struct gpu_kernel *kernel)
{
    return gpu_kernel_constant_count(kernel) - (kernel->epilogue ? GPU_EPILOGUE_STAGES : 0);
}

static int own_param_count(const struct gpu_kernel *kernel)
{
    return gpu_kernel_param_count(kernel) - gpu_kernel_shape_count(kernel) -
           (kernel->epilogue ? GPU_EPILOGUE_STAGES / 2 : 0);
}

// ---- messages -----------------------------------------------------------------------------------

bool gpu_plan_fail(struct gpu_plan *plan, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (plan->node)
        hl_report(plan->reporter, "TfLiteGpuDelegate Init: %s (node %d): %s", gpu_node_name(plan->node),
                  plan->node->index, text);
    else
        hl_report(plan->reporter, "TfLiteGpuDelegate Init: %s", text);
    return false;
}

// ---- pieces of a dispatch -----------------------------------------------------------------------

// channels: for each stage, the index of the first vector of its numbers for channels.
static void fill_params(struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc, const int *channels)
{
    const struct gpu_kernel *kernel = desc->kernel;
    int at = 0;
    for (int i = 0; i < gpu_kernel_arg_count(kernel); i++) {
        if (!gpu_arg_is_value(kernel->args[i].kind)) continue;
        struct gpu_shape shape = desc->views[i].b ? desc->views[i] : desc->operands[i].value->shape;
        int32_t sizes[4] = {shape.w, shape.h, shape.c, shape.b};
        memcpy(step->params[at++], sizes, sizeof sizes);
    }
    for (int i = 0; i < own_param_count(kernel); i++)
        memcpy(step->params[at++], desc->params[i], sizeof desc->params[i]);
    if (!kernel->epilogue || !desc->epilogue) return;
    for (int s = 0; s < desc->epilogue->count; s++) {
        int32_t *operands = &step->params[at + s / 2][s % 2 * 2];
        operands[0] = desc->epilogue->stages[s].channels ? channels[s] : gpu_float_bits(desc->epilogue->stages[s].a);
        operands[1] = gpu_stage_reads_fewer(desc->epilogue, s) ? desc->epilogue->residual_slices
                                                               : gpu_float_bits(desc->epilogue->stages[s].b);
    }
}

static bool fill_constants(struct gpu_plan *plan, struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    int own = own_constant_count(kernel);
    for (int i = 0; i < own; i++) step->constants[i] = kernel->constants[i].value;
    for (int d = 0; d < GPU_KERNEL_CONSTANTS && desc->constants[d].name; d++) {
        int i = 0;
        while (i < own && strcmp(kernel->constants[i].name, desc->constants[d].name) != 0) i++;
        if (i == own) return gpu_plan_fail(plan, "kernel %s has no constant %s", kernel->name, desc->constants[d].name);
        step->constants[i] = desc->constants[d].value;
    }
    if (kernel->epilogue && desc->epilogue)
        for (int s = 0; s < desc->epilogue->count; s++)
            step->constants[own + s] = gpu_stage_constant(desc->epilogue, s);
    return true;
}

// The value that is written where this one is read.
static const struct gpu_value *written(const struct gpu_value *value)
{
    return value && value->seen ? value->seen : value;
}

static bool fill_operands(struct gpu_plan *plan, struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    step->operand_count = gpu_kernel_arg_count(kernel);
    for (int i = 0; i < step->operand_count; i++) {
        enum gpu_arg_kind kind = kernel->args[i].kind;
        bool weights = (kind == GPU_WEIGHTS || kind == GPU_INTS) && desc->operands[i].weights;
        if (!weights && !desc->operands[i].value)
            return gpu_plan_fail(plan, "kernel %s gets no %s", kernel->name, kernel->args[i].name);
        step->operands[i] = desc->operands[i];
        step->operands[i].value = written(desc->operands[i].value);
    }
    if (!kernel->epilogue) return true;
    // Every program of an epilogue kernel has a binding for the residual. Without a residual the first operand fills
    // it, which is read.
    struct gpu_operand residual = step->operands[0];
    residual.outside = residual.outside || gpu_arg_is_raw(kernel->args[0].kind);
    if (desc->epilogue && desc->epilogue->residual)
        residual = (struct gpu_operand){.value = written(desc->epilogue->residual)};
    step->operands[step->operand_count++] = residual;
    return true;
}

// Adds the numbers of a constant behind the vectors that the weights have. Returns the index of the first vector; -1
// without memory.
static int append_channels(struct gpu_weights *weights, const struct gpu_value *numbers)
{
    const size_t first = weights->vectors, count = (size_t)gpu_elements(numbers->shape), more = (count + 3) / 4;
    float *data = realloc(weights->data, 4 * (first + more) * sizeof *data);
    if (!data) return -1;
    memset(data + 4 * first, 0, 4 * more * sizeof *data);
    memcpy(data + 4 * first, numbers->data, count * sizeof *data);
    weights->data = data;
    weights->vectors = first + more;
    return (int)first;
}

// Returns the constants that are to take the numbers of channels: those of the kernel where r_ is a value, or new ones.
static struct gpu_weights *weights_for_channels(struct gpu_plan *plan, struct gpu_plan_step *step, bool is_value)
{
    const int arg = gpu_kernel_weights_arg(step->kernel);
    for (int i = 0; i < plan->weight_count && is_value && arg >= 0; i++)
        if (plan->weights[i] == step->operands[arg].weights) return plan->weights[i];
    if (is_value) {
        gpu_plan_fail(plan, "kernel %s has no constants behind which numbers of channels could be", step->kernel->name);
        return NULL;
    }
    struct gpu_weights *weights = gpu_plan_weights(plan, 0);
    step->operands[step->operand_count - 1] = (struct gpu_operand){.weights = weights};
    return weights;
}

static bool fill_channels(struct gpu_plan *plan, struct gpu_plan_step *step, const struct gpu_epilogue *epilogue,
                          int *channels)
{
    if (!step->kernel->epilogue || !epilogue || !gpu_reads_channels(epilogue)) return true;
    struct gpu_weights *weights = weights_for_channels(plan, step, epilogue->residual != NULL);
    if (!weights) return false;
    for (int s = 0; s < epilogue->count; s++) {
        if (!epilogue->stages[s].channels) continue;
        channels[s] = append_channels(weights, epilogue->stages[s].channels);
        if (channels[s] < 0) return gpu_plan_fail(plan, "out of memory for numbers of channels");
    }
    return true;
}

static int group_count(const struct gpu_dispatch_desc *desc, const int group[3], int axis)
{
    int grid = desc->grid[axis] ? desc->grid[axis] : 1;
    return (int)(((int64_t)grid + group[axis] - 1) / group[axis]);
}

// A long axis may need more groups than the device allows. Groups then become longer along this axis and shorter along
// the others. This is possible for kernels without shared memory, which do not depend on the shape of a group.
static void stretch_group(struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc, const struct gpu_caps *caps)
{
    int *group = step->group;
    for (int axis = 0; axis < 3; axis++)
        while (group_count(desc, group, axis) > caps->max_groups[axis] && 2 * group[axis] <= caps->max_group[axis] &&
               2 * group[axis] <= caps->max_group_size) {
            group[axis] *= 2;
            for (int i = 1; i < 3 && group[0] * group[1] * group[2] > caps->max_group_size; i++) {
                int other = (axis + i) % 3;
                while (group[other] > 1 && group[0] * group[1] * group[2] > caps->max_group_size)
                    group[other] = (group[other] + 1) / 2;
            }
        }
}

static bool fill_grid(struct gpu_plan *plan, struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc)
{
    for (int axis = 0; axis < 3; axis++)
        step->group[axis] = desc->group[axis] ? desc->group[axis] : desc->kernel->group[axis];
    if (!desc->kernel->shared[0]) stretch_group(step, desc, plan->caps);
    for (int axis = 0; axis < 3; axis++) {
        step->groups[axis] = group_count(desc, step->group, axis);
        if (step->groups[axis] > plan->caps->max_groups[axis])
            return gpu_plan_fail(plan, "kernel %s needs %d work-groups on axis %d, the device allows %d",
                                 desc->kernel->name, step->groups[axis], axis, plan->caps->max_groups[axis]);
    }
    int size = step->group[0] * step->group[1] * step->group[2];
    if (size > plan->caps->max_group_size)
        return gpu_plan_fail(plan, "kernel %s has work-groups of %d, the device allows %d", desc->kernel->name, size,
                             plan->caps->max_group_size);
    return true;
}

// ---- for ops ------------------------------------------------------------------------------------

// Only kernels that some operator lists are compiled to SPIR-V. The check runs on every backend, so that a missing
// entry does not show on Vulkan alone.
static bool check_listed(struct gpu_plan *plan, const struct gpu_kernel *kernel)
{
    if (!plan->node) return true;
    for (const struct gpu_kernel *const *listed = plan->node->op->kernels; *listed; listed++)
        if (*listed == kernel) return true;
    return gpu_plan_fail(plan, "kernel %s is not among the operator's .kernels", kernel->name);
}

bool gpu_plan_dispatch(struct gpu_plan *plan, const struct gpu_dispatch_desc *desc)
{
    if (!check_listed(plan, desc->kernel)) return false;
    struct gpu_plan_step *steps = hl_grow(plan->steps, plan->step_count, &plan->step_capacity, sizeof *steps);
    if (!steps) return gpu_plan_fail(plan, "out of memory");
    plan->steps = steps;
    struct gpu_plan_step *step = &steps[plan->step_count];
    *step =
        (struct gpu_plan_step){.kernel = desc->kernel, .node = plan->node, .tuned = desc->tuned, .part = desc->part};
    if (plan->node)
        snprintf(step->label, sizeof step->label, "%s %d %s", gpu_node_name(plan->node), plan->node->index,
                 desc->kernel->name);
    else
        snprintf(step->label, sizeof step->label, "%s", desc->kernel->name);
    int channels[GPU_EPILOGUE_STAGES];
    if (!fill_operands(plan, step, desc) || !fill_channels(plan, step, desc->epilogue, channels) ||
        !fill_constants(plan, step, desc) || !fill_grid(plan, step, desc))
        return false;
    fill_params(step, desc, channels);
    plan->step_count++;
    return true;
}

struct gpu_weights *gpu_plan_weights(struct gpu_plan *plan, size_t vectors)
{
    struct gpu_weights *weights = calloc(1, sizeof *weights);
    if (weights) weights->data = calloc(vectors ? 4 * vectors : 4, sizeof *weights->data);
    struct gpu_weights **all = hl_grow(plan->weights, plan->weight_count, &plan->weight_capacity, sizeof *all);
    if (all) plan->weights = all;
    if (!weights || !weights->data || !all) {
        if (weights) free(weights->data);
        free(weights);
        gpu_plan_fail(plan, "out of memory for %zu vectors of weights", vectors);
        return NULL;
    }
    weights->vectors = vectors ? vectors : 1;
    all[plan->weight_count++] = weights;
    return weights;
}

struct gpu_weights *gpu_plan_integers(struct gpu_plan *plan, size_t vectors)
{
    struct gpu_weights *weights = gpu_plan_weights(plan, vectors);
    if (weights) weights->exact = true; // as 32 bits in every precision
    return weights;
}

struct gpu_value *gpu_plan_scratch(struct gpu_plan *plan, struct gpu_shape shape)
{
    return gpu_graph_add_value(plan->graph, "scratch", shape);
}

struct gpu_value *gpu_plan_scratch_like(struct gpu_plan *plan, const struct gpu_value *other, struct gpu_shape shape)
{
    struct gpu_value *value = gpu_plan_scratch(plan, shape);
    if (!value || !other->codes) return value;
    value->codes = true;
    value->quantization = other->quantization;
    return value;
}

bool gpu_plan_put_inside(struct gpu_plan *plan, const struct gpu_value *part, const struct gpu_value *whole,
                         size_t vectors)
{
    const struct gpu_value *value = written(part);
    size_t bytes = gpu_value_vector_bytes(plan, value);
    bool fits = bytes == gpu_value_vector_bytes(plan, whole) && vectors * bytes % GPU_ALIGNMENT == 0;
    bool free = !value->data && !value->is_input && !gpu_plan_is_direct(plan, value);
    if (!fits || !free || value->inside || value->has_parts) return false;
    if (whole->is_input || whole->inside || gpu_plan_is_direct(plan, whole)) return false;
    struct gpu_value *const *values = plan->graph->values;
    values[value->id]->inside = values[whole->id];
    values[value->id]->inside_at = vectors;
    values[whole->id]->has_parts = true;
    return true;
}

bool gpu_plan_see(struct gpu_plan *plan, const struct gpu_value *value, const struct gpu_value *other)
{
    const bool alike =
        value->codes == other->codes && gpu_value_vector_bytes(plan, value) == gpu_value_vector_bytes(plan, other);
    if (!alike || other->data || value->is_output || gpu_plan_is_direct(plan, other)) return false;
    struct gpu_value *const *values = plan->graph->values;
    values[value->id]->seen = values[written(other)->id];
    return true;
}

bool gpu_plan_may_read_dense(const struct gpu_plan *plan, const struct gpu_value *value)
{
    const enum gpu_format format = gpu_caller_format(value);
    return value->is_input && !value->is_output && !value->codes && value->consumers == 1 &&
           (format == GPU_FORMAT_FLOATS || format == GPU_FORMAT_BYTES) && !gpu_plan_is_direct(plan, value);
}

bool gpu_plan_may_write_dense(const struct gpu_plan *plan, const struct gpu_value *value)
{
    return value->is_output && !value->is_input && !value->codes && value->consumers == 0 &&
           gpu_caller_format(value) == GPU_FORMAT_FLOATS && !gpu_plan_is_direct(plan, value);
}

void gpu_grid_over(struct gpu_dispatch_desc *desc, struct gpu_shape over)
{
    desc->grid[0] = over.w;
    desc->grid[1] = over.h;
    desc->grid[2] = gpu_slices(over) * over.b;
}

int gpu_rows_per_group(const struct gpu_caps *caps, int width, int64_t rows)
{
    int height = width < 64 ? 64 / width : 1;
    while (rows > (int64_t)caps->max_groups[1] * height && 2 * width * height <= caps->max_group_size) height *= 2;
    return height;
}

// ---- how values are stored -----------------------------------------------------------------------

size_t gpu_plan_vector_bytes(const struct gpu_plan *plan, size_t vectors, bool exact)
{
    return plan->precision == GPU_F32 || exact || 4 * vectors <= (size_t)plan->float_elements ? 16 : 8;
}

size_t gpu_caller_bytes(const struct gpu_value *value)
{
    size_t elements = (size_t)gpu_elements(value->shape);
    size_t pixels = (size_t)value->shape.b * (size_t)value->image.height * (size_t)value->image.row;
    switch (gpu_caller_format(value)) {
    case GPU_FORMAT_BYTES: return elements;
    case GPU_FORMAT_HALVES: return elements * 2;
    case GPU_FORMAT_PIXELS: return pixels * 4;
    case GPU_FORMAT_HALF_PIXELS: return pixels * 8;
    case GPU_FORMAT_FLOAT_PIXELS: return pixels * 16;
    case GPU_FORMAT_VECTORS: return gpu_value_vectors(value) * 16;
    case GPU_FORMAT_HALF_VECTORS: return gpu_value_vectors(value) * 8;
    default: return elements * sizeof(float);
    }
}

// Whether slices of four channels lie in memory like dense elements: each position has exactly four channels, or there
// is only one position and its channels fill whole slices.
static bool slices_are_dense(const struct gpu_value *value, bool whole)
{
    struct gpu_shape shape = value->shape;
    return shape.c == 4 || (shape.w == 1 && shape.h == 1 && whole);
}

bool gpu_plan_is_direct(const struct gpu_plan *plan, const struct gpu_value *value)
{
    if (!value->is_input && !value->is_output) return false;
    bool floats = gpu_value_vector_bytes(plan, value) == 16, whole = value->shape.c % 4 == 0;
    // An output of batch 1 may end within a slice, unless its buffer is the application's, which may end with the
    // elements.
    bool may_end = value->format == GPU_FORMAT_DEFAULT && value->shape.b == 1 && !value->is_input;
    // Nobody vouches for what an application leaves in channels that do not exist.
    bool may_read = whole || !value->is_input;
    switch (gpu_caller_format(value)) {
    case GPU_FORMAT_FLOATS: return floats && slices_are_dense(value, whole || may_end);
    case GPU_FORMAT_HALVES: return !floats && slices_are_dense(value, whole);
    case GPU_FORMAT_VECTORS: return floats && may_read;
    case GPU_FORMAT_HALF_VECTORS: return !floats && may_read;
    case GPU_FORMAT_BYTES: // codes are signed, and nobody looks at channels that do not exist
        return value->codes && value->type == kTfLiteInt8 && slices_are_dense(value, whole || may_end);
    default: return false;
    }
}

// In half precision an input costs time on the bus, not in the device's memory. One processor writes 602,112 bytes
// into an H200 in 34 us and half as many in half the time: MobileNet v1 takes 98 us by CUDA in f16, and 111 with
// floats, hand landmarks 136 and 151. Smaller inputs keep the accuracy of floats, for a gain of a few microseconds.
// What is as large as HL_LARGE_COPY lies in lent memory, from which the device copies by itself.
enum { MIN_NARROWED_BYTES = 256 << 10 };

bool gpu_plan_narrows(const struct gpu_plan *plan, const struct gpu_value *value)
{
    size_t bytes = gpu_caller_bytes(value);
    return plan->precision != GPU_F32 && plan->caps->takes_halves && value->is_input && !value->is_output &&
           !value->exact && value->format == GPU_FORMAT_DEFAULT && value->type == kTfLiteFloat32 &&
           gpu_caller_format(value) == GPU_FORMAT_FLOATS && bytes >= MIN_NARROWED_BYTES && bytes < HL_LARGE_COPY &&
           !gpu_plan_is_direct(plan, value);
}

bool gpu_plan_is_outside(const struct gpu_plan *plan, const struct gpu_plan_step *step, int operand)
{
    const struct gpu_operand *own = &step->operands[operand];
    bool raw = operand < gpu_kernel_arg_count(step->kernel) && gpu_arg_is_raw(step->kernel->args[operand].kind);
    return own->outside || raw || (own->value && gpu_plan_is_direct(plan, own->value));
}

size_t gpu_plan_raw_bytes(const struct gpu_plan *plan, const struct gpu_value *value)
{
    // Kernels write whole vectors where the buffer is the value, and whole ints or vectors of halves elsewhere.
    size_t bytes = gpu_caller_bytes(value), unit = gpu_caller_format(value) == GPU_FORMAT_HALVES ? 8 : 4;
    if (gpu_plan_is_direct(plan, value)) unit = value->codes ? 4 : 16;
    return (bytes + unit - 1) / unit * unit;
}
