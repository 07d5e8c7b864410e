// SPDX-License-Identifier: Apache-2.0
// Stands in for the GPU delegate's library in doc_example.sh: a delegate that takes no node.
#define TFLITE_GPU_NO_OPTIONS_BY_VALUE
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    return context && delegate ? kTfLiteOk : kTfLiteError;
}

static TfLiteDelegate toy = {.Prepare = prepare};

TFLGpuDelegateOptions TFLGpuDelegateOptionsDefault(void)
{
    return (TFLGpuDelegateOptions){false, TFLGpuDelegateWaitTypePassive, true};
}

TfLiteDelegate *TFLGpuDelegateCreate(const TFLGpuDelegateOptions *options)
{
    return options && options->wait_type != TFLGpuDelegateWaitTypePassive ? NULL : &toy;
}

TfLiteDelegate *TFLGPUDelegateCreate(const TFLGpuDelegateOptions *options)
{
    return TFLGpuDelegateCreate(options);
}

void TFLGpuDelegateDelete(TfLiteDelegate *delegate)
{
    (void)delegate;
}
