// SPDX-License-Identifier: Apache-2.0
// The kernel of window.h where a language has matrix units as cooperative matrices (cooperative.h), and what its blocks
// take. A work-group computes a tile of positions, 16 wide. Its subgroups have BLOCK_X rows of the tile and BLOCK_O
// tiles of 16 outputs each, ACROSS of them side by side along outputs. The sum comes in chunks of four input slices
// with all taps. While fragments of a chunk's patch are read from one half of the shared memory, where each position
// has 16 channels as halves, the work-items load the next patch, which they put into the other half. Weights lie in
// memory as fragments, in the order in which they are loaded. In the end fragments of sums go through shared memory.
// (On an H200 loading weights a row of taps before they are multiplied made Zero-DCE's layers take 823 us in place of
// 806.)
#include <string.h>

#include "gpu/ops/cooperative.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_text.h"
#include "gpu/ops/window.h"
#include "gpu/ops/window_text.h"

// The indices of the kernel's constants.
enum {
    BLOCK_X,
    BLOCK_O,
    ACROSS,
    IN,
    WINDOW_W,
    WINDOW_H,
    STRIDE,
    PATCH_W,
    PATCH_H,
    TURNS,
    ROUND,
    MATRIX,
    ROW,
    TILE,
    GUARDED,
    CONSTANTS
};
// Vectors from a position of a patch to the next one, an odd number for shared memory's banks, and of a fragment of
// sums, whose rows of four vectors are five apart.
enum { POSITION_VECTORS = 3, SUM_VECTORS = 16 * 5 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define KERNEL(NAME, COOPERATIVE)                                                                        \
    {                                                                                                    \
        .name = NAME, .group = {32, 1, 1},                                                               \
        .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},                                  \
        /* sum: chunks, where the streams begin in the weights; step: padding. */                        \
        .params = {"sum", "step"},                                                                       \
        /* TURNS: pairs of slices that a work-item brings of a patch; ROUND: fragments that a subgroup */ \
        /* stores at a time; TILE: vectors of shared memory; GUARDED: see matrix_text.h */               \
        GPU_CONSTANTS({"BLOCK_X", 1}, {"BLOCK_O", 1}, {"ACROSS", 1}, {"IN", IN_WINDOW},                  \
                      {"WINDOW_W", 3}, {"WINDOW_H", 3}, {"STRIDE", 1}, {"PATCH_W", 18}, {"PATCH_H", 3},  \
                      {"TURNS", 4}, {"ROUND", 1}, {"MATRIX", MATRIX_HALVES}, {"ROW", POSITION_VECTORS},  \
                      {"TILE", 2 * 18 * 3 * POSITION_VECTORS}, {"GUARDED", 0}),                          \
        .value_names = {GPU_CONV_INS(GPU_VALUE_NAME), GPU_MATRIX_FORMS(GPU_VALUE_NAME)},                 \
        .shared = {"int4 tile[TILE]", "int vote[4]"}, .epilogue = true, .fragments = true,               \
        .cooperative = COOPERATIVE, .body = body,                                                        \
    }

#define CLEAR_SUMS                                                                                       \
    GPU_TEXT(                                                                                            \
        UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) {                                          \
            CLEAR_SUM(sums, i);                                                                          \
            CLEAR_SUM(rest, i);                                                                          \
        }                                                                                                \
    )

static const char body[] = GPU_TEXT(
    int parts = pick(MATRIX == MATRIX_HALVES, 1, 2);
    int half_size = PATCH_W * PATCH_H * ROW;
    int lid = LID1 * 32 + LID0;
    int beside = SUBGROUP % ACROSS;
    int below = SUBGROUP / ACROSS * BLOCK_X;
    int chunks = P_sum.x;
    int stream = P_sum.y + (GROUP1 * ACROSS + beside) * (chunks * WINDOW_H * WINDOW_W * BLOCK_O * parts * 32);
) GPU_WINDOW_PLACES(2) GPU_MATRIX_GUARD GPU_TEXT(
    FRAGMENTS_SUM(sums, BLOCK_X * BLOCK_O);
    FRAGMENTS_SUM(rest, BLOCK_X * BLOCK_O);
    acc4 next[2 * TURNS];
    for (int pass = 0; pass < passes; pass += 1) {
        int k = stream;
) CLEAR_SUMS GPU_WINDOW_LOAD(next, 2, 0) GPU_TEXT(
        for (int c = 0; c < chunks; c += 1) {
            int base = c % 2 * (parts * half_size);
            UNROLL for (int t = 0; t < TURNS; t += 1) {
                if (slice_of[t] < 4) {
                    int to = base + place[t] * ROW + slice_of[t] / 2;
                    acc4 a = next[2 * t];
                    acc4 b = next[2 * t + 1];
) GPU_MATRIX_MEASURE(a) GPU_MATRIX_MEASURE(b) GPU_TEXT(
                    if (MATRIX == MATRIX_SPLIT) {
                        tile[to + half_size] = rests_of(a, b);
                        a = first_halves(a);
                        b = first_halves(b);
                    }
                    tile[to] = halves_of(a, b);
                }
            }
            BARRIER;
            if (c + 1 < chunks) {
) GPU_WINDOW_LOAD(next, 2, c + 1) GPU_TEXT(
            }
            for (int ty = 0; ty < WINDOW_H; ty += 1) {
                UNROLL for (int tx = 0; tx < WINDOW_W; tx += 1) {
                    int tap = ) GPU_WINDOW_TAP GPU_TEXT(;
                    int at = base + (below * STRIDE * PATCH_W + tap) * ROW;
                    FRAGMENTS_W(w, BLOCK_O);
                    FRAGMENTS_W(w_rest, BLOCK_O);
                    UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                        LOAD_W(w[j], k);
                        if (MATRIX == MATRIX_SPLIT) LOAD_W(w_rest[j], k + 32);
                        k += parts * 32;
                    }
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                        FRAGMENTS_X(x, 2);
                        LOAD_X(x[0], at + i * STRIDE * PATCH_W * ROW);
                        if (MATRIX == MATRIX_SPLIT) LOAD_X(x[1], at + half_size + i * STRIDE * PATCH_W * ROW);
                        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                            if (MATRIX == MATRIX_SPLIT) {
                                ADD_PRODUCT(rest, j * BLOCK_X + i, x[1], w[j]);
                                ADD_PRODUCT(rest, j * BLOCK_X + i, x[0], w_rest[j]);
                            }
                            ADD_PRODUCT(sums, j * BLOCK_X + i, x[0], w[j]);
                        }
                    }
                }
            }
        }
) GPU_MATRIX_JUDGE(GPU_TEXT()) GPU_TEXT(
    }
    if (MATRIX == MATRIX_SPLIT) {
        UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) ADD_REST(sums, rest, i);
    }
    UNROLL for (int first = 0; first < BLOCK_X * BLOCK_O; first += ROUND) {
        BARRIER;
        UNROLL for (int m = 0; m < ROUND; m += 1) STORE_SUM((m * GROUP_Y + SUBGROUP) * 80, sums, first + m);
        BARRIER;
        for (int m = LID0; m < ROUND * 64; m += 32) {
            int n = first + m / 64;
            int o = ((GROUP1 * ACROSS + LID1 % ACROSS) * BLOCK_O + n / BLOCK_X) * 4 + m % 64 / 16;
            int4 p = mki4(first_x + m % 16, first_y + LID1 / ACROSS * BLOCK_X + n % BLOCK_X, o, batch);
            if (p.x < y_w && p.y < y_h && o < y_s) {
                int4 bits = tile[(m / 64 * GROUP_Y + LID1) * 80 + m % 16 * 5 + m % 64 / 16];
                acc4 sum = bits_to_float4(bits);
                if (GUARDED == 1) sum = sum * scale_back;
                bits = weights(o);
                sum += bits_to_float4(bits);
                write_y(p, finish(to_real4(sum), p));
            }
        }
    }
);
const struct gpu_kernel gpu_kernel_cooperative_window = KERNEL("convolve_cooperative_window", true);
const struct gpu_kernel gpu_kernel_fragments_window = KERNEL("convolve_fragments_window", false);
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device as that of cooperative.c, whose figures it takes.
enum { UNIT_REGISTERS = 65536, MAX_REGISTERS = 224, REGISTERS_BESIDE = 64, UNIT_SHARED = 200 << 10 };
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_TURNS = 6 };

// What a block needs besides.
struct layout {
    int turns, round, tile, registers;
};

// Whether a block fits. Fills in the rest.
static bool complete(struct layout *layout, const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                     const struct gpu_window_size *size)
{
    int parts = gpu_matrix_parts(form), items = SUBGROUP * size->subgroups, sums = block->positions * block->outputs;
    int places = size->patch_w * size->patch_h;
    layout->turns = (int)gpu_divide_up((int64_t)GPU_WINDOW_CHUNK / 2 * places, items);
    layout->round = sums < 16 / size->subgroups ? sums : 16 / size->subgroups;
    layout->tile = (size->chunks > 1 ? 2 : 1) * parts * places * POSITION_VECTORS;
    if (layout->tile < layout->round * size->subgroups * SUM_VECTORS)
        layout->tile = layout->round * size->subgroups * SUM_VECTORS;
    layout->registers = REGISTERS_BESIDE + parts * (8 * sums + 4 * (block->outputs + 1)) + 10 * layout->turns;
    return layout->turns <= MAX_TURNS && layout->registers <= MAX_REGISTERS &&
           layout->registers * items <= UNIT_REGISTERS && 16 * (layout->tile + 1) <= caps->shared_bytes;
}

static int64_t cycles(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                      const struct gpu_window_size *size)
{
    const struct gpu_cooperative_costs *costs = &gpu_cooperative_costs;
    struct layout layout;
    if (!complete(&layout, caps, form, block, size)) return INT64_MAX;
    int64_t each = gpu_divide_up(size->groups, gpu_conv_units(caps));
    int64_t resident = UNIT_REGISTERS / (layout.registers * size->subgroups * SUBGROUP);
    if (resident * layout.tile * 16 > UNIT_SHARED) resident = UNIT_SHARED / (layout.tile * 16);
    int64_t waves = gpu_divide_up(each, resident > 1 ? resident : 1);
    int64_t work = size->taps * ((int64_t)costs->product[form] * block->positions * block->outputs +
                                 costs->load * gpu_matrix_parts(form) * (block->positions + block->outputs)) +
                   (int64_t)costs->bring[form] * layout.turns; // of a subgroup, for a chunk
    int64_t bytes = (int64_t)1024 / 16 * size->patch_w * size->patch_h +
                    (int64_t)512 * gpu_matrix_parts(form) * block->outputs * block->across * size->taps;
    int64_t together = work * gpu_divide_up(size->subgroups, 4),
            rounds = block->positions * block->outputs / layout.round;
    return gpu_overlapped(gpu_divide_up(each * size->subgroups, 4) * size->chunks * work,
                          each * size->chunks * bytes / costs->bandwidth,
                          waves * (size->chunks * (gpu_larger(together, costs->latency) + costs->barrier) +
                                   costs->start + rounds * costs->round));
}

static void launch(const struct gpu_caps *caps, const struct gpu_convolution *conv, int form, int in,
                   const struct gpu_matrix_block *block, const struct gpu_window_size *size,
                   struct gpu_window_launch *launch)
{
    struct layout layout;
    complete(&layout, caps, form, block, size);
    const int values[CONSTANTS] = {
        [BLOCK_X] = block->positions,
        [BLOCK_O] = block->outputs,
        [ACROSS] = block->across,
        [IN] = in,
        [WINDOW_W] = conv->kernel_w,
        [WINDOW_H] = conv->kernel_h,
        [STRIDE] = conv->stride_w,
        [PATCH_W] = size->patch_w,
        [PATCH_H] = size->patch_h,
        [TURNS] = layout.turns,
        [ROUND] = layout.round,
        [MATRIX] = form,
        [ROW] = POSITION_VECTORS,
        [TILE] = layout.tile,
        [GUARDED] = gpu_matrix_is_guarded(conv->x, form),
    };
    *launch = (struct gpu_window_launch){
        .kernel = caps->cooperative ? &gpu_kernel_cooperative_window : &gpu_kernel_fragments_window,
        .packed = *block,
    };
    memcpy(launch->values, values, sizeof values);
}

const struct gpu_window_way gpu_window_cooperative = {
    .name = "convolve_cooperative_window",
    .order = GPU_MATRIX_FRAGMENTS_BY_CHUNKS,
    .cycles = cycles,
    .launch = launch,
};
