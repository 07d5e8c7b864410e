// SPDX-License-Identifier: Apache-2.0
// Corners of operators, each in a model of one node whose inputs are constants: where the order of roundings shows, and
// where a rule of the original is not what one would expect. Expected values follow from the comment beside them, or
// are the official runtime's where it says so.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/schema.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

enum { INPUTS = 24 };

struct corner {
    const char *what;
    int builtin;
    struct test_tensor inputs[INPUTS]; // up to the first without a name
    struct test_tensor output;         // data: what is expected
    struct test_setting settings[TEST_SETTINGS];
};

// In the lists of corner: constants, and the output. Floats are compared bit for bit, but for the signs of NaN.
#define ARRAY(Type, ...) (const Type[]){__VA_ARGS__}, .bytes = sizeof((const Type[]){__VA_ARGS__})
#define VALUES(schema_type, Type, ...) .name = "t", .type = schema_type, .data = ARRAY(Type, __VA_ARGS__)
#define F32(...) VALUES(TEST_FLOAT32, float, __VA_ARGS__)
#define I32(...) VALUES(TEST_INT32, int32_t, __VA_ARGS__)
#define ABSENT     \
    {              \
        .name = "" \
    }
#define SHAPE(n, ...) .rank = n, .dims = {__VA_ARGS__}

#define LSTM_WEIGHT            \
    {                          \
        F32(1), SHAPE(2, 1, 1) \
    }
#define LSTM_STATE                                                             \
    {                                                                          \
        .name = "t", .type = TEST_FLOAT32, SHAPE(2, 1, 1), .is_variable = true \
    }

static const struct corner corners[] = {
    // Only what is stored with scales must keep them.
    {"BATCH_TO_SPACE_ND of int32 with another scale",
     kTfLiteBuiltinBatchToSpaceNd,
     {{I32(1, 2, 3, 4), SHAPE(4, 4, 1, 1, 1), .scale = 1}, {I32(2, 2), SHAPE(1, 2)}, {I32(0, 0, 0, 0), SHAPE(2, 2, 2)}},
     {I32(1, 2, 3, 4), SHAPE(4, 1, 2, 2, 1), .scale = 2},
     {{0}}},
    // A number is better than a NaN, but of neighboring values the official runtime compares every fourth first, and
    // the NaN that leads stays.
    {"ARG_MAX of a column that begins with a NaN",
     kTfLiteBuiltinArgMax,
     {{F32(NAN, NAN, 1, 2), SHAPE(2, 2, 2)}, {I32(0), SHAPE(1, 1)}},
     {I32(1, 1), SHAPE(1, 2)},
     {{HL_ArgMaxOptions_output_type, TEST_INT32, 0, NULL}}},
    {"ARG_MIN of three",
     kTfLiteBuiltinArgMin,
     {{F32(NAN, -1, -2), SHAPE(1, 3)}, {I32(0), SHAPE(1, 1)}},
     {I32(2)},
     {{HL_ArgMinOptions_output_type, TEST_INT32, 0, NULL}}},
    {"ARG_MAX of four that begin with a NaN",
     kTfLiteBuiltinArgMax,
     {{F32(NAN, 5, 3, 4), SHAPE(1, 4)}, {I32(0), SHAPE(1, 1)}},
     {I32(0)},
     {{HL_ArgMaxOptions_output_type, TEST_INT32, 0, NULL}}},
    {"ARG_MAX of five",
     kTfLiteBuiltinArgMax,
     {{F32(NAN, 1, 3, 5, 2), SHAPE(1, 5)}, {I32(0), SHAPE(1, 1)}},
     {I32(4)},
     {{HL_ArgMaxOptions_output_type, TEST_INT32, 0, NULL}}},
    {"ARG_MAX of eight",
     kTfLiteBuiltinArgMax,
     {{F32(NAN, 1, NAN, 1, 5, NAN, 0, 2), SHAPE(1, 8)}, {I32(0), SHAPE(1, 1)}},
     {I32(4)},
     {{HL_ArgMaxOptions_output_type, TEST_INT32, 0, NULL}}},
    // Begin -4 of 3 is position 0; the end, two before it, is not one counted from the end.
    {"STRIDED_SLICE with an offset before 0",
     kTfLiteBuiltinStridedSlice,
     {{F32(1, 2, 3), SHAPE(1, 3)}, {I32(-4), SHAPE(1, 1)}, {I32(-2), SHAPE(1, 1)}, {I32(1), SHAPE(1, 1)}},
     {.type = TEST_FLOAT32, SHAPE(1, 0)},
     {{HL_StridedSliceOptions_offset, 1, 0, NULL}}},
    // 1004 / 7: rescaled as int32 574 / 4 (573.7 rounded), 143.5; as int64 at once 143.4.
    {"TRANSPOSE_CONV of int16 without a bias, sums in int32",
     kTfLiteBuiltinTransposeConv,
     {{I32(1, 1, 1, 1), SHAPE(1, 4)},
      {VALUES(TEST_INT8, int8_t, 1), SHAPE(4, 1, 1, 1, 1), .scale = 1},
      {VALUES(TEST_INT16, int16_t, 1004), SHAPE(4, 1, 1, 1, 1), .scale = 1}},
     {VALUES(TEST_INT16, int16_t, 144), SHAPE(4, 1, 1, 1, 1), .scale = 7},
     {{HL_TransposeConvOptions_stride_w, 1, 0, NULL},
      {HL_TransposeConvOptions_stride_h, 1, 0, NULL},
      {HL_TransposeConvOptions_quantized_bias_type, TEST_INT32, 0, NULL}}},
    {"TRANSPOSE_CONV of int16 without a bias, sums in int64",
     kTfLiteBuiltinTransposeConv,
     {{I32(1, 1, 1, 1), SHAPE(1, 4)},
      {VALUES(TEST_INT8, int8_t, 1), SHAPE(4, 1, 1, 1, 1), .scale = 1},
      {VALUES(TEST_INT16, int16_t, 1004), SHAPE(4, 1, 1, 1, 1), .scale = 1}},
     {VALUES(TEST_INT16, int16_t, 143), SHAPE(4, 1, 1, 1, 1), .scale = 7},
     {{HL_TransposeConvOptions_stride_w, 1, 0, NULL}, {HL_TransposeConvOptions_stride_h, 1, 0, NULL}}},
    // The official runtime's: 15 * 0.3 * 0.7 = 3.15 as a sum of four rounded floats, the largest of which is -2268.
    {"TRANSPOSE_CONV of floats and int8 weights",
     kTfLiteBuiltinTransposeConv,
     {{I32(1, 1, 1, 1), SHAPE(1, 4)},
      {VALUES(TEST_INT8, int8_t, 45, 0, -108, -51), SHAPE(4, 1, 1, 1, 4), .scale = 0.3f},
      {F32(0x1.63999ap+6f, -0x1.666666p+6f, 70, -70), SHAPE(4, 1, 1, 1, 4)}},
     {F32(0x1.932cp+1f), SHAPE(4, 1, 1, 1, 1)},
     {{HL_TransposeConvOptions_stride_w, 1, 0, NULL}, {HL_TransposeConvOptions_stride_h, 1, 0, NULL}}},
    // The lower bound, -1, is the largest uint32.
    {"MUL of uint32 with RELU_N1_TO_1",
     kTfLiteBuiltinMul,
     {{VALUES(TEST_UINT32, uint32_t, 0, 1, 7), SHAPE(1, 3)}, {VALUES(TEST_UINT32, uint32_t, 5, 1, 7), SHAPE(1, 3)}},
     {VALUES(TEST_UINT32, uint32_t, 1, 1, 1), SHAPE(1, 3)},
     {{HL_MulOptions_fused_activation_function, 2, 0, NULL}}},
    // Fewer words than ngram_size: nothing, though shorter n-grams would count. Strings: how many, where each begins
    // and ends.
    {"SKIP_GRAM of two words by three",
     kTfLiteBuiltinSkipGram,
     {{.name = "t", .type = TEST_STRING, .data = "\1\0\0\0\14\0\0\0\17\0\0\0a b", .bytes = 15, SHAPE(1, 1)}},
     {.type = TEST_STRING, .data = ARRAY(int32_t, 0, 8), SHAPE(1, 0)},
     {{HL_SkipGramOptions_ngram_size, 3, 0, NULL}, {HL_SkipGramOptions_include_all_ngrams, 1, 0, NULL}}},
    // A bucket whose weights add up to 0 is divided by them, one without lookups is not.
    {"EMBEDDING_LOOKUP_SPARSE with weight 0",
     kTfLiteBuiltinEmbeddingLookupSparse,
     {{I32(0), SHAPE(1, 1)},
      {I32(1, 0), SHAPE(2, 1, 2)},
      {I32(2, 1), SHAPE(1, 2)},
      {F32(0), SHAPE(1, 1)},
      {F32(1, 2), SHAPE(2, 1, 2)}},
     {F32(0, 0, NAN, NAN), SHAPE(2, 2, 2)},
     {{HL_EmbeddingLookupSparseOptions_combiner, 1, 0, NULL}}},
    // The table goes from -32768 at 0 to 843 at 128 steps (the official runtime's numbers): 33611 more, in 16 bits
    // 31925 less. One step on: -32768 - 249 wraps around; 127 steps on: -32768 - 31676.
    {"LOG of int16 between 0 and a table's first step",
     kTfLiteBuiltinLog,
     {{VALUES(TEST_INT16, int16_t, 0, 1, 127, 128), SHAPE(1, 4), .scale = 1 / 128.0f}},
     {VALUES(TEST_INT16, int16_t, -32768, 32519, 1092, 843), SHAPE(1, 4), .scale = 1 / 32768.0f},
     {{0}}},
    // Only an int8 input has its output's parameters checked; the values are those of 1/65536 and -32768: 65536 / 2 -
    // 32768.
    {"SOFTMAX of uint8 to int16 with another zero point",
     kTfLiteBuiltinSoftmax,
     {{VALUES(TEST_UINT8, uint8_t, 7, 7), SHAPE(2, 1, 2), .scale = 1}},
     {VALUES(TEST_INT16, int16_t, 0, 0), SHAPE(2, 1, 2), .scale = 0.5f},
     {{HL_SoftmaxOptions_beta, 1, 0, NULL}}},
    // The sum of squares slides: 2^24 + 1 is no float, so channel 1 lacks its neighbor, channel 2 lacks the 1 before
    // it, and channel 3 all. 4096 / 2^24, 1 / 2^24, 1 / 2, 1 / 1.
    {"LOCAL_RESPONSE_NORMALIZATION behind a large value",
     kTfLiteBuiltinLocalResponseNormalization,
     {{F32(4096, 1, 1, 1), SHAPE(4, 1, 1, 1, 4)}},
     {F32(0x1p-12f, 0x1p-24f, 0.5f, 1), SHAPE(4, 1, 1, 1, 4)},
     {{HL_LocalResponseNormalizationOptions_radius, 1, 0, NULL},
      {HL_LocalResponseNormalizationOptions_bias, 1, 0, NULL},
      {HL_LocalResponseNormalizationOptions_alpha, 1, 0, NULL},
      {HL_LocalResponseNormalizationOptions_beta, 1, 0, NULL}}},
    // Weights and the cell gate's bias are 1, other biases 0, the input is 0. First sigmoid(0) * 1 = 0.5; then
    // sigmoid(0.5) times 1, not 1.5: the original multiplies once here, and takes the cell gate from before that.
    {"LSTM without an input gate and an activation, of zeros",
     kTfLiteBuiltinLstm,
     {{F32(0), SHAPE(2, 1, 1)},
      ABSENT,
      LSTM_WEIGHT,
      LSTM_WEIGHT,
      LSTM_WEIGHT,
      ABSENT,
      LSTM_WEIGHT,
      LSTM_WEIGHT,
      LSTM_WEIGHT,
      ABSENT,
      ABSENT,
      ABSENT,
      ABSENT,
      {F32(0), SHAPE(1, 1)},
      {F32(1), SHAPE(1, 1)},
      {F32(0), SHAPE(1, 1)},
      ABSENT,
      ABSENT,
      LSTM_STATE,
      LSTM_STATE},
     {F32(0x1.3eb2fep-1f), SHAPE(2, 1, 1)},
     {{0}}},
};

// An int8 LSTM of one cell, whose norm gives 0: its gates are the sigmoids, and the tanh, of their bias, 7e7 * 3e-5 /
// 1024 =
// 2.05. The cell becomes (1 - 0.886) * 0.967 = 0.11, times 0.886 0.098; projected 127 * 0.01 * 0.098 + 400000 * 0.01 /
// 2^15 =
// 0.246, which is 16 steps.
#define NARROW(schema_type, Type, value, rank_, s)                                  \
    {                                                                               \
        VALUES(schema_type, Type, value), .rank = rank_, .dims = {1, 1}, .scale = s \
    }
#define NARROW_WEIGHT NARROW(TEST_INT8, int8_t, 100, 2, 0.01f)
#define NARROW_BIAS NARROW(TEST_INT32, int32_t, 70000000, 1, 3e-5f / 1024)
#define NARROW_NORM NARROW(TEST_INT16, int16_t, 1000, 1, 3e-5f)
#define NARROW_LSTM(title, cell_scale, expected, clip_field, clip)                                        \
    {                                                                                                     \
        title, kTfLiteBuiltinLstm,                                                                        \
            {NARROW(TEST_INT8, int8_t, 100, 2, 0.02f),                                                    \
             ABSENT,                                                                                      \
             NARROW_WEIGHT,                                                                               \
             NARROW_WEIGHT,                                                                               \
             NARROW_WEIGHT,                                                                               \
             ABSENT,                                                                                      \
             NARROW_WEIGHT,                                                                               \
             NARROW_WEIGHT,                                                                               \
             NARROW_WEIGHT,                                                                               \
             ABSENT,                                                                                      \
             ABSENT,                                                                                      \
             ABSENT,                                                                                      \
             ABSENT,                                                                                      \
             NARROW_BIAS,                                                                                 \
             NARROW_BIAS,                                                                                 \
             NARROW_BIAS,                                                                                 \
             NARROW(TEST_INT8, int8_t, 127, 2, 0.01f),                                                    \
             NARROW(TEST_INT32, int32_t, 400000, 1, 0.01f / 32768),                                       \
             {.name = "t", .type = TEST_INT8, SHAPE(2, 1, 1), .is_variable = true, .scale = 1 / 64.0f},   \
             {.name = "t", .type = TEST_INT16, SHAPE(2, 1, 1), .is_variable = true, .scale = cell_scale}, \
             ABSENT,                                                                                      \
             NARROW_NORM,                                                                                 \
             NARROW_NORM,                                                                                 \
             NARROW_NORM},                                                                                \
            {VALUES(TEST_INT8, int8_t, expected), SHAPE(2, 1, 1), .scale = 1 / 64.0f},                    \
        {                                                                                                 \
            {HL_LSTMOptions_fused_activation_function, 4, 0, NULL},                                       \
            {                                                                                             \
                clip_field, clip, 0, NULL                                                                 \
            }                                                                                             \
        }                                                                                                 \
    }

static const struct corner narrow_gates[] = {
    NARROW_LSTM("LSTM of narrow gates", 0x1p-15f, 16, HL_LSTMOptions_proj_clip, 0),
    // 0.1 * 64; and a cell of 0.02, 0.886 * 0.02 * 1.27 + 0.122 = 0.145.
    NARROW_LSTM("LSTM of narrow gates, outputs clipped", 0x1p-15f, 6, HL_LSTMOptions_proj_clip, 0.1),
    NARROW_LSTM("LSTM of narrow gates, cells clipped", 0x1p-15f, 9, HL_LSTMOptions_cell_clip, 0.02),
    // The original clips nothing where the cells have another scale than that of their gates.
    NARROW_LSTM("LSTM of narrow gates, outputs not clipped", 0x1p-12f, 16, HL_LSTMOptions_proj_clip, 0.1),
    NARROW_LSTM("LSTM of narrow gates, cells not clipped", 0x1p-12f, 16, HL_LSTMOptions_cell_clip, 0.02),
};

// What the official runtime refuses.
static const struct corner refused[] = {
    {"CONCATENATION of int16 with a zero point",
     kTfLiteBuiltinConcatenation,
     {{VALUES(TEST_INT16, int16_t, 1), SHAPE(1, 1), .scale = 1, .zero_point = 3}},
     {.type = TEST_INT16, SHAPE(1, 1), .scale = 1, .zero_point = 3},
     {{0}}},
    {"FILL whose output is quantized differently",
     kTfLiteBuiltinFill,
     {{I32(2), SHAPE(1, 1)}, {VALUES(TEST_INT8, int8_t, 1), .scale = 1}},
     {.type = TEST_INT8, SHAPE(1, 2), .scale = 2},
     {{0}}},
    {"DEPTHWISE_CONV_2D with a bias of two dimensions",
     kTfLiteBuiltinDepthwiseConv2d,
     {{F32(1), SHAPE(4, 1, 1, 1, 1)}, {F32(1), SHAPE(4, 1, 1, 1, 1)}, {F32(1), SHAPE(2, 1, 1)}},
     {.type = TEST_FLOAT32, SHAPE(4, 1, 1, 1, 1)},
     {{HL_DepthwiseConv2DOptions_stride_w, 1, 0, NULL}, {HL_DepthwiseConv2DOptions_stride_h, 1, 0, NULL}}},
};

static void compare(const struct corner *corner, const TfLiteTensor *y)
{
    const struct test_tensor *expected = &corner->output;
    assert_int_equal(TfLiteTensorNumDims(y), expected->rank);
    for (int i = 0; i < expected->rank; i++) assert_int_equal(TfLiteTensorDim(y, i), expected->dims[i]);
    assert_int_equal(TfLiteTensorByteSize(y), expected->bytes);
    const unsigned char *got = TfLiteTensorData(y), *wanted = expected->data;
    for (size_t i = 0; i < expected->bytes; i += 4) {
        float a = 0, b = 0;
        size_t size = expected->bytes - i < 4 ? expected->bytes - i : 4;
        memcpy(&a, got + i, size);
        memcpy(&b, wanted + i, size);
        bool both_nan = expected->type == TEST_FLOAT32 && isnan(a) && isnan(b);
        if (!both_nan && memcmp(got + i, wanted + i, size) != 0)
            fail_msg("%s: %g in place of %g at byte %zu", corner->what, (double)a, (double)b, i);
    }
}

// intermediate_count: so many intermediates, which are all one tensor. runs: else allocation or invoke fails.
static void run(const struct corner *corner, int intermediate_count, bool runs)
{
    struct test_tensor tensors[INPUTS + 2];
    struct test_node node = {.builtin = corner->builtin, .output_count = 1};
    int count = 0;
    bool has_state = false; // then it is the second invoke that counts, or the first with intermediates
    for (; count < INPUTS && corner->inputs[count].name; count++) {
        tensors[count] = corner->inputs[count];
        has_state |= tensors[count].is_variable;
        node.inputs[node.input_count++] = *tensors[count].name ? count : -1;
    }
    tensors[count] = corner->output;
    tensors[count].name = "y";
    tensors[count].data = NULL;
    tensors[count].bytes = 0;
    node.outputs[0] = count;
    tensors[count + 1] = (struct test_tensor){.name = "between", .type = TEST_INT8, SHAPE(1, 1), .scale = 0.05f};
    for (int i = 0; i < intermediate_count; i++) node.intermediates[node.intermediate_count++] = count + 1;
    memcpy(node.settings, corner->settings, sizeof node.settings);
    struct test_model file = {.tensor_count = count + 2, .tensors = tensors, TEST_NODE(node), TEST_OUTPUTS(count)};

    size_t size;
    unsigned char *bytes = test_model_write(&file, &size);
    TfLiteModel *model = TfLiteModelCreate(bytes, size);
    assert_non_null(model);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    assert_non_null(interpreter);
    TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter);
    for (int i = has_state && !intermediate_count ? 2 : 1; i > 0 && status == kTfLiteOk; i--)
        status = TfLiteInterpreterInvoke(interpreter);
    assert_int_equal(status == kTfLiteOk, runs);
    if (runs) compare(corner, TfLiteInterpreterGetOutputTensor(interpreter, 0));
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    free(bytes);
}

static void run_all(const struct corner *list, size_t count, int intermediate_count, bool runs)
{
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", list[i].what);
        run(&list[i], intermediate_count, runs);
    }
}

static void test_corners(void **state)
{
    (void)state;
    run_all(corners, sizeof corners / sizeof *corners, 0, true);
}

static void test_narrow_gates(void **state)
{
    (void)state;
    run_all(narrow_gates, sizeof narrow_gates / sizeof *narrow_gates, 12, true);
}

static void test_refused(void **state)
{
    (void)state;
    run_all(refused, sizeof refused / sizeof *refused, 0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corners), cmocka_unit_test(test_narrow_gates),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
