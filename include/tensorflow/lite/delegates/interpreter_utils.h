// SPDX-License-Identifier: Apache-2.0
// Runs an interpreter, without its delegates where it fails with them.
#ifndef TENSORFLOW_LITE_DELEGATES_INTERPRETER_UTILS_H_
#define TENSORFLOW_LITE_DELEGATES_INTERPRETER_UTILS_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/interpreter.h"

namespace tflite
{
namespace delegates
{

class InterpreterUtils
{
  public:
    // kTfLiteDelegateError: the delegates are gone, and the model ran on the CPU.
    static TfLiteStatus InvokeWithCPUFallback(Interpreter *interpreter)
    {
        TfLiteStatus status = interpreter->Invoke();
        if (status == kTfLiteOk || status == kTfLiteCancelled) return status;
        std::vector<std::pair<int, std::string>> inputs;
        for (int index : interpreter->inputs()) {
            const TfLiteTensor *tensor = interpreter->tensor(index);
            if (!tensor || !tensor->data.raw) return kTfLiteError;
            inputs.emplace_back(index, std::string(tensor->data.raw, tensor->bytes));
        }
        if (interpreter->RemoveAllDelegates() != kTfLiteOk) return kTfLiteError;
        if (interpreter->AllocateTensors() != kTfLiteOk) return kTfLiteError;
        for (const auto &input : inputs) {
            TfLiteTensor *tensor = interpreter->tensor(input.first);
            if (!tensor->data.raw || tensor->bytes != input.second.size()) return kTfLiteError;
            std::memcpy(tensor->data.raw, input.second.data(), input.second.size());
        }
        return interpreter->Invoke() == kTfLiteOk ? kTfLiteDelegateError : kTfLiteError;
    }
};

} // namespace delegates
} // namespace tflite

#endif
