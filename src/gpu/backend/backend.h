// SPDX-License-Identifier: Apache-2.0
// What a backend is: one const table of functions for each GPU API. Its callers (src/gpu/plan, src/gpu/delegate) check
// every argument, so a backend contains calls of its API and little else.
//
// Rules: `create` returns an object that the caller owns, or NULL after one message. `destroy` accepts NULL.
// Descriptors are borrowed for the call. A list does not own the buffers and programs that its dispatches name. Only
// one thread uses a device at a time, because the caller locks. A backend calls nothing of its callers but the
// reporter. Once a device is lost, every later call fails with a message.
#ifndef HALITE_GPU_BACKEND_BACKEND_H
#define HALITE_GPU_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "gpu/lang/kernel.h"
#include "halite/gpu_async.h"
#include "halite/gpu_delegate.h"

enum gpu_vendor {
    GPU_VENDOR_OTHER,
    GPU_VENDOR_NVIDIA,
    GPU_VENDOR_AMD,
    GPU_VENDOR_INTEL,
    GPU_VENDOR_ARM,
    GPU_VENDOR_QUALCOMM,
    GPU_VENDOR_APPLE,
    GPU_VENDOR_SOFTWARE
};

// The properties and limits of a device. They do not change while it is open, except by drop_fragments.
struct gpu_caps {
    char name[128];  // "NVIDIA H200"
    char driver[64]; // version of the driver and of the API, as text
    enum gpu_vendor vendor;
    bool software;     // the device is the CPU (PoCL, llvmpipe); it is used only if the user names it
    bool integrated;   // shares its memory with the CPU
    bool takes_halves; // an input comes over a bus, and is there sooner as halves: there is buffer_write_halves
    bool half_storage; // can run f16s kernels
    bool half_math;    // can run f16 kernels
    uint64_t memory;   // bytes; 0: unknown
    size_t max_buffer; // bytes of the largest buffer
    size_t max_range;  // bytes of a buffer that a kernel can access; 0: all of them
    int max_group_size, max_group[3];
    int max_groups[3];
    int shared_bytes;         // shared memory of one work-group
    int dynamic_shared_bytes; // of a group's array `tile`, of which two fit a compute unit; 0: no kernel may have it
    int compute_units;        // 0: unknown
    int subgroup_size;        // 0: unknown
    int step_ns;              // what a dispatch costs that waits for the one before it, besides its work; 0: unknown
    bool byte_dots;           // has an instruction for dot_bytes, and can run kernels that use it
    unsigned matrix_forms;   // a bit for each form that MATRIX_STEP may take (enum gpu_matrix_form); 0: it does not pay
    unsigned fragment_forms; // the same of kernels with fragments
    bool cooperative;        // has cooperative matrices, and can run kernels that use them
};

// Whether f16 is another precision than f16s here.
static inline bool gpu_caps_take_f16(const struct gpu_caps *caps)
{
    return caps->half_math || (caps->matrix_forms >> MATRIX_HALVES & 1);
}

// Each backend defines these structs for itself.
struct gpu_device;
struct gpu_buffer;
struct gpu_program;
struct gpu_list;
struct gpu_fence;

enum { GPU_MAX_BUFFERS = 4, GPU_MAX_PARAMS = 8, GPU_PARAM_BYTES = 128 };

struct gpu_program_desc {
    const struct gpu_kernel *kernel;
    enum gpu_precision precision;
    const int *constants; // one value for each constant of the kernel (gpu_kernel_constant_count)
    int group[3];         // work-group size
    unsigned floats;      // GPU_F16S: a bit for each argument that is stored as floats (gpu_emit)
};

struct gpu_dispatch {
    struct gpu_program *program;
    int buffer_count;
    struct gpu_buffer *buffers[GPU_MAX_BUFFERS];
    size_t offsets[GPU_MAX_BUFFERS]; // bytes from the start of each buffer, multiples of 256
    size_t sizes[GPU_MAX_BUFFERS];   // bytes that the kernel can access
    bool writes[GPU_MAX_BUFFERS];
    int32_t params[GPU_MAX_PARAMS][4];
    int param_count; // how many int4s are in use
    int groups[3];   // work-groups per axis
    // What it writes is no element that other dispatches with `part` write to the same range.
    bool part;
    const char *label; // "CONV_2D 3", for messages and traces; must live as long as the list
};

// An image object of the application: HaliteGpuBuffer of the kind kHaliteGpuKindImage.
enum gpu_texel { GPU_TEXEL_BYTES, GPU_TEXEL_HALVES, GPU_TEXEL_FLOATS }; // four of them
static inline size_t gpu_texel_bytes(enum gpu_texel texel)
{
    return (size_t)4 << texel;
}
struct gpu_image_desc {
    uint64_t handle;
    int width, height; // that it must have
    enum gpu_texel texel;
    bool is_input;                   // lists read it; else they write it
    int layout_before, layout_after; // VkImageLayout; 0 before: anything
};

// Memory of the application that is no object of the API, as HaliteGpuBuffer says of its kinds.
struct gpu_memory_desc {
    HaliteGpuKind kind; // OpaqueFd and those after it
    uint64_t handle;    // a file descriptor, which stays the application's, an AHardwareBuffer *, or an address
    size_t bytes;       // from the memory's beginning on
    uint32_t type;      // memoryTypeIndex, of an opaque descriptor
};

// Memory of the host that a backend lends to a tensor. All but the first two fields are the backend's.
struct gpu_lent {
    void *memory;
    bool is_direct; // kernels read or write it: nobody copies anything
    size_t bytes;
    struct gpu_buffer *of;     // the buffer that the tensor's bytes go to or come from
    struct gpu_buffer *buffer; // the memory as a buffer of the backend's; NULL: it needs none
    struct gpu_lent *next;     // of the device
};

// How a caller waits for a run.
enum gpu_wait {
    GPU_WAIT_SLEEP, // the thread sleeps until the device is done
    GPU_WAIT_SPIN,  // the thread asks again and again
    GPU_WAIT_NONE,  // Invoke returns without a wait where the application has bound the outputs; others sleep
    GPU_WAIT_AWAKE, // as SPIN, and the device is given something to do between runs
};

struct gpu_backend {
    const char *name; // "opencl"
    enum gpu_language language;
    // Objects of the application fit every device of this API: buffer_import needs no open_shared.
    bool shares_everywhere;

    // The number of devices. If it is 0, *why says what is missing (static text). Below 0: this system cannot have the
    // API, and nobody is told of it who does not name it.
    int (*count)(const char **why);
    // Fills in the capabilities of a device without keeping it open.
    bool (*describe)(int index, struct gpu_caps *caps);
    struct gpu_device *(*open)(int index, const struct hl_reporter *reporter);
    // Fills in the context that is current in the calling thread. False if there is none. NULL: the API has no such.
    bool (*current)(HaliteGpuContext *context);
    // Opens a device in the application's context, whose objects the device does not own. Its fields for this API are
    // not NULL where the struct demands them. NULL: not possible with this API.
    struct gpu_device *(*open_shared)(const HaliteGpuContext *context, const struct hl_reporter *reporter);
    void (*close)(struct gpu_device *device);
    const struct gpu_caps *(*caps)(const struct gpu_device *device);
    // Takes fragment_forms out of the caps, of which one gave wrong products. NULL: there never are any.
    void (*drop_fragments)(struct gpu_device *device);
    // Chooses how list_wait and buffer_read wait; at first they sleep. False after a message. NULL: they always sleep.
    bool (*set_wait)(struct gpu_device *device, enum gpu_wait wait);
    // How long one wait for the device may take before that counts as lost, 0: as long as suits it. NULL: it never
    // takes long.
    void (*set_wait_limit)(struct gpu_device *device, uint64_t nanoseconds);

    struct gpu_buffer *(*buffer_create)(struct gpu_device *device, size_t bytes);
    // A buffer that the host writes before a run (from_host) or reads after it, in memory that suits this. NULL after a
    // message, or NULL: buffer_create's is as good.
    struct gpu_buffer *(*buffer_create_for_host)(struct gpu_device *device, size_t bytes, bool from_host);
    // A buffer of the application, of the same context. handle: see HaliteGpuBuffer. *bytes: what the application says,
    // 0 for the whole buffer, and then what there is. NULL after a message, or NULL: not possible with this API.
    struct gpu_buffer *(*buffer_import)(struct gpu_device *device, uint64_t handle, size_t *bytes);
    // An image object of the same context, as a buffer that has its texels in rows without gaps. Every list that reads
    // the buffer of an input copies the image to it before its first kernel, and every list that writes that of an
    // output copies it to the image after its last one, all on the device. The copy costs as much as the kernel that
    // makes values of the texels; kernels that read and write images themselves would save it, but each API demands
    // them of another form (formats that are known when a shader is compiled, immutable textures, usage flags that few
    // images have), where every one can copy. NULL after a message, or NULL: not possible with this API.
    struct gpu_buffer *(*image_import)(struct gpu_device *device, const struct gpu_image_desc *desc);
    // Memory of the application as a buffer, which it must outlive. NULL after a message, but without one for memory of
    // the host that the device cannot use where it is, which the caller then copies. NULL: not possible with this API.
    struct gpu_buffer *(*memory_import)(struct gpu_device *device, const struct gpu_memory_desc *desc);
    // Memory of the host for a tensor of so many bytes, zeros at first, whose place is the beginning of this buffer
    // (from buffer_create_for_host). buffer_send from it and buffer_read to it cost the CPU nothing: the device copies,
    // or its kernels use this memory. NULL: it would not pay, or, perhaps after a message, there is no such memory: the
    // tensor stays where it is. Comes back before the buffer is destroyed. NULL: the API has no such memory.
    struct gpu_lent *(*lend)(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host);
    void (*take_back)(struct gpu_device *device, struct gpu_lent *lent);
    bool imports_descriptors; // memory_import takes file descriptors and AHardwareBuffers, too, not only host memory
    // Whether it takes AHardwareBuffers on this device, which then has our own fences. NULL: on none.
    bool (*takes_hardware_buffers)(const struct gpu_device *device);
    void (*buffer_destroy)(struct gpu_device *device, struct gpu_buffer *buffer);
    // Every later run sees the new bytes. `from` may be reused as soon as the function returns.
    bool (*buffer_write)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                         size_t bytes);
    // As buffer_write before a list_run. Lent memory at `from` must stay as it is until that returns, other memory may
    // be reused at once. NULL: buffer_write does it.
    bool (*buffer_send)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                        size_t bytes);
    // As buffer_write, of so many floats that the device gets as halves, where caps.takes_halves, into a buffer of
    // buffer_create or buffer_create_for_host. NULL: no device of the API takes them.
    bool (*buffer_write_halves)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const float *from,
                                size_t count);
    // Waits for all earlier runs.
    bool (*buffer_read)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes);

    // Creates programs[i] from descs[i]. An API that can do so compiles them in parallel. False after one message: at
    // least one program is then NULL, and the caller destroys the others.
    bool (*programs_create)(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                            struct gpu_program **programs);
    void (*program_destroy)(struct gpu_device *device, struct gpu_program *program);

    // The program cache, which hands compiled programs to a later process. cache_load starts a cache that contains the
    // programs in `bytes`, and drops an earlier cache. Until cache_save, programs in the cache are not compiled again,
    // and newly compiled ones are added. bytes: from cache_save in an earlier process, or untrusted; NULL: an empty
    // cache. False after a message if the bytes are unusable; the cache then starts empty.
    bool (*cache_load)(struct gpu_device *device, const void *bytes, size_t size);
    // Whether there are new programs that the driver may go on compiling when they first run, so that they are to run
    // once before cache_save. NULL: programs are complete when they are created.
    bool (*cache_waits)(const struct gpu_device *device);
    // Ends the cache. *bytes: malloc'ed; NULL if nothing has changed since cache_load. False after a message.
    bool (*cache_save)(struct gpu_device *device, void **bytes, size_t *size);

    // A list is recorded once and run many times. The caller must put a barrier between a dispatch that writes a buffer
    // and a later dispatch that uses it, unless both write parts of one range. Dispatches without a barrier between
    // them may overlap.
    struct gpu_list *(*list_create)(struct gpu_device *device);
    bool (*list_dispatch)(struct gpu_list *list, const struct gpu_dispatch *dispatch);
    bool (*list_barrier)(struct gpu_list *list);
    bool (*list_finish)(struct gpu_list *list); // ends the recording
    bool (*list_run)(struct gpu_list *list);    // submits, and waits for nothing but the end of a buffer_send
    // Puts a run into a command buffer of the application, which submits it. NULL: not possible with this API, and then
    // neither are the next two, which keep such a command buffer until its run.
    bool (*list_encode)(struct gpu_list *list, void *commands);
    void (*commands_retain)(struct gpu_device *device, void *commands);
    void (*commands_release)(struct gpu_device *device, void *commands);
    bool (*list_wait)(struct gpu_list *list); // waits until the last run is done
    // Runs the list once and measures each dispatch. nanoseconds: `count` values, one for each dispatch. NULL: the API
    // has no timer.
    bool (*list_profile)(struct gpu_list *list, uint64_t *nanoseconds, int count);
    void (*list_destroy)(struct gpu_list *list);

    // Fences, with which nobody's thread has to wait for the device. fence_type: the kind of the application's objects
    // that serve as such (halite/gpu_async.h); NULL: this device takes none, and of these functions only those that ask
    // may be called, with takes_hardware_buffers also those of sync files and of fences of our own. NULL in place of
    // the functions: the backend has none.
    const char *(*fence_type)(const struct gpu_device *device);
    const char *buffer_type; // the kind of the application's buffers that buffer_import takes, under its name there
    // Everything that is submitted later waits for the application's object; the calling thread does not.
    bool (*fence_await)(struct gpu_device *device, const HaliteGpuFence *fence);
    // Signals the application's object when everything submitted so far is done. makes_fences: stores a new one for it.
    bool (*fence_signal)(struct gpu_device *device, HaliteGpuFence *fence);
    bool makes_fences;
    // Whether the device takes and makes sync files (HALITE_FENCE_FD), for which it then has the two functions after
    // this one. NULL: none does.
    bool (*takes_sync_files)(const struct gpu_device *device);
    // As fence_await. The descriptor stays the caller's.
    bool (*sync_file_await)(struct gpu_device *device, int descriptor);
    // Stores a descriptor that is readable when everything submitted so far is done, -1: that is done already. The
    // caller closes it. False after a message.
    bool (*sync_file_create)(struct gpu_device *device, int *descriptor);
    // A fence of our own, which is reached when everything submitted so far is done. NULL after a message.
    struct gpu_fence *(*fence_create)(struct gpu_device *device);
    // These two may be called by any thread at any time. False, without a message: the device was lost, or the limit
    // of set_wait_limit is over.
    bool (*fence_wait)(struct gpu_fence *fence);
    void (*fence_destroy)(struct gpu_fence *fence);
};

extern const struct gpu_backend gpu_backend_opencl, gpu_backend_vulkan, gpu_backend_gles, gpu_backend_metal,
    gpu_backend_cuda, gpu_backend_null;

#endif
