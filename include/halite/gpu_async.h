// SPDX-License-Identifier: Apache-2.0
// What Halite's GPU delegate takes in the asynchronous functions (tensorflow/lite/core/async/c): the names of its kinds
// of buffers and fences, and what the pointers in a TfLiteBackendBuffer and a TfLiteSynchronization point to. A graph
// that the delegate took as a whole then runs on buffers and fences of the application: TfLiteAsyncSignatureRunner...
// InvokeAsync gives the work to the device and returns. docs/gpu_async.md has an example.
//
// GetSupportedBufferTypes and GetSupportedSynchronizationTypes list what the delegate's device takes. Buffers of an API
// need a delegate that computes in the application's context (HaliteGpuDelegateOptions.context).
#ifndef HALITE_GPU_ASYNC_H
#define HALITE_GPU_ASYNC_H

#include <stddef.h>
#include <stdint.h>

// ---- buffers ------------------------------------------------------------------------------------

// Kinds of buffers (kTfLiteBufferAttrKeyResourceTypeName). TfLiteBackendBufferSetPtr takes, for each:
#define HALITE_BUFFER_GL "gl_buffer"     // the name of a buffer object of OpenGL ES, (void *)(uintptr_t)name
#define HALITE_BUFFER_CL "cl_mem"        // the cl_mem
#define HALITE_BUFFER_VK "vk_buffer"     // the address of a VkBuffer, which is read during RegisterBuffer
#define HALITE_BUFFER_HOST "host_memory" // the address of the memory: the bytes of the tensor are copied
// The AHardwareBuffer *, as for kHaliteGpuKindHardwareBuffer: on a device of Vulkan that takes them, the delegate's own
// (TfLiteGpuDelegateV2CreateAsync) or the application's. This name is the original's.
#define HALITE_BUFFER_HARDWARE "ahardware_buffer_blob"

// Attributes of a registered buffer, beside its kind:
//   kTfLiteBufferAttrKeyOffset  bytes to the first element, a multiple of 256 but for host memory. 0 if it is not set.
//   kTfLiteBufferAttrKeySize    bytes from there on that belong to the tensor. 0 or not set: up to the end of the
//                               buffer, which OpenGL ES, OpenCL and AHardwareBuffers know; Vulkan and host memory
//                               need it.
// and two of TfLiteAttributeMapSetCustomIntAttr, for buffers of an API: what lies in the buffer. Both default to what
// the delegate was applied for, and another value is refused when a task runs: float32 and dense, bytes for most
// quantized tensors, or what HaliteDelegateBindBuffer had bound before.
#define HALITE_BUFFER_ELEMENT "halite_element" // a HaliteGpuElement
#define HALITE_BUFFER_LAYOUT "halite_layout"   // a HaliteGpuLayout
// A slice's offset counts from the beginning of the buffer that it is a part of. Both must live while they are
// registered.

// ---- fences -------------------------------------------------------------------------------------

// Kinds of synchronization objects (kTfLiteSynchronizationAttrKeyObjectTypeName). SetAttributes says for each tensor
// which kind it has; those for which nothing is said have kTfLiteSyncTypeNoSyncObj.
//
// The first three are waited for by the device, and signaled by it: InvokeAsync puts the wait, the run and the signal
// into the queue. The application's kernels that follow may wait for the output's fence on the device in turn, so that
// no thread waits at all.
#define HALITE_FENCE_CL "cl_event"     // a cl_event of the same context
#define HALITE_FENCE_EGL "egl_sync"    // an EGLSync (EGL_KHR_fence_sync) of the same display, flushed by its maker
#define HALITE_FENCE_VK "vk_semaphore" // a VkSemaphore of the same device
// The other two are file descriptors, on Linux. A thread of the delegate waits for them before it submits the run, and
// InvokeAsync returns at once all the same.
#define HALITE_FENCE_EVENT "eventfd"    // a descriptor of eventfd(2), readable when the tensor is ready
#define HALITE_FENCE_FD "sync_fence_fd" // a descriptor that becomes readable when it is signaled
// Where the device takes sync files (Vulkan, where the application has enabled VK_KHR_external_semaphore_fd),
// sync_fence_fd is like the first three: no thread waits for an input's, which must be a sync file as drivers make
// them, and InvokeAsync makes one for an output. Elsewhere it is of inputs only, and any descriptor does.
#define HALITE_FENCE_FD_DONE UINT64_MAX // in place of a descriptor: it is signaled already

// What TfLiteSynchronizationSetPtr takes for all of these kinds: the address of such a struct, which the caller keeps
// until the task is finished, or gives the task another one. Zero is the default of `value`.
typedef struct HaliteGpuFence {
    size_t struct_size; // sizeof(HaliteGpuFence) where the program was compiled
    // The object: a pointer or a VkSemaphore as an integer, or a descriptor.
    //
    // Of an input it is the application's, and stays so. An eventfd is read, which makes it unreadable again, and a
    // binary semaphore is unsignaled by the wait.
    //
    // Of an output, vk_semaphore and eventfd are the application's objects, which the run signals. For cl_event and
    // egl_sync InvokeAsync stores a new object here, which the application releases (clReleaseEvent, eglDestroySync),
    // and for sync_fence_fd a descriptor, which it closes. An eventfd is signaled also when the run fails.
    uint64_t handle;
    // Of a timeline semaphore (VK_SEMAPHORE_TYPE_TIMELINE), the value that is waited for or signaled. 0: the semaphore
    // is a binary one.
    uint64_t value;
} HaliteGpuFence;

// Rules beside those of the asynchronous functions:
//
// - Tasks with buffers and fences of the API run on the thread that calls InvokeAsync, which only submits: on Vulkan it
//   uses the application's VkQueue then, and no other thread may meanwhile. A task with a descriptor as an input's
//   fence (but a sync file that the device takes), or with host memory, is submitted by a thread of the delegate; there
//   outputs take no cl_event, no egl_sync, no vk_semaphore and no sync_fence_fd, and on Vulkan the application leaves
//   the queue alone until the task is done.
// - Several tasks may be under way. Each is one run; they share the memory of the activations, and the device computes
//   one after the other.
// - TfLiteInterpreterInvoke and tasks do not go together: it is not to be called while a task is under way.
// - Graphs whose values the CPU checks (indices, divisors), that have variables, or an output that is a constant, have
//   no asynchronous kernel.
// - A task does not end before the fences of its inputs are signaled: Wait, Finish and the deletion of the interpreter
//   wait for them.

#endif
