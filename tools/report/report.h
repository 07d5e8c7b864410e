// SPDX-License-Identifier: Apache-2.0
// halite report in three parts: the subcommand (report.c), what a run tells (measure.c), the page (page.html, page.css,
// page.js, made one string by page.cmake).
#ifndef HALITE_TOOLS_REPORT_REPORT_H
#define HALITE_TOOLS_REPORT_REPORT_H

#include <stdbool.h>

#include "model_file.h"

struct cJSON;

// The page, with a mark where the model's JSON belongs.
extern const char hl_report_page[];

// Adds the members `placement` (where each node runs, and why) and `times` to json. The interpreter is there, with its
// tensors allocated; runs 0: nothing is run. False after a message.
bool hl_report_measure(struct cJSON *json, struct hl_model_file *file, int runs);

// Those times as a trace that chrome://tracing and Perfetto open: one average run, its nodes one after another.
struct cJSON *hl_report_trace(const struct cJSON *json);

#endif
