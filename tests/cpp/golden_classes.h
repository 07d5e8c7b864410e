// SPDX-License-Identifier: Apache-2.0
// Compiled before tests/golden/run_case.c, this turns the C functions that run a golden case into ones that go through
// the C++ classes (golden_classes.cc). Cases, rules and counts are thereby those of golden_runner.
#ifndef HALITE_TESTS_CPP_GOLDEN_CLASSES_H
#define HALITE_TESTS_CPP_GOLDEN_CLASSES_H

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api_experimental.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*classes_reporter)(void *user_data, const char *format, va_list args);

// A pointer of the C library stands for the C++ object that holds it.
TfLiteModel *classes_model_create(const char *path, classes_reporter reporter, void *user_data);
void classes_model_delete(TfLiteModel *model);
// What was set last counts for the next interpreter.
void classes_set_kernels(TfLiteInterpreterOptions *options, HaliteKernels kernels);
void classes_set_threads(TfLiteInterpreterOptions *options, int32_t threads);
void classes_set_reporter(TfLiteInterpreterOptions *options, classes_reporter reporter, void *user_data);
TfLiteInterpreter *classes_create(const TfLiteModel *model, const TfLiteInterpreterOptions *options);
void classes_delete(TfLiteInterpreter *interpreter);
TfLiteStatus classes_allocate(TfLiteInterpreter *interpreter);
TfLiteStatus classes_invoke(TfLiteInterpreter *interpreter);
TfLiteStatus classes_resize(TfLiteInterpreter *interpreter, int32_t input, const int *dims, int32_t rank);
TfLiteStatus classes_reset(TfLiteInterpreter *interpreter);
int32_t classes_input_count(const TfLiteInterpreter *interpreter);
int32_t classes_output_count(const TfLiteInterpreter *interpreter);
TfLiteTensor *classes_input(const TfLiteInterpreter *interpreter, int32_t index);
const TfLiteTensor *classes_output(const TfLiteInterpreter *interpreter, int32_t index);
TfLiteSignatureRunner *classes_signature(const TfLiteInterpreter *interpreter, const char *key);
void classes_signature_delete(TfLiteSignatureRunner *runner);
TfLiteStatus classes_signature_allocate(TfLiteSignatureRunner *runner);
TfLiteStatus classes_signature_invoke(TfLiteSignatureRunner *runner);
TfLiteStatus classes_signature_resize(TfLiteSignatureRunner *runner, const char *name, const int *dims, int32_t rank);
size_t classes_signature_input_count(const TfLiteSignatureRunner *runner);
size_t classes_signature_output_count(const TfLiteSignatureRunner *runner);
TfLiteTensor *classes_signature_input(TfLiteSignatureRunner *runner, const char *name);
const TfLiteTensor *classes_signature_output(const TfLiteSignatureRunner *runner, const char *name);

#ifdef __cplusplus
}
#else
#define TfLiteModelCreateFromFileWithErrorReporter classes_model_create
#define TfLiteModelDelete classes_model_delete
#define HaliteInterpreterOptionsSetKernels classes_set_kernels
#define TfLiteInterpreterOptionsSetNumThreads classes_set_threads
#define TfLiteInterpreterOptionsSetErrorReporter classes_set_reporter
#define TfLiteInterpreterCreate classes_create
#define TfLiteInterpreterDelete classes_delete
#define TfLiteInterpreterAllocateTensors classes_allocate
#define TfLiteInterpreterInvoke classes_invoke
#define TfLiteInterpreterResizeInputTensor classes_resize
#define TfLiteInterpreterResetVariableTensors classes_reset
#define TfLiteInterpreterGetInputTensorCount classes_input_count
#define TfLiteInterpreterGetOutputTensorCount classes_output_count
#define TfLiteInterpreterGetInputTensor classes_input
#define TfLiteInterpreterGetOutputTensor classes_output
#define TfLiteInterpreterGetSignatureRunner classes_signature
#define TfLiteSignatureRunnerDelete classes_signature_delete
#define TfLiteSignatureRunnerAllocateTensors classes_signature_allocate
#define TfLiteSignatureRunnerInvoke classes_signature_invoke
#define TfLiteSignatureRunnerResizeInputTensor classes_signature_resize
#define TfLiteSignatureRunnerGetInputCount classes_signature_input_count
#define TfLiteSignatureRunnerGetOutputCount classes_signature_output_count
#define TfLiteSignatureRunnerGetInputTensor classes_signature_input
#define TfLiteSignatureRunnerGetOutputTensor classes_signature_output
#endif

#endif
