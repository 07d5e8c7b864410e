// SPDX-License-Identifier: Apache-2.0
// How a subgraph gets asynchronous runs and loses them. In: a graph of which one delegate took everything. Out: the
// delegate's kernel, with the kinds of buffers and synchronization objects that it takes. That lives as long as the
// graph is the one that the kernel was made for; runners that are left over then hold an empty shell, which reports and
// can be deleted.
#include <stdlib.h>

#include "runtime/async.h"
#include "runtime/operator.h"

// ---- the kernel ---------------------------------------------------------------------------------

// Returns the node that runs the whole graph, NULL after a message.
static struct hl_node *find_only_node(const struct hl_subgraph *subgraph)
{
    struct hl_node *node = subgraph->plan->size == 1 ? subgraph->nodes[subgraph->plan->data[0]] : NULL;
    if (node && node->node.delegate) return node;
    hl_subgraph_error(subgraph,
                      "Model is not fully delegated by 1 backend. Subgraph %d runs %d nodes instead of one delegate's "
                      "node: add a delegate that takes them all.",
                      subgraph->index, subgraph->plan->size);
    return NULL;
}

static TfLiteAsyncKernel *ask_for_kernel(struct hl_subgraph *subgraph, struct hl_node *node)
{
    const TfLiteOperator *op = node->registration.registration_external;
    TfLiteOpaqueContext *context = (TfLiteOpaqueContext *)&subgraph->context;
    TfLiteOpaqueNode *opaque_node = (TfLiteOpaqueNode *)&node->node;
    if (op && op->async_kernel_with_data) return op->async_kernel_with_data(op->user_data, context, opaque_node);
    if (op && op->async_kernel) return op->async_kernel(context, opaque_node);
    if (node->registration.async_kernel) return node->registration.async_kernel(&subgraph->context, &node->node);
    return NULL;
}

static TfLiteAsyncKernel *find_kernel(struct hl_subgraph *subgraph, struct hl_node *node)
{
    TfLiteAsyncKernel *kernel = ask_for_kernel(subgraph, node);
    if (!kernel) {
        hl_subgraph_error(subgraph,
                          "Backend does not support asynchronous execution. (Node %d, %s, offers no async kernel: run "
                          "the model with Invoke.)",
                          node->index, node->name);
        return NULL;
    }
    const char *missing = hl_async_kernel_lacks(kernel);
    if (!missing) return kernel;
    hl_subgraph_error(subgraph, "the async kernel of node %d (%s) lacks '%s': its delegate has to set it", node->index,
                      node->name, missing);
    return NULL;
}

// The kernel is asked once for each side of the graph; its lists stay as long as it does.
static void ask_for_types(struct hl_async *async)
{
    static const TfLiteIoType sides[] = {kTfLiteIoTypeInput, kTfLiteIoTypeOutput};
    for (int i = 0; i < 2; i++) {
        struct hl_async_types *buffers = &async->buffer_types[i], *syncs = &async->sync_types[i];
        async->kernel->supported_buffer_types(async->kernel, sides[i], &buffers->names, &buffers->count);
        async->kernel->supported_synchronizations(async->kernel, sides[i], &syncs->names, &syncs->count);
    }
}

// ---- life ---------------------------------------------------------------------------------------

static struct hl_async *create(struct hl_subgraph *subgraph)
{
    struct hl_node *node = find_only_node(subgraph);
    TfLiteAsyncKernel *kernel = node ? find_kernel(subgraph, node) : NULL;
    if (!kernel) return NULL;
    struct hl_async *async = calloc(1, sizeof *async);
    bool locks = async && hl_mutex_init(&async->setup);
    if (locks && !hl_mutex_init(&async->mutex)) {
        hl_mutex_destroy(&async->setup);
        locks = false;
    }
    if (!locks) {
        hl_subgraph_error(subgraph, "out of memory while preparing subgraph %d for asynchronous runs", subgraph->index);
        free(async);
        return NULL;
    }
    async->references = 1;
    async->reporter = subgraph->interpreter->options->reporter;
    async->subgraph = subgraph;
    async->kernel = kernel;
    async->node = &node->node;
    ask_for_types(async);
    return async;
}

struct hl_async *hl_async_acquire(struct hl_subgraph *subgraph)
{
    if (hl_subgraph_redo_delegates(subgraph) != kTfLiteOk) return NULL;
    if (!subgraph->async) subgraph->async = create(subgraph);
    struct hl_async *async = subgraph->async;
    if (!async) return NULL;
    hl_mutex_lock(&async->mutex);
    async->references++;
    hl_mutex_unlock(&async->mutex);
    return async;
}

void hl_async_release(struct hl_async *async)
{
    if (!async) return;
    hl_mutex_lock(&async->mutex);
    int left = --async->references;
    hl_mutex_unlock(&async->mutex);
    if (left > 0) return;
    hl_mutex_destroy(&async->setup);
    hl_mutex_destroy(&async->mutex);
    free(async->buffers);
    free(async);
}

void hl_subgraph_end_async(struct hl_subgraph *subgraph, bool is_last)
{
    struct hl_async *async = subgraph->async;
    if (!async) return;
    for (TfLiteExecutionTask *task = async->tasks; task; task = task->next) hl_task_end(async, task);
    hl_mutex_lock(&async->mutex);
    async->subgraph = NULL;
    async->kernel = NULL;
    async->node = NULL;
    if (is_last) async->reporter = (struct hl_reporter){0};
    hl_mutex_unlock(&async->mutex);
    subgraph->async = NULL;
    hl_async_release(async);
}
