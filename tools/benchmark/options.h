// SPDX-License-Identifier: Apache-2.0
// The flags of benchmark_model, once, and the struct that they fill. Those that all of TensorFlow Lite's tools have are
// in delegates.h.
#ifndef HALITE_TOOLS_BENCHMARK_OPTIONS_H
#define HALITE_TOOLS_BENCHMARK_OPTIONS_H

#include "delegates.h"

#define HL_FOR_CACHE "packed weights are made anew for each interpreter"
#define HL_FOR_EVENTS "times are summed as they come, without a buffer"
#define HL_FOR_MEMORY "memory is planned so at all times"

// X(kind, name, default, idle, label, help): a flag of this kind (HL_FLAG_...); the reason for which it does nothing
// here, or NULL; what the log calls its value.
// clang-format off
#define HL_BENCHMARK_FLAG_LIST(X)                                                                                           \
    X(INT, num_runs, 50, NULL, "Min num runs", "fewest timed runs")                                                         \
    X(NUMBER, min_secs, 1.0, NULL, "Min runs duration (seconds)", "least time for them, in seconds")                        \
    X(NUMBER, max_secs, 150.0, NULL, "Max runs duration (seconds)", "after so many seconds no run starts")                  \
    X(INT, warmup_runs, 1, NULL, "Min warmup runs", "fewest runs before the timed ones")                                    \
    X(NUMBER, warmup_min_secs, 0.5, NULL, "Min warmup runs duration (seconds)", "least time for them, in seconds")          \
    X(NUMBER, run_delay, -1.0, NULL, "Inter-run delay (seconds)", "pause between runs, in seconds")                         \
    X(NUMBER, run_frequency, -1.0, NULL, "Number of prorated runs per second", "runs a second, in place of a pause")        \
    X(BOOL, use_caching, false, HL_FOR_CACHE, "Use caching", "keep packed weights")                                         \
    X(STRING, benchmark_name, "", NULL, "Benchmark name", "a name for the log")                                             \
    X(STRING, output_prefix, "", NULL, "Output prefix", "a prefix for the log")                                             \
    X(BOOL, verbose, false, NULL, "Log parameter values verbosely", "log the values of all flags")                          \
    X(BOOL, dry_run, false, NULL, "Run w/o invoking kernels", "do everything but the runs")                                 \
    X(BOOL, report_peak_memory_footprint, false, NULL, "Report the peak memory footprint", "watch the memory in use")       \
    X(INT, memory_footprint_check_interval_ms, 50, NULL, "Memory footprint check interval (ms)", "how often, in ms")        \
    X(BOOL, report_energy, false, NULL, "Report energy", "joules of each timed run, where they are counted")                \
    X(STRING, graph, "", NULL, "Graph", "the model, a .tflite file, or fd:NUMBER:OFFSET:SIZE")                              \
    X(STRING, signature_to_run_for, "", NULL, "Signature to run", "key of the signature to run")                            \
    X(BOOL, list_signatures, false, NULL, "List signatures from the provided model",                                        \
      "print the keys of all signatures and stop")                                                                          \
    X(STRING, input_layer, "", NULL, "Input layers", "names of inputs: a,b")                                                \
    X(STRING, input_layer_shape, "", NULL, "Input shapes", "their shapes: 1,224,224,3:1,10")                                \
    X(STRING, input_layer_value_range, "", NULL, "Input value ranges", "of random integers: a,0,10:b,5,5")                  \
    X(STRING, input_layer_value_files, "", NULL, "Input value files", "raw values: a:FILE,b:FILE; :: is a : of a name")     \
    X(BOOL, allow_fp16, false, "the CPU kernels compute in float32", "Allow fp16", "half precision on the CPU")             \
    X(BOOL, require_full_delegation, false, NULL, "Require full delegation", "fail where a node stays on the CPU")          \
    X(BOOL, enable_op_profiling, false, NULL, "Enable op profiling", "time each operator in the timed runs")                \
    X(STRING, op_profiling_output_mode, "stdout", NULL, "Op profiling output mode.", "stdout, csv or proto")                \
    X(STRING, op_profiling_output_file, "", NULL, "Op profiling output file.", "file for them; none: the log")              \
    X(INT, max_profiling_buffer_entries, 1024, HL_FOR_EVENTS, "Max initial profiling buffer entries", "events to keep")     \
    X(BOOL, allow_dynamic_profiling_buffer_increase, false, HL_FOR_EVENTS, "Allow dynamic increase on profiling buffer"     \
      " entries", "let that number grow")                                                                                   \
    X(STRING, profiling_output_csv_file, "", NULL, "CSV File to export profiling data to", "as csv mode with this file")    \
    X(BOOL, export_model_runtime_info, false, NULL, "Enable Model Runtime Info Export",                                     \
      "write tensors and nodes as they run")                                                                                \
    X(STRING, model_runtime_info_output_file, "", NULL, "Proto File to export model runtime info to", "file for that")      \
    X(BOOL, print_preinvoke_state, false, NULL, "Print pre-invoke interpreter state", "tensors and nodes before the runs")  \
    X(BOOL, print_postinvoke_state, false, NULL, "Print post-invoke interpreter state", "the same behind them")             \
    X(INT, tensor_name_display_length, 25, NULL, "Tensor name display length", "width of names in it")                      \
    X(INT, tensor_type_display_length, 15, NULL, "Tensor type display length", "width of types in it")                      \
    X(INT, alloc_type_display_length, 18, NULL, "Tensor allocation type display length", "width of allocations in it")      \
    X(BOOL, release_dynamic_tensors, false, HL_FOR_MEMORY, "Release dynamic tensor memory", "free tensors early")           \
    X(INT, optimize_memory_for_large_tensors, 0, HL_FOR_MEMORY, "Optimize memory usage for large tensors",                  \
      "bytes from which")                                                                                                   \
    X(BOOL, disable_delegate_clustering, false, "delegates cluster nodes themselves", "Disable delegate clustering",        \
      "one delegate node for each node")                                                                                    \
    X(BOOL, enable_builtin_cast_constant_cache, false, HL_FOR_MEMORY, "Constant CAST output cache", "cast constants once")  \
    X(STRING, output_filepath, "", NULL, "File path to export outputs layer to", "raw outputs, one behind the other")       \
    X(STRING, output_proto_filepath, "", NULL, "File path to export outputs layer as tf example to", "as tf.Example")       \
    X(STRING, result_file_path, "", NULL, "File path to save the benchmark result in binary proto format",                  \
      "file for the result")
// clang-format on

#define HL_BENCHMARK_TYPE_BOOL bool
#define HL_BENCHMARK_TYPE_INT int
#define HL_BENCHMARK_TYPE_NUMBER double
#define HL_BENCHMARK_TYPE_STRING const char *
#define HL_BENCHMARK_FIELD(kind, name, initial, idle, label, help) HL_BENCHMARK_TYPE_##kind name;
struct hl_benchmark_options {
    HL_BENCHMARK_FLAG_LIST(HL_BENCHMARK_FIELD)
    struct hl_delegate_flags delegates;
    const int *positions; // of the flags on the command line
};

// Initializer of a struct hl_benchmark_options.
#define HL_BENCHMARK_DEFAULT(kind, name, initial, idle, label, help) .name = (initial),
#define HL_BENCHMARK_DEFAULTS                                                         \
    {                                                                                 \
        HL_BENCHMARK_FLAG_LIST(HL_BENCHMARK_DEFAULT).delegates = HL_DELEGATE_DEFAULTS \
    }

// The rows of a command's table, for options that begin with a struct hl_benchmark_options. They end with a comma.
#define HL_BENCHMARK_ROW(kind, name, initial, idle, label, help) HL_TFLITE_FLAG(kind, hl_benchmark_options, name, help),
#define HL_BENCHMARK_FLAGS                   \
    HL_BENCHMARK_FLAG_LIST(HL_BENCHMARK_ROW) \
    HL_DELEGATE_FLAGS(hl_benchmark_options, delegates)

#endif
