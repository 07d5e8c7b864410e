// SPDX-License-Identifier: Apache-2.0
// The environment: options that models, buffers and accelerators of a program share. It outlives whatever is made with
// it.
#ifndef LITERT_C_LITERT_ENVIRONMENT_H_
#define LITERT_C_LITERT_ENVIRONMENT_H_

#include "litert/c/litert_common.h"
#include "litert/c/litert_environment_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options are copied, texts too. Looks for libLiteRtGpuAccelerator in kLiteRtEnvOptionTagRuntimeLibraryDir, without
// that option where the system looks for libraries; that there is none is no error. num_options 0: options may be NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEnvironment(int num_options, const LiteRtEnvOption *options,
                                                        LiteRtEnvironment *environment);
LITERT_CAPI_EXPORT void LiteRtDestroyEnvironment(LiteRtEnvironment environment);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEnvironmentOptions(LiteRtEnvironment environment,
                                                            LiteRtEnvironmentOptions *options);

#ifdef __cplusplus
}
#endif

#endif
