// SPDX-License-Identifier: Apache-2.0
// See state.h. The main graph is shown as it is planned, the other subgraphs as they are in the model.
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"

// Constants that the original's names of types and allocations are made of.
static const char *type_name(TfLiteType type)
{
    switch (type) {
    case kTfLiteNoType: return "kTfLiteNoType";
    case kTfLiteFloat32: return "kTfLiteFloat32";
    case kTfLiteInt32: return "kTfLiteInt32";
    case kTfLiteUInt8: return "kTfLiteUInt8";
    case kTfLiteInt64: return "kTfLiteInt64";
    case kTfLiteString: return "kTfLiteString";
    case kTfLiteBool: return "kTfLiteBool";
    case kTfLiteInt16: return "kTfLiteInt16";
    case kTfLiteInt8: return "kTfLiteInt8";
    case kTfLiteFloat16: return "kTfLiteFloat16";
    case kTfLiteFloat64: return "kTfLiteFloat64";
    default: return hl_element_name(type);
    }
}

static const struct {
    TfLiteAllocationType type;
    const char *name;
} allocations[] = {
    {kTfLiteArenaRw, "kTfLiteArenaRw"},
    {kTfLiteArenaRwPersistent, "kTfLiteArenaRwPersistent"},
    {kTfLiteMmapRo, "kTfLiteMmapRo"},
    {kTfLiteDynamic, "kTfLiteDynamic"},
    {kTfLitePersistentRo, "kTfLitePersistentRo"},
    {kTfLiteCustom, "kTfLiteCustom"},
};
enum { ALLOCATIONS = sizeof allocations / sizeof *allocations };

static const char *allocation_name(TfLiteAllocationType type)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (allocations[i].type == type) return allocations[i].name;
    return "kTfLiteMemNone";
}

static double megabytes(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

// What the interpreter knows of a tensor of the main graph; of the other graphs, what the model does.
static HaliteTensorReport tensor_of(const struct hl_model_file *file, int graph, int index)
{
    HaliteTensorReport report = {.name = "", .first_node = -1, .last_node = -1, .shares_with = -1};
    const struct hl_model_tensor *tensor = &file->model->subgraphs[graph].tensors[index];
    if (graph == 0 &&
        HaliteInterpreterGetTensorReport(file->interpreter, index, &report) == kTfLiteOk)
        return report;
    report.name = tensor->name;
    report.bytes = tensor->bytes;
    report.where = tensor->data != NULL ? kTfLiteMmapRo : kTfLiteMemNone;
    return report;
}

// "[0-3,7]"
static void add_indices(struct hl_text *text, int count, const int *indices)
{
    hl_text_add(text, "[");
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && indices[end] == indices[end - 1] + 1;) end++;
        hl_text_add(text, "%s%d", i > 0 ? "," : "", indices[i]);
        if (end > i + 1) hl_text_add(text, "-%d", indices[end - 1]);
    }
    hl_text_add(text, "]");
}

static void add_tensors(const struct hl_model_file *file, int graph, const char *what, int count,
                        const int *tensors, struct hl_text *text)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (tensors[i] >= 0) bytes += tensor_of(file, graph, tensors[i]).bytes;
    hl_text_add(text, "%d %s: ", count, what);
    add_indices(text, count, tensors);
    hl_text_add(text, " -> %zuB (%.2fMB)\n", bytes, megabytes(bytes));
}

// At most `width` characters, the beginning before "..." where it is longer.
static void add_cell(struct hl_text *text, const char *cell, int width)
{
    struct hl_text shown = {0};
    hl_text_add(&shown, "%s", "");
    hl_text_add_escaped(&shown, cell, strlen(cell));
    if (width > 3 && (int)shown.length > width) strcpy(shown.data + width - 3, "...");
    hl_text_add(text, "%-*s ", width > 0 ? width : 0, shown.data);
    hl_text_free(&shown);
}

static void add_table(const struct hl_model_file *file, int graph, struct hl_state_widths widths,
                      struct hl_text *text)
{
    const struct hl_model_subgraph *subgraph = &file->model->subgraphs[graph];
    hl_text_add(text, "\nTensor  ID ");
    add_cell(text, "Name", widths.name);
    add_cell(text, "Type", widths.type);
    add_cell(text, "AllocType", widths.allocation);
    hl_text_add(text, "Size (Bytes/MB)    Shape      MemAddr-Offset\n");
    for (int i = 0; i < subgraph->tensor_count; i++) {
        HaliteTensorReport report = tensor_of(file, graph, i);
        const struct hl_model_tensor *tensor = &subgraph->tensors[i];
        hl_text_add(text, "Tensor %3d ", i);
        add_cell(text, report.name != NULL && *report.name != '\0' ? report.name : "nil",
                 widths.name);
        add_cell(text, type_name(tensor->type), widths.type);
        add_cell(text, allocation_name(report.where), widths.allocation);
        hl_text_add(text, "%-8zu / %.2f [", report.bytes, megabytes(report.bytes));
        for (int d = 0; d < tensor->rank; d++)
            hl_text_add(text, "%s%d", d > 0 ? "," : "", tensor->dims[d]);
        hl_text_add(text, "] ");
        if (report.where == kTfLiteArenaRw)
            hl_text_add(text, "[%zu, %zu)\n", report.offset, report.offset + report.bytes);
        else
            hl_text_add(text, "[-1, -1)\n");
    }
}

static void add_memory(const struct hl_model_file *file, struct hl_text *text)
{
    HaliteMemoryReport memory = {0};
    if (HaliteInterpreterGetMemoryReport(file->interpreter, &memory) != kTfLiteOk) return;
    hl_text_add(text, "\n");
    for (int kind = 0; kind < ALLOCATIONS; kind++) {
        int count = 0, largest = -1;
        size_t bytes = 0, most = 0;
        for (int i = 0; i < HaliteInterpreterGetTensorCount(file->interpreter); i++) {
            HaliteTensorReport report;
            if (HaliteInterpreterGetTensorReport(file->interpreter, i, &report) != kTfLiteOk)
                continue;
            if (report.where != allocations[kind].type) continue;
            count++;
            bytes += report.bytes;
            if (largest >= 0 && report.bytes <= most) continue;
            largest = i;
            most = report.bytes;
        }
        hl_text_add(text, "%s Info: ", allocations[kind].name);
        if (count == 0) {
            hl_text_add(text, "not holding any allocation.\n");
            continue;
        }
        hl_text_add(text, "\nTensor %d has the max size %zu bytes (%.3f MB).\n", largest, most,
                    megabytes(most));
        if (allocations[kind].type == kTfLiteArenaRw)
            hl_text_add(
                text, "%d tensors of %zu bytes (%.3f MB) share an arena of %zu bytes (%.3f MB).\n",
                count, bytes, megabytes(bytes), memory.arena, megabytes(memory.arena));
        else
            hl_text_add(text, "%d tensors take %zu bytes (%.3f MB).\n", count, bytes,
                        megabytes(bytes));
    }
}

// Fills plan with the numbers of the nodes that run, in order; returns how many. delegates: how many of them are a delegate's,
// and the last of those.
static int read_plan(const struct hl_model_file *file, int *plan, int *delegates,
                     int *last_delegate)
{
    int count = HaliteInterpreterGetNodeCount(file->interpreter), used = 0;
    *delegates = 0;
    for (int i = 0; i < count; i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(file->interpreter, i, &node) != kTfLiteOk) continue;
        plan[used++] = node.node;
        if (node.replaced_nodes == 0) continue;
        ++*delegates;
        *last_delegate = node.node;
    }
    return used;
}

static void add_nodes(const struct hl_model_file *file, int graph, struct hl_text *text)
{
    const struct hl_model_subgraph *subgraph = &file->model->subgraphs[graph];
    int most = HaliteInterpreterGetNodeCount(file->interpreter), planned = 0, delegates = 0,
        delegate = -1;
    int *plan =
        hl_alloc((size_t)(most > subgraph->node_count ? most : subgraph->node_count), sizeof *plan);
    bool *runs = hl_alloc((size_t)subgraph->node_count, sizeof *runs);
    if (graph == 0) {
        planned = read_plan(file, plan, &delegates, &delegate);
    } else {
        for (; planned < subgraph->node_count; planned++) plan[planned] = planned;
    }
    for (int i = 0; i < planned; i++)
        if (plan[i] < subgraph->node_count) runs[plan[i]] = true;
    hl_text_add(text, "\n");
    for (int i = 0; i < subgraph->node_count; i++) {
        const struct hl_model_node *node = &subgraph->nodes[i];
        const struct hl_model_code *code = &file->model->codes[node->code];
        const char *name = hl_model_code_name(code);
        hl_text_add(text, "Node %3d Operator %s ", i,
                    code->custom_name != NULL ? "Custom Name" : "Builtin Code");
        if (code->custom_name == NULL) hl_text_add(text, "%3d ", code->builtin);
        hl_text_add_escaped(text, name, strlen(name));
        if (runs[i])
            hl_text_add(text, " (not delegated)\n");
        else if (delegates == 1)
            hl_text_add(text, " (delegated by node %d)\n", delegate);
        else
            hl_text_add(text, " (delegated)\n");
        hl_text_add(text, "  ");
        add_tensors(file, graph, "Input Tensors", node->input_count, node->inputs, text);
        hl_text_add(text, "  ");
        add_tensors(file, graph, "Output Tensors", node->output_count, node->outputs, text);
        if (node->intermediate_count > 0) {
            hl_text_add(text, "  ");
            add_tensors(file, graph, "Intermediate Tensors", node->intermediate_count,
                        node->intermediates, text);
        }
    }
    hl_text_add(text, "\nExecution plan as the list of %d nodes invoked in-order: ", planned);
    add_indices(text, planned, plan);
    hl_text_add(text, "\n");
    free(plan);
    free(runs);
}

void hl_state_print(const struct hl_model_file *file, struct hl_state_widths widths,
                    struct hl_text *text)
{
    const TfLiteModel *model = file->model;
    hl_text_add(text, "Interpreter has %d subgraphs.\n", model->subgraph_count);
    for (int i = 0; i < model->subgraph_count; i++) {
        const struct hl_model_subgraph *subgraph = &model->subgraphs[i];
        hl_text_add(text, "\n-----------Subgraph-%d has %d tensors and %d nodes------------\n", i,
                    subgraph->tensor_count, subgraph->node_count);
        add_tensors(file, i, "Inputs", subgraph->input_count, subgraph->inputs, text);
        add_tensors(file, i, "Outputs", subgraph->output_count, subgraph->outputs, text);
        add_table(file, i, widths, text);
        if (i == 0) add_memory(file, text);
        add_nodes(file, i, text);
        hl_text_add(text, "--------------Subgraph-%d dump has completed--------------\n", i);
    }
}
