// SPDX-License-Identifier: Apache-2.0
//
// Runs models: load a model, set options, create an interpreter, fill its inputs, invoke it, read
// its outputs. A whole program:
//     TfLiteModel* model = TfLiteModelCreateFromFile("model.tflite");
//     TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, NULL);
//     TfLiteInterpreterAllocateTensors(interpreter);
//     (TfLiteTensorCopyFromBuffer, TfLiteInterpreterInvoke, TfLiteTensorCopyToBuffer)
// Each function that fails reports why, once, through the error reporter (default: stderr).
#ifndef TENSORFLOW_LITE_CORE_C_C_API_H_
#define TENSORFLOW_LITE_CORE_C_C_API_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

// A verified model. Never changes; many interpreters and threads may use one.
typedef struct TfLiteModel TfLiteModel;

// What an interpreter is created with. Not for use by two threads at a time.
typedef struct TfLiteInterpreterOptions TfLiteInterpreterOptions;

// A model made ready to run, with its own tensors. Not for use by two threads at a time, save for
// TfLiteInterpreterCancel.
typedef struct TfLiteInterpreter TfLiteInterpreter;

// One signature of a model: inputs and outputs by name.
typedef struct TfLiteSignatureRunner TfLiteSignatureRunner;

// ---------------------------------------------------------------------------------------------
// Versions

// Version of TensorFlow Lite that this library stands in for, such as "2.19.0". Static.
TFL_CAPI_EXPORT extern const char* TfLiteVersion(void);

// Version of the interface for extensions (operators, delegates). Static.
TFL_CAPI_EXPORT extern const char* TfLiteExtensionApisVersion(void);

// Version of the model file format: 3.
TFL_CAPI_EXPORT extern int TfLiteSchemaVersion(void);

// ---------------------------------------------------------------------------------------------
// Models

// Model over bytes in memory, which are verified and not copied: they must stay unchanged until
// the model and every interpreter made from it are deleted. NULL when they are not a valid model.
// The caller frees the model with TfLiteModelDelete.
TFL_CAPI_EXPORT extern TfLiteModel* TfLiteModelCreate(const void* model_data, size_t model_size);

// As TfLiteModelCreate; messages go to reporter, which formats like vprintf and gets user_data.
TFL_CAPI_EXPORT extern TfLiteModel* TfLiteModelCreateWithErrorReporter(
    const void* model_data, size_t model_size,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Model from a file, mapped where the system can. Do not change the file while it is in use. NULL
// when the file cannot be read or is not a valid model.
TFL_CAPI_EXPORT extern TfLiteModel* TfLiteModelCreateFromFile(const char* model_path);

// As TfLiteModelCreateFromFile, with the reporter of TfLiteModelCreateWithErrorReporter.
TFL_CAPI_EXPORT extern TfLiteModel* TfLiteModelCreateFromFileWithErrorReporter(
    const char* model_path, void (*reporter)(void* user_data, const char* format, va_list args),
    void* user_data);

// Gives up the caller's hold on the model. Interpreters keep what they need of it, so it may be
// deleted before them. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteModelDelete(TfLiteModel* model);

// ---------------------------------------------------------------------------------------------
// Options

// Default options. The caller frees them with TfLiteInterpreterOptionsDelete; that may be right
// after the interpreter was created. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate(void);

// Copy that the caller owns. Delegates and operators in it are the same objects. NULL when memory
// is short.
TFL_CAPI_EXPORT extern TfLiteInterpreterOptions* TfLiteInterpreterOptionsCopy(
    const TfLiteInterpreterOptions* from);

// Frees options. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options);

// CPU threads for one invocation, the caller's among them, 64 at most. -1 (default): the library chooses, one. 0 counts
// as 1.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetNumThreads(
    TfLiteInterpreterOptions* options, int32_t num_threads);

// Adds a delegate, applied when the interpreter is created, in the order of these calls. The
// caller keeps it alive until the interpreter is deleted, and frees it. With NULL, as with a delegate
// that fails, there will be no interpreter.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions* options,
                                                                TfLiteOpaqueDelegate* delegate);

// Sends the interpreter's messages to reporter, which formats like vprintf. user_data is passed to
// each call and must outlive the interpreter. May be called from any thread that invokes.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetErrorReporter(
    TfLiteInterpreterOptions* options,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Adds an operator: it serves the code, name and version it was created with, before built-in
// ones. The caller keeps it alive until the interpreter is deleted, and frees it.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions* options,
                                                                TfLiteOperator* registration);

// Whether TfLiteInterpreterCancel works. Off by default. Always kTfLiteOk for options not NULL.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterOptionsEnableCancellation(
    TfLiteInterpreterOptions* options, bool enable);

// ---------------------------------------------------------------------------------------------
// Interpreters

// Interpreter for a model; optional_options may be NULL. Its tensors have no memory until
// TfLiteInterpreterAllocateTensors. NULL when the model uses ops that nobody provides, a delegate
// fails, or memory is short. The caller frees it with TfLiteInterpreterDelete.
TFL_CAPI_EXPORT extern TfLiteInterpreter* TfLiteInterpreterCreate(
    const TfLiteModel* model, const TfLiteInterpreterOptions* optional_options);

// Frees an interpreter with all its tensors and signature runners' state. Delete its signature
// runners first. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter);

TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetInputTensorCount(
    const TfLiteInterpreter* interpreter);

// Tensor indices of the inputs, as many as the count. The interpreter's own.
TFL_CAPI_EXPORT extern const int* TfLiteInterpreterInputTensorIndices(
    const TfLiteInterpreter* interpreter);

// Input number input_index (0 <= input_index < count). The interpreter's own; valid until inputs
// are resized, tensors are allocated again or the interpreter is deleted. NULL out of range.
TFL_CAPI_EXPORT extern TfLiteTensor* TfLiteInterpreterGetInputTensor(
    const TfLiteInterpreter* interpreter, int32_t input_index);

// Changes an input's shape to input_dims_size lengths, which are copied. Afterwards tensors must be
// allocated again before they are used. kTfLiteError when the index is bad; also when a delegate
// has fixed the graph.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterResizeInputTensor(
    TfLiteInterpreter* interpreter, int32_t input_index, const int* input_dims,
    int32_t input_dims_size);

// Works out all shapes and gives tensors their memory. Needed once, and after each resize. Data
// pointers and the content of inputs are new afterwards.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterAllocateTensors(
    TfLiteInterpreter* interpreter);

// Runs the model on the inputs as they are. Blocks until the outputs can be read. Not kTfLiteOk:
// outputs are undefined and the interpreter stays usable; kTfLiteCancelled after a cancel.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter);

TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetOutputTensorCount(
    const TfLiteInterpreter* interpreter);

// Tensor indices of the outputs, as many as the count. The interpreter's own.
TFL_CAPI_EXPORT extern const int* TfLiteInterpreterOutputTensorIndices(
    const TfLiteInterpreter* interpreter);

// Output number output_index. As TfLiteInterpreterGetInputTensor. Shapes that depend on data are
// right only after an invocation.
TFL_CAPI_EXPORT extern const TfLiteTensor* TfLiteInterpreterGetOutputTensor(
    const TfLiteInterpreter* interpreter, int32_t output_index);

// Any tensor of the model's main graph by its tensor index. Tensors that are neither input, output
// nor constant share memory: their values are gone once the op that reads them has run.
TFL_CAPI_EXPORT extern TfLiteTensor* TfLiteInterpreterGetTensor(
    const TfLiteInterpreter* interpreter, int index);

// Asks a running invocation to stop before its next op; it then returns kTfLiteCancelled. May be
// called from any thread. kTfLiteError unless cancellation was enabled in the options.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter* interpreter);

// ---------------------------------------------------------------------------------------------
// Signatures

TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetSignatureCount(
    const TfLiteInterpreter* interpreter);

// Key of signature number signature_index. The interpreter's own. NULL out of range.
TFL_CAPI_EXPORT extern const char* TfLiteInterpreterGetSignatureKey(
    const TfLiteInterpreter* interpreter, int32_t signature_index);

// Runner for a signature. A NULL key takes the first signature over the main graph, or, in a model
// without signatures, the main graph itself with its tensors' names. NULL when there is none. The
// caller frees it with TfLiteSignatureRunnerDelete before the interpreter.
TFL_CAPI_EXPORT extern TfLiteSignatureRunner* TfLiteInterpreterGetSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key);

TFL_CAPI_EXPORT extern size_t TfLiteSignatureRunnerGetInputCount(
    const TfLiteSignatureRunner* signature_runner);

// Name of input number input_index. The interpreter's own. NULL out of range.
TFL_CAPI_EXPORT extern const char* TfLiteSignatureRunnerGetInputName(
    const TfLiteSignatureRunner* signature_runner, int32_t input_index);

// As TfLiteInterpreterResizeInputTensor, but only dimensions that the model leaves open (-1 in
// the shape signature) may change. kTfLiteError otherwise, and for an unknown name.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name, const int* input_dims,
    int32_t input_dims_size);

// As TfLiteInterpreterAllocateTensors, for the graph of this signature.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteSignatureRunnerAllocateTensors(
    TfLiteSignatureRunner* signature_runner);

// Input of that name. Lifetime as in TfLiteInterpreterGetInputTensor. NULL for an unknown name.
TFL_CAPI_EXPORT extern TfLiteTensor* TfLiteSignatureRunnerGetInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name);

// As TfLiteInterpreterInvoke, for the graph of this signature.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteSignatureRunnerInvoke(
    TfLiteSignatureRunner* signature_runner);

TFL_CAPI_EXPORT extern size_t TfLiteSignatureRunnerGetOutputCount(
    const TfLiteSignatureRunner* signature_runner);

// Name of output number output_index. The interpreter's own. NULL out of range.
TFL_CAPI_EXPORT extern const char* TfLiteSignatureRunnerGetOutputName(
    const TfLiteSignatureRunner* signature_runner, int32_t output_index);

// Output of that name. Lifetime as in TfLiteInterpreterGetInputTensor. NULL for an unknown name.
TFL_CAPI_EXPORT extern const TfLiteTensor* TfLiteSignatureRunnerGetOutputTensor(
    const TfLiteSignatureRunner* signature_runner, const char* output_name);

// Frees a runner. The interpreter and its tensors stay. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner* signature_runner);

// ---------------------------------------------------------------------------------------------
// Tensors

TFL_CAPI_EXPORT extern TfLiteType TfLiteTensorType(const TfLiteTensor* tensor);

// Number of dimensions; 0 for a scalar, -1 when the tensor has no shape yet.
TFL_CAPI_EXPORT extern int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor);

// Length of dimension dim_index (0 <= dim_index < number of dimensions).
TFL_CAPI_EXPORT extern int32_t TfLiteTensorDim(const TfLiteTensor* tensor, int32_t dim_index);

// Size of the data in bytes.
TFL_CAPI_EXPORT extern size_t TfLiteTensorByteSize(const TfLiteTensor* tensor);

// The elements, row-major, or NULL before tensors are allocated. The interpreter's own; ask again
// after tensors are allocated again or, for outputs of data-dependent size, after an invocation.
TFL_CAPI_EXPORT extern void* TfLiteTensorData(const TfLiteTensor* tensor);

// Name from the model, or NULL. The model's own.
TFL_CAPI_EXPORT extern const char* TfLiteTensorName(const TfLiteTensor* tensor);

// Scale and zero point for the whole tensor; scale is 0 when there is no such pair.
TFL_CAPI_EXPORT extern TfLiteQuantizationParams TfLiteTensorQuantizationParams(
    const TfLiteTensor* tensor);

// Copies input_data into the tensor. kTfLiteError unless input_data_size is the tensor's size.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor* tensor,
                                                               const void* input_data,
                                                               size_t input_data_size);

// Copies the tensor to output_data. kTfLiteError unless output_data_size is the tensor's size.
// A value that still is on a device is not fetched: see
// TfLiteInterpreterEnsureTensorDataIsReadable.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor* output_tensor,
                                                             void* output_data,
                                                             size_t output_data_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_C_C_API_H_
