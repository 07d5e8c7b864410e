// SPDX-License-Identifier: Apache-2.0
// How an operator is written for the GPU: `supported` looks at a node of the runtime and says whether, and if not why
// not; `plan` turns a node of the gpu graph into dispatches. An op file exports `const struct gpu_op gpu_op_<symbol>`,
// listed in gpu/ops/ops.def; everything else in it is static.
#ifndef HALITE_GPU_OPS_OP_H
#define HALITE_GPU_OPS_OP_H

#include "gpu/graph/graph.h"
#include "gpu/plan/plan.h"
#include "halite/gpu_delegate.h"

// Reasons, as data: partition, report and documentation use them. The text says the rest.
enum gpu_reason_code {
#define X(name, code, text) GPU_REASON_##code = kHaliteDelegateReason##name,
    HALITE_DELEGATE_REASONS(X)
#undef X
};

struct gpu_reason {
    enum gpu_reason_code code;
    char text[160];
    int tensor; // that is at fault, -1: none
};

// A node of the runtime, as `supported` sees it.
struct gpu_node_view {
    const TfLiteContext *context;
    const TfLiteNode *node;
    const TfLiteRegistration *registration;
    bool quantized_allowed; // 8-bit tensors may be taken as float twins
    struct gpu_reason *reason;
};

// Fills the reason; always false, so that `return gpu_refuse(...)` reads well. tensor: input number, -1: none.
bool gpu_refuse(const struct gpu_node_view *view, enum gpu_reason_code code, int input, const char *format, ...)
    HL_PRINTF(4, 5);
static inline const TfLiteTensor *gpu_view_input(const struct gpu_node_view *view, int index)
{
    const TfLiteIntArray *list = view->node->inputs;
    return index < list->size && list->data[index] >= 0 ? &view->context->tensors[list->data[index]] : NULL;
}
static inline const TfLiteTensor *gpu_view_output(const struct gpu_node_view *view, int index)
{
    const TfLiteIntArray *list = view->node->outputs;
    return index < list->size && list->data[index] >= 0 ? &view->context->tensors[list->data[index]] : NULL;
}
// A custom operator's options as a struct of `size` bytes: zeros behind what the file has.
void gpu_custom_options(const struct gpu_node_view *view, void *options, size_t size);
static inline bool gpu_is_constant(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}
// Checks that all ops share: numbers of inputs and outputs, types (float32; float16, int2, int4 and 8-bit constants;
// 8-bit activations where allowed and per tensor; int32, int64 and bool only for the inputs in integer_inputs, a bit
// each), ranks up to 4 (with GPU_ANY_RANK among the bits: up to GPU_MAX_RANK), static shapes that kernels can count,
// constants that can be read.
// GPU_INTEGER_OUTPUTS among the bits: outputs may be such integers, too; on the GPU these are floats, exact up to 2^24.
#define GPU_INTEGER_OUTPUTS (1u << 31)
#define GPU_ANY_RANK (1u << 30)
bool gpu_check_common(const struct gpu_node_view *view, int min_inputs, int max_inputs, int outputs,
                      unsigned integer_inputs);
// The same limits for another shape, under which the operator sees tensor number `input` (-1: an output).
bool gpu_check_extent(const struct gpu_node_view *view, int input, struct gpu_shape shape);
// And of what a pass makes of it.
bool gpu_extent_fits(struct gpu_shape shape);
// That input 0 and the output have the same dimensions.
bool gpu_check_same_dims(const struct gpu_node_view *view);
// For operators that take 8-bit tensors by their codes: the device has only the real numbers. input -1: the output.
bool gpu_check_no_codes(const struct gpu_node_view *view, int input);
bool gpu_check_activation(const struct gpu_node_view *view, TfLiteFusedActivation activation);
bool gpu_check_constant(const struct gpu_node_view *view, int input);
// A constant list of int32 or int64 (axes, sizes, paddings), `count` of them, -1: any number.
bool gpu_check_integers(const struct gpu_node_view *view, int input, int64_t count);
// A constant axis of a tensor of this rank, the only element of its input.
bool gpu_check_axis(const struct gpu_node_view *view, int input, int rank);
// Entries of such inputs, clamped to int: in `supported` of the tensor, in `plan` of the value.
int gpu_integer_at(const TfLiteTensor *tensor, int64_t index);
int gpu_constant_int(const struct gpu_value *value, int index);

struct gpu_op {
    const char *name; // "CONV_2D"
    int max_version;
    bool (*supported)(const struct gpu_node_view *view);
    bool (*plan)(struct gpu_plan *plan, const struct gpu_node *node);
    // The op can take an epilogue: its kernels call finish().
    bool epilogue;
    // Where the op is an elementwise function that can be an epilogue stage of its producer: fills one stage. NULL: it
    // cannot.
    bool (*as_stage)(const struct gpu_node *node, struct gpu_epilogue *stage);
    size_t params_size; // of builtin_data, 0: none
    // Of a custom operator's options: as many bytes must be in the file; what is missing to params_size is zero.
    size_t params_least;
    // Every kernel that `plan` may use, NULL at the end: SPIR-V is made of them at build time, tests look at each.
    const struct gpu_kernel *const *kernels;
};

// By builtin code, or by name for custom operators (builtin kTfLiteBuiltinCustom). NULL: no GPU kernel.
const struct gpu_op *gpu_op_find(int builtin, const char *custom_name);

#endif
