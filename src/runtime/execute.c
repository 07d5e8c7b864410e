// SPDX-License-Identifier: Apache-2.0
// Running a subgraph: prepare nodes in order, give tensors memory, invoke nodes in order. Where a node's output shape
// is known only after it ran, preparing stops there and goes on during invoke.
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/builtin_kernels.h"
#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/operator.h"
#include "runtime/run.h"
#include "runtime/subgraph.h"
#include "runtime/weights.h"

bool hl_subgraph_has_dynamic(const struct hl_subgraph *subgraph, const TfLiteIntArray *tensors)
{
    for (int i = 0; i < tensors->size; i++)
        if (tensors->data[i] >= 0 && subgraph->context.tensors[tensors->data[i]].allocation_type == kTfLiteDynamic)
            return true;
    return false;
}

// ---- prepare ------------------------------------------------------------------------------------

// A delegate for shapes that change may leave it to its nodes' own kernels to work them out.
static TfLiteStatus propagate_shapes(struct hl_subgraph *subgraph, const struct hl_node *node)
{
    const int64_t wanted = kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsRequirePropagatedShapes;
    if (!node->node.delegate || (hl_delegate_flags(node->node.delegate) & wanted) != wanted) return kTfLiteOk;
    const TfLiteIntArray *replaced = hl_delegate_replaced_nodes(node);
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < replaced->size && status == kTfLiteOk; i++)
        status = hl_subgraph_prepare_node(subgraph, subgraph->nodes[replaced->data[i]]);
    return status;
}

static void count_heap_of_node(struct hl_subgraph *subgraph, const struct hl_node *node)
{
    hl_subgraph_count_heap_of(subgraph, node->node.outputs);
    hl_subgraph_count_heap_of(subgraph, node->node.temporaries);
}

TfLiteStatus hl_subgraph_prepare_node(struct hl_subgraph *subgraph, struct hl_node *node)
{
    node->settled = false;
    subgraph->call_count = 0;
    subgraph->left_for_others = NULL;
    for (; node->leads > 0; node->leads--) node->followers[node->leads - 1]->follows = false;
    if (node->unresolved) {
        bool flex = strncmp(node->name, "Flex", 4) == 0;
        hl_subgraph_error(subgraph,
                          flex ? "Encountered unresolved custom op: %s. Node %d is an operator of TensorFlow itself: "
                                 "convert the model without Select TensorFlow operators."
                               : "Encountered unresolved custom op: %s. Node %d needs it: add it with "
                                 "TfLiteInterpreterOptionsAddCustomOp.",
                          node->name, node->index);
        return kTfLiteUnresolvedOps;
    }
    TfLiteStatus status = propagate_shapes(subgraph, node);
    if (status != kTfLiteOk) return status;
    status = hl_subgraph_keep_headroom(subgraph);
    if (status != kTfLiteOk) return status;
    status = hl_node_prepare(subgraph, node);
    count_heap_of_node(subgraph, node);
    node->has_dynamic = hl_subgraph_has_dynamic(subgraph, node->node.outputs) ||
                        hl_subgraph_has_dynamic(subgraph, node->node.temporaries);
    if (status != kTfLiteOk)
        hl_subgraph_error(subgraph, "Node number %d (%s) failed to prepare.", node->index, node->name);
    return status;
}

TfLiteStatus hl_subgraph_prepare_ahead(struct hl_subgraph *subgraph)
{
    while (subgraph->prepared < subgraph->plan->size) {
        struct hl_node *node = subgraph->nodes[subgraph->plan->data[subgraph->prepared]];
        TfLiteStatus status = hl_subgraph_prepare_node(subgraph, node);
        if (status != kTfLiteOk) return status;
        subgraph->prepared++;
        status = hl_subgraph_count_planning(subgraph, 1);
        if (status != kTfLiteOk) return status;
        if (hl_subgraph_has_dynamic(subgraph, node->node.outputs)) break;
    }
    return kTfLiteOk;
}

// ---- allocate -----------------------------------------------------------------------------------

TfLiteStatus hl_subgraph_reset_variables(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->variables->size; i++) {
        TfLiteTensor *tensor = &subgraph->context.tensors[subgraph->variables->data[i]];
        if (tensor->allocation_type != kTfLiteArenaRwPersistent || !tensor->data.raw) continue;
        // Memory of the caller keeps what the caller put there. Real 0: a quantized state starts at its zero point.
        memset(tensor->data.raw, tensor->type == kTfLiteInt8 ? tensor->params.zero_point : 0, tensor->bytes);
    }
    return kTfLiteOk;
}

static TfLiteStatus use_custom_allocation(struct hl_subgraph *subgraph, const struct hl_custom_allocation *entry)
{
    TfLiteTensor *tensor = &subgraph->context.tensors[entry->tensor];
    if (tensor->allocation_type != kTfLiteCustom) {
        hl_subgraph_error(subgraph, "custom allocation: the size of tensor %s is known only while running",
                          hl_tensor_label(tensor));
        return kTfLiteError;
    }
    if (entry->memory.bytes < tensor->bytes) {
        hl_subgraph_error(subgraph, "custom allocation: tensor %s needs %zu bytes now, the memory has %zu",
                          hl_tensor_label(tensor), tensor->bytes, entry->memory.bytes);
        return kTfLiteError;
    }
    tensor->data.data = entry->memory.data;
    return kTfLiteOk;
}

// Outputs of nodes that are not prepared yet may still change their size.
static bool has_final_size(const struct hl_subgraph *subgraph, int tensor)
{
    for (int position = subgraph->prepared; position < subgraph->plan->size; position++)
        if (hl_is_listed(subgraph->nodes[subgraph->plan->data[position]]->node.outputs, tensor)) return false;
    return true;
}

static TfLiteStatus check_custom_allocations(struct hl_subgraph *subgraph)
{
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < subgraph->custom_allocation_count && status == kTfLiteOk; i++) {
        const struct hl_custom_allocation *entry = &subgraph->custom_allocations[i];
        if (has_final_size(subgraph, entry->tensor)) status = use_custom_allocation(subgraph, entry);
    }
    return status;
}

// A caller may have set other memory since tensors were allocated.
static TfLiteStatus check_custom_allocations_of(struct hl_subgraph *subgraph, const TfLiteNode *node)
{
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < subgraph->custom_allocation_count && status == kTfLiteOk; i++) {
        const struct hl_custom_allocation *entry = &subgraph->custom_allocations[i];
        if (hl_is_listed(node->inputs, entry->tensor) || hl_is_listed(node->outputs, entry->tensor))
            status = use_custom_allocation(subgraph, entry);
    }
    return status;
}

// The outermost Invoke or AllocateTensors counts from the start what nodes do, those that call subgraphs from there on.
static void begin_counting(struct TfLiteInterpreter *interpreter)
{
    if (interpreter->call_depth > 0) return;
    interpreter->calls = 0;
    interpreter->work = 0;
}

TfLiteStatus hl_subgraph_allocate(struct hl_subgraph *subgraph)
{
    if (subgraph->inconsistent) {
        hl_subgraph_error(subgraph, "AllocateTensors() called on inconsistent model.");
        return kTfLiteError;
    }
    begin_counting(subgraph->interpreter);
    if (subgraph->interpreter->call_depth == 0) atomic_store(&subgraph->interpreter->cancelled, false);
    TfLiteStatus status = hl_subgraph_redo_delegates(subgraph);
    if (status != kTfLiteOk) return status;
    subgraph->has_dynamic_inputs = hl_subgraph_has_dynamic(subgraph, subgraph->inputs);
    bool settled = subgraph->state != HL_NOT_READY && !subgraph->has_dynamic_inputs;
    if (settled) return check_custom_allocations(subgraph);

    subgraph->state = HL_NOT_READY;
    subgraph->prepared = 0;
    subgraph->call_count = 0;
    hl_subgraph_return_taken(subgraph);
    hl_subgraph_end_chains(subgraph);
    hl_subgraph_restore_nodes(subgraph);
    hl_subgraph_count_heap(subgraph);
    hl_planner_reset(subgraph);
    status = hl_subgraph_skip_transposes(subgraph);
    if (status == kTfLiteOk) status = hl_subgraph_prepare_ahead(subgraph);
    if (status == kTfLiteOk) status = hl_subgraph_make_chains(subgraph);
    if (status == kTfLiteOk) status = hl_subgraph_concat_in_place(subgraph);
    if (status != kTfLiteOk) return status;
    status = hl_planner_place(subgraph, 0, subgraph->prepared);
    if (status != kTfLiteOk) return status;
    if (check_custom_allocations(subgraph) != kTfLiteOk) return kTfLiteError;
    subgraph->state = HL_READY;
    subgraph->resized = false;
    hl_weights_save(&subgraph->context);
    return hl_subgraph_reset_variables(subgraph);
}

// ---- invoke -------------------------------------------------------------------------------------

TfLiteStatus hl_subgraph_make_readable(struct hl_subgraph *subgraph, int index)
{
    if (!hl_subgraph_has_tensor(subgraph, index)) {
        hl_subgraph_error(subgraph, "tensor %d does not exist: subgraph %d has %d tensors", index, subgraph->index,
                          subgraph->tensor_count);
        return kTfLiteError;
    }
    TfLiteTensor *tensor = &subgraph->context.tensors[index];
    if (!tensor->data_is_stale) return kTfLiteOk;
    if (!tensor->delegate || tensor->buffer_handle == kTfLiteNullBufferHandle) {
        hl_subgraph_error(subgraph, "tensor %s is marked stale but lies in no delegate's buffer",
                          hl_tensor_label(tensor));
        return kTfLiteError;
    }
    TfLiteStatus status = hl_delegate_copy_from(&subgraph->context, tensor);
    if (status == kTfLiteOk)
        tensor->data_is_stale = false;
    else
        hl_subgraph_error(subgraph, "the delegate could not copy tensor %s from its buffer", hl_tensor_label(tensor));
    return status;
}

// A RESHAPE whose second input is no shape vector does not read it, nor a CONCATENATION rows in its output, nor a SHAPE
// whose output is known.
static bool may_lack_data(const struct hl_subgraph *subgraph, const struct hl_node *node, int input, int index)
{
    if (subgraph->planner.placements[index].in_rows || hl_subgraph_knows(subgraph, node)) return true;
    return node->registration.builtin_code == kTfLiteBuiltinReshape && input == 1 &&
           subgraph->context.tensors[index].dims->size != 1;
}

// Adds what the inputs hold to *bytes. `lead`: the node that computes this one.
static TfLiteStatus check_inputs(struct hl_subgraph *subgraph, const struct hl_node *node, const struct hl_node *lead,
                                 uint64_t *bytes)
{
    for (int i = 0; i < node->node.inputs->size; i++) {
        int index = i == 0 && node->reads >= 0 ? node->reads : node->node.inputs->data[i];
        if (index < 0 || (lead->leads > 0 && hl_node_passes_on(lead, index))) continue;
        const TfLiteTensor *tensor = &subgraph->context.tensors[index];
        *bytes += tensor->bytes;
        if (tensor->delegate && tensor->delegate != node->node.delegate && tensor->data_is_stale &&
            hl_subgraph_make_readable(subgraph, index) != kTfLiteOk)
            return kTfLiteError;
        bool in_handle = tensor->delegate && tensor->delegate == node->node.delegate &&
                         tensor->buffer_handle != kTfLiteNullBufferHandle;
        bool lacks = !tensor->data.raw && !in_handle && (tensor->bytes > 0 || tensor->type == kTfLiteString);
        if (lacks && !may_lack_data(subgraph, node, i, index)) {
            hl_subgraph_error(subgraph, "Input tensor %d (%s) of node %d (%s) lacks data", index,
                              hl_tensor_label(tensor), node->index, node->name);
            return kTfLiteError;
        }
    }
    return kTfLiteOk;
}

static uint64_t bytes_of_outputs(const struct hl_subgraph *subgraph, const struct hl_node *node)
{
    const TfLiteIntArray *outputs = node->node.outputs;
    uint64_t bytes = 0;
    for (int i = 0; i < outputs->size; i++)
        if (outputs->data[i] >= 0) bytes += subgraph->context.tensors[outputs->data[i]].bytes;
    return bytes;
}

// Whether all that check_memory looks at stays as it is until the node is prepared anew: memory of the arena, of the
// model, or of other nodes' prepare, which no delegate has a share in.
static bool keeps_memory(const struct hl_subgraph *subgraph, const struct hl_node *node)
{
    const TfLiteIntArray *const lists[] = {node->node.inputs, node->node.outputs};
    const unsigned kept =
        1u << kTfLiteMmapRo | 1u << kTfLiteArenaRw | 1u << kTfLiteArenaRwPersistent | 1u << kTfLitePersistentRo;
    bool keeps = !node->node.delegate && !node->has_dynamic;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < lists[list]->size && keeps; i++) {
            const int index = lists[list]->data[i];
            const TfLiteTensor *tensor = index >= 0 ? &subgraph->context.tensors[index] : NULL;
            keeps = !tensor || (!tensor->delegate && (kept >> tensor->allocation_type & 1));
        }
    return keeps;
}

static TfLiteStatus run_kernel(TfLiteContext *context, TfLiteNode *node)
{
    return hl_kernel_invoke(&hl_node_of(node)->registration, context, node);
}

// After a node was checked, with those that it leads.
static void settle(struct hl_subgraph *subgraph, struct hl_node *node, uint64_t bytes)
{
    bool keeps = keeps_memory(subgraph, node);
    for (int i = 0; i < node->leads; i++) keeps = keeps && keeps_memory(subgraph, node->followers[i]);
    const bool idle = node->is_taken || node->follows;
    node->steps = (double)bytes;
    node->settled = keeps;
    node->call = (struct hl_call){.node = &node->node, .plain = idle ? NULL : run_kernel};
    if (keeps && !idle) hl_builtin_kernels.find_call(&subgraph->context, &node->node, &node->call, &node->steps);
}

void hl_subgraph_unsettle(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->node_count; i++) subgraph->nodes[i]->settled = false;
    subgraph->call_count = 0;
}

// Callers may take the memory of inputs away, and delegates' nodes may do much.
static bool may_change(const struct hl_subgraph *subgraph)
{
    bool may = subgraph->node_count > subgraph->model_node_count;
    for (int i = 0; i < subgraph->inputs->size && !may; i++) {
        const int index = subgraph->inputs->data[i];
        may = index >= 0 && !subgraph->context.tensors[index].data.raw;
    }
    return may;
}

// Before a node is computed by `lead`: itself, or the node whose chain it is in.
static TfLiteStatus check_memory(struct hl_subgraph *subgraph, const struct hl_node *node, const struct hl_node *lead,
                                 uint64_t *bytes)
{
    *bytes += bytes_of_outputs(subgraph, node);
    TfLiteStatus status =
        subgraph->custom_allocation_count > 0 ? check_custom_allocations_of(subgraph, &node->node) : kTfLiteOk;
    return status == kTfLiteOk ? check_inputs(subgraph, node, lead, bytes) : status;
}

static TfLiteStatus run_call(TfLiteContext *context, const struct hl_call *call)
{
    if (call->direct) return call->direct(context, call->node, call->state);
    return call->plain ? call->plain(context, call->node) : kTfLiteOk;
}

static bool is_watched(const struct hl_subgraph *subgraph)
{
    return subgraph->interpreter->profiling || subgraph->interpreter->options->telemetry;
}

// The kernel's call, with the hooks that watch it.
static TfLiteStatus run_watched(struct hl_subgraph *subgraph, struct hl_node *node)
{
    TfLiteTelemetryProfilerStruct *telemetry = subgraph->interpreter->options->telemetry;
    uint32_t event = 0;
    if (telemetry && telemetry->ReportBeginOpInvokeEvent)
        event = telemetry->ReportBeginOpInvokeEvent(telemetry, node->name, node->index, subgraph->index);
    uint64_t begin = subgraph->interpreter->profiling ? hl_nanoseconds() : 0;

    TfLiteStatus status = run_call(&subgraph->context, &node->call);

    if (subgraph->interpreter->profiling) {
        node->nanoseconds += hl_nanoseconds() - begin;
        node->runs++;
    }
    if (telemetry && telemetry->ReportEndOpInvokeEvent) telemetry->ReportEndOpInvokeEvent(telemetry, event);
    return status;
}

// Nodes from this position on. Those that were prepared before one failed have no memory: they are to be prepared
// again.
static TfLiteStatus prepare_from(struct hl_subgraph *subgraph, int position)
{
    TfLiteStatus status = hl_subgraph_prepare_ahead(subgraph);
    if (status == kTfLiteOk) status = hl_planner_place(subgraph, position, subgraph->prepared);
    if (status != kTfLiteOk) subgraph->prepared = position;
    return status;
}

// The state of a run that was stopped says so itself; for all others there is a message.
static bool is_cancelled(const struct hl_subgraph *subgraph)
{
    const struct TfLiteInterpreter *interpreter = subgraph->interpreter;
    if (interpreter->run && hl_run_is_stopped(interpreter->run)) return true;
    bool cancelled = (interpreter->options->cancellation && atomic_load(&interpreter->cancelled)) ||
                     (interpreter->is_cancelled && interpreter->is_cancelled(interpreter->cancellation_data));
    if (cancelled) hl_subgraph_error(subgraph, "Client requested cancel during Invoke()");
    return cancelled;
}

// After a node has run.
static TfLiteStatus finish_node(struct hl_subgraph *subgraph, int position, TfLiteStatus status)
{
    struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
    if (!node->settled && node->has_dynamic) count_heap_of_node(subgraph, node);
    if (subgraph->eval_buffers) hl_subgraph_free_buffers(&subgraph->eval_buffers);
    // Whoever reads a tensor that changed its shape has to be prepared again, also where the kernel failed afterwards:
    // the next Invoke finds the shape that it left, and would take it for one that did not change.
    if (subgraph->resized && hl_subgraph_has_dynamic(subgraph, node->node.outputs)) {
        hl_planner_forget(subgraph, position + 1, subgraph->prepared);
        subgraph->prepared = position + 1;
        node->settled = false;
        subgraph->call_count = 0;
    }
    if (status != kTfLiteOk) {
        hl_subgraph_error(subgraph, "Node number %d (%s) failed to invoke.", node->index, node->name);
        return status == kTfLiteCancelled ? status : kTfLiteError; // whatever else the kernel calls it
    }
    return kTfLiteOk;
}

static TfLiteStatus invoke_node(struct hl_subgraph *subgraph, int position)
{
    struct hl_node *node = subgraph->nodes[subgraph->plan->data[position]];
    if (position == subgraph->prepared) {
        TfLiteStatus status = prepare_from(subgraph, position);
        if (status != kTfLiteOk) return status;
    }
    if (!node->settled) {
        uint64_t bytes = 0;
        if (!node->follows && check_memory(subgraph, node, node, &bytes) != kTfLiteOk) return kTfLiteError;
        for (int i = 0; i < node->leads; i++)
            if (check_memory(subgraph, node->followers[i], node, &bytes) != kTfLiteOk) return kTfLiteError;
        settle(subgraph, node, bytes);
    }
    if (is_cancelled(subgraph)) return kTfLiteCancelled;
    // A step for each byte that the node has before it, and those of a kernel that tells them ahead.
    if (hl_count_work(&subgraph->context, &node->node, node->steps) != kTfLiteOk) return kTfLiteError;

    subgraph->resized = false;
    TfLiteStatus status =
        is_watched(subgraph) ? run_watched(subgraph, node) : run_call(&subgraph->context, &node->call);
    return finish_node(subgraph, position, status);
}

// Whether nobody looks at single nodes, or stops before one but by TfLiteInterpreterCancel.
static bool runs_alone(const struct hl_subgraph *subgraph)
{
    return !is_watched(subgraph) && !subgraph->interpreter->run && !subgraph->interpreter->is_cancelled;
}

// Lists the calls of a plan whose nodes are all settled. (A caller's plan may name a node several times.)
static void list_calls(struct hl_subgraph *subgraph)
{
    const TfLiteIntArray *plan = subgraph->plan;
    if (plan->size > subgraph->node_capacity) return;
    for (int i = 0; i < plan->size; i++)
        if (!subgraph->nodes[plan->data[i]]->settled) return;
    subgraph->call_steps = 0;
    for (int i = 0; i < plan->size; i++) {
        const struct hl_node *node = subgraph->nodes[plan->data[i]];
        subgraph->call_steps += node->steps;
        if (node->call.direct || node->call.plain) subgraph->calls[subgraph->call_count++] = node->call;
    }
}

// Returns the position from which on nodes are to be looked at: the end, or that of a node before which Invoke was
// cancelled, or after one that gave a tensor another shape, or failed, whose *status that is.
static int run_calls(struct hl_subgraph *subgraph, TfLiteStatus *status)
{
    struct TfLiteInterpreter *interpreter = subgraph->interpreter;
    const bool cancellation = interpreter->options->cancellation;
    const struct hl_call *call = subgraph->calls, *const end = call + subgraph->call_count;
    int position = 0;
    interpreter->work += subgraph->call_steps;
    subgraph->resized = false;
    for (; call < end; call++) {
        const bool cancelled = cancellation && atomic_load(&interpreter->cancelled);
        if (!cancelled) *status = run_call(&subgraph->context, call);
        if (!cancelled && *status == kTfLiteOk && !subgraph->resized && !subgraph->eval_buffers) continue;
        while (subgraph->nodes[subgraph->plan->data[position]] != hl_node_of(call->node)) position++;
        if (cancelled) break;
        *status = finish_node(subgraph, position++, *status);
        if (*status != kTfLiteOk || subgraph->call_count == 0) break;
        subgraph->resized = false;
    }
    if (call == end) return subgraph->plan->size;
    for (int i = position; i < subgraph->plan->size; i++)
        interpreter->work -= subgraph->nodes[subgraph->plan->data[i]]->steps;
    return position;
}

TfLiteStatus hl_subgraph_invoke(struct hl_subgraph *subgraph)
{
    if (subgraph->inconsistent) {
        hl_subgraph_error(subgraph, "Invoke called on model that is not consistent.");
        return kTfLiteError;
    }
    if (subgraph->state == HL_NOT_READY) {
        hl_subgraph_error(subgraph, "Invoke called on model that is not ready.");
        return kTfLiteError;
    }
    begin_counting(subgraph->interpreter);
    if (subgraph->has_dynamic_inputs) hl_subgraph_count_heap_of(subgraph, subgraph->inputs);
    if (may_change(subgraph)) hl_subgraph_unsettle(subgraph);
    TfLiteStatus status = kTfLiteOk;
    const struct TfLiteInterpreter *interpreter = subgraph->interpreter;
    const bool listed = subgraph->call_count > 0 && runs_alone(subgraph) &&
                        interpreter->work + subgraph->call_steps <= interpreter->work_limit;
    int position = listed ? run_calls(subgraph, &status) : 0;
    for (; position < subgraph->plan->size && status == kTfLiteOk; position++) status = invoke_node(subgraph, position);
    subgraph->left_for_others = NULL;
    if (status == kTfLiteOk && subgraph->call_count == 0) list_calls(subgraph);
    return status;
}
