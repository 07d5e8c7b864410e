// SPDX-License-Identifier: Apache-2.0
// Where a model's memory goes, for people: the sums by kind, the largest tensors, and the plan of the arena. In: an
// interpreter with its tensors allocated.
#include <stdlib.h>

#include "alloc.h"
#include "inspect.h"
#include "table.h"

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

// Where the most bytes are, of all kinds: what to look at first when a model is too large.
static int compare_sizes(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->report.bytes != y->report.bytes) return x->report.bytes > y->report.bytes ? -1 : 1;
    return x->tensor - y->tensor;
}

static void print_largest(const TfLiteInterpreter *interpreter, size_t total)
{
    enum { MAX_ROWS = 10 };
    int count = HaliteInterpreterGetTensorCount(interpreter), used = 0;
    struct place *places = hl_alloc((size_t)count, sizeof *places);
    for (int i = 0; i < count; i++) {
        HaliteTensorReport *report = &places[used].report;
        places[used].tensor = i;
        if (HaliteInterpreterGetTensorReport(interpreter, i, report) == kTfLiteOk && report->bytes > 0 &&
            report->shares_with < 0)
            used++;
    }
    qsort(places, (size_t)used, sizeof *places, compare_sizes);
    struct hl_table table;
    hl_table_start(&table, "rrrll");
    for (int i = 0; i < used && i < MAX_ROWS; i++) {
        const HaliteTensorReport *report = &places[i].report;
        char bytes[32];
        hl_format_bytes(bytes, sizeof bytes, report->bytes);
        hl_table_add(&table, "%d", places[i].tensor);
        hl_table_add(&table, "%s", bytes);
        hl_table_add(&table, "%.1f %%", total > 0 ? 100.0 * (double)report->bytes / (double)total : 0.0);
        hl_table_add(&table, "%s", hl_inspect_place_name(report->where));
        hl_table_add_name(&table, report->name != NULL && report->name[0] != '\0' ? report->name : "(scratch)");
    }
    if (used > 0) printf("\nthe largest tensors (those of the arena take turns)\n");
    hl_table_print(&table, 2, stdout);
    free(places);
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

const char *hl_inspect_place_name(TfLiteAllocationType where)
{
    switch (where) {
    case kTfLiteMmapRo: return "constant";
    case kTfLiteArenaRw: return "arena";
    case kTfLiteArenaRwPersistent: return "persistent";
    case kTfLiteDynamic: return "dynamic";
    case kTfLitePersistentRo: return "computed constant";
    case kTfLiteCustom: return "custom";
    default: return "none";
    }
}

size_t hl_inspect_memory_total(const HaliteMemoryReport *memory)
{
    return memory->arena + memory->persistent + memory->dynamic + memory->constants;
}

void hl_inspect_memory_text(const struct hl_model_file *file)
{
    HaliteMemoryReport memory;
    if (HaliteInterpreterGetMemoryReport(file->interpreter, &memory) != kTfLiteOk) return;
    enum { SIDE_BY_SIDE = 1 }; // row that is no part of the total
    size_t total = hl_inspect_memory_total(&memory);
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
    print_largest(file->interpreter, total);
    print_plan(file->interpreter);
}
