// SPDX-License-Identifier: Apache-2.0
// A kernel: one text for all GPU languages, and as data everything that the languages spell differently. The emitter puts
// the prelude and the declarations before the text. docs/kernel_dialect.md lists the words that a text may use.
//
// A value is a tensor [b, h, w, c] in slices of four channels. Element (x, y, s, b) has the channels 4s to 4s+3 of one
// position, and its index in memory is ((b * slices + s) * h + y) * w + x. Channels beyond c are always zero in memory;
// write_NAME keeps them so.
#ifndef HALITE_GPU_LANG_KERNEL_H
#define HALITE_GPU_LANG_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

enum gpu_language { GPU_OPENCL, GPU_VULKAN, GPU_GLES, GPU_CUDA, GPU_METAL };
// Storage and arithmetic. F32: floats, floats. F16S: halves, floats. F16: halves, halves with sums in floats.
enum gpu_precision { GPU_F32, GPU_F16S, GPU_F16, GPU_PRECISIONS };

enum gpu_arg_kind {
    GPU_ARG_END,
    GPU_IN,  // a value: read_NAME(p) is a real4, and NAME_w NAME_h NAME_c NAME_b NAME_s are its sizes (s: slices)
    GPU_OUT, // a value: write_NAME(p, v) writes it
    // Constants, or what another kernel has packed: vectors of four in any order. NAME(i) is a real4; i counts vectors.
    GPU_WEIGHTS,
    // A value of 8-bit integers, four channels in an int, the first in its lowest byte. They are signed: uint8 values are
    // stored with 128 subtracted. Bytes of channels beyond c hold anything. read_NAME(p), load_NAME(i), write_NAME(p, v)
    // and store_NAME(i, v) are as for values, of ints.
    GPU_CODES_IN,
    GPU_CODES_OUT,
    GPU_INTS, // constant integers, vectors of four in any order: NAME(i) is an int4
    GPU_RAW_IN,  // the caller's float32, dense [b, h, w, c]: NAME[i] is a float
    GPU_RAW_OUT, // the same, written: NAME[i] = float
    GPU_BYTES_IN,  // the caller's 8-bit integers, dense, four in an int, the first in its lowest byte: NAME[i] is an int
    GPU_BYTES_OUT, // the same, written: NAME[i] = int
};
// Returns whether the argument is the caller's memory and no value of the plan.
static inline bool gpu_arg_is_raw(enum gpu_arg_kind kind)
{
    return kind >= GPU_RAW_IN;
}
static inline bool gpu_arg_is_written(enum gpu_arg_kind kind)
{
    return kind == GPU_OUT || kind == GPU_CODES_OUT || kind == GPU_RAW_OUT || kind == GPU_BYTES_OUT;
}
// Returns whether the argument is a value of the plan: it has a shape and positions.
static inline bool gpu_arg_is_value(enum gpu_arg_kind kind)
{
    return kind == GPU_IN || kind == GPU_OUT || kind == GPU_CODES_IN || kind == GPU_CODES_OUT;
}
// Returns whether the argument holds floats or halves, as the precision says.
static inline bool gpu_arg_is_real(enum gpu_arg_kind kind)
{
    return kind == GPU_IN || kind == GPU_OUT || kind == GPU_WEIGHTS;
}
struct gpu_arg {
    enum gpu_arg_kind kind;
    const char *name;
};

// An integer that is fixed when a program is made: the size of a shared array, the bound of a loop, a switch.
struct gpu_constant {
    const char *name;
    int value; // used where the plan gives no other
};
#define GPU_CONSTANTS(...) .constants = (const struct gpu_constant[]){__VA_ARGS__, {NULL, 0}}
// A list of names for the values of constants, "FIRST SECOND" for 0 and 1, which a text uses instead of numbers. One
// X-macro makes them and the plan's enum: with #define KINDS(X) X(SUM) X(MAXIMUM), the plan has
// enum kind { KINDS(GPU_VALUE) } and the kernel .value_names = {KINDS(GPU_VALUE_NAME)}.
#define GPU_VALUE(name) name,
#define GPU_VALUE_NAME(name) #name " "
// Names for constants that mean an axis of a value. The numbers are those of gpu_axis_of.
#define GPU_AXES(X) X(AXIS_B) X(AXIS_H) X(AXIS_W) X(AXIS_C)
enum gpu_axis { GPU_AXES(GPU_VALUE) };

// Values of the constant MATRIX of kernels with MATRIX_STEP, which say how numbers become what matrix units multiply,
// always with sums in floats. MATRIX_FLOATS: each is the sum of two numbers of TF32's 11 bits, and the three larger ones
// of the four products are summed. MATRIX_SPLIT: the same with two halves, the second times 2048; for numbers that
// halves can hold. MATRIX_HALVES: rounded to halves, one product. MATRIX_NARROW: as MATRIX_SPLIT, with weights that are
// halves, so that two products are left. Languages without such units compute MATRIX_FLOATS with plain products, and have
// no other.
#define GPU_MATRIX_FORMS(X) X(MATRIX_FLOATS) X(MATRIX_SPLIT) X(MATRIX_HALVES) X(MATRIX_NARROW)
enum gpu_matrix_form { GPU_MATRIX_FORMS(GPU_VALUE) };

enum { GPU_KERNEL_ARGS = 4, GPU_KERNEL_PARAMS = 4, GPU_KERNEL_CONSTANTS = 20, GPU_KERNEL_SHARED = 3, GPU_KERNEL_NAMES = 3 };

struct gpu_kernel {
    const char *name;
    int group[3]; // work-group size where the plan gives no other; GROUP_X, GROUP_Y and GROUP_Z in the text
    struct gpu_arg args[GPU_KERNEL_ARGS + 1];
    const char *params[GPU_KERNEL_PARAMS + 1];  // an int4 each: P_NAME.x …; a float as its bits: bits_to_float(P_NAME.x)
    const struct gpu_constant *constants; // GPU_CONSTANTS(…), up to GPU_KERNEL_CONSTANTS; NULL if there are none
    const char *value_names[GPU_KERNEL_NAMES];
    const char *shared[GPU_KERNEL_SHARED + 1];  // "stor4 tile[TILE * 4]", "float sums[GROUP_X]"
    // The text has the shared array `float4 tile[TILE]` besides, in dynamic shared memory of up to dynamic_shared_bytes of
    // the device's caps, and words that copy constants into it in bulk (docs/kernel_dialect.md). Of the languages CUDA has
    // them, and OpenCL, where it is an array like others. TILE is a constant of the kernel.
    bool dynamic_shared;
    // The text calls finish(v, p), which applies the stages that were fused into the operator (epilogue.def). Such a
    // kernel has at most three args, because the value that a stage reads is the fourth, named r_.
    // With constants whose names begin with STAGE, which are operations of stages, any kernel's text may also call
    // stage(STAGE, v, a, b) and stage_with(STAGE, v, r, a, b) on what it computes on the way.
    bool epilogue;
    bool integers; // the text uses the words for integers: rescale, dot_bytes and others
    // dot_bytes is the device's instruction for it (byte_dots of its caps), where the language has a word for one.
    bool byte_dots;
    // The text of a kernel of floats that only moves elements, for values of codes: real and real4 are ints, finish
    // does nothing.
    bool moves_codes;
    // The text uses MATRIX_STEP. GROUP_X is then 32. Languages without such units take 64 bytes of shared memory for each
    // work-item besides.
    bool matrix;
    // The text uses the words of fragments, which of the languages only GLSL for Vulkan has. GROUP_X is then 32.
    bool fragments;
    // Fragments are the device's cooperative matrices (cooperative of its caps); else plain code.
    bool cooperative;
    // The text says itself where it waits for earlier dispatches: before WAIT it reads weights at most. Two of its groups
    // are to fit a compute unit, or as many as its constant RESIDENT says.
    bool waits;
    // The first arg is an input of the caller's, which the host may have written as halves in place of floats
    // (gpu_plan_narrows): the x of the first param is 1 then.
    bool narrows;
    const char *body;
    // Of a kernel that is not the library's own: its SPIR-V. NULL: gpu_spirv finds it by the kernel's name.
    const struct gpu_kernel_modules *modules;
};

// SPIR-V in floats (GPU_F32) and halves (GPU_F16S); NULL where there is none.
struct gpu_kernel_modules {
    const void *words[2];
    size_t bytes[2];
};

// Makes a body of the text between the parentheses. It may have commas and line breaks, but no '#'.
#define GPU_TEXT(...) #__VA_ARGS__

// Returns whether a language has the words that the kernel uses. Without GPU_VULKAN the kernel has no SPIR-V.
bool gpu_kernel_has_language(const struct gpu_kernel *kernel, enum gpu_language language);
int gpu_kernel_arg_count(const struct gpu_kernel *kernel);
int gpu_kernel_weights_arg(const struct gpu_kernel *kernel); // the first of GPU_WEIGHTS or GPU_INTS; -1: none
// The index of one of the kernel's own constants; -1: it has none of that name.
int gpu_kernel_constant_index(const struct gpu_kernel *kernel, const char *name);
int gpu_kernel_constant_count(const struct gpu_kernel *kernel); // the kernel's own, and then the epilogue's

// An epilogue is a list of stages (epilogue.def). Its constants EPI_0 to EPI_3, which follow the kernel's own, are the
// operations of the stages. Its params, which follow the kernel's own as well, are two floats a and b for each stage.
// emit.c declares them; the plan fills them in. A stage that reads a number for each channel instead of a value has one
// of the enum gpu_stage_source added to its operation, and the index of the first vector of these numbers in place of a.
enum gpu_epilogue_op {
#define STAGE(NAME, name, takes_value, text) GPU_EPI_##NAME,
#include "gpu/lang/epilogue.def"
#undef STAGE
};
enum { GPU_EPILOGUE_STAGES = 4 };
// Where the numbers of channels are: in r_, which then is no value, or behind the kernel's own vectors in the first of its
// args of GPU_WEIGHTS or GPU_INTS. GPU_STAGE_OF_FEWER: none are, but the value has fewer slices than the output, as many
// as are in place of b, and zeros stand for the others.
enum gpu_stage_source {
    GPU_STAGE_OF_VALUE = 0,
    GPU_STAGE_OF_CHANNELS = 64,
    GPU_STAGE_OF_WEIGHTS = 128,
    GPU_STAGE_OF_FEWER = 192
};
// Whether the operation reads another value.
bool gpu_stage_takes_value(enum gpu_epilogue_op op);

// Returns the whole source of a program, which is the prelude, the declarations and the body; malloc'ed, or NULL without
// memory. For GPU_VULKAN and GPU_GLES it is GLSL, for the others the language itself.
// constants: NULL for the kernel's own values. For Vulkan they stay specialization constants, with ids from 0 on in the
// order of the table, and 100 to 102 for the work-group size.
// floats: in GPU_F16S a bit for each buffer that holds floats instead of halves, the first buffer's bit lowest (Vulkan:
// specialization constant GPU_FLOATS_CONSTANT); else 0.
enum { GPU_FLOATS_CONSTANT = 103 };
char *gpu_emit(const struct gpu_kernel *kernel, enum gpu_language language, enum gpu_precision precision,
               unsigned floats, const int *constants, const int group[3]);

// Arguments reach a kernel in the same way on all backends. Buffers come in the order of args; with an epilogue r_ comes
// last. Params are at most eight int4 in this order: a shape (w, h, c, b) for each arg that is a value (r_ has none,
// its shape is the output's), then kernel->params, then with an epilogue GPU_EPILOGUE_STAGES / 2 int4 of float bits
// (a0 b0 a1 b1).
int gpu_kernel_shape_count(const struct gpu_kernel *kernel);
int gpu_kernel_param_count(const struct gpu_kernel *kernel); // all int4 together

#endif
