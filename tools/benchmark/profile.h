// SPDX-License-Identifier: Apache-2.0
// Times of operators as benchmark_model prints them. In: the telemetry events of an interpreter (nodes begin and end;
// delegates tell of their kernels). Out: tables in order of execution, by time and by operator, as text or CSV; or a
// message.
#ifndef HALITE_TOOLS_BENCHMARK_PROFILE_H
#define HALITE_TOOLS_BENCHMARK_PROFILE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "benchmark/series.h"
#include "model_file.h"
#include "stat.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"
#include "text.h"

struct hl_profile_row {
    const char *label;   // of the events; lent
    struct hl_text type; // "CONV_2D"; of a delegate's kernel "CONV_2D convolve"
    struct hl_text name; // "[output tensor]:node"
    int64_t subgraph, node;
    bool internal;            // a delegate's kernel, in the time of the delegate's node
    double now, first;        // microseconds: of the run that goes on, of the first
    struct hl_stat us;        // of the runs in which it took part
    int64_t calls_now, calls; // of the run that goes on, of a run
};

struct hl_profile {
    TfLiteTelemetryProfilerStruct hooks; // its `data` is the profile
    const struct hl_model_file *file;    // for names of tensors
    bool on;
    int row_count;
    struct hl_profile_row *rows;
    struct {
        int row;
        double start;
    } open[64]; // events that have begun: calls of subgraphs nest
    int open_count;
    int64_t runs;
    int group_count; // the subgraphs, and a delegate's kernels behind them
    struct hl_profile_group {
        double now;              // microseconds of its rows in the run that goes on
        struct hl_series totals; // of each run in which it took part
    } * groups;
};

// Must stay where it is while an interpreter reports to it, that of `file`.
void hl_profile_start(struct hl_profile *profile, const struct hl_model_file *file);
void hl_profile_free(struct hl_profile *profile);

// Around each run that counts.
void hl_profile_begin_run(struct hl_profile *profile);
void hl_profile_end_run(struct hl_profile *profile);

// Something that is no node, as a row of its own in a run.
void hl_profile_add(struct hl_profile *profile, const char *type, double microseconds);

void hl_profile_print(const struct hl_profile *profile, const char *title, bool csv, struct hl_text *text);

// The message ModelProfilingData.
cJSON *hl_profile_tree(const struct hl_profile *profile);

#endif
