// SPDX-License-Identifier: Apache-2.0
// MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_ANY, REDUCE_ALL over the axes that input 1 names. Reduced axes
// stay with length 1 or are removed. In the one kernel GROUP_X work-items compute an output vector, taking turns over
// the box of x that it reduces. If channels are reduced, each lane of the output vector is a reduction of its own,
// because without keep_dims the last remaining axis has become the channels.
#include "gpu/graph/convert.h"
#include "gpu/ops/dense_pair.h"
#include "tensorflow/lite/builtin_ops.h"

#define KINDS(X) X(SUM) X(MAXIMUM) X(MINIMUM) X(PRODUCT)
enum kind { KINDS(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "reduce",
    .group = {1, 64, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    // Sizes w, h, c, b. kept: of the axes that stay, 1 for the others; over: of the reduced axes, 1 for the others, with
    // c in slices; end: the number of elements of an output as a float, or 1 unless the mean is wanted.
    .params = {"kept", "over", "end"},
    GPU_CONSTANTS({"KIND", SUM}, {"CHANNELS", 0}), // CHANNELS: channels are reduced, too
    .value_names = {KINDS(GPU_VALUE_NAME)},
    .shared = {"float4 parts[GROUP_X * GROUP_Y]"},
    .epilogue = true,
    .body = GPU_TEXT(
        int outputs = y_b * y_s * y_h * y_w;
        int o = min(GROUP1 * GROUP_Y + LID1, outputs - 1);
        int row = o / y_w;
        int layer = row / y_h;
        int batch = layer / y_s;
        int4 p = mki4(o - row * y_w, row - layer * y_h, layer - batch * y_s, batch);
        int position = (p.w * y_h + p.y) * y_w + p.x;
        int count = P_over.x * P_over.y * P_over.z * P_over.w;
        float neutral = 0.0f;
        if (KIND == MAXIMUM) neutral = -3.402823466e38f;
        if (KIND == MINIMUM) neutral = 3.402823466e38f;
        if (KIND == PRODUCT) neutral = 1.0f;
        acc4 result = splatf4(neutral);
        UNROLL for (int l = 0; l < 1 + CHANNELS * 3; l += 1) {
            int n = position;
            if (CHANNELS == 1) n = min(position * y_c + p.z * 4 + l, y_b * y_h * y_w * y_c - 1);
            int up = n / P_kept.x;
            int kept_x = n - up * P_kept.x;
            int kept_b = up / P_kept.y;
            int kept_y = up - kept_b * P_kept.y;
            acc4 sum = splatf4(neutral);
            for (int i = LID0; i < count; i += GROUP_X) {
                int over_row = i / P_over.x;
                int over_layer = over_row / P_over.y;
                int over_batch = over_layer / P_over.z;
                int slice = p.z;
                if (CHANNELS == 1) slice = over_layer - over_batch * P_over.z;
                int from_x = kept_x + i - over_row * P_over.x;
                int from_y = kept_y + over_row - over_layer * P_over.y;
                acc4 v = to_acc4(read_x(mki4(from_x, from_y, slice, kept_b + over_batch)));
                if (CHANNELS == 1 && KIND != SUM) {
                    int left = x_c - slice * 4;
                    v.y = pick(left > 1, v.y, neutral);
                    v.z = pick(left > 2, v.z, neutral);
                    v.w = pick(left > 3, v.w, neutral);
                }
                if (KIND == SUM) sum += v;
                if (KIND == MAXIMUM) sum = at_least(sum, v);
                if (KIND == MINIMUM) sum = at_most(sum, v);
                if (KIND == PRODUCT) sum = sum * v;
            }
            if (CHANNELS == 0) {
                result = sum;
            } else {
                float one = sum.x + sum.y + sum.z + sum.w;
                if (KIND == MAXIMUM) one = max(max(sum.x, sum.y), max(sum.z, sum.w));
                if (KIND == MINIMUM) one = min(min(sum.x, sum.y), min(sum.z, sum.w));
                if (KIND == PRODUCT) one = sum.x * sum.y * sum.z * sum.w;
                if (l == 0) result.x = one;
                if (l == 1) result.y = one;
                if (l == 2) result.z = one;
                if (l == 3) result.w = one;
            }
        }
        if (GROUP_X > 1) {
            int lid = LID1 * GROUP_X + LID0;
            parts[lid] = result;
            BARRIER;
            UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2) {
                if (LID0 < apart) {
                    if (KIND == SUM) parts[lid] = parts[lid] + parts[lid + apart];
                    if (KIND == MAXIMUM) parts[lid] = at_least(parts[lid], parts[lid + apart]);
                    if (KIND == MINIMUM) parts[lid] = at_most(parts[lid], parts[lid + apart]);
                    if (KIND == PRODUCT) parts[lid] = parts[lid] * parts[lid + apart];
                }
                BARRIER;
            }
            result = parts[lid];
        }
        if (LID0 == 0 && GROUP1 * GROUP_Y + LID1 < outputs)
            write_y(p, finish(to_real4(result * (1.0f / bits_to_float(P_end.x))), p));
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_integers(view, 1, -1)) return false;
    const TfLiteTensor *x = gpu_view_input(view, 0), *axes = gpu_view_input(view, 1);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    int rank = x->dims->size;
    int64_t count = hl_elements(axes);
    // over: the reduced axes as bits; folded: those that the kernel sees as one.
    unsigned over = 0, folded = rank > 4 ? (1u << (rank - 3)) - 1 : 0;
    for (int64_t i = 0; i < count; i++) {
        int axis = gpu_integer_at(axes, i);
        if (axis < -rank || axis >= rank)
            return gpu_refuse(view, DELEGATE_PARAMETER, 1, "axis %d of a tensor of rank %d", axis, rank);
        over |= 1u << (axis < 0 ? axis + rank : axis);
    }
    if ((over & folded) != 0 && (over & folded) != folded)
        return gpu_refuse(view, DELEGATE_RANK, 1, "some of the axes before the last three, and not all of them");
    struct gpu_shape y;
    gpu_shape_of(gpu_view_output(view, 0)->dims, &y);
    int64_t vectors = (int64_t)y.b * y.h * y.w * gpu_slices(y);
    return vectors <= GPU_MAX_ROWS ||
           gpu_refuse(view, DELEGATE_SHAPE, -1, "the output has more than %d vectors of four", GPU_MAX_ROWS);
}

static bool truths_supported(const struct gpu_node_view *view)
{
    if (!supported(view)) return false;
    return gpu_view_input(view, 0)->type == kTfLiteBool || gpu_refuse(view, DELEGATE_TYPE, 0, "the input must be bool");
}

// Among zeros and ones, any is the maximum and all the minimum.
static enum kind kind_of(int builtin)
{
    switch (builtin) {
    case kTfLiteBuiltinReduceAny:
    case kTfLiteBuiltinReduceMax: return MAXIMUM;
    case kTfLiteBuiltinReduceAll:
    case kTfLiteBuiltinReduceMin: return MINIMUM;
    case kTfLiteBuiltinReduceProd: return PRODUCT;
    default: return SUM;
    }
}

// Returns the number of work-items that share an output: enough to fill the device, but no more than there are
// elements.
enum { MAX_SHARERS = 64 };
static int sharers(const struct gpu_plan *plan, int64_t outputs, int images, int count)
{
    int units = plan->caps->compute_units;
    int64_t enough = 256 * (int64_t)(units > 0 ? units : 16);
    outputs = gpu_in_first_batch(plan, outputs, images);
    int x = 1;
    while (x < MAX_SHARERS && 2 * x <= count && outputs * x < enough) x *= 2;
    return x;
}

// Reduces x over some of its axes. over: the sizes b, h, w, c of these, 1 for the others.
static bool reduce(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y, const int over[4],
                   bool channels, enum kind kind, float divisor, const struct gpu_epilogue *epilogue)
{
    struct gpu_shape s = x->shape;
    int kept[4] = {over[0] > 1 ? 1 : s.b, over[1] > 1 ? 1 : s.h, over[2] > 1 ? 1 : s.w, channels ? 1 : s.c};
    int64_t outputs = (int64_t)y->shape.b * y->shape.h * y->shape.w * gpu_slices(y->shape);
    int slices = channels ? gpu_slices(s) : 1;
    int share = sharers(plan, outputs, y->shape.b, over[0] * over[1] * over[2] * slices);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = y}},
        .params = {{kept[2], kept[1], kept[3], kept[0]},
                   {over[2], over[1], slices, over[0]},
                   {gpu_float_bits(divisor)}},
        .constants = {{"KIND", (int)kind}, {"CHANNELS", channels}},
        .group = {share, gpu_rows_per_group(plan->caps, share, outputs), 1},
        .grid = {share, (int)outputs, 1},
        .epilogue = epilogue,
    };
    return gpu_plan_dispatch(plan, &desc);
}

// Returns whether to reduce large images in two dispatches, columns first and then rows, because there are too few
// outputs to fill the device. The 26 means of the style transfer, of images up to 384 x 384, take 0.27 ms instead of
// 2.6 (H200).
static bool is_wide(const struct gpu_plan *plan, const struct gpu_value *x, const int over[4], bool channels)
{
    int64_t outputs = (int64_t)x->shape.b * gpu_slices(x->shape), positions = (int64_t)over[1] * over[2];
    return !channels && over[0] == 1 && over[1] > 1 && over[2] > 1 && positions >= 2048 &&
           sharers(plan, outputs, x->shape.b, 2 * MAX_SHARERS) == MAX_SHARERS;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (gpu_pair_takes(plan, node)) return true;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *axes = node->inputs[1];
    const int sizes[4] = {x->shape.b, x->shape.h, x->shape.w, x->shape.c};
    int over[4] = {1, 1, 1, 1};
    enum kind kind = kind_of(node->builtin);
    int64_t axis_count = gpu_elements(axes->shape);
    bool channels = false, mean = node->builtin == kTfLiteBuiltinMean;
    for (int i = 0; i < axis_count; i++) {
        int axis = gpu_constant_int(axes, i);
        int which = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
        over[which] = sizes[which];
        channels = channels || which == 3; // also a single channel: another axis takes its place
    }
    bool sum = kind == SUM && !mean;
    // The sums of columns would be rounded to halves, which one dispatch avoids.
    if (is_wide(plan, x, over, channels) && !(sum && plan->precision != GPU_F32)) {
        struct gpu_value *rows = gpu_plan_scratch(plan, (struct gpu_shape){sizes[0], sizes[1], 1, sizes[3]});
        float width = mean ? (float)over[2] : 1.0f, height = mean ? (float)over[1] : 1.0f;
        return rows && reduce(plan, x, rows, (int[4]){1, 1, over[2], 1}, false, kind, width, NULL) &&
               reduce(plan, rows, y, (int[4]){1, over[1], 1, 1}, false, kind, height, &node->epilogue);
    }
    float elements = (float)over[0] * (float)over[1] * (float)over[2] * (float)over[3];
    return reduce(plan, x, y, over, channels, kind, mean ? elements : 1.0f, &node->epilogue);
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
#define REDUCTION(symbol, text, version, bytes_, axes_)                                        \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                       \
                                           .max_version = version,                             \
                                           .operands = {.inputs = {2},                         \
                                                        .integer_inputs = GPU_INPUT(1),        \
                                                        .any_rank = true},                     \
                                           .supported = supported,                             \
                                           .plan = plan,                                       \
                                           GPU_PARAMS(TfLiteReducerParams),                    \
                                           .epilogue = true,                                   \
                                           .bytes = bytes_,                                    \
                                           .axes = axes_,                                      \
                                           .copies = gpu_always, /* along axes of one index */ \
                                           .kernels = kernels};
REDUCTION(mean, "MEAN", 3, GPU_BYTES_COMPUTED, GPU_AXES_REDUCED)
REDUCTION(sum, "SUM", 2, GPU_BYTES_COMPUTED, GPU_AXES_REDUCED)
REDUCTION(reduce_max, "REDUCE_MAX", 3, GPU_BYTES_MOVED, GPU_AXES_REDUCED)
REDUCTION(reduce_min, "REDUCE_MIN", 3, GPU_BYTES_MOVED, GPU_AXES_REDUCED)
REDUCTION(reduce_prod, "REDUCE_PROD", 2, GPU_BYTES_COMPUTED, GPU_AXES_FIXED)

#define TRUTH(symbol, text)                                                                            \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                               \
                                           .max_version = 1,                                           \
                                           .operands = {.inputs = {2},                                 \
                                                        .integer_inputs = GPU_INPUT(0) | GPU_INPUT(1), \
                                                        .integer_outputs = true,                       \
                                                        .any_rank = true},                             \
                                           .supported = truths_supported,                              \
                                           .plan = plan,                                               \
                                           GPU_PARAMS(TfLiteReducerParams),                            \
                                           .epilogue = true,                                           \
                                           .kernels = kernels};
TRUTH(reduce_any, "REDUCE_ANY")
TRUTH(reduce_all, "REDUCE_ALL")
