// SPDX-License-Identifier: Apache-2.0
// Vendors' support libraries: an NNAPI that comes with the application. Such a library has one function, which returns
// a struct: a feature level, then pointers to functions in the order below. In: that struct. Out: each function by the
// name under which the system's library exports it.
#ifndef HALITE_DELEGATES_NNAPI_SUPPORT_LIBRARY_H
#define HALITE_DELEGATES_NNAPI_SUPPORT_LIBRARY_H

#include "delegates/nnapi/abi.h"

// X(prefix, rest of the name): all members behind the feature level, in order.
#define NNAPI_SUPPORT_LIBRARY(X)                                                 \
    X(ANeuralNetworks, Burst_create)                                             \
    X(ANeuralNetworks, Burst_free)                                               \
    X(ANeuralNetworks, Compilation_createForDevices)                             \
    X(ANeuralNetworks, Compilation_finish)                                       \
    X(ANeuralNetworks, Compilation_free)                                         \
    X(ANeuralNetworks, Compilation_getPreferredMemoryAlignmentForInput)          \
    X(ANeuralNetworks, Compilation_getPreferredMemoryAlignmentForOutput)         \
    X(ANeuralNetworks, Compilation_getPreferredMemoryPaddingForInput)            \
    X(ANeuralNetworks, Compilation_getPreferredMemoryPaddingForOutput)           \
    X(ANeuralNetworks, Compilation_setCaching)                                   \
    X(ANeuralNetworks, Compilation_setPreference)                                \
    X(ANeuralNetworks, Compilation_setPriority)                                  \
    X(ANeuralNetworks, Compilation_setTimeout)                                   \
    X(ANeuralNetworks, Device_getExtensionSupport)                               \
    X(ANeuralNetworks, Device_getFeatureLevel)                                   \
    X(ANeuralNetworks, Device_getName)                                           \
    X(ANeuralNetworks, Device_getType)                                           \
    X(ANeuralNetworks, Device_getVersion)                                        \
    X(ANeuralNetworks, Device_wait)                                              \
    X(ANeuralNetworks, Event_createFromSyncFenceFd)                              \
    X(ANeuralNetworks, Event_free)                                               \
    X(ANeuralNetworks, Event_getSyncFenceFd)                                     \
    X(ANeuralNetworks, Event_wait)                                               \
    X(ANeuralNetworks, Execution_burstCompute)                                   \
    X(ANeuralNetworks, Execution_compute)                                        \
    X(ANeuralNetworks, Execution_create)                                         \
    X(ANeuralNetworks, Execution_enableInputAndOutputPadding)                    \
    X(ANeuralNetworks, Execution_free)                                           \
    X(ANeuralNetworks, Execution_getDuration)                                    \
    X(ANeuralNetworks, Execution_getOutputOperandDimensions)                     \
    X(ANeuralNetworks, Execution_getOutputOperandRank)                           \
    X(ANeuralNetworks, Execution_setInput)                                       \
    X(ANeuralNetworks, Execution_setInputFromMemory)                             \
    X(ANeuralNetworks, Execution_setLoopTimeout)                                 \
    X(ANeuralNetworks, Execution_setMeasureTiming)                               \
    X(ANeuralNetworks, Execution_setOutput)                                      \
    X(ANeuralNetworks, Execution_setOutputFromMemory)                            \
    X(ANeuralNetworks, Execution_setReusable)                                    \
    X(ANeuralNetworks, Execution_setTimeout)                                     \
    X(ANeuralNetworks, Execution_startComputeWithDependencies)                   \
    X(ANeuralNetworks, MemoryDesc_addInputRole)                                  \
    X(ANeuralNetworks, MemoryDesc_addOutputRole)                                 \
    X(ANeuralNetworks, MemoryDesc_create)                                        \
    X(ANeuralNetworks, MemoryDesc_finish)                                        \
    X(ANeuralNetworks, MemoryDesc_free)                                          \
    X(ANeuralNetworks, MemoryDesc_setDimensions)                                 \
    X(ANeuralNetworks, Memory_copy)                                              \
    X(ANeuralNetworks, Memory_createFromAHardwareBuffer)                         \
    X(ANeuralNetworks, Memory_createFromDesc)                                    \
    X(ANeuralNetworks, Memory_createFromFd)                                      \
    X(ANeuralNetworks, Memory_free)                                              \
    X(ANeuralNetworks, Model_addOperand)                                         \
    X(ANeuralNetworks, Model_addOperation)                                       \
    X(ANeuralNetworks, Model_create)                                             \
    X(ANeuralNetworks, Model_finish)                                             \
    X(ANeuralNetworks, Model_free)                                               \
    X(ANeuralNetworks, Model_getExtensionOperandType)                            \
    X(ANeuralNetworks, Model_getExtensionOperationType)                          \
    X(ANeuralNetworks, Model_getSupportedOperationsForDevices)                   \
    X(ANeuralNetworks, Model_identifyInputsAndOutputs)                           \
    X(ANeuralNetworks, Model_relaxComputationFloat32toFloat16)                   \
    X(ANeuralNetworks, Model_setOperandExtensionData)                            \
    X(ANeuralNetworks, Model_setOperandSymmPerChannelQuantParams)                \
    X(ANeuralNetworks, Model_setOperandValue)                                    \
    X(ANeuralNetworks, Model_setOperandValueFromMemory)                          \
    X(ANeuralNetworks, Model_setOperandValueFromModel)                           \
    X(ANeuralNetworks, _getDefaultLoopTimeout)                                   \
    X(ANeuralNetworks, _getDevice)                                               \
    X(ANeuralNetworks, _getDeviceCount)                                          \
    X(ANeuralNetworks, _getMaximumLoopTimeout)                                   \
    X(ANeuralNetworks, _getRuntimeFeatureLevel)                                  \
    X(SL_ANeuralNetworks, Compilation_setCachingFromFds)                         \
    X(SL_ANeuralNetworks, Device_getNumberOfCacheFilesNeeded)                    \
    X(SL_ANeuralNetworks, Device_getPerformanceInfo)                             \
    X(SL_ANeuralNetworks, Device_forEachOperandPerformanceInfo)                  \
    X(SL_ANeuralNetworks, Device_getVendorExtensionCount)                        \
    X(SL_ANeuralNetworks, Device_getVendorExtensionName)                         \
    X(SL_ANeuralNetworks, Device_forEachVendorExtensionOperandTypeInformation)   \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getSessionId)                \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getNnApiVersion)             \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getModelArchHash)            \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getDeviceIds)                \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getErrorCode)                \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getInputDataClass)           \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getOutputDataClass)          \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_getCompilationTimeNanos)     \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_isCachingEnabled)            \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_isControlFlowUsed)           \
    X(SL_ANeuralNetworks, DiagnosticCompilationInfo_areDynamicTensorsUsed)       \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getSessionId)                  \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getNnApiVersion)               \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getModelArchHash)              \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getDeviceIds)                  \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getExecutionMode)              \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getInputDataClass)             \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getOutputDataClass)            \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getErrorCode)                  \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getRuntimeExecutionTimeNanos)  \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getDriverExecutionTimeNanos)   \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_getHardwareExecutionTimeNanos) \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_isCachingEnabled)              \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_isControlFlowUsed)             \
    X(SL_ANeuralNetworks, DiagnosticExecutionInfo_areDynamicTensorsUsed)         \
    X(SL_ANeuralNetworks, Diagnostic_registerCallbacks)

// The function that a support library exports.
#define NNAPI_SUPPORT_LIBRARY_DOOR "ANeuralNetworks_getSLDriverImpl"

struct nnapi_support_library {
    int64_t level; // of the implementation: 31 to 1000007
#define X(prefix, name) void (*prefix##name)(void);
    NNAPI_SUPPORT_LIBRARY(X)
#undef X
};

// Where in the struct the function with this name stands; 0: it is none of a support library's.
size_t nnapi_support_library_offset(const char *name);

#endif
