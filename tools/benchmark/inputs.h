// SPDX-License-Identifier: Apache-2.0
// What the inputs of benchmark_model hold: shapes and values from its flags, random values for the rest. The values are
// made once and written anew before every run.
#ifndef HALITE_TOOLS_BENCHMARK_INPUTS_H
#define HALITE_TOOLS_BENCHMARK_INPUTS_H

#include "benchmark/options.h"
#include "run_graph.h"

struct hl_benchmark_inputs {
    int count;
    struct hl_text *values; // bytes of each input
};

// All zeros is empty; each function returns false after a message.
// Before memory is planned:
bool hl_benchmark_inputs_resize(struct hl_graph *graph, const struct hl_benchmark_options *options);
// After:
bool hl_benchmark_inputs_make(struct hl_benchmark_inputs *inputs, struct hl_graph *graph,
                              const struct hl_benchmark_options *options);
bool hl_benchmark_inputs_write(const struct hl_benchmark_inputs *inputs, struct hl_graph *graph);
void hl_benchmark_inputs_free(struct hl_benchmark_inputs *inputs);

#endif
