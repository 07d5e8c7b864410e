// SPDX-License-Identifier: Apache-2.0
// Movement where each output element comes from one input element, axis by axis: input place = output place along some
// axis, times a stride, plus an offset. Slices, transposes, paddings, tiles and splits are this.
#ifndef HALITE_GPU_OPS_AFFINE_H
#define HALITE_GPU_OPS_AFFINE_H

#include "gpu/ops/reshape.h"

// What happens where the input place lies outside of the input.
//   NONE      it never does
//   FILL      the output is `fill`
//   REFLECT   mirrored, the edge not repeated
//   SYMMETRIC mirrored, the edge repeated
//   WRAP      taken again from the start
#define GPU_EDGES(X) X(GPU_EDGE_NONE) X(GPU_EDGE_FILL) X(GPU_EDGE_REFLECT) X(GPU_EDGE_SYMMETRIC) X(GPU_EDGE_WRAP)
enum gpu_affine_edge { GPU_EDGES(GPU_VALUE) };

struct gpu_affine {
    int from[4];   // for each input axis (b, h, w, c: 0..3) the output axis that it follows
    int stride[4]; // by input axis
    int offset[4];
    enum gpu_affine_edge edge;
    float fill;
};
// The identity: from[i] = i, stride 1, offset 0.
struct gpu_affine gpu_affine_identity(void);

// node: whose epilogue it takes; NULL: none.
bool gpu_plan_affine(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, struct gpu_value *y,
                     const struct gpu_affine *affine);
// The same with x and y seen under other shapes of as many elements.
bool gpu_plan_affine_as(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x,
                        struct gpu_shape x_shape, struct gpu_value *y, struct gpu_shape y_shape,
                        const struct gpu_affine *affine);

extern const struct gpu_kernel gpu_kernel_affine;
// Those that affine movement uses, for the lists of operators.
#define GPU_AFFINE_KERNELS &gpu_kernel_affine, &gpu_kernel_reshape

#endif
