// SPDX-License-Identifier: Apache-2.0
// How a model is compiled: on which kinds of hardware, and with which options of theirs.
#ifndef LITERT_C_LITERT_OPTIONS_H_
#define LITERT_C_LITERT_OPTIONS_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// New options ask for no hardware, which a compiled model takes as the CPU.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateOptions(LiteRtOptions *options);
LITERT_CAPI_EXPORT void LiteRtDestroyOptions(LiteRtOptions options);
// Bits of LiteRtHwAccelerators; others are refused.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions options,
                                                                     LiteRtHwAcceleratorSet accelerators);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOptionsHardwareAccelerators(LiteRtOptions options,
                                                                     LiteRtHwAcceleratorSet *accelerators);
// Appends a list, which the options own from then on.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions opaque_options);
// Lends the list; kLiteRtStatusErrorNotFound where there is none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions *opaque_options);

#ifdef __cplusplus
}
#endif

#endif
