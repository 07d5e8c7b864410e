// SPDX-License-Identifier: Apache-2.0
// The accelerators that an environment has found: the GPU's, if there is one, and the CPU.
#ifndef LITERT_C_LITERT_ACCELERATOR_H_
#define LITERT_C_LITERT_ACCELERATOR_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumAccelerators(LiteRtEnvironment environment, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAccelerator(LiteRtEnvironment environment, LiteRtParamIndex index,
                                                     LiteRtAccelerator *accelerator);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorName(LiteRtAccelerator accelerator, const char **name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorVersion(LiteRtAccelerator accelerator, LiteRtApiVersion *version);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAcceleratorHardwareSupport(LiteRtAccelerator accelerator,
                                                                    LiteRtHwAcceleratorSet *hardware);

#ifdef __cplusplus
}
#endif

#endif
