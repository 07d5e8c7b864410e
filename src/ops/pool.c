// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D: the mean, the largest or the root of the mean of squares
// of each channel in a sliding window, of whose positions only those inside the input count.
// in 0: x [batch, height, width, channels], out 0: y [batch, out height, out width, channels].
// Average and max: float32, uint8, int8, int16; L2: float32. Stored values are not rescaled, even
// where the scales of x and y differ; averages round half away from zero.
#include <float.h>
#include <math.h>

#include "ops/common/quant.h"
#include "ops/common/window.h"
#include "ops/common/work.h"

struct pool {
    struct hl_window y, x;
    int32_t low, high;
    float low_f32, high_f32;
};

// The part of a window that lies inside the input.
struct patch {
    int64_t first, down; // elements: of the first position, from row to row
    int rows, columns;
    int channels;
};

// Makes the output elements of all channels at one position.
typedef void pool_kernel(const struct pool *op, const struct patch *patch, const void *x, void *y);

// Channels that are treated at once.
enum { BLOCK = 64 };

// A kernel: `start` for each channel, `step` for each position of the window with its `value` and
// the channel's `sum`, `finish` for the result, with the `count` of positions.
#define POOL(name, type, sum_type, start, step, finish)                                                  \
    static void name(const struct pool *op, const struct patch *patch, const void *x, void *y)           \
    {                                                                                                    \
        const type *in = (const type *)x + patch->first;                                                 \
        type *out = y;                                                                                   \
        sum_type sums[BLOCK], count = (sum_type)patch->rows * (sum_type)patch->columns;                  \
        (void)count;                                                                                     \
        for (int c = 0; c < patch->channels; c += BLOCK) {                                               \
            int n = patch->channels - c < BLOCK ? patch->channels - c : BLOCK;                           \
            for (int i = 0; i < n; i++) sums[i] = (start);                                               \
            for (int row = 0; row < patch->rows; row++)                                                  \
                for (int column = 0; column < patch->columns; column++) {                                \
                    const type *values = in + row * patch->down + (int64_t)column * patch->channels + c; \
                    for (int i = 0; i < n; i++) {                                                        \
                        sum_type value = values[i], sum = sums[i];                                       \
                        sums[i] = (step);                                                                \
                    }                                                                                    \
                }                                                                                        \
            for (int i = 0; i < n; i++) {                                                                \
                sum_type sum = sums[i];                                                                  \
                out[c + i] = (type)(finish);                                                             \
            }                                                                                            \
        }                                                                                                \
    }

static float clamp_f32(const struct pool *op, float value)
{
    return value < op->low_f32 ? op->low_f32 : value > op->high_f32 ? op->high_f32 : value;
}

static int32_t rounded_mean(const struct pool *op, int64_t sum, int64_t count)
{
    int64_t mean = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
    return hl_clamp_i32((int32_t)mean, op->low, op->high);
}

POOL(average_f32, float, float, 0, sum + value, clamp_f32(op, sum / count))
POOL(average_u8, uint8_t, int64_t, 0, sum + value, rounded_mean(op, sum, count))
POOL(average_i8, int8_t, int64_t, 0, sum + value, rounded_mean(op, sum, count))
POOL(average_i16, int16_t, int64_t, 0, sum + value, rounded_mean(op, sum, count))
POOL(l2_f32, float, float, 0, sum + value * value, clamp_f32(op, sqrtf(sum / count)))

// ---- the largest value --------------------------------------------------------------------------

// Neighboring windows of one row of the output.
struct strip {
    int64_t first, down; // elements of x: of the first position, from row to row
    int rows, columns;   // of x
    int channels, outputs;
    const struct reach {
        int first, count; // columns, from the strip's first on
    } * reach;            // of each output
};

// Values of x under one strip, and outputs.
enum { STRIP = 2048, STRIP_OUTPUTS = 256 };

typedef void max_kernel(const struct pool *op, const struct strip *strip, const void *x, void *y);

// First each column of x, then those of each window: rows + columns steps in place of their product.
#define MAX_POOL(name, type, lowest, finish)                                                             \
    static void name(const struct pool *op, const struct strip *strip, const void *x, void *y)           \
    {                                                                                                    \
        type columns[STRIP];                                                                             \
        type *restrict out = y;                                                                          \
        const type *restrict in = (const type *)x + strip->first;                                        \
        int channels = strip->channels, n = strip->columns * channels;                                   \
        for (int i = 0; i < n; i++) columns[i] = strip->rows > 0 && in[i] > (lowest) ? in[i] : (lowest); \
        for (int row = 1; row < strip->rows; row++) {                                                    \
            in += strip->down;                                                                           \
            for (int i = 0; i < n; i++) columns[i] = columns[i] < in[i] ? in[i] : columns[i];            \
        }                                                                                                \
        for (int o = 0; o < strip->outputs; o++, out += channels) {                                      \
            const type *from = columns + strip->reach[o].first * channels;                               \
            int count = strip->reach[o].count;                                                           \
            for (int c = 0; c < channels; c++) out[c] = count > 0 ? from[c] : (lowest);                  \
            for (int k = 1; k < count; k++) {                                                            \
                from += channels;                                                                        \
                for (int c = 0; c < channels; c++) out[c] = out[c] < from[c] ? from[c] : out[c];         \
            }                                                                                            \
        }                                                                                                \
        out = y;                                                                                         \
        for (int i = 0; i < strip->outputs * channels; i++) {                                            \
            type value = out[i];                                                                         \
            out[i] = (type)(finish);                                                                     \
        }                                                                                                \
    }
MAX_POOL(max_f32, float, -FLT_MAX, clamp_f32(op, value))
MAX_POOL(max_u8, uint8_t, 0, hl_clamp_i32(value, op->low, op->high))
MAX_POOL(max_i8, int8_t, INT8_MIN, hl_clamp_i32(value, op->low, op->high))
MAX_POOL(max_i16, int16_t, INT16_MIN, hl_clamp_i32(value, op->low, op->high))

// Windows so wide that a strip has no room: any number of channels of one position.
#define MAX_WIDE(name, type, lowest, finish) POOL(name, type, type, lowest, sum < value ? value : sum, finish)
MAX_WIDE(wide_f32, float, -FLT_MAX, clamp_f32(op, sum))
MAX_WIDE(wide_u8, uint8_t, 0, hl_clamp_i32(sum, op->low, op->high))
MAX_WIDE(wide_i8, int8_t, INT8_MIN, hl_clamp_i32(sum, op->low, op->high))
MAX_WIDE(wide_i16, int16_t, INT16_MIN, hl_clamp_i32(sum, op->low, op->high))

// ---- prepare ------------------------------------------------------------------------------------

// A window without padding that is larger than the input has no place at all.
static TfLiteStatus find_window(TfLiteContext *ctx, TfLiteNode *node, const char *axis, int in, int filter, int stride,
                                struct hl_window *window)
{
    const TfLitePoolParams *params = node->builtin_data;
    if (params->padding == kTfLitePaddingValid && filter > in && stride > 0) {
        *window = (struct hl_window){0};
        return kTfLiteOk;
    }
    return hl_window_size(ctx, node, axis, params->padding, in, filter, stride, 1, window);
}

static TfLiteStatus pool_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLitePoolParams *params = node->builtin_data;
    struct pool *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, it must have 4", hl_rank(x));
    HL_TRY(hl_require_same_type(ctx, node, x, y));
    HL_TRY(find_window(ctx, node, "height", hl_dim(x, 1), params->filter_height, params->stride_height, &op->y));
    HL_TRY(find_window(ctx, node, "width", hl_dim(x, 2), params->filter_width, params->stride_width, &op->x));
    // The original: a window wider than the input by two strides or more leaves no rows either.
    if (params->padding == kTfLitePaddingValid &&
        (int64_t)params->filter_width - hl_dim(x, 2) >= 2 * (int64_t)params->stride_width)
        op->y.out = 0;
    hl_activation_range(params->activation, y, &op->low, &op->high);
    hl_activation_range_f32(params->activation, &op->low_f32, &op->high_f32);
    int dims[4] = {hl_dim(x, 0), op->y.out, op->x.out, hl_dim(x, 3)};
    return hl_resize(ctx, y, 4, dims);
}

static TfLiteStatus prepare_any(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(pool_prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int32_t low, high;
    if (x->type != kTfLiteFloat32 && !hl_type_range(x->type, &low, &high)) return hl_unsupported_type(ctx, node, x);
    return kTfLiteOk;
}

static TfLiteStatus prepare_l2(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(pool_prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    return x->type == kTfLiteFloat32 ? kTfLiteOk : hl_unsupported_type(ctx, node, x);
}

// The positions [*first, *first + result) of window number `at` inside an input of `in` positions.
static int clip(const struct hl_window *window, int at, int stride, int filter, int in, int64_t *first)
{
    int64_t begin = (int64_t)at * stride - window->before, end = begin + filter;
    *first = begin < 0 ? 0 : begin;
    if (end > in) end = in;
    return end > *first ? (int)(end - *first) : 0;
}

// Rows of the output, counted through all batches. Either `kernel` makes one position after the other, or `strips` as
// many as a strip has room for.
struct rows {
    const struct pool *op;
    const TfLitePoolParams *params;
    pool_kernel *kernel;
    max_kernel *strips;
    const void *x;
    char *y;
    int height, width, channels;  // of x
    int64_t count, piece, stride; // of rows: all, in one item of work, bytes
};

static void pool_row(const struct rows *rows, int64_t batch, int row, char *y)
{
    const struct pool *op = rows->op;
    const TfLitePoolParams *params = rows->params;
    struct patch patch = {.down = (int64_t)rows->width * rows->channels, .channels = rows->channels};
    int64_t top, left;
    patch.rows = clip(&op->y, row, params->stride_height, params->filter_height, rows->height, &top);
    for (int j = 0; j < op->x.out; j++) {
        patch.columns = clip(&op->x, j, params->stride_width, params->filter_width, rows->width, &left);
        patch.first = ((batch * rows->height + top) * rows->width + left) * rows->channels;
        rows->kernel(op, &patch, rows->x, y + rows->stride / op->x.out * j);
    }
}

static void max_row(const struct rows *rows, int64_t batch, int row, char *y)
{
    const struct pool *op = rows->op;
    const TfLitePoolParams *params = rows->params;
    const int width = rows->width, channels = rows->channels;
    struct reach reach[STRIP_OUTPUTS];
    struct strip strip = {.down = (int64_t)width * channels, .channels = channels, .reach = reach};
    int64_t top, left, first;
    strip.rows = clip(&op->y, row, params->stride_height, params->filter_height, rows->height, &top);
    for (int j = 0; j < op->x.out; j += strip.outputs) {
        clip(&op->x, j, params->stride_width, params->filter_width, width, &left);
        if (left > width) left = width; // a window beyond the input
        strip.columns = strip.outputs = 0;
        while (strip.outputs < STRIP_OUTPUTS && j + strip.outputs < op->x.out) {
            int count = clip(&op->x, j + strip.outputs, params->stride_width, params->filter_width, width, &first);
            int64_t end = count > 0 ? first + count - left : strip.columns;
            if (end * channels > STRIP) break;
            reach[strip.outputs++] = (struct reach){count > 0 ? (int)(first - left) : 0, count};
            if (end > strip.columns) strip.columns = (int)end;
        }
        strip.first = ((batch * rows->height + top) * width + left) * channels;
        rows->strips(op, &strip, rows->x, y + rows->stride / op->x.out * j);
    }
}

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct rows *rows = arg;
    const int64_t first = item * rows->piece, left = rows->count - first;
    const int64_t end = first + (left < rows->piece ? left : rows->piece);
    (void)worker;
    for (int64_t row = first; row < end; row++)
        (rows->strips ? max_row : pool_row)(rows, row / rows->op->y.out, (int)(row % rows->op->y.out),
                                            rows->y + row * rows->stride);
}

static TfLiteStatus pool_run(TfLiteContext *ctx, TfLiteNode *node, pool_kernel *kernel, max_kernel *strips)
{
    enum { MIN_SHARED_VALUES = 8192 }; // of all windows: fewer take about as long as it takes to share them
    const TfLitePoolParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0) return kTfLiteOk;
    struct rows rows = {
        .op = node->user_data,
        .params = params,
        .kernel = kernel,
        .strips = (int64_t)params->filter_width * hl_dim(x, 3) > STRIP ? NULL : strips,
        .x = hl_data(x),
        .y = HL_OUT(char, y),
        .height = hl_dim(x, 1),
        .width = hl_dim(x, 2),
        .channels = hl_dim(x, 3),
        .count = (int64_t)hl_dim(y, 0) * hl_dim(y, 1),
        .stride = (int64_t)hl_dim(y, 2) * hl_dim(y, 3) * (int64_t)hl_type_size(x->type),
    };
    const double values = (double)hl_elements(y) * params->filter_height * params->filter_width;
    rows.piece = hl_piece(ctx, rows.count, values >= MIN_SHARED_VALUES);
    hl_parallel(ctx, (rows.count - 1) / rows.piece + 1, run_rows, &rows);
    return kTfLiteOk;
}

static TfLiteStatus average_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    switch (x->type) {
    case kTfLiteUInt8: return pool_run(ctx, node, average_u8, NULL);
    case kTfLiteInt8: return pool_run(ctx, node, average_i8, NULL);
    case kTfLiteInt16: return pool_run(ctx, node, average_i16, NULL);
    default: return pool_run(ctx, node, average_f32, NULL);
    }
}

static TfLiteStatus max_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    switch (x->type) {
    case kTfLiteUInt8: return pool_run(ctx, node, wide_u8, max_u8);
    case kTfLiteInt8: return pool_run(ctx, node, wide_i8, max_i8);
    case kTfLiteInt16: return pool_run(ctx, node, wide_i16, max_i16);
    default: return pool_run(ctx, node, wide_f32, max_f32);
    }
}

static TfLiteStatus l2_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return pool_run(ctx, node, l2_f32, NULL);
}

static double pool_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLitePoolParams *params = node->builtin_data;
    return hl_work_of_window(hl_input(ctx, node, 0), hl_output(ctx, node, 0), params->filter_height,
                             params->filter_width);
}

const struct hl_op hl_op_average_pool_2d = {
    .state_size = sizeof(struct pool),
    .prepare = prepare_any,
    .invoke = average_invoke,
    .work = pool_work,
};

const struct hl_op hl_op_max_pool_2d = {
    .state_size = sizeof(struct pool),
    .prepare = prepare_any,
    .invoke = max_invoke,
    .work = pool_work,
};

const struct hl_op hl_op_l2_pool_2d = {
    .state_size = sizeof(struct pool),
    .prepare = prepare_l2,
    .invoke = l2_invoke,
    .work = pool_work,
};
