// SPDX-License-Identifier: Apache-2.0
// Values that the CPU's kernels refuse while running: indices out of range, divisors of zero, roots of negative 8-bit
// numbers. A device cannot refuse, so the host looks at these values: at what it gives to the device anyway, and
// otherwise at what it reads back for nothing else. In: the graph after all passes, and the values of a run. Out: the
// error that the CPU would have given.
#ifndef HALITE_GPU_DELEGATE_REFUSE_H
#define HALITE_GPU_DELEGATE_REFUSE_H

#include "base/report.h"
#include "gpu/graph/op.h"

struct gpu_check_item {
    const struct gpu_node *node;
    struct gpu_value_check check;
};

struct gpu_checks {
    struct gpu_check_item *items;
    int count;
};

// Collects what the graph's operators want to have checked, and marks values that are made on the device as outputs
// (is_checked). False without memory.
bool gpu_checks_begin(struct gpu_checks *checks, struct gpu_graph *graph);
void gpu_checks_end(struct gpu_checks *checks);
// Whether the elements of a value, as the runner takes or gives them, are all right. False after a message.
bool gpu_checks_hold(const struct gpu_checks *checks, const struct gpu_value *value, const void *data,
                     const struct hl_reporter *reporter);

#endif
