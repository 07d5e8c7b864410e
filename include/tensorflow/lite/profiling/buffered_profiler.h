// SPDX-License-Identifier: Apache-2.0
// A profiler that keeps the events between StartProfiling and StopProfiling.
#ifndef TENSORFLOW_LITE_PROFILING_BUFFERED_PROFILER_H_
#define TENSORFLOW_LITE_PROFILING_BUFFERED_PROFILER_H_

#include "halite/cxx.h"

#include <vector>

#include "tensorflow/lite/profiling/profile_buffer.h"

namespace tflite
{
namespace profiling
{

class BufferedProfiler : public Profiler
{
  public:
    explicit BufferedProfiler(uint32_t max_num_initial_entries, bool allow_dynamic_buffer_increase = false)
        : buffer_(max_num_initial_entries, false, allow_dynamic_buffer_increase)
    {
    }

    using Profiler::AddEvent;
    using Profiler::BeginEvent;
    uint32_t BeginEvent(const char *tag, EventType type, int64_t metadata1, int64_t metadata2) override
    {
        return wants(type) ? buffer_.BeginEvent(tag, type, metadata1, metadata2) : kInvalidEventHandle;
    }
    void EndEvent(uint32_t event) override { buffer_.EndEvent(event); }
    void EndEvent(uint32_t event, int64_t metadata1, int64_t metadata2) override
    {
        buffer_.EndEvent(event, &metadata1, &metadata2);
    }
    void AddEvent(const char *tag, EventType type, uint64_t metric, int64_t metadata1, int64_t metadata2) override
    {
        if (wants(type)) buffer_.AddEvent(tag, type, metric, metadata1, metadata2);
    }

    void StartProfiling() { buffer_.SetEnabled(true); }
    void StopProfiling() { buffer_.SetEnabled(false); }
    void Reset() { buffer_.Reset(); }
    // Oldest first. The pointers live until the next event.
    std::vector<const ProfileEvent *> GetProfileEvents() const
    {
        std::vector<const ProfileEvent *> events;
        for (size_t i = 0; i < buffer_.Size(); i++) events.push_back(buffer_.At(i));
        return events;
    }

  private:
    // Telemetry is no work of the model.
    static bool wants(EventType type)
    {
        return static_cast<uint64_t>(type) < static_cast<uint64_t>(EventType::TELEMETRY_EVENT);
    }
    ProfileBuffer buffer_;
};

} // namespace profiling
} // namespace tflite

#endif
