// SPDX-License-Identifier: Apache-2.0
// See loader_names.h: Linux, Android and macOS.
#include "base/loader_names.h"

#include <stddef.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct hl_loader_names hl_loader_names = {
#if defined(__APPLE__)
    .opencl = NAMES("/System/Library/Frameworks/OpenCL.framework/OpenCL"),
    .vulkan = NAMES("libvulkan.1.dylib", "libvulkan.dylib"),
    .shaderc = NAMES("libshaderc_shared.1.dylib"),
    .metal = NAMES("/System/Library/Frameworks/Metal.framework/Metal"),
    .objc = NAMES("/usr/lib/libobjc.A.dylib"),
#else
    .opencl =
        NAMES("libOpenCL.so.1", "libOpenCL.so", "/vendor/lib64/libOpenCL.so", "/system/vendor/lib64/libOpenCL.so"),
    .vulkan = NAMES("libvulkan.so.1", "libvulkan.so"),
    .shaderc = NAMES("libshaderc.so.1", "libshaderc_shared.so.1"),
    .metal = (const char *const[]){NULL},
    .objc = (const char *const[]){NULL},
#endif
    .opencl_drivers = NAMES("libnvidia-opencl.so.1"),
    .egl = NAMES("libEGL.so.1", "libEGL.so"),
    .cuda = NAMES("libcuda.so.1", "libcuda.so"),
    .nvrtc = NAMES("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"),
    .gles = NAMES("libGLESv2.so.2", "libGLESv3.so", "libGLESv2.so"),
    .android = NAMES("libnativewindow.so", "libandroid.so"),
};
