// SPDX-License-Identifier: Apache-2.0
// Integers that come while running, as kernels read them: element number N of an argument k, dense. Where the CPU gives
// them, they are read as it gives them, in float32; values on the device may be halves, exact up to 2048 only.
#ifndef HALITE_GPU_OPS_INDEX_H
#define HALITE_GPU_OPS_INDEX_H

#include "gpu/ops/op.h"

// k is GPU_RAW_IN or GPU_IN.
#define GPU_INDEX_RAW(N) to_int(k[N])
#define GPU_INDEX_VALUE(N)                                                                                       \
    to_int(to_float(lane(read_k(mki4((N) / k_c % k_w, (N) / k_c / k_w % k_h, (N) % k_c / 4, (N) / k_c / k_w / k_h)), \
                         (N) % k_c % 4)))

struct gpu_index {
    const struct gpu_value *value; // what to read
    bool raw;                      // as GPU_RAW_IN
};

// Looks through a CAST to integers behind an input of floats: reading cuts off the fraction as it does.
struct gpu_index gpu_index_of(const struct gpu_value *value);

#endif
