// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D: the mean, the largest or the root of the mean of squares
// of each channel in a sliding window, of whose positions only those inside the input count.
// in 0: x [batch, height, width, channels], out 0: y [batch, out height, out width, channels].
// Average and max: float32, uint8, int8, int16; L2: float32. Stored values are not rescaled, even
// where the scales of x and y differ; averages round half away from zero.
#include "ops/common/pool_rows.h"
#include "ops/common/quant.h"
#include "ops/common/row_kernels.h"
#include "ops/common/window.h"
#include "ops/common/work.h"

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

// The windows of a row are taken at once. (MAX_POOL_2D, 3x1 with stride 2 of 1,000 rows, 64 channels: floats 10.6 us
// as a column, 4.2 as a row; int8 10.1, 1.2.)
static void turn_column(struct hl_pool *op, int threads)
{
    if (op->width != 1 || op->x.out != 1 || op->y.out <= 1 || !hl_column_turns(op->y.out, threads)) return;
    op->width = op->height, op->height = 1;
    op->x = op->y, op->y = (struct hl_window){.out = 1};
    op->filter_w = op->filter_h, op->filter_h = 1;
    op->stride_w = op->stride_h, op->stride_h = 1;
}

// kinds: of float32, uint8, int8, int16; HL_POOL_KINDS: the pool does not take the type.
static TfLiteStatus pool_prepare(TfLiteContext *ctx, TfLiteNode *node, const enum hl_pool_kind kinds[4])
{
    const TfLitePoolParams *params = node->builtin_data;
    struct hl_pool *op = node->user_data;
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
    int dims[4] = {hl_dim(x, 0), op->y.out, op->x.out, hl_dim(x, 3)};
    op->filter_h = params->filter_height, op->filter_w = params->filter_width;
    op->stride_h = params->stride_height, op->stride_w = params->stride_width;
    op->height = hl_dim(x, 1), op->width = hl_dim(x, 2), op->channels = hl_dim(x, 3);
    turn_column(op, hl_thread_count(ctx));
    const int64_t room = (int64_t)op->width + op->x.before - op->filter_w;
    const int64_t first = ((int64_t)op->x.before + op->stride_w - 1) / op->stride_w,
                  end = room < 0 ? 0 : room / op->stride_w + 1;
    op->first_inside = first < op->x.out ? (int)first : op->x.out;
    op->end_inside = end < op->x.out ? (int)end : op->x.out;
    op->size = (int)hl_type_size(x->type);
    op->is_signed = x->type == kTfLiteInt8;
    hl_activation_range(params->activation, y, &op->low, &op->high);
    hl_activation_range_f32(params->activation, &op->low_f32, &op->high_f32);
    static const TfLiteType types[4] = {kTfLiteFloat32, kTfLiteUInt8, kTfLiteInt8, kTfLiteInt16};
    int i = 0;
    while (i < 4 && types[i] != x->type) i++;
    if (i == 4 || kinds[i] == HL_POOL_KINDS) return hl_unsupported_type(ctx, node, x);
    op->kernel = kinds[i] < HL_POOL_LEVEL_KINDS ? hl_row_kernels(ctx)->pool[kinds[i]] : hl_pool_plain[kinds[i]];
    return hl_resize(ctx, y, 4, dims);
}

static TfLiteStatus prepare_average(TfLiteContext *ctx, TfLiteNode *node)
{
    static const enum hl_pool_kind kinds[] = {HL_POOL_AVERAGE_F32, HL_POOL_AVERAGE_U8, HL_POOL_AVERAGE_I8,
                                              HL_POOL_AVERAGE_I16};
    return pool_prepare(ctx, node, kinds);
}

static TfLiteStatus prepare_max(TfLiteContext *ctx, TfLiteNode *node)
{
    static const enum hl_pool_kind kinds[] = {HL_POOL_MAX_F32, HL_POOL_MAX_U8, HL_POOL_MAX_I8, HL_POOL_MAX_I16};
    return pool_prepare(ctx, node, kinds);
}

static TfLiteStatus prepare_l2(TfLiteContext *ctx, TfLiteNode *node)
{
    static const enum hl_pool_kind kinds[] = {HL_POOL_L2_F32, HL_POOL_KINDS, HL_POOL_KINDS, HL_POOL_KINDS};
    return pool_prepare(ctx, node, kinds);
}

// ---- run ----------------------------------------------------------------------------------------

// Rows of the output, counted through all batches.
struct rows {
    const struct hl_pool *pool;
    const char *x, *x_end;
    char *y;
    int64_t count, piece; // of rows: all, in one item of work
    int64_t image, line;  // bytes of x, and of a row of y
};

static void run_rows(void *arg, int64_t item, int worker)
{
    const struct rows *rows = arg;
    const struct hl_pool *pool = rows->pool;
    const int64_t first = item * rows->piece, left = rows->count - first;
    const int64_t end = first + (left < rows->piece ? left : rows->piece);
    struct hl_pool_run run = hl_pool_begin(pool, rows->x_end, rows->y + end * rows->line);
    (void)worker;
    for (int64_t row = first; row < end; row++) {
        const int64_t batch = row < pool->y.out ? 0 : row / pool->y.out; // small pools feel the division
        hl_pool_line(pool, rows->x + batch * rows->image, 0, (int)(row - batch * pool->y.out),
                     rows->y + row * rows->line, &run);
    }
}

static TfLiteStatus pool_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    enum { MIN_SHARED_VALUES = 8192 }; // of all windows: fewer take about as long as it takes to share them
    const struct hl_pool *pool = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0) return kTfLiteOk;
    struct rows rows = {
        .pool = pool,
        .x = hl_data(x),
        .x_end = HL_IN(char, x) + hl_elements(x) * pool->size,
        .y = HL_OUT(char, y),
        .count = (int64_t)hl_dim(y, 0) * pool->y.out,
        .image = (int64_t)pool->height * pool->width * pool->channels * pool->size,
        .line = (int64_t)pool->x.out * pool->channels * pool->size,
    };
    const double values = (double)hl_elements(y) * pool->filter_h * pool->filter_w;
    rows.piece = hl_piece(ctx, rows.count, values >= MIN_SHARED_VALUES);
    hl_parallel(ctx, (rows.count - 1) / rows.piece + 1, run_rows, &rows);
    return kTfLiteOk;
}

static double pool_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLitePoolParams *params = node->builtin_data;
    return hl_work_of_window(hl_input(ctx, node, 0), hl_output(ctx, node, 0), params->filter_height,
                             params->filter_width);
}

const struct hl_op hl_op_average_pool_2d = {
    .state_size = sizeof(struct hl_pool),
    .prepare = prepare_average,
    .invoke = pool_invoke,
    .work = pool_work,
    .ends_chains = true,
};

const struct hl_op hl_op_max_pool_2d = {
    .state_size = sizeof(struct hl_pool),
    .prepare = prepare_max,
    .invoke = pool_invoke,
    .work = pool_work,
    .ends_chains = true,
};

const struct hl_op hl_op_l2_pool_2d = {
    .state_size = sizeof(struct hl_pool),
    .prepare = prepare_l2,
    .invoke = pool_invoke,
    .work = pool_work,
};
