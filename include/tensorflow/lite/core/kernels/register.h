// SPDX-License-Identifier: Apache-2.0
// The resolvers of this library's own operators, to which a program may add its own.
#ifndef TENSORFLOW_LITE_CORE_KERNELS_REGISTER_H_
#define TENSORFLOW_LITE_CORE_KERNELS_REGISTER_H_

#include "halite/cxx.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tensorflow/lite/mutable_op_resolver.h"

namespace tflite
{
namespace ops
{
namespace builtin
{

// Every operator that the library was built with, the custom ones among them. What a program adds comes first.
class BuiltinOpResolver : public MutableOpResolver
{
  public:
    BuiltinOpResolver() = default;
    BuiltinOpResolver(const BuiltinOpResolver &other) : MutableOpResolver(other) {}
    BuiltinOpResolver &operator=(const BuiltinOpResolver &other)
    {
        MutableOpResolver::operator=(other);
        return *this;
    }

    const TfLiteRegistration *FindOp(BuiltinOperator op, int version) const override
    {
        if (const TfLiteRegistration *added = MutableOpResolver::FindOp(op, version)) return added;
        return find(static_cast<TfLiteBuiltinOperator>(op), "", version);
    }
    const TfLiteRegistration *FindOp(const char *op, int version) const override
    {
        if (const TfLiteRegistration *added = MutableOpResolver::FindOp(op, version)) return added;
        return find(kTfLiteBuiltinCustom, op, version);
    }

  private:
    struct Key {
        int op;
        std::string name;
        int version;
        bool operator<(const Key &other) const
        {
            if (op != other.op) return op < other.op;
            return version != other.version ? version < other.version : name < other.name;
        }
    };
    // Kept, since a registration is lent until the interpreter is built.
    const TfLiteRegistration *find(TfLiteBuiltinOperator op, const char *name, int version) const
    {
        TfLiteRegistration registration = {};
        if (HaliteFindOperator(op, name, version, &registration) != kTfLiteOk) return nullptr;
        auto entry = found_.emplace(Key{op, name, version}, registration).first;
        if (op == kTfLiteBuiltinCustom) entry->second.custom_name = entry->first.name.c_str();
        return &entry->second;
    }
    mutable std::map<Key, TfLiteRegistration> found_;
};

// The same: there is no delegate that this library would apply unasked. Programs name them to do without XNNPACK's, or
// to have it.
class BuiltinOpResolverWithoutDefaultDelegates : public BuiltinOpResolver
{
};
class BuiltinOpResolverWithXNNPACK : public BuiltinOpResolver
{
  public:
    explicit BuiltinOpResolverWithXNNPACK(bool enable_xnnpack_unsigned_quantized = true)
    {
        (void)enable_xnnpack_unsigned_quantized;
    }
};

} // namespace builtin
} // namespace ops
} // namespace tflite

#endif
