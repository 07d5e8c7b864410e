// SPDX-License-Identifier: Apache-2.0
// StatefulNnApiDelegate before the fake of the system: nodes go there, options arrive, and without a system or with an
// accelerator that is not here the model runs on the CPU.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "check.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

namespace
{

using Options = tflite::StatefulNnApiDelegate::Options;

std::unique_ptr<tflite::Interpreter> build(const tflite::FlatBufferModel &model)
{
    std::unique_ptr<tflite::Interpreter> interpreter;
    CHECK_OK(tflite::InterpreterBuilder(model, tflite::ops::builtin::BuiltinOpResolver())(&interpreter));
    CHECK_OK(interpreter->AllocateTensors());
    return interpreter;
}

std::vector<float> run(tflite::Interpreter *interpreter)
{
    for (int i = 0; i < 64; i++) interpreter->typed_input_tensor<float>(0)[i] = i % 5 ? -1.0f : 1.0f;
    CHECK_OK(interpreter->Invoke());
    const float *chances = interpreter->typed_output_tensor<float>(0);
    return std::vector<float>(chances, chances + 10);
}

// How many nodes are left in the plan, after results are as the CPU's.
size_t nodes_with(const tflite::FlatBufferModel &model, const Options &options, TfLiteStatus expected)
{
    const std::vector<float> wanted = run(build(model).get());
    tflite::StatefulNnApiDelegate delegate(options);
    std::unique_ptr<tflite::Interpreter> interpreter = build(model);
    CHECK(interpreter->ModifyGraphWithDelegate(&delegate) == expected);
    const std::vector<float> chances = run(interpreter.get());
    for (size_t i = 0; i < wanted.size(); i++) CHECK(std::fabs(chances[i] - wanted[i]) <= 1e-5f);
    CHECK(tflite::StatefulNnApiDelegate::GetOptions(&delegate).max_number_delegated_partitions ==
          options.max_number_delegated_partitions);
    return interpreter->execution_plan().size();
}

} // namespace

int main()
{
    Messages messages;
    const auto model = tflite::FlatBufferModel::BuildFromFile("demo/digits.tflite", &messages);
    if (!CHECK(model != nullptr)) return check_result();
    Options options;
    CHECK(nodes_with(*model, options, kTfLiteOk) == 1);
    const std::string name = "google-edgetpu";
    options.accelerator_name = name.c_str();
    options.execution_preference = Options::kSustainedSpeed;
    options.max_execution_timeout_duration_ns = 1000000000;
    options.allow_fp16 = options.use_burst_computation = true;
    CHECK(nodes_with(*model, options, kTfLiteOk) == 1);
    options.accelerator_name = "toaster";
    CHECK(nodes_with(*model, options, kTfLiteDelegateError) > 1);
    CHECK(messages.has("Could not find the specified NNAPI accelerator: toaster."));
    setenv("HALITE_NNAPI_LIBRARY", "/nowhere/libneuralnetworks.so", 1);
    CHECK(nodes_with(*model, Options(), kTfLiteOk) > 1);
    return check_result();
}
