// SPDX-License-Identifier: Apache-2.0
// An external context that carries a program's own CPU context, which interpreters then share. This library's kernels
// keep threads of their own, so what is in it is kept for the program's kernels alone.
#ifndef TENSORFLOW_LITE_EXTERNAL_CPU_BACKEND_CONTEXT_H_
#define TENSORFLOW_LITE_EXTERNAL_CPU_BACKEND_CONTEXT_H_

#include "halite/cxx.h"

#include <memory>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

class TfLiteInternalBackendContext
{
  public:
    virtual ~TfLiteInternalBackendContext() = default;
    virtual void SetMaxNumThreads(int max_num_threads) = 0;
    virtual void ClearCaches() = 0;
};

class ExternalCpuBackendContext : public TfLiteExternalContext
{
  public:
    ExternalCpuBackendContext() : TfLiteExternalContext()
    {
        type = kTfLiteCpuBackendContext;
        Refresh = refresh;
    }
    TfLiteInternalBackendContext *internal_backend_context() const { return context_.get(); }
    void set_internal_backend_context(std::unique_ptr<TfLiteInternalBackendContext> context)
    {
        context_ = std::move(context);
    }

  private:
    static TfLiteStatus refresh(TfLiteContext *context)
    {
        auto *self =
            static_cast<ExternalCpuBackendContext *>(context->GetExternalContext(context, kTfLiteCpuBackendContext));
        if (self && self->context_ && context->recommended_num_threads != -1)
            self->context_->SetMaxNumThreads(context->recommended_num_threads);
        return kTfLiteOk;
    }
    std::unique_ptr<TfLiteInternalBackendContext> context_;
};

} // namespace tflite

#endif
