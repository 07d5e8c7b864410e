// SPDX-License-Identifier: Apache-2.0
// Layers with weights: CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and FULLY_CONNECTED.
#include "delegates/hexagon/weights.h"

static hexagon_nn_padding_type padding_of(TfLitePadding padding)
{
    return padding == kTfLitePaddingSame ? HEXAGON_PAD_SAME : HEXAGON_PAD_VALID;
}

static bool check_plane(const struct delegate_view *view, int data)
{
    return (hl_rank(delegate_input(view, data)) == 4 && hl_rank(delegate_output(view, 0)) == 4) ||
           delegate_refuse(view, DELEGATE_RANK, data, "a layer of %d dimensions", hl_rank(delegate_input(view, data)));
}

// What follows the strides: the bias, the range of the result, and the factors of channels.
static void add_tail(struct hexagon_graph *graph, const struct hexagon_weights *weights, struct hexagon_range range)
{
    struct hexagon_range bias;
    hexagon_add(graph, hexagon_bias(graph, weights, &bias));
    hexagon_add_ends(graph, bias);
    hexagon_add_ends(graph, range);
    hexagon_add_channel_factors(graph, weights);
}

// What each of these layers has: its output, and its weights as they lie in the tensor.
struct layer {
    int out;
    struct hexagon_shape shape, kernel; // of the output and the weights
    struct hexagon_range range;         // of the output, after the activation
    struct hexagon_weights weights;
};

// The weights are input 1; `data` and `bias` are inputs too. Outputs lie along the first axis of the weights.
static struct layer read_layer(const struct hexagon_node *node, int data, int bias, TfLiteFusedActivation activation)
{
    int out = hexagon_out(node, 0);
    struct hexagon_shape kernel = hexagon_shape_of(hexagon_tensor(node, hexagon_in(node, 1)));
    return (struct layer){
        .out = out,
        .shape = hexagon_shape_of(hexagon_tensor(node, out)),
        .kernel = kernel,
        .range = hexagon_activated(hexagon_range_of(hexagon_tensor(node, out)), activation),
        .weights = {.data = hexagon_in(node, data),
                    .weights = hexagon_in(node, 1),
                    .bias = hexagon_in(node, bias),
                    .count = (int)kernel.dims[0],
                    .shape = kernel},
    };
}

// What CONV_2D and DEPTHWISE_CONV_2D, whose channels lie along this axis of the weights, have to be.
static bool check_convolution(const struct delegate_view *view, int axis, int stride_height, int stride_width,
                              TfLiteFusedActivation activation)
{
    return hexagon_check_weights(view, 0, 1, axis) && hexagon_check_constant(view, 2, kTfLiteInt32) &&
           check_plane(view, 0) && hexagon_check_strides(view, stride_height, stride_width) &&
           hexagon_check_activation(view, activation);
}

// ---- CONV_2D ------------------------------------------------------------------------------------

static bool check_conv_2d(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteConvParams *params = view->node->builtin_data;
    if (!delegate_input(view, 0)) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input 0 is left out");
    if (!check_convolution(view, 0, params->stride_height, params->stride_width, params->activation)) return false;
    if (params->dilation_height_factor != 1 || params->dilation_width_factor != 1)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "dilation %dx%d; Hexagon has none here",
                               params->dilation_height_factor, params->dilation_width_factor);
    return hl_dim(delegate_input(view, 0), 3) == hl_dim(delegate_input(view, 1), 3) ||
           delegate_refuse(view, DELEGATE_SHAPE, 1, "convolutions in groups");
}

// A convolution of the layer's weights, whose result has this shape.
static struct hexagon_value convolve(struct hexagon_graph *graph, enum hexagon_operation operation,
                                     const struct layer *layer, hexagon_nn_input data, const int strides[2],
                                     TfLitePadding padding, struct hexagon_shape shape)
{
    hexagon_add(graph, data);
    hexagon_add_weights(graph, &layer->weights);
    hexagon_add_range(graph, layer->weights.data);
    hexagon_add_weights_range(graph, &layer->weights);
    hexagon_add_window(graph, strides[0], strides[1]);
    add_tail(graph, &layer->weights, layer->range);
    return hexagon_end(graph, operation, padding_of(padding), shape);
}

static void map_conv_2d(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    static const int height_first[4] = {1, 2, 3, 0};
    const TfLiteConvParams *params = node->node->builtin_data;
    struct layer layer = read_layer(node, 0, 2, params->activation);
    const unsigned *kernel = layer.kernel.dims;
    int strides[2] = {params->stride_height, params->stride_width};
    layer.weights.order = height_first;
    layer.weights.shape = (struct hexagon_shape){{kernel[1], kernel[2], kernel[3], kernel[0]}};
    hexagon_nn_input data = hexagon_data(graph, layer.weights.data);
    struct hexagon_value value =
        convolve(graph, HEXAGON_Supernode_8x8p32to8, &layer, data, strides, params->padding, layer.shape);
    hexagon_set(graph, layer.out, value, layer.shape, &layer.range);
}

const struct hexagon_family hexagon_family_conv_2d = {
    .inputs = {3, 3}, .needs_params = true, .constants = 6, .check = check_conv_2d, .map = map_conv_2d};

// ---- DEPTHWISE_CONV_2D --------------------------------------------------------------------------

static bool check_depthwise_conv_2d(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteDepthwiseConvParams *params = view->node->builtin_data;
    if (!check_convolution(view, 3, params->stride_height, params->stride_width, params->activation)) return false;
    bool dilated = params->dilation_height_factor != 1 || params->dilation_width_factor != 1;
    if (dilated && (params->stride_height != 1 || params->stride_width != 1))
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "dilation with strides");
    int depth = hl_dim(delegate_input(view, 0), 3), channels = hl_dim(delegate_input(view, 1), 3);
    if (depth != channels && depth != 1)
        return delegate_refuse(view, DELEGATE_SHAPE, 1, "multiplier %d of %d channels; Hexagon has 1 of many",
                               channels / depth, depth);
    if (dilated && depth != channels)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "dilation with multiplier %d", channels);
    return hl_dim(delegate_input(view, 1), 1) >= 2 ||
           delegate_refuse(view, DELEGATE_SHAPE, 1, "a filter of height 1; Hexagon's have at least 2");
}

enum { SLICE_CHANNELS = 32 };

// The processor computes large strided filters by channel wrongly where there are more than 32 channels.
static bool needs_slices(const struct hexagon_node *node)
{
    const TfLiteDepthwiseConvParams *params = node->node->builtin_data;
    const TfLiteTensor *weights = hexagon_tensor(node, hexagon_in(node, 1));
    int channels = hl_dim(weights, 3);
    return hexagon_by_channel(weights) && hl_dim(weights, 1) == 5 && hl_dim(weights, 2) == 5 &&
           params->stride_height >= 2 && params->stride_width >= 2 && channels % SLICE_CHANNELS == 0 &&
           channels > SLICE_CHANNELS && hl_dim(hexagon_tensor(node, hexagon_in(node, 0)), 3) == channels;
}

static hexagon_nn_input slice_channels(struct hexagon_graph *graph, int tensor, int first)
{
    struct hexagon_shape shape = hexagon_shape_of(&graph->context->tensors[tensor]);
    shape.dims[3] = SLICE_CHANNELS;
    int32_t begin[4] = {0, 0, 0, first}, size[4];
    for (int i = 0; i < 4; i++) size[i] = (int32_t)shape.dims[i];
    hexagon_add_data(graph, tensor);
    hexagon_add_ints(graph, begin);
    hexagon_add_ints(graph, size);
    hexagon_add_range(graph, tensor);
    return hexagon_end(graph, HEXAGON_QuantizedSlice_8, HEXAGON_PAD_NA, shape).data;
}

// The convolution of 32 channels at a time, joined.
static struct hexagon_value convolve_slices(struct hexagon_graph *graph, const struct hexagon_node *node,
                                            struct layer layer)
{
    const TfLiteDepthwiseConvParams *params = node->node->builtin_data;
    int strides[2] = {params->stride_height, params->stride_width}, slices = layer.weights.count / SLICE_CHANNELS;
    struct hexagon_value joined[HEXAGON_MAX_TENSORS];
    struct hexagon_shape part = layer.shape;
    layer.weights.count = SLICE_CHANNELS;
    layer.weights.shape.dims[2] = part.dims[3] = SLICE_CHANNELS;
    for (int i = 0; i < slices; i++) {
        layer.weights.first = i * SLICE_CHANNELS;
        hexagon_nn_input data = slice_channels(graph, layer.weights.data, layer.weights.first);
        joined[i] = convolve(graph, HEXAGON_DepthwiseSupernode_8x8p32to8, &layer, data, strides, params->padding, part);
    }
    hexagon_add_int(graph, 3);
    for (int i = 0; i < slices; i++) hexagon_add(graph, joined[i].data);
    for (int i = 0; i < slices; i++) hexagon_add(graph, joined[i].min);
    for (int i = 0; i < slices; i++) hexagon_add(graph, joined[i].max);
    return hexagon_end(graph, HEXAGON_QuantizedConcat_8, HEXAGON_PAD_NA, layer.shape);
}

// How a dilated plane is cut into planes that are not: rows of zeros before and after, and how many more at the end
// until the dilation divides it.
struct dilation {
    int32_t block[2], pads[4], crops[4];
    unsigned padded[2];
};

static struct dilation dilate(const TfLiteDepthwiseConvParams *params, struct hexagon_shape data,
                              struct hexagon_shape kernel)
{
    struct dilation dilation = {.block = {params->dilation_height_factor, params->dilation_width_factor}};
    for (int i = 0; i < 2; i++) {
        int32_t block = dilation.block[i], size = (int32_t)data.dims[1 + i];
        int32_t total = params->padding == kTfLitePaddingSame ? ((int32_t)kernel.dims[1 + i] - 1) * block : 0;
        int32_t more = (block - (size + total) % block) % block;
        dilation.pads[2 * i] = total / 2;
        dilation.pads[2 * i + 1] = total - total / 2 + more;
        dilation.crops[2 * i + 1] = more;
        dilation.padded[i] = (unsigned)((size + total + more) / block);
    }
    return dilation;
}

static void add_block(struct hexagon_graph *graph, const int32_t block[2], const int32_t edges[4])
{
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, 2}}, block, 2 * sizeof *block);
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 2, 2}}, edges, 4 * sizeof *edges);
}

static struct hexagon_value convolve_dilated(struct hexagon_graph *graph, const struct hexagon_node *node,
                                             const struct layer *layer)
{
    static const int ones[2] = {1, 1};
    int tensor = layer->weights.data;
    struct hexagon_shape planes = hexagon_shape_of(hexagon_tensor(node, tensor));
    struct dilation dilation = dilate(node->node->builtin_data, planes, layer->kernel);
    planes.dims[0] *= (unsigned)(dilation.block[0] * dilation.block[1]);
    planes.dims[1] = dilation.padded[0];
    planes.dims[2] = dilation.padded[1];
    hexagon_add_data(graph, tensor);
    add_block(graph, dilation.block, dilation.pads);
    hexagon_add_range(graph, tensor);
    hexagon_nn_input data = hexagon_end(graph, HEXAGON_SpaceToBatchND_8, HEXAGON_PAD_NA, planes).data;
    planes.dims[1] -= layer->kernel.dims[1] - 1;
    planes.dims[2] -= layer->kernel.dims[2] - 1;
    struct hexagon_value value =
        convolve(graph, HEXAGON_DepthwiseSupernode_8x8p32to8, layer, data, ones, kTfLitePaddingValid, planes);
    hexagon_add(graph, value.data);
    add_block(graph, dilation.block, dilation.crops);
    hexagon_add(graph, value.min);
    hexagon_add(graph, value.max);
    return hexagon_end(graph, HEXAGON_BatchToSpaceND_8, HEXAGON_PAD_NA, layer->shape);
}

static void map_depthwise_conv_2d(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteDepthwiseConvParams *params = node->node->builtin_data;
    struct layer layer = read_layer(node, 0, 2, params->activation);
    const unsigned *kernel = layer.kernel.dims;
    int strides[2] = {params->stride_height, params->stride_width};
    layer.weights.axis = 3;
    layer.weights.count = (int)kernel[3];
    layer.weights.shape = (struct hexagon_shape){{kernel[1], kernel[2], kernel[3], 1}};
    struct hexagon_value value;
    if (params->dilation_height_factor != 1 || params->dilation_width_factor != 1) {
        value = convolve_dilated(graph, node, &layer);
    } else if (needs_slices(node) && layer.weights.count / SLICE_CHANNELS <= HEXAGON_MAX_TENSORS) {
        value = convolve_slices(graph, node, layer);
    } else {
        enum hexagon_operation operation = HEXAGON_DepthwiseSupernode_8x8p32to8;
        if (hexagon_shape_of(hexagon_tensor(node, layer.weights.data)).dims[3] != kernel[3]) {
            operation = HEXAGON_Supernode_8x8p32to8; // one channel becomes many, which is a plain convolution
            layer.weights.shape = (struct hexagon_shape){{kernel[1], kernel[2], 1, kernel[3]}};
        }
        hexagon_nn_input data = hexagon_data(graph, layer.weights.data);
        value = convolve(graph, operation, &layer, data, strides, params->padding, layer.shape);
    }
    hexagon_set(graph, layer.out, value, layer.shape, &layer.range);
}

const struct hexagon_family hexagon_family_depthwise_conv_2d = {.inputs = {3, 3},
                                                                .needs_params = true,
                                                                .constants = 6,
                                                                .check = check_depthwise_conv_2d,
                                                                .map = map_depthwise_conv_2d};

// ---- TRANSPOSE_CONV -----------------------------------------------------------------------------

// Rows that the output has less than the strides and the filter make, on one axis.
static int surplus(int in, int out, int filter, int stride)
{
    return (in - 1) * stride + filter - out;
}

static bool check_transpose_conv(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteTransposeConvParams *params = view->node->builtin_data;
    if (!hexagon_check_constant(view, 0, kTfLiteInt32) || !hexagon_check_weights(view, 2, 1, 0) ||
        !hexagon_check_bias(view, 3) || !check_plane(view, 2) ||
        !hexagon_check_strides(view, params->stride_height, params->stride_width))
        return false;
    const TfLiteTensor *in = delegate_input(view, 2), *weights = delegate_input(view, 1);
    const TfLiteTensor *out = delegate_output(view, 0);
    int strides[2] = {params->stride_height, params->stride_width};
    for (int i = 0; i < 2; i++)
        if (surplus(hl_dim(in, 1 + i), hl_dim(out, 1 + i), hl_dim(weights, 1 + i), strides[i]) < 0)
            return delegate_refuse(view, DELEGATE_SHAPE, DELEGATE_OUTPUT(0),
                                   "the output is larger than the filter "
                                   "reaches");
    return true;
}

static void map_transpose_conv(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteTransposeConvParams *params = node->node->builtin_data;
    struct layer layer = read_layer(node, 2, 3, kTfLiteActNone);
    struct hexagon_shape data = hexagon_shape_of(hexagon_tensor(node, layer.weights.data));
    int strides[2] = {params->stride_height, params->stride_width};
    int32_t edges[4];
    for (int i = 0; i < 2; i++) {
        int total =
            surplus((int)data.dims[1 + i], (int)layer.shape.dims[1 + i], (int)layer.kernel.dims[1 + i], strides[i]);
        edges[2 * i] = params->padding == kTfLitePaddingSame ? total / 2 : 0;
        edges[2 * i + 1] = total - edges[2 * i];
    }
    hexagon_add_data(graph, layer.weights.data);
    hexagon_add_weights(graph, &layer.weights);
    hexagon_add_range(graph, layer.weights.data);
    hexagon_add_weights_range(graph, &layer.weights);
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 2, 2}}, edges, sizeof edges);
    hexagon_add_window(graph, strides[0], strides[1]);
    add_tail(graph, &layer.weights, layer.range);
    struct hexagon_value value = hexagon_end(graph, HEXAGON_QuantizedTransposeConv2d, HEXAGON_PAD_NA, layer.shape);
    hexagon_set(graph, layer.out, value, layer.shape, &layer.range);
}

const struct hexagon_family hexagon_family_transpose_conv = {.inputs = {3, 4},
                                                             .needs_params = true,
                                                             .typed = 2,
                                                             .constants = 11,
                                                             .check = check_transpose_conv,
                                                             .map = map_transpose_conv};

// ---- FULLY_CONNECTED ----------------------------------------------------------------------------

static bool check_fully_connected(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteFullyConnectedParams *params = view->node->builtin_data;
    const TfLiteTensor *data = delegate_input(view, 0), *weights = delegate_input(view, 1);
    if (params->keep_num_dims || params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "it keeps dimensions, or its weights are shuffled");
    if (!hexagon_check_activation(view, params->activation) || !hexagon_check_bias(view, 2)) return false;
    if (hl_rank(weights) != 2) return delegate_refuse(view, DELEGATE_RANK, 1, "weights are no matrix");
    return weights->type == data->type || delegate_refuse(view, DELEGATE_TYPE, 1, "weights of %s for %s",
                                                          hl_type_name(weights->type), hl_type_name(data->type));
}

// The weights, with the outputs last.
static hexagon_nn_input transposed_matrix(struct hexagon_graph *graph, const struct hexagon_weights *weights)
{
    static const int32_t outputs_last[4] = {0, 1, 3, 2};
    hexagon_add_data(graph, weights->weights);
    hexagon_add_ints(graph, outputs_last);
    hexagon_add_range(graph, weights->weights);
    return hexagon_end(graph, HEXAGON_Transpose_8, HEXAGON_PAD_NA, weights->shape).data;
}

// Rows of the data times the matrix, and the bias: sums of 32 bits.
static struct hexagon_value multiply(struct hexagon_graph *graph, const struct hexagon_weights *weights,
                                     struct hexagon_shape rows, struct hexagon_shape shape)
{
    bool constant = hl_is_constant(&graph->context->tensors[weights->weights]);
    hexagon_nn_input data = hexagon_reshaped(graph, weights->data, rows), matrix = {0, 0};
    if (!constant) matrix = transposed_matrix(graph, weights);
    hexagon_add(graph, data);
    if (constant)
        hexagon_add_weights(graph, weights);
    else
        hexagon_add(graph, matrix);
    hexagon_add_range(graph, weights->data);
    hexagon_add_range(graph, weights->weights);
    struct hexagon_value sums = hexagon_end_32(graph, HEXAGON_QuantizedMatMul_8x8to32, shape);
    if (weights->bias < 0) return sums;
    hexagon_add(graph, sums.data);
    struct hexagon_range range;
    hexagon_add(graph, hexagon_bias(graph, weights, &range));
    hexagon_add(graph, sums.min);
    hexagon_add(graph, sums.max);
    hexagon_add_ends(graph, range);
    return hexagon_end_32(graph, HEXAGON_QuantizedBiasAdd_32p32to32, shape);
}

static void map_fully_connected(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    static const int outputs_last[4] = {0, 1, 3, 2};
    const TfLiteFullyConnectedParams *params = node->node->builtin_data;
    struct layer layer = read_layer(node, 0, 2, params->activation);
    unsigned units = layer.kernel.dims[2], depth = layer.kernel.dims[3];
    unsigned rows = (unsigned)(hl_elements(hexagon_tensor(node, layer.weights.data)) / depth);
    struct hexagon_shape shape = {{1, 1, rows, units}};
    layer.weights.count = (int)units;
    layer.weights.order = outputs_last;
    layer.weights.shape = (struct hexagon_shape){{1, 1, depth, units}};
    struct hexagon_value sums = multiply(graph, &layer.weights, (struct hexagon_shape){{1, 1, rows, depth}}, shape);
    struct hexagon_value value = hexagon_requantize(graph, HEXAGON_Requantize_32to8, sums, shape, layer.range);
    hexagon_set(graph, layer.out, value, shape, &layer.range);
}

const struct hexagon_family hexagon_family_fully_connected = {
    .inputs = {2, 3}, .needs_params = true, .constants = 4, .check = check_fully_connected, .map = map_fully_connected};
