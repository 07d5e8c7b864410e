// SPDX-License-Identifier: Apache-2.0
// CONCATENATION in place: a node whose output is read by a CONCATENATION alone writes it where that would copy it. In:
// the nodes that AllocateTensors has prepared, and their chains. Out: tensors that the planner puts inside others. What
// is one run of bytes of the output any node of the library can write, and it is a tensor like others. Rows of the last
// dimension lie apart: their node must know the stride, and the tensor has no data pointer. A CONCATENATION copies the
// inputs that are not there. AllocateTensors forgets all this before it prepares the nodes again.
#include <stdlib.h>

#include "abi/built_types.h"
#include "abi/tensor.h"
#include "runtime/builtin_kernels.h"
#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/builtin_op_data.h"

// Time with it over time without, the same program with the pass left out by a switch, in turns, one thread of a Zen 4:
// DeepLab v3 257, a convolution and a RESIZE_BILINEAR of 1.1 MB each, 0.987 to 0.989; frontend_sl_v1, one run of
// 0.5 MB, 0.99; Zero-DCE, three of six inputs of 31 MB, 0.96 to 1.00; YOLOX nano, whose chains keep to themselves,
// 0.993 to 0.995; networks of inputs of some KB 1.00. Arenas are never larger: YOLOX's has 6.64 MB in place of 6.97.

struct search {
    struct hl_subgraph *subgraph;
    const struct hl_use *uses;
    int position; // of the CONCATENATION
    int unsteady; // the last position before it of a node whose outputs may get other shapes when it runs, or -1
};

// How a CONCATENATION cuts its output: into rows, of which each input has a part.
struct cut {
    bool is_last;     // along the last dimension
    size_t rows, row; // the number, and bytes from one to the next
};

// A tensor of the arena that a node of the plan writes, and nobody else.
static bool is_written_once(const struct search *search, int tensor)
{
    const struct hl_subgraph *subgraph = search->subgraph;
    return subgraph->context.tensors[tensor].allocation_type == kTfLiteArenaRw && search->uses[tensor].writers == 1 &&
           !hl_is_listed(subgraph->inputs, tensor);
}

static bool is_read_once(const struct search *search, int tensor)
{
    return search->uses[tensor].readers == 1 && !hl_is_listed(search->subgraph->outputs, tensor);
}

// The node that writes a tensor, itself or at the end of the chain that it leads; NULL: it is of another's making, or
// writes more than this, or shapes may change between it and the CONCATENATION, which is then prepared again alone.
static const struct hl_node *writer_of(const struct search *search, int tensor)
{
    const struct hl_subgraph *subgraph = search->subgraph;
    int position = search->uses[tensor].last_writer;
    const struct hl_node *last = subgraph->nodes[subgraph->plan->data[position]], *node = last;
    while (node->follows && position > search->unsteady + 1) {
        const struct hl_node *before = subgraph->nodes[subgraph->plan->data[--position]];
        if (before->leads > 0 && before->followers[before->leads - 1] == last) node = before;
    }
    const bool fits =
        !node->follows && !node->is_taken && last->node.outputs->size == 1 && hl_node_result(node) == tensor;
    return fits && position > search->unsteady && position < search->position &&
                   hl_builtin_kernels.keeps_shapes(&node->node)
               ? node
               : NULL;
}

// The tensor whose values a node has as its output, so that it writes nothing where both lie in the same memory; -1: it
// computes its output.
static int copied_by(const struct hl_node *node)
{
    const bool copies = node->leads == 0 && (node->registration.inplace_operator & kTfLiteInplaceOpDataUnmodified);
    return copies ? node->node.inputs->data[0] : -1;
}

// A tensor that is one run of bytes in another. The output of a RESHAPE is written by the node before that.
static void put_run(const struct search *search, int tensor, int other, size_t within)
{
    struct hl_subgraph *subgraph = search->subgraph;
    const TfLiteTensor *tensors = subgraph->context.tensors;
    const struct hl_node *writer = writer_of(search, tensor);
    if (!writer) return;
    const int copied = copied_by(writer);
    if (copied >= 0) {
        const bool fits = is_written_once(search, copied) && is_read_once(search, copied) &&
                          tensors[copied].bytes == tensors[tensor].bytes;
        const struct hl_node *before = fits ? writer_of(search, copied) : NULL;
        if (!before || copied_by(before) >= 0) return;
        hl_planner_put_inside(subgraph, copied, tensor, 0, false);
    }
    hl_planner_put_inside(subgraph, tensor, other, within, false);
}

static void put_rows(const struct search *search, int tensor, int other, size_t within, size_t row)
{
    const struct hl_node *writer = writer_of(search, tensor);
    const size_t size = hl_type_size(search->subgraph->context.tensors[tensor].type);
    if (writer && hl_builtin_kernels.set_row_stride(&writer->node, (int64_t)(row / size)))
        hl_planner_put_inside(search->subgraph, tensor, other, within, true);
}

// The bytes of both mean the same.
static bool is_like(const TfLiteTensor *x, const TfLiteTensor *y)
{
    return x->type == y->type && (x->type == kTfLiteFloat32 ||
                                  (x->params.scale == y->params.scale && x->params.zero_point == y->params.zero_point));
}

static void put_inputs(const struct search *search, const TfLiteNode *node)
{
    const TfLiteConcatenationParams *params = node->builtin_data;
    const TfLiteTensor *tensors = search->subgraph->context.tensors, *y = &tensors[node->outputs->data[0]];
    const bool has_type = y->type == kTfLiteFloat32 || y->type == kTfLiteInt8 || y->type == kTfLiteUInt8;
    if (!has_type || !is_written_once(search, node->outputs->data[0]) || y->bytes == 0) return;
    const int rank = y->dims->size, axis = params->axis < 0 ? params->axis + rank : params->axis;
    struct cut cut = {.is_last = axis == rank - 1, .rows = 1};
    for (int i = 0; i < axis; i++) cut.rows *= (size_t)y->dims->data[i];
    cut.row = y->bytes / cut.rows;
    size_t within = 0;
    for (int i = 0; i < node->inputs->size; i++) {
        const int input = node->inputs->data[i];
        const TfLiteTensor *x = &tensors[input];
        const bool may = x->bytes > 0 && is_like(x, y) && is_written_once(search, input) && is_read_once(search, input);
        if (may && cut.rows == 1)
            put_run(search, input, node->outputs->data[0], within);
        else if (may && cut.is_last)
            put_rows(search, input, node->outputs->data[0], within, cut.row);
        within += x->bytes / cut.rows;
    }
}

TfLiteStatus hl_subgraph_concat_in_place(struct hl_subgraph *subgraph)
{
    if (!HL_HAS_OP(CONCATENATION)) return kTfLiteOk;
    if (subgraph->interpreter->options->preserve_tensors || !hl_wants_fast(&subgraph->context)) return kTfLiteOk;
    TfLiteStatus status =
        hl_subgraph_count_planning(subgraph, (double)subgraph->tensor_count + (double)subgraph->plan->size);
    if (status == kTfLiteOk) status = hl_planner_grow(subgraph);
    if (status != kTfLiteOk) return status;
    struct hl_use *uses = hl_subgraph_find_uses(subgraph);
    if (!uses) {
        hl_subgraph_error(subgraph, "subgraph %d: out of memory for the uses of %d tensors", subgraph->index,
                          subgraph->tensor_count);
        return kTfLiteError;
    }
    struct search search = {.subgraph = subgraph, .uses = uses, .unsteady = -1};
    for (search.position = 0; search.position < subgraph->prepared; search.position++) {
        const TfLiteNode *node = &subgraph->nodes[subgraph->plan->data[search.position]]->node;
        if (hl_builtin_kernels.use_of_order(node) == HL_JOINS) put_inputs(&search, node);
        if (!hl_builtin_kernels.keeps_shapes(node)) search.unsteady = search.position;
    }
    free(uses);
    return kTfLiteOk;
}

bool hl_subgraph_has_in_place(const struct hl_subgraph *subgraph, int tensor)
{
    const struct hl_planner *planner = &subgraph->planner;
    bool has = tensor < planner->count && planner->placements[tensor].inside;
    for (int i = 0; i < planner->count && !has; i++)
        has = planner->placements[i].inside && planner->placements[i].shares == tensor;
    return has;
}

void *hl_result_data(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_planner *planner = &hl_subgraph_of(ctx)->planner;
    const int tensor = hl_node_result(hl_node_of(node));
    return planner->placements[tensor].in_rows ? (void *)(planner->arena + hl_planner_offset(planner, tensor))
                                               : ctx->tensors[tensor].data.data;
}
