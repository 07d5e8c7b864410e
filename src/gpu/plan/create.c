// SPDX-License-Identifier: Apache-2.0
// Makes a plan: copies from the caller's inputs, the dispatches of every node, copies to the caller's outputs, and
// constants that nodes read as values. Then it orders the steps (order.c) and allocates values (memory.c). See plan.h.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "gpu/graph/op.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/plan.h"

static void set_pixels(struct gpu_dispatch_desc *desc, const struct gpu_image *image, struct gpu_shape shape,
                       bool to_caller)
{
    const int *order = image->order;
    const int32_t params[4][4] = {
        {image->y * image->row + image->x, image->part_w, image->part_h, image->height * image->row},
        {image->row, order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6,
         gpu_float_bits((float)image->part_w / (float)shape.w), gpu_float_bits((float)image->part_h / (float)shape.h)},
    };
    memcpy(desc->params, params, sizeof params);
    for (int c = 0; c < 4; c++) {
        bool inverts = to_caller && image->scale[c] != 0; // 0 only of channels that there are not
        desc->params[2][c] = gpu_float_bits(image->mean[c]);
        desc->params[3][c] = gpu_float_bits(inverts ? 1 / image->scale[c] : image->scale[c]);
    }
    // Kernels of floats see the pixels of a picture in one row. Those of bytes have no use for it.
    desc->views[to_caller ? 1 : 0] = (struct gpu_shape){shape.b, 1, image->height * image->row, 4};
    gpu_grid_over(desc, shape);
}

// Plans the copy between an input or output as it is stored outside, and `inside`, a value of the plan, with the stages
// of an operator, if it is one's.
static bool transfer_between(struct gpu_plan *plan, const struct gpu_value *value, const struct gpu_value *inside,
                             bool to_caller, const struct gpu_epilogue *epilogue)
{
    static const struct gpu_kernel *const kernels[][2] = {
        [GPU_FORMAT_FLOATS] = {&gpu_kernel_from_dense, &gpu_kernel_to_dense},
        [GPU_FORMAT_BYTES] = {&gpu_kernel_from_bytes, &gpu_kernel_to_bytes},
        [GPU_FORMAT_HALVES] = {&gpu_kernel_from_halves, &gpu_kernel_to_halves},
        [GPU_FORMAT_VECTORS] = {&gpu_kernel_copy_vectors, &gpu_kernel_copy_vectors},
        [GPU_FORMAT_HALF_VECTORS] = {&gpu_kernel_copy_vectors, &gpu_kernel_copy_vectors},
        [GPU_FORMAT_PIXELS] = {&gpu_kernel_from_pixels, &gpu_kernel_to_pixels},
        [GPU_FORMAT_HALF_PIXELS] = {&gpu_kernel_from_float_pixels, &gpu_kernel_to_float_pixels},
        [GPU_FORMAT_FLOAT_PIXELS] = {&gpu_kernel_from_float_pixels, &gpu_kernel_to_float_pixels},
    };
    const struct gpu_quantization *q = &value->quantization;
    enum gpu_format format = gpu_caller_format(value);
    struct gpu_shape shape = value->shape;
    const struct gpu_kernel *kernel = kernels[format][to_caller];
    if (value->codes) kernel = to_caller ? &gpu_kernel_codes_to_bytes : &gpu_kernel_bytes_to_codes;
    struct gpu_dispatch_desc desc = {.kernel = kernel,
                                     .operands = {{.value = inside}, {.value = inside}},
                                     .grid = {shape.w * gpu_slices(shape), shape.h, shape.b},
                                     .epilogue = epilogue};
    int fours = (int)((gpu_elements(shape) + 3) / 4), outside = to_caller ? 1 : 0;
    desc.operands[outside] = (struct gpu_operand){.value = value, .outside = true};
    if (format == GPU_FORMAT_BYTES) {
        const float scale = value->whole ? 1 : q->scale;
        int32_t stored[4] = {gpu_float_bits(scale), q->zero_point, q->type == kTfLiteInt8 ? -128 : 0};
        int32_t sign[4] = {q->type == kTfLiteInt8 ? 0 : INT32_MIN + 0x00808080}; // 0x80 in each byte
        memcpy(desc.params[0], value->codes ? sign : stored, sizeof stored);
    }
    if (format == GPU_FORMAT_HALVES) desc.views[outside] = (struct gpu_shape){1, 1, fours, 4};
    if (to_caller && (format == GPU_FORMAT_BYTES || format == GPU_FORMAT_HALVES)) {
        desc.grid[0] = fours;
        desc.grid[1] = desc.grid[2] = 1;
    }
    if (gpu_is_picture(format)) set_pixels(&desc, &value->image, shape, to_caller);
    if (format == GPU_FORMAT_VECTORS || format == GPU_FORMAT_HALF_VECTORS) gpu_grid_over(&desc, shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan_transfer(struct gpu_plan *plan, const struct gpu_value *value, bool to_caller)
{
    const bool direct = gpu_plan_is_direct(plan, value), floats = gpu_caller_format(value) == GPU_FORMAT_FLOATS;
    plan->wants_to_dense = plan->wants_to_dense || (direct && to_caller && floats);
    return direct || transfer_between(plan, value, value, to_caller, NULL);
}

bool gpu_plan_read_dense(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                         const struct gpu_epilogue *epilogue)
{
    if (epilogue->residual) return transfer_between(plan, x, y, false, epilogue); // behind what writes that
    struct gpu_dense_copy *copies = hl_grow(plan->copies, plan->copy_count, &plan->copy_capacity, sizeof *copies);
    if (!copies) return gpu_plan_fail(plan, "out of memory");
    plan->copies = copies;
    plan->copies[plan->copy_count++] = (struct gpu_dense_copy){x, y, *epilogue, plan->node, false};
    return true;
}

struct gpu_dense_copy *gpu_plan_dense_copy(const struct gpu_plan *plan, const struct gpu_value *y)
{
    if (y->consumers != 1 || y->is_output) return NULL;
    for (int i = 0; i < plan->copy_count; i++)
        if (plan->copies[i].y == y) return &plan->copies[i];
    return NULL;
}

static bool plan_copies(struct gpu_plan *plan)
{
    bool ok = true;
    for (int i = 0; i < plan->copy_count && ok; i++) {
        const struct gpu_dense_copy *copy = &plan->copies[i];
        plan->node = copy->node;
        ok = copy->taken || transfer_between(plan, copy->x, copy->y, false, &copy->epilogue);
    }
    plan->node = NULL;
    return ok;
}

// As plan_constant, of codes: four of the value's vectors are in one of the weights.
static bool plan_constant_codes(struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape shape = value->shape;
    size_t count = gpu_value_vectors(value);
    struct gpu_weights *weights = gpu_plan_integers(plan, (count + 3) / 4);
    if (!weights) return false;
    const int32_t *from = value->integers;
    for (int b = 0; b < shape.b; b++)
        for (int y = 0; y < shape.h; y++)
            for (int x = 0; x < shape.w; x++)
                for (int c = 0; c < shape.c; c++) {
                    uint32_t *to = (uint32_t *)&weights->integers[gpu_slice_index(shape, b, y, x, c) / 4];
                    *to |= (uint32_t)(*from++ & 255) << 8 * (c % 4);
                }
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_codes_from_ints,
        .operands = {{.weights = weights}, {.value = value}},
        .grid = {(int)count},
    };
    return gpu_plan_dispatch(plan, &desc);
}

// A constant that a node reads as a value, not as weights, becomes a value that is filled from the weights buffer.
static bool plan_constant(struct gpu_plan *plan, const struct gpu_value *value)
{
    struct gpu_shape shape = value->shape;
    if (value->codes) return plan_constant_codes(plan, value);
    struct gpu_weights *weights = gpu_plan_weights(plan, gpu_value_vectors(value));
    if (!weights) return false;
    const float *from = value->data;
    for (int b = 0; b < shape.b; b++)
        for (int y = 0; y < shape.h; y++)
            for (int x = 0; x < shape.w; x++)
                for (int c = 0; c < shape.c; c++) weights->data[gpu_slice_index(shape, b, y, x, c)] = *from++;
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

// Moves the steps from `first` on to the front, before their readers.
static bool move_to_front(struct gpu_plan *plan, int first)
{
    const int added = plan->step_count - first;
    struct gpu_plan_step *moved = malloc(((size_t)added + 1) * sizeof *moved);
    if (!moved) return gpu_plan_fail(plan, "out of memory");
    memcpy(moved, plan->steps + first, (size_t)added * sizeof *moved);
    memmove(plan->steps + added, plan->steps, (size_t)first * sizeof *moved);
    memcpy(plan->steps, moved, (size_t)added * sizeof *moved);
    free(moved);
    return true;
}

// A flag for each value: whether a step has it as a value of the plan, and not as the caller's memory. NULL without
// memory.
static bool *find_read(const struct gpu_plan *plan)
{
    bool *read = calloc((size_t)plan->graph->value_count + 1, sizeof *read);
    for (int s = 0; s < plan->step_count && read; s++)
        for (int i = 0; i < plan->steps[s].operand_count; i++) {
            const struct gpu_value *value = plan->steps[s].operands[i].value;
            if (value && !gpu_plan_is_outside(plan, &plan->steps[s], i)) read[value->id] = true;
        }
    return read;
}

// Fills what steps read as values: the inputs, unless an operator reads the caller's memory itself, and the constants
// that operators did not turn into weights. These are filled at the beginning of each run, before the copies of inputs
// that operators are.
static bool plan_sources(struct gpu_plan *plan)
{
    const struct gpu_graph *graph = plan->graph;
    const int planned = plan->step_count;
    bool *read = find_read(plan), ok = read != NULL && plan_copies(plan);
    if (!read) return gpu_plan_fail(plan, "out of memory");
    for (int v = 0; v < graph->value_count && ok; v++)
        if (read[v] && graph->values[v]->data) ok = plan_constant(plan, graph->values[v]);
    for (int v = 0; v < graph->value_count && ok; v++)
        if (read[v] && graph->values[v]->is_input) ok = plan_transfer(plan, graph->values[v], false);
    free(read);
    return ok && move_to_front(plan, planned);
}

// Whether an operator writes an output as the caller has it.
static bool is_written_outside(const struct gpu_plan *plan, const struct gpu_value *value)
{
    for (int s = 0; s < plan->step_count; s++)
        for (int i = 0; i < gpu_kernel_arg_count(plan->steps[s].kernel); i++) {
            enum gpu_arg_kind kind = plan->steps[s].kernel->args[i].kind;
            bool writes = gpu_arg_is_raw(kind) && gpu_arg_is_written(kind);
            if (writes && plan->steps[s].operands[i].value == value) return true;
        }
    return false;
}

static bool plan_outputs(struct gpu_plan *plan)
{
    const struct gpu_graph *graph = plan->graph;
    for (int v = 0; v < graph->value_count; v++) {
        const struct gpu_value *value = graph->values[v];
        if (value->is_output && !is_written_outside(plan, value) && !plan_transfer(plan, value, true)) return false;
    }
    return true;
}

static bool plan_all(struct gpu_plan *plan)
{
    return plan_nodes(plan) && plan_outputs(plan) && plan_sources(plan);
}

struct gpu_plan *gpu_plan_create(struct gpu_graph *graph, const struct gpu_caps *caps, struct gpu_tuning *tuning,
                                 enum gpu_precision precision, int float_elements, int first_batch)
{
    struct gpu_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        hl_report(graph->reporter, "TfLiteGpuDelegate Init: out of memory while planning");
        return NULL;
    }
    *plan = (struct gpu_plan){
        .graph = graph,
        .caps = caps,
        .tuning = tuning,
        .precision = precision,
        .float_elements = float_elements,
        .batch = gpu_graph_batch(graph),
        .first_batch = first_batch > 0 ? first_batch : gpu_graph_batch(graph),
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
    free(plan->copies);
    free(plan->steps);
    free(plan->allocations);
    free(plan);
}
