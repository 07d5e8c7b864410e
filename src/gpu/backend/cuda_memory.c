// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's memory. In: ranges of buffers and bytes of the host. Out: copies in the device's stream, which
// come after earlier lists and before later ones. Copies go through pinned memory: a write returns when its bytes are
// there, and does not wait for the stream unless that memory is full. Large ones do so in chunks: while one is on the
// bus, threads carry another between pinned memory and the caller's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/cuda_device.h"

enum {
    STAGING_BYTES = 4 << 20, // for writes, and as much for reads
    STAGING_PIECE = 256,
    CHUNK_BYTES = HL_LARGE_COPY,             // and below twice as much
    MIN_CARD_BYTES = 64 << 10,               // inputs from there on are written into the card
    MAX_CARD_BYTES = 16 << 20,               // but for larger ones
    MAX_FROM_HOST_BYTES = HL_LARGE_COPY - 1, // larger inputs, and larger outputs, lie on the device
    // Kernels write outputs of up to so many bytes into memory of the host, and where tensors have that memory, nobody
    // copies them. What is larger the device copies when the kernels are done. 1 << 30 tries the first for all.
    MAX_TO_HOST_BYTES = 64 << 10,
    // Tensors have memory of ours from there on. A smaller output is copied in a microsecond. An input is written into
    // the card by one processor in the time in which the device fetches it from memory that was just written (602,112
    // bytes on an H200: 27 and 30 us), so that only copies for which several would be needed are left to the device.
    MIN_LENT_OUTPUT_BYTES = 16 << 10,
    MIN_LENT_INPUT_BYTES = HL_LARGE_COPY,
};

struct gpu_buffer *gpu_cuda_buffer_create(struct gpu_device *device, size_t bytes)
{
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    char about[48];
    snprintf(about, sizeof about, "%zu bytes", bytes);
    buffer->bytes = bytes;
    bool ok = gpu_device_allows_buffer(&device->base, bytes) && gpu_cuda_enter(device, "create a buffer");
    if (ok) {
        cuda_result code = device->cuda->memory_allocate(&buffer->address, bytes);
        gpu_cuda_leave(device);
        ok = gpu_cuda_succeeded(device, code, "cuMemAlloc", about);
    }
    if (ok) return buffer;
    free(buffer);
    return NULL;
}

// Kernels of the first and last level read and write such a buffer through the bus, without a copy of the stream's. On
// an H200, MobileNet v1 takes 173 to 178 us this way and 185 to 189 with copies. Larger outputs are slower: the kernel
// that writes them has stores of a few bytes (DeepLab v3, 5.5 MB: 1,570 us, and 714 with a copy).
struct gpu_buffer *gpu_cuda_buffer_create_for_host(struct gpu_device *device, size_t bytes, bool from_host)
{
    unsigned flags = CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED | (from_host ? CUDA_HOST_WRITE_COMBINED : 0);
    bool suits_card = from_host && bytes >= MIN_CARD_BYTES && bytes <= MAX_CARD_BYTES;
    struct gpu_buffer *written = suits_card ? gpu_cuda_card_buffer_create(device, bytes) : NULL;
    if (written) return written;
    if (bytes > (from_host ? MAX_FROM_HOST_BYTES : MAX_TO_HOST_BYTES)) return gpu_cuda_buffer_create(device, bytes);
    if (!gpu_cuda_enter(device, "create a buffer")) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    void *memory = NULL;
    bool ok = buffer && device->cuda->host_allocate(&memory, bytes, flags) == CUDA_OK;
    gpu_cuda_leave(device);
    if (ok) {
        *buffer = (struct gpu_buffer){.address = (cuda_pointer)memory, .bytes = bytes, .host = memory};
        return buffer;
    }
    free(buffer);
    return gpu_cuda_buffer_create(device, bytes);
}

// Kernels read and write vectors of four floats.
enum { ADDRESS_MULTIPLE = 16 };

struct gpu_buffer *gpu_cuda_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    cuda_pointer address = (cuda_pointer)handle, start = 0;
    size_t all = 0;
    if (!gpu_cuda_enter(device, "take a buffer")) return NULL;
    cuda_result code = device->cuda->memory_range(&start, &all, address);
    gpu_cuda_leave(device);
    if (!gpu_cuda_succeeded(device, code, "cuMemGetAddressRange", "a CUdeviceptr of the application")) return NULL;
    size_t there = all - (size_t)(address - start);
    if (address % ADDRESS_MULTIPLE != 0 || *bytes > there) {
        gpu_device_fail(&device->base, "the application's CUdeviceptr %s",
                        *bytes > there ? "has less memory from there on than it says: set offset and size"
                                       : "is no multiple of 16: align it");
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    *buffer = (struct gpu_buffer){.address = address, .bytes = there, .is_borrowed = true};
    if (*bytes == 0) *bytes = there;
    return buffer;
}

struct gpu_buffer *gpu_cuda_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc)
{
    void *memory = (void *)(uintptr_t)desc->handle;
    cuda_pointer address = 0;
    if (desc->handle % ADDRESS_MULTIPLE != 0 || !gpu_cuda_enter(device, "take memory")) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    bool pinned =
        buffer && device->cuda->host_register(memory, desc->bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED) == CUDA_OK;
    bool seen = pinned && device->cuda->host_pointer(&address, memory, 0) == CUDA_OK;
    if (pinned && !seen) device->cuda->host_unregister(memory);
    gpu_cuda_leave(device);
    if (seen) {
        *buffer = (struct gpu_buffer){.address = address, .bytes = desc->bytes, .host = memory, .is_borrowed = true};
        return buffer;
    }
    free(buffer);
    return NULL;
}

void gpu_cuda_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    bool has_context = gpu_cuda_enter_to_destroy(device), ended = !has_context && !device->base.is_abandoned;
    if (has_context) {
        cuda_result ignored;
        ended = gpu_cuda_settle(device, &ignored);
        if (ended && buffer->host && buffer->is_borrowed)
            device->cuda->host_unregister(buffer->host);
        else if (ended && buffer->host)
            device->cuda->host_free(buffer->host);
        else if (ended && buffer->card)
            gpu_cuda_card_unmap(device, buffer);
        else if (ended && !buffer->is_borrowed)
            device->cuda->memory_free(buffer->address);
        gpu_cuda_leave(device);
    }
    gpu_cuda_card_free(device, buffer->card, ended);
    free(buffer);
}

// ---- memory of tensors ----------------------------------------------------------------------------------------------

struct gpu_lent *gpu_cuda_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host)
{
    struct gpu_lent desc = {.memory = buffer->host, .is_direct = true, .bytes = bytes, .of = buffer};
    if (bytes < (from_host ? MIN_LENT_INPUT_BYTES : MIN_LENT_OUTPUT_BYTES)) return NULL;
    if (buffer->host) return from_host ? NULL : gpu_device_lend(&device->base, &desc); // an input's is slow to read
    desc.is_direct = false;
    if (!gpu_cuda_enter_to_destroy(device)) return NULL;
    bool there = device->cuda->host_allocate(&desc.memory, bytes, CUDA_HOST_PORTABLE) == CUDA_OK;
    struct gpu_lent *lent = there ? gpu_device_lend(&device->base, &desc) : NULL;
    if (there && !lent) device->cuda->host_free(desc.memory);
    gpu_cuda_leave(device);
    return lent;
}

void gpu_cuda_take_back(struct gpu_device *device, struct gpu_lent *lent)
{
    if (!lent->is_direct && gpu_cuda_enter_to_destroy(device)) {
        cuda_result ignored;
        if (gpu_cuda_settle(device, &ignored)) device->cuda->host_free(lent->memory);
        gpu_cuda_leave(device);
    }
    gpu_device_take_back(&device->base, lent);
}

// ---- copies ---------------------------------------------------------------------------------------------------------

// Whether there is staging memory, which is made at its first use. If the driver has none to give, copies go without.
static bool has_staging(struct gpu_device *device)
{
    void *memory = NULL;
    if (!device->staging && device->cuda->host_allocate(&memory, 2 * STAGING_BYTES, CUDA_HOST_PORTABLE) == CUDA_OK)
        device->staging = memory;
    return device->staging != NULL;
}

// Chunks of equal size, so that each is large enough for several threads. The staging memory has room for two or more.
static size_t chunk_of(size_t bytes)
{
    size_t chunks = bytes / CHUNK_BYTES;
    if (chunks < 2) return bytes;
    return ((bytes + chunks - 1) / chunks + STAGING_PIECE - 1) / STAGING_PIECE * STAGING_PIECE;
}

static size_t part_at(size_t bytes, size_t done, size_t chunk)
{
    return bytes - done < chunk ? bytes - done : chunk;
}

static bool write_staged(struct gpu_device *device, cuda_pointer to, const unsigned char *from, size_t bytes)
{
    const size_t chunk = chunk_of(bytes);
    for (size_t done = 0, part; done < bytes; done += part) {
        part = part_at(bytes, done, chunk);
        if (part > STAGING_BYTES - device->staged_bytes && !gpu_cuda_finish(device)) return false;
        unsigned char *staged = device->staging + device->staged_bytes;
        gpu_device_copy(&device->base, staged, from + done, part);
        device->is_busy = true;
        device->staged_bytes += (part + STAGING_PIECE - 1) / STAGING_PIECE * STAGING_PIECE;
        cuda_result code = device->cuda->copy_to_device(to + done, staged, part, device->stream);
        if (!gpu_cuda_succeeded(device, code, "cuMemcpyHtoDAsync", "writing a buffer")) return false;
    }
    return true;
}

static bool write_now(struct gpu_device *device, cuda_pointer to, const void *from, size_t bytes)
{
    if (has_staging(device)) return write_staged(device, to, from, bytes);
    return gpu_cuda_succeeded(device, device->cuda->copy_to_device(to, from, bytes, device->stream),
                              "cuMemcpyHtoDAsync", "writing a large buffer") &&
           gpu_cuda_finish(device);
}

// Where the host may write the buffer now, since no kernel can be reading it; NULL: nowhere.
static unsigned char *place_of(const struct gpu_device *device, const struct gpu_buffer *buffer)
{
    unsigned char *seen = buffer->card ? gpu_cuda_card_bytes(buffer->card) : buffer->host;
    return device->is_busy ? NULL : seen;
}

static bool may_write(struct gpu_device *device, const struct gpu_buffer *buffer, size_t offset, size_t bytes)
{
    return gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing") &&
           gpu_device_is_alive(&device->base, "write a buffer");
}

bool gpu_cuda_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                           size_t bytes)
{
    if (!may_write(device, buffer, offset, bytes)) return false;
    unsigned char *seen = place_of(device, buffer);
    if (seen) {
        (buffer->card ? gpu_device_send : gpu_device_copy)(&device->base, seen + offset, from, bytes);
        return true;
    }
    if (!gpu_cuda_enter(device, "write a buffer")) return false;
    bool ok = bytes == 0 || write_now(device, buffer->address + offset, from, bytes);
    gpu_cuda_leave(device);
    return ok;
}

bool gpu_cuda_buffer_write_halves(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset,
                                  const float *from, size_t count)
{
    if (!may_write(device, buffer, offset, 2 * count)) return false;
    unsigned char *seen = place_of(device, buffer);
    if (seen) {
        gpu_device_send_halves(&device->base, seen + offset, from, count);
        return true;
    }
    void *halves = malloc(2 * count + 1);
    if (!halves) return gpu_device_no_memory(&device->base, "an input as halves");
    gpu_device_send_halves(&device->base, halves, from, count);
    bool ok = gpu_cuda_buffer_write(device, buffer, offset, halves, 2 * count);
    free(halves);
    return ok;
}

static bool has_event(struct gpu_device *device, struct cuda_event **place)
{
    struct cuda_event *event = NULL;
    if (!*place && device->cuda->event_create(&event, CUDA_EVENT_DISABLE_TIMING) == CUDA_OK) *place = event;
    return *place != NULL;
}

// Whether there are events that tell when the chunks of a read have arrived.
static bool has_arrivals(struct gpu_device *device)
{
    bool ok = true;
    for (int i = 0; i <= CUDA_CHUNKS && ok; i++) ok = has_event(device, &device->arrivals[i]);
    return ok;
}

struct arrival {
    struct gpu_device *device;
    struct cuda_event *event;
    cuda_result answer;
};

static bool is_on_its_way(void *about)
{
    struct arrival *arrival = about;
    arrival->answer = arrival->device->cuda->event_query(arrival->event);
    return arrival->answer == CUDA_NOT_READY;
}

static bool await(struct gpu_device *device, struct cuda_event *event)
{
    struct arrival arrival = {device, event, CUDA_OK};
    return gpu_device_wait(&device->base, is_on_its_way, &arrival) &&
           gpu_cuda_succeeded(device, arrival.answer, "cuEventQuery", "waiting for the device");
}

static bool mark(struct gpu_device *device, struct cuda_event *event)
{
    device->is_busy = true;
    return gpu_cuda_succeeded(device, device->cuda->event_record(event, device->stream), "cuEventRecord",
                              "copying a buffer");
}

static bool send_lent(struct gpu_device *device, cuda_pointer to, const void *from, size_t bytes)
{
    device->is_busy = true;
    device->is_sending = gpu_cuda_succeeded(device, device->cuda->copy_to_device(to, from, bytes, device->stream),
                                            "cuMemcpyHtoDAsync", "writing a buffer") &&
                         mark(device, device->sent);
    return device->is_sending;
}

bool gpu_cuda_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                          size_t bytes)
{
    if (buffer->host || !gpu_device_lent_at(&device->base, from, bytes) ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing"))
        return gpu_cuda_buffer_write(device, buffer, offset, from, bytes);
    if (!gpu_cuda_enter(device, "write a buffer")) return false;
    bool can_tell = has_event(device, &device->sent), ok = can_tell;
    if (can_tell) ok = send_lent(device, buffer->address + offset, from, bytes);
    gpu_cuda_leave(device);
    return can_tell ? ok : gpu_cuda_buffer_write(device, buffer, offset, from, bytes);
}

bool gpu_cuda_await_sent(struct gpu_device *device)
{
    if (!device->is_sending) return true;
    device->is_sending = false;
    return await(device, device->sent);
}

static bool send_chunk(struct gpu_device *device, unsigned char *staged, cuda_pointer from, size_t bytes,
                       struct cuda_event *event)
{
    device->is_busy = true;
    return gpu_cuda_succeeded(device, device->cuda->copy_to_host(staged, from, bytes, device->stream),
                              "cuMemcpyDtoHAsync", "reading a buffer") &&
           mark(device, event);
}

// When the kernels are done, threads are woken: they need as long as the first chunk on the bus. (H100, medians of four
// runs without and with it: style transfer 894 and 796 us, DeepLab v3 550 and 510, zero_dce 1849 and 1754.)
// Chunks take turns in the second half of the staging memory: one is sent when the one before it there has been taken.
static bool read_staged(struct gpu_device *device, cuda_pointer from, unsigned char *to, size_t bytes)
{
    const size_t chunk = chunk_of(bytes);
    int places = (int)(STAGING_BYTES / chunk), sent_chunks = 0, done_chunks = 0;
    if (places > CUDA_CHUNKS) places = CUDA_CHUNKS;
    if (!mark(device, device->arrivals[CUDA_CHUNKS])) return false;
    for (size_t sent = 0, done = 0, part; done < bytes; done += part) {
        for (; sent < bytes && sent_chunks - done_chunks < places; sent_chunks++) {
            int place = sent_chunks % places;
            part = part_at(bytes, sent, chunk);
            if (!send_chunk(device, device->staging + STAGING_BYTES + (size_t)place * chunk, from + sent, part,
                            device->arrivals[place]))
                return false;
            sent += part;
        }
        int place = done_chunks++ % places;
        if (done == 0) {
            if (!await(device, device->arrivals[CUDA_CHUNKS])) return false;
            gpu_device_expect_copy(&device->base, bytes);
        }
        if (!await(device, device->arrivals[place])) return false;
        part = part_at(bytes, done, chunk);
        gpu_device_copy(&device->base, to + done, device->staging + STAGING_BYTES + (size_t)place * chunk, part);
    }
    return gpu_cuda_finish(device);
}

// Copies through the stream, and waits.
static bool read_now(struct gpu_device *device, cuda_pointer from, void *to, size_t bytes)
{
    const bool is_small = bytes < CHUNK_BYTES, is_lent = gpu_device_lent_at(&device->base, to, bytes) != NULL;
    if (!is_lent && has_staging(device) && !is_small && has_arrivals(device))
        return read_staged(device, from, to, bytes);
    bool has_room = !is_lent && device->staging && bytes <= STAGING_BYTES;
    unsigned char *staged = has_room ? device->staging + STAGING_BYTES : NULL;
    // A copy to the caller's memory begins when the device has nothing else to do: none is left behind by a run that
    // does not end. Lent memory then stays as the staging memory does.
    if (!staged && !is_lent && !gpu_cuda_finish(device)) return false;
    cuda_result code = device->cuda->copy_to_host(staged ? staged : to, from, bytes, device->stream);
    device->is_busy = true;
    if (!gpu_cuda_succeeded(device, code, "cuMemcpyDtoHAsync", "reading a buffer") || !gpu_cuda_finish(device))
        return false;
    if (staged) gpu_device_copy(&device->base, to, staged, bytes);
    return true;
}

bool gpu_cuda_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "reading") ||
        !gpu_cuda_enter(device, "read a buffer"))
        return false;
    bool ok = true;
    if (buffer->host) {
        ok = !device->is_busy || gpu_cuda_finish(device);
        if (ok) gpu_device_copy(&device->base, to, buffer->host + offset, bytes);
    } else if (bytes > 0) {
        ok = read_now(device, buffer->address + offset, to, bytes);
    }
    gpu_cuda_leave(device);
    return ok;
}
