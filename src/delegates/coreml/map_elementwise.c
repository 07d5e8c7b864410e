// SPDX-License-Identifier: Apache-2.0
// Operators that compute element by element, or over the channels of each pixel: ADD, MUL, activations, HARD_SWISH,
// SOFTMAX.
#include "delegates/coreml/activation.h"
#include "delegates/coreml/constant.h"
#include "delegates/coreml/op.h"

// ---- single layers ------------------------------------------------------------------------------

// The sum or product of the inputs; of one input and alpha, where there is one.
static Coreml__NeuralNetworkLayer *add_arithmetic(struct coreml_model *model, bool multiplies, char *const *from,
                                                  int count, float alpha)
{
    struct arithmetic {
        Coreml__NeuralNetworkLayer layer;
        Coreml__AddLayerParams add;
        Coreml__MultiplyLayerParams multiply;
    } *own = (void *)coreml_add_layer(model, sizeof *own, count, from);
    if (!own) return NULL;
    coreml__add_layer_params__init(&own->add);
    coreml__multiply_layer_params__init(&own->multiply);
    own->add.alpha = own->multiply.alpha = alpha;
    if (multiplies) {
        own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_MULTIPLY;
        own->layer.multiply = &own->multiply;
    } else {
        own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_ADD;
        own->layer.add = &own->add;
    }
    return &own->layer;
}

// ---- activations --------------------------------------------------------------------------------

static void map_activation(struct coreml_model *model, const struct coreml_node *node)
{
    char *from = coreml_name(model, coreml_input(node, 0));
    TfLiteFusedActivation activation;
    switch (node->builtin) {
    case kTfLiteBuiltinRelu: activation = kTfLiteActRelu; break;
    case kTfLiteBuiltinRelu6: activation = kTfLiteActRelu6; break;
    case kTfLiteBuiltinReluN1To1: activation = kTfLiteActReluN1To1; break;
    case kTfLiteBuiltinTanh: activation = kTfLiteActTanh; break;
    default: activation = kTfLiteActSigmoid;
    }
    coreml_finish(model, coreml_add_activation(model, from, activation), kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_activation = {.inputs = {1, 1}, .data = 1, .map = map_activation};

// x / 6 * relu6(x + 3)
static void map_hard_swish(struct coreml_model *model, const struct coreml_node *node)
{
    char *from = coreml_name(model, coreml_input(node, 0));
    Coreml__NeuralNetworkLayer *sixth = add_arithmetic(model, true, &from, 1, 1.0f / 6);
    Coreml__NeuralNetworkLayer *shifted = add_arithmetic(model, false, &from, 1, 3);
    Coreml__NeuralNetworkLayer *bounded = coreml_add_activation(model, coreml_output(shifted), kTfLiteActRelu6);
    char *factors[] = {coreml_output(sixth), coreml_output(bounded)};
    coreml_finish(model, add_arithmetic(model, true, factors, 2, 1), kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_hard_swish = {.inputs = {1, 1}, .data = 1, .map = map_hard_swish};

// ---- SOFTMAX ------------------------------------------------------------------------------------

static bool check_softmax(const struct delegate_view *view)
{
    float beta = ((const TfLiteSoftmaxParams *)view->node->builtin_data)->beta;
    return beta == 1 || delegate_refuse(view, DELEGATE_PARAMETER, -1, "beta is %g; 1 is taken", (double)beta);
}

static void map_softmax(struct coreml_model *model, const struct coreml_node *node)
{
    struct softmax {
        Coreml__NeuralNetworkLayer layer;
        Coreml__SoftmaxLayerParams params;
    } * own;
    char *from = coreml_name(model, coreml_input(node, 0));
    own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return;
    coreml__softmax_layer_params__init(&own->params);
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_SOFTMAX;
    own->layer.softmax = &own->params;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_softmax = {
    .inputs = {1, 1}, .data = 1, .needs_params = true, .check = check_softmax, .map = map_softmax};

// ---- ADD, MUL -----------------------------------------------------------------------------------

static TfLiteFusedActivation activation_of(const TfLiteNode *node, int builtin)
{
    return builtin == kTfLiteBuiltinAdd ? ((const TfLiteAddParams *)node->builtin_data)->activation
                                        : ((const TfLiteMulParams *)node->builtin_data)->activation;
}

static const TfLiteTensor *constant_of(const struct delegate *delegate, const TfLiteContext *context,
                                       const TfLiteNode *node, int input)
{
    return coreml_constant(delegate, context, node->inputs->data[input]);
}

// One input has the output's shape, and the other can be broadcast to it as Core ML does that.
static bool fits(const struct coreml_shape *large, const struct coreml_shape *small, const struct coreml_shape *out)
{
    bool pixels = (small->h == large->h && small->w == large->w) || (small->h == 1 && small->w == 1);
    return coreml_same_shape(large, out) && small->n == large->n && pixels && (small->c == large->c || small->c == 1);
}

static bool check_arithmetic(const struct delegate_view *view)
{
    TfLiteFusedActivation activation = activation_of(view->node, view->registration->builtin_code);
    if (!coreml_check_activation(view, activation)) return false;
    for (int i = 0; i < 2; i++) {
        const TfLiteTensor *constant = constant_of(view->delegate, view->context, view->node, i);
        if (!constant) continue;
        if (!coreml_check_weights(view, i)) return false;
        if (hl_elements(constant) != 1)
            return delegate_refuse(view, DELEGATE_CONSTANT, i, "a constant of %lld elements; one is taken",
                                   (long long)hl_elements(constant));
        if (constant_of(view->delegate, view->context, view->node, 1 - i))
            return delegate_refuse(view, DELEGATE_CONSTANT, 1 - i, "both inputs are constants");
        const TfLiteTensor *other = delegate_input(view, 1 - i);
        return hl_elements(other) == hl_elements(delegate_output(view, 0)) ||
               delegate_refuse(view, DELEGATE_SHAPE, DELEGATE_OUTPUT(0), "the constant's rank enlarges the output");
    }
    struct coreml_shape a = coreml_shape_of(delegate_input(view, 0)), b = coreml_shape_of(delegate_input(view, 1));
    struct coreml_shape out = coreml_shape_of(delegate_output(view, 0));
    return fits(&a, &b, &out) || fits(&b, &a, &out) ||
           delegate_refuse(view, DELEGATE_SHAPE, 1,
                           "a broadcast of [%d, %d, %d, %d] and [%d, %d, %d, %d], which Core ML's layer has not", a.n,
                           a.h, a.w, a.c, b.n, b.h, b.w, b.c);
}

static void map_arithmetic(struct coreml_model *model, const struct coreml_node *node)
{
    char *from[2];
    int count = 0;
    float alpha = node->builtin == kTfLiteBuiltinMul;
    struct coreml_shape out = coreml_shape_of(&node->context->tensors[coreml_result(node)]);
    for (int i = 0; i < 2; i++) {
        const TfLiteTensor *constant = constant_of(&model->delegate->base, node->context, node->node, i);
        if (constant)
            alpha = coreml_float_at(constant, 0);
        else
            from[count++] = coreml_name(model, coreml_input(node, i));
    }
    struct coreml_shape first = coreml_input_shape(node, 0);
    if (count == 2 && !coreml_same_shape(&first, &out)) { // what is broadcast comes last
        char *small = from[0];
        from[0] = from[1];
        from[1] = small;
    }
    Coreml__NeuralNetworkLayer *layer = add_arithmetic(model, node->builtin == kTfLiteBuiltinMul, from, count, alpha);
    coreml_finish(model, layer, activation_of(node->node, node->builtin), coreml_result(node));
}

const struct coreml_family coreml_family_arithmetic = {
    .inputs = {2, 2}, .data = 3, .maybe = 3, .needs_params = true, .check = check_arithmetic, .map = map_arithmetic};
