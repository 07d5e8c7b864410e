// SPDX-License-Identifier: Apache-2.0
// See loader_names.h: Windows. Its drivers bring the loaders of OpenCL and Vulkan; EGL and OpenGL ES are ANGLE's.
#include "base/loader_names.h"

#include <stddef.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct hl_loader_names hl_loader_names = {
    .opencl = NAMES("OpenCL.dll"),
    .opencl_drivers = NAMES("nvopencl64.dll"),
    .vulkan = NAMES("vulkan-1.dll"),
    .egl = NAMES("libEGL.dll"),
    .cuda = NAMES("nvcuda.dll"),
    .nvrtc = NAMES("nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"),
    .gles = NAMES("libGLESv2.dll"),
    .shaderc = NAMES("shaderc_shared.dll"),
    .metal = (const char *const[]){NULL},
    .objc = (const char *const[]){NULL},
    .android = (const char *const[]){NULL},
};
