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
#include "tensorflow/lite/internal/signature_def.h"

namespace tflite
{

class SignatureRunner
{
  public:
    // The interpreter and the subgraph, which is one of its, must outlive this object. Interpreter makes them.
    SignatureRunner(const internal::SignatureDef &signature, TfLiteInterpreter *interpreter, Subgraph *subgraph)
        : signature_(signature), interpreter_(interpreter), subgraph_(subgraph)
    {
        for (const auto &input : signature_.inputs) input_names_.push_back(input.first.c_str());
        for (const auto &output : signature_.outputs) output_names_.push_back(output.first.c_str());
    }
    SignatureRunner(const SignatureRunner &) = delete;
    SignatureRunner &operator=(const SignatureRunner &) = delete;

    const std::string &signature_key() const { return signature_.signature_key; }
    size_t input_size() const { return input_names_.size(); }
    size_t output_size() const { return output_names_.size(); }
    // By rising name.
    const std::vector<const char *> &input_names() const { return input_names_; }
    const std::vector<const char *> &output_names() const { return output_names_; }
    // Indices of tensors in the subgraph, by name.
    const std::map<std::string, uint32_t> &inputs() const { return signature_.inputs; }
    const std::map<std::string, uint32_t> &outputs() const { return signature_.outputs; }

    // nullptr where there is no such name.
    TfLiteTensor *input_tensor(const char *name) { return subgraph_->tensor(find(signature_.inputs, name)); }
    const TfLiteTensor *output_tensor(const char *name) const
    {
        return subgraph_->tensor(find(signature_.outputs, name));
    }

    TfLiteStatus ResizeInputTensor(const char *name, const std::vector<int> &dims)
    {
        int tensor = find(signature_.inputs, name);
        return tensor < 0 ? kTfLiteError : subgraph_->ResizeInputTensor(tensor, dims);
    }
    TfLiteStatus ResizeInputTensorStrict(const char *name, const std::vector<int> &dims)
    {
        int tensor = find(signature_.inputs, name);
        return tensor < 0 ? kTfLiteError : subgraph_->ResizeInputTensorStrict(tensor, dims);
    }
    TfLiteStatus AllocateTensors() { return subgraph_->AllocateTensors(); }
    TfLiteStatus Invoke()
    {
        TfLiteStatus status = subgraph_->Invoke();
        if (status != kTfLiteOk || allow_buffer_handle_output_) return status;
        for (int tensor : subgraph_->outputs())
            if (tensor >= 0 && subgraph_->EnsureTensorDataIsReadable(tensor) != kTfLiteOk) return kTfLiteError;
        return kTfLiteOk;
    }
    TfLiteStatus Cancel() { return TfLiteInterpreterCancel(interpreter_); }
    void SetAllowBufferHandleOutput(bool allow) { allow_buffer_handle_output_ = allow; }

    TfLiteStatus SetCustomAllocationForInputTensor(const char *name, const TfLiteCustomAllocation &allocation,
                                                   int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        int tensor = find(signature_.inputs, name);
        return tensor < 0 ? kTfLiteError : subgraph_->SetCustomAllocationForTensor(tensor, allocation, flags);
    }
    TfLiteStatus SetCustomAllocationForOutputTensor(const char *name, const TfLiteCustomAllocation &allocation,
                                                    int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        int tensor = find(signature_.outputs, name);
        return tensor < 0 ? kTfLiteError : subgraph_->SetCustomAllocationForTensor(tensor, allocation, flags);
    }

  private:
    // -1 where there is no such name.
    static int find(const std::map<std::string, uint32_t> &tensors, const char *name)
    {
        auto found = name ? tensors.find(name) : tensors.end();
        return found == tensors.end() ? -1 : static_cast<int>(found->second);
    }
    const internal::SignatureDef signature_;
    TfLiteInterpreter *interpreter_;
    Subgraph *subgraph_;
    bool allow_buffer_handle_output_ = false;
    std::vector<const char *> input_names_, output_names_; // of signature_
};

namespace impl
{
using tflite::SignatureRunner;
}

} // namespace tflite

#endif
