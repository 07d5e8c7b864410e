// SPDX-License-Identifier: Apache-2.0
// See profile.h.
#include "benchmark/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
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
    const TfLiteIntArray *outputs = subgraph != NULL && node >= 0 && node < subgraph->node_count
                                        ? subgraph->nodes[node]->node.outputs
                                        : NULL;
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
static struct hl_profile_row *row_of(struct hl_profile *profile, const char *label,
                                     int64_t subgraph, int64_t node, bool internal)
{
    for (int i = 0; i < profile->row_count; i++) {
        struct hl_profile_row *row = &profile->rows[i];
        if (row->node == node && row->subgraph == subgraph && row->internal == internal &&
            strcmp(row->label, label) == 0)
            return row;
    }
    profile->rows =
        hl_alloc_grow(profile->rows, (size_t)profile->row_count + 1, sizeof *profile->rows);
    struct hl_profile_row *row = &profile->rows[profile->row_count++];
    *row = (struct hl_profile_row){.label = label,
                                   .subgraph = subgraph,
                                   .node = node,
                                   .internal = internal};
    add_type(&row->type, label, internal ? node : -1);
    add_name(&row->name, subgraph_of(profile, subgraph), node);
    return row;
}

static void add_time(struct hl_profile_row *row, double microseconds)
{
    row->now += microseconds;
    row->calls_now++;
}

static uint32_t begin_node(TfLiteTelemetryProfilerStruct *hooks, const char *type, int64_t node,
                           int64_t subgraph)
{
    struct hl_profile *profile = hooks->data;
    if (!profile->on || profile->open_count == (int)(sizeof profile->open / sizeof *profile->open))
        return 0;
    const struct hl_profile_row *row = row_of(profile, type, subgraph, node, false);
    profile->open[profile->open_count].row = (int)(row - profile->rows);
    profile->open[profile->open_count++].start = hl_model_clock();
    return (uint32_t)profile->open_count;
}

static void end_node(TfLiteTelemetryProfilerStruct *hooks, uint32_t handle)
{
    struct hl_profile *profile = hooks->data;
    if (handle == 0 || (int)handle != profile->open_count) return;
    profile->open_count--;
    double microseconds = 1e6 * (hl_model_clock() - profile->open[profile->open_count].start);
    add_time(&profile->rows[profile->open[profile->open_count].row], microseconds);
}

static void kernel(TfLiteTelemetryProfilerStruct *hooks, const char *type, uint64_t microseconds,
                   int64_t node, int64_t subgraph)
{
    struct hl_profile *profile = hooks->data;
    if (profile->on) add_time(row_of(profile, type, subgraph, node, true), (double)microseconds);
}

static void ignore_event(TfLiteTelemetryProfilerStruct *hooks, const char *event, uint64_t status)
{
    (void)hooks, (void)event, (void)status;
}

static void ignore_op_event(TfLiteTelemetryProfilerStruct *hooks, const char *event, int64_t node,
                            int64_t subgraph, uint64_t status)
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

// One table of the original: cells for a type, numbers and a name, between tabs or commas.
struct writer {
    struct hl_text *text;
    bool csv;
    int64_t runs;
    double total, cumulative; // microseconds of a run
};

static void title(struct writer *writer, const char *words)
{
    if (writer->csv)
        hl_text_add(writer->text, "%s\n", words);
    else
        hl_text_add(writer->text,
                    "============================== %s ==============================\n", words);
    writer->cumulative = 0;
}

static void cells(struct writer *writer, const char *first, int count, const char *const *more)
{
    hl_text_add(writer->text, writer->csv ? "%s" : "%24s", first);
    for (int i = 0; i < count; i++)
        hl_text_add(writer->text, writer->csv ? ", %s" : "\t%9s", more[i]);
    hl_text_add(writer->text, "\n");
}

static void numbers(struct writer *writer, int count, const double *values)
{
    for (int i = 0; i < count; i++)
        hl_text_add(writer->text, writer->csv ? ", %.3f" : "\t%9.3f", values[i]);
}

static void shares(struct writer *writer, double microseconds)
{
    double share = writer->total > 0 ? 100 * microseconds / writer->total : 0;
    writer->cumulative += share;
    hl_text_add(writer->text, writer->csv ? ", %.3f%%, %.3f%%" : "\t%8.3f%%\t%8.3f%%", share,
                writer->cumulative);
}

static double average(const struct writer *writer, const struct hl_profile_row *row)
{
    return row->us.sum / (double)(writer->runs > 0 ? writer->runs : 1);
}

static void rows(struct writer *writer, const struct hl_profile_row *const *sorted, int count)
{
    static const char *const heads[] = {"[first]",  "[avg ms]",       "[%]",   "[cdf%]",
                                        "[mem KB]", "[times called]", "[Name]"};
    cells(writer, "[node type]", 7, heads);
    for (int i = 0; i < count; i++) {
        const struct hl_profile_row *row = sorted[i];
        hl_text_add(writer->text, writer->csv ? "%s" : "%24s", row->type.data);
        numbers(writer, 2, (double[]){row->first / 1000, average(writer, row) / 1000});
        shares(writer, average(writer, row));
        numbers(writer, 1, (double[]){0});
        hl_text_add(writer->text, writer->csv ? ", %" PRId64 ", %s\n" : "\t%9" PRId64 "\t%s\n",
                    row->calls, row->name.data);
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
    static const char *const heads[] = {"[count]", "[avg ms]", "[avg %]",
                                        "[cdf %]", "[mem KB]", "[times called]"};
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
    cells(writer, "[Node type]", 6, heads);
    for (int i = 0; i < used; i++) {
        hl_text_add(writer->text, writer->csv ? "%s, %d" : "%24s\t%9d", types[i].type,
                    types[i].nodes);
        numbers(writer, 1, &(double){types[i].sum / 1000});
        shares(writer, types[i].sum);
        numbers(writer, 1, (double[]){0});
        hl_text_add(writer->text, writer->csv ? ", %" PRId64 "\n" : "\t%9" PRId64 "\n",
                    types[i].calls);
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
        hl_series_print(&profile->groups[group].totals, writer->text);
        hl_text_add(writer->text, "\nMemory (bytes): count=0\n%d nodes observed\n\n", count);
    }
    free(sorted);
}

void hl_profile_print(const struct hl_profile *profile, const char *words, bool csv,
                      struct hl_text *text)
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
