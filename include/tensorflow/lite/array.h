// SPDX-License-Identifier: Apache-2.0
// Owners of the C library's arrays of integers and floats.
#ifndef TENSORFLOW_LITE_ARRAY_H_
#define TENSORFLOW_LITE_ARRAY_H_

#include "halite/cxx.h"

#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

struct TfLiteArrayDeleter {
    void operator()(TfLiteIntArray *array) const { TfLiteIntArrayFree(array); }
    void operator()(TfLiteFloatArray *array) const { TfLiteFloatArrayFree(array); }
};

namespace array_internal
{
template <class T> struct ArrayOf;
template <> struct ArrayOf<int> {
    using Type = TfLiteIntArray;
    static Type *create(int size) { return TfLiteIntArrayCreate(size); }
};
template <> struct ArrayOf<float> {
    using Type = TfLiteFloatArray;
    static Type *create(int size) { return TfLiteFloatArrayCreate(size); }
};
} // namespace array_internal

template <class T>
using TfLiteArrayUniquePtr = std::unique_ptr<typename array_internal::ArrayOf<T>::Type, TfLiteArrayDeleter>;
using IntArrayUniquePtr = TfLiteArrayUniquePtr<int>;
using FloatArrayUniquePtr = TfLiteArrayUniquePtr<float>;

// Null without memory.
template <class T> TfLiteArrayUniquePtr<T> BuildTfLiteArray(int size)
{
    return TfLiteArrayUniquePtr<T>(array_internal::ArrayOf<T>::create(size));
}
template <class T> TfLiteArrayUniquePtr<T> BuildTfLiteArray(int size, const T *values)
{
    TfLiteArrayUniquePtr<T> array = BuildTfLiteArray<T>(size);
    if (array && size > 0) std::memcpy(array->data, values, static_cast<size_t>(size) * sizeof(T));
    return array;
}
template <class T> TfLiteArrayUniquePtr<T> BuildTfLiteArray(const std::vector<T> &values)
{
    return BuildTfLiteArray<T>(static_cast<int>(values.size()), values.data());
}
template <class T> TfLiteArrayUniquePtr<T> BuildTfLiteArray(std::initializer_list<T> values)
{
    return BuildTfLiteArray<T>(static_cast<int>(values.size()), values.begin());
}
inline IntArrayUniquePtr BuildTfLiteArray(const TfLiteIntArray &other)
{
    return BuildTfLiteArray<int>(other.size, other.data);
}

} // namespace tflite

#endif
