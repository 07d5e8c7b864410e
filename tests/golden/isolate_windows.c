// SPDX-License-Identifier: Apache-2.0
// See isolate.h. A process of Windows has no copy of itself, as fork makes one: the case runs in this process, where a
// crash ends the run and is its failure.
#include "isolate.h"

void golden_run_isolated(const struct golden_case *c, const struct golden_options *options,
                         struct golden_result *result)
{
    golden_run_case(c, options, result);
}
