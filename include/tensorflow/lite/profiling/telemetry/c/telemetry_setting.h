// SPDX-License-Identifier: Apache-2.0
//
// Settings that are reported to a telemetry profiler (profiler.h), and the functions that read
// them. Everything reached from a setting is lent for the length of the report.
// Halite's interpreter reports its own when it has been created; its GPU delegate reports none.
#ifndef TENSORFLOW_LITE_PROFILING_TELEMETRY_C_TELEMETRY_SETTING_H_
#define TENSORFLOW_LITE_PROFILING_TELEMETRY_C_TELEMETRY_SETTING_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TfLiteTelemetrySettings {
    // Who reports: 1 is the interpreter.
    uint32_t source;
    // The settings, in a form that goes with source. Lent.
    const void* data;
} TfLiteTelemetrySettings;

// How the model was converted.
typedef struct TfLiteTelemetryConversionMetadata TfLiteTelemetryConversionMetadata;

// Optimization modes of the converter, as many as the second function says.
TFL_CAPI_EXPORT extern const int32_t* TfLiteTelemetryConversionMetadataGetModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);
TFL_CAPI_EXPORT extern size_t TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata* metadata);

// Settings of an interpreter.
typedef struct TfLiteTelemetryInterpreterSettings TfLiteTelemetryInterpreterSettings;
// What is reported of one subgraph.
typedef struct TfLiteTelemetrySubgraphInfo TfLiteTelemetrySubgraphInfo;

// NULL when the model does not say.
TFL_CAPI_EXPORT extern const TfLiteTelemetryConversionMetadata*
TfLiteTelemetryInterpreterSettingsGetConversionMetadata(
    const TfLiteTelemetryInterpreterSettings* settings);

// Array of subgraphs and its length.
TFL_CAPI_EXPORT extern size_t TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);
TFL_CAPI_EXPORT extern const TfLiteTelemetrySubgraphInfo*
TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings* settings);

// Quantization of each tensor of a subgraph, and the number of tensors.
TFL_CAPI_EXPORT extern size_t TfLiteTelemetrySubgraphInfoGetNumQuantizations(
    TfLiteTelemetrySubgraphInfo* subgraph_info);
TFL_CAPI_EXPORT extern const TfLiteQuantization* TfLiteTelemetrySubgraphInfoGetQuantizations(
    TfLiteTelemetrySubgraphInfo* subgraph_info);

// Settings of a GPU delegate.
typedef struct TfLiteTelemetryGpuDelegateSettings TfLiteTelemetryGpuDelegateSettings;

// Nodes that run on the GPU.
TFL_CAPI_EXPORT extern size_t TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(
    const TfLiteTelemetryGpuDelegateSettings* settings);

// Number of the GPU interface in use.
TFL_CAPI_EXPORT extern int TfLiteTelemetryGpuDelegateSettingsGetBackend(
    const TfLiteTelemetryGpuDelegateSettings* settings);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_PROFILING_TELEMETRY_C_TELEMETRY_SETTING_H_
