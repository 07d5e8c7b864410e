// SPDX-License-Identifier: Apache-2.0
// Operators of the application (halite/gpu_op.h): a struct gpu_op for each, so that passes, plan and report treat them
// as the library's own. They belong to a delegate's engine.
#ifndef HALITE_GPU_DELEGATE_CUSTOM_OP_H
#define HALITE_GPU_DELEGATE_CUSTOM_OP_H

#include "gpu/graph/op.h"

// Frees a list of operators; NULL is an empty one.
void gpu_custom_ops_free(const struct gpu_op *list);

#endif
