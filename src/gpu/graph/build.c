// SPDX-License-Identifier: Apache-2.0
// See build.h. A value is made when a node first names its tensor, so that tensors that nothing reads are not copied to
// the device.
#include "gpu/graph/build.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "gpu/graph/epilogue.h"
#include "gpu/graph/op.h"
#include "gpu/graph/quantize.h"
#include "tensorflow/lite/builtin_ops.h"

struct builder {
    const struct gpu_partition *partition;
    TfLiteContext *context;
    struct gpu_graph *graph;
    struct gpu_value **values; // by tensor
};

static bool fail(struct builder *builder, const char *what, const TfLiteTensor *tensor)
{
    hl_report(builder->graph->reporter, "TfLiteGpuDelegate Init: %s%s%s", what, tensor ? ": tensor " : "",
              tensor ? tensor->name ? tensor->name : "(no name)" : "");
    return false;
}

// ---- values -------------------------------------------------------------------------------------

static struct gpu_shape shape_of(const TfLiteIntArray *dims)
{
    struct gpu_shape shape = {1, 1, 1, 1};
    gpu_shape_of(dims, &shape); // cannot fail: support.c has checked the rank
    return shape;
}

static void describe(struct gpu_value *value, int tensor_index, const TfLiteTensor *tensor)
{
    value->tensor = tensor_index;
    value->rank = tensor->dims->size;
    value->type = tensor->type;
    memset(value->dims, 0, sizeof value->dims);
    for (int i = 0; i < value->rank && i < GPU_MAX_RANK; i++) value->dims[i] = tensor->dims->data[i];
}

static bool is_8bit(TfLiteType type)
{
    return type == kTfLiteInt8 || type == kTfLiteUInt8;
}

static struct gpu_quantization quantization_of(const TfLiteTensor *tensor, const TfLiteAffineQuantization *affine)
{
    return (struct gpu_quantization){tensor->type, affine->scale->data[0], affine->zero_point->data[0]};
}

static struct gpu_value *add_constant(struct builder *builder, int index, const TfLiteTensor *from)
{
    const TfLiteTensor *tensor = &builder->context->tensors[index];
    struct gpu_value *value = gpu_graph_add_constant(builder->graph, tensor->name, shape_of(tensor->dims));
    if (!value) return NULL;
    describe(value, index, tensor);
    const TfLiteAffineQuantization *affine = gpu_affine_of(from);
    if (affine && tensor->type != kTfLiteInt32) value->scales = affine->scale;
    if (hl_elements(from) != hl_elements(tensor) || !gpu_floats_from(from, value->data)) {
        fail(builder, "cannot read a constant as floats", from);
        return NULL;
    }
    return value;
}

static struct gpu_value *add_runtime_value(struct builder *builder, int index, bool is_input)
{
    const TfLiteTensor *tensor = &builder->context->tensors[index];
    struct gpu_value *value = gpu_graph_add_value(builder->graph, tensor->name, shape_of(tensor->dims));
    if (!value) return NULL;
    describe(value, index, tensor);
    value->is_input = is_input;
    value->is_output = is_input && tensor->is_variable;
    value->codes = builder->partition->exact_integers && is_8bit(tensor->type);
    if (is_8bit(tensor->type)) {
        const TfLiteAffineQuantization *affine = gpu_affine_of(tensor);
        if (!affine) {
            fail(builder, "8-bit values without scale and zero point", tensor);
            return NULL;
        }
        value->quantization = quantization_of(tensor, affine);
    }
    return value;
}

// Makes a separate value if input i of a node that computes with integers is a constant of integers with a scale, or
// the bias: other nodes may read the same tensor as floats. *none: whether the input is neither.
static struct gpu_value *integer_constant(struct builder *builder, const TfLiteNode *node, const struct gpu_op *op,
                                          int i, bool *none)
{
    *none = true;
    int index = node->inputs->data[i];
    if (!op->integers || index < 0) return NULL;
    const TfLiteTensor *tensor = &builder->context->tensors[index];
    bool bias = op->weighted.weights && i == op->weighted.bias;
    if (!hl_is_constant(tensor) || (tensor->type == kTfLiteInt32 ? !bias : !gpu_affine_of(tensor))) return NULL;
    *none = false;
    struct gpu_value *value = gpu_graph_add_constant(builder->graph, tensor->name, shape_of(tensor->dims));
    if (!value) return NULL;
    describe(value, index, tensor);
    if (!bias) value->quantization = quantization_of(tensor, gpu_affine_of(tensor));
    if (!bias) value->scales = gpu_affine_of(tensor)->scale;
    value->codes = is_8bit(tensor->type);
    if (gpu_integers_from(tensor, value->integers)) return value;
    fail(builder, "cannot read a constant as integers", tensor);
    return NULL;
}

// Makes a separate value if input i of the node is the integer bias of 8-bit inputs and weights, because another node
// may use the same tensor with other scales. *none: whether the input is not such a bias.
static struct gpu_value *integer_bias(struct builder *builder, const TfLiteNode *node, const struct gpu_op *op, int i,
                                      bool *none)
{
    const struct gpu_weighted *in = &op->weighted;
    *none = true;
    if (!in->weights || i != in->bias || node->inputs->data[i] < 0) return NULL;
    const TfLiteTensor *tensors = builder->context->tensors, *tensor = &tensors[node->inputs->data[i]];
    const TfLiteAffineQuantization *x_scale = gpu_affine_of(&tensors[node->inputs->data[in->x]]);
    const TfLiteAffineQuantization *w_scale = gpu_affine_of(&tensors[node->inputs->data[in->weights]]);
    if (tensor->type != kTfLiteInt32 || !hl_is_constant(tensor) || !x_scale || !w_scale) return NULL;
    *none = false;
    struct gpu_value *value = gpu_graph_add_constant(builder->graph, tensor->name, shape_of(tensor->dims));
    if (!value) return NULL;
    describe(value, node->inputs->data[i], tensor);
    if (gpu_bias_from(tensor, x_scale, w_scale, value->data)) return value;
    fail(builder, "cannot read a bias", tensor);
    return NULL;
}

static struct gpu_value *value_of(struct builder *builder, int index, bool is_made_here)
{
    if (builder->values[index]) return builder->values[index];
    const struct gpu_partition *partition = builder->partition;
    const TfLiteTensor *tensor = &builder->context->tensors[index];
    int source = (size_t)index < partition->source_count ? partition->source[index] : -1;
    struct gpu_value *value;
    if (source >= 0)
        value = add_constant(builder, index, &builder->context->tensors[source]);
    else if (hl_is_constant(tensor))
        value = add_constant(builder, index, tensor);
    else
        value = add_runtime_value(builder, index, !is_made_here);
    builder->values[index] = value;
    return value;
}

// ---- fused activations --------------------------------------------------------------------------

// Like on the CPU, only FULLY_CONNECTED has fused activations that are curves; all other operators ignore these.
static enum gpu_epilogue_op stage_of(int builtin, TfLiteFusedActivation activation)
{
    bool curved = activation == kTfLiteActTanh || activation == kTfLiteActSigmoid;
    if (curved && builtin != kTfLiteBuiltinFullyConnected) return GPU_EPI_NONE;
    switch (activation) {
    case kTfLiteActRelu: return GPU_EPI_RELU;
    case kTfLiteActReluN1To1: return GPU_EPI_RELU_N1_TO_1;
    case kTfLiteActRelu6: return GPU_EPI_RELU6;
    case kTfLiteActTanh: return GPU_EPI_TANH;
    case kTfLiteActSigmoid: return GPU_EPI_SIGMOID;
    default: return GPU_EPI_NONE;
    }
}

// ---- nodes --------------------------------------------------------------------------------------

static bool connect(struct builder *builder, struct gpu_node *node, const TfLiteNode *from)
{
    if (from->inputs->size > GPU_NODE_INPUTS || from->outputs->size > GPU_NODE_OUTPUTS)
        return fail(builder, "a node has too many inputs or outputs", NULL);
    for (int i = 0; i < from->inputs->size; i++) {
        int tensor = from->inputs->data[i];
        bool none;
        struct gpu_value *value = integer_constant(builder, from, node->op, i, &none);
        if (none) value = integer_bias(builder, from, node->op, i, &none);
        if (none) value = tensor >= 0 ? value_of(builder, tensor, false) : NULL;
        if (tensor >= 0 && !value) return false;
        gpu_graph_connect_input(node, value);
    }
    for (int i = 0; i < from->outputs->size; i++) {
        struct gpu_value *value = value_of(builder, from->outputs->data[i], true);
        if (!value) return false;
        gpu_graph_connect_output(node, value);
    }
    return true;
}

static bool add_node(struct builder *builder, int index, const TfLiteNode *from, const TfLiteRegistration *registration)
{
    struct gpu_graph *graph = builder->graph;
    bool custom = registration->builtin_code == kTfLiteBuiltinCustom;
    bool integers = builder->partition->exact_integers && gpu_has_codes(builder->context, from);
    const struct gpu_op *op = integers ? gpu_integer_op_find(registration->builtin_code, registration->custom_name)
                                       : gpu_op_of(builder->partition->custom_ops, registration);
    if (!op) return fail(builder, "an operator without a GPU kernel was claimed", NULL);
    struct gpu_node *node = gpu_graph_add_node(graph, registration->builtin_code, -1);
    if (!node) return false;
    node->index = index;
    node->op = op;
    bool keeps = op->keeps_options && from->custom_initial_data && from->custom_initial_data_size > 0;
    size_t size = keeps ? (size_t)from->custom_initial_data_size : op->params_size;
    if (!gpu_graph_set_params(node, keeps ? from->custom_initial_data : custom ? NULL : from->builtin_data, size))
        return fail(builder, "out of memory", NULL);
    if (custom && op->params_size > 0) { // the options in the file may be shorter
        size_t given = (size_t)from->custom_initial_data_size;
        memcpy(node->params, from->custom_initial_data, given < op->params_size ? given : op->params_size);
    }
    if (!connect(builder, node, from)) return false;
    if (integers) return true; // its kernels apply the activation
    TfLiteFusedActivation activation = gpu_fused_activation(op, from->builtin_data);
    struct gpu_epilogue stages = {.count = 1, .stages = {{.op = stage_of(node->builtin, activation)}}};
    return stages.stages[0].op == GPU_EPI_NONE || gpu_graph_add_stages(graph, graph->node_count - 1, 0, &stages);
}

static bool is_constant_copy(const struct gpu_partition *partition, const TfLiteNode *node,
                             const TfLiteRegistration *registration)
{
    bool copies =
        registration->builtin_code == kTfLiteBuiltinDequantize || registration->builtin_code == kTfLiteBuiltinDensify;
    if (!copies || node->outputs->size != 1) return false;
    int tensor = node->outputs->data[0];
    return tensor >= 0 && (size_t)tensor < partition->source_count && partition->source[tensor] >= 0;
}

// Returns whether the runtime has computed all outputs already, as it does for SHAPE and for what depends on shapes
// only.
static bool makes_constants(const struct builder *builder, const TfLiteNode *node)
{
    bool all = node->outputs->size > 0;
    for (int i = 0; i < node->outputs->size && all; i++)
        all = node->outputs->data[i] >= 0 && hl_is_constant(&builder->context->tensors[node->outputs->data[i]]);
    return all;
}

static bool add_nodes(struct builder *builder)
{
    const struct gpu_partition *partition = builder->partition;
    for (int i = 0; i < partition->nodes->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        int index = partition->nodes->data[i];
        if (builder->context->GetNodeAndRegistration(builder->context, index, &node, &registration) != kTfLiteOk)
            return fail(builder, "the runtime does not know a node that it gave away", NULL);
        if (is_constant_copy(partition, node, registration) || makes_constants(builder, node)) continue;
        if (!add_node(builder, index, node, registration)) return false;
    }
    return true;
}

static bool mark_outputs(struct builder *builder)
{
    const TfLiteIntArray *outputs = builder->partition->outputs;
    for (int i = 0; i < outputs->size; i++) {
        struct gpu_value *value = value_of(builder, outputs->data[i], true);
        if (!value) return false;
        value->is_output = !value->data;
        value->is_kept = value->data != NULL;
    }
    return true;
}

struct gpu_graph *gpu_graph_build(const struct gpu_partition *partition, const struct hl_reporter *reporter)
{
    struct builder builder = {
        .partition = partition,
        .context = partition->context,
        .graph = gpu_graph_create(reporter),
    };
    if (!builder.graph) return NULL;
    builder.values = calloc(partition->context->tensors_size + 1, sizeof(struct gpu_value *));
    bool ok = builder.values ? add_nodes(&builder) && mark_outputs(&builder) : fail(&builder, "out of memory", NULL);
    free(builder.values);
    if (ok && gpu_graph_quantize(builder.graph, partition->precision)) return builder.graph;
    gpu_graph_destroy(builder.graph);
    return NULL;
}
