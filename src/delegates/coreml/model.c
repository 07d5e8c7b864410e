// SPDX-License-Identifier: Apache-2.0
// See model.h. Messages are made in the model's arena, one piece for each layer, and serialized at the end.
#include "delegates/coreml/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "delegates/common/widened.h"
#include "delegates/coreml/constant.h"
#include "delegates/coreml/op.h"

void *coreml_memory(struct coreml_model *model, size_t size)
{
    void *memory = hl_arena_alloc(&model->arena, size, sizeof(max_align_t));
    if (!memory) model->failed = true;
    return memory;
}

// ---- names --------------------------------------------------------------------------------------

void coreml_tensor_name(int tensor, char name[24])
{
    snprintf(name, 24, "tensor_%d", tensor);
}

char *coreml_name(struct coreml_model *model, int tensor)
{
    char *name = coreml_memory(model, 24);
    if (name) coreml_tensor_name(tensor, name);
    return name;
}

// ---- layers -------------------------------------------------------------------------------------

static bool append_layer(struct coreml_model *model, Coreml__NeuralNetworkLayer *layer)
{
    if (model->layer_count == model->layer_room) {
        void *grown = hl_grow(model->layers, model->layer_count, &model->layer_room, sizeof *model->layers);
        if (!grown) {
            model->failed = true;
            return false;
        }
        model->layers = grown;
    }
    model->layers[model->layer_count++] = layer;
    return true;
}

Coreml__NeuralNetworkLayer *coreml_add_layer(struct coreml_model *model, size_t size, int input_count,
                                             char *const *from)
{
    enum { NAME_SIZE = 48 };
    Coreml__NeuralNetworkLayer *layer = coreml_memory(model, size);
    char *name = coreml_memory(model, NAME_SIZE),
         **names = coreml_memory(model, ((size_t)input_count + 1) * sizeof *names);
    if (!layer || !name || !names || !append_layer(model, layer)) return NULL;
    coreml__neural_network_layer__init(layer);
    snprintf(name, NAME_SIZE, "%s_%d_layer_%d", model->op, model->node, model->layer_count);
    memcpy(names, from, (size_t)input_count * sizeof *names);
    names[input_count] = name;
    layer->name = name;
    layer->input = names;
    layer->n_input = (size_t)input_count;
    layer->output = names + input_count;
    layer->n_output = 1;
    return layer;
}

char *coreml_output(const Coreml__NeuralNetworkLayer *layer)
{
    return layer ? layer->output[0] : NULL;
}

// ---- constants ----------------------------------------------------------------------------------

// Copies elements of `size` bytes in another order.
static void reorder(const struct coreml_order *order, size_t size, const char *from, char *to)
{
    const int64_t *dims = order->dims, *strides = order->strides;
    for (int64_t a = 0; a < dims[0]; a++)
        for (int64_t b = 0; b < dims[1]; b++)
            for (int64_t c = 0; c < dims[2]; c++)
                for (int64_t d = 0; d < dims[3]; d++, to += size) {
                    int64_t at = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
                    memcpy(to, from + (size_t)at * size, size);
                }
}

void coreml_set_weights(struct coreml_model *model, Coreml__WeightParams *weights, int tensor,
                        const struct coreml_order *order)
{
    const TfLiteTensor *constant = coreml_constant(&model->delegate->base, model->context, tensor);
    bool half = constant->type == kTfLiteFloat16;
    size_t size = half ? sizeof(uint16_t) : sizeof(float), count = (size_t)hl_elements(constant);
    char *elements = coreml_memory(model, count * size);
    if (!elements) return;
    reorder(order, size, constant->data.raw, elements);
    if (half) {
        weights->float16value = (ProtobufCBinaryData){count * size, (uint8_t *)elements};
    } else {
        weights->floatvalue = (float *)(void *)elements;
        weights->n_floatvalue = count;
    }
}

// ---- features -----------------------------------------------------------------------------------

int coreml_feature_shape(const struct coreml_delegate *delegate, const TfLiteTensor *tensor, int64_t shape[4])
{
    struct coreml_shape from = coreml_shape_of(tensor);
    int rank = 0;
    if (delegate->version >= 3) shape[rank++] = from.n;
    shape[rank++] = from.c;
    shape[rank++] = from.h;
    shape[rank++] = from.w;
    return rank;
}

struct feature {
    Coreml__FeatureDescription description;
    Coreml__FeatureType type;
    Coreml__ArrayFeatureType array;
    int64_t shape[4];
};

static Coreml__FeatureDescription **make_features(struct coreml_model *model, const int *tensors, int count)
{
    Coreml__FeatureDescription **list = coreml_memory(model, (size_t)count * sizeof(void *));
    struct feature *features = coreml_memory(model, (size_t)count * sizeof *features);
    for (int i = 0; i < count && list && features; i++) {
        struct feature *feature = &features[i];
        list[i] = &feature->description;
        coreml__feature_description__init(&feature->description);
        coreml__feature_type__init(&feature->type);
        coreml__array_feature_type__init(&feature->array);
        feature->description.name = coreml_name(model, tensors[i]);
        feature->description.type = &feature->type;
        feature->type.multiarraytype = &feature->array;
        feature->array.datatype = COREML__ARRAY_DATA_TYPE__FLOAT32;
        feature->array.shape = feature->shape;
        feature->array.n_shape =
            (size_t)coreml_feature_shape(model->delegate, &model->context->tensors[tensors[i]], feature->shape);
    }
    return list;
}

// Which tensors the model reads and writes. Constants are in the layers.
static bool find_features(struct coreml_model *model, const TfLiteDelegateParams *params)
{
    const struct delegate *delegate = &model->delegate->base;
    const TfLiteIntArray *inputs = params->input_tensors, *outputs = params->output_tensors;
    model->inputs = coreml_memory(model, (size_t)inputs->size * sizeof *model->inputs);
    model->outputs = coreml_memory(model, (size_t)outputs->size * sizeof *model->outputs);
    if (model->failed) return false;
    for (int i = 0; i < inputs->size; i++)
        if (inputs->data[i] >= 0 && !coreml_constant(delegate, model->context, inputs->data[i]))
            model->inputs[model->input_count++] = inputs->data[i];
    for (int i = 0; i < outputs->size; i++)
        if (outputs->data[i] >= 0 && delegate_widened_source(delegate, outputs->data[i]) < 0)
            model->outputs[model->output_count++] = outputs->data[i];
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool map_node(struct coreml_model *model, int index)
{
    TfLiteNode *node;
    TfLiteRegistration *registration;
    if (model->context->GetNodeAndRegistration(model->context, index, &node, &registration) != kTfLiteOk) return false;
    if (delegate_widens_constant(model->context, node, registration)) return true;
    const struct coreml_op *op = coreml_op_find(registration->builtin_code);
    if (!op) return false; // support.c does not let it through
    model->node = index;
    model->op = op->name;
    struct coreml_node own = {model->context, node, op->builtin};
    op->family->map(model, &own);
    return !model->failed;
}

bool coreml_model_build(struct coreml_model *model, const struct coreml_delegate *delegate, TfLiteContext *context,
                        const TfLiteDelegateParams *params)
{
    *model = (struct coreml_model){.delegate = delegate, .context = context};
    hl_arena_init(&model->arena, SIZE_MAX);
    bool ok = find_features(model, params);
    for (int i = 0; i < params->nodes_to_replace->size && ok; i++)
        ok = map_node(model, params->nodes_to_replace->data[i]);
    if (ok) return true;
    context->ReportError(context, COREML_NAME ": Failed to build node %d%s", model->node,
                         model->failed ? ": out of memory" : "");
    return false;
}

uint8_t *coreml_model_pack(struct coreml_model *model, size_t *size)
{
    Coreml__Model root = COREML__MODEL__INIT;
    Coreml__ModelDescription description = COREML__MODEL_DESCRIPTION__INIT;
    Coreml__NeuralNetwork network = COREML__NEURAL_NETWORK__INIT;
    bool exact = model->delegate->version >= 3;
    description.input = make_features(model, model->inputs, model->input_count);
    description.output = make_features(model, model->outputs, model->output_count);
    if (model->failed) return NULL;
    description.n_input = (size_t)model->input_count;
    description.n_output = (size_t)model->output_count;
    network.layers = model->layers;
    network.n_layers = (size_t)model->layer_count;
    network.arrayinputshapemapping = exact ? COREML__ARRAY_INPUT_SHAPE_MAPPING__EXACT_ARRAY_MAPPING
                                           : COREML__ARRAY_INPUT_SHAPE_MAPPING__RANK5_ARRAY_MAPPING;
    root.specificationversion = exact ? 4 : 3;
    root.description = &description;
    root.neuralnetwork = &network;
    *size = coreml__model__get_packed_size(&root);
    uint8_t *bytes = malloc(*size);
    if (bytes) coreml__model__pack(&root, bytes);
    return bytes;
}

void coreml_model_free(struct coreml_model *model)
{
    hl_arena_clear(&model->arena);
    free(model->layers);
    *model = (struct coreml_model){0};
}
