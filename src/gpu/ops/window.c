// SPDX-License-Identifier: Apache-2.0
// See window.h: which convolutions these are, which kernel the device has for them, and its fastest block.
#include "gpu/ops/window.h"

#include <string.h>

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"

enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_SUBGROUPS = 8, MAX_TILES = 12 }; // tiles of sums that a subgroup has
enum { MAX_SPREAD = 12 };

int gpu_window_columns(const struct gpu_convolution *conv)
{
    const int slices = gpu_slices(conv->x->shape);
    return conv->kernel_w > 1 && slices <= 2 ? GPU_WINDOW_CHUNK / slices : 1;
}

int gpu_window_spread(const struct gpu_convolution *conv)
{
    return conv->outputs <= 4 && conv->kernel_w <= MAX_SPREAD && conv->stride_w == 1 && gpu_window_columns(conv) == 1
               ? conv->kernel_w
               : 1;
}

int gpu_window_slices(const struct gpu_convolution *conv)
{
    const int spread = gpu_window_spread(conv);
    return spread > 1 ? spread : gpu_slices(conv->y->shape);
}

// The tiles of a subgroup that stand below each other; where columns of taps are spread they stand beside each other.
static int tiles_below(const struct gpu_convolution *conv, const struct gpu_matrix_block *block)
{
    return gpu_window_spread(conv) > 1 ? 1 : block->positions;
}

// Positions of a row for which a group has tiles; of y one less for each further column that is spread.
static int tiles_width(const struct gpu_convolution *conv, const struct gpu_matrix_block *block)
{
    return GPU_WINDOW_TILE_W * (block->positions / tiles_below(conv, block));
}

// Work-groups along positions, of so many images, and along outputs.
static int64_t groups_x(const struct gpu_convolution *conv, const struct gpu_matrix_block *block, int64_t images)
{
    const struct gpu_shape y = conv->y->shape;
    const int width = tiles_width(conv, block) - gpu_window_spread(conv) + 1;
    return gpu_divide_up(y.w, width) * gpu_divide_up(y.h, block->along * tiles_below(conv, block)) * images;
}

static int64_t groups_y(const struct gpu_convolution *conv, const struct gpu_matrix_block *block)
{
    if (gpu_window_spread(conv) > 1) return 1;
    return gpu_divide_up(gpu_slices(conv->y->shape), (int64_t)4 * block->outputs * block->across);
}

static struct gpu_window_size size_of(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                                      const struct gpu_matrix_block *block)
{
    const int stride = conv->stride_w, images = conv->y->shape.b;
    const int columns = gpu_window_columns(conv), spread = gpu_window_spread(conv);
    const int steps_w = (int)gpu_divide_up(conv->kernel_w, columns * spread);
    const int last = (tiles_width(conv, block) - 1) * stride + (steps_w - 1) * columns; // column of a patch
    const int patch_w = (int)gpu_divide_up(last + 1, stride) * stride;
    return (struct gpu_window_size){
        .subgroups = block->across * block->along,
        .columns = columns,
        .spread = spread,
        .steps_w = steps_w,
        .taps = steps_w * conv->kernel_h,
        .tile_step = spread > 1 ? GPU_WINDOW_TILE_W : stride * patch_w,
        .patch_w = patch_w,
        .patch_h = (block->along * tiles_below(conv, block) - 1) * stride + conv->kernel_h,
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
    const int spread = gpu_window_spread(conv);
    for (int i = 0; i < 3 * 3 * 3 * 4; i++) {
        struct gpu_matrix_block block = {1 << i % 3, 1 << i / 3 % 3, 1, 1 << i / 9 % 3, 1 << i / 27};
        if (spread > 1 && (block.outputs > 1 || block.across > 1)) continue;
        if (spread > 1) block.outputs = (int)gpu_divide_up(spread, 4);
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
    int tuned, in = conv->mirrors ? IN_MIRROR : IN_WINDOW;
    const struct gpu_matrix_block block = choose(plan, way, conv, form, in, &tuned);
    const struct gpu_window_size size = size_of(plan, conv, &block);
    const struct gpu_window_launch launch = way->launch(plan->caps, form, &block, &size);
    struct gpu_weights *weights =
        gpu_matrix_weights(plan, conv, form, &launch.packed, size.chunks * size.taps, way->order);
    if (!weights) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = launch.kernel,
        .operands = {{.value = conv->x}, {.weights = weights}, {.value = conv->y}},
        .params = {{(int)size.chunks, gpu_window_slices(conv), launch.weights_at, 0},
                   {conv->pad_left, conv->pad_top, 0, 0}},
        .group = {SUBGROUP, size.subgroups, 1},
        .grid = {(int)groups_x(conv, &block, conv->y->shape.b) * SUBGROUP, (int)groups_y(conv, &block) * size.subgroups,
                 1},
        .constants = {{"BLOCK_X", block.positions},
                      {"BLOCK_O", block.outputs},
                      {"ACROSS", block.across},
                      {"IN", in},
                      {"WINDOW_W", conv->kernel_w},
                      {"WINDOW_H", conv->kernel_h},
                      {"STRIDE", conv->stride_w},
                      {"PATCH_W", size.patch_w},
                      {"PATCH_H", size.patch_h},
                      {"MATRIX", form},
                      {"COLUMNS", size.columns},
                      {"SPREAD", size.spread},
                      {"STEPS_W", size.steps_w},
                      {"TILE_STEP", size.tile_step},
                      {"GUARDED", gpu_matrix_is_guarded(conv->x, form)}},
        .epilogue = plan->node ? &plan->node->epilogue : NULL,
        .tuned = tuned,
    };
    int common = 0;
    while (desc.constants[common].name) common++;
    memcpy(desc.constants + common, launch.own, sizeof launch.own);
    return gpu_plan_dispatch(plan, &desc);
}
