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
    // One for each node of the plan:
    struct delegate_row *rows;
    bool *supported; // by the delegate and its device; nodes that make constants are none of these
    bool *wanted;    // to be claimed
    int *source;     // see struct delegate
};

static bool out_of_memory(const struct choice *choice)
{
    choice->context->ReportError(choice->context, "%s Init: out of memory", choice->delegate->kind->name);
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

static bool makes_constant(const struct delegate_view *view, int *constant)
{
    const struct delegate_kind *kind = view->delegate->kind;
    *constant = -1;
    if (kind->makes_constant) return kind->makes_constant(view, constant);
    if (!delegate_widens_constant(view->context, view->node, view->registration)) return false;
    *constant = view->node->inputs->data[0];
    return true;
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
        struct delegate_view view = {choice->delegate, choice->context, node, registration, &row->reason};
        int constant;
        row->makes_constant = makes_constant(&view, &constant);
        if (constant >= 0) choice->source[node->outputs->data[0]] = constant;
        choice->supported[i] = !row->makes_constant && choice->delegate->kind->supported(&view);
        describe_tensor(choice->context, row);
    }
    return true;
}

// Whether `wanted` is set for all readers of the output of the node at `position` in the plan, and there are any.
static bool readers_are(const struct choice *choice, int position, const bool *wanted)
{
    TfLiteNode *node;
    TfLiteRegistration *registration;
    if (!get_node(choice, position, &node, &registration)) return false;
    int tensor = node->outputs->data[0];
    bool any = false;
    for (int i = 0; i < choice->plan->size; i++) {
        if (!get_node(choice, i, &node, &registration)) return false;
        for (int k = 0; k < node->inputs->size; k++) {
            if (node->inputs->data[k] != tensor) continue;
            if (!wanted[i]) return false;
            any = true;
        }
    }
    return any;
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

// The nodes of the plan for which `wanted` is set, in the order of the plan. NULL without memory.
static TfLiteIntArray *list_of(const struct choice *choice, const bool *wanted)
{
    TfLiteIntArray *list = delegate_int_array(choice->plan->size);
    if (!list) return NULL;
    list->size = 0;
    for (int i = 0; i < choice->plan->size; i++)
        if (wanted[i]) list->data[list->size++] = choice->plan->data[i];
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

static bool preview(const struct choice *choice, const bool *wanted, struct pieces *pieces)
{
    TfLiteContext *context = choice->context;
    *pieces = (struct pieces){0};
    TfLiteIntArray *nodes = list_of(choice, wanted);
    if (!nodes) return out_of_memory(choice);
    TfLiteDelegateParams *params = NULL;
    int count = 0;
    bool ok = true;
    if (nodes->size > 0 && context->PreviewDelegatePartitioning(context, nodes, &params, &count) != kTfLiteOk) {
        context->ReportError(context, "%s Init: the runtime cannot partition the graph", choice->delegate->kind->name);
        ok = false;
    } else if (nodes->size > 0 && !copy_pieces(params, count, pieces)) {
        ok = out_of_memory(choice);
    }
    free(nodes);
    return ok;
}

// Previews the supported nodes together with those that make constants for them alone. *any: whether there are any.
static bool preview_with_constants(const struct choice *choice, struct pieces *pieces, bool *any)
{
    *pieces = (struct pieces){0};
    bool *wanted = malloc((size_t)choice->plan->size + 1);
    if (!wanted) return out_of_memory(choice);
    memcpy(wanted, choice->supported, (size_t)choice->plan->size);
    *any = false;
    for (int i = choice->plan->size; i-- > 0;) // readers are visited first
        if (choice->rows[i].makes_constant && readers_are(choice, i, wanted)) wanted[i] = *any = true;
    bool ok = !*any || preview(choice, wanted, pieces);
    free(wanted);
    return ok;
}

// Divides the supported nodes into partitions. They also include nodes that make constants, unless that would increase
// the number of partitions.
static bool divide(const struct choice *choice, struct pieces *pieces)
{
    struct pieces with_constants;
    bool any = false;
    if (!preview(choice, choice->supported, pieces)) return false;
    if (!preview_with_constants(choice, &with_constants, &any)) {
        free_pieces(pieces);
        return false;
    }
    if (any && with_constants.count <= pieces->count) {
        struct pieces without = *pieces;
        *pieces = with_constants;
        with_constants = without;
    }
    free_pieces(&with_constants);
    return true;
}

static int position_of(const TfLiteIntArray *plan, int node)
{
    int i = 0;
    while (i < plan->size && plan->data[i] != node) i++;
    return i;
}

// ---- what the device says -----------------------------------------------------------------------

static struct delegate_piece question_of(const struct piece *piece)
{
    return (struct delegate_piece){piece->nodes->data, piece->nodes->size, piece->inputs, piece->outputs};
}

// Asks the device about one partition; *any becomes true where it refuses one.
static bool confirm_piece(const struct choice *choice, const struct piece *piece, bool *any)
{
    struct delegate *delegate = choice->delegate;
    bool *refused = calloc((size_t)piece->nodes->size + 1, sizeof *refused);
    if (!refused) return out_of_memory(choice);
    struct delegate_piece question = question_of(piece);
    bool ok = delegate->kind->confirm(delegate, choice->context, &question, refused);
    for (int i = 0; i < piece->nodes->size && ok; i++) {
        int at = position_of(choice->plan, piece->nodes->data[i]);
        if (!refused[i] || choice->rows[at].makes_constant) continue;
        struct delegate_reason *reason = &choice->rows[at].reason;
        reason->code = DELEGATE_NO_KERNEL;
        snprintf(reason->text, sizeof reason->text, "the device %s does not support it", delegate->device);
        choice->supported[at] = false;
        *any = true;
    }
    free(refused);
    return ok;
}

// Divides the supported nodes into partitions whose nodes the device supports, too.
static bool make_pieces(const struct choice *choice, struct pieces *pieces)
{
    if (!divide(choice, pieces)) return false;
    if (!choice->delegate->kind->confirm) return true;
    bool any = false, ok = true;
    for (int i = 0; i < pieces->count && ok; i++) ok = confirm_piece(choice, &pieces->items[i], &any);
    if (ok && !any) return true;
    free_pieces(pieces);
    return ok && divide(choice, pieces);
}

// ---- choosing -----------------------------------------------------------------------------------

// Why the partition, the number-th by size, is not claimed. OK: it is. text: what follows its number.
static enum delegate_reason_code judge(const struct choice *choice, const struct piece *piece, int number, char *text,
                                       size_t size)
{
    struct delegate *delegate = choice->delegate;
    if (delegate->max_partitions > 0 && number >= delegate->max_partitions) {
        snprintf(text, size, "; max_delegated_partitions is %d", delegate->max_partitions);
        return DELEGATE_PARTITION;
    }
    if (piece->nodes->size < delegate->min_nodes) {
        snprintf(text, size, "; min_nodes_per_partition is %d", delegate->min_nodes);
        return DELEGATE_COST;
    }
    struct delegate_piece question = question_of(piece);
    const char *cost = delegate->kind->cost ? delegate->kind->cost(delegate, choice->context, &question, number) : NULL;
    snprintf(text, size, ": %s", cost ? cost : "");
    return cost ? DELEGATE_COST : DELEGATE_OK;
}

// Wants the nodes of the largest partitions, and writes down why the others are not claimed.
static bool choose(const struct choice *choice)
{
    struct pieces pieces;
    if (!make_pieces(choice, &pieces)) return false;
    for (int p = 0; p < pieces.count; p++) {
        const struct piece *piece = &pieces.items[p];
        char text[80];
        enum delegate_reason_code code = judge(choice, piece, p, text, sizeof text);
        for (int i = 0; i < piece->nodes->size; i++) {
            int at = position_of(choice->plan, piece->nodes->data[i]);
            struct delegate_reason *reason = &choice->rows[at].reason;
            choice->rows[at].partition = p;
            choice->wanted[at] = code == DELEGATE_OK;
            if (choice->wanted[at]) continue;
            reason->code = code;
            snprintf(reason->text, sizeof reason->text, "partition %d by size, %d node%s%s", p, piece->nodes->size,
                     piece->nodes->size == 1 ? "" : "s", text);
        }
    }
    free_pieces(&pieces);
    for (int i = choice->plan->size; i-- > 0;) {
        struct delegate_row *row = &choice->rows[i];
        if (!row->makes_constant || (choice->wanted[i] && readers_are(choice, i, choice->wanted))) continue;
        choice->wanted[i] = false;
        row->reason.code = DELEGATE_FOLDED;
        row->reason.text[0] = 0;
    }
    return true;
}

void delegate_withdraw(struct delegate *delegate, enum delegate_reason_code code, const char *text)
{
    const struct delegate_graph *graph = delegate_report_latest(&delegate->report);
    for (int i = 0; i < graph->count; i++) {
        struct delegate_reason *reason = &graph->rows[i].reason;
        if (reason->code != DELEGATE_OK) continue;
        reason->code = code;
        snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

static TfLiteStatus claim(const struct choice *choice, const TfLiteIntArray *nodes)
{
    struct delegate *delegate = choice->delegate;
    const struct delegate_kind *kind = delegate->kind;
    TfLiteContext *context = choice->context;
    TfLiteStatus status = kTfLiteOk;
    if (kind->ready && !kind->ready(delegate, context, nodes->size)) return kTfLiteDelegateError;
    delegate->kernel_failed = false;
    if (nodes->size > 0)
        status = context->ReplaceNodeSubsetsWithDelegateKernels(context, delegate_registration(delegate), nodes,
                                                                &delegate->tflite);
    return status == kTfLiteOk && delegate->kernel_failed ? kTfLiteDelegateError : status; // the kernel has said why
}

static TfLiteStatus choose_and_claim(const struct choice *choice)
{
    struct delegate *delegate = choice->delegate;
    if (!choose(choice)) return kTfLiteDelegateError;
    TfLiteIntArray *nodes = list_of(choice, choice->wanted);
    if (!nodes) {
        out_of_memory(choice);
        return kTfLiteError;
    }
    TfLiteStatus status = claim(choice, nodes);
    free(nodes);
    if (status != kTfLiteOk) delegate_withdraw(delegate, DELEGATE_DEVICE, "");
    if (delegate->kind->done) delegate->kind->done(delegate, choice->context, status);
    return status;
}

// ---- prepare ------------------------------------------------------------------------------------

// why: what to write as the reason of all supported nodes where the delegate has no device.
static TfLiteStatus prepare_plan(const struct choice *choice, bool is_absent, const char *why)
{
    struct delegate *delegate = choice->delegate;
    TfLiteContext *context = choice->context;
    if (!ask_about_nodes(choice)) return kTfLiteError;
    if (!is_absent) return choose_and_claim(choice);
    delegate_withdraw(delegate, DELEGATE_DEVICE, why);
    context->ReportError(context, "%s: %s; the model runs on the CPU", delegate->kind->name, why);
    return kTfLiteOk;
}

static TfLiteStatus prepare_opened(TfLiteContext *context, struct delegate *delegate, const TfLiteIntArray *plan,
                                   bool is_absent, const char *why)
{
    size_t count = (size_t)plan->size + 1;
    struct choice choice = {
        .context = context,
        .delegate = delegate,
        .plan = plan,
        .rows = delegate_report_begin(&delegate->report, context, plan->size),
        .supported = calloc(count, sizeof(bool)),
        .wanted = calloc(count, sizeof(bool)),
        .source = malloc((context->tensors_size + 1) * sizeof(int)),
    };
    for (size_t i = 0; choice.source && i < context->tensors_size; i++) choice.source[i] = -1;
    delegate->source = choice.source;
    delegate->source_count = choice.source ? context->tensors_size : 0;
    TfLiteStatus status = kTfLiteError;
    if (choice.rows && choice.supported && choice.wanted && choice.source)
        status = prepare_plan(&choice, is_absent, why);
    else
        out_of_memory(&choice);
    delegate->source = NULL;
    delegate->source_count = 0;
    free(choice.source);
    free(choice.wanted);
    free(choice.supported);
    return status;
}

static TfLiteStatus prepare_locked(TfLiteContext *context, struct delegate *delegate, const TfLiteIntArray *plan)
{
    char why[160] = "";
    enum delegate_state state =
        delegate->kind->open ? delegate->kind->open(delegate, context, why, sizeof why) : DELEGATE_READY;
    if (state == DELEGATE_WRONG) return kTfLiteError;
    if (state == DELEGATE_FAILED) return kTfLiteDelegateError;
    return prepare_opened(context, delegate, plan, state == DELEGATE_ABSENT, why);
}

TfLiteStatus delegate_prepare(TfLiteContext *context, TfLiteDelegate *tflite)
{
    struct delegate *delegate = tflite->data_;
    TfLiteIntArray *plan = NULL;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    TfLiteIntArray *copy = copy_of(plan); // replacing nodes changes the array of the runtime
    if (!copy) {
        context->ReportError(context, "%s Init: out of memory", delegate->kind->name);
        return kTfLiteError;
    }
    hl_mutex_lock(&delegate->mutex);
    status = prepare_locked(context, delegate, copy);
    hl_mutex_unlock(&delegate->mutex);
    free(copy);
    return status;
}
