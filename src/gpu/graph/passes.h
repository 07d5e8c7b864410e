// SPDX-License-Identifier: Apache-2.0
// Passes over the gpu graph: each makes it smaller without changing what it computes, within rounding. Order: passes.c.
#ifndef HALITE_GPU_GRAPH_PASSES_H
#define HALITE_GPU_GRAPH_PASSES_H

#include "gpu/graph/graph.h"

// A pass says whether it changed something.
typedef bool (*gpu_pass_function)(struct gpu_graph *graph);

bool gpu_pass_fuse_norm(struct gpu_graph *graph);
bool gpu_pass_fuse_gelu(struct gpu_graph *graph);
bool gpu_pass_fuse_attention(struct gpu_graph *graph);
bool gpu_pass_move_transposes(struct gpu_graph *graph);
bool gpu_pass_remove_identity(struct gpu_graph *graph);
bool gpu_pass_drop_reshapes(struct gpu_graph *graph);
bool gpu_pass_merge_padding(struct gpu_graph *graph);
bool gpu_pass_fold_after(struct gpu_graph *graph);
bool gpu_pass_fold_before(struct gpu_graph *graph);
bool gpu_pass_fuse_prelu(struct gpu_graph *graph);
bool gpu_pass_fuse_swish(struct gpu_graph *graph);
bool gpu_pass_fuse_stages(struct gpu_graph *graph);
bool gpu_pass_fuse_residual(struct gpu_graph *graph);
bool gpu_pass_join_formulas(struct gpu_graph *graph);

// Whether only marked nodes, by position, read what marked nodes write, but for the result.
bool gpu_is_closed(const struct gpu_graph *graph, const bool *marked, const struct gpu_value *result);
// Whether a node (NULL: none) can have the stages after its own. A dispatch reads one other value, which must be there
// before the node runs, and numbers of channels besides only where they can follow its constant weights.
bool gpu_can_take_stages(const struct gpu_graph *graph, const struct gpu_node *node, const struct gpu_epilogue *stages);
// The stage that the node's operator of two values is of input `through`, with the other input. NONE: it is not one.
enum gpu_epilogue_op gpu_stage_of_two(const struct gpu_node *node, int through);
// The node writes what `behind`, which reads its output, wrote, with `behind`'s own stages at the end; `behind` is
// gone.
void gpu_take_over_output(struct gpu_graph *graph, struct gpu_node *node, struct gpu_node *behind);

// ---- weights and bias of a node that sums products (gpu_op.weighted), fold.c

// Whether weights and bias, if there is one, are constants with as many outputs as the node.
bool gpu_has_constant_weights(const struct gpu_node *node);
// Copies the weights, because other nodes may read the same constants, and the bias, or makes one of zeros where there
// is none. NULL without memory.
struct gpu_value *gpu_copy_weights(struct gpu_graph *graph, const struct gpu_value *from);
struct gpu_value *gpu_copy_bias(struct gpu_graph *graph, const struct gpu_node *node);
void gpu_replace_input(struct gpu_node *node, int input, struct gpu_value *value);

// All passes, again and again until none changes anything, and in the end gpu_pass_join_formulas and
// gpu_pass_drop_reshapes.
void gpu_run_passes(struct gpu_graph *graph);

// The graph as text, a line per node, for tests and reports. malloc'ed; NULL without memory.
char *gpu_graph_text(const struct gpu_graph *graph);

#endif
