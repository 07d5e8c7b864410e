// SPDX-License-Identifier: Apache-2.0
// See activation.h.
#include "delegates/coreml/activation.h"

struct activation {
    Coreml__NeuralNetworkLayer layer;
    Coreml__ActivationParams params;
    Coreml__ActivationLinear linear;
    Coreml__ActivationReLU relu;
    Coreml__ActivationTanh tanh;
    Coreml__ActivationSigmoid sigmoid;
};

static struct activation *add_activation(struct coreml_model *model, char *from)
{
    struct activation *own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return NULL;
    coreml__activation_params__init(&own->params);
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_ACTIVATION;
    own->layer.activation = &own->params;
    return own;
}

static Coreml__NeuralNetworkLayer *add_relu(struct coreml_model *model, char *from)
{
    struct activation *own = add_activation(model, from);
    if (!own) return NULL;
    coreml__activation_re_lu__init(&own->relu);
    own->params.nonlinearity_type_case = COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_RE_LU;
    own->params.relu = &own->relu;
    return &own->layer;
}

static Coreml__NeuralNetworkLayer *add_tanh(struct coreml_model *model, char *from)
{
    struct activation *own = add_activation(model, from);
    if (!own) return NULL;
    coreml__activation_tanh__init(&own->tanh);
    own->params.nonlinearity_type_case = COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_TANH;
    own->params.tanh = &own->tanh;
    return &own->layer;
}

static Coreml__NeuralNetworkLayer *add_sigmoid(struct coreml_model *model, char *from)
{
    struct activation *own = add_activation(model, from);
    if (!own) return NULL;
    coreml__activation_sigmoid__init(&own->sigmoid);
    own->params.nonlinearity_type_case = COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_SIGMOID;
    own->params.sigmoid = &own->sigmoid;
    return &own->layer;
}

// alpha * x
static Coreml__NeuralNetworkLayer *add_linear(struct coreml_model *model, char *from, float alpha)
{
    struct activation *own = add_activation(model, from);
    if (!own) return NULL;
    coreml__activation_linear__init(&own->linear);
    own->linear.alpha = alpha;
    own->params.nonlinearity_type_case = COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_LINEAR;
    own->params.linear = &own->linear;
    return &own->layer;
}

// max(alpha, scale * x)
static Coreml__NeuralNetworkLayer *add_threshold(struct coreml_model *model, char *from, float alpha, float scale)
{
    struct unary {
        Coreml__NeuralNetworkLayer layer;
        Coreml__UnaryFunctionLayerParams params;
    } *own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return NULL;
    coreml__unary_function_layer_params__init(&own->params);
    own->params.type = COREML__UNARY_FUNCTION_LAYER_PARAMS__OPERATION__THRESHOLD;
    own->params.alpha = alpha;
    own->params.scale = scale;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_UNARY;
    own->layer.unary = &own->params;
    return &own->layer;
}

// Core ML has no upper bound. -max(-6, -x) is min(6, x).
Coreml__NeuralNetworkLayer *coreml_add_activation(struct coreml_model *model, char *from,
                                                  TfLiteFusedActivation activation)
{
    Coreml__NeuralNetworkLayer *lower, *upper;
    switch (activation) {
    case kTfLiteActTanh: return add_tanh(model, from);
    case kTfLiteActSigmoid: return add_sigmoid(model, from);
    case kTfLiteActRelu: return add_relu(model, from);
    case kTfLiteActRelu6:
        lower = add_relu(model, from);
        upper = add_threshold(model, coreml_output(lower), -6, -1);
        return add_linear(model, coreml_output(upper), -1);
    default: // RELU_N1_TO_1; support.c lets no other through
        lower = add_threshold(model, from, -1, 1);
        upper = add_threshold(model, coreml_output(lower), -1, -1);
        return add_linear(model, coreml_output(upper), -1);
    }
}

void coreml_finish(struct coreml_model *model, Coreml__NeuralNetworkLayer *layer, TfLiteFusedActivation activation,
                   int tensor)
{
    if (layer && activation != kTfLiteActNone) layer = coreml_add_activation(model, coreml_output(layer), activation);
    if (layer) layer->output[0] = coreml_name(model, tensor);
}
