// SPDX-License-Identifier: Apache-2.0
// Transposes that undo each other. Models that were converted from channels first are full of
//
//     x -> TRANSPOSE -> LOGISTIC, MUL, PAD, CONCATENATION ... -> TRANSPOSE back -> z
//
// and what lies between can be computed in the order of x. In: the plan, before its nodes are prepared. Out: nodes that
// read and write other tensors, in that order, and TRANSPOSEs that do not run. Tensors that nobody writes any more have
// no memory, but the shape that the model gives them. AllocateTensors, and whoever shows the graph to a delegate,
// restores the nodes first.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "runtime/builtin_kernels.h"
#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/operator.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/builtin_op_data.h"

enum { NONE = INT_MAX, MANY = INT_MAX - 1 };

// What a node has besides while it reads and writes other tensors than the model says.
struct hl_transposed {
    bool active;
    TfLiteNode shown;                // the node as the model has it
    const int32_t *order;            // dimension i of its output there is dimension order[i] here; NULL: they are alike
    int axes;                        // entries of `order`
    TfLiteConcatenationParams joint; // along one of them
    int output, paddings;            // tensors of its own; -1: none yet
};

// What the search knows of a tensor. Those between transposes form groups, which move together or not at all.
struct value {
    int writer; // the position of the node that writes it; -1: the caller does; MANY: several do; NONE
    int order;  // the tensor with the permutation that it has gone through; -1: it does not lie between transposes
    int holder; // the tensor that has its values where its group moves; -1: itself, or one still to be made
    int group;  // another one of its group, or itself
    bool stays; // of the last one of a group: the group does
    bool is_output;
};

struct search {
    struct hl_subgraph *subgraph;
    struct value *values; // by tensor
    int count;            // of tensors, without those that are made here
    int position;         // of the node that is looked at
    bool found;           // a TRANSPOSE that undoes another
};

static const TfLiteTensor *tensor_at(const struct search *search, int tensor)
{
    return &search->subgraph->context.tensors[tensor];
}

// ---- searching ----------------------------------------------------------------------------------

static struct value *last_of(const struct search *search, int tensor)
{
    struct value *values = search->values;
    while (values[tensor].group != tensor) // each step makes the way shorter
        tensor = values[tensor].group = values[values[tensor].group].group;
    return &values[tensor];
}

static void stay(const struct search *search, int tensor)
{
    last_of(search, tensor)->stays = true;
}

static bool is_between(const struct search *search, int tensor)
{
    return tensor >= 0 && search->values[tensor].order >= 0;
}

// The same numbers in both mean the same, whatever the order of dimensions.
static bool are_alike(const TfLiteTensor *a, const TfLiteTensor *b)
{
    return a->type == b->type && a->quantization.type == b->quantization.type &&
           memcmp(&a->params, &b->params, sizeof a->params) == 0 &&
           (a->quantization.type == kTfLiteNoQuantization || a->params.scale > 0); // 0: it has several
}

// Nobody but nodes sees the tensor, which this node alone writes.
static bool is_hidden(const struct search *search, int tensor)
{
    return search->values[tensor].writer == search->position &&
           tensor_at(search, tensor)->allocation_type == kTfLiteArenaRw && !search->values[tensor].is_output;
}

static bool is_constant(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteMmapRo && !tensor->sparsity;
}

static int count_axes(const TfLiteTensor *order)
{
    return (int)(order->bytes / sizeof(int32_t));
}

// A permutation that is known, with entries from 0 on. TRANSPOSE itself refuses one that has an entry twice.
static bool is_order(const TfLiteTensor *tensor)
{
    bool is = is_constant(tensor) && tensor->type == kTfLiteInt32 && tensor->bytes > 0;
    for (int i = 0; is && i < count_axes(tensor); i++) is = (size_t)tensor->data.i32[i] < tensor->bytes / 4;
    return is;
}

static bool is_inverse(const TfLiteTensor *a, const TfLiteTensor *b)
{
    bool is = a->bytes == b->bytes;
    for (int i = 0; is && i < count_axes(a); i++) is = b->data.i32[a->data.i32[i]] == i;
    return is;
}

// A TRANSPOSE from x to z undoes what x has gone through. z has the values if nothing else does yet. Otherwise its
// readers read what does.
static void undo(struct search *search, int x, int z)
{
    struct value *values = search->values;
    search->found = true;
    if (values[x].holder < 0 && values[z].writer == search->position && !tensor_at(search, z)->is_variable) {
        values[x].holder = z;
    } else if (values[x].holder >= 0 && is_hidden(search, z)) {
        values[z].holder = values[x].holder;
        values[z].group = x;
    } else {
        stay(search, x);
    }
}

static void see_transpose(struct search *search, int x, int perm, int y)
{
    struct value *values = search->values;
    const TfLiteTensor *from = tensor_at(search, x), *order = tensor_at(search, perm);
    const bool alike = is_order(order) && are_alike(from, tensor_at(search, y));
    if (is_between(search, x)) {
        if (alike && is_inverse(tensor_at(search, values[x].order), order)) {
            undo(search, x, y);
            return;
        }
        stay(search, x);
    }
    // What reads y will read x, later than before.
    if (!alike || values[x].writer >= search->position || from->is_variable || !is_hidden(search, y)) return;
    values[y].order = perm;
    values[y].holder = x;
}

// An input that is not transposed: paddings, or one value that is the same in any order.
static bool can_read(const struct search *search, int input, int axes, bool are_paddings)
{
    const TfLiteTensor *tensor = input >= 0 ? tensor_at(search, input) : NULL;
    return tensor && is_constant(tensor) && (are_paddings || (tensor->dims->size <= axes && hl_elements(tensor) == 1));
}

// The order that the node's output has if it works with its inputs as they were before they were transposed; -1: it
// cannot.
static int order_of(const struct search *search, const TfLiteNode *node, enum hl_order_use use)
{
    const TfLiteIntArray *inputs = node->inputs;
    const TfLiteConcatenationParams *joint = node->builtin_data;
    int order = -1, output = node->outputs->size == 1 ? node->outputs->data[0] : -1;
    for (int i = 0; i < inputs->size && order < 0; i++)
        if (is_between(search, inputs->data[i])) order = search->values[inputs->data[i]].order;
    if (order < 0 || use == HL_ORDER_MATTERS || output < 0 || !is_hidden(search, output)) return -1;
    const TfLiteTensor *y = tensor_at(search, output), *axes = tensor_at(search, order);
    bool can =
        are_alike(y, y) && (use != HL_JOINS || (joint->axis >= -count_axes(axes) && joint->axis < count_axes(axes)));
    for (int i = 0; i < inputs->size && can; i++) {
        const bool are_paddings = use == HL_PADS && i == 1;
        if (is_between(search, inputs->data[i]) && !are_paddings) {
            const TfLiteTensor *other = tensor_at(search, search->values[inputs->data[i]].order);
            can = other->bytes == axes->bytes && memcmp(other->data.raw, axes->data.raw, axes->bytes) == 0;
        } else {
            can = use != HL_JOINS && can_read(search, inputs->data[i], count_axes(axes), are_paddings);
        }
    }
    return can ? order : -1;
}

static void see_node(struct search *search, const TfLiteNode *node)
{
    struct value *values = search->values;
    const enum hl_order_use use = hl_builtin_kernels.use_of_order(node);
    const int *inputs = node->inputs->data, *y = node->outputs->data;
    if (use == HL_TRANSPOSES && node->inputs->size == 2 && node->outputs->size == 1 && inputs[0] >= 0 &&
        inputs[1] >= 0 && y[0] >= 0) {
        see_transpose(search, inputs[0], inputs[1], y[0]);
        return;
    }
    const int order = order_of(search, node, use);
    if (order >= 0) values[y[0]].order = order;
    for (int i = 0; i < node->inputs->size; i++)
        if (is_between(search, inputs[i]) && order >= 0) {
            struct value *last = last_of(search, inputs[i]);
            values[y[0]].stays |= last->stays;
            last->group = y[0];
        } else if (is_between(search, inputs[i]) || (node->delegate && inputs[i] >= 0)) {
            stay(search, inputs[i]); // delegates know their tensors by number
        }
}

// ---- other tensors for nodes --------------------------------------------------------------------

// Returns the tensor that has a tensor's values. It is noted, so that a row of pairs of transposes is walked once.
static int holder_of(const struct search *search, int tensor)
{
    int holder = tensor;
    while (holder >= 0 && holder < search->count && search->values[holder].holder >= 0 &&
           !last_of(search, holder)->stays)
        holder = search->values[holder].holder;
    if (holder != tensor) search->values[tensor].holder = holder;
    return holder;
}

static TfLiteIntArray *find_holders(const struct search *search, const TfLiteIntArray *list)
{
    TfLiteIntArray *holders = TfLiteIntArrayCopy(list);
    for (int i = 0; holders && i < list->size; i++) holders->data[i] = holder_of(search, list->data[i]);
    return holders;
}

static TfLiteStatus out_of_memory(const struct hl_subgraph *subgraph)
{
    hl_subgraph_error(subgraph, "subgraph %d: out of memory for nodes between transposes", subgraph->index);
    return kTfLiteError;
}

// A tensor like one of the model's, with memory of this kind. The heap is filled with that one's bytes.
static TfLiteStatus make_like(struct hl_subgraph *subgraph, int model, TfLiteAllocationType type, int *made)
{
    if (*made < 0 && hl_subgraph_add_tensors(subgraph, 1, made) != kTfLiteOk) return kTfLiteError;
    TfLiteTensor like = subgraph->context.tensors[model], *tensor = &subgraph->context.tensors[*made];
    like.allocation_type = type;
    TfLiteTensorFree(tensor);
    *tensor = TfLiteTensorClone(like);
    const bool whole =
        tensor->dims && tensor->quantization.type == like.quantization.type && !tensor->data.raw == !like.data.raw;
    return whole ? kTfLiteOk : out_of_memory(subgraph);
}

static TfLiteStatus order_paddings(struct hl_subgraph *subgraph, struct hl_transposed *own, int *paddings)
{
    if (make_like(subgraph, *paddings, kTfLitePersistentRo, &own->paddings) != kTfLiteOk) return kTfLiteError;
    const TfLiteTensor *tensors = subgraph->context.tensors;
    const char *from = tensors[*paddings].data.raw_const;
    const size_t row = tensors[*paddings].bytes / (size_t)own->axes;
    for (int i = 0; i < own->axes; i++)
        memcpy(tensors[own->paddings].data.raw + (size_t)own->order[i] * row, from + (size_t)i * row, row);
    *paddings = own->paddings;
    return kTfLiteOk;
}

// A node that works in another order: its output, and what it knows of its dimensions.
static TfLiteStatus move_node(const struct search *search, struct hl_node *node, int y)
{
    struct hl_subgraph *subgraph = search->subgraph;
    struct hl_transposed *own = node->transposed;
    const TfLiteTensor *order = tensor_at(search, search->values[y].order);
    own->order = order->data.i32;
    own->axes = count_axes(order);
    if (search->values[y].holder < 0) {
        if (make_like(subgraph, y, kTfLiteArenaRw, &own->output) != kTfLiteOk) return kTfLiteError;
        node->node.outputs->data[0] = search->values[y].holder = own->output;
    }
    const enum hl_order_use use = hl_builtin_kernels.use_of_order(&node->node);
    if (use == HL_PADS) return order_paddings(subgraph, own, &node->node.inputs->data[1]);
    if (use != HL_JOINS) return kTfLiteOk;
    own->joint = *(const TfLiteConcatenationParams *)node->node.builtin_data;
    own->joint.axis = own->order[own->joint.axis < 0 ? own->joint.axis + own->axes : own->joint.axis];
    node->node.builtin_data = &own->joint;
    return kTfLiteOk;
}

static TfLiteStatus change_node(const struct search *search, struct hl_node *node)
{
    struct hl_subgraph *subgraph = search->subgraph;
    struct hl_transposed *own = node->transposed;
    TfLiteIntArray *inputs = find_holders(search, node->node.inputs);
    TfLiteIntArray *outputs = find_holders(search, node->node.outputs);
    const int y = node->node.outputs->size == 1 ? node->node.outputs->data[0] : -1;
    const bool moves = is_between(search, y) && !last_of(search, y)->stays;
    const bool differs = inputs && outputs && (moves || !TfLiteIntArrayEqual(inputs, node->node.inputs));
    if (differs && !own && (own = calloc(1, sizeof *own))) own->output = own->paddings = -1;
    node->transposed = own;
    if (!differs || !own) {
        const bool failed = !inputs || !outputs || differs;
        TfLiteIntArrayFree(inputs);
        TfLiteIntArrayFree(outputs);
        return failed ? out_of_memory(subgraph) : kTfLiteOk;
    }
    own->active = true;
    own->shown = node->node;
    own->order = NULL;
    node->node.inputs = inputs;
    node->node.outputs = outputs;
    if (hl_builtin_kernels.use_of_order(&node->node) == HL_TRANSPOSES && inputs->data[0] == outputs->data[0]) {
        node->is_taken = true;
        inputs->size = outputs->size = 0;
        return kTfLiteOk;
    }
    return moves ? move_node(search, node, y) : kTfLiteOk;
}

static void begin(const struct search *search)
{
    const struct hl_subgraph *subgraph = search->subgraph;
    struct value *values = search->values;
    for (int i = 0; i < search->count; i++)
        values[i] = (struct value){.writer = NONE, .order = -1, .holder = -1, .group = i};
    for (int position = -1; position < subgraph->plan->size; position++) {
        const TfLiteIntArray *written =
            position < 0 ? subgraph->inputs : subgraph->nodes[subgraph->plan->data[position]]->node.outputs;
        for (int i = 0; i < written->size; i++) {
            struct value *value = written->data[i] >= 0 ? &values[written->data[i]] : NULL;
            if (value) value->writer = value->writer == NONE ? position : MANY;
        }
    }
    for (int i = 0; i < subgraph->outputs->size; i++)
        if (subgraph->outputs->data[i] >= 0) values[subgraph->outputs->data[i]].is_output = true;
}

TfLiteStatus hl_subgraph_skip_transposes(struct hl_subgraph *subgraph)
{
    const TfLiteIntArray *plan = subgraph->plan;
    if (!HL_HAS_OP(TRANSPOSE)) return kTfLiteOk;
    if (subgraph->interpreter->options->preserve_tensors || !hl_wants_fast(&subgraph->context)) return kTfLiteOk;
    TfLiteStatus status = hl_subgraph_count_planning(subgraph, (double)subgraph->tensor_count + plan->size);
    if (status != kTfLiteOk) return status;
    struct search search = {
        .subgraph = subgraph,
        .values = malloc(((size_t)subgraph->tensor_count + 1) * sizeof *search.values),
        .count = subgraph->tensor_count,
    };
    if (!search.values) return out_of_memory(subgraph);
    begin(&search);
    for (; search.position < plan->size; search.position++)
        see_node(&search, &subgraph->nodes[plan->data[search.position]]->node);
    for (int position = 0; position < plan->size && search.found && status == kTfLiteOk; position++)
        status = change_node(&search, subgraph->nodes[plan->data[position]]);
    free(search.values);
    return status;
}

// ---- seen from outside --------------------------------------------------------------------------

const TfLiteNode *hl_node_shown(const struct hl_node *node)
{
    return node->transposed && node->transposed->active ? &node->transposed->shown : &node->node;
}

bool hl_node_leaves_out(const struct hl_node *node, int tensor)
{
    return hl_is_listed(hl_node_shown(node)->outputs, tensor) && !hl_is_listed(node->node.outputs, tensor);
}

static void swap_tensors(struct hl_node *node)
{
    TfLiteNode *shown = &node->transposed->shown;
    TfLiteIntArray *const inputs = node->node.inputs, *const outputs = node->node.outputs;
    node->node.inputs = shown->inputs;
    node->node.outputs = shown->outputs;
    shown->inputs = inputs;
    shown->outputs = outputs;
}

TfLiteStatus hl_node_prepare(struct hl_subgraph *subgraph, struct hl_node *node)
{
    struct hl_transposed *own = node->transposed;
    const bool active = own && own->active, skipped = hl_node_is_skipped(node);
    if (skipped) swap_tensors(node); // for the shape of the model's output
    const TfLiteStatus status = hl_kernel_prepare(&node->registration, &subgraph->context, &node->node);
    if (skipped) swap_tensors(node);
    if (!active || status != kTfLiteOk) return status;
    own->shown.temporaries = node->node.temporaries;
    if (!own->order) return kTfLiteOk;
    TfLiteTensor *tensors = subgraph->context.tensors;
    const TfLiteIntArray *from =
        tensors[node->node.outputs->data[0]].dims; // as many as TRANSPOSE, prepared before, has
    TfLiteIntArray *dims = TfLiteIntArrayCopy(from);
    for (int i = 0; dims && i < own->axes; i++) dims->data[i] = from->data[own->order[i]];
    return hl_subgraph_resize_tensor(subgraph, &tensors[own->shown.outputs->data[0]], dims);
}

void hl_subgraph_restore_node(struct hl_subgraph *subgraph, struct hl_node *node)
{
    if (hl_node_shown(node) == &node->node) return;
    swap_tensors(node);
    TfLiteIntArrayFree(node->transposed->shown.inputs);
    TfLiteIntArrayFree(node->transposed->shown.outputs);
    node->node.builtin_data = node->transposed->shown.builtin_data;
    node->transposed->active = false;
    subgraph->state = HL_NOT_READY;
}

void hl_subgraph_restore_nodes(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->node_count; i++) hl_subgraph_restore_node(subgraph, subgraph->nodes[i]);
}
