// SPDX-License-Identifier: Apache-2.0
// Every kernel in every precision that the plan asks for as SPIR-V, made while building (gpu_shaders.c) and part of the
// library where there is a Vulkan backend. In: a kernel's name and a precision. Out: the words of its module. Constants
// are specialization constants (gpu_emit says which), the entry point is "main".
//
// Modules are packed, since most of what they say is said by another one too. A word becomes a symbol, an even or an
// odd number:
//   2 * word       the word itself: an opcode, a literal, or the id of a type, constant or variable. Those have the same
//                  id in every module that declares them;
//   1              the next new id;
//   2 * d + 1      the id that was new d ids before the next one. Code is thus the same wherever it stands.
// The fourth word of the header is the first new id in place of the bound. Symbols are numbers of seven bits to a byte,
// the lowest bits first, with the highest bit set where more follow. They come in runs: 2 * n and n symbols, or
// 2 * n + 1 and a distance: the n symbols that stand so far before. What stands before a module's own symbols are those
// of its base.
#ifndef HALITE_GPU_LANG_SPIRV_SPIRV_H
#define HALITE_GPU_LANG_SPIRV_SPIRV_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/lang/kernel.h"

enum { GPU_SPIRV_HEADER = 5, GPU_SPIRV_BOUND = 3 }; // words of a module's header, and which of them is the bound

struct gpu_spirv_module {
    const char *kernel;
    enum gpu_precision precision;
    int base;     // another module of the list, without circles; -1: none
    size_t words; // of the module, and as many symbols
    size_t size;  // bytes of packed
    const unsigned char *packed;
};

// What gpu_shaders made: the modules of this library.
extern const struct gpu_spirv_module gpu_spirv_modules[];
extern const int gpu_spirv_module_count;

// The words of modules[index], malloc'ed. NULL: no memory, or packed is broken.
uint32_t *gpu_spirv_unpack(const struct gpu_spirv_module *modules, int index);

// The words of a kernel by its name, malloc'ed, and how many bytes they are. NULL: there is none of that name, bytes is
// 0; else no memory.
uint32_t *gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes);

#endif
