// SPDX-License-Identifier: Apache-2.0
// An operator without a row in ops.def: a copy that does nothing but its epilogue. The builder puts one behind a node
// that cannot take stages itself (a fused activation behind a concatenation), or has no room for them.
#ifndef HALITE_GPU_OPS_STAGES_H
#define HALITE_GPU_OPS_STAGES_H

#include "gpu/ops/op.h"

extern const struct gpu_op gpu_op_stages;

#endif
