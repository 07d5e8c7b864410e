// SPDX-License-Identifier: Apache-2.0
// A profiler that keeps nothing.
#ifndef TENSORFLOW_LITE_PROFILING_NOOP_PROFILER_H_
#define TENSORFLOW_LITE_PROFILING_NOOP_PROFILER_H_

#include "halite/cxx.h"

#include <vector>

#include "tensorflow/lite/profiling/profile_buffer.h"

namespace tflite
{
namespace profiling
{

class NoopProfiler : public Profiler
{
  public:
    NoopProfiler() = default;
    explicit NoopProfiler(uint32_t) {}

    using Profiler::BeginEvent;
    uint32_t BeginEvent(const char *, EventType, int64_t, int64_t) override { return 0; }
    void EndEvent(uint32_t) override {}

    void StartProfiling() {}
    void StopProfiling() {}
    void Reset() {}
    std::vector<const ProfileEvent *> GetProfileEvents() { return {}; }
};

} // namespace profiling
} // namespace tflite

#endif
