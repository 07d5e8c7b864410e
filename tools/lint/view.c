// SPDX-License-Identifier: Apache-2.0
// See lint.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "lint/lint.h"
#include "placement.h"
#include "progress.h"
#include "run_graph.h"

// ---- looking ------------------------------------------------------------------------------------

const char *hl_lint_op(const struct hl_lint *lint, int node)
{
    return hl_model_code_name(&lint->model->codes[lint->graph->nodes[node].code]);
}

bool hl_lint_is(const struct hl_lint *lint, int node, const char *op)
{
    bool custom = lint->model->codes[lint->graph->nodes[node].code].custom_name != NULL;
    return !custom && strcmp(hl_lint_op(lint, node), op) == 0;
}

const struct hl_model_tensor *hl_lint_input(const struct hl_lint *lint, int node, int input)
{
    const struct hl_model_node *of = &lint->graph->nodes[node];
    return input < of->input_count && of->inputs[input] >= 0 ? &lint->graph->tensors[of->inputs[input]] : NULL;
}

const struct hl_model_tensor *hl_lint_output(const struct hl_lint *lint, int node)
{
    const struct hl_model_node *of = &lint->graph->nodes[node];
    return of->output_count > 0 && of->outputs[0] >= 0 ? &lint->graph->tensors[of->outputs[0]] : NULL;
}

int hl_lint_before(const struct hl_lint *lint, int node, int input)
{
    const struct hl_model_node *of = &lint->graph->nodes[node];
    return input < of->input_count && of->inputs[input] >= 0 ? lint->producers[of->inputs[input]] : -1;
}

bool hl_lint_is_static(const struct hl_model_tensor *tensor)
{
    for (int i = 0; i < tensor->signature_rank; i++)
        if (tensor->signature[i] < 0) return false;
    return true;
}

// ---- findings -----------------------------------------------------------------------------------

static cJSON *new_finding(struct hl_lint *lint, const char *rule, bool is_safe, const char *format, va_list args)
{
    struct hl_text text = {0};
    cJSON *finding = cJSON_CreateObject();
    hl_text_add_va(&text, format, args);
    cJSON_AddStringToObject(finding, "rule", rule);
    hl_json_add_string(finding, "text", hl_text_string(&text));
    cJSON_AddBoolToObject(finding, "fixable", is_safe);
    hl_text_free(&text);
    cJSON_AddItemToArray(lint->findings, finding);
    return finding;
}

static void add_time(cJSON *finding, double seconds, bool measured)
{
    if (isnan(seconds)) return;
    cJSON_AddNumberToObject(finding, "microseconds", 1e6 * seconds);
    cJSON_AddBoolToObject(finding, "measured", measured);
}

void hl_lint_add(struct hl_lint *lint, const char *rule, int count, const int *nodes, double share, bool is_safe,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cJSON *finding = new_finding(lint, rule, is_safe, format, args);
    va_end(args);
    double seconds = 0;
    for (int i = 0; i < count; i++) seconds += lint->seconds[nodes[i]];
    cJSON_AddItemToObject(finding, "nodes", cJSON_CreateIntArray(nodes, count));
    add_time(finding, seconds * share, true);
}

void hl_lint_add_estimate(struct hl_lint *lint, const char *rule, double seconds, bool is_safe, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cJSON *finding = new_finding(lint, rule, is_safe, format, args);
    va_end(args);
    cJSON_AddItemToObject(finding, "nodes", cJSON_CreateArray());
    add_time(finding, seconds, false);
}

void hl_lint_check_all(struct hl_lint *lint)
{
#define CHECK(name, advice) hl_lint_check_##name(lint);
    HL_LINT_RULES(CHECK)
#undef CHECK
}

// ---- opening ------------------------------------------------------------------------------------

static void mark_signatures(struct hl_lint *lint)
{
    for (int i = 0; i < lint->model->signature_count; i++) {
        const struct hl_model_signature *signature = &lint->model->signatures[i];
        for (int n = 0; signature->subgraph == 0 && n < signature->output_count; n++)
            lint->is_output[signature->outputs[n].tensor] = true;
        for (int n = 0; signature->subgraph == 0 && n < signature->input_count; n++)
            lint->is_output[signature->inputs[n].tensor] = true;
    }
}

static void link_tensors(struct hl_lint *lint)
{
    const struct hl_model_subgraph *graph = lint->graph;
    size_t tensors = (size_t)graph->tensor_count, nodes = (size_t)graph->node_count;
    lint->producers = hl_alloc(tensors, sizeof *lint->producers);
    lint->reads = hl_alloc(tensors, sizeof *lint->reads);
    lint->is_output = hl_alloc(tensors, sizeof *lint->is_output);
    lint->seconds = hl_alloc(nodes, sizeof *lint->seconds);
    lint->edits.replaced = hl_alloc(tensors, sizeof *lint->edits.replaced);
    lint->edits.removed = hl_alloc(nodes, sizeof *lint->edits.removed);
    for (int i = 0; i < graph->tensor_count; i++) lint->producers[i] = -1, lint->edits.replaced[i] = i;
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] >= 0) lint->is_output[graph->outputs[i]] = true;
    mark_signatures(lint);
    for (int n = 0; n < graph->node_count; n++) {
        const struct hl_model_node *node = &graph->nodes[n];
        lint->seconds[n] = (double)NAN;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0) lint->reads[node->inputs[i]]++;
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] >= 0) lint->producers[node->outputs[i]] = n;
    }
}

// Times of the nodes on the CPU, the means of so many runs. A model that does not run has none.
static void measure(struct hl_lint *lint, const struct hl_model_options *options, int runs)
{
    struct hl_model_file file;
    struct hl_graph graph = {.file = &file};
    bool ok = hl_model_file_open(&file, "lint", options->model) && hl_model_file_try(&file, options) &&
              hl_graph_open(&graph, NULL) && TfLiteInterpreterAllocateTensors(file.interpreter) == kTfLiteOk;
    for (int i = 0; ok && i < graph.input_count; i++) ok = hl_graph_fill_random(&graph, i, 1 + (uint64_t)i);
    struct hl_progress progress;
    hl_progress_start(&progress, "timing", 0, 1 + runs);
    ok = ok && hl_graph_invoke(&graph) == kTfLiteOk;
    hl_progress_step(&progress);
    if (ok) HaliteInterpreterSetProfiling(file.interpreter, true);
    for (int i = 0; ok && i < runs; i++) {
        ok = hl_graph_invoke(&graph) == kTfLiteOk;
        hl_progress_step(&progress);
    }
    hl_progress_end(&progress);
    for (int i = 0; ok && i < HaliteInterpreterGetNodeCount(file.interpreter); i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(file.interpreter, i, &node) != kTfLiteOk || node.runs == 0) continue;
        if (node.node >= 0 && node.node < lint->graph->node_count)
            lint->seconds[node.node] = 1e-9 * (double)node.nanoseconds / (double)node.runs;
    }
    hl_graph_close(&graph);
    hl_model_file_close(&file);
}

// Where the nodes would be on any GPU: the null device takes what the kernels take.
static void place(struct hl_lint *lint, const struct hl_model_options *options)
{
    struct hl_gpu_library library = {0};
    struct hl_text problem = {0};
    bool there = hl_gpu_library_open(&library, &problem);
    hl_text_free(&problem);
    if (!there) return;
    struct hl_model_options gpu = {.threads = options->threads, .gpu = true, .device = "null", .stand_ins = true};
    struct hl_node_placement placement;
    cJSON *json = cJSON_CreateObject();
    if (hl_node_placement_open(&placement, "lint", options->model, &gpu)) hl_node_placement_json(&placement, json);
    hl_node_placement_close(&placement);
    lint->placement = cJSON_DetachItemFromObject(json, "placement");
    cJSON_Delete(json);
}

void hl_lint_open(struct hl_lint *lint, const struct hl_model_file *file, const struct hl_model_options *options,
                  int runs, bool gpu)
{
    *lint = (struct hl_lint){
        .path = file->path,
        .model = file->model,
        .graph = &file->model->subgraphs[0],
        .findings = cJSON_CreateArray(),
    };
    link_tensors(lint);
    if (runs > 0) measure(lint, options, runs);
    if (gpu) place(lint, options);
}

void hl_lint_close(struct hl_lint *lint)
{
    free(lint->producers);
    free(lint->reads);
    free(lint->is_output);
    free(lint->seconds);
    free(lint->edits.replaced);
    free(lint->edits.removed);
    cJSON_Delete((cJSON *)lint->placement);
    cJSON_Delete(lint->findings);
    *lint = (struct hl_lint){0};
}
