// SPDX-License-Identifier: Apache-2.0
// Runs a case in a child process, so that a crash, a hang or a hunger for memory is one failed case and not the end of
// the run.
#ifndef HALITE_GOLDEN_ISOLATE_H
#define HALITE_GOLDEN_ISOLATE_H

#include "run_case.h"

// As golden_run_case; the result says which signal ended the child, or which limit it went past.
void golden_run_isolated(const struct golden_case *c, const struct golden_options *options,
                         struct golden_result *result);

#endif
