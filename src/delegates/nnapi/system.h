// SPDX-License-Identifier: Apache-2.0
// The system's neural network library, libneuralnetworks.so: its types, its numbers and its functions, opened at run
// time; or a vendor's support library in its place. In: a path or the system's name, or the support library. Out: a
// table of functions, and the feature level, which says what may be used.
// The names of types, functions and constants are the system's own.
#ifndef HALITE_DELEGATES_NNAPI_SYSTEM_H
#define HALITE_DELEGATES_NNAPI_SYSTEM_H

#include "delegates/nnapi/abi.h"

// X(feature level that brought it, result, symbol, name in the table, arguments). Levels up to 5 have the numbers of
// Android's releases: 27, 28, 29, 30, 31.
// clang-format off
#define NNAPI_FUNCTIONS(X)                                                                                              \
    X(27, int, ANeuralNetworksMemory_createFromFd, memory_create_from_fd,                                               \
      (size_t, int, int, size_t, ANeuralNetworksMemory **))                                                             \
    X(27, void, ANeuralNetworksMemory_free, memory_free, (ANeuralNetworksMemory *))                                     \
    X(27, int, ANeuralNetworksModel_create, model_create, (ANeuralNetworksModel **))                                    \
    X(27, void, ANeuralNetworksModel_free, model_free, (ANeuralNetworksModel *))                                        \
    X(27, int, ANeuralNetworksModel_finish, model_finish, (ANeuralNetworksModel *))                                     \
    X(27, int, ANeuralNetworksModel_addOperand, model_add_operand,                                                      \
      (ANeuralNetworksModel *, const ANeuralNetworksOperandType *))                                                     \
    X(27, int, ANeuralNetworksModel_setOperandValue, model_set_operand_value,                                           \
      (ANeuralNetworksModel *, int32_t, const void *, size_t))                                                          \
    X(27, int, ANeuralNetworksModel_addOperation, model_add_operation,                                                  \
      (ANeuralNetworksModel *, int32_t, uint32_t, const uint32_t *, uint32_t, const uint32_t *))                        \
    X(27, int, ANeuralNetworksModel_identifyInputsAndOutputs, model_identify_inputs_and_outputs,                        \
      (ANeuralNetworksModel *, uint32_t, const uint32_t *, uint32_t, const uint32_t *))                                 \
    X(27, int, ANeuralNetworksCompilation_create, compilation_create,                                                   \
      (ANeuralNetworksModel *, ANeuralNetworksCompilation **))                                                          \
    X(27, void, ANeuralNetworksCompilation_free, compilation_free, (ANeuralNetworksCompilation *))                      \
    X(27, int, ANeuralNetworksCompilation_setPreference, compilation_set_preference,                                    \
      (ANeuralNetworksCompilation *, int32_t))                                                                          \
    X(27, int, ANeuralNetworksCompilation_finish, compilation_finish, (ANeuralNetworksCompilation *))                   \
    X(27, int, ANeuralNetworksExecution_create, execution_create,                                                       \
      (ANeuralNetworksCompilation *, ANeuralNetworksExecution **))                                                      \
    X(27, void, ANeuralNetworksExecution_free, execution_free, (ANeuralNetworksExecution *))                            \
    X(27, int, ANeuralNetworksExecution_setInputFromMemory, execution_set_input_from_memory,                            \
      (ANeuralNetworksExecution *, int32_t, const ANeuralNetworksOperandType *, const ANeuralNetworksMemory *, size_t,  \
       size_t))                                                                                                         \
    X(27, int, ANeuralNetworksExecution_setOutputFromMemory, execution_set_output_from_memory,                          \
      (ANeuralNetworksExecution *, int32_t, const ANeuralNetworksOperandType *, const ANeuralNetworksMemory *, size_t,  \
       size_t))                                                                                                         \
    X(27, int, ANeuralNetworksExecution_startCompute, execution_start_compute,                                          \
      (ANeuralNetworksExecution *, ANeuralNetworksEvent **))                                                            \
    X(27, int, ANeuralNetworksEvent_wait, event_wait, (ANeuralNetworksEvent *))                                         \
    X(27, void, ANeuralNetworksEvent_free, event_free, (ANeuralNetworksEvent *))                                        \
    X(28, int, ANeuralNetworksModel_relaxComputationFloat32toFloat16, model_relax_float32,                              \
      (ANeuralNetworksModel *, bool))                                                                                   \
    X(29, int, ANeuralNetworks_getDeviceCount, get_device_count, (uint32_t *))                                          \
    X(29, int, ANeuralNetworks_getDevice, get_device, (uint32_t, ANeuralNetworksDevice **))                             \
    X(29, int, ANeuralNetworksDevice_getName, device_get_name, (const ANeuralNetworksDevice *, const char **))          \
    X(29, int, ANeuralNetworksDevice_getFeatureLevel, device_get_feature_level,                                         \
      (const ANeuralNetworksDevice *, int64_t *))                                                                       \
    X(29, int, ANeuralNetworksModel_setOperandSymmPerChannelQuantParams, model_set_operand_channel_scales,              \
      (ANeuralNetworksModel *, int32_t, const ANeuralNetworksSymmPerChannelQuantParams *))                              \
    X(29, int, ANeuralNetworksModel_getSupportedOperationsForDevices, model_get_supported_operations,                   \
      (const ANeuralNetworksModel *, const ANeuralNetworksDevice *const *, uint32_t, bool *))                           \
    X(29, int, ANeuralNetworksCompilation_createForDevices, compilation_create_for_devices,                             \
      (ANeuralNetworksModel *, const ANeuralNetworksDevice *const *, uint32_t, ANeuralNetworksCompilation **))          \
    X(29, int, ANeuralNetworksCompilation_setCaching, compilation_set_caching,                                          \
      (ANeuralNetworksCompilation *, const char *, const uint8_t *))                                                    \
    X(29, int, ANeuralNetworksExecution_compute, execution_compute, (ANeuralNetworksExecution *))                       \
    X(29, int, ANeuralNetworksBurst_create, burst_create,                                                               \
      (ANeuralNetworksCompilation *, ANeuralNetworksBurst **))                                                          \
    X(29, void, ANeuralNetworksBurst_free, burst_free, (ANeuralNetworksBurst *))                                        \
    X(29, int, ANeuralNetworksExecution_burstCompute, execution_burst_compute,                                          \
      (ANeuralNetworksExecution *, ANeuralNetworksBurst *))                                                             \
    X(30, int, ANeuralNetworksCompilation_setTimeout, compilation_set_timeout,                                          \
      (ANeuralNetworksCompilation *, uint64_t))                                                                         \
    X(30, int, ANeuralNetworksCompilation_setPriority, compilation_set_priority, (ANeuralNetworksCompilation *, int))   \
    X(30, int, ANeuralNetworksExecution_setTimeout, execution_set_timeout, (ANeuralNetworksExecution *, uint64_t))      \
    X(30, int, ANeuralNetworksExecution_setLoopTimeout, execution_set_loop_timeout,                                     \
      (ANeuralNetworksExecution *, uint64_t))                                                                           \
    X(31, int64_t, ANeuralNetworks_getRuntimeFeatureLevel, get_runtime_feature_level, (void))                           \
    X(31, int, ANeuralNetworksExecution_enableInputAndOutputPadding, execution_enable_padding,                          \
      (ANeuralNetworksExecution *, bool))                                                                               \
    X(31, int, ANeuralNetworksExecution_setReusable, execution_set_reusable, (ANeuralNetworksExecution *, bool))
// clang-format on

struct nnapi {
    struct hl_library *library; // stays open: drivers do not like to be unloaded
    int64_t level;              // 27 and up; those of an update to the system begin at 1000006; 0: not open yet
#define X(level, result, symbol, name, arguments) result(*name) arguments;
    NNAPI_FUNCTIONS(X)
#undef X
};

// Where the functions come from. The first member that is set counts; all NULL: the system's library.
struct nnapi_source {
    const void *support_library;      // the struct that it returned
    const char *support_library_path; // a support library that is to be opened
    const char *library_path;         // a library of the system's interface
};

// Opens the library, once for a delegate. False: `why` says what was not found, in one line.
bool nnapi_open(struct nnapi *nnapi, const struct nnapi_source *source, char *why, size_t size);
// "ANEURALNETWORKS_BAD_DATA"; NULL where there is no such code.
const char *nnapi_result_name(int code);

#endif
