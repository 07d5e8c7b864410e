// SPDX-License-Identifier: Apache-2.0
// A kernel: one text for all GPU languages, and beside it, as data, everything that the languages spell differently.
// The words that the text may use are listed in docs/kernel_dialect.md; the emitter puts the prelude and the
// declarations before it.
//
// Values are tensors [b, h, w, c] in slices of four channels: element (x, y, s, b) of a value is the four channels
// 4s..4s+3 at one place, at ((b * slices + s) * h + y) * w + x. Channels beyond c are zero in memory, always:
// write_NAME sees to it.
#ifndef HALITE_GPU_LANG_KERNEL_H
#define HALITE_GPU_LANG_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

enum gpu_language { GPU_OPENCL, GPU_VULKAN, GPU_GLES, GPU_CUDA, GPU_METAL };
// Storage and arithmetic: float, float; half, float; half, half with float accumulators.
enum gpu_precision { GPU_F32, GPU_F16S, GPU_F16, GPU_PRECISIONS };

enum gpu_arg_kind {
    GPU_ARG_END,
    GPU_IN,      // a value: read_NAME(p) gives real4; NAME_w NAME_h NAME_c NAME_b NAME_s its sizes (s: slices)
    GPU_OUT,     // a value: write_NAME(p, v)
    // constants, or what another kernel packed: vectors of four in any order; NAME(i) gives real4, i counts them
    GPU_WEIGHTS,
    GPU_RAW_IN,  // float32 as the caller has it, dense [b, h, w, c]: NAME[i] gives float
    GPU_RAW_OUT, // likewise: NAME[i] = float
    GPU_BYTES_IN,  // 8-bit integers as the caller has them, dense, four to an int, the first lowest: NAME[i] gives int
    GPU_BYTES_OUT, // likewise: NAME[i] = int
};
// What the caller gives or takes, not a value of the plan's.
static inline bool gpu_arg_is_raw(enum gpu_arg_kind kind)
{
    return kind >= GPU_RAW_IN;
}
static inline bool gpu_arg_is_written(enum gpu_arg_kind kind)
{
    return kind == GPU_OUT || kind == GPU_RAW_OUT || kind == GPU_BYTES_OUT;
}
struct gpu_arg {
    enum gpu_arg_kind kind;
    const char *name;
};

// An integer that is fixed when the program is made: sizes of shared arrays, bounds of loops, switches.
struct gpu_constant {
    const char *name;
    int value; // unless the plan says otherwise
};
#define GPU_CONSTANTS(...) .constants = (const struct gpu_constant[]){__VA_ARGS__, {NULL, 0}}
// Values of constants can have names, "FIRST SECOND" for 0 and 1, which the text uses in place of numbers. One list
// makes them and the enum: #define KINDS(X) X(SUM) X(MAXIMUM), then enum kind { KINDS(GPU_VALUE) } for the plan and
// .value_names = {KINDS(GPU_VALUE_NAME)} for the kernel.
#define GPU_VALUE(name) name,
#define GPU_VALUE_NAME(name) #name " "
// Which of a value's axes a constant means, the same numbers as those of gpu_axis_of.
#define GPU_AXES(X) X(AXIS_B) X(AXIS_H) X(AXIS_W) X(AXIS_C)
enum gpu_axis { GPU_AXES(GPU_VALUE) };

enum { GPU_KERNEL_ARGS = 4, GPU_KERNEL_PARAMS = 4, GPU_KERNEL_CONSTANTS = 8, GPU_KERNEL_SHARED = 3, GPU_KERNEL_NAMES = 2 };

struct gpu_kernel {
    const char *name;
    int group[3]; // work-group size unless the plan chooses another; constants GROUP_X, GROUP_Y, GROUP_Z in the text
    struct gpu_arg args[GPU_KERNEL_ARGS + 1];
    const char *params[GPU_KERNEL_PARAMS + 1];  // int4 each: P_NAME.x …; floats travel as bits: bits_to_float(P_NAME.x)
    const struct gpu_constant *constants; // GPU_CONSTANTS(…), up to GPU_KERNEL_CONSTANTS; NULL: none
    const char *value_names[GPU_KERNEL_NAMES];
    const char *shared[GPU_KERNEL_SHARED + 1];  // "stor4 tile[TILE * 4]", "float sums[GROUP_X]"
    // The text calls finish(v, p), which applies the stages that were fused into the operator (epilogue.def). There may
    // then be at most three args: the fourth is the value that a stage takes, named r_.
    bool epilogue;
    const char *body;
};

// A body as text, beside its plan function. Commas and line breaks survive; '#' does not.
#define GPU_TEXT(...) #__VA_ARGS__

int gpu_kernel_arg_count(const struct gpu_kernel *kernel);
int gpu_kernel_constant_count(const struct gpu_kernel *kernel); // those of the table, and the epilogue's behind them

// An epilogue is a list of stages (epilogue.def). Its constants come after the kernel's own: EPI_0 to EPI_3 are the
// operations, one for each stage. Its params come after the kernel's own, too: two floats, a and b, for each stage.
// emit.c declares them, the plan fills them in.
enum gpu_epilogue_op {
#define STAGE(NAME, name, takes_value, text) GPU_EPI_##NAME,
#include "gpu/lang/epilogue.def"
#undef STAGE
};
enum { GPU_EPILOGUE_STAGES = 4 };

// The whole source of a program: prelude, declarations, body. malloc'ed; NULL without memory. For GPU_VULKAN and
// GPU_GLES it is GLSL, for the others the language itself. constants NULL: the kernel's own values (Vulkan: they stay
// specialization constants, ids 0.. in table order; those of the work-group size have the ids 100, 101, 102).
// floats: in GPU_F16S a bit for each buffer, the first lowest, that holds floats in place of halves (Vulkan:
// specialization constant GPU_FLOATS_CONSTANT); else 0.
enum { GPU_FLOATS_CONSTANT = 103 };
char *gpu_emit(const struct gpu_kernel *kernel, enum gpu_language language, enum gpu_precision precision,
               unsigned floats, const int *constants, const int group[3]);

// How arguments reach a kernel, the same for all backends: buffers in the order of args (then r_ where epilogue),
// and int4 params in this order: one shape (w, h, c, b) for each GPU_IN and GPU_OUT arg in order of args (not for r_,
// which has the output's shape); then kernel->params; then, where epilogue, GPU_EPILOGUE_STAGES / 2 int4 of float bits
// (a0 b0 a1 b1).
// Eight int4 at most in all.
int gpu_kernel_shape_count(const struct gpu_kernel *kernel);
int gpu_kernel_param_count(const struct gpu_kernel *kernel); // all int4s

#endif
