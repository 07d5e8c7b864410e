// SPDX-License-Identifier: Apache-2.0
// Variables that outlive an invoke, shared by all subgraphs of an interpreter under (container, name):
//   VAR_HANDLE        out 0: resource, the variable's handle. Makes the variable when the node is prepared.
//   ASSIGN_VARIABLE   in 0: handle, in 1: the new value, whose type and shape the variable takes.
//   READ_VARIABLE     in 0: handle, out 0: the value. Refused where nothing was assigned, or another type.
// Any type but strings, resources and variants.
#include <string.h>

#include "ops/op.h"
#include "runtime/resources.h"

// ---- VAR_HANDLE ---------------------------------------------------------------------------------

struct var_handle {
    int32_t id;
};

static TfLiteStatus var_handle_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 0, 0, 1));
    struct var_handle *op = node->user_data;
    const TfLiteVarHandleParams *params = node->builtin_data;
    const TfLiteTensor *handle = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, handle->type == kTfLiteResource, "the output is %s instead of resource",
               hl_type_name(handle->type));
    op->id = hl_resource_id(hl_context_resources(ctx), params->container, params->shared_name);
    HL_REQUIRE(ctx, node, op->id >= 0, "no memory for a variable");
    return kTfLiteOk;
}

static TfLiteStatus var_handle_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct var_handle *op = node->user_data;
    memcpy(hl_output(ctx, node, 0)->data.raw, &op->id, sizeof op->id);
    return kTfLiteOk;
}

const struct hl_op hl_op_var_handle = {
    .state_size = sizeof(struct var_handle),
    .prepare = var_handle_prepare,
    .invoke = var_handle_invoke,
};

// ---- ASSIGN_VARIABLE and READ_VARIABLE ----------------------------------------------------------

static TfLiteStatus require_variable(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *handle,
                                     const TfLiteTensor *value)
{
    HL_REQUIRE(ctx, node, handle->type == kTfLiteResource, "the handle is %s instead of resource",
               hl_type_name(handle->type));
    bool plain = value->type != kTfLiteString && value->type != kTfLiteResource && value->type != kTfLiteVariant;
    return plain ? kTfLiteOk : hl_unsupported_type(ctx, node, value);
}

static TfLiteStatus assign_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 0));
    return require_variable(ctx, node, hl_input(ctx, node, 0), hl_input(ctx, node, 1));
}

// Makes the variable one of the value's type and shape, with memory for it.
static TfLiteStatus take_form(TfLiteContext *ctx, const TfLiteNode *node, struct hl_resource_variable *variable,
                              const TfLiteTensor *from)
{
    TfLiteTensor *value = &variable->value;
    TfLiteIntArray *dims = TfLiteIntArrayCopy(from->dims);
    if (!dims || hl_resize_bytes(ctx, value, from->bytes) != kTfLiteOk) {
        TfLiteIntArrayFree(dims);
        variable->assigned = false;
        return hl_op_error(ctx, node, "no memory for %zu bytes of variable '%s'", from->bytes, variable->name);
    }
    TfLiteIntArrayFree(value->dims);
    value->dims = dims;
    value->type = from->type;
    value->bytes = from->bytes;
    return kTfLiteOk;
}

static TfLiteStatus assign_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_resource_variable *variable = hl_context_variable(ctx, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, variable, "the handle stands for no variable");
    const TfLiteTensor *from = hl_input(ctx, node, 1);
    TfLiteTensor *value = &variable->value;
    const bool fits =
        variable->assigned && value->type == from->type && value->bytes == from->bytes && hl_same_shape(value, from);
    if (!fits) HL_TRY(take_form(ctx, node, variable, from));
    if (from->bytes) memcpy(value->data.raw, hl_data(from), from->bytes);
    variable->assigned = true;
    return kTfLiteOk;
}

const struct hl_op hl_op_assign_variable = {
    .prepare = assign_prepare,
    .invoke = assign_invoke,
};

static TfLiteStatus read_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    return require_variable(ctx, node, hl_input(ctx, node, 0), hl_output(ctx, node, 0));
}

static TfLiteStatus read_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_resource_variable *variable = hl_context_variable(ctx, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, variable, "the handle stands for no variable");
    HL_REQUIRE(ctx, node, variable->assigned, "variable '%s' is read before anything was assigned to it",
               variable->name);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const TfLiteTensor *value = &variable->value;
    HL_REQUIRE(ctx, node, output->type == value->type, "variable '%s' holds %s, but %s is to be read", variable->name,
               hl_type_name(value->type), hl_type_name(output->type));
    if (!hl_same_shape(output, value)) { // it took another shape than the model declares
        hl_make_dynamic(output);
        HL_TRY(hl_resize_like(ctx, output, value));
    }
    if (value->bytes) memcpy(output->data.raw, hl_data(value), value->bytes);
    return kTfLiteOk;
}

const struct hl_op hl_op_read_variable = {
    .prepare = read_prepare,
    .invoke = read_invoke,
    .may_resize = true,
};
