// SPDX-License-Identifier: Apache-2.0
// The TfLiteContext function table: what kernels, custom operators and delegates may ask of the runtime.
// Functions for delegates are switched on only while a delegate prepares; at other times they refuse.
#include <stdlib.h>
#include <string.h>

#include "runtime/interpreter.h"
#include "runtime/subgraph.h"

static TfLiteStatus forbidden(const TfLiteContext *context)
{
    hl_subgraph_error(hl_subgraph_of(context), "The function is forbidden if not calling in delegate.");
    return kTfLiteError;
}

// ---- tensors ------------------------------------------------------------------------------------

static TfLiteStatus resize_tensor(TfLiteContext *context, TfLiteTensor *tensor, TfLiteIntArray *new_size)
{
    return hl_subgraph_resize_tensor(hl_subgraph_of(context), tensor, new_size);
}

static TfLiteStatus resize_tensor_explicit(TfLiteContext *context, TfLiteTensor *tensor, int dims, const int *shape)
{
    TfLiteIntArray *new_size = TfLiteIntArrayCreate(dims);
    if (new_size && dims > 0) memcpy(new_size->data, shape, (size_t)dims * sizeof *shape);
    return resize_tensor(context, tensor, new_size);
}

static TfLiteStatus add_tensors(TfLiteContext *context, int count, int *first)
{
    return hl_subgraph_add_tensors(hl_subgraph_of(context), count, first);
}

static TfLiteTensor *get_tensor(const TfLiteContext *context, int index)
{
    return hl_subgraph_has_tensor(hl_subgraph_of(context), index) ? &context->tensors[index] : NULL;
}

static TfLiteEvalTensor *get_eval_tensor(const TfLiteContext *context, int index)
{
    (void)context;
    (void)index;
    return NULL; // of the micro runtime
}

static void report_error(TfLiteContext *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(&hl_subgraph_of(context)->interpreter->options->reporter, format, args);
    va_end(args);
}

static TfLiteStatus get_model_metadata(const TfLiteContext *context, const char *name, const char **data, size_t *bytes)
{
    const TfLiteModel *model = hl_subgraph_of(context)->interpreter->model;
    for (int i = 0; i < model->metadata_count; i++) {
        if (strcmp(model->metadata[i].name, name) != 0) continue;
        *data = model->metadata[i].data;
        *bytes = model->metadata[i].bytes;
        return kTfLiteOk;
    }
    return kTfLiteError;
}

// ---- external contexts --------------------------------------------------------------------------

static TfLiteExternalContext *get_external_context(TfLiteContext *context, TfLiteExternalContextType type)
{
    if ((int)type < 0 || type >= kTfLiteMaxExternalContexts) return NULL;
    return hl_subgraph_of(context)->interpreter->external_contexts[type];
}

static void set_external_context(TfLiteContext *context, TfLiteExternalContextType type,
                                 TfLiteExternalContext *external)
{
    if ((int)type < 0 || type >= kTfLiteMaxExternalContexts) return;
    hl_subgraph_of(context)->interpreter->external_contexts[type] = external;
}

// ---- kernels' memory ----------------------------------------------------------------------------

// The header keeps what follows aligned for any type.
union buffer_header {
    struct hl_kernel_buffer link;
    max_align_t align;
};

static void *allocate_buffer(struct hl_kernel_buffer **list, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(union buffer_header)) return NULL;
    union buffer_header *buffer = malloc(sizeof *buffer + bytes);
    if (!buffer) return NULL;
    buffer->link.next = *list;
    *list = &buffer->link;
    return buffer + 1;
}

void hl_subgraph_free_buffers(struct hl_kernel_buffer **list)
{
    while (*list) {
        struct hl_kernel_buffer *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

static void *allocate_persistent_buffer(TfLiteContext *context, size_t bytes)
{
    return allocate_buffer(&hl_subgraph_of(context)->persistent_buffers, bytes);
}

static TfLiteStatus allocate_buffer_for_eval(TfLiteContext *context, size_t bytes, void **buffer)
{
    *buffer = allocate_buffer(&hl_subgraph_of(context)->eval_buffers, bytes);
    return *buffer ? kTfLiteOk : kTfLiteError;
}

// A scratch buffer is a byte tensor that lives as long as the arena: no node lists it, so it must not share.
static TfLiteStatus request_scratch_buffer(TfLiteContext *context, size_t bytes, int *index)
{
    struct hl_subgraph *subgraph = hl_subgraph_of(context);
    int tensor, count = subgraph->scratch_tensors ? subgraph->scratch_tensors->size : 0;
    if (bytes > INT32_MAX || hl_subgraph_add_tensors(subgraph, 1, &tensor) != kTfLiteOk) return kTfLiteError;
    TfLiteIntArray *list = TfLiteIntArrayCreate(count + 1);
    if (!list) return kTfLiteError;
    if (count) memcpy(list->data, subgraph->scratch_tensors->data, (size_t)count * sizeof(int));
    list->data[count] = tensor;
    TfLiteIntArrayFree(subgraph->scratch_tensors);
    subgraph->scratch_tensors = list;
    context->tensors[tensor].type = kTfLiteUInt8;
    context->tensors[tensor].allocation_type = kTfLiteArenaRwPersistent;
    *index = count;
    return resize_tensor_explicit(context, &context->tensors[tensor], 1, (const int[]){(int)bytes});
}

static void *get_scratch_buffer(TfLiteContext *context, int index)
{
    const TfLiteIntArray *list = hl_subgraph_of(context)->scratch_tensors;
    return list && index >= 0 && index < list->size ? context->tensors[list->data[index]].data.data : NULL;
}

// ---- for delegates ------------------------------------------------------------------------------

static TfLiteStatus get_execution_plan(TfLiteContext *context, TfLiteIntArray **plan)
{
    struct hl_subgraph *subgraph = hl_subgraph_of(context);
    TfLiteIntArrayFree(subgraph->plan_copy);
    *plan = subgraph->plan_copy = TfLiteIntArrayCopy(subgraph->plan);
    return *plan ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus get_node_and_registration(TfLiteContext *context, int index, TfLiteNode **node,
                                              TfLiteRegistration **registration)
{
    struct hl_subgraph *subgraph = hl_subgraph_of(context);
    if (index < 0 || index >= subgraph->node_count || !subgraph->nodes[index]) {
        hl_subgraph_error(subgraph, "node %d does not exist: subgraph %d has %d nodes", index, subgraph->index,
                          subgraph->node_count);
        return kTfLiteError;
    }
    *node = &subgraph->nodes[index]->node;
    *registration = &subgraph->nodes[index]->registration;
    return kTfLiteOk;
}

static TfLiteStatus replace_nodes(TfLiteContext *context, TfLiteRegistration registration, const TfLiteIntArray *nodes,
                                  TfLiteDelegate *delegate)
{
    return hl_subgraph_replace_nodes(hl_subgraph_of(context), &registration, nodes, delegate);
}

static TfLiteStatus preview_partitioning(TfLiteContext *context, const TfLiteIntArray *nodes,
                                         TfLiteDelegateParams **params, int *count)
{
    return hl_subgraph_preview_partitions(hl_subgraph_of(context), nodes, params, count);
}

static TfLiteStatus acquire_subgraph(TfLiteContext *context, int index, TfLiteContext **acquired)
{
    const struct TfLiteInterpreter *interpreter = hl_subgraph_of(context)->interpreter;
    if (index < 0 || index >= interpreter->subgraph_count) return kTfLiteError;
    if (index != hl_subgraph_of(context)->index) hl_context_begin_delegation(interpreter->subgraphs[index]);
    *acquired = &interpreter->subgraphs[index]->context;
    return kTfLiteOk;
}

static TfLiteStatus release_subgraph(TfLiteContext *context, int index)
{
    const struct TfLiteInterpreter *interpreter = hl_subgraph_of(context)->interpreter;
    if (index < 0 || index >= interpreter->subgraph_count) return kTfLiteError;
    if (index != hl_subgraph_of(context)->index) hl_context_end_delegation(interpreter->subgraphs[index]);
    return kTfLiteOk;
}

// ---- the same, outside of a delegate's Prepare --------------------------------------------------

static TfLiteStatus no_execution_plan(TfLiteContext *context, TfLiteIntArray **plan)
{
    (void)plan;
    return forbidden(context);
}

static TfLiteStatus no_replace_nodes(TfLiteContext *context, TfLiteRegistration registration,
                                     const TfLiteIntArray *nodes, TfLiteDelegate *delegate)
{
    (void)registration;
    (void)nodes;
    (void)delegate;
    return forbidden(context);
}

static TfLiteStatus no_preview(TfLiteContext *context, const TfLiteIntArray *nodes, TfLiteDelegateParams **params,
                               int *count)
{
    (void)nodes;
    (void)params;
    (void)count;
    return forbidden(context);
}

static TfLiteStatus no_acquire(TfLiteContext *context, int index, TfLiteContext **acquired)
{
    (void)index;
    (void)acquired;
    return forbidden(context);
}

static TfLiteStatus no_release(TfLiteContext *context, int index)
{
    (void)index;
    return forbidden(context);
}

static TfLiteStatus no_node_and_registration(TfLiteContext *context, int index, TfLiteNode **node,
                                             TfLiteRegistration **registration)
{
    (void)index;
    (void)node;
    (void)registration;
    return forbidden(context);
}

void hl_context_begin_delegation(struct hl_subgraph *subgraph)
{
    TfLiteContext *context = &subgraph->context;
    hl_subgraph_restore_nodes(subgraph);
    context->GetExecutionPlan = get_execution_plan;
    context->GetNodeAndRegistration = get_node_and_registration;
    context->ReplaceNodeSubsetsWithDelegateKernels = replace_nodes;
    context->PreviewDelegatePartitioning = preview_partitioning;
    context->AcquireSubgraphContext = acquire_subgraph;
    context->ReleaseSubgraphContext = release_subgraph;
}

void hl_context_end_delegation(struct hl_subgraph *subgraph)
{
    TfLiteContext *context = &subgraph->context;
    context->GetExecutionPlan = no_execution_plan;
    context->GetNodeAndRegistration = no_node_and_registration;
    context->ReplaceNodeSubsetsWithDelegateKernels = no_replace_nodes;
    context->PreviewDelegatePartitioning = no_preview;
    context->AcquireSubgraphContext = no_acquire;
    context->ReleaseSubgraphContext = no_release;
}

bool hl_context_is_own(const TfLiteContext *context)
{
    return context && context->ReportError == report_error;
}

void hl_context_init(struct hl_subgraph *subgraph)
{
    subgraph->context = (TfLiteContext){
        .impl_ = subgraph,
        .ResizeTensor = resize_tensor,
        .ReportError = report_error,
        .AddTensors = add_tensors,
        .recommended_num_threads = subgraph->interpreter->options->num_threads,
        .GetExternalContext = get_external_context,
        .SetExternalContext = set_external_context,
        .AllocatePersistentBuffer = allocate_persistent_buffer,
        .AllocateBufferForEval = allocate_buffer_for_eval,
        .RequestScratchBufferInArena = request_scratch_buffer,
        .GetScratchBuffer = get_scratch_buffer,
        .ResizeTensorExplicit = resize_tensor_explicit,
        .GetTensor = get_tensor,
        .GetEvalTensor = get_eval_tensor,
        .GetModelMetadata = get_model_metadata,
    };
    hl_context_end_delegation(subgraph);
}
