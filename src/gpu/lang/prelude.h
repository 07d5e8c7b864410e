// SPDX-License-Identifier: Apache-2.0
// What emit.c must know of a kernel language, as data: one const table per language. In templates `$` stands for a name
// and each `@` for a number. Names that preludes make for themselves end in `_` or start with b_ (a buffer) or n_ (the
// sizes of a value): kernels are free to use every other name.
#ifndef HALITE_GPU_LANG_PRELUDE_H
#define HALITE_GPU_LANG_PRELUDE_H

#include <stdbool.h>

#include "gpu/lang/kernel.h"

enum { GPU_ARG_KINDS = GPU_BYTES_OUT + 1 };

struct gpu_prelude {
    const char *first[GPU_PRECISIONS]; // before everything else: version, extensions
    const char *types[GPU_PRECISIONS]; // stor4 real real4 load4 pack4 to_real to_real4 mk4 splat4
    const char *words;                 // what is spelt alike in all precisions
    const char *more[GPU_PRECISIONS];  // words that need `words`
    const char *constant;              // $ @: name and value; Vulkan: its place in the table and then name and value
    const char *group;                 // @ @ @: work-group size
    const char *params_open, *param, *params_close; // $: one int4
    const char *param_access;          // $: how the text sees it; NULL: by its name
    // $ @ @: name and place; a declaration (globals), else a parameter of the function
    const char *buffer[GPU_ARG_KINDS];
    const char *float_buffer[GPU_WEIGHTS + 1]; // where constants stay: the same place once more, as floats, named f_$
    const char *shared;                // before a shared array
    const char *entry;                 // $: the kernel's name, up to the opening parenthesis
    const char *entry_params;          // @: the last argument, where there are params
    const char *entry_close;           // with the opening brace
    bool globals;        // buffers and shared arrays are declared outside of the kernel's function
    bool constants_stay; // constants may change behind the emitter: nothing may be left out because of their values
};

// What the languages that pass params as a struct of C have in common.
#define GPU_PRELUDE_LIKE_C \
    .constant = "#define $ @\n", \
    .group = "#define GROUP_X @\n#define GROUP_Y @\n#define GROUP_Z @\n", \
    .params_open = "struct params_ {\n", \
    .param = "    int4 $;\n", \
    .params_close = "};\n", \
    .param_access = "#define $ q_.$\n"
// Buffers: a type and a name, after what a language puts before those that are only read and before those that are
// written, with what it puts before a name and after it.
#define GPU_PRELUDE_BUFFERS(READ, WRITTEN, BEFORE, AFTER) \
    { \
        [GPU_IN] = READ "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_OUT] = WRITTEN "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_WEIGHTS] = READ "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_RAW_IN] = READ "float *" BEFORE "$" AFTER, \
        [GPU_RAW_OUT] = WRITTEN "float *" BEFORE "$" AFTER, \
        [GPU_BYTES_IN] = READ "int *" BEFORE "$" AFTER, \
        [GPU_BYTES_OUT] = WRITTEN "int *" BEFORE "$" AFTER, \
    }

extern const struct gpu_prelude gpu_prelude_opencl, gpu_prelude_vulkan, gpu_prelude_gles, gpu_prelude_cuda,
    gpu_prelude_metal;

#endif
