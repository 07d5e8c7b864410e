// SPDX-License-Identifier: Apache-2.0
// What the files of operators include: struct gpu_op, the plan that they fill, and checks for `supported`. A file
// exports `const struct gpu_op gpu_op_<symbol>` for each of its rows in ops.def; everything else in it is static.
#ifndef HALITE_GPU_OPS_OP_H
#define HALITE_GPU_OPS_OP_H

#include "gpu/graph/op.h"
#include "gpu/plan/plan.h"

// ---- reasons

// Fills in the reason and returns false, so that a check can end with `return gpu_refuse(...)`. `input` is the input at
// fault, or -1.
bool gpu_refuse(const struct gpu_node_view *view, enum delegate_reason_code code, int input, const char *format, ...)
    HL_PRINTF(4, 5);

// ---- checks: each returns true, or false after it has filled in the reason

// Checks numbers of inputs and outputs, types, ranks, that shapes are static and small enough to count, and that
// constants can be read.
bool gpu_check_operands(const struct gpu_node_view *view, const struct gpu_operands *operands);
// Checks the limits of a shape in which the operator sees tensor number `input` (-1: an output).
bool gpu_check_extent(const struct gpu_node_view *view, int input, struct gpu_shape shape);
// Checks that input 0 and output 0 have the same dimensions.
bool gpu_check_same_dims(const struct gpu_node_view *view);
// Checks that a tensor has no 8-bit type, for operators that work on stored codes: the device has real numbers only.
// input -1 means output 0.
bool gpu_check_no_codes(const struct gpu_node_view *view, int input);
bool gpu_check_activation(const struct gpu_node_view *view, TfLiteFusedActivation activation);
// Checks that the input is a constant with data.
bool gpu_check_constant(const struct gpu_node_view *view, int input);
// Checks that the input is a constant list of int32 or int64 (axes, sizes, paddings) with `count` elements, or with any
// number of them if count is -1.
bool gpu_check_integers(const struct gpu_node_view *view, int input, int64_t count);
// Checks that the input is a constant whose only element is an axis of a tensor of this rank.
bool gpu_check_axis(const struct gpu_node_view *view, int input, int rank);

// ---- reading options and constants

// Copies a custom operator's options to a struct of `size` bytes. What the file does not have becomes zeros.
void gpu_custom_options(const struct gpu_node_view *view, void *options, size_t size);
// Returns an element of a constant list, clamped to int. It is for `supported`, which sees tensors; `plan` uses
// gpu_constant_int.
int gpu_integer_at(const TfLiteTensor *tensor, int64_t index);

// ---- parts of kernel bodies

// v0 to v3, the four channels of an output slice, each made by the file's own LANE(number, name).
#define GPU_LANES LANE(0, v0) LANE(1, v1) LANE(2, v2) LANE(3, v3)
// The element (i, j) before the position (u, v), and the parts du and dv of an element that lie between them.
// clang-format off
#define GPU_SPLIT_POSITION \
    float du = floor(u); \
    float dv = floor(v); \
    int i = to_int(du); \
    int j = to_int(dv); \
    du = u - du; \
    dv = v - dv;
// Reflects position I into [0, N), without its border repeated.
#define GPU_REFLECT(I, N) \
    if (I < 0) I = 0 - I; \
    if (I >= N) I = 2 * N - 2 - I;
// clang-format on
// A body with macros in it.
#define GPU_TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

// ---- gpu_op.macs
// Returns the elements of the weights for each output channel.
int64_t gpu_macs_of_weights(const struct gpu_node_view *view);

#endif
