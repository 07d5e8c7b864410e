// SPDX-License-Identifier: Apache-2.0
// What an interpreter tells the application's profiler (TfLiteInterpreterOptionsSetTelemetryProfiler), if there is one
// and it wants to know.
#ifndef HALITE_RUNTIME_TELEMETRY_H
#define HALITE_RUNTIME_TELEMETRY_H

#include "runtime/interpreter.h"

// Something has happened to the whole interpreter.
void hl_telemetry_event(const TfLiteInterpreter *interpreter, const char *event, TfLiteStatus status);

// How the model was converted and its tensors quantized. Once, when the subgraphs are there; without memory nothing is
// told.
void hl_telemetry_settings(const TfLiteInterpreter *interpreter);

#endif
