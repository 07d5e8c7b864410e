// SPDX-License-Identifier: Apache-2.0
// See epilogue.h.
#include "gpu/graph/epilogue.h"

#include <string.h>

#include "gpu/graph/op.h"
#include "tensorflow/lite/builtin_ops.h"

bool gpu_graph_add_stages(struct gpu_graph *graph, int position, int output, const struct gpu_epilogue *stages)
{
    struct gpu_node *node = graph->nodes[position];
    if (node->op->epilogue && node->output_count == 1 && node->epilogue.count + stages->count <= GPU_EPILOGUE_STAGES) {
        for (int i = 0; i < stages->count; i++) node->epilogue.stages[node->epilogue.count++] = stages->stages[i];
        return true;
    }
    struct gpu_value *after = node->outputs[output];
    struct gpu_value *before = gpu_graph_add_value(graph, after->name, after->shape);
    struct gpu_node *added = before ? gpu_graph_add_node(graph, kTfLiteBuiltinCustom, position + 1) : NULL;
    if (!added) return false;
    before->rank = after->rank;
    memcpy(before->dims, after->dims, sizeof before->dims);
    before->producer = node;
    node->outputs[output] = before;
    added->index = node->index;
    added->op = &gpu_op_stages;
    added->epilogue = *stages;
    gpu_graph_connect_input(added, before);
    gpu_graph_connect_output(added, after);
    return true;
}
