// SPDX-License-Identifier: Apache-2.0
// Delegates as owners that delete them, of the shape that Interpreter::ModifyGraphWithDelegate takes.
#ifndef TENSORFLOW_LITE_DELEGATES_UTILS_DELEGATE_PTR_H_
#define TENSORFLOW_LITE_DELEGATES_UTILS_DELEGATE_PTR_H_

#include "halite/cxx.h"

#include <memory>

#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

namespace tflite
{
namespace evaluation
{

using TfLiteDelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)>;

// Null inside where the delegate cannot be made. The program links the GPU delegate's library for the second one.
inline TfLiteDelegatePtr CreateNNAPIDelegate()
{
    return TfLiteDelegatePtr(NnApiDelegate(), [](TfLiteDelegate *) {});
}
inline TfLiteDelegatePtr CreateGPUDelegate(const TfLiteGpuDelegateOptionsV2 *options = nullptr)
{
    return TfLiteDelegatePtr(TfLiteGpuDelegateV2Create(options), TfLiteGpuDelegateV2Delete);
}
inline TfLiteDelegatePtr CreateXNNPACKDelegate(int num_threads)
{
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    options.num_threads = num_threads;
    return TfLiteDelegatePtr(TfLiteXNNPackDelegateCreate(&options), TfLiteXNNPackDelegateDelete);
}

} // namespace evaluation
} // namespace tflite

#endif
