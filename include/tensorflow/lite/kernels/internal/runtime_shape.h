// SPDX-License-Identifier: Apache-2.0
// A shape by value, as kernels pass it around.
#ifndef TENSORFLOW_LITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_
#define TENSORFLOW_LITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_

#include "halite/cxx.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tensorflow/lite/kernels/internal/compatibility.h"

namespace tflite
{

class RuntimeShape
{
  public:
    RuntimeShape() = default;
    explicit RuntimeShape(int rank) : dims_(static_cast<size_t>(rank)) {}
    RuntimeShape(int rank, int32_t length) : dims_(static_cast<size_t>(rank), length) {}
    RuntimeShape(int rank, const int32_t *dims) : dims_(dims, dims + rank) {}
    RuntimeShape(std::initializer_list<int> dims) : dims_(dims.begin(), dims.end()) {}

    // The same elements with leading dimensions of 1; rank is at least the shape's own.
    static RuntimeShape ExtendedShape(int rank, const RuntimeShape &shape)
    {
        TFLITE_DCHECK_GE(rank, shape.DimensionsCount());
        RuntimeShape extended(rank, 1);
        for (int i = 0; i < shape.DimensionsCount(); i++)
            extended.SetDim(rank - shape.DimensionsCount() + i, shape.Dims(i));
        return extended;
    }

    int32_t DimensionsCount() const { return static_cast<int32_t>(dims_.size()); }
    int32_t Dims(int axis) const { return dims_[static_cast<size_t>(axis)]; }
    void SetDim(int axis, int32_t length) { dims_[static_cast<size_t>(axis)] = length; }
    int32_t *DimsData() { return dims_.data(); }
    const int32_t *DimsData() const { return dims_.data(); }
    void Resize(int rank) { dims_.resize(static_cast<size_t>(rank)); }
    void ReplaceWith(int rank, const int32_t *dims) { dims_.assign(dims, dims + rank); }
    template <typename Container> void BuildFrom(const Container &dims) { dims_.assign(dims.begin(), dims.end()); }
    void BuildFrom(std::initializer_list<int> dims) { dims_.assign(dims.begin(), dims.end()); }
    // The product of all lengths, 1 for a scalar.
    int FlatSize() const
    {
        int size = 1;
        for (int32_t length : dims_) size *= length;
        return size;
    }
    bool operator==(const RuntimeShape &other) const { return dims_ == other.dims_; }
    bool operator!=(const RuntimeShape &other) const { return dims_ != other.dims_; }

  private:
    std::vector<int32_t> dims_;
};

// The position of an element in row-major order.
inline int Offset(const RuntimeShape &shape, int i0, int i1, int i2, int i3)
{
    TFLITE_DCHECK_EQ(shape.DimensionsCount(), 4);
    return ((i0 * shape.Dims(1) + i1) * shape.Dims(2) + i2) * shape.Dims(3) + i3;
}

} // namespace tflite

#endif
