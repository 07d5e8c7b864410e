// SPDX-License-Identifier: Apache-2.0
// See cooperative.h. A work-group computes BLOCK_X tiles of 16 positions by GROUP_Y * BLOCK_O tiles of 16 outputs, and
// takes DEPTH steps of 16 input channels at a time for each of its GROUP_Z rows of subgroups, which divide the steps
// among themselves. The subgroups of a row have the same positions and steps. They bring x into shared memory as
// halves, in one half of the tile while fragments are read from the other, and load x for the steps after those before
// they multiply.
// Each has outputs of its own, whose weights lie in memory as fragments, in the order in which it loads them. In the
// end fragments of sums go through shared memory, a ROUND at a time, where rows of subgroups are added up.
//
// The weights begin with the bias, and a stream for each row of BLOCK_O tiles of outputs follows, as in matrix.c.
#include "gpu/ops/cooperative.h"

#include <string.h>

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"

// The indices of the kernel's constants.
enum { BLOCK_X, BLOCK_O, OUT, IN, DEPTH, ROUND, MATRIX, PAIRS, ROW, TILE, CONSTANTS };
enum { SUM_VECTORS = 16 * 5 }; // of a fragment of sums in shared memory, whose rows of four vectors are five apart

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Loads what this work-item brings of the steps from `begin` on: PAIRS pairs of slices at its position.
#define LOAD_PAIRS                                                                                       \
    GPU_TEXT(                                                                                            \
        UNROLL for (int i = 0; i < 2 * PAIRS; i += 1) {                                                  \
            int term = (begin + LID2 * DEPTH) * 4 + (first_pair + i / 2 * beside) * 2 + i % 2;           \
    ) GPU_CONV_FIND_TERM(term / x_s, tap / P_sum.y) GPU_CONV_LOCATE(0) GPU_TEXT(                         \
            v[i] = splatf4(0.0f);                                                                        \
            if (inside) v[i] = to_acc4(load_x(from));                                                    \
        }                                                                                                \
    )

// Loads the weights of step n of those from `begin` on.
#define LOAD_WEIGHTS                                                                                     \
    GPU_TEXT(                                                                                            \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            int at = stream + ((begin + along * DEPTH + n) * BLOCK_O + j) * (parts_of_w * 32);           \
            LOAD_W(w[n * BLOCK_O + j], at);                                                              \
            if (MATRIX == MATRIX_SPLIT) LOAD_W(w_rest[n * BLOCK_O + j], at + 32);                        \
        }                                                                                                \
    )

#define KERNEL(NAME, COOPERATIVE)                                                                        \
    {                                                                                                    \
        .name = NAME, .group = {32, 1, 1},                                                               \
        .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},                                  \
        /* sum: input slices of all taps, taps along x and y, steps; step: strides, padding; space: */   \
        /* dilations, where the streams begin; grid: size, offset in y. */                               \
        .params = {"sum", "step", "space", "grid"},                                                      \
        /* PAIRS: pairs of slices that a work-item brings at a time; ROW: vectors from a position to */  \
        /* the next one, an odd number, for shared memory's banks; TILE: vectors of shared memory */     \
        GPU_CONSTANTS({"BLOCK_X", 1}, {"BLOCK_O", 1}, {"OUT", OUT_SPREAD}, {"IN", IN_WINDOW},            \
                      {"DEPTH", 1}, {"ROUND", 1}, {"MATRIX", MATRIX_HALVES}, {"PAIRS", 1}, {"ROW", 3},   \
                      {"TILE", 2 * 16 * 3}),                                                             \
        .value_names = {GPU_CONV_OUTS(GPU_VALUE_NAME), GPU_CONV_INS(GPU_VALUE_NAME),                     \
                        GPU_MATRIX_FORMS(GPU_VALUE_NAME)},                                               \
        .shared = {"int4 tile[TILE]"}, .epilogue = true, .fragments = true, .cooperative = COOPERATIVE,  \
        .body = body,                                                                                    \
    }

static const char body[] = GPU_TEXT(
    int parts = pick(MATRIX == MATRIX_HALVES, 1, 2);
    int parts_of_w = pick(MATRIX == MATRIX_SPLIT, 2, 1);
    int across = SUBGROUP % GROUP_Y;
    int along = SUBGROUP / GROUP_Y;
    int item = LID1 * 32 + LID0;
    int place = item % (16 * BLOCK_X);
    int first_pair = item / (16 * BLOCK_X);
    int beside = 2 * GROUP_Y / BLOCK_X;
    int positions = P_grid.x * P_grid.y * x_b;
    int first_position = GROUP0 * (16 * BLOCK_X) + place;
    int plane = x_w * x_h;
    int skipped = 0;
    int stream = P_space.z + (GROUP1 * GROUP_Y + across) * (P_sum.w * BLOCK_O * parts_of_w * 32);
    FRAGMENTS_SUM(sums, BLOCK_X * BLOCK_O);
    FRAGMENTS_SUM(rest, BLOCK_X * BLOCK_O);
    FRAGMENTS_W(w, DEPTH * BLOCK_O);
    FRAGMENTS_W(w_rest, DEPTH * BLOCK_O);
    acc4 v[2 * PAIRS];
    int begin = 0;
    int which = 0;
    UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) {
        CLEAR_SUM(sums, i);
        CLEAR_SUM(rest, i);
    }
    UNROLL for (int n = 0; n < DEPTH; n += 1) {
) LOAD_WEIGHTS GPU_TEXT(
    }
) GPU_CONV_PLACES_IN_X(1, 1) LOAD_PAIRS GPU_TEXT(
    while (begin < P_sum.w) {
        int to = ((which * GROUP_Z + LID2) * parts * (16 * BLOCK_X) + place) * ROW + first_pair;
        UNROLL for (int i = 0; i < PAIRS; i += 1) {
            acc4 a = v[2 * i];
            acc4 b = v[2 * i + 1];
            if (MATRIX != MATRIX_HALVES) {
                tile[to + 16 * BLOCK_X * ROW + i * beside] = rests_of(a, b);
                a = first_halves(a);
                b = first_halves(b);
            }
            tile[to + i * beside] = halves_of(a, b);
        }
        BARRIER;
        int tiles = (which * GROUP_Z + along) * parts * (16 * BLOCK_X) * ROW;
        begin += GROUP_Z * DEPTH;
        if (begin < P_sum.w) {
) LOAD_PAIRS GPU_TEXT(
        }
        UNROLL for (int n = 0; n < DEPTH; n += 1) {
            UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                FRAGMENTS_X(x, 2);
                LOAD_X(x[0], tiles + i * 16 * ROW + n * 2);
                if (MATRIX != MATRIX_HALVES) LOAD_X(x[1], tiles + (BLOCK_X + i) * 16 * ROW + n * 2);
                UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                    if (MATRIX != MATRIX_HALVES) ADD_PRODUCT(rest, j * BLOCK_X + i, x[1], w[n * BLOCK_O + j]);
                    if (MATRIX == MATRIX_SPLIT) ADD_PRODUCT(rest, j * BLOCK_X + i, x[0], w_rest[n * BLOCK_O + j]);
                    ADD_PRODUCT(sums, j * BLOCK_X + i, x[0], w[n * BLOCK_O + j]);
                }
            }
            if (begin < P_sum.w) {
) LOAD_WEIGHTS GPU_TEXT(
            }
        }
        which = 1 - which;
    }
    if (MATRIX != MATRIX_HALVES) {
        UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) ADD_REST(sums, rest, i);
    }
    UNROLL for (int first = 0; first < BLOCK_X * BLOCK_O; first += ROUND) {
        BARRIER;
        UNROLL for (int m = 0; m < ROUND; m += 1)
            STORE_SUM(((m * GROUP_Z + along) * GROUP_Y + across) * 80, sums, first + m);
        BARRIER;
        for (int m = LID2 * 32 + LID0; m < ROUND * 64; m += 32 * GROUP_Z) {
            int n = first + m / 64;
            int position = (GROUP0 * BLOCK_X + n % BLOCK_X) * 16 + m % 16;
            int o = ((GROUP1 * GROUP_Y + LID1) * BLOCK_O + n / BLOCK_X) * 4 + m % 64 / 16;
            if (position < positions && o < y_s) {
                int from = (m / 64 * GROUP_Z * GROUP_Y + LID1) * 80 + m % 16 * 5 + m % 64 / 16;
                int4 bits = weights(o);
                acc4 sum = bits_to_float4(bits);
                for (int z = 0; z < GROUP_Z; z += 1) {
                    bits = tile[from + z * GROUP_Y * 80];
                    sum += bits_to_float4(bits);
                }
) GPU_CONV_PLACE_IN_Y GPU_TEXT(
                write_y(p, finish(to_real4(sum), p));
            }
        }
    }
);
const struct gpu_kernel gpu_kernel_cooperative = KERNEL("convolve_cooperative", true);
const struct gpu_kernel gpu_kernel_fragments = KERNEL("convolve_fragments", false);
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device as that of matrix.c, in cycles of a compute unit. A quarter of the unit takes `product` cycles
// for a fragment's product (28: two instructions of 14 by mma.sync on an H100), and `bring` to address, convert and
// store what a fragment of x is made of; the unit transfers BANDWIDTH bytes in a cycle, and a subgroup waits for its
// loads, at a barrier, at its start and end, and for a round of sums. All but the products are estimates. Split halves
// count for a third more than that, so that they are chosen with a margin: five of six networks gained nothing by them
// on an H100. Those with weights that are halves count as much: with two thirds, hand landmarks took 17 us more on an
// H200.
static const int product[MATRIX_NARROW + 1] = {[MATRIX_SPLIT] = 84, [MATRIX_HALVES] = 28},
                                         bring[MATRIX_NARROW + 1] = {[MATRIX_SPLIT] = 70, [MATRIX_HALVES] = 45};
enum { BANDWIDTH = 48, LATENCY = 700, BARRIER_TAKES = 60, START = 1500, ROUND_TAKES = 150 };
enum {
    UNIT_REGISTERS = 65536,
    MAX_REGISTERS = 224,
    REGISTERS_BESIDE = 64,
    UNIT_SUBGROUPS = 64,
    UNIT_SHARED = 200 << 10
};
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_SUBGROUPS = 8, MAX_PAIRS = 4 };

static int pairs_of(const struct gpu_matrix_block *block)
{
    return block->depth * block->positions / block->across;
}

static int row_of(const struct gpu_matrix_block *block)
{
    return 2 * block->depth + 1;
}

static int round_of(const struct gpu_matrix_block *block)
{
    int all = block->positions * block->outputs, room = 16 / (block->across * block->along);
    return all < room ? all : room;
}

// Vectors of shared memory.
static int tile_of(const struct gpu_matrix_block *block, int form)
{
    int halves = 2 * block->along * gpu_matrix_sums(form) * 16 * block->positions * row_of(block);
    int sums = round_of(block) * block->along * block->across * SUM_VECTORS;
    return halves > sums ? halves : sums;
}

static int registers_of(const struct gpu_matrix_block *block, int form)
{
    int sums = 8 * block->positions * block->outputs * gpu_matrix_sums(form);
    return REGISTERS_BESIDE + sums + 4 * gpu_matrix_parts(form) * block->depth * block->outputs +
           4 * gpu_matrix_sums(form) + 8 * pairs_of(block);
}

bool gpu_cooperative_fits(const struct gpu_matrix_block *block, const struct gpu_caps *caps,
                          const struct gpu_conv_size *size, int form)
{
    int subgroups = block->across * block->along, items = SUBGROUP * subgroups;
    return block->positions <= 2 * block->across && block->depth * block->positions % block->across == 0 &&
           pairs_of(block) <= MAX_PAIRS && subgroups <= MAX_SUBGROUPS && items <= caps->max_group_size &&
           block->along <= caps->max_group[2] && block->across <= caps->max_group[1] &&
           registers_of(block, form) <= MAX_REGISTERS && registers_of(block, form) * items <= UNIT_REGISTERS &&
           16 * tile_of(block, form) <= caps->shared_bytes &&
           gpu_divide_up(size->positions, 16 * block->positions) <= caps->max_groups[0] &&
           gpu_divide_up(size->slices, 4 * block->outputs * block->across) <= caps->max_groups[1];
}

int64_t gpu_cooperative_cycles(const struct gpu_matrix_block *block, int units, const struct gpu_conv_size *size,
                               int form)
{
    if (form == MATRIX_NARROW) form = MATRIX_SPLIT;
    int parts = gpu_matrix_parts(form), subgroups = block->across * block->along;
    int64_t times = gpu_divide_up(gpu_divide_up(size->terms, 4), (int64_t)block->along * block->depth);
    int64_t groups = gpu_divide_up(size->positions, 16 * block->positions) *
                     gpu_divide_up(size->slices, (int64_t)4 * block->outputs * block->across);
    int64_t each = gpu_divide_up(groups, units);
    int64_t resident = UNIT_REGISTERS / (registers_of(block, form) * subgroups * SUBGROUP);
    if (resident * subgroups > UNIT_SUBGROUPS) resident = UNIT_SUBGROUPS / subgroups;
    if (resident * tile_of(block, form) * 16 > UNIT_SHARED) resident = UNIT_SHARED / (tile_of(block, form) * 16);
    int64_t waves = gpu_divide_up(each, resident > 1 ? resident : 1);
    // of a subgroup, before the next barrier
    int64_t work = block->depth * ((int64_t)product[form] * block->positions * block->outputs +
                                   (int64_t)GPU_FRAGMENT_LOAD * gpu_matrix_sums(form) * block->positions +
                                   (int64_t)GPU_FRAGMENT_LOAD_FAR * parts * block->outputs) +
                   (int64_t)bring[form] * pairs_of(block);
    int64_t bytes = 1024 * block->positions + (int64_t)512 * parts * block->outputs * block->across;
    int64_t together = work * gpu_divide_up(subgroups, 4), rounds = block->positions * block->outputs / round_of(block);
    int64_t cycles = gpu_overlapped(gpu_divide_up(each * subgroups, 4) * times * work,
                                    each * block->along * times * block->depth * bytes / BANDWIDTH,
                                    waves * (times * (gpu_larger(together, LATENCY) + BARRIER_TAKES) + START +
                                             rounds * ROUND_TAKES));
    return form == MATRIX_SPLIT ? cycles * 4 / 3 : cycles;
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

const struct gpu_kernel *gpu_cooperative_kernel(const struct gpu_caps *caps)
{
    return caps->cooperative ? &gpu_kernel_cooperative : &gpu_kernel_fragments;
}

void gpu_cooperative_constants(const struct gpu_matrix_block *block, int form, int out, int in, int *values)
{
    const int own[CONSTANTS] = {
        [BLOCK_X] = block->positions, [BLOCK_O] = block->outputs,    [OUT] = out,     [IN] = in,
        [DEPTH] = block->depth,       [ROUND] = round_of(block),     [MATRIX] = form, [PAIRS] = pairs_of(block),
        [ROW] = row_of(block),        [TILE] = tile_of(block, form),
    };
    memcpy(values, own, sizeof own);
}

bool gpu_plan_cooperative(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                          const struct gpu_matrix_places *places, int form, const struct gpu_matrix_launch *launch)
{
    int values[CONSTANTS];
    struct gpu_matrix_launch own = *launch;
    own.kernel = gpu_cooperative_kernel(plan->caps);
    own.values = values;
    gpu_cooperative_constants(&own.block, form, places->out, places->in, values);
    return gpu_matrix_dispatch(plan, conv, size, places, &own);
}
