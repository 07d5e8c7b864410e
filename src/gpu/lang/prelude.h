// SPDX-License-Identifier: Apache-2.0
// What emit.c must know of a kernel language, as data: one const table for each language. In a template `$` stands for a
// name and each `@` for a number. Names that the preludes define end in `_` or begin with b_ (a buffer) or n_ (the sizes
// of a value); kernels may use all other names.
#ifndef HALITE_GPU_LANG_PRELUDE_H
#define HALITE_GPU_LANG_PRELUDE_H

#include <stdbool.h>

#include "gpu/lang/kernel.h"

enum { GPU_ARG_KINDS = GPU_BYTES_OUT + 1 };

struct gpu_prelude {
    const char *first[GPU_PRECISIONS]; // comes first: version, extensions
    const char *types[GPU_PRECISIONS]; // stor4 real real4 load4 pack4 to_real to_real4 mk4 splat4
    const char *words;                 // definitions that are the same in all precisions
    const char *more[GPU_PRECISIONS];  // definitions that need `words`
    const char *integer_words;         // mul_high and others, for kernels that compute with integers
    const char *dot_words;             // dot_bytes as an instruction; NULL: the language has none
    const char *dot_first;             // what comes first in texts with dot_words
    const char *matrix_words; // MATRIX_STEP, which needs the constants, if CAPABILITY_ is 80 or more; else as plain code
    const char *bulk_words;   // FETCH_ and ARRIVED, of kernels with dynamic_shared; NULL: it has no such words
    const char *dynamic_shared;        // declares their array `tile`
    const char *fragment_words;        // for kernels with fragments; NULL: the language has none of the words
    const char *cooperative_words, *cooperative_first; // where they are cooperative matrices, and what comes first then
    const char *constant;              // $ @: name and value; Vulkan: @ $ @: id, name and value
    const char *group;                 // @ @ @: work-group size
    const char *params_open, *param, *params_close; // $: one int4
    const char *param_access;          // $: defines the name that the text uses; NULL where it needs no definition
    // $ @ @: name and binding. A declaration if `globals`, else a parameter of the function.
    const char *buffer[GPU_ARG_KINDS];
    const char *late_value; // the same for GPU_IN in a kernel that has the word WAIT; NULL: no other
    const char *float_buffer[GPU_WEIGHTS + 1]; // if `constants_stay`: the same binding as floats, named f_$
    const char *shared;                // comes before a shared array
    const char *entry;                 // $: the kernel's name; up to the opening parenthesis
    const char *entry_params;          // @: binding; the argument of the params, which is the last
    const char *entry_close;           // up to the opening brace
    // Where dispatches of a list may overlap: what a body begins with, [1] in a kernel that has the word WAIT, which the
    // prelude then defines, and LOAD_EARLY_. Its GROUPS_ is how many groups are to fit a compute unit, so that those of
    // such a kernel find room beside the ones before it. NULL where they do not overlap.
    const char *start[2];
    bool globals;        // buffers and shared arrays are declared outside the kernel's function
    bool constants_stay; // constants get their values after emit, so the text may depend on none of them
};

// The templates that languages with params as a C struct have in common.
#define GPU_PRELUDE_LIKE_C \
    .constant = "#define $ @\n", \
    .group = "#define GROUP_X @\n#define GROUP_Y @\n#define GROUP_Z @\n", \
    .params_open = "struct params_ {\n", \
    .param = "    int4 $;\n", \
    .params_close = "};\n", \
    .param_access = "#define $ q_.$\n"
// Words that mean the same in languages with the functions of OpenCL C.
#define GPU_WORDS_LIKE_OPENCL \
    "#define pick(c, a, b) ((c) ? (a) : (b))\n" \
    "#define mad(a, b, c) ((a) * (b) + (c))\n" \
    "#define abs(v) fabs(v)\n" \
    "#define round_away(v) round(v)\n" \
    "#define round_even(v) rint(v)\n" \
    "#define sign_of(v) sign(v)\n" \
    "#define pow_safe(a, b) pow(a, b)\n" \
    "#define dot4(a, b) dot(a, b)\n"
// Words for integers that wrap around, or are taken as unsigned ones of a type.
#define GPU_WRAPPING_WORDS(UNSIGNED) \
    "#define wrap_add(a, b) ((int)((" UNSIGNED ")(a) + (" UNSIGNED ")(b)))\n" \
    "#define wrap_mul(a, b) ((int)((" UNSIGNED ")(a) * (" UNSIGNED ")(b)))\n" \
    "#define shift_right_u(x, n) ((int)((" UNSIGNED ")(x) >> (n)))\n"
// The templates of buffers. READ and WRITTEN are a language's qualifiers of buffers that are only read and of those that
// are written; BEFORE and AFTER stand around the name.
#define GPU_PRELUDE_BUFFERS(READ, WRITTEN, BEFORE, AFTER) \
    { \
        [GPU_IN] = READ "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_OUT] = WRITTEN "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_WEIGHTS] = READ "b_$_type_ *" BEFORE "b_$" AFTER, \
        [GPU_CODES_IN] = READ "int *" BEFORE "b_$" AFTER, \
        [GPU_CODES_OUT] = WRITTEN "int *" BEFORE "b_$" AFTER, \
        [GPU_INTS] = READ "int4 *" BEFORE "b_$" AFTER, \
        [GPU_RAW_IN] = READ "float *" BEFORE "$" AFTER, \
        [GPU_RAW_OUT] = WRITTEN "float *" BEFORE "$" AFTER, \
        [GPU_BYTES_IN] = READ "int *" BEFORE "$" AFTER, \
        [GPU_BYTES_OUT] = WRITTEN "int *" BEFORE "$" AFTER, \
    }

extern const char gpu_nvidia_matrix_words[], gpu_nvidia_bulk_words[];
extern const struct gpu_prelude gpu_prelude_opencl, gpu_prelude_vulkan, gpu_prelude_gles, gpu_prelude_cuda,
    gpu_prelude_metal;

#endif
