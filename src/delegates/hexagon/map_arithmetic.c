// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors, element by element, which may be broadcast: sums, products and extremes.
#include <math.h>

#include "delegates/hexagon/op.h"

// Both tensors, then both ranges.
static void add_operands(struct hexagon_graph *graph, int a, int b)
{
    hexagon_add_data(graph, a);
    hexagon_add_data(graph, b);
    hexagon_add_range(graph, a);
    hexagon_add_range(graph, b);
}

static struct hexagon_shape result_shape(const struct hexagon_node *node)
{
    return hexagon_shape_of(hexagon_tensor(node, hexagon_out(node, 0)));
}

static struct hexagon_range result_range(const struct hexagon_node *node)
{
    return hexagon_range_of(hexagon_tensor(node, hexagon_out(node, 0)));
}

// ---- ADD and SUB --------------------------------------------------------------------------------

static TfLiteFusedActivation sum_activation(const TfLiteNode *node, const struct hexagon_op *op)
{
    return op->builtin == kTfLiteBuiltinAdd ? ((const TfLiteAddParams *)node->builtin_data)->activation
                                            : ((const TfLiteSubParams *)node->builtin_data)->activation;
}

static bool check_sum(const struct delegate_view *view, const struct hexagon_op *op)
{
    return hexagon_check_activation(view, sum_activation(view->node, op));
}

// An operation of both tensors that is told the range of its result.
static void map_in_range(struct hexagon_graph *graph, const struct hexagon_node *node, struct hexagon_range range)
{
    add_operands(graph, hexagon_in(node, 0), hexagon_in(node, 1));
    hexagon_add_ends(graph, range);
    struct hexagon_value value = hexagon_end(graph, node->op->operation, HEXAGON_PAD_NA, result_shape(node));
    hexagon_set(graph, hexagon_out(node, 0), value, result_shape(node), &range);
}

static void map_sum(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    map_in_range(graph, node, hexagon_activated(result_range(node), sum_activation(node->node, node->op)));
}

const struct hexagon_family hexagon_family_sum = {.inputs = {2, 2},
                                                  .needs_params = true,
                                                  .check = check_sum,
                                                  .map = map_sum};

// ---- MUL and SQUARED_DIFFERENCE -----------------------------------------------------------------

static bool check_product(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_activation(view, ((const TfLiteMulParams *)view->node->builtin_data)->activation);
}

// The product whose inputs have been added, of 32 bits, made 8 bits wide in this range.
static void finish_product(struct hexagon_graph *graph, const struct hexagon_node *node, struct hexagon_range range)
{
    struct hexagon_shape shape = result_shape(node);
    struct hexagon_value wide = hexagon_end_32(graph, HEXAGON_QuantizedMul_8x8to32, shape);
    struct hexagon_value product = hexagon_requantize(graph, HEXAGON_Requantize_32to8, wide, shape, range);
    hexagon_set(graph, hexagon_out(node, 0), product, shape, &range);
}

static void map_product(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    TfLiteFusedActivation activation = ((const TfLiteMulParams *)node->node->builtin_data)->activation;
    add_operands(graph, hexagon_in(node, 0), hexagon_in(node, 1));
    finish_product(graph, node, hexagon_activated(result_range(node), activation));
}

const struct hexagon_family hexagon_family_product = {.inputs = {2, 2},
                                                      .needs_params = true,
                                                      .check = check_product,
                                                      .map = map_product};

// The greatest difference that the inputs can have and whose square the output can say.
static float greatest_difference(const struct hexagon_node *node)
{
    struct hexagon_range a = hexagon_range_of(hexagon_tensor(node, hexagon_in(node, 0)));
    struct hexagon_range b = hexagon_range_of(hexagon_tensor(node, hexagon_in(node, 1)));
    return fminf(sqrtf(result_range(node).max), fmaxf(a.max - b.min, b.max - a.min));
}

static bool check_squared_difference(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    struct hexagon_range square = hexagon_range_of(delegate_output(view, 0));
    return square.max > 0 ||
           delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0), "the range of the squares is negative");
}

static void add_values(struct hexagon_graph *graph, const struct hexagon_value values[2])
{
    for (int i = 0; i < 2; i++) hexagon_add(graph, values[i].data);
    for (int i = 0; i < 2; i++) {
        hexagon_add(graph, values[i].min);
        hexagon_add(graph, values[i].max);
    }
}

// The square of |a - b|, which is the greater of max(a - b, 0) and max(b - a, 0). All 8 bits are for one sign: a
// rounding of half a step then becomes at most one step of a square with a full range, and with both signs two.
static void map_squared_difference(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    struct hexagon_shape shape = result_shape(node);
    struct hexagon_range range = {0, greatest_difference(node)};
    struct hexagon_value parts[2];
    for (int i = 0; i < 2; i++) {
        add_operands(graph, hexagon_in(node, i), hexagon_in(node, 1 - i));
        hexagon_add_ends(graph, range);
        parts[i] = hexagon_end(graph, HEXAGON_QuantizedSub_8p8to8, HEXAGON_PAD_NA, shape);
    }
    add_values(graph, parts);
    hexagon_add_ends(graph, range);
    parts[0] = parts[1] = hexagon_end(graph, HEXAGON_QuantizedMaximum_8, HEXAGON_PAD_NA, shape);
    add_values(graph, parts);
    finish_product(graph, node, result_range(node));
}

const struct hexagon_family hexagon_family_squared_difference = {.inputs = {2, 2},
                                                                 .check = check_squared_difference,
                                                                 .map = map_squared_difference};

// ---- MAXIMUM and MINIMUM ------------------------------------------------------------------------

// The runtime's kernels compare the bytes, whatever they mean.
static bool check_extreme(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteTensor *a = delegate_input(view, 0), *b = delegate_input(view, 1);
    return (a->params.scale == b->params.scale && a->params.zero_point == b->params.zero_point) ||
           delegate_refuse(view, DELEGATE_QUANTIZATION, 1, "the inputs have different scales or zero points");
}

static void map_extreme(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    map_in_range(graph, node, result_range(node));
}

const struct hexagon_family hexagon_family_extreme = {.inputs = {2, 2},
                                                      .same_scale = true,
                                                      .check = check_extreme,
                                                      .map = map_extreme};
