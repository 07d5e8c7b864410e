// SPDX-License-Identifier: Apache-2.0
// The kernel of SPACE_TO_DEPTH and DEPTH_TO_SPACE for values of codes. In SPACE_TO_BATCH_ND it would pad with a code of
// zero, which is no zero point.
#ifndef HALITE_GPU_OPS_BLOCKS_H
#define HALITE_GPU_OPS_BLOCKS_H

#include "gpu/ops/op.h"

extern const struct gpu_kernel gpu_kernel_blocks_codes;

#endif
