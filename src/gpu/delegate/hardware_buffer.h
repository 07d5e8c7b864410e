// SPDX-License-Identifier: Apache-2.0
// Android's AHardwareBuffer: memory that the camera, the screen, processes and GPUs share. Nothing of it is needed to
// build: its functions are looked up where the program runs.
#ifndef HALITE_GPU_DELEGATE_HARDWARE_BUFFER_H
#define HALITE_GPU_DELEGATE_HARDWARE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GPU_HARDWARE_BLOB = 0x21,             // format: `width` bytes
    GPU_HARDWARE_FOR_KERNELS = 0x1000000, // usage: kernels of the GPU may read and write it
};

struct gpu_hardware_desc { // as AHardwareBuffer_Desc
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride, reserved;
    uint64_t reserved_too;
};

// Whether this system has such memory.
bool gpu_hardware_buffers_exist(void);
// handle: an AHardwareBuffer *, where they exist.
struct gpu_hardware_desc gpu_hardware_describe(uint64_t handle);

#endif
