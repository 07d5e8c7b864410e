// SPDX-License-Identifier: Apache-2.0
// One graph of an interpreter: tensors, nodes, and the order in which they run. Interpreter has most of its members for
// the first one, so few programs use this class. An object is the interpreter's and lives as long. Vectors that are
// lent are brought up to date by the call that lends them, so an object is for one thread at a time.
#ifndef TENSORFLOW_LITE_CORE_SUBGRAPH_H_
#define TENSORFLOW_LITE_CORE_SUBGRAPH_H_

#include "halite/cxx.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "halite/halite.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/c/c_api_experimental.h"

namespace tflite
{

class Subgraph
{
  public:
    // interpreter may be null: then nothing exists and every call fails.
    Subgraph(TfLiteInterpreter *interpreter, int index) : interpreter_(interpreter), index_(index) {}
    Subgraph(const Subgraph &) = delete;
    Subgraph &operator=(const Subgraph &) = delete;

    // ---- as it is

    const std::vector<int> &inputs() const { return refresh(&inputs_, HaliteInterpreterGetSubgraphInputs); }
    const std::vector<int> &outputs() const { return refresh(&outputs_, HaliteInterpreterGetSubgraphOutputs); }
    const std::vector<int> &variables() const { return refresh(&variables_, HaliteInterpreterGetSubgraphVariables); }
    const std::vector<int> &execution_plan() const { return refresh(&plan_, HaliteInterpreterGetSubgraphPlan); }
    size_t tensors_size() const
    {
        return static_cast<size_t>(HaliteInterpreterGetSubgraphTensorCount(interpreter_, index_));
    }
    // Nodes that delegates added are counted, and those that they replaced.
    size_t nodes_size() const
    {
        return static_cast<size_t>(HaliteInterpreterGetSubgraphNodeTotal(interpreter_, index_));
    }
    // nullptr where there is no such tensor.
    TfLiteTensor *tensor(int tensor) { return HaliteInterpreterGetSubgraphTensor(interpreter_, index_, tensor); }
    const TfLiteTensor *tensor(int tensor) const
    {
        return HaliteInterpreterGetSubgraphTensor(interpreter_, index_, tensor);
    }
    // A picture of a node as it is now, valid until the same node is asked for again; nullptr where there is none.
    const std::pair<TfLiteNode, TfLiteRegistration> *node_and_registration(int node) const
    {
        HaliteNode found;
        if (HaliteInterpreterGetSubgraphNodeByIndex(interpreter_, index_, node, &found) != kTfLiteOk) return nullptr;
        auto &kept = nodes_[node];
        kept = std::make_pair(*found.node, *found.registration);
        return &kept;
    }
    // Pictures of all nodes by index, valid until this is called again.
    const std::vector<std::pair<TfLiteNode, TfLiteRegistration>> &nodes_and_registration() const
    {
        all_nodes_.clear();
        for (int i = 0; i < static_cast<int>(nodes_size()); i++) all_nodes_.push_back(*node_and_registration(i));
        return all_nodes_;
    }
    // Whether delegates run every node that is left.
    bool IsFullyDelegated() const
    {
        for (int index : execution_plan())
            if (!node_and_registration(index)->first.delegate) return false;
        return true;
    }
    TfLiteContext *context() { return HaliteInterpreterGetSubgraphContext(interpreter_, index_); }
    const TfLiteContext *context() const { return HaliteInterpreterGetSubgraphContext(interpreter_, index_); }
    const char *GetName() const
    {
        return name_.empty() ? HaliteInterpreterGetSubgraphName(interpreter_, index_) : name_.c_str();
    }
    void SetName(const char *name) { name_ = name ? name : ""; } // messages have the file's
    int GetSubgraphIndex() const { return index_; }
    bool HasDynamicTensors()
    {
        for (int i = 0; i < static_cast<int>(tensors_size()); i++)
            if (tensor(i)->allocation_type == kTfLiteDynamic) return true;
        return false;
    }

    // ---- running

    TfLiteStatus AllocateTensors() { return note(HaliteInterpreterAllocateSubgraph(interpreter_, index_)); }
    TfLiteStatus Invoke() { return HaliteInterpreterInvokeSubgraph(interpreter_, index_); }
    TfLiteStatus ResizeInputTensor(int tensor, const std::vector<int> &dims) { return resize(tensor, dims, false); }
    TfLiteStatus ResizeInputTensorStrict(int tensor, const std::vector<int> &dims)
    {
        return resize(tensor, dims, true);
    }
    TfLiteStatus EnsureTensorDataIsReadable(int tensor)
    {
        return HaliteInterpreterEnsureSubgraphTensorIsReadable(interpreter_, index_, tensor);
    }
    TfLiteStatus SetCustomAllocationForTensor(int tensor, const TfLiteCustomAllocation &allocation,
                                              int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        return HaliteInterpreterSetSubgraphCustomAllocation(interpreter_, index_, tensor, &allocation, flags);
    }
    TfLiteStatus ResetVariableTensors() { return TfLiteInterpreterResetVariableTensors(interpreter_); }
    // Whether the last AllocateTensors still holds.
    bool is_allocated() const { return allocated_; }
    void forget_allocation() { allocated_ = false; }

    // ---- building

    TfLiteStatus SetInputs(const std::vector<int> &tensors) { return set(HaliteInterpreterSetSubgraphInputs, tensors); }
    TfLiteStatus SetOutputs(const std::vector<int> &tensors)
    {
        return set(HaliteInterpreterSetSubgraphOutputs, tensors);
    }
    TfLiteStatus SetVariables(const std::vector<int> &tensors)
    {
        return set(HaliteInterpreterSetSubgraphVariables, tensors);
    }
    TfLiteStatus SetExecutionPlan(const std::vector<int> &nodes)
    {
        return set(HaliteInterpreterSetExecutionPlan, nodes);
    }
    TfLiteStatus AddTensors(int tensors_to_add, int *first_new_tensor_index = nullptr)
    {
        int32_t first = -1;
        TfLiteStatus status = changed(HaliteInterpreterAddTensors(interpreter_, index_, tensors_to_add, &first));
        if (status == kTfLiteOk && first_new_tensor_index) *first_new_tensor_index = first;
        return status;
    }

    // Describes a constant, whose bytes are lent until the interpreter is deleted, as the name is. The quantization's
    // params and the sparsity are of malloc and are taken, also on failure.
    TfLiteStatus SetTensorParametersReadOnly(int tensor, TfLiteType type, const char *name,
                                             const std::vector<int> &dims, TfLiteQuantization quantization,
                                             const char *buffer, size_t bytes, const Allocation *allocation = nullptr,
                                             TfLiteSparsity *sparsity = nullptr)
    {
        return SetTensorParametersReadOnly(tensor, type, name, dims.size(), dims.data(), quantization, buffer, bytes,
                                           allocation, sparsity);
    }
    TfLiteStatus SetTensorParametersReadOnly(int tensor, TfLiteType type, const char *name, size_t rank,
                                             const int *dims, TfLiteQuantization quantization, const char *buffer,
                                             size_t bytes, const Allocation *allocation = nullptr,
                                             TfLiteSparsity *sparsity = nullptr)
    {
        (void)allocation; // the bytes' owner: they are lent anyway
        static const char nothing = 0;
        HaliteTensorDescription from = describe(type, name, rank, dims, quantization);
        from.sparsity = sparsity;
        from.data = buffer ? buffer : &nothing;
        from.bytes = bytes;
        return changed(HaliteInterpreterSetTensor(interpreter_, index_, tensor, &from));
    }
    // Describes a tensor that has memory of the interpreter.
    TfLiteStatus SetTensorParametersReadWrite(int tensor, TfLiteType type, const char *name,
                                              const std::vector<int> &dims, TfLiteQuantization quantization,
                                              bool is_variable = false, const std::vector<int> &dims_signature = {})
    {
        return SetTensorParametersReadWrite(tensor, type, name, dims.size(), dims.data(), quantization, is_variable,
                                            dims_signature.size(), dims_signature.data());
    }
    TfLiteStatus SetTensorParametersReadWrite(int tensor, TfLiteType type, const char *name, size_t rank,
                                              const int *dims, TfLiteQuantization quantization,
                                              bool is_variable = false, size_t signature_rank = 0,
                                              const int *dims_signature = nullptr)
    {
        HaliteTensorDescription from = describe(type, name, rank, dims, quantization);
        from.is_variable = is_variable;
        from.signature = dims_signature;
        from.signature_rank = static_cast<int32_t>(signature_rank);
        return changed(HaliteInterpreterSetTensor(interpreter_, index_, tensor, &from));
    }

    // Appends a node. builtin_data is of malloc and is taken, also on failure.
    TfLiteStatus AddNodeWithParameters(const std::vector<int> &inputs, const std::vector<int> &outputs,
                                       const std::vector<int> &intermediates, const char *init_data,
                                       size_t init_data_size, void *builtin_data,
                                       const TfLiteRegistration *registration, int *node_index = nullptr)
    {
        HaliteNodeDescription from = {};
        from.registration = registration;
        from.inputs = inputs.data();
        from.outputs = outputs.data();
        from.intermediates = intermediates.data();
        from.input_count = static_cast<int32_t>(inputs.size());
        from.output_count = static_cast<int32_t>(outputs.size());
        from.intermediate_count = static_cast<int32_t>(intermediates.size());
        from.builtin_data = builtin_data;
        from.init_data = init_data;
        from.init_bytes = init_data_size;
        int32_t index = -1;
        TfLiteStatus status = changed(HaliteInterpreterAddNode(interpreter_, index_, &from, &index));
        if (status == kTfLiteOk && node_index) *node_index = index;
        return status;
    }

    // One scale and zero point in the form that tensors have; none where the scale is 0.
    static TfLiteQuantization SingleScale(TfLiteQuantizationParams params)
    {
        TfLiteQuantization none = {kTfLiteNoQuantization, nullptr};
        if (params.scale == 0) return none;
        auto *affine = static_cast<TfLiteAffineQuantization *>(std::calloc(1, sizeof(TfLiteAffineQuantization)));
        if (!affine) return none;
        affine->scale = TfLiteFloatArrayCreate(1);
        affine->zero_point = TfLiteIntArrayCreate(1);
        if (affine->scale) affine->scale->data[0] = params.scale;
        if (affine->zero_point) affine->zero_point->data[0] = params.zero_point;
        return {kTfLiteAffineQuantization, affine};
    }

  private:
    using Lender = const int *(*)(const TfLiteInterpreter *, int32_t, int32_t *);
    using Setter = TfLiteStatus (*)(TfLiteInterpreter *, int32_t, const int *, int32_t);

    const std::vector<int> &refresh(std::vector<int> *kept, Lender lend) const
    {
        int32_t count = 0;
        const int *list = lend(interpreter_, index_, &count);
        size_t size = static_cast<size_t>(count);
        if (kept->size() != size || (size > 0 && std::memcmp(kept->data(), list, size * sizeof(int)) != 0))
            kept->assign(list, list + size);
        return *kept;
    }
    TfLiteStatus set(Setter set_list, const std::vector<int> &list)
    {
        return changed(set_list(interpreter_, index_, list.data(), static_cast<int32_t>(list.size())));
    }
    TfLiteStatus resize(int tensor, const std::vector<int> &dims, bool strict)
    {
        return changed(HaliteInterpreterResizeTensor(interpreter_, index_, tensor, dims.data(),
                                                     static_cast<int32_t>(dims.size()), strict));
    }
    static HaliteTensorDescription describe(TfLiteType type, const char *name, size_t rank, const int *dims,
                                            TfLiteQuantization quantization)
    {
        HaliteTensorDescription from = {};
        from.type = type;
        from.name = name;
        from.dims = dims;
        from.rank = static_cast<int32_t>(rank);
        from.quantization = quantization;
        return from;
    }
    TfLiteStatus note(TfLiteStatus status)
    {
        allocated_ = status == kTfLiteOk;
        return status;
    }
    TfLiteStatus changed(TfLiteStatus status)
    {
        allocated_ = false;
        return status;
    }
    TfLiteInterpreter *interpreter_;
    int index_;
    bool allocated_ = false;
    mutable std::vector<int> inputs_, outputs_, variables_, plan_;
    mutable std::map<int, std::pair<TfLiteNode, TfLiteRegistration>> nodes_;
    mutable std::vector<std::pair<TfLiteNode, TfLiteRegistration>> all_nodes_;
    std::string name_; // that the program gave
};

} // namespace tflite

#endif
