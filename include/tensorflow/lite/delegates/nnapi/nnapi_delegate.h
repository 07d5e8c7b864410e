// SPDX-License-Identifier: Apache-2.0
// Android's neural network interface from C++. The class opens libtensorflowlite_nnapi_delegate.so, where the system's
// loader finds it, and passes its options on. Without that library it takes no node and leaves the model to the CPU, as
// the original's does on a device without the interface; programs that name it compile and run everywhere.
#ifndef TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_H_

#include "halite/cxx.h"

#include <string>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/interpreter.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

namespace tflite
{

class StatefulNnApiDelegate : public TfLiteDelegate
{
  public:
    struct Options {
        enum ExecutionPreference { kUndefined = -1, kLowPower = 0, kFastSingleAnswer = 1, kSustainedSpeed = 2 };
        ExecutionPreference execution_preference = kUndefined;
        const char *accelerator_name = nullptr;
        const char *cache_dir = nullptr;
        const char *model_token = nullptr;
        bool disallow_nnapi_cpu = true;
        int max_number_delegated_partitions = 3;
        bool allow_fp16 = false;
        int execution_priority = 100; // low 90, medium 100, high 110
        uint64_t max_compilation_timeout_duration_ns = 0;
        uint64_t max_execution_timeout_duration_ns = 0;
        uint64_t max_execution_loop_timeout_duration_ns = 0;
        bool allow_dynamic_dimensions = false;
        bool use_burst_computation = false;
        uint32_t max_execution_cache_size = 4;
        std::string vendor_plugin_name;
    };

    StatefulNnApiDelegate() : StatefulNnApiDelegate(Options()) {}
    explicit StatefulNnApiDelegate(Options options) : TfLiteDelegate(), options_(std::move(options))
    {
        own(&options_.accelerator_name, &accelerator_name_);
        own(&options_.cache_dir, &cache_dir_);
        own(&options_.model_token, &model_token_);
        inner_ = create();
        Prepare = prepare;
        flags = kTfLiteDelegateFlagsAllowDynamicTensors; // where it takes nothing
        if (inner_) flags = inner_->flags;
    }
    ~StatefulNnApiDelegate() { TfLiteExternalDelegateDelete(inner_); }
    StatefulNnApiDelegate(const StatefulNnApiDelegate &) = delete;
    StatefulNnApiDelegate &operator=(const StatefulNnApiDelegate &) = delete;

    static const Options &GetOptions(TfLiteDelegate *delegate)
    {
        return static_cast<StatefulNnApiDelegate *>(delegate)->options_;
    }
    // Always 0: messages say what NNAPI returned.
    int GetNnApiErrno() const { return 0; }

  private:
    // The caller's text may end before this object.
    static void own(const char **text, std::string *copy)
    {
        if (!*text) return;
        *copy = *text;
        *text = copy->c_str();
    }

    TfLiteDelegate *create() const
    {
        TfLiteExternalDelegateOptions all = TfLiteExternalDelegateOptionsDefault("libtensorflowlite_nnapi_delegate.so");
        const std::string numbers[] = {
            std::to_string(static_cast<int>(options_.execution_preference)),
            std::to_string(options_.execution_priority),
            std::to_string(options_.max_number_delegated_partitions),
            std::to_string(options_.max_compilation_timeout_duration_ns),
            std::to_string(options_.max_execution_timeout_duration_ns),
            std::to_string(options_.max_execution_loop_timeout_duration_ns),
            std::to_string(options_.max_execution_cache_size),
        };
        const char *const keys[] = {
            "execution_preference",
            "execution_priority",
            "max_number_delegated_partitions",
            "max_compilation_timeout_duration_ns",
            "max_execution_timeout_duration_ns",
            "max_execution_loop_timeout_duration_ns",
            "max_execution_cache_size",
        };
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) all.insert(&all, keys[i], numbers[i].c_str());
        const auto add_switch = [&all](const char *key, bool on) { all.insert(&all, key, on ? "true" : "false"); };
        add_switch("disallow_nnapi_cpu", options_.disallow_nnapi_cpu);
        add_switch("allow_fp16", options_.allow_fp16);
        add_switch("allow_dynamic_dimensions", options_.allow_dynamic_dimensions);
        add_switch("use_burst_computation", options_.use_burst_computation);
        const auto add_text = [&all](const char *key, const char *text) {
            if (text && *text) all.insert(&all, key, text);
        };
        add_text("accelerator_name", options_.accelerator_name);
        add_text("cache_dir", options_.cache_dir);
        add_text("model_token", options_.model_token);
        return TfLiteExternalDelegateCreate(&all);
    }

    static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
    {
        TfLiteDelegate *inner = static_cast<StatefulNnApiDelegate *>(delegate)->inner_;
        return inner ? inner->Prepare(context, inner) : kTfLiteOk;
    }

    Options options_;
    std::string accelerator_name_, cache_dir_, model_token_;
    TfLiteDelegate *inner_; // NULL: the library is not here
};

// Lends one that lives as long as the program.
inline TfLiteDelegate *NnApiDelegate()
{
    static StatefulNnApiDelegate delegate;
    return &delegate;
}

} // namespace tflite

#endif
