// SPDX-License-Identifier: Apache-2.0
// Rules about operators that need not be there. Those that are safe also note what does away with them; results stay
// the same bit for bit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "lint/lint.h"

// ---- what may be done ---------------------------------------------------------------------------

// Readers of `output` read `input` from now on, and the nodes go. False, with nothing done, where one of them went
// already or the output is the graph's own, whose name and place users know.
static bool edit(struct hl_lint *lint, int count, const int *nodes, int input, int output)
{
    if (output >= 0 && (lint->is_output[output] || lint->edits.replaced[output] != output)) return false;
    for (int i = 0; i < count; i++)
        if (lint->edits.removed[nodes[i]]) return false;
    for (int i = 0; i < count; i++) lint->edits.removed[nodes[i]] = true;
    if (output >= 0) lint->edits.replaced[output] = input;
    lint->edit_count++;
    return true;
}

// Nothing but one node reads it, and it is no output.
static bool is_read_once(const struct hl_lint *lint, int tensor)
{
    return lint->reads[tensor] == 1 && !lint->is_output[tensor];
}

static bool has_same_scale(const struct hl_model_tensor *a, const struct hl_model_tensor *b)
{
    const struct hl_model_quantization *x = &a->quantization, *y = &b->quantization;
    if (x->type != y->type || x->scale_count != y->scale_count || x->scale_count > 1) return false;
    if (x->type != kTfLiteNoQuantization && x->type != kTfLiteAffineQuantization) return false;
    return x->scale_count == 0 || (x->scales[0] == y->scales[0] && x->zero_points[0] == y->zero_points[0]);
}

static bool has_same_shape(const struct hl_model_tensor *a, const struct hl_model_tensor *b)
{
    return hl_lint_is_static(a) && hl_lint_is_static(b) && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

// One could stand for the other.
static bool is_interchangeable(const struct hl_model_tensor *a, const struct hl_model_tensor *b)
{
    return a->type == b->type && has_same_shape(a, b) && has_same_scale(a, b) && !a->is_variable && !b->is_variable;
}

// The order of dimensions of a TRANSPOSE. False where it is no constant.
enum { MAX_RANK = 8 };
static bool take_order(const struct hl_lint *lint, int node, int *order, int *rank)
{
    const struct hl_model_tensor *from = hl_lint_input(lint, node, 0), *given = hl_lint_input(lint, node, 1);
    if (from == NULL || given == NULL || given->data == NULL || given->type != kTfLiteInt32) return false;
    *rank = from->rank;
    if (*rank > MAX_RANK || given->bytes != (size_t)*rank * sizeof *order) return false;
    memcpy(order, given->data, given->bytes);
    for (int i = 0; i < *rank; i++) {
        if (order[i] < 0) order[i] += *rank;
        if (order[i] < 0 || order[i] >= *rank) return false;
    }
    return true;
}

static bool is_in_order(const int *order, int rank)
{
    for (int i = 0; i < rank; i++)
        if (order[i] != i) return false;
    return true;
}

static bool is_zero_constant(const struct hl_model_tensor *tensor)
{
    const unsigned char *bytes = tensor != NULL ? tensor->data : NULL;
    for (size_t i = 0; bytes != NULL && i < tensor->bytes; i++)
        if (bytes[i] != 0) return false;
    return bytes != NULL;
}

// ---- rules --------------------------------------------------------------------------------------

static bool is_identity(const struct hl_lint *lint, int node)
{
    int order[MAX_RANK], rank;
    if (hl_lint_is(lint, node, "RESHAPE") || hl_lint_is(lint, node, "SQUEEZE") || hl_lint_is(lint, node, "CAST"))
        return true; // where the tensors are alike
    if (hl_lint_is(lint, node, "TRANSPOSE")) return take_order(lint, node, order, &rank) && is_in_order(order, rank);
    if (hl_lint_is(lint, node, "PAD") || hl_lint_is(lint, node, "PADV2"))
        return is_zero_constant(hl_lint_input(lint, node, 1));
    return false;
}

void hl_lint_check_identity_operator(struct hl_lint *lint)
{
    for (int n = 0; n < lint->graph->node_count; n++) {
        const struct hl_model_tensor *from = hl_lint_input(lint, n, 0), *to = hl_lint_output(lint, n);
        if (from == NULL || to == NULL || !is_interchangeable(from, to) || !is_identity(lint, n)) continue;
        bool safe = edit(lint, 1, &n, lint->graph->nodes[n].inputs[0], lint->graph->nodes[n].outputs[0]);
        hl_lint_add(lint, "identity_operator", 1, &n, 1, safe, "%s changes neither shape nor order nor type",
                    hl_lint_op(lint, n));
    }
}

static bool is_reshape(const struct hl_lint *lint, int node)
{
    return node >= 0 && (hl_lint_is(lint, node, "RESHAPE") || hl_lint_is(lint, node, "SQUEEZE") ||
                         hl_lint_is(lint, node, "EXPAND_DIMS"));
}

void hl_lint_check_reshape_chain(struct hl_lint *lint)
{
    for (int n = 0; n < lint->graph->node_count; n++) {
        int before = hl_lint_before(lint, n, 0);
        if (!hl_lint_is(lint, n, "RESHAPE") || !is_reshape(lint, before)) continue;
        const struct hl_model_node *first = &lint->graph->nodes[before], *last = &lint->graph->nodes[n];
        const struct hl_model_tensor *from = hl_lint_input(lint, before, 0), *to = hl_lint_output(lint, n),
                                     *between = &lint->graph->tensors[last->inputs[0]];
        if (from == NULL || to == NULL) continue;
        bool alone = is_read_once(lint, last->inputs[0]), all_static = hl_lint_is_static(from) && hl_lint_is_static(to);
        bool safe = false, both = is_interchangeable(from, to);
        if (both && alone) {
            safe = edit(lint, 2, (const int[]){before, n}, first->inputs[0], last->outputs[0]);
        } else if (both) {
            safe = edit(lint, 1, &n, first->inputs[0], last->outputs[0]);
        } else if (alone && all_static && has_same_scale(from, between) && !lint->edits.removed[n]) {
            safe = edit(lint, 1, &before, first->inputs[0], last->inputs[0]);
        }
        hl_lint_add(lint, "reshape_chain", both && alone ? 2 : 1, (const int[]){before, n}, 1, safe,
                    both ? "%s and %s end with the shape that they began with"
                         : "the shape of %s is changed by the next %s",
                    hl_lint_op(lint, before), hl_lint_op(lint, n));
    }
}

void hl_lint_check_transpose_pair(struct hl_lint *lint)
{
    for (int n = 0; n < lint->graph->node_count; n++) {
        int before = hl_lint_before(lint, n, 0), first[MAX_RANK], second[MAX_RANK], rank, same_rank;
        if (before < 0 || !hl_lint_is(lint, n, "TRANSPOSE") || !hl_lint_is(lint, before, "TRANSPOSE")) continue;
        if (!take_order(lint, before, first, &rank) || !take_order(lint, n, second, &same_rank) || rank != same_rank)
            continue;
        const struct hl_model_node *one = &lint->graph->nodes[before], *two = &lint->graph->nodes[n];
        const struct hl_model_tensor *from = hl_lint_input(lint, before, 0), *to = hl_lint_output(lint, n);
        bool back = true, alone = is_read_once(lint, two->inputs[0]);
        for (int i = 0; i < rank; i++) back = back && first[second[i]] == i;
        bool safe = back && to != NULL && is_interchangeable(from, to) &&
                    (alone ? edit(lint, 2, (const int[]){before, n}, one->inputs[0], two->outputs[0])
                           : edit(lint, 1, &n, one->inputs[0], two->outputs[0]));
        hl_lint_add(lint, "transpose_pair", 2, (const int[]){before, n}, back && alone ? 1 : 0.5, safe,
                    back ? "the second one undoes what the first one did" : "one of them could do what both do");
    }
}

void hl_lint_check_quantize_pair(struct hl_lint *lint)
{
    for (int n = 0; n < lint->graph->node_count; n++) {
        int before = hl_lint_before(lint, n, 0);
        bool to_integers = hl_lint_is(lint, n, "QUANTIZE"), to_floats = hl_lint_is(lint, n, "DEQUANTIZE");
        if (before < 0 || !(to_integers || to_floats)) continue;
        if (!hl_lint_is(lint, before, to_integers ? "DEQUANTIZE" : "QUANTIZE")) continue;
        const struct hl_model_node *one = &lint->graph->nodes[before], *two = &lint->graph->nodes[n];
        const struct hl_model_tensor *from = hl_lint_input(lint, before, 0), *to = hl_lint_output(lint, n);
        if (from == NULL || to == NULL || from->data != NULL) continue;
        const int nodes[] = {before, n};
        bool alone = is_read_once(lint, two->inputs[0]), same = to_integers && is_interchangeable(from, to);
        bool safe = same && (alone ? edit(lint, 2, nodes, one->inputs[0], two->outputs[0])
                                   : edit(lint, 1, &n, one->inputs[0], two->outputs[0]));
        hl_lint_add(lint, "quantize_pair", alone ? 2 : 1, alone ? nodes : &n, 1, safe,
                    to_floats ? "floats are rounded to %s and made floats again"
                    : same    ? "%s becomes floats and the same integers again"
                              : "%s becomes floats and other integers: one QUANTIZE is enough",
                    hl_element_name(to_floats ? hl_lint_output(lint, before)->type : from->type));
    }
}

void hl_lint_check_float_island(struct hl_lint *lint)
{
    for (int n = 0; n < lint->graph->node_count; n++) {
        const struct hl_model_node *node = &lint->graph->nodes[n];
        int before = hl_lint_before(lint, n, 0), after = -1;
        if (before < 0 || !hl_lint_is(lint, before, "DEQUANTIZE") || hl_lint_is(lint, n, "QUANTIZE")) continue;
        const struct hl_model_tensor *from = hl_lint_input(lint, before, 0);
        if (node->output_count != 1 || node->outputs[0] < 0 || !is_read_once(lint, node->outputs[0])) continue;
        if (from == NULL || from->data != NULL) continue;
        for (int i = n + 1; after < 0 && i < lint->graph->node_count; i++)
            if (hl_lint_is(lint, i, "QUANTIZE") && hl_lint_before(lint, i, 0) == n) after = i;
        if (after < 0) continue;
        hl_lint_add(lint, "float_island", 2, (const int[]){before, after}, 1, false,
                    "node %d, %s, is in floats between DEQUANTIZE and QUANTIZE", n, hl_lint_op(lint, n));
    }
}

// Operators that do something beside making their outputs, or not the same every time.
static bool has_effects(const struct hl_lint *lint, int node)
{
    static const char *const words[] = {"VAR",       "HASHTABLE", "CALL",   "WHILE", "IF",  "RANDOM", "MULTINOMIAL",
                                        "STABLEHLO", "CUSTOM",    "UNIDIR", "BIDIR", "RNN", "LSTM",   "SVDF"};
    const struct hl_model_node *of = &lint->graph->nodes[node];
    if (lint->model->codes[of->code].custom_name != NULL || of->output_count == 0) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(hl_lint_op(lint, node), words[i]) != NULL) return true;
    return false;
}

void hl_lint_check_dead_operator(struct hl_lint *lint)
{
    // Backwards: what a dead operator alone reads is dead as well.
    int *reads = hl_alloc((size_t)lint->graph->tensor_count, sizeof *reads);
    memcpy(reads, lint->reads, (size_t)lint->graph->tensor_count * sizeof *reads);
    for (int n = lint->graph->node_count - 1; n >= 0; n--) {
        const struct hl_model_node *node = &lint->graph->nodes[n];
        bool dead = !has_effects(lint, n);
        for (int i = 0; dead && i < node->output_count; i++)
            dead = node->outputs[i] < 0 || (reads[node->outputs[i]] == 0 && !lint->is_output[node->outputs[i]]);
        if (!dead) continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0) reads[node->inputs[i]]--;
        bool safe = edit(lint, 1, &n, -1, -1);
        hl_lint_add(lint, "dead_operator", 1, &n, 1, safe, "%s makes what nothing reads", hl_lint_op(lint, n));
    }
    free(reads);
}

// ---- constants ----------------------------------------------------------------------------------

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const void *const *)a, y = (uintptr_t) * (const void *const *)b;
    return (x > y) - (x < y);
}

// Where the constants lie that something reads, sorted; the caller frees.
static const void **used_data(const TfLiteModel *model, size_t *count)
{
    size_t room = 0;
    for (int s = 0; s < model->subgraph_count; s++) room += (size_t)model->subgraphs[s].tensor_count;
    const void **used = hl_alloc(room, sizeof *used);
    *count = 0;
    for (int s = 0; s < model->subgraph_count; s++) {
        bool *is_used = hl_rewrite_used_tensors(model, s, NULL);
        for (int i = 0; i < model->subgraphs[s].tensor_count; i++)
            if (is_used[i] && model->subgraphs[s].tensors[i].data != NULL)
                used[(*count)++] = model->subgraphs[s].tensors[i].data;
        free(is_used);
    }
    qsort(used, *count, sizeof *used, compare_pointers);
    return used;
}

void hl_lint_check_unused_constant(struct hl_lint *lint)
{
    size_t used_count, bytes = 0;
    const void **used = used_data(lint->model, &used_count);
    int count = 0;
    for (int s = 0; s < lint->model->subgraph_count; s++)
        for (int i = 0; i < lint->model->subgraphs[s].tensor_count; i++) {
            const struct hl_model_tensor *tensor = &lint->model->subgraphs[s].tensors[i];
            if (tensor->data == NULL || tensor->bytes == 0) continue;
            if (bsearch(&tensor->data, used, used_count, sizeof *used, compare_pointers) != NULL) continue;
            count++;
            bytes += tensor->bytes;
        }
    free(used);
    if (count == 0) return;
    lint->edit_count++;
    hl_lint_add_estimate(lint, "unused_constant", (double)NAN, true, "%d constant%s, %zu bytes", count,
                         count == 1 ? "" : "s", bytes);
}
