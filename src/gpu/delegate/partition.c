// SPDX-License-Identifier: Apache-2.0
// The delegate's Prepare. In: the runtime's graph. Out: partitions of claimed nodes, a report, and one message about
// the other nodes. The runtime divides the supported nodes into partitions; the largest are claimed, as many as the
// options allow.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/delegate.h"
#include "gpu/delegate/support.h"
#include "gpu/graph/op.h"

static bool out_of_memory(TfLiteContext *context)
{
    context->ReportError(context, "TfLiteGpuDelegate Init: out of memory");
    return false;
}

// ---- is a partition worth its copies? -----------------------------------------------------------

// The unit is one multiply-add of a CPU that does 10 of them in a nanosecond. The largest partition is always claimed,
// because whoever applies a GPU delegate wants it there. Every other one must be worth a submission and two waits,
// which took about 100 us on the measured devices, and its copies at 10 bytes per nanosecond.
enum {
    SUBMISSION_COST = 1000000,
    BYTE_COST = 1,
    ELEMENT_WORK = 10, // for an operator without multiply-adds: one element in a nanosecond
};

static double node_work(TfLiteContext *context, const TfLiteNode *node, const TfLiteRegistration *registration)
{
    if (node->outputs->size == 0 || node->outputs->data[0] < 0) return 0;
    double elements = (double)hl_elements(&context->tensors[node->outputs->data[0]]);
    const struct gpu_op *op = gpu_op_find(registration->builtin_code, registration->custom_name);
    struct gpu_node_view view = {.context = context, .node = node, .registration = registration};
    int64_t macs = op && op->macs ? op->macs(&view) : 0;
    return elements * (double)(macs > 0 ? macs : ELEMENT_WORK);
}

static double copied_bytes(const TfLiteContext *context, const TfLiteIntArray *tensors)
{
    double bytes = 0;
    for (int i = 0; i < tensors->size; i++) {
        int tensor = tensors->data[i];
        if (tensor >= 0 && !hl_is_constant(&context->tensors[tensor])) bytes += (double)context->tensors[tensor].bytes;
    }
    return bytes;
}

static bool is_worth_it(TfLiteContext *context, const TfLiteDelegateParams *params)
{
    double work = 0;
    for (int i = 0; i < params->nodes_to_replace->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node, &registration) ==
            kTfLiteOk)
            work += node_work(context, node, registration);
    }
    double copies = copied_bytes(context, params->input_tensors) + copied_bytes(context, params->output_tensors);
    return work > SUBMISSION_COST + BYTE_COST * copies;
}

// ---- partitions ---------------------------------------------------------------------------------

// A partition, copied from the runtime's preview, which is valid only until the next preview.
struct piece {
    int *nodes, count;
    int order; // its position in the runtime's list
    bool worth_it;
};
struct pieces {
    struct piece *items;
    int count;
};

static void free_pieces(struct pieces *pieces)
{
    for (int i = 0; i < pieces->count; i++) free(pieces->items[i].nodes);
    free(pieces->items);
    *pieces = (struct pieces){0};
}

static int larger_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->count != y->count) return y->count - x->count;
    return x->order - y->order;
}

static bool preview(TfLiteContext *context, const TfLiteIntArray *nodes, struct pieces *pieces)
{
    TfLiteDelegateParams *params = NULL;
    int count = 0;
    *pieces = (struct pieces){0};
    if (nodes->size == 0) return true;
    if (context->PreviewDelegatePartitioning(context, nodes, &params, &count) != kTfLiteOk) {
        context->ReportError(context, "TfLiteGpuDelegate Init: the runtime cannot partition the graph");
        return false;
    }
    pieces->items = calloc((size_t)count + 1, sizeof *pieces->items);
    if (!pieces->items) return out_of_memory(context);
    for (int i = 0; i < count; i++) {
        const TfLiteIntArray *from = params[i].nodes_to_replace;
        struct piece *piece = &pieces->items[i];
        *piece = (struct piece){malloc(((size_t)from->size + 1) * sizeof(int)), from->size, i,
                                is_worth_it(context, &params[i])};
        if (!piece->nodes) {
            free_pieces(pieces);
            return out_of_memory(context);
        }
        memcpy(piece->nodes, from->data, (size_t)from->size * sizeof(int));
        pieces->count++;
    }
    qsort(pieces->items, (size_t)pieces->count, sizeof *pieces->items, larger_first);
    return true;
}

// ---- dequantized constants ----------------------------------------------------------------------

// Whether `wanted` is set for all readers of the output of the node at `position` in the plan.
static bool readers_are(TfLiteContext *context, const TfLiteIntArray *plan, int position, const bool *wanted)
{
    TfLiteNode *node;
    TfLiteRegistration *registration;
    if (context->GetNodeAndRegistration(context, plan->data[position], &node, &registration) != kTfLiteOk) return false;
    int tensor = node->outputs->data[0];
    bool any = false;
    for (int i = 0; i < plan->size; i++) {
        if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) != kTfLiteOk) return false;
        for (int k = 0; k < node->inputs->size; k++) {
            if (node->inputs->data[k] != tensor) continue;
            if (!wanted[i]) return false;
            any = true;
        }
    }
    return any;
}

// ---- choosing -----------------------------------------------------------------------------------

// The nodes of the plan for which `wanted` is set, in the order of the plan. NULL without memory.
static TfLiteIntArray *list_of(const TfLiteIntArray *plan, const bool *wanted)
{
    TfLiteIntArray *list = gpu_int_array(plan->size);
    if (!list) return NULL;
    list->size = 0;
    for (int i = 0; i < plan->size; i++)
        if (wanted[i]) list->data[list->size++] = plan->data[i];
    return list;
}

static bool preview_wanted(TfLiteContext *context, const TfLiteIntArray *plan, const bool *wanted,
                           struct pieces *pieces)
{
    TfLiteIntArray *list = list_of(plan, wanted);
    *pieces = (struct pieces){0};
    if (!list) return out_of_memory(context);
    bool ok = preview(context, list, pieces);
    free(list);
    return ok;
}

// Divides the supported nodes into partitions. They also include nodes that make constants, unless that would increase
// the number of partitions.
static bool make_pieces(TfLiteContext *context, const TfLiteIntArray *plan, const struct gpu_report_row *rows,
                        bool *wanted, struct pieces *pieces)
{
    bool any_constant = false;
    for (int i = 0; i < plan->size; i++) wanted[i] = rows[i].reason.code == GPU_REASON_OK && !rows[i].taken_away;
    if (!preview_wanted(context, plan, wanted, pieces)) return false;
    bool *more = malloc((size_t)plan->size + 1);
    if (!more) {
        free_pieces(pieces);
        return out_of_memory(context);
    }
    memcpy(more, wanted, (size_t)plan->size);
    for (int i = plan->size; i-- > 0;) // readers are visited first
        if (rows[i].taken_away && readers_are(context, plan, i, more)) more[i] = any_constant = true;
    struct pieces with_constants = {0};
    bool ok = !any_constant || preview_wanted(context, plan, more, &with_constants);
    free(more);
    if (any_constant && ok && with_constants.count <= pieces->count) {
        struct pieces without = *pieces;
        *pieces = with_constants;
        with_constants = without;
    }
    free_pieces(&with_constants);
    if (!ok) free_pieces(pieces);
    return ok;
}

static int position_of(const TfLiteIntArray *plan, int node)
{
    int i = 0;
    while (i < plan->size && plan->data[i] != node) i++;
    return i;
}

// Sets `wanted` for the nodes to claim, and the reason in the rows of supported nodes that are not claimed.
static bool choose(TfLiteContext *context, const struct gpu_options *options, const TfLiteIntArray *plan,
                   struct gpu_report_row *rows, bool *wanted)
{
    struct pieces pieces;
    if (!make_pieces(context, plan, rows, wanted, &pieces)) return false;
    memset(wanted, 0, (size_t)plan->size);
    for (int p = 0; p < pieces.count; p++) {
        const struct piece *piece = &pieces.items[p];
        bool small = p > 0 && options->skip_small && !piece->worth_it, late = p >= options->max_partitions;
        for (int i = 0; i < piece->count; i++) {
            int at = position_of(plan, piece->nodes[i]);
            rows[at].partition = p;
            wanted[at] = !small && !late;
            if (wanted[at]) continue;
            rows[at].reason.code = late ? GPU_REASON_PARTITION : GPU_REASON_COST;
            if (late)
                snprintf(rows[at].reason.text, sizeof rows[at].reason.text,
                         "partition %d by size, %d node%s; max_delegated_partitions is %d", p, piece->count,
                         piece->count == 1 ? "" : "s", options->max_partitions);
            else
                snprintf(rows[at].reason.text, sizeof rows[at].reason.text,
                         "partition %d by size, %d node%s: copies cost more than it saves", p, piece->count,
                         piece->count == 1 ? "" : "s");
        }
    }
    free_pieces(&pieces);
    for (int i = plan->size; i-- > 0;) {
        if (!rows[i].taken_away || (wanted[i] && readers_are(context, plan, i, wanted))) continue;
        wanted[i] = false;
        rows[i].reason.code = GPU_REASON_FOLDED;
        rows[i].reason.text[0] = 0;
    }
    return true;
}

// ---- prepare ------------------------------------------------------------------------------------

// Sets the reason of all nodes that were to run on the GPU, because the graph stays as it is.
static void withdraw(struct gpu_report_row *rows, int count, enum gpu_reason_code code, const char *text)
{
    for (int i = 0; i < count; i++) {
        if (rows[i].reason.code != GPU_REASON_OK) continue;
        rows[i].reason.code = code;
        snprintf(rows[i].reason.text, sizeof rows[i].reason.text, "%s", text);
    }
}

static bool any_failed(const struct gpu_report_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        if (rows[i].reason.code == GPU_REASON_DEVICE) return true;
    return false;
}

static bool open_device(TfLiteContext *context, struct gpu_delegate *delegate)
{
    gpu_engine_enter(delegate->engine, context, "Init");
    bool ok = gpu_engine_open(delegate->engine);
    if (!ok) withdraw(delegate->rows, delegate->row_count, GPU_REASON_DEVICE, delegate->engine->last_error);
    gpu_engine_leave(delegate->engine);
    return ok;
}

// Names the device once, if nobody has chosen it.
static void say_which_device(TfLiteContext *context, const struct gpu_device_info *info)
{
    if (info->why[0])
        context->ReportError(
            context, "TfLiteGpuDelegate: runs on %s (%s): %s. HALITE_DEVICE or the option device chooses another.",
            info->text, info->caps.name, info->why);
}

static TfLiteStatus claim(TfLiteContext *context, struct gpu_delegate *delegate, const TfLiteIntArray *nodes)
{
    const struct gpu_options *options = &delegate->engine->options;
    struct gpu_report_row *rows = delegate->rows;
    int count = delegate->row_count;
    if (options->full_delegation && nodes->size < count) {
        context->ReportError(
            context, "TfLiteGpuDelegate Init: require_full_delegation is set, and %d of %d nodes stay on the CPU",
            count - nodes->size, count);
        withdraw(rows, count, GPU_REASON_REFUSED, "");
        return kTfLiteDelegateError;
    }
    if (nodes->size == 0) return kTfLiteOk;
    bool first = !gpu_engine_info(delegate->engine);
    if (!open_device(context, delegate)) return kTfLiteDelegateError;
    TfLiteStatus status =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, gpu_kernel_registration(options->node_name), nodes,
                                                       &delegate->tflite);
    if (status == kTfLiteOk && any_failed(rows, count)) status = kTfLiteDelegateError; // the kernel has reported why
    if (status != kTfLiteOk)
        withdraw(rows, count, GPU_REASON_DEVICE, "");
    else if (first)
        say_which_device(context, gpu_engine_info(delegate->engine));
    return status;
}

static void say_what_stays(TfLiteContext *context, const struct gpu_report_row *rows, int count)
{
    char *text = gpu_support_text(rows, count);
    if (text) context->ReportError(context, "%s", text);
    free(text);
}

static TfLiteStatus prepare_plan(TfLiteContext *context, struct gpu_delegate *delegate, const TfLiteIntArray *plan)
{
    const struct gpu_options *options = &delegate->engine->options;
    size_t tensors = context->tensors_size;
    int *source = malloc((tensors + 1) * sizeof *source);
    bool *wanted = calloc((size_t)plan->size + 1, sizeof *wanted);
    delegate->rows = gpu_report_begin(&delegate->report, context, plan->size);
    delegate->row_count = plan->size;
    delegate->source = source;
    delegate->source_count = tensors;
    TfLiteStatus status = kTfLiteError;
    if (!source || !wanted || !delegate->rows) {
        out_of_memory(context);
    } else if (gpu_support_find(context, plan, options->quantized, delegate->rows, source) &&
               choose(context, options, plan, delegate->rows, wanted)) {
        TfLiteIntArray *nodes = list_of(plan, wanted);
        if (nodes)
            status = claim(context, delegate, nodes);
        else
            out_of_memory(context);
        if (nodes) say_what_stays(context, delegate->rows, plan->size); // a failure has already been reported
        free(nodes);
    }
    delegate->rows = NULL;
    delegate->source = NULL;
    delegate->source_count = 0;
    free(wanted);
    free(source);
    return status;
}

TfLiteStatus gpu_delegate_prepare(TfLiteContext *context, TfLiteDelegate *tflite)
{
    struct gpu_delegate *delegate = tflite->data_;
    const struct gpu_options *options = &delegate->engine->options;
    if (options->problem) {
        context->ReportError(context, "TfLiteGpuDelegate Init: %s", options->problem);
        return kTfLiteDelegateError;
    }
    TfLiteIntArray *plan = NULL;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    TfLiteIntArray *copy = gpu_int_array(plan->size); // replacing nodes changes the array of the runtime
    if (!copy) {
        out_of_memory(context);
        return kTfLiteError;
    }
    memcpy(copy->data, plan->data, (size_t)plan->size * sizeof(int));
    hl_mutex_lock(&delegate->mutex);
    status = prepare_plan(context, delegate, copy);
    hl_mutex_unlock(&delegate->mutex);
    free(copy);
    return status;
}
