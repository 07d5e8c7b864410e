// SPDX-License-Identifier: Apache-2.0
// halite diff: where do two ways to run a model part? In: a model, its inputs, two settings. Out: for each node the
// distance of its outputs, the first that goes beyond a bound, and values that are no numbers or too large for half
// floats. Two models are compared in models.c.
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "commands.h"
#include "diff/models.h"
#include "diff/rows.h"
#include "diff/setting.h"
#include "json.h"
#include "message.h"
#include "progress.h"

struct options {
    const char *a, *b;
    struct hl_flag_list inputs, shapes;
    double bound, steps;
    bool all, bisect, json, fail, structure;
};

static const struct options defaults = {.a = "reference", .bound = 1e-3, .steps = 1};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "from", .letter = 'a', .kind = HL_FLAG_STRING, .value = "SETTING", .offset = offsetof(struct options, a),
     .help = "what is right; default reference"},
    {.name = "to", .letter = 'b', .kind = HL_FLAG_STRING, .value = "SETTING", .offset = offsetof(struct options, b),
     .help = "what is compared with it; default auto, the fastest GPU;\nfor two models: as --from"},
    {.name = "input", .letter = 'i', .kind = HL_FLAG_LIST, .value = "TENSOR=VALUE",
     .offset = offsetof(struct options, inputs), .help = "as for halite run; default: random"},
    {.name = "shape", .letter = 's', .kind = HL_FLAG_LIST, .value = "TENSOR=DIMS",
     .offset = offsetof(struct options, shapes), .help = "resize an input: 1,224,224,3"},
    {.name = "bound", .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1e300, .offset = offsetof(struct options, bound),
     .help = "for reals: largest difference as a part of the tensor's\nlargest value; default 0.001"},
    {.name = "steps", .kind = HL_FLAG_NUMBER, .value = "N", .min = 0, .max = 1e18, .offset = offsetof(struct options, steps),
     .help = "for integers: largest difference; default 1"},
    {.name = "bisect", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, bisect),
     .help = "search the first node beyond the bound with one tensor seen\nat a time: a GPU fuses as it does without looking"},
    {.name = "all", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, all),
     .help = "list all nodes, not only those beyond the bound; of two\nmodels, not only those that lose most"},
    {.name = "structure", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, structure),
     .help = "two models: compare what is in them, run neither"},
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json),
     .help = "all nodes as JSON"},
    {.name = "fail", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, fail),
     .help = "exit code 1 where a node is beyond the bound; of two models,\nan output"},
};
// clang-format on

static const char details[] =
    "SETTING: reference or fast (CPU kernels), official (the Python package ai-edge-litert), or a GPU by\n"
    "the name of its device, with its precision: auto, opencl/f16, vulkan:0/f16s.\n";

// ---- both sides ---------------------------------------------------------------------------------

struct diff {
    const char *path;
    const struct options *options;
    struct hl_diff_setting a, b;
    struct hl_model_file file; // for the names of things
    struct hl_diff_inputs inputs;
    struct hl_progress progress; // a step for each run
    int count;
    struct hl_diff_row *rows;
    int *tensors;
};

static void list_tensors(struct diff *diff)
{
    const TfLiteModel *model = diff->file.model;
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    struct hl_diff_output *outputs = hl_diff_list_outputs(model, &diff->count);
    diff->rows = hl_alloc((size_t)diff->count, sizeof *diff->rows);
    diff->tensors = hl_alloc((size_t)diff->count, sizeof *diff->tensors);
    for (int i = 0; i < diff->count; i++) {
        diff->tensors[i] = outputs[i].tensor;
        diff->rows[i] = (struct hl_diff_row){
            .node = outputs[i].node,
            .tensor = outputs[i].tensor,
            .op = hl_model_code_name(&model->codes[graph->nodes[outputs[i].node].code]),
            .name = graph->tensors[outputs[i].tensor].name,
        };
    }
    free(outputs);
}

static bool run_side(struct diff *diff, const struct hl_diff_setting *setting, int first, int count,
                     struct hl_diff_tensor *values)
{
    diff->progress.word = setting->name;
    bool ok = hl_diff_run("diff", diff->path, setting, &diff->inputs, count, diff->tensors + first, values);
    hl_progress_step(&diff->progress);
    return ok;
}

static bool compare_range(struct diff *diff, int first, int count)
{
    struct hl_diff_tensor *a = hl_alloc((size_t)count, sizeof *a), *b = hl_alloc((size_t)count, sizeof *b);
    bool ok = run_side(diff, &diff->a, first, count, a) && run_side(diff, &diff->b, first, count, b);
    for (int i = 0; ok && i < count; i++) {
        struct hl_diff_row *row = &diff->rows[first + i];
        *row = (struct hl_diff_row){
            .node = row->node,
            .tensor = row->tensor,
            .op = row->op,
            .name = row->name,
        };
        hl_diff_row_compare(row, &a[i], &b[i], diff->options->bound, diff->options->steps);
    }
    hl_diff_values_free(a, count);
    hl_diff_values_free(b, count);
    free(a);
    free(b);
    return ok;
}

// The first row beyond the bound, if rows before it are within and those behind it are not; diff->count: the last is
// within.
static bool bisect(struct diff *diff, int *first)
{
    int low = 0, high = diff->count - 1;
    *first = diff->count;
    if (diff->count == 0) return true;
    if (!compare_range(diff, high, 1)) return false;
    if (!diff->rows[high].beyond) return true;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (!compare_range(diff, middle, 1)) return false;
        if (diff->rows[middle].beyond)
            high = middle;
        else
            low = middle + 1;
    }
    *first = high;
    return high == diff->count - 1 || compare_range(diff, high, 1);
}

// ---- showing ------------------------------------------------------------------------------------

static void print_text(const struct diff *diff, int first)
{
    printf("%s against %s, %d tensors of %d nodes\n", diff->b.name, diff->a.name, diff->count,
           diff->file.model->subgraphs[0].node_count);
    for (int i = 0; i < diff->count; i++)
        diff->rows[i].shown =
            diff->options->bisect ? i == first : diff->options->all || diff->rows[i].beyond || i == diff->count - 1;
    hl_diff_rows_print(diff->rows, diff->count, diff->a.name, diff->b.name);
    if (diff->options->bisect && first < diff->count)
        printf("first beyond the bound: node %d, %s\n", diff->rows[first].node, diff->rows[first].op);
    else
        hl_diff_rows_conclude(diff->rows, diff->count, diff->options->bound, diff->options->steps);
}

static void print_json(const struct diff *diff, int first)
{
    cJSON *json = cJSON_CreateObject();
    hl_json_add_string(json, "file", diff->path);
    hl_json_add_string(json, "from", diff->a.name);
    hl_json_add_string(json, "to", diff->b.name);
    if (first < diff->count) cJSON_AddNumberToObject(json, "first_beyond", diff->rows[first].node);
    cJSON *rows = cJSON_AddArrayToObject(json, "tensors");
    for (int i = 0; i < diff->count; i++) {
        const struct hl_diff_row *row = &diff->rows[i];
        if (diff->options->bisect && i != first) continue;
        cJSON_AddItemToArray(rows, hl_diff_row_json(row));
    }
    hl_json_print(json);
    cJSON_Delete(json);
}

// ---- the subcommand -----------------------------------------------------------------------------

static bool take_inputs(struct diff *diff)
{
    struct hl_model_options plain = {.threads = -1};
    struct hl_graph graph = {.file = &diff->file};
    bool ok = hl_model_file_start(&diff->file, &plain) && hl_graph_open(&graph, NULL) &&
              hl_graph_resize(&graph, &diff->options->shapes, &diff->options->inputs) && hl_graph_allocate(&graph) &&
              hl_graph_fill(&graph, &diff->options->inputs, true) && hl_diff_inputs_take(&diff->inputs, &graph);
    hl_graph_close(&graph);
    return ok;
}

static bool run_diff(struct diff *diff, bool *beyond)
{
    const struct options *options = diff->options;
    if (!hl_model_file_open(&diff->file, "diff", diff->path) || !take_inputs(diff)) return false;
    list_tensors(diff);
    int first = diff->count, steps = 2;
    for (int left = diff->count; options->bisect && left > 1; left = (left + 1) / 2) steps += 2;
    hl_progress_start(&diff->progress, options->a, 0, steps);
    bool ok = options->bisect ? bisect(diff, &first) : compare_range(diff, 0, diff->count);
    hl_progress_end(&diff->progress);
    if (!ok) return false;
    for (int i = diff->count; i-- > 0 && !options->bisect;)
        if (diff->rows[i].beyond) first = i;
    *beyond = first < diff->count;
    if (options->json)
        print_json(diff, first);
    else
        print_text(diff, first);
    return true;
}

static bool run_settings(const char *path, const struct options *options, bool *beyond)
{
    struct diff diff = {.path = path, .options = options};
    bool ok = hl_diff_setting_parse(&diff.a, options->a) &&
              hl_diff_setting_parse(&diff.b, options->b != NULL ? options->b : "auto") && run_diff(&diff, beyond);
    hl_model_file_close(&diff.file);
    hl_diff_inputs_free(&diff.inputs);
    free(diff.rows);
    free(diff.tensors);
    return ok;
}

static bool run_models(char **paths, const struct options *options, bool *beyond)
{
    struct hl_diff_models_options models = {
        .inputs = &options->inputs,
        .shapes = &options->shapes,
        .bound = options->bound,
        .steps = options->steps,
        .all = options->all,
        .json = options->json,
        .structure = options->structure,
    };
    if (options->bisect) {
        hl_error("diff", NULL, "--bisect is for one model run in two ways; of two models all nodes are compared");
        return false;
    }
    return hl_diff_setting_parse(&models.a, options->a) &&
           hl_diff_setting_parse(&models.b, options->b != NULL ? options->b : options->a) &&
           hl_diff_models(paths[0], paths[1], &models, beyond);
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct options *options = given;
    bool beyond = false,
         ok = operand_count == 2 ? run_models(operands, options, &beyond) : run_settings(operands[0], options, &beyond);
    return ok && !(beyond && options->fail) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite diff model.tflite --to opencl/f16s", "half floats in memory against the reference kernels"},
    {"halite diff model.tflite --from official --to fast", "against the official runtime"},
    {"halite diff float.tflite int8.tflite", "two models: what is in them, and where the error grows"},
    {"halite diff model.tflite --to vulkan --bisect --fail", "for a script: the first node beyond the bound"},
    {NULL, NULL},
};

const struct hl_command hl_command_diff = {
    .name = "diff",
    .summary = "Compare two ways to run a model, or two models, node by node.",
    .operands = "MODEL [MODEL]",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = 2,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_PYTHON | HL_ENVIRONMENT_TABLES,
    .run = run,
};
