// SPDX-License-Identifier: Apache-2.0
// What the files of the CUDA backend share: a device with its context, stream and errors (cuda.c), its memory
// (cuda_memory.c), programs (cuda_program.c) and lists (cuda_list.c).
//
// A context is current in a thread, and delegates run in any thread. So each function of the backend puts its context
// on top of the thread's stack of contexts (gpu_cuda_enter) and takes it off again (gpu_cuda_leave), and an application
// that uses CUDA in the same thread finds its own context as it was.
#ifndef HALITE_GPU_BACKEND_CUDA_DEVICE_H
#define HALITE_GPU_BACKEND_CUDA_DEVICE_H

#include "gpu/backend/cuda_api.h"
#include "gpu/backend/device_base.h"

#define CUDA_API "CUDA"

enum { CUDA_CHUNKS = 4 };          // of a large copy that are under way at most
enum { CUDA_SHARED_BESIDE = 128 }; // bytes that kernels with dynamic shared memory have besides it

struct gpu_device {
    struct gpu_device_base base;
    const struct cuda_api *cuda;
    const struct nvrtc_api *nvrtc;
    cuda_device_id id;
    int capability;               // 90: compute capability 9.0
    bool overlaps;                // kernels of a list may start before the one before them has ended
    struct cuda_context *context; // the device's primary one, which the runtime API of the process uses as well
    struct cuda_stream *stream;
    bool has_own_context, has_own_stream; // else they are the application's
    // Pinned host memory, made by the first copy. The first half is for writes: those that are under way take the first
    // staged_bytes of it. The other half is for reads.
    unsigned char *staging;
    size_t staged_bytes; // 0 whenever the stream is known to be idle
    bool is_busy;        // something was submitted since the last wait
    // When each chunk of a large read is there, and last when its turn comes; NULL until the first such read.
    struct cuda_event *arrivals[CUDA_CHUNKS + 1];
    // When the last buffer_send from lent memory is there; NULL until the first. is_sending: nobody has waited for it.
    struct cuda_event *sent;
    bool is_sending;
    struct vulkan_card *card; // the same card as Vulkan sees it, from cuda_card.c; NULL: not asked yet, or none
    bool is_card_known;
};

struct gpu_buffer {
    cuda_pointer address;
    size_t bytes;
    unsigned char *host; // where it lies in pinned memory of the host, which kernels read and write as well; else NULL
    bool is_borrowed;    // of the application: memory of the device, or memory of the host that was pinned for it
    struct cuda_card_memory *card; // where it is the card's and the host can write it; else NULL
};

struct gpu_program {
    struct cuda_module *module;
    struct cuda_function *function;
    const char *name; // of the kernel
    int group[3];
    unsigned dynamic_shared; // bytes that each launch gives
    unsigned lone_shared;    // that it gives so that a compute unit takes one group; 0: a launch gives no such memory
};

// Whether a call succeeded. False after a message; about: the purpose of the call in a few words.
bool gpu_cuda_succeeded(struct gpu_device *device, cuda_result code, const char *function, const char *about);
// Makes the device's context current. False after a message that the caller "cannot ACTION".
bool gpu_cuda_enter(struct gpu_device *device, const char *action);
// The same for what takes objects away, without a message. Where it is false, the context went with its objects.
bool gpu_cuda_enter_to_destroy(struct gpu_device *device);
void gpu_cuda_leave(struct gpu_device *device);
// Waits for all that was submitted, inside of gpu_cuda_enter. *result: how it ended. False after a message: it has not.
bool gpu_cuda_settle(struct gpu_device *device, cuda_result *result);
// The same, but true only where it ended well.
bool gpu_cuda_finish(struct gpu_device *device);

// Waits until the last buffer_send has read what it sends, inside of gpu_cuda_enter. False after a message.
bool gpu_cuda_await_sent(struct gpu_device *device);

// ---- memory of the card that the host writes (cuda_card.c) ----------------------------------------------------------

// Where the host sees such memory, which it must not read.
unsigned char *gpu_cuda_card_bytes(const struct cuda_card_memory *memory);
// A buffer in such memory. NULL, without a message, where there is none.
struct gpu_buffer *gpu_cuda_card_buffer_create(struct gpu_device *device, size_t bytes);
// Takes it from the context, which is current: the first part of its end.
void gpu_cuda_card_unmap(struct gpu_device *device, const struct gpu_buffer *buffer);
// Frees the rest; ended: nothing uses the memory any more, which else stays allocated. Takes NULL.
void gpu_cuda_card_free(struct gpu_device *device, struct cuda_card_memory *memory, bool ended);
void gpu_cuda_card_close(struct gpu_device *device);

// The functions of struct gpu_backend.
struct gpu_buffer *gpu_cuda_buffer_create(struct gpu_device *device, size_t bytes);
struct gpu_buffer *gpu_cuda_buffer_create_for_host(struct gpu_device *device, size_t bytes, bool from_host);
struct gpu_buffer *gpu_cuda_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes);
struct gpu_buffer *gpu_cuda_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc);
void gpu_cuda_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer);
struct gpu_lent *gpu_cuda_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host);
void gpu_cuda_take_back(struct gpu_device *device, struct gpu_lent *lent);
bool gpu_cuda_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                           size_t bytes);
bool gpu_cuda_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                          size_t bytes);
bool gpu_cuda_buffer_write_halves(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset,
                                  const float *from, size_t count);
bool gpu_cuda_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes);
bool gpu_cuda_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                              struct gpu_program **programs);
void gpu_cuda_program_destroy(struct gpu_device *device, struct gpu_program *program);
struct gpu_list *gpu_cuda_list_create(struct gpu_device *device);
bool gpu_cuda_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch);
bool gpu_cuda_list_barrier(struct gpu_list *list);
bool gpu_cuda_list_finish(struct gpu_list *list);
bool gpu_cuda_list_run(struct gpu_list *list);
bool gpu_cuda_list_wait(struct gpu_list *list);
bool gpu_cuda_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count);
void gpu_cuda_list_destroy(struct gpu_list *list);

#endif
