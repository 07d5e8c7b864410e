// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic and windows. Expected values are worked out by hand, or in exact rational
// arithmetic from the rules: the high multiplication rounds half up, the right shift half away from
// zero.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/common/quant.h"
#include "ops/common/window.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void rescale_from_real(void **state)
{
    (void)state;
    static const struct {
        double real;
        int32_t multiplier;
        int shift;
    } rows[] = {
        {0.0, 0, 0},
        {1.0, 1073741824, 1},
        {0.5, 1073741824, 0},
        {0.75, 1610612736, 0},
        {0.1, 1717986918, -3},
        {1.0 / 3, 1431655765, -1},
        {5.0, 1342177280, 3},
        {0.001, 1099511628, -9},
        {0x1p-31, 1073741824, -30},
        {0x1p-33, 0, 0},              // shift below -31
        {1 - 0x1p-40, 1073741824, 1}, // the fraction rounds up to one
        {0x1p-32 * (1 - 0x1p-40), 1073741824, -31},
        {1e30, INT32_MAX, 30},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hl_rescale rescale = hl_rescale_from(rows[i].real);
        assert_int_equal(rescale.multiplier, rows[i].multiplier);
        assert_int_equal(rescale.shift, rows[i].shift);
    }
    assert_int_equal(hl_rescale_from((double)INFINITY).multiplier, INT32_MAX);
    assert_int_equal(hl_rescale_from((double)NAN).multiplier, 0);
}

static void rescale_apply(void **state)
{
    (void)state;
    static const struct {
        int32_t value, multiplier;
        int shift;
        int32_t expected;
    } rows[] = {
        {1000, 1073741824, 0, 500},      {-1000, 1073741824, 0, -500},     {3, 1073741824, 0, 2}, // 1.5 up
        {-3, 1073741824, 0, -1},         {5, 1073741824, -1, 2}, // 2.5 up to 3, then 1.5 away from zero
        {-5, 1073741824, -1, -1},        {6, 1073741824, -1, 2},           {-6, 1073741824, -1, -2},
        {7, 1073741824, -1, 2},          {-7, 1073741824, -1, -2},         {123456, 1518500250, -7, 682},
        {-123456, 1518500250, -7, -682}, {2147483647, 2147483647, -31, 1}, {INT32_MIN, 2147483647, -31, -1},
        {77777, 1288490189, 3, 373330},  {-77777, 1288490189, 3, -373330}, {INT32_MIN, INT32_MIN, 0, INT32_MAX},
        {3, 1073741824, 30, -536870912}, // 3 << 30 wraps to -2^30
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hl_rescale rescale = {rows[i].multiplier, rows[i].shift};
        assert_int_equal(hl_rescale_apply(rows[i].value, rescale), rows[i].expected);
    }
}

static void rescale_apply_64(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        int32_t multiplier;
        int shift;
        int32_t expected;
    } rows[] = {
        {1, 1073741824, 0, 1}, // 0.5 up
        {-1, 1073741824, 0, 0},
        {3, 1073741824, 0, 2},
        {-3, 1073741824, 0, -1},
        {INT64_C(1099511627776), 1073741824, -20, 524288},
        {INT64_C(-1099511627776), 1073741824, -20, -524288},
        {INT64_C(123456789012), 1288490189, -12, 18084675},
        {INT64_C(-123456789012), 1288490189, -12, -18084675},
        {100, 2147483647, 4, 1600},
        {INT64_C(70368744190009), 1518500250, -20, 47452160},
        {5, 1073741824, 15, 81920}, // 5 * 2^14
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hl_rescale rescale = {rows[i].multiplier, rows[i].shift};
        assert_int_equal(hl_rescale_apply_i64(rows[i].value, rescale), rows[i].expected);
    }
}

// The composed rule against floating point: one step at most between the two.
static void rescale_is_close_to_real(void **state)
{
    (void)state;
    for (double real = 1e-8; real < 100; real *= 1.37) {
        struct hl_rescale rescale = hl_rescale_from(real);
        for (int32_t value = -1000000; value <= 1000000; value += 33331) {
            double exact = value * real;
            assert_true(fabs(hl_rescale_apply(value, rescale) - exact) <= 1.0);
        }
    }
}

static void shift_right_rounds_half_away(void **state)
{
    (void)state;
    assert_int_equal(hl_shift_right_round(6, 2), 2); // 1.5
    assert_int_equal(hl_shift_right_round(-6, 2), -2);
    assert_int_equal(hl_shift_right_round(5, 2), 1);
    assert_int_equal(hl_shift_right_round(-5, 2), -1);
    assert_int_equal(hl_shift_right_round(7, 0), 7);
    assert_int_equal(hl_shift_right_round(INT32_MAX, 31), 1);
    assert_int_equal(hl_shift_right_round(INT32_MIN, 31), -1);
    assert_int_equal(hl_saturate_i32(INT64_C(1) << 40), INT32_MAX);
    assert_int_equal(hl_saturate_i32(-(INT64_C(1) << 40)), INT32_MIN);
    assert_int_equal(hl_saturate_i32(-7), -7);
}

static TfLiteTensor quantized_tensor(TfLiteType type, float scale, int zero_point)
{
    TfLiteTensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.type = type;
    tensor.params.scale = scale;
    tensor.params.zero_point = zero_point;
    return tensor;
}

static void activation_ranges(void **state)
{
    (void)state;
    static const struct {
        TfLiteFusedActivation activation;
        TfLiteType type;
        float scale;
        int zero, low, high;
    } rows[] = {
        {kTfLiteActNone, kTfLiteInt8, 0.1f, 5, -128, 127},
        {kTfLiteActRelu, kTfLiteInt8, 0.1f, 5, 5, 127},
        {kTfLiteActRelu6, kTfLiteInt8, 0.1f, 5, 5, 65},
        {kTfLiteActReluN1To1, kTfLiteInt8, 0.25f, -3, -7, 1},
        {kTfLiteActRelu6, kTfLiteUInt8, 0.01f, 0, 0, 255},  // 600 is beyond the type
        {kTfLiteActReluN1To1, kTfLiteInt8, 2.0f, 0, -1, 1}, // a half goes away from zero
        {kTfLiteActRelu6, kTfLiteInt16, 0.5f, 0, 0, 12},
        {kTfLiteActTanh, kTfLiteInt8, 0.5f, 0, -128, 127}, // ignored
        {kTfLiteActRelu6, kTfLiteInt8, 1e-30f, -128, -128, 127},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        TfLiteTensor output = quantized_tensor(rows[i].type, rows[i].scale, rows[i].zero);
        int32_t low, high;
        hl_activation_range(rows[i].activation, &output, &low, &high);
        assert_int_equal(low, rows[i].low);
        assert_int_equal(high, rows[i].high);
    }
    float low, high;
    hl_activation_range_f32(kTfLiteActNone, &low, &high);
    assert_true(low == -FLT_MAX && high == FLT_MAX);
    hl_activation_range_f32(kTfLiteActRelu, &low, &high);
    assert_true(low == 0 && high == FLT_MAX);
    hl_activation_range_f32(kTfLiteActRelu6, &low, &high);
    assert_true(low == 0 && high == 6);
    hl_activation_range_f32(kTfLiteActReluN1To1, &low, &high);
    assert_true(low == -1 && high == 1);
    int64_t wide_low, wide_high;
    hl_activation_range_i64(kTfLiteActRelu6, kTfLiteInt64, &wide_low, &wide_high);
    assert_true(wide_low == 0 && wide_high == 6);
    hl_activation_range_i64(kTfLiteActNone, kTfLiteInt32, &wide_low, &wide_high);
    assert_true(wide_low == INT32_MIN && wide_high == INT32_MAX);
    hl_activation_range_i64(kTfLiteActRelu, kTfLiteInt64, &wide_low, &wide_high);
    assert_true(wide_low == 0 && wide_high == INT64_MAX);
}

struct scales2 {
    int size;
    float data[2];
};

static void channel_rescales(void **state)
{
    (void)state;
    struct scales2 scales = {2, {0.5f, 0.25f}};
    TfLiteAffineQuantization affine = {(TfLiteFloatArray *)&scales, NULL, 0};
    struct {
        int size;
        int data[2];
    } dims = {2, {2, 3}};
    TfLiteTensor input = quantized_tensor(kTfLiteInt8, 0.5f, 3);
    TfLiteTensor output = quantized_tensor(kTfLiteInt8, 1.0f, 0);
    TfLiteTensor filter = quantized_tensor(kTfLiteInt8, 0.5f, 0);
    filter.dims = (TfLiteIntArray *)&dims;
    filter.quantization.type = kTfLiteAffineQuantization;
    filter.quantization.params = &affine;
    TfLiteContext ctx;
    TfLiteNode node;
    memset(&ctx, 0, sizeof ctx);
    memset(&node, 0, sizeof node);

    struct hl_rescale rescales[3];
    assert_int_equal(hl_channel_rescales(&ctx, &node, &input, &filter, NULL, &output, 2, rescales), kTfLiteOk);
    assert_int_equal(rescales[0].multiplier, 1 << 30); // 0.25
    assert_int_equal(rescales[0].shift, -1);
    assert_int_equal(rescales[1].shift, -2);

    scales.size = 1; // one scale for all
    assert_int_equal(hl_channel_rescales(&ctx, &node, &input, &filter, NULL, &output, 3, rescales), kTfLiteOk);
    assert_int_equal(rescales[2].shift, -1);

    input.type = filter.type = output.type = kTfLiteUInt8;
    input.params.scale = filter.params.scale = 0.1f; // float product 0x1.47ae16p-7
    TfLiteTensor bias = quantized_tensor(kTfLiteInt32, 0.01f, 0);
    assert_int_equal(hl_channel_rescales(&ctx, &node, &input, &filter, &bias, &output, 1, rescales), kTfLiteOk);
    assert_int_equal(rescales[0].multiplier, 1374389632); // * 2^37
    assert_int_equal(rescales[0].shift, -6);
}

static double same(double x)
{
    return x;
}

static double square(double x)
{
    return x * x;
}

static void tables(void **state)
{
    (void)state;
    uint8_t table[256];
    TfLiteTensor input = quantized_tensor(kTfLiteInt8, 0.5f, -10);
    TfLiteTensor output = quantized_tensor(kTfLiteInt8, 1.0f, 3);
    hl_table_8bit(&input, &output, same, table);
    assert_int_equal((int8_t)table[(uint8_t)-10], 3);
    assert_int_equal((int8_t)table[(uint8_t)-9], 4);  // 0.5 away from zero
    assert_int_equal((int8_t)table[(uint8_t)-11], 2); // -0.5 too
    assert_int_equal((int8_t)table[127], 72);         // 68.5
    hl_table_8bit(&input, &output, square, table);
    assert_int_equal((int8_t)table[127], 127);
    input = quantized_tensor(kTfLiteUInt8, 1.0f, 128);
    output = quantized_tensor(kTfLiteUInt8, 1.0f, 0);
    hl_table_8bit(&input, &output, same, table);
    assert_int_equal(table[0], 0);
    assert_int_equal(table[130], 2);

    int16_t wide[513];
    hl_table_16bit(1.0, 0, 1.0, 0, same, wide);
    // Segments are 65535/512 wide, the output range 65536/65535 of the input's.
    assert_int_equal(wide[0], -32768);
    assert_int_equal(wide[512], 32767);
    for (int value = -32768; value <= 32767; value += 111)
        assert_true(abs(hl_table_lookup_i16((int16_t)value, wide) - value) <= 2);
    // x^2 in units of 2^-20, segment [0, 1/256]: 0 at its start, 4 in the middle, 16 at its end.
    // Interpolation gives 8 in the middle, 4 too much, of which the start bears half.
    hl_table_16bit(1.0 / 32768, 0, 0x1p-20, 0, square, wide);
    assert_int_equal(wide[256], -2);
    assert_int_equal(wide[0], 32767);
}

static void quantized_rows(void **state)
{
    (void)state;
    const struct hl_row_kernels *plain = &hl_plain_row_kernels;
    int8_t stored[4];
    float scale;
    int32_t zero;
    hl_quantize_row(plain, false, (const float[]){1, -2, 0.5f, 254}, 4, stored, &scale, &zero);
    assert_true(scale == 2);
    assert_memory_equal(stored, ((const int8_t[]){1, -1, 0, 127}), 4); // 0.5, -1, 0.25, 127
    hl_quantize_row(plain, false, (const float[]){-127, 2.5f, -2.5f, 1}, 4, stored, &scale, &zero);
    assert_true(scale == 1);
    assert_memory_equal(stored, ((const int8_t[]){-127, 3, -3, 1}), 4);
    hl_quantize_row(plain, false, (const float[]){0, 0, -0.0f, 0}, 4, stored, &scale, &zero);
    assert_true(scale == 1);
    assert_memory_equal(stored, ((const int8_t[]){0, 0, 0, 0}), 4);
    hl_quantize_row(plain, false, (const float[]){NAN, INFINITY, 1, 2}, 4, stored, &scale, &zero);

    // 0..255: steps of one, zero at -128.
    hl_quantize_row(plain, true, (const float[]){1, 255, 127.5f, 3}, 4, stored, &scale, &zero);
    assert_true(scale == 1);
    assert_int_equal(zero, -128);
    assert_memory_equal(stored, ((const int8_t[]){-127, 127, 0, -125}), 4); // 128 - 128
    // -510..0: steps of two, zero at 127.
    hl_quantize_row(plain, true, (const float[]){-510, -1, -3, -2}, 4, stored, &scale, &zero);
    assert_true(scale == 2);
    assert_int_equal(zero, 127);
    assert_memory_equal(stored, ((const int8_t[]){-128, 126, 125, 126}), 4); // -0.5, -1.5, -1
    // -55..200: zero at -128 + 55.
    hl_quantize_row(plain, true, (const float[]){-55, 200, 0, 10}, 4, stored, &scale, &zero);
    assert_int_equal(zero, -73);
    assert_memory_equal(stored, ((const int8_t[]){-128, 127, -73, -63}), 4);
    // -1.5..1.5: zero at 127 - 1.5 / (3 / 255) = -0.5, exactly, which rounds away from zero.
    hl_quantize_row(plain, true, (const float[]){-1.5f, 1.5f, 0, 1}, 4, stored, &scale, &zero);
    assert_int_equal(zero, -1);
    assert_memory_equal(stored, ((const int8_t[]){-128, 127, -1, 84}), 4); // 127.5 rounds to 128, 85
    hl_quantize_row(plain, true, (const float[]){0, 0, 0, 0}, 4, stored, &scale, &zero);
    assert_true(scale == 1 && zero == 0);
    hl_quantize_row(plain, true, NULL, 0, NULL, &scale, &zero);
    assert_true(scale == 1 && zero == 0);
}

static void packed_integers(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0x21, 0x8f, 0x07};
    int8_t values[8];
    hl_unpack_int4(bytes, 5, values);
    assert_memory_equal(values, ((const int8_t[]){1, 2, -1, -8, 7}), 5);
    hl_unpack_uint4(bytes, 5, values);
    assert_memory_equal(values, ((const int8_t[]){1, 2, 15, 8, 7}), 5);
    hl_unpack_int2((const uint8_t[]){0xe4, 0x01}, 5, values);
    assert_memory_equal(values, ((const int8_t[]){0, 1, -2, -1, 1}), 5);
    uint8_t packed[3];
    hl_pack_int4((const int8_t[]){1, 2, -1, -8, 7}, 5, packed);
    assert_memory_equal(packed, bytes, 3);
}

static void windows(void **state)
{
    (void)state;
    static const struct {
        TfLitePadding padding;
        int in, filter, stride, dilation, out, before, after;
    } rows[] = {
        {kTfLitePaddingSame, 224, 3, 2, 1, 112, 0, 1}, {kTfLitePaddingSame, 5, 3, 1, 1, 5, 1, 1},
        {kTfLitePaddingSame, 5, 3, 1, 2, 5, 2, 2},     {kTfLitePaddingSame, 5, 4, 1, 1, 5, 1, 2},
        {kTfLitePaddingSame, 5, 1, 3, 1, 2, 0, 0},     {kTfLitePaddingSame, 0, 3, 1, 1, 0, 0, 0},
        {kTfLitePaddingValid, 5, 3, 1, 1, 3, 0, 0},    {kTfLitePaddingValid, 6, 3, 2, 1, 2, 0, 0},
        {kTfLitePaddingValid, 5, 3, 2, 2, 1, 0, 0},    {kTfLitePaddingValid, 2, 3, 1, 1, 0, 0, 0},
        {kTfLitePaddingValid, 2, 5, 2, 1, 0, 0, 0}, // -1 / 2 truncates
    };
    TfLiteContext ctx;
    TfLiteNode node;
    memset(&ctx, 0, sizeof ctx);
    memset(&node, 0, sizeof node);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hl_window window;
        assert_int_equal(hl_window_size(&ctx, &node, "height", rows[i].padding, rows[i].in, rows[i].filter,
                                        rows[i].stride, rows[i].dilation, &window),
                         kTfLiteOk);
        assert_int_equal(window.out, rows[i].out);
        assert_int_equal(window.before, rows[i].before);
        assert_int_equal(window.after, rows[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rescale_from_real),
        cmocka_unit_test(rescale_apply),
        cmocka_unit_test(rescale_apply_64),
        cmocka_unit_test(rescale_is_close_to_real),
        cmocka_unit_test(shift_right_rounds_half_away),
        cmocka_unit_test(activation_ranges),
        cmocka_unit_test(channel_rescales),
        cmocka_unit_test(tables),
        cmocka_unit_test(quantized_rows),
        cmocka_unit_test(packed_integers),
        cmocka_unit_test(windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
