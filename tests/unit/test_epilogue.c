// SPDX-License-Identifier: Apache-2.0
// Epilogues (fast/epilogue.h) on every CPU level: random tiles of sums against what ops/common/quant.h and the formulas
// of ops/common/conv.c say, one value after the other.
#include "fast/epilogue.h"

#include <math.h>

#include "fast_parts.h"

enum { CASES = 200, ROWS = 40, CHANNELS = 70, PADDED = 160, SUMS_STRIDE = 96 };

struct values {
    struct hl_rescale rescales[CHANNELS];
    double scales[CHANNELS];
    float filter_scales[CHANNELS], bias[CHANNELS], x_scales[ROWS + 2];
    int32_t sums[ROWS * SUMS_STRIDE], corrections[ROWS], x_zeros[ROWS + 2];
    int channels, rows, positions; // positions: of a batch
};

// Small sums, or any; where scales are powers of two, many of them are halfway between two outputs. Some of the small
// ones are near what a shift makes a byte or half of one.
static int32_t random_sum(bool small)
{
    if (small && pick(2)) return (pick(1025) - 512) * (1 << pick(15)) + pick(7) - 3;
    return small ? pick(20001) - 10000 : (int32_t)((uint32_t)pick(1 << 16) << 16 | (uint32_t)pick(1 << 16));
}

// In every second case all rescales shift to the right, in every third case by much.
static void randomize(struct values *v)
{
    const bool small = pick(3) > 0, to_right = pick(2), powers = pick(2);
    v->channels = 1 + pick(CHANNELS);
    v->rows = 1 + pick(ROWS - 1);
    v->positions = 1 + pick(3);
    for (int c = 0; c < CHANNELS; c++) {
        const int exponent = !small ? -2 - pick(28) : to_right ? -2 - pick(15) : pick(14) - 11;
        v->rescales[c] = hl_rescale_from(ldexp(powers ? 1 : 1 + pick(1000) / 1000.0, exponent));
        v->scales[c] = pick(1000) / 100000.0;
        v->filter_scales[c] = (float)(1 + pick(1000)) / 1000;
        v->bias[c] = (float)(pick(2001) - 1000) / 100;
    }
    for (int i = 0; i < ROWS * SUMS_STRIDE; i++) v->sums[i] = random_sum(small);
    for (int r = 0; r < ROWS; r++) v->corrections[r] = pick(2001) - 1000;
    for (int r = 0; r < ROWS + 2; r++) {
        v->x_zeros[r] = pick(256) - 128;
        v->x_scales[r] = (float)(1 + pick(1000)) / 1000;
    }
}

// What becomes of one sum.
static float expected_value(const struct hl_epilogue *e, const struct hl_epilogue_params *params,
                            const struct values *v, int position, int c, int32_t sum, uint32_t w_sum)
{
    if (e->form == &hl_epilogue_hybrid) {
        int batch = position / v->positions;
        uint32_t zero = e->simd->dot_width == 4 ? (uint32_t)v->x_zeros[batch] : 0;
        float value = (float)(int32_t)((uint32_t)sum - zero * w_sum), filter = v->filter_scales[c];
        value = params->two_steps ? value * filter * v->x_scales[batch] : value * (filter * v->x_scales[batch]);
        value += v->bias[c];
        return value < params->low_f32 ? params->low_f32 : value > params->high_f32 ? params->high_f32 : value;
    }
    int64_t value =
        e->form == &hl_epilogue_scaled ? (int64_t)round(sum * v->scales[c]) : hl_rescale_apply(sum, v->rescales[c]);
    value += params->zero;
    return (float)(value < params->low ? params->low : value > params->high ? params->high : value);
}

static void check_tile(const struct hl_epilogue *e, const struct hl_epilogue_params *params, struct values *v,
                       const uint32_t *w_sums, int panel)
{
    const int columns = e->simd->columns, left = v->channels - panel * columns, first = pick(3);
    const int most = SUMS_STRIDE / columns, wide = (1 + pick(most)) * columns, together = left < wide ? left : wide;
    const bool hybrid = e->form == &hl_epilogue_hybrid, corrected = !hybrid && pick(2);
    struct hl_tile tile = {.rows = v->rows, .columns = left < columns ? left : columns};
    const struct hl_output_tile at = {
        .position = first,
        .row = 1,
        .rows = v->rows,
        .channel = panel * columns,
        .column = panel * columns,
        .sums_stride = SUMS_STRIDE,
    };
    size_t bytes = (size_t)((first + v->rows) * v->channels) * (hybrid ? 4 : 1);
    char *y = zeroed(bytes, 1);
    const struct hl_output output = {y, v->sums, corrected ? v->corrections : NULL, v->x_scales, v->x_zeros};
    e->form->begin(e, &output, &tile);
    assert_ptr_equal(tile.y, v->sums);
    assert_int_equal(tile.y_stride, columns);
    e->form->finish(e, &output, &at, together);
    for (int r = 0; r < v->rows; r++)
        for (int n = 0; n < together; n++) {
            int c = panel * columns + n;
            int32_t sum =
                (int32_t)((uint32_t)v->sums[r * SUMS_STRIDE + n] - (uint32_t)(corrected ? v->corrections[1 + r] : 0));
            float expected = expected_value(e, params, v, first + r, c, sum, w_sums[c]), got;
            if (hybrid)
                memcpy(&got, y + ((first + r) * v->channels + c) * 4, 4);
            else
                got = (int8_t)y[(first + r) * v->channels + c];
            if (got != expected)
                fail_msg("%s, %s: row %d, channel %d is %g, not %g", e->form->name, e->simd->name, r, c, (double)got,
                         (double)expected);
        }
    free(y);
}

static void check(const struct hl_epilogue_params *params, const struct hl_epilogue_form *form, struct values *v,
                  const struct hl_simd *simd)
{
    struct hl_epilogue e;
    struct hl_parts parts = {0};
    hl_epilogue_init(&e, simd, v->channels, v->positions, params);
    assert_ptr_equal(e.form, form);
    int panels = (v->channels - 1) / simd->columns + 1;
    form->parts(&e, panels * simd->columns, &parts);
    make_parts(&parts);
    uint32_t w_sums[PADDED] = {0};
    for (int c = 0; c < v->channels; c++) {
        form->set(&e, params, c, c);
        w_sums[c] = (uint32_t)(pick(2001) - 1000);
    }
    e.unquant.w_sums = w_sums;
    for (int panel = 0; panel < panels; panel++) check_tile(&e, params, v, w_sums, panel);
    free_parts(&parts);
}

static void integers(void **state)
{
    (void)state;
    const struct hl_simd *simd;
    struct values v;
    for (int i = 0; i < CASES; i++) {
        randomize(&v);
        struct hl_epilogue_params bytes = {.low = -100, .high = 90, .zero = pick(100) - 50};
        struct hl_epilogue_params rescaled = bytes, scaled = bytes;
        rescaled.rescales = v.rescales;
        scaled.scales = v.scales;
        const struct hl_epilogue_params hybrid = {
            .low_f32 = -3,
            .high_f32 = INFINITY,
            .filter_scales = v.filter_scales,
            .filter_scale_step = 1,
            .two_steps = pick(2),
            .bias = v.bias,
        };
        for (int level = 0; (simd = hl_simd_level(level)); level++) {
            check(&rescaled, &hl_epilogue_requantized, &v, simd);
            check(&scaled, &hl_epilogue_scaled, &v, simd);
            check(&hybrid, &hl_epilogue_hybrid, &v, simd);
        }
    }
}

// The last sum of each output and the first of the next, of both signs, for all shifts, and multipliers that are odd,
// even, powers of two and as near to these as any.
static void every_step(void **state)
{
    (void)state;
    enum { MIN_SHIFT = 1, MAX_SHIFT = 14 };
    static const int32_t some[] = {1 << 30, (1 << 30) + 1, (1 << 30) + 64, INT32_MAX, INT32_MAX - 63, INT32_MAX - 64};
    const struct hl_simd *simd;
    struct values v = {.channels = 24, .rows = ROWS - 1, .positions = 1};
    for (int shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++)
        for (int half = -255; half <= 255; half += pick(3) + 1) {
            const int zero = half < 0 ? 127 : -128; // whatever the step is, it is in the range
            const struct hl_epilogue_params params = {.low = -128, .high = 127, .zero = zero, .rescales = v.rescales};
            for (int c = 0; c < v.channels; c++) {
                int32_t multiplier = (int32_t)((1u << 30) | ((uint32_t)pick(1 << 15) << 15) | (uint32_t)pick(1 << 15));
                if (c < (int)(sizeof some / sizeof *some)) multiplier = some[c];
                v.rescales[c] = (struct hl_rescale){multiplier, -shift};
                const double step = (half + 0.5) * ldexp(1, 31 + shift) / multiplier;
                for (int r = 0; r < ROWS; r++) v.sums[r * SUMS_STRIDE + c] = (int32_t)floor(step) + r - ROWS / 2;
                v.sums[0 * SUMS_STRIDE + c] = INT32_MAX;
                v.sums[1 * SUMS_STRIDE + c] = INT32_MIN;
                v.sums[2 * SUMS_STRIDE + c] = 0;
            }
            for (int level = 0; (simd = hl_simd_level(level)); level++)
                check(&params, &hl_epilogue_requantized, &v, simd);
        }
}

// The product writes floats to the output itself, within the range.
static void floats(void **state)
{
    (void)state;
    struct hl_epilogue e;
    struct hl_parts parts = {0};
    const struct hl_epilogue_params params = {.low_f32 = -1, .high_f32 = 6};
    hl_epilogue_init(&e, hl_simd_level(0), 10, 4, &params);
    assert_ptr_equal(e.form, &hl_epilogue_f32);
    e.form->parts(&e, 16, &parts);
    assert_int_equal(parts.count, 0);
    float y[100];
    const struct hl_output output = {.y = y};
    const struct hl_output_tile at = {.position = 3, .channel = 8};
    struct hl_tile tile = {.rows = 2, .columns = 2};
    e.form->begin(&e, &output, &tile);
    assert_null(e.form->finish);
    assert_ptr_equal(hl_epilogue_y(&e, &output, &at, sizeof *y), y + 38);
    assert_int_equal(tile.y_stride, 10);
    assert_true(tile.low == -1 && tile.high == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(every_step),
                                       cmocka_unit_test(floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
