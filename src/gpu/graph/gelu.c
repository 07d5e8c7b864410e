// SPDX-License-Identifier: Apache-2.0
// Finds GELU in the operators that converters write it with, and makes one node of them:
//   fuse_gelu   x / 2 * (1 + tanh(a x + b x^3))   =>   GELU, approximate      (a = sqrt(2 / pi), b = 0.044715 a)
// The cube may be POW, or products in any order, and the factors may stand anywhere. So values are evaluated as sums:
// in front of TANH of powers of x, behind it of 1, x, t and x t. There is no operator for erf, so exact GELU comes as
// GELU alone. The values between may have no other readers.
#include <math.h>
#include <stdlib.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

// x^i t^k has the factor by[k][i].
enum { POWERS = 4, MAX_DEPTH = 12, MAX_BEHIND = 16 };
struct sum {
    double by[2][POWERS];
};

struct match {
    const struct gpu_graph *graph;
    const struct gpu_value *x, *t; // t: NULL in front of TANH
    bool *marked;                  // nodes that the sum needs, by position
};

static bool multiply(struct sum *to, const struct sum *a, const struct sum *b)
{
    struct sum product = {0};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < POWERS * POWERS; i++) {
            double by = a->by[k / 2][i / POWERS] * b->by[k % 2][i % POWERS];
            int t = k / 2 + k % 2, x = i / POWERS + i % POWERS;
            if (by == 0) continue;
            if (t > 1 || x >= POWERS) return false;
            product.by[t][x] += by;
        }
    *to = product;
    return true;
}

static bool is_number(const struct gpu_value *value)
{
    return value && value->data && !value->codes && gpu_elements(value->shape) == 1;
}

static bool evaluate(const struct match *match, const struct gpu_value *value, struct sum *sum, int depth);

static bool evaluate_node(const struct match *match, const struct gpu_node *node, struct sum *sum, int depth)
{
    struct sum a, b = {0};
    bool two = node->input_count == 2 && node->inputs[1];
    if (!node->inputs[0] || !evaluate(match, node->inputs[0], &a, depth + 1)) return false;
    if (two && !evaluate(match, node->inputs[1], &b, depth + 1)) return false;
    double sign = node->builtin == kTfLiteBuiltinSub ? -1 : 1, number = two ? b.by[0][0] : 0;
    switch (node->builtin) {
    case kTfLiteBuiltinAdd:
    case kTfLiteBuiltinSub:
        for (int i = 0; i < 2 * POWERS; i++)
            sum->by[i / POWERS][i % POWERS] = a.by[i / POWERS][i % POWERS] + sign * b.by[i / POWERS][i % POWERS];
        return true;
    case kTfLiteBuiltinSquare: return multiply(sum, &a, &a);
    case kTfLiteBuiltinMul: return multiply(sum, &a, &b);
    case kTfLiteBuiltinDiv:
        if (!is_number(node->inputs[1]) || number == 0) return false;
        b.by[0][0] = 1 / number;
        return multiply(sum, &a, &b);
    case kTfLiteBuiltinPow:
        if (!is_number(node->inputs[1]) || (number != 2 && number != 3)) return false;
        return multiply(sum, &a, &a) && (number == 2 || multiply(sum, sum, &a));
    default: return false;
    }
}

static bool evaluate(const struct match *match, const struct gpu_value *value, struct sum *sum, int depth)
{
    *sum = (struct sum){0};
    if (value == match->x || value == match->t) {
        sum->by[value == match->t][value == match->x] = 1;
        return true;
    }
    if (is_number(value)) {
        sum->by[0][0] = (double)value->data[0];
        return true;
    }
    const struct gpu_node *node = value->producer;
    if (!node || node->op->integers || node->epilogue.count || node->output_count != 1 || depth > MAX_DEPTH)
        return false;
    if (!gpu_same_shape(value->shape, match->x->shape) || value->rank != match->x->rank) return false;
    if (value->type == kTfLiteFloat16 || !evaluate_node(match, node, sum, depth)) return false;
    for (int n = 0; n < match->graph->node_count; n++)
        if (match->graph->nodes[n] == node) match->marked[n] = true;
    return true;
}

// Whether a sum has these factors of x, x^3 and no others, each within 1e-5 of its size.
static bool is_close(double value, double expected)
{
    return fabs(value - expected) <= 1e-5 * fabs(expected);
}

static bool is_argument(const struct sum *sum)
{
    return sum->by[0][0] == 0 && sum->by[0][2] == 0 && is_close(sum->by[0][1], 0.7978845608) &&
           is_close(sum->by[0][3], 0.7978845608 * 0.044715);
}

static bool is_gelu(const struct sum *sum)
{
    bool rest = sum->by[0][0] == 0 && sum->by[1][0] == 0;
    for (int i = 2; i < POWERS; i++) rest = rest && sum->by[0][i] == 0 && sum->by[1][i] == 0;
    return rest && sum->by[0][1] == 0.5 && sum->by[1][1] == 0.5;
}

// Finds x: one of the values that TANH's argument is made of.
static bool find_x(struct match *match, const struct gpu_value *value, const struct gpu_value *argument, int depth)
{
    const struct gpu_node *node = value->producer;
    if (!node || depth > MAX_DEPTH) return false;
    for (int i = 0; i < node->input_count; i++) {
        struct sum sum;
        match->x = node->inputs[i];
        if (!match->x || match->x->data || match->x->codes) continue;
        if (evaluate(match, argument, &sum, 0) && is_argument(&sum)) return true;
        const struct gpu_value *x = node->inputs[i];
        if (find_x(match, x, argument, depth + 1)) return true;
    }
    return false;
}

static void unmark(struct match *match)
{
    for (int n = 0; n < match->graph->node_count; n++) match->marked[n] = false;
}

static bool replace(struct gpu_graph *graph, const struct match *match, int position)
{
    struct gpu_node *last = graph->nodes[position], *node = gpu_graph_add_node(graph, kTfLiteBuiltinGelu, position + 1);
    TfLiteGeluParams params = {.approximate = true};
    if (!node || !gpu_graph_set_params(node, &params, sizeof params)) {
        if (node) node->dead = true;
        return false;
    }
    struct gpu_value *y = last->outputs[0];
    node->index = last->index;
    node->op = gpu_op_find(kTfLiteBuiltinGelu, NULL);
    node->epilogue = last->epilogue;
    last->epilogue.residual = NULL; // the new node counts as its reader
    for (int n = 0; n <= position; n++)
        if (match->marked[n]) gpu_graph_remove_node(graph, graph->nodes[n]);
    gpu_graph_connect_input(node, graph->values[match->x->id]);
    gpu_graph_connect_output(node, y);
    return true;
}

static bool try_gelu(struct gpu_graph *graph, int position)
{
    const struct gpu_node *tanh = graph->nodes[position];
    if (tanh->dead || tanh->builtin != kTfLiteBuiltinTanh || tanh->op->integers || tanh->epilogue.count) return false;
    struct match match = {.graph = graph, .marked = calloc((size_t)graph->node_count + 1, sizeof(bool))};
    bool changed = false;
    if (match.marked && find_x(&match, tanh->inputs[0], tanh->inputs[0], 0)) {
        match.t = tanh->outputs[0];
        for (int n = position + 1; n < graph->node_count && n <= position + MAX_BEHIND && !changed; n++) {
            const struct gpu_node *node = graph->nodes[n];
            struct sum sum = {0};
            if (node->dead || node->op->integers || node->output_count != 1) continue;
            unmark(&match);
            if (!evaluate_node(&match, node, &sum, 0) || !is_gelu(&sum)) continue;
            const struct gpu_value *y = node->outputs[0], *t = match.t;
            match.t = NULL; // what TANH reads
            match.marked[n] = match.marked[position] = true;
            changed = gpu_same_shape(y->shape, match.x->shape) && y->rank == match.x->rank &&
                      evaluate(&match, tanh->inputs[0], &sum, 0) && gpu_is_closed(graph, match.marked, y) &&
                      replace(graph, &match, n);
            match.t = t;
        }
    }
    free(match.marked);
    return changed;
}

bool gpu_pass_fuse_gelu(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) changed = try_gelu(graph, n) || changed;
    return changed;
}
