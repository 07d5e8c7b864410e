// SPDX-License-Identifier: Apache-2.0
// What halite bench measures, as data. A row is one way to run one model and everything that was measured of it, a JSON
// object; a document is the rows with what they were measured on. Tables, CSV and comparisons are made from the
// document, so that they can show nothing that the JSON lacks. Members are listed in docs/looking.md; times are in
// seconds, sizes in bytes.
#ifndef HALITE_TOOLS_BENCH_BENCH_H
#define HALITE_TOOLS_BENCH_BENCH_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "progress.h"
#include "run_graph.h"

// One way to run one model.
struct hl_bench_setup {
    struct hl_model_options model;
    const char *device; // what the row calls it: "cpu", or what --device or --delegate was given
    int warmup, runs;
    bool per_op, energy;
};

// The most times of single runs that a row keeps, evenly chosen where there were more.
enum { HL_BENCH_MAX_SAMPLES = 10000 };

// ---- measure.c ----------------------------------------------------------------------------------

// Steps of the progress that hl_bench_measure makes.
int hl_bench_steps(const struct hl_bench_setup *setup);
// Measures. A row with "ok": false after a message where it could not be run; the caller deletes it. `progress` stands
// and says what is measured.
cJSON *hl_bench_measure(const struct hl_bench_setup *setup, struct hl_progress *progress);

// ---- operators.c --------------------------------------------------------------------------------

// Adds the times of operators, and of kernels on the GPU, from as many runs again. False after a message.
bool hl_bench_add_operators(cJSON *row, struct hl_graph *graph, int runs, struct hl_progress *progress);
void hl_bench_print_operators(const cJSON *row);

// ---- system.c -----------------------------------------------------------------------------------

// A document with no more than its kind, the library's version, the date, the processor and how its clock is governed.
cJSON *hl_bench_document(const char *kind);

// ---- compare.c ----------------------------------------------------------------------------------

// Reads a document of an earlier time. NULL after a message where it is none.
cJSON *hl_bench_read(const char *path);
// Adds to each row of `document` how it differs from the same row of `old`; `noise` is the relative change that never
// counts. The number of rows that became slower.
int hl_bench_compare(cJSON *document, const cJSON *old, const char *path, double noise);

// ---- print.c ------------------------------------------------------------------------------------

extern const char *const hl_bench_formats[]; // table, md, csv, json
void hl_bench_print(const cJSON *document, int format);

// ---- members ------------------------------------------------------------------------------------

// A number of a row, NAN where it has none of this name.
double hl_bench_number(const cJSON *row, const char *name);
// A string of a row, "" where it has none of this name.
const char *hl_bench_string(const cJSON *row, const char *name);

#endif
