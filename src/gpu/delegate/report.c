// SPDX-License-Identifier: Apache-2.0
// See report.h.
#include "gpu/delegate/report.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPHS = sizeof((struct gpu_report *)0)->graphs / sizeof(void *) };

static void drop_graph(struct gpu_report *report, int graph)
{
    int kept = 0;
    for (int i = 0; i < report->count; i++) {
        if (report->rows[i].graph == graph) continue;
        report->rows[kept] = report->rows[i];
        if (report->rows[kept].graph > graph) report->rows[kept].graph--;
        kept++;
    }
    report->count = kept;
    report->graph_count--;
    memmove(report->graphs + graph, report->graphs + graph + 1,
            (size_t)(report->graph_count - graph) * sizeof *report->graphs);
}

struct gpu_report_row *gpu_report_begin(struct gpu_report *report, const void *context, int count)
{
    for (int i = 0; i < report->graph_count; i++)
        if (report->graphs[i] == context) drop_graph(report, i--);
    if (report->graph_count == GRAPHS) drop_graph(report, 0);
    struct gpu_report_row *rows = realloc(report->rows, ((size_t)report->count + (size_t)count + 1) * sizeof *rows);
    if (!rows) return NULL;
    report->rows = rows;
    rows += report->count;
    memset(rows, 0, (size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++) rows[i].graph = report->graph_count;
    report->graphs[report->graph_count++] = context;
    report->count += count;
    return rows;
}

void gpu_report_free(struct gpu_report *report)
{
    free(report->rows);
    *report = (struct gpu_report){0};
}

const char *gpu_reason_name(enum gpu_reason_code code)
{
    static const char *const names[] = {
#define NAME(code, text) #code,
        GPU_REASONS(NAME)
#undef NAME
    };
    return names[code];
}

const char *gpu_reason_text(enum gpu_reason_code code)
{
    static const char *const texts[] = {
#define TEXT(code, text) text,
        GPU_REASONS(TEXT)
#undef TEXT
    };
    return texts[code];
}
