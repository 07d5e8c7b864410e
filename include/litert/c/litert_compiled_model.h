// SPDX-License-Identifier: Apache-2.0
// A model that is ready to run: an interpreter, with accelerators' delegates applied to it. One compiled model runs one
// call at a time; several in different threads share nothing but their model and environment.
#ifndef LITERT_C_LITERT_COMPILED_MODEL_H_
#define LITERT_C_LITERT_COMPILED_MODEL_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// options: NULL means the CPU. Environment and model must outlive the compiled model, options need not.
// kLiteRtStatusErrorCompilation: a node has no accelerator among those that were asked for, and the CPU is none of
// them.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment, LiteRtModel model,
                                                          LiteRtOptions options, LiteRtCompiledModel *compiled_model);
LITERT_CAPI_EXPORT void LiteRtDestroyCompiledModel(LiteRtCompiledModel compiled_model);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelEnvironment(LiteRtCompiledModel compiled_model,
                                                                  LiteRtEnvironment *environment);
// What a buffer for an input or output must be: host memory of so many bytes, at a multiple of 64. Lent until the input
// is resized or the compiled model destroyed.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetCompiledModelInputBufferRequirements(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                              LiteRtParamIndex input, LiteRtTensorBufferRequirements *requirements);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetCompiledModelOutputBufferRequirements(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                               LiteRtParamIndex output, LiteRtTensorBufferRequirements *requirements);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelInputTensorLayout(LiteRtCompiledModel compiled_model,
                                                                        LiteRtParamIndex signature,
                                                                        LiteRtParamIndex input, LiteRtLayout *layout);
// Layouts of all outputs, num_layouts of them. update_allocation: after inputs were resized, work out the outputs' new
// shapes first.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelOutputTensorLayouts(LiteRtCompiledModel compiled_model,
                                                                          LiteRtParamIndex signature,
                                                                          size_t num_layouts, LiteRtLayout *layouts,
                                                                          bool update_allocation);
// Buffers in the order of the signature's inputs and outputs, each at least as large as its tensor. Blocks until the
// outputs are complete.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel compiled_model, LiteRtParamIndex signature,
                                                       size_t num_inputs, LiteRtTensorBuffer *inputs,
                                                       size_t num_outputs, LiteRtTensorBuffer *outputs);
// The same: *async, which may be NULL, is false.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelAsync(LiteRtCompiledModel compiled_model,
                                                            LiteRtParamIndex signature, size_t num_inputs,
                                                            LiteRtTensorBuffer *inputs, size_t num_outputs,
                                                            LiteRtTensorBuffer *outputs, bool *async);
// check is asked before each node; a run that it ends with true has kLiteRtStatusCancelled. NULL: none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetCompiledModelCancellationFunction(LiteRtCompiledModel compiled_model,
                                                                           void *user_data,
                                                                           bool (*check)(void *user_data));
// Only dimensions that the model leaves open may change; the other function changes any. No dimension may be below 1.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelResizeInputTensor(LiteRtCompiledModel compiled_model,
                                                                     LiteRtParamIndex signature, LiteRtParamIndex input,
                                                                     const int *dims, size_t rank);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelResizeInputTensorNonStrict(LiteRtCompiledModel compiled_model,
                                                                              LiteRtParamIndex signature,
                                                                              LiteRtParamIndex input, const int *dims,
                                                                              size_t rank);
// Whether every node runs on hardware that was asked for: with the GPU among it, whether all of them run there.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelIsFullyAccelerated(LiteRtCompiledModel compiled_model,
                                                                      bool *fully_accelerated);
// level: see docs/litert.md. Models on the CPU alone have no metrics.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelStartMetricsCollection(LiteRtCompiledModel compiled_model,
                                                                          int level);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelStopMetricsCollection(LiteRtCompiledModel compiled_model,
                                                                         LiteRtMetrics metrics);
// Messages that were kept (error_reporter_mode 2), one on each line; the caller frees them.
// kLiteRtStatusErrorUnsupported in another mode.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelGetErrorMessages(LiteRtCompiledModel compiled_model,
                                                                    char **messages);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelClearErrors(LiteRtCompiledModel compiled_model);

#ifdef __cplusplus
}
#endif

#endif
