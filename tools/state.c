// SPDX-License-Identifier: Apache-2.0
// See state.h. Reads the runtime's own structs: no public interface tells about other subgraphs than the first, scratch
// tensors and which delegate's node stands for which nodes.
#include "state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "runtime/interpreter.h"

static double megabytes(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

// ---- names --------------------------------------------------------------------------------------

#define NAME(value) [value] = #value

const char *hl_state_type_name(TfLiteType type)
{
    static const char *const names[] = {
        NAME(kTfLiteNoType),     NAME(kTfLiteFloat32), NAME(kTfLiteInt32),        NAME(kTfLiteUInt8),
        NAME(kTfLiteInt64),      NAME(kTfLiteString),  NAME(kTfLiteBool),         NAME(kTfLiteInt16),
        NAME(kTfLiteComplex64),  NAME(kTfLiteInt8),    NAME(kTfLiteFloat16),      NAME(kTfLiteFloat64),
        NAME(kTfLiteComplex128), NAME(kTfLiteUInt64),  NAME(kTfLiteResource),     NAME(kTfLiteVariant),
        NAME(kTfLiteUInt32),     NAME(kTfLiteUInt16),  NAME(kTfLiteInt4),         NAME(kTfLiteBFloat16),
        NAME(kTfLiteInt2),       NAME(kTfLiteUInt4),   NAME(kTfLiteFloat8E4M3FN), NAME(kTfLiteFloat8E5M2),
    };
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "(invalid)";
}

const char *hl_state_allocation_name(TfLiteAllocationType type)
{
    static const char *const names[] = {
        NAME(kTfLiteMemNone), NAME(kTfLiteMmapRo),       NAME(kTfLiteArenaRw), NAME(kTfLiteArenaRwPersistent),
        NAME(kTfLiteDynamic), NAME(kTfLitePersistentRo), NAME(kTfLiteCustom),  NAME(kTfLiteVariantObject),
    };
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "(invalid)";
}

// In so many columns; what is cut off, at the end or at the start, shows as dots.
static void add_cell(struct hl_text *text, const char *string, int width, bool at_end)
{
    struct hl_text line = {0};
    hl_text_add_escaped(&line, string, strlen(string));
    int length = (int)line.length, kept = width > 3 ? width - 3 : 0;
    if (length <= width)
        hl_text_add(text, "%-*s", width, hl_text_string(&line));
    else if (at_end)
        hl_text_add(text, "%.*s%.*s", kept, line.data, width, "...");
    else
        hl_text_add(text, "%.*s%s", width, "...", line.data + length - kept);
    hl_text_free(&line);
}

// "[0-3,7]"; without ranges "[0,1,2,3,7]".
static void add_list(struct hl_text *text, int count, const int *items, bool ranges)
{
    if (count <= 0) {
        hl_text_add(text, "(null)");
        return;
    }
    hl_text_add(text, "[");
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; ranges && end < count && items[end] == items[end - 1] + 1;) end++;
        hl_text_add(text, "%s%d", i > 0 ? "," : "", items[i]);
        if (end - i > 1) hl_text_add(text, "%c%d", end - i == 2 ? ',' : '-', items[end - 1]);
    }
    hl_text_add(text, "]");
}

static void add_array(struct hl_text *text, const TfLiteIntArray *array, bool ranges)
{
    add_list(text, array != NULL ? array->size : 0, array != NULL ? array->data : NULL, ranges);
}

// A list of tensors and what they take; without it where a delegate has taken the node.
static void add_tensors(struct hl_text *text, const struct hl_subgraph *subgraph, const TfLiteIntArray *tensors,
                        bool ranges, bool taken)
{
    size_t bytes = 0;
    for (int i = 0; !taken && tensors != NULL && i < tensors->size; i++)
        if (hl_subgraph_has_tensor(subgraph, tensors->data[i]))
            bytes += subgraph->context.tensors[tensors->data[i]].bytes;
    add_array(text, tensors, ranges);
    hl_text_add(text, " -> %zuB (%.2fMB)\n", bytes, megabytes(bytes));
}

// ---- memory -------------------------------------------------------------------------------------

// The tensors of one kind of allocation, by their addresses.
struct region {
    TfLiteAllocationType type;
    int count, *tensors; // ordered by address
    uintptr_t start, end;
    int largest; // tensor
    size_t bytes;
};

struct placed {
    uintptr_t start;
    size_t bytes;
    int tensor;
};

// By address, the larger first.
static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->tensor - y->tensor;
}

static struct region find_region(const struct hl_subgraph *subgraph, TfLiteAllocationType type)
{
    struct region region = {.type = type, .start = UINTPTR_MAX, .largest = -1};
    struct placed *placed = hl_alloc((size_t)subgraph->tensor_count, sizeof *placed);
    size_t most = 0;
    for (int i = 0; i < subgraph->tensor_count; i++) {
        const TfLiteTensor *tensor = &subgraph->context.tensors[i];
        if (tensor->allocation_type != type || tensor->data.data == NULL) continue;
        uintptr_t start = (uintptr_t)tensor->data.data;
        placed[region.count++] = (struct placed){start, tensor->bytes, i};
        region.bytes += tensor->bytes;
        if (start < region.start) region.start = start;
        if (start + tensor->bytes > region.end) region.end = start + tensor->bytes;
        if (region.largest >= 0 && tensor->bytes <= most) continue;
        region.largest = i;
        most = tensor->bytes;
    }
    qsort(placed, (size_t)region.count, sizeof *placed, by_place);
    region.tensors = hl_alloc((size_t)region.count, sizeof *region.tensors);
    for (int i = 0; i < region.count; i++) region.tensors[i] = placed[i].tensor;
    free(placed);
    return region;
}

static void add_region(struct hl_text *text, const struct hl_subgraph *subgraph, const struct region *region)
{
    hl_text_add(text, "\n%s Info: ", hl_state_allocation_name(region->type));
    if (region->count == 0) {
        hl_text_add(text, "not holding any allocation.\n");
        return;
    }
    size_t most = subgraph->context.tensors[region->largest].bytes, size = region->end - region->start;
    if (region->type == kTfLiteDynamic) {
        int *largest = hl_alloc((size_t)region->count, sizeof *largest), count = 0;
        for (int i = 0; i < subgraph->tensor_count; i++) {
            const TfLiteTensor *tensor = &subgraph->context.tensors[i];
            if (tensor->allocation_type == region->type && tensor->data.data != NULL && tensor->bytes == most)
                largest[count++] = i;
        }
        hl_text_add(text, "\n%d Tensors ", count);
        add_list(text, count, largest, false);
        hl_text_add(text, " have the max size %zu bytes (%.3f MB).\n", most, megabytes(most));
        hl_text_add(text, "There are %d dynamic tensors, taking %zu bytes (%.3f MB).\n", region->count, region->bytes,
                    megabytes(region->bytes));
        free(largest);
        return;
    }
    hl_text_add(text, "\nTensor %d has the max size %zu bytes (%.3f MB).\n", region->largest, most, megabytes(most));
    hl_text_add(text,
                "This memory arena is estimated as[0x%" PRIxPTR ", 0x%" PRIxPTR "), taking %zu bytes (%.3f MB).\n",
                region->start, region->end, size, megabytes(size));
    hl_text_add(text,
                "One possible set of tensors that have non-overlapping memory spaces with each other, and they take up "
                "the whole arena:\nTensor ");
    uintptr_t end = 0;
    for (int i = 0; i < region->count; i++) {
        const TfLiteTensor *tensor = &subgraph->context.tensors[region->tensors[i]];
        uintptr_t start = (uintptr_t)tensor->data.data;
        if (start < end) continue;
        hl_text_add(text, "%s%d", i > 0 ? " -> " : "", region->tensors[i]);
        end = start + tensor->bytes;
    }
    hl_text_add(text, ".\n");
}

static void add_table(struct hl_text *text, const struct hl_subgraph *subgraph, const struct region *regions,
                      int region_count, struct hl_state_widths widths)
{
    hl_text_add(text, "Tensor %3s %-*s %-*s %-*s %-18s %-10s %-16s\n", "ID", widths.name, "Name", widths.type, "Type",
                widths.allocation, "AllocType", "Size (Bytes/MB)", "Shape", "MemAddr-Offset");
    for (int i = 0; i < subgraph->tensor_count; i++) {
        const TfLiteTensor *tensor = &subgraph->context.tensors[i];
        hl_text_add(text, "Tensor %3d ", i);
        add_cell(text, tensor->name != NULL ? tensor->name : "(nil)", widths.name, true);
        hl_text_add(text, " ");
        add_cell(text, hl_state_type_name(tensor->type), widths.type, false);
        hl_text_add(text, " ");
        add_cell(text, hl_state_allocation_name(tensor->allocation_type), widths.allocation, false);
        hl_text_add(text, " %-8zu / %.2f ", tensor->bytes, megabytes(tensor->bytes));
        add_array(text, tensor->dims, false);
        int64_t start = -1;
        for (int r = 0; r < region_count; r++)
            if (regions[r].type == tensor->allocation_type && regions[r].type != kTfLiteDynamic &&
                tensor->data.data != NULL)
                start = (int64_t)((uintptr_t)tensor->data.data - regions[r].start);
        hl_text_add(text, " [%" PRId64 ", %" PRId64 ")\n", start, start < 0 ? -1 : start + (int64_t)tensor->bytes);
    }
}

static void add_memory(struct hl_text *text, const struct hl_subgraph *subgraph, struct hl_state_widths widths)
{
    static const TfLiteAllocationType types[] = {kTfLiteArenaRw, kTfLiteArenaRwPersistent, kTfLiteMmapRo,
                                                 kTfLiteDynamic};
    enum { REGIONS = sizeof types / sizeof *types };
    struct region regions[REGIONS];
    for (int i = 0; i < REGIONS; i++) regions[i] = find_region(subgraph, types[i]);
    add_table(text, subgraph, regions, REGIONS, widths);
    for (int i = 0; i < REGIONS; i++) {
        add_region(text, subgraph, &regions[i]);
        free(regions[i].tensors);
    }
    hl_text_add(text, "\n");
}

// ---- nodes --------------------------------------------------------------------------------------

int hl_state_replaced_by(const struct hl_subgraph *subgraph, int node)
{
    for (int i = subgraph->model_node_count; i < subgraph->node_count; i++) {
        const TfLiteIntArray *nodes = hl_delegate_replaced_nodes(subgraph->nodes[i]);
        for (int n = 0; nodes != NULL && n < nodes->size; n++)
            if (nodes->data[n] == node) return i;
    }
    return -1;
}

static void add_node(struct hl_text *text, const struct hl_subgraph *subgraph, int index)
{
    const struct hl_node *node = subgraph->nodes[index];
    bool delegate = node->node.delegate != NULL;
    int by = delegate ? -1 : hl_state_replaced_by(subgraph, index);
    struct hl_text name = {0};
    hl_text_add_escaped(&name, node->name, strlen(node->name));
    if (node->registration.custom_name != NULL || delegate)
        hl_text_add(text, "Node %3d Operator Custom Name %s ", index, hl_text_string(&name));
    else
        hl_text_add(text, "Node %3d Operator Builtin Code %3d %s ", index, node->registration.builtin_code,
                    hl_text_string(&name));
    hl_text_free(&name);
    if (by >= 0)
        hl_text_add(text, "(delegated by node %d)\n", by);
    else
        hl_text_add(text, "%s\n", delegate ? "" : "(not delegated)");
    const struct {
        const char *what;
        const TfLiteIntArray *tensors;
        bool always;
    } lists[] = {
        {"Input", node->node.inputs, true},
        {"Output", node->node.outputs, true},
        {"Intermediate", node->node.intermediates, false},
        {"Temporary", node->node.temporaries, false},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int count = lists[i].tensors != NULL ? lists[i].tensors->size : 0;
        if (count == 0 && !lists[i].always) continue;
        hl_text_add(text, "  %d %s Tensors:", count, lists[i].what);
        add_tensors(text, subgraph, lists[i].tensors, delegate || i > 0, by >= 0);
    }
}

static void add_plan(struct hl_text *text, const struct hl_subgraph *subgraph)
{
    const TfLiteIntArray *plan = subgraph->plan;
    hl_text_add(text, "\nExecution plan as the list of %d nodes invoked in-order: ", plan->size);
    add_array(text, plan, true);
    hl_text_add(text, "\n");
    if (subgraph->delegate_count > 0) hl_text_add(text, "Among these nodes in the execution plan:\n");
    for (int i = 0; i < plan->size; i++) {
        const struct hl_node *node = subgraph->nodes[plan->data[i]];
        if (node->node.delegate == NULL) continue;
        const TfLiteIntArray *nodes = hl_delegate_replaced_nodes(node);
        hl_text_add(text, "  Node %d is a %s node (%p), which has delegated %d nodes: ", plan->data[i], node->name,
                    (const void *)node->node.delegate, nodes != NULL ? nodes->size : 0);
        add_array(text, nodes, true);
        hl_text_add(text, "\n");
    }
}

static void add_subgraph(struct hl_text *text, const struct hl_subgraph *subgraph, struct hl_state_widths widths)
{
    hl_text_add(text, "-----------Subgraph-%d has %d tensors and %d nodes------------\n", subgraph->index,
                subgraph->tensor_count, subgraph->node_count);
    hl_text_add(text, "%d Inputs: ", subgraph->inputs->size);
    add_tensors(text, subgraph, subgraph->inputs, true, false);
    hl_text_add(text, "%d Outputs: ", subgraph->outputs->size);
    add_tensors(text, subgraph, subgraph->outputs, true, false);
    hl_text_add(text, "\n");
    add_memory(text, subgraph, widths);
    for (int i = 0; i < subgraph->node_count; i++) add_node(text, subgraph, i);
    add_plan(text, subgraph);
    hl_text_add(text, "--------------Subgraph-%d dump has completed--------------\n\n", subgraph->index);
}

// ---- everything ---------------------------------------------------------------------------------

// Bytes between the first and the last byte that tensors of this kind take; of dynamic ones, what they take.
static size_t region_size(const struct hl_subgraph *subgraph, TfLiteAllocationType type)
{
    struct region region = find_region(subgraph, type);
    free(region.tensors);
    if (region.count == 0) return 0;
    return type == kTfLiteDynamic ? region.bytes : region.end - region.start;
}

static void add_totals(struct hl_text *text, const TfLiteInterpreter *interpreter)
{
    static const struct {
        TfLiteAllocationType type;
        const char *name;
    } kinds[] = {
        {kTfLiteArenaRw, "Arena (Normal)"},
        {kTfLiteArenaRwPersistent, "Arena (Persistent)"},
        {kTfLiteDynamic, "Dynamic Tensors"},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    size_t arena = 0, dynamic = 0;
    for (int i = 0; i < interpreter->subgraph_count; i++)
        for (int k = 0; k < KINDS; k++)
            *(kinds[k].type == kTfLiteDynamic ? &dynamic : &arena) +=
                region_size(interpreter->subgraphs[i], kinds[k].type);
    size_t total = arena + dynamic;
    hl_text_add(text, "--------------Memory Arena Status Start--------------\n");
    hl_text_add(text, "Total memory usage: %zu bytes (%.3f MB)\n", total, megabytes(total));
    hl_text_add(text, "- Total arena memory usage: %zu bytes (%.3f MB)\n", arena, megabytes(arena));
    hl_text_add(text, "- Total dynamic memory usage: %zu bytes (%.3f MB)\n\n", dynamic, megabytes(dynamic));
    for (int i = 0; i < interpreter->subgraph_count; i++) {
        for (int k = 0; k < KINDS; k++) {
            size_t size = region_size(interpreter->subgraphs[i], kinds[k].type);
            if (size > 0)
                hl_text_add(text, "Subgraph#%-3d %-18s %10zu (%.2f%%)\n", i, kinds[k].name, size,
                            100 * (double)size / (double)total);
        }
    }
    hl_text_add(text, "--------------Memory Arena Status End--------------\n\n");
}

void hl_state_print(const struct hl_model_file *file, struct hl_state_widths widths, struct hl_text *text)
{
    const TfLiteInterpreter *interpreter = file->interpreter;
    hl_text_add(text, "Interpreter has %d subgraphs.\n\n", interpreter->subgraph_count);
    for (int i = 0; i < interpreter->subgraph_count; i++) add_subgraph(text, interpreter->subgraphs[i], widths);
    add_totals(text, interpreter);
}
