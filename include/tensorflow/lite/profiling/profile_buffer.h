// SPDX-License-Identifier: Apache-2.0
// Events of one or more runs, in a buffer whose size never changes: what comes when it is full replaces the oldest.
#ifndef TENSORFLOW_LITE_PROFILING_PROFILE_BUFFER_H_
#define TENSORFLOW_LITE_PROFILING_PROFILE_BUFFER_H_

#include "halite/cxx.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"

namespace tflite
{
namespace profiling
{

struct ProfileEvent {
    using EventType = Profiler::EventType;
    const char *tag;             // lent by who reported it
    uint64_t begin_timestamp_us; // microseconds of a clock that never goes back
    uint64_t elapsed_time;       // microseconds; 0 until the event ends
    EventType event_type;
    int64_t event_metadata;       // of a node: its index
    int64_t extra_event_metadata; // of a node: its subgraph
};

constexpr uint32_t kInvalidEventHandle = static_cast<uint32_t>(~0) - 1;

class ProfileBuffer
{
  public:
    // allow_dynamic_expansion: the buffer grows instead of forgetting.
    explicit ProfileBuffer(uint32_t max_num_entries, bool enabled = false, bool allow_dynamic_expansion = false)
        : events_(max_num_entries > 0 ? max_num_entries : 1), enabled_(enabled), grows_(allow_dynamic_expansion)
    {
    }

    // Returns a handle, or kInvalidEventHandle while the buffer is off.
    uint32_t BeginEvent(const char *tag, ProfileEvent::EventType type, int64_t metadata1, int64_t metadata2)
    {
        if (!enabled_) return kInvalidEventHandle;
        uint32_t handle = count_;
        *slot_for_next() = {tag, now_us(), 0, type, metadata1, metadata2};
        return handle;
    }

    // Does nothing for an event that is no longer there.
    void EndEvent(uint32_t handle, const int64_t *metadata1 = nullptr, const int64_t *metadata2 = nullptr)
    {
        if (!enabled_ || handle >= count_ || count_ - handle > events_.size()) return;
        ProfileEvent &event = events_[handle % events_.size()];
        event.elapsed_time = now_us() - event.begin_timestamp_us;
        if (metadata1) event.event_metadata = *metadata1;
        if (metadata2) event.extra_event_metadata = *metadata2;
    }

    void AddEvent(const char *tag, ProfileEvent::EventType type, uint64_t elapsed_time, int64_t metadata1,
                  int64_t metadata2)
    {
        if (enabled_) *slot_for_next() = {tag, now_us(), elapsed_time, type, metadata1, metadata2};
    }

    void SetEnabled(bool enabled) { enabled_ = enabled; }
    void Reset() { count_ = 0; }
    size_t Size() const { return count_ < events_.size() ? count_ : events_.size(); }
    // Counted from the oldest that is there; nullptr where there is none.
    const ProfileEvent *At(size_t index) const
    {
        if (index >= Size()) return nullptr;
        return &events_[(count_ - Size() + index) % events_.size()];
    }

  private:
    static uint64_t now_us()
    {
        auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    }
    ProfileEvent *slot_for_next()
    {
        if (grows_ && count_ == events_.size()) events_.resize(2 * events_.size());
        return &events_[count_++ % events_.size()];
    }
    std::vector<ProfileEvent> events_;
    uint32_t count_ = 0; // of all events since Reset
    bool enabled_;
    bool grows_;
};

} // namespace profiling
} // namespace tflite

#endif
