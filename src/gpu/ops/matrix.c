// SPDX-License-Identifier: Apache-2.0
// See matrix.h. A subgroup of 32 work-items computes BLOCK_X tiles of 16 positions by BLOCK_O tiles of 16 outputs, and
// takes 16 input channels in a step (MATRIX_STEP, docs/kernel_dialect.md). Work-item 4 g + t of a subgroup holds the
// channels of slice t of a step at positions g and g + 8, and in the end output slice t at these positions: whole
// vectors as they lie in memory, so that nothing is exchanged between work-items but the sums of subgroups that divide
// the steps among themselves (along z).
//
// A step's input slices are taken from the list of all taps' slices, tap after tap. The weights begin with the bias. A
// stream for each row of BLOCK_O tiles of outputs follows, in which each step has one or two vectors for each tile and
// work-item. They do not depend on earlier dispatches: those of the first steps are loaded before the kernel waits.
#include "gpu/ops/matrix.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "gpu/ops/convolve_text.h"
#include "gpu/ops/cooperative.h"
#include "gpu/ops/costs.h"
#include "gpu/ops/matrix_shared.h"
#include "gpu/ops/matrix_text.h"
#include "gpu/ops/window.h"

// The indices of the kernel's constants.
enum { BLOCK_X, BLOCK_O, OUT, IN, DEPTH, ROUND, MATRIX, GUARDED, CONSTANTS };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define BEGIN_AGAIN                                                                                      \
    GPU_TEXT(s0 = LID2;) GPU_MATRIX_LOAD_WEIGHTS(weights) GPU_MATRIX_BEGIN_SUMS GPU_MATRIX_SCALE_SUMS

const struct gpu_kernel gpu_kernel_matrix = {
    .name = "convolve_matrix",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_INTS, "weights"}, {GPU_OUT, "y"}},
    // sum: input slices of all taps, taps along x and y, steps; step: strides, padding; space: dilations, where the
    // streams begin; grid: size, offset in y.
    .params = {"sum", "step", "space", "grid"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 2},
                  {"OUT", OUT_SPREAD},
                  {"IN", IN_WINDOW},
                  {"DEPTH", 1},  // steps that are loaded before the first is multiplied
                  {"ROUND", 4},  // outputs of a work-item that are summed in shared memory at a time
                  {"MATRIX", MATRIX_FLOATS},
                  {"GUARDED", 0}),  // 1: numbers that are split may be too large or small for it
    .value_names = {GPU_CONV_OUTS(GPU_VALUE_NAME), GPU_CONV_INS(GPU_VALUE_NAME), GPU_MATRIX_FORMS(GPU_VALUE_NAME)},
    .shared = {"float4 tile[GROUP_X * GROUP_Y * GROUP_Z * ROUND]", "int vote[4]"},
    .epilogue = true,
    .matrix = true,
    .waits = true,
    .body = GPU_MATRIX_BEGIN(P_space.z, P_sum.w) GPU_TEXT(
        int positions = P_grid.x * P_grid.y * x_b;
        int first_position = GROUP0 * (16 * BLOCK_X) + row;
        int plane = x_w * x_h;
        int skipped = 0;
    ) GPU_CONV_PLACES_IN_X(2 * BLOCK_X, 8) GPU_TEXT(
        int lid = (LID2 * GROUP_Y + LID1) * 32 + LID0;
    ) GPU_MATRIX_GUARD GPU_TEXT(
        WAIT;
        for (int pass = 0; pass < passes; pass += 1) {
            for (int begin = 0; begin < P_sum.w; begin += GROUP_Z * DEPTH) {
                acc4 v[DEPTH * 2 * BLOCK_X];
                UNROLL for (int n = 0; n < DEPTH; n += 1) {
                    int term = (begin + LID2 + n * GROUP_Z) * 4 + part;
    ) GPU_CONV_FIND_TERM(term / x_s, tap / P_sum.y) GPU_TEXT(
                    UNROLL for (int i = 0; i < 2 * BLOCK_X; i += 1) {
                        v[n * 2 * BLOCK_X + i] = splatf4(0.0f);
    ) GPU_CONV_LOCATE(i) GPU_TEXT(
                        if (inside) v[n * 2 * BLOCK_X + i] = to_acc4(load_x(from));
                    }
                }
                UNROLL for (int n = 0; n < DEPTH; n += 1) {
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
    ) GPU_MATRIX_MEASURE(v[(n * BLOCK_X + i) * 2]) GPU_MATRIX_MEASURE(v[(n * BLOCK_X + i) * 2 + 1]) GPU_TEXT(
                        acc4 first = v[(n * BLOCK_X + i) * 2];
                        acc4 last = first;
                        MATRIX_OPERANDS(first, last, v[(n * BLOCK_X + i) * 2], v[(n * BLOCK_X + i) * 2 + 1]);
    ) GPU_MATRIX_ADD_STEP(first, last) GPU_TEXT(
                    }
                }
                s0 += GROUP_Z * DEPTH;
                if (begin + GROUP_Z * DEPTH < P_sum.w) {
    ) GPU_MATRIX_LOAD_WEIGHTS(weights) GPU_TEXT(
                }
            }
    ) GPU_MATRIX_JUDGE(BEGIN_AGAIN) GPU_TEXT(
        }
    ) GPU_MATRIX_SCALE_BACK GPU_MATRIX_END_SUMS(GPU_MATRIX_FINISH),
};
// clang-format on

// ---- the block ------------------------------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit, as that of convolve.c. A quarter of the unit takes PRODUCT cycles
// for a step of one tile by one tile (an H200: 1024 products of halves in a cycle, half as many of TF32), and SPLIT to
// split the numbers of one tile. The unit takes BANDWIDTH bytes per cycle from the second cache. A group pays LATENCY
// for each `depth` steps of a subgroup, START before its first load and after its last sum, and ROUND_CYCLES for each
// round of the sums along z. The figures are estimates: of five blocks tried for each layer size of MobileNet v1 on an
// H200, none made the network more than 2 us faster than the block that this chooses.
static const int product_cycles[] = {
    [MATRIX_FLOATS] = 96, [MATRIX_SPLIT] = 48, [MATRIX_HALVES] = 16, [MATRIX_NARROW] = 32};
enum { SPLIT = 32, BANDWIDTH = 48, LATENCY = 700, START = 1500, ROUND_CYCLES = 150 };
enum { UNIT_REGISTERS = 65536, REGISTERS_EACH = 240, REGISTERS_BESIDE = 50, UNIT_SUBGROUPS = 64 };
enum { SUBGROUP = GPU_MATRIX_SUBGROUP, MAX_SUBGROUPS = 8, MAX_OUTPUTS = 16 };

int gpu_matrix_parts(int form)
{
    return form < MATRIX_HALVES ? 2 : 1;
}

int gpu_matrix_sums(int form)
{
    return form == MATRIX_SPLIT || form == MATRIX_NARROW ? 2 : 1;
}

int gpu_matrix_registers(const struct gpu_matrix_block *block, int form)
{
    int sums = 8 * block->positions * block->outputs * gpu_matrix_sums(form);
    return REGISTERS_BESIDE + sums +
           block->depth * (8 * block->positions + 4 * block->outputs * gpu_matrix_parts(form));
}

int gpu_matrix_most_registers(int items)
{
    int half = UNIT_REGISTERS / 2 / items;
    return half < REGISTERS_EACH ? half : REGISTERS_EACH;
}

int gpu_matrix_resident(int items)
{
    return UNIT_REGISTERS / (gpu_matrix_most_registers(items) * items);
}

static int round_of(const struct gpu_matrix_block *block)
{
    int outputs = 2 * block->positions * block->outputs;
    return outputs < 4 ? 4 : outputs > 8 ? 8 : outputs;
}

int64_t gpu_matrix_step_cycles(const struct gpu_matrix_block *block, int form)
{
    return (int64_t)product_cycles[form] * block->positions * block->outputs +
           (form == MATRIX_HALVES ? SPLIT / 4 : SPLIT) * (block->positions + block->outputs);
}

static bool fits(const struct gpu_matrix_block *block, const struct gpu_caps *caps, const struct gpu_conv_size *size,
                 int form)
{
    if (caps->fragment_forms) return gpu_cooperative_fits(block, caps, size, form);
    int subgroups = block->across * block->along, items = SUBGROUP * subgroups;
    return 2 * block->positions * block->outputs >= 4 && block->positions * block->outputs <= MAX_OUTPUTS / 2 &&
           subgroups <= MAX_SUBGROUPS && items <= caps->max_group_size && block->along <= caps->max_group[2] &&
           block->across <= caps->max_group[1] &&
           gpu_matrix_registers(block, form) <= gpu_matrix_most_registers(items) &&
           16 * (items * round_of(block) + 1) <= caps->shared_bytes &&
           gpu_divide_up(size->positions, 16 * block->positions) <= caps->max_groups[0] &&
           gpu_divide_up(size->slices, 4 * block->outputs * block->across) <= caps->max_groups[1];
}

static int64_t block_cycles(const struct gpu_matrix_block *block, int units, const struct gpu_conv_size *size, int form)
{
    int64_t steps = gpu_divide_up(gpu_divide_up(size->terms, 4), (int64_t)block->along * block->depth) * block->depth;
    int64_t groups = gpu_divide_up(size->positions, 16 * block->positions) *
                     gpu_divide_up(size->slices, (int64_t)4 * block->outputs * block->across);
    int64_t subgroups = (int64_t)block->across * block->along, each = gpu_divide_up(groups, units);
    int64_t resident = UNIT_REGISTERS / (gpu_matrix_registers(block, form) * subgroups * SUBGROUP);
    if (resident * subgroups > UNIT_SUBGROUPS) resident = UNIT_SUBGROUPS / subgroups;
    int64_t waves = gpu_divide_up(each, resident > 1 ? resident : 1);
    int64_t step = gpu_matrix_step_cycles(block, form);
    int64_t bytes = 1024 * block->positions + (int64_t)512 * gpu_matrix_parts(form) * block->outputs * block->across;
    int64_t rounds = block->along > 1 ? gpu_divide_up(2 * block->positions * block->outputs, round_of(block)) : 0;
    return gpu_overlapped(gpu_divide_up(each * subgroups, 4) * steps * step,
                          each * block->along * steps * bytes / BANDWIDTH,
                          waves * (steps / block->depth * LATENCY + START + rounds * ROUND_CYCLES + steps * step));
}

static void rank_blocks(struct gpu_ranking *ranking, const struct gpu_caps *caps, const struct gpu_conv_size *size,
                        int form)
{
    for (int i = 0; i < 3 * 3 * 4 * 4 * 4; i++) {
        struct gpu_matrix_block block = {1 << i % 3, 1 << i / 3 % 3, 1 << i / 9 % 4, 1 << i / 36 % 4, 1 << i / 144};
        if (!fits(&block, caps, size, form)) continue;
        struct gpu_tuned_block numbers = {{block.positions, block.outputs, block.depth, block.across, block.along}};
        int units = gpu_conv_units(caps);
        gpu_ranking_add(ranking, &numbers,
                        caps->fragment_forms ? gpu_cooperative_cycles(&block, units, size, form)
                                             : block_cycles(&block, units, size, form));
    }
}

static struct gpu_matrix_block block_of(const struct gpu_tuned_block *block)
{
    const int32_t *n = block->numbers;
    return (struct gpu_matrix_block){n[0], n[1], n[2], n[3], n[4]};
}

int64_t gpu_choose_matrix_block(const struct gpu_caps *caps, const struct gpu_conv_size *size, int form,
                                struct gpu_matrix_block *best)
{
    struct gpu_ranking ranking = {.room = 1};
    rank_blocks(&ranking, caps, size, form);
    if (ranking.count) *best = block_of(&ranking.blocks[0]);
    return gpu_ranking_limit(&ranking);
}

// The same where blocks have been measured, or are to be. in: how x is read. *tuned: for the dispatch.
static struct gpu_matrix_block choose_tuned(const struct gpu_plan *plan, const struct gpu_conv_size *size, int form,
                                            int in, int *tuned)
{
    struct gpu_ranking ranking = {.room = GPU_TUNED_CANDIDATES};
    const struct gpu_tuned_block *block = NULL;
    *tuned = 0;
    rank_blocks(&ranking, plan->caps, size, form);
    if (gpu_tuning_answers(plan->tuning) && size->positions <= INT_MAX) {
        struct gpu_tuned_size asked = {plan->caps->fragment_forms ? "convolve_cooperative" : "convolve_matrix",
                                       {(int32_t)size->positions, size->slices, size->terms, form, in,
                                        (int32_t)plan->precision}};
        block = gpu_tuning_choose(plan->tuning, &asked, &ranking, tuned);
    }
    if (!block && ranking.count) block = &ranking.blocks[0];
    return block ? block_of(block) : (struct gpu_matrix_block){1, 2, 1, 1, 1};
}

// ---- the form -------------------------------------------------------------------------------------------------------

enum { LIMIT = 256 }; // of the size of numbers that are split and not guarded

// Returns whether the elements of a value are between -LIMIT and LIMIT, whatever the input of the network.
static bool is_bounded(const struct gpu_value *value)
{
    const struct gpu_node *node = value->producer;
    if (value->whole) return true;
    if (value->is_input || !node || node->epilogue.count == 0) return false;
    int last = node->epilogue.count - 1;
    float a = node->epilogue.stages[last].a, b = node->epilogue.stages[last].b;
    switch (node->epilogue.stages[last].op) {
    case GPU_EPI_RELU6:
    case GPU_EPI_RELU_N1_TO_1:
    case GPU_EPI_TANH:
    case GPU_EPI_SIGMOID: return true;
    case GPU_EPI_CLAMP: return fabsf(a) <= LIMIT && fabsf(b) <= LIMIT;
    case GPU_EPI_QUANTIZE: return fabsf(a) * (fabsf(b) + 255) <= LIMIT;
    case GPU_EPI_SCALE_SHIFT: // whole numbers become real ones (graph/whole.c)
        return last <= 2 && node->epilogue.stages[0].op == GPU_EPI_RESCALE && b == 0 && fabsf(a) * 255 <= LIMIT &&
               (last == 1 || node->epilogue.stages[1].op == GPU_EPI_RELU ||
                node->epilogue.stages[1].op == GPU_EPI_CLAMP);
    default: return false;
    }
}

// The weights of an output and a tap; those of its input channels are by_input apart.
static const float *weights_of(const struct gpu_convolution *conv, int output, int tap)
{
    return conv->weights + output * conv->by_output + tap / conv->kernel_w * conv->by_h +
           tap % conv->kernel_w * conv->by_w;
}

static bool is_half(float weight)
{
    uint32_t bits = hl_float_bits(weight), exponent = bits >> 23 & 255;
    if ((bits & 0x1fff) == 0 && exponent > 112 && exponent < 143) return true; // a half with all of its bits
    return exponent < 143 && weight == hl_half_to_float(hl_half_from_float(weight));
}

bool gpu_matrix_are_halves(const float *weights, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!is_half(weights[i])) return false;
    return true;
}

// The forms, a bit for each, of products of these weights and numbers that are split. MATRIX_NARROW: all are halves, as
// those of float16 models are. MATRIX_SPLIT: two halves hold them as precisely as they hold the largest of them.
static unsigned split_forms(const struct gpu_convolution *conv)
{
    bool halves = true, within = true;
    float most = 0;
    for (int output = 0; output < conv->outputs && (halves || within); output++)
        for (int tap = 0; tap < conv->kernel_w * conv->kernel_h; tap++) {
            const float *from = weights_of(conv, output, tap);
            for (int i = 0; i < conv->inputs; i++) {
                float weight = from[i * conv->by_input], size = fabsf(weight);
                halves = halves && is_half(weight);
                within = within && size <= LIMIT;
                if (size > most) most = size;
            }
        }
    bool moderate = within && most >= 1.0f / LIMIT;
    return (unsigned)halves << MATRIX_NARROW | (unsigned)moderate << MATRIX_SPLIT;
}

int gpu_matrix_form(const struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_convolution *conv,
                    bool guards)
{
    unsigned forms = plan->caps->matrix_forms | plan->caps->fragment_forms;
    if ((plan->precision == GPU_F16 || x->whole) && forms >> MATRIX_HALVES & 1) return MATRIX_HALVES;
    if (forms & (1u << MATRIX_SPLIT | 1u << MATRIX_NARROW) && (guards || is_bounded(x))) {
        const unsigned splits = forms & (conv ? split_forms(conv) : 1u << MATRIX_SPLIT);
        if (splits) return splits >> MATRIX_NARROW & 1 ? MATRIX_NARROW : MATRIX_SPLIT;
    }
    return forms >> MATRIX_FLOATS & 1 ? MATRIX_FLOATS : -1;
}

bool gpu_matrix_is_guarded(const struct gpu_value *x, int form)
{
    return gpu_matrix_sums(form) > 1 && !is_bounded(x);
}

bool gpu_matrix_takes(const struct gpu_convolution *conv)
{
    return !conv->weights_value && !conv->bias_value && conv->groups <= 1 && !conv->inner &&
           conv->kernel_w * conv->kernel_h > 0;
}

// What the kernel of matrix_shared.c takes, in cycles of this model: of layers that both have been measured for, less
// their step in the list, this one counts what they take, and that one a fourth more (from 0.66 to 0.87 of its cycles,
// seven layers).
static int64_t shared_cycles(const struct gpu_plan *plan, const struct gpu_conv_size *size, int form)
{
    int64_t cycles = gpu_matrix_shared_cycles(plan->caps, size, form);
    return cycles == INT64_MAX ? cycles : cycles / 5 * 4;
}

int64_t gpu_matrix_cycles(const struct gpu_plan *plan, const struct gpu_conv_size *size, int form)
{
    struct gpu_matrix_block block;
    if (form < 0) return INT64_MAX;
    int64_t cycles = gpu_choose_matrix_block(plan->caps, size, form, &block), shared = shared_cycles(plan, size, form);
    return shared < cycles ? shared : cycles;
}

// ---- weights --------------------------------------------------------------------------------------------------------

static bool is_by_chunks(enum gpu_matrix_order order)
{
    return order == GPU_MATRIX_BY_CHUNKS || order == GPU_MATRIX_FRAGMENTS_BY_CHUNKS;
}

static int slices_of(const struct gpu_convolution *conv, enum gpu_matrix_order order)
{
    return is_by_chunks(order) ? gpu_window_slices(conv) : gpu_slices(conv->y->shape);
}

// The weights of the four input channels of slice `part` of a step, and one output; zeros where there are none.
static void gather(const struct gpu_convolution *conv, enum gpu_matrix_order order, int64_t step, int part, int output,
                   float four[4])
{
    int slices = gpu_slices(conv->x->shape), taps = conv->kernel_w * conv->kernel_h;
    int term = (int)step * 4 + part, tap = term / slices, input = term % slices * 4;
    if (is_by_chunks(order)) {
        const int columns = gpu_window_columns(conv), spread = gpu_window_spread(conv);
        const int across = (conv->kernel_w + columns * spread - 1) / (columns * spread);
        const int each = GPU_WINDOW_CHUNK / columns, steps = across * conv->kernel_h; // of a column, of a chunk
        const int column = spread > 1 ? output / 4 : (int)(step % across) * columns + part / each;
        tap = column < conv->kernel_w ? (int)(step % steps / across) * conv->kernel_w + column : taps;
        input = ((int)(step / steps) * GPU_WINDOW_CHUNK + part % each) * 4;
        if (spread > 1) output %= 4;
    }
    memset(four, 0, 4 * sizeof *four);
    if (output >= conv->outputs || tap >= taps) return;
    const float *from = weights_of(conv, output, tap);
    for (int i = 0; i < 4 && input + i < conv->inputs; i++) four[i] = from[(input + i) * conv->by_input];
}

int32_t gpu_matrix_half_pair(float low, float high)
{
    return (int32_t)(hl_half_from_float(low) | (uint32_t)hl_half_from_float(high) << 16);
}

// What a half leaves of a number, times MATRIX_REST's inverse.
static float rest_of(float v)
{
    return (v - hl_half_to_float(hl_half_from_float(v))) * 2048;
}

// Writes the vectors of a work-item for one tile and step, of eight numbers of two outputs: their bits in two vectors,
// or as halves in one and what these leave in another. The second vector comes behind the first of all work-items.
static void pack_item(int form, const float numbers[8], int32_t *first)
{
    enum { SECOND = 4 * SUBGROUP };
    for (int i = 0; i < 4; i++) {
        const float *pair = numbers + 2 * i;
        if (form == MATRIX_FLOATS) {
            first[i] = gpu_float_bits(numbers[i]);
            first[SECOND + i] = gpu_float_bits(numbers[4 + i]);
        } else {
            first[i] = gpu_matrix_half_pair(pair[0], pair[1]);
            if (form == MATRIX_SPLIT) first[SECOND + i] = gpu_matrix_half_pair(rest_of(pair[0]), rest_of(pair[1]));
        }
    }
}

// The same as a fragment: for each output the numbers of 16 channels as halves, in two vectors.
static void pack_fragment(const struct gpu_convolution *conv, int form, enum gpu_matrix_order order, int64_t tile,
                          int64_t step, int32_t *to)
{
    enum { SECOND = 4 * SUBGROUP };
    for (int i = 0; i < 16 * 4; i++, to += 2) {
        float four[4];
        gather(conv, order, step, i % 4, (int)tile * 16 + i / 4, four);
        for (int pair = 0; pair < 2; pair++) {
            to[pair] = gpu_matrix_half_pair(four[2 * pair], four[2 * pair + 1]);
            if (form == MATRIX_SPLIT)
                to[SECOND + pair] = gpu_matrix_half_pair(rest_of(four[2 * pair]), rest_of(four[2 * pair + 1]));
        }
    }
}

// The vectors of all work-items for one tile and step.
static void pack_step(const struct gpu_convolution *conv, int form, enum gpu_matrix_order order, int64_t tile,
                      int64_t step, int32_t *to)
{
    for (int item = 0; item < SUBGROUP; item++) {
        float numbers[8];
        int output = (int)tile * 16 + item / 8 * 4 + item / 4 % 2;
        gather(conv, order, step, item % 4, output, numbers);
        gather(conv, order, step, item % 4, output + 2, numbers + 4);
        pack_item(form, numbers, to + (size_t)4 * item);
    }
}

static int64_t rows_of(const struct gpu_matrix_block *block, int slices)
{
    return gpu_divide_up(gpu_divide_up(slices, 4 * block->outputs), block->across) * block->across;
}

int64_t gpu_matrix_vectors(const struct gpu_matrix_block *block, int form, int slices, int64_t steps)
{
    return rows_of(block, slices) * steps * block->outputs * SUBGROUP * gpu_matrix_parts(form);
}

void gpu_matrix_pack(const struct gpu_convolution *conv, int form, const struct gpu_matrix_block *block, int64_t steps,
                     enum gpu_matrix_order order, int32_t *to)
{
    int64_t rows = rows_of(block, slices_of(conv, order));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t step = 0; step < steps; step++)
            for (int tile = 0; tile < block->outputs; tile++, to += 4 * SUBGROUP * gpu_matrix_parts(form)) {
                const bool fragments = order == GPU_MATRIX_FRAGMENTS || order == GPU_MATRIX_FRAGMENTS_BY_CHUNKS;
                (fragments ? pack_fragment : pack_step)(conv, form, order, row * block->outputs + tile, step, to);
            }
}

struct gpu_weights *gpu_matrix_weights(struct gpu_plan *plan, const struct gpu_convolution *conv, int form,
                                       const struct gpu_matrix_block *block, int64_t steps, enum gpu_matrix_order order)
{
    int slices = slices_of(conv, order);
    int64_t count = slices + gpu_matrix_vectors(block, form, slices, steps);
    struct gpu_weights *weights = gpu_plan_integers(plan, (size_t)count);
    if (!weights) return NULL;
    for (int i = 0; i < conv->outputs && conv->bias; i++) weights->integers[i] = gpu_float_bits(conv->bias[i]);
    gpu_matrix_pack(conv, form, block, steps, order, weights->integers + (size_t)4 * slices);
    return weights;
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

bool gpu_matrix_dispatch(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                         const struct gpu_matrix_places *places, const struct gpu_matrix_launch *launch)
{
    struct gpu_shape y = conv->y->shape;
    const struct gpu_kernel *kernel = launch->kernel;
    const struct gpu_matrix_block *block = &launch->block;
    struct gpu_dispatch_desc desc = {
        .kernel = kernel,
        .operands = {{.value = conv->x}, {.weights = launch->weights}, {.value = conv->y}},
        .params = {{size->terms, conv->kernel_w, conv->kernel_h, (int)launch->steps},
                   {places->step_w, places->step_h, conv->pad_left, conv->pad_top},
                   {conv->dilation_w, conv->dilation_h, size->slices, launch->shared_at},
                   {places->grid_w, places->grid_h, conv->offset_x, conv->offset_y}},
        .group = {SUBGROUP, block->across, block->along},
        .grid = {(int)gpu_divide_up(places->positions, 16 * block->positions) * SUBGROUP,
                 (int)gpu_divide_up(size->slices, 4 * block->outputs), block->along},
        .epilogue = plan->node ? &plan->node->epilogue : NULL,
        .tuned = launch->tuned,
        .part = conv->grid_w > 0,
    };
    for (int i = 0; kernel->constants[i].name; i++)
        desc.constants[i] = (struct gpu_setting){kernel->constants[i].name, launch->values[i]};
    if (places->out == OUT_SAME) desc.views[2] = (struct gpu_shape){y.b, 1, y.w * y.h, y.c};
    return gpu_plan_dispatch(plan, &desc);
}

bool gpu_plan_matrix(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                     const struct gpu_matrix_places *places, int form)
{
    struct gpu_matrix_launch launch = {.kernel = &gpu_kernel_matrix};
    struct gpu_matrix_block *block = &launch.block;
    bool guarded = gpu_matrix_is_guarded(conv->x, form);
    if (shared_cycles(plan, size, form) < gpu_choose_matrix_block(plan->caps, size, form, block))
        return gpu_plan_matrix_shared(plan, conv, size, places, form, guarded);
    *block = choose_tuned(plan, size, form, places->in, &launch.tuned);
    int64_t all = gpu_divide_up(size->terms, 4), together = (int64_t)block->along * block->depth;
    launch.steps = gpu_divide_up(all, together) * together;
    launch.weights = gpu_matrix_weights(plan, conv, form, block, launch.steps,
                                        plan->caps->fragment_forms ? GPU_MATRIX_FRAGMENTS : GPU_MATRIX_BY_TAPS);
    if (!launch.weights) return false;
    if (plan->caps->fragment_forms) return gpu_plan_cooperative(plan, conv, size, places, form, &launch);
    int values[CONSTANTS] = {
        [BLOCK_X] = block->positions, [BLOCK_O] = block->outputs, [OUT] = places->out, [IN] = places->in,
        [DEPTH] = block->depth,       [ROUND] = round_of(block),  [MATRIX] = form,     [GUARDED] = guarded,
    };
    launch.values = values;
    return gpu_matrix_dispatch(plan, conv, size, places, &launch);
}
