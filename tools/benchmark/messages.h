// SPDX-License-Identifier: Apache-2.0
// Files of benchmark_model that are messages of the original's, or JSON where their names end in .json: the result,
// what has become of the model in the interpreter, times of operators.
#ifndef HALITE_TOOLS_BENCHMARK_MESSAGES_H
#define HALITE_TOOLS_BENCHMARK_MESSAGES_H

#include "benchmark/benchmark.h"
#include "benchmark/profile.h"
#include "model_file.h"

// Do the flags make sense, and can the files that they want be written? All functions return false after a message.
bool hl_benchmark_check(const struct hl_benchmark_options *options);

// BenchmarkResult.
bool hl_benchmark_write_result(const char *path, const char *name, const struct hl_benchmark_figures *figures);
// ModelRuntimeDetails.
bool hl_benchmark_write_runtime(const char *path, const struct hl_model_file *file);
// BenchmarkProfilingData.
bool hl_benchmark_write_profile(const char *path, const struct hl_profile *initialization,
                                const struct hl_profile *runs);

#endif
