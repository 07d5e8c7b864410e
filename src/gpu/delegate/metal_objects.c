// SPDX-License-Identifier: Apache-2.0
// Metal's objects of the application in the interface for Metal: buffers for inputs and outputs, and a command buffer
// for one run. Both are taken after the delegate has been applied. Layout and element are those of the original: slices
// of four channels, in floats or, where precision may be lost, in halves.
#include "gpu/delegate/part.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate_internal.h"

// Whether the function can do anything with the delegate. False after a message.
static bool is_usable(const struct gpu_delegate *delegate, const char *function)
{
    const char *problem = NULL;
    if (!delegate || !delegate->engine->options.is_for_metal) {
        problem = "the delegate is none that TFLGpuDelegateCreate has made";
    } else {
        gpu_engine_enter(delegate->engine, NULL, "Bind");
        if (!delegate->engine->device)
            problem = "the delegate has not been applied yet";
        else if (!gpu_buffers_are_metal(delegate->engine))
            problem = "the delegate does not compute on a device of Metal";
        gpu_engine_leave(delegate->engine);
    }
    if (problem) hl_report(NULL, "%s: %s", function, problem);
    return !problem;
}

bool TFLGpuDelegateBindMetalBufferToTensor(TfLiteDelegate *delegate, int tensor_index, TFLGpuMetalBuffer metal_buffer)
{
    const struct gpu_delegate *own = gpu_delegate_of(delegate);
    if (!is_usable(own, __func__)) return false;
    HaliteGpuBuffer buffer = {
        .struct_size = sizeof buffer,
        .api = kHaliteGpuApiMetal,
        .element = own->engine->precision == GPU_F32 ? kHaliteGpuElementFloat32 : kHaliteGpuElementFloat16,
        .layout = kHaliteGpuLayoutSlices,
        .handle = (uint64_t)(uintptr_t)metal_buffer,
    };
    return HaliteDelegateBindBuffer(delegate, tensor_index, &buffer) == kTfLiteOk;
}

bool TFLGpuDelegateSetCommandBuffer(TfLiteDelegate *delegate, TFLGpuMetalCommandBuffer command_buffer)
{
    struct gpu_delegate *own = gpu_delegate_of(delegate);
    if (!is_usable(own, __func__)) return false;
    struct gpu_engine *engine = own->engine;
    const struct gpu_backend *backend = engine->info.backend;
    gpu_engine_enter(engine, NULL, "Bind");
    if (command_buffer) backend->commands_retain(engine->device, command_buffer);
    if (engine->buffers.commands) backend->commands_release(engine->device, engine->buffers.commands);
    engine->buffers.commands = command_buffer;
    gpu_engine_leave(engine);
    return true;
}
