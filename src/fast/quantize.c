// SPDX-License-Identifier: Apache-2.0
// Rows of floats to int8, shared among threads.
#include "fast/quantize.h"

#include "ops/common/quant.h"

// Fewer values take about as long as waking the other threads. A row has so many pieces at most.
enum { MIN_SHARED_VALUES = 1 << 14, MAX_PIECES = 64 };

struct quantization {
    const struct hl_row_kernels *kernels;
    bool asymmetric;
    const float *x;
    int64_t rows, size;
    uint8_t flip;
    int8_t *stored;
    float *scales;
    int32_t *zeros;
    int64_t piece; // of rows, or of one row's values
    // Of one row:
    float low[MAX_PIECES], high[MAX_PIECES];
    struct hl_row_scale to;
};

// Rows that stay in the first-level cache are quantized together, so that they do not wait for each other's divisions.
// (128 rows of 128 values on a Zen 4: 6.1 us one by one, 4.6 us so.)
static void quantize_rows(const struct quantization *q, int64_t first, int64_t end)
{
    enum { MAX_ROWS = 32, MAX_VALUES = 4096 };
    int64_t most = 1;
    while (most < MAX_ROWS && 2 * most * q->size <= MAX_VALUES) most *= 2;
    float low[MAX_ROWS], high[MAX_ROWS];
    struct hl_row_scale to[MAX_ROWS];
    for (int64_t r = first, count; r < end; r += count) {
        count = end - r < most ? end - r : most;
        for (int64_t i = 0; i < count; i++) q->kernels->range(q->x + (r + i) * q->size, q->size, &low[i], &high[i]);
        for (int64_t i = 0; i < count; i++) {
            to[i] = hl_row_scale_of(q->asymmetric, low[i], high[i]);
            q->scales[r + i] = to[i].scale;
            q->zeros[r + i] = to[i].zero + q->flip;
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = (r + i) * q->size;
            hl_quantize_values(q->kernels, &to[i], q->x + at, q->size, q->flip, q->stored + at);
        }
    }
}

static void quantize_some_rows(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct quantization *q = arg;
    const int64_t end = (item + 1) * q->piece;
    quantize_rows(q, item * q->piece, end < q->rows ? end : q->rows);
}

static int64_t values_of(const struct quantization *q, int64_t item)
{
    const int64_t left = q->size - item * q->piece;
    return left < q->piece ? left : q->piece;
}

static void find_range(void *arg, int64_t item, int worker)
{
    (void)worker;
    struct quantization *q = arg;
    q->kernels->range(q->x + item * q->piece, values_of(q, item), &q->low[item], &q->high[item]);
}

static void quantize_piece(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct quantization *q = arg;
    const int64_t at = item * q->piece;
    hl_quantize_values(q->kernels, &q->to, q->x + at, values_of(q, item), q->flip, q->stored + at);
}

static int64_t piece_of(const TfLiteContext *ctx, int64_t size)
{
    const int64_t least = (size - 1) / MAX_PIECES + 1, piece = hl_piece(ctx, size, true);
    return ((piece < least ? least : piece) + HL_LINE - 1) / HL_LINE * HL_LINE; // no two threads in a cache line
}

// The range of a row is that of its pieces' ranges.
static void share_range(const TfLiteContext *ctx, struct quantization *q)
{
    const int64_t pieces = (q->size - 1) / q->piece + 1;
    float low = 0, high = 0;
    hl_parallel(ctx, pieces, find_range, q);
    for (int64_t i = 0; i < pieces; i++) {
        low = q->low[i] < low ? q->low[i] : low;
        high = q->high[i] > high ? q->high[i] : high;
    }
    q->to = hl_row_scale_of(q->asymmetric, low, high);
}

static void share_row(const TfLiteContext *ctx, struct quantization *q)
{
    share_range(ctx, q);
    *q->scales = q->to.scale;
    *q->zeros = q->to.zero + q->flip;
    hl_parallel(ctx, (q->size - 1) / q->piece + 1, quantize_piece, q);
}

void hl_find_row_scales(const TfLiteContext *ctx, const struct hl_row_kernels *kernels, bool asymmetric, const float *x,
                        int64_t rows, int64_t size, struct hl_row_scale *to)
{
    const bool shared = hl_thread_count(ctx) > 1 && size >= MIN_SHARED_VALUES;
    struct quantization q = {
        .kernels = kernels,
        .asymmetric = asymmetric,
        .x = x,
        .size = size,
        .piece = shared ? piece_of(ctx, size) : size,
    };
    for (int64_t r = 0; r < rows; r++, q.x += size) {
        share_range(ctx, &q);
        to[r] = q.to;
    }
}

void hl_quantize_rows(const TfLiteContext *ctx, const struct hl_row_kernels *kernels, bool asymmetric, const float *x,
                      int64_t rows, int64_t size, uint8_t flip, int8_t *stored, float *scales, int32_t *zeros)
{
    const int threads = hl_thread_count(ctx);
    struct quantization q = {
        .kernels = kernels,
        .asymmetric = asymmetric,
        .x = x,
        .rows = rows,
        .size = size,
        .flip = flip,
        .stored = stored,
        .scales = scales,
        .zeros = zeros,
    };
    if (threads == 1 || rows * size < MIN_SHARED_VALUES) {
        quantize_rows(&q, 0, rows);
        return;
    }
    if (rows >= threads || size < MIN_SHARED_VALUES) {
        q.piece = hl_piece(ctx, rows, true);
        hl_parallel(ctx, (rows - 1) / q.piece + 1, quantize_some_rows, &q);
        return;
    }
    q.piece = piece_of(ctx, size);
    for (int64_t r = 0; r < rows; r++, q.x += size, q.stored += size, q.scales++, q.zeros++) share_row(ctx, &q);
}
