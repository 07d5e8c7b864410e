// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR over h and w, with align_corners or half_pixel_centers. The source
// position is (i + half) * scale - half, where scale is in / out, or (in - 1) / (out - 1) with aligned corners.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "resize",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"scale"}, // x, y: scales; z: added before scaling; w: added after it
    GPU_CONSTANTS({"BILINEAR", 1}),
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        float half_pixel = bits_to_float(P_scale.z);
        float more = bits_to_float(P_scale.w);
        float u = (to_float(p.x) + half_pixel) * bits_to_float(P_scale.x) + more;
        float v = (to_float(p.y) + half_pixel) * bits_to_float(P_scale.y) + more;
        if (BILINEAR == 0) {
            int i = min(max(to_int(floor(u)), 0), x_w - 1);
            int j = min(max(to_int(floor(v)), 0), x_h - 1);
            write_y(p, finish(read_x(mki4(i, j, p.z, p.w)), p));
        } else {
            GPU_SPLIT_POSITION
            int i0 = min(max(i, 0), x_w - 1);
            int i1 = min(max(i + 1, 0), x_w - 1);
            int j0 = min(max(j, 0), x_h - 1);
            int j1 = min(max(j + 1, 0), x_h - 1);
            acc4 s = to_acc4(read_x(mki4(i0, j0, p.z, p.w))) * ((1.0f - du) * (1.0f - dv));
            s += to_acc4(read_x(mki4(i1, j0, p.z, p.w))) * (du * (1.0f - dv));
            s += to_acc4(read_x(mki4(i0, j1, p.z, p.w))) * ((1.0f - du) * dv);
            s += to_acc4(read_x(mki4(i1, j1, p.z, p.w))) * (du * dv);
            write_y(p, finish(to_real4(s), p));
        }
    ),
};
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
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .params = {{gpu_float_bits(scale_of(in.w, out.w, align)), gpu_float_bits(scale_of(in.h, out.h, align)),
                    gpu_float_bits(half ? 0.5f : 0.0f), gpu_float_bits(more)}},
        .constants = {{"BILINEAR", bilinear}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, out);
    return gpu_plan_dispatch(plan, &desc);
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
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
