// SPDX-License-Identifier: Apache-2.0
// Runs a model. InterpreterBuilder makes one of a model, or a program makes an empty one and builds the graph itself.
// It stands on a TfLiteInterpreter of the C library and may be used by one thread at a time; Cancel is the exception.
//
// The order of use: AllocateTensors, write the inputs, Invoke, read the outputs. Pointers to tensors and their data are
// valid until the next call that resizes, adds or allocates tensors or applies a delegate.
#ifndef TENSORFLOW_LITE_CORE_INTERPRETER_H_
#define TENSORFLOW_LITE_CORE_INTERPRETER_H_

#include "halite/cxx.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/core/signature_runner.h"
#include "tensorflow/lite/core/subgraph.h"
#include "tensorflow/lite/external_cpu_backend_context.h"
#include "tensorflow/lite/internal/signature_def.h"
#include "tensorflow/lite/interpreter_options.h"
#include "tensorflow/lite/portable_type_to_tflitetype.h"
#include "tensorflow/lite/profiling/root_profiler.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"
#include "tensorflow/lite/stderr_reporter.h"

namespace tflite
{

class InterpreterBuilder;

class Interpreter
{
  public:
    using TfLiteDelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)>;

    // While a kernel prepares, pointers to tensors stay valid until it has added more tensors than the headroom.
    static constexpr size_t kTensorsReservedCapacity = 128;
    static constexpr size_t kTensorsCapacityHeadroom = 16;

    // An empty graph. The reporter must outlive the interpreter.
    explicit Interpreter(ErrorReporter *reporter = DefaultErrorReporter()) : Interpreter(nullptr, reporter)
    {
        TfLiteInterpreterOptions *options = make_options(reporter_);
        adopt(HaliteInterpreterCreateEmpty(options));
        TfLiteInterpreterOptionsDelete(options);
    }
    ~Interpreter()
    {
        signature_runners_.clear();
        clear_external_caches();
        TfLiteInterpreterDelete(interpreter_);
        // Delegates go after the graph that they are a part of.
        owned_delegates_.clear();
    }
    Interpreter(const Interpreter &) = delete;
    Interpreter &operator=(const Interpreter &) = delete;

    // ---- building a graph: see Subgraph

    void AddSubgraphs(int subgraphs_to_add, int *first_new_subgraph_index = nullptr)
    {
        int32_t first = -1;
        HaliteInterpreterAddSubgraphs(interpreter_, subgraphs_to_add, &first);
        if (first_new_subgraph_index) *first_new_subgraph_index = first;
        find_subgraphs();
    }
    TfLiteStatus AddTensors(int tensors_to_add, int *first_new_tensor_index = nullptr)
    {
        return primary_subgraph().AddTensors(tensors_to_add, first_new_tensor_index);
    }
    TfLiteStatus SetInputs(const std::vector<int> &inputs) { return primary_subgraph().SetInputs(inputs); }
    TfLiteStatus SetOutputs(const std::vector<int> &outputs) { return primary_subgraph().SetOutputs(outputs); }
    TfLiteStatus SetVariables(const std::vector<int> &variables) { return primary_subgraph().SetVariables(variables); }
    TfLiteStatus SetExecutionPlan(const std::vector<int> &plan) { return primary_subgraph().SetExecutionPlan(plan); }
    TfLiteStatus AddNodeWithParameters(const std::vector<int> &inputs, const std::vector<int> &outputs,
                                       const char *init_data, size_t init_data_size, void *builtin_data,
                                       const TfLiteRegistration *registration, int *node_index = nullptr)
    {
        return primary_subgraph().AddNodeWithParameters(inputs, outputs, {}, init_data, init_data_size, builtin_data,
                                                        registration, node_index);
    }
    TfLiteStatus SetTensorParametersReadOnly(int tensor, TfLiteType type, const char *name,
                                             const std::vector<int> &dims, TfLiteQuantization quantization,
                                             const char *buffer, size_t bytes, const Allocation *allocation = nullptr)
    {
        return primary_subgraph().SetTensorParametersReadOnly(tensor, type, name, dims, quantization, buffer, bytes,
                                                              allocation);
    }
    TfLiteStatus SetTensorParametersReadOnly(int tensor, TfLiteType type, const char *name,
                                             const std::vector<int> &dims, TfLiteQuantizationParams quantization,
                                             const char *buffer, size_t bytes, const Allocation *allocation = nullptr)
    {
        return SetTensorParametersReadOnly(tensor, type, name, dims, Subgraph::SingleScale(quantization), buffer, bytes,
                                           allocation);
    }
    TfLiteStatus SetTensorParametersReadWrite(int tensor, TfLiteType type, const char *name,
                                              const std::vector<int> &dims, TfLiteQuantization quantization,
                                              bool is_variable = false)
    {
        return primary_subgraph().SetTensorParametersReadWrite(tensor, type, name, dims, quantization, is_variable);
    }
    TfLiteStatus SetTensorParametersReadWrite(int tensor, TfLiteType type, const char *name,
                                              const std::vector<int> &dims, TfLiteQuantizationParams quantization,
                                              bool is_variable = false,
                                              const std::vector<int> *dims_signature = nullptr)
    {
        return primary_subgraph().SetTensorParametersReadWrite(tensor, type, name, dims,
                                                               Subgraph::SingleScale(quantization), is_variable,
                                                               dims_signature ? *dims_signature : std::vector<int>());
    }

    // ---- the graph

    // Indices of tensors; -1 where the graph leaves one out.
    const std::vector<int> &inputs() const { return primary_subgraph().inputs(); }
    const std::vector<int> &outputs() const { return primary_subgraph().outputs(); }
    const std::vector<int> &variables() const { return primary_subgraph().variables(); }
    // Indices of nodes in the order in which they run.
    const std::vector<int> &execution_plan() const { return primary_subgraph().execution_plan(); }
    size_t tensors_size() const { return primary_subgraph().tensors_size(); }
    size_t nodes_size() const { return primary_subgraph().nodes_size(); }
    const char *GetInputName(int index) const { return name_of(inputs(), index); }
    const char *GetOutputName(int index) const { return name_of(outputs(), index); }
    TfLiteTensor *tensor(int tensor) { return primary_subgraph().tensor(tensor); }
    const TfLiteTensor *tensor(int tensor) const { return primary_subgraph().tensor(tensor); }
    const std::pair<TfLiteNode, TfLiteRegistration> *node_and_registration(int node) const
    {
        return primary_subgraph().node_and_registration(node);
    }
    size_t subgraphs_size() const { return subgraphs_.size(); }
    Subgraph *subgraph(int index)
    {
        return index < 0 || static_cast<size_t>(index) >= subgraphs_.size()
                   ? nullptr
                   : subgraphs_[static_cast<size_t>(index)].get();
    }
    const Subgraph *subgraph(int index) const { return const_cast<Interpreter *>(this)->subgraph(index); }
    Subgraph &primary_subgraph() { return *subgraphs_.front(); }
    const Subgraph &primary_subgraph() const { return *subgraphs_.front(); }
    ErrorReporter *error_reporter() const { return reporter_; }

    // The data of a tensor, if its elements are of this type and it has memory; else nullptr.
    template <class T> T *typed_tensor(int tensor) { return typed<T>(this->tensor(tensor)); }
    template <class T> const T *typed_tensor(int tensor) const { return typed<const T>(this->tensor(tensor)); }

    // The same by the position among inputs and outputs.
    TfLiteTensor *input_tensor(size_t index) { return listed(inputs(), index); }
    const TfLiteTensor *input_tensor(size_t index) const { return listed(inputs(), index); }
    TfLiteTensor *output_tensor(size_t index) { return listed(outputs(), index); }
    const TfLiteTensor *output_tensor(size_t index) const { return listed(outputs(), index); }
    template <class T> T *typed_input_tensor(int index) { return typed<T>(listed(inputs(), at(index))); }
    template <class T> const T *typed_input_tensor(int index) const
    {
        return typed<const T>(listed(inputs(), at(index)));
    }
    template <class T> T *typed_output_tensor(int index) { return typed<T>(listed(outputs(), at(index))); }
    template <class T> const T *typed_output_tensor(int index) const
    {
        return typed<const T>(listed(outputs(), at(index)));
    }

    // ---- signatures

    // The keys of the model's signatures, in the order of the file.
    std::vector<const std::string *> signature_keys() const
    {
        std::vector<const std::string *> keys;
        for (const internal::SignatureDef &signature : signature_defs_) keys.push_back(&signature.signature_key);
        return keys;
    }
    std::vector<const std::string *> signature_def_names() const { return signature_keys(); }
    // nullptr where there is no such signature. A null key means the first one of the primary subgraph, or, in a model
    // without signatures, the graph itself with its tensors' names.
    SignatureRunner *GetSignatureRunner(const char *signature_key)
    {
        internal::SignatureDef nameless;
        const internal::SignatureDef *signature = find_signature(signature_key);
        if (!signature_key && signature_defs_.empty()) {
            nameless = graph_as_signature();
            signature = &nameless;
        }
        Subgraph *graph = signature ? subgraph(static_cast<int>(signature->subgraph_index)) : nullptr;
        if (!graph) return nullptr;
        auto &runner = signature_runners_[signature->signature_key];
        if (!runner) runner = std::make_unique<SignatureRunner>(*signature, interpreter_, graph);
        return runner.get();
    }
    // Indices of tensors by name; empty where there is no such signature.
    const std::map<std::string, uint32_t> &signature_inputs(const char *signature_key) const
    {
        const internal::SignatureDef *signature = signature_key ? find_signature(signature_key) : nullptr;
        return signature ? signature->inputs : nothing();
    }
    const std::map<std::string, uint32_t> &signature_outputs(const char *signature_key) const
    {
        const internal::SignatureDef *signature = signature_key ? find_signature(signature_key) : nullptr;
        return signature ? signature->outputs : nothing();
    }
    TfLiteTensor *input_tensor_by_signature(const char *name, const char *signature_key)
    {
        SignatureRunner *runner = signature_key ? GetSignatureRunner(signature_key) : nullptr;
        return runner ? runner->input_tensor(name) : nullptr;
    }
    const TfLiteTensor *output_tensor_by_signature(const char *name, const char *signature_key) const
    {
        SignatureRunner *runner =
            signature_key ? const_cast<Interpreter *>(this)->GetSignatureRunner(signature_key) : nullptr;
        return runner ? runner->output_tensor(name) : nullptr;
    }
    // -1 where there is no such signature.
    int GetSubgraphIndexFromSignature(const char *signature_key) const
    {
        const internal::SignatureDef *signature = signature_key ? find_signature(signature_key) : nullptr;
        return signature ? static_cast<int>(signature->subgraph_index) : -1;
    }

    // ---- shapes and memory

    TfLiteStatus ResizeInputTensor(int tensor, const std::vector<int> &dims)
    {
        return primary_subgraph().ResizeInputTensor(tensor, dims);
    }
    // Only dimensions that the model leaves open may change.
    TfLiteStatus ResizeInputTensorStrict(int tensor, const std::vector<int> &dims)
    {
        return primary_subgraph().ResizeInputTensorStrict(tensor, dims);
    }
    TfLiteStatus AllocateTensors()
    {
        TfLiteStatus status = apply_lazy_delegates();
        return status == kTfLiteOk ? primary_subgraph().AllocateTensors() : status;
    }
    // Gives memory back until the next AllocateTensors. Values are lost, those of variables too.
    TfLiteStatus ReleaseNonPersistentMemory()
    {
        for (auto &subgraph : subgraphs_) subgraph->forget_allocation();
        return HaliteInterpreterReleaseMemory(interpreter_);
    }
    TfLiteStatus ResetVariableTensors() { return TfLiteInterpreterResetVariableTensors(interpreter_); }
    // Memory of the caller for a tensor, aligned to 64 bytes; see TfLiteInterpreterSetCustomAllocationForTensor.
    TfLiteStatus SetCustomAllocationForTensor(int tensor, const TfLiteCustomAllocation &allocation,
                                              int64_t flags = kTfLiteCustomAllocationFlagsNone)
    {
        return primary_subgraph().SetCustomAllocationForTensor(tensor, allocation, flags);
    }

    // ---- running

    TfLiteStatus Invoke()
    {
        cancellation_.asked = false;
        TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_);
        if (status == kTfLiteOk && options_.GetEnsureDynamicTensorsAreReleased()) release_dynamic_tensors();
        return status == kTfLiteCancelled && cancellation_.asked ? kTfLiteError : status;
    }
    // -1 leaves the number to the library. Tensors that have memory keep their values, but their data may move.
    TfLiteStatus SetNumThreads(int num_threads)
    {
        if (num_threads < -1) {
            reporter_->Report("num_threads should be >= 0 or just -1 to let TFLite runtime set the value.");
            return kTfLiteError;
        }
        if (!primary_subgraph().is_allocated()) return HaliteInterpreterSetNumThreads(interpreter_, num_threads);
        std::vector<std::pair<int, std::string>> values = save_values();
        for (auto &subgraph : subgraphs_) subgraph->forget_allocation();
        TfLiteStatus status = HaliteInterpreterSetNumThreads(interpreter_, num_threads);
        if (status == kTfLiteOk) status = primary_subgraph().AllocateTensors();
        if (status == kTfLiteOk) restore_values(values);
        return status;
    }
    void SetAllowFp16PrecisionForFp32(bool allow) { HaliteInterpreterSetAllowHalfPrecision(interpreter_, allow); }
    bool GetAllowFp16PrecisionForFp32() const { return HaliteInterpreterGetAllowHalfPrecision(interpreter_); }
    // Asked between nodes; where it returns true, Invoke ends with kTfLiteError. Cancel ends it with kTfLiteCancelled.
    void SetCancellationFunction(void *data, bool (*check_cancelled)(void *))
    {
        cancellation_ = {check_cancelled, data, false};
        HaliteInterpreterSetCancellation(interpreter_, check_cancelled ? ask_program : nullptr, &cancellation_);
    }
    TfLiteStatus EnableCancellation()
    {
        cancellation_enabled_ = true;
        return kTfLiteOk;
    }
    // Ends an Invoke that is under way, from any thread. Needs EnableCancellation before.
    TfLiteStatus Cancel() { return cancellation_enabled_ ? TfLiteInterpreterCancel(interpreter_) : kTfLiteError; }

    // ---- delegates

    // Gives the delegate the nodes that it takes. It must outlive the interpreter. kTfLiteDelegateError: the graph is
    // as it was before any delegate; other failures leave an interpreter that can only be deleted.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate *delegate)
    {
        lazy_delegate_providers_.clear();
        return apply(delegate);
    }
    // The same for some of the subgraphs.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate *delegate, const std::vector<int> &subgraphs)
    {
        lazy_delegate_providers_.clear();
        return note_delegate(HaliteInterpreterModifySubgraphsWithDelegate(interpreter_, delegate, subgraphs.data(),
                                                                          static_cast<int32_t>(subgraphs.size())));
    }
    // The same for a delegate that TfLiteOpaqueDelegateCreate made.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteOpaqueDelegateStruct *delegate)
    {
        return ModifyGraphWithDelegate(reinterpret_cast<TfLiteDelegate *>(delegate));
    }
    // The same; the interpreter takes the delegate, also on failure.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegatePtr delegate)
    {
        return ModifyGraphWithDelegate<TfLiteDelegate, void (*)(TfLiteDelegate *)>(std::move(delegate));
    }
    template <typename Delegate, typename Deleter = std::default_delete<Delegate>>
    TfLiteStatus ModifyGraphWithDelegate(std::unique_ptr<Delegate, Deleter> delegate)
    {
        Deleter deleter = std::move(delegate.get_deleter());
        Delegate *taken = delegate.release();
        owned_delegates_.emplace_back(taken, [deleter](TfLiteDelegate *gone) mutable {
            if (gone) deleter(static_cast<Delegate *>(gone));
        });
        return ModifyGraphWithDelegate(static_cast<TfLiteDelegate *>(taken));
    }
    // For good: the graph is the model's again.
    TfLiteStatus RemoveAllDelegates()
    {
        for (auto &subgraph : subgraphs_) subgraph->forget_allocation();
        has_delegates_ = false;
        return HaliteInterpreterRemoveDelegates(interpreter_);
    }
    // Whether a delegate was applied and is still there.
    bool HasDelegates() const { return has_delegates_; }
    // Copies a tensor that a delegate holds to its own memory, where that is out of date.
    TfLiteStatus EnsureTensorDataIsReadable(int tensor)
    {
        return TfLiteInterpreterEnsureTensorDataIsReadable(interpreter_, tensor);
    }
    TfLiteStatus SetBufferHandle(int tensor, TfLiteBufferHandle handle, TfLiteDelegate *delegate)
    {
        return SetBufferHandle(this->tensor(tensor), handle, delegate);
    }
    TfLiteStatus SetBufferHandle(TfLiteTensor *tensor, TfLiteBufferHandle handle, TfLiteDelegate *delegate)
    {
        return TfLiteInterpreterSetBufferHandle(interpreter_, tensor, handle, delegate);
    }
    TfLiteStatus GetBufferHandle(int tensor, TfLiteBufferHandle *handle, TfLiteDelegate **delegate)
    {
        return TfLiteInterpreterGetBufferHandle(interpreter_, tensor, handle, delegate);
    }
    // Leaves outputs in a delegate's memory after Invoke.
    void SetAllowBufferHandleOutput(bool allow)
    {
        allow_buffer_handle_output_ = allow;
        TfLiteSetAllowBufferHandleOutput(interpreter_, allow);
    }
    bool GetAllowBufferHandleOutput() const { return allow_buffer_handle_output_; }

    // The context's owner is the caller, which keeps it as long as the interpreter.
    void SetExternalContext(TfLiteExternalContextType type, TfLiteExternalContext *context)
    {
        HaliteInterpreterSetExternalContext(interpreter_, type, context);
    }

    // ---- profiling

    // Replaces what was set or added before; null stops profiling. A borrowed one must outlive the interpreter.
    void SetProfiler(Profiler *profiler)
    {
        profilers_.RemoveChildProfilers();
        profilers_.AddProfiler(profiler);
        install_profiler();
    }
    void SetProfiler(std::unique_ptr<Profiler> profiler)
    {
        profilers_.RemoveChildProfilers();
        profilers_.AddProfiler(std::move(profiler));
        install_profiler();
    }
    void AddProfiler(Profiler *profiler)
    {
        profilers_.AddProfiler(profiler);
        install_profiler();
    }
    void AddProfiler(std::unique_ptr<Profiler> profiler)
    {
        profilers_.AddProfiler(std::move(profiler));
        install_profiler();
    }
    // nullptr where there is none.
    Profiler *GetProfiler()
    {
        if (profilers_.children().empty()) return nullptr;
        return profilers_.children().size() == 1 ? profilers_.children().front() : &profilers_;
    }

    // ---- the rest

    // Metadata by name, kept for the program.
    TfLiteStatus SetMetadata(const std::map<std::string, std::string> &metadata)
    {
        metadata_ = metadata;
        return kTfLiteOk;
    }
    const std::map<std::string, std::string> &metadata() const { return metadata_; }
    // Options that concern building have no effect any more.
    TfLiteStatus ApplyOptions(InterpreterOptions *options)
    {
        if (options) options_ = *options;
        return kTfLiteOk;
    }
    // What the functions of halite/halite.h take. It is this object's.
    TfLiteInterpreter *c_interpreter() { return interpreter_; }
    const TfLiteInterpreter *c_interpreter() const { return interpreter_; }

  private:
    friend class InterpreterBuilder;
    friend class InterpreterTest; // a name that tests written for the original use
    using OwnedDelegate = std::unique_ptr<TfLiteDelegate, std::function<void(TfLiteDelegate *)>>;
    // As OpResolver names them.
    using TfLiteDelegateCreator = std::function<TfLiteDelegatePtr(TfLiteContext *)>;
    using TfLiteDelegateCreators = std::vector<TfLiteDelegateCreator>;
    struct Cancellation {
        bool (*ask)(void *);
        void *data;
        bool asked; // and the answer was yes
    };

    Interpreter(std::nullptr_t, ErrorReporter *reporter) : reporter_(reporter ? reporter : DefaultErrorReporter())
    {
        telemetry_ = {&profilers_, ignore_event, ignore_op_event, ignore_settings, begin_op, end_op, add_op};
    }
    static void report(void *reporter, const char *format, va_list args)
    {
        static_cast<ErrorReporter *>(reporter)->Report(format, args);
    }
    static TfLiteInterpreterOptions *make_options(ErrorReporter *reporter)
    {
        TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
        TfLiteInterpreterOptionsSetErrorReporter(options, report, reporter);
        TfLiteInterpreterOptionsEnableCancellation(options, true);
        return options;
    }
    void adopt(TfLiteInterpreter *interpreter)
    {
        interpreter_ = interpreter;
        find_subgraphs();
        if (subgraphs_.empty()) subgraphs_.push_back(std::make_unique<Subgraph>(nullptr, 0)); // no memory
        read_signatures();
    }
    void read_signatures()
    {
        for (int32_t i = 0; i < TfLiteInterpreterGetSignatureCount(interpreter_); i++) {
            internal::SignatureDef signature;
            signature.signature_key = TfLiteInterpreterGetSignatureKey(interpreter_, i);
            TfLiteSignatureRunner *runner =
                TfLiteInterpreterGetSignatureRunner(interpreter_, signature.signature_key.c_str());
            if (!runner) continue; // no memory
            signature.subgraph_index = static_cast<uint32_t>(HaliteSignatureRunnerGetSubgraph(runner));
            for (size_t k = 0; k < TfLiteSignatureRunnerGetInputCount(runner); k++) {
                const char *name = TfLiteSignatureRunnerGetInputName(runner, static_cast<int32_t>(k));
                signature.inputs[name] = static_cast<uint32_t>(HaliteSignatureRunnerGetInputTensorIndex(runner, name));
            }
            for (size_t k = 0; k < TfLiteSignatureRunnerGetOutputCount(runner); k++) {
                const char *name = TfLiteSignatureRunnerGetOutputName(runner, static_cast<int32_t>(k));
                signature.outputs[name] =
                    static_cast<uint32_t>(HaliteSignatureRunnerGetOutputTensorIndex(runner, name));
            }
            TfLiteSignatureRunnerDelete(runner);
            signature_defs_.push_back(std::move(signature));
        }
    }
    // A null key: the first one of the primary subgraph. nullptr where there is none.
    const internal::SignatureDef *find_signature(const char *key) const
    {
        for (const internal::SignatureDef &signature : signature_defs_)
            if (key ? signature.signature_key == key : signature.subgraph_index == 0) return &signature;
        return nullptr;
    }
    internal::SignatureDef graph_as_signature() const
    {
        internal::SignatureDef signature;
        signature.signature_key = "<placeholder signature>"; // as the original calls it
        auto add = [this](const std::vector<int> &list, std::map<std::string, uint32_t> *tensors) {
            for (int index : list)
                if (const TfLiteTensor *listed = index >= 0 ? tensor(index) : nullptr)
                    (*tensors)[listed->name ? listed->name : ""] = static_cast<uint32_t>(index);
        };
        add(inputs(), &signature.inputs);
        add(outputs(), &signature.outputs);
        return signature;
    }
    // Signatures of a graph that was built in code.
    void SetSignatureDef(std::vector<internal::SignatureDef> signatures)
    {
        signature_runners_.clear();
        signature_defs_ = std::move(signatures);
    }
    void find_subgraphs()
    {
        for (int i = static_cast<int>(subgraphs_.size()); i < HaliteInterpreterGetSubgraphCount(interpreter_); i++)
            subgraphs_.push_back(std::make_unique<Subgraph>(interpreter_, i));
        context_ = subgraphs_.empty() ? nullptr : primary_subgraph().context();
        install_profiler();
    }

    // A position that no list has, where it is negative.
    static size_t at(int index) { return index < 0 ? SIZE_MAX : static_cast<size_t>(index); }
    TfLiteTensor *listed(const std::vector<int> &list, size_t index) const
    {
        return index < list.size() ? const_cast<Interpreter *>(this)->tensor(list[index]) : nullptr;
    }
    const char *name_of(const std::vector<int> &list, int index) const
    {
        const TfLiteTensor *found = listed(list, at(index));
        return found ? found->name : nullptr;
    }
    template <class T> static T *typed(const TfLiteTensor *tensor)
    {
        if (!tensor || tensor->type != typeToTfLiteType<std::remove_const_t<T>>()) return nullptr;
        return reinterpret_cast<T *>(tensor->data.raw);
    }
    static const std::map<std::string, uint32_t> &nothing()
    {
        static const std::map<std::string, uint32_t> empty;
        return empty;
    }

    // What nodes wrote for other nodes alone.
    void release_dynamic_tensors()
    {
        for (int node : execution_plan()) {
            const TfLiteNode &ran = node_and_registration(node)->first;
            for (int i = 0; i < ran.outputs->size; i++) {
                TfLiteTensor *written = tensor(ran.outputs->data[i]);
                if (!written || written->allocation_type != kTfLiteDynamic) continue;
                if (std::find(outputs().begin(), outputs().end(), ran.outputs->data[i]) == outputs().end())
                    TfLiteTensorDataFree(written);
            }
        }
    }

    TfLiteStatus apply(TfLiteDelegate *delegate)
    {
        if (!delegate) {
            reporter_->Report("Null delegate.");
            return kTfLiteDelegateError;
        }
        return note_delegate(TfLiteInterpreterModifyGraphWithDelegate(interpreter_, delegate));
    }
    TfLiteStatus note_delegate(TfLiteStatus status)
    {
        for (auto &subgraph : subgraphs_) subgraph->forget_allocation();
        if (status == kTfLiteOk) has_delegates_ = true;
        if (status == kTfLiteDelegateError) has_delegates_ = false;
        return status;
    }
    // Delegates of the resolver, for an interpreter that was given no other. Those that do not fit are left out.
    TfLiteStatus apply_lazy_delegates()
    {
        TfLiteDelegateCreators creators;
        creators.swap(lazy_delegate_providers_);
        for (auto &create : creators) {
            TfLiteDelegatePtr made = create(primary_subgraph().context());
            if (!made) continue;
            TfLiteDelegate *delegate = made.get();
            owned_delegates_.emplace_back(made.release(), made.get_deleter());
            TfLiteStatus status = apply(delegate);
            if (status == kTfLiteError) return status;
        }
        return kTfLiteOk;
    }

    static bool ask_program(void *cancellation)
    {
        auto *self = static_cast<Cancellation *>(cancellation);
        if (!self->ask(self->data)) return false;
        self->asked = true;
        return true;
    }
    // What a backend kept for this interpreter's weights is of no use to others.
    void clear_external_caches()
    {
        TfLiteExternalContext *context = HaliteInterpreterGetExternalContext(interpreter_, kTfLiteCpuBackendContext);
        auto *backend =
            context ? static_cast<ExternalCpuBackendContext *>(context)->internal_backend_context() : nullptr;
        if (backend) backend->ClearCaches();
    }

    // The values that a program put into tensors before it changed the number of threads.
    std::vector<std::pair<int, std::string>> save_values()
    {
        std::vector<std::pair<int, std::string>> values;
        for (const std::vector<int> *list : {&inputs(), &variables()})
            for (int index : *list) {
                const TfLiteTensor *from = tensor(index);
                bool ours = from && (from->allocation_type == kTfLiteArenaRw ||
                                     from->allocation_type == kTfLiteArenaRwPersistent);
                if (ours && from->data.raw) values.emplace_back(index, std::string(from->data.raw, from->bytes));
            }
        return values;
    }
    void restore_values(const std::vector<std::pair<int, std::string>> &values)
    {
        for (const auto &value : values) {
            TfLiteTensor *to = tensor(value.first);
            if (to && to->data.raw && to->bytes == value.second.size())
                std::memcpy(to->data.raw, value.second.data(), value.second.size());
        }
    }

    // ---- from the C library's profiler to the program's

    void install_profiler()
    {
        Profiler *profiler = GetProfiler();
        if (!profiler && !profiler_installed_) return;
        profiler_installed_ = profiler != nullptr;
        HaliteInterpreterSetTelemetryProfiler(interpreter_, profiler ? &telemetry_ : nullptr);
        for (auto &subgraph : subgraphs_)
            if (TfLiteContext *context = subgraph->context()) context->profiler = profiler;
    }
    static void ignore_event(TfLiteTelemetryProfilerStruct *, const char *, uint64_t) {}
    static void ignore_op_event(TfLiteTelemetryProfilerStruct *, const char *, int64_t, int64_t, uint64_t) {}
    static void ignore_settings(TfLiteTelemetryProfilerStruct *, const char *, const TfLiteTelemetrySettings *) {}
    static uint32_t begin_op(TfLiteTelemetryProfilerStruct *self, const char *op, int64_t node, int64_t subgraph)
    {
        return static_cast<profiling::RootProfiler *>(self->data)
            ->BeginEvent(op, Profiler::EventType::OPERATOR_INVOKE_EVENT, node, subgraph);
    }
    static void end_op(TfLiteTelemetryProfilerStruct *self, uint32_t event)
    {
        static_cast<profiling::RootProfiler *>(self->data)->EndEvent(event);
    }
    static void add_op(TfLiteTelemetryProfilerStruct *self, const char *op, uint64_t elapsed, int64_t node,
                       int64_t subgraph)
    {
        static_cast<profiling::RootProfiler *>(self->data)
            ->AddEvent(op, Profiler::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT, elapsed, node, subgraph);
    }

    ErrorReporter *reporter_;
    TfLiteInterpreter *interpreter_ = nullptr;
    std::vector<std::unique_ptr<Subgraph>> subgraphs_; // at least one
    TfLiteContext *context_ = nullptr;                 // of the primary subgraph
    std::vector<internal::SignatureDef> signature_defs_;
    std::map<std::string, std::unique_ptr<SignatureRunner>> signature_runners_; // by key
    std::vector<OwnedDelegate> owned_delegates_;
    TfLiteDelegateCreators lazy_delegate_providers_;
    bool has_delegates_ = false;
    Cancellation cancellation_ = {};
    profiling::RootProfiler profilers_;
    TfLiteTelemetryProfilerStruct telemetry_;
    bool profiler_installed_ = false;
    bool cancellation_enabled_ = false;
    bool allow_buffer_handle_output_ = false;
    InterpreterOptions options_;
    std::map<std::string, std::string> metadata_;
};

namespace impl
{
using tflite::Interpreter;
}

} // namespace tflite

#endif
