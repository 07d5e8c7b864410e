// SPDX-License-Identifier: Apache-2.0
// Memory of the application that is bound to inputs and outputs. In: a file descriptor, an AHardwareBuffer, or a
// pointer to memory of the host. Out: a buffer of the backend that has its bytes; or the message that this device
// cannot import such memory.
#include "gpu/delegate/hardware_buffer.h"
#include "gpu/delegate/part.h"

bool gpu_memory_is_kind(HaliteGpuKind kind)
{
    return kind >= kHaliteGpuKindOpaqueFd;
}

static bool HL_PRINTF(2, 3) fail(const struct gpu_engine *engine, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(&engine->reporter, format, args);
    va_end(args);
    return false;
}

// Finds out how many bytes an AHardwareBuffer has, where it is one that kernels can use. False after a message.
static bool measure_hardware_buffer(const struct gpu_engine *engine, uint64_t handle, size_t *bytes)
{
    if (!gpu_hardware_buffers_exist())
        return fail(engine, "this system has no AHardwareBuffer, which is Android's: bind a buffer, or other memory");
    struct gpu_hardware_desc desc = gpu_hardware_describe(handle);
    *bytes = desc.width;
    if (desc.format != GPU_HARDWARE_BLOB)
        return fail(engine, "an AHardwareBuffer has the format 0x%x: allocate it as AHARDWAREBUFFER_FORMAT_BLOB",
                    (unsigned)desc.format);
    return (desc.usage & GPU_HARDWARE_FOR_KERNELS) ||
           fail(engine, "an AHardwareBuffer is not for kernels: allocate it with "
                        "AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER");
}

bool gpu_memory_measure(const struct gpu_engine *engine, const HaliteGpuBuffer *from, size_t *end)
{
    size_t bytes = 0;
    *end = from->size ? (size_t)from->offset + (size_t)from->size : 0;
    if (from->kind != kHaliteGpuKindHardwareBuffer) return true;
    if (!measure_hardware_buffer(engine, from->handle, &bytes)) return false;
    if (*end == 0) *end = bytes;
    return *end <= bytes ||
           fail(engine, "an AHardwareBuffer has %zu bytes: offset and size reach to byte %zu", bytes, *end);
}

struct gpu_buffer *gpu_memory_import(const struct gpu_engine *engine, const HaliteGpuBuffer *from, size_t bytes)
{
    const struct gpu_backend *backend = engine->info.backend;
    struct gpu_memory_desc desc = {.kind = from->kind,
                                   .handle = from->handle,
                                   .bytes = bytes,
                                   .type = (uint32_t)from->vk_memory_type};
    if (from->kind != kHaliteGpuKindHostMemory && !backend->imports_descriptors) {
        fail(engine,
             "%s of memory are taken by Vulkan, and the delegate's device is one of %s: name a device of Vulkan, or "
             "bind a buffer",
             from->kind == kHaliteGpuKindHardwareBuffer ? "AHardwareBuffers" : "file descriptors", engine->info.api);
        return NULL;
    }
    return backend->memory_import ? backend->memory_import(engine->device, &desc) : NULL;
}
