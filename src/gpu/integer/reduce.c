// SPDX-License-Identifier: Apache-2.0
// MEAN, REDUCE_MAX and REDUCE_MIN of 8-bit tensors. The work-items of a group share the elements of one output slice.
// The mean's division is part of the multiplier that leads to the output's scale.
#include <string.h>

#include "gpu/integer/integer.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

#define KINDS(X) X(SUM) X(MAXIMUM) X(MINIMUM)
enum kind { KINDS(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define TAKE(INTO, V) \
    if (KIND == SUM) INTO += V; \
    if (KIND == MAXIMUM) INTO = max(INTO, V); \
    if (KIND == MINIMUM) INTO = min(INTO, V);
#define TAKE_ALL(INTO, FROM) TAKE(INTO.x, FROM.x) TAKE(INTO.y, FROM.y) TAKE(INTO.z, FROM.z) TAKE(INTO.w, FROM.w)
#define TAKE_CHANNEL(NUMBER) \
    if (s * 4 + NUMBER < x_c) { TAKE(v.x, byte_of(four, NUMBER)) }
#define FINISH(LANE) \
    if (KIND == SUM) v.LANE = stored(rescale(v.LANE - P_from.x, P_from.y, P_from.z), P_from.w, -128, 127);

static const struct gpu_kernel kernel = {
    .name = "reduce_codes",
    .group = {32, 1, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    // over: how many positions along w, h, slices and b make an output; from: what the zero points add, multiplier,
    // shift, zero point
    .params = {"over", "from"},
    GPU_CONSTANTS({"KIND", SUM}, {"CHANNELS", 0}), // CHANNELS: they are reduced as well
    .value_names = {KINDS(GPU_VALUE_NAME)},
    .shared = {"int4 parts[GROUP_X]"},
    .integers = true,
    .body = GPU_TEXT_OF(
        int row = GROUP0 / y_w;
        int batch = GROUP1 / y_s;
        int4 p = mki4(GROUP0 - row * y_w, row, GROUP1 - batch * y_s, batch);
        int count = P_over.x * P_over.y * P_over.z * P_over.w;
        int4 v = splati4(pick(KIND == SUM, 0, pick(KIND == MAXIMUM, -128, 127)));
        for (int i = LID0; i < count; i += GROUP_X) {
            int r = i / P_over.x;
            int q = r / P_over.y;
            int s = p.z + q % P_over.z;
            int four = read_x(mki4(p.x + i - r * P_over.x, p.y + r - q * P_over.y, s, p.w + q / P_over.z));
            if (CHANNELS == 1) {
                TAKE_CHANNEL(0) TAKE_CHANNEL(1) TAKE_CHANNEL(2) TAKE_CHANNEL(3)
            } else {
                int4 u = mki4(byte_of(four, 0), byte_of(four, 1), byte_of(four, 2), four >> 24);
                TAKE_ALL(v, u)
            }
        }
        parts[LID0] = v;
        BARRIER;
        if (LID0 == 0) {
            for (int i = 1; i < GROUP_X; i += 1) {
                int4 u = parts[i];
                TAKE_ALL(v, u)
            }
            FINISH(x) FINISH(y) FINISH(z) FINISH(w)
            write_y(p, pack_bytes(v.x, v.y, v.z, v.w));
        }
    ),
};
// clang-format on

// Sums of more elements may have more than 32 bits.
enum { MAX_COUNT = 1 << 22 };

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view) || !gpu_check_unary_codes(view)) return false;
    int64_t in = hl_elements(gpu_view_input(view, 0)), out = hl_elements(gpu_view_output(view, 0));
    return in / out <= MAX_COUNT ||
           gpu_refuse(view, DELEGATE_SHAPE, 0, "exact integers: an output of %lld elements", (long long)(in / out));
}

static enum kind kind_of(int builtin)
{
    return builtin == kTfLiteBuiltinReduceMax ? MAXIMUM : builtin == kTfLiteBuiltinReduceMin ? MINIMUM : SUM;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *axes = node->inputs[1];
    struct gpu_value *y = node->outputs[0];
    struct gpu_shape whole = x->shape, kept = whole, over = {1, 1, 1, 1};
    for (int i = 0; i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i), which = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
        *gpu_along(&over, which) = *gpu_along(&whole, which);
        *gpu_along(&kept, which) = 1;
    }
    bool channels = kept.c == 1 && x->shape.c > 1;
    int64_t count = gpu_elements(over);
    struct hl_rescale rescale =
        hl_rescale_of_mean((double)x->quantization.scale / (double)y->quantization.scale, count > 0 ? count : 1);
    struct gpu_value *to = gpu_plan_target(plan, y, kept);
    if (!to) return false;
    int share = 1;
    while (share < 64 && share < count) share *= 2;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = to}},
        .views = {[1] = kept},
        .params = {{over.w, over.h, channels ? gpu_slices(x->shape) : 1, over.b},
                   {(int32_t)(gpu_code_zero(&x->quantization) * count), rescale.multiplier, rescale.shift,
                    gpu_code_zero(&y->quantization)}},
        .constants = {{"KIND", (int)kind_of(node->builtin)}, {"CHANNELS", channels}},
        .group = {share, 1, 1},
        .grid = {kept.w * kept.h * share, gpu_slices(kept) * kept.b, 1},
    };
    return gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, to, y, NULL);
}

#define REDUCTION(symbol, text, version)                                                                       \
    const struct gpu_op                                                                                        \
        gpu_integer_##symbol = {GPU_INTEGER_OP(text, version),                                                 \
                                .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1), .any_rank = true}, \
                                .supported = supported,                                                        \
                                .plan = plan,                                                                  \
                                GPU_PARAMS(TfLiteReducerParams),                                               \
                                GPU_KERNELS(&kernel, &gpu_kernel_reshape_codes)};
REDUCTION(mean, "MEAN", 3)
REDUCTION(reduce_max, "REDUCE_MAX", 3)
REDUCTION(reduce_min, "REDUCE_MIN", 3)
