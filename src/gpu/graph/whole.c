// SPDX-License-Identifier: Apache-2.0
// See quantize.h. A value is whole if the device stores the codes of its 8 bits less their zero point, in place of
// those times the scale. Then the weights of the nodes that read it become whole as well, their sums are whole and
// exact as long as they are below 2^24, and the first stage rescales them. That pays in three ways: sums do not depend
// on their order, so that a kernel may fuse where it likes; halves hold both operands exactly, so that matrix units
// need one product in place of two or three; and results are those of the CPU's integers, but for about one sum in a
// million whose rescaling needs more than 24 bits.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/rescale.h"
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "gpu/graph/quantize.h"

enum { MOST = 255 }; // of the size of a code less its zero point

// ---- sums and their scales ------------------------------------------------------------------------------------------

static float scale_of(const struct gpu_value *weights, int output)
{
    return weights->scales->data[weights->scales->size == 1 ? 0 : output];
}

// The stage that rounds sums to codes: the first, or the second behind a clamp, which may as well clamp the codes.
// -1: there is none, or no room for one more.
static int rounding_of(const struct gpu_node *node)
{
    const struct gpu_epilogue *epilogue = &node->epilogue;
    const enum gpu_epilogue_op first = epilogue->stages[0].op;
    const bool clamps = first == GPU_EPI_RELU || first == GPU_EPI_RELU6 || first == GPU_EPI_RELU_N1_TO_1;
    const int rounding = epilogue->count > 1 && clamps;
    if (node->op->weighted.rounds_once && epilogue->count + 2 > GPU_EPILOGUE_STAGES) return -1;
    return epilogue->count > 0 && epilogue->stages[rounding].op == GPU_EPI_QUANTIZE ? rounding : -1;
}

// As the CPU multiplies them: those of uint8 in floats, where it goes on in fixed point.
static double scale_of_sums(const struct gpu_node *node, float weights)
{
    const struct gpu_quantization *q = &node->inputs[node->op->weighted.x]->quantization;
    const bool in_floats = q->type == kTfLiteUInt8 && !node->op->weighted.rounds_once;
    return in_floats ? (double)(q->scale * weights) : (double)q->scale * (double)weights;
}

// The rescale of sums to codes where they are rounded at once, else to real numbers.
static double factor_of_sums(const struct gpu_node *node, float weights)
{
    const int rounding = rounding_of(node);
    const double scale = scale_of_sums(node, weights);
    return rounding < 0 ? scale : scale / (double)node->epilogue.stages[rounding].a;
}

// ---- nodes that can read a whole value ------------------------------------------------------------------------------

// The weights of an output: `count` of them, `apart`, and so far from those of the next output.
struct weights_of_output {
    int64_t count, apart, next;
};

static struct weights_of_output weights_of_outputs(const struct gpu_node *node, const struct gpu_value *weights)
{
    const int64_t count = gpu_elements(weights->shape) / node->outputs[0]->shape.c;
    const bool depthwise = node->op->weighted.depthwise;
    return (struct weights_of_output){count, depthwise ? weights->shape.c : 1, depthwise ? 1 : count};
}

// The whole number that is nearest to one that is not large.
static inline int nearest(float number)
{
    return (int)(number + (number < 0 ? -0.5f : 0.5f));
}

static bool are_whole(const float *weights, const struct weights_of_output *of, float scale)
{
    const float inverse = 1 / scale;
    if (!(scale > 0 && isnormal(scale) && isnormal(inverse))) return false;
    bool whole = true;
    for (int64_t i = 0; i < of->count && whole; i++) {
        const float weight = weights[i * of->apart], code = weight * inverse;
        whole = fabsf(code) < MOST + 0.5f && (float)nearest(code) * scale == weight;
    }
    return whole;
}

// Whether floats and fixed point can multiply with it.
static bool is_factor(double factor)
{
    return factor > 0 && factor <= MOST && isnormal((float)factor);
}

static bool has_whole_weights(const struct gpu_node *node, const struct gpu_value *weights)
{
    const int outputs = node->outputs[0]->shape.c;
    if (!weights->data || !weights->scales || (weights->scales->size != 1 && weights->scales->size != outputs))
        return false;
    const struct weights_of_output of = weights_of_outputs(node, weights);
    bool whole = true;
    for (int o = 0; o < outputs && whole; o++) {
        const float scale = scale_of(weights, o);
        whole = are_whole(weights->data + o * of.next, &of, scale) && is_factor(scale_of_sums(node, scale)) &&
                is_factor(factor_of_sums(node, scale));
    }
    return whole;
}

// Whether a node sums products of one input, which may be whole, and of constant codes.
static bool can_count(const struct gpu_node *node)
{
    const struct gpu_weighted *in = &node->op->weighted;
    if (!in->weights || node->op->integers || node->epilogue.count == GPU_EPILOGUE_STAGES) return false;
    const struct gpu_value *x = node->inputs[in->x];
    return x && !x->data && x->quantization.scale > 0 && gpu_has_constant_weights(node) &&
           has_whole_weights(node, node->inputs[in->weights]);
}

// ---- values that can be whole --------------------------------------------------------------------------------------

// Whether the last stage of a node makes multiples of its output's scale of whole numbers.
static bool rounds_last(const struct gpu_node *node, const struct gpu_value *output)
{
    const int last = node->epilogue.count - 1;
    return last >= 0 && node->output_count == 1 && node->epilogue.stages[last].op == GPU_EPI_QUANTIZE &&
           node->epilogue.stages[last].a == output->quantization.scale;
}

// Whether the node only moves codes: what it fills with is a real number.
static bool moves_codes(const struct gpu_node *node)
{
    return node->output_count == 1 && !gpu_fill_of(node) && gpu_keeps_codes(node, node->outputs[0]);
}

// Whether the value's elements are codes of 8 bits and nobody but nodes of the graph sees them.
static bool can_be_whole(const struct gpu_value *value)
{
    const int zero = gpu_code_zero(&value->quantization);
    if (value->data || value->codes || value->is_output || value->is_checked || value->quantization.scale <= 0)
        return false;
    if (zero < INT8_MIN || zero > INT8_MAX) return false;
    if (value->is_input) return gpu_caller_format(value) == GPU_FORMAT_BYTES;
    return value->producer && (rounds_last(value->producer, value) || moves_codes(value->producer));
}

// The stage that reads the residual, if it is this one; -1: another one does.
static int stage_of_residual(const struct gpu_epilogue *epilogue, enum gpu_epilogue_op op)
{
    for (int s = 0; s < epilogue->count; s++)
        if (epilogue->stages[s].op == op && !epilogue->stages[s].channels) return s;
    return -1;
}

// Takes the mark of values that a node of another kind reads or writes. Returns whether one lost it.
static bool restrict_to(const struct gpu_node *node, bool counts, bool *whole)
{
    bool changed = false, moves = moves_codes(node);
    const int id = moves ? node->outputs[0]->id : 0;
    for (int i = 0; i < node->input_count; i++) {
        const struct gpu_value *input = node->inputs[i];
        if (!input || !whole[input->id]) continue;
        const bool may = moves ? whole[id] : counts && i == node->op->weighted.x;
        changed = changed || !may;
        whole[input->id] = may;
    }
    for (int i = 0; i < node->input_count && moves; i++) {
        const struct gpu_value *input = node->inputs[i];
        const bool real = input && !input->data && input->quantization.scale > 0 && !whole[input->id];
        changed = changed || (real && whole[id]);
        whole[id] = whole[id] && !real;
    }
    const struct gpu_value *residual = node->epilogue.residual;
    if (residual && whole[residual->id] && stage_of_residual(&node->epilogue, GPU_EPI_ADD_VALUE) < 0) {
        changed = true;
        whole[residual->id] = false;
    }
    return changed;
}

// ---- the change -----------------------------------------------------------------------------------------------------

// The same clamp of codes whose scale is `step`.
static void clamp_codes(struct gpu_epilogue *epilogue, int stage, float step)
{
    const enum gpu_epilogue_op op = epilogue->stages[stage].op;
    if (op == GPU_EPI_RELU) return;
    epilogue->stages[stage].op = GPU_EPI_CLAMP;
    epilogue->stages[stage].a = op == GPU_EPI_RELU6 ? 0 : -roundf(1 / step);
    epilogue->stages[stage].b = roundf((op == GPU_EPI_RELU6 ? 6 : 1) / step);
}

// Puts the scales of whole sums first. Where the sums would be rounded to codes at once, they become codes there, and
// another stage makes real numbers of these.
static void put_first(struct gpu_node *node, const struct gpu_value *scales)
{
    struct gpu_epilogue *epilogue = &node->epilogue;
    const int rounding = rounding_of(node), more = rounding >= 0 && node->op->weighted.rounds_once ? 2 : 1;
    memmove(epilogue->stages + more, epilogue->stages, (size_t)epilogue->count * sizeof *epilogue->stages);
    epilogue->count += more;
    epilogue->stages[0].op = rounding < 0 || more > 1 ? GPU_EPI_MUL_VALUE : GPU_EPI_RESCALE;
    epilogue->stages[0].channels = scales;
    if (rounding < 0) return;
    const int real = rounding + more;
    epilogue->stages[more - 1].b = epilogue->stages[real].b;
    if (more > 1) {
        epilogue->stages[1].op = GPU_EPI_WHOLE;
        epilogue->stages[1].a = 1;
        epilogue->stages[1].channels = NULL;
    }
    if (rounding == 1) clamp_codes(epilogue, more, epilogue->stages[real].a);
    epilogue->stages[real].op = GPU_EPI_SCALE_SHIFT;
    epilogue->stages[real].b = 0;
}

// The output of a node whose last stage rounds becomes whole.
static void end_whole(struct gpu_epilogue *own)
{
    if (own->stages[own->count - 1].op == GPU_EPI_QUANTIZE)
        own->stages[own->count - 1].op = GPU_EPI_WHOLE;
    else
        own->count--; // what made real numbers of codes
}

// A whole residual is multiplied by its scale before it is added.
static void add_whole(struct gpu_epilogue *epilogue)
{
    const int stage = stage_of_residual(epilogue, GPU_EPI_ADD_VALUE);
    epilogue->stages[stage].op = GPU_EPI_ADD_WHOLE;
    epilogue->stages[stage].a = epilogue->residual->quantization.scale;
}

static inline float floor_of(float number)
{
    const float whole = (float)(int32_t)number;
    return whole > number ? whole - 1 : whole;
}

// What RESCALE multiplies with (gpu/lang/epilogue.def).
struct rescale {
    float fine, ratio;
};

static struct rescale rescale_of(float factor)
{
    const float power = hl_float_from_bits(hl_float_bits(factor) & 0x7f800000), fine = power < 0.5f ? 2 * power : 1;
    return (struct rescale){fine, factor / fine};
}

// RESCALE without its clamp, of a sum that it does not take out of 32 bits.
static inline int rescaled(int32_t sum, const struct rescale *rescale)
{
    return nearest(floor_of((float)sum * rescale->ratio + 0.5f) * rescale->fine);
}

// How many of the steps from one output to the next come at another sum than on the CPU, counted up to `most`.
static int steps_amiss(const int32_t *first, int count, int lowest, float factor, int most)
{
    const struct rescale rescale = rescale_of(factor);
    int amiss = 0;
    for (int k = 0; k < count && amiss < most; k++) {
        const int least = lowest + 1 + k;
        amiss += rescaled(first[k], &rescale) < least || rescaled(first[k] - 1, &rescale) >= least;
    }
    return amiss;
}

// The 24 bits of a float do for the CPU's 31 where each output comes at the same sums. Rounding does not find the best
// of the floats beside `real` for that: they are tried, the nearest first. (Of the first depthwise layer of AutoML's
// 8-bit image labeler 4e-5 of the outputs were a step off with the nearest, none is so.)
static float factor_of(double real, int lowest)
{
    enum { CODES = 255, TRIED = 5, MOST_SUM = 1 << 24 };
    const struct hl_rescale rescale = hl_rescale_from(real);
    const double inverse = 1 / real;
    int32_t first[CODES]; // sum of each output but the lowest
    int count = 0;
    for (; count < CODES; count++) {
        const int output = lowest + 1 + count;
        const double about = ((double)output - 0.5) * inverse;
        if (!(fabs(about) < MOST_SUM)) break;
        int32_t sum = (int32_t)about;
        while (hl_rescale_apply(sum, rescale) >= output) sum--;
        while (hl_rescale_apply(sum, rescale) < output) sum++;
        first[count] = sum;
    }
    float best = (float)real;
    int fewest = steps_amiss(first, count, lowest, best, count);
    for (int n = 1; n < TRIED && fewest > 0; n++) {
        const int32_t beside = n % 2 ? (n + 1) / 2 : -n / 2;
        const float tried = hl_float_from_bits(hl_float_bits((float)real) + (uint32_t)beside);
        const int amiss = steps_amiss(first, count, lowest, tried, fewest);
        if (amiss < fewest) best = tried, fewest = amiss;
    }
    return best;
}

// What an output's whole sums are multiplied with.
static float scale_of_output(const struct gpu_node *node, float weights)
{
    const int rounding = rounding_of(node);
    const double factor = factor_of_sums(node, weights);
    const bool once = rounding < 0 || node->op->weighted.rounds_once;
    return once ? (float)factor : factor_of(factor, (int)node->epilogue.stages[rounding].b);
}

// Divides the node's weights and bias by their scales, and multiplies its sums with these. False without memory.
static bool count_sums(struct gpu_graph *graph, struct gpu_node *node)
{
    const struct gpu_weighted *in = &node->op->weighted;
    struct gpu_value *real = node->inputs[in->weights];
    const int outputs = node->outputs[0]->shape.c;
    const struct weights_of_output of = weights_of_outputs(node, real);
    struct gpu_value *scales = gpu_graph_add_constant(graph, "scales", (struct gpu_shape){1, 1, 1, outputs});
    struct gpu_value *bias = scales ? gpu_copy_bias(graph, node) : NULL;
    const bool alone = real->consumers == 1 && !real->is_kept;
    struct gpu_value *weights = alone ? real : gpu_copy_weights(graph, real);
    if (!bias || !weights) return false;
    for (int o = 0; o < outputs; o++) {
        float *own = weights->data + o * of.next;
        const float scale = scale_of(real, o), inverse = 1 / scale;
        for (int64_t i = 0; i < of.count; i++) own[i * of.apart] = (float)nearest(own[i * of.apart] * inverse);
        bias->data[o] = (float)rint((double)bias->data[o] / scale_of_sums(node, scale));
        const bool again = o > 0 && scale == scale_of(real, o - 1);
        scales->data[o] = again ? scales->data[o - 1] : scale_of_output(node, scale);
    }
    put_first(node, scales);
    gpu_replace_input(node, in->weights, weights);
    gpu_replace_input(node, in->bias, bias);
    return true;
}

bool gpu_graph_use_whole_numbers(struct gpu_graph *graph)
{
    bool *whole = calloc((size_t)graph->value_count + (size_t)graph->node_count + 1, sizeof *whole);
    if (!whole) return false;
    bool *counts = whole + graph->value_count, ok = true;
    const int values = graph->value_count;
    for (int v = 0; v < values; v++) whole[v] = can_be_whole(graph->values[v]);
    for (int n = 0; n < graph->node_count; n++) counts[n] = !graph->nodes[n]->dead && can_count(graph->nodes[n]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int n = 0; n < graph->node_count; n++)
            if (!graph->nodes[n]->dead) changed = restrict_to(graph->nodes[n], counts[n], whole) || changed;
    }
    for (int n = 0; n < graph->node_count && ok; n++) {
        struct gpu_node *node = graph->nodes[n];
        if (node->dead) continue;
        if (node->epilogue.residual && whole[node->epilogue.residual->id]) add_whole(&node->epilogue);
        if (counts[n] && whole[node->inputs[node->op->weighted.x]->id]) ok = count_sums(graph, node);
    }
    for (int v = 0; v < values && ok; v++) {
        struct gpu_value *value = graph->values[v];
        value->whole = whole[v];
        if (whole[v] && value->producer && !moves_codes(value->producer)) end_whole(&value->producer->epilogue);
    }
    free(whole);
    return ok;
}
