// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes: by operator, as the runtime times its nodes, and by kernel, as the GPU's clock does.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench/bench.h"
#include "bench/peak.h"
#include "json.h"
#include "node_work.h"
#include "table.h"

// One operator in one place, or one kernel for one operator.
struct group {
    const char *name, *detail; // operator and place; kernel and operator
    int count;                 // nodes, dispatches
    double seconds;            // of one run
    double multiply_adds;      // likewise
    double least;              // seconds that these take at the processor's peak; NAN: not known
};

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    int name = strcmp(x->name, y->name);
    return name != 0 ? name : strcmp(x->detail, y->detail);
}

static struct group *add_to_group(struct group *groups, int *used, const char *name, const char *detail, double seconds)
{
    int i = 0;
    while (i < *used && (strcmp(groups[i].name, name) != 0 || strcmp(groups[i].detail, detail) != 0)) i++;
    if (i == *used) groups[(*used)++] = (struct group){.name = name, .detail = detail};
    groups[i].count++;
    groups[i].seconds += seconds;
    return &groups[i];
}

// The multiply-adds of a node of the file.
struct work {
    double multiply_adds; // 0 for what a delegate runs
    double least;         // as in a group
};

// By what flows in and the weights: the first two inputs that are no shape of an output.
static enum hl_peak_type type_of(const struct hl_model_subgraph *subgraph, const struct hl_model_node *node)
{
    enum hl_peak_type type = HL_PEAK_TYPES;
    for (int i = 0, seen = 0; i < node->input_count && seen < 2; i++) {
        if (node->inputs[i] < 0 || subgraph->tensors[node->inputs[i]].type == kTfLiteInt32) continue;
        seen++;
        switch (subgraph->tensors[node->inputs[i]].type) {
        case kTfLiteFloat32:
        case kTfLiteFloat16:
            if (type != HL_PEAK_BYTES) type = HL_PEAK_FLOATS;
            break;
        case kTfLiteInt8:
        case kTfLiteUInt8:
        case kTfLiteInt4: type = HL_PEAK_BYTES; break; // beside floats, too: those become bytes first
        default: return HL_PEAK_TYPES;
        }
    }
    return type;
}

// The main graph with the shapes that its tensors have until the next run, in place of those of the file; its tensors
// are to be freed.
static struct hl_model_subgraph as_it_runs(const struct hl_graph *graph)
{
    struct hl_model_subgraph now = graph->file->model->subgraphs[0];
    struct hl_model_tensor *tensors = hl_alloc((size_t)now.tensor_count, sizeof *tensors);
    for (int i = 0; i < now.tensor_count; i++) {
        const TfLiteTensor *tensor = HaliteInterpreterGetSubgraphTensor(graph->file->interpreter, 0, i);
        tensors[i] = now.tensors[i];
        if (!tensor || !tensor->dims) continue;
        tensors[i].rank = tensor->dims->size;
        tensors[i].dims = tensor->dims->data;
    }
    now.tensors = tensors;
    return now;
}

static struct work work_of(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                           const HaliteNodeReport *report, const double *peaks)
{
    if (report->replaced_nodes > 0 || report->node >= subgraph->node_count) return (struct work){0};
    const struct hl_model_node *node = &subgraph->nodes[report->node];
    const enum hl_peak_type type = type_of(subgraph, node);
    struct work work = {.multiply_adds = hl_node_work(model, subgraph, node).multiply_adds};
    const double peak = type < HL_PEAK_TYPES ? peaks[type] : 0;
    if (work.multiply_adds > 0) work.least = peak > 0 ? work.multiply_adds / peak : (double)NAN;
    return work;
}

// The names of a list's members: what is grouped, its detail, what is counted.
struct words {
    const char *list, *name, *detail, *count;
};
static const struct words operators = {"operators", "operator", "where", "nodes"},
                          kernels = {"gpu_kernels", "kernel", "operator", "dispatches"};

static void add_groups(cJSON *row, const struct words *words, struct group *groups, int used)
{
    qsort(groups, (size_t)used, sizeof *groups, compare_groups);
    cJSON *list = cJSON_AddArrayToObject(row, words->list);
    for (int i = 0; i < used; i++) {
        cJSON *item = cJSON_CreateObject();
        hl_json_add_string(item, words->name, groups[i].name);
        hl_json_add_string(item, words->detail, groups[i].detail);
        cJSON_AddNumberToObject(item, words->count, groups[i].count);
        cJSON_AddNumberToObject(item, "seconds", groups[i].seconds);
        cJSON_AddNumberToObject(item, "multiply_adds", groups[i].multiply_adds);
        if (groups[i].least > 0) cJSON_AddNumberToObject(item, "least_seconds", groups[i].least);
        cJSON_AddItemToArray(list, item);
    }
}

// Measures the peaks where the CPU multiplies at all; else they are 0.
static void add_peaks(cJSON *row, const struct hl_graph *graph, const struct hl_model_subgraph *subgraph,
                      double peaks[HL_PEAK_TYPES])
{
    static const char *const names[HL_PEAK_TYPES] = {"peak_float_multiply_adds", "peak_byte_multiply_adds"};
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    bool multiplies = false;
    memset(peaks, 0, HL_PEAK_TYPES * sizeof *peaks);
    for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter) && !multiplies; i++) {
        HaliteNodeReport node;
        multiplies = HaliteInterpreterGetNodeReport(interpreter, i, &node) == kTfLiteOk &&
                     work_of(graph->file->model, subgraph, &node, peaks).multiply_adds > 0;
    }
    if (multiplies) hl_peak_measure((int)hl_bench_number(row, "threads"), peaks);
    for (int i = 0; i < HL_PEAK_TYPES; i++)
        if (peaks[i] > 0) cJSON_AddNumberToObject(row, names[i], peaks[i]);
}

static bool add_operators(cJSON *row, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    HaliteInterpreterSetProfiling(interpreter, true);
    bool ok = hl_graph_repeat(graph, runs, NULL, progress);
    HaliteInterpreterSetProfiling(interpreter, false);
    double peaks[HL_PEAK_TYPES];
    const struct hl_model_subgraph subgraph = as_it_runs(graph);
    add_peaks(row, graph, &subgraph, peaks);
    int node_count = ok ? HaliteInterpreterGetNodeCount(interpreter) : 0, used = 0;
    struct group *groups = hl_alloc((size_t)node_count, sizeof *groups);
    struct group **group_of = hl_alloc((size_t)node_count, sizeof *group_of);
    HaliteNodeReport node;
    for (int i = 0; i < node_count; i++)
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) == kTfLiteOk)
            group_of[i] = add_to_group(groups, &used, node.op, node.where, 1e-9 * (double)node.nanoseconds / runs);
    for (int i = 0; i < node_count; i++) {
        const int at = HaliteInterpreterGetNodeRunBy(interpreter, i);
        if (at < 0 || HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk) continue;
        const struct work work = work_of(graph->file->model, &subgraph, &node, peaks);
        group_of[at]->multiply_adds += work.multiply_adds;
        group_of[at]->least += work.least;
    }
    if (ok) add_groups(row, &operators, groups, used);
    free(group_of);
    free(groups);
    free((void *)subgraph.tensors);
    return ok;
}

// A node's multiply-adds count for the first of its kernels. What was fused into it from other nodes counts for none.
static void add_report(cJSON *row, const struct hl_gpu_library *gpu, const HaliteDelegateReport *report,
                       const struct hl_graph *graph)
{
    const struct hl_model_subgraph now = as_it_runs(graph), *subgraph = &now;
    int count = gpu->HaliteDelegateReportGetKernelCount(report), used = 0;
    struct group *groups = hl_alloc((size_t)count, sizeof *groups);
    bool *counted = hl_alloc((size_t)subgraph->node_count, sizeof *counted);
    for (int i = 0; i < count; i++) {
        const HaliteDelegateKernel *kernel = gpu->HaliteDelegateReportGetKernel(report, i);
        double seconds = kernel->runs > 0 ? 1e-9 * (double)kernel->nanoseconds / (double)kernel->runs : 0;
        struct group *group = add_to_group(groups, &used, kernel->kernel, kernel->op, seconds);
        const int node = kernel->node;
        if (kernel->graph > 0 || node < 0 || node >= subgraph->node_count || counted[node]) continue;
        counted[node] = true;
        group->multiply_adds += hl_node_work(graph->file->model, subgraph, &subgraph->nodes[node]).multiply_adds;
    }
    free(counted);
    free((void *)now.tensors);
    if (count > 0) {
        const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
        hl_json_add_string(row, "kernel_clock", device->name);
        add_groups(row, &kernels, groups, used);
    }
    free(groups);
}

// What a partition does, which is one node to the runtime.
static bool add_kernels(cJSON *row, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    const struct hl_gpu_library *gpu = &graph->file->gpu;
    TfLiteDelegate *delegate = graph->file->delegate;
    if (gpu->handle == NULL) return true;
    uint64_t copied = gpu->HaliteDelegateGetCopiedBytes(delegate),
             carried = gpu->HaliteDelegateGetCarriedBytes(delegate);
    gpu->HaliteDelegateSetProfiling(delegate, true, NULL);
    bool ok = hl_graph_repeat(graph, runs, NULL, progress);
    gpu->HaliteDelegateSetProfiling(delegate, false, NULL);
    if (!ok) return false;
    copied = gpu->HaliteDelegateGetCopiedBytes(delegate) - copied;
    carried = gpu->HaliteDelegateGetCarriedBytes(delegate) - carried;
    cJSON_AddNumberToObject(row, "copied_bytes", (double)copied / runs);
    cJSON_AddNumberToObject(row, "carried_bytes", (double)carried / runs);
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(delegate));
    add_report(row, gpu, report, graph);
    gpu->HaliteDelegateReportDelete(report);
    return true;
}

bool hl_bench_add_operators(cJSON *row, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    const char *before = progress->word;
    hl_progress_word(progress, "timing operators");
    bool ok = add_operators(row, graph, runs, progress) && add_kernels(row, graph, runs, progress);
    hl_progress_word(progress, before);
    return ok;
}

// ---- showing ------------------------------------------------------------------------------------

static double sum_of(const cJSON *list, const char *name)
{
    double sum = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) sum += hl_bench_number(item, name);
    return sum;
}

static void add_row(struct hl_table *table, const struct words *words, const cJSON *item, double total)
{
    char text[32];
    double seconds = hl_bench_number(item, "seconds");
    hl_format_seconds(text, sizeof text, seconds);
    hl_table_add_name(table, hl_bench_string(item, words->name));
    if (words == &kernels) hl_table_add_name(table, hl_bench_string(item, words->detail));
    hl_table_add(table, "%.0f", hl_bench_number(item, words->count));
    hl_table_add(table, "%s", text);
    hl_table_add(table, "%.1f %%", total > 0 ? 100 * seconds / total : 0.0);
    const double work = hl_bench_number(item, "multiply_adds");
    text[0] = '\0';
    if (work > 0 && seconds > 0) snprintf(text, sizeof text, "%.1f", 1e-9 * work / seconds);
    hl_table_add(table, "%s", text);
    if (words == &kernels) return;
    const double least = hl_bench_number(item, "least_seconds");
    text[0] = '\0';
    if (least > 0 && seconds > 0) snprintf(text, sizeof text, "%.0f %%", 100 * least / seconds);
    hl_table_add(table, "%s", text);
    hl_table_add_name(table, hl_bench_string(item, words->detail));
}

static void print_groups(const cJSON *list, const struct words *words)
{
    static const char *const of_operators[] = {"operator", "nodes",   "a run", "share",
                                               "GMAC/s",   "of peak", "where", NULL},
                             *const of_kernels[] = {"kernel", "operator", "dispatches", "a run",
                                                    "share",  "GMAC/s",   NULL};
    const char *const *titles = words == &kernels ? of_kernels : of_operators;
    double total = sum_of(list, "seconds");
    const cJSON *item;
    struct hl_table table;
    hl_table_start(&table, words == &kernels ? "llrrrr" : "lrrrrrl");
    for (int i = 0; titles[i]; i++) hl_table_add(&table, "%s", titles[i]);
    cJSON_ArrayForEach(item, list) add_row(&table, words, item, total);
    if (words == &kernels) {
        cJSON *sum = cJSON_CreateObject();
        cJSON_AddStringToObject(sum, words->name, "total");
        cJSON_AddNumberToObject(sum, words->count, sum_of(list, words->count));
        cJSON_AddNumberToObject(sum, "seconds", total);
        cJSON_AddNumberToObject(sum, "multiply_adds", sum_of(list, "multiply_adds"));
        add_row(&table, words, sum, total);
        hl_table_print(&table, 2, stdout);
        cJSON_Delete(sum);
        return;
    }
    hl_table_print(&table, 2, stdout);
}

static void print_peaks(const cJSON *row)
{
    const double floats = hl_bench_number(row, "peak_float_multiply_adds"),
                 bytes = hl_bench_number(row, "peak_byte_multiply_adds"), threads = hl_bench_number(row, "threads");
    if (!(floats > 0) || !(bytes > 0) || !(sum_of(cJSON_GetObjectItem(row, operators.list), "multiply_adds") > 0))
        return;
    printf("  peak, measured: %.0f GMAC/s of floats, %.0f of bytes, with %.0f thread%s\n", 1e-9 * floats, 1e-9 * bytes,
           threads > 1 ? threads : 1.0, threads > 1 ? "s" : "");
}

void hl_bench_print_operators(const cJSON *row)
{
    if (!cJSON_HasObjectItem(row, operators.list)) return;
    printf("\n");
    print_groups(cJSON_GetObjectItem(row, operators.list), &operators);
    print_peaks(row);
    if (!cJSON_HasObjectItem(row, kernels.list)) return;
    struct hl_text line = {0};
    const char *name = hl_bench_string(row, "device_name"), *clock = hl_bench_string(row, "kernel_clock");
    hl_text_add(&line, "\nkernels on %s, ", clock);
    hl_text_add_escaped(&line, name, strlen(name));
    printf("%s, by its clock\n", line.data);
    hl_text_free(&line);
    print_groups(cJSON_GetObjectItem(row, kernels.list), &kernels);
    printf("  copied between host and device: %.0f bytes a run, %.0f of them by the CPU\n",
           hl_bench_number(row, "copied_bytes"), hl_bench_number(row, "carried_bytes"));
}
