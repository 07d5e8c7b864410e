// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D: x [b, h, w, i], weights [1, kh, kw, o], bias [o] or none. Output channel c reads input channel c /
// (o / i). There are two kernels. The first is for one output per input channel. Its window is a constant of the
// program. A work-item holds the weights in registers and slides the window down over BLOCK_Y outputs, so that it loads
// each row of x once. The second kernel takes everything else, with one output vector per work-item. For a dilated
// window of 3 x 3 it takes 8.4 us and the first 4.7 (H200). Weights: for each slice the bias and then kh * kw vectors.
#include "gpu/ops/separable.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel sliding = {
    .name = "depthwise_sliding",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    .params = {"pad"}, // left, top
    GPU_CONSTANTS({"KERNEL_W", 3}, {"KERNEL_H", 3}, {"STRIDE_W", 1}, {"STRIDE_H", 1}, {"BLOCK_Y", 1},
                  {"STEP_W", 1}, {"STEP_H", 1}), // STEP: the dilation
    .epilogue = true,
    .body = GPU_TEXT(
        int4 p = position();
        p.y = p.y * BLOCK_Y;
        if (outside_y(p)) return;
        int px = p.x * STRIDE_W - P_pad.x;
        int py = p.y * STRIDE_H - P_pad.y;
        int from = ((p.w * x_s + p.z) * x_h + py) * x_w + px;
        int k = p.z * (KERNEL_W * KERNEL_H + 1);
        acc4 taps[KERNEL_W * KERNEL_H];
        UNROLL for (int t = 0; t < KERNEL_W * KERNEL_H; t += 1) taps[t] = to_acc4(weights(k + 1 + t));
        acc4 bias = to_acc4(weights(k));
        acc4 sums[BLOCK_Y];
        UNROLL for (int i = 0; i < BLOCK_Y; i += 1) sums[i] = bias;
        UNROLL for (int n = 0; n < (BLOCK_Y - 1) * STRIDE_H + KERNEL_H; n += 1) {
            int row = n * STEP_H;
            bool row_inside = py + row >= 0 && py + row < x_h;
            UNROLL for (int tx = 0; tx < KERNEL_W; tx += 1) {
                int column = tx * STEP_W;
                acc4 v = splatf4(0.0f);
                if (row_inside && px + column >= 0 && px + column < x_w) v = to_acc4(load_x(from + row * x_w + column));
                UNROLL for (int i = 0; i < BLOCK_Y; i += 1) {
                    int ty = n - i * STRIDE_H;
                    int tap = max(min(ty, KERNEL_H - 1), 0) * KERNEL_W + tx;
                    if (ty >= 0 && ty < KERNEL_H) sums[i] = mad(v, taps[tap], sums[i]);
                }
            }
        }
        UNROLL for (int i = 0; i < BLOCK_Y; i += 1) {
            int4 q = mki4(p.x, p.y + i, p.z, p.w);
            if (q.y < y_h) write_y(q, finish(to_real4(sums[i]), q));
        }
    ),
};

static const struct gpu_kernel any = {
    .name = "depthwise",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "weights"}, {GPU_OUT, "y"}},
    .params = {"kernel", "step", "space"}, // w, h; stride w, h, pad left, top; dilation w, h, outputs per input channel
    .epilogue = true,
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        int times = P_space.z;
        int c = p.z * 4;
        int k = p.z * (P_kernel.x * P_kernel.y + 1);
        acc4 sum = to_acc4(weights(k));
        for (int ty = 0; ty < P_kernel.y; ty += 1) {
            int py = p.y * P_step.y - P_step.w + ty * P_space.y;
            if (py < 0 || py >= x_h) continue;
            for (int tx = 0; tx < P_kernel.x; tx += 1) {
                int px = p.x * P_step.x - P_step.z + tx * P_space.x;
                if (px < 0 || px >= x_w) continue;
                acc4 v = splatf4(0.0f);
                if (times == 1) {
                    v = to_acc4(read_x(mki4(px, py, p.z, p.w)));
                } else {
                    int last = x_c - 1;
                    int c0 = min(c / times, last);
                    int c1 = min((c + 1) / times, last);
                    int c2 = min((c + 2) / times, last);
                    int c3 = min((c + 3) / times, last);
                    v.x = to_float(lane(read_x(mki4(px, py, c0 / 4, p.w)), c0 % 4));
                    v.y = to_float(lane(read_x(mki4(px, py, c1 / 4, p.w)), c1 % 4));
                    v.z = to_float(lane(read_x(mki4(px, py, c2 / 4, p.w)), c2 % 4));
                    v.w = to_float(lane(read_x(mki4(px, py, c3 / 4, p.w)), c3 % 4));
                }
                sum = mad(v, to_acc4(weights(k + 1 + ty * P_kernel.x + tx)), sum);
            }
        }
        write_y(p, finish(to_real4(sum), p));
    ),
};
// clang-format on

// ---- nodes --------------------------------------------------------------------------------------

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteDepthwiseConvParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    const TfLiteTensor *x = gpu_view_input(view, 0), *weights = gpu_view_input(view, 1), *y = gpu_view_output(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (x->dims->size != 4 || weights->dims->size != 4 || y->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "input, weights and output have ranks %d, %d and %d, expected 4 each",
                          x->dims->size, weights->dims->size, y->dims->size);
    const int *k = weights->dims->data, *in = x->dims->data, *out = y->dims->data;
    if (k[0] != 1 || k[1] < 1 || k[2] < 1 || k[3] != out[3] || out[3] % in[3] != 0 || in[0] != out[0])
        return gpu_refuse(view, DELEGATE_SHAPE, 1,
                          "weights of %d x %d x %d x %d do not fit %d input and %d output channels", k[0], k[1], k[2],
                          k[3], in[3], out[3]);
    struct gpu_window window = {
        .kernel_w = k[2],
        .kernel_h = k[1],
        GPU_STRIDES_OF(params),
        .padding = params->padding,
    };
    return gpu_check_bias(view, 1, 2, out[3]) && gpu_check_window(view, &window);
}

struct gpu_depthwise gpu_depthwise_of(const struct gpu_node *node)
{
    const TfLiteDepthwiseConvParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_shape k = node->inputs[1]->shape;
    struct gpu_depthwise depthwise = {
        .x = x,
        .y = y,
        .weights = node->inputs[1],
        .bias = node->input_count > 2 ? node->inputs[2] : NULL,
        .kernel_w = k.w,
        .kernel_h = k.h,
        GPU_STRIDES_OF(params),
    };
    depthwise.pad_left = node->pad_left + gpu_pad_before(params->padding, x->shape.w, y->shape.w, k.w,
                                                         depthwise.stride_w, depthwise.dilation_w);
    depthwise.pad_top = node->pad_top + gpu_pad_before(params->padding, x->shape.h, y->shape.h, k.h, depthwise.stride_h,
                                                       depthwise.dilation_h);
    return depthwise;
}

void gpu_depthwise_pack(const struct gpu_depthwise *depthwise, int apart, float *to)
{
    int channels = depthwise->y->shape.c;
    size_t taps = (size_t)depthwise->kernel_w * (size_t)depthwise->kernel_h;
    const float *weights = depthwise->weights->data, *bias = depthwise->bias ? depthwise->bias->data : NULL;
    for (int c = 0; c < channels; c++) {
        float *lane = to + (size_t)(c / 4) * 4 * (size_t)apart + c % 4;
        if (bias) lane[0] = bias[c];
        for (size_t t = 0; t < taps; t++) lane[4 * (t + 1)] = weights[t * (size_t)channels + (size_t)c];
    }
}

// Returns an operand without value and weights after a failure, which it has reported. Weights that are computed while
// running are packed as streams of one slice with one input.
static struct gpu_operand pack(struct gpu_plan *plan, const struct gpu_depthwise *depthwise)
{
    struct gpu_shape k = depthwise->weights->shape;
    struct gpu_convolution conv = {
        .inputs = 1,
        .outputs = k.c,
        .kernel_w = k.w,
        .kernel_h = k.h,
        .by_output = 1,
        .by_h = (int64_t)k.w * k.c,
        .by_w = k.c,
    };
    gpu_set_weights(&conv, depthwise->weights, depthwise->bias, 0);
    if (conv.weights_value) return (struct gpu_operand){.value = gpu_plan_packed(plan, &conv, 1, 1, gpu_slices(k))};
    struct gpu_weights *packed = gpu_plan_weights(plan, (size_t)gpu_slices(k) * ((size_t)k.h * (size_t)k.w + 1));
    if (packed) gpu_depthwise_pack(depthwise, k.h * k.w + 1, packed->data);
    return (struct gpu_operand){.weights = packed};
}

// Returns the rows of a work-item: as many as leave enough work-items to fill the device. More rows would load a little
// less.
static int rows_for(const struct gpu_plan *plan, struct gpu_shape y, int kernel_h, int stride_h)
{
    int units = plan->caps->compute_units;
    int64_t outputs = gpu_in_first_batch(plan, (int64_t)y.w * y.h * gpu_slices(y) * y.b, y.b),
            enough = 256 * (units > 0 ? units : 16);
    if (kernel_h <= stride_h) return 1;
    return y.h >= 4 && outputs / 4 >= 2 * enough ? 4 : y.h >= 2 && outputs / 2 >= enough ? 2 : 1;
}

// Chooses a work-group of up to 64 work-items that fits the outputs. If there are few rows and columns, it covers
// several of the `layers`, which are slices of images.
static void choose_group(struct gpu_dispatch_desc *desc, int64_t layers)
{
    int x = desc->grid[0] <= 4 ? 4 : desc->grid[0] <= 8 ? 8 : desc->grid[0] % 14 == 0 || desc->grid[0] <= 14 ? 14 : 16;
    int y = 1, z = 1;
    while (y < desc->grid[1] && y < 8 && 2 * x * y <= 128) y *= 2;
    while (z < layers && 2 * x * y * z <= 64) z *= 2;
    desc->group[0] = x;
    desc->group[1] = y;
    desc->group[2] = z;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (gpu_separable_reader(plan, node)) return true; // that node's dispatch does it
    struct gpu_depthwise depthwise = gpu_depthwise_of(node);
    const struct gpu_value *x = depthwise.x, *y = depthwise.y;
    struct gpu_operand packed = pack(plan, &depthwise);
    if (!packed.value && !packed.weights) return false;

    struct gpu_dispatch_desc desc = {
        .operands = {{.value = x}, packed, {.value = y}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    int kernel_w = depthwise.kernel_w, kernel_h = depthwise.kernel_h;
    bool slides = kernel_w <= 5 && kernel_h <= 5 && depthwise.stride_w <= 2 && depthwise.stride_h <= 2;
    if (slides && x->shape.c == y->shape.c) {
        int rows = depthwise.dilation_h == 1 ? rows_for(plan, y->shape, kernel_h, depthwise.stride_h) : 1;
        desc.kernel = &sliding;
        desc.params[0][0] = depthwise.pad_left;
        desc.params[0][1] = depthwise.pad_top;
        struct gpu_setting constants[] = {{"KERNEL_W", kernel_w},
                                          {"KERNEL_H", kernel_h},
                                          {"STRIDE_W", depthwise.stride_w},
                                          {"STRIDE_H", depthwise.stride_h},
                                          {"STEP_W", depthwise.dilation_w},
                                          {"STEP_H", depthwise.dilation_h},
                                          {"BLOCK_Y", rows}};
        for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) desc.constants[i] = constants[i];
        desc.grid[1] = (y->shape.h + rows - 1) / rows;
    } else {
        int32_t values[3][4] = {{kernel_w, kernel_h},
                                {depthwise.stride_w, depthwise.stride_h, depthwise.pad_left, depthwise.pad_top},
                                {depthwise.dilation_w, depthwise.dilation_h, y->shape.c / x->shape.c}};
        desc.kernel = &any;
        for (int i = 0; i < 12; i++) desc.params[i / 4][i % 4] = values[i / 4][i % 4];
    }
    choose_group(&desc, gpu_in_first_batch(plan, desc.grid[2], y->shape.b));
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_depthwise_conv_2d = {
    .name = "DEPTHWISE_CONV_2D",
    .max_version = 7,
    GPU_PARAMS_ACTIVATION(TfLiteDepthwiseConvParams),
    GPU_OP_OF_WEIGHTS,
    .weighted.depthwise = true,
    GPU_KERNELS(&sliding, &any, &gpu_kernel_pack),
};
