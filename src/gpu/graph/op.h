// SPDX-License-Identifier: Apache-2.0
// What an operator is to the GPU delegate: one const table of functions and facts. The delegate asks it whether a node
// can run, the passes over the graph ask it what they may do with a node, and the plan asks it for dispatches. The
// tables themselves are in src/gpu/ops, listed in ops.def: `const struct gpu_op gpu_op_<symbol>`, one for each row.
// This header and gpu_op_find are all that the graph knows of that folder.
#ifndef HALITE_GPU_GRAPH_OP_H
#define HALITE_GPU_GRAPH_OP_H

#include "abi/tensor.h"
#include "gpu/graph/graph.h"
#include "halite/gpu_delegate.h"

struct gpu_plan;

// ---- a node of the runtime, as `supported` sees it

// Why a node cannot run, as data for the partition, the report and the documentation. The text adds the details.
enum gpu_reason_code {
#define X(name, code, text) GPU_REASON_##code = kHaliteDelegateReason##name,
    HALITE_DELEGATE_REASONS(X)
#undef X
};

struct gpu_reason {
    enum gpu_reason_code code;
    char text[160];
    int tensor; // the one at fault, -1: none
};

struct gpu_node_view {
    const TfLiteContext *context;
    const TfLiteNode *node;
    const TfLiteRegistration *registration;
    bool quantized_allowed; // 8-bit tensors may be taken as float twins
    struct gpu_reason *reason;
};

// NULL: there is no such input, or it is left out.
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

// ---- facts

// Sets of inputs have a bit for each.
#define GPU_INPUT(number) (1u << (number))
#define GPU_ALL_INPUTS (~0u)

// What an operator reads and writes. gpu_check_operands refuses nodes with anything else. Types are float32, float16
// (and as constants also int2, int4 and 8 bits), and per-tensor quantized 8 bits where the options allow them.
struct gpu_operands {
    signed char inputs[2];   // fewest and most; most 0: no more than the fewest. {0, 0}: `supported` checks all this
    signed char outputs;     // 0: one
    bool integer_outputs;    // they may be int32, int64 or bool as well: on the GPU they are floats, exact up to 2^24
    bool any_rank;           // up to GPU_MAX_RANK, else up to 4
    unsigned integer_inputs; // these may be int32, int64 or bool as well
};
enum { GPU_ANY_OUTPUTS = -1 };

// What the CPU's kernel does with 8-bit tensors.
enum gpu_bytes {
    GPU_BYTES_NONE,     // there is no 8-bit form, or the GPU refuses it
    GPU_BYTES_COMPUTED, // it computes with real numbers and rounds results to the output's scale
    GPU_BYTES_SAME,     // it computes with the stored bytes, so that input and output must have the same scale
    GPU_BYTES_MOVED,    // it copies stored bytes: every output element is an input element, and scales must be the same
    GPU_BYTES_JOINED,   // it copies stored bytes, and converts those with another scale than the output's
};
static inline bool gpu_moves_only(enum gpu_bytes bytes)
{
    return bytes == GPU_BYTES_MOVED || bytes == GPU_BYTES_JOINED;
}

// How options and constants name axes. Where they do, transpositions in front of a node can move behind it.
enum gpu_axes {
    GPU_AXES_FIXED,  // the operator means certain axes: nothing moves behind it
    GPU_AXES_NONE,   // it computes each element by itself; its constants are numbers, or one for each index of one axis
    GPU_AXES_PADDED, // input 1 has a pair of numbers for each axis
    GPU_AXES_REDUCED, // input 1 is a list of axes (TfLiteReducerParams; they must stay as axes of length 1)
    GPU_AXES_JOINED,  // the axis of TfLiteConcatenationParams
};

// Inputs of an operator that sums products of x and weights for each output channel, and adds a bias to it. Weights
// begin with the output channels, or (depthwise) end with them. weights 0: the operator is none of these.
struct gpu_weighted {
    signed char x, weights, bias; // numbers of inputs; the bias may be left out
};

// What the CPU refuses to compute with, found out while running.
struct gpu_value_check {
    enum gpu_check_rule { GPU_CHECK_INDICES, GPU_CHECK_NOT_ZERO, GPU_CHECK_NOT_NEGATIVE } rule;
    int input;
    const struct gpu_value *value; // that the input is read from
    int axes, lengths[4];          // GPU_CHECK_INDICES: element i is an index along an axis of lengths[i % axes]
};

struct gpu_op {
    const char *name; // "CONV_2D"
    int max_version;
    struct gpu_operands operands;
    // Says no with gpu_refuse, after operands and the size of the options have been checked.
    // NULL: nothing is left to check.
    bool (*supported)(const struct gpu_node_view *view);
    // Turns a node into dispatches (gpu/plan/plan.h). False after a message.
    bool (*plan)(struct gpu_plan *plan, const struct gpu_node *node);
    // Fills in the check that the CPU makes of an input's values in each run. False: none of this node. NULL: never.
    bool (*check)(const struct gpu_node *node, struct gpu_value_check *check);

    // ---- options: GPU_PARAMS or GPU_PARAMS_ACTIVATION fills these in
    unsigned short params_size; // of builtin_data, or of a custom operator's struct; 0: no options
    unsigned short
        min_params_size;       // a custom operator's options have so many bytes or more in a file, the rest is zero
    unsigned short activation; // where builtin_data has a fused activation, if has_activation
    bool has_activation;
    bool applies_activation; // the kernels use the options' activation themselves (recurrent layers)

    // ---- stages (gpu/lang/epilogue.def)
    bool epilogue; // the kernels call finish(), so that the node can have stages
    // Fills one stage if the node is a function of single elements that its producer can apply. NULL: never.
    bool (*as_stage)(const struct gpu_node *node, struct gpu_epilogue *stage);

    // ---- what passes may do
    enum gpu_bytes bytes;
    unsigned moved_inputs; // of an operator that moves: the inputs whose elements the output consists of
    bool
        rank_blind; // works the same on tensors of any rank with this [b, h, w, c]: no option or constant names an axis
    enum gpu_axes axes;
    // Whether the node's output equals its first input if both have the same [b, h, w, c]. NULL: never.
    bool (*copies)(const struct gpu_node *node);
    struct gpu_weighted weighted;
    // The CPU also takes float activations with 8-bit weights, which it reads as int8 without a zero point even if
    // their type is uint8. The delegate refuses the latter.
    bool hybrid;
    // Multiply-adds for each element of output 0; NULL: less than is worth counting.
    int64_t (*macs)(const struct gpu_node_view *view);

    // Every kernel that `plan` may use, NULL at the end: GPU_KERNELS(…). SPIR-V is made of them at build time.
    const struct gpu_kernel *const *kernels;
};

#define GPU_PARAMS(type) .params_size = sizeof(type)
#define GPU_PARAMS_ACTIVATION(type) \
    .params_size = sizeof(type), .has_activation = true, .activation = offsetof(type, activation)
#define GPU_KERNELS(...)                          \
    .kernels = (const struct gpu_kernel *const[]) \
    {                                             \
        __VA_ARGS__, NULL                         \
    }

// What rows of operators that sum products of weights have in common.
#define GPU_OP_OF_WEIGHTS                                                                                           \
    .operands = {.inputs = {2, 3}}, .supported = supported, .plan = plan, .epilogue = true,                         \
    .bytes = GPU_BYTES_COMPUTED, .rank_blind = true, .weighted = {.x = 0, .weights = 1, .bias = 2}, .hybrid = true, \
    .macs = gpu_macs_of_weights

// The fused activation in a node's options; kTfLiteActNone if the operator has none.
TfLiteFusedActivation gpu_fused_activation(const struct gpu_op *op, const void *params);
// For gpu_op.copies.
bool gpu_always(const struct gpu_node *node);

// By builtin code, or by name for custom operators (builtin kTfLiteBuiltinCustom). NULL: there is no GPU kernel.
const struct gpu_op *gpu_op_find(int builtin, const char *custom_name);
// A copy with an epilogue, for stages that a node cannot take itself; no model has it.
extern const struct gpu_op gpu_op_stages;

#endif
