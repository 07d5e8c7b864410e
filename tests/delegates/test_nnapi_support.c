// SPDX-License-Identifier: Apache-2.0
// Which operators the NNAPI delegate knows: each one for which the system has an operation is mapped, or refused with a
// reason that docs/delegates.md tells. The tables are asked directly, without a graph.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "delegates/nnapi/op.h"
#include "support/text_file.h"

// The builtin operators for which the original's delegate sends operations, and those whose names the system's own
// operations have besides.
// clang-format off
#define SYSTEM_OPERATORS(X)                                                                                            \
    X(Add) X(Sub) X(Mul) X(Div) X(SquaredDifference) X(ArgMax) X(ArgMin) X(AveragePool2d) X(MaxPool2d) X(L2Pool2d)     \
    X(Conv2d) X(DepthwiseConv2d) X(TransposeConv) X(FullyConnected) X(HardSwish) X(Softmax) X(LogSoftmax) X(Reshape)   \
    X(Squeeze) X(ExpandDims) X(ResizeBilinear) X(ResizeNearestNeighbor) X(Concatenation) X(Split) X(SplitV) X(Pack)    \
    X(Unpack) X(Slice) X(StridedSlice) X(Transpose) X(Pad) X(Padv2) X(MirrorPad) X(ReverseV2) X(SpaceToBatchNd)        \
    X(BatchToSpaceNd) X(SpaceToDepth) X(DepthToSpace) X(Mean) X(ReduceMin) X(ReduceMax) X(ReduceAny) X(ReduceProd)     \
    X(Sum) X(Tile) X(TopkV2) X(Gather) X(Select) X(Equal) X(NotEqual) X(Less) X(LessEqual) X(Greater) X(GreaterEqual)  \
    X(LogicalAnd) X(LogicalOr) X(LogicalNot) X(Maximum) X(Minimum) X(Abs) X(Exp) X(Log) X(Sin) X(Sqrt) X(Pow) X(Rsqrt) \
    X(Cos) X(Neg) X(Cast) X(Prelu) X(LeakyRelu) X(Relu) X(ReluN1To1) X(Relu6) X(Logistic) X(Tanh) X(Floor) X(Elu)      \
    X(L2Normalization) X(LocalResponseNormalization) X(Quantize) X(Dequantize) X(Densify) X(EmbeddingLookup)           \
    X(HashtableLookup) X(LshProjection) X(Svdf) X(Rnn) X(UnidirectionalSequenceRnn) X(UnidirectionalSequenceLstm)      \
    X(BidirectionalSequenceLstm) X(Lstm) X(BatchMatmul) X(Fill)                                                        \
    X(BidirectionalSequenceRnn) X(ReduceAll) X(Rank) X(If) X(While) X(Multinomial)
// clang-format on

static void each_operator_is_mapped_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int builtin;
    } operators[] = {
#define X(name) {#name, kTfLiteBuiltin##name},
        SYSTEM_OPERATORS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        bool mapped = nnapi_op_find(operators[i].builtin), refused = nnapi_op_refusal(operators[i].builtin);
        if (mapped == refused) fail_msg("%s is %s", operators[i].name, mapped ? "both" : "neither");
    }
    assert_null(nnapi_op_find(kTfLiteBuiltinCeil));
    assert_null(nnapi_op_refusal(kTfLiteBuiltinCeil));
}

// What the delegate says of a node without operands.
static struct delegate_reason ask(struct nnapi_delegate *delegate, int builtin)
{
    TfLiteIntArray none = {0};
    TfLiteContext context = {0};
    TfLiteNode node = {.inputs = &none, .outputs = &none};
    TfLiteRegistration registration = {.builtin_code = builtin, .version = 1};
    struct delegate_reason reason = {0};
    const struct delegate_view view = {&delegate->base, &context, &node, &registration, &reason};
    assert_false(nnapi_supported(&view));
    return reason;
}

static void each_refusal_says_why(void **state)
{
    (void)state;
    static const struct {
        int builtin;
        const char *reason;
    } refused[] = {
#define NNAPI_REFUSED(builtin, reason) {kTfLiteBuiltin##builtin, reason},
#include "delegates/nnapi/refused.def"
#undef NNAPI_REFUSED
    };
    struct nnapi_delegate delegate = {.level = NNAPI_LEVEL_7};
    char *documents = text_file_read("docs/delegates.md");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct delegate_reason reason = ask(&delegate, refused[i].builtin);
        assert_int_equal(reason.code, DELEGATE_NO_KERNEL);
        assert_string_equal(reason.text, refused[i].reason);
        if (!strstr(documents, refused[i].reason)) fail_msg("not in docs/delegates.md: %s", refused[i].reason);
    }
    free(documents);
    assert_string_equal(ask(&delegate, kTfLiteBuiltinCeil).text, "Unsupported operation type.");
}

// The basic kernel of LSTM has its working memory among its outputs.
static void basic_lstm_stays(void **state)
{
    (void)state;
    enum { INPUTS = 5, OUTPUTS = 4, TENSORS = INPUTS + OUTPUTS };
    TfLiteIntArray *inputs = delegate_int_array(INPUTS), *outputs = delegate_int_array(OUTPUTS);
    TfLiteIntArray *dims = delegate_int_array(2);
    assert_true(inputs && outputs && dims);
    dims->data[0] = dims->data[1] = 4;
    TfLiteTensor tensors[TENSORS];
    memset(tensors, 0, sizeof tensors);
    for (int i = 0; i < TENSORS; i++) {
        tensors[i].type = kTfLiteFloat32;
        tensors[i].dims = dims;
        if (i < INPUTS)
            inputs->data[i] = i;
        else
            outputs->data[i - INPUTS] = i;
    }
    TfLiteLSTMParams params = {.kernel_type = kTfLiteLSTMBasicKernel};
    TfLiteContext context = {.tensors = tensors, .tensors_size = TENSORS};
    TfLiteNode node = {.inputs = inputs, .outputs = outputs, .builtin_data = &params};
    TfLiteRegistration registration = {.builtin_code = kTfLiteBuiltinLstm, .version = 1};
    struct nnapi_delegate delegate = {.level = NNAPI_LEVEL_7};
    struct delegate_reason reason = {0};
    const struct delegate_view view = {&delegate.base, &context, &node, &registration, &reason};
    assert_false(nnapi_supported(&view));
    assert_string_equal(reason.text, "the basic kernel's working memory is an output");
    free(inputs);
    free(outputs);
    free(dims);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_is_mapped_or_refused),
        cmocka_unit_test(each_refusal_says_why),
        cmocka_unit_test(basic_lstm_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
