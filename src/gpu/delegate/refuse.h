// SPDX-License-Identifier: Apache-2.0
// Checks of values that the CPU's kernels refuse at run time: indices out of range, divisors of zero, roots of negative
// 8-bit numbers, boxes without an area. A device cannot refuse values, so the host checks them: inputs before the run,
// and values that are computed on the device after it, for which they are read back. In: the graph after all passes,
// and the values of a run. Out: the error that the CPU would have reported.
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

// Collects the checks of all operators in the graph, and makes values that are computed on the device outputs
// (is_checked). False without memory.
bool gpu_checks_begin(struct gpu_checks *checks, struct gpu_graph *graph);
void gpu_checks_end(struct gpu_checks *checks);
// Whether a value has checks.
bool gpu_checks_concern(const struct gpu_checks *checks, const struct gpu_value *value);
// Whether all elements of a value pass its checks. data: as the runner takes or returns it. False after a message.
bool gpu_checks_hold(const struct gpu_checks *checks, const struct gpu_value *value, const void *data,
                     const struct hl_reporter *reporter);

#endif
