// SPDX-License-Identifier: Apache-2.0
// What the operators that compute with integers share: checks for `supported`, ranges of codes, and tables. A code is
// an 8-bit element as a signed integer (lang/kernel.h); zero points and ranges here are those of codes.
#ifndef HALITE_GPU_INTEGER_INTEGER_H
#define HALITE_GPU_INTEGER_INTEGER_H

#include "base/rescale.h"
#include "gpu/ops/op.h"

// ---- checks

// Checks what the operator's kernels for floats check: shapes and options are the same.
bool gpu_check_like_floats(const struct gpu_node_view *view);
// Checks that an input (or, with -1, output 0) has 8 bits, a positive and finite scale, and a zero point that they
// hold.
bool gpu_check_codes(const struct gpu_node_view *view, int input);
// The same of input 0 and the output, which must have the same type.
bool gpu_check_unary_codes(const struct gpu_node_view *view);
// Checks input 0, constant weights (input 1) and the bias (input 2) of a sum of products. any_zero: signed weights may
// have a zero point.
bool gpu_check_integer_weights(const struct gpu_node_view *view, int outputs, bool any_zero);

// ---- arithmetic

struct gpu_code_range {
    int low, high;
};
// The codes that a fused activation allows: RELU, RELU_N1_TO_1 and RELU6 limit them, others do not.
struct gpu_code_range gpu_code_range(TfLiteFusedActivation activation, const struct gpu_quantization *q);

// ---- a table of 256 codes, by the code as an unsigned byte

extern const struct gpu_kernel gpu_kernel_lookup;
bool gpu_plan_lookup(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                     const int8_t table[256]);

// What all rows of ops.def state.
#define GPU_INTEGER_OP(text, version) .name = text, .max_version = version, .integers = true

#endif
