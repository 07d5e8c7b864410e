// SPDX-License-Identifier: Apache-2.0
// Runs one golden case through the public C API: load, allocate, steps, comparison.
#ifndef HALITE_GOLDEN_RUN_CASE_H
#define HALITE_GOLDEN_RUN_CASE_H

#include "../../tools/text.h"
#include "halite/halite.h"
#include "manifest.h"

struct golden_options {
    HaliteKernels kernels;
    int threads;          // -1: the library's choice
    const char *delegate; // path of an external delegate's library, NULL: none
    double tolerance;     // in place of 2e-6, 0: not given
};

enum golden_outcome { GOLDEN_PASSED, GOLDEN_FAILED, GOLDEN_SKIPPED };

struct golden_result {
    enum golden_outcome outcome;
    bool crashed;            // or went past a limit: no list of differences excuses that
    struct hl_text what;     // failed: what is wrong; passed: a remark, may be empty
    struct hl_text missing;  // skipped: the operator without a kernel
    struct hl_text messages; // the library's, one a line
};

// `result` is empty when it comes in; golden_result_free frees what it holds afterwards.
void golden_run_case(const struct golden_case *c, const struct golden_options *options,
                     struct golden_result *result);
void golden_result_free(struct golden_result *result);

#endif
