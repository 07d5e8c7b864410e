// SPDX-License-Identifier: Apache-2.0
// Elements by their number, and integers that are computed while running: element number N of an argument named k,
// dense. What the CPU writes is read in float32, as it is. Values on the device may be halves, which are exact up to
// 2048 only.
#ifndef HALITE_GPU_OPS_INDEX_H
#define HALITE_GPU_OPS_INDEX_H

#include "gpu/ops/op.h"

// Element number N of value X, counted as in a dense array.
#define GPU_ELEMENT(X, N)                                                                                           \
    lane(read_##X(                                                                                                  \
             mki4((N) / X##_c % X##_w, (N) / X##_c / X##_w % X##_h, (N) % X##_c / 4, (N) / X##_c / X##_w / X##_h)), \
         (N) % X##_c % 4)
// k is GPU_RAW_IN or GPU_IN.
#define GPU_INDEX_RAW(N) to_int(k[N])
#define GPU_INDEX_VALUE(N) to_int(to_float(GPU_ELEMENT(k, N)))

struct gpu_index {
    const struct gpu_value *value; // what to read
    bool raw;                      // read it as GPU_RAW_IN
};

// Finds what to read for an integer value. A CAST of a float input to integers is skipped, because reading truncates in
// the same way.
struct gpu_index gpu_index_of(const struct gpu_value *value);

#endif
