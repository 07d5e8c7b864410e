// SPDX-License-Identifier: Apache-2.0
// One subgraph of an interpreter: tensors, nodes, the order in which nodes run, and the memory behind it all. The ABI's
// own TfLiteTensor, TfLiteNode, TfLiteRegistration and TfLiteContext are the model that kernels, custom operators and
// delegates share; this struct holds them and what only the runtime knows.
//
//   subgraph.c   model -> tensors and nodes; shapes          planner.c     tensors -> offsets in the arena
//   execute.c    prepare, allocate, invoke                   partition.c   nodes to replace -> pieces (pure)
//   context.c    the TfLiteContext function table            delegation.c  apply, undo, redo delegates
#ifndef HALITE_RUNTIME_SUBGRAPH_H
#define HALITE_RUNTIME_SUBGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "model/model.h"
#include "runtime/planner.h"
#include "tensorflow/lite/c/common.h"

struct TfLiteInterpreter;

// Bytes after the elements of a tensor on the heap that may be read: the kernels of XNNPACK, which delegates from
// elsewhere bring, load whole vectors.
enum { HL_TENSOR_TAIL = 16 };

enum hl_subgraph_state {
    HL_NOT_READY, // tensors need AllocateTensors
    HL_READY,
    HL_IMMUTABLE, // ready, and a delegate relies on the shapes as they are
};

struct hl_node {
    TfLiteNode node; // first: a kernel's TfLiteNode is an hl_node
    TfLiteRegistration registration;
    int index;                  // in the subgraph
    const char *name;           // schema name, custom name or the delegate kernel's name
    bool unresolved;            // a custom operator that no resolver knows: delegates may still take it
    bool has_state;             // init succeeded: free must be called
    bool has_dynamic;           // an output or a temporary is dynamic since prepare: its size may change in invoke
    int replaced;               // nodes of the model that a delegate's node stands for
    uint64_t runs, nanoseconds; // while profiling
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
    TfLiteIntArray *inputs, *outputs, *variables;
    bool *is_read;     // by tensor of the graph: some node, or who takes the outputs, reads it
    int is_read_size;  // kernels' scratch tensors, which come later, have no entry
    bool inconsistent; // a caller who built the graph named a tensor that does not exist: it cannot run

    struct hl_planner planner;
    size_t kept_bytes;  // what kernels keep beside tensors
    size_t *heap_bytes; // by tensor: what it was last seen to hold on the heap, counted in interpreter->tensor_bytes
    bool has_dynamic_inputs; // since AllocateTensors: callers may give them more or less memory
    int prepared;            // plan positions [0, prepared) are prepared and have memory
    bool resized;            // a dynamic tensor changed its shape since the last node began

    // Custom allocations (SetCustomAllocationForTensor), by tensor index.
    struct hl_custom_allocation {
        int tensor;
        TfLiteCustomAllocation memory;
    } * custom_allocations;
    int custom_allocation_count;

    // Delegates in the order applied, and the plan from before the first of them.
    TfLiteDelegate **delegates;
    int delegate_count;
    TfLiteIntArray *undelegated_plan; // NULL: none applied
    bool delegates_undone;            // by a resize: AllocateTensors applies them again
    bool delegation_skippable;        // a delegate runs this subgraph itself

    TfLiteDelegateParams *preview; // last result of PreviewDelegatePartitioning
    int preview_count;
    TfLiteIntArray *plan_copy; // last result of GetExecutionPlan

    struct hl_kernel_buffer { // AllocatePersistentBuffer, and buffers of one invoke
        struct hl_kernel_buffer *next;
    } * persistent_buffers, *eval_buffers;
    TfLiteOperator **operators; // given by opaque delegates, or made to describe nodes to them; owned
    int operator_count;
    TfLiteIntArray *scratch_tensors; // RequestScratchBufferInArena: tensor of each request
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

// ---- subgraph.c
struct hl_subgraph *hl_subgraph_create(struct TfLiteInterpreter *interpreter, int index);
void hl_subgraph_destroy(struct hl_subgraph *subgraph); // NULL is fine
// Makes the nodes: finds each operator's kernel and calls its init. Reports what it does not find.
TfLiteStatus hl_subgraph_create_nodes(struct hl_subgraph *subgraph);
// Appends a node and calls init with init_data. Takes the arrays, also on failure. -1 without memory or when init
// fails.
int hl_subgraph_add_node(struct hl_subgraph *subgraph, const TfLiteRegistration *registration, const char *name,
                         TfLiteIntArray *inputs, TfLiteIntArray *outputs, TfLiteIntArray *intermediates,
                         void *builtin_data, const void *init_data, size_t init_size);
void hl_subgraph_free_node(struct hl_subgraph *subgraph, struct hl_node *node);
TfLiteStatus hl_subgraph_add_tensors(struct hl_subgraph *subgraph, int count, int *first);
// Takes dims, also on failure.
TfLiteStatus hl_subgraph_resize_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, TfLiteIntArray *dims);
TfLiteStatus hl_subgraph_resize_input(struct hl_subgraph *subgraph, int tensor, const int *dims, int rank);
// Only dimensions that the signature leaves open (-1) may change.
TfLiteStatus hl_subgraph_resize_input_strict(struct hl_subgraph *subgraph, int tensor, const int *dims, int rank);
TfLiteStatus hl_subgraph_set_custom_allocation(struct hl_subgraph *subgraph, int tensor,
                                               const TfLiteCustomAllocation *memory, int64_t flags);
// Bytes of a tensor that lies on the heap, within the memory limit.
TfLiteStatus hl_subgraph_resize_heap_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, size_t bytes);
// More bytes for the tensors of the interpreter: arenas, persistent blocks, the heap, what kernels keep.
void hl_subgraph_count_bytes(struct hl_subgraph *subgraph, ptrdiff_t bytes);
// These look at what tensors, all or those of a list, hold on the heap. Kernels and callers may change it without a
// word: kernels that of a node's outputs and temporaries, callers that of the inputs.
void hl_subgraph_count_heap(struct hl_subgraph *subgraph);
void hl_subgraph_count_heap_of(struct hl_subgraph *subgraph, const TfLiteIntArray *tensors);
// Steps of planning count as work, and end where the interpreter is cancelled. Fails with a message.
TfLiteStatus hl_subgraph_count_planning(struct hl_subgraph *subgraph, double steps);
void hl_subgraph_error(const struct hl_subgraph *subgraph, const char *format, ...) HL_PRINTF(2, 3);
// A tensor's name for messages: kernels' scratch tensors have none.
static inline const char *hl_tensor_label(const TfLiteTensor *tensor)
{
    return tensor->name && tensor->name[0] ? tensor->name : "without name";
}
// Whether a tensor index names a tensor of the subgraph.
static inline bool hl_subgraph_has_tensor(const struct hl_subgraph *subgraph, int tensor)
{
    return tensor >= 0 && tensor < subgraph->tensor_count;
}

// ---- execute.c
TfLiteStatus hl_subgraph_allocate(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_invoke(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_reset_variables(struct hl_subgraph *subgraph);
// Copies the value of a tensor that lies in a delegate's buffer to its own memory, where it is out of date.
TfLiteStatus hl_subgraph_make_readable(struct hl_subgraph *subgraph, int tensor);
TfLiteStatus hl_subgraph_prepare_node(struct hl_subgraph *subgraph, struct hl_node *node);
// Prepares nodes from the first unprepared one up to and including the first whose outputs are dynamic.
TfLiteStatus hl_subgraph_prepare_ahead(struct hl_subgraph *subgraph);
bool hl_subgraph_has_dynamic(const struct hl_subgraph *subgraph, const TfLiteIntArray *tensors);

// ---- context.c
void hl_context_init(struct hl_subgraph *subgraph);
// The functions for delegates (GetExecutionPlan, …) work only between begin and end.
void hl_context_begin_delegation(struct hl_subgraph *subgraph);
void hl_context_end_delegation(struct hl_subgraph *subgraph);
void hl_subgraph_free_buffers(struct hl_kernel_buffer **list);

// ---- delegation.c
TfLiteStatus hl_subgraph_apply_delegate(struct hl_subgraph *subgraph, TfLiteDelegate *delegate);
TfLiteStatus hl_subgraph_undo_delegates(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_redo_delegates(struct hl_subgraph *subgraph);
// Back to the graph of the model, for good.
TfLiteStatus hl_subgraph_remove_delegates(struct hl_subgraph *subgraph);
TfLiteStatus hl_subgraph_replace_nodes(struct hl_subgraph *subgraph, const TfLiteRegistration *registration,
                                       const TfLiteIntArray *nodes, TfLiteDelegate *delegate);
TfLiteStatus hl_subgraph_preview_partitions(struct hl_subgraph *subgraph, const TfLiteIntArray *nodes,
                                            TfLiteDelegateParams **params, int *count);
void hl_subgraph_free_preview(struct hl_subgraph *subgraph);
// Takes an operator, to be deleted with the subgraph. False without memory: it is the caller's still.
bool hl_subgraph_own_operator(struct hl_subgraph *subgraph, TfLiteOperator *op);
// An operator that tells code, name and version of a node, for delegates that see opaque types. NULL without memory.
TfLiteOperator *hl_subgraph_describe_node(struct hl_subgraph *subgraph, int node);
// Callbacks of a delegate, in its plain or its builder form.
TfLiteStatus hl_delegate_copy_from(TfLiteContext *context, TfLiteTensor *tensor);
void hl_delegate_free_handle(TfLiteContext *context, TfLiteTensor *tensor);
int64_t hl_delegate_flags(const TfLiteDelegate *delegate);
// The nodes that a delegate's node stands for.
const TfLiteIntArray *hl_delegate_replaced_nodes(const struct hl_node *node);

#endif
