// SPDX-License-Identifier: Apache-2.0
// From gpu graph to dispatches: raw input -> value, every node's own dispatches, value -> raw output. See plan.h.
#include "gpu/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "gpu/graph/op.h"
#include "gpu/plan/kernels.h"

// ---- kernels' tables: what is the kernel's own, and what the emitter adds -----------------------

static int own_constant_count(const struct gpu_kernel *kernel)
{
    return gpu_kernel_constant_count(kernel) - (kernel->epilogue ? GPU_EPILOGUE_STAGES : 0);
}

static int own_param_count(const struct gpu_kernel *kernel)
{
    return gpu_kernel_param_count(kernel) - gpu_kernel_shape_count(kernel) -
           (kernel->epilogue ? GPU_EPILOGUE_STAGES / 2 : 0);
}

static bool is_value(enum gpu_arg_kind kind)
{
    return kind == GPU_IN || kind == GPU_OUT;
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
        hl_report(plan->reporter, "TfLiteGpuDelegate Init: %s (node %d): %s", plan->node->op->name, plan->node->index,
                  text);
    else
        hl_report(plan->reporter, "TfLiteGpuDelegate Init: %s", text);
    return false;
}

// ---- pieces of a dispatch -----------------------------------------------------------------------

static void fill_params(struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    int at = 0;
    for (int i = 0; i < gpu_kernel_arg_count(kernel); i++) {
        if (!is_value(kernel->args[i].kind)) continue;
        struct gpu_shape shape = desc->views[i].b ? desc->views[i] : desc->operands[i].value->shape;
        int32_t sizes[4] = {shape.w, shape.h, shape.c, shape.b};
        memcpy(step->params[at++], sizes, sizeof sizes);
    }
    for (int i = 0; i < own_param_count(kernel); i++)
        memcpy(step->params[at++], desc->params[i], sizeof desc->params[i]);
    if (!kernel->epilogue || !desc->epilogue) return;
    for (int s = 0; s < desc->epilogue->count; s++) {
        step->params[at + s / 2][s % 2 * 2] = gpu_float_bits(desc->epilogue->stages[s].a);
        step->params[at + s / 2][s % 2 * 2 + 1] = gpu_float_bits(desc->epilogue->stages[s].b);
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
        for (int s = 0; s < desc->epilogue->count; s++) step->constants[own + s] = (int)desc->epilogue->stages[s].op;
    return true;
}

static bool fill_operands(struct gpu_plan *plan, struct gpu_plan_step *step, const struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    step->operand_count = gpu_kernel_arg_count(kernel);
    for (int i = 0; i < step->operand_count; i++) {
        bool weights = kernel->args[i].kind == GPU_WEIGHTS && desc->operands[i].weights;
        if (!weights && !desc->operands[i].value)
            return gpu_plan_fail(plan, "kernel %s gets no %s", kernel->name, kernel->args[i].name);
        step->operands[i] = desc->operands[i];
    }
    if (!kernel->epilogue) return true;
    // Every program of an epilogue kernel has the residual's place; without one anything readable fills it.
    struct gpu_operand residual = step->operands[0];
    if (desc->epilogue && desc->epilogue->residual) residual = (struct gpu_operand){.value = desc->epilogue->residual};
    step->operands[step->operand_count++] = residual;
    return true;
}

static int group_count(const struct gpu_dispatch_desc *desc, const int group[3], int axis)
{
    int grid = desc->grid[axis] ? desc->grid[axis] : 1;
    return (int)(((int64_t)grid + group[axis] - 1) / group[axis]);
}

// Long axes need more groups than some devices have: those of kernels without shared memory, to which the shape of a
// group is all the same, become longer there and shorter elsewhere.
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

// Vulkan has programs only for kernels that some operator lists, so every other backend holds operators to their lists
// as well.
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
    *step = (struct gpu_plan_step){.kernel = desc->kernel, .node = plan->node};
    if (plan->node)
        snprintf(step->label, sizeof step->label, "%s %d %s", plan->node->op->name, plan->node->index,
                 desc->kernel->name);
    else
        snprintf(step->label, sizeof step->label, "%s", desc->kernel->name);
    if (!fill_operands(plan, step, desc) || !fill_constants(plan, step, desc) || !fill_grid(plan, step, desc))
        return false;
    fill_params(step, desc);
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

struct gpu_value *gpu_plan_scratch(struct gpu_plan *plan, struct gpu_shape shape)
{
    return gpu_graph_add_value(plan->graph, "scratch", shape);
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

// ---- the whole plan -----------------------------------------------------------------------------

size_t gpu_plan_vector_bytes(const struct gpu_plan *plan, size_t vectors, bool exact)
{
    return plan->precision == GPU_F32 || exact || 4 * vectors <= (size_t)plan->float_elements ? 16 : 8;
}

// Slices of floats in the order of channels: one slice of four at each place, or one place (per batch, whole slices;
// nothing may lie between the channels of an input and the end of its slice).
bool gpu_plan_is_dense(const struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape shape = value->shape;
    if (!(value->is_input || value->is_output)) return false;
    if (gpu_value_vector_bytes(plan, value) != 16 || gpu_caller_has_bytes(value)) return false;
    bool whole = shape.c % 4 == 0 || (shape.b == 1 && !value->is_input);
    return shape.c == 4 || (shape.w == 1 && shape.h == 1 && whole);
}

// Between what the caller has and the value of it.
static bool plan_transfer(struct gpu_plan *plan, const struct gpu_value *value, bool to_caller)
{
    static const struct gpu_kernel *const kernels[2][2] = {{&gpu_kernel_from_dense, &gpu_kernel_to_dense},
                                                           {&gpu_kernel_from_bytes, &gpu_kernel_to_bytes}};
    const struct gpu_quantization *q = &value->quantization;
    bool bytes = gpu_caller_has_bytes(value);
    struct gpu_shape shape = value->shape;
    if (gpu_plan_is_dense(plan, value)) return true;
    struct gpu_dispatch_desc desc = {.kernel = kernels[bytes][to_caller],
                                     .operands = {{.value = value}, {.value = value}},
                                     .grid = {shape.w * gpu_slices(shape), shape.h, shape.b}};
    if (bytes) {
        int32_t stored[4] = {gpu_float_bits(q->scale), q->zero_point, q->type == kTfLiteInt8 ? -128 : 0};
        memcpy(desc.params[0], stored, sizeof stored);
    }
    if (bytes && to_caller) {
        desc.grid[0] = (int)((gpu_elements(shape) + 3) / 4);
        desc.grid[1] = desc.grid[2] = 1;
    }
    return gpu_plan_dispatch(plan, &desc);
}

// Constants that a node reads as a value (not as weights) become values filled from the weights buffer.
static bool plan_constant(struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape shape = value->shape;
    int slices = gpu_slices(shape);
    struct gpu_weights *weights =
        gpu_plan_weights(plan, (size_t)shape.b * (size_t)slices * (size_t)shape.h * (size_t)shape.w);
    if (!weights) return false;
    const float *from = value->data;
    for (int b = 0; b < shape.b; b++)
        for (int y = 0; y < shape.h; y++)
            for (int x = 0; x < shape.w; x++)
                for (int c = 0; c < shape.c; c++) {
                    size_t at = (((size_t)b * (size_t)slices + (size_t)(c / 4)) * (size_t)shape.h + (size_t)y) *
                                    (size_t)shape.w +
                                (size_t)x;
                    weights->data[4 * at + (size_t)(c % 4)] = *from++;
                }
    struct gpu_dispatch_desc desc = {.kernel = &gpu_kernel_from_weights,
                                     .operands = {{.weights = weights}, {.value = value}}};
    gpu_grid_over(&desc, shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan_nodes(struct gpu_plan *plan)
{
    struct gpu_graph *graph = plan->graph;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead) continue;
        plan->node = node;
        if (!node->op->plan(plan, node)) return false;
    }
    plan->node = NULL;
    return true;
}

// Steps read constants as values where an op did not turn them into weights: those are filled first, once per run.
static bool plan_constants(struct gpu_plan *plan)
{
    int planned = plan->step_count;
    bool *seen = calloc((size_t)plan->graph->value_count + 1, sizeof *seen);
    if (!seen) return gpu_plan_fail(plan, "out of memory");
    bool ok = true;
    for (int s = 0; s < planned && ok; s++)
        for (int i = 0; i < plan->steps[s].operand_count && ok; i++) {
            const struct gpu_value *value = plan->steps[s].operands[i].value;
            if (!value || !value->data || seen[value->id]) continue;
            seen[value->id] = true;
            ok = plan_constant(plan, value);
        }
    free(seen);
    if (!ok || plan->step_count == planned) return ok;
    // To the front, so that they come before their readers.
    int added = plan->step_count - planned;
    struct gpu_plan_step *moved = malloc((size_t)added * sizeof *moved);
    if (!moved) return gpu_plan_fail(plan, "out of memory");
    memcpy(moved, plan->steps + planned, (size_t)added * sizeof *moved);
    memmove(plan->steps + added, plan->steps, (size_t)planned * sizeof *moved);
    memcpy(plan->steps, moved, (size_t)added * sizeof *moved);
    free(moved);
    return true;
}

static bool plan_all(struct gpu_plan *plan)
{
    const struct gpu_graph *graph = plan->graph;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v]->is_input && !plan_transfer(plan, graph->values[v], false)) return false;
    if (!plan_nodes(plan)) return false;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v]->is_output && !plan_transfer(plan, graph->values[v], true)) return false;
    return plan_constants(plan);
}

struct gpu_plan *gpu_plan_create(struct gpu_graph *graph, const struct gpu_caps *caps, enum gpu_precision precision,
                                 int float_elements)
{
    struct gpu_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        hl_report(graph->reporter, "TfLiteGpuDelegate Init: out of memory while planning");
        return NULL;
    }
    *plan = (struct gpu_plan){
        .graph = graph,
        .caps = caps,
        .precision = precision,
        .float_elements = float_elements,
        .reporter = graph->reporter,
    };
    if (plan_all(plan) && gpu_plan_order(plan) && gpu_plan_memory(plan)) return plan;
    gpu_plan_destroy(plan);
    return NULL;
}

void gpu_plan_destroy(struct gpu_plan *plan)
{
    if (!plan) return;
    for (int i = 0; i < plan->weight_count; i++) {
        free(plan->weights[i]->data);
        free(plan->weights[i]);
    }
    free(plan->weights);
    free(plan->steps);
    free(plan->allocations);
    free(plan);
}
