// SPDX-License-Identifier: Apache-2.0
// Operators with weights: CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED. Weights become [out, in, height,
// width], or [in, out, height, width] where the convolution is transposed; float16 weights stay float16.
#include "delegates/coreml/activation.h"
#include "delegates/coreml/op.h"

enum { MAX_KERNEL = 16384 }; // Core ML's, for height and width each

// ---- the layer ----------------------------------------------------------------------------------

struct convolution {
    Coreml__NeuralNetworkLayer layer;
    Coreml__ConvolutionLayerParams params;
    Coreml__WeightParams weights, bias;
    Coreml__ValidPadding valid;
    Coreml__SamePadding same;
    uint64_t kernel[2], stride[2], dilation[2], out[2]; // height, width
};

// What the three convolutions have in common.
struct convolution_options {
    TfLitePadding padding;
    int stride[2], dilation[2], kernel[2];
    TfLiteFusedActivation activation;
};

// Of a TfLite...Params that has these members.
#define CONVOLUTION_OPTIONS(params, weights, dilation_height, dilation_width)                                      \
    (struct convolution_options)                                                                                   \
    {                                                                                                              \
        .padding = (params)->padding, .stride = {(params)->stride_height, (params)->stride_width},                 \
        .dilation = {(dilation_height), (dilation_width)}, .kernel = {hl_dim((weights), 1), hl_dim((weights), 2)}, \
        .activation = (params)->activation,                                                                        \
    }

static struct convolution *add_convolution(struct coreml_model *model, int input,
                                           const struct convolution_options *options)
{
    char *from = coreml_name(model, input);
    struct convolution *own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return NULL;
    Coreml__ConvolutionLayerParams *params = &own->params;
    coreml__convolution_layer_params__init(params);
    coreml__weight_params__init(&own->weights);
    coreml__weight_params__init(&own->bias);
    coreml__valid_padding__init(&own->valid);
    coreml__same_padding__init(&own->same);
    for (int i = 0; i < 2; i++) {
        own->kernel[i] = (uint64_t)options->kernel[i];
        own->stride[i] = (uint64_t)options->stride[i];
        own->dilation[i] = (uint64_t)options->dilation[i];
    }
    params->kernelsize = own->kernel;
    params->stride = own->stride;
    params->dilationfactor = own->dilation;
    params->n_kernelsize = params->n_stride = params->n_dilationfactor = 2;
    if (options->padding == kTfLitePaddingSame) {
        params->convolution_padding_type_case = COREML__CONVOLUTION_LAYER_PARAMS__CONVOLUTION_PADDING_TYPE_SAME;
        params->same = &own->same;
    } else {
        params->convolution_padding_type_case = COREML__CONVOLUTION_LAYER_PARAMS__CONVOLUTION_PADDING_TYPE_VALID;
        params->valid = &own->valid;
    }
    params->weights = &own->weights;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_CONVOLUTION;
    own->layer.convolution = params;
    return own;
}

static struct coreml_order list_of_elements(int64_t count)
{
    return (struct coreml_order){{1, 1, 1, count}, {0, 0, 0, 1}};
}

static void set_bias(struct coreml_model *model, struct convolution *own, int tensor)
{
    if (tensor < 0) return;
    struct coreml_order order = list_of_elements((int64_t)own->params.outputchannels);
    coreml_set_weights(model, &own->bias, tensor, &order);
    own->params.hasbias = true;
    own->params.bias = &own->bias;
}

// The weights as Core ML has them, and the groups that they are for.
struct filter {
    int64_t out, in, groups;
    struct coreml_order order;
};

// A layer for a node whose weights are input 1. NULL without memory; the caller finishes it.
static struct convolution *map_filter(struct coreml_model *model, const struct coreml_node *node, int input,
                                      const struct convolution_options *options, const struct filter *filter)
{
    struct convolution *own = add_convolution(model, coreml_input(node, input), options);
    if (!own) return NULL;
    own->params.outputchannels = (uint64_t)filter->out;
    own->params.kernelchannels = (uint64_t)filter->in;
    own->params.ngroups = (uint64_t)filter->groups;
    coreml_set_weights(model, &own->weights, coreml_input(node, 1), &filter->order);
    return own;
}

static void map_with_bias(struct coreml_model *model, const struct coreml_node *node,
                          const struct convolution_options *options, const struct filter *filter)
{
    struct convolution *own = map_filter(model, node, 0, options, filter);
    if (!own) return;
    set_bias(model, own, coreml_input(node, 2));
    coreml_finish(model, &own->layer, options->activation, coreml_result(node));
}

// ---- checks -------------------------------------------------------------------------------------

// dims: of weights of rank 4.
static bool check_kernel(const struct delegate_view *view, const TfLiteTensor *weights)
{
    if (!coreml_check_weights(view, 1) || !coreml_check_rank(view, 1, 4)) return false;
    for (int i = 0; i < 4; i++)
        if (hl_dim(weights, i) <= 0) return delegate_refuse(view, DELEGATE_SHAPE, 1, "dimension %d is 0", i);
    return (hl_dim(weights, 1) <= MAX_KERNEL && hl_dim(weights, 2) <= MAX_KERNEL) ||
           delegate_refuse(view, DELEGATE_SHAPE, 1, "a kernel of %d x %d; up to %d is taken", hl_dim(weights, 1),
                           hl_dim(weights, 2), MAX_KERNEL);
}

static bool check_convolution(const struct delegate_view *view, const struct convolution_options *options)
{
    if (options->padding != kTfLitePaddingSame && options->padding != kTfLitePaddingValid)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "padding %d", (int)options->padding);
    return coreml_check_activation(view, options->activation) &&
           coreml_check_strides(view, options->stride[0], options->stride[1]) &&
           coreml_check_strides(view, options->dilation[0], options->dilation[1]);
}

// ---- CONV_2D ------------------------------------------------------------------------------------

static struct convolution_options conv_2d_options(const TfLiteNode *node, const TfLiteTensor *weights)
{
    const TfLiteConvParams *params = node->builtin_data;
    return CONVOLUTION_OPTIONS(params, weights, params->dilation_height_factor, params->dilation_width_factor);
}

static bool check_conv_2d(const struct delegate_view *view)
{
    const TfLiteTensor *weights = delegate_input(view, 1);
    if (!coreml_check_rank(view, 0, 4) || !check_kernel(view, weights)) return false;
    struct convolution_options options = conv_2d_options(view->node, weights);
    int channels = hl_dim(delegate_input(view, 0), 3), out = hl_dim(weights, 0), each = hl_dim(weights, 3);
    if (channels % each != 0 || out % (channels / each) != 0)
        return delegate_refuse(view, DELEGATE_SHAPE, 1, "%d channels, %d filters of %d", channels, out, each);
    return check_convolution(view, &options) && coreml_check_bias(view, 2, out);
}

static void map_conv_2d(struct coreml_model *model, const struct coreml_node *node)
{
    const TfLiteTensor *weights = &node->context->tensors[coreml_input(node, 1)];
    const struct convolution_options options = conv_2d_options(node->node, weights);
    int64_t out = hl_dim(weights, 0), h = hl_dim(weights, 1), w = hl_dim(weights, 2), in = hl_dim(weights, 3);
    const struct filter filter = {out,
                                  in,
                                  coreml_input_shape(node, 0).c / in,
                                  {{out, in, h, w}, {h * w * in, 1, w * in, in}}};
    map_with_bias(model, node, &options, &filter);
}

const struct coreml_family coreml_family_conv_2d = {
    .inputs = {2, 3}, .data = 1, .needs_params = true, .check = check_conv_2d, .map = map_conv_2d};

// ---- DEPTHWISE_CONV_2D --------------------------------------------------------------------------

static struct convolution_options depthwise_options(const TfLiteNode *node, const TfLiteTensor *weights)
{
    const TfLiteDepthwiseConvParams *params = node->builtin_data;
    return CONVOLUTION_OPTIONS(params, weights, params->dilation_height_factor, params->dilation_width_factor);
}

static bool check_depthwise_conv_2d(const struct delegate_view *view)
{
    const TfLiteTensor *weights = delegate_input(view, 1);
    if (!coreml_check_rank(view, 0, 4) || !check_kernel(view, weights)) return false;
    struct convolution_options options = depthwise_options(view->node, weights);
    int channels = hl_dim(delegate_input(view, 0), 3), out = hl_dim(weights, 3);
    if (hl_dim(weights, 0) != 1 || out % channels != 0)
        return delegate_refuse(view, DELEGATE_SHAPE, 1, "%d channels, %d filters", channels, out);
    return check_convolution(view, &options) && coreml_check_bias(view, 2, out);
}

// As many groups as there are input channels.
static void map_depthwise_conv_2d(struct coreml_model *model, const struct coreml_node *node)
{
    const TfLiteTensor *weights = &node->context->tensors[coreml_input(node, 1)];
    const struct convolution_options options = depthwise_options(node->node, weights);
    int64_t h = hl_dim(weights, 1), w = hl_dim(weights, 2), out = hl_dim(weights, 3);
    const struct filter filter = {out, 1, coreml_input_shape(node, 0).c, {{out, 1, h, w}, {1, 0, w * out, out}}};
    map_with_bias(model, node, &options, &filter);
}

const struct coreml_family coreml_family_depthwise_conv_2d = {
    .inputs = {2, 3}, .data = 1, .needs_params = true, .check = check_depthwise_conv_2d, .map = map_depthwise_conv_2d};

// ---- TRANSPOSE_CONV -----------------------------------------------------------------------------

static struct convolution_options transpose_options(const TfLiteNode *node, const TfLiteTensor *weights)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    return CONVOLUTION_OPTIONS(params, weights, 1, 1);
}

// Whether Core ML's padding makes the output so long, for height or width.
static bool is_transposed_size(const struct convolution_options *options, int axis, int in, int out)
{
    int64_t stride = options->stride[axis], whole = (in - 1) * stride + options->kernel[axis];
    return options->padding == kTfLitePaddingSame ? (out + stride - 1) / stride == in : out == whole;
}

static bool check_transpose_conv(const struct delegate_view *view)
{
    const TfLiteTensor *weights = delegate_input(view, 1), *in = delegate_input(view, 2),
                       *out = delegate_output(view, 0);
    if (!coreml_check_ints(view, 0, 4, 4) || !coreml_check_rank(view, 2, 4) || !check_kernel(view, weights))
        return false;
    struct convolution_options options = transpose_options(view->node, weights);
    if (!check_convolution(view, &options)) return false;
    if (hl_dim(weights, 3) != hl_dim(in, 3))
        return delegate_refuse(view, DELEGATE_SHAPE, 1, "weights for %d channels of %d", hl_dim(weights, 3),
                               hl_dim(in, 3));
    return (hl_rank(out) == 4 && is_transposed_size(&options, 0, hl_dim(in, 1), hl_dim(out, 1)) &&
            is_transposed_size(&options, 1, hl_dim(in, 2), hl_dim(out, 2))) ||
           delegate_refuse(view, DELEGATE_SHAPE, DELEGATE_OUTPUT(0), "an output size that is not of this padding");
}

static void map_transpose_conv(struct coreml_model *model, const struct coreml_node *node)
{
    const TfLiteTensor *weights = &node->context->tensors[coreml_input(node, 1)];
    const TfLiteTensor *to = &node->context->tensors[coreml_result(node)];
    struct convolution_options options = transpose_options(node->node, weights);
    int64_t out = hl_dim(weights, 0), h = hl_dim(weights, 1), w = hl_dim(weights, 2), in = hl_dim(weights, 3);
    const struct filter filter = {out, in, 1, {{in, out, h, w}, {1, h * w * in, w * in, in}}};
    struct convolution *own = map_filter(model, node, 2, &options, &filter);
    if (!own) return;
    own->params.isdeconvolution = true;
    own->out[0] = (uint64_t)hl_dim(to, 1);
    own->out[1] = (uint64_t)hl_dim(to, 2);
    own->params.outputshape = own->out;
    own->params.n_outputshape = 2;
    coreml_finish(model, &own->layer, options.activation, coreml_result(node));
}

const struct coreml_family coreml_family_transpose_conv = {
    .inputs = {3, 3}, .data = 1u << 2, .needs_params = true, .check = check_transpose_conv, .map = map_transpose_conv};

// ---- FULLY_CONNECTED ----------------------------------------------------------------------------

static bool check_fully_connected(const struct delegate_view *view)
{
    const TfLiteFullyConnectedParams *params = view->node->builtin_data;
    const TfLiteTensor *in = delegate_input(view, 0), *weights = delegate_input(view, 1);
    if (params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault)
        return delegate_refuse(view, DELEGATE_PARAMETER, 1, "shuffled weights");
    if (!coreml_check_activation(view, params->activation) || !coreml_check_weights(view, 1) ||
        !coreml_check_rank(view, 1, 2))
        return false;
    if (hl_elements(in) != hl_dim(in, hl_rank(in) - 1))
        return delegate_refuse(view, DELEGATE_SHAPE, 0, "the input has more than one row");
    if (hl_elements(in) != hl_dim(weights, 1) || hl_elements(delegate_output(view, 0)) != hl_dim(weights, 0))
        return delegate_refuse(view, DELEGATE_SHAPE, 1, "weights for %d and %d elements", hl_dim(weights, 1),
                               hl_dim(weights, 0));
    return coreml_check_bias(view, 2, hl_dim(weights, 0));
}

static void map_fully_connected(struct coreml_model *model, const struct coreml_node *node)
{
    struct inner_product {
        Coreml__NeuralNetworkLayer layer;
        Coreml__InnerProductLayerParams params;
        Coreml__WeightParams weights, bias;
    } * own;
    char *from = coreml_name(model, coreml_input(node, 0));
    own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return;
    const TfLiteTensor *weights = &node->context->tensors[coreml_input(node, 1)];
    int64_t out = hl_dim(weights, 0), in = hl_dim(weights, 1);
    coreml__inner_product_layer_params__init(&own->params);
    coreml__weight_params__init(&own->weights);
    coreml__weight_params__init(&own->bias);
    own->params.inputchannels = (uint64_t)in;
    own->params.outputchannels = (uint64_t)out;
    own->params.weights = &own->weights;
    struct coreml_order all = list_of_elements(out * in), some = list_of_elements(out);
    coreml_set_weights(model, &own->weights, coreml_input(node, 1), &all);
    if (coreml_input(node, 2) >= 0) {
        coreml_set_weights(model, &own->bias, coreml_input(node, 2), &some);
        own->params.hasbias = true;
        own->params.bias = &own->bias;
    }
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_INNER_PRODUCT;
    own->layer.innerproduct = &own->params;
    const TfLiteFullyConnectedParams *params = node->node->builtin_data;
    coreml_finish(model, &own->layer, params->activation, coreml_result(node));
}

const struct coreml_family coreml_family_fully_connected = {
    .inputs = {2, 3}, .data = 1, .needs_params = true, .check = check_fully_connected, .map = map_fully_connected};
