// SPDX-License-Identifier: Apache-2.0
// Compiled programs that outlive a process, for backends whose API hands out binaries. In: the bytes that an earlier
// process saved, then binaries as they are compiled. Out: binaries by key, and bytes for the next process. The bytes
// may come from anywhere: whatever this file did not write is refused as a whole.
#ifndef HALITE_GPU_BACKEND_PROGRAM_CACHE_H
#define HALITE_GPU_BACKEND_PROGRAM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_program_cache {
    bool open; // between gpu_program_cache_open and gpu_program_cache_close
    bool changed;
    struct gpu_cached_program {
        uint64_t key;
        void *binary;
        size_t size;
    } * programs;
    int count, capacity;
    struct gpu_waiting_program {
        void *program;
        uint64_t key;
    } * waiting; // compiled programs whose binaries are wanted when the cache is closed
    int waiting_count, waiting_capacity;
};

// Starts over with the programs in `bytes`; NULL: with none. False if the bytes are refused or memory is short; the
// cache is then open and empty.
bool gpu_program_cache_open(struct gpu_program_cache *cache, const void *bytes, size_t size);
// A program's binary, NULL if there is none. It stays valid until the next add or close.
const void *gpu_program_cache_find(struct gpu_program_cache *cache, uint64_t key, size_t *size);
// Takes over a malloc'ed binary; it replaces an earlier one with the same key. Without memory the binary is dropped.
void gpu_program_cache_add(struct gpu_program_cache *cache, uint64_t key, void *binary, size_t size);
// Notes a program whose binary is to be added later, because a driver may compile more of it when it first runs.
// Without memory it is dropped. gpu_program_cache_forget comes before the program is gone.
void gpu_program_cache_postpone(struct gpu_program_cache *cache, void *program, uint64_t key);
void gpu_program_cache_forget(struct gpu_program_cache *cache, const void *program);
// Closes the cache. *bytes: all programs, malloc'ed, or NULL if none was added since gpu_program_cache_open. Programs
// that nobody has asked for stay: a process that has them already, from an earlier cache, does not ask. False without
// memory.
bool gpu_program_cache_close(struct gpu_program_cache *cache, void **bytes, size_t *size);
// Closes the cache and drops what is in it.
void gpu_program_cache_free(struct gpu_program_cache *cache);

#endif
