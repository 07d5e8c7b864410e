// SPDX-License-Identifier: Apache-2.0
// See report.h.
#include "gpu/delegate/report.h"

#include <stdlib.h>
#include <string.h>

static void drop_graph(struct gpu_report *report, int graph)
{
    free(report->graphs[graph].rows);
    report->count--;
    memmove(report->graphs + graph, report->graphs + graph + 1,
            (size_t)(report->count - graph) * sizeof *report->graphs);
}

struct gpu_report_row *gpu_report_begin(struct gpu_report *report, const void *context, int count)
{
    struct gpu_report_row *rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows) return NULL;
    for (int i = 0; i < report->count; i++)
        if (report->graphs[i].context == context) drop_graph(report, i--);
    if (report->count == GPU_REPORT_GRAPHS) drop_graph(report, 0);
    report->graphs[report->count++] = (struct gpu_report_graph){report->next_number++, context, rows, count};
    return rows;
}

void gpu_report_free(struct gpu_report *report)
{
    while (report->count > 0) drop_graph(report, report->count - 1);
}
