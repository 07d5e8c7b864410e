// SPDX-License-Identifier: Apache-2.0
// The C library's arrays of integers as something that a range-based for takes.
#ifndef TENSORFLOW_LITE_CONTEXT_UTIL_H_
#define TENSORFLOW_LITE_CONTEXT_UTIL_H_

#include "halite/cxx.h"

#include <cstddef>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

class TfLiteIntArrayView
{
  public:
    // Borrows the array, which must not be null.
    explicit TfLiteIntArrayView(const TfLiteIntArray *array) : array_(array) {}

    const int *begin() const { return array_->data; }
    const int *end() const { return array_->data + array_->size; }
    size_t size() const { return static_cast<size_t>(array_->size); }
    int operator[](size_t index) const { return array_->data[index]; }

  private:
    const TfLiteIntArray *array_;
};

} // namespace tflite

#endif
