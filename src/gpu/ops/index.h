// SPDX-License-Identifier: Apache-2.0
// Elements by number, as kernels read them; and integers that come while running: element number N of an argument k,
// dense. Where the CPU gives them, they are read as it gives them, in float32; values on the device may be halves,
// exact up to 2048 only.
#ifndef HALITE_GPU_OPS_INDEX_H
#define HALITE_GPU_OPS_INDEX_H

#include "gpu/ops/op.h"

// Element number N of value X, as if it were dense.
#define GPU_ELEMENT(X, N)                                                                                           \
    lane(read_##X(                                                                                                  \
             mki4((N) / X##_c % X##_w, (N) / X##_c / X##_w % X##_h, (N) % X##_c / 4, (N) / X##_c / X##_w / X##_h)), \
         (N) % X##_c % 4)
// k is GPU_RAW_IN or GPU_IN.
#define GPU_INDEX_RAW(N) to_int(k[N])
#define GPU_INDEX_VALUE(N) to_int(to_float(GPU_ELEMENT(k, N)))

struct gpu_index {
    const struct gpu_value *value; // what to read
    bool raw;                      // as GPU_RAW_IN
};

// Looks through a CAST to integers behind an input of floats: reading cuts off the fraction as it does.
struct gpu_index gpu_index_of(const struct gpu_value *value);

#endif
