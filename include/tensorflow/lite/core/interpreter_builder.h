// SPDX-License-Identifier: Apache-2.0
// Builds an interpreter of a model and a resolver. Either may go afterwards, except that memory which the model was
// built from must stay.
#ifndef TENSORFLOW_LITE_CORE_INTERPRETER_BUILDER_H_
#define TENSORFLOW_LITE_CORE_INTERPRETER_BUILDER_H_

#include "halite/cxx.h"

#include <memory>
#include <vector>

#include "tensorflow/lite/core/api/op_resolver.h"
#include "tensorflow/lite/core/interpreter.h"
#include "tensorflow/lite/core/model_builder.h"

namespace tflite
{

class InterpreterBuilder
{
  public:
    // The model and the resolver must outlive the builder; options are copied.
    InterpreterBuilder(const FlatBufferModel &model, const OpResolver &op_resolver,
                       const InterpreterOptions *options = nullptr)
        : model_(model.c_model()), resolver_(op_resolver), reporter_(model.error_reporter()),
          metadata_(model.ReadAllMetadata())
    {
        if (options) options_ = *options;
    }
    // Of the root table of a file, whose bytes `allocation` has; without them as FlatBufferModel::BuildFromModel.
    InterpreterBuilder(const Model *model, const OpResolver &op_resolver,
                       ErrorReporter *reporter = DefaultErrorReporter(), const InterpreterOptions *options = nullptr,
                       const Allocation *allocation = nullptr)
        : resolver_(op_resolver), reporter_(reporter ? reporter : DefaultErrorReporter())
    {
        if (options) options_ = *options;
        if (allocation)
            owned_model_ = FlatBufferModel::BuildFromBuffer(static_cast<const char *>(allocation->base()),
                                                            allocation->bytes(), reporter_);
        else if (model)
            owned_model_ = FlatBufferModel::BuildFromModel(model, reporter_);
        if (!owned_model_) return;
        model_ = owned_model_->c_model();
        metadata_ = owned_model_->ReadAllMetadata();
    }
    InterpreterBuilder(const InterpreterBuilder &) = delete;
    InterpreterBuilder &operator=(const InterpreterBuilder &) = delete;

    // Builds one. On failure *interpreter is null after a message, or, where a delegate failed, what it left.
    TfLiteStatus operator()(std::unique_ptr<Interpreter> *interpreter)
    {
        if (!interpreter) {
            reporter_->Report("Null output pointer passed to InterpreterBuilder.");
            return kTfLiteError;
        }
        interpreter->reset();
        if (!model_) {
            reporter_->Report("Null pointer passed in as model.");
            return kTfLiteError;
        }
        TfLiteInterpreterOptions *options = make_options();
        std::unique_ptr<Interpreter> made(new Interpreter(nullptr, reporter_));
        made->adopt(TfLiteInterpreterCreate(model_, options));
        TfLiteInterpreterOptionsDelete(options);
        if (!made->c_interpreter()) return kTfLiteError;
        made->ApplyOptions(&options_);
        made->SetMetadata(metadata_);
        *interpreter = std::move(made);
        return add_delegates(interpreter->get());
    }
    TfLiteStatus operator()(std::unique_ptr<Interpreter> *interpreter, int num_threads)
    {
        TfLiteStatus status = SetNumThreads(num_threads);
        if (status == kTfLiteOk) return (*this)(interpreter);
        if (interpreter) interpreter->reset();
        return status;
    }

    // -1 leaves the number to the library.
    TfLiteStatus SetNumThreads(int num_threads)
    {
        if (num_threads < -1) {
            reporter_->Report("num_threads should be >= 0 or just -1 to let TFLite runtime set the value.");
            return kTfLiteError;
        }
        num_threads_ = num_threads;
        return kTfLiteOk;
    }
    InterpreterBuilder &PreserveAllTensorsExperimental()
    {
        options_.SetPreserveAllTensors();
        return *this;
    }
    // Applied in this order to every interpreter that is built; must outlive them.
    void AddDelegate(TfLiteDelegate *delegate)
    {
        if (delegate)
            delegates_.push_back(delegate);
        else
            reporter_->Report("Null delegate.");
    }
    void AddDelegate(TfLiteOpaqueDelegateStruct *delegate)
    {
        AddDelegate(reinterpret_cast<TfLiteDelegate *>(delegate));
    }
    // Must outlive the interpreters.
    void SetTelemetryProfiler(TfLiteTelemetryProfilerStruct *profiler) { telemetry_ = profiler; }

  private:
    static const TfLiteRegistration *find_builtin(void *resolver, TfLiteBuiltinOperator op, int version)
    {
        return static_cast<const OpResolver *>(resolver)->FindOp(static_cast<BuiltinOperator>(op), version);
    }
    static const TfLiteRegistration *find_custom(void *resolver, const char *op, int version)
    {
        return static_cast<const OpResolver *>(resolver)->FindOp(op, version);
    }
    TfLiteInterpreterOptions *make_options()
    {
        TfLiteInterpreterOptions *options = Interpreter::make_options(reporter_);
        TfLiteInterpreterOptionsSetNumThreads(options, num_threads_);
        TfLiteInterpreterOptionsSetOpResolver(options, find_builtin, find_custom, const_cast<OpResolver *>(&resolver_));
        HaliteInterpreterOptionsSetKernels(options, resolver_.Kernels());
        HaliteInterpreterOptionsSetPreserveTensors(options, options_.GetPreserveAllTensors());
        if (telemetry_) TfLiteInterpreterOptionsSetTelemetryProfiler(options, telemetry_);
        return options;
    }
    TfLiteStatus add_delegates(Interpreter *interpreter)
    {
        interpreter->lazy_delegate_providers_ = resolver_.GetDelegateCreators();
        for (TfLiteDelegate *delegate : delegates_) {
            TfLiteStatus status = interpreter->ModifyGraphWithDelegate(delegate);
            if (status != kTfLiteOk) return status;
        }
        return kTfLiteOk;
    }
    const TfLiteModel *model_ = nullptr;
    std::unique_ptr<FlatBufferModel> owned_model_;
    const OpResolver &resolver_;
    ErrorReporter *reporter_;
    InterpreterOptions options_;
    std::map<std::string, std::string> metadata_;
    std::vector<TfLiteDelegate *> delegates_;
    TfLiteTelemetryProfilerStruct *telemetry_ = nullptr;
    int num_threads_ = -1;
};

namespace impl
{
using tflite::InterpreterBuilder;
}

} // namespace tflite

#endif
