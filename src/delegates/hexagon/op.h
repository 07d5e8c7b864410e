// SPDX-License-Identifier: Apache-2.0
// What an operator is to the Hexagon delegate: a row of ops.def, which says its operation and element types, and a
// family of operators with the same checks and the same mapping.
#ifndef HALITE_DELEGATES_HEXAGON_OP_H
#define HALITE_DELEGATES_HEXAGON_OP_H

#include "abi/tensor.h"
#include "delegates/hexagon/graph.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

struct hexagon_op;

// A node that is being mapped.
struct hexagon_node {
    const struct hexagon_op *op;
    const TfLiteContext *context;
    const TfLiteNode *node;
};

struct hexagon_family {
    signed char inputs[2]; // fewest and most; 0: any number
    bool many_outputs;     // more than one is right
    bool needs_params;     // builtin_data
    bool same_scale;       // the operation keeps the range of input `typed`
    bool int32_result;
    signed char typed;  // the input that has the type of the row
    unsigned constants; // bits of inputs that must be constants, whatever their type
    bool (*check)(const struct delegate_view *view, const struct hexagon_op *op); // NULL: nothing is left to check
    void (*map)(struct hexagon_graph *graph, const struct hexagon_node *node);
};

struct hexagon_op {
    int builtin;
    enum hexagon_operation operation;
    int max_version;
    bool int8_only;
    const struct hexagon_family *family;
};

// NULL: Hexagon has nothing for it.
const struct hexagon_op *hexagon_op_find(int builtin);

// clang-format off
#define HEXAGON_FAMILIES(X)                                                                       \
    X(sum) X(product) X(squared_difference) X(extreme)                                            \
    X(conv_2d) X(depthwise_conv_2d) X(transpose_conv) X(fully_connected)                          \
    X(unary) X(softmax) X(l2_normalization) X(rsqrt) X(pool) X(mean) X(arg) X(resize)             \
    X(reshape) X(transpose) X(concatenation) X(pack) X(split) X(slice) X(strided_slice) X(pad) X(depth)
// clang-format on
#define HEXAGON_FAMILY(name) extern const struct hexagon_family hexagon_family_##name;
HEXAGON_FAMILIES(HEXAGON_FAMILY)
#undef HEXAGON_FAMILY

// Inputs and outputs of the node, as indices of tensors. -1: left out.
static inline int hexagon_in(const struct hexagon_node *node, int index)
{
    return index < node->node->inputs->size ? node->node->inputs->data[index] : -1;
}
static inline int hexagon_out(const struct hexagon_node *node, int index)
{
    return node->node->outputs->data[index];
}
static inline const TfLiteTensor *hexagon_tensor(const struct hexagon_node *node, int tensor)
{
    return &node->context->tensors[tensor];
}

// ---- checks that several families make

// None, RELU, RELU6 or RELU_N1_TO_1.
bool hexagon_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation);
bool hexagon_check_no_activation(const struct delegate_view *view, TfLiteFusedActivation activation);
// Strides of at most 3.
bool hexagon_check_strides(const struct delegate_view *view, int height, int width);
// A constant of this type.
bool hexagon_check_constant(const struct delegate_view *view, int input, TfLiteType type);
// Input 1 is a constant of int32: a size, axes, paddings.
bool hexagon_check_list(const struct delegate_view *view, const struct hexagon_op *op);
// It has more than one scale.
bool hexagon_by_channel(const TfLiteTensor *tensor);
static inline bool hexagon_is_8_bit(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 || tensor->type == kTfLiteUInt8;
}

#endif
