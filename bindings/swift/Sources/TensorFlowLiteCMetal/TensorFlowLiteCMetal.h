// SPDX-License-Identifier: Apache-2.0
// What the module TensorFlowLiteCMetal holds: the delegate under Metal's names, and Halite's own view of devices, since
// the same delegate runs on Vulkan, OpenCL and OpenGL ES where there is no Metal.
#ifndef HALITE_SWIFT_TENSORFLOWLITECMETAL_H
#define HALITE_SWIFT_TENSORFLOWLITECMETAL_H

#include <halite/gpu_delegate.h>
#include <tensorflow/lite/delegates/gpu/metal_delegate.h>

#endif
