// SPDX-License-Identifier: Apache-2.0
//
// Parameter structs of the built-in operators. TfLiteNode.builtin_data points to the one that
// fits the node's operator: kernels and delegates read it, the runtime owns it.
// Layouts and enum values are the binary interface of TensorFlow Lite. Where the numbers of an
// enum differ from those in the model file, the runtime translates while loading.
#ifndef TENSORFLOW_LITE_CORE_C_BUILTIN_OP_DATA_H_
#define TENSORFLOW_LITE_CORE_C_BUILTIN_OP_DATA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lengths of the arrays inside the structs below.
#define TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_SQUEEZE_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT 8
#define TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT 20

// ---------------------------------------------------------------------------------------------
// Enums

// How a window operation extends its input at the borders.
typedef enum {
    kTfLitePaddingUnknown = 0,
    kTfLitePaddingSame = 1,  // output length = ceil(input / stride), zeros on both sides
    kTfLitePaddingValid = 2  // no extension
} TfLitePadding;

typedef enum {
    kTfLiteMirrorPaddingUnknown = 0,
    kTfLiteMirrorPaddingReflect = 1,   // the border element is not repeated
    kTfLiteMirrorPaddingSymmetric = 2  // the border element is repeated
} TfLiteMirrorPaddingMode;

// Function that an op applies to its result.
typedef enum {
    kTfLiteActNone = 0,
    kTfLiteActRelu = 1,
    kTfLiteActReluN1To1 = 2,  // clamp to [-1, 1]
    kTfLiteActRelu6 = 3,      // clamp to [0, 6]
    kTfLiteActTanh = 4,
    kTfLiteActSignBit = 5,
    kTfLiteActSigmoid = 6
} TfLiteFusedActivation;

typedef enum {
    kTfLiteLshProjectionUnknown = 0,
    kTfLiteLshProjectionSparse = 1,
    kTfLiteLshProjectionDense = 2
} TfLiteLSHProjectionType;

// Element order of the weights of FULLY_CONNECTED.
typedef enum {
    kTfLiteFullyConnectedWeightsFormatDefault = 0,  // [output, input]
    // uint8 weights in blocks of 4 outputs by 16 inputs, with the top bit flipped.
    kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8 = 1
} TfLiteFullyConnectedWeightsFormat;

typedef enum {
    kTfLiteLSTMFullKernel = 0,  // 20 or 24 inputs
    kTfLiteLSTMBasicKernel = 1  // 5 inputs, one weight tensor for all gates
} TfLiteLSTMKernelType;

// How EMBEDDING_LOOKUP_SPARSE combines the rows of one entry.
typedef enum {
    kTfLiteCombinerTypeSum = 0,
    kTfLiteCombinerTypeMean = 1,  // divided by the sum of weights
    kTfLiteCombinerTypeSqrtn = 2  // divided by the square root of the sum of squared weights
} TfLiteCombinerType;

typedef enum {
    kTfLiteRngAlgorithmUnknown = 0,
    kTfLiteRngAlgorithmDefault = 1,  // the implementation chooses
    kTfLiteRngAlgorithmPhilox = 2,
    kTfLiteRngAlgorithmThreefry = 3
} TfLiteRngAlgorithm;

typedef enum TfLiteReduceWindowFunction {
    TfLiteReduceWindowFunctionUnsupported = 0,
    TfLiteReduceWindowFunctionAdd = 1,
    TfLiteReduceWindowFunctionMul = 2,
    TfLiteReduceWindowFunctionMin = 3,
    TfLiteReduceWindowFunctionMax = 4,
    TfLiteReduceWindowFunctionAll = 5,  // logical and
    TfLiteReduceWindowFunctionAny = 6   // logical or
} TfLiteReduceWindowFunction;

// ---------------------------------------------------------------------------------------------
// Parts of other structs

// Member of structs without parameters; C has no empty structs.
typedef struct {
    char dummy;
} EmptyStructPlaceholder;

// Elements of padding before the first one. The offset is what the far side gets in addition:
// 0 or 1.
typedef struct {
    int width;
    int height;
    int width_offset;
    int height_offset;
} TfLitePaddingValues;

// ---------------------------------------------------------------------------------------------
// Convolution, pooling, fully connected

// CONV_2D. Strides and dilations are at least 1.
typedef struct {
    TfLitePadding padding;
    int stride_width;
    int stride_height;
    TfLiteFusedActivation activation;
    int dilation_width_factor;
    int dilation_height_factor;
    // Type of the bias of a quantized op; kTfLiteNoType leaves it to the op's version.
    TfLiteType quantized_bias_type;
} TfLiteConvParams;

// CONV_3D and CONV_3D_TRANSPOSE.
typedef struct {
    TfLitePadding padding;
    int stride_width;
    int stride_height;
    int stride_depth;
    int dilation_width_factor;
    int dilation_height_factor;
    int dilation_depth_factor;
    TfLiteFusedActivation activation;
} TfLiteConv3DParams;

typedef TfLiteConv3DParams TfLiteConv3DTransposeParams;

// TRANSPOSE_CONV.
typedef struct {
    TfLitePadding padding;
    int stride_width;
    int stride_height;
    TfLiteFusedActivation activation;
    TfLiteType quantized_bias_type;  // as in TfLiteConvParams
} TfLiteTransposeConvParams;

// DEPTHWISE_CONV_2D.
typedef struct {
    TfLitePadding padding;
    int stride_width;
    int stride_height;
    // Output channels per input channel. Not trusted: the shapes of the tensors decide.
    int depth_multiplier;
    TfLiteFusedActivation activation;
    int dilation_width_factor;
    int dilation_height_factor;
} TfLiteDepthwiseConvParams;

// AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D.
typedef struct {
    TfLitePadding padding;
    int stride_width;
    int stride_height;
    int filter_width;
    int filter_height;
    TfLiteFusedActivation activation;
    // Set by the kernel in prepare.
    struct {
        TfLitePaddingValues padding;
    } computed;
} TfLitePoolParams;

// FULLY_CONNECTED.
typedef struct {
    TfLiteFusedActivation activation;
    TfLiteFullyConnectedWeightsFormat weights_format;
    // True: only the last dimension of the input changes; false: the output has two dimensions.
    bool keep_num_dims;
    // Float input with int8 weights: quantize the input with a zero point.
    bool asymmetric_quantize_inputs;
    TfLiteType quantized_bias_type;  // as in TfLiteConvParams
} TfLiteFullyConnectedParams;

// BATCH_MATMUL. adj_x and adj_y transpose the last two dimensions of an operand.
typedef struct {
    bool adj_x;
    bool adj_y;
    bool asymmetric_quantize_inputs;  // as in TfLiteFullyConnectedParams
} TfLiteBatchMatMulParams;

// ---------------------------------------------------------------------------------------------
// Recurrent ops. asymmetric_quantize_inputs is as in TfLiteFullyConnectedParams; time_major says
// that the input is [time, batch, depth] instead of [batch, time, depth].

// SVDF.
typedef struct {
    int rank;  // filters per unit
    TfLiteFusedActivation activation;
    bool asymmetric_quantize_inputs;
} TfLiteSVDFParams;

// RNN.
typedef struct {
    TfLiteFusedActivation activation;
    bool asymmetric_quantize_inputs;
} TfLiteRNNParams;

// UNIDIRECTIONAL_SEQUENCE_RNN.
typedef struct {
    bool time_major;
    TfLiteFusedActivation activation;
    bool asymmetric_quantize_inputs;
} TfLiteSequenceRNNParams;

// BIDIRECTIONAL_SEQUENCE_RNN.
typedef struct {
    bool time_major;
    TfLiteFusedActivation activation;
    bool merge_outputs;  // forward and backward in one tensor, one after the other in depth
    bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceRNNParams;

// LSTM. A clip of 0 means no clipping; else values are held within [-clip, clip].
typedef struct {
    TfLiteFusedActivation activation;
    float cell_clip;
    float proj_clip;
    TfLiteLSTMKernelType kernel_type;
    bool asymmetric_quantize_inputs;
} TfLiteLSTMParams;

// UNIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct {
    TfLiteFusedActivation activation;
    float cell_clip;
    float proj_clip;
    bool time_major;
    bool asymmetric_quantize_inputs;
    bool diagonal_recurrent_tensors;  // recurrent weights are vectors: the diagonals
} TfLiteUnidirectionalSequenceLSTMParams;

// BIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct {
    TfLiteFusedActivation activation;
    float cell_clip;
    float proj_clip;
    bool merge_outputs;  // as in TfLiteBidirectionalSequenceRNNParams
    bool time_major;
    bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceLSTMParams;

// ---------------------------------------------------------------------------------------------
// Arithmetic and normalisation

// ADD. pot_scale_int16: int16 tensors have powers of two as scales.
typedef struct {
    TfLiteFusedActivation activation;
    bool pot_scale_int16;
} TfLiteAddParams;

// SUB.
typedef struct {
    TfLiteFusedActivation activation;
    bool pot_scale_int16;
} TfLiteSubParams;

// MUL.
typedef struct {
    TfLiteFusedActivation activation;
} TfLiteMulParams;

// DIV.
typedef struct {
    TfLiteFusedActivation activation;
} TfLiteDivParams;

// L2_NORMALIZATION, along the last dimension.
typedef struct {
    TfLiteFusedActivation activation;
} TfLiteL2NormParams;

// LOCAL_RESPONSE_NORMALIZATION:
// x / (bias + alpha * sum of squares of the channels within `radius`) ^ beta.
typedef struct {
    int radius;
    float bias;
    float alpha;
    float beta;
} TfLiteLocalResponseNormParams;

// SOFTMAX: exp(beta * x) / sum, along the last dimension.
typedef struct {
    float beta;
} TfLiteSoftmaxParams;

// LEAKY_RELU: alpha * x for negative x.
typedef struct {
    float alpha;
} TfLiteLeakyReluParams;

// GELU. approximate: the tanh formula instead of erf.
typedef struct {
    bool approximate;
} TfLiteGeluParams;

// CUMSUM. exclusive leaves out the element itself; reverse sums from the end.
typedef struct {
    bool exclusive;
    bool reverse;
} TfLiteCumsumParams;

// FAKE_QUANT. narrow_range leaves out the lowest quantized value.
typedef struct {
    float min;
    float max;
    int num_bits;
    bool narrow_range;
} TfLiteFakeQuantParams;

// BUCKETIZE.
typedef struct {
    int num_boundaries;
    const float* boundaries;  // ascending; inside the model
} TfLiteBucketizeParams;

// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL.
typedef struct {
    bool keep_dims;  // reduced dimensions stay, with length 1
} TfLiteReducerParams;

// ARG_MAX. output_type is int32 or int64.
typedef struct {
    TfLiteType output_type;
} TfLiteArgMaxParams;

// ARG_MIN.
typedef struct {
    TfLiteType output_type;
} TfLiteArgMinParams;

// RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL. Both 0: a seed that differs each time.
typedef struct {
    int seed;
    int seed2;
} TfLiteRandomParams;

// ---------------------------------------------------------------------------------------------
// Shapes, slices, data movement. A negative axis counts from the end.

// RESHAPE. Used when the op has no shape input. One entry may be -1.
typedef struct {
    int32_t shape[TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT];
    int num_dimensions;
} TfLiteReshapeParams;

// SQUEEZE. No entry: every dimension of length 1 goes.
typedef struct {
    int32_t squeeze_dims[TFLITE_SQUEEZE_PARAMS_MAX_DIMENSION_COUNT];
    int num_squeeze_dims;
} TfLiteSqueezeParams;

// STRIDED_SLICE. Bit i of a mask speaks of entry i of begin, end and strides.
typedef struct {
    int begin_mask;        // begin is ignored: from the first element
    int end_mask;          // end is ignored: to the last element
    int ellipsis_mask;     // stands for as many full dimensions as are left
    int new_axis_mask;     // inserts a dimension of length 1
    int shrink_axis_mask;  // takes one element and drops the dimension
    bool offset;           // end is relative to begin
} TfLiteStridedSliceParams;

// CONCATENATION.
typedef struct {
    int axis;
    TfLiteFusedActivation activation;
} TfLiteConcatenationParams;

// PACK.
typedef struct {
    int values_count;
    int axis;
} TfLitePackParams;

// UNPACK.
typedef struct {
    int num;
    int axis;
} TfLiteUnpackParams;

// SPLIT.
typedef struct {
    int num_splits;
} TfLiteSplitParams;

// SPLIT_V.
typedef struct {
    int num_splits;
} TfLiteSplitVParams;

// GATHER.
typedef struct {
    int axis;
    int batch_dims;  // leading dimensions that values and indices share
} TfLiteGatherParams;

// ONE_HOT. axis: where the new dimension goes, -1 for the end.
typedef struct {
    int axis;
} TfLiteOneHotParams;

// REVERSE_SEQUENCE.
typedef struct {
    int seq_dim;
    int batch_dim;
} TfLiteReverseSequenceParams;

// MIRROR_PAD.
typedef struct {
    TfLiteMirrorPaddingMode mode;
} TfLiteMirrorPaddingParams;

// SPACE_TO_DEPTH.
typedef struct {
    int block_size;
} TfLiteSpaceToDepthParams;

// DEPTH_TO_SPACE.
typedef struct {
    int block_size;
} TfLiteDepthToSpaceParams;

// RESIZE_BILINEAR. align_corners maps corner elements onto each other; half_pixel_centers takes
// elements as areas. Not both.
typedef struct {
    bool align_corners;
    bool half_pixel_centers;
} TfLiteResizeBilinearParams;

// RESIZE_NEAREST_NEIGHBOR. As for RESIZE_BILINEAR.
typedef struct {
    bool align_corners;
    bool half_pixel_centers;
} TfLiteResizeNearestNeighborParams;

// CAST. The types of the tensors decide.
typedef struct {
    TfLiteType in_data_type;
    TfLiteType out_data_type;
} TfLiteCastParams;

// SHAPE. out_type is int32 or int64.
typedef struct {
    TfLiteType out_type;
} TfLiteShapeParams;

// UNIQUE. index_out_type is int32 or int64.
typedef struct {
    TfLiteType index_out_type;
} TfLiteUniqueParams;

// SPARSE_TO_DENSE.
typedef struct {
    bool validate_indices;
} TfLiteSparseToDenseParams;

// Ops without parameters of their own.
typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteSpaceToBatchNDParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteBatchToSpaceNDParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLitePadParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLitePadV2Params;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteTransposeParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteRankParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteMatrixDiagParams;

typedef struct {
    EmptyStructPlaceholder placeholder;
} TfLiteMatrixSetDiagParams;

// ---------------------------------------------------------------------------------------------
// Text, embeddings

// LSH_PROJECTION.
typedef struct {
    TfLiteLSHProjectionType type;
} TfLiteLSHProjectionParams;

// SKIP_GRAM.
typedef struct {
    int ngram_size;
    int max_skip_size;         // words that may be left out between two of an n-gram
    bool include_all_ngrams;   // shorter n-grams too
} TfLiteSkipGramParams;

// EMBEDDING_LOOKUP_SPARSE.
typedef struct {
    TfLiteCombinerType combiner;
} TfLiteEmbeddingLookupSparseParams;

// ---------------------------------------------------------------------------------------------
// Control flow and resources. Subgraph indices are those of the model.

// IF.
typedef struct {
    int then_subgraph_index;
    int else_subgraph_index;
} TfLiteIfParams;

// WHILE.
typedef struct {
    int cond_subgraph_index;
    int body_subgraph_index;
} TfLiteWhileParams;

// CALL_ONCE.
typedef struct {
    int init_subgraph_index;
} TfLiteCallOnceParams;

// HASHTABLE.
typedef struct {
    int table_id;  // the same id is the same table within one interpreter
    TfLiteType key_dtype;
    TfLiteType value_dtype;
} TfLiteHashtableParams;

// VAR_HANDLE. The same pair of names is the same variable within one interpreter. The strings are
// inside the model; NULL counts as empty.
typedef struct {
    const char* container;
    const char* shared_name;
} TfLiteVarHandleParams;

// ---------------------------------------------------------------------------------------------
// StableHLO. Of an array only as many entries count as its num_ field or the operand's rank says.

// STABLEHLO_CONCATENATE.
typedef struct {
    int64_t dimension;
} TfLiteStablehloConcatenateParams;

// STABLEHLO_SCATTER.
typedef struct {
    bool indices_are_sorted;
    int64_t update_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
    int num_update_window_dims;
    int64_t inserted_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
    int num_inserted_window_dims;
    int64_t scatter_dims_to_operand_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
    int num_scatter_dims_to_operand_dims;
    int64_t index_vector_dim;
    bool unique_indices;
    int update_computation_subgraph_index;
} TfLiteStablehloScatterParams;

// STABLEHLO_RNG_BIT_GENERATOR.
typedef struct {
    TfLiteRngAlgorithm algorithm;
} TfLiteStablehloRngBitGeneratorParams;

// STABLEHLO_GATHER.
typedef struct {
    int64_t offset_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
    int num_offset_dims;
    int64_t collapsed_slice_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
    int num_collapsed_slice_dims;
    int64_t start_index_map[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
    int num_start_index_map;
    int64_t index_vector_dim;
    int64_t slice_sizes[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
    int num_slice_sizes;
    bool indices_are_sorted;
} TfLiteStablehloGatherParams;

// STABLEHLO_REDUCE_WINDOW. padding holds pairs: before, after.
typedef struct {
    int64_t window_dimensions[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
    int64_t window_strides[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
    int64_t base_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
    int64_t window_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
    int64_t padding[2 * TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
    int body_subgraph_index;
} TfLiteStablehloReduceWindowParams;

// REDUCE_WINDOW.
typedef struct {
    enum TfLiteReduceWindowFunction reduce_function;
} TfLiteReduceWindowParams;

// STABLEHLO_PAD. Negative values cut elements off.
typedef struct {
    int64_t edge_padding_low[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
    int64_t edge_padding_high[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
    int64_t interior_padding[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
} TfLiteStablehloPadParams;

// STABLEHLO_COMPOSITE. name and attributes (a FlexBuffer map) are inside the model.
typedef struct {
    const char* name;
    int32_t subgraph_index;  // the same computation as plain ops
    int32_t version;
    const uint8_t* attributes;
    size_t attributes_size;
} TfLiteStablehloCompositeParams;

// STABLEHLO_CASE.
typedef struct {
    int32_t branch_subgraph_indices[TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT];
    uint32_t num_branches;
} TfLiteStablehloCaseParams;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_C_BUILTIN_OP_DATA_H_
