// SPDX-License-Identifier: Apache-2.0
// What the devices of all backends have in common. Each backend's struct gpu_device begins with a struct
// gpu_device_base, which knows enough to write messages, to refuse calls once the device is lost, and to keep the
// binaries of programs.
//
// A message reads "API on DEVICE: what failed; what to do". Functions that report return false or NULL, so that the
// caller can return what they return.
#ifndef HALITE_GPU_BACKEND_DEVICE_BASE_H
#define HALITE_GPU_BACKEND_DEVICE_BASE_H

#include "base/copier.h"
#include "gpu/backend/backend.h"
#include "gpu/backend/program_cache.h"

struct gpu_device_base {
    const char *api; // "OpenCL", for messages
    struct gpu_caps caps;
    struct hl_reporter reporter;
    bool lost; // set when the driver gives the device up; never cleared
    // Set, like `lost`, when a wait was given up. The device may still be at work with its objects: they are not
    // destroyed, but left to the driver until the process ends.
    bool is_abandoned;
    uint64_t wait_limit;                    // nanoseconds; 0: as gpu_device_wait_limit says
    struct gpu_lent *lent;                  // the memory that tensors have
    struct gpu_program_cache program_cache; // unused where the API has a cache of its own
    struct hl_copier copier;                // for gpu_device_copy and gpu_device_send
};

// Ends the message of the call that lost the device.
#define GPU_DEVICE_IS_LOST "; the device is lost: delete the delegate and create it anew"

// Whether a device of this number exists. False after a message. why: the reason if there is no device at all, or NULL.
bool gpu_device_exists(const char *api, int index, int count, const char *why, const struct hl_reporter *reporter);

// Reports a message about the device. Always false.
bool gpu_device_fail(const struct gpu_device_base *base, const char *format, ...) HL_PRINTF(2, 3);
// Reports that there was no memory for `purpose`. Always NULL.
void *gpu_device_no_memory(const struct gpu_device_base *base, const char *purpose);

// Whether the device still works. False after a message that the caller "cannot ACTION".
bool gpu_device_is_alive(const struct gpu_device_base *base, const char *action);
// gpu_backend.caps and set_wait_limit.
const struct gpu_caps *gpu_device_caps(const struct gpu_device *device);
void gpu_device_set_wait_limit(struct gpu_device *device, uint64_t nanoseconds);
// How many nanoseconds a wait may take, and for how many of them its thread need not sleep.
uint64_t gpu_device_wait_limit(const struct gpu_device_base *base);
uint64_t gpu_device_wait_spin(const struct gpu_device_base *base);
// Ends a wait that took too long: reports it, and gives the device up. Always false.
bool gpu_device_abandon(struct gpu_device_base *base);
// Waits until is_busy denies. False after that message.
bool gpu_device_wait(struct gpu_device_base *base, bool (*is_busy)(void *about), void *about);

// Frees what the base owns, when the device is closed.
void gpu_device_end(struct gpu_device_base *base);

// Notes memory that is lent to a tensor, and fills it with zeros. NULL, without a message, without memory for that.
struct gpu_lent *gpu_device_lend(struct gpu_device_base *base, const struct gpu_lent *desc);
// The memory that these bytes are part of; NULL: none that was lent.
const struct gpu_lent *gpu_device_lent_at(const struct gpu_device_base *base, const void *at, size_t bytes);
void gpu_device_take_back(struct gpu_device_base *base, struct gpu_lent *lent); // forgets it, and frees the struct

// Copies bytes of the caller to memory that the device sees, or from there: large ones by several threads.
void gpu_device_copy(struct gpu_device_base *base, void *to, const void *from, size_t bytes);
// The same into a card's memory, behind a bus, for which threads pay sooner; and of floats that become halves.
void gpu_device_send(struct gpu_device_base *base, void *to, const void *from, size_t bytes);
void gpu_device_send_halves(struct gpu_device_base *base, void *to, const float *from, size_t count);
// Readies the threads for such a copy of so many bytes, while the device still carries them.
void gpu_device_expect_copy(struct gpu_device_base *base, size_t bytes);

// Whether a range lies inside a buffer of buffer_bytes. False after a message; action: "writing".
bool gpu_device_has_range(const struct gpu_device_base *base, size_t buffer_bytes, size_t offset, size_t bytes,
                          const char *action);

// Whether the device has buffers of this size. False after a message.
bool gpu_device_allows_buffer(const struct gpu_device_base *base, size_t bytes);
// Whether a kernel may have work-groups of this size, `most` work-items in all. False after a message.
bool gpu_device_allows_group(const struct gpu_device_base *base, const char *kernel, const int group[3], size_t most);
// Whether a kernel may run in so many work-groups. False after a message.
bool gpu_device_allows_groups(const struct gpu_device_base *base, const char *kernel, const int groups[3]);

// How a backend compiles a program: begin in the caller's thread, compile in any thread, end in the caller's thread.
struct gpu_compiler {
    size_t bytes; // of the backend's struct of a program that is being compiled, zeroed at first
    // False after a message.
    bool (*begin)(struct gpu_device *device, const struct gpu_program_desc *desc, void *compilation);
    // Keeps what went wrong for `end`. compilations: the array of all, of which this call may touch one item.
    void (*compile)(void *compilations, int64_t item, int worker);
    // The finished program; NULL, after a message, if it does not compile. ok: false if an earlier step has failed.
    struct gpu_program *(*end)(void *compilation, bool ok);
    bool serial; // compile is called in the caller's thread, too
};
// gpu_backend.programs_create by these steps.
bool gpu_device_compile(struct gpu_device *device, const struct gpu_compiler *compiler,
                        const struct gpu_program_desc *descs, int count, struct gpu_program **programs);

// gpu_backend.cache_load and cache_save for backends that use the program cache above.
bool gpu_device_load_programs(struct gpu_device *device, const void *bytes, size_t size);
bool gpu_device_save_programs(struct gpu_device *device, void **bytes, size_t *size);

#endif
