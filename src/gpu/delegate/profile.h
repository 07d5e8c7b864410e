// SPDX-License-Identifier: Apache-2.0
// Time of each dispatch on the device, while a user wants it. In: the plan of a kernel, and the times of its runs. Out:
// sums for the report, and events for the application's telemetry profiler. All of it happens between gpu_engine_enter
// and leave.
#ifndef HALITE_GPU_DELEGATE_PROFILE_H
#define HALITE_GPU_DELEGATE_PROFILE_H

#include "gpu/plan/plan.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

// Of one kernel, as long as it lives.
struct gpu_profile {
    struct gpu_profile *next;
    int graph, partition; // of the report
    const struct gpu_plan *plan;
    uint64_t runs;
    uint64_t *last, *sums; // nanoseconds, one per step of the plan
};

// Of an engine.
struct gpu_profiles {
    bool on;
    TfLiteTelemetryProfilerStruct *telemetry; // NULL: none wants events
    struct gpu_profile *first;                // in order of their making
};

// False without memory. gpu_profile_end undoes it, and is fine without it.
bool gpu_profile_begin(struct gpu_profiles *profiles, struct gpu_profile *profile, const struct gpu_plan *plan);
void gpu_profile_end(struct gpu_profiles *profiles, struct gpu_profile *profile);
// A run has filled profile->last.
void gpu_profile_add(const struct gpu_profiles *profiles, struct gpu_profile *profile);

#endif
