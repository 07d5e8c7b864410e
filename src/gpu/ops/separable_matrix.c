// SPDX-License-Identifier: Apache-2.0
// See separable.h. A work-group has the positions of a tile, 8 wide and 2 * BLOCK_X high, and the outputs of GROUP_Y
// subgroups. Its work-items first compute the depthwise convolution, each a column of the tile for one input slice,
// into shared memory, as operands of the matrix units; then its subgroups take their products from there
// (matrix_text.h), and divide the steps along z. Where the input has more slices than shared memory has room for, they
// come in several rounds of CHUNK steps.
//
// The weights are the bias of the 1x1 convolution, then those of the depthwise one (for four slices that lie next to
// each other: their biases, then their weights, tap after tap), then the streams of matrix.c, whose first steps are
// loaded before the kernel waits for earlier ones.
#include <limits.h>

#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_text.h"
#include "gpu/ops/separable.h"

// The indices of the kernel's constants.
enum {
    BLOCK_X,
    BLOCK_O,
    DEPTH,
    ROUND,
    MATRIX,
    CHUNK,
    ROOM,
    WINDOW,
    STRIDE,
    STEP,
    SPAN,
    NUMBERS,
    STAGE_OF_X,
    CONSTANTS
};
enum { TILE_W = 8, STEP_SLICES = 4 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Writes v, output n of the block.
#define FINISH_ONE                                                                                       \
    GPU_TEXT(                                                                                            \
        int o = first_slice + n / (2 * BLOCK_X) * 4;                                                     \
        int4 p = mki4(first_x + row, first_y + n % (2 * BLOCK_X), o, batch);                             \
        if (p.x < y_w && p.y < y_h && o < y_s) write_y(p, finish(to_real4(v), p));                       \
    )

const struct gpu_kernel gpu_kernel_separable_matrix = {
    .name = "separable_matrix",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},
    // step: stride and dilation along x, padding; sum: steps and where the streams begin (y, z), and where the
    // depthwise weights do; inner: a and b of STAGE.
    .params = {"step", "sum", "inner"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 1},
                  {"DEPTH", 1},   // steps whose weights are loaded before the first is multiplied
                  {"ROUND", 2},   // outputs of a work-item that are summed in shared memory at a time
                  {"MATRIX", MATRIX_FLOATS},
                  {"CHUNK", 1},   // steps between two depthwise parts, a multiple of DEPTH * GROUP_Z
                  {"ROOM", 1024}, // vectors in shared memory: those of a chunk, and then those of a round
                  {"WINDOW", 3},
                  {"STRIDE", 1},  // along y
                  {"STEP", 1},    // dilation along y
                  {"SPAN", 4},    // rows of x that a column reads
                  {"NUMBERS", 0}, // 1: the stage's numbers of a slice's channels are behind its weights
                  {"STAGE", 0}),  // what follows the depthwise convolution
    .value_names = {GPU_MATRIX_FORMS(GPU_VALUE_NAME)},
    .shared = {"float4 tile[ROOM]"},
    .epilogue = true,
    .matrix = true,
    .waits = true,
    .body = GPU_MATRIX_BEGIN(P_sum.z, P_sum.y) GPU_TEXT(
        int tiles_x = (y_w + 7) / 8;
        int tiles_y = (y_h + 2 * BLOCK_X - 1) / (2 * BLOCK_X);
        int tile_row = GROUP0 / tiles_x;
        int batch = tile_row / tiles_y;
        int first_x = (GROUP0 - tile_row * tiles_x) * 8;
        int first_y = (tile_row - batch * tiles_y) * (2 * BLOCK_X);
        int plane = x_w * x_h;
        int lid = (LID2 * GROUP_Y + LID1) * 32 + LID0;
        int px = (first_x + lid % 8) * P_step.x - P_step.z;
        int py = first_y * STRIDE - P_step.w;
        int across[WINDOW];
        UNROLL for (int tx = 0; tx < WINDOW; tx += 1)
            across[tx] = batch * x_s * plane + max(min(px + tx * P_step.y, x_w - 1), 0);
        WAIT;
        for (int begin = 0; begin < P_sum.y; begin += CHUNK) {
            if (begin > 0) BARRIER;
            for (int c = lid / 8; c < CHUNK * 4; c += GROUP_Y * GROUP_Z * 4) {
                int s = min(begin * 4 + c, x_s - 1);
                int k = P_sum.w + s / 4 * (4 * (WINDOW * WINDOW + 1 + NUMBERS)) + s % 4;
                acc4 v[SPAN * WINDOW];
                UNROLL for (int n = 0; n < SPAN; n += 1) {
                    int from = s * plane + max(min(py + n, x_h - 1), 0) * x_w;
                    UNROLL for (int tx = 0; tx < WINDOW; tx += 1) v[n * WINDOW + tx] = to_acc4(load_x(from + across[tx]));
                }
                int4 bits = weights(k);
                acc4 columns[2 * BLOCK_X];
                UNROLL for (int i = 0; i < 2 * BLOCK_X; i += 1) columns[i] = bits_to_float4(bits);
                UNROLL for (int n = 0; n < SPAN; n += 1) {
                    bool row_inside = py + n >= 0 && py + n < x_h;
                    UNROLL for (int tx = 0; tx < WINDOW; tx += 1) {
                        int ax = px + tx * P_step.y;
                        acc4 one = v[n * WINDOW + tx];
                        if (!(row_inside && ax >= 0 && ax < x_w)) one = splatf4(0.0f);
                        UNROLL for (int i = 0; i < 2 * BLOCK_X; i += 1) {
                            int down = n - i * STRIDE;
                            if (down >= 0 && down % STEP == 0 && down / STEP < WINDOW) {
                                int4 tap = weights(k + (down / STEP * WINDOW + tx + 1) * 4);
                                columns[i] = mad(one, bits_to_float4(tap), columns[i]);
                            }
                        }
                    }
                }
                if (NUMBERS == 1) bits = weights(k + (WINDOW * WINDOW + 1) * 4);
                UNROLL for (int i = 0; i < 2 * BLOCK_X; i += 1) {
                    columns[i] = stage_with(STAGE, columns[i], bits_to_float4(bits), bits_to_float(P_inner.x),
                                            bits_to_float(P_inner.y));
                    if (begin * 4 + c >= x_s) columns[i] = splatf4(0.0f);
                }
                UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                    acc4 first = columns[2 * i];
                    acc4 last = first;
                    MATRIX_OPERANDS(first, last, columns[2 * i], columns[2 * i + 1]);
                    int to = c * (8 * BLOCK_X + 2) + i * 8 + lid % 8;
                    tile[to] = first;
                    tile[to + CHUNK * 4 * (8 * BLOCK_X + 2)] = last;
                }
            }
            BARRIER;
            for (int step = 0; step < CHUNK; step += GROUP_Z * DEPTH) {
                UNROLL for (int n = 0; n < DEPTH; n += 1) {
                    int at = ((step + LID2 + n * GROUP_Z) * 4 + part) * (8 * BLOCK_X + 2) + row;
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                        acc4 first = tile[at + i * 8];
                        acc4 last = tile[at + i * 8 + CHUNK * 4 * (8 * BLOCK_X + 2)];
    ) GPU_MATRIX_ADD_STEP(first, last) GPU_TEXT(
                    }
                }
                s0 += GROUP_Z * DEPTH;
                if (s0 < P_sum.y) {
    ) GPU_MATRIX_LOAD_WEIGHTS(weights) GPU_TEXT(
                }
            }
        }
    ) GPU_MATRIX_END_SUMS(FINISH_ONE),
};
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit. A warp computes a column of the tile in four slices: it waits
// FAR_LATENCY for the loads of each turn, takes a cycle for each line of memory that they touch, and its products a
// quarter of a unit four cycles each. Then steps are products, bytes of weights, and a LATENCY for each `depth` of
// them; and each round of the sums along z takes ROUND_CYCLES. All but START are fitted to 108 times of the layers of
// MobileNet v1 on an H100 (CUDA, f32), which the model predicts to 22 %. START was 3500 there, and is less by what the
// models of two dispatches leave out (1.2 us on the average of these layers), so that the three can be compared.
enum { BANDWIDTH = 48, FAR_LATENCY = 1500, LATENCY = 300, START = 1300, ROUND_CYCLES = 400 };
enum { MAX_SUBGROUPS = 8, MAX_ROUND = 8, MAX_SPAN = 24, COLUMN_REGISTERS = 24 };
enum { UNIT_VECTORS = 14500 }; // of shared memory, that a unit has

// A block, and what follows from it.
struct plan_of_block {
    struct gpu_matrix_block block;
    int steps, chunk; // all of them, and those between two depthwise parts
    int round, room;
};

static int round_of(const struct gpu_matrix_block *block)
{
    int outputs = 2 * block->positions * block->outputs;
    return outputs < MAX_ROUND ? outputs : MAX_ROUND;
}

// Whether a block can be. Fills in the rest.
static bool complete(struct plan_of_block *plan, const struct gpu_caps *caps, const struct gpu_separable_size *size,
                     int form)
{
    const struct gpu_matrix_block *block = &plan->block;
    int subgroups = block->across * block->along, items = GPU_MATRIX_SUBGROUP * subgroups;
    int together = block->along * block->depth, column = 16 * block->positions + 4;
    if (subgroups > MAX_SUBGROUPS || items > caps->max_group_size || block->along > caps->max_group[2] ||
        block->across > caps->max_group[1] ||
        gpu_matrix_registers(block, form) + COLUMN_REGISTERS > gpu_matrix_most_registers(items))
        return false;
    int needed = (int)gpu_divide_up(size->inputs, STEP_SLICES), sums = round_of(block) * items;
    int rounds = (int)gpu_divide_up(needed, together), vectors = caps->shared_bytes / 16;
    int most = vectors / (STEP_SLICES * column * together); // of `together` steps each
    if (block->along > 1 && sums > vectors) return false;
    if (most < 1) return false;
    int chunks = (int)gpu_divide_up(rounds, most), each = (int)gpu_divide_up(rounds, chunks);
    plan->chunk = each * together;
    plan->steps = chunks * plan->chunk;
    plan->round = round_of(block);
    plan->room = (int)gpu_larger((int64_t)plan->chunk * STEP_SLICES * column, block->along > 1 ? sums : 0);
    return true;
}

static int64_t tiles_of(const struct gpu_matrix_block *block, const struct gpu_separable_size *size)
{
    return gpu_divide_up(size->width, TILE_W) * gpu_divide_up(size->height, 2 * block->positions) * size->images;
}

// How many times the groups of a unit come one after the other.
static int64_t waves_of(const struct plan_of_block *plan, int64_t each)
{
    int resident = gpu_matrix_resident(GPU_MATRIX_SUBGROUP * plan->block.across * plan->block.along);
    int room = UNIT_VECTORS / plan->room;
    if (room < resident) resident = room;
    return gpu_divide_up(each, gpu_larger(resident, 1));
}

static int64_t cycles_of(const struct plan_of_block *plan, const struct gpu_caps *caps,
                         const struct gpu_separable_size *size, int form)
{
    const struct gpu_matrix_block *block = &plan->block;
    int64_t subgroups = (int64_t)block->across * block->along, rows = 2 * block->positions;
    int64_t groups = tiles_of(block, size) * gpu_divide_up(size->slices, (int64_t)4 * block->outputs * block->across);
    int64_t each = gpu_divide_up(groups, gpu_conv_units(caps)), waves = waves_of(plan, each);
    int64_t turns = gpu_divide_up(plan->steps, subgroups), taps = size->taps, window = taps / size->rows;
    int64_t span = (rows - 1) * size->stride_h + window, lines = 4 * span * window + taps + 1;
    int64_t depthwise = gpu_overlapped(each * turns * subgroups * lines, each * turns * subgroups * taps * rows,
                                       waves * turns * FAR_LATENCY);
    int64_t steps = gpu_divide_up(plan->steps, block->along);
    int64_t bytes = (int64_t)(form < MATRIX_HALVES ? 1024 : 512) * block->outputs * block->across * plan->steps;
    int64_t product =
        gpu_overlapped(each * gpu_divide_up(subgroups, 4) * steps * gpu_matrix_step_cycles(block, form),
                       each * bytes / BANDWIDTH, waves * (gpu_divide_up(steps, block->depth) - 1) * LATENCY);
    int64_t rounds = block->along > 1 ? gpu_divide_up(2 * block->positions * block->outputs, plan->round) : 0;
    return depthwise + product + waves * (START + rounds * ROUND_CYCLES);
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_caps *caps, const struct gpu_separable_size *size,
                        int form)
{
    for (int i = 0; i < 2 * 3 * 4 * 4 * 4; i++) {
        struct plan_of_block plan = {
            .block = {1 << i % 2, 1 << i / 2 % 3, 1 << i / 6 % 4, 1 << i / 24 % 4, 1 << i / 96}};
        const struct gpu_matrix_block *block = &plan.block;
        if (!complete(&plan, caps, size, form) || tiles_of(block, size) > caps->max_groups[0]) continue;
        struct gpu_tuned_block numbers = {
            {block->positions, block->outputs, block->depth, block->across, block->along}};
        gpu_ranking_add(ranking, &numbers, cycles_of(&plan, caps, size, form));
    }
}

// ---- whether --------------------------------------------------------------------------------------------------------

// The form of products with what the depthwise convolution makes; -1: they cannot be made here.
static int form_of(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                   const struct gpu_convolution *pointwise)
{
    int span = (depthwise->kernel_h - 1) * depthwise->dilation_h + 3 * depthwise->stride_h;
    if (!plan->caps->matrix_forms || depthwise->kernel_w != depthwise->kernel_h || span > MAX_SPAN) return -1;
    return gpu_matrix_form(plan, depthwise->y, pointwise, false);
}

int64_t gpu_separable_matrix_cycles(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                                    const struct gpu_convolution *pointwise, const struct gpu_separable_size *size)
{
    struct gpu_ranking ranking = {.room = 1};
    int form = form_of(plan, depthwise, pointwise);
    if (form >= 0) rank_blocks(&ranking, plan->caps, size, form);
    return gpu_ranking_limit(&ranking);
}

static struct gpu_matrix_block choose(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                                      const struct gpu_separable_size *size, int form, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    *tuned = 0;
    rank_blocks(&ranking, plan->caps, size, form);
    if (gpu_tuning_answers(plan->tuning) && size->positions <= INT_MAX) {
        struct gpu_tuned_size asked = {"separable_matrix",
                                       {size->width, size->height, size->inputs, size->slices, size->taps,
                                        depthwise->stride_h, depthwise->dilation_h, form}};
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    const int32_t *n = block ? block->numbers : ranking.blocks[0].numbers;
    return (struct gpu_matrix_block){n[0], n[1], n[2], n[3], n[4]};
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

// The vectors of the depthwise weights, `each` for a slice, whose slices are filled up to fours.
static int64_t own_vectors(const struct gpu_separable_size *size, int each)
{
    return gpu_divide_up(size->inputs, STEP_SLICES) * STEP_SLICES * each;
}

bool gpu_plan_separable_matrix(struct gpu_plan *plan, const struct gpu_node *node,
                               const struct gpu_depthwise *depthwise, const struct gpu_convolution *pointwise,
                               const struct gpu_separable_size *size)
{
    int form = form_of(plan, depthwise, pointwise), tuned;
    struct plan_of_block all = {.block = choose(plan, depthwise, size, form, &tuned)};
    const struct gpu_matrix_block *block = &all.block;
    complete(&all, plan->caps, size, form);
    const struct gpu_between between = gpu_between_of(node);
    int64_t first = size->slices + own_vectors(size, gpu_between_vectors(&between, depthwise));
    struct gpu_weights *weights =
        gpu_plan_integers(plan, (size_t)(first + gpu_matrix_vectors(block, form, size->slices, all.steps)));
    if (!weights) return false;
    for (int i = 0; i < pointwise->outputs && pointwise->bias; i++)
        weights->integers[i] = gpu_float_bits(pointwise->bias[i]);
    if (!gpu_between_pack(&between, depthwise, STEP_SLICES, weights->integers + (size_t)4 * size->slices))
        return gpu_plan_fail(plan, "out of memory");
    gpu_matrix_pack(pointwise, form, block, all.steps, GPU_MATRIX_BY_TAPS, weights->integers + 4 * first);

    struct gpu_shape y = pointwise->y->shape;
    int64_t tiles = gpu_divide_up(y.w, TILE_W) * gpu_divide_up(y.h, 2 * block->positions) * y.b;
    int values[CONSTANTS] = {
        [BLOCK_X] = block->positions,
        [BLOCK_O] = block->outputs,
        [DEPTH] = block->depth,
        [ROUND] = all.round,
        [MATRIX] = form,
        [CHUNK] = all.chunk,
        [ROOM] = all.room,
        [WINDOW] = depthwise->kernel_h,
        [STRIDE] = depthwise->stride_h,
        [STEP] = depthwise->dilation_h,
        [SPAN] =
            (2 * block->positions - 1) * depthwise->stride_h + (depthwise->kernel_h - 1) * depthwise->dilation_h + 1,
        [NUMBERS] = between.numbers != NULL,
        [STAGE_OF_X] = (int)between.op,
    };
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_separable_matrix,
        .operands = {{.value = depthwise->x}, {.weights = weights}, {.value = pointwise->y}},
        .params = {{depthwise->stride_w, depthwise->dilation_w, depthwise->pad_left, depthwise->pad_top},
                   {size->inputs, all.steps, (int)first, size->slices},
                   {gpu_float_bits(between.a), gpu_float_bits(between.b)}},
        .group = {GPU_MATRIX_SUBGROUP, block->across, block->along},
        .grid = {(int)tiles * GPU_MATRIX_SUBGROUP, (int)gpu_divide_up(size->slices, 4 * block->outputs), block->along},
        .epilogue = &plan->node->epilogue,
        .tuned = tuned,
    };
    for (int i = 0; i < CONSTANTS; i++)
        desc.constants[i] = (struct gpu_setting){gpu_kernel_separable_matrix.constants[i].name, values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
