// SPDX-License-Identifier: Apache-2.0
// Options hold what a caller chose before it creates an interpreter. The interpreter copies them, so they may be
// deleted right after.
#ifndef HALITE_RUNTIME_OPTIONS_H
#define HALITE_RUNTIME_OPTIONS_H

#include "base/report.h"
#include "halite/halite.h"
#include "runtime/resolver.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

struct TfLiteInterpreterOptions {
    int num_threads; // -1: the implementation chooses
    struct hl_reporter reporter;
    struct hl_resolver resolver;
    TfLiteDelegate **delegates; // in the order added, not owned
    int delegate_count;
    bool cancellation;
    bool delegate_fallback;
    bool preserve_tensors; // no two tensors share memory
    HaliteKernels kernels;
    size_t memory_limit;               // 0: the default
    int64_t call_limit;                // 0: the default
    int64_t work_limit;                // 0: the default
    HaliteWeightsCache *weights_cache; // a reference of its own; NULL: that of the model
    TfLiteTelemetryProfilerStruct *telemetry;
    bool incomplete; // memory ran out while adding something: creating an interpreter will fail and say so
};

// Both return NULL without memory.
struct TfLiteInterpreterOptions *hl_options_create(void);
struct TfLiteInterpreterOptions *hl_options_copy(const struct TfLiteInterpreterOptions *from);
void hl_options_destroy(struct TfLiteInterpreterOptions *options);
bool hl_options_add_delegate(struct TfLiteInterpreterOptions *options, TfLiteDelegate *delegate);

#endif
