// SPDX-License-Identifier: Apache-2.0
// What an operator asks, in terms of the interpreter and the subgraph that its node belongs to.
#include "runtime/op_context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/threads.h"
#include "runtime/interpreter.h"
#include "runtime/subgraph.h"

// ---- messages -----------------------------------------------------------------------------------

enum { MESSAGE_BYTES = 640 };

// Appends to a text of MESSAGE_BYTES, which is cut where it is full.
static void add_text(char *text, const char *format, ...) HL_PRINTF(2, 3);
static void add_text(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, MESSAGE_BYTES - used, format, args);
    va_end(args);
}

static void add_tensor(char *text, const TfLiteTensor *tensor)
{
    if (!tensor) {
        add_text(text, "absent");
        return;
    }
    add_text(text, "%s[", hl_type_name(tensor->type));
    for (int i = 0; i < tensor->dims->size; i++) add_text(text, i ? ",%d" : "%d", tensor->dims->data[i]);
    add_text(text, "]");
}

TfLiteStatus hl_op_error(TfLiteContext *ctx, const TfLiteNode *node, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    const struct hl_node *place = hl_node_of(node);
    snprintf(text, sizeof text, "%s (node %d of subgraph %d): ", place->name, place->index, hl_subgraph_of(ctx)->index);
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    for (int i = 0; i < node->inputs->size; i++) {
        add_text(text, i ? ", " : "; inputs ");
        add_tensor(text, hl_input(ctx, node, i));
    }
    ctx->ReportError(ctx, "%s", text);
    return kTfLiteError;
}

TfLiteStatus hl_require_counts(TfLiteContext *ctx, const TfLiteNode *node, int min_inputs, int max_inputs, int outputs)
{
    int count = node->inputs->size;
    if (min_inputs == max_inputs)
        HL_REQUIRE(ctx, node, count == min_inputs, "has %d inputs instead of %d", count, min_inputs);
    else
        HL_REQUIRE(ctx, node, count >= min_inputs && count <= max_inputs, "has %d inputs instead of %d to %d", count,
                   min_inputs, max_inputs);
    HL_REQUIRE(ctx, node, node->outputs->size == outputs, "has %d outputs instead of %d", node->outputs->size, outputs);
    for (int i = 0; i < min_inputs; i++) HL_REQUIRE(ctx, node, hl_input(ctx, node, i), "input %d is missing", i);
    for (int i = 0; i < outputs; i++) HL_REQUIRE(ctx, node, node->outputs->data[i] >= 0, "output %d is missing", i);
    return kTfLiteOk;
}

TfLiteStatus hl_unsupported_type(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor)
{
    return hl_op_error(ctx, node, "type %s of tensor %s is not supported", hl_type_name(tensor->type),
                       hl_tensor_label(tensor));
}

// ---- tensors of a node --------------------------------------------------------------------------

static TfLiteTensor *listed(const TfLiteContext *ctx, const TfLiteIntArray *list, int index)
{
    if (index < 0 || index >= list->size || list->data[index] < 0) return NULL;
    return &ctx->tensors[list->data[index]];
}

const TfLiteTensor *hl_input(const TfLiteContext *ctx, const TfLiteNode *node, int index)
{
    return listed(ctx, node->inputs, index);
}

TfLiteTensor *hl_variable_input(TfLiteContext *ctx, const TfLiteNode *node, int index)
{
    TfLiteTensor *tensor = listed(ctx, node->inputs, index);
    return tensor && tensor->is_variable && tensor->allocation_type != kTfLiteMmapRo ? tensor : NULL;
}

TfLiteTensor *hl_output(TfLiteContext *ctx, const TfLiteNode *node, int index)
{
    return listed(ctx, node->outputs, index);
}

const TfLiteTensor *hl_intermediate(const TfLiteContext *ctx, const TfLiteNode *node, int index)
{
    return listed(ctx, node->intermediates, index);
}

TfLiteStatus hl_make_temporaries(TfLiteContext *ctx, TfLiteNode *node, int count)
{
    if (node->temporaries->size == count) return kTfLiteOk;
    int first;
    TfLiteIntArray *list = TfLiteIntArrayCreate(count);
    if (!list || ctx->AddTensors(ctx, count, &first) != kTfLiteOk) {
        TfLiteIntArrayFree(list);
        return hl_op_error(ctx, node, "no memory for %d scratch tensors", count);
    }
    for (int i = 0; i < count; i++) list->data[i] = first + i;
    TfLiteIntArrayFree(node->temporaries);
    node->temporaries = list;
    return kTfLiteOk;
}

TfLiteTensor *hl_temporary(TfLiteContext *ctx, const TfLiteNode *node, int index)
{
    return listed(ctx, node->temporaries, index);
}

// To another kind of memory. What the tensor owns of the old one, on the heap, is freed.
static void move_to(TfLiteTensor *tensor, TfLiteAllocationType type)
{
    if (tensor->allocation_type == type) return;
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = type;
    tensor->data.raw = NULL;
}

TfLiteStatus hl_set_temporary(TfLiteContext *ctx, TfLiteNode *node, int index, TfLiteType type, bool persistent,
                              int rank, const int *dims)
{
    TfLiteTensor *tensor = hl_temporary(ctx, node, index);
    HL_REQUIRE(ctx, node, tensor, "has no scratch tensor %d", index);
    tensor->type = type;
    move_to(tensor, persistent ? kTfLiteArenaRwPersistent : kTfLiteArenaRw);
    return hl_resize(ctx, tensor, rank, dims);
}

// ---- shapes and values --------------------------------------------------------------------------

TfLiteStatus hl_resize(TfLiteContext *ctx, TfLiteTensor *tensor, int rank, const int *dims)
{
    return ctx->ResizeTensorExplicit(ctx, tensor, rank, dims);
}

TfLiteStatus hl_resize_like(TfLiteContext *ctx, TfLiteTensor *tensor, const TfLiteTensor *model)
{
    return ctx->ResizeTensor(ctx, tensor, TfLiteIntArrayCopy(model->dims));
}

void hl_make_dynamic(TfLiteTensor *tensor)
{
    move_to(tensor, kTfLiteDynamic);
}

void hl_make_constant(TfLiteTensor *tensor)
{
    move_to(tensor, kTfLitePersistentRo);
}

TfLiteStatus hl_resize_bytes(TfLiteContext *ctx, TfLiteTensor *tensor, size_t bytes)
{
    return hl_subgraph_resize_heap_tensor(hl_subgraph_of(ctx), tensor, bytes);
}

size_t hl_memory_left(const TfLiteContext *ctx)
{
    return hl_interpreter_memory_left(hl_subgraph_of(ctx)->interpreter);
}

bool hl_wants_fast(const TfLiteContext *ctx)
{
    return hl_subgraph_of(ctx)->interpreter->options->kernels == kHaliteKernelsFast;
}

const struct hl_row_kernels *hl_row_kernels(const TfLiteContext *ctx)
{
    return hl_subgraph_of(ctx)->interpreter->row_kernels;
}

const void **hl_left_for_others(const TfLiteContext *ctx)
{
    return &hl_subgraph_of(ctx)->left_for_others;
}

int hl_thread_count(const TfLiteContext *ctx)
{
    return hl_threads_count(hl_subgraph_of(ctx)->interpreter->threads);
}

bool hl_pays_to_share(const TfLiteContext *ctx, double amount, double least)
{
    struct hl_threads *threads = hl_subgraph_of(ctx)->interpreter->threads;
    return hl_threads_count(threads) > 1 && amount * HL_USUAL_DELAY >= least * hl_threads_delay(threads);
}

int64_t hl_piece(const TfLiteContext *ctx, int64_t count, bool is_worth_it)
{
    const int64_t threads = hl_thread_count(ctx);
    return is_worth_it && threads > 1 ? (count - 1) / (2 * threads) + 1 : count;
}

void hl_parallel(const TfLiteContext *ctx, int64_t items, void (*work)(void *arg, int64_t item, int worker), void *arg)
{
    hl_threads_run(hl_subgraph_of(ctx)->interpreter->threads, items, work, arg);
}

void hl_count_memory(TfLiteContext *ctx, ptrdiff_t bytes)
{
    hl_subgraph_of(ctx)->kept_bytes += (size_t)bytes;
    hl_subgraph_count_bytes(hl_subgraph_of(ctx), bytes);
}

TfLiteStatus hl_count_work(TfLiteContext *ctx, const TfLiteNode *node, double steps)
{
    struct TfLiteInterpreter *interpreter = hl_subgraph_of(ctx)->interpreter;
    interpreter->work += steps;
    HL_REQUIRE(ctx, node, interpreter->work <= interpreter->work_limit,
               "with its %.3g steps this Invoke would take %.3g, above the limit of %.3g: "
               "HaliteInterpreterOptionsSetWorkLimit must allow more",
               steps, interpreter->work, interpreter->work_limit);
    return kTfLiteOk;
}

void *hl_make_table(const TfLiteContext *ctx, size_t count, size_t size)
{
    size_t bytes;
    if (!hl_mul_size(count, size, &bytes) || bytes > hl_memory_left(ctx)) return NULL;
    return calloc(1, bytes ? bytes : 1);
}
