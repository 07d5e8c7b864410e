// SPDX-License-Identifier: Apache-2.0
// A program with its own use of the GPU, for tests of buffers that it shares with the delegate: one table of functions
// for each API. Its kernels fill a buffer with input_value(i) of delegate_session.h, and read one.
#ifndef HALITE_TESTS_GPU_APPLICATION_H
#define HALITE_TESTS_GPU_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

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
};

enum { APPLICATION_ROOM = 4096 };

extern const struct application application_opencl, application_vulkan, application_gles, application_metal;

#endif
