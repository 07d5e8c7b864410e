// SPDX-License-Identifier: Apache-2.0
// See messages.h.
#include "benchmark/messages.h"

#include <ctype.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "output_file.h"
#include "runtime/interpreter.h"
#include "state.h"
#include "wire.h"

// ---- all of them --------------------------------------------------------------------------------

// Takes the tree.
static bool write(const char *path, enum hl_wire_message message, cJSON *tree)
{
    bool ok = hl_wire_write(path, message, tree);
    cJSON_Delete(tree);
    return ok;
}

bool hl_benchmark_check(const struct hl_benchmark_options *options)
{
    const char *mode = options->op_profiling_output_mode;
    bool profile = options->enable_op_profiling, proto = profile && strcmp(mode, "proto") == 0;
    if (*options->graph == '\0') {
        hl_error(HL_TFLITE, NULL, "Please specify the name of your TF Lite input file with --graph");
        return false;
    }
    if (profile && !proto && strcmp(mode, "stdout") != 0 && strcmp(mode, "csv") != 0) {
        hl_error(HL_TFLITE, NULL,
                 "Output mode %s is not supported. Supported values are: 'stdout', 'csv' and "
                 "'proto'.",
                 mode);
        return false;
    }
    if (proto && *options->op_profiling_output_file == '\0') {
        hl_error(HL_TFLITE, NULL,
                 "--op_profiling_output_mode=proto needs a file: "
                 "--op_profiling_output_file");
        return false;
    }
    if (options->export_model_runtime_info && *options->model_runtime_info_output_file == '\0') {
        hl_error(HL_TFLITE, NULL,
                 "--export_model_runtime_info needs a file: "
                 "--model_runtime_info_output_file");
        return false;
    }
    const char *const plain[] = {options->output_filepath, options->output_proto_filepath,
                                 profile ? options->profiling_output_csv_file : "",
                                 profile && !proto ? options->op_profiling_output_file : ""};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (*plain[i] != '\0' && !hl_output_check(HL_TFLITE, plain[i])) return false;
    return hl_wire_check(options->result_file_path) && hl_wire_check(options->model_runtime_info_output_file) &&
           (!proto || hl_wire_check(options->op_profiling_output_file));
}

// ---- the result ---------------------------------------------------------------------------------

// Each device that was counted; nothing where none was.
static void add_energy(cJSON *tree, const struct hl_benchmark_figures *figures)
{
    int count = 0, runs = figures->run_us.count;
    const struct hl_energy_figure *energy = figures->energy ? hl_energy_figures(figures->energy, &count) : NULL;
    if (count == 0 || runs == 0) return;
    cJSON *list = hl_alloc_check(cJSON_AddArrayToObject(tree, "energy_metrics"));
    for (int i = 0; i < count; i++) {
        cJSON *one = hl_alloc_check(cJSON_CreateObject());
        cJSON_AddStringToObject(one, "source", energy[i].source);
        hl_json_add_string(one, "device", energy[i].device);
        cJSON_AddNumberToObject(one, "joules_per_inference", energy[i].joules / runs);
        cJSON_AddNumberToObject(one, "mean_watts", energy[i].watts);
        cJSON_AddItemToArray(list, one);
    }
}

bool hl_benchmark_write_result(const char *path, const char *name, const struct hl_benchmark_figures *figures)
{
    struct hl_series_figures runs = hl_series_figures(&figures->run_us),
                             warmup = hl_series_figures(&figures->warmup_us);
    double first = figures->warmup_us.count > 0 ? warmup.first : runs.first;
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    if (*name != '\0') hl_json_add_string(tree, "name", name);
    cJSON *latency = hl_alloc_check(cJSON_AddObjectToObject(tree, "latency_metrics"));
    const struct {
        const char *field;
        double us;
    } times[] = {
        {"avg_ms", runs.average},      {"min_ms", runs.min},
        {"max_ms", runs.max},          {"stddev_ms", runs.deviation},
        {"median_ms", runs.median},    {"p5_ms", runs.p5},
        {"p95_ms", runs.p95},          {"init_ms", figures->init_us},
        {"first_inference_ms", first}, {"average_warm_up_ms", warmup.average},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        cJSON_AddNumberToObject(latency, times[i].field, times[i].us / 1e3);
    cJSON *memory = hl_alloc_check(cJSON_AddObjectToObject(tree, "memory_metrics"));
    cJSON_AddNumberToObject(memory, "init_footprint_kb", figures->memory_init * 1024);
    cJSON_AddNumberToObject(memory, "overall_footprint_kb", figures->memory_overall * 1024);
    if (figures->memory_peak > 0) cJSON_AddNumberToObject(memory, "peak_mem_mb", figures->memory_peak);
    cJSON *rest = hl_alloc_check(cJSON_AddObjectToObject(tree, "misc_metrics"));
    cJSON_AddNumberToObject(rest, "model_size_mb", (double)figures->model_bytes / 1e6);
    cJSON_AddNumberToObject(rest, "num_runs", figures->run_us.count);
    cJSON_AddNumberToObject(rest, "num_warmup_runs", figures->warmup_us.count);
    if (runs.average > 0)
        cJSON_AddNumberToObject(rest, "model_throughput_in_mb_per_sec",
                                (double)figures->input_bytes / 1048576 / (runs.average / 1e6));
    add_energy(tree, figures);
    return write(path, HL_WIRE_BENCHMARK, tree);
}

// ---- what runs ----------------------------------------------------------------------------------

static void add_list(cJSON *tree, const char *name, const TfLiteIntArray *list)
{
    if (list != NULL) cJSON_AddItemToObject(tree, name, hl_alloc_check(cJSON_CreateIntArray(list->data, list->size)));
}

// kTfLiteFloat32 is FLOAT32 there.
static void add_type(cJSON *tree, TfLiteType type)
{
    char name[32] = "UNKNOWN_TYPE";
    if (type != kTfLiteNoType && type <= kTfLiteUInt4)
        snprintf(name, sizeof name, "%s", hl_state_type_name(type) + strlen("kTfLite"));
    for (char *at = name; *at != '\0'; at++) *at = (char)toupper((unsigned char)*at);
    cJSON_AddStringToObject(tree, "data_type", name);
}

static cJSON *edge_of(const TfLiteTensor *tensor, int index)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    cJSON_AddNumberToObject(tree, "id", index);
    hl_json_add_string(tree, "name", tensor->name != NULL ? tensor->name : "");
    add_type(tree, tensor->type);
    add_list(tree, "shape", tensor->dims);
    cJSON_AddStringToObject(tree, "allocation_type", hl_state_allocation_name(tensor->allocation_type));
    cJSON_AddStringToObject(tree, "layout_type", "UNKNOWN");
    cJSON_AddNumberToObject(tree, "size", (double)tensor->bytes);
    return tree;
}

static cJSON *node_of(const struct hl_subgraph *subgraph, int index)
{
    const struct hl_node *node = subgraph->nodes[index];
    bool delegate = node->node.delegate != NULL;
    int by = delegate ? -1 : hl_state_replaced_by(subgraph, index);
    struct hl_text type = {0};
    if (node->registration.custom_name != NULL)
        hl_text_add(&type, "%s%s", by >= 0 ? "Delegate/" : "", node->registration.custom_name);
    else
        hl_text_add(&type, "%d", node->registration.builtin_code);
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    cJSON_AddNumberToObject(tree, "id", index);
    hl_json_add_string(tree, "name", node->name);
    hl_json_add_string(tree, "type", type.data);
    hl_text_free(&type);
    add_list(tree, "inputs", node->node.inputs);
    add_list(tree, "outputs", node->node.outputs);
    add_list(tree, "intermediates", node->node.intermediates);
    add_list(tree, "temporaries", node->node.temporaries);
    if (by >= 0) cJSON_AddNumberToObject(tree, "delegated_to_node_id", by);
    if (delegate) {
        cJSON *details = hl_alloc_check(cJSON_AddObjectToObject(tree, "delegate_node_details"));
        hl_json_add_string(details, "delegate_name", node->name);
        add_list(details, "tflite_node_ids_replaced", hl_delegate_replaced_nodes(node));
    }
    return tree;
}

bool hl_benchmark_write_runtime(const char *path, const struct hl_model_file *file)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    hl_json_add_string(tree, "model_name", file->path);
    cJSON *subgraphs = hl_alloc_check(cJSON_AddArrayToObject(tree, "subgraphs"));
    for (int i = 0; i < file->interpreter->subgraph_count; i++) {
        const struct hl_subgraph *subgraph = file->interpreter->subgraphs[i];
        cJSON *one = hl_alloc_check(cJSON_CreateObject());
        cJSON_AddNumberToObject(one, "subgraph_id", i);
        cJSON *edges = hl_alloc_check(cJSON_AddArrayToObject(one, "edges"));
        for (int t = 0; t < subgraph->tensor_count; t++)
            cJSON_AddItemToArray(edges, edge_of(&subgraph->context.tensors[t], t));
        cJSON *nodes = hl_alloc_check(cJSON_AddArrayToObject(one, "nodes"));
        for (int n = 0; n < subgraph->node_count; n++) cJSON_AddItemToArray(nodes, node_of(subgraph, n));
        add_list(one, "execution_plan", subgraph->plan);
        cJSON_AddStringToObject(one, "subgraph_type", "TFLITE_SUBGRAPH");
        hl_json_add_string(one, "name", file->model->subgraphs[i].name);
        cJSON_AddItemToArray(subgraphs, one);
    }
    return write(path, HL_WIRE_RUNTIME, tree);
}

// ---- times of operators -------------------------------------------------------------------------

bool hl_benchmark_write_profile(const char *path, const struct hl_profile *initialization,
                                const struct hl_profile *runs)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    hl_json_add_string(tree, "model_name", runs->file->path);
    cJSON_AddItemToObject(tree, "init_profile", hl_profile_tree(initialization));
    cJSON_AddItemToObject(tree, "runtime_profile", hl_profile_tree(runs));
    return write(path, HL_WIRE_PROFILE, tree);
}
