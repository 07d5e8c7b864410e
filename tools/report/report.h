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

// Runs the model (`runs` times for the median, as often again for the nodes, again for GPU kernels) and adds the member
// `times` to json: `runs`, `total_ns`, and `nodes`, a row for each node on the CPU, each kernel on the GPU and each
// delegated part, with node, op, where and ns. The file has an interpreter. False after a message.
bool hl_report_measure(struct cJSON *json, struct hl_model_file *file, int runs);

// Those times as a trace that chrome://tracing and Perfetto open: one average run.
struct cJSON *hl_report_trace(const struct cJSON *json);

#endif
