// SPDX-License-Identifier: Apache-2.0
// See dense_pair.h. A work-group computes an image, because each layer needs all of the one before. It sums the plane,
// then the first layer and the second, each sum in parts that work-items add up in shared memory. What this saves is a
// step of the list for each layer but one. What it costs is that one compute unit fetches all weights, so that large
// layers stay apart.
#include "gpu/ops/dense_pair.h"

#include "gpu/graph/convert.h"
#include "gpu/ops/convolve.h"
#include "gpu/ops/costs.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Adds up what the work-items of ITEMS have, which are APART from each other, in the first of them.
#define ADD_UP(ITEM, ITEMS, APART)                                                                     \
    parts[LID0] = v;                                                                                   \
    BARRIER;                                                                                           \
    UNROLL for (int half_way = ITEMS / 2; half_way > 0; half_way /= 2) {                               \
        if (ITEM < half_way) parts[LID0] = parts[LID0] + parts[LID0 + half_way * (APART)];             \
        BARRIER;                                                                                       \
    }
// Computes a layer of OUT slices from IN slices of an array, AT once and by ITEMS work-items each, with weights from
// vector FROM on. RESULT is done with v and o.
#define LAYER(IN, ARRAY, OUT, ITEMS, FROM, RESULT)                                                     \
    for (int block = 0; block < OUT; block += GROUP_X / ITEMS) {                                       \
        int item = LID0 / (GROUP_X / ITEMS);                                                           \
        int o = block + LID0 - item * (GROUP_X / ITEMS);                                               \
        int own = min(o, OUT - 1);                                                                     \
        v = splatf4(0.0f);                                                                             \
        for (int i = item; i < IN; i += ITEMS) {                                                       \
            float4 u = ARRAY[i];                                                                       \
            int at = FROM + (i * OUT + own) * 4;                                                       \
            v += to_acc4(weights(at)) * u.x + to_acc4(weights(at + 1)) * u.y +                         \
                 to_acc4(weights(at + 2)) * u.z + to_acc4(weights(at + 3)) * u.w;                      \
        }                                                                                              \
        ADD_UP(item, ITEMS, GROUP_X / ITEMS)                                                           \
        if (item == 0 && o < OUT) {                                                                    \
            v = parts[LID0] + to_acc4(weights(FROM + IN * OUT * 4 + o));                               \
            RESULT                                                                                     \
        }                                                                                              \
        BARRIER;                                                                                       \
    }

// weights: of each layer a 4 x 4 block for each slice of inputs and outputs, one vector for each input, and the bias.
const struct gpu_kernel gpu_kernel_dense_pair = {
    .name = "dense_pair",
    .group = {256, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    .params = {"mean", "between"}, // mean: 1 / positions; between: a and b of the first layer's stages
    // Slices of x, of the layer between and of y; the work-items that share a slice of each.
    GPU_CONSTANTS({"INPUTS", 1}, {"HIDDEN", 1}, {"OUTPUTS", 1}, {"ITEMS_X", 1}, {"ITEMS_HIDDEN", 1}, {"ITEMS_Y", 1},
                  {"STAGE_0", 0}, {"STAGE_1", 0}),
    .shared = {"float4 parts[GROUP_X]", "float4 squeezed[INPUTS]", "float4 hidden[HIDDEN]"},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int batch = GROUP1;
        int count = x_w * x_h;
        acc4 v = splatf4(0.0f);
        for (int first = 0; first < INPUTS; first += GROUP_X / ITEMS_X) {
            int row = LID0 / ITEMS_X;
            int from = LID0 - row * ITEMS_X;
            int s = min(first + row, INPUTS - 1);
            int start = (batch * INPUTS + s) * count;
            acc4 w = splatf4(0.0f);
            v = splatf4(0.0f);
            int n = from;
            while (n + 3 * ITEMS_X < count) {
                v += to_acc4(load_x(start + n)) + to_acc4(load_x(start + n + ITEMS_X));
                w += to_acc4(load_x(start + n + 2 * ITEMS_X)) + to_acc4(load_x(start + n + 3 * ITEMS_X));
                n += 4 * ITEMS_X;
            }
            while (n < count) {
                v += to_acc4(load_x(start + n));
                n += ITEMS_X;
            }
            v += w;
            ADD_UP(from, ITEMS_X, 1)
            if (from == 0 && first + row < INPUTS) squeezed[first + row] = parts[LID0] * bits_to_float(P_mean.x);
            BARRIER;
        }
        LAYER(INPUTS, squeezed, HIDDEN, ITEMS_HIDDEN, 0,
              v = stage(STAGE_0, v, bits_to_float(P_between.x), bits_to_float(P_between.y));
              hidden[o] = stage(STAGE_1, v, bits_to_float(P_between.z), bits_to_float(P_between.w));)
        LAYER(HIDDEN, hidden, OUTPUTS, ITEMS_Y, (INPUTS * 4 + 1) * HIDDEN,
              int4 p = mki4(0, 0, o, batch);
              write_y(p, finish(to_real4(v), p));)
    ),
};
// clang-format on
enum { INNER_STAGES = 2 };

// ---- what the nodes are ---------------------------------------------------------------------------------------------

static bool is_one_position(struct gpu_shape shape)
{
    return shape.w == 1 && shape.h == 1;
}

// Returns whether a node is a layer with constant weights from the channels of one position to those of another.
static bool is_dense(const struct gpu_node *node)
{
    if (node->dead || node->op->integers || node->pad_left || node->pad_top || node->pad_mirrors) return false;
    if (node->builtin != kTfLiteBuiltinConv2d && node->builtin != kTfLiteBuiltinFullyConnected) return false;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    const struct gpu_value *bias = node->input_count > 2 ? node->inputs[2] : NULL;
    if (!weights->data || (bias && !bias->data) || y->type == kTfLiteFloat16 || x->type == kTfLiteFloat16) return false;
    return is_one_position(x->shape) && is_one_position(y->shape) && is_one_position(weights->shape) &&
           x->shape.b == y->shape.b && weights->shape.c == x->shape.c && weights->shape.b == y->shape.c;
}

// Returns whether a node is the mean over all positions of each image, without rounding behind it.
static bool is_mean(const struct gpu_node *node)
{
    if (!node || node->dead || node->op->integers || node->epilogue.count) return false;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    if (!is_one_position(y->shape) || x->shape.b != y->shape.b || x->shape.c != y->shape.c || x->rank != 4)
        return false;
    if (y->type == kTfLiteFloat16 || x->type == kTfLiteFloat16) return false;
    if (node->builtin == kTfLiteBuiltinMean) return true;
    const TfLitePoolParams *params = node->params;
    return node->builtin == kTfLiteBuiltinAveragePool2d && !node->pad_left && !node->pad_top &&
           params->filter_width == x->shape.w && params->filter_height == x->shape.h;
}

// Returns whether the stages need no other value, round to no 8 bits, where the last digit of a sum would decide, and
// make numbers of zeros, which is what lanes beyond the channels have, that can be multiplied by zero.
static bool can_be_between(const struct gpu_epilogue *epilogue)
{
    if (epilogue->count > INNER_STAGES || epilogue->residual || gpu_reads_channels(epilogue)) return false;
    for (int s = 0; s < epilogue->count; s++)
        if (epilogue->stages[s].op == GPU_EPI_RSQRT || epilogue->stages[s].op == GPU_EPI_QUANTIZE) return false;
    return true;
}

// ---- whether they are a pair ----------------------------------------------------------------------------------------

struct pair {
    const struct gpu_node *mean, *first, *second; // mean: NULL where it is a dispatch of its own, or none
    int inputs, hidden, outputs;                  // slices
    int group;
};

static int64_t weight_vectors(const struct pair *pair)
{
    return (4 * (int64_t)pair->inputs + 1) * pair->hidden + (4 * (int64_t)pair->hidden + 1) * pair->outputs;
}

// What one compute unit takes to fetch so many vectors, 64 bytes in a cycle at most and half of that as seen.
static int64_t fetch_cycles(const struct gpu_plan *plan, int64_t vectors, int images)
{
    const int units = plan->caps->compute_units > 0 ? plan->caps->compute_units : 16;
    return vectors / 2 * gpu_divide_up(gpu_in_first_batch(plan, images, images), units);
}

static bool fits(const struct gpu_plan *plan, struct pair *pair)
{
    enum { MOST = 256 }; // work-items: NVIDIA's OpenCL takes no more, because of their registers
    const struct gpu_caps *caps = plan->caps;
    pair->group = 32;
    while (2 * pair->group <= MOST && 2 * pair->group <= caps->max_group_size && 2 * pair->group <= caps->max_group[0])
        pair->group *= 2;
    const int64_t shared = 16 * ((int64_t)pair->group + pair->inputs + pair->hidden);
    return shared <= caps->shared_bytes && pair->second->outputs[0]->shape.b <= caps->max_groups[1];
}

// Returns whether one node reads what the other makes, as its first input, and nobody else does.
static bool follows(const struct gpu_node *node, const struct gpu_node *before)
{
    return node->input_count > 0 && node->inputs[0] == before->outputs[0] && gpu_is_private(node->inputs[0]);
}

// Finds the pair of two layers; whether one of them belongs to another pair is not asked.
static bool find_pair(const struct gpu_plan *plan, const struct gpu_node *first, const struct gpu_node *second,
                      struct pair *pair)
{
    if (!is_dense(first) || !can_be_between(&first->epilogue) || !is_dense(second) || !follows(second, first))
        return false;
    const struct gpu_node *mean = first->inputs[0]->producer;
    const struct gpu_shape x = first->inputs[0]->shape;
    *pair = (struct pair){.first = first,
                          .second = second,
                          .inputs = gpu_slices(x),
                          .hidden = gpu_slices(first->outputs[0]->shape),
                          .outputs = gpu_slices(second->outputs[0]->shape)};
    const int64_t step = gpu_step_cycles(plan->caps);
    if (!fits(plan, pair) || fetch_cycles(plan, weight_vectors(pair), x.b) > step) return false;
    if (is_mean(mean) && follows(first, mean)) {
        const struct gpu_shape plane = mean->inputs[0]->shape;
        const int64_t vectors = (int64_t)plane.w * plane.h * pair->inputs;
        if (fetch_cycles(plan, vectors, x.b) <= step) pair->mean = mean;
    }
    return true;
}

// Layers in a row are pairs from the first on.
static bool find_own_pair(const struct gpu_plan *plan, const struct gpu_node *first, const struct gpu_node *second,
                          struct pair *pair)
{
    if (!find_pair(plan, first, second, pair)) return false;
    int pairs = 0;
    struct pair earlier;
    for (const struct gpu_node *before; (before = first->inputs[0]->producer); first = before, pairs++)
        if (!find_pair(plan, before, first, &earlier)) break;
    return pairs % 2 == 0;
}

bool gpu_pair_takes(const struct gpu_plan *plan, const struct gpu_node *node)
{
    struct pair pair;
    const bool mean = is_mean(node);
    if (!mean && !is_dense(node)) return false;
    const struct gpu_node *first = mean ? gpu_graph_only_reader(plan->graph, node->outputs[0]) : node;
    const struct gpu_node *second =
        first && is_dense(first) ? gpu_graph_only_reader(plan->graph, first->outputs[0]) : NULL;
    return second && find_own_pair(plan, first, second, &pair) && (!mean || pair.mean == node);
}

static bool find_end(const struct gpu_plan *plan, const struct gpu_node *node, struct pair *pair)
{
    const struct gpu_node *first = node->inputs[0]->producer;
    return first && find_own_pair(plan, first, node, pair);
}

bool gpu_pair_ends(const struct gpu_plan *plan, const struct gpu_node *node)
{
    struct pair pair;
    return find_end(plan, node, &pair);
}

// ---- the dispatch ---------------------------------------------------------------------------------------------------

// Writes the weights of a layer as the kernel reads them. Returns what is behind them.
static float *pack(const struct gpu_node *layer, float *to)
{
    const struct gpu_value *weights = layer->inputs[1], *bias = layer->input_count > 2 ? layer->inputs[2] : NULL;
    const int inputs = weights->shape.c, outputs = weights->shape.b;
    const int in = gpu_divide_up(inputs, 4), out = gpu_divide_up(outputs, 4);
    for (int o = 0; o < outputs; o++)
        for (int i = 0; i < inputs; i++)
            to[16 * ((int64_t)(i / 4) * out + o / 4) + 4 * (i % 4) + o % 4] = weights->data[(int64_t)o * inputs + i];
    to += 16 * (int64_t)in * out;
    for (int o = 0; o < outputs && bias; o++) to[o] = bias->data[o];
    return to + 4 * (int64_t)out;
}

// How many work-items share one of so many slices, each with so many terms: a power of two.
static int sharers(int group, int slices, int64_t terms)
{
    int items = 1;
    while (2 * items <= terms && group / (2 * items) >= slices) items *= 2;
    return items;
}

bool gpu_plan_pair(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct pair pair;
    if (!find_end(plan, node, &pair)) return gpu_plan_fail(plan, "the node ends no pair of layers");
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)weight_vectors(&pair));
    if (!weights) return false;
    pack(pair.second, pack(pair.first, weights->data));
    const struct gpu_value *x = pair.mean ? pair.mean->inputs[0] : pair.first->inputs[0];
    const int64_t positions = (int64_t)x->shape.w * x->shape.h;
    const struct gpu_epilogue *between = &pair.first->epilogue;
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_dense_pair,
        .operands = {{.value = x}, {.weights = weights}, {.value = node->outputs[0]}},
        .constants = {{"INPUTS", pair.inputs},
                      {"HIDDEN", pair.hidden},
                      {"OUTPUTS", pair.outputs},
                      {"ITEMS_X", sharers(pair.group, pair.inputs, positions)},
                      {"ITEMS_HIDDEN", sharers(pair.group, pair.hidden, pair.inputs)},
                      {"ITEMS_Y", sharers(pair.group, pair.outputs, pair.hidden)},
                      {"STAGE_0", between->count > 0 ? (int)between->stages[0].op : GPU_EPI_NONE},
                      {"STAGE_1", between->count > 1 ? (int)between->stages[1].op : GPU_EPI_NONE}},
        .params = {{gpu_float_bits(1.0f / (float)positions)}},
        .group = {pair.group, 1, 1},
        .grid = {pair.group, x->shape.b, 1},
        .epilogue = &node->epilogue,
    };
    for (int s = 0; s < between->count; s++) {
        desc.params[1][2 * s] = gpu_float_bits(between->stages[s].a);
        desc.params[1][2 * s + 1] = gpu_float_bits(between->stages[s].b);
    }
    return gpu_plan_dispatch(plan, &desc);
}
