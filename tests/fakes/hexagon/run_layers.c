// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products: sums of integers, then real numbers.
#include <stdlib.h>

#include "fake.h"

// ---- what convolutions have in common -----------------------------------------------------------

// Operands of a convolution; `shift` inputs more come before the strides of a transposed one.
struct layer {
    const struct fake_tensor *data, *weights, *bias, *factors;
    struct fake_scale from, weight, to;
    double bias_step;
    int strides[2];
    int channels;
};

static struct layer read_layer(struct fake_call *call, int shift, int channels)
{
    struct layer layer = {
        .data = fake_in(call, 0),
        .weights = fake_in(call, 1),
        .from = fake_scale(call, 2, 3),
        .weight = fake_scale(call, 4, 5),
        .bias = fake_in(call, 7 + shift),
        .bias_step = fake_step_32(call, 8 + shift, 9 + shift),
        .factors = fake_in(call, 12 + shift),
        .channels = channels,
    };
    fake_window(call, 6 + shift, &layer.strides[0], &layer.strides[1]);
    fake_scale(call, 10 + shift, 11 + shift);
    layer.to = fake_ends(call, 1, fake_float(call, 10 + shift), fake_float(call, 11 + shift));
    fake_hold(call, layer.data->bytes == fake_elements(layer.data->dims), "the data are not bytes");
    fake_hold(call, layer.weights->bytes == fake_elements(layer.weights->dims), "the weights are not bytes");
    fake_hold(call, layer.bias->dims[3] == (unsigned)channels && layer.bias->bytes == 4 * (size_t)channels,
              "the bias has another length");
    fake_hold(call, !layer.factors || layer.factors->bytes == 4 * (size_t)channels, "factors of other channels");
    if (layer.factors)
        for (int i = 0; !call->failed && i < channels; i++)
            fake_hold(call,
                      ((float *)layer.factors->data)[i] >= 0.0009766f - 1e-7f && ((float *)layer.factors->data)[i] <= 1,
                      "a factor is out of range");
    return layer;
}

static uint8_t finish_sum(const struct layer *layer, int channel, int32_t sum)
{
    double factor = layer->factors ? ((float *)layer->factors->data)[channel] : 1;
    return fake_byte(layer->to, sum * layer->from.step * layer->weight.step * factor +
                                    ((int32_t *)layer->bias->data)[channel] * layer->bias_step);
}

// How many results there are along an axis, and how many zeros come before the first element.
static unsigned windows(hexagon_nn_padding_type padding, unsigned size, int filter, int stride, int *before)
{
    *before = 0;
    if (padding == HEXAGON_PAD_VALID)
        return size < (unsigned)filter ? 0 : (size - (unsigned)filter) / (unsigned)stride + 1;
    unsigned count = (size + (unsigned)stride - 1) / (unsigned)stride;
    int total = ((int)count - 1) * stride + filter - (int)size;
    *before = total > 0 ? total / 2 : 0;
    return count;
}

// A window over the data, for each of which `add` adds the products of one of its pixels.
struct walk {
    struct layer layer;
    unsigned dims[4];
    int before[2], filter[2];
};

static bool begin_walk(struct fake_call *call, struct walk *walk, unsigned channels)
{
    const struct fake_tensor *data = walk->layer.data;
    walk->dims[0] = data->dims[0];
    walk->dims[3] = channels;
    for (int i = 0; i < 2; i++) {
        walk->filter[i] = (int)walk->layer.weights->dims[i];
        walk->dims[1 + i] =
            windows(call->node->padding, data->dims[1 + i], walk->filter[i], walk->layer.strides[i], &walk->before[i]);
    }
    return !call->failed;
}

static void add_plain(const struct layer *layer, const uint8_t *pixel, const uint8_t *weights, int32_t *sums)
{
    int from = fake_zero(layer->from), zero = fake_zero(layer->weight), channels = layer->channels;
    for (unsigned i = 0; i < layer->data->dims[3]; i++, weights += channels) {
        int32_t x = pixel[i] - from;
        for (int o = 0; o < channels; o++) sums[o] += x * (weights[o] - zero);
    }
}

static void add_by_channel(const struct layer *layer, const uint8_t *pixel, const uint8_t *weights, int32_t *sums)
{
    int from = fake_zero(layer->from), zero = fake_zero(layer->weight), many = (int)layer->weights->dims[3];
    for (int o = 0; o < layer->channels; o++) sums[o] += (pixel[o / many] - from) * (weights[o] - zero);
}

static void walk_data(const struct walk *walk, uint8_t *result,
                      void (*add)(const struct layer *, const uint8_t *, const uint8_t *, int32_t *))
{
    const struct layer *layer = &walk->layer;
    const unsigned *in = layer->data->dims;
    size_t tap = (size_t)layer->weights->dims[2] * layer->weights->dims[3];
    int32_t *sums = malloc((size_t)layer->channels * sizeof *sums);
    if (!sums) abort();
    for (unsigned position = 0; position < walk->dims[0] * walk->dims[1] * walk->dims[2]; position++) {
        unsigned b = position / (walk->dims[1] * walk->dims[2]);
        int top = (int)(position / walk->dims[2] % walk->dims[1]) * layer->strides[0] - walk->before[0];
        int left = (int)(position % walk->dims[2]) * layer->strides[1] - walk->before[1];
        for (int o = 0; o < layer->channels; o++) sums[o] = 0;
        for (int k = 0; k < walk->filter[0] * walk->filter[1]; k++) {
            int y = top + k / walk->filter[1], x = left + k % walk->filter[1];
            if (y < 0 || y >= (int)in[1] || x < 0 || x >= (int)in[2]) continue;
            add(layer, (uint8_t *)layer->data->data + (((size_t)b * in[1] + (unsigned)y) * in[2] + (unsigned)x) * in[3],
                (uint8_t *)layer->weights->data + (size_t)k * tap, sums);
        }
        for (int o = 0; o < layer->channels; o++) *result++ = finish_sum(layer, o, sums[o]);
    }
    free(sums);
}

void fake_run_convolve(struct fake_call *call)
{
    unsigned channels = fake_in(call, 1)->dims[3];
    struct walk walk = {.layer = read_layer(call, 0, (int)channels)};
    fake_hold(call, walk.layer.weights->dims[2] == walk.layer.data->dims[3], "the weights are of another depth");
    if (!begin_walk(call, &walk, channels)) return;
    uint8_t *result = fake_result(call, walk.dims, 1);
    if (result) walk_data(&walk, result, add_plain);
}

void fake_run_convolve_depthwise(struct fake_call *call)
{
    const struct fake_tensor *weights = fake_in(call, 1);
    unsigned channels = weights->dims[2] * weights->dims[3];
    struct walk walk = {.layer = read_layer(call, 0, (int)channels)};
    fake_hold(call, weights->dims[2] == walk.layer.data->dims[3], "the weights are of another depth");
    fake_hold(call, weights->dims[0] >= 2, "a filter of height 1");
    if (!begin_walk(call, &walk, channels)) return;
    uint8_t *result = fake_result(call, walk.dims, 1);
    if (result) walk_data(&walk, result, add_by_channel);
}

// ---- transposed convolutions --------------------------------------------------------------------

// The sum of one element of the result: weights are [channels, height, width, depth].
static int32_t gather(const struct layer *layer, const int pads[4], unsigned b, const int at[2], int channel)
{
    const unsigned *in = layer->data->dims, *size = layer->weights->dims;
    int32_t sum = 0;
    for (unsigned k = 0; k < size[1] * size[2]; k++) {
        int y = at[0] + pads[0] - (int)(k / size[2]), x = at[1] + pads[2] - (int)(k % size[2]);
        if (y < 0 || x < 0 || y % layer->strides[0] || x % layer->strides[1]) continue;
        y /= layer->strides[0];
        x /= layer->strides[1];
        if (y >= (int)in[1] || x >= (int)in[2]) continue;
        const uint8_t *pixel =
            (uint8_t *)layer->data->data + (((size_t)b * in[1] + (unsigned)y) * in[2] + (unsigned)x) * in[3];
        const uint8_t *weights = (uint8_t *)layer->weights->data + ((size_t)channel * size[1] * size[2] + k) * size[3];
        for (unsigned i = 0; i < in[3]; i++)
            sum += (pixel[i] - fake_zero(layer->from)) * (weights[i] - fake_zero(layer->weight));
    }
    return sum;
}

void fake_run_convolve_transposed(struct fake_call *call)
{
    const struct fake_tensor *data = fake_in(call, 0), *weights = fake_in(call, 1);
    struct layer layer = read_layer(call, 1, (int)weights->dims[0]);
    int pads[4];
    fake_ints(call, 6, 4, pads);
    fake_hold(call, weights->dims[3] == data->dims[3], "the weights are of another depth");
    unsigned dims[4] = {data->dims[0], 0, 0, weights->dims[0]};
    for (int i = 0; i < 2; i++) {
        int size =
            ((int)data->dims[1 + i] - 1) * layer.strides[i] + (int)weights->dims[1 + i] - pads[2 * i] - pads[2 * i + 1];
        fake_hold(call, pads[2 * i] >= 0 && pads[2 * i + 1] >= 0 && size > 0, "the padding is wrong");
        dims[1 + i] = (unsigned)size;
    }
    uint8_t *result = call->failed ? NULL : fake_result(call, dims, 1);
    for (unsigned position = 0; result && position < dims[0] * dims[1] * dims[2]; position++) {
        int at[2] = {(int)(position / dims[2] % dims[1]), (int)(position % dims[2])};
        for (int o = 0; o < layer.channels; o++)
            *result++ = finish_sum(&layer, o, gather(&layer, pads, position / (dims[1] * dims[2]), at, o));
    }
}

// ---- matrix products ----------------------------------------------------------------------------

void fake_run_matrix_product(struct fake_call *call)
{
    const struct fake_tensor *data = fake_in(call, 0), *weights = fake_in(call, 1);
    struct fake_scale from = fake_scale(call, 2, 3), weight = fake_scale(call, 4, 5);
    double step = from.step * weight.step;
    fake_ends(call, 1, -2147483648.0 * step, 2147483648.0 * step);
    fake_hold(call, data->dims[0] == 1 && data->dims[1] == 1 && weights->dims[0] == 1 && weights->dims[1] == 1,
              "a matrix has more than two dimensions");
    fake_hold(call, data->dims[3] == weights->dims[2], "the matrices do not fit each other");
    fake_hold(call, data->bytes == fake_elements(data->dims) && weights->bytes == fake_elements(weights->dims),
              "a matrix is not of bytes");
    unsigned rows = data->dims[2], depth = data->dims[3], columns = weights->dims[3];
    int32_t *result = call->failed ? NULL : fake_result(call, (unsigned[]){1, 1, rows, columns}, 4);
    for (unsigned r = 0; result && r < rows; r++, result += columns) {
        for (unsigned c = 0; c < columns; c++) result[c] = 0;
        for (unsigned i = 0; i < depth; i++) {
            int32_t x = ((uint8_t *)data->data)[r * depth + i] - fake_zero(from);
            const uint8_t *row = (uint8_t *)weights->data + (size_t)i * columns;
            for (unsigned c = 0; c < columns; c++) result[c] += x * (row[c] - fake_zero(weight));
        }
    }
}

void fake_run_add_bias(struct fake_call *call)
{
    const struct fake_tensor *sums = fake_in(call, 0), *bias = fake_in(call, 1);
    double step = fake_step_32(call, 2, 3), bias_step = fake_step_32(call, 4, 5);
    fake_ends(call, 1, fake_float(call, 2), fake_float(call, 3));
    unsigned depth = sums->dims[3];
    fake_hold(call, sums->bytes == 4 * fake_elements(sums->dims), "the sums are not of 32 bits");
    fake_hold(call, bias->dims[3] == depth && bias->bytes == 4 * (size_t)depth, "the bias has another length");
    int32_t *result = call->failed ? NULL : fake_result(call, sums->dims, 4);
    for (size_t i = 0; result && i < fake_elements(sums->dims); i++)
        result[i] = fake_round_32(((int32_t *)sums->data)[i] + ((int32_t *)bias->data)[i % depth] * bias_step / step);
}
