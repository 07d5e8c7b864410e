// SPDX-License-Identifier: Apache-2.0
// Float twins of 8-bit models. In: a graph whose values know how the CPU stores them. Out: the same graph, in which
// every result is rounded as storing it in 8 bits would round it.
#ifndef HALITE_GPU_GRAPH_QUANTIZE_H
#define HALITE_GPU_GRAPH_QUANTIZE_H

#include "gpu/graph/graph.h"

// False without memory.
bool gpu_graph_quantize(struct gpu_graph *graph, enum gpu_precision precision);

#endif
