// SPDX-License-Identifier: Apache-2.0
// Constants of the runtime's graph, as checks and mappings read them.
#ifndef HALITE_DELEGATES_COREML_CONSTANT_H
#define HALITE_DELEGATES_COREML_CONSTANT_H

#include "delegates/common/delegate.h"

// The constant behind a tensor: itself, or the float16 one that it is widened from. NULL: its value is not known.
const TfLiteTensor *coreml_constant(const struct delegate *delegate, const TfLiteContext *context, int tensor);
float coreml_float_at(const TfLiteTensor *constant, int64_t index); // float32 or float16

#endif
