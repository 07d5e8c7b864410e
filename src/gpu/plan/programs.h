// SPDX-License-Identifier: Apache-2.0
// The programs of a device, shared by the runners on it. In: descriptions of programs that a runner needs. Out: the
// programs, compiled only if no earlier runner needed the same. Released programs stay for the next runner, so that
// applying the delegate again, to another batch for example, compiles nothing.
#ifndef HALITE_GPU_PLAN_PROGRAMS_H
#define HALITE_GPU_PLAN_PROGRAMS_H

#include "gpu/backend/backend.h"

// Zeros are an empty pool. Backend, device and reporter are set before the first use and outlive it.
struct gpu_program_pool {
    const struct gpu_backend *backend;
    struct gpu_device *device;
    const struct hl_reporter *reporter;
    struct gpu_pooled_program *programs;
    int count, capacity;
    int64_t clock; // counts calls, to tell which program nobody has held for the longest
};

// Fills programs[i] for descs[i]; equal descriptions get the same program. False after a message: nothing is held then.
bool gpu_programs_hold(struct gpu_program_pool *pool, const struct gpu_program_desc *descs, int count,
                       struct gpu_program **programs);
// Gives back what a call of gpu_programs_hold has filled in.
void gpu_programs_release(struct gpu_program_pool *pool, struct gpu_program *const *programs, int count);
// Destroys all programs, before the device is closed. Nothing may be held.
void gpu_programs_destroy(struct gpu_program_pool *pool);

#endif
