// SPDX-License-Identifier: Apache-2.0
// One subgraph of an interpreter: its tensors, its nodes, the order in which the nodes run, and their memory. Kernels,
// custom operators and delegates see the ABI's TfLiteTensor, TfLiteNode, TfLiteRegistration and TfLiteContext; this
// struct holds those and what only the runtime knows.
//
//   subgraph.c   model -> tensors and nodes; shapes          planner.c     tensors -> offsets in the arena
//   execute.c    prepare, allocate, invoke                   partition.c   nodes to replace -> pieces (pure)
//   context.c    the TfLiteContext function table            delegation.c  apply, undo, redo delegates
//   uses.c       who reads and writes each tensor, and what is known before nodes run
//   take_over.c  nodes that take over the one before them
//   transposes.c transposes that undo each other
//   chain.c      convolutions that compute the element-wise nodes behind them
//   concat_in_place.c  nodes that write into the output of a CONCATENATION
//   shared_constant.c  constants that operators compute, once for all interpreters of a model
#ifndef HALITE_RUNTIME_SUBGRAPH_H
#define HALITE_RUNTIME_SUBGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "model/model.h"
#include "runtime/builtin_kernels.h"
#include "runtime/planner.h"
#include "tensorflow/lite/c/common.h"

struct TfLiteInterpreter;

// How many bytes after a heap tensor's elements may be read. The kernels of XNNPACK, which other delegates bring, load
// whole vectors.
enum { HL_TENSOR_TAIL = 16 };

// The most nodes that another one computes, too (chain.c): element-wise ones, and a pool behind them.
enum { HL_MAX_STEPS = 6, HL_MAX_FOLLOWERS = HL_MAX_STEPS + 1 };

enum hl_subgraph_state {
    HL_NOT_READY, // AllocateTensors has to run first
    HL_READY,
    HL_IMMUTABLE, // ready, and a delegate relies on the present shapes
};

struct hl_node {
    TfLiteNode node; // first: a kernel's TfLiteNode is an hl_node
    // settled: all tensors of the node have memory for good, so that Invoke does not look at them again (execute.c),
    // but calls this and counts so many steps.
    bool settled;
    struct hl_call call;
    double steps;
    TfLiteRegistration registration;
    int index;        // in the subgraph
    const char *name; // schema name, custom name or the delegate kernel's name
    bool unresolved;  // a custom operator that no resolver knows; a delegate may still take it
    bool has_state;   // init succeeded, so free must be called
    bool has_dynamic; // prepare made an output or a temporary dynamic, so invoke may change its size
    bool is_taken;    // the node after it took it over: it does not run (take_over.c)
    int reads;        // the tensor that is read in place of input 0, of a PAD that was taken; -1: input 0
    bool follows;     // a node before it computes it, too: it does not run (chain.c)
    int leads;        // so many followers are computed with this node, in their order
    bool joins;       // then: they stand before this node, which is the last one (attention.c)
    struct hl_node *followers[HL_MAX_FOLLOWERS];
    struct hl_transposed *transposed; // owned: other tensors that it reads and writes (transposes.c); NULL: none yet
    int replaced;                     // how many nodes of the model a delegate's node replaces
    uint64_t runs, nanoseconds;       // while profiling
};

struct hl_subgraph {
    TfLiteContext context; // context.impl_ is this struct
    struct TfLiteInterpreter *interpreter;
    const struct hl_model_subgraph *model;
    int index;
    enum hl_subgraph_state state;

    int tensor_count, tensor_capacity; // context.tensors, context.tensors_size
    struct hl_node **nodes;            // delegate nodes come after the model's
    int node_count, node_capacity;
    int model_node_count;
    TfLiteIntArray *plan; // node indices in order of execution
    // Where all nodes of the plan are settled: the calls of those that do something, and the steps of all. They lie
    // side by side, because small networks wait for cache lines: a wake word of 32 nodes reads 50 KB in 1.4 us. 0
    // calls: not all are.
    struct hl_call *calls; // node_capacity of them
    int call_count;
    double call_steps;
    TfLiteIntArray *inputs, *outputs, *variables;
    bool *is_read;     // for each tensor of the model: a node reads it, or it is an output
    int is_read_size;  // entries of is_read; temporaries of kernels have none
    bool inconsistent; // the caller built a graph that names a tensor which does not exist; it cannot run

    struct hl_planner planner;
    size_t kept_bytes; // memory of kernels' states, packed weights for example
    struct hl_shared_constant {
        int tensor;
        struct hl_weights *weights;
    } * shared_constants; // see shared_constant.c
    int shared_constant_count;
    size_t *heap_bytes;          // for each tensor: its heap memory as last counted in interpreter->tensor_bytes
    bool has_dynamic_inputs;     // an input was dynamic in AllocateTensors, so callers may change its size
    int prepared;                // plan positions [0, prepared) are prepared and have memory
    bool resized;                // a dynamic tensor changed its shape since the last node began
    const void *left_for_others; // hl_left_for_others

    // Memory of callers (SetCustomAllocationForTensor), sorted by tensor.
    struct hl_custom_allocation {
        int tensor;
        TfLiteCustomAllocation memory;
    } * custom_allocations;
    int custom_allocation_count;

    // Delegates in the order in which they were applied, and the plan before the first of them.
    TfLiteDelegate **delegates;
    int delegate_count;
    TfLiteIntArray *undelegated_plan; // NULL if no delegate is applied
    bool delegates_undone;            // a resize undid them; AllocateTensors applies them again
    bool delegation_skippable;        // a delegate runs this subgraph itself, so it is not offered to delegates

    TfLiteDelegateParams *preview; // the last result of PreviewDelegatePartitioning
    int preview_count;
    TfLiteIntArray *plan_copy; // the last result of GetExecutionPlan
    struct hl_async *async;    // of asynchronous runs, a reference; NULL: nobody asked for them

    struct hl_kernel_buffer { // of AllocatePersistentBuffer, and of kernels during one invoke
        struct hl_kernel_buffer *next;
    } * persistent_buffers, *eval_buffers;
    TfLiteOperator **operators; // opaque delegates gave them, or they describe nodes to such delegates; owned
    int operator_count;
    TfLiteIntArray *scratch_tensors; // the tensor of each RequestScratchBufferInArena
};

static inline bool hl_is_listed(const TfLiteIntArray *list, int tensor)
{
    for (int i = 0; i < list->size; i++)
        if (list->data[i] == tensor) return true;
    return false;
}

static inline struct hl_subgraph *hl_subgraph_of(const TfLiteContext *context)
{
    return context->impl_;
}
static inline const struct hl_node *hl_node_of(const TfLiteNode *node)
{
    return (const struct hl_node *)node;
}

// ---- take_over.c
// Removes what was taken over from the nodes, which are prepared anew.
void hl_subgraph_return_taken(struct hl_subgraph *subgraph);
// Returns whether the tensor is the output of a node that was taken over, which nobody writes.
bool hl_subgraph_has_taken(const struct hl_subgraph *subgraph, int tensor);
// Returns the position of the node that computes the one at this position: its own, or that of the node that took it
// over or that it follows (chain.c).
int hl_subgraph_runs_at(const struct hl_subgraph *subgraph, int position);

// ---- transposes.c
// Lets nodes between transposes that undo each other work without these. The nodes are to be prepared.
TfLiteStatus hl_subgraph_skip_transposes(struct hl_subgraph *subgraph);
// Give one node, or all, back the tensors that the model says. If it had others, the subgraph is not ready then.
void hl_subgraph_restore_node(struct hl_subgraph *subgraph, struct hl_node *node);
void hl_subgraph_restore_nodes(struct hl_subgraph *subgraph);
// Calls the kernel's prepare. Tensors of the model that the node no longer writes get their shapes, too.
TfLiteStatus hl_node_prepare(struct hl_subgraph *subgraph, struct hl_node *node);
// Returns whether the node is a TRANSPOSE that does not run.
static inline bool hl_node_is_skipped(const struct hl_node *node)
{
    return node->is_taken && node->node.outputs->size == 0;
}
// Returns whether the node would write the tensor, which nobody writes.
bool hl_node_leaves_out(const struct hl_node *node, int tensor);
// Returns the node as the model has it.
const TfLiteNode *hl_node_shown(const struct hl_node *node);

// ---- uses.c
// What the plan does with each tensor.
struct hl_use {
    int readers, writers, last_writer; // the latter is a position
};
// Whether AllocateTensors, which has prepared the node, has found all that it makes: it reads nothing that is made when
// it runs. Never of nodes that are not the library's own.
bool hl_subgraph_knows(const struct hl_subgraph *subgraph, const struct hl_node *node);
// An entry for each tensor, which free takes; NULL without memory.
struct hl_use *hl_subgraph_find_uses(const struct hl_subgraph *subgraph);
// Returns whether the tensor has its value before the node at this position runs, and keeps it.
bool hl_subgraph_is_early(const struct hl_subgraph *subgraph, const struct hl_use *uses, int tensor, int position);

// ---- chain.c
// Finds the chains of the nodes that AllocateTensors has prepared, attention first.
TfLiteStatus hl_subgraph_make_chains(struct hl_subgraph *subgraph);
void hl_subgraph_end_chains(struct hl_subgraph *subgraph);
// Returns the tensor that the node writes: output 0, or that of the chain it leads.
int hl_node_result(const struct hl_node *node);
// Returns whether the tensor lies inside a chain, so that nobody writes it: in that of this node, or in any.
bool hl_node_passes_on(const struct hl_node *node, int tensor);
bool hl_subgraph_passes_on(const struct hl_subgraph *subgraph, int tensor);

// ---- attention.c
TfLiteStatus hl_subgraph_join_attention(struct hl_subgraph *subgraph, const struct hl_use *uses);

// ---- concat_in_place.c
// Puts inputs of CONCATENATION inside its output, where nodes that AllocateTensors has prepared can write them.
TfLiteStatus hl_subgraph_concat_in_place(struct hl_subgraph *subgraph);
// Returns whether the tensor lies inside another, or has such tensors inside.
bool hl_subgraph_has_in_place(const struct hl_subgraph *subgraph, int tensor);

// ---- shared_constant.c
void hl_subgraph_free_shared_constants(struct hl_subgraph *subgraph);

// ---- subgraph.c
struct hl_subgraph *hl_subgraph_create(struct TfLiteInterpreter *interpreter, int index);
void hl_subgraph_destroy(struct hl_subgraph *subgraph); // accepts NULL
// Makes the nodes: it finds each operator's kernel and calls its init. It reports the operators that nobody resolves.
TfLiteStatus hl_subgraph_create_nodes(struct hl_subgraph *subgraph);
// Appends a node and calls init with init_data. It takes the arrays, also on failure. Returns the node's index, or -1
// without memory or when init fails.
int hl_subgraph_add_node(struct hl_subgraph *subgraph, const TfLiteRegistration *registration, const char *name,
                         TfLiteIntArray *inputs, TfLiteIntArray *outputs, TfLiteIntArray *intermediates,
                         void *builtin_data, const void *init_data, size_t init_size);
void hl_subgraph_free_node(struct hl_subgraph *subgraph, struct hl_node *node);
TfLiteStatus hl_subgraph_add_tensors(struct hl_subgraph *subgraph, int count, int *first);
// Makes room for the tensors that a kernel may add while it prepares, so that they do not move: people's kernels hold
// pointers to tensors while they add scratch tensors, as the original lets them do for 16.
TfLiteStatus hl_subgraph_keep_headroom(struct hl_subgraph *subgraph);
// Takes `dims`, also on failure.
TfLiteStatus hl_subgraph_resize_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, TfLiteIntArray *dims);
TfLiteStatus hl_subgraph_resize_input(struct hl_subgraph *subgraph, int tensor, const int *dims, int rank);
// Refuses to change dimensions that the shape signature does not leave open (-1).
TfLiteStatus hl_subgraph_resize_input_strict(struct hl_subgraph *subgraph, int tensor, const int *dims, int rank);
TfLiteStatus hl_subgraph_set_custom_allocation(struct hl_subgraph *subgraph, int tensor,
                                               const TfLiteCustomAllocation *memory, int64_t flags);
// Gives a heap tensor so many bytes, within the interpreter's memory limit.
TfLiteStatus hl_subgraph_resize_heap_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, size_t bytes);
// Adds bytes to the interpreter's count of memory: arenas, persistent blocks, the heap, kernels' states.
void hl_subgraph_count_bytes(struct hl_subgraph *subgraph, ptrdiff_t bytes);
// These count the heap memory of all tensors, or of a list of them, anew. Kernels change that of a node's outputs and
// temporaries without telling the runtime, and callers that of the inputs.
void hl_subgraph_count_heap(struct hl_subgraph *subgraph);
void hl_subgraph_count_heap_of(struct hl_subgraph *subgraph, const TfLiteIntArray *tensors);
// Counts steps of planning against the interpreter's limit of work. Fails with a message beyond the limit, or when the
// interpreter was cancelled.
TfLiteStatus hl_subgraph_count_planning(struct hl_subgraph *subgraph, double steps);
void hl_subgraph_error(const struct hl_subgraph *subgraph, const char *format, ...) HL_PRINTF(2, 3);
// Returns a tensor's name for messages. Temporaries of kernels have none.
static inline const char *hl_tensor_label(const TfLiteTensor *tensor)
{
    return tensor->name && tensor->name[0] ? tensor->name : "without name";
}
// Returns whether the index is one of the subgraph's tensors.
static inline bool hl_subgraph_has_tensor(const struct hl_subgraph *subgraph, int tensor)
{
    return tensor >= 0 && tensor < subgraph->tensor_count;
}

// ---- execute.c
TfLiteStatus hl_subgraph_allocate(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_invoke(struct hl_subgraph *subgraph);
// The next Invoke looks at the tensors of all nodes anew: a caller has changed where one of them lies.
void hl_subgraph_unsettle(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_reset_variables(struct hl_subgraph *subgraph);
// Copies a tensor from its delegate's buffer to its own memory if that is out of date.
TfLiteStatus hl_subgraph_make_readable(struct hl_subgraph *subgraph, int tensor);
TfLiteStatus hl_subgraph_prepare_node(struct hl_subgraph *subgraph, struct hl_node *node);
// Prepares nodes from the first unprepared one up to the first with dynamic outputs, which is prepared as well.
TfLiteStatus hl_subgraph_prepare_ahead(struct hl_subgraph *subgraph);
bool hl_subgraph_has_dynamic(const struct hl_subgraph *subgraph, const TfLiteIntArray *tensors);

// ---- context.c
void hl_context_init(struct hl_subgraph *subgraph);
// Whether hl_context_init has made it, and no other runtime.
bool hl_context_is_own(const TfLiteContext *context);
// GetExecutionPlan and the other functions for delegates work only between begin and end.
void hl_context_begin_delegation(struct hl_subgraph *subgraph);
void hl_context_end_delegation(struct hl_subgraph *subgraph);
void hl_subgraph_free_buffers(struct hl_kernel_buffer **list);

// ---- delegation.c
TfLiteStatus hl_subgraph_apply_delegate(struct hl_subgraph *subgraph, TfLiteDelegate *delegate);
TfLiteStatus hl_subgraph_undo_delegates(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_redo_delegates(struct hl_subgraph *subgraph);
// Restores the model's graph and forgets the delegates.
TfLiteStatus hl_subgraph_remove_delegates(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_replace_nodes(struct hl_subgraph *subgraph, const TfLiteRegistration *registration,
                                       const TfLiteIntArray *nodes, TfLiteDelegate *delegate);
TfLiteStatus hl_subgraph_preview_partitions(struct hl_subgraph *subgraph, const TfLiteIntArray *nodes,
                                            TfLiteDelegateParams **params, int *count);
void hl_subgraph_free_preview(struct hl_subgraph *subgraph);
// Takes an operator, which is deleted with the subgraph. Returns false without memory; the caller then keeps it.
bool hl_subgraph_own_operator(struct hl_subgraph *subgraph, TfLiteOperator *op);
// Returns an operator that has a node's code, name and version, for delegates that see opaque types; NULL without
// memory.
TfLiteOperator *hl_subgraph_describe_node(struct hl_subgraph *subgraph, int node);
// These call a delegate's callbacks, in their plain form or in that of the opaque delegate builder.
TfLiteStatus hl_delegate_copy_from(TfLiteContext *context, TfLiteTensor *tensor);
void hl_delegate_free_handle(TfLiteContext *context, TfLiteTensor *tensor);
int64_t hl_delegate_flags(const TfLiteDelegate *delegate);
// Returns the nodes that a delegate's node has replaced.
const TfLiteIntArray *hl_delegate_replaced_nodes(const struct hl_node *node);

// ---- async.c
// Waits for all asynchronous runs and ends their tasks, before the graph changes or, at last, is destroyed. Runners
// that applications still hold only report from then on.
void hl_subgraph_end_async(struct hl_subgraph *subgraph, bool is_last);

#endif
