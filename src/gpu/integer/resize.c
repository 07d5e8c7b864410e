// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR of 8-bit tensors. Where each row and column comes from is a table,
// computed as the CPU does it. int8 is interpolated with weights in 1/1024, rounded half away from zero. uint8 is
// interpolated in floats on the CPU, plus a half, truncated: where all weights are multiples of 1/128, no float is
// rounded and integers give the same; other sizes are refused.
#include <math.h>
#include <stdlib.h>

#include "gpu/integer/integer.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define BLENDED(NUMBER) \
    int sum##NUMBER = ((byte_of(a, NUMBER) + P_blend.y) * (P_blend.x - row.z) + \
                       (byte_of(c, NUMBER) + P_blend.y) * row.z) * (P_blend.x - column.z) + \
                      ((byte_of(b, NUMBER) + P_blend.y) * (P_blend.x - row.z) + \
                       (byte_of(d, NUMBER) + P_blend.y) * row.z) * column.z; \
    int size##NUMBER = (pick(sum##NUMBER < 0, -sum##NUMBER, sum##NUMBER) + (1 << (P_blend.z - 1))) >> P_blend.z; \
    int code##NUMBER = pick(sum##NUMBER < 0, -size##NUMBER, size##NUMBER) - P_blend.y;

static const struct gpu_kernel kernel = {
    .name = "resize_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "from"}, {GPU_CODES_OUT, "y"}},
    .params = {"blend"}, // one as a weight, what is added to codes, bits of the product of two weights
    GPU_CONSTANTS({"BILINEAR", 0}),
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int4 column = from(p.x); // the first of two neighbors, the second, and the weight of the second
        int4 row = from(y_w + p.y);
        int a = read_x(mki4(column.x, row.x, p.z, p.w));
        if (BILINEAR == 0) {
            write_y(p, a);
        } else {
            int b = read_x(mki4(column.y, row.x, p.z, p.w));
            int c = read_x(mki4(column.x, row.y, p.z, p.w));
            int d = read_x(mki4(column.y, row.y, p.z, p.w));
            BLENDED(0) BLENDED(1) BLENDED(2) BLENDED(3)
            write_y(p, pack_bytes(code0, code1, code2, code3));
        }
    ),
};
// clang-format on

struct axis {
    int in, out;
    bool align, half;
};

static int clamped(int64_t index, int size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : (int)index;
}

static float scale_of(const struct axis *axis)
{
    bool align = axis->align && axis->out > 1;
    return align ? (float)(axis->in - 1) / (float)(axis->out - 1) : (float)axis->in / (float)axis->out;
}

static void sample_nearest(const struct axis *axis, int position, int32_t to[4])
{
    float at = ((float)position + (axis->half ? 0.5f : 0.0f)) * scale_of(axis);
    to[0] = clamped((int64_t)(axis->align ? roundf(at) : floorf(at)), axis->in);
}

static void sample_fixed(const struct axis *axis, int position, int32_t to[4])
{
    int64_t from = axis->in, steps = axis->out;
    if (axis->align && axis->out > 1) from--, steps--;
    int64_t scale = (1024 * from + steps / 2) / steps, at = position * scale;
    if (axis->half) at += scale / 2 - 512;
    to[0] = clamped(at / 1024, axis->in);
    to[1] = clamped((at + 1023) / 1024, axis->in);
    to[2] = (int32_t)(at - 1024 * (int64_t)to[0]);
}

// False where the weight is no multiple of 1/128.
static bool sample_float(const struct axis *axis, int position, int32_t to[4])
{
    float scale = scale_of(axis);
    float at = axis->half ? ((float)position + 0.5f) * scale - 0.5f : (float)position * scale;
    to[0] = clamped((int64_t)floorf(at), axis->in);
    to[1] = clamped((int64_t)ceilf(at), axis->in);
    float part = (at - (float)to[0]) * 128;
    to[2] = fabsf(part) <= 256 ? (int32_t)part : 256;
    return fabsf(part) <= 256 && part == (float)to[2];
}

static struct axis axis_of(int builtin, const void *options, int in, int out)
{
    if (builtin == kTfLiteBuiltinResizeBilinear) {
        const TfLiteResizeBilinearParams *params = options;
        return (struct axis){in, out, params->align_corners, params->half_pixel_centers};
    }
    const TfLiteResizeNearestNeighborParams *params = options;
    return (struct axis){in, out, params->align_corners, params->half_pixel_centers};
}

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view) || !gpu_check_unary_codes(view)) return false;
    const TfLiteTensor *x = gpu_view_input(view, 0), *y = gpu_view_output(view, 0);
    int builtin = view->registration->builtin_code;
    if (builtin != kTfLiteBuiltinResizeBilinear || x->type == kTfLiteInt8) return true;
    for (int d = 1; d < 3; d++) {
        struct axis axis = axis_of(builtin, view->node->builtin_data, x->dims->data[d], y->dims->data[d]);
        int32_t sample[4];
        for (int i = 0; i < axis.out; i++)
            if (!sample_float(&axis, i, sample))
                return gpu_refuse(view, DELEGATE_SHAPE, 0,
                                  "exact integers: from %d to %d positions, weights are no multiples of 1/128", axis.in,
                                  axis.out);
    }
    return true;
}

static void sample(const struct gpu_node *node, const struct axis *axis, int32_t *to)
{
    bool floats = node->inputs[0]->quantization.type == kTfLiteUInt8;
    for (int i = 0; i < axis->out; i++, to += 4) {
        if (node->builtin != kTfLiteBuiltinResizeBilinear)
            sample_nearest(axis, i, to);
        else if (floats)
            sample_float(axis, i, to);
        else
            sample_fixed(axis, i, to);
    }
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    bool floats = x->quantization.type == kTfLiteUInt8;
    struct axis columns = axis_of(node->builtin, node->params, x->shape.w, y->shape.w);
    struct axis rows = axis_of(node->builtin, node->params, x->shape.h, y->shape.h);
    struct gpu_weights *from = gpu_plan_integers(plan, (size_t)y->shape.w + (size_t)y->shape.h);
    if (!from) return false;
    sample(node, &columns, from->integers);
    sample(node, &rows, from->integers + 4 * (size_t)y->shape.w);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.weights = from}, {.value = y}},
        .params = {{floats ? 128 : 1024, floats ? 128 : 0, floats ? 14 : 20}},
        .constants = {{"BILINEAR", node->builtin == kTfLiteBuiltinResizeBilinear}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

#define RESIZE(symbol, text, type)                                                                           \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, 4),                                     \
                                                .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1)}, \
                                                .supported = supported,                                      \
                                                .plan = plan,                                                \
                                                GPU_PARAMS(type),                                            \
                                                GPU_KERNELS(&kernel)};
RESIZE(resize_bilinear, "RESIZE_BILINEAR", TfLiteResizeBilinearParams)
RESIZE(resize_nearest_neighbor, "RESIZE_NEAREST_NEIGHBOR", TfLiteResizeNearestNeighborParams)
