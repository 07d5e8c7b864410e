// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph runs and why, as data: filled when a delegate is applied, read by users. The public half
// of this header is a draft of what halite.h is to declare.
#ifndef HALITE_GPU_DELEGATE_REPORT_H
#define HALITE_GPU_DELEGATE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/ops/op.h"
#include "tensorflow/lite/c/c_api_types.h"
#include "tensorflow/lite/c/common.h"

// ---- public -------------------------------------------------------------------------------------

enum { kHaliteDelegateReportRank = 8 };

// One node of a graph that the delegate was applied to, in order of execution.
typedef struct HaliteDelegateNodeReport {
    int graph;               // which application of the delegate, 0 the first that is still remembered
    int node;                // index of the node in its subgraph
    const char *op;          // "CONV_2D", or a custom operator's name
    int version;             // of the operator in the model
    bool on_gpu;
    const char *reason;      // code as text: "OK", "NO_KERNEL", "TYPE" …
    const char *text;        // the same for people, with numbers
    int tensor;              // the tensor at fault; -1: none in particular, then the fields below are empty
    const char *tensor_name;
    TfLiteType tensor_type;
    int rank, dims[kHaliteDelegateReportRank];
} HaliteDelegateNodeReport;

// How many nodes the report of a GPU delegate has; 0 before it is applied, -1 for another delegate.
TFL_CAPI_EXPORT extern int32_t HaliteDelegateReportNodeCount(const TfLiteDelegate *delegate);
// Texts live until the delegate is applied again or deleted. kTfLiteError where index is outside.
TFL_CAPI_EXPORT extern TfLiteStatus HaliteDelegateReportNode(const TfLiteDelegate *delegate, int32_t index,
                                                             HaliteDelegateNodeReport *report);
// "NVIDIA H200, opencl, f32"; "" before a device is opened, NULL for another delegate. Lives as long as the delegate.
TFL_CAPI_EXPORT extern const char *HaliteDelegateReportDevice(const TfLiteDelegate *delegate);

// ---- inside -------------------------------------------------------------------------------------

// A row: everything copied, since interpreters may go before the delegate does.
struct gpu_report_row {
    int graph, node, version;
    char op[48];
    bool taken_away; // a dequantised constant: the node is not needed on the GPU
    struct gpu_reason reason;
    char tensor_name[64];
    TfLiteType tensor_type;
    int rank, dims[kHaliteDelegateReportRank];
};

struct gpu_report {
    struct gpu_report_row *rows;
    int count;
    const void *graphs[16]; // contexts that the rows are about, by the rows' `graph`
    int graph_count;
};

// Room for the rows of one graph, behind those of others; rows of an earlier application to the same context go. NULL
// without memory. The rows' `graph` is set.
struct gpu_report_row *gpu_report_begin(struct gpu_report *report, const void *context, int count);
void gpu_report_free(struct gpu_report *report);
const char *gpu_reason_name(enum gpu_reason_code code);
const char *gpu_reason_text(enum gpu_reason_code code);

#endif
