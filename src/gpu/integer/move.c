// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: their plans for floats choose kernels of codes by themselves, so that all there is
// to say is that the tensors have 8 bits. CONCATENATION brings uint8 inputs of another scale to the output's first, by
// tables; the CPU refuses int8 inputs of another scale, and for the others it copies codes, whatever the scales.
#include <math.h>

#include "gpu/graph/convert.h"
#include "gpu/integer/integer.h"
#include "gpu/ops/affine.h"
#include "gpu/ops/blocks.h"
#include "gpu/ops/concatenation.h"
#include "tensorflow/lite/builtin_ops.h"

// Checks that all inputs with 8 bits, and there is one, and all outputs are of one type.
static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view) || !gpu_check_codes(view, -1)) return false;
    TfLiteType type = gpu_view_output(view, 0)->type;
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *x = gpu_view_input(view, i);
        if (!x || x->type == kTfLiteInt32 || x->type == kTfLiteInt64) continue;
        if (!gpu_check_codes(view, i)) return false;
        if (x->type != type) return gpu_refuse(view, DELEGATE_TYPE, i, "exact integers: tensors of different types");
    }
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return gpu_op_find(node->builtin, NULL)->plan(plan, node);
}

#define MOVED .supported = supported, .plan = plan
#define MOVES(symbol, text, version, ...) \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, version), MOVED, __VA_ARGS__};
#define ONE_INPUT(...) .operands = {.any_rank = true, __VA_ARGS__}
#define AFFINE GPU_KERNELS(GPU_AFFINE_CODES_KERNELS)

#define SHAPED(symbol, text, version)                                                                             \
    MOVES(symbol, text, version, ONE_INPUT(.inputs = {1, 2}, .integer_inputs = GPU_INPUT(1)), .rank_blind = true, \
          .copies = gpu_always, GPU_KERNELS(&gpu_kernel_reshape_codes))
SHAPED(reshape, "RESHAPE", 1)
SHAPED(squeeze, "SQUEEZE", 2)
SHAPED(expand_dims, "EXPAND_DIMS", 1)

MOVES(slice, "SLICE", 8, ONE_INPUT(.inputs = {3}, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2)), AFFINE)
MOVES(strided_slice, "STRIDED_SLICE", 8,
      ONE_INPUT(.inputs = {4}, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2) | GPU_INPUT(3)),
      GPU_PARAMS(TfLiteStridedSliceParams), AFFINE)
MOVES(transpose, "TRANSPOSE", 9, ONE_INPUT(.inputs = {2}, .integer_inputs = GPU_INPUT(1)), AFFINE)
MOVES(pad, "PAD", 6, ONE_INPUT(.inputs = {2, 3}, .integer_inputs = GPU_INPUT(1)), .fill = 2, AFFINE)
MOVES(padv2, "PADV2", 6, ONE_INPUT(.inputs = {2, 3}, .integer_inputs = GPU_INPUT(1)), .fill = 2, AFFINE)
MOVES(mirror_pad, "MIRROR_PAD", 3, ONE_INPUT(.inputs = {2, 3}, .integer_inputs = GPU_INPUT(1)),
      GPU_PARAMS(TfLiteMirrorPaddingParams), AFFINE)
MOVES(tile, "TILE", 3, ONE_INPUT(.inputs = {2}, .integer_inputs = GPU_INPUT(1)), AFFINE)
MOVES(broadcast_to, "BROADCAST_TO", 4, ONE_INPUT(.inputs = {2}, .integer_inputs = GPU_INPUT(1)), AFFINE)
MOVES(reverse_v2, "REVERSE_V2", 4, ONE_INPUT(.inputs = {2}, .integer_inputs = GPU_INPUT(1)), AFFINE)
MOVES(split, "SPLIT", 5, ONE_INPUT(.inputs = {2}, .outputs = GPU_ANY_OUTPUTS, .integer_inputs = GPU_INPUT(0)),
      GPU_PARAMS(TfLiteSplitParams), AFFINE)
MOVES(split_v, "SPLIT_V", 3,
      ONE_INPUT(.inputs = {3}, .outputs = GPU_ANY_OUTPUTS, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2)),
      GPU_PARAMS(TfLiteSplitVParams), AFFINE)
MOVES(unpack, "UNPACK", 6, ONE_INPUT(.inputs = {1}, .outputs = GPU_ANY_OUTPUTS), GPU_PARAMS(TfLiteUnpackParams), AFFINE)
MOVES(space_to_depth, "SPACE_TO_DEPTH", 2, .operands = {.inputs = {1}}, GPU_PARAMS(TfLiteSpaceToDepthParams),
      GPU_KERNELS(&gpu_kernel_blocks_codes))
MOVES(depth_to_space, "DEPTH_TO_SPACE", 2, .operands = {.inputs = {1}}, GPU_PARAMS(TfLiteDepthToSpaceParams),
      GPU_KERNELS(&gpu_kernel_blocks_codes))
MOVES(pack, "PACK", 5, ONE_INPUT(.inputs = {1, GPU_NODE_INPUTS}), GPU_PARAMS(TfLitePackParams),
      .any_shape = GPU_ALL_INPUTS, GPU_KERNELS(GPU_CONCATENATION_CODES_KERNELS))

// ---- CONCATENATION ------------------------------------------------------------------------------

// All stored values of x as the output's, as the CPU computes them in floats.
static void fill_table(const struct gpu_quantization *x, const struct gpu_quantization *y, int8_t table[256])
{
    const float inverse = 1.0f / y->scale, scale = x->scale * inverse;
    const float bias = -(float)x->zero_point * scale, zero = (float)y->zero_point;
    for (int i = 0; i < 256; i++) {
        float value = roundf((float)i * scale + bias) + zero;
        table[(uint8_t)(i - 128)] = (int8_t)((value > 0 ? value < 255 ? (int)value : 255 : 0) - 128);
    }
}

static bool plan_concatenation(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_node moved = *node;
    const struct gpu_quantization *y = &node->outputs[0]->quantization;
    for (int i = 0; i < node->input_count && y->type == kTfLiteUInt8; i++) {
        const struct gpu_value *x = node->inputs[i];
        if (x->quantization.scale == y->scale && x->quantization.zero_point == y->zero_point) continue;
        int8_t table[256];
        fill_table(&x->quantization, y, table);
        struct gpu_value *scaled = gpu_plan_scratch_like(plan, x, x->shape);
        if (!scaled || !gpu_plan_lookup(plan, x, scaled, table)) return false;
        moved.inputs[i] = scaled;
    }
    return gpu_op_find(node->builtin, NULL)->plan(plan, &moved);
}

const struct gpu_op gpu_integer_concatenation = {
    GPU_INTEGER_OP("CONCATENATION", 7),
    ONE_INPUT(.inputs = {1, GPU_NODE_INPUTS}),
    .supported = supported,
    .plan = plan_concatenation,
    .any_shape = GPU_ALL_INPUTS,
    GPU_PARAMS_ACTIVATION(TfLiteConcatenationParams),
    GPU_KERNELS(GPU_CONCATENATION_CODES_KERNELS, &gpu_kernel_lookup),
};
