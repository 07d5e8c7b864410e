// SPDX-License-Identifier: Apache-2.0
// See profile.h.
#include "gpu/delegate/profile.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/delegate.h"

bool gpu_profile_begin(struct gpu_profiles *profiles, struct gpu_profile *profile, const struct gpu_plan *plan)
{
    size_t steps = (size_t)plan->step_count + 1;
    profile->plan = plan;
    profile->last = calloc(steps, sizeof *profile->last);
    profile->sums = calloc(steps, sizeof *profile->sums);
    if (!profile->last || !profile->sums) return false;
    struct gpu_profile **end = &profiles->first;
    while (*end) end = &(*end)->next;
    *end = profile;
    return true;
}

void gpu_profile_end(struct gpu_profiles *profiles, struct gpu_profile *profile)
{
    struct gpu_profile **at = &profiles->first;
    while (*at && *at != profile) at = &(*at)->next;
    if (*at) *at = profile->next;
    free(profile->last);
    free(profile->sums);
}

void gpu_profile_add(const struct gpu_profiles *profiles, struct gpu_profile *profile)
{
    TfLiteTelemetryProfilerStruct *telemetry = profiles->telemetry;
    profile->runs++;
    for (int i = 0; i < profile->plan->step_count; i++) {
        const struct gpu_plan_step *step = &profile->plan->steps[i];
        profile->sums[i] += profile->last[i];
        if (telemetry)
            telemetry->ReportOpInvokeEvent(telemetry, step->label, (profile->last[i] + 500) / 1000,
                                           step->node ? step->node->index : -1, profile->graph);
    }
}

static void clear(struct gpu_profiles *profiles)
{
    for (struct gpu_profile *profile = profiles->first; profile; profile = profile->next) {
        profile->runs = 0;
        memset(profile->sums, 0, (size_t)profile->plan->step_count * sizeof *profile->sums);
    }
}

TfLiteStatus HaliteDelegateSetProfiling(TfLiteDelegate *delegate, bool enable,
                                        struct TfLiteTelemetryProfilerStruct *telemetry)
{
    struct gpu_delegate *own = gpu_delegate_of(delegate);
    if (!own) return kTfLiteError;
    gpu_engine_enter(own->engine, NULL, "Profile");
    struct gpu_profiles *profiles = &own->engine->profiles;
    profiles->on = enable;
    profiles->telemetry = enable && telemetry && telemetry->ReportOpInvokeEvent ? telemetry : NULL;
    if (enable) clear(profiles);
    gpu_engine_leave(own->engine);
    return kTfLiteOk;
}
