// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D: the mean, the largest or the root of the mean of squares
// of each channel in a sliding window, of whose positions only those inside the input count.
// in 0: x [batch, height, width, channels], out 0: y [batch, out height, out width, channels].
// Average and max: float32, uint8, int8, int16; L2: float32. Stored values are not rescaled, even
// where the scales of x and y differ; averages round half away from zero.
#include <assert.h>

#include "ops/common/pool_rows.h"
#include "ops/common/quant.h"
#include "ops/common/row_kernels.h"
#include "ops/common/window.h"
#include "ops/common/work.h"

struct pool {
    struct hl_window y, x;
    int first_inside, end_inside; // windows of a row that lie inside the input
    int32_t low, high;
    float low_f32, high_f32;
};

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
    const int64_t room = (int64_t)hl_dim(x, 2) + op->x.before - params->filter_width;
    const int64_t first = ((int64_t)op->x.before + params->stride_width - 1) / params->stride_width,
                  end = room < 0 ? 0 : room / params->stride_width + 1;
    op->first_inside = first < op->x.out ? (int)first : op->x.out;
    op->end_inside = end < op->x.out ? (int)end : op->x.out;
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

// Rows of the output, counted through all batches.
struct rows {
    const struct pool *op;
    const TfLitePoolParams *params;
    hl_pool_kernel *kernel;
    bool is_signed;
    const char *x, *x_end;
    char *y;
    int height, width, channels, size; // of x, and of a value
    int64_t count, piece, stride;      // of rows: all, in one item of work, bytes
};

// Windows that reach beyond the input one by one, those between them at once. With a stride of 1 their values lie side
// by side as those of one position.
static void pool_row(const struct rows *rows, int64_t batch, int row, char *y, struct hl_pool_run *run)
{
    const struct pool *op = rows->op;
    const TfLitePoolParams *params = rows->params;
    int64_t top, left;
    run->rows = clip(&op->y, row, params->stride_height, params->filter_height, rows->height, &top);
    const char *line = rows->x + (batch * rows->height + top) * run->down * rows->size;
    for (int j = 0, windows; j < op->x.out; j += windows, y += (int64_t)windows * rows->channels * rows->size) {
        const bool inside = j >= op->first_inside && j < op->end_inside;
        const bool together = inside && params->stride_width == 1;
        windows = inside ? op->end_inside - j : 1;
        run->columns = clip(&op->x, j, params->stride_width, params->filter_width, rows->width, &left);
        assert(run->rows > 0 && run->columns > 0);
        run->positions = together ? 1 : windows;
        run->count = (int64_t)(together ? windows : 1) * rows->channels;
        run->x = line + left * rows->channels * rows->size;
        run->y = y;
        rows->kernel(run);
    }
}

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct rows *rows = arg;
    const struct pool *op = rows->op;
    const int64_t first = item * rows->piece, left = rows->count - first;
    const int64_t end = first + (left < rows->piece ? left : rows->piece);
    struct hl_pool_run run = {
        .down = (ptrdiff_t)rows->width * rows->channels,
        .right = rows->channels,
        .step = (ptrdiff_t)rows->params->stride_width * rows->channels,
        .x_end = rows->x_end,
        .y_end = rows->y + end * rows->stride,
        .is_signed = rows->is_signed,
        .low = op->low,
        .high = op->high,
        .low_f32 = op->low_f32,
        .high_f32 = op->high_f32,
    };
    (void)worker;
    for (int64_t row = first; row < end; row++) {
        const int64_t batch = row < op->y.out ? 0 : row / op->y.out; // small pools feel the division
        pool_row(rows, batch, (int)(row - batch * op->y.out), rows->y + row * rows->stride, &run);
    }
}

static TfLiteStatus pool_run(TfLiteContext *ctx, TfLiteNode *node, enum hl_pool_kind kind)
{
    enum { MIN_SHARED_VALUES = 8192 }; // of all windows: fewer take about as long as it takes to share them
    const TfLitePoolParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0) return kTfLiteOk;
    const int size = (int)hl_type_size(x->type);
    struct rows rows = {
        .op = node->user_data,
        .params = params,
        .kernel = kind < HL_POOL_LEVEL_KINDS ? hl_row_kernels(ctx)->pool[kind] : hl_pool_plain[kind],
        .is_signed = x->type == kTfLiteInt8,
        .x = hl_data(x),
        .x_end = HL_IN(char, x) + hl_elements(x) * size,
        .y = HL_OUT(char, y),
        .height = hl_dim(x, 1),
        .width = hl_dim(x, 2),
        .channels = hl_dim(x, 3),
        .size = size,
        .count = (int64_t)hl_dim(y, 0) * hl_dim(y, 1),
        .stride = (int64_t)hl_dim(y, 2) * hl_dim(y, 3) * size,
    };
    const double values = (double)hl_elements(y) * params->filter_height * params->filter_width;
    rows.piece = hl_piece(ctx, rows.count, values >= MIN_SHARED_VALUES);
    hl_parallel(ctx, (rows.count - 1) / rows.piece + 1, run_rows, &rows);
    return kTfLiteOk;
}

static TfLiteStatus average_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    switch (hl_input(ctx, node, 0)->type) {
    case kTfLiteUInt8: return pool_run(ctx, node, HL_POOL_AVERAGE_U8);
    case kTfLiteInt8: return pool_run(ctx, node, HL_POOL_AVERAGE_I8);
    case kTfLiteInt16: return pool_run(ctx, node, HL_POOL_AVERAGE_I16);
    default: return pool_run(ctx, node, HL_POOL_AVERAGE_F32);
    }
}

static TfLiteStatus max_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    switch (hl_input(ctx, node, 0)->type) {
    case kTfLiteUInt8: return pool_run(ctx, node, HL_POOL_MAX_U8);
    case kTfLiteInt8: return pool_run(ctx, node, HL_POOL_MAX_I8);
    case kTfLiteInt16: return pool_run(ctx, node, HL_POOL_MAX_I16);
    default: return pool_run(ctx, node, HL_POOL_MAX_F32);
    }
}

static TfLiteStatus l2_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return pool_run(ctx, node, HL_POOL_L2_F32);
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
