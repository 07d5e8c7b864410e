// SPDX-License-Identifier: Apache-2.0
// See profile.h.
#include "benchmark/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "json.h"
#include "runtime/interpreter.h"

// ---- events -------------------------------------------------------------------------------------

static const struct hl_subgraph *subgraph_of(const struct hl_profile *profile, int64_t index)
{
    const TfLiteInterpreter *interpreter = profile->file->interpreter;
    bool known = interpreter != NULL && index >= 0 && index < interpreter->subgraph_count;
    return known ? interpreter->subgraphs[index] : NULL;
}

static void add_name(struct hl_text *text, const struct hl_subgraph *subgraph, int64_t node)
{
    hl_text_add(text, "[");
    const TfLiteIntArray *outputs =
        subgraph != NULL && node >= 0 && node < subgraph->node_count ? subgraph->nodes[node]->node.outputs : NULL;
    for (int i = 0, more = 0; outputs != NULL && i < outputs->size; i++) {
        if (!hl_subgraph_has_tensor(subgraph, outputs->data[i])) continue;
        const char *name = subgraph->context.tensors[outputs->data[i]].name;
        hl_text_add(text, "%s", more++ > 0 ? ", " : "");
        if (name != NULL) hl_text_add_escaped(text, name, strlen(name));
    }
    hl_text_add(text, "]:%" PRId64, node);
}

// "CONV_2D 3 convolve", of node 3, is of type "CONV_2D convolve", as all its like.
static void add_type(struct hl_text *text, const char *label, int64_t node)
{
    char number[32];
    snprintf(number, sizeof number, " %" PRId64 " ", node);
    const char *at = strstr(label, number);
    if (at != NULL)
        hl_text_add(text, "%.*s %s", (int)(at - label), label, at + strlen(number));
    else
        hl_text_add(text, "%s", label);
}

// Rows come in the order in which they ran first.
static struct hl_profile_row *row_of(struct hl_profile *profile, const char *label, int64_t subgraph, int64_t node,
                                     bool internal)
{
    for (int i = 0; i < profile->row_count; i++) {
        struct hl_profile_row *row = &profile->rows[i];
        if (row->node == node && row->subgraph == subgraph && row->internal == internal &&
            strcmp(row->label, label) == 0)
            return row;
    }
    profile->rows = hl_alloc_grow(profile->rows, (size_t)profile->row_count + 1, sizeof *profile->rows);
    struct hl_profile_row *row = &profile->rows[profile->row_count++];
    *row = (struct hl_profile_row){
        .label = label,
        .subgraph = subgraph,
        .node = node,
        .internal = internal,
    };
    add_type(&row->type, label, internal ? node : -1);
    add_name(&row->name, subgraph_of(profile, subgraph), node);
    return row;
}

static void add_time(struct hl_profile_row *row, double microseconds)
{
    row->now += microseconds;
    row->calls_now++;
}

static uint32_t begin_node(TfLiteTelemetryProfilerStruct *hooks, const char *type, int64_t node, int64_t subgraph)
{
    struct hl_profile *profile = hooks->data;
    if (!profile->on || profile->open_count == (int)(sizeof profile->open / sizeof *profile->open)) return 0;
    const struct hl_profile_row *row = row_of(profile, type, subgraph, node, false);
    profile->open[profile->open_count].row = (int)(row - profile->rows);
    profile->open[profile->open_count++].start = hl_seconds();
    return (uint32_t)profile->open_count;
}

static void end_node(TfLiteTelemetryProfilerStruct *hooks, uint32_t handle)
{
    struct hl_profile *profile = hooks->data;
    if (handle == 0 || (int)handle != profile->open_count) return;
    profile->open_count--;
    double microseconds = 1e6 * (hl_seconds() - profile->open[profile->open_count].start);
    add_time(&profile->rows[profile->open[profile->open_count].row], microseconds);
}

static void kernel(TfLiteTelemetryProfilerStruct *hooks, const char *type, uint64_t microseconds, int64_t node,
                   int64_t subgraph)
{
    struct hl_profile *profile = hooks->data;
    if (profile->on) add_time(row_of(profile, type, subgraph, node, true), (double)microseconds);
}

static void ignore_event(TfLiteTelemetryProfilerStruct *hooks, const char *event, uint64_t status)
{
    (void)hooks, (void)event, (void)status;
}

static void ignore_op_event(TfLiteTelemetryProfilerStruct *hooks, const char *event, int64_t node, int64_t subgraph,
                            uint64_t status)
{
    (void)hooks, (void)event, (void)node, (void)subgraph, (void)status;
}

static void ignore_settings(TfLiteTelemetryProfilerStruct *hooks, const char *name,
                            const TfLiteTelemetrySettings *settings)
{
    (void)hooks, (void)name, (void)settings;
}

void hl_profile_start(struct hl_profile *profile, const struct hl_model_file *file)
{
    *profile = (struct hl_profile){
        .hooks = {.data = profile,
                  .ReportTelemetryEvent = ignore_event,
                  .ReportTelemetryOpEvent = ignore_op_event,
                  .ReportSettings = ignore_settings,
                  .ReportBeginOpInvokeEvent = begin_node,
                  .ReportEndOpInvokeEvent = end_node,
                  .ReportOpInvokeEvent = kernel},
        .file = file,
    };
}

void hl_profile_free(struct hl_profile *profile)
{
    for (int i = 0; i < profile->row_count; i++) {
        hl_text_free(&profile->rows[i].type);
        hl_text_free(&profile->rows[i].name);
    }
    free(profile->rows);
    for (int i = 0; i < profile->group_count; i++) hl_series_free(&profile->groups[i].totals);
    free(profile->groups);
    *profile = (struct hl_profile){0};
}

void hl_profile_begin_run(struct hl_profile *profile)
{
    profile->on = true;
}

static int group_of(const struct hl_profile *profile, const struct hl_profile_row *row)
{
    return row->internal ? profile->group_count - 1 : (int)row->subgraph;
}

void hl_profile_end_run(struct hl_profile *profile)
{
    profile->on = false;
    profile->open_count = 0;
    if (profile->groups == NULL) {
        profile->group_count = profile->file->interpreter->subgraph_count + 1;
        profile->groups = hl_alloc((size_t)profile->group_count, sizeof *profile->groups);
    }
    bool *ran = hl_alloc((size_t)profile->group_count, sizeof *ran);
    for (int i = 0; i < profile->row_count; i++) {
        struct hl_profile_row *row = &profile->rows[i];
        if (row->calls_now == 0) continue;
        int group = group_of(profile, row);
        ran[group] = true;
        profile->groups[group].now += row->now;
        if (row->us.count == 0) {
            row->first = row->now;
            row->calls = row->calls_now;
        }
        hl_stat_add(&row->us, row->now);
        row->now = 0;
        row->calls_now = 0;
    }
    for (int i = 0; i < profile->group_count; i++) {
        if (!ran[i]) continue;
        hl_series_add(&profile->groups[i].totals, profile->groups[i].now);
        profile->groups[i].now = 0;
    }
    free(ran);
    profile->runs++;
}

void hl_profile_add(struct hl_profile *profile, const char *type, double microseconds)
{
    struct hl_profile_row *row = row_of(profile, type, 0, -1, false);
    hl_text_clear(&row->name);
    hl_text_add(&row->name, "%s/0", type);
    add_time(row, microseconds);
}

// ---- tables -------------------------------------------------------------------------------------

// One table of the original: a tab and a cell for a type, numbers and a name; as CSV words between commas, their
// numbers with six digits.
struct writer {
    struct hl_text *text;
    bool csv;
    int64_t runs;
    double total, cumulative; // microseconds of a run
};

static void title(struct writer *writer, const char *words)
{
    hl_text_add(writer->text, "============================== %s ==============================\n", words);
    writer->cumulative = 0;
}

// The numbers' columns are as wide as those of the original, which differ between its tables.
struct widths {
    int first, milliseconds, share, calls;
};
static const struct widths row_widths = {9, 9, 8, 9}, summary_widths = {9, 10, 11, 9};

static void head_cells(struct writer *writer, struct widths widths, const char *type, const char *first,
                       const char *share, const char *cumulative)
{
    hl_text_add(writer->text, "\t%24s\t%*s\t%*s\t%*s\t%*s\t%10s\t[times called]", type, widths.first, first,
                widths.milliseconds, "[avg ms]", widths.share, share, widths.share, cumulative, "[mem KB]");
}

static void type_cell(struct writer *writer, const char *type)
{
    hl_text_add(writer->text, writer->csv ? "%s" : "\t%24s", type);
}

static void number_cell(struct writer *writer, int width, double value)
{
    if (writer->csv)
        hl_text_add(writer->text, ", %g", value);
    else
        hl_text_add(writer->text, "\t%*.3f", width, value);
}

// Milliseconds, their share of the total, the sum of the shares so far, memory.
static void time_cells(struct writer *writer, struct widths widths, double microseconds)
{
    double share = writer->total > 0 ? 100 * microseconds / writer->total : 0;
    writer->cumulative += share;
    number_cell(writer, widths.milliseconds, microseconds / 1000);
    number_cell(writer, widths.share - 1, share);
    hl_text_add(writer->text, "%%");
    number_cell(writer, widths.share - 1, writer->cumulative);
    hl_text_add(writer->text, "%%");
    number_cell(writer, 10, 0);
}

static void count_cell(struct writer *writer, int width, int64_t count)
{
    if (writer->csv)
        hl_text_add(writer->text, ", %" PRId64, count);
    else
        hl_text_add(writer->text, "\t%*" PRId64, width, count);
}

// In CSV a comma of the name would begin a column.
static void name_cell(struct writer *writer, const char *name)
{
    hl_text_add(writer->text, writer->csv ? ", " : "\t");
    for (; *name != '\0'; name++) hl_text_add_bytes(writer->text, writer->csv && *name == ',' ? "\t" : name, 1);
}

static double average(const struct writer *writer, const struct hl_profile_row *row)
{
    return row->us.sum / (double)(writer->runs > 0 ? writer->runs : 1);
}

static void rows(struct writer *writer, const struct hl_profile_row *const *sorted, int count)
{
    if (writer->csv)
        hl_text_add(writer->text, "node type, first, avg_ms, %%, cdf%%, mem KB, times called, name");
    else
        head_cells(writer, row_widths, "[node type]", "[first]", "[%]", "[cdf%]");
    hl_text_add(writer->text, "%s\n", writer->csv ? "" : "\t[Name]");
    for (int i = 0; i < count; i++) {
        const struct hl_profile_row *row = sorted[i];
        type_cell(writer, row->type.data);
        number_cell(writer, row_widths.first, row->first / 1000);
        time_cells(writer, row_widths, average(writer, row));
        count_cell(writer, row_widths.calls, row->calls);
        name_cell(writer, row->name.data);
        hl_text_add(writer->text, "\n");
    }
    hl_text_add(writer->text, "\n");
}

static int by_time(const void *a, const void *b)
{
    const struct hl_profile_row *x = *(const struct hl_profile_row *const *)a,
                                *y = *(const struct hl_profile_row *const *)b;
    return (x->us.sum < y->us.sum) - (x->us.sum > y->us.sum);
}

static int by_type(const void *a, const void *b)
{
    const struct hl_profile_row *x = *(const struct hl_profile_row *const *)a,
                                *y = *(const struct hl_profile_row *const *)b;
    return strcmp(x->type.data, y->type.data);
}

struct type_sum {
    const char *type;
    int nodes;
    int64_t calls;
    double sum;
};

static int by_sum(const void *a, const void *b)
{
    const struct type_sum *x = a, *y = b;
    return (x->sum < y->sum) - (x->sum > y->sum);
}

static void summary(struct writer *writer, const struct hl_profile_row **sorted, int count)
{
    struct type_sum *types = hl_alloc((size_t)count, sizeof *types);
    int used = 0;
    qsort(sorted, (size_t)count, sizeof *sorted, by_type);
    for (int i = 0; i < count; i++) {
        if (used == 0 || strcmp(types[used - 1].type, sorted[i]->type.data) != 0)
            types[used++] = (struct type_sum){.type = sorted[i]->type.data};
        types[used - 1].nodes++;
        types[used - 1].calls += sorted[i]->calls;
        types[used - 1].sum += average(writer, sorted[i]);
    }
    qsort(types, (size_t)used, sizeof *types, by_sum);
    title(writer, "Summary by node type");
    if (writer->csv)
        hl_text_add(writer->text, "node type, count, avg_ms, avg %%, cdf %%, mem KB, times called");
    else
        head_cells(writer, summary_widths, "[Node type]", "[count]", "[avg %]", "[cdf %]");
    hl_text_add(writer->text, "\n");
    for (int i = 0; i < used; i++) {
        type_cell(writer, types[i].type);
        count_cell(writer, summary_widths.first, types[i].nodes);
        time_cells(writer, summary_widths, types[i].sum);
        count_cell(writer, summary_widths.calls, types[i].calls);
        hl_text_add(writer->text, "\n");
    }
    hl_text_add(writer->text, "\n");
    free(types);
}

// "Primary graph (name: main) profile:", where more than it took part.
static void head(struct writer *writer, const struct hl_profile *profile, int group)
{
    const char *name = profile->file->model->subgraphs[group].name;
    hl_text_add(writer->text, group == 0 ? "Primary graph (" : "Subgraph (index: %d, ", group);
    hl_text_add(writer->text, "name: ");
    hl_text_add_escaped(writer->text, name, strlen(name));
    hl_text_add(writer->text, ") ");
}

// The nodes of one subgraph, or a delegate's kernels; nothing where there are none.
static void tables(struct writer *writer, const struct hl_profile *profile, int group)
{
    const struct hl_profile_row **sorted = hl_alloc((size_t)profile->row_count, sizeof *sorted);
    bool kernels = group == profile->group_count - 1, others = false;
    int count = 0;
    writer->total = 0;
    for (int i = 0; i < profile->row_count; i++) {
        const struct hl_profile_row *row = &profile->rows[i];
        others = others || (!row->internal && row->subgraph != 0);
        if (group_of(profile, row) != group) continue;
        sorted[count++] = row;
        writer->total += average(writer, row);
    }
    if (count > 0) {
        if (kernels) hl_text_add(writer->text, "Delegate internal: \n");
        if (!kernels && others) {
            head(writer, profile, group);
            hl_text_add(writer->text, "profile:\n");
        }
        title(writer, "Run Order");
        rows(writer, sorted, count);
        qsort(sorted, (size_t)count, sizeof *sorted, by_time);
        title(writer, "Top by Computation Time");
        rows(writer, sorted, count < 10 ? count : 10);
        hl_text_add(writer->text, "Number of nodes executed: %d\n", count);
        summary(writer, sorted, count);
        if (!kernels && group > 0) head(writer, profile, group);
        hl_text_add(writer->text, "Timings (microseconds): ");
        hl_series_print(&profile->groups[group].totals, false, writer->text);
        hl_text_add(writer->text, "\nMemory (bytes): count=0\n%d nodes observed\n\n", count);
    }
    free(sorted);
}

void hl_profile_print(const struct hl_profile *profile, const char *words, bool csv, struct hl_text *text)
{
    struct writer writer = {.text = text, .csv = csv, .runs = profile->runs};
    hl_text_add(text, "%s\n", words);
    for (int i = 0; i < profile->group_count; i++) tables(&writer, profile, i);
}

// ---- messages -----------------------------------------------------------------------------------

static cJSON *row_tree(const struct hl_profile_row *row, int order)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    hl_json_add_string(tree, "node_type", row->type.data);
    cJSON *us = hl_alloc_check(cJSON_AddObjectToObject(tree, "inference_microseconds"));
    double deviation = hl_stat_deviation(&row->us);
    cJSON_AddNumberToObject(us, "first", floor(row->first));
    cJSON_AddNumberToObject(us, "last", floor(row->us.last));
    cJSON_AddNumberToObject(us, "avg", floor(hl_stat_average(&row->us)));
    cJSON_AddNumberToObject(us, "stddev", deviation);
    cJSON_AddNumberToObject(us, "variance", deviation * deviation);
    cJSON_AddNumberToObject(us, "min", floor(row->us.min));
    cJSON_AddNumberToObject(us, "max", floor(row->us.max));
    cJSON_AddNumberToObject(us, "sum", floor(row->us.sum));
    cJSON_AddNumberToObject(us, "count", (double)row->us.count);
    cJSON_AddNumberToObject(tree, "times_called", (double)row->calls);
    hl_json_add_string(tree, "name", row->name.data);
    cJSON_AddNumberToObject(tree, "run_order", order);
    return tree;
}

// The rows of a group; NULL where there are none.
static cJSON *rows_tree(const struct hl_profile *profile, int group)
{
    cJSON *rows = hl_alloc_check(cJSON_CreateArray());
    int order = 0;
    for (int i = 0; i < profile->row_count; i++)
        if (group_of(profile, &profile->rows[i]) == group)
            cJSON_AddItemToArray(rows, row_tree(&profile->rows[i], order++));
    if (order > 0) return rows;
    cJSON_Delete(rows);
    return NULL;
}

cJSON *hl_profile_tree(const struct hl_profile *profile)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject()), *rows;
    cJSON *subgraphs = hl_alloc_check(cJSON_AddArrayToObject(tree, "subgraph_profiles"));
    cJSON *delegates = hl_alloc_check(cJSON_AddArrayToObject(tree, "delegate_profiles"));
    for (int i = 0; i < profile->group_count; i++) {
        if ((rows = rows_tree(profile, i)) == NULL) continue;
        bool kernels = i == profile->group_count - 1;
        cJSON *group = hl_alloc_check(cJSON_CreateObject());
        if (kernels) {
            cJSON_AddStringToObject(group, "delegate_name",
                                    "TfLiteGpuDelegateV2"); // none other tells
        } else {
            hl_json_add_string(group, "subgraph_name", profile->file->model->subgraphs[i].name);
            cJSON_AddNumberToObject(group, "subgraph_index", i);
        }
        cJSON_AddItemToObject(group, "per_op_profiles", rows);
        cJSON_AddItemToArray(kernels ? delegates : subgraphs, group);
    }
    return tree;
}
