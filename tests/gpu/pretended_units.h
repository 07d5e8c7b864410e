// SPDX-License-Identifier: Apache-2.0
// A device that pretends to have matrix units, for tests of the kernels on them. In: a delegate, forms of products, and
// what the plan is to see of the device. Out: the delegate's device open, with changed caps.
#ifndef HALITE_TESTS_GPU_PRETENDED_UNITS_H
#define HALITE_TESTS_GPU_PRETENDED_UNITS_H

#include "gpu/delegate/part.h"
#include "gpu/delegate_session.h"

static struct gpu_caps pretended_caps;
static struct gpu_backend pretended;

static const struct gpu_caps *take_pretended_caps(const struct gpu_device *device)
{
    (void)device;
    return &pretended_caps;
}

// What the plan sees of a device besides: compute units, and how many subgroups of a group may stand along outputs and
// along steps. Few units make for large blocks, and no subgroups along steps for sums that one subgroup has whole.
// dynamic: bytes of dynamic
// shared memory; 0: there is none, else there is no other shared memory.
struct device {
    int units, across, along, dynamic;
};

// Opens the delegate's device, and lets the plan see one that has matrix units of these forms, and work-groups without
// a width, so that no other kernel for convolutions has a block that fits. fragments: kernels with fragments take the
// forms, and no others.
static void set_units(TfLiteDelegate *delegate, unsigned forms, bool fragments, const struct device *device)
{
    struct gpu_engine *engine = gpu_delegate_of(delegate)->engine;
    gpu_engine_enter(engine, NULL, "Init");
    assert_true(gpu_engine_open(engine));
    pretended_caps = *engine->info.backend->caps(engine->device);
    pretended_caps.matrix_forms = fragments ? 0 : forms;
    pretended_caps.fragment_forms = fragments ? forms : 0;
    pretended_caps.compute_units = device->units;
    pretended_caps.max_group[0] = 0;
    pretended_caps.max_group[1] = device->across;
    pretended_caps.max_group[2] = device->along;
    pretended_caps.dynamic_shared_bytes = device->dynamic;
    if (device->dynamic > 0) pretended_caps.shared_bytes = 0;
    if (fragments && pretended_caps.shared_bytes > 32768) pretended_caps.shared_bytes = 32768; // for the same blocks
    pretended = *engine->info.backend;
    pretended.caps = take_pretended_caps;
    engine->info.backend = &pretended;
    gpu_engine_leave(engine);
}

// The only step of the delegate's plans with this kernel and form of products; NULL: there is none.
static const struct gpu_plan_step *step_of_form(TfLiteDelegate *delegate, const struct gpu_kernel *kernel, int form)
{
    const struct gpu_plan_step *found = NULL;
    int matrix = 0;
    while (strcmp(kernel->constants[matrix].name, "MATRIX") != 0) matrix++;
    for (const struct gpu_part *part = gpu_delegate_of(delegate)->engine->buffers.parts; part; part = part->next)
        for (int s = 0; s < part->plan->step_count; s++) {
            const struct gpu_plan_step *step = &part->plan->steps[s];
            if (step->kernel != kernel || step->constants[matrix] != form) continue;
            assert_null(found);
            found = step;
        }
    return found;
}

#endif
