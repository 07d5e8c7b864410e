// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes: by operator, as the runtime times its nodes, and by kernel, as the GPU's clock does.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench/bench.h"
#include "json.h"
#include "node_work.h"
#include "table.h"

// One operator in one place, or one kernel for one operator.
struct group {
    const char *name, *detail; // operator and place; kernel and operator
    int count;                 // nodes, dispatches
    double seconds;            // of one run
    double multiply_adds;      // likewise, of nodes on the CPU
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

// Multiply-adds of a node of the file; 0 for what a delegate runs.
static double work_of(const TfLiteModel *model, const HaliteNodeReport *node)
{
    const struct hl_model_subgraph *subgraph = &model->subgraphs[0];
    if (node->replaced_nodes > 0 || node->node >= subgraph->node_count) return 0;
    return hl_node_work(model, subgraph, &subgraph->nodes[node->node]).multiply_adds;
}

// Whether the node behind it computes this one of so many multiply-adds (docs/fast_kernels.md): its output has no
// memory, and it took less time than any processor takes for them.
static bool is_taken_over(const struct hl_graph *graph, const HaliteNodeReport *node, double multiply_adds)
{
    enum { MOST_OF_NANOSECOND = 4000 };
    if (multiply_adds == 0 || node->runs == 0) return false;
    const struct hl_model_node *of_file = &graph->file->model->subgraphs[0].nodes[node->node];
    const TfLiteTensor *output = HaliteInterpreterGetSubgraphTensor(graph->file->interpreter, 0, of_file->outputs[0]);
    return output && !TfLiteTensorData(output) &&
           (double)node->nanoseconds * MOST_OF_NANOSECOND < multiply_adds * (double)node->runs;
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
        if (words == &operators) cJSON_AddNumberToObject(item, "multiply_adds", groups[i].multiply_adds);
        cJSON_AddItemToArray(list, item);
    }
}

static bool add_operators(cJSON *row, struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    HaliteInterpreterSetProfiling(interpreter, true);
    bool ok = hl_graph_repeat(graph, runs, NULL, progress);
    HaliteInterpreterSetProfiling(interpreter, false);
    if (!ok) return false;
    int node_count = HaliteInterpreterGetNodeCount(interpreter), used = 0;
    struct group *groups = hl_alloc((size_t)node_count, sizeof *groups);
    double before = 0; // multiply-adds of nodes that the next one computes
    for (int i = 0; i < node_count; i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(interpreter, i, &node) != kTfLiteOk) continue;
        struct group *group = add_to_group(groups, &used, node.op, node.where, 1e-9 * (double)node.nanoseconds / runs);
        const double multiply_adds = work_of(graph->file->model, &node);
        if (is_taken_over(graph, &node, multiply_adds)) {
            before = multiply_adds;
        } else if (multiply_adds > 0) {
            group->multiply_adds += before + multiply_adds;
            before = 0;
        }
    }
    add_groups(row, &operators, groups, used);
    free(groups);
    return true;
}

static void add_report(cJSON *row, const struct hl_gpu_library *gpu, const HaliteDelegateReport *report)
{
    int count = gpu->HaliteDelegateReportGetKernelCount(report), used = 0;
    struct group *groups = hl_alloc((size_t)count, sizeof *groups);
    for (int i = 0; i < count; i++) {
        const HaliteDelegateKernel *kernel = gpu->HaliteDelegateReportGetKernel(report, i);
        double seconds = kernel->runs > 0 ? 1e-9 * (double)kernel->nanoseconds / (double)kernel->runs : 0;
        add_to_group(groups, &used, kernel->kernel, kernel->op, seconds);
    }
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
    add_report(row, gpu, report);
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
    if (words == &kernels) return;
    const double work = hl_bench_number(item, "multiply_adds");
    text[0] = '\0';
    if (work > 0 && seconds > 0) snprintf(text, sizeof text, "%.1f", 1e-9 * work / seconds);
    hl_table_add(table, "%s", text);
    hl_table_add_name(table, hl_bench_string(item, words->detail));
}

static void print_groups(const cJSON *list, const struct words *words)
{
    static const char *const of_operators[] = {"operator", "nodes", "a run", "share", "GMAC/s", "where", NULL},
                             *const of_kernels[] = {"kernel", "operator", "dispatches", "a run", "share", NULL};
    const char *const *titles = words == &kernels ? of_kernels : of_operators;
    double total = sum_of(list, "seconds");
    const cJSON *item;
    struct hl_table table;
    hl_table_start(&table, words == &kernels ? "llrrr" : "lrrrrl");
    for (int i = 0; titles[i]; i++) hl_table_add(&table, "%s", titles[i]);
    cJSON_ArrayForEach(item, list) add_row(&table, words, item, total);
    if (words == &kernels) {
        cJSON *sum = cJSON_CreateObject();
        cJSON_AddStringToObject(sum, words->name, "total");
        cJSON_AddNumberToObject(sum, words->count, sum_of(list, words->count));
        cJSON_AddNumberToObject(sum, "seconds", total);
        add_row(&table, words, sum, total);
        hl_table_print(&table, 2, stdout);
        cJSON_Delete(sum);
        return;
    }
    hl_table_print(&table, 2, stdout);
}

void hl_bench_print_operators(const cJSON *row)
{
    if (!cJSON_HasObjectItem(row, operators.list)) return;
    printf("\n");
    print_groups(cJSON_GetObjectItem(row, operators.list), &operators);
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
