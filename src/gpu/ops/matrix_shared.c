// SPDX-License-Identifier: Apache-2.0
// See matrix_shared.h. A work-group computes BLOCK_X tiles of 16 positions by the outputs of GROUP_Y subgroups, of
// which each has BLOCK_O tiles of 16. The sum comes in chunks of CHUNK steps of 16 input channels (MATRIX_STEP,
// docs/kernel_dialect.md), which subgroups divide among themselves along z. The work-items load x for AHEAD chunks,
// while the units multiply those before, and put it into shared memory as operands: each number is split once for a
// group. The weights of STAGES chunks are copied there in bulk, the first ones before the kernel waits for earlier
// dispatches, on which they do not depend.
//
// The input slices of a step are taken from the list of all taps' slices, tap after tap. The weights begin with the
// bias. A stream for each row of work-groups follows, in which each step has one or two vectors for each tile and
// work-item.
#include "gpu/ops/matrix_shared.h"

#include <limits.h>

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_text.h"

// The indices of the kernel's constants.
enum { BLOCK_X, BLOCK_O, OUT, IN, CHUNK, STAGES, TURNS, ROUND, MATRIX, TILE, AHEAD, RESIDENT, GUARDED, CONSTANTS };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Loads x for chunk C to place D of those ahead. A work-item has TURNS vectors of two positions, which are eight apart.
// The number of a slice's tap is a quotient, which floats give exactly up to MAX_TERMS.
#define LOAD_X(C, D)                                                                                     \
    GPU_TEXT(                                                                                            \
        UNROLL for (int t = 0; t < TURNS; t += 1) {                                                      \
            int term = (C) * (4 * CHUNK) + own_slice + t * turn;                                         \
    ) GPU_CONV_FIND_TERM(to_int((to_float(term) + 0.5f) * per_slice),                                    \
                         to_int((to_float(tap) + 0.5f) * per_tap)) GPU_TEXT(                             \
            UNROLL for (int i = 0; i < 2; i += 1) {                                                      \
    ) GPU_CONV_LOCATE(i) GPU_TEXT(                                                                       \
                next[((D) * TURNS + t) * 2 + i] = splatf4(0.0f);                                         \
                if (inside) next[((D) * TURNS + t) * 2 + i] = to_acc4(load_x(from));                     \
            }                                                                                            \
        }                                                                                                \
    )

const struct gpu_kernel gpu_kernel_matrix_shared = {
    .name = "convolve_matrix_shared",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},
    // sum: input slices of all taps, taps along x and y, steps; step: strides, padding; space: dilations, where the
    // streams begin in the weights, and the weights in shared memory; grid: size, offset in y.
    .params = {"sum", "step", "space", "grid"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 2},
                  {"OUT", OUT_SPREAD},
                  {"IN", IN_WINDOW},
                  {"CHUNK", 1},
                  {"STAGES", 1},
                  {"TURNS", 1},      // vectors of two positions of x that a work-item loads for a chunk
                  {"ROUND", 4},      // outputs of a work-item that are summed in shared memory at a time
                  {"MATRIX", MATRIX_SPLIT},
                  {"TILE", 288},     // vectors: x of two chunks, then weights; in the end those of a round
                  {"AHEAD", 1},      // chunks of x that are loaded before the first is multiplied
                  {"RESIDENT", 2},
                  {"GUARDED", 0}),   // 1: numbers that are split may be too large or small for it
    .value_names = {GPU_CONV_OUTS(GPU_VALUE_NAME), GPU_CONV_INS(GPU_VALUE_NAME), GPU_MATRIX_FORMS(GPU_VALUE_NAME)},
    .shared = {"int vote[4]"},
    .dynamic_shared = true,
    .epilogue = true,
    .matrix = true,
    .waits = true,
    .body = GPU_TEXT(
        int lid = (LID2 * GROUP_Y + LID1) * 32 + LID0;
        int row = LID0 / 4;
        int part = LID0 % 4;
        int vectors = pick(MATRIX == MATRIX_SPLIT, 2, 1);
        int each = CHUNK * GROUP_Y * BLOCK_O * vectors * 32;
        int chunks = P_sum.w / CHUNK;
        int stream = P_space.z + GROUP1 * chunks * each;
        for (int n = 0; n < STAGES; n += 1) fetch_weights(n, P_space.w + n * each, stream + n * each, each);
        int first_slice = (GROUP1 * GROUP_Y + LID1) * (4 * BLOCK_O) + part;
        acc4 sums[2 * BLOCK_X * BLOCK_O];
        acc4 rest[2 * BLOCK_X * BLOCK_O];
    ) GPU_MATRIX_BEGIN_SUMS GPU_TEXT(
        int positions = P_grid.x * P_grid.y * x_b;
        int own = lid % (8 * BLOCK_X);
        int own_slice = lid / (8 * BLOCK_X);
        int turn = 4 * GROUP_Y * GROUP_Z / BLOCK_X;
        int first_position = GROUP0 * (16 * BLOCK_X) + own / 8 * 16 + own % 8;
        float per_slice = 1.0f / to_float(x_s);
        float per_tap = 1.0f / to_float(P_sum.y);
        int plane = x_w * x_h;
        int skipped = 0;
    ) GPU_CONV_PLACES_IN_X(2, 8) GPU_TEXT(
        acc4 next[AHEAD * TURNS * 2];
        int kind = 4 * CHUNK * (8 * BLOCK_X + 2);
    ) GPU_MATRIX_GUARD GPU_TEXT(
        WAIT;
        for (int pass = 0; pass < passes; pass += 1) {
            int before = pass * chunks;
            UNROLL for (int d = 0; d < AHEAD; d += 1) {
    ) LOAD_X(d, d) GPU_TEXT(
            }
            for (int first = 0; first < chunks; first += AHEAD) {
                UNROLL for (int d = 0; d < AHEAD; d += 1) {
                    int c = first + d;
                    if (AHEAD == 1 || c < chunks) {
                        int operands = c % 2 * (2 * kind);
                        UNROLL for (int t = 0; t < TURNS; t += 1) {
    ) GPU_MATRIX_MEASURE(next[(d * TURNS + t) * 2]) GPU_MATRIX_MEASURE(next[(d * TURNS + t) * 2 + 1]) GPU_TEXT(
                            int to = operands + (own_slice + t * turn) * (8 * BLOCK_X + 2) + own;
                            acc4 high = next[(d * TURNS + t) * 2];
                            acc4 low = high;
                            MATRIX_OPERANDS(high, low, next[(d * TURNS + t) * 2], next[(d * TURNS + t) * 2 + 1]);
                            tile[to] = high;
                            tile[to + kind] = low;
                        }
                        if (c + AHEAD < chunks) {
    ) LOAD_X(c + AHEAD, d) GPU_TEXT(
                        }
                        int slot = (before + c) % STAGES;
                        ARRIVED(slot, (before + c) / STAGES);
                        BARRIER;
                        int again = c - 1 + STAGES;
                        int freed = (before + again) % STAGES;
                        if (c > 0 && again < chunks)
                            fetch_weights(freed, P_space.w + freed * each, stream + again * each, each);
                        UNROLL for (int n = 0; n < CHUNK / GROUP_Z; n += 1) {
                            int step = n * GROUP_Z + LID2;
                            int at = operands + (step * 4 + part) * (8 * BLOCK_X + 2) + row;
                            int k = P_space.w + slot * each + (step * GROUP_Y + LID1) * BLOCK_O * vectors * 32 + LID0;
                            acc4 columns[2 * BLOCK_X];
                            UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                                columns[2 * i] = tile[at + i * 8];
                                columns[2 * i + 1] = tile[at + kind + i * 8];
                            }
                            UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                                acc4 first_weights = tile[k + j * vectors * 32];
                                acc4 last_weights = first_weights;
                                if (MATRIX == MATRIX_SPLIT) last_weights = tile[k + j * vectors * 32 + 32];
                                int4 first_bits = float4_to_bits(first_weights);
                                int4 last_bits = float4_to_bits(last_weights);
                                UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                                    MATRIX_STEP(sums[(j * BLOCK_X + i) * 2], sums[(j * BLOCK_X + i) * 2 + 1],
                                                rest[(j * BLOCK_X + i) * 2], rest[(j * BLOCK_X + i) * 2 + 1],
                                                columns[2 * i], columns[2 * i + 1], first_bits, last_bits);
                                }
                            }
                        }
                    }
                }
            }
    ) GPU_MATRIX_JUDGE(GPU_MATRIX_FETCH_AGAIN(P_space.w) GPU_MATRIX_BEGIN_SUMS GPU_MATRIX_SCALE_SUMS) GPU_TEXT(
        }
    ) GPU_MATRIX_SCALE_BACK GPU_TEXT(
    ) GPU_MATRIX_END_SUMS(GPU_MATRIX_FINISH),
};
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit. A quarter of the unit takes PRODUCT cycles for a step of one tile
// by one tile, 14 for each instruction, and half as many more where one subgroup has a quarter to itself. The unit
// takes SHARED_BYTES per cycle from shared memory, BANDWIDTH from the second cache, and CONVERT cycles for 16 vectors
// of x that become operands. Weights come while the kernel waits, and cost nothing that can be seen. Nothing overlaps
// with the loads of the first chunk. A group takes START before its first load and after its last sum, LATENCY for that
// load, CHUNK_CYCLES for each chunk and AHEAD_CYCLES for as many of them as are loaded ahead, and ROUND_CYCLES for each
// round of the sums along z. The figures are fitted to 110 times of eight layers, each in a chain of 24, on an H100
// (bench/gpu_layers.py): for six of the layers, the block that this chooses takes at most 9 % more than the fastest of
// 14.
enum {
    PRODUCT_SPLIT = 84,
    PRODUCT_NARROW = 56,
    BANDWIDTH = 21,
    LATENCY = 900,
    START = 1500,
    SHARED_BYTES = 128,
    CONVERT = 3
};
enum { CHUNK_CYCLES = 300, AHEAD_CYCLES = 150, ROUND_CYCLES = 150 };
enum { UNIT_REGISTERS = 65536, REGISTERS_EACH = 240, REGISTERS_BESIDE = 50, MAX_STAGES = 8, MAX_TURNS = 8 };
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_SUBGROUPS = 8, MAX_OUTPUTS = 16, MAX_ROUND = 8, MAX_TERMS = 1 << 20 };

// A block, and what follows from it.
struct layout {
    struct gpu_matrix_block block; // depth: a subgroup's steps of a chunk
    int ahead;                     // chunks that are loaded before the first is multiplied
    int64_t chunks;
    int chunk, stages, turns; // steps of a chunk, chunks of weights in shared memory, vectors of x for each work-item
    int round, weights, tile; // outputs summed at a time; where the weights are in shared memory; its vectors
    int resident;
};

// How many groups fit a unit by their registers.
static int resident_of(const struct layout *layout, int items)
{
    const struct gpu_matrix_block *block = &layout->block;
    int sums = 8 * block->positions * block->outputs * 2;
    int each = REGISTERS_BESIDE + sums + 8 * layout->turns * layout->ahead + 8 * block->positions + 8;
    return each <= gpu_matrix_most_registers(items) ? 2 : each <= REGISTERS_EACH ? UNIT_REGISTERS / items / each : 0;
}

// How many work-groups stand along positions.
static int64_t groups_x(const struct gpu_matrix_block *block, const struct gpu_conv_size *size)
{
    return gpu_divide_up(size->positions, 16 * block->positions);
}

// Whether a block can be. Fills in the rest.
static bool complete(struct layout *layout, const struct gpu_caps *caps, const struct gpu_conv_size *size, int form)
{
    const struct gpu_matrix_block *block = &layout->block;
    int subgroups = block->across * block->along, items = SUBGROUP * subgroups,
        outputs = 2 * block->positions * block->outputs;
    int all = caps->dynamic_shared_bytes / 16;
    layout->chunk = block->depth * block->along;
    layout->chunks = gpu_divide_up(gpu_divide_up(size->terms, 4), layout->chunk);
    layout->turns = block->positions * block->depth / block->across;
    layout->round = outputs < MAX_ROUND ? outputs : MAX_ROUND;
    layout->weights = 4 * layout->chunk * (8 * block->positions + 2) * 2 * (layout->chunks > 1 ? 2 : 1);
    int each = layout->chunk * block->across * block->outputs * gpu_matrix_parts(form) * SUBGROUP;
    int64_t stages = (all - layout->weights) / each;
    if (stages > layout->chunks) stages = layout->chunks;
    layout->stages = stages < MAX_STAGES ? (int)stages : MAX_STAGES;
    layout->tile = layout->weights + layout->stages * each;
    int sums = block->along > 1 ? layout->round * items : 0;
    if (sums > layout->tile) layout->tile = sums;
    layout->resident = resident_of(layout, items);
    return size->terms <= MAX_TERMS && block->positions * block->depth % block->across == 0 &&
           4 * subgroups % block->positions == 0 && layout->turns >= 1 && layout->turns * layout->ahead <= MAX_TURNS &&
           (layout->ahead == 1 || layout->ahead <= layout->chunks) && outputs <= MAX_OUTPUTS &&
           subgroups <= MAX_SUBGROUPS && layout->stages >= (layout->chunks > 1 ? 2 : 1) && layout->tile <= all &&
           layout->resident > 0 && items <= caps->max_group_size && block->along <= caps->max_group[2] &&
           block->across <= caps->max_group[1] && groups_x(block, size) <= caps->max_groups[0] &&
           gpu_divide_up(size->slices, 4 * block->outputs * block->across) <= caps->max_groups[1];
}

static int64_t block_cycles(const struct layout *layout, int units, const struct gpu_conv_size *size, int form)
{
    const struct gpu_matrix_block *block = &layout->block;
    int64_t groups = groups_x(block, size) * gpu_divide_up(size->slices, (int64_t)4 * block->outputs * block->across);
    int64_t subgroups = (int64_t)block->across * block->along, each = gpu_divide_up(groups, units);
    int64_t waves = gpu_divide_up(each, layout->resident), steps = layout->chunks * layout->chunk;
    int product = form == MATRIX_SPLIT ? PRODUCT_SPLIT : PRODUCT_NARROW;
    int64_t serial = steps / block->along * product * block->positions * block->outputs;
    int64_t products = gpu_larger(gpu_divide_up(each * subgroups, 4) * serial, waves * serial * 3 / 2);
    int64_t vectors = 2 * block->positions + block->outputs * gpu_matrix_parts(form);
    int64_t shared =
        each * block->across * steps * vectors * 512 / SHARED_BYTES + each * steps * 4 * block->positions * CONVERT;
    int64_t loads = each * steps * 1024 * block->positions / BANDWIDTH, first = loads / layout->chunks;
    int64_t work = first + gpu_overlapped(products, shared, loads - first);
    int64_t rounds = block->along > 1 ? gpu_divide_up(2 * block->positions * block->outputs, layout->round) : 0;
    int64_t waits = layout->chunks * CHUNK_CYCLES + gpu_divide_up(layout->chunks, layout->ahead) * AHEAD_CYCLES;
    return work + waves * (START + LATENCY + rounds * ROUND_CYCLES + waits);
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_caps *caps, const struct gpu_conv_size *size,
                        int form)
{
    for (int i = 0; i < 3 * 3 * 4 * 4 * 4 * 3; i++) {
        struct layout layout = {.block = {1 << i % 3, 1 << i / 3 % 3, 1 << i / 9 % 4, 1 << i / 36 % 4,
                                          1 << i / 144 % 4},
                                .ahead = 1 << i / 576};
        const struct gpu_matrix_block *block = &layout.block;
        if (!complete(&layout, caps, size, form)) continue;
        struct gpu_tuned_block numbers = {
            {block->positions, block->outputs, block->depth, block->across, block->along, layout.ahead}};
        gpu_ranking_add(ranking, &numbers, block_cycles(&layout, gpu_conv_units(caps), size, form));
    }
}

int64_t gpu_matrix_shared_cycles(const struct gpu_caps *caps, const struct gpu_conv_size *size, int form)
{
    struct gpu_ranking ranking = {.room = 1};
    if (caps->dynamic_shared_bytes > 0 && (form == MATRIX_SPLIT || form == MATRIX_NARROW))
        rank_blocks(&ranking, caps, size, form);
    return gpu_ranking_limit(&ranking);
}

// The fastest block, or one that was measured. in: how x is read. *tuned: for the dispatch.
static struct layout choose(const struct gpu_plan *plan, const struct gpu_conv_size *size, int form, int in, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    *tuned = 0;
    rank_blocks(&ranking, plan->caps, size, form);
    if (gpu_tuning_answers(plan->tuning) && size->positions <= INT_MAX) {
        struct gpu_tuned_size asked = {"convolve_matrix_shared",
                                       {(int32_t)size->positions, size->slices, size->terms, form, in,
                                        (int32_t)plan->precision}};
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    const int32_t *n = block ? block->numbers : ranking.blocks[0].numbers;
    struct layout layout = {.block = {n[0], n[1], n[2], n[3], n[4]}, .ahead = n[5]};
    complete(&layout, plan->caps, size, form);
    return layout;
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

bool gpu_plan_matrix_shared(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                            const struct gpu_matrix_places *places, int form, bool guarded)
{
    struct gpu_matrix_launch launch = {.kernel = &gpu_kernel_matrix_shared};
    struct layout layout = choose(plan, size, form, places->in, &launch.tuned);
    const struct gpu_matrix_block *block = &layout.block;
    // A group's outputs follow each other in each step, and so do a chunk's steps, so that a chunk is one range.
    const struct gpu_matrix_block together = {.outputs = block->outputs * block->across, .across = 1};
    launch.block = *block;
    launch.steps = layout.chunks * layout.chunk;
    launch.shared_at = layout.weights;
    launch.weights = gpu_matrix_weights(plan, conv, form, &together, launch.steps, GPU_MATRIX_BY_TAPS);
    if (!launch.weights) return false;
    int values[CONSTANTS] = {
        [BLOCK_X] = block->positions,
        [BLOCK_O] = block->outputs,
        [OUT] = places->out,
        [IN] = places->in,
        [CHUNK] = layout.chunk,
        [STAGES] = layout.stages,
        [TURNS] = layout.turns,
        [ROUND] = layout.round,
        [MATRIX] = form,
        [TILE] = layout.tile,
        [AHEAD] = layout.ahead,
        [RESIDENT] = layout.resident,
        [GUARDED] = guarded,
    };
    launch.values = values;
    return gpu_matrix_dispatch(plan, conv, size, places, &launch);
}
