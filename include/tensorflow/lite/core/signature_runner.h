// SPDX-License-Identifier: Apache-2.0
// Runs a signature of a model by the names of its inputs and outputs. Interpreter::GetSignatureRunner lends one, which
// lives as long as the interpreter.
#ifndef TENSORFLOW_LITE_CORE_SIGNATURE_RUNNER_H_
#define TENSORFLOW_LITE_CORE_SIGNATURE_RUNNER_H_

#include "halite/cxx.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensorflow/lite/core/subgraph.h"

namespace tflite
{

class SignatureRunner
{
  public:
    // Takes the runner; the subgraph must outlive this object. Interpreter makes them.
    SignatureRunner(std::string key, TfLiteSignatureRunner *runner, Subgraph *subgraph)
        : key_(std::move(key)), runner_(runner), subgraph_(subgraph)
    {
        for (size_t i = 0; i < TfLiteSignatureRunnerGetInputCount(runner); i++) {
            const char *name = TfLiteSignatureRunnerGetInputName(runner, static_cast<int32_t>(i));
            input_names_.push_back(name);
            inputs_[name] = static_cast<uint32_t>(HaliteSignatureRunnerGetInputTensorIndex(runner, name));
        }
        for (size_t i = 0; i < TfLiteSignatureRunnerGetOutputCount(runner); i++) {
            const char *name = TfLiteSignatureRunnerGetOutputName(runner, static_cast<int32_t>(i));
            output_names_.push_back(name);
            outputs_[name] = static_cast<uint32_t>(HaliteSignatureRunnerGetOutputTensorIndex(runner, name));
        }
    }
    ~SignatureRunner() { TfLiteSignatureRunnerDelete(runner_); }
    SignatureRunner(const SignatureRunner &) = delete;
    SignatureRunner &operator=(const SignatureRunner &) = delete;

    const std::string &signature_key() const { return key_; }
    size_t input_size() const { return input_names_.size(); }
    size_t output_size() const { return output_names_.size(); }
    // By rising name.
    const std::vector<const char *> &input_names() const { return input_names_; }
    const std::vector<const char *> &output_names() const { return output_names_; }
    // Indices of tensors in the subgraph, by name.
    const std::map<std::string, uint32_t> &inputs() const { return inputs_; }
    const std::map<std::string, uint32_t> &outputs() const { return outputs_; }

    // nullptr where there is no such name.
    TfLiteTensor *input_tensor(const char *name) { return TfLiteSignatureRunnerGetInputTensor(runner_, name); }
    const TfLiteTensor *output_tensor(const char *name) const
    {
        return TfLiteSignatureRunnerGetOutputTensor(runner_, name);
    }

    TfLiteStatus ResizeInputTensor(const char *name, const std::vector<int> &dims)
    {
        int tensor = HaliteSignatureRunnerGetInputTensorIndex(runner_, name);
        return tensor < 0 ? kTfLiteError : subgraph_->ResizeInputTensor(tensor, dims);
    }
    TfLiteStatus ResizeInputTensorStrict(const char *name, const std::vector<int> &dims)
    {
        int tensor = HaliteSignatureRunnerGetInputTensorIndex(runner_, name);
        return tensor < 0 ? kTfLiteError : subgraph_->ResizeInputTensorStrict(tensor, dims);
    }
    TfLiteStatus AllocateTensors() { return subgraph_->AllocateTensors(); }
    TfLiteStatus Invoke()
    {
        TfLiteStatus status = TfLiteSignatureRunnerInvoke(runner_);
        if (status != kTfLiteOk || allow_buffer_handle_output_) return status;
        for (int tensor : subgraph_->outputs())
            if (tensor >= 0 && subgraph_->EnsureTensorDataIsReadable(tensor) != kTfLiteOk) return kTfLiteError;
        return kTfLiteOk;
    }
    TfLiteStatus Cancel() { return TfLiteSignatureRunnerCancel(runner_); }
    void SetAllowBufferHandleOutput(bool allow) { allow_buffer_handle_output_ = allow; }

    TfLiteStatus SetCustomAllocationForInputTensor(const char *name, const TfLiteCustomAllocation &allocation,
                                                   int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        int tensor = HaliteSignatureRunnerGetInputTensorIndex(runner_, name);
        return tensor < 0 ? kTfLiteError : subgraph_->SetCustomAllocationForTensor(tensor, allocation, flags);
    }
    TfLiteStatus SetCustomAllocationForOutputTensor(const char *name, const TfLiteCustomAllocation &allocation,
                                                    int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        int tensor = HaliteSignatureRunnerGetOutputTensorIndex(runner_, name);
        return tensor < 0 ? kTfLiteError : subgraph_->SetCustomAllocationForTensor(tensor, allocation, flags);
    }

  private:
    std::string key_;
    TfLiteSignatureRunner *runner_;
    Subgraph *subgraph_;
    bool allow_buffer_handle_output_ = false;
    std::vector<const char *> input_names_, output_names_;
    std::map<std::string, uint32_t> inputs_, outputs_;
};

namespace impl
{
using tflite::SignatureRunner;
}

} // namespace tflite

#endif
