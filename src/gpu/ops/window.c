// SPDX-License-Identifier: Apache-2.0
// See window.h: which convolutions these are, which kernel the device has for them, and its fastest block.
#include "gpu/ops/window.h"

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"

enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_SUBGROUPS = 8, MAX_TILES = 8 }; // tiles of sums that a subgroup has

// Work-groups along positions, of so many images, and along outputs.
static int64_t groups_x(const struct gpu_convolution *conv, const struct gpu_matrix_block *block, int64_t images)
{
    const struct gpu_shape y = conv->y->shape;
    return gpu_divide_up(y.w, GPU_WINDOW_TILE_W) * gpu_divide_up(y.h, block->along * block->positions) * images;
}

static int64_t groups_y(const struct gpu_convolution *conv, const struct gpu_matrix_block *block)
{
    return gpu_divide_up(gpu_slices(conv->y->shape), (int64_t)4 * block->outputs * block->across);
}

static struct gpu_window_size size_of(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                                      const struct gpu_matrix_block *block)
{
    const int stride = conv->stride_w, images = conv->y->shape.b;
    return (struct gpu_window_size){
        .subgroups = block->across * block->along,
        .taps = conv->kernel_w * conv->kernel_h,
        .patch_w = (int)gpu_divide_up((GPU_WINDOW_TILE_W - 1) * stride + conv->kernel_w, stride) * stride,
        .patch_h = (block->along * block->positions - 1) * stride + conv->kernel_h,
        .chunks = gpu_divide_up(gpu_slices(conv->x->shape), GPU_WINDOW_CHUNK),
        .groups = groups_x(conv, block, gpu_in_first_batch(plan, images, images)) * groups_y(conv, block),
    };
}

// Whether the device can have such groups, and so many of them.
static bool fits(const struct gpu_caps *caps, const struct gpu_convolution *conv, const struct gpu_matrix_block *block)
{
    int subgroups = block->across * block->along;
    return block->positions * block->outputs <= MAX_TILES && subgroups <= MAX_SUBGROUPS &&
           SUBGROUP * subgroups <= caps->max_group_size && subgroups <= caps->max_group[1] &&
           groups_x(conv, block, conv->y->shape.b) <= caps->max_groups[0] &&
           groups_y(conv, block) <= caps->max_groups[1];
}

// NULL: the device has none.
static const struct gpu_window_way *way_of(const struct gpu_caps *caps)
{
    if (caps->fragment_forms) return &gpu_window_cooperative;
    return caps->dynamic_shared_bytes > 0 ? &gpu_window_matrix : NULL;
}

static bool takes(const struct gpu_convolution *conv)
{
    return gpu_matrix_takes(conv) && gpu_conv_is_whole(conv) && conv->kernel_w * conv->kernel_h > 1 &&
           conv->dilation_w == 1 && conv->dilation_h == 1 && conv->stride_w == conv->stride_h && conv->stride_w <= 2;
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_window_way *way, const struct gpu_plan *plan,
                        const struct gpu_convolution *conv, int form)
{
    for (int i = 0; i < 3 * 3 * 3 * 4; i++) {
        const struct gpu_matrix_block block = {1 << i % 3, 1 << i / 3 % 3, 1, 1 << i / 9 % 3, 1 << i / 27};
        const struct gpu_window_size size = size_of(plan, conv, &block);
        struct gpu_tuned_block numbers = {{block.positions, block.outputs, block.across, block.along}};
        int64_t cycles = fits(plan->caps, conv, &block) ? way->cycles(plan->caps, form, &block, &size) : INT64_MAX;
        if (cycles < INT64_MAX) gpu_ranking_add(ranking, &numbers, cycles);
    }
}

int64_t gpu_window_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv, int form)
{
    const struct gpu_window_way *way = way_of(plan->caps);
    struct gpu_ranking ranking = {.room = 1};
    if (way && form >= 0 && takes(conv)) rank_blocks(&ranking, way, plan, conv, form);
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
    rank_blocks(&ranking, way, plan, conv, form);
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
    const struct gpu_matrix_block block = choose(plan, way, conv, form, in, &tuned);
    const struct gpu_window_size size = size_of(plan, conv, &block);
    struct gpu_window_launch launch;
    way->launch(plan->caps, conv, form, in, &block, &size, &launch);
    struct gpu_weights *weights =
        gpu_matrix_weights(plan, conv, form, &launch.packed, size.chunks * size.taps, way->order);
    if (!weights) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = launch.kernel,
        .operands = {{.value = conv->x}, {.weights = weights}, {.value = conv->y}},
        .params = {{(int)size.chunks, slices, launch.weights_at, 0}, {conv->pad_left, conv->pad_top, 0, 0}},
        .group = {SUBGROUP, size.subgroups, 1},
        .grid = {(int)groups_x(conv, &block, conv->y->shape.b) * SUBGROUP, (int)groups_y(conv, &block) * size.subgroups,
                 1},
        .epilogue = plan->node ? &plan->node->epilogue : NULL,
        .tuned = tuned,
    };
    for (int i = 0; i < GPU_KERNEL_CONSTANTS && launch.kernel->constants[i].name; i++)
        desc.constants[i] = (struct gpu_setting){launch.kernel->constants[i].name, launch.values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
