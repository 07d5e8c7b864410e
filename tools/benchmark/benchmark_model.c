// SPDX-License-Identifier: Apache-2.0
// benchmark_model: how fast is a model? In: a model and flags (options.h). Out: the original's lines: times of initialisation,
// warm-up and runs, memory, and tables of operators if asked for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "benchmark/benchmark.h"
#include "benchmark/inputs.h"
#include "benchmark/memory.h"
#include "benchmark/messages.h"
#include "benchmark/outputs.h"
#include "benchmark/profile.h"
#include "commands.h"
#include "message.h"
#include "output_file.h"
#include "state.h"

// Everything of one run of the tool.
struct benchmark {
    const struct hl_command *command;
    const struct hl_benchmark_options *options;
    struct hl_benchmark_figures *figures;
    struct hl_delegates delegates;
    struct hl_model_file file;
    struct hl_graph graph;
    struct hl_benchmark_inputs inputs;
    struct hl_profile initialisation, runs;
    double memory_at_start;
};

// ---- the log of flags ---------------------------------------------------------------------------

// What the log calls a flag that all tools share; the flag's name where it has no other.
static const char *delegate_label(const char *name)
{
    static const struct {
        const char *name, *label;
    } labels[] = {
        {"num_threads", "Num threads"},
        {"max_delegated_partitions", "Max number of delegated partitions"},
        {"use_gpu", "Use gpu"},
        {"gpu_precision_loss_allowed", "Allow lower precision in gpu"},
        {"gpu_experimental_enable_quant", "Enable running quant models in gpu"},
        {"gpu_inference_for_sustained_speed", "Prefer maximizing the throughput in gpu"},
        {"gpu_backend", "GPU backend"},
        {"use_xnnpack", "Use xnnpack"},
        {"external_delegate_path", "External delegate path"},
        {"external_delegate_options", "External delegate options"},
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i].name, name) == 0) return labels[i].label;
    return name;
}

static const char *label_of(const struct hl_flag *flag)
{
#define LABEL(kind, name, initial, idle, label, help) {#name, label},
    static const struct {
        const char *name, *label;
    } own[] = {HL_BENCHMARK_FLAG_LIST(LABEL)};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, flag->name) == 0) return own[i].label;
    return delegate_label(flag->name);
}

static void log_value(const struct hl_flag *flag, const struct hl_benchmark_options *options)
{
    const void *at = (const char *)options + flag->offset;
    const char *label = label_of(flag);
    switch (flag->kind) {
    case HL_FLAG_BOOL: hl_info(HL_TFLITE, NULL, "%s: [%d]", label, *(const bool *)at); break;
    case HL_FLAG_INT: hl_info(HL_TFLITE, NULL, "%s: [%d]", label, *(const int *)at); break;
    case HL_FLAG_NUMBER: hl_info(HL_TFLITE, NULL, "%s: [%g]", label, *(const double *)at); break;
    default: hl_info(HL_TFLITE, NULL, "%s: [%s]", label, *(const char *const *)at); break;
    }
}

static void log_flags(const struct hl_command *command, const struct hl_benchmark_options *options)
{
    static const char verbose[] = "verbose";
    hl_info(HL_TFLITE, NULL, "Log parameter values verbosely: [%d]", options->verbose);
    for (int i = 0; i < command->flag_count; i++)
        if (command->flags[i].offset < sizeof *options &&
            strcmp(command->flags[i].name, verbose) != 0 &&
            (options->verbose || options->positions[i] > 0))
            log_value(&command->flags[i], options);
#define IDLE(kind, name, initial, idle, label, help) {#name, idle},
    static const struct hl_idle_flag idle_flags[] = {HL_BENCHMARK_FLAG_LIST(IDLE)};
    hl_idle_flags_warn(idle_flags, sizeof idle_flags / sizeof *idle_flags, command,
                       options->positions);
}

// ---- initialisation -----------------------------------------------------------------------------

static bool choose_signature(struct benchmark *benchmark, const char **key)
{
    const TfLiteModel *model = benchmark->file.model;
    const struct hl_benchmark_options *options = benchmark->options;
    *key = *options->signature_to_run_for != '\0' ? options->signature_to_run_for : NULL;
    if (options->list_signatures) {
        hl_info(HL_TFLITE, NULL, "The Model contains the following signature keys.");
        for (int i = 0; i < model->signature_count; i++)
            hl_info(HL_TFLITE, NULL, "- %s", model->signatures[i].key);
        return false;
    }
    if (*key == NULL && model->signature_count > 1) {
        struct hl_text keys = {0};
        for (int i = 0; i < model->signature_count; i++)
            hl_text_add(&keys, "%s%s", i > 0 ? ", " : "", model->signatures[i].key);
        hl_error(HL_TFLITE, NULL, "Signature not specified: --signature_to_run_for takes one of %s",
                 keys.data);
        hl_text_free(&keys);
        return false;
    }
    if (*key != NULL) hl_info(HL_TFLITE, NULL, "Using signature: %s", *key);
    return true;
}

// With operator profiling the GPU delegate times its kernels too.
static void profile_kernels(struct benchmark *benchmark)
{
    struct hl_delegates *delegates = &benchmark->delegates;
    for (int i = 0; i < delegates->count && benchmark->options->enable_op_profiling; i++)
        if (delegates->gpu.handle != NULL && strcmp(delegates->items[i].name, "GPU") == 0)
            delegates->gpu.HaliteDelegateSetProfiling(delegates->items[i].delegate, true,
                                                      &benchmark->runs.hooks);
}

// What the delegates have made of the graph. False where that is not what the flags demand.
static bool report_delegates(const struct benchmark *benchmark)
{
    TfLiteInterpreter *interpreter = benchmark->file.interpreter;
    int kernels = 0, on_cpu = 0;
    for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter); i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk) continue;
        if (strcmp(node.where, "CPU") == 0)
            on_cpu++;
        else
            kernels++;
    }
    for (int i = 0; i < benchmark->delegates.count; i++) {
        const char *name = benchmark->delegates.items[i].name;
        if (kernels == 0)
            hl_info(
                HL_TFLITE, NULL,
                "Though %s delegate is explicitly applied, the model graph will not be executed by the delegate.",
                name);
        else if (on_cpu == 0)
            hl_info(
                HL_TFLITE, NULL,
                "Explicitly applied %s delegate, and the model graph will be completely executed by the delegate.",
                name);
        else
            hl_info(
                HL_TFLITE, NULL,
                "Explicitly applied %s delegate, and the model graph will be partially executed by the delegate w/ %d "
                "delegate kernels.",
                name, kernels);
    }
    if (!benchmark->options->require_full_delegation || benchmark->delegates.count == 0 ||
        on_cpu == 0)
        return true;
    hl_error(HL_TFLITE, NULL, "Disallowed CPU fallback detected.");
    return false;
}

static bool initialise(struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    struct hl_model_file *file = &benchmark->file;
    const char *signature;
    if (*options->graph == '\0') {
        hl_error(HL_TFLITE, NULL,
                 "Please specify the name of your TF Lite input file with --graph");
        return false;
    }
    double start = hl_model_clock();
    if (!hl_benchmark_open_model(file, options->graph)) return false;
    hl_info(HL_TFLITE, NULL, "Loaded model %s", options->graph);
    if (!choose_signature(benchmark, &signature)) return false;
    hl_profile_start(&benchmark->initialisation, file);
    hl_profile_start(&benchmark->runs, file);
    if (!hl_delegates_create(&options->delegates, benchmark->command, options->positions,
                             &benchmark->delegates))
        return false;
    for (int i = 0; i < benchmark->delegates.count; i++) {
        const char *name = benchmark->delegates.items[i].name;
        if (strcmp(name, "GPU") == 0)
            hl_info(HL_TFLITE, NULL, "Created TensorFlow Lite delegate for GPU.");
        hl_info(HL_TFLITE, NULL, "%s delegate created.", name);
    }
    struct hl_model_options how = {
        .threads = options->delegates.num_threads,
        .delegates = &benchmark->delegates,
        .profiler = options->enable_op_profiling ? &benchmark->runs.hooks : NULL,
    };
    hl_profile_begin_run(&benchmark->initialisation);
    double before = hl_model_clock(), between;
    if (!hl_model_file_start(file, &how) || !hl_graph_open(&benchmark->graph, signature) ||
        !hl_benchmark_inputs_resize(&benchmark->graph, options))
        return false;
    between = hl_model_clock();
    if (!hl_graph_allocate(&benchmark->graph)) return false;
    double end = hl_model_clock();
    if (benchmark->delegates.count > 0)
        hl_profile_add(&benchmark->initialisation, "ModifyGraphWithDelegate",
                       1e6 * (between - before));
    hl_profile_add(&benchmark->initialisation, "AllocateTensors", 1e6 * (end - between));
    hl_profile_end_run(&benchmark->initialisation);
    benchmark->figures->init_us = 1e6 * (end - start);
    benchmark->figures->model_bytes = file->model->file_size;
    if (!report_delegates(benchmark)) return false;
    hl_info(HL_TFLITE, NULL, "The input model file size (MB): %g",
            (double)file->model->file_size / 1e6);
    hl_info(HL_TFLITE, NULL, "Initialized session in %gms.", benchmark->figures->init_us / 1e3);
    profile_kernels(benchmark);
    if (!hl_benchmark_inputs_make(&benchmark->inputs, &benchmark->graph, options)) return false;
    for (int i = 0; i < benchmark->inputs.count; i++)
        benchmark->figures->input_bytes += benchmark->inputs.values[i].length;
    return true;
}

// ---- runs ---------------------------------------------------------------------------------------

static void sleep_for(double seconds)
{
    if (!(seconds > 0)) return;
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    while (nanosleep(&time, &time) != 0) {
    }
}

static bool run_once(struct benchmark *benchmark, struct hl_profile *profile, double *microseconds)
{
    if (!hl_benchmark_inputs_write(&benchmark->inputs, &benchmark->graph)) return false;
    if (profile != NULL) hl_profile_begin_run(profile);
    double start = hl_model_clock();
    TfLiteStatus status = hl_graph_invoke(&benchmark->graph);
    *microseconds = floor(1e6 * (hl_model_clock() - start));
    if (profile != NULL) hl_profile_end_run(profile);
    if (status != kTfLiteOk) hl_model_file_failed(&benchmark->file, "Failed to invoke!");
    return status == kTfLiteOk;
}

// At least `runs` and `least` seconds, until `most` seconds have gone.
static bool run_series(struct benchmark *benchmark, int runs, double least,
                       struct hl_profile *profile, struct hl_series *series)
{
    const struct hl_benchmark_options *options = benchmark->options;
    double most = options->max_secs, start = hl_model_clock(), microseconds;
    hl_info(
        HL_TFLITE, NULL,
        "Running benchmark for at least %d iterations and at least %g seconds but terminate if exceeding %g seconds.",
        runs, least, most);
    for (int i = 0; !options->dry_run; i++) {
        double gone = hl_model_clock() - start;
        if ((i >= runs && gone >= least) || gone > most) break;
        if (!run_once(benchmark, profile, &microseconds)) return false;
        hl_series_add(series, microseconds);
        if (options->run_frequency > 0)
            sleep_for(start + (i + 1) / options->run_frequency - hl_model_clock());
        else
            sleep_for(options->run_delay);
    }
    struct hl_text text = {0};
    hl_series_print(series, &text);
    hl_info(HL_TFLITE, NULL, "%s", text.data);
    hl_text_free(&text);
    return true;
}

static bool write_profile(struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    const char *mode = options->op_profiling_output_mode;
    bool csv = strcmp(mode, "csv") == 0 || *options->profiling_output_csv_file != '\0';
    if (strcmp(mode, "proto") == 0)
        return hl_benchmark_write_profile(options->op_profiling_output_file,
                                          &benchmark->initialisation, &benchmark->runs);
    if (!csv && strcmp(mode, "stdout") != 0)
        hl_warn(HL_TFLITE, NULL, "--op_profiling_output_mode=%s is not known, so it is stdout",
                mode);
    const char *path = *options->op_profiling_output_file != '\0'
                           ? options->op_profiling_output_file
                           : options->profiling_output_csv_file;
    struct hl_text text = {0};
    hl_profile_print(&benchmark->initialisation,
                     "Profiling Info for Benchmark Initialization:", csv, &text);
    hl_profile_print(&benchmark->runs,
                     "Operator-wise Profiling Info for Regular Benchmark Runs:", csv, &text);
    bool ok = true;
    if (*path != '\0')
        ok = hl_output_write(HL_TFLITE, path, text.data, text.length);
    else
        fputs(text.data, stdout);
    hl_text_free(&text);
    return ok;
}

static void report_memory(const struct benchmark *benchmark)
{
    hl_info(
        HL_TFLITE, NULL,
        "Note: as the benchmark tool itself affects memory footprint, the following is only APPROXIMATE to the actual "
        "memory footprint of the model at runtime. Take the information at your discretion.");
    hl_info(HL_TFLITE, NULL,
            "Memory footprint delta from the start of the tool (MB): init=%g overall=%g",
            benchmark->figures->memory_init, benchmark->figures->memory_overall);
}

static void report_peak(double most)
{
    struct hl_text text = {0};
    hl_info(HL_TFLITE, NULL, "Overall peak memory footprint (MB) via periodic monitoring: %g",
            most);
    hl_memory_status(&text);
    if (text.length > 0) {
        hl_info(HL_TFLITE, NULL,
                "Memory status at the end of exeution:"); // as the original spells it
        for (char *line = strtok(text.data, "\n"); line != NULL; line = strtok(NULL, "\n"))
            hl_info(HL_TFLITE, NULL, "%s", line);
    }
    hl_text_free(&text);
}

static void print_state(const struct benchmark *benchmark, const char *when)
{
    const struct hl_benchmark_options *options = benchmark->options;
    struct hl_state_widths widths = {options->tensor_name_display_length,
                                     options->tensor_type_display_length,
                                     options->alloc_type_display_length};
    struct hl_text text = {0};
    hl_state_print(&benchmark->file, widths, &text);
    hl_info(HL_TFLITE, NULL,
            "==== Printing out TfLite interpreter %s-invoke state begins ====", when);
    fputs(text.data, stdout);
    hl_info(HL_TFLITE, NULL,
            "==== Printing out TfLite interpreter %s-invoke state ends ====", when);
    hl_text_free(&text);
}

// What the runs have shown.
static void report(const struct benchmark *benchmark)
{
    const struct hl_benchmark_figures *figures = benchmark->figures;
    struct hl_series_figures warmup = hl_series_figures(&figures->warmup_us),
                             runs = hl_series_figures(&figures->run_us);
    if (!benchmark->options->dry_run)
        hl_info(
            HL_TFLITE, NULL,
            "Inference timings in us: Init: %.0f, First inference: %.0f, Warmup (avg): %g, Inference (avg): %g",
            figures->init_us, figures->warmup_us.count > 0 ? warmup.first : runs.first,
            warmup.average, runs.average);
    report_memory(benchmark);
}

static bool measure(struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    struct hl_benchmark_figures *figures = benchmark->figures;
    if (!hl_benchmark_check_messages(options)) return false;
    benchmark->memory_at_start = hl_memory_most();
    if (!initialise(benchmark)) return false;
    figures->memory_init = hl_memory_most() - benchmark->memory_at_start;
    if (options->print_preinvoke_state) print_state(benchmark, "pre");
    const char *runtime = options->model_runtime_info_output_file;
    if (*runtime != '\0') {
        if (!hl_benchmark_write_runtime(runtime, &benchmark->file)) return false;
        hl_info(HL_TFLITE, NULL, "Generated model runtime info: %s", runtime);
    }
    if (!run_series(benchmark, options->warmup_runs, options->warmup_min_secs, NULL,
                    &figures->warmup_us))
        return false;
    struct hl_profile *profile = options->enable_op_profiling ? &benchmark->runs : NULL;
    if (!run_series(benchmark, options->num_runs, options->min_secs, profile, &figures->run_us))
        return false;
    if (options->print_postinvoke_state) print_state(benchmark, "post");
    if (profile != NULL && !options->dry_run && !write_profile(benchmark)) return false;
    figures->memory_overall = hl_memory_most() - benchmark->memory_at_start;
    report(benchmark);
    return options->dry_run || hl_benchmark_write_outputs(&benchmark->graph, options);
}

static bool write_result(const struct benchmark *benchmark)
{
    const char *path = benchmark->options->result_file_path;
    if (*path == '\0' || benchmark->options->dry_run) return true;
    hl_info(HL_TFLITE, NULL, "Saving benchmark result to: %s", path);
    if (!hl_benchmark_write_result(path, benchmark->options->benchmark_name, benchmark->figures))
        return false;
    hl_info(HL_TFLITE, NULL, "Saved benchmark result to: %s", path);
    return true;
}

void hl_benchmark_figures_free(struct hl_benchmark_figures *figures)
{
    hl_series_free(&figures->warmup_us);
    hl_series_free(&figures->run_us);
}

bool hl_benchmark_run(const struct hl_command *command, const struct hl_benchmark_options *options,
                      struct hl_benchmark_figures *figures)
{
    struct benchmark benchmark = {.command = command, .options = options, .figures = figures};
    struct hl_memory_watch watch;
    benchmark.graph.file = &benchmark.file;
    log_flags(command, options);
    bool watched = options->report_peak_memory_footprint;
    if (watched) hl_memory_watch_start(&watch, options->memory_footprint_check_interval_ms);
    bool ok = measure(&benchmark);
    if (watched) {
        figures->memory_peak = hl_memory_watch_stop(&watch);
        report_peak(figures->memory_peak);
    }
    ok = ok && write_result(&benchmark);
    if (!ok && !options->list_signatures) hl_error(HL_TFLITE, NULL, "Benchmarking failed.");
    hl_graph_close(&benchmark.graph);
    hl_model_file_close(&benchmark.file);
    hl_delegates_free(&benchmark.delegates);
    hl_benchmark_inputs_free(&benchmark.inputs);
    hl_profile_free(&benchmark.initialisation);
    hl_profile_free(&benchmark.runs);
    return ok;
}

// ---- the tool -----------------------------------------------------------------------------------

static const struct hl_benchmark_options defaults = HL_BENCHMARK_DEFAULTS;
static const struct hl_flag flags[] = {HL_BENCHMARK_FLAGS};

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    struct hl_benchmark_figures figures = {0};
    bool ok = hl_benchmark_run(&hl_command_benchmark_model, given, &figures);
    hl_benchmark_figures_free(&figures);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

const struct hl_command hl_command_benchmark_model = {
    .name = "benchmark_model",
    .summary = "Time a model as TensorFlow Lite's benchmark tool does.",
    .operands = "",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
    .options_size = sizeof defaults,
    .defaults = &defaults,
    .tflite = true,
    .positions = offsetof(struct hl_benchmark_options, positions),
    .run = run,
};
