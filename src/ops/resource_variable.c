// SPDX-License-Identifier: Apache-2.0
// Variables that outlive an invoke, shared by all subgraphs of an interpreter under (container, name):
//   VAR_HANDLE        out 0: resource, the variable's handle. Makes the variable when the node is prepared.
//   ASSIGN_VARIABLE   in 0: handle, in 1: the new value, whose type and shape the variable takes.
//   READ_VARIABLE     in 0: handle, out 0: the value. Refused where nothing was assigned, or another type.
// Any type but strings, resources and variants.
#include <string.h>

#include "ops/common/copy.h"
#include "runtime/resources.h"

// ---- VAR_HANDLE ---------------------------------------------------------------------------------

static TfLiteStatus var_handle_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 0, 0, 1));
    const TfLiteVarHandleParams *params = node->builtin_data;
    TfLiteTensor *handle = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, handle->type == kTfLiteResource, "the output is %s instead of resource",
               hl_type_name(handle->type));
    const int32_t id = hl_resource_id(hl_context_resources(ctx), params->container, params->shared_name);
    HL_REQUIRE(ctx, node, id >= 0, "no memory for a variable");
    hl_make_constant(handle);
    HL_TRY(hl_resize_bytes(ctx, handle, sizeof id));
    memcpy(handle->data.raw, &id, sizeof id);
    return kTfLiteOk;
}

const struct hl_op hl_op_var_handle = {
    .prepare = var_handle_prepare,
    .invoke = hl_invoke_nothing,
};

// ---- ASSIGN_VARIABLE and READ_VARIABLE ----------------------------------------------------------

// The state: the form of the variable that was compared with the node's tensor since prepare. (Comparing shapes again
// takes longer than to copy the values of small networks that stream.)
struct access {
    int64_t form; // -1: none
};

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
    struct access *op = node->user_data;
    op->form = -1;
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
        variable->form = 0;
        return hl_op_error(ctx, node, "no memory for %zu bytes of variable '%s'", from->bytes, variable->name);
    }
    TfLiteIntArrayFree(value->dims);
    value->dims = dims;
    value->type = from->type;
    value->bytes = from->bytes;
    variable->form = ++hl_context_resources(ctx)->forms;
    return kTfLiteOk;
}

static TfLiteStatus assign_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_resource_variable *variable = hl_context_variable(ctx, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, variable, "the handle stands for no variable");
    const TfLiteTensor *from = hl_input(ctx, node, 1);
    TfLiteTensor *value = &variable->value;
    struct access *op = node->user_data;
    if (variable->form != op->form) {
        const bool fits = variable->form > 0 && value->type == from->type && value->bytes == from->bytes &&
                          hl_same_shape(value, from);
        if (!fits) HL_TRY(take_form(ctx, node, variable, from));
        op->form = variable->form;
    }
    if (from->bytes) memcpy(value->data.raw, hl_data(from), from->bytes);
    return kTfLiteOk;
}

const struct hl_op hl_op_assign_variable = {
    .state_size = sizeof(struct access),
    .prepare = assign_prepare,
    .invoke = assign_invoke,
};

static TfLiteStatus read_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct access *op = node->user_data;
    op->form = -1;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    return require_variable(ctx, node, hl_input(ctx, node, 0), hl_output(ctx, node, 0));
}

// Gives the output the variable's shape, where that took another one than the model declares.
static TfLiteStatus read_form(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_resource_variable *variable,
                              TfLiteTensor *output)
{
    const TfLiteTensor *value = &variable->value;
    HL_REQUIRE(ctx, node, variable->form > 0, "variable '%s' is read before anything was assigned to it",
               variable->name);
    HL_REQUIRE(ctx, node, output->type == value->type, "variable '%s' holds %s, but %s is to be read", variable->name,
               hl_type_name(value->type), hl_type_name(output->type));
    if (hl_same_shape(output, value)) return kTfLiteOk;
    hl_make_dynamic(output);
    return hl_resize_like(ctx, output, value);
}

static TfLiteStatus read_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct access *op = node->user_data;
    const struct hl_resource_variable *variable = hl_context_variable(ctx, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, variable, "the handle stands for no variable");
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const TfLiteTensor *value = &variable->value;
    if (variable->form != op->form) HL_TRY(read_form(ctx, node, variable, output));
    op->form = variable->form;
    if (value->bytes) memcpy(output->data.raw, hl_data(value), value->bytes);
    return kTfLiteOk;
}

const struct hl_op hl_op_read_variable = {
    .state_size = sizeof(struct access),
    .prepare = read_prepare,
    .invoke = read_invoke,
    .may_resize = true,
};
