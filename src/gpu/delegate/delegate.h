// SPDX-License-Identifier: Apache-2.0
// The delegate object behind all C interfaces, and its three stages:
//   prepare (partition.c)   looks at the graph, claims nodes, says what stays on the CPU
//   kernel  (kernel.c)      one per claimed partition: builds the gpu graph, the plan and the recorded list; runs it
//   report  (report.c)      what prepare found, for users
#ifndef HALITE_GPU_DELEGATE_DELEGATE_H
#define HALITE_GPU_DELEGATE_DELEGATE_H

#include "base/mutex.h"
#include "gpu/delegate/engine.h"
#include "gpu/delegate/report.h"
#include "tensorflow/lite/c/common.h"

struct gpu_delegate {
    TfLiteDelegate tflite; // data_ points back to this struct
    struct gpu_engine *engine;
    struct hl_mutex mutex; // one graph at a time: guards what is below
    struct gpu_report report;
    // While prepare runs, for the kernels' init, which the runtime calls from within it:
    struct gpu_report_row *rows; // of this graph
    int row_count;
    const int *source; // by tensor, see support.h
    size_t source_count;
};

// Takes the options over, also when it fails (NULL: no memory).
struct gpu_delegate *gpu_delegate_create(struct gpu_options *options);
void gpu_delegate_destroy(struct gpu_delegate *delegate); // NULL is fine
// The object of a TfLiteDelegate that is one of ours, else NULL.
struct gpu_delegate *gpu_delegate_of(const TfLiteDelegate *delegate);

TfLiteStatus gpu_delegate_prepare(TfLiteContext *context, TfLiteDelegate *delegate);

// What replaces a partition.
TfLiteRegistration gpu_kernel_registration(const char *name);

#endif
