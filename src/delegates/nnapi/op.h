// SPDX-License-Identifier: Apache-2.0
// What an operator is to the NNAPI delegate: a row of ops.def, which says from which feature level each element type
// may go there, and a family of operators with the same checks and the same mapping.
#ifndef HALITE_DELEGATES_NNAPI_OP_H
#define HALITE_DELEGATES_NNAPI_OP_H

#include "abi/tensor.h"
#include "delegates/nnapi/model.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

struct nnapi_op;

// A node that is being mapped.
struct nnapi_node {
    const struct nnapi_op *op;
    const TfLiteContext *context;
    const TfLiteNode *node;
    const TfLiteRegistration *registration;
};

struct nnapi_family {
    signed char inputs[2]; // fewest and most
    signed char outputs;   // 0: one; -1: any number
    signed char typed;     // the input whose type the levels of the row speak of; -1: output 0
    signed char max_rank;  // of all tensors; 0: 4; -1: any
    bool needs_params;     // builtin_data
    bool same_scale;       // 8-bit: NNAPI gives the output the scale of the typed input
    bool takes_int16;      // beside the types of the row: symmetric 16-bit tensors
    unsigned ints;         // bits of inputs that are lists of int32, whatever the type
    bool (*check)(const struct delegate_view *view, const struct nnapi_op *op); // NULL: nothing is left to check
    void (*map)(struct nnapi_model *model, const struct nnapi_node *node);
};

struct nnapi_op {
    const char *name;
    int builtin, operation, max_version;
    int32_t f32, u8, i8, i32, f16, boolean; // feature level that brought the type; 0: none has it
    const struct nnapi_family *family;
};

// NULL: it is not sent to NNAPI.
const struct nnapi_op *nnapi_op_find(int builtin);
// Why an operator that NNAPI might have is never sent there (refused.def); NULL: no such reason is known.
const char *nnapi_op_refusal(int builtin);

// clang-format off
#define NNAPI_FAMILIES(X)                                                                                  \
    X(arithmetic) X(squared_difference) X(binary)                                                          \
    X(unary) X(rectifier) X(squash) X(softmax) X(log_softmax) X(l2_normalization) X(local_response) X(elu) \
    X(cos) X(hard_swish) X(leaky_relu) X(quantize) X(dequantize) X(cast)                                   \
    X(conv_2d) X(depthwise_conv_2d) X(transpose_conv) X(fully_connected) X(batch_matmul) X(pool)           \
    X(reshape) X(squeeze) X(expand_dims) X(transpose) X(tile) X(reverse) X(concatenation) X(pack)          \
    X(split) X(split_v) X(unpack) X(slice) X(strided_slice) X(pad) X(mirror_pad) X(space_to_batch)         \
    X(gather) X(select) X(embedding_lookup) X(fill) X(depth) X(resize) X(reduce) X(mean) X(arg) X(topk)   \
    X(hashtable_lookup) X(lsh_projection) X(rnn) X(sequence_rnn) X(svdf)                                   \
    X(lstm) X(sequence_lstm) X(bidirectional_lstm)
// clang-format on
#define NNAPI_FAMILY(name) extern const struct nnapi_family nnapi_family_##name;
NNAPI_FAMILIES(NNAPI_FAMILY)
#undef NNAPI_FAMILY

static inline const TfLiteTensor *nnapi_input(const struct nnapi_node *node, int index)
{
    const TfLiteIntArray *list = node->node->inputs;
    return index < list->size && list->data[index] >= 0 ? &node->context->tensors[list->data[index]] : NULL;
}
static inline int nnapi_input_index(const struct nnapi_node *node, int index)
{
    return index < node->node->inputs->size ? node->node->inputs->data[index] : -1;
}

// ---- checks that several families make

bool nnapi_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation);
bool nnapi_check_level(const struct delegate_view *view, int64_t level, const char *what);
bool nnapi_check_constant(const struct delegate_view *view, int input);
// A constant of int32, or of int64 whose values fit, with at most 32 elements.
bool nnapi_check_ints(const struct delegate_view *view, int input);
static inline bool nnapi_is_8_bit(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 || tensor->type == kTfLiteUInt8;
}

// ---- quantization.c

// How many scales a tensor has; 0: it is not quantized.
int nnapi_scale_count(const TfLiteTensor *tensor);
float nnapi_scale(const TfLiteTensor *tensor); // the first one
int nnapi_zero_point(const TfLiteTensor *tensor);

#endif
