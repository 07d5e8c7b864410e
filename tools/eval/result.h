// SPDX-License-Identifier: Apache-2.0
// Results of the evaluation tools: lines for people, and the message EvaluationStageMetrics as a tree (wire.h).
#ifndef HALITE_TOOLS_EVAL_RESULT_H
#define HALITE_TOOLS_EVAL_RESULT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "stat.h"

// "NAME latency: avg=84364.2(us), std_dev=12525(us)". Without the deviation it is 0.
void hl_result_print_latency(const char *name, const struct hl_stat *microseconds, bool deviation);

// The message LatencyMetrics.
cJSON *hl_result_latency(const struct hl_stat *microseconds, bool deviation);

// Writes the result file: `metrics` (taken) is this member of ProcessMetrics. An empty path: nothing is wanted. False
// after a message.
bool hl_result_write(const char *path, int runs, const char *member, cJSON *metrics);

#endif
