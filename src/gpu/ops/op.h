// SPDX-License-Identifier: Apache-2.0
// What operator files include: struct gpu_op, the plan that they fill, and checks for `supported`. A file exports
// `const struct gpu_op gpu_op_<symbol>` for each of its rows in ops.def; everything else in it is static.
#ifndef HALITE_GPU_OPS_OP_H
#define HALITE_GPU_OPS_OP_H

#include "gpu/graph/op.h"
#include "gpu/plan/plan.h"

// ---- reasons

// Fills in the reason. Always false, so that `return gpu_refuse(...)` reads well. input: the one at fault, -1: none.
bool gpu_refuse(const struct gpu_node_view *view, enum gpu_reason_code code, int input, const char *format, ...)
    HL_PRINTF(4, 5);

// ---- checks: each is true, or false with a reason

// Numbers of inputs and outputs, types, ranks, static shapes that kernels can count, constants that can be read.
bool gpu_check_operands(const struct gpu_node_view *view, const struct gpu_operands *operands);
// The limits of shapes, for one under which the operator sees tensor number `input` (-1: an output).
bool gpu_check_extent(const struct gpu_node_view *view, int input, struct gpu_shape shape);
// Input 0 and output 0 have the same dimensions.
bool gpu_check_same_dims(const struct gpu_node_view *view);
// No 8-bit tensor: for operators that work on stored codes, while the device has only real numbers. input -1: output 0.
bool gpu_check_no_codes(const struct gpu_node_view *view, int input);
bool gpu_check_activation(const struct gpu_node_view *view, TfLiteFusedActivation activation);
// The input is a constant with data.
bool gpu_check_constant(const struct gpu_node_view *view, int input);
// A constant list of int32 or int64 (axes, sizes, paddings) with `count` elements, -1: any number.
bool gpu_check_integers(const struct gpu_node_view *view, int input, int64_t count);
// A constant axis of a tensor of this rank, the only element of its input.
bool gpu_check_axis(const struct gpu_node_view *view, int input, int rank);

// ---- reading options and constants

// A custom operator's options as a struct of `size` bytes, with zeros for what the file does not have.
void gpu_custom_options(const struct gpu_node_view *view, void *options, size_t size);
// An element of a constant list, clamped to int: in `supported` from a tensor; in `plan` gpu_constant_int does it.
int gpu_integer_at(const TfLiteTensor *tensor, int64_t index);

// ---- gpu_op.macs
// Elements of the weights for each output channel.
int64_t gpu_macs_of_weights(const struct gpu_node_view *view);

#endif
