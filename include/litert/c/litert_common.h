// SPDX-License-Identifier: Apache-2.0
// LiteRT 2's C interface: handles, status values and the small enumerations that everything else uses. Names, values
// and layouts are LiteRT's, so that a program compiled with either set of headers runs with either library. What of the
// interface libLiteRt of Halite has, and what libLiteRtGpuAccelerator does inside the official runtime, is told in
// docs/litert.md.
//
// A handle is a pointer to something that only the library sees. Functions with "Create" in their name give a handle
// that the matching "Destroy" ends; what a "Get" answers is lent and lives as long as what it was asked of. Functions
// return a LiteRtStatus; where it is not kLiteRtStatusOk nothing was stored in the caller's variables, and a line on
// standard error says what was wrong.
#ifndef LITERT_C_LITERT_COMMON_H_
#define LITERT_C_LITERT_COMMON_H_

#include <stddef.h>

#if defined(_WIN32)
#define LITERT_CAPI_EXPORT
#else
#define LITERT_CAPI_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LITERT_DEFINE_HANDLE(name) typedef struct name##T *name
LITERT_DEFINE_HANDLE(LiteRtAccelerator);                 // something that brings a delegate: litert_accelerator.h
LITERT_DEFINE_HANDLE(LiteRtDelegateWrapper);             // a delegate, and what deletes it
LITERT_DEFINE_HANDLE(LiteRtCompiledModel);               // a model that is ready to run: litert_compiled_model.h
LITERT_DEFINE_HANDLE(LiteRtEnvironment);                 // options and accelerators of a process: litert_environment.h
LITERT_DEFINE_HANDLE(LiteRtEnvironmentOptions);          // the options of an environment
LITERT_DEFINE_HANDLE(LiteRtEvent);                       // the end of work that is under way: litert_event.h
LITERT_DEFINE_HANDLE(LiteRtMetrics);                     // named values of a run: litert_metrics.h
LITERT_DEFINE_HANDLE(LiteRtTensor);                      // a tensor of a model: litert_model.h
LITERT_DEFINE_HANDLE(LiteRtSubgraph);                    // a graph of a model
LITERT_DEFINE_HANDLE(LiteRtSignature);                   // a graph with names for its inputs and outputs
LITERT_DEFINE_HANDLE(LiteRtModel);                       // a model file that was read
LITERT_DEFINE_HANDLE(LiteRtOpaqueOptions);               // a list of options of others: litert_opaque_options.h
LITERT_DEFINE_HANDLE(LiteRtOptions);                     // how to compile a model: litert_options.h
LITERT_DEFINE_HANDLE(LiteRtTensorBuffer);                // memory for a tensor: litert_tensor_buffer.h
LITERT_DEFINE_HANDLE(LiteRtTensorBufferRequirements);    // what such memory must be
LITERT_DEFINE_HANDLE(LiteRtExternalLiteRtBufferContext); // the buffers of a run, as a delegate's kernels see them

typedef enum LiteRtStatus {
    kLiteRtStatusOk = 0,
    kLiteRtStatusErrorInvalidArgument = 1,
    kLiteRtStatusErrorMemoryAllocationFailure = 2,
    kLiteRtStatusErrorRuntimeFailure = 3,
    kLiteRtStatusErrorMissingInputTensor = 4,
    kLiteRtStatusErrorUnsupported = 5,
    kLiteRtStatusErrorNotFound = 6,
    kLiteRtStatusErrorTimeoutExpired = 7,
    kLiteRtStatusErrorWrongVersion = 8,
    kLiteRtStatusErrorUnknown = 9,
    kLiteRtStatusErrorAlreadyExists = 10,
    kLiteRtStatusCancelled = 100, // the cancellation function of a compiled model said so
    kLiteRtStatusErrorFileIO = 500,
    kLiteRtStatusErrorInvalidFlatbuffer = 501,
    kLiteRtStatusErrorDynamicLoading = 502,
    kLiteRtStatusErrorSerialization = 503,
    kLiteRtStatusErrorCompilation = 504, // a model does not run on the accelerators that were asked for
    kLiteRtStatusErrorIndexOOB = 1000,   // an index is outside of what it counts
    kLiteRtStatusErrorInvalidIrType = 1001,
    kLiteRtStatusErrorInvalidGraphInvariant = 1002,
    kLiteRtStatusErrorGraphModification = 1003,
    kLiteRtStatusErrorInvalidToolConfig = 1500,
    kLiteRtStatusLegalizeNoMatch = 2000,
    kLiteRtStatusErrorInvalidLegalization = 2001,
    kLiteRtStatusPatternNoMatch = 3000,
    kLiteRtStatusInvalidTransformation = 3001,
    kLiteRtStatusErrorUnsupportedRuntimeVersion = 4000,
    kLiteRtStatusErrorUnsupportedCompilerVersion = 4001,
    kLiteRtStatusErrorIncompatibleByteCodeVersion = 4002
} LiteRtStatus;

// Bits of a LiteRtHwAcceleratorSet.
typedef enum LiteRtHwAccelerators {
    kLiteRtHwAcceleratorNone = 0,
    kLiteRtHwAcceleratorCpu = 1,
    kLiteRtHwAcceleratorGpu = 2,
    kLiteRtHwAcceleratorNpu = 4
} LiteRtHwAccelerators;
typedef int LiteRtHwAcceleratorSet;

// Values of keys in the text of "gpu_options": precision, backend, priority, wait_type and buffer_storage_type.
typedef enum LiteRtDelegatePrecision {
    kLiteRtDelegatePrecisionDefault = 0,
    kLiteRtDelegatePrecisionFp16 = 1,
    kLiteRtDelegatePrecisionFp32 = 2,
    kLiteRtDelegatePrecisionFp32_16 = 3 // halves in memory, float arithmetic
} LiteRtDelegatePrecision;
typedef enum LiteRtGpuBackend {
    kLiteRtGpuBackendAutomatic = 0,
    kLiteRtGpuBackendOpenCl = 1,
    kLiteRtGpuBackendWebGpu = 2,
    kLiteRtGpuBackendOpenGl = 3
} LiteRtGpuBackend;
typedef enum LiteRtGpuPriority {
    kLiteRtGpuPriorityDefault = 0,
    kLiteRtGpuPriorityLow = 1,
    kLiteRtGpuPriorityNormal = 2,
    kLiteRtGpuPriorityHigh = 3
} LiteRtGpuPriority;
typedef enum LiteRtGpuWaitType {
    kLiteRtGpuWaitTypeDefault = 0,
    kLiteRtGpuWaitTypePassive = 1,
    kLiteRtGpuWaitTypeActive = 2,
    kLiteRtGpuWaitTypeDoNotWait = 3
} LiteRtGpuWaitType;
typedef enum LiteRtDelegateBufferStorageType {
    kLiteRtDelegateBufferStorageTypeDefault = 0,
    kLiteRtDelegateBufferStorageTypeBuffer = 1,
    kLiteRtDelegateBufferStorageTypeTexture2D = 2
} LiteRtDelegateBufferStorageType;

// Value of the key error_reporter_mode in the text of "runtime_options_string".
typedef enum LiteRtErrorReporterMode {
    kLiteRtErrorReporterModeNone = 0,
    kLiteRtErrorReporterModeStderr = 1,
    kLiteRtErrorReporterModeBuffer = 2 // kept for LiteRtCompiledModelGetErrorMessages
} LiteRtErrorReporterMode;

// What the memory of a locked tensor buffer is going to be used for.
typedef enum LiteRtTensorBufferLockMode {
    kLiteRtTensorBufferLockModeRead = 0,
    kLiteRtTensorBufferLockModeWrite = 1,
    kLiteRtTensorBufferLockModeReadWrite = 2
} LiteRtTensorBufferLockMode;

typedef size_t LiteRtParamIndex; // an index or a count

typedef struct LiteRtApiVersion {
    int major, minor, patch;
} LiteRtApiVersion;

#ifdef __cplusplus
}
#endif

#endif
