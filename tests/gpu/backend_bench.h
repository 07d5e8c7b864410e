// SPDX-License-Identifier: Apache-2.0
// What tests of backends share: an open device with a buffer in which values of 5 x 3 x 8 have positions, two kernels
// over such values, and a life of a device from open to close.
#ifndef HALITE_TESTS_GPU_BACKEND_BENCH_H
#define HALITE_TESTS_GPU_BACKEND_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "support/messages.h"

enum { W = 5, H = 3, C = 8, SLICES = 2, FLOATS = W * H * C, PLACE = 768, ARENA = 4 * PLACE };

struct bench {
    const struct gpu_backend *backend;
    const char *api; // "OpenCL", in messages
    struct gpu_device *device;
    struct gpu_buffer *arena;
    struct messages messages;
    struct hl_reporter reporter;
};

// y = u + v, and y = x.
extern const struct gpu_kernel bench_add, bench_copy;

// Exactly one message since the last call, and it says all of these.
void said(struct messages *messages, const char *word, const char *other);

int groups_for(int items, int group);

// A dispatch over values at the arena's positions 0, 1, …, the last of them written.
struct gpu_dispatch over_places(struct gpu_buffer *arena, struct gpu_program *program, const struct gpu_kernel *kernel,
                                int values, const int positions[]);
struct gpu_program *make_program(const struct bench *bench, const struct gpu_kernel *kernel,
                                 enum gpu_precision precision, unsigned floats, const int *constants);
void write_place(struct bench *bench, int position, const void *from, size_t bytes);
void read_place(struct bench *bench, int position, void *to, size_t bytes);

// What a plan does with a backend, from open to close. False where something failed; leaves nothing behind either way.
// text: NULL, or what the null backend has written.
bool whole_life(const struct gpu_backend *backend, const struct hl_reporter *reporter, char **text);

#endif
