// SPDX-License-Identifier: Apache-2.0
// Android's neural network interface. This library has no such delegate: what is here takes no node and leaves the
// model to the CPU, as the original's does on a device without the interface. Programs that name it compile and run.
#ifndef TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_H_

#include "halite/cxx.h"

#include <string>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/interpreter.h"

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
        int execution_priority = 110;
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
        Prepare = take_nothing;
        flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    }
    static const Options &GetOptions(TfLiteDelegate *delegate)
    {
        return static_cast<StatefulNnApiDelegate *>(delegate)->options_;
    }
    int GetNnApiErrno() const { return 0; }

  private:
    static TfLiteStatus take_nothing(TfLiteContext *, TfLiteDelegate *) { return kTfLiteOk; }
    Options options_;
};

// Lends one that lives as long as the program.
inline TfLiteDelegate *NnApiDelegate()
{
    static StatefulNnApiDelegate delegate;
    return &delegate;
}

} // namespace tflite

#endif
