// SPDX-License-Identifier: Apache-2.0
// Memory of the application that is bound to inputs and outputs. In: a file descriptor, or a pointer to memory of the
// host. Out: a buffer of the backend that has its bytes; or the message that this device cannot import such memory.
#include "gpu/delegate/part.h"

bool gpu_memory_is_kind(HaliteGpuKind kind)
{
    return kind >= kHaliteGpuKindOpaqueFd;
}

struct gpu_buffer *gpu_memory_import(const struct gpu_engine *engine, const HaliteGpuBuffer *from)
{
    const struct gpu_backend *backend = engine->info.backend;
    struct gpu_memory_desc desc = {.kind = from->kind,
                                   .handle = from->handle,
                                   .bytes = (size_t)(from->offset + from->size),
                                   .type = (uint32_t)from->vk_memory_type};
    if (from->kind != kHaliteGpuKindHostMemory && !backend->imports_descriptors) {
        hl_report(&engine->reporter,
                  "file descriptors of memory are taken by Vulkan, and the delegate's device is one "
                  "of %s: name a device of Vulkan, or bind a buffer",
                  engine->info.api);
        return NULL;
    }
    return backend->memory_import ? backend->memory_import(engine->device, &desc) : NULL;
}
