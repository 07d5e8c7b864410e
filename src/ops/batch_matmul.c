// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL: y[..., m, n] = sum over k of x[..., m, k] * w[..., k, n]; the leading dimensions
// are batches, broadcast against each other. adj_x: x is stored as [..., k, m], adj_y: w as
// [..., n, k].
// in 0: x, in 1: w, out 0: y; 2 to 5 dimensions.
// float32; int8 to int8; int8 to int32: sums of the stored values, zero points left aside as in
// the original; int16 with int16 or int8; float32 with int8 w: hybrid, each row of x is quantized.
// w may have one scale for each n.
#include "ops/batch_matmul.h"

#include <math.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "ops/common/dot.h"

enum { LARGEST_RANK = 2 + HL_BATCH_DIMS };

// One matrix of either operand in rows of k: x as [m, k], w as [n, k]; floats, or wide integers.
// For the hybrid form x as floats [m, k], one of its rows as int8, and the scales of the rows.
enum { X_ROWS, W_ROWS, X_FLOATS, X_STORED, X_SCALES, TEMPORARIES };

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_types(TfLiteContext *ctx, TfLiteNode *node, struct hl_batch_matmul *op)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool fits;
    switch (x->type) {
    case kTfLiteFloat32:
        op->mode = w->type == kTfLiteFloat32 ? HL_MATMUL_FLOAT : HL_MATMUL_HYBRID;
        fits = (w->type == kTfLiteFloat32 || w->type == kTfLiteInt8) && y->type == kTfLiteFloat32;
        break;
    case kTfLiteInt8:
        op->mode = HL_MATMUL_INTEGER;
        fits = w->type == kTfLiteInt8 && (y->type == kTfLiteInt8 || y->type == kTfLiteInt32);
        break;
    case kTfLiteInt16:
        op->mode = HL_MATMUL_INTEGER;
        fits = (w->type == kTfLiteInt16 || w->type == kTfLiteInt8) && y->type == kTfLiteInt16;
        break;
    default: fits = false;
    }
    HL_REQUIRE(ctx, node, fits, "%s times %s to %s is not supported", hl_type_name(x->type), hl_type_name(w->type),
               hl_type_name(y->type));
    HL_REQUIRE(ctx, node, !x->sparsity && !w->sparsity, "sparse operands are not supported");
    return kTfLiteOk;
}

// The batch dimensions of one operand, ones in front.
static void take_batches(const TfLiteTensor *tensor, int *batches)
{
    int count = hl_rank(tensor) - 2;
    for (int i = 0; i < HL_BATCH_DIMS; i++) {
        int axis = i - (HL_BATCH_DIMS - count);
        batches[i] = axis < 0 ? 1 : hl_dim(tensor, axis);
    }
}

static TfLiteStatus check_shapes(TfLiteContext *ctx, TfLiteNode *node, struct hl_batch_matmul *op)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    int x_rank = hl_rank(x), w_rank = hl_rank(w);
    HL_REQUIRE(ctx, node, x_rank >= 2 && x_rank <= LARGEST_RANK && w_rank >= 2 && w_rank <= LARGEST_RANK,
               "operands of %d and %d dimensions, there must be 2 to 5", x_rank, w_rank);
    op->m = hl_dim(x, x_rank - (params->adj_x ? 1 : 2));
    op->k = hl_dim(x, x_rank - (params->adj_x ? 2 : 1));
    op->n = hl_dim(w, w_rank - (params->adj_y ? 2 : 1));
    int w_k = hl_dim(w, w_rank - (params->adj_y ? 1 : 2));
    HL_REQUIRE(ctx, node, op->k == w_k, "rows of %d cannot be multiplied with columns of %d", op->k, w_k);
    take_batches(x, op->x_batch);
    take_batches(w, op->w_batch);
    for (int i = 0; i < HL_BATCH_DIMS; i++) {
        int a = op->x_batch[i], b = op->w_batch[i];
        HL_REQUIRE(ctx, node, a == b || a == 1 || b == 1, "batches of %d and %d do not broadcast", a, b);
        op->y_batch[i] = a == 1 ? b : a;
    }
    return kTfLiteOk;
}

// w has one scale, or one for each of its n columns and zero points 0.
static TfLiteStatus check_scales(TfLiteContext *ctx, TfLiteNode *node, struct hl_batch_matmul *op)
{
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1);
    const TfLiteAffineQuantization *affine = hl_affine(w);
    HL_REQUIRE(ctx, node, affine && affine->scale && affine->scale->size >= 1, "the second operand has no scale");
    op->scales = affine->scale->size;
    for (int i = 0; i < op->scales; i++)
        HL_REQUIRE(ctx, node, affine->scale->data[i] > 0 && isfinite(affine->scale->data[i]),
                   "scale %d of the second operand must be positive and finite", i);
    if (op->scales == 1) return kTfLiteOk;
    int axis = hl_rank(w) - (params->adj_y ? 2 : 1);
    HL_REQUIRE(ctx, node, op->scales == op->n && affine->quantized_dimension == axis,
               "%d scales along dimension %d do not fit %d columns, which are dimension %d", op->scales,
               affine->quantized_dimension, op->n, axis);
    for (int i = 0; affine->zero_point && i < affine->zero_point->size; i++)
        HL_REQUIRE(ctx, node, affine->zero_point->data[i] == 0, "zero point %d of column %d must be 0",
                   affine->zero_point->data[i], i);
    return kTfLiteOk;
}

static TfLiteStatus check_quantized(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *tensor, bool symmetric)
{
    return symmetric ? hl_require_symmetric(ctx, node, tensor) : hl_require_quantized(ctx, node, tensor);
}

static TfLiteStatus prepare_integer(TfLiteContext *ctx, TfLiteNode *node, struct hl_batch_matmul *op)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool symmetric = x->type == kTfLiteInt16;
    HL_TRY(check_quantized(ctx, node, x, symmetric));
    HL_TRY(check_scales(ctx, node, op));
    if (op->scales == 1) HL_TRY(check_quantized(ctx, node, w, symmetric));
    if (y->type == kTfLiteInt32) return kTfLiteOk;
    HL_TRY(check_quantized(ctx, node, y, symmetric));
    free(op->rescales);
    op->rescales = hl_make_table(ctx, (size_t)op->scales, sizeof *op->rescales);
    HL_REQUIRE(ctx, node, op->rescales, "no memory for %d multipliers", op->scales);
    for (int i = 0; i < op->scales; i++) {
        float scale = hl_affine(w)->scale->data[i];
        // The product is a float where there is one scale, as in the original.
        double product = op->scales == 1 ? (double)(x->params.scale * scale) : hl_scale(x) * (double)scale;
        op->rescales[i] = hl_rescale_from(product / hl_scale(y));
    }
    hl_type_range(y->type, &op->low, &op->high);
    return kTfLiteOk;
}

static TfLiteStatus set_scratch(TfLiteContext *ctx, TfLiteNode *node, const struct hl_batch_matmul *op)
{
    bool hybrid = op->mode == HL_MATMUL_HYBRID;
    TfLiteType type = op->mode == HL_MATMUL_FLOAT ? kTfLiteFloat32 : kTfLiteInt16;
    int depth = op->k > 0 ? op->k : 1; // rows of no elements still have an address
    int x[2] = {op->m, depth}, w[2] = {op->n, depth};
    int floats[2] = {hybrid ? op->m : 0, depth};
    int stored[1] = {hybrid ? depth : 0}, scales[1] = {hybrid ? op->m : 0};
    HL_TRY(hl_set_temporary(ctx, node, X_ROWS, type, false, 2, x));
    HL_TRY(hl_set_temporary(ctx, node, W_ROWS, type, false, 2, w));
    HL_TRY(hl_set_temporary(ctx, node, X_FLOATS, kTfLiteFloat32, false, 2, floats));
    HL_TRY(hl_set_temporary(ctx, node, X_STORED, kTfLiteInt8, false, 1, stored));
    return hl_set_temporary(ctx, node, X_SCALES, kTfLiteFloat32, false, 1, scales);
}

static TfLiteStatus matmul_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_batch_matmul *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    HL_TRY(check_types(ctx, node, op));
    HL_TRY(check_shapes(ctx, node, op));
    if (op->mode == HL_MATMUL_INTEGER) HL_TRY(prepare_integer(ctx, node, op));
    if (op->mode == HL_MATMUL_HYBRID) HL_TRY(check_scales(ctx, node, op));
    HL_TRY(set_scratch(ctx, node, op));

    int x_rank = hl_rank(hl_input(ctx, node, 0)), w_rank = hl_rank(hl_input(ctx, node, 1));
    int rank = x_rank > w_rank ? x_rank : w_rank, dims[LARGEST_RANK];
    for (int i = 0; i < rank - 2; i++) dims[i] = op->y_batch[HL_BATCH_DIMS - (rank - 2) + i];
    dims[rank - 2] = op->m;
    dims[rank - 1] = op->n;
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static void matmul_release(void *state)
{
    free(((struct hl_batch_matmul *)state)->rescales);
}

// ---- invoke -------------------------------------------------------------------------------------

// One matrix as [rows, k], from [k, rows] where it is transposed.
static void copy_f32(const float *from, int rows, int k, bool transposed, float *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < k; i++) to[r * k + i] = from[transposed ? i * rows + r : r * k + i];
}

static void copy_wide(const TfLiteTensor *tensor, int64_t first, int rows, int k, bool transposed, int zero,
                      int16_t *to)
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

void hl_find_matrices(const struct hl_batch_matmul *op, int64_t batch, int64_t *x, int64_t *w)
{
    int64_t x_step = 1, w_step = 1;
    *x = *w = 0;
    for (int i = HL_BATCH_DIMS - 1; i >= 0; i--) {
        int64_t index = batch % op->y_batch[i];
        batch /= op->y_batch[i];
        if (op->x_batch[i] > 1) *x += index * x_step;
        if (op->w_batch[i] > 1) *w += index * w_step;
        x_step *= op->x_batch[i];
        w_step *= op->w_batch[i];
    }
}

static int rows_at(const struct hl_batch_matmul *op, int n)
{
    return op->n - n < HL_ADD_DOTS_ROWS ? op->n - n : HL_ADD_DOTS_ROWS;
}

static void multiply_f32(const struct hl_batch_matmul *op, const float *x, const float *w, float *y)
{
    for (int n = 0; n < op->n; n += HL_ADD_DOTS_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            float sums[HL_ADD_DOTS_ROWS] = {0};
            int rows = rows_at(op, n);
            hl_add_dots_f32(w + (int64_t)n * op->k, op->k, rows, x + m * op->k, op->k, sums);
            memcpy(y + m * op->n + n, sums, (size_t)rows * sizeof *sums);
        }
}

static void store_integer(const struct hl_batch_matmul *op, TfLiteTensor *y, int64_t at, int n, int64_t sum)
{
    if (y->type == kTfLiteInt32) {
        HL_OUT(int32_t, y)[at] = (int32_t)(uint32_t)(uint64_t)sum;
        return;
    }
    struct hl_rescale rescale = op->rescales[op->scales > 1 ? n : 0];
    if (y->type == kTfLiteInt16) {
        int32_t value = hl_rescale_apply_i64(sum, rescale);
        HL_OUT(int16_t, y)[at] = (int16_t)hl_clamp_i32(value, op->low, op->high);
        return;
    }
    int64_t value = (int64_t)hl_rescale_apply((int32_t)(uint32_t)(uint64_t)sum, rescale) + hl_zero(y);
    HL_OUT(int8_t, y)[at] = (int8_t)hl_clamp_i32(hl_saturate_i32(value), op->low, op->high);
}

static void multiply_integer(const struct hl_batch_matmul *op, const int16_t *x, const int16_t *w, bool full_range,
                             TfLiteTensor *y, int64_t at)
{
    for (int n = 0; n < op->n; n += HL_ADD_DOTS_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            int64_t sums[HL_ADD_DOTS_ROWS] = {0};
            int rows = rows_at(op, n);
            const int16_t *x_row = x + m * op->k, *w_rows = w + (int64_t)n * op->k;
            if (full_range)
                hl_add_dots_i16_full(w_rows, op->k, rows, x_row, op->k, sums);
            else
                hl_add_dots_i16(w_rows, op->k, rows, x_row, op->k, sums);
            for (int r = 0; r < rows; r++) store_integer(op, y, at + m * op->n + n + r, n + r, sums[r]);
        }
}

static void multiply_hybrid(const struct hl_batch_matmul *op, const int16_t *x, const float *x_scales, const int16_t *w,
                            const float *w_scales, float *y)
{
    for (int n = 0; n < op->n; n += HL_ADD_DOTS_ROWS)
        for (int64_t m = 0; m < op->m; m++) {
            int64_t sums[HL_ADD_DOTS_ROWS] = {0};
            int rows = rows_at(op, n);
            hl_add_dots_i16(w + (int64_t)n * op->k, op->k, rows, x + m * op->k, op->k, sums);
            for (int r = 0; r < rows; r++) {
                float scale = x_scales[m] * w_scales[op->scales > 1 ? n + r : 0];
                y[m * op->n + n + r] = (float)sums[r] * scale;
            }
        }
}

// The operands, and the scratch that holds one matrix of each.
struct work {
    const struct hl_batch_matmul *op;
    const TfLiteBatchMatMulParams *params;
    const TfLiteTensor *x, *w;
    TfLiteTensor *y;
    void *x_rows, *w_rows;
    float *x_floats, *x_scales;
    int8_t *stored;
    const struct hl_row_kernels *kernels;
    int x_zero, w_zero;
};

static void load_w(const struct work *work, int64_t first)
{
    const struct hl_batch_matmul *op = work->op;
    bool transposed = !work->params->adj_y;
    if (op->k == 0) return;
    if (op->mode == HL_MATMUL_FLOAT)
        copy_f32(HL_IN(float, work->w) + first, op->n, op->k, transposed, work->w_rows);
    else
        copy_wide(work->w, first, op->n, op->k, transposed, work->w_zero, work->w_rows);
}

static void load_x(const struct work *work, int64_t first)
{
    const struct hl_batch_matmul *op = work->op;
    bool transposed = work->params->adj_x;
    if (op->mode == HL_MATMUL_INTEGER) {
        copy_wide(work->x, first, op->m, op->k, transposed, work->x_zero, work->x_rows);
        return;
    }
    float *rows = op->mode == HL_MATMUL_FLOAT ? work->x_rows : work->x_floats;
    if (op->k > 0) copy_f32(HL_IN(float, work->x) + first, op->m, op->k, transposed, rows);
    if (op->mode == HL_MATMUL_FLOAT) return;
    int16_t *wide = work->x_rows;
    for (int64_t m = 0; m < op->m; m++) {
        const float *row = rows + m * op->k;
        int32_t zero;
        hl_quantize_row(work->kernels, work->params->asymmetric_quantize_inputs, row, op->k, work->stored,
                        &work->x_scales[m], &zero);
        hl_widen(kTfLiteInt8, work->stored, 0, op->k, zero, wide + m * op->k);
    }
}

static void multiply(const struct work *work, int64_t y_at)
{
    const struct hl_batch_matmul *op = work->op;
    switch (op->mode) {
    case HL_MATMUL_FLOAT: multiply_f32(op, work->x_rows, work->w_rows, HL_OUT(float, work->y) + y_at); break;
    case HL_MATMUL_INTEGER:
        multiply_integer(op, work->x_rows, work->w_rows, work->w->type == kTfLiteInt16, work->y, y_at);
        break;
    case HL_MATMUL_HYBRID:
        multiply_hybrid(op, work->x_rows, work->x_scales, work->w_rows, hl_affine(work->w)->scale->data,
                        HL_OUT(float, work->y) + y_at);
        break;
    }
}

static TfLiteStatus matmul_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_batch_matmul *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0) return kTfLiteOk;
    bool with_zeros = op->mode == HL_MATMUL_INTEGER && y->type != kTfLiteInt32;
    const struct work work = {
        .op = op,
        .params = node->builtin_data,
        .x = x,
        .w = w,
        .y = y,
        .x_rows = HL_OUT(void, hl_temporary(ctx, node, X_ROWS)),
        .w_rows = HL_OUT(void, hl_temporary(ctx, node, W_ROWS)),
        .x_floats = HL_OUT(float, hl_temporary(ctx, node, X_FLOATS)),
        .x_scales = HL_OUT(float, hl_temporary(ctx, node, X_SCALES)),
        .stored = HL_OUT(int8_t, hl_temporary(ctx, node, X_STORED)),
        .kernels = hl_row_kernels(ctx),
        .x_zero = with_zeros ? hl_zero(x) : 0,
        .w_zero = with_zeros && op->scales == 1 ? hl_zero(w) : 0,
    };
    int64_t y_size = (int64_t)op->m * op->n, batches = hl_elements(y) / y_size;
    int64_t loaded = -1; // w is often the same for all batches
    for (int64_t batch = 0; batch < batches; batch++) {
        int64_t x_matrix, w_matrix;
        hl_find_matrices(op, batch, &x_matrix, &w_matrix);
        if (w_matrix != loaded) load_w(&work, w_matrix * op->n * op->k);
        loaded = w_matrix;
        load_x(&work, x_matrix * op->m * op->k);
        multiply(&work, batch * y_size);
    }
    return kTfLiteOk;
}

static double matmul_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_batch_matmul *op = node->user_data;
    return (double)hl_elements(hl_output(ctx, node, 0)) * (double)op->k;
}

const struct hl_op hl_op_batch_matmul = {
    .state_size = sizeof(struct hl_batch_matmul),
    .prepare = matmul_prepare,
    .invoke = matmul_invoke,
    .work = matmul_work,
    .release = matmul_release,
    .fast = &hl_fast_batch_matmul,
};
