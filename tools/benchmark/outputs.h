// SPDX-License-Identifier: Apache-2.0
// Files of benchmark_model: the model that it reads, the outputs of the last run that it writes.
#ifndef HALITE_TOOLS_BENCHMARK_OUTPUTS_H
#define HALITE_TOOLS_BENCHMARK_OUTPUTS_H

#include "benchmark/options.h"
#include "run_graph.h"

// `graph` is a path, or fd:NUMBER:OFFSET:SIZE for a part of an open file. False after a message; hl_model_file_close is
// right in both cases.
bool hl_benchmark_open_model(struct hl_model_file *file, const char *graph);

// --output_filepath: all outputs as they lie in memory, one behind the other. --output_proto_filepath: a tf.Example
// with a list of floats, integers or bytes for each. False after a message.
bool hl_benchmark_write_outputs(const struct hl_graph *graph, const struct hl_benchmark_options *options);

#endif
