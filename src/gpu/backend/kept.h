// SPDX-License-Identifier: Apache-2.0
// Compiled programs that outlive a process, for backends whose API gives them out. In: the bytes of an earlier process,
// then binaries as they are compiled. Out: binaries by key, and bytes for the next process. The bytes may be anything:
// what is not as this file writes it is refused as a whole.
#ifndef HALITE_GPU_BACKEND_KEPT_H
#define HALITE_GPU_BACKEND_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_kept {
    bool open; // between gpu_kept_open and gpu_kept_close
    bool changed;
    struct gpu_kept_program {
        uint64_t key;
        void *binary;
        size_t size;
        bool used; // by this process
    } * programs;
    int count, capacity;
};

// Begins anew, with what `bytes` has; NULL: with nothing. False where they are refused or memory is short: then it has
// begun with nothing.
bool gpu_kept_open(struct gpu_kept *kept, const void *bytes, size_t size);
// The binary of a program; NULL: it is not there. Lives until the next add or close.
const void *gpu_kept_find(struct gpu_kept *kept, uint64_t key, size_t *size);
// Takes over a malloc'ed binary, in place of an earlier one with that key. Without memory it is not kept.
void gpu_kept_add(struct gpu_kept *kept, uint64_t key, void *binary, size_t size);
// Ends. *bytes: all programs that this process has used, malloc'ed; NULL where gpu_kept_open got the same. False
// without memory.
bool gpu_kept_close(struct gpu_kept *kept, void **bytes, size_t *size);
// Ends without bytes.
void gpu_kept_free(struct gpu_kept *kept);

#endif
