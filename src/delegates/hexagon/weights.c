// SPDX-License-Identifier: Apache-2.0
// See weights.h. Weights by channel have the range of the channel with the greatest scale; the others' factors make up
// for it. The processor has no factors below 1/1024: weights of such channels are made smaller here instead.
#include "delegates/hexagon/weights.h"

#include <math.h>
#include <stdlib.h>

static const float least_factor = 1.0f / 1024;

// Scales of the weights; *count is 1 where all channels have the same.
static const float *scales_of(const TfLiteTensor *tensor, int *count)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    bool has = hexagon_by_channel(tensor);
    *count = has ? affine->scale->size : 1;
    return has ? affine->scale->data : &tensor->params.scale;
}

static float greatest_scale(const TfLiteTensor *tensor)
{
    int count;
    const float *scales = scales_of(tensor, &count);
    float greatest = scales[0];
    for (int i = 1; i < count; i++) greatest = fmaxf(greatest, scales[i]);
    return greatest;
}

// ---- checks -------------------------------------------------------------------------------------

static bool check_channels(const struct delegate_view *view, int input, int axis)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    int count;
    const float *scales = scales_of(tensor, &count);
    for (int i = 0; i < count; i++)
        if (!(scales[i] > 0))
            return delegate_refuse(view, DELEGATE_QUANTIZATION, input, "a scale of the weights is not positive");
    if (count == 1) return true;
    bool right = tensor->type == kTfLiteInt8 && affine->quantized_dimension == axis && count == hl_dim(tensor, axis);
    for (int i = 0; right && affine->zero_point && i < affine->zero_point->size; i++)
        right = affine->zero_point->data[i] == 0;
    return right || delegate_refuse(view, DELEGATE_QUANTIZATION, input,
                                    "weights by channel are int8 around 0, with scales along axis %d", axis);
}

bool hexagon_check_weights(const struct delegate_view *view, int data, int weights, int axis)
{
    const TfLiteTensor *values = delegate_input(view, data), *tensor = delegate_input(view, weights);
    if (!hexagon_is_8_bit(values) || !(values->params.scale > 0))
        return delegate_refuse(view, DELEGATE_TYPE, data, "Hexagon computes with 8 bits, this is %s",
                               hl_type_name(values->type));
    if (!hexagon_check_constant(view, weights, values->type)) return false;
    if (tensor->sparsity) return delegate_refuse(view, DELEGATE_TYPE, weights, "the weights are sparse");
    if (hl_rank(tensor) > 4 || hl_rank(tensor) <= axis)
        return delegate_refuse(view, DELEGATE_RANK, weights, "weights of %d dimensions", hl_rank(tensor));
    return check_channels(view, weights, axis);
}

bool hexagon_check_bias(const struct delegate_view *view, int bias)
{
    return !delegate_input(view, bias) || hexagon_check_constant(view, bias, kTfLiteInt32);
}

// ---- weights ------------------------------------------------------------------------------------

// Scales by channel, each for so many weights in a row. count 1: there are none.
struct channels {
    const float *scales;
    int count;
    int64_t row;
    float greatest; // which takes as long to find as there are channels
};

static uint8_t weight_at(const TfLiteTensor *tensor, const struct channels *channels, int64_t index)
{
    if (tensor->type == kTfLiteUInt8) return tensor->data.uint8[index];
    int value = tensor->data.int8[index];
    if (channels->count > 1) {
        float factor = channels->scales[index / channels->row % channels->count] / channels->greatest;
        if (factor < least_factor) value = (int)roundf((float)value * (factor / least_factor));
    }
    return (uint8_t)(value + 128);
}

// Steps of the four dimensions of a tensor, missing ones first.
static void find_strides(const TfLiteTensor *tensor, int64_t strides[4])
{
    struct hexagon_shape shape = hexagon_shape_of(tensor);
    strides[3] = 1;
    for (int i = 3; i > 0; i--) strides[i - 1] = strides[i] * shape.dims[i];
}

void hexagon_add_weights(struct hexagon_graph *graph, const struct hexagon_weights *weights)
{
    static const int as_they_are[4] = {0, 1, 2, 3};
    const TfLiteTensor *tensor = &graph->context->tensors[weights->weights];
    const int *order = weights->order ? weights->order : as_they_are;
    int axis = hexagon_axis(weights->axis, hl_rank(tensor));
    struct hexagon_shape from = hexagon_shape_of(tensor);
    int64_t strides[4];
    find_strides(tensor, strides);
    int64_t start = strides[axis] * weights->first;
    struct channels channels = {.row = hl_product(tensor->dims, weights->axis + 1, hl_rank(tensor)),
                                .greatest = greatest_scale(tensor)};
    channels.scales = scales_of(tensor, &channels.count);
    from.dims[axis] = (unsigned)weights->count;
    size_t size = 1, at = 0;
    for (int i = 0; i < 4; i++) size *= from.dims[i];
    uint8_t *bytes = malloc(size);
    if (!bytes) {
        hexagon_graph_fail(graph, "out of memory");
        return;
    }
    unsigned i[4];
    for (i[0] = 0; i[0] < from.dims[order[0]]; i[0]++)
        for (i[1] = 0; i[1] < from.dims[order[1]]; i[1]++)
            for (i[2] = 0; i[2] < from.dims[order[2]]; i[2]++)
                for (i[3] = 0; i[3] < from.dims[order[3]]; i[3]++) {
                    int64_t index = start;
                    for (int k = 0; k < 4; k++) index += i[k] * strides[order[k]];
                    bytes[at++] = weight_at(tensor, &channels, index);
                }
    hexagon_add_constant(graph, weights->shape, bytes, size);
    free(bytes);
}

void hexagon_add_weights_range(struct hexagon_graph *graph, const struct hexagon_weights *weights)
{
    const TfLiteTensor *tensor = &graph->context->tensors[weights->weights];
    int count;
    scales_of(tensor, &count);
    float greatest = greatest_scale(tensor);
    hexagon_add_ends(graph,
                     count > 1 ? (struct hexagon_range){-128 * greatest, 127 * greatest} : hexagon_range_of(tensor));
}

void hexagon_add_channel_factors(struct hexagon_graph *graph, const struct hexagon_weights *weights)
{
    const TfLiteTensor *tensor = &graph->context->tensors[weights->weights];
    int count;
    const float *scales = scales_of(tensor, &count);
    if (count == 1) return;
    float greatest = greatest_scale(tensor), *factors = malloc((size_t)weights->count * sizeof *factors);
    for (int i = 0; factors && i < weights->count; i++)
        factors[i] = fmaxf(scales[weights->first + i] / greatest, least_factor);
    if (factors)
        hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, (unsigned)weights->count}}, factors,
                             (size_t)weights->count * sizeof *factors);
    else
        hexagon_graph_fail(graph, "out of memory");
    free(factors);
}

// ---- bias ---------------------------------------------------------------------------------------

// Biases of one scale are numbers of that scale; of several, of the greatest one's, with bits to spare for the sum.
static struct hexagon_range scale_bias(const struct hexagon_graph *graph, const struct hexagon_weights *weights,
                                       int32_t *values)
{
    const float *scales;
    int count;
    scales = scales_of(&graph->context->tensors[weights->weights], &count);
    float scale = graph->context->tensors[weights->data].params.scale, greatest = 0;
    if (count == 1)
        return (struct hexagon_range){scale * scales[0] * (float)INT32_MIN, scale * scales[0] * (float)INT32_MAX};
    for (int i = 0; i < weights->count; i++)
        greatest = fmaxf(greatest, fabsf((float)values[i] * scale * scales[weights->first + i]));
    float limit = greatest > 0 ? 8 * greatest : 1;
    for (int i = 0; i < weights->count; i++) {
        double real = (double)values[i] * (double)scale * (double)scales[weights->first + i];
        values[i] = (int32_t)round(real / (double)limit * 2147483648.0);
    }
    return (struct hexagon_range){-limit, limit};
}

hexagon_nn_input hexagon_bias(struct hexagon_graph *graph, const struct hexagon_weights *weights,
                              struct hexagon_range *range)
{
    *range = (struct hexagon_range){0, 1};
    int32_t *values = calloc((size_t)weights->count, sizeof *values);
    if (!values) {
        hexagon_graph_fail(graph, "out of memory");
        return (hexagon_nn_input){0, 0};
    }
    const TfLiteTensor *bias = weights->bias < 0 ? NULL : &graph->context->tensors[weights->bias];
    for (int i = 0; bias && i < weights->count; i++) values[i] = bias->data.i32[weights->first + i];
    *range = scale_bias(graph, weights, values);
    hexagon_nn_input port = hexagon_constant(graph, (struct hexagon_shape){{1, 1, 1, (unsigned)weights->count}}, values,
                                             (size_t)weights->count * sizeof *values);
    free(values);
    return port;
}
