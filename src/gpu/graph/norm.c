// SPDX-License-Identifier: Apache-2.0
// Finds normalizations in the operators that converters write them with, and makes one node of them:
//   fuse_norm   mean, squared difference, mean, + epsilon, rsqrt, and the sums and products around
//               =>   LAYER_NORM (means over the channels), INSTANCE_NORM (over height and width)
// There are many spellings: the square root and a division for rsqrt, (x - mean) squared by MUL or SQUARE, gamma on
// either side, minus the mean, reshapes of the means. So no spelling is compared. Each value behind a MEAN of x is
// followed as a sum of few terms in x, m (the mean), v (the variance) and s = 1 / sqrt(v + epsilon), with a factor for
// each channel; a value that is gamma x s - gamma m s + beta is the normalized x. Gamma and beta of an instance
// normalization may be values that the model computes, one number for each channel: they are terms, too. The values
// between may have no other readers. Results differ by rounding: the factors are multiplied in another order.
#include <math.h>
#include <stdlib.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

// A term has the exponents of its factors in octal digits, so that the term of a product is the sum. ROOT: 1 / s. GAMMA
// and BETA are values; those that are constants are in the factors.
enum term {
    ONE = 0,
    X = 01,
    M = 010,
    S = 0100,
    GAMMA = 01000,
    BETA = 010000,
    V = 0100000,
    ROOT = 01000000,
    XX = X + X,
    XM = X + M,
    MM = M + M,
    XS = X + S,
    MS = M + S,
    SG = S + GAMMA,
    XSG = XS + GAMMA,
    MSG = MS + GAMMA
};
// What a value extends over: nothing (a constant), one number for each mean of x, or all of x.
enum extent { CONSTANT, ROW, FULL };
enum { MAX_TERMS = 3, MAX_FORMS = 40, MAX_CHANNELS = 8192 };

struct form {
    const struct gpu_value *value; // NULL: a step of a calculation
    int node;                      // position of its producer; -1: x, or a constant
    bool last;                     // its producer has stages: nothing behind it is followed
    enum extent extent;
    int count;
    struct {
        enum term of;
        float *by; // for each channel
    } terms[MAX_TERMS];
};

struct match {
    const struct gpu_graph *graph;
    const struct gpu_value *x;
    bool planes; // the means are those of planes, and not those of channels
    int channels;
    const struct gpu_value *gamma, *beta; // those that are no constants; NULL: none so far
    bool has_epsilon;
    float epsilon;
    struct form forms[MAX_FORMS];
    int count;
    float *memory; // MAX_FORMS * MAX_TERMS * channels
};

// ---- sums of terms --------------------------------------------------------------------------------------------------

// Returns NULL if there are too many.
static struct form *add_form(struct match *match, const struct gpu_value *value, int node, enum extent extent)
{
    if (match->count == MAX_FORMS) return NULL;
    struct form *form = &match->forms[match->count];
    *form = (struct form){.value = value, .node = node, .extent = extent};
    for (int t = 0; t < MAX_TERMS; t++)
        form->terms[t].by = match->memory + ((size_t)match->count * MAX_TERMS + (size_t)t) * (size_t)match->channels;
    match->count++;
    return form;
}

// Adds factor * by[c] of a term. False if that makes too many terms.
static bool add_term(const struct match *match, struct form *to, enum term of, const float *by, const float *factor,
                     float sign)
{
    int t = 0;
    while (t < to->count && to->terms[t].of != of) t++;
    if (t == MAX_TERMS) return false;
    bool is_new = t == to->count;
    if (is_new) to->terms[to->count++].of = of;
    for (int c = 0; c < match->channels; c++) {
        float added = sign * (by ? by[c] : 1) * (factor ? factor[c] : 1);
        to->terms[t].by[c] = is_new ? added : to->terms[t].by[c] + added;
    }
    return true;
}

static bool add_form_to(const struct match *match, struct form *to, const struct form *from, float sign)
{
    for (int t = 0; t < from->count; t++)
        if (!add_term(match, to, from->terms[t].of, from->terms[t].by, NULL, sign)) return false;
    return true;
}

// Returns -1 for a product that is followed no further.
static int product_of(enum term a, enum term b)
{
    if (a == ONE || b == ONE) return (int)a + (int)b;
    switch ((int)a + (int)b) {
    case XX:
    case XM:
    case MM:
    case XS:
    case MS:
    case SG:
    case XSG:
    case MSG: return (int)a + (int)b;
    default: return -1;
    }
}

static bool multiply(const struct match *match, struct form *to, const struct form *a, const struct form *b)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            int of = product_of(a->terms[i].of, b->terms[k].of);
            if (of < 0 || !add_term(match, to, (enum term)of, a->terms[i].by, b->terms[k].by, 1)) return false;
        }
    return true;
}

// a divided by a constant, or by the square root.
static bool divide(const struct match *match, struct form *to, const struct form *a, const struct form *b)
{
    const float *divisor = b->terms[0].by;
    if (b->count != 1 || (b->terms[0].of != ONE && b->terms[0].of != ROOT)) return false;
    for (int c = 0; c < match->channels; c++)
        if (divisor[c] == 0) return false;
    for (int i = 0; i < a->count; i++) {
        int of = b->terms[0].of == ONE ? (int)a->terms[i].of : product_of(a->terms[i].of, S);
        if (of < 0 || !add_term(match, to, (enum term)of, a->terms[i].by, NULL, 1)) return false;
    }
    for (int t = 0; t < to->count; t++)
        for (int c = 0; c < match->channels; c++) to->terms[t].by[c] /= divisor[c];
    return true;
}

// Returns the factors of a term; NULL: it is not there.
static const float *factors(const struct form *form, enum term of)
{
    for (int t = 0; t < form->count; t++)
        if (form->terms[t].of == of) return form->terms[t].by;
    return NULL;
}

// Whether a term's factors are this number in all channels.
static bool is_number(const struct match *match, const float *by, float number)
{
    for (int c = 0; by && c < match->channels; c++)
        if (by[c] != number) return false;
    return by != NULL;
}

static bool is_variance(const struct match *match, const struct form *form)
{
    return form->count == 3 && is_number(match, factors(form, XX), 1) && is_number(match, factors(form, XM), -2) &&
           is_number(match, factors(form, MM), 1);
}

// Whether a form is v + epsilon, with the one epsilon that there is.
static bool takes_epsilon(struct match *match, const struct form *form)
{
    const float *by = factors(form, ONE);
    if (form->extent != ROW || !is_number(match, factors(form, V), 1) || form->count != (by ? 2 : 1)) return false;
    float epsilon = by ? by[0] : 0;
    if (by && !is_number(match, by, epsilon)) return false;
    if (match->has_epsilon && match->epsilon != epsilon) return false;
    match->has_epsilon = true;
    match->epsilon = epsilon;
    return true;
}

// Whether a form is x s - m s with equal factors, or with those of gamma, and perhaps an offset.
static bool is_normalized(const struct match *match, const struct form *form)
{
    const float *factor = factors(form, XS), *other = factors(form, MS), *beta = factors(form, BETA);
    if (!factor) {
        factor = factors(form, XSG);
        other = factors(form, MSG);
        if (!is_number(match, factor, 1)) return false;
    }
    if (form->extent != FULL || !factor || !other || (beta && !is_number(match, beta, 1))) return false;
    if (form->count != 2 + (factors(form, ONE) != NULL) + (beta != NULL)) return false;
    for (int c = 0; c < match->channels; c++)
        if (other[c] != -factor[c]) return false;
    return true;
}

// ---- values as forms ------------------------------------------------------------------------------------------------

static bool same_dims(const struct gpu_value *a, const struct gpu_value *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++) same = a->dims[i] == b->dims[i];
    return same;
}

// Whether the dimensions are those of `full` with a 1 in place of the channels, as in [rows, 1] beside [rows, c].
static bool is_column_of(const struct gpu_value *column, const struct gpu_value *full)
{
    int skipped = full->rank - column->rank;
    if (column->rank < 1 || skipped < 0 || column->dims[column->rank - 1] != 1) return false;
    for (int i = 0; i + 1 < full->rank; i++)
        if ((i < skipped ? 1 : column->dims[i - skipped]) != full->dims[i]) return false;
    return true;
}

// Whether the dimensions are those of x with 1 in place of height and width.
static bool is_row_of_planes(const struct match *match, const struct gpu_value *value)
{
    return value->rank == 4 && value->dims[0] == match->x->dims[0] && value->dims[1] == 1 && value->dims[2] == 1 &&
           value->dims[3] == match->channels;
}

// Finds what extent a sum or product of two values has; the output's dimensions have to say the same.
static bool extent_of(const struct match *match, const struct form *a, const struct form *b, const struct gpu_value *y,
                      enum extent *extent)
{
    if (a->extent < b->extent) return extent_of(match, b, a, y, extent);
    *extent = a->extent;
    if (match->planes) return a->extent == FULL ? same_dims(match->x, y) : is_row_of_planes(match, y);
    bool scalar = b->extent == CONSTANT && gpu_elements(b->value->shape) == 1;
    if (a->extent == ROW && b->extent == CONSTANT && !scalar) {
        *extent = FULL;
        return y->rank > 0 && y->dims[y->rank - 1] == match->channels && is_column_of(a->value, y);
    }
    if (!same_dims(a->value, y)) return false;
    if (b->extent == ROW && a->extent == FULL) return is_column_of(b->value, a->value);
    return b->extent == CONSTANT || same_dims(a->value, b->value);
}

// Returns the form of an input; NULL: it has none.
static struct form *form_of(struct match *match, const struct gpu_value *value)
{
    for (int i = 0; i < match->count; i++)
        if (match->forms[i].value == value) return match->forms[i].last ? NULL : &match->forms[i];
    if (!value->data || value->codes) return NULL;
    int64_t count = gpu_elements(value->shape);
    if (count != 1 && (count != match->channels || value->shape.c != match->channels)) return NULL;
    struct form *form = add_form(match, value, -1, CONSTANT);
    if (!form) return NULL;
    form->count = 1;
    form->terms[0].of = ONE;
    for (int c = 0; c < match->channels; c++) form->terms[0].by[c] = value->data[count == 1 ? 0 : c];
    return form;
}

// Returns the form of a gamma or beta that is no constant; NULL: the value is neither. Only what is combined with a
// term of s can be one.
static struct form *symbol_of(struct match *match, const struct gpu_value *value, int builtin, const struct form *other)
{
    bool factor = builtin == kTfLiteBuiltinMul, offset = builtin == kTfLiteBuiltinAdd || builtin == kTfLiteBuiltinSub;
    if (!match->planes || value->data || value->codes || (!factor && !offset)) return NULL;
    bool scaled = false;
    for (int t = 0; t < other->count; t++) scaled = scaled || (other->terms[t].of & S) != 0;
    if (!scaled || value->rank < 1 || value->rank > 4 || value->dims[value->rank - 1] != match->channels) return NULL;
    if (gpu_elements(value->shape) != match->channels && !is_row_of_planes(match, value)) return NULL;
    const struct gpu_value **known = factor ? &match->gamma : &match->beta;
    if (*known && *known != value) return NULL;
    struct form *form = add_form(match, NULL, -1, ROW);
    if (!form || !add_term(match, form, factor ? GAMMA : BETA, NULL, NULL, 1)) return NULL;
    *known = value;
    return form;
}

// Whether a node is the mean over the channels, and over axes of length 1: some converters write [0, 2] for [1, n, c].
static bool is_channel_mean(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *axes = node->inputs[1];
    if (node->builtin != kTfLiteBuiltinMean || node->op->integers || !axes || !axes->data) return false;
    bool channels = false;
    for (int i = 0; i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        axis += axis < 0 ? x->rank : 0;
        if (axis != x->rank - 1 && x->dims[axis] != 1) return false;
        channels = channels || axis == x->rank - 1;
    }
    return channels;
}

// Whether a node is the mean over height and width, which stay as axes of length 1.
static bool is_plane_mean(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *axes = node->inputs[1];
    if (node->builtin != kTfLiteBuiltinMean || node->op->integers || !axes || !axes->data) return false;
    if (x->rank != 4 || node->outputs[0]->rank != 4 || x->dims[1] * x->dims[2] == 1) return false;
    bool over[4] = {false};
    for (int i = 0; i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        over[axis < 0 ? axis + 4 : axis] = true;
    }
    return (!over[0] || x->dims[0] == 1) && (over[1] || x->dims[1] == 1) && (over[2] || x->dims[2] == 1) && !over[3];
}

static bool is_mean(const struct match *match, const struct gpu_node *node)
{
    return match->planes ? is_plane_mean(node) : is_channel_mean(node);
}

// Fills in the form of a node of one operand. `to` is empty and has the extent of `a`.
static bool follow_one(struct match *match, const struct gpu_node *node, struct form *to, const struct form *a)
{
    const struct gpu_value *y = node->outputs[0];
    switch (node->builtin) {
    case kTfLiteBuiltinMean:
        to->extent = ROW;
        return is_mean(match, node) && a->extent == FULL && is_variance(match, a) &&
               add_term(match, to, V, NULL, NULL, 1);
    case kTfLiteBuiltinReshape:
    case kTfLiteBuiltinSqueeze:
    case kTfLiteBuiltinExpandDims:
        if (match->planes) return false;
        if (a->extent == FULL && (y->rank < 1 || y->dims[y->rank - 1] != match->channels)) return false;
        return add_form_to(match, to, a, 1);
    case kTfLiteBuiltinNeg: return add_form_to(match, to, a, -1);
    case kTfLiteBuiltinSquare: return multiply(match, to, a, a);
    case kTfLiteBuiltinRsqrt: return takes_epsilon(match, a) && add_term(match, to, S, NULL, NULL, 1);
    case kTfLiteBuiltinSqrt: return takes_epsilon(match, a) && add_term(match, to, ROOT, NULL, NULL, 1);
    default: return false;
    }
}

static bool follow_two(struct match *match, const struct gpu_node *node, struct form *to, const struct form *a,
                       const struct form *b)
{
    if (!extent_of(match, a, b, node->outputs[0], &to->extent)) return false;
    switch (node->builtin) {
    case kTfLiteBuiltinAdd: return add_form_to(match, to, a, 1) && add_form_to(match, to, b, 1);
    case kTfLiteBuiltinSub: return add_form_to(match, to, a, 1) && add_form_to(match, to, b, -1);
    case kTfLiteBuiltinMul: return multiply(match, to, a, b);
    case kTfLiteBuiltinDiv: return divide(match, to, a, b);
    case kTfLiteBuiltinSquaredDifference: {
        struct form *difference = add_form(match, NULL, -1, to->extent);
        return difference && add_form_to(match, difference, a, 1) && add_form_to(match, difference, b, -1) &&
               multiply(match, to, difference, difference);
    }
    case kTfLiteBuiltinPow: {
        if (b->extent != CONSTANT || !takes_epsilon(match, a)) return false;
        bool inverse = is_number(match, b->terms[0].by, -0.5f);
        return (inverse || is_number(match, b->terms[0].by, 0.5f)) &&
               add_term(match, to, inverse ? S : ROOT, NULL, NULL, 1);
    }
    default: return false;
    }
}

// Finds the form of a node's output, if its inputs have forms.
static void follow(struct match *match, int position)
{
    const struct gpu_node *node = match->graph->nodes[position];
    if (node->dead || node->op->integers || node->output_count != 1 || !node->inputs[0]) return;
    if (node->outputs[0]->type == kTfLiteFloat16) return; // its numbers end earlier
    struct form *a = form_of(match, node->inputs[0]), *b = NULL;
    bool two = node->builtin != kTfLiteBuiltinMean && node->builtin != kTfLiteBuiltinReshape &&
               node->builtin != kTfLiteBuiltinSqueeze && node->builtin != kTfLiteBuiltinExpandDims &&
               node->input_count == 2 && node->inputs[1];
    if (two) b = form_of(match, node->inputs[1]);
    if (two && a && !b) b = symbol_of(match, node->inputs[1], node->builtin, a);
    if (two && b && !a) a = symbol_of(match, node->inputs[0], node->builtin, b);
    if (!a || (two && !b) || (a->extent == CONSTANT && (!b || b->extent == CONSTANT))) return;
    struct form *to = add_form(match, NULL, position, a->extent);
    if (!to || !(two ? follow_two(match, node, to, a, b) : follow_one(match, node, to, a))) return;
    to->value = node->outputs[0];
    to->last = node->epilogue.count > 0;
}

// ---- the nodes that make a form -------------------------------------------------------------------------------------

static void mark(const struct match *match, const struct gpu_value *value, bool *marked)
{
    for (int i = 0; i < match->count; i++) {
        const struct form *form = &match->forms[i];
        if (form->value != value || form->node < 0 || marked[form->node]) continue;
        marked[form->node] = true;
        const struct gpu_node *node = match->graph->nodes[form->node];
        for (int k = 0; k < node->input_count; k++)
            if (node->inputs[k]) mark(match, node->inputs[k], marked);
    }
}

// ---- one node in place of them --------------------------------------------------------------------------------------

static bool is_reshape(const struct gpu_node *node)
{
    return node && !node->dead && !node->op->integers &&
           (node->builtin == kTfLiteBuiltinReshape || node->builtin == kTfLiteBuiltinSqueeze ||
            node->builtin == kTfLiteBuiltinExpandDims);
}

// The node reads and writes positions in order, whatever axes they have: it takes over a reshape before and one after
// it, as long as the channels stay.
static void take_reshapes(struct gpu_graph *graph, struct gpu_node *node)
{
    struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_node *before = x->producer;
    if (is_reshape(before) && before->epilogue.count == 0 && before->inputs[0]->shape.c == x->shape.c &&
        !before->inputs[0]->data && !before->inputs[0]->codes) {
        node->inputs[0] = before->inputs[0];
        node->inputs[0]->consumers++;
        x->consumers--;
        if (x->consumers == 0 && !x->is_output) gpu_graph_remove_node(graph, before);
    }
    if (!gpu_is_private(y) || node->epilogue.count) return;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *after = graph->nodes[n];
        if (!is_reshape(after) || after->inputs[0] != y || after->outputs[0]->shape.c != y->shape.c) continue;
        if (!gpu_can_take_stages(graph, node, &after->epilogue)) continue;
        gpu_take_over_output(graph, node, after);
        return;
    }
}

static struct gpu_value *constant_of(struct gpu_graph *graph, const char *name, const float *data, int count)
{
    struct gpu_value *value = gpu_graph_add_constant(graph, name, (struct gpu_shape){1, 1, 1, count});
    for (int c = 0; value && data && c < count; c++) value->data[c] = data[c];
    return value;
}

static bool replace(struct gpu_graph *graph, const struct match *match, const struct form *form, const bool *marked)
{
    struct gpu_node *last = graph->nodes[form->node];
    struct gpu_value *y = last->outputs[0];
    const float *gamma = factors(form, XS), *beta = factors(form, ONE);
    struct gpu_value *inputs[GPU_NORM_INPUTS] = {
        [GPU_NORM_X] = graph->values[match->x->id],
        [GPU_NORM_GAMMA] =
            gamma ? constant_of(graph, "gamma", gamma, match->channels) : graph->values[match->gamma->id],
        [GPU_NORM_BETA] =
            factors(form, BETA) ? graph->values[match->beta->id] : constant_of(graph, "beta", beta, match->channels),
        [GPU_NORM_EPSILON] = constant_of(graph, "epsilon", &match->epsilon, 1),
    };
    for (int i = 0; i < GPU_NORM_INPUTS; i++)
        if (!inputs[i]) return false;
    // Marked nodes are at or before the position of the last one.
    struct gpu_node *node = gpu_graph_add_node(graph, kTfLiteBuiltinCustom, form->node + 1);
    if (!node) return false;
    node->index = last->index;
    node->op = match->planes ? &gpu_op_instance_norm : &gpu_op_layer_norm;
    node->epilogue = last->epilogue;
    last->epilogue.residual = NULL; // the new node counts as its reader
    for (int n = 0; n <= form->node; n++)
        if (marked[n]) gpu_graph_remove_node(graph, graph->nodes[n]);
    for (int i = 0; i < GPU_NORM_INPUTS; i++) gpu_graph_connect_input(node, inputs[i]);
    gpu_graph_connect_output(node, y);
    if (!match->planes) take_reshapes(graph, node);
    return true;
}

static bool try_norm(struct gpu_graph *graph, int mean)
{
    const struct gpu_node *node = graph->nodes[mean];
    const struct gpu_value *x = node->inputs[0];
    if (node->dead || node->builtin != kTfLiteBuiltinMean || x->data || x->codes || node->epilogue.count) return false;
    bool planes = is_plane_mean(node);
    if (!planes && (!is_channel_mean(node) || x->shape.c < 2)) return false;
    if (x->shape.c > MAX_CHANNELS) return false;
    struct match *match = malloc(sizeof *match);
    bool *marked = malloc((size_t)graph->node_count * sizeof *marked), changed = false;
    float *memory = malloc((size_t)MAX_FORMS * MAX_TERMS * (size_t)x->shape.c * sizeof *memory);
    if (match && marked && memory) {
        *match = (struct match){.graph = graph, .x = x, .planes = planes, .channels = x->shape.c, .memory = memory};
        add_term(match, add_form(match, x, -1, FULL), X, NULL, NULL, 1);
        add_term(match, add_form(match, node->outputs[0], mean, ROW), M, NULL, NULL, 1);
        for (int n = mean + 1; n < graph->node_count; n++) follow(match, n);
        for (int i = match->count - 1; i >= 0 && !changed; i--) { // the last first: behind beta, not in front of it
            const struct form *form = &match->forms[i];
            if (!form->value || form->node < 0 || !is_normalized(match, form)) continue;
            for (int n = 0; n < graph->node_count; n++) marked[n] = false;
            mark(match, form->value, marked);
            changed = gpu_is_closed(graph, marked, form->value) && replace(graph, match, form, marked);
        }
    }
    free(memory);
    free(marked);
    free(match);
    return changed;
}

bool gpu_pass_fuse_norm(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) changed = try_norm(graph, n) || changed;
    return changed;
}
