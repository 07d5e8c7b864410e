// SPDX-License-Identifier: Apache-2.0
// The kernel of window.h with dynamic shared memory, and what its blocks take. A work-group computes a tile of
// positions, 16 wide, and some outputs. Its subgroups have BLOCK_X rows of the tile and BLOCK_O tiles of 16 outputs
// each, ACROSS of them side by side along outputs. The sum comes in chunks of four input slices with all taps, a step
// of 16 channels (MATRIX_STEP, docs/kernel_dialect.md) for each tap. While the units multiply a chunk, the work-items
// load the next one's patch of x; then they split each number once, as an operand, into the other half of the shared
// memory. The weights of STAGES chunks are copied there in bulk, the first ones before the kernel waits for earlier
// dispatches.
//
// The columns of a patch lie apart by their place in a stride, so that neighboring positions are neighbors there. A
// step takes two positions, eight apart: a vector has a number's first halves and what they leave, or, where halves are
// all, those of both positions.
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_text.h"
#include "gpu/ops/window.h"
#include "gpu/ops/window_text.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define BEGIN_SUMS GPU_MATRIX_BEGIN_SUMS_OF(of_sums)

// Writes v, output n of the block.
#define FINISH                                                                                           \
    GPU_TEXT(                                                                                            \
        int o = first_slice + n / (2 * BLOCK_X) * 4;                                                     \
        int4 p = mki4(first_x + row + n % 2 * 8, first_y + below + n / 2 % BLOCK_X, o, batch);           \
        if (p.x < y_w && p.y < y_h && o < y_s) write_y(p, finish(to_real4(v), p));                       \
    )

const struct gpu_kernel gpu_kernel_matrix_window = {
    .name = "convolve_matrix_window",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},
    // sum: chunks, where the streams begin in the weights, and the weights in shared memory; step: padding.
    .params = {"sum", "step"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 1},
                  {"ACROSS", 1},
                  {"IN", IN_WINDOW},
                  {"WINDOW_W", 3},
                  {"WINDOW_H", 3},
                  {"STRIDE", 1},
                  {"PATCH_W", 18},
                  {"PATCH_H", 3},
                  {"PLANE", 58},     // vectors of a slice of the patch in shared memory
                  {"STAGES", 1},
                  {"TURNS", 7},      // vectors of a patch that a work-item loads
                  {"MATRIX", MATRIX_SPLIT},
                  {"TILE", 1072},    // vectors: x of two chunks, then weights
                  {"RESIDENT", 1},
                  {"COLUMNS", 1},
                  {"SPREAD", 1},
                  {"STEPS_W", 3},    // steps of a row of taps
                  {"TILE_STEP", 18}, // from a tile of the patch to the next one of a subgroup
                  {"GUARDED", 0}),   // 1: numbers that are split may be too large or small for it
    .value_names = {GPU_CONV_INS(GPU_VALUE_NAME), GPU_MATRIX_FORMS(GPU_VALUE_NAME)},
    .shared = {"int vote[4]"},
    .dynamic_shared = true,
    .epilogue = true,
    .matrix = true,
    .waits = true,
    .body = GPU_TEXT(
        int lid = LID1 * 32 + LID0;
        int row = LID0 / 4;
        int part = LID0 % 4;
        int beside = LID1 % ACROSS;
        int below = LID1 / ACROSS * pick(SPREAD > 1, 1, BLOCK_X);
        int of_sums = pick(SPREAD > 1, SPREAD, y_s);
        int vectors = pick(MATRIX < MATRIX_HALVES, 2, 1);
        int of_tap = ACROSS * BLOCK_O * vectors * 32;
        int each = STEPS_W * WINDOW_H * of_tap;
        int chunks = P_sum.x;
        int stream = P_sum.y + GROUP1 * chunks * each;
        for (int n = 0; n < STAGES; n += 1) fetch_weights(n, P_sum.z + n * each, stream + n * each, each);
        int first_slice = (GROUP1 * ACROSS + beside) * (4 * BLOCK_O) + part;
        acc4 sums[2 * BLOCK_X * BLOCK_O];
        acc4 rest[2 * BLOCK_X * BLOCK_O];
    ) BEGIN_SUMS GPU_WINDOW_PLACES(1) GPU_TEXT(
        acc4 next[TURNS];
    ) GPU_MATRIX_GUARD GPU_TEXT(
        WAIT;
        for (int pass = 0; pass < passes; pass += 1) {
            int before = pass * chunks;
    ) GPU_WINDOW_LOAD(next, 1, 0) GPU_TEXT(
            for (int c = 0; c < chunks; c += 1) {
                int operands = c % 2 * (4 * PLANE);
                UNROLL for (int t = 0; t < TURNS; t += 1) {
                    if (slice_of[t] < 4) {
    ) GPU_MATRIX_MEASURE(next[t]) GPU_TEXT(
                        acc4 high = next[t];
                        acc4 low = high;
                        MATRIX_OPERANDS(high, low, next[t], next[t]);
                        int to = operands + slice_of[t] * PLANE + place[t];
                        if (MATRIX == MATRIX_HALVES) {
                            LANE_OF_TILE(to, 0) = high.x;
                            LANE_OF_TILE(to, 1) = high.z;
                            if (place[t] >= 8) {
                                LANE_OF_TILE(to - 8, 2) = high.x;
                                LANE_OF_TILE(to - 8, 3) = high.z;
                            }
                        } else {
                            tile[to] = mkf4(high.x, high.z, low.x, low.z);
                        }
                    }
                }
                if (c + 1 < chunks) {
    ) GPU_WINDOW_LOAD(next, 1, c + 1) GPU_TEXT(
                }
                int slot = (before + c) % STAGES;
                ARRIVED(slot, (before + c) / STAGES);
                BARRIER;
                int again = c - 1 + STAGES;
                int freed = (before + again) % STAGES;
                if (c > 0 && again < chunks) fetch_weights(freed, P_sum.z + freed * each, stream + again * each, each);
                int k = P_sum.z + slot * each + beside * BLOCK_O * vectors * 32 + LID0;
                int at = operands + part * PLANE + below * STRIDE * PATCH_W + row;
                for (int ty = 0; ty < WINDOW_H; ty += 1) {
                    UNROLL for (int tx = 0; tx < STEPS_W; tx += 1) {
                        int here = at + ) GPU_WINDOW_TAP GPU_TEXT(;
                        acc4 columns[2 * BLOCK_X];
                        UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                            acc4 near = tile[here + i * TILE_STEP];
                            if (MATRIX == MATRIX_HALVES) {
                                columns[2 * i] = mkf4(near.x, near.z, near.y, near.w);
                                columns[2 * i + 1] = columns[2 * i];
                            } else {
                                acc4 far = tile[here + i * TILE_STEP + 8];
                                columns[2 * i] = mkf4(near.x, far.x, near.y, far.y);
                                columns[2 * i + 1] = mkf4(near.z, far.z, near.w, far.w);
                            }
                        }
                        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                            acc4 first_weights = tile[k + j * vectors * 32];
                            acc4 last_weights = first_weights;
                            if (MATRIX < MATRIX_HALVES) last_weights = tile[k + j * vectors * 32 + 32];
                            int4 first_bits = float4_to_bits(first_weights);
                            int4 last_bits = float4_to_bits(last_weights);
                            UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                                MATRIX_STEP(sums[(j * BLOCK_X + i) * 2], sums[(j * BLOCK_X + i) * 2 + 1],
                                            rest[(j * BLOCK_X + i) * 2], rest[(j * BLOCK_X + i) * 2 + 1],
                                            columns[2 * i], columns[2 * i + 1], first_bits, last_bits);
                            }
                        }
                        k += of_tap;
                    }
                }
            }
    ) GPU_MATRIX_JUDGE(GPU_MATRIX_FETCH_AGAIN(P_sum.z) BEGIN_SUMS GPU_MATRIX_SCALE_SUMS) GPU_TEXT(
        }
    ) GPU_MATRIX_SCALE_BACK GPU_TEXT(
        if (MATRIX == MATRIX_SPLIT || MATRIX == MATRIX_NARROW) {
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) sums[n] += rest[n] * MATRIX_REST;
        }
        if (SPREAD > 1) {
            int own = LID1 * (64 * BLOCK_X * BLOCK_O);
            BARRIER;
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) {
                int column = n / 2 % BLOCK_X * 16 + row + n % 2 * 8;
                tile[own + (part + n / (2 * BLOCK_X) * 4) * (16 * BLOCK_X) + column] = sums[n];
            }
            BARRIER;
            for (int column = LID0; column < wide; column += 32) {
                int4 p = mki4(first_x + column, first_y + below, 0, batch);
                acc4 v = splatf4(0.0f);
                UNROLL for (int tx = 0; tx < SPREAD; tx += 1) v += tile[own + tx * (16 * BLOCK_X) + column + tx];
                if (p.x < y_w && p.y < y_h) write_y(p, finish(to_real4(v), p));
            }
        } else {
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) {
                acc4 v = sums[n];
    ) FINISH GPU_TEXT(
            }
        }
    ),
};
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit, as that of matrix_shared.c, whose figures it takes. A quarter of
// the unit takes PRODUCT cycles for each instruction of its products. One group alone does nothing while it loads. On
// an H200 work takes four fifths of what is counted so (17 blocks of 490 x 490 positions with 32 channels, 58 to 125
// us).
enum { PRODUCT = 14, BANDWIDTH = 21, LATENCY = 900, START = 1500, SHARED_BYTES = 128, CONVERT = 3, CHUNK_CYCLES = 300 };
enum { UNIT_REGISTERS = 65536, REGISTERS_EACH = 240, REGISTERS_BESIDE = 20, MAX_STAGES = 2, MAX_TURNS = 12 };
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, CHUNK_SLICES = GPU_WINDOW_CHUNK };
// The units' instructions for a step of one tile by one tile.
static const int instructions[] = {[MATRIX_FLOATS] = 12, [MATRIX_SPLIT] = 6, [MATRIX_HALVES] = 2, [MATRIX_NARROW] = 4};

// What a block needs besides.
struct layout {
    int plane; // vectors of a slice of the patch
    int stages, turns, weights, tile, resident;
};

// How many groups fit a unit by their registers and their memory, of which `all` vectors are half.
static int resident_of(const struct layout *layout, int all, int form, const struct gpu_matrix_block *block, int items)
{
    int sums = 8 * block->positions * block->outputs * gpu_matrix_sums(form);
    int each = REGISTERS_BESIDE + sums + 7 * layout->turns + 8 * block->positions + 8;
    int by_registers = each <= REGISTERS_EACH ? UNIT_REGISTERS / items / each : 0, by_memory = 2 * all / layout->tile;
    return by_registers < by_memory ? by_registers : by_memory;
}

// Whether a block fits. Fills in the rest.
static bool complete(struct layout *layout, const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                     const struct gpu_window_size *size)
{
    int items = SUBGROUP * size->subgroups, all = caps->dynamic_shared_bytes / 16;
    // Eight work-items read two neighboring positions of four slices at a time: each from another bank.
    layout->plane = size->patch_w * size->patch_h;
    layout->plane += (10 - layout->plane % 8) % 8;
    layout->turns = (int)gpu_divide_up(CHUNK_SLICES * size->patch_w * size->patch_h, items);
    layout->weights = CHUNK_SLICES * layout->plane * (size->chunks > 1 ? 2 : 1);
    int each = size->taps * block->across * block->outputs * gpu_matrix_parts(form) * SUBGROUP;
    int64_t stages = (all - layout->weights) / each;
    if (stages > size->chunks) stages = size->chunks;
    layout->stages = stages < MAX_STAGES ? (int)stages : MAX_STAGES;
    layout->tile = layout->weights + layout->stages * each;
    const int sums = 64 * block->positions * block->outputs * size->subgroups; // vectors that are added up in the end
    if (size->spread > 1 && layout->tile < sums) layout->tile = sums;
    if (layout->stages < (size->chunks > 1 ? 2 : 1) || layout->tile > all) return false;
    layout->resident = resident_of(layout, all, form, block, items);
    return layout->turns <= MAX_TURNS && layout->resident > 0;
}

static int64_t cycles(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                      const struct gpu_window_size *size)
{
    struct layout layout;
    if (!complete(&layout, caps, form, block, size)) return INT64_MAX;
    int64_t each = gpu_divide_up(size->groups, gpu_conv_units(caps)), waves = gpu_divide_up(each, layout.resident);
    int64_t steps = size->chunks * size->taps;
    int64_t serial = steps * instructions[form] * PRODUCT * block->positions * block->outputs;
    int64_t products = gpu_larger(gpu_divide_up(each * size->subgroups, 4) * serial, waves * serial * 3 / 2);
    int64_t vectors = (form == MATRIX_HALVES ? 1 : 2) * block->positions + block->outputs * gpu_matrix_parts(form);
    int64_t patch = size->chunks * CHUNK_SLICES * size->patch_w * size->patch_h;
    int64_t shared = each * (size->subgroups * steps * vectors * 512 / SHARED_BYTES + patch / 16 * CONVERT);
    int64_t loads = each * patch / size->columns * 16 / BANDWIDTH, first = loads / size->chunks;
    int64_t work = first + gpu_overlapped(products, shared, loads - first);
    if (layout.resident == 1) work = products + shared + loads;
    return work * 4 / 5 + waves * (START + LATENCY + size->chunks * CHUNK_CYCLES);
}

static struct gpu_window_launch launch(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                                       const struct gpu_window_size *size)
{
    struct layout layout;
    complete(&layout, caps, form, block, size);
    return (struct gpu_window_launch){
        .kernel = &gpu_kernel_matrix_window,
        // A group's outputs follow each other in each step, and so do a chunk's steps, so that a chunk is one range.
        .own = {{"PLANE", layout.plane},
                {"STAGES", layout.stages},
                {"TURNS", layout.turns},
                {"TILE", layout.tile},
                {"RESIDENT", layout.resident}},
        .packed = {.outputs = block->outputs * block->across, .across = 1},
        .weights_at = layout.weights,
    };
}

const struct gpu_window_way gpu_window_matrix = {
    .name = "convolve_matrix_window",
    .order = GPU_MATRIX_BY_CHUNKS,
    .cycles = cycles,
    .launch = launch,
};
