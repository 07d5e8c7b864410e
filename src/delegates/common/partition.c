// SPDX-License-Identifier: Apache-2.0
// A delegate's Prepare. In: the runtime's graph and the delegate's kind. Out: partitions of claimed nodes and a report.
// The runtime divides the supported nodes into partitions; the device may refuse nodes of them, after which they are
// divided anew; the largest are claimed, as many as the options allow.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/tensor.h"
#include "delegates/common/delegate.h"
#include "tensorflow/lite/builtin_ops.h"

// What one call of prepare works on.
struct choice {
    TfLiteContext *context;
    struct delegate *delegate;
    const TfLiteIntArray *plan;
    struct delegate_row *rows; // one for each node of the plan
    bool *wanted;              // the same
    int *source;               // see struct delegate
};

static bool out_of_memory(const struct choice *choice)
{
    choice->context->ReportError(choice->context, "%s: out of memory", choice->delegate->kind->name);
    return false;
}

static bool get_node(const struct choice *choice, int position, TfLiteNode **node, TfLiteRegistration **registration)
{
    return choice->context->GetNodeAndRegistration(choice->context, choice->plan->data[position], node, registration) ==
           kTfLiteOk;
}

// ---- one node -----------------------------------------------------------------------------------

static void name_node(const TfLiteRegistration *registration, struct delegate_row *row)
{
    const char *name = registration->builtin_code == kTfLiteBuiltinCustom ? registration->custom_name
                                                                          : hl_builtin_name(registration->builtin_code);
    if (name)
        snprintf(row->op, sizeof row->op, "%s", name);
    else
        snprintf(row->op, sizeof row->op, "operator %d", (int)registration->builtin_code);
}

static void describe_tensor(const TfLiteContext *context, struct delegate_row *row)
{
    if (row->reason.tensor < 0 || (size_t)row->reason.tensor >= context->tensors_size) {
        row->reason.tensor = -1;
        return;
    }
    const TfLiteTensor *tensor = &context->tensors[row->reason.tensor];
    snprintf(row->tensor_name, sizeof row->tensor_name, "%s", tensor->name ? tensor->name : "");
    row->tensor_type = tensor->type;
    int rank = tensor->dims ? tensor->dims->size : 0;
    row->rank = rank < DELEGATE_REPORT_RANK ? rank : DELEGATE_REPORT_RANK;
    for (int i = 0; i < row->rank; i++) row->dims[i] = tensor->dims->data[i];
}

bool delegate_widens_constant(const TfLiteContext *context, const TfLiteNode *node,
                              const TfLiteRegistration *registration)
{
    if (registration->builtin_code != kTfLiteBuiltinDequantize || node->inputs->size != 1 || node->outputs->size != 1)
        return false;
    int tensor = node->inputs->data[0];
    return tensor >= 0 && context->tensors[tensor].type == kTfLiteFloat16 && hl_is_constant(&context->tensors[tensor]);
}

static bool ask_about_nodes(const struct choice *choice)
{
    for (int i = 0; i < choice->plan->size; i++) {
        struct delegate_row *row = &choice->rows[i];
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (!get_node(choice, i, &node, &registration)) return false;
        row->node = choice->plan->data[i];
        row->version = registration->version;
        row->partition = row->reason.tensor = -1;
        name_node(registration, row);
        row->widens = delegate_widens_constant(choice->context, node, registration);
        if (row->widens) choice->source[node->outputs->data[0]] = node->inputs->data[0];
        struct delegate_view view = {choice->delegate, choice->context, node, registration, &row->reason};
        choice->wanted[i] = choice->delegate->kind->supported(&view);
        describe_tensor(choice->context, row);
    }
    return true;
}

// ---- nodes that widen constants -----------------------------------------------------------------

static int readers_wanted(const struct choice *choice, int tensor, bool *all)
{
    int readers = 0;
    *all = true;
    for (int i = 0; i < choice->plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (!get_node(choice, i, &node, &registration)) continue;
        for (int k = 0; k < node->inputs->size; k++) {
            if (node->inputs->data[k] != tensor) continue;
            readers++;
            *all = *all && choice->wanted[i];
        }
    }
    return readers;
}

// A node that widens a constant is wanted where all its readers are.
static void follow_readers(const struct choice *choice)
{
    for (int i = choice->plan->size; i-- > 0;) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (!choice->rows[i].widens || !choice->wanted[i] || !get_node(choice, i, &node, &registration)) continue;
        bool all;
        choice->wanted[i] = readers_wanted(choice, node->outputs->data[0], &all) > 0 && all;
        if (!choice->wanted[i]) choice->rows[i].reason.code = DELEGATE_FOLDED;
    }
}

// ---- partitions ---------------------------------------------------------------------------------

// A partition, copied from the runtime's preview, which is valid only until the next preview.
struct piece {
    TfLiteIntArray *nodes, *inputs, *outputs;
    int order; // its position in the runtime's list
};
struct pieces {
    struct piece *items;
    int count;
};

static void free_pieces(struct pieces *pieces)
{
    for (int i = 0; i < pieces->count; i++) {
        free(pieces->items[i].nodes);
        free(pieces->items[i].inputs);
        free(pieces->items[i].outputs);
    }
    free(pieces->items);
    *pieces = (struct pieces){0};
}

static int larger_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->nodes->size != y->nodes->size) return y->nodes->size - x->nodes->size;
    return x->order - y->order;
}

static TfLiteIntArray *copy_of(const TfLiteIntArray *array)
{
    TfLiteIntArray *copy = delegate_int_array(array->size);
    if (copy) memcpy(copy->data, array->data, (size_t)array->size * sizeof(int));
    return copy;
}

// The nodes of the plan that are wanted, in the order of the plan. NULL without memory.
static TfLiteIntArray *wanted_nodes(const struct choice *choice)
{
    TfLiteIntArray *list = delegate_int_array(choice->plan->size);
    if (!list) return NULL;
    list->size = 0;
    for (int i = 0; i < choice->plan->size; i++)
        if (choice->wanted[i]) list->data[list->size++] = choice->plan->data[i];
    return list;
}

static bool copy_pieces(const TfLiteDelegateParams *params, int count, struct pieces *pieces)
{
    pieces->items = calloc((size_t)count + 1, sizeof *pieces->items);
    if (!pieces->items) return false;
    for (int i = 0; i < count; i++) {
        struct piece *piece = &pieces->items[pieces->count++];
        *piece = (struct piece){copy_of(params[i].nodes_to_replace), copy_of(params[i].input_tensors),
                                copy_of(params[i].output_tensors), i};
        if (!piece->nodes || !piece->inputs || !piece->outputs) {
            free_pieces(pieces);
            return false;
        }
    }
    qsort(pieces->items, (size_t)pieces->count, sizeof *pieces->items, larger_first);
    return true;
}

static bool preview(const struct choice *choice, struct pieces *pieces)
{
    TfLiteContext *context = choice->context;
    *pieces = (struct pieces){0};
    TfLiteIntArray *nodes = wanted_nodes(choice);
    if (!nodes) return out_of_memory(choice);
    TfLiteDelegateParams *params = NULL;
    int count = 0;
    bool ok = true;
    if (nodes->size > 0 && context->PreviewDelegatePartitioning(context, nodes, &params, &count) != kTfLiteOk) {
        context->ReportError(context, "%s: the runtime cannot partition the graph", choice->delegate->kind->name);
        ok = false;
    } else if (nodes->size > 0 && !copy_pieces(params, count, pieces)) {
        ok = out_of_memory(choice);
    }
    free(nodes);
    return ok;
}

static int position_of(const TfLiteIntArray *plan, int node)
{
    int i = 0;
    while (i < plan->size && plan->data[i] != node) i++;
    return i;
}

// ---- what the device says -----------------------------------------------------------------------

// Asks the device about one partition; *refused says whether it has refused any node.
static bool confirm_piece(const struct choice *choice, const struct piece *piece, bool *any)
{
    struct delegate *delegate = choice->delegate;
    bool *refused = calloc((size_t)piece->nodes->size + 1, sizeof *refused);
    if (!refused) return out_of_memory(choice);
    struct delegate_piece question = {piece->nodes->data, piece->nodes->size, piece->inputs, piece->outputs};
    bool ok = delegate->kind->confirm(delegate, choice->context, &question, refused);
    for (int i = 0; i < piece->nodes->size && ok; i++) {
        if (!refused[i]) continue;
        int at = position_of(choice->plan, piece->nodes->data[i]);
        struct delegate_reason *reason = &choice->rows[at].reason;
        reason->code = DELEGATE_NO_KERNEL;
        snprintf(reason->text, sizeof reason->text, "the device %s does not support it", delegate->device);
        choice->wanted[at] = false;
        *any = true;
    }
    free(refused);
    return ok;
}

// Divides the wanted nodes into partitions whose nodes the device supports.
static bool make_pieces(const struct choice *choice, struct pieces *pieces)
{
    follow_readers(choice);
    if (!preview(choice, pieces)) return false;
    if (!choice->delegate->kind->confirm) return true;
    bool any = false, ok = true;
    for (int i = 0; i < pieces->count && ok; i++) ok = confirm_piece(choice, &pieces->items[i], &any);
    if (ok && !any) return true;
    free_pieces(pieces);
    if (!ok) return false;
    follow_readers(choice);
    return preview(choice, pieces);
}

// ---- choosing -----------------------------------------------------------------------------------

// Wants the nodes of the largest partitions, and writes down why the others are not claimed.
static bool choose(const struct choice *choice)
{
    const struct delegate *delegate = choice->delegate;
    struct pieces pieces;
    if (!make_pieces(choice, &pieces)) return false;
    for (int p = 0; p < pieces.count; p++) {
        const struct piece *piece = &pieces.items[p];
        bool late = delegate->max_partitions > 0 && p >= delegate->max_partitions;
        bool small = piece->nodes->size < delegate->min_nodes;
        for (int i = 0; i < piece->nodes->size; i++) {
            int at = position_of(choice->plan, piece->nodes->data[i]);
            struct delegate_reason *reason = &choice->rows[at].reason;
            choice->rows[at].partition = p;
            choice->wanted[at] = !late && !small;
            if (choice->wanted[at]) continue;
            reason->code = late ? DELEGATE_PARTITION : DELEGATE_COST;
            snprintf(reason->text, sizeof reason->text, "partition %d by size, %d node%s; %s is %d", p,
                     piece->nodes->size, piece->nodes->size == 1 ? "" : "s",
                     late ? "max_delegated_partitions" : "min_nodes_per_partition",
                     late ? delegate->max_partitions : delegate->min_nodes);
        }
    }
    free_pieces(&pieces);
    return true;
}

// Sets the reason of all nodes that were to run elsewhere, because the graph stays as it is.
static void withdraw(const struct choice *choice, const char *text)
{
    for (int i = 0; i < choice->plan->size; i++) {
        struct delegate_reason *reason = &choice->rows[i].reason;
        if (reason->code != DELEGATE_OK) continue;
        reason->code = DELEGATE_DEVICE;
        snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

static TfLiteStatus claim(const struct choice *choice)
{
    struct delegate *delegate = choice->delegate;
    TfLiteContext *context = choice->context;
    TfLiteIntArray *nodes = wanted_nodes(choice);
    if (!nodes) {
        out_of_memory(choice);
        return kTfLiteError;
    }
    TfLiteStatus status = kTfLiteOk;
    delegate->kernel_failed = false;
    if (nodes->size > 0)
        status = context->ReplaceNodeSubsetsWithDelegateKernels(context, delegate_registration(delegate->kind), nodes,
                                                                &delegate->tflite);
    if (status == kTfLiteOk && delegate->kernel_failed) status = kTfLiteDelegateError; // it has said why
    if (status != kTfLiteOk) withdraw(choice, "");
    free(nodes);
    return status;
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus prepare_plan(const struct choice *choice)
{
    struct delegate *delegate = choice->delegate;
    char why[160] = "";
    switch (delegate->kind->open(delegate, choice->context, why, sizeof why)) {
    case DELEGATE_READY: break;
    case DELEGATE_ABSENT:
        if (!ask_about_nodes(choice)) return kTfLiteError;
        withdraw(choice, why);
        choice->context->ReportError(choice->context, "%s: %s; the model runs on the CPU", delegate->kind->name, why);
        return kTfLiteOk;
    case DELEGATE_WRONG: return kTfLiteError;
    default: return kTfLiteDelegateError;
    }
    if (!ask_about_nodes(choice) || !choose(choice)) return kTfLiteDelegateError;
    return claim(choice);
}

static TfLiteStatus prepare_copy(TfLiteContext *context, struct delegate *delegate, const TfLiteIntArray *plan)
{
    struct choice choice = {
        .context = context,
        .delegate = delegate,
        .plan = plan,
        .rows = delegate_report_begin(&delegate->report, context, plan->size),
        .wanted = calloc((size_t)plan->size + 1, sizeof(bool)),
        .source = malloc((context->tensors_size + 1) * sizeof(int)),
    };
    for (size_t i = 0; choice.source && i < context->tensors_size; i++) choice.source[i] = -1;
    delegate->source = choice.source;
    delegate->source_count = choice.source ? context->tensors_size : 0;
    TfLiteStatus status = kTfLiteError;
    if (choice.rows && choice.wanted && choice.source)
        status = prepare_plan(&choice);
    else
        out_of_memory(&choice);
    delegate->source = NULL;
    delegate->source_count = 0;
    free(choice.source);
    free(choice.wanted);
    return status;
}

TfLiteStatus delegate_prepare(TfLiteContext *context, TfLiteDelegate *tflite)
{
    struct delegate *delegate = tflite->data_;
    TfLiteIntArray *plan = NULL;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    TfLiteIntArray *copy = copy_of(plan); // replacing nodes changes the array of the runtime
    if (!copy) {
        context->ReportError(context, "%s: out of memory", delegate->kind->name);
        return kTfLiteError;
    }
    hl_mutex_lock(&delegate->mutex);
    status = prepare_copy(context, delegate, copy);
    hl_mutex_unlock(&delegate->mutex);
    free(copy);
    return status;
}
