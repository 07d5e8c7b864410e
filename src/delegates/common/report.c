// SPDX-License-Identifier: Apache-2.0
// See report.h. A user's report is a copy, so that neither a later application nor another thread changes it.
#include "delegates/common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegates/common/delegate.h"

// ---- while a delegate is applied ----------------------------------------------------------------

void delegate_set_reason(struct delegate_reason *reason, enum delegate_reason_code code, int tensor, const char *format,
                         va_list args)
{
    reason->code = code;
    reason->tensor = tensor;
    vsnprintf(reason->text, sizeof reason->text, format, args);
}

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

const struct delegate_graph *delegate_report_latest(const struct delegate_report *report)
{
    return &report->graphs[report->count - 1];
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

static HaliteDelegateNode public_node(bool is_gpu, int graph, const struct delegate_row *row)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define X(name, code, text) {#code, text},
        HALITE_DELEGATE_REASONS(X)
#undef X
    };
    enum delegate_reason_code code = row->reason.code;
    const char *text = is_gpu ? reasons[code].text : plain_text(code, reasons[code].text);
    return (HaliteDelegateNode){
        .graph = graph,
        .node = row->node,
        .op = row->op,
        .version = row->version,
        .on_gpu = code == DELEGATE_OK,
        .partition = row->partition,
        .reason = (HaliteDelegateReason)code,
        .reason_name = reasons[code].name,
        .text = row->reason.text[0] ? row->reason.text : text,
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

static HaliteDelegateGraph copy_graph(HaliteDelegateReport *report, bool is_gpu, const struct delegate_graph *from)
{
    HaliteDelegateGraph graph = {.number = from->number, .first_node = report->node_count, .node_count = from->count};
    for (int i = 0; i < from->count; i++) {
        struct delegate_row *row = &report->rows[report->node_count];
        *row = from->rows[i];
        HaliteDelegateNode node = public_node(is_gpu, from->number, row);
        graph.gpu_node_count += node.on_gpu;
        if (node.on_gpu && !has_partition(&report->nodes[graph.first_node], i, node.partition)) graph.partition_count++;
        report->nodes[report->node_count++] = node;
    }
    return graph;
}

static bool copy_rows(HaliteDelegateReport *report, const struct delegate *delegate)
{
    const struct delegate_report *from = &delegate->report;
    size_t nodes = 1;
    for (int i = 0; i < from->count; i++) nodes += (size_t)from->graphs[i].count;
    report->graphs = calloc((size_t)from->count + 1, sizeof *report->graphs);
    report->nodes = calloc(nodes, sizeof *report->nodes);
    report->rows = calloc(nodes, sizeof *report->rows);
    if (!report->graphs || !report->nodes || !report->rows) return false;
    for (int i = 0; i < from->count; i++)
        report->graphs[report->graph_count++] = copy_graph(report, delegate->kind->is_gpu, &from->graphs[i]);
    return true;
}

// The device of a delegate that knows no more of it than a name.
static bool describe_by_name(const struct delegate *delegate, HaliteDelegateReport *report)
{
    if (!delegate->device[0]) return true;
    char *name = report->device_texts = malloc(sizeof delegate->device);
    if (!name) return false;
    memcpy(name, delegate->device, sizeof delegate->device);
    report->device = (HaliteDevice){.name = name, .api = delegate->kind->name, .description = name, .driver = ""};
    return true;
}

static void destroy(HaliteDelegateReport *report)
{
    free(report->graphs);
    free(report->nodes);
    free(report->rows);
    free(report->kernels);
    free(report->device_texts);
    free(report);
}

static HaliteDelegateReport *create(const TfLiteDelegate *tflite)
{
    struct delegate *delegate = tflite->data_;
    HaliteDelegateReport *report = calloc(1, sizeof *report);
    if (!report) return NULL;
    report->functions = delegate->sign.report;
    hl_mutex_lock(&delegate->mutex);
    bool ok = copy_rows(report, delegate);
    if (ok)
        ok = delegate->kind->describe ? delegate->kind->describe(delegate, report) : describe_by_name(delegate, report);
    hl_mutex_unlock(&delegate->mutex);
    if (ok) return report;
    destroy(report);
    return NULL;
}

static const HaliteDevice *get_device(const HaliteDelegateReport *report)
{
    return report->device.name ? &report->device : NULL;
}

static HaliteGpuPrecision get_precision(const HaliteDelegateReport *report)
{
    return report->precision;
}

// The number of elements of an array in the report, and one of them.
#define LIST(name, type)                                                                    \
    static int32_t name##_count(const HaliteDelegateReport *report)                         \
    {                                                                                       \
        return report->name##_count;                                                        \
    }                                                                                       \
    static const type *get_##name(const HaliteDelegateReport *report, int32_t index)        \
    {                                                                                       \
        return index >= 0 && index < report->name##_count ? &report->name##s[index] : NULL; \
    }
LIST(graph, HaliteDelegateGraph)
LIST(node, HaliteDelegateNode)
LIST(kernel, HaliteDelegateKernel)
#undef LIST

struct delegate_sign delegate_report_sign(void)
{
    static const struct delegate_report_functions functions = {
        create,    destroy,    get_device, get_precision, graph_count,
        get_graph, node_count, get_node,   kernel_count,  get_kernel,
    };
    return (struct delegate_sign){DELEGATE_SIGN, &functions};
}
