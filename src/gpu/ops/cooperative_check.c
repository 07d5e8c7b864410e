// SPDX-License-Identifier: Apache-2.0
// See gpu_cooperative_check. The product is that of a convolution with one tap, of 32 positions, 32 input channels and
// 32 outputs, which one subgroup computes in two turns. It is compared with sums of doubles. A driver may take the
// kernel and compute less than it says: where numbers were split by conversions, one optimized the second halves away.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/cooperative.h"

enum { SIDE = 32, SLICES = SIDE / 4, STEPS = SIDE / 16 };
enum { X, WEIGHTS, Y, ARGS };
enum { ONLY_FLOATS = 1 << X | 1 << Y }; // stored as such in every precision
static const struct gpu_matrix_block block = {.positions = 2, .outputs = 2, .depth = 1, .across = 1, .along = 1};

struct product {
    float x[SIDE][SIDE]; // of a position and a channel
    float w[SIDE][SIDE]; // of an output and a channel
    float bias[SIDE];
    float y[SLICES][SIDE][4]; // slices of positions
};

// Between -1 and 1. Neither one half nor a TF32 number holds all bits.
static float fine_number(uint32_t i)
{
    return (float)((i * 37 + 11) * 2654435761u >> 8) / 8388608 - 1;
}

static void fill(struct product *product)
{
    for (uint32_t i = 0; i < SIDE; i++) {
        for (uint32_t k = 0; k < SIDE; k++) {
            product->x[i][k] = fine_number(i * SIDE + k);
            product->w[i][k] = fine_number((SIDE + i) * SIDE + k);
        }
        product->bias[i] = fine_number(2 * SIDE * SIDE + i);
    }
}

// Split numbers make sums that are off by 2^-20 of the sum of the products' sizes, halves such that are off by 2^-10.
static bool is_right(const struct product *product, int form)
{
    double part = form == MATRIX_SPLIT ? 1.0 / 1048576 : 1.0 / 1024;
    for (int position = 0; position < SIDE; position++)
        for (int output = 0; output < SIDE; output++) {
            double sum = product->bias[output], size = fabs(sum);
            for (int k = 0; k < SIDE; k++) {
                double one = (double)product->x[position][k] * product->w[output][k];
                sum += one;
                size += fabs(one);
            }
            if (!(fabs(product->y[output / 4][position][output % 4] - sum) <= size * part)) return false;
        }
    return true;
}

struct run {
    const struct gpu_backend *backend;
    struct gpu_device *device;
    struct gpu_program *program;
    struct gpu_list *list;
    struct gpu_buffer *buffers[ARGS];
    size_t sizes[ARGS];
};

static bool write_buffers(struct run *run, const struct product *product, int form, const struct hl_reporter *reporter)
{
    const struct gpu_value x = {.shape = {1, 1, SIDE, SIDE}};
    const struct gpu_convolution conv = {.x = &x,
                                         .y = &x,
                                         .inputs = SIDE,
                                         .outputs = SIDE,
                                         .kernel_w = 1,
                                         .kernel_h = 1,
                                         .weights = product->w[0],
                                         .by_output = SIDE,
                                         .by_input = 1};
    size_t vectors = SLICES + (size_t)gpu_matrix_vectors(&block, form, SLICES, STEPS);
    int32_t *weights = calloc(vectors, 4 * sizeof *weights);
    if (!weights) {
        hl_report(reporter, "%s: out of memory for the check of matrix units", run->backend->name);
        return false;
    }
    memcpy(weights, product->bias, sizeof product->bias);
    gpu_matrix_pack(&conv, form, &block, STEPS, GPU_MATRIX_FRAGMENTS, weights + (size_t)4 * SLICES);
    float slices[SLICES][SIDE][4];
    for (int position = 0; position < SIDE; position++)
        for (int k = 0; k < SIDE; k++) slices[k / 4][position][k % 4] = product->x[position][k];
    const void *from[] = {slices, weights};
    const size_t sizes[] = {sizeof slices, vectors * 4 * sizeof *weights, sizeof product->y};
    bool ok = true;
    for (int i = 0; i < ARGS && ok; i++) {
        run->sizes[i] = sizes[i];
        run->buffers[i] = run->backend->buffer_create(run->device, sizes[i]);
        ok = run->buffers[i] &&
             (i == Y || run->backend->buffer_write(run->device, run->buffers[i], 0, from[i], sizes[i]));
    }
    free(weights);
    return ok;
}

static bool run_product(struct run *run, int form, struct product *product)
{
    const struct gpu_kernel *kernel = gpu_cooperative_kernel(run->backend->caps(run->device));
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES] = {0};
    gpu_cooperative_constants(&block, form, OUT_SAME, IN_SAME, constants);
    struct gpu_program_desc desc = {.kernel = kernel,
                                    .precision = form == MATRIX_HALVES ? GPU_F16S : GPU_F32,
                                    .constants = constants,
                                    .group = {GPU_MATRIX_SUBGROUP, 1, 1},
                                    .floats = form == MATRIX_HALVES ? ONLY_FLOATS : 0};
    if (!run->backend->programs_create(run->device, &desc, 1, &run->program)) return false;
    struct gpu_dispatch dispatch = {
        .program = run->program,
        .buffer_count = ARGS,
        .writes = {[Y] = true},
        .params = {{SIDE, 1, SIDE, 1},
                   {SIDE, 1, SIDE, 1},
                   {SLICES, 1, 1, STEPS},
                   {1, 1, 0, 0},
                   {1, 1, SLICES, 0},
                   {SIDE, 1, 0, 0}},
        .param_count = gpu_kernel_param_count(kernel),
        .groups = {1, 1, 1},
        .label = "the check of matrix units",
    };
    memcpy(dispatch.buffers, run->buffers, sizeof run->buffers);
    memcpy(dispatch.sizes, run->sizes, sizeof run->sizes);
    run->list = run->backend->list_create(run->device);
    return run->list && run->backend->list_dispatch(run->list, &dispatch) && run->backend->list_finish(run->list) &&
           run->backend->list_run(run->list) && run->backend->list_wait(run->list) &&
           run->backend->buffer_read(run->device, run->buffers[Y], 0, product->y, sizeof product->y);
}

// False after a message.
static bool works(const struct gpu_backend *backend, struct gpu_device *device, int form,
                  const struct hl_reporter *reporter)
{
    struct run run = {.backend = backend, .device = device};
    struct product *product = calloc(1, sizeof *product);
    if (!product) {
        hl_report(reporter, "%s: out of memory for the check of matrix units", backend->name);
        return false;
    }
    fill(product);
    bool ran = write_buffers(&run, product, form, reporter) && run_product(&run, form, product);
    bool right = ran && is_right(product, form);
    if (ran && !right)
        hl_report(reporter,
                  "%s: matrix units compute wrong products with driver %s and are not used: update the driver",
                  backend->name, backend->caps(device)->driver);
    if (run.list) backend->list_destroy(run.list);
    if (run.program) backend->program_destroy(device, run.program);
    for (int i = 0; i < ARGS; i++)
        if (run.buffers[i]) backend->buffer_destroy(device, run.buffers[i]);
    free(product);
    return right;
}

void gpu_cooperative_check(const struct gpu_backend *backend, struct gpu_device *device, enum gpu_precision precision,
                           const struct hl_reporter *reporter)
{
    int form = precision == GPU_F16 ? MATRIX_HALVES : MATRIX_SPLIT;
    if (backend->caps(device)->fragment_forms >> form & 1 && !works(backend, device, form, reporter))
        backend->drop_fragments(device);
}
