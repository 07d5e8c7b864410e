// SPDX-License-Identifier: Apache-2.0
// Runs one golden case through the public C API: load, allocate, steps, comparison.
#ifndef HALITE_GOLDEN_RUN_CASE_H
#define HALITE_GOLDEN_RUN_CASE_H

#include "../../tools/text.h"
#include "halite/halite.h"
#include "manifest.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

// An external delegate. One object serves all cases of a process: it is made for the first.
struct golden_delegate {
    TfLiteExternalDelegateOptions how; // lib_path NULL: there is none
    TfLiteDelegate *made;
};

struct golden_options {
    HaliteKernels kernels;
    int threads; // -1: the library's choice
    struct golden_delegate *delegate;
    bool drivers;       // this process has used a delegate, whose drivers may have exit handlers
    double tolerance;   // in place of 2e-6, 0: not given
    double quantum;     // steps that a quantized output may differ by
    double slack;       // what floats and integers of this case may differ by, if more
    double spread;      // and so many times what the original's own kernels and delegate differ by
    double twin_spread; // so many times what the float twin's reference and fast kernels differ by
};

enum golden_outcome { GOLDEN_PASSED, GOLDEN_FAILED, GOLDEN_SKIPPED };

struct golden_result {
    enum golden_outcome outcome;
    bool crashed; // or went past a limit: no list of differences excuses that
    // Of the primary subgraph: its nodes and, of them, those that the delegate took. 0, 0: it ran without the delegate.
    int nodes, delegated;
    bool undelegated;        // the delegate is for fixed shapes, and the graph has others: it ran without
    struct hl_text what;     // failed: what is wrong; passed: a remark, may be empty
    struct hl_text missing;  // skipped: the operator without a kernel
    struct hl_text messages; // the library's, one a line
};

// `result` is empty when it comes in; golden_result_free frees what it holds afterwards. Only nodes on the delegate buy
// a case the options' tolerance and quantum: without any it is held to the CPU's bounds.
void golden_run_case(const struct golden_case *c, const struct golden_options *options, struct golden_result *result);
void golden_result_free(struct golden_result *result);

#endif
