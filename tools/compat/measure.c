// SPDX-License-Identifier: Apache-2.0
// See measure.h.
#include "compat/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "progress.h"
#include "run_graph.h"
#include "table.h"
#include "values.h"

// All outputs of a run, as reals.
struct outputs {
    int64_t count;
    double *values, *scales; // scales: what a difference is measured by, see scale_of
};

// Integers of 8 and 16 bits are quantized: their whole range. Others: the output's largest value.
static double scale_of(TfLiteType type, const struct hl_values_summary *summary)
{
    struct hl_element_type how = hl_element_type(type);
    bool integer = how.view == HL_ELEMENT_SIGNED || how.view == HL_ELEMENT_UNSIGNED;
    return integer && how.bits <= 16 ? ldexp(1, how.bits) - 1 : fmax(fabs(summary->min), fabs(summary->max));
}

static void take_outputs(struct outputs *outputs, const struct hl_graph *graph)
{
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *tensor = hl_graph_output(graph, i);
        struct hl_values_summary summary =
            hl_values_summarize(TfLiteTensorType(tensor), TfLiteTensorData(tensor), hl_model_elements(tensor));
        size_t more = (size_t)(outputs->count + summary.count);
        outputs->values = hl_alloc_grow(outputs->values, more, sizeof *outputs->values);
        outputs->scales = hl_alloc_grow(outputs->scales, more, sizeof *outputs->scales);
        for (int64_t n = 0; n < summary.count; n++) {
            outputs->values[outputs->count] = hl_values_at(TfLiteTensorType(tensor), TfLiteTensorData(tensor), n);
            outputs->scales[outputs->count++] = scale_of(TfLiteTensorType(tensor), &summary);
        }
    }
}

static double difference_of(const struct outputs *a, const struct outputs *b)
{
    double most = 0;
    if (a->count != b->count) return INFINITY;
    for (int64_t i = 0; i < a->count; i++) {
        double x = a->values[i], y = b->values[i];
        if (x == y || (isnan(x) && isnan(y))) continue;
        double difference = fabs(x - y) / a->scales[i];
        if (!(difference <= most)) most = isnan(difference) ? INFINITY : difference;
    }
    return most;
}

static bool run_once(struct hl_compat_time *time, struct outputs *outputs, const char *model,
                     const struct hl_model_options *options, int runs, struct hl_progress *progress)
{
    struct hl_model_file file;
    struct hl_graph graph = {.file = &file};
    int before = progress->done;
    bool ok = hl_model_file_open(&file, "compat", model) && hl_model_file_start(&file, options) &&
              hl_graph_open(&graph, NULL) && hl_graph_allocate(&graph);
    for (int i = 0; ok && i < graph.input_count; i++) ok = hl_graph_fill_random(&graph, i, 1 + (uint64_t)i);
    time->seconds = ok ? hl_graph_time(&graph, runs, progress) : -1;
    if (time->seconds >= 0) take_outputs(outputs, &graph);
    progress->done = before + 1 + runs; // where it failed as well
    hl_graph_close(&graph);
    hl_model_file_close(&file);
    return time->seconds >= 0;
}

// One device in one precision with so many parts of the graph.
static void measure_on(struct hl_compat_times *times, const struct hl_compat_plan *plan,
                       const struct outputs *reference, struct hl_model_options options, struct hl_progress *progress)
{
    struct hl_compat_time *time = &times->items[times->count++];
    struct outputs outputs = {0};
    const char *precision = hl_model_precisions[options.precision];
    int length = snprintf(time->name, sizeof time->name, "%s/%s", options.device, precision);
    hl_text_add(&time->flags, "--device %s --precision %s", options.device, precision);
    if (options.partitions > 1 && length > 0 && length < (int)sizeof time->name) {
        snprintf(time->name + length, sizeof time->name - (size_t)length, ", %d parts", options.partitions);
        hl_text_add(&time->flags, " --partitions %d", options.partitions);
    }
    time->partitions = options.partitions;
    progress->word = time->name;
    if (run_once(time, &outputs, plan->model, &options, plan->runs, progress))
        time->difference = difference_of(reference, &outputs);
    free(outputs.values);
    free(outputs.scales);
}

bool hl_compat_measure(struct hl_compat_times *times, const struct hl_compat_plan *plan)
{
    // f16 is not measured: no kernel computes with halves, so it is as f16s (docs/accuracy.md).
    enum { F32, F16S, PRECISIONS };
    const int parts[] = {1, 2, plan->partitions};
    int choices = plan->partitions > 2 ? 3 : plan->partitions > 1 ? 2 : 1;
    int settings = 1 + plan->count * PRECISIONS * choices;
    times->items = hl_alloc((size_t)settings, sizeof *times->items);
    struct outputs reference = {0};
    struct hl_compat_time *cpu = &times->items[times->count++];
    struct hl_progress progress;
    strcpy(cpu->name, "CPU");
    hl_text_add(&cpu->flags, "the CPU");
    hl_progress_start(&progress, cpu->name, 0, settings * (1 + plan->runs));
    bool ok = run_once(cpu, &reference, plan->model, &(struct hl_model_options){.threads = -1}, plan->runs, &progress);
    struct hl_model_options options = {.threads = -1, .gpu = true};
    for (int d = 0; ok && d < plan->count; d++)
        for (int p = F32; p < PRECISIONS; p++)
            for (int c = 0; c < choices; c++) {
                options.device = plan->devices[d];
                options.precision = p;
                options.partitions = parts[c];
                measure_on(times, plan, &reference, options, &progress);
            }
    hl_progress_end(&progress);
    free(reference.values);
    free(reference.scales);
    return ok;
}

void hl_compat_times_free(struct hl_compat_times *times)
{
    for (int i = 0; i < times->count; i++) hl_text_free(&times->items[i].flags);
    free(times->items);
    *times = (struct hl_compat_times){0};
}

int hl_compat_best(const struct hl_compat_times *times, double bound)
{
    int best = -1;
    for (int i = 0; i < times->count; i++) {
        const struct hl_compat_time *time = &times->items[i];
        if (time->seconds < 0 || !(time->difference <= bound)) continue;
        if (best < 0 || time->seconds < times->items[best].seconds) best = i;
    }
    return best;
}

void hl_compat_print(const struct hl_compat_times *times, double bound)
{
    struct hl_table table;
    hl_table_start(&table, "lrrl");
    hl_table_add(&table, "setting");
    hl_table_add(&table, "a run");
    hl_table_add(&table, "difference");
    hl_table_add(&table, "%s", "");
    for (int i = 0; i < times->count; i++) {
        const struct hl_compat_time *time = &times->items[i];
        char text[32];
        bool runs = time->seconds >= 0;
        if (runs) hl_format_seconds(text, sizeof text, time->seconds);
        hl_table_add(&table, "%s", time->name);
        hl_table_add(&table, "%s", runs ? text : "fails");
        if (runs)
            hl_table_add(&table, "%.2g", time->difference);
        else
            hl_table_add(&table, "%s", "");
        hl_table_add(&table, "%s", !runs || time->difference <= bound ? "" : "beyond the bound");
    }
    printf("\n");
    hl_table_print(&table, 0, stdout);
}
