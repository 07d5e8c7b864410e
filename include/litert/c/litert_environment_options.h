// SPDX-License-Identifier: Apache-2.0
// Options of an environment: a tag and a value of the type that stands beside the tag.
#ifndef LITERT_C_LITERT_ENVIRONMENT_OPTIONS_H_
#define LITERT_C_LITERT_ENVIRONMENT_OPTIONS_H_

#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LiteRtEnvOptionTag {
    kLiteRtEnvOptionTagCompilerPluginLibraryDir = 0, // string
    kLiteRtEnvOptionTagDispatchLibraryDir = 1,       // string
    kLiteRtEnvOptionTagOpenClDeviceId = 2,           // int: the handle
    kLiteRtEnvOptionTagOpenClPlatformId = 3,         // int: the handle
    kLiteRtEnvOptionTagOpenClContext = 4,            // int: the handle
    kLiteRtEnvOptionTagOpenClCommandQueue = 5,       // int: the handle
    kLiteRtEnvOptionTagEglDisplay = 6,               // int: the handle
    kLiteRtEnvOptionTagEglContext = 7,               // int: the handle
    kLiteRtEnvOptionTagWebGpuDevice = 8,             // int: the handle
    kLiteRtEnvOptionTagWebGpuQueue = 9,              // int: the handle
    kLiteRtEnvOptionTagMetalDevice = 10,             // pointer
    kLiteRtEnvOptionTagMetalCommandQueue = 11,       // pointer
    kLiteRtEnvOptionTagVulkanEnvironment = 12,       // int: a pointer to a struct of Google's engine
    kLiteRtEnvOptionTagCallbackOnGpuEnvDestroy = 14,
    kLiteRtEnvOptionTagCallbackUserDataOnGpuEnvDestroy = 15,
    kLiteRtEnvOptionTagMagicNumberConfigs = 16,
    kLiteRtEnvOptionTagMagicNumberVerifications = 17,
    kLiteRtEnvOptionTagCompilerCacheDir = 18, // string
    kLiteRtEnvOptionTagWebGpuInstance = 19,
    kLiteRtEnvOptionTagRuntimeLibraryDir = 22,          // string: where accelerator libraries are looked for
    kLiteRtEnvOptionTagSystemRuntimeHandle = 23,        // pointer
    kLiteRtEnvOptionTagAutoRegisterAccelerators = 24,   // int: a LiteRtHwAcceleratorSet; only those are looked for
    kLiteRtEnvOptionTagMinLoggerSeverity = 25,          // int
    kLiteRtEnvOptionTagSystemGpuAcceleratorHandle = 30, // pointer: a LiteRtAcceleratorDef of the program
    kLiteRtEnvOptionTagNull = 255                       // none
} LiteRtEnvOptionTag;

typedef struct LiteRtEnvOption {
    LiteRtEnvOptionTag tag;
    LiteRtAny value;
} LiteRtEnvOption;

// kLiteRtStatusErrorNotFound where the option was not given. Texts are lent and live as long as the environment.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEnvironmentOptionsValue(LiteRtEnvironmentOptions options,
                                                                 LiteRtEnvOptionTag tag, LiteRtAny *value);

#ifdef __cplusplus
}
#endif

#endif
