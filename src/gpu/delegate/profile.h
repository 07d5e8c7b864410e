// SPDX-License-Identifier: Apache-2.0
// The device time of each dispatch, while a user asks for it. In: the plan of a kernel and the times of its runs. Out:
// sums for the report, and events for the application's telemetry profiler. All functions are called between
// gpu_engine_enter and gpu_engine_leave.
#ifndef HALITE_GPU_DELEGATE_PROFILE_H
#define HALITE_GPU_DELEGATE_PROFILE_H

#include "gpu/plan/plan.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

// The profile of one kernel. It lives as long as the kernel.
struct gpu_profile {
    struct gpu_profile *next;
    int graph, partition; // their numbers in the report
    const struct gpu_plan *plan;
    uint64_t runs;
    uint64_t *last, *sums; // nanoseconds for each step of the plan: of the last run, and of all runs
};

// The profiles of an engine.
struct gpu_profiles {
    bool on;
    TfLiteTelemetryProfilerStruct *telemetry; // receives events; may be NULL
    struct gpu_profile *first;                // in order of creation
};

// False without memory. gpu_profile_end must follow in either case, and is also allowed without gpu_profile_begin.
bool gpu_profile_begin(struct gpu_profiles *profiles, struct gpu_profile *profile, const struct gpu_plan *plan);
void gpu_profile_end(struct gpu_profiles *profiles, struct gpu_profile *profile);
// Adds the times of a run, which are in profile->last.
void gpu_profile_add(const struct gpu_profiles *profiles, struct gpu_profile *profile);

#endif
