// SPDX-License-Identifier: Apache-2.0
// Finds the kernel of an operator. A resolver is asked while an interpreter is built, for each operator of the model,
// and is not needed afterwards.
#ifndef TENSORFLOW_LITE_CORE_API_OP_RESOLVER_H_
#define TENSORFLOW_LITE_CORE_API_OP_RESOLVER_H_

#include "halite/cxx.h"

#include <functional>
#include <memory>
#include <vector>

#include "halite/halite.h"
#include "tensorflow/lite/schema/builtin_operator.h"

namespace tflite
{

class OpResolver
{
  public:
    using TfLiteDelegatePtrVector = std::vector<std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)>>;
    using TfLiteDelegateCreator =
        std::function<std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)>(TfLiteContext *)>;
    using TfLiteDelegateCreators = std::vector<TfLiteDelegateCreator>;

    virtual ~OpResolver() = default;

    // Each returns nullptr where there is no kernel. The registration lives until the interpreter is built.
    virtual const TfLiteRegistration *FindOp(BuiltinOperator op, int version) const = 0;
    virtual const TfLiteRegistration *FindOp(const char *op, int version) const = 0;

    // Delegates that every interpreter shall get. This library brings none: its own kernels are the fast ones.
    virtual TfLiteDelegatePtrVector GetDelegates(int num_threads) const
    {
        (void)num_threads;
        return {};
    }
    virtual TfLiteDelegateCreators GetDelegateCreators() const { return {}; }

    // Whether it may give kernels of the program's own for an operator.
    virtual bool MayContainUserDefinedOps() const { return true; }

    // Which of this library's kernels an interpreter shall use.
    virtual HaliteKernels Kernels() const { return kHaliteKernelsDefault; }
};

} // namespace tflite

#endif
