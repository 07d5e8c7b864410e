// SPDX-License-Identifier: Apache-2.0
// What the null backend offers beside its table: the text of what it was asked to do, calls that fail when told to, and
// a count of what is alive. Tests of plans compare the text with a golden one; tests of failure walk n from 1 until
// nothing fails.
#ifndef HALITE_GPU_BACKEND_NULL_H
#define HALITE_GPU_BACKEND_NULL_H

#include "gpu/backend/backend.h"

// One line per call since the device was opened or cleared; malloc'ed, NULL without memory. Buffers and lists are
// numbered in order of creation. A kernel's buffers are written number@offset+bytes:
//     dispatch list 0: conv_2d [12,3,1]x[32,1,1] reads 0@0+1024 1@256+64 writes 2@512+2048 params 8,8,16,1 ; CONV_2D 3
char *gpu_null_text(struct gpu_device *device);
void gpu_null_clear(struct gpu_device *device);

// The n-th call from now fails, with a message, and only that one; 0: none. The environment's HALITE_GPU_NULL_FAIL=n
// says the same for a device that is being opened, and opening is call 1. Calls that destroy do not count: they cannot
// fail.
void gpu_null_fail_at(struct gpu_device *device, int n);
// How many calls that can fail there were since the device was opened.
int gpu_null_calls(const struct gpu_device *device);
// From now on the device is lost: every call fails.
void gpu_null_lose(struct gpu_device *device);
// Devices, buffers, programs and lists of this process that were created and not destroyed.
int gpu_null_live(void);

#endif
