// SPDX-License-Identifier: Apache-2.0
// These functions tell the application's profiler (TfLiteInterpreterOptionsSetTelemetryProfiler) about an interpreter,
// where there is a profiler and it wants to know.
#ifndef HALITE_RUNTIME_TELEMETRY_H
#define HALITE_RUNTIME_TELEMETRY_H

#include "runtime/interpreter.h"

// Tells that something has happened to the whole interpreter.
void hl_telemetry_event(const TfLiteInterpreter *interpreter, const char *event, TfLiteStatus status);

// Tells how the model was converted and how its tensors are quantized. It is called once, when the subgraphs exist.
// Without memory it tells nothing.
void hl_telemetry_settings(const TfLiteInterpreter *interpreter);

#endif
