// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph runs and why, as data. partition.c fills it in when a delegate is applied; report.c copies
// it for users, in the form that halite/gpu_delegate.h declares for all of Halite's delegates.
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

enum { DELEGATE_REPORT_RANK = 8, DELEGATE_REPORT_GRAPHS = 64 };

// One node. Everything is a copy, because the delegate may outlive the interpreter.
struct delegate_row {
    int node, version;
    char op[128];  // the name of the operator; longer names are cut
    bool widens;   // see delegate_widens_constant
    int partition; // -1: none
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

// A copy of the report of a delegate of this house; NULL without memory.
struct delegate;
HaliteDelegateReport *delegate_report_copy(struct delegate *delegate);

#endif
