// SPDX-License-Identifier: Apache-2.0
// What the GPU has to say while nodes are claimed: whether a partition is worth its copies, whether all of the graph
// must be claimed, and which device takes it. Out: one message about the device, and one about the nodes that stay.
#include <stdlib.h>

#include "gpu/delegate/delegate.h"
#include "gpu/delegate/report.h"
#include "gpu/graph/op.h"

// ---- is a partition worth its copies? -----------------------------------------------------------

// The unit is one multiply-add of a CPU that does 10 of them in a nanosecond. The largest partition is always claimed,
// because whoever applies a GPU delegate wants it there. Every other one must be worth a submission and two waits,
// which took about 100 us on the measured devices, and its copies at 10 bytes per nanosecond.
enum {
    SUBMISSION_COST = 1000000,
    BYTE_COST = 1,
    ELEMENT_WORK = 10, // for an operator without multiply-adds: one element in a nanosecond
};

static double node_work(const struct gpu_engine *engine, TfLiteContext *context, const TfLiteNode *node,
                        const TfLiteRegistration *registration)
{
    if (node->outputs->size == 0 || node->outputs->data[0] < 0) return 0;
    double elements = (double)hl_elements(&context->tensors[node->outputs->data[0]]);
    const struct gpu_op *op = gpu_op_of(engine->custom_ops, registration);
    struct gpu_node_view view = {.context = context, .node = node, .registration = registration, .op = op};
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

const char *gpu_partition_cost(const struct delegate *delegate, TfLiteContext *context,
                               const struct delegate_piece *piece, int number)
{
    const struct gpu_engine *engine = ((const struct gpu_delegate *)delegate)->engine;
    if (number == 0 || !engine->options.skip_small) return NULL;
    double work = 0;
    for (int i = 0; i < piece->count; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (context->GetNodeAndRegistration(context, piece->nodes[i], &node, &registration) == kTfLiteOk)
            work += node_work(engine, context, node, registration);
    }
    double copies = copied_bytes(context, piece->inputs) + copied_bytes(context, piece->outputs);
    return work > SUBMISSION_COST + BYTE_COST * copies ? NULL : "copies cost more than it saves";
}

// ---- claiming -----------------------------------------------------------------------------------

static bool open_device(struct gpu_delegate *delegate, TfLiteContext *context)
{
    gpu_engine_enter(delegate->engine, context, "Init");
    bool ok = gpu_engine_open(delegate->engine);
    if (!ok) delegate_withdraw(&delegate->base, DELEGATE_DEVICE, delegate->engine->last_error);
    gpu_engine_leave(delegate->engine);
    return ok;
}

bool gpu_claim_ready(struct delegate *base, TfLiteContext *context, int count)
{
    struct gpu_delegate *delegate = (struct gpu_delegate *)base;
    int all = delegate_report_latest(&base->report)->count;
    delegate->is_new_device = false;
    if (delegate->engine->options.full_delegation && count < all) {
        context->ReportError(
            context, "TfLiteGpuDelegate Init: require_full_delegation is set, and %d of %d nodes stay on the CPU",
            all - count, all);
        delegate_withdraw(base, DELEGATE_REFUSED, "");
        return false;
    }
    if (count == 0) return true;
    delegate->is_new_device = !gpu_engine_info(delegate->engine);
    return open_device(delegate, context);
}

// Names the device once, if nobody has chosen it.
static void say_which_device(TfLiteContext *context, const struct gpu_device_info *info)
{
    if (info->why[0])
        context->ReportError(
            context, "TfLiteGpuDelegate: runs on %s (%s): %s. HALITE_DEVICE or the option device chooses another.",
            info->text, info->caps.name, info->why);
}

void gpu_claim_done(struct delegate *base, TfLiteContext *context, TfLiteStatus status)
{
    const struct gpu_delegate *delegate = (struct gpu_delegate *)base;
    const struct delegate_graph *graph = delegate_report_latest(&base->report);
    if (status == kTfLiteOk && delegate->is_new_device) say_which_device(context, gpu_engine_info(delegate->engine));
    char *text = gpu_support_text(graph->rows, graph->count);
    if (text) context->ReportError(context, "%s", text); // a lack of memory is not worth a message
    free(text);
}
