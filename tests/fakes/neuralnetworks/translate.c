// SPDX-License-Identifier: Apache-2.0
// Each operation as nodes of Halite's operators. In: an operation whose operands check.c has found right. Out: nodes.
#include "build.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

// A node that reads the first `count` operands and writes all outputs.
static void plain(struct build *build, int builtin, int count, const void *params, size_t size)
{
    int inputs[FAKE_OPERANDS], outputs[FAKE_OPERANDS];
    for (int i = 0; i < count; i++) inputs[i] = fake_in(build, (uint32_t)i);
    for (uint32_t i = 0; i < build->operation->output_count; i++) outputs[i] = fake_out(build, i);
    fake_node(build, builtin, params, size, inputs, count, outputs, (int)build->operation->output_count);
}
#define PLAIN(build, builtin, count, params) plain(build, builtin, count, &(params), sizeof(params))

// A node that reads these tensors, and writes output 0.
#define READING(build, builtin, params, ...)                                   \
    fake_node(build, builtin, &(params), sizeof(params), (int[]){__VA_ARGS__}, \
              (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){fake_out(build, 0)}, 1)

static TfLiteFusedActivation activation_at(const struct build *build, uint32_t index)
{
    return (TfLiteFusedActivation)fake_int(build, index);
}

// ---- sums and products --------------------------------------------------------------------------

static void arithmetic(struct build *build)
{
    TfLiteFusedActivation activation = activation_at(build, 2);
    TfLiteAddParams add = {.activation = activation};
    TfLiteSubParams sub = {.activation = activation};
    TfLiteMulParams mul = {.activation = activation};
    TfLiteDivParams div = {.activation = activation};
    switch (build->operation->code) {
    case NNAPI_ADD: PLAIN(build, kTfLiteBuiltinAdd, 2, add); break;
    case NNAPI_SUB: PLAIN(build, kTfLiteBuiltinSub, 2, sub); break;
    case NNAPI_MUL: PLAIN(build, kTfLiteBuiltinMul, 2, mul); break;
    default: PLAIN(build, kTfLiteBuiltinDiv, 2, div);
    }
}

static void convolution(struct build *build)
{
    bool grouped = build->operation->code == NNAPI_GROUPED_CONV_2D;
    bool dilated = !grouped && build->operation->input_count > 8;
    TfLiteConvParams params = {
        .padding = (TfLitePadding)fake_int(build, 3),
        .stride_width = fake_int(build, 4),
        .stride_height = fake_int(build, 5),
        .activation = activation_at(build, grouped ? 7 : 6),
        .dilation_width_factor = dilated ? fake_int(build, 8) : 1,
        .dilation_height_factor = dilated ? fake_int(build, 9) : 1,
    };
    PLAIN(build, kTfLiteBuiltinConv2d, 3, params);
}

static void depthwise(struct build *build)
{
    bool dilated = build->operation->input_count > 9;
    TfLiteDepthwiseConvParams params = {
        .padding = (TfLitePadding)fake_int(build, 3),
        .stride_width = fake_int(build, 4),
        .stride_height = fake_int(build, 5),
        .depth_multiplier = fake_int(build, 6),
        .activation = activation_at(build, 7),
        .dilation_width_factor = dilated ? fake_int(build, 9) : 1,
        .dilation_height_factor = dilated ? fake_int(build, 10) : 1,
    };
    PLAIN(build, kTfLiteBuiltinDepthwiseConv2d, 3, params);
}

static void transposed(struct build *build)
{
    TfLiteTransposeConvParams params = {
        .padding = (TfLitePadding)fake_int(build, 4),
        .stride_width = fake_int(build, 5),
        .stride_height = fake_int(build, 6),
        .activation = activation_at(build, 7),
    };
    READING(build, kTfLiteBuiltinTransposeConv, params, fake_in(build, 3), fake_in(build, 1), fake_in(build, 0),
            fake_in(build, 2));
}

static void matrices(struct build *build)
{
    TfLiteFullyConnectedParams connected = {.activation = activation_at(build, 3)};
    TfLiteBatchMatMulParams batches = {.adj_x = fake_bool(build, 2), .adj_y = fake_bool(build, 3)};
    if (build->operation->code == NNAPI_FULLY_CONNECTED)
        PLAIN(build, kTfLiteBuiltinFullyConnected, 3, connected);
    else
        PLAIN(build, kTfLiteBuiltinBatchMatmul, 2, batches);
}

static void pool(struct build *build, int builtin)
{
    TfLitePoolParams params = {
        .padding = (TfLitePadding)fake_int(build, 1),
        .stride_width = fake_int(build, 2),
        .stride_height = fake_int(build, 3),
        .filter_width = fake_int(build, 4),
        .filter_height = fake_int(build, 5),
        .activation = activation_at(build, 6),
    };
    PLAIN(build, builtin, 1, params);
}

static bool compute(struct build *build)
{
    switch (build->operation->code) {
    case NNAPI_ADD:
    case NNAPI_SUB:
    case NNAPI_MUL:
    case NNAPI_DIV: arithmetic(build); return true;
    case NNAPI_CONV_2D:
    case NNAPI_GROUPED_CONV_2D: convolution(build); return true;
    case NNAPI_DEPTHWISE_CONV_2D: depthwise(build); return true;
    case NNAPI_TRANSPOSE_CONV_2D: transposed(build); return true;
    case NNAPI_FULLY_CONNECTED:
    case NNAPI_BATCH_MATMUL: matrices(build); return true;
    case NNAPI_AVERAGE_POOL_2D: pool(build, kTfLiteBuiltinAveragePool2d); return true;
    case NNAPI_MAX_POOL_2D: pool(build, kTfLiteBuiltinMaxPool2d); return true;
    case NNAPI_L2_POOL_2D: pool(build, kTfLiteBuiltinL2Pool2d); return true;
    default: return false;
    }
}

// ---- operators that have no options -------------------------------------------------------------

// The builtin operator of the same operands, or -1; *count of those that it reads.
static int same_operator(int32_t code, int *count)
{
    static const struct {
        int32_t code;
        int builtin, count;
    } rows[] = {
        {NNAPI_ABS, kTfLiteBuiltinAbs, 1},
        {NNAPI_EXP, kTfLiteBuiltinExp, 1},
        {NNAPI_LOG, kTfLiteBuiltinLog, 1},
        {NNAPI_SIN, kTfLiteBuiltinSin, 1},
        {NNAPI_SQRT, kTfLiteBuiltinSqrt, 1},
        {NNAPI_RSQRT, kTfLiteBuiltinRsqrt, 1},
        {NNAPI_NEG, kTfLiteBuiltinNeg, 1},
        {NNAPI_FLOOR, kTfLiteBuiltinFloor, 1},
        {NNAPI_RELU, kTfLiteBuiltinRelu, 1},
        {NNAPI_RELU1, kTfLiteBuiltinReluN1To1, 1},
        {NNAPI_RELU6, kTfLiteBuiltinRelu6, 1},
        {NNAPI_ELU, kTfLiteBuiltinElu, 1},
        {NNAPI_HARD_SWISH, kTfLiteBuiltinHardSwish, 1},
        {NNAPI_LOGISTIC, kTfLiteBuiltinLogistic, 1},
        {NNAPI_TANH, kTfLiteBuiltinTanh, 1},
        {NNAPI_LOG_SOFTMAX, kTfLiteBuiltinLogSoftmax, 1},
        {NNAPI_LOGICAL_NOT, kTfLiteBuiltinLogicalNot, 1},
        {NNAPI_QUANTIZE, kTfLiteBuiltinQuantize, 1},
        {NNAPI_DEQUANTIZE, kTfLiteBuiltinDequantize, 1},
        {NNAPI_MAXIMUM, kTfLiteBuiltinMaximum, 2},
        {NNAPI_MINIMUM, kTfLiteBuiltinMinimum, 2},
        {NNAPI_POW, kTfLiteBuiltinPow, 2},
        {NNAPI_PRELU, kTfLiteBuiltinPrelu, 2},
        {NNAPI_EQUAL, kTfLiteBuiltinEqual, 2},
        {NNAPI_NOT_EQUAL, kTfLiteBuiltinNotEqual, 2},
        {NNAPI_LESS, kTfLiteBuiltinLess, 2},
        {NNAPI_LESS_EQUAL, kTfLiteBuiltinLessEqual, 2},
        {NNAPI_GREATER, kTfLiteBuiltinGreater, 2},
        {NNAPI_GREATER_EQUAL, kTfLiteBuiltinGreaterEqual, 2},
        {NNAPI_LOGICAL_AND, kTfLiteBuiltinLogicalAnd, 2},
        {NNAPI_LOGICAL_OR, kTfLiteBuiltinLogicalOr, 2},
        {NNAPI_RESHAPE, kTfLiteBuiltinReshape, 2},
        {NNAPI_EXPAND_DIMS, kTfLiteBuiltinExpandDims, 2},
        {NNAPI_TRANSPOSE, kTfLiteBuiltinTranspose, 2},
        {NNAPI_TILE, kTfLiteBuiltinTile, 2},
        {NNAPI_REVERSE, kTfLiteBuiltinReverseV2, 2},
        {NNAPI_PAD, kTfLiteBuiltinPad, 2},
        {NNAPI_SLICE, kTfLiteBuiltinSlice, 3},
        {NNAPI_SELECT, kTfLiteBuiltinSelect, 3},
        {NNAPI_SPACE_TO_BATCH_ND, kTfLiteBuiltinSpaceToBatchNd, 3},
        {NNAPI_EMBEDDING_LOOKUP, kTfLiteBuiltinEmbeddingLookup, 2},
        {NNAPI_FILL, kTfLiteBuiltinFill, 2},
        {NNAPI_TOPK_V2, kTfLiteBuiltinTopkV2, 2},
        {NNAPI_HASHTABLE_LOOKUP, kTfLiteBuiltinHashtableLookup, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code) {
            *count = rows[i].count;
            return rows[i].builtin;
        }
    return -1;
}

// ---- moving and picking -------------------------------------------------------------------------

static void resize(struct build *build)
{
    bool nearest = build->operation->code == NNAPI_RESIZE_NEAREST_NEIGHBOR;
    TfLiteResizeBilinearParams bilinear = {fake_bool(build, 4), fake_bool(build, 5)};
    TfLiteResizeNearestNeighborParams neighbor = {fake_bool(build, 4), fake_bool(build, 5)};
    int size = fake_ints(build, (int32_t[]){fake_int(build, 2), fake_int(build, 1)}, 2);
    if (nearest)
        READING(build, kTfLiteBuiltinResizeNearestNeighbor, neighbor, fake_in(build, 0), size);
    else
        READING(build, kTfLiteBuiltinResizeBilinear, bilinear, fake_in(build, 0), size);
}

static void join(struct build *build)
{
    int count = (int)build->operation->input_count - 1;
    TfLiteConcatenationParams joined = {.axis = fake_int(build, (uint32_t)count)};
    TfLitePackParams packed = {.values_count = count, .axis = 0};
    if (build->operation->code == NNAPI_CONCATENATION) {
        PLAIN(build, kTfLiteBuiltinConcatenation, count, joined);
        return;
    }
    packed.axis = fake_int(build, 0);
    int inputs[FAKE_OPERANDS], output = fake_out(build, 0);
    for (int i = 0; i < count; i++) inputs[i] = fake_in(build, (uint32_t)i + 1);
    fake_node(build, kTfLiteBuiltinPack, &packed, sizeof packed, inputs, count, &output, 1);
}

static void split(struct build *build)
{
    TfLiteSplitParams params = {fake_int(build, 2)};
    int outputs[FAKE_OPERANDS];
    for (uint32_t i = 0; i < build->operation->output_count; i++) outputs[i] = fake_out(build, i);
    fake_node(build, kTfLiteBuiltinSplit, &params, sizeof params, (int[]){fake_in(build, 1), fake_in(build, 0)}, 2,
              outputs, (int)build->operation->output_count);
}

static void squeeze(struct build *build)
{
    TfLiteSqueezeParams params = {.num_squeeze_dims = 0};
    const struct fake_operand *axes = fake_input(build, 1);
    for (uint32_t i = 0; i < axes->dims[0]; i++)
        params.squeeze_dims[params.num_squeeze_dims++] = ((const int32_t *)axes->value)[i];
    PLAIN(build, kTfLiteBuiltinSqueeze, 1, params);
}

// The value of a pad is a scalar of int32 where the tensor has 8 bits.
static void pad_with_value(struct build *build)
{
    const struct fake_operand *x = fake_input(build, 0);
    int value = fake_in(build, 2);
    if (fake_is_8_bit(x->type)) value = fake_byte(build, fake_in(build, 0), (uint8_t)fake_int(build, 2));
    fake_node(build, kTfLiteBuiltinPadv2, NULL, 0, (int[]){fake_in(build, 0), fake_in(build, 1), value}, 3,
              (int[]){fake_out(build, 0)}, 1);
}

static void uncrop(struct build *build)
{
    int32_t zeros[4] = {0};
    TfLiteBatchToSpaceNDParams params = {{0}};
    READING(build, kTfLiteBuiltinBatchToSpaceNd, params, fake_in(build, 0), fake_in(build, 1),
            fake_pairs(build, zeros, 2));
}

// 1, the former kind of sparse projection, is not known here.
static void project(struct build *build)
{
    enum { DENSE = 2, SPARSE = 3 };
    int kind = fake_int(build, 3);
    TfLiteLSHProjectionParams params = {kind == SPARSE ? kTfLiteLshProjectionSparse : kTfLiteLshProjectionDense};
    if (kind != DENSE && (kind != SPARSE || fake.level < NNAPI_LEVEL_3)) build->failed = true;
    READING(build, kTfLiteBuiltinLshProjection, params, fake_in(build, 0), fake_in(build, 1), fake_optional(build, 2));
}

static bool move(struct build *build)
{
    TfLiteGatherParams gather = {.axis = fake_int(build, 1)};
    TfLiteSpaceToDepthParams block = {fake_int(build, 1)};
    TfLiteMirrorPaddingParams mirror = {fake_int(build, 2) ? kTfLiteMirrorPaddingSymmetric
                                                           : kTfLiteMirrorPaddingReflect};
    TfLiteStridedSliceParams slice = {.begin_mask = fake_int(build, 4),
                                      .end_mask = fake_int(build, 5),
                                      .shrink_axis_mask = fake_int(build, 6)};
    switch (build->operation->code) {
    case NNAPI_RESIZE_BILINEAR:
    case NNAPI_RESIZE_NEAREST_NEIGHBOR: resize(build); return true;
    case NNAPI_CONCATENATION:
    case NNAPI_PACK: join(build); return true;
    case NNAPI_SPLIT: split(build); return true;
    case NNAPI_SQUEEZE: squeeze(build); return true;
    case NNAPI_LSH_PROJECTION: project(build); return true;
    case NNAPI_PAD_V2: pad_with_value(build); return true;
    case NNAPI_BATCH_TO_SPACE_ND: uncrop(build); return true;
    case NNAPI_GATHER: READING(build, kTfLiteBuiltinGather, gather, fake_in(build, 0), fake_in(build, 2)); return true;
    case NNAPI_SPACE_TO_DEPTH: PLAIN(build, kTfLiteBuiltinSpaceToDepth, 1, block); return true;
    case NNAPI_DEPTH_TO_SPACE: PLAIN(build, kTfLiteBuiltinDepthToSpace, 1, block); return true;
    case NNAPI_MIRROR_PAD: PLAIN(build, kTfLiteBuiltinMirrorPad, 2, mirror); return true;
    case NNAPI_STRIDED_SLICE: PLAIN(build, kTfLiteBuiltinStridedSlice, 4, slice); return true;
    default: return false;
    }
}

// ---- along axes ---------------------------------------------------------------------------------

static void largest(struct build *build, int builtin)
{
    TfLiteArgMaxParams params = {kTfLiteInt32};
    PLAIN(build, builtin, 2, params);
}

static void cast(struct build *build)
{
    TfLiteCastParams params = {fake_type(build, fake_in(build, 0)), fake_type(build, fake_out(build, 0))};
    PLAIN(build, kTfLiteBuiltinCast, 1, params);
}

static bool reduce(struct build *build)
{
    TfLiteReducerParams keep = {fake_bool(build, 2)}, mean = {fake_int(build, 2) != 0};
    TfLiteSoftmaxParams softmax = {fake_float(build, 1)};
    TfLiteL2NormParams normal = {kTfLiteActNone};
    TfLiteLocalResponseNormParams local = {fake_int(build, 1), fake_float(build, 2), fake_float(build, 3),
                                           fake_float(build, 4)};
    switch (build->operation->code) {
    case NNAPI_MEAN: PLAIN(build, kTfLiteBuiltinMean, 2, mean); return true;
    case NNAPI_REDUCE_MAX: PLAIN(build, kTfLiteBuiltinReduceMax, 2, keep); return true;
    case NNAPI_REDUCE_MIN: PLAIN(build, kTfLiteBuiltinReduceMin, 2, keep); return true;
    case NNAPI_REDUCE_PROD: PLAIN(build, kTfLiteBuiltinReduceProd, 2, keep); return true;
    case NNAPI_REDUCE_SUM: PLAIN(build, kTfLiteBuiltinSum, 2, keep); return true;
    case NNAPI_REDUCE_ANY: PLAIN(build, kTfLiteBuiltinReduceAny, 2, keep); return true;
    case NNAPI_SOFTMAX: PLAIN(build, kTfLiteBuiltinSoftmax, 1, softmax); return true;
    case NNAPI_L2_NORMALIZATION: PLAIN(build, kTfLiteBuiltinL2Normalization, 1, normal); return true;
    case NNAPI_LOCAL_RESPONSE_NORMALIZATION:
        PLAIN(build, kTfLiteBuiltinLocalResponseNormalization, 1, local);
        return true;
    case NNAPI_ARGMAX: largest(build, kTfLiteBuiltinArgMax); return true;
    case NNAPI_ARGMIN: largest(build, kTfLiteBuiltinArgMin); return true;
    case NNAPI_CAST: cast(build); return true;
    default: return false;
    }
}

bool fake_translate(struct build *build)
{
    int count, builtin = same_operator(build->operation->code, &count);
    if (builtin < 0) return compute(build) || move(build) || reduce(build) || fake_translate_recurrent(build);
    plain(build, builtin, count, NULL, 0);
    return true;
}
