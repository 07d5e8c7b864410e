// SPDX-License-Identifier: Apache-2.0
// A model for people: sections of aligned columns.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "inspect.h"
#include "metadata.h"
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

static void print_operators(const TfLiteModel *model)
{
    int count;
    struct hl_inspect_count *counts = hl_inspect_count_operators(model, &count);
    struct hl_table table;
    hl_table_start(&table, "lrrl");
    hl_table_add(&table, "operator");
    hl_table_add(&table, "version");
    hl_table_add(&table, "nodes");
    hl_table_add(&table, "%s", "");
    for (int i = 0; i < count; i++) {
        hl_table_add_name(&table, hl_model_code_name(counts[i].code));
        hl_table_add(&table, "%d", counts[i].code->version);
        hl_table_add(&table, "%d", counts[i].nodes);
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

static void add_indices(struct hl_table *table, int count, const int *indices)
{
    struct hl_text text = {0};
    for (int i = 0; i < count; i++) {
        if (i > 0) hl_text_add(&text, " ");
        if (indices[i] < 0)
            hl_text_add(&text, "-");
        else
            hl_text_add(&text, "%d", indices[i]);
    }
    hl_table_add(table, "%s", hl_text_string(&text));
    hl_text_free(&text);
}

static void print_nodes(const TfLiteModel *model, const struct hl_model_subgraph *subgraph)
{
    struct hl_table table;
    hl_table_start(&table, "rllll");
    for (int i = 0; i < subgraph->node_count; i++) {
        const struct hl_model_node *node = &subgraph->nodes[i];
        hl_table_add(&table, "%d", i);
        hl_table_add_name(&table, hl_model_code_name(&model->codes[node->code]));
        add_indices(&table, node->input_count, node->inputs);
        hl_table_add(&table, "->");
        add_indices(&table, node->output_count, node->outputs);
    }
    printf("\nnodes (tensors in -> tensors out)\n");
    hl_table_print(&table, 2, stdout);
}

// ---- memory -------------------------------------------------------------------------------------

struct place {
    int tensor;
    HaliteTensorReport report;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->report.offset != y->report.offset) return x->report.offset < y->report.offset ? -1 : 1;
    return x->report.first_node - y->report.first_node;
}

static void add_place(struct hl_table *table, const struct place *place)
{
    const HaliteTensorReport *report = &place->report;
    bool named = report->name != NULL && report->name[0] != '\0';
    hl_table_add(table, "%zu", report->offset);
    hl_table_add(table, "%zu", report->bytes);
    if (report->first_node < 0)
        hl_table_add(table, "all");
    else
        hl_table_add(table, "%d-%d", report->first_node, report->last_node);
    hl_table_add(table, "%d", place->tensor);
    if (report->shares_with >= 0)
        hl_table_add(table, "in place of %d", report->shares_with);
    else
        hl_table_add(table, "%s", "");
    hl_table_add_name(table, named ? report->name : "(scratch)");
}

static void print_plan(const TfLiteInterpreter *interpreter)
{
    int count = HaliteInterpreterGetTensorCount(interpreter), used = 0;
    struct place *places = hl_alloc((size_t)count, sizeof *places);
    for (int i = 0; i < count; i++) {
        HaliteTensorReport *report = &places[used].report;
        places[used].tensor = i;
        if (HaliteInterpreterGetTensorReport(interpreter, i, report) == kTfLiteOk && report->where == kTfLiteArenaRw &&
            report->bytes > 0)
            used++;
    }
    qsort(places, (size_t)used, sizeof *places, compare_places);
    struct hl_table table;
    hl_table_start(&table, "rrrrll");
    static const char *const titles[] = {"offset", "bytes", "nodes", "tensor", "", ""};
    for (int i = 0; i < 6; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < used; i++) add_place(&table, &places[i]);
    if (used > 0) {
        printf("\narena\n");
        hl_table_print(&table, 2, stdout);
    }
    free(places);
}

void hl_inspect_memory_text(const struct hl_model_file *file)
{
    HaliteMemoryReport memory;
    if (HaliteInterpreterGetMemoryReport(file->interpreter, &memory) != kTfLiteOk) return;
    enum { SIDE_BY_SIDE = 1 }; // row that is no part of the total
    size_t total = memory.arena + memory.persistent + memory.dynamic + memory.constants;
    const struct {
        const char *name, *what;
        size_t bytes;
    } rows[] = {
        {"arena", "tensors that take turns", memory.arena},
        {"side by side", "what they would take without taking turns", memory.arena_unshared},
        {"persistent", "variables, and what kernels keep, packed weights above all", memory.persistent},
        {"dynamic", "tensors whose size is known only while running", memory.dynamic},
        {"constants", "weights, in the model file", memory.constants},
        {"total", "while it runs, beside the program", total},
    };
    struct hl_table table;
    hl_table_start(&table, "lrrl");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bytes[32];
        hl_format_bytes(bytes, sizeof bytes, rows[i].bytes);
        bool part = i != SIDE_BY_SIDE;
        hl_table_add(&table, "%s", rows[i].name);
        hl_table_add(&table, "%s", bytes);
        if (part)
            hl_table_add(&table, "%.0f %%", total > 0 ? 100.0 * (double)rows[i].bytes / (double)total : 0.0);
        else
            hl_table_add(&table, "%s", "");
        hl_table_add(&table, "%s", rows[i].what);
    }
    printf("\nmemory\n");
    hl_table_print(&table, 2, stdout);
    if (memory.persistent > total / 10)
        printf("  with --kernels reference nothing is packed: slower, and in less memory\n");
    print_plan(file->interpreter);
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

void hl_inspect_text(const struct hl_model_file *file, const struct hl_inspect_options *options)
{
    const TfLiteModel *model = file->model;
    char size[32];
    hl_format_bytes(size, sizeof size, model->file_size);
    print_name(file->path);
    printf(": %s, schema version %d\n", size, model->schema_version);
    print_about(model);
    for (int s = 0; s < model->subgraph_count; s++) print_subgraph_line(model, s);
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
