// SPDX-License-Identifier: Apache-2.0
// The entry points of CUDA's driver and of NVRTC, its run-time compiler, that the CUDA backend calls, as data: one row
// per function. Nothing of CUDA is needed to build: handles are opaque here, and the few structs and numbers that calls
// take are declared as the driver's documents describe them. cuda_api.c opens both libraries by name at run time.
#ifndef HALITE_GPU_BACKEND_CUDA_API_H
#define HALITE_GPU_BACKEND_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

struct cuda_context;
struct cuda_stream;
struct cuda_event;
struct cuda_module;
struct cuda_function;
struct cuda_graph;
struct cuda_graph_node;
struct cuda_graph_exec;
struct cuda_external;
struct nvrtc_program;

typedef int cuda_result;
typedef int cuda_device_id;
typedef uintptr_t cuda_pointer; // an address on the device

// Results that this backend tells apart; the driver itself has texts for all.
enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_DEINITIALIZED = 4,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_NO_BINARY_FOR_GPU = 209,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_NVLINK_UNCORRECTABLE = 220,
    CUDA_NOT_READY = 600, // of a query: there is still something to do
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_CONTEXT_IS_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_STACK_ERROR = 714,
    CUDA_ILLEGAL_INSTRUCTION = 715,
    CUDA_MISALIGNED_ADDRESS = 716,
    CUDA_INVALID_ADDRESS_SPACE = 717,
    CUDA_INVALID_PC = 718,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_UNKNOWN = 999,
};

// Attributes of a device and of a function.
enum {
    CUDA_MAX_THREADS_PER_BLOCK = 1,
    CUDA_MAX_BLOCK_DIM_X = 2, // y and z follow
    CUDA_MAX_GRID_DIM_X = 5,
    CUDA_MAX_SHARED_PER_BLOCK = 8,
    CUDA_WARP_SIZE = 10,
    CUDA_MULTIPROCESSORS = 16,
    CUDA_INTEGRATED = 18,
    CUDA_CAPABILITY_MAJOR = 75,
    CUDA_CAPABILITY_MINOR = 76,
    CUDA_RESERVED_SHARED_PER_BLOCK = 111,
    CUDA_MAX_SHARED_PER_MULTIPROCESSOR = 81,
    CUDA_MAX_SHARED_PER_BLOCK_ASKED = 97, // where cuFuncSetAttribute has asked for it
    CUDA_FUNCTION_MAX_THREADS = 0,
    CUDA_FUNCTION_STATIC_SHARED = 1, // bytes of a group
    CUDA_FUNCTION_SHARED_BYTES = 8,  // that launches may give
};

enum {
    CUDA_STREAM_NON_BLOCKING = 1, // does not wait for the stream that other libraries use by default
    CUDA_HOST_PORTABLE = 1,       // host memory for all contexts
    CUDA_HOST_MAPPED = 2,         // which kernels can use
    CUDA_HOST_WRITE_COMBINED = 4, // past the host's caches: fast to write, very slow to read
    CUDA_EVENT_DEFAULT = 0,       // with a time
    CUDA_EVENT_DISABLE_TIMING = 2,
    CUDA_EXTERNAL_OPAQUE_FD = 1,   // memory behind a file descriptor of another API
    CUDA_PORT_PROGRAMMATIC = 1,    // the edge begins when the first kernel says that it may
    CUDA_DEPENDS_PROGRAMMATIC = 1, // the type of such an edge
};

struct cuda_kernel_node {
    struct cuda_function *function;
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    void **params; // the address of each argument
    void **extra;
};

struct cuda_uuid {
    unsigned char bytes[16];
};

struct cuda_external_memory {
    int type;
    union {
        int descriptor; // the driver's once it was imported
        struct {
            void *handle;
            const void *name;
        } windows;
    } handle;
    unsigned long long bytes;
    unsigned flags, reserved[16];
};

struct cuda_external_buffer {
    unsigned long long offset, bytes;
    unsigned flags, reserved[16];
};

struct cuda_edge {
    unsigned char from_port, to_port, type, reserved[5];
};

// X(name, symbol, arguments): functions that return a cuda_result
// clang-format off
#define CUDA_FUNCTIONS(X) \
    X(init, cuInit, (unsigned flags)) \
    X(driver_version, cuDriverGetVersion, (int *version)) \
    X(error_name, cuGetErrorName, (cuda_result code, const char **name)) \
    X(error_text, cuGetErrorString, (cuda_result code, const char **text)) \
    X(device_count, cuDeviceGetCount, (int *count)) \
    X(device_get, cuDeviceGet, (cuda_device_id *device, int index)) \
    X(device_name, cuDeviceGetName, (char *name, int bytes, cuda_device_id device)) \
    X(device_memory, cuDeviceTotalMem_v2, (size_t *bytes, cuda_device_id device)) \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, cuda_device_id device)) \
    X(context_retain, cuDevicePrimaryCtxRetain, (struct cuda_context **context, cuda_device_id device)) \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (cuda_device_id device)) \
    X(context_push, cuCtxPushCurrent_v2, (struct cuda_context *context)) \
    X(context_pop, cuCtxPopCurrent_v2, (struct cuda_context **context)) \
    X(context_device, cuCtxGetDevice, (cuda_device_id *device)) \
    X(memory_range, cuMemGetAddressRange_v2, (cuda_pointer *start, size_t *bytes, cuda_pointer address)) \
    X(host_register, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags)) \
    X(host_unregister, cuMemHostUnregister, (void *memory)) \
    X(host_pointer, cuMemHostGetDevicePointer_v2, (cuda_pointer *address, void *memory, unsigned flags)) \
    X(memory_allocate, cuMemAlloc_v2, (cuda_pointer *address, size_t bytes)) \
    X(memory_free, cuMemFree_v2, (cuda_pointer address)) \
    X(host_allocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags)) \
    X(host_free, cuMemFreeHost, (void *memory)) \
    X(copy_to_device, cuMemcpyHtoDAsync_v2, \
        (cuda_pointer to, const void *from, size_t bytes, struct cuda_stream *stream)) \
    X(copy_to_host, cuMemcpyDtoHAsync_v2, (void *to, cuda_pointer from, size_t bytes, struct cuda_stream *stream)) \
    X(stream_create, cuStreamCreate, (struct cuda_stream **stream, unsigned flags)) \
    X(stream_destroy, cuStreamDestroy_v2, (struct cuda_stream *stream)) \
    X(stream_query, cuStreamQuery, (struct cuda_stream *stream)) \
    X(event_create, cuEventCreate, (struct cuda_event **event, unsigned flags)) \
    X(event_destroy, cuEventDestroy_v2, (struct cuda_event *event)) \
    X(event_record, cuEventRecord, (struct cuda_event *event, struct cuda_stream *stream)) \
    X(event_query, cuEventQuery, (struct cuda_event *event)) \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, struct cuda_event *start, struct cuda_event *end)) \
    X(module_load, cuModuleLoadData, (struct cuda_module **module, const void *image)) \
    X(module_unload, cuModuleUnload, (struct cuda_module *module)) \
    X(module_function, cuModuleGetFunction, \
        (struct cuda_function **function, struct cuda_module *module, const char *name)) \
    X(function_attribute, cuFuncGetAttribute, (int *value, int attribute, struct cuda_function *function)) \
    X(function_set_attribute, cuFuncSetAttribute, (struct cuda_function *function, int attribute, int value)) \
    X(launch, cuLaunchKernel, (struct cuda_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, struct cuda_stream *stream, \
        void **params, void **extra)) \
    X(graph_create, cuGraphCreate, (struct cuda_graph **graph, unsigned flags)) \
    X(graph_destroy, cuGraphDestroy, (struct cuda_graph *graph)) \
    X(graph_add_kernel, cuGraphAddKernelNode, (struct cuda_graph_node **node, struct cuda_graph *graph, \
        struct cuda_graph_node *const *after, size_t after_count, const struct cuda_kernel_node *kernel)) \
    X(graph_instantiate, cuGraphInstantiateWithFlags, \
        (struct cuda_graph_exec **exec, struct cuda_graph *graph, unsigned long long flags)) \
    X(graph_launch, cuGraphLaunch, (struct cuda_graph_exec *exec, struct cuda_stream *stream)) \
    X(graph_exec_destroy, cuGraphExecDestroy, (struct cuda_graph_exec *exec))
// Those that a driver may lack.
#define CUDA_LATER_FUNCTIONS(X) \
    X(graph_add_edges, cuGraphAddDependencies_v2, (struct cuda_graph *graph, struct cuda_graph_node *const *from, \
        struct cuda_graph_node *const *to, const struct cuda_edge *edges, size_t count)) \
    X(device_uuid, cuDeviceGetUuid, (struct cuda_uuid *uuid, cuda_device_id device)) \
    X(external_import, cuImportExternalMemory, \
        (struct cuda_external **external, const struct cuda_external_memory *desc)) \
    X(external_buffer, cuExternalMemoryGetMappedBuffer, \
        (cuda_pointer *address, struct cuda_external *external, const struct cuda_external_buffer *desc)) \
    X(external_destroy, cuDestroyExternalMemory, (struct cuda_external *external))
#define NVRTC_FUNCTIONS(X) \
    X(version, nvrtcVersion, (int *major, int *minor)) \
    X(create, nvrtcCreateProgram, (struct nvrtc_program **program, const char *text, const char *name, \
        int header_count, const char *const *headers, const char *const *header_names)) \
    X(destroy, nvrtcDestroyProgram, (struct nvrtc_program **program)) \
    X(compile, nvrtcCompileProgram, (struct nvrtc_program *program, int option_count, const char *const *options)) \
    X(log_size, nvrtcGetProgramLogSize, (struct nvrtc_program *program, size_t *bytes)) \
    X(log, nvrtcGetProgramLog, (struct nvrtc_program *program, char *log)) \
    X(binary_size, nvrtcGetCUBINSize, (struct nvrtc_program *program, size_t *bytes)) \
    X(binary, nvrtcGetCUBIN, (struct nvrtc_program *program, char *binary))
// clang-format on

struct cuda_api {
#define X(name, symbol, arguments) cuda_result(*name) arguments;
    CUDA_FUNCTIONS(X)
    CUDA_LATER_FUNCTIONS(X)
#undef X
};

struct nvrtc_api {
#define X(name, symbol, arguments) int(*name) arguments;
    NVRTC_FUNCTIONS(X)
#undef X
    const char *(*error_text)(int code); // nvrtcGetErrorString
};

// The libraries of a process, opened once.
struct cuda_library {
    struct cuda_api cuda;
    struct nvrtc_api nvrtc;
    int driver_version; // 13000: CUDA 13.0
    int nvrtc_major, nvrtc_minor;
    int count;       // of devices
    const char *why; // why there is no device, static text; NULL if there is one
};
const struct cuda_library *gpu_cuda_library(void);

#endif
