// SPDX-License-Identifier: Apache-2.0
// GPU operators of the application: a custom operator of a model whose kernels the application brings as texts, written
// once for all GPU languages (docs/kernel_dialect.md). They run in the same command list as the library's own kernels,
// so nothing is copied before or after them. docs/gpu_custom_ops.md has a whole example.
//
// The functions are in libtensorflowlite_gpu_delegate. The operator needs a registration for the CPU as well
// (TfLiteInterpreterOptionsAddCustomOp): its prepare gives the outputs their shapes, and its invoke runs where the
// delegate leaves the node on the CPU.
//
// Everything here is code of the application and trusted as such: a kernel that reads or writes beyond a value does
// what such a kernel does in the language of the device. What can be checked is checked, and each refusal is a message.
#ifndef HALITE_GPU_OP_H
#define HALITE_GPU_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halite/gpu_delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- kernels ------------------------------------------------------------------------------------

typedef enum HaliteGpuArgKind {
    kHaliteGpuArgInput = 1,   // a value that the kernel reads: read_NAME(p), NAME_w, NAME_h, NAME_c, NAME_b, NAME_s
    kHaliteGpuArgOutput = 2,  // a value that it writes: write_NAME(p, v), and the sizes
    kHaliteGpuArgWeights = 3, // vectors of four that HaliteGpuPlanAddWeights made: NAME(i), i counts vectors
} HaliteGpuArgKind;

typedef struct HaliteGpuArg {
    HaliteGpuArgKind kind;
    const char *name; // a name of the text: a small letter, then small letters, digits and "_", at most 31 in all
} HaliteGpuArg;

// An integer that is fixed when a program is compiled: the bound of a loop, the size of a shared array, a switch.
typedef struct HaliteGpuConstant {
    const char *name; // a capital letter, then capital letters, digits and "_", at most 31 in all
    int32_t value;
} HaliteGpuConstant;

// A kernel. Zero is the default of every field but the first four.
typedef struct HaliteGpuKernel {
    size_t struct_size; // sizeof(HaliteGpuKernel) where the program was compiled
    const char *name;   // as that of an argument; each kernel of an operator has another
    // The body of the kernel, in the words of docs/kernel_dialect.md, at most 65,536 bytes of printable ASCII, line
    // breaks and tabs. It may have comments, but no '#', '"', '\'', '\\', '`', '@' and '$', and it must close the
    // braces and parentheses that it opens. finish() is not there.
    const char *body;
    const HaliteGpuArg *args; // 1 to 4, at least one of them an output
    int32_t arg_count;
    const char *const *params; // at most 4 names: P_NAME is an int4 that each dispatch gives anew
    int32_t param_count;
    const HaliteGpuConstant *constants; // at most 16, with the values that are used where a dispatch gives no other
    int32_t constant_count;
    // At most 3 arrays that a work-group shares, as the text declares them without the semicolon: "stor4 tile[TILE]".
    const char *const *shared;
    int32_t shared_count;
    int32_t group[3]; // work-items in a work-group along each axis, at most 1024 in all; 0: 1
    // The kernel for Vulkan, which takes no text: SPIR-V that glslangValidator or glslc has made of
    // HaliteGpuKernelGetSource, first with floats, then with halves. NULL: on Vulkan the text is compiled when the
    // delegate is applied, by libshaderc where that is installed; else the operator is refused there, with a message.
    // It is given to the driver as it is.
    const uint32_t *spirv[2];
    size_t spirv_bytes[2]; // of each
} HaliteGpuKernel;

// Writes the source of a kernel for the compilers of an API: OpenCL C, or GLSL for Vulkan (glslangValidator -V
// --target-env vulkan1.1) or OpenGL ES. halves: values and weights are stored as half floats. At most `size` bytes go
// to `text`, the last one a zero; returns the length of the whole source without the zero, as snprintf does. 0, after a
// message on standard error: the kernel is refused, there is no such API, or no memory.
TFL_CAPI_EXPORT extern size_t HaliteGpuKernelGetSource(const HaliteGpuKernel *kernel, HaliteGpuApi api, bool halves,
                                                       char *text, size_t size);

// ---- what an operator's functions may ask -------------------------------------------------------

// A node of the model that may run on the GPU. Valid while `supported` is called.
typedef struct HaliteGpuNode HaliteGpuNode;
TFL_CAPI_EXPORT extern int32_t HaliteGpuNodeGetInputCount(const HaliteGpuNode *node);
TFL_CAPI_EXPORT extern int32_t HaliteGpuNodeGetOutputCount(const HaliteGpuNode *node);
// Tensors with type, shape and, of constants, data. Lent. NULL where index is outside, or an optional input is absent.
TFL_CAPI_EXPORT extern const TfLiteTensor *HaliteGpuNodeGetInput(const HaliteGpuNode *node, int32_t index);
TFL_CAPI_EXPORT extern const TfLiteTensor *HaliteGpuNodeGetOutput(const HaliteGpuNode *node, int32_t index);
// The bytes of the node's custom options, as they stand in the model file, of any alignment. NULL: there are none.
TFL_CAPI_EXPORT extern const void *HaliteGpuNodeGetOptions(const HaliteGpuNode *node, size_t *bytes);
// The operator's version in the model, 1 or more.
TFL_CAPI_EXPORT extern int32_t HaliteGpuNodeGetVersion(const HaliteGpuNode *node);

// A node that is being planned: what its kernels read and write, and the dispatches that they become. Valid while
// `plan` is called. What a dispatch reads or writes is named by a number, an operand. A function that fails has
// reported it; from then on the plan is a failure whatever its function returns.
typedef struct HaliteGpuPlan HaliteGpuPlan;
// Operands of the node's tensors. -1, without a message: index is outside, or an optional input is absent.
TFL_CAPI_EXPORT extern int32_t HaliteGpuPlanGetInput(const HaliteGpuPlan *plan, int32_t index);
TFL_CAPI_EXPORT extern int32_t HaliteGpuPlanGetOutput(const HaliteGpuPlan *plan, int32_t index);
// Fills in [batch, height, width, channels] of a value. A tensor of fewer than four axes has ones in front: [n, c] is
// [n, 1, 1, c], [n, w, c] is [n, 1, w, c], [c] is [1, 1, 1, c]. False, with zeros, where the operand is no value.
TFL_CAPI_EXPORT extern bool HaliteGpuPlanGetShape(const HaliteGpuPlan *plan, int32_t operand, int32_t shape[4]);
// The elements of a constant input as floats, in the order of the tensor. Lent, for the call of `plan`. NULL: the
// operand is no constant.
TFL_CAPI_EXPORT extern const float *HaliteGpuPlanGetConstant(const HaliteGpuPlan *plan, int32_t operand, size_t *count);
// As HaliteGpuNodeGetOptions.
TFL_CAPI_EXPORT extern const void *HaliteGpuPlanGetOptions(const HaliteGpuPlan *plan, size_t *bytes);
// A value that passes from one dispatch of the node to another. shape: [batch, height, width, channels]. -1 after a
// message: a size below 1, too large for a device, or no memory.
TFL_CAPI_EXPORT extern int32_t HaliteGpuPlanAddScratch(HaliteGpuPlan *plan, const int32_t shape[4]);
// Constants for an argument of kind kHaliteGpuArgWeights: 4 * vectors floats, which are copied, and stored as halves
// where the delegate's precision says so. -1 after a message: no memory, or more than 2^27 vectors.
TFL_CAPI_EXPORT extern int32_t HaliteGpuPlanAddWeights(HaliteGpuPlan *plan, const float *elements, size_t vectors);

// One start of a kernel. Zero is the default of every field but the first four.
typedef struct HaliteGpuDispatch {
    size_t struct_size;      // sizeof(HaliteGpuDispatch) where the program was compiled
    int32_t kernel;          // an index in HaliteGpuOp.kernels
    const int32_t *operands; // one for each argument of the kernel, in its order
    int32_t operand_count;
    const int32_t (*params)[4]; // one for each parameter of the kernel; NULL: zeros. Floats go as their bits
    int32_t param_count;
    const HaliteGpuConstant *constants; // those of the kernel's constants that are to have other values
    int32_t constant_count;
    int32_t group[3]; // 0: the kernel's
    // Work-items along each axis, rounded up to whole work-groups: the kernel leaves out what is outside. All 0: one
    // for each vector of four channels of the first output, which position() gives.
    int32_t grid[3];
} HaliteGpuDispatch;

// Adds a dispatch. It runs after the earlier ones whose results it reads. False after a message: there is no such
// kernel, operand or constant, an operand is of the wrong kind, an input is read before a dispatch has written it, an
// output is a tensor that the node only reads or an input of the same dispatch, or a size is beyond the device's
// limits.
TFL_CAPI_EXPORT extern bool HaliteGpuPlanAddDispatch(HaliteGpuPlan *plan, const HaliteGpuDispatch *dispatch);

// ---- operators ----------------------------------------------------------------------------------

// A custom operator. Zero is the default of max_version, input_max, output_count, supported and data.
typedef struct HaliteGpuOp {
    size_t struct_size;   // sizeof(HaliteGpuOp) where the program was compiled
    const char *name;     // of the custom operator in the model, at most 127 bytes
    int32_t max_version;  // nodes of later versions stay on the CPU; 0: 1
    int32_t input_min;    // fewest inputs, at least 1; these must not be left out in a node
    int32_t input_max;    // most inputs, at most 64; 0: as many as input_min
    int32_t output_count; // at most 64; 0: 1
    const HaliteGpuKernel *kernels;
    int32_t kernel_count; // 1 to 64
    // Says whether the GPU can run a node. Checked before: the numbers of inputs and outputs, that all shapes are known
    // and have up to four axes, and types: float32, float16, and 8 bits with one scale where the options allow
    // quantized models, which kernels read and write as real numbers. False: the node stays on the CPU, and the
    // delegate's report has the reason that the function wrote to `why` (at most why_bytes bytes with the zero at the
    // end). NULL: any node.
    bool (*supported)(void *data, const HaliteGpuNode *node, char *why, size_t why_bytes);
    // Turns a node into dispatches, which together must write every output. It is called when the delegate is applied
    // and when inputs are resized. False: applying the delegate fails, as it does after any other failure of `plan` or
    // of a compiler: kTfLiteDelegateError, a message, and the graph runs on the CPU.
    bool (*plan)(void *data, HaliteGpuPlan *plan);
    void *data; // for both functions
} HaliteGpuOp;

// Lets a delegate run a custom operator. It holds for models that the delegate is applied to later, and for this
// delegate alone. An operator of the same name that the library has is replaced by it.
//
// Structs, names and texts are copied. The functions, and what data points to, must stay until the delegate and the
// interpreters that use it are deleted. The functions are called in the thread that applies the delegate, by one thread
// at a time for `plan`; they must not call functions of the interpreter or of the delegate. Not while another thread
// applies the delegate.
//
// kTfLiteError, after a message on standard error that says which field is at fault: the delegate is none of Halite's
// GPU delegates, a field is out of its range, a text breaks the rules above, the delegate has an operator of this name
// from the application already, or no memory. Texts are compiled when the delegate is applied to a model with the
// operator.
TFL_CAPI_EXPORT extern TfLiteStatus HaliteDelegateAddGpuOp(TfLiteDelegate *delegate, const HaliteGpuOp *op);

#ifdef __cplusplus
}
#endif

#endif
