// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL, TRANSPOSE_CONV, RESIZE_BILINEAR, SOFTMAX, LOG_SOFTMAX and reductions of floats against the reference
// kernels, on random nodes and every CPU level that is here: integers bit for bit, floats but for the rounding of sums;
// with one thread and with three. --bench prints their times (support/bench.h).
#include "both_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { NODES = 120, MAX_TENSORS = 5 };

// The last tensor is the output; those before it without data are inputs of the graph.
struct node {
    int count;
    struct test_tensor tensors[MAX_TENSORS];
    struct test_node op;
    void *data[MAX_TENSORS]; // constants
    float scales[64];
    float tolerance; // floats: the largest difference
    bool edges;      // some inputs are infinite, large or NaN; rows of bytes are alike, but for their ends
    bool optional;   // CPU levels may leave it to the reference kernel
};

static struct test_tensor *add(struct node *node, const char *name, enum test_type type, int rank, const int *dims)
{
    struct test_tensor *tensor = &node->tensors[node->count++];
    *tensor = (struct test_tensor){.name = name, .type = type, .rank = rank};
    for (int i = 0; i < rank; i++) tensor->dims[i] = dims[i];
    return tensor;
}

static size_t bytes_of(const struct test_tensor *tensor)
{
    size_t count = tensor->type == TEST_FLOAT32 || tensor->type == TEST_INT32 ? 4 : 1;
    for (int i = 0; i < tensor->rank; i++) count *= (size_t)tensor->dims[i];
    return count;
}

// Floats in [-1, 1], int32 in [-10000, 10000], any bytes but -128.
static void *random_values(const struct test_tensor *tensor)
{
    size_t bytes = bytes_of(tensor);
    char *values = malloc(bytes + 1);
    assert_non_null(values);
    for (size_t i = 0; i < bytes; i++)
        if (tensor->type == TEST_FLOAT32)
            ((float *)values)[i / 4] = (float)(pick(2001) - 1000) / 1000, i += 3;
        else if (tensor->type == TEST_INT32)
            ((int32_t *)values)[i / 4] = pick(20001) - 10000, i += 3;
        else
            values[i] = (char)(tensor->type == TEST_UINT8 ? pick(256) : pick(255) - 127);
    return values;
}

static void make_constant(struct node *node, const struct test_tensor *tensor)
{
    size_t i = (size_t)(tensor - node->tensors);
    node->data[i] = random_values(tensor);
    node->tensors[i].data = node->data[i];
    node->tensors[i].bytes = bytes_of(tensor);
}

static int random_zero(enum test_type type)
{
    return type == TEST_FLOAT32 ? 0 : type == TEST_UINT8 ? pick(256) : pick(256) - 128;
}

// ---- nodes --------------------------------------------------------------------------------------

static void make_batch_matmul(struct node *node)
{
    int rank = 2 + pick(3), m = 1 + pick(pick(2) ? 60 : 8), n = 1 + pick(pick(2) ? 100 : 8),
        k = 1 + pick(pick(2) ? 90 : 5);
    bool adj_x = pick(3) == 0, adj_y = pick(2);
    int x[4], w[4];
    for (int i = 0; i < rank - 2; i++) {
        x[i] = w[i] = 1 + pick(3);
        if (pick(3) == 0) *(pick(2) ? &x[i] : &w[i]) = 1;
    }
    if (pick(3) == 0)
        for (int i = 0; i < rank - 2; i++) w[i] = 1;
    x[rank - 2] = adj_x ? k : m, x[rank - 1] = adj_x ? m : k;
    w[rank - 2] = adj_y ? n : k, w[rank - 1] = adj_y ? k : n;
    const enum test_type type = pick(2) ? TEST_INT8 : TEST_FLOAT32;
    struct test_tensor *first = add(node, "x", type, rank, x), *second = add(node, "w", type, rank, w);
    if (pick(3) == 0) make_constant(node, second);
    struct test_tensor *y = add(node, "y", type, 0, NULL);
    if (type == TEST_INT8) {
        first->scale = second->scale = 0.02f;
        y->scale = 0.0004f * (float)(1 + pick(2000));
        first->zero_point = random_zero(type), second->zero_point = random_zero(type),
        y->zero_point = random_zero(type);
        node->op.version = 2;
    }
    set_option(&node->op, HL_BatchMatMulOptions_adj_x, adj_x);
    set_option(&node->op, HL_BatchMatMulOptions_adj_y, adj_y);
    node->op.builtin = kTfLiteBuiltinBatchMatmul;
    node->tolerance = 2e-6f * sqrtf((float)k);
}

static void add_transpose_conv(struct node *node, int taps, int plane)
{
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    enum test_type type = types[pick(3)];
    bool floats = type == TEST_FLOAT32, same = pick(2);
    int stride_h = 1 + pick(3), stride_w = 1 + pick(3), kh = 1 + pick(taps), kw = 1 + pick(taps);
    int height = 1 + pick(plane), width = 1 + pick(plane), channels = 1 + pick(pick(2) ? 70 : 6);
    int outputs = 1 + pick(pick(2) ? 40 : 6), batches = 1 + pick(2);
    if (!pick(4)) width = kw = stride_w = 1; // a series, whose time is the height
    int32_t *shape = malloc(4 * sizeof *shape);
    shape[0] = batches;
    shape[1] = same ? height * stride_h - pick(stride_h) : (height - 1) * stride_h + kh + pick(stride_h);
    shape[2] = same ? width * stride_w - pick(stride_w) : (width - 1) * stride_w + kw + pick(stride_w);
    shape[3] = outputs;
    struct test_tensor *sizes = add(node, "shape", TEST_INT32, 1, (const int[]){4});
    node->data[0] = shape;
    sizes->data = shape;
    sizes->bytes = 16;
    struct test_tensor *w = add(node, "w", type, 4, (const int[]){outputs, kh, kw, channels});
    make_constant(node, w);
    struct test_tensor *x = add(node, "x", type, 4, (const int[]){batches, height, width, channels});
    x->scale = floats ? 0 : 0.02f;
    x->zero_point = random_zero(type);
    w->scale = floats ? 0 : 0.01f;
    if (type == TEST_UINT8) w->zero_point = pick(3) ? pick(256) : 128;
    if (type == TEST_INT8 && pick(2)) {
        w->scale_count = outputs;
        w->scales = node->scales;
        for (int i = 0; i < outputs; i++) node->scales[i] = 0.0001f * (float)(1 + pick(300));
    }
    int version = 1;
    if (pick(2)) {
        struct test_tensor *bias = add(node, "bias", floats ? TEST_FLOAT32 : TEST_INT32, 1, (const int[]){outputs});
        make_constant(node, bias);
        if (!floats) bias->scale = 0.02f * (w->scale_count == 1 ? w->scales[0] : w->scale);
        version = 3;
    }
    struct test_tensor *y = add(node, "y", type, 0, NULL);
    y->scale = floats ? 0 : 0.02f * 0.01f * (float)(1 + pick(400));
    y->zero_point = random_zero(type);
    set_option(&node->op, HL_TransposeConvOptions_padding, same ? 0 : 1);
    set_option(&node->op, HL_TransposeConvOptions_stride_w, stride_w);
    set_option(&node->op, HL_TransposeConvOptions_stride_h, stride_h);
    set_option(&node->op, HL_TransposeConvOptions_fused_activation_function, pick(4));
    node->op.builtin = kTfLiteBuiltinTransposeConv;
    node->op.version = version;
    node->tolerance = 2e-6f * sqrtf((float)(kh * kw * channels));
}

static void make_transpose_conv(struct node *node)
{
    add_transpose_conv(node, 5, 13);
}

// Wide rows, whose windows are more than the tiles that are finished together.
static void make_wide_transpose_conv(struct node *node)
{
    add_transpose_conv(node, 3, 100);
}

// Filters that reach far beyond the input, whose products are added to the outputs.
static void make_transpose_conv_of_few(struct node *node)
{
    add_transpose_conv(node, 12, 2);
}

static void make_resize(struct node *node)
{
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    enum test_type type = types[pick(3)];
    int batches = 1 + pick(2), channels = 1 + pick(pick(2) ? 70 : 4), mode = pick(3);
    int height = 1 + pick(12), width = 1 + pick(12);
    const bool is_column = !pick(4); // a series, whose time is the height
    if (is_column) width = 1;
    int32_t *size = malloc(2 * sizeof *size);
    size[0] = 1 + pick(pick(5) ? 40 : 700);
    size[1] = is_column ? 1 : width / 2 + 1 + pick(40);
    struct test_tensor *x = add(node, "x", type, 4, (const int[]){batches, height, width, channels});
    struct test_tensor *sizes = add(node, "size", TEST_INT32, 1, (const int[]){2});
    node->data[1] = size;
    sizes->data = size;
    sizes->bytes = 8;
    struct test_tensor *y = add(node, "y", type, 0, NULL);
    x->scale = y->scale = type == TEST_FLOAT32 ? 0 : 0.02f;
    set_option(&node->op, HL_ResizeBilinearOptions_align_corners, mode == 1);
    set_option(&node->op, HL_ResizeBilinearOptions_half_pixel_centers, mode == 2);
    node->op.builtin = kTfLiteBuiltinResizeBilinear;
    node->op.version = 3;
    node->tolerance = 1e-6f;
}

// Some rows have a value that is far above the others, or none that is finite. Bytes of small scales are nearly alike.
static void make_softmax(struct node *node)
{
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    const enum test_type type = types[pick(3)];
    int rank = 1 + pick(3), dims[3];
    for (int i = 0; i < rank; i++) dims[i] = 1 + pick(40);
    dims[rank - 1] = 1 + pick(pick(2) ? 300 : 5);
    struct test_tensor *x = add(node, "x", type, rank, dims), *y = add(node, "y", type, 0, NULL);
    if (type != TEST_FLOAT32) {
        static const float scales[] = {0.002f, 0.03f, 0.1f, 1, 20};
        if (rank == 1) x->dims[0] += pick(3000);
        x->scale = scales[pick(5)];
        x->zero_point = 7;
        y->scale = 1.0f / 256;
        y->zero_point = type == TEST_INT8 ? -128 : 0;
        node->optional = true;
    }
    node->edges = type == TEST_FLOAT32 && pick(2);
    static const double betas[] = {1, 0.3, 30, 0};
    set_option(&node->op, HL_SoftmaxOptions_beta, betas[pick(4)]);
    node->op.builtin = kTfLiteBuiltinSoftmax;
    node->tolerance = 1e-6f;
}

// Rows of bytes about as long as a vector, or as those from which on tables of a whole row are made.
static void make_softmax_of_bytes(struct node *node)
{
    static const int lengths[] = {4, 8, 16, 32, 48, 64, 96, 128, 192, 1024};
    static const float scales[] = {0.01f, 0.05f, 0.2f};
    const enum test_type type = pick(2) ? TEST_INT8 : TEST_UINT8;
    const int dims[2] = {1 + pick(40), lengths[pick(10)] + pick(3) - 1};
    struct test_tensor *x = add(node, "x", type, 2, dims), *y = add(node, "y", type, 0, NULL);
    x->scale = scales[pick(3)];
    y->scale = 1.0f / 256;
    y->zero_point = type == TEST_INT8 ? -128 : 0;
    set_option(&node->op, HL_SoftmaxOptions_beta, 1);
    node->op.builtin = kTfLiteBuiltinSoftmax;
    node->optional = true;
    node->edges = pick(2);
}

// Rows of which some have a value far above the others.
static void make_log_softmax(struct node *node)
{
    int rank = 1 + pick(3), dims[3];
    for (int i = 0; i < rank; i++) dims[i] = 1 + pick(40);
    dims[rank - 1] = 1 + pick(pick(2) ? 300 : 5);
    add(node, "x", TEST_FLOAT32, rank, dims);
    add(node, "y", TEST_FLOAT32, 0, NULL);
    node->edges = pick(2);
    node->op.builtin = kTfLiteBuiltinLogSoftmax;
    node->tolerance = 2e-5f; // two units in the last place of 120
}

// Sums, means and extremes of one to three axes of four, the last ones, which make rows of neighbors, or the first
// ones, which make columns. Some rows are shorter than a vector. Order changes the rounding of sums alone.
static void make_reduction(struct node *node)
{
    static const int builtins[] = {kTfLiteBuiltinSum,       kTfLiteBuiltinMean,      kTfLiteBuiltinReduceMax,
                                   kTfLiteBuiltinReduceMin, kTfLiteBuiltinReduceAny, kTfLiteBuiltinReduceAll};
    int dims[4], axis_count = 1 + pick(3), count = 1;
    int32_t *axes = malloc((size_t)axis_count * sizeof *axes);
    assert_non_null(axes);
    for (int i = 0; i < 4; i++) dims[i] = 1 + pick(9);
    dims[3] = 1 + pick(pick(3) ? 200 : 20);
    if (pick(8) == 0) dims[0] = dims[1] = dims[2] = 1, dims[3] = 1 + pick(20000);
    const bool of_rows = pick(2);
    for (int i = 0; i < axis_count; i++) axes[i] = of_rows ? 3 - i : i, count *= dims[axes[i]];
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8};
    const int which = pick(6);
    const enum test_type type = which < 4 ? types[pick(3)] : TEST_BOOL; // some bools are more than 1
    struct test_tensor *x = add(node, "x", type, 4, dims);
    struct test_tensor *list = add(node, "axes", TEST_INT32, 1, &axis_count);
    node->data[1] = axes;
    list->data = axes;
    list->bytes = (size_t)axis_count * sizeof *axes;
    struct test_tensor *y = add(node, "y", type, 0, NULL);
    if (type == TEST_INT8 || type == TEST_UINT8) {
        x->scale = y->scale = 0.1f;
        x->zero_point = y->zero_point = 7;
    }
    set_option(&node->op, HL_ReducerOptions_keep_dims, pick(2));
    node->op.builtin = builtins[which];
    node->op.version = type == TEST_INT8 || type == TEST_UINT8 ? 2 : 1;
    node->optional = true; // what differs are its row kernels
    node->edges = which >= 2 && type == TEST_FLOAT32;
    node->tolerance = which == 0 ? 1e-7f * (float)count : 1e-6f;
}

// ---- comparison ---------------------------------------------------------------------------------

static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    const struct node *node = arg;
    assert_true(taken || node->optional);
    if (node->tensors[node->count - 1].type != TEST_FLOAT32) {
        if (memcmp(expected, got, bytes) != 0) fail_msg("%s: integers differ", level);
        return;
    }
    const float *a = expected, *b = got;
    for (size_t i = 0; i < bytes / 4; i++)
        if (!(fabsf(a[i] - b[i]) <= node->tolerance) && a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%s: element %zu is %g, not %g", level, i, (double)b[i], (double)a[i]);
}

// Some rows get one value everywhere, or everywhere but at one of their ends.
static void flatten_rows(const struct test_tensor *x, uint8_t *values)
{
    const size_t length = (size_t)x->dims[x->rank - 1];
    for (uint8_t *row = values; row < values + bytes_of(x); row += length) {
        const int which = pick(4);
        if (which == 0) continue;
        memset(row, pick(256), length);
        if (which > 1) row[which == 2 ? 0 : length - 1] = (uint8_t)pick(256);
    }
}

static void check(struct node *node, int threads)
{
    struct test_model model = {
        .tensor_count = node->count,
        .tensors = node->tensors,
        .node_count = 1,
        .nodes = &node->op,
        TEST_OUTPUTS(node->count - 1),
    };
    void *inputs[MAX_TENSORS] = {NULL};
    for (int i = 0; i < node->count - 1; i++) {
        node->op.inputs[node->op.input_count++] = i;
        if (node->tensors[i].data) continue;
        model.inputs[model.input_count] = i;
        float *values = inputs[model.input_count++] = random_values(&node->tensors[i]);
        static const float edges[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 80, -120};
        if (node->edges && node->tensors[i].type != TEST_FLOAT32) {
            flatten_rows(&node->tensors[i], inputs[model.input_count - 1]);
            continue;
        }
        for (size_t n = bytes_of(&node->tensors[i]) / 4; node->edges && n > 0; n--)
            if (pick(50) == 0) values[n - 1] = edges[pick(7)];
    }
    node->op.output_count = 1;
    node->op.outputs[0] = node->count - 1;
    size_t size, bytes;
    unsigned char *file = test_model_write(&model, &size);
    TfLiteModel *loaded = TfLiteModelCreate(file, size);
    assert_non_null(loaded);
    void *expected = on_every_level(&model, loaded, threads, inputs, compare, node, &bytes);
    free(expected);
    for (int i = 0; i < MAX_TENSORS; i++) free(inputs[i]);
    TfLiteModelDelete(loaded);
    free(file);
}

struct maker {
    void (*make)(struct node *node);
};

static void check_many(void **state)
{
    const struct maker *maker = *state;
    for (int i = 0; i < NODES; i++) {
        struct node node = {0};
        maker->make(&node);
        check(&node, i % 2 ? 3 : 1);
        for (int t = 0; t < MAX_TENSORS; t++) free(node.data[t]);
    }
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        RANDOM_NODES(make_batch_matmul),
        RANDOM_NODES(make_resize),
        RANDOM_NODES(make_softmax),
        RANDOM_NODES(make_softmax_of_bytes),
        RANDOM_NODES(make_transpose_conv),
        RANDOM_NODES(make_log_softmax),
        RANDOM_NODES(make_reduction),
        RANDOM_NODES(make_wide_transpose_conv),
        RANDOM_NODES(make_transpose_conv_of_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
