// SPDX-License-Identifier: Apache-2.0
// Operators that make planes smaller or larger, or leave axes out: pools, MEAN, ARG_MIN, ARG_MAX, RESIZE_….
#include "delegates/hexagon/op.h"

// ---- pools --------------------------------------------------------------------------------------

static bool check_pool(const struct delegate_view *view, const struct hexagon_op *op)
{
    const TfLitePoolParams *params = view->node->builtin_data;
    if (!hexagon_check_no_activation(view, params->activation)) return false;
    bool wide = params->filter_height >= 13 || params->filter_width >= 13;
    return op->builtin != kTfLiteBuiltinMaxPool2d || params->padding != kTfLitePaddingSame || !wide ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "a padded filter of 13 or more");
}

static void map_pool(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLitePoolParams *params = node->node->builtin_data;
    int in = hexagon_in(node, 0), out = hexagon_out(node, 0);
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, out));
    struct hexagon_range range = hexagon_range_of(hexagon_tensor(node, in));
    hexagon_add_data(graph, in);
    hexagon_add_range(graph, in);
    hexagon_add_window(graph, params->filter_height, params->filter_width);
    hexagon_add_window(graph, params->stride_height, params->stride_width);
    struct hexagon_value value =
        hexagon_end(graph, node->op->operation,
                    params->padding == kTfLitePaddingSame ? HEXAGON_PAD_SAME : HEXAGON_PAD_VALID, shape);
    // Averages come in a range of the operation's choice.
    hexagon_set(graph, out, value, shape, node->op->builtin == kTfLiteBuiltinMaxPool2d ? &range : NULL);
}

const struct hexagon_family hexagon_family_pool = {
    .inputs = {1, 1}, .needs_params = true, .same_scale = true, .check = check_pool, .map = map_pool};

// ---- MEAN ---------------------------------------------------------------------------------------

static void map_mean(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int in = hexagon_in(node, 0), out = hexagon_out(node, 0);
    const TfLiteTensor *list = hexagon_tensor(node, hexagon_in(node, 1));
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, in));
    bool reduced[4] = {false};
    for (int i = 0; i < hl_elements(list); i++)
        reduced[hexagon_axis((int)hl_integer_at(list, i), hl_rank(hexagon_tensor(node, in)))] = true;
    int32_t axes[4];
    unsigned count = 0;
    for (int i = 0; i < 4; i++) {
        if (!reduced[i]) continue;
        axes[count++] = i;
        shape.dims[i] = 1;
    }
    hexagon_add_data(graph, in);
    hexagon_add_range(graph, in);
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, count}}, axes, count * sizeof *axes);
    hexagon_add_range(graph, out);
    hexagon_set(graph, out, hexagon_end(graph, HEXAGON_QuantizedMean_8, HEXAGON_PAD_NA, shape), shape, NULL);
}

static bool check_mean(const struct delegate_view *view, const struct hexagon_op *op)
{
    return hexagon_check_list(view, op) && (hl_elements(delegate_input(view, 1)) > 0 ||
                                            delegate_refuse(view, DELEGATE_PARAMETER, 1, "no axis is to be reduced"));
}

const struct hexagon_family hexagon_family_mean = {.inputs = {2, 2},
                                                   .constants = 1 << 1,
                                                   .check = check_mean,
                                                   .map = map_mean};

// ---- ARG_MIN and ARG_MAX ------------------------------------------------------------------------

static void map_arg(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int in = hexagon_in(node, 0);
    const TfLiteTensor *list = hexagon_tensor(node, hexagon_in(node, 1));
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, in));
    int axis = hexagon_axis((int)hl_integer_at(list, 0), hl_rank(hexagon_tensor(node, in)));
    shape.dims[axis] = 1;
    hexagon_add_data(graph, in);
    hexagon_add_int(graph, axis);
    hexagon_add_range(graph, in);
    hexagon_set_data(graph, hexagon_out(node, 0), hexagon_end_plain(graph, node->op->operation, shape, sizeof(int32_t)),
                     shape);
}

const struct hexagon_family hexagon_family_arg = {
    .inputs = {2, 2}, .constants = 1 << 1, .int32_result = true, .check = hexagon_check_list, .map = map_arg};

// ---- RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR ------------------------------------------------

static void map_resize(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int in = hexagon_in(node, 0), out = hexagon_out(node, 0);
    bool bilinear = node->op->builtin == kTfLiteBuiltinResizeBilinear;
    const TfLiteResizeBilinearParams *smooth = node->node->builtin_data;
    const TfLiteResizeNearestNeighborParams *nearest = node->node->builtin_data;
    struct hexagon_shape shape = hexagon_shape_of(hexagon_tensor(node, out));
    int32_t size[2] = {(int32_t)shape.dims[1], (int32_t)shape.dims[2]};
    hexagon_add_data(graph, in);
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, 2}}, size, sizeof size);
    hexagon_add_range(graph, in);
    hexagon_add_int(graph, bilinear ? smooth->align_corners : nearest->align_corners);
    hexagon_add_int(graph, bilinear ? smooth->half_pixel_centers : nearest->half_pixel_centers);
    hexagon_set_data(graph, out, hexagon_end(graph, node->op->operation, HEXAGON_PAD_NA, shape).data, shape);
}

const struct hexagon_family hexagon_family_resize = {.inputs = {2, 2},
                                                     .needs_params = true,
                                                     .same_scale = true,
                                                     .constants = 1 << 1,
                                                     .check = hexagon_check_list,
                                                     .map = map_resize};
