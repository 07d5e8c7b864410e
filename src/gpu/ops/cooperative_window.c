// SPDX-License-Identifier: Apache-2.0
// The kernel of window.h where a language has matrix units as cooperative matrices (cooperative.h), and what its blocks
// take. A work-group computes a tile of positions, 16 wide. Its subgroups have BLOCK_X rows of the tile and BLOCK_O
// tiles of 16 outputs each, ACROSS of them side by side along outputs. The sum comes in chunks of four input slices
// with all taps. The work-items load a chunk's patch and its weights, all at once, and put them into shared memory,
// where each position has 16 channels as halves, and each output those of a tap. Fragments are read from there alone,
// since one of weights that is loaded from memory takes as long as one and a half products. (Zero-DCE's layers on an
// H200, us, f32 and f16: 814 and 435 with such loads and the next patch brought ahead, 588 and 277 so.) In the end
// fragments of sums go through shared memory. Where a window has too many taps for that, weights come from memory.
//
// Sums of columns are added up behind the loop that stores fragments: with both in it all windows took half as long
// again, or twice as long, as if NVIDIA's compiler had not unrolled it.
#include "gpu/ops/cooperative.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_text.h"
#include "gpu/ops/window.h"
#include "gpu/ops/window_text.h"

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
        /* TURNS: pairs of slices that a work-item brings of a patch; FETCHES: vectors of weights, 0 where */ \
        /* they are read from memory; ROUND: fragments that a subgroup stores at a time; TILE: vectors of */ \
        /* shared memory; GUARDED: see matrix_text.h; COLUMNS, SPREAD: see window_text.h; STEPS_W: steps of */ \
        /* a row of taps; TILE_STEP: from a tile of the patch to the next one of a subgroup */           \
        GPU_CONSTANTS({"BLOCK_X", 1}, {"BLOCK_O", 1}, {"ACROSS", 1}, {"IN", IN_WINDOW},                  \
                      {"WINDOW_W", 3}, {"WINDOW_H", 3}, {"STRIDE", 1}, {"PATCH_W", 18}, {"PATCH_H", 3},  \
                      {"TURNS", 4}, {"ROUND", 1}, {"MATRIX", MATRIX_HALVES}, {"ROW", POSITION_VECTORS},  \
                      {"TILE", 2 * 18 * 3 * POSITION_VECTORS}, {"COLUMNS", 1}, {"SPREAD", 1},            \
                      {"STEPS_W", 3}, {"TILE_STEP", 18}, {"GUARDED", 0}, {"FETCHES", 5}),                \
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

// Writes a sum of output slice o at p.
#define FINISH                                                                                           \
    GPU_TEXT(                                                                                            \
        int4 bias = weights(o);                                                                          \
        if (GUARDED == 1) sum = sum * scale_back;                                                        \
        sum += bits_to_float4(bias);                                                                     \
        write_y(p, finish(to_real4(sum), p));                                                            \
    )

static const char body[] = GPU_TEXT(
    int parts = pick(MATRIX == MATRIX_HALVES, 1, 2);
    int parts_of_w = pick(MATRIX == MATRIX_SPLIT, 2, 1);
    int half_size = PATCH_W * PATCH_H * ROW;
    int lid = LID1 * 32 + LID0;
    int beside = SUBGROUP % ACROSS;
    int below = SUBGROUP / ACROSS * pick(SPREAD > 1, 1, BLOCK_X);
    int chunks = P_sum.x;
    int each = STEPS_W * WINDOW_H * BLOCK_O * parts_of_w * 32;
    int weights_at = parts * half_size;
    int vectors = pick(FETCHES > 0, 16 * ROW, 32);
) GPU_WINDOW_PLACES(2) GPU_MATRIX_GUARD GPU_TEXT(
    FRAGMENTS_SUM(sums, BLOCK_X * BLOCK_O);
    FRAGMENTS_SUM(rest, BLOCK_X * BLOCK_O);
    acc4 brought[2 * TURNS];
    int4 fetch[FETCHES + 1];
    for (int pass = 0; pass < passes; pass += 1) {
) CLEAR_SUMS GPU_TEXT(
        for (int c = 0; c < chunks; c += 1) {
) GPU_WINDOW_LOAD(brought, 2, c) GPU_TEXT(
            UNROLL for (int t = 0; t < FETCHES; t += 1) {
                int i = lid + t * (GROUP_Y * 32);
                int across = i / each;
                if (across < ACROSS)
                    fetch[t] = weights(P_sum.y + ((GROUP1 * ACROSS + across) * chunks + c) * each + i - across * each);
            }
            if (c > 0) BARRIER;
            UNROLL for (int t = 0; t < TURNS; t += 1) {
                if (slice_of[t] < 4) {
                    int to = place[t] * ROW + slice_of[t] / 2;
                    acc4 a = brought[2 * t];
                    acc4 b = brought[2 * t + 1];
) GPU_MATRIX_MEASURE(a) GPU_MATRIX_MEASURE(b) GPU_TEXT(
                    if (MATRIX != MATRIX_HALVES) {
                        tile[to + half_size] = rests_of(a, b);
                        a = first_halves(a);
                        b = first_halves(b);
                    }
                    tile[to] = halves_of(a, b);
                }
            }
            UNROLL for (int t = 0; t < FETCHES; t += 1) {
                int i = lid + t * (GROUP_Y * 32);
                if (i < ACROSS * each) tile[weights_at + i / 2 * ROW + i % 2] = fetch[t];
            }
            BARRIER;
            int k = weights_at + beside * (each / 2 * ROW);
            if (FETCHES == 0) k = P_sum.y + ((GROUP1 * ACROSS + beside) * chunks + c) * each;
            for (int ty = 0; ty < WINDOW_H; ty += 1) {
                UNROLL for (int tx = 0; tx < STEPS_W; tx += 1) {
                    int tap = ) GPU_WINDOW_TAP GPU_TEXT(;
                    int at = (below * STRIDE * PATCH_W + tap) * ROW;
                    FRAGMENTS_W(w, BLOCK_O);
                    FRAGMENTS_W(w_rest, BLOCK_O);
                    UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                        if (FETCHES > 0) {
                            LOAD_W_OF_TILE(w[j], k);
                            if (MATRIX == MATRIX_SPLIT) LOAD_W_OF_TILE(w_rest[j], k + vectors);
                        } else {
                            LOAD_W(w[j], k);
                            if (MATRIX == MATRIX_SPLIT) LOAD_W(w_rest[j], k + vectors);
                        }
                        k += parts_of_w * vectors;
                    }
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                        FRAGMENTS_X(x, 2);
                        LOAD_X(x[0], at + i * TILE_STEP * ROW);
                        if (MATRIX != MATRIX_HALVES) LOAD_X(x[1], at + half_size + i * TILE_STEP * ROW);
                        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                            if (MATRIX != MATRIX_HALVES) ADD_PRODUCT(rest, j * BLOCK_X + i, x[1], w[j]);
                            if (MATRIX == MATRIX_SPLIT) ADD_PRODUCT(rest, j * BLOCK_X + i, x[0], w_rest[j]);
                            ADD_PRODUCT(sums, j * BLOCK_X + i, x[0], w[j]);
                        }
                    }
                }
            }
        }
) GPU_MATRIX_JUDGE(GPU_TEXT()) GPU_TEXT(
    }
    if (MATRIX != MATRIX_HALVES) {
        UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) ADD_REST(sums, rest, i);
    }
    UNROLL for (int first = 0; first < BLOCK_X * BLOCK_O; first += ROUND) {
        BARRIER;
        UNROLL for (int m = 0; m < ROUND; m += 1) STORE_SUM((m * GROUP_Y + SUBGROUP) * 80, sums, first + m);
        BARRIER;
        for (int m = LID0; m < pick(SPREAD > 1, 0, ROUND * 64); m += 32) {
            int n = first + m / 64;
            int o = ((GROUP1 * ACROSS + LID1 % ACROSS) * BLOCK_O + n / BLOCK_X) * 4 + m % 64 / 16;
            int4 p = mki4(first_x + m % 16, first_y + LID1 / ACROSS * BLOCK_X + n % BLOCK_X, o, batch);
            if (p.x < y_w && p.y < y_h && o < y_s) {
                int4 bits = tile[(m / 64 * GROUP_Y + LID1) * 80 + m % 16 * 5 + m % 64 / 16];
                acc4 sum = bits_to_float4(bits);
) FINISH GPU_TEXT(
            }
        }
    }
    if (SPREAD > 1) {
        for (int m = LID0; m < wide; m += 32) {
            int4 p = mki4(first_x + m, first_y + LID1, 0, batch);
            if (p.x < y_w && p.y < y_h) {
                acc4 sum = splatf4(0.0f);
                UNROLL for (int tx = 0; tx < SPREAD; tx += 1) {
                    int stored = tx / 4 * BLOCK_X + (m + tx) / 16;
                    int4 bits = tile[(stored * GROUP_Y + LID1) * 80 + (m + tx) % 16 * 5 + tx % 4];
                    sum += bits_to_float4(bits);
                }
                int o = 0;
) FINISH GPU_TEXT(
            }
        }
    }
);
const struct gpu_kernel gpu_kernel_cooperative_window = KERNEL("convolve_cooperative_window", true);
const struct gpu_kernel gpu_kernel_fragments_window = KERNEL("convolve_fragments_window", false);
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device in cycles of a compute unit, fitted to 14 blocks of each form on an H200, of which it explains
// those with at most nine fetches to a tenth: a quarter of the unit takes `product` for a fragment's product, and what
// a chunk brings goes over before its products, BANDWIDTH bytes in a cycle, as fast as the second cache gives them to
// all units. Small planes chose LATENCY: with 900 three of YOLO's layers are windows in f16, and a run takes 682 us by
// the device's clock, with 350 twelve, and 663. Split halves count for a third more, as those of cooperative.c, and so
// do those with weights that are halves.
static const int product[MATRIX_NARROW + 1] = {[MATRIX_SPLIT] = 66, [MATRIX_HALVES] = 28};
enum { BANDWIDTH = 20, LATENCY = 350, START = 1500, ROUND_TAKES = 150 };
enum { UNIT_REGISTERS = 65536, MAX_REGISTERS = 176, REGISTERS_BESIDE = 40, UNIT_SHARED = 200 << 10 };
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_TURNS = 8 };

// What a block needs besides.
struct layout {
    int turns, fetches, round, tile, registers;
};

// Whether a block fits. Fills in the rest.
static bool complete(struct layout *layout, const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                     const struct gpu_window_size *size)
{
    int parts = gpu_matrix_parts(form), halves = gpu_matrix_sums(form), items = SUBGROUP * size->subgroups;
    int sums = block->positions * block->outputs;
    int places = size->patch_w * size->patch_h;
    layout->turns = (int)gpu_divide_up((int64_t)GPU_WINDOW_CHUNK / 2 * places, items);
    layout->round = sums < 16 / size->subgroups || size->spread > 1 ? sums : 16 / size->subgroups;
    const int weights = block->across * size->taps * block->outputs * parts * SUBGROUP;
    const bool fetched = (halves * places + weights / 2) * POSITION_VECTORS * 16 < caps->shared_bytes;
    layout->fetches = fetched ? (int)gpu_divide_up(weights, items) : 0;
    layout->tile = (halves * places + (fetched ? weights / 2 : 0)) * POSITION_VECTORS;
    if (layout->tile < layout->round * size->subgroups * SUM_VECTORS)
        layout->tile = layout->round * size->subgroups * SUM_VECTORS;
    layout->registers = REGISTERS_BESIDE + halves * 8 * sums + 3 * layout->turns +
                        (int)gpu_larger(4 * (parts * block->outputs + halves), 8 * layout->turns + 4 * layout->fetches);
    // A group that is alone on a unit waits for what it brings: eight subgroups of eight fragments took 351 us for
    // Zero-DCE's layers in f16, and of four 277.
    return layout->turns <= MAX_TURNS && layout->registers <= MAX_REGISTERS &&
           2 * layout->registers * items <= UNIT_REGISTERS && 16 * (layout->tile + 1) <= caps->shared_bytes;
}

static int64_t cycles(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                      const struct gpu_window_size *size)
{
    struct layout layout;
    if (!complete(&layout, caps, form, block, size)) return INT64_MAX;
    if (form == MATRIX_NARROW) form = MATRIX_SPLIT;
    int parts = gpu_matrix_parts(form), load_w = layout.fetches ? GPU_FRAGMENT_LOAD : GPU_FRAGMENT_LOAD_FAR;
    int64_t each = gpu_divide_up(size->groups, gpu_conv_units(caps));
    int64_t resident = UNIT_REGISTERS / (layout.registers * size->subgroups * SUBGROUP);
    if (resident * layout.tile * 16 > UNIT_SHARED) resident = UNIT_SHARED / (layout.tile * 16);
    int64_t waves = gpu_divide_up(each, gpu_larger(resident, 1));
    int64_t work = size->taps * ((int64_t)product[form] * block->positions * block->outputs +
                                 (int64_t)GPU_FRAGMENT_LOAD * gpu_matrix_sums(form) * block->positions +
                                 (int64_t)load_w * parts * block->outputs); // of a subgroup
    int64_t bytes = (int64_t)64 / size->columns * size->patch_w * size->patch_h +
                    (layout.fetches ? (int64_t)512 * parts * block->outputs * block->across * size->taps : 0);
    int64_t alone = work * gpu_divide_up(size->subgroups, 4) + bytes / BANDWIDTH + LATENCY;
    int64_t rounds = block->positions * block->outputs / layout.round;
    int64_t taken = gpu_larger(each * size->chunks * (work * size->subgroups / 4 + bytes / BANDWIDTH),
                               waves * (size->chunks * alone + START + rounds * ROUND_TAKES));
    return form == MATRIX_SPLIT ? taken * 4 / 3 : taken;
}

static struct gpu_window_launch launch(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                                       const struct gpu_window_size *size)
{
    struct layout layout;
    complete(&layout, caps, form, block, size);
    return (struct gpu_window_launch){
        .kernel = caps->cooperative ? &gpu_kernel_cooperative_window : &gpu_kernel_fragments_window,
        .own = {{"TURNS", layout.turns},
                {"ROUND", layout.round},
                {"ROW", POSITION_VECTORS},
                {"TILE", layout.tile},
                {"FETCHES", layout.fetches}},
        .packed = *block,
    };
}

const struct gpu_window_way gpu_window_cooperative = {
    .name = "convolve_cooperative_window",
    .order = GPU_MATRIX_FRAGMENTS_BY_CHUNKS,
    .cycles = cycles,
    .launch = launch,
};
