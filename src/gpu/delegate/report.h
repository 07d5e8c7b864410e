// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph runs and why, as data: filled when a delegate is applied (support.c, partition.c,
// kernel.c), copied for users by the functions of halite/gpu_delegate.h (report.c).
#ifndef HALITE_GPU_DELEGATE_REPORT_H
#define HALITE_GPU_DELEGATE_REPORT_H

#include "gpu/backend/devices.h"
#include "gpu/graph/op.h"

enum { GPU_REPORT_RANK = 8, GPU_REPORT_GRAPHS = 64 };

// A node: everything copied, since interpreters may go before the delegate does.
struct gpu_report_row {
    int node, version;
    char op[128];    // names in full, if they are not beyond all measure
    bool taken_away; // a dequantized constant: the node is not needed on the GPU
    int partition;   // -1: none
    struct gpu_reason reason;
    char tensor_name[256];
    TfLiteType tensor_type;
    int rank, dims[GPU_REPORT_RANK];
};

struct gpu_report_graph {
    int number;          // of the application
    const void *context; // which graph: two that live at the same time have two
    struct gpu_report_row *rows;
    int count;
};

struct gpu_report {
    struct gpu_report_graph graphs[GPU_REPORT_GRAPHS]; // the latest last
    int count, next_number;
};

// Rows for one graph, zeroed; those of an earlier application to the same context go. NULL without memory.
struct gpu_report_row *gpu_report_begin(struct gpu_report *report, const void *context, int count);
void gpu_report_free(struct gpu_report *report);

// A device as the public interface shows it; texts stay with info.
HaliteDevice gpu_public_device(const struct gpu_device_info *info);

#endif
