// SPDX-License-Identifier: Apache-2.0
// From a partition of the runtime's graph to a gpu graph: values with shapes, constants as floats, nodes with their
// options, fused activations and 8-bit rounding as stages behind them.
#ifndef HALITE_GPU_GRAPH_BUILD_H
#define HALITE_GPU_GRAPH_BUILD_H

#include "gpu/graph/graph.h"

struct gpu_partition {
    TfLiteContext *context;
    const TfLiteIntArray *nodes, *outputs; // outputs: tensors that are read outside
    const int *source;                     // by tensor: the constant that it is a dequantized copy of, else -1
    size_t source_count;
    enum gpu_precision precision;
    const struct gpu_op *custom_ops; // those of the application, see gpu_op_of
    bool exact_integers;             // 8-bit tensors are values of codes, and nodes with them compute with integers
};

// NULL after a message. Inputs and outputs that the CPU gives and takes are the values with is_input and is_output; a
// variable tensor is both: an operator that has state writes to its input value. An output that is a constant is a
// value with data and not is_output: nothing on the device makes it.
struct gpu_graph *gpu_graph_build(const struct gpu_partition *partition, const struct hl_reporter *reporter);

#endif
