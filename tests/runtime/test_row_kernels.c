// SPDX-License-Identifier: Apache-2.0
// The kernels of ops/common/row_kernels.h: those of every CPU level that is here against the plain ones. Rows of all
// lengths around those of vectors; matrices end where their memory does, so that a sanitizer sees what is read beyond.
// --bench prints the times of some rows (support/bench.h).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fast/simd/simd.h"
#include "support/bench.h"
#include "support/random.h"

enum { CASES = 2000, EXTREMES = 40 };

struct shape {
    int rows, count;
    int64_t stride, x_stride;
    size_t w_size, x_size; // elements
};

// Every third is of one vector for all rows.
static struct shape random_shape(int most)
{
    struct shape s = {.rows = 1 + pick(20), .count = pick(pick(4) ? 70 : most)};
    s.stride = s.count + (pick(2) ? 0 : pick(9));
    s.x_stride = pick(3) == 0 ? 0 : s.count + (pick(2) ? 0 : pick(9));
    s.w_size = (size_t)((s.rows - 1) * s.stride + s.count);
    s.x_size = (size_t)((s.rows - 1) * s.x_stride + s.count);
    return s;
}

static void *make(size_t count, size_t size)
{
    void *values = malloc(count * size + (count == 0));
    assert_non_null(values);
    return values;
}

// In [low, high]; every third call gives one of the two ends only.
static int value_in(int low, int high, int case_index)
{
    return case_index % 3 == 0 ? (pick(2) ? low : high) : low + pick(high - low + 1);
}

// ---- --bench ------------------------------------------------------------------------------------

enum dots { DOTS_I8, DOTS_I16, DOTS_F32 };
struct call {
    enum dots dots;
    const struct hl_row_kernels *kernels;
    const struct shape *shape;
    const void *w, *x;
    union sums {
        int32_t i32[20];
        int64_t i64[20];
        float f32[20];
    } sums;
};

static void call_dots(void *arg)
{
    struct call *t = arg;
    const struct shape *s = t->shape;
    switch (t->dots) {
    case DOTS_I8: t->kernels->dots_i8(t->w, s->stride, s->rows, t->x, s->x_stride, s->count, t->sums.i32); break;
    case DOTS_I16: t->kernels->dots_i16(t->w, s->stride, s->rows, t->x, s->x_stride, s->count, t->sums.i64); break;
    case DOTS_F32: t->kernels->dots_f32(t->w, s->stride, s->rows, t->x, s->x_stride, s->count, t->sums.f32); break;
    }
}

// With --bench: the time of every hundredth case.
static void bench_dots(int case_index, enum dots dots, const struct shape *s, const void *w, const void *x)
{
    static const char *const names[] = {"dots_i8", "dots_i16", "dots_f32"};
    char label[64];
    if (!bench_wanted || case_index % 100 != 99 || s->count == 0) return;
    struct call timed = {.dots = dots, .kernels = &hl_plain_row_kernels, .shape = s, .w = w, .x = x};
    snprintf(label, sizeof label, "%s, %d rows of %d%s", names[dots], s->rows, s->count,
             s->x_stride == 0 ? ", one vector" : "");
    bench_begin(label, bench_call(call_dots, &timed));
    const struct hl_simd *level;
    for (int l = 0; (level = hl_simd_level(l)); l++) {
        timed.kernels = &level->kernels->row_kernels;
        bench_level(level->name, bench_call(call_dots, &timed));
    }
    bench_end();
}

// Every level's sums must be the plain ones.
static void check_integers(int case_index, enum dots dots, const struct shape *s, const void *w, const void *x)
{
    struct call call = {.dots = dots, .kernels = &hl_plain_row_kernels, .shape = s, .w = w, .x = x};
    call_dots(&call);
    const union sums expected = call.sums;
    const struct hl_simd *level;
    for (int l = 0; (level = hl_simd_level(l)); l++) {
        call.kernels = &level->kernels->row_kernels;
        memset(&call.sums, 0, sizeof call.sums);
        call_dots(&call);
        if (memcmp(&expected, &call.sums, sizeof expected) != 0)
            fail_msg("%s: %d rows of %d", level->name, s->rows, s->count);
    }
    bench_dots(case_index, dots, s, w, x);
}

// ---- tests --------------------------------------------------------------------------------------

static void dots_of_int8(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct shape s = random_shape(i < EXTREMES ? HL_DOTS_I8_MAX_COLUMNS + 1 : 300);
        int8_t *w = make(s.w_size, 1);
        int16_t *x = make(s.x_size, 2);
        int same = pick(2) ? -256 : 255; // all of one sign: the largest sums
        for (size_t k = 0; k < s.w_size; k++) w[k] = i < EXTREMES ? -128 : (int8_t)value_in(-128, 127, i);
        for (size_t k = 0; k < s.x_size; k++) x[k] = (int16_t)(i < EXTREMES ? same : value_in(-256, 255, i));
        check_integers(i, DOTS_I8, &s, w, x);
        free(w);
        free(x);
    }
}

static void dots_of_int16(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct shape s = random_shape(2000);
        int16_t *w = make(s.w_size, 2), *x = make(s.x_size, 2);
        for (size_t k = 0; k < s.w_size; k++) w[k] = (int16_t)(i < EXTREMES ? -32768 : value_in(-32768, 32767, i));
        for (size_t k = 0; k < s.x_size; k++)
            x[k] = (int16_t)(i < EXTREMES ? (i % 2 ? 32767 : -32768) : value_in(-32768, 32767, i));
        check_integers(i, DOTS_I16, &s, w, x);
        free(w);
        free(x);
    }
}

static void dots_of_floats(void **state)
{
    (void)state;
    static const float edges[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < CASES; i++) {
        struct shape s = random_shape(500);
        float *w = make(s.w_size, sizeof *w), *x = make(s.x_size, sizeof *x);
        for (size_t k = 0; k < s.w_size; k++) w[k] = (float)(pick(2001) - 1000) / 1000;
        for (size_t k = 0; k < s.x_size; k++) x[k] = (float)(pick(2001) - 1000) / 1000;
        if (i % 4 == 0 && s.w_size > 0) w[pick((int)s.w_size)] = edges[pick(3)];
        if (i % 4 == 0 && s.x_size > 0) x[pick((int)s.x_size)] = edges[pick(3)];
        float expected[20], got[20];
        hl_plain_row_kernels.dots_f32(w, s.stride, s.rows, x, s.x_stride, s.count, expected);
        const struct hl_simd *level;
        for (int l = 0; (level = hl_simd_level(l)); l++) {
            level->kernels->row_kernels.dots_f32(w, s.stride, s.rows, x, s.x_stride, s.count, got);
            for (int r = 0; r < s.rows; r++) // a sum of `count` values up to 1, rounded as often
                if (expected[r] != got[r] && !(isnan(expected[r]) && isnan(got[r])) &&
                    !(fabsf(expected[r] - got[r]) <= 0x1p-24f * (float)s.count * sqrtf((float)s.count)))
                    fail_msg("%s: row %d of %d, %d long, is %g, not %g", level->name, r, s.rows, s.count,
                             (double)got[r], (double)expected[r]);
        }
        bench_dots(i, DOTS_F32, &s, w, x);
        free(w);
        free(x);
    }
}

// Those of elements.h, in place: to within 4 units of the last place.
static void sigmoids(void **state)
{
    (void)state;
    enum { MOST = 70 };
    for (int count = 0; count <= MOST; count++) {
        float *x = make((size_t)count, sizeof *x), expected[2][MOST];
        for (int i = 0; i < count; i++) x[i] = expected[0][i] = expected[1][i] = (float)(pick(20001) - 10000) / 1000;
        hl_plain_row_kernels.logistic(expected[0], count);
        hl_plain_row_kernels.tanh(expected[1], count);
        const struct hl_simd *level;
        for (int l = 0; (level = hl_simd_level(l)); l++)
            for (int f = 0; f < 2; f++) {
                float *y = make((size_t)count, sizeof *y);
                if (count > 0) memcpy(y, x, (size_t)count * sizeof *y);
                (f == 0 ? level->kernels->row_kernels.logistic : level->kernels->row_kernels.tanh)(y, count);
                for (int i = 0; i < count; i++)
                    if (!(fabsf(y[i] - expected[f][i]) <= 0x1p-21f * fabsf(expected[f][i])))
                        fail_msg("%s: function %d of %g is %g, not %g", level->name, f, (double)x[i], (double)y[i],
                                 (double)expected[f][i]);
                free(y);
            }
        free(x);
    }
}

// All numbers of all formats: the plain kernels as near the functions as the original comes, the levels as the plain.
static void sigmoids_of_int16(void **state)
{
    (void)state;
    enum { ALL = 1 << 16 };
    int16_t *expected = make(ALL, 2), *got = make(ALL, 2);
    for (int m = 0; m <= 6; m++)
        for (int f = 0; f < 2; f++) {
            for (int i = 0; i < ALL; i++) expected[i] = (int16_t)(i - (1 << 15));
            (f == 0 ? hl_plain_row_kernels.logistic_i16 : hl_plain_row_kernels.tanh_i16)(expected, m, ALL);
            for (int i = 0; i < ALL; i++) {
                double x = ldexp(i - (1 << 15), m - 15), y = (f == 0 ? 1 / (1 + exp(-x)) : tanh(x)) * (1 << 15);
                if (!(fabs(expected[i] - y) <= 16)) fail_msg("function %d of %g is %d, not %g", f, x, expected[i], y);
            }
            const struct hl_simd *level;
            for (int l = 0; (level = hl_simd_level(l)); l++) {
                int count = ALL - pick(100);
                for (int i = 0; i < ALL; i++) got[i] = (int16_t)(i - (1 << 15));
                (f == 0 ? level->kernels->row_kernels.logistic_i16 : level->kernels->row_kernels.tanh_i16)(got, m,
                                                                                                           count);
                assert_memory_equal(got, expected, (size_t)count * sizeof *got);
            }
        }
    free(expected);
    free(got);
}

// The plain kernels by the definition, the levels by the plain ones. Few different values, so that several are the
// largest.
static void largest_of_bytes(void **state)
{
    (void)state;
    static const uint8_t flips[] = {0, 0x80, 0xff, 0x7f};
    for (int i = 0; i < CASES; i++) {
        const int rows = 1 + pick(20), count = 1 + pick(pick(20) ? 70 : HL_LARGEST_MAX_COLUMNS);
        const size_t size = (size_t)rows * (size_t)count;
        uint8_t *x = make(size, 1), flip = flips[pick(4)];
        const int different = pick(3) ? 4 : 256, first = pick(256);
        int32_t expected[20], best[20];
        for (size_t k = 0; k < size; k++) x[k] = (uint8_t)(first + pick(different));
        hl_plain_row_kernels.largest_bytes(x, flip, rows, count, expected);
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < count; k++) {
                const int value = (int8_t)(x[r * count + k] ^ flip);
                const int largest = (int8_t)(x[r * count + expected[r]] ^ flip);
                assert_true(value < largest || (value == largest && k >= expected[r]));
            }
        for (int level = 0; hl_simd_level(level); level++) {
            hl_simd_level(level)->kernels->row_kernels.largest_bytes(x, flip, rows, count, best);
            assert_memory_equal(best, expected, (size_t)rows * sizeof *best);
        }
        free(x);
    }
}

// Rows as hybrid nodes have them: their ranges, and their values as int8.
static void rows_as_int8(void **state)
{
    (void)state;
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-40f};
    for (int i = 0; i < CASES; i++) {
        const int count = pick(pick(20) ? 100 : 5000), zero = pick(256) - 128, low = pick(2) ? -128 : -127;
        const float offset = (float)(pick(3) - 1) * 1000;
        float inverse = (float)(1 + pick(1000)) / 4000;
        const bool has_special = pick(3) == 0;
        const float unit = has_special && pick(3) == 0 ? 1e-42f : 1; // then the inverse is infinite
        const uint8_t flip = pick(2) ? 0x80 : 0;
        float *x = make((size_t)count, sizeof *x), expected[2], got[2];
        int8_t *stored[2] = {make((size_t)count, 1), make((size_t)count, 1)};
        for (int k = 0; k < count; k++)
            x[k] = has_special && pick(10) == 0 ? special[pick(8)] : ((float)(pick(2001) - 1000) / 2 + offset) * unit;
        hl_plain_row_kernels.range(x, count, &expected[0], &expected[1]);
        if (has_special) inverse = 127 / (-expected[0] > expected[1] ? -expected[0] : expected[1]); // may be infinite
        hl_plain_row_kernels.quantize(x, count, inverse, zero, low, flip, stored[0]);
        for (int level = 0; hl_simd_level(level); level++) {
            const struct hl_row_kernels *kernels = &hl_simd_level(level)->kernels->row_kernels;
            kernels->range(x, count, &got[0], &got[1]);
            assert_memory_equal(got, expected, sizeof got);
            kernels->quantize(x, count, inverse, zero, low, flip, stored[1]);
            assert_memory_equal(stored[1], stored[0], (size_t)count);
        }
        free(x), free(stored[0]), free(stored[1]);
    }
}

static void largest_of_floats(void **state)
{
    (void)state;
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-40f};
    for (int i = 0; i < CASES; i++) {
        const int rows = 1 + pick(20), count = 1 + pick(pick(20) ? 70 : HL_LARGEST_MAX_COLUMNS);
        const size_t size = (size_t)rows * (size_t)count;
        const int different = pick(3) ? 4 : 2001, one_of = pick(3) ? 100 : 3 * count;
        float *x = make(size, sizeof *x), sign = pick(2) ? 1 : -1;
        int32_t expected[20], best[20];
        for (size_t k = 0; k < size; k++) x[k] = pick(one_of) ? (float)(pick(different) - 1000) : special[pick(8)];
        hl_plain_row_kernels.largest_floats(x, sign, rows, count, expected);
        for (int r = 0; r < rows; r++) {
            bool has_nan = false;
            for (int k = 0; k < count; k++) has_nan = has_nan || isnan(x[r * count + k]);
            assert_int_equal(has_nan, expected[r] < 0);
            for (int k = 0; k < count && !has_nan; k++) {
                const float value = x[r * count + k] * sign, largest = x[r * count + expected[r]] * sign;
                assert_true(value < largest || (value == largest && k >= expected[r]));
            }
        }
        for (int level = 0; hl_simd_level(level); level++) {
            hl_simd_level(level)->kernels->row_kernels.largest_floats(x, sign, rows, count, best);
            assert_memory_equal(best, expected, (size_t)rows * sizeof *best);
        }
        free(x);
    }
}

// Windows of all sizes, next to each other or not, at the end of the input or before it. The last value of y that a
// kernel may write is that of the last position.
static void pools(void **state)
{
    (void)state;
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-40f};
    for (int i = 0; i < CASES; i++) {
        const enum hl_pool_kind kind = (enum hl_pool_kind)(i % HL_POOL_LEVEL_KINDS);
        const bool floats = kind == HL_POOL_AVERAGE_F32 || kind == HL_POOL_MAX_F32;
        const bool is_signed = kind == HL_POOL_AVERAGE_I8 || kind == HL_POOL_MAX_I8;
        const size_t size = floats ? sizeof(float) : 1;
        const int channels = 1 + pick(pick(2) ? 5 : 150), stride = 1 + pick(3), more = pick(3);
        struct hl_pool_run run = {.rows = 1 + pick(4),
                                  .columns = 1 + pick(4),
                                  .positions = 1 + pick(12),
                                  .count = channels};
        const int width = (int)(run.positions - 1) * stride + run.columns + more;
        const size_t x_size = (size_t)(width * run.rows * channels), y_size = (size_t)(run.positions * channels);
        run.right = channels, run.step = (ptrdiff_t)stride * channels, run.down = (ptrdiff_t)width * channels;
        run.is_signed = is_signed;
        run.low = (is_signed ? -128 : 0) + pick(pick(2) ? 1 : 100), run.high = (is_signed ? 127 : 255) - pick(100);
        run.low_f32 = pick(2) ? -INFINITY : 0, run.high_f32 = pick(2) ? INFINITY : 6;
        char *x = make(x_size, size), *expected = make(y_size, size);
        for (size_t k = 0; k < x_size * size && !floats; k++) x[k] = (char)value_in(0, 255, i);
        for (size_t k = 0; k < x_size && floats; k++)
            ((float *)(void *)x)[k] = pick(100) ? (float)(pick(20001) - 10000) / 1000 : special[pick(8)];
        run.x = x, run.x_end = x + x_size * size;
        run.y = expected, run.y_end = expected + y_size * size;
        hl_plain_row_kernels.pool[kind](&run);
        for (int level = 0; hl_simd_level(level); level++) {
            char *y = make(y_size, size);
            memset(y, 0x55, y_size * size);
            run.y = y, run.y_end = y + y_size * size;
            hl_simd_level(level)->kernels->row_kernels.pool[kind](&run);
            for (size_t k = 0; k < y_size; k++) {
                const bool nans = floats && isnan(((float *)(void *)y)[k]) && isnan(((float *)(void *)expected)[k]);
                if (!nans && memcmp(y + k * size, expected + k * size, size) != 0)
                    fail_msg("%s: kind %d, value %zu of %d windows of %dx%d, %d channels", hl_simd_level(level)->name,
                             (int)kind, k, (int)run.positions, run.rows, run.columns, channels);
            }
            free(y);
        }
        free(x);
        free(expected);
    }
}

// So many bytes of one value that a sum does not fit 24 bits.
static void large_pools(void **state)
{
    (void)state;
    enum { SIDE = 400 };
    int8_t *x = make((size_t)SIDE * SIDE, 1), y = 0;
    memset(x, -128, (size_t)SIDE * SIDE);
    for (int k = 0; k < SIDE * SIDE / 2 + 1; k++) x[k] = -127;
    const struct hl_pool_run run = {.x = x,
                                    .rows = SIDE,
                                    .columns = SIDE,
                                    .down = SIDE,
                                    .right = 1,
                                    .positions = 1,
                                    .count = 1,
                                    .y = &y,
                                    .x_end = x + SIDE * SIDE,
                                    .y_end = &y + 1,
                                    .low = -128,
                                    .is_signed = true,
                                    .high = 127};
    for (int level = 0; hl_simd_level(level); level++) {
        hl_simd_level(level)->kernels->row_kernels.pool[HL_POOL_AVERAGE_I8](&run);
        assert_int_equal(y, -127);
    }
    free(x);
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dots_of_int8),      cmocka_unit_test(dots_of_int16),     cmocka_unit_test(dots_of_floats),
        cmocka_unit_test(sigmoids),          cmocka_unit_test(sigmoids_of_int16), cmocka_unit_test(largest_of_bytes),
        cmocka_unit_test(largest_of_floats), cmocka_unit_test(rows_as_int8),      cmocka_unit_test(pools),
        cmocka_unit_test(large_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
