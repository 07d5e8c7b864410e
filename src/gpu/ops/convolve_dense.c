// SPDX-License-Identifier: Apache-2.0
// See convolve_dense.h. A work-group computes a tile of TILE_W x TILE_H positions for TILE output slices. Its
// work-items bring the part of x that these read, the patch, and the weights into shared memory, all loads at once. The
// caller may have floats, halves or bytes, and the stages of an operator in front are applied to them. Each work-item
// then sums BLOCK_X rows of the tile by BLOCK_O output slices, channel by channel, so that no product is spent on
// channels that fill a slice. The weights lie as those of convolve.c.
#include "gpu/ops/convolve_dense.h"

#include "gpu/ops/costs.h"
#include "gpu/plan/dense_text.h"

// The indices of the kernel's constants.
enum {
    TILE_W,
    BLOCK_X,
    BLOCK_O,
    KERNEL_W,
    KERNEL_H,
    STRIDE_W,
    STRIDE_H,
    CHANNELS,
    BYTES,
    TURNS,
    PATCH,
    STREAM,
    STAGE_0,
    STAGE_1,
    CONSTANTS
};
enum { MAX_STAGES = CONSTANTS - STAGE_0 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
const struct gpu_kernel gpu_kernel_convolve_dense = {
    .name = "convolve_dense",
    .group = {64, 2, 1},
    .args = {{GPU_BYTES_IN, "raw"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    // form: as from_dense, and of bytes: scale, zero point, smallest integer; size: of x, tiles along y; space: padding;
    // inner: a and b of both stages.
    .params = {"form", "size", "space", "inner"},
    GPU_CONSTANTS({"TILE_W", 16},
                  {"BLOCK_X", 1},
                  {"BLOCK_O", 4},
                  {"KERNEL_W", 3},
                  {"KERNEL_H", 3},
                  {"STRIDE_W", 2},
                  {"STRIDE_H", 2},
                  {"CHANNELS", 3},
                  {"BYTES", 0},      // 1: the caller has 8-bit integers
                  {"TURNS", 7},      // elements of the patch that a work-item loads
                  {"PATCH", 891},
                  {"STREAM", 296},   // vectors of weights
                  {"STAGE_0", 0},    // what an operator in front of the convolution does with x
                  {"STAGE_1", 0}),
    .shared = {"float seen[PATCH]", "float4 kept[STREAM]"},
    .epilogue = true,
    .narrows = true,
    .body = GPU_TEXT(
        int lid = LID1 * GROUP_X + LID0;
        int patch_w = ((TILE_W - 1) * STRIDE_W + KERNEL_W) * CHANNELS;
        int tile_h = GROUP_X * BLOCK_X / TILE_W;
        int batch = GROUP1 / P_size.z;
        int first_x = GROUP0 * TILE_W;
        int first_y = (GROUP1 - batch * P_size.z) * tile_h;
        int left = (first_x * STRIDE_W - P_space.x) * CHANNELS;
        int top = first_y * STRIDE_H - P_space.y;
        int width = P_size.x * CHANNELS;
        float next[TURNS];
        UNROLL for (int t = 0; t < TURNS; t += 1) {
            int n = lid + t * (GROUP_X * GROUP_Y);
            int row = n / patch_w;
            int column = left + n - row * patch_w;
            row += top;
            float one = 0.0f;
            if (n < PATCH && column >= 0 && column < width && row >= 0 && row < P_size.y) {
                int at = (batch * P_size.y + row) * width + column;
                if (BYTES == 1) {
    ) GPU_DENSE_BYTE(one, at, P_form.y, P_form.z, P_form.w) GPU_TEXT(
                } else {
    ) GPU_DENSE_ELEMENT(one, at) GPU_TEXT(
                }
                acc4 v = stage(STAGE_0, splatf4(one), bits_to_float(P_inner.x), bits_to_float(P_inner.y));
                v = stage(STAGE_1, v, bits_to_float(P_inner.z), bits_to_float(P_inner.w));
                one = v.x;
            }
            next[t] = one;
        }
        for (int n = lid; n < STREAM; n += GROUP_X * GROUP_Y) kept[n] = to_acc4(weights(GROUP2 * STREAM + n));
        UNROLL for (int t = 0; t < TURNS; t += 1) {
            int n = lid + t * (GROUP_X * GROUP_Y);
            if (n < PATCH) seen[n] = next[t];
        }
        BARRIER;
        int tile = GROUP_Y * BLOCK_O;
        int k = LID1 * BLOCK_O;
        acc4 sums[BLOCK_X * BLOCK_O];
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
            acc4 bias = kept[k + j];
            UNROLL for (int i = 0; i < BLOCK_X; i += 1) sums[j * BLOCK_X + i] = bias;
        }
        k += tile;
        int own_x = LID0 % TILE_W;
        int own_y = LID0 / TILE_W;
        for (int ty = 0; ty < KERNEL_H; ty += 1) {
            int from = (own_y * STRIDE_H + ty) * patch_w + own_x * (STRIDE_W * CHANNELS);
            UNROLL for (int tx = 0; tx < KERNEL_W; tx += 1) {
                UNROLL for (int c = 0; c < CHANNELS; c += 1) {
                    float v[BLOCK_X];
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1)
                        v[i] = seen[from + i * (GROUP_X / TILE_W * STRIDE_H) * patch_w + tx * CHANNELS + c];
                    UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                        acc4 w = kept[k + (tx * 4 + c) * tile + j];
                        UNROLL for (int i = 0; i < BLOCK_X; i += 1)
                            sums[j * BLOCK_X + i] = mad(w, v[i], sums[j * BLOCK_X + i]);
                    }
                }
            }
            k += KERNEL_W * 4 * tile;
        }
        UNROLL for (int n = 0; n < BLOCK_X * BLOCK_O; n += 1) {
            int4 p = mki4(first_x + own_x, first_y + own_y + n % BLOCK_X * (GROUP_X / TILE_W),
                          GROUP2 * tile + LID1 * BLOCK_O + n / BLOCK_X, batch);
            if (p.x < y_w && p.y < y_h && p.z < y_s) {
                acc4 v = sums[n];
                write_y(p, finish(to_real4(v), p));
            }
        }
    ),
};
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// The model of a device is that of convolve.c, with the patch in place of loads of x: a work-item has BRING more
// instructions for an element or a vector of weights that it brings.
enum { WARP = 32, BANDWIDTH = 64, LATENCY = 250, START = 1700, BRING = 12, UNIT_ITEMS = 1024 };
enum { MAX_ITEMS = 256, MAX_TURNS = 16, MAX_SUMS = 8, SHARED_BYTES = 16 << 10 };
enum { MAX_KERNEL = 7, MAX_STRIDE = 8, MAX_CHANNELS = 4 }; // of a convolution

struct block {
    int tile_w, rows, slices;          // columns of a tile; rows and output slices of a work-item
    int high, across;                  // work-items along the rows of a tile, and along output slices
    int patch, turns;                  // elements of the patch, and how many of them a work-item loads
    int stream;                        // vectors of a work-group's weights
    int64_t tiles_x, tiles_y, streams; // work-groups along each axis, of one image
};

static bool complete(struct block *block, const struct gpu_caps *caps, const struct gpu_convolution *conv)
{
    const struct gpu_shape y = conv->y->shape;
    int items = block->tile_w * block->high * block->across, tile_h = block->high * block->rows;
    int patch_w = ((block->tile_w - 1) * conv->stride_w + conv->kernel_w) * conv->inputs;
    block->patch = patch_w * ((tile_h - 1) * conv->stride_h + conv->kernel_h);
    block->turns = (int)gpu_divide_up(block->patch, items);
    block->stream = (int)gpu_conv_stream_vectors(conv, block->slices * block->across);
    block->tiles_x = gpu_divide_up(y.w, block->tile_w);
    block->tiles_y = gpu_divide_up(y.h, tile_h);
    block->streams = gpu_divide_up(gpu_slices(y), (int64_t)block->slices * block->across);
    return items >= WARP && items <= MAX_ITEMS && items <= caps->max_group_size &&
           block->rows * block->slices <= MAX_SUMS && block->tile_w * block->high <= caps->max_group[0] &&
           block->across <= caps->max_group[1] && block->turns <= MAX_TURNS &&
           4 * block->patch + 16 * block->stream <= SHARED_BYTES && SHARED_BYTES <= caps->shared_bytes &&
           block->tiles_x <= caps->max_groups[0] && block->tiles_y * y.b <= caps->max_groups[1] &&
           block->streams <= caps->max_groups[2];
}

static int64_t block_cycles(const struct block *block, const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    const int images = conv->y->shape.b, sums = block->rows * block->slices;
    int64_t terms = (int64_t)conv->kernel_w * conv->kernel_h * conv->inputs;
    int64_t groups = block->tiles_x * block->tiles_y * block->streams * gpu_in_first_batch(plan, images, images);
    int64_t each = gpu_divide_up(groups, gpu_conv_units(plan->caps));
    int items = block->tile_w * block->high * block->across;
    int64_t own = terms * (4 * sums + 2 * block->slices + 2 * block->rows) + block->turns * BRING + 32 * sums +
                  gpu_divide_up(block->stream, items) * BRING;
    int64_t work = gpu_divide_up(each * gpu_divide_up(items, WARP), 4) * own;
    int64_t bytes = each * (4 * block->patch + 16 * block->stream + (int64_t)items * 16 * sums) / BANDWIDTH;
    int64_t waves = gpu_divide_up(each, UNIT_ITEMS / items);
    return gpu_overlapped(work, bytes, waves * (START + 2 * LATENCY + own));
}

static int64_t choose(struct block *best, const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 3 * 4 * 3 * 4 * 4; i++) {
        struct block block = {.tile_w = 8 << i % 3,
                              .high = 1 << i / 3 % 4,
                              .rows = 1 << i / 12 % 3,
                              .slices = 1 + i / 36 % 4,
                              .across = 1 << i / 144};
        if (!complete(&block, plan->caps, conv)) continue;
        int64_t cycles = block_cycles(&block, plan, conv);
        if (cycles >= least) continue;
        least = cycles;
        *best = block;
    }
    return least;
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

// What the convolution reads: its input, or that of an operator in front of it, whose stages it applies then.
static const struct gpu_value *source_of(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                                         struct gpu_dense_copy **copy)
{
    *copy = gpu_plan_dense_copy(plan, conv->x);
    const struct gpu_epilogue *stages = *copy ? &(*copy)->epilogue : NULL;
    if (stages && (stages->count > MAX_STAGES || stages->residual || gpu_reads_channels(stages))) *copy = NULL;
    return *copy ? (*copy)->x : conv->x;
}

static bool takes(const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct gpu_dense_copy *copy;
    const bool constant = !conv->weights_value && !conv->bias_value;
    const bool small = conv->inputs <= MAX_CHANNELS && conv->kernel_w <= MAX_KERNEL && conv->kernel_h <= MAX_KERNEL &&
                       conv->kernel_w * conv->kernel_h > 1 && conv->dilation_w == 1 && conv->dilation_h == 1 &&
                       conv->stride_w <= MAX_STRIDE && conv->stride_h <= MAX_STRIDE;
    return gpu_plan_may_read_dense(plan, source_of(plan, conv, &copy)) && plan->node &&
           plan->node->inputs[0] == conv->x && constant && small && gpu_conv_is_whole(conv) && conv->groups <= 1 &&
           !conv->images && !conv->inner && !conv->mirrors &&
           plan->caps->vendor != GPU_VENDOR_ARM; // whose shared memory is usual memory
}

// What from_dense or from_bytes takes.
static int64_t saved_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct gpu_dense_copy *copy;
    const struct gpu_value *x = source_of(plan, conv, &copy);
    int64_t bytes = (int64_t)gpu_value_vectors(x) * 16 + (int64_t)gpu_caller_bytes(x);
    return gpu_step_cycles(plan->caps) + START + LATENCY + bytes / gpu_conv_units(plan->caps) / BANDWIDTH;
}

int64_t gpu_dense_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct block block;
    int64_t cycles = takes(plan, conv) ? choose(&block, plan, conv) : INT64_MAX;
    return cycles == INT64_MAX ? cycles : cycles - saved_cycles(plan, conv);
}

bool gpu_plan_dense(struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct gpu_dense_copy *copy;
    const struct gpu_value *x = source_of(plan, conv, &copy);
    const struct gpu_quantization *q = &x->quantization;
    const bool bytes = gpu_caller_format(x) == GPU_FORMAT_BYTES;
    const int images = conv->y->shape.b;
    struct block block = {0};
    choose(&block, plan, conv);
    int tile = block.slices * block.across;
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)(block.streams * gpu_conv_stream_vectors(conv, tile)));
    if (!weights) return false;
    gpu_conv_pack(conv, tile, weights->data);
    int values[CONSTANTS] = {
        [TILE_W] = block.tile_w,     [BLOCK_X] = block.rows,      [BLOCK_O] = block.slices,
        [KERNEL_W] = conv->kernel_w, [KERNEL_H] = conv->kernel_h, [STRIDE_W] = conv->stride_w,
        [STRIDE_H] = conv->stride_h, [CHANNELS] = conv->inputs,   [BYTES] = bytes,
        [TURNS] = block.turns,       [PATCH] = block.patch,       [STREAM] = block.stream,
    };
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_convolve_dense,
        .operands = {{.value = x, .outside = true}, {.weights = weights}, {.value = conv->y}},
        .params = {{0, gpu_float_bits(x->whole ? 1 : q->scale), q->zero_point, q->type == kTfLiteInt8 ? -128 : 0},
                   {x->shape.w, x->shape.h, (int)block.tiles_y, 0},
                   {conv->pad_left, conv->pad_top}},
        .group = {block.tile_w * block.high, block.across, 1},
        .grid = {(int)block.tiles_x * block.tile_w * block.high, (int)block.tiles_y * images * block.across,
                 (int)block.streams},
        .epilogue = &plan->node->epilogue,
    };
    for (int s = 0; copy && s < copy->epilogue.count; s++) {
        values[STAGE_0 + s] = (int)copy->epilogue.stages[s].op;
        desc.params[3][2 * s] = gpu_float_bits(copy->epilogue.stages[s].a);
        desc.params[3][2 * s + 1] = gpu_float_bits(copy->epilogue.stages[s].b);
    }
    if (copy) copy->taken = true;
    for (int i = 0; i < CONSTANTS; i++)
        desc.constants[i] = (struct gpu_setting){gpu_kernel_convolve_dense.constants[i].name, values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
