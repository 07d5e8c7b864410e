// SPDX-License-Identifier: Apache-2.0
// Hybrid nodes quantize their input on all threads, several rows at once or a row in pieces: outputs are those of one
// thread, bit for bit, with rows of zeros, NaN and infinities, too. Nodes that read the same rows, which one of them
// quantizes, have the outputs that they have alone.
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

// ---- several layers of the same rows --------------------------------------------------------------

enum { ROWS = 17, COLUMNS = 24, UNITS = COLUMNS, LAYERS = 7, LAYER_VALUES = ROWS * UNITS };

// What each layer reads (-1: the input, otherwise that layer's output), and whether it quantizes to all of int8. Layers
// between two of the same rows read others, or the same in another way.
static const struct {
    int reads;
    bool asymmetric;
} same_rows[LAYERS] = {{-1, true}, {-1, true}, {-1, false}, {-1, true}, {1, true}, {1, true}, {-1, true}};

static int8_t layer_weights[LAYERS][UNITS * COLUMNS];

// Layers [first, end) whose first input is the model's. Alone, a layer reads that whatever it is.
static unsigned char *write_layers(int first, int end, size_t *size)
{
    struct test_tensor tensors[1 + 2 * LAYERS] = {{.name = "x", .rank = 2, .dims = {ROWS, COLUMNS}}};
    struct test_node nodes[LAYERS] = {{0}};
    const int count = end - first;
    struct test_model model = {.tensor_count = 1 + 2 * count,
                               .tensors = tensors,
                               .node_count = count,
                               .nodes = nodes,
                               .output_count = count,
                               TEST_INPUTS(0)};
    for (int i = 0; i < count; i++) {
        const int layer = first + i, reads = count > 1 ? same_rows[layer].reads : -1;
        tensors[1 + 2 * i] = (struct test_tensor){.name = "w",
                                                  .type = TEST_INT8,
                                                  .rank = 2,
                                                  .dims = {UNITS, COLUMNS},
                                                  .data = layer_weights[layer],
                                                  .bytes = sizeof layer_weights[layer],
                                                  .scales = scales,
                                                  .scale_count = 1};
        tensors[2 + 2 * i] = (struct test_tensor){.name = "y", .rank = 2, .dims = {ROWS, UNITS}};
        nodes[i] = (struct test_node){.builtin = kTfLiteBuiltinFullyConnected,
                                      .version = 9,
                                      .input_count = 3,
                                      .inputs = {reads < 0 ? 0 : 2 + 2 * reads, 1 + 2 * i, -1},
                                      TEST_OUTPUTS(2 + 2 * i)};
        set_option(&nodes[i], HL_FullyConnectedOptions_asymmetric_quantize_inputs, same_rows[layer].asymmetric);
        model.outputs[i] = 2 + 2 * i;
    }
    return test_model_write(&model, size);
}

static TfLiteInterpreter *open_layers(int first, int end, unsigned char **file, TfLiteModel **model)
{
    size_t size;
    *file = write_layers(first, end, &size);
    *model = TfLiteModelCreate(*file, size);
    assert_non_null(*model);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(*model, NULL);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
}

static void run_layers(TfLiteInterpreter *interpreter, const float *x, int count, float (*y)[LAYER_VALUES])
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, LAYER_VALUES * sizeof *x), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    for (int i = 0; i < count; i++) {
        const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, i);
        assert_int_equal(TfLiteTensorByteSize(output), sizeof *y);
        memcpy(y[i], TfLiteTensorData(output), sizeof *y);
    }
}

static void as_alone(void **state)
{
    (void)state;
    static float x[LAYER_VALUES], together[LAYERS][LAYER_VALUES], alone[1][LAYER_VALUES];
    unsigned char *file[2];
    TfLiteModel *model[2];
    for (int i = 0; i < MAX_CHANNELS; i++) scales[i] = 0.01f;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < UNITS * COLUMNS; i++) layer_weights[layer][i] = (int8_t)(pick(255) - 127);
    TfLiteInterpreter *all = open_layers(0, LAYERS, &file[0], &model[0]);
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < LAYER_VALUES; i++) x[i] = (float)(pick(2001) - 700) / 100;
        run_layers(all, x, LAYERS, together);
        for (int layer = 0; layer < LAYERS; layer++) {
            const int reads = same_rows[layer].reads;
            TfLiteInterpreter *one = open_layers(layer, layer + 1, &file[1], &model[1]);
            run_layers(one, reads < 0 ? x : together[reads], 1, alone);
            assert_memory_equal(together[layer], alone[0], sizeof alone[0]);
            TfLiteInterpreterDelete(one);
            TfLiteModelDelete(model[1]);
            free(file[1]);
        }
    }
    TfLiteInterpreterDelete(all);
    TfLiteModelDelete(model[0]);
    free(file[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_one_thread), cmocka_unit_test(as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
