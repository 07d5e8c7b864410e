// SPDX-License-Identifier: Apache-2.0
// The delegate object behind all C interfaces, and its three stages:
//   prepare (partition.c)   looks at the graph, claims nodes, and says what stays on the CPU
//   kernel  (kernel.c)      one for each claimed partition: builds the gpu graph, the plan and the list, and runs it
//   report  (report.c)      keeps what prepare found; report_api.c shows it to users
#ifndef HALITE_GPU_DELEGATE_DELEGATE_H
#define HALITE_GPU_DELEGATE_DELEGATE_H

#include "base/mutex.h"
#include "gpu/delegate/engine.h"
#include "gpu/delegate/report.h"
#include "tensorflow/lite/c/common.h"

struct gpu_delegate {
    TfLiteDelegate tflite; // data_ points back to this struct
    struct gpu_engine *engine;
    struct hl_mutex mutex; // guards all members below: one graph is prepared at a time
    struct gpu_report report;
    // Only while prepare runs. The runtime calls the init of kernels from within it, and they read these:
    struct gpu_report_row *rows; // of this graph
    int row_count;
    const int *source; // for each tensor, see support.h
    size_t source_count;
};

// Takes the options over, even if it fails. NULL without memory.
struct gpu_delegate *gpu_delegate_create(struct gpu_options *options);
void gpu_delegate_destroy(struct gpu_delegate *delegate); // accepts NULL
// The object behind a TfLiteDelegate that this library has made, else NULL.
struct gpu_delegate *gpu_delegate_of(const TfLiteDelegate *delegate);

TfLiteStatus gpu_delegate_prepare(TfLiteContext *context, TfLiteDelegate *delegate);

// The operator that replaces a partition.
TfLiteRegistration gpu_kernel_registration(const char *name);

#endif
