// SPDX-License-Identifier: Apache-2.0
// Stages at the end of a node, for fused activations (build.c) and for the rounding of 8-bit values (quantize.c).
#ifndef HALITE_GPU_GRAPH_EPILOGUE_H
#define HALITE_GPU_GRAPH_EPILOGUE_H

#include "gpu/graph/graph.h"

// Adds stages to output `output` of the node at `position` in graph->nodes: to the node's epilogue if it has one with
// room for them, otherwise in a node of their own after it. False without memory.
bool gpu_graph_add_stages(struct gpu_graph *graph, int position, int output, const struct gpu_epilogue *stages);

#endif
