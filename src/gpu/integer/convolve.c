// SPDX-License-Identifier: Apache-2.0
// See convolve.h. A work-item sums one output slice at one position, or at four, and all four channels of an input
// slice in one dot product. Where there are too few positions to fill the device, the input slices are divided along z
// and the sums are added up in shared memory, which integers allow in any order.
//
// What the zero points add is taken out of the loop: sum of (w - W)(x - X) = sum of w x - W * sum of x - X * sum of w
// + n W X. A position outside of x holds its zero point, which adds nothing to the left side, so that the constants are
// the same everywhere; only the sum of x is left to the loop, where the weights have a zero point (uint8).
//
// The weights are ordered by tap, input slice and output slice: neighbors along y read neighboring vectors, and
// neighbors along x the same.
//
// With dot_bytes as an instruction the loop over input slices has 40 instructions of PTX instead of 120 for four
// positions, and 14 instead of 47 for one.
#include "gpu/integer/convolve.h"

#include <limits.h>
#include <math.h>

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define FOUR(ONE) ONE(0) ONE(1) ONE(2) ONE(3)
#define SINGLE(ONE) ONE(0)
// The work-item's position number N, counted over the batches, and its window.
#define PLACE(N) \
    int position##N = min(first + N * GROUP_X, positions - 1); \
    int row##N = position##N / y_w; \
    int batch##N = row##N / y_h; \
    int left##N = (position##N - row##N * y_w) * P_step.x - P_step.z; \
    int top##N = (row##N - batch##N * y_h) * P_step.y - P_step.w; \
    int base##N = batch##N * x_s * plane + LID2 * plane; \
    int4 sum##N = splati4(0); \
    int all##N = 0;
#define TAP(N) \
    int u##N = left##N + tx * P_space.x; \
    int v##N = top##N + ty * P_space.y; \
    int inside##N = pick(u##N >= 0 && u##N < x_w && v##N >= 0 && v##N < x_h, 1, 0); \
    int at##N = base##N + v##N * x_w + u##N;
#define ADD(N) \
    int c##N = P_space.z; \
    if (inside##N == 1) c##N = load_x(at##N); \
    at##N += GROUP_Z * plane; \
    sum##N.x = dot_bytes(c##N, four.x, sum##N.x); \
    sum##N.y = dot_bytes(c##N, four.y, sum##N.y); \
    sum##N.z = dot_bytes(c##N, four.z, sum##N.z); \
    sum##N.w = dot_bytes(c##N, four.w, sum##N.w); \
    if (SUM_X == 1) all##N = dot_bytes(c##N, ones, all##N);
#define CORRECT(N) \
    if (SUM_X == 1) sum##N = sum##N - splati4(all##N * P_out.w);
#define SCALED(LANE) \
    if (WIDE == 1) v.LANE = rescale_wide(v.LANE, by.LANE, shift.LANE, wide.LANE); \
    else v.LANE = rescale(v.LANE, by.LANE, shift.LANE); \
    v.LANE = stored(v.LANE, P_out.x, P_out.y, P_out.z);
#define FINISH(N) \
    if (first + N * GROUP_X < positions) { \
        int4 v = sum##N + bias; \
        SCALED(x) SCALED(y) SCALED(z) SCALED(w) \
        int line = row##N - batch##N * y_h; \
        write_y(mki4(position##N - row##N * y_w, line, o, batch##N), pack_bytes(v.x, v.y, v.z, v.w)); \
    }
#define SUMS(EACH) \
    int plane = x_w * x_h; \
    int positions = y_w * y_h * y_b; \
    EACH(PLACE) \
    int row = LID2 * y_s + min(o, y_s - 1); \
    for (int ty = 0; ty < P_sum.y; ty += 1) { \
        for (int tx = 0; tx < P_sum.x; tx += 1) { \
            EACH(TAP) \
            int k = row; \
            for (int s = LID2; s < x_s; s += GROUP_Z) { \
                int4 four = weights(k); \
                int ones = pick(s == x_s - 1, P_sum.z, 16843009); \
                k += GROUP_Z * y_s; \
                EACH(ADD) \
            } \
            row += x_s * y_s; \
        } \
    } \
    EACH(CORRECT)
#define FINISHED(EACH) \
    int4 bias = outputs(o * 4); \
    int4 by = outputs(o * 4 + 1); \
    int4 shift = outputs(o * 4 + 2); \
    int4 wide = outputs(o * 4 + 3); \
    EACH(FINISH)
// sum: taps along x and y, a one for each channel of the last slice; step: strides, padding; space: dilations, zero
// points of four channels; out: zero point, range, zero point of the weights. outputs: for each output slice the bias,
// and what `rescale` and `rescale_wide` take.
#define ARGS \
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "weights"}, {GPU_INTS, "outputs"}, {GPU_CODES_OUT, "y"}}, \
    .params = {"sum", "step", "space", "out"}, \
    GPU_CONSTANTS({"SUM_X", 0}, {"WIDE", 0}), \
    .integers = true

// The same text twice: with dot_bytes in plain code, and [1] as an instruction of the device.
#define SUM_CODES(NAME, DOTS) { \
    .name = NAME, \
    .group = {32, 4, 1}, \
    ARGS, \
    .byte_dots = DOTS, \
    .body = GPU_TEXT_OF( \
        int first = GROUP0 * (GROUP_X * 4) + LID0; \
        int o = GID1; \
        if (o >= y_s) return; \
        SUMS(FOUR) \
        FINISHED(FOUR) \
    ), \
}
#define SUM_CODES_SPLIT(NAME, DOTS) { \
    .name = NAME, \
    .group = {32, 4, 1}, \
    ARGS, \
    .byte_dots = DOTS, \
    .shared = {"int4 parts[GROUP_X * GROUP_Y * GROUP_Z]"}, \
    .body = GPU_TEXT_OF( \
        int first = GROUP0 * GROUP_X + LID0; \
        int o = GID1; \
        SUMS(SINGLE) \
        int own = LID1 * GROUP_X + LID0; \
        parts[LID2 * (GROUP_X * GROUP_Y) + own] = sum0; \
        BARRIER; \
        if (LID2 == 0 && o < y_s) { \
            for (int i = 1; i < GROUP_Z; i += 1) sum0 = sum0 + parts[i * (GROUP_X * GROUP_Y) + own]; \
            FINISHED(SINGLE) \
        } \
    ), \
}
const struct gpu_kernel gpu_kernels_sum_codes[2] = {SUM_CODES("sum_codes", false), SUM_CODES("sum_codes_dots", true)};
const struct gpu_kernel gpu_kernels_sum_codes_split[2] = {SUM_CODES_SPLIT("sum_codes_split", false),
                                                          SUM_CODES_SPLIT("sum_codes_split_dots", true)};
// clang-format on

// ---- constants ----------------------------------------------------------------------------------

double gpu_integer_scale(const struct gpu_value *x, const struct gpu_value *weights, const struct gpu_value *y,
                         int channel, bool wide)
{
    float scale = weights->scales->data[weights->scales->size > 1 ? channel : 0];
    double product = (double)x->quantization.scale * (double)scale;
    if (x->quantization.type == kTfLiteUInt8 && !wide) product = (double)(x->quantization.scale * scale);
    return product / (double)y->quantization.scale;
}

static int zero_of_weights(const struct gpu_value *weights)
{
    return weights->codes ? gpu_code_zero(&weights->quantization) : 0;
}

// A double as the integers that rescale_wide takes. What is too small to make a 1 of 31 bits becomes 0.
static void set_wide(double scale, int32_t *to)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(scale, &exponent), 53);
    int shift = 53 - exponent;
    if (shift > 95) mantissa = 0, shift = 64;
    to[4] = (int32_t)(mantissa >> 32);
    to[8] = (int32_t)(uint32_t)mantissa;
    to[12] = shift;
}

// Four vectors for each output slice; lane c % 4 of each belongs to channel c.
static struct gpu_weights *pack_outputs(struct gpu_plan *plan, const struct gpu_integer_sum *sum)
{
    const struct gpu_value *x = sum->x, *k = sum->weights;
    int outputs = sum->y_view.c, taps = sum->kernel_w * sum->kernel_h;
    struct gpu_weights *packed = gpu_plan_integers(plan, 4 * (size_t)gpu_slices(sum->y_view));
    int64_t zero_x = gpu_code_zero(&x->quantization), zero_w = zero_of_weights(k);
    for (int o = 0; packed && o < outputs; o++) {
        int64_t all = 0;
        for (int ty = 0; ty < sum->kernel_h; ty++)
            for (int tx = 0; tx < sum->kernel_w; tx++)
                for (int i = 0; i < sum->inputs; i++)
                    all += k->integers[o * sum->by_output + ty * sum->by_h + tx * sum->by_w + i] - zero_w;
        all += (int64_t)taps * sum->x_view.c * zero_w; // weights outside of the group are zero points
        int64_t bias =
            (sum->bias ? sum->bias->integers[o] : 0) - zero_x * all + (int64_t)taps * sum->x_view.c * zero_x * zero_w;
        int32_t *to = packed->integers + 16 * (size_t)(o / 4) + o % 4;
        double scale = gpu_integer_scale(x, k, sum->y, o, sum->wide);
        struct hl_rescale rescale = hl_rescale_from(scale);
        to[0] = (int32_t)(uint32_t)(uint64_t)bias; // sums wrap around as on the CPU
        to[4] = rescale.multiplier;
        to[8] = rescale.shift;
        if (sum->wide) set_wide(scale, to);
    }
    return packed;
}

// Input channels that do not belong to an output's group have the zero point as their weight.
static struct gpu_weights *pack_weights(struct gpu_plan *plan, const struct gpu_integer_sum *sum)
{
    int slices = gpu_slices(sum->x_view), outputs = sum->y_view.c, rows = gpu_slices(sum->y_view);
    size_t vectors = (size_t)(sum->kernel_w * sum->kernel_h) * (size_t)slices * (size_t)rows;
    struct gpu_weights *packed = gpu_plan_integers(plan, vectors);
    uint32_t zero = (uint32_t)zero_of_weights(sum->weights) & 255;
    for (int ty = 0, tap = 0; packed && ty < sum->kernel_h; ty++)
        for (int tx = 0; tx < sum->kernel_w; tx++, tap++)
            for (int s = 0; s < slices; s++)
                for (int o = 0; o < outputs; o++) {
                    int first = o / (outputs / sum->groups) * sum->inputs;
                    uint32_t four = 0;
                    for (int i = 0; i < 4; i++) {
                        int channel = 4 * s + i - first;
                        bool own = channel >= 0 && channel < sum->inputs;
                        int64_t at = o * sum->by_output + ty * sum->by_h + tx * sum->by_w + channel;
                        uint32_t one = own                         ? (uint32_t)sum->weights->integers[at] & 255
                                       : 4 * s + i < sum->x_view.c ? zero
                                                                   : 0;
                        four |= one << 8 * i;
                    }
                    size_t vector = ((size_t)tap * (size_t)slices + (size_t)s) * (size_t)rows + (size_t)(o / 4);
                    packed->integers[4 * vector + (size_t)(o % 4)] = (int32_t)four;
                }
    return packed;
}

// ---- the dispatch -------------------------------------------------------------------------------

static int at_most(int limit, int64_t wanted)
{
    int size = 1;
    while (size < limit && size < wanted) size *= 2;
    return size;
}

// How a dispatch computes: four positions for each work-item or one, work-items of a group along positions, and parts
// of the sum. The other work-items stand along output slices.
struct sum_block {
    int four, x, split;
};

struct sum_size {
    int64_t positions; // of the first batch
    int rows, slices;  // output slices, input slices
};
enum { MAX_ITEMS = 128 }; // of a group

// Four positions where the device is full all the same, else parts of the sum.
static struct sum_block usual_block(const struct gpu_plan *plan, const struct sum_size *size)
{
    int64_t items = size->positions * size->rows, enough = 512 * (int64_t)gpu_conv_units(plan->caps);
    struct sum_block block = {.four = items / 4 >= enough, .split = 1};
    while (!block.four && items * block.split < 2 * enough && block.split < 16 && size->slices >= 8 * block.split)
        block.split *= 2;
    // Groups of 128 at most: NVIDIA's OpenCL takes this kernel in groups of up to 256 only.
    block.x = at_most(block.split > 4 ? MAX_ITEMS / block.split : 32,
                      block.four ? (size->positions + 3) / 4 : size->positions);
    return block;
}

static int steps_between(int a, int b)
{
    int steps = 0;
    for (; a < b; a *= 2) steps++;
    for (; b < a; b *= 2) steps++;
    return steps;
}

// The usual block and those that are most like it.
static void rank_blocks(struct gpu_ranking *ranking, const struct sum_block *usual, const struct sum_size *size)
{
    for (int four = 0; four < 2; four++)
        for (int x = 4; x <= MAX_ITEMS; x *= 2)
            for (int split = 1; split * x <= MAX_ITEMS && split <= (four ? 1 : size->slices); split *= 2) {
                struct gpu_tuned_block numbers = {{four, x, split}};
                gpu_ranking_add(ranking, &numbers,
                                steps_between(x, usual->x) + steps_between(split, usual->split) +
                                    (four != usual->four));
            }
}

static struct sum_block choose_block(const struct gpu_plan *plan, const struct gpu_integer_sum *sum,
                                     const struct sum_size *size, int *tuned)
{
    struct sum_block usual = usual_block(plan, size);
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    *tuned = 0;
    if (!gpu_tuning_answers(plan->tuning) || size->positions > INT_MAX) return usual;
    struct gpu_tuned_size asked = {"sum_codes",
                                   {(int32_t)size->positions, size->rows, size->slices, sum->kernel_w, sum->kernel_h,
                                    sum->stride_w, zero_of_weights(sum->weights) != 0}};
    rank_blocks(&ranking, &usual, size);
    const struct gpu_tuned_block *block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    return block ? (struct sum_block){block->numbers[0], block->numbers[1], block->numbers[2]} : usual;
}

static void choose_group(const struct gpu_plan *plan, const struct gpu_integer_sum *sum, struct gpu_dispatch_desc *desc)
{
    int64_t positions = (int64_t)sum->y_view.w * sum->y_view.h * sum->y_view.b;
    struct sum_size size = {.positions = gpu_in_first_batch(plan, positions, sum->y_view.b),
                            .rows = gpu_slices(sum->y_view),
                            .slices = gpu_slices(sum->x_view)};
    struct sum_block block = choose_block(plan, sum, &size, &desc->tuned);
    int x = block.x, across = MAX_ITEMS / (x * block.split);
    desc->kernel = &(block.four ? gpu_kernels_sum_codes : gpu_kernels_sum_codes_split)[plan->caps->byte_dots];
    desc->group[0] = x;
    desc->group[1] = at_most(across > 0 ? across : 1, size.rows);
    desc->group[2] = block.split;
    desc->grid[0] = (int)(block.four ? ((positions + 4 * x - 1) / (4 * x)) * x : positions);
    desc->grid[1] = size.rows;
    desc->grid[2] = block.split;
}

bool gpu_integer_convolve(struct gpu_plan *plan, const struct gpu_integer_sum *sum)
{
    struct gpu_weights *outputs = pack_outputs(plan, sum), *weights = outputs ? pack_weights(plan, sum) : NULL;
    if (!weights) return false;
    struct gpu_code_range range = gpu_code_range(sum->activation, &sum->y->quantization);
    int zero_x = gpu_code_zero(&sum->x->quantization), zero_w = zero_of_weights(sum->weights);
    int last = sum->x_view.c % 4, ones = last == 0 ? 0x01010101 : 0x00010101 >> 8 * (3 - last);
    struct gpu_dispatch_desc desc = {
        .operands = {{.value = sum->x}, {.weights = weights}, {.weights = outputs}, {.value = sum->y}},
        .views = {[0] = sum->x_view, [3] = sum->y_view},
        .params = {{sum->kernel_w, sum->kernel_h, ones},
                   {sum->stride_w, sum->stride_h, sum->pad_left, sum->pad_top},
                   {sum->dilation_w, sum->dilation_h, (int32_t)((uint32_t)(zero_x & 255) * 0x01010101u)},
                   {gpu_code_zero(&sum->y->quantization), range.low, range.high, zero_w}},
        .constants = {{"SUM_X", zero_w != 0}, {"WIDE", sum->wide}},
    };
    choose_group(plan, sum, &desc);
    return gpu_plan_dispatch(plan, &desc);
}
