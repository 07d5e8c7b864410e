// SPDX-License-Identifier: Apache-2.0
// What watches an interpreter run. Derive a class from Profiler and hand it to Interpreter::SetProfiler; every node
// that runs is an event between BeginEvent and EndEvent. Custom operators find it in their context's `profiler`.
#ifndef TENSORFLOW_LITE_CORE_API_PROFILER_H_
#define TENSORFLOW_LITE_CORE_API_PROFILER_H_

#include "halite/cxx.h"

#include <cstdint>

namespace tflite
{

class Profiler
{
  public:
    // What an event is. Values are bits, so that a set of them is a number.
    enum class EventType : uint64_t {
        DEFAULT = 1,
        OPERATOR_INVOKE_EVENT = 1 << 1, // a node runs; metadata: node and subgraph
        DELEGATE_OPERATOR_INVOKE_EVENT = 1 << 2,
        DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT = 1 << 3,
        GENERAL_RUNTIME_INSTRUMENTATION_EVENT = 1 << 4,
        TELEMETRY_EVENT = 1 << 5,
        TELEMETRY_REPORT_SETTINGS = 1 << 6,
        TELEMETRY_DELEGATE_EVENT = 1 << 7,
        TELEMETRY_DELEGATE_REPORT_SETTINGS = 1 << 8,
        TELEMETRY_DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT = 1 << 9,
    };

    virtual ~Profiler() = default;

    // Begins an event and returns a number for its end. The tag lives at least until then.
    virtual uint32_t BeginEvent(const char *tag, EventType type, int64_t metadata1, int64_t metadata2) = 0;
    uint32_t BeginEvent(const char *tag, EventType type, int64_t metadata)
    {
        return BeginEvent(tag, type, metadata, 0);
    }

    virtual void EndEvent(uint32_t event) = 0;
    virtual void EndEvent(uint32_t event, int64_t metadata1, int64_t metadata2)
    {
        (void)metadata1;
        (void)metadata2;
        EndEvent(event);
    }

    // An event that measured itself: elapsed microseconds, or what its type says.
    virtual void AddEvent(const char *tag, EventType type, uint64_t metric, int64_t metadata1, int64_t metadata2)
    {
        (void)tag;
        (void)type;
        (void)metric;
        (void)metadata1;
        (void)metadata2;
    }
    void AddEvent(const char *tag, EventType type, uint64_t metric, int64_t metadata)
    {
        AddEvent(tag, type, metric, metadata, 0);
    }
    virtual void AddEventWithData(const char *tag, EventType type, const void *data)
    {
        (void)tag;
        (void)type;
        (void)data;
    }
};

// An event that lasts as long as this object. The profiler may be null.
class ScopedProfile
{
  public:
    ScopedProfile(Profiler *profiler, const char *tag, Profiler::EventType type = Profiler::EventType::DEFAULT,
                  int64_t metadata = 0)
        : profiler_(profiler), event_(profiler ? profiler->BeginEvent(tag, type, metadata, 0) : 0)
    {
    }
    ~ScopedProfile()
    {
        if (profiler_) profiler_->EndEvent(event_);
    }
    ScopedProfile(const ScopedProfile &) = delete;
    ScopedProfile &operator=(const ScopedProfile &) = delete;

  private:
    Profiler *profiler_;
    uint32_t event_;
};

class ScopedOperatorProfile : public ScopedProfile
{
  public:
    ScopedOperatorProfile(Profiler *profiler, const char *tag, int node)
        : ScopedProfile(profiler, tag, Profiler::EventType::OPERATOR_INVOKE_EVENT, node)
    {
    }
};

} // namespace tflite

#define TFLITE_VARNAME_UNIQ_IMPL(name, number) name##number
#define TFLITE_VARNAME_UNIQ(name, number) TFLITE_VARNAME_UNIQ_IMPL(name, number)
#define TFLITE_SCOPED_TAGGED_DEFAULT_PROFILE(profiler, tag) \
    ::tflite::ScopedProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)((profiler), (tag))
#define TFLITE_SCOPED_TAGGED_OPERATOR_PROFILE(profiler, tag, node) \
    ::tflite::ScopedOperatorProfile TFLITE_VARNAME_UNIQ(_profile_, __COUNTER__)((profiler), (tag), (node))

#endif
