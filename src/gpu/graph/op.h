// SPDX-License-Identifier: Apache-2.0
// What an operator is to the GPU delegate: one const table of functions and facts. The delegate asks it whether a node
// can run, the passes over the graph ask it what they may do with a node, and the plan asks it for dispatches. The
// tables themselves are in src/gpu/ops, listed in ops.def: `const struct gpu_op gpu_op_<symbol>`, one for each row.
// This header and gpu_op_find are all that the graph knows of that folder.
#ifndef HALITE_GPU_GRAPH_OP_H
#define HALITE_GPU_GRAPH_OP_H

#include "abi/tensor.h"
#include "delegates/common/report.h"
#include "gpu/graph/graph.h"

struct gpu_plan;

// ---- a node of the runtime, as `supported` sees it

struct gpu_node_view {
    const TfLiteContext *context;
    const TfLiteNode *node;
    const TfLiteRegistration *registration;
    bool quantized_allowed;  // 8-bit tensors may be computed in floats, or as integers
    bool exact_integers;     // the node has 8-bit tensors and is to be computed in integers
    const struct gpu_op *op; // that of the node
    struct delegate_reason *reason;
};

// Returns NULL if there is no such input, or if it is optional and absent.
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

// What an operator reads and writes. gpu_check_operands refuses nodes with anything else. The types are float32 and
// float16, 8 bits with one scale where the options allow them, and for constants also int2, int4 and 8 bits.
struct gpu_operands {
    signed char inputs[2];   // fewest and most; a most of 0 means the fewest. {0, 0}: `supported` checks all of this
    signed char outputs;     // 0 means one
    bool integer_outputs;    // may also be int32, int64 or bool; on the GPU they are floats, exact up to 2^24
    bool any_rank;           // ranks up to GPU_MAX_RANK; else up to 4
    unsigned integer_inputs; // the set of inputs that may also be int32, int64 or bool
};
enum { GPU_ANY_OUTPUTS = -1 };

// What the CPU's kernel does with 8-bit tensors.
enum gpu_bytes {
    GPU_BYTES_NONE,     // it has no 8-bit form, or the GPU refuses that form
    GPU_BYTES_COMPUTED, // it computes with real numbers and rounds the results to the output's scale
    GPU_BYTES_SAME,     // it computes with the stored bytes, so input and output must have the same scale
    GPU_BYTES_MOVED,    // it copies the stored bytes of input elements, so all scales must be the same
    GPU_BYTES_JOINED,   // it copies stored bytes, and converts those of inputs with another scale than the output's
};
static inline bool gpu_moves_only(enum gpu_bytes bytes)
{
    return bytes == GPU_BYTES_MOVED || bytes == GPU_BYTES_JOINED;
}

// How options and constants of an operator name axes. A pass that moves a transposition from an operator's inputs to
// its output renames the axes there.
enum gpu_axes {
    GPU_AXES_FIXED,   // the operator works on certain axes, so no transposition may move past it
    GPU_AXES_NONE,    // it computes each element by itself; its constants are scalars, or vectors along one axis
    GPU_AXES_PADDED,  // input 1 has a pair of numbers for each axis
    GPU_AXES_REDUCED, // input 1 is a list of axes (TfLiteReducerParams), and keep_dims is set
    GPU_AXES_JOINED,  // TfLiteConcatenationParams has an axis
};

// An operator that sums products of x and weights for each output channel and adds a bias. All zeros: no such operator.
struct gpu_weighted {
    signed char x, weights, bias; // indices of inputs; the bias may be absent
    bool depthwise;   // the output channels are the last axis of the weights, not the first, and each sums one channel
    bool rounds_once; // the CPU rescales sums of 8-bit codes in doubles, not in fixed point
};

// Values of an input that the CPU refuses while running, so that Invoke has to fail on the GPU as well.
struct gpu_value_check {
    enum gpu_check_rule { GPU_CHECK_INDICES, GPU_CHECK_NOT_ZERO, GPU_CHECK_NOT_NEGATIVE, GPU_CHECK_BOXES } rule;
    int input;
    const struct gpu_value *value; // the value whose elements are checked
    int axes, lengths[4];          // GPU_CHECK_INDICES: element i is an index along an axis of lengths[i % axes]
    // GPU_CHECK_BOXES: the value is an output, -1 - i if box i has no area
};

struct gpu_op {
    const char *name; // "CONV_2D"
    int max_version;
    struct gpu_operands operands;
    // Returns whether the GPU can run a node; gpu_refuse gives the reason why not. The operands and the size of the
    // options have been checked before. NULL: nothing else needs a check.
    bool (*supported)(const struct gpu_node_view *view);
    // Turns a node into dispatches (gpu/plan/plan.h). Returns false after a message.
    bool (*plan)(struct gpu_plan *plan, const struct gpu_node *node);
    // Describes the check of an input's values that the CPU makes in each run. Returns false if this node needs none.
    // NULL: no node needs one.
    bool (*check)(const struct gpu_node *node, struct gpu_value_check *check);

    // ---- options: GPU_PARAMS or GPU_PARAMS_ACTIVATION fills these in
    unsigned short params_size; // bytes of builtin_data, or of a custom operator's struct; 0: there are no options
    // Custom operators: fewest bytes of options in a file. What is missing up to params_size is zero.
    unsigned short min_params_size;
    unsigned short activation; // offset of the fused activation in builtin_data, if has_activation
    bool has_activation;
    bool keeps_options;      // a custom operator's options are all bytes of the file; params_size is 0
    bool applies_activation; // the kernels apply the options' activation themselves (recurrent layers)
    bool integers; // it computes with the integers of 8-bit tensors and applies the activation: no pass rewrites it

    // ---- stages (gpu/lang/epilogue.def)
    bool epilogue; // the kernels call finish(), so the node can have stages
    // Fills in one stage if the node is a function of single elements, which its producer can apply. NULL: it never is.
    bool (*as_stage)(const struct gpu_node *node, struct gpu_epilogue *stage);

    // ---- what passes may do
    enum gpu_bytes bytes;
    unsigned moved_inputs; // an operator that moves elements: the set of inputs that it moves them from
    // The set of inputs that it reads by their elements' order, whatever shape they have.
    unsigned any_shape;
    signed char fill; // the input, which may be absent, with the number that it writes where it moves nothing; 0: none
    bool rank_blind;  // the result depends on [b, h, w, c] alone: no option or constant names an axis
    enum gpu_axes axes;
    // Returns the input of which output `output` is the channels from *first on, at every position. NULL: it is none;
    // no output of this operator is one.
    struct gpu_value *(*channels_of)(const struct gpu_node *node, int output, int *first);
    // Returns whether the output equals the first input where both have the same [b, h, w, c]. NULL: it never does.
    bool (*copies)(const struct gpu_node *node);
    struct gpu_weighted weighted;
    // The CPU also takes float activations with 8-bit weights. It reads uint8 weights as int8 without a zero point,
    // which the delegate refuses.
    bool hybrid;
    // Returns the multiply-adds for each element of output 0. NULL: too few to count.
    int64_t (*macs)(const struct gpu_node_view *view);

    // Every kernel that `plan` may use, with NULL at the end: GPU_KERNELS(…). The build compiles these to SPIR-V.
    const struct gpu_kernel *const *kernels;
    const struct gpu_op *next; // of an application's operators: the next one of the delegate
};

#define GPU_PARAMS(type) .params_size = sizeof(type)
#define GPU_PARAMS_ACTIVATION(type) \
    .params_size = sizeof(type), .has_activation = true, .activation = offsetof(type, activation)
#define GPU_KERNELS(...)                          \
    .kernels = (const struct gpu_kernel *const[]) \
    {                                             \
        __VA_ARGS__, NULL                         \
    }

// Returns NULL if the node writes zeros where it moves nothing, or writes nothing there.
static inline const struct gpu_value *gpu_fill_of(const struct gpu_node *node)
{
    const int fill = node->op->fill;
    return fill && fill < node->input_count ? node->inputs[fill] : NULL;
}

// The fields that operators with weights have in common.
#define GPU_OP_OF_WEIGHTS                                                                                        \
    .operands = {.inputs = {2, 3}}, .supported = supported, .plan = plan, .epilogue = true,                      \
    .bytes = GPU_BYTES_COMPUTED, .rank_blind = true, .weighted.x = 0, .weighted.weights = 1, .weighted.bias = 2, \
    .hybrid = true, .macs = gpu_macs_of_weights

// Returns the fused activation of a node's options; kTfLiteActNone if the operator has none.
TfLiteFusedActivation gpu_fused_activation(const struct gpu_op *op, const void *params);
// For gpu_op.copies: returns true.
bool gpu_always(const struct gpu_node *node);

// Finds an operator by its builtin code, or a custom one (kTfLiteBuiltinCustom) by its name. Returns NULL if the GPU
// has no kernel for it.
const struct gpu_op *gpu_op_find(int builtin, const char *custom_name);
// The same, with a list of the application's operators that come first.
const struct gpu_op *gpu_op_of(const struct gpu_op *own, const TfLiteRegistration *registration);
// The name of the model's operator that a node stands for, also where a pass has made a formula of it.
const char *gpu_node_name(const struct gpu_node *node);
// Finds the operator whose results are the CPU's integers bit for bit. Returns NULL if there is no such kernel.
const struct gpu_op *gpu_integer_op_find(int builtin, const char *custom_name);
// Returns whether a node reads or writes 8-bit tensors that are no constants: in exact mode only an operator of
// gpu_integer_op_find may take it.
bool gpu_has_codes(const TfLiteContext *context, const TfLiteNode *node);
// A copy with an epilogue, for stages that a node cannot have itself. No model contains it.
extern const struct gpu_op gpu_op_stages;
// A function of single elements of up to three values, which graph/formula.c makes of several nodes. Its inputs are x
// and at most two others. Steps change v, which is x at first: operations of an epilogue, whose other value is one of
// the inputs, or what v was before the last step that keeps it. No model contains it.
enum { GPU_FORMULA_STEPS = 8, GPU_FORMULA_VALUES = 3 };
#define GPU_FORMULA_OTHERS(X) X(OF_NONE) X(OF_X) X(OF_FIRST) X(OF_SECOND) X(OF_KEPT)
struct gpu_formula {
    int count;
    struct gpu_formula_step {
        enum gpu_epilogue_op op;
        float a, b;
        enum gpu_formula_other { GPU_FORMULA_OTHERS(GPU_VALUE) } other;
        bool keeps; // v is kept before this step
    } steps[GPU_FORMULA_STEPS];
    int channel[GPU_FORMULA_VALUES]; // of each input that is channel 0 of the output
};
extern const struct gpu_op gpu_op_formula;
// Layer and instance normalization, which graph/norm.c makes of the operators that models have for them. Their inputs:
// x, gamma and beta with a number for each channel, and a constant number. Layer normalization has constants alone;
// those of instance normalization may also be values, of one batch or as many as x has.
enum { GPU_NORM_X, GPU_NORM_GAMMA, GPU_NORM_BETA, GPU_NORM_EPSILON, GPU_NORM_INPUTS };
extern const struct gpu_op gpu_op_layer_norm;
extern const struct gpu_op gpu_op_instance_norm;
// Attention, which graph/attention.c makes of two products and a softmax. Its inputs: matrices of one size for each
// batch and head, the mask or NULL, and constant numbers: scale, beta, b, h and w of the mask beside the scores, heads
// of the scores.
enum {
    GPU_ATTENTION_Q,
    GPU_ATTENTION_K,
    GPU_ATTENTION_V,
    GPU_ATTENTION_NUMBERS,
    GPU_ATTENTION_MASK,
    GPU_ATTENTION_INPUTS
};
extern const struct gpu_op gpu_op_attention;

#endif
