// SPDX-License-Identifier: Apache-2.0
// Movement of elements along axes: every output element comes from one input element, whose position along each input
// axis is an output position times a stride, plus an offset. SLICE, TRANSPOSE, PAD, TILE and SPLIT are this.
#ifndef HALITE_GPU_OPS_AFFINE_H
#define HALITE_GPU_OPS_AFFINE_H

#include "gpu/ops/reshape.h"

// What an output element is where its input position lies outside the input.
//   NONE      that never happens
//   FILL      the output is `fill`
//   REFLECT   the input is mirrored at its edge, which is not repeated
//   SYMMETRIC the input is mirrored at its edge, which is repeated
//   WRAP      the input begins again
#define GPU_EDGES(X) X(GPU_EDGE_NONE) X(GPU_EDGE_FILL) X(GPU_EDGE_REFLECT) X(GPU_EDGE_SYMMETRIC) X(GPU_EDGE_WRAP)
enum gpu_affine_edge { GPU_EDGES(GPU_VALUE) };

struct gpu_affine {
    int from[4];   // for each input axis (b, h, w, c: 0 to 3) the output axis that gives its position
    int stride[4]; // for each input axis
    int offset[4]; // for each input axis
    enum gpu_affine_edge edge;
    float fill; // of codes: the code
};
// Returns the identity: from[i] = i, stride 1, offset 0.
struct gpu_affine gpu_affine_identity(void);

// Adds the dispatch that moves x to y. `node` is the node whose epilogue it applies, or NULL.
bool gpu_plan_affine(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, struct gpu_value *y,
                     const struct gpu_affine *affine);
// The same, with x and y seen in other shapes of the same number of elements.
bool gpu_plan_affine_as(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x,
                        struct gpu_shape x_shape, struct gpu_value *y, struct gpu_shape y_shape,
                        const struct gpu_affine *affine);

extern const struct gpu_kernel gpu_kernel_affine, gpu_kernel_affine_codes;
// The kernels of affine movement, for gpu_op.kernels: of floats, of codes.
#define GPU_AFFINE_KERNELS &gpu_kernel_affine, &gpu_kernel_reshape
#define GPU_AFFINE_CODES_KERNELS &gpu_kernel_affine_codes, &gpu_kernel_reshape_codes

#endif
