// SPDX-License-Identifier: Apache-2.0
// The fake's memory, of the device and pinned. New memory holds bytes that are no sensible numbers. Freed memory is
// forgotten: what uses it complains.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/fake.h"

struct allocation {
    unsigned char *memory;
    size_t bytes;
    bool pinned;
    bool registered; // memory of the program that was pinned later
    int *mappings;   // of Vulkan's memory, which this is one of; else NULL
    struct allocation *next;
};
static struct allocation *allocations;

static void *allocate(size_t bytes, bool pinned)
{
    struct allocation *allocation = malloc(sizeof *allocation);
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!allocation || !memory) abort();
    memset(memory, 0xfd, bytes);
    *allocation = (struct allocation){.memory = memory, .bytes = bytes, .pinned = pinned, .next = allocations};
    allocations = allocation;
    fake.live++;
    return memory;
}

void fake_add_mapping(void *memory, size_t bytes, int *mappings)
{
    struct allocation *allocation = malloc(sizeof *allocation);
    if (!allocation) abort();
    *allocation = (struct allocation){.memory = memory, .bytes = bytes, .mappings = mappings, .next = allocations};
    allocations = allocation;
    fake.live++;
    ++*mappings;
}

static cuda_result release(const void *memory, bool pinned, bool registered, const char *function)
{
    fake_drain(); // the driver waits as well
    for (struct allocation **at = &allocations; *at; at = &(*at)->next) {
        struct allocation *allocation = *at;
        if (allocation->memory != memory || allocation->pinned != pinned || allocation->registered != registered)
            continue;
        *at = allocation->next;
        if (allocation->mappings) {
            --*allocation->mappings;
            munmap(allocation->memory, allocation->bytes);
        } else if (!registered) {
            free(allocation->memory);
        }
        free(allocation);
        fake.live--;
        return CUDA_OK;
    }
    return fake_complain(function, FAKE_INVALID_VALUE, "there is no such allocation");
}

static const struct allocation *find(cuda_pointer address, size_t bytes)
{
    for (const struct allocation *allocation = allocations; allocation; allocation = allocation->next) {
        cuda_pointer start = (cuda_pointer)allocation->memory;
        if (address >= start && address - start < allocation->bytes && bytes <= allocation->bytes - (address - start))
            return allocation;
    }
    return NULL;
}

bool fake_is_memory(cuda_pointer address, size_t bytes, const char *function)
{
    if (find(address, bytes)) return true;
    fake_complain(function, 0, "no allocation has %zu bytes at %p", bytes, (void *)address);
    return false;
}

bool fake_is_pinned(const void *address)
{
    const struct allocation *allocation = find((cuda_pointer)address, 0);
    return allocation && allocation->pinned;
}

cuda_result cuMemAlloc_v2(cuda_pointer *address, size_t bytes)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    if (bytes == 0) return FAKE_INVALID_VALUE;
    *address = (cuda_pointer)allocate(bytes, false);
    return CUDA_OK;
}

cuda_result cuMemFree_v2(cuda_pointer address)
{
    return release((void *)address, false, false, __func__);
}

cuda_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    (void)flags;
    *memory = allocate(bytes, true);
    return CUDA_OK;
}

cuda_result cuMemFreeHost(void *memory)
{
    return release(memory, true, false, __func__);
}

cuda_result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    (void)flags;
    if (bytes == 0 || find((cuda_pointer)memory, 0)) return FAKE_INVALID_VALUE;
    struct allocation *allocation = malloc(sizeof *allocation);
    if (!allocation) abort();
    *allocation = (struct allocation){memory, bytes, true, true, NULL, allocations};
    allocations = allocation;
    fake.live++;
    return CUDA_OK;
}

cuda_result cuMemHostUnregister(void *memory)
{
    return release(memory, true, true, __func__);
}

cuda_result cuMemHostGetDevicePointer_v2(cuda_pointer *address, void *memory, unsigned flags)
{
    FAKE_BEGIN();
    (void)flags;
    if (!fake_is_pinned(memory)) return FAKE_INVALID_VALUE;
    *address = (cuda_pointer)memory;
    return CUDA_OK;
}

cuda_result cuMemGetAddressRange_v2(cuda_pointer *start, size_t *bytes, cuda_pointer address)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    const struct allocation *allocation = find(address, 0);
    if (!allocation) return FAKE_INVALID_VALUE;
    *start = (cuda_pointer)allocation->memory;
    *bytes = allocation->bytes;
    return CUDA_OK;
}
