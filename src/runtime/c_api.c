// SPDX-License-Identifier: Apache-2.0
// The functions of tensorflow/lite/c/c_api.h: arguments are checked here, and only here. The work is done in
// interpreter.c, subgraph.c and model.c.
#include "tensorflow/lite/c/c_api.h"

#include <string.h>

#include "runtime/interpreter.h"
#include "runtime/run.h"
#include "runtime/signature.h"

// The TensorFlow Lite release whose interface this is.
#define INTERFACE_VERSION "2.19.0"

const char *TfLiteVersion(void)
{
    return INTERFACE_VERSION;
}

const char *TfLiteExtensionApisVersion(void)
{
    return INTERFACE_VERSION;
}

int TfLiteSchemaVersion(void)
{
    return 3;
}

// ---- model --------------------------------------------------------------------------------------

typedef void (*report_function)(void *user_data, const char *format, va_list args);

TfLiteModel *TfLiteModelCreateWithErrorReporter(const void *model_data, size_t model_size, report_function reporter,
                                                void *user_data)
{
    const struct hl_reporter to = {reporter, user_data};
    if (!model_data) {
        hl_report(&to, "cannot load a model: the data pointer is NULL");
        return NULL;
    }
    return hl_model_create(model_data, model_size, &to);
}

TfLiteModel *TfLiteModelCreate(const void *model_data, size_t model_size)
{
    return TfLiteModelCreateWithErrorReporter(model_data, model_size, NULL, NULL);
}

TfLiteModel *TfLiteModelCreateFromFileWithErrorReporter(const char *model_path, report_function reporter,
                                                        void *user_data)
{
    const struct hl_reporter to = {reporter, user_data};
    if (!model_path) {
        hl_report(&to, "cannot load a model: the path is NULL");
        return NULL;
    }
    return hl_model_create_from_file(model_path, &to);
}

TfLiteModel *TfLiteModelCreateFromFile(const char *model_path)
{
    return TfLiteModelCreateFromFileWithErrorReporter(model_path, NULL, NULL);
}

void TfLiteModelDelete(TfLiteModel *model)
{
    hl_model_release(model);
}

// ---- options ------------------------------------------------------------------------------------

TfLiteInterpreterOptions *TfLiteInterpreterOptionsCreate(void)
{
    return hl_options_create();
}

TfLiteInterpreterOptions *TfLiteInterpreterOptionsCopy(const TfLiteInterpreterOptions *from)
{
    return from ? hl_options_copy(from) : NULL;
}

void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions *options)
{
    hl_options_destroy(options);
}

void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions *options, int32_t num_threads)
{
    if (!options) return;
    if (num_threads < -1) {
        hl_report(&options->reporter, "the number of threads must be -1 or more, not %d: left as it was",
                  (int)num_threads);
        return;
    }
    options->num_threads = num_threads == 0 ? 1 : num_threads;
}

void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions *options, TfLiteOpaqueDelegate *delegate)
{
    if (options && !hl_options_add_delegate(options, delegate)) options->incomplete = true;
}

void TfLiteInterpreterOptionsSetErrorReporter(TfLiteInterpreterOptions *options, report_function reporter,
                                              void *user_data)
{
    if (options) options->reporter = (struct hl_reporter){reporter, user_data};
}

void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions *options, TfLiteOperator *registration)
{
    if (options && registration && !hl_resolver_add_operator(&options->resolver, registration))
        options->incomplete = true;
}

TfLiteStatus TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions *options, bool enable)
{
    if (!options) return kTfLiteError;
    options->cancellation = enable;
    return kTfLiteOk;
}

// ---- interpreter --------------------------------------------------------------------------------

TfLiteInterpreter *TfLiteInterpreterCreate(const TfLiteModel *model, const TfLiteInterpreterOptions *optional_options)
{
    if (!model) {
        hl_report(optional_options ? &optional_options->reporter : NULL,
                  "cannot create an interpreter: the model is NULL");
        return NULL;
    }
    return hl_interpreter_create(model, optional_options);
}

void TfLiteInterpreterDelete(TfLiteInterpreter *interpreter)
{
    hl_interpreter_destroy(interpreter);
}

static struct hl_subgraph *primary(const TfLiteInterpreter *interpreter)
{
    return interpreter->subgraphs[0];
}

// The tensor at a place of a list of tensors, NULL where there is none.
static TfLiteTensor *listed_tensor(const struct hl_subgraph *subgraph, const TfLiteIntArray *list, int32_t index)
{
    if (index < 0 || index >= list->size || list->data[index] < 0) return NULL;
    return &subgraph->context.tensors[list->data[index]];
}

int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->inputs->size : 0;
}

const int *TfLiteInterpreterInputTensorIndices(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->inputs->data : NULL;
}

TfLiteTensor *TfLiteInterpreterGetInputTensor(const TfLiteInterpreter *interpreter, int32_t input_index)
{
    return interpreter ? listed_tensor(primary(interpreter), primary(interpreter)->inputs, input_index) : NULL;
}

TfLiteStatus TfLiteInterpreterResizeInputTensor(TfLiteInterpreter *interpreter, int32_t input_index,
                                                const int *input_dims, int32_t input_dims_size)
{
    if (!interpreter || (!input_dims && input_dims_size != 0)) return kTfLiteError;
    if (!hl_runs_are_idle(interpreter, "ResizeInputTensor")) return kTfLiteError;
    const TfLiteIntArray *inputs = primary(interpreter)->inputs;
    if (input_index < 0 || input_index >= inputs->size) {
        hl_subgraph_error(primary(interpreter), "cannot resize input %d: the model has %d inputs", (int)input_index,
                          inputs->size);
        return kTfLiteError;
    }
    return hl_subgraph_resize_input(primary(interpreter), inputs->data[input_index], input_dims, input_dims_size);
}

TfLiteStatus TfLiteInterpreterAllocateTensors(TfLiteInterpreter *interpreter)
{
    if (!interpreter || !hl_runs_are_idle(interpreter, "AllocateTensors")) return kTfLiteError;
    return hl_subgraph_allocate(primary(interpreter));
}

TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter *interpreter)
{
    if (!interpreter || !hl_runs_are_idle(interpreter, "Invoke")) return kTfLiteError;
    return hl_interpreter_invoke(interpreter, primary(interpreter));
}

int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->outputs->size : 0;
}

const int *TfLiteInterpreterOutputTensorIndices(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->outputs->data : NULL;
}

const TfLiteTensor *TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter *interpreter, int32_t output_index)
{
    return interpreter ? listed_tensor(primary(interpreter), primary(interpreter)->outputs, output_index) : NULL;
}

TfLiteTensor *TfLiteInterpreterGetTensor(const TfLiteInterpreter *interpreter, int index)
{
    if (!interpreter || !hl_subgraph_has_tensor(primary(interpreter), index)) return NULL;
    return &primary(interpreter)->context.tensors[index];
}

TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter *interpreter)
{
    return interpreter ? hl_interpreter_cancel((TfLiteInterpreter *)interpreter) : kTfLiteError;
}

// ---- tensor -------------------------------------------------------------------------------------

TfLiteType TfLiteTensorType(const TfLiteTensor *tensor)
{
    return tensor ? tensor->type : kTfLiteNoType;
}

int32_t TfLiteTensorNumDims(const TfLiteTensor *tensor)
{
    return tensor && tensor->dims ? tensor->dims->size : -1;
}

int32_t TfLiteTensorDim(const TfLiteTensor *tensor, int32_t dim_index)
{
    if (!tensor || !tensor->dims || dim_index < 0 || dim_index >= tensor->dims->size) return -1;
    return tensor->dims->data[dim_index];
}

size_t TfLiteTensorByteSize(const TfLiteTensor *tensor)
{
    return tensor ? tensor->bytes : 0;
}

void *TfLiteTensorData(const TfLiteTensor *tensor)
{
    return tensor ? tensor->data.data : NULL;
}

const char *TfLiteTensorName(const TfLiteTensor *tensor)
{
    return tensor ? tensor->name : NULL;
}

TfLiteQuantizationParams TfLiteTensorQuantizationParams(const TfLiteTensor *tensor)
{
    return tensor ? tensor->params : (TfLiteQuantizationParams){0};
}

TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor *tensor, const void *input_data, size_t input_data_size)
{
    if (!tensor || tensor->bytes != input_data_size) return kTfLiteError;
    if (input_data_size == 0) return kTfLiteOk;
    // A constant lies in the model's bytes, which may be read-only memory.
    if (!tensor->data.raw || !input_data || tensor->allocation_type == kTfLiteMmapRo) return kTfLiteError;
    memcpy(tensor->data.raw, input_data, input_data_size);
    return kTfLiteOk;
}

TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor *output_tensor, void *output_data, size_t output_data_size)
{
    if (!output_tensor || output_tensor->bytes != output_data_size) return kTfLiteError;
    if (output_data_size == 0) return kTfLiteOk;
    if (!output_tensor->data.raw || !output_data) return kTfLiteError;
    memcpy(output_data, output_tensor->data.raw, output_data_size);
    return kTfLiteOk;
}

// ---- signatures ---------------------------------------------------------------------------------

int32_t TfLiteInterpreterGetSignatureCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? interpreter->model->signature_count : 0;
}

const char *TfLiteInterpreterGetSignatureKey(const TfLiteInterpreter *interpreter, int32_t signature_index)
{
    if (!interpreter || signature_index < 0 || signature_index >= interpreter->model->signature_count) return NULL;
    return interpreter->model->signatures[signature_index].key;
}

TfLiteSignatureRunner *TfLiteInterpreterGetSignatureRunner(const TfLiteInterpreter *interpreter,
                                                           const char *signature_key)
{
    return interpreter ? hl_signature_runner_create((TfLiteInterpreter *)interpreter, signature_key) : NULL;
}

size_t TfLiteSignatureRunnerGetInputCount(const TfLiteSignatureRunner *signature_runner)
{
    return signature_runner ? (size_t)signature_runner->input_count : 0;
}

const char *TfLiteSignatureRunnerGetInputName(const TfLiteSignatureRunner *signature_runner, int32_t input_index)
{
    if (!signature_runner || input_index < 0 || input_index >= signature_runner->input_count) return NULL;
    return signature_runner->inputs[input_index].name;
}

TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(TfLiteSignatureRunner *signature_runner, const char *input_name,
                                                    const int *input_dims, int32_t input_dims_size)
{
    if (!signature_runner || (!input_dims && input_dims_size != 0)) return kTfLiteError;
    int tensor = hl_signature_input(signature_runner, input_name);
    if (tensor < 0) {
        hl_subgraph_error(signature_runner->subgraph, "the signature has no input '%s'",
                          input_name ? input_name : "(NULL)");
        return kTfLiteError;
    }
    return hl_subgraph_resize_input_strict(signature_runner->subgraph, tensor, input_dims, input_dims_size);
}

TfLiteStatus TfLiteSignatureRunnerAllocateTensors(TfLiteSignatureRunner *signature_runner)
{
    return signature_runner ? hl_subgraph_allocate(signature_runner->subgraph) : kTfLiteError;
}

TfLiteTensor *TfLiteSignatureRunnerGetInputTensor(TfLiteSignatureRunner *signature_runner, const char *input_name)
{
    int tensor = signature_runner ? hl_signature_input(signature_runner, input_name) : -1;
    return tensor >= 0 ? &signature_runner->subgraph->context.tensors[tensor] : NULL;
}

TfLiteStatus TfLiteSignatureRunnerInvoke(TfLiteSignatureRunner *signature_runner)
{
    if (!signature_runner) return kTfLiteError;
    return hl_interpreter_invoke(signature_runner->interpreter, signature_runner->subgraph);
}

size_t TfLiteSignatureRunnerGetOutputCount(const TfLiteSignatureRunner *signature_runner)
{
    return signature_runner ? (size_t)signature_runner->output_count : 0;
}

const char *TfLiteSignatureRunnerGetOutputName(const TfLiteSignatureRunner *signature_runner, int32_t output_index)
{
    if (!signature_runner || output_index < 0 || output_index >= signature_runner->output_count) return NULL;
    return signature_runner->outputs[output_index].name;
}

const TfLiteTensor *TfLiteSignatureRunnerGetOutputTensor(const TfLiteSignatureRunner *signature_runner,
                                                         const char *output_name)
{
    int tensor = signature_runner ? hl_signature_output(signature_runner, output_name) : -1;
    return tensor >= 0 ? &signature_runner->subgraph->context.tensors[tensor] : NULL;
}

void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner *signature_runner)
{
    hl_signature_runner_destroy(signature_runner);
}
