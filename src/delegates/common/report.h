// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph runs and why, as data. partition.c fills it in when a delegate is applied; report.c copies
// it for users, in the form that halite/gpu_delegate.h declares for all of Halite's delegates.
//
// A program may have several libraries with delegates, each of which exports the functions HaliteDelegateReport… The
// linker takes those of one library for the delegates of all, so they find the owner's functions in the object itself:
// a delegate begins with a TfLiteDelegate that points to itself and a sign, a report with its table of functions.
#ifndef HALITE_DELEGATES_COMMON_REPORT_H
#define HALITE_DELEGATES_COMMON_REPORT_H

#include "base/report.h"
#include "halite/gpu_delegate.h"

enum delegate_reason_code {
#define X(name, code, text) DELEGATE_##code = kHaliteDelegateReason##name,
    HALITE_DELEGATE_REASONS(X)
#undef X
};

struct delegate_reason {
    enum delegate_reason_code code;
    char text[160];
    int tensor; // the one at fault, -1: none
};

void delegate_set_reason(struct delegate_reason *reason, enum delegate_reason_code code, int tensor, const char *format,
                         va_list args);

enum { DELEGATE_REPORT_RANK = 8, DELEGATE_REPORT_GRAPHS = 64 };

// One node. Everything is a copy, because the delegate may outlive the interpreter.
struct delegate_row {
    int node, version;
    char op[128];        // the name of the operator; longer names are cut
    bool makes_constant; // see delegate_kind
    int partition;       // -1: none
    struct delegate_reason reason;
    char tensor_name[256];
    TfLiteType tensor_type;
    int rank, dims[DELEGATE_REPORT_RANK];
};

struct delegate_graph {
    int number;          // counts the graphs to which the delegate was applied
    const void *context; // identifies the graph among those that live at the same time
    struct delegate_row *rows;
    int count;
};

struct delegate_report {
    struct delegate_graph graphs[DELEGATE_REPORT_GRAPHS]; // the latest one is last
    int count, next_number;
};

// Creates zeroed rows for one graph and drops those of an earlier application to the same context. NULL without memory.
struct delegate_row *delegate_report_begin(struct delegate_report *report, const void *context, int count);
void delegate_report_free(struct delegate_report *report);

// The graph to which the delegate was applied last. There must be one.
const struct delegate_graph *delegate_report_latest(const struct delegate_report *report);

// ---- for users ----------------------------------------------------------------------------------

struct delegate_report_functions {
    HaliteDelegateReport *(*create)(const TfLiteDelegate *delegate);
    void (*destroy)(HaliteDelegateReport *report);
    const HaliteDevice *(*device)(const HaliteDelegateReport *report);
    HaliteGpuPrecision (*precision)(const HaliteDelegateReport *report);
    int32_t (*graph_count)(const HaliteDelegateReport *report);
    const HaliteDelegateGraph *(*graph)(const HaliteDelegateReport *report, int32_t index);
    int32_t (*node_count)(const HaliteDelegateReport *report);
    const HaliteDelegateNode *(*node)(const HaliteDelegateReport *report, int32_t index);
    int32_t (*kernel_count)(const HaliteDelegateReport *report);
    const HaliteDelegateKernel *(*kernel)(const HaliteDelegateReport *report, int32_t index);
};

// How every version of every library knows a delegate of Halite. Whoever changes this struct or the table above changes
// the text.
#define DELEGATE_SIGN "Halite delegate 1"
struct delegate_sign {
    char text[24];
    const struct delegate_report_functions *report;
};
struct delegate_sign delegate_report_sign(void);

struct HaliteDelegateReport {
    const struct delegate_report_functions *functions; // first
    HaliteDevice device;                               // without a name if there is none
    HaliteGpuPrecision precision;
    int graph_count, node_count, kernel_count;
    HaliteDelegateGraph *graphs;
    HaliteDelegateNode *nodes;
    HaliteDelegateKernel *kernels; // from malloc, or NULL, as the next two
    struct delegate_row *rows;     // own the texts and shapes of the nodes
    void *device_texts;            // owns the texts of the device
};

#endif
