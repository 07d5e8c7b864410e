// SPDX-License-Identifier: Apache-2.0
// See separable.h. A work-group has P = GROUP_X * BLOCK_X positions and GROUP_Y * BLOCK_O output slices. First each of
// its work-items computes the depthwise convolution at one of the positions, for every TURN-th input slice, into shared
// memory. Then the work-items sum BLOCK_X positions by BLOCK_O output slices in registers, as those of
// gpu_kernel_convolve do, and divide the input slices along z.
//
// The depthwise weights lie tap after tap, each for all slices, because neighboring work-items have neighboring slices
// where a group has few positions: with the taps of a slice together each work-item's load was a line of memory of its
// own.
//
// Every group along y computes the same depthwise part. This costs less than a second dispatch while there are few of
// them: on an H200 a dispatch that must wait for another costs about 3 us on Vulkan before it does anything.
#include "gpu/ops/separable.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ops/costs.h"
#include "gpu/ops/dense_pair.h"
#include "gpu/ops/matrix.h"
#include "tensorflow/lite/builtin_ops.h"

// The indices of the kernel's constants.
enum { BLOCK_X, BLOCK_O, DEPTH, ROUND, ROOM, KERNEL_W, KERNEL_H, NUMBERS, STAGE_OF_X, CONSTANTS };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Adds the bias to v, the sum of output n of the block, and writes it.
#define FINISH_ONE                                                                      \
    GPU_TEXT(                                                                           \
        int position = first + LID0 + n % BLOCK_X * GROUP_X;                            \
        int o = (GROUP1 * BLOCK_O + n / BLOCK_X) * GROUP_Y + LID1;                      \
        if (position < positions && o < y_s) {                                          \
            int4 p = mki4(position, 0, o, 0);                                           \
            if (y_b > 1) {                                                              \
                p.w = position / y_w;                                                   \
                p.x = position - p.w * y_w;                                             \
            }                                                                           \
            v += to_acc4(weights(stream + LID1 + n / BLOCK_X * GROUP_Y));               \
            write_y(p, finish(to_real4(v), p));                                         \
        }                                                                               \
    )

const struct gpu_kernel gpu_kernel_separable = {
    .name = "separable",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    // step: strides, padding; space: dilations, width and height of the output, which y counts as one row for each
    // batch; sum: input slices, where the streams of the 1x1 convolution begin; inner: a and b of STAGE.
    .params = {"step", "space", "sum", "inner"},
    GPU_CONSTANTS({"BLOCK_X", 1},
                  {"BLOCK_O", 1},
                  {"DEPTH", 1},   // input slices whose weights are loaded before the first is summed
                  {"ROUND", 1},   // outputs of a block that are summed in shared memory at a time
                  {"ROOM", 1024}, // vectors in shared memory: P for each input slice, and then those of a round
                  {"KERNEL_W", 3},
                  {"KERNEL_H", 3},
                  {"NUMBERS", 0}, // 1: the stage's numbers of all slices are behind the weights
                  {"STAGE", 0}),  // what follows the depthwise convolution
    .shared = {"float4 tile[ROOM]"},
    .epilogue = true,
    .body = GPU_TEXT(
        int plane = x_w * x_h;
        int positions = P_space.z * P_space.w * x_b;
        int first = GROUP0 * (GROUP_X * BLOCK_X);
        int lid = (LID2 * GROUP_Y + LID1) * GROUP_X + LID0;
        int turn = GROUP_X * GROUP_Y * GROUP_Z / (GROUP_X * BLOCK_X);

        int own = lid % (GROUP_X * BLOCK_X);
        int place = min(first + own, positions - 1);
        int row = place / P_space.z;
        int batch = row / P_space.w;
        int px = (place - row * P_space.z) * P_step.x - P_step.z;
        int py = (row - batch * P_space.w) * P_step.y - P_step.w;
        int from = batch * x_s * plane + py * x_w + px;
        int s0 = lid / (GROUP_X * BLOCK_X);
        if (s0 >= turn) s0 = P_sum.x;
        for (int s = s0; s < P_sum.x; s += turn) {
            acc4 sum = to_acc4(weights(s));
            UNROLL for (int ty = 0; ty < KERNEL_H; ty += 1) {
                int down = ty * P_space.y;
                UNROLL for (int tx = 0; tx < KERNEL_W; tx += 1) {
                    int across = tx * P_space.x;
                    acc4 v = splatf4(0.0f);
                    if (py + down >= 0 && py + down < x_h && px + across >= 0 && px + across < x_w)
                        v = to_acc4(load_x(from + s * plane + down * x_w + across));
                    sum = mad(v, to_acc4(weights(s + (1 + ty * KERNEL_W + tx) * P_sum.x)), sum);
                }
            }
            acc4 r = splatf4(0.0f);
            if (NUMBERS == 1) r = to_acc4(weights(s + (1 + KERNEL_W * KERNEL_H) * P_sum.x));
            tile[s * (GROUP_X * BLOCK_X) + own] = stage_with(STAGE, sum, r, bits_to_float(P_inner.x), bits_to_float(P_inner.y));
        }

        acc4 sums[BLOCK_X * BLOCK_O];
        UNROLL for (int n = 0; n < BLOCK_X * BLOCK_O; n += 1) sums[n] = splatf4(0.0f);
        int stream = P_sum.y + GROUP1 * (P_sum.x * 4 + 1) * (GROUP_Y * BLOCK_O);
        int k0 = stream + GROUP_Y * BLOCK_O + LID1;
        BARRIER;
        for (int s = LID2; s < P_sum.x; s += GROUP_Z * DEPTH) {
            UNROLL for (int m = 0; m < DEPTH; m += 1) {
                int slice = s + m * GROUP_Z;
                int k = k0 + slice * (4 * GROUP_Y * BLOCK_O);
                acc4 v[BLOCK_X];
                UNROLL for (int i = 0; i < BLOCK_X; i += 1)
                    v[i] = tile[slice * (GROUP_X * BLOCK_X) + LID0 + i * GROUP_X];
                UNROLL for (int j = 0; j < BLOCK_O; j += 1) {
                    acc4 a = to_acc4(weights(k + j * GROUP_Y));
                    acc4 b = to_acc4(weights(k + j * GROUP_Y + GROUP_Y * BLOCK_O));
                    acc4 c = to_acc4(weights(k + j * GROUP_Y + 2 * GROUP_Y * BLOCK_O));
                    acc4 d = to_acc4(weights(k + j * GROUP_Y + 3 * GROUP_Y * BLOCK_O));
                    UNROLL for (int i = 0; i < BLOCK_X; i += 1) {
                        sums[j * BLOCK_X + i] = mad(a, v[i].x, sums[j * BLOCK_X + i]);
                        sums[j * BLOCK_X + i] = mad(b, v[i].y, sums[j * BLOCK_X + i]);
                        sums[j * BLOCK_X + i] = mad(c, v[i].z, sums[j * BLOCK_X + i]);
                        sums[j * BLOCK_X + i] = mad(d, v[i].w, sums[j * BLOCK_X + i]);
                    }
                }
            }
        }

        if (GROUP_Z == 1) {
            UNROLL for (int n = 0; n < BLOCK_X * BLOCK_O; n += 1) {
                acc4 v = sums[n];
    ) FINISH_ONE GPU_TEXT(
            }
        } else {
            int beside = LID1 * GROUP_X + LID0;
            UNROLL for (int n0 = 0; n0 < BLOCK_X * BLOCK_O; n0 += ROUND) {
                BARRIER;
                UNROLL for (int m = 0; m < ROUND; m += 1)
                    tile[(m * GROUP_Z + LID2) * (GROUP_X * GROUP_Y) + beside] = sums[n0 + m];
                BARRIER;
                for (int m = LID2; m < ROUND; m += GROUP_Z) {
                    int n = n0 + m;
                    acc4 v = tile[m * GROUP_Z * (GROUP_X * GROUP_Y) + beside];
                    UNROLL for (int z = 1; z < GROUP_Z; z += 1)
                        v += tile[(m * GROUP_Z + z) * (GROUP_X * GROUP_Y) + beside];
    ) FINISH_ONE GPU_TEXT(
                }
            }
        }
    ),
};
// clang-format on

// ---- the block ----------------------------------------------------------------------------------

// A model of a device, in cycles of a compute unit, as that of convolve.c. For the depthwise part a warp takes TAP for
// each tap and a FAR_LATENCY for each of its turns. The product is arithmetic for four warps at once, loads, weights
// from the second cache, BANDWIDTH bytes a cycle, and a LATENCY for each `depth` slices of a warp's path. Each round of
// the sums along z takes ROUND_CYCLES. All are fitted to 130 times of the 13 layers of MobileNet v1 on an H200 (Vulkan,
// f32), which the model predicts to 11 %; the block that it chooses takes 1.05 of the time of the best one tried.
enum {
    WARP = 32,
    BANDWIDTH = 48,
    LOOP = 14,
    LATENCY = 400,
    TAP = 14,
    FAR_LATENCY = 200,
    ROUND_CYCLES = 300,
    START = 1700
};
enum { MAX_ITEMS = 256, MAX_OUTPUTS = 8, REGISTERS = 65536, REGISTERS_BESIDE = 50, UNIT_WARPS = 64 };
enum { ROOM_STEP = 512 }; // shared memory is a multiple of so many vectors, so that layers share programs

// The longest of what goes on at the same time, and half of the others.
static int64_t overlapped(int64_t a, int64_t b, int64_t c)
{
    int64_t longest = gpu_larger(gpu_larger(a, b), c);
    return longest + (a + b + c - longest) / 2;
}

static int64_t items_of(const struct gpu_conv_block *block)
{
    return (int64_t)block->group[0] * block->group[1] * block->group[2];
}

// Returns the vectors of shared memory. round: how many outputs of a block are summed at a time.
static int64_t room_of(const struct gpu_conv_block *block, const struct gpu_separable_size *layers, int round)
{
    int64_t tile = (int64_t)block->group[0] * block->positions * layers->inputs;
    int64_t parts = block->group[2] > 1 ? items_of(block) * round : 0;
    return gpu_divide_up(gpu_larger(tile, parts), ROOM_STEP) * ROOM_STEP;
}

// Returns how many outputs of a block are summed in shared memory at a time, a divisor of the block.
static int round_of(const struct gpu_conv_block *block, const struct gpu_separable_size *layers,
                    const struct gpu_caps *caps)
{
    int outputs = block->positions * block->slices, round = outputs;
    int64_t most = gpu_larger(room_of(block, layers, 1), caps->shared_bytes / 16 * 3 / 4);
    if (block->group[2] == 1) return 1;
    while (round > 1 && (outputs % round || room_of(block, layers, round) > most)) round--;
    return round;
}

static int64_t fused_cycles(const struct gpu_conv_block *block, const struct gpu_separable_size *layers,
                            const struct gpu_caps *caps)
{
    int64_t across = (int64_t)block->group[0] * block->positions, down = (int64_t)block->group[1] * block->slices;
    int64_t groups = gpu_divide_up(layers->positions, across) * gpu_divide_up(layers->slices, down);
    int64_t each = gpu_divide_up(groups, gpu_conv_units(caps)), items = items_of(block),
            warps = gpu_divide_up(items, WARP);
    int64_t outputs = (int64_t)block->positions * block->slices, inputs = layers->inputs;
    int64_t steps = gpu_divide_up(inputs, block->group[2]), turns = gpu_divide_up(inputs, items / across);
    int64_t registers = REGISTERS_BESIDE + 4 * (outputs + block->depth * (block->positions + 4 * block->slices));
    int64_t resident = REGISTERS / (registers * warps * WARP);
    if (resident * warps > UNIT_WARPS) resident = UNIT_WARPS / warps;
    int64_t waves = gpu_divide_up(each, gpu_larger(resident, 1));
    int64_t depthwise = overlapped(each * gpu_divide_up(across * inputs, WARP) * (TAP * layers->taps + 4),
                                   each * across * inputs * 16 * layers->rows * layers->stride_w / BANDWIDTH,
                                   waves * turns * FAR_LATENCY);
    int64_t loads = each * warps * steps * (2 * block->positions + 16 * block->slices);
    int64_t product = overlapped(gpu_divide_up(each * warps, 4) * (steps * (16 * outputs + LOOP) + 32 * outputs),
                                 gpu_larger(each * inputs * 64 * down / BANDWIDTH, loads),
                                 waves * (gpu_divide_up(steps, block->depth) * LATENCY + steps * 16 * outputs));
    int64_t rounds = block->group[2] > 1 ? outputs / round_of(block, layers, caps) : 0;
    return depthwise + product + waves * rounds * ROUND_CYCLES;
}

static bool fits(const struct gpu_conv_block *block, const struct gpu_caps *caps,
                 const struct gpu_separable_size *layers)
{
    int64_t items = items_of(block), across = (int64_t)block->group[0] * block->positions;
    int most = caps->max_group_size < MAX_ITEMS ? caps->max_group_size : MAX_ITEMS;
    if (items > most || items < across || items % WARP || block->positions * block->slices > MAX_OUTPUTS) return false;
    if (block->slices * block->group[1] >= 2 * layers->slices && block->slices * block->group[1] > 1) return false;
    if (block->group[2] > layers->inputs || across >= 2 * layers->positions) return false;
    if (block->depth > 1 && layers->inputs % (block->depth * block->group[2])) return false;
    for (int i = 0; i < 3; i++)
        if (block->group[i] > caps->max_group[i]) return false;
    return gpu_divide_up(layers->positions, across) <= caps->max_groups[0] &&
           room_of(block, layers, 1) * 16 <= caps->shared_bytes;
}

// Returns the cycles with the best block; INT64_MAX: none fits.
static int64_t choose_block(const struct gpu_caps *caps, const struct gpu_separable_size *layers,
                            struct gpu_conv_block *best)
{
    static const int block_positions[] = {1, 2, 4, 7, 8}, block_slices[] = {1, 2, 4};
    static const int group_x[] = {1, 2, 4, 7, 8, 14, 16}, group_y[] = {1, 2, 4, 8, 16, 32};
    static const int group_z[] = {1, 2, 4, 8, 16, 32};
    int64_t lowest = INT64_MAX;
    for (int g = 0; g < 7 * 6 * 6; g++) {
        const int x = group_x[g % 7], y = group_y[g / 7 % 6], z = group_z[g / 42];
        if (x * y * z > MAX_ITEMS || x * y * z % WARP) continue;
        for (int i = 0; i < 3 * 5 * 3; i++) {
            struct gpu_conv_block block = {block_positions[i / 3 % 5], block_slices[i / 15], 1 << i % 3, {x, y, z}};
            if (!fits(&block, caps, layers)) continue;
            int64_t cycles = fused_cycles(&block, layers, caps);
            if (cycles >= lowest) continue;
            lowest = cycles;
            *best = block;
        }
    }
    return lowest;
}

// Returns the cycles of both dispatches, and of the wait between them. form: of products on matrix units.
static int64_t separate_cycles(const struct gpu_plan *plan, const struct gpu_separable_size *layers, int form)
{
    const struct gpu_caps *caps = plan->caps;
    struct gpu_conv_size size = {
        .positions = layers->positions,
        .slices = layers->slices,
        .terms = layers->inputs,
        .run = layers->inputs,
    };
    int64_t vectors = gpu_divide_up(layers->positions * layers->inputs, gpu_conv_units(caps));
    int64_t depthwise =
        overlapped(gpu_divide_up(vectors, WARP) * (3 * layers->taps + 8),
                   vectors * 16 * (1 + (int64_t)layers->stride_w * layers->stride_h) / BANDWIDTH, START);
    int64_t direct = gpu_conv_cycles(caps, &size), matrix = gpu_matrix_cycles(plan, &size, form);
    return depthwise + (matrix < direct ? matrix : direct) + gpu_step_cycles(caps);
}

// ---- whether ------------------------------------------------------------------------------------

// Returns whether the stages between the two can be applied without another value, and make numbers of zeros that can
// be multiplied by zero. Where they round to 8 bits the last digit of a sum decides, and later layers make steps of it
// (on an H200 the 8-bit MobileNet v2 was 7 steps off in one class of 1001, and 9 with this kernel), so that only sums
// of whole numbers are rounded here, which RESCALE does.
static bool can_be_inner(const struct gpu_epilogue *epilogue)
{
    if (epilogue->count == 0) return true;
    if (epilogue->count > 1 || epilogue->residual) return false;
    enum gpu_epilogue_op op = epilogue->stages[0].op;
    return op != GPU_EPI_RSQRT && op != GPU_EPI_QUANTIZE && op != GPU_EPI_WHOLE;
}

struct gpu_between gpu_between_of(const struct gpu_node *depthwise)
{
    const struct gpu_epilogue *epilogue = &depthwise->epilogue;
    if (epilogue->count == 0) return (struct gpu_between){.op = GPU_EPI_NONE};
    const struct gpu_value *channels = epilogue->stages[0].channels;
    return (struct gpu_between){epilogue->stages[0].op, epilogue->stages[0].a, epilogue->stages[0].b,
                                channels ? channels->data : NULL};
}

int gpu_between_vectors(const struct gpu_between *between, const struct gpu_depthwise *depthwise)
{
    return depthwise->kernel_w * depthwise->kernel_h + (between->numbers ? 2 : 1);
}

bool gpu_between_pack(const struct gpu_between *between, const struct gpu_depthwise *depthwise, size_t together,
                      void *to)
{
    const size_t each = (size_t)gpu_between_vectors(between, depthwise),
                 slices = (size_t)gpu_slices(depthwise->x->shape);
    float *own = calloc(slices * each, 4 * sizeof *own), *packed = to;
    if (!own) return false;
    gpu_depthwise_pack(depthwise, (int)each, own);
    for (int c = 0; c < depthwise->y->shape.c && between->numbers; c++)
        own[4 * ((size_t)(c / 4 + 1) * each - 1) + (size_t)(c % 4)] = between->numbers[c];
    for (size_t s = 0; s < slices; s++)
        for (size_t v = 0; v < each; v++)
            memcpy(packed + 4 * ((s / together * each + v) * together + s % together), own + 4 * (s * each + v),
                   4 * sizeof *own);
    free(own);
    return true;
}

static bool is_constant(const struct gpu_node *node)
{
    return node->inputs[1]->data && (node->input_count < 3 || !node->inputs[2] || node->inputs[2]->data);
}

// Returns whether a node is a convolution of single positions with constant weights.
static bool is_pointwise(const struct gpu_node *node)
{
    const TfLiteConvParams *params = node->params;
    if (node->dead || node->builtin != kTfLiteBuiltinConv2d || node->pad_left || node->pad_top) return false;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_shape k = node->inputs[1]->shape;
    return k.w == 1 && k.h == 1 && k.c == x->shape.c && params->stride_width == 1 && params->stride_height == 1 &&
           x->shape.w == y->shape.w && x->shape.h == y->shape.h && is_constant(node);
}

static struct gpu_separable_size layers_of(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                                           struct gpu_shape y)
{
    return (struct gpu_separable_size){
        .positions = gpu_in_first_batch(plan, (int64_t)y.w * y.h * y.b, y.b),
        .width = y.w,
        .height = y.h,
        .images = (int)gpu_in_first_batch(plan, y.b, y.b),
        .inputs = gpu_slices(depthwise->x->shape),
        .slices = gpu_slices(y),
        .taps = depthwise->kernel_w * depthwise->kernel_h,
        .rows = depthwise->kernel_h,
        .stride_w = depthwise->stride_w,
        .stride_h = depthwise->stride_h,
    };
}

// Returns the cycles with the best block for the plan's first batch, or for this one where that block would make too
// many work-groups.
static int64_t plan_block(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise, struct gpu_shape y,
                          struct gpu_separable_size *layers, struct gpu_conv_block *block)
{
    int64_t positions = (int64_t)y.w * y.h * y.b;
    *layers = layers_of(plan, depthwise, y);
    int64_t cycles = choose_block(plan->caps, layers, block);
    if (cycles == INT64_MAX ||
        gpu_divide_up(positions, (int64_t)block->group[0] * block->positions) <= plan->caps->max_groups[0])
        return cycles;
    layers->positions = positions;
    layers->images = y.b;
    return choose_block(plan->caps, layers, block);
}

// What the kernel of fragments takes beside that of another model, which counts so many hundredths of what its own
// takes: on an H200 the models of two dispatches counted 67 to 108 for nine pairs of MobileNet v1 and PoseNet, and
// that of the plain kernel 53 to 101 for eleven. With fewer than 64 outputs the plain kernel was faster for all pairs
// of hand landmarks, for most of them by a third.
enum { SEPARATE_COUNTS = 90, PLAIN_COUNTS = 75, FEW_COUNT = 133, FEW_SLICES = 16 };
static int64_t fragment_cycles(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise, int form,
                               const struct gpu_separable_size *size, int hundredths)
{
    int64_t cycles = gpu_separable_cooperative_cycles(plan, depthwise, form, size);
    if (cycles == INT64_MAX) return cycles;
    return cycles / 100 * (size->slices < FEW_SLICES ? FEW_COUNT : hundredths);
}

static const struct gpu_node *find_reader(const struct gpu_plan *plan, const struct gpu_node *node)
{
    if (!can_be_inner(&node->epilogue) || !is_constant(node)) return NULL;
    const struct gpu_node *reader = gpu_graph_only_reader(plan->graph, node->outputs[0]);
    struct gpu_depthwise depthwise = gpu_depthwise_of(node);
    if (!reader || !is_pointwise(reader) || node->op->integers || reader->op->integers) return NULL;
    if (gpu_pair_takes(plan, reader) || gpu_pair_ends(plan, reader)) return NULL;
    if (depthwise.x->shape.c != depthwise.y->shape.c || depthwise.kernel_w > 5 || depthwise.kernel_h > 5 ||
        node->outputs[0]->type == kTfLiteFloat16)
        return NULL;
    struct gpu_separable_size layers;
    struct gpu_conv_block block;
    int64_t cycles = plan_block(plan, &depthwise, reader->outputs[0]->shape, &layers, &block);
    struct gpu_convolution pointwise = {
        .x = depthwise.y,
        .inputs = depthwise.y->shape.c,
        .outputs = reader->outputs[0]->shape.c,
        GPU_ONE_POSITION,
        .weights = reader->inputs[1]->data,
        .by_output = depthwise.y->shape.c,
        .by_input = 1,
    };
    const bool fragments = plan->caps->fragment_forms != 0;
    const int form = gpu_matrix_form(plan, depthwise.y, fragments ? &pointwise : NULL, !fragments);
    int64_t matrix = fragments ? fragment_cycles(plan, &depthwise, form, &layers, SEPARATE_COUNTS)
                               : gpu_separable_matrix_cycles(plan, &depthwise, NULL, &layers);
    if (matrix < cycles) cycles = matrix;
    return cycles < separate_cycles(plan, &layers, form) ? reader : NULL;
}

const struct gpu_node *gpu_separable_reader(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (node->builtin != kTfLiteBuiltinDepthwiseConv2d) return NULL;
    if (plan->separable.asked != node) {
        plan->separable.asked = node;
        plan->separable.reader = find_reader(plan, node);
    }
    return plan->separable.reader;
}

const struct gpu_node *gpu_separable_producer(struct gpu_plan *plan, const struct gpu_node *pointwise)
{
    const struct gpu_node *before = pointwise->inputs[0]->producer;
    return before && !before->dead && gpu_separable_reader(plan, before) == pointwise ? before : NULL;
}

// ---- the dispatch -------------------------------------------------------------------------------

bool gpu_plan_separable(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_convolution *pointwise)
{
    struct gpu_depthwise depthwise = gpu_depthwise_of(node);
    struct gpu_shape y = pointwise->y->shape;
    struct gpu_separable_size layers;
    struct gpu_conv_block block = {1, 1, 1, {1, 1, 1}};
    int64_t cycles = plan_block(plan, &depthwise, y, &layers, &block);
    if (plan->caps->fragment_forms) {
        const int form = gpu_matrix_form(plan, depthwise.y, pointwise, false);
        if (fragment_cycles(plan, &depthwise, form, &layers, PLAIN_COUNTS) < cycles)
            return gpu_plan_separable_cooperative(plan, node, &depthwise, pointwise, form, &layers);
    } else if (gpu_separable_matrix_cycles(plan, &depthwise, pointwise, &layers) < cycles) {
        return gpu_plan_separable_matrix(plan, node, &depthwise, pointwise, &layers);
    }
    const struct gpu_between between = gpu_between_of(node);
    int tile = block.group[1] * block.slices, streams = (int)gpu_divide_up(layers.slices, tile);
    int64_t own = (int64_t)layers.inputs * gpu_between_vectors(&between, &depthwise),
            round = round_of(&block, &layers, plan->caps);
    struct gpu_weights *weights =
        gpu_plan_weights(plan, (size_t)(own + streams * gpu_conv_stream_vectors(pointwise, tile)));
    if (!weights) return false;
    if (!gpu_between_pack(&between, &depthwise, (size_t)layers.inputs, weights->data))
        return gpu_plan_fail(plan, "out of memory");
    gpu_conv_pack(pointwise, tile, weights->data + 4 * own);

    int values[CONSTANTS] = {
        [BLOCK_X] = block.positions,
        [BLOCK_O] = block.slices,
        [DEPTH] = block.depth,
        [ROUND] = (int)round,
        [ROOM] = (int)room_of(&block, &layers, (int)round),
        [KERNEL_W] = depthwise.kernel_w,
        [KERNEL_H] = depthwise.kernel_h,
        [NUMBERS] = between.numbers != NULL,
        [STAGE_OF_X] = (int)between.op,
    };
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_separable,
        .operands = {{.value = depthwise.x}, {.weights = weights}, {.value = pointwise->y}},
        .params = {{depthwise.stride_w, depthwise.stride_h, depthwise.pad_left, depthwise.pad_top},
                   {depthwise.dilation_w, depthwise.dilation_h, y.w, y.h},
                   {layers.inputs, (int)own},
                   {gpu_float_bits(between.a), gpu_float_bits(between.b)}},
        .group = {block.group[0], block.group[1], block.group[2]},
        .grid = {(int)gpu_divide_up((int64_t)y.w * y.h * y.b, block.positions),
                 (int)gpu_divide_up(layers.slices, block.slices), block.group[2]},
        .epilogue = &plan->node->epilogue,
        .views = {[2] = {y.b, 1, y.w * y.h, y.c}},
    };
    for (int i = 0; i < CONSTANTS; i++)
        desc.constants[i] = (struct gpu_setting){gpu_kernel_separable.constants[i].name, values[i]};
    return gpu_plan_dispatch(plan, &desc);
}
