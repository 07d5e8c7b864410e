// SPDX-License-Identifier: Apache-2.0
// The built-in kernels as TfLiteRegistrations: one for each row of ops.def that is built.
#ifndef HALITE_OPS_REGISTRY_H
#define HALITE_OPS_REGISTRY_H

#include <stdbool.h>

#include "model/model.h"
#include "tensorflow/lite/c/common.h"

// False where this build has no kernel for the operator in that version.
bool hl_registry_find(const struct hl_model_code *code, TfLiteRegistration *registration);

#endif
