// SPDX-License-Identifier: Apache-2.0
// What emit.c must know of a kernel language, as data: one const table per language. In the templates `$` stands for a name
// and `@` for a number; the names that preludes make for themselves end in `_`, or start with b_ (buffer) or n_ (sizes), so
// that kernels are free to use every other name.
#ifndef HALITE_GPU_LANG_PRELUDE_H
#define HALITE_GPU_LANG_PRELUDE_H

#include "gpu/lang/kernel.h"

struct gpu_prelude {
    const char *first[GPU_PRECISIONS];  // what must come before everything else: version, extensions
    const char *types[GPU_PRECISIONS];  // stor4 real real4 load4 pack4 to_real to_real4 mk4 splat4 ...
    const char *words;                  // what is spelt alike in all precisions
    const char *extra[GPU_PRECISIONS];  // words that need `words`
    const char *buffer[GPU_RAW_OUT + 1]; // by kind: a declaration (globals) or a parameter of the kernel; @ counts buffers
    const char *access[GPU_RAW_OUT + 1]; // by kind: the words made for one argument
    // Numbers that are fixed when the program is made: `$` and `@`, and `%` for their place in the table.
    const char *constant;
    const char *params_open, *params_close; // around the int4s
    const char *param;                      // one int4
    const char *param_access;               // NULL: it is seen under its name already
    const char *entry_open;  // `$`: the kernel's name
    const char *entry_params, *entry_close; // params as the last argument; what ends the list of arguments
    const char *shared;      // before a shared array
    const char *group[3];    // GROUP_X, GROUP_Y, GROUP_Z
    const char *group_sizes; // what else the sizes need; `$`: the axis (0, 1, 2 follow each other)
    bool globals;   // buffers, params and shared arrays are declared outside of the kernel's function
    bool constants_stay; // constants may still change behind the emitter: nothing may be left out because of their values
};

extern const struct gpu_prelude gpu_prelude_opencl, gpu_prelude_vulkan, gpu_prelude_gles, gpu_prelude_cuda,
    gpu_prelude_metal;

// Words that all languages can spell in the dialect itself.
extern const char gpu_prelude_common[];

#endif
