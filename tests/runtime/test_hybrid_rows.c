// SPDX-License-Identifier: Apache-2.0
// Hybrid nodes quantize their input on all threads, several rows at once or a row in pieces: outputs are those of one
// thread, bit for bit, with rows of zeros, NaN and infinities, too.
#include "both_kernels.h"

#include <math.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, W, B, Y, TENSORS, MAX_VALUES = 1 << 17, OUTPUTS = 6, MAX_CHANNELS = 40 };

struct layer {
    int builtin, batches, height, width, channels; // FULLY_CONNECTED: batches and channels alone
};

static const struct layer layers[] = {
    {kTfLiteBuiltinConv2d, 1, 63, 61, 8},           {kTfLiteBuiltinConv2d, 2, 50, 41, 9},
    {kTfLiteBuiltinConv2d, 8, 20, 21, 7},           {kTfLiteBuiltinDepthwiseConv2d, 1, 70, 33, 12},
    {kTfLiteBuiltinFullyConnected, 1003, 1, 1, 33},
};

static int8_t weights[OUTPUTS * MAX_CHANNELS * 9];
static float zeros[MAX_CHANNELS], scales[MAX_CHANNELS];

static unsigned char *write_layer(const struct layer *layer, bool asymmetric, size_t *size)
{
    const bool dense = layer->builtin == kTfLiteBuiltinFullyConnected;
    const bool depthwise = layer->builtin == kTfLiteBuiltinDepthwiseConv2d;
    const int outputs = depthwise ? layer->channels : OUTPUTS, kernel = dense ? 1 : 3;
    for (size_t i = 0; i < sizeof weights; i++) weights[i] = (int8_t)(pick(255) - 127);
    for (int i = 0; i < MAX_CHANNELS; i++) scales[i] = 0.001f * (float)(1 + pick(9));
    struct test_tensor tensors[TENSORS] = {
        [X] = {.name = "x",
               .rank = dense ? 2 : 4,
               .dims = {layer->batches, dense ? layer->channels : layer->height, layer->width, layer->channels}},
        [W] = {.name = "w",
               .type = TEST_INT8,
               .rank = dense ? 2 : 4,
               .dims = {depthwise ? 1 : outputs, dense ? layer->channels : kernel, kernel, layer->channels},
               .data = weights,
               .bytes = (size_t)(depthwise ? 1 : outputs) * (size_t)(kernel * kernel * layer->channels),
               .scales = scales,
               .scale_count = outputs,
               .quantized_dimension = depthwise ? 3 : 0},
        [B] = {.name = "b", .rank = 1, .dims = {outputs}, .data = zeros, .bytes = (size_t)outputs * sizeof *zeros},
        [Y] = {.name = "y",
               .rank = dense ? 2 : 4,
               .dims = {layer->batches, dense ? outputs : layer->height, layer->width, outputs}},
    };
    struct test_node node = {.builtin = layer->builtin, .version = 6, TEST_INPUTS(X, W, B), TEST_OUTPUTS(Y)};
    if (dense) {
        node.version = 9;
        set_option(&node, HL_FullyConnectedOptions_asymmetric_quantize_inputs, asymmetric);
    } else {
        set_option(&node, depthwise ? HL_DepthwiseConv2DOptions_stride_w : HL_Conv2DOptions_stride_w, 1);
        set_option(&node, depthwise ? HL_DepthwiseConv2DOptions_stride_h : HL_Conv2DOptions_stride_h, 1);
    }
    if (depthwise) set_option(&node, HL_DepthwiseConv2DOptions_depth_multiplier, 1);
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(X), TEST_OUTPUTS(Y)};
    return test_model_write(&model, size);
}

static void run_threads(const TfLiteModel *model, int threads, const float *x, float *y, size_t *bytes)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, TfLiteTensorByteSize(input)), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    *bytes = TfLiteTensorByteSize(output);
    assert_true(*bytes > 0 && *bytes <= MAX_VALUES * sizeof *y);
    memcpy(y, TfLiteTensorData(output), *bytes);
    TfLiteInterpreterDelete(interpreter);
}

static void set_values(float *x, int what)
{
    for (int i = 0; i < MAX_VALUES; i++) x[i] = what == 1 ? 0 : (float)(pick(20001) - 10000) / (float)(1 + pick(99));
    // At the end of a piece, so that one thread alone meets it.
    if (what == 2) x[5000] = 1e6f, x[29000] = -3e6f;
    if (what == 3) x[7] = NAN, x[17000] = INFINITY;
}

static void as_one_thread(void **state)
{
    (void)state;
    static float x[MAX_VALUES], alone[MAX_VALUES], shared[MAX_VALUES];
    for (size_t i = 0; i < 2 * sizeof layers / sizeof *layers; i++) {
        size_t size, bytes, same;
        unsigned char *file = write_layer(&layers[i / 2], i % 2, &size);
        TfLiteModel *model = TfLiteModelCreate(file, size);
        assert_non_null(model);
        for (int what = 0; what < 4; what++) {
            set_values(x, what);
            run_threads(model, 1, x, alone, &bytes);
            for (int threads = 2; threads < 6; threads++) {
                run_threads(model, threads, x, shared, &same);
                assert_int_equal(same, bytes);
                assert_memory_equal(shared, alone, bytes);
            }
        }
        TfLiteModelDelete(model);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_one_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
