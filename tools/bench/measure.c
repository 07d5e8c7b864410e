// SPDX-License-Identifier: Apache-2.0
// One row: opens a model anew, and takes the time until it is ready, the first run, the runs to warm up, the timed
// runs, memory, and energy where that is asked for.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "base/process.h"
#include "bench/bench.h"
#include "bench/statistics.h"
#include "benchmark/memory.h"
#include "energy/energy.h"
#include "json.h"

double hl_bench_number(const cJSON *row, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

const char *hl_bench_string(const cJSON *row, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

int hl_bench_steps(const struct hl_bench_setup *setup)
{
    int rounds = !setup->per_op ? 1 : hl_model_options_gpu(&setup->model) ? 3 : 2;
    return setup->warmup + rounds * setup->runs;
}

// ---- energy -------------------------------------------------------------------------------------

static void add_energy(cJSON *row, const struct hl_energy *energy, int runs)
{
    int count;
    const struct hl_energy_figure *figures = hl_energy_figures(energy, &count);
    cJSON *list = cJSON_AddArrayToObject(row, "energy");
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, "device", figures[i].device);
        hl_json_add_string(item, "source", figures[i].source);
        cJSON_AddNumberToObject(item, "joules", figures[i].joules / runs);
        cJSON_AddNumberToObject(item, "watts", figures[i].watts);
        cJSON_AddItemToArray(list, item);
    }
    // A CPU's package and the card below it are devices of their own: a row's one figure is that of the first.
    if (count > 0) cJSON_AddNumberToObject(row, "joules", figures[0].joules / runs);
    struct hl_text reasons = {0};
    hl_energy_add_reasons(energy, &reasons);
    hl_json_add_string(row, "energy_not_counted", hl_text_string(&reasons));
    hl_text_free(&reasons);
}

// ---- runs ---------------------------------------------------------------------------------------

static void add_times(cJSON *row, const double *seconds, int runs)
{
    struct hl_statistics figures = hl_statistics_of(seconds, runs);
    cJSON_AddNumberToObject(row, "mean_s", figures.mean);
    cJSON_AddNumberToObject(row, "deviation_s", figures.deviation);
    cJSON_AddNumberToObject(row, "min_s", figures.min);
    cJSON_AddNumberToObject(row, "p50_s", figures.p50);
    cJSON_AddNumberToObject(row, "p90_s", figures.p90);
    cJSON_AddNumberToObject(row, "p99_s", figures.p99);
    cJSON_AddNumberToObject(row, "max_s", figures.max);
    int kept = runs < HL_BENCH_MAX_SAMPLES ? runs : HL_BENCH_MAX_SAMPLES;
    double *samples = hl_alloc((size_t)kept, sizeof *samples);
    for (int i = 0; i < kept; i++) samples[i] = seconds[(int64_t)i * runs / kept];
    cJSON_AddItemToObject(row, "samples_s", cJSON_CreateDoubleArray(samples, kept));
    free(samples);
}

// The timed runs, and what they cost.
static bool add_runs(cJSON *row, struct hl_graph *graph, const struct hl_bench_setup *setup,
                     struct hl_progress *progress)
{
    double *seconds = hl_alloc((size_t)setup->runs, sizeof *seconds);
    struct hl_energy *energy = setup->energy ? hl_energy_open() : NULL;
    if (energy != NULL) hl_energy_start(energy);
    bool ok = hl_graph_repeat(graph, setup->runs, seconds, progress);
    if (energy != NULL) hl_energy_stop(energy);
    if (ok) {
        if (setup->warmup == 0) cJSON_AddNumberToObject(row, "first_run_s", seconds[0]);
        add_times(row, seconds, setup->runs);
    }
    if (ok && energy != NULL) add_energy(row, energy, setup->runs);
    hl_energy_close(energy);
    free(seconds);
    return ok;
}

// ---- the way there ------------------------------------------------------------------------------

static void add_placement(cJSON *row, const struct hl_model_file *file, const struct hl_bench_setup *setup)
{
    struct hl_text placement = {0};
    hl_model_file_placement(file, &placement);
    hl_json_add_string(row, "placement", hl_text_string(&placement));
    hl_text_free(&placement);
    const char *precision = setup->model.delegate != NULL ? "" : "f32", *name = "";
    if (file->gpu.handle != NULL) {
        const struct hl_gpu_library *gpu = &file->gpu;
        HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(file->delegate));
        const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
        precision = hl_model_precisions[gpu->HaliteDelegateReportGetPrecision(report) - kHaliteGpuPrecisionF32];
        if (device != NULL) name = device->description;
        hl_json_add_string(row, "device_name", name);
        gpu->HaliteDelegateReportDelete(report);
    }
    cJSON_AddStringToObject(row, "precision_used", precision);
}

// Everything before the timed runs.
static bool make_ready(cJSON *row, struct hl_graph *graph, const struct hl_bench_setup *setup,
                       struct hl_progress *progress)
{
    double start = hl_seconds(), first = 0;
    if (!hl_model_file_open(graph->file, "bench", setup->model.model) ||
        !hl_model_file_start(graph->file, &setup->model) || !hl_graph_open(graph, NULL) || !hl_graph_allocate(graph))
        return false;
    cJSON_AddNumberToObject(row, "initialization_s", hl_seconds() - start);
    cJSON_AddNumberToObject(row, "model_bytes", (double)graph->file->model->file_size);
    add_placement(row, graph->file, setup);
    for (int i = 0; i < graph->input_count; i++)
        if (!hl_graph_fill_random(graph, i, 1 + (uint64_t)i)) return false;
    if (setup->warmup == 0) return true;
    if (!hl_graph_repeat(graph, 1, &first, progress) || !hl_graph_repeat(graph, setup->warmup - 1, NULL, progress))
        return false;
    cJSON_AddNumberToObject(row, "first_run_s", first);
    return true;
}

static double memory_now(void)
{
    struct hl_process_memory memory;
    return hl_process_memory(&memory) ? (double)(memory.anonymous + memory.file + memory.shared) : 0;
}

// Memory is watched until the timed runs begin, which the watching thread would disturb, and looked at behind them.
static bool measure(cJSON *row, struct hl_graph *graph, const struct hl_bench_setup *setup,
                    struct hl_progress *progress)
{
    struct hl_memory_watch watch;
    double before = memory_now();
    bool watched = hl_memory_watch_start(&watch, 5), ok = make_ready(row, graph, setup, progress);
    double peak = hl_memory_watch_stop(&watch) * (1 << 20);
    ok = ok && add_runs(row, graph, setup, progress);
    double after = memory_now();
    if (after > peak) peak = after;
    if (ok && watched && peak > 0) {
        cJSON_AddNumberToObject(row, "peak_memory_bytes", peak);
        cJSON_AddNumberToObject(row, "memory_bytes", peak > before ? peak - before : 0);
    }
    return ok && (!setup->per_op || hl_bench_add_operators(row, graph, setup->runs, progress));
}

cJSON *hl_bench_measure(const struct hl_bench_setup *setup, struct hl_progress *progress)
{
    cJSON *row = cJSON_CreateObject();
    const struct hl_model_options *model = &setup->model;
    bool gpu = hl_model_options_gpu(model);
    hl_json_add_string(row, "model", model->model);
    hl_json_add_string(row, "device", setup->device);
    cJSON_AddStringToObject(row, "precision", gpu ? hl_model_precisions[model->precision] : "");
    cJSON_AddStringToObject(row, "kernels", hl_model_kernels[model->kernels]);
    cJSON_AddNumberToObject(row, "threads", model->threads); // -1: the library's choice
    struct hl_model_file file = {0};
    struct hl_graph graph = {.file = &file};
    bool ok = measure(row, &graph, setup, progress);
    cJSON_AddBoolToObject(row, "ok", ok);
    hl_graph_close(&graph);
    hl_model_file_close(&file);
    return row;
}
