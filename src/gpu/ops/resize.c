// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR over h and w, with align_corners or half_pixel_centers. The source
// position is (i + half) * scale - half, where scale is in / out, or (in - 1) / (out - 1) with aligned corners. The
// last operator of a segmentation network writes the caller's memory itself.
#include <string.h>

#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// FIND declares where an element is in y (p), WRITE writes v there.
#define KERNEL(SYMBOL, NAME, OUT, FIND, WRITE)                                                          \
    static const struct gpu_kernel SYMBOL = {                                                           \
        .name = NAME,                                                                                   \
        .group = {32, 4, 1},                                                                            \
        .args = {{GPU_IN, "x"}, OUT},                                                                   \
        /* x, y: scales; z: added before scaling; w: added after it; size: of y */                      \
        .params = {"scale", "size"},                                                                    \
        GPU_CONSTANTS({"BILINEAR", 1}),                                                                 \
        .epilogue = true,                                                                               \
        .body = FIND BODY(WRITE)                                                                        \
    }
#define BODY(WRITE)                                                                                     \
    GPU_TEXT_OF(                                                                                        \
        float half_pixel = bits_to_float(P_scale.z);                                                    \
        float more = bits_to_float(P_scale.w);                                                          \
        float u = (to_float(p.x) + half_pixel) * bits_to_float(P_scale.x) + more;                       \
        float v = (to_float(p.y) + half_pixel) * bits_to_float(P_scale.y) + more;                       \
        acc4 s = splatf4(0.0f);                                                                         \
        if (BILINEAR == 0) {                                                                            \
            int i = min(max(to_int(floor(u)), 0), x_w - 1);                                             \
            int j = min(max(to_int(floor(v)), 0), x_h - 1);                                             \
            s = to_acc4(read_x(mki4(i, j, p.z, p.w)));                                                  \
        } else {                                                                                        \
            GPU_SPLIT_POSITION                                                                          \
            int i0 = min(max(i, 0), x_w - 1);                                                           \
            int i1 = min(max(i + 1, 0), x_w - 1);                                                       \
            int j0 = min(max(j, 0), x_h - 1);                                                           \
            int j1 = min(max(j + 1, 0), x_h - 1);                                                       \
            s = to_acc4(read_x(mki4(i0, j0, p.z, p.w))) * ((1.0f - du) * (1.0f - dv));                  \
            s += to_acc4(read_x(mki4(i1, j0, p.z, p.w))) * (du * (1.0f - dv));                          \
            s += to_acc4(read_x(mki4(i0, j1, p.z, p.w))) * ((1.0f - du) * dv);                          \
            s += to_acc4(read_x(mki4(i1, j1, p.z, p.w))) * (du * dv);                                   \
        }                                                                                               \
        real4 made = finish(to_real4(s), p);                                                            \
        WRITE                                                                                           \
    )
#define FIND_IN_VALUE GPU_TEXT( int4 p = position(); if (outside_y(p)) return; )
// The slices of a position are beside each other in the grid, and so its elements in memory: gpu/plan/kernels.c.
#define FIND_IN_DENSE                                                                                   \
    GPU_TEXT(                                                                                           \
        int column = GID0 / x_s;                                                                        \
        int4 p = mki4(column, GID1, GID0 - column * x_s, GID2);                                         \
        if (p.x >= P_size.x || p.y >= P_size.y || p.w >= x_b) return;                                   \
    )
#define WRITE_VALUE write_y(p, made);
#define WRITE_DENSE                                                                                     \
    int at = ((p.w * P_size.y + p.y) * P_size.x + p.x) * x_c + p.z * 4;                                 \
    int left = x_c - p.z * 4;                                                                           \
    raw[at] = to_float(made.x);                                                                         \
    if (left > 1) raw[at + 1] = to_float(made.y);                                                       \
    if (left > 2) raw[at + 2] = to_float(made.z);                                                       \
    if (left > 3) raw[at + 3] = to_float(made.w);
#define VALUE_OUT {GPU_OUT, "y"}
#define DENSE_OUT {GPU_RAW_OUT, "raw"}
KERNEL(to_value, "resize", VALUE_OUT, FIND_IN_VALUE, WRITE_VALUE);
KERNEL(to_dense, "resize_dense", DENSE_OUT, FIND_IN_DENSE, WRITE_DENSE);
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    if (gpu_view_input(view, 0)->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "the input must have rank 4");
    return true;
}

static float scale_of(int in, int out, bool align)
{
    return align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    bool bilinear = node->builtin == kTfLiteBuiltinResizeBilinear, align, half;
    if (bilinear) {
        const TfLiteResizeBilinearParams *params = node->params;
        align = params->align_corners;
        half = params->half_pixel_centers;
    } else {
        const TfLiteResizeNearestNeighborParams *params = node->params;
        align = params->align_corners;
        half = params->half_pixel_centers;
    }
    struct gpu_shape in = node->inputs[0]->shape, out = node->outputs[0]->shape;
    // Bilinear interpolation subtracts the half pixel again after scaling. Nearest rounds with aligned corners and
    // truncates otherwise.
    float more = bilinear ? (half ? -0.5f : 0.0f) : align ? 0.5f : 0.0f;
    const bool dense = !node->epilogue.residual && gpu_plan_may_write_dense(plan, node->outputs[0]);
    struct gpu_dispatch_desc desc = {
        .kernel = dense ? &to_dense : &to_value,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(scale_of(in.w, out.w, align)), gpu_float_bits(scale_of(in.h, out.h, align)),
                    gpu_float_bits(half ? 0.5f : 0.0f), gpu_float_bits(more)},
                   {out.w, out.h}},
        .constants = {{"BILINEAR", bilinear}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, out);
    if (dense) memcpy(desc.grid, (int[3]){out.w * gpu_slices(out), out.h, out.b}, sizeof desc.grid);
    return gpu_plan_dispatch(plan, &desc);
}

static const struct gpu_kernel *const kernels[] = {&to_value, &to_dense, NULL};
const struct gpu_op gpu_op_resize_bilinear = {
    .name = "RESIZE_BILINEAR",
    .max_version = 4,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1)},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteResizeBilinearParams),
    .epilogue = true,
    .bytes = GPU_BYTES_SAME,
    .rank_blind = true,
    .copies = gpu_always,
    .kernels = kernels,
};
const struct gpu_op gpu_op_resize_nearest_neighbor = {
    .name = "RESIZE_NEAREST_NEIGHBOR",
    .max_version = 4,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1)},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteResizeNearestNeighborParams),
    .epilogue = true,
    .bytes = GPU_BYTES_MOVED,
    .rank_blind = true,
    .copies = gpu_always,
    .kernels = kernels,
};
