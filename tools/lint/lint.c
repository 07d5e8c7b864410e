// SPDX-License-Identifier: Apache-2.0
// halite lint: the command, and the report of its findings. See lint.h.
#include "lint/lint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "table.h"

struct options {
    struct hl_model_options model;
    int runs;
    bool json, fail;
    const char *fix;
};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .runs = 5};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    {.name = "fix", .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, fix),
     .help = "write the model without the findings that are safe to fix,\nafter its outputs were found equal"},
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 0, .max = 1000000,
     .offset = offsetof(struct options, runs), .help = "timed runs on the CPU; 0: no times; default 5"},
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json),
     .help = "findings as JSON"},
    {.name = "fail", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, fail),
     .help = "exit code 1 where something is found"},
    {.name = "threads", .letter = 't', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = HL_MODEL_MAX_THREADS,
     .offset = offsetof(struct options, model.threads), .help = "threads of the timed runs; default: the library's choice"},
};
// clang-format on

static const struct {
    const char *name, *advice;
} rules[] = {
#define RULE(name, advice) {#name, advice},
    HL_LINT_RULES(RULE)
#undef RULE
};

static const char *string_of(const cJSON *object, const char *name)
{
    const cJSON *string = cJSON_GetObjectItem(object, name);
    return cJSON_IsString(string) ? string->valuestring : "";
}

static void add_nodes(struct hl_text *text, const cJSON *nodes)
{
    enum { SHOWN = 4 };
    int count = cJSON_GetArraySize(nodes), i = 0;
    const cJSON *node;
    hl_text_add(text, "%s", count == 0 ? "" : count == 1 ? "node" : "nodes");
    cJSON_ArrayForEach(node, nodes)
    {
        if (i == SHOWN) hl_text_add(text, " and %d more", count - SHOWN);
        if (i++ < SHOWN) hl_text_add(text, " %d", node->valueint);
    }
}

static void add_row(struct hl_table *table, const cJSON *finding)
{
    struct hl_text nodes = {0};
    char time[48] = "";
    const cJSON *microseconds = cJSON_GetObjectItem(finding, "microseconds");
    if (cJSON_IsNumber(microseconds)) {
        hl_format_seconds(time, sizeof time, 1e-6 * microseconds->valuedouble);
        if (!cJSON_IsTrue(cJSON_GetObjectItem(finding, "measured"))) strcat(time, ", estimated");
    }
    add_nodes(&nodes, cJSON_GetObjectItem(finding, "nodes"));
    hl_table_add(table, "%s", nodes.data);
    hl_table_add(table, "%s", time);
    hl_table_add_name(table, string_of(finding, "text"));
    hl_table_add(table, "%s", cJSON_IsTrue(cJSON_GetObjectItem(finding, "fixable")) ? "--fix" : "");
    hl_text_free(&nodes);
}

static void print_text(const struct hl_lint *lint)
{
    struct hl_text line = {0};
    int count = cJSON_GetArraySize(lint->findings);
    hl_text_add_escaped(&line, lint->path, strlen(lint->path));
    printf("%s: %d finding%s", line.data, count, count == 1 ? "" : "s");
    hl_text_free(&line);
    double total = 0;
    for (int n = 0; n < lint->graph->node_count; n++) total += isnan(lint->seconds[n]) ? 0 : lint->seconds[n];
    char time[32];
    hl_format_seconds(time, sizeof time, total);
    if (total > 0) printf("; a run on the CPU takes %s", time);
    printf("%s\n", lint->placement == NULL ? "; nothing is known of GPUs without the GPU delegate" : "");
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        const cJSON *finding;
        bool said = false;
        struct hl_table table;
        hl_table_start(&table, "lrll");
        cJSON_ArrayForEach(finding, lint->findings)
        {
            if (strcmp(string_of(finding, "rule"), rules[r].name) != 0) continue;
            if (!said) printf("\n%s: %s\n", rules[r].name, rules[r].advice);
            said = true;
            add_row(&table, finding);
        }
        hl_table_print(&table, 2, stdout);
    }
}

static void print_json(struct hl_lint *lint)
{
    cJSON *json = cJSON_CreateObject(), *finding;
    hl_json_add_string(json, "file", lint->path);
    cJSON_ArrayForEach(finding, lint->findings) for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
    {
        if (strcmp(string_of(finding, "rule"), rules[r].name) == 0)
            cJSON_AddStringToObject(finding, "advice", rules[r].advice);
    }
    cJSON_AddBoolToObject(json, "gpu_known", lint->placement != NULL);
    cJSON_AddItemToObject(json, "findings", lint->findings);
    lint->findings = NULL;
    hl_json_print(json);
    cJSON_Delete(json);
}

// The findings of the model. Their number, -1 after a message.
static int report(const struct options *options)
{
    struct hl_model_file file;
    int count = -1;
    if (hl_model_file_open(&file, "lint", options->model.model)) {
        struct hl_lint lint;
        hl_lint_open(&lint, &file, &options->model, options->runs, true);
        hl_lint_check_all(&lint);
        count = cJSON_GetArraySize(lint.findings);
        if (options->json)
            print_json(&lint);
        else
            print_text(&lint);
        hl_lint_close(&lint);
    }
    hl_model_file_close(&file);
    return count;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    int count = report(options), fixed = 0;
    if (count < 0) return HL_EXIT_FAILED;
    if (options->fix != NULL) {
        if (!hl_lint_fix(options->model.model, options->fix, &fixed)) return HL_EXIT_FAILED;
        if (fixed == 0)
            hl_info("lint", options->model.model, "has nothing that is safe to fix; %s is not written", options->fix);
        else if (!options->json)
            printf("\n%s: without %d finding%s, with equal outputs\n", options->fix, fixed, fixed == 1 ? "" : "s");
    }
    return options->fail && count > 0 ? HL_EXIT_FAILED : HL_EXIT_OK;
}

static const struct hl_example examples[] = {
    {"halite lint model.tflite", "what could be faster, and by how much"},
    {"halite lint model.tflite --fix better.tflite", "and a model without what is needless"},
    {NULL, NULL},
};

const struct hl_command hl_command_lint = {
    .name = "lint",
    .summary = "Say what in a model costs time without need, and fix what is safe.",
    .details = "Times are those of the nodes on the CPU here; estimated ones are of copies, at 10 GB/s.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    .environment = HL_ENVIRONMENT_CPU | HL_ENVIRONMENT_TABLES,
    .run = run,
};
