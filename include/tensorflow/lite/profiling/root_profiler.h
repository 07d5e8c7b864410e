// SPDX-License-Identifier: Apache-2.0
// Several profilers that look like one: what an interpreter reports goes to each.
#ifndef TENSORFLOW_LITE_PROFILING_ROOT_PROFILER_H_
#define TENSORFLOW_LITE_PROFILING_ROOT_PROFILER_H_

#include "halite/cxx.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tensorflow/lite/core/api/profiler.h"

namespace tflite
{
namespace profiling
{

class RootProfiler : public Profiler
{
  public:
    // Borrowed, or taken. Null adds nothing.
    void AddProfiler(Profiler *profiler)
    {
        if (profiler) children_.push_back(profiler);
    }
    void AddProfiler(std::unique_ptr<Profiler> &&profiler)
    {
        AddProfiler(profiler.get());
        if (profiler) owned_.push_back(std::move(profiler));
    }
    void RemoveChildProfilers()
    {
        children_.clear();
        owned_.clear();
        events_.clear();
    }
    const std::vector<Profiler *> &children() const { return children_; }

    using Profiler::AddEvent;
    using Profiler::BeginEvent;
    uint32_t BeginEvent(const char *tag, EventType type, int64_t metadata1, int64_t metadata2) override
    {
        if (children_.size() == 1) return children_[0]->BeginEvent(tag, type, metadata1, metadata2);
        std::vector<uint32_t> &events = events_[++last_];
        for (Profiler *child : children_) events.push_back(child->BeginEvent(tag, type, metadata1, metadata2));
        return last_;
    }
    void EndEvent(uint32_t event) override
    {
        if (children_.size() == 1) return children_[0]->EndEvent(event);
        end(event, [](Profiler *child, uint32_t number) { child->EndEvent(number); });
    }
    void EndEvent(uint32_t event, int64_t metadata1, int64_t metadata2) override
    {
        if (children_.size() == 1) return children_[0]->EndEvent(event, metadata1, metadata2);
        end(event, [=](Profiler *child, uint32_t number) { child->EndEvent(number, metadata1, metadata2); });
    }
    void AddEvent(const char *tag, EventType type, uint64_t metric, int64_t metadata1, int64_t metadata2) override
    {
        for (Profiler *child : children_) child->AddEvent(tag, type, metric, metadata1, metadata2);
    }

  private:
    template <typename End> void end(uint32_t event, End end_of)
    {
        auto found = events_.find(event);
        if (found == events_.end()) return;
        for (size_t i = 0; i < children_.size() && i < found->second.size(); i++)
            end_of(children_[i], found->second[i]);
        events_.erase(found);
    }
    std::vector<Profiler *> children_;
    std::vector<std::unique_ptr<Profiler>> owned_;
    std::map<uint32_t, std::vector<uint32_t>> events_; // the children's numbers by ours
    uint32_t last_ = 0;
};

} // namespace profiling
} // namespace tflite

#endif
