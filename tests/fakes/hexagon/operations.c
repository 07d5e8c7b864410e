// SPDX-License-Identifier: Apache-2.0
// The operations that there are, with how many inputs and outputs each has, and what their computing has in common:
// reading operands, and checking that results have the declared shapes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

// clang-format off
#define ROW(name, least, most, outputs, padding, run) {HEXAGON_##name, #name, least, most, outputs, padding, fake_run_##run}
static const struct fake_operation operations[] = {
    ROW(QuantizedAdd_8p8to8,          6,  8,  3,  PADDING_NONE,   add),
    ROW(QuantizedSub_8p8to8,          6,  8,  3,  PADDING_NONE,   sub),
    ROW(QuantizedMul_8x8to32,         6,  6,  3,  PADDING_NONE,   multiply),
    ROW(QuantizedDiv_8,               8,  8,  3,  PADDING_NONE,   divide),
    ROW(QuantizedMaximum_8,           8,  8,  3,  PADDING_NONE,   maximum),
    ROW(QuantizedMinimum_8,           8,  8,  3,  PADDING_NONE,   minimum),
    ROW(QuantizedRelu_8,              3,  3,  3,  PADDING_NONE,   relu),
    ROW(QuantizedReluX_8,             4,  4,  3,  PADDING_NONE,   relu_x),
    ROW(QuantizedSigmoid_8,           3,  3,  3,  PADDING_NONE,   sigmoid),
    ROW(QuantizedTanh_8,              3,  3,  3,  PADDING_NONE,   tanh),
    ROW(QuantizedSoftmax_8,           4,  4,  3,  PADDING_NONE,   softmax),
    ROW(QuantizedNeg_8,               3,  3,  3,  PADDING_NONE,   negate),
    ROW(QuantizedSqrt_8,              3,  3,  3,  PADDING_NONE,   square_root),
    ROW(L2Normalize_8,                3,  3,  3,  PADDING_NONE,   l2_normalize),
    ROW(QuantizedHardSwish_8,         5,  5,  3,  PADDING_NONE,   hard_swish),
    ROW(Requantize_8to8,              5,  5,  3,  PADDING_NONE,   requantize_8),
    ROW(Requantize_32to8,             5,  5,  3,  PADDING_NONE,   requantize_32),
    ROW(Quantized_CastInt8ToUInt8,    3,  3,  3,  PADDING_NONE,   cast),
    ROW(Quantized_CastUInt8ToInt8,    3,  3,  3,  PADDING_NONE,   cast),
    ROW(Supernode_8x8p32to8,          12, 13, 3,  PADDING_EDGES,  convolve),
    ROW(DepthwiseSupernode_8x8p32to8, 12, 13, 3,  PADDING_EDGES,  convolve_depthwise),
    ROW(QuantizedTransposeConv2d,     13, 14, 3,  PADDING_NONE,   convolve_transposed),
    ROW(QuantizedMatMul_8x8to32,      6,  6,  3,  PADDING_NONE,   matrix_product),
    ROW(QuantizedBiasAdd_32p32to32,   6,  6,  3,  PADDING_NONE,   add_bias),
    ROW(QuantizedMaxPool_8,           5,  5,  3,  PADDING_EDGES,  max_pool),
    ROW(QuantizedAvgPool_8,           5,  5,  3,  PADDING_EDGES,  average_pool),
    ROW(QuantizedMean_8,              6,  6,  3,  PADDING_NONE,   mean),
    ROW(ArgMax_8toInt32,              4,  4,  1,  PADDING_NONE,   arg_max),
    ROW(ArgMin_8toInt32,              4,  4,  1,  PADDING_NONE,   arg_min),
    ROW(QuantizedResizeBilinear_8,    6,  6,  3,  PADDING_NONE,   resize_bilinear),
    ROW(ResizeNearestNeighbor_8,      6,  6,  3,  PADDING_NONE,   resize_nearest),
    ROW(QuantizedConcat_8,            4,  -1, 3,  PADDING_NONE,   concat),
    ROW(QuantizedPack_8,              4,  -1, 3,  PADDING_NONE,   pack),
    ROW(QuantizedSplit_8,             4,  4,  -1, PADDING_NONE,   split),
    ROW(QuantizedSlice_8,             5,  5,  3,  PADDING_NONE,   slice),
    ROW(QuantizedStridedSlice_8,      9,  9,  3,  PADDING_NONE,   strided_slice),
    ROW(QuantizedPad_8,               4,  4,  3,  PADDING_NONE,   pad),
    ROW(MirrorPad_8,                  4,  4,  3,  PADDING_MIRROR, mirror_pad),
    ROW(Reshape,                      2,  2,  1,  PADDING_NONE,   reshape),
    ROW(Transpose_8,                  4,  4,  3,  PADDING_NONE,   transpose),
    ROW(SpaceToBatchND_8,             5,  5,  3,  PADDING_NONE,   space_to_batch),
    ROW(BatchToSpaceND_8,             5,  5,  3,  PADDING_NONE,   batch_to_space),
    ROW(SpaceToDepth_8,               4,  4,  3,  PADDING_NONE,   space_to_depth),
    ROW(DepthToSpace_8,               4,  4,  3,  PADDING_NONE,   depth_to_space),
};
// clang-format on

const struct fake_operation *fake_find_operation(unsigned number)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].number == number) return &operations[i];
    return NULL;
}

static bool padding_is_right(enum fake_padding wanted, hexagon_nn_padding_type padding)
{
    switch (wanted) {
    case PADDING_EDGES: return padding == HEXAGON_PAD_SAME || padding == HEXAGON_PAD_VALID;
    case PADDING_MIRROR: return padding == HEXAGON_PAD_MIRROR_REFLECT || padding == HEXAGON_PAD_MIRROR_SYMMETRIC;
    default: return padding == HEXAGON_PAD_NA;
    }
}

bool fake_run_node(const struct fake_graph *graph, struct fake_node *node, bool dry)
{
    struct fake_call call = {graph, node, fake_find_operation(node->operation), dry, false};
    const struct fake_operation *operation = call.operation;
    if (!operation) {
        fake_complain(__func__, 0, "there is no operation %u", node->operation);
        return false;
    }
    fake_hold(&call, node->input_count >= operation->least_inputs, "too few inputs");
    fake_hold(&call, operation->most_inputs < 0 || node->input_count <= operation->most_inputs, "too many inputs");
    fake_hold(&call, operation->outputs < 0 ? node->output_count >= 3 : node->output_count == operation->outputs,
              "another number of outputs");
    fake_hold(&call, padding_is_right(operation->padding, node->padding), "another kind of padding");
    if (!call.failed) operation->run(&call);
    return !call.failed;
}

// ---- operands -----------------------------------------------------------------------------------

bool fake_hold(struct fake_call *call, bool condition, const char *what)
{
    if (!condition && !call->failed) {
        fake_complain(call->operation->name, 0, "node %u: %s", call->node->id, what);
        call->failed = true;
    }
    return condition;
}

static const struct fake_tensor *scalar(struct fake_call *call, int index)
{
    const struct fake_tensor *tensor = fake_in(call, index);
    bool right = tensor && fake_elements(tensor->dims) == 1 && tensor->bytes == 4;
    return fake_hold(call, right, "an input is no scalar") ? tensor : NULL;
}

float fake_float(struct fake_call *call, int index)
{
    float value = 0;
    const struct fake_tensor *tensor = scalar(call, index);
    if (tensor) memcpy(&value, tensor->data, sizeof value);
    return value;
}

int fake_int(struct fake_call *call, int index)
{
    int32_t value = 0;
    const struct fake_tensor *tensor = scalar(call, index);
    if (tensor) memcpy(&value, tensor->data, sizeof value);
    return value;
}

void fake_ints(struct fake_call *call, int index, int count, int *values)
{
    const struct fake_tensor *tensor = fake_in(call, index);
    memset(values, 0, (size_t)count * sizeof *values);
    bool right = tensor && fake_elements(tensor->dims) == (size_t)count && tensor->bytes == (size_t)count * 4;
    if (fake_hold(call, right, "a list has another length")) memcpy(values, tensor->data, tensor->bytes);
}

void fake_window(struct fake_call *call, int index, int *height, int *width)
{
    const struct fake_tensor *tensor = fake_in(call, index);
    *height = *width = 1;
    if (!fake_hold(call, tensor && tensor->dims[0] == 1 && tensor->dims[3] == 1, "a window is not [1, h, w, 1]"))
        return;
    *height = (int)tensor->dims[1];
    *width = (int)tensor->dims[2];
}

struct fake_scale fake_scale(struct fake_call *call, int min, int max)
{
    double low = fake_float(call, min), high = fake_float(call, max);
    // What nodes compute is known only when they run.
    if (call->dry && !(low < high)) return (struct fake_scale){0, 1};
    fake_hold(call, low < high && isfinite(low) && isfinite(high), "a range is empty");
    struct fake_scale scale = {low, low < high ? (high - low) / 255 : 1};
    // A range that has a byte for 0 has one for exactly 0.
    double zero = floor(-scale.low / scale.step + 0.5);
    if (fabs(scale.low + scale.step * zero) < scale.step * 1e-3) scale.low = -scale.step * zero;
    return scale;
}

unsigned char fake_byte(struct fake_scale scale, double value)
{
    double byte = floor((value - scale.low) / scale.step + 0.5);
    return byte > 255 ? 255 : byte > 0 ? (unsigned char)byte : 0;
}

double fake_step_32(struct fake_call *call, int min, int max)
{
    double low = fake_float(call, min), high = fake_float(call, max);
    if (!call->dry) fake_hold(call, low < high && isfinite(low) && isfinite(high), "a range is empty");
    return (high - low) / 4294967296.0;
}

int32_t fake_round_32(double value)
{
    value = floor(value + 0.5);
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

// ---- results ------------------------------------------------------------------------------------

void *fake_result_at(struct fake_call *call, int index, const unsigned dims[4], unsigned element)
{
    struct fake_tensor *tensor = &call->node->outputs[index];
    const hexagon_nn_output *declared = &call->node->declared[index];
    fake_hold(call, memcmp(dims, declared->max_sizes, 4 * sizeof *dims) == 0,
              "a result has another shape than declared");
    fake_hold(call, declared->elementsize == element, "a result has other elements than declared");
    if (call->failed) return NULL;
    memcpy(tensor->dims, dims, sizeof tensor->dims);
    tensor->element = element;
    tensor->bytes = fake_elements(dims) * element;
    if (!tensor->data) tensor->data = calloc(1, tensor->bytes);
    if (!tensor->data) abort();
    return call->dry ? NULL : tensor->data;
}

void *fake_result(struct fake_call *call, const unsigned dims[4], unsigned element)
{
    return fake_result_at(call, 0, dims, element);
}

struct fake_scale fake_ends(struct fake_call *call, int first, double min, double max)
{
    static const unsigned one[4] = {1, 1, 1, 1};
    const float ends[2] = {(float)min, (float)max};
    for (int i = 0; i < 2; i++) {
        void *to = fake_result_at(call, first + i, one, sizeof(float));
        if (to) memcpy(to, &ends[i], sizeof ends[i]);
    }
    if (!call->dry) fake_hold(call, ends[0] < ends[1], "the range of the result is empty");
    return (struct fake_scale){ends[0], ends[0] < ends[1] ? ((double)ends[1] - (double)ends[0]) / 255 : 1};
}
