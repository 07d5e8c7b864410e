// SPDX-License-Identifier: Apache-2.0
// Writes most of a delegate: a program says which nodes it takes and how it runs a part of the graph, in two classes
// of its own, and gets the TfLiteDelegate that asks them.
#ifndef TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_DELEGATE_H_

#include "halite/cxx.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

// Runs one part of the graph that the delegate took.
class SimpleDelegateKernelInterface
{
  public:
    virtual ~SimpleDelegateKernelInterface() = default;

    // Called once, with the nodes and tensors of the part, which are valid during the call.
    virtual TfLiteStatus Init(TfLiteContext *context, const TfLiteDelegateParams *params) = 0;
    // Called before the first run, and again after shapes changed. The node stands for the part.
    virtual TfLiteStatus Prepare(TfLiteContext *context, TfLiteNode *node) = 0;
    virtual TfLiteStatus Eval(TfLiteContext *context, TfLiteNode *node) = 0;
};

class SimpleDelegateInterface
{
  public:
    struct Options {
        int max_delegated_partitions = 0; // the largest parts alone are taken; 0: all
        int min_nodes_per_partition = 0;  // smaller parts stay where they are
    };

    virtual ~SimpleDelegateInterface() = default;

    // Whether the delegate takes this node, which has its tensors' types and shapes.
    virtual bool IsNodeSupportedByDelegate(const TfLiteRegistration *registration, const TfLiteNode *node,
                                           TfLiteContext *context) const = 0;
    // Called before nodes are looked at, once for each graph.
    virtual TfLiteStatus Initialize(TfLiteContext *context) = 0;
    // Lives as long as the delegate.
    virtual const char *Name() const = 0;
    // The kernel of one part; null where it cannot be made.
    virtual std::unique_ptr<SimpleDelegateKernelInterface> CreateDelegateKernelInterface() = 0;
    virtual Options DelegateOptions() const = 0;

    // For delegates with memory of their own; see TfLiteDelegate.
    virtual TfLiteStatus CopyFromBufferHandle(TfLiteContext *, TfLiteBufferHandle, TfLiteTensor *)
    {
        return kTfLiteError;
    }
    virtual TfLiteStatus CopyToBufferHandle(TfLiteContext *, TfLiteBufferHandle, const TfLiteTensor *)
    {
        return kTfLiteError;
    }
    virtual void FreeBufferHandle(TfLiteContext *, TfLiteBufferHandle *) {}
};

class TfLiteDelegateFactory
{
  public:
    // The delegate takes `simple`. Delete it after the interpreters that use it.
    static TfLiteDelegate *CreateSimpleDelegate(std::unique_ptr<SimpleDelegateInterface> simple,
                                                int64_t flags = kTfLiteDelegateFlagsNone)
    {
        if (!simple) return nullptr;
        auto *delegate = new TfLiteDelegate();
        delegate->Prepare = prepare;
        delegate->CopyFromBufferHandle = copy_from;
        delegate->CopyToBufferHandle = copy_to;
        delegate->FreeBufferHandle = free_handle;
        delegate->flags = flags;
        delegate->data_ = simple.release();
        return delegate;
    }
    static void DeleteSimpleDelegate(TfLiteDelegate *delegate)
    {
        if (!delegate) return;
        delete of(delegate);
        delete delegate;
    }
    static std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)> Create(
        std::unique_ptr<SimpleDelegateInterface> simple)
    {
        return {CreateSimpleDelegate(std::move(simple)), DeleteSimpleDelegate};
    }

  private:
    using Kernel = SimpleDelegateKernelInterface;

    static SimpleDelegateInterface *of(const TfLiteDelegate *delegate)
    {
        return static_cast<SimpleDelegateInterface *>(delegate->data_);
    }
    static TfLiteStatus copy_from(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                  TfLiteTensor *tensor)
    {
        return of(delegate)->CopyFromBufferHandle(context, handle, tensor);
    }
    static TfLiteStatus copy_to(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                TfLiteTensor *tensor)
    {
        return of(delegate)->CopyToBufferHandle(context, handle, tensor);
    }
    static void free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
    {
        of(delegate)->FreeBufferHandle(context, handle);
    }

    static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
    {
        TfLiteStatus status = of(delegate)->Initialize(context);
        if (status != kTfLiteOk) return status;
        std::vector<int> nodes;
        status = find_nodes(context, of(delegate), &nodes);
        if (status == kTfLiteOk) status = choose_parts(context, of(delegate)->DelegateOptions(), &nodes);
        if (status != kTfLiteOk) return status;
        IntArrayUniquePtr list = BuildTfLiteArray(nodes);
        if (!list) return kTfLiteError;
        return context->ReplaceNodeSubsetsWithDelegateKernels(context, registration(of(delegate)), list.get(),
                                                              delegate);
    }
    // The nodes that the delegate takes, in the order in which they run.
    static TfLiteStatus find_nodes(TfLiteContext *context, const SimpleDelegateInterface *simple,
                                   std::vector<int> *nodes)
    {
        TfLiteIntArray *plan = nullptr;
        TfLiteStatus status = context->GetExecutionPlan(context, &plan);
        if (status != kTfLiteOk) return status;
        std::vector<int> order(plan->data, plan->data + plan->size); // the plan is the runtime's, until the next call
        for (int index : order) {
            TfLiteNode *node = nullptr;
            TfLiteRegistration *registration = nullptr;
            status = context->GetNodeAndRegistration(context, index, &node, &registration);
            if (status != kTfLiteOk) return status;
            if (simple->IsNodeSupportedByDelegate(registration, node, context)) nodes->push_back(index);
        }
        return kTfLiteOk;
    }
    // Leaves the nodes of the largest parts, as many as the options allow.
    static TfLiteStatus choose_parts(TfLiteContext *context, const SimpleDelegateInterface::Options &options,
                                     std::vector<int> *nodes)
    {
        if (nodes->empty() || (options.max_delegated_partitions <= 0 && options.min_nodes_per_partition <= 0))
            return kTfLiteOk;
        IntArrayUniquePtr list = BuildTfLiteArray(*nodes);
        TfLiteDelegateParams *parts = nullptr;
        int count = 0;
        if (!list) return kTfLiteError;
        TfLiteStatus status = context->PreviewDelegatePartitioning(context, list.get(), &parts, &count);
        if (status != kTfLiteOk) return status;
        std::vector<std::vector<int>> by_size;
        for (int i = 0; i < count; i++) {
            const TfLiteIntArray *members = parts[i].nodes_to_replace;
            by_size.emplace_back(members->data, members->data + members->size);
        }
        std::stable_sort(by_size.begin(), by_size.end(),
                         [](const std::vector<int> &a, const std::vector<int> &b) { return a.size() > b.size(); });
        nodes->clear();
        int taken = 0;
        for (const std::vector<int> &part : by_size) {
            bool full = options.max_delegated_partitions > 0 && taken == options.max_delegated_partitions;
            if (full || static_cast<int64_t>(part.size()) < options.min_nodes_per_partition) break;
            nodes->insert(nodes->end(), part.begin(), part.end());
            taken++;
        }
        std::sort(nodes->begin(), nodes->end());
        return kTfLiteOk;
    }

    static TfLiteRegistration registration(const SimpleDelegateInterface *simple)
    {
        TfLiteRegistration kernel = {};
        kernel.builtin_code = kTfLiteBuiltinDelegate;
        kernel.custom_name = simple->Name();
        kernel.version = 1;
        kernel.init = [](TfLiteContext *context, const char *buffer, size_t) -> void * {
            const auto *params = reinterpret_cast<const TfLiteDelegateParams *>(buffer);
            if (!params) return nullptr;
            std::unique_ptr<Kernel> made = of(params->delegate)->CreateDelegateKernelInterface();
            if (!made || made->Init(context, params) != kTfLiteOk) return nullptr;
            return made.release();
        };
        kernel.free = [](TfLiteContext *, void *made) { delete static_cast<Kernel *>(made); };
        kernel.prepare = [](TfLiteContext *context, TfLiteNode *node) {
            auto *made = static_cast<Kernel *>(node->user_data);
            if (made) return made->Prepare(context, node);
            TF_LITE_KERNEL_LOG(context, "Delegate kernel was not initialized");
            return kTfLiteError;
        };
        kernel.invoke = [](TfLiteContext *context, TfLiteNode *node) {
            return static_cast<Kernel *>(node->user_data)->Eval(context, node);
        };
        return kernel;
    }
};

} // namespace tflite

#endif
