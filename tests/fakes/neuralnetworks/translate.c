// SPDX-License-Identifier: Apache-2.0
// Each operation as nodes of Halite's operators. In: an operation whose operands check.c has found right. Out: nodes.
#include "build.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

// A node that reads the first `count` operands and writes all outputs.
static void plain(struct build *build, int builtin, int count, const void *params, size_t size)
{
    int inputs[FAKE_OPERANDS], outputs[FAKE_OPERANDS];
    for (int i = 0; i < count; i++) inputs[i] = fake_in(build, (uint32_t)i);
    for (uint32_t i = 0; i < build->operation->output_count; i++) outputs[i] = fake_out(build, i);
    fake_node(build, builtin, params, size, inputs, count, outputs, (int)build->operation->output_count);
}

// ---- with an activation -------------------------------------------------------------------------

static void arithmetic(struct build *build, int builtin)
{
    TfLiteFusedActivation activation = (TfLiteFusedActivation)fake_int(build, 2);
    TfLiteAddParams add = {.activation = activation};
    TfLiteSubParams sub = {.activation = activation};
    TfLiteMulParams mul = {.activation = activation};
    TfLiteDivParams div = {.activation = activation};
    switch (builtin) {
    case kTfLiteBuiltinAdd: plain(build, builtin, 2, &add, sizeof add); break;
    case kTfLiteBuiltinSub: plain(build, builtin, 2, &sub, sizeof sub); break;
    case kTfLiteBuiltinMul: plain(build, builtin, 2, &mul, sizeof mul); break;
    default: plain(build, builtin, 2, &div, sizeof div);
    }
}

static void convolution(struct build *build, bool grouped)
{
    uint32_t at = grouped ? 7 : 6, dilation = 8;
    bool dilated = !grouped && build->operation->input_count > dilation;
    TfLiteConvParams params = {
        .padding = (TfLitePadding)fake_int(build, 3),
        .stride_width = fake_int(build, 4),
        .stride_height = fake_int(build, 5),
        .activation = (TfLiteFusedActivation)fake_int(build, at),
        .dilation_width_factor = dilated ? fake_int(build, dilation) : 1,
        .dilation_height_factor = dilated ? fake_int(build, dilation + 1) : 1,
    };
    plain(build, kTfLiteBuiltinConv2d, 3, &params, sizeof params);
}

static void fully_connected(struct build *build)
{
    TfLiteFullyConnectedParams params = {.activation = (TfLiteFusedActivation)fake_int(build, 3)};
    plain(build, kTfLiteBuiltinFullyConnected, 3, &params, sizeof params);
}

static void reshape(struct build *build)
{
    plain(build, kTfLiteBuiltinReshape, 2, NULL, 0);
}

// ---- all of them --------------------------------------------------------------------------------

bool fake_translate(struct build *build)
{
    switch (build->operation->code) {
    case NNAPI_ADD: arithmetic(build, kTfLiteBuiltinAdd); break;
    case NNAPI_SUB: arithmetic(build, kTfLiteBuiltinSub); break;
    case NNAPI_MUL: arithmetic(build, kTfLiteBuiltinMul); break;
    case NNAPI_DIV: arithmetic(build, kTfLiteBuiltinDiv); break;
    case NNAPI_CONV_2D: convolution(build, false); break;
    case NNAPI_GROUPED_CONV_2D: convolution(build, true); break;
    case NNAPI_FULLY_CONNECTED: fully_connected(build); break;
    case NNAPI_RESHAPE: reshape(build); break;
    case NNAPI_DEQUANTIZE: plain(build, kTfLiteBuiltinDequantize, 1, NULL, 0); break;
    default: return false;
    }
    return true;
}
