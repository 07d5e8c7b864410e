// SPDX-License-Identifier: Apache-2.0
// Halite's GPU delegate for the subcommands: its library is opened when one asks for it, so that the command runs
// without. In: nothing. Out: the functions of halite/gpu_delegate.h, by their own names.
#ifndef HALITE_TOOLS_GPU_LIBRARY_H
#define HALITE_TOOLS_GPU_LIBRARY_H

#include <stdbool.h>

#include "base/library.h"
#include "delegate_library.h"
#include "halite/gpu_delegate.h"
#include "text.h"

// X(result, name, arguments)
// clang-format off
#define HL_GPU_FUNCTIONS(X)                                                                                   \
    HL_REPORT_FUNCTIONS(X)                                                                                    \
    X(TfLiteDelegate *, HaliteGpuDelegateCreate, (const HaliteGpuDelegateOptions *))                          \
    X(TfLiteGpuDelegateOptionsV2, TfLiteGpuDelegateOptionsV2Default, (void))                                  \
    X(void, TfLiteGpuDelegateV2Delete, (TfLiteDelegate *))                                                    \
    X(HaliteDeviceList *, HaliteDeviceListCreate, (void))                                                     \
    X(void, HaliteDeviceListDelete, (HaliteDeviceList *))                                                     \
    X(int32_t, HaliteDeviceListGetCount, (const HaliteDeviceList *))                                          \
    X(const HaliteDevice *, HaliteDeviceListGetDevice, (const HaliteDeviceList *, int32_t))                   \
    X(int32_t, HaliteDeviceListGetApiCount, (const HaliteDeviceList *))                                       \
    X(const HaliteDeviceApi *, HaliteDeviceListGetApi, (const HaliteDeviceList *, int32_t))                   \
    X(int32_t, HaliteDeviceListGetAuto, (const HaliteDeviceList *))                                           \
    X(const char *, HaliteDeviceListGetAutoReason, (const HaliteDeviceList *))                                \
    X(HaliteCompatibility *, HaliteCompatibilityCreate, (const HaliteCompatibilityOptions *))                 \
    X(void, HaliteCompatibilityDelete, (HaliteCompatibility *))                                               \
    X(bool, HaliteCompatibilityIsGpuWorthIt, (const HaliteCompatibility *))                                   \
    X(const char *, HaliteCompatibilityGetReason, (const HaliteCompatibility *))                              \
    X(const HaliteGpuDelegateOptions *, HaliteCompatibilityGetBestOptions, (const HaliteCompatibility *))     \
    X(int32_t, HaliteCompatibilityGetBestThreads, (const HaliteCompatibility *))                              \
    X(int32_t, HaliteCompatibilityGetDeviceCount, (const HaliteCompatibility *))                              \
    X(const HaliteCompatibilityDevice *, HaliteCompatibilityGetDevice, (const HaliteCompatibility *, int32_t)) \
    X(uint64_t, HaliteDelegateGetCopiedBytes, (const TfLiteDelegate *))                                       \
    X(uint64_t, HaliteDelegateGetCarriedBytes, (const TfLiteDelegate *))                                      \
    X(TfLiteStatus, HaliteDelegateSetProfiling, (TfLiteDelegate *, bool, TfLiteTelemetryProfilerStruct *))    \
    X(int32_t, HaliteDelegateReportGetKernelCount, (const HaliteDelegateReport *))                            \
    X(const HaliteDelegateKernel *, HaliteDelegateReportGetKernel, (const HaliteDelegateReport *, int32_t))
// clang-format on

struct hl_gpu_library {
    struct hl_library *handle; // stays open, drivers do not like to be unloaded; NULL: it is not there
#define X(result, name, arguments) result(*name) arguments;
    HL_GPU_FUNCTIONS(X)
#undef X
};

// False, with what was looked for and what to do in `problem`, where it cannot be opened or is an older one.
bool hl_gpu_library_open(struct hl_gpu_library *gpu, struct hl_text *problem);

#endif
