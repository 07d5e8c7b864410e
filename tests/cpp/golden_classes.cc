// SPDX-License-Identifier: Apache-2.0
// What golden_classes.h declares: a golden case's calls, made through the C++ classes. In: the pointers of the C
// library that run_case.c holds. Out: what tflite::Interpreter and its neighbors give.
#include "golden_classes.h"

#include <cstdlib>
#include <map>
#include <memory>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

namespace
{

class Reporter : public tflite::ErrorReporter
{
  public:
    Reporter(classes_reporter reporter, void *user_data) : reporter_(reporter), user_data_(user_data) {}
    int Report(const char *format, va_list args) override
    {
        if (reporter_) reporter_(user_data_, format, args);
        return 0;
    }

  private:
    classes_reporter reporter_;
    void *user_data_;
};

class Resolver : public tflite::ops::builtin::BuiltinOpResolver
{
  public:
    explicit Resolver(HaliteKernels kernels) : kernels_(kernels) {}
    HaliteKernels Kernels() const override { return kernels_; }

  private:
    HaliteKernels kernels_;
};

struct Model {
    std::unique_ptr<Reporter> reporter; // of its interpreters too
    std::unique_ptr<tflite::FlatBufferModel> model;
};

HaliteKernels kernels;
int threads = -1;
classes_reporter reporter;
void *reporter_data;
std::map<const TfLiteModel *, Model> models;
std::map<const TfLiteInterpreter *, std::unique_ptr<tflite::Interpreter>> interpreters;
std::map<const TfLiteSignatureRunner *, tflite::SignatureRunner *> signatures;

tflite::Interpreter *object(const TfLiteInterpreter *interpreter)
{
    return interpreters.at(interpreter).get();
}
tflite::SignatureRunner *object(const TfLiteSignatureRunner *runner)
{
    return signatures.at(runner);
}

} // namespace

TfLiteModel *classes_model_create(const char *path, classes_reporter to, void *user_data)
{
    Model made;
    made.reporter = std::make_unique<Reporter>(to, user_data);
    made.model = tflite::FlatBufferModel::BuildFromFile(path, made.reporter.get());
    if (!made.model) return nullptr;
    const TfLiteModel *key = made.model->c_model();
    models[key] = std::move(made);
    return const_cast<TfLiteModel *>(key);
}

void classes_model_delete(TfLiteModel *model)
{
    models.erase(model);
}

void classes_set_kernels(TfLiteInterpreterOptions *, HaliteKernels wanted)
{
    kernels = wanted;
}

void classes_set_threads(TfLiteInterpreterOptions *, int32_t wanted)
{
    threads = wanted;
}

void classes_set_reporter(TfLiteInterpreterOptions *, classes_reporter to, void *user_data)
{
    reporter = to;
    reporter_data = user_data;
}

TfLiteInterpreter *classes_create(const TfLiteModel *model, const TfLiteInterpreterOptions *)
{
    Model &owner = models.at(model);
    *owner.reporter = Reporter(reporter, reporter_data);
    Resolver resolver(kernels);
    std::unique_ptr<tflite::Interpreter> made;
    if (tflite::InterpreterBuilder(*owner.model, resolver)(&made, threads) != kTfLiteOk) return nullptr;
    TfLiteInterpreter *key = made->c_interpreter();
    interpreters[key] = std::move(made);
    return key;
}

void classes_delete(TfLiteInterpreter *interpreter)
{
    if (interpreter) interpreters.erase(interpreter);
}

TfLiteStatus classes_allocate(TfLiteInterpreter *interpreter)
{
    return object(interpreter)->AllocateTensors();
}

TfLiteStatus classes_invoke(TfLiteInterpreter *interpreter)
{
    return object(interpreter)->Invoke();
}

TfLiteStatus classes_resize(TfLiteInterpreter *interpreter, int32_t input, const int *dims, int32_t rank)
{
    int tensor = object(interpreter)->inputs().at(static_cast<size_t>(input));
    return object(interpreter)->ResizeInputTensor(tensor, std::vector<int>(dims, dims + rank));
}

TfLiteStatus classes_reset(TfLiteInterpreter *interpreter)
{
    return object(interpreter)->ResetVariableTensors();
}

int32_t classes_input_count(const TfLiteInterpreter *interpreter)
{
    return static_cast<int32_t>(object(interpreter)->inputs().size());
}

int32_t classes_output_count(const TfLiteInterpreter *interpreter)
{
    return static_cast<int32_t>(object(interpreter)->outputs().size());
}

TfLiteTensor *classes_input(const TfLiteInterpreter *interpreter, int32_t index)
{
    return object(interpreter)->input_tensor(static_cast<size_t>(index));
}

const TfLiteTensor *classes_output(const TfLiteInterpreter *interpreter, int32_t index)
{
    return object(interpreter)->output_tensor(static_cast<size_t>(index));
}

TfLiteSignatureRunner *classes_signature(const TfLiteInterpreter *interpreter, const char *key)
{
    tflite::SignatureRunner *found = object(interpreter)->GetSignatureRunner(key);
    if (!found) return nullptr;
    // A name for the object above: run_case.c looks into it where the API's way is closed.
    TfLiteSignatureRunner *name = TfLiteInterpreterGetSignatureRunner(interpreter, key);
    signatures[name] = found;
    return name;
}

void classes_signature_delete(TfLiteSignatureRunner *runner)
{
    signatures.erase(runner);
    TfLiteSignatureRunnerDelete(runner);
}

TfLiteStatus classes_signature_allocate(TfLiteSignatureRunner *runner)
{
    return object(runner)->AllocateTensors();
}

TfLiteStatus classes_signature_invoke(TfLiteSignatureRunner *runner)
{
    return object(runner)->Invoke();
}

TfLiteStatus classes_signature_resize(TfLiteSignatureRunner *runner, const char *name, const int *dims, int32_t rank)
{
    return object(runner)->ResizeInputTensor(name, std::vector<int>(dims, dims + rank));
}

size_t classes_signature_input_count(const TfLiteSignatureRunner *runner)
{
    return object(runner)->input_size();
}

size_t classes_signature_output_count(const TfLiteSignatureRunner *runner)
{
    return object(runner)->output_size();
}

TfLiteTensor *classes_signature_input(TfLiteSignatureRunner *runner, const char *name)
{
    return object(runner)->input_tensor(name);
}

const TfLiteTensor *classes_signature_output(const TfLiteSignatureRunner *runner, const char *name)
{
    return object(runner)->output_tensor(name);
}
