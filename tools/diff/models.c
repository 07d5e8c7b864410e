// SPDX-License-Identifier: Apache-2.0
// See models.h. What is found is a JSON document, from which the text is made.
#include "diff/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "diff/pairs.h"
#include "element.h"
#include "json.h"
#include "message.h"
#include "node_options.h"
#include "progress.h"
#include "table.h"

// ---- structure ----------------------------------------------------------------------------------

struct node_view {
    const TfLiteModel *model;
    const struct hl_model_subgraph *graph;
    const struct hl_model_node *node;
};

static struct node_view view_of(const struct hl_model_file *file, int node)
{
    const struct hl_model_subgraph *graph = &file->model->subgraphs[0];
    return (struct node_view){file->model, graph, &graph->nodes[node]};
}

static const char *operator_of(const struct node_view *view)
{
    return hl_model_code_name(&view->model->codes[view->node->code]);
}

// "float32 int8", or "1x8x8x3 4": the inputs or outputs of a node.
static void add_tensors(struct hl_text *text, const struct node_view *view, int count, const int *tensors, bool types)
{
    for (int i = 0; i < count; i++) {
        hl_text_add(text, i > 0 ? " " : "");
        if (tensors[i] < 0) {
            hl_text_add(text, "-");
            continue;
        }
        const struct hl_model_tensor *tensor = &view->graph->tensors[tensors[i]];
        if (types)
            hl_text_add(text, "%s", hl_element_name(tensor->type));
        else
            for (int d = 0; d < tensor->rank; d++) hl_text_add(text, d > 0 ? "x%d" : "%d", tensor->dims[d]);
    }
}

// One thing about a node, as text: its options, the types and the shapes of its outputs.
enum aspect { OPTIONS, TYPES, SHAPES, ASPECTS };
static const char *const aspect_names[] = {"options", "types", "shapes"};

static void add_aspect(struct hl_text *text, const struct node_view *view, enum aspect aspect)
{
    hl_text_add(text, "%s", "");
    if (aspect != OPTIONS) {
        add_tensors(text, view, view->node->input_count, view->node->inputs, aspect == TYPES);
        hl_text_add(text, " -> ");
        add_tensors(text, view, view->node->output_count, view->node->outputs, aspect == TYPES);
        return;
    }
    cJSON *options = hl_node_options_json(view->model, view->graph, view->node);
    hl_node_options_text(text, options, view->graph, view->node);
    cJSON_Delete(options);
}

static bool has_other_constants(const struct node_view *a, const struct node_view *b)
{
    for (int i = 0; i < a->node->input_count && i < b->node->input_count; i++) {
        if (a->node->inputs[i] < 0 || b->node->inputs[i] < 0) continue;
        const struct hl_model_tensor *x = &a->graph->tensors[a->node->inputs[i]],
                                     *y = &b->graph->tensors[b->node->inputs[i]];
        if (x->data == NULL || y->data == NULL || x->type != y->type) continue;
        if (x->bytes != y->bytes || memcmp(x->data, y->data, x->bytes) != 0) return true;
    }
    return false;
}

static void add_pair(cJSON *pairs, const struct hl_diff_both *both, const struct hl_diff_pair *pair)
{
    struct node_view a = view_of(&both->a, pair->a), b = view_of(&both->b, pair->b);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "a", pair->a);
    cJSON_AddNumberToObject(item, "b", pair->b);
    hl_json_add_string(item, "operator", operator_of(&a));
    for (int i = 0; i < ASPECTS; i++) {
        struct hl_text x = {0}, y = {0};
        add_aspect(&x, &a, (enum aspect)i);
        add_aspect(&y, &b, (enum aspect)i);
        if (strcmp(x.data, y.data) != 0) {
            cJSON *change = cJSON_AddObjectToObject(item, aspect_names[i]);
            hl_json_add_string(change, "a", x.data);
            hl_json_add_string(change, "b", y.data);
        }
        hl_text_free(&x);
        hl_text_free(&y);
    }
    if (has_other_constants(&a, &b)) cJSON_AddTrueToObject(item, "constants");
    cJSON_AddItemToArray(pairs, item);
}

static void add_lone(cJSON *list, const struct hl_model_file *file, int node)
{
    struct node_view view = view_of(file, node);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "node", node);
    hl_json_add_string(item, "operator", operator_of(&view));
    int output = view.node->output_count > 0 ? view.node->outputs[0] : -1;
    hl_json_add_string(item, "name", output >= 0 ? view.graph->tensors[output].name : "");
    cJSON_AddItemToArray(list, item);
}

static void add_structure(cJSON *json, const struct hl_diff_both *both, const struct hl_diff_pair *pairs, int count)
{
    cJSON *structure = cJSON_AddObjectToObject(json, "structure");
    cJSON_AddNumberToObject(structure, "nodes_a", both->a.model->subgraphs[0].node_count);
    cJSON_AddNumberToObject(structure, "nodes_b", both->b.model->subgraphs[0].node_count);
    cJSON *list = cJSON_AddArrayToObject(structure, "pairs"), *only_a = cJSON_AddArrayToObject(structure, "only_a"),
          *only_b = cJSON_AddArrayToObject(structure, "only_b");
    for (int i = 0; i < count; i++) {
        if (pairs[i].b < 0)
            add_lone(only_a, &both->a, pairs[i].a);
        else if (pairs[i].a < 0)
            add_lone(only_b, &both->b, pairs[i].b);
        else
            add_pair(list, both, &pairs[i]);
    }
}

// ---- values -------------------------------------------------------------------------------------

// A pair of tensors: outputs of a pair of nodes, or outputs of the models.
struct row {
    struct hl_diff_pair nodes;
    int a, b; // tensors
    bool is_output;
    struct hl_tensor_error error;
};

static bool is_seen(const struct hl_model_subgraph *graph, int tensor)
{
    return tensor >= 0 && graph->tensors[tensor].data == NULL && !graph->tensors[tensor].is_variable &&
           hl_element_type(graph->tensors[tensor].type).view != HL_ELEMENT_NONE;
}

// Outputs of the models by their order, where both have as many.
static void mark_outputs(const struct hl_diff_both *both, struct row *rows, int *count)
{
    const struct hl_model_subgraph *a = &both->a.model->subgraphs[0], *b = &both->b.model->subgraphs[0];
    for (int i = 0; a->output_count == b->output_count && i < a->output_count; i++) {
        int at = 0;
        while (at < *count && (rows[at].a != a->outputs[i] || rows[at].b != b->outputs[i])) at++;
        if (at < *count)
            rows[at].is_output = true;
        else if (is_seen(a, a->outputs[i]) && is_seen(b, b->outputs[i]))
            rows[(*count)++] = (struct row){{-1, -1}, a->outputs[i], b->outputs[i], true, {0}};
    }
}

static struct row *list_rows(const struct hl_diff_both *both, const struct hl_diff_pair *pairs, int pair_count,
                             int *count)
{
    const struct hl_model_subgraph *a = &both->a.model->subgraphs[0], *b = &both->b.model->subgraphs[0];
    struct row *rows = hl_alloc((size_t)a->tensor_count + (size_t)a->output_count, sizeof *rows);
    *count = 0;
    for (int i = 0; i < pair_count; i++) {
        if (pairs[i].a < 0 || pairs[i].b < 0) continue;
        const struct hl_model_node *x = &a->nodes[pairs[i].a], *y = &b->nodes[pairs[i].b];
        for (int n = 0; n < x->output_count && n < y->output_count; n++)
            if (is_seen(a, x->outputs[n]) && is_seen(b, y->outputs[n]) && *count < a->tensor_count)
                rows[(*count)++] = (struct row){pairs[i], x->outputs[n], y->outputs[n], false, {0}};
    }
    mark_outputs(both, rows, count);
    return rows;
}

// Runs both and fills the errors of the rows.
static bool run_both(struct hl_diff_both *both, const struct hl_diff_models_options *options, struct row *rows,
                     int count)
{
    int *a_tensors = hl_alloc((size_t)count, sizeof *a_tensors),
        *b_tensors = hl_alloc((size_t)count, sizeof *b_tensors);
    struct hl_diff_tensor *a = hl_alloc((size_t)count, sizeof *a), *b = hl_alloc((size_t)count, sizeof *b);
    const struct hl_model_tensor *a_file = both->a.model->subgraphs[0].tensors,
                                 *b_file = both->b.model->subgraphs[0].tensors;
    for (int i = 0; i < count; i++) {
        a_tensors[i] = rows[i].a;
        b_tensors[i] = rows[i].b;
    }
    struct hl_progress progress;
    hl_progress_start(&progress, "running the first", 0, 2);
    bool ok = hl_diff_run("diff", both->a.path, &options->a, &both->a_inputs, count, a_tensors, a);
    hl_progress_step(&progress);
    hl_progress_word(&progress, "running the second");
    ok = ok && hl_diff_run("diff", both->b.path, &options->b, &both->b_inputs, count, b_tensors, b);
    hl_progress_end(&progress);
    for (int i = 0; ok && i < count; i++)
        rows[i].error = hl_tensor_error(&a[i], &a_file[rows[i].a].quantization, &b[i], &b_file[rows[i].b].quantization);
    hl_diff_values_free(a, count);
    hl_diff_values_free(b, count);
    free(a);
    free(b);
    free(a_tensors);
    free(b_tensors);
    return ok;
}

// Decibels that the node of a row loses: the least among its inputs that were compared, less its own. NAN where there
// is nothing to lose from, or to.
static double lost_by(const struct hl_model_subgraph *a, const struct row *rows, int count, const struct row *row)
{
    double before = (double)INFINITY;
    if (row->nodes.a < 0 || !row->error.compared || isinf(row->error.snr)) return (double)NAN;
    const struct hl_model_node *node = &a->nodes[row->nodes.a];
    for (int i = 0; i < node->input_count; i++)
        for (int n = 0; n < count; n++)
            if (rows[n].a == node->inputs[i] && rows[n].error.compared && rows[n].error.snr < before)
                before = rows[n].error.snr;
    return before - row->error.snr;
}

static bool is_beyond(const struct hl_diff_both *both, const struct hl_diff_models_options *options,
                      const struct row *row)
{
    if (!row->is_output) return false;
    if (!row->error.compared) return true;
    const struct hl_model_tensor *a = &both->a.model->subgraphs[0].tensors[row->a];
    bool integer =
        hl_element_type(a->type).view == HL_ELEMENT_SIGNED || hl_element_type(a->type).view == HL_ELEMENT_UNSIGNED;
    if (!integer) return row->error.relative > options->bound;
    double step = a->quantization.type == kTfLiteAffineQuantization && a->quantization.scale_count == 1
                      ? (double)a->quantization.scales[0]
                      : 1;
    return row->error.largest > options->steps * step * (1 + 1e-6);
}

static void add_number(cJSON *item, const char *name, double value)
{
    if (isfinite(value)) cJSON_AddNumberToObject(item, name, value);
}

static void add_row(cJSON *list, const struct hl_diff_both *both, const struct row *row, double lost, bool beyond)
{
    const struct hl_model_subgraph *a = &both->a.model->subgraphs[0], *b = &both->b.model->subgraphs[0];
    const struct hl_tensor_error *error = &row->error;
    cJSON *item = cJSON_CreateObject();
    if (row->nodes.a >= 0) {
        struct node_view view = view_of(&both->a, row->nodes.a);
        cJSON_AddNumberToObject(item, "node_a", row->nodes.a);
        cJSON_AddNumberToObject(item, "node_b", row->nodes.b);
        hl_json_add_string(item, "operator", operator_of(&view));
    }
    cJSON_AddNumberToObject(item, "tensor_a", row->a);
    cJSON_AddNumberToObject(item, "tensor_b", row->b);
    hl_json_add_string(item, "name", a->tensors[row->a].name);
    cJSON_AddStringToObject(item, "type_a", hl_element_name(a->tensors[row->a].type));
    cJSON_AddStringToObject(item, "type_b", hl_element_name(b->tensors[row->b].type));
    cJSON_AddBoolToObject(item, "output", row->is_output);
    cJSON_AddBoolToObject(item, "compared", error->compared);
    cJSON_AddBoolToObject(item, "beyond", beyond);
    if (error->compared) {
        cJSON_AddBoolToObject(item, "equal", error->largest == 0);
        add_number(item, "largest", error->largest);
        add_number(item, "relative", error->relative);
        add_number(item, "mean", error->mean);
        add_number(item, "snr_db", error->snr);
        add_number(item, "lost_db", lost);
        add_number(item, "cosine", error->cosine);
        add_number(item, "element", (double)error->at);
        add_number(item, "value_a", error->value_a);
        add_number(item, "value_b", error->value_b);
        cJSON_AddNumberToObject(item, "not_finite_a", (double)error->not_finite[0]);
        cJSON_AddNumberToObject(item, "not_finite_b", (double)error->not_finite[1]);
    }
    cJSON_AddItemToArray(list, item);
}

static bool add_values(cJSON *json, struct hl_diff_both *both, const struct hl_diff_models_options *options,
                       const struct hl_diff_pair *pairs, int pair_count, bool *beyond)
{
    int count;
    if (!hl_diff_both_fill(both, options->inputs, options->shapes)) return false;
    struct row *rows = list_rows(both, pairs, pair_count, &count);
    bool ok = run_both(both, options, rows, count);
    cJSON *list = ok ? cJSON_AddArrayToObject(json, "tensors") : NULL;
    for (int i = 0; ok && i < count; i++) {
        bool this_beyond = is_beyond(both, options, &rows[i]);
        *beyond = *beyond || this_beyond;
        add_row(list, both, &rows[i], lost_by(&both->a.model->subgraphs[0], rows, count, &rows[i]), this_beyond);
    }
    free(rows);
    return ok;
}

// ---- text ---------------------------------------------------------------------------------------

static double number_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItem(item, name);
    return cJSON_IsNumber(number) ? number->valuedouble : (double)NAN;
}

static const char *string_of(const cJSON *item, const char *name)
{
    const cJSON *string = cJSON_GetObjectItem(item, name);
    return cJSON_IsString(string) ? string->valuestring : "";
}

// Nodes of one side alone: how many of which operators, and where they are few or all are wanted, each.
static void print_lone(const cJSON *list, const char *which, bool all)
{
    enum { FEW = 8 };
    int count = cJSON_GetArraySize(list);
    if (count == 0) return;
    printf("  only in the %s: %d node%s\n", which, count, count == 1 ? "" : "s");
    const cJSON *item, *other;
    cJSON_ArrayForEach(item, list)
    {
        const char *op = string_of(item, "operator"), *name = string_of(item, "name");
        struct hl_text line = {0};
        hl_text_add_escaped(&line, op, strlen(op));
        if (all || count <= FEW) {
            hl_text_add(&line, "  ");
            hl_text_add_escaped(&line, name, strlen(name));
            printf("    node %.0f  %s\n", number_of(item, "node"), line.data);
        } else {
            int same = 0;
            bool first = true;
            cJSON_ArrayForEach(other, list)
            {
                if (strcmp(string_of(other, "operator"), op) != 0) continue;
                if (same++ == 0) first = other == item;
            }
            if (first) printf("    %s %d\n", line.data, same);
        }
        hl_text_free(&line);
    }
}

static void print_change(const cJSON *pair, const char *aspect)
{
    const cJSON *change = cJSON_GetObjectItem(pair, aspect);
    const char *words[] = {string_of(pair, "operator"), string_of(change, "a"), string_of(change, "b")};
    struct hl_text line = {0};
    hl_text_add_escaped(&line, words[0], strlen(words[0]));
    hl_text_add(&line, ", %s: ", aspect);
    hl_text_add_escaped(&line, words[1], strlen(words[1]));
    hl_text_add(&line, "  |  ");
    hl_text_add_escaped(&line, words[2], strlen(words[2]));
    printf("  node %.0f / %.0f  %s\n", number_of(pair, "a"), number_of(pair, "b"), line.data);
    hl_text_free(&line);
}

static void print_structure(const cJSON *structure, bool all)
{
    const cJSON *pairs = cJSON_GetObjectItem(structure, "pairs"), *pair;
    int counts[ASPECTS] = {0}, constants = 0;
    cJSON_ArrayForEach(pair, pairs)
    {
        for (int i = 0; i < ASPECTS; i++) counts[i] += cJSON_HasObjectItem(pair, aspect_names[i]);
        constants += cJSON_HasObjectItem(pair, "constants");
    }
    printf("%d pairs of nodes: %d with other options, %d other shapes, %d other types, %d other constants\n",
           cJSON_GetArraySize(pairs), counts[OPTIONS], counts[SHAPES], counts[TYPES], constants);
    print_lone(cJSON_GetObjectItem(structure, "only_a"), "first", all);
    print_lone(cJSON_GetObjectItem(structure, "only_b"), "second", all);
    for (int i = 0; i < ASPECTS; i++) {
        if (i == TYPES && !all) continue; // of float against int8, every node
        cJSON_ArrayForEach(pair, pairs) if (cJSON_HasObjectItem(pair, aspect_names[i]))
            print_change(pair, aspect_names[i]);
    }
}

static void add_cell(struct hl_table *table, const cJSON *item, const char *name, const char *format)
{
    double value = number_of(item, name);
    if (isnan(value))
        hl_table_add(table,
                     strcmp(name, "snr_db") == 0 && cJSON_IsTrue(cJSON_GetObjectItem(item, "equal")) ? "equal" : "");
    else if (format[1] == 'd')
        hl_table_add(table, "%.0f", value);
    else if (format[2] == '1')
        hl_table_add(table, "%.1f", value);
    else
        hl_table_add(table, "%.6g", value);
}

static void add_text_row(struct hl_table *table, const cJSON *item)
{
    add_cell(table, item, "node_a", "%d");
    add_cell(table, item, "node_b", "%d");
    hl_table_add_name(table, string_of(item, "operator"));
    // Converters join the names of what they fused: the first of them is enough here.
    const char *name = string_of(item, "name");
    struct hl_text part = {0};
    hl_text_add(&part, "%.*s", (int)strcspn(name, ";"), name);
    hl_table_add_name(table, part.data);
    hl_text_free(&part);
    hl_table_add(table, "%s", string_of(item, "type_a"));
    hl_table_add(table, "%s", string_of(item, "type_b"));
    if (!cJSON_IsTrue(cJSON_GetObjectItem(item, "compared"))) {
        for (int i = 0; i < 6; i++) hl_table_add(table, i == 0 ? "not alike" : "");
        return;
    }
    add_cell(table, item, "largest", "%g");
    add_cell(table, item, "mean", "%g");
    add_cell(table, item, "snr_db", "%.1f");
    add_cell(table, item, "lost_db", "%.1f");
    add_cell(table, item, "cosine", "%g");
    hl_table_add(table, cJSON_IsTrue(cJSON_GetObjectItem(item, "beyond"))   ? "output, beyond"
                        : cJSON_IsTrue(cJSON_GetObjectItem(item, "output")) ? "output"
                                                                            : "");
}

static int compare_numbers_down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// What the tenth of the nodes loses that lose most.
static double tenth_loss(const cJSON *rows)
{
    enum { SHOWN = 10 };
    int count = 0, all = cJSON_GetArraySize(rows);
    double *losses = hl_alloc((size_t)all, sizeof *losses);
    const cJSON *item;
    cJSON_ArrayForEach(item, rows)
    {
        double lost = number_of(item, "lost_db");
        if (lost > 0) losses[count++] = lost;
    }
    qsort(losses, (size_t)count, sizeof *losses, compare_numbers_down);
    double bound = count > SHOWN ? losses[SHOWN - 1] : 0;
    free(losses);
    return bound;
}

static void print_values(const cJSON *rows, bool all)
{
    static const char *const heads[] = {"first",   "second", "operator", "tensor",  "types",  "",
                                        "largest", "mean",   "SNR dB",   "lost dB", "cosine", ""};
    double bound = tenth_loss(rows);
    const cJSON *item;
    int equal = 0;
    struct hl_table table;
    hl_table_start(&table, "rrllllrrrrrl");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) hl_table_add(&table, "%s", heads[i]);
    cJSON_ArrayForEach(item, rows)
    {
        bool output = cJSON_IsTrue(cJSON_GetObjectItem(item, "output")),
             same = cJSON_IsTrue(cJSON_GetObjectItem(item, "equal"));
        equal += same;
        double lost = number_of(item, "lost_db");
        if (all || output || (lost > 0 && lost >= bound)) add_text_row(&table, item);
    }
    printf("%d tensors on the same inputs, %d of them equal%s\n", cJSON_GetArraySize(rows), equal,
           all ? "" : "; outputs, and the nodes that lose most:");
    hl_table_print(&table, 2, stdout);
}

static void print_text(const cJSON *json, bool all)
{
    const cJSON *structure = cJSON_GetObjectItem(json, "structure"), *values = cJSON_GetObjectItem(json, "tensors");
    struct hl_text line = {0};
    const char *a = string_of(json, "a"), *b = string_of(json, "b");
    hl_text_add_escaped(&line, a, strlen(a));
    hl_text_add(&line, ", %.0f nodes, against ", number_of(structure, "nodes_a"));
    hl_text_add_escaped(&line, b, strlen(b));
    printf("%s, %.0f nodes\n", line.data, number_of(structure, "nodes_b"));
    hl_text_free(&line);
    print_structure(structure, all);
    if (values != NULL) print_values(values, all);
}

bool hl_diff_models(const char *a, const char *b, const struct hl_diff_models_options *options, bool *beyond)
{
    struct hl_diff_both both = {0};
    bool ok = hl_model_file_open(&both.a, "diff", a) && hl_model_file_open(&both.b, "diff", b);
    if (ok) {
        int count;
        struct hl_diff_pair *pairs = hl_diff_pair_nodes(both.a.model, both.b.model, &count);
        cJSON *json = cJSON_CreateObject();
        hl_json_add_string(json, "a", both.a.path);
        hl_json_add_string(json, "b", both.b.path);
        add_structure(json, &both, pairs, count);
        if (!options->structure) ok = add_values(json, &both, options, pairs, count, beyond);
        if (options->json)
            hl_json_print(json);
        else
            print_text(json, options->all);
        cJSON_Delete(json);
        free(pairs);
    }
    hl_diff_both_free(&both);
    return ok;
}
