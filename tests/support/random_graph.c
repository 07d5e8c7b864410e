// SPDX-License-Identifier: Apache-2.0
// See random_graph.h. Each maker below appends a node or a few that read value x, and returns the value that they
// compute, or NONE where x does not suit them. All values have four dimensions and lie around 1, so that rounding does
// not grow from node to node. Each statement draws one number: in which order a compiler evaluates the arguments of a
// call is its own choice.
#include "support/random_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/schema.h"
#include "support/random.h"
#include "tensorflow/lite/builtin_ops.h"

enum { NONE = -1, MAX_CHANNELS = 64, MAX_ROW = 2000 };
enum { BATCH, HEIGHT, WIDTH, CHANNELS };

// Of an input, and at most. Convolutions of large graphs are large enough for chains.
static const struct random_sides {
    int least, range, most;
} small = {1, 13, 28}, large = {64, 48, 112};

#define ONE_OF(...) (((const int[]){__VA_ARGS__})[pick((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))])

// From `least` to `most`.
static float between(float least, float most)
{
    return least + (most - least) * (float)pick(4097) / 4096;
}

// ---- tensors ------------------------------------------------------------------------------------

static const int *dims_of(const struct random_graph *g, int tensor)
{
    return g->tensors[tensor].dims;
}

static int count_of(const struct test_tensor *tensor)
{
    int count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

// Whether a value may have these dimensions.
static bool fits(const struct random_graph *g, const int *dims)
{
    return dims[HEIGHT] <= g->sides->most && dims[WIDTH] <= g->sides->most && dims[CHANNELS] <= MAX_CHANNELS;
}

static void *own(struct random_graph *g, size_t bytes)
{
    void *data = calloc(1, bytes);
    if (!data) abort();
    return g->owned[g->owned_count++] = data;
}

static int add_tensor(struct random_graph *g, enum test_type type, int rank, const int *dims)
{
    struct test_tensor *tensor = &g->tensors[g->model.tensor_count];
    *tensor = (struct test_tensor){.name = "t", .type = type, .rank = rank};
    memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
    return g->model.tensor_count++;
}

static bool is_float(const struct random_graph *g)
{
    return g->type == TEST_FLOAT32;
}

static void set_quantization(struct random_graph *g, int tensor, float scale, int zero_point)
{
    if (is_float(g)) return;
    g->tensors[tensor].scale = scale;
    g->tensors[tensor].zero_point = zero_point + (g->type == TEST_UINT8 ? 128 : 0);
}

static int add_value(struct random_graph *g, const int *dims)
{
    const int tensor = add_tensor(g, g->type, 4, dims);
    const float scale = between(0.004f, 0.06f);
    set_quantization(g, tensor, scale, 0);
    if (pick(2)) set_quantization(g, tensor, scale, pick(256) - 128);
    return tensor;
}

// One of a node that only moves values.
static int add_value_like(struct random_graph *g, int x, const int *dims)
{
    const int tensor = add_tensor(g, g->type, 4, dims);
    g->tensors[tensor].scale = g->tensors[x].scale;
    g->tensors[tensor].zero_point = g->tensors[x].zero_point;
    return tensor;
}

static bool same_quantization(const struct random_graph *g, int a, int b)
{
    return g->tensors[a].scale == g->tensors[b].scale && g->tensors[a].zero_point == g->tensors[b].zero_point;
}

// Random values up to `largest`, or all codes of 8 bits.
static int fill(struct random_graph *g, int tensor, float largest)
{
    struct test_tensor *t = &g->tensors[tensor];
    const int count = count_of(t);
    t->bytes = (size_t)count * (is_float(g) ? sizeof(float) : 1);
    void *data = own(g, t->bytes);
    for (int i = 0; i < count; i++)
        if (is_float(g))
            ((float *)data)[i] = between(-largest, largest);
        else
            ((uint8_t *)data)[i] = (uint8_t)pick(256);
    t->data = data;
    return tensor;
}

static int add_constant(struct random_graph *g, int rank, const int *dims)
{
    const int tensor = add_tensor(g, g->type, rank, dims);
    set_quantization(g, tensor, between(0.004f, 0.02f), 0);
    return fill(g, tensor, 1.25f);
}

static int add_ints(struct random_graph *g, int rank, const int *dims, const int *ints)
{
    const int tensor = add_tensor(g, TEST_INT32, rank, dims);
    const size_t bytes = (size_t)count_of(&g->tensors[tensor]) * sizeof(int32_t);
    g->tensors[tensor].data = memcpy(own(g, bytes), ints, bytes);
    g->tensors[tensor].bytes = bytes;
    return tensor;
}

static int add_list(struct random_graph *g, int count, const int *ints)
{
    return add_ints(g, 1, &count, ints);
}

// Weights of `axis`'s many outputs, each a sum of `terms` products; int8 has a scale for each output, mostly.
static int add_weights(struct random_graph *g, int rank, const int *dims, int axis, int terms)
{
    const float scale = 0.02f / sqrtf((float)terms);
    const int tensor = add_tensor(g, g->type, rank, dims);
    set_quantization(g, tensor, scale, 0);
    fill(g, tensor, 128 * scale);
    if (g->type == TEST_UINT8) g->tensors[tensor].zero_point += pick(41) - 20;
    if (g->type != TEST_INT8) return tensor;
    int8_t *codes = g->owned[g->owned_count - 1];
    for (size_t i = 0; i < g->tensors[tensor].bytes; i++) codes[i] = codes[i] == -128 ? -127 : codes[i];
    if (pick(3) == 0) return tensor;
    float *scales = own(g, (size_t)dims[axis] * sizeof *scales);
    for (int i = 0; i < dims[axis]; i++) scales[i] = between(0.5f, 1.5f) * scale;
    g->tensors[tensor].scales = scales;
    g->tensors[tensor].scale_count = dims[axis];
    g->tensors[tensor].quantized_dimension = axis;
    return tensor;
}

static int add_bias(struct random_graph *g, int x, int weights, int count)
{
    if (is_float(g)) return add_constant(g, 1, &count);
    const int tensor = add_tensor(g, TEST_INT32, 1, &count);
    struct test_tensor *bias = &g->tensors[tensor];
    int32_t *codes = own(g, (size_t)count * sizeof *codes);
    for (int i = 0; i < count; i++) codes[i] = pick(4001) - 2000;
    bias->data = codes;
    bias->bytes = (size_t)count * sizeof *codes;
    bias->scale = g->tensors[x].scale * g->tensors[weights].scale;
    if (!g->tensors[weights].scales) return tensor;
    float *scales = own(g, (size_t)count * sizeof *scales);
    for (int i = 0; i < count; i++) scales[i] = g->tensors[x].scale * g->tensors[weights].scales[i];
    bias->scales = scales;
    bias->scale_count = count;
    return tensor;
}

// ---- nodes --------------------------------------------------------------------------------------

// Its inputs end at the first NONE. Gives the output back.
static int add_node(struct random_graph *g, int builtin, int output, const int *inputs)
{
    struct test_node *node = &g->nodes[g->model.node_count++];
    *node = (struct test_node){.builtin = builtin, TEST_OUTPUTS(output)};
    while (node->input_count < 4 && inputs[node->input_count] != NONE) {
        node->inputs[node->input_count] = inputs[node->input_count];
        node->input_count++;
    }
    return output;
}
#define NODE(g, suffix, output, ...) add_node(g, kTfLiteBuiltin##suffix, output, (const int[]){__VA_ARGS__, NONE, NONE})

// An option of the last node.
static void set(struct random_graph *g, int field, double value)
{
    struct test_setting *setting = g->nodes[g->model.node_count - 1].settings;
    while (setting->field) setting++;
    *setting = (struct test_setting){.field = field, .value = value};
}
#define SET(g, options, field, value) set(g, HL_##options##_##field, value)

// None, RELU, RELU_N1_TO_1 or RELU6.
static int draw_activation(void)
{
    return ONE_OF(0, 0, 1, 2, 3);
}

// Where a filter goes over rows and columns: the numbers of a convolution or pool, and its output's size.
struct window {
    int size[2], stride[2], dilation, out[2], activation;
    bool valid; // no padding
};

static struct window draw_window(const int *dims, int largest, bool dilates)
{
    struct window w = {.valid = pick(2)};
    w.activation = draw_activation();
    w.dilation = dilates ? ONE_OF(1, 1, 2) : 1;
    for (int i = 0; i < 2; i++) {
        w.size[i] = 1 + pick(largest);
        w.stride[i] = w.dilation > 1 ? 1 : ONE_OF(1, 1, 2);
        w.valid = w.valid && (w.size[i] - 1) * w.dilation < dims[HEIGHT + i];
    }
    for (int i = 0; i < 2; i++) {
        const int covered = w.valid ? (w.size[i] - 1) * w.dilation : 0;
        w.out[i] = (dims[HEIGHT + i] - covered + w.stride[i] - 1) / w.stride[i];
    }
    return w;
}

#define SET_WINDOW(g, options, w)                                   \
    do {                                                            \
        SET(g, options, padding, (w).valid);                        \
        SET(g, options, stride_h, (w).stride[0]);                   \
        SET(g, options, stride_w, (w).stride[1]);                   \
        SET(g, options, fused_activation_function, (w).activation); \
    } while (0)
#define SET_DILATION(g, options, w)                     \
    do {                                                \
        SET(g, options, dilation_h_factor, w.dilation); \
        SET(g, options, dilation_w_factor, w.dilation); \
    } while (0)

static int add_conv(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x);
    const int channels =
        g->sides == &small ? ONE_OF(1, 3, 4, 7, 8, 12, 16, 17, 32, d[CHANNELS]) : ONE_OF(16, 24, 33, 48);
    const struct window w = draw_window(d, ONE_OF(1, 3, 4), true);
    const int shape[] = {channels, w.size[0], w.size[1], d[CHANNELS]};
    const int weights = add_weights(g, 4, shape, 0, shape[1] * shape[2] * shape[3]);
    const int bias = add_bias(g, x, weights, channels);
    const int y = add_value(g, (const int[]){d[BATCH], w.out[0], w.out[1], channels});
    NODE(g, Conv2d, y, x, weights, bias);
    SET_WINDOW(g, Conv2DOptions, w);
    SET_DILATION(g, Conv2DOptions, w);
    return y;
}

static int add_depthwise(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), times = d[CHANNELS] <= 24 ? ONE_OF(1, 1, 1, 2) : 1;
    const struct window w = draw_window(d, ONE_OF(3, 5), true);
    const int shape[] = {1, w.size[0], w.size[1], times * d[CHANNELS]};
    const int weights = add_weights(g, 4, shape, CHANNELS, shape[1] * shape[2]);
    const int bias = add_bias(g, x, weights, shape[CHANNELS]);
    const int y = add_value(g, (const int[]){d[BATCH], w.out[0], w.out[1], shape[CHANNELS]});
    NODE(g, DepthwiseConv2d, y, x, weights, bias);
    SET_WINDOW(g, DepthwiseConv2DOptions, w);
    SET_DILATION(g, DepthwiseConv2DOptions, w);
    SET(g, DepthwiseConv2DOptions, depth_multiplier, times);
    return y;
}

static int add_pool(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), builtin = ONE_OF(kTfLiteBuiltinAveragePool2d, kTfLiteBuiltinMaxPool2d);
    const struct window w = draw_window(d, 3, false);
    const int y = add_value_like(g, x, (const int[]){d[BATCH], w.out[0], w.out[1], d[CHANNELS]});
    add_node(g, builtin, y, (const int[]){x, NONE});
    SET_WINDOW(g, Pool2DOptions, w);
    SET(g, Pool2DOptions, filter_height, w.size[0]);
    SET(g, Pool2DOptions, filter_width, w.size[1]);
    return y;
}

static int add_transpose_conv(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), stride = ONE_OF(1, 2, 2), channels = ONE_OF(1, 4, 5, 8), valid = pick(2);
    const int size = stride + pick(3), more = valid ? size - stride : 0;
    const int out[] = {d[BATCH], d[HEIGHT] * stride + more, d[WIDTH] * stride + more, channels};
    if (!fits(g, out)) return NONE;
    const int shape = add_list(g, 4, out);
    const int weights = add_weights(g, 4, (const int[]){channels, size, size, d[CHANNELS]}, 0, size * d[CHANNELS]);
    const int bias = pick(2) ? add_bias(g, x, weights, channels) : NONE;
    const int y = add_value(g, out);
    NODE(g, TransposeConv, y, shape, weights, x, bias);
    SET(g, TransposeConvOptions, padding, valid);
    SET(g, TransposeConvOptions, stride_h, stride);
    SET(g, TransposeConvOptions, stride_w, stride);
    return y;
}

static int add_shaped(struct random_graph *g, int x, int rank, const int *dims)
{
    const int y = add_value_like(g, x, dims);
    g->tensors[y].rank = rank;
    return NODE(g, Reshape, y, x, add_list(g, rank, dims));
}

// Between two views, as classifiers end.
static int add_dense(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), outputs = ONE_OF(1, 4, 10, 33), activation = draw_activation();
    const int row[] = {d[BATCH], d[HEIGHT] * d[WIDTH] * d[CHANNELS], 1, 1};
    if (row[1] > MAX_ROW) return NONE;
    const int flat = add_shaped(g, x, 2, row);
    const int weights = add_weights(g, 2, (const int[]){outputs, row[1]}, 0, row[1]);
    const int bias = add_bias(g, x, weights, outputs);
    const int y = add_value(g, (const int[]){row[0], outputs, 1, 1});
    g->tensors[y].rank = 2;
    NODE(g, FullyConnected, y, flat, weights, bias);
    SET(g, FullyConnectedOptions, fused_activation_function, activation);
    return add_shaped(g, y, 4, (const int[]){row[0], 1, 1, outputs});
}

// ---- element by element -------------------------------------------------------------------------

// A value that is as large as x, or is repeated along some of its axes; x itself where there is none.
static int draw_other(const struct random_graph *g, int x)
{
    int found[RANDOM_GRAPH_TENSORS], count = 0;
    for (int i = 0; i < g->value_count; i++) {
        bool suits = g->values[i] != x;
        for (int k = 0; k < 4; k++) {
            const int length = dims_of(g, g->values[i])[k];
            suits = suits && (length == dims_of(g, x)[k] || length == 1);
        }
        if (suits) found[count++] = g->values[i];
    }
    return count > 0 ? found[pick(count)] : x;
}

static int draw_constant(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), form = pick(5);
    int dims[] = {1, d[HEIGHT], d[WIDTH], d[CHANNELS]};
    if (form == 0) return add_constant(g, 1, &dims[CHANNELS]);
    if (form == 1) return add_constant(g, 0, dims);
    if (form == 2) dims[CHANNELS] = 1;
    if (form == 3) dims[HEIGHT] = 1;
    return add_constant(g, 4, dims);
}

static int add_pair(struct random_graph *g, int x)
{
    static const struct pair {
        int builtin, activation; // 0: it has none, and stored values keep their scale
    } pairs[] = {{kTfLiteBuiltinAdd, HL_AddOptions_fused_activation_function},
                 {kTfLiteBuiltinSub, HL_SubOptions_fused_activation_function},
                 {kTfLiteBuiltinMul, HL_MulOptions_fused_activation_function},
                 {kTfLiteBuiltinMaximum, 0},
                 {kTfLiteBuiltinMinimum, 0}};
    const struct pair *pair = &pairs[ONE_OF(0, 0, 0, 1, 2, 2, 3, 4)];
    const int activation = draw_activation(), other = pick(3) == 0 ? draw_constant(g, x) : draw_other(g, x);
    if (!pair->activation && !same_quantization(g, x, other)) return NONE;
    const int y = pair->activation ? add_value(g, dims_of(g, x)) : add_value_like(g, x, dims_of(g, x));
    const bool swapped = pick(2);
    add_node(g, pair->builtin, y, (const int[]){swapped ? other : x, swapped ? x : other, NONE});
    if (pair->activation) set(g, pair->activation, activation);
    return y;
}

// y = f(x), where 8 bits have the scale that the operator asks for.
static int add_function(struct random_graph *g, int builtin, int x)
{
    const int y = add_value(g, dims_of(g, x));
    if (builtin == kTfLiteBuiltinTanh || builtin == kTfLiteBuiltinL2Normalization)
        set_quantization(g, y, 1.0f / 128, 0);
    if (builtin == kTfLiteBuiltinLogistic || builtin == kTfLiteBuiltinSoftmax) set_quantization(g, y, 1.0f / 256, -128);
    return add_node(g, builtin, y, (const int[]){x, NONE});
}

static int add_unary(struct random_graph *g, int x)
{
    static const int builtins[] = {kTfLiteBuiltinRelu,      kTfLiteBuiltinRelu6,     kTfLiteBuiltinLogistic,
                                   kTfLiteBuiltinTanh,      kTfLiteBuiltinHardSwish, kTfLiteBuiltinLeakyRelu,
                                   kTfLiteBuiltinLeakyRelu, // the others take only floats
                                   kTfLiteBuiltinAbs,       kTfLiteBuiltinNeg,       kTfLiteBuiltinElu};
    const int which = pick(is_float(g) ? 10 : 7);
    if (!is_float(g) && which == 6) return add_function(g, kTfLiteBuiltinQuantize, x);
    const int y = add_function(g, builtins[which], x);
    if (builtins[which] == kTfLiteBuiltinLeakyRelu) SET(g, LeakyReluOptions, alpha, 0.2);
    return y;
}

static int add_prelu(struct random_graph *g, int x)
{
    const int slopes = add_constant(g, 3, (const int[]){1, 1, dims_of(g, x)[CHANNELS]});
    const int y = add_value(g, dims_of(g, x));
    return NODE(g, Prelu, y, x, slopes);
}

// Two readers of x that meet again.
static int add_swish(struct random_graph *g, int x)
{
    const int gate = add_function(g, kTfLiteBuiltinLogistic, x), y = add_value(g, dims_of(g, x));
    NODE(g, Mul, y, x, gate);
    SET(g, MulOptions, fused_activation_function, 0);
    return y;
}

// ---- rows and sums ------------------------------------------------------------------------------

static int add_row_function(struct random_graph *g, int x)
{
    const bool normalizes = pick(3) == 0;
    if (normalizes && dims_of(g, x)[CHANNELS] < 4) return NONE; // nearly a sign
    const int y = add_function(g, normalizes ? kTfLiteBuiltinL2Normalization : kTfLiteBuiltinSoftmax, x);
    if (normalizes)
        SET(g, L2NormOptions, fused_activation_function, 0);
    else
        SET(g, SoftmaxOptions, beta, 1);
    return y;
}

static int add_reduce(struct random_graph *g, int x)
{
    const int builtin = ONE_OF(kTfLiteBuiltinMean, kTfLiteBuiltinMean, kTfLiteBuiltinSum, kTfLiteBuiltinReduceMax);
    const int axes[] = {ONE_OF(HEIGHT, HEIGHT, WIDTH, CHANNELS), WIDTH};
    const int count = axes[0] == HEIGHT ? ONE_OF(1, 2, 2) : 1;
    int dims[4];
    memcpy(dims, dims_of(g, x), sizeof dims);
    for (int i = 0; i < count; i++) dims[axes[i]] = 1;
    const int y = builtin == kTfLiteBuiltinReduceMax ? add_value_like(g, x, dims) : add_value(g, dims);
    add_node(g, builtin, y, (const int[]){x, add_list(g, count, axes), NONE});
    SET(g, ReducerOptions, keep_dims, 1);
    return y;
}

static int add_resize(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), doubled = pick(2), form = pick(3);
    int dims[] = {d[BATCH], 2 * d[HEIGHT], 2 * d[WIDTH], d[CHANNELS]};
    for (int i = HEIGHT; i <= WIDTH && !doubled; i++) dims[i] = 1 + pick(g->sides->most);
    if (!fits(g, dims)) return NONE;
    const int y = add_value_like(g, x, dims), size = add_list(g, 2, &dims[HEIGHT]);
    if (pick(2)) {
        NODE(g, ResizeBilinear, y, x, size);
        SET(g, ResizeBilinearOptions, align_corners, form == 1);
        SET(g, ResizeBilinearOptions, half_pixel_centers, form == 2);
    } else {
        NODE(g, ResizeNearestNeighbor, y, x, size);
        SET(g, ResizeNearestNeighborOptions, align_corners, form == 1);
        SET(g, ResizeNearestNeighborOptions, half_pixel_centers, form == 2);
    }
    return y;
}

// ---- moves and views ----------------------------------------------------------------------------

static int add_concatenation(struct random_graph *g, int x)
{
    const int axis = ONE_OF(CHANNELS, CHANNELS, HEIGHT, WIDTH), wanted = 2 + pick(3);
    int dims[4], inputs[] = {x, NONE, NONE, NONE};
    memcpy(dims, dims_of(g, x), sizeof dims);
    for (int count = 1, tries = 0; count < wanted && tries < 16; tries++) {
        const int other = g->values[pick(g->value_count)];
        bool joins = same_quantization(g, x, other) || g->type == TEST_UINT8;
        for (int i = 0; i < 4; i++) joins = joins && (i == axis || dims_of(g, other)[i] == dims[i]);
        if (!joins) continue;
        dims[axis] += dims_of(g, other)[axis];
        inputs[count++] = other;
    }
    if (!fits(g, dims) || inputs[1] == NONE) return NONE;
    const int y = add_value_like(g, x, dims);
    add_node(g, kTfLiteBuiltinConcatenation, y, inputs);
    SET(g, ConcatenationOptions, axis, axis);
    return y;
}

static int add_pad(struct random_graph *g, int x)
{
    const int deep = pick(2);
    int pairs[8] = {0}, dims[4];
    for (int i = 2; i < (deep ? 8 : 6); i++) pairs[i] = pick(i < 6 ? 3 : 7);
    for (int i = 0; i < 4; i++) dims[i] = dims_of(g, x)[i] + pairs[2 * i] + pairs[2 * i + 1];
    if (!fits(g, dims)) return NONE;
    const int y = add_value_like(g, x, dims);
    return NODE(g, Pad, y, x, add_ints(g, 2, (const int[]){4, 2}, pairs));
}

static int add_transpose(struct random_graph *g, int x)
{
    static const int orders[][4] = {{0, 2, 1, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {0, 1, 3, 2}, {0, 3, 2, 1}};
    const int *order = orders[pick(5)];
    int dims[4];
    for (int i = 0; i < 4; i++) dims[i] = dims_of(g, x)[order[i]];
    if (!fits(g, dims)) return NONE;
    const int y = add_value_like(g, x, dims);
    return NODE(g, Transpose, y, x, add_list(g, 4, order));
}

static int add_reshape(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), b = d[BATCH], h = d[HEIGHT], w = d[WIDTH], c = d[CHANNELS];
    const int forms[][4] = {{b, w, h, c}, {b, 1, h * w, c}, {b, h * w, 1, c}, {b, h, 1, w * c}, {b, h, c, w}};
    const int *dims = forms[pick(5)];
    return dims[CHANNELS] > 4 * MAX_CHANNELS ? NONE : add_shaped(g, x, 4, dims);
}

static int add_slice(struct random_graph *g, int x)
{
    const int *d = dims_of(g, x), strided = pick(2);
    int begin[4] = {0}, size[4], end[4], stride[] = {1, 1, 1, 1};
    memcpy(size, d, sizeof size);
    for (int i = ONE_OF(HEIGHT, CHANNELS); i <= CHANNELS; i++) {
        begin[i] = pick(d[i]);
        if (i == CHANNELS && pick(2)) begin[i] &= ~3;
        size[i] = 1 + pick(d[i] - begin[i]);
    }
    for (int i = 0; i < 4; i++) end[i] = begin[i] + size[i];
    for (int i = HEIGHT; i <= CHANNELS && strided; i++) {
        stride[i] = ONE_OF(1, 1, 2);
        size[i] = (size[i] + stride[i] - 1) / stride[i];
    }
    const int y = add_value_like(g, x, size), from = add_list(g, 4, begin);
    if (!strided) return NODE(g, Slice, y, x, from, add_list(g, 4, size));
    const int to = add_list(g, 4, end);
    NODE(g, StridedSlice, y, x, from, to, add_list(g, 4, stride));
    SET(g, StridedSliceOptions, begin_mask, 0);
    return y;
}

static int add_split(struct random_graph *g, int x)
{
    const int axis = ONE_OF(CHANNELS, CHANNELS, HEIGHT), parts = ONE_OF(2, 3, 4);
    int dims[4];
    memcpy(dims, dims_of(g, x), sizeof dims);
    if (dims[axis] % parts) return NONE;
    dims[axis] /= parts;
    const int y = add_value_like(g, x, dims);
    NODE(g, Split, y, add_ints(g, 0, &axis, &axis), x);
    SET(g, SplitOptions, num_splits, parts);
    struct test_node *node = &g->nodes[g->model.node_count - 1];
    while (node->output_count < parts) {
        g->values[g->value_count] = add_value_like(g, x, dims);
        node->outputs[node->output_count++] = g->values[g->value_count++];
    }
    return y;
}

// ---- graphs -------------------------------------------------------------------------------------

// A layer or a sum, and what is computed element by element behind it, without other readers in between.
static int add_chain(struct random_graph *g, int x)
{
    static int (*const leads[])(struct random_graph *, int) = {add_conv, add_conv, add_depthwise, add_pair};
    static int (*const steps[])(struct random_graph *, int) = {add_unary, add_unary, add_pair, add_prelu, add_swish};
    int y = leads[pick(4)](g, x);
    for (int left = 1 + pick(4); left > 0 && y != NONE; left--) {
        const int next = steps[pick(5)](g, y);
        if (next != NONE) y = next;
    }
    return y;
}

// Some more than once. Of the first ones large graphs consist, mostly.
static int (*const makers[])(struct random_graph *g, int x) = {
    // clang-format off
    add_chain, add_chain, add_chain, add_conv, add_conv, add_depthwise, add_pool, add_pair,
    add_pair, add_unary, add_unary, add_prelu, add_swish, add_transpose_conv, add_dense, add_row_function, add_reduce,
    add_resize, add_concatenation, add_concatenation, add_pad, add_pad, add_transpose, add_reshape, add_slice,
    add_slice, add_split,
    // clang-format on
};
enum { MAKERS = sizeof makers / sizeof *makers, OF_LARGE = 8 };

// For what a maker may add, also where it gives up.
static bool has_room(const struct random_graph *g)
{
    return g->model.tensor_count + 24 <= RANDOM_GRAPH_TENSORS && g->model.node_count + 10 <= RANDOM_GRAPH_NODES;
}

struct random_graph *random_graph_create(unsigned number)
{
    struct random_graph *g = calloc(1, sizeof *g);
    if (!g) abort();
    seed = number * 0x9e3779b1u; // and mixed: the streams of neighbors would begin alike
    seed = (seed ^ seed >> 15) * 0x85ebca77u;
    seed = (seed ^ seed >> 13) * 0xc2b2ae3du;
    g->model = (struct test_model){.tensors = g->tensors, .nodes = g->nodes};
    g->type = (enum test_type)ONE_OF(TEST_FLOAT32, TEST_FLOAT32, TEST_INT8, TEST_INT8, TEST_UINT8);
    g->sides = pick(8) == 0 ? &large : &small;
    int dims[4];
    dims[BATCH] = ONE_OF(1, 1, 1, 2);
    dims[HEIGHT] = g->sides->least + pick(g->sides->range);
    dims[WIDTH] = g->sides->least + pick(g->sides->range);
    dims[CHANNELS] = g->sides == &small ? ONE_OF(1, 3, 4, 5, 8, 16, 24) : ONE_OF(8, 16, 24, 32);
    const int inputs = ONE_OF(1, 1, 2), steps = 2 + pick(12);
    while (g->value_count < inputs) {
        const int x = g->values[g->value_count++] = add_value(g, dims);
        g->tensors[x].is_input = true;
    }
    for (int made = 0; made < steps && has_room(g);) {
        int at = g->value_count - 1; // mostly the last one
        while (at > 0 && pick(5) < 2) at--;
        const bool any = g->sides == &small || pick(4) == 0;
        const int y = makers[pick(any ? MAKERS : OF_LARGE)](g, g->values[at]);
        if (y == NONE) continue;
        g->values[g->value_count++] = y;
        made++;
    }
    g->tensors[g->values[g->value_count - 1]].is_output = true;
    for (int more = pick(3); more > 0; more--) {
        struct test_tensor *tensor = &g->tensors[g->values[pick(g->value_count)]];
        if (!tensor->is_input) tensor->is_output = true;
    }
    return g;
}

void random_graph_destroy(struct random_graph *g)
{
    for (int i = 0; i < g->owned_count; i++) free(g->owned[i]);
    free(g);
}
