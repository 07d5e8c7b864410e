// SPDX-License-Identifier: Apache-2.0
// RFFT2D: the two-dimensional Fourier transform of real images.
// in 0: x [..., h, w] float32, cut or filled with zeros to in 1: lengths fh, fw, int32 [2], powers
// of two; out 0: y [..., fh, fw / 2 + 1] complex64,
// y[k, l] = sum of x[i, j] * exp(-2 pi i (i k / fh + j l / fw)).
#include <string.h>

#include "ops/common/fft.h"
#include "ops/op.h"

// Largest transform along one axis: its indices, doubled, stay within int.
enum { MAX_LENGTH = 1 << 28 };
// Fewer take about as long as waking the other threads.
enum { MIN_SHARED_VALUES = 2048 };
// ROWS: the transforms of one image's rows; LINE: one row or column; both for each thread. ROOTS: for the width, then
// for the height.
enum { ROWS, LINE, ROOTS, TEMPORARIES };

static TfLiteStatus resize(TfLiteContext *ctx, TfLiteNode *node, bool now)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int32_t *length = HL_IN(int32_t, hl_input(ctx, node, 1));
    int rank = hl_rank(x), dims[HL_MAX_RANK];
    for (int i = 0; i < 2; i++)
        HL_REQUIRE(ctx, node, hl_is_power_of_two(length[i]) && length[i] <= MAX_LENGTH,
                   "length %d is not a power of two up to 2^28", (int)length[i]);
    int height = length[0], width = length[1];
    for (int axis = 0; axis < rank - 2; axis++) dims[axis] = hl_dim(x, axis);
    dims[rank - 2] = height;
    dims[rank - 1] = width / 2 + 1;
    HL_TRY(hl_resize(ctx, hl_output(ctx, node, 0), rank, dims));

    const int64_t images = hl_product(x->dims, 0, rank - 2);
    const int threads = images < hl_thread_count(ctx) ? 1 : hl_thread_count(ctx);
    const int sizes[TEMPORARIES][4] = {
        [ROWS] = {threads, height, width / 2 + 1, 2},
        [LINE] = {threads, 1, height > width ? height : width, 2},
        [ROOTS] = {1, 1, width / 2 + height / 2 + 1, 2}, // lengths of 1 have none
    };
    for (int i = 0; i < TEMPORARIES; i++)
        HL_TRY(now ? hl_resize(ctx, hl_temporary(ctx, node, i), 4, sizes[i])
                   : hl_set_temporary(ctx, node, i, kTfLiteFloat64, false, 4, sizes[i]));
    return kTfLiteOk;
}

static TfLiteStatus rfft2d_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *length = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteComplex64) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, hl_rank(x) >= 2 && hl_rank(x) <= HL_MAX_RANK, "an input of %d dimensions is not supported",
               hl_rank(x));
    HL_REQUIRE(ctx, node, length->type == kTfLiteInt32 && hl_rank(length) == 1 && hl_dim(length, 0) == 2,
               "the lengths must be 2 int32 values");
    if (hl_is_constant(length)) return resize(ctx, node, false);
    for (int i = 0; i < TEMPORARIES; i++) {
        HL_TRY(hl_set_temporary(ctx, node, i, kTfLiteFloat64, false, 1, (const int[]){0}));
        hl_make_dynamic(hl_temporary(ctx, node, i));
    }
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

struct transform {
    int in_height, in_width, height, width;
    double *rows, *line, *width_roots, *height_roots;
};

// One image, which begins at x[first].
static void transform_image(const struct transform *t, const float *x, int64_t first, float *y)
{
    int kept = t->width / 2 + 1;
    for (int r = 0; r < t->height; r++) {
        int given = r >= t->in_height ? 0 : t->in_width < t->width ? t->in_width : t->width;
        for (int c = 0; c < given; c++) t->line[c] = (double)x[first + (int64_t)r * t->in_width + c];
        for (int c = given; c < t->width; c++) t->line[c] = 0;
        hl_fft_real(t->width, t->width_roots, t->line);
        double *row = t->rows + 2 * (int64_t)r * kept;
        memcpy(row, t->line, 2 * (size_t)kept * sizeof *row);
    }
    if (t->height == 1) {
        for (int i = 0; i < 2 * kept; i++) y[i] = (float)t->rows[i];
        return;
    }
    for (int c = 0; c < kept; c++) {
        for (int r = 0; r < t->height; r++) {
            const double *value = t->rows + 2 * ((int64_t)r * kept + c);
            t->line[2 * r] = value[0], t->line[2 * r + 1] = value[1];
        }
        hl_fft(t->height, t->height_roots, t->line);
        for (int r = 0; r < t->height; r++) {
            float *value = y + 2 * ((int64_t)r * kept + c);
            value[0] = (float)t->line[2 * r], value[1] = (float)t->line[2 * r + 1];
        }
    }
}

struct transform_run {
    const struct transform *transform;
    const float *x;
    float *y;
    int64_t images, piece;
};

static void transform_piece(void *arg, int64_t item, int worker)
{
    const struct transform_run *run = arg;
    struct transform t = *run->transform;
    const int64_t in_size = (int64_t)t.in_height * t.in_width, kept = t.width / 2 + 1, out_size = t.height * kept;
    const int64_t first = item * run->piece, left = run->images - first;
    t.rows += 2 * worker * out_size;
    t.line += 2 * (int64_t)worker * (t.height > t.width ? t.height : t.width);
    for (int64_t i = first; i < first + (left < run->piece ? left : run->piece); i++)
        transform_image(&t, run->x, i * in_size, run->y + 2 * i * out_size);
}

static TfLiteStatus rfft2d_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node, true));

    const int32_t *length = HL_IN(int32_t, hl_input(ctx, node, 1));
    int rank = hl_rank(x);
    struct transform t = {
        .in_height = hl_dim(x, rank - 2),
        .in_width = hl_dim(x, rank - 1),
        .height = length[0],
        .width = length[1],
        .rows = HL_OUT(double, hl_temporary(ctx, node, ROWS)),
        .line = HL_OUT(double, hl_temporary(ctx, node, LINE)),
        .width_roots = HL_OUT(double, hl_temporary(ctx, node, ROOTS)),
    };
    t.height_roots = t.width_roots + 2 * (t.width / 2);
    hl_fft_roots(t.width, t.width_roots);
    hl_fft_roots(t.height, t.height_roots);
    struct transform_run run = {
        .transform = &t,
        .x = HL_IN(float, x),
        .y = HL_OUT(float, y),
        .images = hl_product(x->dims, 0, rank - 2),
    };
    if (run.images == 0) return kTfLiteOk;
    const bool shared = hl_dim(hl_temporary(ctx, node, ROWS), 0) == hl_thread_count(ctx);
    run.piece = shared ? hl_piece(ctx, run.images, hl_elements(y) >= MIN_SHARED_VALUES) : run.images;
    hl_parallel(ctx, (run.images - 1) / run.piece + 1, transform_piece, &run);
    return kTfLiteOk;
}

const struct hl_op hl_op_rfft2d = {
    .prepare = rfft2d_prepare,
    .invoke = rfft2d_invoke,
};
