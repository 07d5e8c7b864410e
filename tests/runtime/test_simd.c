// SPDX-License-Identifier: Apache-2.0
// The choice of a CPU level: HALITE_SIMD caps it, names that no level has are reported, and what kernels learn from
// struct hl_simd about signed bytes agrees with its sums; and products of the largest bytes, whose sums of two may not
// fit an int16. What else the microkernels compute is tested by test_fast, test_row_kernels and test_elements, on every
// level.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fast/gemm.h"
#include "fast/simd/simd.h"

static void keep_message(void *user_data, const char *format, va_list args)
{
    vsnprintf(user_data, 512, format, args);
}

// What hl_simd_check says of the value, or "".
static const char *message_for(const char *value)
{
    static char message[512];
    const struct hl_reporter reporter = {keep_message, message};
    *message = '\0';
    setenv("HALITE_SIMD", value, 1);
    hl_simd_check(&reporter);
    return message;
}

static void the_environment_names_the_highest_level(void **state)
{
    (void)state;
    const struct hl_simd *level;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        setenv("HALITE_SIMD", level->name, 1);
        assert_ptr_equal(hl_simd_best(INT_MAX), level);
    }
    unsetenv("HALITE_SIMD");
}

static void unknown_names_are_reported_and_ignored(void **state)
{
    (void)state;
    unsetenv("HALITE_SIMD");
    const struct hl_simd *best = hl_simd_best(INT_MAX), *level;
    const char *message = message_for("avx1024");
    assert_non_null(strstr(message, "avx1024"));
    for (int i = 0; (level = hl_simd_level(i)); i++) assert_non_null(strstr(message, level->name));
    assert_ptr_equal(hl_simd_best(INT_MAX), best);
    for (int i = 0; (level = hl_simd_level(i)); i++) assert_string_equal(message_for(level->name), "");
    assert_string_equal(message_for(""), "");
    unsetenv("HALITE_SIMD");
}

// Stored bytes, signed or not, have the same sum after the sign offset but for the offset's own value.
static void sums_of_bytes_have_the_sign_of_the_level(void **state)
{
    (void)state;
    enum { MAX = 200, ROWS = 5, FACTOR = -7 };
    const struct hl_simd *level;
    int32_t sums[ROWS]; // of the same row
    for (int i = 0; (level = hl_simd_level(i)); i++)
        for (int count = 0; count <= MAX; count++) {
            uint8_t *x = malloc((size_t)count + (count == 0)); // ends where a sanitizer sees it
            uint32_t expected = 0;
            assert_non_null(x);
            for (int k = 0; k < count; k++) {
                x[k] = (uint8_t)(k % 3 == 0 ? 255 : k % 3 == 1 ? 128 : 37 * k);
                expected += level->signed_x ? (uint32_t)(int8_t)x[k] : x[k];
                assert_int_equal(hl_simd_value(level, x[k]), level->signed_x ? (uint32_t)(int8_t)x[k] : x[k]);
            }
            level->sum_rows(x, 0, ROWS, count, FACTOR, sums);
            for (int r = 0; r < ROWS; r++) assert_int_equal((uint32_t)sums[r], expected * (uint32_t)FACTOR);
            free(x);
        }
    assert_int_equal(hl_simd_sign_offset(&(struct hl_simd){.signed_x = false}, false), 0x80);
    assert_int_equal(hl_simd_sign_offset(&(struct hl_simd){.signed_x = false}, true), 0);
    assert_int_equal(hl_simd_sign_offset(&(struct hl_simd){.signed_x = true}, false), 0);
    assert_int_equal(hl_simd_sign_offset(&(struct hl_simd){.signed_x = true}, true), 0x80);
}

enum { MOST_ROWS = 16, MOST_COLUMNS = 80, MOST_DEPTH = 40 };

// Every x is `x`, every weight is `w`.
static void check_product(const struct hl_simd *level, int rows, int columns, int depth, int8_t x, int8_t w)
{
    static int8_t weights[MOST_COLUMNS * MOST_DEPTH], values[MOST_ROWS * (MOST_DEPTH + 4)];
    const struct hl_matrix matrix = {.type = kTfLiteInt8,
                                     .data = weights,
                                     .matrices = 1,
                                     .depth = depth,
                                     .columns = columns,
                                     .depth_stride = 1,
                                     .column_stride = depth,
                                     .run = columns};
    struct hl_packed packed;
    hl_packed_init(&packed, level, &matrix, depth);
    const size_t all = (size_t)(packed.panels * level->columns);
    int32_t *y = malloc((size_t)rows * all * sizeof *y);
    packed.weights = malloc((size_t)(packed.panels * hl_packed_panel_bytes(&packed)));
    packed.initial = malloc(all * 4);
    packed.narrow = level->asks_narrow ? malloc((size_t)packed.panels * sizeof *packed.narrow) : NULL;
    assert_true(y && packed.weights && packed.initial && (packed.narrow || !level->asks_narrow));
    memset(weights, w, sizeof weights), memset(values, 0, sizeof values);
    const ptrdiff_t row = packed.steps * 4;
    for (int r = 0; r < rows; r++) memset(values + r * row, (uint8_t)x, (size_t)depth);
    hl_packed_fill(NULL, &packed, &matrix, &(struct hl_initial){0});
    for (int64_t panel = 0; panel < packed.panels; panel++) {
        struct hl_tile tile = packed.tile;
        hl_packed_set_panel(&packed, 0, panel, &tile);
        tile.x = values, tile.x_stride = row;
        tile.y = y + panel * level->columns, tile.y_stride = (ptrdiff_t)all;
        hl_gemm(&packed, &tile, rows);
    }
    const int value = level->signed_x ? x : (uint8_t)x;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) assert_int_equal(y[r * all + c], depth * value * w);
    free(packed.weights), free(packed.initial), free(packed.narrow), free(y);
}

static void products_of_the_largest_bytes_are_exact(void **state)
{
    (void)state;
    static const int8_t extremes[] = {-128, -127, 127};
    const struct hl_simd *level;
    for (int i = 0; (level = hl_simd_level(i)); i++)
        for (int depth = 1; depth <= MOST_DEPTH && level->dot_width == 4; depth++)
            for (int k = 0; k < 9; k++)
                check_product(level, 1 + depth % level->rows, 1 + depth * 7 % (2 * level->columns), depth,
                              extremes[k / 3], extremes[k % 3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_names_the_highest_level),
        cmocka_unit_test(unknown_names_are_reported_and_ignored),
        cmocka_unit_test(sums_of_bytes_have_the_sign_of_the_level),
        cmocka_unit_test(products_of_the_largest_bytes_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
