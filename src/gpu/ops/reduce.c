// SPDX-License-Identifier: Apache-2.0
// MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD over any axes, in float. One work-item for each slice of the result goes
// through what it stands for. Where the result's own shape (keep_dims false) is another one, a reshape follows.
#include "gpu/ops/op.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

enum function { SUM, MEAN, MAXIMUM, MINIMUM, PRODUCT };

// clang-format off: kernel bodies are formatted by hand, a statement a line
#define TAKE(I, LANE)                                        \
    if (left > I) {                                          \
        if (FUNCTION <= 1) one += v.LANE;                    \
        if (FUNCTION == 2) one = max(one, v.LANE);           \
        if (FUNCTION == 3) one = min(one, v.LANE);           \
        if (FUNCTION == 4) one *= v.LANE;                    \
    }
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

// P_over: 1 where the axis (x, y, c, b) is reduced.
static const struct gpu_kernel kernel = {
    .name = "reduce",
    .group = {8, 4, 4},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"over", "scale"},
    .constants = {{"FUNCTION", 0}, {"CHANNELS", 0}},
    .epilogue = true,
    .body = TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        float start = 0.0f;
        if (FUNCTION == 2) start = -3.4e38f;
        if (FUNCTION == 3) start = 3.4e38f;
        if (FUNCTION == 4) start = 1.0f;
        acc4 all = splatf4(start);
        float one = start;
        int x0 = pick(P_over.x == 1, 0, p.x);
        int x1 = pick(P_over.x == 1, x_w, p.x + 1);
        int y0 = pick(P_over.y == 1, 0, p.y);
        int y1 = pick(P_over.y == 1, x_h, p.y + 1);
        int b0 = pick(P_over.w == 1, 0, p.w);
        int b1 = pick(P_over.w == 1, x_b, p.w + 1);
        int s0 = pick(CHANNELS == 1, 0, p.z);
        int s1 = pick(CHANNELS == 1, x_s, p.z + 1);
        for (int n = b0; n < b1; n += 1) {
            for (int s = s0; s < s1; s += 1) {
                for (int j = y0; j < y1; j += 1) {
                    for (int i = x0; i < x1; i += 1) {
                        acc4 v = to_acc4(read_x(mki4(i, j, s, n)));
                        if (CHANNELS == 1) {
                            int left = x_c - s * 4;
                            TAKE(0, x)
                            TAKE(1, y)
                            TAKE(2, z)
                            TAKE(3, w)
                        } else {
                            if (FUNCTION <= 1) all += v;
                            if (FUNCTION == 2) all = max(all, v);
                            if (FUNCTION == 3) all = min(all, v);
                            if (FUNCTION == 4) all = all * v;
                        }
                    }
                }
            }
        }
        if (CHANNELS == 1) all = splatf4(one);
        all = all * bits_to_float(P_scale.x);
        write_y(p, finish(to_real4(all), p));
    ),
};
// clang-format on
static const struct gpu_kernel *const kernels[] = {&kernel, &gpu_kernel_reshape, NULL};

static bool supported(const struct gpu_node_view *view)
{
    return gpu_check_common(view, 2, 2, 1, 2) && gpu_check_constant(view, 1);
}

static enum function function_of(const struct gpu_node *node)
{
    switch (node->builtin) {
    case kTfLiteBuiltinMean: return MEAN;
    case kTfLiteBuiltinReduceMax: return MAXIMUM;
    case kTfLiteBuiltinReduceMin: return MINIMUM;
    case kTfLiteBuiltinReduceProd: return PRODUCT;
    default: return SUM;
    }
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_value *y = node->outputs[0], *result = y;
    bool over[4] = {false}; // b, h, w, c
    for (int64_t i = 0; i < gpu_elements(node->inputs[1]->shape); i++) {
        int axis = gpu_constant_int(node->inputs[1], (int)i);
        if (axis < 0) axis += x->rank;
        if (axis < 0 || axis >= x->rank) return gpu_plan_fail(plan, "axis %d of a tensor of rank %d", axis, x->rank);
        over[gpu_axis_of(x->rank, axis)] = true;
    }
    struct gpu_shape in = x->shape;
    struct gpu_shape kept = {over[0] ? 1 : in.b, over[1] ? 1 : in.h, over[2] ? 1 : in.w, over[3] ? 1 : in.c};
    bool direct = gpu_same_shape(kept, y->shape);
    if (!direct && !(result = gpu_plan_scratch(plan, kept))) return false;
    double count = (double)gpu_elements(in) / (double)gpu_elements(kept);
    enum function function = function_of(node);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = result}},
        .params = {{over[2], over[1], over[3], over[0]}, {gpu_float_bits(function == MEAN ? (float)(1 / count) : 1.0f)}},
        .constants = {{"FUNCTION", (int)function}, {"CHANNELS", over[3]}},
        .epilogue = direct ? &node->epilogue : NULL,
    };
    gpu_grid_over(&desc, kept);
    return gpu_plan_dispatch(plan, &desc) && (direct || gpu_plan_reshape(plan, result, y, &node->epilogue));
}

#define REDUCER(symbol, text, version)                                                                       \
    const struct gpu_op gpu_op_##symbol = {.name = text, .max_version = version, .supported = supported,     \
                                           .plan = plan, .epilogue = true,                                   \
                                           .params_size = sizeof(TfLiteReducerParams), .kernels = kernels};
REDUCER(mean, "MEAN", 3)
REDUCER(sum, "SUM", 2)
REDUCER(reduce_max, "REDUCE_MAX", 3)
REDUCER(reduce_min, "REDUCE_MIN", 3)
REDUCER(reduce_prod, "REDUCE_PROD", 2)
