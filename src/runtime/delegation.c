// SPDX-License-Identifier: Apache-2.0
// Delegates on a subgraph: apply one (it claims nodes, which become nodes of its own), undo all when it fails or when
// inputs are resized, apply them again. The model's nodes are never changed: only the plan, and nodes appended behind
// them.
#include <stdlib.h>
#include <string.h>

#include "runtime/interpreter.h"
#include "runtime/operator.h"
#include "runtime/partition.h"
#include "runtime/subgraph.h"

// ---- the two forms of a delegate ----------------------------------------------------------------

int64_t hl_delegate_flags(const TfLiteDelegate *delegate)
{
    const TfLiteOpaqueDelegateBuilder *builder = delegate->opaque_delegate_builder;
    return builder && !delegate->Prepare ? builder->flags : delegate->flags;
}

static TfLiteStatus call_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const TfLiteOpaqueDelegateBuilder *builder = delegate->opaque_delegate_builder;
    if (delegate->Prepare) return delegate->Prepare(context, delegate);
    if (builder && builder->Prepare) return builder->Prepare((TfLiteOpaqueContext *)context, delegate, builder->data);
    hl_subgraph_error(hl_subgraph_of(context), "the delegate has no Prepare function");
    return kTfLiteDelegateError;
}

TfLiteStatus hl_delegate_copy_from(TfLiteContext *context, TfLiteTensor *tensor)
{
    TfLiteDelegate *delegate = tensor->delegate;
    const TfLiteOpaqueDelegateBuilder *builder = delegate->opaque_delegate_builder;
    if (delegate->CopyFromBufferHandle)
        return delegate->CopyFromBufferHandle(context, delegate, tensor->buffer_handle, tensor);
    if (builder && builder->CopyFromBufferHandle)
        return builder->CopyFromBufferHandle((TfLiteOpaqueContext *)context, delegate, builder->data,
                                             tensor->buffer_handle, (TfLiteOpaqueTensor *)tensor);
    return kTfLiteError;
}

void hl_delegate_free_handle(TfLiteContext *context, TfLiteTensor *tensor)
{
    TfLiteDelegate *delegate = tensor->delegate;
    if (!delegate || tensor->buffer_handle == kTfLiteNullBufferHandle) return;
    const TfLiteOpaqueDelegateBuilder *builder = delegate->opaque_delegate_builder;
    if (delegate->FreeBufferHandle)
        delegate->FreeBufferHandle(context, delegate, &tensor->buffer_handle);
    else if (builder && builder->FreeBufferHandle)
        builder->FreeBufferHandle((TfLiteOpaqueContext *)context, delegate, builder->data, &tensor->buffer_handle);
    tensor->buffer_handle = kTfLiteNullBufferHandle;
}

// ---- operators ----------------------------------------------------------------------------------

bool hl_subgraph_own_operator(struct hl_subgraph *subgraph, TfLiteOperator *op)
{
    TfLiteOperator **list = realloc(subgraph->operators, (size_t)(subgraph->operator_count + 1) * sizeof *list);
    if (!list) return false;
    subgraph->operators = list;
    list[subgraph->operator_count++] = op;
    return true;
}

TfLiteOperator *hl_subgraph_describe_node(struct hl_subgraph *subgraph, int node)
{
    bool stays = node < subgraph->model_node_count; // a delegate's node may give its index to another one
    for (int i = 0; stays && i < subgraph->operator_count; i++)
        if (subgraph->operators[i]->node_index == node) return subgraph->operators[i];
    const TfLiteRegistration *registration = &subgraph->nodes[node]->registration;
    TfLiteOperator *op = TfLiteOperatorCreate((TfLiteBuiltinOperator)registration->builtin_code,
                                              registration->custom_name, registration->version, NULL);
    if (!op) return NULL;
    op->node_index = stays ? node : -1;
    op->inplace = registration->inplace_operator;
    if (hl_subgraph_own_operator(subgraph, op)) return op;
    TfLiteOperatorDelete(op);
    return NULL;
}

// ---- replacing nodes ----------------------------------------------------------------------------

static const char *kernel_name(const TfLiteRegistration *registration)
{
    if (registration->custom_name) return registration->custom_name;
    return "DELEGATE";
}

// Binaries built against older headers pass a shorter struct by value: what comes after `version` is noise then. So the
// operator counts only where the plain callbacks are empty, and beside them the async kernel only where its neighbors
// are what a full struct has there.
static TfLiteRegistration without_noise(const TfLiteRegistration *from)
{
    TfLiteRegistration registration = {
        .init = from->init,
        .free = from->free,
        .prepare = from->prepare,
        .invoke = from->invoke,
        .profiling_string = from->profiling_string,
        .builtin_code = kTfLiteBuiltinDelegate,
        .custom_name = from->custom_name,
        .version = from->version,
    };
    bool plain = from->init || from->free || from->prepare || from->invoke;
    if (!plain) {
        registration.registration_external = from->registration_external;
        if (from->registration_external) registration.custom_name = from->registration_external->custom_name;
    }
    const uint64_t inplace_bits = 2 * kTfLiteInplaceOpInput2Shared - 1;
    if (!from->registration_external && from->inplace_operator <= inplace_bits)
        registration.async_kernel = from->async_kernel;
    return registration;
}

// The params a delegate kernel's init gets, in one block with their arrays: they live as long as the node, as its
// builtin_data, which some delegates read again when they prepare.
struct params_block {
    union {
        TfLiteDelegateParams plain;
        TfLiteOpaqueDelegateParams opaque;
    };
    int arrays[];
};

static TfLiteIntArray *put_array(int **at, const TfLiteIntArray *from)
{
    TfLiteIntArray *array = (TfLiteIntArray *)*at;
    memcpy(array, from, TfLiteIntArrayGetSizeInBytes(from->size));
    *at += 1 + from->size;
    return array;
}

static struct params_block *make_params(const struct hl_piece *piece, TfLiteDelegate *delegate, bool opaque)
{
    size_t ints = 3 + (size_t)piece->nodes->size + (size_t)piece->inputs->size + (size_t)piece->outputs->size;
    struct params_block *block = malloc(sizeof *block + ints * sizeof(int));
    if (!block) return NULL;
    int *at = block->arrays;
    TfLiteIntArray *nodes = put_array(&at, piece->nodes);
    TfLiteIntArray *inputs = put_array(&at, piece->inputs);
    TfLiteIntArray *outputs = put_array(&at, piece->outputs);
    if (opaque)
        block->opaque =
            (TfLiteOpaqueDelegateParams){delegate, TfLiteOpaqueDelegateGetData(delegate), nodes, inputs, outputs};
    else
        block->plain = (TfLiteDelegateParams){delegate, nodes, inputs, outputs};
    return block;
}

const TfLiteIntArray *hl_delegate_replaced_nodes(const struct hl_node *node)
{
    const struct params_block *params = node->node.builtin_data;
    return node->registration.registration_external ? params->opaque.nodes_to_replace : params->plain.nodes_to_replace;
}

static int add_delegate_node(struct hl_subgraph *subgraph, const TfLiteRegistration *registration,
                             const struct hl_piece *piece, TfLiteDelegate *delegate)
{
    bool opaque = registration->registration_external != NULL;
    struct params_block *params = make_params(piece, delegate, opaque);
    if (!params) {
        hl_subgraph_error(subgraph, "out of memory while applying a delegate");
        return -1;
    }
    return hl_subgraph_add_node(subgraph, registration, kernel_name(registration), TfLiteIntArrayCopy(piece->inputs),
                                TfLiteIntArrayCopy(piece->outputs), TfLiteIntArrayCreate(0), params, params,
                                opaque ? sizeof params->opaque : sizeof params->plain);
}

static TfLiteStatus set_delegate(struct hl_subgraph *subgraph, TfLiteTensor *tensor, TfLiteDelegate *delegate)
{
    if (tensor->delegate && tensor->delegate != delegate) {
        hl_subgraph_error(subgraph, "tensor %s belongs to another delegate already", hl_tensor_label(tensor));
        return kTfLiteError;
    }
    tensor->delegate = delegate;
    return kTfLiteOk;
}

static TfLiteStatus replace_piece(struct hl_subgraph *subgraph, const TfLiteRegistration *registration,
                                  const struct hl_piece *piece, TfLiteDelegate *delegate, int *node_index)
{
    *node_index = add_delegate_node(subgraph, registration, piece, delegate);
    if (*node_index < 0) return kTfLiteError;
    struct hl_node *node = subgraph->nodes[*node_index];
    node->node.delegate = delegate;
    node->replaced = piece->nodes->size;
    for (int i = 0; i < piece->outputs->size; i++) {
        TfLiteTensor *tensor = &subgraph->context.tensors[piece->outputs->data[i]];
        if (set_delegate(subgraph, tensor, delegate) != kTfLiteOk) return kTfLiteError;
    }
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_replace_nodes(struct hl_subgraph *subgraph, const TfLiteRegistration *from,
                                       const TfLiteIntArray *nodes, TfLiteDelegate *delegate)
{
    if (!nodes || nodes->size == 0) return kTfLiteOk;
    TfLiteRegistration registration = without_noise(from);
    struct hl_piece *pieces;
    int count;
    TfLiteIntArray *plan = TfLiteIntArrayCreate(subgraph->plan->size);
    if (!plan || !hl_partition(subgraph, nodes, &pieces, &count)) {
        TfLiteIntArrayFree(plan);
        hl_subgraph_error(subgraph, "out of memory while partitioning subgraph %d", subgraph->index);
        return kTfLiteError;
    }
    TfLiteStatus status = kTfLiteOk;
    int size = 0;
    for (int p = 0; p < count && status == kTfLiteOk; p++) {
        if (pieces[p].delegated) {
            status = replace_piece(subgraph, &registration, &pieces[p], delegate, &plan->data[size]);
            size++;
        } else {
            memcpy(plan->data + size, pieces[p].nodes->data, (size_t)pieces[p].nodes->size * sizeof(int));
            size += pieces[p].nodes->size;
        }
    }
    hl_pieces_free(pieces, count);
    if (status != kTfLiteOk) {
        TfLiteIntArrayFree(plan);
        return status;
    }
    plan->size = size;
    TfLiteIntArrayFree(subgraph->plan);
    subgraph->plan = plan;
    return kTfLiteOk;
}

void hl_subgraph_free_preview(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->preview_count; i++) {
        TfLiteIntArrayFree(subgraph->preview[i].nodes_to_replace);
        TfLiteIntArrayFree(subgraph->preview[i].input_tensors);
        TfLiteIntArrayFree(subgraph->preview[i].output_tensors);
    }
    free(subgraph->preview);
    subgraph->preview = NULL;
    subgraph->preview_count = 0;
}

TfLiteStatus hl_subgraph_preview_partitions(struct hl_subgraph *subgraph, const TfLiteIntArray *nodes,
                                            TfLiteDelegateParams **params, int *count)
{
    *params = NULL;
    *count = 0;
    hl_subgraph_free_preview(subgraph);
    struct hl_piece *pieces;
    int piece_count;
    if (!nodes || nodes->size == 0) return kTfLiteOk;
    if (!hl_partition(subgraph, nodes, &pieces, &piece_count)) return kTfLiteError;
    TfLiteDelegateParams *preview = calloc((size_t)piece_count + 1, sizeof *preview);
    int delegated = 0;
    for (int p = 0; preview && p < piece_count; p++) {
        if (!pieces[p].delegated) continue;
        preview[delegated++] = (TfLiteDelegateParams){
            .nodes_to_replace = pieces[p].nodes,
            .input_tensors = pieces[p].inputs,
            .output_tensors = pieces[p].outputs,
        };
        pieces[p] = (struct hl_piece){0}; // the arrays belong to the preview now
    }
    hl_pieces_free(pieces, piece_count);
    if (!preview) return kTfLiteError;
    *params = subgraph->preview = preview;
    *count = subgraph->preview_count = delegated;
    return kTfLiteOk;
}

// ---- apply, undo, redo --------------------------------------------------------------------------

// Delegates that take half precision constants directly point the nodes they claim at them, past the DEQUANTIZE.
static void restore_inputs(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->model->node_count; i++) {
        const struct hl_model_node *from = &subgraph->model->nodes[i];
        TfLiteIntArray *inputs = subgraph->nodes[i]->node.inputs;
        if (inputs->size == from->input_count && inputs->size > 0)
            memcpy(inputs->data, from->inputs, (size_t)inputs->size * sizeof(int));
    }
}

TfLiteStatus hl_subgraph_undo_delegates(struct hl_subgraph *subgraph)
{
    if (!subgraph->undelegated_plan) return kTfLiteOk;
    hl_subgraph_end_async(subgraph, false);
    hl_subgraph_restore_nodes(subgraph);
    for (int i = 0; i < subgraph->tensor_count; i++) {
        TfLiteTensor *tensor = &subgraph->context.tensors[i];
        if (!tensor->delegate) continue;
        hl_delegate_free_handle(&subgraph->context, tensor);
        tensor->delegate = NULL;
        tensor->data_is_stale = false;
    }
    for (int i = subgraph->model_node_count; i < subgraph->node_count; i++)
        hl_subgraph_free_node(subgraph, subgraph->nodes[i]);
    subgraph->node_count = subgraph->model_node_count;
    restore_inputs(subgraph);
    TfLiteIntArrayFree(subgraph->plan);
    subgraph->plan = subgraph->undelegated_plan;
    subgraph->undelegated_plan = NULL;
    subgraph->state = HL_NOT_READY;
    subgraph->prepared = 0;
    subgraph->delegates_undone = true;
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_remove_delegates(struct hl_subgraph *subgraph)
{
    if (hl_subgraph_undo_delegates(subgraph) != kTfLiteOk) return kTfLiteError;
    subgraph->delegate_count = 0;
    subgraph->delegates_undone = false;
    return kTfLiteOk;
}

// The graph runs as before the first delegate, and at once.
static TfLiteStatus restore_after_failure(struct hl_subgraph *subgraph, TfLiteStatus status)
{
    hl_subgraph_remove_delegates(subgraph);
    hl_subgraph_allocate(subgraph);
    hl_subgraph_error(subgraph, "Restored original execution plan after delegate application failure.");
    return status;
}

// A delegate for fixed shapes cannot take a graph whose shapes are known only while running, nor one with operators
// that nobody resolved, whose shapes nobody knows: such a delegate has to allow dynamic tensors.
static TfLiteStatus require_static_shapes(struct hl_subgraph *subgraph)
{
    for (int position = 0; position < subgraph->plan->size; position++) {
        struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
        TfLiteStatus status = hl_subgraph_prepare_node(subgraph, node);
        if (status != kTfLiteOk) return status;
        for (int i = 0; i < node->node.outputs->size; i++) {
            int tensor = node->node.outputs->data[i];
            if (tensor < 0 || subgraph->context.tensors[tensor].allocation_type != kTfLiteDynamic) continue;
            hl_subgraph_error(subgraph,
                              "Attempting to use a delegate that only supports static-sized tensors with a graph that "
                              "has dynamic-sized tensors (tensor#%d is a dynamic-sized tensor).",
                              tensor);
            return kTfLiteApplicationError;
        }
    }
    return kTfLiteOk;
}

static bool remember_delegate(struct hl_subgraph *subgraph, TfLiteDelegate *delegate)
{
    TfLiteDelegate **list = realloc(subgraph->delegates, (size_t)(subgraph->delegate_count + 1) * sizeof *list);
    if (!list) return false;
    subgraph->delegates = list;
    list[subgraph->delegate_count++] = delegate;
    return true;
}

static bool has_dynamic_outputs(const struct hl_subgraph *subgraph)
{
    for (int position = 0; position < subgraph->plan->size; position++)
        if (hl_subgraph_has_dynamic(subgraph, subgraph->nodes[subgraph->plan->data[position]]->node.outputs))
            return true;
    return false;
}

// After the delegate claimed its nodes: memory for the new plan, where the old one had it or nothing can change any
// more.
static TfLiteStatus settle(struct hl_subgraph *subgraph, bool allows_dynamic, enum hl_subgraph_state before)
{
    subgraph->state = HL_NOT_READY;
    subgraph->prepared = 0;
    if (allows_dynamic && before == HL_NOT_READY) return kTfLiteOk;
    if (hl_subgraph_allocate(subgraph) != kTfLiteOk) return restore_after_failure(subgraph, kTfLiteDelegateError);
    if (allows_dynamic && before == HL_READY) return kTfLiteOk;
    if (allows_dynamic && has_dynamic_outputs(subgraph)) {
        hl_subgraph_remove_delegates(subgraph);
        hl_subgraph_error(
            subgraph, "Cannot allow dynamic tensors due to previous delegation, resetting to original execution plan.");
        return kTfLiteApplicationError;
    }
    subgraph->state = HL_IMMUTABLE;
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_apply_delegate(struct hl_subgraph *subgraph, TfLiteDelegate *delegate)
{
    if (!delegate) {
        hl_subgraph_error(subgraph, "Null delegate.");
        return kTfLiteDelegateError;
    }
    if (subgraph->inconsistent) {
        hl_subgraph_error(subgraph, "ModifyGraphWithDelegate() called on inconsistent model.");
        return kTfLiteError;
    }
    hl_subgraph_end_async(subgraph, false);
    TfLiteStatus status = hl_subgraph_redo_delegates(subgraph);
    if (status != kTfLiteOk) return status;
    enum hl_subgraph_state before = subgraph->state;
    bool allows_dynamic = hl_delegate_flags(delegate) & kTfLiteDelegateFlagsAllowDynamicTensors;
    if (!allows_dynamic && before != HL_IMMUTABLE) { // an immutable graph has passed this
        subgraph->state = HL_NOT_READY;
        hl_subgraph_restore_nodes(subgraph);
        hl_planner_reset(subgraph);
        status = require_static_shapes(subgraph);
        if (status != kTfLiteOk) {
            if (before == HL_READY) hl_subgraph_allocate(subgraph);
            return status;
        }
    }
    if (!subgraph->undelegated_plan && !(subgraph->undelegated_plan = TfLiteIntArrayCopy(subgraph->plan))) {
        hl_subgraph_error(subgraph, "out of memory while applying a delegate");
        return kTfLiteError;
    }

    hl_context_begin_delegation(subgraph);
    status = call_prepare(&subgraph->context, delegate);
    hl_context_end_delegation(subgraph);
    hl_subgraph_free_preview(subgraph);
    if (status != kTfLiteOk) return restore_after_failure(subgraph, kTfLiteDelegateError);
    if (!remember_delegate(subgraph, delegate)) return restore_after_failure(subgraph, kTfLiteError);
    return settle(subgraph, allows_dynamic, before);
}

TfLiteStatus hl_subgraph_redo_delegates(struct hl_subgraph *subgraph)
{
    if (!subgraph->delegates_undone) return kTfLiteOk;
    subgraph->delegates_undone = false;
    int count = subgraph->delegate_count;
    TfLiteDelegate **delegates = subgraph->delegates;
    subgraph->delegates = NULL;
    subgraph->delegate_count = 0;
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < count && status == kTfLiteOk; i++) status = hl_subgraph_apply_delegate(subgraph, delegates[i]);
    free(delegates);
    return status;
}
