// SPDX-License-Identifier: Apache-2.0
// Packed products (fast/gemm.h) on every CPU level against sums of products, one by one: floats, int8 and uint8 with
// zero points, weights of any order, several matrices, and rows of x in segments.
#include "fast/gemm.h"

#include "fast_parts.h"

enum { CASES = 150 };

// A random product. Values are small integers, so that sums of floats are exact in every order.
struct product {
    struct hl_matrix w;
    int64_t rows, segment;
    int x_zero;
    bool floats, x_unsigned;
    void *weights;
    int *x;        // [rows][depth], less the zero point
    int32_t *bias; // [matrices][columns]
};

static int64_t weight_index(const struct product *p, int64_t m, int64_t k, int64_t n)
{
    return m * p->w.matrix_stride + k * p->w.depth_stride + n / p->w.run * p->w.run_stride +
           n % p->w.run * p->w.column_stride;
}

static int weight_at(const struct product *p, int64_t m, int64_t k, int64_t n)
{
    int64_t at = weight_index(p, m, k, n);
    if (p->floats) return (int)((const float *)p->weights)[at];
    int stored = p->w.type == kTfLiteUInt8 ? ((const uint8_t *)p->weights)[at] : ((const int8_t *)p->weights)[at];
    return stored - p->w.zero;
}

static struct product random_product(void)
{
    static const TfLiteType types[] = {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8};
    struct product p = {.rows = 1 + pick(40), .x_unsigned = pick(2)};
    int pieces = 1 + pick(3), runs = 1 + pick(3);
    p.segment = 1 + pick(pick(2) ? 9 : pick(4) ? 70 : 700); // long ones are packed in several pieces
    p.w = (struct hl_matrix){
        .type = types[pick(3)],
        .matrices = 1 + pick(3),
        .depth = pieces * p.segment,
        .run = 1 + pick(pick(2) ? 50 : 6),
    };
    p.floats = p.w.type == kTfLiteFloat32;
    p.w.columns = p.w.run * runs;
    p.w.matrix_stride = p.w.columns * p.w.depth;
    if (pick(2)) { // [columns][depth], in runs that follow each other
        p.w.depth_stride = 1;
        p.w.column_stride = p.w.depth;
        p.w.run_stride = p.w.run * p.w.depth;
    } else { // [depth][columns]
        p.w.depth_stride = p.w.columns;
        p.w.column_stride = 1;
        p.w.run_stride = p.w.run;
    }
    if (p.w.type == kTfLiteUInt8) p.w.zero = pick(256);
    if (!p.floats) p.x_zero = p.x_unsigned ? pick(256) : pick(256) - 128;
    size_t count = (size_t)(p.w.matrices * p.w.matrix_stride);
    p.weights = zeroed(count, p.floats ? 4 : 1);
    for (size_t i = 0; i < count; i++)
        if (p.floats)
            ((float *)p.weights)[i] = (float)(pick(33) - 16);
        else
            ((uint8_t *)p.weights)[i] = (uint8_t)pick(256);
    p.w.data = p.weights;
    count = (size_t)(p.rows * p.w.depth);
    p.x = zeroed(count, sizeof *p.x);
    for (size_t i = 0; i < count; i++)
        p.x[i] = p.floats ? pick(33) - 16 : (p.x_unsigned ? pick(256) : pick(256) - 128) - p.x_zero;
    count = (size_t)(p.w.matrices * p.w.columns);
    p.bias = zeroed(count, sizeof *p.bias);
    for (size_t i = 0; i < count; i++) {
        int32_t value = pick(2001) - 1000;
        float real = (float)value;
        memcpy(&p.bias[i], p.floats ? (void *)&real : (void *)&value, 4);
    }
    return p;
}

// Row r as the level multiplies it. The sum of its bytes.
static uint32_t pack_row(const struct product *p, const struct hl_packed *packed, int64_t r, char *row)
{
    uint8_t offset = packed->dot_width == 4 ? hl_simd_sign_offset(packed->simd, p->x_unsigned) : 0;
    int64_t padded = packed->segment_steps * packed->dot_width;
    uint32_t sum = 0;
    for (int64_t k = 0; k < p->w.depth; k++) {
        int64_t at = k / p->segment * padded + k % p->segment;
        int value = p->x[r * p->w.depth + k];
        if (packed->dot_width == 1) {
            ((float *)row)[at] = (float)value;
        } else if (packed->dot_width == 2) {
            ((int16_t *)row)[at] = (int16_t)value;
        } else {
            ((uint8_t *)row)[at] = (uint8_t)((uint8_t)(value + p->x_zero) ^ offset);
            sum += hl_simd_value(packed->simd, ((uint8_t *)row)[at]);
        }
    }
    return sum;
}

static int64_t expected_sum(const struct product *p, int64_t m, int64_t r, int64_t n)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < p->w.depth; k++) sum += (int64_t)p->x[r * p->w.depth + k] * weight_at(p, m, k, n);
    int32_t bias = p->bias[m * p->w.columns + n];
    float real;
    memcpy(&real, &bias, sizeof real);
    return sum + (p->floats ? (int64_t)real : bias);
}

static void check_panel(const struct product *p, const struct hl_packed *packed, int64_t m, int64_t panel,
                        const char *rows, const uint32_t *sums)
{
    const int columns = packed->simd->columns;
    char *y = zeroed((size_t)(p->rows * columns), 4);
    struct hl_tile tile = packed->tile;
    hl_packed_set_panel(packed, 0, 0, &tile);
    hl_packed_set_panel(packed, m, panel, &tile);
    tile.x = rows;
    tile.x_stride = packed->steps * (p->floats ? 1 : 4);
    tile.y = y;
    tile.y_stride = columns;
    hl_gemm(packed, &tile, p->rows);
    for (int64_t r = 0; r < p->rows; r++)
        for (int c = 0; c < tile.columns; c++) {
            int64_t n = panel * columns + c, expected = expected_sum(p, m, r, n);
            const char *got = y + (r * columns + c) * 4;
            float real;
            int32_t whole;
            memcpy(&real, got, 4), memcpy(&whole, got, 4);
            uint32_t sum = (uint32_t)whole - (uint32_t)packed->w_zero * sums[r];
            if (p->floats ? real != (float)expected : sum != (uint32_t)expected)
                fail_msg("%s: row %d, column %d differs", packed->simd->name, (int)r, (int)n);
        }
    free(y);
}

// The first row of x with all panels at once.
static void check_row(const struct product *p, const struct hl_packed *packed, int64_t m, const char *row, uint32_t sum)
{
    struct hl_tile tile = packed->tile;
    hl_packed_set_panel(packed, m, 0, &tile);
    float *y = zeroed((size_t)(packed->panels * packed->simd->columns), sizeof *y);
    tile.rows = 1;
    tile.x = row;
    tile.y = y;
    tile.columns = (int)p->w.columns;
    packed->multiply_row(&tile);
    for (int64_t n = 0; n < p->w.columns; n++) {
        const int64_t expected = expected_sum(p, m, 0, n);
        int32_t whole;
        memcpy(&whole, &y[n], sizeof whole);
        if (p->floats ? y[n] != (float)expected
                      : (uint32_t)whole - (uint32_t)packed->w_zero * sum != (uint32_t)expected)
            fail_msg("%s: column %d of a row differs", packed->simd->name, (int)n);
    }
    for (int64_t n = p->w.columns; p->floats && n < packed->panels * packed->simd->columns; n++)
        assert_true(y[n] == 0); // nothing is written behind the last column
    free(y);
}

static void check(const struct product *p, const struct hl_simd *simd)
{
    struct hl_packed packed;
    struct hl_parts parts = {0};
    hl_packed_init(&packed, simd, &p->w, p->segment);
    hl_packed_parts(&packed, p->w.matrices, true, true, &parts);
    make_parts(&parts);
    struct hl_initial initial = {.bias = p->bias};
    if (packed.dot_width == 4)
        initial.x_zero = hl_simd_value(simd, (uint8_t)((uint8_t)p->x_zero ^ hl_simd_sign_offset(simd, p->x_unsigned)));
    hl_packed_fill(NULL, &packed, &p->w, &initial);

    char *rows = zeroed((size_t)p->rows, (size_t)hl_packed_row_bytes(&packed));
    uint32_t *sums = zeroed((size_t)p->rows, sizeof *sums);
    for (int64_t r = 0; r < p->rows; r++) sums[r] = pack_row(p, &packed, r, rows + r * hl_packed_row_bytes(&packed));
    for (int64_t m = 0; m < p->w.matrices; m++)
        for (int64_t panel = 0; panel < packed.panels; panel++) check_panel(p, &packed, m, panel, rows, sums);
    for (int64_t m = 0; m < p->w.matrices && packed.multiply_row && packed.depth == packed.segment; m++)
        check_row(p, &packed, m, rows, sums[0]);
    for (int64_t i = 0; !p->floats && i < p->w.matrices * p->w.columns; i++) {
        int64_t m = i / p->w.columns, n = i % p->w.columns;
        uint32_t sum = 0;
        for (int64_t k = 0; k < p->w.depth; k++) sum += (uint32_t)weight_at(p, m, k, n);
        assert_int_equal(packed.w_sums[hl_packed_column(&packed, m, 0) + n], sum);
    }
    free(sums);
    free(rows);
    free_parts(&parts);
}

static void products(void **state)
{
    (void)state;
    const struct hl_simd *simd;
    for (int i = 0; i < CASES; i++) {
        struct product p = random_product();
        for (int level = 0; (simd = hl_simd_level(level)); level++) check(&p, simd);
        free(p.weights);
        free(p.x);
        free(p.bias);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
