// SPDX-License-Identifier: Apache-2.0
// A fingerprint of a node: its operator and options, types and shapes of its inputs and outputs, their quantization,
// and the bytes of those that are constant. What a kernel computes while it prepares follows from these.
#include "model/options.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"

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

static bool add_tensor(struct hl_digest *digest, const TfLiteTensor *tensor)
{
    add_int(digest, tensor ? (int64_t)tensor->type : -1);
    if (!tensor) return true;
    add_array(digest, tensor->dims);
    if (tensor->sparsity || !add_quantization(digest, tensor)) return false;
    const bool constant = hl_is_constant(tensor);
    add_int(digest, constant);
    if (constant && tensor->data.raw_const) hl_digest_add(digest, tensor->data.raw_const, tensor->bytes);
    return true;
}

bool hl_digest_node(const TfLiteContext *ctx, const TfLiteNode *node, struct hl_digest *digest)
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
        if (!add_tensor(digest, hl_input(ctx, node, i))) return false;
    for (int i = 0; i < hl_output_count(node); i++) {
        const TfLiteTensor *output = node->outputs->data[i] < 0 ? NULL : &ctx->tensors[node->outputs->data[i]];
        if (!add_tensor(digest, output)) return false;
    }
    return true;
}
