// SPDX-License-Identifier: Apache-2.0
// A fingerprint of a node: its operator and options, types and shapes of its inputs and outputs, their quantization,
// and the bytes of those that are constant. What a kernel computes while it prepares follows from these. Among one
// model's interpreters, where constants lie tells them apart, which costs nothing.
#include "model/options.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"
#include "runtime/weights.h"

static void add_int(struct hl_digest *digest, int64_t value)
{
    hl_digest_add(digest, &value, sizeof value);
}

static void add_array(struct hl_digest *digest, const TfLiteIntArray *array)
{
    hl_digest_add(digest, array ? array->data : NULL, array ? (size_t)array->size * sizeof *array->data : 0);
}

// False: more than one scale for each channel, which may lie in other tensors.
static bool add_quantization(struct hl_digest *digest, const TfLiteTensor *tensor)
{
    add_int(digest, tensor->quantization.type);
    hl_digest_add(digest, &tensor->params.scale, sizeof tensor->params.scale);
    add_int(digest, tensor->params.zero_point);
    if (tensor->quantization.type == kTfLiteNoQuantization) return true;
    if (tensor->quantization.type != kTfLiteAffineQuantization) return false;
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    if (!affine) return true;
    if (affine->scale) hl_digest_add(digest, affine->scale->data, (size_t)affine->scale->size * sizeof(float));
    add_array(digest, affine->zero_point);
    add_int(digest, affine->quantized_dimension);
    return true;
}

// Whether the tensor's value is that of the model's file.
static bool is_models(const struct hl_subgraph *subgraph, int index)
{
    return index < subgraph->model->tensor_count &&
           subgraph->model->tensors[index].data == subgraph->context.tensors[index].data.raw_const;
}

// What a constant is, in a few bytes: that of the model which lies here, or the shared block with this id, which no
// other block ever has. Addresses of blocks would not do: memory is given back and taken again.
static bool add_identity(struct hl_digest *digest, const struct hl_subgraph *subgraph, int index,
                         HaliteWeightsCache *own)
{
    enum kind { MODELS = 1, BLOCK };
    const void *data = subgraph->context.tensors[index].data.raw_const;
    const bool models = is_models(subgraph, index);
    const uint64_t id = models ? (uint64_t)(uintptr_t)data : hl_weights_id(own, data);
    if (id == 0) return false;
    add_int(digest, models ? MODELS : BLOCK);
    hl_digest_add(digest, &id, sizeof id);
    return true;
}

static bool add_tensor(struct hl_digest *digest, const TfLiteContext *ctx, int index, HaliteWeightsCache *own)
{
    const TfLiteTensor *tensor = index < 0 ? NULL : &ctx->tensors[index];
    add_int(digest, tensor ? (int64_t)tensor->type : -1);
    if (!tensor) return true;
    add_array(digest, tensor->dims);
    const bool whole = !tensor->sparsity || (own && is_models(hl_subgraph_of(ctx), index));
    if (!whole || !add_quantization(digest, tensor)) return false;
    const bool constant = hl_is_constant(tensor);
    add_int(digest, constant);
    if (!constant || !tensor->data.raw_const) return true;
    if (own && add_identity(digest, hl_subgraph_of(ctx), index, own)) return true;
    hl_digest_add(digest, tensor->data.raw_const, tensor->bytes);
    return true;
}

bool hl_digest_node(const TfLiteContext *ctx, const TfLiteNode *node, HaliteWeightsCache *own, struct hl_digest *digest)
{
    const TfLiteRegistration *registration = &hl_node_of(node)->registration;
    const char *custom = registration->custom_name;
    add_int(digest, registration->builtin_code);
    add_int(digest, registration->version);
    if (custom) hl_digest_add(digest, custom, strlen(custom));
    if (node->builtin_data) hl_digest_add(digest, node->builtin_data, hl_options_size(registration->builtin_code));
    if (node->custom_initial_data)
        hl_digest_add(digest, node->custom_initial_data, (size_t)node->custom_initial_data_size);
    add_int(digest, hl_input_count(node));
    for (int i = 0; i < hl_input_count(node); i++)
        if (!add_tensor(digest, ctx, node->inputs->data[i], own)) return false;
    for (int i = 0; i < hl_output_count(node); i++)
        if (!add_tensor(digest, ctx, node->outputs->data[i], own)) return false;
    // No two nodes of a model have the same fingerprint, whatever a model's maker tries.
    if (own) digest->lanes[3] = (uint64_t)hl_subgraph_of(ctx)->index << 32 | (uint64_t)hl_node_of(node)->index;
    return true;
}
