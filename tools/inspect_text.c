// SPDX-License-Identifier: Apache-2.0
// A model for people: sections of aligned columns.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "inspect.h"
#include "metadata.h"
#include "node_options.h"
#include "opset.h"
#include "table.h"

static void print_name(const char *name)
{
    struct hl_text text = {0};
    hl_text_add_escaped(&text, name, strlen(name));
    fputs(hl_text_string(&text), stdout);
    hl_text_free(&text);
}

static void add_quantization(struct hl_table *table, const struct hl_model_quantization *q)
{
    if (q->type == kTfLiteNoQuantization)
        hl_table_add(table, "%s", "");
    else if (q->type == kTfLiteAffineQuantization && q->scale_count == 1)
        hl_table_add(table, "scale %.9g, zero %d", (double)q->scales[0], q->zero_points[0]);
    else if (q->type == kTfLiteAffineQuantization)
        hl_table_add(table, "%d scales along dimension %d", q->scale_count, q->dimension);
    else
        hl_table_add(table, "blocks of %d, scales in tensor %d", q->block_size, q->scales_tensor);
}

static void add_shape(struct hl_table *table, const struct hl_model_tensor *tensor)
{
    struct hl_text shape = {0};
    // The signature says which dimensions may change.
    bool signature = tensor->signature_rank == tensor->rank;
    hl_model_add_shape(&shape, tensor->type, tensor->rank, signature ? tensor->signature : tensor->dims);
    hl_table_add(table, "%s", shape.data);
    hl_text_free(&shape);
}

static void print_ends(const char *title, const struct hl_model_subgraph *subgraph, int count, const int *tensors)
{
    struct hl_table table;
    hl_table_start(&table, "rlll");
    for (int i = 0; i < count; i++) {
        const struct hl_model_tensor *tensor = &subgraph->tensors[tensors[i]];
        hl_table_add(&table, "%d", i);
        hl_table_add_name(&table, tensor->name);
        add_shape(&table, tensor);
        add_quantization(&table, &tensor->quantization);
    }
    printf("\n%s%s\n", title, count > 0 ? "" : ": none");
    hl_table_print(&table, 2, stdout);
}

static void print_signatures(const TfLiteModel *model)
{
    if (model->signature_count > 0) printf("\nsignatures\n");
    for (int i = 0; i < model->signature_count; i++) {
        const struct hl_model_signature *signature = &model->signatures[i];
        printf("  ");
        print_name(signature->key);
        if (model->subgraph_count > 1) printf("  (subgraph %d)", signature->subgraph);
        printf("\n");
        struct hl_table table;
        hl_table_start(&table, "lll");
        for (int k = 0; k < signature->input_count + signature->output_count; k++) {
            bool input = k < signature->input_count;
            const struct hl_model_signature_entry *entry =
                input ? &signature->inputs[k] : &signature->outputs[k - signature->input_count];
            hl_table_add(&table, input ? "in" : "out");
            hl_table_add_name(&table, entry->name);
            add_shape(&table, &model->subgraphs[signature->subgraph].tensors[entry->tensor]);
        }
        hl_table_print(&table, 4, stdout);
    }
}

static void print_metadata(const TfLiteModel *model)
{
    if (model->metadata_count == 0) return;
    struct hl_table table;
    hl_table_start(&table, "lrl");
    for (int i = 0; i < model->metadata_count; i++) {
        const struct hl_model_metadata *entry = &model->metadata[i];
        int text = hl_inspect_metadata_text(entry);
        char bytes[32];
        hl_format_bytes(bytes, sizeof bytes, entry->bytes);
        hl_table_add_name(&table, entry->name != NULL ? entry->name : "");
        hl_table_add(&table, "%s", bytes);
        hl_table_add(&table, "%.*s", text, text > 0 ? entry->data : "");
    }
    printf("\nmetadata\n");
    hl_table_print(&table, 2, stdout);
}

static void add_work(struct hl_table *table, const struct hl_node_work *work)
{
    char multiply_adds[32] = "", parameters[32] = "", intensity[32] = "";
    if (work->multiply_adds > 0) hl_format_count(multiply_adds, sizeof multiply_adds, work->multiply_adds);
    if (work->parameters > 0) hl_format_count(parameters, sizeof parameters, work->parameters);
    double operations = hl_node_work_intensity(work);
    if (operations > 0) snprintf(intensity, sizeof intensity, "%.*f", operations < 10 ? 2 : 0, operations);
    hl_table_add(table, "%s", multiply_adds);
    hl_table_add(table, "%s", parameters);
    hl_table_add(table, "%s", intensity);
}

static void print_operators(const TfLiteModel *model)
{
    int count;
    struct hl_inspect_count *counts = hl_inspect_count_operators(model, &count);
    struct hl_table table;
    hl_table_start(&table, "lrrrrrl");
    static const char *const titles[] = {"operator", "version", "nodes", "mult-adds", "params", "ops/byte", ""};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < count; i++) {
        hl_table_add_name(&table, hl_model_code_name(counts[i].code));
        hl_table_add(&table, "%d", counts[i].code->version);
        hl_table_add(&table, "%d", counts[i].nodes);
        add_work(&table, &counts[i].work);
        const char *custom = counts[i].code->custom_name != NULL ? "custom" : "";
        const char *missing = hl_opset_has(counts[i].code) ? "" : "no kernel here";
        hl_table_add(&table, "%s%s%s", custom, *custom && *missing ? ", " : "", missing);
    }
    printf("\n");
    hl_table_print(&table, 2, stdout);
    free(counts);
}

// ---- long lists ---------------------------------------------------------------------------------

static const char *kind_of(const struct hl_model_tensor *tensor)
{
    if (tensor->is_variable) return "variable";
    if (tensor->external_data) return "in another file";
    if (tensor->sparsity != NULL) return "sparse constant";
    return tensor->data != NULL ? "constant" : "";
}

static void print_tensors(const struct hl_model_subgraph *subgraph)
{
    struct hl_table table;
    hl_table_start(&table, "rlrlll");
    for (int i = 0; i < subgraph->tensor_count; i++) {
        const struct hl_model_tensor *tensor = &subgraph->tensors[i];
        size_t bytes = tensor->bytes;
        char size[32] = "";
        if (tensor->data != NULL || hl_tensor_bytes(tensor->type, tensor->rank, tensor->dims, &bytes))
            hl_format_bytes(size, sizeof size, bytes);
        hl_table_add(&table, "%d", i);
        add_shape(&table, tensor);
        hl_table_add(&table, "%s", size);
        hl_table_add(&table, "%s", kind_of(tensor));
        add_quantization(&table, &tensor->quantization);
        hl_table_add_name(&table, tensor->name);
    }
    printf("\ntensors\n");
    hl_table_print(&table, 2, stdout);
}

static void add_indices(struct hl_text *text, int count, const int *tensors)
{
    for (int i = 0; i < count; i++) {
        if (tensors[i] < 0)
            hl_text_add(text, "- ");
        else
            hl_text_add(text, "%d ", tensors[i]);
    }
}

// "29 30 18 -> 31", with '-' for an optional input that is absent.
static void add_flow(struct hl_table *table, const struct hl_model_node *node)
{
    struct hl_text text = {0};
    add_indices(&text, node->input_count, node->inputs);
    hl_text_add(&text, "-> ");
    add_indices(&text, node->output_count, node->outputs);
    hl_table_add(table, "%.*s", (int)text.length - 1, text.data);
    hl_text_free(&text);
}

static void print_nodes(const TfLiteModel *model, const struct hl_model_subgraph *subgraph)
{
    static const char *const titles[] = {"", "operator", "in -> out", "mult-adds", "params", "ops/byte", "options"};
    struct hl_table table;
    hl_table_start(&table, "rllrrrl");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < subgraph->node_count; i++) {
        const struct hl_model_node *node = &subgraph->nodes[i];
        hl_table_add(&table, "%d", i);
        hl_table_add_name(&table, hl_model_code_name(&model->codes[node->code]));
        add_flow(&table, node);
        struct hl_node_work work = hl_node_work(model, subgraph, node);
        add_work(&table, &work);
        cJSON *options = hl_node_options_json(model, subgraph, node);
        struct hl_text text = {0};
        hl_node_options_text(&text, options, subgraph, node);
        hl_table_add(&table, "%s", hl_text_string(&text));
        hl_text_free(&text);
        cJSON_Delete(options);
    }
    printf("\nnodes (tensors in -> tensors out; pairs are height x width)\n");
    hl_table_print(&table, 2, stdout);
}

// ---- all of it ----------------------------------------------------------------------------------

static void print_about(const TfLiteModel *model)
{
    struct hl_metadata_about about;
    hl_metadata_about(model, &about);
    const struct {
        const char *name, *text;
    } rows[] = {
        {"description", model->description}, {"name", about.name},     {"about", about.description},
        {"version", about.version},          {"author", about.author}, {"license", about.license},
    };
    struct hl_table table;
    hl_table_start(&table, "ll");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].text == NULL || rows[i].text[0] == '\0') continue;
        hl_table_add(&table, "%s", rows[i].name);
        hl_table_add_name(&table, rows[i].text);
    }
    hl_table_print(&table, 2, stdout);
}

static void print_subgraph_line(const TfLiteModel *model, int s)
{
    const struct hl_model_subgraph *subgraph = &model->subgraphs[s];
    char constants[32];
    hl_format_bytes(constants, sizeof constants, hl_inspect_constant_bytes(subgraph));
    if (model->subgraph_count > 1) {
        printf("  subgraph %d", s);
        if (subgraph->name != NULL && subgraph->name[0] != '\0') {
            printf(" '");
            print_name(subgraph->name);
            printf("'");
        }
        printf(":");
    } else {
        printf(" ");
    }
    printf(" %d node%s, %d tensor%s, %s of constants\n", subgraph->node_count, subgraph->node_count == 1 ? "" : "s",
           subgraph->tensor_count, subgraph->tensor_count == 1 ? "" : "s", constants);
}

// The sum of what the table of operators has, so far as anything multiplies.
static void print_work_line(const TfLiteModel *model)
{
    struct hl_node_work work = hl_model_work(model);
    char multiply_adds[32], parameters[32];
    hl_format_count(multiply_adds, sizeof multiply_adds, work.multiply_adds);
    hl_format_count(parameters, sizeof parameters, work.parameters);
    printf("  %s multiply-adds, %s parameters", multiply_adds, parameters);
    if (work.multiply_adds > 0) printf(", %.1f operations a byte", hl_node_work_intensity(&work));
    printf("\n");
}

void hl_inspect_text(const struct hl_model_file *file, const struct hl_inspect_options *options)
{
    const TfLiteModel *model = file->model;
    char size[32];
    hl_format_bytes(size, sizeof size, model->file_size);
    print_name(file->path);
    printf(": %s, schema version %d\n", size, model->schema_version);
    print_about(model);
    for (int s = 0; s < model->subgraph_count; s++) print_subgraph_line(model, s);
    print_work_line(model);
    const struct hl_model_code *missing = hl_opset_missing(model);
    if (missing != NULL) {
        printf("  cannot run here: no kernel for ");
        print_name(hl_model_code_name(missing));
        printf("\n");
    }
    const struct hl_model_subgraph *primary = &model->subgraphs[0];
    print_ends("inputs", primary, primary->input_count, primary->inputs);
    print_ends("outputs", primary, primary->output_count, primary->outputs);
    print_signatures(model);
    print_metadata(model);
    print_operators(model);
    for (int s = 0; s < model->subgraph_count; s++) {
        if (model->subgraph_count > 1 && (options->tensors || options->nodes)) printf("\nsubgraph %d", s);
        if (options->tensors) print_tensors(&model->subgraphs[s]);
        if (options->nodes) print_nodes(model, &model->subgraphs[s]);
    }
    if (options->memory && file->interpreter != NULL) hl_inspect_memory_text(file);
}
