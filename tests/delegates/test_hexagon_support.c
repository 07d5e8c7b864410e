// SPDX-License-Identifier: Apache-2.0
// Which nodes the Hexagon delegate takes: each operator of the original's delegate, up to the version that it has
// there, and what it may not have, with a reason that docs/delegates.md tells. The tables of the delegate are asked
// directly, about nodes without a graph.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "delegates/hexagon/op.h"
#include "support/text_file.h"

// ---- the list -----------------------------------------------------------------------------------

// X(operator, highest version): those of the original's delegate. SUM, which has an operation too, is not among them.
// clang-format off
#define OPERATORS(X)                                                                                             \
    X(Add, 2) X(Sub, 2) X(Mul, 2) X(Conv2d, 3) X(DepthwiseConv2d, 3) X(TransposeConv, 3) X(FullyConnected, 4)    \
    X(AveragePool2d, 2) X(MaxPool2d, 2) X(Mean, 2) X(Split, 2) X(Slice, 2) X(StridedSlice, 2) X(Pad, 2)          \
    X(MirrorPad, 2) X(ResizeBilinear, 3) X(ResizeNearestNeighbor, 3) X(ArgMin, 2) X(ArgMax, 2)                   \
    X(SquaredDifference, 2) X(Rsqrt, 2) X(Concatenation, 2) X(Reshape, 2) X(Softmax, 2) X(HardSwish, 2)          \
    X(Relu, 2) X(Relu6, 2) X(Tanh, 2) X(Logistic, 2) X(L2Normalization, 2) X(Neg, 2) X(Transpose, 2)             \
    X(SpaceToDepth, 2) X(DepthToSpace, 2) X(Quantize, 2) X(Minimum, 2) X(Maximum, 2) X(Pack, 2)
// clang-format on

static void each_operator_is_mapped(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int builtin, version;
    } operators[] = {
#define X(name, version) {#name, kTfLiteBuiltin##name, version},
        OPERATORS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const struct hexagon_op *op = hexagon_op_find(operators[i].builtin);
        if (!op) fail_msg("%s is not mapped", operators[i].name);
        if (op->max_version != operators[i].version)
            fail_msg("%s goes up to version %d", operators[i].name, op->max_version);
    }
    assert_null(hexagon_op_find(kTfLiteBuiltinSum));
}

// ---- nodes --------------------------------------------------------------------------------------

enum { INPUTS = 4 };

struct operand {
    TfLiteType type;
    int rank, dims[5];
    bool constant;
    int channels; // with so many scales
    float scale;  // 0: 0.1, with zero point 0; else with -128
};

struct node {
    int builtin, version;
    const void *params;
    struct operand output, inputs[INPUTS];
};

// clang-format off
#define DIMS(...) .rank = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .dims = {__VA_ARGS__}
#define VALUES(type_, ...) {.type = kTfLite##type_, DIMS(__VA_ARGS__)}
#define SCALED(scale_, ...) {.type = kTfLiteInt8, .scale = (scale_), DIMS(__VA_ARGS__)}
#define CONSTANT(type_, ...) {.type = kTfLite##type_, .constant = true, DIMS(__VA_ARGS__)}
#define BY_CHANNEL(count_, ...) {.type = kTfLiteInt8, .constant = true, .channels = (count_), DIMS(__VA_ARGS__)}
#define LIST(count_) CONSTANT(Int32, count_)
#define PLANE VALUES(Int8, 1, 8, 8, 4)
#define PARAMS(type_, ...) &(const TfLite##type_##Params){__VA_ARGS__}

// NODE(operator, version, options, output, inputs ...)
#define NODE(name_, version_, params_, output_, ...) \
    {kTfLiteBuiltin##name_, version_, params_, output_, {__VA_ARGS__}}
#define ADD(version_, type_, activation_, ...)                                              \
    NODE(Add, version_, PARAMS(Add, .activation = kTfLiteAct##activation_),                 \
         VALUES(type_, __VA_ARGS__), VALUES(type_, __VA_ARGS__), VALUES(type_, __VA_ARGS__))
#define CONV(stride_, dilation_, depth_, bias_)                                                          \
    NODE(Conv2d, 3,                                                                                      \
         PARAMS(Conv, .stride_height = stride_, .stride_width = 1, .dilation_height_factor = dilation_,  \
                .dilation_width_factor = 1),                                                             \
         VALUES(Int8, 1, 6, 6, 6), PLANE, CONSTANT(Int8, 6, 3, 3, depth_), bias_)
#define DEPTHWISE(stride_, dilation_, height_, depth_, channels_)                                            \
    NODE(DepthwiseConv2d, 3,                                                                                 \
         PARAMS(DepthwiseConv, .stride_height = stride_, .stride_width = stride_,                            \
                .dilation_height_factor = dilation_, .dilation_width_factor = dilation_),                    \
         VALUES(Int8, 1, 4, 4, channels_), VALUES(Int8, 1, 8, 8, depth_),                                    \
         CONSTANT(Int8, 1, height_, 3, channels_), LIST(channels_))
#define TRANSPOSED(stride_)                                                                           \
    NODE(TransposeConv, 3, PARAMS(TransposeConv, .stride_height = stride_, .stride_width = 1), PLANE, \
         LIST(4), CONSTANT(Int8, 4, 3, 3, 4), PLANE)
#define CONNECTED(weights_, bias_, ...)                                                                   \
    NODE(FullyConnected, 4, PARAMS(FullyConnected, __VA_ARGS__), VALUES(Int8, 1, 5), VALUES(Int8, 1, 8), \
         weights_, bias_)
#define POOL(name_, size_, padding_, activation_)                                                            \
    NODE(name_, 2,                                                                                           \
         PARAMS(Pool, .padding = kTfLitePadding##padding_, .filter_height = size_, .filter_width = size_,    \
                .stride_height = 1, .stride_width = 1, .activation = kTfLiteAct##activation_),               \
         VALUES(Int8, 1, 4, 4, 4), VALUES(Int8, 1, 16, 16, 4))
#define STRIDED(...) NODE(StridedSlice, 2, PARAMS(StridedSlice, __VA_ARGS__), PLANE, PLANE, LIST(4), LIST(4), LIST(4))
#define JOINED(type_, activation_)                                                                         \
    NODE(Concatenation, 2, PARAMS(Concatenation, .axis = 1, .activation = kTfLiteAct##activation_),        \
         VALUES(Int8, 1, 8), VALUES(Int8, 1, 4), VALUES(type_, 1, 4))
#define PAIR(name_, type_) \
    NODE(name_, 2, NULL, VALUES(type_, 1, 4), VALUES(type_, 1, 4), VALUES(type_, 1, 4))
#define ARG(name_, type_, axis_type_) \
    NODE(name_, 2, PARAMS(name_, .output_type = kTfLite##type_), VALUES(type_, 1, 8, 8), PLANE, CONSTANT(axis_type_, 1))
#define OF_LIST(name_, params_, ...) NODE(name_, 2, params_, PLANE, PLANE, __VA_ARGS__)
#define REDUCED PARAMS(Reducer, .keep_dims = true)

static const char not_constant[] = "must be a constant";
static const char not_8_bit[] = "Hexagon computes with 8 bits, this is float32";
static const char has_activation[] = "it has a fused activation, which Hexagon's has not";
static const char wide_stride[] = "Hexagon has 1 to 3";
static const char shuffled[] = "it keeps dimensions, or its weights are shuffled";
static const char other_axes[] = "it has an ellipsis, a new axis, or ends that are offsets";
static const char only_int8[] = "this operator is for int8 alone, this is uint8";

// Of each operator with a condition: nodes that meet it, and one for each way not to.
static const struct row {
    struct node node;
    const char *reason; // what the reason ends with, and what the documents say; NULL: it is taken
} rows[] = {
    {ADD(2, Int8, Relu6, 1, 8), NULL},
    {ADD(2, Int8, Tanh, 1, 8), "is none of Hexagon's"},
    {ADD(3, Int8, None, 1, 8), "version 3; Hexagon has it up to version 2"},
    {ADD(2, Float32, None, 1, 8), not_8_bit},
    {ADD(2, Int8, None, 1, 1, 1, 1, 8), "Hexagon has tensors of at most 4 dimensions"},
    {CONV(3, 1, 4, LIST(6)), NULL},
    {CONV(4, 1, 4, LIST(6)), wide_stride},
    {CONV(1, 2, 4, LIST(6)), "dilation 2x1; Hexagon has none here"},
    {CONV(1, 1, 2, LIST(6)), "convolutions in groups"},
    {CONV(1, 1, 4, VALUES(Int32, 6)), not_constant},
    {DEPTHWISE(3, 1, 3, 4, 4), NULL},
    {DEPTHWISE(1, 2, 3, 4, 4), NULL},
    {DEPTHWISE(1, 1, 3, 1, 8), NULL},
    {DEPTHWISE(4, 1, 3, 4, 4), wide_stride},
    {DEPTHWISE(2, 2, 3, 4, 4), "dilation with strides"},
    {DEPTHWISE(1, 1, 3, 4, 8), "multiplier 2 of 4 channels; Hexagon has 1 of many"},
    {DEPTHWISE(1, 1, 1, 4, 4), "a filter of height 1; Hexagon's have at least 2"},
    {TRANSPOSED(3), NULL},
    {TRANSPOSED(4), wide_stride},
    {CONNECTED(CONSTANT(Int8, 5, 8), LIST(5), .activation = kTfLiteActRelu), NULL},
    {CONNECTED(CONSTANT(Int8, 5, 8), LIST(5), .keep_num_dims = true), shuffled},
    {CONNECTED(CONSTANT(Int8, 5, 8), LIST(5),
               .weights_format = kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8), shuffled},
    {CONNECTED(BY_CHANNEL(5, 5, 8), LIST(5), .activation = kTfLiteActNone),
     "only weights of convolutions have scales by channel"},
    {CONNECTED(CONSTANT(Int8, 5, 8), VALUES(Int32, 5), .activation = kTfLiteActNone), not_constant},
    {POOL(AveragePool2d, 13, Same, None), NULL},
    {POOL(AveragePool2d, 2, Same, Relu), has_activation},
    {POOL(MaxPool2d, 12, Same, None), NULL},
    {POOL(MaxPool2d, 13, Valid, None), NULL},
    {POOL(MaxPool2d, 13, Same, None), "a padded filter of 13 or more"},
    {POOL(MaxPool2d, 2, Same, Relu6), has_activation},
    {OF_LIST(Mean, REDUCED, LIST(2)), NULL},
    {OF_LIST(Mean, REDUCED, VALUES(Int32, 2)), not_constant},
    {OF_LIST(Sum, REDUCED, LIST(2)), "Hexagon's sum is not among the operations that the original sends"},
    {OF_LIST(Pad, NULL, CONSTANT(Int32, 4, 2)), NULL},
    {OF_LIST(Pad, NULL, VALUES(Int32, 4, 2)), not_constant},
    {OF_LIST(Pad, NULL, CONSTANT(Int32, 4, 2), CONSTANT(Int8, 1)), "3 inputs; Hexagon has 2 to 2"},
    {OF_LIST(MirrorPad, PARAMS(MirrorPadding, .mode = kTfLiteMirrorPaddingReflect), VALUES(Int32, 4, 2)), not_constant},
    {OF_LIST(Transpose, NULL, VALUES(Int32, 4)), not_constant},
    {OF_LIST(Slice, NULL, LIST(4), LIST(4)), NULL},
    {OF_LIST(Slice, NULL, LIST(4), VALUES(Int32, 4)), not_constant},
    {OF_LIST(ResizeBilinear, PARAMS(ResizeBilinear, .align_corners = true), VALUES(Int32, 2)), not_constant},
    {OF_LIST(ResizeNearestNeighbor, PARAMS(ResizeNearestNeighbor, .align_corners = true), VALUES(Int32, 2)),
     not_constant},
    {NODE(Split, 2, PARAMS(Split, .num_splits = 1), PLANE, LIST(1), PLANE), NULL},
    {NODE(Split, 2, PARAMS(Split, .num_splits = 1), PLANE, VALUES(Int32, 1), PLANE), not_constant},
    {STRIDED(.begin_mask = 1), NULL},
    {STRIDED(.ellipsis_mask = 1), other_axes},
    {STRIDED(.new_axis_mask = 1), other_axes},
    {ARG(ArgMax, Int32, Int32), NULL},
    {ARG(ArgMax, Int32, Int64), "input 1 is int64, expected int32"},
    {ARG(ArgMin, Int64, Int32), "the result is int64, Hexagon's is int32"},
    {PAIR(SquaredDifference, Int8), NULL},
    {PAIR(SquaredDifference, UInt8), only_int8},
    {NODE(Rsqrt, 2, NULL, VALUES(UInt8, 1, 4), VALUES(UInt8, 1, 4)), only_int8},
    {NODE(Rsqrt, 2, NULL, SCALED(1.0f / 255, 1, 4), SCALED(0.0125f, 1, 4)), NULL},
    {NODE(Rsqrt, 2, NULL, SCALED(0.02f, 1, 4), SCALED(0.0125f, 1, 4)),
     "a root of 8 bits is too inexact for the output's scale"},
    {PAIR(Maximum, UInt8), NULL},
    {NODE(Maximum, 2, NULL, VALUES(Int8, 1, 4), VALUES(Int8, 1, 4), SCALED(0.1f, 1, 4)),
     "the inputs have different scales or zero points"},
    {NODE(Reshape, 2, NULL, VALUES(Int8, 4), VALUES(Int8, 1, 4)), NULL},
    {NODE(Reshape, 2, NULL, SCALED(0.1f, 4), VALUES(Int8, 1, 4)),
     "input and output have different types, scales or zero points"},
    {JOINED(Int8, None), NULL},
    {JOINED(Float32, None), not_8_bit},
    {JOINED(Int8, Relu), has_activation},
    {NODE(L2Normalization, 2, PARAMS(L2Norm, .activation = kTfLiteActRelu), VALUES(Int8, 1, 4), VALUES(Int8, 1, 4)),
     has_activation},
    {NODE(Quantize, 2, NULL, VALUES(Int8, 1, 4), VALUES(UInt8, 1, 4)), NULL},
    {NODE(Quantize, 2, NULL, VALUES(Int8, 1, 4), VALUES(Float32, 1, 4)), not_8_bit},
    {NODE(Ceil, 1, NULL, VALUES(Float32, 1), VALUES(Float32, 1)), "Hexagon does not have the operator"},
};
// clang-format on

// ---- what the delegate says ---------------------------------------------------------------------

static TfLiteTensor tensor_of(const struct operand *operand, TfLiteIntArray **dims)
{
    static int64_t zeros[512];
    static float scales[8] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    static TfLiteAffineQuantization by_channel;
    TfLiteTensor tensor = {.type = operand->type, .params = {0.1f, 0}, .data.raw = (char *)zeros};
    if (operand->scale > 0) tensor.params = (TfLiteQuantizationParams){operand->scale, -128};
    tensor.allocation_type = operand->constant ? kTfLiteMmapRo : kTfLiteArenaRw;
    tensor.dims = *dims = delegate_int_array(operand->rank);
    assert_non_null(tensor.dims);
    memcpy(tensor.dims->data, operand->dims, (size_t)operand->rank * sizeof(int));
    if (operand->channels > 0) {
        static struct {
            int size;
            float data[8];
        } list;
        list.size = operand->channels;
        memcpy(list.data, scales, sizeof scales);
        by_channel.scale = (TfLiteFloatArray *)&list;
        tensor.quantization = (TfLiteQuantization){kTfLiteAffineQuantization, &by_channel};
    }
    return tensor;
}

static bool ask(const struct node *asked, struct delegate_reason *reason)
{
    TfLiteTensor tensors[INPUTS + 1];
    TfLiteIntArray *dims[INPUTS + 1], *inputs = delegate_int_array(INPUTS), *output = delegate_int_array(1);
    assert_true(inputs && output);
    int count = 0;
    for (; count < INPUTS && asked->inputs[count].type != kTfLiteNoType; count++) {
        tensors[count] = tensor_of(&asked->inputs[count], &dims[count]);
        inputs->data[count] = count;
    }
    inputs->size = count;
    tensors[count] = tensor_of(&asked->output, &dims[count]);
    output->data[0] = count;
    TfLiteContext context = {.tensors = tensors, .tensors_size = (size_t)count + 1};
    TfLiteNode node = {.inputs = inputs, .outputs = output, .builtin_data = (void *)(uintptr_t)asked->params};
    TfLiteRegistration registration = {.builtin_code = asked->builtin, .version = asked->version};
    const struct delegate_view view = {NULL, &context, &node, &registration, reason};
    bool taken = hexagon_supported(&view);
    for (int i = 0; i <= count; i++) free(dims[i]);
    free(inputs);
    free(output);
    return taken;
}

static void each_refusal_says_why(void **state)
{
    (void)state;
    char *documents = text_file_read("docs/delegates.md");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct delegate_reason reason = {0};
        bool taken = ask(&rows[i].node, &reason);
        if (taken != !rows[i].reason) fail_msg("row %zu is %s: %s", i, taken ? "taken" : "refused", reason.text);
        if (taken) continue;
        size_t length = strlen(reason.text), end = strlen(rows[i].reason);
        if (length < end || strcmp(reason.text + length - end, rows[i].reason) != 0)
            fail_msg("row %zu: %s, expected %s", i, reason.text, rows[i].reason);
        if (!strstr(documents, rows[i].reason)) fail_msg("not in docs/delegates.md: %s", rows[i].reason);
    }
    free(documents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_is_mapped),
        cmocka_unit_test(each_refusal_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
