// SPDX-License-Identifier: Apache-2.0
// See window.h: which convolutions these are, which kernel the device has for them, and its fastest block.
#include "gpu/ops/window.h"

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"

struct gpu_window_patch gpu_window_patch_of(const struct gpu_convolution *conv, int rows)
{
    const struct gpu_shape y = conv->y->shape;
    const int stride = conv->stride_w;
    return (struct gpu_window_patch){
        .w = (int)gpu_divide_up((GPU_WINDOW_TILE_W - 1) * stride + conv->kernel_w, stride) * stride,
        .h = (rows - 1) * stride + conv->kernel_h,
        .tiles = gpu_divide_up(y.w, GPU_WINDOW_TILE_W) * gpu_divide_up(y.h, rows) * y.b,
    };
}

// NULL: the device has none.
static const struct gpu_window_way *way_of(const struct gpu_caps *caps)
{
    if (caps->fragment_forms) return &gpu_window_cooperative;
    return caps->dynamic_shared_bytes > 0 ? &gpu_window_matrix : NULL;
}

static bool takes(const struct gpu_convolution *conv)
{
    const bool all = conv->grid_w == 0 && !conv->rows && conv->spread_w <= 1 && conv->spread_h <= 1 &&
                     !conv->offset_x && !conv->offset_y;
    return gpu_matrix_takes(conv) && all && conv->kernel_w * conv->kernel_h > 1 && conv->dilation_w == 1 &&
           conv->dilation_h == 1 && conv->stride_w == conv->stride_h && conv->stride_w <= 2;
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_window_way *way, const struct gpu_caps *caps,
                        const struct gpu_convolution *conv, int form)
{
    for (int i = 0; i < 3 * 3 * 3 * 4; i++) {
        const struct gpu_matrix_block block = {1 << i % 3, 1 << i / 3 % 3, 1, 1 << i / 9 % 3, 1 << i / 27};
        int64_t cycles = way->cycles(caps, conv, form, &block);
        struct gpu_tuned_block numbers = {{block.positions, block.outputs, block.across, block.along}};
        if (cycles < INT64_MAX) gpu_ranking_add(ranking, &numbers, cycles);
    }
}

int64_t gpu_window_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv, int form)
{
    const struct gpu_window_way *way = way_of(plan->caps);
    struct gpu_ranking ranking = {.room = 1};
    if (way && form >= 0 && takes(conv)) rank_blocks(&ranking, way, plan->caps, conv, form);
    return gpu_ranking_limit(&ranking);
}

// The fastest block, or one that was measured. in: how x is read. *tuned: for the dispatch.
static struct gpu_matrix_block choose(const struct gpu_plan *plan, const struct gpu_window_way *way,
                                      const struct gpu_convolution *conv, int form, int in, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    const struct gpu_shape y = conv->y->shape;
    *tuned = 0;
    rank_blocks(&ranking, way, plan->caps, conv, form);
    if (gpu_tuning_answers(plan->tuning)) {
        struct gpu_tuned_size asked = {way->name,
                                       {y.w, y.h, gpu_slices(conv->x->shape), gpu_slices(y),
                                        conv->kernel_w * 16 + conv->kernel_h, conv->stride_w, form,
                                        in * 16 + (int32_t)plan->precision}};
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    const int32_t *n = block ? block->numbers : ranking.blocks[0].numbers;
    return (struct gpu_matrix_block){n[0], n[1], 1, n[2], n[3]};
}

bool gpu_plan_window(struct gpu_plan *plan, const struct gpu_convolution *conv, int form)
{
    const struct gpu_window_way *way = way_of(plan->caps);
    int tuned, in = conv->mirrors ? IN_MIRROR : IN_WINDOW, slices = gpu_slices(conv->y->shape);
    int64_t chunks = gpu_divide_up(gpu_slices(conv->x->shape), GPU_WINDOW_CHUNK);
    struct gpu_matrix_block block = choose(plan, way, conv, form, in, &tuned);
    struct gpu_window_launch launch;
    way->launch(plan->caps, conv, form, in, &block, &launch);
    struct gpu_weights *weights =
        gpu_matrix_weights(plan, conv, form, &launch.packed, chunks * conv->kernel_w * conv->kernel_h, way->order);
    if (!weights) return false;
    int subgroups = block.across * block.along;
    struct gpu_dispatch_desc desc = {
        .kernel = launch.kernel,
        .operands = {{.value = conv->x}, {.weights = weights}, {.value = conv->y}},
        .params = {{(int)chunks, slices, launch.weights_at, 0}, {conv->pad_left, conv->pad_top, 0, 0}},
        .group = {GPU_MATRIX_SUBGROUP, subgroups, 1},
        .grid = {(int)launch.patch.tiles * GPU_MATRIX_SUBGROUP,
                 (int)gpu_divide_up(slices, 4 * block.outputs * block.across) * subgroups, 1},
        .epilogue = plan->node ? &plan->node->epilogue : NULL,
        .tuned = tuned,
    };
    for (int i = 0; i < GPU_KERNEL_CONSTANTS && launch.kernel->constants[i].name; i++)
        desc.constants[i] = (struct gpu_setting){launch.kernel->constants[i].name, launch.values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
