// SPDX-License-Identifier: Apache-2.0
// An 8-bit model runs in floats on the device. The output of each node is clamped and rounded to the values that 8 bits
// can store, so that the results are those of the quantized model. Two kinds of outputs need no rounding: those of
// nodes that only move values of the same quantization, and those that nothing on the device reads, because they are
// rounded when they are stored in the output tensor; but sums of products are, for whole sums (whole.c) are rounded
// more exactly.
#include "gpu/graph/quantize.h"

#include "gpu/graph/epilogue.h"
#include "gpu/graph/op.h"

static bool same_quantization(const struct gpu_quantization *a, const struct gpu_quantization *b)
{
    return a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point;
}

bool gpu_keeps_codes(const struct gpu_node *node, const struct gpu_value *output)
{
    if (!gpu_moves_only(node->op->bytes) || node->epilogue.count > 0) return false;
    unsigned moved = node->op->moved_inputs ? node->op->moved_inputs : GPU_INPUT(0);
    for (int i = 0; i < node->input_count; i++) {
        const struct gpu_value *input = node->inputs[i];
        if (!input || (moved != GPU_ALL_INPUTS && !(moved >> i & 1))) continue;
        if (input->data || !same_quantization(&input->quantization, &output->quantization)) return false;
    }
    return true;
}

// Returns whether the clamp to the 8-bit range includes what the activation does.
static bool is_implied(enum gpu_epilogue_op op, float low, float high)
{
    return (op == GPU_EPI_RELU && low >= 0) || (op == GPU_EPI_RELU6 && low >= 0 && high <= 6);
}

static bool quantize_output(struct gpu_graph *graph, int position, int output, enum gpu_precision precision)
{
    struct gpu_node *node = graph->nodes[position];
    const struct gpu_quantization *q = &node->outputs[output]->quantization;
    float scale = q->scale;
    if (precision != GPU_F32 && scale < 0.000062f) scale = 0.000062f; // smaller steps are lost in half floats
    int lowest = q->type == kTfLiteInt8 ? -128 : 0;
    float low = scale * (float)(lowest - q->zero_point), high = scale * (float)(lowest + 255 - q->zero_point);
    struct gpu_epilogue *own = &node->epilogue;
    if (own->count > 0 && is_implied(own->stages[own->count - 1].op, low, high)) own->count--;
    struct gpu_epilogue stages = {.count = 1,
                                  .stages = {
                                      {.op = GPU_EPI_QUANTIZE, .a = scale, .b = (float)(lowest - q->zero_point)}}};
    return gpu_graph_add_stages(graph, position, output, &stages);
}

bool gpu_graph_quantize(struct gpu_graph *graph, enum gpu_precision precision)
{
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        int before = graph->node_count;
        for (int i = 0; i < node->output_count; i++) {
            struct gpu_value *output = node->outputs[i];
            const bool read = output->consumers > 0 || (node->op->weighted.weights && precision == GPU_F32);
            if (output->codes || output->quantization.scale == 0 || !read || gpu_keeps_codes(node, output)) continue;
            if (!quantize_output(graph, n, i, precision)) return false;
        }
        n += graph->node_count - before; // the nodes that were just added need no rounding
    }
    return true;
}
