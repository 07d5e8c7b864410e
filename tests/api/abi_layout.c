// SPDX-License-Identifier: Apache-2.0
//
// The binary interface as numbers: size and field offsets of every public struct, and the values
// of every public enum, as measured on TensorFlow Lite itself (64-bit Linux). Nothing runs: what
// does not compile is broken. Compiles as C and as C++.
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/acceleration/configuration/c/stable_delegate.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/c_api_types.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/core/async/interop/c/types.h"
#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate_options.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"
#include "tensorflow/lite/delegates/hexagon/hexagon_delegate.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate_c_api.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

#ifdef __cplusplus
#define HOLDS(condition) static_assert(condition, #condition)
#else
#define HOLDS(condition) _Static_assert(condition, #condition)
#endif
#define SIZE(type, bytes) HOLDS(sizeof(type) == (bytes))
#define AT(type, field, bytes) HOLDS(offsetof(type, field) == (bytes))
#define VALUE(name, number) HOLDS((int)(name) == (number))

// ---- Structs of common.h. Pointers and size_t of 8 bytes, as on all 64-bit systems

#if UINTPTR_MAX == UINT64_MAX

SIZE(TfLiteTensor, 112);
AT(TfLiteTensor, type, 0);
AT(TfLiteTensor, data, 8);
AT(TfLiteTensor, dims, 16);
AT(TfLiteTensor, params, 24);
AT(TfLiteTensor, allocation_type, 32);
AT(TfLiteTensor, bytes, 40);
AT(TfLiteTensor, allocation, 48);
AT(TfLiteTensor, name, 56);
AT(TfLiteTensor, delegate, 64);
AT(TfLiteTensor, buffer_handle, 72);
AT(TfLiteTensor, data_is_stale, 76);
AT(TfLiteTensor, is_variable, 77);
AT(TfLiteTensor, quantization, 80);
AT(TfLiteTensor, sparsity, 96);
AT(TfLiteTensor, dims_signature, 104);

SIZE(TfLiteNode, 80);
AT(TfLiteNode, inputs, 0);
AT(TfLiteNode, outputs, 8);
AT(TfLiteNode, intermediates, 16);
AT(TfLiteNode, temporaries, 24);
AT(TfLiteNode, user_data, 32);
AT(TfLiteNode, builtin_data, 40);
AT(TfLiteNode, custom_initial_data, 48);
AT(TfLiteNode, custom_initial_data_size, 56);
AT(TfLiteNode, delegate, 64);
AT(TfLiteNode, might_have_side_effect, 72);

SIZE(TfLiteRegistration, 88);
AT(TfLiteRegistration, init, 0);
AT(TfLiteRegistration, free, 8);
AT(TfLiteRegistration, prepare, 16);
AT(TfLiteRegistration, invoke, 24);
AT(TfLiteRegistration, profiling_string, 32);
AT(TfLiteRegistration, builtin_code, 40);
AT(TfLiteRegistration, custom_name, 48);
AT(TfLiteRegistration, version, 56);
AT(TfLiteRegistration, registration_external, 64);
AT(TfLiteRegistration, async_kernel, 72);
AT(TfLiteRegistration, inplace_operator, 80);

SIZE(TfLiteRegistration_V3, 80);
AT(TfLiteRegistration_V3, init, 0);
AT(TfLiteRegistration_V3, free, 8);
AT(TfLiteRegistration_V3, prepare, 16);
AT(TfLiteRegistration_V3, invoke, 24);
AT(TfLiteRegistration_V3, profiling_string, 32);
AT(TfLiteRegistration_V3, builtin_code, 40);
AT(TfLiteRegistration_V3, custom_name, 48);
AT(TfLiteRegistration_V3, version, 56);
AT(TfLiteRegistration_V3, registration_external, 64);
AT(TfLiteRegistration_V3, async_kernel, 72);

SIZE(TfLiteRegistration_V2, 72);
AT(TfLiteRegistration_V2, init, 0);
AT(TfLiteRegistration_V2, free, 8);
AT(TfLiteRegistration_V2, prepare, 16);
AT(TfLiteRegistration_V2, invoke, 24);
AT(TfLiteRegistration_V2, profiling_string, 32);
AT(TfLiteRegistration_V2, builtin_code, 40);
AT(TfLiteRegistration_V2, custom_name, 48);
AT(TfLiteRegistration_V2, version, 56);
AT(TfLiteRegistration_V2, registration_external, 64);

SIZE(TfLiteRegistration_V1, 64);
AT(TfLiteRegistration_V1, init, 0);
AT(TfLiteRegistration_V1, free, 8);
AT(TfLiteRegistration_V1, prepare, 16);
AT(TfLiteRegistration_V1, invoke, 24);
AT(TfLiteRegistration_V1, profiling_string, 32);
AT(TfLiteRegistration_V1, builtin_code, 40);
AT(TfLiteRegistration_V1, custom_name, 48);
AT(TfLiteRegistration_V1, version, 56);

SIZE(TfLiteDelegate, 56);
AT(TfLiteDelegate, data_, 0);
AT(TfLiteDelegate, Prepare, 8);
AT(TfLiteDelegate, CopyFromBufferHandle, 16);
AT(TfLiteDelegate, CopyToBufferHandle, 24);
AT(TfLiteDelegate, FreeBufferHandle, 32);
AT(TfLiteDelegate, flags, 40);
AT(TfLiteDelegate, opaque_delegate_builder, 48);

#if defined(_WIN32)
SIZE(TfLiteContext, 216);
AT(TfLiteContext, TfLiteIntArrayCreate, 200);
AT(TfLiteContext, TfLiteIntArrayFree, 208);
#else
SIZE(TfLiteContext, 200);
#endif
AT(TfLiteContext, tensors_size, 0);
AT(TfLiteContext, GetExecutionPlan, 8);
AT(TfLiteContext, tensors, 16);
AT(TfLiteContext, impl_, 24);
AT(TfLiteContext, ResizeTensor, 32);
AT(TfLiteContext, ReportError, 40);
AT(TfLiteContext, AddTensors, 48);
AT(TfLiteContext, GetNodeAndRegistration, 56);
AT(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels, 64);
AT(TfLiteContext, recommended_num_threads, 72);
AT(TfLiteContext, GetExternalContext, 80);
AT(TfLiteContext, SetExternalContext, 88);
AT(TfLiteContext, allow_fp32_relax_to_fp16, 96);
AT(TfLiteContext, profiler, 104);
AT(TfLiteContext, AllocatePersistentBuffer, 112);
AT(TfLiteContext, AllocateBufferForEval, 120);
AT(TfLiteContext, RequestScratchBufferInArena, 128);
AT(TfLiteContext, GetScratchBuffer, 136);
AT(TfLiteContext, ResizeTensorExplicit, 144);
AT(TfLiteContext, PreviewDelegatePartitioning, 152);
AT(TfLiteContext, GetTensor, 160);
AT(TfLiteContext, GetEvalTensor, 168);
AT(TfLiteContext, GetModelMetadata, 176);
AT(TfLiteContext, AcquireSubgraphContext, 184);
AT(TfLiteContext, ReleaseSubgraphContext, 192);

SIZE(TfLiteIntArray, 4);
AT(TfLiteIntArray, size, 0);
AT(TfLiteIntArray, data, 4);

SIZE(TfLiteFloatArray, 4);
AT(TfLiteFloatArray, size, 0);
AT(TfLiteFloatArray, data, 4);

SIZE(TfLiteQuantizationParams, 8);
AT(TfLiteQuantizationParams, scale, 0);
AT(TfLiteQuantizationParams, zero_point, 4);

SIZE(TfLiteQuantization, 16);
AT(TfLiteQuantization, type, 0);
AT(TfLiteQuantization, params, 8);

SIZE(TfLiteAffineQuantization, 24);
AT(TfLiteAffineQuantization, scale, 0);
AT(TfLiteAffineQuantization, zero_point, 8);
AT(TfLiteAffineQuantization, quantized_dimension, 16);

SIZE(TfLiteBlockwiseQuantization, 16);
AT(TfLiteBlockwiseQuantization, scale, 0);
AT(TfLiteBlockwiseQuantization, zero_point, 4);
AT(TfLiteBlockwiseQuantization, blocksize, 8);
AT(TfLiteBlockwiseQuantization, quantized_dimension, 12);

SIZE(TfLiteMultiAxisQuantization, 24);
AT(TfLiteMultiAxisQuantization, scales, 0);
AT(TfLiteMultiAxisQuantization, zero_points, 4);
AT(TfLiteMultiAxisQuantization, blocksize, 8);
AT(TfLiteMultiAxisQuantization, quantized_dimensions, 16);

SIZE(TfLiteSparsity, 32);
AT(TfLiteSparsity, traversal_order, 0);
AT(TfLiteSparsity, block_map, 8);
AT(TfLiteSparsity, dim_metadata, 16);
AT(TfLiteSparsity, dim_metadata_size, 24);

SIZE(TfLiteDimensionMetadata, 24);
AT(TfLiteDimensionMetadata, format, 0);
AT(TfLiteDimensionMetadata, dense_size, 4);
AT(TfLiteDimensionMetadata, array_segments, 8);
AT(TfLiteDimensionMetadata, array_indices, 16);

SIZE(TfLiteDelegateParams, 32);
AT(TfLiteDelegateParams, delegate, 0);
AT(TfLiteDelegateParams, nodes_to_replace, 8);
AT(TfLiteDelegateParams, input_tensors, 16);
AT(TfLiteDelegateParams, output_tensors, 24);

SIZE(TfLiteOpaqueDelegateParams, 40);
AT(TfLiteOpaqueDelegateParams, delegate, 0);
AT(TfLiteOpaqueDelegateParams, delegate_data, 8);
AT(TfLiteOpaqueDelegateParams, nodes_to_replace, 16);
AT(TfLiteOpaqueDelegateParams, input_tensors, 24);
AT(TfLiteOpaqueDelegateParams, output_tensors, 32);

SIZE(TfLiteOpaqueDelegateBuilder, 48);
AT(TfLiteOpaqueDelegateBuilder, data, 0);
AT(TfLiteOpaqueDelegateBuilder, Prepare, 8);
AT(TfLiteOpaqueDelegateBuilder, CopyFromBufferHandle, 16);
AT(TfLiteOpaqueDelegateBuilder, CopyToBufferHandle, 24);
AT(TfLiteOpaqueDelegateBuilder, FreeBufferHandle, 32);
AT(TfLiteOpaqueDelegateBuilder, flags, 40);

SIZE(TfLiteCustomAllocation, 16);
AT(TfLiteCustomAllocation, data, 0);
AT(TfLiteCustomAllocation, bytes, 8);

SIZE(TfLiteAllocator, 32);
AT(TfLiteAllocator, data, 0);
AT(TfLiteAllocator, allocate, 8);
AT(TfLiteAllocator, reallocate, 16);
AT(TfLiteAllocator, deallocate, 24);

SIZE(TfLiteExternalContext, 16);
AT(TfLiteExternalContext, type, 0);
AT(TfLiteExternalContext, Refresh, 8);

SIZE(TfLiteEvalTensor, 24);
AT(TfLiteEvalTensor, data, 0);
AT(TfLiteEvalTensor, dims, 8);
AT(TfLiteEvalTensor, type, 16);

SIZE(TfLitePtrUnion, 8);
SIZE(TfLiteBufferHandle, 4);
SIZE(TfLiteComplex64, 8);
SIZE(TfLiteComplex128, 16);
SIZE(TfLiteFloat16, 2);
SIZE(TfLiteBFloat16, 2);

// ---- Options of delegates, profiler

SIZE(TfLiteGpuDelegateOptionsV2, 56);
AT(TfLiteGpuDelegateOptionsV2, is_precision_loss_allowed, 0);
AT(TfLiteGpuDelegateOptionsV2, inference_preference, 4);
AT(TfLiteGpuDelegateOptionsV2, inference_priority1, 8);
AT(TfLiteGpuDelegateOptionsV2, inference_priority2, 12);
AT(TfLiteGpuDelegateOptionsV2, inference_priority3, 16);
AT(TfLiteGpuDelegateOptionsV2, experimental_flags, 24);
AT(TfLiteGpuDelegateOptionsV2, max_delegated_partitions, 32);
AT(TfLiteGpuDelegateOptionsV2, serialization_dir, 40);
AT(TfLiteGpuDelegateOptionsV2, model_token, 48);

SIZE(TfLiteGlCompileOptions, 16);
AT(TfLiteGlCompileOptions, precision_loss_allowed, 0);
AT(TfLiteGlCompileOptions, preferred_gl_object_type, 4);
AT(TfLiteGlCompileOptions, dynamic_batch_enabled, 8);
AT(TfLiteGlCompileOptions, inline_parameters, 12);

SIZE(TfLiteGpuDelegateOptions, 24);
AT(TfLiteGpuDelegateOptions, metadata, 0);
AT(TfLiteGpuDelegateOptions, compile_options, 8);

SIZE(TFLGpuDelegateOptions, 12);
AT(TFLGpuDelegateOptions, allow_precision_loss, 0);
AT(TFLGpuDelegateOptions, wait_type, 4);
AT(TFLGpuDelegateOptions, enable_quantization, 8);

SIZE(TfLiteCoreMlDelegateOptions, 16);
AT(TfLiteCoreMlDelegateOptions, enabled_devices, 0);
AT(TfLiteCoreMlDelegateOptions, coreml_version, 4);
AT(TfLiteCoreMlDelegateOptions, max_delegated_partitions, 8);
AT(TfLiteCoreMlDelegateOptions, min_nodes_per_partition, 12);

SIZE(TfLiteExternalDelegateOptions, 4120);
AT(TfLiteExternalDelegateOptions, lib_path, 0);
AT(TfLiteExternalDelegateOptions, count, 8);
AT(TfLiteExternalDelegateOptions, keys, 16);
AT(TfLiteExternalDelegateOptions, values, 2064);
AT(TfLiteExternalDelegateOptions, insert, 4112);

SIZE(TfLiteXNNPackDelegateOptions, 64);
AT(TfLiteXNNPackDelegateOptions, num_threads, 0);
AT(TfLiteXNNPackDelegateOptions, runtime_flags, 4);
AT(TfLiteXNNPackDelegateOptions, flags, 8);
AT(TfLiteXNNPackDelegateOptions, weights_cache, 16);
AT(TfLiteXNNPackDelegateOptions, handle_variable_ops, 24);
AT(TfLiteXNNPackDelegateOptions, weight_cache_file_path, 32);
AT(TfLiteXNNPackDelegateOptions, weight_cache_file_descriptor, 40);
AT(TfLiteXNNPackDelegateOptions, weight_cache_provider, 48);
AT(TfLiteXNNPackDelegateOptions, weight_cache_lock_memory, 56);

SIZE(TfLiteTelemetryProfilerStruct, 56);
AT(TfLiteTelemetryProfilerStruct, data, 0);
AT(TfLiteTelemetryProfilerStruct, ReportTelemetryEvent, 8);
AT(TfLiteTelemetryProfilerStruct, ReportTelemetryOpEvent, 16);
AT(TfLiteTelemetryProfilerStruct, ReportSettings, 24);
AT(TfLiteTelemetryProfilerStruct, ReportBeginOpInvokeEvent, 32);
AT(TfLiteTelemetryProfilerStruct, ReportEndOpInvokeEvent, 40);
AT(TfLiteTelemetryProfilerStruct, ReportOpInvokeEvent, 48);

SIZE(TfLiteGpuCompileOptions_New, 8);
AT(TfLiteGpuCompileOptions_New, inference_priority, 4);
SIZE(TfLiteGpuDelegateOptions_New, 40);
AT(TfLiteGpuDelegateOptions_New, egl_display, 8);
AT(TfLiteGpuDelegateOptions_New, egl_context, 16);
AT(TfLiteGpuDelegateOptions_New, serialized_binary_cache_data, 24);
AT(TfLiteGpuDelegateOptions_New, serialized_binary_cache_size, 32);

SIZE(TfLiteHexagonDelegateOptions, 48);
AT(TfLiteHexagonDelegateOptions, powersave_level, 4);
AT(TfLiteHexagonDelegateOptions, print_graph_profile, 8);
AT(TfLiteHexagonDelegateOptions, print_graph_debug, 9);
AT(TfLiteHexagonDelegateOptions, max_delegated_partitions, 12);
AT(TfLiteHexagonDelegateOptions, min_nodes_per_partition, 16);
AT(TfLiteHexagonDelegateOptions, enable_dynamic_batch_size, 20);
AT(TfLiteHexagonDelegateOptions, max_batch_size, 24);
AT(TfLiteHexagonDelegateOptions, input_batch_dimensions, 32);
AT(TfLiteHexagonDelegateOptions, output_batch_dimensions, 40);
SIZE(TfLiteNnapiDelegateOptions, 56);
AT(TfLiteNnapiDelegateOptions, accelerator_name, 8);
AT(TfLiteNnapiDelegateOptions, model_token, 24);
AT(TfLiteNnapiDelegateOptions, disallow_nnapi_cpu, 32);
AT(TfLiteNnapiDelegateOptions, allow_fp16, 36);
AT(TfLiteNnapiDelegateOptions, max_number_delegated_partitions, 40);
AT(TfLiteNnapiDelegateOptions, nnapi_support_library_handle, 48);

SIZE(TfLiteDelegatePlugin, 24);
AT(TfLiteDelegatePlugin, destroy, 8);
AT(TfLiteDelegatePlugin, get_delegate_errno, 16);
SIZE(TfLiteStableDelegate, 32);
AT(TfLiteStableDelegate, delegate_name, 8);
AT(TfLiteStableDelegate, delegate_version, 16);
AT(TfLiteStableDelegate, delegate_plugin, 24);

SIZE(TfLiteTelemetrySettings, 16);
AT(TfLiteTelemetrySettings, source, 0);
AT(TfLiteTelemetrySettings, data, 8);

// ---- Parameter structs of built-in operators

SIZE(EmptyStructPlaceholder, 1);
SIZE(TfLitePaddingValues, 16);
SIZE(TfLiteMirrorPaddingParams, 4);
SIZE(TfLiteConvParams, 28);
SIZE(TfLiteConv3DParams, 32);
SIZE(TfLitePoolParams, 40);
SIZE(TfLiteDepthwiseConvParams, 28);
SIZE(TfLiteSVDFParams, 12);
SIZE(TfLiteRNNParams, 8);
SIZE(TfLiteSequenceRNNParams, 12);
SIZE(TfLiteBidirectionalSequenceRNNParams, 12);
SIZE(TfLiteFullyConnectedParams, 16);
SIZE(TfLiteLSHProjectionParams, 4);
SIZE(TfLiteSoftmaxParams, 4);
SIZE(TfLiteConcatenationParams, 8);
SIZE(TfLiteAddParams, 8);
SIZE(TfLiteSpaceToBatchNDParams, 1);
SIZE(TfLiteBatchToSpaceNDParams, 1);
SIZE(TfLiteBatchMatMulParams, 3);
SIZE(TfLiteMulParams, 4);
SIZE(TfLiteSubParams, 8);
SIZE(TfLiteDivParams, 4);
SIZE(TfLiteL2NormParams, 4);
SIZE(TfLiteLocalResponseNormParams, 16);
SIZE(TfLiteLSTMParams, 20);
SIZE(TfLiteUnidirectionalSequenceLSTMParams, 16);
SIZE(TfLiteBidirectionalSequenceLSTMParams, 16);
SIZE(TfLiteResizeBilinearParams, 2);
SIZE(TfLiteResizeNearestNeighborParams, 2);
SIZE(TfLitePadParams, 1);
SIZE(TfLitePadV2Params, 1);
SIZE(TfLiteReshapeParams, 36);
SIZE(TfLiteSkipGramParams, 12);
SIZE(TfLiteSpaceToDepthParams, 4);
SIZE(TfLiteDepthToSpaceParams, 4);
SIZE(TfLiteCastParams, 8);
SIZE(TfLiteEmbeddingLookupSparseParams, 4);
SIZE(TfLiteGatherParams, 8);
SIZE(TfLiteTransposeParams, 1);
SIZE(TfLiteReducerParams, 1);
SIZE(TfLiteSplitParams, 4);
SIZE(TfLiteSplitVParams, 4);
SIZE(TfLiteSqueezeParams, 36);
SIZE(TfLiteStridedSliceParams, 24);
SIZE(TfLiteArgMaxParams, 4);
SIZE(TfLiteArgMinParams, 4);
SIZE(TfLiteTransposeConvParams, 20);
SIZE(TfLiteSparseToDenseParams, 1);
SIZE(TfLiteShapeParams, 4);
SIZE(TfLiteRankParams, 1);
SIZE(TfLiteFakeQuantParams, 16);
SIZE(TfLitePackParams, 8);
SIZE(TfLiteOneHotParams, 4);
SIZE(TfLiteUnpackParams, 8);
SIZE(TfLiteLeakyReluParams, 4);
SIZE(TfLiteUniqueParams, 4);
SIZE(TfLiteReverseSequenceParams, 8);
SIZE(TfLiteMatrixDiagParams, 1);
SIZE(TfLiteMatrixSetDiagParams, 1);
SIZE(TfLiteIfParams, 8);
SIZE(TfLiteWhileParams, 8);
SIZE(TfLiteCumsumParams, 2);
SIZE(TfLiteCallOnceParams, 4);
SIZE(TfLiteHashtableParams, 12);
SIZE(TfLiteVarHandleParams, 16);
SIZE(TfLiteRandomParams, 8);
SIZE(TfLiteBucketizeParams, 16);
SIZE(TfLiteGeluParams, 1);
SIZE(TfLiteStablehloConcatenateParams, 8);
SIZE(TfLiteStablehloScatterParams, 240);
SIZE(TfLiteStablehloRngBitGeneratorParams, 4);
SIZE(TfLiteStablehloGatherParams, 296);
SIZE(TfLiteStablehloReduceWindowParams, 392);
SIZE(TfLiteReduceWindowParams, 4);
SIZE(TfLiteStablehloPadParams, 192);
SIZE(TfLiteStablehloCompositeParams, 32);
SIZE(TfLiteStablehloCaseParams, 84);
SIZE(TfLiteConv3DTransposeParams, 32);

AT(TfLitePoolParams, computed, 24);
AT(TfLiteReshapeParams, num_dimensions, 32);
AT(TfLiteStablehloScatterParams, update_window_dims, 8);
AT(TfLiteStablehloScatterParams, index_vector_dim, 224);
AT(TfLiteStablehloGatherParams, slice_sizes, 224);
AT(TfLiteStablehloReduceWindowParams, padding, 256);
AT(TfLiteStablehloCompositeParams, attributes, 16);

#endif

// ---- Enums

SIZE(TfLiteStatus, 4);
SIZE(TfLiteType, 4);
SIZE(TfLiteBuiltinOperator, 4);

VALUE(kTfLiteOk, 0);
VALUE(kTfLiteError, 1);
VALUE(kTfLiteDelegateError, 2);
VALUE(kTfLiteApplicationError, 3);
VALUE(kTfLiteDelegateDataNotFound, 4);
VALUE(kTfLiteDelegateDataWriteError, 5);
VALUE(kTfLiteDelegateDataReadError, 6);
VALUE(kTfLiteUnresolvedOps, 7);
VALUE(kTfLiteCancelled, 8);
VALUE(kTfLiteOutputShapeNotKnown, 9);

VALUE(kTfLiteNoType, 0);
VALUE(kTfLiteFloat32, 1);
VALUE(kTfLiteInt32, 2);
VALUE(kTfLiteUInt8, 3);
VALUE(kTfLiteInt64, 4);
VALUE(kTfLiteString, 5);
VALUE(kTfLiteBool, 6);
VALUE(kTfLiteInt16, 7);
VALUE(kTfLiteComplex64, 8);
VALUE(kTfLiteInt8, 9);
VALUE(kTfLiteFloat16, 10);
VALUE(kTfLiteFloat64, 11);
VALUE(kTfLiteComplex128, 12);
VALUE(kTfLiteUInt64, 13);
VALUE(kTfLiteResource, 14);
VALUE(kTfLiteVariant, 15);
VALUE(kTfLiteUInt32, 16);
VALUE(kTfLiteUInt16, 17);
VALUE(kTfLiteInt4, 18);
VALUE(kTfLiteBFloat16, 19);
VALUE(kTfLiteInt2, 20);
VALUE(kTfLiteUInt4, 21);
VALUE(kTfLiteFloat8E4M3FN, 22);
VALUE(kTfLiteFloat8E5M2, 23);

VALUE(kTfLiteMemNone, 0);
VALUE(kTfLiteMmapRo, 1);
VALUE(kTfLiteArenaRw, 2);
VALUE(kTfLiteArenaRwPersistent, 3);
VALUE(kTfLiteDynamic, 4);
VALUE(kTfLitePersistentRo, 5);
VALUE(kTfLiteCustom, 6);
VALUE(kTfLiteVariantObject, 7);
VALUE(kTfLiteNonCpu, 8);

VALUE(kTfLiteNoQuantization, 0);
VALUE(kTfLiteAffineQuantization, 1);
VALUE(kTfLiteBlockwiseQuantization, 2);
VALUE(kTfLiteMultiAxisQuantization, 3);

VALUE(kTfLiteDimDense, 0);
VALUE(kTfLiteDimSparseCSR, 1);

VALUE(kTfLiteDelegateFlagsNone, 0);
VALUE(kTfLiteDelegateFlagsAllowDynamicTensors, 1);
VALUE(kTfLiteDelegateFlagsRequirePropagatedShapes, 2);
VALUE(kTfLiteDelegateFlagsPerOperatorProfiling, 4);
VALUE(kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate, 8);

VALUE(kTfLiteEigenContext, 0);
VALUE(kTfLiteGemmLowpContext, 1);
VALUE(kTfLiteEdgeTpuContext, 2);
VALUE(kTfLiteCpuBackendContext, 3);
VALUE(kTfLiteLiteRtBufferContext, 4);
VALUE(kTfLiteMaxExternalContexts, 5);

VALUE(kTfLiteCustomAllocationFlagsNone, 0);
VALUE(kTfLiteCustomAllocationFlagsSkipAlignCheck, 1);

VALUE(kTfLiteNullBufferHandle, -1);
VALUE(kTfLiteOptionalTensor, -1);
VALUE(kTfLiteMaxSharableOpInputs, 3);

VALUE(kTfLiteInplaceOpNone, 0);
VALUE(kTfLiteInplaceOpDataUnmodified, 1);
VALUE(kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput, 2);
VALUE(kTfLiteInplaceOpInput0Shared, 4);
VALUE(kTfLiteInplaceOpInput1Shared, 8);
VALUE(kTfLiteInplaceOpInput2Shared, 16);

VALUE(kTfLiteAllocationStrategyUnknown, 0);
VALUE(kTfLiteAllocationStrategyNone, 1);
VALUE(kTfLiteAllocationStrategyMMap, 2);
VALUE(kTfLiteAllocationStrategyArena, 3);
VALUE(kTfLiteAllocationStrategyMalloc, 4);
VALUE(kTfLiteAllocationStrategyNew, 5);

VALUE(kTfLiteRunStabilityUnknown, 0);
VALUE(kTfLiteRunStabilityUnstable, 1);
VALUE(kTfLiteRunStabilitySingleRun, 2);
VALUE(kTfLiteRunStabilityAcrossRuns, 3);

VALUE(kTfLiteRunStepUnknown, 0);
VALUE(kTfLiteRunStepInit, 1);
VALUE(kTfLiteRunStepPrepare, 2);
VALUE(kTfLiteRunStepEval, 3);

VALUE(kTfLitePaddingUnknown, 0);
VALUE(kTfLitePaddingSame, 1);
VALUE(kTfLitePaddingValid, 2);

VALUE(kTfLiteMirrorPaddingUnknown, 0);
VALUE(kTfLiteMirrorPaddingReflect, 1);
VALUE(kTfLiteMirrorPaddingSymmetric, 2);

VALUE(kTfLiteActNone, 0);
VALUE(kTfLiteActRelu, 1);
VALUE(kTfLiteActReluN1To1, 2);
VALUE(kTfLiteActRelu6, 3);
VALUE(kTfLiteActTanh, 4);
VALUE(kTfLiteActSignBit, 5);
VALUE(kTfLiteActSigmoid, 6);

VALUE(kTfLiteFullyConnectedWeightsFormatDefault, 0);
VALUE(kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8, 1);

VALUE(kTfLiteLSTMFullKernel, 0);
VALUE(kTfLiteLSTMBasicKernel, 1);

VALUE(kTfLiteLshProjectionUnknown, 0);
VALUE(kTfLiteLshProjectionSparse, 1);
VALUE(kTfLiteLshProjectionDense, 2);

VALUE(kTfLiteCombinerTypeSum, 0);
VALUE(kTfLiteCombinerTypeMean, 1);
VALUE(kTfLiteCombinerTypeSqrtn, 2);

VALUE(kTfLiteRngAlgorithmUnknown, 0);
VALUE(kTfLiteRngAlgorithmDefault, 1);
VALUE(kTfLiteRngAlgorithmPhilox, 2);
VALUE(kTfLiteRngAlgorithmThreefry, 3);

VALUE(TfLiteReduceWindowFunctionUnsupported, 0);
VALUE(TfLiteReduceWindowFunctionAdd, 1);
VALUE(TfLiteReduceWindowFunctionMul, 2);
VALUE(TfLiteReduceWindowFunctionMin, 3);
VALUE(TfLiteReduceWindowFunctionMax, 4);
VALUE(TfLiteReduceWindowFunctionAll, 5);
VALUE(TfLiteReduceWindowFunctionAny, 6);

VALUE(TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER, 0);
VALUE(TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED, 1);
VALUE(TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED, 2);

VALUE(TFLITE_GPU_INFERENCE_PRIORITY_AUTO, 0);
VALUE(TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION, 1);
VALUE(TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY, 2);
VALUE(TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE, 3);

VALUE(TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE, 0);
VALUE(TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT, 1);
VALUE(TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY, 2);
VALUE(TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY, 4);
VALUE(TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION, 8);

VALUE(TFLITE_GL_OBJECT_TYPE_FASTEST, 0);
VALUE(TFLITE_GL_OBJECT_TYPE_TEXTURE, 1);
VALUE(TFLITE_GL_OBJECT_TYPE_BUFFER, 2);

VALUE(TFLITE_GPU_DATA_LAYOUT_BHWC, 0);
VALUE(TFLITE_GPU_DATA_LAYOUT_DHWC4, 1);

VALUE(TFLGpuDelegateWaitTypePassive, 0);
VALUE(TFLGpuDelegateWaitTypeActive, 1);
VALUE(TFLGpuDelegateWaitTypeDoNotWait, 2);
VALUE(TFLGpuDelegateWaitTypeAggressive, 3);

VALUE(TfLiteCoreMlDelegateDevicesWithNeuralEngine, 0);
VALUE(TfLiteCoreMlDelegateAllDevices, 1);

VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_QS8, 0x1);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_QU8, 0x2);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16, 0x4);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_DYNAMIC_FULLY_CONNECTED, 0x8);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_VARIABLE_OPERATORS, 0x10);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_TRANSIENT_INDIRECTION_BUFFER, 0x20);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_LATEST_OPERATORS, 0x40);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_SUBGRAPH_RESHAPING, 0x80);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC, 0x200);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_SUBGRAPH_RESHAPING, 0x400);
VALUE(TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_DYNAMICALLY_QUANTIZED_OPS, 0x800);

VALUE(kTfLiteIoTypeUnknown, 0);
VALUE(kTfLiteIoTypeInput, 1);
VALUE(kTfLiteIoTypeOutput, 2);

VALUE(kTfLiteAttrMapTypeUnknown, 0);
VALUE(kTfLiteAttrMapTypeBuffer, 1);
VALUE(kTfLiteAttrMapTypeSync, 2);

VALUE(kTfLiteBufferAttrKeyUnknown, 0);
VALUE(kTfLiteBufferAttrKeyResourceTypeName, 1);
VALUE(kTfLiteBufferAttrKeyAlignment, 2);
VALUE(kTfLiteBufferAttrKeyPadding, 3);
VALUE(kTfLiteBufferAttrKeyOffset, 4);
VALUE(kTfLiteBufferAttrKeySize, 5);
VALUE(kTfLiteBufferAttrKeyCurrentHostCoherencyState, 6);
VALUE(kTfLiteBufferAttrKeyPreferredHostCoherencyState, 7);
VALUE(kTfLiteBufferAttrKeyCurrentHostCacheState, 8);
VALUE(kTfLiteBufferAttrKeyPreferredHostCacheState, 9);

VALUE(kTfLiteSynchronizationAttrKeyUnknown, 0);
VALUE(kTfLiteSynchronizationAttrKeyObjectTypeName, 1);

HOLDS(kTfLiteInplaceOpMaxValue == UINT64_MAX);

// ---- Built-in operator codes: both ends and samples between

VALUE(kTfLiteBuiltinAdd, 0);
VALUE(kTfLiteBuiltinAveragePool2d, 1);
VALUE(kTfLiteBuiltinFullyConnected, 9);
VALUE(kTfLiteBuiltinSoftmax, 25);
VALUE(kTfLiteBuiltinCustom, 32);
VALUE(kTfLiteBuiltinDelegate, 51);
VALUE(kTfLiteBuiltinPack, 83);
VALUE(kTfLiteBuiltinMirrorPad, 100);
VALUE(kTfLiteBuiltinIf, 118);
VALUE(kTfLiteBuiltinNonMaxSuppressionV4, 120);
VALUE(kTfLiteBuiltinBatchMatmul, 126);
VALUE(kTfLiteBuiltinPlaceholderForGreaterOpCodes, 127);
VALUE(kTfLiteBuiltinCumsum, 128);
VALUE(kTfLiteBuiltinConv3dTranspose, 141);
VALUE(kTfLiteBuiltinGelu, 150);
VALUE(kTfLiteBuiltinRightShift, 161);
VALUE(kTfLiteBuiltinStablehloLogistic, 162);
VALUE(kTfLiteBuiltinStablehloScatter, 190);
VALUE(kTfLiteBuiltinDilate, 203);
VALUE(kTfLiteBuiltinReduceWindow, 205);
VALUE(kTfLiteBuiltinStablehloComposite, 206);
VALUE(kTfLiteBuiltinStablehloCbrt, 208);
VALUE(kTfLiteBuiltinStablehloCase, 209);

int main(void)
{
    return 0;
}
