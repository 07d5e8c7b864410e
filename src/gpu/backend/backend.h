// SPDX-License-Identifier: Apache-2.0
// One page for all GPU interfaces: what a backend is. The front (src/gpu/plan, src/gpu/delegate) has checked every
// argument, so a backend holds calls of its API and nothing else. One const table of functions per API.
//
// Rules: create gives an owned object, or NULL after one message; destroy takes NULL; descriptions are borrowed for the
// call; a list owns nothing that it names; one thread uses a device at a time (the front locks); a backend calls nobody
// back. When a device is lost every later call fails, with a message.
#ifndef HALITE_GPU_BACKEND_BACKEND_H
#define HALITE_GPU_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "gpu/lang/kernel.h"

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

// What a device is and can do. Read only once open.
struct gpu_caps {
    char name[128];  // "NVIDIA H200"
    char driver[64]; // version text of driver and API
    enum gpu_vendor vendor;
    bool software;     // runs on the CPU (PoCL, llvmpipe): taken only when asked for by name
    bool integrated;   // shares its memory with the CPU
    bool half_storage; // f16s kernels work
    bool half_math;    // f16 kernels work
    uint64_t memory;   // bytes, 0: not known
    size_t max_buffer; // bytes of one buffer
    int max_group_size, max_group[3];
    int max_groups[3];
    int shared_bytes;  // memory of one work-group
    int compute_units; // 0: not known
    int subgroup_size; // 0: not known
};

// Each backend defines these for itself.
struct gpu_device;
struct gpu_buffer;
struct gpu_program;
struct gpu_list;

enum { GPU_MAX_BUFFERS = 4, GPU_MAX_PARAMS = 8, GPU_PARAM_BYTES = 128 };

struct gpu_program_desc {
    const struct gpu_kernel *kernel;
    enum gpu_precision precision;
    const int *constants; // kernel->constants many values (gpu_kernel_constant_count)
    int group[3];         // work-group size
    unsigned floats;      // in GPU_F16S, see gpu_emit
};

struct gpu_dispatch {
    struct gpu_program *program;
    int buffer_count;
    struct gpu_buffer *buffers[GPU_MAX_BUFFERS];
    size_t offsets[GPU_MAX_BUFFERS]; // bytes into each buffer, multiples of 256
    size_t sizes[GPU_MAX_BUFFERS];   // bytes that the kernel sees
    bool writes[GPU_MAX_BUFFERS];
    int32_t params[GPU_MAX_PARAMS][4];
    int param_count;   // int4s in use
    int groups[3];     // work-groups per axis
    const char *label; // for profiles: "CONV_2D 3"; lives as long as the list
};

struct gpu_backend {
    const char *name; // "opencl"
    enum gpu_language language;

    // How many devices the API offers; 0 where there is no library or no device (then *why says which, static text).
    int (*count)(const char **why);
    // Describes one without keeping it open.
    bool (*describe)(int index, struct gpu_caps *caps);
    struct gpu_device *(*open)(int index, const struct hl_reporter *reporter);
    void (*close)(struct gpu_device *device);
    const struct gpu_caps *(*caps)(const struct gpu_device *device);

    struct gpu_buffer *(*buffer_create)(struct gpu_device *device, size_t bytes);
    void (*buffer_destroy)(struct gpu_device *device, struct gpu_buffer *buffer);
    // Seen by every later run. The bytes may be reused when it returns.
    bool (*buffer_write)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                         size_t bytes);
    // Waits for every earlier run.
    bool (*buffer_read)(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes);

    // programs[i] as descs[i] says, all compiled at the same time where the API can. False after one message: then at
    // least one of them is NULL, and the caller destroys the others.
    bool (*programs_create)(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                            struct gpu_program **programs);
    void (*program_destroy)(struct gpu_device *device, struct gpu_program *program);

    // Compiled programs for a later process. load begins, anew where it has begun: until save, programs that `bytes`
    // has are not compiled, and what is compiled is remembered. bytes: what save once gave on the same device and
    // driver, or whatever stands in its place; NULL: nothing. False, after a message, where they are of no use: it
    // begins without.
    bool (*cache_load)(struct gpu_device *device, const void *bytes, size_t size);
    // Ends it. *bytes: malloc'ed; NULL where there is nothing that load did not get. False after a message.
    bool (*cache_save)(struct gpu_device *device, void **bytes, size_t *size);

    // Recorded once, run many times. Between a dispatch that writes a buffer and a later one that uses it the caller
    // puts a barrier; dispatches without one in between may overlap.
    struct gpu_list *(*list_create)(struct gpu_device *device);
    bool (*list_dispatch)(struct gpu_list *list, const struct gpu_dispatch *dispatch);
    bool (*list_barrier)(struct gpu_list *list);
    bool (*list_finish)(struct gpu_list *list); // recording is over
    bool (*list_run)(struct gpu_list *list);    // submits; does not wait
    bool (*list_wait)(struct gpu_list *list);   // until the last run is done
    // Runs once with a clock around each dispatch: nanoseconds, one per dispatch. NULL: the API has no such clock.
    bool (*list_profile)(struct gpu_list *list, uint64_t *nanoseconds, int count);
    void (*list_destroy)(struct gpu_list *list);
};

extern const struct gpu_backend gpu_backend_opencl, gpu_backend_vulkan, gpu_backend_gles, gpu_backend_null;

#endif
