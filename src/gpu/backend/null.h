// SPDX-License-Identifier: Apache-2.0
// What the null backend offers to tests beside its table of functions: a text with all calls, calls that fail on
// demand, and a count of live objects. Tests of plans compare the text with a golden one. Tests of failure let call n
// fail, for n from 1 until nothing fails.
#ifndef HALITE_GPU_BACKEND_NULL_H
#define HALITE_GPU_BACKEND_NULL_H

#include "gpu/backend/backend.h"

// One line for each call since the device was opened or cleared; malloc'ed, NULL without memory. Buffers and lists are
// numbered in order of creation. The buffers of a dispatch are written as number@offset+bytes:
//     dispatch list 0: conv_2d [12,3,1]x[32,1,1] reads 0@0+1024 1@256+64 writes 2@512+2048 params 8,8,16,1 ; CONV_2D 3
char *gpu_null_text(struct gpu_device *device);
void gpu_null_clear(struct gpu_device *device);

// Makes the n-th call from now fail with a message, and only that one; 0: none. The environment variable
// HALITE_GPU_NULL_FAIL=n does the same for a device that is being opened, where opening is call 1. Calls of destroy
// functions do not count, because they cannot fail.
void gpu_null_fail_at(struct gpu_device *device, int n);
// The number of calls since the device was opened, without those that cannot fail.
int gpu_null_calls(const struct gpu_device *device);
// Makes the device lost: every later call fails. HALITE_GPU_NULL_LOSE=n: from the n-th call on.
void gpu_null_lose(struct gpu_device *device);
// The number of live devices, buffers, programs and lists in this process.
int gpu_null_live(void);

#endif
