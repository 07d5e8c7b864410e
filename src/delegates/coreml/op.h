// SPDX-License-Identifier: Apache-2.0
// What an operator is to the Core ML delegate: a row of ops.def, and a family of operators with the same checks and the
// same mapping.
#ifndef HALITE_DELEGATES_COREML_OP_H
#define HALITE_DELEGATES_COREML_OP_H

#include "delegates/coreml/model.h"
#include "tensorflow/lite/builtin_ops.h"

// A node that is being mapped.
struct coreml_node {
    const TfLiteContext *context;
    const TfLiteNode *node;
    int builtin;
};

struct coreml_family {
    signed char inputs[2]; // fewest and most
    unsigned data;         // bits of inputs that the model computes with: float32, and no constants
    unsigned maybe;        // of these, inputs that may be constants
    bool needs_params;     // builtin_data
    bool (*check)(const struct delegate_view *view); // NULL: nothing is left to check
    void (*map)(struct coreml_model *model, const struct coreml_node *node);
};

struct coreml_op {
    const char *name;
    int builtin, max_version;
    const struct coreml_family *family;
};

// NULL: the delegate has nothing for it.
const struct coreml_op *coreml_op_find(int builtin);

// clang-format off
#define COREML_FAMILIES(X)                                                                      \
    X(arithmetic) X(activation) X(hard_swish) X(softmax)                                        \
    X(conv_2d) X(depthwise_conv_2d) X(transpose_conv) X(fully_connected) X(pool) X(mean)        \
    X(concatenation) X(mirror_pad) X(pad) X(reshape) X(resize_bilinear)
// clang-format on
#define COREML_FAMILY(name) extern const struct coreml_family coreml_family_##name;
COREML_FAMILIES(COREML_FAMILY)
#undef COREML_FAMILY

static inline int coreml_input(const struct coreml_node *node, int index)
{
    return index < node->node->inputs->size ? node->node->inputs->data[index] : -1;
}
static inline int coreml_result(const struct coreml_node *node)
{
    return node->node->outputs->data[0];
}
static inline struct coreml_shape coreml_input_shape(const struct coreml_node *node, int index)
{
    return coreml_shape_of(&node->context->tensors[coreml_input(node, index)]);
}

// ---- checks that several families make

// None, or a RELU.
bool coreml_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation);
bool coreml_check_no_activation(const struct delegate_view *view, TfLiteFusedActivation activation);
// A constant of float32 or float16.
bool coreml_check_weights(const struct delegate_view *view, int input);
// The same with `count` elements, or left out.
bool coreml_check_bias(const struct delegate_view *view, int input, int64_t count);
// A constant of int32 with at least `least` and at most `most` elements.
bool coreml_check_ints(const struct delegate_view *view, int input, int least, int most);
bool coreml_check_rank(const struct delegate_view *view, int input, int rank);
bool coreml_check_strides(const struct delegate_view *view, int height, int width);

#endif
