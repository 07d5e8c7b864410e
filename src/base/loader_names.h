// SPDX-License-Identifier: Apache-2.0
// What the loaders of graphics and compute interfaces are called on this system. Out: names for hl_library_open_first,
// best first; the first is the one to name where none is there.
#ifndef HALITE_BASE_LOADER_NAMES_H
#define HALITE_BASE_LOADER_NAMES_H

struct hl_loader_names {
    const char *const *opencl;
    const char *const *opencl_drivers; // drivers that work without a loader
    const char *const *vulkan;
    const char *const *egl;
    const char *const *gles;
    const char *const *shaderc; // the compiler of GLSL
    const char *const *metal;   // empty where the system cannot have it
    const char *const *objc;    // the Objective-C runtime
    const char *const *cuda;    // NVIDIA's driver
    const char *const *nvrtc;   // the compiler of CUDA's toolkit, newest first
    const char *const *android; // the functions of AHardwareBuffer
};

extern const struct hl_loader_names hl_loader_names;

#endif
