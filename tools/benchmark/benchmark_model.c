// SPDX-License-Identifier: Apache-2.0
// benchmark_model: how fast is a model? In: a model and flags (options.h). Out: the original's lines: times of
// initialization, warm-up and runs, memory, and tables of operators if asked for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "benchmark/benchmark.h"
#include "benchmark/inputs.h"
#include "benchmark/memory.h"
#include "benchmark/messages.h"
#include "benchmark/outputs.h"
#include "benchmark/profile.h"
#include "commands.h"
#include "message.h"
#include "output_file.h"
#include "runtime/interpreter.h"
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
    struct hl_profile initialization, runs;
    double memory_at_start;
};

// ---- the log of flags ---------------------------------------------------------------------------

// What the log calls a flag that all tools share; the flag's name where it has no other.
static const char *delegate_label(const char *name)
{
    static const struct {
        const char *name, *label;
    } labels[] = {
        {"help", "print out all supported flags"},
        {"num_threads", "#threads used for CPU inference"},
        {"max_delegated_partitions", "Max number of delegated partitions"},
        {"min_nodes_per_partition", "Min nodes per partition"},
        {"delegate_serialize_dir", "Directory for delegate serialization"},
        {"delegate_serialize_token", "Model-specific token/key for delegate serialization."},
        {"first_delegate_node_index", "Index of the first node that could be delegated"},
        {"last_delegate_node_index", "Index of the last node that could be delegated"},
        {"gpu_invoke_loop_times", "Number of GPU delegate invoke loop iterations"},
        {"use_gpu", "Use gpu"},
        {"gpu_precision_loss_allowed", "Allow lower precision in gpu"},
        {"gpu_experimental_enable_quant", "Enable running quant models in gpu"},
        {"gpu_inference_for_sustained_speed", "Prefer maximizing the throughput in gpu"},
        {"gpu_backend", "GPU backend"},
        {"gpu_wait_type", "GPU delegate wait type"},
        {"use_xnnpack", "Use xnnpack"},
        {"xnnpack_weight_cache_file_path", "XNNPACK weight cache file path"},
        {"xnnpack_runtime_flags", "Extra flags for XNNPACK runtime"},
        {"use_nnapi", "Use NNAPI"},
        {"nnapi_execution_preference", "NNAPI execution preference"},
        {"nnapi_execution_priority", "Model execution priority in nnapi"},
        {"nnapi_accelerator_name", "NNAPI accelerator name"},
        {"disable_nnapi_cpu", "Disable NNAPI cpu"},
        {"nnapi_allow_fp16", "Allow fp16 in NNAPI"},
        {"nnapi_allow_dynamic_dimensions", "Allow dynamic dimensions in NNAPI"},
        {"nnapi_use_burst_mode", "Use burst mode in NNAPI"},
        {"use_hexagon", "Use Hexagon"},
        {"hexagon_lib_path", "Hexagon lib path"},
        {"hexagon_profiling", "Hexagon profiling"},
        {"use_coreml", "Use CoreML"},
        {"coreml_version", "Target CoreML version"},
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

static void log_value(const struct hl_flag *flag, const char *label, const struct hl_benchmark_options *options)
{
    const void *at = (const char *)options + flag->offset;
    switch (flag->kind) {
    case HL_FLAG_BOOL: hl_info(HL_TFLITE, NULL, "%s: [%d]", label, *(const bool *)at); break;
    case HL_FLAG_INT: hl_info(HL_TFLITE, NULL, "%s: [%d]", label, *(const int *)at); break;
    case HL_FLAG_NUMBER: hl_info(HL_TFLITE, NULL, "%s: [%g]", label, *(const double *)at); break;
    default: hl_info(HL_TFLITE, NULL, "%s: [%s]", label, *(const char *const *)at); break;
    }
}

// What is given, and some always. The original has its own number of threads and that of the delegates' flags, of one
// name.
static void log_flags(const struct hl_command *command, const struct hl_benchmark_options *options)
{
    static const char *const always[] = {"graph", "signature_to_run_for"};
    const struct hl_flag *flags = command->flags;
    hl_info(HL_TFLITE, NULL, "Log parameter values verbosely: [%d]", options->verbose);
    for (int i = 0; i < command->flag_count; i++) {
        bool shown = options->verbose || options->positions[i] > 0;
        for (size_t a = 0; a < sizeof always / sizeof *always; a++)
            shown = shown || strcmp(flags[i].name, always[a]) == 0;
        if (flags[i].offset >= sizeof *options || strcmp(flags[i].name, "verbose") == 0) continue;
        if (shown) log_value(&flags[i], label_of(&flags[i]), options);
        if (strcmp(flags[i].name, "run_frequency") == 0 &&
            (options->verbose || hl_flags_position(command, options->positions, "num_threads") > 0))
            hl_info(HL_TFLITE, NULL, "Num threads: [%d]", options->delegates.num_threads);
    }
#define IDLE(kind, name, initial, idle, label, help) {#name, idle},
    static const struct hl_idle_flag idle_flags[] = {HL_BENCHMARK_FLAG_LIST(IDLE)};
    hl_idle_flags_warn(idle_flags, sizeof idle_flags / sizeof *idle_flags, command, options->positions);
}

// ---- initialization -----------------------------------------------------------------------------

static void list_signatures(const TfLiteModel *model)
{
    hl_info(HL_TFLITE, NULL, "The Model contains %d signature key(s).", model->signature_count);
    if (model->signature_count > 0) hl_info(HL_TFLITE, NULL, "They are listed below: ");
    for (int i = 0; i < model->signature_count; i++)
        hl_info(HL_TFLITE, NULL, "-> Signature Key: %s", model->signatures[i].key);
}

// The key of the signature to run, NULL: the main graph, which a model's only signature stands for if it is not asked
// for.
static bool choose_signature(const struct benchmark *benchmark, const char **key)
{
    const TfLiteModel *model = benchmark->file.model;
    const char *wanted = benchmark->options->signature_to_run_for;
    bool given = *wanted != '\0', found = false;
    *key = given ? wanted : NULL;
    if (model->signature_count == 0) {
        if (given) hl_error(HL_TFLITE, NULL, "Signature key is specified, but the model does not have any signatures.");
        return !given;
    }
    const struct hl_model_signature *only = &model->signatures[0];
    if (model->signature_count == 1 && !given) {
        if (only->subgraph != 0) *key = only->key;
        hl_info(HL_TFLITE, NULL, "Using signature: %s", only->key);
        return true;
    }
    for (int i = 0; i < model->signature_count; i++) found = found || strcmp(model->signatures[i].key, wanted) == 0;
    if (found) {
        hl_info(HL_TFLITE, NULL, "Using signature: %s", wanted);
        return true;
    }
    hl_error(HL_TFLITE, NULL,
             "Signature not specified or incorrect. Pass one of the following to the flag "
             "\"--signature_to_run_for\"");
    for (int i = 0; i < model->signature_count; i++)
        hl_error(HL_TFLITE, NULL, " #> Signature key: %s", model->signatures[i].key);
    return false;
}

// With operator profiling the GPU delegate times its kernels too.
static void profile_kernels(struct benchmark *benchmark)
{
    struct hl_delegates *delegates = &benchmark->delegates;
    for (int i = 0; i < delegates->count && benchmark->options->enable_op_profiling; i++)
        if (delegates->gpu.handle != NULL && strcmp(delegates->items[i].name, "GPU") == 0)
            delegates->gpu.HaliteDelegateSetProfiling(delegates->items[i].delegate, true, &benchmark->runs.hooks);
}

// The delegate that has made this node; an external one has a face of its own here, so it is known by being no other.
static int maker_of(const struct hl_delegates *delegates, const TfLiteDelegate *delegate)
{
    int external = 0;
    for (int i = 0; i < delegates->count; i++) {
        if (delegates->items[i].delegate == delegate) return i;
        if (strcmp(delegates->items[i].name, "EXTERNAL") == 0) external = i;
    }
    return external;
}

// Why a delegate runs nothing, where that is because of the system and not of the model.
static void say_why_not(const struct hl_delegate *item)
{
    const struct hl_delegate_library *library = item->library;
    HaliteDelegateReport *report = library != NULL ? library->HaliteDelegateReportCreate(item->delegate) : NULL;
    if (report == NULL) return;
    const HaliteDelegateGraph *graph = library->HaliteDelegateReportGetGraph(report, 0);
    for (int i = 0; graph != NULL && i < graph->node_count; i++) {
        const HaliteDelegateNode *node = library->HaliteDelegateReportGetNode(report, graph->first_node + i);
        if (node->reason != kHaliteDelegateReasonDevice) continue;
        hl_warn(HL_TFLITE, NULL, "%s", node->text);
        break;
    }
    library->HaliteDelegateReportDelete(report);
}

// What the delegates have made of the graph. False where that is not what the flags demand.
static bool report_delegates(const struct benchmark *benchmark)
{
    const struct hl_subgraph *graph = benchmark->file.interpreter->subgraphs[0];
    int kernels[HL_DELEGATES_MAX] = {0}, on_cpu = 0;
    for (int i = 0; i < graph->plan->size; i++) {
        const TfLiteDelegate *delegate = graph->nodes[graph->plan->data[i]]->node.delegate;
        if (delegate != NULL)
            kernels[maker_of(&benchmark->delegates, delegate)]++;
        else
            on_cpu++;
    }
    for (int i = 0; i < benchmark->delegates.count; i++) {
        const char *name = benchmark->delegates.items[i].name;
        if (strcmp(name, HL_XNNPACK) == 0) {
            hl_info(HL_TFLITE, NULL, "Explicitly applied %s delegate, whose work Halite's own CPU kernels do.", name);
            continue;
        }
        if (kernels[i] == 0) say_why_not(&benchmark->delegates.items[i]);
        if (kernels[i] == 0)
            hl_info(HL_TFLITE, NULL,
                    "Though %s delegate is explicitly applied, the model graph will not be executed by the delegate.",
                    name);
        else if (kernels[i] == graph->plan->size)
            hl_info(HL_TFLITE, NULL,
                    "Explicitly applied %s delegate, and the model graph will be completely executed by the delegate.",
                    name);
        else
            hl_info(
                HL_TFLITE, NULL,
                "Explicitly applied %s delegate, and the model graph will be partially executed by the delegate w/ %d "
                "delegate kernels.",
                name, kernels[i]);
    }
    if (!benchmark->options->require_full_delegation || on_cpu == 0) return true;
    hl_error(HL_TFLITE, NULL, "Disallowed CPU fallback detected.");
    return false;
}

static bool initialize(struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    struct hl_model_file *file = &benchmark->file;
    const char *signature;
    double start = hl_seconds();
    if (!hl_benchmark_open_model(file, options->graph)) return false;
    hl_info(HL_TFLITE, NULL, "Loaded model %s", options->graph);
    if (options->list_signatures) {
        list_signatures(file->model);
        return false;
    }
    if (!choose_signature(benchmark, &signature)) return false;
    hl_profile_start(&benchmark->initialization, file);
    hl_profile_start(&benchmark->runs, file);
    if (!hl_delegates_create(&options->delegates, benchmark->command, options->positions, &benchmark->delegates))
        return false;
    for (int i = 0; i < benchmark->delegates.count; i++) {
        const char *name = benchmark->delegates.items[i].name;
        if (strcmp(name, "GPU") == 0) hl_info(HL_TFLITE, NULL, "Created TensorFlow Lite delegate for GPU.");
        hl_info(HL_TFLITE, NULL, "%s delegate created.", name);
    }
    if (benchmark->delegates.count > 1)
        hl_info(HL_TFLITE, NULL, "Going to apply %d delegates one after another.", benchmark->delegates.count);
    struct hl_model_options how = {
        .threads = options->delegates.num_threads,
        .delegates = &benchmark->delegates,
        .profiler = options->enable_op_profiling ? &benchmark->runs.hooks : NULL,
    };
    hl_profile_begin_run(&benchmark->initialization);
    double before = hl_seconds(), between;
    if (!hl_model_file_start(file, &how) || !hl_graph_open(&benchmark->graph, signature) ||
        !hl_benchmark_inputs_resize(&benchmark->graph, options))
        return false;
    between = hl_seconds();
    if (!hl_graph_allocate(&benchmark->graph)) return false;
    double end = hl_seconds();
    if (benchmark->delegates.count > 0)
        hl_profile_add(&benchmark->initialization, "ModifyGraphWithDelegate", 1e6 * (between - before));
    hl_profile_add(&benchmark->initialization, "AllocateTensors", 1e6 * (end - between));
    hl_profile_end_run(&benchmark->initialization);
    benchmark->figures->init_us = 1e6 * (end - start);
    benchmark->figures->model_bytes = file->model->file_size;
    if (!report_delegates(benchmark)) return false;
    hl_info(HL_TFLITE, NULL, "The input model file size (MB): %g", (double)file->model->file_size / 1e6);
    hl_info(HL_TFLITE, NULL, "Initialized session in %gms.", benchmark->figures->init_us / 1e3);
    profile_kernels(benchmark);
    if (!hl_benchmark_inputs_make(&benchmark->inputs, &benchmark->graph, options)) return false;
    for (int i = 0; i < benchmark->inputs.count; i++)
        benchmark->figures->input_bytes += benchmark->inputs.values[i].length;
    return true;
}

// ---- energy -------------------------------------------------------------------------------------

static void report_energy(const struct hl_benchmark_figures *figures)
{
    int count, runs = figures->run_us.count;
    const struct hl_energy_figure *energy = hl_energy_figures(figures->energy, &count);
    for (int i = 0; i < count && runs > 0; i++)
        hl_info(HL_TFLITE, NULL, "Energy of %s (%s): %g J per inference, %g W on average", energy[i].device,
                energy[i].source, energy[i].joules / runs, energy[i].watts);
    struct hl_text reasons = {0};
    hl_energy_add_reasons(figures->energy, &reasons);
    if (reasons.length > 0) hl_warn(HL_TFLITE, NULL, "Energy that is not counted: %s", reasons.data);
    hl_text_free(&reasons);
}

// A block behind the operators' in the CSV file; nothing where nothing was counted.
static void add_energy_rows(const struct hl_benchmark_figures *figures, struct hl_text *text)
{
    int count = 0, runs = figures->run_us.count;
    const struct hl_energy_figure *energy = figures->energy ? hl_energy_figures(figures->energy, &count) : NULL;
    if (count == 0 || runs == 0) return;
    hl_text_add(text, "============================== Energy ==============================\n"
                      "source, device, joules per inference, mean watts\n");
    for (int i = 0; i < count; i++) {
        hl_text_add(text, "%s, ", energy[i].source);
        hl_text_add_escaped(text, energy[i].device, strcspn(energy[i].device, ","));
        hl_text_add(text, ", %g, %g\n", energy[i].joules / runs, energy[i].watts);
    }
}

// ---- runs ---------------------------------------------------------------------------------------

static bool run_once(struct benchmark *benchmark, struct hl_profile *profile, double *microseconds)
{
    if (!hl_benchmark_inputs_write(&benchmark->inputs, &benchmark->graph)) return false;
    if (profile != NULL) hl_profile_begin_run(profile);
    double start = hl_seconds();
    TfLiteStatus status = hl_graph_invoke(&benchmark->graph);
    *microseconds = floor(1e6 * (hl_seconds() - start));
    if (profile != NULL) hl_profile_end_run(profile);
    if (status != kTfLiteOk) hl_model_file_failed(&benchmark->file, "Failed to invoke!");
    return status == kTfLiteOk;
}

// At least `runs` and `least` seconds, until `most` seconds have gone.
static bool run_series(struct benchmark *benchmark, int runs, double least, struct hl_profile *profile,
                       struct hl_series *series)
{
    const struct hl_benchmark_options *options = benchmark->options;
    double most = options->max_secs, start = hl_seconds(), microseconds;
    hl_info(
        HL_TFLITE, NULL,
        "Running benchmark for at least %d iterations and at least %g seconds but terminate if exceeding %g seconds.",
        runs, least, most);
    for (int i = 0; !options->dry_run; i++) {
        double gone = hl_seconds() - start;
        if ((i >= runs && gone >= least) || gone > most) break;
        if (!run_once(benchmark, profile, &microseconds)) return false;
        hl_series_add(series, microseconds);
        if (options->run_frequency > 0)
            hl_sleep(start + (i + 1) / options->run_frequency - hl_seconds());
        else
            hl_sleep(options->run_delay);
    }
    struct hl_text text = {0};
    hl_series_print(series, true, &text);
    hl_info(HL_TFLITE, NULL, "%s", text.data);
    putchar('\n'); // as the original does
    hl_text_free(&text);
    return true;
}

static bool write_profile(const struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    const char *old = options->profiling_output_csv_file, *path = options->op_profiling_output_file;
    bool csv = *old != '\0' || strcmp(options->op_profiling_output_mode, "csv") == 0;
    if (*old != '\0')
        path = old;
    else if (strcmp(options->op_profiling_output_mode, "proto") == 0)
        return hl_benchmark_write_profile(path, &benchmark->initialization, &benchmark->runs);
    struct hl_text text = {0}, run_text = {0};
    hl_profile_print(&benchmark->initialization, "Profiling Info for Benchmark Initialization:", csv, &text);
    hl_profile_print(&benchmark->runs, "Operator-wise Profiling Info for Regular Benchmark Runs:", csv, &run_text);
    bool ok = true;
    if (csv) add_energy_rows(benchmark->figures, &run_text);
    if (*path != '\0') {
        hl_text_add(&text, "%s", run_text.data);
        ok = hl_output_write(HL_TFLITE, path, text.data, text.length);
    } else {
        printf("INFO: %sINFO: %s", text.data, run_text.data);
    }
    hl_text_free(&text);
    hl_text_free(&run_text);
    return ok;
}

static void report_memory(const struct benchmark *benchmark)
{
    hl_info(
        HL_TFLITE, NULL,
        "Note: as the benchmark tool itself affects memory footprint, the following is only APPROXIMATE to the actual "
        "memory footprint of the model at runtime. Take the information at your discretion.");
    hl_info(HL_TFLITE, NULL, "Memory footprint delta from the start of the tool (MB): init=%g overall=%g",
            benchmark->figures->memory_init, benchmark->figures->memory_overall);
}

static void report_peak(double most)
{
    struct hl_text text = {0};
    hl_info(HL_TFLITE, NULL, "Overall peak memory footprint (MB) via periodic monitoring: %g", most);
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
    struct hl_state_widths widths = {options->tensor_name_display_length, options->tensor_type_display_length,
                                     options->alloc_type_display_length};
    struct hl_text text = {0};
    hl_state_print(&benchmark->file, widths, &text);
    printf("INFO: \n====Printing out TfLite interpreter %s-invoke state begins====\n%s"
           "INFO: ====Printing out TfLite interpreter %s-invoke state ends====\n\n",
           when, text.data, when);
    hl_text_free(&text);
}

static bool write_result(const struct benchmark *benchmark)
{
    const char *path = benchmark->options->result_file_path;
    if (*path == '\0' || benchmark->options->dry_run) return true;
    hl_info(HL_TFLITE, NULL, "Saving benchmark result to: %s", path);
    if (!hl_benchmark_write_result(path, benchmark->options->benchmark_name, benchmark->figures)) return false;
    hl_info(HL_TFLITE, NULL, "Saved benchmark result to: %s", path);
    return true;
}

// What the runs have shown, in the original's order: times, memory, operators, state, files.
static bool report(const struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    const struct hl_benchmark_figures *figures = benchmark->figures;
    struct hl_series_figures warmup = hl_series_figures(&figures->warmup_us),
                             runs = hl_series_figures(&figures->run_us);
    if (!options->dry_run)
        hl_info(HL_TFLITE, NULL,
                "Inference timings in us: Init: %.0f, First inference: %.0f, Warmup (avg): %g, Inference (avg): %g",
                figures->init_us, figures->warmup_us.count > 0 ? warmup.first : runs.first, warmup.average,
                runs.average);
    if (figures->energy != NULL && !options->dry_run) report_energy(figures);
    report_memory(benchmark);
    if (options->report_peak_memory_footprint) report_peak(figures->memory_peak);
    if (options->enable_op_profiling && !options->dry_run && !write_profile(benchmark)) return false;
    if (options->print_postinvoke_state) print_state(benchmark, "post");
    return write_result(benchmark) && (options->dry_run || hl_benchmark_write_outputs(&benchmark->graph, options));
}

static bool measure(struct benchmark *benchmark)
{
    const struct hl_benchmark_options *options = benchmark->options;
    struct hl_benchmark_figures *figures = benchmark->figures;
    benchmark->memory_at_start = hl_memory_most();
    if (!initialize(benchmark)) return false;
    figures->memory_init = hl_memory_most() - benchmark->memory_at_start;
    if (options->print_preinvoke_state) print_state(benchmark, "pre");
    const char *runtime = options->model_runtime_info_output_file;
    if (*runtime != '\0') {
        if (!hl_benchmark_write_runtime(runtime, &benchmark->file)) return false;
        hl_info(HL_TFLITE, NULL, "Generated model runtime info: %s", runtime);
    }
    if (!run_series(benchmark, options->warmup_runs, options->warmup_min_secs, NULL, &figures->warmup_us)) return false;
    if (options->report_energy) {
        figures->energy = hl_energy_open();
        hl_energy_start(figures->energy);
    }
    bool ok = run_series(benchmark, options->num_runs, options->min_secs,
                         options->enable_op_profiling ? &benchmark->runs : NULL, &figures->run_us);
    if (options->report_energy) hl_energy_stop(figures->energy);
    if (!ok) return false;
    figures->memory_overall = hl_memory_most() - benchmark->memory_at_start;
    return true;
}

// The time between two looks at the memory in use; the original's own where that given makes no sense.
static int interval(const struct hl_benchmark_options *options)
{
    enum { DEFAULT_MS = 50 };
    int given = options->memory_footprint_check_interval_ms;
    if (given > 0) return given;
    hl_warn(HL_TFLITE, NULL,
            "--memory_footprint_check_interval_ms is set to %d (ms), This value is invalid, and it will be "
            "set to the default value %d (ms).",
            given, DEFAULT_MS);
    return DEFAULT_MS;
}

void hl_benchmark_figures_free(struct hl_benchmark_figures *figures)
{
    hl_series_free(&figures->warmup_us);
    hl_series_free(&figures->run_us);
    hl_energy_close(figures->energy);
}

bool hl_benchmark_run(const struct hl_command *command, const struct hl_benchmark_options *options,
                      struct hl_benchmark_figures *figures)
{
    struct benchmark benchmark = {.command = command, .options = options, .figures = figures};
    struct hl_memory_watch watch;
    benchmark.graph.file = &benchmark.file;
    bool watched = options->report_peak_memory_footprint, ok = hl_benchmark_check(options);
    int interval_ms = watched && ok ? interval(options) : 0;
    if (ok) {
        log_flags(command, options);
        if (watched) hl_memory_watch_start(&watch, interval_ms);
        ok = measure(&benchmark);
        if (watched) figures->memory_peak = hl_memory_watch_stop(&watch);
        ok = ok && report(&benchmark);
    }
    if (!ok && !options->list_signatures) hl_error(HL_TFLITE, NULL, "Benchmarking failed.");
    hl_graph_close(&benchmark.graph);
    hl_model_file_close(&benchmark.file);
    hl_delegates_free(&benchmark.delegates);
    hl_benchmark_inputs_free(&benchmark.inputs);
    hl_profile_free(&benchmark.initialization);
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
    HL_TFLITE_TABLES(flags, defaults, struct hl_benchmark_options, positions),
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_ENERGY,
    .run = run,
};
