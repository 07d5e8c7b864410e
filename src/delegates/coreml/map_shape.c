// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: CONCATENATION of channels, RESHAPE.
#include "delegates/coreml/activation.h"
#include "delegates/coreml/op.h"

// ---- CONCATENATION ------------------------------------------------------------------------------

static bool check_concatenation(const struct delegate_view *view)
{
    const TfLiteConcatenationParams *params = view->node->builtin_data;
    int rank = hl_rank(delegate_input(view, 0));
    if (rank != 3 && rank != 4) return delegate_refuse(view, DELEGATE_RANK, 0, "rank %d; 3 and 4 are taken", rank);
    if (params->axis != -1 && params->axis != rank - 1)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "axis %d; channels are joined", params->axis);
    return coreml_check_no_activation(view, params->activation);
}

static void map_concatenation(struct coreml_model *model, const struct coreml_node *node)
{
    struct concat {
        Coreml__NeuralNetworkLayer layer;
        Coreml__ConcatLayerParams params;
    } * own;
    int count = node->node->inputs->size;
    char **from = coreml_memory(model, (size_t)count * sizeof *from);
    for (int i = 0; i < count && from; i++) from[i] = coreml_name(model, coreml_input(node, i));
    own = from ? (void *)coreml_add_layer(model, sizeof *own, count, from) : NULL;
    if (!own) return;
    coreml__concat_layer_params__init(&own->params);
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_CONCAT;
    own->layer.concat = &own->params;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_concatenation = {
    .inputs = {2, -1}, .data = ~0u, .needs_params = true, .check = check_concatenation, .map = map_concatenation};

// ---- RESHAPE ------------------------------------------------------------------------------------

static bool check_reshape(const struct delegate_view *view)
{
    if (coreml_of(view)->version != 2)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "coreml_version is %d; 2 has a layer that keeps the order",
                               coreml_of(view)->version);
    return coreml_check_ints(view, 1, 3, 4);
}

static void map_reshape(struct coreml_model *model, const struct coreml_node *node)
{
    struct reshape {
        Coreml__NeuralNetworkLayer layer;
        Coreml__ReshapeLayerParams params;
        int64_t shape[3];
    } * own;
    char *from = coreml_name(model, coreml_input(node, 0));
    own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return;
    struct coreml_shape in = coreml_input_shape(node, 0);
    struct coreml_shape out = coreml_shape_of(&node->context->tensors[coreml_result(node)]);
    coreml__reshape_layer_params__init(&own->params);
    own->shape[0] = out.c;
    own->shape[1] = out.h;
    own->shape[2] = out.w;
    own->params.targetshape = own->shape;
    own->params.n_targetshape = 3;
    own->params.mode = in.c == out.c ? COREML__RESHAPE_LAYER_PARAMS__RESHAPE_ORDER__CHANNEL_FIRST
                                     : COREML__RESHAPE_LAYER_PARAMS__RESHAPE_ORDER__CHANNEL_LAST;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_RESHAPE;
    own->layer.reshape = &own->params;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_reshape = {.inputs = {2, 2},
                                                    .data = 1,
                                                    .check = check_reshape,
                                                    .map = map_reshape};
