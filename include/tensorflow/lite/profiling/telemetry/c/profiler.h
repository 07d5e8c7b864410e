// SPDX-License-Identifier: Apache-2.0
//
// A profiler of the application, written in C. Hand it to
// TfLiteInterpreterOptionsSetTelemetryProfiler (c_api_experimental.h).
// Strings are lent for the length of a call. Calls come from the thread that uses the interpreter.
#ifndef TENSORFLOW_LITE_PROFILING_TELEMETRY_C_PROFILER_H_
#define TENSORFLOW_LITE_PROFILING_TELEMETRY_C_PROFILER_H_

#include <stdint.h>

#include "tensorflow/lite/profiling/telemetry/c/telemetry_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

// No callback may be NULL. op_idx is a node index; subgraph_idx the number of its subgraph. A
// status holds a TfLiteStatus in its lower 32 bits, and above them who reports: 1 is the interpreter.
typedef struct TfLiteTelemetryProfilerStruct {
    // For the profiler's own use.
    void* data;

    // Something of the whole interpreter happened: creation, allocation, an invocation.
    void (*ReportTelemetryEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                 const char* event_name, uint64_t status);

    // Something of one node happened.
    void (*ReportTelemetryOpEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                   const char* event_name, int64_t op_idx, int64_t subgraph_idx,
                                   uint64_t status);

    // Settings of the interpreter or a delegate.
    void (*ReportSettings)(struct TfLiteTelemetryProfilerStruct* profiler,
                           const char* setting_name, const TfLiteTelemetrySettings* settings);

    // A node starts to run. Returns a number for the matching end.
    uint32_t (*ReportBeginOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                         const char* op_name, int64_t op_idx,
                                         int64_t subgraph_idx);

    // The node of that number has run.
    void (*ReportEndOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                   uint32_t event_handle);

    // A node ran and took elapsed_time microseconds; for ops that measure themselves.
    void (*ReportOpInvokeEvent)(struct TfLiteTelemetryProfilerStruct* profiler,
                                const char* op_name, uint64_t elapsed_time, int64_t op_idx,
                                int64_t subgraph_idx);
} TfLiteTelemetryProfilerStruct;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_PROFILING_TELEMETRY_C_PROFILER_H_
