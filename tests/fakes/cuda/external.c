// SPDX-License-Identifier: Apache-2.0
// The fake's imports of memory that its Vulkan has exported (vulkan.c). The mapping lies elsewhere than the host's, so
// that no address of one passes for the other's.
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/fake.h"

struct cuda_external {
    struct fake_object object;
    int *imports; // of the memory
    int descriptor;
    size_t bytes;
    int mappings;
};

cuda_result cuDeviceGetUuid(struct cuda_uuid *uuid, cuda_device_id device)
{
    FAKE_BEGIN();
    (void)device;
    memcpy(uuid->bytes, FAKE_UUID, sizeof uuid->bytes);
    return CUDA_OK;
}

cuda_result cuImportExternalMemory(struct cuda_external **external, const struct cuda_external_memory *desc)
{
    size_t bytes = 0;
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    int *imports = fake_card_imports(desc->handle.descriptor, &bytes);
    if (desc->type != CUDA_EXTERNAL_OPAQUE_FD || !imports || bytes != desc->bytes)
        return fake_complain(__func__, FAKE_INVALID_VALUE, "no memory of Vulkan's, or not its size");
    struct cuda_external *made = fake_create(sizeof *made, FAKE_EXTERNAL);
    made->imports = imports;
    made->descriptor = desc->handle.descriptor; // the driver's from now on
    made->bytes = bytes;
    ++*imports;
    fake.imports++;
    *external = made;
    return CUDA_OK;
}

cuda_result cuExternalMemoryGetMappedBuffer(cuda_pointer *address, struct cuda_external *external,
                                            const struct cuda_external_buffer *desc)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    FAKE_NEED(fake_is(external, FAKE_EXTERNAL, __func__), FAKE_INVALID_HANDLE);
    if (desc->offset != 0 || desc->bytes != external->bytes) return FAKE_INVALID_VALUE;
    void *memory = mmap(NULL, external->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, external->descriptor, 0);
    if (memory == MAP_FAILED) abort();
    fake_add_mapping(memory, external->bytes, &external->mappings);
    *address = (cuda_pointer)memory;
    return CUDA_OK;
}

cuda_result cuDestroyExternalMemory(struct cuda_external *external)
{
    if (!fake_end(external, FAKE_EXTERNAL, __func__)) return FAKE_INVALID_HANDLE;
    if (external->mappings) fake_complain(__func__, 0, "a mapping of it was not freed");
    close(external->descriptor);
    --*external->imports;
    return CUDA_OK;
}
