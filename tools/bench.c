// SPDX-License-Identifier: Apache-2.0
// halite bench: how fast is a model? In: a model; its inputs are made up. Out: times of whole runs, and of each
// operator.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "commands.h"
#include "energy/energy.h"
#include "message.h"
#include "run_graph.h"
#include "table.h"

struct options {
    struct hl_model_options model;
    int warmup, runs;
    bool per_op, energy;
};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .warmup = 3, .runs = 50};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 10000000,
     .offset = offsetof(struct options, runs), .help = "timed runs; default 50"},
    {.name = "warmup", .letter = 'w', .kind = HL_FLAG_INT, .value = "N", .min = 0, .max = 10000000,
     .offset = offsetof(struct options, warmup), .help = "runs before them, not timed; default 3"},
    {.name = "per-op", .letter = 'p', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, per_op),
     .help = "the share of each operator, and of each kernel on the\n"
             "GPU, from as many runs again"},
    {.name = "energy", .letter = 'e', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, energy),
     .help = "joules of a run as well, for each device of this machine\n"
             "that counts them, and why the others do not"},
    HL_MODEL_RUN_FLAGS(options, model),
};
// clang-format on

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// `runs` runs, each a step of the progress; seconds: of each, NULL: not wanted.
static bool invoke(struct hl_graph *graph, int runs, double *seconds, struct hl_progress *progress)
{
    for (int i = 0; i < runs; i++) {
        double start = hl_seconds();
        if (hl_graph_invoke(graph) != kTfLiteOk) {
            hl_model_file_failed(graph->file, "the run failed");
            return false;
        }
        if (seconds != NULL) seconds[i] = hl_seconds() - start;
        hl_progress_step(progress);
    }
    return true;
}

// The value that a share of all runs does not exceed.
static double percentile(const double *sorted, int count, double share)
{
    int at = (int)(share * count + 0.999999) - 1;
    return sorted[at < 0 ? 0 : at >= count ? count - 1 : at];
}

static void print_times(double *seconds, int runs)
{
    double sum = 0;
    for (int i = 0; i < runs; i++) sum += seconds[i];
    qsort(seconds, (size_t)runs, sizeof *seconds, compare_seconds);
    double median = runs % 2 ? seconds[runs / 2] : (seconds[runs / 2 - 1] + seconds[runs / 2]) / 2;
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"median", median},         {"min", seconds[0]},  {"p90", percentile(seconds, runs, 0.9)},
        {"max", seconds[runs - 1]}, {"mean", sum / runs},
    };
    struct hl_table table;
    hl_table_start(&table, "lr");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        hl_format_seconds(text, sizeof text, rows[i].value);
        hl_table_add(&table, "%s", rows[i].name);
        hl_table_add(&table, "%s", text);
    }
    hl_table_print(&table, 2, stdout);
}

// What was counted during the timed runs, and on one line what was not.
static void print_energy(const struct hl_energy *energy, int runs)
{
    int count;
    const struct hl_energy_figure *figures = hl_energy_figures(energy, &count);
    struct hl_table table;
    hl_table_start(&table, "lrrl");
    for (int i = 0; i < count; i++) {
        char joules[32], watts[32];
        hl_format_quantity(joules, sizeof joules, figures[i].joules / runs, "J");
        hl_format_quantity(watts, sizeof watts, figures[i].watts, "W");
        hl_table_add_name(&table, figures[i].device);
        hl_table_add(&table, "%s", joules);
        hl_table_add(&table, "%s", watts);
        hl_table_add(&table, "%s", figures[i].source);
    }
    if (count > 0) printf("\nenergy of a run, mean power, and the source that counts it\n");
    hl_table_print(&table, 2, stdout);
    struct hl_text reasons = {0}, line = {0};
    hl_energy_add_reasons(energy, &reasons);
    hl_text_add_escaped(&line, hl_text_string(&reasons), reasons.length);
    if (line.length > 0) printf("%senergy that is not counted: %s\n", count > 0 ? "" : "\n", line.data);
    hl_text_free(&reasons);
    hl_text_free(&line);
}

static bool time_runs(struct hl_graph *graph, const struct options *options)
{
    double *seconds = hl_alloc((size_t)options->runs, sizeof *seconds);
    struct hl_progress progress;
    hl_progress_start(&progress, "timing", 0, options->warmup + options->runs);
    struct hl_energy *energy = options->energy ? hl_energy_open() : NULL;
    bool ok = invoke(graph, options->warmup, NULL, &progress);
    if (energy != NULL) hl_energy_start(energy);
    ok = ok && invoke(graph, options->runs, seconds, &progress);
    if (energy != NULL) hl_energy_stop(energy);
    hl_progress_end(&progress);
    if (ok) print_times(seconds, options->runs);
    if (ok && energy != NULL) print_energy(energy, options->runs);
    hl_energy_close(energy);
    free(seconds);
    return ok;
}

// ---- per operator -------------------------------------------------------------------------------

struct op_time {
    const char *op, *where;
    int nodes;
    uint64_t nanoseconds;
};

static int compare_times(const void *a, const void *b)
{
    const struct op_time *x = a, *y = b;
    if (x->nanoseconds != y->nanoseconds) return x->nanoseconds < y->nanoseconds ? 1 : -1;
    return strcmp(x->op, y->op);
}

static void add_time(struct op_time *times, int *used, const HaliteNodeReport *node)
{
    int i = 0;
    while (i < *used && (strcmp(times[i].op, node->op) != 0 || strcmp(times[i].where, node->where) != 0)) i++;
    if (i == *used) times[(*used)++] = (struct op_time){.op = node->op, .where = node->where};
    times[i].nodes++;
    times[i].nanoseconds += node->nanoseconds;
}

static bool time_operators(struct hl_graph *graph, const struct options *options)
{
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    struct hl_progress progress;
    hl_progress_start(&progress, "timing operators", 0, options->runs);
    HaliteInterpreterSetProfiling(interpreter, true);
    bool ok = invoke(graph, options->runs, NULL, &progress);
    HaliteInterpreterSetProfiling(interpreter, false);
    hl_progress_end(&progress);
    if (!ok) return false;

    int node_count = HaliteInterpreterGetNodeCount(interpreter), used = 0;
    struct op_time *times = hl_alloc((size_t)node_count, sizeof *times);
    uint64_t total = 0;
    for (int i = 0; i < node_count; i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk) continue;
        add_time(times, &used, &node);
        total += node.nanoseconds;
    }
    qsort(times, (size_t)used, sizeof *times, compare_times);

    struct hl_table table;
    hl_table_start(&table, "lrrrl");
    hl_table_add(&table, "operator");
    hl_table_add(&table, "nodes");
    hl_table_add(&table, "a run");
    hl_table_add(&table, "share");
    hl_table_add(&table, "where");
    for (int i = 0; i < used; i++) {
        char text[32];
        hl_format_seconds(text, sizeof text, 1e-9 * (double)times[i].nanoseconds / options->runs);
        hl_table_add_name(&table, times[i].op);
        hl_table_add(&table, "%d", times[i].nodes);
        hl_table_add(&table, "%s", text);
        hl_table_add(&table, "%.1f %%", total > 0 ? 100.0 * (double)times[i].nanoseconds / (double)total : 0.0);
        hl_table_add_name(&table, times[i].where);
    }
    printf("\n");
    hl_table_print(&table, 2, stdout);
    free(times);
    return true;
}

// ---- per GPU kernel -----------------------------------------------------------------------------

struct kernel_time {
    const char *kernel, *op;
    int dispatches;
    double seconds; // of one run
};

static int compare_kernels(const void *a, const void *b)
{
    const struct kernel_time *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    int kernel = strcmp(x->kernel, y->kernel);
    return kernel != 0 ? kernel : strcmp(x->op, y->op);
}

static void add_kernel(struct kernel_time *times, int *used, const HaliteDelegateKernel *kernel)
{
    int i = 0;
    while (i < *used && (strcmp(times[i].kernel, kernel->kernel) != 0 || strcmp(times[i].op, kernel->op) != 0)) i++;
    if (i == *used) times[(*used)++] = (struct kernel_time){.kernel = kernel->kernel, .op = kernel->op};
    times[i].dispatches++;
    if (kernel->runs > 0) times[i].seconds += 1e-9 * (double)kernel->nanoseconds / (double)kernel->runs;
}

static void add_kernel_row(struct hl_table *table, const struct kernel_time *time, double total)
{
    char text[32];
    hl_format_seconds(text, sizeof text, time->seconds);
    hl_table_add(table, "%s", time->kernel);
    hl_table_add_name(table, time->op);
    hl_table_add(table, "%d", time->dispatches);
    hl_table_add(table, "%s", text);
    hl_table_add(table, "%.1f %%", total > 0 ? 100 * time->seconds / total : 0.0);
}

static void print_kernels(const struct hl_gpu_library *gpu, const HaliteDelegateReport *report)
{
    int count = gpu->HaliteDelegateReportGetKernelCount(report), used = 0;
    if (count == 0) return;
    struct kernel_time *times = hl_alloc((size_t)count, sizeof *times), total = {.kernel = "total", .op = ""};
    for (int i = 0; i < count; i++) add_kernel(times, &used, gpu->HaliteDelegateReportGetKernel(report, i));
    qsort(times, (size_t)used, sizeof *times, compare_kernels);
    for (int i = 0; i < used; i++) total.seconds += times[i].seconds;
    total.dispatches = count;
    const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
    printf("\nkernels on %s, %s, by its clock\n", device->name, device->description);
    static const char *const titles[] = {"kernel", "operator", "dispatches", "a run", "share"};
    struct hl_table table;
    hl_table_start(&table, "llrrr");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < used; i++) add_kernel_row(&table, &times[i], total.seconds);
    add_kernel_row(&table, &total, total.seconds);
    hl_table_print(&table, 2, stdout);
    free(times);
}

// What a partition does, which is one node to the runtime.
static bool time_kernels(struct hl_graph *graph, const struct options *options)
{
    const struct hl_gpu_library *gpu = &graph->file->gpu;
    TfLiteDelegate *delegate = graph->file->delegate;
    if (gpu->handle == NULL) return true;
    struct hl_progress progress;
    hl_progress_start(&progress, "timing kernels", 0, options->runs);
    gpu->HaliteDelegateSetProfiling(delegate, true, NULL);
    bool ok = invoke(graph, options->runs, NULL, &progress);
    gpu->HaliteDelegateSetProfiling(delegate, false, NULL);
    hl_progress_end(&progress);
    if (!ok) return false;
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(delegate));
    print_kernels(gpu, report);
    gpu->HaliteDelegateReportDelete(report);
    return true;
}

static bool bench(struct hl_graph *graph, const void *given)
{
    const struct options *options = given;
    if (!hl_graph_open(graph, NULL) || !hl_graph_allocate(graph)) return false;
    for (int i = 0; i < graph->input_count; i++)
        if (!hl_graph_fill_random(graph, i, 1 + (uint64_t)i)) return false;
    struct hl_text placement = {0};
    hl_model_file_placement(graph->file, &placement);
    printf("%d runs after %d to warm up\n%s", options->runs, options->warmup, placement.data);
    hl_text_free(&placement);
    return time_runs(graph, options) &&
           (!options->per_op || (time_operators(graph, options) && time_kernels(graph, options)));
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    return hl_graph_with("bench", &options->model, bench, options) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite bench model.tflite --per-op", "time it, and see which operators take the time"},
    {"halite bench model.tflite --energy --runs 1000", "what a run costs, from enough runs for the counters to move"},
    {"halite bench model.tflite --threads 4 --runs 200", "on four threads, two hundred times"},
    {"halite bench model.tflite --gpu --precision f16s --partitions 4",
     "on the GPU, large tensors as halves, in up to four parts"},
    {NULL, NULL},
};

const struct hl_command hl_command_bench = {
    .name = "bench",
    .summary = "Time a model, as a whole and operator by operator.",
    .details = "Inputs hold the random values of halite run.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_ENERGY,
    .run = run,
};
