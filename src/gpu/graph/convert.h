// SPDX-License-Identifier: Apache-2.0
// Elements of the runtime's tensors as floats, and back. Integers and booleans are floats on the GPU: exact up to 2^24.
#ifndef HALITE_GPU_GRAPH_CONVERT_H
#define HALITE_GPU_GRAPH_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/tensor.h"
#include "tensorflow/lite/c/common.h"

// Scale and zero point with at least one scale, all of them positive, and one zero point each (or one for all); NULL:
// the tensor has none, or they do not fit its shape.
const TfLiteAffineQuantization *gpu_affine_of(const TfLiteTensor *tensor);

// All elements: float32, float16, int32, int64, bool as they are; int2, int4, 8-bit and int32 with scales as real
// numbers, per tensor or per channel; sparse ones with zeros where nothing is stored. False: no such type, no data, or
// fewer bytes than elements.
bool gpu_floats_from(const TfLiteTensor *tensor, float *to);
// Whether it will.
bool gpu_can_read(const TfLiteTensor *tensor);
// An int32 bias in steps of input times weights: so the CPU takes it with 8-bit inputs, whatever scale it has itself
// (old converters wrote others). Weights have one scale, or one for each element of the bias.
bool gpu_bias_from(const TfLiteTensor *bias, const TfLiteAffineQuantization *x, const TfLiteAffineQuantization *weights,
                   float *to);

// All elements of an 8-bit or int32 tensor as integers; 128 is subtracted from those of uint8. False: no such type, no
// data, or fewer bytes than elements.
bool gpu_integers_from(const TfLiteTensor *tensor, int32_t *to);

// The other direction: quantized types round half away from zero and saturate, int32 and int64 round to nearest, bool
// is value != 0.
bool gpu_floats_to(const float *from, TfLiteTensor *tensor);

#endif
