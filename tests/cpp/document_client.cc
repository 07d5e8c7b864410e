// SPDX-License-Identifier: Apache-2.0
// What surrounds the C++ examples of TensorFlow Lite's documents, which documents.sh writes into examples.h: the names
// that they use without declaring them, and GPU delegates that take no node. In: the path of a model.
#include <cstdio>
#include <memory>

#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

static const char *model_path;
static int delegates_alive, inputs_written, outputs_read;

static TfLiteDelegate *make_delegate()
{
    auto *delegate = new TfLiteDelegate();
    delegate->Prepare = [](TfLiteContext *, TfLiteDelegate *) { return kTfLiteOk; };
    delegates_alive++;
    return delegate;
}

extern "C" {
TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default()
{
    return TfLiteGpuDelegateOptionsV2();
}
TfLiteDelegate *TfLiteGpuDelegateV2Create(const TfLiteGpuDelegateOptionsV2 *)
{
    return make_delegate();
}
void TfLiteGpuDelegateV2Delete(TfLiteDelegate *delegate)
{
    delegates_alive--;
    delete delegate;
}
TfLiteDelegate *TFLGpuDelegateCreate(const TFLGpuDelegateOptions *)
{
    return make_delegate();
}
void TFLGpuDelegateDelete(TfLiteDelegate *delegate)
{
    delegates_alive--;
    delete delegate;
}
bool TFLGpuDelegateBindMetalBufferToTensor(TfLiteDelegate *, int tensor, TFLGpuMetalBuffer)
{
    return tensor >= 0;
}
}

// The documents' own names.
static const char *const kTmpDir = "/tmp", *const kModelToken = "token";
static TFLGpuMetalBuffer user_provided_input_buffer, user_provided_output_buffer;
static void WriteToInputTensor(float *pixels)
{
    for (int i = 0; i < 64; i++) pixels[i] = -1;
    inputs_written++;
}
static void ReadFromOutputTensor(const float *chances)
{
    float sum = 0;
    for (int i = 0; i < 10; i++) sum += chances[i];
    outputs_read += sum > 0.99f && sum < 1.01f;
}

using namespace tflite;
#include "examples.h"

int main(int, char **argv)
{
    model_path = argv[1];
    int failed = 0, count = 0;
    for (auto example : examples) {
        auto model = FlatBufferModel::BuildFromFile(model_path);
        ops::builtin::BuiltinOpResolver resolver;
        std::unique_ptr<Interpreter> interpreter;
        bool built = InterpreterBuilder(*model, resolver)(&interpreter) == kTfLiteOk;
        count++;
        if (built && interpreter->AllocateTensors() == kTfLiteOk && example(interpreter)) continue;
        std::printf("example %d fails\n", count);
        failed++;
    }
    std::printf("%d examples, %d wrote an input, %d read probabilities\n", count, inputs_written, outputs_read);
    return failed > 0 || inputs_written == 0 || outputs_read != inputs_written;
}
