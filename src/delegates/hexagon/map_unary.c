// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor whose result has its shape: activations, normalizations, changes of scale.
#include <math.h>

#include "delegates/hexagon/op.h"

static void add_input(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    hexagon_add_data(graph, hexagon_in(node, 0));
    hexagon_add_range(graph, hexagon_in(node, 0));
}

// Ends an operation that chooses the range of its result by itself.
static void finish(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, hexagon_in(node, 0)));
    struct hexagon_value value = hexagon_end(graph, node->op->operation, HEXAGON_PAD_NA, shape);
    hexagon_set(graph, hexagon_out(node, 0), value, shape, NULL);
}

static void map_unary(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    enum hexagon_operation operation = node->op->operation;
    int out = hexagon_out(node, 0);
    add_input(graph, node);
    if (operation == HEXAGON_QuantizedReluX_8) hexagon_add_float(graph, 6);
    if (operation != HEXAGON_QuantizedHardSwish_8 && operation != HEXAGON_Requantize_8to8) {
        finish(graph, node);
        return;
    }
    struct hexagon_range range = hexagon_range_of(hexagon_tensor(node, out));
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, out));
    hexagon_add_range(graph, out);
    hexagon_set(graph, out, hexagon_end(graph, operation, HEXAGON_PAD_NA, shape), shape, &range);
}

const struct hexagon_family hexagon_family_unary = {.inputs = {1, 1}, .map = map_unary};

// ---- SOFTMAX and L2_NORMALIZATION ---------------------------------------------------------------

static bool check_softmax(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return ((const TfLiteSoftmaxParams *)view->node->builtin_data)->beta > 0 ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "beta is not positive");
}

static void map_softmax(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    add_input(graph, node);
    hexagon_add_float(graph, ((const TfLiteSoftmaxParams *)node->node->builtin_data)->beta);
    finish(graph, node);
}

const struct hexagon_family hexagon_family_softmax = {.inputs = {1, 1},
                                                      .needs_params = true,
                                                      .check = check_softmax,
                                                      .map = map_softmax};

static bool check_l2_normalization(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_no_activation(view, ((const TfLiteL2NormParams *)view->node->builtin_data)->activation);
}

const struct hexagon_family hexagon_family_l2_normalization = {.inputs = {1, 1},
                                                               .needs_params = true,
                                                               .check = check_l2_normalization,
                                                               .map = map_unary};

// ---- RSQRT --------------------------------------------------------------------------------------

// The root is rounded by half a step of its 8 bits. What that makes of the quotient, most of it where the quotient is
// greatest, must be no more than one step of the output.
static bool root_is_exact_enough(const TfLiteTensor *in, const TfLiteTensor *out)
{
    double half_step = sqrt((double)hexagon_range_of(in).max) / UINT8_MAX / 2;
    double greatest = fmin((double)hexagon_range_of(out).max, 1 / sqrt((double)in->params.scale));
    double share = half_step * greatest; // of the root that belongs to the greatest quotient
    return share < 1 && greatest * share / (1 - share) <= (double)out->params.scale;
}

static bool check_rsqrt(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    const TfLiteTensor *in = delegate_input(view, 0), *out = delegate_output(view, 0);
    if (hexagon_range_of(in).min < 0)
        return delegate_refuse(view, DELEGATE_QUANTIZATION, 0, "the range of the input has negative numbers");
    return root_is_exact_enough(in, out) || delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                                                            "a root of 8 bits is too inexact for the output's scale");
}

// 1 / sqrt(x). The quotient is of flat tensors: the operation does not broadcast the one along more dimensions.
static void map_rsqrt(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteTensor *in = hexagon_tensor(node, hexagon_in(node, 0));
    struct hexagon_shape flat = {{1, 1, 1, (unsigned)hl_elements(in)}};
    struct hexagon_range one = {0, 1};
    uint8_t greatest = UINT8_MAX;
    int32_t dims[4] = {1, 1, 1, (int32_t)flat.dims[3]};
    add_input(graph, node);
    struct hexagon_value root = hexagon_end(graph, HEXAGON_QuantizedSqrt_8, HEXAGON_PAD_NA, hexagon_shape_of(in));
    hexagon_add(graph, root.data);
    hexagon_add_ints(graph, dims);
    root.data = hexagon_end_plain(graph, HEXAGON_Reshape, flat, sizeof(uint8_t));
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, 1}}, &greatest, sizeof greatest);
    hexagon_add(graph, root.data);
    hexagon_add_ends(graph, one);
    hexagon_add(graph, root.min);
    hexagon_add(graph, root.max);
    hexagon_add_range(graph, hexagon_out(node, 0));
    struct hexagon_range range = hexagon_range_of(hexagon_tensor(node, hexagon_out(node, 0)));
    struct hexagon_value quotient = hexagon_end(graph, HEXAGON_QuantizedDiv_8, HEXAGON_PAD_NA, flat);
    hexagon_set(graph, hexagon_out(node, 0), quotient, flat, &range);
}

const struct hexagon_family hexagon_family_rsqrt = {.inputs = {1, 1}, .check = check_rsqrt, .map = map_rsqrt};
