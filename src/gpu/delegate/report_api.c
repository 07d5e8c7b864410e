// SPDX-License-Identifier: Apache-2.0
// The report for users: the functions HaliteDelegateReport… of halite/gpu_delegate.h. A user's report is a copy of the
// delegate's rows with a public struct for each, so that neither a later application nor another thread changes it.
#include <stdlib.h>

#include "gpu/delegate/delegate.h"

struct HaliteDelegateReport {
    struct gpu_device_info info;
    HaliteDevice device;
    HaliteGpuPrecision precision; // kHaliteGpuPrecisionDefault if there is no device
    int graph_count, node_count;
    HaliteDelegateGraph *graphs;
    HaliteDelegateNode *nodes;
    struct gpu_report_row *rows; // own the texts and shapes of the nodes
    int kernel_count;
    HaliteDelegateKernel *kernels;
};

static HaliteDelegateNode public_node(int graph, const struct gpu_report_row *row)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define X(name, code, text) {#code, text},
        HALITE_DELEGATE_REASONS(X)
#undef X
    };
    enum gpu_reason_code code = row->reason.code;
    return (HaliteDelegateNode){
        .graph = graph,
        .node = row->node,
        .op = row->op,
        .version = row->version,
        .on_gpu = code == GPU_REASON_OK,
        .partition = row->partition,
        .reason = (HaliteDelegateReason)code,
        .reason_name = reasons[code].name,
        .text = row->reason.text[0] ? row->reason.text : reasons[code].text,
        .tensor = row->reason.tensor,
        .tensor_name = row->tensor_name,
        .tensor_type = row->tensor_type,
        .rank = row->rank,
        .dims = row->dims,
    };
}

static bool has_partition(const HaliteDelegateNode *nodes, int count, int partition)
{
    for (int i = 0; i < count; i++)
        if (nodes[i].on_gpu && nodes[i].partition == partition) return true;
    return false;
}

static HaliteDelegateGraph copy_graph(HaliteDelegateReport *report, const struct gpu_report_graph *from)
{
    HaliteDelegateGraph graph = {.number = from->number, .first_node = report->node_count, .node_count = from->count};
    for (int i = 0; i < from->count; i++) {
        struct gpu_report_row *row = &report->rows[report->node_count];
        *row = from->rows[i];
        HaliteDelegateNode node = public_node(from->number, row);
        graph.gpu_node_count += node.on_gpu;
        if (node.on_gpu && !has_partition(&report->nodes[graph.first_node], i, node.partition)) graph.partition_count++;
        report->nodes[report->node_count++] = node;
    }
    return graph;
}

static bool copy_report(HaliteDelegateReport *report, const struct gpu_report *from)
{
    size_t nodes = 1;
    for (int i = 0; i < from->count; i++) nodes += (size_t)from->graphs[i].count;
    report->graphs = calloc((size_t)from->count + 1, sizeof *report->graphs);
    report->nodes = calloc(nodes, sizeof *report->nodes);
    report->rows = calloc(nodes, sizeof *report->rows);
    if (!report->graphs || !report->nodes || !report->rows) return false;
    for (int i = 0; i < from->count; i++) report->graphs[report->graph_count++] = copy_graph(report, &from->graphs[i]);
    return true;
}

static bool copy_profiles(HaliteDelegateReport *report, const struct gpu_profiles *from)
{
    size_t count = 1;
    for (const struct gpu_profile *profile = from->first; profile; profile = profile->next)
        count += (size_t)profile->plan->step_count;
    report->kernels = calloc(count, sizeof *report->kernels);
    if (!report->kernels) return false;
    for (const struct gpu_profile *profile = from->first; profile; profile = profile->next)
        for (int i = 0; i < profile->plan->step_count; i++) {
            const struct gpu_plan_step *step = &profile->plan->steps[i];
            report->kernels[report->kernel_count++] = (HaliteDelegateKernel){
                .graph = profile->graph,
                .partition = profile->partition,
                .node = step->node ? step->node->index : -1,
                .op = step->node ? step->node->op->name : "",
                .kernel = step->kernel->name,
                .runs = profile->runs,
                .nanoseconds = profile->sums[i],
            };
        }
    return true;
}

HaliteDelegateReport *HaliteDelegateReportCreate(const TfLiteDelegate *delegate)
{
    struct gpu_delegate *own = gpu_delegate_of(delegate);
    HaliteDelegateReport *report = own ? calloc(1, sizeof *report) : NULL;
    if (!report) return NULL;
    hl_mutex_lock(&own->mutex);
    bool ok = copy_report(report, &own->report);
    gpu_engine_enter(own->engine, NULL, "Report");
    ok = ok && copy_profiles(report, &own->engine->profiles);
    const struct gpu_device_info *info = gpu_engine_info(own->engine);
    if (info) {
        report->info = *info;
        report->device = gpu_public_device(&report->info);
        report->precision = kHaliteGpuPrecisionF32 + own->engine->precision;
    }
    gpu_engine_leave(own->engine);
    hl_mutex_unlock(&own->mutex);
    if (ok) return report;
    HaliteDelegateReportDelete(report);
    return NULL;
}

void HaliteDelegateReportDelete(HaliteDelegateReport *report)
{
    if (!report) return;
    free(report->graphs);
    free(report->nodes);
    free(report->rows);
    free(report->kernels);
    free(report);
}

const HaliteDevice *HaliteDelegateReportGetDevice(const HaliteDelegateReport *report)
{
    return report && report->device.name ? &report->device : NULL;
}

HaliteGpuPrecision HaliteDelegateReportGetPrecision(const HaliteDelegateReport *report)
{
    return report ? report->precision : kHaliteGpuPrecisionDefault;
}

int32_t HaliteDelegateReportGetGraphCount(const HaliteDelegateReport *report)
{
    return report ? report->graph_count : 0;
}

const HaliteDelegateGraph *HaliteDelegateReportGetGraph(const HaliteDelegateReport *report, int32_t index)
{
    return report && index >= 0 && index < report->graph_count ? &report->graphs[index] : NULL;
}

int32_t HaliteDelegateReportGetNodeCount(const HaliteDelegateReport *report)
{
    return report ? report->node_count : 0;
}

const HaliteDelegateNode *HaliteDelegateReportGetNode(const HaliteDelegateReport *report, int32_t index)
{
    return report && index >= 0 && index < report->node_count ? &report->nodes[index] : NULL;
}

int32_t HaliteDelegateReportGetKernelCount(const HaliteDelegateReport *report)
{
    return report ? report->kernel_count : 0;
}

const HaliteDelegateKernel *HaliteDelegateReportGetKernel(const HaliteDelegateReport *report, int32_t index)
{
    return report && index >= 0 && index < report->kernel_count ? &report->kernels[index] : NULL;
}
