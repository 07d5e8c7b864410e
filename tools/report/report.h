// SPDX-License-Identifier: Apache-2.0
// halite report in four parts: the subcommand (report.c), what a run tells (measure.c), what other programs read
// (node_data.c), the pages (page.html of a model, pair.html of two, each made one string by page.cmake).
#ifndef HALITE_TOOLS_REPORT_REPORT_H
#define HALITE_TOOLS_REPORT_REPORT_H

#include <stdbool.h>

#include "model_file.h"

struct cJSON;

// The pages, each with a mark where its JSON belongs.
extern const char hl_report_page[], hl_report_pair[];

// Runs the model (`runs` times for the median, as often again for the nodes, again for GPU kernels) and adds the member
// `times` to json: `runs`, `total_ns`, and `nodes`, a row for each node on the CPU, each kernel on the GPU and each
// delegated part, with node, op, where and ns. The file has an interpreter. False after a message.
bool hl_report_measure(struct cJSON *json, struct hl_model_file *file, int runs);

// Those times as a trace that chrome://tracing and Perfetto open: one average run.
struct cJSON *hl_report_trace(const struct cJSON *json);

// The nodes' times, or without any the places, as Model Explorer's "custom node data".
struct cJSON *hl_report_node_data(const struct cJSON *json);

#endif
