// SPDX-License-Identifier: Apache-2.0
// See report.h. The functions HaliteDelegateReport… of halite/gpu_delegate.h, which every delegate's library exports
// for its own delegates; HaliteDelegateReportCreate is in each delegate's entry.c. A user's report is a copy, so that
// neither a later application nor another thread changes it.
#include "delegates/common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegates/common/delegate.h"

struct HaliteDelegateReport {
    char device_name[128];
    HaliteDevice device;
    int graph_count, node_count;
    HaliteDelegateGraph *graphs;
    HaliteDelegateNode *nodes;
    struct delegate_row *rows; // own the texts and shapes of the nodes
};

// ---- while a delegate is applied ----------------------------------------------------------------

static void drop_graph(struct delegate_report *report, int graph)
{
    free(report->graphs[graph].rows);
    report->count--;
    memmove(report->graphs + graph, report->graphs + graph + 1,
            (size_t)(report->count - graph) * sizeof *report->graphs);
}

struct delegate_row *delegate_report_begin(struct delegate_report *report, const void *context, int count)
{
    struct delegate_row *rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows) return NULL;
    for (int i = 0; i < report->count; i++)
        if (report->graphs[i].context == context) drop_graph(report, i--);
    if (report->count == DELEGATE_REPORT_GRAPHS) drop_graph(report, 0);
    report->graphs[report->count++] = (struct delegate_graph){report->next_number++, context, rows, count};
    return rows;
}

void delegate_report_free(struct delegate_report *report)
{
    while (report->count > 0) drop_graph(report, report->count - 1);
}

// ---- for users ----------------------------------------------------------------------------------

// The common texts speak of the GPU where they say what becomes of a node; these stand for the same codes here.
static const char *plain_text(enum delegate_reason_code code, const char *common)
{
    switch (code) {
    case DELEGATE_OK: return "runs on the delegate's device";
    case DELEGATE_NO_KERNEL: return "the delegate does not know the operator";
    case DELEGATE_TYPE: return "a tensor has a type that the delegate does not take";
    case DELEGATE_FOLDED: return "makes a constant, for nodes that stay on the CPU";
    default: return common;
    }
}

static HaliteDelegateNode public_node(int graph, const struct delegate_row *row)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define X(name, code, text) {#code, text},
        HALITE_DELEGATE_REASONS(X)
#undef X
    };
    enum delegate_reason_code code = row->reason.code;
    return (HaliteDelegateNode){
        .graph = graph,
        .node = row->node,
        .op = row->op,
        .version = row->version,
        .on_gpu = code == DELEGATE_OK,
        .partition = row->partition,
        .reason = (HaliteDelegateReason)code,
        .reason_name = reasons[code].name,
        .text = row->reason.text[0] ? row->reason.text : plain_text(code, reasons[code].text),
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

static HaliteDelegateGraph copy_graph(HaliteDelegateReport *report, const struct delegate_graph *from)
{
    HaliteDelegateGraph graph = {.number = from->number, .first_node = report->node_count, .node_count = from->count};
    for (int i = 0; i < from->count; i++) {
        struct delegate_row *row = &report->rows[report->node_count];
        *row = from->rows[i];
        HaliteDelegateNode node = public_node(from->number, row);
        graph.gpu_node_count += node.on_gpu;
        if (node.on_gpu && !has_partition(&report->nodes[graph.first_node], i, node.partition)) graph.partition_count++;
        report->nodes[report->node_count++] = node;
    }
    return graph;
}

static bool copy_rows(HaliteDelegateReport *report, const struct delegate_report *from)
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

HaliteDelegateReport *delegate_report_copy(struct delegate *delegate)
{
    HaliteDelegateReport *report = delegate ? calloc(1, sizeof *report) : NULL;
    if (!report) return NULL;
    hl_mutex_lock(&delegate->mutex);
    bool ok = copy_rows(report, &delegate->report);
    snprintf(report->device_name, sizeof report->device_name, "%s", delegate->device);
    hl_mutex_unlock(&delegate->mutex);
    if (report->device_name[0])
        report->device = (HaliteDevice){
            .name = report->device_name,
            .api = delegate->kind->name,
            .description = report->device_name,
            .driver = "",
        };
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
    free(report);
}

const HaliteDevice *HaliteDelegateReportGetDevice(const HaliteDelegateReport *report)
{
    return report && report->device.name ? &report->device : NULL;
}

HaliteGpuPrecision HaliteDelegateReportGetPrecision(const HaliteDelegateReport *report)
{
    (void)report;
    return kHaliteGpuPrecisionDefault;
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
