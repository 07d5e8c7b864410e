// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph runs and why, as data. support.c, partition.c and kernel.c fill it in when a delegate is
// applied; report_api.c copies it for users.
#ifndef HALITE_GPU_DELEGATE_REPORT_H
#define HALITE_GPU_DELEGATE_REPORT_H

#include "gpu/backend/devices.h"
#include "gpu/graph/op.h"

enum { GPU_REPORT_RANK = 8, GPU_REPORT_GRAPHS = 64 };

// One node. Everything is a copy, because the delegate may outlive the interpreter.
struct gpu_report_row {
    int node, version;
    char op[128];    // the name of the operator; longer names are cut
    bool taken_away; // the output is constant: the node is not needed on the GPU
    int partition;   // -1: none
    struct gpu_reason reason;
    char tensor_name[256];
    TfLiteType tensor_type;
    int rank, dims[GPU_REPORT_RANK];
};

struct gpu_report_graph {
    int number;          // counts the graphs to which the delegate was applied
    const void *context; // identifies the graph among those that live at the same time
    struct gpu_report_row *rows;
    int count;
};

struct gpu_report {
    struct gpu_report_graph graphs[GPU_REPORT_GRAPHS]; // the latest one is last
    int count, next_number;
};

// Creates zeroed rows for one graph and drops those of an earlier application to the same context. NULL without memory.
struct gpu_report_row *gpu_report_begin(struct gpu_report *report, const void *context, int count);
void gpu_report_free(struct gpu_report *report);

// A device in the form of the public interface. Its texts belong to info.
HaliteDevice gpu_public_device(const struct gpu_device_info *info);

#endif
