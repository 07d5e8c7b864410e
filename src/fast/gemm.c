// SPDX-License-Identifier: Apache-2.0
// Packing of weights, and products with them. Panels have as many columns as a tile; the last one is padded with zeros.
// Integers of x keep their zero point zx in a product of bytes, and weights may keep theirs, zw. What both add is taken
// away: sum (x - zx)(w - zw) = sum x w - zx sum (w - zw) - zw sum x, modulo 2^32. The second term is known in prepare
// and goes into the initial accumulators; the third one, of each row, is the epilogue's.
#include "fast/gemm.h"

#include <math.h>

#include "ops/common/copy.h"
#include "ops/common/dot.h"

static const float zeros[64] = {0}; // as many columns as any tile has, and more

void hl_packed_init(struct hl_packed *packed, const struct hl_simd *simd, const struct hl_matrix *matrix,
                    int64_t segment)
{
    bool floats = matrix->type == kTfLiteFloat32;
    *packed = (struct hl_packed){
        .simd = simd,
        .multiply = floats ? simd->kernels->multiply_f32 : simd->multiply_integer,
        .dot_width = floats ? 1 : simd->dot_width,
        .columns = matrix->columns,
        .panels = (matrix->columns - 1) / simd->columns + 1,
        .depth = matrix->depth,
        .segment = segment,
    };
    packed->segment_steps = (segment + packed->dot_width - 1) / packed->dot_width;
    packed->steps = packed->depth / segment * packed->segment_steps;
    if (packed->dot_width == 4) packed->w_zero = matrix->zero - (matrix->type == kTfLiteUInt8 ? 128 : 0);
}

void hl_packed_parts(struct hl_packed *packed, int64_t matrices, bool has_bias, bool keep_sums, struct hl_parts *parts)
{
    int64_t columns = packed->panels * packed->simd->columns, integers = packed->dot_width > 1;
    hl_parts_add(parts, &packed->weights, matrices * columns, packed->steps, 4);
    hl_parts_add(parts, &packed->initial, integers || has_bias ? matrices : 0, columns, 4);
    hl_parts_add(parts, &packed->w_sums, keep_sums ? matrices : 0, columns, 4);
}

// ---- packing ------------------------------------------------------------------------------------

static int64_t element_of(const struct hl_matrix *matrix, int64_t m, int64_t n)
{
    return m * matrix->matrix_stride + n / matrix->run * matrix->run_stride + n % matrix->run * matrix->column_stride;
}

void hl_pack_panel(const struct hl_packed *packed, const struct hl_matrix *matrix, int64_t matrix_index, int64_t panel,
                   float *to)
{
    enum { MAX_DEPTH = 1 << 30 };
    int64_t first = panel * packed->simd->columns, left = packed->columns - first;
    int64_t end = first + (left < packed->simd->columns ? left : packed->simd->columns);
    for (int64_t n = first, count; n < end; n += count) {
        count = matrix->run - n % matrix->run;
        if (count > end - n) count = end - n;
        for (int64_t k = 0; k < packed->depth; k += MAX_DEPTH) {
            int64_t depth = packed->depth - k < MAX_DEPTH ? packed->depth - k : MAX_DEPTH;
            const int dims[2] = {(int)depth, (int)count};
            const struct hl_layout to_layout = {.offset = k * packed->simd->columns + n - first,
                                                .stride = {packed->simd->columns, 1}};
            const struct hl_layout from_layout = {.offset =
                                                      element_of(matrix, matrix_index, n) + k * matrix->depth_stride,
                                                  .stride = {matrix->depth_stride, matrix->column_stride}};
            hl_copy(32, 2, dims, to, &to_layout, matrix->data, &from_layout);
        }
    }
}

// Packs the integers of column n of a matrix as column `lane` of a panel. Their sum, less their zero points.
static uint32_t pack_column(const struct hl_packed *packed, const struct hl_matrix *matrix, int64_t m, int64_t n,
                            char *panel, int64_t lane)
{
    enum { PIECE = 256 };
    const int columns = packed->simd->columns, width = packed->dot_width;
    const int64_t from = element_of(matrix, m, n), piece = matrix->depth_stride == 1 ? PIECE : 1;
    int16_t wide[PIECE];
    uint32_t sum = 0;
    for (int64_t k = 0, in_segment = 0, segment_step = 0; k < packed->depth; k++, in_segment++) {
        if (in_segment == packed->segment) in_segment = 0, segment_step += packed->segment_steps;
        int64_t left = packed->depth - k;
        if (k % piece == 0)
            hl_widen(matrix->type, matrix->data, from + k * matrix->depth_stride, left < piece ? left : piece,
                     matrix->zero, wide);
        int16_t value = wide[k % piece];
        int64_t at = ((segment_step + in_segment / width) * columns + lane) * width + in_segment % width;
        if (width == 4)
            ((int8_t *)panel)[at] = (int8_t)(value + packed->w_zero);
        else
            ((int16_t *)panel)[at] = value;
        sum += (uint32_t)value;
    }
    return sum;
}

static void fill_floats(const struct hl_packed *packed, const struct hl_matrix *matrix,
                        const struct hl_initial *initial)
{
    for (int64_t i = 0; i < matrix->matrices * packed->panels; i++)
        hl_pack_panel(packed, matrix, i / packed->panels, i % packed->panels,
                      (float *)packed->weights + i * packed->steps * packed->simd->columns);
    const float *bias = initial->bias;
    for (int64_t m = 0; bias && m < matrix->matrices; m++)
        for (int64_t n = 0; n < packed->columns; n++)
            ((float *)packed->initial)[hl_packed_column(packed, m, 0) + n] = bias[m * packed->columns + n];
}

void hl_packed_fill(const struct hl_packed *packed, const struct hl_matrix *matrix, const struct hl_initial *initial)
{
    if (packed->dot_width == 1) {
        fill_floats(packed, matrix, initial);
        return;
    }
    const int columns = packed->simd->columns;
    const uint32_t *bias = initial->bias;
    for (int64_t m = 0; m < matrix->matrices; m++)
        for (int64_t n = 0; n < packed->columns; n++) {
            int64_t panel = m * packed->panels + n / columns, at = hl_packed_column(packed, m, 0) + n;
            char *to = packed->weights + panel * hl_packed_panel_bytes(packed);
            uint32_t sum = pack_column(packed, matrix, m, n, to, n % columns);
            ((uint32_t *)packed->initial)[at] = (bias ? bias[m * packed->columns + n] : 0) - initial->x_zero * sum;
            if (packed->w_sums) packed->w_sums[at] = sum;
        }
}

// ---- products -----------------------------------------------------------------------------------

struct hl_tile hl_packed_tile(const struct hl_packed *packed, int64_t matrix, int64_t panel)
{
    struct hl_tile tile = {.steps = packed->steps, .initial = zeros, .low = -INFINITY, .high = INFINITY};
    hl_packed_set_panel(packed, matrix, panel, &tile);
    return tile;
}

void hl_gemm(const struct hl_packed *packed, struct hl_tile *tile, int64_t rows)
{
    const ptrdiff_t x_row = tile->x_stride * (packed->dot_width == 1 ? 4 : 1), y_row = tile->y_stride * 4;
    for (int64_t r = 0; r < rows; r += tile->rows) {
        tile->rows = rows - r < packed->simd->rows ? (int)(rows - r) : packed->simd->rows;
        packed->multiply(tile);
        tile->x = (const char *)tile->x + tile->rows * x_row;
        tile->y = (char *)tile->y + tile->rows * y_row;
    }
}
