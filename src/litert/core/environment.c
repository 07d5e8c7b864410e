// SPDX-License-Identifier: Apache-2.0
// Environments: the options that a program gave (environment_options.c), and the accelerators that they lead to
// (accelerators.c).
#include "litert/c/litert_environment.h"

#include <stdlib.h>

#include "litert/core/core.h"

LiteRtStatus LiteRtCreateEnvironment(int num_options, const LiteRtEnvOption *options, LiteRtEnvironment *environment)
{
    LITERT_NEED(environment && num_options >= 0 && (options || num_options == 0));
    LiteRtEnvironment made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    LiteRtStatus status = litert_copy_environment_options(made, num_options, options);
    if (status != kLiteRtStatusOk) {
        LiteRtDestroyEnvironment(made);
        return status;
    }
    litert_find_accelerators(made);
    *environment = made;
    return kLiteRtStatusOk;
}

void LiteRtDestroyEnvironment(LiteRtEnvironment environment)
{
    if (!environment) return;
    litert_close_accelerators(environment);
    litert_free_environment_options(environment);
    free(environment);
}
