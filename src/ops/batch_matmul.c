// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL: y[..., m, n] = sum over k of x[..., m, k] * w[..., k, n]; the leading dimensions are
// batches, broadcast against each other. adj_x, adj_y: x is stored as [..., k, m], w as [..., n, k].
// in 0: x, in 1: w, out 0: y; 2 to 5 dimensions.
// float32; int8 to int8; int8 to int32: sums of the stored values, zero points left aside as in the
// original; int16 with int16 or int8; float32 with int8 w: hybrid, each row of x is quantised.
#include <math.h>
#include <stdlib.h>

#include "ops/dot.h"
#include "ops/quant.h"

enum { LARGEST_RANK = 5, BATCH_DIMS = LARGEST_RANK - 2 };

enum mode { FLOAT, INTEGER, HYBRID };

struct matmul {
    enum mode mode;
    int m, n, k;
    int x_batch[BATCH_DIMS], w_batch[BATCH_DIMS], y_batch[BATCH_DIMS];
    int counted; // last batch dimensions that may count properly, see multiply_hybrid
    int scales; // of w: 1 or n
    struct hl_rescale *rescales; // INTEGER with a quantised output: one per scale, owned
    int32_t low, high;
};

// Both operands in rows of k: x as [m, k], w as [n, k]; floats, or wide integers.
enum { X_ROWS, W_ROWS, X_ROW, X_STORED, X_SCALES, X_ZEROS, W_SUMS, TEMPORARIES };

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_types(TfLiteContext *ctx, TfLiteNode *node, struct matmul *op)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool fits;
    switch (x->type) {
    case kTfLiteFloat32:
        op->mode = w->type == kTfLiteFloat32 ? FLOAT : HYBRID;
        fits = (w->type == kTfLiteFloat32 || w->type == kTfLiteInt8) && y->type == kTfLiteFloat32;
        break;
    case kTfLiteInt8:
        op->mode = INTEGER;
        fits = w->type == kTfLiteInt8 && (y->type == kTfLiteInt8 || y->type == kTfLiteInt32);
        break;
    case kTfLiteInt16:
        op->mode = INTEGER;
        fits = (w->type == kTfLiteInt16 || w->type == kTfLiteInt8) && y->type == kTfLiteInt16;
        break;
    default: fits = false;
    }
    HL_REQUIRE(ctx, node, fits, "%s times %s to %s is not supported", hl_type_name(x->type),
               hl_type_name(w->type), hl_type_name(y->type));
    HL_REQUIRE(ctx, node, !x->sparsity && !w->sparsity, "sparse operands are not supported");
    return kTfLiteOk;
}

// The batch dimensions of one operand, ones in front.
static void take_batches(const TfLiteTensor *tensor, int *batches)
{
    int count = hl_rank(tensor) - 2;
    for (int i = 0; i < BATCH_DIMS; i++) {
        int axis = i - (BATCH_DIMS - count);
        batches[i] = axis < 0 ? 1 : hl_dim(tensor, axis);
    }
}

static TfLiteStatus check_shapes(TfLiteContext *ctx, TfLiteNode *node, struct matmul *op)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    int x_rank = hl_rank(x), w_rank = hl_rank(w);
    HL_REQUIRE(ctx, node,
               x_rank >= 2 && x_rank <= LARGEST_RANK && w_rank >= 2 && w_rank <= LARGEST_RANK,
               "operands of %d and %d dimensions, there must be 2 to 5", x_rank, w_rank);
    op->m = hl_dim(x, x_rank - (params->adj_x ? 1 : 2));
    op->k = hl_dim(x, x_rank - (params->adj_x ? 2 : 1));
    op->n = hl_dim(w, w_rank - (params->adj_y ? 2 : 1));
    int w_k = hl_dim(w, w_rank - (params->adj_y ? 1 : 2));
    HL_REQUIRE(ctx, node, op->k == w_k, "rows of %d cannot be multiplied with columns of %d", op->k, w_k);
    take_batches(x, op->x_batch);
    take_batches(w, op->w_batch);
    op->counted = params->adj_x ? 0 : w_rank - 2;
    for (int i = 0; i < BATCH_DIMS; i++) {
        int a = op->x_batch[i], b = op->w_batch[i];
        HL_REQUIRE(ctx, node, a == b || a == 1 || b == 1, "batches of %d and %d do not broadcast", a, b);
        op->y_batch[i] = a == 1 ? b : a;
    }
    return kTfLiteOk;
}

static TfLiteStatus check_scales(TfLiteContext *ctx, TfLiteNode *node, struct matmul *op)
{
    const TfLiteTensor *w = hl_input(ctx, node, 1);
    const TfLiteAffineQuantization *affine = hl_affine(w);
    HL_REQUIRE(ctx, node, affine && affine->scale && affine->scale->size >= 1,
               "the second operand has no scale");
    op->scales = affine->scale->size;
    HL_REQUIRE(ctx, node, op->scales == 1 || op->scales == op->n, "%d scales do not fit %d columns",
               op->scales, op->n);
    for (int i = 0; i < op->scales; i++)
        HL_REQUIRE(ctx, node, affine->scale->data[i] > 0 && isfinite(affine->scale->data[i]),
                   "scale %d of the second operand must be positive and finite", i);
    return kTfLiteOk;
}

static TfLiteStatus check_quantised(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *tensor)
{
    bool wide = tensor->type == kTfLiteInt16;
    return wide ? hl_require_symmetric(ctx, node, tensor) : hl_require_quantised(ctx, node, tensor);
}

static TfLiteStatus prepare_integer(TfLiteContext *ctx, TfLiteNode *node, struct matmul *op)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_TRY(check_quantised(ctx, node, x));
    HL_TRY(check_scales(ctx, node, op));
    if (op->scales == 1) HL_TRY(check_quantised(ctx, node, w));
    if (x->type == kTfLiteInt16) HL_TRY(hl_require_symmetric(ctx, node, w));
    if (y->type == kTfLiteInt32) return kTfLiteOk;
    HL_TRY(check_quantised(ctx, node, y));
    free(op->rescales);
    op->rescales = malloc((size_t)op->scales * sizeof *op->rescales);
    HL_REQUIRE(ctx, node, op->rescales, "no memory for %d multipliers", op->scales);
    const float *scales = hl_affine(w)->scale->data;
    for (int i = 0; i < op->scales; i++)
        op->rescales[i] = hl_rescale_from((double)(x->params.scale * scales[i]) / hl_scale(y));
    hl_type_range(y->type, &op->low, &op->high);
    return kTfLiteOk;
}

static int64_t batches_of(const int *batch)
{
    return (int64_t)batch[0] * batch[1] * batch[2];
}

static TfLiteStatus set_scratch(TfLiteContext *ctx, TfLiteNode *node, const struct matmul *op)
{
    bool hybrid = op->mode == HYBRID;
    TfLiteType type = op->mode == FLOAT ? kTfLiteFloat32 : kTfLiteInt16;
    int all_x, all_w;
    HL_REQUIRE(ctx, node, hl_to_int(batches_of(op->x_batch), &all_x) && hl_to_int(batches_of(op->w_batch), &all_w),
               "there are too many batches");
    // Hybrid: all rows of x are quantised at first.
    int x[3] = {hybrid ? all_x : 1, op->m, op->k}, w[2] = {op->n, op->k};
    int stored[1] = {hybrid ? op->k : 0};
    int x_rows[2] = {hybrid ? all_x : 0, op->m}, w_rows[2] = {hybrid ? all_w : 0, op->n};
    HL_TRY(hl_set_temporary(ctx, node, X_ROWS, type, false, 3, x));
    HL_TRY(hl_set_temporary(ctx, node, W_ROWS, type, false, 2, w));
    HL_TRY(hl_set_temporary(ctx, node, X_ROW, kTfLiteFloat32, false, 1, stored));
    HL_TRY(hl_set_temporary(ctx, node, X_STORED, kTfLiteInt8, false, 1, stored));
    HL_TRY(hl_set_temporary(ctx, node, X_SCALES, kTfLiteFloat32, false, 2, x_rows));
    HL_TRY(hl_set_temporary(ctx, node, X_ZEROS, kTfLiteInt32, false, 2, x_rows));
    return hl_set_temporary(ctx, node, W_SUMS, kTfLiteInt64, false, 2, w_rows);
}

static TfLiteStatus matmul_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct matmul *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    HL_TRY(check_types(ctx, node, op));
    HL_TRY(check_shapes(ctx, node, op));
    if (op->mode == INTEGER) HL_TRY(prepare_integer(ctx, node, op));
    if (op->mode == HYBRID) HL_TRY(check_scales(ctx, node, op));
    HL_TRY(set_scratch(ctx, node, op));

    int x_rank = hl_rank(hl_input(ctx, node, 0)), w_rank = hl_rank(hl_input(ctx, node, 1));
    int rank = x_rank > w_rank ? x_rank : w_rank, dims[LARGEST_RANK];
    for (int i = 0; i < rank - 2; i++) dims[i] = op->y_batch[BATCH_DIMS - (rank - 2) + i];
    dims[rank - 2] = op->m;
    dims[rank - 1] = op->n;
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static void matmul_release(void *state)
{
    free(((struct matmul *)state)->rescales);
}

// ---- invoke -------------------------------------------------------------------------------------

// One matrix as [rows, k], from [k, rows] where it is transposed.
static void copy_f32(const float *from, int rows, int k, bool transposed, float *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < k; i++)
            to[r * k + i] = from[transposed ? i * rows + r : r * k + i];
}

static void copy_wide(const TfLiteTensor *tensor, int64_t first, int rows, int k, bool transposed,
                      int zero, int16_t *to)
{
    if (!transposed) {
        hl_widen(tensor->type, hl_data(tensor), first, (int64_t)rows * k, zero, to);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < k; i++) {
            int64_t at = first + i * rows + r;
            int value = tensor->type == kTfLiteInt8 ? HL_IN(int8_t, tensor)[at] : HL_IN(int16_t, tensor)[at];
            to[r * k + i] = (int16_t)(value - zero);
        }
}

// Places of one batch of y.
struct place {
    int64_t x, w;           // numbers of its matrices in x and w
    int64_t x_mark, w_mark; // and what the hybrid form takes for these, see multiply_hybrid
};

static struct place find_place(const struct matmul *op, int64_t batch)
{
    struct place place = {0, 0, 0, 0};
    int64_t x_step = 1, w_step = 1, mark_step = 1;
    bool ones = true;
    for (int i = BATCH_DIMS - 1; i >= 0; i--) {
        int index = (int)(batch % op->y_batch[i]);
        int x = op->x_batch[i] == 1 ? 0 : index, w = op->w_batch[i] == 1 ? 0 : index;
        batch /= op->y_batch[i];
        place.x += x * x_step;
        place.w += w * w_step;
        x_step *= op->x_batch[i];
        w_step *= op->w_batch[i];

        ones = ones && i >= BATCH_DIMS - op->counted && op->w_batch[i] == 1;
        place.x_mark += x * mark_step;
        place.w_mark += w;
        if (ones) mark_step = x_step;
    }
    return place;
}

static int rows_at(const struct matmul *op, int n)
{
    return op->n - n < HL_DOT_ROWS ? op->n - n : HL_DOT_ROWS;
}

static void multiply_f32(const struct matmul *op, const float *x, const float *w, float *y)
{
    for (int n = 0; n < op->n; n += HL_DOT_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            float sums[HL_DOT_ROWS] = {0};
            int rows = rows_at(op, n);
            hl_dots_f32(x + m * op->k, w + (int64_t)n * op->k, op->k, rows, op->k, sums);
            memcpy(y + m * op->n + n, sums, (size_t)rows * sizeof *sums);
        }
}

static void store_integer(const struct matmul *op, TfLiteTensor *y, int64_t at, int n, int64_t sum)
{
    if (y->type == kTfLiteInt32) {
        HL_OUT(int32_t, y)[at] = (int32_t)(uint32_t)(uint64_t)sum;
        return;
    }
    struct hl_rescale by = op->rescales[op->scales > 1 ? n : 0];
    if (y->type == kTfLiteInt16) {
        int32_t value = hl_rescale_apply_i64(sum, by);
        HL_OUT(int16_t, y)[at] = (int16_t)hl_clamp_i32(value, op->low, op->high);
        return;
    }
    int64_t value = (int64_t)hl_rescale_apply((int32_t)(uint32_t)(uint64_t)sum, by) + hl_zero(y);
    HL_OUT(int8_t, y)[at] = (int8_t)hl_clamp_i32(hl_saturate_i32(value), op->low, op->high);
}

static void multiply_integer(const struct matmul *op, const int16_t *x, const int16_t *w,
                             bool full_range, TfLiteTensor *y, int64_t at)
{
    for (int n = 0; n < op->n; n += HL_DOT_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            int64_t sums[HL_DOT_ROWS] = {0};
            int rows = rows_at(op, n);
            const int16_t *x_row = x + m * op->k, *w_rows = w + (int64_t)n * op->k;
            if (full_range)
                hl_dots_i16_full(x_row, w_rows, op->k, rows, op->k, sums);
            else
                hl_dots_i16(x_row, w_rows, op->k, rows, op->k, sums);
            for (int r = 0; r < rows; r++)
                store_integer(op, y, at + m * op->n + n + r, n + r, sums[r]);
        }
}

static void quantise_x(TfLiteContext *ctx, TfLiteNode *node, const struct matmul *op)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const float *x = HL_IN(float, hl_input(ctx, node, 0));
    float *row = HL_OUT(float, hl_temporary(ctx, node, X_ROW));
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, X_ROWS));
    int8_t *stored = HL_OUT(int8_t, hl_temporary(ctx, node, X_STORED));
    float *scales = HL_OUT(float, hl_temporary(ctx, node, X_SCALES));
    int32_t *zeros = HL_OUT(int32_t, hl_temporary(ctx, node, X_ZEROS));
    int64_t rows = batches_of(op->x_batch) * op->m;
    for (int64_t r = 0; r < rows; r++) {
        const float *matrix = x + r / op->m * op->m * op->k;
        int64_t m = r % op->m;
        for (int64_t i = 0; i < op->k; i++)
            row[i] = matrix[params->adj_x ? i * op->m + m : m * op->k + i];
        if (params->asymmetric_quantize_inputs)
            hl_quantise_row_asymmetric(row, op->k, stored, &scales[r], &zeros[r]);
        else
            hl_quantise_row_symmetric(row, op->k, stored, &scales[r]);
        hl_widen(kTfLiteInt8, stored, 0, op->k, 0, wide + r * op->k);
    }
}

static void sum_w(TfLiteContext *ctx, TfLiteNode *node, const struct matmul *op)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const int8_t *w = HL_IN(int8_t, hl_input(ctx, node, 1));
    int64_t *sums = HL_OUT(int64_t, hl_temporary(ctx, node, W_SUMS));
    int64_t matrices = batches_of(op->w_batch), n_step = params->adj_y ? op->k : 1;
    int64_t k_step = params->adj_y ? 1 : op->n;
    for (int64_t b = 0; b < matrices; b++, w += (int64_t)op->n * op->k)
        for (int64_t n = 0; n < op->n; n++) {
            int64_t sum = 0;
            for (int64_t k = 0; k < op->k; k++) sum += w[n * n_step + k * k_step];
            sums[b * op->n + n] = sum;
        }
}

// The original looks up the scale and zero point of a row of x, and the sums of w, at the sum of the
// batch indices instead of at the matrix's number, which differs from two batch dimensions on. So do
// we. (Where x is not transposed, it counts properly over the last dimensions that are 1 in w.)
static void multiply_hybrid(TfLiteContext *ctx, TfLiteNode *node, const struct matmul *op,
                            const struct place *place, const int16_t *w, float *y)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const int16_t *x = HL_IN(int16_t, hl_temporary(ctx, node, X_ROWS)) + place->x * op->m * op->k;
    const float *x_scales = HL_IN(float, hl_temporary(ctx, node, X_SCALES)) + place->x_mark * op->m;
    const int32_t *x_zeros = HL_IN(int32_t, hl_temporary(ctx, node, X_ZEROS)) + place->x_mark * op->m;
    const int64_t *w_sums = HL_IN(int64_t, hl_temporary(ctx, node, W_SUMS)) + place->w_mark * op->n;
    const float *w_scales = hl_affine(hl_input(ctx, node, 1))->scale->data;
    for (int n = 0; n < op->n; n += HL_DOT_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            int64_t sums[HL_DOT_ROWS] = {0};
            int rows = rows_at(op, n);
            hl_dots_i16(x + m * op->k, w + (int64_t)n * op->k, op->k, rows, op->k, sums);
            for (int r = 0; r < rows; r++) {
                int64_t sum = sums[r];
                if (params->asymmetric_quantize_inputs) sum -= w_sums[n + r] * x_zeros[m];
                float scale = x_scales[m] * w_scales[op->scales > 1 ? n + r : 0];
                y[m * op->n + n + r] = (float)sum * scale;
            }
        }
}

static TfLiteStatus matmul_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const struct matmul *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0) return kTfLiteOk;
    void *x_rows = HL_OUT(void, hl_temporary(ctx, node, X_ROWS));
    void *w_rows = HL_OUT(void, hl_temporary(ctx, node, W_ROWS));
    int64_t x_size = (int64_t)op->m * op->k, w_size = (int64_t)op->n * op->k;
    int64_t y_size = (int64_t)op->m * op->n, batches = batches_of(op->y_batch), prepared = -1;
    bool with_zeros = op->mode == INTEGER && y->type != kTfLiteInt32;
    int x_zero = with_zeros ? hl_zero(x) : 0, w_zero = with_zeros && op->scales == 1 ? hl_zero(w) : 0;
    if (op->mode == HYBRID) quantise_x(ctx, node, op);
    if (op->mode == HYBRID && params->asymmetric_quantize_inputs) sum_w(ctx, node, op);

    for (int64_t batch = 0; batch < batches; batch++) {
        struct place place = find_place(op, batch);
        if (place.w != prepared) { // w is often the same for all batches
            if (op->mode == FLOAT)
                copy_f32(HL_IN(float, w) + place.w * w_size, op->n, op->k, !params->adj_y, w_rows);
            else
                copy_wide(w, place.w * w_size, op->n, op->k, !params->adj_y, w_zero, w_rows);
            prepared = place.w;
        }
        switch (op->mode) {
        case FLOAT:
            copy_f32(HL_IN(float, x) + place.x * x_size, op->m, op->k, params->adj_x, x_rows);
            multiply_f32(op, x_rows, w_rows, HL_OUT(float, y) + batch * y_size);
            break;
        case INTEGER:
            copy_wide(x, place.x * x_size, op->m, op->k, params->adj_x, x_zero, x_rows);
            multiply_integer(op, x_rows, w_rows, w->type == kTfLiteInt16, y, batch * y_size);
            break;
        case HYBRID:
            multiply_hybrid(ctx, node, op, &place, w_rows, HL_OUT(float, y) + batch * y_size);
            break;
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_batch_matmul = {
    .state_size = sizeof(struct matmul),
    .prepare = matmul_prepare,
    .invoke = matmul_invoke,
    .release = matmul_release,
};
