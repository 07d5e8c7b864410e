// SPDX-License-Identifier: Apache-2.0
// Finds attention and makes one node of it:
//   fuse_attention   softmax(q k^T * number + mask) v   =>   ATTENTION
// as converters write it: BATCH_MATMUL, perhaps MUL or DIV by a number, perhaps ADD of a mask, SOFTMAX, BATCH_MATMUL,
// with reshapes of batches and heads anywhere between, and k as it is or transposed. A mask may also be SELECT_V2 with
// constants. The scores, which have a number for each row and each key, are then never stored. Nobody else may read
// what lies between, and nothing is computed twice: each key's score once for each row, as before. So the node never
// moves more bytes than the operators did.
//
// Heads that are channels next to each other, [b, w, heads * c], are read and written as they are, without the RESHAPE
// and TRANSPOSE that make [b, heads, w, c] of them: their slices lie in memory as those of as many batches.
#include <string.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "tensorflow/lite/builtin_ops.h"

// Channels of q, k and v that the kernel takes: it has 32 work-items for the slices of an output row.
enum { MAX_CHANNELS = 128, MAX_BATCHES = 65535, MAX_ROWS = 65535 };

// A value, and its matrices as [b, heads, w, c]: its own shape, or that of the heads among its channels.
struct matrices {
    struct gpu_value *value; // NULL: none
    struct gpu_shape shape;
};

struct attention {
    struct gpu_node *chain[16]; // all nodes, from the first product to the last
    int count;
    struct matrices q, k, v;
    struct gpu_value *mask;         // NULL if there is none
    const struct gpu_node *selects; // a SELECT_V2 that is one
    const struct gpu_value *masked; // what it was added to
    float scale, beta;
};

static bool is_plain(const struct gpu_node *node, int builtin)
{
    return node && !node->dead && node->builtin == builtin && !node->op->integers && node->epilogue.count == 0 &&
           node->output_count == 1;
}

static bool is_reshape(const struct gpu_node *node)
{
    return is_plain(node, kTfLiteBuiltinReshape) || is_plain(node, kTfLiteBuiltinSqueeze) ||
           is_plain(node, kTfLiteBuiltinExpandDims);
}

// Whether two values have the same last two axes, and at least one before them.
static bool same_matrices(const struct gpu_value *a, const struct gpu_value *b)
{
    return a->rank >= 3 && b->rank >= 3 && a->dims[a->rank - 1] == b->dims[b->rank - 1] &&
           a->dims[a->rank - 2] == b->dims[b->rank - 2];
}

static int64_t batches_of(struct gpu_shape shape)
{
    return (int64_t)shape.b * shape.h;
}

// Whether a node transposes four axes in this order.
static bool is_order(const struct gpu_node *node, int first, int second, int third, int fourth)
{
    if (!is_plain(node, kTfLiteBuiltinTranspose) || node->inputs[0]->rank != 4 || !node->inputs[1]->data) return false;
    const int order[4] = {first, second, third, fourth};
    for (int i = 0; i < 4; i++)
        if ((gpu_constant_int(node->inputs[1], i) + 4) % 4 != order[i]) return false;
    return true;
}

// Finds the value [b, w, heads * c] of which a value [b, w, heads, c] is a reshape, if its heads begin at slices.
static bool find_heads(const struct gpu_value *split, struct matrices *found)
{
    const struct gpu_node *reshape = split->producer;
    if (!reshape || !is_reshape(reshape) || split->rank != 4) return false;
    const struct gpu_shape s = split->shape; // [b, w, heads, c]
    struct gpu_value *x = reshape->inputs[0];
    if (x->data || x->codes || x->shape.b != s.b || x->shape.h != 1 || x->shape.w != s.h || s.c % 4 != 0 ||
        x->shape.c != s.w * s.c)
        return false;
    *found = (struct matrices){x, {s.b, s.w, s.h, s.c}};
    return true;
}

static bool swaps_last_two(const struct gpu_node *node)
{
    const struct gpu_value *order = node->inputs[1];
    int rank = node->inputs[0]->rank;
    if (!is_plain(node, kTfLiteBuiltinTranspose) || rank < 3 || !order || !order->data) return false;
    for (int i = 0; i < rank; i++) {
        int axis = gpu_constant_int(order, i), expected = i < rank - 2 ? i : 2 * rank - 3 - i;
        if ((axis < 0 ? axis + rank : axis) != expected) return false;
    }
    return true;
}

// Finds the value of matrices of which these are a reshape of the batches or the heads, or, if `transposed`, the
// transposition.
static struct matrices find_matrices(struct gpu_value *value, bool transposed)
{
    struct matrices found = {.value = NULL};
    for (;;) {
        struct gpu_node *node = value->producer;
        if (node && is_reshape(node) && same_matrices(node->inputs[0], value)) {
            value = node->inputs[0];
        } else if (node && transposed && swaps_last_two(node)) {
            value = node->inputs[0];
            transposed = false;
        } else {
            bool splits = node && (transposed ? is_order(node, 0, 2, 3, 1) : is_order(node, 0, 2, 1, 3));
            if (splits && find_heads(node->inputs[0], &found)) return found;
            if (!transposed && value->rank >= 3 && !value->data && !value->codes)
                found = (struct matrices){value, value->shape};
            return found;
        }
    }
}

static struct gpu_node *reader_of(const struct gpu_graph *graph, const struct gpu_value *value)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->input_count && !graph->nodes[n]->dead; i++)
            if (graph->nodes[n]->inputs[i] == value) return graph->nodes[n];
    return NULL;
}

static bool add_to_chain(struct attention *found, struct gpu_node *node)
{
    if (found->count == sizeof found->chain / sizeof *found->chain) return false;
    found->chain[found->count++] = node;
    return true;
}

// Whether a node multiplies or divides by a number; multiplies *scale by it.
static bool is_scaling(const struct gpu_node *node, int *through, float *scale)
{
    bool product = is_plain(node, kTfLiteBuiltinMul);
    if (!product && !is_plain(node, kTfLiteBuiltinDiv)) return false;
    for (int i = 0; i < (product ? 2 : 1); i++) {
        const struct gpu_value *number = node->inputs[1 - i];
        if (!number->data || gpu_elements(number->shape) != 1 || node->inputs[i]->rank != node->outputs[0]->rank ||
            (!product && number->data[0] == 0))
            continue;
        *through = i;
        *scale = product ? *scale * number->data[0] : *scale / number->data[0];
        return true;
    }
    return false;
}

// Whether `mask` has, beside the scores, the length 1 or the same along each axis, and all keys.
static bool is_mask(const struct gpu_value *mask, const struct gpu_value *scores)
{
    int skipped = scores->rank - mask->rank;
    if (scores->rank > 4 || mask->rank < 1 || skipped < 0 || mask->codes) return false;
    for (int i = 0; i < mask->rank; i++)
        if (mask->dims[i] != scores->dims[skipped + i] && (mask->dims[i] != 1 || i == mask->rank - 1)) return false;
    return true;
}

// Whether the node adds a mask to the scores; which input has the scores. Of two that could, the scores are those that
// nobody else reads.
static bool is_masking(const struct gpu_node *node, int *through)
{
    if (!is_plain(node, kTfLiteBuiltinAdd) || node->outputs[0]->type == kTfLiteFloat16) return false;
    for (int i = 0; i < 2; i++) {
        const struct gpu_value *scores = node->inputs[i], *mask = node->inputs[1 - i];
        if (scores->rank != node->outputs[0]->rank || !gpu_same_shape(scores->shape, node->outputs[0]->shape)) continue;
        if (!gpu_is_private(scores) || mask == scores || !is_mask(mask, scores)) continue;
        *through = i;
        return true;
    }
    return false;
}

// Whether a constant is true for one key of each row at least: a row without any has equal shares.
static bool leaves_keys(const struct gpu_value *truths)
{
    const int keys = truths->dims[truths->rank - 1];
    for (int64_t i = 0, end = gpu_elements(truths->shape); i < end; i += keys) {
        int k = 0;
        while (k < keys && truths->data[i + k] == 0) k++;
        if (k == keys) return false;
    }
    return true;
}

// Whether the node gives the scores where a constant is true, and elsewhere a number so low that no share is left, as
// -65504 is, the lowest half.
static bool is_selecting(const struct gpu_node *node)
{
    if (!is_plain(node, kTfLiteBuiltinSelectV2) || node->outputs[0]->type == kTfLiteFloat16) return false;
    const struct gpu_value *truths = node->inputs[0], *scores = node->inputs[1], *number = node->inputs[2];
    return truths->data && number->data && gpu_elements(number->shape) == 1 && number->data[0] <= -3.0e4f &&
           is_mask(truths, scores) && leaves_keys(truths) && scores->rank == node->outputs[0]->rank &&
           gpu_same_shape(scores->shape, node->outputs[0]->shape);
}

// From the softmax back to the product that makes the scores.
static bool follow_back(struct attention *found, struct gpu_node *softmax)
{
    struct gpu_value *value = softmax->inputs[0];
    for (;;) {
        struct gpu_node *node = value->producer;
        int through = 0;
        if (!node || !gpu_is_private(value) || !add_to_chain(found, node)) return false;
        if (is_plain(node, kTfLiteBuiltinBatchMatmul)) {
            const TfLiteBatchMatMulParams *params = node->params;
            found->q = find_matrices(node->inputs[0], params->adj_x);
            found->k = find_matrices(node->inputs[1], !params->adj_y);
            return found->q.value && found->k.value && batches_of(found->q.shape) == batches_of(value->shape);
        }
        if (is_reshape(node)) {
            if (!same_matrices(node->inputs[0], value)) return false;
        } else if (is_masking(node, &through)) {
            if (found->mask || found->scale != 1) return false;
            found->mask = node->inputs[1 - through];
            found->masked = node->outputs[0];
        } else if (is_selecting(node)) {
            if (found->mask || found->scale != 1) return false;
            through = 1;
            found->mask = node->inputs[0];
            found->selects = node;
            found->masked = node->outputs[0];
        } else if (!is_scaling(node, &through, &found->scale)) {
            return false;
        }
        value = node->inputs[through];
    }
}

// From the softmax on to the product with v.
static bool follow_on(const struct gpu_graph *graph, struct attention *found, const struct gpu_node *softmax)
{
    struct gpu_value *value = softmax->outputs[0];
    for (;;) {
        struct gpu_node *node = gpu_is_private(value) ? reader_of(graph, value) : NULL;
        if (!node || !add_to_chain(found, node)) return false;
        if (is_plain(node, kTfLiteBuiltinBatchMatmul)) {
            const TfLiteBatchMatMulParams *params = node->params;
            if (node->inputs[0] != value || params->adj_x || node->outputs[0]->rank < 3) return false;
            found->v = find_matrices(node->inputs[1], params->adj_y);
            return found->v.value != NULL;
        }
        if (!is_reshape(node) || !same_matrices(value, node->outputs[0])) return false;
        value = node->outputs[0];
    }
}

static bool fits(const struct attention *found, const struct gpu_value *y)
{
    struct gpu_shape q = found->q.shape, k = found->k.shape, v = found->v.shape;
    int64_t batches = batches_of(q);
    return batches_of(k) == batches && batches_of(v) == batches && batches_of(y->shape) == batches &&
           batches <= MAX_BATCHES && q.w <= MAX_ROWS && k.c == q.c && v.w == k.w && q.c <= MAX_CHANNELS &&
           v.c <= MAX_CHANNELS && y->shape.w == q.w && y->shape.c == v.c;
}

// ---- one node in place of them --------------------------------------------------------------------------------------

// Removes what made a value that is no longer read, back to what is.
static void remove_unread(struct gpu_graph *graph, struct gpu_value *value)
{
    while (value->consumers == 0 && !value->is_output && value->producer && value->producer->output_count == 1) {
        struct gpu_node *node = value->producer;
        if (!is_reshape(node) && !is_plain(node, kTfLiteBuiltinTranspose)) return;
        value = node->inputs[0];
        gpu_graph_remove_node(graph, node);
    }
}

static void take_reshape(struct gpu_graph *graph, struct gpu_node *node)
{
    struct gpu_value *y = node->outputs[0];
    struct gpu_node *after = gpu_is_private(y) ? reader_of(graph, y) : NULL;
    if (after && is_reshape(after) && same_matrices(y, after->outputs[0])) gpu_take_over_output(graph, node, after);
}

// Lets the node write its heads as channels next to each other, where a TRANSPOSE and a RESHAPE do that.
static void join_heads(struct gpu_graph *graph, struct gpu_node *node)
{
    struct gpu_value *y = node->outputs[0];
    struct gpu_node *transpose = gpu_is_private(y) ? reader_of(graph, y) : NULL;
    if (!transpose || !is_order(transpose, 0, 2, 1, 3) || !gpu_is_private(transpose->outputs[0])) return;
    struct gpu_node *reshape = reader_of(graph, transpose->outputs[0]);
    struct gpu_shape heads = y->shape;
    if (!reshape || !is_reshape(reshape) || heads.c % 4 != 0) return;
    const struct gpu_shape joined = {heads.b, 1, heads.w, heads.h * heads.c};
    if (!gpu_same_shape(reshape->outputs[0]->shape, joined)) return;
    gpu_take_over_output(graph, node, transpose);
    gpu_take_over_output(graph, node, reshape);
}

// The mask of a SELECT_V2: what it adds to scores.
static struct gpu_value *added_mask(struct gpu_graph *graph, const struct gpu_node *selects)
{
    const struct gpu_value *truths = selects->inputs[0];
    struct gpu_value *mask = gpu_graph_add_constant(graph, "mask", truths->shape);
    if (!mask) return NULL;
    mask->rank = truths->rank;
    memcpy(mask->dims, truths->dims, sizeof mask->dims);
    for (int64_t i = 0; i < gpu_elements(truths->shape); i++)
        mask->data[i] = truths->data[i] != 0 ? 0 : selects->inputs[2]->data[0];
    return mask;
}

// The numbers that the kernel gets: scale, beta, the mask's axes b, h and w, heads of the scores that it is added to,
// channels of a head of q and k, and of v.
static struct gpu_value *numbers_of(struct gpu_graph *graph, const struct attention *found)
{
    struct gpu_value *numbers = gpu_graph_add_constant(graph, "numbers", (struct gpu_shape){1, 1, 1, 8});
    if (!numbers) return NULL;
    numbers->data[0] = found->scale;
    numbers->data[1] = found->beta;
    numbers->data[6] = (float)found->q.shape.c;
    numbers->data[7] = (float)found->v.shape.c;
    if (!found->mask) return numbers;
    int dims[GPU_MAX_RANK], rank = found->masked->rank, skipped = rank - found->mask->rank;
    for (int i = 0; i < rank; i++) dims[i] = i < skipped ? 1 : found->mask->dims[i - skipped];
    struct gpu_shape seen = gpu_shape_from(rank, dims);
    numbers->data[2] = (float)seen.b;
    numbers->data[3] = (float)seen.h;
    numbers->data[4] = (float)seen.w;
    numbers->data[5] = (float)found->masked->shape.h;
    return numbers;
}

static bool replace(struct gpu_graph *graph, const struct attention *found, struct gpu_node *last)
{
    struct gpu_value *y = last->outputs[0], *numbers = numbers_of(graph, found);
    struct gpu_value *mask = found->selects ? added_mask(graph, found->selects) : found->mask;
    if (!numbers || (found->mask && !mask)) return false;
    int position = 0;
    while (graph->nodes[position] != last) position++;
    struct gpu_node *node = gpu_graph_add_node(graph, kTfLiteBuiltinCustom, position + 1);
    if (!node) return false;
    node->index = last->index;
    node->op = &gpu_op_attention;
    struct gpu_value *inputs[] = {[GPU_ATTENTION_Q] = found->q.value,
                                  [GPU_ATTENTION_K] = found->k.value,
                                  [GPU_ATTENTION_V] = found->v.value,
                                  [GPU_ATTENTION_NUMBERS] = numbers,
                                  [GPU_ATTENTION_MASK] = mask};
    for (int i = 0; i < GPU_ATTENTION_INPUTS; i++) gpu_graph_connect_input(node, inputs[i]);
    for (int i = 0; i < found->count; i++) {
        struct gpu_node *gone = found->chain[i];
        struct gpu_value *read[2] = {gone->inputs[0], gone->input_count > 1 ? gone->inputs[1] : NULL};
        gpu_graph_remove_node(graph, gone);
        for (int k = 0; k < 2; k++)
            if (read[k]) remove_unread(graph, read[k]);
    }
    gpu_graph_connect_output(node, y);
    take_reshape(graph, node);
    join_heads(graph, node);
    return true;
}

static bool try_attention(struct gpu_graph *graph, struct gpu_node *softmax)
{
    if (!is_plain(softmax, kTfLiteBuiltinSoftmax) || !softmax->params || softmax->inputs[0]->rank < 3) return false;
    struct attention found = {.scale = 1, .beta = ((const TfLiteSoftmaxParams *)softmax->params)->beta};
    if (!follow_back(&found, softmax) || !add_to_chain(&found, softmax) || !follow_on(graph, &found, softmax))
        return false;
    struct gpu_node *last = found.chain[found.count - 1];
    return fits(&found, last->outputs[0]) && replace(graph, &found, last);
}

bool gpu_pass_fuse_attention(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) changed = try_attention(graph, graph->nodes[n]) || changed;
    return changed;
}
