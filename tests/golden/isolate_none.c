// SPDX-License-Identifier: Apache-2.0
// See isolate.h. Windows and WebAssembly have no fork: the case runs in this process, where a crash ends the run and is
// its failure.
#include "isolate.h"

void golden_run_isolated(const struct golden_case *c, const struct golden_options *options,
                         struct golden_result *result)
{
    golden_run_case(c, options, result);
}
