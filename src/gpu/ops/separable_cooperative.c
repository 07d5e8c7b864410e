// SPDX-License-Identifier: Apache-2.0
// The kernel of separable.h where a language has matrix units as cooperative matrices (cooperative.h). A work-group has
// the positions of a tile, 8 wide and 2 * BLOCK_X rows high for each of its subgroups that stand below each other, and
// the outputs of the ACROSS subgroups that stand side by side; the subgroups along z divide the steps of 16 input
// channels among themselves. All work-items first compute the depthwise convolution, each RUN rows of a column of the
// tile for two input slices, into shared memory, as halves: the first halves of numbers that are split, and what these
// leave. Then the subgroups multiply from there. Where the input has more channels than shared memory has room for,
// they come in several rounds of CHUNK steps. In the end fragments of sums go through shared memory, a ROUND at a time.
//
// The weights are the bias of the 1x1 convolution, then those of the depthwise one (as in separable_matrix.c), then the
// streams of fragments. Those of the first DEPTH steps are requested before the depthwise part begins, since a group
// that waits for them afterwards waits twice.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/cooperative.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/separable.h"

// The indices of the kernel's constants.
enum {
    BLOCK_X,
    BLOCK_O,
    ACROSS,
    DEPTH,
    ROUND,
    MATRIX,
    CHUNK,
    ROW,
    TILE,
    RUN,
    WINDOW,
    STRIDE,
    STEP,
    HALF_TAPS,
    NUMBERS,
    STAGE_OF_X,
    CONSTANTS
};
enum { TILE_W = 8, STEP_SLICES = 4, SUM_VECTORS = 16 * 5 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Loads the weights of step n of those from S0 on.
#define LOAD_WEIGHTS(S0)                                                                                 \
    GPU_TEXT_OF(                                                                                         \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            int at = stream + ((S0 + n) * BLOCK_O + j) * (each * 32);                                    \
            LOAD_W(w[n * BLOCK_O + j], at);                                                              \
            if (MATRIX == MATRIX_SPLIT) LOAD_W(w_rest[n * BLOCK_O + j], at + 32);                        \
        }                                                                                                \
    )

#define KERNEL(NAME, COOPERATIVE)                                                                        \
    {                                                                                                    \
        .name = NAME, .group = {32, 1, 1},                                                               \
        .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},                                  \
        /* step: stride and dilation along x, padding; sum: input slices, steps, where the streams begin, */ \
        /* and where the depthwise weights do; inner: a and b of STAGE. */                               \
        .params = {"step", "sum", "inner"},                                                              \
        /* CHUNK: steps between two depthwise parts, a multiple of DEPTH * GROUP_Z; ROW: vectors from a */ \
        /* position to the next one, an odd number, for shared memory's banks; TILE: vectors of shared */ \
        /* memory, the last of them the bias; STRIDE, STEP: stride and dilation along y; HALF_TAPS: 1: the depthwise */ \
        /* weights are halves, those of two slices in a vector; NUMBERS: 1: the */ \
        /* stage's numbers of a slice's channels are behind its weights; STAGE: what follows the depthwise */ \
        /* convolution. */                                                                               \
        GPU_CONSTANTS({"BLOCK_X", 1}, {"BLOCK_O", 1}, {"ACROSS", 1}, {"DEPTH", 1}, {"ROUND", 1},         \
                      {"MATRIX", MATRIX_HALVES}, {"CHUNK", 1}, {"ROW", 3}, {"TILE", 128}, {"RUN", 2},    \
                      {"WINDOW", 3}, {"STRIDE", 1}, {"STEP", 1}, {"HALF_TAPS", 0}, {"NUMBERS", 0},           \
                      {"STAGE", 0}),                                                                     \
        .value_names = {GPU_MATRIX_FORMS(GPU_VALUE_NAME)},                                               \
        .shared = {"int4 tile[TILE]"}, .epilogue = true, .fragments = true, .cooperative = COOPERATIVE,  \
        .body = body,                                                                                    \
    }

static const char body[] = GPU_TEXT(
    int each = pick(MATRIX == MATRIX_SPLIT, 2, 1);
    int below = GROUP_Y / ACROSS;
    int rows = 2 * BLOCK_X * below;
    int half_size = 8 * rows * ROW;
    int stands = SUBGROUP % GROUP_Y;
    int along = SUBGROUP / GROUP_Y;
    int lid = (LID2 * GROUP_Y + LID1) * 32 + LID0;
    int stream = P_sum.z + (GROUP1 * ACROSS + stands % ACROSS) * (P_sum.y * BLOCK_O * each * 32);
    int s0 = along * DEPTH;
    FRAGMENTS_SUM(sums, BLOCK_X * BLOCK_O);
    FRAGMENTS_SUM(rest, BLOCK_X * BLOCK_O);
    FRAGMENTS_SUM(more, BLOCK_X * BLOCK_O);
    FRAGMENTS_W(w, DEPTH * BLOCK_O);
    FRAGMENTS_W(w_rest, DEPTH * BLOCK_O);
    UNROLL for (int n = 0; n < DEPTH; n += 1) {
) LOAD_WEIGHTS(s0) GPU_TEXT(
    }
    int4 bias = weights(min(GROUP1 * (ACROSS * BLOCK_O * 4) + lid, y_s - 1));
    UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) {
        CLEAR_SUM(sums, i);
        CLEAR_SUM(rest, i);
        CLEAR_SUM(more, i);
    }
    int tiles_x = (y_w + 7) / 8;
    int tiles_y = (y_h + rows - 1) / rows;
    int tile_row = GROUP0 / tiles_x;
    int batch = tile_row / tiles_y;
    int own_x = (GROUP0 - tile_row * tiles_x) * 8 + lid % 8;
    int first_y = (tile_row - batch * tiles_y) * rows;
    int plane = x_w * x_h;
    int span = (RUN - 1) * STRIDE + (WINDOW - 1) * STEP + 1;
    int taps = WINDOW * WINDOW * pick(HALF_TAPS == 1, 2, 4);
    int px = own_x * P_step.x - P_step.z;
    int across[WINDOW];
    UNROLL for (int tx = 0; tx < WINDOW; tx += 1)
        across[tx] = batch * x_s * plane + max(min(px + tx * P_step.y, x_w - 1), 0);
    for (int begin = 0; begin < P_sum.y; begin += CHUNK) {
        if (begin > 0) BARRIER;
        for (int unit = lid / 8; unit < 2 * CHUNK * (rows / RUN); unit += GROUP_Y * GROUP_Z * 4) {
            int pair = unit % (2 * CHUNK);
            int first_row = unit / (2 * CHUNK) * RUN;
            int py = (first_y + first_row) * STRIDE - P_step.w;
            acc4 columns[2 * RUN];
            UNROLL for (int h = 0; h < 2; h += 1) {
                int slice = (begin * 2 + pair) * 2 + h;
                int s = min(slice, x_s - 1);
                int k = P_sum.w + s / 4 * (taps + 4 + 4 * NUMBERS);
                acc4 v[((RUN - 1) * STRIDE + (WINDOW - 1) * STEP + 1) * WINDOW];
                UNROLL for (int n = 0; n < span; n += 1) {
                    int from = s * plane + max(min(py + n, x_h - 1), 0) * x_w;
                    UNROLL for (int tx = 0; tx < WINDOW; tx += 1) v[n * WINDOW + tx] = to_acc4(load_x(from + across[tx]));
                }
                int4 bits = weights(k + s % 4);
                UNROLL for (int i = 0; i < RUN; i += 1) columns[h * RUN + i] = bits_to_float4(bits);
                UNROLL for (int n = 0; n < span; n += 1) {
                    bool row_inside = py + n >= 0 && py + n < x_h;
                    UNROLL for (int tx = 0; tx < WINDOW; tx += 1) {
                        int ax = px + tx * P_step.y;
                        acc4 one = v[n * WINDOW + tx];
                        if (!(row_inside && ax >= 0 && ax < x_w)) one = splatf4(0.0f);
                        UNROLL for (int i = 0; i < RUN; i += 1) {
                            int down = n - i * STRIDE;
                            if (down >= 0 && down % STEP == 0 && down / STEP < WINDOW) {
                                int t = down / STEP * WINDOW + tx;
                                int4 tap = weights(k + 4 + pick(HALF_TAPS == 1, t * 2 + s % 4 / 2, t * 4 + s % 4));
                                acc4 factor = bits_to_float4(tap);
                                if (HALF_TAPS == 1)
                                    factor = four_halves(pick(h == 0, tap.x, tap.z), pick(h == 0, tap.y, tap.w));
                                columns[h * RUN + i] = mad(one, factor, columns[h * RUN + i]);
                            }
                        }
                    }
                }
                if (NUMBERS == 1) bits = weights(k + 4 + taps + s % 4);
                UNROLL for (int i = 0; i < RUN; i += 1) {
                    columns[h * RUN + i] = stage_with(STAGE, columns[h * RUN + i], bits_to_float4(bits),
                                                      bits_to_float(P_inner.x), bits_to_float(P_inner.y));
                    if (slice >= x_s) columns[h * RUN + i] = splatf4(0.0f);
                }
            }
            UNROLL for (int i = 0; i < RUN; i += 1) {
                int to = ((first_row + i) * 8 + lid % 8) * ROW + pair;
                acc4 a = columns[i];
                acc4 b = columns[RUN + i];
                if (MATRIX != MATRIX_HALVES) {
                    tile[to + half_size] = rests_of(a, b);
                    a = first_halves(a);
                    b = first_halves(b);
                }
                tile[to] = halves_of(a, b);
            }
        }
        if (begin == 0 && lid < ACROSS * BLOCK_O * 4) tile[TILE - ACROSS * BLOCK_O * 4 + lid] = bias;
        BARRIER;
        for (int step = along * DEPTH; step < CHUNK; step += GROUP_Z * DEPTH) {
            s0 += GROUP_Z * DEPTH;
            UNROLL for (int n = 0; n < DEPTH; n += 1) {
                UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                    int at = (stands / ACROSS * BLOCK_X + i) * 16 * ROW + (step + n) * 2;
                    FRAGMENTS_X(x, 2);
                    LOAD_X(x[0], at);
                    if (MATRIX != MATRIX_HALVES) LOAD_X(x[1], at + half_size);
                    UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                        if (MATRIX != MATRIX_HALVES) ADD_PRODUCT(rest, j * BLOCK_X + i, x[1], w[n * BLOCK_O + j]);
                        if (MATRIX == MATRIX_SPLIT) ADD_PRODUCT(more, j * BLOCK_X + i, x[0], w_rest[n * BLOCK_O + j]);
                        ADD_PRODUCT(sums, j * BLOCK_X + i, x[0], w[n * BLOCK_O + j]);
                    }
                }
                if (s0 < P_sum.y) {
) LOAD_WEIGHTS(s0) GPU_TEXT(
                }
            }
        }
    }
    UNROLL for (int i = 0; i < BLOCK_X * BLOCK_O; i += 1) {
        if (MATRIX != MATRIX_HALVES) ADD_REST(sums, rest, i);
        if (MATRIX == MATRIX_SPLIT) ADD_REST(sums, more, i);
    }
    UNROLL for (int first = 0; first < BLOCK_X * BLOCK_O; first += ROUND) {
        BARRIER;
        UNROLL for (int m = 0; m < ROUND; m += 1)
            STORE_SUM(((m * GROUP_Z + along) * GROUP_Y + stands) * 80, sums, first + m);
        BARRIER;
        for (int m = LID2 * 32 + LID0; m < ROUND * 64; m += 32 * GROUP_Z) {
            int n = first + m / 64;
            int own = (LID1 % ACROSS * BLOCK_O + n / BLOCK_X) * 4 + m % 64 / 16;
            int o = GROUP1 * (ACROSS * BLOCK_O * 4) + own;
            int row = (LID1 / ACROSS * BLOCK_X + n % BLOCK_X) * 2 + m % 16 / 8;
            int4 p = mki4(own_x, first_y + row, o, batch);
            if (p.x < y_w && p.y < y_h && o < y_s) {
                int from = (m / 64 * GROUP_Z * GROUP_Y + LID1) * 80 + m % 16 * 5 + m % 64 / 16;
                int4 bits = tile[TILE - ACROSS * BLOCK_O * 4 + own];
                acc4 sum = bits_to_float4(bits);
                for (int z = 0; z < GROUP_Z; z += 1) {
                    bits = tile[from + z * GROUP_Y * 80];
                    sum += bits_to_float4(bits);
                }
                write_y(p, finish(to_real4(sum), p));
            }
        }
    }
);
const struct gpu_kernel gpu_kernel_separable_cooperative = KERNEL("separable_cooperative", true);
const struct gpu_kernel gpu_kernel_separable_fragments = KERNEL("separable_fragments", false);
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit. They add up, since little of this goes on at the same time: START
// of a group, and WAVE for each further set of groups for which the unit has no room at the same time; for all groups
// of the unit their bytes, BANDWIDTH in a cycle, MAD for each vector that a warp multiplies in the depthwise part, and
// PRODUCT for each one of fragments; for each set a TURN for each time that a work-item computes columns, and a LATENCY
// for each time that weights are waited for. They are fitted to 498 times of the pairs of MobileNet v1, PoseNet and
// hand landmarks on an H200 in all three forms, less a dispatch's step. The model predicts those that are at most 1.15
// times the best one of their layer to 11 %, and the block that it chooses takes 1.009 of the time of the best one
// tried, at most 1.08. Split halves count for a third more, as those of cooperative.c.
enum { START = 4220, WAVE = 1370, BANDWIDTH = 83, MAD = 9, PRODUCT = 11, TURN = 1020, LATENCY = 640 };
enum { MAX_SUBGROUPS = 16, MAX_SPAN = 24, MAX_ROUND = 4, MAX_STORED = 32, MAX_LOADS = 30 };
// A compiler takes fewer registers than it would like where a group of 16 subgroups needs it, down to 128.
enum { REGISTERS_BESIDE = 100, MAX_REGISTERS = 264, UNIT_REGISTERS = 65536, GROUP_REGISTERS = 168 * 512 };
enum { UNIT_SHARED = 200 << 10, SUBGROUP = GPU_MATRIX_SUBGROUP };

// A block, and what follows from it.
struct plan_of_block {
    struct gpu_matrix_block block;
    int below, run;
    int steps, chunk; // all of them, and those between two depthwise parts
    int round, tile, registers;
};

// The blocks that are tried: positions, outputs, depth, across, along, below. Of 35 that were measured each of these
// was the fastest for some layer and form, or within two hundredths of it. The model says nothing about others: with
// all powers of two it chose groups of one or four subgroups for large planes, and MobileNet's pairs took 134 us in f32
// in place of 108.
static const int tried[][6] = {{1, 1, 8, 4, 4, 1}, {1, 1, 4, 4, 4, 1}, {1, 1, 2, 4, 4, 1}, {1, 1, 4, 2, 8, 1},
                               {1, 2, 4, 4, 4, 1}, {1, 1, 4, 8, 2, 1}, {1, 1, 4, 4, 2, 1}, {2, 1, 2, 8, 2, 1},
                               {2, 1, 2, 4, 1, 2}, {1, 1, 2, 4, 1, 2}, {2, 1, 2, 4, 1, 4}};

// How many products of halves stand for one of numbers.
static int products_of(int form)
{
    return form == MATRIX_HALVES ? 1 : form == MATRIX_NARROW ? 2 : 3;
}

static int rows_of(const struct plan_of_block *plan)
{
    return 2 * plan->block.positions * plan->below;
}

// Whether a block can be. Fills in the rest.
static bool complete(struct plan_of_block *plan, const struct gpu_caps *caps, const struct gpu_separable_size *size,
                     int form)
{
    const struct gpu_matrix_block *block = &plan->block;
    const int window = size->taps / size->rows;
    const int subgroups = block->across * plan->below * block->along, items = SUBGROUP * subgroups;
    const int parts = form == MATRIX_HALVES ? 1 : 2, sums = block->positions * block->outputs;
    const int bias = 4 * block->outputs * block->across, most = caps->shared_bytes / 16 - bias;
    if (subgroups > MAX_SUBGROUPS || items > caps->max_group_size || block->along > caps->max_group[2] ||
        block->across * plan->below > caps->max_group[1] || bias > items)
        return false;
    plan->round = sums;
    while (plan->round > 1 && (plan->round > MAX_ROUND || plan->round * subgroups > MAX_STORED ||
                               plan->round * subgroups * SUM_VECTORS > most))
        plan->round /= 2;
    if (plan->round * subgroups * SUM_VECTORS > most) return false;
    const int places = TILE_W * rows_of(plan), together = block->along * block->depth;
    const int rounds = (int)gpu_divide_up(gpu_divide_up(size->inputs, STEP_SLICES), together);
    const int fit = (most / (parts * places) - 1) / (2 * together); // of `together` steps each
    if (fit < 1) return false;
    const int chunks = (int)gpu_divide_up(rounds, fit), each = (int)gpu_divide_up(rounds, chunks);
    plan->chunk = each * together;
    plan->steps = chunks * plan->chunk;
    const int halves = parts * places * (2 * plan->chunk + 1), round = plan->round * subgroups * SUM_VECTORS;
    plan->tile = (halves > round ? halves : round) + bias;
    plan->run = 4;
    while (plan->run > 1 &&
           (plan->run > rows_of(plan) || TILE_W * 2 * plan->chunk * rows_of(plan) / plan->run < items ||
            ((plan->run - 1) * size->stride_h + size->rows) * window > MAX_LOADS))
        plan->run /= 2;
    plan->registers =
        REGISTERS_BESIDE + 8 * sums * products_of(form) + 4 * gpu_matrix_parts(form) * block->depth * block->outputs;
    return plan->registers <= MAX_REGISTERS && plan->registers * items <= GROUP_REGISTERS;
}

static int64_t tiles_of(const struct plan_of_block *plan, const struct gpu_separable_size *size, int64_t images)
{
    return gpu_divide_up(size->width, TILE_W) * gpu_divide_up(size->height, rows_of(plan)) * images;
}

static int64_t cycles_of(const struct plan_of_block *plan, const struct gpu_caps *caps,
                         const struct gpu_separable_size *size, int form)
{
    const struct gpu_matrix_block *block = &plan->block;
    const int64_t subgroups = (int64_t)block->across * plan->below * block->along, rows = rows_of(plan);
    const int64_t tiles = block->outputs * block->across, window = size->taps / size->rows;
    const int64_t each =
        gpu_divide_up(tiles_of(plan, size, size->images) * gpu_divide_up(size->slices, STEP_SLICES * tiles),
                      gpu_conv_units(caps));
    int64_t resident = UNIT_REGISTERS / (plan->registers * subgroups * SUBGROUP);
    if (resident * 16 * plan->tile > UNIT_SHARED) resident = UNIT_SHARED / (16 * plan->tile);
    const int64_t waves = gpu_divide_up(each, gpu_larger(resident, 1));
    // Of a group:
    const int64_t patch = ((TILE_W - 1) * size->stride_w + window) * ((rows - 1) * size->stride_h + size->rows);
    const int64_t bytes = plan->steps * (64 * (patch + size->taps + 1) + 512 * gpu_matrix_parts(form) * tiles);
    const int64_t units = 2 * plan->steps * rows / plan->run; // of eight columns and two slices
    const int64_t products = plan->steps * block->positions * plan->below * tiles * products_of(form);
    const int64_t turns =
        gpu_divide_up(units / (plan->steps / plan->chunk), 4 * subgroups) * (plan->steps / plan->chunk);
    const int64_t trips = plan->steps / block->along / block->depth - 1;
    const int64_t cycles = START +
                           each * (bytes / BANDWIDTH + units * MAD * plan->run * size->taps / 4 + products * PRODUCT) +
                           waves * (turns * TURN + trips * LATENCY) + (waves - 1) * WAVE;
    return form == MATRIX_SPLIT ? cycles * 4 / 3 : cycles;
}

// images: of all batches.
static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_caps *caps, const struct gpu_separable_size *size,
                        int64_t images, int form)
{
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const int *n = tried[i];
        struct plan_of_block plan = {.block = {n[0], n[1], n[2], n[3], n[4]}, .below = n[5]};
        const struct gpu_tuned_block numbers = {{n[0], n[1], n[2], n[3], n[4], n[5]}};
        if (!complete(&plan, caps, size, form) || tiles_of(&plan, size, images) > caps->max_groups[0]) continue;
        gpu_ranking_add(ranking, &numbers, cycles_of(&plan, caps, size, form));
    }
}

// ---- whether --------------------------------------------------------------------------------------------------------

int64_t gpu_separable_cooperative_cycles(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise, int form,
                                         const struct gpu_separable_size *size)
{
    const int span = (depthwise->kernel_h - 1) * depthwise->dilation_h + 3 * depthwise->stride_h;
    struct gpu_ranking ranking = {.room = 1};
    if (form >= 0 && depthwise->kernel_w == depthwise->kernel_h && span <= MAX_SPAN)
        rank_blocks(&ranking, plan->caps, size, depthwise->y->shape.b, form);
    return gpu_ranking_limit(&ranking);
}

static struct plan_of_block choose(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                                   const struct gpu_separable_size *size, int form, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    *tuned = 0;
    rank_blocks(&ranking, plan->caps, size, depthwise->y->shape.b, form);
    if (gpu_tuning_answers(plan->tuning) && size->positions <= INT_MAX) {
        struct gpu_tuned_size asked = {"separable_cooperative",
                                       {size->width, size->height, size->inputs, size->slices, size->taps,
                                        depthwise->stride_h, depthwise->dilation_h, form}};
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    const int32_t *n = block ? block->numbers : ranking.blocks[0].numbers;
    struct plan_of_block all = {.block = {n[0], n[1], n[2], n[3], n[4]}, .below = n[5]};
    complete(&all, plan->caps, size, form);
    return all;
}

// ---- the weights ----------------------------------------------------------------------------------------------------

static bool has_half_taps(const struct gpu_depthwise *depthwise)
{
    return gpu_matrix_are_halves(depthwise->weights->data,
                                 (int64_t)depthwise->kernel_w * depthwise->kernel_h * depthwise->y->shape.c);
}

// The vectors of the depthwise weights for four slices.
static int vectors_of(const struct gpu_between *between, const struct gpu_depthwise *depthwise, bool halves)
{
    const int each = gpu_between_vectors(between, depthwise), taps = depthwise->kernel_w * depthwise->kernel_h;
    return STEP_SLICES * each - (halves ? STEP_SLICES / 2 * taps : 0);
}

// Packs them: the biases, a vector for each tap and slice, or for each tap and two slices, and the stage's numbers.
// False without memory.
static bool pack_depthwise(const struct gpu_between *between, const struct gpu_depthwise *depthwise, bool halves,
                           int32_t *to)
{
    if (!halves) return gpu_between_pack(between, depthwise, STEP_SLICES, to);
    const size_t each = (size_t)gpu_between_vectors(between, depthwise), four = (size_t)4 * STEP_SLICES;
    const size_t taps = (size_t)depthwise->kernel_w * (size_t)depthwise->kernel_h;
    const size_t groups = ((size_t)gpu_slices(depthwise->x->shape) + STEP_SLICES - 1) / STEP_SLICES;
    float *all = calloc(groups * each, four * sizeof *all);
    const bool ok = all && gpu_between_pack(between, depthwise, STEP_SLICES, all);
    for (size_t v = 0; ok && v < groups * each; v++) {
        const float *from = all + v * four;
        const bool is_tap = v % each >= 1 && v % each <= taps;
        if (!is_tap) memcpy(to, from, four * sizeof *from);
        for (size_t i = 0; is_tap && i < four / 2; i++) to[i] = gpu_matrix_half_pair(from[2 * i], from[2 * i + 1]);
        to += is_tap ? four / 2 : four;
    }
    free(all);
    return ok;
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

bool gpu_plan_separable_cooperative(struct gpu_plan *plan, const struct gpu_node *node,
                                    const struct gpu_depthwise *depthwise, const struct gpu_convolution *pointwise,
                                    int form, const struct gpu_separable_size *size)
{
    int tuned;
    const struct plan_of_block all = choose(plan, depthwise, size, form, &tuned);
    const struct gpu_matrix_block *block = &all.block;
    const struct gpu_between between = gpu_between_of(node);
    const bool half_taps = has_half_taps(depthwise);
    const int64_t own = gpu_divide_up(size->inputs, STEP_SLICES) * vectors_of(&between, depthwise, half_taps),
                  first = size->slices + own;
    struct gpu_weights *weights =
        gpu_plan_integers(plan, (size_t)(first + gpu_matrix_vectors(block, form, size->slices, all.steps)));
    if (!weights) return false;
    for (int i = 0; i < pointwise->outputs && pointwise->bias; i++)
        weights->integers[i] = gpu_float_bits(pointwise->bias[i]);
    if (!pack_depthwise(&between, depthwise, half_taps, weights->integers + (size_t)4 * size->slices))
        return gpu_plan_fail(plan, "out of memory");
    gpu_matrix_pack(pointwise, form, block, all.steps, GPU_MATRIX_FRAGMENTS, weights->integers + 4 * first);

    const int64_t tiles = tiles_of(&all, size, pointwise->y->shape.b);
    const int stands = block->across * all.below;
    const int values[CONSTANTS] = {
        [BLOCK_X] = block->positions,
        [BLOCK_O] = block->outputs,
        [ACROSS] = block->across,
        [DEPTH] = block->depth,
        [ROUND] = all.round,
        [MATRIX] = form,
        [CHUNK] = all.chunk,
        [ROW] = 2 * all.chunk + 1,
        [TILE] = all.tile,
        [RUN] = all.run,
        [WINDOW] = depthwise->kernel_h,
        [STRIDE] = depthwise->stride_h,
        [STEP] = depthwise->dilation_h,
        [HALF_TAPS] = half_taps,
        [NUMBERS] = between.numbers != NULL,
        [STAGE_OF_X] = (int)between.op,
    };
    struct gpu_dispatch_desc desc = {
        .kernel = plan->caps->cooperative ? &gpu_kernel_separable_cooperative : &gpu_kernel_separable_fragments,
        .operands = {{.value = depthwise->x}, {.weights = weights}, {.value = pointwise->y}},
        .params = {{depthwise->stride_w, depthwise->dilation_w, depthwise->pad_left, depthwise->pad_top},
                   {size->inputs, all.steps, (int)first, size->slices},
                   {gpu_float_bits(between.a), gpu_float_bits(between.b)}},
        .group = {SUBGROUP, stands, block->along},
        .grid = {(int)tiles * SUBGROUP,
                 (int)gpu_divide_up(size->slices, (int64_t)4 * block->outputs * block->across) * stands, block->along},
        .epilogue = &plan->node->epilogue,
        .tuned = tuned,
    };
    for (int i = 0; i < CONSTANTS; i++)
        desc.constants[i] = (struct gpu_setting){gpu_kernel_separable_cooperative.constants[i].name, values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
