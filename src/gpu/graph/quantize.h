// SPDX-License-Identifier: Apache-2.0
// Float twins of 8-bit models. In: a graph whose values know how the CPU stores them. Out: the same graph, in which
// every result is rounded as storing it in 8 bits would round it.
#ifndef HALITE_GPU_GRAPH_QUANTIZE_H
#define HALITE_GPU_GRAPH_QUANTIZE_H

#include "gpu/graph/graph.h"

// False without memory.
bool gpu_graph_quantize(struct gpu_graph *graph, enum gpu_precision precision);
// Stores values as whole numbers (gpu_value.whole) where all that read them are convolutions and the like with weights
// of 8 bits, and nodes that move elements to such. After all passes, in 32-bit floats: halves hold neither the sums nor
// the scales. False without memory.
bool gpu_graph_use_whole_numbers(struct gpu_graph *graph);
// Whether the output consists of values that its 8 bits can store because the node only moves runtime values of the
// same scale and zero point. A constant may be any float.
bool gpu_keeps_codes(const struct gpu_node *node, const struct gpu_value *output);

#endif
