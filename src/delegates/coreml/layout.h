// SPDX-License-Identifier: Apache-2.0
// Tensors of the runtime as arrays of Core ML. A tensor of a lower rank is one of rank 4 whose first dimensions are 1:
// [W, C] is [1, 1, W, C]. The runtime has channels last (NHWC), Core ML first (NCHW).
#ifndef HALITE_DELEGATES_COREML_LAYOUT_H
#define HALITE_DELEGATES_COREML_LAYOUT_H

#include "abi/tensor.h"

struct coreml_shape {
    int n, h, w, c;
};

// Of a tensor of at most 4 dimensions.
struct coreml_shape coreml_shape_of(const TfLiteTensor *tensor);
static inline bool coreml_same_shape(const struct coreml_shape *a, const struct coreml_shape *b)
{
    return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c;
}

void coreml_to_channels_first(const struct coreml_shape *shape, const float *from, float *to);
void coreml_to_channels_last(const struct coreml_shape *shape, const float *from, float *to);

#endif
