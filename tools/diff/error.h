// SPDX-License-Identifier: Apache-2.0
// How far two tensors are apart, as real numbers: quantized values count as what they stand for, so that a float and an
// 8-bit tensor can be compared.
#ifndef HALITE_TOOLS_DIFF_ERROR_H
#define HALITE_TOOLS_DIFF_ERROR_H

#include "diff/setting.h"
#include "model/model.h"

struct hl_tensor_error {
    bool compared; // false: other numbers of elements, strings, or scales along a dimension
    int64_t count;
    double largest, mean;    // differences
    double relative;         // the largest to the largest value of the first tensor
    double snr;              // decibels: power of the first tensor to that of the difference; INFINITY: all equal
    double cosine;           // of the angle between both, 1: the same direction
    int64_t at;              // the element that differs most
    double value_a, value_b; // its values
    int64_t not_finite[2];   // NaN and infinite values of each
};

// The quantization is that of the file; values are of a run.
struct hl_tensor_error hl_tensor_error(const struct hl_diff_tensor *a, const struct hl_model_quantization *a_scale,
                                       const struct hl_diff_tensor *b, const struct hl_model_quantization *b_scale);

// Element i as the real number that it stands for; the quantization has one scale or none.
double hl_tensor_real(TfLiteType type, const void *data, const struct hl_model_quantization *scale, int64_t i);

#endif
