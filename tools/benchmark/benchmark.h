// SPDX-License-Identifier: Apache-2.0
// One benchmark of a model: what benchmark_model does once, and benchmark_model_performance_options for each of its
// settings.
#ifndef HALITE_TOOLS_BENCHMARK_BENCHMARK_H
#define HALITE_TOOLS_BENCHMARK_BENCHMARK_H

#include "benchmark/options.h"
#include "benchmark/series.h"
#include "energy/energy.h"

struct hl_benchmark_figures {
    double init_us;
    struct hl_series warmup_us, run_us; // of each run
    double memory_init, memory_overall,
        memory_peak; // MB more than at the start; at most, 0: not watched
    size_t model_bytes, input_bytes;
    struct hl_energy *energy; // of the timed runs; NULL: not wanted
};

// Logs the flags, runs the model and prints what there is to say; the figures are added to `figures` (all zeros
// before). False after a message. `command` is the one that the flags' positions belong to.
bool hl_benchmark_run(const struct hl_command *command, const struct hl_benchmark_options *options,
                      struct hl_benchmark_figures *figures);
void hl_benchmark_figures_free(struct hl_benchmark_figures *figures);

#endif
