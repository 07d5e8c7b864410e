// SPDX-License-Identifier: Apache-2.0
// See constant.h.
#include "delegates/coreml/constant.h"

#include "abi/tensor.h"
#include "base/half.h"
#include "delegates/common/widened.h"

const TfLiteTensor *coreml_constant(const struct delegate *delegate, const TfLiteContext *context, int tensor)
{
    int source = delegate_widened_source(delegate, tensor);
    const TfLiteTensor *constant = &context->tensors[source >= 0 ? source : tensor];
    return hl_is_constant(constant) && constant->data.raw ? constant : NULL;
}

float coreml_float_at(const TfLiteTensor *constant, int64_t index)
{
    if (constant->type != kTfLiteFloat16) return constant->data.f[index];
    return hl_half_to_float(((const uint16_t *)(const void *)constant->data.raw)[index]);
}
