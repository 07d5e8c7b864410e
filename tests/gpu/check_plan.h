// SPDX-License-Identifier: Apache-2.0
// What holds for every plan, whatever it computes: found out anew from its steps, and from the text of the null
// backend. A property that does not hold fails the running cmocka test with the step and the values.
#ifndef HALITE_TESTS_GPU_CHECK_PLAN_H
#define HALITE_TESTS_GPU_CHECK_PLAN_H

#include "gpu/plan/plan.h"

// Before a step reads a value an earlier one has written it; values that are alive at the same time share no byte; each
// has the room that its shape needs, at an offset that every API takes, within the arena; the arena holds what lives at
// once and is no larger than all values side by side; groups and arguments are within the device's limits.
void check_plan(const struct gpu_plan *plan);

// A program that this file is part of checks each plan in the position where it becomes a runner; so many so far.
int check_plan_count(void);
// Whether one of them had a step with this kernel.
bool check_plan_used(const struct gpu_kernel *kernel);

// Commands of one list, as gpu_null_text gives them: no dispatch touches what another since the last barrier has
// written, nor writes what it has read; and without any one of the barriers this would not be so.
void check_barriers(const char *text);

#endif
