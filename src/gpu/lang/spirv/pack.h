// SPDX-License-Identifier: Apache-2.0
// Packs SPIR-V while Halite is built: words of a module to symbols, symbols to bytes (spirv.h says what these are).
// First every module's globals are numbered, which gives those that modules share the same number; then each module is
// packed against another.
#ifndef HALITE_GPU_LANG_SPIRV_PACK_H
#define HALITE_GPU_LANG_SPIRV_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What stands before the functions of modules: types, constants, variables, each with its decorations.
struct gpu_spirv_globals {
    struct gpu_spirv_global {
        uint32_t *key; // the instructions with new ids, and 0 in place of the result's id
        size_t length;
    } *list;
    uint32_t count, room;
};

// A new id for each old one that belongs to a global of the module, from 1 on; 0 for all others. malloc'ed, as long as
// the module's bound. NULL: no memory, no SPIR-V, or an instruction whose operands pack.c does not know; said to stderr.
uint32_t *gpu_spirv_number(struct gpu_spirv_globals *globals, const uint32_t *words, size_t count);

// The module's symbols, count of them. first_new is the number of all globals + 1. Changes ids.
bool gpu_spirv_symbols(const uint32_t *words, size_t count, uint32_t *ids, uint32_t first_new, uint64_t *symbols);

// The symbols from `from` to `to`, packed with those before at hand: malloc'ed, *size bytes. NULL: no memory.
unsigned char *gpu_spirv_pack(const uint64_t *symbols, size_t from, size_t to, size_t *size);

// The module with types of floats in its types of cooperative matrices, where these name a constant, the number of bits.
// malloc'ed, *count words. NULL: no memory, or a module in which there is no such constant.
uint32_t *gpu_spirv_complete_types(const uint32_t *words, size_t *count);

void gpu_spirv_globals_free(struct gpu_spirv_globals *globals);

#endif
