// SPDX-License-Identifier: Apache-2.0
// See convolve.h. A work-item sums BLOCK_X positions by BLOCK_O output slices in registers. Each input vector that it
// loads is used for BLOCK_O slices, and each weight for BLOCK_X positions. Neighboring work-items in x take neighboring
// positions, so that their loads coalesce. Neighboring work-items in y take neighboring weights. If this leaves too few
// work-items to fill the device (small images, one position), the terms of the sum are divided along z and added up in
// shared memory.
//
// The weights are one stream for each work-group along y, which reads it from beginning to end. A stream consists of
// rows of TILE = GROUP_Y * BLOCK_O vectors, one vector for each output slice: the bias first, and then for each tap and
// input slice four rows, one for each input channel.
#include "gpu/ops/convolve_text.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "gpu/ops/convolve_dense.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix.h"
#include "gpu/ops/window.h"
#include "gpu/ops/winograd.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// The indices of the kernel's constants.
enum { BLOCK_X, BLOCK_O, OUT, IN, TAPS, DEPTH, GROUPED, ROUND, CONSTANTS };

// Adds the bias to v, the sum of output n of the block, and writes it.
#define FINISH_ONE                                                                      \
    GPU_TEXT(                                                                           \
        int position = first_position + n % BLOCK_X * GROUP_X;                                \
        int o = first_slice + n / BLOCK_X * GROUP_Y;                                    \
        if (position < positions && o < y_s) {                                                \
    ) GPU_CONV_PLACE_IN_Y GPU_TEXT(                                                     \
            v += to_acc4(weights(stream + LID1 + n / BLOCK_X * GROUP_Y));               \
            write_y(p, finish(to_real4(v), p));                                         \
        }                                                                               \
    )

// Adds the terms of one input slice: v[first + i] at each position times the four rows of weights from k on.
#define ADD_TERMS(first)                                                                                \
    GPU_TEXT(                                                                                           \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                   \
            acc4 a = to_acc4(weights(k + j * GROUP_Y));                                                 \
            acc4 b = to_acc4(weights(k + j * GROUP_Y + GROUP_Y * BLOCK_O));                             \
            acc4 c = to_acc4(weights(k + j * GROUP_Y + 2 * GROUP_Y * BLOCK_O));                         \
            acc4 d = splatf4(0.0f);                                                                     \
            if (TAPS == 0) d = to_acc4(weights(k + j * GROUP_Y + 3 * GROUP_Y * BLOCK_O));               \
            UNROLL for (int i = 0; i < BLOCK_X; i += 1) {                                               \
                sums[j * BLOCK_X + i] = mad(a, v[first + i].x, sums[j * BLOCK_X + i]);                  \
                sums[j * BLOCK_X + i] = mad(b, v[first + i].y, sums[j * BLOCK_X + i]);                  \
                sums[j * BLOCK_X + i] = mad(c, v[first + i].z, sums[j * BLOCK_X + i]);                  \
                if (TAPS == 0) sums[j * BLOCK_X + i] = mad(d, v[first + i].w, sums[j * BLOCK_X + i]);   \
            }                                                                                           \
        }                                                                                               \
    )

const struct gpu_kernel gpu_kernel_convolve = {
    .name = "convolve",
    .group = {8, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    // sum: input slices of a group, taps along x and y, input channels of a group; step: strides, padding; space:
    // dilations, output channels of a group; grid: size, offset in y.
    .params = {"sum", "step", "space", "grid"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 1},
                  {"OUT", OUT_SPREAD},
                  {"IN", IN_WINDOW},
                  {"TAPS", 0},    // above 0: x has up to three channels, the window is TAPS x TAPS, no loops
                  {"DEPTH", 1},   // input slices loaded before the first is summed
                  {"GROUPED", 0}, // the channels are in groups; a work-group's output slices read the same ones
                  {"ROUND", 1}),  // outputs of a block that are summed in shared memory at a time
    .value_names = {GPU_CONV_OUTS(GPU_VALUE_NAME), GPU_CONV_INS(GPU_VALUE_NAME)},
    .shared = {"float4 parts[GROUP_X * GROUP_Y * GROUP_Z * ROUND]"},
    .epilogue = true,
    .body = GPU_TEXT(
        int positions = P_grid.x * P_grid.y * x_b;
        int first_position = GROUP0 * (GROUP_X * BLOCK_X) + LID0;
        int first_slice = GROUP1 * (GROUP_Y * BLOCK_O) + LID1;
        int stream = GROUP1 * (P_sum.x * P_sum.y * P_sum.z * 4 + 1) * (GROUP_Y * BLOCK_O);
        int plane = x_w * x_h;
        int skipped = 0;
        if (GROUPED == 1) skipped = first_slice * 4 / P_space.z * P_sum.w / 4;
    ) GPU_CONV_PLACES_IN_X(BLOCK_X, GROUP_X) GPU_TEXT(
        acc4 sums[BLOCK_X * BLOCK_O];
        UNROLL for (int n = 0; n < BLOCK_X * BLOCK_O; n += 1) sums[n] = splatf4(0.0f);

        int k0 = stream + GROUP_Y * BLOCK_O + LID1;
        if (TAPS > 0) {
            UNROLL for (int tap = 0; tap < TAPS * TAPS; tap += 1) {
                int k = k0 + tap * (4 * GROUP_Y * BLOCK_O);
                acc4 v[BLOCK_X];
                UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                    int px = left[i] + tap % max(TAPS, 1);
                    int py = top[i] + tap / max(TAPS, 1);
                    v[i] = splatf4(0.0f);
                    if (IN == IN_MIRROR) {
    ) GPU_CONV_MIRROR(px, py) GPU_TEXT(
                    }
                    if (px >= 0 && py >= 0 && px < x_w && py < x_h) v[i] = to_acc4(load_x(base[i] + py * x_w + px));
                }
    ) ADD_TERMS(0) GPU_TEXT(
            }
        } else {
            int from[BLOCK_X];
            int s = LID2;
            int last = x_s - 1 - skipped;
            for (int ty = 0; ty < P_sum.z; ty += 1) {
                for (int tx = 0; tx < P_sum.y; tx += 1) {
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                        from[i] = base[i];
                        if (IN == IN_WINDOW) {
                            int px = left[i] + tx * P_space.x;
                            int py = top[i] + ty * P_space.y;
                            bool inside = px >= 0 && py >= 0 && px < x_w && py < x_h;
                            from[i] = pick(inside, base[i] + py * x_w + px, -1);
                        }
                        if (IN == IN_MIRROR) {
                            int px = left[i] + tx * P_space.x;
                            int py = top[i] + ty * P_space.y;
    ) GPU_CONV_MIRROR(px, py) GPU_TEXT(
                            from[i] = base[i] + py * x_w + px;
                        }
                    }
                    for (; s < P_sum.x; s += GROUP_Z * DEPTH) {
                        acc4 v[BLOCK_X * DEPTH];
                        UNROLL for (int n = 0; n < DEPTH; n += 1) {
                            int ahead = (s + n * GROUP_Z) * plane;
                            if (GROUPED == 1) ahead = min(s + n * GROUP_Z, last) * plane;
                            UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                                v[n * BLOCK_X + i] = splatf4(0.0f);
                                if (IN != IN_WINDOW || from[i] >= 0) v[n * BLOCK_X + i] = to_acc4(load_x(from[i] + ahead));
                            }
                        }
                        UNROLL for (int n = 0; n < DEPTH; n += 1) {
                            int k = k0 + (s + n * GROUP_Z) * (4 * GROUP_Y * BLOCK_O);
    ) ADD_TERMS(n * BLOCK_X) GPU_TEXT(
                        }
                    }
                    s -= P_sum.x;
                    k0 += P_sum.x * (4 * GROUP_Y * BLOCK_O);
                }
            }
        }

        if (GROUP_Z == 1) {
            UNROLL for (int n = 0; n < BLOCK_X * BLOCK_O; n += 1) {
                acc4 v = sums[n];
    ) FINISH_ONE GPU_TEXT(
            }
        } else {
            int lid = LID1 * GROUP_X + LID0;
            UNROLL for (int n0 = 0; n0 < BLOCK_X * BLOCK_O; n0 += ROUND) {
                BARRIER;
                UNROLL for (int m = 0; m < ROUND; m += 1)
                    parts[(m * GROUP_Z + LID2) * (GROUP_X * GROUP_Y) + lid] = sums[n0 + m];
                BARRIER;
                for (int m = LID2; m < ROUND; m += GROUP_Z) {
                    int n = n0 + m;
                    acc4 v = parts[m * GROUP_Z * (GROUP_X * GROUP_Y) + lid];
                    UNROLL for (int z = 1; z < GROUP_Z; z += 1)
                        v += parts[(m * GROUP_Z + z) * (GROUP_X * GROUP_Y) + lid];
    ) FINISH_ONE GPU_TEXT(
                }
            }
        }
    ),
};
// clang-format on
// ---- the block ----------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit. The unit loads a quarter of a warp per cycle, or one line of its
// first cache if that is slower. It takes BANDWIDTH bytes per cycle from the second cache. It does arithmetic for four
// warps at once, one number each, with LOOP more instructions per term. A load takes LATENCY. A group takes START
// before its first load and after its last sum. A work-item holds its sums, `depth` terms of x, a part of their
// weights, and REGISTERS_BESIDE other registers. LOOP, LATENCY, START and the registers are fitted to 1,800 times of 80
// shapes on an H200 (the 1x1 and first convolutions of five models, 26 blocks each, OpenCL and Vulkan, f32). The model
// predicts a time to 20 %, and the block that it chooses takes 1.07 of the time of the best one tried.
enum { WARP = 32, LINE = 8, BANDWIDTH = 64, LOOP = 14, LATENCY = 250, START = 1700, FETCH = 1 };
enum { REGISTERS = 65536, REGISTERS_EACH = 255, REGISTERS_BESIDE = 10, UNIT_WARPS = 64 };
enum { MAX_ITEMS = 256 }; // of a work-group

// Returns the cycles for the loads of one warp and one term.
static int64_t load_cycles(const struct gpu_conv_block *block)
{
    int x = block->group[0] < WARP ? block->group[0] : WARP;
    int y = block->group[1] < WARP / x ? block->group[1] : WARP / x;
    int z = block->group[2] < WARP / x / y ? block->group[2] : WARP / x / y;
    return block->positions * gpu_larger(4, z * gpu_divide_up(x, LINE)) +
           4 * block->slices * gpu_larger(4, z * gpu_divide_up(y, LINE));
}

// Returns the cycles of a dispatch whose program has been run before. Four things go on at the same time: the
// arithmetic of the busiest unit, its loads, its share of the second cache, and the path of one warp through its loop,
// which counts as often as groups must wait for others to end. The longest of them counts, and a third of the others,
// because nothing overlaps completely.
static int64_t run_cycles(const struct gpu_conv_block *block, int units, const struct gpu_conv_size *size)
{
    int64_t positions = size->positions;
    int slices = size->slices, terms = size->terms;
    int outputs = block->positions * block->slices, z = block->group[2], depth = block->depth;
    int64_t across = (int64_t)block->group[0] * block->positions, down = (int64_t)block->group[1] * block->slices;
    int64_t groups = gpu_divide_up(positions, across) * gpu_divide_up(slices, down),
            per_unit = gpu_divide_up(groups, units);
    int64_t warps = gpu_divide_up((int64_t)block->group[0] * block->group[1] * z, WARP),
            steps = gpu_divide_up(terms, z);
    int registers = REGISTERS_BESIDE + 4 * (outputs + depth * block->positions + 3 * depth * block->slices);
    int64_t resident = REGISTERS / ((registers < REGISTERS_EACH ? registers : REGISTERS_EACH) * warps * WARP);
    if (resident * warps > UNIT_WARPS) resident = UNIT_WARPS / warps;
    int64_t parts[4] = {
        gpu_divide_up(per_unit * warps, 4) * (steps * (16 * outputs + LOOP) + 32 * outputs),
        per_unit * warps * (steps * load_cycles(block) + 4 * outputs),
        per_unit * terms * 16 * (gpu_larger(across, 2) + 4 * down) / BANDWIDTH,
        gpu_divide_up(per_unit, gpu_larger(1, resident)) *
            (gpu_divide_up(steps, depth) * LATENCY + steps * 16 * outputs + START),
    };
    int64_t longest = 0, all = 0;
    for (int i = 0; i < 4; i++) {
        longest = gpu_larger(longest, parts[i]);
        all += parts[i];
    }
    return longest + (all - longest) / 3;
}

// Returns the cycles to fetch the instructions of the unrolled loops, if a program runs for the first time in a list.
// The same dispatch takes 11.9 us for the first time and 9.2 us after its program has run (MobileNet v1, H200). Twice
// or five times as many cycles make a difference of 1 % over five models.
static int64_t fetch_cycles(const struct gpu_conv_block *block)
{
    int outputs = block->positions * block->slices, written = block->group[2] > 1 ? 2 : outputs;
    return FETCH * (16 * block->depth * outputs + 60 * written);
}

static bool is_made(const struct gpu_conv_block *block, const struct gpu_conv_block *made, int made_count)
{
    for (int i = 0; i < made_count; i++)
        if (memcmp(block, &made[i], sizeof *block) == 0) return true;
    return false;
}

static int shared_bytes(const struct gpu_conv_block *block, int round)
{
    return block->group[2] > 1 ? 16 * block->group[0] * block->group[1] * block->group[2] * round : 16;
}

// few: the number of positions, limited to what a block can use.
static bool fits(const struct gpu_conv_block *block, const struct gpu_caps *caps, const struct gpu_conv_size *size,
                 int few)
{
    const int *group = block->group;
    int items = group[0] * group[1] * group[2],
        most = caps->max_group_size < MAX_ITEMS ? caps->max_group_size : MAX_ITEMS;
    bool registers = caps->vendor == GPU_VENDOR_NVIDIA || caps->vendor == GPU_VENDOR_AMD;
    if (block->positions * block->slices > (registers ? 16 : 8) || items > most ||
        shared_bytes(block, 1) > caps->shared_bytes)
        return false;
    for (int i = 0; i < 3; i++)
        if (group[i] > caps->max_group[i]) return false;
    if (gpu_divide_up(size->positions, (int64_t)group[0] * block->positions) > caps->max_groups[0] ||
        gpu_divide_up(size->slices, (int64_t)group[1] * block->slices) > caps->max_groups[1])
        return false;
    if (items < WARP && items < few * size->slices && items < most)
        return false; // a group smaller than a warp is allowed only if there is no more work
    return block->slices <= size->slices && block->positions <= few;
}

int gpu_conv_units(const struct gpu_caps *caps)
{
    return caps->compute_units > 0 ? caps->compute_units : caps->vendor == GPU_VENDOR_NVIDIA ? 100 : 16;
}

int64_t gpu_step_cycles(const struct gpu_caps *caps)
{
    enum { USUAL_STEP = 3500, CYCLES = 1757 }; // nanoseconds of Vulkan on an H200, and its cycles in a microsecond
    return (int64_t)(caps->step_ns > 0 ? caps->step_ns : USUAL_STEP) * CYCLES / 1000;
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_caps *caps, const struct gpu_conv_size *size,
                        const struct gpu_conv_block *made, int made_count)
{
    static const int block_positions[] = {1, 2, 4, 7, 8}, block_slices[] = {1, 2, 4};
    static const int group_x[] = {1, 2, 4, 7, 8, 13, 14, 16, 25, 28, 32, 64}, group_y[] = {1, 2, 4, 8, 16, 32};
    static const int group_z[] = {1, 2, 4, 8, 16, 32, 64};
    enum {
        X = sizeof group_x / sizeof *group_x,
        Y = sizeof group_y / sizeof *group_y,
        Z = sizeof group_z / sizeof *group_z
    };
    int units = gpu_conv_units(caps);
    int few = size->positions < INT_MAX / 4096 ? (int)size->positions : INT_MAX / 4096;
    for (int g = 0; g < X * Y * Z; g++) {
        const int x = group_x[g % X], y = group_y[g / X % Y], z = group_z[g / X / Y];
        if (x * y * z > MAX_ITEMS || z > (size->run ? size->terms : 1)) continue;
        for (int i = 0; i < 3 * 5 * 3; i++) {
            struct gpu_conv_block block = {block_positions[i / 3 % 5], block_slices[i / 15], 1 << i % 3, {x, y, z}};
            if (block.depth > 1 && (size->run == 0 || size->run % (block.depth * z))) continue;
            if (size->alike && size->alike % (block.slices * y)) continue;
            if (!fits(&block, caps, size, few)) continue;
            int64_t cycles = run_cycles(&block, units, size);
            if (cycles < gpu_ranking_limit(ranking) && !is_made(&block, made, made_count))
                cycles += fetch_cycles(&block);
            struct gpu_tuned_block numbers = {{block.positions, block.slices, block.depth, x, y, z}};
            gpu_ranking_add(ranking, &numbers, cycles);
        }
    }
}

static struct gpu_conv_block block_of(const struct gpu_tuned_block *block)
{
    const int32_t *n = block->numbers;
    return (struct gpu_conv_block){n[0], n[1], n[2], {n[3], n[4], n[5]}};
}

struct gpu_conv_block gpu_choose_block(const struct gpu_caps *caps, const struct gpu_conv_size *size,
                                       const struct gpu_conv_block *made, int made_count)
{
    struct gpu_ranking ranking = {.room = 1};
    rank_blocks(&ranking, caps, size, made, made_count);
    return ranking.count ? block_of(&ranking.blocks[0]) : (struct gpu_conv_block){1, 1, 1, {1, 1, 1}};
}

// The same where blocks have been measured, or are to be. in: how x is read. *tuned: for the dispatch.
static struct gpu_conv_block choose_tuned(const struct gpu_plan *plan, const struct gpu_conv_size *size, int in,
                                          const struct gpu_conv_block *made, int made_count, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    *tuned = 0;
    if (gpu_tuning_answers(plan->tuning) && size->positions <= INT_MAX) {
        struct gpu_tuned_size asked = {"convolve",
                                       {(int32_t)size->positions, size->slices, size->terms, size->run, size->alike, in,
                                        (int32_t)plan->precision}};
        rank_blocks(&ranking, plan->caps, size, NULL, 0);
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    return block ? block_of(block) : gpu_choose_block(plan->caps, size, made, made_count);
}

// Windows of several taps take about twice as long as the model says, which is fitted to windows of one and to first
// layers (eleven 3x3 layers on an H100: 1.3 to 2.3 by CUDA, 1.3 to 2.9 by Vulkan): they look where their taps lie.
int64_t gpu_conv_cycles(const struct gpu_caps *caps, const struct gpu_conv_size *size)
{
    const bool has_taps = size->run > 0 && size->terms > size->run;
    struct gpu_conv_block block = gpu_choose_block(caps, size, NULL, 0);
    return run_cycles(&block, gpu_conv_units(caps), size) * (has_taps ? 2 : 1);
}

// ---- checks -------------------------------------------------------------------------------------

bool gpu_check_window(const struct gpu_node_view *view, const struct gpu_window *w)
{
    if (w->stride_w < 1 || w->stride_h < 1)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "strides are %d x %d, expected 1 or more", w->stride_w,
                          w->stride_h);
    if (w->dilation_w < 1 || w->dilation_h < 1)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "dilation is %d x %d, expected 1 or more", w->dilation_w,
                          w->dilation_h);
    if (w->kernel_w < 1 || w->kernel_h < 1)
        return gpu_refuse(view, DELEGATE_SHAPE, -1, "a window of %d x %d", w->kernel_w, w->kernel_h);
    if ((int64_t)w->kernel_w * w->dilation_w >= 1 << 30 || (int64_t)w->kernel_h * w->dilation_h >= 1 << 30)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "a window of %d x %d with dilation %d x %d is too large",
                          w->kernel_w, w->kernel_h, w->dilation_w, w->dilation_h);
    if (w->padding != kTfLitePaddingSame && w->padding != kTfLitePaddingValid)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "padding is %d, expected SAME or VALID", (int)w->padding);
    return true;
}

bool gpu_check_bias(const struct gpu_node_view *view, int weights_input, int input, int outputs)
{
    const TfLiteTensor *bias = gpu_view_input(view, input);
    if (!bias) return true;
    if (hl_elements(bias) != outputs)
        return gpu_refuse(view, DELEGATE_SHAPE, input,
                          "the bias has %lld elements, expected one for each of %d outputs",
                          (long long)hl_elements(bias), outputs);
    const TfLiteAffineQuantization *weights = gpu_affine_of(gpu_view_input(view, weights_input));
    int scales = bias->type == kTfLiteInt32 && weights ? weights->scale->size : 1;
    return scales == 1 || scales == outputs ||
           gpu_refuse(view, DELEGATE_QUANTIZATION, weights_input, "the weights have %d scales for %d outputs", scales,
                      outputs);
}

// Checks that the weights fit whatever block is chosen: a row may have up to MAX_TILE output slices more than there
// are, and the inputs are rounded up to slices, of which a group of channels may touch one more.
enum { MAX_TILE = 128 };

bool gpu_check_weights(const struct gpu_node_view *view, int input, int64_t outputs, int64_t taps, int64_t inputs)
{
    int64_t rows = taps * ((inputs + 3) / 4 + 1) * 4 + 1, slices = (outputs + 3) / 4 + MAX_TILE;
    return rows <= INT_MAX / 4 / slices ||
           gpu_refuse(view, DELEGATE_SHAPE, input, "weights of %lld x %lld x %lld are too many", (long long)outputs,
                      (long long)taps, (long long)inputs);
}

// ---- weights ------------------------------------------------------------------------------------

struct packing {
    const struct gpu_convolution *conv;
    int tile;      // output slices of a stream
    int group_in;  // input channels of a group
    int group_out; // output channels of a group
    int slices;    // input slices that an output slice reads
    float *to;
};

static int first_slice_of(const struct packing *packing, int output)
{
    return output / packing->group_out * packing->group_in / 4;
}

// Fills the row of `tile` vectors for one tap and one channel, which counts from the first input slice of the group.
static void pack_row(const struct packing *packing, int stream, int tap, int channel, float *row)
{
    const struct gpu_convolution *conv = packing->conv;
    const float *from = conv->weights + tap / conv->kernel_w * conv->by_h + tap % conv->kernel_w * conv->by_w;
    for (int i = 0; i < 4 * packing->tile; i++) {
        int output = 4 * stream * packing->tile + i;
        if (output >= conv->outputs) return;
        int group = output / packing->group_out;
        int input = 4 * first_slice_of(packing, output / 4 * 4) + channel - group * packing->group_in;
        if (input >= 0 && input < packing->group_in) row[i] = from[output * conv->by_output + input * conv->by_input];
    }
}

static void pack_streams(const struct packing *packing, int streams)
{
    const struct gpu_convolution *conv = packing->conv;
    int taps = conv->kernel_w * conv->kernel_h, floats = 4 * packing->tile;
    float *row = packing->to;
    for (int stream = 0; stream < streams; stream++) {
        for (int i = 0; i < floats && conv->bias && stream * floats + i < conv->outputs; i++)
            row[i] = conv->bias[stream * floats + i];
        row += floats;
        for (int tap = 0; tap < taps; tap++)
            for (int channel = 0; channel < 4 * packing->slices; channel++, row += floats)
                pack_row(packing, stream, tap, channel, row);
    }
}

// Returns the most input slices that an output slice of a grouped convolution reads. Its channels may belong to several
// groups.
static int slices_per_output(const struct packing *packing)
{
    int outputs = packing->conv->outputs, most = 1;
    for (int output = 0; output < outputs; output += 4) {
        int end = output + 4 < outputs ? output + 4 : outputs;
        int last_channel = ((end - 1) / packing->group_out + 1) * packing->group_in - 1;
        int slices = last_channel / 4 - first_slice_of(packing, output) + 1;
        if (slices > most) most = slices;
    }
    return most;
}

// Returns an operand without value and weights after a failure, which it has reported.
static struct gpu_operand pack(struct gpu_plan *plan, struct packing *packing, int streams)
{
    const struct gpu_convolution *conv = packing->conv;
    int taps = conv->kernel_w * conv->kernel_h, rows = 4 * packing->slices;
    if (conv->weights_value)
        return (struct gpu_operand){.value = gpu_plan_packed(plan, conv, packing->tile, rows, streams)};
    int64_t stream_vectors = ((int64_t)taps * rows + 1) * packing->tile;
    assert(streams * stream_vectors <= INT_MAX / 4 && packing->tile <= MAX_TILE); // gpu_check_weights has made sure
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)(streams * stream_vectors));
    if (weights) {
        weights->exact = conv->inner;
        packing->to = weights->data;
        pack_streams(packing, streams);
    }
    return (struct gpu_operand){.weights = weights};
}

int64_t gpu_conv_stream_vectors(const struct gpu_convolution *conv, int tile)
{
    int64_t rows = (int64_t)conv->kernel_w * conv->kernel_h * 4 * gpu_slices(conv->x->shape);
    return (rows + 1) * tile;
}

void gpu_conv_pack(const struct gpu_convolution *conv, int tile, float *to)
{
    struct packing packing = {
        .conv = conv,
        .tile = tile,
        .group_in = conv->inputs,
        .group_out = conv->outputs,
        .slices = gpu_slices(conv->x->shape),
        .to = to,
    };
    pack_streams(&packing, ((conv->outputs + 3) / 4 + tile - 1) / tile);
}

// ---- the dispatch -------------------------------------------------------------------------------

static int or_one(int value)
{
    return value > 0 ? value : 1;
}

// Returns the number of outputs of a block that fit in shared memory at a time, a divisor of the block.
static int round_for(const struct gpu_conv_block *block, const struct gpu_caps *caps)
{
    int outputs = block->positions * block->slices, round = outputs;
    if (block->group[2] == 1) return 1;
    while (round > 1 && (outputs % round || shared_bytes(block, round) > caps->shared_bytes * 3 / 4)) round--;
    return round;
}

// Finds out whether a convolution has a single tap, which is always in x, and whether x counts its positions as y does.
static int input_mode(const struct gpu_convolution *conv, int grid_w, int grid_h)
{
    struct gpu_shape x = conv->x->shape;
    bool spread = or_one(conv->spread_w) > 1 || or_one(conv->spread_h) > 1;
    if (conv->mirrors) return IN_MIRROR;
    if (conv->kernel_w * conv->kernel_h != 1 || conv->pad_left || conv->pad_top || spread) return IN_WINDOW;
    if ((grid_w - 1) * conv->stride_w >= x.w || (grid_h - 1) * conv->stride_h >= x.h) return IN_WINDOW;
    bool same = grid_w == x.w && grid_h == x.h;
    return same ? IN_SAME : IN_POINT;
}

// Finds the blocks of earlier dispatches whose programs differ from the wanted one in the block only. constants: the
// values of the kernel's own constants in their order; those of the block are ignored.
static int find_made(const struct gpu_plan *plan, const int *constants, const struct gpu_epilogue *epilogue,
                     struct gpu_conv_block *made, int room)
{
    int count = 0;
    for (int s = 0; s < plan->step_count && count < room; s++) {
        const struct gpu_plan_step *step = &plan->steps[s];
        bool same = step->kernel == &gpu_kernel_convolve;
        for (int i = 0; same && i < CONSTANTS; i++)
            same = i == BLOCK_X || i == BLOCK_O || i == DEPTH || i == ROUND || step->constants[i] == constants[i];
        for (int i = 0; same && i < GPU_EPILOGUE_STAGES; i++)
            same = step->constants[CONSTANTS + i] ==
                   (epilogue && i < epilogue->count ? gpu_stage_constant(epilogue, i) : GPU_EPI_NONE);
        struct gpu_conv_block block = {step->constants[BLOCK_X],
                                       step->constants[BLOCK_O],
                                       step->constants[DEPTH],
                                       {step->group[0], step->group[1], step->group[2]}};
        if (same && !is_made(&block, made, count)) made[count++] = block;
    }
    return count;
}

enum algorithm { DIRECT, WINOGRAD, MATRIX_UNITS, MATRIX_WINDOWS, DENSE };

// *form: of products on matrix units.
static enum algorithm choose_algorithm(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                                       const struct gpu_conv_size *size, int *form)
{
    const bool takes = gpu_matrix_takes(conv);
    *form = takes ? gpu_matrix_form(plan, conv->x, conv, !plan->caps->fragment_forms) : -1;
    const int window_form = takes ? gpu_matrix_form(plan, conv->x, conv, true) : -1;
    int64_t winograd = gpu_winograd_cycles(plan, conv), matrix = gpu_matrix_cycles(plan, size, *form),
            window = gpu_window_cycles(plan, conv, window_form), dense = gpu_dense_cycles(plan, conv);
    int64_t least = window < matrix ? window : matrix;
    if (winograd == INT64_MAX && least == INT64_MAX && dense == INT64_MAX) return DIRECT;
    int64_t direct = gpu_conv_cycles(plan->caps, size);
    if (dense < direct && dense < winograd && dense < least) return DENSE;
    if (winograd < direct && winograd < least) return WINOGRAD;
    if (least >= direct) return DIRECT;
    if (matrix <= window) return MATRIX_UNITS;
    *form = window_form;
    return MATRIX_WINDOWS;
}

bool gpu_convolve(struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct gpu_shape x = conv->x->shape, y = conv->y->shape;
    bool all = conv->grid_w == 0, spread = or_one(conv->spread_w) > 1 || or_one(conv->spread_h) > 1;
    int groups = or_one(conv->groups), taps = conv->kernel_w * conv->kernel_h;
    int grid_w = all ? (conv->rows ? x.w : y.w) : conv->grid_w;
    int grid_h = all ? (conv->rows ? x.h : y.h) : conv->grid_h;
    struct packing packing = {.conv = conv, .group_in = conv->inputs, .group_out = conv->outputs / groups};
    packing.slices = groups == 1 ? gpu_slices(x) : slices_per_output(&packing);

    int64_t positions = (int64_t)grid_w * grid_h * x.b;
    int slices = gpu_slices(y), in = input_mode(conv, grid_w, grid_h);
    int out = conv->rows ? OUT_ROWS : spread || conv->offset_x || conv->offset_y || !all ? OUT_SPREAD : OUT_SAME;
    bool no_loops = (in == IN_WINDOW || in == IN_MIRROR) && groups == 1 && x.c <= 3 &&
                    conv->kernel_w == conv->kernel_h && conv->kernel_w <= 5 && conv->dilation_w == 1 &&
                    conv->dilation_h == 1;
    int32_t stride_w = spread ? or_one(conv->spread_w) : conv->stride_w,
            stride_h = spread ? or_one(conv->spread_h) : conv->stride_h;
    const struct gpu_epilogue *epilogue = plan->node && !conv->inner ? &plan->node->epilogue : NULL;
    bool aligned = packing.group_in % 4 == 0 && packing.group_out % 4 == 0;
    struct gpu_conv_size size = {
        .positions = gpu_in_first_batch(plan, positions, conv->images ? conv->images : x.b),
        .slices = slices,
        .terms = taps * packing.slices,
        .run = no_loops ? 0 : packing.slices,
        .alike = groups == 1 ? 0
                 : aligned   ? packing.group_out / 4
                             : 1,
    };
    int form;
    switch (choose_algorithm(plan, conv, &size, &form)) {
    case MATRIX_UNITS: {
        struct gpu_matrix_places places = {out, in, grid_w, grid_h, stride_w, stride_h, positions};
        return gpu_plan_matrix(plan, conv, &size, &places, form);
    }
    case MATRIX_WINDOWS: return gpu_plan_window(plan, conv, form);
    case WINOGRAD: return gpu_plan_winograd(plan, conv);
    case DENSE: return gpu_plan_dense(plan, conv);
    case DIRECT: break;
    }
    int constants[CONSTANTS] = {[OUT] = out, [IN] = in, [TAPS] = no_loops ? conv->kernel_w : 0, [GROUPED] = groups > 1};
    struct gpu_conv_block made[32];
    int made_count = find_made(plan, constants, epilogue, made, sizeof made / sizeof *made);
    int tuned;
    struct gpu_conv_block block = choose_tuned(plan, &size, in, made, made_count, &tuned);
    if (gpu_divide_up(positions, (int64_t)block.group[0] * block.positions) > plan->caps->max_groups[0]) {
        size.positions = positions;
        block = choose_tuned(plan, &size, in, made, made_count, &tuned);
    }
    constants[BLOCK_X] = block.positions;
    constants[BLOCK_O] = block.slices;
    constants[DEPTH] = block.depth;
    constants[ROUND] = round_for(&block, plan->caps);
    packing.tile = block.group[1] * block.slices;

    struct gpu_operand weights = pack(plan, &packing, (slices + packing.tile - 1) / packing.tile);
    if (!weights.value && !weights.weights) return false;

    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_convolve,
        .operands = {{.value = conv->x}, weights, {.value = conv->y}},
        .params = {{packing.slices, conv->kernel_w, conv->kernel_h, packing.group_in},
                   {stride_w, stride_h, conv->pad_left, conv->pad_top},
                   {conv->dilation_w, conv->dilation_h, packing.group_out, 0},
                   {grid_w, grid_h, conv->offset_x, conv->offset_y}},
        .group = {block.group[0], block.group[1], block.group[2]},
        .grid = {(int)gpu_divide_up(positions, block.positions), (int)gpu_divide_up(slices, block.slices),
                 block.group[2]},
        .epilogue = epilogue,
        .tuned = tuned,
        .part = !all,
    };
    for (int i = 0; i < CONSTANTS; i++)
        desc.constants[i] = (struct gpu_setting){gpu_kernel_convolve.constants[i].name, constants[i]};
    if (out == OUT_SAME) desc.views[2] = (struct gpu_shape){y.b, 1, y.w * y.h, y.c};
    return gpu_plan_dispatch(plan, &desc);
}
