// SPDX-License-Identifier: Apache-2.0
// A resolver to which a program adds kernels, its own or the library's. What was added last wins.
#ifndef TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_H_
#define TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_H_

#include "halite/cxx.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/api/op_resolver.h"

namespace tflite
{

class MutableOpResolver : public OpResolver
{
  public:
    const TfLiteRegistration *FindOp(BuiltinOperator op, int version) const override
    {
        auto found = builtins_.find({static_cast<int>(op), version});
        if (found != builtins_.end()) return &found->second;
        for (const OpResolver *other : others_)
            if (const TfLiteRegistration *registration = other->FindOp(op, version)) return registration;
        return nullptr;
    }
    const TfLiteRegistration *FindOp(const char *op, int version) const override
    {
        auto found = customs_.find({op, version});
        if (found != customs_.end()) return &found->second;
        for (const OpResolver *other : others_)
            if (const TfLiteRegistration *registration = other->FindOp(op, version)) return registration;
        return nullptr;
    }

    // Adds a kernel for versions of an operator. The registration is copied; null adds nothing.
    void AddBuiltin(BuiltinOperator op, const TfLiteRegistration *registration, int version = 1)
    {
        if (!registration) return;
        TfLiteRegistration copy = *registration;
        copy.custom_name = nullptr;
        copy.builtin_code = op;
        copy.version = version;
        builtins_[{static_cast<int>(op), version}] = copy;
        has_user_ops_ = true;
    }
    void AddBuiltin(BuiltinOperator op, const TfLiteRegistration *registration, int min_version, int max_version)
    {
        for (int version = min_version; version <= max_version; version++) AddBuiltin(op, registration, version);
    }
    void AddCustom(const char *name, const TfLiteRegistration *registration, int version = 1)
    {
        if (!registration) return;
        TfLiteRegistration copy = *registration;
        auto entry = customs_.emplace(std::make_pair(std::string(name), version), copy).first;
        copy.builtin_code = kTfLiteBuiltinCustom;
        copy.custom_name = entry->first.first.c_str(); // nodes of a map do not move
        copy.version = version;
        entry->second = copy;
        has_user_ops_ = true;
    }
    void AddCustom(const char *name, const TfLiteRegistration *registration, int min_version, int max_version)
    {
        for (int version = min_version; version <= max_version; version++) AddCustom(name, registration, version);
    }

    // Adds copies of all that was added to another one, in place of what is here already. Resolvers that the other one
    // asks are asked before those that this one does.
    void AddAll(const MutableOpResolver &other)
    {
        for (const auto &entry : other.builtins_)
            AddBuiltin(static_cast<BuiltinOperator>(entry.first.first), &entry.second, entry.first.second);
        for (const auto &entry : other.customs_)
            AddCustom(entry.first.first.c_str(), &entry.second, entry.first.second);
        const std::vector<const OpResolver *> theirs = other.others_; // the other one may be this one
        others_.insert(others_.begin(), theirs.begin(), theirs.end());
    }

    MutableOpResolver() = default;
    // Names in the registrations are those of the map's own keys, so that a copy is made entry by entry.
    MutableOpResolver(const MutableOpResolver &other) : OpResolver(other) { copy_from(other); }
    MutableOpResolver &operator=(const MutableOpResolver &other)
    {
        if (this == &other) return *this;
        builtins_.clear();
        customs_.clear();
        others_.clear();
        copy_from(other);
        return *this;
    }

    bool MayContainUserDefinedOps() const override
    {
        if (has_user_ops_) return true;
        for (const OpResolver *other : others_)
            if (other->MayContainUserDefinedOps()) return true;
        return false;
    }

  protected:
    // Asks another resolver, which must outlive this one, for what is not found here.
    void ChainOpResolver(const OpResolver *other) { others_.push_back(other); }
    bool has_user_ops_ = false;

  private:
    void copy_from(const MutableOpResolver &other)
    {
        AddAll(other);
        has_user_ops_ = other.has_user_ops_;
    }
    std::map<std::pair<int, int>, TfLiteRegistration> builtins_;        // by code and version
    std::map<std::pair<std::string, int>, TfLiteRegistration> customs_; // by name and version
    std::vector<const OpResolver *> others_;
};

} // namespace tflite

#endif
