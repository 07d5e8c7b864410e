// SPDX-License-Identifier: Apache-2.0
// A program with its own use of the GPU, for tests of buffers that it shares with the delegate: one table of functions
// for each API. Its kernels fill a buffer with input_value(i) of delegate_session.h, and read one.
#ifndef HALITE_TESTS_GPU_APPLICATION_H
#define HALITE_TESTS_GPU_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "halite/gpu_async.h"
#include "halite/gpu_delegate.h"

struct application {
    const char *name;
    // Fills in the context for the delegate. False: the API has no device here.
    bool (*begin)(HaliteGpuContext *context);
    void (*end)(void);
    uint64_t (*create)(size_t bytes);
    void (*destroy)(uint64_t buffer);
    // A kernel writes `count` floats from this byte on.
    void (*fill)(uint64_t buffer, size_t offset, int count);
    // A kernel adds 1 to `count` floats from this byte on, which must fit in APPLICATION_ROOM; the sums are copied to
    // `to`.
    void (*inspect)(uint64_t buffer, size_t offset, int count, float *to);
    // Copies without a kernel, after all kernels that were started before.
    void (*write)(uint64_t buffer, size_t offset, const void *from, size_t bytes);
    void (*read)(uint64_t buffer, size_t offset, void *to, size_t bytes);

    // A buffer in memory that others can import, with its file descriptor, which the caller closes. *bytes: at least as
    // many, and then how many were allocated. -1: this API or this driver has no such. NULL: likewise.
    int (*create_exported)(size_t *bytes, uint64_t *buffer, int32_t *memory_type);

    // Two-dimensional images of four channels; NULL where the delegate takes none of this API. create: 0 where the
    // API's library lacks what the test needs.
    uint64_t (*image_create)(int width, int height, HaliteGpuElement element);
    void (*image_destroy)(uint64_t image);
    // All texels, in rows without gaps. Vulkan: images are in this layout afterwards, and have to be before.
    void (*image_write)(uint64_t image, const void *texels, int layout);
    void (*image_read)(uint64_t image, void *texels, int layout);

    // ---- for asynchronous runs; NULL: the application has no such

    const char *buffer_type, *fence_type; // as in halite/gpu_async.h
    // What TfLiteBackendBufferSetPtr takes.
    void *(*pointer)(const uint64_t *buffer);
    // As fill, but nothing waits: the kernel begins when the gate is opened, if this API has gates, and `fence` is
    // reached when it is done. Only fences order it and what the delegate does.
    void (*fill_later)(uint64_t buffer, size_t offset, int count, HaliteGpuFence *fence);
    void (*open_gate)(void);
    // Makes `fence` one that an output can have.
    void (*make_fence)(HaliteGpuFence *fence);
    // As inspect, but the kernel waits for the fence, on the device, and nobody for the kernel.
    void (*inspect_after)(const HaliteGpuFence *fence, uint64_t buffer, size_t offset, int count);
    // Waits for that kernel, and copies what it wrote.
    void (*read_sums)(int count, float *to);
    void (*release_fence)(const HaliteGpuFence *fence);
};

// The functions above for asynchronous runs, under their own names, in an application's table.
#define APPLICATION_FENCES                                                                          \
    .pointer = pointer, .fill_later = fill_later, .open_gate = open_gate, .make_fence = make_fence, \
    .inspect_after = inspect_after, .read_sums = read_sums, .release_fence = release_fence

// A table of the images that an application has made.
struct application_image {
    uint64_t handle; // 0: this entry is free
    int width, height;
    HaliteGpuElement element;
    uint64_t memory; // that it lies in, where the API has such an object
};
enum { APPLICATION_IMAGES = 8 };
// A free entry, with all but the handle; the entry of a handle. Both exist.
struct application_image *application_image_add(int width, int height, HaliteGpuElement element);
struct application_image *application_image_find(uint64_t handle);
static inline size_t application_image_bytes(const struct application_image *image)
{
    static const size_t bytes[] = {
        [kHaliteGpuElementFloat32] = 16, [kHaliteGpuElementFloat16] = 8, [kHaliteGpuElementRgba8] = 4};
    return (size_t)image->width * (size_t)image->height * bytes[image->element];
}

enum { APPLICATION_ROOM = 4096 };

extern const struct application application_opencl, application_vulkan, application_gles, application_metal,
    application_cuda;

// Those of this build, with NULL at the end.
extern const struct application *const applications[];

#endif
