// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools, reductions, softmax and matrix products of the GPU against plain loops, each on every backend
// that has a device (software ones too), in every precision that the device has, with blocks as chosen for it and as
// for an H200.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/ops/convolve.h"
#include "tensorflow/lite/builtin_ops.h"

enum { MOST_INPUTS = 4 };

// One node and what it must compute.
struct test {
    const char *name;
    int builtin;
    const void *params;
    size_t params_size;
    int inputs;
    struct gpu_shape shapes[MOST_INPUTS];
    int ranks[MOST_INPUTS]; // 0: 4
    bool constant[MOST_INPUTS];
    float *data[MOST_INPUTS];
    struct gpu_shape output;
    int output_rank; // 0: 4
    float *expected;
    struct gpu_epilogue epilogue;
    int pad_top, pad_left;
    float scale; // of the sums: what one rounding of half precision may be
};

static unsigned seed = 1;
static float random_float(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int)(seed >> 8) / (float)(1 << 23) - 1.0f;
}

static float *random_floats(struct gpu_shape shape)
{
    int64_t count = gpu_elements(shape);
    float *data = malloc((size_t)count * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++) data[i] = random_float();
    return data;
}

static float *zeros(struct gpu_shape shape)
{
    float *data = calloc((size_t)gpu_elements(shape), sizeof *data);
    assert_non_null(data);
    return data;
}

static size_t at(struct gpu_shape s, int b, int h, int w, int c)
{
    return (((size_t)b * (size_t)s.h + (size_t)h) * (size_t)s.w + (size_t)w) * (size_t)s.c + (size_t)c;
}

// ---- running ------------------------------------------------------------------------------------

static struct gpu_graph *graph_of(const struct test *test)
{
    struct gpu_graph *graph = gpu_graph_create(NULL);
    struct gpu_node *node = graph ? gpu_graph_add_node(graph, test->builtin, -1) : NULL;
    assert_non_null(node);
    node->op = gpu_op_find(test->builtin, NULL);
    assert_non_null(node->op);
    assert_true(gpu_graph_set_params(node, test->params, test->params_size));
    for (int i = 0; i < test->inputs; i++) {
        if (!test->data[i]) {
            gpu_graph_connect_input(node, NULL);
            continue;
        }
        struct gpu_value *value = test->constant[i] ? gpu_graph_add_constant(graph, "constant", test->shapes[i])
                                                    : gpu_graph_add_value(graph, "input", test->shapes[i]);
        assert_non_null(value);
        value->rank = test->ranks[i] ? test->ranks[i] : 4;
        value->is_input = !test->constant[i];
        if (value->data) memcpy(value->data, test->data[i], (size_t)gpu_elements(value->shape) * sizeof(float));
        gpu_graph_connect_input(node, value);
    }
    struct gpu_value *output = gpu_graph_add_value(graph, "output", test->output);
    assert_non_null(output);
    output->is_output = true;
    output->rank = test->output_rank ? test->output_rank : 4;
    gpu_graph_connect_output(node, output);
    node->epilogue = test->epilogue;
    node->pad_top = test->pad_top;
    node->pad_left = test->pad_left;
    return graph;
}

static void compare(const struct test *test, const float *got, float tolerance, const char *where)
{
    int64_t count = gpu_elements(test->output);
    for (int64_t i = 0; i < count; i++) {
        float difference = fabsf(got[i] - test->expected[i]);
        if (difference <= tolerance * fmaxf(1.0f, fabsf(test->expected[i]))) continue;
        fail_msg("%s on %s: element %lld is %g, expected %g (allowed: %g)", test->name, where, (long long)i,
                 (double)got[i], (double)test->expected[i], (double)tolerance);
    }
}

static void run_once(const struct test *test, const struct gpu_backend *backend, struct gpu_device *device,
                     const struct gpu_caps *caps, enum gpu_precision precision, const char *as)
{
    static const char *const names[] = {"f32", "f16s", "f16"};
    char where[160];
    snprintf(where, sizeof where, "%s %s %s", backend->name, names[precision], as);
    struct gpu_graph *graph = graph_of(test);
    struct gpu_plan *plan = gpu_plan_create(graph, caps, precision);
    if (!plan) fail_msg("%s on %s: no plan", test->name, where);
    struct gpu_runner *runner = gpu_runner_create(plan, backend, device);
    if (!runner) fail_msg("%s on %s: no runner", test->name, where);
    const float *inputs[MOST_INPUTS];
    int count = 0;
    for (int i = 0; i < test->inputs; i++)
        if (test->data[i] && !test->constant[i]) inputs[count++] = test->data[i];
    float *got = zeros(test->output);
    for (int again = 0; again < 2; again++) {
        assert_true(gpu_runner_run(runner, inputs, &got));
        compare(test, got, precision == GPU_F32 ? 2e-5f : 4e-3f * fmaxf(1.0f, test->scale), where);
    }
    free(got);
    gpu_runner_destroy(runner);
    gpu_plan_destroy(plan);
    gpu_graph_destroy(graph);
}

static struct gpu_caps as_if_h200(const struct gpu_caps *caps)
{
    struct gpu_caps big = *caps;
    big.vendor = GPU_VENDOR_NVIDIA;
    big.compute_units = 132;
    return big;
}

static void run(struct test *test)
{
    struct gpu_device_list *list = malloc(sizeof *list);
    assert_non_null(list);
    gpu_devices_find(list);
    const struct gpu_backend *last = NULL;
    const char *only = getenv("HALITE_DEVICE");
    for (int d = 0; d < list->count; d++) {
        const struct gpu_device_info *info = &list->devices[d];
        if (info->backend == last || (only && *only && strncmp(info->text, only, strlen(only)) != 0)) continue;
        last = info->backend;
        struct gpu_device *device = info->backend->open(info->index, NULL);
        assert_non_null(device);
        const struct gpu_caps *caps = info->backend->caps(device);
        struct gpu_caps big = as_if_h200(caps);
        run_once(test, info->backend, device, caps, GPU_F32, "as it is");
        run_once(test, info->backend, device, &big, GPU_F32, "as an H200");
        if (caps->half_storage) run_once(test, info->backend, device, &big, GPU_F16S, "as an H200");
        if (caps->half_math) run_once(test, info->backend, device, &big, GPU_F16, "as an H200");
        info->backend->close(device);
    }
    if (!last) print_message("no device: %s was not run\n", test->name);
    free(list);
    for (int i = 0; i < test->inputs; i++) free(test->data[i]);
    free(test->expected);
}

// ---- convolution --------------------------------------------------------------------------------

struct window {
    int kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h;
    bool same;
    int pad_left, pad_top; // of a PAD in front
};

static int output_size(int in, int kernel, int stride, int dilation, bool same)
{
    return same ? (in + stride - 1) / stride : (in - (kernel - 1) * dilation - 1) / stride + 1;
}

static int total_padding(int in, int out, int kernel, int stride, int dilation)
{
    int total = (out - 1) * stride + (kernel - 1) * dilation + 1 - in;
    return total > 0 ? total : 0;
}

static void fill_expected(struct test *test, const struct window *w, int groups, bool depthwise)
{
    struct gpu_shape x = test->shapes[0], k = test->shapes[1], y = test->output;
    int left = w->same ? total_padding(x.w, y.w, w->kernel_w, w->stride_w, w->dilation_w) / 2 : w->pad_left;
    int top = w->same ? total_padding(x.h, y.h, w->kernel_h, w->stride_h, w->dilation_h) / 2 : w->pad_top;
    int group_out = y.c / groups;
    test->expected = zeros(y);
    for (int b = 0; b < y.b; b++)
        for (int oy = 0; oy < y.h; oy++)
            for (int ox = 0; ox < y.w; ox++)
                for (int o = 0; o < y.c; o++) {
                    double sum = test->data[2] ? test->data[2][o] : 0;
                    for (int ky = 0; ky < w->kernel_h; ky++)
                        for (int kx = 0; kx < w->kernel_w; kx++) {
                            int iy = oy * w->stride_h - top + ky * w->dilation_h,
                                ix = ox * w->stride_w - left + kx * w->dilation_w;
                            if (iy < 0 || ix < 0 || iy >= x.h || ix >= x.w) continue;
                            for (int i = 0; i < (depthwise ? 1 : k.c); i++) {
                                int c = depthwise ? o / (y.c / x.c) : o / group_out * k.c + i;
                                float weight = depthwise ? test->data[1][at(k, 0, ky, kx, o)]
                                                         : test->data[1][at(k, o, ky, kx, i)];
                                sum += (double)weight * (double)test->data[0][at(x, b, iy, ix, c)];
                            }
                        }
                    test->expected[at(y, b, oy, ox, o)] = (float)sum;
                }
}

static void apply_relu(struct test *test)
{
    test->epilogue.stages[0].op = GPU_EPI_RELU;
    test->epilogue.count = 1;
    for (int64_t i = 0; i < gpu_elements(test->output); i++)
        if (test->expected[i] < 0) test->expected[i] = 0;
}

static void convolve(struct gpu_shape x, int outputs, struct window w, int groups, bool bias)
{
    TfLiteConvParams params = {
        .padding = w.same ? kTfLitePaddingSame : kTfLitePaddingValid,
        .stride_width = w.stride_w,
        .stride_height = w.stride_h,
        .dilation_width_factor = w.dilation_w,
        .dilation_height_factor = w.dilation_h,
    };
    char name[160];
    snprintf(name, sizeof name, "CONV_2D %dx%dx%dx%d -> %d, %dx%d/%d,%d*%d,%d groups %d", x.b, x.h, x.w, x.c, outputs,
             w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w, groups);
    struct test test = {
        .name = name,
        .builtin = kTfLiteBuiltinConv2d,
        .params = &params,
        .params_size = sizeof params,
        .inputs = 3,
        .shapes = {x, {outputs, w.kernel_h, w.kernel_w, x.c / groups}, {1, 1, 1, outputs}},
        .constant = {false, true, true},
        .output = {x.b, output_size(x.h + w.pad_top, w.kernel_h, w.stride_h, w.dilation_h, w.same),
                   output_size(x.w + w.pad_left, w.kernel_w, w.stride_w, w.dilation_w, w.same), outputs},
        .pad_left = w.pad_left,
        .pad_top = w.pad_top,
        .scale = sqrtf((float)(w.kernel_h * w.kernel_w * x.c / groups)) / 4,
    };
    for (int i = 0; i < (bias ? 3 : 2); i++) test.data[i] = random_floats(test.shapes[i]);
    fill_expected(&test, &w, groups, false);
    if (bias) apply_relu(&test);
    run(&test);
}

static void test_conv_2d(void **state)
{
    (void)state;
    struct window point = {1, 1, 1, 1, 1, 1, true, 0, 0};
    convolve((struct gpu_shape){1, 14, 14, 64}, 96, point, 1, true);
    convolve((struct gpu_shape){1, 7, 7, 130}, 33, point, 1, false);
    convolve((struct gpu_shape){3, 5, 7, 17}, 21, point, 1, true);
    convolve((struct gpu_shape){1, 1, 1, 256}, 101, point, 1, true);
    convolve((struct gpu_shape){2, 9, 9, 8}, 12, (struct window){1, 1, 2, 2, 1, 1, true, 0, 0}, 1, true);
    convolve((struct gpu_shape){1, 1, 1, 1}, 1, point, 1, true);
    convolve((struct gpu_shape){1, 33, 31, 3}, 32, (struct window){3, 3, 2, 2, 1, 1, true, 0, 0}, 1, true);
    convolve((struct gpu_shape){1, 12, 13, 16}, 16, (struct window){3, 3, 1, 1, 1, 1, true, 0, 0}, 1, true);
    convolve((struct gpu_shape){1, 7, 7, 67}, 40, (struct window){3, 3, 1, 1, 1, 1, true, 0, 0}, 1, false);
    convolve((struct gpu_shape){2, 8, 9, 5}, 6, (struct window){5, 2, 1, 2, 1, 1, false, 0, 0}, 1, true);
    convolve((struct gpu_shape){1, 16, 15, 6}, 9, (struct window){3, 3, 1, 1, 2, 3, true, 0, 0}, 1, true);
    convolve((struct gpu_shape){1, 10, 10, 8}, 8, (struct window){3, 3, 2, 2, 1, 1, false, 1, 2}, 1, true);
    convolve((struct gpu_shape){1, 4, 4, 32}, 10, (struct window){4, 4, 1, 1, 1, 1, false, 0, 0}, 1, true);
}

static void test_grouped(void **state)
{
    (void)state;
    struct window three = {3, 3, 1, 1, 1, 1, true, 0, 0}, point = {1, 1, 1, 1, 1, 1, true, 0, 0};
    convolve((struct gpu_shape){1, 6, 7, 16}, 24, three, 2, true);
    convolve((struct gpu_shape){2, 6, 7, 12}, 18, point, 3, true);
    convolve((struct gpu_shape){1, 5, 5, 15}, 10, three, 5, false);
    convolve((struct gpu_shape){1, 5, 5, 7}, 14, three, 7, true);
    convolve((struct gpu_shape){1, 8, 8, 64}, 64, three, 8, true);
}

// ---- depthwise, transposed, fully connected -----------------------------------------------------

static void depthwise(struct gpu_shape x, int times, struct window w, bool bias)
{
    TfLiteDepthwiseConvParams params = {
        .padding = w.same ? kTfLitePaddingSame : kTfLitePaddingValid,
        .stride_width = w.stride_w,
        .stride_height = w.stride_h,
        .dilation_width_factor = w.dilation_w,
        .dilation_height_factor = w.dilation_h,
    };
    char name[160];
    snprintf(name, sizeof name, "DEPTHWISE_CONV_2D %dx%dx%dx%d * %d, %dx%d/%d,%d*%d,%d", x.b, x.h, x.w, x.c, times,
             w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w);
    struct test test = {
        .name = name,
        .builtin = kTfLiteBuiltinDepthwiseConv2d,
        .params = &params,
        .params_size = sizeof params,
        .inputs = 3,
        .shapes = {x, {1, w.kernel_h, w.kernel_w, x.c * times}, {1, 1, 1, x.c * times}},
        .constant = {false, true, true},
        .output = {x.b, output_size(x.h + w.pad_top, w.kernel_h, w.stride_h, w.dilation_h, w.same),
                   output_size(x.w + w.pad_left, w.kernel_w, w.stride_w, w.dilation_w, w.same), x.c * times},
        .pad_left = w.pad_left,
        .pad_top = w.pad_top,
    };
    for (int i = 0; i < (bias ? 3 : 2); i++) test.data[i] = random_floats(test.shapes[i]);
    fill_expected(&test, &w, 1, true);
    if (bias) apply_relu(&test);
    run(&test);
}

static void test_depthwise(void **state)
{
    (void)state;
    struct window s1 = {3, 3, 1, 1, 1, 1, true, 0, 0}, s2 = {3, 3, 2, 2, 1, 1, true, 0, 0};
    depthwise((struct gpu_shape){1, 14, 14, 32}, 1, s1, true);
    depthwise((struct gpu_shape){1, 112, 112, 32}, 1, s1, true);
    depthwise((struct gpu_shape){1, 113, 111, 24}, 1, s2, true);
    depthwise((struct gpu_shape){2, 7, 7, 33}, 1, s1, false);
    depthwise((struct gpu_shape){1, 15, 14, 6}, 1, s2, true);
    depthwise((struct gpu_shape){1, 9, 11, 10}, 1, (struct window){5, 5, 1, 1, 1, 1, true, 0, 0}, true);
    depthwise((struct gpu_shape){1, 9, 11, 10}, 1, (struct window){5, 3, 2, 1, 1, 1, false, 0, 0}, true);
    depthwise((struct gpu_shape){1, 9, 11, 10}, 1, (struct window){3, 3, 2, 2, 1, 1, false, 1, 1}, true);
    depthwise((struct gpu_shape){1, 12, 12, 8}, 1, (struct window){3, 3, 1, 1, 2, 2, true, 0, 0}, true);
    depthwise((struct gpu_shape){1, 12, 12, 8}, 1, (struct window){7, 7, 1, 1, 1, 1, true, 0, 0}, true);
    depthwise((struct gpu_shape){1, 6, 6, 1}, 8, s1, true);
    depthwise((struct gpu_shape){2, 6, 6, 5}, 3, s2, true);
    depthwise((struct gpu_shape){1, 1, 1, 4}, 1, s1, true);
}

static void transposed(struct gpu_shape x, int outputs, int kernel_h, int kernel_w, int stride_h, int stride_w,
                       bool same, struct gpu_shape y)
{
    TfLiteTransposeConvParams params = {.padding = same ? kTfLitePaddingSame : kTfLitePaddingValid,
                                        .stride_width = stride_w,
                                        .stride_height = stride_h};
    char name[160];
    snprintf(name, sizeof name, "TRANSPOSE_CONV %dx%dx%dx%d -> %dx%dx%d, %dx%d/%d,%d", x.b, x.h, x.w, x.c, y.h, y.w,
             outputs, kernel_h, kernel_w, stride_h, stride_w);
    y.b = x.b;
    y.c = outputs;
    float *shape = zeros((struct gpu_shape){1, 1, 1, 4}), *bias = random_floats((struct gpu_shape){1, 1, 1, outputs});
    struct gpu_shape k = {outputs, kernel_h, kernel_w, x.c};
    shape[0] = (float)y.b, shape[1] = (float)y.h, shape[2] = (float)y.w, shape[3] = (float)y.c;
    struct test test = {.name = name,
                        .builtin = kTfLiteBuiltinTransposeConv,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 4,
                        .shapes = {{1, 1, 1, 4}, k, x, {1, 1, 1, outputs}},
                        .constant = {true, true, false, true},
                        .data = {shape, random_floats(k), random_floats(x), bias},
                        .output = y,
                        .expected = zeros(y)};
    int left = same ? total_padding(y.w, x.w, kernel_w, stride_w, 1) / 2 : 0;
    int top = same ? total_padding(y.h, x.h, kernel_h, stride_h, 1) / 2 : 0;
    for (int b = 0; b < x.b; b++) {
        for (int oy = 0; oy < y.h; oy++)
            for (int ox = 0; ox < y.w; ox++)
                for (int o = 0; o < y.c; o++) test.expected[at(y, b, oy, ox, o)] = bias[o];
        for (int n = 0; n < x.h * x.w * kernel_h * kernel_w; n++) {
            int kx = n % kernel_w, ky = n / kernel_w % kernel_h, ix = n / kernel_w / kernel_h % x.w,
                iy = n / kernel_w / kernel_h / x.w;
            int ox = ix * stride_w - left + kx, oy = iy * stride_h - top + ky;
            if (ox < 0 || oy < 0 || ox >= y.w || oy >= y.h) continue;
            for (int o = 0; o < y.c; o++)
                for (int i = 0; i < x.c; i++)
                    test.expected[at(y, b, oy, ox, o)] +=
                        test.data[1][at(k, o, ky, kx, i)] * test.data[2][at(x, b, iy, ix, i)];
        }
    }
    run(&test);
}

static void test_transposed(void **state)
{
    (void)state;
    transposed((struct gpu_shape){1, 5, 6, 8}, 12, 3, 3, 2, 2, true, (struct gpu_shape){1, 10, 12, 1});
    transposed((struct gpu_shape){2, 5, 6, 7}, 5, 4, 4, 2, 2, true, (struct gpu_shape){1, 10, 12, 1});
    transposed((struct gpu_shape){1, 4, 5, 16}, 3, 2, 2, 2, 2, false, (struct gpu_shape){1, 8, 10, 1});
    transposed((struct gpu_shape){1, 4, 5, 6}, 9, 3, 2, 1, 3, false, (struct gpu_shape){1, 6, 14, 1});
    transposed((struct gpu_shape){1, 4, 5, 6}, 4, 1, 1, 2, 3, true, (struct gpu_shape){1, 8, 14, 1});
    transposed((struct gpu_shape){1, 4, 5, 6}, 4, 5, 5, 3, 2, true, (struct gpu_shape){1, 11, 9, 1});
    transposed((struct gpu_shape){1, 7, 7, 6}, 4, 3, 3, 1, 1, true, (struct gpu_shape){1, 7, 7, 1});
}

static void connect(struct gpu_shape x, int rows, int outputs, struct gpu_shape y)
{
    TfLiteFullyConnectedParams params = {.keep_num_dims = false};
    int inputs = (int)(gpu_elements(x) / rows);
    char name[160];
    snprintf(name, sizeof name, "FULLY_CONNECTED %dx%dx%dx%d as %d rows -> %d", x.b, x.h, x.w, x.c, rows, outputs);
    struct gpu_shape k = {outputs, 1, 1, inputs}, bias = {1, 1, 1, outputs};
    struct test test = {.name = name,
                        .builtin = kTfLiteBuiltinFullyConnected,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 3,
                        .shapes = {x, k, bias},
                        .constant = {false, true, true},
                        .data = {random_floats(x), random_floats(k), random_floats(bias)},
                        .output = y,
                        .expected = zeros(y),
                        .scale = sqrtf((float)inputs) / 4};
    for (int row = 0; row < rows; row++)
        for (int o = 0; o < outputs; o++) {
            double sum = test.data[2][o];
            for (int i = 0; i < inputs; i++)
                sum += (double)test.data[0][(size_t)row * (size_t)inputs + (size_t)i] *
                       (double)test.data[1][(size_t)o * (size_t)inputs + (size_t)i];
            test.expected[row * outputs + o] = (float)sum;
        }
    apply_relu(&test);
    run(&test);
}

static void test_fully_connected(void **state)
{
    (void)state;
    connect((struct gpu_shape){1, 1, 1, 1024}, 1, 1001, (struct gpu_shape){1, 1, 1, 1001});
    connect((struct gpu_shape){5, 1, 1, 33}, 5, 7, (struct gpu_shape){5, 1, 1, 7});
    connect((struct gpu_shape){2, 3, 4, 6}, 2, 10, (struct gpu_shape){2, 1, 1, 10});
    connect((struct gpu_shape){2, 3, 4, 6}, 24, 10, (struct gpu_shape){2, 3, 4, 10});
    connect((struct gpu_shape){2, 3, 4, 6}, 24, 10, (struct gpu_shape){24, 1, 1, 10});
    connect((struct gpu_shape){2, 3, 4, 6}, 8, 10, (struct gpu_shape){8, 1, 1, 10});
    connect((struct gpu_shape){1, 1, 1, 1}, 1, 1, (struct gpu_shape){1, 1, 1, 1});
}

// ---- pools, reductions, softmax -----------------------------------------------------------------

static void pool(struct gpu_shape x, struct window w, bool maximum)
{
    TfLitePoolParams params = {.padding = w.same ? kTfLitePaddingSame : kTfLitePaddingValid,
                               .stride_width = w.stride_w,
                               .stride_height = w.stride_h,
                               .filter_width = w.kernel_w,
                               .filter_height = w.kernel_h};
    struct gpu_shape y = {x.b, output_size(x.h, w.kernel_h, w.stride_h, 1, w.same),
                          output_size(x.w, w.kernel_w, w.stride_w, 1, w.same), x.c};
    struct test test = {.name = maximum ? "MAX_POOL_2D" : "AVERAGE_POOL_2D",
                        .builtin = maximum ? kTfLiteBuiltinMaxPool2d : kTfLiteBuiltinAveragePool2d,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 1,
                        .shapes = {x},
                        .data = {random_floats(x)},
                        .output = y,
                        .expected = zeros(y)};
    int left = w.same ? total_padding(x.w, y.w, w.kernel_w, w.stride_w, 1) / 2 : 0;
    int top = w.same ? total_padding(x.h, y.h, w.kernel_h, w.stride_h, 1) / 2 : 0;
    for (int64_t n = 0; n < gpu_elements(y); n++) {
        int c = (int)(n % y.c), ox = (int)(n / y.c % y.w), oy = (int)(n / y.c / y.w % y.h),
            b = (int)(n / y.c / y.w / y.h);
        float sum = 0, most = -FLT_MAX;
        int count = 0;
        for (int k = 0; k < w.kernel_w * w.kernel_h; k++) {
            int ix = ox * w.stride_w - left + k % w.kernel_w, iy = oy * w.stride_h - top + k / w.kernel_w;
            if (ix < 0 || iy < 0 || ix >= x.w || iy >= x.h) continue;
            float v = test.data[0][at(x, b, iy, ix, c)];
            sum += v;
            most = fmaxf(most, v);
            count++;
        }
        test.expected[n] = maximum ? most : sum / (float)count;
    }
    run(&test);
}

static void test_pools(void **state)
{
    (void)state;
    for (int maximum = 0; maximum < 2; maximum++) {
        pool((struct gpu_shape){1, 7, 7, 130}, (struct window){7, 7, 1, 1, 1, 1, false, 0, 0}, maximum);
        pool((struct gpu_shape){2, 9, 8, 5}, (struct window){3, 3, 2, 2, 1, 1, true, 0, 0}, maximum);
        pool((struct gpu_shape){2, 9, 8, 5}, (struct window){7, 6, 1, 2, 1, 1, true, 0, 0}, maximum);
        pool((struct gpu_shape){1, 20, 20, 3}, (struct window){2, 3, 2, 3, 1, 1, false, 0, 0}, maximum);
    }
}

// axes: a bit for each of b, h, w, c. keep: the output is [b, h, w, c] with ones, else what is left of it.
static void reduce(struct gpu_shape x, int axes, bool keep, int builtin)
{
    int sizes[4] = {x.b, x.h, x.w, x.c}, left[4] = {1, 1, 1, 1}, kept[4], count = 0, rank = 0, dims[4] = {0};
    float *list = zeros((struct gpu_shape){1, 1, 1, 4});
    for (int i = 0; i < 4; i++) {
        kept[i] = axes >> i & 1 ? 1 : sizes[i];
        if (axes >> i & 1)
            list[count++] = (float)(i - (i == 2 ? 4 : 0));
        else
            dims[rank++] = sizes[i];
    }
    struct gpu_shape y = {kept[0], kept[1], kept[2], kept[3]};
    if (!keep) {
        struct {
            int size, data[4];
        } array = {rank, {dims[0], dims[1], dims[2], dims[3]}};
        TfLiteIntArray *shape = malloc(sizeof array);
        assert_non_null(shape);
        memcpy(shape, &array, sizeof array);
        assert_true(gpu_shape_of(shape, &y));
        free(shape);
    }
    TfLiteReducerParams params = {.keep_dims = keep};
    char name[160];
    snprintf(name, sizeof name, "reduction %d of axes %d, keep_dims %d", builtin, axes, keep);
    struct test test = {.name = name,
                        .builtin = builtin,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 2,
                        .shapes = {x, {1, 1, 1, count}},
                        .ranks = {4, 1},
                        .constant = {false, true},
                        .data = {random_floats(x), list},
                        .output = y,
                        .expected = zeros(y)};
    bool product = builtin == kTfLiteBuiltinReduceProd, most = builtin == kTfLiteBuiltinReduceMax,
         least = builtin == kTfLiteBuiltinReduceMin;
    if (product)
        for (int64_t i = 0; i < gpu_elements(x); i++) test.data[0][i] = 1.0f + test.data[0][i] / 16;
    for (int64_t i = 0; i < gpu_elements(y); i++)
        test.expected[i] = product ? 1 : most ? -FLT_MAX : least ? FLT_MAX : 0;
    for (int i = 0; i < 4; i++) left[i] = kept[i];
    for (int64_t n = 0; n < gpu_elements(x); n++) {
        int c = (int)(n % x.c), w = (int)(n / x.c % x.w), h = (int)(n / x.c / x.w % x.h),
            b = (int)(n / x.c / x.w / x.h);
        int to = ((b % left[0] * left[1] + h % left[1]) * left[2] + w % left[2]) * left[3] + c % left[3];
        float v = test.data[0][n], *e = &test.expected[to];
        *e = product ? *e * v : most ? fmaxf(*e, v) : least ? fminf(*e, v) : *e + v;
    }
    if (builtin == kTfLiteBuiltinMean)
        for (int64_t i = 0; i < gpu_elements(y); i++)
            test.expected[i] *= (float)gpu_elements(y) / (float)gpu_elements(x);
    run(&test);
}

static void test_reductions(void **state)
{
    (void)state;
    static const int builtins[] = {kTfLiteBuiltinMean, kTfLiteBuiltinSum, kTfLiteBuiltinReduceMax,
                                   kTfLiteBuiltinReduceMin, kTfLiteBuiltinReduceProd};
    for (int i = 0; i < 5; i++)
        for (int axes = 1 + i; axes < 16; axes += i == 0 ? 1 : 4) {
            reduce((struct gpu_shape){2, 5, 3, 7}, axes, true, builtins[i]);
            reduce((struct gpu_shape){2, 5, 3, 7}, axes, false, builtins[i]);
        }
    reduce((struct gpu_shape){1, 7, 7, 320}, 6, true, kTfLiteBuiltinMean);
    reduce((struct gpu_shape){1, 40, 3, 5}, 15, false, kTfLiteBuiltinReduceMax);
}

static void softmax(struct gpu_shape x, float beta, float spread)
{
    TfLiteSoftmaxParams params = {beta};
    char name[160];
    snprintf(name, sizeof name, "SOFTMAX %dx%dx%dx%d beta %g", x.b, x.h, x.w, x.c, (double)beta);
    struct test test = {.name = name,
                        .builtin = kTfLiteBuiltinSoftmax,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 1,
                        .shapes = {x},
                        .data = {random_floats(x)},
                        .output = x,
                        .expected = zeros(x),
                        .scale = 4};
    for (int64_t i = 0; i < gpu_elements(x); i++) test.data[0][i] *= spread;
    for (int64_t row = 0; row < gpu_elements(x) / x.c; row++) {
        const float *in = test.data[0] + row * x.c;
        double most = -FLT_MAX, sum = 0;
        for (int c = 0; c < x.c; c++) most = fmax(most, (double)in[c] * (double)beta);
        for (int c = 0; c < x.c; c++) sum += exp((double)in[c] * (double)beta - most);
        for (int c = 0; c < x.c; c++)
            test.expected[row * x.c + c] = (float)(exp((double)in[c] * (double)beta - most) / sum);
    }
    run(&test);
}

static void test_softmax(void **state)
{
    (void)state;
    softmax((struct gpu_shape){1, 1, 1, 1001}, 1, 5);
    softmax((struct gpu_shape){2, 3, 5, 6}, 0.5f, 20);
    softmax((struct gpu_shape){3, 1, 1, 37}, -2, 3);
    softmax((struct gpu_shape){1, 16, 16, 2}, 1, 100);
    softmax((struct gpu_shape){1, 1, 1, 1}, 1, 1);
}

// Ranks 2 to 4: a and b are [rank - 2 batch dims..., rows, columns] in the [b, h, w, c] of that rank.
static struct gpu_shape matrix(int rank, int b, int h, int rows, int columns)
{
    return rank == 2 ? (struct gpu_shape){rows, 1, 1, columns} : (struct gpu_shape){b, h, rows, columns};
}

static void multiply(int rank, int b, int h, bool one_b, int m, int k, int n, bool adj_x, bool adj_y, bool constant)
{
    TfLiteBatchMatMulParams params = {.adj_x = adj_x, .adj_y = adj_y};
    char name[160];
    snprintf(name, sizeof name, "BATCH_MATMUL rank %d %dx%d %dx%dx%d adj %d %d constant %d", rank, b, h, m, k, n,
             adj_x, adj_y, constant);
    struct gpu_shape left = matrix(rank, b, h, adj_x ? k : m, adj_x ? m : k), y = matrix(rank, b, h, m, n);
    struct gpu_shape right = matrix(rank, one_b ? 1 : b, one_b ? 1 : h, adj_y ? n : k, adj_y ? k : n);
    struct test test = {.name = name,
                        .builtin = kTfLiteBuiltinBatchMatmul,
                        .params = &params,
                        .params_size = sizeof params,
                        .inputs = 2,
                        .shapes = {left, right},
                        .ranks = {rank, rank},
                        .constant = {false, constant},
                        .data = {random_floats(left), random_floats(right)},
                        .output = y,
                        .output_rank = rank,
                        .expected = zeros(y),
                        .scale = sqrtf((float)k) / 4};
    for (int batch = 0; batch < b * h; batch++)
        for (int r = 0; r < m; r++)
            for (int c = 0; c < n; c++) {
                double sum = 0;
                for (int i = 0; i < k; i++) {
                    const float *p = test.data[0] + (size_t)batch * (size_t)(m * k);
                    const float *q = test.data[1] + (one_b ? 0 : (size_t)batch * (size_t)(n * k));
                    sum +=
                        (double)(adj_x ? p[i * m + r] : p[r * k + i]) * (double)(adj_y ? q[c * k + i] : q[i * n + c]);
                }
                test.expected[(batch * m + r) * n + c] = (float)sum;
            }
    run(&test);
}

static void test_matmul(void **state)
{
    (void)state;
    for (int adj = 0; adj < 4; adj++) {
        multiply(4, 2, 3, false, 9, 7, 6, adj & 1, adj >> 1, false);
        multiply(4, 2, 3, true, 5, 8, 5, adj & 1, adj >> 1, false);
        multiply(3, 3, 1, false, 6, 5, 13, adj & 1, adj >> 1, false);
        multiply(2, 1, 1, false, 6, 5, 7, adj & 1, adj >> 1, false);
        multiply(3, 2, 1, true, 6, 5, 13, adj & 1, adj >> 1, true);
        multiply(2, 1, 1, false, 6, 9, 7, adj & 1, adj >> 1, true);
    }
}

// Every block computes the same; here only that it can run and wastes no device.
static void test_blocks(void **state)
{
    (void)state;
    struct gpu_caps caps = {.vendor = GPU_VENDOR_NVIDIA,
                            .compute_units = 132,
                            .max_group_size = 1024,
                            .shared_bytes = 49152,
                            .max_group = {1024, 1024, 64}};
    static const struct {
        int places, slices, terms;
    } shapes[] = {{12544, 8, 9},   {12544, 16, 8},  {3136, 32, 16}, {3136, 32, 32},  {784, 64, 32}, {784, 64, 64},
                  {196, 128, 64},  {196, 128, 128}, {49, 256, 128}, {49, 256, 256},  {1, 251, 256}, {802816, 16, 8},
                  {3136, 16, 144}, {784, 32, 288},  {196, 64, 576}, {49, 128, 1152}, {1, 1, 1},     {7, 3, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct gpu_conv_block block =
            gpu_choose_block(&caps, shapes[i].places, shapes[i].slices, shapes[i].terms, shapes[i].terms);
        int size = block.group[0] * block.group[1] * block.group[2];
        int across = block.places * block.group[0], down = block.slices * block.group[1];
        int groups = (shapes[i].places + across - 1) / across * ((shapes[i].slices + down - 1) / down);
        if (getenv("HALITE_TEST_VERBOSE"))
            print_message(
                "%6d places %3d slices %4d terms: block %d x %d, group %d x %d x %d, %d groups, %d work-items\n",
                shapes[i].places, shapes[i].slices, shapes[i].terms, block.places, block.slices, block.group[0],
                block.group[1], block.group[2], groups, groups * size);
        assert_true(size >= 1 && size <= 256);
        assert_true(block.places * block.slices <= 16);
        assert_true(block.group[2] <= shapes[i].terms);
        assert_true(block.depth == 1 || shapes[i].terms % (block.depth * block.group[2]) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),    cmocka_unit_test(test_conv_2d),    cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_depthwise), cmocka_unit_test(test_transposed), cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_pools),     cmocka_unit_test(test_reductions), cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_matmul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
