// SPDX-License-Identifier: Apache-2.0
// What the Metal backend calls, as data: the functions of Metal and of the Objective-C runtime, and one row for each
// selector. No header of Apple is needed, and Metal itself only while running, when metal_api.c opens it by name and
// lists the devices.
#ifndef HALITE_GPU_BACKEND_METAL_API_H
#define HALITE_GPU_BACKEND_METAL_API_H

#include <stdint.h>

#include "base/objc.h"

// X(field, selector): without arguments, then with arguments.
// clang-format off
#define METAL_SELECTORS(X) \
    X(retain, "retain") X(release, "release") X(code, "code") X(count, "count") \
    X(string, "UTF8String") X(description, "localizedDescription") X(new_object, "new") \
    X(name, "name") X(device, "device") X(length, "length") X(contents, "contents") X(status, "status") \
    X(error, "error") X(process, "processInfo") X(system, "operatingSystemVersionString") \
    X(unified, "hasUnifiedMemory") X(working_set, "recommendedMaxWorkingSetSize") \
    X(max_buffer, "maxBufferLength") X(max_group, "maxThreadsPerThreadgroup") \
    X(max_shared, "maxThreadgroupMemoryLength") X(max_threads, "maxTotalThreadsPerThreadgroup") \
    X(new_queue, "newCommandQueue") X(commands, "commandBuffer") \
    X(copier, "blitCommandEncoder") X(commit, "commit") X(end, "endEncoding") \
    X(wait, "waitUntilCompleted") X(wait_scheduled, "waitUntilScheduled") \
    X(gpu_start, "GPUStartTime") X(gpu_end, "GPUEndTime") \
    X(object_at, "objectAtIndex:") X(responds, "respondsToSelector:") X(new_string, "stringWithUTF8String:") \
    X(family, "supportsFamily:") X(set_fast_math, "setFastMathEnabled:") X(set_label, "setLabel:") \
    X(new_buffer, "newBufferWithLength:options:") X(new_filled, "newBufferWithBytes:length:options:") \
    X(new_library, "newLibraryWithSource:options:error:") X(new_function, "newFunctionWithName:") \
    X(new_pipeline, "newComputePipelineStateWithFunction:error:") \
    X(encoder_of_type, "computeCommandEncoderWithDispatchType:") \
    X(set_pipeline, "setComputePipelineState:") X(set_buffer, "setBuffer:offset:atIndex:") \
    X(set_bytes, "setBytes:length:atIndex:") \
    X(dispatch, "dispatchThreadgroups:threadsPerThreadgroup:") X(barrier, "memoryBarrierWithScope:") \
    X(copy, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:")
// clang-format on

// Apple's numbers.
enum {
    METAL_STORAGE_SHARED = 0,
    METAL_STORAGE_PRIVATE = 32,
    METAL_DISPATCH_CONCURRENT = 1,
    METAL_BARRIER_BUFFERS = 1,
    METAL_STATUS_ENQUEUED = 1,
    METAL_STATUS_COMPLETED = 4,
    METAL_STATUS_ERROR = 5,
    METAL_ERROR_TIMEOUT = 2,
    METAL_ERROR_ACCESS_REVOKED = 4,
    METAL_ERROR_OUT_OF_MEMORY = 8,
    METAL_ERROR_DEVICE_REMOVED = 11,
    METAL_FAMILY_APPLE1 = 1001,
    METAL_MAX_INLINE_BYTES = 4096,
};

// As Metal passes it.
struct metal_size {
    unsigned long width, height, depth;
};

struct metal_api {
    struct hl_objc objc;
    void *(*create_default_device)(void);
    void *(*copy_all_devices)(void); // NULL: the system has only the default device
#define X(field, selector) void *field;
    METAL_SELECTORS(X)
#undef X
};

// A message by the field of its selector: TELL(api, result, object, field, types, arguments), TELL0 without arguments.
#define METAL_TELL(api, result, object, field, types, ...) \
    HL_OBJC_SEND(&(api)->objc, result, types, object, (api)->field, __VA_ARGS__)
#define METAL_TELL0(api, result, object, field) HL_OBJC_SEND0(&(api)->objc, result, object, (api)->field)

enum { METAL_MAX_DEVICES = 16 };

// The devices that a process finds, once.
struct metal_library {
    struct metal_api api;
    int count;                        // -1: this system cannot have Metal
    void *devices[METAL_MAX_DEVICES]; // the system's default first
    const char *why;                  // why there is no device, static text; NULL if there is one
};
const struct metal_library *gpu_metal_library(void);

// Whether the object has this method, which older systems may lack.
bool gpu_metal_answers(const struct metal_api *api, void *object, void *selector);
// What an NSString holds, until its pool is gone; "" for nil.
const char *gpu_metal_text(const struct metal_api *api, void *string);

#endif
