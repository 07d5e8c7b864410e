// SPDX-License-Identifier: Apache-2.0
// Stands for Android's libnativewindow.so and for a driver of Vulkan that takes its memory, and dma-bufs:
// AHardwareBuffers are pages of the host (buffer.c), and Vulkan is that of this machine, whose device imports such
// pages (vulkan.c).
#ifndef HALITE_TESTS_FAKES_ANDROID_FAKE_H
#define HALITE_TESTS_FAKES_ANDROID_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "common/knobs.h"

// clang-format off
#define FAKE_KNOBS(X) \
    X(lacks_extension, 0, "the driver does not take such memory") \
    X(fails_import, 0, "vkAllocateMemory fails for such memory") \
    X(buffers, 0, "that somebody still refers to") \
    X(imports, 0, "pieces of memory of Vulkan that were made of buffers") \
    X(live_imports, 0, "those of them that were not freed")
// clang-format on
FAKE_DECLARE_KNOBS(fakeAndroid);

// What else would be the caller's mistake, or the test's: the program ends.
static inline void fake_must(bool is)
{
    if (!is) abort();
}

typedef struct {
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride, reserved;
    uint64_t reserved_too;
} AHardwareBuffer_Desc;

typedef struct AHardwareBuffer {
    AHardwareBuffer_Desc desc;
    int references, locks;
    unsigned char *pages;
    size_t bytes; // whole pages
} AHardwareBuffer;

FAKE_EXPORT int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **buffer);
FAKE_EXPORT void AHardwareBuffer_acquire(AHardwareBuffer *buffer);
FAKE_EXPORT void AHardwareBuffer_release(AHardwareBuffer *buffer);
FAKE_EXPORT void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *desc);
FAKE_EXPORT int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence, const void *part,
                                     void **address);
FAKE_EXPORT int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence);

#endif
