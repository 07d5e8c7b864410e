// SPDX-License-Identifier: Apache-2.0
// The messages of the .proto files. In memory they are JSON trees whose names are the message's fields, enums by the
// names of their values; in files they are JSON where the name ends in .json, else the original's serialized form, for
// which Halite must be built with protobuf-c.
#ifndef HALITE_TOOLS_WIRE_H
#define HALITE_TOOLS_WIRE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "text.h"

enum hl_wire_message {
    HL_WIRE_METRICS,      // EvaluationStageMetrics
    HL_WIRE_GROUND_TRUTH, // ObjectDetectionGroundTruth
    HL_WIRE_BENCHMARK,    // BenchmarkResult
    HL_WIRE_PROFILE,      // BenchmarkProfilingData
    HL_WIRE_RUNTIME,      // ModelRuntimeDetails
};

// Can a file of this name be written in this build? An empty one is not wanted. False after a message, in the way of
// TensorFlow Lite's tools. To be asked before hours of work.
bool hl_wire_check(const char *path);
// False after a message; then there is no half file.
bool hl_wire_write(const char *path, enum hl_wire_message message, const cJSON *tree);
// NULL on failure, with the reason in `error`. The caller frees it with cJSON_Delete.
cJSON *hl_wire_read(const char *path, enum hl_wire_message message, struct hl_text *error);

#endif
