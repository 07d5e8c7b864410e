// SPDX-License-Identifier: Apache-2.0
// See calls.h.
#include "runtime/calls.h"

#include <string.h>

#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"

static struct hl_subgraph *subgraph_at(const TfLiteContext *ctx, int index)
{
    const struct TfLiteInterpreter *interpreter = hl_subgraph_of(ctx)->interpreter;
    return index >= 0 && index < interpreter->subgraph_count ? interpreter->subgraphs[index] : NULL;
}

static TfLiteTensor *tensor_of(const struct hl_subgraph *subgraph, const TfLiteIntArray *list, int i)
{
    return list->data[i] >= 0 ? &subgraph->context.tensors[list->data[i]] : NULL;
}

// ---- limits -------------------------------------------------------------------------------------

// Every call is counted, from the first subgraph's Invoke or AllocateTensors on.
static TfLiteStatus enter(struct hl_subgraph *callee, TfLiteContext *ctx, const TfLiteNode *node)
{
    struct TfLiteInterpreter *interpreter = callee->interpreter;
    HL_REQUIRE(
        ctx, node, interpreter->calls < interpreter->call_limit,
        "subgraph %d would be call number %lld of this Invoke, which is above the limit: a loop that does not end, or "
        "HaliteInterpreterOptionsSetCallLimit must allow more",
        callee->index, (long long)interpreter->calls + 1);
    if (interpreter->options->cancellation && atomic_load(&interpreter->cancelled)) {
        hl_subgraph_error(callee, "Client requested cancel during Invoke()");
        return kTfLiteCancelled;
    }
    interpreter->calls++;
    interpreter->call_depth++;
    return kTfLiteOk;
}

static void leave(struct hl_subgraph *callee)
{
    callee->interpreter->call_depth--;
}

static TfLiteStatus allocate(struct hl_subgraph *callee, TfLiteContext *ctx, const TfLiteNode *node)
{
    TfLiteStatus status = enter(callee, ctx, node);
    if (status != kTfLiteOk) return status;
    status = hl_subgraph_allocate(callee);
    leave(callee);
    return status;
}

static TfLiteStatus invoke(struct hl_subgraph *callee, TfLiteContext *ctx, const TfLiteNode *node)
{
    TfLiteStatus status = enter(callee, ctx, node);
    if (status != kTfLiteOk) return status;
    status = hl_subgraph_invoke(callee);
    leave(callee);
    for (int i = 0; i < callee->outputs->size && status == kTfLiteOk; i++)
        if (callee->outputs->data[i] >= 0) status = hl_subgraph_make_readable(callee, callee->outputs->data[i]);
    return status;
}

// ---- prepare ------------------------------------------------------------------------------------

// The callee's inputs take the arguments' shapes. Nothing happens where they have them already.
static TfLiteStatus shape_inputs(struct hl_subgraph *callee, const struct hl_subgraph *caller,
                                 const TfLiteIntArray *list, int first)
{
    for (int i = 0; i < callee->inputs->size; i++) {
        const TfLiteTensor *from = tensor_of(caller, list, first + i), *to = tensor_of(callee, callee->inputs, i);
        if (TfLiteIntArrayEqual(to->dims, from->dims)) continue;
        if (hl_subgraph_resize_input(callee, callee->inputs->data[i], from->dims->data, from->dims->size) != kTfLiteOk)
            return kTfLiteError;
    }
    return kTfLiteOk;
}

static TfLiteStatus make_ready(TfLiteContext *ctx, const TfLiteNode *node, struct hl_subgraph *callee,
                               const TfLiteIntArray *list, int first)
{
    HL_TRY(shape_inputs(callee, hl_subgraph_of(ctx), list, first));
    return callee->state == HL_NOT_READY ? allocate(callee, ctx, node) : kTfLiteOk;
}

TfLiteStatus hl_call_prepare(TfLiteContext *ctx, TfLiteNode *node, int index, const TfLiteIntArray *list, int first)
{
    struct hl_subgraph *callee = subgraph_at(ctx, index);
    HL_REQUIRE(ctx, node, callee, "subgraph %d does not exist", index);
    HL_REQUIRE(ctx, node, callee->inputs->size == list->size - first,
               "subgraph %d takes %d inputs, there are %d to give it", index, callee->inputs->size, list->size - first);
    for (int i = 0; i < callee->inputs->size; i++) {
        const TfLiteTensor *from = tensor_of(hl_subgraph_of(ctx), list, first + i);
        const TfLiteTensor *to = tensor_of(callee, callee->inputs, i);
        HL_REQUIRE(ctx, node, from && to, "input %d of subgraph %d is absent", i, index);
        HL_REQUIRE(ctx, node, from->type == to->type, "input %d of subgraph %d is %s, it cannot take %s", i, index,
                   hl_type_name(to->type), hl_type_name(from->type));
        HL_REQUIRE(ctx, node, to->allocation_type != kTfLiteMmapRo, "input %d of subgraph %d is a constant", i, index);
    }
    return make_ready(ctx, node, callee, list, first);
}

TfLiteStatus hl_call_check_results(TfLiteContext *ctx, TfLiteNode *node, int index, const TfLiteIntArray *results)
{
    const struct hl_subgraph *callee = subgraph_at(ctx, index);
    HL_REQUIRE(ctx, node, callee->outputs->size == results->size, "subgraph %d gives %d outputs instead of %d", index,
               callee->outputs->size, results->size);
    for (int i = 0; i < results->size; i++) {
        const TfLiteTensor *from = tensor_of(callee, callee->outputs, i);
        const TfLiteTensor *to = tensor_of(hl_subgraph_of(ctx), results, i);
        HL_REQUIRE(ctx, node, from && to, "output %d of subgraph %d is absent", i, index);
        HL_REQUIRE(ctx, node, from->type == to->type, "output %d of subgraph %d is %s instead of %s", i, index,
                   hl_type_name(from->type), hl_type_name(to->type));
    }
    return kTfLiteOk;
}

bool hl_call_is_static(const TfLiteContext *ctx, int index)
{
    const struct hl_subgraph *callee = subgraph_at(ctx, index);
    return callee->prepared == callee->plan->size && !hl_subgraph_has_dynamic(callee, callee->outputs);
}

int hl_call_result_count(const TfLiteContext *ctx, int index)
{
    return subgraph_at(ctx, index)->outputs->size;
}

const TfLiteTensor *hl_call_result(const TfLiteContext *ctx, int callee, int index)
{
    const struct hl_subgraph *subgraph = subgraph_at(ctx, callee);
    return tensor_of(subgraph, subgraph->outputs, index);
}

// ---- invoke -------------------------------------------------------------------------------------

// Both have the same type and shape; only strings may differ in size.
static TfLiteStatus copy_value(TfLiteContext *ctx, TfLiteNode *node, struct hl_subgraph *owner, TfLiteTensor *to,
                               const TfLiteTensor *from)
{
    if (from->allocation_type == kTfLiteVariantObject) return TfLiteTensorCopy(from, to);
    if (to->type == kTfLiteString) HL_TRY(hl_subgraph_resize_heap_tensor(owner, to, from->bytes));
    HL_REQUIRE(ctx, node, to->bytes == from->bytes, "%zu bytes of tensor %s do not fit %zu bytes of tensor %s",
               from->bytes, hl_tensor_label(from), to->bytes, hl_tensor_label(to));
    if (from->bytes == 0) return kTfLiteOk;
    HL_REQUIRE(ctx, node, to->data.raw && from->data.raw, "tensor %s lacks data",
               hl_tensor_label(to->data.raw ? from : to));
    memmove(to->data.raw, from->data.raw, from->bytes);
    return kTfLiteOk;
}

TfLiteStatus hl_call(TfLiteContext *ctx, TfLiteNode *node, int index, const TfLiteIntArray *list, int first)
{
    struct hl_subgraph *caller = hl_subgraph_of(ctx), *callee = subgraph_at(ctx, index);
    HL_TRY(make_ready(ctx, node, callee, list, first));
    for (int i = 0; i < callee->inputs->size; i++)
        if (callee->inputs->data[i] >= 0 &&
            callee->is_read[callee->inputs->data[i]]) // a loop's condition, mostly, looks at little
            HL_TRY(copy_value(ctx, node, callee, tensor_of(callee, callee->inputs, i),
                              tensor_of(caller, list, first + i)));
    return invoke(callee, ctx, node);
}

TfLiteStatus hl_call_take(TfLiteContext *ctx, TfLiteNode *node, TfLiteTensor *output, const TfLiteTensor *value)
{
    bool elements = value->allocation_type != kTfLiteVariantObject;
    if (elements && (!hl_same_shape(output, value) || (hl_is_dynamic(output) && !output->data.raw))) {
        hl_make_dynamic(output);
        HL_TRY(hl_resize_like(ctx, output, value));
    }
    return copy_value(ctx, node, hl_subgraph_of(ctx), output, value);
}

// ---- procedures ---------------------------------------------------------------------------------

bool hl_call_is_procedure(const TfLiteContext *ctx, int index)
{
    const struct hl_subgraph *callee = subgraph_at(ctx, index);
    return callee && callee->inputs->size == 0 && callee->outputs->size == 0;
}

TfLiteStatus hl_call_once(TfLiteContext *ctx, TfLiteNode *node, int index)
{
    struct hl_subgraph *callee = subgraph_at(ctx, index);
    bool *done = &callee->interpreter->resources.initialized[index];
    if (*done) return kTfLiteOk;
    TfLiteStatus status = allocate(callee, ctx, node);
    if (status == kTfLiteOk) status = invoke(callee, ctx, node);
    callee->state = HL_NOT_READY;
    hl_planner_reset(callee);
    *done = status == kTfLiteOk;
    return status;
}

// ---- descriptions -------------------------------------------------------------------------------

int hl_callee_node_count(const TfLiteContext *ctx, int index)
{
    const struct hl_subgraph *callee = subgraph_at(ctx, index);
    return callee ? callee->model_node_count : -1;
}

int hl_callee_code(const TfLiteContext *ctx, int index, int node)
{
    const struct hl_subgraph *callee = subgraph_at(ctx, index);
    if (!callee || node < 0 || node >= callee->model_node_count) return -1;
    return callee->nodes[node]->registration.builtin_code;
}
