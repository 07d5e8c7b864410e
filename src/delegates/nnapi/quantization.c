// SPDX-License-Identifier: Apache-2.0
// Scales and zero points of the runtime's tensors, in either of the two forms in which it keeps them.
#include "delegates/nnapi/op.h"

int nnapi_scale_count(const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    if (tensor->quantization.type != kTfLiteAffineQuantization || !affine || !affine->scale)
        return tensor->params.scale > 0;
    return affine->scale->size;
}

float nnapi_scale(const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    bool has =
        tensor->quantization.type == kTfLiteAffineQuantization && affine && affine->scale && affine->scale->size > 0;
    return has ? affine->scale->data[0] : tensor->params.scale;
}

int nnapi_zero_point(const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    bool has = tensor->quantization.type == kTfLiteAffineQuantization && affine && affine->zero_point &&
               affine->zero_point->size > 0;
    return has ? affine->zero_point->data[0] : tensor->params.zero_point;
}
